r"""Average precision: how well the scores of a class rank its examples above the others.

At a threshold on the scores of a class, precision is the share of its positive examples among
those that reach the threshold, recall the share of its positives that do. Examples with equal
scores pass a threshold together.

Precision is needed only at the scores of positives. These are sorted; every other example
adds one to the interval between them in which its score falls. So the cost is that of a binary
search among the positives of a class for every score, with no sort and no copy of the scores.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._arrays import as_choice
from shortlist._jit import inlined, kernel
from shortlist.metrics.inputs import as_ranking

Kind = Literal["voc2007", "voc2010", "step"]
_KINDS = ("voc2007", "voc2010", "step")


def average_precision(
    y_true: Any,
    scores: ArrayLike,
    kind: Kind = "voc2007",
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> NDArray[np.float64]:
    r"""Return the average precision of every class.

    With :math:`p(t), r(t)` the precision and the recall at the threshold t, and
    :math:`\bar p(r) = \max \{ p(t) : r(t) \ge r \}` the interpolated precision:

    ===========  =========================================================================
    kind         average precision
    ===========  =========================================================================
    ``voc2007``  :math:`\tfrac1{11} \sum_{r = 0, 0.1, \ldots, 1} \bar p(r)` of [EGW10]_
    ``voc2010``  :math:`\int_0^1 \bar p(r) \, dr`, the area under the interpolated curve
    ``step``     the mean precision at the positives: scikit-learn's
                 `average_precision_score`
    ===========  =========================================================================

    Parameters
    ----------
    y_true : array_like, sparse matrix or sequence
        Label sets: numbers (one an example), an indicator matrix, or lists.
    scores : array_like, shape (n, m)
        One example a row, one class a column.
    kind : {"voc2007", "voc2010", "step"}
        The definition.
    sample_weight : array_like, shape (n,), optional
        How much each example counts.
    classes : array_like, shape (m,), optional
        The classes of the columns, where labels are not numbers from 0.

    Returns
    -------
    ndarray, shape (m,)
        NaN for a class without positive examples (scikit-learn has 0).

    References
    ----------
    .. [EGW10] M. Everingham, L. Van Gool, C. Williams, J. Winn, A. Zisserman, "The Pascal
       Visual Object Classes (VOC) Challenge", 2010.

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.average_precision([[0], [], [0]], [[3.0], [2.0], [1.0]], kind="step").round(3)
    array([0.833])
    """
    as_choice(kind, _KINDS, "kind")
    rows, labels, weights = as_ranking(y_true, scores, sample_weight, classes)
    examples = labels.owners
    of_positives = rows[examples, labels.indices]
    order = np.lexsort((of_positives, labels.indices))
    starts = np.searchsorted(labels.indices[order], np.arange(labels.m + 1))
    positives, weight_of = of_positives[order], weights[examples[order]]
    others = np.zeros(positives.size + labels.m)  # an interval more than positives, each class
    _add_others(rows, labels.offsets, labels.indices, weights, positives, starts, others)
    out = np.empty(labels.m)
    _average(positives, weight_of, starts, others, _KINDS.index(kind), out)
    return out


def mean_average_precision(
    y_true: Any,
    scores: ArrayLike,
    kind: Kind = "voc2007",
    *,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> float:
    """Return the mean of `average_precision` over the classes that have positive examples.

    Parameters
    ----------
    y_true, scores, kind, sample_weight, classes
        As in `average_precision`.

    Returns
    -------
    float
        NaN if no class has a positive example.

    Examples
    --------
    >>> from shortlist import metrics
    >>> scores = [[3.0, 0.0], [2.0, 1.0], [1.0, 2.0]]
    >>> round(metrics.mean_average_precision([0, 1, 0], scores, kind="step"), 3)
    0.667
    """
    of_classes = average_precision(
        y_true, scores, kind, sample_weight=sample_weight, classes=classes
    )
    counted = of_classes[~np.isnan(of_classes)]
    return float(counted.mean()) if counted.size else float("nan")


@inlined
def _number_at_most(ascending, start, stop, value):
    """Return how many of ``ascending[start:stop]`` are at most `value`, without a branch."""
    at, length = start, stop - start
    while length > 0:
        half = (length + 1) // 2
        at = at + half if ascending[at + half - 1] <= value else at
        length -= half
    return at - start


@kernel
def _add_others(scores, offsets, indices, weights, positives, starts, others):
    """Add the weight of each negative at the number of positives of the class it reaches.

    Those of class j count from ``others[starts[j] + j]``.
    """
    for i in range(scores.shape[0]):
        following = offsets[i]
        for j in range(scores.shape[1]):
            if following < offsets[i + 1] and indices[following] == j:
                following += 1
                continue
            start, stop, score = starts[j], starts[j + 1], scores[i, j]
            # Most score less than all positives.
            is_low = start == stop or score < positives[start]
            reached = 0 if is_low else _number_at_most(positives, start, stop, score)
            others[start + j + reached] += weights[i]


@kernel
def _average(positives, weights, starts, others, kind, out):
    """Write the average precision of each class: walk down from its highest positive."""
    for j in range(out.size):
        start, stop = starts[j], starts[j + 1]
        precision = np.zeros(stop - start)
        recalled = np.zeros(stop - start)
        above = wrong = 0.0
        end = stop
        while end > start:
            begin = end - 1
            while begin > start and positives[begin - 1] == positives[end - 1]:
                begin -= 1
            for at in range(begin, end):
                above += weights[at]
                wrong += others[at + j + 1]
            for at in range(begin - start, end - start):
                recalled[at] = above
                precision[at] = above / (above + wrong) if above > 0.0 else 0.0
            end = begin
        if above == 0.0:
            out[j] = np.nan
        elif kind == 0:
            out[j] = _eleven_points(precision, recalled)
        else:
            if kind == 1:
                _interpolate(precision)
            out[j] = (precision * weights[start:stop]).sum() / above


@kernel
def _interpolate(precision):
    """Raise each precision to the best at a higher recall, which is before it."""
    for at in range(1, precision.size):
        precision[at] = max(precision[at], precision[at - 1])


@kernel
def _eleven_points(precision, recalled):
    """Return the mean over recalls 0, 0.1, ..., 1 of the best precision from there on."""
    total = 0.0
    for tenth in range(11):
        needed = tenth * recalled[0] * (1.0 - 1e-12)  # sums of weights are rounded
        best = 0.0
        for at in range(precision.size):
            if 10.0 * recalled[at] < needed:
                break
            best = max(best, precision[at])
        total += best
    return total / 11.0
