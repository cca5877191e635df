"""Data sets: files in every format that is usual here, the paper's sets by name, and generators.

>>> from shortlist import datasets
>>> train = datasets.load("digits")
>>> train.X.shape, train.m
((1200, 64), 10)

Every reader returns a `Dataset`, and every writer takes one.

================  ======================================  =====================================
format            suffixes                                labels
================  ======================================  =====================================
`libsvm`          ``.svm``, ``.libsvm``, ``.svmlight``    numbers, one or several
`vw`              ``.vw``                                 numbers, one or several
`arff`            ``.arff``                               one attribute, or Mulan's XML beside
`xmlrepository`   ``.txt``                                numbers from 0, one or several
`csv`             ``.csv``                                one column, or several of 0 and 1
`parquet`         ``.parquet``                            one column, or several of 0 and 1
`npz`             ``.npz``                                numbers, text, or a matrix
`npy`             ``.npy``, mapped into memory            ``a.labels.npy`` beside ``a.npy``
`mat`             ``.mat``, up to version 7               numbers from 1, or a matrix
`idx`             ``.idx``, ``...ubyte``                  a file of their own
`store`           ``.store``, a folder that is mapped     numbers from 0, one or several
================  ======================================  =====================================

Any of them may be compressed with xz, gz or bz2, the store apart. A damaged file raises
`DataError`, which names the file and the line.
"""

from __future__ import annotations

from shortlist.datasets.annotations import VOC_CLASSES, Annotations, read_coco, read_voc
from shortlist.datasets.catalog import load, names, splits
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.errors import DataError
from shortlist.datasets.formats import convert, formats, read, register, write
from shortlist.datasets.generators import (
    Circle,
    Estimate,
    GaussianMixture,
    OrthogonalGaussians,
    multilabel,
)

__all__ = [
    "VOC_CLASSES",
    "Annotations",
    "Circle",
    "DataError",
    "Dataset",
    "Estimate",
    "GaussianMixture",
    "OrthogonalGaussians",
    "convert",
    "formats",
    "load",
    "multilabel",
    "names",
    "read",
    "read_coco",
    "read_voc",
    "register",
    "splits",
    "write",
]
