"""Short lists for handwritten digits: the main job, on data that comes with scikit-learn."""

from __future__ import annotations

import time

import numpy as np
from sklearn.datasets import load_digits

from shortlist import losses, solve

C, TOLERANCE = 0.1, 1e-3
LOSSES = {
    "softmax": losses.softmax(),
    "svm": losses.svm(),
    "smooth svm": losses.svm(smoothing=1.0),
    "top-3 svm alpha": losses.topk_svm_alpha(k=3),
    "smooth top-3 svm alpha": losses.topk_svm_alpha(k=3, smoothing=1.0),
    "top-3 entropy": losses.topk_entropy(k=3),
}


def topk_accuracy(scores: np.ndarray, labels: np.ndarray, k: int) -> float:
    """Return how often fewer than k classes score higher than the label, in percent."""
    own = scores[np.arange(len(labels)), labels]
    return 100 * float(((scores > own[:, None]).sum(axis=1) < k).mean())


def main() -> None:
    """Train with several losses and print one table."""
    X, y = load_digits(return_X_y=True)
    X = X / 16
    order = np.random.default_rng(0).permutation(len(y))
    train, test = order[:1200], order[1200:]
    print(f"digits: {len(train)} examples to train, {len(test)} to test, C = {C}")
    print("the first run compiles for this CPU; later runs take a second\n")
    header = f"{'loss':24}{'optimum between':>24}{'gap':>9}{'passes':>8}{'seconds':>9}"
    print(header + f"{'top-1':>8}{'top-3':>8}{'top-5':>8}")
    for name, loss in LOSSES.items():
        start = time.perf_counter()
        solution = solve(X[train], y[train], loss, C=C, tol=TOLERANCE)
        seconds = time.perf_counter() - start
        primal, dual = solution.certificate
        scores = X[test] @ solution.weights
        accuracy = "".join(f"{topk_accuracy(scores, y[test], k):8.1f}" for k in (1, 3, 5))
        bounds = f"{dual:.4f} .. {primal:.4f}"
        passes = solution.history[-1].epoch
        gap = solution.certificate.gap
        print(f"{name:24}{bounds:>24}{gap:9.1e}{passes:8}{seconds:9.2f}{accuracy}", flush=True)
    print("\ngap: how far each model can be from the best one with this loss, relative and proven")


if __name__ == "__main__":
    main()
