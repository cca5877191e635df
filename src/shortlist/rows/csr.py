"""A sparse matrix by rows; it is never made dense."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray, take_ranges
from shortlist._jit import kernel, summing_kernel, uncounted
from shortlist._vectors import prefetch
from shortlist.rows import operations
from shortlist.rows.dense import (
    always,
    inner_of_weights,
    itself,
    scores_by_weights,
    weights_of_model,
)
from shortlist.rows.multiples import add_four, add_multiple
from shortlist.rows.products import bounds, chunks


class CsrRows(NamedTuple):
    """The rows of a matrix in compressed sparse row format, each followed by `intercept`.

    Examples
    --------
    >>> import scipy.sparse
    >>> from shortlist import rows
    >>> storage = rows.as_storage(scipy.sparse.eye_array(3, format="csr"))
    >>> type(storage).__name__, storage.columns
    ('CsrRows', 3)
    """

    data: FloatArray
    indices: NDArray[Any]
    offsets: NDArray[Any]
    columns: int
    intercept: float

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the rows."""
        return self.data.dtype


@operations.add_scores.register(CsrRows)
def _(rows, i, weights, out):
    x, at = rows.data, rows.indices
    first, last = rows.offsets[i], rows.offsets[i + 1]
    rest = first + (last - first) % 4
    for j in range(first, rest):
        add_multiple(x[j], at[j], weights, out)
    for j in range(rest, last, 4):
        four, columns = (
            (x[j], x[j + 1], x[j + 2], x[j + 3]),
            (at[j], at[j + 1], at[j + 2], at[j + 3]),
        )
        add_four(four, columns, weights, out)
    if rows.intercept != 0.0:
        add_multiple(rows.intercept, rows.columns, weights, out)


@operations.add_outer.register(CsrRows)
def _(rows, i, change, weights):
    for j in range(rows.offsets[i], rows.offsets[i + 1]):
        value, column = rows.data[j], rows.indices[j]
        for k in range(change.size):
            weights[column, k] += value * change[k]
    if rows.intercept != 0.0:
        for k in range(change.size):
            weights[rows.columns, k] += rows.intercept * change[k]


@operations.prefetch_row.register(CsrRows)
def _(rows, i):
    first, last = rows.offsets[i], rows.offsets[i + 1]
    prefetch(rows.data[first:last])
    prefetch(rows.indices[first:last])


@operations.dot_row.register(CsrRows)
def _(rows, i, vector):
    total = 0.0
    for j in range(rows.offsets[i], rows.offsets[i + 1]):
        total += rows.data[j] * vector[rows.indices[j]]
    if rows.intercept != 0.0:
        total += rows.intercept * vector[rows.columns]
    return total


@operations.add_row.register(CsrRows)
def _(rows, i, weight, vector):
    for j in range(rows.offsets[i], rows.offsets[i + 1]):
        vector[rows.indices[j]] += weight * rows.data[j]
    if rows.intercept != 0.0:
        vector[rows.columns] += weight * rows.intercept


@kernel
def _scores(rows, examples, weights, out):
    out[:] = 0.0
    rows, weights, out = uncounted((rows, weights, out))
    for i in range(examples.size):
        operations.add_scores(rows, examples[i], weights, out[i])


@kernel
def _add_outers(rows, examples, change, weights):
    rows, change, weights = uncounted((rows, change, weights))
    for i in range(examples.size):
        operations.add_outer(rows, examples[i], change[i], weights)


@kernel
def _gram(rows, block, other, out):
    """Write inner products; `spread` is one row at a time, made dense."""
    spread = np.zeros(rows.columns, rows.data.dtype)
    for i in range(block.size):
        first, last = rows.offsets[block[i]], rows.offsets[block[i] + 1]
        for j in range(first, last):
            spread[rows.indices[j]] = rows.data[j]
        for k in range(other.size):
            total = rows.intercept * rows.intercept
            for j in range(rows.offsets[other[k]], rows.offsets[other[k] + 1]):
                total += np.float64(rows.data[j]) * spread[rows.indices[j]]
            out[i, k] = total
        for j in range(first, last):
            spread[rows.indices[j]] = 0.0


