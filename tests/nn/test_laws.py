"""Laws over the registry of losses: torch gives what NumPy gives, and differentiates it."""

import nn.needs_torch  # noqa: I001

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.autograd import gradcheck

from losses.cases import ALL, CONVEX, SMOOTH, over
from nn.cases import BEYOND, EVERY, IDS, as_numpy, batch, off_kinks, value_and_gradient
from shortlist import losses, nn
from shortlist.nn import compiled, hinge

every = pytest.mark.parametrize(("name", "loss"), EVERY, ids=IDS)
SCALES = (1e-3, 0.05, 1.0, 30.0, 1e4)


@over(ALL)
@pytest.mark.parametrize("m", [4, 200])
def test_values_and_gradients_are_those_of_numpy(case, m):
    name, p = case
    loss = losses.make(name, **p)
    for scale in SCALES:
        u, labels = batch(name, m=m, scale=scale, seed=m)
        if case not in SMOOTH or name.startswith("truncated"):  # a subgradient at a tie is a choice
            u = off_kinks(u)
        values, gradient = value_and_gradient(loss, u, labels)
        numpy_u, numpy_labels = as_numpy(u, labels)
        expected = losses.value(loss, numpy_u, numpy_labels)
        np.testing.assert_allclose(values, expected, rtol=1e-10, atol=1e-11 * (1 + scale))
        expected = losses.gradient(loss, numpy_u, numpy_labels)
        np.testing.assert_allclose(gradient, expected, rtol=0, atol=2e-11 * (1 + scale))


@over(ALL)
@settings(max_examples=10)
@given(
    st.sampled_from(SCALES),
    st.sampled_from((4, 7, 150, 400)),
    st.integers(0, 10**6),
    st.sampled_from((0.0, -50.0, 1e3)),
)
def test_values_in_single_precision_are_exact_but_for_rounding(case, scale, m, seed, offset):
    name, p = case
    loss = losses.make(name, **p)
    u, labels = batch(name, torch.float32, n=8, m=m, scale=scale, seed=seed)
    u += offset if not name.startswith("ova") else 0.0
    values, gradient = value_and_gradient(loss, u, labels)
    assert values.dtype == gradient.dtype == torch.float32
    exact, numpy_labels = as_numpy(u.double(), labels)
    expected = losses.value(loss, exact, numpy_labels)
    largest = float(u.abs().max())
    np.testing.assert_allclose(values, expected, rtol=1e-6, atol=1e-6 * (1 + largest))
    if p.get("smoothing") and not name.startswith("ova"):
        assert torch.isfinite(gradient).all()
        np.testing.assert_allclose(gradient.sum(1), 0.0, rtol=0, atol=1e-4 * (1 + largest))


HINGES = [case for case in ALL if case[0].startswith(("svm", "topk_svm_alpha", "topk_svm_beta"))]


@over(HINGES)
@pytest.mark.parametrize("m", [4, 300])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_compiled_hinges_are_those_of_torch(case, m, dtype):
    """A CPU's own kernel gives what all other devices compute, rows with masks included."""
    loss = losses.make(case[0], **case[1])
    beta = isinstance(loss, losses.hinge.TopKSvmBeta)
    near = 1e-11 if dtype == torch.float64 else 1e-6
    for scale in SCALES:
        u, labels = batch(case[0], m=m, scale=scale, seed=m + 1)
        u = off_kinks(u).to(dtype)
        u[0, (labels[0] + 1) % m] = -torch.inf
        u[1] = 0.5  # all alike
        arguments = (u, labels, loss.k, loss.smoothing, beta)
        values, gradient = hinge.topk_hinge(*arguments)
        expected, of_torch = hinge.solve_by_torch(*arguments)
        torch.testing.assert_close(values, expected, rtol=near, atol=near * (1 + scale))
        chosen = slice(2, None) if loss.smoothing == 0.0 else slice(None)  # at a tie, any
        torch.testing.assert_close(
            gradient[chosen], of_torch[chosen], rtol=0, atol=10 * near * (1 + scale)
        )
        torch.testing.assert_close(gradient.sum(1), values * 0, rtol=0, atol=10 * near)


