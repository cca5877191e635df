"""IDX, the format of MNIST: one array a file, the labels in a file of their own."""

from __future__ import annotations

import os
from math import prod
from pathlib import Path
from typing import Any

import numpy as np

from shortlist.datasets.arrays import from_arrays
from shortlist.datasets.builder import Builder
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.files import PathOrStream, Source, create, plain_name

_TYPES = {0x08: "u1", 0x09: "i1", 0x0B: ">i2", 0x0C: ">i4", 0x0D: ">f4", 0x0E: ">f8"}
_CODES = {np.dtype(text): code for code, text in _TYPES.items()}


def read(
    source: Source, build: Builder, *, labels: str | os.PathLike[str] | None = None
) -> Dataset:
    """Read IDX; images become rows.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    labels : path, optional
        The file of the labels; by default the one beside whose name has ``labels`` for
        ``images`` and ``idx1`` for ``idx3``, or ``a.labels.idx`` for ``a.idx``, if it is there.
    """
    beside = source.beside(_labels_name(source.name)) if labels is None else Source(labels)
    X = _array(source)
    if X.ndim < 2:
        raise source.error("it holds numbers, not examples; pass the file of images.")
    y = None
    if beside is not None:
        y = _array(beside)
        if y.ndim != 1 or len(y) != len(X):
            raise beside.error(f"it holds {y.shape} labels; there are {len(X)} examples.")
    return from_arrays(source, build, X.reshape(len(X), prod(X.shape[1:])), y)


def _labels_name(name: str) -> str:
    name = plain_name(name)
    if name.endswith(".idx"):
        return name.removesuffix(".idx") + ".labels.idx"
    return name.replace("images", "labels").replace("idx3", "idx1").replace("idx2", "idx1")


def _array(source: Source) -> Any:
    data = source.read()
    if len(data) < 4 or data[:2] != b"\0\0" or data[2] not in _TYPES or data[3] == 0:
        raise source.error("it does not begin as an IDX file does.")
    dtype, ndim = np.dtype(_TYPES[data[2]]), data[3]
    first = 4 + 4 * ndim
    if len(data) < first:
        raise source.error("it ends in its header.")
    shape = tuple(map(int, np.frombuffer(data, ">u4", ndim, 4)))
    size = prod(shape) * dtype.itemsize
    if len(data) != first + size:
        raise source.error(f"there are {len(data) - first} bytes of data; {shape} needs {size}.")
    array = np.frombuffer(data, dtype, prod(shape), first).reshape(shape)
    return array.astype(dtype.newbyteorder("="), copy=False)


def write(
    path: PathOrStream, dataset: Dataset, *, labels: str | os.PathLike[str] | None = None
) -> None:
    """Write IDX, and the numbers of the classes beside it.

    Parameters
    ----------
    path, dataset
        Where, and what; sparse examples become dense, and names are lost.
    labels : path, optional
        Where the labels go; by default as `read` looks for them.
    """
    if dataset.multilabel:
        raise ValueError("IDX keeps one label an example; choose another format for label sets.")
    with create(path) as stream:
        stream.write(_bytes(dataset.X.toarray() if dataset.sparse else dataset.X))
    if dataset.y is None:
        return
    if labels is None:
        if not isinstance(path, (str, os.PathLike)):
            raise ValueError("a stream takes the examples alone; pass labels=, a file for those.")
        labels = Path(path).with_name(_labels_name(str(path)))
        if labels.name == plain_name(path):
            raise ValueError(f"the name {labels.name} leaves none for the labels; pass labels=.")
    with create(labels) as stream:
        stream.write(_bytes(dataset.y.astype("u1" if dataset.m <= 256 else ">i4")))


def _bytes(array: Any) -> bytes:
    """Return an array as IDX; dtypes it lacks become float64."""
    dtype = array.dtype if array.dtype.itemsize == 1 else array.dtype.newbyteorder(">")
    if dtype not in _CODES:
        dtype = np.dtype(">f8")
    header = bytes([0, 0, _CODES[dtype], array.ndim]) + np.array(array.shape, ">u4").tobytes()
    return header + np.ascontiguousarray(array, dtype=dtype).tobytes()
