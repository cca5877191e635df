"""A user's y: names of classes outside, `Labels` inside."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray
from sklearn.utils import assert_all_finite, column_or_1d
from sklearn.utils.multiclass import check_classification_targets

from shortlist.losses.labels import Labels, as_labels


class Target(NamedTuple):
    """The labels of all examples, with the names of the classes."""

    labels: Labels
    classes: NDArray[Any]
    form: str  # "single": one label an example; "dense" or "sparse": label sets

    @property
    def is_single(self) -> bool:
        """Whether y has one label an example."""
        return self.form == "single"


class Examples(NamedTuple):
    """What a model is trained on."""

    X: Any
    target: Target
    weights: NDArray[np.float64]

    def take(self, some: NDArray[np.int64]) -> Examples:
        """Return some of the examples."""
        labels = self.target.labels.take(some)
        return Examples(self.X[some], self.target._replace(labels=labels), self.weights[some])


def is_label_sets(y: Any) -> bool:
    """Return whether y has a set of labels for each example: a matrix, or a list of lists."""
    if scipy.sparse.issparse(y) or _is_lists(y):
        return True
    shape = np.asarray(y).shape
    return len(shape) == 2 and shape[1] > 1


def _is_lists(y: Any) -> bool:
    """Return whether y is a sequence of collections of labels.

    Lists of zeros and ones, all of one length, are an indicator matrix, as in scikit-learn.
    """
    if not isinstance(y, Sequence) or isinstance(y, str | bytes) or len(y) == 0:
        return False
    if not all(isinstance(row, Iterable) and not isinstance(row, str | bytes) for row in y):
        return False
    lengths = {len(list(row)) for row in y}
    if len(lengths) > 1 or lengths <= {0, 1}:
        return True
    return any(label not in (0, 1) for row in y for label in row)


def read_single(y: Any, classes: NDArray[Any] | None = None) -> Target:
    """Return one label an example; of given classes, or of those that occur."""
    values = column_or_1d(y, warn=True)
    if values.dtype.kind == "f":
        assert_all_finite(values, input_name="y")
    check_classification_targets(values)
    if classes is None:
        classes, numbers = np.unique(values, return_inverse=True)
        if classes.size < 2:
            raise ValueError(f"y has one class, {classes.tolist()[0]!r}; at least two are needed.")
    else:
        numbers = _positions(values, classes, "y")
    return Target(as_labels(numbers.astype(np.int64), classes.size), classes, "single")


def read_sets(y: Any, classes: NDArray[Any] | None = None) -> Target:
    """Return label sets: of a dense or sparse indicator matrix, or of lists of labels."""
    if _is_lists(y):
        return _from_lists(y, classes)
    form = "sparse" if scipy.sparse.issparse(y) else "dense"
    matrix = scipy.sparse.csr_array(y if form == "sparse" else np.asarray(y))
    odd = np.flatnonzero((matrix.data != 0) & (matrix.data != 1))
    if odd.size:
        raise ValueError(f"Y has an element {matrix.data[odd[0]]}; an indicator is 0 or 1.")
    labels = as_labels(matrix, None if classes is None else classes.size)
    return Target(labels, np.arange(labels.m) if classes is None else classes, form)


def _from_lists(y: Any, classes: NDArray[Any] | None) -> Target:
    rows = [list(row) for row in y]
    flat = [label for row in rows for label in row]
    values = np.asarray(flat, None if flat or classes is None else classes.dtype)
    if values.ndim != 1:
        raise ValueError("Y is a list of lists of lists; pass one list of labels an example.")
    if classes is None:
        classes = np.unique(values)
        if not classes.size:
            raise ValueError("no example has a label; there is nothing to learn.")
    numbers = _positions(values, classes, "Y")
    ends = np.cumsum([len(row) for row in rows])
    sets = np.split(numbers, ends[:-1])
    return Target(as_labels([row.tolist() for row in sets], classes.size), classes, "dense")


def _positions(values: NDArray[Any], classes: NDArray[Any], name: str) -> NDArray[np.int64]:
    at = np.searchsorted(classes, values)
    at[at == classes.size] = 0
    strange = np.flatnonzero(classes[at] != values)
    if strange.size:
        raise ValueError(
            f"{name} has the label {values[strange].tolist()[0]!r}, which was not trained."
        )
    return at.astype(np.int64)
