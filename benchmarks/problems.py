"""Training sets for benchmarks: seeded synthetic ones, and real ones from a folder.

The folder is the environment variable SHORTLIST_DATA; it holds the published files, as they
are, in one folder a set. Every set comes as (X, y, m), its training rows only.
"""

from __future__ import annotations

import gzip
import io
import lzma
import os
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.io
import scipy.sparse
from numpy.typing import DTypeLike
from sklearn.datasets import load_digits, load_svmlight_file
from sklearn.preprocessing import normalize

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
    if name not in _READERS:
        raise ValueError(f"there is no data set {name!r}; choose one of {', '.join(REAL)}.")
    return _READERS[name](np.dtype(dtype))


def _folder(path: str) -> Path:
    """Return a file or folder of the data folder, which must be there."""
    folder = os.environ.get("SHORTLIST_DATA")
    if not folder:
        raise FileNotFoundError(
            "SHORTLIST_DATA is not set; let it name the folder that holds the data sets."
        )
    if not (Path(folder) / path).exists():
        raise FileNotFoundError(
            f"there is no {Path(folder) / path}; SHORTLIST_DATA names the folder."
        )
    return Path(folder) / path


def _read(path: str) -> io.BytesIO:
    """Return the uncompressed bytes of a file of the data folder."""
    file = _folder(path)
    with (lzma if file.suffix == ".xz" else gzip).open(file, "rb") as stream:
        return io.BytesIO(stream.read())


def _svmlight(stream: io.BytesIO, d: int, dtype: np.dtype) -> tuple[Any, np.ndarray]:
    """Return rows and labels from 0 of LIBSVM text, where both count from 1."""
    X, y = load_svmlight_file(stream, n_features=d, dtype=dtype, zero_based=False)
    # Peers want indices of 32 bits.
    X.indices, X.indptr = X.indices.astype(np.int32), X.indptr.astype(np.int32)
    return X, y.astype(np.int64) - 1


def _letter(dtype: np.dtype) -> Problem:
    X, y = _svmlight(_read("letter/letter.scale.xz"), 16, dtype)
    return Problem(X.toarray(), y, 26)


def _aloi(dtype: np.dtype) -> Problem:
    text = _read("aloi/aloi_train.vw.gz").getvalue().replace(b" | ", b" ")
    return Problem(*_svmlight(io.BytesIO(text), 128, dtype), 1000)


def _news20(dtype: np.dtype) -> Problem:
    X, y = _svmlight(_read("news20/news20-multiclass.gz"), 62_061, dtype)
    return Problem(normalize(X, copy=False), y, 20)


def _digits(dtype: np.dtype) -> Problem:
    X, y = load_digits(return_X_y=True)
    return Problem((X / 16).astype(dtype), y, 10)


def _mulan(name: str, d: int, m: int, dtype: np.dtype) -> Problem:
    """Return a set in ARFF whose last columns are the labels, with dense or sparse rows."""
    stream = _read(f"{name}/{name}-train.arff.xz")
    while not stream.readline().lower().startswith(b"@data"):
        pass
    lines = [line.strip() for line in stream.read().decode().splitlines() if line.strip()]
    table = np.zeros((len(lines), d + m))
    for row, line in zip(table, lines, strict=True):
        if line.startswith("{"):
            pairs = np.array(line.strip("{}").replace(",", " ").split(), float).reshape(-1, 2)
            row[pairs[:, 0].astype(int)] = pairs[:, 1]
        else:
            row[:] = [float(value) for value in line.split(",")]
    return Problem(table[:, :d].astype(dtype), scipy.sparse.csr_array(table[:, d:] > 0), m)


def _emotions(dtype: np.dtype) -> Problem:
    X, y, m = _mulan("emotions", 72, 6, np.dtype(float))
    return Problem(((X - X.mean(axis=0)) / X.std(axis=0)).astype(dtype), y, m)


def _bibtex(dtype: np.dtype) -> Problem:
    X, y, m = _mulan("bibtex", 1836, 159, dtype)
    return Problem(scipy.sparse.csr_array(X), y, m)


def _caltech(dtype: np.dtype) -> Problem:
    folder = _folder("caltech101_silhouettes")
    table = scipy.io.loadmat(folder / "caltech101_silhouettes_28_split1.mat")
    labels = table["train_labels"].ravel().astype(np.int64) - 1
    return Problem(table["train_data"].astype(dtype), labels, 101)


_READERS: dict[str, Callable[[np.dtype], Problem]] = {
    "letter": _letter,
    "aloi": _aloi,
    "news20": _news20,
    "mediamill": partial(_mulan, "mediamill", 120, 101),
    "digits": _digits,
    "emotions": _emotions,
    "yeast": partial(_mulan, "yeast", 103, 14),
    "bibtex": _bibtex,
    "caltech": _caltech,
}
#: The names of the real sets.
REAL = tuple(_READERS)
