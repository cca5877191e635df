"""The derivative of `step`, which Newton's method needs, against differences of `step` itself."""

import numpy as np
import pytest

from losses.cases import CONVEX, case_id, examples
from shortlist import losses
from shortlist.losses import batch, labels

#: Losses with kinks have a derivative where a > 0 only.
CASES = [(case, a) for case in CONVEX for a in (0.0, 0.4, 30.0)]
CASES = [(case, a) for case, a in CASES if a > 0.0 or case[1].get("smoothing") != 0.0]
over = pytest.mark.parametrize(
    ("case", "a"), CASES, ids=lambda x: case_id(x) if x != 0 and isinstance(x, tuple) else str(x)
)


def differences(loss, q, y, a, directions, e=1e-6):
    """Central differences, and in which rows the two one-sided ones agree."""
    here, ahead, behind = (losses.step(loss, q + s * e * directions, y, a) for s in (0, 1, -1))
    inside = np.abs((ahead - here) - (here - behind)).max(axis=1) < 1e-4 * e
    return (ahead - behind) / (2 * e), inside


@over
def test_it_is_what_differences_of_the_step_show(case, a):
    name, p = case
    loss = losses.make(name, **p)
    inside = 0
    for scale in (0.3, 2.0, 2.0 * (1.0 + a)):
        q, y = examples(name, n=60, scale=scale)
        q += 1e-3 * np.random.default_rng(1).normal(size=q.shape)  # away from the edges of faces
        directions = np.random.default_rng(2).normal(size=q.shape)
        expected, smooth_here = differences(loss, q, y, a, directions)
        result = losses.hessian_times(loss, q, y, directions, a)
        np.testing.assert_allclose(result[smooth_here], expected[smooth_here], rtol=0, atol=2e-4)
        inside += smooth_here.sum()
    assert inside > 140  # most rows are not at an edge


@over
def test_it_is_symmetric_and_positive_semi_definite_at_ties_too(case, a):
    name, p = case
    loss = losses.make(name, **p)
    q, y = examples(name)
    known = labels.as_labels(y, q.shape[1])
    v = losses.step(loss, q, y, a)
    n, m = q.shape
    h, parts, taus, diagonal = (np.empty(s) for s in ((n, m), (n, 2, m), (n, 2), (n, m)))
    c = np.ones(n)
    batch.derivative_rows(loss, v, known.offsets, known.indices, a, c, h, parts, taus, diagonal)
    for i in range(n):
        whole = np.diag(h[i]) + sum(
            taus[i, r] * np.outer(parts[i, r], parts[i, r]) for r in (0, 1) if taus[i, r]
        )
        assert np.linalg.eigvalsh(whole).min() > -1e-9 * max(1.0, np.abs(whole).max())
        e = np.eye(m)
        columns = losses.hessian_times(
            loss, np.repeat(q[i : i + 1], m, 0), np.repeat(y[i : i + 1], m, 0), e, a
        )
        np.testing.assert_allclose(
            columns, whole, rtol=0, atol=1e-12 * max(1.0, np.abs(whole).max())
        )
        np.testing.assert_allclose(diagonal[i], np.diag(whole).clip(0.0), rtol=0, atol=1e-12)


@over
def test_it_keeps_single_precision(case, a):
    name, p = case
    loss = losses.make(name, **p)
    q, y = examples(name)
    q += 0.01 * np.random.default_rng(1).normal(size=q.shape)
    directions = np.random.default_rng(2).normal(size=q.shape)
    exact = losses.hessian_times(loss, q, y, directions, a)
    result = losses.hessian_times(loss, q.astype(np.float32), y, directions, a)
    assert result.dtype == np.float32
    close = np.abs(result - exact).max(axis=1) < 1e-3 * (1 + np.abs(exact).max(axis=1))
    assert close.mean() > 0.9  # single precision may see another face of a few


@pytest.mark.parametrize("k", [1, 2, 4])
def test_hessian_of_a_loss_that_is_not_convex(k):
    """Away from ties it is the derivative of the gradient."""
    rng, loss, h = np.random.default_rng(k), losses.truncated_topk_entropy(k), 1e-5
    u, y = rng.normal(scale=2.0, size=(50, 7)), rng.integers(7, size=50)
    direction = rng.normal(size=u.shape)
    ahead, behind = (losses.gradient(loss, u + t * direction, y) for t in (h, -h))
    expected = (ahead - behind) / (2 * h)
    np.testing.assert_allclose(losses.hessian_times(loss, u, y, direction), expected, atol=1e-8)


def test_bad_input_is_refused_in_one_sentence():
    with pytest.raises(ValueError, match="has kinks: pass a > 0, or smooth it"):
        losses.hessian_times("svm", [[0.0, 1.0]], [0], [[1.0, 0.0]])
    with pytest.raises(ValueError, match="not convex"):
        losses.hessian_times(
            losses.truncated_topk_entropy(k=1), [[0.0, 1.0]], [0], [[1.0, 0.0]], a=1.0
        )
    with pytest.raises(ValueError, match=r"directions have shape \(1, 3\)"):
        losses.hessian_times("softmax", [[0.0, 1.0]], [0], [[1.0, 0.0, 0.0]])
