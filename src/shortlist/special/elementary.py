r"""Exponential and logarithms that vectorise inside kernels.

Numba calls the C library for ``np.exp`` and ``np.log``, one value at a time. The
functions here are polynomials and bit operations without branches or table
look-ups, so that LLVM turns a loop over them into vector instructions on any
CPU. They follow IEEE 754 at the ends of the range: subnormal numbers, zeros,
infinities and NaN.

==========  =====================================================  ==============
function    method                                                 error, in ulp
==========  =====================================================  ==============
`exp`       :math:`2^n e^r`, :math:`|r| \le \tfrac12 \log 2`,      1.0
            minimax polynomial
`log`       :math:`k \log 2 + \log(1 + f)`,                        1.0
            :math:`\tfrac{\sqrt2}{2} \le 1 + f < \sqrt2`
`log1p`     `log` of the rounded sum, corrected to first order     1.5
`softplus`  :math:`\max(x, 0) + \log(1 + e^{-|x|})`                2.5
`xlogx`     :math:`x \log x`                                       2.0
==========  =====================================================  ==============

`softplus` and `xlogx` are built of these. All keep the precision of their
argument, float32 or float64.
"""

from __future__ import annotations

import numpy as np

from shortlist._generic import inlined_generic
from shortlist._jit import inlined


@inlined_generic
def like(x, value):
    """Return the constant `value` in the precision of `x`."""


@like.register(np.float64, float)
def _(x, value):
    return np.float64(value)


@like.register(np.float32)
def _(x, value):
    return np.float32(value)


@inlined_generic
def by_precision(x, double, single):
    """Return the one of two constants that belongs to the precision of `x`."""


@by_precision.register(np.float64, float)
def _(x, double, single):
    return double


@by_precision.register(np.float32)
def _(x, double, single):
    return single


@inlined
def offset(x, shift, t):
    """Return ``(x - shift) - t``, in this order also where sums may be reordered."""
    return (x - shift) - t


@inlined_generic
def exp(x):
    r"""Return :math:`e^x`.

    Examples
    --------
    >>> from shortlist import special
    >>> float(special.exp(1.0))
    2.7182818284590455
    """


@inlined_generic
def log(x):
    r"""Return :math:`\log x`: minus infinity at 0, NaN below.

    Examples
    --------
    >>> from shortlist import special
    >>> float(special.log(10.0))
    2.302585092994046
    """


@inlined
def horner(coefficients, x):
    """Return the polynomial with `coefficients`, highest degree first, at `x`."""
    value = coefficients[0]
    for i in range(1, len(coefficients)):
        value = value * x + coefficients[i]
    return value


# Adding 1.5 * 2^52 (2^23) rounds to the nearest integer n and leaves n in the
# lowest bits, ready to be shifted into the exponent: no conversion to integer,
# which AVX2 lacks for 64 bits and which is undefined for NaN.
ROUND_64 = np.float64(1.5 * 2.0**52)
ROUND_32 = np.float32(1.5 * 2.0**23)
ROUND_64_BITS, ROUND_32_BITS = ROUND_64.view(np.int64), ROUND_32.view(np.int32)

# (e^r - 1 - r) / r^2 for |r| <= log(2) / 2: minimax polynomials (Remez) with
# relative errors of 4e-18 and 3e-9 in e^r.
_EXP_64 = tuple(
    np.float64(c)
    for c in (
        2.5000058349050145e-08,
        2.763024830872524e-07,
        2.7557586382581075e-06,
        2.480149309914401e-05,
        1.9841269506571107e-04,
        1.388888894362984e-03,
        8.333333333494463e-03,
        4.166666666653016e-02,
        1.6666666666666413e-01,
        5.000000000000011e-01,
    )
)
_EXP_32 = tuple(
    np.float32(c) for c in (1.3814595e-03, 8.368717e-03, 4.166839e-02, 1.6666521e-01, 4.9999994e-01)
)


@exp.register(np.float64, float)
def _(x):
    x = min(max(x, -746.0), 710.0) if x == x else x
    rounded = np.float64(x * 1.4426950408889634 + ROUND_64)
    n = rounded - ROUND_64
    r = (x - n * 6.93147180369123816490e-01) - n * 1.90821492927058770002e-10
    value = 1.0 + (r + r * r * horner(_EXP_64, r))
    # Two factors reach subnormal results below and the last binade above.
    spare, rest = (np.int64(64), 2.0**-64) if n < 0.0 else (np.int64(-1), 2.0)
    power = np.int64((rounded.view(np.int64) + (np.int64(1023) + spare)) << np.int64(52))
    return value * power.view(np.float64) * rest


