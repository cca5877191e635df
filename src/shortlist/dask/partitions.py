r"""What is done with some of the examples, on the machine that holds them: arrays in, arrays out.

Nothing here knows an engine. Each function takes the partitions of one *group*, which is worked on
in one go while other groups are worked on elsewhere, and returns what the groups' answers are
added up from. No argument is changed, so that any call may be repeated, on any machine, with the
same result.

With the common model `V` and the weights :math:`s c_i`, a group runs ordinary passes of dual
coordinate ascent that begin at `V` (see `shortlist.solvers.problem`): :math:`s = \sigma / (1 +
\kappa)`, where :math:`\sigma` is the number of groups and :math:`\kappa` the strength of the pull.
What its examples have changed may then be added up over all groups [Ma, Smith, Jaggi, Jordan,
Richtarik, Takac: Adding vs. averaging, 2015].
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses import batch
from shortlist.rows import CsrRows, DenseRows, operations
from shortlist.solvers.problem import Problem
from shortlist.solvers.sdca import Sdca
from shortlist.solvers.team import Team


class PartitionError(ValueError):
    """What went wrong with one partition of the examples; the message begins with its number."""


@contextlib.contextmanager
def naming(number: int) -> Iterator[None]:
    """Let errors say in which partition they happened, in one sentence."""
    try:
        yield
    except PartitionError:
        raise
    except Exception as error:
        text = str(error) or type(error).__name__
        raise PartitionError(f"partition {number}: {text}") from None


class Partition(NamedTuple):
    """Some of the examples: a problem of their own, with the weights `c` of the whole one."""

    number: int
    problem: Problem

    def __reduce__(self) -> tuple[Any, ...]:
        """Put memory in order where a partition arrives."""
        return in_order, tuple(self)


def in_order(number: int, problem: Problem) -> Partition:
    """Return a partition with memory as kernels are compiled for.

    What comes over a network may be read-only, which would be a type of its own to the compiler,
    or not aligned, and then products of matrices are rounded in another order.
    """
    own = problem.with_loss(problem.loss)
    own.labels = own.labels._replace(
        offsets=_own(own.labels.offsets), indices=_own(own.labels.indices)
    )
    own.c, own.norms = _own(own.c), _own(own.norms)
    if isinstance(own.rows, CsrRows):
        rows = own.rows
        own.rows = rows._replace(
            data=_own(rows.data), indices=_own(rows.indices), offsets=_own(rows.offsets)
        )
    elif isinstance(own.rows, DenseRows):
        own.rows = own.rows._replace(matrix=np.require(own.rows.matrix, requirements="A"))
    return Partition(number, own)


def _own(array: NDArray[Any]) -> NDArray[Any]:
    return np.require(array, requirements=["A", "W"])


class Duals(NamedTuple):
    """The dual variables of the partitions of a group, in their order."""

    arrays: tuple[FloatArray, ...]
    #: How often some of them were lost, and set to zero.
    losses: int = 0


class Answer(NamedTuple):
    """What the groups' answers add up to."""

    #: (d, m): the change of the model of the duals, or a model.
    model: FloatArray
    #: The weighted losses at the point that was asked for.
    losses: float
    #: The weighted conjugates of the duals that were held when asked.
    conjugates: float
    #: How often duals were lost, of all groups together.
    lost: int


class Outcome(NamedTuple):
    """A group after a round: its duals, for the next one, and its answer."""

    duals: Duals
    answer: Answer


class Size(NamedTuple):
    """What must be known of a partition elsewhere."""

    number: int
    examples: int
    rows: int  # of the model: with one for the intercept
    dtype: str
    total_weight: float
    fingerprint: str  # of the examples, labels and weights


def size_of(partition: Partition) -> Size:
    """Return what must be known of a partition elsewhere."""
    problem = partition.problem
    digest = hashlib.blake2b(digest_size=16)
    labels = problem.labels.offsets, problem.labels.indices
    for array in (*operations.contents(problem.rows), *labels, problem.c):
        digest.update(repr((array.shape, array.dtype.str)).encode())
        digest.update(np.ascontiguousarray(array).data)
    weight = float(problem.c.sum())
    shape = problem.n, problem.d
    return Size(partition.number, *shape, problem.dtype.name, weight, digest.hexdigest())


