"""What is known of a smooth problem at some weights."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.rows import operations
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate
from shortlist.solvers.team import Team


class Point(NamedTuple):
    """A model, and the gradients of the losses there, which are feasible duals."""

    model: FloatArray
    scores: FloatArray
    duals: FloatArray
    of_duals: FloatArray  # the weights of these duals
    certificate: Certificate

    @property
    def gradient(self) -> FloatArray:
        """That of the primal objective; half of its square is the gap."""
        difference: FloatArray = self.model - self.of_duals
        return difference


def look(problem: Problem, model: FloatArray, scores: FloatArray, team: Team) -> Point:
    r"""Return both objectives of a model whose scores are known, and of the gradients there.

    The losses follow up to rounding: :math:`L(u) = \langle u, v \rangle - L^*(v)`, and
    :math:`\sum_i c_i \langle W' x_i, v_i \rangle = \langle W, W_0 - W(v) \rangle`.
    """
    duals = np.empty_like(scores)
    conjugates = problem.gradients(scores, team, duals)
    of_duals = problem.model(duals, team)
    moved = of_duals if problem.anchor is None else of_duals - problem.anchor
    losses = -float(operations.inner(problem.rows, model, None, moved)) - conjugates
    dual = problem.dual_at(duals, conjugates, of_duals)
    certificate = Certificate(problem.half(model, None) + losses, dual)
    return Point(model, scores, duals, of_duals, certificate)
