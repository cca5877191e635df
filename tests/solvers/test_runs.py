"""How a run goes and ends: limits, Ctrl-C, history, evaluation sets, checkpoints, honesty."""

import itertools
import os
import signal
import subprocess
import sys
import textwrap
import threading

import numpy as np
import pytest
import scipy.sparse
from sklearn.metrics import top_k_accuracy_score
from threadpoolctl import threadpool_info

from shortlist import losses, path, rows, solve
from shortlist.solvers import Certificate, CheckpointError, Status, choice, sdca
from shortlist.solvers.problem import Problem
from shortlist.solvers.resting import Resting
from shortlist.solvers.team import Team
from solvers.cases import data
from solvers.cases import objectives_from_scratch as objectives

#: A problem that is far from solved after a few passes.
HARD = {"loss": losses.svm(), "C": 100.0, "solver": "sdca", "tol": 1e-12}


def press_ctrl_c_at(epoch):
    """A callback that does what Ctrl-C does, once."""
    pressed = []

    def callback(evaluation):
        if evaluation.epoch >= epoch and not pressed:
            pressed.append(True)
            signal.raise_signal(signal.SIGINT)

    return callback


def assert_certificate_is_true(solution, X, y, C=100.0, loss=HARD["loss"]):
    primal, dual, _ = objectives(loss, X, y, np.full(len(X), C), solution.duals)
    np.testing.assert_allclose(solution.certificate, (primal, dual), rtol=1e-12)


def test_limits_are_obeyed_and_the_certificate_is_true():
    X, y = data("svm", n=100)
    stops = {
        Status.MAX_EPOCHS: {"max_epochs": 3},
        Status.MAX_TIME: {"max_time": 1e-9},
        Status.STOPPED: {"callback": lambda evaluation: evaluation.epoch >= 2},
        Status.INTERRUPTED: {"callback": press_ctrl_c_at(3)},
    }
    for status, limits in stops.items():
        solution = solve(X, y, **HARD, **limits)
        assert solution.status is status
        assert_certificate_is_true(solution, X, y)
        assert solution.history[-1].epoch <= 4
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_ctrl_c_in_the_middle_of_a_pass(monkeypatch):
    """Nothing is torn: the model and the duals agree to rounding."""
    X, y = data("svm", n=100)
    original, visits = sdca.Sdca._visit_block, []

    def visit(self, examples):
        visits.append(1)
        if len(visits) == 30:
            signal.raise_signal(signal.SIGINT)
        return original(self, examples)

    monkeypatch.setattr(sdca.Sdca, "_visit_block", visit)
    solution = solve(X, y, **HARD, block_size=8, n_threads=1)
    assert solution.status is Status.INTERRUPTED
    assert len(visits) == 30  # 13 to a pass: in the middle of the third
    assert_certificate_is_true(solution, X, y)


def test_a_second_ctrl_c_is_an_exception():
    X, y = data("svm", n=100)

    def twice(evaluation):
        signal.raise_signal(signal.SIGINT)
        signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        solve(X, y, **HARD, callback=twice)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


def test_other_threads_can_train():
    X, y = data("svm")
    solutions = []
    thread = threading.Thread(target=lambda: solutions.append(solve(X, y, losses.svm(1.0))))
    thread.start()
    thread.join()
    assert solutions[0].converged


def test_the_history_tells_what_happened():
    X, y = data("svm", n=100)
    seen = []
    solution = solve(X, y, losses.svm(1.0), tol=1e-6, callback=seen.append)
    history = solution.history
    assert seen == history
    assert (np.diff(history.epochs) > 0).all()
    assert (np.diff(history.dual) >= -1e-12).all()
    assert (np.diff(history.seconds) > 0).all()
    np.testing.assert_allclose(history.gaps[-1], solution.certificate.gap)
    np.testing.assert_allclose(history.primal[-1], solution.certificate.primal)


def test_metrics_of_evaluation_sets_are_scikit_learns():
    X, y = data("softmax", n=90)
    test = X[60:], y[60:]
    sets = {
        "train": (X[:60], y[:60]),
        "test": test,
        "sparse": (scipy.sparse.csr_array(test[0]), y[60:]),
    }
    solution = solve(X[:60], y[:60], n_classes=4, evaluate_on=sets, intercept=0.5)
    scores = X @ solution.weights[:-1] + 0.5 * solution.weights[-1]
    for name, some in {"train": slice(60), "test": slice(60, 90), "sparse": slice(60, 90)}.items():
        curve = solution.history[-1].metrics[name]
        for k in (1, 2, 3):
            expected = top_k_accuracy_score(y[some], scores[some], k=k, labels=range(4))
            assert curve[k - 1] == pytest.approx(expected)
        assert curve[-1] == pytest.approx(1.0)


