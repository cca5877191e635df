r"""A convex top-k hinge of one label that is top-k calibrated.

It is the Fenchel-Young loss of the Bayes top-k error: :math:`L(u) = F(u) - u_y` with

.. math::

    F(u) = \max\Bigl\{u_{[1]},\ \max_{j > k} \Bigl(\tfrac1j \sum_{i \le j} u_{[i]} + 1 -
    \tfrac{k}{j}\Bigr)\Bigr\}, \qquad F^*(p) = \sum_{i \le k} p_{[i]} - 1

on the distributions `p`; the minimal risk at a class distribution is its Bayes top-k
error. (The hinges alpha and beta of the paper are not calibrated; this is after
Finocchiaro, Frongillo, Goodwill and Thilagar, 2022.) With :math:`p = v + e_y` and the
quadratic smoothing `g` of `v`, the step is the proximal map of the sum of the k largest
elements, on the simplex, of :math:`e_y + q / (a + g)` with the weight
:math:`1 / (a + g)`.

The largest of :math:`\tfrac1j (\sum_{i \le j} u_{[i]} - k)` over all `j` is the `t` with
:math:`\sum_i (u_i - t)_+ = k`, the threshold of a projection onto a simplex, and it is below
:math:`u_{[1]} - 1` where :math:`j \le k`. So :math:`F(u) = \max\{u_{[1]}, 1 + t\}`, and
nothing is sorted.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel
from shortlist.losses.operations import (
    Traits,
    conjugate,
    derivative,
    dot,
    face_tolerance,
    step,
    traits,
    value,
    value_by_duality,
)
from shortlist.prox.topk_sum import apply_topk_sum, topk_sum
from shortlist.prox.variable_fixing import simplex
from shortlist.special.select import kth_largest, total_of_largest


class ConsistentTopKSvm(NamedTuple):
    """The consistent top-k hinge, smoothed by `smoothing`."""

    k: int
    smoothing: float


@step.register(ConsistentTopKSvm)
def _(loss, q, n_labels, a, v, work):
    curvature = loss.smoothing + a
    if curvature == 0.0:
        _vertex(q, loss.k, v, work)
    else:
        for j in range(q.size):
            v[j] = np.float64(q[j]) / curvature
        v[0] += 1.0
        apply_topk_sum(v, topk_sum(v, loss.k, 1.0 / curvature, work), v)
    v[0] -= 1.0


@kernel
def _vertex(q, k, v, work):
    """Write the distribution that attains F: uniform on the largest, or on more than k."""
    best, t = _threshold(q, k, work)
    above = 0
    for j in range(q.size):
        above += np.float64(q[j]) - best > t
    v[:] = 0.0
    if t <= -1.0:
        v[np.argmax(q)] = 1.0
        return
    for j in range(q.size):
        v[j] = 1.0 / above if np.float64(q[j]) - best > t else 0.0


@kernel
def _threshold(u, k, work):
    """Return the largest score, and the `t` with a sum of `k` above it, relative to that."""
    clip = simplex(u, np.float64(k), True, work)
    return clip.shift, clip.t


@conjugate.register(ConsistentTopKSvm)
def _(loss, v, n_labels):
    others, mine = v[1:], np.float64(v[0]) + 1.0
    total, last = total_of_largest(others, loss.k)
    return total + max(mine - last, 0.0) - 1.0 + 0.5 * loss.smoothing * dot(v, v)


@value.register(ConsistentTopKSvm)
def _(loss, u, n_labels, v, work):
    if loss.smoothing > 0.0:
        return value_by_duality(loss, u, n_labels, v, work)
    best, t = _threshold(u, loss.k, work)
    return (best - np.float64(u[0])) + max(1.0 + t, 0.0)


@derivative.register(ConsistentTopKSvm)
def _(loss, v, n_labels, a, h, p, work):
    """Project, on the elements above 0, onto sum 0 and equal elements where they are pooled."""
    radius, near = loss.smoothing + a, face_tolerance(v[0])
    v[0] += 1.0
    level, _ = kth_largest(v, loss.k, work[0])
    from_level, pooled, positive = 0, 0, 0
    for j in range(v.size):
        p[0, j] = 1.0 if v[j] > near else 0.0
        p[1, j] = 1.0 if abs(v[j] - level) <= near and v[j] > near else 0.0
        positive += v[j] > near
        pooled += p[1, j] > 0.0
        from_level += v[j] >= level - near
    v[0] -= 1.0
    if from_level <= loss.k:  # the k largest are apart from the others
        p[1], pooled = 0.0, 0
    for j in range(v.size):
        h[j] = (p[0, j] - p[1, j]) / radius
    return (
        -1.0 / (radius * positive) if positive > 0 else 0.0,
        1.0 / (radius * pooled) if pooled > 0 else 0.0,
    )


@traits.register(ConsistentTopKSvm)
def _(loss):
    return Traits(loss.k + 1, multilabel=False, convex=True, smoothing=loss.smoothing)
