"""Threshold rules: no other threshold is better, found by trying them all."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.cases import indicators, problems
from naive import metrics as naive
from shortlist import metrics
from shortlist.metrics.inputs import as_ranking
from shortlist.model_selection import thresholds
from shortlist.model_selection.thresholds import GRID, Cardinality, Constant, TopK, Tuned

TUNABLE = [n for n in metrics.names() if "{k}" not in n and metrics.metric(n).counts]
VALUES = {
    "f1_micro": lambda H, Y, w, m: naive.f1_score(H, Y, w, m, "micro"),
    "f1_macro": lambda H, Y, w, m: naive.f1_score(H, Y, w, m, "macro"),
    "f1_instance": lambda H, Y, w, m: naive.f1_score(H, Y, w, m, "instance"),
    "accuracy": lambda H, Y, w, m: naive.multilabel_accuracy(H, Y, w),
    "subset_accuracy": lambda H, Y, w, m: naive.subset_accuracy(H, Y, w),
    "hamming_loss": lambda H, Y, w, m: -naive.hamming_loss(H, Y, w, m),
}


def sets_at(scores, threshold, at_least_one=False):
    """The label sets of the definition; `threshold` is one number, or one for each label."""
    sets = []
    for row in scores.tolist():
        limits = np.broadcast_to(threshold, len(row))
        chosen = {j for j, score in enumerate(row) if score >= limits[j]}
        sets.append(chosen or ({row.index(max(row))} if at_least_one else set()))
    return sets


def all_cuts(scores):
    return [*np.unique(scores).tolist(), np.inf]


def sets_of(indicator):
    return [set(np.flatnonzero(row).tolist()) for row in indicator]


def test_every_metric_of_label_sets_is_tried():
    assert set(TUNABLE) == set(VALUES)


def test_the_grid_of_the_paper():
    powers = 10 ** np.arange(-5.9, 1, 0.2)
    np.testing.assert_allclose(GRID, [*-powers[::-1], 0.0, *powers])
    assert len(GRID) == 71


@pytest.mark.parametrize("at_least_one", [False, True])
@pytest.mark.parametrize("name", TUNABLE)
@settings(max_examples=40)
@given(problem=problems())
def test_no_threshold_is_better(name, at_least_one, problem):
    scores, Y, w = problem
    m = scores.shape[1]
    cut = Tuned(name, at_least_one=at_least_one).fit(scores, indicators(Y, m), w)
    reached = VALUES[name](sets_of(cut.label_sets(scores)), Y, w, m)
    tried = [sets_at(scores, threshold, at_least_one) for threshold in all_cuts(scores)]
    assert reached == pytest.approx(max(VALUES[name](H, Y, w, m) for H in tried), abs=1e-12)


@pytest.mark.parametrize("name", TUNABLE)
@settings(max_examples=30)
@given(problem=problems(), given=st.lists(st.floats(-3, 3), min_size=1, max_size=4))
def test_no_threshold_of_the_grid_is_better(name, problem, given):
    scores, Y, w = problem
    m = scores.shape[1]
    for candidates, grid in (("grid", GRID), (given, given), (np.array(given), given)):
        cut = Tuned(name, candidates).fit(scores, indicators(Y, m), w)
        assert cut.thresholds[0] in grid
        reached = VALUES[name](sets_of(cut.label_sets(scores)), Y, w, m)
        tried = [VALUES[name](sets_at(scores, threshold), Y, w, m) for threshold in grid]
        assert reached == pytest.approx(max(tried), abs=1e-12)


@settings(max_examples=30)
@given(problem=problems(), candidates=st.sampled_from(["grid", "scores", (-0.5, 0.0, 1.0)]))
def test_the_best_for_several_metrics_is_that_for_each(problem, candidates):
    scores, Y, w = problem
    known = as_ranking(indicators(Y, scores.shape[1]), scores, w)
    together = thresholds.best_for(TUNABLE, known, candidates)
    alone = [Tuned(name, candidates).fit(scores, known.labels, w).thresholds for name in TUNABLE]
    np.testing.assert_array_equal(together, np.concatenate(alone))


@st.composite
def small_problems(draw):
    n, m = draw(st.integers(1, 5)), draw(st.integers(1, 3))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    sets = sets_of(rng.random((n, m)) < draw(st.sampled_from([0.2, 0.6])))
    return rng.integers(0, 4, (n, m)).astype(float), sets, rng.choice([0.5, 1.0, 2.0], n)


@pytest.mark.parametrize("name", ["f1_micro", "f1_macro", "hamming_loss"])
@settings(max_examples=40)
@given(problem=small_problems())
def test_no_thresholds_of_the_labels_are_better(name, problem):
    """All combinations of cuts of the labels."""
    scores, Y, w = problem
    m = scores.shape[1]
    cut = Tuned(name, per_label=True).fit(scores, indicators(Y, m), w)
    assert cut.thresholds.shape == (m,)
    reached = VALUES[name](sets_of(cut.label_sets(scores)), Y, w, m)
    tried = [
        VALUES[name](sets_at(scores, combination), Y, w, m)
        for combination in product(*(all_cuts(column) for column in scores.T))
    ]
    assert reached == pytest.approx(max(tried), abs=1e-12)


@pytest.mark.parametrize("at_least_one", [False, True])
@settings(max_examples=40)
@given(problem=problems(), other=problems())
def test_no_threshold_is_nearer_to_the_cardinality(at_least_one, problem, other):
    scores, Y, w = problem
    m = scores.shape[1]
    wanted = naive.average([len(labels) for labels in Y], w)

    def gap(H, weights):
        return abs(naive.average([len(labels) for labels in H], weights) - wanted)

    def smallest_gap(scores, weights):
        cuts = all_cuts(scores)
        return min(gap(sets_at(scores, cut, at_least_one), weights) for cut in cuts)

    cut = Cardinality(at_least_one=at_least_one).fit(scores, indicators(Y, m), w)
    reached = gap(sets_of(cut.label_sets(scores)), w)
    assert reached == pytest.approx(smallest_gap(scores, w), abs=1e-9)

    new = other[0]
    cut = Cardinality(transductive=True, at_least_one=at_least_one).fit(None, Y, w)
    reached = gap(sets_of(cut.label_sets(new)), np.ones(len(new)))
    assert reached == pytest.approx(smallest_gap(new, np.ones(len(new))), abs=1e-9)


@settings(max_examples=60)
@given(problems(), st.floats(-3, 3))
def test_constant_thresholds(problem, threshold):
    scores, Y, _ = problem
    for at_least_one in (False, True):
        cut = Constant(threshold, at_least_one).fit(None, Y)
        assert sets_of(cut.label_sets(scores)) == sets_at(scores, threshold, at_least_one)
    limits = threshold + np.arange(scores.shape[1])
    cut = thresholds.make(limits).fit(None, Y)
    assert sets_of(cut.label_sets(scores)) == sets_at(scores, limits)


@settings(max_examples=60)
@given(problems(), st.data())
def test_the_top_k(problem, data):
    scores = problem[0]
    k = data.draw(st.integers(1, scores.shape[1]))
    for row, chosen in zip(scores.tolist(), TopK(k).label_sets(scores), strict=True):
        best = sorted(range(len(row)), key=lambda j: (-row[j], j))[:k]
        assert set(np.flatnonzero(chosen)) == set(best)


def test_float32_scores_are_not_rounded_across_a_threshold():
    """The threshold is a float64 that no float32 equals: 0.1 in float32 is above it."""
    scores = np.array([[0.1]], dtype=np.float32)
    above = np.nextafter(np.float64(scores[0, 0]), 1.0)
    for threshold, expected in ((0.1, True), (float(scores[0, 0]), True), (above, False)):
        cut = Constant(threshold).fit(None, [[0]])
        assert cut.label_sets(scores)[0, 0] == expected
        curve = metrics.threshold_curve([[0]], scores, [threshold])
        assert curve[0] == float(expected)


def test_of_equally_good_thresholds_the_middle_one_and_between_scores():
    scores, Y = [[0.0, 1.0], [3.0, 0.5]], [[], [0]]
    assert Tuned("f1_micro").fit(scores, Y).thresholds.tolist() == [2.0]
    assert Tuned("f1_micro", (0.75, 1.5, 2.5, 2.75, 4.0)).fit(scores, Y).thresholds == [2.5]


def test_what_a_user_may_write():
    assert thresholds.make("cardinality") == Cardinality()
    assert thresholds.make("hamming_loss") == Tuned("hamming_loss")
    rule = Tuned("f1_macro", per_label=True)
    assert thresholds.make(rule) is rule
    assert thresholds.make(0) == Constant(0)
    assert not TopK(2).needs_scores
    assert Cardinality().needs_scores
    assert not Cardinality(transductive=True).needs_scores


REFUSED = {
    "there is no metric 'f1'; did you mean": lambda: thresholds.make("f1"),
    "rank_loss does not depend on a threshold; choose one of": lambda: Tuned("rank_loss"),
    "accuracy is not a sum over labels; tune one threshold": lambda: Tuned(
        "accuracy", per_label=True
    ),
    "candidates is 'all'; it must be 'scores', 'grid' or numbers.": lambda: Tuned(
        "accuracy", "all"
    ),
    "candidates is []; it must be one vector of numbers.": lambda: Tuned("accuracy", []),
    "threshold is array([nan]); it must be": lambda: thresholds.make(np.nan),
    "a threshold needs examples: there are none, or all of weight 0.": lambda: Tuned().fit(
        np.eye(3), np.eye(3), np.zeros(3)
    ),
    "k is 0; it must be at least 1.": lambda: TopK(0),
    "k is 4; it must be between 1 and 3": lambda: TopK(4).label_sets(np.eye(3)),
    "there are 2 thresholds and 3 labels.": lambda: (
        Constant((0.0, 1.0)).fit(None, [[0]]).label_sets(np.eye(3))
    ),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_refused_with_one_sentence(sentence):
    with pytest.raises((TypeError, ValueError)) as error:
        REFUSED[sentence]()
    assert str(error.value).startswith(sentence)
