"""Accelerated SDCA, Newton's method and the automatic choice: the same optimum for any C."""

import itertools

import numpy as np
import pytest
import scipy.sparse
from sklearn.datasets import load_digits

from shortlist import losses, path, rows, solve
from shortlist.losses import operations as losses_operations
from shortlist.losses.labels import as_labels
from shortlist.metrics import topk_accuracy
from shortlist.rows import as_storage
from shortlist.solvers import Status, choice, curvature, factors, systems, warm
from shortlist.solvers.growing_newton import GrowingNewton
from shortlist.solvers.memory import Memory
from shortlist.solvers.problem import Problem
from shortlist.solvers.sdca import Given, Sdca
from shortlist.solvers.search import find_root
from shortlist.solvers.team import Team
from solvers.cases import STORAGES, both_precisions, data, every_loss, objectives_from_scratch

METHODS = ("sdca", "accelerated", "whitened", "newton", "auto")
every_method = pytest.mark.parametrize("solver", METHODS)
every_other = pytest.mark.parametrize("solver", METHODS[1:])


def assert_certificate_is_true(solution, loss, X, y, C, anchor=0.0, rtol=1e-10):
    primal, dual, _ = objectives_from_scratch(
        loss, X, y, C * np.ones(len(X)), solution.duals, anchor, solution.weights
    )
    np.testing.assert_allclose(solution.certificate, (primal, dual), rtol=rtol)


@every_loss
def test_all_methods_agree_to_the_gap_and_tell_the_truth(name, p):
    X, y = data(name, n=60, d=8)
    loss, C, tol = losses.make(name, **p), 20.0, 1e-5
    found = {
        solver: solve(X, y, loss, C=C, solver=solver, tol=tol, max_epochs=100_000)
        for solver in METHODS
    }
    best = max(solution.certificate.dual for solution in found.values())
    for solver, solution in found.items():
        assert solution.converged, solver
        assert_certificate_is_true(solution, loss, X, y, C)
        assert solution.certificate.primal >= best - 1e-9 * best
        assert solution.certificate.primal <= best * (1 + 2 * tol)
        assert {line.method for line in solution.history} <= {solver, *METHODS} - {"auto"}


@every_other
@pytest.mark.parametrize("storage", STORAGES)
def test_every_storage(solver, storage, tmp_path):
    X, y = data("svm", n=60, d=8)
    loss, C = losses.svm(smoothing=0.5), 30.0
    examples = STORAGES[storage](X, tmp_path)
    if solver in ("newton", "whitened") and storage == "kernel in blocks":
        with pytest.raises(ValueError, match="raise cache_size"):
            solve(examples, y, loss, solver=solver)
        return
    solution = solve(examples, y, loss, C=C, solver=solver, tol=1e-7, max_epochs=50_000)
    best = solve(X, y, loss, C=C, solver="sdca", tol=1e-8, max_epochs=100_000).certificate
    assert solution.converged
    assert best.dual * (1 - 1e-9) <= solution.certificate.primal <= best.primal * (1 + 2e-7)
    scores = X @ X.T @ solution.weights if len(solution.weights) == 60 else X @ solution.weights
    half = solution.certificate.primal - C * losses.value(loss, scores, y).sum()
    assert half > 0.0
    if len(solution.weights) == 60:
        np.testing.assert_allclose(half, 0.5 * (scores * solution.weights).sum(), rtol=1e-8)


@every_other
@both_precisions
def test_intercept_anchor_weights_and_precision(solver, dtype):
    X, y = data("softmax", n=60, d=8)
    rng = np.random.default_rng(3)
    anchor, weights = rng.normal(size=(9, 4)), rng.random(60)
    weights[7] = 0.0
    solution = solve(
        X.astype(dtype), y, "softmax", C=50.0, sample_weight=weights, intercept=2.0,
        anchor=anchor, solver=solver, tol=1e-5, max_epochs=50_000,
    )  # fmt: skip
    assert solution.converged
    assert solution.weights.dtype == solution.duals.dtype == dtype
    wide = np.hstack([X.astype(dtype), np.full((60, 1), 2.0, dtype)])
    near = 1e-5 if dtype == np.float32 else 1e-10
    assert_certificate_is_true(
        solution, losses.softmax(), wide, y, 50.0 * weights, anchor.astype(dtype), near
    )


