"""Conformal lists: the strangeness by its definition, and the promised coverage."""

import re

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.model_selection import train_test_split

import real_data
from shortlist import datasets
from shortlist.model_selection import ConformalTopK

METHODS = ("rank", "lac", "aps", "raps")


class Given(ClassifierMixin, BaseEstimator):
    """A classifier whose probabilities are its input."""

    def __init__(self, classes_):
        self.classes_ = classes_

    def predict_proba(self, X):
        return X


class GivenScores(ClassifierMixin, BaseEstimator):
    """A classifier whose scores are its input."""

    def __init__(self, classes_):
        self.classes_ = classes_

    def decision_function(self, X):
        return X


def draw(rng, n, m=6):
    """Probabilities, and labels drawn from others: a wrong model."""
    logits = rng.normal(size=(n, m)) * 2
    p = np.exp(logits) / np.exp(logits).sum(axis=1, keepdims=True)
    true = np.exp(0.5 * logits)
    true /= true.sum(axis=1, keepdims=True)
    y = (rng.random((n, 1)) > np.cumsum(true, axis=1)).sum(axis=1)
    return p, np.minimum(y, m - 1)


def strangeness(p, y, method, penalty, k_reg, u=1.0):
    """From the definition, of one example."""
    above = [value for value in p if value > p[y]]
    if method == "rank":
        return len(above) + 1
    if method == "lac":
        return -p[y]
    extra = penalty * max(len(above) + 1 - k_reg, 0) if method == "raps" else 0.0
    return sum(above) + u * p[y] + extra


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("ties", [False, True])
def test_lists_by_the_definition(method, ties):
    rng = np.random.default_rng(0)
    p, y = draw(rng, 80)
    if ties:
        p = np.round(8 * p) / 8  # sums are then exact
    cal, new = slice(0, 39), slice(39, 80)
    options = {"penalty": 0.25, "k_reg": 2}
    for alpha, place in ((0.1, 36), (0.25, 30), (0.5, 20)):  # ceil(40 (1 - alpha))
        model = ConformalTopK(Given(np.arange(6)), method, alpha, at_least_one=False, **options)
        model.fit(p[cal], y[cal])
        own = [strangeness(p[i], y[i], method, **options) for i in range(39)]
        quantile = sorted(own)[place - 1]
        assert model.quantile_ == pytest.approx(quantile, abs=1e-12)
        expected = [
            [strangeness(row, j, method, **options) <= quantile + 1e-12 for j in range(6)]
            for row in p[new]
        ]
        np.testing.assert_array_equal(model.predict_set(p[new]), expected)
        model.set_params(at_least_one=True)
        best = p[new] == p[new].max(axis=1, keepdims=True)
        np.testing.assert_array_equal(model.predict_set(p[new]), np.array(expected) | best)


@pytest.mark.parametrize("alpha", [0.05, 0.2])
@pytest.mark.parametrize(
    ("method", "randomized"),
    [("rank", False), ("lac", False), ("aps", False), ("aps", True), ("raps", True)],
)
def test_the_promise_on_average_over_many_calibrations(method, randomized, alpha):
    """At least 1 - alpha, and no more than 1/(n + 1) above it where no strangeness ties."""
    rng = np.random.default_rng(1)
    repeats, n = 300, 99
    covered = []
    for seed in range(repeats):
        p, y = draw(rng, 2 * n)
        model = ConformalTopK(
            Given(np.arange(6)),
            method,
            alpha,
            at_least_one=False,
            randomized=randomized,
            random_state=seed,
        ).fit(p[:n], y[:n])
        covered.append(model.predict_set(p[n:])[np.arange(n), y[n:]].mean())
    error = 4 * np.sqrt(alpha * (1 - alpha) * 2 / (n * repeats))
    assert np.mean(covered) >= 1 - alpha - error
    if method != "rank":
        assert np.mean(covered) <= 1 - alpha + 1 / (n + 1) + error


def test_randomized_lists_are_shorter_and_repeat():
    rng = np.random.default_rng(2)
    p, y = draw(rng, 1000)
    aps = ConformalTopK(Given(np.arange(6)), "aps", 0.1).fit(p[:500], y[:500])
    drawn = ConformalTopK(Given(np.arange(6)), "aps", 0.1, randomized=True, random_state=0)
    drawn.fit(p[:500], y[:500])
    assert drawn.predict_set(p[500:]).sum() < aps.predict_set(p[500:]).sum()
    np.testing.assert_array_equal(drawn.predict_set(p[500:]), drawn.predict_set(p[500:]))


