r"""Proximal map of the sum of the k largest elements, on the simplex.

.. math::

    \min_p \tfrac12 \|p - z\|^2 + c \sum_{i \le k} p_{[i]}
    \quad \text{s.t.} \quad p \ge 0, \ \langle 1, p \rangle = 1.

Without the simplex, `c` is taken off the `k` largest elements, and those that
would change order are pooled at one `level`. The projection onto the simplex
keeps the order, so it may follow. Hence

.. math::  p_j = \max\{0,\ y_j - t\}, \qquad y_j = \min\{z_j, \max\{level, z_j - c\}\},

which needs no index: a map of one variable is applied to all. Of the `k` largest those are
pooled that cost takes below the level, and of the others those above it,

.. math::  \sum_{j \le k} (level - (z_{[j]} - c))_+ = \sum_{j > k} (z_{[j]} - level)_+ .

The left side minus the right one is increasing and piecewise linear, and Newton's method, which
passes an end of a piece with each step, finds its root without sorting.
Every number is kept relative to the largest :math:`y_j`, near which the positive elements lie, so
that the solution sums to 1 also where `z` or `c` is huge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._jit import inlined, kernel
from shortlist.prox.clip import candidates
from shortlist.prox.variable_fixing import above, rise_to_threshold
from shortlist.special.select import largest, put_largest_first


class TopKSumThreshold(NamedTuple):
    """``p = max(0, min(w - lower, max(level, w - upper)) - t)`` with ``w = z - shift``."""

    shift: float
    lower: float
    level: float
    upper: float
    t: float


@kernel
def topk_sum(z, k, scale, work):
    """Return the threshold of the map; `z` has at least `k` elements."""
    # The largest p is at most 1, so t >= max(z) - scale - 1.
    shift, n = candidates(z, 1, scale + 1.0, work[0])
    lower, level, upper = 0.0, np.inf, 0.0
    if n > k:  # else all that can be positive are among the k largest: a constant cost
        put_largest_first(work[0][:n], k, work[1])
        level = _pool(work[1][:k], work[1][k:n], scale)
        lower = max(level, -scale)  # the largest y
        level, upper = level - lower, scale + lower
    free = work[0][:n]
    for j in range(n):
        free[j] = _lowered(free[j], lower, level, upper)
    t = rise_to_threshold(free, 0.0, -np.inf, 1.0, 1.0, 0.0)
    return TopKSumThreshold(shift, lower, level, upper, t)


@inlined
def _lowered(w, lower, level, upper):
    value = w - upper
    value = value if value > level else level
    return value if value < w - lower else w - lower


@kernel
def _pool(top, others, scale):
    """Return the level at which some of the `k` largest and of the other elements are pooled."""
    low, high = top.min() - scale, largest(others)
    if low >= high:
        return high  # nothing changes order
    level, before = 0.5 * (low + high), (0, 0)
    while True:
        n_under, total = 0, 0.0
        for j in range(top.size):
            lowered = top[j] - scale
            n_under += lowered < level
            total += lowered if lowered < level else 0.0
        n_over, over = above(others, 0.0, level)
        if before == (n_under, n_over):
            return level
        before = n_under, n_over
        mean = (total + over) / (n_under + n_over)
        if mean < level:
            high = level
        else:
            low = level
        if not low < mean < high:  # it is, but for rounding
            return min(max(mean, low), high)
        level = mean


@kernel
def apply_topk_sum(z, threshold, out):
    """Write the solution to `out`."""
    shift, lower, level, upper, t = threshold
    for j in range(z.size):
        value = _lowered(np.float64(z[j]) - shift, lower, level, upper) - t
        out[j] = value if value > 0.0 else 0.0