@every_other
def test_a_broken_run_ends_in_the_same_bits(solver, tmp_path):
    X, y = data("svm", n=200, d=70)
    options = {"loss": losses.svm(), "C": 300.0, "solver": solver, "tol": 1e-13}
    whole = solve(X, y, **options, max_epochs=90)
    file = tmp_path / "run.npz"
    for most in (1, 8, 21, 40, 90):
        parts = solve(X, y, **options, max_epochs=most, checkpoint=file)
    np.testing.assert_array_equal(parts.duals, whole.duals)
    np.testing.assert_array_equal(parts.weights, whole.weights)
    assert parts.certificate == whole.certificate
    assert parts.history.notes == whole.history.notes


@pytest.mark.parametrize("loss", ["softmax", "topk_entropy"])
def test_large_systems_begin_with_a_share_of_the_weights(loss, tmp_path, monkeypatch):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(150, 90)), rng.integers(0, 30, 150)  # separable
    loss, C = losses.make_from(loss, k=3), 1000.0
    shares, set_share = [], GrowingNewton._set_share
    monkeypatch.setattr(systems, "_MOST_EASILY", 2000)
    monkeypatch.setattr(
        GrowingNewton, "_set_share", lambda *args: shares.append(args[1]) or set_share(*args)
    )
    options = {"C": C, "solver": "newton", "tol": 1e-6, "max_epochs": 10_000}
    whole = solve(X, y, loss, **options)
    assert whole.converged
    assert_certificate_is_true(whole, loss, X, y, C)
    first, *others = shares
    assert first < 0.01
    assert others == sorted(others)
    assert others[-1] == 1.0
    half = solve(X, y, loss, checkpoint=tmp_path / "c", **{**options, "max_epochs": 25})
    assert not half.converged
    broken = solve(X, y, loss, checkpoint=tmp_path / "c", **options)
    np.testing.assert_array_equal(broken.weights, whole.weights)
    # A model that is almost optimal needs no smaller share.
    shares.clear()
    solve(X, y, loss, duals=whole.duals, **{**options, "tol": 1e-9})
    assert all(share == pytest.approx(1.0, abs=1e-3) for share in shares)


def test_kernels_can_be_broken_off_too(tmp_path):
    X, y = data("svm", n=80, d=10)
    options = {"loss": losses.svm(), "C": 300.0, "solver": "accelerated", "tol": 1e-13}
    examples = rows.kernel(X, "rbf", gamma=0.1)
    whole = solve(examples, y, **options, max_epochs=30)
    for most in (3, 14, 30):
        parts = solve(examples, y, **options, max_epochs=most, checkpoint=tmp_path / "run.npz")
    np.testing.assert_array_equal(parts.weights, whole.weights)


def test_limits_hold_for_every_method():
    X, y = data("svm", n=200, d=70)
    for solver in METHODS:
        options = {"loss": losses.svm(), "C": 1e3, "solver": solver, "tol": 1e-14}
        ended = solve(X, y, **options, max_time=1e-9)
        assert ended.status is Status.MAX_TIME
        assert_certificate_is_true(ended, losses.svm(), X, y, 1e3)
        stopped = solve(X, y, **options, callback=lambda line: line.epoch >= 3)
        assert stopped.status is Status.STOPPED
        assert_certificate_is_true(stopped, losses.svm(), X, y, 1e3)


def test_digits_are_solved_for_any_weight_and_the_history_says_how():
    X, y = load_digits(return_X_y=True)
    X = X / 16
    for loss in (losses.svm(smoothing=1.0), losses.softmax(), losses.topk_svm_alpha(k=3)):
        for C in (2.0**-15, 1.0, 2.0**15):
            solution = solve(X, y, loss, C=C, max_time=60.0)
            assert solution.converged, (loss, C)
            assert_certificate_is_true(solution, loss, X, y, C, rtol=1e-6)
            changes = [line for line in solution.history if line.note]
            methods = [line.method for line in solution.history]
            assert len(changes) == len(solution.history.notes)
            if loss == losses.softmax():  # few weights: its systems are easy
                assert set(methods) == {"newton"}
            elif C < 1.0:
                assert set(methods) == {"sdca"}
            elif C > 1.0:
                assert methods[-1] != "sdca"
                assert "more passes at its present rate" in solution.history.notes[0]


