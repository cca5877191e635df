r"""Limited-memory BFGS in the primal, for smooth losses: one pass of all machines a round.

The duals :math:`v_i = \nabla L(W' x_i)` at any weights give the gradient :math:`W - W(v)` and a
certificate, whose gap is :math:`\tfrac12 \|W - W(v)\|^2`. Machines hold no state between rounds.
The objective is strongly convex, so any step that decreases it enough has curvature to learn from.
"""

from __future__ import annotations

import math

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.dask.fleet import Question
from shortlist.dask.method import Numbers, squared
from shortlist.dask.partitions import Answer
from shortlist.solvers.result import Certificate

#: Pairs of steps and changes of the gradient that are remembered.
_MEMORY = 20
#: The share of the decrease that the slope promises which a step must keep.
_SUFFICIENT = 1e-4
#: A step is never shortened by more than this at once.
_SHORTEST = 0.1
#: Trials on one line after which memory is dropped, and if that was done, all is given up.
_TRIALS = 20

Pair = tuple[FloatArray, FloatArray]


class Lbfgs:
    """Weights, their gradient, and what the last steps have taught.

    Parameters
    ----------
    start : ndarray, shape (d, m)
        The weights to begin with.
    """

    name = "lbfgs"
    needs_proof = False

    def __init__(self, start: FloatArray) -> None:
        self.dtype = start.dtype
        self.weights = start.astype(np.float64)
        self.value, self.gradient = math.inf, np.zeros(start.shape)
        self.direction, self.length, self.trials = np.zeros(start.shape), 0.0, 0
        self.pairs: list[Pair] = []
        self.primal, self.dual = math.inf, -math.inf
        self.best = start  # the weights with the least objective so far
        self.is_stuck = False  # whether not even the steepest direction leads down

    @property
    def certificate(self) -> Certificate:
        """The least primal and the largest dual objective so far, both from scratch."""
        return Certificate(self.primal, self.dual)

    def _trial(self) -> FloatArray:
        return (self.weights + self.length * self.direction).astype(self.dtype)

    def question(self) -> Question:
        """Ask for the gradient at the next point of the line."""
        return Question(self._trial(), None)

    def hear(self, answer: Answer) -> None:
        """Take the step, or shorten it."""
        trial = self._trial()
        point = trial.astype(np.float64)
        value = 0.5 * squared(point) + answer.losses
        if value < self.primal:
            self.primal, self.best = value, trial
        self.dual = max(self.dual, -answer.conjugates - 0.5 * squared(answer.model))
        slope = float(np.vdot(self.direction, self.gradient))
        first = not math.isfinite(self.value)
        if first or value <= self.value + _SUFFICIENT * self.length * slope:
            self._accept(point, value, point - answer.model, first)
        else:
            self._shorten(value, slope)

    def _accept(self, point: FloatArray, value: float, gradient: FloatArray, first: bool) -> None:
        if not first:
            step, change = point - self.weights, gradient - self.gradient
            if float(np.vdot(step, change)) > 1e-12 * squared(change):
                self.pairs = [*self.pairs[1 - _MEMORY :], (step, change)]
        self.weights, self.value, self.gradient = point, value, gradient
        self._turn()

    def _turn(self) -> None:
        """Choose the next direction: two loops over what is remembered."""
        q, products = self.gradient.copy(), []
        for step, change in reversed(self.pairs):
            a = float(np.vdot(step, q)) / float(np.vdot(step, change))
            q -= a * change
            products.append(a)
        if self.pairs:
            step, change = self.pairs[-1]
            q *= float(np.vdot(step, change)) / squared(change)
        for (step, change), a in zip(self.pairs, reversed(products), strict=True):
            q += (a - float(np.vdot(change, q)) / float(np.vdot(step, change))) * step
        self.direction, self.trials = -q, 0
        norm = math.sqrt(squared(q))
        self.length = 1.0 if self.pairs else min(1.0, 1.0 / max(norm, 1e-300))

    def _shorten(self, value: float, slope: float) -> None:
        """Go to the minimum of the parabola through what is known of the line."""
        self.trials += 1
        if self.trials > _TRIALS:
            self.is_stuck = not self.pairs
            self.pairs = []
            self._turn()
            return
        rise = value - self.value - self.length * slope
        share = -0.5 * self.length * slope / rise if math.isfinite(rise) and rise > 0.0 else 0.5
        self.length *= min(max(share, _SHORTEST), 0.5)

    def hear_some(self, change: FloatArray) -> None:
        """Never called: all groups take part in every round."""
        raise AssertionError("gradients of some groups only are of no use")

    def correct(self, answer: Answer) -> None:
        """Do nothing: there are no duals that could be lost."""

    def state(self) -> tuple[Numbers, dict[str, FloatArray]]:
        """Return all that the next rounds depend on: what JSON can hold, and arrays."""
        names = ("value", "length", "trials", "primal", "dual", "is_stuck")
        arrays = {"weights": self.weights, "gradient": self.gradient, "best": self.best}
        for i, (step, change) in enumerate(self.pairs):
            arrays |= {f"step{i}": step, f"change{i}": change}
        numbers = {name: getattr(self, name) for name in names}
        return {**numbers, "pairs": len(self.pairs)}, {**arrays, "direction": self.direction}

    def restore(self, numbers: Numbers, arrays: dict[str, FloatArray]) -> None:
        """Set what `state` returned."""
        for name in ("value", "length", "trials", "primal", "dual", "is_stuck"):
            setattr(self, name, numbers[name])
        self.weights, self.gradient = arrays["weights"], arrays["gradient"]
        self.direction, self.best = arrays["direction"], arrays["best"]
        self.pairs = [(arrays[f"step{i}"], arrays[f"change{i}"]) for i in range(numbers["pairs"])]
