r"""Entropic projection onto the simplex.

.. math::

    \min_x \tfrac{\alpha}{2} \|x\|^2 - \langle z, x \rangle + \langle x, \log x \rangle
    \quad \text{s.t.} \quad x \ge 0, \ \langle 1, x \rangle = 1.

The solution is :math:`x_j = V(z_j - t) / \alpha` with :math:`V(t) = W(e^t)` and
:math:`\sum_j V(z_j - t) = \alpha` [LHS17, prop. "multilabel softmax update"]; it
is the softmax of `z` at :math:`\alpha = 0`. The left side is convex and
decreasing in `t`: Newton's method from a point left of the root rises to it, and
Halley's, which knows the second derivative, does so in far fewer passes. With
:math:`\ell = \log \sum_j e^{z_j}` such a point is

.. math::  t_0 = \ell - \log \alpha - \alpha \max_j e^{z_j - \ell},

because there the largest :math:`V(z_j - t_0)` is exactly :math:`v = \alpha \max_j
e^{z_j - \ell}`, hence :math:`V(z_j - t_0) = e^{z_j - t_0 - V(z_j - t_0)} \ge e^{z_j
- t_0 - v}`, and these sum to :math:`\alpha`. A second one, better where
:math:`\alpha` is large, is that of `m` elements equal to their mean (Jensen).
"""

from __future__ import annotations

import numpy as np

from shortlist._jit import inlined, kernel, summing_kernel
from shortlist.special.elementary import by_precision, exp, like, log, offset
from shortlist.special.omega import omega, omega_bend, omega_slope
from shortlist.special.padding import fill_up, padded_part
from shortlist.special.select import largest
from shortlist.special.sums import mean, sum_of_exp

_MAX_STEPS = 60


@inlined
def newton_tolerance(x):
    """Return the size of a Newton step whose square does not count in the precision of `x`."""
    return by_precision(x, 1e-8, 2e-4)


@kernel
def bounded_step(residual, slope, total, alpha, tolerance):
    """Return the Newton step, or 0 where it is large and `residual` is only rounding.

    Such a step comes of a small slope: at a kink, or where `alpha` is huge. `total`, the
    sum of V, is summed in the vector's precision, the rest, up to `alpha`, in float64.
    """
    step = residual / slope
    rounding = 16.0 * tolerance * tolerance * total + 1e-15 * alpha
    return step if abs(step) < tolerance or abs(residual) > rounding else 0.0


@inlined
def halley_tolerance(x):
    """Return the size of a step of Halley's method whose cube does not count."""
    return by_precision(x, 1e-5, 4e-3)


@summing_kernel
def omega_pass(z, shift, t, out):
    r"""Write :math:`V(z_j - shift - t)` to `out`; return its sum and those of its derivatives."""
    total, slopes, bends = 0.0, 0.0, 0.0
    shift, t = like(z[0], shift), like(z[0], t)
    for j in range(z.size):
        value = omega(offset(z[j], shift, t))
        out[j] = value
        slope = omega_slope(value)
        total += np.float64(value)
        slopes += np.float64(slope)
        bends += np.float64(omega_bend(slope))
    return total, slopes, bends


@kernel
def correct(out, step, cap, scale):
    r"""Turn the values :math:`V` at `t` into those at ``t + step``, capped, times `scale`.

    The last step, too small for the cube of it to count, is taken in the
    values and not in `t`: it saves an evaluation, and keeps the sum right where
    `t` itself cannot resolve it (float32).
    """
    step, cap, scale = like(out[0], step), like(out[0], cap), like(out[0], scale)
    half = like(out[0], 0.5) * step
    for j in range(out.size):
        slope = omega_slope(out[j])
        value = out[j] - step * (slope - half * omega_bend(slope))
        out[j] = (value if value < cap else cap) * scale


@summing_kernel
def softmax(z, shift, total, out):
    """Write ``exp(z - shift) / total`` to `out`."""
    shift, scale = like(z[0], shift), like(z[0], 1.0 / total)
    for j in range(z.size):
        out[j] = exp(z[j] - shift) * scale


@kernel
def entropic_simplex(z, alpha, out, work):
    r"""Write the solution to `out`; return `shift` and `t`.

    :math:`x = V(z - shift - t) / \alpha`. At :math:`\alpha = 0`, and where it is too small
    to be told from it, :math:`x = e^{z - shift - t}`.
    """
    shift = np.float64(largest(z))
    tolerance, enough = newton_tolerance(z[0]), halley_tolerance(z[0])
    if alpha < tolerance * tolerance:
        mass = sum_of_exp(z, shift)
        softmax(z, shift, mass, out)
        return shift, log(mass)
    inner, values = padded_part(work[0], z), padded_part(work[1], z)
    inner[: z.size] = z
    fill_up(inner, z.size)
    mass, share = sum_of_exp(inner, shift), alpha / z.size
    t = max(log(mass) - alpha / mass - log(alpha), mean(z, shift) - share - log(share))
    for _ in range(_MAX_STEPS):
        t = np.float64(like(z[0], t))
        total, slope, bend = omega_pass(inner, shift, t, values)
        step = bounded_step(total - alpha, slope, total, alpha, tolerance)
        step /= max(1.0 - 0.5 * step * bend / slope, 0.5)  # at most twice Newton's
        if abs(step) < enough:
            break
        t += step
    correct(values[: z.size], step, np.inf, 1.0 / alpha)
    out[:] = values[: z.size]
    return shift, t + step
