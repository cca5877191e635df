"""Our cells beside the paper's numbers: repeated draws are averaged, their spread is the noise."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from paper import published
from paper.circle import MANY_STARTS
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
    """Return the same for label sets; cells are named method/kernel/step/seed."""
    record = Record(dataset, folder)
    first: dict[str, int] = {}
    for grid in MULTILABEL_SETS.get(dataset, ()):
        first.setdefault(grid.kernel, grid.step)
    chosen = {}
    for key, cell in record.cells.items():
        if key.count("/") != 3:
            continue
        method, kernel, step, seed = key.split("/")
        if int(step) == first.get(kernel):
            chosen[f"{method}{'/rbf' if kernel == 'rbf' else ''}/{seed}"] = cell
    return _compared(published.of("multilabel", dataset), _grouped(chosen))


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
        draws = groups.get(row, [])
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
        found[row, metric] = Comparison(metric, mean, noise, number.value, gap, missed)
    return found
