"""Table "all": top-k accuracies of 17 methods on Letter, Caltech silhouettes, News20 and ALOI.

C is chosen for each length k on examples held out, from 1e-5 to 1e3 and beyond where an end is
best. The paper's cuts are not published, but for Caltech's: ours are drawn anew for each split.

- Letter: 10500 of the 15000 to train, 4500 to choose; the published test set.
- Caltech 101 silhouettes: the published split; one.
- News20: 10 % to test, and of the rest 20 % to choose C; rows scaled to unit length. The paper
  trains on all 15.9 thousand and does not say what it tests on.
- ALOI: half to train and half to test, by class; of the first 20 % to choose C. C is 10 at most,
  and a third of that for hinges, whose best C is lower: what is larger takes an hour a fit.
"""

from __future__ import annotations

import argparse
import math
from collections.abc import Callable, Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from sklearn.model_selection import train_test_split
from sklearn.preprocessing import normalize

from paper.methods import MULTICLASS, Method
from paper.protocol import plausible, topk_cell, topk_path
from paper.record import Record
from shortlist import datasets
from shortlist.losses.operations import traits

LENGTHS = (1, 3, 5, 10)
CS = tuple(10.0 ** (power / 2) for power in range(-10, 7))

Examples = tuple[Any, Any]


class Cut(NamedTuple):
    """Examples to train on, to choose C on and to test on; `whole` is trained on in the end."""

    train: Examples
    val: Examples
    test: Examples
    whole: Examples | None = None  # None: the model that was trained to choose C is tested


def letter(split: int) -> Cut:
    """Return a cut of Letter."""
    both, test = datasets.load("letter", "trainval"), datasets.load("letter", "test")
    X, Z, y, z = train_test_split(
        both.X, both.y, train_size=10_500, stratify=both.y, random_state=split
    )
    return Cut((X, y), (Z, z), (test.X, test.y))


def caltech(split: int) -> Cut:
    """Return the published cut of the silhouettes."""
    parts = [datasets.load("caltech101_silhouettes", name) for name in ("train", "val", "test")]
    return Cut(*((np.asarray(part.X, np.float32), part.y) for part in parts))


def news20(split: int) -> Cut:
    """Return a cut of News20."""
    whole = datasets.load("news20", "train")
    return cut_of(normalize(whole.X), whole.y, 0.1, split)


def aloi(split: int) -> Cut:
    """Return a cut of ALOI."""
    parts = [datasets.load("aloi", name) for name in ("train", "test")]
    X = scipy.sparse.vstack([part.X for part in parts]).toarray().astype(np.float32)
    return cut_of(X, np.concatenate([part.y for part in parts]), 0.5, split)


def cut_of(X: Any, y: Any, test_size: float, split: int) -> Cut:
    """Return a cut by class: a share to test, and of the rest a fifth to choose C."""
    X, Z, y, z = train_test_split(X, y, test_size=test_size, stratify=y, random_state=split)
    rows = np.arange(len(y))
    fit, val = train_test_split(rows, test_size=0.2, stratify=y, random_state=split)
    return Cut((X[fit], y[fit]), (X[val], y[val]), (Z, z), (X, y))


class Data(NamedTuple):
    """A data set: how it is cut, how often, and for which C."""

    cut: Callable[[int], Cut]
    splits: int
    Cs: Sequence[float]
    thinned: bool = True  # see `topk_path`
    seconds: float = math.inf  # the most for a fit that chooses C
    extend: bool = True  # where an end of the grid is best
    Cs_of_hinges: Sequence[float] | None = None  # where theirs are others

    def grid(self, method: Method) -> Sequence[float]:
        """Return the values of C for a method."""
        if self.Cs_of_hinges is None or traits(method.loss).entropic:
            return self.Cs
        return self.Cs_of_hinges


SETS = {
    "letter": Data(letter, 5, CS, thinned=False),
    "caltech101_silhouettes": Data(caltech, 1, CS, seconds=600.0),
    "news20": Data(news20, 3, CS, seconds=600.0),
    "aloi": Data(aloi, 1, CS[:13], seconds=6000.0, extend=False, Cs_of_hinges=CS[1:12]),
}
#: How much longer a fit may take that is tested, and must end with a certificate.
LONGER = 10.0
#: Added to the name of a set with a whole grid: the same thinned, to compare the two.
THINNED = "_thinned"


def cell(
    cut: Cut,
    method: Method,
    Cs: Sequence[float],
    thinned: bool = False,
    seconds: float = math.inf,
    extend: bool = True,
) -> dict[str, Any]:
    """Return what a method reaches on a cut."""
    m = 1 + int(cut.train[1].max())
    fits = topk_path(
        *cut.train, method.loss, Cs, cut.val, cut.test, LENGTHS, extend, thinned,
        n_classes=m, max_time=seconds,
    )  # fmt: skip
    if cut.whole is None:
        return topk_cell(fits, LENGTHS)
    final = topk_path(
        *cut.whole, method.loss, plausible(fits, LENGTHS), cut.val, cut.test, LENGTHS,
        extend=False, n_classes=m, max_time=LONGER * seconds,
    )  # fmt: skip
    return topk_cell(fits, LENGTHS, final)


def main() -> None:
    """Compute the cells that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS), help=", ".join(SETS))
    parser.add_argument("--splits", type=int)
    parser.add_argument("--rows", nargs="+", help="only these methods, in this order")
    arguments = parser.parse_args()
    known = {method.key: method for method in MULTICLASS}
    methods = [known[row] for row in arguments.rows or known]
    for name in arguments.sets:
        run(name, SETS[name], arguments.splits or SETS[name].splits, methods)
        if not SETS[name].thinned:
            run(f"{name}{THINNED}", SETS[name]._replace(thinned=True), 1, methods)


def run(
    name: str,
    data: Data,
    splits: int,
    methods: Sequence[Method] = MULTICLASS,
    folder: Path | None = None,
) -> Record:
    """Compute the cells of a set that are missing."""
    record, cut = Record(name, folder), cache(data.cut)
    options = data.thinned, data.seconds, data.extend
    for split in range(splits):
        for method in methods:
            record.cell(
                f"{method.key}/{split}",
                lambda m=method, s=split: cell(cut(s), m, data.grid(m), *options),
            )
    return record


if __name__ == "__main__":
    main()
