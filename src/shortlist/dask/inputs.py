"""A user's Dask collections: chunks of rows outside, partitions inside, and nothing gathered.

Chunks are joined to partitions on the workers. Before that, labels are looked at once, for the
classes that occur and how often: numbers of the size of the classes come to the client.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Sequence
from typing import Any, NamedTuple

import dask.array as da
import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist._arrays import as_weights
from shortlist.dask.partitions import Partition, in_order, naming
from shortlist.estimators.targets import Target, read_sets, read_single
from shortlist.estimators.weighting import class_weights, counted_weights, mean_weights
from shortlist.losses import check_labels
from shortlist.rows import as_storage
from shortlist.solvers.problem import Problem


class Chunks(NamedTuple):
    """Rows of X, labels and weights, chunk by chunk, each a Delayed."""

    X: list[Any]
    y: list[Any]
    weights: list[Any] | None
    columns: int
    names: list[str] | None  # of the columns
    single: bool  # one label an example


class Survey(NamedTuple):
    """What some labels show: the classes, and the weights of their examples together."""

    classes: NDArray[Any]
    counted: NDArray[np.float64]
    examples: int
    form: str


class Plan(NamedTuple):
    """How a partition's problem is made."""

    loss: Any
    C: float
    intercept: float
    classes: NDArray[Any]
    of_classes: NDArray[np.float64] | None
    single: bool


def as_array(X: Any, name: str) -> Any:
    """Return a Dask array of whole rows; refuse what is in memory already."""
    if hasattr(X, "to_dask_array"):
        with warnings.catch_warnings():  # of strings, which become objects
            warnings.simplefilter("ignore", UserWarning)
            X = X.to_dask_array()
    if not isinstance(X, da.Array):
        raise TypeError(
            f"{name} is a {type(X).__name__}; pass a Dask array or data frame, or use the "
            "estimator of shortlist for what fits into memory."
        )
    if X.ndim == 2 and X.numblocks[1] > 1:
        if scipy.sparse.issparse(X._meta):
            raise ValueError(f"{name} is sparse and has chunks of columns: chunk it by rows only.")
        X = X.rechunk({1: -1})
    return X


def read(X: Any, y: Any, sample_weight: Any) -> Chunks:
    """Return the chunks of a user's collections, one for one."""
    names = None
    if hasattr(X, "columns") and all(isinstance(name, str) for name in X.columns):
        names = list(X.columns)
    X = as_array(X, "X")
    if X.ndim != 2:
        raise ValueError(f"X has {X.ndim} dimensions; pass a matrix, one example a row.")
    y = _aligned(y, X, "y")
    if y.ndim == 2 and y.shape[1] == 1:
        y = y.reshape(y.shape[0]) if not math.isnan(y.shape[0]) else y[:, 0]
    weights = None
    if sample_weight is not None:
        if np.ndim(sample_weight) == 0 and not isinstance(sample_weight, da.Array):
            constant = float(sample_weight)
            weights = y.map_blocks(
                lambda block: np.full(block.shape[0], constant), dtype=float,
                drop_axis=list(range(1, y.ndim)),
            )  # fmt: skip
        else:
            weights = _aligned(sample_weight, X, "sample_weight")
    return Chunks(
        _delayed(X), _delayed(y), None if weights is None else _delayed(weights),
        int(X.shape[1]), names, y.ndim == 1,
    )  # fmt: skip


def _aligned(values: Any, X: Any, name: str) -> Any:
    """Return labels or weights in the chunks of X."""
    rows = X.chunks[0]
    known = not any(math.isnan(size) for size in rows)
    is_lazy = isinstance(values, da.Array) or hasattr(values, "to_dask_array")
    if not is_lazy:
        if not known:
            raise ValueError(
                f"{name} is in memory, and the chunks of X have no known sizes: pass {name} as a "
                "Dask collection, or call X.compute_chunk_sizes()."
            )
        values = values if scipy.sparse.issparse(values) else np.asarray(values)
        _same_length(values.shape[0], sum(rows), name)
        columns = (-1,) * (values.ndim - 1)
        return da.from_array(values, chunks=(rows, *columns), asarray=False)
    array = as_array(values, name)
    if array.ndim not in (1, 2):
        raise ValueError(f"{name} has {array.ndim} dimensions; pass one or two.")
    if known and not any(math.isnan(size) for size in array.chunks[0]):
        _same_length(array.shape[0], X.shape[0], name)
        return array if array.chunks[0] == rows else array.rechunk({0: rows})
    if array.numblocks[0] != X.numblocks[0]:
        raise ValueError(
            f"X has {X.numblocks[0]} chunks of rows and {name} {array.numblocks[0]}, of sizes "
            "that are not known: call compute_chunk_sizes() on both."
        )
    return array


