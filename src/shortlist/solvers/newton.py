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

Entropies need no centre. Where systems are too large to be solved exactly they need a good start:
the problem is solved, roughly, with a *share* of all weights, which grows to 1; solutions are
followed along a line in the logarithm of the share. And near the end such a step leaves a residual
in directions of large curvature, which hardly matters for the primal objective, but does for the
gap. Passes of SDCA over the duals remove it, far sooner than the system could be solved to that
accuracy.

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
from shortlist.solvers.memory import Memory
from shortlist.solvers.method import Numbers
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate, History
from shortlist.solvers.sdca import Sdca
from shortlist.solvers.search import find_root
from shortlist.solvers.team import Team

#: The first curvature of a loss about its centre makes the problem as hard as this one.
_FIRST_CONDITION = 30.0
#: The part of that curvature that is left where weights are given, which are near the solution.
_WARM = 0.01
#: The share of the weights to begin with makes the problem as hard as this one; how it grows;
#: the gap that a share is solved to.
_EASY, _GROWTH, _ROUGHLY = 10.0, 4.0, 0.03
#: How near a step comes to its minimum, relative to the tolerance: duals do the rest.
_LEFT = 0.05
#: The most passes over the duals after a step; to what part of itself one brings the gap.
_PASSES, _HELPFUL = 5, 0.8
#: Steps without a better centre after which the problem is made easier, or a share left.
_PATIENCE = 8
#: Steps after which the scores are computed anew from the weights.
_STEPS_OF_DRIFT = 10


