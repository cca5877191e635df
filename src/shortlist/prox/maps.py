"""The proximal maps as values: a NamedTuple each, and one function that applies any of them.

`apply` is generic: the compiled loop over the rows of a batch (`apply_rows`) is
written once and compiled for each map it meets.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._generic import generic
from shortlist._jit import keep_alive, kernel, summing_kernel, uncounted
from shortlist.prox import bipartite, entropic, entropic_topk, topk, topk_sum, variable_fixing
from shortlist.prox.clip import apply_clip
from shortlist.special.padding import padded
from shortlist.special.select import LANES


class Knapsack(NamedTuple):
    """A sum, and bounds on each element; the simplex is one."""

    radius: float
    lower: float
    upper: float
    equality: bool


class TopKSimplexAlpha(NamedTuple):
    """The top-k simplex whose upper bound follows the sum."""

    k: int
    radius: float
    bias: float


class TopKSimplexBeta(NamedTuple):
    """The top-k simplex whose upper bound follows the radius."""

    k: int
    radius: float
    bias: float


class EntropicSimplex(NamedTuple):
    """The simplex, with an entropy."""

    alpha: float


class EntropicTopKSimplex(NamedTuple):
    """The top-k simplex, with an entropy; beta where the cap is fixed."""

    k: int
    alpha: float
    fixed_cap: bool


class TopKSum(NamedTuple):
    """The simplex, with the sum of the k largest elements."""

    k: int
    scale: float


@generic
def apply(prox_map, a, out, work):
    """Write the image of the vector `a` under `prox_map` to `out`."""


@apply.register(Knapsack)
def _(prox_map, a, out, work):
    r, lo, hi, equality = prox_map
    apply_clip(a, variable_fixing.knapsack(a, r, lo, hi, equality, work), out)


@apply.register(TopKSimplexAlpha)
def _(prox_map, a, out, work):
    apply_clip(a, topk.topk_alpha(a, prox_map.k, prox_map.radius, prox_map.bias, work), out)


@apply.register(TopKSimplexBeta)
def _(prox_map, a, out, work):
    apply_clip(a, topk.topk_beta(a, prox_map.k, prox_map.radius, prox_map.bias, work), out)


@apply.register(EntropicSimplex)
def _(prox_map, a, out, work):
    entropic.entropic_simplex(a, prox_map.alpha, out, work)


@apply.register(EntropicTopKSimplex)
def _(prox_map, a, out, work):
    k, alpha, fixed_cap = prox_map
    entropic_topk.entropic_topk(a, k, alpha, fixed_cap, out, work)


@apply.register(TopKSum)
def _(prox_map, a, out, work):
    topk_sum.apply_topk_sum(a, topk_sum.topk_sum(a, prox_map.k, prox_map.scale, work), out)


@kernel
def workspace(m):
    """Return the scratch memory that maps of vectors of up to `m` elements need."""
    return np.empty((2, max(padded(m), LANES)))


@summing_kernel
def _all_finite(a):
    total = 0.0
    for j in range(a.size):
        total += np.float64(a[j]) * 0.0  # NaN and infinities become NaN
    return total == 0.0


@kernel
def apply_rows(prox_map, rows, out):
    """Map every row; stop at the first that is not finite, and return its number, or -1."""
    owned = workspace(rows.shape[1])
    work, rows, out = uncounted((owned, rows, out))
    for i in range(rows.shape[0]):
        if not _all_finite(rows[i]):
            return i
        apply(prox_map, rows[i], out[i], work)
    keep_alive(owned)
    return -1


@kernel
def bipartite_rows(b, c, radius, out_x, out_y):
    """Project every pair of rows onto the bipartite simplex; see `apply_rows`."""
    owned = workspace(max(b.shape[1], c.shape[1]))
    work, b, c, out_x, out_y = uncounted((owned, b, c, out_x, out_y))
    for i in range(b.shape[0]):
        if not (_all_finite(b[i]) and _all_finite(c[i])):
            return i
        clip_x, clip_y = bipartite.bipartite_simplex(b[i], c[i], radius, work)
        apply_clip(b[i], clip_x, out_x[i])
        apply_clip(c[i], clip_y, out_y[i])
    keep_alive(owned)
    return -1