def test_metrics_of_label_sets_are_shares_of_them():
    X = np.eye(3)
    y = [[0, 1], [2], []]
    solution = solve(X, y, "multilabel_svm", n_classes=3, evaluate_on={"train": (X, y)})
    np.testing.assert_allclose(solution.history[-1].metrics["train"][-1], 1.0)
    assert solution.history[-1].metrics["train"][0] >= 0.5


def test_what_rests_is_visited_again_and_what_weighs_nothing_never():
    resting = Resting(np.array([1.0, 1.0, 0.0]))
    visits = np.zeros(3, int)
    for epoch in range(100):
        examples = resting.examples(epoch)
        visits[examples] += 1
        resting.note(examples, examples == 0, epoch)  # only example 0 moves
    assert visits[0] == 100
    assert 100 / 8 <= visits[1] <= 20
    assert visits[2] == 0
    resting.wake()
    np.testing.assert_array_equal(resting.examples(0), [0, 1])


def test_resting_spares_visits_and_changes_nothing_else(monkeypatch):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(400, 20))
    y = (X @ rng.normal(size=(20, 3))).argmax(axis=1)
    visited = []
    original = sdca.Sdca._visit_rows

    def visit(self, examples):
        visited.append(examples.size)
        return original(self, examples)

    monkeypatch.setattr(sdca.Sdca, "_visit_rows", visit)
    solution = solve(X, y, "svm", C=0.1, tol=1e-6, max_epochs=5000)
    assert solution.converged
    assert sum(visited) < 0.7 * 400 * solution.history[-1].epoch
    assert_certificate_is_true(solution, X, y, 0.1, losses.svm())


def test_no_progress_is_said():
    """float32 cannot reach 1e-12, and that is noticed long before the limit."""
    X, y = data("softmax", n=50)
    solution = solve(X.astype(np.float32), y, "softmax", C=0.1, tol=1e-12, max_epochs=100_000)
    assert solution.status is Status.NO_PROGRESS
    assert solution.certificate.gap < 1e-5
    assert solution.history[-1].epoch < 1000


def test_a_method_that_was_left_is_not_chosen_again(monkeypatch):
    """Accelerated passes gain no more than rounding in single precision: back to plain ones."""
    monkeypatch.setattr(choice, "_may_use_newton", lambda problem: False)  # which solves small ones
    options = {"tol": 1e-10, "intercept": 1.0, "n_threads": 1, "max_epochs": 2000}
    orders = []
    for seed in range(20):  # where rounding stops each of them is a matter of luck
        X = np.random.default_rng(seed).normal(size=(10, 5)).astype(np.float32)
        solution = path(X, np.arange(10) % 3, "ova_logistic", Cs=[0.1, 1.0], **options)[0]
        methods = [line.method for line in solution.history]
        orders.append([name for name, _ in itertools.groupby(methods)])
        for name in ("accelerated", "whitened"):
            assert orders[-1].count(name) <= 1
        assert abs(solution.certificate.gap) < 1e-6
        if orders[-1][-1] == "sdca" and not solution.converged:
            assert solution.status is Status.NO_PROGRESS
    assert ["sdca", "accelerated", "sdca"] in [order[:3] for order in orders]


@pytest.mark.parametrize("loss", ["svm", "softmax", "ova_svm", "multilabel_svm"])
def test_what_would_overflow_is_refused(loss):
    X = np.full((6, 4), 1e25, np.float32)
    with pytest.raises(
        ValueError, match=r"the squared length of X\[0\], times its weight, is 4.0e"
    ):
        solve(X, [0, 1, 2, 0, 1, 2], loss)
    with pytest.raises(ValueError, match="choose a smaller C or float64"):
        path(np.eye(3, dtype=np.float32), [0, 1, 2], loss, Cs=[1.0, 1e38])


