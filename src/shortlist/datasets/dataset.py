"""What every reader returns and every writer takes."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

#: Examples are written this many numbers at a time, so that mapped ones need little memory.
_NUMBERS_AT_A_TIME = 1 << 20


class Dataset(NamedTuple):
    """Examples and their labels.

    Attributes
    ----------
    X : ndarray or csr_array, shape (n, d)
        One example a row; mapped into memory where the file can be.
    y : ndarray of int, shape (n,), or csr_array of bool, shape (n, m), or None
        Class numbers from 0; or the label sets, as `shortlist.solve` takes them; or None
        where the file has no labels.
    class_names : tuple of str
        The name of each class: the label as the file writes it.
    feature_names : tuple of str, optional
        The name of each column of `X`.
    source : str
        Where the data came from.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.datasets import Dataset
    >>> data = Dataset(np.eye(3), np.array([0, 1, 1]), class_names=("sea", "sun"))
    >>> data.n, data.d, data.m, data.multilabel
    (3, 3, 2, False)
    >>> data.take([2]).y
    array([1])
    """

    X: Any
    y: Any = None
    class_names: tuple[str, ...] = ()
    feature_names: tuple[str, ...] | None = None
    source: str = ""

    @property
    def n(self) -> int:
        """The number of examples."""
        return int(self.X.shape[0])

    @property
    def d(self) -> int:
        """The number of features."""
        return int(self.X.shape[1])

    @property
    def m(self) -> int:
        """The number of classes."""
        return len(self.class_names)

    @property
    def sparse(self) -> bool:
        """Whether `X` is sparse."""
        return scipy.sparse.issparse(self.X)

    @property
    def multilabel(self) -> bool:
        """Whether examples have sets of labels."""
        return scipy.sparse.issparse(self.y)

    @property
    def cardinality(self) -> float:
        """The mean number of labels of an example."""
        if self.y is None or self.n == 0:
            return 0.0
        return float(self.y.nnz) / self.n if self.multilabel else 1.0

    def take(self, examples: Any) -> Dataset:
        """Return some of the examples, with all classes."""
        y = None if self.y is None else self.y[examples]
        return self._replace(X=self.X[examples], y=y)

    def parts(self) -> Iterator[Dataset]:
        """Yield consecutive examples, a few megabytes at a time."""
        numbers = self.X.nnz if self.sparse else self.X.size
        width = max(1, numbers // max(1, self.n), self.m if self.multilabel else 1)
        step = max(1, _NUMBERS_AT_A_TIME // width)
        for first in range(0, self.n, step):
            yield self.take(slice(first, first + step))

    def label_sets(self) -> tuple[NDArray[Any], NDArray[Any]]:
        """Return offsets and indices of every example's labels."""
        if self.y is None:
            return np.zeros(self.n + 1, np.int64), np.zeros(0, np.int64)
        if self.multilabel:
            return self.y.indptr, self.y.indices
        return np.arange(self.n + 1), self.y


def checked(dataset: Dataset) -> Dataset:
    """Return a user's data set in the form that `Dataset` promises, or refuse it."""
    X, y, class_names, feature_names, source = dataset
    if scipy.sparse.issparse(X):
        X = scipy.sparse.csr_array(X)
        if not X.has_canonical_format:
            X = X.copy()
            X.sum_duplicates()
    else:
        X = np.asarray(X)
    if X.ndim != 2 or X.dtype.kind not in "fiub":
        raise ValueError(
            f"X has shape {X.shape} and dtype {X.dtype}; pass a matrix of real numbers."
        )
    place = first_not_finite(X.data if scipy.sparse.issparse(X) else X)
    if place is not None:
        raise ValueError("X has a NaN or an infinity; all elements must be finite.")
    y = _checked_labels(y, X.shape[0], len(class_names))
    class_names = _checked_names(class_names, "class")
    if feature_names is not None:
        feature_names = _checked_names(feature_names, "feature")
        if len(feature_names) != X.shape[1]:
            raise ValueError(
                f"there are {len(feature_names)} feature names for {X.shape[1]} columns of X."
            )
    return Dataset(X, y, class_names, feature_names, source)


def first_not_finite(values: NDArray[Any]) -> tuple[int, ...] | None:
    """Return where the first NaN or infinity is, without an array as large as `values`."""
    step = max(1, _NUMBERS_AT_A_TIME // max(1, values[:1].size))
    for first in range(0, len(values), step):
        wrong = np.argwhere(~np.isfinite(values[first : first + step]))
        if wrong.size:
            return (first + int(wrong[0, 0]), *map(int, wrong[0, 1:]))
    return None


def _checked_labels(y: Any, n: int, m: int) -> Any:
    if y is None:
        return None
    y = scipy.sparse.csr_array(y, dtype=bool) if np.ndim(y) == 2 else np.asarray(y)
    if y.shape[0] != n:
        raise ValueError(f"there are {n} examples, and labels for {y.shape[0]}.")
    if y.ndim == 2:
        if y.shape[1] != m:
            raise ValueError(f"there are {m} class names for {y.shape[1]} columns of y.")
        y.sum_duplicates()
        y.eliminate_zeros()
        return y
    if y.dtype.kind not in "iu":
        raise TypeError(f"labels have dtype {y.dtype}; pass class numbers, and class names.")
    outside = np.flatnonzero((y < 0) | (y >= m))
    if outside.size:
        at = int(outside[0])
        raise ValueError(f"y[{at}] is {y[at]}; there are {m} class names.")
    return y.astype(np.int64, copy=False)


def _checked_names(names: Any, what: str) -> tuple[str, ...]:
    names = tuple(map(str, names))
    if len(set(names)) < len(names):
        raise ValueError(f"two {what} names are equal; each needs its own.")
    for name in names:
        if not name or name != name.strip() or not name.replace(" ", "x").isprintable():
            raise ValueError(
                f"the {what} name {name!r} is empty, begins or ends with a space, or has "
                "characters that do not print; no file could keep it."
            )
    return names
