"""Where the true labels stand among the scores."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist._jit import kernel
from shortlist.losses.labels import Labels


@kernel
def _add_shares(scores, offsets, indices, shares):
    """Add, at the rank of each true label, the share of its example's labels that it is."""
    for i in range(scores.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        for label in labels:
            rank = 0
            for k in range(scores.shape[1]):
                rank += scores[i, k] > scores[i, label]
            shares[rank] += 1.0 / labels.size


def topk_recall(scores: FloatArray, labels: Labels) -> NDArray[np.float64]:
    """Return, for k = 1, ..., m, the mean share of an example's labels in its top k.

    A label is in the top k unless k others score strictly higher. With one label an
    example these are the top-k accuracies. Examples without labels do not count.
    """
    shares = np.zeros(labels.m)
    _add_shares(np.ascontiguousarray(scores), labels.offsets, labels.indices, shares)
    counted = int(np.count_nonzero(np.diff(labels.offsets)))
    return np.cumsum(shares) / max(counted, 1)
