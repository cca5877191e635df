r"""Which method to go on with, by what each is likely to cost.

Costs are counted, in nanoseconds of a usual processor, and not measured by the clock, so that a run
can be repeated, and continued from a checkpoint, to the same bits. Only their ratios matter.

SDCA mostly comes first: it is never far from the best where C is small, and its duals are a good
start for the others. Only for an entropy with easy systems Newton's method is known to be faster
before anything is tried. Where plain passes would at their rate take longer than another method,
that goes on. How long the accelerated and the whitened form take cannot be foreseen: it may be far
longer than another method, or far shorter. So each gets as long as a part of what the next is
likely to cost, and after that must be on its way to the end.
"""

from __future__ import annotations

import math

import numpy as np

from shortlist.losses.operations import derivative, traits
from shortlist.rows import operations
from shortlist.solvers import axes, factors, systems
from shortlist.solvers.accelerated import Accelerated, condition
from shortlist.solvers.entropic_newton import EntropicNewton
from shortlist.solvers.growing_newton import GrowingNewton
from shortlist.solvers.memory import Memory
from shortlist.solvers.method import Method
from shortlist.solvers.newton import Newton
from shortlist.solvers.options import Options
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Evaluation, History
from shortlist.solvers.sdca import Given, Sdca
from shortlist.solvers.team import Team
from shortlist.solvers.warm import MANY_PASSES, Solved, Start
from shortlist.solvers.whitened import Whitened

#: The names that a user may ask for.
SOLVERS = ("auto", "sdca", "accelerated", "whitened", "newton")
#: A pass, for each example and each score, also of an entropy; for each score and number of a row.
_EXAMPLE, _SCORE, _NUMBER = 300.0, 15.0, 0.27
_ENTROPIC_EXAMPLE, _ENTROPIC_SCORE = 600.0, 20.0
#: What a pass, and a step, take besides, in the interpreter.
_PASS, _STEP = 0.4e6, 2e6
#: A pass with a pull, and its share of evaluations, relative to a plain one.
_WITH_PULL = 1.3
#: A step of Newton's method without its system, for each score, and each score and number.
_SCORE_OF_STEP, _NUMBER_OF_STEP = 50.0, 0.2
#: A product of the system with a direction: in the interpreter, for each score, and each score and
#: number, dense and sparse.
_PRODUCT, _SCORE_OF_PRODUCT, _NUMBER_OF_PRODUCT, _SPARSE = 0.2e6, 15.0, 0.08, 0.3
#: Building the matrix of the system; factoring it; its blocks.
_MATRIX, _FACTOR, _BLOCK = 0.02, 0.01, 0.1
#: A multiplication on the way to the axes of the features. Passes along them, for each factor e of
#: the excess: of an entropy and of other smooth losses for each doubling of the condition; of
#: losses with kinks for the square of how often it doubles, and how many these are at least.
_AXES, _ENTROPIC_PASSES, _PASSES, _PASSES_WITH_KINKS, _LEAST_WITH_KINKS = 0.03, 0.3, 0.8, 0.1, 4.0
#: How much cheaper than Newton's method they must be where its cost is easier to foresee; the
#: latter where classes are independent of each other.
_DOUBT, _DOUBT_OF_SEPARABLE = 1.2, 2.5
#: A step for an entropy with easy systems: in the interpreter, and a multiplication on the way to
#: its factors. A product: in the interpreter, and for each score. Products along a path, and how
#: many steps there are at first.
_EASY_STEP, _FACTORS = 1e6, 0.03
_EASY_PRODUCT, _SCORE_OF_EASY_PRODUCT = 0.04e6, 2.0
_FEW_PRODUCTS, _FIRST_STEPS = 4.0, 2.0
#: The iterations that a system of an entropy takes at most, on average, where it is hard.
_ENTROPIC_ITERATIONS = 50.0
#: The part of the passes that theory says of which there mostly are enough.
_PASSES_BY_THEORY = 0.3
#: Steps of Newton's method that a loss with kinks takes, relative to a smooth one; the latter where
#: classes depend on each other.
_WITH_KINKS, _WITH_JOINT_KINKS = 1.5, 3.0
#: A change must be likely to save this much; the latter from passes along the axes to Newton's
#: method where classes depend on each other: the passes often go on faster than they began.
_WORTH_A_CHANGE, _WORTH_LEAVING_AXES = 1.15, 2.5
#: Plain passes of so few to go are not left before their rate is known; of more than the latter,
#: where Newton's method takes no time at all, for the sake of an answer that depends on the
#: objective alone, and not on the order of the examples.
_FEW, _VERY_FEW, _NO_TIME = 60.0, 10.0, 15e6
#: Where another method is likely to take longer than so many plain passes, a second one hardly
#: matters, and tells their rate: sparse examples may compete far less than their lengths say.
_MANY = 15.0
#: Plain passes of more than this, to repair duals after passes with a pull, are left for these.
_FEW_REPAIRS = 2
#: The share of another's cost that passes with a pull may take before they are judged; the latter
#: of Newton's where its systems are solved by conjugate gradients, whose cost is hard to foresee,
#: and along a path: from a good start objectives that are the best so far gain nothing at first.
_TRIAL = {"accelerated": 0.12, "whitened": 0.25}
_LONG_TRIAL = 1.0
#: The excess below which a loss is almost the square that Newton's method takes it for.
_NEAR = 0.3
#: The excess above which the first rate of passes tells little of those to come; the latter of an
#: entropy, which slows down less.
_FAR, _FAR_OF_ENTROPY = 0.4, 1.0


