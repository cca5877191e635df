"""One search for all metrics finds what brute force finds: every model by itself, from zero."""

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import clone
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import KFold, StratifiedKFold

from shortlist import (
    MultilabelClassifier,
    MultilabelClassifierCV,
    TopKClassifier,
    TopKClassifierCV,
    metrics,
)
from shortlist.model_selection import IterativeStratifiedKFold
from shortlist.model_selection.thresholds import GRID

EXACT = {"tol": 1e-12, "random_state": 0}
CS = [2.0**-9, 2.0**-6, 2.0**-3, 1.0, 8.0]
TOPK = ("top1", "top3", "rank_loss", "map")


def f1(Y, P, axis):
    """Return 2 |Y and P| / (|Y| + |P|) by its definition; 1 where both are empty."""
    sizes = np.atleast_1d((Y + 1.0 * P).sum(axis))
    found = np.atleast_1d((Y * P).sum(axis))
    return np.mean(
        [1.0 if size == 0 else 2 * hit / size for hit, size in zip(found, sizes, strict=True)]
    )


SETS = {
    "f1_micro": lambda Y, P: f1(Y, P, None),
    "f1_macro": lambda Y, P: f1(Y, P, 0),
    "f1_instance": lambda Y, P: f1(Y, P, 1),
    "hamming_loss": lambda Y, P: (Y != P).mean(),
    "subset_accuracy": lambda Y, P: (Y == P).all(axis=1).mean(),
}


@pytest.fixture(scope="module")
def digits():
    """Return digits, some of them with a wrong label, so that the best C is not the largest."""
    X, y = load_digits(return_X_y=True)
    wrong = np.random.default_rng(0).choice(300, 45, replace=False)
    y[wrong] = (y[wrong] + 3) % 10
    return X[:300] / 16, y[:300]


@pytest.fixture(scope="module")
def label_sets():
    return make_multilabel_classification(
        150, n_features=12, n_classes=5, n_labels=2, random_state=3
    )


@pytest.fixture(scope="module")
def search(digits):
    model = TopKClassifier(**EXACT)
    return TopKClassifierCV(model, Cs=CS, metrics=TOPK, cv=3, extend=False).fit(*digits)


def brute_force(estimator, X, y, settings, folds, names):
    """Return the metrics of scores, one model at a time: (settings, folds) for each name."""
    values = {name: np.empty((len(settings), len(folds))) for name in names}
    judge = metrics.scorer(*names)
    for row, params in enumerate(settings):
        for column, (train, test) in enumerate(folds):
            model = clone(estimator).set_params(**params).fit(X[train], y[train])
            for name, value in judge(model, X[test], y[test]).items():
                values[name][row, column] = metrics.metric(name).sign * value
    return values


def check(search, values):
    """Check all columns of a search against values by brute force."""
    results = search.cv_results_
    for name, table in values.items():
        folds = [results[f"split{fold}_test_{name}"] for fold in range(table.shape[1])]
        np.testing.assert_allclose(np.column_stack(folds), table, rtol=1e-6)
        np.testing.assert_allclose(results[f"mean_test_{name}"], table.mean(axis=1), rtol=1e-6)
        np.testing.assert_allclose(results[f"std_test_{name}"], table.std(axis=1), atol=1e-6)
        merit = metrics.metric(name).sign * table.mean(axis=1)
        ranks = [1 + (merit > each + 1e-9).sum() for each in merit]
        np.testing.assert_array_equal(results[f"rank_test_{name}"], ranks)
        best = ranks.index(1)
        assert search.best_index_[name] == best
        assert search.best_params_[name].items() >= results["params"][best].items()
        np.testing.assert_allclose(search.best_score_[name], table[best].mean(), rtol=1e-6)


def test_every_value_is_that_of_brute_force(search, digits):
    X, y = digits
    folds = list(StratifiedKFold(3).split(X, y))
    settings = [{"C": C} for C in CS]
    assert search.cv_results_["params"] == settings
    np.testing.assert_array_equal(search.cv_results_["param_C"], CS)
    check(search, brute_force(TopKClassifier(**EXACT), X, y, settings, folds, TOPK))
    assert len({params["C"] for params in search.best_params_.values()}) > 1


