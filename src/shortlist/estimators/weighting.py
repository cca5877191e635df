r"""Weights of examples: those of the user, times those of their classes.

With weights :math:`\omega_j` of the classes an example counts

.. math::  w_i \cdot \frac1{|Y_i|} \sum_{j \in Y_i} \omega_j

times: its own weight times the mean weight of its labels, which for one label is that of its
class, as in scikit-learn. An example without labels keeps its own.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._arrays import as_choice, as_nonnegative, as_weights
from shortlist.estimators.targets import Target
from shortlist.losses.labels import Labels

Weights = NDArray[np.float64]


def example_weights(sample_weight: ArrayLike | None, class_weight: Any, target: Target) -> Weights:
    """Return the weight of each example."""
    weights = own_weights(sample_weight, target.labels.n)
    if class_weight is None:
        return weights
    labels = target.labels
    of_classes = class_weights(class_weight, target.classes, counted_weights(labels, weights))
    return weights * mean_weights(labels, of_classes)


def counted_weights(labels: Labels, weights: Weights) -> Weights:
    """Return the weights of the examples of each class together."""
    counted: Weights = np.zeros(labels.m)
    np.add.at(counted, labels.indices, weights[labels.owners])
    return counted


def mean_weights(labels: Labels, of_classes: Weights) -> Weights:
    """Return the mean weight of the labels of each example; 1 where it has none."""
    sizes, owners = np.diff(labels.offsets), labels.owners
    total = np.bincount(owners, of_classes[labels.indices], minlength=labels.n)
    mean: Weights = np.where(sizes > 0, total / np.maximum(sizes, 1), 1.0)
    return mean


def own_weights(sample_weight: ArrayLike | None, n: int) -> Weights:
    """Return the user's weights, or ones; one number is the weight of all."""
    if sample_weight is not None:
        given = np.asarray(sample_weight, dtype=np.float64)
        sample_weight = np.full(n, given) if given.ndim == 0 else given
    weights = as_weights(sample_weight, n)
    if not weights.any():
        raise ValueError("all sample weights are zero; there is nothing to learn from.")
    return weights


def class_weights(class_weight: Any, classes: NDArray[Any], counted: Weights) -> Weights:
    """Return the weight of each class; `counted` are the weights of its examples together."""
    if isinstance(class_weight, str):
        as_choice(class_weight, ("balanced",), "class_weight")
        present = counted > 0.0
        sizes = np.where(present, counted, 1.0)
        return np.where(present, sizes[present].sum() / (present.sum() * sizes), 1.0)
    if not isinstance(class_weight, Mapping):
        raise TypeError(
            f'class_weight is {class_weight!r}; pass "balanced", or a dictionary of classes.'
        )
    known = {label: j for j, label in enumerate(classes.tolist())}
    weights = np.ones(classes.size)
    for label, value in class_weight.items():
        if label not in known:
            raise ValueError(f"class_weight has the class {label!r}, which y has not.")
        weights[known[label]] = as_nonnegative(value, f"class_weight[{label!r}]")
    return weights
