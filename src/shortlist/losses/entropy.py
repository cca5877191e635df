r"""Top-k entropy losses of one label [LHS17, section 3.2].

The conjugate is that of the softmax loss, restricted to the top-k simplex:

.. math::  L^*(v) = \langle x, \log x \rangle + (1 - s) \log(1 - s), \qquad
           x = v_{\setminus y} \in \Delta_k, \quad s = \langle 1, x \rangle = -v_y.

At :math:`k = 1` it is the softmax loss. Variant alpha has the closed form
:math:`L(u) = \log(1 + e^V)`, where `V` is the maximum of :math:`\langle b, q \rangle +
H(q)` over distributions `q` with :math:`q_j \le 1/k`, and :math:`b_j = u_j - u_y`. The
step is an entropic projection of :math:`q_j - q_y`.
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
    step,
    traits,
    value,
    value_by_duality,
)
from shortlist.prox.entropic_topk import entropic_topk
from shortlist.special.elementary import xlogx
from shortlist.special.sums import total_of


class TopKEntropy(NamedTuple):
    """Top-k entropy on the top-k simplex alpha."""

    k: int


class TopKEntropyBeta(NamedTuple):
    """Top-k entropy on the top-k simplex beta."""

    k: int


@kernel
def _entropic_step(q, k, a, fixed_cap, v, work):
    """Write the step to `v`, and the differences to the label's score to `q`."""
    own = q[0]
    for j in range(q.size):
        q[j] -= own
    others = v[1:]
    entropic_topk(q[1:], k, a, fixed_cap, others, work)
    v[0] = -min(total_of(others), 1.0)


@step.register(TopKEntropy)
def _(loss, q, n_labels, a, v, work):
    _entropic_step(q, loss.k, a, False, v, work)


@step.register(TopKEntropyBeta)
def _(loss, q, n_labels, a, v, work):
    _entropic_step(q, loss.k, a, True, v, work)


@summing_kernel
def negative_entropy(v, scale, share):
    r"""Return :math:`\langle p, \log p \rangle` for the probabilities ``scale v + share``."""
    total = 0.0
    for j in range(v.size):
        total += xlogx(max(scale * np.float64(v[j]) + share, 0.0))
    return total


@kernel
def entropy_conjugate(v):
    """Return the conjugate of the softmax loss; its domain is the caller's business."""
    return negative_entropy(v[1:], 1.0, 0.0) + negative_entropy(v[:1], 1.0, 1.0)


@conjugate.register(TopKEntropy, TopKEntropyBeta)
def _(loss, v, n_labels):
    return entropy_conjugate(v)


@value.register(TopKEntropy, TopKEntropyBeta)
def _(loss, u, n_labels, v, work):
    return value_by_duality(loss, u, n_labels, v, work)


@derivative.register(TopKEntropy)
def _(loss, v, n_labels, a, h, p, work):
    return entropy_derivative(loss.k, a, False, v, h, p)


@derivative.register(TopKEntropyBeta)
def _(loss, v, n_labels, a, h, p, work):
    return entropy_derivative(loss.k, a, True, v, h, p)


@kernel
def entropy_derivative(k, a, fixed_cap, v, h, p):
    """Describe the face on which the conjugate's curvatures are 1/x, and 1/(1 - s) of the sum."""
    h[0] = 0.0
    for j in range(1, v.size):
        x = np.float64(v[j])
        h[j] = x / (1.0 + a * x)
    total = -np.float64(v[0])
    at_cap = k / total + a if total > 0.0 else 0.0
    of_sum = 1.0 / (1.0 - total) + a if total < 1.0 else np.inf
    return describe_topk_face(v, k, fixed_cap, at_cap, of_sum, h, p)


@traits.register(TopKEntropy, TopKEntropyBeta)
def _(loss):
    return Traits(loss.k + 1, multilabel=False, convex=True, smoothing=1.0, entropic=True)
