"""A matrix in memory, or mapped from a file."""

from __future__ import annotations

import mmap
from typing import Any, NamedTuple

import numpy as np

from shortlist._arrays import FloatArray
from shortlist._jit import inlined, kernel, summing_kernel
from shortlist._vectors import LINE, add_outer_product, add_product, are_few_tiles, prefetch
from shortlist.rows import operations
from shortlist.rows.multiples import add_four, add_multiple
from shortlist.rows.products import add_transposed, bounds, chunks, slices

#: With fewer columns than this, or with so few weights that they stay in the cache nearest to
#: the processor, compiled loops beat matrix products.
_FEW_COLUMNS, _FEW_WEIGHTS = 64, 4096
#: Bytes of a mapped file that are read together.
_MAPPED_CHUNK = 1 << 25


class DenseRows(NamedTuple):
    """The rows of a matrix in any memory order, each followed by `intercept` if that is not 0.

    Examples
    --------
    >>> from shortlist import rows
    >>> storage = rows.as_storage([[1.0, 2.0]], intercept=1.0)
    >>> type(storage).__name__, storage.dtype, storage.intercept
    ('DenseRows', dtype('float64'), 1.0)
    """

    matrix: FloatArray
    intercept: float

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the rows."""
        return self.matrix.dtype


@operations.add_scores.register(DenseRows)
def _(rows, i, weights, out):
    x = rows.matrix[i]
    if are_few_tiles(out.size):
        add_product(x, weights, out)
    else:
        _add_rows(x, weights, out)
    if rows.intercept != 0.0:
        add_multiple(rows.intercept, x.size, weights, out)


@inlined
def _add_rows(x, weights, out):
    rest = x.size % 4
    for j in range(rest):
        add_multiple(x[j], j, weights, out)
    for j in range(rest, x.size, 4):
        four = x[j], x[j + 1], x[j + 2], x[j + 3]
        if four[0] != 0 or four[1] != 0 or four[2] != 0 or four[3] != 0:
            add_four(four, (j, j + 1, j + 2, j + 3), weights, out)


@operations.add_outer.register(DenseRows)
def _(rows, i, change, weights):
    x = rows.matrix[i]
    if are_few_tiles(change.size):
        add_outer_product(x, change, weights)
    else:
        for j in range(x.size):
            value = x[j]
            if value != 0:
                for k in range(change.size):
                    weights[j, k] += value * change[k]
    if rows.intercept != 0.0:
        for k in range(change.size):
            weights[x.size, k] += rows.intercept * change[k]


@operations.prefetch_row.register(DenseRows)
def _(rows, i):
    prefetch(rows.matrix[i])


@summing_kernel
def _dot(row, vector):
    total = 0.0
    for j in range(row.size):
        total += row[j] * vector[j]
    return total


@operations.dot_row.register(DenseRows)
def _(rows, i, vector):
    total = _dot(rows.matrix[i], vector)
    if rows.intercept != 0.0:
        total += rows.intercept * vector[vector.size - 1]
    return total


@operations.add_row.register(DenseRows)
def _(rows, i, weight, vector):
    d = rows.matrix.shape[1]
    for j in range(d):
        vector[j] += weight * rows.matrix[i, j]
    if rows.intercept != 0.0:
        vector[d] += weight * rows.intercept


@kernel
def _gather(matrix, block, intercept, out):
    """Copy the rows `block` to `out`, in the order in which they lie in memory."""
    d = matrix.shape[1]
    if abs(matrix.strides[0]) >= abs(matrix.strides[1]):
        for i in range(block.size):
            row = matrix[block[i]]
            for j in range(d):
                out[i, j] = row[j]
    else:
        for j in range(d):
            for i in range(block.size):
                out[i, j] = matrix[block[i], j]
    if out.shape[1] > d:
        out[:, d] = intercept


@operations.pick.register(DenseRows)
def _(rows, block):
    picked = np.empty((len(block), operations.model_rows(rows)), rows.dtype)
    _gather(rows.matrix, block, rows.intercept, picked)
    return picked


@operations.block_scores.register(DenseRows)
def _(rows, block, picked, model):
    return picked @ model


@operations.block_gram.register(DenseRows)
def _(rows, block, picked, other, other_picked):
    return picked @ other_picked.T


@operations.block_apply.register(DenseRows)
def _(rows, block, picked, change, model, part, parts):
    add_transposed(model, picked, change, *bounds(len(model), part, parts))


@operations.n_rows.register(DenseRows)
def _(rows):
    return rows.matrix.shape[0]


@operations.model_rows.register(DenseRows)
def _(rows):
    return rows.matrix.shape[1] + (rows.intercept != 0.0)


@operations.is_linear.register(DenseRows)
def _(rows):
    return True


@operations.n_features.register(DenseRows)
def _(rows):
    return rows.matrix.shape[1]


@operations.n_stored.register(DenseRows)
def _(rows):
    return rows.matrix.size


@operations.squared_norms.register(DenseRows)
def _(rows):
    norms = np.empty(len(rows.matrix))
    _squared_norms(rows.matrix, norms)
    return norms + rows.intercept**2


@summing_kernel
def _squared_norms(matrix, out):
    for i in range(out.size):
        row, total = matrix[i], 0.0
        for j in range(row.size):
            total += np.float64(row[j]) * np.float64(row[j])
        out[i] = total


@operations.scores.register(DenseRows)
def _(rows, first, last, model):
    return scores_by_weights(rows, rows.matrix[first:last], model)


@operations.accumulate.register(DenseRows)
def _(rows, coefficients, model, part, parts):
    n, d = rows.matrix.shape
    first, last = bounds(d, part, parts)
    with_intercept = rows.intercept != 0.0 and last == d  # the last part has it
    model[first : last + with_intercept] = 0.0
    for some in chunks(n, model.shape[1]):
        a = coefficients(some)
        add_transposed(model, rows.matrix[some], a, first, last)
        if with_intercept:
            # As a product: NumPy's own sum over the rows of a narrow matrix is slow.
            model[d] += np.full(len(a), rows.intercept, rows.dtype) @ a


@operations.inner.register(DenseRows)
def inner_of_weights(rows, model, coefficients, other):
    """Return the inner product of two matrices of weights."""
    total = 0.0
    for some in slices(0, len(model)):
        one, two = (array[some].ravel().astype(np.float64, copy=False) for array in (model, other))
        total += float(one @ two)
    return total


@operations.new_scores.register(DenseRows)
def scores_by_weights(rows, X, weights):
    """Return X W, where the last row of `W` may be that of the intercept."""
    d = X.shape[1]
    scores = np.asarray(X @ weights[:d])
    if len(weights) > d:
        scores += rows.dtype.type(rows.intercept) * weights[d]
    return scores


@operations.weights.register(DenseRows)
def weights_of_model(rows, model, coefficients):
    """Return the model, which is the weights."""
    return model


@operations.take.register(DenseRows)
def _(rows, examples):
    return DenseRows(operations.pick(rows, examples), 0.0)


@operations.dense.register(DenseRows)
def _(rows, examples):
    return operations.pick(rows, examples)


@operations.squares_times.register(DenseRows)
def _(rows, weights):
    n, m = weights.shape
    total = np.zeros((operations.model_rows(rows), m), rows.dtype)
    for some in chunks(n, max(total.shape)):
        picked = operations.pick(rows, np.arange(some.start, some.stop))
        total += (picked * picked).T @ weights[some]
    return total


@operations.has_linear_form.register(DenseRows)
def always(rows):
    """Return that there is one."""
    return True


@operations.as_linear.register(DenseRows)
def itself(rows):
    """Return the storage, which is linear, and what changes nothing."""
    return rows, lambda weights: weights


@operations.contents.register(DenseRows)
def _(rows):
    return rows.matrix, np.array([rows.intercept])


@operations.are_loops_faster.register(DenseRows)
def _(rows, m):
    d = rows.matrix.shape[1]
    return d < _FEW_COLUMNS or d * m <= _FEW_WEIGHTS


@operations.in_order.register(DenseRows)
def _(rows, block):
    # Memory that is read-only would be a type of its own to the compiler, too.
    if rows.matrix.flags.c_contiguous and rows.matrix.flags.writeable:
        return rows, block
    return DenseRows(operations.pick(rows, block), 0.0), np.arange(block.size)


@operations.consecutive.register(DenseRows)
def _(rows):
    if _is_mapped(rows.matrix):
        bytes_of_a_row = max(1, rows.matrix.shape[1] * rows.dtype.itemsize)
        return max(1, _MAPPED_CHUNK // bytes_of_a_row)
    if abs(rows.matrix.strides[0]) < abs(rows.matrix.strides[1]):
        return LINE // rows.dtype.itemsize
    return 1


def _is_mapped(array: Any) -> bool:
    """Whether the memory of an array is a file's."""
    while isinstance(array, np.ndarray):
        if isinstance(array, np.memmap):
            return True
        array = array.base
    return isinstance(array, mmap.mmap)
