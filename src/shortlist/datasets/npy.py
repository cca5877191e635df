"""One NumPy array of examples, mapped into memory, and its labels in a file beside it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.datasets.arrays import damage, from_arrays
from shortlist.datasets.builder import Builder
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.files import PathOrStream, Source, create, plain_name


def read(
    source: Source, build: Builder, *, labels: str | os.PathLike[str] | None = None
) -> Dataset:
    """Read a NumPy array; it stays on disk until it is used, unless it is compressed.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    labels : path, optional
        The array of the labels: numbers, text, or a matrix of 0 and 1. By default
        ``a.labels.npy`` beside ``a.npy``, if there is one.
    """
    beside = source.beside(_labels_name(source.name)) if labels is None else Source(labels)
    X = _array(source)
    y = None if beside is None else _array(beside)
    if X.ndim == 2 and y is not None and y.ndim == 1 and y.size != len(X):
        assert beside is not None
        raise beside.error(f"there are {len(X)} examples in {source.name}, and {y.size} labels.")
    return from_arrays(source, build, X, y)


def _labels_name(name: str) -> str:
    return plain_name(name).removesuffix(".npy") + ".labels.npy"


def _array(source: Source) -> Any:
    with damage(source, "npy"):
        if source.plain_path is None:
            return np.load(source.seekable(), allow_pickle=False)
        array = np.load(source.plain_path, mmap_mode="r", allow_pickle=False)
        if not isinstance(array, np.ndarray):
            raise source.error("it is an archive; pass format='npz'.")
        return array


def write(
    path: PathOrStream, dataset: Dataset, *, labels: str | os.PathLike[str] | None = None
) -> None:
    """Write a NumPy array, and the labels beside it: class numbers, or a matrix of 0 and 1.

    Parameters
    ----------
    path, dataset
        Where, and what; sparse examples become dense. The names of classes are lost.
    labels : path, optional
        Where the labels go; by default ``a.labels.npy`` beside ``a.npy``.
    """
    with create(path) as stream:
        np.save(stream, dataset.X.toarray() if dataset.sparse else dataset.X)
    if dataset.y is None:
        return
    if labels is None:
        if not isinstance(path, (str, os.PathLike)):
            raise ValueError("a stream takes the examples alone; pass labels=, a file for those.")
        labels = Path(path).with_name(_labels_name(str(path)))
    with create(labels) as stream:
        np.save(stream, dataset.y.toarray() if dataset.multilabel else dataset.y)
