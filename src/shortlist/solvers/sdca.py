r"""The state of stochastic dual coordinate ascent, and one pass over the data.

Every pass is sweeps of blocks (see `sweep`); there are three ways to run them, all with the
same storages and losses:

*row by row*
    in compiled code, for sparse rows and few columns, where a call from Python for each
    block would cost more than its work;
*block by block*
    with matrix products, which threads share; inner products of the next block are computed
    while one is swept. Both make the same iterates, for any size of block;
*blocks at once*
    where the sweep inside a block takes longer than its products. Each thread takes a
    block of its own, and all start from the same model, so that a block does not see what
    the others change. With the changes :math:`\delta_i`, the dual objective grows by at least

    .. math::

        \tfrac12 \sum_i \|x_i\|^2 \|\delta_i\|^2
        - \sum_{i, j \text{ in different blocks}} \langle x_i, x_j \rangle
        \langle \delta_i, \delta_j \rangle.

    The second sum is looked at now and then; when it exceeds half of the first, fewer
    blocks run at once, in the end one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from concurrent.futures import Future
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.rows import operations
from shortlist.rows.order import shuffled
from shortlist.rows.products import bounds
from shortlist.solvers import sweep
from shortlist.solvers.method import Numbers, next_check
from shortlist.solvers.problem import Problem
from shortlist.solvers.resting import Resting
from shortlist.solvers.result import Certificate, History
from shortlist.solvers.team import Team

#: With fewer than this, the sweep inside a block takes longer than its products.
_SWEEP_DOMINATES = 1024
#: The least classes that are worth a thread's block where rows are sparse or short.
_MANY_CLASSES = 400
#: Scores of a block that are worth a thread's sweep.
_WORTH_A_THREAD = 25_000
#: A product of fewer multiplications is not worth a second thread.
_WORTH_THREADS = 16_000_000
#: Examples that are visited row by row between two looks at the clock.
_ROWS_BETWEEN_LOOKS = 4096
#: Of so many rounds of blocks at once, one is checked.
_ROUNDS_BETWEEN_CHECKS = 8


#: Passes after which the model is computed anew from the duals, in single and in double precision.
_EPOCHS_OF_DRIFT = {np.dtype(np.float32): 10, np.dtype(np.float64): 1000}


class Given(NamedTuple):
    """Weights with a known primal objective, which need not be those of any duals."""

    primal: float
    weights: FloatArray
    enough: float  # the gap at which they are not compared with the model's


class _Block(NamedTuple):
    """A block after its sweep; only the examples that moved."""

    examples: NDArray[np.int64]
    picked: Any
    change: FloatArray


class Sdca:
    """Duals, the model that belongs to them, and where in which pass we are.

    Parameters
    ----------
    problem : Problem
        The problem.
    duals : ndarray, shape (n, m)
        Feasible dual variables; they are written to.
    block_size : int or None
        Examples in a block; None chooses.
    seed : int
        The seed of the order of visits.
    team : Team
        The threads.
    model : ndarray, shape (d, m), optional
        The model to begin from, which is written to; by default that of the duals. On one of
        several machines it is the common model.
    given : Given, optional
        Weights of a linear model to certify, as long as those of the duals are no better: at a
        large C they may be good for long before these are.
    """

    name = "sdca"
    patience = 0

    def __init__(
        self,
        problem: Problem,
        duals: FloatArray,
        block_size: int | None,
        seed: int | Sequence[int],
        team: Team,
        model: FloatArray | None = None,
        given: Given | None = None,
    ) -> None:
        self.problem, self.duals, self.team = problem, duals, team
        self.given, self.prefers_given = given, False
        self.model = problem.model(duals, team) if model is None else model
        self.rng = np.random.default_rng(seed)
        self.resting = Resting(problem.c)
        if block_size is None:
            self.row_by_row = operations.are_loops_faster(problem.rows, problem.m)
        else:
            self.row_by_row = block_size == 1 and operations.is_linear(problem.rows)
        self.block_size = min(block_size or default_block_size(problem.d), problem.n)
        self.at_once = team.size if self._sweep_dominates() else 1
        self.epoch = self.rounds = self.position = 0
        self.exact_at = 0  # the pass after which the model was last computed from the duals
        self.order = np.empty(0, np.int64)
        self._ahead: Future[tuple[Any, FloatArray]] | None = None  # the next block, prepared

    def run_epoch(self, should_stop: Callable[[], bool]) -> None:
        """Visit every example that is due, in a random order.

        `should_stop` is asked now and then; the next call goes on where this one stopped.
        """
        if self.position == 0:
            due = self.resting.examples(self.epoch)
            together = operations.consecutive(self.problem.rows)
            self.order = shuffled(due, together, self.rng)
        while self.position < self.order.size:
            one_after_another = self.row_by_row and self.at_once == 1
            length = _ROWS_BETWEEN_LOOKS if one_after_another else self.block_size * self.at_once
            examples = self.order[self.position : self.position + length]
            if one_after_another:
                moved = self._visit_rows(examples)
            elif self.at_once == 1:
                moved = self._visit_block(examples)
            else:
                moved = self._visit_blocks_at_once(examples)
            self.resting.note(examples, moved, self.epoch)
            self.position += examples.size
            if should_stop() and self.position < self.order.size:
                return
        self.epoch, self.position = self.epoch + 1, 0

    def recompute_model(self) -> None:
        """Make the model that of the duals, from which rounding takes it."""
        self.problem.model(self.duals, self.team, out=self.model)
        self.exact_at = self.epoch

    def set_model(self, model: FloatArray) -> None:
        """Set the model where it is known to be that of the duals."""
        self.model[:] = model
        self.exact_at = self.epoch

    def move_anchor(self, anchor: FloatArray) -> None:
        """Go on with the same duals, regularised towards other weights."""
        assert self.problem.anchor is not None
        self.model += anchor - self.problem.anchor
        self.problem.anchor = anchor

    def certificate(self, exact: bool) -> Certificate:
        """Return both objectives; `exact` computes the model anew from the duals."""
        if exact:
            self.recompute_model()
        problem, given = self.problem, self.given
        if given is None:
            return problem.certificate(self.model, self.duals, self.team)
        primal, dual = given.primal, problem.dual(self.duals, self.model, self.team)
        self.prefers_given = True
        if Certificate(primal, dual).gap > given.enough:
            own = problem.primal(self.model, problem.coefficients(self.duals), self.team)
            self.prefers_given, primal = primal <= own, min(primal, own)
        return Certificate(primal, dual)

    @property
    def has_drifted(self) -> bool:
        """Whether rounding may have taken the model from that of the duals."""
        return self.epoch - self.exact_at >= _EPOCHS_OF_DRIFT[self.problem.dtype]

    @property
    def is_exact(self) -> bool:
        """Whether the model is as near to that of the duals as one that is computed anew."""
        return self.problem.dtype == np.float64 and not self.has_drifted

    def next_check(self, history: History, tol: float) -> int:
        """Return the epoch at which an evaluation may show that the gap is reached."""
        return next_check(history, tol)

    def wake(self) -> None:
        """Visit every example again."""
        self.resting.wake()

    def state(self) -> tuple[Numbers, dict[str, NDArray[Any]]]:
        """Return all that the next passes depend on: what JSON can hold, and arrays."""
        counts = [self.epoch, self.position, self.rounds, self.at_once, self.exact_at]
        arrays: dict[str, NDArray[Any]]
        arrays = {"duals": self.duals, "model": self.model, "order": self.order}
        arrays |= {"idle": self.resting.idle, "due": self.resting.due}
        return {"rng": self.rng.bit_generator.state, "counts": counts}, arrays

    def restore(self, numbers: Numbers, arrays: dict[str, NDArray[Any]]) -> None:
        """Set what `state` returned."""
        self.duals, self.model, self.order = arrays["duals"], arrays["model"], arrays["order"]
        self.resting.idle, self.resting.due = arrays["idle"], arrays["due"]
        self.rng.bit_generator.state = numbers["rng"]
        self.epoch, self.position, self.rounds, self.at_once, self.exact_at = numbers["counts"]

    def weights(self) -> FloatArray:
        """Return the weights of the present model, in the form that is given to the user."""
        if self.given is not None and self.prefers_given:
            return self.given.weights
        return operations.weights(
            self.problem.rows, self.model, self.problem.coefficients(self.duals)
        )

    def _visit_rows(self, examples: NDArray[np.int64]) -> NDArray[np.bool_]:
        problem, labels = self.problem, self.problem.labels
        return problem.run(
            sweep.sweep_rows, *operations.in_order(problem.rows, examples), examples, problem.c,
            problem.norms,
            labels.offsets, labels.indices, self.duals, self.model,
        )  # fmt: skip

    def _visit_block(self, examples: NDArray[np.int64]) -> NDArray[np.bool_]:
        rows, m = self.problem.rows, self.problem.m
        parts = self.team.size if self._is_worth_threads(examples.size) else 1
        picked, gram = self._ahead.result() if self._ahead else self._prepare(examples)

        def scores_of(part: int) -> FloatArray:
            # By classes: then each thread reads its part of the weights only.
            mine = self.model[:, slice(*bounds(m, part, parts))] if parts > 1 else self.model
            return operations.block_scores(rows, examples, picked, mine)

        shares = self.team.each(scores_of, range(parts))
        # What the next block needs besides the weights is computed while this one is swept.
        first = self.position + examples.size
        following = self.order[first : first + self.block_size]
        ahead = parts > 1 and following.size > 0
        self._ahead = self.team.start(self._prepare, following) if ahead else None
        scores = np.concatenate(shares, axis=1) if parts > 1 else shares[0]
        moved, block = self._sweep(examples, picked, scores, gram)
        self._apply([block], parts)
        return moved

    def _prepare(self, examples: NDArray[np.int64]) -> tuple[Any, FloatArray]:
        """Return what a block needs that does not depend on the model."""
        picked = operations.pick(self.problem.rows, examples)
        gram = operations.block_gram(self.problem.rows, examples, picked, examples, picked)
        return picked, gram

    def _visit_blocks_at_once(self, examples: NDArray[np.int64]) -> NDArray[np.bool_]:
        rows = self.problem.rows

        def visit(block: NDArray[np.int64]) -> tuple[NDArray[np.bool_], _Block]:
            picked, gram = self._prepare(block)
            scores = operations.block_scores(rows, block, picked, self.model)
            return self._sweep(block, picked, scores, gram)

        moved, blocks = zip(
            *self.team.each(visit, np.array_split(examples, min(self.at_once, examples.size))),
            strict=True,
        )
        if self.rounds % _ROUNDS_BETWEEN_CHECKS == 0 and self._are_in_each_others_way(blocks):
            self.at_once //= 2
        self.rounds += 1
        self._apply(list(blocks), self.team.size)
        return np.concatenate(moved)

    def _sweep(
        self, examples: NDArray[np.int64], picked: Any, scores: FloatArray, gram: FloatArray
    ) -> tuple[NDArray[np.bool_], _Block]:
        labels, change = self.problem.labels, np.empty_like(scores)
        moved = self.problem.run(
            sweep.sweep_block, scores, gram, examples, self.problem.c,
            labels.offsets, labels.indices, self.duals, change,
        )  # fmt: skip
        if moved.all():
            return moved, _Block(examples, picked, change)
        picked = None if picked is None else picked[moved]  # what did not move is not multiplied
        return moved, _Block(examples[moved], picked, change[moved])

    def _apply(self, blocks: list[_Block], parts: int) -> None:
        def apply(part: int) -> None:
            for block in blocks:
                if block.examples.size > 0:
                    operations.block_apply(self.problem.rows, *block, self.model, part, parts)

        self.team.each(apply, range(parts))

    def _are_in_each_others_way(self, blocks: tuple[_Block, ...]) -> bool:
        """Whether blocks that ran at once may have spoilt half of what they gained."""
        rows = self.problem.rows
        gain = sum(
            float(
                self.problem.norms[block.examples]
                @ np.einsum("ij,ij->i", block.change, block.change)
            )
            for block in blocks
        )
        clash = 0.0
        for i, one in enumerate(blocks):
            for other in blocks[i + 1 :]:
                gram = operations.block_gram(rows, *one[:2], *other[:2])
                clash += float(np.einsum("ij,ij->", gram @ other.change, one.change))
        return clash > 0.25 * gain

    def _sweep_dominates(self) -> bool:
        problem = self.problem
        if self.block_size * problem.m < _WORTH_A_THREAD:
            return False
        return problem.m >= _MANY_CLASSES if self.row_by_row else problem.d <= _SWEEP_DOMINATES

    def _is_worth_threads(self, size: int) -> bool:
        problem = self.problem
        return self.team.size > 1 and size * problem.d * problem.m >= _WORTH_THREADS


def default_block_size(d: int) -> int:
    """Return a block size for models of `d` rows."""
    # Correcting scores inside a block costs B/2 m an example, the two products 2 d m.
    return min(max(d // 8, 64), 256)
