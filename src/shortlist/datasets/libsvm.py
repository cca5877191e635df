"""LIBSVM and SVMlight text: ``label index:value index:value``, one example a line.

Several labels have commas between them, none is an empty word, and ``# ...`` is a comment.
Indices ascend, and the word ``qid:...`` of SVMlight is passed over.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from shortlist.datasets import pairs
from shortlist.datasets.builder import Builder
from shortlist.datasets.classes import Classes
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.files import PathOrStream, Source, create


def read(
    source: Source,
    build: Builder,
    *,
    classes: Iterable[Any] | None = None,
    n_features: int | None = None,
    zero_based: pairs.ZeroBased = "auto",
    multilabel: bool | None = None,
) -> Dataset:
    """Read LIBSVM text.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    classes : iterable, optional
        The labels of all classes, in order; by default those that occur, sorted.
    n_features : int, optional
        The number of features; by default the largest index decides.
    zero_based : bool or "auto"
        Whether indices count from 0; "auto" says so if an index 0 occurs.
    multilabel : bool, optional
        Whether examples have label sets; by default so if one has not exactly one label.
    """
    return pairs.collect(
        (pairs.scan(source, block) for block in source.blocks()),
        source,
        build,
        classes=Classes(classes),
        n_features=n_features,
        zero_based=zero_based,
        multilabel=multilabel,
    )


def write(path: PathOrStream, dataset: Dataset, *, zero_based: bool = False) -> None:
    """Write LIBSVM text; classes whose names are no numbers become 1, 2, ...

    Parameters
    ----------
    path, dataset
        Where, and what.
    zero_based : bool
        Whether indices count from 0.
    """
    with create(path) as stream:
        features = pairs.index_texts(dataset.d, zero_based)
        labels = pairs.label_texts(dataset.class_names)
        # An empty line would be no example.
        nothing = f"{features[0]}:0" if features else ""
        pairs.write_rows(stream, dataset, features, labels, nothing=nothing)
