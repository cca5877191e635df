r"""Accelerated CoCoA+: many machines climb the dual at once, pulled towards a moving point.

Plain CoCoA+ (no pull) needs rounds in proportion to the number of groups times the condition of
the problem. With a pull :math:`\tfrac\kappa2 \|W - Z\|^2` beside the regulariser each round's
problem is :math:`1 + \kappa` times better conditioned, and with momentum about the square root of
the rounds remain [Ma, Jaggi, Curtis, Srebro, Takac: An accelerated communication-efficient
primal-dual optimization framework, 2017; Zheng, Wang, Xia, Xu, Zhang: A general distributed dual
coordinate optimization framework, 2017].

With the model :math:`G = W(v)` of all duals, the round's point is

.. math::  V = (\kappa Z + G) / (1 + \kappa),

at which the problem with the pull has the gap :math:`P_\kappa(V) - D_\kappa(v)`. The rule for
:math:`\kappa` looks at two numbers, which cost nothing:

*progress*
    what a round adds to :math:`D_\kappa`, divided by that gap: between 0 and 1, and known one
    round later from the same sums. Little progress hints that the pull is too weak, a round that
    almost solves its problem that it is stronger than need be;
*pace*
    by how much the logarithm of the certificate's gap falls in a round, times
    :math:`\sqrt{1 + \kappa}`. Where the loss is smooth, and rounds solve their problems well
    enough, it is between 1 and 2, whatever the data and the number of groups. Less says that what
    rounds leave unsolved adds up.

The first rounds have no pull. With the progress `p` they divide the gap by about
:math:`1 / (1 - p)` each. A pull of :math:`1 + \kappa = 1 / (2p)` raises the progress to about one
half, and at the pace 1 divides the gap by :math:`e^{\sqrt{2p}}`, which is more. So plain rounds go
on only where each solves half of its problem; else this is the first pull, and later ones are
steps up and down from it.

A slow pace asks for another pull. Where there is little progress besides, the pull is too weak, and
a few rounds are enough to tell; where there is much, a stronger one is no cure, and the weaker one
is tried. Little progress alone is no reason: rounds that solve little of their problems may keep
the pace. If the last point was worse than one before, momentum has led astray, and begins anew.

Losses with kinks may not reach the pace whatever the pull, and be worse off with a stronger one;
so the rate that each step has had is remembered, and one that was slower than its neighbours is
left.

The certificate is that of the original problem: the least objective of a point, and the largest
dual objective.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.dask.fleet import Question
from shortlist.dask.method import Numbers, squared
from shortlist.dask.partitions import Answer
from shortlist.solvers.accelerated import next_momentum
from shortlist.solvers.result import Certificate

#: Progress below which a slow pace shows sooner, and above which the pull is stronger than need be.
_LEAST, _MOST = 0.2, 0.5
#: Progress with which a stronger pull is no cure for a slow pace.
_ENOUGH = 0.33
#: The least progress without a pull, and what the first pull aims at.
_LEAST_PLAIN, _LEAST_PLAIN_OF_KINKS, _FIRST_AIM = 0.5, 0.2, 0.5
#: How much the last round counts in the mean progress.
_NEW = 0.4
#: Rounds after a change of the pull before its next one.
_PATIENCE = 2
#: The factor between two steps of the pull.
_STEP = 2.5
#: A pull weaker than this is none.
_NEGLIGIBLE = 0.5
#: The least pace.
_SLOW = 0.9
#: The least rounds that it is measured over; where there is little progress; of losses with kinks.
_WINDOW, _WINDOW_OF_LITTLE, _WINDOW_OF_KINKS = 6, 3, 10
#: Losses with kinks only suffer from pulls stronger than so many steps above the first.
_MOST_STEPS_OF_KINKS = 1
#: What is remembered of rates fades: gaps fall more slowly in the end.
_FADING = 0.8
#: What a checkpoint holds besides arrays.
_NUMBERS = (
    *("kappa", "momentum", "progress", "since", "primal", "dual"),
    *("first", "step", "watched", "excess", "astray"),
)


class _Before(NamedTuple):
    """The round before: its pull, and the dual objective and the gap of its problem."""

    kappa: float
    Z: FloatArray
    dual: float
    gap: float


class Ascent:
    """The model of all duals, the point of the pull, and the momentum.

    Parameters
    ----------
    shape : tuple of int
        That of the weights.
    dtype : dtype
        The precision in which points are sent.
    kappa : float, optional
        The strength of the pull; 0 is plain CoCoA+. By default it is chosen and changed by the
        progress that rounds make.
    kinks : bool
        Whether the loss has kinks.
    """

    needs_proof = True
    is_stuck = False  # a round that gains nothing is followed by others

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: str,
        kappa: float | None = None,
        kinks: bool = False,
    ) -> None:
        self.name = "cocoa" if kappa == 0.0 else "accelerated"
        self.dtype, self.adapts, self.kinks = np.dtype(dtype), kappa is None, kinks
        self.kappa = 0.0 if kappa is None else float(kappa)
        self.model, self.Z, self.point = (np.zeros(shape) for _ in range(3))
        self.momentum = 1.0
        self.progress = math.nan  # the logarithm of its mean, since the last change
        self.since = 0  # rounds since then
        self.first, self.step = 0.0, 0  # the first pull, and steps from it
        self.rates: dict[int, float] = {}  # by steps: the fall of the gap's logarithm in a round
        self.watched, self.excess = 0, math.nan  # rounds of the present window, and where it began
        self.primal, self.dual = math.inf, -math.inf
        self.astray = False  # whether the last point was worse than one before
        self.best: FloatArray = np.zeros(shape, self.dtype)  # that with the least objective so far
        self.before: _Before | None = None

    @property
    def certificate(self) -> Certificate:
        """The least primal and the largest dual objective so far."""
        return Certificate(self.primal, self.dual)

    def _mixed(self, kappa: float, Z: FloatArray) -> FloatArray:
        return (kappa * Z + self.model) / (1.0 + kappa)

    def question(self) -> Question:
        """Ask for passes from the point between the model of the duals and that of the pull."""
        point = self._mixed(self.kappa, self.Z).astype(self.dtype)
        return Question(point, 1.0 / (1.0 + self.kappa))

    def hear(self, answer: Answer) -> None:
        """Note the objectives, choose the pull of the next round, and move its point."""
        point = self.question().point.astype(np.float64)
        primal = 0.5 * squared(point) + answer.losses
        dual = -answer.conjugates - 0.5 * squared(self.model)
        self.astray = primal > self.primal
        if primal < self.primal:
            self.primal, self.best = primal, point.astype(self.dtype)
        self.dual = max(self.dual, dual)
        self._note_progress(answer.conjugates)
        of_pull = self._dual_with_pull(self.kappa, self.Z, answer.conjugates)
        gap = primal + 0.5 * self.kappa * squared(point - self.Z) - of_pull
        self.before = _Before(self.kappa, self.Z, of_pull, gap)
        self.hear_some(answer.model)
        if self.adapts:
            self._adapt()

    def hear_some(self, change: FloatArray) -> None:
        """Move on by what the duals have changed."""
        self.model = self.model + change
        last, self.point = self.point, self._mixed(self.kappa, self.Z)
        self.momentum, beta = next_momentum(self.momentum, self.kappa)
        self.Z = self.point + beta * (self.point - last)

    def correct(self, answer: Answer) -> None:
        """Take the exact model of the duals, and forget objectives of duals that are not held."""
        self.model, self.before = answer.model.astype(np.float64), None
        self.dual = -answer.conjugates - 0.5 * squared(self.model)
        self.primal = 0.5 * squared(self.best) + answer.losses

    def _dual_with_pull(self, kappa: float, Z: FloatArray, conjugates: float) -> float:
        """Return the dual objective of the problem with a pull, at the present duals."""
        mixed = self._mixed(kappa, Z)
        return -conjugates + 0.5 * kappa * squared(Z) - 0.5 * (1.0 + kappa) * squared(mixed)

    def _note_progress(self, conjugates: float) -> None:
        """Note what the round before has gained, now that its conjugates are known."""
        if self.before is None or self.before.kappa != self.kappa:
            return
        kappa, Z, dual, gap = self.before
        gained = self._dual_with_pull(kappa, Z, conjugates) - dual
        progress = math.log(min(max(gained / max(gap, 1e-300), 1e-4), 1.0))
        mean = self.progress
        self.progress = progress if math.isnan(mean) else (1.0 - _NEW) * mean + _NEW * progress
        self.since += 1

    def _adapt(self) -> None:
        """Change the pull where rounds make no pace, or needlessly much progress."""
        slow = self._is_slow()
        if self.since < _PATIENCE:
            return
        progress = math.exp(self.progress)
        if self.kappa == 0.0 and self.first == 0.0:
            if progress < (_LEAST_PLAIN_OF_KINKS if self.kinks else _LEAST_PLAIN):
                self.first = _FIRST_AIM / progress - 1.0
                self._pull(self.first)
        elif slow and self.kinks:
            self._leave()
        elif slow:
            self._take_step(-1 if progress > _ENOUGH else 1, restart=self.astray)
        elif progress > _MOST and self.step - 1 not in self.rates:
            self._take_step(-1)

    def _leave(self) -> None:
        """Leave a pull that is too slow for a loss with kinks."""
        above, below = self.rates.get(self.step + 1), self.rates.get(self.step - 1, -math.inf)
        own = self.rates.get(self.step, 0.0)
        if below > own or self.step >= _MOST_STEPS_OF_KINKS:
            self._take_step(-1, restart=own <= 0.0)
        elif above is None or above > own:
            self._take_step(1, restart=True)
        elif own <= 0.0:  # none is of use any more: what was seen is long ago
            self.rates.clear()
            self._take_step(-1, restart=True)

    def _take_step(self, up: int, restart: bool = False) -> None:
        """Pull more strongly, or less; without the momentum that led here, if it led astray."""
        kappa = (1.0 + self.first) * _STEP ** (self.step + up) - 1.0
        if self.kappa > 0.0 or up > 0:
            self.step += up
            self._pull(0.0 if kappa < _NEGLIGIBLE else kappa, restart)

    def _pull(self, kappa: float, restart: bool = False) -> None:
        if restart or self.kappa == 0.0 or kappa == 0.0:  # with the pull, momentum begins and ends
            self.Z, self.momentum = self.point, 1.0
        self.kappa, self.progress, self.since = kappa, math.nan, 0
        self.watched, self.excess = 0, math.nan

    def _is_slow(self) -> bool:
        """Return whether the gap has fallen too little over the rounds of a window."""
        smaller = max(min(abs(self.primal), self.dual), 1e-6 * abs(self.primal), 1e-300)
        excess = max((self.primal - self.dual) / smaller, 1e-300)
        self.watched += 1
        root = math.sqrt(1.0 + self.kappa)
        if math.isnan(self.excess):
            self.watched, self.excess = 0, excess
        if self.watched < self._window(root):
            return False
        rate = math.log(self.excess / excess) / self.watched
        self.watched, self.excess = 0, excess
        self.rates = {step: _FADING * known for step, known in self.rates.items()}
        self.rates[self.step] = rate
        return rate * root < _SLOW

    def _window(self, root: float) -> float:
        """Return how many rounds the pace is measured over."""
        little = self.progress < math.log(_LEAST) and self.momentum > 0.5 * root  # not at its start
        if little and not self.kinks:
            return _WINDOW_OF_LITTLE
        return max(_WINDOW_OF_KINKS if self.kinks else _WINDOW, root)

    def state(self) -> tuple[Numbers, dict[str, FloatArray]]:
        """Return all that the next rounds depend on: what JSON can hold, and arrays."""
        numbers = {name: getattr(self, name) for name in _NUMBERS}
        arrays = {"model": self.model, "Z": self.Z, "point": self.point, "best": self.best}
        numbers["rates"] = list(self.rates.items())
        if self.before is not None:
            numbers["before"] = [self.before.kappa, self.before.dual, self.before.gap]
            arrays["before"] = self.before.Z
        return numbers, arrays

    def restore(self, numbers: Numbers, arrays: dict[str, FloatArray]) -> None:
        """Set what `state` returned."""
        for name in _NUMBERS:
            setattr(self, name, numbers[name])
        self.model, self.Z, self.point = (arrays[name] for name in ("model", "Z", "point"))
        self.best, self.rates = arrays["best"], dict(numbers["rates"])
        if "before" in numbers:
            kappa, dual, gap = numbers["before"]
            self.before = _Before(kappa, arrays["before"], dual, gap)
