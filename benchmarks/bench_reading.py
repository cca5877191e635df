"""Reading LIBSVM text against scikit-learn, and CSV against NumPy: the same numbers, faster.

News20 comes from the folder that SHORTLIST_DATA names; without it, a text of the same size is
made. Long numbers are as programs print them, with 16 or 17 digits.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
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


def libsvm(name: str, dataset: Dataset, file: Path, target: float | None) -> None:
    """Compare with scikit-learn, after a look at every number."""
    datasets.write(dataset, file)
    ours, (X, y) = datasets.read(file), load_svmlight_file(str(file))
    same = np.array_equal(ours.X.data, X.data) and np.array_equal(ours.X.indices, X.indices)
    labels = np.array(ours.class_names, float)[ours.y]
    if not (same and np.array_equal(labels, y)):
        raise AssertionError(f"{name}: the two readers disagree")
    compare(name, file, lambda: load_svmlight_file(str(file)), lambda: datasets.read(file), target)


def csv(name: str, file: Path) -> None:
    """Compare with NumPy on a table of numbers."""
    X = np.random.default_rng(0).normal(size=(20_000, 50))
    datasets.write(Dataset(X), file)
    if not np.array_equal(datasets.read(file, labels=None).X, X):
        raise AssertionError(f"{name}: the numbers are not the same")
    compare(
        name,
        file,
        lambda: np.loadtxt(file, delimiter=",", skiprows=1),
        lambda: datasets.read(file, labels=None),
        None,
    )


def compare(
    name: str,
    file: Path,
    peer: Callable[[], object],
    own: Callable[[], object],
    target: float | None,
) -> None:
    """Print the seconds of both, and their ratio."""
    theirs, ours = best_seconds(peer, own, repeat=5)
    speed = file.stat().st_size / ours / 1e6
    print(
        f"{name:28}{theirs:10.3f}{ours:10.3f}{speed:8.0f}{theirs / ours:8.1f}  "
        f"{verdict(theirs / ours, target)}",
        flush=True,
    )


def main() -> None:
    print(f"{'':28}{'peer s':>10}{'ours s':>10}{'MB/s':>8}{'ratio':>8}")
    with tempfile.TemporaryDirectory() as folder:
        counts = news20()
        libsvm("LIBSVM, News20", counts, Path(folder) / "counts.svm", TARGET)
        libsvm("LIBSVM, long numbers", long_numbers(counts), Path(folder) / "long.svm", None)
        csv("CSV, long numbers", Path(folder) / "long.csv")


if __name__ == "__main__":
    main()
