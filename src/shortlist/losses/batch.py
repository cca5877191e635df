"""Compiled loops over the rows of a matrix of scores."""

from __future__ import annotations

import numpy as np

from shortlist._jit import kernel
from shortlist.losses.labels import from_front, to_front
from shortlist.losses.operations import conjugate, step, value
from shortlist.prox.maps import workspace


@kernel
def step_rows(loss, q, offsets, indices, a, out):
    """Write the step of every row of `q`, with the curvature of its own in `a`, to `out`."""
    work = workspace(q.shape[1])
    row = np.empty(q.shape[1], q.dtype)
    for i in range(q.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        row[:] = q[i]
        to_front(row, labels)
        step(loss, row, labels.size, a[i], out[i], work)
        from_front(out[i], labels)


@kernel
def value_rows(loss, u, offsets, indices, out):
    """Write the loss of every row of scores to `out`."""
    work = workspace(u.shape[1])
    row, scratch = np.empty(u.shape[1], u.dtype), np.empty(u.shape[1], u.dtype)
    for i in range(u.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        row[:] = u[i]
        to_front(row, labels)
        out[i] = value(loss, row, labels.size, scratch, work)


@kernel
def conjugate_rows(loss, v, offsets, indices, out):
    """Write the conjugate at every row of duals to `out`."""
    row = np.empty(v.shape[1], v.dtype)
    for i in range(v.shape[0]):
        labels = indices[offsets[i] : offsets[i + 1]]
        row[:] = v[i]
        to_front(row, labels)
        out[i] = conjugate(loss, row, labels.size)