@pytest.mark.parametrize("candidates", ["grid", "scores"])
def test_thresholds_are_tuned_on_the_scores_of_all_folds(label_sets, candidates):
    X, Y = label_sets
    model = MultilabelClassifier(**EXACT)
    search = MultilabelClassifierCV(
        model,
        Cs=CS[:3],
        metrics=["rank_loss", "map", *SETS],
        thresholds=candidates,
        cv=4,
        extend=False,
    ).fit(X, Y)
    folds = list(IterativeStratifiedKFold(4).split(X, Y))
    truth = np.concatenate([Y[test] for _, test in folds])
    values = {name: np.empty((3, 4)) for name in SETS}
    for row, C in enumerate(CS[:3]):
        parts = [
            clone(model).set_params(C=C).fit(X[train], Y[train]).decision_function(X[test])
            for train, test in folds
        ]
        scores = np.concatenate(parts)
        tried = np.sort(GRID if candidates == "grid" else np.append(scores, np.inf))
        for name, function in SETS.items():
            sign = metrics.metric(name).sign
            of_all = np.array([sign * function(truth, scores >= t) for t in tried])
            best = np.flatnonzero(of_all >= of_all.max() - 1e-12)
            threshold = tried[best[(best.size - 1) // 2]]
            found = search.cv_results_[f"threshold_{name}"][row]
            if candidates == "grid":
                assert found == threshold
            else:  # any threshold of the best is as good on all folds together
                np.testing.assert_allclose(sign * function(truth, scores >= found), of_all.max())
                threshold = found
            values[name][row] = [
                function(Y[test], part >= threshold)
                for (_, test), part in zip(folds, parts, strict=True)
            ]
    settings = [{"C": C} for C in CS[:3]]
    check(search, values | brute_force(model, X, Y, settings, folds, ("rank_loss", "map")))
    for name in SETS:
        best = search.best_params_[name]
        model_of = search.estimator_for(name)
        assert best["C"] == model_of.C
        reached = model_of.decision_function(X) >= best["threshold"]
        np.testing.assert_array_equal(model_of.predict(X), reached)


def test_k_and_gamma_are_tuned_as_well(digits):
    X, y = digits
    model = TopKClassifier("topk_entropy", kernel="rbf", **EXACT)
    search = TopKClassifierCV(
        model, Cs=CS[2:4], ks=[3, 1], gammas=[0.1, 0.01], metrics=TOPK, cv=2, extend=False
    ).fit(X, y)
    settings = [
        {"C": C, "gamma": gamma, "k": k} for C in CS[2:4] for gamma in (0.1, 0.01) for k in (3, 1)
    ]
    assert search.cv_results_["params"] == settings
    folds = list(StratifiedKFold(2).split(X, y))
    check(search, brute_force(model, X, y, settings, folds, TOPK))
    # A kernel that was computed before is split by rows and columns.
    model = TopKClassifier("topk_entropy", kernel="precomputed", **EXACT)
    other = TopKClassifierCV(model, Cs=CS[2:4], ks=[3], metrics=TOPK, cv=2, extend=False)
    other.fit(rbf_kernel(X, gamma=0.1), y)
    for name in TOPK:
        np.testing.assert_allclose(
            other.cv_results_[f"mean_test_{name}"],
            search.cv_results_[f"mean_test_{name}"][[0, 4]],
            rtol=1e-6,
        )


def test_an_intercept_that_is_not_regularised(digits):
    X, y = digits[0][:100], digits[1][:100]
    model = TopKClassifier(regularize_intercept=False, tol=1e-9, random_state=0)
    search = TopKClassifierCV(model, Cs=CS[1:4], metrics=TOPK, cv=2, extend=False).fit(X, y)
    folds = list(StratifiedKFold(2).split(X, y))
    settings = [{"C": C} for C in CS[1:4]]
    check(search, brute_force(model, X, y, settings, folds, TOPK))


def test_a_weight_of_two_is_the_example_twice(digits):
    X, y = digits[0][:120], digits[1][:120]
    weights = np.random.default_rng(0).integers(0, 3, y.size)
    folds = list(KFold(2).split(X))
    twice = np.repeat(np.arange(y.size), weights)
    positions = [tuple(np.flatnonzero(np.isin(twice, part)) for part in fold) for fold in folds]
    model = TopKClassifier(class_weight="balanced", **EXACT)
    options = {"Cs": CS[1:3], "metrics": TOPK, "extend": False}
    weighted = TopKClassifierCV(model, cv=folds, **options).fit(X, y, weights)
    repeated = TopKClassifierCV(model, cv=positions, **options).fit(X[twice], y[twice])
    for name in TOPK:
        for column in ("split0_test", "split1_test"):
            key = f"{column}_{name}"
            np.testing.assert_allclose(
                weighted.cv_results_[key], repeated.cv_results_[key], rtol=1e-6
            )
    np.testing.assert_allclose(
        weighted.best_estimator_.coef_, repeated.best_estimator_.coef_, atol=1e-3
    )


def test_the_forms_of_data_make_no_difference(search, digits, label_sets):
    X, y = digits
    names = np.array([f"digit {label}" for label in range(10)])
    model = TopKClassifier(**EXACT)
    other = TopKClassifierCV(model, Cs=CS, metrics=TOPK, cv=3, extend=False)
    other.fit(scipy.sparse.csr_array(X), names[y].tolist())
    assert other.best_params_ == search.best_params_
    np.testing.assert_array_equal(other.predict(X[:50]), names[search.predict(X[:50])])

    X, Y = label_sets
    options = {"Cs": CS[:2], "metrics": ["f1_micro"], "cv": 3, "extend": False}
    dense = MultilabelClassifierCV(MultilabelClassifier(**EXACT), **options).fit(X, Y)
    lists = [np.flatnonzero(row).tolist() for row in Y]
    for form in (scipy.sparse.csr_array(Y), lists):
        same = MultilabelClassifierCV(MultilabelClassifier(**EXACT), **options).fit(X, form)
        assert same.best_params_ == dense.best_params_
        assert same.best_score_ == dense.best_score_


def test_a_class_that_a_fold_does_not_train(digits):
    X, y = digits[0][:60], np.where(np.arange(60) < 20, 7, digits[1][:60] % 3)
    with_all = TopKClassifierCV(Cs=[0.1], metrics="top1", cv=KFold(3)).fit(X, y)
    assert with_all.cv_results_["split0_test_top1"][0] == 0.0
    np.testing.assert_array_equal(with_all.classes_, [0, 1, 2, 7])


def test_the_grid_grows_beyond_an_end_at_which_a_metric_is_best(search, digits):
    narrow = {"metrics": TOPK, "cv": 3}
    model = TopKClassifier(**EXACT)
    grown = TopKClassifierCV(model, Cs=CS[:2], **narrow).fit(*digits)
    Cs = np.asarray(grown.cv_results_["param_C"])
    np.testing.assert_allclose(Cs[1:] / Cs[:-1], 8.0)
    assert Cs[-1] >= 8.0
    for name in TOPK:
        np.testing.assert_allclose(
            grown.cv_results_[f"mean_test_{name}"][:5],
            search.cv_results_[f"mean_test_{name}"],
            rtol=1e-6,
        )
    whole = TopKClassifierCV(model, Cs=Cs, extend=False, **narrow).fit(*digits)
    assert grown.best_params_ == whole.best_params_
    # Downwards as well; and not where all values are equally good.
    down = TopKClassifierCV(model, Cs=[512.0, 4096.0], metrics="rank_loss", cv=3).fit(*digits)
    assert np.asarray(down.cv_results_["param_C"])[0] < 512.0
    flat = TopKClassifierCV(model, Cs=CS[:2], metrics="top10", cv=3).fit(*digits)
    assert flat.best_params_ == {"top10": {"C": CS[0]}}
    assert len(flat.cv_results_["params"]) == 2


def test_a_best_value_at_the_last_end_is_told(digits, monkeypatch):
    monkeypatch.setattr("shortlist.tuning.search.EXTENSIONS", 0)
    with pytest.warns(UserWarning, match=r"range from 0.001 to 0.01, and a metric is best at an"):
        TopKClassifierCV(Cs=[0.001, 0.01], metrics="rank_loss", cv=2).fit(*digits)
