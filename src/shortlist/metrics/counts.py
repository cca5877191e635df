r"""Metrics of label sets are functions of four counts.

For a group of decisions (the labels of one example, the examples of one class, or all): how
many true labels were *found*, how many labels were *predicted*, how many are *true*, and how
many *decisions* there are. A metric is a function of these counts, averaged over the groups
[LHS17, section 3.1]. `of_sets` evaluates it for predicted label sets; `at_thresholds` for the
sets :math:`\{ j : f_j(x) \ge \delta \}` of all thresholds :math:`\delta` at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist._jit import kernel
from shortlist.losses.labels import Labels
from shortlist.metrics.inputs import Partition, Ranking, mean


class Counts(NamedTuple):
    """Labels found, predicted and true, and all decisions, of one or many groups."""

    found: NDArray[Any]
    predicted: NDArray[Any]
    true: NDArray[Any]
    decisions: float


class CountMetric(NamedTuple):
    """A function of counts, and the groups over which it is averaged."""

    by: Literal["examples", "classes", "all"]
    of_counts: Callable[..., NDArray[Any]]


def ratio(part: NDArray[Any], whole: NDArray[Any], of_nothing: float) -> NDArray[np.float64]:
    """Return ``part / whole``, and `of_nothing` for 0/0."""
    out = np.full(np.broadcast(part, whole).shape, of_nothing)
    return np.divide(part, whole, out=out, where=whole > 0)


def f1(counts: Counts, of_nothing: float = 1.0) -> NDArray[np.float64]:
    """Return the harmonic mean of precision and recall."""
    return ratio(2.0 * counts.found, counts.predicted + counts.true, of_nothing)


def jaccard(counts: Counts, of_nothing: float = 1.0) -> NDArray[np.float64]:
    """Return the size of the intersection by that of the union."""
    return ratio(counts.found, counts.predicted + counts.true - counts.found, of_nothing)


def equality(counts: Counts) -> NDArray[np.float64]:
    """Return 1 where the sets are the same."""
    same = (counts.found == counts.predicted) & (counts.found == counts.true)
    return same.astype(np.float64)


def difference(counts: Counts) -> NDArray[np.float64]:
    """Return the share of wrong decisions."""
    return (counts.predicted + counts.true - 2.0 * counts.found) / counts.decisions


F1_MICRO = CountMetric("all", f1)
F1_MACRO = CountMetric("classes", f1)
F1_INSTANCE = CountMetric("examples", f1)
ACCURACY = CountMetric("examples", jaccard)
SUBSET_ACCURACY = CountMetric("examples", equality)
HAMMING_LOSS = CountMetric("all", difference)


def of_sets(metric: CountMetric, sets: Partition) -> float:
    """Return the metric of predicted label sets."""
    truth, prediction, weights = sets
    total, m = weights.sum(), truth.m
    if total == 0.0:
        return float("nan")
    both = np.intersect1d(_decisions(truth), _decisions(prediction), assume_unique=True)
    owners, found_labels = np.divmod(both, max(m, 1))
    if metric.by == "examples":
        found = np.bincount(owners, minlength=truth.n)
        predicted, true = np.diff(prediction.offsets), np.diff(truth.offsets)
        return mean(metric.of_counts(Counts(found, predicted, true, m)), weights)
    found = np.bincount(found_labels, weights[owners], m)
    predicted, true = (
        np.bincount(labels.indices, weights[labels.owners], m) for labels in (prediction, truth)
    )
    if metric.by == "classes":
        return float(metric.of_counts(Counts(found, predicted, true, total)).mean())
    sums = Counts(found.sum(), predicted.sum(), true.sum(), total * m)
    return float(metric.of_counts(sums))


def _decisions(labels: Labels) -> NDArray[np.int64]:
    """Return the number of each decision for a label, counted over all examples and classes."""
    return labels.owners * labels.m + labels.indices


def at_thresholds(
    metrics: Sequence[CountMetric], problem: Ranking, thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return metrics, one a row, of the label sets at each of the ascending thresholds.

    Cost: a binary search for each score; and where the metrics are averaged over groups that
    have fewer scores than there are thresholds, a sort of these. All metrics of the same groups
    share them. Scores are taken in parts, so that little memory is needed beside them.
    """
    values = np.full((len(metrics), thresholds.size), np.nan)
    if problem.weights.sum() == 0.0:
        return values
    n, m = problem.scores.shape
    ways = {
        "all": _of_columns,
        "classes": _of_columns if thresholds.size <= n else _of_steps,
        "examples": _of_rows if thresholds.size <= m else _of_steps,
    }
    for by in {metric.by for metric in metrics}:
        some = [at for at, metric in enumerate(metrics) if metric.by == by]
        values[some] = ways[by]([metrics[at] for at in some], problem, thresholds)
    return values


