"""Where in a grid to look: all settings are tried once, on few examples and for a short time.

A stratified sample of the examples is cut in halves, one to train on and one to judge. First the
thinned grid is tried, then the powers of 2 that were left out, near what is best for one of the
metrics. Worth a full cross-validation are the settings that are best then, and their neighbours.
Certificates of the scout's own fits do not matter: no number of the tables comes from them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from sklearn.base import clone

from paper.grid import Grid
from paper.validation import METRICS, Ranges, Tried, cross_validated, whole
from shortlist.datasets import Dataset
from shortlist.model_selection import IterativeStratifiedKFold

#: The most examples, half of them to train on, and the most seconds for one fit.
EXAMPLES, SECONDS = 2000, 10.0

#: A value of C, and of gamma, or None where there is none.
Setting = tuple[float, float | None]


def scouted(train: Dataset, estimator: Any, grid: Grid, seed: int = 0) -> Ranges:
    """Return the settings next to those that are best for a metric."""
    some = sample(train, seed)
    halves = IterativeStratifiedKFold(2, shuffle=True, random_state=seed)
    cut = [next(iter(halves.split(some.X, some.y)))]
    quick = clone(estimator).set_params(max_time=SECONDS)
    tried = cross_validated(quick, some, whole(grid), cut)
    tried += cross_validated(quick, some, around(best_of(tried), grid, grid.step - 1), cut)
    return around(best_of(tried), grid, 1)


def sample(train: Dataset, seed: int) -> Dataset:
    """Return the examples, or about as many of them as are wanted, by label."""
    shares = round(train.X.shape[0] / EXAMPLES)
    if shares < 2:
        return train
    dealt = IterativeStratifiedKFold(shares, shuffle=True, random_state=seed)
    _, some = next(iter(dealt.split(train.X, train.y)))
    return train.take(some)


def best_of(tried: Tried) -> list[Setting]:
    """Return the settings that are best for a metric."""
    best = [tried.params[tried.best(name)] for name in METRICS]
    return [(params["C"], params.get("gamma")) for params in best]


def around(settings: Sequence[Setting], grid: Grid, reach: int) -> Ranges:
    """Return the neighbours of settings, within the grid: up to `reach` powers of 2 away."""
    near: dict[float | None, set[float]] = {}
    for C, gamma in settings:
        gammas = [None] if gamma is None else _beside(gamma, grid.whole.gammas or (), reach)
        for other in gammas:
            near.setdefault(other, set()).update(_beside(C, grid.whole.Cs, reach))
    return {gamma: tuple(sorted(Cs)) for gamma, Cs in near.items()}


def _beside(value: float, known: Sequence[float], reach: int) -> list[float]:
    return [each for each in known if abs(math.log2(each / value)) <= reach]
