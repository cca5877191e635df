"""Cells that were computed with a whole grid and with a thinned one, side by side."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from paper.methods import MULTICLASS, MULTILABEL
from paper.multiclass import SETS as MULTICLASS_SETS
from paper.multiclass import THINNED
from paper.multilabel import SETS as MULTILABEL_SETS
from paper.record import Record
from paper.verdict import is_loss, point


class Pair(NamedTuple):
    """The test values of one method with two grids, by metric."""

    row: str
    less: str  # the thinned grid, in a few words
    more: str  # the other
    thinned: dict[str, float]
    whole: dict[str, float]

    def difference(self, metric: str) -> float:
        """Return by how many points the thinned grid is better."""
        change = (self.thinned[metric] - self.whole[metric]) / point(metric)
        return -change if is_loss(metric) else change

    def changes(self) -> list[float]:
        """Return the differences of all metrics."""
        return [self.difference(metric) for metric in self.whole]


def multiclass(name: str, folder: Path | None = None) -> list[Pair]:
    """Return the pairs of a multiclass set: all of one split."""
    if MULTICLASS_SETS[name].thinned:
        return []
    thinned, whole = (Record(f"{name}{end}", folder).cells for end in (THINNED, ""))
    keys = [f"{method.key}/0" for method in MULTICLASS]
    return [
        Pair(
            key.rpartition("/")[0], "thinned", "whole", thinned[key]["values"], whole[key]["values"]
        )
        for key in keys
        if key in thinned and key in whole
    ]


def multilabel(name: str, folder: Path | None = None) -> list[Pair]:
    """Return the pairs of a multilabel set: each grid with each that tries more."""
    cells, grids = Record(name, folder).cells, MULTILABEL_SETS[name]
    found = []
    for less in grids:
        for more in grids:
            if not less.is_thinner_than(more):
                continue
            for method in MULTILABEL:
                keys = [f"{method.key}/{grid.key}/0" for grid in (less, more)]
                if all(key in cells for key in keys):
                    row = method.key + ("/rbf" if less.kernel == "rbf" else "")
                    values = [cells[key]["values"] for key in keys]
                    found.append(Pair(row, less.label, more.label, *values))
    return found