def _same_length(length: int, n: int, name: str) -> None:
    if length != n:
        raise ValueError(f"X has {n} examples, and {name} has {length}.")


def _delayed(array: Any) -> list[Any]:
    return list(array.to_delayed().ravel())


def survey(number: int, y: Sequence[Any], weights: Sequence[Any] | None, single: bool) -> Survey:
    """Return what the labels of a partition show."""
    with naming(number):
        values = _labels(y)
        n = values.shape[0]
        own = as_weights(None if weights is None else _joined(weights), n)
        if single:
            if n == 0:
                return Survey(values[:0], np.zeros(0), 0, "single")
            target = read_single(values, np.unique(values))
        else:
            target = read_sets(values)
        return Survey(target.classes, counted_weights(target.labels, own), n, target.form)


def merge(surveys: Sequence[Survey]) -> Survey:
    """Return what all labels show."""
    seen = [found for found in surveys if found.classes.size]
    if not seen:
        raise ValueError("y has no labels; there is nothing to learn.")
    classes = np.unique(np.concatenate([found.classes for found in seen]))
    counted = np.zeros(classes.size)
    for found in seen:
        counted[np.searchsorted(classes, found.classes)] += found.counted
    return Survey(classes, counted, sum(found.examples for found in surveys), seen[0].form)


def weights_of_classes(class_weight: Any, found: Survey) -> NDArray[np.float64] | None:
    """Return the weight of each class, if they are to differ."""
    if class_weight is None:
        return None
    return class_weights(class_weight, found.classes, found.counted)


def load(
    number: int, X: Sequence[Any], y: Sequence[Any], weights: Sequence[Any] | None, plan: Plan
) -> Partition | None:
    """Return a partition, or None where its chunks have no rows."""
    with naming(number):
        matrix, values = _joined(X), _labels(y)
        n = matrix.shape[0]
        if values.shape[0] != n:
            raise ValueError(f"X has {n} rows, and y has {values.shape[0]}.")
        if n == 0:
            return None
        own = as_weights(None if weights is None else _joined(weights), n)
        target: Target = (read_single if plan.single else read_sets)(values, plan.classes)
        if plan.of_classes is not None:
            own = own * mean_weights(target.labels, plan.of_classes)
        rows = as_storage(matrix, plan.intercept)
        labels = check_labels(plan.loss, target.labels, n, plan.classes.size)
        return in_order(number, Problem(rows, labels, plan.loss, plan.C * own))


def _joined(blocks: Sequence[Any]) -> Any:
    """Return chunks of rows as one array; a single one as it is."""
    blocks = [block for block in blocks if block.shape[0]] or list(blocks[:1])
    if len(blocks) == 1:
        block = blocks[0]
        return block if scipy.sparse.issparse(block) else np.asarray(block)
    if any(scipy.sparse.issparse(block) for block in blocks):
        return scipy.sparse.vstack(blocks, format="csr")
    return np.concatenate([np.asarray(block) for block in blocks])


def _labels(blocks: Sequence[Any]) -> Any:
    """Return labels as one array; strings of data frames as NumPy's own."""
    values = _joined(blocks)
    if values.dtype == object and all(isinstance(value, str) for value in values.flat):
        return values.astype(str)
    return values


def runs(n: int, most: int) -> list[slice]:
    """Return at most `most` runs of `n` consecutive chunks, of about the same length."""
    count = max(min(n, most), 1)
    return [slice(i * n // count, (i + 1) * n // count) for i in range(count)]
