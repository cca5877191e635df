"""What every map must satisfy, whatever its algorithm: symmetries, limits, special cases."""

import cvxpy as cp
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from shortlist import prox
from shortlist.prox import topk
from vectors import vectors, vectors_and_k

#: name: (map of a vector, whether it is a projection)
MAPS = {
    "simplex": (lambda v, **kw: prox.simplex(v, 1.0, **kw), True),
    "simplex, sum <= 1": (lambda v, **kw: prox.simplex(v, 1.0, equality=False, **kw), True),
    "knapsack": (lambda v, **kw: prox.knapsack(v, 1.0, -0.5, 0.75, **kw), True),
    "top-k alpha": (lambda v, **kw: prox.topk_simplex(v, 3, **kw), True),
    "top-k beta": (lambda v, **kw: prox.topk_simplex(v, 3, variant="beta", **kw), True),
    "top-k alpha, biased": (lambda v, **kw: prox.topk_simplex(v, 3, bias=0.7, **kw), False),
    "top-k beta, biased": (
        lambda v, **kw: prox.topk_simplex(v, 3, variant="beta", bias=0.7, **kw),
        False,
    ),
    "entropic": (lambda v, **kw: prox.entropic_simplex(v, 0.5, **kw), False),
    "softmax": (lambda v, **kw: prox.entropic_simplex(v, 0.0, **kw), False),
    "entropic top-k alpha": (lambda v, **kw: prox.entropic_topk_simplex(v, 3, 0.5, **kw), False),
    "entropic top-k beta": (
        lambda v, **kw: prox.entropic_topk_simplex(v, 3, 0.5, "beta", **kw),
        False,
    ),
    "top-k sum": (lambda v, **kw: prox.topk_sum_prox(v, 3, 0.4, **kw), False),
}
every_map = pytest.mark.parametrize("name", MAPS)


@every_map
@given(vectors(min_size=3, largest_scale=10), st.randoms(use_true_random=False))
def test_permuting_the_vector_permutes_the_solution(name, v, random):
    order = np.array(random.sample(range(v.size), v.size))
    apply, _ = MAPS[name]
    np.testing.assert_allclose(apply(v)[order], apply(v[order]), rtol=1e-9, atol=1e-13)


@every_map
@given(vectors(min_size=3, largest_scale=10))
def test_the_solution_keeps_the_order(name, v):
    x = MAPS[name][0](v)[np.argsort(v)]
    assert (np.diff(x) >= -1e-14).all()


@every_map
@given(vectors(min_size=3, largest_scale=10), vectors(min_size=3, largest_scale=10))
def test_maps_do_not_expand(name, v, w):
    """A proximal map of a convex function: |P(v) - P(w)|^2 <= <P(v) - P(w), v - w>."""
    size = min(v.size, w.size)
    v, w = v[:size], w[:size]
    p, q = MAPS[name][0](v), MAPS[name][0](w)
    if "entropic" in name:
        # argmin a/2 |x|^2 + h(x) - <v, x>: the same up to the factor a
        assert 0.5 * ((p - q) ** 2).sum() <= ((p - q) * (v - w)).sum() + 1e-9
    elif name != "softmax":
        assert ((p - q) ** 2).sum() <= ((p - q) * (v - w)).sum() + 1e-9


@pytest.mark.parametrize("name", [name for name, (_, projection) in MAPS.items() if projection])
@given(vectors(min_size=3))
def test_projecting_twice_is_projecting_once(name, v):
    once = MAPS[name][0](v)
    np.testing.assert_allclose(MAPS[name][0](once), once, rtol=0, atol=1e-15 * (4 + v.size))


@given(vectors(), st.sampled_from((0.0, 0.5, 2.0)))
def test_with_k_1_the_topk_simplex_is_the_simplex(v, bias):
    alpha = prox.topk_simplex(v, 1, 1.0, "alpha", bias)
    np.testing.assert_array_equal(alpha, prox.topk_simplex(v, 1, 1.0, "beta", bias))
    if bias == 0.0:
        atol = 1e-15 * (4 + v.size)
        np.testing.assert_allclose(alpha, prox.simplex(v, equality=False), rtol=0, atol=atol)


@given(vectors(largest_scale=10), st.sampled_from((0.0, 1e-3, 1.0, 50.0)))
def test_with_k_1_the_entropic_maps_are_one(b, alpha):
    """With the label's own share 1 - s appended it is a distribution."""
    expected = prox.entropic_simplex(np.append(b, alpha if alpha > 0 else 0.0), alpha)[:-1]
    for variant in ("alpha", "beta"):
        result = prox.entropic_topk_simplex(b, 1, alpha, variant)
        np.testing.assert_allclose(result, expected, rtol=1e-9, atol=1e-13)


@given(vectors_and_k(largest_scale=1.0), st.sampled_from(("alpha", "beta")))
def test_entropic_topk_is_continuous_where_the_closed_form_begins(b_and_k, variant):
    b, k = b_and_k
    closed = prox.entropic_topk_simplex(b, k, 0.0, variant)
    np.testing.assert_allclose(
        prox.entropic_topk_simplex(b, k, 1e-9, variant), closed, rtol=1e-7, atol=1e-8
    )


@given(vectors(largest_scale=10))
def test_entropic_simplex_tends_to_the_simplex(v):
    """x minimises |x - v|^2 / 2 + <x, log x> / alpha, alpha large."""
    alpha = 1e9
    atol = np.sqrt(2 * np.log(v.size + 1) / alpha)
    np.testing.assert_allclose(
        prox.entropic_simplex(alpha * v, alpha), prox.simplex(v), rtol=0, atol=atol
    )


