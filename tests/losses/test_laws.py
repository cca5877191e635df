"""Laws over the registry: a loss is tested by being registered."""

import itertools

import mpmath
import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

import naive.losses as naive
from losses.cases import ALL, CONVEX, SMOOTH, examples, over
from shortlist import losses
from shortlist.losses import batch
from shortlist.losses.labels import as_labels
from shortlist.losses.operations import traits


def label_sets(labels):
    return [[y] for y in labels] if labels.ndim == 1 else [np.flatnonzero(row) for row in labels]


@over(ALL)
def test_value_is_that_of_the_definition(case):
    name, p = case
    u, labels = examples(name, n=12)
    result = losses.value(losses.make(name, **p), u, labels)
    expected = [
        naive.value(name, row, y, **p) for row, y in zip(u, label_sets(labels), strict=True)
    ]
    solver = p.get("smoothing") or "entropy" in name  # a convex solver is accurate to 1e-6 or so
    np.testing.assert_allclose(result, expected, rtol=0, atol=2e-5 if solver else 1e-12)


@over(ALL)
def test_fenchel_young_equality_at_the_gradient(case):
    name, p = case
    loss = losses.make(name, **p)
    for scale in (1e-3, 1.0, 30.0):
        u, labels = examples(name, scale=scale)
        v = losses.gradient(loss, u, labels)
        total = losses.value(loss, u, labels) + losses.conjugate(loss, v, labels)
        np.testing.assert_allclose(total, (u * v).sum(axis=1), rtol=0, atol=1e-11 * (1 + scale))


@over(ALL)
def test_what_is_computed_together_is_what_is_computed_alone(case):
    """The gradient and its conjugate in one go, which solvers ask for."""
    name, p = case
    loss = losses.make(name, **p)
    for dtype, scale in itertools.product((np.float64, np.float32), (0.0, 1e-3, 1.0, 30.0, 700.0)):
        u, labels = examples(name, scale=scale)
        u, known = u.astype(dtype), as_labels(labels, u.shape[1])
        v, conjugates = np.empty_like(u), np.empty(len(u))
        batch.gradient_rows(loss, u, known.offsets, known.indices, v, conjugates)
        eps = float(np.finfo(dtype).eps)
        np.testing.assert_allclose(v, losses.gradient(loss, u, labels), rtol=0, atol=8 * eps)
        # The conjugate is that of v before it was rounded.
        expected = losses.conjugate(loss, v.astype(np.float64), labels)
        np.testing.assert_allclose(conjugates, expected, rtol=0, atol=50 * eps * (1 + scale))


@over([("softmax", {}), ("ova_logistic", {}), ("multilabel_softmax", {"normalize": True})])
def test_a_step_is_the_gradient_where_it_leads_for_any_number_of_classes(case):
    """v = step(q, a) is the gradient at q - a v; vectors are filled up to whole registers."""
    name, p = case
    loss = losses.make(name, **p)
    for m, a in itertools.product((2, 15, 16, 17, 31, 33, 101), (1e-3, 1.0, 1e4)):
        q, labels = examples(name, m=m, scale=3.0)
        v = losses.step(loss, q, labels, a)
        np.testing.assert_allclose(
            losses.gradient(loss, q - a * v, labels), v, atol=1e-12 * a + 1e-13
        )
        single = losses.step(loss, q.astype(np.float32), labels, a)
        np.testing.assert_allclose(single, v, atol=1e-5)


@over([("softmax", {}), ("ova_logistic", {})])
def test_small_losses_are_told_to_their_last_digits(case):
    """Also as the difference of product and conjugate, where all others are far below."""
    name, p = case
    loss = losses.make(name, **p)
    u = np.array([[40.0, -3.0, -1.0], [25.0, -7.0, -8.0], [11.0, -9.0, -5.0]])
    known = as_labels([0, 0, 0], 3)
    v, conjugates = np.empty_like(u), np.empty(3)
    batch.gradient_rows(loss, u, known.offsets, known.indices, v, conjugates)
    found = ((u - u[:, :1]) * v).sum(axis=1) if name == "softmax" else (u * v).sum(axis=1)
    with mpmath.workdps(50):
        for i, row in enumerate(u.tolist()):
            if name == "softmax":
                expected = mpmath.log(sum(mpmath.exp(mpmath.mpf(a) - row[0]) for a in row))
            else:
                margins = [mpmath.mpf(row[0]), *(-mpmath.mpf(a) for a in row[1:])]
                expected = sum(mpmath.log(1 + mpmath.exp(-z)) for z in margins)
            assert abs(found[i] - conjugates[i] - expected) <= 1e-13 * expected


@over(CONVEX)
def test_fenchel_young_inequality_elsewhere(case):
    name, p = case
    loss = losses.make(name, **p)
    u, labels = examples(name)
    for seed in range(1, 4):
        v = losses.gradient(loss, examples(name, seed=seed)[0], labels)
        total = losses.value(loss, u, labels) + losses.conjugate(loss, v, labels)
        assert (total >= (u * v).sum(axis=1) - 1e-11).all()


