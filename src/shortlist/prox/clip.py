r"""The common form of every Euclidean map: a shift, a threshold and two bounds.

.. math::  x_j = \min\{\max\{lo,\ (a_j - shift) - t\},\ hi\}.

The threshold is relative to `shift`, an element close to where the solution is
between its bounds. Such elements lose nothing in ``a - shift``, so :math:`\sum_j
x_j` is right to rounding even where the elements of `a` are many orders of
magnitude larger than the radius.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._jit import inlined, kernel
from shortlist.special.select import (
    are_few,
    gather_after,
    gather_from,
    partition_largest,
    top_bound,
)


class Clip(NamedTuple):
    """``x = clip((a - shift) - t, lo, hi)``."""

    shift: float
    t: float
    lo: float
    hi: float


@inlined
def clipped(x, clip):
    """Return an element of the clipped vector, in this order also where sums may be reordered."""
    value = (np.float64(x) - clip.shift) - clip.t
    value = value if value > clip.lo else clip.lo
    return value if value < clip.hi else clip.hi


@kernel
def apply_clip(a, clip, out):
    """Write the clipped vector to `out`."""
    for j in range(a.size):
        out[j] = clipped(a[j], clip)


@kernel
def candidates(a, k, reach, work):
    r"""Gather the elements of `a` that a map can leave above its lower bound.

    Let :math:`a_{[k]}` be the k-th largest element. Where at least `k` elements
    share a total of :math:`k \cdot reach`, each at most `reach` above its
    threshold `t`, we have :math:`a_{[k]} - reach \le t \le a_{[k]}`, and elements
    below are at their lower bound. For a lower bound of :math:`a_{[k]}` one pass
    over `a` is enough, and few elements of a long vector survive it.

    Returns
    -------
    shift, n
        :math:`a_{[k]}`; ``work[:n]`` holds the survivors minus `shift`, the `k`
        largest first.
    """
    shift, bound = top_bound(a, k, work)
    if k > 1 and are_few(k, a.size):  # which are in `work` now
        shift, n = bound, gather_after(a, bound - reach, k, work)
        kept = work[:n]
    else:
        n = gather_from(a, bound - reach, work)
        kept = work[:n]
        if k > 1:
            partition_largest(kept, k)
            shift = kept[:k].min()
    kept -= shift
    return shift, n
