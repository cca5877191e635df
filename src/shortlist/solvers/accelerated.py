r"""Accelerated SDCA: the proximal point method with momentum, around the same passes.

Plain passes need about :math:`1 + R^2 C / g` times the logarithm of the accuracy, `g` the
smoothing of the loss and :math:`R^2` the mean squared length of a row. A pull
:math:`\tfrac\kappa2 \|W - Z\|^2` towards a moving `Z` makes each problem :math:`1 + \kappa` times
better conditioned; one pass over it is almost enough, and with momentum,

.. math::  Z = W^{new} + \beta (W^{new} - W),

about the square root of that many passes remain [Lin, Mairal, Harchaoui: Catalyst, 2015]. A pull
is an anchor (see `problem`), so the passes are those of `sdca`, for all storages and losses.

Theory says to leave a condition of about 1. In practice that may be too little, when each
pass undoes what the pull has gained, or too much: a condition that does not bring the gap
down over some passes is left for the next of a few, from the best point, without momentum.

The certificate is that of the original problem: the least primal objective of a proximal
point, and the largest dual objective, of those that were evaluated.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses.operations import traits
from shortlist.rows import operations
from shortlist.solvers.method import Numbers
from shortlist.solvers.problem import Problem, accumulate
from shortlist.solvers.result import Certificate, History
from shortlist.solvers.sdca import Sdca
from shortlist.solvers.team import Team
from shortlist.solvers.warm import Start

#: Conditions of the problems with a pull, in the order in which they are tried; the last: none.
_CONDITIONS = (1.0, 25.0, 125.0, 625.0, 5.0, math.inf)
#: Passes without a better gap after which a condition is left, the first time that it is tried.
_PATIENCE = 12.0
#: The smoothing that a loss with kinks is counted with.
_OF_KINKS = 0.2
#: What a checkpoint holds besides arrays.
_NUMBERS = ("kappa", "momentum", "tried", "least", "least_at", "judged_at", "dual", "reached")


class Accelerated:
    """The passes of a problem with a pull, the last proximal point, and the momentum."""

    name = "accelerated"
    patience = 500

    def __init__(
        self, problem: Problem, start: Start, block_size: int | None, seed: int, team: Team
    ) -> None:
        """Begin at given weights of a linear model, or at those of the duals."""
        self.problem, self.team = problem, team
        duals, of_duals = start.duals, start.of_duals
        of_duals = problem.model(duals, team) if of_duals is None else of_duals
        self.hardness = condition(problem)
        self.tried = 0  # how often a condition was left for the next
        self.least = math.inf  # the least excess with the present condition, and when it was seen
        self.least_at = self.judged_at = 0
        pulled = problem.with_anchor(np.zeros((problem.d, problem.m), problem.dtype))
        self.sdca = Sdca(pulled, duals, block_size, seed, team, np.zeros_like(of_duals))
        self.is_exact = linear = operations.is_linear(problem.rows)
        # the last proximal point
        self.point = of_duals if start.weights is None or not linear else start.weights
        self.duals, self.dual = duals.copy(), -math.inf  # the best so far
        # Of a kernel's models only scores are known; the coefficients behind them are kept, too.
        self.behind = None if linear else self._behind_model()
        self.anchor_behind = None if self.behind is None else np.zeros_like(self.behind)
        self.reached = math.inf
        self.best: tuple[FloatArray, FloatArray | None] = self.point, self.behind
        if start.certificate is not None and linear:
            self.reached, self.dual = start.certificate
        self._restart(of_duals)

    def _restart(self, of_duals: FloatArray) -> None:
        """Pull towards the last point, without momentum; the weights of the duals are given."""
        wanted = _CONDITIONS[self.tried % len(_CONDITIONS)]
        self.kappa = max(self.hardness / wanted - 1.0, 0.0)
        self.momentum = 1.0
        self.sdca.problem.set_weights(self.problem.c / (1.0 + self.kappa))
        self._pull_towards(self.point, self.behind)
        own = 0.0 if self.problem.anchor is None else self.problem.anchor
        share = self.problem.dtype.type(1.0 / (1.0 + self.kappa))
        self.sdca.set_model(self.sdca.problem.anchor + share * (of_duals - own))
        self.sdca.wake()

    def _pull_towards(self, Z: FloatArray, behind: FloatArray | None) -> None:
        share = self.problem.dtype.type(self.kappa / (1.0 + self.kappa))
        own = 0.0 if self.problem.anchor is None else self.problem.anchor
        self.sdca.move_anchor(own + share * (Z - own))
        if behind is not None:
            self.anchor_behind = share * behind

    def run_epoch(self, should_stop: Callable[[], bool]) -> None:
        """Make one pass, then move what it is pulled towards."""
        self.sdca.run_epoch(should_stop)
        if self.sdca.position > 0:  # broken off
            return
        before, behind_before = self.point, self.behind
        self.point = self.sdca.model.copy()
        if self.anchor_behind is not None:
            moved = self.sdca.problem.coefficients(self.sdca.duals)
            self.behind = self.anchor_behind + moved(slice(None))
        self.momentum, beta = next_momentum(self.momentum, self.kappa)
        beta = self.problem.dtype.type(beta)
        Z = self.point + beta * (self.point - before)
        behind = None
        if self.behind is not None and behind_before is not None:
            behind = self.behind + beta * (self.behind - behind_before)
        self._pull_towards(Z, behind)

    @property
    def epoch(self) -> int:
        """Passes over the data."""
        return self.sdca.epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self.sdca.epoch = self.least_at = epoch
        self.sdca.wake()

    def certificate(self, exact: bool) -> Certificate:
        """Return the least primal and the largest dual objective so far.

        They are those of a proximal point and of duals as they were at an evaluation, and
        computed from these alone; the scores of a kernel's point are rounded from pass to pass,
        and computed anew if `exact`.
        """
        problem, team, duals = self.problem, self.team, self.sdca.duals
        if exact:  # rounding takes the model of the passes from that of the duals
            self.sdca.recompute_model()
        model = problem.model(duals, team)
        dual = problem.dual(duals, model, team)
        if dual > self.dual:
            self.dual = dual
            self.duals[:] = duals
        if self.kappa == 0.0:
            self.point = model
            self.behind = None if self.behind is None else self._behind_model()
        coefficients = None if self.behind is None else self.behind.__getitem__
        primal = problem.primal(self.point, coefficients, team)
        if primal < self.reached:
            self.reached, self.best = primal, (self.point, self.behind)
        if exact and not self.is_exact:
            self._recompute_best()
        return Certificate(self.reached, self.dual)

    def _recompute_best(self) -> None:
        """Compute the best point of a kernel anew, from the coefficients behind it."""
        point, behind = self.best
        assert behind is not None
        accumulate(self.problem.rows, behind.__getitem__, point, self.team)
        self.reached = self.problem.primal(point, behind.__getitem__, self.team)

    def _behind_model(self) -> FloatArray:
        """Return the coefficients of the model of the duals."""
        return self.problem.coefficients(self.sdca.duals)(slice(None))

    def _judge(self, excess: float) -> None:
        """Leave a condition with which the gap does not fall."""
        if excess < 0.8 * self.least:
            self.least, self.least_at = excess, self.judged_at
        elif self.judged_at - self.least_at > self._patience():
            self.tried += 1
            self.least, self.least_at = excess, self.judged_at
            self.sdca.duals[:] = self.duals
            self.point, self.behind = self.best
            self._restart(self.problem.model(self.duals, self.team))

    def _patience(self) -> float:
        """Return the passes after which a condition is left: more when all were tried before."""
        rounds = 1 + self.tried // len(_CONDITIONS)
        return max(_PATIENCE * rounds, 0.5 * self.judged_at if self.kappa == 0.0 else 0.0)

    def weights(self) -> FloatArray:
        """Return the weights of the best point."""
        point, behind = self.best
        return point if behind is None else behind

    @property
    def has_drifted(self) -> bool:
        """Whether the model should be computed anew."""
        return self.sdca.has_drifted

    def next_check(self, history: History, tol: float) -> int:
        """Return the epoch of the next evaluation, not too far: the gap may rise again.

        Without a pull it does not, but its rate is not that with one.
        """
        last = history[-1] if history else None
        if last is not None and last.method == self.name and last.epoch > self.judged_at:
            self.judged_at = last.epoch
            self._judge(last.excess)
        passes = last.epoch if last else 0
        far = 10 if self.kappa > 0.0 else max(10, passes // 4)
        return min(self.sdca.next_check(history, tol), passes + far)

    def wake(self) -> None:
        """Visit every example again."""
        self.sdca.wake()

    def state(self) -> tuple[Numbers, dict[str, NDArray[Any]]]:
        """Return all that the next passes depend on: what JSON can hold, and arrays."""
        numbers, arrays = self.sdca.state()
        mine = {name: getattr(self, name) for name in _NUMBERS}
        point, behind = self.best
        ours = {
            "point": self.point,
            "anchor": self.sdca.problem.anchor,
            "best": point,
            "best_duals": self.duals,
            "behind": self.behind,
            "anchor_behind": self.anchor_behind,
            "best_behind": behind,
        }
        known = {name: array for name, array in ours.items() if array is not None}
        return {**numbers, "acceleration": mine}, {**arrays, **known}

    def restore(self, numbers: Numbers, arrays: dict[str, NDArray[Any]]) -> None:
        """Set what `state` returned."""
        self.sdca.restore(numbers, arrays)
        for name in _NUMBERS:
            setattr(self, name, numbers["acceleration"][name])
        self.sdca.problem.set_weights(self.problem.c / (1.0 + self.kappa))
        self.point, self.sdca.problem.anchor = arrays["point"], arrays["anchor"]
        self.behind, self.anchor_behind = arrays.get("behind"), arrays.get("anchor_behind")
        self.best, self.duals = (arrays["best"], arrays.get("best_behind")), arrays["best_duals"]


def next_momentum(momentum: float, kappa: float) -> tuple[float, float]:
    r"""Return the next momentum and :math:`\beta`, which is 0 without a pull.

    It tends to :math:`(1 - \sqrt r)/(1 + \sqrt r)`, with :math:`r = 1 / (1 + \kappa)`.
    """
    if kappa == 0.0:
        return momentum, 0.0
    r, t = 1.0 / (1.0 + kappa), momentum
    rest = 1.0 - r * t * t
    following = 0.5 * (rest + math.sqrt(rest * rest + 4.0 * t * t))
    return following, (t - 1.0) * (1.0 + kappa - following) / (following * kappa)


def condition(problem: Problem) -> float:
    r"""Return :math:`R^2 C / g`, which decides how many plain passes a problem takes."""
    return problem.mean_curvature / (traits(problem.loss).smoothing or _OF_KINKS)
