"""Every convex loss on small real data, over the whole range of C: converged, or honest."""

import numpy as np
import pytest
from sklearn.datasets import load_digits

import real_data
from shortlist import datasets, losses, path
from shortlist.losses.operations import traits
from shortlist.solvers import Status
from solvers.cases import both_precisions, every_loss, objectives_from_scratch


def load(name):
    """The first rows of a set, scaled to [-1, 1], with label sets."""
    if name == "digits":
        X, y = load_digits(return_X_y=True)
        return X[:150] / 16, y[:150]
    real_data.folder()
    data = datasets.load(name)
    X, Y = data.X[:150].astype(np.float64), data.y[:150].toarray()
    return X / np.maximum(np.abs(X).max(axis=0), 1e-12), Y


@every_loss
@both_precisions
@pytest.mark.parametrize("data", ["digits", "emotions", "yeast"])
def test_converged_or_honest_over_the_whole_range(data, name, p, dtype):
    X, y = load(data)
    loss = losses.make(name, **p)
    if y.ndim == 2 and not traits(loss).multilabel:
        X, y = X[y.any(axis=1)], y[y.any(axis=1)].argmax(axis=1)
    X = X.astype(dtype)
    single = dtype is np.float32
    tol, rounding = (1e-5, 1e-4) if single else (1e-10, 1e-7)
    Cs = 2.0 ** np.array([-20, -10, -5, 0, 5, 15])
    m = y.shape[1] if y.ndim == 2 else int(y.max()) + 1
    for C, solution in zip(
        Cs, path(X, y, loss, Cs=Cs, n_classes=m, tol=tol, max_epochs=200), strict=True
    ):
        c = np.full(len(X), C)
        _, dual, _ = objectives_from_scratch(loss, X, y, c, solution.duals)
        W = solution.weights.astype(np.float64)
        primal = 0.5 * (W**2).sum() + c @ losses.value(loss, X.astype(np.float64) @ W, y)
        # Scores are rounded, and so are the losses that C multiplies.
        rounded = rounding * max(abs(primal), abs(dual)) + single * 1e-6 * c.sum()
        assert np.isfinite(solution.weights).all()
        np.testing.assert_allclose(solution.certificate, (primal, dual), atol=rounded)
        assert solution.status in (Status.CONVERGED, Status.MAX_EPOCHS, Status.NO_PROGRESS)
        assert solution.converged == (solution.certificate.gap <= tol)
        # Each dual objective is a sum of numbers of order 1, rounded, times C.
        least = 1e-5 if single else 1e-13 + np.finfo(float).eps * c.sum() / abs(primal)
        assert solution.certificate.gap >= -least
        if C * (X.astype(np.float64) ** 2).sum(axis=1).max() <= 1e-3:
            # Without smoothing the gap falls steadily, too, but more slowly.
            smooth = p.get("smoothing", 1.0) > 0.0
            assert solution.certificate.gap <= (tol if smooth else max(tol, 1e-7)), C
