"""CSV: numbers with commas between them, the labels in a column or in columns of 0 and 1."""

from __future__ import annotations

import csv
import io
import itertools
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.datasets.builder import Builder
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.dense import plain_rows
from shortlist.datasets.files import Block, PathOrStream, Source, create
from shortlist.datasets.numbers import as_float, as_floats, number_texts
from shortlist.datasets.tables import LabelColumns, Table, column_names

_ROWS_AT_A_TIME = 1000


def read(
    source: Source,
    build: Builder,
    *,
    labels: LabelColumns = "label",
    classes: Iterable[Any] | None = None,
    ignore: Iterable[str | int] = (),
    header: bool = True,
    delimiter: str = ",",
) -> Dataset:
    """Read CSV.

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
    header : bool
        Whether the first line names the columns.
    delimiter : str
        What stands between values.
    """
    head, blocks = source.head(lambda line: bool(line.strip()))
    _, first = next(_lines(source, delimiter, head), (1, []))
    if not first:
        raise source.error("there is no line to read.", 1)
    names = [name.strip() for name in first] if header else None
    table = Table(source, build, names, len(first), labels=labels, ignore=ignore, classes=classes)
    if not header:
        number, line = head[-1]
        blocks = itertools.chain([Block(f"{line}\n".encode(), number)], blocks)
    left: list[Block] = []
    for rows in plain_rows(source, blocks, delimiter, table.kinds, left):
        table.add(*rows)
    lines = _lines(source, delimiter, source.lines(itertools.chain(left, blocks)))
    while some := list(itertools.islice(lines, _ROWS_AT_A_TIME)):
        table.add(*_columns(source, table, some, len(first)))
    return table.finish()


def _columns(
    source: Source, table: Table, rows: list[tuple[int, list[str]]], width: int
) -> tuple[NDArray[np.float64], list[str], list[int]]:
    """Return the numbers, the classes and the line numbers of some rows."""
    numbers, class_names = np.empty((len(rows), len(table.numeric))), []
    for i, (line, row) in enumerate(rows):
        if len(row) != width:
            raise source.error(f"there are {len(row)} values for {width} columns.", line)
        words = [row[j] for j in table.numeric]
        try:
            numbers[i] = as_floats(words)
        except ValueError:
            raise source.error(_not_a_number(table, words), line) from None
        if table.class_column is not None:
            class_names.append(row[table.class_column].strip())
    return numbers, class_names, [line for line, _ in rows]


def _lines(
    source: Source, delimiter: str, lines: Iterable[tuple[int, str]]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the number and the words of each row that is not empty."""
    number = 1

    def texts() -> Iterator[str]:
        nonlocal number
        for number, line in lines:  # noqa: B007
            yield line + "\n"

    reader = csv.reader(texts(), delimiter=delimiter, strict=True)
    while True:
        try:
            row = next(reader, None)
        except csv.Error as error:
            raise source.error(f"it is not CSV ({error}).", number) from None
        if row is None:
            return
        if row:
            yield number, row


def _not_a_number(table: Table, words: list[str]) -> str:
    for column, word in zip(table.numeric, words, strict=True):
        try:
            as_float(word)
        except ValueError:
            where = f"column {table.name_of(column)}"
            if not word.strip():
                return f"{where} is empty; fill it in, or ignore the column."
            return (
                f"{where} is {word[:40]!r}, not a finite number; ignore the column, or encode it."
            )
    raise AssertionError("all are numbers")


def write(path: PathOrStream, dataset: Dataset, *, label: str = "label") -> None:
    """Write CSV with a header; label sets become columns of 0 and 1 after the features.

    Parameters
    ----------
    path, dataset
        Where, and what.
    label : str
        The column of the class, where examples have one label.
    """
    names = column_names(dataset, label)
    with create(path) as stream:
        text = io.TextIOWrapper(stream, "utf-8", newline="")
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(names)
        for part in dataset.parts():
            X = part.X.toarray() if part.sparse else part.X
            rows = [number_texts(row) for row in X.astype(np.float64).tolist()]
            if part.multilabel:
                labels = part.y.toarray().astype(int).tolist()
                rows = [row + marks for row, marks in zip(rows, labels, strict=True)]
            elif part.y is not None:
                rows = [[*row, part.class_names[j]] for row, j in zip(rows, part.y, strict=True)]
            writer.writerows(rows)
        text.flush()
        text.detach()  # or it would close a stream of the caller's
