"""Rows of numbers with a delimiter between them, in compiled code: what CSV and ARFF share.

Plain rows only: a row with quotation marks, or one that is damaged, is left to the parsers of
those formats, which know what to do or what to say.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._jit import inlined, kernel
from shortlist.datasets.files import Block, Source
from shortlist.datasets.numbers import HARD, NO_NUMBER, read_number, scan_number

#: What a column is: a number, a word to keep, or nothing of interest.
NUMBER, WORD, IGNORED = 0, 1, 2

_SPACE, _TAB, _RETURN, _NEWLINE, _QUOTE, _APOSTROPHE = b" \t\r\n\"'"


@inlined
def _after_blanks(data, i, delimiter):
    while data[i] in (_SPACE, _TAB, _RETURN) and data[i] != delimiter:
        i += 1
    return i


@kernel
def _scan(data, delimiter, kinds, values, words, starts, hard):
    """Read rows until one is not plain; return how many there are, and how many hard numbers.

    Row `i` begins at ``starts[i]``, and its word reaches from ``words[i, 0]`` to
    ``words[i, 1]``. Hard numbers come as triples: row, column and position.
    """
    i = n = n_hard = 0
    while i < data.size:
        i = _after_blanks(data, i, delimiter)
        if data[i] == _NEWLINE:
            i += 1
            continue
        starts[n] = i
        place = 0
        for column in range(kinds.size):
            i = _after_blanks(data, i, delimiter)
            if kinds[column] == NUMBER:
                value, after, kind = scan_number(data, i)
                if kind == NO_NUMBER:
                    return n, n_hard
                if kind == HARD:
                    hard[n_hard, 0], hard[n_hard, 1], hard[n_hard, 2] = n, place, i
                    n_hard += 1
                values[n, place] = value
                place += 1
                i = _after_blanks(data, after, delimiter)
            else:
                first = i
                while data[i] != delimiter and data[i] != _NEWLINE:
                    if data[i] in (_QUOTE, _APOSTROPHE):
                        return n, n_hard
                    i += 1
                if kinds[column] == WORD:
                    words[n, 0], words[n, 1] = first, i
            if data[i] != (_NEWLINE if column == kinds.size - 1 else delimiter):
                return n, n_hard
            i += 1
        n += 1
    return n, n_hard


class Rows(NamedTuple):
    """Some rows: their numbers, their words if a column has them, and their lines."""

    numbers: NDArray[np.float64]
    words: list[str]
    lines: list[int]


def plain_rows(
    source: Source,
    blocks: Iterator[Block],
    delimiter: str,
    kinds: NDArray[np.uint8],
    left: list[Block],
) -> Iterator[Rows]:
    """Yield rows until one is not plain.

    Parameters
    ----------
    source : Source
        The file, for errors.
    blocks : iterator of Block
        Lines of it.
    delimiter : str
        What stands between values.
    kinds : ndarray of uint8
        What each column is; one at most is a word.
    left : list
        Gets what is left of a block that is not plain to its end.
    """
    if len(delimiter.encode()) != 1:
        return
    for block in blocks:
        numbers, words, lines, at = _plain(block, delimiter, kinds)
        if lines:
            pairs = zip(words, lines, strict=False)  # there may be no words
            texts = [source.text(word, line).strip() for word, line in pairs]
            yield Rows(numbers, texts, lines)
        if block.data[at:].strip():
            left.append(Block(block.data[at:], block.line_at(at)))
            return


def _plain(
    block: Block, delimiter: str, kinds: NDArray[np.uint8]
) -> tuple[NDArray[np.float64], list[bytes], list[int], int]:
    """Return numbers, words and lines of the plain rows at the beginning, and where they end."""
    text = np.frombuffer(block.data, np.uint8)
    ends = np.flatnonzero(text == _NEWLINE)
    n_numbers = int((kinds == NUMBER).sum())
    # A row has a line, and a byte for each column at least. Memory that is not written to costs
    # nothing, and few numbers are hard.
    most = min(ends.size, text.size // kinds.size + 1)
    values, words = np.empty((most, n_numbers)), np.empty((most, 2), np.int64)
    starts, hard = np.empty(most + 1, np.int64), np.empty((most * n_numbers, 3), np.int64)
    n, n_hard = _scan(text, ord(delimiter), kinds, values, words, starts, hard)
    for row, place, start in hard[:n_hard].tolist():
        if row < n:
            values[row, place] = read_number(block.data, start)
            if np.isinf(values[row, place]):
                n = row  # too large, which the other parser says
    lines = np.searchsorted(ends, starts[:n])
    at = 0 if n == 0 else int(ends[lines[-1]]) + 1
    kept = [block.data[a:b] for a, b in words[:n].tolist()] if (kinds == WORD).any() else []
    return values[:n], kept, (lines + block.first_line).tolist(), at
