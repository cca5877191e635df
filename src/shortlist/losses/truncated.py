r"""The truncated top-k entropy of one label [LHS17, section 3.2]: not convex.

.. math::  L(u) = \log\Bigl(1 + \sum_{j \in J} e^{u_j - u_y}\Bigr),

where `J` are the other classes without their :math:`k - 1` best: a smooth version of the
top-k error. It has a value and a gradient; `step` serves at :math:`a = 0` only, and the
"conjugate" is :math:`\langle u, v \rangle - L(u)` at the gradient `v`, that of the
softmax loss over the classes in `J` (so that the value follows as for the others).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._jit import kernel, summing_kernel
from shortlist.losses.entropy import entropy_conjugate, entropy_derivative
from shortlist.losses.operations import (
    Traits,
    conjugate,
    derivative,
    step,
    traits,
    value,
)
from shortlist.special.elementary import exp, like
from shortlist.special.select import kth_largest, largest
from shortlist.special.sums import logsumexp, sum_of_exp, total_of


class TruncatedTopKEntropy(NamedTuple):
    """Truncated top-k entropy."""

    k: int


@step.register(TruncatedTopKEntropy)
def _(loss, q, n_labels, a, v, work):
    _drop_best(q, loss.k - 1, v, work[0])
    shift = np.float64(largest(v))
    _to_softmax(v, shift, sum_of_exp(v, shift))  # of the label and the classes that are left
    v[0] = -min(total_of(v[1:]), 1.0)


@summing_kernel
def _to_softmax(v, shift, total):
    """Turn scores into probabilities; in place, which vectorises only where that is known."""
    shift, scale = like(v[0], shift), like(v[0], 1.0 / total)
    for j in range(v.size):
        v[j] = exp(v[j] - shift) * scale


@kernel
def _drop_best(u, k, v, work):
    """Write the scores to `v`, and minus infinity for the best `k` of the other classes."""
    v[:] = u
    if k == 0:
        return
    scores = v[1:]
    bound, ties = kth_largest(scores, k, work)
    for j in range(scores.size):
        if scores[j] > bound:
            scores[j] = -np.inf
        elif scores[j] == bound and ties > 0:
            scores[j] = -np.inf
            ties -= 1


@conjugate.register(TruncatedTopKEntropy)
def _(loss, v, n_labels):
    return entropy_conjugate(v)


@value.register(TruncatedTopKEntropy)
def _(loss, u, n_labels, v, work):
    _drop_best(u, loss.k - 1, v, work[0])
    return logsumexp(v) - np.float64(u[0])


@derivative.register(TruncatedTopKEntropy)
def _(loss, v, n_labels, a, h, p, work):
    return entropy_derivative(1, a, False, v, h, p)


@traits.register(TruncatedTopKEntropy)
def _(loss):
    return Traits(loss.k + 1, multilabel=False, convex=False, entropic=True)
