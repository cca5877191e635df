r"""Continuous quadratic knapsack: projections onto the simplex and its relatives.

.. math::

    \min_x \tfrac12 \|x - a\|^2
    \quad \text{s.t.} \quad \langle 1, x \rangle = r \ (\text{or} \le r),
    \quad lo \le x_j \le hi.

The solution is :math:`x_j = \min\{\max\{lo, a_j - t\}, hi\}`; only `t` is sought.
Variable fixing [Kiw08]_ finds it without sorting in expected time :math:`O(m)`:
solve for `t` as if no free variable met a bound, see which would, and fix the
side whose violation is larger, for good.

What is fixed below was at or below some value, what is fixed above was above
some value: the free variables are those between two numbers. So nothing is moved
in memory, and a round is one pass of vector instructions.

References
----------
.. [Kiw08] K. C. Kiwiel, "Variable fixing algorithms for the continuous quadratic
   knapsack problem", J. Optim. Theory Appl. 136 (2008).
"""

from __future__ import annotations

import numpy as np

from shortlist._jit import inlined, kernel, summing_kernel
from shortlist.prox.clip import Clip, candidates
from shortlist.special.sums import total_of

#: Relative difference of two sums that may be rounding.
_ROUNDING = 1e-12


@summing_kernel
def tails(a, floor, lower, upper, ceiling):
    """Return number and sum of the elements in (floor, lower], then in (upper, ceiling]."""
    n_under, under, n_over, over = 0, 0.0, 0, 0.0
    for j in range(a.size):
        value = a[j]
        below = (value > floor) & (value <= lower)
        above = (value > upper) & (value <= ceiling)
        n_under += below
        under += value if below else 0.0
        n_over += above
        over += value if above else 0.0
    return n_under, under, n_over, over


@summing_kernel
def _split(a, floor, lower, upper, ceiling):
    """Return the number and sum of the elements in (floor, lower], the sum of those up to
    `upper`, and the number and sum of the rest up to `ceiling`.
    """
    n_under, under, middle, n_over, over = 0, 0.0, 0.0, 0, 0.0
    for j in range(a.size):
        value = a[j]
        free = (value > floor) & (value <= ceiling)
        below, above = free & (value <= lower), free & (value > upper)
        n_under += below
        under += value if below else 0.0
        middle += value if free & (value > lower) & (value <= upper) else 0.0
        n_over += above
        over += value if above else 0.0
    return n_under, under, middle, n_over, over


@summing_kernel
def sum_of_clipped(a, t, hi):
    r"""Return :math:`\sum_j clip(a_j - t, 0, hi)`."""
    total = 0.0
    for j in range(a.size):
        value = a[j] - t
        value = value if value > 0.0 else 0.0
        total += value if value < hi else hi
    return total


@inlined
def _at_bound(n, bound):
    """Return the sum of `n` elements at a bound, which may be infinite where there is none."""
    return n * bound if n > 0 else 0.0


