"""The examples: how X is stored, and what a solver needs of it.

A storage knows no loss, and a loss no storage. `as_storage` is the one place that turns a
user's X into a storage; `kernel` makes one of a kernel.
"""

from __future__ import annotations

from typing import Any, TypeAlias

import scipy.sparse

from shortlist._arrays import as_nonnegative
from shortlist.rows import operations
from shortlist.rows.convert import as_csr, as_matrix
from shortlist.rows.csr import CsrRows
from shortlist.rows.dense import DenseRows
from shortlist.rows.kernel import KernelRows, kernel

__all__ = ["CsrRows", "DenseRows", "KernelRows", "Storage", "as_storage", "kernel"]

Storage: TypeAlias = DenseRows | CsrRows | KernelRows


def as_storage(X: Any, intercept: float = 0.0) -> Storage:
    """Return the storage of a matrix with one example a row.

    Nothing is copied that can be served as it is: float32 and float64 arrays in any memory
    order, memory maps, CSR matrices.

    Parameters
    ----------
    X : array_like, sparse matrix or storage
        The examples.
    intercept : float
        A further column of this constant; 0 adds none.

    Returns
    -------
    Storage

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import rows
    >>> X = np.ones((3, 2), np.float32)
    >>> rows.as_storage(X).matrix is X
    True
    """
    intercept = as_nonnegative(intercept, "intercept")
    if operations.pick.serves(type(X)):  # a storage, also one from outside of this package
        return X._replace(intercept=intercept) if intercept else X
    if scipy.sparse.issparse(X):
        matrix = as_csr(X, "X")
        return CsrRows(matrix.data, matrix.indices, matrix.indptr, matrix.shape[1], intercept)
    return DenseRows(as_matrix(X, "X"), intercept)
