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

from shortlist._jit import kernel
from shortlist.losses.entropy import entropy_conjugate
from shortlist.losses.operations import (
    Traits,
    conjugate,
    step,
    traits,
    value,
    value_by_duality,
)
from shortlist.prox.entropic import entropic_simplex
from shortlist.special.select import kth_largest
from shortlist.special.sums import total_of


class TruncatedTopKEntropy(NamedTuple):
    """Truncated top-k entropy."""

    k: int


@step.register(TruncatedTopKEntropy)
def _(loss, q, n_labels, a, v, work):
    v[:] = q
    if loss.k > 1:
        _drop_largest(v[1:], loss.k - 1, work[0])
    entropic_simplex(v, 0.0, v)  # the softmax of the label and of the classes that are left
    v[0] = -min(total_of(v[1:]), 1.0)


@kernel
def _drop_largest(scores, k, work):
    """Set the `k` largest scores to minus infinity."""
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
    return value_by_duality(loss, u, n_labels, v, work)


@traits.register(TruncatedTopKEntropy)
def _(loss):
    return Traits(loss.k + 1, multilabel=False, convex=False, entropic=True)
