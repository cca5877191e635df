"""Reductions over a vector: sums are kept in float64 whatever the vector's precision."""

from __future__ import annotations

import numpy as np

from shortlist._jit import summing_kernel
from shortlist.special.elementary import exp, like, log
from shortlist.special.select import largest


@summing_kernel
def total_of(a):
    """Return the sum of `a`."""
    total = 0.0
    for j in range(a.size):
        total += np.float64(a[j])
    return total


@summing_kernel
def mean(a, shift):
    """Return the mean of ``a - shift``."""
    total = 0.0
    for j in range(a.size):
        total += np.float64(a[j]) - shift
    return total / a.size


@summing_kernel
def sum_of_exp(a, shift):
    r"""Return :math:`\sum_j e^{a_j - shift}`."""
    total = 0.0
    shift = like(a[0], shift)
    for j in range(a.size):
        total += np.float64(exp(a[j] - shift))
    return total


@summing_kernel
def logsumexp(a):
    r"""Return :math:`\log \sum_j e^{a_j}` without overflow, in float64.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist import special
    >>> float(special.logsumexp(np.array([0.0, 1000.0])))
    1000.0
    """
    shift = np.float64(largest(a))
    if np.isfinite(shift):
        return shift + log(sum_of_exp(a, shift))
    for j in range(a.size):
        if a[j] != a[j]:
            return np.nan
    return shift
