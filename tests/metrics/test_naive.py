"""Every metric equals its naive twin, ties and empty sets included."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from metrics.cases import indicators, problems
from naive import metrics as naive
from shortlist import metrics


def same(ours, expected):
    np.testing.assert_allclose(ours, expected, rtol=1e-12, atol=1e-12)


@given(problems(one_label=True))
def test_topk_accuracies(problem):
    scores, labels, w = problem
    y, F, m = [min(each) for each in labels], scores.tolist(), scores.shape[1]
    expected = [naive.topk_accuracy(F, labels, w, k) for k in range(1, m + 1)]
    same(metrics.topk_accuracy_curve(y, scores, sample_weight=w), expected)
    for k in range(1, m + 1):
        same(metrics.topk_accuracy(y, scores, k, sample_weight=w), expected[k - 1])
        same(metrics.topk_error(y, scores, k, sample_weight=w), naive.topk_error(F, labels, w, k))
        same(metrics.recall_at_k(y, scores, k, sample_weight=w), expected[k - 1])
        same(metrics.autkc(y, scores, k, sample_weight=w), np.mean(expected[:k]))
    same(metrics.autkc(y, scores, sample_weight=w), np.mean(expected))


@given(problems())
def test_rankings_of_label_sets(problem):
    scores, labels, w = problem
    F = scores.tolist()
    for k in range(1, scores.shape[1] + 1):
        for name in ("precision_at_k", "recall_at_k"):
            ours = getattr(metrics, name)(labels, scores, k, sample_weight=w)
            same(ours, getattr(naive, name)(F, labels, w, k))
    same(metrics.rank_loss(labels, scores, sample_weight=w), naive.rank_loss(F, labels, w))


@pytest.mark.parametrize("kind", ["voc2007", "voc2010", "step"])
@settings(max_examples=100)
@given(problem=problems())
def test_average_precision(kind, problem):
    scores, labels, w = problem
    expected = naive.average_precision(scores.tolist(), labels, w, kind)
    ours = metrics.average_precision(labels, scores, kind, sample_weight=w)
    same(ours, [np.nan if value is None else value for value in expected])
    same(
        metrics.mean_average_precision(labels, scores, kind, sample_weight=w),
        naive.mean_average_precision(scores.tolist(), labels, w, kind),
    )


@given(problems(), st.data(), st.sampled_from([0.0, 1.0]))
def test_metrics_of_label_sets(problem, data, of_nothing):
    scores, labels, w = problem
    n, m = scores.shape
    sets = data.draw(st.lists(st.sets(st.integers(0, m - 1)), min_size=n, max_size=n))
    Y, H = indicators(labels, m), indicators(sets, m)
    for average in ("micro", "macro", "instance"):
        same(
            metrics.f1_score(Y, H, average, sample_weight=w, zero_division=of_nothing),
            naive.f1_score(sets, labels, w, m, average, of_nothing),
        )
    same(
        metrics.multilabel_accuracy(Y, H, sample_weight=w, zero_division=of_nothing),
        naive.multilabel_accuracy(sets, labels, w, of_nothing),
    )
    same(metrics.subset_accuracy(Y, H, sample_weight=w), naive.subset_accuracy(sets, labels, w))
    same(metrics.hamming_loss(Y, H, sample_weight=w), naive.hamming_loss(sets, labels, w, m))
    same(
        metrics.label_cardinality(H, sample_weight=w),
        naive.average([len(each) for each in sets], w),
    )


@pytest.mark.parametrize(
    "name", [name for name in metrics.names() if "{k}" not in name and metrics.metric(name).counts]
)
@settings(max_examples=60)
@given(problem=problems(), data=st.data())
def test_a_metric_at_thresholds_is_that_of_the_label_sets(name, problem, data):
    scores, labels, w = problem
    own = st.sampled_from(scores.ravel().tolist())
    number = st.one_of(own, st.floats(allow_nan=False), st.sampled_from([0.0, np.inf, -np.inf]))
    thresholds = data.draw(st.lists(number, max_size=5))
    curve = metrics.threshold_curve(labels, scores, thresholds, name, sample_weight=w)
    Y = indicators(labels, scores.shape[1])
    expected = [
        metrics.metric(name).function(Y, scores.astype(float) >= threshold, sample_weight=w)
        for threshold in thresholds
    ]
    same(curve, expected)


@pytest.mark.parametrize("name", ["f1_micro", "f1_macro", "f1_instance"])
def test_many_scores_in_parts_and_many_thresholds(name):
    """More scores than are taken at once, and more thresholds than a group has scores."""
    rng = np.random.default_rng(0)
    scores = np.round(rng.normal(size=(1100, 1000)), 3)
    Y = rng.random(scores.shape) < 0.01
    some = np.array([-1.0, 0.0, 1.5, 2.0])
    expected = [metrics.metric(name).function(Y, scores >= threshold) for threshold in some]
    same(metrics.threshold_curve(Y, scores, some, name), expected)
    many = np.concatenate([some, np.linspace(-3, 3, 20_000)])
    same(metrics.threshold_curve(Y, scores, many, name)[: some.size], expected)
