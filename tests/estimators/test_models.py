"""That what is fitted is the optimum it claims to be, and what others find, too."""

import warnings

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

from shortlist import MultilabelClassifier, TopKClassifier, losses, solve


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


def objective(model, X, y, loss, C, regularize_intercept=True):
    """Return the objective from its definition; the constant column of the intercept is 1."""
    scores = X @ model.coef_.T + model.intercept_
    values = losses.value(loss, scores, np.searchsorted(model.classes_, y))
    half = 0.5 * np.sum(model.coef_**2)
    if regularize_intercept:
        half += 0.5 * np.sum(model.intercept_**2)
    return half + C * values.sum()


@pytest.mark.parametrize("C", [0.1, 10.0])
def test_softmax_is_logistic_regression(digits, C):
    X, y = digits
    theirs = LogisticRegression(C=C, solver="newton-cholesky", tol=1e-10).fit(X, y)
    ours = TopKClassifier("softmax", C=C, tol=1e-7, regularize_intercept=False).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    centred = theirs.intercept_ - theirs.intercept_.mean()
    np.testing.assert_allclose(ours.intercept_ - ours.intercept_.mean(), centred, atol=1e-4)
    np.testing.assert_allclose(ours.predict_proba(X), theirs.predict_proba(X), atol=1e-4)
    loss = losses.softmax()
    assert objective(ours, X, y, loss, C, False) == pytest.approx(
        objective(theirs, X, y, loss, C, False), rel=1e-6
    )


def test_ova_svm_is_linear_svc(digits):
    X, y = digits
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs = LinearSVC(loss="hinge", C=0.1, tol=1e-7, max_iter=100_000).fit(X, y)
    ours = TopKClassifier("ova_svm", smoothing=0, C=0.1, tol=1e-8).fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=1e-4)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=1e-4)
    loss = losses.ova_svm()
    assert objective(ours, X, y, loss, 0.1) <= objective(theirs, X, y, loss, 0.1) * (1 + 1e-6)


@pytest.mark.parametrize("name", ["svm", "topk_svm_beta", "topk_entropy", "ova_logistic"])
@pytest.mark.parametrize("scaling", [1.0, 3.0])
def test_the_certificate_is_that_of_the_model(digits, name, scaling):
    X, y = digits
    weights = np.random.default_rng(0).uniform(0.0, 2.0, len(y))
    model = TopKClassifier(name, k=3, C=0.5, tol=1e-5, intercept_scaling=scaling)
    model.fit(X, y, sample_weight=weights)
    loss = model._make_loss()
    # The objective in the variables of a user: intercepts cost 1 / scaling^2 as much.
    values = losses.value(loss, X @ model.coef_.T + model.intercept_, y)
    half = 0.5 * np.sum(model.coef_**2) + 0.5 * np.sum(model.intercept_**2) / scaling**2
    primal, dual = model.certificate_
    assert primal == pytest.approx(half + 0.5 * weights @ values, rel=1e-9)
    assert 0.0 <= primal - dual <= 1e-5 * primal
    assert model.converged_
    assert model.status_ == "converged"
    np.testing.assert_allclose(
        X[model.support_].T @ model.dual_coef_, model.coef_.T, atol=2e-2 * np.abs(model.coef_).max()
    )


@pytest.mark.parametrize("name", ["softmax", "svm", "ova_svm"])
@pytest.mark.parametrize("C", [1e-4, 1.0])
def test_a_free_intercept_has_a_certificate_that_holds(digits, name, C):
    X, y = digits
    X = X + 0.5  # so that intercepts matter
    model = TopKClassifier(name, C=C, tol=1e-6, regularize_intercept=False).fit(X, y)
    loss, certificate = model._make_loss(), model.certificate_
    assert model.converged_
    assert certificate.gap <= 1e-6
    assert certificate.primal == pytest.approx(objective(model, X, y, loss, C, False), rel=1e-9)
    # No model whose intercepts are within the radius is better than the bound.
    rng = np.random.default_rng(0)
    for size in (1e-3, 0.1, 1.0):
        direction = rng.normal(size=model.intercept_.size)
        moved = TopKClassifier(name)
        moved.coef_, moved.classes_ = model.coef_, model.classes_
        direction *= size * certificate.radius / np.linalg.norm(direction)
        moved.intercept_ = model.intercept_ + direction
        assert objective(moved, X, y, loss, C, False) >= certificate.dual
    # An intercept that is hardly regularised comes close to it, from above.
    near = TopKClassifier(name, C=C, tol=1e-6, intercept_scaling=100.0).fit(X, y)
    assert objective(near, X, y, loss, C, False) >= certificate.dual
    assert near.certificate_.primal == pytest.approx(certificate.primal, rel=1e-2)