def test_an_entropy_with_few_weights_begins_with_newton_unless_duals_are_given():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    cold = solve(X, y, "softmax", C=4.0)
    warm = solve(X, y, "softmax", C=4.0, duals=cold.duals)
    margins = solve(X, y, losses.svm(smoothing=1.0), C=4.0)
    assert [found.history[0].method for found in (cold, warm, margins)] == [
        "newton",
        "sdca",
        "sdca",
    ]


def test_what_a_pull_did_to_the_duals_is_not_handed_on():
    X, y = load_digits(return_X_y=True)
    history = solve(X / 16, y, losses.svm(), C=32.0).history
    changes = [line.method for line in history if line.note]
    assert changes[:2] == ["accelerated", "whitened"]
    plain, vain, after = (
        [line.certificate.dual for line in history if line.method == name]
        for name in ("sdca", "accelerated", "whitened")
    )
    assert set(vain) == {plain[-1]}
    assert plain[-1] < after[0]


def test_the_automatic_choice_can_be_repeated():
    X, y = load_digits(return_X_y=True)
    one, two = (solve(X[:500] / 16, y[:500], losses.svm(smoothing=1.0), C=100.0) for _ in range(2))
    np.testing.assert_array_equal(one.weights, two.weights)
    assert one.history.notes == two.history.notes != []


def test_a_path_goes_on_with_the_method_that_ended_the_last():
    X, y = load_digits(return_X_y=True)
    X, Cs, loss = X[:600] / 16, 2.0 ** np.arange(-10, 12, 2), losses.svm(smoothing=1.0)
    solutions = path(X, y[:600], loss, Cs=Cs)
    assert all(solution.converged for solution in solutions)
    assert solutions[0].history[0].method == "sdca"
    for before, after in itertools.pairwise(solutions):
        last = before.history[-1]
        many = last.method == "sdca" and last.epoch > 4  # for which a pull is worth it
        assert after.history[0].method == ("accelerated" if many else last.method)
    passes = [solution.history[-1].epoch for solution in solutions]
    cold = [solve(X, y[:600], loss, C=C).history[-1].epoch for C in Cs]
    assert sum(passes) < 0.8 * sum(cold)


@pytest.mark.parametrize("solver", ["auto", "sdca", "accelerated", "newton", "whitened"])
@pytest.mark.parametrize("loss", [losses.softmax(), losses.topk_svm_alpha(k=2, smoothing=1.0)])
def test_weights_that_are_good_enough_are_proven_so_without_a_step(solver, loss):
    X, y = data("softmax", n=60, d=8)
    heard = []
    found = path(
        X, y, loss, Cs=[10.0, 10.01, 10.02], solver=solver, tol=1e-4,
        evaluate_on={"mine": (X, y)}, callback=lambda line: heard.append(line.weights()),
    )  # fmt: skip
    assert found[0].history[-1].epoch > 0
    for solution, C in zip(found[1:], (10.01, 10.02), strict=True):
        assert solution.converged
        (line,) = solution.history
        assert line.epoch == 0
        top1 = topk_accuracy(y, X @ solution.weights, k=1)
        assert line.metrics["mine"][0] == pytest.approx(top1)
        assert any(weights is solution.weights for weights in heard)
        assert_certificate_is_true(solution, loss, X, y, C)


def test_weights_that_grow_with_a_small_C_are_foreseen():  # noqa: N802
    X, y = data("softmax", n=60, d=8)
    Cs = 1e-6 * 1.5 ** np.arange(12)
    for loss in (losses.softmax(), losses.svm(smoothing=1.0), losses.multilabel_softmax()):
        found = path(X, y, loss, Cs=Cs, tol=1e-5)
        assert sum(solution.history[-1].epoch for solution in found) <= 4
        for solution, C in zip(found, Cs, strict=True):
            assert_certificate_is_true(solution, loss, X, y, C)


