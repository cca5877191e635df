r"""How good predicted label sets are.

Nothing to find and nothing predicted is right: an empty prediction for an empty label set, or
a class that neither occurs nor is predicted, has F1 score and accuracy 1 (scikit-learn has 0
unless told by `zero_division`).
"""

from __future__ import annotations

from functools import partial
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from shortlist._arrays import as_choice, as_finite, as_weights
from shortlist.metrics import counts
from shortlist.metrics.inputs import as_partition, mean, read_labels

Average = Literal["micro", "macro", "instance"]
_F1 = {"micro": counts.F1_MICRO, "macro": counts.F1_MACRO, "instance": counts.F1_INSTANCE}


def f1_score(
    y_true: Any,
    y_pred: Any,
    average: Average = "micro",
    *,
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    r"""Return the F1 score, the harmonic mean of precision and recall.

    .. math::  2 |h \cap Y| / (|h| + |Y|)

    Parameters
    ----------
    y_true, y_pred : array_like, sparse matrix or sequence
        True and predicted label sets: an indicator matrix, lists, or numbers (one an example).
    average : {"micro", "macro", "instance"}
        Whether labels are counted over all examples and classes, or for each class, or for
        each example; the scores of classes or examples are averaged. ``"instance"`` is
        scikit-learn's ``"samples"``.
    zero_division : float
        The score where there is no label to find and none is predicted.
    sample_weight : array_like, shape (n,), optional
        How much each example counts.
    classes : array_like, shape (m,), optional
        All classes, where labels are not numbers from 0, or where neither set is a matrix.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.f1_score([[0, 1], [2]], [[0], [2]], average="micro")
    0.8
    """
    metric = _F1[as_choice(average, tuple(_F1), "average")]
    sets = as_partition(y_true, y_pred, sample_weight, classes, needs_m=average == "macro")
    return counts.of_sets(_with_zero_division(metric, zero_division), sets)


def multilabel_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    zero_division: float = 1.0,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    r"""Return the mean size of the intersection by that of the union.

    .. math::  \tfrac1n \sum_i |h(x_i) \cap Y_i| / |h(x_i) \cup Y_i|

    This is scikit-learn's ``jaccard_score(..., average="samples")``.

    Parameters
    ----------
    y_true, y_pred, zero_division, sample_weight, classes
        As in `f1_score`.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.multilabel_accuracy([[0, 1], [2]], [[0], [2]])
    0.75
    """
    sets = as_partition(y_true, y_pred, sample_weight, classes)
    return counts.of_sets(_with_zero_division(counts.ACCURACY, zero_division), sets)


def subset_accuracy(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    r"""Return the share of examples whose label set is predicted exactly.

    .. math::  \tfrac1n \sum_i [ h(x_i) = Y_i ]

    This is scikit-learn's `accuracy_score`.

    Parameters
    ----------
    y_true, y_pred, sample_weight, classes
        As in `f1_score`.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.subset_accuracy([[0, 1], [2]], [[0], [2]])
    0.5
    """
    sets = as_partition(y_true, y_pred, sample_weight, classes)
    return counts.of_sets(counts.SUBSET_ACCURACY, sets)


def hamming_loss(
    y_true: Any,
    y_pred: Any,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    r"""Return the share of wrong decisions, one for each example and class.

    .. math::  \tfrac1{mn} \sum_i |h(x_i) \mathbin\triangle Y_i|

    This is scikit-learn's `hamming_loss` of indicator matrices. Of labels that are numbers,
    scikit-learn returns the share of mistakes; here one mistake is two wrong decisions of m.

    Parameters
    ----------
    y_true, y_pred, sample_weight, classes
        As in `f1_score`.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.hamming_loss([[0, 1], [2]], [[0], [2]], classes=range(5))
    0.1
    """
    sets = as_partition(y_true, y_pred, sample_weight, classes, needs_m=True)
    return counts.of_sets(counts.HAMMING_LOSS, sets)


def label_cardinality(y: Any, *, sample_weight: ArrayLike | None = None) -> float:
    r"""Return the mean number of labels, :math:`\tfrac1n \sum_i |Y_i|`.

    Parameters
    ----------
    y : array_like, sparse matrix or sequence
        Label sets: an indicator matrix, lists, or numbers (one an example).
    sample_weight : array_like, shape (n,), optional
        How much each example counts.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.label_cardinality([[0, 1], [2], []])
    1.0
    """
    labels = read_labels(y)
    return mean(np.diff(labels.offsets), as_weights(sample_weight, labels.n))


def _with_zero_division(metric: counts.CountMetric, value: float) -> counts.CountMetric:
    of_nothing = as_finite(value, "zero_division")
    return metric._replace(of_counts=partial(metric.of_counts, of_nothing=of_nothing))
