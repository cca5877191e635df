r"""One training problem: the data, the loss, the weights, and how its two objectives are computed.

.. math::

    P(W) = \tfrac12 \|W\|^2 + \sum_i c_i L(y_i, W' x_i), \qquad
    D(v) = -\sum_i c_i L^*(y_i, v_i) - \tfrac12 \|W(v)\|^2, \qquad
    W(v) = -\sum_i c_i x_i v_i'.
"""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist._jit import kernel_for
from shortlist.losses import batch
from shortlist.losses.labels import Labels
from shortlist.losses.registry import Loss
from shortlist.rows import CsrRows, DenseRows
from shortlist.rows.operations import n_columns, n_rows
from shortlist.solvers import sweep
from shortlist.solvers.result import Certificate

#: Objectives are computed this many scores at a time, to bound the memory they need.
_CHUNK = 1 << 20


class Problem:
    """The data, the loss and the weights ``c`` of a training problem."""

    def __init__(
        self, rows: DenseRows | CsrRows, labels: Labels, loss: Loss, c: NDArray[np.float64]
    ) -> None:
        self.rows, self.labels, self.loss, self.c = rows, labels, loss, c
        self.n, self.d, self.m = n_rows(rows), n_columns(rows), labels.m
        self.dtype = rows.dtype
        self.norms = np.empty(self.n)
        sweep.squared_norms(rows, self.norms)

    def with_loss(self, loss: Loss) -> Problem:
        """Return the same problem with another loss."""
        other = copy.copy(self)
        other.loss = loss
        return other

    def run(self, kernel: Any, *args: Any) -> Any:
        """Call a kernel of the loss: one kept on disk, or its twin for a user's own loss."""
        return kernel_for(self.loss, kernel)(self.loss, *args)

    def scores(self, first: int, last: int, weights: FloatArray) -> FloatArray:
        """Return the scores of the rows from `first` to `last`."""
        if isinstance(self.rows, DenseRows):
            return self.rows.matrix[first:last] @ weights
        out = np.empty((last - first, self.m), self.dtype)
        sweep.scores_of(self.rows, first, weights, out)
        return out

    def weights(self, duals: FloatArray) -> FloatArray:
        """Return W(v), computed from all duals."""
        if isinstance(self.rows, DenseRows):
            scaled = duals * (-self.c).astype(self.dtype)[:, None]
            return self.rows.matrix.T @ scaled
        out = np.empty((self.d, self.m), self.dtype)
        sweep.weights_from_duals(self.rows, self.c, duals, out)
        return out

    def certificate(self, weights: FloatArray, duals: FloatArray) -> Certificate:
        """Return both objectives; `weights` must be W(v). Sums are float64."""
        flat = weights.ravel().astype(np.float64, copy=False)
        regulariser = 0.5 * float(flat @ flat)
        labels, values = self.labels, np.empty(self.n)
        chunk = max(1, _CHUNK // self.m)
        for first in range(0, self.n, chunk):
            last = min(first + chunk, self.n)
            offsets, out = labels.offsets[first : last + 1], values[first:last]
            scores = self.scores(first, last, weights)
            self.run(batch.value_rows, scores, offsets, labels.indices, out)
        conjugates = np.empty(self.n)
        self.run(batch.conjugate_rows, duals, labels.offsets, labels.indices, conjugates)
        primal = regulariser + float(self.c @ values)
        return Certificate(primal, -float(self.c @ conjugates) - regulariser)
