r"""One-vs-all losses: every class against the rest, and binary relevance for label sets.

With :math:`s_j = 1` for the labels and :math:`-1` for the other classes,
:math:`L(u) = \sum_j \ell(s_j u_j)`; everything separates over the classes.

================  =======================================  ==============================
loss              :math:`\ell(z)`                          conjugate, :math:`v_j = s_j b_j`
================  =======================================  ==============================
`ova_svm`         :math:`\max\{0, 1 - z\}`, smoothed       :math:`b + \tfrac{g}{2} b^2`
                  quadratically over :math:`[1 - g, 1]`    on :math:`[-1, 0]`
`ova_logistic`    :math:`\log(1 + e^{-z})`                 :math:`p \log p + (1 - p)
                                                           \log(1 - p)`, :math:`p = -b`
================  =======================================  ==============================
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from shortlist._jit import inlined, kernel, summing_kernel
from shortlist.losses.operations import (
    Traits,
    conjugate,
    derivative,
    dot,
    gradient,
    step,
    traits,
    value,
)
from shortlist.special.elementary import exp, like, log, log1p, softplus, xlogx
from shortlist.special.omega import omega
from shortlist.special.padding import fill_up, padded_part
from shortlist.special.sums import total_of


class OvaSvm(NamedTuple):
    """One-vs-all hinge, smoothed by `smoothing`."""

    smoothing: float


class OvaLogistic(NamedTuple):
    """One-vs-all logistic loss."""


@inlined
def _hinge_step(z, curvature):
    """Return the minimiser over [-1, 0] for one class with margin `z`."""
    b = (z - 1.0) / curvature if curvature > 0.0 else (z - 1.0) * np.inf
    b = -1.0 if b < -1.0 else b
    return b if b < 0.0 else 0.0


@step.register(OvaSvm)
def _(loss, q, n_labels, a, v, work):
    curvature = loss.smoothing + a
    for j in range(q.size):
        sign = 1.0 if j < n_labels else -1.0
        v[j] = sign * _hinge_step(sign * np.float64(q[j]), curvature)


@conjugate.register(OvaSvm)
def _(loss, v, n_labels):
    mine, others = v[:n_labels], v[n_labels:]
    return total_of(mine) - total_of(others) + 0.5 * loss.smoothing * dot(v, v)


@value.register(OvaSvm)
def _(loss, u, n_labels, v, work):
    mine = _sum_of_hinges(u[:n_labels], -1.0, loss.smoothing)
    return mine + _sum_of_hinges(u[n_labels:], 1.0, loss.smoothing)


@summing_kernel
def _sum_of_hinges(u, sign, smoothing):
    total, slope = 0.0, 1.0 / smoothing if smoothing > 0.0 else 0.0
    for j in range(u.size):
        short = _short(u[j], sign)
        short = short if short > 0.0 else 0.0
        curved = short if short < smoothing else smoothing
        total += (short - 0.5 * curved) * (curved * slope) if smoothing > 0.0 else short
    return total


@inlined
def _short(u, sign):
    """Return what is missing of the margin, in this order also where sums may be reordered."""
    return 1.0 + sign * np.float64(u)


@inlined
def _logistic_step(z, a):
    r"""Return :math:`p` with :math:`\log(p / (1 - p)) + a p = z`.

    In :math:`w = \log(p / (1 - p))` the equation is :math:`w + a \sigma(w) = z`, and by
    symmetry (:math:`w \to -w`, :math:`z \to a - z`) the root is at :math:`w \le 0`. There
    the left side is convex, and below :math:`w + a e^w`, whose root `z - V(z + log a)`
    is known: Newton's method from it overshoots once and then falls to the root. It is
    at most :math:`\log 2` away, so four steps are exact to rounding.
    """
    one = like(z, 1.0)
    flipped = z > like(z, 0.5) * a
    least = a - z if flipped else z
    w = least - omega(least + log(a))
    for _ in range(4):
        e = exp(w)
        sigma = e / (one + e)
        w -= (w + a * sigma - least) / (one + a * sigma / (one + e))
    e = exp(w)
    return (one if flipped else e) / (one + e)


@inlined
def _sigmoid(z):
    one = like(z, 1.0)
    e = exp(-abs(z))
    return (one if z > like(z, 0.0) else e) / (one + e)


@step.register(OvaLogistic)
def _(loss, q, n_labels, a, v, work):
    if a < 1e-30:
        for j in range(q.size):
            v[j] = -_sigmoid(-q[j]) if j < n_labels else _sigmoid(q[j])
        return
    _logistic_steps(q, n_labels, like(q[0], a), v, work)


@kernel
def _logistic_steps(q, n_labels, a, v, work):
    """Write the steps of all classes to `v`, in whole vector registers."""
    p = padded_part(work[0], q)
    for j in range(q.size):
        p[j] = -q[j] if j < n_labels else q[j]
    fill_up(p, q.size)
    for j in range(p.size):
        p[j] = _logistic_step(p[j], a)
    for j in range(q.size):
        v[j] = -p[j] if j < n_labels else p[j]


@gradient.register(OvaLogistic)
def _(loss, u, n_labels, v, work):
    return _logistic_gradient(u, n_labels, v)


@summing_kernel
def _logistic_gradient(u, n_labels, v):
    """Write the gradient to `v`; return the conjugate there, with one logarithm a class."""
    total, one = 0.0, like(u[0], 1.0)
    for j in range(u.size):
        z = -u[j] if j < n_labels else u[j]
        e = exp(-abs(z))
        larger = one / (one + e)
        p, q = (larger, e * larger) if z > 0.0 else (e * larger, larger)
        # z p - log(1 + e^z), without the difference of large numbers
        total += np.float64(-abs(z) * (q if z > 0.0 else p)) - np.float64(log1p(e))
        v[j] = -p if j < n_labels else p
    return total


@conjugate.register(OvaLogistic)
def _(loss, v, n_labels):
    total = 0.0
    for j in range(v.size):
        p = abs(np.float64(v[j]))
        total += xlogx(p) + xlogx(1.0 - p)
    return total


@value.register(OvaLogistic)
def _(loss, u, n_labels, v, work):
    return _sum_of_softplus(u[:n_labels], -1.0) + _sum_of_softplus(u[n_labels:], 1.0)


@summing_kernel
def _sum_of_softplus(u, sign):
    total = 0.0
    for j in range(u.size):
        total += np.float64(softplus(u[j] * like(u[j], sign)))
    return total


@derivative.register(OvaSvm)
def _(loss, v, n_labels, a, h, p, work):
    for j in range(v.size):
        b = abs(np.float64(v[j]))
        h[j] = 1.0 / (loss.smoothing + a) if 0.0 < b < 1.0 else 0.0
    return 0.0, 0.0


@derivative.register(OvaLogistic)
def _(loss, v, n_labels, a, h, p, work):
    for j in range(v.size):
        b = abs(np.float64(v[j]))
        spread = b * (1.0 - b)
        h[j] = spread / (1.0 + a * spread)
    return 0.0, 0.0


@traits.register(OvaSvm)
def _(loss):
    return Traits(1, multilabel=True, convex=True, smoothing=loss.smoothing, separable=True)


@traits.register(OvaLogistic)
def _(loss):
    return Traits(1, True, convex=True, smoothing=4.0, separable=True, entropic=True)
