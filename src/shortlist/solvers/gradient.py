r"""A gradient method for losses that are not convex: limited-memory BFGS from a given start.

There is no dual to certify with. What can be said is how far a model is from stationary:
with the gradients :math:`v_i` of the losses at its scores, :math:`\nabla P(W) = W - W(v)`.

What makes the search long is that the curvature differs by orders of magnitude from one direction
to another. In the metric of the curvature at the start, as if features and classes were independent
(`factors`), it does so far less.

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
from shortlist.solvers import factors, systems
from shortlist.solvers.interruption import Interruption
from shortlist.solvers.options import Options
from shortlist.solvers.problem import Problem, accumulate
from shortlist.solvers.result import Evaluation, History, Solution, Stationarity, Status
from shortlist.solvers.team import Team


class _OfWeights:
    """The objective of a linear model; its variables are weights in the metric of `factors`."""

    def __init__(self, problem: Problem, weights: FloatArray, team: Team) -> None:
        self.problem, self.team = problem, team
        self.duals = np.empty((problem.n, problem.m), problem.dtype)
        self.root = factors.IDENTITY
        self.norm_at_zero = self(np.zeros(weights.size))[2] or 1.0
        if systems.are_worth(factors.cost(problem), problem):
            self(weights.ravel())  # the duals there, which say where there is curvature
            active = systems.active_examples(problem, self.duals, 0.0, team)
            self.root = factors.find(active, 1.0).root()

    def variables(self, weights: FloatArray) -> NDArray[np.float64]:
        """Return the variables of given weights."""
        return self.root.solve(weights).ravel().astype(np.float64)

    def weights(self, variables: FloatArray) -> FloatArray:
        """Return the weights of given variables."""
        shape = self.problem.d, self.problem.m
        weights: FloatArray = self.root.times(variables.reshape(shape))
        return weights

    def __call__(self, variables: FloatArray) -> tuple[float, FloatArray, float]:
        """Return the objective, its derivative and the norm of its gradient; write the duals."""
        problem, weights = self.problem, self.weights(variables)
        total = _losses(problem, weights.astype(problem.dtype, copy=False), self.team, self.duals)
        moved = weights if problem.anchor is None else weights - problem.anchor
        gradient = weights - problem.model(self.duals, self.team)
        return (
            0.5 * float(np.vdot(moved, moved)) + total,
            self.root.transposed(gradient).ravel().astype(np.float64),
            float(np.linalg.norm(gradient)),
        )


class _OfCoefficients:
    """The objective of a model with a kernel; its variables are the coefficients."""

    def __init__(self, problem: Problem, weights: FloatArray, team: Team) -> None:
        self.problem, self.team = problem, team
        self.duals = np.empty((problem.n, problem.m), problem.dtype)
        self.norm_at_zero = self(np.zeros(weights.size))[2] or 1.0

    def variables(self, weights: FloatArray) -> NDArray[np.float64]:
        """Return the variables of given weights."""
        return weights.ravel().astype(np.float64)

    def weights(self, variables: FloatArray) -> FloatArray:
        """Return the weights of given variables."""
        return variables.reshape(self.problem.n, self.problem.m)

    def __call__(self, variables: FloatArray) -> tuple[float, FloatArray, float]:
        """Return the objective, its derivative and the norm of its gradient; write the duals."""
        problem, a = self.problem, self.weights(variables)
        model = self._times_kernel(a)
        value = 0.5 * float(np.vdot(model, a)) + _losses(problem, model, self.team, self.duals)
        rest = a - problem.coefficients(self.duals)(slice(None))
        derivative = self._times_kernel(rest).astype(np.float64)
        return value, derivative.ravel(), max(float(np.vdot(derivative, rest)), 0.0) ** 0.5

    def _times_kernel(self, a: FloatArray) -> FloatArray:
        out = np.empty(a.shape, self.problem.dtype)
        a = a.astype(self.problem.dtype, copy=False)
        accumulate(self.problem.rows, a.__getitem__, out, self.team)
        return out


def _losses(problem: Problem, model: FloatArray, team: Team, duals: FloatArray) -> float:
    """Return the weighted sum of the losses, and write their gradients to `duals`."""

    def step(some: slice, scores: FloatArray, *labels: NDArray[np.int64]) -> None:
        problem.run(batch.step_rows, scores, *labels, np.zeros(len(scores)), duals[some])

    return problem.losses(model, team, step)


class _Run:
    """The search, and what has been spent."""

    def __init__(
        self,
        problem: Problem,
        weights: FloatArray,
        options: Options,
        team: Team,
        interruption: Interruption,
        spent: float,
    ) -> None:
        self.problem, self.options, self.interruption = problem, options, interruption
        self.spent, self.evaluating, self.started = spent, 0.0, time.perf_counter()
        self.history = History()
        self.status: Status | None = None
        kind = _OfWeights if operations.is_linear(problem.rows) else _OfCoefficients
        self.objective = kind(problem, weights, team)
        self.variables = self.objective.variables(weights)
        self.evaluated: tuple[FloatArray, float, FloatArray, float] | None = None

    def evaluate(self, variables: FloatArray) -> tuple[float, FloatArray]:
        """Return the objective and its derivative; its duals follow.

        SciPy evaluates an iterate before it reports it: the last answer is kept.
        """
        if self.evaluated is None or not np.array_equal(variables, self.evaluated[0]):
            self.evaluated = variables.copy(), *self.objective(variables)
        return self.evaluated[1:3]

    @property
    def weights(self) -> FloatArray:
        """Those of the last iterate."""
        return self.objective.weights(self.variables)

    def record(self, variables: FloatArray) -> None:
        """Note an iterate, and stop when it is good enough or a limit is met."""
        value, _ = self.evaluate(variables)
        assert self.evaluated is not None
        options, self.variables = self.options, variables.copy()
        found = Stationarity(value, self.evaluated[3] / self.objective.norm_at_zero)
        solving = self.spent + time.perf_counter() - self.started - self.evaluating
        start = time.perf_counter()
        weights = self.weights
        metrics = options.metrics(self.problem.rows, weights)
        self.evaluating += time.perf_counter() - start
        line = Evaluation(len(self.history), found, solving, self.evaluating, metrics)
        self.history.append(line)
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
            run.record(run.variables)
            scipy.optimize.minimize(
                run.evaluate,
                run.variables,
                jac=True,
                method="L-BFGS-B",
                callback=run.record,
                options={"maxcor": 20, "gtol": 0.0, "ftol": 0.0, **limits},
            )
        except StopIteration:  # raised before the first step; later ones SciPy takes itself
            pass
        run.evaluate(run.variables)  # the duals of the weights that are returned
    found = run.history[-1].certificate
    status = run.status or Status.NO_PROGRESS
    weights = run.weights.astype(problem.dtype)
    return Solution(weights, run.objective.duals, found, status, run.history)
