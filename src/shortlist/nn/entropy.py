r"""The top-k entropies in torch; see `shortlist.losses.entropy` and `.truncated`.

Over distributions `q` that are at most :math:`1/k`,

.. math::  \max_q \langle u, q \rangle + H(q) = \tfrac1k \sum_{j \le c} (u_{[j]} + \log k) +
           (1 - \tfrac{c}{k}) \tau, \qquad q_j = \min\{\tfrac1k, e^{u_j - \tau}\},

where :math:`\tau = \log \sum_{j > c} e^{u_{[j]}} - \log(1 - c/k)`, and `c` elements are at the
bound. For beta the label is one of the elements, without a bound.
"""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional

from shortlist.losses.entropy import TopKEntropy, TopKEntropyBeta
from shortlist.losses.truncated import TruncatedTopKEntropy
from shortlist.nn.projection import Projected, tolerance
from shortlist.nn.selection import LOWEST, floored, shifted, wide

Entropy = TopKEntropy | TopKEntropyBeta


def _solve(loss: Entropy, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    rows, label, k = shifted(scores), labels[:, None], loss.k
    own = wide(rows.gather(1, label))
    others = rows.scatter_(1, label, LOWEST)
    beta = isinstance(loss, TopKEntropyBeta)
    top = others.topk(k, 1).values if k > 1 else others.amax(1, keepdim=True)
    largest, tau = _maximum(others, top, own if beta else None)
    difference = (largest - own).squeeze(1)
    value = difference if beta else functional.softplus(difference, threshold=40.0)
    # Elements at the bound are those that would be above it, ties included.
    others.sub_(tau.to(rows.dtype)).clamp_(max=-math.log(k)).exp_()
    if beta:
        total = -torch.expm1(own - tau)
    else:
        total = torch.sigmoid(largest - own)
        others.mul_(total.to(rows.dtype))
    return value.to(rows.dtype), others.scatter_(1, label, -total.to(rows.dtype))


def _maximum(others: Tensor, top: Tensor, own: Tensor | None) -> tuple[Tensor, Tensor]:
    r"""Return the maximum and :math:`\tau` (n, 1), given the k largest, descending."""
    k = top.shape[1]
    kth, top = top[:, -1:], wide(top)
    # The k - 1 largest count as the k-th here, and are taken off.
    rest = (others - kth).clamp_(max=0.0).exp_().sum(1, keepdim=True)
    tail = (wide(rest) - (k - 1)).log() + top[:, -1:]
    if own is not None:
        tail = torch.logaddexp(tail, own)
    tails = torch.cat((tail, top[:, :-1].flip(1)), 1).logcumsumexp(1).flip(1)
    free = 1.0 - torch.arange(k, device=top.device, dtype=top.dtype) / k
    taus = tails - free.log()
    fits = top - taus <= -math.log(k)
    fits[:, -1] = True
    capped = fits.to(torch.uint8).argmax(1, keepdim=True)
    tau = taus.gather(1, capped)
    at_bound = torch.cat((torch.zeros_like(tail), (top + math.log(k)).cumsum(1)), 1) / k
    return at_bound.gather(1, capped) + free[capped] * tau, tau


def _hessian_times(loss: Entropy, gradient: Tensor, labels: Tensor, directions: Tensor) -> Tensor:
    """Differentiate the shares that are not at their bound, whose sum is given."""
    label, k = labels[:, None], loss.k
    total = -gradient.gather(1, label)
    beta = isinstance(loss, TopKEntropyBeta)
    scale = torch.ones_like(total) if beta else total.clamp(min=torch.finfo(total.dtype).tiny)
    shares = gradient.scatter(1, label, 1.0 - total if beta else 0.0) / scale
    bound = (1.0 - tolerance(gradient)) / k if k > 1 else torch.inf
    free = shares.where((shares < bound).scatter(1, label, True), 0.0)
    mean = (free * directions).sum(1, keepdim=True) / free.sum(1, keepdim=True)
    product = scale * free * (directions - mean)
    if beta:
        return product
    along = (gradient * directions).sum(1, keepdim=True)
    return product + gradient * along * (1.0 - total) / scale


topk_entropy = Projected(_solve, _hessian_times)


def truncated_topk_entropy(loss: TruncatedTopKEntropy, scores: Tensor, labels: Tensor) -> Tensor:
    """Return the softmax loss without the k - 1 best of the other classes."""
    rows = floored(scores)
    if loss.k > 1:
        others = rows.detach().scatter(1, labels[:, None], LOWEST)
        rows = rows.scatter(1, others.topk(loss.k - 1, 1, sorted=False).indices, LOWEST)
    values = functional.cross_entropy(rows, labels, reduction="none")
    return values + 0.0 * scores.detach().amax(1)  # a NaN among those left out is seen
