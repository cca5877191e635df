r"""Newton's method in the primal, proximal in the dual: for large C.

With :math:`\tfrac{\gamma}{2} \sum_i c_i \|v_i - \bar v_i\|^2` added to the conjugates, every loss
is smooth about the *centre* :math:`\bar v`, and its gradient is :math:`v_i = step(u_i + \gamma
\bar v_i, \gamma)`. A step of Newton's method on

.. math::  \min_W \tfrac12 \|W - W_0\|^2 + \sum_i c_i L_{\gamma, \bar v}(y_i, W' x_i)

solves a system with the derivatives of these steps (`systems`), and searches along its solution.
Whenever the new duals have a larger dual objective they become the centre, and
:math:`\gamma` shrinks, unless the gap is that of the present problem: this is the proximal point
method in the dual (the augmented Lagrangian method in the primal), which converges for any loss and
from any start. For a smooth loss :math:`\gamma` ends at 0, where it is Newton's method itself.
Entropies need no centre: see `entropic_newton`.

The certificate is that of the original problem: the least primal and the largest dual objective
so far.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses import batch
from shortlist.losses.operations import traits
from shortlist.solvers import systems
from shortlist.solvers.linear_form import LinearForm
from shortlist.solvers.method import Numbers
from shortlist.solvers.primal import PrimalMethod
from shortlist.solvers.problem import Problem
from shortlist.solvers.search import find_root
from shortlist.solvers.systems import square
from shortlist.solvers.team import Team
from shortlist.solvers.warm import Start

#: The first curvature of a loss about its centre makes the problem as hard as this one.
_FIRST_CONDITION = 30.0
#: The part of that curvature that is left for a loss with kinks where weights are given, which are
#: near the solution; a smooth loss is taken as it is there.
_WARM = 0.01
#: What is left of the curvature where less than a tenth of the gap is due to the present problem,
#: and where less than half is: of smooth losses, and of those with kinks, whose active set changes
#: more.
_SHRINK, _SHRINK_WITH_KINKS = (0.1, 0.4), (0.4, 0.6)
#: How near a step comes to its minimum, relative to the tolerance.
_LEFT = 0.05
#: Steps without a better centre after which the problem is made easier.
_PATIENCE = 8
#: Steps after which the scores are computed anew from the weights.
_STEPS_OF_DRIFT = 10


class Newton(PrimalMethod):
    """Weights, their scores, and the duals about which losses are smoothed."""

    def __init__(self, problem: Problem, start: Start, team: Team, tol: float) -> None:
        """Begin at given weights, as a user gets them, or at those of the duals."""
        self.team, self.tol = team, tol
        self.form = LinearForm(problem, team, start.memory)
        self.problem, self.is_exact = self.form.problem, self.form.is_exact
        duals, weights = start.duals, start.weights
        self.duals = duals  # the centre, with the best dual objective so far
        self.candidate = np.empty_like(duals)
        self.model = self.form.of_duals(duals, start.of_duals)
        of_duals, self.is_warm = self.model, weights is not None
        if weights is not None:
            self.model = self.form.model(weights)
        self.epoch = self.steps = 0
        self.since = 0  # steps since the centre was moved
        known, condition = traits(problem.loss), problem.mean_curvature
        self.smoothing, self.least = known.smoothing, 1e-9 * condition
        lowest = 0.0 if known.smoothing else self.least
        self.gamma = max(condition / _FIRST_CONDITION - known.smoothing, lowest)
        self.scores = self.problem.scores(self.model, team)
        self.best = math.inf, self.model
        self.dual = self.problem.dual(duals, of_duals, team)
        if self.is_warm:
            self.gamma = 0.0 if known.smoothing else max(_WARM * self.gamma, lowest)
        self._look()

    def run_epoch(self, should_stop: Callable[[], bool]) -> None:
        """Take one step; `epoch` counts the passes over the data that it took."""
        direction, passes = self._direction(should_stop)
        along = self.problem.scores(direction, self.team)
        t = self._search(direction, along)
        kind = self.problem.dtype.type
        self.model = self.model + kind(t) * direction
        self.steps += 1
        self.since += 1
        if self.steps % _STEPS_OF_DRIFT == 0:
            self.scores = self.problem.scores(self.model, self.team)
        else:
            self.scores += kind(t) * along
        self.epoch += passes + 1
        self._look()

    def state(self) -> tuple[Numbers, dict[str, NDArray[Any]]]:
        """Return all that the next steps depend on: what JSON can hold, and arrays."""
        numbers = [self.epoch, self.steps, self.since, self.gamma, self.dual, self.best[0]]
        arrays = {"duals": self.duals, "model": self.model, "scores": self.scores}
        return {"newton": numbers}, {**arrays, "best": self.best[1]}

    def restore(self, numbers: Numbers, arrays: dict[str, NDArray[Any]]) -> None:
        """Set what `state` returned."""
        *counts, self.gamma, self.dual, best = numbers["newton"]
        self.epoch, self.steps, self.since = counts
        self.duals, self.model, self.scores = (arrays[k] for k in ("duals", "model", "scores"))
        self.best = best, arrays["best"]
        self._compute_candidate()

    def _direction(self, should_stop: Callable[[], bool]) -> tuple[FloatArray, int]:
        problem, team = self.problem, self.team
        active = systems.active_examples(problem, self.candidate, self.gamma, team)
        if systems.is_direct(problem):
            return systems.solve_directly(active, self.gradient, team), 1
        accuracy = min(0.1, math.sqrt(max(self._gap(), 1e-8)))
        enough = _LEFT * self.tol * self.best[0]
        return systems.solve_by_gradients(
            active,
            self.gradient,
            accuracy,
            team,
            lambda _, gained: should_stop() or gained <= enough,
        )

    def _search(self, direction: FloatArray, along: FloatArray) -> float:
        """Return a step length at which the derivative along the direction is small."""
        at = self.model, self.scores
        slope = self._slope(at, (direction, along), self.duals, self.gamma)
        return find_root(slope, float(np.vdot(self.gradient, direction)))

    def _look(self) -> None:
        """Compute primal and duals at the model; move the centre where these are better."""
        reached = self.problem.primal_at(self.model, self.scores, self.team)
        if reached < self.best[0]:
            self.best = reached, self.model
        weights = self._compute_candidate()
        dual = self.problem.dual(self.candidate, weights, self.team)
        if dual > self.dual and self.gamma == 0.0:  # where the centre does not matter
            self.dual, self.since = dual, 0
            self.duals[:] = self.candidate
        elif dual > self.dual:
            self.dual, self.duals, self.candidate = dual, self.candidate, self.duals
            self._shrink()
            self._compute_candidate()
        elif self.since >= _PATIENCE:
            self.gamma, self.since = 4.0 * max(self.gamma, 0.1 * self.smoothing), 0
            self._compute_candidate()

    def _shrink(self) -> None:
        """Smooth less, the more of the gap is due to that, and not to the present problem."""
        mine = 0.5 * square(self.gradient)
        share = mine / max(self.best[0] - self.dual, 1e-300)
        much, little = _SHRINK if self.smoothing else _SHRINK_WITH_KINKS
        self.gamma *= much if share < 0.1 else little if share < 0.5 else 1.0
        self.gamma = max(self.gamma, 0.0 if self.smoothing else self.least)
        if self.gamma < 0.02 * self.smoothing:
            self.gamma = 0.0
        self.since = 0

    def _compute_candidate(self) -> FloatArray:
        """Write the duals at the model, and the gradient; return the weights of these duals."""
        problem = self.problem

        def step(some: slice, *labels: NDArray[np.int64]) -> None:
            problem.run(
                batch.centred_step_rows, self.scores[some], self.duals[some], self.gamma,
                *labels, self.candidate[some],
            )  # fmt: skip

        problem.in_chunks(step, self.team)
        weights = problem.model(self.candidate, self.team)
        self.gradient = self.model - weights
        return weights
