r"""A gradient method for losses that are not convex: limited-memory BFGS from a given start.

There is no dual to certify with. What can be said is how far a model is from stationary:
with the gradients :math:`v_i` of the losses at its scores, :math:`\nabla P(W) = W - W(v)`.
With a kernel, :math:`W = \sum_i \phi(x_i) a_i'`, and the search is over the coefficients
:math:`a`, by which the derivative is :math:`K (a + c v)`.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses import batch
from shortlist.rows import operations
from shortlist.solvers.interruption import Interruption
from shortlist.solvers.options import Options
from shortlist.solvers.problem import Problem, accumulate
from shortlist.solvers.result import Evaluation, History, Solution, Stationarity, Status
from shortlist.solvers.team import Team


class _Run:
    """The objective with its gradient, and what has been spent."""

    def __init__(
        self,
        problem: Problem,
        weights: FloatArray,
        options: Options,
        team: Team,
        interruption: Interruption,
        spent: float,
    ) -> None:
        self.problem, self.options, self.team = problem, options, team
        self.interruption, self.spent, self.evaluating = interruption, spent, 0.0
        self.duals = np.empty((problem.n, problem.m), problem.dtype)
        self.evaluated: tuple[FloatArray, float, FloatArray, float] | None = None
        self.started = time.perf_counter()
        self.history = History()
        self.status: Status | None = None
        self.shape = weights.shape
        self.flat = weights.ravel().astype(np.float64)
        self.evaluate(np.zeros(weights.size))
        self.scale = self.evaluated[3] or 1.0  # type: ignore[index]

    def evaluate(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and its derivative at the weights `flat`; `duals` follow.

        SciPy evaluates an iterate before it reports it: the last answer is kept.
        """
        if self.evaluated is None or not np.array_equal(flat, self.evaluated[0]):
            linear = operations.is_linear(self.problem.rows)
            by = self._by_weights if linear else self._by_coefficients
            self.evaluated = flat.copy(), *by(flat.reshape(self.shape))
        return self.evaluated[1:3]

    def _by_weights(self, weights: FloatArray) -> tuple[float, FloatArray, float]:
        """Return the objective, its derivative and the norm of that, for a linear model."""
        problem = self.problem
        total = self._losses(weights.astype(problem.dtype, copy=False))
        moved = weights if problem.anchor is None else weights - problem.anchor
        derivative = (weights - problem.model(self.duals, self.team)).ravel()
        return (
            0.5 * float(np.vdot(moved, moved)) + total,
            derivative,
            float(np.linalg.norm(derivative)),
        )

    def _by_coefficients(self, a: FloatArray) -> tuple[float, FloatArray, float]:
        """Return the same for the coefficients of a kernel; the norm is that of the gradient."""
        model = self._times_kernel(a)
        value = 0.5 * float(np.vdot(model, a)) + self._losses(model)
        rest = a - self.problem.coefficients(self.duals)(slice(None))
        derivative = self._times_kernel(rest).astype(np.float64)
        return value, derivative.ravel(), max(float(np.vdot(derivative, rest)), 0.0) ** 0.5

    def _times_kernel(self, a: FloatArray) -> FloatArray:
        problem, team = self.problem, self.team
        out, a = (
            np.empty((problem.n, problem.m), problem.dtype),
            a.astype(problem.dtype, copy=False),
        )
        accumulate(problem.rows, a.__getitem__, out, team)
        return out

    def _losses(self, model: FloatArray) -> float:
        """Return the weighted sum of the losses, and write their gradients to `duals`."""

        def step(some: slice, scores: FloatArray, *labels: NDArray[np.int64]) -> None:
            flat = np.zeros(len(scores))
            self.problem.run(batch.step_rows, scores, *labels, flat, self.duals[some])

        return self.problem.losses(model, self.team, step)

    def record(self, flat: FloatArray) -> None:
        """Note an iterate, and stop when it is good enough or a limit is met."""
        value, _ = self.evaluate(flat)
        assert self.evaluated is not None
        options, self.flat = self.options, flat.copy()
        found = Stationarity(value, self.evaluated[3] / self.scale)
        solving = self.spent + time.perf_counter() - self.started - self.evaluating
        start = time.perf_counter()
        metrics = options.metrics(self.problem.rows, flat.reshape(self.shape))
        self.evaluating += time.perf_counter() - start
        line = Evaluation(len(self.history), found, solving, self.evaluating, metrics)
        self.history.append(line)
        weights = self.flat.reshape(self.shape)
        wants_to_stop = options.wants_to_stop(line, lambda: weights)
        if found.gradient_norm <= options.tol:
            self.status = Status.CONVERGED
        elif self.interruption.happened:
            self.status = Status.INTERRUPTED
        elif wants_to_stop:
            self.status = Status.STOPPED
        elif len(self.history) > options.max_epochs:
            self.status = Status.MAX_EPOCHS
        elif solving + self.evaluating > options.max_time:
            self.status = Status.MAX_TIME
        if self.status is not None:
            raise StopIteration


def solve(
    problem: Problem,
    weights: FloatArray,
    options: Options,
    interruption: Interruption,
    spent: float,
) -> Solution:
    """Descend from `weights` until the relative norm of the gradient is at most `tol`.

    `spent` are the seconds that it took to find these weights.
    """
    with Team(options.n_threads) as team:
        run = _Run(problem, weights, options, team, interruption, spent)
        limits = {"maxiter": options.max_epochs, "maxfun": 10 * options.max_epochs + 100}
        try:
            run.record(run.flat)
            scipy.optimize.minimize(
                run.evaluate,
                run.flat,
                jac=True,
                method="L-BFGS-B",
                callback=run.record,
                options={"maxcor": 20, "gtol": 0.0, "ftol": 0.0, **limits},
            )
        except StopIteration:  # raised before the first step; later ones SciPy takes itself
            pass
        run.evaluate(run.flat)  # the duals of the weights that are returned
    found = run.history[-1].certificate
    status = run.status or Status.NO_PROGRESS
    final = run.flat.reshape(run.shape).astype(problem.dtype)
    return Solution(final, run.duals, found, status, run.history)
