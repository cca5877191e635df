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


FIRST_FIT = """
import time
import numpy as np
from sklearn.linear_model import LogisticRegression
X, y = np.random.default_rng(0).normal(size=(150, 4)), np.arange(150) % 3
LogisticRegression(max_iter=5).fit(X, y)
start = time.perf_counter()
from shortlist import TopKClassifier, losses, solve
model = TopKClassifier(C=0.1, random_state=0).fit(X, y)
first = time.perf_counter() - start
def least(call):
    times = []
    for _ in range(50):
        start = time.perf_counter()
        call()
        times.append(time.perf_counter() - start)
    return min(times)
fit = least(lambda: model.fit(X, y))
bare = least(lambda: solve(X, y, losses.softmax(), C=0.1, intercept=1.0))
print(f"first fit, with imports beyond scikit-learn's:{first}")
print(f"a later fit beyond the solver:{fit - bare}")
"""


def lines_of(script: str) -> dict[str, float]:
    """Return what a script prints in a new process: names and seconds."""
    done = subprocess.run([sys.executable, "-W", "ignore", "-c", script], capture_output=True,
                          text=True, check=True)  # fmt: skip
    return {name: float(value) for name, value in (x.split(":") for x in done.stdout.splitlines())}


def best_of_three(script: str) -> dict[str, float]:
    """Return the least seconds of three processes, after one that compiles what is not on disk."""
    lines_of(script)
    runs = [lines_of(script) for _ in range(3)]
    return {name: min(run[name] for run in runs) for name in runs[0]}


def main() -> None:
    print("First calls in a new process, seconds beyond imports (best of 3)")
    for name, seconds in best_of_three(FIRST_CALLS).items():
        print(f"{name:28}{seconds:8.3f}  {verdict(seconds, 0.5, at_least=False)}")
    print("Estimators (best of 3)")
    for (name, seconds), most in zip(best_of_three(FIRST_FIT).items(), (1.0, 0.005), strict=True):
        print(f"{name:48}{seconds:8.4f}  {verdict(seconds, most, at_least=False)}")


if __name__ == "__main__":
    main()
