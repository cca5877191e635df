"""The primal objective of multiples of a point."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
import scipy.optimize
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses import batch
from shortlist.losses.labels import Labels
from shortlist.solvers.problem import Problem
from shortlist.solvers.team import Team

#: How often the objective is computed to find the best multiple.
_LOOKS = 8
#: Examples without a loss are left out where they are at least so many of all.
_WORTH_LEAVING = 0.3


class Look(NamedTuple):
    """The objective of a multiple: the regulariser's part, and that of the losses."""

    half: float
    losses: float

    @property
    def primal(self) -> float:
        """The whole of it."""
        return self.half + self.losses


class Multiples:
    """A point, its scores, and the examples that it has not won by the margin.

    Of a loss with a margin these are the only ones that matter for a longer point.
    """

    def __init__(self, problem: Problem, point: FloatArray, team: Team) -> None:
        self.problem, self.point, self.team = problem, point, team
        self.scores = problem.scores(point, team)
        values = problem.values(self.scores, team)
        self.looks = {1.0: Look(problem.half(point, None), float(problem.c @ values))}
        self.few: tuple[FloatArray, Labels, NDArray[np.float64]] | None = None
        some = np.flatnonzero(values > 0.0)
        if some.size <= (1.0 - _WORTH_LEAVING) * problem.n:
            self.few = self.scores[some], problem.labels.take(some), problem.c[some]

    def look(self, multiple: float) -> Look:
        """Return the objective of a multiple."""
        if multiple not in self.looks:
            times = self.problem.dtype.type(multiple)
            half = self.problem.half(times * self.point, None)
            self.looks[multiple] = Look(half, self._losses(multiple))
        return self.looks[multiple]

    def best(self, guess: float) -> float:
        """Return the best multiple, from a guess that is not 1, and from 1."""
        found = scipy.optimize.minimize_scalar(
            lambda multiple: self.look(multiple).primal,
            bracket=(1.0, guess),
            tol=1e-4,
            options={"maxiter": _LOOKS},
        )
        best = float(found.x)
        if self.few is not None and best != 1.0:  # a loss of a user's own may have no margin
            self.few = None
            del self.looks[best]
        return best if self.look(best).primal < self.look(1.0).primal else 1.0

    def _losses(self, multiple: float) -> float:
        problem, times = self.problem, self.problem.dtype.type(multiple)
        if self.few is None or multiple < 1.0:
            return float(problem.c @ problem.values(times * self.scores, self.team))
        scores, labels, c = self.few
        values = np.empty(c.size)
        problem.run(batch.value_rows, times * scores, labels.offsets, labels.indices, values)
        return float(c @ values) if np.isfinite(values).all() else math.inf
