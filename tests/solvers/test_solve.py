"""The solver, by its certificate, by other solvers, and by symmetries."""

import cvxpy as cp
import numpy as np
import pytest
import scipy.optimize
import scipy.sparse
from sklearn.datasets import load_digits
from sklearn.linear_model import LogisticRegression
from sklearn.svm import LinearSVC

import naive.losses as naive
from shortlist import losses, path, rows, solve
from shortlist.losses.operations import traits
from shortlist.solvers import Status, systems
from solvers.cases import CASES, data, every_loss, objectives_from_scratch, sets_of


def test_every_convex_loss_is_among_the_cases():
    convex = [n for n in losses.names() if traits(losses.make(n, **_parameters(n))).convex]
    assert {name for name, _ in CASES} == set(convex)


def _parameters(name):
    return {"k": 2} if "k" in losses.entry(name).parameters else {}


@every_loss
def test_the_certificate_and_an_independent_solver(name, p):
    """The optimum of the dual, by a convex solver, lies where the certificate says."""
    X, y = data(name, n=16)
    C, loss = 0.7, losses.make(name, **p)
    solution = solve(X, y, loss, C=C, tol=1e-8, max_epochs=20000)
    assert solution.converged
    primal, dual, _ = objectives_from_scratch(
        loss, X, y, np.full(16, C), solution.duals, weights=solution.weights
    )
    np.testing.assert_allclose(solution.certificate, (primal, dual), rtol=1e-12)
    assert -1e-14 * abs(primal) <= primal - dual <= 1e-8 * abs(primal) + 1e-14

    V = cp.Variable((16, 4))
    total, constraints = 0, []
    for i, labels in enumerate(sets_of(y)):
        terms, domain = naive.conjugate(name, V[i], labels, **p)
        total, constraints = total + C * terms, constraints + domain
    objective = -total - 0.5 * cp.sum_squares(C * X.T @ V)
    optimum = cp.Problem(cp.Maximize(objective), constraints).solve(solver=cp.CLARABEL)
    assert abs(optimum - primal) <= 1e-6 * max(1, abs(primal))


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
    # The weights of plain passes are those of their duals; other methods have better ones.
    first = solve(X, y, loss, solver="sdca", tol=1e-6, max_epochs=5000)
    again = solve(X, y, loss, solver="sdca", tol=1e-6, duals=first.duals)
    assert again.history[-1].epoch == 1
    assert again.certificate.dual >= first.certificate.dual - 1e-12


def test_a_path_is_the_cold_solutions():
    """Both are as near to the optimum as their gaps say: P is strongly convex."""
    X, y = data("softmax")
    Cs, tol = [0.01, 0.1, 1.0], 1e-10
    for C, warm in zip(Cs, path(X, y, Cs=Cs, tol=tol, max_epochs=20000), strict=True):
        cold = solve(X, y, C=C, tol=tol, max_epochs=20000)
        assert warm.converged
        far = np.sqrt(2 * tol * cold.certificate.primal)
        assert np.linalg.norm(warm.weights - cold.weights) <= 2 * far


def test_the_same_seed_gives_the_same_bits():
    X, y = data("softmax", n=100, d=80)
    one, two = (solve(X, y, random_state=3) for _ in range(2))
    np.testing.assert_array_equal(one.weights, two.weights)
    np.testing.assert_array_equal(one.duals, two.duals)


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


def test_a_descent_in_the_metric_of_the_curvature_is_shorter(monkeypatch):
    """Features of very different lengths: without the metric it takes many times as long."""
    X, y = data("truncated_topk_entropy", n=200, d=8)
    X = X * np.logspace(0, 2, 8)
    loss = losses.truncated_topk_entropy(2)
    in_metric = solve(X, y, loss, C=0.1, tol=1e-3)
    monkeypatch.setattr(systems, "are_worth", lambda cost, problem: False)
    plain = solve(X, y, loss, C=0.1, tol=1e-3)
    assert in_metric.converged
    assert 3 * len(in_metric.history) < len(plain.history)
    for solution in (in_metric, plain):  # of which one may be another minimum
        W = solution.weights
        objective = 0.5 * (W**2).sum() + 0.1 * losses.value(loss, X @ W, y).sum()
        assert solution.certificate.primal == pytest.approx(objective)


