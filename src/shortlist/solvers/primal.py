"""What all forms of Newton's method share."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses import batch
from shortlist.solvers.linear_form import LinearForm
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate, History
from shortlist.solvers.systems import square
from shortlist.solvers.team import Team


class PrimalMethod:
    """Steps in the space of the weights, the best of which and of the duals are kept."""

    name = "newton"
    patience = 60

    form: LinearForm
    problem: Problem  # in linear form
    team: Team
    is_warm: bool  # whether it began at weights that were given
    best: tuple[float, FloatArray]  # the least primal objective so far, and its model
    dual: float  # the largest dual objective so far
    duals: FloatArray
    epoch: int
    is_exact: bool

    def certificate(self, exact: bool) -> Certificate:
        """Return the least primal and the largest dual objective so far."""
        if self.is_exact or not exact:
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

    def _gap(self) -> float:
        return Certificate(self.best[0], self.dual).gap

    def _slope(
        self,
        at: tuple[FloatArray, FloatArray],
        along: tuple[FloatArray, FloatArray],
        centre: FloatArray,
        gamma: float,
    ) -> Callable[[float], float]:
        """Return the derivative of the objective along a direction, both with their scores.

        Losses are smoothed about `centre` by `gamma`.
        """
        problem, (model, scores), (direction, changes) = self.problem, at, along
        moved = model if problem.anchor is None else model - problem.anchor
        straight, curved = float(np.vdot(moved, direction)), square(direction)

        def slope(t: float) -> float:
            def of_losses(some: slice, *labels: NDArray[np.int64]) -> float:
                found = problem.run(
                    batch.slope_rows, scores[some], changes[some], t, centre[some], gamma, *labels,
                    problem.c[some],
                )  # fmt: skip
                return float(found)

            return straight + t * curved + sum(problem.in_chunks(of_losses, self.team))

        return slope
