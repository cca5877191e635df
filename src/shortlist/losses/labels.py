"""True labels: one label or a set of labels an example, in one form for all losses.

`Labels` holds the sorted labels of example `i` at
``indices[offsets[i]:offsets[i + 1]]``. `to_front` moves them to the front of a vector of
scores, `from_front` undoes that.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist._arrays import take_ranges
from shortlist._jit import kernel


class Labels(NamedTuple):
    """The labels of all examples, of `m` classes."""

    offsets: NDArray[np.int64]
    indices: NDArray[np.int64]
    m: int

    @property
    def n(self) -> int:
        """The number of examples."""
        return self.offsets.size - 1

    @property
    def owners(self) -> NDArray[np.int64]:
        """The example of each of the `indices`."""
        return np.repeat(np.arange(self.n), np.diff(self.offsets))

    def indicators(self, dtype: Any = np.float64) -> scipy.sparse.csr_array:
        """Return the labels as a sparse matrix of zeros and ones."""
        ones = np.ones(self.indices.size, dtype)
        return scipy.sparse.csr_array((ones, self.indices, self.offsets), shape=(self.n, self.m))

    def take(self, examples: NDArray[np.int64]) -> Labels:
        """Return the labels of some examples."""
        offsets, at = take_ranges(self.offsets, examples)
        return Labels(offsets, self.indices[at], self.m)


@kernel
def to_front(values, labels):
    """Move the elements at the sorted positions `labels` to the front, in place."""
    for i in range(labels.size):
        j = labels[i]
        values[i], values[j] = values[j], values[i]


@kernel
def from_front(values, labels):
    """Undo `to_front`."""
    for i in range(labels.size - 1, -1, -1):
        j = labels[i]
        values[i], values[j] = values[j], values[i]


def as_labels(y: Any, m: int | None = None) -> Labels:
    """Return labels given as numbers, as an indicator matrix or as lists, of `m` classes.

    Parameters
    ----------
    y : array_like, sparse matrix or sequence
        One integer an example; or a dense or sparse matrix with `m` columns that is not
        zero where a label holds; or one sequence of integers an example.
    m : int, optional
        The number of classes; by default the columns of the matrix, or the largest label + 1.

    Returns
    -------
    Labels
    """
    if isinstance(y, Labels):
        return y
    if scipy.sparse.issparse(y):
        return _from_matrix(scipy.sparse.csr_array(y), m)
    if _is_ragged(y):
        return _from_lists(y, m)
    array = np.asarray(y)
    if array.ndim == 1:
        return _from_numbers(array, m)
    if array.ndim == 2:
        return _from_array(array, m)
    raise ValueError(
        f"labels have {array.ndim} dimensions; pass numbers, or a matrix of indicators."
    )


def _is_ragged(y: Any) -> bool:
    """Whether `y` is a sequence of sequences (a matrix as nested lists counts as one)."""
    return (
        not hasattr(y, "shape")  # as arrays have, and data frames
        and len(y) > 0
        and all(isinstance(row, Iterable) for row in y)
    )


def _from_numbers(y: NDArray[Any], m: int | None) -> Labels:
    if y.dtype.kind not in "iu":
        raise TypeError(f"labels have dtype {y.dtype}; pass integers from 0.")
    m = _check_range(y, m)
    return Labels(np.arange(y.size + 1, dtype=np.int64), y.astype(np.int64), m)


def _from_array(array: NDArray[Any], m: int | None) -> Labels:
    _check_columns(array.shape[1], m)
    holds = array.astype(bool)
    offsets = np.zeros(len(array) + 1, np.int64)
    np.cumsum(np.count_nonzero(holds, axis=1), out=offsets[1:])
    return Labels(offsets, np.nonzero(holds)[1], array.shape[1])


def _from_matrix(matrix: scipy.sparse.csr_array, m: int | None) -> Labels:
    _check_columns(matrix.shape[1], m)
    matrix = matrix.astype(bool)
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return Labels(matrix.indptr.astype(np.int64), matrix.indices.astype(np.int64), matrix.shape[1])


def _check_columns(columns: int, m: int | None) -> None:
    if m is not None and columns != m:
        raise ValueError(f"the label matrix has {columns} columns; there are {m} classes.")


def _from_lists(rows: Iterable[Iterable[Any]], m: int | None) -> Labels:
    sets = [np.unique(np.asarray(list(row), dtype=np.int64)) for row in rows]
    offsets = np.cumsum([0, *(len(labels) for labels in sets)]).astype(np.int64)
    indices = np.concatenate(sets) if sets else np.empty(0, np.int64)
    return Labels(offsets, indices, _check_range(indices, m))


def _check_range(labels: NDArray[Any], m: int | None) -> int:
    """Return the number of classes, after a look at every label."""
    if m is None:
        m = int(labels.max()) + 1 if labels.size else 0
    outside = np.flatnonzero((labels < 0) | (labels >= m))
    if outside.size:
        at = int(outside[0])
        raise ValueError(f"label number {at} is {labels[at]}; labels run from 0 to {m - 1}.")
    return m
