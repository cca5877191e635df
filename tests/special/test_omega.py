"""Wright's omega function against mpmath and SciPy."""

import mpmath
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import wrightomega

from shortlist import special

mpmath.mp.dps = 50


def exact(t):
    """The solution of x + log x = t to 50 digits, by Newton's method in log x or in x."""
    t = mpmath.mpf(float(t))
    x = mpmath.exp(t) if t < 0 else max(t - mpmath.log(1 + t), mpmath.mpf(1) / 2)
    for _ in range(100):
        step = (t - x - mpmath.log(x)) * x / (1 + x)
        x = x + step if x + step > 0 else x / 2
        if abs(step) < abs(x) * mpmath.mpf(10) ** -45:
            return x
    raise AssertionError(f"no convergence at {t}")


def grid(dtype):
    """Dense where the three starting points meet, and over all of the line."""
    low = -700 if dtype == np.float64 else -87
    rng = np.random.default_rng(0)
    parts = [
        np.linspace(low, -10, 500),
        np.linspace(-12, 12, 3000),
        rng.uniform(-7, -6, 500),
        rng.uniform(-3.5, -2.5, 500),
        rng.uniform(7.5, 8.5, 500),
        10.0 ** np.linspace(0, 18, 2000),
        2.0 ** np.array([16.99, 17, 17.01, 44.99, 45, 45.01]),
    ]
    return np.concatenate(parts).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_relative_error_is_at_most_4_eps(dtype):
    t = grid(dtype)
    result = special.wright_omega(t)
    assert result.dtype == dtype
    errors = [
        abs(float(mpmath.mpf(float(r)) / exact(x) - 1)) for r, x in zip(result, t, strict=True)
    ]
    assert max(errors) <= 4 * np.finfo(dtype).eps


@given(st.floats(-700, 1e18))
def test_relative_error_anywhere(t):
    assert abs(float(mpmath.mpf(float(special.wright_omega(t))) / exact(t) - 1)) <= 4 * 2.3e-16


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_limits_infinities_and_nan_are_scipys(dtype):
    t = np.array([np.nan, np.inf, -np.inf, -1e30, 1e30, -800, 0.0, -0.0], dtype)
    result = special.wright_omega(t)
    np.testing.assert_array_equal(result[:6], np.array([np.nan, np.inf, 0, 0, 1e30, 0], dtype))
    np.testing.assert_allclose(result, wrightomega(t), rtol=4 * np.finfo(dtype).eps)
    # subnormal results
    t = np.array([-720.0, -740.0]) if dtype == np.float64 else np.array([-90.0, -100.0], dtype)
    expected = np.exp(t.astype(np.longdouble)).astype(dtype)
    tolerance = np.finfo(dtype).smallest_subnormal
    np.testing.assert_allclose(special.wright_omega(t), expected, rtol=0, atol=tolerance)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_derivative(dtype):
    t = grid(dtype)
    v = special.wright_omega(t).astype(float)
    result = special.wright_omega_derivative(t)
    np.testing.assert_allclose(result, v / (1 + v), rtol=4 * np.finfo(dtype).eps)
    ends = special.wright_omega_derivative(np.array([-np.inf, np.inf, np.nan], dtype))
    np.testing.assert_array_equal(ends, [0.0, 1.0, np.nan])
    if dtype == np.float64:
        middle = np.linspace(-5, 20, 50)
        step = 1e-6
        numeric = (special.wright_omega(middle + step) - special.wright_omega(middle - step)) / (
            2 * step
        )
        np.testing.assert_allclose(special.wright_omega_derivative(middle), numeric, rtol=1e-8)


def test_any_shape_any_layout_and_out():
    t = np.random.default_rng(0).normal(size=(3, 4, 5))
    expected = wrightomega(t)
    for array in (t, np.asfortranarray(t), t[::-1].copy()[::-1], t.astype(">f8"), t.tolist()):
        np.testing.assert_allclose(special.wright_omega(array), expected, rtol=1e-14)
    out = np.empty_like(t)
    assert special.wright_omega(t, out=out) is out
    np.testing.assert_allclose(out, expected, rtol=1e-14)
    scattered = np.zeros((3, 4, 10))[:, :, ::2]
    special.wright_omega(t, out=scattered)
    np.testing.assert_allclose(scattered, expected, rtol=1e-14)
    special.wright_omega(t, out=t)
    np.testing.assert_allclose(t, expected, rtol=1e-14)
    assert special.wright_omega(1).shape == ()
    assert special.wright_omega([]).shape == (0,)
    with pytest.raises(TypeError, match="t has dtype complex128; convert it to float32 or float64"):
        special.wright_omega(1j)
