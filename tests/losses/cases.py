"""Every registered loss with every combination of parameters, and scores to try it on."""

import numpy as np
import pytest

from shortlist import losses
from shortlist.losses.operations import traits

#: Every name with every combination of parameters that the laws run over.
GRID = {"k": (1, 2, 3), "smoothing": (0.0, 0.3, 2.0), "normalize": (True, False)}


def combinations(name):
    parameters = [{}]
    for parameter in losses.entry(name).parameters:
        parameters = [{**p, parameter: v} for p in parameters for v in GRID[parameter]]
    return parameters


ALL = [(name, p) for name in losses.names() for p in combinations(name)]
CONVEX = [(n, p) for n, p in ALL if traits(losses.make(n, **p)).convex]
SMOOTH = [(n, p) for n, p in ALL if p.get("smoothing") != 0.0]


def case_id(case):
    name, parameters = case
    return " ".join([name, *(f"{key}={value}" for key, value in parameters.items())])


def over(cases):
    return pytest.mark.parametrize("case", cases, ids=case_id)


def examples(name, n=40, m=6, scale=2.0, seed=0):
    """Scores, some of them tied, and label sets of the kind that the loss takes."""
    rng = np.random.default_rng(seed)
    u = rng.normal(size=(n, m)) * scale
    u[::3] = np.round(u[::3])
    if name.startswith(("multilabel", "ova")):
        indicators = rng.random((n, m)) < 0.4
        indicators[0], indicators[1] = False, True  # no label, all labels
        return u, indicators
    return u, rng.integers(0, m, n)
