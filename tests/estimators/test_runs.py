"""How a fit goes and ends: limits, warnings, progress, early stopping, callbacks, kills."""

import os
import signal
import subprocess
import sys
import textwrap
import warnings

import numpy as np
import pytest
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

from shortlist import EarlyStopping, TopKClassifier, losses, metrics
from shortlist.solvers import CheckpointError


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:600] / 16, y[:600]


def test_a_limit_is_obeyed_and_the_warning_says_what_to_change(digits):
    model = TopKClassifier("svm", smoothing=0, C=100.0, tol=1e-9, max_epochs=3)
    sentence = (
        r"the duality gap is .* after 3 epochs \(max_epochs\); 1.0e-09 was asked for: "
        "raise max_epochs, lower C, or scale the features"
    )
    with pytest.warns(ConvergenceWarning, match=sentence):
        model.fit(*digits)
    assert (model.n_iter_, model.converged_, model.status_) == (3, False, "max_epochs")
    assert model.certificate_.gap > 1e-9
    with pytest.warns(ConvergenceWarning, match=r"\(max_time\)"):
        model.set_params(max_time=1e-3, max_epochs=10**6).fit(*digits)
    with pytest.warns(ConvergenceWarning, match="the gradient is"):
        TopKClassifier("truncated_topk_entropy", k=2, tol=1e-12, max_epochs=2).fit(*digits)


def test_a_fit_that_converges_says_nothing(digits, capfd):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        TopKClassifier().fit(*digits)
    assert capfd.readouterr() == ("", "")


def test_progress_shows_epoch_gap_and_time(digits, capfd, monkeypatch):
    options = {"C": 10.0, "tol": 1e-4, "verbose": 1}
    TopKClassifier("svm", **options).fit(*digits)
    shown = "".join(capfd.readouterr())
    assert "epoch" in shown
    assert "gap" in shown
    # Without `rich` there are lines on the standard error.
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    TopKClassifier("svm", **options).fit(*digits)
    out, lines = capfd.readouterr()
    assert out == ""
    assert "epoch" in lines.splitlines()[-1]
    assert "gap" in lines.splitlines()[-1]


def test_callbacks_see_the_weights_and_may_stop(digits):
    seen = []

    def watch(progress):
        seen.append((progress.epoch, progress.gap, progress.weights().shape))
        return len(seen) == 2

    model = TopKClassifier("svm", C=10.0, tol=1e-9, callbacks=[watch]).fit(*digits)
    assert len(seen) == 2
    assert seen[0][2] == (65, 10)
    assert model.status_ == "stopped"


def test_early_stopping_watches_examples_held_out(digits):
    X, y = digits
    stopping = EarlyStopping("top3", patience=2)
    model = TopKClassifier(
        "svm", smoothing=0, C=1e3, tol=1e-10, early_stopping=stopping, random_state=0
    )
    model.fit(X, y)
    assert model.status_ == "stopped"
    values = [line.metrics["validation"][2] for line in model.history_]
    assert max(values[-2:]) <= max(values[:-2])
    assert (60 * max(values)).is_integer()  # a tenth was held out
    given = TopKClassifier("svm", C=1e3, tol=1e-10, early_stopping=stopping, random_state=0)
    given.fit(X[:500], y[:500], X_val=X[500:], y_val=y[500:])
    scores = given.decision_function(X[500:])
    own = scores[np.arange(100), y[500:]]
    top3 = ((scores > own[:, None]).sum(axis=1) < 3).mean()
    # The best model is kept, and the certificate is its own.
    lines = [line.metrics["validation"][2] for line in given.history_]
    assert top3 == pytest.approx(max(lines))
    best = given.history_[int(np.argmax(lines))]
    assert given.certificate_ == best.certificate
    values = losses.value(losses.svm(smoothing=1.0), given.decision_function(X[:500]), y[:500])
    half = 0.5 * np.sum(given.coef_**2) + 0.5 * np.sum(given.intercept_**2)
    assert given.certificate_.primal == pytest.approx(half + 1e3 * values.sum())


@pytest.mark.parametrize("metric", ["map_step", "rank_loss"])
def test_early_stopping_by_any_metric_of_scores(digits, metric):
    X, y = digits
    values = []

    def watch(progress):
        scores = X[500:] @ progress.weights()[:-1] + progress.weights()[-1]
        values.append(metrics.metric(metric).function(y[500:], scores))

    options = {"C": 1e3, "tol": 1e-10, "early_stopping": EarlyStopping(metric, patience=2)}
    model = TopKClassifier("svm", callbacks=[watch], random_state=0, **options)
    model.fit(X[:500], y[:500], X_val=X[500:], y_val=y[500:])
    reached = metrics.metric(metric).function(y[500:], model.decision_function(X[500:]))
    assert reached == pytest.approx(max(values) if metric == "map_step" else min(values))
    assert model.status_ == "stopped"


