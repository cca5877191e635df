r"""SDCA with a pull in the metric of the features: for large C, where features are few.

Where C is large, some directions of the features count far more than others, and passes hardly
move along the rest. The pull of `accelerated` is the same in all directions; this one,

.. math::  \tfrac b2 \|W - Z\|_G^2, \quad G = \sum_i c_i x_i x_i',

towards the last point `Z`, is strong where the losses curve the objective, and leaves the rest
free. With the eigenvectors of `G` as axes it weighs each axis by its eigenvalue
:math:`\lambda`, so that a pass is one of `sdca` over rows :math:`x / \sqrt{1 + b \lambda}`,
whitened for a large `b`, with an anchor (see `problem`).

How strong to pull is seen from the gap. For a point `W` of the passes and their duals `v`

.. math::

    P(W) - D(v) = \sum_i c_i \left( L(W'x_i) + L^*(v_i) - \langle v_i, W'x_i \rangle \right)
    + \tfrac12 \|W - W(v)\|^2,

and the last is due to the pull alone. Where it is small, passes are not thorough enough, and the
pull may be stronger; where it is large, the pull is. One pass is usually enough before the pull
moves on. Where the gap does not fall, each point gets more of them: solved exactly, this is the
proximal point method, which converges for any loss.

At a large C weights that violate a few margins a little are worth nothing. Longer ones, which do
not, are almost as good as the optimum: the primal objective is that of the best multiple of `W`.
And for a loss with kinks, duals far inside of their domain do not feel C at all: the optimum is
that of a far smaller one. There violated margins say little of the pull, however much they cost:
until the pull's part of the gap is small enough, they count as they would for that smaller C.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses.operations import traits
from shortlist.rows import DenseRows, operations
from shortlist.solvers import axes
from shortlist.solvers.linear_form import LinearForm
from shortlist.solvers.memory import Memory
from shortlist.solvers.method import Numbers
from shortlist.solvers.multiples import Multiples
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate, History
from shortlist.solvers.sdca import Sdca
from shortlist.solvers.team import Team
from shortlist.solvers.warm import Start

#: Passes between two evaluations, which also set the pull.
_PASSES = 5
#: Evaluations without a gap of this part of the least before, after which each point gets more
#: passes.
_PATIENCE, _GAIN = 6, 0.8
#: The part of the gap that passes leave, relative to that of the pull: what is aimed at, and
#: how far from that the pull is changed, and changed more.
_AIM, _OFF, _FAR_OFF = 3.0, 2.0, 20.0
#: The part of the gap that the best multiple of the weights must gain, or else it is not looked for
#: in some evaluations.
_PAYS, _REST = 0.02, 4
#: The smaller C, relative to the largest dual, which would reach the end of its domain at 1; the
#: part of the tolerance that the pull may leave before all of C counts; the least tolerance.
_ROOM, _LEFT, _LEAST = 8.0, 0.25, 1e-8


class _Multiple(NamedTuple):
    """A multiple of a point, and its primal objective."""

    primal: float
    multiple: float


class Whitened:
    """The passes of a problem with a pull, along the axes of its features."""

    name = "whitened"
    patience = 100

    def __init__(
        self,
        problem: Problem,
        start: Start,
        block_size: int | None,
        seed: int,
        team: Team,
        tol: float,
    ) -> None:
        """Begin at given weights, as a user gets them, or at those of the duals."""
        self.tol = max(tol, _LEAST)
        duals, weights = start.duals, start.weights
        memory = Memory() if start.memory is None else start.memory
        self.problem, self.team, self.memory = problem, team, memory
        self.form = LinearForm(problem, team, memory)
        linear, self.is_exact = self.form.problem, self.form.is_exact
        if memory.axes is None:
            memory.axes = axes.find(linear)
        self.lengths = memory.axes.lengths_for(linear)
        self.axes, self.examples = memory.axes.directions, memory.axes.examples
        anchor = None if linear.anchor is None else self.axes.T @ linear.anchor
        #: The problem along the axes, without a pull.
        self.turned = Problem(
            DenseRows(self.examples, 0.0), linear.labels, linear.loss, linear.c, anchor
        )
        model = self.axes.T @ self.form.of_duals(duals, start.of_duals)
        self.is_warm, self.has_begun = weights is not None, False
        self.point = model if weights is None else self.axes.T @ self.form.model(weights)
        self.duals, self.dual = duals.copy(), -math.inf  # the best so far
        self.best = math.inf, self.point
        if start.certificate is not None and linear is problem:  # not of a kernel's factor
            self.best, self.dual = (start.certificate.primal, self.point), start.certificate.dual
        self.parts: list[float] | None = None  # of the gap: what passes leave, and the pull
        self.passes, self.since = 1, 0  # for each point; evaluations since the gap has fallen
        self.least = math.inf  # the gap then
        self.multiple = 1.01  # of the point, the best when it was last looked for
        # Evaluations until it is looked for again: given weights have about the right length, but
        # that of a loss with kinks is never quite right.
        self.rest = 1 + _REST if self.is_warm and traits(linear.loss).smoothing else 0
        self.whitened = np.empty_like(self.examples)
        pulled = self.turned.with_rows(DenseRows(self.whitened, 0.0))
        pulled.anchor = np.zeros_like(self.point)
        self.sdca = Sdca(pulled, duals, block_size, seed, team, np.empty_like(model))
        self._set_pull(memory.pull * _mean(duals))

    def _set_pull(self, pull: float) -> None:
        """Weigh the axes for another strength of the pull."""
        kind, pulled = self.problem.dtype.type, self.sdca.problem
        self.pull = pull
        weight = np.sqrt(1.0 + pull * self.lengths)
        self.weight = weight.astype(kind)[:, None]
        self.share = (pull * self.lengths / weight).astype(kind)[:, None]
        np.divide(self.examples, self.weight.T, out=self.whitened)
        pulled.norms = operations.squared_norms(pulled.rows)
        pulled.anchor = self._anchor()
        self.sdca.recompute_model()
        self.sdca.wake()

    def _anchor(self) -> FloatArray:
        """Return what the passes are pulled towards: the last point, and the problem's anchor."""
        towards = self.share * self.point
        return towards if self.turned.anchor is None else towards + self.turned.anchor / self.weight

    def run_epoch(self, should_stop: Callable[[], bool]) -> None:
        """Make one pass, then pull towards where it has led."""
        if self.parts is not None:
            self._balance(*self.parts)
            self._judge()
        self.has_begun = True
        self.sdca.run_epoch(should_stop)
        if self.sdca.position > 0:  # broken off
            return
        self.point = self.sdca.model / self.weight
        if self.epoch % self.passes == 0:  # pull towards it
            self.sdca.move_anchor(self._anchor())

    def _balance(self, of_passes: float, of_pull: float) -> None:
        """Pull more where passes leave most of the gap, and less where the pull does."""
        self.parts = None
        off = of_passes / max(_AIM * of_pull, 1e-300)
        factor = 4.0 if max(off, 1.0 / max(off, 1e-300)) > _FAR_OFF else 2.0
        if self.pull == 0.0:  # the first passes began at zero
            self._set_pull(_mean(self.sdca.duals))
            return
        if off > _OFF:
            self._set_pull(self.pull * factor)
        elif off < 1.0 / _OFF:
            self._set_pull(self.pull / factor)
        self.memory.pull = self.pull / max(_mean(self.sdca.duals), 1e-300)

    def _judge(self) -> None:
        """Let passes be more thorough where the gap does not fall."""
        gap = self.best[0] - self.dual
        self.since += 1
        if gap < _GAIN * self.least:
            self.least, self.since = gap, 0
        elif self.since >= _PATIENCE:
            self.passes = max(2 * self.passes, _PASSES)
            self.least, self.since = gap, 0

    @property
    def epoch(self) -> int:
        """Passes over the data."""
        return self.sdca.epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self.sdca.epoch = epoch
        self.sdca.wake()

    def certificate(self, exact: bool) -> Certificate:
        """Return the least primal and the largest dual objective so far."""
        if self.parts is None or not exact:
            self._evaluate()
        if exact and not self.is_exact:
            return self.form.certificate(self.weights(), self.duals)
        return Certificate(self.best[0], self.dual)

    def _evaluate(self) -> None:
        """Compute both objectives, keep what is best, and split the gap."""
        turned, team, duals = self.turned, self.team, self.sdca.duals
        if self.sdca.has_drifted:
            self.sdca.recompute_model()
        model = turned.model(duals, team)
        dual = turned.dual(duals, model, team)
        if dual > self.dual:
            self.dual = dual
            self.duals[:] = duals
        of_pull = 0.5 * float(np.square(self.point - model, dtype=np.float64).sum())
        best, least = self._best_multiple(self._share_of_losses(of_pull))
        if best.primal < self.best[0]:
            self.best = best.primal, self.problem.dtype.type(best.multiple) * self.point
        if self.has_begun:  # what is given tells nothing of the pull
            self.parts = [max(least - dual - of_pull, 0.0), of_pull]

    def _share_of_losses(self, of_pull: float) -> float:
        """Return the share of C that decides how strong to pull."""
        if traits(self.problem.loss).smoothing > 0.0 or of_pull <= _LEFT * self.tol * self.dual:
            return 1.0
        return min(_ROOM * float(np.abs(self.sdca.duals).max()), 1.0)

    def _best_multiple(self, share: float) -> tuple[_Multiple, float]:
        """Return the best multiple of the point, and the least objective with a share of C."""
        multiples, best = Multiples(self.turned, self.point, self.team), 1.0
        self.rest -= 1
        if not traits(self.problem.loss).entropic and self.rest <= 0:  # entropies have no margins
            best = multiples.best(self.multiple)
            here, there = (multiples.look(multiple).primal for multiple in (1.0, best))
            if here - there < _PAYS * (here - self.dual):
                self.rest = _REST
            elif best != 1.0:
                self.multiple = best
        least = min(look.half + share * look.losses for look in multiples.looks.values())
        return _Multiple(multiples.look(best).primal, best), least

    def weights(self) -> FloatArray:
        """Return the weights of the best point."""
        return self.form.weights(self.axes @ self.best[1])

    @property
    def has_drifted(self) -> bool:
        """Whether the certificate should be computed anew."""
        return False

    def next_check(self, history: History, tol: float) -> int:
        """Return the epoch of the next evaluation: each also sets the pull."""
        if self.is_warm and not history and self.best[0] == math.inf:
            return self.epoch
        last, often = history[-1].epoch if history else 0, max(_PASSES, self.passes)
        return last + often - last % often

    def wake(self) -> None:
        """Visit every example again."""
        self.sdca.wake()

    def state(self) -> tuple[Numbers, dict[str, NDArray[Any]]]:
        """Return all that the next passes depend on: what JSON can hold, and arrays."""
        numbers, arrays = self.sdca.state()
        mine = [self.pull, self.dual, self.best[0], self.parts, self.passes, self.since, self.least,
                self.multiple, self.rest, self.has_begun]  # fmt: skip
        anchor = self.sdca.problem.anchor
        assert anchor is not None
        arrays |= {"point": self.point, "anchor": anchor}
        arrays |= {"best": self.best[1], "best_duals": self.duals}
        return {**numbers, "whitened": mine}, arrays

    def restore(self, numbers: Numbers, arrays: dict[str, NDArray[Any]]) -> None:
        """Set what `state` returned."""
        pull, self.dual, best, self.parts, *judged = numbers["whitened"]
        self.passes, self.since, self.least, self.multiple, self.rest, self.has_begun = judged
        self.point, self.duals = arrays["point"], arrays["best_duals"]
        self.best = best, arrays["best"]
        self._set_pull(pull)
        self.sdca.problem.anchor = arrays["anchor"]
        self.sdca.restore(numbers, arrays)


def _mean(duals: FloatArray) -> float:
    return float(np.abs(duals).mean())
