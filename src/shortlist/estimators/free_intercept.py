r"""Intercepts that are not regularised.

.. math::  \min_{W, b} \ \tfrac12 \|W\|^2 + C \sum_i w_i L(y_i, W' x_i + b)

is solved by the proximal point method in :math:`b`: each round regularises it towards that of
the round before, :math:`\tfrac1{2s^2} \|b - b_t\|^2`, which is the anchor of the solver, and
begins with the duals of the round before.

With :math:`g = C \sum_i w_i v_i` every dual point bounds the objective of all models,

.. math::  P(W, b) \ge D(v) + \langle g, b \rangle ,

and of those whose intercepts are within :math:`r` of :math:`\hat b` by
:math:`D(v) + \langle g, \hat b \rangle - r \|g\|`. This is what is certified
(`InterceptCertificate`): :math:`g` is 0 at the optimum only.
"""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses.labels import Labels
from shortlist.losses.operations import traits
from shortlist.solvers import solve
from shortlist.solvers.result import Certificate, History, Solution, Status

#: Rounds after which the precision of the numbers is what is in the way.
_MOST_ROUNDS = 60
#: What float64 can prove.
_LEAST_TOL = 1e-12


class InterceptCertificate(Certificate):
    """Bounds of the optimum over all models whose intercepts are near those returned.

    Every model with ``|b - intercept_| <= radius`` (Euclidean) has an objective of at least
    `dual`; that of the model returned is `primal`. The objective is convex, so a model whose
    intercepts are t times as far away cannot be better than it by more than t times as much.
    """

    radius: float


def solve_with_free_intercept(
    X: Any,
    labels: Any,
    loss: Any,
    *,
    scale: float,
    C: float,
    sample_weight: NDArray[np.float64],
    tol: float,
    max_epochs: int,
    max_time: float,
    duals: FloatArray | None,
    **options: Any,
) -> Solution:
    """Return the solution; the last row of its weights is that of the constant column `scale`."""
    if not traits(loss).convex:
        raise ValueError(f"{loss} is not convex: set regularize_intercept, or fit no intercept.")
    if options.pop("checkpoint", None) is not None:
        raise ValueError("a checkpoint needs a regularised intercept: set regularize_intercept.")
    _check_for_optimum(labels, loss, sample_weight)
    started, history = time.perf_counter(), History()
    c = C * sample_weight
    anchor = np.zeros((X.shape[1] + 1, labels.m))
    inner_tol = tol / 2.0
    for _ in range(_MOST_ROUNDS):
        spent = history[-1].epoch if history else 0
        seconds = time.perf_counter() - started
        solution = solve(
            X, labels, loss, C=C, sample_weight=sample_weight, intercept=scale, anchor=anchor,
            tol=inner_tol, max_epochs=max_epochs - spent, max_time=max(max_time - seconds, 1e-3),
            duals=duals, **options,
        )  # fmt: skip
        _append(history, solution.history)
        duals = solution.duals
        certificate = _certify(solution, c, scale * anchor[-1], scale)
        status = solution.status
        if certificate.gap <= tol:
            status = Status.CONVERGED
        elif status is Status.CONVERGED and history[-1].epoch >= max_epochs:
            status = Status.MAX_EPOCHS
        elif status is Status.CONVERGED:
            status = Status.NO_PROGRESS  # unless there is another round
            anchor[-1], inner_tol = solution.weights[-1], max(inner_tol / 4.0, _LEAST_TOL)
            continue
        break
    return Solution(solution.weights, solution.duals, certificate, status, history)


def _check_for_optimum(labels: Labels, loss: Any, weights: NDArray[np.float64]) -> None:
    """Refuse a class that no example has, or all have: its intercept would grow without end."""
    totals = np.bincount(labels.indices, weights[labels.owners], minlength=labels.m)
    endless = totals == 0.0
    if traits(loss).separable or labels.indices.size == labels.n:
        endless |= totals == weights.sum()
    if endless.any():
        j = int(np.flatnonzero(endless)[0])
        share = "no example" if totals[j] == 0.0 else "every example"
        raise ValueError(
            f"{share} with a weight has class number {j}: its intercept has no optimum unless it "
            "is regularised; set regularize_intercept."
        )


def _append(history: History, lines: History) -> None:
    """Append a round, counted from where the one before ended."""
    last = history[-1] if history else None
    for line in lines:
        history.append(
            line
            if last is None
            else line._replace(
                epoch=line.epoch + last.epoch,
                seconds_solving=line.seconds_solving + last.seconds_solving,
                seconds_evaluating=line.seconds_evaluating + last.seconds_evaluating,
            )
        )


def _certify(
    solution: Solution, c: NDArray[np.float64], start: NDArray[np.float64], scale: float
) -> InterceptCertificate:
    """Return the bounds without the regulariser that held the intercept at `start`."""
    primal, dual = solution.certificate
    found = scale * solution.weights[-1].astype(np.float64)
    moved = found - start
    g = c @ solution.duals.astype(np.float64)
    length = float(np.linalg.norm(g))
    radius = 1.0 + float(np.linalg.norm(found))
    bound = dual + 0.5 * scale**2 * length**2 + float(g @ moved) - radius * length
    certificate = InterceptCertificate(primal - 0.5 * float(moved @ moved) / scale**2, bound)
    certificate.radius = radius
    return certificate
