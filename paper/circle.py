"""Table "toy" and Figure "toy": three classes on a circle, 200 points to learn from.

200 points are few, so the experiment is repeated with other draws; the paper shows one. Truncated
top-2 entropy is not convex: one row starts it from softmax's solution, as the paper does, and
another from several places.
"""

from __future__ import annotations

import argparse
from typing import Any

from paper.descent import lowest
from paper.methods import CIRCLE, Method
from paper.protocol import Fit, certificate, ranks, summary, topk_cell, topk_path
from paper.record import Record
from shortlist import losses, path, solve
from shortlist.datasets import Circle, Dataset

SEEDS = range(30)
CS = tuple(2.0**power for power in range(-18, 19))
SIZES = (200, 200, 200_000)
LENGTHS = (1, 2)
MANY_STARTS = "top2_truncated_many_starts"
#: The models of Figure toy, each the best for this length, and the draw that is shown.
PICTURED, PICTURED_SEED = {"svm_smooth": 1, MANY_STARTS: 2}, 0


def draw(seed: int, sizes: tuple[int, int, int] = SIZES) -> list[Dataset]:
    """Return the examples to train on, to choose C on and to test on."""
    return [Circle().sample(n, random_state=1000 * seed + part) for part, n in enumerate(sizes)]


def cell(method: Method, seed: int, sizes: tuple[int, int, int] = SIZES) -> dict[str, Any]:
    """Return what a method reaches on one draw."""
    train, val, test = draw(seed, sizes)
    fits = topk_path(
        train.X, train.y, method.loss, CS, (val.X, val.y), (test.X, test.y), LENGTHS,
        extend=False, n_classes=3,
    )  # fmt: skip
    return topk_cell(fits, LENGTHS)


def from_many_starts(seed: int, sizes: tuple[int, int, int] = SIZES) -> dict[str, Any]:
    """Return what truncated top-2 entropy reaches, the lowest of several minima for each C."""
    train, val, test = draw(seed, sizes)
    convex = [losses.softmax(), losses.topk_entropy(2), losses.topk_svm_alpha(2, 1.0)]
    starts = [path(train.X, train.y, loss, Cs=CS, n_classes=3, n_threads=1) for loss in convex]
    truncated = losses.truncated_topk_entropy(2)
    fits = []
    for C, solutions in zip(CS, zip(*starts, strict=True), strict=True):
        found = lowest(train.X, train.y, truncated, C, [each.weights for each in solutions])
        seen = [ranks(part.X @ found.weights, part.y) for part in (val, test)]
        fits.append(Fit(C, found.gradient_norm, *seen))
    return topk_cell(fits, LENGTHS)


def pictured(name: str, C: float, seed: int) -> dict[str, Any]:
    """Return a model of Figure toy, and its accuracies: smooth svm, or truncated entropy."""
    train, _, test = draw(seed)
    smooth = solve(train.X, train.y, losses.svm(1.0), C=C, n_classes=3, n_threads=1)
    weights, gap = smooth.weights, certificate(smooth)
    if name == MANY_STARTS:
        found = lowest(train.X, train.y, losses.truncated_topk_entropy(2), C, [weights])
        weights, gap = found.weights, found.gradient_norm
    rank = ranks(test.X @ weights, test.y)
    return {
        "values": {f"top{k}": 100.0 * float((rank < k).mean()) for k in LENGTHS},
        "search": summary([gap]),
        "weights": weights.tolist(),
        "chosen": {"C": C},
        "seed": seed,
    }


def main() -> None:
    """Compute the cells that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seeds", type=int, default=len(SEEDS))
    arguments = parser.parse_args()
    record = Record("circle")
    for seed in range(arguments.seeds):
        for method in CIRCLE:
            record.cell(f"{method.key}/{seed}", lambda m=method, s=seed: cell(m, s))
        record.cell(f"{MANY_STARTS}/{seed}", lambda s=seed: from_many_starts(s))
    toy = Record("toy")
    for name, k in PICTURED.items():
        C = record.cells[f"{name}/{PICTURED_SEED}"]["chosen"][f"top{k}"]["C"]
        toy.cell(name, lambda n=name, C=C: pictured(n, C, PICTURED_SEED))


if __name__ == "__main__":
    main()
