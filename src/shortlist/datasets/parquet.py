"""Parquet: columns with names, the labels in one of them or in columns of 0 and 1."""

from __future__ import annotations

from collections.abc import Iterable
from types import ModuleType
from typing import Any

import numpy as np

from shortlist.datasets.arrays import damage
from shortlist.datasets.builder import Builder
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.files import PathOrStream, Source, create
from shortlist.datasets.tables import LabelColumns, Table, column_names

_ROWS_AT_A_TIME = 1 << 14


def _pyarrow() -> tuple[ModuleType, ModuleType]:
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise ImportError(
            "Parquet files need pyarrow: pip install 'shortlist[datasets]'."
        ) from None
    return pyarrow, pyarrow.parquet


def read(
    source: Source,
    build: Builder,
    *,
    labels: LabelColumns = "label",
    classes: Iterable[Any] | None = None,
    ignore: Iterable[str | int] = (),
) -> Dataset:
    """Read Parquet, some rows at a time.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    labels : str, int or iterable, optional
        The column of the class, by name or number; or a list of columns that are 0 or 1, for
        label sets; or None if there are no labels.
    classes : iterable, optional
        The classes in a column, in order; by default those that occur, sorted.
    ignore : iterable of str or int
        Columns to leave out.
    """
    _, parquet = _pyarrow()
    with damage(source, "Parquet"):
        file = parquet.ParquetFile(source.plain_path or source.seekable())
        names = file.schema_arrow.names
        table = Table(
            source, build, names, len(names), labels=labels, ignore=ignore, classes=classes
        )
        first = 1
        for batch in file.iter_batches(_ROWS_AT_A_TIME):
            numbers = np.empty((batch.num_rows, len(table.numeric)))
            for place, column in enumerate(table.numeric):
                numbers[:, place] = _numbers(source, batch.column(column), names[column], first)
            class_names: list[str] = []
            if table.class_column is not None:
                column = batch.column(table.class_column)
                _refuse_nulls(source, column, names[table.class_column], first)
                class_names = [str(value) for value in column.to_pylist()]
            table.add(numbers, class_names, range(first, first + batch.num_rows))
            first += batch.num_rows
        return table.finish()


def _refuse_nulls(source: Source, column: Any, name: str, first: int) -> None:
    if column.null_count:
        row = first + int(np.flatnonzero(column.is_null().to_numpy(zero_copy_only=False))[0])
        raise source.error(f"column {name} is empty; fill it in, or ignore the column.", row)


def _numbers(source: Source, column: Any, name: str, first: int) -> Any:
    _refuse_nulls(source, column, name, first)
    values = column.to_numpy(zero_copy_only=False)
    if values.dtype.kind not in "fiub":
        raise source.error(
            f"column {name} holds {column.type}, not numbers; ignore the column, or encode it."
        )
    for row in np.flatnonzero(~np.isfinite(values))[:1]:
        raise source.error(f"column {name} is {values[row]}; fill it in.", first + int(row))
    return values


def write(path: PathOrStream, dataset: Dataset, *, label: str = "label") -> None:
    """Write Parquet; sparse examples become dense, label sets columns of 0 and 1.

    Parameters
    ----------
    path, dataset
        Where, and what.
    label : str
        The column of the class, where examples have one label.
    """
    pyarrow, parquet = _pyarrow()
    names = column_names(dataset, label)
    with create(path, seekable=True) as stream:
        writer = None
        for part in dataset.parts():
            X = part.X.toarray() if part.sparse else part.X
            columns = [pyarrow.array(np.ascontiguousarray(column)) for column in X.T]
            if part.multilabel:
                columns += map(pyarrow.array, part.y.toarray().astype(np.uint8).T)
            elif part.y is not None:
                columns.append(pyarrow.array([part.class_names[j] for j in part.y]))
            table = pyarrow.table(columns, names=names)
            writer = writer or parquet.ParquetWriter(stream, table.schema)
            writer.write_table(table)
        if writer is None:
            raise ValueError("there is no example to write.")
        writer.close()