def test_a_weight_of_two_is_the_example_twice_and_of_zero_without_it(digits):
    X, y = digits[0][:200], digits[1][:200]
    rng = np.random.default_rng(0)
    weights = rng.integers(0, 3, len(y))
    some = np.repeat(np.arange(len(y)), weights)
    for options in (
        {"tol": 1e-12},
        {"tol": 1e-12, "kernel": "rbf", "gamma": 0.1},
        {"tol": 1e-12, "class_weight": "balanced"},
        {"tol": 1e-7, "regularize_intercept": False},
    ):
        weighted = TopKClassifier("softmax", **options).fit(X, y, sample_weight=weights)
        repeated = TopKClassifier("softmax", **options).fit(X[some], y[some])
        np.testing.assert_allclose(weighted.predict_proba(X), repeated.predict_proba(X), atol=1e-5)


def test_class_weights_multiply_sample_weights(digits):
    X, y = digits
    options = {"C": 0.1, "tol": 1e-10}
    by_class = TopKClassifier(class_weight={0: 3.0, 1: 0.5}, **options).fit(X, y)
    weights = np.where(y == 0, 3.0, np.where(y == 1, 0.5, 1.0))
    by_sample = TopKClassifier(**options).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(by_class.coef_, by_sample.coef_, atol=1e-5)


def test_label_sets_weigh_the_mean_of_their_labels():
    X = np.eye(3)
    lists = [["a"], ["a", "b"], []]
    model = MultilabelClassifier(class_weight={"a": 2.0, "b": 6.0}, tol=1e-10).fit(X, lists)
    by_sample = MultilabelClassifier(tol=1e-10).fit(X, lists, sample_weight=[2.0, 4.0, 1.0])
    np.testing.assert_allclose(model.coef_, by_sample.coef_, atol=5e-5)  # as the gap allows


@pytest.mark.parametrize("kernel", ["rbf", "poly", "precomputed", "callable"])
def test_kernels_score_new_examples(digits, kernel):
    from sklearn.metrics.pairwise import polynomial_kernel, rbf_kernel

    (X, y), new = (digits[0][:300], digits[1][:300]), digits[0][300:320]

    def function(A, B):
        if kernel == "poly":
            return polynomial_kernel(A, B, degree=2, gamma=0.1, coef0=1.0)
        return rbf_kernel(A, B, gamma=0.1)

    given = function if kernel == "callable" else kernel
    model = TopKClassifier("svm", kernel=given, gamma=0.1, degree=2, coef0=1.0, C=10.0)
    precomputed = kernel == "precomputed"
    model.fit(function(X, X) if precomputed else X, y)
    scores = model.decision_function(function(new, X) if precomputed else new)
    expected = function(new, X[model.support_]) @ model.dual_coef_ + model.intercept_
    np.testing.assert_allclose(scores, expected, rtol=1e-6, atol=1e-9)
    assert (model.classes_[scores.argmax(axis=1)] == digits[1][300:320]).mean() > 0.8
    if precomputed:
        with pytest.raises(AttributeError, match="support vectors"):
            _ = model.support_vectors_
    else:
        np.testing.assert_array_equal(model.support_vectors_, X[model.support_])


def test_storages_agree_and_are_not_copied(digits, tmp_path):
    X, y = digits
    X32 = X.astype(np.float32)
    np.save(tmp_path / "X.npy", X32)
    mapped = np.load(tmp_path / "X.npy", mmap_mode="r")
    read_only = X32.copy()
    read_only.flags.writeable = False
    sparse = scipy.sparse.csr_array(X32)
    sparse.indices, sparse.indptr = sparse.indices.astype(np.int64), sparse.indptr.astype(np.int64)
    first = TopKClassifier("svm", tol=1e-4, random_state=0).fit(X32, y)
    assert first.coef_.dtype == first.decision_function(X32).dtype == np.float32
    for other in (mapped, read_only, np.asfortranarray(X32), sparse):
        model = TopKClassifier("svm", tol=1e-4, random_state=0).fit(other, y)
        assert model.coef_.dtype == np.float32
        np.testing.assert_allclose(model.coef_, first.coef_, atol=0.02)
    assert model._check(X32, reset=False) is X32


def test_warm_start_begins_where_the_last_fit_ended(digits):
    X, y = digits
    model = TopKClassifier("svm", C=1.0, tol=1e-6, warm_start=True, solver="sdca").fit(X, y)
    cold = model.n_iter_
    model.fit(X, y)
    assert model.n_iter_ < cold / 4
    model.set_params(C=1.5).fit(X, y)
    fresh = TopKClassifier("svm", C=1.5, tol=1e-6, solver="sdca").fit(X, y)
    assert model.certificate_.primal == pytest.approx(fresh.certificate_.primal, rel=1e-5)
    model.fit(X[:100], y[:100])  # other examples: from the start
    assert model.converged_


def test_it_is_the_solver(digits):
    X, y = digits
    model = TopKClassifier("topk_entropy", k=3, random_state=7, n_jobs=1).fit(X, y)
    solution = solve(X, y, losses.topk_entropy(3), intercept=1.0, random_state=7, n_threads=1)
    np.testing.assert_array_equal(model.coef_.T, solution.weights[:-1])
    assert model.certificate_ == solution.certificate
    assert [line.epoch for line in model.history_] == [line.epoch for line in solution.history]
