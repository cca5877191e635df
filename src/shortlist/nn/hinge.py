r"""The top-k hinges alpha and beta in torch; see `shortlist.losses.hinge`.

The gradient of the smooth hinge is, over the other classes, the projection of the margins
:math:`b_j = 1 + u_j - u_y` onto the top-k simplex of radius `g`, divided by `g`:

.. math::  x_j = \tfrac1g \min\{\max\{b_j - t, 0\}, c\},

with the cap :math:`c = g/k` where the sum is `g`, and below it for alpha where it is not.
The thresholds `t` and `c` are found among the few margins that can be above `t`. Where the
scores are in the memory of a CPU, compiled code does all of it; which one runs is decided by
torch, by the device that a tensor is on.
"""

from __future__ import annotations

import torch
from torch import Tensor

from shortlist.losses.hinge import TopKSvmAlpha, TopKSvmBeta
from shortlist.losses.hinge_rows import hinge_rows
from shortlist.nn.compiled import over_rows
from shortlist.nn.projection import Projected, tolerance
from shortlist.nn.selection import LOWEST, above_threshold, capped_threshold, shifted, wide

Hinge = TopKSvmAlpha | TopKSvmBeta


def _solve(loss: Hinge, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    return topk_hinge(scores, labels, loss.k, loss.smoothing, isinstance(loss, TopKSvmBeta))


def solve_by_torch(
    scores: Tensor, labels: Tensor, k: int, smoothing: float, beta: bool
) -> tuple[Tensor, Tensor]:
    """Return the values and the gradient, on any device."""
    rows, label = shifted(scores), labels[:, None]
    offset = 1.0 - rows.gather(1, label)
    others = rows.scatter_(1, label, LOWEST)
    if smoothing == 0.0:
        return _corner(others, offset, label, k, beta)
    value, threshold, cap, total = _thresholds(others, offset, k, smoothing, beta)
    others.sub_(threshold).relu_().clamp_(max=cap).mul_(1.0 / smoothing)
    return value, others.scatter_(1, label, -total)


topk_hinge = torch.library.custom_op("shortlist::topk_hinge", solve_by_torch, mutates_args=())


@topk_hinge.register_kernel("cpu")
def _(
    scores: Tensor, labels: Tensor, k: int, smoothing: float, beta: bool
) -> tuple[Tensor, Tensor]:
    """Return the same from one compiled pass, which takes the time of a few of torch's."""
    return over_rows(hinge_rows, scores, labels, k, smoothing, beta)


@topk_hinge.register_fake
def _(
    scores: Tensor, labels: Tensor, k: int, smoothing: float, beta: bool
) -> tuple[Tensor, Tensor]:
    return scores.new_empty(scores.shape[0]), scores.new_empty(scores.shape)


def _corner(
    others: Tensor, offset: Tensor, label: Tensor, k: int, each_positive: bool
) -> tuple[Tensor, Tensor]:
    """Return the hinge without smoothing, and the subgradient with 1/k for the k largest."""
    if k == 1:
        largest, where = others.max(1, keepdim=True)
    else:
        largest, where = others.topk(k, 1, sorted=False)
    margins = largest + offset
    if each_positive:
        share = (margins > 0.0).to(margins.dtype) / k
        value = margins.relu().sum(1) / k
    else:
        mean = margins.mean(1, keepdim=True)
        share = ((mean > 0.0).to(margins.dtype) / k).expand_as(margins)
        value = mean.relu().squeeze(1)
    gradient = torch.zeros_like(others).scatter_(1, where, share)
    return value, gradient.scatter_(1, label, -share.sum(1, keepdim=True))


def _thresholds(
    others: Tensor, offset: Tensor, k: int, radius: float, fixed_cap: bool
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Return the value (n,), and the threshold, the cap and the sum of the gradient (n, 1).

    For the margins ``others + offset``; the threshold is one for `others`.
    """
    shift = wide(offset)
    b = above_threshold(others, radius / k, radius) + shift
    threshold = capped_threshold(b, radius / k, radius)
    cap = torch.full_like(threshold, radius / k)
    if fixed_cap:
        threshold = threshold.relu()
    else:
        excess = (b - cap - threshold).relu().sum(1, keepdim=True) + k * threshold
        inside = (excess < 0.0).squeeze(1)  # the sum is less than the radius
        if inside.any():
            threshold[inside], cap[inside] = _cone_thresholds(b[inside], k)
        masked = b[:, k - 1 : k] < 0.5 * LOWEST  # of k that are to be alike, some are
        threshold, cap = torch.where(masked, b[:, :1], threshold), cap.masked_fill(masked, 0.0)
    x = (b - threshold).relu().minimum(cap)
    products = torch.where(x == 0.0, 0.0, (b - 0.5 * x) * x)  # not 0 times infinity
    value = products.sum(1) / radius
    total = x.sum(1, keepdim=True) / radius
    dtype = others.dtype
    return value.to(dtype), (threshold - shift).to(dtype), cap.to(dtype), total.to(dtype)


def _cone_thresholds(b: Tensor, k: int) -> tuple[Tensor, Tensor]:
    r"""Return threshold and cap (n, 1) of the projection onto :math:`0 \le x_j \le \sum x / k`.

    Of descending rows of at least `k` elements. If `u` elements are at the cap and the next
    `q` are free, both numbers follow from two linear equations. For each `u` the free ones
    are found by bisection, and the `u` that fits best is taken.
    """
    n, m = b.shape
    b = torch.cat((b, b.new_full((n, 1), -torch.inf)), 1)
    sums = torch.cat((b.new_zeros(n, 1), b[:, :m].cumsum(1)), 1)
    u = torch.arange(k + 1, device=b.device).expand(n, -1)
    at_cap, rest = sums.gather(1, u), k - u

    def thresholds(q: Tensor) -> tuple[Tensor, Tensor]:
        free = sums.gather(1, u + q) - at_cap
        scale = rest * rest + u * q
        return (u * free - rest * at_cap) / scale, (q * at_cap + rest * free) / scale

    low, high = (u == k).long(), m - u  # k at the cap and none free is another case, below
    low = low.minimum(high)
    for _ in range(m.bit_length()):
        q = (low + high) // 2
        more = b.gather(1, u + q) > thresholds(q)[0]
        low, high = torch.where(more, (q + 1).minimum(high), low), torch.where(more, high, q)
    t, cap = thresholds(low)
    first_free = b.gather(1, u.clamp(max=m))
    last_free = b.gather(1, (u + low - 1).clamp(min=0))
    last_capped = b.gather(1, (u - 1).clamp(min=0))
    wrong = torch.where(low > 0, (t - last_free).maximum(first_free - t - cap), 0.0)
    wrong = wrong.maximum(torch.where(u > 0, t + cap - last_capped, 0.0))
    best = wrong.nan_to_num(nan=torch.inf).argmin(1, keepdim=True)
    t, cap = t.gather(1, best), cap.gather(1, best)
    mean, kth, next_one = sums[:, k : k + 1] / k, b[:, k - 1 : k], b[:, k : k + 1]
    constant = kth - mean >= next_one  # the k largest are alike, all others 0
    t, cap = torch.where(constant, kth - mean, t), torch.where(constant, mean, cap)
    zero = mean <= 0.0
    return torch.where(zero, b[:, :1], t), torch.where(zero, 0.0, cap)


def _hessian_times(loss: Hinge, gradient: Tensor, labels: Tensor, directions: Tensor) -> Tensor:
    """Project the directions onto the face of the top-k simplex that the gradient lies on."""
    if loss.smoothing == 0.0:
        return torch.zeros_like(directions)
    k, label = loss.k, labels[:, None]
    near = tolerance(gradient)
    total = -gradient.gather(1, label)
    x = gradient.scatter(1, label, 0.0)
    full = total >= 1.0 - near
    moves = ~full & (not isinstance(loss, TopKSvmBeta))
    cap = torch.where(moves, total, 1.0) / k
    at_cap = (x >= cap * (1.0 - near)) & (x > 0.0) & (k > 1)
    free = (x > 0.0) & ~at_cap
    d = directions - directions.gather(1, label)
    free_d, cap_d = (
        d.where(free, 0.0).sum(1, keepdim=True),
        d.where(at_cap, 0.0).sum(1, keepdim=True),
    )
    n_free, n_cap = free.sum(1, keepdim=True), at_cap.sum(1, keepdim=True)
    rest = k - n_cap
    scale = (rest * rest + n_cap * n_free).clamp(min=1)
    mean = torch.where(full, free_d / n_free.clamp(min=1), 0.0)
    mean = torch.where(moves, (n_cap * free_d - rest * cap_d) / scale, mean)
    of_cap = torch.where(rest > 0, (n_free * cap_d + rest * free_d) / scale, cap_d / k)
    of_cap = torch.where(moves, of_cap, 0.0)
    product = torch.where(free, d - mean, torch.where(at_cap, of_cap, 0.0)) / loss.smoothing
    return product.scatter(1, label, -product.sum(1, keepdim=True))


topk_svm = Projected(_solve, _hessian_times)
