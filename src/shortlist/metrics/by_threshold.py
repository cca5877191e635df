"""A metric of label sets as a function of the threshold."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist.metrics.counts import CountMetric, at_thresholds
from shortlist.metrics.inputs import as_ranking
from shortlist.metrics.registry import metric as metric_called
from shortlist.metrics.registry import names


def threshold_curve(
    y_true: Any,
    scores: ArrayLike,
    thresholds: ArrayLike,
    metric: str | CountMetric = "f1_micro",
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""Return a metric of the label sets :math:`\{ j : f_j(x) \ge \delta \}` for every threshold.

    Cost: at most one sort of the scores, however many thresholds there are.

    Parameters
    ----------
    y_true : array_like, sparse matrix or sequence
        Label sets: an indicator matrix, lists, or numbers (one an example).
    scores : array_like, shape (n, m)
        One example a row, one class a column.
    thresholds : array_like, shape (t,)
        The thresholds, in any order; infinities as well.
    metric : str
        The name of a metric of label sets.
    sample_weight : array_like, shape (n,), optional
        How much each example counts.
    classes : array_like, shape (m,), optional
        The classes of the columns, where labels are not numbers from 0.

    Returns
    -------
    ndarray, shape (t,)

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.threshold_curve([[0, 1], [1]], [[0.9, 0.4], [0.1, 0.8]], [0.0, 0.5, 1.0])
    array([0.85714286, 0.8       , 0.        ])
    """
    values = np.asarray(thresholds, dtype=np.float64)
    if values.ndim != 1 or np.isnan(values).any():
        raise ValueError("thresholds must be one vector of numbers.")
    order = np.argsort(values)
    out = np.empty(values.size)
    problem = as_ranking(y_true, scores, sample_weight, classes)
    (out[order],) = at_thresholds([as_count_metric(metric)], problem, values[order])
    return out


def as_count_metric(metric: str | CountMetric) -> CountMetric:
    """Return a metric that can be evaluated at thresholds."""
    if isinstance(metric, CountMetric):
        return metric
    counts = metric_called(metric).counts
    if counts is None:
        able = [name for name in names() if "{k}" not in name and metric_called(name).counts]
        raise ValueError(
            f"{metric} does not depend on a threshold; choose one of {', '.join(able)}."
        )
    return counts
