r"""Projections onto the top-k simplex, with a bias.

.. math::

    \min_x \tfrac12 \|x - a\|^2 + \tfrac{\rho}{2} \langle 1, x \rangle^2
    \quad \text{s.t.} \quad \langle 1, x \rangle \le r, \quad
    0 \le x_j \le \tfrac1k \langle 1, x \rangle \ (\alpha)
    \quad \text{or} \quad 0 \le x_j \le \tfrac{r}{k} \ (\beta).

The bias :math:`\rho` comes from the dual variable of the label itself, which is
:math:`-\langle 1, x \rangle` [LHS17, prop. "smooth top-k hinge update"]. The
solution is a `Clip`. Usually the sum constraint is active and the knapsack with
:math:`\langle 1, x \rangle = r` has it already; the other cases are told apart
by its threshold.
"""

from __future__ import annotations

import numpy as np

from shortlist._jit import inlined, kernel
from shortlist.prox.clip import Clip, candidates
from shortlist.prox.variable_fixing import (
    above,
    fix_variables,
    rise_to_threshold,
    sum_of_clipped,
)
from shortlist.special.select import gather_from, largest, put_in_order

#: A rounding error.
_EPS = float(np.finfo(np.float64).eps)
#: Vectors up to this length are not worth a selection of what can be above the threshold.
_SHORT = 64


@kernel
def topk_beta(a, k, radius, bias, work):
    """Return the `Clip` onto the top-k simplex beta."""
    if k == 1:
        return _simplex(a, radius, bias, work)
    hi = radius / k
    shift, n = candidates(a, k, hi, work[0])
    kept = work[0][:n]
    active = a.size >= k and _reaches(kept, bias * radius - shift, hi, radius)
    weight, target, slope = _equation(active, radius, bias, shift)
    return Clip(shift, fix_variables(kept, 0.0, hi, weight, target, slope), 0.0, hi)


@inlined
def _reaches(a, t, hi, radius):
    """Return whether the sum constraint is active, from the elements above a threshold `t`.

    With <1, x> = r the threshold is at least bias * r; the sum falls as it rises. Elements at the
    upper bound add up to the radius, but for rounding.
    """
    return sum_of_clipped(a, t, hi) >= radius * (1.0 - _EPS * (a.size + 2))


@inlined
def _equation(active, radius, bias, shift):
    """Return weight, target and slope of the equation for `t`: if not active t = bias * <1, x>."""
    return (1.0, radius, 0.0) if active else (bias, shift, 1.0)


@inlined
def _simplex(a, radius, bias, work):
    """Return the `Clip` for k = 1: no element reaches the upper bound before the sum does."""
    best = np.float64(largest(a))
    weight, target, slope = _equation(
        _reaches(a, bias * radius, radius, radius), radius, bias, best
    )
    if a.size <= _SHORT:
        t = rise_to_threshold(a, best, -radius, weight, target, slope)
    else:
        n = gather_from(a, best - radius, work[0])
        t = rise_to_threshold(work[0][:n], best, -radius, weight, target, slope)
    return Clip(best, t, 0.0, radius)


@kernel
def topk_alpha(a, k, radius, bias, work):
    """Return the `Clip` onto the top-k simplex alpha; `a` has at least `k` elements."""
    if k == 1:  # both variants are the simplex
        return _simplex(a, radius, bias, work)
    shift, n = candidates(a, k, radius / k, work[0])
    kept = work[0][:n]
    top_sum = k * shift + kept[:k].sum()
    if top_sum <= 0.0:
        return Clip(shift, np.inf, 0.0, 0.0)
    hi = top_sum / (k + bias * k * k)
    if k * hi <= radius and (n == k or -hi >= kept[k:].max()):  # the k-th largest is 0 here
        return Clip(shift, -hi, 0.0, hi)

    hi = radius / k
    t = fix_variables(kept, 0.0, hi, 1.0, radius, 0.0)
    n_upper, upper_sum = above(kept, 0.0, t + hi)
    multiplier = k * (k * shift + upper_sum + (k - n_upper) * t)
    if multiplier >= radius * (n_upper + bias * k * k):
        return Clip(shift, t, 0.0, hi)
    t, hi = cone_threshold(kept, k, bias, shift, min(n_upper, k - 1))
    return Clip(shift, t, 0.0, hi)


@kernel
def cone_threshold(a, k, bias, shift, u):
    r"""Solve on the top-k cone, :math:`0 \le x_j \le \frac1k \langle 1, x \rangle`.

    From a guess of `u`, how many elements are at the upper bound, go to the next until it
    contradicts itself no more; should that go round in circles, try all. Elements, of which the
    `k` largest come first and are put in order, and `t` are relative to `shift`.
    """
    put_in_order(a[:k])
    for _ in range(2 * k):
        t, hi = _with_upper(a, k, bias, shift, u)
        if u < k - 1 and a[u] > t + hi:
            u += 1
        elif u > 0 and a[u - 1] < t + hi:
            u -= 1
        else:
            return t, hi
    return cone_threshold_of_all(a, k, bias, shift)


@kernel
def cone_threshold_of_all(a, k, bias, shift):
    """Solve for every number of elements at the upper bound; the `k` largest are in order."""
    best_t, best_hi, least = 0.0, 0.0, np.inf
    for u in range(k):
        t, hi = _with_upper(a, k, bias, shift, u)
        contradiction = max(a[u] - (t + hi), 0.0)
        if u > 0:
            contradiction = max(contradiction, (t + hi) - a[u - 1])
        if contradiction < least:
            best_t, best_hi, least = t, hi, contradiction
    return best_t, best_hi


@kernel
def _with_upper(a, k, bias, shift, u):
    r"""Return `t` and `hi` where the `u` largest elements are at the upper bound, no others.

    Both equations are one of `t`:

    .. math::

        (u + \rho k^2) \sum_{j > u} (a_{[j]} - t)_+ = (k - u) \sum_{j \le u} a_{[j]} + (k - u)^2 t.
    """
    weight, upper_sum, e = u + bias * k * k, k * shift, k - u
    for j in range(u):
        upper_sum += a[j]
    t = rise_to_threshold(a[u:], 0.0, -np.inf, weight, e * upper_sum, e * e)
    if weight > 0.0:
        return t, (upper_sum + e * t) / weight
    return t, sum_of_clipped(a, t, np.inf) / k  # nothing holds the sum back
