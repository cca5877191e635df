"""What a model says all over the plane, for examples with two features."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray, as_k
from shortlist.metrics.inputs import read_labels
from shortlist.metrics.responses import class_scores
from shortlist.report.records import Regions

#: Directions around a circle, and cells along each side of a square.
_DIRECTIONS, _CELLS = 1440, 96
#: Examples that are drawn at most.
_POINTS = 240
#: Radii that differ by less, relatively, are equal.
_ROUNDING = 1e-6


def regions(model: Any, X: Any, y: Any, *, k: int = 2) -> Regions:
    """Return what a model says of all points of the plane: the best class to the k-th best.

    Parameters
    ----------
    model : estimator
        A fitted classifier of two features.
    X : array_like, shape (n, 2)
        Examples to draw; some hundred are.
    y : array_like
        Their labels, one an example: classes of the model.
    k : int
        How many ranks.

    Returns
    -------
    Regions
        For `plot_regions`. Where all examples lie on a circle around the origin, as in the
        paper's synthetic data, only the direction counts.

    Examples
    --------
    >>> from shortlist import TopKClassifier, datasets, report
    >>> circle = datasets.load("circle")
    >>> model = TopKClassifier("softmax").fit(circle.X, circle.y)
    >>> found = report.regions(model, circle.X, circle.y)
    >>> found.form, len(found.best)
    ('circle', 2)
    """
    points = np.asarray(X.toarray() if hasattr(X, "toarray") else X, np.float64)
    if points.ndim != 2 or points.shape[1] != 2:
        raise ValueError(f"X has shape {points.shape}; regions need examples of two features.")
    labels = read_labels(y, len(model.classes_), model.classes_)
    if labels.indices.size != len(points):
        raise ValueError("regions need one label for each example.")
    some = np.unique(np.linspace(0, len(points) - 1, _POINTS).astype(int))
    k = as_k(k, len(model.classes_), "the list of classes")
    is_circle = _is_circle(points)
    extent = _extent(points)
    places = _directions(points) if is_circle else _grid(extent)
    best = np.argsort(-class_scores(model, places), axis=1, kind="stable")[:, :k]
    return Regions(
        form="circle" if is_circle else "plane",
        classes=tuple(map(str, model.classes_.tolist())),
        points=tuple((float(a), float(b)) for a, b in points[some]),
        labels=tuple(labels.indices[some].tolist()),
        best=tuple(tuple(column.tolist()) for column in best.T),
        extent=extent,
    )


def _is_circle(points: FloatArray) -> bool:
    radii = np.linalg.norm(points, axis=1)
    return bool(radii.min() > 0.0 and np.ptp(radii) <= _ROUNDING * radii.max())


def _directions(points: FloatArray) -> NDArray[np.float64]:
    turns = 2 * np.pi * (np.arange(_DIRECTIONS) + 0.5) / _DIRECTIONS
    radius = float(np.linalg.norm(points[0]))
    return radius * np.column_stack([np.cos(turns), np.sin(turns)])


def _extent(points: FloatArray) -> tuple[float, float, float, float]:
    """Return a box around the examples, with some space."""
    low, high = points.min(axis=0), points.max(axis=0)
    space = 0.08 * np.where(high > low, high - low, 1.0)
    (left, bottom), (right, top) = (low - space).tolist(), (high + space).tolist()
    return left, right, bottom, top


def _grid(extent: tuple[float, float, float, float]) -> NDArray[np.float64]:
    left, right, bottom, top = extent
    share = (np.arange(_CELLS) + 0.5) / _CELLS
    across, up = np.meshgrid(left + share * (right - left), bottom + share * (top - bottom))
    return np.column_stack([across.ravel(), up.ravel()])