@every_loss
def test_what_a_solution_is_worth_for_another_C_is_known(name, p):  # noqa: N802
    """Its certificate there follows from its own, whatever method it is from."""
    X, y = data(name)
    rng = np.random.default_rng(1)
    loss, c, anchor = losses.make(name, **p), rng.uniform(0.0, 2.0, len(X)), rng.normal(size=(6, 4))
    wide = np.hstack([X, np.full((len(X), 1), 2.0)])
    problem = Problem(as_storage(X, 2.0), as_labels(y, 4), loss, c, anchor)
    for solver, knows in itertools.product(("sdca", "accelerated"), (True, False)):
        solution = solve(
            X, y, loss, n_classes=4, sample_weight=c, intercept=2.0, anchor=anchor, solver=solver
        )
        for C in (0.3, 1.0, 5.0):
            problem.set_weights(C * c)
            with Team(1) as team:
                of_duals = anchor - wide.T @ (c[:, None] * solution.duals) if knows else None
                found = warm._at_last(problem, C, warm.Solved(1.0, solution, of_duals), team)
            *expected, own = objectives_from_scratch(
                loss, wide, y, C * c, solution.duals, anchor, solution.weights
            )
            np.testing.assert_allclose(found.certificate, expected, rtol=1e-10)
            np.testing.assert_allclose(found.of_duals, own, atol=1e-12 * abs(own).max())


@every_loss
def test_duals_are_as_long_as_is_best(name, p):
    X, y = data(name, n=60, d=8)
    loss = losses.make(name, **p)
    last = solve(X, y, loss, n_classes=4, C=5.0, tol=1e-8)
    problem = Problem(as_storage(X), as_labels(y, 4), loss, np.full(60, 10.0))
    with Team(1) as team:
        solved = [warm.Solved(5.0, last)]
        same = warm._at_last(problem, 10.0, solved[0], team)
        known = warm._Known(problem, 10.0, solved, same, Memory(), "sdca", 1e-3, team)
        found, dual = warm._best_duals(known)

        def dual_of(duals):
            return problem.dual(duals, problem.model(duals, team), team)

        others = [dual_of(t * last.duals) for t in np.linspace(0.5, 1.0, 101)]
        np.testing.assert_allclose(dual, dual_of(found.duals), rtol=1e-10)
        np.testing.assert_allclose(found.of_duals, problem.model(found.duals, team), atol=1e-10)
    assert found.duals is not last.duals
    # The parabola is that of hinges; entropies are near enough to one.
    gained = max(others) - min(others[0], others[-1])
    assert dual >= max(others) - 0.1 * gained - 1e-3 * abs(dual)


def test_plain_passes_certify_weights_that_are_given():
    """At a large C those of the duals are good only long after the duals themselves."""
    X, y = data("svm", n=300, d=5)
    loss, C, tol = losses.svm(smoothing=1.0), 1e3, 1e-4
    best = solve(X, y, loss, C=C, tol=1e-7)
    other = solve(X, y, loss, C=0.5 * C, tol=10 * tol)
    problem = Problem(as_storage(X), as_labels(y, 4), loss, np.full(300, C))
    with Team(1) as team:
        primal = problem.primal(best.weights, None, team)
        given = Given(primal, best.weights, tol)
        method = Sdca(problem, other.duals.copy(), None, 0, team, given=given)
        method.run_epoch(lambda: False)
        found = method.certificate(exact=True)
        alone = problem.certificate(method.model, method.duals, team)
    assert found.gap <= tol < alone.gap
    assert method.weights() is best.weights
    assert found.dual == alone.dual
    primal, dual, _ = objectives_from_scratch(
        loss, X, y, np.full(300, C), method.duals, 0.0, method.weights()
    )
    np.testing.assert_allclose(found, (primal, dual), rtol=1e-10)


def test_a_path_repairs_duals_by_plain_passes_where_weights_are_foreseen():
    X, y = data("svm", n=2000, d=5, m=6)
    loss, Cs = losses.svm(smoothing=1.0), 2.0 ** np.arange(-6, 14)
    found = path(X, y, loss, Cs=Cs, n_threads=1)
    methods = [solution.history[-1].method for solution in found]
    assert "accelerated" in methods
    assert "sdca" in methods[methods.index("accelerated") :]
    for C, solution in zip(Cs, found, strict=True):
        assert solution.converged
        assert_certificate_is_true(solution, loss, X, y, C)


