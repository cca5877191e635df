r"""Losses of label sets in torch; see `shortlist.losses.multilabel`.

The gradient of the smooth multilabel hinge is the projection of :math:`(\tfrac12 - u_Y,
\tfrac12 + u_{\bar Y})` onto the bipartite simplex of radius `g`, divided by `g`: each side
above its threshold, where the two thresholds are opposite unless both sums are `g`.
"""

from __future__ import annotations

from typing import NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from shortlist.losses.multilabel import MultilabelSoftmax, MultilabelSvm
from shortlist.nn.projection import Projected, mean_over, tolerance
from shortlist.nn.selection import LOWEST, above_threshold, capped_threshold, floored, root, shifted


def _sides(rows: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the labels' scores, negated, and those of the others; the rest is lowest."""
    return (-rows).masked_fill_(~labels, LOWEST), rows.masked_fill(labels, LOWEST)


def _solve(loss: MultilabelSvm, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    mine, others = _sides(shifted(scores), labels)
    if loss.smoothing == 0.0:
        return _corner(mine, others, labels)
    value, of_mine, of_others = bipartite_thresholds(mine, others, loss.smoothing)
    gradient = torch.where(labels, (of_mine - mine).clamp_(max=0.0), (others - of_others).relu_())
    return value, gradient.mul_(1.0 / loss.smoothing)


def _corner(mine: Tensor, others: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
    """Return the hinge of the worst label against the best other class, and a subgradient."""
    (worst, at_worst), (best, at_best) = mine.max(1, keepdim=True), others.max(1, keepdim=True)
    value = (1.0 + worst + best).relu()
    active = (value > 0.0).to(mine.dtype)
    gradient = torch.zeros_like(mine).scatter_(1, at_worst, -active)
    return value.squeeze(1), gradient.scatter_(1, at_best, active)


@torch.library.custom_op("shortlist::bipartite_thresholds", mutates_args=())
def bipartite_thresholds(
    mine: Tensor, others: Tensor, radius: float
) -> tuple[Tensor, Tensor, Tensor]:
    """Return the value (n,), and the thresholds (n, 1) of both sides, given without the halves."""
    b, c = (above_threshold(side, radius, radius) for side in (mine, others))
    b, c = (side.masked_fill(side < 0.5 * LOWEST, -torch.inf) for side in (b, c))
    t, s = (capped_threshold(side, radius, radius) for side in (b, c))
    apart = (t + s + 1.0 < 0.0).squeeze(1)  # the sums are equal, but less than the radius
    if apart.any():
        t[apart] = _common_threshold(b[apart], c[apart])
        s[apart] = -1.0 - t[apart]
    one_sided = b[:, :1].isneginf() | c[:, :1].isneginf()  # nothing to rank
    t, s = (threshold.masked_fill(one_sided, torch.inf) for threshold in (t, s))
    x, y = (b - t).relu(), (c - s).relu()
    products = [torch.where(z == 0.0, 0.0, (a + 0.5 - 0.5 * z) * z) for a, z in ((b, x), (c, y))]
    value = (products[0].sum(1) + products[1].sum(1)) / radius
    return value.to(mine.dtype), t.to(mine.dtype), s.to(mine.dtype)


@bipartite_thresholds.register_fake
def _(mine: Tensor, others: Tensor, radius: float) -> tuple[Tensor, Tensor, Tensor]:
    n = mine.shape[0]
    return mine.new_empty(n), mine.new_empty(n, 1), mine.new_empty(n, 1)


def _common_threshold(b: Tensor, c: Tensor) -> Tensor:
    r"""Return `t` with :math:`\sum \max\{b_j - t, 0\} = \sum \max\{c_j + 1 + t, 0\}`.

    With :math:`e_j = - c_j - 1`, the right side is :math:`\sum (t - e_j) + \sum \max\{e_j - t,
    0\}`. From the right of all breaks, the difference is a line that begins below 0.
    """
    e = torch.where(c.isfinite(), -1.0 - c, -torch.inf)
    there = e.isfinite()
    begin = torch.maximum(b[:, :1], e.amax(1, keepdim=True))
    missing = (begin - e).where(there, 0.0).sum(1, keepdim=True)
    breaks = torch.cat((begin, b, e), 1)
    slope = there.sum(1, keepdim=True).to(b.dtype)
    changes = torch.cat((slope, torch.ones_like(b), -torch.ones_like(e)), 1)
    return root(breaks, changes, missing)


def _hessian_times(
    loss: MultilabelSvm, gradient: Tensor, labels: Tensor, directions: Tensor
) -> Tensor:
    """Project onto vectors of sum 0, on each side where its sum is full, that keep zeros."""
    if loss.smoothing == 0.0:
        return torch.zeros_like(directions)
    near = tolerance(gradient)
    support = gradient != 0.0
    full = gradient.relu().sum(1, keepdim=True) >= 1.0 - near
    mine, others = (mean_over(directions, support & side) for side in (labels, ~labels))
    apart = torch.where(labels, mine, others)
    centre = torch.where(full, apart, mean_over(directions, support))
    return torch.where(support, directions - centre, 0.0) / loss.smoothing


multilabel_svm = Projected(_solve, _hessian_times)


def multilabel_softmax(
    loss: MultilabelSoftmax,
    scores: Tensor,
    labels: Tensor,
    weight: Tensor | None,
    label_smoothing: float,
) -> Tensor:
    """Return the softmax loss of the uniform distribution over the labels."""
    count = labels.sum(1)
    shares = labels.to(scores.dtype) / count.clamp(min=1)[:, None]
    values = functional.cross_entropy(
        floored(scores),
        shares,
        weight,
        reduction="none",
        label_smoothing=label_smoothing,
    )
    return values * (count > 0 if loss.normalize else count)


class Lsep(NamedTuple):
    r"""The log-sum-exp of pairs: :math:`\log(1 + \sum_{y \in Y, j \notin Y} e^{u_j - u_y})`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.value(nn.Lsep(), torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([[0, 2]]))
    tensor(3.0702)
    """


def lsep(loss: Lsep, scores: Tensor, labels: Tensor) -> Tensor:
    """Return the soft plus of the log-sum-exp of all differences, others less labels."""
    mine, others = _sides(floored(scores), labels)
    return functional.softplus(
        torch.logsumexp(mine, 1) + torch.logsumexp(others, 1), threshold=40.0
    )
