"""One-vs-all losses in torch; see `shortlist.losses.ova`."""

from __future__ import annotations

from torch import Tensor
from torch.nn import functional

from shortlist.losses.ova import OvaLogistic, OvaSvm
from shortlist.nn.selection import floored


def ova_svm(
    loss: OvaSvm, scores: Tensor, labels: Tensor, weight: Tensor | None, label_smoothing: float
) -> Tensor:
    """Return the sum over the classes of their hinges, each times its weight."""
    rows = floored(scores)
    short = (1.0 - rows.where(labels, -rows)).relu()
    if loss.smoothing > 0.0:
        curved = short.clamp(max=loss.smoothing)
        short = curved * (short - 0.5 * curved) / loss.smoothing
    return (short if weight is None else short * weight).sum(1)


def ova_logistic(
    loss: OvaLogistic, scores: Tensor, labels: Tensor, weight: Tensor | None, label_smoothing: float
) -> Tensor:
    """Return the sum over the classes of their logistic losses, each times its weight."""
    targets = labels.to(scores.dtype) * (1.0 - label_smoothing) + 0.5 * label_smoothing
    return functional.binary_cross_entropy_with_logits(
        floored(scores), targets, weight, reduction="none"
    ).sum(1)
