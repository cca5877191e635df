"""Reading LIBSVM text against scikit-learn, with the same numbers to the last bit.

News20 comes from the folder that SHORTLIST_DATA names; without it, a text of the same size is
made. The second text has numbers as programs print them, with 16 or 17 digits.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import scipy.sparse
from sklearn.datasets import load_svmlight_file

from shortlist import datasets
from shortlist.datasets import Dataset
from timing import best_seconds, verdict

TARGET = 5.0


def news20() -> Dataset:
    """Return News20, or counts like it."""
    try:
        return datasets.load("news20")
    except FileNotFoundError:
        print("News20 is not there (set SHORTLIST_DATA); random counts instead")
        rng = np.random.default_rng(0)
        X = scipy.sparse.random(15_935, 62_061, 1.3e-3, format="csr", rng=rng)
        X.data = np.floor(1 + 3 * X.data**4)
        return Dataset(X, rng.integers(20, size=15_935), tuple(map(str, range(1, 21))))


def long_numbers(like: Dataset) -> Dataset:
    """Return a set of the same pattern whose numbers have all their digits."""
    X = like.X.copy()
    X.data = np.random.default_rng(0).normal(size=X.nnz)
    return like._replace(X=X)


def compare(name: str, dataset: Dataset, file: Path, target: float | None) -> None:
    """Print the seconds of both, and their ratio."""
    datasets.write(dataset, file)
    ours, (X, y) = datasets.read(file), load_svmlight_file(str(file))
    same = np.array_equal(ours.X.data, X.data) and np.array_equal(ours.X.indices, X.indices)
    labels = np.array(ours.class_names, float)[ours.y]
    if not (same and np.array_equal(labels, y)):
        raise AssertionError(f"{name}: the two readers disagree")
    peer, own = best_seconds(
        lambda: load_svmlight_file(str(file)), lambda: datasets.read(file), repeat=5
    )
    speed = file.stat().st_size / own / 1e6
    print(
        f"{name:28}{peer:10.3f}{own:10.3f}{speed:8.0f}{peer / own:8.1f}  "
        f"{verdict(peer / own, target)}",
        flush=True,
    )


def main() -> None:
    print(f"{'LIBSVM text':28}{'sklearn s':>10}{'ours s':>10}{'MB/s':>8}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        counts = news20()
        compare("News20, counts", counts, Path(folder) / "counts.svm", TARGET)
        compare("News20, long numbers", long_numbers(counts), Path(folder) / "long.svm", None)


if __name__ == "__main__":
    main()