@over(SMOOTH)
def test_gradient_is_the_derivative_of_the_value(case):
    name, p = case
    loss = losses.make(name, **p)
    u, labels = examples(name)
    u += np.random.default_rng(9).normal(size=u.shape) * 0.01  # off the kinks of the truncation
    step, numeric = 1e-5, np.empty_like(u)
    for j in range(u.shape[1]):
        shift = step * (np.arange(u.shape[1]) == j)
        numeric[:, j] = losses.value(loss, u + shift, labels) - losses.value(
            loss, u - shift, labels
        )
    np.testing.assert_allclose(losses.gradient(loss, u, labels), numeric / (2 * step), atol=1e-5)


@over([case for case in CONVEX if case not in SMOOTH])
def test_subgradient_inequality(case):
    name, p = case
    loss = losses.make(name, **p)
    u, labels = examples(name)
    g, at_u = losses.gradient(loss, u, labels), losses.value(loss, u, labels)
    for seed in range(1, 6):
        w = examples(name, seed=seed)[0]
        bound = at_u + (g * (w - u)).sum(axis=1)
        assert (losses.value(loss, w, labels) >= bound - 1e-12).all()


@over(CONVEX)
@settings(max_examples=25)
@given(
    st.sampled_from((1e-6, 1e-2, 0.7, 3.0, 50.0, 1e4)),
    st.sampled_from((1e-3, 1.0, 20.0)),
    st.integers(0, 10**6),
)
def test_step_is_the_gradient_where_it_leads(case, a, scale, seed):
    """v = step(q, a) minimises L*(v) + a/2 |v|^2 - <q, v> if and only if v is a subgradient
    of L at q - a v, that is, if Fenchel-Young holds with equality there."""
    name, p = case
    loss = losses.make(name, **p)
    q, labels = examples(name, n=10, scale=scale, seed=seed)
    v = losses.step(loss, q, labels, a)
    u = q - a * v
    gap = losses.value(loss, u, labels) + losses.conjugate(loss, v, labels) - (u * v).sum(axis=1)
    assert np.abs(gap).max() <= 1e-11 * (1 + scale + a)


@over([case for case in CONVEX if case[1].get("smoothing")])
def test_smoothing_takes_off_at_most_its_share(case):
    """L - smoothing / 2 max |v|^2 <= L_smooth <= L."""
    name, p = case
    u, labels = examples(name)
    rough = losses.value(losses.make(name, **{**p, "smoothing": 0.0}), u, labels)
    smooth = losses.value(losses.make(name, **p), u, labels)
    most = u.shape[1] if name == "ova_svm" else 2
    assert (smooth <= rough + 1e-12).all()
    assert (smooth >= rough - p["smoothing"] / 2 * most - 1e-12).all()
    tiny = losses.value(losses.make(name, **{**p, "smoothing": 1e-9}), u, labels)
    np.testing.assert_allclose(tiny, rough, atol=1e-8)


@over(ALL)
def test_classes_may_be_renumbered(case):
    name, p = case
    loss = losses.make(name, **p)
    u, labels = examples(name)
    u += np.random.default_rng(5).normal(size=u.shape) * 1e-3  # subgradients at ties may differ
    order = np.random.default_rng(1).permutation(u.shape[1])
    renumbered = labels[:, order] if labels.ndim == 2 else np.argsort(order)[labels]
    np.testing.assert_allclose(
        losses.value(loss, u[:, order], renumbered), losses.value(loss, u, labels), atol=1e-12
    )
    np.testing.assert_allclose(
        losses.gradient(loss, u[:, order], renumbered),
        losses.gradient(loss, u, labels)[:, order],
        atol=1e-12,
    )


@over(ALL)
def test_float32_stays_float32_and_agrees(case):
    name, p = case
    loss = losses.make(name, **p)
    u, labels = examples(name)
    u = u.astype(np.float32)
    g = losses.gradient(loss, u, labels)
    assert g.dtype == np.float32
    exact = u.astype(float)
    np.testing.assert_allclose(
        losses.value(loss, u, labels), losses.value(loss, exact, labels), rtol=1e-5, atol=1e-5
    )
    if traits(loss).convex:
        np.testing.assert_allclose(
            losses.step(loss, u, labels, 0.5), losses.step(loss, exact, labels, 0.5), atol=1e-5
        )


@over(ALL)
def test_huge_scores_give_finite_numbers(case):
    name, p = case
    loss = losses.make(name, **p)
    for dtype in (np.float32, np.float64):
        u, labels = examples(name, scale=1e4)
        u = u.astype(dtype)
        for a in (0.0, 1e-6, 1.0, 1e6) if traits(loss).convex else (0.0,):
            v = losses.step(loss, u, labels, a)
            assert np.isfinite(v).all()
            assert np.isfinite(losses.conjugate(loss, v, labels)).all()
        assert (losses.value(loss, u, labels) >= -1e-3).all()


@over([case for case in ALL if traits(losses.make(case[0], **case[1])).multilabel])
def test_examples_without_labels_and_with_all(case):
    """Where there is nothing to rank, the loss is 0 and so is its step."""
    name, p = case
    loss = losses.make(name, **p)
    u = np.random.default_rng(0).normal(size=(2, 5))
    labels = np.array([[False] * 5, [True] * 5])
    v = losses.step(loss, u, labels, 0.7)
    values = losses.value(loss, u, labels)
    assert np.isfinite(v).all()
    if name.startswith("multilabel"):
        assert not v[0].any()
        assert values[0] == 0.0
    if name == "multilabel_svm":
        assert not v[1].any()
        assert values[1] == 0.0
