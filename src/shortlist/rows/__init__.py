"""The examples: how X is stored, and what a solver needs of it.

A storage knows no loss. It gives the scores of an example, takes changes of the weights,
and knows its rows' squared lengths; dense storages also give whole blocks of rows, for
which matrix products are faster. `as_storage` is the one place that turns a user's X into
a storage.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from shortlist._arrays import as_rows, not_finite
from shortlist.rows.csr import CsrRows
from shortlist.rows.dense import DenseRows

__all__ = ["CsrRows", "DenseRows", "as_storage"]


def as_storage(X: Any) -> DenseRows | CsrRows:
    """Return the storage of a matrix with one example a row; no copy if none is needed."""
    if scipy.sparse.issparse(X):
        return _as_csr(X)
    if np.ndim(X) != 2:
        raise ValueError(f"X has {np.ndim(X)} dimensions; pass a matrix with one example a row.")
    matrix = as_rows(X, "X")
    bad = np.flatnonzero(~np.isfinite(matrix.sum(axis=1)))  # rows whose sum overflows, too
    for i in bad:
        if not np.isfinite(matrix[i]).all():
            raise not_finite(matrix[i], "X", (int(i),))
    return DenseRows(matrix)


def _as_csr(X: Any) -> CsrRows:
    matrix = scipy.sparse.csr_array(X)
    if matrix.dtype not in (np.float32, np.float64):
        if matrix.dtype.kind not in "iubf":
            raise TypeError(f"X has dtype {matrix.dtype}; convert it to float32 or float64.")
        matrix = matrix.astype(np.float64)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        column = int(matrix.indices[bad[0]])
        raise ValueError(
            f"X[{row}, {column}] is {matrix.data[bad[0]]}; all elements must be finite."
        )
    return CsrRows(matrix.data, matrix.indices, matrix.indptr, matrix.shape[1])
