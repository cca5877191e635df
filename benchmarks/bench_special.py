"""V(t): nanoseconds a value, against SciPy, in one run."""

from __future__ import annotations

import numpy as np
from scipy.special import wrightomega

from shortlist import special
from timing import best_seconds, verdict

N = 1_000_000
TARGET = {np.float64: 10.0, np.float32: 20.0}


def main() -> None:
    print(f"Wright's omega function of {N:,} values of U[-10, 10]")
    print(
        f"{'dtype':>8} {'shortlist':>12} {'SciPy':>12} {'NumPy exp':>12} {'SciPy / shortlist':>19}"
    )
    for dtype, target in TARGET.items():
        t = np.random.default_rng(0).uniform(-10, 10, N).astype(dtype)
        out = np.empty_like(t)
        ours, scipys, exp = best_seconds(
            lambda t=t, out=out: special.wright_omega(t, out=out),
            lambda t=t, out=out: wrightomega(t, out=out),
            lambda t=t, out=out: np.exp(t, out=out),
        )
        ns = [f"{seconds / N * 1e9:9.2f} ns" for seconds in (ours, scipys, exp)]
        ratio = scipys / ours
        print(f"{dtype.__name__:>8} {' '.join(ns)} {ratio:18.1f}x  {verdict(ratio, target)}")


if __name__ == "__main__":
    main()