@kernel
def fix_variables(a, lo, hi, weight, target, slope):
    r"""Return the `t` with :math:`weight \sum_j clip(a_j - t, lo, hi) = target + slope \cdot t`.

    ``weight=1, slope=0`` is the knapsack with :math:`\langle 1, x \rangle = target`,
    which must be feasible; ``slope=1`` has a solution for any `target`.
    """
    floor, ceiling = -np.inf, np.inf  # the free variables are in (floor, ceiling]
    n, total, fixed, t = a.size, total_of(a), 0.0, 0.0
    while n > 0:
        t = (weight * (total + fixed) - target) / (weight * n + slope)
        n_under, under, middle, n_over, over = _split(a, floor, t + lo, t + hi, ceiling)
        # Rounding must not make these negative: with nothing to fix the loop would not end.
        excess = max(over - n_over * (t + hi), 0.0) if n_over > 0 else 0.0
        shortfall = max(n_under * (t + lo) - under, 0.0) if n_under > 0 else 0.0
        fix_over = excess > shortfall
        if abs(excess - shortfall) <= _ROUNDING * excess:
            # Both may be large and their difference rounding: then the sum itself decides,
            # in which elements beyond a bound count as much as the bound.
            n_middle = n - n_under - n_over
            reached = fixed + _at_bound(n_over, hi) + _at_bound(n_under, lo)
            missing = target + slope * t - weight * (reached + (middle - n_middle * t))
            if missing == 0.0 or (n_over if missing > 0.0 else n_under) == 0:
                break
            fix_over = missing > 0.0
        # Sums of what stays free, not differences: what is far away leaves no rounding error.
        if fix_over:
            n, total, fixed, ceiling = n - n_over, under + middle, fixed + n_over * hi, t + hi
        else:
            n, total, fixed, floor = n - n_under, middle + over, fixed + n_under * lo, t + lo
    if n == 0 and slope > 0.0:
        t = (weight * fixed - target) / slope
    elif n == 0:  # every variable is at a bound
        t = ceiling - hi if ceiling < np.inf else floor - lo
    # Once more for the groups that t makes, from sums that no subtraction has touched.
    n, total, n_over, _ = tails(a, t + lo, t + hi, t + hi, np.inf)
    if n > 0:
        n_under = a.size - n - n_over
        fixed = _at_bound(n_over, hi) + _at_bound(n_under, lo)
        t = (weight * (total + fixed) - target) / (weight * n + slope)
    return t


@inlined
def _minus(x, shift):
    """Return a difference that is taken first, also where sums may be reordered."""
    return np.float64(x) - shift


@summing_kernel
def above(a, shift, t):
    """Return number and sum of the elements of ``a - shift`` above `t`."""
    n, total = 0, 0.0
    for j in range(a.size):
        value = _minus(a[j], shift)
        free = value > t
        n += free
        total += value if free else 0.0
    return n, total


@inlined
def rise_to_threshold(a, shift, floor, weight, target, slope):
    r"""Return the same `t` of ``a - shift`` where the bounds are 0 and infinity.

    The left side is convex: Newton's method rises from the root for all elements above `floor`,
    which is left of the solution if that is, and drops those that it passes.
    """
    n, total = above(a, shift, floor)
    while True:
        t = (weight * total - target) / (weight * n + slope)
        n_above, total = above(a, shift, t)
        if n_above >= n:  # rounding may take back what it has dropped
            return t
        if n_above == 0:  # nothing is left above its bound
            return -target / slope if slope > 0.0 else t
        n = n_above


@kernel
def _group_size(m, span, spread):
    r"""Return the largest `k` for which a total of `spread` puts `k` variables at `span`."""
    if not span < spread:
        return 1
    return int(min(np.ceil(spread / span), np.float64(m)))


@kernel
def knapsack(a, radius, lo, hi, equality, work):
    """Return the `Clip` of the knapsack; feasibility is the caller's business."""
    if not equality:
        total = 0.0
        for j in range(a.size):
            total += min(max(np.float64(a[j]), lo), hi)
        if total <= radius:
            return Clip(0.0, 0.0, lo, hi)
    # In terms of x - lo >= 0 the elements share a total of `spread`.
    spread = radius - a.size * lo
    if spread <= 0.0:
        return Clip(0.0, np.inf, lo, hi)
    k = _group_size(a.size, hi - lo, spread)
    shift, n = candidates(a, k, spread / k, work[0])
    at_lower = lo * (a.size - n) if n < a.size else 0.0  # lo may be infinite
    if lo == 0.0 and hi == np.inf:
        t = rise_to_threshold(work[0][:n], 0.0, -np.inf, 1.0, radius, 0.0)
    else:
        t = fix_variables(work[0][:n], lo, hi, 1.0, radius - at_lower, 0.0)
    return Clip(shift, t, lo, hi)


@kernel
def simplex(a, radius, equality, work):
    r"""Return the `Clip` of the projection onto :math:`\{x \ge 0, \langle 1, x \rangle = r\}`.

    With `equality` false the set is :math:`\langle 1, x \rangle \le r`.
    """
    return knapsack(a, radius, 0.0, np.inf, equality, work)
