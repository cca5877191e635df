r"""A gradient method for losses that are not convex: limited-memory BFGS from a given start.

There is no dual to certify with. What can be said is how far a model is from stationary:
with the gradients :math:`v_i` of the losses at its scores, :math:`\nabla P(W) = W - W(v)`.
"""

from __future__ import annotations

import time

import numpy as np
import scipy.optimize

from shortlist._arrays import FloatArray
from shortlist.losses import batch
from shortlist.solvers.options import Options
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Evaluation, Solution, Stationarity, Status


class _Run:
    """The objective with its gradient, and what has been spent."""

    def __init__(self, problem: Problem, weights: FloatArray, options: Options) -> None:
        self.problem, self.options = problem, options
        self.duals = np.empty((problem.n, problem.m), problem.dtype)
        self.evaluated: tuple[FloatArray, float, FloatArray] | None = None
        self.started = time.perf_counter()
        self.history: list[Evaluation] = []
        self.status: Status | None = None
        self.scale = float(np.linalg.norm(self.evaluate(np.zeros(weights.size))[1])) or 1.0
        self.flat = weights.ravel().astype(np.float64)

    def evaluate(self, flat: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and its gradient at the weights `flat`; `duals` follow.

        SciPy evaluates an iterate before it reports it: the last answer is kept.
        """
        if self.evaluated is not None and np.array_equal(flat, self.evaluated[0]):
            return self.evaluated[1:]
        problem = self.problem
        weights = flat.reshape(problem.d, problem.m).astype(problem.dtype, copy=False)
        scores = problem.scores(0, problem.n, weights)
        labels, values = (problem.labels.offsets, problem.labels.indices), np.empty(problem.n)
        problem.run(batch.value_rows, scores, *labels, values)
        problem.run(batch.step_rows, scores, *labels, np.zeros(problem.n), self.duals)
        gradient = flat - problem.weights(self.duals).ravel()
        value = 0.5 * float(flat @ flat) + float(problem.c @ values)
        self.evaluated = flat.copy(), value, gradient
        return value, gradient

    def record(self, flat: FloatArray) -> None:
        """Note an iterate, and stop when it is good enough or a limit is met."""
        value, gradient = self.evaluate(flat)
        self.flat = flat.copy()
        found = Stationarity(value, float(np.linalg.norm(gradient)) / self.scale)
        seconds = time.perf_counter() - self.started
        self.history.append(Evaluation(len(self.history), found, seconds, 0.0))
        stopped = self.options.callback is not None and self.options.callback(self.history[-1])
        if found.gradient_norm <= self.options.tol:
            self.status = Status.CONVERGED
        elif stopped:
            self.status = Status.STOPPED
        elif len(self.history) > self.options.max_epochs:
            self.status = Status.MAX_EPOCHS
        elif seconds > self.options.max_time:
            self.status = Status.MAX_TIME
        if self.status is not None:
            raise StopIteration


def solve(problem: Problem, weights: FloatArray, options: Options) -> Solution:
    """Descend from `weights` until the relative norm of the gradient is at most `tol`."""
    run = _Run(problem, weights, options)
    try:
        run.record(run.flat)
        scipy.optimize.minimize(
            run.evaluate,
            run.flat,
            jac=True,
            method="L-BFGS-B",
            callback=run.record,
            options={"maxiter": options.max_epochs, "maxcor": 20, "gtol": 0.0, "ftol": 0.0},
        )
    except StopIteration:  # raised before the first step; later ones SciPy takes itself
        pass
    except KeyboardInterrupt:
        run.status = Status.INTERRUPTED
    run.evaluate(run.flat)  # the duals of the weights that are returned
    found = run.history[-1].certificate
    status = run.status or Status.NO_PROGRESS
    final = run.flat.reshape(problem.d, problem.m).astype(problem.dtype)
    return Solution(final, run.duals, found, status, run.history)