def check(solver: str, problem: Problem) -> None:
    """Refuse a method that a problem does not allow."""
    if solver == "newton" and not _has_derivative(problem):
        name = type(problem.loss).__name__
        raise ValueError(f'{name} has no derivative for Newton: choose solver="accelerated".')
    if solver == "whitened" and not axes.are_cheap(problem):
        raise ValueError(
            f"{problem.n} examples with {problem.d} features are too many to be whitened: choose "
            'solver="accelerated".'
        )


def start(name: str, problem: Problem, at: Start, options: Options, team: Team) -> Method:
    """Return the run of a method from given duals; all but plain passes also from weights."""
    if name == "newton":
        entropic = EntropicNewton if systems.are_easy(problem) else GrowingNewton
        kind = entropic if traits(problem.loss).entropic else Newton
        return kind(problem, at, team, options.tol)
    if name == "sdca":
        given = None
        if at.weights is not None and at.certificate is not None:
            given = Given(at.certificate.primal, at.weights, options.tol)
        passes = problem, at.duals, options.block_size, options.seed, team
        return Sdca(*passes, at.of_duals, given)
    if name == "whitened":
        return Whitened(problem, at, options.block_size, options.seed, team, options.tol)
    return Accelerated(problem, at, options.block_size, options.seed, team)


def first(problem: Problem, options: Options, is_cold: bool = True) -> str:
    """Return the method to begin with: mostly plain passes, also where duals are given."""
    if options.solver != "auto":
        return options.solver
    if is_cold and _steps_are_easy(problem):
        digits = math.log(1.0 / max(options.tol, 1e-16))
        passes = 1.0 + _PASSES_BY_THEORY * digits * (1.0 + 0.3 * problem.mean_curvature)
        newton = _cost_of_easy_newton(problem, options.tol)
        if _WORTH_A_CHANGE * newton < _cost_of_passes(problem, passes, pull=1.0):
            return "newton"
        if newton < _NO_TIME:
            return "newton"
    return "sdca"


