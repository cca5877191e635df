"""Data as a user names them: a file, a known set, or the standard input."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse
from numpy.typing import NDArray

from shortlist import datasets
from shortlist.datasets import DataError, Dataset
from shortlist.datasets.catalog import drawn_by_class
from shortlist.datasets.files import plain_name
from shortlist.model_selection import IterativeStratifiedKFold

#: A sparse matrix with a larger share of numbers is faster as a dense one.
_DENSE = 0.25
#: Formats whose features have numbers, which need not all occur in every file.
_NUMBERED = ("libsvm", "vw")
_TABLES = ("csv", "parquet")
#: An integer of 64 bits, as it is written.
_INTEGER = re.compile(r"0|-?[1-9][0-9]{0,17}")
_HELD_OUT = 5  # one example of so many


class Known(NamedTuple):
    """What a model remembers of the data it was trained on, so that others are read alike."""

    format: str | None = None
    options: Mapping[str, Any] = {}
    n_features: int | None = None
    feature_names: tuple[str, ...] | None = None
    multilabel: bool | None = None

    @classmethod
    def of(cls, model: Any, trained_on: Mapping[str, Any]) -> Known:
        """Return what there is to know."""
        names = trained_on.get("feature_names")
        return cls(
            trained_on.get("format"),
            trained_on.get("read_options", {}),
            model.n_features_in_,
            None if names is None else tuple(names),
            model._target_form != "single",
        )


def parse_options(words: list[str] | None) -> dict[str, Any]:
    """Return options from NAME=VALUE; a value that is no JSON is text."""
    options = {}
    for word in words or []:
        name, sign, value = word.partition("=")
        if not sign or not name:
            raise ValueError(f"the option {word!r} has no value; write NAME=VALUE.")
        try:
            options[name] = json.loads(value)
        except ValueError:
            options[name] = value
    return options


def format_of(word: str, given: str | None) -> str | None:
    """Return the name of a file's format, or None where it cannot be told."""
    if given is not None or word == "-":
        return given
    name = plain_name(word).lower()
    return next((f for f, ends in datasets.formats().items() if name.endswith(ends)), None)


def is_file(word: str, given: str | None) -> bool:
    """Return whether a word means a file, there or not, and no known set."""
    return word == "-" or format_of(word, given) is not None or Path(word).exists()


def read_training(
    word: str, given: str | None, options: dict[str, Any]
) -> tuple[Dataset, dict[str, Any]]:
    """Return examples to train on, and what a model must remember of them."""
    file_format = format_of(word, given)
    if file_format in _NUMBERED and word != "-" and "zero_based" not in options:
        # Whether indices begin at 0 is decided here, once and for all files to come.
        try:
            options = {**options, "zero_based": False}
            data = read_any(word, given, options)
        except DataError:
            options = {**options, "zero_based": True}
            data = read_any(word, given, options)
    else:
        data = read_any(word, given, options)
    _need_labels(data)
    about = {
        "source": data.source,
        "n": data.n,
        "d": data.d,
        "m": data.m,
        "format": file_format,
        "read_options": options,
        "feature_names": None if data.feature_names is None else list(data.feature_names),
    }
    return compact(data), about


def read_alike(
    word: str, given: str | None, options: dict[str, Any], known: Known, labels: bool
) -> Dataset:
    """Return examples for a model, read as its own were; `labels` says whether they need any."""
    file_format = format_of(word, given)
    # Of other formats an option may be a path, which is not for a stranger's model to choose.
    if file_format in (*_NUMBERED, *_TABLES) and file_format == known.format:
        options = {**known.options, **options}
    if file_format in _NUMBERED:
        options.setdefault("n_features", known.n_features)
    if file_format == "vw" and known.feature_names is not None:
        options.setdefault("feature_names", known.feature_names)
        del options["n_features"]
    if labels and file_format in _NUMBERED:
        options.setdefault("multilabel", known.multilabel)
    try:
        data = read_any(word, given, options)
    except DataError as error:
        if labels or file_format not in _TABLES or word == "-":
            raise
        try:  # a table may have no labels
            data = read_any(word, given, {**options, "labels": None})
        except DataError:
            raise error from None
    if labels:
        _need_labels(data)
    return compact(_in_order(data, known))


