"""A user's matrix as the solvers need it: served as it is, or refused with one sentence."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from shortlist._arrays import FloatArray, float_type, not_finite


def as_matrix(X: Any, name: str) -> FloatArray:
    """Return a finite matrix of native float32 or float64, in the memory order it has."""
    matrix = np.asarray(X)
    if matrix.ndim != 2:
        raise ValueError(f"{name} has {matrix.ndim} dimensions; pass a matrix, one example a row.")
    if 0 in matrix.shape:
        raise ValueError(f"{name} has shape {matrix.shape}; there is nothing to learn from.")
    served = float_type(matrix.dtype, name)
    if matrix.dtype != served or not matrix.flags.aligned:
        matrix = matrix.astype(served, order="K")
    _check_finite(matrix, name)
    return matrix


def as_csr(X: Any, name: str) -> scipy.sparse.csr_array:
    """Return a finite sparse matrix by rows, its columns sorted and each there once."""
    if X.ndim != 2:
        raise ValueError(f"{name} has {X.ndim} dimensions; pass a matrix, one example a row.")
    matrix = scipy.sparse.csr_array(X)
    try:
        matrix.check_format(full_check=True)
    except ValueError as error:
        raise ValueError(f"{name} is not a valid sparse matrix: {error}.") from None
    if 0 in matrix.shape:
        raise ValueError(f"{name} has shape {matrix.shape}; there is nothing to learn from.")
    matrix = matrix.astype(float_type(matrix.dtype, name), copy=False)
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    bad = np.flatnonzero(~np.isfinite(matrix.data))
    if bad.size:
        row = int(np.searchsorted(matrix.indptr, bad[0], side="right")) - 1
        raise not_finite(matrix[[row]].toarray()[0], name, (row,))
    return matrix


def _check_finite(matrix: FloatArray, name: str) -> None:
    rows_of_a_megabyte = max(1, (1 << 20) // (matrix.shape[1] * matrix.itemsize))
    for first in range(0, len(matrix), rows_of_a_megabyte):
        some = matrix[first : first + rows_of_a_megabyte]
        # One pass for the common case; a sum of finite elements may overflow, too.
        with np.errstate(all="ignore"):
            total = np.add.reduce(some, axis=None)
        if not np.isfinite(total):
            bad = np.flatnonzero(~np.isfinite(some).all(axis=1))
            if bad.size:
                raise not_finite(some[bad[0]], name, (first + int(bad[0]),))
