"""The examples of a loss and of a storage of one's own do what they promise."""

import importlib.util

import numpy as np
import pytest
import scipy.sparse
from sklearn.linear_model import Ridge

from docs.snippets import ROOT
from shortlist import MultilabelClassifier, losses, solve


def example(name):
    spec = importlib.util.spec_from_file_location(name, ROOT / "examples" / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def loss():
    if "squared_error" not in losses.names():
        example("own_loss")
    return losses.make("squared_error", weight=2)


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(80, 7)) * (rng.random((80, 7)) < 0.7)
    return X, np.eye(4, dtype=bool)[rng.integers(0, 4, 80)] | (rng.random((80, 4)) < 0.2)


def test_the_value_is_the_definition_and_the_gradient_its_slope(loss):
    u, labels = np.random.default_rng(1).normal(size=(5, 4)), [[0], [1, 2], [], [3], [0, 1, 2, 3]]
    targets = np.array([[j in some for j in range(4)] for some in labels])
    np.testing.assert_allclose(losses.value(loss, u, labels), ((u - targets) ** 2).sum(axis=1))
    np.testing.assert_allclose(losses.gradient(loss, u, labels), 2 * (u - targets))
    hessian = losses.hessian_times(loss, u, labels, np.ones((5, 4)))
    np.testing.assert_allclose(hessian, 2.0)


@pytest.mark.parametrize("solver", ["sdca", "newton"])
def test_the_loss_trains_ridge_regression(loss, data, solver):
    X, Y = data
    solution = solve(X, Y, loss, C=0.5, tol=1e-12, solver=solver)
    assert solution.converged
    ridge = Ridge(alpha=1.0, fit_intercept=False).fit(X, Y.astype(float))
    np.testing.assert_allclose(solution.weights, ridge.coef_.T, atol=1e-5)


def test_the_loss_serves_an_estimator(loss, data):
    X, Y = data
    model = MultilabelClassifier("squared_error", threshold=0.5, random_state=0).fit(X, Y)
    assert model.converged_
    assert model.predict(X).shape == Y.shape


@pytest.mark.parametrize("solver", ["sdca", "newton"])
@pytest.mark.parametrize("intercept", [0.0, 1.0])
def test_the_storage_trains_what_stacked_columns_train(data, solver, intercept):
    X, Y = data
    y = Y.argmax(axis=1)
    own = example("own_storage").side_by_side(X[:, :3], scipy.sparse.csr_array(X[:, 3:]))
    options = {"C": 0.3, "tol": 1e-10, "solver": solver, "intercept": intercept}
    ours = solve(own, y, losses.svm(smoothing=1.0), **options)
    stacked = solve(X, y, losses.svm(smoothing=1.0), **options)
    assert ours.converged
    assert ours.certificate.primal == pytest.approx(stacked.certificate.primal, rel=1e-9)
    np.testing.assert_allclose(ours.weights, stacked.weights, atol=1e-4)


def test_the_storage_refuses_what_does_not_fit(data):
    side_by_side = example("own_storage").side_by_side
    with pytest.raises(ValueError, match="different numbers of rows"):
        side_by_side(data[0], data[0][:3])
    with pytest.raises(ValueError, match="make them alike"):
        side_by_side(data[0], data[0].astype(np.float32))