def test_a_failure_returns_the_model_of_zero_duals(monkeypatch):
    """Numbers that overflow in some other way."""
    X, y = data("svm")
    original = Problem.certificate

    def broken(self, model, duals, team):
        found = original(self, model, duals, team)
        return found if not duals.any() else Certificate(np.nan, np.nan)

    monkeypatch.setattr(Problem, "certificate", broken)
    solution = solve(X, y, "svm")
    assert solution.status is Status.FAILED
    assert not solution.weights.any()
    assert solution.certificate == pytest.approx((30.0, 0.0))


def test_a_start_that_is_not_feasible_certifies_nothing():
    """It is projected first: also what the first pass has not visited when it is broken off."""
    X, y = data("svm")
    start = np.where(np.arange(4) == y[:, None], -9.0, 3.0)
    how = {"C": 1e-4, "block_size": 2, "n_threads": 1}
    best = solve(X, y, "svm", **how, tol=1e-9, max_epochs=5000).certificate
    solution = solve(X, y, "svm", **how, duals=start, tol=1e-14, max_time=1e-9)
    assert solution.status is Status.MAX_TIME
    assert solution.certificate.dual <= best.primal
    assert_certificate_is_true(solution, X, y, 1e-4)


def test_a_path_ends_where_it_is_told_to():
    X, y = data("svm")
    interrupted = path(X, y, "softmax", Cs=[0.1, 1.0, 10.0], callback=press_ctrl_c_at(1))
    assert 1 <= len(interrupted) <= 2
    stopped = path(X, y, "svm", Cs=[1.0, 10.0], tol=1e-12, callback=lambda line: True)
    assert [solution.status for solution in stopped] == [Status.STOPPED]


def test_limits_of_a_loss_that_is_not_convex():
    X, y = data("truncated_topk_entropy", n=60)
    loss = losses.truncated_topk_entropy(2)
    assert solve(X, y, loss, max_time=1e-9).status is Status.MAX_TIME
    assert solve(X, y, loss, tol=1e-12, callback=lambda line: True).status is Status.STOPPED
    ended = solve(X, y, loss, tol=1e-12, callback=press_ctrl_c_at(2))
    assert ended.status is Status.INTERRUPTED
    assert (np.diff(ended.history.seconds) > 0).all()


def test_runs_that_overlap_leave_blas_as_it_was():
    before = [pool["num_threads"] for pool in threadpool_info()]
    one, two = Team(1), Team(1)
    one.__exit__(None, None, None)
    two.__exit__(None, None, None)
    assert [pool["num_threads"] for pool in threadpool_info()] == before


# --- checkpoints ---


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("how", [{}, {"block_size": 16}, {"n_classes": 500, "n_threads": 2}])
def test_a_broken_run_ends_in_the_same_bits(dtype, how, tmp_path):
    X, y = data("svm", n=200, d=70)
    X = X.astype(dtype)
    options = {**HARD, **how, "evaluate_on": {"train": (X, y)}}
    whole = solve(X, y, **options, max_epochs=12)
    file = tmp_path / "run.npz"
    for most in (1, 5, 8, 12):
        parts = solve(X, y, **options, max_epochs=most, checkpoint=file)
    np.testing.assert_array_equal(parts.duals, whole.duals)
    np.testing.assert_array_equal(parts.weights, whole.weights)
    assert parts.certificate == whole.certificate
    assert list(parts.history.epochs) == list(whole.history.epochs)
    np.testing.assert_array_equal(
        parts.history[-1].metrics["train"], whole.history[-1].metrics["train"]
    )


def test_an_interrupted_run_ends_in_the_same_bits(tmp_path, monkeypatch):
    X, y = data("svm", n=200, d=70)
    whole = solve(X, y, **HARD, max_epochs=6, block_size=16)
    original, visits = sdca.Sdca._visit_block, []

    def visit(self, examples):
        visits.append(1)
        if len(visits) % 20 == 0:
            signal.raise_signal(signal.SIGINT)
        return original(self, examples)

    monkeypatch.setattr(sdca.Sdca, "_visit_block", visit)
    for _ in range(20):
        parts = solve(X, y, **HARD, max_epochs=6, block_size=16, checkpoint=tmp_path / "run")
        if parts.status is not Status.INTERRUPTED:
            break
    assert parts.status is Status.MAX_EPOCHS
    assert len(visits) > 40
    np.testing.assert_array_equal(parts.duals, whole.duals)


