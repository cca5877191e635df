"""The store: a folder of NumPy arrays that are mapped into memory, for sets larger than memory.

``X.npy``, or ``X_values.npy``, ``X_indices.npy`` and ``X_offsets.npy``; the labels in
``y_indices.npy`` and ``y_offsets.npy``; the rest in ``store.json``.
"""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shortlist.datasets.arrays import damage, matrix_of
from shortlist.datasets.builder import Builder, Header, LabelSets, SparseRows, csr
from shortlist.datasets.classes import Classes
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.files import PathOrStream, Source

_FORMAT = "shortlist store 1"
_NUMBERS_AT_A_TIME = 1 << 22
_LARGEST_INT32 = np.iinfo(np.int32).max


class _Column:
    """A NumPy file that grows at its end."""

    def __init__(self, path: Path, dtype: DTypeLike, width: tuple[int, ...] = ()) -> None:
        self.path, self.dtype, self.width, self.n = path, np.dtype(dtype), width, 0
        self._file = path.open("w+b")
        self._write_header()

    def _write_header(self) -> None:
        # NumPy leaves room for the first length to grow.
        self._file.seek(0)
        shape = (self.n, *self.width)
        header = {"descr": self.dtype.str, "fortran_order": False, "shape": shape}
        np.lib.format.write_array_header_1_0(self._file, header)

    def append(self, values: Any) -> None:
        """Write values after those that are there."""
        np.ascontiguousarray(values, self.dtype).tofile(self._file)
        self.n += len(values)

    def close(self) -> None:
        """Say in the file how long it is; once is enough."""
        if not self._file.closed:
            self._write_header()
            self._file.close()


class StoreBuilder(Builder):
    """Collects a data set on disk; as a context, it leaves all or nothing behind.

    Parameters
    ----------
    source : str
        Where the data come from.
    path : Path
        The folder to make.
    """

    def __init__(self, source: str, path: Path) -> None:
        super().__init__(source)
        self.path = path
        self._folder = path.with_name(f"{path.name}.{os.getpid()}.tmp")
        self._columns: dict[str, _Column] = {}

    def __enter__(self) -> StoreBuilder:
        if self.path.exists() and not (self.path / "store.json").exists():
            raise FileExistsError(f"{self.path} is there, and is no store; choose another name.")
        self._folder.mkdir(parents=True)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for column in self._columns.values():
            column.close()
        if kind is None:
            if self.path.exists():
                shutil.rmtree(self.path)
            os.replace(self._folder, self.path)
        else:
            shutil.rmtree(self._folder, ignore_errors=True)

    def _column(self, name: str, dtype: DTypeLike, width: tuple[int, ...] = ()) -> _Column:
        if name not in self._columns:
            self._columns[name] = _Column(self._folder / f"{name}.npy", dtype, width)
        return self._columns[name]

    def _append_ends(self, name: str, offsets: NDArray[Any], total: int) -> None:
        """Append the ends of ranges, after those of `total` elements before."""
        column = self._column(name, np.int64)
        if column.n == 0:
            column.append([0])
        column.append(offsets[1:] + total)

    def add(self, rows: Any, labels: LabelSets | None) -> None:
        """Write consecutive examples and their labels."""
        if isinstance(rows, SparseRows):
            values = self._column("X_values", rows.values.dtype)
            self._append_ends("X_offsets", rows.offsets, values.n)
            values.append(rows.values)
            self._column("X_indices", np.int32).append(rows.indices)
            self.n += len(rows.offsets) - 1
        else:
            self._column("X", rows.dtype, rows.shape[1:]).append(rows)
            self.n += len(rows)
        if labels is not None:
            codes = self._column("y_indices", np.int32)
            self._append_ends("y_offsets", labels.offsets, codes.n)
            codes.append(labels.codes)
            self.one_label_each &= bool((np.diff(labels.offsets) == 1).all())

    def finish(self, header: Header) -> Dataset:
        """Number features and classes anew, write what is known at the end, and map it all."""
        class_names, renumber = header.classes.finish()
        if not self._columns:
            self.add(SparseRows(np.empty(0), np.empty(0, np.int32), np.zeros(1, np.int64)), None)
        for column in self._columns.values():
            column.close()
        if "X_indices" in self._columns:
            self._finish_indices(header.first_index)
        labelled = "y_indices" in self._columns and bool(class_names or header.multilabel)
        if labelled:
            _change(self._columns["y_indices"], lambda codes: renumber[codes])
        about = {
            "format": _FORMAT,
            "source": self.source,
            "n": self.n,
            "d": header.d,
            "sparse": "X" not in self._columns,
            "labels": ("sets" if self.is_multilabel(header) else "one") if labelled else "none",
            "class_names": class_names,
            "feature_names": header.feature_names,
        }
        (self._folder / "store.json").write_text(json.dumps(about), encoding="utf-8")
        return _mapped(Source(self._folder))

    def _finish_indices(self, first_index: int) -> None:
        """Let indices begin at 0, in the 64 bits of the offsets if these need them."""
        indices = self._columns["X_indices"]
        if indices.n <= _LARGEST_INT32:
            if first_index:
                _change(indices, lambda part: part - first_index)
            return
        wide = _Column(indices.path.with_suffix(".tmp"), np.int64)
        narrow = np.load(indices.path, mmap_mode="r")
        for first in range(0, indices.n, _NUMBERS_AT_A_TIME):
            wide.append(narrow[first : first + _NUMBERS_AT_A_TIME].astype(np.int64) - first_index)
        wide.close()
        os.replace(wide.path, indices.path)