def _of_columns(
    metrics: Sequence[CountMetric], problem: Ranking, thresholds: NDArray[np.float64]
) -> list[NDArray[Any]]:
    """Count the labels of each class, or of all classes, at every threshold."""
    scores, labels, weights = problem
    group = np.arange(labels.m) if metrics[0].by == "classes" else np.zeros(labels.m, np.int64)
    between = np.zeros((2, group[-1] + 1, thresholds.size + 1))  # labels found, and predicted
    for rows in _parts(*scores.shape):
        reached, own = _reached(thresholds, scores[rows]), labels.offsets[rows.start :]
        none = np.zeros(len(reached), np.int64)
        _add_counts(reached, own, labels.indices, weights[rows], none, group, *between)
    counts = _above(between, weights.sum() * labels.m / between.shape[1])
    return [metric.of_counts(counts).mean(axis=0) for metric in metrics]


def _of_rows(
    metrics: Sequence[CountMetric], problem: Ranking, thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Count the labels of each example at every threshold."""
    scores, labels, weights = problem
    sums = np.zeros((len(metrics), thresholds.size))
    for rows in _parts(*scores.shape):
        reached, own = _reached(thresholds, scores[rows]), labels.offsets[rows.start :]
        group, none = np.arange(len(reached)), np.zeros(labels.m, np.int64)
        between = np.zeros((2, group.size, thresholds.size + 1))
        _add_counts(reached, own, labels.indices, np.ones(group.size), group, none, *between)
        counts = _above(between, labels.m)
        sums += [weights[rows] @ metric.of_counts(counts) for metric in metrics]
    return sums / weights.sum()


def _of_steps(
    metrics: Sequence[CountMetric], problem: Ranking, thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum what the scores of each group change.

    In a group the metric is a step function of the threshold; it changes where that passes one
    of the group's scores. The changes of all groups are summed between thresholds. Scores that
    fall between the same two may come in any order, only the sum of their changes counts.
    """
    scores, labels, weights = problem
    truth, decisions, of_group = labels.indicators(), float(labels.m), weights / weights.sum()
    inside = np.ones(labels.m)
    if metrics[0].by == "classes":
        scores, truth = scores.T, truth.T.tocsr()
        decisions, of_group, inside = weights.sum(), np.full(labels.m, 1.0 / labels.m), weights
    between = np.zeros((len(metrics), thresholds.size + 1))
    at_first = np.zeros((len(metrics), 1))
    for groups in _parts(*scores.shape):
        reached, hits = _reached(thresholds, scores[groups]), truth[groups].toarray()
        steps, (size, length) = np.empty_like(reached), reached.shape
        found, predicted = np.zeros((2, size, length + 1))
        _count_down(np.argsort(-reached, axis=1), reached, hits, inside, steps, found, predicted)
        counts = Counts(found, predicted, found[:, -1:], decisions)
        for at, metric in enumerate(metrics):
            values = metric.of_counts(counts) * of_group[groups, None]
            at_first[at] += values[:, 0].sum()
            between[at] += np.bincount(steps.ravel(), np.diff(values).ravel(), between.shape[1])
    return at_first + np.cumsum(between[:, :0:-1], axis=1)[:, ::-1]


def _above(between: NDArray[np.float64], decisions: float) -> Counts:
    """Return the counts at all thresholds, of labels counted between them; (groups, thresholds)."""
    found, predicted = np.cumsum(between[:, :, ::-1], axis=2)[:, :, ::-1]
    return Counts(found[:, 1:], predicted[:, 1:], found[:, :1], decisions)


def _reached(thresholds: NDArray[np.float64], scores: FloatArray) -> NDArray[np.int64]:
    """Return how many of the ascending thresholds each score reaches."""
    reached = np.zeros(scores.shape, np.int64)
    _search(thresholds, scores.ravel(), reached.reshape(-1))
    return reached


@kernel
def _search(ascending, values, numbers):
    """Write how many of `ascending` are at most each value, to `numbers` that are 0.

    The steps of one binary search would wait for each other and mispredict every branch: all
    values of a block take a step, then the next.
    """
    for start in range(0, values.size, 512):
        block, found = values[start : start + 512], numbers[start : start + 512]
        length = ascending.size
        while length > 0:
            half = (length + 1) // 2
            for i in range(block.size):
                found[i] += half * (ascending[found[i] + half - 1] <= block[i])
            length -= half


@kernel
def _add_counts(reached, offsets, indices, weights, of_row, of_column, found, predicted):
    """Add the weights of labels predicted and found, at the number of thresholds they reach.

    The group of an example's label is the sum of both numbers.
    """
    for i in range(reached.shape[0]):
        for j in range(reached.shape[1]):
            predicted[of_row[i] + of_column[j], reached[i, j]] += weights[i]
        for j in indices[offsets[i] : offsets[i + 1]]:
            found[of_row[i] + of_column[j], reached[i, j]] += weights[i]


@kernel
def _count_down(order, reached, hits, weights, steps, found, predicted):
    """Write, for each score of a group in this order, where it is and the counts with it."""
    for i in range(order.shape[0]):
        for at in range(order.shape[1]):
            j = order[i, at]
            steps[i, at] = reached[i, j]
            found[i, at + 1] = found[i, at] + hits[i, j] * weights[j]
            predicted[i, at + 1] = predicted[i, at] + weights[j]


def _parts(n: int, m: int, elements: int = 2**20) -> Iterator[slice]:
    """Yield slices of the rows of a matrix, each with about as many elements."""
    rows = max(1, elements // m)
    for start in range(0, n, rows):
        yield slice(start, start + rows)