def test_threads_share_the_rows(monkeypatch):
    u, labels = batch("one", n=40, m=30)
    alone = value_and_gradient(losses.topk_svm_alpha(3, 1.0), u, labels)
    monkeypatch.setattr(compiled, "_SCORES_OF_A_THREAD", 100)
    monkeypatch.setattr(torch, "get_num_threads", lambda: 3)
    together = value_and_gradient(losses.topk_svm_alpha(3, 1.0), u, labels)
    torch.testing.assert_close(together, alone, rtol=0, atol=0)


@over(SMOOTH)
def test_gradcheck(case):
    name, p = case
    u, labels = batch(name, n=7)
    u = off_kinks(u)
    loss = losses.make(name, **p)
    assert gradcheck(lambda s: nn.value(loss, s, labels, reduction="none"), u.requires_grad_())


@pytest.mark.parametrize("name", BEYOND)
def test_gradcheck_of_losses_beyond_the_paper(name):
    u, labels = batch("multilabel" if name == "lsep" else "one", n=7)
    u = off_kinks(u)
    loss = BEYOND[name]
    assert gradcheck(lambda s: nn.value(loss, s, labels, reduction="none"), u.requires_grad_())


@over([case for case in SMOOTH if case in CONVEX])
def test_second_derivatives_are_those_of_numpy(case):
    name, p = case
    loss = losses.make(name, **p)
    for scale in (0.3, 2.0):
        u, labels = batch(name, scale=scale)
        u = off_kinks(u)
        directions = torch.tensor(np.random.default_rng(1).normal(size=u.shape))
        scores = u.clone().requires_grad_()
        total = nn.value(loss, scores, labels, reduction="sum")
        (gradient,) = torch.autograd.grad(total, scores, create_graph=True)
        (product,) = torch.autograd.grad((gradient * directions).sum(), scores)
        expected = losses.hessian_times(loss, *as_numpy(u, labels, directions))
        np.testing.assert_allclose(product, expected, rtol=0, atol=1e-8)


@over([case for case in CONVEX if case not in SMOOTH])
def test_subgradient_inequality(case):
    name, p = case
    loss = losses.make(name, **p)
    u, labels = batch(name)  # ties included
    at_u, g = value_and_gradient(loss, u, labels)
    for seed in range(1, 6):
        w, _ = batch(name, seed=seed)
        bound = at_u + (g * (w - u)).sum(1)
        assert (nn.value(loss, w, labels, reduction="none") >= bound - 1e-12).all()


def nonzero_labels(labels):
    """Labels of classes that the tests of masks leave, where a class 0 is put before them."""
    return labels + 1 if labels.ndim == 1 else torch.cat((labels[:, :1] & False, labels), 1)


@every
def test_a_masked_class_is_not_there(name, loss):
    u, labels = batch(name, m=7)
    u = off_kinks(u)
    masked = torch.cat((torch.full_like(u[:, :1], -torch.inf), u), 1)
    values, gradient = value_and_gradient(loss, u, labels)
    with_mask, longer = value_and_gradient(loss, masked, nonzero_labels(labels))
    torch.testing.assert_close(with_mask, values)
    torch.testing.assert_close(longer[:, 1:], gradient)
    assert not longer[:, 0].any()


@every
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16])
def test_half_precision_up_to_10000_with_masks_has_no_nan(name, loss, dtype):
    u, labels = batch(name, m=9, scale=4e3)
    u = u.clamp(-1e4, 1e4).to(dtype)
    masked = torch.cat((torch.full_like(u[:, :2], -torch.inf), u), 1)
    target = nonzero_labels(nonzero_labels(labels))
    values, gradient = value_and_gradient(loss, masked, target)
    assert values.dtype == torch.float32  # computed and given in it
    assert gradient.dtype == dtype
    assert torch.isfinite(values).all()
    assert torch.isfinite(gradient).all()
    exact = nn.value(loss, masked.double(), target, reduction="none")
    np.testing.assert_allclose(values, exact, rtol=1e-5, atol=1e-2)


@every
def test_an_example_whose_label_is_masked_costs_infinity(name, loss):
    u, labels = batch("one", m=7)
    u.scatter_(1, labels[:, None], -torch.inf)
    values, gradient = value_and_gradient(loss, u, labels)
    assert torch.isposinf(values).all()
    assert not gradient.isnan().any()


@every
def test_a_nan_is_seen(name, loss):
    u, labels = batch(name, m=7)
    u[2, 3] = torch.nan
    values = nn.value(loss, u, labels, reduction="none")
    assert values[2].isnan()
    assert values[3:].isfinite().all()
