"""Laws over the registry: a metric is tested by being registered."""

import numpy as np
import pytest
import scipy.sparse

from shortlist import metrics

NAMES = [name.format(k=2) for name in metrics.names()]
M = 5
over_all = pytest.mark.parametrize("name", NAMES)


def problem(name, n=30, seed=0):
    """Labels in the form that the metric takes, and scores or label sets."""
    rng = np.random.default_rng(seed)
    known = metrics.metric(name)
    one_label = name.startswith(("top", "autkc"))
    y = rng.integers(0, M, n) if one_label else (rng.random((n, M)) < 0.4).astype(int)
    scores = np.round(rng.normal(size=(n, M)), 1)
    return known.function, y, scores if known.needs == "scores" else (scores > 0).astype(int)


@over_all
def test_a_weight_of_two_is_the_example_twice_and_of_zero_its_absence(name):
    function, y, answer = problem(name)
    weights = np.random.default_rng(1).integers(0, 3, len(y))
    again = np.repeat(np.arange(len(y)), weights)
    assert function(y, answer, sample_weight=weights) == pytest.approx(
        function(y[again], answer[again]), rel=1e-12
    )
    assert function(y, answer, sample_weight=np.full(len(y), 7.5)) == pytest.approx(
        function(y, answer), rel=1e-12
    )
    assert np.isnan(function(y, answer, sample_weight=np.zeros(len(y))))


@over_all
def test_the_order_of_examples_and_classes_does_not_matter(name):
    function, y, answer = problem(name)
    rng = np.random.default_rng(2)
    rows, columns = rng.permutation(len(y)), rng.permutation(M)
    back = np.argsort(columns)
    renamed = back[y[rows]] if y.ndim == 1 else y[rows][:, columns]
    assert function(renamed, answer[rows][:, columns]) == pytest.approx(function(y, answer))


@over_all
def test_labels_in_every_form(name):
    function, y, answer = problem(name)
    expected = function(y, answer)
    matrix = np.eye(M, dtype=int)[y] if y.ndim == 1 else y
    lists = [np.flatnonzero(row).tolist() for row in matrix]
    names = np.array(["e", "d", "c", "b", "a"])
    for form in (matrix, matrix.astype(bool), lists, [set(row) for row in lists]):
        assert function(form, answer) == expected
    for kind in (scipy.sparse.csr_array, scipy.sparse.csc_matrix, scipy.sparse.coo_array):
        assert function(kind(matrix), answer) == expected
    named = names[y] if y.ndim == 1 else [[names[j] for j in row] for row in lists]
    assert function(named, answer, classes=names) == expected
    if metrics.metric(name).needs == "sets":
        assert function(y, scipy.sparse.csr_array(answer)) == expected
        assert function(y, [np.flatnonzero(row) for row in answer]) == expected


@over_all
def test_a_perfect_answer_is_better_than_another(name):
    function, y, answer = problem(name)
    perfect = np.eye(M)[y] if y.ndim == 1 else y
    known = metrics.metric(name)
    assert known.sign * function(y, perfect) > known.sign * function(y, answer)
    if known.needs == "sets":
        assert function(y, perfect) == (1.0 if known.greater_is_better else 0.0)


@over_all
def test_float32_and_any_memory_order(name):
    function, y, answer = problem(name)
    expected = function(y, answer)
    for other in (answer.astype(np.float32), np.asfortranarray(answer), answer[::-1].copy()[::-1]):
        assert function(y, other) == pytest.approx(expected, rel=1e-6)