class Newton:
    """Weights, their scores, and the duals about which losses are smoothed."""

    name = "newton"
    patience = 60
    is_exact = False

    def __init__(
        self,
        problem: Problem,
        duals: FloatArray,
        team: Team,
        weights: FloatArray | None = None,
        tol: float = 0.0,
        memory: Memory | None = None,
    ) -> None:
        """Begin at given weights, as a user gets them, or at those of the duals."""
        self.team, self.tol = team, tol
        self.form = LinearForm(problem, team, memory)
        self.whole = self.form.problem
        self._set_share(1.0)
        self.past: tuple[float, FloatArray] | None = None  # the share solved before, and how
        self.duals = duals  # the centre, with the best dual objective so far
        self.candidate = np.empty_like(duals)
        self.model = self.problem.model(duals, team)
        of_duals, self.is_warm = self.model, weights is not None
        if weights is not None:
            self.model = self.form.model(weights)
        self.epoch = self.steps = 0
        self.since = 0  # steps since the centre was moved
        self.left = _LEFT  # of a step's system, to passes over the duals
        known, condition = traits(problem.loss), problem.mean_curvature
        self.smoothing, self.least = known.smoothing, 1e-9 * condition
        self.is_entropic = known.entropic
        lowest = 0.0 if known.smoothing else self.least
        self.gamma = max(condition / _FIRST_CONDITION - known.smoothing, lowest)
        self.scores = self.problem.scores(self.model, team)
        self.best = math.inf, self.model
        self.dual = self.problem.dual(duals, of_duals, team)
        if self.is_warm:
            self.gamma = max(_WARM * self.gamma, lowest)
        if known.entropic:
            self.gamma = 0.0
            self._set_share(self._first_share())
        self._look()

    def _set_share(self, share: float) -> None:
        self.share = share
        self.problem = self.whole.with_weights(share * self.whole.c) if share < 1.0 else self.whole

    def _first_share(self) -> float:
        """Return the share of whose problem the present model is most nearly a solution."""
        pull = self._compute_candidate() - self._anchor
        nearest = float(np.vdot(self.model - self._anchor, pull)) / max(_square(pull), 1e-300)
        return min(max(nearest, _EASY / max(self.whole.mean_curvature, 1e-300)), 1.0)

    @property
    def _anchor(self) -> FloatArray | float:
        return 0.0 if self.whole.anchor is None else self.whole.anchor

    def run_epoch(self, should_stop: Callable[[], bool]) -> None:
        """Take one step; `epoch` counts the passes over the data that it took."""
        gap = self._gap()
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
        if self.is_entropic and self.share == 1.0 and self._gap() > self.tol:
            self._polish(should_stop)
            if self._gap() > 0.5 * gap:  # too much was left
                self.left *= 0.1

    def certificate(self, exact: bool) -> Certificate:
        """Return the least primal and the largest dual objective so far."""
        if not exact:
            return Certificate(self.best[0], self.dual)
        return self.form.certificate(self.weights(), self.duals)

    def weights(self) -> FloatArray:
        """Return the best weights so far."""
        return self.form.weights(self.best[1])

    @property
    def has_drifted(self) -> bool:
        """Whether the certificate should be computed anew."""
        return False

    def next_check(self, history: History, tol: float) -> int:
        """Return the next epoch: each step knows its objectives, and so do weights given."""
        return self.epoch if self.is_warm and not history else self.epoch + 1

    def wake(self) -> None:
        """Do nothing: every step sees all examples."""

    def state(self) -> tuple[Numbers, dict[str, NDArray[Any]]]:
        """Return all that the next steps depend on: what JSON can hold, and arrays."""
        past, before = self.past or (0.0, self.model)
        numbers = [self.epoch, self.steps, self.since, self.gamma, self.dual, self.best[0],
                   self.share, self.left, past]  # fmt: skip
        arrays = {"duals": self.duals, "model": self.model, "scores": self.scores}
        return {"newton": numbers}, {**arrays, "best": self.best[1], "before": before}

    def restore(self, numbers: Numbers, arrays: dict[str, NDArray[Any]]) -> None:
        """Set what `state` returned."""
        *counts, self.gamma, self.dual, best, share, self.left, past = numbers["newton"]
        self.epoch, self.steps, self.since = counts
        self.duals, self.model, self.scores = (arrays[k] for k in ("duals", "model", "scores"))
        self.best = best, arrays["best"]
        self.past = (past, arrays["before"]) if past else None
        self._set_share(share)
        self._compute_candidate()

    def _direction(self, should_stop: Callable[[], bool]) -> tuple[FloatArray, int]:
        problem, team = self.problem, self.team
        active = systems.active_examples(problem, self.candidate, self.gamma, team)
        if systems.is_direct(problem):
            return systems.solve_directly(active, self.gradient, team), 1
        accuracy = min(0.1, math.sqrt(max(self._gap(), 1e-8)))
        is_enough = self._is_enough()
        return systems.solve_by_gradients(
            active,
            self.gradient,
            accuracy,
            team,
            lambda residual, square: should_stop() or is_enough(residual, square),
        )

    def _is_enough(self) -> Callable[[FloatArray, float], bool]:
        """Return whether a direction is good enough, by what is left of the system."""
        if self.share < 1.0:  # the residual will be the gradient
            most = _ROUGHLY * self._primal_of_share(self.best[0])
            return lambda residual, square: _square(residual) <= most
        return lambda residual, square: square <= self.left * self.tol * self.best[0]

    def _gap(self) -> float:
        return Certificate(self.best[0], self.dual).gap

    def _primal_of_share(self, primal: float) -> float:
        """Return the primal objective of the share at the model, given that of the whole."""
        half = self.whole.half(self.model, None)
        return half + self.share * (primal - half)

    def _search(self, direction: FloatArray, along: FloatArray) -> float:
        """Return a step length at which the derivative along the direction is small."""
        straight = float(np.vdot(self.model - self._anchor, direction))
        curved = _square(direction)

        def slope(t: float) -> float:
            return straight + t * curved + self._slope_of_losses(along, t)

        return find_root(slope, float(np.vdot(self.gradient, direction)))

    def _slope_of_losses(self, along: FloatArray, t: float) -> float:
        problem = self.problem

        def slope(some: slice, *labels: NDArray[np.int64]) -> float:
            found = problem.run(
                batch.slope_rows, self.scores[some], along[some], t, self.duals[some], self.gamma,
                *labels, problem.c[some],
            )  # fmt: skip
            return float(found)

        return sum(problem.in_chunks(slope, self.team))

    def _look(self) -> None:
        """Compute primal and duals at the model; move the centre where these are better."""
        reached = self.whole.primal_at(self.model, self.scores, self.team)
        if reached < self.best[0]:
            self.best = reached, self.model
        weights = self._compute_candidate()
        if self.share < 1.0 and (self._is_share_solved(reached) or self.since >= _PATIENCE):
            self._grow()
            weights = self._compute_candidate()
        shrunk = self.candidate
        if self.share < 1.0:  # duals with the same weights
            shrunk = self.problem.dtype.type(self.share) * self.candidate
        dual = self.whole.dual(shrunk, weights, self.team)
        if dual > self.dual and self.gamma == 0.0:  # where the centre does not matter
            self.dual, self.since = dual, 0
            self.duals[:] = shrunk
        elif dual > self.dual:
            self.dual, self.duals, self.candidate = dual, self.candidate, self.duals
            self._shrink()
            self._compute_candidate()
        elif self.since >= _PATIENCE:
            self.gamma, self.since = 4.0 * max(self.gamma, 0.1 * self.smoothing), 0
            self._compute_candidate()

    def _is_share_solved(self, primal: float) -> bool:
        return 0.5 * _square(self.gradient) <= _ROUGHLY * self._primal_of_share(primal)

    def _grow(self) -> None:
        """Go on with a larger share, from the model, or from where its way leads."""
        before, self.past = self.past, (self.share, self.model)
        self._set_share(min(_GROWTH * self.share, 1.0))
        self.since = 0
        if before is None:
            return
        ahead = math.log(self.share / self.past[0]) / math.log(self.past[0] / before[0])
        model = self.model + self.problem.dtype.type(ahead) * (self.model - before[1])
        scores = self.problem.scores(model, self.team)
        here = self.problem.primal_at(self.model, self.scores, self.team)
        if self.problem.primal_at(model, scores, self.team) < here:
            self.model, self.scores = model, scores

    def _polish(self, should_stop: Callable[[], bool]) -> None:
        """Make passes over the best duals, for as long as they help."""
        sdca = Sdca(self.whole, self.duals.copy(), None, self.steps, self.team)
        for _ in range(_PASSES):
            before = self._gap()
            sdca.run_epoch(should_stop)
            self.epoch += 1
            dual = self.whole.dual(sdca.duals, self.whole.model(sdca.duals, self.team), self.team)
            if dual > self.dual:
                self.dual = dual
                self.duals[:] = sdca.duals
            if self._gap() <= self.tol or self._gap() > _HELPFUL * before or should_stop():
                break

    def _shrink(self) -> None:
        """Smooth less, the more of the gap is due to that, and not to the present problem."""
        mine = 0.5 * _square(self.gradient)
        share = mine / max(self.best[0] - self.dual, 1e-300)
        self.gamma *= 0.1 if share < 0.1 else 0.4 if share < 0.5 else 1.0
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


def _square(array: FloatArray) -> float:
    return float(np.vdot(array, array))
