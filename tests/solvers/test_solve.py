"""The solver, by its certificate, by other solvers, and by symmetries."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import naive.losses as naive
from shortlist import losses, path, solve
from shortlist.losses.operations import traits
from shortlist.solvers import Status, sdca

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


def test_every_convex_loss_is_among_the_cases():
    convex = [n for n in losses.names() if traits(losses.make(n, **_parameters(n))).convex]
    assert {name for name, _ in CASES} == set(convex)


def _parameters(name):
    return {"k": 2} if "k" in losses.entry(name).parameters else {}


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


def objectives_from_scratch(loss, X, y, c, duals):
    """Both objectives for W(v), from the definitions, in plain NumPy."""
    weights = -(X * c[:, None]).T @ duals
    half = 0.5 * (weights**2).sum()
    primal = half + c @ losses.value(loss, X @ weights, y)
    return primal, -c @ losses.conjugate(loss, duals, y) - half, weights


@every_loss
def test_the_certificate_and_an_independent_solver(name, p):
    """The optimum of the dual, by a convex solver, lies where the certificate says."""
    X, y = data(name, n=16)
    C, loss = 0.7, losses.make(name, **p)
    solution = solve(X, y, loss, C=C, tol=1e-8, max_epochs=20000)
    assert solution.converged
    primal, dual, weights = objectives_from_scratch(loss, X, y, np.full(16, C), solution.duals)
    np.testing.assert_allclose(solution.weights, weights, atol=1e-12)
    np.testing.assert_allclose(solution.certificate, (primal, dual), rtol=1e-12)
    assert 0 <= primal - dual <= 1e-8 * abs(primal) + 1e-14

    V = cp.Variable((16, 4))
    total, constraints = 0, []
    for i, labels in enumerate(sets_of(y)):
        terms, domain = naive.conjugate(name, V[i], labels, **p)
        total, constraints = total + C * terms, constraints + domain
    objective = -total - 0.5 * cp.sum_squares(C * X.T @ V)
    optimum = cp.Problem(cp.Maximize(objective), constraints).solve(solver=cp.CLARABEL)
    assert abs(optimum - primal) <= 1e-6 * max(1, abs(primal))


@every_loss
def test_any_block_size_and_storage_make_the_same_iterates(name, p):
    X, y = data(name, n=40, d=6)
    loss = losses.make(name, **p)
    expected = solve(X, y, loss, tol=0.0, max_epochs=4, block_size=1)
    for block_size in (1, 7, 64):
        result = solve(np.asfortranarray(X), y, loss, tol=0.0, max_epochs=4, block_size=block_size)
        np.testing.assert_allclose(result.weights, expected.weights, atol=1e-10)
        np.testing.assert_allclose(result.duals, expected.duals, atol=1e-10)
    sparse = solve(scipy.sparse.csr_array(X), y, loss, tol=0.0, max_epochs=4)
    np.testing.assert_allclose(sparse.weights, expected.weights, atol=1e-10)


@pytest.mark.parametrize("name", ["svm", "softmax", "multilabel_softmax"])
def test_float32(name):
    X, y = data(name, n=60)
    loss = losses.make(name)
    for A in (X.astype(np.float32), scipy.sparse.csr_array(X.astype(np.float32))):
        for block_size in (None, 16):
            solution = solve(A, y, loss, C=0.3, tol=1e-5, max_epochs=5000, block_size=block_size)
            assert solution.converged
            assert solution.weights.dtype == np.float32
    exact = solve(X, y, loss, C=0.3, tol=1e-8, max_epochs=20000)
    assert solution.certificate.primal == pytest.approx(exact.certificate.primal, rel=2e-5)


def test_sparse_matrices_of_every_kind():
    X, y = data("svm")
    expected = solve(X, y, "svm", tol=1e-6, max_epochs=5000).weights
    wide = scipy.sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    twice = scipy.sparse.coo_array(
        (
            np.repeat(X.ravel() / 2, 2),
            (np.repeat(np.arange(30), 10), np.tile(np.repeat(np.arange(5), 2), 30)),
        )
    )
    for A in (wide, scipy.sparse.csc_array(X), twice, scipy.sparse.csr_matrix(X)):
        result = solve(A, y, "svm", tol=1e-6, max_epochs=5000)
        np.testing.assert_allclose(result.weights, expected, atol=1e-3)


def test_the_same_optimum_as_scikit_learn():
    X, y = load_digits(return_X_y=True)
    X = X[:600] / 16
    y, C = y[:600], 0.05
    c = np.full(600, C)

    def objective(loss, W):
        return 0.5 * (W**2).sum() + c @ losses.value(loss, X @ W, y)

    theirs = LogisticRegression(C=C, fit_intercept=False, tol=1e-10, max_iter=5000).fit(X, y)
    ours = solve(X, y, "softmax", C=C, tol=1e-9)
    np.testing.assert_allclose(ours.weights, theirs.coef_.T, atol=1e-4)
    assert ours.certificate.primal == pytest.approx(
        objective(losses.softmax(), theirs.coef_.T), rel=1e-8
    )

    theirs = LinearSVC(
        C=C, multi_class="crammer_singer", fit_intercept=False, tol=1e-8, max_iter=10**6
    )
    ours = solve(X, y, "svm", C=C, tol=1e-7, max_epochs=20000)
    assert ours.certificate.primal == pytest.approx(
        objective(losses.svm(), theirs.fit(X, y).coef_.T), rel=1e-5
    )

    theirs = LinearSVC(C=C, loss="hinge", fit_intercept=False, tol=1e-9, max_iter=10**6).fit(X, y)
    ours = solve(X, y, "ova_svm", C=C, tol=1e-7, max_epochs=20000)
    assert ours.certificate.primal == pytest.approx(
        objective(losses.ova_svm(), theirs.coef_.T), rel=1e-5
    )


def test_weight_2_is_the_row_twice_and_weight_0_is_without_it():
    X, y = data("softmax")
    weights = np.ones(30)
    weights[4], weights[7] = 2.0, 0.0
    rows = [*range(7), 4, *range(8, 30)]
    weighted = solve(X, y, "softmax", sample_weight=weights, tol=1e-11, max_epochs=5000)
    repeated = solve(X[rows], y[rows], "softmax", tol=1e-11, max_epochs=5000)
    np.testing.assert_allclose(weighted.weights, repeated.weights, atol=1e-5)


def test_renumbered_classes():
    X, y = data("topk_entropy")
    order = np.array([2, 0, 3, 1])
    one = solve(X, y, losses.topk_entropy(2), tol=1e-10, max_epochs=5000)
    other = solve(X, order[y], losses.topk_entropy(2), tol=1e-10, max_epochs=5000)
    np.testing.assert_allclose(one.weights, other.weights[:, order], atol=1e-5)


def test_a_solution_is_a_start_from_which_nothing_is_left_to_do():
    X, y = data("svm")
    loss = losses.svm(smoothing=0.5)
    first = solve(X, y, loss, tol=1e-6, max_epochs=5000)
    again = solve(X, y, loss, tol=1e-6, duals=first.duals)
    assert again.history[-1].epoch == 1
    assert again.certificate.dual >= first.certificate.dual - 1e-12


def test_a_path_is_the_cold_solutions():
    X, y = data("softmax")
    Cs = [0.01, 0.1, 1.0]
    for C, warm in zip(Cs, path(X, y, Cs=Cs, tol=1e-10, max_epochs=20000), strict=True):
        cold = solve(X, y, C=C, tol=1e-10, max_epochs=20000)
        np.testing.assert_allclose(warm.weights, cold.weights, atol=1e-5)


def test_the_same_seed_gives_the_same_bits():
    X, y = data("softmax", n=100, d=80)
    one, two = (solve(X, y, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.duals, two.duals)


@pytest.mark.parametrize("C", [2.0**-20, 2.0**15])
def test_an_extreme_regularisation_ends_honestly(C):
    X, y = load_digits(return_X_y=True)
    X, y = X[:200] / 16, y[:200]
    for loss in (losses.svm(1.0), losses.softmax()):
        solution = solve(X, y, loss, C=C, tol=1e-10, max_epochs=50)
        primal, dual, _ = objectives_from_scratch(loss, X, y, np.full(200, C), solution.duals)
        assert np.isfinite([primal, dual]).all()
        np.testing.assert_allclose(solution.certificate, (primal, dual), rtol=1e-9)
        assert solution.converged == (solution.certificate.gap <= 1e-10)


def test_limits_are_obeyed_and_the_certificate_is_true():
    X, y = data("svm", n=100)
    loss = losses.svm()
    stops = {
        Status.MAX_EPOCHS: {"max_epochs": 3},
        Status.MAX_TIME: {"max_time": 1e-9},
        Status.STOPPED: {"callback": lambda evaluation: evaluation.epoch >= 2},
    }
    for status, limits in stops.items():
        solution = solve(X, y, loss, C=100.0, tol=1e-12, **limits)
        assert solution.status is status
        primal, dual, _ = objectives_from_scratch(loss, X, y, np.full(100, 100.0), solution.duals)
        np.testing.assert_allclose(solution.certificate, (primal, dual), rtol=1e-12)


def test_a_loss_that_is_not_convex():
    """It descends from the softmax solution to a stationary point."""
    X, y = data("truncated_topk_entropy", n=60)
    loss = losses.truncated_topk_entropy(2)
    solution = solve(X, y, loss, C=0.5, tol=1e-6)
    values = [evaluation.certificate.primal for evaluation in solution.history]
    assert (np.diff(values) <= 0).all()
    assert values[-1] < values[0]

    def objective(W):
        return 0.5 * (W**2).sum() + 0.5 * losses.value(loss, X @ W, y).sum()

    assert solution.certificate.primal == pytest.approx(objective(solution.weights))
    assert solution.status in (Status.CONVERGED, Status.NO_PROGRESS)  # it has kinks
    stationary = solution.weights + 0.5 * X.T @ losses.gradient(loss, X @ solution.weights, y)
    if solution.converged:
        assert np.abs(stationary).max() <= 1e-4
    softmax = solve(X, y, "softmax", C=0.5, tol=1e-6).weights
    assert values[0] == pytest.approx(objective(softmax), rel=1e-4)
    assert solve(X, y, loss, C=0.5, max_epochs=1, tol=1e-9).status is Status.MAX_EPOCHS
    two = path(X, y, loss, Cs=[0.1, 0.5], tol=1e-6)[1]
    assert two.certificate.primal == pytest.approx(values[-1], rel=1e-2)


@pytest.mark.parametrize("method", ["run_epoch", "certificate"])
def test_interrupting_keeps_the_model(method, monkeypatch):
    """Ctrl-C in the fourth pass, or in the fourth evaluation."""
    X, y = data("svm", n=100)
    original, calls = getattr(sdca.Sdca, method), []

    def interrupted(self, *args, **kwargs):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return original(self, *args, **kwargs)

    monkeypatch.setattr(sdca.Sdca, method, interrupted)
    solution = solve(X, y, losses.svm(), C=100.0, tol=1e-12)
    assert solution.status is Status.INTERRUPTED
    assert solution.history[-1].epoch >= 3
    primal, dual, _ = objectives_from_scratch(
        losses.svm(), X, y, np.full(100, 100.0), solution.duals
    )
    np.testing.assert_allclose(solution.certificate, (primal, dual), rtol=1e-12)


def test_the_history_tells_what_happened():
    X, y = data("svm", n=100)
    seen = []
    solution = solve(X, y, losses.svm(1.0), tol=1e-6, callback=seen.append)
    assert seen == solution.history
    epochs = [evaluation.epoch for evaluation in solution.history]
    assert epochs == sorted(set(epochs))
    duals = [evaluation.certificate.dual for evaluation in solution.history]
    assert (np.diff(duals) >= -1e-12).all()


X, Y = np.eye(3), [0, 1, 2]
REFUSED = {
    "X has 1 dimensions; pass a matrix": lambda: solve([1.0, 2.0], [0, 1]),
    "X[1, 0] is nan; all elements": lambda: solve([[1.0], [np.nan]], [0, 1]),
    "X[0, 1] is inf; all elements": lambda: solve(scipy.sparse.csr_array([[0.0, np.inf]]), [0]),
    "X has dtype complex128; convert": lambda: solve(scipy.sparse.csr_array([[1j]]), [0]),
    "C is 0; it must be positive.": lambda: solve(X, Y, C=0),
    "there are 3 examples, and labels for 2.": lambda: solve(X, [0, 1]),
    "sample_weight has shape (2,); X has 3 rows.": lambda: solve(X, Y, sample_weight=[1, 1]),
    "sample_weight[1] is -1.0; it must": lambda: solve(X, Y, sample_weight=[1, -1, 1]),
    "duals has shape (2, 2); examples and": lambda: solve(X, Y, duals=np.zeros((2, 2))),
    "there is no loss 'sofmax'; did you mean 'softmax'?": lambda: solve(X, Y, "sofmax"),
    "max_epochs is 0; it must be at least 1.": lambda: solve(X, Y, max_epochs=0),
    "block_size is 0; it must be at least 1.": lambda: solve(X, Y, block_size=0),
    "TopKEntropy(k=3) needs at least 4 classes; there are 3.": lambda: solve(
        X, Y, losses.topk_entropy(3)
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_refused_with_one_sentence(sentence):
    with pytest.raises((TypeError, ValueError)) as error:
        REFUSED[sentence]()
    assert str(error.value).startswith(sentence)
