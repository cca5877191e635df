"""The projections by sorting: what the sort-free ones are measured against.

Each works on one vector and is written so that it runs under NumPy, and compiled
by Numba: one sort, prefix sums, and a binary search for the segment of the
threshold.
"""

from __future__ import annotations

import numba
import numpy as np


def simplex(v, radius):
    """Return the projection onto the simplex."""
    descending = np.sort(v)[::-1]
    thresholds = (np.cumsum(descending) - radius) / np.arange(1, v.size + 1)
    low, high = 0, v.size  # the last index with descending > threshold
    while high - low > 1:
        middle = (low + high) // 2
        if descending[middle] > thresholds[middle]:
            low = middle
        else:
            high = middle
    return np.maximum(v - thresholds[low], 0.0)


def topk_simplex(v, k, radius):
    """Return the projection onto {sum = radius, 0 <= x <= radius / k}: the easy branch."""
    hi = radius / k
    s = np.sort(v)
    sums = np.append(np.zeros(1), np.cumsum(s))
    best = s[0] - hi
    for offset in (0.0, hi):  # the breakpoints s and s - hi
        low, high = 0, v.size
        while high - low > 1:
            middle = (low + high) // 2
            p = s[middle] - offset
            i, j = np.searchsorted(s, p), np.searchsorted(s, p + hi)
            if sums[j] - sums[i] - (j - i) * p + hi * (v.size - j) >= radius:
                low = middle
            else:
                high = middle
        p = s[low] - offset
        i, j = np.searchsorted(s, p), np.searchsorted(s, p + hi)
        if sums[j] - sums[i] - (j - i) * p + hi * (v.size - j) >= radius:
            best = max(best, p)
    # Between the last breakpoint with sum >= radius and the next the sum is linear.
    i = np.searchsorted(s, best, side="right")
    j = np.searchsorted(s, best + hi, side="right")
    t = (sums[j] - sums[i] + hi * (v.size - j) - radius) / max(j - i, 1)
    return np.minimum(np.maximum(v - t, 0.0), hi)


def topk_cone(v, k, bias):
    """Return the projection onto {0 <= x <= sum / k}, biased: the hard branch, O(m log m)."""
    a = np.sort(v)[::-1]
    sums = np.append(np.zeros(1), np.cumsum(a))
    best_t, best_hi, best_violation = 0.0, 0.0, np.inf
    for u in range(k):
        # The more elements lie between, the lower t: search for where it settles.
        low, high = 1, a.size - u
        while low <= high:
            q = (low + high) // 2
            upper, middle = sums[u], sums[u + q] - sums[u]
            w, e = u + bias * k * k, k - u
            t = (w * middle - e * upper) / (e * e + w * q)
            hi = (q * upper + e * middle) / (e * e + w * q)
            t_below = a[u + q] if u + q < a.size else -np.inf
            # By how much the groups (u, q) contradict their own t and hi.
            violation = max(t_below - t, t - a[u + q - 1], 0.0)
            violation = max(violation, a[u] - (t + hi), (t + hi) - a[u - 1] if u > 0 else 0.0)
            if violation < best_violation:
                best_t, best_hi, best_violation = t, hi, violation
            if t > a[u + q - 1]:
                high = q - 1
            elif t < t_below:
                low = q + 1
            else:
                break
        if best_violation == 0.0:
            break
    return np.minimum(np.maximum(v - best_t, 0.0), best_hi)


def bipartite_simplex(a, b, radius):
    """Return the projection onto the bipartite simplex [Shalev-Shwartz, Singer 2006]."""
    x, y = simplex(a, radius), simplex(b, radius)
    i, j = np.argmax(a), np.argmax(b)
    if a[i] - x[i] + b[j] - y[j] >= 0.0:
        return x, y
    # sum max(a - t, 0) = sum max(b + t, 0), increasing in -t
    left, right = np.sort(a), np.sort(b)
    left_sums = np.append(np.zeros(1), np.cumsum(left))
    right_sums = np.append(np.zeros(1), np.cumsum(right))
    points = np.sort(np.append(left, -right))
    low, high = -1, points.size
    while high - low > 1:
        middle = (low + high) // 2
        p = points[middle]
        i, j = np.searchsorted(left, p), np.searchsorted(right, -p)
        above = left_sums[-1] - left_sums[i] - (left.size - i) * p
        below = right_sums[-1] - right_sums[j] + (right.size - j) * p
        if above >= below:
            low = middle
        else:
            high = middle
    p = points[max(low, 0)]
    i, j = np.searchsorted(left, p, side="right"), np.searchsorted(right, -p)
    n = (left.size - i) + (right.size - j)
    t = (left_sums[-1] - left_sums[i] - (right_sums[-1] - right_sums[j])) / max(n, 1)
    return np.maximum(a - t, 0.0), np.maximum(b + t, 0.0)


simplex_numba = numba.njit(simplex)
topk_simplex_numba = numba.njit(topk_simplex)
topk_cone_numba = numba.njit(topk_cone)


@numba.njit
def simplex_rows(v, radius, out):
    """Project every row, compiled."""
    for i in range(v.shape[0]):
        out[i] = simplex_numba(v[i], radius)


@numba.njit
def topk_simplex_rows(v, k, radius, out):
    """Project every row, compiled."""
    for i in range(v.shape[0]):
        out[i] = topk_simplex_numba(v[i], k, radius)


@numba.njit
def topk_cone_rows(v, k, bias, out):
    """Project every row, compiled."""
    for i in range(v.shape[0]):
        out[i] = topk_cone_numba(v[i], k, bias)


def _bipartite_numba():
    namespace = dict(globals())
    namespace["simplex"] = simplex_numba
    return numba.njit(type(bipartite_simplex)(bipartite_simplex.__code__, namespace))


bipartite_simplex_numba = _bipartite_numba()


@numba.njit
def bipartite_simplex_rows(a, b, radius, x, y):
    """Project every pair of rows, compiled."""
    for i in range(a.shape[0]):
        x[i], y[i] = bipartite_simplex_numba(a[i], b[i], radius)