@every_method
@pytest.mark.parametrize("loss", [losses.svm(), losses.svm(1.0), losses.softmax()])
def test_a_path_of_a_kernel_begins_with_the_model_of_its_duals(solver, loss, monkeypatch):
    """Weights of a kernel have the shape of its model, and are none."""
    X, y = data("svm", n=60, d=6)
    examples, starts = rows.kernel(X, "rbf", gamma=0.3), []  # those that know it

    def begin(name, problem, at, options, team):
        if at.of_duals is not None:
            starts.append(at)
            expected = problem.model(at.duals, team)
            np.testing.assert_allclose(at.of_duals, expected, atol=1e-9 * abs(expected).max())
        method = start(name, problem, at, options, team)
        if name == "whitened" and at.weights is None:
            mine = method.form.problem.model(at.duals, team)
            np.testing.assert_allclose(method.axes @ method.point, mine, atol=1e-9)
        return method

    start = choice.start
    monkeypatch.setattr(choice, "start", begin)
    found = path(examples, y, loss, Cs=[0.1, 1.0, 10.0, 100.0], solver=solver)
    assert starts
    assert all(solution.converged for solution in found)


def test_a_solution_that_is_good_enough_for_the_next_C_serves_it():  # noqa: N802
    X, y = data("softmax", n=60, d=8)
    for loss in (losses.softmax(), losses.svm(), losses.svm(1.0)):
        Cs = [1.0, 1.001, 1.002, 2.0]
        found = path(X, y, loss, Cs=Cs, tol=1e-2)
        assert found[0].weights is found[1].weights is found[2].weights
        assert found[2].weights is not found[3].weights
        for C, solution in zip(Cs, found, strict=True):
            assert_certificate_is_true(solution, loss, X, y, C)


def test_a_loss_without_a_derivative_is_trained_without_newton(monkeypatch):
    X, y = load_digits(return_X_y=True)
    monkeypatch.setitem(vars(losses_operations.derivative), "serves", lambda cls: False)
    with pytest.raises(ValueError, match='has no derivative for Newton: choose solver="accel'):
        solve(X, y, losses.svm(1.0), solver="newton")
    solution = solve(X[:300] / 16, y[:300], losses.svm(1.0), C=30.0, max_epochs=2000)
    assert "newton" not in {line.method for line in solution.history}


@pytest.mark.parametrize("loss", ["softmax", "ova_logistic"])
def test_weights_are_followed_along_a_path(loss):
    """On nearly separable data a step of Newton's method or two is enough for the next C."""
    X, y = load_digits(return_X_y=True)
    X, y, Cs = X[:600] / 16, y[:600], 3.0 ** np.arange(4, 9)
    solutions = path(X, y, loss, Cs=Cs, solver="newton")
    cold = [solve(X, y, loss, C=C, solver="newton") for C in Cs]
    assert all(solution.converged for solution in solutions)
    steps = [len(solution.history) for solution in solutions]
    assert max(steps[2:]) <= 3 < min(len(solution.history) for solution in cold)


def test_a_path_may_go_down_and_may_stand_still():
    X, y = load_digits(return_X_y=True)
    X, y = X[:300] / 16, y[:300]
    for solution, C in zip(path(X, y, "svm", Cs=[1, 1, 8, 2, 2]), [1, 1, 8, 2, 2], strict=True):
        again = solve(X, y, "svm", C=C)
        assert again.certificate.dual <= solution.certificate.primal * (1 + 1e-12)
        assert solution.certificate.dual <= again.certificate.primal * (1 + 1e-12)
        assert solution.converged


def test_an_unknown_solver_is_refused():
    with pytest.raises(ValueError, match="solver is 'newtn'; did you mean 'newton'"):
        solve(np.eye(3), [0, 1, 2], solver="newtn")


# --- the linear systems ---


def system(name="svm", parameters=(1.0,), n=80, d=6, m=5, sparse=False):
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(n, d)), rng.integers(0, m, n)
    loss = getattr(losses, name)(*parameters)
    if name.startswith("ova"):
        y = np.eye(m)[y]
    c = rng.random(n) + 0.5
    labels = as_labels(y, m)
    storage = as_storage(scipy.sparse.csr_array(X) if sparse else X, 1.5)
    problem = Problem(storage, labels, loss, c)
    scores = rng.normal(size=(n, m))
    duals = losses.step(loss, scores, y, 0.3)
    X = np.hstack([X, np.full((n, 1), 1.5)])
    matrix = np.eye((d + 1) * m)
    for i in range(n):
        J = losses.hessian_times(
            loss, np.repeat(scores[i : i + 1], m, 0), np.repeat(y[i : i + 1], m, 0), np.eye(m), 0.3
        )
        matrix += c[i] * np.kron(np.outer(X[i], X[i]), J)  # weights in order of (d, m)
    gradient = rng.normal(size=(d + 1, m))
    expected = np.linalg.solve(matrix, -gradient.ravel()).reshape(d + 1, m)
    return problem, duals, gradient, expected


