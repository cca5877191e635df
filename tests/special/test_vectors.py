"""Sums, selections and roots."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.special import logsumexp

from shortlist import special
from shortlist.special import few_largest, roots, select
from vectors import dtypes, vectors, vectors_and_k


@given(vectors(largest_scale=1e3), dtypes)
def test_logsumexp_is_scipys(a, dtype):
    a = a.astype(dtype)
    result, expected = special.logsumexp(a), logsumexp(a.astype(float))
    assert abs(result - expected) <= 4 * np.finfo(dtype).eps * (1 + abs(expected))


@pytest.mark.parametrize(
    "a", [[-np.inf, -np.inf], [np.inf, 0.0], [np.nan, 0.0], [np.inf, np.nan], [-np.inf, 2.0]]
)
def test_logsumexp_of_infinities(a):
    np.testing.assert_array_equal(special.logsumexp(np.array(a)), logsumexp(a))


@given(vectors_and_k(), dtypes)
def test_largest_and_a_bound_of_the_kth_largest(a_and_k, dtype):
    a, k = a_and_k
    a = a.astype(dtype)
    assert select.largest(a) == a.max()
    best, bound = select.top_bound(a, k, np.empty(select.LANES))
    assert best == a.max()
    assert bound <= np.sort(a)[::-1][k - 1]
    if a.size >= 4 * select.LANES and k <= 16:
        assert bound > -np.inf


@given(vectors_and_k())
def test_partition_puts_the_k_largest_first(a_and_k):
    a, k = a_and_k
    parts = a.copy()
    select.partition_largest(parts, k)
    np.testing.assert_array_equal(np.sort(parts), np.sort(a))
    np.testing.assert_array_equal(np.sort(parts[:k]), np.sort(a)[a.size - k :])


@given(vectors_and_k(), dtypes)
def test_the_largest_in_order(a_and_k, dtype):
    a, k = a_and_k
    a = a.astype(dtype)
    expected = np.sort(a)[::-1].astype(np.float64)
    top = np.empty(k)
    few_largest.write_largest(a, top)
    np.testing.assert_array_equal(top, expected[:k])
    bound, ties = select.kth_largest(a, k, np.empty(max(a.size, select.LANES)))
    assert (bound, ties) == (top[-1], np.count_nonzero(top == top[-1]))
    total, last = select.total_of_largest(a, k)
    assert last == top[-1]
    scale = np.abs(top).sum()
    np.testing.assert_allclose(total, top.sum(), rtol=0, atol=k * np.finfo(dtype).eps * scale)


@given(vectors_and_k(), dtypes)
def test_the_largest_first_and_all_in_order(a_and_k, dtype):
    a, k = a_and_k
    a = a.astype(dtype)
    expected = np.sort(a)[::-1].astype(np.float64)
    work = np.empty(max(a.size, select.LANES))
    select.put_largest_first(a, k, work)
    np.testing.assert_array_equal(np.sort(work[:k])[::-1], expected[:k])
    np.testing.assert_array_equal(np.sort(work[k : a.size])[::-1], expected[k:])
    for sort in (select.sort_descending, select.put_in_order):
        work[: a.size] = a
        sort(work[: a.size])
        np.testing.assert_array_equal(work[: a.size], expected)


@given(vectors_and_k(min_size=2), st.floats(-4.0, 4.0))
def test_gathering_what_is_not_among_the_largest(a_and_k, floor):
    a, k = a_and_k
    if not select.are_few(k, a.size):
        return
    ordered = np.sort(a)[::-1]
    work = np.full(a.size, np.nan)  # not one element too many
    few_largest.write_largest(a, work[:k])
    n = select.gather_after(a, floor, k, work)
    np.testing.assert_array_equal(work[:k], ordered[:k])
    others = ordered[k:]
    kept = others[(others >= floor) | (others == ordered[k - 1])]
    np.testing.assert_array_equal(np.sort(work[k:n])[::-1], kept)


def test_partition_of_shapes_that_are_hard_for_quickselect():
    n = 2000
    for a in (
        np.zeros(n),
        np.arange(n),
        np.arange(n)[::-1],
        np.abs(np.arange(n) - n / 2),
        np.arange(n) % 2,
    ):
        parts = a.astype(float)
        select.partition_largest(parts, n // 3)
        assert parts[: n // 3].min() >= parts[n // 3 :].max()


@given(st.floats(-50, 50), st.floats(-100, 100))
def test_newton_with_a_bracket_finds_a_kink(root, start):
    """A decreasing function with slopes 1e-3 and 1e3 on its two sides: plain Newton overshoots."""

    def function(t):
        slope = 1e-3 if t < root else 1e3
        return slope * (root - t), slope

    t, low, high = start, -np.inf, np.inf
    for _ in range(200):
        value, slope = function(t)
        if value == 0.0:
            break
        t, low, high = roots.newton_step(t, value, slope, low, high)
    assert abs(t - root) <= 1e-12 * (1 + abs(root))
