"""Shortlists, probabilities, groups of examples, label sets."""

import numpy as np
import pytest
import scipy.sparse
import scipy.special
from sklearn.datasets import load_digits, make_multilabel_classification
from sklearn.metrics import top_k_accuracy_score

from shortlist import MultilabelClassifier, TopKClassifier
from shortlist.model_selection import ThresholdClassifier, thresholds


@pytest.fixture(scope="module")
def digits():
    X, y = load_digits(return_X_y=True)
    return X[:500] / 16, y[:500]


@pytest.fixture(scope="module")
def model(digits):
    return TopKClassifier("softmax", k=3).fit(*digits)


def test_lists_are_the_best_classes_best_first(model, digits):
    X, _ = digits
    scores = model.decision_function(X)
    labels, values = model.predict_topk(X)
    assert labels.shape == values.shape == (500, 3)
    expected = np.argsort(-scores, axis=1, kind="stable")
    np.testing.assert_array_equal(labels, expected[:, :3])
    np.testing.assert_array_equal(values, -np.sort(-scores, axis=1)[:, :3])
    np.testing.assert_array_equal(model.predict_topk(X, 10)[0], expected)
    np.testing.assert_array_equal(model.predict_topk(X, 1)[0][:, 0], model.predict(X))


def test_lists_are_of_names_and_not_longer_than_the_classes():
    X = np.eye(3)
    model = TopKClassifier().fit(X, ["b", "a", "c"])
    labels, _ = model.predict_topk(X)
    assert labels.shape == (3, 3)
    assert labels[:, 0].tolist() == ["b", "a", "c"]
    for k in (0, 4, 1.5):
        with pytest.raises((ValueError, TypeError), match="k is "):
            model.predict_topk(X, k)


def test_two_classes_have_one_score_but_two_weights():
    X, y = np.array([[1.0], [2.0], [-1.0], [-3.0]]), [1, 1, 0, 0]
    model = TopKClassifier().fit(X, y)
    assert model.coef_.shape == (2, 1)
    scores = model.decision_function(X)
    assert scores.shape == (4,)
    np.testing.assert_array_equal(scores > 0, model.predict(X) == 1)
    np.testing.assert_allclose(model.predict_proba(X)[:, 1], scipy.special.expit(scores))
    labels, scores = model.predict_topk(X)
    assert labels.shape == scores.shape == (4, 2)


def test_accuracy_of_lists(model, digits):
    X, y = digits
    weights = np.random.default_rng(0).uniform(size=len(y))
    scores = model.decision_function(X)
    for k in (1, 2, 5):
        expected = top_k_accuracy_score(y, scores, k=k, sample_weight=weights)
        assert model.score(X, y, weights, k=k) == pytest.approx(expected)
    with pytest.raises(ValueError, match="was not trained"):
        model.score(X[:1], [11], k=2)


def test_probabilities(model, digits):
    X, y = digits
    np.testing.assert_allclose(
        model.predict_proba(X), scipy.special.softmax(model.decision_function(X), axis=1)
    )
    for name in ("ova_logistic", "topk_entropy", "truncated_topk_entropy"):
        proba = TopKClassifier(name, k=2, tol=1e-2).fit(X, y).predict_proba(X)
        assert proba.shape == (500, 10)
        np.testing.assert_allclose(proba.sum(axis=1), 1.0)


@pytest.mark.parametrize("pooling", ["max", "mean"])
def test_several_vectors_of_one_object(model, digits, pooling):
    X, _ = digits
    groups = np.random.default_rng(0).permutation(np.repeat(["p", "q", "r", "s"], 125))
    scores = model.decision_function(X, groups=groups, pooling=pooling)
    own = model.decision_function(X)
    for row, name in zip(scores, "pqrs", strict=True):
        mine = own[groups == name]
        np.testing.assert_allclose(row, mine.max(axis=0) if pooling == "max" else mine.mean(axis=0))
    predicted = model.predict(X, groups=groups, pooling=pooling)
    np.testing.assert_array_equal(predicted, scores.argmax(axis=1))
    labels, _ = model.predict_topk(X, 1, groups=groups, pooling=pooling)
    np.testing.assert_array_equal(labels[:, 0], predicted)
    assert model.score(X, predicted, groups=groups, pooling=pooling) == 1.0


def test_training_repeats_the_labels_of_groups(digits):
    X, y = digits[0][:60], np.arange(20) % 4
    groups = np.repeat(np.arange(20), 3)
    by_group = TopKClassifier(random_state=0).fit(X, y, groups=groups)
    by_row = TopKClassifier(random_state=0).fit(X, np.repeat(y, 3))
    np.testing.assert_array_equal(by_group.coef_, by_row.coef_)
    lists = [["a"], ["a", "b"]] * 10
    labels = MultilabelClassifier(random_state=0).fit(X, lists, groups=groups)
    rows = MultilabelClassifier(random_state=0).fit(X, [lists[g] for g in groups])
    np.testing.assert_array_equal(labels.coef_, rows.coef_)
    with pytest.raises(ValueError, match="y has 7 elements; there are 20 groups of 60 examples"):
        TopKClassifier().fit(X, y[:7], groups=groups)
    with pytest.raises(ValueError, match=r"groups has shape \(5,\); there are 60 examples"):
        TopKClassifier().fit(X, y, groups=groups[:5])
    with pytest.raises(ValueError, match="pooling is 'maxx'; did you mean 'max'"):
        by_row.predict(X, groups=groups, pooling="maxx")


