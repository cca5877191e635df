r"""Numbers from text, correctly rounded, in compiled code; and back, without loss.

A decimal number is :math:`w \cdot 10^q` with an integer `w` of at most 19 digits. Where `w` and
:math:`10^{|q|}` are exact in float64, one multiplication or division rounds correctly [Cli90]_.
Elsewhere `w` is multiplied by the first 128 bits of :math:`10^q` [Lem21]_, which decides the
rounding of all but very few numbers. Those few, numbers with more digits and subnormal ones are
left to Python's `float`, which is exact.

References
----------
.. [Cli90] W. Clinger, "How to read floating point numbers accurately", 1990.
.. [Lem21] D. Lemire, "Number parsing at a gigabyte per second", 2021.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable

import numpy as np

from shortlist._jit import inlined, kernel

PLUS, MINUS, POINT, ZERO, NINE, SMALL_E, LARGE_E = b"+-.09eE"

#: What `scan_number` says of its number: its value, that `float` must decide, or that it is none.
EXACT, HARD, NO_NUMBER = 0, 1, 2

_ROOM_FOR_A_DIGIT = np.uint64(10**18)  # ten times as much, and nine, is below 2^64
_LEAST_POWER, _LARGEST_POWER = -342, 308
_EXACT_POWERS = np.array([10.0**q for q in range(23)])
_EXACT_INTEGERS = np.uint64(1 << 53)
_NUMBER = re.compile(rb"[-+.0-9eE]+")
_LARGEST_EXPONENT = 100_000  # more is infinity or zero

_ONE, _NINE, _TEN, _LOW = np.uint64(1), np.uint64(9), np.uint64(10), np.uint64(0xFFFFFFFF)
_HALF, _ALL, _NINE_BITS = np.uint64(32), np.uint64(0xFFFFFFFFFFFFFFFF), np.uint64(0x1FF)


def _leading_bits(q: int) -> int:
    """Return the first 128 bits of 10^q, cut off."""
    if q >= 0:
        power = 10**q
        shift = power.bit_length() - 128
        return power >> shift if shift >= 0 else power << -shift
    power = 10**-q
    return (1 << (power.bit_length() + 127)) // power


_POWERS = np.array(
    [divmod(_leading_bits(q), 1 << 64) for q in range(_LEAST_POWER, _LARGEST_POWER + 1)],
    dtype=np.uint64,
)


@inlined
def _product(a, b):
    """Return the upper and the lower 64 bits of a product; no sum here overflows."""
    a1, a0, b1, b0 = a >> _HALF, a & _LOW, b >> _HALF, b & _LOW
    low = a0 * b0
    middle = a1 * b0 + (low >> _HALF)
    other = a0 * b1 + (middle & _LOW)
    return a1 * b1 + (middle >> _HALF) + (other >> _HALF), (other << _HALF) | (low & _LOW)


@kernel
def _by_128_bits(w, q):
    """Return w 10^q and whether its rounding is decided."""
    if w == 0:
        return 0.0, True
    if q < _LEAST_POWER or q > _LARGEST_POWER:
        return 0.0, False
    zeros = 0
    while w < np.uint64(1 << 48):
        w, zeros = w << np.uint64(16), zeros + 16
    while w >> np.uint64(63) == 0:
        w, zeros = w << _ONE, zeros + 1
    upper, lower = _product(w, _POWERS[q - _LEAST_POWER, 0])
    if upper & _NINE_BITS == _NINE_BITS and lower > _ALL - w:
        # What was cut off may carry into the bits that count: take the other 64 bits, too.
        more, least = _product(w, _POWERS[q - _LEAST_POWER, 1])
        carry = more > _ALL - lower
        lower = lower - (_ALL - more) - _ONE if carry else lower + more
        upper += np.uint64(carry)
        if upper & _NINE_BITS == _NINE_BITS and lower == _ALL and least > _ALL - w:
            return 0.0, False
    top = upper >> np.uint64(63)
    mantissa = upper >> (top + _NINE)  # 54 bits, the last of which rounds
    if lower == 0 and upper & _NINE_BITS == 0 and mantissa & np.uint64(3) == 1:
        return 0.0, False  # perhaps half way between two numbers
    mantissa = (mantissa + (mantissa & _ONE)) >> _ONE
    exponent = ((217706 * q) >> 16) + (63 if top == 0 else 64) - zeros
    if exponent < -1021 or exponent > 1022:  # subnormal or infinite, or close to it
        return 0.0, False
    return math.ldexp(np.float64(mantissa), int(exponent) - 52), True


@inlined
def _scan_digits(data, i, w):
    """Append digits to the integer `w`; return it, the position after them, and if all fitted."""
    fits = True
    while ZERO <= data[i] <= NINE:
        if w < _ROOM_FOR_A_DIGIT:
            w = w * _TEN + np.uint64(data[i] - ZERO)
        else:
            fits = False
        i += 1
    return w, i, fits


@kernel
def _scan_power(data, i):
    """Return the power after an e, and the position after it, which is `i` if there is none."""
    negative = data[i] == MINUS
    first = i + 1 if negative or data[i] == PLUS else i
    after, power = first, 0
    while ZERO <= data[after] <= NINE:
        power = min(power * 10 + np.int64(data[after]) - ZERO, _LARGEST_EXPONENT)
        after += 1
    return (-power if negative else power), (after if after > first else i)


@inlined
def scan_number(data, at):
    """Return the number that begins at `data[at]`, the position after it, and what it is.

    `data` are bytes that end in a character which is part of no number.
    """
    negative = data[at] == MINUS
    first = at + 1 if negative or data[at] == PLUS else at
    w, i, fits = _scan_digits(data, first, np.uint64(0))
    n_digits, q = i - first, 0
    if data[i] == POINT:
        point = i
        w, i, all_fit = _scan_digits(data, i + 1, w)
        q = point + 1 - i
        n_digits -= q
        fits = fits and all_fit
    if n_digits == 0:
        return 0.0, at, NO_NUMBER
    if data[i] == SMALL_E or data[i] == LARGE_E:
        power, after = _scan_power(data, i + 1)
        if after == i + 1:
            return 0.0, at, NO_NUMBER
        q += power
        i = after
    if w <= _EXACT_INTEGERS and -22 <= q <= 22:
        value = np.float64(w)
        if q < 0:
            value /= _EXACT_POWERS[-q]
        elif q > 0:
            value *= _EXACT_POWERS[q]
    else:
        value, decided = _by_128_bits(w, q)
        fits = fits and decided
    if not fits:
        return np.nan, i, HARD
    return -value if negative else value, i, EXACT


def read_number(data: bytes, at: int) -> float:
    """Return a number that `scan_number` found hard; infinity, if it is too large."""
    found = _NUMBER.match(data, at)
    assert found is not None
    return float(found[0])


def as_float(text: str) -> float:
    """Return a number as files write them; `float` also takes underscores and other alphabets."""
    value = float(text)
    if not math.isfinite(value) or "_" in text or not text.isascii():
        raise ValueError
    return value


def as_floats(texts: list[str]) -> list[float]:
    """Return many numbers."""
    values = list(map(float, texts))
    # The sum is finite unless a number is not, or the sum alone overflows.
    if not math.isfinite(sum(values)) or "_" in (joined := "".join(texts)) or not joined.isascii():
        return list(map(as_float, texts))
    return values


def number_texts(values: Iterable[float]) -> list[str]:
    """Return the shortest texts that are read back as the same numbers."""
    return [text.removesuffix(".0") for text in map(repr, values)]