def zero_duals(partitions: Sequence[Partition], losses: int = 0) -> Duals:
    """Return the duals to begin with, which are feasible for every loss."""
    problems = [partition.problem for partition in partitions]
    return Duals(tuple(np.zeros((p.n, p.m), p.dtype) for p in problems), losses)


def ascend(
    partitions: Sequence[Partition],
    duals: Duals,
    point: FloatArray,
    scale: float,
    epochs: int,
    seed: Sequence[int],
) -> Outcome:
    """Run passes of dual coordinate ascent from a common model, and say what they changed.

    The sums of the answer are those before the passes: the losses at `point`, and the conjugates
    of `duals`. `scale` is what weights are multiplied with, `seed` that of this round.
    """
    answer, model, runs = _sums(partitions, duals, point), np.array(point), []
    with Team(1) as team:
        for partition, before in zip(partitions, duals.arrays, strict=True):
            with naming(partition.number):
                own = partition.problem.with_weights(scale * partition.problem.c)
                own_seed = (*seed, partition.number)
                runs.append(Sdca(own, before.copy(), None, own_seed, team, model))
        turns = np.random.default_rng((*seed, partitions[0].number, len(partitions)))
        for _ in range(epochs):
            for i in turns.permutation(len(runs)):
                with naming(partitions[i].number):
                    runs[i].run_epoch(_never)
    change = (model - point) / model.dtype.type(scale)
    after = Duals(tuple(run.duals for run in runs), duals.losses)
    return Outcome(after, answer._replace(model=change))


def _never() -> bool:
    return False


def _sums(partitions: Sequence[Partition], duals: Duals, point: FloatArray) -> Answer:
    """Return the losses at a point and the conjugates of duals, and an empty model."""
    losses = conjugates = 0.0
    point = _own(point)
    with Team(1) as team:
        for partition, own in zip(partitions, duals.arrays, strict=True):
            with naming(partition.number):
                problem = partition.problem
                losses += problem.losses(point, team, _nothing)
                conjugates += _conjugates(problem, _own(own), team)
    return Answer(np.zeros((0, 0), point.dtype), losses, conjugates, duals.losses)


def _nothing(*args: Any) -> None:
    """Do nothing else with the scores."""


def _conjugates(problem: Problem, duals: FloatArray, team: Team) -> float:
    """Return the weighted sum of the conjugates: the dual objective but for the model."""
    return -problem.dual(duals, np.zeros((problem.d, problem.m), problem.dtype), team)


def rebuild(partitions: Sequence[Partition], duals: Duals, point: FloatArray) -> Answer:
    """Return the model of the duals that are held, and all sums, from scratch."""
    answer, model = _sums(partitions, duals, point), np.zeros(point.shape)
    with Team(1) as team:
        for partition, own in zip(partitions, duals.arrays, strict=True):
            with naming(partition.number):
                model += partition.problem.model(_own(own), team)
    return answer._replace(model=model)


def differentiate(partitions: Sequence[Partition], point: FloatArray) -> Answer:
    r"""Return the model of the gradients of the losses at a point, and all sums.

    With the duals :math:`v_i = \nabla L(W' x_i)` the gradient of the objective is
    :math:`W - W(v)`.
    """
    losses, conjugates, model, point = 0.0, 0.0, np.zeros(point.shape), _own(point)
    with Team(1) as team:
        for partition in partitions:
            with naming(partition.number):
                problem = partition.problem
                loss, duals = _gradients(problem, point, team)
                losses += loss
                conjugates += _conjugates(problem, duals, team)
                model += problem.model(duals, team)
    return Answer(model, losses, conjugates, 0)


def _gradients(problem: Problem, point: FloatArray, team: Team) -> tuple[float, FloatArray]:
    """Return the weighted losses at a point, and their gradients."""
    duals = np.empty((problem.n, problem.m), problem.dtype)

    def step(some: slice, scores: FloatArray, *labels: NDArray[np.int64]) -> None:
        problem.run(batch.step_rows, scores, *labels, np.zeros(len(scores)), duals[some])

    return problem.losses(point, team, step), duals


def add_up(answers: Sequence[Answer]) -> Answer:
    """Return the sum of answers, always in the same order."""
    model = answers[0].model.copy()
    for answer in answers[1:]:
        model += answer.model
    return Answer(
        model,
        sum(answer.losses for answer in answers),
        sum(answer.conjugates for answer in answers),
        sum(answer.lost for answer in answers),
    )
