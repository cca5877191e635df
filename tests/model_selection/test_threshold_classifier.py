"""The meta-estimator: tuned on what the model did not see, and a citizen of scikit-learn."""

import pickle

import numpy as np
import pytest
import scipy.sparse
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.ensemble import RandomForestClassifier
from sklearn.frozen import FrozenEstimator
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, KFold
from sklearn.multiclass import OneVsRestClassifier
from sklearn.multioutput import MultiOutputClassifier
from sklearn.naive_bayes import GaussianNB
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from shortlist import MultilabelClassifier, TopKClassifier, metrics
from shortlist.model_selection import IterativeStratifiedKFold, ThresholdClassifier
from shortlist.model_selection.thresholds import Cardinality, Constant, TopK, Tuned


def draw(n, seed):
    """Linear scores with noise; labels of different frequency, all of them rather rare."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 5))
    scores = X @ np.random.default_rng(0).normal(size=(5, 4)) + rng.normal(size=(n, 4))
    return X, (scores > np.array([0.5, 1.0, 2.0, 3.0])).astype(int)


X, Y = draw(150, seed=1)
MODEL = OneVsRestClassifier(LogisticRegression(max_iter=1000))


class Memory(ClassifierMixin, BaseEstimator):
    """Knows by heart what it has seen, and answers 0 to what it has not."""

    def fit(self, X, y, sample_weight=None):
        self.classes_ = np.arange(y.shape[1])
        self.known_ = {row.tobytes(): labels for row, labels in zip(X, y, strict=True)}
        self.weights_ = sample_weight
        return self

    def decision_function(self, X):
        unknown = np.zeros(self.classes_.size)
        return np.array([2.0 * self.known_.get(row.tobytes(), unknown) for row in X])


def test_no_score_is_of_an_example_the_model_has_seen():
    model = ThresholdClassifier(Memory(), "f1_micro").fit(X, Y)
    assert not model.scores_.any()
    assert model.decision_function(X).any()  # but in the end it is trained on all


def test_the_threshold_is_that_of_cross_fitted_scores():
    rule = Tuned("f1_macro", "grid")
    model = ThresholdClassifier(MODEL, rule, cv=KFold(3, shuffle=True, random_state=0)).fit(X, Y)
    scores = np.empty(Y.shape)
    for train, test in KFold(3, shuffle=True, random_state=0).split(X):
        scores[test] = clone(MODEL).fit(X[train], Y[train]).decision_function(X[test])
    np.testing.assert_array_equal(model.scores_, scores)
    np.testing.assert_array_equal(model.cut_.thresholds, rule.fit(scores, Y).thresholds)
    full = clone(MODEL).fit(X, Y).decision_function(X)
    np.testing.assert_array_equal(model.predict(X), full >= model.cut_.thresholds)


def test_tuning_for_a_metric_serves_it():
    new_X, new_Y = draw(2000, seed=2)
    plain = clone(MODEL).fit(X, Y).predict(new_X)
    tuned = ThresholdClassifier(MODEL, "f1_macro").fit(X, Y).predict(new_X)
    assert metrics.f1_score(new_Y, tuned, "macro") > metrics.f1_score(new_Y, plain, "macro")
    matched = ThresholdClassifier(MODEL, "cardinality").fit(X, Y).predict(new_X)
    wanted = metrics.label_cardinality(Y)
    assert abs(metrics.label_cardinality(matched) - wanted) < 0.2


@pytest.mark.parametrize(
    "rule", [0.3, TopK(2), Constant(1.0, at_least_one=True), Cardinality(transductive=True)]
)
def test_rules_without_scores_train_once(rule):
    class Counting(Memory):
        fits = 0

        def fit(self, X, y, sample_weight=None):
            Counting.fits += 1
            return super().fit(X, y)

    model = ThresholdClassifier(Counting(), rule).fit(X, Y)
    assert Counting.fits == 1
    predicted = model.predict(X)
    if rule == TopK(2):
        assert (predicted.sum(axis=1) == 2).all()
    else:
        assert np.array_equal(predicted[Y.any(axis=1)], Y[Y.any(axis=1)])


def test_a_trained_model_is_tuned_on_held_out_examples():
    trained = clone(MODEL).fit(X[:80], Y[:80])
    model = ThresholdClassifier(FrozenEstimator(trained), "accuracy").fit(X[80:], Y[80:])
    scores = trained.decision_function(X[80:])
    np.testing.assert_allclose(model.scores_, scores)
    expected = Tuned("accuracy").fit(scores, Y[80:]).thresholds
    np.testing.assert_allclose(model.cut_.thresholds, expected)


def test_weights_count_in_training_and_in_the_metric():
    weights = np.random.default_rng(0).random(len(X))
    model = ThresholdClassifier(Memory(), "f1_micro", cv=3).fit(X, Y, sample_weight=weights)
    np.testing.assert_array_equal(model.estimator_.weights_, weights)
    expected = Tuned("f1_micro").fit(model.scores_, Y, weights)
    np.testing.assert_array_equal(model.cut_.thresholds, expected.thresholds)


def test_forms_of_data_and_models():
    expected = ThresholdClassifier(MODEL).fit(X, Y).predict(X)
    for inputs, labels, n_jobs in (
        (scipy.sparse.csr_array(X), Y, 1),
        (X, scipy.sparse.csr_array(Y), 1),
        (X, [np.flatnonzero(row).tolist() for row in Y], 2),
    ):
        model = ThresholdClassifier(MODEL, n_jobs=n_jobs).fit(inputs, labels)
        np.testing.assert_array_equal(model.predict(inputs), expected)
    forest = ThresholdClassifier(RandomForestClassifier(10, random_state=0), 0.5).fit(X, Y)
    assert np.mean(forest.predict(X) == Y) > 0.95


@pytest.mark.parametrize(
    "estimator",
    [
        LogisticRegression(),
        MODEL,
        MultiOutputClassifier(LogisticRegression()),
        GaussianNB(),  # no decision_function
        TopKClassifier("ova_logistic"),
        MultilabelClassifier(),
    ],
    ids=lambda estimator: type(estimator).__name__,
)
def test_one_label(estimator):
    """A binary classifier has one score an example, or those of two classes."""
    model = ThresholdClassifier(estimator, "f1_micro", cv=3).fit(X, Y[:, [1]])
    assert model.scores_.shape == (150, 1)
    assert metrics.mean_average_precision(Y[:, [1]], model.scores_) > 0.6  # the right way round
    expected = model.decision_function(X) >= model.cut_.thresholds
    np.testing.assert_array_equal(model.predict(X), expected)
    of_unseen = metrics.f1_score(Y[:, [1]], model.cut_.label_sets(model.scores_))
    tried = [metrics.f1_score(Y[:, [1]], model.scores_ >= t) for t in model.scores_.ravel()]
    assert of_unseen == pytest.approx(max(tried))


def test_a_citizen_of_scikit_learn():
    model = make_pipeline(StandardScaler(), ThresholdClassifier(MODEL, Tuned(per_label=True)))
    again = pickle.loads(pickle.dumps(clone(model).fit(X, Y)))
    assert again.predict(X).shape == Y.shape
    assert again.score(X, Y) == (again.predict(X) == Y).all(axis=1).mean()
    search = GridSearchCV(
        ThresholdClassifier(MODEL),
        {"threshold": [0.0, "f1_micro", TopK(1)], "estimator__estimator__C": [0.1, 1.0]},
        scoring=metrics.scorer("f1_micro"),
        cv=IterativeStratifiedKFold(3),
    )
    assert 0.0 < search.fit(X, Y).best_score_ <= 1.0
    assert "predict_proba" in dir(ThresholdClassifier(MODEL))
    assert not hasattr(ThresholdClassifier(Memory()), "predict_proba")


def test_bad_input_is_refused():
    with pytest.raises(ValueError, match="y has one label an example; pass an indicator matrix"):
        ThresholdClassifier(MODEL).fit(X, Y[:, 0])
    with pytest.raises(ValueError, match="the folds of cv do not hold each example exactly once"):
        ThresholdClassifier(MODEL, cv=[(np.arange(100), np.arange(100, 150))]).fit(X, Y)
    with pytest.raises(ValueError, match="there is no metric 'f2'"):
        ThresholdClassifier(MODEL, "f2").fit(X, Y)