@operations.pick.register(CsrRows)
def _(rows, block):
    return None


@operations.block_scores.register(CsrRows)
def _(rows, block, picked, model):
    out = np.empty((len(block), model.shape[1]), rows.dtype)
    _scores(rows, block, model, out)
    return out


@operations.block_gram.register(CsrRows)
def _(rows, block, picked, other, other_picked):
    out = np.empty((len(block), len(other)), rows.dtype)
    _gram(rows, block, other, out)
    return out


@operations.block_apply.register(CsrRows)
def _(rows, block, picked, change, model, part, parts):
    classes = slice(*bounds(model.shape[1], part, parts))
    _add_outers(rows, block, change[:, classes], model[:, classes])


@operations.n_rows.register(CsrRows)
def _(rows):
    return rows.offsets.size - 1


@operations.model_rows.register(CsrRows)
def _(rows):
    return rows.columns + (rows.intercept != 0.0)


@operations.is_linear.register(CsrRows)
def _(rows):
    return True


@operations.n_features.register(CsrRows)
def _(rows):
    return rows.columns


@operations.n_stored.register(CsrRows)
def _(rows):
    return rows.data.size


@operations.squared_norms.register(CsrRows)
def _(rows):
    norms = np.empty(rows.offsets.size - 1)
    _squared_norms(rows.data, rows.offsets, norms)
    return norms + rows.intercept**2


@summing_kernel
def _squared_norms(data, offsets, out):
    for i in range(out.size):
        total = 0.0
        for j in range(offsets[i], offsets[i + 1]):
            total += np.float64(data[j]) * np.float64(data[j])
        out[i] = total


@operations.scores.register(CsrRows)
def _(rows, first, last, model):
    return operations.block_scores(rows, np.arange(first, last), None, model)


@operations.accumulate.register(CsrRows)
def _(rows, coefficients, model, part, parts):
    m = model.shape[1]
    classes = slice(*bounds(m, part, parts))
    mine = model[:, classes]
    mine[:] = 0.0
    for some in chunks(operations.n_rows(rows), m):
        examples = np.arange(some.start, some.stop)
        _add_outers(rows, examples, coefficients(some)[:, classes], mine)


operations.inner.register(CsrRows)(inner_of_weights)
operations.as_linear.register(CsrRows)(itself)
operations.has_linear_form.register(CsrRows)(always)
operations.new_scores.register(CsrRows)(scores_by_weights)
operations.weights.register(CsrRows)(weights_of_model)


@operations.take.register(CsrRows)
def _(rows, examples):
    offsets, at = take_ranges(rows.offsets, examples)
    return rows._replace(data=rows.data[at], indices=rows.indices[at], offsets=offsets)


@operations.dense.register(CsrRows)
def _(rows, examples):
    out = np.zeros((len(examples), operations.model_rows(rows)), rows.dtype)
    out[:, rows.columns :] = rows.intercept
    _spread(rows, examples, out)
    return out


@kernel
def _spread(rows, examples, out):
    for i in range(examples.size):
        for j in range(rows.offsets[examples[i]], rows.offsets[examples[i] + 1]):
            out[i, rows.indices[j]] += rows.data[j]


@operations.squares_times.register(CsrRows)
def _(rows, weights):
    squares = rows._replace(data=rows.data * rows.data, intercept=rows.intercept**2)
    total = np.empty((operations.model_rows(rows), weights.shape[1]), rows.dtype)
    operations.accumulate(squares, weights.__getitem__, total, 0, 1)
    return total


@operations.contents.register(CsrRows)
def _(rows):
    return rows.data, rows.indices, rows.offsets, np.array([rows.columns, rows.intercept])


@operations.are_loops_faster.register(CsrRows)
def _(rows, m):
    return True


@operations.in_order.register(CsrRows)
def _(rows, block):
    return rows, block


@operations.consecutive.register(CsrRows)
def _(rows):
    return 1
