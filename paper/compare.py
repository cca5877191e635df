"""Our cells beside the paper's numbers: repeated draws are averaged, their spread is the noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from paper import published
from paper.circle import MANY_STARTS
from paper.methods import MULTILABEL
from paper.multilabel import SETS as MULTILABEL_SETS
from paper.record import Record
from paper.verdict import Comparison

#: From so many draws on, their spread is the noise; below, that of the choice of parameters.
DRAWS = 3

Comparisons = dict[tuple[str, str], Comparison]


def multiclass(dataset: str, folder: Path | None = None) -> Comparisons:
    """Return the comparisons of a data set by row and metric; cells are named row/split."""
    record = Record(dataset, folder)
    return _compared(published.of("multiclass", dataset), _grouped(record.cells))


def circle(folder: Path | None = None) -> Comparisons:
    """Return those of the circle; both rows of truncated entropy have the paper's one."""
    numbers = published.of("circle", "circle")
    for (row, metric), number in list(numbers.items()):
        if row == "top2_truncated":
            numbers[MANY_STARTS, metric] = number
    return _compared(numbers, _grouped(Record("circle", folder).cells))


def multilabel(dataset: str, folder: Path | None = None) -> Comparisons:
    """Return the same for label sets; cells are named method/kernel/grid/seed."""
    return _compared(published.of("multilabel", dataset), _grouped(shown(dataset, folder)))


def shown(dataset: str, folder: Path | None = None) -> dict[str, Any]:
    """Return the cells of the table by row and seed: of several grids the first in `SETS`."""
    cells, found = Record(dataset, folder).cells, {}
    seeds = {key.rpartition("/")[2] for key in cells}
    for grid in reversed(MULTILABEL_SETS.get(dataset, ())):
        for method in MULTILABEL:
            row = method.key + ("/rbf" if grid.kernel == "rbf" else "")
            for seed in seeds:
                key = f"{method.key}/{grid.key}/{seed}"
                if key in cells:
                    found[f"{row}/{seed}"] = cells[key]
    return found


def _grouped(cells: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the draws of each row."""
    groups: dict[str, list[Any]] = {}
    for key, cell in cells.items():
        groups.setdefault(key.rpartition("/")[0], []).append(cell)
    return groups


def _compared(
    numbers: dict[tuple[str, str], published.Number], groups: dict[str, list[Any]]
) -> Comparisons:
    found = {}
    for (row, metric), number in numbers.items():
        draws = [draw for draw in groups.get(row, []) if metric in draw["values"]]
        if not draws:
            continue
        values = [draw["values"][metric] for draw in draws]
        if len(draws) >= DRAWS:
            noise = float(np.std(values, ddof=1))
        else:
            noise = float(np.mean([draw["choice_noise"][metric] for draw in draws]))
        gap = max(draw["search"]["largest_gap"] for draw in draws)
        missed = sum(draw["search"]["missed"] for draw in draws)
        mean = float(np.mean(values))
        tested = max(draw["gaps"][metric] for draw in draws)
        found[row, metric] = Comparison(metric, mean, noise, number.value, gap, missed, tested)
    return found