@given(vectors_and_k())
def test_topk_sum_with_scale_0_is_the_simplex(z_and_k):
    z, k = z_and_k
    atol = 1e-15 * (4 + z.size)
    np.testing.assert_allclose(prox.topk_sum_prox(z, k, 0.0), prox.simplex(z), rtol=0, atol=atol)


@given(vectors(), st.sampled_from((0.1, 3.0)))
def test_topk_sum_over_all_elements_is_a_constant(z, scale):
    atol = 1e-15 * (4 + z.size)
    result = prox.topk_sum_prox(z, z.size, scale)
    np.testing.assert_allclose(result, prox.simplex(z), rtol=0, atol=atol)


@given(vectors_and_k(min_size=2, largest_scale=10), st.sampled_from((0.0, 0.5, 2.0)))
def test_the_cone_from_any_guess_and_by_trying_all(a_and_k, bias):
    """Where guesses of the groups go round in circles all are tried, with the same solution."""
    a, k = a_and_k
    ordered = np.sort(a)[::-1]
    total = ordered[:k].sum()
    if total <= 0 or ordered[k - 1] - total / (k + bias * k * k) >= ordered[k:].max(
        initial=-np.inf
    ):
        return  # 0, or the k largest are all there is
    expected = prox.topk_simplex(a, k, 1e9, "alpha", bias)
    guesses = [topk.cone_threshold(ordered.copy(), k, bias, 0.0, u) for u in {0, 1, k - 1}]
    for t, hi in (*guesses, topk.cone_threshold_of_all(ordered, k, bias, 0.0)):
        np.testing.assert_allclose(np.clip(a - t, 0, hi), expected, rtol=1e-7, atol=1e-7 * a.max())


@given(vectors(), vectors(), st.sampled_from((0.5, 10.0)))
def test_the_sides_of_the_bipartite_simplex_may_be_exchanged(a, b, radius):
    x, y = prox.bipartite_simplex(a, b, radius)
    y_too, x_too = prox.bipartite_simplex(b, a, radius)
    atol = 1e-14 * radius + 8 * np.spacing(abs(a.max()) + abs(b.max()))
    np.testing.assert_allclose(x, x_too, rtol=0, atol=atol)
    np.testing.assert_allclose(y, y_too, rtol=0, atol=atol)


# A convex solver knows nothing of thresholds. It is accurate to 1e-5 or so.


def _by_convex_solver(objective, constraints, x):
    cp.Problem(cp.Minimize(objective), constraints).solve(solver=cp.CLARABEL)
    return x.value


@pytest.mark.parametrize("bias", [0.0, 0.8])
@pytest.mark.parametrize("variant", ["alpha", "beta"])
@pytest.mark.parametrize("scale", [0.1, 1.0])
def test_topk_simplex_against_a_convex_solver(variant, bias, scale):
    v = np.random.default_rng(1).normal(size=9) * scale
    x = cp.Variable(9)
    s = cp.sum(x)
    cap = s / 3 if variant == "alpha" else 1 / 3
    expected = _by_convex_solver(
        cp.sum_squares(x - v) + bias * cp.square(s), [s <= 1, x >= 0, x <= cap], x
    )
    np.testing.assert_allclose(prox.topk_simplex(v, 3, 1.0, variant, bias), expected, atol=1e-5)


@pytest.mark.parametrize("alpha", [0.0, 0.7, 20.0])
@pytest.mark.parametrize("variant", ["alpha", "beta"])
@pytest.mark.parametrize("scale", [1.0, 5.0])
def test_entropic_topk_simplex_against_a_convex_solver(variant, alpha, scale):
    b = np.random.default_rng(2).normal(size=8) * scale
    x = cp.Variable(8)
    s = cp.sum(x)
    cap = s / 3 if variant == "alpha" else 1 / 3
    objective = alpha / 2 * (cp.sum_squares(x) + cp.square(s)) - b @ x
    objective -= cp.sum(cp.entr(x)) + cp.entr(1 - s)
    expected = _by_convex_solver(objective, [x <= cap], x)
    np.testing.assert_allclose(
        prox.entropic_topk_simplex(b, 3, alpha, variant), expected, atol=1e-5
    )


@pytest.mark.parametrize("k", [1, 3, 7])
def test_topk_sum_prox_against_a_convex_solver(k):
    z = np.random.default_rng(3).normal(size=8)
    p = cp.Variable(8)
    objective = cp.sum_squares(p - z) / 2 + 0.3 * cp.sum_largest(p, k)
    expected = _by_convex_solver(objective, [p >= 0, cp.sum(p) == 1], p)
    np.testing.assert_allclose(prox.topk_sum_prox(z, k, 0.3), expected, atol=1e-5)


@pytest.mark.parametrize("radius", [0.5, 10.0])
def test_bipartite_simplex_against_a_convex_solver(radius):
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=7), rng.normal(size=5)
    x, y = cp.Variable(7), cp.Variable(5)
    constraints = [x >= 0, y >= 0, cp.sum(x) == cp.sum(y), cp.sum(x) <= radius]
    expected = _by_convex_solver(cp.sum_squares(x - a) + cp.sum_squares(y - b), constraints, x)
    np.testing.assert_allclose(prox.bipartite_simplex(a, b, radius)[0], expected, atol=1e-5)
