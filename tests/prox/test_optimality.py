"""Optimality of every map, decided by linear minimisation over its set (see problems.py)."""

import numpy as np
import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from problems import EntropicSimplex, EntropicTopKSimplex, Knapsack, Simplex, TopKSimplex
from shortlist import prox
from vectors import alphas, biases, dtypes, radii, vectors, vectors_and_k

variants = st.sampled_from(("alpha", "beta"))


def assert_optimal(problem, v, dtype, scale):
    """`scale` is that of the solution: all errors are rounding errors relative to it."""
    v = v.astype(dtype)
    solution = problem.solve(v)
    assert solution.dtype == dtype
    x, v = solution.astype(np.longdouble), v.astype(np.longdouble)
    eps = np.finfo(dtype).eps
    assert problem.infeasibility(x) <= (4 + v.size / 16) * eps * scale
    g = problem.gradient(x, v)
    gap = (g * x).sum() - problem.linear_minimum(g)
    assert gap <= 8 * eps * scale * (np.abs(g).max() + scale)


@given(vectors(), radii, st.booleans(), dtypes)
def test_simplex(v, radius, equality, dtype):
    assert_optimal(Simplex(radius, equality), v, dtype, radius)


@given(vectors(), radii, st.sampled_from((0.3, 1.0, 2.5, 7.0)), st.booleans(), dtypes)
@example(np.array([0.0] * 8 + [1e8]), 1e-8, 2.5, True, np.float64)  # what is far cancels
@example(np.array([1e8] * 8 + [2e8]), 1e-8, 2.5, False, np.float64)
@example(np.array([0.0] * 6 + [1e8, 1e8, 114755576.0]), 1e-7, 2.5, True, np.float64)
def test_knapsack(v, radius, parts, equality, dtype):
    upper = radius / parts
    assume(not equality or v.size * upper >= radius)
    assert_optimal(Knapsack(radius, upper, equality), v, dtype, radius)


@given(vectors_and_k(), radii, variants, biases, dtypes)
def test_topk_simplex(v_and_k, radius, variant, bias, dtype):
    v, k = v_and_k
    problem = TopKSimplex(k, radius, variant, bias)
    # S_k is a sum of k elements: where they cancel, their own rounding is all that is left.
    cancelled = k * np.abs(v).max() * 2.2e-16 / np.finfo(dtype).eps
    assert_optimal(problem, v, dtype, radius + cancelled)


@pytest.mark.parametrize("variant", ["alpha", "beta"])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_both_branches_of_the_topk_simplex(variant, dtype):
    """Large elements make the sum constraint active, small ones leave it slack."""
    rng = np.random.default_rng(0)
    slack = {False: 0, True: 0}
    for _ in range(300):
        scale = 10.0 ** rng.uniform(-3, 1)
        v = rng.normal(size=rng.integers(5, 400)) * scale
        problem = TopKSimplex(int(rng.integers(1, 6)), 1.0, variant, rng.choice([0.0, 0.5, 1.0]))
        assert_optimal(problem, v, dtype, 1.0)
        slack[problem.solve(v).sum() < 1.0 - 1e-9] += 1
    assert min(slack.values()) > 50


def test_the_top_k_at_their_bound_fill_the_simplex():
    """k times r/k is not r but for rounding; long vectors are filtered before."""
    rng = np.random.default_rng(0)
    for _ in range(200):
        k, radius = int(rng.integers(2, 17)), rng.uniform(0.1, 3.0)
        v = np.r_[[100.0] * k, [50.0] * 300]
        x = prox.topk_simplex(v, k, radius=radius, variant="beta", bias=0.1)
        np.testing.assert_allclose(x, np.r_[[radius / k] * k, [0.0] * 300], rtol=1e-12)


def test_an_element_at_the_threshold_does_not_cycle():
    v = np.array([0.0, 0.0, 0.0, -0.1685459623227758])
    x = prox.simplex(v, 0.5056378869683275)
    np.testing.assert_allclose(x, np.r_[[0.1685459623227758] * 3, 0.0], atol=1e-15)


# The entropic maps see differences of z, of up to thousands; their error is relative to that.
@given(vectors(largest_scale=1e3), alphas, dtypes)
@example(np.array([0.0] * 30 + [20.0]), 1e-11, np.float64)
def test_entropic_simplex(z, alpha, dtype):
    z = z.astype(dtype)
    x = EntropicSimplex(alpha).solve(z).astype(float)
    eps = np.finfo(dtype).eps
    spread = 1 + float(z.max() - z.min())
    assert EntropicSimplex(alpha).infeasibility(x) <= 8 * eps
    inside = x > 1e-30
    g = EntropicSimplex(alpha).gradient(x[inside], z[inside].astype(float))
    reach = alpha + spread + np.abs(np.log(x[inside])).max()
    assert np.ptp(g) <= 16 * eps * reach
    assert (x * (1 + 4 * eps) >= x[z.argmin()]).all()


@given(vectors_and_k(largest_scale=1e2), alphas, variants, dtypes)
def test_entropic_topk_simplex(b_and_k, alpha, variant, dtype):
    b, k = b_and_k
    b = b.astype(dtype)
    problem = EntropicTopKSimplex(k, alpha, variant)
    x = problem.solve(b).astype(np.longdouble)
    eps = np.finfo(dtype).eps
    assert (x >= 0).all()
    assert problem.infeasibility(x) <= 8 * eps * (1 + np.abs(b).max())
    # The gradient is infinite at the border: only what is well inside can be judged.
    if x.sum() < 0.9 and x.min() > 1e-30:
        g = problem.gradient(x, b.astype(np.longdouble))
        gap = (g * x).sum() - problem.linear_minimum(g)
        reach = alpha + np.abs(b).max() + np.abs(np.log(x)).max()
        assert gap <= 32 * eps * reach


@given(vectors(), vectors(), radii, dtypes)
def test_bipartite_simplex(a, b, radius, dtype):
    a, b = a.astype(dtype), b.astype(dtype)
    x, y = (part.astype(np.longdouble) for part in prox.bipartite_simplex(a, b, radius))
    eps = np.finfo(dtype).eps
    assert min(x.min(), y.min()) >= 0
    assert abs(x.sum() - y.sum()) <= 8 * eps * radius + 2.2e-16 * 4 * (abs(a.max() + b.max()))
    assert x.sum() <= radius * (1 + 4 * eps)
    g, h = x - a, y - b
    gap = (g * x).sum() + (h * y).sum() - radius * min(g.min() + h.min(), 0)
    assert gap <= 8 * eps * radius * (np.abs(g).max() + np.abs(h).max() + radius)


@given(vectors_and_k(), st.sampled_from((0.0, 1e-6, 0.1, 1.0, 10.0, 1e6)), dtypes)
def test_topk_sum_prox(z_and_k, scale, dtype):
    """On the ordered simplex the objective is linear plus quadratic: its vertices decide."""
    z, k = z_and_k
    z = z.astype(dtype)
    p = prox.topk_sum_prox(z, k, scale).astype(np.longdouble)
    eps = np.finfo(dtype).eps
    assert p.min() >= 0
    assert abs(p.sum() - 1) <= (8 + z.size / 16) * eps
    p /= p.sum()  # a gap is that of a feasible point; the sum was judged
    g = p - z.astype(np.longdouble)
    top = scale * np.sort(p)[::-1][:k].sum()
    size = np.arange(1, z.size + 1)
    vertices = np.cumsum(np.sort(g)) / size + scale * np.minimum(1, k / size)
    gap = (g * p).sum() + top - vertices.min()
    assert gap <= 8 * eps * (np.abs(g).max() + scale + 1)
