"""A problem as one of a linear storage: what methods of the primal work on."""

from __future__ import annotations

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.rows import operations
from shortlist.solvers.curvature import Map
from shortlist.solvers.memory import Memory
from shortlist.solvers.problem import Problem, accumulate
from shortlist.solvers.result import Certificate
from shortlist.solvers.team import Team


class LinearForm:
    """A problem, and the same one with linear rows; a kernel's are those of a factor."""

    def __init__(self, original: Problem, team: Team, memory: Memory | None = None) -> None:
        memory = Memory() if memory is None else memory
        self.original, self.team = original, team
        if memory.linear is None:
            memory.linear = operations.as_linear(original.rows)
        self.back: Map
        rows, self.back = memory.linear
        self.problem = original if rows is original.rows else original.with_rows(rows)

    @property
    def is_exact(self) -> bool:
        """Whether its objectives are those of the original problem, as good as from scratch."""
        return self.problem is self.original and self.problem.dtype == np.float64

    def model(self, weights: FloatArray) -> FloatArray:
        """Return the model of weights as a user gets them: a kernel's combine examples."""
        if self.problem is self.original:
            return weights
        model = np.empty((self.problem.d, self.problem.m), self.problem.dtype)
        accumulate(self.problem.rows, weights.__getitem__, model, self.team)
        return model

    def of_duals(self, duals: FloatArray, known: FloatArray | None) -> FloatArray:
        """Return the model of some duals; that of the original problem may be known."""
        if known is not None and self.problem is self.original:
            return known
        return self.problem.model(duals, self.team)

    def weights(self, model: FloatArray) -> FloatArray:
        """Return the weights of a model, in the form that is given to the user."""
        weights: FloatArray = self.back(model)
        return weights

    def certificate(self, weights: FloatArray, duals: FloatArray) -> Certificate:
        """Return the objectives of the original problem, from scratch."""
        problem, team = self.original, self.team
        model = weights
        if problem is not self.problem:  # a kernel: from its own values, not those of the factor
            model = np.empty_like(weights)
            accumulate(problem.rows, weights.__getitem__, model, team)
        primal = problem.primal(model, weights.__getitem__, team)
        return Certificate(primal, problem.dual(duals, problem.model(duals, team), team))