def test_too_few_examples_make_full_lists():
    p, y = draw(np.random.default_rng(3), 30)
    model = ConformalTopK(Given(np.arange(6)), "lac", 0.05).fit(p[:18], y[:18])
    assert model.quantile_ == np.inf
    assert model.predict_set(p[18:]).all()
    model.fit(p[:19], y[:19])  # 20 * 0.05 = 1 may be stranger
    assert model.quantile_ < np.inf


def test_rank_lists_are_the_top_k_and_classes_have_names():
    p, y = draw(np.random.default_rng(4), 400)
    names = np.array(["f", "e", "d", "c", "b", "a"])
    model = ConformalTopK(Given(names), "rank", 0.2).fit(p[:200], names[y[:200]])
    k = int(model.quantile_)
    lists = model.predict_set(p[200:])
    assert (lists.sum(axis=1) == k).all()
    assert lists[np.arange(200), p[200:].argmax(axis=1)].all()
    np.testing.assert_array_equal(model.classes_, names)


def test_infinite_scores_and_two_classes():
    scores = np.array([[np.inf, 0.0, -np.inf], [1.0, -np.inf, 2.0]] * 20)
    model = ConformalTopK(GivenScores(np.arange(3)), "rank", 0.1).fit(scores, [0, 0] * 20)
    assert model.predict_set(scores).sum(axis=1).tolist() == [2, 2] * 20
    binary = ConformalTopK(GivenScores(np.arange(2)), "lac", 0.1).fit(
        np.linspace(-1, 1, 50), [0] * 25 + [1] * 25
    )
    assert binary.predict_set(np.array([-5.0, 5.0])).tolist() == [[True, False], [False, True]]


REFUSED = {
    "method is 'top'; choose one of rank, ": {"method": "top"},
    "alpha is 1.0; it must be between 0 and 1.": {"alpha": 1.0},
    "penalty is -1; it must not be negative.": {"penalty": -1},
    "LogisticRegression is not trained; call its fit first.": {"estimator": LogisticRegression()},
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_refused_with_one_sentence(sentence):
    p, y = draw(np.random.default_rng(0), 10)
    model = ConformalTopK(Given(np.arange(6))).set_params(**REFUSED[sentence])
    with pytest.raises(ValueError, match=re.escape(sentence)):
        model.fit(p, y)


def test_a_label_for_each_example():
    p, y = draw(np.random.default_rng(0), 10)
    with pytest.raises(ValueError, match="there are 10 examples; y must have one label for each"):
        ConformalTopK(Given(np.arange(6))).fit(p, y[:9])


def load(name):
    file = {"letter": "letter.scale.xz", "aloi": "aloi_test.vw.gz"}[name]
    file_format = {"letter": "libsvm", "aloi": "vw"}[name]
    data = datasets.read(real_data.folder() / name / file, file_format)
    return data.X.toarray(), data.y


@pytest.fixture(scope="module", params=["letter", "aloi"])
def trained(request):
    """A linear model, and examples it has not seen."""
    X, y = load(request.param)
    X, new_X, y, new_y = train_test_split(X, y, test_size=0.5, stratify=y, random_state=0)
    return RidgeClassifier().fit(X, y), new_X, new_y


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("alpha", [0.01, 0.05, 0.1])
def test_coverage_on_real_data(trained, method, alpha):
    model, X, y = trained
    n = len(X) // 2
    lists = ConformalTopK(model, method, alpha).fit(X[:n], y[:n]).predict_set(X[n:])
    columns = np.searchsorted(model.classes_, y[n:])
    covered = lists[np.arange(len(columns)), columns].mean()
    error = 3 * np.sqrt(alpha * (1 - alpha) * (1 / n + 1 / len(columns)))
    assert covered >= 1 - alpha - error
    assert lists.sum(axis=1).mean() < len(model.classes_)
    if method != "rank":  # ranks are whole numbers: a shorter list for all would miss the promise
        assert covered <= 1 - alpha + error
