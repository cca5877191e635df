"""Metrics in batches against their definitions on all examples."""

import nn.needs_torch  # noqa: I001

import re

import numpy as np
import pytest
import torch

from nn.cases import batch
from shortlist import metrics, nn

U, SETS = batch("multilabel", n=60, m=6)  # ties, an empty set and a full one
ONE = torch.randint(0, 6, (60,), generator=torch.Generator().manual_seed(0))


def in_batches(metric, target):
    for at in (slice(0, 7), slice(7, 60)):
        metric.update(U[at], target[at])
    return metric.compute().numpy()


def rank(u, j):
    return (u > u[j]).sum()


def pairs(numbers):
    return np.mean([n for n in numbers if n is not None])


def examples(target=SETS):
    return list(zip(U.numpy(), target.numpy(), strict=True))


def test_topk_accuracy():
    result = in_batches(nn.TopKAccuracy(k=(1, 3, 6)), ONE)
    expected = [np.mean([rank(u, y) < k for u, y in examples(ONE)]) for k in (1, 3, 6)]
    np.testing.assert_allclose(result, expected)
    assert in_batches(nn.TopKAccuracy(k=3), ONE) == pytest.approx(expected[1])


@pytest.mark.parametrize("k", [1, 2, 5])
def test_recall_and_precision(k):
    recalls, precisions = [], []
    for u, labels in examples():
        top = np.array([rank(u, j) < k for j in range(6)])
        recalls.append((top & labels).sum() / labels.sum() if labels.any() else None)
        precisions.append((top & labels).sum() / top.sum())
    assert in_batches(nn.RecallAtK(k), SETS) == pytest.approx(pairs(recalls))
    assert in_batches(nn.PrecisionAtK(k), SETS) == pytest.approx(pairs(precisions))


def test_rank_loss():
    def of(u, labels):
        wrong = u[labels][:, None] <= u[~labels][None]
        return wrong.mean() if wrong.size else 0.0

    expected = np.mean([of(u, labels) for u, labels in examples()])
    assert in_batches(nn.RankLoss(), SETS) == pytest.approx(expected)


def test_sets_from_a_threshold():
    predicted, labels = U.numpy() >= 0.5, SETS.numpy()
    both, either = (predicted & labels).sum(1), (predicted | labels).sum(1)
    expected = {
        nn.HammingLoss: (predicted != labels).mean(),
        nn.SubsetAccuracy: (predicted == labels).all(1).mean(),
        nn.MultilabelAccuracy: np.where(either > 0, both / np.maximum(either, 1), 1.0).mean(),
    }
    for metric, number in expected.items():
        assert in_batches(metric(threshold=0.5), SETS) == pytest.approx(number)


def test_f1_score_is_scikit_learns():
    from sklearn.metrics import f1_score

    averages = {"micro": "micro", "macro": "macro", "instance": "samples"}
    for ours, theirs in averages.items():
        expected = f1_score(SETS, U >= 0.5, average=theirs, zero_division=1.0)
        assert in_batches(nn.F1Score(ours, threshold=0.5), SETS) == pytest.approx(expected)


OURS = {
    "top2": nn.TopKAccuracy(2),
    "precision@3": nn.PrecisionAtK(3),
    "recall@3": nn.RecallAtK(3),
    "rank_loss": nn.RankLoss(),
    "map": nn.MeanAveragePrecision(),
    "map_voc2010": nn.MeanAveragePrecision("voc2010"),
    "map_step": nn.MeanAveragePrecision("step"),
    "hamming_loss": nn.HammingLoss(),
    "accuracy": nn.MultilabelAccuracy(),
    "subset_accuracy": nn.SubsetAccuracy(),
    "f1_micro": nn.F1Score("micro"),
    "f1_macro": nn.F1Score("macro"),
    "f1_instance": nn.F1Score("instance"),
}


@pytest.mark.parametrize("name", OURS)
def test_in_batches_as_in_one_function(name):
    """The metrics of training loops are those of `shortlist.metrics`, by the same name."""
    known = metrics.metric(name)
    target = ONE if name == "top2" else SETS
    given = U.numpy() >= 0.0 if known.needs == "sets" else U.numpy()
    expected = known.function(target.numpy(), given)
    assert in_batches(OURS[name], target) == pytest.approx(expected, abs=1e-12)


def test_every_metric_of_sets_is_there():
    of_one_label = {"top{k}_error", "autkc", "autkc@{k}"}  # follow from the top-k accuracy
    families = {re.sub(r"\d+", "{k}", name) if "map" not in name else name for name in OURS}
    families = {name.replace("f{k}_", "f1_") for name in families}
    assert families == set(metrics.names()) - of_one_label


def test_half_precision_deep_scores_and_ignored_examples():
    target = ONE.clone()
    target[::2] = -100
    metric = nn.TopKAccuracy(2)
    metric.update(U.half().reshape(2, 30, 6).movedim(-1, 1), target.reshape(2, 30))
    expected = nn.TopKAccuracy(2)
    expected.update(U.half()[1::2], ONE[1::2])
    assert metric.compute() == expected.compute()


def test_reset_and_too_early():
    metric = nn.RankLoss()
    precision = nn.MeanAveragePrecision()
    with pytest.raises(RuntimeError, match="MeanAveragePrecision has seen no example"):
        precision.compute()
    with pytest.raises(ValueError, match="kind is 'voc2012'; did you mean"):
        nn.MeanAveragePrecision("voc2012")
    with pytest.raises(RuntimeError, match="RankLoss has seen no example; call update first"):
        metric.compute()
    metric.update(U, SETS)
    first = metric.compute()
    metric.reset()
    metric.update(U, SETS)
    assert metric.compute() == first


def test_processes_are_added_up(tmp_path):
    """A group of one process: the sums pass through torch.distributed and stay what they are."""
    metric = nn.TopKAccuracy(2)
    metric.update(U, ONE)
    alone = metric.compute()
    torch.distributed.init_process_group(
        "gloo", init_method=f"file://{tmp_path}/store", rank=0, world_size=1
    )
    try:
        assert metric.compute() == metric.compute() == alone
    finally:
        torch.distributed.destroy_process_group()
