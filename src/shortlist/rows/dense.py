"""A matrix in memory, or mapped from a file."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.rows.operations import add_outer, add_scores, n_columns, n_rows, squared_norm


class DenseRows(NamedTuple):
    """The rows of a C-ordered matrix."""

    matrix: FloatArray

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the rows."""
        return self.matrix.dtype


@squared_norm.register(DenseRows)
def _(rows, i):
    total = 0.0
    for j in range(rows.matrix.shape[1]):
        value = np.float64(rows.matrix[i, j])
        total += value * value
    return total


@add_scores.register(DenseRows)
def _(rows, i, weights, out):
    for j in range(rows.matrix.shape[1]):
        value = rows.matrix[i, j]
        if value != 0:
            for k in range(out.size):
                out[k] += value * weights[j, k]


@add_outer.register(DenseRows)
def _(rows, i, change, weights):
    for j in range(rows.matrix.shape[1]):
        value = rows.matrix[i, j]
        if value != 0:
            for k in range(change.size):
                weights[j, k] += value * change[k]


@n_rows.register(DenseRows)
def _(rows):
    return rows.matrix.shape[0]


@n_columns.register(DenseRows)
def _(rows):
    return rows.matrix.shape[1]
