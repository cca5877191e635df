r"""Where to begin for another C, given the solutions for some others.

The domain of the duals does not depend on C, so those of one solution are feasible for the next.
Starts are compared by their objectives: the same duals, best where examples are hard to fit; what
gives the same weights, best where they are not; and, for a smooth loss, the duals at weights that
go on as they went before. In :math:`\log C` the steps of the weights grow or shrink by a factor:
where C is small they double with C, where the data are nearly separable they are all alike, and
where C hardly matters any more they halve.

What the last solution is worth for another C follows from what it was for its own: the losses and
the conjugates are multiplied with the factor of C, and so are the weights of its duals. Where that
is good enough, or, for a smooth loss, the weights that go on are, nothing is left to do for this C.
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
#: The most that a step in log C may be longer than the last, unless weights are linear in C.
_FARTHEST, _LINEAR = 2.0, 0.95
#: The least growth that is told from none.
_LEAST = 1e-3
#: Plain passes of more than this are worth more thought at the next C.
MANY_PASSES = 4
#: The part of the tolerance that weights of a start may leave, to be called good.
_GOOD = 0.5
#: The part of the tolerance that is aimed at: just missed, it costs one more look.
_AIM = 0.8
#: The part of its gain that another multiple must add, to be tried.
_OTHER = 0.1
#: Methods whose number of passes hardly changes from one C to the next.
_FORESEEABLE = ("sdca", "accelerated")


class Solved(NamedTuple):
    """What is known of another C."""

    C: float
    solution: Solution
    of_duals: FloatArray | None = None  # the weights of its duals, where they are known
    foresaw: bool = False  # whether the weights of its start were good enough


class Start(NamedTuple):
    """Feasible duals, and weights for the methods that can begin anywhere."""

    duals: FloatArray
    weights: FloatArray | None = None
    memory: Memory | None = None  # along a path
    of_duals: FloatArray | None = None  # the weights of these duals, where known; written to
    certificate: Certificate | None = None  # of these duals and weights, where it is known
    point: Point | None = None  # at these weights, for a smooth loss
    seconds: float = 0.0  # that were spent to find them
    check: int = 0  # the pass after which a first evaluation is worth its cost, where it is known


def remember(problem: Problem, C: float, start: Start, solution: Solution, tol: float) -> Solved:
    """Return what is known of a C after its solution."""
    last, before, after = solution.history[-1], start.certificate, solution.certificate
    if not operations.is_linear(problem.rows) or not isinstance(after, Certificate):
        return Solved(C, solution)  # a kernel's weights are no model of it
    if start.memory is not None and before is not None and last.epoch > 0:
        fall = math.log(max(before.excess, 1e-300) / max(last.excess, 1e-300)) / last.epoch
        start.memory.falls[last.method] = fall
    is_kept = solution.weights is start.weights
    of_duals = None if start.memory is None else start.memory.weights_of(solution.duals)
    if last.epoch == 0:
        of_duals = start.of_duals
    elif last.method == "sdca" and not is_kept:
        of_duals = solution.weights
    foresaw = before is not None and Certificate(before.primal, after.dual).gap <= _GOOD * tol
    return Solved(C, solution, of_duals, foresaw)


class _Known(NamedTuple):
    """All that a start follows from; `same` is the last solution, with its certificate for `C`."""

    problem: Problem  # for C
    C: float
    solved: Sequence[Solved]
    same: Start
    memory: Memory
    first: str  # the method that begins
    tol: float
    team: Team

    @property
    def times(self) -> float:
        """How many times C is the last one."""
        return self.C / self.solved[-1].C


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
    began, last = time.perf_counter(), solved[-1]
    is_linear = operations.is_linear(problem.rows)
    with Team(n_threads) as team:
        same = _at_last(problem, C, last, team)
        known = _Known(problem, C, solved, same, memory, first, tol, team)
        if same.certificate is not None and same.certificate.gap <= tol:
            found = same
        elif _are_foreseen(known):
            found = _of_smooth(known)
            memory.foresees = found.point is not None and found.duals is found.point.duals
        elif problem.mean_curvature <= 1.0 or _takes_few_passes(last, first) or not is_linear:
            found = _of_duals(known)
        else:
            found = _of_any(known)
        check = _passes(known, found)
    seconds = time.perf_counter() - began
    return found._replace(memory=memory, seconds=seconds, check=check)


def _at_last(problem: Problem, C: float, last: Solved, team: Team) -> Start:
    """Return the last solution itself, with its certificate for this C where the model is linear.

    Its duals must not be written to.
    """
    (weights, duals, certificate, *_), times = last.solution, C / last.C
    base = 0.0 if problem.anchor is None else problem.anchor
    if last.of_duals is None:
        of_duals = problem.model(duals, team)
    else:
        of_duals = base + problem.dtype.type(times) * (last.of_duals - base)
    if not (operations.is_linear(problem.rows) and isinstance(certificate, Certificate)):
        return Start(duals, of_duals=of_duals)
    half = problem.half(weights, None)
    primal = half + times * (certificate.primal - half)
    before = base + problem.dtype.type(1.0 / times) * (of_duals - base)
    conjugates = problem.dual_at(duals, 0.0, before) - certificate.dual
    dual = problem.dual_at(duals, times * conjugates, of_duals)
    return Start(duals, weights, of_duals=of_duals, certificate=Certificate(primal, dual))


def _takes_few_passes(last: Solved, first: str) -> bool:
    """Return whether plain passes are so few that weights are not worth a look.

    If there was none at the last C, or its weights were foreseen, that look was worth it.
    """
    few = 0 < last.solution.history[-1].epoch <= MANY_PASSES
    return first == "sdca" and few and not last.foresaw


def _are_foreseen(known: _Known) -> bool:
    """Return whether gradients at weights that go on are likely to be good duals.

    Passes leave weights that are too rough for that where C is not small.
    """
    loss, last = traits(known.problem.loss), known.solved[-1].solution.history[-1]
    if not (loss.smoothing and operations.is_linear(known.problem.rows)):
        return False
    return known.memory.foresees or (loss.entropic and last.method == "newton")


def _passes(known: _Known, start: Start) -> int:
    """Return how many passes are likely to be enough, by what they gained at the last C, or 0."""
    fall, before = known.memory.falls.get(known.first, 0.0), start.certificate
    if known.first not in _FORESEEABLE or before is None or fall <= 0.0 or known.tol <= 0.0:
        return 0
    to_go = math.log(max(before.excess, 1e-300) / (_AIM * known.tol))
    # From a better start each gained less, and that told little.
    most = 2 * max(known.solved[-1].solution.history[-1].epoch, 1)
    return min(max(math.ceil(to_go / fall), 0), most)


def _of_duals(known: _Known) -> Start:
    """Return a multiple of the last duals, where weights are not worth a look.

    Where examples hardly compete nothing is better. What the last weights are worth is known.
    """
    (found, dual), same = _best_duals(known), known.same
    if known.first != "sdca" or same.certificate is None:
        return found
    certificate = Certificate(same.certificate.primal, dual)
    return found._replace(weights=same.weights, certificate=certificate)


def _of_smooth(known: _Known) -> Start:
    """Return a start for a smooth loss, whose duals at weights are its gradients there."""
    problem, team, tol = known.problem, known.team, known.tol
    point = _point_at(problem, _ahead(known), team)
    if point.certificate.gap > tol and _primal_of(known.same) < point.certificate.primal:
        point = _point_at(problem, known.solved[-1].solution.weights, team)
    found, (primal, dual) = Start(point.duals, of_duals=point.of_duals), point.certificate
    needs_duals = known.first != "newton" or not traits(problem.loss).entropic
    if point.certificate.gap > tol and needs_duals:
        others, reached = _best_duals(known)
        found, dual = (others, reached) if reached > dual else (found, dual)
    certificate = Certificate(primal, dual)
    if certificate.gap <= tol and problem.dtype == np.float32:  # the losses are rounded less
        certificate = Certificate(problem.primal(point.model, None, team), dual)
    return found._replace(weights=point.model, certificate=certificate, point=point)


def _of_any(known: _Known) -> Start:
    """Return a start for any loss and a linear storage."""
    found, dual = _best_duals(known)
    weights = _ahead(known)
    primal = known.problem.primal(weights, None, known.team)
    if _primal_of(known.same) <= primal:
        weights, primal = known.solved[-1].solution.weights, _primal_of(known.same)
    return found._replace(weights=weights, certificate=Certificate(primal, dual))


def _primal_of(start: Start) -> float:
    return math.inf if start.certificate is None else start.certificate.primal


def _best_duals(known: _Known) -> tuple[Start, float]:
    """Return the best multiple of the last duals, and its dual objective.

    Those of the last weights are smaller by as much as C is larger. As a function of the multiple
    the dual objective is hardly ever less than 0 at 0, where no loss is more than that; at 1 it
    has the slope of an optimum for another C. For a hinge that is all: it is a parabola.
    """
    problem, same, times = known.problem, known.same, known.times
    base, of_duals = 0.0 if problem.anchor is None else problem.anchor, same.of_duals
    assert of_duals is not None
    kind, duals = problem.dtype.type, np.empty_like(same.duals)

    def model_of(share: float) -> FloatArray:
        return base + kind(share) * (of_duals - base)

    def look(share: float) -> tuple[float, float]:
        np.multiply(same.duals, kind(share), out=duals)
        return problem.dual(duals, model_of(share), known.team), share

    if same.certificate is None:
        best = whole = look(1.0)
    else:
        best = whole = same.certificate.dual, 1.0
    slope = 2.0 * (1.0 - 1.0 / times) * problem.half(of_duals, problem.coefficients(same.duals))
    most = 0.5 * (1.0 - 1.0 / times) * slope  # that a multiple can gain
    is_worth = problem.mean_curvature > 1.0 and most > known.tol * abs(whole[0])
    if times > 1.0 and is_worth and whole[0] + slope > 0.0:
        share = max(1.0 - 0.5 * slope / (whole[0] + slope), 1.0 / times)
        found = look(share)
        bend = 2.0 * (whole[0] + (1.0 - share) * slope - found[0]) / (1.0 - share) ** 2
        top = max(1.0 - slope / bend, 1.0 / times) if bend > 0.0 else 1.0 / times
        gain = (1.0 - top) * (slope - 0.5 * (1.0 - top) * bend)
        best = max(best, found)
        if whole[0] + gain - best[0] > _OTHER * gain:
            best = max(best, look(top))
    np.multiply(same.duals, kind(best[1]), out=duals)
    return Start(duals, of_duals=model_of(best[1])), best[0]


def _ahead(known: _Known) -> FloatArray:
    """Return weights that go on as they went before."""
    problem, solved, last = known.problem, known.solved, known.solved[-1]
    kind, weights = problem.dtype.type, last.solution.weights
    grows = problem.mean_curvature <= 1.0 and problem.anchor is None  # with C itself
    if len(solved) == 1:
        return kind(known.times) * weights if grows else weights
    step = weights - solved[-2].solution.weights
    ahead = _steps_ahead(known.C, solved, step, 1.0 if grows else 0.0)
    return weights + kind(ahead) * step if ahead > 0.0 else weights


def _steps_ahead(C: float, solved: Sequence[Solved], step: FloatArray, rate: float) -> float:
    r"""Return how many of the last steps the next one is, or 0 where it goes back.

    The derivative of the weights by :math:`t = \log C` changes like :math:`e^{rt}`: where too
    little is known to measure `r`, it is `rate`. With C itself, `r` is 1, and never more.
    """
    logs = [math.log(each.C) for each in (*solved, Solved(C, solved[-1].solution))]
    *_, past, ahead = np.diff(logs).tolist()
    if past * ahead <= 0.0:
        return 0.0
    if len(solved) == KNOWN:
        rate = _rate(solved, step, rate)
    if abs(ahead) > _FARTHEST * abs(past) and rate < _LINEAR:
        ahead = _FARTHEST * past
    if abs(rate * past) < 1e-3:
        return ahead / past
    return math.expm1(rate * ahead) / -math.expm1(-rate * past)


def _rate(solved: Sequence[Solved], step: FloatArray, otherwise: float) -> float:
    """Return how the derivative changed from the step before the last to the last."""
    first, second, third = solved
    before = second.solution.weights - first.solution.weights
    far, past = math.log(second.C / first.C), math.log(third.C / second.C)
    square = float(np.vdot(before, before))
    if square == 0.0 or far * past <= 0.0:
        return otherwise
    growth = float(np.vdot(step, before)) / square * far / past
    return min(2.0 * math.log(max(growth, _LEAST)) / (far + past), 1.0)


def _point_at(problem: Problem, weights: FloatArray, team: Team) -> Point:
    return look(problem, weights, problem.scores(weights, team), team)
