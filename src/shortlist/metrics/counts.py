r"""Metrics of label sets are functions of four counts.

For a group of decisions (the labels of one example, the examples of one class, or all): how
many true labels were *found*, how many labels were *predicted*, how many are *true*, and how
many *decisions* there are. A metric is a function of these counts, averaged over the groups
[LHS17]_. `of_sets` evaluates it for predicted label sets; `at_thresholds` for the sets
:math:`\{ j : f_j(x) \ge \delta \}` of all thresholds :math:`\delta` at once.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

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
    of_truth, of_prediction = as_csr(sets.true), as_csr(sets.predicted)
    matrices = of_truth.multiply(of_prediction), of_prediction, of_truth
    weights, m = sets.weights, sets.true.m
    total = weights.sum()
    if total == 0.0:
        return float("nan")
    if metric.by == "examples":
        found, predicted, true = (matrix.sum(axis=1) for matrix in matrices)
        return mean(metric.of_counts(Counts(found, predicted, true, m)), weights)
    found, predicted, true = (matrix.T @ weights for matrix in matrices)
    if metric.by == "classes":
        return float(metric.of_counts(Counts(found, predicted, true, total)).mean())
    sums = Counts(found.sum(), predicted.sum(), true.sum(), total * m)
    return float(metric.of_counts(sums))


def at_thresholds(
    metric: CountMetric, problem: Ranking, thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    r"""Return the metric of the label sets at each of the ascending thresholds.

    In each group the metric is a step function of the threshold: it changes by what the score
    at a step adds to the counts. The changes of all groups are summed between thresholds. Cost:
    a sort of the scores in each group, :math:`O(nm \log nm)`, for any number of thresholds.
    """
    scores, labels, weights = problem
    truth = as_csr(labels).toarray()
    n, m = truth.shape
    total = weights.sum()
    if total == 0.0:
        return np.full(thresholds.size, np.nan)
    if metric.by == "examples":
        inside, of_group, decisions = np.ones((n, m)), weights / total, float(m)
    elif metric.by == "classes":
        scores, truth = scores.T, truth.T
        inside = np.broadcast_to(weights, (m, n))
        of_group, decisions = np.full(m, 1.0 / m), total
    else:
        scores, truth = scores.reshape(1, -1), truth.reshape(1, -1)
        inside = np.repeat(weights, m)[None]
        of_group, decisions = np.ones(1), total * m
    order = np.argsort(-scores, axis=1)
    descending = np.take_along_axis(scores, order, axis=1)
    inside = np.take_along_axis(inside, order, axis=1)
    hits = inside * np.take_along_axis(truth, order, axis=1)
    before = np.zeros((len(scores), 1))
    found = np.hstack([before, np.cumsum(hits, axis=1)])
    predicted = np.hstack([before, np.cumsum(inside, axis=1)])
    values = metric.of_counts(Counts(found, predicted, found[:, -1:], decisions))
    # Scores that tie fall between the same two thresholds: only the sum of their changes counts.
    changes = (np.diff(values, axis=1) * of_group[:, None]).ravel()
    reached = np.searchsorted(thresholds, descending.ravel(), side="right")
    sums = np.bincount(reached, weights=changes, minlength=thresholds.size + 1)
    return values[:, 0] @ of_group + np.cumsum(sums[:0:-1])[::-1]


def as_csr(labels: Labels) -> scipy.sparse.csr_array:
    """Return labels as a sparse matrix of zeros and ones."""
    ones = np.ones(labels.indices.size)
    return scipy.sparse.csr_array(
        (ones, labels.indices, labels.offsets), shape=(labels.n, labels.m)
    )
