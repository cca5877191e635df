"""Problems in partitions, and runs of them in one process."""

import numpy as np

from shortlist.dask import partitions, rounds
from shortlist.dask.engines import InProcess, Value
from shortlist.dask.fleet import Fleet
from shortlist.losses import check_labels
from shortlist.losses.operations import traits
from shortlist.rows import as_storage
from shortlist.solvers.problem import Problem


def split(X, y, loss, c, cuts, intercept=0.0):
    """Return partitions of consecutive rows, cut at the given places."""
    labels = check_labels(loss, y, X.shape[0], None)
    parts = []
    for number, (first, last) in enumerate(zip([0, *cuts], [*cuts, X.shape[0]], strict=True)):
        some = np.arange(first, last)
        if some.size:
            rows = as_storage(X[first:last], intercept)
            problem = Problem(rows, labels.take(some), loss, np.asarray(c, float)[some])
            parts.append(partitions.Partition(number, problem))
    return parts, labels.m


def even(n, k):
    return [i * n // k for i in range(1, k)]


def fleet_of(engine, parts, n_groups=None, **options):
    sizes = [partitions.size_of(part) for part in parts]
    handles = [Value(part) for part in parts]
    n_groups = len(parts) if n_groups is None else n_groups
    return Fleet(engine, handles, sizes, n_groups=n_groups, **options)


def train(parts, m, *, n_groups=None, engine=None, fleet=None, **options):
    """Return the result of a run in one process, and the fleet."""
    loss = parts[0].problem.loss
    options = rounds.Options(**{"solver": "accelerated", **options})
    engine = InProcess(8) if engine is None else engine
    with engine:
        fleet = fleet_of(engine, parts, n_groups) if fleet is None else fleet
        result = rounds.train(fleet, m, traits(loss).smoothing > 0.0, {"loss": repr(loss)}, options)
    return result, fleet


def duals_held(fleet):
    """Return the duals of all partitions, in the order of their rows."""
    found = {}
    for group in fleet.groups:
        value = group.held.value
        duals = value.duals if isinstance(value, partitions.Outcome) else value
        found.update(zip(group.members, duals.arrays, strict=True))
    return np.concatenate([found[i] for i in sorted(found)])
