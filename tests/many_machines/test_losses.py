"""Every convex loss on two processes, on rows that are spread in the worst of ways."""

import dask.array as da
import numpy as np
import pytest
import scipy.sparse

from shortlist import losses, solve
from shortlist.dask import MultilabelClassifier, TopKClassifier
from solvers.cases import CASES, data

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")

C, TOL = 0.1, 1e-3
#: Rows in each chunk, of 60: one, none, and most of them.
UNEVEN = (25, 0, 1, 34)


def by_label(name):
    """Return a problem whose rows are sorted by their (first) label."""
    X, y = data(name, n=60)
    order = np.argsort(y if y.ndim == 1 else y.argmax(axis=1), kind="stable")
    return X[order], y[order]


def fit(loss, X, y, sparse=False, chunks=UNEVEN, **options):
    lX = da.from_array(X, chunks=(chunks, X.shape[1:]))
    ly = da.from_array(y, chunks=(chunks, *((size,) for size in y.shape[1:])))
    if sparse:
        lX = lX.map_blocks(scipy.sparse.csr_array)
    kind = TopKClassifier if y.ndim == 1 else MultilabelClassifier
    return kind(loss, C=C, tol=TOL, random_state=0, **options).fit(lX, ly)


def check(model, loss, X, y):
    """The certificate is true for the weights, and they are as good as it says."""
    assert model.converged_
    assert model.certificate_.gap <= TOL
    weights = np.vstack([model.coef_.T, model.intercept_])
    scores = X @ model.coef_.T + model.intercept_
    primal = 0.5 * (weights**2).sum() + C * losses.value(loss, scores, y).sum()
    assert model.certificate_.primal == pytest.approx(primal, rel=1e-9)
    optimum = solve(X, y, loss, C=C, intercept=1.0, tol=1e-7).certificate
    assert model.certificate_.dual <= optimum.primal * (1 + 1e-12)
    assert optimum.dual <= primal <= optimum.primal * (1 + TOL)


@pytest.mark.parametrize("sparse", [False, True], ids=["dense", "sparse"])
@pytest.mark.parametrize(("name", "p"), CASES, ids=str)
def test_every_loss_ends_at_the_optimum_of_one_machine(client, name, p, sparse):
    X, y = by_label(name)
    loss = losses.make(name, **p)
    check(fit(loss, X, y, sparse, client=client), loss, X, y)


@pytest.mark.parametrize("solver", ["accelerated", "cocoa", "lbfgs"])
@pytest.mark.parametrize("chunks", [(60,), (15, 15, 15, 15), (0, 59, 1)], ids=str)
def test_every_layout_has_the_same_optimum(client, chunks, solver):
    X, y = by_label("svm")
    loss = losses.svm(smoothing=0.5)
    classes = [np.unique(some).size for some in np.split(y, np.cumsum(chunks)[:-1])]
    assert min(classes) < 4 or len(chunks) == 1  # some class is missing from a partition
    check(fit(loss, X, y, chunks=chunks, solver=solver, client=client), loss, X, y)
