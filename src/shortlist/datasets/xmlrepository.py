"""Text of the Extreme Classification Repository: LIBSVM's rows after a line ``n d m``.

Labels and indices count from 0, and an empty line is an example without either.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from shortlist.datasets import pairs
from shortlist.datasets.builder import Builder
from shortlist.datasets.classes import Classes
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.files import PathOrStream, Source, create

_SIZE = re.compile("[0-9]{1,9}")


def read(source: Source, build: Builder, *, multilabel: bool = True) -> Dataset:
    """Read XMLRepository text; the number of classes is the file's.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    multilabel : bool
        Whether examples have label sets, or one label each.
    """
    head, blocks = source.head(lambda line: True)
    words = head[0][1].split() if head else []
    if len(words) != 3 or not all(map(_SIZE.fullmatch, words)):
        raise source.error(
            "the first line must say how many examples, features and labels there are; "
            "for LIBSVM text pass format='libsvm'.",
            1,
        )
    n, d, m = map(int, words)

    def rows() -> Iterator[pairs.Rows]:
        n_read, last_line = 0, 1
        for block in blocks:
            part = pairs.scan(source, block, blank_rows=True)
            n_read += len(part.label_offsets) - 1
            last_line = block.line_at(len(block.data))
            yield part
        if n_read != n:
            raise source.error(f"there are {n_read} examples; line 1 says {n}.", last_line)

    return pairs.collect(
        rows(),
        source,
        build,
        classes=Classes(range(m)),
        n_features=d,
        zero_based=True,
        multilabel=multilabel,
    )


def write(path: PathOrStream, dataset: Dataset) -> None:
    """Write XMLRepository text, with the numbers of the classes as labels.

    Parameters
    ----------
    path, dataset
        Where, and what.
    """
    with create(path) as stream:
        stream.write(f"{dataset.n} {dataset.d} {dataset.m}\n".encode())
        features, labels = (pairs.index_texts(size, True) for size in (dataset.d, dataset.m))
        pairs.write_rows(stream, dataset, features, labels)
