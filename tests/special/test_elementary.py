"""Elementary functions against mpmath, in units of the last place, and at the ends of the range."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import special
from shortlist._jit import kernel

mpmath.mp.dps = 40


@kernel
def _exp(x, out):
    for i in range(x.size):
        out[i] = special.exp(x[i])


@kernel
def _log(x, out):
    for i in range(x.size):
        out[i] = special.log(x[i])


@kernel
def _log1p(x, out):
    for i in range(x.size):
        out[i] = special.log1p(x[i])


@kernel
def _softplus(x, out):
    for i in range(x.size):
        out[i] = special.softplus(x[i])


@kernel
def _xlogx(x, out):
    for i in range(x.size):
        out[i] = special.xlogx(x[i])


def evaluate(loop, x):
    out = np.empty_like(x)
    loop(x, out)
    return out


def error_in_ulp(result, exact):
    """The largest error, relative to the spacing of floats at the exact value (not subnormal)."""
    tiny = np.finfo(result.dtype).tiny
    worst = 0.0
    for value, right in zip(result, exact, strict=True):
        unit = np.spacing(max(abs(result.dtype.type(float(right))), tiny))
        worst = max(worst, abs(float((mpmath.mpf(float(value)) - right) / float(unit))))
    return worst


def around(rng, low, high, dtype, n=3000):
    return rng.uniform(low, high, n).astype(dtype)


BOUNDS = {  # in ulp, as the modules' documentation states
    "exp": (_exp, mpmath.exp, 1.0),
    "log": (_log, mpmath.log, 1.0),
    "log1p": (_log1p, mpmath.log1p, 1.5),
    "softplus": (_softplus, lambda x: mpmath.log1p(mpmath.exp(x)), 2.5),
    "xlogx": (_xlogx, lambda x: x * mpmath.log(x) if x else mpmath.mpf(0), 2.0),
}


def arguments(name, dtype):
    rng = np.random.default_rng(0)
    top = np.log(np.finfo(dtype).max)
    if name == "exp":
        parts = [around(rng, -0.999 * top, 0.999 * top, dtype), around(rng, -1, 1, dtype)]
    elif name == "softplus":
        parts = [around(rng, -0.98 * top, 3 * top, dtype), around(rng, -3, 3, dtype)]
    elif name == "log1p":
        small = np.exp(rng.uniform(-0.9 * top, 0, 1500)) * rng.choice([-1, 1], 1500)
        parts = [small.astype(dtype)[np.abs(small) < 0.999], around(rng, -0.99, 4, dtype)]
    else:
        wide = np.exp(rng.uniform(-0.9 * top, 0.9 * top, 3000))
        parts = [
            wide.astype(dtype),
            1 + around(rng, -0.5, 1, dtype),
            1 + around(rng, -1e-3, 1e-3, dtype),
        ]
    return np.concatenate(parts)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("name", BOUNDS)
def test_accuracy(name, dtype):
    loop, exact, bound = BOUNDS[name]
    x = arguments(name, dtype)
    right = [exact(mpmath.mpf(float(value))) for value in x]
    assert error_in_ulp(evaluate(loop, x), right) <= bound


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_ends_of_the_range_are_numpys(dtype):
    info = np.finfo(dtype)
    ends = [np.nan, np.inf, -np.inf, 0.0, -0.0, info.tiny, info.smallest_subnormal, info.max, -1.0]
    ends += [np.log(info.max) * 1.01, np.log(info.tiny) * 1.01, np.log(info.tiny) * 1.2, 1.0]
    x = np.array(ends, dtype)
    with np.errstate(all="ignore"):
        numpys = {"exp": np.exp, "log": np.log, "log1p": np.log1p}
        numpys["softplus"] = lambda x: np.logaddexp(x, dtype(0))
        numpys["xlogx"] = lambda x: np.where(x == 0, dtype(0), x * np.log(x))
        for name, numpys_own in numpys.items():
            result, expected = evaluate(BOUNDS[name][0], x), numpys_own(x)
            # Subnormal numbers have few bits: one unit of them is all one can ask for.
            np.testing.assert_allclose(
                result, expected, rtol=4 * info.eps, atol=info.smallest_subnormal, err_msg=name
            )


@given(st.floats(allow_subnormal=False, width=32) | st.sampled_from((-1.0, 0.0, 1.0)))
def test_python_and_compiled_code_agree(x):
    with np.errstate(all="ignore"):
        for dtype in (np.float32, np.float64):
            value = dtype(x)
            for name, (loop, _, _) in BOUNDS.items():
                single = getattr(special, name)(value)
                compiled = evaluate(loop, np.array([value]))[0]
                np.testing.assert_allclose(single, compiled, rtol=4 * np.finfo(dtype).eps)
