"""A sparse matrix by rows; it is never made dense."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.rows.operations import add_outer, add_scores, n_columns, n_rows, squared_norm


class CsrRows(NamedTuple):
    """The rows of a matrix in compressed sparse row format."""

    data: FloatArray
    indices: NDArray[Any]
    offsets: NDArray[Any]
    columns: int

    @property
    def dtype(self) -> np.dtype[Any]:
        """The precision of the rows."""
        return self.data.dtype


@squared_norm.register(CsrRows)
def _(rows, i):
    total = 0.0
    for j in range(rows.offsets[i], rows.offsets[i + 1]):
        value = np.float64(rows.data[j])
        total += value * value
    return total


@add_scores.register(CsrRows)
def _(rows, i, weights, out):
    for j in range(rows.offsets[i], rows.offsets[i + 1]):
        value, column = rows.data[j], rows.indices[j]
        for k in range(out.size):
            out[k] += value * weights[column, k]


@add_outer.register(CsrRows)
def _(rows, i, change, weights):
    for j in range(rows.offsets[i], rows.offsets[i + 1]):
        value, column = rows.data[j], rows.indices[j]
        for k in range(change.size):
            weights[column, k] += value * change[k]


@n_rows.register(CsrRows)
def _(rows):
    return rows.offsets.size - 1


@n_columns.register(CsrRows)
def _(rows):
    return rows.columns
