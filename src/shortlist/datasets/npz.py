"""NumPy archives: the examples `X`, the labels `y`, and the names of classes and features.

Sparse examples are `X_data`, `X_indices`, `X_indptr` and `X_shape`; label sets are `y_indices`
and `y_indptr`. Arrays of other programs are read by the names they have.
"""

from __future__ import annotations

import numpy as np

from shortlist.datasets.arrays import damage, from_arrays, matrix_of
from shortlist.datasets.builder import Builder
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.files import PathOrStream, Source, create


def read(source: Source, build: Builder, *, features: str = "X", labels: str = "y") -> Dataset:
    """Read a NumPy archive; pickled objects are refused.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    features, labels : str
        The arrays that hold the examples, and the labels: numbers, text, or a matrix of 0 and
        1. A file without the latter has no labels.
    """
    with damage(source, "npz"), np.load(source.seekable(), allow_pickle=False) as archive:
        arrays = {name: archive[name] for name in archive.files}
    X, y = arrays.get(features), arrays.get(labels)
    names = {key: arrays[key].ravel() for key in ("class_names", "feature_names") if key in arrays}
    sparse = [arrays.get(f"{features}_{part}") for part in ("data", "indices", "indptr", "shape")]
    if all(part is not None for part in sparse):
        X = matrix_of(source, *sparse)
    if X is None:
        raise source.error(f"it has no array {features!r}, but {', '.join(arrays)}.")
    indices, offsets = arrays.get(f"{labels}_indices"), arrays.get(f"{labels}_indptr")
    if indices is not None and offsets is not None:
        shape = (X.shape[0], len(names.get("class_names", ())))
        y = matrix_of(source, np.ones(indices.shape, bool), indices, offsets, shape)
    return from_arrays(source, build, X, y, **names)


def write(path: PathOrStream, dataset: Dataset, *, compress: bool = False) -> None:
    """Write a NumPy archive.

    Parameters
    ----------
    path, dataset
        Where, and what.
    compress : bool
        Whether to compress it inside.
    """
    X, y = dataset.X, dataset.y
    if dataset.sparse:
        arrays = {f"X_{part}": getattr(X, part) for part in ("data", "indices", "indptr", "shape")}
    else:
        arrays = {"X": X}
    if dataset.multilabel:
        arrays |= {"y_indices": y.indices, "y_indptr": y.indptr}
    elif y is not None:
        arrays["y"] = y
    if y is not None:
        arrays["class_names"] = np.array(dataset.class_names, dtype=str)
    if dataset.feature_names is not None:
        arrays["feature_names"] = np.array(dataset.feature_names, dtype=str)
    with create(path, seekable=True) as stream:
        (np.savez_compressed if compress else np.savez)(stream, **arrays)