def better(
    method: Method, history: History, tol: float, start: Evaluation | None = None
) -> tuple[str, str] | None:
    """Return a method that is likely to reach `tol` sooner than the present one, and why.

    `start` is what the start was worth, where that is known, as it mostly is along a path.
    """
    problem, costs = method.problem, _costs_of_others(method, history, tol)
    if not costs:
        return None
    name = min(costs, key=costs.__getitem__)
    if name == "whitened" and _is_newton_surer(problem, costs):
        name = "newton"
    one_pass, remaining = _cost_of_pass(method), _remaining_passes(method, history, tol, start)
    why = f"{method.name} needs {in_words(remaining)} more passes at its present rate"
    if len(history) == 1 and remaining > _VERY_FEW and costs.get("newton", math.inf) < _NO_TIME:
        return "newton", why
    if method.name != "sdca":
        is_sure = name != "newton" or systems.are_easy(problem) or systems.is_direct(problem)
        is_along = start is not None or history[0].method == "whitened"  # never by itself
        trial = _TRIAL[method.name] if is_sure and not is_along else _LONG_TRIAL
        spent = method.epoch - _first_epoch(history, method.name)
        if spent * one_pass < trial * costs[name]:
            return None
    if remaining < _VERY_FEW and name != "newton":  # other passes take some to gain at all
        return None
    leaves_axes = method.name == "whitened" and not traits(problem.loss).separable
    worth = _WORTH_LEAVING_AXES if leaves_axes else _WORTH_A_CHANGE
    if remaining * one_pass < worth * costs[name]:
        return None
    is_first = len(history) == 1 and start is None
    if is_first and (remaining < _FEW or _MANY * one_pass < costs[name]):
        return None
    return name, why


def _is_newton_surer(problem: Problem, costs: dict[str, float]) -> bool:
    """Return whether Newton's method is likely to cost hardly more, which is easy to foresee."""
    known = traits(problem.loss)
    doubt = _DOUBT_OF_SEPARABLE if known.separable else _DOUBT
    foreseen = known.separable or systems.is_direct(problem) or systems.are_easy(problem)
    is_sure = foreseen and known.smoothing > 0.0
    return is_sure and costs.get("newton", math.inf) < doubt * costs["whitened"]


def _costs_of_others(method: Method, history: History, tol: float) -> dict[str, float]:
    """Return what the methods that were not tried yet are likely to cost."""
    problem, tried = method.problem, {line.method for line in history}
    costs: dict[str, float] = {}
    if "newton" in tried:  # which is the last, or was left for good
        return costs
    if "whitened" not in tried:
        if "accelerated" not in tried:
            passes = _least_accelerated_passes(problem, history, tol)
            costs["accelerated"] = _cost_of_passes(problem, passes)
        if axes.are_cheap(problem) and operations.has_linear_form(problem.rows):
            costs["whitened"] = _cost_of_whitened(problem, history, tol)
    if _may_use_newton(problem):
        near = _to_go(history, tol) if history[-1].excess < _NEAR else math.inf
        costs["newton"] = _cost_of_newton(problem, tol, near)
    return costs


def in_words(passes: float) -> str:
    """Return a number of passes that was guessed."""
    return f"about {passes:.0f}" if passes < 1e5 else "very many"


def _first_epoch(history: History, name: str) -> int:
    """Return the epoch at which a method began."""
    return max((line.epoch for line in history if line.method != name), default=0)


def _to_go(history: History, tol: float) -> float:
    return math.log(max(history[-1].excess / max(tol, 1e-16), 1.0))


def _to_go_from_near(history: History, tol: float) -> float:
    """Return the same from a moderate excess: passes with a pull are there very soon."""
    return max(min(_to_go(history, tol), math.log(10.0 / max(tol, 1e-16))), 0.0)


def _remaining_passes(
    method: Method, history: History, tol: float, start: Evaluation | None
) -> float:
    """Return how many passes are left at the present rate, or by theory where none is known."""
    begin = _first_epoch(history, method.name)
    lines = [line for line in history if line.method == method.name and line.epoch > begin]
    by_theory = _to_go(history, tol) * (1.0 + 0.3 * condition(method.problem))
    if len(lines) == 1 and start is not None and method.name == "sdca" and begin == 0:
        lines = [start, *lines]
    if len(lines) < 2:
        return by_theory
    left = next((line for line in reversed(history) if line.epoch <= begin), None)
    if left is not None and lines[-1].excess > left.excess:
        return math.inf  # it has gained nothing yet
    # Over as many passes as there were before them: one evaluation says little.
    last = lines[-1]
    middle = begin + (last.epoch - begin) // 2
    before = next(line for line in lines if line.epoch >= middle)
    before = lines[-2] if before is last else before
    fall = math.log(max(before.excess, 1e-300) / max(last.excess, 1e-300))
    if fall <= 0.0:
        return math.inf
    by_rate = _to_go(history, tol) * (last.epoch - before.epoch) / fall
    # From far off the gap falls fast, whatever comes after.
    far = _FAR_OF_ENTROPY if traits(method.problem.loss).entropic else _FAR
    return max(by_rate, by_theory) if len(lines) == 2 and last.excess > far else by_rate