KILLED = """
    import os, sys
    import numpy as np
    from shortlist import losses, path, rows, solve
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(300, 70)), rng.integers(0, 4, 300)
    def die(evaluation):
        if evaluation.epoch >= 5 and sys.argv[2] == "die":
            os.kill(os.getpid(), 9)
    solution = solve(X, y, losses.svm(), C=100.0, solver=sys.argv[3], tol=1e-12, callback=die,
                     max_epochs=int(sys.argv[4]), checkpoint=sys.argv[1] or None,
                     checkpoint_every=0.0)
    print(solution.duals.tobytes().hex()[:4000], solution.history[-1].epoch)
"""


@pytest.mark.parametrize(("solver", "passes"), [("sdca", 10), ("auto", 60)])
def test_a_killed_run_goes_on(solver, passes, tmp_path):
    def run(file, how):
        code = [sys.executable, "-c", textwrap.dedent(KILLED), file, how, solver, str(passes)]
        return subprocess.run(code, capture_output=True, text=True, timeout=300)

    file = str(tmp_path / "run.npz")
    assert run(file, "die").returncode == -signal.SIGKILL
    assert os.path.getsize(file) > 0
    resumed, whole = run(file, "live"), run("", "live")
    assert whole.returncode == 0, whole.stderr
    assert resumed.stdout == whole.stdout


def test_foreign_and_torn_checkpoints_are_refused(tmp_path):
    X, y = data("svm", n=60)
    file = tmp_path / "run.npz"
    options = {**HARD, "max_epochs": 2, "checkpoint": file}
    solve(X, y, **options)
    whole = file.read_bytes()
    start = solve(X, y, **HARD, max_epochs=1).duals
    others = {
        "X": lambda: solve(X + 1e-9, y, **options),
        "the memory order of X": lambda: solve(np.asfortranarray(X), y, **options),
        "y": lambda: solve(X, np.roll(y, 1), **options),
        "loss": lambda: solve(X, y, **{**options, "loss": losses.svm(0.5)}),
        "C or sample_weight": lambda: solve(X, y, **{**options, "C": 1.0}),
        "random_state": lambda: solve(X, y, **options, random_state=1),
        "block_size": lambda: solve(X, y, **options, block_size=7),
        "anchor": lambda: solve(X, y, **options, anchor=np.ones((5, 4))),
        "duals": lambda: solve(X, y, **options, duals=start),
    }
    for what, other in others.items():
        with pytest.raises(CheckpointError, match=f"is the checkpoint of another run: .*{what}"):
            other()
        assert file.read_bytes() == whole, what
    for torn in (whole[: len(whole) // 2], b"", b"not a checkpoint", whole[:-50]):
        file.write_bytes(torn)
        with pytest.raises(CheckpointError, match="is not a whole checkpoint"):
            solve(X, y, **options)
    np.savez(file, duals=np.zeros(3))
    with pytest.raises(CheckpointError, match="is not a whole checkpoint"):
        solve(X, y, **options)


def test_a_checkpoint_knows_its_kernel(tmp_path):
    X, y = data("svm", n=60)
    options = {**HARD, "max_epochs": 2, "checkpoint": tmp_path / "run.npz"}
    solve(rows.kernel(X, "rbf", gamma=0.1), y, **options)
    with pytest.raises(CheckpointError, match="another run: X differ"):
        solve(rows.kernel(X, "rbf", gamma=10.0), y, **options)


def test_a_converged_run_can_be_refined(tmp_path):
    X, y = data("softmax")
    file = tmp_path / "run.npz"
    first = solve(X, y, tol=1e-3, checkpoint=file)
    again = solve(X, y, tol=1e-3, checkpoint=file)
    assert again.converged
    assert again.history.epochs[-1] == first.history.epochs[-1]
    np.testing.assert_array_equal(again.duals, first.duals)
    finer = solve(X, y, tol=1e-9, checkpoint=file)
    assert finer.certificate.gap <= 1e-9
    assert finer.history[: len(first.history)] == first.history


def test_a_checkpoint_that_cannot_be_written_does_not_lose_the_run(tmp_path, monkeypatch):
    X, y = data("svm", n=60)

    def full_disk(*args, **kwargs):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "savez", full_disk)
    with pytest.warns(RuntimeWarning, match="No space left on device"):
        solution = solve(X, y, **HARD, max_epochs=2, checkpoint=tmp_path / "run.npz")
    assert solution.status is Status.MAX_EPOCHS
    assert list(tmp_path.iterdir()) == []
