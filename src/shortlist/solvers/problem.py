r"""One training problem: the data, the loss, the weights, and how its two objectives are computed.

.. math::

    P(W) = \tfrac12 \|W - W_0\|^2 + \sum_i c_i L(y_i, W' x_i), \qquad
    W(v) = W_0 - \sum_i c_i x_i v_i',

.. math::

    D(v) = -\sum_i c_i L^*(y_i, v_i) - \tfrac12 \|W(v) - W_0\|^2
           - \langle W(v) - W_0, W_0 \rangle.

:math:`W_0` is zero unless weights are regularised towards an anchor. With an anchor and weights
`c`, one problem is many: a pull :math:`\tfrac\kappa2 \|W - Z\|^2` beside the regulariser is the
anchor :math:`\kappa Z / (1 + \kappa)` and the weights :math:`c / (1 + \kappa)`; the data on one of
several machines have the anchor that makes :math:`W(v)` the common model, and weights
:math:`\sigma c` that make updates cautious.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, TypeAlias

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist._jit import kernel_for
from shortlist.losses import batch
from shortlist.losses.labels import Labels
from shortlist.losses.registry import Loss
from shortlist.rows import Storage, operations
from shortlist.rows.products import chunks
from shortlist.solvers.result import Certificate
from shortlist.solvers.team import Team

#: Of a slice of examples, the :math:`a_i` of a model :math:`\sum_i x_i a_i'`. Only a kernel asks.
Coefficients: TypeAlias = Callable[[slice], FloatArray] | None


class Problem:
    """The data, the loss, the weights `c` and the anchor of a training problem."""

    def __init__(
        self,
        rows: Storage,
        labels: Labels,
        loss: Loss,
        c: NDArray[np.float64],
        anchor: FloatArray | None = None,
    ) -> None:
        self.rows, self.labels, self.loss, self.anchor = rows, labels, loss, anchor
        self.n, self.d, self.m = operations.n_rows(rows), operations.model_rows(rows), labels.m
        self.dtype = rows.dtype
        self.norms = operations.squared_norms(rows)
        self.set_weights(c)

    def set_weights(self, c: NDArray[np.float64]) -> None:
        """Set the weights; refuse them where the precision cannot hold an example's curvature."""
        self.c = c
        with np.errstate(over="ignore"):
            curvatures = np.maximum(self.c, 1.0) * self.norms
        bad = np.flatnonzero(~(curvatures < 0.01 * float(np.finfo(self.dtype).max)))
        if bad.size:
            i = int(bad[0])
            raise ValueError(
                f"the squared length of X[{i}], times its weight, is {curvatures[i]:.1e}, too much "
                f"for {self.dtype}; scale X, or choose a smaller C or float64."
            )

    def with_loss(self, loss: Loss) -> Problem:
        """Return the same problem with another loss."""
        other = copy.copy(self)
        other.loss = loss
        return other

    def with_anchor(self, anchor: FloatArray) -> Problem:
        """Return the same problem with another anchor, and weights of its own."""
        other = copy.copy(self)
        other.anchor = anchor
        return other

    def with_weights(self, c: NDArray[np.float64]) -> Problem:
        """Return the same problem with other weights."""
        other = copy.copy(self)
        other.set_weights(c)
        return other

    def with_rows(self, rows: Storage) -> Problem:
        """Return the same problem with a storage of the same inner products."""
        other = copy.copy(self)
        other.rows, other.d = rows, operations.model_rows(rows)
        return other

    def take(self, examples: NDArray[np.int64]) -> Problem:
        """Return the problem of some examples; its storage must be linear."""
        other = copy.copy(self)
        other.rows, other.n = operations.take(self.rows, examples), examples.size
        other.labels = self.labels.take(examples)
        other.c, other.norms = self.c[examples], self.norms[examples]
        return other

    def dense(self, some: slice) -> FloatArray:
        """Return a slice of the rows as a new matrix; the storage must be linear."""
        rows: FloatArray = operations.dense(self.rows, np.arange(some.start, some.stop))
        return rows

    @property
    def mean_curvature(self) -> float:
        r"""The mean of :math:`c_i \|x_i\|^2` over the examples that weigh anything."""
        # Not by BLAS: outside a team its threads would wake, and wait in a loop for more.
        return float((self.c * self.norms).sum()) / max(int(np.count_nonzero(self.c)), 1)

    def run(self, kernel: Any, *args: Any) -> Any:
        """Call a kernel of the loss: one kept on disk, or its twin for a user's own loss."""
        return kernel_for(self.loss, kernel)(self.loss, *args)

    def in_chunks(self, function: Callable[..., Any], team: Team) -> list[Any]:
        """Return the results of ``function(some, offsets, indices)`` for chunks of examples.

        `some` is the slice of a chunk, the other two are its labels.
        """
        labels = self.labels

        def one(some: slice) -> Any:
            return function(some, labels.offsets[some.start : some.stop + 1], labels.indices)

        return team.each(one, list(chunks(self.n, self.m)))

    def coefficients(self, duals: FloatArray) -> Callable[[slice], FloatArray]:
        """Return the function of a slice of examples that gives :math:`-c_i v_i`."""
        weight = (-self.c).astype(self.dtype)
        return lambda some: weight[some, None] * duals[some]

    def model(self, duals: FloatArray, team: Team, out: FloatArray | None = None) -> FloatArray:
        """Return the model W(v), computed from all duals, in `out` if that is given."""
        model = np.empty((self.d, self.m), self.dtype) if out is None else out
        if not duals.any():  # where a run begins
            model[:] = 0.0 if self.anchor is None else self.anchor
            return model
        if (self.c == self.c[0]).all():  # one weight for all scales the sum, not its terms
            accumulate(self.rows, duals.__getitem__, model, team)
            model *= self.dtype.type(-self.c[0])
        else:
            accumulate(self.rows, self.coefficients(duals), model, team)
        if self.anchor is not None:
            model += self.anchor
        return model

    def scores(self, model: FloatArray, team: Team) -> FloatArray:
        """Return the scores of all examples as a new array."""
        out = np.empty((self.n, self.m), self.dtype)

        def compute(some: slice) -> None:
            out[some] = operations.scores(self.rows, some.start, some.stop, model)

        team.each(compute, list(chunks(self.n, self.m)))
        return out

    def losses(self, model: FloatArray, team: Team, also: Callable[..., None]) -> float:
        """Return the weighted sum of the losses at the scores of a model.

        ``also(some, scores, offsets, indices)`` is called for each chunk of examples, with
        their scores and labels, by the thread that has computed them.
        """
        values = np.empty(self.n)

        def evaluate(some: slice, *labels: NDArray[np.int64]) -> None:
            scores = operations.scores(self.rows, some.start, some.stop, model)
            self.run(batch.value_rows, scores, *labels, values[some])
            also(some, scores, *labels)

        self.in_chunks(evaluate, team)
        return float(self.c @ values)

    def primal(self, model: FloatArray, coefficients: Coefficients, team: Team) -> float:
        """Return the primal objective of any model; a kernel's also needs its coefficients."""
        return self.half(model, coefficients) + self.losses(model, team, _nothing)

    def primal_at(self, model: FloatArray, scores: FloatArray, team: Team) -> float:
        """Return the primal objective of a linear model whose scores are known."""
        return self.half(model, None) + float(self.c @ self.values(scores, team))

    def values(self, scores: FloatArray, team: Team) -> NDArray[np.float64]:
        """Return the loss of every example at its scores."""
        values = np.empty(self.n)

        def write(some: slice, *labels: NDArray[np.int64]) -> None:
            self.run(batch.value_rows, scores[some], *labels, values[some])

        self.in_chunks(write, team)
        return values

    def gradients(self, scores: FloatArray, team: Team, out: FloatArray) -> float:
        """Write the gradients of a smooth loss; return the weighted sum of the conjugates."""
        conjugates = np.empty(self.n)

        def write(some: slice, *labels: NDArray[np.int64]) -> None:
            self.run(batch.gradient_rows, scores[some], *labels, out[some], conjugates[some])

        self.in_chunks(write, team)
        return float(self.c @ conjugates)

    def half(self, model: FloatArray, coefficients: Coefficients) -> float:
        """Return the regulariser's part of the primal objective."""
        moved = model if self.anchor is None else model - self.anchor
        return 0.5 * float(operations.inner(self.rows, moved, coefficients, moved))

    def certificate(self, model: FloatArray, duals: FloatArray, team: Team) -> Certificate:
        """Return both objectives; `model` must be W(v). Sums are float64."""
        primal = self.primal(model, self.coefficients(duals), team)
        return Certificate(primal, self.dual(duals, model, team))

    def dual(self, duals: FloatArray, model: FloatArray, team: Team) -> float:
        """Return the dual objective; `model` must be W(v)."""
        conjugates = np.empty(self.n)

        def conjugate(some: slice, *labels: NDArray[np.int64]) -> None:
            self.run(batch.conjugate_rows, duals[some], *labels, conjugates[some])

        self.in_chunks(conjugate, team)
        return self.dual_at(duals, float(self.c @ conjugates), model)

    def dual_at(self, duals: FloatArray, conjugates: float, model: FloatArray) -> float:
        """Return the dual objective where the weighted sum of the conjugates is known."""
        coefficients = self.coefficients(duals)
        half, across = self.half(model, coefficients), 0.0
        if self.anchor is not None:
            moved = model - self.anchor
            across = float(operations.inner(self.rows, moved, coefficients, self.anchor))
        return -conjugates - half - across


def _nothing(*args: Any) -> None:
    """Do nothing else with the scores."""


def accumulate(
    rows: Storage, coefficients: Callable[[slice], FloatArray], model: FloatArray, team: Team
) -> None:
    r"""Write :math:`\sum_i x_i a_i'` to the model, all threads together."""
    team.each(
        lambda part: operations.accumulate(rows, coefficients, model, part, team.size),
        range(team.size),
    )
