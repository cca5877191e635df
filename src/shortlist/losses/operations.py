r"""What a loss can do: three generic functions of an immutable value.

A loss knows no data, no C and no solver. It sees the scores of one example with
the `n_labels` true labels *moved to the front*, and no index at all.

`step` is the one operation everything else follows from,

.. math::

    step(q, a) = \operatorname*{argmin}_v \ L^*(v) + \tfrac{a}{2} \|v\|^2 - \langle q, v \rangle.

At :math:`a = 0` it is the gradient (a subgradient where the loss is not smooth);
:math:`L(u) = \langle u, v \rangle - L^*(v)` there.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._generic import generic
from shortlist._jit import part, summing_kernel
from shortlist.special.sums import total_of

__all__ = ["Traits", "conjugate", "dot", "step", "total_of", "traits", "value", "value_by_duality"]


@generic
def step(loss, q, n_labels, a, v, work):
    """Write the minimiser for the scores `q` and the curvature `a` to `v`.

    `q` and `v` are different vectors of one precision; `work` is that of
    `shortlist.prox.maps.workspace`. `q` may be changed, by the same number for all
    classes.
    """


@generic
def conjugate(loss, v, n_labels):
    """Return the conjugate at `v`, a point of its domain, in float64."""


@generic
def value(loss, u, n_labels, v, work):
    """Return the loss at the scores `u`, in float64.

    `v` is scratch memory like `u`; `u` may be changed as `step` may change it.
    """


class Traits(NamedTuple):
    """What one must know of a loss before calling it."""

    smallest_m: int  # the least number of classes
    multilabel: bool  # any number of labels, or exactly one
    convex: bool  # `step` serves for any a, or at 0 only


@generic
def traits(loss):
    """Return the `Traits` of a loss."""


@summing_kernel
def dot(x, y):
    """Return the inner product in float64."""
    total = 0.0
    for j in range(x.size):
        total += np.float64(x[j]) * np.float64(y[j])
    return total


@part
def value_by_duality(loss, u, n_labels, v, work):
    r"""Return :math:`\langle u, v \rangle - L^*(v)` at :math:`v = step(u, 0)`.

    For losses of differences of scores, whose `v` sums to 0.
    """
    step(loss, u, n_labels, 0.0, v, work)
    return dot(u, v) - conjugate(loss, v, n_labels)
