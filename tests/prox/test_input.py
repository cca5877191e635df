"""What users pass: served as it is, or refused with one sentence that says what to do."""

import threading

import numpy as np
import pytest

from shortlist import prox

V = np.random.default_rng(0).normal(size=(6, 10))


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_matrix_is_a_batch_of_rows(dtype):
    v = V.astype(dtype)
    batch = prox.topk_simplex(v, 3)
    assert batch.dtype == dtype
    for row, single in zip(batch, v, strict=True):
        np.testing.assert_array_equal(row, prox.topk_simplex(single, 3))


def test_any_memory_layout_and_real_dtype(tmp_path):
    expected = prox.simplex(V)
    on_disk = np.memmap(tmp_path / "v", dtype=float, mode="w+", shape=V.shape)
    on_disk[:] = V
    read_only = V.copy()
    read_only.flags.writeable = False
    spread = np.zeros((12, 30))
    spread[::2, ::3] = V
    for v in (
        np.asfortranarray(V),
        on_disk,
        read_only,
        spread[::2, ::3],
        V.astype(">f8"),
        V.tolist(),
    ):
        before = np.array(v)
        np.testing.assert_array_equal(prox.simplex(v), expected)
        np.testing.assert_array_equal(before, v)
    np.testing.assert_array_equal(prox.simplex([1, 2, 3]), prox.simplex([1.0, 2.0, 3.0]))
    assert prox.simplex(V.astype(np.float16)).dtype == np.float64


def test_no_rows_give_no_rows():
    assert prox.simplex(np.empty((0, 5))).shape == (0, 5)


def test_out_is_written_and_returned():
    out = np.empty_like(V)
    assert prox.simplex(V, out=out) is out
    np.testing.assert_array_equal(out, prox.simplex(V))

    wide = np.zeros((6, 20))
    prox.simplex(V, out=wide[:, ::2])
    np.testing.assert_array_equal(wide[:, ::2], prox.simplex(V))
    assert not wide[:, 1::2].any()

    for apply in (prox.simplex, lambda v, **kw: prox.entropic_simplex(v, 1.0, **kw)):
        in_place = V.copy()
        apply(in_place, out=in_place)
        np.testing.assert_array_equal(in_place, apply(V))


def test_out_of_the_bipartite_simplex_is_a_pair():
    a, b = V[:, :4].copy(), V[:, 4:].copy()
    x, y = prox.bipartite_simplex(a, b)
    prox.bipartite_simplex(a, b, out=(a, b))
    np.testing.assert_array_equal(a, x)
    np.testing.assert_array_equal(b, y)


def test_an_error_leaves_the_input_as_it_was():
    v = V.copy()
    v[4, 2] = np.nan
    before = v.copy()
    with pytest.raises(ValueError, match=r"^v\[4, 2\] is NaN; all elements must be finite\.$"):
        prox.simplex(v, out=v)
    np.testing.assert_array_equal(v, before)


REFUSED = {
    "v[1] is NaN; all elements must be finite.": lambda: prox.simplex([0.0, np.nan]),
    "b[0, 1] is -inf; all": lambda: prox.entropic_topk_simplex([[0.0, -np.inf]], 1, 1.0),
    "a[2] is inf; all": lambda: prox.bipartite_simplex([0.0, 1.0, np.inf], [1.0]),
    "b[0] is NaN; all": lambda: prox.bipartite_simplex([0.0], [np.nan]),
    "v of shape (0,) has vectors without elements.": lambda: prox.simplex([]),
    "v of shape (3, 0) has vectors without": lambda: prox.simplex(np.empty((3, 0))),
    "v is a number; pass one vector, or a matrix": lambda: prox.simplex(1.0),
    "v is an array of shape (1, 1, 2); pass one": lambda: prox.simplex([[[1.0, 2.0]]]),
    "v has dtype complex128; convert it to float32": lambda: prox.simplex([1j]),
    "v has dtype object; convert": lambda: prox.simplex(np.array([1.0, None])),
    "v has dtype <U1; convert": lambda: prox.simplex(["a"]),
    "v has dtype float128; convert": lambda: prox.simplex(np.ones(2, np.longdouble)),
    "k is 0; it must be between 1 and 2, the length of v.": lambda: prox.topk_simplex([1, 2], 0),
    "k is 3; it must be between 1 and 2, the length of b.": lambda: prox.entropic_topk_simplex(
        [1, 2], 3, 1.0
    ),
    "k is 1.5; it must be an integer.": lambda: prox.topk_sum_prox([1, 2], 1.5, 1.0),
    "radius is 0; it must be positive.": lambda: prox.simplex([1.0], 0),
    "radius is -1.0; it must be positive.": lambda: prox.bipartite_simplex([1.0], [1.0], -1.0),
    "radius is inf; it must be finite.": lambda: prox.topk_simplex([1.0], 1, np.inf),
    "radius is 'one'; it must be a number.": lambda: prox.simplex([1.0], "one"),
    "radius is nan; it must be a number.": lambda: prox.simplex([1.0], np.nan),
    "alpha is -1; it must not be negative.": lambda: prox.entropic_simplex([1.0], -1),
    "bias is -0.5; it must not be negative.": lambda: prox.topk_simplex([1.0], 1, bias=-0.5),
    "scale is -2; it must not be negative.": lambda: prox.topk_sum_prox([1.0], 1, -2),
    "variant is 'gamma'; choose one of alpha, beta.": lambda: prox.topk_simplex(
        [1.0], 1, variant="gamma"
    ),
    "lower is 1.0 and upper 0.0; no number lies": lambda: prox.knapsack([1.0], 1.0, 1.0, 0.0),
    "2 elements of at least 1.0 cannot sum to 1.5 or less.": lambda: prox.knapsack(
        [1.0, 2.0], 1.5, 1.0, 2.0
    ),
    "2 elements of at most 0.5 cannot sum to 1.5.": lambda: prox.knapsack(
        [1.0, 2.0], 1.5, 0.0, 0.5, equality=True
    ),
    "a has shape (2, 2) and b (3, 2); pass as many": lambda: prox.bipartite_simplex(
        np.ones((2, 2)), np.ones((3, 2))
    ),
    "a has dtype float32 and b float64; pass both": lambda: prox.bipartite_simplex(
        np.ones(2, np.float32), np.ones(2)
    ),
    "out is a list; pass a NumPy array.": lambda: prox.simplex([1.0], out=[0.0]),
    "out has shape (2,) and dtype float64; the result has (1,) and float64.": lambda: prox.simplex(
        [1.0], out=np.empty(2)
    ),
    "out has shape (1,) and dtype float32; the": lambda: prox.simplex(
        [1.0], out=np.empty(1, np.float32)
    ),
    "out is read-only.": lambda: prox.simplex([1.0], out=np.broadcast_to(0.0, (1,))),
}


@pytest.mark.parametrize("sentence", REFUSED)
def test_bad_input_is_refused_with_one_sentence(sentence):
    with pytest.raises((TypeError, ValueError)) as error:
        REFUSED[sentence]()
    assert str(error.value).startswith(sentence)
    assert str(error.value).count(". ") == 0


def test_kernels_hold_no_lock():
    """While one thread projects a large batch, another one goes on counting."""
    v = np.random.default_rng(0).normal(size=(200, 100_000))
    prox.simplex(v[:1])
    counts = []
    thread = threading.Thread(target=prox.simplex, args=(v,))
    thread.start()
    while thread.is_alive():
        counts.append(None)
    assert len(counts) > 100
