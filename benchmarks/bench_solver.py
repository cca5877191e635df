"""Training against the bare matrix products it cannot do without, and against a peer, in one run.

Data of a seeded generator, unit rows: (a) n=20000, d=512, m=100 and (b) n=5000, d=2048,
m=1000. For each loss: seconds to a relative gap of 1e-3, evaluations included; the time of
bare products of the same shapes and number (for each block X_b W and X_b' D, for each
evaluation X W, and X' V where the weights are computed anew); and their ratio. With --peers
also scikit-learn's LogisticRegression (lbfgs) to the same objective.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable

import numpy as np

from shortlist import losses, solve
from shortlist.solvers import Solution

SHAPES = {"a": (20_000, 512, 100), "b": (5_000, 2_048, 1_000)}
LOSSES = {
    "smooth svm": losses.svm(smoothing=1.0),
    "softmax": losses.softmax(),
    "top-5 svm": losses.topk_svm_alpha(k=5),
}
TOLERANCE, BLOCK = 1e-3, 128


def make_data(n: int, d: int, m: int, dtype: type) -> tuple[np.ndarray, np.ndarray]:
    """Return noisy copies of m random centres, scaled to unit length, and their classes."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, m, n)
    X = rng.normal(size=(m, d))[y] + 2.0 * rng.normal(size=(n, d))
    return (X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype), y


def seconds(function: Callable[[], object]) -> float:
    start = time.perf_counter()
    function()
    return time.perf_counter() - start


def bare_products(X: np.ndarray, m: int, solution: Solution) -> None:
    """Multiply as often, and in the same shapes, as the run that led to `solution`."""
    weights = np.zeros((X.shape[1], m), X.dtype)
    for _ in range(solution.history[-1].epoch):
        for first in range(0, len(X), BLOCK):
            block = X[first : first + BLOCK]
            weights += block.T @ (block @ weights)
    anew = len(solution.history) if X.dtype == np.float32 else 1
    duals = np.zeros((len(X), m), X.dtype)
    for _ in solution.history:
        X @ weights
    for _ in range(anew):
        X.T @ duals


def logistic_regression(X: np.ndarray, y: np.ndarray, C: float, objective: float) -> float:
    """Return the seconds LogisticRegression needs to reach the objective, or more."""
    from sklearn.exceptions import ConvergenceWarning
    from sklearn.linear_model import LogisticRegression

    warnings.simplefilter("ignore", ConvergenceWarning)
    for steps in (5, 10, 20, 40, 80, 160, 320):
        model = LogisticRegression(C=C, fit_intercept=False, tol=1e-12, max_iter=steps)
        spent = seconds(lambda model=model: model.fit(X, y))
        W = model.coef_.T.astype(float)
        reached = 0.5 * (W**2).sum() + C * losses.value("softmax", X @ W, y).sum()
        if reached <= objective:
            break
    return spent


def measure(X: np.ndarray, y: np.ndarray, m: int, C: float, name: str, peers: bool) -> str:
    """Return the cells of one line of the table."""
    loss = LOSSES[name]
    solve(X[: 2 * m], y[: 2 * m], loss, n_classes=m, C=C, max_epochs=1)  # compiles
    ours = np.inf
    for _ in range(2):
        start = time.perf_counter()
        solution = solve(X, y, loss, n_classes=m, C=C, tol=TOLERANCE, block_size=BLOCK)
        ours = min(ours, time.perf_counter() - start)
    bare = min(seconds(lambda: bare_products(X, m, solution)) for _ in range(2))
    gap, passes = solution.certificate.gap, solution.history[-1].epoch
    cells = f"{X.dtype.name:>10}{C:11g}{name:>11}{gap:11.1e}{passes:11}"
    cells += f"{ours:11.2f}{bare:11.2f}{ours / bare:11.2f}"
    if peers and name == "softmax":
        spent = logistic_regression(X, y, C, solution.certificate.primal)
        cells += f"   LogisticRegression {spent:.2f} s, {spent / ours:.1f} times"
    return cells


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", action="store_true", help="also time LogisticRegression")
    parser.add_argument("--float64", action="store_true", help="float64 too, not only float32")
    arguments = parser.parse_args()
    columns = ("dtype", "C", "loss", "gap", "passes", "seconds", "bare", "ratio")
    print("  " + "".join(f"{column:>11}" for column in columns))
    for shape, (n, d, m) in SHAPES.items():
        for dtype in (np.float32, np.float64) if arguments.float64 else (np.float32,):
            X, y = make_data(n, d, m, dtype)
            for C in (0.01, 1.0):
                for name in LOSSES:
                    print(f"({shape})" + measure(X, y, m, C, name, arguments.peers), flush=True)


if __name__ == "__main__":
    main()