@pytest.mark.parametrize("sparse", [False, True])
@pytest.mark.parametrize(
    ("name", "parameters"),
    [("svm", (1.0,)), ("softmax", ()), ("topk_svm_alpha", (2, 0.5)), ("ova_logistic", ())],
)
@pytest.mark.parametrize(
    ("preconditioner", "few"),
    [("diagonal", 0.0), ("blocks", 0.0), ("factors", 0.0), ("diagonal", 1.1)],
)
def test_systems_are_solved_as_by_brute_force(
    name, parameters, sparse, preconditioner, few, monkeypatch
):
    problem, duals, gradient, expected = system(name, parameters, sparse=sparse)
    worth = 0.0 if preconditioner == "diagonal" else np.inf
    cost = np.inf if preconditioner == "blocks" else 0.0
    monkeypatch.setattr(systems, "_WORTH_OF_BLOCKS", worth)
    monkeypatch.setattr(factors, "cost", lambda problem: cost)
    monkeypatch.setattr(systems, "_TINY", 0.0)
    monkeypatch.setattr(curvature, "_FEW", few)
    monkeypatch.setattr(curvature, "_NEGLIGIBLE", 1e-12)
    for threads in (1, 2):
        with Team(threads) as team:
            active = systems.active_examples(problem, duals, 0.3, team)
            directly = systems.solve_directly(active, gradient, team)
            by_gradients, iterations = systems.solve_by_gradients(
                active, gradient, 1e-12, team, lambda residual, square: False
            )
        np.testing.assert_allclose(directly, expected, atol=1e-10)
        np.testing.assert_allclose(by_gradients, expected, atol=1e-9)
        if name.startswith("ova") and preconditioner == "blocks":
            assert iterations <= 4  # the blocks are the whole matrix, but for what is negligible


def test_factors_are_the_whole_matrix_where_all_examples_have_the_same_curvature(monkeypatch):
    problem, duals, gradient, _ = system("softmax", ())
    duals[:] = losses.gradient("softmax", np.zeros(duals.shape), problem.labels)
    monkeypatch.setattr(factors, "cost", lambda problem: 0.0)
    with Team(1) as team:
        active = systems.active_examples(problem, duals, 0.0, team)
        expected = systems.solve_directly(active, gradient, team)
        found = systems.preconditioner(active, team)(-gradient)
    np.testing.assert_allclose(found, expected, atol=1e-12)


def test_a_root_of_factors_makes_the_matrix_the_identity():
    problem, duals, gradient, _ = system("softmax", ())
    with Team(1) as team:
        found = factors.find(systems.active_examples(problem, duals, 0.0, team), 1.0)
    root = found.root()
    np.testing.assert_allclose(
        root.times(root.transposed(gradient)), found.inverse(1.0)(gradient), atol=1e-12
    )
    np.testing.assert_allclose(root.times(root.solve(gradient)), gradient, atol=1e-12)


def test_means_of_directions_have_shorter_residuals_where_systems_are_hard(monkeypatch):
    monkeypatch.setattr(systems, "_WORTH_OF_BLOCKS", 0.0)
    rng = np.random.default_rng(0)
    mixed = rng.normal(size=(90, 40)) @ (
        rng.normal(size=(40, 40)) * np.logspace(-3, 0, 40)[:, None]
    )
    y = rng.integers(0, 6, 90)
    problem = Problem(as_storage(mixed, 0.0), as_labels(y, 6), losses.softmax(), np.full(90, 1e6))
    duals = losses.gradient("softmax", rng.normal(size=(90, 6)), y)
    gradient = rng.normal(size=(40, 6))
    shorter = 0
    with Team(1) as team:
        active = systems.active_examples(problem, duals, 0.0, team)
        times = curvature.products(active, team)
        for last in (5, 15, 30, 60):
            lengths = {}
            for means in (False, True):
                told = []
                direction, iterations = systems.solve_by_gradients(
                    active, gradient, 0.0, team,
                    lambda residual, _, told=told, last=last: (
                        told.append(residual.copy()) or len(told) == last
                    ),
                    means=means,
                )  # fmt: skip
                assert iterations == last
                residual = -gradient - times(direction)
                np.testing.assert_allclose(told[-1], residual, atol=1e-6 * np.abs(gradient).max())
                lengths[means] = systems.square(residual)
            assert lengths[True] <= 1.001 * lengths[False]
            shorter += lengths[True] < 0.1 * lengths[False]
    assert shorter >= 1


