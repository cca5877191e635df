"""Seconds of a pass against the size of a block; `--figure FILE` draws it (matplotlib)."""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

import problems
from shortlist import losses, solve

SIZES = (1, 4, 16, 32, 64, 128, 256, 512)
LOSSES = {"smooth svm": losses.svm(smoothing=1.0), "softmax": losses.softmax()}
PASSES = 2


def seconds_of_a_pass(problem: problems.Problem, loss: Any, size: int) -> float:
    """Return the least time of a pass, of three runs on one thread, without evaluations."""
    X, y, m = problem
    best = np.inf
    for _ in range(3):
        start = time.perf_counter()
        solution = solve(
            X, y, loss, n_classes=m, tol=0.0, max_epochs=PASSES, block_size=size, n_threads=1
        )
        best = min(best, solution.history[-1].seconds_solving / PASSES)
        if time.perf_counter() - start > 10.0:
            break
    return float(best)


def draw(results: dict[str, dict[str, list[float]]], file: str) -> None:
    import matplotlib.pyplot as plt

    figure, panels = plt.subplots(1, len(results), figsize=(8.0, 3.4), layout="constrained")
    for axes, (title, curves) in zip(panels, results.items(), strict=True):
        for name, seconds in curves.items():
            axes.plot(SIZES, seconds, marker="o", markersize=4, label=name)
        axes.set(xscale="log", title=title, xlabel="examples in a block")
        axes.set_xticks(SIZES, [str(size) for size in SIZES])
        axes.minorticks_off()
        axes.set_ylim(bottom=0)
        axes.spines[["top", "right"]].set_visible(False)
        axes.legend(frameon=False)
    panels[0].set_ylabel("seconds of a pass")
    figure.savefig(file, dpi=160)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--figure", help="a file to draw to")
    arguments = parser.parse_args()
    results: dict[str, dict[str, list[float]]] = {}
    print(f"{'':<28}" + "".join(f"{size:>8}" for size in SIZES))
    for shape, (n, d, m) in problems.SHAPES.items():
        problem = problems.synthetic(shape, np.float32)
        title = f"n={n}, d={d}, m={m}"
        results[title] = {}
        for name, loss in LOSSES.items():
            print(f"({shape}) {name:<24}", end="", flush=True)
            seconds = results[title][name] = []
            for size in SIZES:
                seconds.append(seconds_of_a_pass(problem, loss, size))
                print(f"{seconds[-1]:8.3f}", end="", flush=True)
            print()
    if arguments.figure:
        draw(results, arguments.figure)


if __name__ == "__main__":
    main()
