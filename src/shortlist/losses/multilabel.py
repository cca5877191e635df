r"""Losses of a set of labels `Y` [LHS17, section 3.3].

.. math::

    \text{multilabel svm:} \quad & L(u) = \max\Bigl\{0,\ 1 + \max_{j \notin Y} u_j -
        \min_{y \in Y} u_y\Bigr\}, \\
    \text{multilabel softmax:} \quad & L(u) = \tfrac{1}{|Y|} \sum_{y \in Y}
        \log \sum_j e^{u_j - u_y}.

The hinge's conjugate, with the quadratic smoothing `g`, is :math:`\tfrac12 (\sum_Y v_y -
\sum_{\bar Y} v_j) + \tfrac{g}{2} \|v\|^2` on the bipartite simplex :math:`(-v_Y, v_{\bar
Y})`, and its step a projection of :math:`(\tfrac12 - q_Y, \tfrac12 + q_{\bar Y})` onto the
one of radius :math:`g + a`. Without labels, or without other classes, it is 0.

The softmax's conjugate is :math:`\langle p, \log p \rangle` with the distribution
:math:`p = v + 1/|Y|` on `Y` and :math:`p = v` elsewhere; its step is an entropic
projection. Without labels it is 0. With one label it is the softmax loss. Without the
factor :math:`1/|Y|` (``normalize=False``) an example counts as often as it has labels.

With one label the two hinges without smoothing coincide with the multiclass ones; with
smoothing they do not: here the label's own dual is smoothed too.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._jit import inlined, kernel, summing_kernel
from shortlist.losses.entropy import negative_entropy
from shortlist.losses.operations import (
    Traits,
    conjugate,
    derivative,
    dot,
    face_tolerance,
    gradient,
    step,
    traits,
    value,
    value_by_duality,
)
from shortlist.prox.bipartite import bipartite_simplex
from shortlist.prox.clip import apply_clip
from shortlist.prox.entropic import entropic_simplex, softmax
from shortlist.special.elementary import log, log1p
from shortlist.special.select import largest
from shortlist.special.sums import logsumexp, total_of


class MultilabelSvm(NamedTuple):
    """Multilabel hinge, smoothed by `smoothing`."""

    smoothing: float


class MultilabelSoftmax(NamedTuple):
    """Multilabel softmax, with the factor 1/|Y| if `normalize`."""

    normalize: bool


@step.register(MultilabelSvm)
def _(loss, q, n_labels, a, v, work):
    radius = loss.smoothing + a
    if n_labels == 0 or n_labels == q.size:
        v[:] = 0.0
    elif radius == 0.0:
        _vertex(q, n_labels, v)
    else:
        for j in range(q.size):
            v[j] = 0.5 - np.float64(q[j]) if j < n_labels else 0.5 + np.float64(q[j])
        mine, others = v[:n_labels], v[n_labels:]
        clip_mine, clip_others = bipartite_simplex(mine, others, radius, work)
        apply_clip(mine, clip_mine, mine)
        apply_clip(others, clip_others, others)
        for j in range(q.size):
            v[j] = np.float64(v[j]) / (-radius if j < n_labels else radius)


@kernel
def _vertex(q, n_labels, v):
    """Write a subgradient without smoothing: the worst label against the best other class."""
    worst, best = np.argmin(q[:n_labels]), n_labels + np.argmax(q[n_labels:])
    v[:] = 0.0
    if 1.0 + np.float64(q[best]) - np.float64(q[worst]) > 0.0:
        v[worst], v[best] = -1.0, 1.0


@conjugate.register(MultilabelSvm)
def _(loss, v, n_labels):
    linear = 0.5 * (total_of(v[:n_labels]) - total_of(v[n_labels:]))
    return linear + 0.5 * loss.smoothing * dot(v, v)


@value.register(MultilabelSvm)
def _(loss, u, n_labels, v, work):
    return value_by_duality(loss, u, n_labels, v, work)


@inlined
def _count(loss, n_labels):
    """Return how often the normalised loss counts."""
    return 1.0 if loss.normalize else np.float64(n_labels)


@step.register(MultilabelSoftmax)
def _(loss, q, n_labels, a, v, work):
    if n_labels == 0:
        v[:] = 0.0
        return
    count = _count(loss, n_labels)
    # v = count w, and w is the step of the normalised loss with a curvature count times as large.
    curvature = a * count
    for j in range(n_labels):
        q[j] += curvature / n_labels
    entropic_simplex(q, curvature, v, work)
    # The labels' elements are differences of nearly equal numbers; that the sum is 0 tells them
    # to the precision of the small others, which matters where C is large.
    taken = total_of(v[n_labels:]) + total_of(v[:n_labels])
    for j in range(n_labels):
        v[j] = np.float64(v[j]) - taken / n_labels
        q[j] -= curvature / n_labels
    for j in range(v.size):
        v[j] = v[j] * count


@gradient.register(MultilabelSoftmax)
def _(loss, u, n_labels, v, work):
    if n_labels == 0:
        v[:] = 0.0
        return 0.0
    count = _count(loss, n_labels)
    return count * _softmax_gradient(u, n_labels, count, v)


@kernel
def _softmax_gradient(u, n_labels, count, v):
    """Write `count` times the gradient of the normalised loss to `v`; return its conjugate."""
    own, shift = total_of(u[:n_labels]) / n_labels, np.float64(largest(u))
    softmax(u, shift, 1.0, v)
    of_labels, of_others = total_of(v[:n_labels]), total_of(v[n_labels:])
    mass = of_labels + of_others
    if n_labels == 1 and of_labels > of_others:  # a small loss, told to its last digit
        loss = log1p(of_others / of_labels)
    else:
        loss = (shift - own) + log(mass)
    product = 0.0
    for j in range(n_labels):
        # In this order: with one label the first difference is exactly 0.
        x = ((np.float64(v[j]) - of_labels / n_labels) - of_others / n_labels) / mass
        product += x * (np.float64(u[j]) - own)
        v[j] = count * x
    return product + _scale(u[n_labels:], own, 1.0 / mass, count, v[n_labels:]) - loss


@summing_kernel
def _scale(u, own, scale, count, v):
    """Multiply `v` by ``count * scale``; return its product with ``u - own``, without `count`."""
    product = 0.0
    for j in range(v.size):
        x = scale * np.float64(v[j])
        product += x * (np.float64(u[j]) - own)
        v[j] = count * x
    return product


@conjugate.register(MultilabelSoftmax)
def _(loss, v, n_labels):
    if n_labels == 0:
        return 0.0
    count = _count(loss, n_labels)
    of_labels = negative_entropy(v[:n_labels], 1.0 / count, 1.0 / n_labels)
    return count * (of_labels + negative_entropy(v[n_labels:], 1.0 / count, 0.0))


@value.register(MultilabelSoftmax)
def _(loss, u, n_labels, v, work):
    if n_labels == 0:
        return 0.0
    return _count(loss, n_labels) * (logsumexp(u) - total_of(u[:n_labels]) / n_labels)


@derivative.register(MultilabelSvm)
def _(loss, v, n_labels, a, h, p, work):
    radius = loss.smoothing + a
    for j in range(v.size):
        h[j] = 1.0 / radius if v[j] != 0.0 else 0.0
    if total_of(v[n_labels:]) < 1.0 - face_tolerance(v[0]):  # the two sums are only equal
        p[0] = h
        return -_inverse_sum(h), 0.0
    p[:] = 0.0
    p[0, :n_labels], p[1, n_labels:] = h[:n_labels], h[n_labels:]
    return -_inverse_sum(h[:n_labels]), -_inverse_sum(h[n_labels:])


@derivative.register(MultilabelSoftmax)
def _(loss, v, n_labels, a, h, p, work):
    if n_labels == 0:
        h[:] = 0.0
        return 0.0, 0.0
    count = _count(loss, n_labels)
    for j in range(v.size):
        share = count / n_labels if j < n_labels else 0.0
        mass = max(np.float64(v[j]) + share, 0.0)
        h[j] = mass / (1.0 + a * mass)
    p[0] = h
    return -_inverse_sum(h), 0.0


@inlined
def _inverse_sum(h):
    total = total_of(h)
    return 1.0 / total if total > 0.0 else 0.0


@traits.register(MultilabelSvm)
def _(loss):
    return Traits(1, multilabel=True, convex=True, smoothing=loss.smoothing)


@traits.register(MultilabelSoftmax)
def _(loss):
    return Traits(1, multilabel=True, convex=True, smoothing=1.0, entropic=True)
