"""The maps behind the losses: how accurate, how fast. Runs in half a minute; no data needed."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from scipy.special import wrightomega

from shortlist import prox, special

ROWS, M, K = 1000, 1000, 5


def seconds(function: Callable[[], object]) -> float:
    """Return the best of five runs, after one that may compile."""
    best = np.inf
    for turn in range(6):
        start = time.perf_counter()
        function()
        best = min(best, time.perf_counter() - start) if turn else np.inf
    return best


def optimality(x: np.ndarray, gradient: np.ndarray, least: np.ndarray) -> float:
    """Return the largest gap <g, x> - min <g, y> over the set: 0 at the exact solution."""
    return float(((gradient * x).sum(axis=1) - least).max())


def main() -> None:
    """Print one table."""
    rng = np.random.default_rng(0)
    v = rng.normal(size=(ROWS, M))
    print("The first call of each function is compiled for this CPU and kept for the next time.\n")

    x = prox.simplex(v)
    y = prox.topk_simplex(v, K)
    p, q = prox.bipartite_simplex(v[:, : M // 2], v[:, M // 2 :], 10.0)
    z = prox.entropic_simplex(v, 1.0)
    w = prox.entropic_topk_simplex(v, K, 1.0)
    s = w.sum(axis=1, keepdims=True)
    t = rng.uniform(-10, 10, ROWS * M)
    k_smallest = np.partition(y - v, K, axis=1)[:, :K].sum(axis=1)
    g_w = w + s - v + np.log(w) - np.log1p(-s)
    k_smallest_w = np.partition(g_w, K, axis=1)[:, :K].sum(axis=1)
    left, right = p - v[:, : M // 2], q - v[:, M // 2 :]
    least = 10 * np.minimum(left.min(axis=1) + right.min(axis=1), 0)
    bipartite_gap = float(((left * p).sum(axis=1) + (right * q).sum(axis=1) - least).max())
    g_z = z - v + np.log(z)

    lines = [
        (
            "V(t) = W(e^t)",
            f"error {np.abs(special.wright_omega(t) / wrightomega(t) - 1).max():.0e}",
            seconds(lambda: special.wright_omega(t)),
        ),
        (
            "simplex",
            f"gap {optimality(x, x - v, (x - v).min(axis=1)):.0e}",
            seconds(lambda: prox.simplex(v)),
        ),
        (
            f"top-{K} simplex",
            f"gap {optimality(y, y - v, np.minimum(k_smallest / K, 0)):.0e}",
            seconds(lambda: prox.topk_simplex(v, K)),
        ),
        (
            "bipartite simplex",
            f"gap {bipartite_gap:.0e}",
            seconds(lambda: prox.bipartite_simplex(v[:, : M // 2], v[:, M // 2 :], 10.0)),
        ),
        (
            "entropic simplex",
            f"gap {optimality(z, g_z, g_z.min(axis=1)):.0e}",
            seconds(lambda: prox.entropic_simplex(v, 1.0)),
        ),
        (
            f"entropic top-{K} simplex",
            f"gap {optimality(w, g_w, np.minimum(k_smallest_w / K, 0)):.0e}",
            seconds(lambda: prox.entropic_topk_simplex(v, K, 1.0)),
        ),
    ]
    lines.append(("SciPy's wrightomega, to compare", "", seconds(lambda: wrightomega(t))))
    print(
        f"{f'{ROWS} vectors of {M} elements':34}{'accuracy':>14}{'us/vector':>12}{'ns/element':>12}"
    )
    for name, accuracy, best in lines:
        print(f"{name:34}{accuracy:>14}{best / ROWS * 1e6:12.2f}{best / ROWS / M * 1e9:12.2f}")
    print("\ngap: <g, x> - min <g, y> over the set, a bound of how far x is from the minimum")


if __name__ == "__main__":
    main()
