"""The largest elements of a vector, mostly without sorting it."""

from __future__ import annotations

import numpy as np

from shortlist._jit import kernel, largest_kernel
from shortlist.special.few_largest import eight_largest, four_largest, write_largest

#: Vectors are scanned this many columns at a time, each with a maximum of its own.
LANES = 64
#: Up to this k a bound is worth its cost.
_FILTER_MAX_K = 16
#: Up to this length insertion is the fastest way to sort: Numba's own takes ten times as long.
_INSERTION = 128


@kernel
def lane_maxima(a, lanes):
    """Write the maximum of every `LANES`-th element of `a`, from each start, to `lanes`.

    A plain loop for the maximum waits for each comparison before the next one;
    independent columns become vector instructions. `a` needs `LANES` elements.
    """
    for j in range(LANES):
        lanes[j] = a[j]
    whole = a.size - a.size % LANES
    for start in range(LANES, whole, LANES):
        for j in range(LANES):
            value = a[start + j]
            lanes[j] = value if value > lanes[j] else lanes[j]
    for j in range(a.size - whole):
        value = a[whole + j]
        lanes[j] = value if value > lanes[j] else lanes[j]


@largest_kernel
def largest(a):
    """Return the largest element of `a`, which has no NaN."""
    best = a[0]
    for j in range(a.size):
        best = a[j] if a[j] > best else best
    return best


@kernel
def sort_descending(a):
    """Sort `a` in place, the largest element first."""
    if a.size > _INSERTION:
        a[:] = np.sort(a)[::-1]
    else:
        put_in_order(a)


@kernel
def put_in_order(a):
    """Do the same for few elements, or many that are almost in order, and take less to compile."""
    for i in range(1, a.size):
        value, at = a[i], i
        while at > 0 and a[at - 1] < value:
            a[at] = a[at - 1]
            at -= 1
        a[at] = value


@kernel
def are_few(k, m):
    """Return whether the `k` largest of `m` elements are found at once by `write_largest`."""
    return k <= _FILTER_MAX_K and k <= m < 4 * LANES


@kernel
def top_bound(a, k, lanes):
    """Return the largest element of `a` and a lower bound of its k-th largest.

    That is the k-th largest itself where `a` is short, else the k-th largest of the lanes' maxima:
    `k` elements are no smaller. Where neither is worth a pass over `a` it is minus infinity.
    """
    if k == 1:
        best = np.float64(largest(a))
        return best, best
    if are_few(k, a.size):
        write_largest(a, lanes[:k])
        return lanes[0], lanes[k - 1]
    if k > _FILTER_MAX_K or a.size < 4 * LANES:
        return np.float64(largest(a)), -np.inf
    lane_maxima(a, lanes)
    best = kth = largest(lanes[:LANES])
    for _ in range(k):
        at = 0
        for j in range(1, LANES):
            at = j if lanes[j] > lanes[at] else at
        kth = lanes[at]
        lanes[at] = -np.inf
    return best, kth


@kernel
def gather_from(a, floor, work):
    """Write the elements of `a` that are at least `floor` to `work`; return their number."""
    n = 0
    for j in range(a.size):
        value = np.float64(a[j])
        work[n] = value  # without a branch: overwritten unless it counts
        n += value >= floor
    return n


@kernel
def gather_after(a, floor, k, work):
    """Do the same where ``work[:k]`` holds the `k` largest, the others after these."""
    bound, n, missing = work[k - 1], k, 0
    for j in range(k):
        missing -= work[j] == bound
    for j in range(a.size):
        value = np.float64(a[j])
        missing += value == bound
        if n < work.size:
            work[n] = value
        n += (value >= floor) & (value < bound)
    for _ in range(missing):  # as large as the last of the `k`
        work[n] = bound
        n += 1
    return n


@kernel
def put_largest_first(a, k, work):
    """Write `a`, its `k` largest elements first, to `work`."""
    if are_few(k, a.size):
        write_largest(a, work[:k])
        gather_after(a, -np.inf, k, work)
    else:
        work[: a.size] = a
        partition_largest(work[: a.size], k)


@kernel
def partition_largest(a, k):
    """Reorder `a` in place so that its `k` largest elements come first; expected O(len(a))."""
    left, right = 0, a.size - 1
    while left < right:
        x, y, z = a[left], a[(left + right) // 2], a[right]
        pivot = max(min(x, y), min(max(x, y), z))
        i, j = left, right
        while i <= j:
            while a[i] > pivot:
                i += 1
            while a[j] < pivot:
                j -= 1
            if i <= j:
                a[i], a[j] = a[j], a[i]
                i += 1
                j -= 1
        # Now a[left..j] >= pivot >= a[i..right], and what lies between equals it.
        if k - 1 <= j:
            right = j
        elif k - 1 >= i:
            left = i
        else:
            return


@kernel
def kth_largest(a, k, work):
    """Return the k-th largest element, and how many equal to it are among the k largest.

    `a` is not changed; `work`, at least as long, is left with the k largest in front.
    """
    if are_few(k, a.size):
        write_largest(a, work[:k])
        bound = work[k - 1]
    else:
        _, floor = top_bound(a, k, work)
        few = work[: gather_from(a, floor, work)]
        partition_largest(few, k)
        bound = few[:k].min()
    ties = 0
    for j in range(k):
        ties += work[j] == bound
    return bound, ties


@kernel
def total_of_largest(a, k):
    """Return the sum of the `k` largest elements, and the last of them."""
    total, last = 0.0, 0.0
    if k <= 4:
        four = four_largest(a)
        for i in range(k):
            total, last = total + four[i], four[i]
    elif k <= 8:
        eight = eight_largest(a)
        for i in range(k):
            total, last = total + eight[i], eight[i]
    else:
        top = a.copy()
        partition_largest(top, k)
        total, last = np.float64(top[:k].sum()), np.float64(top[:k].min())
    return total, last
