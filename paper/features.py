"""Table "all" on features that are not here: ImageNet, Places, SUN, Indoor 67, CUB, Flowers, FMD.

The paper takes the outputs of the last fully connected layer of VGG-16 (`shortlist.nn.features`
extracts such features). Given them as files that `shortlist.datasets.read` reads, this runs the
same protocol as `paper.multiclass`:

    python -m paper.features imagenet2012 train.npz test.npz
    python -m paper.features sun397 train03.npz test03.npz --split 3

Without `--val` a fifth of the training examples, by class, chooses C, and all of them are trained
on in the end.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from paper import published
from paper.methods import MULTICLASS
from paper.multiclass import CS, SETS, Cut, cell
from paper.record import Record
from shortlist import datasets

#: The sets of the table whose files are not here.
ABSENT = tuple(sorted({number.dataset for number in published.read("multiclass")} - set(SETS)))


def read(train: str, test: str, val: str | None, seed: int = 0) -> Cut:
    """Return the cut that files make; labels must be numbered alike in all of them."""
    first, last = datasets.read(train), datasets.read(test)
    for data, file in ((first, train), (last, test)):
        if data.y is None or data.multilabel:
            raise ValueError(f"{file} has no class for each example; pass one with labels.")
    if last.class_names != first.class_names:
        raise ValueError(f"{test} has other classes than {train}; number both alike.")
    if val is not None:
        middle = datasets.read(val)
        return Cut((first.X, first.y), (middle.X, middle.y), (last.X, last.y))
    rows = np.arange(first.n)
    fit, held_out = train_test_split(rows, test_size=0.2, stratify=first.y, random_state=seed)
    return Cut(
        (first.X[fit], first.y[fit]),
        (first.X[held_out], first.y[held_out]),
        (last.X, last.y),
        (first.X, first.y),
    )


def run(
    name: str, cut: Cut, split: int, Cs: Sequence[float] = CS, folder: Path | None = None
) -> Record:
    """Compute the cells of a set that the paper has numbers for."""
    rows = {number.row for number in published.read("multiclass") if number.dataset == name}
    record = Record(name, folder)
    for method in MULTICLASS:
        if method.key in rows:
            record.cell(f"{method.key}/{split}", lambda m=method: cell(cut, m, Cs))
    return record


def main(arguments: Sequence[str] | None = None) -> Any:
    """Read the files, and compute the cells that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=ABSENT)
    parser.add_argument("train")
    parser.add_argument("test")
    parser.add_argument("--val", help="examples to choose C on")
    parser.add_argument("--split", type=int, default=0, help="which of several splits this is")
    given = parser.parse_args(arguments)
    return run(given.name, read(given.train, given.test, given.val, given.split), given.split)


if __name__ == "__main__":
    main()
