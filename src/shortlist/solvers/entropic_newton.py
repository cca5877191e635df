r"""Newton's method for entropies, whose curvature changes slowly and is nowhere 0.

A step solves a system with the Hessians of the losses (`systems`) by conjugate gradients, as
exactly as matters: with the gradients of the losses as duals the gap at any weights is
:math:`\tfrac12 \|\nabla P(W)\|^2`, and the residual of a system is about the next gradient. From
any start a few steps are enough, most of them whole.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.solvers import systems
from shortlist.solvers.linear_form import LinearForm
from shortlist.solvers.memory import Memory
from shortlist.solvers.method import Numbers
from shortlist.solvers.point import Point, look
from shortlist.solvers.primal import PrimalMethod
from shortlist.solvers.problem import Problem
from shortlist.solvers.search import find_root
from shortlist.solvers.systems import square
from shortlist.solvers.team import Team
from shortlist.solvers.warm import Start

#: The part of the tolerance that a step may leave as the residual of its system; the largest
#: residual, relative to the gradient.
_LEFT, _ROUGH = 0.4, 0.1
#: The derivative along a direction, relative to the first, at which a step is good enough.
_FLAT = 0.2
#: Factors of another C are left when they take so many times the iterations, and some more; blocks
#: of another C, when they take so many.
_MORE, _SOME, _STALE = 1.5, 4, 4
#: Steps after which the scores are computed anew from the weights.
_STEPS_OF_DRIFT = 10


class EntropicNewton(PrimalMethod):
    """A point, and the best of both objectives so far."""

    means = False  # whether systems are so hard that means of directions are worth their cost

    def __init__(self, problem: Problem, start: Start, team: Team, tol: float) -> None:
        """Begin at given weights, or at those of the duals."""
        self.team, self.tol, self.is_warm = team, tol, start.weights is not None
        self.memory = Memory() if start.memory is None else start.memory
        self.form = LinearForm(problem, team, self.memory)
        self.problem, self.is_exact = self.form.problem, self.form.is_exact
        self.epoch = self.steps = 0
        self.best, self.dual, self.duals = (math.inf, start.duals), -math.inf, start.duals
        if start.point is not None and self.problem is problem:
            self._keep(start.point)
            return
        model = self.problem.model(start.duals, team)
        if start.duals.any():
            self.dual = self.problem.dual(start.duals, model, team)
        if start.weights is not None:
            model = self.form.model(start.weights)
        self._keep(look(self.problem, model, self.problem.scores(model, team), team))

    def run_epoch(self, should_stop: Callable[[], bool]) -> None:
        """Take one step; `epoch` counts the passes over the data that it took."""
        gradient, kept = self.point.gradient, self.memory.kept
        kept.weight, before = float(self.problem.c.sum()), kept.iterations
        # Those of the last C serve its first step: curvature changes little from it.
        if self.steps > 0 or not systems.are_factors_dear(self.problem):
            kept.factors = None
        if self.steps > 0:
            kept.blocks = None
        active = systems.active_examples(self.problem, self.point.duals, 0.0, self.team)
        accuracy, is_enough = self._accuracy()
        direction, passes = systems.solve_by_gradients(
            active,
            gradient,
            accuracy,
            self.team,
            lambda residual, gained: should_stop() or is_enough(residual, gained),
            kept,
            self.means,
        )
        if self.steps == 0 and passes > _MORE * before + _SOME:
            kept.factors = None
        if self.steps == 0 and passes > _STALE:
            kept.blocks = None
        self.steps += 1
        self.epoch += passes + 1
        self._descend(direction, float(np.vdot(gradient, direction)))

    def state(self) -> tuple[Numbers, dict[str, NDArray[Any]]]:
        """Return all that the next steps depend on: what JSON can hold, and arrays."""
        numbers = [self.epoch, self.steps, self.memory.kept.iterations, self.dual, self.best[0]]
        arrays = {"model": self.point.model, "scores": self.point.scores, "duals": self.duals}
        return {"newton": numbers}, {**arrays, "best": self.best[1]}

    def restore(self, numbers: Numbers, arrays: dict[str, NDArray[Any]]) -> None:
        """Set what `state` returned."""
        self.epoch, self.steps, self.memory.kept.iterations, self.dual, best = numbers["newton"]
        self.best, self.duals = (best, arrays["best"]), arrays["duals"]
        self._keep(look(self.problem, arrays["model"], arrays["scores"], self.team))

    def _accuracy(self) -> tuple[float, Callable[[FloatArray, float], bool]]:
        """Return what the residual of a system may be, relative to the first, and when it is less.

        It will be the gradient, half of whose square is the gap.
        """
        most = 2.0 * _LEFT * self.tol * self.best[0]
        most = max(most, min(_ROUGH, self._gap()) ** 2 * square(self.point.gradient))
        return 0.0, lambda residual, _: square(residual) <= most

    def _keep(self, point: Point) -> None:
        """Go on from a point, and remember what is best of it."""
        self.point = point
        primal, dual = point.certificate
        if primal < self.best[0]:
            self.best = primal, point.model
        if dual > self.dual:
            self.dual, self.duals = dual, point.duals
            self.memory.of_duals = point.duals, point.of_duals

    def _descend(self, direction: FloatArray, first: float) -> None:
        """Go to the end of a direction, which is mostly right; on or back where it is not.

        `first` is the derivative along it.
        """
        along = self.problem.scores(direction, self.team)
        self._move(direction, along, 1.0)
        slope = float(np.vdot(self.point.gradient, direction))
        if abs(slope) <= _FLAT * abs(first):
            return
        sign = -math.copysign(1.0, slope)
        guess = 2.0 if slope < 0.0 else slope / (slope - first)
        back = sign * direction
        t = find_root(
            self._slope(self.point[:2], (back, sign * along), self.point.duals, 0.0),
            -abs(slope),
            guess=guess,
            enough=_FLAT * abs(first),
        )
        self._move(back, sign * along, t)

    def _move(self, direction: FloatArray, along: FloatArray, t: float) -> None:
        kind = self.problem.dtype.type
        model = self.point.model + kind(t) * direction
        if self.steps % _STEPS_OF_DRIFT == 0:
            scores = self.problem.scores(model, self.team)
        else:
            scores = self.point.scores + kind(t) * along
        self._keep(look(self.problem, model, scores, self.team))
