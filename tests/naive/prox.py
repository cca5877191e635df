"""The proximal maps by bisection, by enumeration, and by a convex solver."""

from __future__ import annotations

import numpy as np
from scipy.optimize import brentq
from scipy.special import logsumexp, wrightomega


def bisect(decreasing, low, high, steps=200):
    """Return where `decreasing` changes sign between `low` and `high`."""
    for _ in range(steps):
        middle = low + (high - low) / 2
        if decreasing(middle) > 0:
            low = middle
        else:
            high = middle
    return low + (high - low) / 2


def knapsack(v, radius, lower, upper, equality):
    """Bisection on the threshold, in extended precision."""
    v = v.astype(np.longdouble)

    def at(t):
        return np.clip(v - t, lower, upper)

    if not equality and at(0.0).sum() <= radius:
        return at(0.0)
    # Close to the elements that are between their bounds, or t cannot be resolved.
    order = np.sort(v)[::-1]
    whole = int(radius // upper) if 0.0 == lower < upper < np.inf else 0
    v = v - order[min(whole, v.size - 1)]
    span = v.max() - v.min() + abs(radius) + 1
    ends = v.min() - span, v.max() + span
    if np.isfinite(lower):
        ends = ends[0], v.max() - lower
    if np.isfinite(upper):
        ends = v.min() - upper, ends[1]
    return at(bisect(lambda t: at(t).sum() - radius, *ends))


def topk_simplex(v, k, radius, variant, bias):
    """Enumerate the sizes of the groups at the upper bound and between the bounds; keep the best.

    No condition is checked but feasibility: the objective decides.
    """
    v = v.astype(np.longdouble)
    order = np.argsort(-v, kind="stable")
    a = v[order]
    m = a.size
    sums = np.concatenate([[0], np.cumsum(a)])

    def objective(x):
        return ((x - v) ** 2).sum() + bias * x.sum() ** 2

    best, best_value = np.zeros(m), objective(np.zeros(m))
    for u in range(min(k, m) + 1):
        for q in range(m - u + 1):
            for t, hi in _topk_candidates(u, q, sums, k, radius, variant, bias):
                x = np.zeros(m, np.longdouble)
                x[order[:u]] = hi
                x[order[u : u + q]] = a[u : u + q] - t
                total = x.sum()
                cap = total / k if variant == "alpha" else np.longdouble(radius) / k
                slack = 1e-12 * (radius + np.abs(x).sum())
                if x.min() >= -slack and x.max() <= cap + slack and total <= radius + slack:
                    value = objective(x)
                    if value < best_value:
                        best, best_value = x, value
    return best


def _topk_candidates(u, q, sums, k, radius, variant, bias):
    """Thresholds and upper bounds that are stationary for `u` elements above and `q` between."""
    middle = sums[u + q] - sums[u]
    if q > 0:  # the sum is the radius
        yield (middle + u * radius / k - radius) / q, radius / k
    if variant == "beta":
        if q > 0:  # the sum is free: t = bias * (u * radius / k + middle - q * t)
            yield bias * (u * radius / k + middle) / (1 + bias * q), radius / k
        yield 0.0, radius / k
        return
    if u == k:
        yield 0.0, radius / k
        yield 0.0, sums[k] / (k + bias * k * k)
    if q > 0 and u < k:
        # sum x = s: middle - q t = (k - u) s / k; stationary in s: see the paper's Lagrangian
        matrix = np.array([[q, (k - u) / k], [(k - u) / k, -(bias + u / k**2)]], dtype=float)
        right = np.array([middle, -sums[u] / k], dtype=float)
        t, s = np.linalg.solve(matrix, right)
        yield t, s / k


def bipartite_simplex(a, b, radius):
    """Bisection on the common sum, each side by bisection on its threshold."""
    a, b = a.astype(np.longdouble), b.astype(np.longdouble)

    def thresholds(total):
        return [
            bisect(lambda t, v=v: np.maximum(v - t, 0).sum() - total, v.max() - total, v.max(), 100)
            for v in (a, b)
        ]

    # The derivative of the two distances together with respect to the sum is -(t + s).
    total = bisect(lambda r: sum(thresholds(r)), np.longdouble(0), np.longdouble(radius), 100)
    if sum(thresholds(radius)) >= 0:
        total = radius
    t, s = thresholds(total)
    return np.maximum(a - t, 0), np.maximum(b - s, 0)


def _log_x(b, alpha):
    """Return the function t -> log x with alpha x + log x = b - t."""
    if alpha == 0:
        return lambda t: b - t

    def at(t):
        shifted = b - t + np.log(alpha)
        # log V(u) = u - V(u), which does not underflow
        return shifted - wrightomega(shifted) - np.log(alpha)

    return at


def _root(decreasing, low, high):
    return brentq(lambda t: float(decreasing(t)), low, high, xtol=1e-14, rtol=8.9e-16, maxiter=500)


def entropic_simplex(z, alpha):
    """A bracketed root in the threshold, with SciPy's omega function."""
    z = z - z.max()

    def at(t):
        return np.exp(z - t) if alpha == 0 else wrightomega(z - t + np.log(alpha)) / alpha

    return at(_root(lambda t: at(t).sum() - 1, -alpha - 1, np.log(z.size) + 1))


def entropic_topk_simplex(b, k, alpha, variant):
    """Roots in two levels: for a given sum s a capped problem, then the best s = sigmoid(w)."""
    m = b.size
    log_x = _log_x(b, alpha)

    def given(w):
        log_s = -np.logaddexp(0, -w)
        log_cap = log_s - np.log(k) if variant == "alpha" else -np.log(k)
        if variant == "alpha" and m == k:
            return np.full(m, np.exp(log_cap)), None, log_s, log_cap

        def excess(t):  # in logarithms: s may be tiny
            capped = np.minimum(log_x(t), log_cap)
            return logsumexp(capped) - log_s

        reach = alpha + np.log(m * k) - log_s + 1
        t = _root(excess, b.min() - reach, b.max() + reach)
        return np.exp(np.minimum(log_x(t), log_cap)), t, log_s, log_cap

    def slope(w):
        """The derivative of the minimum with respect to s (envelope theorem)."""
        _, t, log_s, log_cap = given(w)
        s, at_cap = np.exp(log_s), alpha * np.exp(log_cap) + log_cap
        outer = alpha * s + np.logaddexp(0, w)  # -log(1 - s) = softplus(w)
        if t is None:
            return outer + (at_cap - b).sum() / k
        nu = np.maximum(b - t - at_cap, 0) if variant == "alpha" else np.zeros(1)
        return outer - t - nu.sum() / k

    return given(_root(lambda w: -slope(w), -700.0, 700.0))[0]


def topk_sum_prox(z, k, scale):
    """Enumerate the ends of the pool in sorted order; keep the best."""
    z = z.astype(np.longdouble)
    order = np.argsort(-z, kind="stable")
    a = z[order]
    m = a.size
    best, best_value = None, np.inf
    for first in range(k + 1):
        for last in range(max(k, first), m + 1):
            y = a - scale * (np.arange(m) < k)
            if last > first:
                y[first:last] = y[first:last].mean()
            t = bisect(lambda t, y=y: np.maximum(y - t, 0).sum() - 1, y.max() - 1, y.max(), 100)
            p = np.maximum(y - t, 0)
            value = ((p - a) ** 2).sum() / 2 + scale * np.sort(p)[::-1][:k].sum()
            if value < best_value:
                best, best_value = p, value
    out = np.empty(m)
    out[order] = best
    return out
