"""What cross-validation says of settings of C and gamma, for the paper's seven metrics."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from paper.grid import Grid
from shortlist import MultilabelClassifierCV, datasets
from shortlist.metrics import metric

METRICS = (
    "rank_loss", "hamming_loss", "accuracy", "subset_accuracy", "f1_micro", "f1_macro",
    "f1_instance",
)  # fmt: skip

#: Means that differ by less are equal: they are sums of rounded numbers.
ROUNDING = 1e-12
#: The values of C to try, ascending, for each gamma; for None where there is no gamma.
Ranges = dict[float | None, tuple[float, ...]]


class Tried(NamedTuple):
    """What cross-validation says of all settings that were tried."""

    params: list[dict[str, Any]]
    merits: dict[str, NDArray[np.float64]]  # (settings, folds); more is better
    thresholds: dict[str, NDArray[np.float64]]
    gaps: list[float]

    def __add__(self, other: Any) -> Tried:
        """Return what is said of the settings of both, on the same folds."""
        return Tried(
            [*self.params, *other.params],
            {name: np.vstack([self.merits[name], other.merits[name]]) for name in METRICS},
            {
                name: np.append(cuts, other.thresholds[name])
                for name, cuts in self.thresholds.items()
            },
            [*self.gaps, *other.gaps],
        )

    def best(self, name: str) -> int:
        """Return the best setting for a metric; of equal ones the first."""
        means = self.merits[name].mean(axis=1)
        return int(np.argmax(means >= means.max() - ROUNDING))

    def chosen(self, name: str) -> dict[str, Any]:
        """Return its parameters."""
        at = self.best(name)
        cut = {"threshold": float(self.thresholds[name][at])} if name in self.thresholds else {}
        return {**self.params[at], **cut}


def whole(grid: Grid) -> Ranges:
    """Return all settings of a grid."""
    return dict.fromkeys((None,) if grid.gammas is None else grid.gammas, grid.Cs)


def cross_validated(
    estimator: Any,
    train: datasets.Dataset,
    ranges: Ranges,
    cut: Sequence[Any],
    unfinished: Path | None = None,
) -> Tried:
    """Return what the folds say of all settings, those of each gamma along one path of C."""
    tables = []
    for gamma, Cs in ranges.items():
        search = MultilabelClassifierCV(
            clone(estimator),
            Cs=Cs,
            gammas=None if gamma is None else [gamma],
            metrics=METRICS,
            cv=cut,
            extend=False,
            refit=False,
            checkpoint=None if unfinished is None else unfinished / f"gamma-{gamma}",
        )
        tables.append(search.fit(train.X, train.y).cv_results_)
    names = [name for name in METRICS if metric(name).needs == "sets"]
    return Tried(
        [params for table in tables for params in table["params"]],
        {
            name: metric(name).sign * np.concatenate([_by_fold(t, name, len(cut)) for t in tables])
            for name in METRICS
        },
        {name: np.concatenate([t[f"threshold_{name}"] for t in tables]) for name in names},
        [float(gap) for table in tables for gap in table["max_gap"]],
    )


def _by_fold(results: dict[str, Any], name: str, folds: int) -> NDArray[np.float64]:
    return np.column_stack([results[f"split{fold}_test_{name}"] for fold in range(folds)])
