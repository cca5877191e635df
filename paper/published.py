"""The paper's numbers, from `published/*.csv`: table, data set, row, metric, value, spread."""

from __future__ import annotations

import csv
from functools import cache
from pathlib import Path
from typing import NamedTuple

FOLDER = Path(__file__).parent / "published"


class Number(NamedTuple):
    """One number of the paper, and where it stands there."""

    table: str  # the label of the table in the paper's source
    dataset: str
    row: str  # a key of `methods`
    metric: str
    value: float
    spread: float | None  # over the paper's own splits, where it gives one


@cache
def read(name: str) -> tuple[Number, ...]:
    """Return all numbers of a file."""
    with (FOLDER / f"{name}.csv").open(newline="") as file:
        return tuple(
            Number(
                line["table"], line["dataset"], line["row"], line["metric"],
                float(line["value"]), float(line["spread"]) if line["spread"] else None,
            )
            for line in csv.DictReader(file)
        )  # fmt: skip


def names() -> list[str]:
    """Return the names of all files."""
    return sorted(file.stem for file in FOLDER.glob("*.csv"))


def of(name: str, dataset: str) -> dict[tuple[str, str], Number]:
    """Return the numbers of a data set, by row and metric."""
    return {
        (number.row, number.metric): number for number in read(name) if number.dataset == dataset
    }
