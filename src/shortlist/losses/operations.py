r"""What a loss can do: a few generic functions of an immutable value.

A loss knows no data, no C and no solver. It sees the scores of one example with
the `n_labels` true labels *moved to the front*, and no index at all.

`step` is the one operation everything else follows from,

.. math::

    step(q, a) = \operatorname*{argmin}_v \ L^*(v) + \tfrac{a}{2} \|v\|^2 - \langle q, v \rangle.

At :math:`a = 0` it is the gradient (a subgradient where the loss is not smooth);
:math:`L(u) = \langle u, v \rangle - L^*(v)` there. `derivative`, that of `step`, is for
Newton's method; a loss without it is trained by the others. A loss whose gradient and conjugate
are cheaper to compute together says so in `gradient`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._generic import generic, inlined_generic
from shortlist._jit import inlined, part, summing_kernel
from shortlist.special.elementary import by_precision
from shortlist.special.sums import total_of

__all__ = [
    "Traits",
    "conjugate",
    "derivative",
    "dot",
    "face_tolerance",
    "gradient",
    "step",
    "total_of",
    "traits",
    "value",
    "value_by_duality",
]


@inlined_generic
def step(loss, q, n_labels, a, v, work):
    """Write the minimiser for the scores `q` and the curvature `a` to `v`.

    `q` and `v` are different vectors of one precision; `work` is that of
    `shortlist.prox.maps.workspace`. `q` may be changed, by the same number for all
    classes.
    """


@inlined_generic
def conjugate(loss, v, n_labels):
    """Return the conjugate at `v`, a point of its domain, in float64."""


@inlined_generic
def value(loss, u, n_labels, v, work):
    """Return the loss at the scores `u`, in float64.

    `v` is scratch memory like `u`; `u` may be changed as `step` may change it.
    """


@inlined_generic
def gradient(loss, u, n_labels, v, work):
    """Write the gradient at the scores `u` to `v`, and return the conjugate there.

    `u` may be changed as `step` may change it.
    """


@gradient.otherwise
def _(loss, u, n_labels, v, work):
    step(loss, u, n_labels, 0.0, v, work)
    return conjugate(loss, v, n_labels)


@generic
def derivative(loss, v, n_labels, a, h, p, work):
    r"""Describe the derivative of `step` by `q`, at ``v = step(q, a)``.

    It is :math:`diag(h) + t_0 p_0 p_0' + t_1 p_1 p_1'`. Write `h` and the two rows of `p`,
    return :math:`t_0, t_1`. Where there are several derivatives, at the edge of a face of the
    domain, it is one of them. At :math:`a = 0` it is the Hessian of the loss.
    """


class Traits(NamedTuple):
    """What one must know of a loss before calling it."""

    smallest_m: int  # the least number of classes
    multilabel: bool  # any number of labels, or exactly one
    convex: bool  # `step` serves for any a, or at 0 only
    smoothing: float = 0.0  # about how strongly convex the conjugate is; 0: the loss has kinks
    separable: bool = False  # a sum over classes
    entropic: bool = False  # its curvature changes slowly, and nowhere to 0


@generic
def traits(loss):
    """Return the `Traits` of a loss."""


@inlined
def face_tolerance(x):
    """Return by how much a number that is to equal a bound may differ, in the precision of `x`."""
    return by_precision(x, 1e-12, 1e-5)


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
