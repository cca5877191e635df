"""Tables "voc" and "coco" on features of image regions that a user supplies.

The paper extracts, with ResNet-152, about 500 (VOC) or 140 (COCO) feature vectors of each image;
each is trained on with the image's labels, and the scores of an image are the largest of its
regions. Two archives of NumPy, for training and for testing, each with the arrays

    X        (regions, 2048)  feature vectors
    image    (regions,)       to which image each belongs, numbered from 0
    Y        (images, m)      1 where a label holds, 0 where not, -1 where it is difficult
    single   (images,)        the label of the largest object

    python -m paper.regions voc2007 train.npz test.npz
    python -m paper.regions coco train.npz test.npz

Difficult labels (VOC) count as absent. `shortlist.datasets.annotations` reads both sets'
annotations, and gives the label of the largest object.
"""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import scipy.sparse

from paper.methods import MULTILABEL, SINGLE_LABEL
from paper.record import Record
from paper.single_label import CS, Images, cell

ABSENT = ("voc2007", "coco")
_ARRAYS = ("X", "image", "Y", "single")


def read(file: str | Path) -> Images:
    """Return the images of an archive, their regions side by side."""
    with np.load(file, allow_pickle=False) as archive:
        absent = [name for name in _ARRAYS if name not in archive.files]
        if absent:
            raise ValueError(f"{file} has no array {absent[0]!r}; it needs {', '.join(_ARRAYS)}.")
        X, image, Y, single = (archive[name] for name in _ARRAYS)
    if not np.array_equal(np.unique(image), np.arange(len(Y))):
        raise ValueError(
            f"image in {file} must name each of the {len(Y)} images of Y at least once, from 0 on."
        )
    if single.shape != (len(Y),) or not (Y[np.arange(len(Y)), single] == 1).all():
        raise ValueError(f"single in {file} must name a label that holds, for each image of Y.")
    order = np.argsort(image, kind="stable")
    return Images(X[order], image[order], scipy.sparse.csr_array(Y == 1), single.astype(np.int64))


def run(
    name: str, train: Images, test: Images, Cs: Sequence[float] = CS, folder: Path | None = None
) -> Record:
    """Compute the cells that are missing."""
    record = Record(name, folder)
    for method in [*SINGLE_LABEL, *MULTILABEL]:
        record.cell(f"{method.key}/0", lambda m=method: cell(train, test, m, Cs))
    return record


def main(arguments: Sequence[str] | None = None) -> Record:
    """Read the files, and compute the cells that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("name", choices=ABSENT)
    parser.add_argument("train")
    parser.add_argument("test")
    given = parser.parse_args(arguments)
    return run(given.name, read(given.train), read(given.test))


if __name__ == "__main__":
    main()
