"""Where in a grid to look: every setting is tried once, on few examples and for a short time.

A stratified sample of the examples is cut in halves, one to train on and one to judge. What is
worth a full cross-validation are the settings that are best there for one of the metrics, and
their neighbours in the grid. Certificates of the scout's own fits do not matter: no number of
the tables comes from them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from paper.grid import Grid
from shortlist import MultilabelClassifierCV
from shortlist.datasets import Dataset
from shortlist.model_selection import IterativeStratifiedKFold

#: The most examples, half of them to train on, and the most seconds for one fit.
EXAMPLES, SECONDS = 2000, 4.0

#: The values of C that are worth a full cross-validation, ascending, for each gamma or None.
Ranges = dict[float | None, tuple[float, ...]]


def scouted(
    train: Dataset, estimator: Any, grid: Grid, metrics: Sequence[str], seed: int = 0
) -> Ranges:
    """Return the settings next to those that are best for a metric."""
    X, Y = _sample(train, seed)
    halves = IterativeStratifiedKFold(2, shuffle=True, random_state=seed)
    search = MultilabelClassifierCV(
        clone(estimator).set_params(max_time=SECONDS),
        Cs=grid.Cs,
        gammas=grid.gammas,
        metrics=tuple(metrics),
        cv=[next(iter(halves.split(X, Y)))],
        extend=False,
        refit=False,
    ).fit(X, Y)
    best = [search.best_params_[name] for name in metrics]
    return around([(params["C"], params.get("gamma")) for params in best], grid)


def _sample(train: Dataset, seed: int) -> tuple[Any, Any]:
    """Return the examples, or about as many of them as are wanted."""
    shares = round(train.X.shape[0] / EXAMPLES)
    if shares < 2:
        return train.X, train.y
    dealt = IterativeStratifiedKFold(shares, shuffle=True, random_state=seed)
    _, some = next(iter(dealt.split(train.X, train.y)))
    return train.X[some], train.y[some]


def around(settings: Sequence[tuple[float, float | None]], grid: Grid) -> Ranges:
    """Return, for each gamma, the values of C that are next to a setting, and those between."""
    gammas: Sequence[float | None] = (None,) if grid.gammas is None else grid.gammas
    near: dict[float | None, list[int]] = {}
    for C, gamma in settings:
        at, beside = grid.Cs.index(C), gammas.index(gamma)
        for other in gammas[max(beside - 1, 0) : beside + 2]:
            near.setdefault(other, []).extend((max(at - 1, 0), min(at + 1, len(grid.Cs) - 1)))
    return {
        gamma: grid.Cs[min(near[gamma]) : max(near[gamma]) + 1] for gamma in gammas if gamma in near
    }

