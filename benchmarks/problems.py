"""Training sets for benchmarks: seeded synthetic ones, and real ones from a folder.

Real ones are those of `shortlist.datasets.load`, which looks into the folder that the environment
variable SHORTLIST_DATA names. Every set comes as (X, y, m), its training rows only.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import DTypeLike
from sklearn.preprocessing import normalize

from shortlist import datasets

#: Examples, features and classes of the synthetic sets.
SHAPES = {"a": (20_000, 512, 100), "b": (5_000, 2_048, 1_000)}


class Problem(NamedTuple):
    """Examples (dense, or CSR), labels as `shortlist.solve` takes them, number of classes."""

    X: Any
    y: Any
    m: int


def synthetic(shape: str, dtype: DTypeLike = np.float32) -> Problem:
    """Return noisy copies of random centres, scaled to unit length; every class occurs."""
    n, d, m = SHAPES[shape]
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % m)
    X = rng.normal(size=(m, d))[y] + 2.0 * rng.normal(size=(n, d))
    return Problem((X / np.linalg.norm(X, axis=1, keepdims=True)).astype(dtype), y, m)


def real(name: str, dtype: DTypeLike = np.float32) -> Problem:
    """Return a real training set: one of `REAL`, rows scaled as published.

    ===========  ======  ======  =====  ===========================================
    name              n       d      m
    ===========  ======  ======  =====  ===========================================
    letter        15000      16     26  dense
    aloi          97200     128   1000  sparse, integers from 0 to 9
    news20        15935   62061     20  sparse, term counts scaled to unit length
    mediamill     30993     120    101  dense, label sets as a sparse indicator matrix
    digits         1797      64     10  dense, from 0 to 1; comes with scikit-learn
    emotions        391      72      6  dense, columns standardised, label sets
    yeast          1500     103     14  dense, label sets
    bibtex         4880    1836    159  sparse, 0 or 1, label sets
    caltech        4100     784    101  dense, silhouettes of 28 x 28 pixels, 0 or 1
    ===========  ======  ======  =====  ===========================================
    """
    if name not in _SETS:
        raise ValueError(f"there is no data set {name!r}; choose one of {', '.join(REAL)}.")
    full_name, split, prepare = _SETS[name]
    data = datasets.load(full_name, split)
    return Problem(prepare(data.X).astype(dtype), data.y, data.m)


def _as_is(X: Any) -> Any:
    return X


def _standardised(X: np.ndarray) -> np.ndarray:
    return (X - X.mean(axis=0)) / X.std(axis=0)


#: The full name of each set, the split, and what is done to its examples.
_SETS: dict[str, tuple[str, str, Callable[[Any], Any]]] = {
    "letter": ("letter", "trainval", _as_is),
    "aloi": ("aloi", "train_file", _as_is),
    "news20": ("news20", "train", normalize),
    "mediamill": ("mediamill", "train", _as_is),
    "digits": ("digits", "all", _as_is),
    "emotions": ("emotions", "train", _standardised),
    "yeast": ("yeast", "train", _as_is),
    "bibtex": ("bibtex", "train", _as_is),
    "caltech": ("caltech101_silhouettes", "train", _as_is),
}
#: The names of the real sets.
REAL = tuple(_SETS)
