r"""Newton's method for entropies with many weights, whose systems are hard to solve.

Inexact steps need a good start: the problem is solved, roughly, with a *share* of all weights
`c`, which grows to 1; solutions are followed along a line in the logarithm of the share. And near
the end such a step leaves a residual in directions of large curvature, which hardly matters for
the primal objective, but does for the gap. Passes of SDCA over the duals remove it, far sooner
than the system could be solved to that accuracy.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.solvers.entropic_newton import EntropicNewton
from shortlist.solvers.method import Numbers
from shortlist.solvers.point import Point, look
from shortlist.solvers.problem import Problem
from shortlist.solvers.sdca import Sdca
from shortlist.solvers.systems import square
from shortlist.solvers.team import Team
from shortlist.solvers.warm import Start

#: The share of the weights to begin with makes the problem as hard as this one; how it grows;
#: the gap that a share is solved to; the most steps for it.
_EASY, _GROWTH, _ROUGHLY, _PATIENCE = 10.0, 4.0, 0.03, 8
#: How near a step comes to its minimum, relative to the tolerance: duals do the rest.
_LEFT = 0.05
#: The most passes over the duals after a step; to what part of itself one brings the gap.
_PASSES, _HELPFUL = 5, 0.8


class GrowingNewton(EntropicNewton):
    """A point of the problem with a share of the weights, and the best for the whole."""

    means = True

    def __init__(self, problem: Problem, start: Start, team: Team, tol: float) -> None:
        """Begin at given weights, or at those of the duals."""
        self.share = 1.0
        self.past: tuple[float, FloatArray] | None = None  # the share solved before, and how
        self.since = 0  # steps for this share
        self.left = _LEFT  # of a step's system, to passes over the duals
        super().__init__(problem, start, team, tol)
        self.whole = self.problem
        share = self._first_share()
        if share < 1.0:
            self._go_on_with(share, self.point.model, self.point.scores)

    def _first_share(self) -> float:
        """Return the share of whose problem the present model is most nearly a solution."""
        own = 0.0 if self.whole.anchor is None else self.whole.anchor
        pull = self.point.of_duals - own
        nearest = float(np.vdot(self.point.model - own, pull)) / max(square(pull), 1e-300)
        return min(max(nearest, _EASY / max(self.whole.mean_curvature, 1e-300)), 1.0)

    def run_epoch(self, should_stop: Callable[[], bool]) -> None:
        """Take one step, then what helps it."""
        gap = self._gap()
        super().run_epoch(should_stop)
        self.since += 1
        if self.share < 1.0:
            mine = 0.5 * square(self.point.gradient)
            if mine <= _ROUGHLY * self.point.certificate.primal or self.since >= _PATIENCE:
                self._grow()
        elif self._gap() > self.tol:
            self._polish(should_stop)
            if self._gap() > 0.5 * gap:  # too much was left
                self.left *= 0.1

    def state(self) -> tuple[Numbers, dict[str, NDArray[Any]]]:
        """Return all that the next steps depend on: what JSON can hold, and arrays."""
        numbers, arrays = super().state()
        past, before = self.past or (0.0, self.point.model)
        return {**numbers, "share": [self.share, self.since, self.left, past]}, {
            **arrays,
            "before": before,
        }

    def restore(self, numbers: Numbers, arrays: dict[str, NDArray[Any]]) -> None:
        """Set what `state` returned."""
        share, self.since, self.left, past = numbers["share"]
        self.past = (past, arrays["before"]) if past else None
        self._set_share(share)
        super().restore(numbers, arrays)

    def _set_share(self, share: float) -> None:
        self.share = share
        self.problem = self.whole.with_weights(share * self.whole.c) if share < 1.0 else self.whole

    def _go_on_with(self, share: float, model: FloatArray, scores: FloatArray) -> None:
        self._set_share(share)
        self.since = 0
        self._keep(look(self.problem, model, scores, self.team))

    def _keep(self, point: Point) -> None:
        """Go on from a point, and remember what is best of it for the whole."""
        if self.share == 1.0:
            super()._keep(point)
            return
        self.point = point
        half = self.whole.half(point.model, None)
        primal = half + (point.certificate.primal - half) / self.share
        if primal < self.best[0]:
            self.best = primal, point.model
        duals = point.duals.dtype.type(self.share) * point.duals  # which have the same weights
        dual = self.whole.dual(duals, point.of_duals, self.team)
        if dual > self.dual:
            self.dual, self.duals = dual, duals

    def _accuracy(self) -> tuple[float, Callable[[FloatArray, float], bool]]:
        """Return what the residual of a system may be, relative to the first, and when it is less.

        That of a share will be its gradient.
        """
        accuracy = min(0.1, math.sqrt(max(self._gap(), 1e-8)))
        if self.share < 1.0:
            most = _ROUGHLY * self.point.certificate.primal
            return accuracy, lambda residual, _: square(residual) <= most
        _, is_short = super()._accuracy()
        enough = self.left * self.tol * self.best[0]
        return accuracy, lambda residual, gained: gained <= enough or is_short(residual, gained)

    def _grow(self) -> None:
        """Go on with a larger share, from the model, or from where its way leads."""
        model, scores = self.point.model, self.point.scores
        before, self.past = self.past, (self.share, model)
        share = min(_GROWTH * self.share, 1.0)
        self._go_on_with(share, model, scores)
        if before is None:
            return
        ahead = math.log(share / self.past[0]) / math.log(self.past[0] / before[0])
        model = model + model.dtype.type(ahead) * (model - before[1])
        scores = self.problem.scores(model, self.team)
        if self.problem.primal_at(model, scores, self.team) < self.point.certificate.primal:
            self._keep(look(self.problem, model, scores, self.team))

    def _polish(self, should_stop: Callable[[], bool]) -> None:
        """Make passes over the best duals, for as long as they help."""
        sdca = Sdca(self.whole, self.duals.copy(), None, self.steps, self.team)
        for _ in range(_PASSES):
            before = self._gap()
            sdca.run_epoch(should_stop)
            self.epoch += 1
            dual = self.whole.dual(sdca.duals, self.whole.model(sdca.duals, self.team), self.team)
            if dual > self.dual:
                self.dual, self.duals = dual, sdca.duals.copy()
            if self._gap() <= self.tol or self._gap() > _HELPFUL * before or should_stop():
                break
