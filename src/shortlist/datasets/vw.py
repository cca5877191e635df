"""Vowpal Wabbit text: ``label | feature:value feature``, one example a line.

A feature without a value has the value 1. Features are numbers, or names that count from the
first that occurs; those of a namespace are called ``namespace^feature``, as Vowpal Wabbit does.
A tag is passed over. An importance other than 1 is refused, as data sets here have no weights.
"""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from shortlist.datasets import pairs
from shortlist.datasets.builder import Builder, SparseRows
from shortlist.datasets.classes import UNKNOWN, Classes
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.errors import DataError
from shortlist.datasets.files import Block, PathOrStream, Source, create
from shortlist.datasets.numbers import as_float

_FIRST_FEATURE = re.compile(rb"\|[^\s|]*[ \t]+([^\s:|]+)")
_UNFIT = re.compile(r"[\s:|]")


def read(
    source: Source,
    build: Builder,
    *,
    classes: Iterable[Any] | None = None,
    feature_names: Iterable[str] | None = None,
    n_features: int | None = None,
    zero_based: pairs.ZeroBased = "auto",
    multilabel: bool | None = None,
) -> Dataset:
    """Read Vowpal Wabbit text.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    classes : iterable, optional
        The labels of all classes, in order; by default those that occur, sorted.
    feature_names : iterable of str, optional
        The names of all features, in order; by default those that occur, unless the first
        feature of the file is a number.
    n_features : int, optional
        The number of features, where they are numbers; by default the largest decides.
    zero_based : bool or "auto"
        Whether such numbers count from 0; "auto" says so if a 0 occurs.
    multilabel : bool, optional
        Whether examples have label sets; by default so if one has not exactly one label.
    """
    blocks = source.blocks()
    first = next(blocks, Block(b"", 1))
    names = None
    found = _FIRST_FEATURE.search(first.data)
    if feature_names is not None or (found is not None and not found[1].isdigit()):
        names = Classes(feature_names)

    def rows() -> Iterator[pairs.Rows]:
        for block in itertools.chain([first], blocks):
            if names is None:
                try:
                    yield pairs.scan(source, block, bar=True)
                    continue
                except DataError:
                    pass  # perhaps a tag, which only the parser below understands
            yield _parse(source, block, names)

    return pairs.collect(
        rows(),
        source,
        build,
        classes=Classes(classes),
        n_features=n_features,
        zero_based=zero_based,
        multilabel=multilabel,
        feature_names=names,
    )


def _parse(source: Source, block: Block, names: Classes | None) -> pairs.Rows:
    """Return the rows of a block, with all that Vowpal Wabbit allows."""
    labels: list[float] = []
    indices: list[int] = []
    values: list[float] = []
    label_ends, ends, starts = [0], [0], []
    start = 0
    for number, data in enumerate(block.data.split(b"\n")[:-1], block.first_line):
        line = source.text(data, number)
        if line.strip():
            try:
                labels += _labels(line)
                pairs_of_line = sorted(_features(line, names))
            except _LineError as error:
                raise source.error(str(error), number) from None
            for index, value in pairs_of_line:
                if len(indices) > ends[-1] and indices[-1] == index:
                    raise source.error("a feature occurs twice; each has one value.", number)
                indices.append(index)
                values.append(value)
            starts.append(start)
            label_ends.append(len(labels))
            ends.append(len(indices))
        start += len(data) + 1
    features = SparseRows(
        np.array(values, np.float64), np.array(indices, np.int32), np.array(ends, np.int64)
    )
    offsets = np.array(label_ends, np.int64)
    return pairs.Rows(features, np.array(labels), offsets, block, np.array(starts, np.int64))


class _LineError(ValueError):
    """What is wrong with a line."""


def _number(text: str, what: str) -> float:
    try:
        return as_float(text)
    except ValueError:
        raise _LineError(f"{what} {text!r} is not a finite number.") from None


def _labels(line: str) -> list[float]:
    """Return the labels of a line."""
    before, bar, _ = line.partition("|")
    if not bar:
        raise _LineError("there is no | between the label and the features.")
    words = before.split()
    if words and (words[-1].startswith("'") or not before[-1].isspace()) and len(words) > 1:
        words.pop()  # a tag
    if len(words) > 1 and _number(words[1], "the importance") != 1.0:
        raise _LineError(
            f"the importance is {words[1]}; data sets here have no weights: remove it."
        )
    if len(words) > 2:
        raise _LineError(f"{words[2]!r} before the | is no label, importance or tag.")
    return [_number(label, "the label") for label in words[0].split(",")] if words else []


def _features(line: str, names: Classes | None) -> Iterator[tuple[int, float]]:
    """Yield index and value of every feature of a line."""
    for group in line.split("|")[1:]:
        words = group.split()
        namespace, scale = "", 1.0
        if group[:1].strip():
            namespace, colon, text = words.pop(0).partition(":")
            scale = _number(text, "the scale of a namespace") if colon else 1.0
        for word in words:
            name, colon, text = word.partition(":")
            value = _number(text, f"the value of {name!r}") if colon else 1.0
            full = f"{namespace}^{name}" if namespace else name
            if names is not None:
                index = int(names.encode([full])[0])
                if index == UNKNOWN:
                    raise _LineError(
                        f"the feature {full!r} is none of the {names.m} feature names."
                    )
            elif full.isdecimal() and full.isascii() and len(full) < 10:
                index = int(full)
            else:
                raise _LineError(f"the feature {full!r} is not a number, and the first one is.")
            yield index, scale * value


def write(path: PathOrStream, dataset: Dataset, *, zero_based: bool = False) -> None:
    """Write Vowpal Wabbit text; classes whose names are no numbers become 1, 2, ...

    Features are written by name if all names can be read back, else as numbers.

    Parameters
    ----------
    path, dataset
        Where, and what.
    zero_based : bool
        Whether such numbers count from 0.
    """
    features: Sequence[str] = dataset.feature_names or ()
    if not features or any(_UNFIT.search(name) or name.isdecimal() for name in features):
        features = pairs.index_texts(dataset.d, zero_based)
    with create(path) as stream:
        labels = pairs.label_texts(dataset.class_names)
        pairs.write_rows(stream, dataset, features, labels, " | ")
