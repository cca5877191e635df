"""Every map against its slow twin, element by element."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive.prox as naive
from shortlist import prox
from vectors import alphas, biases, dtypes, radii, vectors, vectors_and_k

variants = st.sampled_from(("alpha", "beta"))


def assert_close(x, expected, atol):
    assert np.abs(x.astype(np.longdouble) - expected).max() <= atol


@given(vectors(), radii, st.booleans(), dtypes)
def test_simplex(v, radius, equality, dtype):
    v = v.astype(dtype)
    expected = naive.knapsack(v, radius, 0.0, np.inf, equality)
    assert_close(prox.simplex(v, radius, equality), expected, 4 * np.finfo(dtype).eps * radius)


@given(vectors(largest_scale=1.0), st.floats(0, 1), st.booleans(), dtypes)
def test_knapsack_between_any_bounds(v, where, equality, dtype):
    v = v.astype(dtype)
    lower, upper = -0.75, 1.25
    radius = v.size * (lower + where * (upper - lower))
    expected = naive.knapsack(v, radius, lower, upper, equality)
    result = prox.knapsack(v, radius, lower, upper, equality)
    # At the ends of the feasible range the threshold is not unique to rounding: x is.
    assert_close(result, expected, 8 * np.finfo(dtype).eps * v.size)


@given(vectors(largest_scale=1.0), st.floats(-3, 3), st.sampled_from((0.5, np.inf)), dtypes)
def test_knapsack_without_a_lower_bound(v, radius, upper, dtype):
    v = v.astype(dtype)
    radius = min(radius, v.size * upper)
    expected = naive.knapsack(v, radius, -np.inf, upper, True)
    assert_close(
        prox.knapsack(v, radius, -np.inf, upper, True), expected, 64 * np.finfo(dtype).eps * v.size
    )


@settings(max_examples=100)
@given(vectors_and_k(largest_scale=10), st.sampled_from((0.1, 1.0, 10.0)), variants, biases, dtypes)
def test_topk_simplex(v_and_k, radius, variant, bias, dtype):
    v, k = v_and_k
    v, k = v[:24].astype(dtype), min(k, 24)
    expected = naive.topk_simplex(v, k, radius, variant, bias)
    result = prox.topk_simplex(v, k, radius, variant, bias)
    # The enumeration accepts points that are infeasible by 1e-12.
    assert_close(result, expected, 4 * np.finfo(dtype).eps * radius + 1e-9 * (radius + 10))


@settings(max_examples=60)
@given(vectors(), vectors(), radii, dtypes)
def test_bipartite_simplex(a, b, radius, dtype):
    a, b = a.astype(dtype), b.astype(dtype)
    expected = naive.bipartite_simplex(a, b, radius)
    scale = 8 * np.finfo(dtype).eps * radius + 4 * np.spacing(abs(float(a.max()) + float(b.max())))
    for result, right in zip(prox.bipartite_simplex(a, b, radius), expected, strict=True):
        assert_close(result, right, scale)


@given(vectors(largest_scale=1e3), alphas, dtypes)
def test_entropic_simplex(z, alpha, dtype):
    z = z.astype(dtype)
    expected = naive.entropic_simplex(z.astype(float), alpha)
    eps = np.finfo(dtype).eps
    assert_close(prox.entropic_simplex(z, alpha), expected, 16 * eps * (1 + np.log(z.size)) + 1e-13)


@given(vectors_and_k(largest_scale=1.0), alphas, variants, dtypes)
def test_entropic_topk_simplex(b_and_k, alpha, variant, dtype):
    b, k = b_and_k
    b = b.astype(dtype)
    expected = naive.entropic_topk_simplex(b.astype(float), k, alpha, variant)
    eps = np.finfo(dtype).eps
    result = prox.entropic_topk_simplex(b, k, alpha, variant)
    assert_close(result, expected, 64 * eps * (1 + np.abs(b).max()))


@settings(max_examples=60)
@given(vectors_and_k(largest_scale=10), st.sampled_from((0.0, 0.1, 1.0, 10.0)), dtypes)
def test_topk_sum_prox(z_and_k, scale, dtype):
    z, k = z_and_k
    z, k = z[:16].astype(dtype), min(k, 16)
    expected = naive.topk_sum_prox(z, k, scale)
    assert_close(prox.topk_sum_prox(z, k, scale), expected, 8 * np.finfo(dtype).eps + 1e-8)