# --- label sets ---


@pytest.fixture(scope="module")
def tagged():
    return make_multilabel_classification(200, 12, n_classes=5, random_state=1)


@pytest.mark.parametrize(
    "loss", ["ova_logistic", "ova_svm", "multilabel_svm", "multilabel_softmax"]
)
def test_label_sets_in_every_form_give_one_model(tagged, loss):
    X, Y = tagged
    dense = MultilabelClassifier(loss, random_state=0).fit(X, Y)
    sparse = MultilabelClassifier(loss, random_state=0).fit(X, scipy.sparse.csr_array(Y))
    lists = [[f"tag {j}" for j in np.flatnonzero(row)] for row in Y]
    named = MultilabelClassifier(loss, random_state=0).fit(X, lists)
    np.testing.assert_array_equal(sparse.coef_, dense.coef_)
    np.testing.assert_array_equal(named.coef_, dense.coef_)
    assert named.classes_.tolist() == [f"tag {j}" for j in range(5)]
    predicted = dense.predict(X)
    np.testing.assert_array_equal(predicted, dense.decision_function(X) > 0)
    assert scipy.sparse.issparse(sparse.predict(X))
    np.testing.assert_array_equal(sparse.predict(X).toarray(), predicted)
    right = (predicted == Y).all(axis=1).mean()
    assert dense.score(X, Y) == sparse.score(X, Y) == named.score(X, lists) == right


def test_thresholds(tagged):
    X, Y = tagged
    model = MultilabelClassifier(threshold=[0.0, 1.0, -1.0, 0.5, 9.0]).fit(X, Y)
    scores = model.decision_function(X)
    np.testing.assert_array_equal(model.predict(X), scores >= np.array([0.0, 1.0, -1.0, 0.5, 9.0]))
    assert model.predict(X)[:, 4].sum() < Y[:, 4].sum()
    with pytest.raises(ValueError, match="there are 2 thresholds and 5 labels"):
        model.set_params(threshold=[1.0, 2.0]).fit(X, Y)
    with pytest.raises(ValueError, match="did you mean 'f1_micro'"):
        model.set_params(threshold="f1_mikro").fit(X, Y)


def test_a_threshold_is_tuned_on_folds_that_the_model_did_not_see(tagged):
    X, Y = tagged
    model = MultilabelClassifier(threshold="f1_macro", random_state=0).fit(X, Y)
    same = ThresholdClassifier(MultilabelClassifier(random_state=0), "f1_macro").fit(X, Y)
    np.testing.assert_array_equal(model.cut_.thresholds, same.cut_.thresholds)
    np.testing.assert_array_equal(model.predict(X), same.predict(X))
    kernel = X @ X.T
    tuned = MultilabelClassifier(kernel="precomputed", threshold="f1_macro", random_state=0)
    assert tuned.fit(kernel, Y).predict(kernel).shape == Y.shape
    matched = MultilabelClassifier(threshold=thresholds.Cardinality(transductive=True)).fit(X, Y)
    assert matched.predict(X).sum() == pytest.approx(Y.sum(), abs=3)
    assert (
        MultilabelClassifier(threshold=thresholds.TopK(2)).fit(X, Y).predict(X).sum(1) == 2
    ).all()


def test_probabilities_of_labels(tagged):
    X, Y = tagged
    model = MultilabelClassifier().fit(X, Y)
    np.testing.assert_allclose(
        model.predict_proba(X), scipy.special.expit(model.decision_function(X))
    )


def test_one_label_an_example_is_a_multiclass_problem(digits):
    X, y = digits
    model = MultilabelClassifier("multilabel_svm").fit(X, y)
    assert model.score(X, y) > 0.95
    assert model.predict(X).shape == (500,)
    same = TopKClassifier("multilabel_svm").fit(X, y)
    assert same.certificate_.primal == pytest.approx(model.certificate_.primal, rel=1e-3)


def test_two_columns_are_two_labels_and_one_column_is_one():
    X, Y = np.eye(4), np.array([[1, 0], [1, 1], [0, 0], [0, 1]])
    model = MultilabelClassifier(C=10.0).fit(X, Y)
    assert model.decision_function(X).shape == (4, 2)
    np.testing.assert_array_equal(model.predict(X), Y)
    one = MultilabelClassifier(C=10.0).fit(X, scipy.sparse.csr_array(Y[:, :1]))
    assert one.predict(X).shape == (4, 1)
