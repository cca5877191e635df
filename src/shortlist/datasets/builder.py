"""Data sets from consecutive parts: what a reader fills while it goes through a file.

A reader adds the examples as it meets them and says at the end what only the end can tell: how
many features and classes there are. So the same reader serves memory (`Builder`) and disk
(`store.StoreBuilder`).
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.datasets.classes import Classes
from shortlist.datasets.dataset import Dataset


class SparseRows(NamedTuple):
    """Rows of a sparse matrix whose width is not known yet."""

    values: NDArray[Any]
    indices: NDArray[np.int32]
    offsets: NDArray[np.int64]


class LabelSets(NamedTuple):
    """The labels of consecutive examples, numbered by a `Classes`."""

    codes: NDArray[np.int64]
    offsets: NDArray[np.int64]


class Header(NamedTuple):
    """What the end of a file tells."""

    d: int
    classes: Classes
    multilabel: bool | None = None  # None: whether an example has not exactly one label
    feature_names: tuple[str, ...] | None = None
    first_index: int = 0  # of the features in the file


class Builder:
    """Collects a data set in memory."""

    def __init__(self, source: str) -> None:
        self.source = source
        self.n = 0
        self.one_label_each = True
        self._rows: list[Any] = []
        self._labels: list[LabelSets] = []

    def add(self, rows: Any, labels: LabelSets | None) -> None:
        """Add consecutive examples, dense or `SparseRows`, and their labels, if they have any."""
        self.n += len(rows.offsets) - 1 if isinstance(rows, SparseRows) else len(rows)
        self._rows.append(rows)
        if labels is not None:
            self._labels.append(labels)
            self.one_label_each &= bool((np.diff(labels.offsets) == 1).all())

    def finish(self, header: Header) -> Dataset:
        """Return the whole data set."""
        class_names, renumber = header.classes.finish()
        y = None
        if self._labels and (class_names or header.multilabel):
            codes = renumber[np.concatenate([part.codes for part in self._labels])]
            y = codes
            if self.is_multilabel(header):
                y = label_matrix(codes, _joined(self._labels), len(class_names))
        return Dataset(self._matrix(header), y, class_names, header.feature_names, self.source)

    def is_multilabel(self, header: Header) -> bool:
        """Whether the examples have label sets."""
        return not self.one_label_each if header.multilabel is None else header.multilabel

    def _matrix(self, header: Header) -> Any:
        rows = self._rows
        if rows and not isinstance(rows[0], SparseRows):
            return rows[0] if len(rows) == 1 else np.concatenate(rows)
        if not rows:
            return scipy.sparse.csr_array((0, header.d))
        indices = np.concatenate([part.indices for part in rows])
        if header.first_index:
            indices -= header.first_index
        values, offsets = np.concatenate([part.values for part in rows]), _joined(rows)
        return csr(values, indices, offsets, header.d)


def _joined(parts: list[Any]) -> NDArray[np.int64]:
    """Return the offsets of parts that follow each other."""
    lengths = np.concatenate([np.diff(part.offsets) for part in parts])
    return np.concatenate([[0], np.cumsum(lengths)]).astype(np.int64)


def csr(values: Any, indices: Any, offsets: Any, width: int) -> scipy.sparse.csr_array:
    """Return a CSR matrix with indices of 32 bits where they are enough; peers want those."""
    if offsets[-1] <= np.iinfo(np.int32).max:
        offsets = offsets.astype(np.int32)
    return scipy.sparse.csr_array((values, indices, offsets), shape=(len(offsets) - 1, width))


def label_matrix(codes: Any, offsets: Any, m: int) -> scipy.sparse.csr_array:
    """Return label sets as a matrix of 0 and 1; a label named twice counts once."""
    matrix = csr(np.ones(len(codes), bool), codes.astype(np.int32), offsets, m)
    matrix.sum_duplicates()
    return matrix
