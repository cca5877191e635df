"""What metrics are given: labels, scores, label sets and weights that fit each other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._arrays import FloatArray, as_rows, as_weights
from shortlist.losses.labels import Labels, as_labels


class Ranking(NamedTuple):
    """The scores of all classes and the true labels of every example."""

    scores: FloatArray
    labels: Labels
    weights: NDArray[np.float64]


class Partition(NamedTuple):
    """The true labels of every example and those predicted."""

    true: Labels
    predicted: Labels
    weights: NDArray[np.float64]


def as_ranking(
    y_true: Any,
    scores: ArrayLike,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> Ranking:
    """Return labels and scores that fit each other, or say why they do not."""
    matrix = as_scores(scores)
    n, m = matrix.shape
    if classes is not None and len(np.asarray(classes)) != m:
        raise ValueError(f"there are {len(np.asarray(classes))} classes and {m} columns of scores.")
    labels = read_labels(y_true, m, classes)
    if labels.m != m:  # labels that were read before
        raise ValueError(f"there are labels of {labels.m} classes and {m} columns of scores.")
    if labels.n != n:
        raise ValueError(f"there are scores of {n} examples, and labels for {labels.n}.")
    return Ranking(matrix, labels, as_weights(sample_weight, n))


def as_partition(
    y_true: Any,
    y_pred: Any,
    sample_weight: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    needs_m: bool = False,
) -> Partition:
    """Return true and predicted label sets of the same examples and classes.

    The number of classes is that of `classes`, or the columns of a matrix; where neither is
    there, it is not known, which is no harm unless the metric `needs_m`.
    """
    m = columns_of(y_true) or columns_of(y_pred) if classes is None else len(np.asarray(classes))
    if m is None and needs_m:
        raise ValueError(
            "the number of classes is not known; pass an indicator matrix, or classes=."
        )
    true, predicted = (read_labels(y, m, classes) for y in (y_true, y_pred))
    if true.n != predicted.n:
        raise ValueError(f"there are {true.n} true and {predicted.n} predicted label sets.")
    m = max(true.m, predicted.m)
    weights = as_weights(sample_weight, true.n)
    return Partition(true._replace(m=m), predicted._replace(m=m), weights)


def as_scores(scores: ArrayLike) -> FloatArray:
    """Return a matrix of scores. Infinities are scores like others, NaN is refused."""
    matrix = as_rows(scores, "scores")
    if np.ndim(scores) != 2:
        raise ValueError(
            "scores is one vector; pass a matrix with one example a row "
            "(for two classes, np.column_stack([-scores, scores]))."
        )
    if matrix.size and np.isnan(matrix.min()):  # a minimum needs no mask as large as the scores
        i, j = np.argwhere(np.isnan(matrix))[0]
        raise ValueError(f"scores[{i}, {j}] is nan; every score must be a number.")
    return matrix


def read_labels(y: Any, m: int | None = None, classes: ArrayLike | None = None) -> Labels:
    """Return labels in any form; those that are no matrix may be given by the names of classes."""
    if classes is not None and columns_of(y) is None:
        y = _numbered(y, classes)
    return as_labels(y, m)


def _numbered(y: Any, classes: ArrayLike) -> Any:
    """Return labels, or lists of labels, as positions among the classes."""
    position = {known: at for at, known in enumerate(np.asarray(classes).tolist())}

    def positions(labels: Iterable[Any]) -> list[int]:
        try:
            return [position[label] for label in labels]
        except KeyError as error:
            raise ValueError(f"label {error} is not one of the classes.") from None

    values = y.tolist() if isinstance(y, np.ndarray) else list(y)
    if values and all(isinstance(row, Iterable) and not isinstance(row, str) for row in values):
        return [positions(row) for row in values]
    return np.array(positions(values), dtype=np.int64)


def columns_of(y: Any) -> int | None:
    """Return the number of classes that `y` shows by its form, if it does."""
    if isinstance(y, Labels):
        return y.m
    shape: tuple[int, ...] = getattr(y, "shape", ())
    return int(shape[1]) if len(shape) == 2 else None


def mean(values: NDArray[Any], weights: NDArray[np.float64]) -> float:
    """Return the weighted mean; that of nothing is NaN."""
    total = weights.sum()
    return float(values @ weights / total) if total > 0.0 else float("nan")
