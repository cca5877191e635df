"""Arrays as programs save them, checked and made a data set: what the array formats share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import scipy.sparse

from shortlist._arrays import float_type
from shortlist.datasets.builder import Builder, Header, LabelSets, SparseRows
from shortlist.datasets.classes import Classes
from shortlist.datasets.dataset import Dataset, first_not_finite
from shortlist.datasets.errors import DataError
from shortlist.datasets.files import Source


@contextmanager
def damage(source: Source, kind: str) -> Iterator[None]:
    """Turn whatever a library raises over a damaged file into the error that names it."""
    try:
        yield
    except (DataError, FileNotFoundError):
        raise
    except Exception as error:  # libraries raise all kinds of errors here
        what = str(error).split("\n")[0] or type(error).__name__
        raise source.error(f"it is not a whole {kind} file ({what}).") from None


def from_arrays(
    source: Source,
    build: Builder,
    X: Any,
    y: Any,
    *,
    class_names: Iterable[Any] | None = None,
    feature_names: Iterable[Any] | None = None,
    first_class: int = 0,
) -> Dataset:
    """Return the data set of arrays out of a file.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    X : ndarray or sparse matrix
        Examples.
    y : ndarray, sparse matrix or None
        One label an example, numbers or text; or a matrix of 0 and 1.
    class_names : iterable, optional
        The name of each class; labels are then their numbers, from `first_class`.
    feature_names : iterable, optional
        The name of each column.
    first_class : int
        Where numbers of classes begin.
    """
    rows = _checked_rows(source, X)
    n, d = X.shape
    classes = Classes(class_names)
    multilabel = y is not None and not _is_vector(y, n)
    if multilabel:
        if class_names is None:
            classes = Classes(range(y.shape[1]))
        if y.shape != (n, classes.m):
            raise source.error(
                f"labels have shape {y.shape}; there are {n} examples, {classes.m} classes."
            )
        sets = scipy.sparse.csr_array(y)
        sets.sum_duplicates()
        sets.eliminate_zeros()
        labels = LabelSets(sets.indices.astype(np.int64), sets.indptr.astype(np.int64))
    elif y is None:
        labels = None
    else:
        codes = _codes(source, np.asarray(y).ravel(), n, classes, first_class)
        labels = LabelSets(codes, np.arange(n + 1))
    names = None if feature_names is None else tuple(map(str, feature_names))
    if names is not None and len(names) != d:
        raise source.error(f"there are {len(names)} feature names for {d} columns.")
    build.add(rows, labels)
    return build.finish(Header(d, classes, multilabel, names))


def _is_vector(y: Any, n: int) -> bool:
    """Whether labels are one for each example; MATLAB has no vectors but matrices of width 1."""
    if scipy.sparse.issparse(y) or y.ndim != 2:
        return y.ndim == 1
    return 1 in y.shape and y.size == n and y.dtype != bool


def _checked_rows(source: Source, X: Any) -> Any:
    sparse = scipy.sparse.issparse(X)
    if X.ndim != 2:
        raise source.error(f"the examples have shape {X.shape}; a matrix is needed.")
    try:
        float_type(X.dtype, "X")
    except TypeError as error:
        raise source.error(str(error)) from None
    place: tuple[int, ...] | None
    if not sparse:
        place = first_not_finite(X)
        if place is not None:
            raise source.error(f"X[{place[0]}, {place[1]}] is {X[place]}; fill it in.")
        return X
    X = scipy.sparse.csr_array(X)
    X.sum_duplicates()
    place = first_not_finite(X.data)
    if place is not None:
        row = int(np.searchsorted(X.indptr, place[0], side="right")) - 1
        raise source.error(f"X[{row}, {X.indices[place]}] is {X.data[place]}; fill it in.")
    return SparseRows(X.data, X.indices, X.indptr.astype(np.int64))


def _codes(source: Source, y: Any, n: int, classes: Classes, first_class: int) -> Any:
    if y.size != n:
        raise source.error(f"there are {n} examples, and labels for {y.size}.")
    if classes.known:
        if y.dtype.kind not in "iuf" or not np.isin(y - first_class, np.arange(classes.m)).all():
            raise source.error(
                f"labels must be numbers from {first_class} to {classes.m - 1 + first_class}, "
                "those of the class names."
            )
        return y.astype(np.int64) - first_class
    if y.dtype.kind in "iufb":
        if not np.isfinite(y).all():
            raise source.error("a label is not a finite number.")
        return classes.encode_numbers(y.astype(np.float64))
    if y.dtype.kind == "U":
        return classes.encode(y.tolist())
    raise source.error(f"labels have dtype {y.dtype}; numbers or text are needed.")


def matrix_of(source: Source, values: Any, indices: Any, offsets: Any, shape: Any) -> Any:
    """Return the CSR matrix of arrays out of a file, if they are one."""
    n, d = (int(length) for length in np.ravel(shape)[:2]) if np.size(shape) == 2 else (-1, -1)
    whole = (
        offsets.ndim == indices.ndim == values.ndim == 1
        and offsets.dtype.kind in "iu"
        and indices.dtype.kind in "iu"
        and offsets.size == n + 1
        and offsets[0] == 0
        and offsets[-1] == indices.size == values.size
        and bool((np.diff(offsets) >= 0).all())
        and (indices.size == 0 or (indices.min() >= 0 and indices.max() < d))
    )
    if not whole:
        raise source.error("its arrays do not make a sparse matrix.")
    return scipy.sparse.csr_array((values, indices, offsets), shape=(n, d))
