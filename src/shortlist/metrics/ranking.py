r"""How well scores rank the true labels of an example above the other classes.

Ties follow [LHS17, section 3.1]: a label is in the top k unless k others score *strictly*
higher, and a pair is misranked when the relevant label scores *no higher* than the irrelevant
one. So constant scores have top-k accuracy and recall 1, precision :math:`|Y|/m` and rank loss 1.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._arrays import FloatArray, as_k
from shortlist._jit import kernel
from shortlist.losses.labels import Labels
from shortlist.metrics.inputs import Ranking, as_ranking, mean
from shortlist.special.select import kth_largest


def topk_accuracy(
    y_true: Any,
    scores: ArrayLike,
    k: int = 1,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    r"""Return the share of examples whose label is in the top k.

    .. math::  \tfrac1n \sum_i [ f_{\pi_k}(x_i) \le f_{y_i}(x_i) ]

    Unlike scikit-learn's `top_k_accuracy_score`, which breaks a tie by the order of the
    classes, a label that ties with the k-th score is in the top k.

    Parameters
    ----------
    y_true : array_like, sparse matrix or sequence
        One label an example: numbers, an indicator matrix, or lists of one label.
    scores : array_like, shape (n, m)
        One example a row, one class a column.
    k : int
        The length of the list, from 1 to m.
    sample_weight : array_like, shape (n,), optional
        How much each example counts.
    classes : array_like, shape (m,), optional
        The classes of the columns, where labels are not numbers from 0: an estimator's
        ``classes_``.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist import metrics
    >>> scores = [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]]
    >>> metrics.topk_accuracy([0, 1], scores, k=1), metrics.topk_accuracy([0, 1], scores, k=2)
    (0.5, 1.0)
    """
    problem = _one_label_each(as_ranking(y_true, scores, sample_weight, classes))
    return float(topk_recall(*problem)[_as_k(k, problem.scores) - 1])


def topk_error(
    y_true: Any,
    scores: ArrayLike,
    k: int = 1,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    r"""Return 1 - `topk_accuracy`: the share of examples with k classes above the label.

    Parameters
    ----------
    y_true, scores, k, sample_weight, classes
        As in `topk_accuracy`.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist.metrics import topk_error
    >>> topk_error([1, 2], [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]], k=2)
    0.5
    """
    return 1.0 - topk_accuracy(y_true, scores, k, sample_weight=sample_weight, classes=classes)


def topk_accuracy_curve(
    y_true: Any,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> NDArray[np.float64]:
    """Return `topk_accuracy` for k = 1, ..., m, in one pass over the scores.

    Parameters
    ----------
    y_true, scores, sample_weight, classes
        As in `topk_accuracy`.

    Returns
    -------
    ndarray, shape (m,)

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.topk_accuracy_curve([0, 1], [[0.5, 0.3, 0.2], [0.1, 0.2, 0.7]])
    array([0.5, 1. , 1. ])
    """
    return topk_recall(*_one_label_each(as_ranking(y_true, scores, sample_weight, classes)))


def autkc(
    y_true: Any,
    scores: ArrayLike,
    k: int | None = None,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    """Return the area under the top-k curve: the mean of the top-1, ..., top-k accuracies.

    Parameters
    ----------
    y_true, scores, sample_weight, classes
        As in `topk_accuracy`.
    k : int, optional
        The longest list; by default that of all m classes.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist.metrics import autkc
    >>> autkc([1], [[3.0, 2.0, 1.0, 0.0]])
    0.75
    """
    curve = topk_accuracy_curve(y_true, scores, sample_weight=sample_weight, classes=classes)
    return float(
        curve[: curve.size if k is None else as_k(k, curve.size, "a row of scores")].mean()
    )


def precision_at_k(
    y_true: Any,
    scores: ArrayLike,
    k: int = 1,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    r"""Return the mean share of the top k that are true labels.

    .. math::  \tfrac1n \sum_i |T_i \cap Y_i| / |T_i|

    :math:`T_i` are the labels below at most k - 1 others: k labels, or more where some tie with
    the k-th. An example without labels has precision 0.

    Parameters
    ----------
    y_true : array_like, sparse matrix or sequence
        Label sets: numbers (one an example), an indicator matrix, or lists.
    scores, k, sample_weight, classes
        As in `topk_accuracy`.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.precision_at_k([[0, 2], [2]], [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]], k=2)
    0.25
    """
    rows, labels, weights = as_ranking(y_true, scores, sample_weight, classes)
    shares = np.empty(labels.n)
    _shares_in_top(rows, labels.offsets, labels.indices, _as_k(k, rows), shares)
    return mean(shares, weights)


def recall_at_k(
    y_true: Any,
    scores: ArrayLike,
    k: int = 1,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    r"""Return the mean share of an example's labels that are in its top k.

    .. math::  \tfrac1n \sum_i |T_i \cap Y_i| / |Y_i|

    With one label an example this is `topk_accuracy`. Examples without labels do not count.

    Parameters
    ----------
    y_true : array_like, sparse matrix or sequence
        Label sets: numbers (one an example), an indicator matrix, or lists.
    scores, k, sample_weight, classes
        As in `topk_accuracy`.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.recall_at_k([[0, 2], [2]], [[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]], k=2)
    0.25
    """
    problem = as_ranking(y_true, scores, sample_weight, classes)
    return float(topk_recall(*problem)[_as_k(k, problem.scores) - 1])


def rank_loss(
    y_true: Any,
    scores: ArrayLike,
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    r"""Return the mean share of pairs of a true label and another class in the wrong order.

    .. math::

        \tfrac1n \sum_i \frac{|D_i|}{|Y_i| |\bar Y_i|}, \quad
        D_i = \{ (y, \bar y) \in Y_i \times \bar Y_i : f_y(x_i) \le f_{\bar y}(x_i) \}

    An example with no label, or with all, has no pairs and loss 0: this is scikit-learn's
    `label_ranking_loss`.

    Parameters
    ----------
    y_true : array_like, sparse matrix or sequence
        Label sets: numbers (one an example), an indicator matrix, or lists.
    scores, sample_weight, classes
        As in `topk_accuracy`.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.rank_loss([[0, 2]], [[3.0, 2.0, 1.0]])
    0.5
    """
    rows, labels, weights = as_ranking(y_true, scores, sample_weight, classes)
    losses = np.empty(labels.n)
    _misranked(rows, labels.offsets, labels.indices, losses)
    return mean(losses, weights)


def topk_recall(
    scores: FloatArray, labels: Labels, weights: NDArray[np.float64] | None = None
) -> NDArray[np.float64]:
    """Return `recall_at_k` for k = 1, ..., m, of input that fits already."""
    weights = np.ones(labels.n) if weights is None else weights
    shares = np.zeros(labels.m)
    rows = np.ascontiguousarray(scores)
    _add_shares(rows, labels.offsets, labels.indices, weights, shares)
    total = weights[np.diff(labels.offsets) > 0].sum()
    if total == 0.0:
        return np.full(labels.m, np.nan)
    return np.cumsum(shares) / total


@kernel
def _add_shares(scores, offsets, indices, weights, shares):
    """Add, at the rank of each true label, the share of its example's labels that it is."""
    for i in range(scores.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        for label in labels:
            rank = 0
            for j in range(scores.shape[1]):
                rank += scores[i, j] > scores[i, label]
            shares[rank] += weights[i] / labels.size


@kernel
def _shares_in_top(scores, offsets, indices, k, shares):
    """Write the share of true labels among the classes that score no less than the k-th."""
    work = np.empty(scores.shape[1], scores.dtype)
    for i in range(scores.shape[0]):
        bound, _ = kth_largest(scores[i], k, work)
        hits = length = 0
        for label in indices[offsets[i] : offsets[i + 1]]:
            hits += scores[i, label] >= bound
        for j in range(scores.shape[1]):
            length += scores[i, j] >= bound
        shares[i] = hits / length


@kernel
def _misranked(scores, offsets, indices, losses):
    """Write the share of pairs in the wrong order: those of a label and all classes, less the
    pairs of two labels.
    """
    m = scores.shape[1]
    for i in range(scores.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        wrong = 0
        for label in labels:
            for j in range(m):
                wrong += scores[i, j] >= scores[i, label]
            for other in labels:
                wrong -= scores[i, other] >= scores[i, label]
        pairs = labels.size * (m - labels.size)
        losses[i] = wrong / pairs if pairs > 0 else 0.0


def _one_label_each(problem: Ranking) -> Ranking:
    counts = np.diff(problem.labels.offsets)
    if (counts != 1).any():
        at = int(np.flatnonzero(counts != 1)[0])
        raise ValueError(
            f"example {at} has {counts[at]} labels; top-k accuracy is for exactly one: "
            "use recall_at_k."
        )
    return problem


def _as_k(k: Any, scores: FloatArray) -> int:
    return as_k(k, scores.shape[1], "a row of scores")
