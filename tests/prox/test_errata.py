"""Mistakes in print or in other code that must not be repeated here."""

import numpy as np

import naive.prox as naive
from shortlist import prox


def test_bipartite_variable_fixing_ends():
    """As printed, step 5 of the paper's algorithm fixes the wrong side and never ends.

    These problems reach the second phase, where that matters.
    """
    rng = np.random.default_rng(0)
    reached = 0
    for _ in range(50):
        a, b = rng.normal(size=20), rng.normal(size=15)
        x, y = prox.bipartite_simplex(a, b, 100.0)
        expected_x, expected_y = naive.bipartite_simplex(a, b, 100.0)
        np.testing.assert_allclose(x, expected_x.astype(float), atol=1e-13)
        np.testing.assert_allclose(y, expected_y.astype(float), atol=1e-13)
        reached += x.sum() < 99.0
    assert reached == 50


def test_topk_entropy_divides_the_number_at_the_cap_by_k():
    """The authors' code uses |U| where the paper rightly has |U| / k: it matters for k > 1."""
    b = np.array([6.0, 5.0, 1.0, 0.5, 0.0])
    for alpha in (0.0, 0.3, 5.0):
        x = prox.entropic_topk_simplex(b, 3, alpha)
        s = x.sum()
        at_cap = np.isclose(x, s / 3)
        assert 0 < at_cap.sum() < 3
        expected = naive.entropic_topk_simplex(b, 3, alpha, "alpha")
        np.testing.assert_allclose(x, expected, rtol=1e-10)


def test_float32_thresholds_do_not_lose_the_sum():
    """A threshold updated step by step in float32 is off by 0.26 in the sum at m = 1e5."""
    v = np.random.default_rng(0).normal(size=100_000).astype(np.float32)
    for radius in (1.0, 1e4, 1e6):
        total = prox.simplex(v, radius).sum(dtype=float)
        assert abs(total - radius) <= 1e-6 * radius


def test_the_projection_is_not_renormalised():
    """A sum of 1 could hide a wrong threshold: so compare the differences, which it would spoil."""
    v = np.random.default_rng(1).normal(size=500)
    x = prox.simplex(v)
    active = x > 0
    assert active.sum() > 2
    np.testing.assert_allclose(np.ptp(v[active] - x[active]), 0, atol=1e-15)


def test_the_label_itself_is_not_among_its_competitors():
    """Top-k hinge alpha is the conjugate of the top-k simplex over the *other* labels.

    max over x in the simplex of <b, x> is max(0, mean of the k largest of b), where b has no
    entry for the label; the paper prints the sum over all labels, its own zero included.
    """
    b = np.array([0.9, -0.3, -0.5])
    others, all_labels = np.sort(b)[::-1][:2].mean(), np.sort([*b, 0.0])[::-1][:2].mean()
    assert others != all_labels
    smoothing = 1e-9  # the projection of b / smoothing attains the maximum
    x = prox.topk_simplex(b / smoothing, 2)
    np.testing.assert_allclose(b @ x, max(0.0, others), rtol=1e-6)
