"""Products of a row with weights, written as vector instructions, against NumPy's."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numba.core.errors import TypingError

from shortlist._jit import kernel, uncounted
from shortlist._vectors import TILE, add_outer_product, add_product, prefetch
from shortlist.rows import DenseRows
from shortlist.rows.operations import add_outer, add_scores

SIZES = st.integers(0, 3 * TILE + 1)


@kernel
def _product(x, weights, out):
    add_product(x, weights, out)


@kernel
def _outer_product(x, change, weights):
    add_outer_product(x, change, weights)


def numbers(seed, dtype, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@given(
    d=SIZES,
    tiles=st.integers(0, 3),
    more=st.integers(0, 2),
    every=st.integers(1, 3),
    seed=st.integers(0, 99),
)
def test_products_are_those_of_numpy(dtype, d, tiles, more, every, seed):
    """Also of every second number of a row, and of weights that have more rows than it."""
    x, m = numbers(seed, dtype, d * every)[::every], tiles * TILE
    weights, out = numbers(seed + 1, dtype, d + more, m), numbers(seed + 2, dtype, m)
    tolerance = 30 * (d + 1) * np.finfo(dtype).eps

    found = out.copy()
    _product(x, weights, found)
    np.testing.assert_allclose(found, out + x @ weights[:d], rtol=tolerance, atol=tolerance)

    found = weights.copy()
    _outer_product(x, out, found)
    expected = weights.copy()
    expected[:d] += np.outer(x, out)
    np.testing.assert_allclose(found, expected, rtol=tolerance, atol=tolerance)


@kernel
def _both(rows, change, weights, out):
    add_scores(rows, 1, weights, out)
    add_outer(rows, 1, change, weights)


@pytest.mark.parametrize("m", [TILE - 1, TILE, 3 * TILE, 3 * TILE + 1, 4 * TILE])
@pytest.mark.parametrize("d", [1, 4, 6, 9])
@pytest.mark.parametrize("intercept", [0.0, 2.0])
def test_rows_serve_any_number_of_classes(m, d, intercept):
    """Few whole tiles are multiplied by vectors, all others row by row."""
    X = numbers(0, np.float64, 3, d)
    X[1, :4] = 0.0
    x = np.append(X[1], [intercept] if intercept else [])
    change, weights, out = numbers(1, np.float64, m), numbers(2, np.float64, x.size, m), np.ones(m)
    scores, after = 1.0 + x @ weights, weights + np.outer(x, change)
    _both(DenseRows(X, intercept), change, weights, out)
    np.testing.assert_allclose(out, scores, rtol=1e-13, atol=1e-13)
    np.testing.assert_allclose(weights, after, rtol=1e-13, atol=1e-13)


def test_numbers_that_are_not_finite_stay_in_their_columns():
    weights = np.zeros((3, 2 * TILE))
    weights[1, 4], weights[2, TILE] = np.inf, np.nan
    out = np.zeros(2 * TILE)
    _product(np.ones(3), weights, out)
    assert np.flatnonzero(~np.isfinite(out)).tolist() == [4, TILE]


@kernel
def _sum_of_rows(matrix, order):
    matrix = uncounted(matrix)
    total = 0.0
    for i in range(order.size):
        if i + 1 < order.size:
            prefetch(matrix[order[i + 1]])
        total += matrix[order[i]].sum()
    return total


@pytest.mark.parametrize("shape", [(5, 0), (5, 3), (7, 1000)])
def test_what_is_loaded_ahead_is_as_it_was(shape):
    matrix = numbers(0, np.float64, *shape)
    order = np.random.default_rng(1).permutation(shape[0])
    assert _sum_of_rows(matrix, order) == pytest.approx(matrix.sum(), abs=1e-9)


def test_arrays_that_are_not_alike_are_refused():
    """Their memory would be taken for what it is not."""
    x, weights, out = np.ones(2), np.ones((2, TILE)), np.ones(TILE)
    for odd in (
        (x.astype(np.float32), weights, out),
        (x, weights, out.astype(np.float32)),
        (x, np.asfortranarray(weights), out),
        (x, weights, np.ones(2 * TILE)[::2]),
    ):
        with pytest.raises(TypingError):
            _product(*odd)