def test_regularising_towards_given_weights():
    """By the same problem in other variables: W = W0 + U, and scores that start from X W0."""
    X, y = data("softmax")
    anchor = np.random.default_rng(1).normal(size=(5, 4))
    loss, C = losses.softmax(), 0.3
    solution = solve(X, y, loss, C=C, anchor=anchor, tol=1e-10, max_epochs=5000)
    c = np.full(30, C)
    expected = objectives_from_scratch(loss, X, y, c, solution.duals, anchor, solution.weights)
    np.testing.assert_allclose(solution.certificate, expected[:2], rtol=1e-12)

    def objective(flat):
        W = flat.reshape(5, 4)
        return 0.5 * ((W - anchor) ** 2).sum() + C * losses.value(loss, X @ W, y).sum()

    found = scipy.optimize.minimize(objective, anchor.ravel(), options={"gtol": 1e-9})
    assert solution.certificate.primal == pytest.approx(found.fun, rel=1e-8)
    sparse = solve(
        scipy.sparse.csr_array(X), y, loss, C=C, anchor=anchor, tol=1e-10, max_epochs=5000
    )
    np.testing.assert_allclose(sparse.weights, solution.weights, atol=1e-5)
    still = solve(X, y, loss, C=1e-12, anchor=anchor).weights
    np.testing.assert_allclose(still, anchor, atol=1e-9)


def test_a_pull_is_an_anchor_and_a_scale():
    """1/2 |W|^2 + kappa/2 |W - Z|^2, which acceleration is made of, by a general optimiser."""
    X, y = data("softmax")
    loss, C, kappa = losses.softmax(), 0.4, 3.0
    Z = np.random.default_rng(2).normal(size=(5, 4))

    def objective(flat):
        W = flat.reshape(5, 4)
        pull = 0.5 * kappa * ((W - Z) ** 2).sum()
        return 0.5 * (W**2).sum() + pull + C * losses.value(loss, X @ W, y).sum()

    expected = scipy.optimize.minimize(objective, Z.ravel(), options={"gtol": 1e-9}).x
    anchor = Z * kappa / (1 + kappa)
    found = solve(X, y, loss, C=C / (1 + kappa), anchor=anchor, tol=1e-12, max_epochs=9999)
    np.testing.assert_allclose(found.weights.ravel(), expected, atol=1e-5)


def malformed():
    """A sparse matrix whose indices are beyond its columns: SciPy does not look at them."""
    matrix = scipy.sparse.csr_array(np.eye(2))
    matrix.indices[1] = 400_000
    return matrix


X, Y = np.eye(3), [0, 1, 2]
REFUSED = {
    "X has 1 dimensions; pass a matrix, one example": lambda: solve([1.0, 2.0], [0, 1]),
    "X[1, 0] is NaN; all elements": lambda: solve([[1.0], [np.nan]], [0, 1]),
    "X[0, 1] is inf; all elements": lambda: solve(scipy.sparse.csr_array([[0.0, np.inf]]), [0]),
    "X has dtype complex128; convert": lambda: solve(scipy.sparse.csr_array([[1j]]), [0]),
    "C is 0; it must be positive.": lambda: solve(X, Y, C=0),
    "there are 3 examples, and labels for 2.": lambda: solve(X, [0, 1]),
    "sample_weight has shape (2,); there are 3": lambda: solve(X, Y, sample_weight=[1, 1]),
    "sample_weight[1] is -1.0; it must": lambda: solve(X, Y, sample_weight=[1, -1, 1]),
    "duals has shape (2, 2); examples and": lambda: solve(X, Y, duals=np.zeros((2, 2))),
    "loss is 'sofmax'; did you mean 'softmax'?": lambda: solve(X, Y, "sofmax"),
    "max_epochs is 0; it must be at least 1.": lambda: solve(X, Y, max_epochs=0),
    "anchor has shape (2, 2); the weights have (3, 3).": lambda: solve(X, Y, anchor=np.eye(2)),
    "anchor has elements that are not finite.": lambda: solve(X, Y, anchor=np.full((3, 3), np.nan)),
    "anchor is for linear models;": lambda: solve(rows.kernel(X, "rbf"), Y, anchor=np.eye(3)),
    "evaluate_on['test'] has 2 columns; X has 3.": lambda: solve(
        X, Y, evaluate_on={"test": (np.eye(2), [0, 1])}
    ),
    "there is no folder nowhere for the checkpoint.": lambda: solve(X, Y, checkpoint="nowhere/f"),
    "n_threads is 0; it must be at least 1.": lambda: solve(X, Y, n_threads=0),
    "max_time is 0; it must be positive.": lambda: solve(X, Y, max_time=0),
    "max_epochs is 2.5; it must be an integer.": lambda: solve(X, Y, max_epochs=2.5),
    "random_state is -1; it must be at least 0.": lambda: solve(X, Y, random_state=-1),
    "callback is 3; it must be a function": lambda: solve(X, Y, callback=3),
    "evaluate_on['a'] must be a pair (X, y).": lambda: solve(X, Y, evaluate_on={"a": X}),
    "checkpoint_every is None; it must be a number.": lambda: solve(X, Y, checkpoint_every=None),
    "checkpoint / is a folder; name a file.": lambda: solve(X, Y, checkpoint="/"),
    "X is not a valid sparse matrix: ": lambda: solve(malformed(), [0, 1]),
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
