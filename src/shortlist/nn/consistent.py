r"""The consistent top-k hinge in torch; see `shortlist.losses.consistent`.

Without smoothing, :math:`F(u) = \max\{u_{[1]}, 1 + t\}` with :math:`\sum_j \max\{u_j - t, 0\}
= k`. With it, let :math:`q = u + g e_y`: the gradient is :math:`p - e_y` with

.. math::  p_j = \tfrac1g \max\{w_j - t, 0\}, \qquad w_j = q_j - \min\{\max\{q_j - \theta, 0\},
           1\},

where :math:`\theta` makes the differences between `q` and `w` sum to `k`, and `t` makes `p`
a distribution.
"""

from __future__ import annotations

import torch
from torch import Tensor

from shortlist.losses.consistent import ConsistentTopKSvm
from shortlist.nn.projection import Projected, mean_over, tolerance
from shortlist.nn.selection import (
    LOWEST,
    above_threshold,
    at_least,
    capped_threshold,
    root,
    shifted,
    wide,
)


def _solve(loss: ConsistentTopKSvm, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    rows, label = shifted(scores), labels[:, None]
    own = rows.gather(1, label)
    if loss.smoothing == 0.0:
        return _corner(rows, own, label, loss.k)
    g = loss.smoothing
    rows.scatter_(1, label, own + g)
    value, pooled, threshold = consistent_thresholds(rows, own, loss.k, g)
    rows.sub_((rows - pooled).clamp_(0.0, 1.0)).sub_(threshold).relu_().mul_(1.0 / g)
    return value, rows.scatter_add_(1, label, -torch.ones_like(own))


def _corner(rows: Tensor, own: Tensor, label: Tensor, k: int) -> tuple[Tensor, Tensor]:
    """Return F(u) - u_y, and the distribution that attains F: on one class, or on many alike."""
    top, first = rows.max(1, keepdim=True)
    threshold = sum_threshold(rows, float(k))
    many = 1.0 + threshold > top
    share = (rows > threshold).to(rows.dtype)
    share /= share.sum(1, keepdim=True)
    one = torch.zeros_like(rows).scatter_(1, first, 1.0)
    gradient = torch.where(many, share, one)
    gradient.scatter_add_(1, label, -torch.ones_like(own))
    return (top.maximum(1.0 + threshold) - own).squeeze(1), gradient


@torch.library.custom_op("shortlist::sum_threshold", mutates_args=())
def sum_threshold(rows: Tensor, radius: float) -> Tensor:
    """Return `t` (n, 1) for which the excesses over it sum to `radius`."""
    found = above_threshold(rows, radius, radius)
    return capped_threshold(found, radius, radius).to(rows.dtype)


@sum_threshold.register_fake
def _(rows: Tensor, radius: float) -> Tensor:
    return rows.new_empty(rows.shape[0], 1)


@torch.library.custom_op("shortlist::consistent_thresholds", mutates_args=())
def consistent_thresholds(
    rows: Tensor, own: Tensor, k: int, g: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the value (n,), and both thresholds (n, 1), for `q` in `rows`."""
    top = rows.amax(1, keepdim=True)
    q = at_least(rows, top - 1.0 - g)  # w >= top - 1 somewhere, and p <= 1
    ones = torch.ones_like(q)
    breaks, changes = torch.cat((q, q - 1.0), 1), torch.cat((ones, -ones), 1)
    enough = q.isfinite().sum(1, keepdim=True) >= k  # or all that have a share are among the k
    pooled = torch.where(enough, root(breaks, changes, float(k)), LOWEST)
    w = q - (q - pooled).clamp(0.0, 1.0)
    threshold = capped_threshold(w, g, g)
    p = (w - threshold).relu() / g
    mine = wide(own)
    p_mine = (mine + g - (mine + g - pooled).clamp(0.0, 1.0) - threshold).relu() / g
    products = torch.where(p == 0.0, 0.0, q * p).sum(1, keepdim=True) - g * p_mine - mine
    of_conjugate = p[:, :k].sum(1, keepdim=True) - 1.0
    squares = p.square().sum(1, keepdim=True) - 2.0 * p_mine + 1.0
    value = products - of_conjugate - 0.5 * g * squares
    dtype = rows.dtype
    return value.squeeze(1).to(dtype), pooled.to(dtype), threshold.to(dtype)


@consistent_thresholds.register_fake
def _(rows: Tensor, own: Tensor, k: int, g: float) -> tuple[Tensor, Tensor, Tensor]:
    return rows.new_empty(rows.shape[0]), torch.empty_like(own), torch.empty_like(own)


def _hessian_times(
    loss: ConsistentTopKSvm, gradient: Tensor, labels: Tensor, directions: Tensor
) -> Tensor:
    """Project, on the elements above 0, onto sum 0 and equal elements where they are pooled."""
    if loss.smoothing == 0.0:
        return torch.zeros_like(directions)
    near = tolerance(gradient)
    own = torch.ones_like(gradient[:, :1])
    p = gradient.scatter_add(1, labels[:, None], own)
    level = p.topk(loss.k, 1).values[:, -1:]
    positive = p > near
    apart = (p >= level - near).sum(1, keepdim=True) <= loss.k
    pooled = positive & ((p - level).abs() <= near) & ~apart
    of_pool = torch.where(pooled, mean_over(directions, pooled), directions)
    return torch.where(positive, of_pool - mean_over(directions, positive), 0.0) / loss.smoothing


consistent_topk_svm = Projected(_solve, _hessian_times)