def _least_accelerated_passes(problem: Problem, history: History, tol: float) -> float:
    """Return a low estimate: these passes are judged again when they have begun."""
    root = math.sqrt(condition(problem))
    pace, most, share = (1.0, 5.0, 0.15) if traits(problem.loss).entropic else (0.45, 2.5, 0.04)
    return 2.0 + _to_go_from_near(history, tol) * max(min(pace * root, most), share * root)


def _columns(problem: Problem) -> float:
    """Return how many numbers of a row are multiplied with those of a class, on average."""
    return float(operations.n_stored(problem.rows)) / problem.n


def _cost_of_pass(method: Method) -> float:
    problem = method.problem
    if method.name == "sdca":
        return _cost_of_passes(problem, 1.0, pull=1.0)
    columns = float(problem.d) if method.name == "whitened" else None
    return _cost_of_passes(problem, 1.0, columns)


def _cost_of_passes(
    problem: Problem, passes: float, columns: float | None = None, pull: float = _WITH_PULL
) -> float:
    columns = _columns(problem) if columns is None else columns
    entropic = traits(problem.loss).entropic
    example, score = (_ENTROPIC_EXAMPLE, _ENTROPIC_SCORE) if entropic else (_EXAMPLE, _SCORE)
    example += problem.m * (score + _NUMBER * columns)
    return passes * pull * (_PASS + problem.n * example)


def _cost_of_whitened(problem: Problem, history: History, tol: float) -> float:
    doubled = math.log2(max(condition(problem), 2.0))
    known = traits(problem.loss)
    if known.smoothing:
        often = (_ENTROPIC_PASSES if known.entropic else _PASSES) * doubled
    else:
        often = max(_PASSES_WITH_KINKS * doubled**2, _LEAST_WITH_KINKS)
    passes = 5.0 + _to_go_from_near(history, tol) * often
    return _AXES * axes.cost(problem) + _cost_of_passes(problem, passes, float(problem.d))


def _may_use_newton(problem: Problem) -> bool:
    return _has_derivative(problem) and operations.has_linear_form(problem.rows)


def _has_derivative(problem: Problem) -> bool:
    return derivative.serves(type(problem.loss))


def next_along(problem: Problem, last: Solved, memory: Memory, options: Options) -> str:
    """Return the method to begin the next C of a path with: usually that which ended the last.

    The first step of Newton's method for an entropy is mostly enough there: it is taken where it
    costs less than the passes of the last C. Where only the duals are not good enough, plain
    passes raise their objective at once, others take it down first. But many plain passes are left
    for some with a pull, and so are those after such where weights are not good enough.
    """
    line = last.solution.history[-1]
    if options.solver != "auto":
        return options.solver
    if line.method != "newton" and _steps_are_easy(problem):
        pull = 1.0 if line.method == "sdca" else _WITH_PULL
        columns = float(problem.d) if line.method == "whitened" else None
        passes = _cost_of_passes(problem, line.epoch, columns, pull)
        if _FIRST_STEPS * _cost_of_step_along(problem) < passes:
            return "newton"
    most = _FEW_REPAIRS if "accelerated" in memory.falls else MANY_PASSES
    if line.method == "sdca" and line.epoch > most:
        return "accelerated"
    if line.method == "accelerated" and last.foresaw:
        return "sdca"
    return line.method


def _cost_of_step_along(problem: Problem) -> float:
    """Return what a step for an entropy costs, from weights near its end."""
    return _cost_of_easy_step(problem) + _FEW_PRODUCTS * _cost_of_easy_product(problem)


