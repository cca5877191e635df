"""The settings that are tried: values of C, and beside it of k and gamma."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import clone

from shortlist import losses
from shortlist._arrays import as_integer, as_positive
from shortlist.estimators.base import ShortlistClassifier
from shortlist.estimators.targets import Target
from shortlist.losses.operations import traits

#: The paper's values of C.
CS = tuple(2.0**power for power in range(-20, 16))
#: The values of k, where the loss has one and the classes allow it.
KS = (1, 2, 3, 5, 10)
#: An end of the grid is moved at most so often, each time by this share of its length.
EXTENSIONS, SHARE = 4, 0.25


def ascending(values: ArrayLike | None) -> tuple[float, ...]:
    """Return the values of C that a user gave, or the paper's, in ascending order."""
    if values is None:
        return CS
    numbers = np.asarray(values)
    if numbers.ndim != 1 or not numbers.size:
        raise ValueError(f"Cs is {values!r}; pass a list of positive numbers.")
    return tuple(sorted({as_positive(C, "an element of Cs") for C in numbers.tolist()}))


def as_groups(
    estimator: ShortlistClassifier,
    target: Target,
    ks: Sequence[int] | None,
    gammas: Sequence[float | str] | None,
) -> list[dict[str, Any]]:
    """Return the parameters other than C, of all settings; each is tried with every C."""
    axes = {}
    if gammas is not None:
        if estimator.kernel not in ("rbf", "poly"):
            raise ValueError(
                f"gammas is for the kernels rbf and poly; the estimator's is {estimator.kernel!r}."
            )
        axes["gamma"] = _some(gammas, "gammas")
    if ks is not None or _has_k(estimator):
        axes["k"] = _as_ks(estimator, target, ks)
    groups = [dict(zip(axes, values, strict=True)) for values in product(*axes.values())]
    for group in groups:
        clone(estimator).set_params(**group)._fitting_loss(target)  # refuses a k that is too large
    return groups


def _has_k(estimator: ShortlistClassifier) -> bool:
    return isinstance(estimator.loss, str) and "k" in losses.entry(estimator.loss).parameters


def _as_ks(
    estimator: ShortlistClassifier, target: Target, ks: Sequence[int] | None
) -> tuple[int, ...]:
    if not _has_k(estimator):
        raise ValueError(
            f"ks is given, and the loss {estimator.loss!r} has no k to tune: leave it out, or "
            "name a loss with one."
        )
    if ks is not None:
        return tuple(as_integer(k, "an element of ks", 1) for k in _some(ks, "ks"))
    known = {k: losses.make_from(estimator.loss, k=k, smoothing=estimator.smoothing) for k in KS}
    return tuple(k for k in KS if traits(known[k]).smallest_m <= target.classes.size)


def _some(values: Sequence[Any], name: str) -> tuple[Any, ...]:
    if np.ndim(values) != 1 or not len(values):
        raise ValueError(f"{name} is {values!r}; pass a list of values.")
    return tuple(dict.fromkeys(values))


def beyond(Cs: Sequence[float], first: Sequence[float], low: bool, high: bool) -> list[float]:
    """Return values beyond the ends of a grid, in its own steps.

    `first` is the grid as it was at the beginning.
    """
    if len(Cs) < 2:
        return []
    count = max(1, round(SHARE * len(first)))
    below, above = Cs[1] / Cs[0], Cs[-1] / Cs[-2]
    new = [Cs[0] / below**i for i in range(count, 0, -1)] if low else []
    new += [Cs[-1] * above**i for i in range(1, count + 1)] if high else []
    return [C for C in new if 0.0 < C < np.inf]