def test_sets_can_be_watched_without_stopping(digits):
    X, y = digits
    model = TopKClassifier().fit(X[:500], y[:500], X_val=X[500:], y_val=y[500:])
    assert model.converged_
    assert model.history_[-1].metrics["validation"].shape == (10,)


def test_callbacks_of_scikit_learn(digits):
    pytest.importorskip("sklearn.callback")
    X, y = digits

    class Follower:
        def __init__(self):
            self.calls, self.scores = [], []

        def setup(self, estimator, context):
            self.calls.append("setup")

        def teardown(self, estimator, context):
            self.calls.append("teardown")

        def on_fit_task_begin(self, estimator, context):
            self.calls.append(f"begin {context.task_name}")

        def on_fit_task_end(self, estimator, context, *, X=None, y=None, fitted_estimator=None):
            self.calls.append(f"end {context.task_name}")
            if fitted_estimator is not None:
                self.scores.append(fitted_estimator.score(X, y))
            return len(self.scores) == 3

    follower = Follower()
    model = TopKClassifier("svm", C=10.0, tol=1e-9).set_callbacks(follower).fit(X, y)
    assert follower.calls[:2] == ["setup", "begin fit"]
    assert follower.calls[-2:] == ["end fit", "teardown"]
    assert follower.calls.count("end evaluation") == 3
    assert model.status_ == "stopped"
    assert model.score(X, y) == follower.scores[-1]


SCRIPT = textwrap.dedent(
    """
    import os, signal, sys, warnings
    import numpy as np
    from sklearn.datasets import load_digits
    from shortlist import TopKClassifier

    warnings.simplefilter("ignore")
    X, y = load_digits(return_X_y=True)
    X, y = X[:600] / 16, y[:600]
    seen = []

    def die(progress):
        seen.append(progress.epoch)
        if sys.argv[2] == "die" and len(seen) == 4:
            os.kill(os.getpid(), signal.SIGKILL)

    model = TopKClassifier("svm", smoothing=0, C=10.0, tol=1e-5, max_epochs=300, callbacks=[die],
                           checkpoint=sys.argv[1] or None, checkpoint_every=0.0, random_state=0)
    model.fit(X, y)
    print(model.n_iter_, model.coef_.tobytes().hex(), model.certificate_)
    """
)


def test_killed_in_the_middle_and_resumed_it_ends_in_the_same_bits(tmp_path):
    def run(file, how):
        command = [sys.executable, "-c", SCRIPT, str(file), how]
        return subprocess.run(command, capture_output=True, text=True, timeout=600)

    file = tmp_path / "run.npz"
    assert run(file, "die").returncode == -signal.SIGKILL
    assert os.path.getsize(file) > 0
    resumed, whole = run(file, "live"), run("", "live")
    assert whole.returncode == 0, whole.stderr
    assert resumed.stdout == whole.stdout


def test_torn_and_foreign_checkpoints_are_refused(digits, tmp_path):
    X, y = digits
    file = tmp_path / "run.npz"
    options = {"checkpoint": file, "random_state": 0}
    TopKClassifier("svm", **options).fit(X, y)
    for model in (TopKClassifier("softmax", **options), TopKClassifier("svm", C=2.0, **options)):
        with pytest.raises(CheckpointError, match="is the checkpoint of another run"):
            model.fit(X, y)
    file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(CheckpointError, match="is not a whole checkpoint"):
        TopKClassifier("svm", **options).fit(X, y)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no SIGINT to send to oneself")
def test_ctrl_c_keeps_what_is_trained(digits):
    def interrupt(progress):
        if len(seen) == 3:
            os.kill(os.getpid(), signal.SIGINT)  # a second one would raise, as usual
        seen.append(progress.epoch)

    seen = []

    model = TopKClassifier("svm", smoothing=0, C=1e4, tol=1e-12, callbacks=[interrupt])
    with pytest.warns(ConvergenceWarning, match=r"\(interrupted\)"):
        model.fit(*digits)
    assert model.status_ == "interrupted"
    assert model.score(*digits) > 0.5
