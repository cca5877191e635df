"""Losses that later work proposes, against their definitions."""

import nn.needs_torch  # noqa: I001

import itertools
import math

import numpy as np
import pytest
import torch

from nn.cases import batch
from shortlist import nn

U, Y = batch("one", n=8, m=7)


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("temperature", [0.1, 1.0])
def test_the_smooth_hinge_sums_over_all_short_lists(k, temperature):
    loss = nn.SmoothTopKSvm(k, temperature, margin=0.7)
    values = nn.value(loss, U, Y, reduction="none")
    for u, y, value in zip(U.numpy(), Y.tolist(), values, strict=True):
        with_y, without = [], []
        for chosen in itertools.combinations(range(7), k):
            mean = u[list(chosen)].mean()
            (with_y if y in chosen else without).append(mean + (0.0 if y in chosen else 0.7))
        all_lists = np.logaddexp.reduce(np.array(with_y + without) / temperature)
        right = np.logaddexp.reduce(np.array(with_y) / temperature)
        assert float(value) == pytest.approx(temperature * (all_lists - right), abs=1e-9)


def test_the_smooth_hinge_tends_to_the_hinge_of_lists():
    """Without temperature it is the margin plus the mean of the best list without the label,
    less that of the best with it."""
    loss = nn.SmoothTopKSvm(2, temperature=1e-3)
    values = nn.value(loss, U.float(), Y, reduction="none")
    for u, y, value in zip(U.numpy(), Y.tolist(), values, strict=True):
        others = np.sort(np.delete(u, y))[::-1]
        hinge = 1 + others[:2].mean() - (u[y] + others[0]) / 2
        assert float(value) == pytest.approx(max(0.0, hinge), abs=5e-3)


def test_the_calibrated_hinge():
    values = nn.value(nn.CalibratedTopKSvm(2), U, Y, reduction="none")
    third = np.sort(U.numpy(), axis=1)[:, -3]
    expected = np.maximum(0, 1 + third - U.numpy()[np.arange(8), Y])
    np.testing.assert_allclose(values, expected)


def test_noise_is_a_mean_over_noised_scores():
    torch.manual_seed(0)
    loss = nn.CalibratedTopKSVMLoss(2, margin=50.0, noise=0.5, samples=20000, reduction="none")
    values = loss(U[:1], Y[:1])
    noised = U[0].numpy() + 0.5 * np.random.default_rng(0).normal(size=(20000, 7))
    expected = 50.0 + np.sort(noised, axis=1)[:, -3].mean() - U[0, Y[0]]
    assert float(values) == pytest.approx(float(expected), abs=0.03)


def test_margins_of_classes():
    margins = torch.arange(7.0).double()
    values = nn.CalibratedTopKSVMLoss(2, margin=margins, reduction="none")(U, Y)
    for i in range(8):
        loss = nn.CalibratedTopKSvm(2, margin=float(Y[i]))
        torch.testing.assert_close(values[i], nn.value(loss, U[i], Y[i]))


def surplus(u, b, k):
    """By how much the shares at `b` exceed k, with what is nearly 1 counted from 1."""
    above = [s for s in u if s >= b]
    short = math.fsum(0.5 * math.exp(b - s) for s in above)
    return len(above) - k + (math.fsum(0.5 * math.exp(s - b) for s in u if s < b) - short)


@pytest.mark.parametrize("k", [1, 3, 6])
@pytest.mark.parametrize("scale", [0.01, 1.0, 100.0])
def test_lapsum_by_bisection(k, scale):
    values = nn.value(nn.LapSum(k, scale), U, Y, reduction="none")
    for row, y, value in zip(U.tolist(), Y.tolist(), values, strict=True):
        u = [score / scale for score in row]
        low, high = min(u) - 50, max(u) + 50
        for _ in range(200):
            b = (low + high) / 2
            low, high = (b, high) if surplus(u, b, k) > 0 else (low, b)
        distance = u[y] - b
        if distance < 0:
            expected = math.log(2) - distance
        else:
            expected = -math.log1p(-0.5 * math.exp(-distance))
        assert float(value) == pytest.approx(expected, rel=1e-9, abs=1e-12)


def test_lsep_sums_over_all_pairs():
    u, labels = batch("multilabel")
    values = nn.value(nn.Lsep(), u, labels, reduction="none")
    for row, label, value in zip(u.numpy(), labels.numpy(), values, strict=True):
        pairs = np.exp(row[~label][:, None] - row[label][None]).sum()
        assert float(value) == pytest.approx(np.log1p(pairs))
