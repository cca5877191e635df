"""Roots of decreasing functions."""

from __future__ import annotations

import numpy as np

from shortlist._jit import kernel


@kernel
def newton_step(t, value, slope, low, high):
    """Return the next point towards the root of a decreasing function, and its bracket.

    A Newton step from `t`, where the function is `value` and its derivative
    ``-slope``; the middle of the bracket where that step would leave it; ever
    longer steps while a side of the bracket is unknown.
    """
    if value > 0.0:
        low = t
    else:
        high = t
    proposed = t + value / slope
    if low < proposed < high:
        return proposed, low, high
    if low > -np.inf and high < np.inf:
        return 0.5 * (low + high), low, high
    stride = 1.0 + abs(t)
    return (t + stride if value > 0.0 else t - stride), low, high
