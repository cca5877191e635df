r"""Metrics of label sets are functions of four counts.

For a group of decisions (the labels of one example, the examples of one class, or all): how
many true labels were *found*, how many labels were *predicted*, how many are *true*, and how
many *decisions* there are. A metric is a function of these counts, averaged over the groups
[LHS17, section 3.1]. `of_sets` evaluates it for predicted label sets; `at_thresholds` for the
sets :math:`\{ j : f_j(x) \ge \delta \}` of all thresholds :math:`\delta` at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses.labels import Labels
from shortlist.metrics.inputs import Partition, Ranking, mean

#: So many thresholds are not in the cache: sorted scores search them faster.
_MANY = 2**14


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
    metric: CountMetric, problem: Ranking, thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the metric of the label sets at each of the ascending thresholds.

    Cost: a binary search for each score, and where the metric is averaged over examples or
    classes a sort of their scores, however many thresholds there are. Scores are taken in parts,
    so that little memory is needed beside them.
    """
    if problem.weights.sum() == 0.0:
        return np.full(thresholds.size, np.nan)
    return (_of_all if metric.by == "all" else _of_groups)(metric, problem, thresholds)


def _of_all(
    metric: CountMetric, problem: Ranking, thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Count all decisions between thresholds."""
    scores, labels, weights = problem
    between = np.zeros((2, thresholds.size + 1))  # found, predicted
    truth = labels.indicators()
    for rows in _parts(*scores.shape):
        part = truth[rows].tocoo()
        some, w = scores[rows], weights[rows]
        reached = _reached(thresholds, some)
        of_labels = reached[part.row, part.col]
        between[0] += np.bincount(of_labels, w[part.row], between.shape[1])
        between[1] += np.bincount(reached.ravel(), np.repeat(w, labels.m), between.shape[1])
    found, predicted = np.cumsum(between[:, ::-1], axis=1)[:, ::-1]
    return metric.of_counts(Counts(found[1:], predicted[1:], found[0], weights.sum() * labels.m))


def _of_groups(
    metric: CountMetric, problem: Ranking, thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Sum what the scores of each group change.

    In a group the metric is a step function of the threshold; it changes where that passes one
    of the group's scores. The changes of all groups are summed between thresholds. Scores that
    tie fall between the same two, where only the sum of their changes counts.
    """
    scores, labels, weights = problem
    truth, decisions, of_group = labels.indicators(), float(labels.m), weights / weights.sum()
    inside = np.ones(labels.m)
    if metric.by == "classes":
        scores, truth = scores.T, truth.T.tocsr()
        decisions, of_group, inside = weights.sum(), np.full(labels.m, 1.0 / labels.m), weights
    between = np.zeros(thresholds.size + 1)
    at_first = 0.0
    for groups in _parts(*scores.shape):
        order = np.argsort(-scores[groups], axis=1)
        descending = np.take_along_axis(scores[groups], order, axis=1)
        hits = np.take_along_axis(truth[groups].toarray(), order, axis=1)
        found = np.pad(np.cumsum(inside[order] * hits, axis=1), ((0, 0), (1, 0)))
        predicted = np.pad(np.cumsum(inside[order], axis=1), ((0, 0), (1, 0)))
        values = metric.of_counts(Counts(found, predicted, found[:, -1:], decisions))
        values *= of_group[groups, None]
        at_first += values[:, 0].sum()
        reached = _reached(thresholds, descending)
        between += np.bincount(reached.ravel(), np.diff(values).ravel(), between.size)
    return at_first + np.cumsum(between[:0:-1])[::-1]


def _reached(thresholds: NDArray[np.float64], scores: FloatArray) -> NDArray[np.intp]:
    """Return how many of the ascending thresholds each score reaches."""
    if thresholds.size < _MANY:
        return np.searchsorted(thresholds, scores, side="right")
    flat = scores.ravel()
    order = np.argsort(flat)
    out = np.empty(flat.size, np.intp)
    out[order] = np.searchsorted(thresholds, flat[order], side="right")
    return out.reshape(scores.shape)


def _parts(n: int, m: int, elements: int = 2**20) -> Iterator[slice]:
    """Yield slices of the rows of a matrix, each with about as many elements."""
    rows = max(1, elements // m)
    for start in range(0, n, rows):
        yield slice(start, start + rows)
