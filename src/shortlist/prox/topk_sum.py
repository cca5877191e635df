r"""Proximal map of the sum of the k largest elements, on the simplex.

.. math::

    \min_p \tfrac12 \|p - z\|^2 + c \sum_{i \le k} p_{[i]}
    \quad \text{s.t.} \quad p \ge 0, \ \langle 1, p \rangle = 1.

Without the simplex, `c` is taken off the `k` largest elements, and those that
would change order are pooled at one `level`. The projection onto the simplex
keeps the order, so it may follow. Hence

.. math::  p_j = \max\{0,\ y_j - t\}, \qquad y_j = \min\{z_j, \max\{level, z_j - c\}\},

which needs no index: only the elements within :math:`c + 1` of the largest are
sorted, and a map of one variable is applied to all. Every number is kept relative
to the largest :math:`y_j`, near which the positive elements lie, so that the
solution sums to 1 also where `z` or `c` is huge.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._jit import inlined, kernel
from shortlist.prox.clip import candidates
from shortlist.prox.variable_fixing import fix_variables


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
        y = np.sort(work[0][:n])[::-1]
        level = _pool(y, k, scale)
        lower = max(level, -scale)  # the largest y
        level, upper = level - lower, scale + lower
    free = work[0][:n]
    for j in range(n):
        free[j] = _lowered(free[j], lower, level, upper)
    t = fix_variables(free, 0.0, np.inf, 1.0, 1.0, 0.0)
    return TopKSumThreshold(shift, lower, level, upper, t)


@inlined
def _lowered(w, lower, level, upper):
    value = w - upper
    value = value if value > level else level
    return value if value < w - lower else w - lower


@kernel
def _pool(y, k, scale):
    """Return the level at which elements of `y`, descending, are pooled."""
    if y[k - 1] - scale >= y[k]:
        return y[k]  # nothing changes order
    first, last = k - 1, k
    total = y[first] + y[last] - scale
    while True:
        level = total / (last - first + 1)
        if first > 0 and y[first - 1] - scale < level:
            first -= 1
            total += y[first] - scale
        elif last < y.size - 1 and y[last + 1] > level:
            last += 1
            total += y[last]
        else:
            return level


@kernel
def apply_topk_sum(z, threshold, out):
    """Write the solution to `out`."""
    shift, lower, level, upper, t = threshold
    for j in range(z.size):
        value = _lowered(np.float64(z[j]) - shift, lower, level, upper) - t
        out[j] = value if value > 0.0 else 0.0
