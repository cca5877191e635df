r"""A kernel in place of inner products: :math:`K_{ij} = \langle \phi(x_i), \phi(x_j) \rangle`.

The weights live in a feature space that is never entered. What is kept is the score of
every class for every example, changed with each block: the model is that array, and the
trained weights are the coefficients :math:`a_i` of :math:`W = \sum_i \phi(x_i) a_i'`.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
import scipy.linalg
import scipy.sparse
from numpy.typing import NDArray

from shortlist._arrays import FloatArray, as_choice, as_finite, as_positive
from shortlist.rows import operations
from shortlist.rows.convert import as_csr, as_matrix
from shortlist.rows.dense import DenseRows
from shortlist.rows.products import add_transposed, bounds, chunks, slices

#: ``function(A, B)`` returns the kernel between the rows of A and those of B.
KernelFunction = Callable[[Any, Any], Any]


class KernelRows(NamedTuple):
    """Examples known by a kernel, to which ``intercept**2`` is added.

    Examples
    --------
    >>> from shortlist import rows
    >>> rows.kernel([[0.0], [1.0]], "rbf", gamma=1.0).diagonal
    array([1., 1.])
    """

    points: Any  # the examples; where only kernel values are known, these
    function: KernelFunction | None  # None where only kernel values are known
    computed: FloatArray | None  # the kernel of all pairs, or None: computed in blocks
    diagonal: NDArray[np.float64]
    dtype: np.dtype[Any]
    intercept: float


def kernel(
    X: Any,
    function: str | KernelFunction = "rbf",
    *,
    gamma: float | str = "scale",
    degree: float = 3,
    coef0: float = 0.0,
    cache_size: float = 1000.0,
) -> KernelRows:
    r"""Return examples whose inner products are those of a kernel, to be passed as X.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, d)
        The examples; with "precomputed" the matrix of their kernel, shape (n, n).
    function : {"rbf", "poly", "precomputed"} or callable
        :math:`\exp(-\gamma \|x - z\|^2)`, :math:`(\gamma \langle x, z \rangle + c_0)^{degree}`,
        or a function of two matrices that returns the kernel of their rows. It must be
        positive semi-definite; several threads may call it at the same time.
    gamma : float, "scale" or "auto"
        :math:`\gamma`; "scale" is 1 / (d times the variance of X), "auto" is 1 / d.
    degree : float
        The degree of the polynomial.
    coef0 : float
        The constant :math:`c_0` of the polynomial.
    cache_size : float
        Megabytes: where the kernel of all pairs fits it is computed once, else in blocks,
        anew in each pass.

    Returns
    -------
    KernelRows

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import rows, solve
    >>> X, y = np.array([[0.0, 0], [1, 1], [0, 1], [1, 0]]), [0, 0, 1, 1]
    >>> examples = rows.kernel(X, "rbf", gamma=1.0)
    >>> solution = solve(examples, y, "svm", C=10.0)
    >>> (examples.function(X, X) @ solution.weights).argmax(axis=1)
    array([0, 0, 1, 1])
    """
    if isinstance(function, str) and function == "precomputed":
        return _precomputed(as_matrix(X, "the kernel matrix"))
    points = as_csr(X, "X") if scipy.sparse.issparse(X) else as_matrix(X, "X")
    if not callable(function):
        function = _named(points, function, gamma, degree, coef0)
    n, dtype = points.shape[0], points.dtype
    rows = KernelRows(points, function, None, np.zeros(n), dtype, 0.0)
    if float(n) ** 2 * dtype.itemsize <= cache_size * 1e6:
        computed = between(rows, points, points)
        rows, diagonal = rows._replace(computed=computed), np.diagonal(computed)
    else:
        squares = (between(rows, points[some], points[some]) for some in slices(0, n, 64))
        diagonal = np.concatenate([np.diagonal(square) for square in squares])
    return rows._replace(diagonal=_checked(diagonal))


def only_scoring(rows: KernelRows, some: NDArray[np.int64]) -> KernelRows:
    """Return what `new_scores` needs of some of the examples, and no more."""
    points = np.empty((some.size, 0)) if rows.function is None else rows.points[some]
    return rows._replace(points=points, computed=None, diagonal=np.empty(0))


def _named(X: Any, name: str, gamma: float | str, degree: float, coef0: float) -> KernelFunction:
    from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

    as_choice(name, ("rbf", "poly", "precomputed"), "the kernel")
    if isinstance(gamma, str):
        as_choice(gamma, ("scale", "auto"), "gamma")
        spread = 1.0 if gamma == "auto" else _variance(X)
        gamma = 1.0 / (X.shape[1] * (spread or 1.0))
    gamma = as_positive(gamma, "gamma")
    if name == "rbf":
        return functools.partial(rbf_kernel, gamma=gamma)
    degree, coef0 = as_positive(degree, "degree"), as_finite(coef0, "coef0")
    return functools.partial(polynomial_kernel, gamma=gamma, degree=degree, coef0=coef0)


def _variance(X: Any) -> float:
    if scipy.sparse.issparse(X):
        return float(X.multiply(X).mean() - X.mean() ** 2)
    return float(X.var(dtype=np.float64))


def _precomputed(matrix: FloatArray) -> KernelRows:
    n = len(matrix)
    if matrix.shape != (n, n):
        raise ValueError(f"the kernel matrix has shape {matrix.shape}; it must be square.")
    largest = float(np.abs(np.diagonal(matrix)).max())
    some = np.random.default_rng(0).integers(0, n, (2, 1000))
    if np.abs(matrix[some[0], some[1]] - matrix[some[1], some[0]]).max() > 1e-4 * largest:
        raise ValueError("the kernel matrix is not symmetric.")
    return KernelRows(matrix, None, matrix, _checked(np.diagonal(matrix)), matrix.dtype, 0.0)


def _checked(diagonal: FloatArray) -> NDArray[np.float64]:
    negative = np.flatnonzero(diagonal < 0.0)
    if negative.size:
        i = int(negative[0])
        raise ValueError(
            f"the kernel of example {i} with itself is {diagonal[i]}; "
            "a positive semi-definite kernel has none below 0."
        )
    return diagonal.astype(np.float64)


def between(rows: KernelRows, A: Any, B: Any) -> FloatArray:
    """Return the kernel of the rows of `A` with those of `B`, checked."""
    assert rows.function is not None
    values = rows.function(A, B)
    if scipy.sparse.issparse(values):
        values = values.toarray()
    values = np.ascontiguousarray(values, dtype=rows.dtype)
    if values.shape != (A.shape[0], B.shape[0]):
        raise ValueError(
            f"the kernel returned shape {values.shape} for {A.shape[0]} and {B.shape[0]} examples."
        )
    if not np.isfinite(values).all():
        raise ValueError("the kernel returned values that are not finite.")
    return values


@operations.pick.register(KernelRows)
def _(rows, block):
    if rows.computed is not None:
        picked = rows.computed[block]
    else:
        picked = between(rows, rows.points[block], rows.points)
    if rows.intercept != 0.0:
        picked += rows.dtype.type(rows.intercept**2)
    return picked


@operations.block_scores.register(KernelRows)
def _(rows, block, picked, model):
    return model[block]


@operations.block_gram.register(KernelRows)
def _(rows, block, picked, other, other_picked):
    return np.ascontiguousarray(picked[:, other])


@operations.block_apply.register(KernelRows)
def _(rows, block, picked, change, model, part, parts):
    add_transposed(model, picked, change, *bounds(len(model), part, parts))


@operations.n_rows.register(KernelRows)
def _(rows):
    return rows.points.shape[0]


@operations.model_rows.register(KernelRows)
def _(rows):
    return rows.points.shape[0]


@operations.is_linear.register(KernelRows)
def _(rows):
    return False


@operations.n_features.register(KernelRows)
def _(rows):
    return rows.points.shape[1]


@operations.n_stored.register(KernelRows)
def _(rows):
    return rows.points.shape[0] ** 2


@operations.squared_norms.register(KernelRows)
def _(rows):
    return rows.diagonal + rows.intercept**2


@operations.scores.register(KernelRows)
def _(rows, first, last, model):
    return model[first:last]


@operations.accumulate.register(KernelRows)
def _(rows, coefficients, model, part, parts):
    n, m = model.shape
    for some in slices(*bounds(n, part, parts)):
        picked = operations.pick(rows, np.arange(some.start, some.stop))
        model[some] = 0.0
        for others in chunks(n, m):
            model[some] += picked[:, others] @ coefficients(others)


@operations.inner.register(KernelRows)
def _(rows, model, coefficients, other):
    total = 0.0
    for some in chunks(*model.shape):
        total += float(np.einsum("ij,ij->", other[some], coefficients(some), dtype=np.float64))
    return total


@operations.new_scores.register(KernelRows)
def _(rows, X, weights):
    scores = np.empty((X.shape[0], weights.shape[1]), rows.dtype)
    for some in chunks(X.shape[0], rows.points.shape[0]):
        values = X[some] if rows.function is None else between(rows, X[some], rows.points)
        scores[some] = values @ weights
    return scores + rows.dtype.type(rows.intercept**2) * weights.sum(axis=0)


@operations.weights.register(KernelRows)
def _(rows, model, coefficients):
    return coefficients(slice(0, len(model)))


@operations.has_linear_form.register(KernelRows)
def _(rows):
    return rows.computed is not None


@operations.as_linear.register(KernelRows)
def _(rows):
    r"""Factor the kernel matrix, :math:`K = L L'`: the rows of `L` are the examples.

    With pivots, so that a singular matrix has a factor of few columns; weights are then
    combinations of the examples that were pivots.
    """
    if rows.computed is None:
        raise ValueError(
            "this method needs the kernel of all pairs in memory: raise cache_size of the "
            'kernel, or choose solver="accelerated".'
        )
    whole = rows.computed.astype(np.float64) + rows.intercept**2
    # What is left where values are rounded would be divided by, and make weights huge.
    ours, theirs = (float(np.finfo(kind).eps) for kind in (np.float64, rows.dtype))
    least = max(8.0 * theirs, len(whole) * ours) * float(np.diagonal(whole).max())
    factor, order, rank, _ = scipy.linalg.lapack.dpstrf(whole, tol=least, lower=1, overwrite_a=1)
    order = order - 1  # LAPACK counts from 1
    lower = np.tril(factor[:, :rank])
    examples = np.empty((len(order), rank), rows.dtype)
    examples[order] = lower

    def coefficients(weights: FloatArray) -> FloatArray:
        out = np.zeros((len(order), weights.shape[1]), rows.dtype)
        out[order[:rank]] = scipy.linalg.solve_triangular(
            lower[:rank], weights.astype(np.float64), lower=True, trans="T"
        )
        return out

    return DenseRows(examples, 0.0), coefficients


@operations.contents.register(KernelRows)
def _(rows):
    sparse = scipy.sparse.issparse(rows.points)
    points = (
        (rows.points.data, rows.points.indices, rows.points.indptr) if sparse else (rows.points,)
    )
    # Kernels of the same points are told apart by some of their values.
    some = operations.pick(rows, np.arange(min(8, rows.points.shape[0])))
    return *points, np.array(rows.points.shape), some, np.array([rows.intercept])


@operations.are_loops_faster.register(KernelRows)
def _(rows, m):
    return False  # one example at a time would change all scores each time


@operations.consecutive.register(KernelRows)
def _(rows):
    return 1
