"""Values worked by hand, and those of scikit-learn where the definitions coincide."""

import numpy as np
import pytest
from sklearn import metrics as sklearn_metrics

from metrics.cases import indicators
from shortlist import metrics

SETS = [{0, 3}, {2}, {4, 1, 3}, {0, 1, 2, 3, 4}, {1}, {0}]


def scores_of(positives, n):
    """One class, whose examples at the given ranks (from 1) are positive."""
    return [[0] if rank in positives else [] for rank in range(1, n + 1)], -np.arange(n)[:, None]


#: name: ((ranks of positives, examples), VOC 2007, VOC 2010, step)
BY_HAND = {
    "precision falls": (({1, 3, 6}, 6), (4 * 1 + 3 * 2 / 3 + 4 / 2) / 11, 13 / 18, 13 / 18),
    "precision rises": (({2, 3}, 4), 2 / 3, 2 / 3, 7 / 12),
    "recall of exactly 0.3": (
        ({1, 2, 3, *range(11, 18)}, 20),
        (4 * 1 + 7 * 10 / 17) / 11,
        (3 * 1 + 7 * 10 / 17) / 10,
        (3 + sum((4 + i) / (11 + i) for i in range(7))) / 10,
    ),
    "all positive": (({1, 2, 3}, 3), 1.0, 1.0, 1.0),
    "one, the last": (({5}, 5), 0.2, 0.2, 0.2),
}


@pytest.mark.parametrize("name", BY_HAND)
def test_average_precision_by_hand(name):
    problem, *expected = BY_HAND[name]
    y, scores = scores_of(*problem)
    for kind, value in zip(("voc2007", "voc2010", "step"), expected, strict=True):
        assert metrics.mean_average_precision(y, scores, kind) == pytest.approx(value, abs=1e-14)


def test_constant_scores():
    """The results that the documentation promises."""
    scores = np.zeros((6, 5))
    sizes = np.array([len(labels) for labels in SETS])
    assert metrics.recall_at_k(SETS, scores, 1) == pytest.approx(1.0)
    assert metrics.precision_at_k(SETS, scores, 2) == pytest.approx(sizes.mean() / 5)
    assert metrics.rank_loss(SETS, scores) == pytest.approx(5 / 6)  # one has all labels: no pairs
    frequency = indicators(SETS, 5).mean(axis=0)
    for kind in ("voc2007", "voc2010", "step"):
        np.testing.assert_allclose(metrics.average_precision(SETS, scores, kind), frequency)


def test_nothing_to_find():
    scores, empty = np.eye(3), [[], [], []]
    assert np.isnan(metrics.recall_at_k(empty, scores))
    assert np.isnan(metrics.mean_average_precision(empty, scores))
    assert np.isnan(metrics.average_precision([[0], [0], [1]], scores)[2])
    assert metrics.precision_at_k(empty, scores) == 0.0
    assert metrics.rank_loss(empty, scores) == 0.0
    nobody = np.zeros((3, 3))
    for name in ("f1_micro", "f1_macro", "f1_instance", "accuracy", "subset_accuracy"):
        assert metrics.metric(name).function(nobody, nobody) == 1.0
    assert metrics.hamming_loss(nobody, nobody) == 0.0


@pytest.mark.parametrize("weighted", [False, True])
def test_those_of_scikit_learn(weighted):
    rng = np.random.default_rng(0)
    n, m = 60, 7
    y, Y, H = rng.integers(0, m, n), rng.random((n, m)) < 0.3, rng.random((n, m)) < 0.4
    Y[0], Y[1], H[0], Y[2:4], Y[:, 0] = False, True, False, H[2:4], rng.random(n) < 0.5
    w = rng.random(n) if weighted else None
    no_ties, ties = rng.normal(size=(n, m)), rng.integers(0, 4, (n, m)).astype(float)
    pairs = [
        (
            metrics.topk_accuracy(y, no_ties, k, sample_weight=w),
            sklearn_metrics.top_k_accuracy_score(y, no_ties, k=k, sample_weight=w),
        )
        for k in range(1, m)
    ]
    for scores in (no_ties, ties):
        ours = metrics.average_precision(Y, scores, "step", sample_weight=w)
        theirs = sklearn_metrics.average_precision_score(Y, scores, average=None, sample_weight=w)
        pairs += list(zip(ours, theirs, strict=True))
        pairs.append(
            (
                metrics.rank_loss(Y, scores, sample_weight=w),
                sklearn_metrics.label_ranking_loss(Y, scores, sample_weight=w),
            )
        )
    for ours, theirs in (("micro", "micro"), ("macro", "macro"), ("instance", "samples")):
        pairs.append(
            (
                metrics.f1_score(Y, H, ours, sample_weight=w),
                sklearn_metrics.f1_score(Y, H, average=theirs, sample_weight=w, zero_division=1.0),
            )
        )
    pairs += [
        (
            metrics.multilabel_accuracy(Y, H, sample_weight=w),
            sklearn_metrics.jaccard_score(
                Y, H, average="samples", sample_weight=w, zero_division=1.0
            ),
        ),
        (
            metrics.subset_accuracy(Y, H, sample_weight=w),
            sklearn_metrics.accuracy_score(Y, H, sample_weight=w),
        ),
        (
            metrics.hamming_loss(Y, H, sample_weight=w),
            sklearn_metrics.hamming_loss(Y, H, sample_weight=w),
        ),
    ]
    np.testing.assert_allclose(*np.transpose(pairs), rtol=1e-12)
