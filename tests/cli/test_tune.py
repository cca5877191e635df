"""`tune` finds what the library's searches find, and keeps it where others can use it."""

import json

import numpy as np
import pytest

pytest.importorskip("typer")
from cli.running import refused, run, sets, single
from shortlist import MultilabelClassifierCV, TopKClassifier, TopKClassifierCV, datasets, models
from shortlist.cli import grid, training
from shortlist.cli.data import labels_of
from shortlist.estimators import MultilabelClassifier

WORDS = ("tune", "train.svm", "--loss", "topk_entropy", "-k", "1,2", "--metrics", "top1,top2_error",
         "--cs", "2^-6:2^0:3", "--folds", 3, "-o", "out")  # fmt: skip
LABELS = 'labels=["sun","sea","air","ice"]'
OF_SETS = ("tune", "sets.parquet", "--read", LABELS, "--metrics", "rank_loss,f1_micro,f1_macro",
           "--cs", "0.01,0.1", "--no-extend", "--folds", 2, "-o", "out")  # fmt: skip


def test_it_finds_what_the_library_finds(folder):
    out, said = run(*WORDS, "--test", "test.svm", "--json")
    told, kept = json.loads(out), json.loads((folder / "out" / "search.json").read_text())
    y = np.array([2, 10, 30, 7])[single().y]
    model = TopKClassifier("topk_entropy", random_state=0)
    search = TopKClassifierCV(
        model, Cs=[2.0**-6, 2.0**-3, 1.0], ks=[1, 2], metrics=["top1", "top2_error"], cv=3
    ).fit(datasets.read("train.svm").X.toarray(), y)
    assert told["best"].keys() == search.best_params_.keys()
    test = datasets.read("test.svm", n_features=5)
    for name, best in told["best"].items():
        assert best["params"] == search.best_params_[name]
        assert best["score"] == search.best_score_[name]
        at = search.best_index_[name]
        assert best["spread"] == search.cv_results_[f"std_test_{name}"][at]
        model = models.load(folder / "out" / best["model"])
        np.testing.assert_array_equal(model.coef_, search.estimator_for(name).coef_)
        assert best["certificate"]["gap"] == model.certificate_.gap
        words = ("evaluate", f"out/{best['model']}", "test.svm", "--metrics", "top1,top2_error")
        shown = json.loads(run(*words, "--json")[0])
        assert told["test"]["metrics"][name].items() <= shown.items()
        assert shown["n"] == test.n
    # search.json has the same, and the columns of the search.
    columns = kept.pop("cv_results")
    assert {"folder": "out", **kept} == told
    assert (kept["kind"], kept["folds"], kept["data"]["m"]) == ("search", 3, 4)
    assert columns.keys() == search.cv_results_.keys()
    for name, column in columns.items():
        if not name.endswith("fit_time"):
            assert column == np.asarray(search.cv_results_[name]).tolist()
    assert "[1/6] fold 0, k = 1: 3 values of C trained in" in said
    # Once more nothing is trained, and people are shown the same.
    table, said = run(*WORDS, "--test", "test.svm")
    assert "trained" not in said
    assert "the best for" not in said
    for name, best in told["best"].items():
        assert f"{best['score']:.4f} ± {best['spread']:.4f}" in table
        assert f"{told['test']['metrics'][name][name]:.4f}" in table


def test_label_sets(folder, monkeypatch):
    fits, fit = [], training.fit
    monkeypatch.setattr(training, "fit", lambda *a, **k: fits.append(a[1].C) or fit(*a, **k))
    told = json.loads(run(*OF_SETS, "--json")[0])
    assert told["estimator"] == "MultilabelClassifier"
    assert "test" not in told
    Y, classes = labels_of(sets())
    search = MultilabelClassifierCV(
        MultilabelClassifier(random_state=0), Cs=[0.01, 0.1], extend=False, cv=2,
        metrics=["rank_loss", "f1_micro", "f1_macro"],
    ).fit(sets().X, Y)  # fmt: skip
    assert len(fits) == len(set(fits)) == len({each["C"] for each in search.best_params_.values()})
    for name, best in told["best"].items():
        assert best["params"] == search.best_params_[name]
        model = models.load(folder / "out" / best["model"])
        assert model.classes_.tolist() == classes.tolist() == ["air", "ice", "sea", "sun"]
        expected = search.estimator_for(name).predict(sets().X).toarray()
        np.testing.assert_array_equal(model.predict(sets().X).toarray(), expected)
    # A damaged model is made again, without training where another has its coefficients.
    count, file = len(fits), folder / "out" / "f1_macro.shortlist"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    run(*OF_SETS)
    assert file.read_bytes() == whole
    alone = list(search.best_params_.values())
    shared = sum(each["C"] == search.best_params_["f1_macro"]["C"] for each in alone) > 1
    assert len(fits) == count + (not shared)


def test_a_known_set_is_measured_on_its_test_split(folder):
    out, _ = run("tune", "circle", "--cs", "1", "--metrics", "top1", "--folds", 2, "-o", "out",
                 "--json")  # fmt: skip
    assert json.loads(out)["test"]["source"] == "circle, test"


@pytest.mark.filterwarnings("default")
def test_winners_that_did_not_converge_end_with_3(folder):
    limits = ("--cs", "10", "--max-epochs", 1, "--tol", 1e-9, "--folds", 2)
    out, said = run("tune", "train.svm", *limits, "-o", "out", code=3)
    assert " ! │" in out
    assert "warning: 2 of 2 models of the search did not reach tol=1e-09" in said


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("1", [1.0]),
        (" 0.5, 1e-3 ,", [0.5, 1e-3]),
        ("2^-2:2^1", [0.25, 0.5, 1.0, 2.0]),
        ("10^-4:10^1:2, 3", [1e-4, 1e-2, 1.0, 3.0]),
        ("2^5", [32.0]),
        ("scale,2^-1", ["scale", 0.5]),
    ],
)
def test_values_as_a_user_writes_them(text, numbers):
    assert grid.values(text, "--gammas", also=("scale", "auto")) == numbers
    assert grid.values(None, "--cs") is None
    assert grid.whole_values("1, 5", "--ks") == [1, 5]


def test_bad_input_is_one_sentence(folder):
    tune = ("tune", "train.svm", "-o", "out")
    for text in ("x", "1;2", "2^x", "2^99999"):
        assert f"--cs has {text!r}; write numbers, powers" in refused(*tune, "--cs", text)
    for text in ("1:2", "2^1:3^2", "2^1:2^2:2^1", "2^1:2^2:1:1", ":"):
        assert f"--cs has {text!r}; write a range of powers" in refused(*tune, "--cs", text)
    assert "an element of Cs is -1.0; it must be" in refused(*tune, "--cs", "-1")
    assert "pass a list of positive numbers" in refused(*tune, "--cs", "2^3:2^1")
    assert "--ks is '1.5'; write integers" in refused(*tune, "-k", "1.5")
    assert "no k to tune" in refused(*tune, "-k", "1,2")
    assert "no metric 'tap1'" in refused(*tune, "--metrics", "tap1")
    assert "metric of label sets" in refused(*tune, "--metrics", "f1_micro")
    assert "gammas is for the kernels rbf" in refused(*tune, "--gammas", "1")
    assert "--ks is for one label an example" in refused(*OF_SETS, "-k", "1")
    run(*tune, "--cs", "1", "--folds", 2)
    sentence = refused("tune", "test.svm", "--cs", "1", "--folds", 2, "-o", "out")
    assert "out/paths is the checkpoint of another search: X, y, " in sentence
