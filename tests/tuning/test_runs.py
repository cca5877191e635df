"""How a search is stored, refused, shown and used."""

import os
import pickle
import signal
import subprocess
import sys
import textwrap

import joblib
import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.exceptions import ConvergenceWarning, NotFittedError

from shortlist import (
    EarlyStopping,
    MultilabelClassifier,
    MultilabelClassifierCV,
    TopKClassifier,
    TopKClassifierCV,
)
from shortlist.solvers import CheckpointError

OPTIONS = {"Cs": [0.01, 0.1, 1.0], "cv": 3, "extend": False}


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:200] / 16, y[:200]


@pytest.fixture(scope="module")
def search(digits):
    return TopKClassifierCV(TopKClassifier(random_state=0), **OPTIONS).fit(*digits)


def same(first, second):
    """Return whether two searches found the same, bit for bit, but for the times."""
    assert first.cv_results_.keys() == second.cv_results_.keys()
    return all(
        np.array_equal(column, second.cv_results_[name])
        for name, column in first.cv_results_.items()
        if not name.endswith("fit_time")
    )


def test_a_killed_search_goes_on_where_it_was(search, digits, tmp_path):
    folder = tmp_path / "search"
    script = f"""
        import os, signal
        from sklearn.datasets import load_digits
        from shortlist import TopKClassifier, TopKClassifierCV
        from shortlist.tuning.store import Store

        save, saved = Store.save, []

        def save_two(store, task, outcome):
            if len(saved) == 2:
                os.kill(os.getpid(), signal.SIGKILL)
            save(store, task, outcome)
            saved.append(task)

        Store.save = save_two
        X, y = load_digits(return_X_y=True)
        model = TopKClassifier(random_state=0)
        options = {{**{OPTIONS!r}, "checkpoint": {str(folder)!r}}}
        TopKClassifierCV(model, **options).fit(X[:200] / 16, y[:200])
    """
    run = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(script)], env=os.environ, check=False
    )
    assert run.returncode == -signal.SIGKILL
    finished = {file: file.stat().st_mtime_ns for file in folder.glob("*.npz")}
    assert len(finished) == 2
    (folder / "fold2-0123.npz.999.tmp").write_bytes(b"half")  # killed while writing
    resumed = clone(search).set_params(checkpoint=folder).fit(*digits)
    assert same(resumed, search)
    assert len(list(folder.glob("*.npz"))) == 3
    assert {file: file.stat().st_mtime_ns for file in finished} == finished


def test_the_folder_of_another_search_is_refused(search, digits, tmp_path):
    X, y = digits
    kept = clone(search).set_params(checkpoint=tmp_path).fit(X, y)
    # Values of C are files of their own; threads and the model's C make no difference.
    more = clone(kept).set_params(Cs=[0.5], estimator__n_jobs=1, estimator__C=3.0).fit(X, y)
    assert more.best_params_["top1"] == {"C": 0.5}
    with pytest.raises(CheckpointError, match=r"checkpoint of another search: X, y, .* differ"):
        clone(kept).fit(X[:100], y[:100])
    with pytest.raises(CheckpointError, match="search: sample_weight differ; delete it"):
        clone(kept).fit(X, y, np.full(200, 2.0))
    with pytest.raises(CheckpointError, match="search: estimator differ"):
        clone(kept).set_params(estimator__tol=1e-4).fit(X, y)
    with pytest.raises(CheckpointError, match="search: metrics differ"):
        clone(kept).set_params(metrics="top2").fit(X, y)
    with pytest.raises(CheckpointError, match="search: folds differ"):
        clone(kept).set_params(cv=4).fit(X, y)
    for file in tmp_path.glob("*.npz"):
        file.write_bytes(file.read_bytes()[:100])
    with pytest.raises(CheckpointError, match=r"npz is not a whole path \(.*\); delete it"):
        clone(kept).fit(X, y)
    (tmp_path / "search.json").write_text("{")
    with pytest.raises(CheckpointError, match=r"search.json cannot be read \(.*\); delete it"):
        clone(kept).fit(X, y)


