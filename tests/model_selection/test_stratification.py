"""Iterative stratification: the pseudocode's folds, balanced labels, scikit-learn's contract."""

import numpy as np
import pytest
import scipy.sparse
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import make_multilabel_classification
from sklearn.model_selection import KFold, cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from metrics.cases import indicators
from naive import stratification as naive
from shortlist.model_selection import IterativeStratifiedKFold


def folds_of(cv, y):
    fold = np.full(len(y), -1)
    for number, (train, test) in enumerate(cv.split(np.zeros(len(y)), y)):
        assert np.array_equal(np.sort(np.concatenate([train, test])), np.arange(len(y)))
        assert (fold[test] == -1).all()
        fold[test] = number
    return fold


@settings(max_examples=60)
@given(st.lists(st.sets(st.integers(0, 5)), min_size=2, max_size=25), st.data())
def test_the_folds_of_the_pseudocode(sets, data):
    k = data.draw(st.integers(2, min(5, len(sets))))
    ours = folds_of(IterativeStratifiedKFold(k), indicators(sets, 6))
    assert ours.tolist() == naive.folds(sets, k, np.zeros((len(sets), k)))
    shuffled = IterativeStratifiedKFold(k, shuffle=True, random_state=3)
    source = np.random.RandomState(3)
    order = source.permutation(len(sets))
    expected = naive.folds([sets[i] for i in order], k, source.random_sample((len(sets), k)))
    assert folds_of(shuffled, indicators(sets, 6))[order].tolist() == expected


@given(st.lists(st.integers(0, 4), min_size=4, max_size=60))
def test_single_labels_are_dealt_evenly(y):
    y = np.array(y)
    fold = folds_of(IterativeStratifiedKFold(4, shuffle=True, random_state=0), y)
    for label in np.unique(y):
        counts = np.bincount(fold[y == label], minlength=4)
        assert counts.max() - counts.min() <= 1


def test_labels_are_more_even_than_in_plain_folds():
    rng = np.random.default_rng(0)
    Y = rng.random((500, 20)) < np.geomspace(0.5, 0.02, 20)

    def unevenness(cv):
        fold = folds_of(cv, Y)
        shares = np.array([Y[fold == number].sum(axis=0) for number in range(10)]) / Y.sum(axis=0)
        return np.abs(shares - 0.1).mean()

    ours = unevenness(IterativeStratifiedKFold(10, shuffle=True, random_state=0))
    assert ours < 0.5 * unevenness(KFold(10, shuffle=True, random_state=0))


def test_labels_in_every_form_and_the_same_seed():
    X, Y = make_multilabel_classification(random_state=0)
    cv = IterativeStratifiedKFold(5, shuffle=True, random_state=7)
    expected = folds_of(cv, Y)
    assert np.array_equal(folds_of(cv, Y), expected)
    for form in (scipy.sparse.csr_array(Y), [np.flatnonzero(row) for row in Y]):
        found = np.empty(len(Y))
        for number, (_, test) in enumerate(cv.split(X, form)):
            found[test] = number
        assert np.array_equal(found, expected)
    other = folds_of(IterativeStratifiedKFold(5, shuffle=True, random_state=8), Y)
    assert not np.array_equal(other, expected)
    assert np.isfinite(cross_val_score(KNeighborsClassifier(), X, Y, cv=cv)).all()
    assert "n_splits=5" in repr(cv)


def test_too_few_examples_or_folds_are_refused():
    with pytest.raises(ValueError, match="there are 3 examples for 4 folds"):
        folds_of(IterativeStratifiedKFold(4), np.eye(3))
    with pytest.raises(ValueError, match="n_splits is 1; it must be at least 2"):
        IterativeStratifiedKFold(1)
