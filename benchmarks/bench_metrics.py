"""Metrics at n = 100,000 and m = 1,000, against one argpartition and scikit-learn.

`--quick` has n = 20,000. Memory is what NumPy allocates at the peak, in copies of the scores.
"""

from __future__ import annotations

import argparse
import tracemalloc
from collections.abc import Callable

import numpy as np
from sklearn.metrics import average_precision_score, label_ranking_loss, top_k_accuracy_score

from shortlist import metrics
from timing import best_seconds, verdict

KS = (1, 3, 5, 10)


def copies(function: Callable[[], object], scores: np.ndarray) -> float:
    """Return the peak of memory that a call allocates, in copies of the scores."""
    tracemalloc.start()
    function()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    return peak / scores.nbytes


def curve(scores: np.ndarray, y: np.ndarray) -> None:
    m = scores.shape[1]

    def by_scikit_learn() -> None:
        for k in KS:
            top_k_accuracy_score(y, scores, k=k, labels=range(m))

    ours, partition = best_seconds(
        lambda: metrics.topk_accuracy_curve(y, scores),
        lambda: np.argpartition(scores, m - 10, axis=1),
        repeat=2,
    )
    (theirs,) = best_seconds(by_scikit_learn, repeat=1)
    used = copies(lambda: metrics.topk_accuracy_curve(y, scores), scores)
    print(f"topk_accuracy_curve    {ours:8.3f} s")
    print(f"  of one argpartition  {ours / partition:8.3f}   {verdict(ours / partition, 3, False)}")
    print(f"  copies of the scores {used:8.3f}   {verdict(used, 2, False)}")
    print(f"  scikit-learn, 4 k    {theirs / ours:8.1f} x {verdict(theirs / ours, 5)}")


def label_sets(scores: np.ndarray, rng: np.random.Generator) -> None:
    n, m = scores.shape
    Y = np.zeros((n, m), dtype=int)
    Y[np.arange(n)[:, None], rng.integers(0, m, (n, 5))] = 1
    print(f"label sets, n = {n}, m = {m}, 5 labels: seconds, copies, times scikit-learn's")
    for name, ours, theirs in (
        ("rank_loss", metrics.rank_loss, label_ranking_loss),
        ("average_precision", lambda y, s: metrics.average_precision(y, s, "step"), None),
        ("precision_at_k", lambda y, s: metrics.precision_at_k(y, s, 5), None),
    ):
        (seconds,) = best_seconds(lambda ours=ours: ours(Y, scores), repeat=2)
        line = f"{name:22} {seconds:8.3f} {copies(lambda ours=ours: ours(Y, scores), scores):6.2f}"
        if name == "average_precision":
            theirs = lambda y, s: average_precision_score(y, s, average=None)  # noqa: E731
        if theirs is not None:
            (other,) = best_seconds(lambda theirs=theirs: theirs(Y, scores), repeat=1)
            line += f" {other / seconds:8.1f} x"
        print(line)
    thresholds = np.linspace(-3, 3, 71)
    for name in ("f1_micro", "f1_macro", "f1_instance"):
        once, all_at_once = best_seconds(
            lambda name=name: metrics.metric(name).function(Y, scores >= 0.0),
            lambda name=name: metrics.threshold_curve(Y, scores, thresholds, name),
            repeat=1,
        )
        print(f"{name:12} at 71 thresholds {all_at_once:8.3f} s, {all_at_once / once:5.1f} x one")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="n = 20,000")
    n = 20_000 if parser.parse_args().quick else 100_000
    rng = np.random.default_rng(0)
    for dtype in (np.float64, np.float32):
        scores = rng.normal(size=(n, 1000)).astype(dtype)
        print(f"n = {n}, m = 1000, {dtype.__name__}")
        curve(scores, rng.integers(0, 1000, n))
    label_sets(rng.normal(size=(n // 10, 1000)), rng)


if __name__ == "__main__":
    main()
