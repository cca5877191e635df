"""Top-k losses of other projects, from their published formulas, for where they do not install."""

from __future__ import annotations

import math

import torch
from torch import Tensor
from torch.nn import functional


def smooth_topk(scores: Tensor, target: Tensor, k: int, tau: float = 1.0) -> Tensor:
    """Berrada et al. 2018: symmetric polynomials in log space, by a tree of products."""
    x = scores / (k * tau)
    own = x.gather(1, target[:, None]).squeeze(1)
    others = x.scatter(1, target[:, None], -1e30)
    logs = torch.stack((torch.zeros_like(others), others))  # degree, row, class
    while logs.shape[2] > 1:
        if logs.shape[2] % 2:
            one = torch.full_like(logs[:, :, :1], -1e30)
            one[0] = 0.0
            logs = torch.cat((logs, one), 2)
        a, b = logs[:, :, 0::2], logs[:, :, 1::2]
        last = len(logs) - 1
        logs = torch.stack(
            [
                torch.logsumexp(
                    torch.stack(
                        [a[i] + b[j - i] for i in range(max(0, j - last), min(j, last) + 1)]
                    ),
                    0,
                )
                for j in range(min(2 * last, k) + 1)
            ]
        )
    ratio = logs[k, :, 0] - logs[k - 1, :, 0]
    return (tau * functional.softplus(1.0 / tau + ratio - own)).mean()


def difftopk_softsort(scores: Tensor, target: Tensor, k: int, tau: float = 1.0) -> Tensor:
    """Petersen et al. 2022 with SoftSort: minus the log of the label's share of k soft ranks."""
    ranked = scores.topk(k, 1).values
    permutation = torch.softmax(-(ranked[:, :, None] - scores[:, None, :]).abs() / tau, 2)
    share = permutation.sum(1).gather(1, target[:, None]) / k
    return -(share + 1e-12).log().mean()


def lapsum(scores: Tensor, target: Tensor, k: int) -> Tensor:
    """LapSum 2025 by one sort: the shares at every score by sums of exponentials from the left."""
    with torch.no_grad():
        r = scores.sort(1, descending=True).values.double()
        up, down = (-r).logcumsumexp(1), r.flip(1).logcumsumexp(1).flip(1)
        count = torch.arange(1, r.shape[1] + 1)
        totals = count - 0.5 * (up + r).exp() + 0.5 * ((down - r).exp() - 1.0)
        above = (totals <= k).sum(1, keepdim=True).clamp(min=1)
        b = r.gather(1, above - 1).to(scores.dtype)
    inside = scores >= b
    low = 0.5 * (scores - b).masked_fill(inside, -1e30).exp().sum(1)
    high = 0.5 * (b - scores).masked_fill(~inside, -1e30).exp().sum(1)
    surplus = inside.sum(1) - k
    way = ((surplus + (surplus * surplus + 4 * low * high).sqrt()) / (2 * high)).log()
    distance = scores.gather(1, target[:, None]).squeeze(1) - b.squeeze(1) - way
    share = torch.log1p(-0.5 * (-distance.clamp(min=0.0)).exp())
    return -torch.where(distance >= 0, share, distance - math.log(2.0)).mean()
