"""Formats by name and by suffix, and the three functions that use them."""

from __future__ import annotations

import inspect
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from shortlist.datasets import (
    arff,
    csv,
    idx,
    libsvm,
    mat,
    npy,
    npz,
    parquet,
    store,
    vw,
    xmlrepository,
)
from shortlist.datasets.builder import Builder
from shortlist.datasets.dataset import Dataset, checked
from shortlist.datasets.files import PathOrStream, Source, plain_name


class Format(NamedTuple):
    """What is known of a format by its name."""

    name: str
    suffixes: tuple[str, ...]
    reader: Callable[..., Dataset]
    writer: Callable[..., None]


_FORMATS: dict[str, Format] = {}


def register(
    name: str,
    suffixes: tuple[str, ...],
    reader: Callable[..., Dataset],
    writer: Callable[..., None],
) -> None:
    """Make a format known.

    Parameters
    ----------
    name : str
        What users call it.
    suffixes : tuple of str
        How the names of its files end, compression apart.
    reader : callable
        ``reader(source, build, **options) -> Dataset``, as those of this package.
    writer : callable
        ``writer(path, dataset, **options)``.

    Examples
    --------
    >>> from shortlist import datasets
    >>> datasets.register("csv", (".csv",), datasets.csv.read, datasets.csv.write)
    Traceback (most recent call last):
    ValueError: a format named 'csv' is registered already.
    """
    if name in _FORMATS:
        raise ValueError(f"a format named {name!r} is registered already.")
    _FORMATS[name] = Format(name, suffixes, reader, writer)


def formats() -> dict[str, tuple[str, ...]]:
    """Return the suffixes of each format.

    Examples
    --------
    >>> from shortlist import datasets
    >>> datasets.formats()["libsvm"]
    ('.svm', '.libsvm', '.svmlight')
    """
    return {known.name: known.suffixes for known in _FORMATS.values()}


def _find(path: Any, name: str | None) -> Format:
    """Return the format called `name`, or that of a file's suffix."""
    if name is not None:
        if name not in _FORMATS:
            raise ValueError(f"there is no format {name!r}; choose one of {', '.join(_FORMATS)}.")
        return _FORMATS[name]
    if isinstance(path, (str, os.PathLike)):
        file = plain_name(path).lower()
        for known in _FORMATS.values():
            if file.endswith(known.suffixes):
                return known
    raise ValueError(
        f"the name of {path} does not tell its format; pass one of {', '.join(_FORMATS)}."
    )


def _check_options(name: str, function: Callable[..., Any], options: Mapping[str, Any]) -> None:
    takes = [
        parameter.name
        for parameter in inspect.signature(function).parameters.values()
        if parameter.kind is inspect.Parameter.KEYWORD_ONLY
    ]
    for option in options:
        if option not in takes:
            what = f"it takes {', '.join(takes)}" if takes else "it takes none"
            raise ValueError(f"{name} has no option {option!r}; {what}.")


def read(path: PathOrStream, format: str | None = None, **options: Any) -> Dataset:  # noqa: A002
    r"""Read a data set.

    Parameters
    ----------
    path : path or binary stream
        The file, compressed with xz, gz or bz2 or not; a folder for the format "store".
    format : str, optional
        One of `formats`; by default the suffix tells.
    **options
        Those of the format's reader.

    Returns
    -------
    Dataset

    Raises
    ------
    DataError
        If the file is damaged; the message names the file and the line.

    Examples
    --------
    >>> import io
    >>> from shortlist import datasets
    >>> data = datasets.read(io.BytesIO(b"3 1:0.5 4:2\n7 2:1\n"), "libsvm")
    >>> data.X.toarray(), data.y, data.class_names
    (array([[0.5, 0. , 0. , 2. ],
           [0. , 1. , 0. , 0. ]]), array([0, 1]), ('3', '7'))
    """
    chosen = _find(path, format)
    _check_options(chosen.name, chosen.reader, options)
    source = Source(path)
    return chosen.reader(source, Builder(source.name), **options)


def write(
    dataset: Dataset,
    path: PathOrStream,
    format: str | None = None,  # noqa: A002
    **options: Any,
) -> None:
    """Write a data set; the file appears when it is whole.

    Parameters
    ----------
    dataset : Dataset
        Examples and labels.
    path : path or binary stream
        The file, compressed if its name ends in xz, gz or bz2.
    format : str, optional
        One of `formats`; by default the suffix tells.
    **options
        Those of the format's writer.

    Examples
    --------
    >>> import sys, tempfile
    >>> from pathlib import Path
    >>> from shortlist import datasets
    >>> digits = datasets.load("digits")
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "digits.svm.gz")
    ...     datasets.write(digits, path)
    ...     bool((datasets.read(path).X != digits.X).any())
    False
    """
    chosen = _find(path, format)
    _check_options(chosen.name, chosen.writer, options)
    chosen.writer(path, checked(dataset), **options)


def convert(
    source: PathOrStream,
    target: PathOrStream,
    source_format: str | None = None,
    target_format: str | None = None,
    read_options: Mapping[str, Any] | None = None,
    write_options: Mapping[str, Any] | None = None,
) -> None:
    r"""Write the data set of one file to another, in another format.

    To a "store" the examples of text go in parts, and from a store in parts, too: a set larger
    than memory is converted through a store.

    Parameters
    ----------
    source, target : path or binary stream
        What to read, and where to write.
    source_format, target_format : str, optional
        Two of `formats`; by default the suffixes tell.
    read_options, write_options : mapping, optional
        Those of the reader and of the writer.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shortlist import datasets
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text, mapped = Path(folder, "a.svm"), Path(folder, "a.store")
    ...     _ = text.write_text("3 1:0.5 4:2\n7 2:1\n")
    ...     datasets.convert(text, mapped)
    ...     datasets.read(mapped).class_names
    ('3', '7')
    """
    reading, writing = _find(source, source_format), _find(target, target_format)
    read_options, write_options = read_options or {}, write_options or {}
    _check_options(reading.name, reading.reader, read_options)
    _check_options(writing.name, writing.writer, write_options)
    to_folder = writing.name == "store" and isinstance(target, (str, os.PathLike))
    if to_folder and reading.name != "store":
        opened = Source(source)
        with store.StoreBuilder(opened.name, Path(target)) as build:  # type: ignore[arg-type]
            reading.reader(opened, build, **read_options)
        return
    write(read(source, reading.name, **read_options), target, writing.name, **write_options)


register("libsvm", (".svm", ".libsvm", ".svmlight"), libsvm.read, libsvm.write)
register("vw", (".vw",), vw.read, vw.write)
register("arff", (".arff",), arff.read, arff.write)
register("xmlrepository", (".txt",), xmlrepository.read, xmlrepository.write)
register("csv", (".csv",), csv.read, csv.write)
register("parquet", (".parquet",), parquet.read, parquet.write)
register("npz", (".npz",), npz.read, npz.write)
register("npy", (".npy",), npy.read, npy.write)
register("mat", (".mat",), mat.read, mat.write)
register("idx", (".idx", "ubyte"), idx.read, idx.write)
register("store", (".store",), store.read, store.write)
