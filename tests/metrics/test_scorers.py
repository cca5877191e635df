"""Scorers: what scikit-learn's own model selection makes of them."""

import pickle

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer, load_digits, make_multilabel_classification
from sklearn.ensemble import RandomForestClassifier
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.multiclass import OneVsRestClassifier
from sklearn.neighbors import KNeighborsClassifier
from sklearn.svm import LinearSVC

from shortlist import metrics
from shortlist.metrics import scorer

DIGITS = load_digits(return_X_y=True)
LABEL_SETS = make_multilabel_classification(n_classes=5, random_state=0)


def test_class_names_are_read_from_the_estimator():
    X, y = DIGITS
    named = np.array([f"digit {9 - label}" for label in y])
    model = RidgeClassifier().fit(X[:500], named[:500])
    scores = model.decision_function(X[500:])
    numbers = 9 - y[500:]  # "digit 0", which is the first column, is a 9
    assert scorer("top3")(model, X[500:], named[500:]) == metrics.topk_accuracy(numbers, scores, 3)
    assert scorer("subset_accuracy")(model, X[500:], named[500:]) == model.score(
        X[500:], named[500:]
    )


@pytest.mark.parametrize("model", [LinearSVC(), KNeighborsClassifier()])
def test_two_classes(model):
    """One column of scores, or two of probabilities: the same as the model's own accuracy."""
    X, y = load_breast_cancer(return_X_y=True)
    X = X / X.max(axis=0)
    model.fit(X[:300], y[:300])
    assert scorer("top1")(model, X[300:], y[300:]) == pytest.approx(model.score(X[300:], y[300:]))
    assert scorer("top2")(model, X[300:], y[300:]) == 1.0


def test_lists_of_probabilities():
    X, Y = LABEL_SETS
    Y = np.column_stack([Y, np.ones(len(Y), int), np.zeros(len(Y), int)])  # classes of one kind
    forest = RandomForestClassifier(20, random_state=0).fit(X[:60], Y[:60])
    scores = np.column_stack([p[:, 1] for p in forest.predict_proba(X[60:])[:5]])
    scores = np.column_stack([scores, np.ones(40), np.zeros(40)])
    assert scorer("rank_loss")(forest, X[60:], Y[60:]) == -metrics.rank_loss(Y[60:], scores)


@pytest.mark.parametrize("name", [name.format(k=2) for name in metrics.names()])
def test_every_scorer_in_cross_validate(name):
    one_label = name.startswith(("top", "autkc"))
    X, y = (DIGITS[0][:200], DIGITS[1][:200]) if one_label else LABEL_SETS
    model = OneVsRestClassifier(RidgeClassifier())
    results = cross_validate(model, X, y, scoring=pickle.loads(pickle.dumps(scorer(name))), cv=2)
    assert np.isfinite(results["test_score"]).all()
    assert (np.sign(results["test_score"]) == metrics.metric(name).sign).all()


def test_several_at_once_ask_the_estimator_once():
    class Counting(RidgeClassifier):
        asked = 0

        def decision_function(self, X):
            Counting.asked += 1
            return super().decision_function(X)

    X, y = DIGITS
    model = Counting().fit(X[:500], y[:500])
    names = ("top1", "top5", "map", "rank_loss")
    values = scorer(*names)(model, X[500:], y[500:], sample_weight=np.ones(len(X) - 500))
    assert Counting.asked == 1
    assert values == {name: scorer(name)(model, X[500:], y[500:]) for name in names}


def test_a_grid_search_for_a_loss_takes_the_smallest():
    X, y = DIGITS[0][:300], DIGITS[1][:300]
    grid = {"C": [1e-7, 1e-3]}
    search = GridSearchCV(
        LogisticRegression(max_iter=300),
        grid,
        scoring=scorer("top1_error", "top2"),
        cv=3,
        refit="top1_error",
    )
    search.fit(X, y)
    errors = -search.cv_results_["mean_test_top1_error"]
    assert search.best_params_["C"] == grid["C"][int(np.argmin(errors))] == 1e-3


def test_a_model_without_scores_is_refused():
    class Silent:
        pass

    with pytest.raises(TypeError, match="Silent has neither decision_function nor predict_proba"):
        scorer("top1")(Silent(), [[0.0]], [0])