def test_a_full_disk_does_not_end_a_search(search, digits, tmp_path, monkeypatch):
    def full(*paths):
        raise OSError("no space left")

    monkeypatch.setattr("shortlist.tuning.store.os.replace", full)
    with pytest.warns(RuntimeWarning, match="could not be written .no space left.; the search go"):
        other = clone(search).set_params(checkpoint=tmp_path).fit(*digits)
    assert same(other, search)
    assert not list(tmp_path.iterdir())


def test_paths_are_trained_side_by_side(search, digits):
    with joblib.parallel_config("threading", n_jobs=2):
        other = clone(search).fit(*digits)
    assert same(other, search)


def test_every_path_is_a_line_on_the_standard_error(search, digits, capfd):
    clone(search).set_params(verbose=1).fit(*digits)
    out, lines = capfd.readouterr()
    assert out == ""
    assert [line.split(" in ")[0] for line in lines.splitlines()] == [
        f"[{at}/3] fold {at - 1}: 3 values of C trained" for at in (1, 2, 3)
    ]


def test_metrics_with_the_same_best_setting_share_a_model(search, digits):
    X, y = digits
    assert list(search.best_params_) == ["top1", "top3", "top5"]
    for first in search.best_params_:
        model = search.estimator_for(first)
        alone = TopKClassifier(**search.best_params_[first], random_state=0).fit(X, y)
        np.testing.assert_array_equal(model.coef_, alone.coef_)
        for other in search.best_params_:
            equal = search.best_params_[first] == search.best_params_[other]
            assert (search.estimator_for(other) is model) == equal

    X, Y = make_multilabel_classification(80, random_state=0)
    sets = MultilabelClassifierCV(Cs=[0.1], metrics=["f1_micro", "subset_accuracy"], cv=2)
    sets.fit(X, Y)
    one, two = (sets.estimator_for(name) for name in sets.best_params_)
    assert one.coef_ is two.coef_
    assert one.threshold != two.threshold


def test_the_model_of_the_chosen_metric_answers(search, digits):
    X, y = digits
    other = clone(search).set_params(refit="top3", estimator__k=4).fit(X, y)
    best = other.estimator_for("top3")
    assert other.best_estimator_ is best
    np.testing.assert_array_equal(other.predict(X), best.predict(X))
    np.testing.assert_array_equal(other.decision_function(X), best.decision_function(X))
    np.testing.assert_array_equal(other.predict_proba(X), best.predict_proba(X))
    assert other.predict_topk(X)[0].shape == (200, 4)
    assert other.score(X, y) == best.score(X, y, k=3)
    assert search.score(X, y) == search.estimator_for("top1").score(X, y)
    assert not hasattr(TopKClassifierCV(TopKClassifier("svm")), "predict_proba")


def test_without_a_refit_there_are_values_and_no_models(search, digits):
    bare = clone(search).set_params(refit=False).fit(*digits)
    assert same(bare, search)
    for ask in (lambda: bare.predict(digits[0]), lambda: bare.estimator_for("top1")):
        with pytest.raises(AttributeError, match="no model was trained on all examples: set refit"):
            ask()


def test_pickle_clone_and_parameters(search, digits):
    back = pickle.loads(pickle.dumps(search))
    np.testing.assert_array_equal(back.predict(digits[0]), search.predict(digits[0]))
    assert search.get_params()["estimator__random_state"] == 0
    assert search.n_features_in_ == 64
    with pytest.raises(NotFittedError):
        clone(search).predict(digits[0])


def test_curves(search):
    matplotlib = pytest.importorskip("matplotlib")
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    axes = search.plot()
    assert [axis.get_title() for axis in axes] == ["top1", "top3", "top5"]
    drawn, dotted = axes[1].get_lines()
    np.testing.assert_array_equal(drawn.get_xdata(), OPTIONS["Cs"])
    np.testing.assert_array_equal(drawn.get_ydata(), search.cv_results_["mean_test_top3"])
    assert dotted.get_xdata()[0] == search.best_params_["top3"]["C"]
    assert search.plot("top5", axes=axes[0])[0] is axes[0]
    with pytest.raises(ValueError, match="there are 1 axes for 2 metrics"):
        search.plot(["top1", "top3"], axes=axes[:1])
    with pytest.raises(ValueError, match="'top9' was not tuned for; choose one of top1, top3"):
        search.plot("top9")
    plt.close("all")


