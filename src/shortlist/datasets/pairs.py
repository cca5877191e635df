"""Rows of ``labels index:value index:value``, in compiled code: what three formats share.

LIBSVM and XMLRepository write exactly this; Vowpal Wabbit writes ``labels | index:value``, and
leaves values of 1 out.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import BinaryIO, Literal, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist._arrays import as_integer
from shortlist._jit import inlined, kernel
from shortlist.datasets.builder import Builder, Header, LabelSets, SparseRows
from shortlist.datasets.classes import UNKNOWN, Classes
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.files import Block, Source
from shortlist.datasets.numbers import (
    HARD,
    NINE,
    NO_NUMBER,
    ZERO,
    number_texts,
    read_number,
    scan_number,
)

ZeroBased = bool | Literal["auto"]

_SPACE, _TAB, _RETURN, _NEWLINE, _HASH, _COLON, _COMMA, _BAR = b" \t\r\n#:,|"
_Q, _I, _D = b"qid"
_LARGEST_INDEX = np.iinfo(np.int32).max - 1
_LARGEST_LABEL = 2.0**53

# What can be wrong with a row.
_FINE, _BAD_LABEL, _BAD_INDEX, _BAD_VALUE, _REPEATED, _DESCENDING, _NO_BAR = range(7)
_WRONG = {
    _BAD_LABEL: "the label {} is not a number, or numbers with commas between them.",
    _BAD_INDEX: "{} is not a feature, written index:value with a whole index.",
    _BAD_VALUE: "the value of {} is not a number.",
    _REPEATED: "the index of {} occurs twice; each feature has one value.",
    _DESCENDING: "the index of {} is less than the one before it; sort the features of each row.",
    _NO_BAR: "there is no | between the label and the features.",
}


@inlined
def _is_blank(byte):
    return byte in (_SPACE, _TAB, _RETURN)


@kernel
def _to_line_end(data, i):
    while data[i] != _NEWLINE:
        i += 1
    return i


@kernel
def _is_query(data, i):
    """Whether ``qid:`` begins here, which SVMlight writes for ranking."""
    # A line's end is no part of it, so that no byte after the last one is looked at.
    return data[i] == _Q and data[i + 1] == _I and data[i + 2] == _D and data[i + 3] == _COLON


@kernel
def _scan(data, bar, blank_rows, labels, label_offsets, indices, values, offsets, starts, hard):
    """Read all rows; return what is wrong, where, and how many rows and hard numbers there are.

    Row `i` begins at ``starts[i]``. Hard numbers, which `float` must read, come as pairs: the
    place in `values`, or below zero in `labels`, and the position of the text.
    """
    i = n = n_labels = n_values = n_hard = 0
    label_offsets[0] = offsets[0] = 0
    while i < data.size:
        while _is_blank(data[i]):
            i += 1
        starts[n] = i
        if data[i] == _HASH or (data[i] == _NEWLINE and not blank_rows):
            i = _to_line_end(data, i) + 1
            continue
        while data[i] != _BAR and data[i] != _NEWLINE:
            value, after, kind = scan_number(data, i)
            if data[after] == _COLON and kind != NO_NUMBER and n_labels == label_offsets[n]:
                break  # the first feature of an example without labels
            ends = _is_blank(data[after]) or data[after] == _NEWLINE or data[after] == _HASH
            if kind == NO_NUMBER or not (ends or data[after] == _COMMA or data[after] == _BAR):
                return _BAD_LABEL, i, n, n_hard
            if kind == HARD:
                hard[n_hard, 0], hard[n_hard, 1] = -1 - n_labels, i
                n_hard += 1
            labels[n_labels] = value
            n_labels += 1
            i = after
            if data[i] != _COMMA:
                break
            i += 1
        if bar:
            while _is_blank(data[i]):
                i += 1
            if data[i] != _BAR or not (_is_blank(data[i + 1]) or data[i + 1] == _NEWLINE):
                return _NO_BAR, i, n, n_hard
            i += 1
        before = -1
        while True:
            while _is_blank(data[i]):
                i += 1
            if data[i] == _NEWLINE or data[i] == _HASH:
                break
            after, index = i, 0
            while ZERO <= data[after] <= NINE and index <= _LARGEST_INDEX:
                index = index * 10 + np.int64(data[after]) - ZERO
                after += 1
            has_value = data[after] == _COLON
            if after == i or index > _LARGEST_INDEX or not (has_value or bar):
                if after == i and not bar and _is_query(data, i):
                    while not (_is_blank(data[i]) or data[i] == _NEWLINE):
                        i += 1
                    continue
                return _BAD_INDEX, i, n, n_hard
            value = 1.0
            if has_value:
                first = after + 1
                value, after, kind = scan_number(data, first)
                if kind == NO_NUMBER:
                    return _BAD_VALUE, i, n, n_hard
                if kind == HARD:
                    hard[n_hard, 0], hard[n_hard, 1] = n_values, first
                    n_hard += 1
            if not (_is_blank(data[after]) or data[after] == _NEWLINE or data[after] == _HASH):
                return (_BAD_VALUE if has_value else _BAD_INDEX), i, n, n_hard
            if index <= before:
                return (_REPEATED if index == before else _DESCENDING), i, n, n_hard
            indices[n_values], values[n_values] = index, value
            before = index
            n_values += 1
            i = after
        i = _to_line_end(data, i) + 1
        n += 1
        label_offsets[n], offsets[n] = n_labels, n_values
    return _FINE, i, n, n_hard


class Rows(NamedTuple):
    """What a block of text holds."""

    features: SparseRows
    labels: NDArray[np.float64]
    label_offsets: NDArray[np.int64]
    block: Block
    starts: NDArray[np.int64]

    def line_of(self, row: int) -> int:
        """Return the line of a row."""
        return self.block.line_at(int(self.starts[row]))

    def line_of_value(self, place: int) -> int:
        """Return the line of a value of `features`."""
        return self.line_of(int(np.searchsorted(self.features.offsets, place, side="right")) - 1)

    def _line_of_label(self, place: int) -> int:
        return self.line_of(int(np.searchsorted(self.label_offsets, place, side="right")) - 1)

    def encoded(
        self, source: Source, classes: Classes, multilabel: bool | None
    ) -> NDArray[np.int64]:
        """Return the class numbers of the labels; refuse those that do not fit."""
        for place in np.flatnonzero(np.abs(self.labels) >= _LARGEST_LABEL)[:1]:
            raise source.error(
                "the label is 2^53 or more, where not all numbers are told apart; number the "
                "classes anew.",
                self._line_of_label(place),
            )
        codes = classes.encode_numbers(self.labels)
        for place in np.flatnonzero(codes == UNKNOWN)[:1]:
            label = number_texts([float(self.labels[place])])[0]
            raise source.error(
                f"the label {label} is none of the {classes.m} classes.",
                self._line_of_label(place),
            )
        counts = np.diff(self.label_offsets)
        if multilabel is False and (counts != 1).any():
            row = int(np.flatnonzero(counts != 1)[0])
            raise source.error(
                f"there are {counts[row]} labels; pass multilabel=True for sets of labels.",
                self.line_of(row),
            )
        return codes


def scan(source: Source, block: Block, *, bar: bool = False, blank_rows: bool = False) -> Rows:
    """Return the rows of a block.

    Parameters
    ----------
    source : Source
        The file, for errors.
    block : Block
        Lines of it.
    bar : bool
        Whether a | comes before the features.
    blank_rows : bool
        Whether an empty line is an example without labels and features, or nothing.
    """
    data = block.data
    text = np.frombuffer(data, np.uint8)
    n_lines, n_commas = _count(text, _NEWLINE), _count(text, _COMMA)
    most = _count(text, _SPACE) + _count(text, _TAB) if bar else _count(text, _COLON)
    labels = np.empty(n_lines + n_commas)
    label_offsets, offsets, starts = (np.empty(n_lines + 1, np.int64) for _ in range(3))
    indices, values = np.empty(most, np.int32), np.empty(most)
    # Memory that is not written to costs nothing, and few numbers are hard.
    hard = np.empty((most + labels.size, 2), np.int64)
    wrong, at, n, n_hard = _scan(
        text, bar, blank_rows, labels, label_offsets, indices, values, offsets, starts, hard
    )
    if wrong != _FINE:
        raise source.error(_WRONG[wrong].format(_quoted(data, at)), block.line_at(at))
    for place, start in hard[:n_hard].tolist():
        value = read_number(data, start)
        if place < 0:
            labels[-1 - place] = value
        else:
            values[place] = value
        if not np.isfinite(value):
            raise source.error(f"{_quoted(data, start)} is too large.", block.line_at(start))
    used = int(offsets[n])
    features = SparseRows(values[:used], indices[:used], offsets[: n + 1])
    return Rows(features, labels[: label_offsets[n]], label_offsets[: n + 1], block, starts)


def collect(
    rows: Iterable[Rows],
    source: Source,
    build: Builder,
    *,
    classes: Classes,
    n_features: int | None,
    zero_based: ZeroBased,
    multilabel: bool | None,
    feature_names: Classes | None = None,
) -> Dataset:
    """Return the data set of all rows of a file.

    `feature_names` gave the features their numbers, if they have names.
    """
    if feature_names is not None:
        zero_based = True
    if n_features is not None:
        n_features = as_integer(n_features, "n_features", 0)
    least, most, line_of_zero = _LARGEST_INDEX, -1, 0
    for part in rows:
        codes = part.encoded(source, classes, multilabel)
        indices = part.features.indices
        if indices.size:
            least, most = min(least, int(indices.min())), max(most, int(indices.max()))
        if least == 0 and not line_of_zero:
            line_of_zero = part.line_of_value(int(indices.argmin()))
            if zero_based is False:
                raise source.error("the index 0 occurs, and indices begin at 1.", line_of_zero)
        first_index = int(not line_of_zero) if zero_based == "auto" else 1 - zero_based
        if n_features is not None and most - first_index >= n_features:
            line = line_of_zero
            if indices.size and indices.max() == most:
                line = part.line_of_value(int(indices.argmax()))
            raise source.error(
                f"the index {most} is out of range; there are {n_features} features, "
                f"counted from {first_index}.",
                line,
            )
        build.add(part.features, LabelSets(codes, part.label_offsets))
    first_index = int(least > 0) if zero_based == "auto" else 1 - zero_based
    d = max(0, most + 1 - first_index) if n_features is None else n_features
    names = None
    if feature_names is not None:
        names = feature_names.so_far()
        d = len(names)
    return build.finish(Header(d, classes, multilabel, names, first_index))


def write_rows(
    stream: BinaryIO,
    dataset: Dataset,
    features: Sequence[str],
    labels: Sequence[str],
    between: str = " ",
    nothing: str = "",
) -> None:
    """Write all examples.

    Parameters
    ----------
    stream, dataset
        Where, and what.
    features, labels : sequence of str
        What stands for each feature, and for each class.
    between : str
        What stands between labels and features.
    nothing : str
        What stands for the features of an example without labels and features.
    """
    for part in dataset.parts():
        X = scipy.sparse.csr_array(part.X)
        values = number_texts(X.data.astype(np.float64).tolist())
        pairs = [
            f"{features[j]}:{value}" for j, value in zip(X.indices.tolist(), values, strict=True)
        ]
        ends = X.indptr.tolist()
        label_ends, chosen = (array.tolist() for array in part.label_sets())
        names = [labels[j] for j in chosen]
        lines = []
        for i in range(part.n):
            own = ",".join(names[label_ends[i] : label_ends[i + 1]])
            row = " ".join(pairs[ends[i] : ends[i + 1]])
            lines.append(f"{own}{between}{row if own or row else nothing}\n")
        stream.write("".join(lines).encode())


def index_texts(d: int, zero_based: bool) -> list[str]:
    """Return the number of each feature."""
    return [str(j + (not zero_based)) for j in range(d)]


def label_texts(class_names: Sequence[str]) -> Sequence[str]:
    """Return what stands for each class where labels must be numbers: names, or 1, 2, ..."""
    try:
        texts = number_texts(map(float, class_names))
    except ValueError:
        texts = []
    return texts if texts == list(class_names) else [str(j + 1) for j in range(len(class_names))]


def _count(text: NDArray[np.uint8], byte: int) -> int:
    """Count a byte; unlike `bytes.count`, no slower where there are many."""
    return int(np.count_nonzero(text == byte))


def _quoted(data: bytes, at: int) -> str:
    """Return the word that begins at a byte, short and printable, for an error."""
    word = data[at : at + 41].split(maxsplit=1)[0] if data[at : at + 41].strip() else b""
    shown = word[:40].decode(errors="replace")
    return repr(shown if len(word) <= 40 else shown + "...")
