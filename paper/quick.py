"""A small real part of the reproduction, for continuous integration: circle, Letter, emotions.

Each number has a range in `quick.csv`; one outside, or a fit without its certificate, fails. The
ranges hold this part's own numbers, from thinner grids and fewer draws than the tables'.

    python -m paper.quick
"""

from __future__ import annotations

import csv
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paper import circle, multiclass, multilabel
from paper.methods import MULTICLASS, MULTILABEL
from shortlist import datasets

RANGES = Path(__file__).parent / "quick.csv"
#: Draws of the circle, and examples to test on.
SEEDS, CIRCLE_TEST = 4, 20_000
LETTER = ("ova_logistic", "softmax", "svm_smooth", "top5_svm_smooth", "top10_entropy")
LETTER_CS = (0.1, 1.0, 10.0, 100.0)
#: A gap at which the choices of 391 examples no longer depend on the way to the solution: at 1e-3
#: one that is as good may choose another C, and macro F1 may differ by 4 points; at 1e-5 models of
#: small C, which differ in little but their scale, still change places by the last of their digits.
EXACT = 1e-7


class Range(NamedTuple):
    """Where a number must lie."""

    low: float
    high: float


def ranges(file: Path = RANGES) -> dict[tuple[str, str, str], Range]:
    """Return the stated ranges by data set, row and metric."""
    with file.open(newline="") as stream:
        return {
            (line["dataset"], line["row"], line["metric"]): Range(
                float(line["low"]), float(line["high"])
            )
            for line in csv.DictReader(stream)
        }


def parts() -> Iterator[tuple[str, str, Callable[[], dict[str, Any]]]]:
    """Yield data set, row, and what computes its cell."""
    sizes = (*circle.SIZES[:2], CIRCLE_TEST)
    chosen = {method.key: method for method in circle.CIRCLE}
    for name in ("softmax", "top2_entropy"):
        yield (
            "circle",
            name,
            lambda m=chosen[name]: _mean([circle.cell(m, seed, sizes) for seed in range(SEEDS)]),
        )
    yield "circle", circle.MANY_STARTS, lambda: circle.from_many_starts(0, sizes)
    cut = multiclass.letter(0)
    for method in MULTICLASS:
        if method.key in LETTER:
            yield "letter", method.key, lambda m=method: multiclass.cell(cut, m, LETTER_CS)
    emotions = [datasets.load("emotions", part) for part in ("train", "test")]
    for method in MULTILABEL:
        yield (
            "emotions",
            method.key,
            lambda m=method: multilabel.cell(*emotions, m, multilabel.LINEAR, folds=3, tol=EXACT),
        )


def _mean(cells: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the mean of repeated cells, and the worst of their certificates."""
    names = cells[0]["values"]
    return {
        "values": {
            name: float(np.mean([cell["values"][name] for cell in cells])) for name in names
        },
        "search": {"missed": sum(cell["search"]["missed"] for cell in cells)},
    }


def complaints(
    dataset: str, row: str, cell: dict[str, Any], stated: dict[tuple[str, str, str], Range]
) -> list[str]:
    """Return what is wrong with a cell."""
    found = []
    for metric, value in cell["values"].items():
        low, high = stated[dataset, row, metric]
        if not low <= value <= high:
            found.append(
                f"{dataset}, {row}, {metric} is {value:.4g}; it must be from {low:g} to {high:g}."
            )
    if cell["search"]["missed"]:
        found.append(f"{dataset}, {row}: {cell['search']['missed']} fits have no certificate.")
    return found


def main() -> int:
    """Compute all parts and return how many numbers are wrong."""
    stated = ranges()
    wrong: list[str] = []
    for dataset, row, compute in parts():
        start = time.perf_counter()
        cell = compute()
        values = ", ".join(f"{name} {value:.4g}" for name, value in cell["values"].items())
        print(f"{dataset}, {row}: {values} ({time.perf_counter() - start:.1f} s)", flush=True)
        wrong += complaints(dataset, row, cell, stated)
    for line in wrong:
        print(line, file=sys.stderr)
    print(f"{len(wrong)} numbers outside their range" if wrong else "all numbers in their range")
    return min(len(wrong), 1)


if __name__ == "__main__":
    sys.exit(main())
