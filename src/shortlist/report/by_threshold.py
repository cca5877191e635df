"""How the label sets of a model depend on its threshold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from shortlist import metrics
from shortlist.metrics.counts import CountMetric
from shortlist.metrics.inputs import as_ranking, read_labels
from shortlist.metrics.responses import class_names, class_scores
from shortlist.model_selection.thresholds import ThresholdCut
from shortlist.report.records import LabelSets

#: Thresholds that are drawn, between these quantiles of the scores.
_THRESHOLDS, _QUANTILES = 121, (0.002, 0.998)
#: More labels than so many are counted together.
_LARGEST = 20
_METRICS = ("f1_micro", "f1_macro", "accuracy", "subset_accuracy")


def label_sets(
    model: Any, X: Any, y: Any, *, metrics_of_sets: Sequence[str] = _METRICS
) -> LabelSets:
    """Return metrics of label sets at every threshold, and how many labels examples have.

    Parameters
    ----------
    model : estimator
        A fitted multilabel classifier with scores.
    X : array_like or sparse matrix, shape (n, d)
        Examples.
    y : array_like, sparse matrix or lists
        Their label sets.
    metrics_of_sets : sequence of str
        Names of `shortlist.metrics` that depend on a threshold.

    Returns
    -------
    LabelSets
        For `plot_thresholds` and `plot_cardinality`.
    """
    scores, classes = class_scores(model, X), class_names(model)
    truth = as_ranking(y, scores, None, classes).labels
    low, high = np.quantile(scores, _QUANTILES).tolist()
    thresholds = np.linspace(low, high, _THRESHOLDS)
    m = scores.shape[1]
    size = CountMetric("all", lambda c: c.predicted * m / c.decisions)
    predicted = read_labels(model.predict(X), m)
    return LabelSets(
        thresholds=tuple(thresholds.tolist()),
        metrics={
            name: tuple(metrics.threshold_curve(truth, scores, thresholds, name).tolist())
            for name in metrics_of_sets
        },
        sizes=tuple(metrics.threshold_curve(truth, scores, thresholds, size).tolist()),
        cardinality=metrics.label_cardinality(truth),
        chosen=_chosen(getattr(model, "cut_", None)),
        true_histogram=_histogram(truth),
        predicted_histogram=_histogram(predicted),
    )


def _chosen(cut: Any) -> float | None:
    one = isinstance(cut, ThresholdCut) and cut.thresholds.size == 1
    return float(cut.thresholds[0]) if one else None


def _histogram(labels: Any) -> tuple[int, ...]:
    sizes = np.minimum(np.diff(labels.offsets), _LARGEST)
    return tuple(np.bincount(sizes).tolist())
