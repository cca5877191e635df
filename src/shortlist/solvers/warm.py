r"""Where to begin for another C, given the solutions for one or two others.

The domain of the duals does not depend on C, so those of one solution are feasible for the next.
Three starts are compared by their dual objective: the same duals, best where examples are hard to
fit; what gives the same weights, best where they are not; and, for a smooth loss, the duals at
weights that go on as they went before. Where the data are nearly separable weights grow with
:math:`\log C`, so they are followed along a line in :math:`\log C`.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses import batch
from shortlist.losses.operations import traits
from shortlist.rows import operations
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Solution
from shortlist.solvers.team import Team

#: How many of the last steps in log C weights are followed at most.
_FARTHEST = 2.0


class Solved(NamedTuple):
    """What is known of another C."""

    C: float
    solution: Solution


class Start(NamedTuple):
    """Feasible duals, and weights for the methods that can begin anywhere."""

    duals: FloatArray
    weights: FloatArray | None = None


def start(problem: Problem, C: float, solved: list[Solved], n_threads: int) -> Start:
    """Return a start for a problem whose weights are those of `C`, from the last two solutions."""
    last = solved[-1]
    duals = [last.solution.duals.copy()]
    if problem.mean_curvature <= 1.0:  # examples hardly compete: nothing is better
        return Start(duals[0])
    if C > last.C:  # duals may be shrunk, not stretched: zero is feasible
        duals.append(last.solution.duals * problem.dtype.type(last.C / C))
    with Team(n_threads) as team:
        weights = None
        if operations.is_linear(problem.rows):
            weights, scores = _best_weights(problem, C, solved, team)
            if traits(problem.loss).smoothing:
                duals.append(_duals_at(problem, scores, team))
        reached = [problem.dual(each, problem.model(each, team), team) for each in duals]
    return Start(duals[int(np.argmax(reached))], weights)


def _best_weights(
    problem: Problem, C: float, solved: list[Solved], team: Team
) -> tuple[FloatArray, FloatArray]:
    """Return the last weights, or those that go on as before, and their scores."""
    candidates = [solved[-1].solution.weights]
    if len(solved) > 1:
        before, last = solved[-2:]
        past, ahead = math.log(last.C / before.C), math.log(C / last.C)
        if past * ahead > 0.0:
            along = problem.dtype.type(min(ahead / past, _FARTHEST))
            step = last.solution.weights - before.solution.weights
            candidates.append(last.solution.weights + along * step)
    scored = [(weights, problem.scores(weights, team)) for weights in candidates]
    return min(scored, key=lambda pair: problem.primal_at(pair[0], pair[1], team))


def _duals_at(problem: Problem, scores: FloatArray, team: Team) -> FloatArray:
    """Return the gradients of a smooth loss."""
    duals, flat = np.empty_like(scores), np.zeros(problem.n)

    def step(some: slice, *labels: NDArray[np.int64]) -> None:
        problem.run(batch.step_rows, scores[some], *labels, flat[some], duals[some])

    problem.in_chunks(step, team)
    return duals