def test_only_active_examples_are_looked_at(monkeypatch):
    problem, duals, gradient, _ = system(n=200)
    duals[:150] = 0.0
    with Team(1) as team:
        active = systems.active_examples(problem, duals, 0.3, team)
        assert active.problem.n <= 50
        monkeypatch.setattr(curvature.Active, "take", lambda whole, some: whole)
        whole = systems.active_examples(problem, duals, 0.3, team)
        assert whole.problem.n == 200
        np.testing.assert_allclose(
            systems.solve_directly(active, gradient, team),
            systems.solve_directly(whole, gradient, team),
        )


def test_what_systems_leave_out_is_little_beside_the_regulariser(monkeypatch):
    monkeypatch.setattr(systems, "_TINY", 0.0)
    problem, _, _, _ = system(name="softmax", parameters=(), n=300, m=8)
    scores = np.random.default_rng(0).normal(scale=8.0, size=(problem.n, 8))
    duals = losses.gradient(losses.softmax(), scores, problem.labels)  # most are almost 0 or -1
    with Team(1) as team:
        active = systems.active_examples(problem, duals, 0.0, team)
    curvatures = np.abs(duals) * (1.0 - np.abs(duals)) * (problem.c * problem.norms)[:, None]
    kept = (active.diagonal * active.problem.norms[:, None])[active.matters].sum()
    left_out = curvatures.sum() - kept
    assert active.matters.sum() < 0.7 * curvatures.size
    assert left_out <= curvature._NEGLIGIBLE


@pytest.mark.parametrize("loss", ["softmax", "ova_logistic", "multilabel_softmax"])
def test_two_equal_examples_are_one_of_twice_the_weight_to_the_last_bits(loss):
    """Also where a run ends far from the optimum: small problems see the objective alone."""
    rng = np.random.default_rng(0)
    X, y, weights = rng.random((15, 30)), rng.integers(0, 3, 15), rng.integers(0, 5, 15)
    one = solve(X, y, loss, n_classes=3, sample_weight=weights)
    many = solve(X.repeat(weights, axis=0), y.repeat(weights), loss, n_classes=3)
    assert one.history[-1].epoch > 2
    np.testing.assert_allclose(one.weights, many.weights, rtol=0, atol=1e-12)


def test_a_matrix_that_rounding_has_made_indefinite_is_factored():
    matrix = np.ones((3, 3)) * 1e12
    matrix[0, 0] -= 1.0
    factor, lower = systems._factor(matrix.copy())
    assert lower
    np.testing.assert_allclose(np.tril(factor) @ np.tril(factor).T, matrix, rtol=1e-6)


def test_the_root_of_an_increasing_function():
    for root in (1e-6, 0.3, 1.0, 77.0):
        t = find_root(lambda t, root=root: np.arctan(t - root), -np.arctan(root))
        assert abs(np.arctan(t - root)) <= 0.2 * np.arctan(root) + 1e-12
        near = find_root(lambda t, root=root: t - root, -root, guess=2.0 * root, enough=1e-3 * root)
        assert abs(near - root) <= 1e-3 * root
    assert find_root(lambda t: t, 0.0) == 0.0


def test_costs_are_counted_and_larger_for_larger_problems():
    small, large = (system(n=n)[0] for n in (50, 500))
    assert choice._cost_of_passes(small, 1.0) < choice._cost_of_passes(large, 1.0)
    assert choice._cost_of_newton(small) < choice._cost_of_newton(large)


def test_factors_of_one_C_serve_another(monkeypatch):  # noqa: N802
    problem, duals, gradient, _ = system("softmax", ())
    duals[:] = losses.gradient("softmax", np.zeros(duals.shape), problem.labels)
    larger = problem.with_weights(5.0 * problem.c)
    monkeypatch.setattr(factors, "cost", lambda problem: 0.0)
    kept = systems.Kept(weight=problem.c.sum())
    with Team(1) as team:
        systems.preconditioner(systems.active_examples(problem, duals, 0.0, team), team, kept)
        kept.weight = larger.c.sum()
        active = systems.active_examples(larger, duals, 0.0, team)
        found = systems.preconditioner(active, team, kept)(-gradient)
        expected = systems.solve_directly(active, gradient, team)
    np.testing.assert_allclose(found, expected, atol=1e-12)


