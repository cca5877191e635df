"""The Bayes top-k error, and who attains it."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import naive.bayes as naive
from shortlist import bayes


@st.composite
def problems(draw):
    """Probabilities with ties and zeros, exact in binary; scores with ties and infinities."""
    m = draw(st.integers(2, 6))
    cuts = sorted(draw(st.lists(st.integers(0, 16), min_size=m - 1, max_size=m - 1)))
    p = np.diff([0, *cuts, 16]) / 16
    scores = draw(
        st.lists(st.sampled_from((-np.inf, -1e300, -1.0, 0.0, 1e-300, 2.0, np.inf)),
                 min_size=m, max_size=m)
    )  # fmt: skip
    return p, np.array(scores), draw(st.integers(1, m))


@given(problems())
def test_regret_is_that_of_the_worst_shortlist(problem):
    p, scores, k = problem
    expected = naive.regret(scores, p, k)
    assert bayes.topk_regret(scores, p, k) == expected
    assert bayes.is_topk_bayes_optimal(scores, p, k) == (expected == 0)


@given(problems())
def test_bayes_error_is_the_least_error_of_a_set(problem):
    p, _, k = problem
    sets = itertools.combinations(range(p.size), k)
    expected = min(1 - p[list(some)].sum() for some in sets)
    assert bayes.bayes_topk_error(p, k) == expected
    assert bayes.bayes_error_curve(p)[k - 1] == expected


def test_no_rounding_where_nothing_is_lost():
    """Sums of the same probabilities in another order may differ; the regret is 0 all the same."""
    rng = np.random.default_rng(0)
    p = rng.dirichlet(np.ones(9), size=300)
    scores = np.argsort(np.argsort(p, axis=1), axis=1) * 1.0
    for k in range(1, 10):
        assert bayes.is_topk_bayes_optimal(scores, p, k).all()


def test_the_lemma_of_the_paper_is_not_enough_where_probabilities_tie():
    p, g, k = np.array([0.5, 0.2, 0.2, 0.1]), np.array([0.0, 2.0, 1.0, -1.0]), 2
    passes = p[g >= np.sort(g)[-k]] >= np.sort(p)[-k]
    assert passes.all()
    assert bayes.topk_regret(g, p, k) == pytest.approx(0.3)


def test_one_distribution_a_row():
    p = np.array([[0.5, 0.25, 0.25], [0.125, 0.375, 0.5]], dtype=np.float32)
    g = np.array([[1.0, 0.0, 0.0], [1.0, 0.0, 0.0]])
    np.testing.assert_array_equal(bayes.bayes_topk_error(p, 1), [0.5, 0.5])
    np.testing.assert_array_equal(bayes.topk_regret(g, p, 1), [0.0, 0.375])
    np.testing.assert_array_equal(bayes.bayes_error_curve(p)[1], [0.5, 0.125, 0.0])


REFUSED = {
    "p[1] is -0.5; probabilities must not be negative.": lambda: bayes.bayes_topk_error(
        [1.5, -0.5], 1
    ),
    "p[1] sums to 0.5; probabilities must sum to 1.": lambda: bayes.bayes_error_curve(
        [[0.5, 0.5], [0.25, 0.25]]
    ),
    "p[0] is nan; probabilities must not be": lambda: bayes.bayes_topk_error([np.nan, 1.0], 1),
    "k is 3; it must be between 1 and 2, the length of p.": lambda: bayes.bayes_topk_error(
        [0.5, 0.5], 3
    ),
    "scores have shape (3,) and p (2,).": lambda: bayes.topk_regret([1, 2, 3], [0.5, 0.5], 1),
    "scores contain nan; pass numbers or infinities.": lambda: bayes.topk_regret(
        [np.nan, 0.0], [0.5, 0.5], 1
    ),
    "p has 2 dimensions; pass one vector of probabilities.": lambda: bayes.optimal_scores(
        "softmax", [[0.5, 0.5]]
    ),
    "scores have shape (2,); there are 3 probabilities.": lambda: bayes.conditional_risk(
        "svm", [0.0, 0.0], [0.5, 0.25, 0.25]
    ),
    "TopKSvmAlpha(k=1, smoothing=0.0) needs at least 2 classes; there are 1.": lambda: (
        bayes.optimal_scores("svm", [1.0])
    ),
    "k is 3; a shortlist of all 3 classes is always right.": lambda: bayes.calibration("svm", 3, 3),
    "m is 1; it must be at least 2.": lambda: bayes.calibration("svm", 1, 1),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_refused_with_one_sentence(sentence):
    with pytest.raises((TypeError, ValueError)) as error:
        REFUSED[sentence]()
    assert str(error.value).startswith(sentence)
