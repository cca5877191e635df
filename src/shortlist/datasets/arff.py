"""ARFF with dense or sparse rows; label sets as Mulan writes them, with the labels in XML.

Attributes are numeric, or nominal with numbers for values. Labels are those attributes that
the XML file names, or that the caller does: several with values 0 and 1, or one nominal
attribute whose values are the classes.
"""

from __future__ import annotations

import itertools
import os
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, NamedTuple
from xml.sax.saxutils import quoteattr

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist.datasets import xml
from shortlist.datasets.builder import Builder, Header, LabelSets, SparseRows
from shortlist.datasets.classes import UNKNOWN, Classes
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.dense import NUMBER, WORD, plain_rows
from shortlist.datasets.files import Block, PathOrStream, Source, create, plain_name
from shortlist.datasets.numbers import as_float, as_floats, number_texts

_ROWS_AT_A_TIME = 1000
_WORD = re.compile(r"""\s*(?:'((?:[^'\\]|\\.)*)'|"((?:[^"\\]|\\.)*)"|([^\s,{}]+))\s*""")
_QUOTED = r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*\""""
_PAIR = re.compile(rf"\s*([0-9]{{1,9}})\s+({_QUOTED}|[^\s'\"]+)\s*")
_BETWEEN_COMMAS = re.compile(rf"(?:{_QUOTED}|[^,'\"])+")
_PLAIN = re.compile(r"[A-Za-z0-9_.+/-]+")
_XML_HEAD = """<?xml version="1.0" encoding="utf-8"?>
<labels xmlns="http://mulan.sourceforge.net/labels">
"""
_ESCAPES = {"n": "\n", "r": "\r", "t": "\t"}
_NUMERIC = ("numeric", "real", "integer")


class _Attribute(NamedTuple):
    """A column: its name, its nominal values, and where it is declared."""

    name: str
    values: tuple[str, ...] | None
    line: int


def read(
    source: Source,
    build: Builder,
    *,
    labels: str | os.PathLike[str] | Iterable[str] | None = None,
) -> Dataset:
    """Read ARFF.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    labels : str, path or iterable of str, optional
        The XML file of Mulan that names the labels; or the attributes that are labels, for
        label sets; or the one attribute that is the class; or ``()`` if there are no labels.
        By default the XML file beside: ``a.xml`` for ``a.arff`` or ``a-train.arff``. Labels
        are numbered in the order of the attributes.
    """
    head, blocks = source.head(lambda line: _keyword(line)[0] == "@data")
    attributes = list(_declared(source, head))
    by_name = {attribute.name: j for j, attribute in enumerate(attributes)}
    if len(by_name) < len(attributes):
        twice = next(a for j, a in enumerate(attributes) if by_name[a.name] != j)
        raise source.error(f"the attribute {twice.name!r} is declared twice.", twice.line)
    names = _label_names(source, labels)
    for name in [names] if isinstance(names, str) else names:
        if name not in by_name:
            raise source.error(f"there is no attribute {name!r}, which is said to be a label.")
    if isinstance(names, str):
        reader = _Reader(source, attributes, by_name[names], [])
    else:
        # As Mulan does, whatever the order of the XML file.
        reader = _Reader(source, attributes, None, sorted(by_name[name] for name in names))
    return reader.read(blocks, build)


def _keyword(line: str) -> tuple[str, str]:
    """Return the first word of a line, in small letters, and the rest."""
    first, *rest = line.split(maxsplit=1) or [""]
    return first.lower(), rest[0] if rest else ""


def _declared(source: Source, head: list[tuple[int, str]]) -> Iterator[_Attribute]:
    """Yield the attributes; the last line must be @data."""
    keyword, number = "", 0
    for number, line in head:
        keyword, rest = _keyword(line)
        if keyword == "@attribute":
            yield _attribute(source, rest, number)
        elif keyword not in ("", "@relation", "@data") and not keyword.startswith("%"):
            raise source.error(f"{keyword!r} is not part of an ARFF header.", number)
    if keyword != "@data":
        raise source.error("the file ends before the line @data.", number)


def _attribute(source: Source, text: str, number: int) -> _Attribute:
    name = _WORD.match(text)
    if name is None:
        raise source.error("an attribute needs a name and a type.", number)
    kind = text[name.end() :].strip()
    if kind.lower() in _NUMERIC:
        return _Attribute(_unquoted(name), None, number)
    if kind.startswith("{") and kind.endswith("}"):
        values = tuple(value.strip() for value in _words(source, kind[1:-1], number))
        return _Attribute(_unquoted(name), values, number)
    raise source.error(
        f"the attribute {_unquoted(name)!r} is {kind!r}; numbers or {{values}} are served.", number
    )


def _unquoted(word: re.Match[str]) -> str:
    quoted = word[1] if word[1] is not None else word[2]
    if quoted is None:
        return word[3]
    return re.sub(r"\\(.)", lambda m: _ESCAPES.get(m[1], m[1]), quoted)


def _words(source: Source, text: str, number: int) -> list[str]:
    """Return what stands between commas, without quotes, perhaps with spaces around it."""
    if "'" not in text and '"' not in text:
        return text.split(",")
    words, at = [], 0
    while True:
        word = _WORD.match(text, at)
        if word is None or (word.end() < len(text) and text[word.end()] != ","):
            raise source.error("a value or its quotation mark is missing.", number)
        words.append(_unquoted(word))
        if word.end() == len(text):
            return words
        at = word.end() + 1


def _pairs(text: str) -> tuple[list[str], list[str]]:
    """Return columns and values of a sparse row, or lists of different lengths if it is none."""
    if "'" not in text and '"' not in text:
        words = text.replace(",", " ").split()
        return words[::2], words[1::2] if len(words) == 2 * (text.count(",") + 1) else []
    pieces = _BETWEEN_COMMAS.findall(text)
    pairs = [pair for piece in pieces if (pair := _PAIR.fullmatch(piece))]
    whole = len(pairs) == len(pieces) and ",".join(pieces) == text
    words = [_unquoted(word) for pair in pairs if (word := _WORD.fullmatch(pair[2]))]
    return [pair[1] for pair in pairs], words if whole else []


def _label_names(source: Source, labels: Any) -> str | list[str]:
    """Return the attributes that are labels, or the one that is the class."""
    if labels is None:
        found = _xml_beside(source)
        if found is None:
            raise source.error(
                "there is no XML file beside it that names the labels; pass labels=, the "
                "attributes that are labels, or the one that is the class."
            )
        return _names_in_xml(found)
    if isinstance(labels, os.PathLike) or (
        isinstance(labels, str) and plain_name(labels).endswith(".xml")
    ):
        return _names_in_xml(Source(labels))
    return labels if isinstance(labels, str) else [str(name) for name in labels]


def _xml_beside(source: Source) -> Source | None:
    stem = plain_name(source.name).removesuffix(".arff")
    while stem:
        found = source.beside(f"{stem}.xml")
        if found is not None:
            return found
        stem = stem.rpartition("-")[0]
    return None


def _names_in_xml(source: Source) -> list[str]:
    names = []
    for element in xml.parse(source).walk():
        if element.tag == "label":
            if "name" not in element.attributes:
                raise source.error("a label has no name.", element.line)
            names.append(element.attributes["name"])
    if not names or len(set(names)) < len(names):
        raise source.error("it names no label, or one of them twice.")
    return names


#: Numbers, dense or sparse, the classes if there is one for each row, and lines.
_Rows = tuple[Any, list[str], list[int]]


class _Reader:
    """Reads the rows of a file whose attributes are known.

    Parameters
    ----------
    source : Source
        The file, for errors.
    attributes : list
        Those declared.
    class_column : int, optional
        The one attribute that is the class.
    label_columns : list of int
        Or those that are labels, with values 0 and 1.
    """

    def __init__(
        self,
        source: Source,
        attributes: list[_Attribute],
        class_column: int | None,
        label_columns: list[int],
    ) -> None:
        self.source = source
        self.n_declared = len(attributes)
        self.class_column = class_column
        self.numeric = list(attributes)
        if class_column is None:
            self.classes = Classes(attributes[j].name for j in label_columns)
            self.left_out = ""
        else:
            values = self.numeric.pop(class_column).values
            self.classes = Classes(values)
            self.left_out = values[0] if values else "0"  # by sparse rows
        self.is_label = np.zeros(len(self.numeric), bool)
        self.is_label[label_columns] = True
        #: The place of each attribute among the features or among the labels.
        self.place = np.where(self.is_label, 0, np.cumsum(~self.is_label) - 1).astype(np.int32)
        self.place[label_columns] = np.arange(len(label_columns))
        self.label_columns = label_columns
        self.nominal = self._nominal()

    def _nominal(self) -> dict[tuple[float, ...], NDArray[np.bool_]]:
        """Return the attributes that have each list of values."""
        nominal: dict[tuple[float, ...], NDArray[np.bool_]] = {}
        for column, (name, texts, line) in enumerate(self.numeric):
            if texts is None:
                continue
            try:
                values = tuple(as_floats(list(texts)))
            except ValueError:
                raise self.source.error(
                    f"the values of {name!r} are not numbers; encode them as numbers.", line
                ) from None
            mask = nominal.setdefault(values, np.zeros(len(self.numeric), bool))
            mask[column] = True
        return nominal

    def read(self, blocks: Iterator[Block], build: Builder) -> Dataset:
        """Return the data set."""
        for numbers, class_names, line_numbers in self._parts(blocks):
            sparse = isinstance(numbers, SparseRows)
            self._check_values(numbers, line_numbers)
            if sparse:
                X = self._kept(numbers, ~self.is_label[numbers.indices])
                marks = self.is_label[numbers.indices] & (numbers.values == 1.0)
                Y = self._kept(numbers, marks)
            else:
                X = numbers[:, ~self.is_label]
                marked = scipy.sparse.csr_array(numbers[:, self.label_columns])
                Y = SparseRows(marked.data, marked.indices, marked.indptr)
            labels = None
            if self.class_column is not None:
                labels = self._encoded(class_names, line_numbers)
            elif self.label_columns:
                labels = LabelSets(Y.indices.astype(np.int64), Y.offsets)
            build.add(X, labels)
        names = tuple(self.numeric[j].name for j in np.flatnonzero(~self.is_label))
        return build.finish(Header(len(names), self.classes, bool(self.label_columns), names))

    def _kept(self, numbers: SparseRows, mask: NDArray[np.bool_]) -> SparseRows:
        """Return the numbers of some attributes, counted among their kind."""
        ends = np.concatenate([[0], np.cumsum(mask)])[numbers.offsets]
        return SparseRows(numbers.values[mask], self.place[numbers.indices[mask]], ends)

    def _encoded(self, names: list[str], line_numbers: list[int]) -> LabelSets:
        codes = self.classes.encode(names)
        unknown = np.flatnonzero(codes == UNKNOWN)
        if unknown.size:
            row = unknown[0]
            raise self.source.error(f"the class {names[row]!r} is not declared.", line_numbers[row])
        return LabelSets(codes, np.arange(len(codes) + 1))

    def _check_values(self, numbers: Any, line_numbers: list[int]) -> None:
        """Refuse values that are not declared, and labels that are neither 0 nor 1."""
        sparse = isinstance(numbers, SparseRows)
        for allowed, columns in [*self.nominal.items(), ((0.0, 1.0), self.is_label)]:
            if sparse:
                wrong = columns[numbers.indices] & ~np.isin(numbers.values, allowed)
                rows = np.searchsorted(numbers.offsets, np.flatnonzero(wrong), side="right") - 1
            else:
                rows = np.flatnonzero(~np.isin(numbers[:, columns], allowed).all(axis=1))
            if rows.size:
                values = ", ".join(number_texts(allowed))
                raise self.source.error(
                    f"an attribute whose values are {values} has another.", line_numbers[rows[0]]
                )

    def _parts(self, blocks: Iterator[Block]) -> Iterator[_Rows]:
        """Yield numbers, classes and line numbers of some rows at a time."""
        kinds = np.full(self.n_declared, NUMBER, np.uint8)
        if self.class_column is not None:
            kinds[self.class_column] = WORD
        left: list[Block] = []
        sparse = None
        for rows in plain_rows(self.source, blocks, ",", kinds, left):
            sparse = False
            yield rows
        yield from self._other_parts(self.source.lines(itertools.chain(left, blocks)), sparse)

    def _other_parts(
        self, lines: Iterator[tuple[int, str]], sparse: bool | None
    ) -> Iterator[_Rows]:
        """Yield the same, of rows that are not plain; whether rows are sparse may be known."""
        rows: list[tuple[list[int], list[float]]] = []
        class_names: list[str] = []
        line_numbers: list[int] = []
        for number, line in lines:
            line = line.strip()
            if not line or line.startswith("%"):
                continue
            if sparse is None:
                sparse = line.startswith("{")
                if sparse:
                    self._check_zeros()
            elif sparse != line.startswith("{"):
                raise self.source.error("rows with and without {} are mixed.", number)
            columns, words = self._split(line, number)
            if self.class_column is not None:
                class_names.append(self._take_class(columns, words))
            try:
                rows.append((columns, as_floats(words)))
            except ValueError:
                raise self.source.error(self._not_a_number(columns, words), number) from None
            line_numbers.append(number)
            if len(rows) == _ROWS_AT_A_TIME:
                yield _joined(rows, sparse), class_names, line_numbers
                rows, class_names, line_numbers = [], [], []
        if rows:
            yield _joined(rows, bool(sparse)), class_names, line_numbers

    def _check_zeros(self) -> None:
        """Refuse what would be wrong silently: sparse rows leave out the first nominal value."""
        for values, columns in self.nominal.items():
            if values[0] != 0.0:
                attribute = self.numeric[int(np.flatnonzero(columns)[0])]
                raise self.source.error(
                    f"sparse rows leave out the first value of {attribute.name!r}, which is "
                    f"{values[0]}; declare 0 first.",
                    attribute.line,
                )

    def _split(self, line: str, number: int) -> tuple[list[int], list[str]]:
        """Return the columns and the values of a row."""
        error, width = self.source.error, self.n_declared
        if not line.startswith("{"):
            words = _words(self.source, line, number)
            if len(words) != width:
                raise error(f"there are {len(words)} values for {width} attributes.", number)
            return list(range(width)), words
        if not line.endswith("}"):
            raise error("the row has no } at its end.", number)
        if not line[1:-1].strip():
            return [], []
        places, words = _pairs(line[1:-1])
        joined = "".join(places)
        if not (joined.isdecimal() and joined.isascii()) or len(places) != len(words):
            raise error("a row in {} is made of columns and values, with commas.", number)
        columns = list(map(int, places))
        if max(columns) >= width:
            raise error(
                f"column {max(columns)} is out of range; there are {width}, counted from 0.", number
            )
        if any(a >= b for a, b in itertools.pairwise(columns)):
            raise error("columns occur twice, or do not ascend.", number)
        return columns, words

    def _take_class(self, columns: list[int], words: list[str]) -> str:
        """Take the class out of a row, and count the columns after it one less."""
        column = self.class_column
        assert column is not None
        found = self.left_out
        if column in columns:
            found = words.pop(columns.index(column)).strip()
            columns.remove(column)
        columns[:] = [other - (other > column) for other in columns]
        return found

    def _not_a_number(self, columns: list[int], words: list[str]) -> str:
        for column, word in zip(columns, words, strict=True):
            try:
                as_float(word)
            except ValueError:
                name = self.numeric[column].name
                if word.strip() == "?":
                    return f"the value of {name!r} is missing; fill it in."
                return f"the value {word!r} of {name!r} is not a finite number."
        raise AssertionError("all are numbers")


def _joined(rows: list[tuple[list[int], list[float]]], sparse: bool) -> Any:
    if not sparse:
        return np.array([values for _, values in rows], np.float64)
    return SparseRows(
        np.array([value for _, values in rows for value in values], np.float64),
        np.array([column for columns, _ in rows for column in columns], np.int32),
        np.cumsum([0, *(len(columns) for columns, _ in rows)], dtype=np.int64),
    )


def write(path: PathOrStream, dataset: Dataset, *, class_name: str = "class") -> None:
    """Write ARFF, with sparse rows where `X` is sparse.

    Label sets become attributes with values 0 and 1 after the features, and the XML file that
    names them is written beside, as Mulan wants it.

    Parameters
    ----------
    path, dataset
        Where, and what.
    class_name : str
        The attribute for the class, where examples have one label.
    """
    names = list(dataset.feature_names or (f"x{j}" for j in range(dataset.d)))
    types = ["numeric"] * dataset.d
    if dataset.multilabel:
        names += dataset.class_names
        types += ["{0,1}"] * dataset.m
    elif dataset.y is not None:
        names.append(class_name)
        types.append("{" + ",".join(map(_quoted, dataset.class_names)) + "}")
    if len(set(names)) < len(names):
        raise ValueError("a class and a feature have the same name; rename one of them.")
    with create(path) as stream:
        lines = [
            f"@attribute {_quoted(name)} {kind}\n" for name, kind in zip(names, types, strict=True)
        ]
        stream.write("".join(["@relation shortlist\n\n", *lines, "\n@data\n"]).encode())
        for part in dataset.parts():
            stream.write("".join(_row_texts(part)).encode())
    if dataset.multilabel and isinstance(path, (str, os.PathLike)):
        labels = [f"<label name={quoteattr(name)}></label>\n" for name in dataset.class_names]
        with create(Path(path).with_name(plain_name(path).removesuffix(".arff") + ".xml")) as xml:
            xml.write("".join([_XML_HEAD, *labels, "</labels>\n"]).encode())


def _row_texts(dataset: Dataset) -> Iterator[str]:
    """Yield the lines of some rows."""
    ends, labels = (array.tolist() for array in dataset.label_sets())
    class_texts = list(map(_quoted, dataset.class_names))
    if dataset.sparse:
        X = scipy.sparse.csr_array(dataset.X)
        values = number_texts(X.data.astype(np.float64).tolist())
        indices, offsets = X.indices.tolist(), X.indptr.tolist()
        for i in range(dataset.n):
            row = range(offsets[i], offsets[i + 1])
            pairs = [f"{indices[j]} {values[j]}" for j in row]
            own = labels[ends[i] : ends[i + 1]]
            if dataset.multilabel:
                pairs += [f"{dataset.d + label} 1" for label in own]
            elif own:
                pairs.append(f"{dataset.d} {class_texts[own[0]]}")
            yield f"{{{','.join(pairs)}}}\n"
        return
    for i, row in enumerate(dataset.X.astype(np.float64).tolist()):
        words = number_texts(row)
        own = labels[ends[i] : ends[i + 1]]
        if dataset.multilabel:
            marks = ["0"] * dataset.m
            for label in own:
                marks[label] = "1"
            words += marks
        elif own:
            words.append(class_texts[own[0]])
        yield ",".join(words) + "\n"


def _quoted(name: str) -> str:
    """Return a name as ARFF writes it, in quotes unless it is a plain word."""
    if _PLAIN.fullmatch(name):
        return name
    return "'" + name.replace("\\", "\\\\").replace("'", "\\'") + "'"
