# Every target makes .venv and installs what it needs by itself, again only when
# pyproject.toml has changed. Python 3.11 or later and make are enough.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALLED := $(VENV)/.installed
TORCH ?= torch==2.13.0

.PHONY: demo test lint bench docs paper paper-quick clean

demo: $(INSTALLED)
	$(BIN)/shortlist demo

test: lint $(VENV)/.torch
	$(BIN)/python -m pytest -n 2 --dist loadfile

lint: $(INSTALLED)
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

bench: $(INSTALLED) $(VENV)/.peers $(VENV)/.torch
	$(BIN)/python benchmarks/bench_start.py
	$(BIN)/python benchmarks/bench_special.py
	$(BIN)/python benchmarks/bench_prox.py $(BENCH_ARGS)
	$(BIN)/python benchmarks/bench_epoch.py
	$(BIN)/python benchmarks/bench_metrics.py $(BENCH_ARGS)
	$(BIN)/python benchmarks/bench_memory.py
	$(BIN)/python benchmarks/bench_solver.py $(BENCH_ARGS)
	$(BIN)/python benchmarks/bench_c.py --quick
	$(BIN)/python benchmarks/bench_path.py
	$(BIN)/python benchmarks/bench_reading.py
	$(BIN)/python benchmarks/bench_tuning.py
	$(BIN)/python benchmarks/bench_nn.py $(BENCH_ARGS)

# Each cell is stored when it is done: what was ended goes on where it was. On two cores the whole
# takes a day; SHORTLIST_DATA names the folder with the data sets.
paper: $(INSTALLED) $(VENV)/.torch
	$(BIN)/python -m paper.circle
	$(BIN)/python -m paper.summary
	$(BIN)/python -m paper.timing
	$(BIN)/python -m paper.finetune
	$(BIN)/python -m paper.multiclass letter caltech101_silhouettes
	$(BIN)/python -m paper.multilabel emotions scene yeast medical enron
	$(BIN)/python -m paper.single_label
	$(BIN)/python -m paper.multiclass news20 aloi
	$(BIN)/python -m paper.multilabel corel5k bibtex mediamill delicious
	$(BIN)/python -m paper.figures
	$(BIN)/python -m paper.render

# A small real part of it; fails when a number leaves its range.
paper-quick: $(INSTALLED)
	$(BIN)/python -m paper.quick

docs: $(INSTALLED) $(VENV)/.torch
	$(BIN)/python -m sphinx -E -W --keep-going -b html docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	@echo "docs/_build/html/index.html"

clean:
	rm -rf $(VENV) docs/_build docs/drawn docs/gallery docs/reference/generated build dist shortlist-demo
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
	rm -rf .mypy_cache .pytest_cache .ruff_cache .hypothesis

$(INSTALLED): pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "Python 3.11 or later is needed; set PYTHON, for example: make PYTHON=python3.12"; exit 1; }
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	touch $@

# Tests, benchmarks and the documentation need torch; the demo does not wait for it.
# torchmetrics, whose values tests compare with, takes the torch that is there.
$(VENV)/.torch: $(INSTALLED)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check $(TORCH)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check torchmetrics
	touch $@

# Peers are compared with where they install; a benchmark says which it misses.
$(VENV)/.peers: $(INSTALLED)
	-$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[bench]'
	touch $@
