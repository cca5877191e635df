"""What a new process pays before its first result, with kernels on disk already."""

from __future__ import annotations

import subprocess
import sys

from timing import verdict

FIRST_CALLS = """
import time
import numpy as np
import shortlist.solvers
from shortlist import prox, solve, special
v = np.linspace(-1, 1, 300)
calls = {
    "special.wright_omega": lambda: special.wright_omega(v),
    "prox.simplex": lambda: prox.simplex(v),
    "prox.entropic_topk_simplex": lambda: prox.entropic_topk_simplex(v, 3, 1.0),
    "solve, digits-sized": lambda: solve(np.random.default_rng(0).normal(size=(1000, 64)),
                                         np.arange(1000) % 10, "svm", C=1e-4),
}
for name, call in calls.items():
    start = time.perf_counter()
    call()
    print(f"{name}:{time.perf_counter() - start}")
"""


def first_calls() -> dict[str, float]:
    """Return the seconds of each first call in a new process, in order, imports left out."""
    done = subprocess.run(
        [sys.executable, "-c", FIRST_CALLS], capture_output=True, text=True, check=True
    )
    return {name: float(value) for name, value in (x.split(":") for x in done.stdout.splitlines())}


def main() -> None:
    first_calls()  # compiles what is not on disk yet
    runs = [first_calls() for _ in range(3)]
    print("First calls in a new process, seconds beyond imports (best of 3)")
    for name in runs[0]:
        best = min(run[name] for run in runs)
        print(f"{name:28}{best:8.3f}  {verdict(best, 0.5, at_least=False)}")


if __name__ == "__main__":
    main()