def _change(column: _Column, change: Callable[[NDArray[Any]], NDArray[Any]]) -> None:
    """Change the numbers of a column in place, some at a time."""
    if column.n:
        mapped = np.load(column.path, mmap_mode="r+")
        for first in range(0, column.n, _NUMBERS_AT_A_TIME):
            part = mapped[first : first + _NUMBERS_AT_A_TIME]
            part[:] = change(part)
        mapped.flush()


def _load(source: Source, path: Path) -> Any:
    """Map an array; an empty one cannot be."""
    with damage(source, path.name):
        mode: Any = "r" if path.stat().st_size > 128 else None
        return np.load(path, mmap_mode=mode, allow_pickle=False)


def read(source: Source, build: Builder) -> Dataset:
    """Map a store into memory.

    Parameters
    ----------
    source, build
        The folder; examples stay on disk until they are used.
    """
    return _mapped(source)


def _mapped(source: Source) -> Dataset:
    folder = source.path
    if folder is None:
        raise ValueError("a store is a folder, not a stream.")
    about_file = Source(folder / "store.json")
    with damage(about_file, "store"):
        about = json.loads(about_file.read())
        if about["format"] != _FORMAT:
            raise about_file.error("it is not a store of this version.")
        n, d, labels = int(about["n"]), int(about["d"]), about["labels"]
        class_names = tuple(map(str, about["class_names"]))
        names = about["feature_names"]
        feature_names = None if names is None else tuple(map(str, names))
        parts = ("X_values", "X_indices", "X_offsets") if about["sparse"] else ("X",)
    X = _matrix(source, *(_load(source, folder / f"{part}.npy") for part in parts), n=n, d=d)
    y = None
    if labels != "none":
        indices = np.array(_load(source, folder / "y_indices.npy"))
        offsets = np.array(_load(source, folder / "y_offsets.npy"))
        m = len(class_names)
        y = matrix_of(source, np.ones(indices.size, bool), indices, offsets, (n, m))
        if labels == "one":
            y = indices.astype(np.int64)
            if y.size != n:
                raise source.error(f"there are {n} examples, and labels for {y.size}.")
    return Dataset(X, y, class_names, feature_names, str(about["source"]))


def _matrix(source: Source, *arrays: Any, n: int, d: int) -> Any:
    """Return a matrix of mapped arrays; of a sparse one, only the offsets are looked at."""
    if len(arrays) == 1:
        if arrays[0].shape != (n, d):
            raise source.error(f"X has shape {arrays[0].shape}; store.json says {(n, d)}.")
        return arrays[0]
    values, indices, offsets = arrays
    fits = offsets.shape == (n + 1,) and offsets[-1] == values.size == indices.size
    if not fits or offsets[0] != 0 or (np.diff(offsets) < 0).any():
        raise source.error("the arrays of X do not make a matrix.")
    return csr(values, indices, offsets, d)


def write(path: PathOrStream, dataset: Dataset) -> None:
    """Write a store.

    Parameters
    ----------
    path, dataset
        The folder, which appears when it is whole, and what goes into it.
    """
    if not isinstance(path, (str, os.PathLike)):
        raise ValueError("a store is a folder, not a stream.")
    with StoreBuilder(dataset.source, Path(path)) as build:
        for part in dataset.parts():
            X, y = part.X, part.y
            rows = SparseRows(X.data, X.indices, X.indptr) if part.sparse else X
            offsets, indices = part.label_sets()
            build.add(rows, None if y is None else LabelSets(indices, offsets))
        header = Header(
            dataset.d, Classes(dataset.class_names), dataset.multilabel, dataset.feature_names
        )
        build.finish(header)
