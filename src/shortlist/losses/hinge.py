r"""Top-k hinge losses of one label [LHS17, section 3.2].

With :math:`b_j = 1 + u_j - u_y` over the *other* classes and :math:`b_{[j]}` the j-th
largest,

.. math::

    L_\alpha = \max\Bigl\{0, \tfrac1k \sum_{j \le k} b_{[j]}\Bigr\}, \qquad
    L_\beta = \tfrac1k \sum_{j \le k} \max\{0, b_{[j]}\};

both are the multiclass hinge of Crammer and Singer at :math:`k = 1`. The conjugate, with
the quadratic smoothing `g`, is

.. math::  L^*(v) = \tfrac{g}{2} \|x\|^2 - \langle 1, x \rangle, \qquad
           x = v_{\setminus y} \in \Delta_k, \quad v_y = -\langle 1, x \rangle,

where :math:`\Delta_k` is the top-k simplex alpha or beta. The step is a biased projection
onto it: of `b` onto the simplex of radius :math:`g + a`, with bias :math:`a / (g + a)`,
divided by that radius.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel, summing_kernel
from shortlist.losses.faces import describe_topk_face
from shortlist.losses.operations import (
    Traits,
    conjugate,
    derivative,
    dot,
    step,
    traits,
    value,
)
from shortlist.prox.clip import clipped
from shortlist.prox.topk import topk_alpha, topk_beta
from shortlist.special.select import kth_largest, largest
from shortlist.special.sums import total_of


class TopKSvmAlpha(NamedTuple):
    """Top-k hinge alpha, smoothed by `smoothing`."""

    k: int
    smoothing: float


class TopKSvmBeta(NamedTuple):
    """Top-k hinge beta, smoothed by `smoothing`."""

    k: int
    smoothing: float


@kernel
def margins(q, v):
    """Write 1 + q_j - q_y for the other classes to the rest of `v`; return that rest."""
    others = v[1:]
    offset = 1.0 - np.float64(q[0])
    for j in range(others.size):
        others[j] = np.float64(q[j + 1]) + offset
    return others


@summing_kernel
def share(others, clip, radius, v):
    """Let the other classes share 1 as the clipped margins share `radius`; the label's balances."""
    total, scale = 0.0, 1.0 / radius
    for j in range(others.size):
        others[j] = clipped(others[j], clip) * scale
        total += np.float64(others[j])
    v[0] = -total


@kernel
def _vertex(others, k, each_positive, v, work):
    """Write a subgradient of the hinge without smoothing: 1/k for the `k` largest margins."""
    bound, ties = kth_largest(others, k, work[0])
    active = each_positive or work[0][:k].sum() > 0.0
    for j in range(others.size):
        b = np.float64(others[j])
        chosen = active and (b > bound or (b == bound and ties > 0))
        ties -= chosen and b == bound
        others[j] = 1.0 / k if chosen and (b > 0.0 or not each_positive) else 0.0
    v[0] = -total_of(others)


@step.register(TopKSvmAlpha)
def _(loss, q, n_labels, a, v, work):
    others = margins(q, v)
    radius = loss.smoothing + a
    if largest(others) <= 0.0:  # all margins are kept, as most are where C is large
        v[:] = 0.0
    elif radius == 0.0:
        _vertex(others, loss.k, False, v, work)
    else:
        share(others, topk_alpha(others, loss.k, radius, a / radius, work), radius, v)


@step.register(TopKSvmBeta)
def _(loss, q, n_labels, a, v, work):
    others = margins(q, v)
    radius = loss.smoothing + a
    if largest(others) <= 0.0:
        v[:] = 0.0
    elif radius == 0.0:
        _vertex(others, loss.k, True, v, work)
    else:
        share(others, topk_beta(others, loss.k, radius, a / radius, work), radius, v)


@conjugate.register(TopKSvmAlpha, TopKSvmBeta)
def _(loss, v, n_labels):
    others = v[1:]
    return 0.5 * loss.smoothing * dot(others, others) - total_of(others)


@kernel
def _largest_margins(u, k, v, work):
    """Return the `k` largest margins, in no order."""
    others, found = margins(u, v), work[0][:k]
    if k == 1:
        found[0] = largest(others)
    else:
        kth_largest(others, k, work[0])
    return found


@summing_kernel
def _value_at(others, clip, radius):
    r"""Return :math:`(\langle b, x \rangle - \tfrac12 \|x\|^2) / r` at the projection `x`."""
    total = 0.0
    for j in range(others.size):
        x = clipped(others[j], clip)
        total += (np.float64(others[j]) - 0.5 * x) * x
    return total / radius


@value.register(TopKSvmAlpha)
def _(loss, u, n_labels, v, work):
    if loss.smoothing > 0.0:
        others = margins(u, v)
        if largest(others) <= 0.0:
            return 0.0
        return _value_at(
            others, topk_alpha(others, loss.k, loss.smoothing, 0.0, work), loss.smoothing
        )
    return max(total_of(_largest_margins(u, loss.k, v, work)) / loss.k, 0.0)


@value.register(TopKSvmBeta)
def _(loss, u, n_labels, v, work):
    if loss.smoothing > 0.0:
        others = margins(u, v)
        if largest(others) <= 0.0:
            return 0.0
        return _value_at(
            others, topk_beta(others, loss.k, loss.smoothing, 0.0, work), loss.smoothing
        )
    found = _largest_margins(u, loss.k, v, work)
    for j in range(loss.k):
        found[j] = max(found[j], 0.0)
    return total_of(found) / loss.k


@derivative.register(TopKSvmAlpha)
def _(loss, v, n_labels, a, h, p, work):
    return _derivative(loss.k, loss.smoothing + a, a, False, v, h, p)


@derivative.register(TopKSvmBeta)
def _(loss, v, n_labels, a, h, p, work):
    return _derivative(loss.k, loss.smoothing + a, a, True, v, h, p)


@kernel
def _derivative(k, radius, a, fixed_cap, v, h, p):
    h[:] = 1.0 / radius
    return describe_topk_face(v, k, fixed_cap, radius, a, h, p)


@traits.register(TopKSvmAlpha, TopKSvmBeta)
def _(loss):
    return Traits(loss.k + 1, multilabel=False, convex=True, smoothing=loss.smoothing)
