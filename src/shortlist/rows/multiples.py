"""Multiples of rows of weights, added to scores."""

from __future__ import annotations

from shortlist._jit import inlined


@inlined
def add_multiple(x, j, weights, out):
    """Add `x` times row `j` of the weights to `out`."""
    for k in range(out.size):
        out[k] += x * weights[j, k]


@inlined
def add_four(x, at, weights, out):
    """The same for four numbers and the rows `at`, so that `out` is read and written once."""
    for k in range(out.size):
        out[k] += (x[0] * weights[at[0], k] + x[1] * weights[at[1], k]) + (
            x[2] * weights[at[2], k] + x[3] * weights[at[3], k]
        )
