"""How benchmarks here measure: alternating, the best of several runs, one BLAS thread."""

from __future__ import annotations

import time
from collections.abc import Callable


def best_seconds(
    *functions: Callable[[], object],
    repeat: int = 7,
    clock: Callable[[], float] = time.perf_counter,
) -> list[float]:
    """Return the least time of each function.

    The functions take turns, so that a busy moment of the machine does not hit
    one of them alone; the first turn, which may compile, does not count. On a machine
    that others use, `time.process_time` as the clock counts the time on a processor only.
    """
    best = [float("inf")] * len(functions)
    for turn in range(repeat + 1):
        for i, function in enumerate(functions):
            start = clock()
            function()
            if turn > 0:
                best[i] = min(best[i], clock() - start)
    return best


def verdict(ratio: float, target: float | None, at_least: bool = True) -> str:
    """Return whether a ratio meets its target, in a few characters."""
    if target is None:
        return ""
    met = ratio >= target if at_least else ratio <= target
    return f"{'>=' if at_least else '<='} {target:g} {'ok' if met else 'MISSED'}"