@pytest.mark.parametrize("solver", ["newton", "whitened", "auto"])
@pytest.mark.parametrize("loss", [losses.softmax(), losses.topk_entropy(2), losses.svm(1.0)])
def test_what_a_path_keeps_of_one_C_serves_the_next(solver, loss):  # noqa: N802
    X, y = load_digits(return_X_y=True)
    X, y, Cs = X[:300] / 16, y[:300], 2.0 ** np.arange(2, 12)
    kept = path(X, y, loss, Cs=Cs, solver=solver, tol=1e-5)
    for C, found in zip(Cs, kept, strict=True):
        alone = solve(X, y, loss, C=C, solver="newton", tol=1e-7)
        assert found.converged
        np.testing.assert_allclose(found.certificate.primal, alone.certificate.primal, rtol=2e-5)
        assert found.certificate.dual <= alone.certificate.primal


def test_along_a_path_factors_are_found_less_often_than_steps_are_taken(monkeypatch):
    X, y = load_digits(return_X_y=True)
    found, find = [], factors.find
    monkeypatch.setattr(factors, "find", lambda *args: found.append(1) or find(*args))
    monkeypatch.setattr(systems, "are_factors_dear", lambda problem: True)
    steps = path(
        X / 16, y, Cs=2.0 ** np.arange(4, 14), solver="newton", keep=lambda s: len(s.history) - 1
    )
    assert len(found) < 0.6 * sum(steps)


@pytest.mark.parametrize("storage", ["Gram matrix", "kernel in blocks"])
def test_accelerated_certificates_of_kernels_do_not_drift_in_float32(storage, tmp_path):
    X, y = data("topk_svm_consistent", n=60, d=8)
    X, loss, C = X.astype(np.float32), losses.topk_svm_consistent(k=2), 30.0
    how = {"solver": "accelerated", "tol": 1e-5, "max_epochs": 1500, "n_threads": 1}
    solution = solve(STORAGES[storage](X, tmp_path), y, loss, C=C, **how)
    linear = X.T @ solution.weights
    found = objectives_from_scratch(loss, X, y, np.full(60, C), solution.duals, weights=linear)
    np.testing.assert_allclose(solution.certificate, found[:2], rtol=1e-5)


def test_long_rows_that_hardly_compete_are_left_to_plain_passes():
    # Almost all features are an example's own: its length says that this is hard, which it is not.
    rng = np.random.default_rng(0)
    own = scipy.sparse.block_diag([np.full((1, 20), 2.0)] * 1000)
    X = scipy.sparse.csr_array(scipy.sparse.hstack([own, rng.normal(size=(1000, 5))]))
    y = rng.integers(60, size=1000)
    solution = solve(X, y, "softmax", C=3.0)
    assert solution.converged
    assert len(solution.history) > 2
    assert {line.method for line in solution.history} == {"sdca"}


def test_the_first_evaluation_of_a_path_comes_when_the_gap_is_likely_to_pass():
    X, y = load_digits(return_X_y=True)
    Cs = 2.0 ** np.arange(-9, -2)
    loss = losses.svm(smoothing=1.0)
    found = path(X / 16, y, loss, Cs=Cs, solver="sdca")
    checks = [len(solution.history) for solution in found]
    passes = [solution.history[-1].epoch for solution in found]
    assert all(solution.converged for solution in found)
    assert sum(checks) < 0.7 * sum(passes)
    for C, solution in zip(Cs, found, strict=True):
        assert_certificate_is_true(solution, loss, X / 16, y, C)


@pytest.mark.parametrize("loss", [losses.svm(), losses.svm(1.0), losses.softmax()])
def test_every_certificate_of_a_path_is_that_of_its_weights_and_duals(loss):
    X, y = load_digits(return_X_y=True)
    X, y, Cs = X[:400] / 16, y[:400], 2.0 ** np.arange(-12, 14)
    found = path(X, y, loss, Cs=Cs)
    as_given = [solution for solution in found if solution.history[-1].epoch == 0]
    assert len(as_given) > 2
    for C, solution in zip(Cs, found, strict=True):
        assert solution.converged
        assert_certificate_is_true(solution, loss, X, y, C)
