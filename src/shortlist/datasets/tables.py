"""Columns with names, of which some are labels: what CSV and Parquet share."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.datasets.builder import Builder, Header, LabelSets
from shortlist.datasets.classes import UNKNOWN, Classes
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.dense import IGNORED, NUMBER, WORD
from shortlist.datasets.files import Source

#: Which columns are labels: one is the class, several are 0 or 1.
LabelColumns = str | int | Iterable[str | int] | None


class Table:
    """Sorts the columns of a table into features and labels, and its rows into a data set.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    names : list of str, optional
        The names of the columns; by default they have numbers only.
    width : int
        The number of columns.
    labels : str, int, iterable or None
        The column that is the class, or those that are labels.
    ignore : iterable
        Those to leave out.
    classes : iterable, optional
        The classes in order.
    """

    def __init__(
        self,
        source: Source,
        build: Builder,
        names: list[str] | None,
        width: int,
        *,
        labels: LabelColumns,
        ignore: Iterable[str | int],
        classes: Iterable[Any] | None,
    ) -> None:
        self._source, self._build, self._names = source, build, names
        if names is not None and len(set(names)) < len(names):
            raise source.error("two columns have the same name.")
        self.class_column: int | None = None
        label_columns: list[int] = []
        if isinstance(labels, (str, int)):
            self.class_column = self._column(labels, width)
        elif labels is not None:
            label_columns = [self._column(label, width) for label in labels]
        left_out = {self._column(column, width) for column in ignore} | {self.class_column}
        #: The columns that are numbers: features, and labels that are 0 or 1.
        self.numeric = [j for j in range(width) if j not in left_out]
        #: What each column is, for `dense.plain_rows`.
        self.kinds = np.full(width, IGNORED, np.uint8)
        self.kinds[self.numeric] = NUMBER
        if self.class_column is not None:
            self.kinds[self.class_column] = WORD
        self._is_label = np.isin(self.numeric, label_columns)
        self._labels = [self.numeric.index(j) for j in label_columns]
        if label_columns:
            classes = [self.name_of(j) for j in label_columns]
        self._classes = Classes(classes)

    def _column(self, column: str | int, width: int) -> int:
        if isinstance(column, int) and -width <= column < width:
            return column % width
        if isinstance(column, str) and self._names is not None and column in self._names:
            return self._names.index(column)
        columns = f"0 to {width - 1}"
        if self._names is not None:
            columns = ", ".join(self._names[:20]) + (", ..." if width > 20 else "")
        raise self._source.error(f"there is no column {column!r}; its columns are {columns}.")

    def name_of(self, column: int) -> str:
        """Return the name of a column, or its number."""
        return str(column) if self._names is None else self._names[column]

    def add(self, numbers: NDArray[Any], class_names: list[str], lines: Any) -> None:
        """Add rows: their numbers, the text in the class column if there is one, and lines."""
        labels = None
        if self.class_column is not None:
            if "" in class_names:
                where = lines[class_names.index("")]
                raise self._source.error("there is no class; fill it in, or remove the row.", where)
            codes = self._classes.encode(class_names)
            for row in np.flatnonzero(codes == UNKNOWN)[:1]:
                raise self._source.error(
                    f"the class {class_names[row]!r} is none of the {self._classes.m} classes.",
                    lines[row],
                )
            labels = LabelSets(codes, np.arange(len(codes) + 1))
        elif self._labels:
            marks = numbers[:, self._labels]
            for row in np.flatnonzero(((marks != 0) & (marks != 1)).any(axis=1))[:1]:
                raise self._source.error("a label is neither 0 nor 1.", lines[row])
            sets = scipy.sparse.csr_array(marks)
            labels = LabelSets(sets.indices.astype(np.int64), sets.indptr.astype(np.int64))
        self._build.add(numbers[:, ~self._is_label], labels)

    def finish(self) -> Dataset:
        """Return the data set of all rows."""
        features = [j for j, label in zip(self.numeric, self._is_label, strict=True) if not label]
        names = None if self._names is None else tuple(self._names[j] for j in features)
        if not self._build.n:
            self.add(np.empty((0, len(self.numeric))), [], [])
        return self._build.finish(Header(len(features), self._classes, bool(self._labels), names))


def column_names(dataset: Dataset, label: str) -> list[str]:
    """Return the names of the columns that a data set becomes; `label` is that of the class."""
    names = list(dataset.feature_names or (f"x{j}" for j in range(dataset.d)))
    if dataset.multilabel:
        names += dataset.class_names
    elif dataset.y is not None:
        names.append(label)
    if len(set(names)) < len(names):
        raise ValueError("a label and a feature have the same name; rename one of them.")
    return names