@exp.register(np.float32)
def _(x):
    x = min(max(x, np.float32(-104.0)), np.float32(89.0)) if x == x else x
    rounded = np.float32(x * np.float32(1.4426950408889634) + ROUND_32)
    n = np.float32(rounded - ROUND_32)
    r = (x - n * np.float32(0.693359375)) - n * np.float32(-2.12194440e-4)
    value = np.float32(1.0) + (r + r * r * horner(_EXP_32, r))
    spare, rest = (
        (np.int32(24), np.float32(2.0**-24))
        if n < np.float32(0.0)
        else (np.int32(-1), np.float32(2.0))
    )
    power = np.int32((rounded.view(np.int32) + (np.int32(127) + spare)) << np.int32(23))
    return value * power.view(np.float32) * rest


# fdlibm's polynomial for (log(1 + f) - f + f^2 / 2) / s with s = f / (2 + f), in powers of s^2.
_LOG_64 = tuple(
    np.float64(c)
    for c in (
        1.479819860511658591e-01,
        1.531383769920937332e-01,
        1.818357216161805012e-01,
        2.222219843214978396e-01,
        2.857142874366239149e-01,
        3.999999999940941908e-01,
        6.666666666666735130e-01,
    )
)
# (log(1 + f) - f + f^2 / 2) / f^3: minimax, relative error 6e-9 in log(1 + f).
_LOG_32 = tuple(
    np.float32(c)
    for c in (
        -7.634495e-02,
        1.2761575e-01,
        -1.3160183e-01,
        1.4201759e-01,
        -1.6623357e-01,
        2.0001227e-01,
        -2.500082e-01,
        3.333333e-01,
    )
)
# The bits of sqrt(1/2), where the mantissa's range begins, and those of 1.
_HALF_ROOT_64, ONE_64_BITS = np.int64(0x3FE6A09E667F3BCD), np.int64(0x3FF0000000000000)
_HALF_ROOT_32, ONE_32_BITS = np.int32(0x3F3504F3), np.int32(0x3F800000)


@log.register(np.float64, float)
def _(x):
    subnormal = x < 2.2250738585072014e-308
    bits = np.float64(x * 2.0**54 if subnormal else x).view(np.int64) + (
        ONE_64_BITS - _HALF_ROOT_64
    )
    # The exponent as a number, again without a conversion: see ROUND_64.
    exponent = np.int64((bits >> np.int64(52)) + ROUND_64_BITS).view(np.float64)
    k = (exponent - ROUND_64) - (1077.0 if subnormal else 1023.0)
    mantissa = np.int64((bits & np.int64(0x000FFFFFFFFFFFFF)) + _HALF_ROOT_64).view(np.float64)
    f = mantissa - 1.0
    s = f / (2.0 + f)
    half_square = 0.5 * f * f
    tail = s * (half_square + s * s * horner(_LOG_64, s * s)) + k * 1.90821492927058770002e-10
    value = k * 6.93147180369123816490e-01 - ((half_square - tail) - f)
    value = value if x < np.inf else x  # infinity and NaN
    return value if x > 0.0 or x != x else (-np.inf if x == 0.0 else np.nan)


@log.register(np.float32)
def _(x):
    subnormal = x < np.float32(1.1754944e-38)
    scaled = x * np.float32(2.0**24) if subnormal else x
    bits = np.float32(scaled).view(np.int32) + (ONE_32_BITS - _HALF_ROOT_32)
    exponent = np.int32((bits >> np.int32(23)) + ROUND_32_BITS).view(np.float32)
    k = (exponent - ROUND_32) - (np.float32(151.0) if subnormal else np.float32(127.0))
    mantissa = np.int32((bits & np.int32(0x007FFFFF)) + _HALF_ROOT_32).view(np.float32)
    f = mantissa - np.float32(1.0)
    square = f * f
    tail = f * square * horner(_LOG_32, f) + k * np.float32(-2.12194440e-4)
    value = k * np.float32(0.693359375) + (f + (tail - np.float32(0.5) * square))
    value = value if x < np.float32(np.inf) else x
    limit = np.float32(-np.inf) if x == np.float32(0.0) else np.float32(np.nan)
    return value if x > np.float32(0.0) or x != x else limit


@inlined
def log1p(x):
    r"""Return :math:`\log(1 + x)` without loss near 0.

    Examples
    --------
    >>> from shortlist import special
    >>> float(special.log1p(1e-20))
    1e-20
    """
    one = like(x, 1.0)
    rounded = one + x
    value = log(rounded)
    corrected = value + (x - (rounded - one)) / rounded
    return corrected if like(x, 0.0) < rounded < like(x, np.inf) else value


@inlined
def softplus(x):
    r"""Return :math:`\log(1 + e^x)` without overflow.

    Examples
    --------
    >>> from shortlist import special
    >>> float(special.softplus(0.0))
    0.6931471805599453
    """
    zero = like(x, 0.0)
    return (x if x > zero else zero) + log1p(exp(-abs(x)))


@inlined
def xlogx(x):
    r"""Return :math:`x \log x`, which is 0 at 0.

    Examples
    --------
    >>> from shortlist import special
    >>> float(special.xlogx(0.0))
    0.0
    """
    zero = like(x, 0.0)
    value = x * log(x)
    return zero if x == zero else value
