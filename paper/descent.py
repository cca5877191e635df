"""Descent from several starts, for a loss that is not convex.

The paper starts truncated top-k entropy from the solution of softmax. That finds a local minimum,
and on the circle not always a good one. Here the model with the least training objective is kept,
of those found from the solutions of convex losses and from random weights.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.optimize

from shortlist import losses

#: Random starts for each C.
RANDOM = 8


class Minimum(NamedTuple):
    """Where a descent ended."""

    objective: float
    weights: np.ndarray
    gradient_norm: float  # relative to that at zero weights


def descend(X: Any, y: Any, loss: Any, C: float, start: np.ndarray) -> Minimum:
    """Return the minimum that L-BFGS finds from these weights."""

    def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
        weights = flat.reshape(start.shape)
        scores = X @ weights
        value = 0.5 * float(flat @ flat) + C * float(losses.value(loss, scores, y).sum())
        return value, (weights + C * (X.T @ losses.gradient(loss, scores, y))).ravel()

    scale = float(np.linalg.norm(objective(np.zeros(start.size))[1]))
    options = {"maxiter": 10_000, "maxcor": 20, "gtol": 0.0, "ftol": 0.0}
    found = scipy.optimize.minimize(
        objective, start.ravel(), jac=True, method="L-BFGS-B", options=options,
        callback=_until(objective, 1e-4 * scale),
    )  # fmt: skip
    value, gradient = objective(found.x)
    return Minimum(value, found.x.reshape(start.shape), float(np.linalg.norm(gradient)) / scale)


def _until(objective: Any, norm: float) -> Any:
    def stop(flat: np.ndarray) -> None:
        if np.linalg.norm(objective(flat)[1]) <= norm:
            raise StopIteration

    return stop


def lowest(X: Any, y: Any, loss: Any, C: float, starts: Iterable[np.ndarray]) -> Minimum:
    """Return the lowest minimum from given and from random starts, of those that are stationary."""
    starts = list(starts)
    shape = starts[0].shape
    drawn = [np.random.default_rng(seed).normal(size=shape) for seed in range(RANDOM)]
    return min((descend(X, y, loss, C, start) for start in [*starts, *drawn]), key=lambda m: m[0])
