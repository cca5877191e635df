"""The values of torchmetrics, where the definitions coincide: without ties and empty sets."""

import os

import numpy as np
import pytest

if not os.environ.get("CI"):
    pytest.importorskip("torchmetrics", reason="torchmetrics is not installed")
import torch
from torchmetrics.functional import classification, retrieval

from shortlist import metrics

N, M = 50, 8


@pytest.fixture(scope="module")
def problem():
    """Labels, label sets, predicted sets and scores; every set and every class has some."""
    rng = np.random.default_rng(0)
    y, scores = rng.integers(0, M, N), rng.random((N, M))  # those below 0 would be squashed
    scores[np.arange(N), y] += 0.5 * rng.random(N)
    Y, H = (rng.random((N, M)) < share for share in (0.3, 0.4))
    for sets in (Y, H):
        sets[np.arange(N), np.arange(N) % M] = True
    return y, Y.astype(int), H.astype(int), scores / 2


def as_torch(*arrays):
    return [torch.from_numpy(array) for array in arrays]


@pytest.mark.parametrize("k", range(1, M))
def test_lists_of_k(problem, k):
    y, Y, _, scores = problem
    labels, sets, lists = as_torch(y, Y, scores)
    theirs = classification.multiclass_accuracy(lists, labels, M, average="micro", top_k=k)
    assert metrics.topk_accuracy(y, scores, k) == pytest.approx(float(theirs), rel=1e-6)
    assert metrics.topk_error(y, scores, k) == pytest.approx(1 - float(theirs), rel=1e-6)
    for ours, function in (
        (metrics.precision_at_k, retrieval.retrieval_precision),
        (metrics.recall_at_k, retrieval.retrieval_recall),
    ):
        each = [float(function(*pair, top_k=k)) for pair in zip(lists, sets, strict=True)]
        assert ours(Y, scores, k) == pytest.approx(np.mean(each), rel=1e-6)


def test_orders(problem):
    _, Y, _, scores = problem
    sets, lists = as_torch(Y, scores)
    theirs = classification.multilabel_average_precision(lists, sets, M, average=None)
    np.testing.assert_allclose(metrics.average_precision(Y, scores, "step"), theirs, rtol=1e-6)
    assert metrics.rank_loss(Y, scores) == pytest.approx(
        float(classification.multilabel_ranking_loss(lists, sets, M)), rel=1e-6
    )


def test_label_sets(problem):
    _, Y, H, _ = problem
    sets, predicted = as_torch(Y, H)
    examples = sets.T, predicted.T  # where each example is a label, means are over examples
    pairs = {
        "f1_micro": classification.multilabel_f1_score(predicted, sets, M, average="micro"),
        "f1_macro": classification.multilabel_f1_score(predicted, sets, M, average="macro"),
        "f1_instance": classification.multilabel_f1_score(*examples[::-1], N, average="macro"),
        "accuracy": classification.multilabel_jaccard_index(*examples[::-1], N, average="macro"),
        "subset_accuracy": classification.multilabel_exact_match(predicted, sets, M),
        "hamming_loss": classification.multilabel_hamming_distance(predicted, sets, M),
    }
    for name, theirs in pairs.items():
        ours = metrics.metric(name).function(Y, H)
        assert ours == pytest.approx(float(theirs), rel=1e-6), name
