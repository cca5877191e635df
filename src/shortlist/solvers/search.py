"""The search along a direction."""

from __future__ import annotations

import math
from collections.abc import Callable


def find_root(
    slope: Callable[[float], float],
    first: float,
    *,
    guess: float = 1.0,
    enough: float | None = None,
) -> float:
    """Return about where an increasing function is 0; `first`, its value at 0, is negative.

    There its value is at most `enough`, by default a fifth of the first.
    """
    if not first < 0.0:
        return 0.0
    enough = 0.2 * abs(first) if enough is None else enough
    low, at_low, high, at_high = 0.0, first, math.inf, math.inf
    t = guess
    for _ in range(40):
        value = slope(t)
        if abs(value) <= enough:
            break
        if value < 0.0:
            low, at_low = t, value
        else:
            high, at_high = t, value
        if high == math.inf:
            t *= 3.0
        else:
            secant = low - at_low * (high - low) / (at_high - at_low)
            margin = 0.1 * (high - low)
            t = min(max(secant, low + margin), high - margin)
    return t
