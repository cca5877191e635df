"""A user's arrays and numbers: served as they are, or refused with one clear sentence."""

from __future__ import annotations

import difflib
import math
import numbers
import operator
from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

FloatArray = NDArray[Any]

_SERVED = (np.dtype(np.float32), np.dtype(np.float64))


def as_floats(values: ArrayLike, name: str) -> FloatArray:
    """Return `values` as a C-ordered native float32 or float64 array, copied only if need be."""
    array = np.asarray(values)
    return np.asarray(array, dtype=float_type(array.dtype, name), order="C")


def float_type(dtype: np.dtype[Any], name: str) -> np.dtype[Any]:
    """Return the native float32 or float64 in which numbers of `dtype` are served."""
    if dtype.kind not in "fiub" or dtype.itemsize > 8:
        raise TypeError(f"{name} has dtype {dtype}; convert it to float32 or float64.")
    native = dtype.newbyteorder("=")
    return native if native in _SERVED else np.dtype(np.float64)


def as_rows(values: ArrayLike, name: str) -> FloatArray:
    """Return one vector or a matrix of row vectors as a matrix; refuse empty vectors."""
    array = as_floats(values, name)
    if array.ndim not in (1, 2):
        shape = "a number" if array.ndim == 0 else f"an array of shape {array.shape}"
        raise ValueError(f"{name} is {shape}; pass one vector, or a matrix with one vector a row.")
    if array.shape[-1] == 0:
        raise ValueError(f"{name} of shape {array.shape} has vectors without elements.")
    return np.atleast_2d(array)


def not_finite(row: FloatArray, name: str, position: tuple[int, ...]) -> ValueError:
    """Return the error that says where the first NaN or infinity of `row` is.

    `position` is the row's own index, if it has one.
    """
    j = int(np.flatnonzero(~np.isfinite(row))[0])
    index = ", ".join(str(i) for i in (*position, j))
    value = "NaN" if np.isnan(row[j]) else row[j]
    return ValueError(f"{name}[{index}] is {value}; all elements must be finite.")


def check_out(out: Any, shape: tuple[int, ...], dtype: np.dtype[Any], name: str) -> None:
    """Refuse an `out` that cannot take a result of `shape` and `dtype`."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"{name} is a {type(out).__name__}; pass a NumPy array.")
    if out.shape != shape or out.dtype != dtype:
        raise ValueError(
            f"{name} has shape {out.shape} and dtype {out.dtype}; "
            f"the result has {shape} and {dtype}."
        )
    if not out.flags.writeable:
        raise ValueError(f"{name} is read-only.")


def as_positive(value: Any, name: str) -> float:
    """Return a number > 0 as a float."""
    number = as_finite(value, name)
    if number <= 0.0:
        raise ValueError(f"{name} is {value}; it must be positive.")
    return number


def as_nonnegative(value: Any, name: str) -> float:
    """Return a number >= 0 as a float."""
    number = as_finite(value, name)
    if number < 0.0:
        raise ValueError(f"{name} is {value}; it must not be negative.")
    return number


def as_finite(value: Any, name: str) -> float:
    """Return a finite number as a float."""
    number = as_number(value, name)
    if not math.isfinite(number):
        raise ValueError(f"{name} is {value}; it must be finite.")
    return number


def as_number(value: Any, name: str) -> float:
    """Return a real number, infinities included, as a float."""
    if not isinstance(value, numbers.Real):
        raise TypeError(f"{name} is {value!r}; it must be a number.")
    if math.isnan(value):
        raise ValueError(f"{name} is nan; it must be a number.")
    return float(value)


def _as_index(value: Any, name: str) -> int:
    try:
        return operator.index(value)
    except TypeError:
        raise TypeError(f"{name} is {value!r}; it must be an integer.") from None


def as_integer(value: Any, name: str, least: int) -> int:
    """Return an integer that is not below `least` as an int."""
    number = _as_index(value, name)
    if number < least:
        raise ValueError(f"{name} is {number}; it must be at least {least}.")
    return number


def as_k(value: Any, m: int, what: str) -> int:
    """Return `value` as an integer between 1 and `m`, the number of elements of `what`."""
    k = _as_index(value, "k")
    if not 1 <= k <= m:
        raise ValueError(f"k is {k}; it must be between 1 and {m}, the length of {what}.")
    return k


def as_weights(sample_weight: ArrayLike | None, n: int) -> NDArray[np.float64]:
    """Return one finite weight >= 0 for each of `n` examples; 1 by default."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; there are {n} examples.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if bad.size:
        at = int(bad[0])
        raise ValueError(
            f"sample_weight[{at}] is {weights[at]}; it must be finite and not negative."
        )
    return weights


def take_ranges(
    offsets: NDArray[Any], some: NDArray[np.int64]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the offsets and the contents of some of the ranges ``offsets[i]:offsets[i + 1]``."""
    lengths = offsets[some + 1] - offsets[some]
    taken = np.zeros(some.size + 1, offsets.dtype)
    np.cumsum(lengths, out=taken[1:])
    return taken, np.arange(taken[-1]) + np.repeat(offsets[some] - taken[:-1], lengths)


def as_choice(value: Any, choices: Collection[str], name: str) -> str:
    """Return `value` if it is one of `choices`; else the error names the nearest, or all."""
    if not isinstance(value, str) or value not in choices:
        raise ValueError(f"{name} is {value!r}; {hint(str(value), choices)}")
    return value


def hint(name: str, choices: Collection[str]) -> str:
    """Return what to say to a name that is not known: the nearest one, or all."""
    near = difflib.get_close_matches(name, choices, n=1)
    return f"did you mean {near[0]!r}?" if near else f"choose one of {', '.join(choices)}."
