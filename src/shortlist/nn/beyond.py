r"""Losses of one label that later work proposes for networks.

==========================  ===========================================================
`CalibratedTopKSvm`         :math:`\max\{0, \mu_y + u_{[k+1]} - u_y\}` over all classes
                            (Yang and Koyejo, 2020); with `noise`, :math:`u_{[k+1]}` is the
                            mean over scores with Gaussian noise, and with a margin for each
                            class it is for long tails (Garcin et al., 2022)
`SmoothTopKSvm`             :math:`\tau \log(1 + e^{\mu/\tau} e_k / (e_{k-1}
                            e^{u_y / (k \tau)}))`, :math:`e_j` the elementary symmetric
                            polynomials of :math:`e^{u / (k \tau)}` of the other classes
                            (Berrada, Zisserman and Kumar, 2018)
`LapSum`                    :math:`-\log p_y`, :math:`p_j = \Lambda((u_j - b)/\alpha)` with
                            the Laplace distribution's :math:`\Lambda` and
                            :math:`\sum_j p_j = k` (Struski et al., 2025)
==========================  ===========================================================

They have no certificate, and the first is not convex.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from shortlist.nn.selection import LOWEST, floored, wide


class CalibratedTopKSvm(NamedTuple):
    """Calibrated top-k hinge; `margin` is a number, or a tensor with one for each class.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.value(nn.CalibratedTopKSvm(k=2), torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(0.5000)
    """

    k: int
    margin: float | Tensor = 1.0
    noise: float = 0.0
    samples: int = 5


class SmoothTopKSvm(NamedTuple):
    """Smooth top-k hinge of a temperature.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.value(nn.SmoothTopKSvm(k=2), torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(1.3369)
    """

    k: int
    temperature: float = 1.0
    margin: float = 1.0


class LapSum(NamedTuple):
    """Minus the logarithm of the label's share in a soft top k of a scale.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.value(nn.LapSum(k=2), torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(0.6222)
    """

    k: int
    scale: float = 1.0


def calibrated_topk_svm(loss: CalibratedTopKSvm, scores: Tensor, labels: Tensor) -> Tensor:
    """Return the hinge of the k+1-st largest score, noised or not."""
    rows = floored(scores)
    own = rows.gather(1, labels[:, None]).squeeze(1)
    if loss.noise > 0.0:
        noise = torch.randn(loss.samples, *rows.shape, device=rows.device, dtype=rows.dtype)
        candidates = rows + loss.noise * noise
    else:
        candidates = rows[None]
    next_one = candidates.topk(loss.k + 1, -1).values[..., -1].mean(0)
    margin = loss.margin[labels] if isinstance(loss.margin, Tensor) else loss.margin
    values = functional.relu(margin + next_one - own)
    return values + 0.0 * rows.detach().amax(1)  # a NaN among the k largest is seen


def class_margins(counts: Tensor, largest: float = 1.0) -> Tensor:
    r"""Return margins in proportion to :math:`n_y^{-1/4}` for classes of long tails.

    Parameters
    ----------
    counts : Tensor, shape (m,)
        How many examples each class has; none counts as one.
    largest : float
        The margin of the rarest class.

    Returns
    -------
    Tensor, shape (m,)

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.class_margins(torch.tensor([16, 1, 256]))
    tensor([0.5000, 1.0000, 0.2500])
    """
    margins = counts.clamp(min=1).to(torch.get_default_dtype()) ** -0.25
    return margins * (largest / margins.max())


def smooth_topk_svm(loss: SmoothTopKSvm, scores: Tensor, labels: Tensor) -> Tensor:
    r"""Return the smooth hinge, from the probabilities of a sum of coins.

    If class `j` is drawn with the odds :math:`\lambda e^{u_j / (k \tau)}`, the probability to
    draw `j` classes in all is in proportion to :math:`\lambda^j e_j`. With :math:`\lambda`
    such that `k` are expected nothing is far from 1, and products of polynomials with
    positive coefficients need no logarithms.
    """
    k, tau = loss.k, loss.temperature
    label = labels[:, None]
    logits = floored(scores) / (k * tau)
    own = logits.gather(1, label).squeeze(1)
    logits = logits.scatter(1, label, LOWEST)
    bias = -laplace_threshold(logits.detach(), k - 0.5)  # about: the logistic one is close
    drawn = torch.sigmoid(logits + bias)
    polynomials = torch.stack((torch.sigmoid(-logits - bias), drawn))  # degree, row, class
    while polynomials.shape[2] > 1:
        polynomials = _multiply_pairs(polynomials, k)
    ratio = polynomials[k, :, 0].log() - polynomials[k - 1, :, 0].log() - bias.squeeze(1)
    return tau * functional.softplus(loss.margin / tau + ratio - own, threshold=40.0)


def _multiply_pairs(polynomials: Tensor, degree: int) -> Tensor:
    """Return products of pairs (coefficients first), without the powers above `degree`."""
    length, _, count = polynomials.shape
    one, other = polynomials[:, :, : count // 2], polynomials[:, :, count // 2 : count // 2 * 2]
    highest = min(2 * (length - 1), degree)
    products = []
    for power in range(highest + 1):
        first, last = max(0, power - length + 1), min(power, length - 1)
        reversed_other = other[power - last : power - first + 1].flip(0)
        products.append((one[first : last + 1] * reversed_other).sum(0))
    if count % 2 == 0:
        return torch.stack(products)
    left_over = functional.pad(polynomials[:, :, -1:], (0, 0, 0, 0, 0, highest + 1 - length))
    return torch.cat((torch.stack(products), left_over), 2)


def lapsum(loss: LapSum, scores: Tensor, labels: Tensor) -> Tensor:
    r"""Return :math:`-\log p_y`."""
    rows = floored(scores / loss.scale)
    rows = rows - rows.detach().amax(1, keepdim=True)
    threshold: Tensor = _Threshold.apply(rows, loss.k)
    distance = (rows.gather(1, labels[:, None]) - threshold).squeeze(1)
    inside = distance >= 0.0
    share = torch.log1p(-0.5 * (-distance.where(inside, 0.0)).exp())
    return -torch.where(inside, share, distance - math.log(2.0))


class _Threshold(torch.autograd.Function):
    """`laplace_threshold`: its derivative by a score is that class's share of the densities."""

    @staticmethod
    def forward(rows: Tensor, k: float) -> Tensor:
        return laplace_threshold(rows, k)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        ctx.save_for_backward(inputs[0], output)

    @staticmethod
    def backward(ctx: Any, of_threshold: Tensor) -> tuple[Tensor, None]:
        rows, threshold = ctx.saved_tensors
        return of_threshold * torch.softmax(-(rows - threshold).abs(), 1), None


def laplace_threshold(rows: Tensor, k: float) -> Tensor:
    r"""Return `b` (n, 1) with :math:`\sum_j \Lambda(a_j - b) = k`, less than a row has elements.

    Elements above `b` count for more than one half, so they are among the `2k` largest. If
    the `j` largest are those above, with :math:`H = \sum_{i \le j} e^{-a_{[i]}}` and
    :math:`L = \sum_{i > j} e^{a_{[i]}}`,

    .. math::  \tfrac12 H e^{b} - \tfrac12 L e^{-b} = j - k.

    This is solved for every `j`, in logarithms; the one that fits best is taken.
    """
    m = rows.shape[1]
    count = min(math.ceil(2.0 * k), m)
    top = rows.topk(count, 1).values
    least, top = top[:, -1:], wide(top)
    none = torch.full_like(top[:, :1], LOWEST)
    if count < m:  # the largest count as the least of them here, and are taken off
        rest = wide((rows - least).clamp_(max=0.0).exp_().sum(1, keepdim=True)) - count
        rest = rest.clamp(min=torch.finfo(rows.dtype).tiny).log() + top[:, -1:]
    else:
        rest = none
    low = torch.cat((rest, top.flip(1)), 1).logcumsumexp(1).flip(1) - math.log(2.0)
    high = torch.cat((none, -top), 1).logcumsumexp(1) - math.log(2.0)
    surplus = torch.arange(count + 1, device=top.device, dtype=top.dtype) - k
    half, log_surplus = 0.5 * (low + high), surplus.abs().clamp(min=0.5).log()
    both = 0.5 * (low - high) + torch.asinh(0.5 * surplus * (-half.clamp(min=-30.0)).exp())
    one = torch.where(surplus > 0.0, log_surplus - high, low - log_surplus)
    b = torch.where((half > -30.0) | (surplus == 0.0), both, one)  # one side counts for nothing
    ends = torch.cat((-none, top, none), 1)
    wrong = (b - ends[:, :-1]).maximum(ends[:, 1:] - b)
    return b.gather(1, wrong.argmin(1, keepdim=True)).to(rows.dtype)
