"""The few scores of a row that can decide a threshold, found without sorting the row."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from shortlist.losses.hinge_rows import LOWEST as LOWEST  # masked classes, for all losses here


def wide(values: Tensor) -> Tensor:
    """Return numbers in the precision in which thresholds are computed, where a device has it."""
    return values if values.device.type == "mps" else values.double()


def shifted(scores: Tensor) -> Tensor:
    """Return a copy of the scores whose largest of each row is 0, masked ones at `LOWEST`.

    Differences of large scores are exact where they matter, near the largest.
    """
    rows = scores.clamp(min=LOWEST)
    return rows.sub_(rows.amax(1, keepdim=True))


class _Floor(torch.autograd.Function):
    @staticmethod
    def forward(scores: Tensor) -> Tensor:
        return scores.clamp(min=LOWEST)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        pass

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> Tensor:
        return gradient


def floored(scores: Tensor) -> Tensor:
    """Return the scores with masked ones at `LOWEST`, where losses do not depend on them."""
    floored: Tensor = _Floor.apply(scores)
    return floored


def root(breaks: Tensor, changes: Tensor, radius: Tensor | float) -> Tensor:
    r"""Return where a decreasing piecewise linear function of each row passes `radius`.

    Parameters
    ----------
    breaks : Tensor, shape (n, l)
        Where the slope changes, in any order; minus infinity is none. To the right of all of
        them the function is 0.
    changes : Tensor, shape (n, l)
        By how much it grows steeper there, from right to left.
    radius : Tensor, shape (n, 1), or float
        A positive level that is reached.

    Returns
    -------
    Tensor, shape (n, 1)
    """
    breaks, order = breaks.sort(dim=1, descending=True)
    steepness = changes.gather(1, order).cumsum(1)
    level = torch.zeros_like(breaks)
    level[:, 1:] = (steepness[:, :-1] * (breaks[:, :-1] - breaks[:, 1:])).cumsum(1)
    rounding = 1e3 * radius + 8.0 * (breaks.abs() + breaks[:, :1].abs())
    below = level < radius - torch.finfo(level.dtype).eps * rounding
    last = (below.sum(1, keepdim=True) - 1).clamp_(min=0)
    missing = radius - level.gather(1, last)
    step = torch.where(missing > 0.0, missing / steepness.gather(1, last), 0.0)
    return breaks.gather(1, last) - step


def capped_threshold(values: Tensor, cap: float, radius: float) -> Tensor:
    r"""Return `t` with :math:`\sum_j \min\{\max\{a_j - t, 0\}, cap\} = radius`, shape (n, 1).

    The elements of each row are in descending order.
    """
    if cap >= radius:
        count = torch.arange(1, values.shape[1] + 1, device=values.device)
        return ((values.cumsum(1) - radius) / count).amax(1, keepdim=True)
    ones = torch.ones_like(values)
    return root(torch.cat((values, values - cap), 1), torch.cat((ones, -ones), 1), radius)


def above_threshold(values: Tensor, cap: float, radius: float) -> Tensor:
    """Return all elements of each row above its `capped_threshold`, and few others, descending.

    With more elements the threshold rises. So that of a part, the largest elements of groups,
    is a lower bound: what is not above it need not be sorted.
    """
    n, m = values.shape
    groups = max(32, 4 * round(radius / min(cap, radius)))
    if m < 4 * groups:
        return descending(values)
    in_groups = values[:, : m - m % groups].view(n, -1, groups)
    return at_least(values, capped_threshold(descending(in_groups.amax(1)), cap, radius))


def descending(values: Tensor) -> Tensor:
    """Return each row in descending order, in the precision of thresholds."""
    return wide(values.sort(dim=1, descending=True).values)


def at_least(values: Tensor, bound: Tensor) -> Tensor:
    """Return the elements of each row from `bound` (n, 1) on, descending; minus infinity fills."""
    n, m = values.shape
    bound = bound.to(values.dtype)
    bound = bound - bound.abs() * torch.finfo(bound.dtype).eps
    kept = ~(values < bound)  # NaNs are kept, and seen by all that follows
    where = kept.view(-1).nonzero().squeeze(1)
    if 4 * where.numel() >= n * m:
        return descending(values)
    row = where.div(m, rounding_mode="floor")
    counts = torch.bincount(row, minlength=n)
    place = torch.arange(where.numel(), device=row.device) - (counts.cumsum(0) - counts)[row]
    found = values.new_full((n, max(int(counts.max()), 1)), -torch.inf)
    found[row, place] = values.view(-1)[where]
    return descending(found)