def _steps_are_easy(problem: Problem) -> bool:
    """Return whether Newton's method for an entropy needs no help."""
    may_step = traits(problem.loss).entropic and _may_use_newton(problem)
    return may_step and systems.are_easy(problem)


def _cost_of_easy_step(problem: Problem) -> float:
    return _cost_of_step(problem, _EASY_STEP) + _FACTORS * factors.cost(problem)


def _cost_of_easy_product(problem: Problem) -> float:
    return _cost_of_product(problem, _EASY_PRODUCT, _SCORE_OF_EASY_PRODUCT)


def _cost_of_easy_newton(problem: Problem, tol: float, near: float = math.inf) -> float:
    """Return the same for an entropy whose systems are easy."""
    doubled = math.log2(max(problem.mean_curvature, 1e-300))
    steps = max(3.3 + 0.35 * doubled, 1.0) + 0.05 * math.log(1.0 / max(tol, 1e-16))
    products = min(max(3.5 + 0.7 * doubled, 1.0), 16.0)
    each = _cost_of_easy_step(problem) + products * _cost_of_easy_product(problem)
    return min(steps, 1.0 + 0.6 * near) * each


def _cost_of_step(problem: Problem, besides: float = _STEP) -> float:
    """Return what a step costs without its system, and `besides` in the interpreter."""
    return besides + problem.n * problem.m * (_SCORE_OF_STEP + _NUMBER_OF_STEP * _columns(problem))


def _cost_of_product(
    problem: Problem, besides: float = _PRODUCT, score: float = _SCORE_OF_PRODUCT
) -> float:
    """Return what it costs to multiply a direction with the matrix of a system, unbuilt."""
    number = _NUMBER_OF_PRODUCT if _is_dense(problem) else _SPARSE
    return besides + problem.n * problem.m * (score + number * _columns(problem))


def _is_dense(problem: Problem) -> bool:
    return _columns(problem) >= problem.d - 1  # an intercept is no number


def _cost_of_matrix(problem: Problem) -> float:
    """Return what it costs to build the whole matrix of a system, and to factor it."""
    width = problem.d * problem.m
    return _MATRIX * problem.n * width**2 + _FACTOR * width**3


def _cost_of_blocks(problem: Problem) -> float:
    """Return the multiplications that factoring a block for each class takes."""
    return systems.cost_of_blocks(np.full(problem.m, problem.n), problem.d)


def _cost_of_newton(problem: Problem, tol: float = 1e-3, near: float = math.inf) -> float:
    """Return the cost of about as many steps as problems of such a condition take.

    `near` is the logarithm by which the excess has to fall, where the solution is near.
    """
    if _steps_are_easy(problem):
        return _cost_of_easy_newton(problem, tol, near)
    known, step = traits(problem.loss), _cost_of_step(problem)
    hardness = max(condition(problem), 2.0)
    doubled = math.log2(hardness)
    last_steps = (1.0 if known.entropic else 3.0) + 0.6 * near
    with_kinks = _WITH_KINKS if known.separable else _WITH_JOINT_KINKS
    kinks = 1.0 if known.smoothing else with_kinks
    if systems.is_direct(problem):
        steps = min(5.0 + 1.5 * doubled, last_steps)
        return kinks * steps * (step + _cost_of_matrix(problem))
    steps = 4.0 + 0.6 * doubled if known.entropic else 8.0 + 2.5 * doubled
    most = _ENTROPIC_ITERATIONS if known.entropic and not known.separable else 150.0
    iterations = min(30.0 + 3.0 * math.sqrt(hardness), most)
    blocks = _cost_of_blocks(problem)
    if systems.are_worth(blocks, problem):
        step += _BLOCK * blocks
        iterations = 2.0 if known.separable else iterations  # the blocks are all there is
    products = iterations * _cost_of_product(problem)
    if known.separable:  # else inexact steps are not the last, however near
        steps = min(steps, last_steps)
    return kinks * steps * (step + products)
