"""Several feature vectors of one object: its scores are pooled, its labels repeated."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._arrays import FloatArray, as_choice


class Groups(NamedTuple):
    """To which object each example belongs; objects are in sorted order of their names."""

    names: NDArray[Any]
    members: NDArray[np.int64]


def as_groups(groups: ArrayLike, n: int) -> Groups:
    """Return the objects of `n` examples."""
    given = np.asarray(groups)
    if given.shape != (n,):
        raise ValueError(f"groups has shape {given.shape}; there are {n} examples.")
    names, members = np.unique(given, return_inverse=True)
    return Groups(names, members.astype(np.int64))


def pool(scores: FloatArray, groups: Groups, how: str) -> FloatArray:
    """Return the largest or the mean score of each class over the examples of each object."""
    as_choice(how, ("max", "mean"), "pooling")
    order = np.argsort(groups.members, kind="stable")
    starts = np.searchsorted(groups.members[order], np.arange(groups.names.size))
    reduce = np.maximum if how == "max" else np.add
    pooled: FloatArray = reduce.reduceat(scores[order], starts, axis=0)
    if how == "mean":
        pooled /= np.bincount(groups.members)[:, None].astype(pooled.dtype)
    return pooled


def repeat(values: Any, groups: Groups) -> Any:
    """Return what belongs to each object for each of its examples; kept if it does already."""
    n = values.shape[0] if hasattr(values, "shape") else len(values)
    if n == groups.members.size:
        return values
    if n != groups.names.size:
        raise ValueError(
            f"y has {n} elements; there are {groups.names.size} groups "
            f"of {groups.members.size} examples."
        )
    if isinstance(values, list | tuple):
        return [values[i] for i in groups.members]
    if hasattr(values, "iloc"):
        return values.iloc[groups.members]
    return values[groups.members]
