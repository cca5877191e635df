r"""Where to begin for another C, given the solutions for some others.

The domain of the duals does not depend on C, so those of one solution are feasible for the next.
Starts are compared by their objectives: the same duals, best where examples are hard to fit; what
gives the same weights, best where they are not; and, for a smooth loss, the duals at weights that
go on as they went before. In :math:`\log C` the steps of the weights grow or shrink by a factor:
where C is small they double with C, where the data are nearly separable they are all alike, and
where C hardly matters any more they halve.

For a smooth loss the weights that go on are often good enough as they are: then nothing is left to
do for this C.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.losses.operations import traits
from shortlist.rows import operations
from shortlist.solvers.memory import Memory
from shortlist.solvers.point import Point, look
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate, Solution
from shortlist.solvers.team import Team

#: How many of the last solutions tell where the weights go.
KNOWN = 3
#: The most that a step in log C may be longer than the last, by its length and by its growth.
_FARTHEST = 2.0
#: Plain passes of more than this are worth more thought at the next C.
MANY_PASSES = 4
#: Methods whose number of passes hardly changes from one C to the next.
_FORESEEABLE = ("sdca", "accelerated")


class Solved(NamedTuple):
    """What is known of another C."""

    C: float
    solution: Solution


class Start(NamedTuple):
    """Feasible duals, and weights for the methods that can begin anywhere."""

    duals: FloatArray
    weights: FloatArray | None = None
    memory: Memory | None = None  # along a path
    certificate: Certificate | None = None  # of these duals and weights, where it is known
    point: Point | None = None  # at these weights, for a smooth loss
    seconds: float = 0.0  # that were spent to find them
    check: int = 0  # the pass after which a first evaluation is worth its cost, where it is known


def start(
    problem: Problem,
    C: float,
    solved: Sequence[Solved],
    memory: Memory,
    first: str,
    tol: float,
    n_threads: int,
) -> Start:
    """Return a start for a problem whose weights are those of `C`, from the last solutions.

    It may be a solution to the gap `tol` already; `first` is the method that begins otherwise.
    """
    began = time.perf_counter()
    with Team(n_threads) as team:
        if _are_foreseen(problem, solved[-1], memory):
            found = _of_smooth(problem, C, solved, memory, first, tol, team)
        elif problem.mean_curvature <= 1.0:  # examples hardly compete: nothing is better
            found = Start(solved[-1].solution.duals.copy())
        elif _takes_few_passes(solved[-1], first) or not operations.is_linear(problem.rows):
            found = Start(_best_duals(problem, C, solved[-1], team)[0])
        else:
            found = _of_any(problem, C, solved, team)
    check = _first_check(solved, first, tol)
    return found._replace(memory=memory, seconds=time.perf_counter() - began, check=check)


def _takes_few_passes(last: Solved, first: str) -> bool:
    """Return whether plain passes are so few that weights are not worth a look.

    If there was none at the last C, that look was worth it.
    """
    return first == "sdca" and 0 < last.solution.history[-1].epoch <= MANY_PASSES


def _are_foreseen(problem: Problem, last: Solved, memory: Memory) -> bool:
    """Return whether gradients at weights that go on are likely to be good duals.

    Passes leave weights that are too rough for that where C is not small.
    """
    known = traits(problem.loss)
    if not (known.smoothing and operations.is_linear(problem.rows)):
        return False
    is_exact = known.entropic and last.solution.history[-1].method == "newton"
    return memory.foresees or is_exact


def _first_check(solved: Sequence[Solved], first: str, tol: float) -> int:
    """Return the pass after which the last C would have been solved, at the last known rate."""
    last = solved[-1].solution.history[-1]
    if first not in _FORESEEABLE or last.method != first or tol <= 0.0:
        return 0
    for history in (each.solution.history for each in reversed(solved)):
        lines = [line for line in history[-2:] if line.method == first and line.epoch > 0]
        if len(lines) == 2 and lines[1].excess < lines[0].excess:
            fall = math.log(lines[0].excess / max(lines[1].excess, 1e-300))
            spare = math.log(tol / max(last.excess, 1e-300))
            passes = lines[1].epoch - lines[0].epoch
            return math.ceil(last.epoch - max(spare, 0.0) * passes / fall)
    return 0


def _of_smooth(
    problem: Problem,
    C: float,
    solved: Sequence[Solved],
    memory: Memory,
    first: str,
    tol: float,
    team: Team,
) -> Start:
    """Return a start for a smooth loss, whose duals at weights are its gradients there."""
    last = solved[-1]
    point = _point_at(problem, _ahead(problem, C, solved), team)
    if point.certificate.gap > tol and _primal_at_last(problem, C, last, team) < (
        point.certificate.primal
    ):
        point = _point_at(problem, last.solution.weights, team)
    (primal, dual), duals = point.certificate, point.duals
    needs_duals = first != "newton" or not traits(problem.loss).entropic
    if point.certificate.gap > tol and needs_duals:
        others, reached = _best_duals(problem, C, last, team)
        memory.foresees = reached <= dual
        duals, dual = (others, reached) if reached > dual else (duals, dual)
    certificate = Certificate(primal, dual)
    if certificate.gap <= tol and problem.dtype == np.float32:  # the losses are rounded less
        certificate = Certificate(problem.primal(point.model, None, team), dual)
    return Start(duals, point.model, certificate=certificate, point=point)


def _of_any(problem: Problem, C: float, solved: Sequence[Solved], team: Team) -> Start:
    """Return a start for any loss and a linear storage."""
    duals, dual = _best_duals(problem, C, solved[-1], team)
    ahead = _ahead(problem, C, solved)
    there = problem.primal_at(ahead, problem.scores(ahead, team), team)
    here = _primal_at_last(problem, C, solved[-1], team)
    if here <= there:
        return Start(duals, solved[-1].solution.weights, certificate=Certificate(here, dual))
    return Start(duals, ahead, certificate=Certificate(there, dual))


def _primal_at_last(problem: Problem, C: float, last: Solved, team: Team) -> float:
    """Return the primal objective of the last weights: it is linear in C."""
    weights, certificate = last.solution.weights, last.solution.certificate
    if not isinstance(certificate, Certificate):  # of another loss, which is not convex
        return problem.primal(weights, None, team)
    half = problem.half(weights, None)
    return half + C / last.C * (certificate.primal - half)


def _best_duals(problem: Problem, C: float, last: Solved, team: Team) -> tuple[FloatArray, float]:
    """Return the last duals or, for a larger C, those that have the last weights; and their dual.

    The better of the two, that is. Their models are multiples of each other.
    """
    duals = last.solution.duals.copy()
    model = problem.model(duals, team)
    reached = problem.dual(duals, model, team)
    if C <= last.C or problem.mean_curvature <= 1.0:  # duals may be shrunk, not stretched
        return duals, reached
    share = problem.dtype.type(last.C / C)
    shrunk, base = share * duals, 0.0 if problem.anchor is None else problem.anchor
    of_shrunk = problem.dual(shrunk, base + share * (model - base), team)
    return (shrunk, of_shrunk) if of_shrunk > reached else (duals, reached)


def _ahead(problem: Problem, C: float, solved: Sequence[Solved]) -> FloatArray:
    """Return weights that go on as they went before."""
    last = solved[-1]
    kind, weights = problem.dtype.type, last.solution.weights
    grows = problem.mean_curvature <= 1.0 and problem.anchor is None  # with C itself
    if len(solved) == 1:
        return kind(C / last.C) * weights if grows else weights
    step = weights - solved[-2].solution.weights
    ahead = _steps_ahead(C, solved, step, C / last.C if grows else 1.0)
    return weights + kind(ahead) * step if ahead > 0.0 else weights


def _steps_ahead(C: float, solved: Sequence[Solved], step: FloatArray, growth: float) -> float:
    """Return how many of the last steps the next one is, or 0 where it goes back.

    The derivative of the weights by log C is multiplied by the same factor for equal distances:
    by `growth`, where too little is known to measure it.
    """
    logs = [math.log(each.C) for each in (*solved, Solved(C, solved[-1].solution))]
    distances = np.diff(logs)
    past, ahead = float(distances[-2]), float(distances[-1])
    if past * ahead <= 0.0:
        return 0.0
    steps = min(ahead / past, _FARTHEST)
    if len(solved) == KNOWN and distances[-3] * past > 0.0:
        before = solved[-2].solution.weights - solved[-3].solution.weights
        square = float(np.vdot(before, before))
        if square > 0.0:
            growth = float(np.vdot(step, before)) / square * float(distances[-3]) / past
            growth = max(growth, 0.0) ** ((past + ahead) / (float(distances[-3]) + past))
    return steps * min(growth, _FARTHEST)


def _point_at(problem: Problem, weights: FloatArray, team: Team) -> Point:
    return look(problem, weights, problem.scores(weights, team), team)
