"""What a pass over the data costs with each loss, relative to softmax in the same run.

python benchmarks/bench_epoch.py            # prints a table, a few minutes
python benchmarks/bench_epoch.py --record   # and keeps it for the documentation

CPU time of one thread, float32, plain SDCA: that of seven passes less that of two, divided by
five; the best of several turns.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import numpy as np

from recording import record
from shortlist import losses, solve

SHAPES = {
    "26 classes, 16 features": (6000, 16, 26),
    "100 classes, 1024 features": (3000, 1024, 100),
}
C = 0.1
LOSSES: dict[str, Any] = {
    "softmax": losses.softmax(),
    "ova_svm": losses.ova_svm(1.0),
    "ova_logistic": losses.ova_logistic(),
    "svm": losses.svm(1.0),
    "topk_svm_alpha": losses.topk_svm_alpha(5, 1.0),
    "topk_svm_beta": losses.topk_svm_beta(5, 1.0),
    "topk_svm_consistent": losses.topk_svm_consistent(5, 1.0),
    "topk_entropy": losses.topk_entropy(5),
    "topk_entropy_beta": losses.topk_entropy_beta(5),
    "multilabel_svm": losses.multilabel_svm(1.0),
    "multilabel_softmax": losses.multilabel_softmax(),
}


def problem(n: int, d: int, m: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return examples of overlapping classes, labels, and label sets of three on average."""
    rng = np.random.default_rng(0)
    y = rng.integers(0, m, n)
    X = (rng.normal(size=(m, d))[y] + 1.5 * rng.normal(size=(n, d))).astype(np.float32)
    X /= np.linalg.norm(X, axis=1).mean()
    Y = (rng.random((n, m)) < 2.0 / m) | np.eye(m, dtype=bool)[y]
    return X, y, Y


def seconds(X: np.ndarray, y: np.ndarray, loss: Any, epochs: int) -> float:
    """Return the CPU time of a run of so many passes."""
    start = time.process_time()
    solve(X, y, loss, C=C, tol=1e-12, max_epochs=epochs, solver="sdca", n_threads=1)
    return time.process_time() - start


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--turns", type=int, default=3)
    parser.add_argument("--record", action="store_true", help="write docs/recorded/epoch.json")
    arguments = parser.parse_args()
    costs: dict[str, list[float]] = {name: [] for name in LOSSES}
    for shape in SHAPES.values():
        X, y, Y = problem(*shape)
        best = dict.fromkeys(LOSSES, np.inf)
        for turn in range(arguments.turns + 1):
            for name, loss in LOSSES.items():
                labels = Y if name.startswith("multilabel") else y
                if turn == 0:  # may compile
                    seconds(X[:200], labels[:200], loss, 2)
                    continue
                passes = (seconds(X, labels, loss, 7) - seconds(X, labels, loss, 2)) / 5
                best[name] = min(best[name], passes)
        for name in LOSSES:
            costs[name].append(best[name] / shape[0] * 1e6)
    columns = ["loss", *SHAPES]
    base = costs["softmax"]
    rows = [
        [name, *(f"{cost / own:.2f}" for cost, own in zip(values, base, strict=True))]
        for name, values in costs.items()
    ]
    for row in [columns, *rows]:
        print("".join(f"{cell:<28}" for cell in row))
    note = "Softmax takes " + " and ".join(
        f"{cost:.1f} microseconds an example ({shape})"
        for shape, cost in zip(SHAPES, base, strict=True)
    )
    print(note)
    if arguments.record:
        file = record(
            "epoch",
            title="Cost of a pass over the data, softmax = 1",
            command="python benchmarks/bench_epoch.py --record",
            columns=columns,
            rows=rows,
            conditions="CPU time of one thread, float32, C = 0.1, k = 5, hinges smoothed by 1",
            notes=[f"{note}."],
        )
        print(file)


if __name__ == "__main__":
    main()
