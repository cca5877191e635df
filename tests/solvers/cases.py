"""Losses, problems and storages that the solver's tests share."""

import numpy as np
import pytest
import scipy.sparse

from shortlist import losses, rows

#: One case of each class of loss, smooth and not where it can be.
CASES = [
    ("ova_svm", {"smoothing": 0.0}),
    ("ova_svm", {"smoothing": 0.5}),
    ("ova_logistic", {}),
    ("svm", {"smoothing": 0.0}),
    ("softmax", {}),
    ("topk_svm_alpha", {"k": 2, "smoothing": 0.0}),
    ("topk_svm_alpha", {"k": 2, "smoothing": 0.5}),
    ("topk_svm_beta", {"k": 2, "smoothing": 0.5}),
    ("topk_entropy", {"k": 2}),
    ("topk_entropy_beta", {"k": 2}),
    ("topk_svm_consistent", {"k": 2, "smoothing": 0.0}),
    ("topk_svm_consistent", {"k": 2, "smoothing": 0.5}),
    ("multilabel_svm", {"smoothing": 0.5}),
    ("multilabel_softmax", {"normalize": True}),
    ("multilabel_softmax", {"normalize": False}),
]
every_loss = pytest.mark.parametrize(("name", "p"), CASES, ids=lambda value: str(value))
both_precisions = pytest.mark.parametrize("dtype", [np.float64, np.float32])


def data(name, n=30, d=5, m=4, seed=0):
    """A small problem with a zero row; label sets, one of them empty, where they are allowed."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, m)) + rng.normal(size=(n, m))).argmax(axis=1)
    X[3] = 0.0
    if name.startswith(("multilabel", "ova")):
        y = (np.eye(m)[y] + (rng.random((n, m)) < 0.3)) > 0
        y[5] = False
    return X, y


def sets_of(y):
    return [np.flatnonzero(row) for row in y] if y.ndim == 2 else [[label] for label in y]


def objectives_from_scratch(loss, X, y, c, duals, anchor=0.0, weights=None):
    """Both objectives from the definitions, in plain NumPy and float64, and W(v).

    The dual one is that of `duals`, the primal one that of `weights`, by default W(v).
    """
    X, duals = np.asarray(X, np.float64), np.asarray(duals, np.float64)
    own = anchor - (X * c[:, None]).T @ duals
    across = ((own - anchor) * anchor).sum() + 0.5 * ((own - anchor) ** 2).sum()
    weights = own if weights is None else np.asarray(weights, np.float64)
    half = 0.5 * ((weights - anchor) ** 2).sum()
    primal = half + c @ losses.value(loss, X @ weights, y)
    return primal, -c @ losses.conjugate(loss, duals, y) - across, own


def mapped(X, folder):
    file = folder / "X.npy"
    np.save(file, X)
    return np.load(file, mmap_mode="r")


#: Every storage of the same matrix.
STORAGES = {
    "rows in order": lambda X, _: X,
    "columns in order": lambda X, _: np.asfortranarray(X),
    "part of a matrix": lambda X, _: np.repeat(X, 2, axis=1)[:, ::2],
    "memory map": mapped,
    "sparse": lambda X, _: scipy.sparse.csr_array(X),
    "Gram matrix": lambda X, _: rows.kernel(X @ X.T, "precomputed"),
    "kernel in blocks": lambda X, _: rows.kernel(X, lambda A, B: A @ B.T, cache_size=0),
}


def with_constant(X, value):
    """Return X with the column of an intercept, dense."""
    X = X.toarray() if scipy.sparse.issparse(X) else X
    return np.hstack([X, np.full((len(X), 1), value)]) if value else X
