"""MATLAB files up to version 7: `X`, `y` or `Y`, `class_names` and `feature_names`."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist.datasets.arrays import damage, from_arrays
from shortlist.datasets.builder import Builder
from shortlist.datasets.dataset import Dataset
from shortlist.datasets.files import PathOrStream, Source, create


def read(
    source: Source,
    build: Builder,
    *,
    features: str = "X",
    labels: str | None = None,
    class_names: str = "class_names",
) -> Dataset:
    """Read a MATLAB file.

    Parameters
    ----------
    source, build
        The file, and what takes its examples.
    features : str
        The matrix with an example a row.
    labels : str, optional
        The vector of labels, or the matrix of 0 and 1; by default `y` or `Y`, if it is there.
    class_names : str
        A cell array of names; labels then count from 1, as MATLAB does.
    """
    import scipy.io

    with damage(source, "MATLAB"):
        try:
            arrays = scipy.io.loadmat(source.seekable())
        except NotImplementedError:
            raise source.error("it is of version 7.3; save it with -v7 in MATLAB.") from None
    names = [name for name in arrays if not name.startswith("__")]
    for needed in (features, *([] if labels is None else [labels])):
        if needed not in names:
            raise source.error(f"it has no array {needed!r}, but {', '.join(names)}.")
    return from_arrays(
        source,
        build,
        arrays[features],
        arrays[labels] if labels is not None else arrays.get("y", arrays.get("Y")),
        class_names=_texts(arrays.get(class_names)),
        feature_names=_texts(arrays.get("feature_names")),
        first_class=1,
    )


def _texts(cells: Any) -> list[str] | None:
    """Return a cell array of text, or a matrix of characters, as texts."""
    if cells is None:
        return None
    texts = (np.asarray(cell).ravel() for cell in np.asarray(cells).ravel())
    return [str(text[0]).strip() if text.size else "" for text in texts]


def write(path: PathOrStream, dataset: Dataset) -> None:
    """Write a MATLAB file of version 5, compressed, as MATLAB and Octave read it.

    Parameters
    ----------
    path, dataset
        Where, and what; classes count from 1.
    """
    import scipy.io

    arrays: dict[str, Any] = {"X": dataset.X}
    if dataset.multilabel:
        arrays["Y"] = dataset.y.astype(np.float64)
    elif dataset.y is not None:
        arrays["y"] = dataset.y[:, None] + 1
    for key in ("class_names", "feature_names"):
        names = getattr(dataset, key)
        if names:
            arrays[key] = np.array(names, dtype=object)
    with create(path, seekable=True) as stream:
        scipy.io.savemat(stream, arrays, do_compression=True, oned_as="column")
