"""Small fits that compile what large ones need."""

from __future__ import annotations

import multiprocessing
import os
import signal
import threading
import warnings
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse

from shortlist import _jit  # so written, this file is none that kernels are made of
from shortlist.cli.console import say
from shortlist.cli.data import labels_of
from shortlist.cli.training import Settings, estimator, loss_of
from shortlist.datasets import Dataset
from shortlist.estimators import MultilabelClassifier, TopKClassifier
from shortlist.rows import as_storage, operations

#: For fewer kinds of losses, processes of their own are not worth their start.
_WORTH_PROCESSES = 3
#: More would need more memory than time they save.
_PROCESSES = 4
#: Examples of a small fit, and classes that they are sure to have.
_EXAMPLES, _CLASSES = 240, 40
_EPOCHS = 100
#: Seconds after which one wonders what takes so long.
_LONG = 2.0


def fit_small(loss: str, sparse: bool, dtype: str) -> None:
    """Train a small model by the method that is chosen for it, and by plain SDCA."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 6
    X: Any = (rng.normal(size=(60, 8)) + np.eye(6, 8)[y]).astype(dtype)
    X = scipy.sparse.csr_array(X) if sparse else X
    is_multilabel = loss.startswith("multilabel")
    kind: Any = MultilabelClassifier if is_multilabel else TopKClassifier
    target = np.eye(6, dtype=int)[y] if is_multilabel else y
    for solver in ("auto", "sdca"):
        kind(loss, k=2, solver=solver, tol=0.1).fit(X, target)


@contextmanager
def announced(data: Dataset, settings: Settings) -> Iterator[None]:
    """Say that what follows compiles a loss, where that takes long, and remember that it did."""
    mark = None if _jit.CACHE_FOLDER is None else _mark(_kind(data, settings))
    if mark is not None and mark.exists():
        yield
        return
    words = f"the first run of {settings.loss} compiles it for this CPU, once: up to a minute"
    timer = threading.Timer(_LONG, say, [words])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
    if mark is not None:
        mark.touch()


def compile_ahead(data: Dataset, settings: Iterable[Settings]) -> None:
    """Compile what fits of these settings need, so that their times are those of training.

    The compiler runs in several processes at once, and what they leave on disk is loaded into
    this one. A mark beside it tells later processes that they need not look.
    """
    kinds = {_kind(data, each): each for each in settings}
    sample = _sample(data, max((each.k for each in kinds.values()), default=1))
    if _jit.CACHE_FOLDER is not None:
        waiting = [kind for kind in kinds if not _mark(kind).exists()]
        if len(waiting) >= _WORTH_PROCESSES:
            _compile_in_processes(sample, {kind: kinds[kind] for kind in waiting})
    for each in kinds.values():
        with announced(data, each):
            _fit(sample, each)


def _kind(data: Dataset, settings: Settings) -> str:
    """Return the name of what decides the types of the compiled code."""
    rows = as_storage(data.X[:1])
    alone = operations.are_loops_faster(rows, data.m)
    storage = "sparse" if data.sparse else "dense"
    size = "rows" if alone else "blocks"
    return f"{type(loss_of(settings)).__name__}-{storage}-{data.X.dtype}-{size}-{settings.kernel}"


def _mark(kind: str) -> Path:
    assert _jit.CACHE_FOLDER is not None
    return _jit.CACHE_FOLDER / f"{kind}.compiled"


def _compile_in_processes(sample: Dataset, kinds: dict[str, Settings]) -> None:
    count = min(_PROCESSES, len(kinds), os.cpu_count() or 1)
    say(f"compiling {len(kinds)} losses for this CPU, once, in {count} processes")
    # A process that is forked would share the threads of this one, which may hold locks.
    context = multiprocessing.get_context("spawn")
    try:
        with ProcessPoolExecutor(count, context, _end_quietly) as pool:
            futures = {
                pool.submit(_fit, sample, each._replace(n_jobs=1)): kind
                for kind, each in kinds.items()
            }
            for at, future in enumerate(as_completed(futures), 1):
                future.result()
                _mark(futures[future]).touch()
                say(f"  {at} of {len(kinds)}: {kinds[futures[future]].loss}")
    except BrokenProcessPool:
        say("a process that compiled was ended by the system; the rest is compiled here")


def _end_quietly() -> None:
    """Let Ctrl-C end a process that compiles without a word: the one that began it speaks."""
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def _sample(data: Dataset, k: int) -> Dataset:
    """Return a few examples, of more than `k` classes where there are so many."""
    some = np.linspace(0, data.n - 1, _EXAMPLES).astype(np.int64)
    if not data.multilabel:
        some = np.concatenate(
            [some, np.unique(data.y, return_index=True)[1][: max(_CLASSES, k + 1)]]
        )
    return data.take(np.unique(some))


def _fit(sample: Dataset, settings: Settings) -> None:
    model = estimator(settings._replace(max_epochs=_EPOCHS), sample.multilabel)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it need not converge
        model.fit(sample.X, labels_of(sample)[0])