def train_and_test(
    word: str, given: str | None, data: Dataset, about: Mapping[str, Any], test: str | None
) -> tuple[Dataset, Dataset]:
    """Return examples to train on and others to measure on: those there are, or a fifth."""
    others = read_others(word, given, data, about, test)
    if others is not None:
        return data, others
    held_out = np.zeros(data.n, bool)
    if data.multilabel:
        folds = IterativeStratifiedKFold(_HELD_OUT, shuffle=True, random_state=0)
        held_out[next(iter(folds.split(data.X, data.y.toarray())))[1]] = True
    else:
        held_out = drawn_by_class(data.y, data.n // _HELD_OUT)
    rest = data.take(held_out)._replace(source=f"a fifth of {data.source}, held out")
    return data.take(~held_out), rest


def read_others(
    word: str, given: str | None, data: Dataset, about: Mapping[str, Any], test: str | None
) -> Dataset | None:
    """Return examples to measure on: those that the user names, or a known set's split "test"."""
    if test is None and not is_file(word, given) and "test" in datasets.splits(word.split(":")[0]):
        test = f"{word.split(':')[0]}:test"
    if test is None:
        return None
    names = about["feature_names"]
    known = Known(
        about["format"],
        about["read_options"],
        data.d,
        None if names is None else tuple(names),
        data.multilabel,
    )
    return read_alike(test, None, {}, known, labels=True)


def read_any(word: str, given: str | None, options: Mapping[str, Any]) -> Dataset:
    """Return a file's data, those of a known set, or of the standard input."""
    if word == "-":
        return datasets.read(sys.stdin.buffer, given, **options)
    if is_file(word, given):
        return datasets.read(word, given, **options)
    if options:
        raise ValueError(f"{word} is read as a known set, which takes no options.")
    name, _, split = word.partition(":")
    return datasets.load(name, split or "train")


def _need_labels(data: Dataset) -> None:
    if data.y is None:
        raise ValueError(f"{data.source} has no labels.")


def _in_order(data: Dataset, known: Known) -> Dataset:
    """Return the columns in the model's order, where both have names."""
    names, own = known.feature_names, data.feature_names
    if names is None or own is None or names == own:
        return data
    missing = sorted(set(names) - set(own))
    if missing:
        raise ValueError(f"{data.source} has no feature {missing[0]!r}, which the model needs.")
    place = {name: j for j, name in enumerate(own)}
    columns = [place[name] for name in names]
    return data._replace(X=data.X[:, columns], feature_names=names)


def compact(data: Dataset) -> Dataset:
    """Return a data set whose matrix is dense if it is hardly sparse."""
    if data.sparse and data.X.nnz > _DENSE * data.n * data.d:
        return data._replace(X=data.X.toarray())
    return data


def labels_of(data: Dataset) -> tuple[Any, NDArray[Any]]:
    """Return y as an estimator takes it, and the classes: the labels as the file writes them.

    Classes are integers if all of them are, else text, and in sorted order.
    """
    names = np.array(data.class_names)
    if all(map(_INTEGER.fullmatch, data.class_names)):
        names = names.astype(np.int64)
    order = np.argsort(names)
    if data.multilabel:
        return scipy.sparse.csr_array(data.y[:, order]).astype(np.int64), names[order]
    return names[data.y], names[order]


def aligned(data: Dataset, model: Any) -> Any:
    """Return the labels of a data set as numbers of a model's classes, or as its columns."""
    single = model._target_form == "single"
    if single and data.multilabel:
        raise ValueError(f"{data.source} has label sets, and the model gives one label an example.")
    place = {str(name): j for j, name in enumerate(model.classes_.tolist())}
    columns = np.array([place.get(name, -1) for name in data.class_names], np.int64)
    offsets, indices = data.label_sets()
    numbers = columns[indices]
    strange = np.flatnonzero(numbers < 0)
    if strange.size:
        name = data.class_names[indices[strange[0]]]
        raise ValueError(f"{data.source} has the label {name!r}, which the model does not know.")
    if single:
        return numbers
    ones = np.ones(numbers.size, np.int64)
    return scipy.sparse.csr_array((ones, numbers, offsets), (data.n, model.classes_.size))
