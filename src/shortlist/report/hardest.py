"""The examples whose labels a model ranks lowest."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses.labels import Labels
from shortlist.report.records import Example, Scored

#: How many examples, the length of their lists, and of the lists of features.
_EXAMPLES, _LIST, _FEATURES = 8, 5, 6
_LARGEST_IMAGE = 64 * 64


def hardest_examples(
    X: Any,
    labels: Labels,
    scores: FloatArray,
    classes: Sequence[Any],
    *,
    feature_names: Sequence[str] | None = None,
    image: tuple[int, int] | None = None,
) -> tuple[Example, ...]:
    """Return the examples whose lowest label has most classes above it, the worst first.

    Of equal ones, those whose label is furthest below the best class.
    """
    ranks, behind = _ranks(labels, scores)
    order = np.lexsort((-behind, -ranks))[:_EXAMPLES]
    return tuple(
        Example(
            number=e,
            labels=tuple(str(classes[j]) for j in _labels_of(labels, e)),
            shortlist=_shortlist(scores[e], classes),
            rank=int(ranks[e]),
            **_looks(_row(X, e), feature_names, image),
        )
        for e in order.tolist()
        if ranks[e] > 1  # something is above a label
    )


def _ranks(labels: Labels, scores: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the rank of each example's lowest label, 0 without one, and how far it is behind.

    As in `shortlist.metrics`, only classes that score strictly higher are above a label; other
    labels of the example are not counted.
    """
    sizes, owner = np.diff(labels.offsets), labels.owners
    lowest = np.full(labels.n, np.inf)
    np.minimum.at(lowest, owner, scores[owner, labels.indices])
    above = scores > lowest[:, None]
    above[owner, labels.indices] = False
    ranks = np.where(sizes > 0, above.sum(axis=1) + 1, 0)
    return ranks, np.where(sizes > 0, scores.max(axis=1) - lowest, 0.0)


def _labels_of(labels: Labels, e: int) -> list[int]:
    own: list[int] = labels.indices[labels.offsets[e] : labels.offsets[e + 1]].tolist()
    return own


def _shortlist(scores: FloatArray, classes: Sequence[Any]) -> tuple[Scored, ...]:
    best = np.argsort(-scores, kind="stable")[:_LIST]
    return tuple(Scored(str(classes[j]), float(scores[j])) for j in best.tolist())


def _row(X: Any, e: int) -> NDArray[np.float64]:
    row = X[[e]]
    dense = row.toarray() if hasattr(row, "toarray") else row
    return np.asarray(dense, np.float64).ravel()


def _looks(
    row: NDArray[np.float64], names: Sequence[str] | None, image: tuple[int, int] | None
) -> dict[str, Any]:
    """Return the pixels of an image, or the largest features."""
    if image is not None and row.size == image[0] * image[1] <= _LARGEST_IMAGE:
        return {"pixels": tuple(np.round(row, 4).tolist())}
    largest = np.argsort(-np.abs(row), kind="stable")[:_FEATURES]
    return {
        "features": tuple(
            Scored(str(j) if names is None else str(names[j]), float(row[j]))
            for j in largest.tolist()
            if row[j] != 0.0
        )
    }
