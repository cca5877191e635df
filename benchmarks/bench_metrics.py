"""Metrics at m = 1,000 classes, against one argpartition of the scores and scikit-learn.

Memory is the peak of what NumPy allocates, in copies of the scores; kernels add one row.
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable

import numpy as np
from sklearn.metrics import average_precision_score, label_ranking_loss, top_k_accuracy_score

from shortlist import metrics
from shortlist.model_selection import IterativeStratifiedKFold
from shortlist.model_selection.thresholds import GRID, Tuned
from timing import best_seconds, verdict

M = 1000
KS = (1, 3, 5, 10)


def copies(function: Callable[[], object], scores: np.ndarray) -> float:
    """Return the peak of memory that a call allocates, in copies of the scores."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / scores.nbytes


def top_k(n: int, dtype: type) -> None:
    rng = np.random.default_rng(0)
    scores, y = rng.standard_normal((n, M), dtype=dtype), rng.integers(0, M, n)

    def by_scikit_learn() -> None:
        for k in KS:
            top_k_accuracy_score(y, scores, k=k, labels=range(M))

    def ours() -> None:
        metrics.topk_accuracy_curve(y, scores)

    seconds, partition = best_seconds(
        ours, lambda: np.argpartition(scores, M - max(KS), axis=1), repeat=3
    )
    (theirs,) = best_seconds(by_scikit_learn, repeat=1)
    used = copies(ours, scores)
    print(f"topk_accuracy_curve, n = {n}, {dtype.__name__}: {seconds:.3f} s")
    print(f"  by one argpartition     {seconds / partition:8.2f}", end="   ")
    print(verdict(seconds / partition, 3, at_least=False))
    print(f"  copies of the scores    {used:8.2f}   {verdict(used, 2, at_least=False)}")
    print(f"  scikit-learn, {len(KS)} k       {theirs / seconds:8.1f} x", end=" ")
    print(verdict(theirs / seconds, 5))


def label_sets(n: int) -> None:
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((n, M))
    Y = np.zeros((n, M), dtype=int)
    np.put_along_axis(Y, rng.integers(0, M, (n, 5)), 1, axis=1)
    peers: dict[str, tuple[Callable[[], object], Callable[[], object]]] = {
        "rank_loss": (
            lambda: metrics.rank_loss(Y, scores),
            lambda: label_ranking_loss(Y, scores),
        ),
        "average_precision": (
            lambda: metrics.average_precision(Y, scores, "step"),
            lambda: average_precision_score(Y, scores, average=None),
        ),
        **{
            f"{name} at 71 thresholds": (
                lambda name=name: metrics.threshold_curve(Y, scores, GRID, name),
                lambda name=name: [metrics.metric(name).function(Y, scores >= t) for t in GRID],
            )
            for name in ("f1_micro", "f1_macro", "f1_instance")
        },
    }
    print(f"label sets, n = {n}: seconds, copies; times scikit-learn, or one threshold at a time")
    for name, (ours, other) in peers.items():
        (seconds,) = best_seconds(ours, repeat=2)
        (theirs,) = best_seconds(other, repeat=1)
        print(f"  {name:30}{seconds:8.3f}{copies(ours, scores):8.2f}{theirs / seconds:8.1f} x")
    alone: dict[str, Callable[[], object]] = {
        "Tuned over all scores": lambda: Tuned("f1_micro").fit(scores, Y),
        "IterativeStratifiedKFold(10)": lambda: list(IterativeStratifiedKFold(10).split(Y, Y)),
    }
    for name, function in alone.items():
        (seconds,) = best_seconds(function, repeat=1)
        print(f"  {name:30}{seconds:8.3f}{copies(function, scores):8.2f}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="a tenth of the examples")
    tenth = 10 if parser.parse_args().quick else 1
    for dtype in (np.float64, np.float32):
        top_k(100_000 // tenth, dtype)
    label_sets(5_000 // tenth)


if __name__ == "__main__":
    main()