def test_models_that_did_not_converge_are_told(digits):
    model = TopKClassifier(tol=1e-9, max_epochs=1)
    with pytest.warns(ConvergenceWarning) as told:
        TopKClassifierCV(model, **OPTIONS, refit=False).fit(*digits)
    (message,) = {str(each.message) for each in told}
    assert "9 of 9 models of the search did not reach tol=1e-09, the largest gap is" in message


@pytest.mark.parametrize(
    ("options", "error", "sentence"),
    [
        ({"estimator": MultilabelClassifierCV()}, TypeError, "tunes a TopKClassifier"),
        (
            {"estimator": TopKClassifier(early_stopping=EarlyStopping())},
            ValueError,
            "the estimator has early_stopping: set it to None, C is tuned instead",
        ),
        (
            {"estimator": TopKClassifier(checkpoint="file")},
            ValueError,
            "the estimator has checkpoint: set it to None, pass the folder to the search",
        ),
        ({"Cs": []}, ValueError, "pass a list of positive numbers"),
        ({"Cs": [1.0, -1.0]}, ValueError, "an element of Cs is -1.0; it must be positive"),
        ({"ks": [2]}, ValueError, "the loss 'softmax' has no k to tune"),
        (
            {"estimator": TopKClassifier("topk_entropy"), "ks": [2, 10]},
            ValueError,
            "k is 10, and there are 10 classes",
        ),
        (
            {"estimator": TopKClassifier("topk_entropy"), "ks": [0]},
            ValueError,
            "an element of ks is 0; it must be at least 1",
        ),
        ({"gammas": [1.0]}, ValueError, "gammas is for the kernels rbf and poly; .* 'linear'"),
        ({"metrics": []}, ValueError, "metrics is empty; name at least one"),
        ({"metrics": "top_1"}, ValueError, "there is no metric 'top_1'; did you mean 'top"),
        ({"metrics": ["top1", "top11"]}, ValueError, "k is 11; it must be between 1 and 10"),
        ({"metrics": "f1_micro"}, ValueError, "f1_micro is a metric of label sets, and y has"),
        ({"refit": "top2"}, ValueError, "refit is 'top2'; it must be one of top1, top3, top5"),
    ],
)
def test_errors_come_before_any_training(digits, monkeypatch, options, error, sentence):
    monkeypatch.delattr("shortlist.tuning.paths.path")
    with pytest.raises(error, match=sentence):
        TopKClassifierCV(**options).fit(*digits)


def test_errors_of_label_sets(monkeypatch):
    monkeypatch.delattr("shortlist.tuning.paths.path")
    X, Y = make_multilabel_classification(40, random_state=0)
    with pytest.raises(ValueError, match="candidates is 'grids'; it must be 'scores', 'grid'"):
        MultilabelClassifierCV(thresholds="grids").fit(X, Y)
    with pytest.raises(ValueError, match="X has 39 examples, and y has 40"):
        MultilabelClassifierCV().fit(X[1:], Y)
    with pytest.raises(ValueError, match="one label an example; for label sets choose one whose"):
        MultilabelClassifierCV(MultilabelClassifier("svm")).fit(X, Y)


def test_defaults_are_those_of_the_paper(digits, monkeypatch):
    tasks = []

    class EnoughError(Exception):
        pass

    def note(study, task, *others):
        tasks.append((study, task))
        raise EnoughError

    X, y = digits
    monkeypatch.setattr("shortlist.tuning.search._perform", note)
    for search, target in (
        (TopKClassifierCV(TopKClassifier("topk_entropy")), y % 4),
        (MultilabelClassifierCV(), np.eye(10, dtype=int)[y]),
    ):
        with pytest.raises(EnoughError):
            search.fit(X, target)
    (study, task), (of_sets, _) = tasks
    assert task.Cs == tuple(2.0**power for power in range(-20, 16))
    assert task.params == {"k": 1}
    assert study.metrics == ("top1", "top3")
    assert len(study.folds) == 5
    assert len(of_sets.folds) == 10
    assert len(of_sets.metrics) == 7
