"""Any loss of scores in torch, by its value from `shortlist.losses` or from here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.nn import functional

from shortlist.losses.consistent import ConsistentTopKSvm
from shortlist.losses.entropy import TopKEntropy, TopKEntropyBeta
from shortlist.losses.hinge import TopKSvmAlpha, TopKSvmBeta
from shortlist.losses.multilabel import MultilabelSoftmax, MultilabelSvm
from shortlist.losses.ova import OvaLogistic, OvaSvm
from shortlist.losses.registry import Loss, make
from shortlist.losses.truncated import TruncatedTopKEntropy
from shortlist.nn.batch import Batch, as_batch, as_reduction, reduce
from shortlist.nn.beyond import (
    CalibratedTopKSvm,
    LapSum,
    SmoothTopKSvm,
    calibrated_topk_svm,
    lapsum,
    smooth_topk_svm,
)
from shortlist.nn.consistent import consistent_topk_svm
from shortlist.nn.entropy import topk_entropy, truncated_topk_entropy
from shortlist.nn.hinge import topk_svm
from shortlist.nn.multilabel import Lsep, lsep, multilabel_softmax, multilabel_svm
from shortlist.nn.ova import ova_logistic, ova_svm
from shortlist.nn.selection import floored

#: (loss, scores (n, m), labels) to the values (n,), for losses of one label or of sets
_OF_ONE: dict[type, Callable[[Any, Tensor, Tensor], Tensor]] = {
    TopKSvmAlpha: topk_svm.values,
    TopKSvmBeta: topk_svm.values,
    TopKEntropy: topk_entropy.values,
    TopKEntropyBeta: topk_entropy.values,
    TruncatedTopKEntropy: truncated_topk_entropy,
    ConsistentTopKSvm: consistent_topk_svm.values,
    CalibratedTopKSvm: calibrated_topk_svm,
    SmoothTopKSvm: smooth_topk_svm,
    LapSum: lapsum,
}
_OF_SETS: dict[type, Callable[[Any, Tensor, Tensor], Tensor]] = {
    MultilabelSvm: multilabel_svm.values,
    Lsep: lsep,
}
#: Those of sets that are sums over classes, which may have weights.
_OF_CLASSES: dict[type, Callable[[Any, Tensor, Tensor, Tensor | None, float], Tensor]] = {
    OvaSvm: ova_svm,
    OvaLogistic: ova_logistic,
    MultilabelSoftmax: multilabel_softmax,
}
_SMOOTH_LABELS = (OvaLogistic, MultilabelSoftmax)


class _Options(NamedTuple):
    """What a loss of a batch depends on besides the scores, as in `torch.nn.CrossEntropyLoss`."""

    weight: Tensor | None = None
    ignore_index: int = -100
    label_smoothing: float = 0.0
    reduction: str = "mean"


def value(
    loss: Loss,
    scores: Tensor,
    target: Tensor,
    *,
    weight: Tensor | None = None,
    ignore_index: int = -100,
    label_smoothing: float = 0.0,
    reduction: str = "mean",
) -> Tensor:
    r"""Return the loss of a batch: its mean, its sum, or one value an example.

    Values and gradients are those of `shortlist.losses.value` and `shortlist.losses.gradient`,
    on any device. Scores in float16 and bfloat16 are computed with in float32. A score of
    minus infinity masks its class; an example whose own label is masked costs infinity.

    Parameters
    ----------
    loss : loss or str
        One of `shortlist.losses`, the name of one that needs no parameter, or one of
        `CalibratedTopKSvm`, `SmoothTopKSvm`, `LapSum` and `Lsep`.
    scores : Tensor, shape (m,), (n, m) or (n, m, d1, ...)
        The scores.
    target : Tensor
        The labels: integers in the scores' shape without m; and for losses of label sets also
        indicators (bool or float) in the scores' shape, or lists of integers (n, l, d1, ...)
        filled up with -1.
    weight : Tensor, shape (m,), optional
        For losses of one label the weight of an example with this label; the mean is divided
        by the sum of these. For one-vs-all losses and the softmax of sets the weight of a
        class's term.
    ignore_index : int
        Examples with this label do not count.
    label_smoothing : float
        For softmax losses, the share of the target that is spread over all classes; for the
        one-vs-all logistic loss, over a class and the rest.
    reduction : {"mean", "sum", "none"}
        What is returned.

    Returns
    -------
    Tensor

    Examples
    --------
    >>> import torch
    >>> from shortlist import losses, nn
    >>> scores = torch.tensor([[1.0, 3.0, 0.5, 0.0]], requires_grad=True)
    >>> loss = nn.value(losses.topk_svm_alpha(k=2), scores, torch.tensor([0]))
    >>> loss
    tensor(1.7500, grad_fn=<DivBackward0>)
    >>> loss.backward()
    >>> scores.grad
    tensor([[-1.0000,  0.5000,  0.5000,  0.0000]])
    """
    loss = make(loss) if isinstance(loss, str) else loss
    options = _Options(weight, ignore_index, label_smoothing, as_reduction(reduction))
    batch = as_batch(scores, target, ignore_index)
    _check(loss, batch, options)
    if weight is not None:
        options = options._replace(weight=weight.to(batch.scores))
    values, weights = _values(loss, batch, options)
    values = values.masked_fill(batch.masked, torch.inf)
    return reduce(values, weights, batch, options.reduction)


def _values(loss: Loss, batch: Batch, options: _Options) -> tuple[Tensor, Tensor]:
    """Return the value of every example, times its weight, and that weight."""
    kind, weight = type(loss), options.weight
    scores, labels = batch.scores, batch.labels
    ones = torch.ones_like(scores[:, 0])
    weights = weight[labels] if weight is not None and batch.numbered else ones
    if kind in _OF_ONE:
        return _OF_ONE[kind](loss, scores, labels) * weights, weights
    if kind is MultilabelSoftmax and batch.numbered:
        smoothing = options.label_smoothing
        rows = floored(scores) if smoothing > 0.0 else scores
        softmax = functional.cross_entropy(
            rows, labels, weight, reduction="none", label_smoothing=smoothing
        )
        return softmax, weights
    if kind in _OF_SETS:
        return _OF_SETS[kind](loss, scores, batch.indicators), ones
    of_classes = _OF_CLASSES[kind]
    return of_classes(loss, scores, batch.indicators, weight, options.label_smoothing), ones


def _check(loss: Loss, batch: Batch, options: _Options) -> None:
    """Refuse what the loss cannot use."""
    kind, name, m = type(loss), type(loss).__name__, batch.scores.shape[1]
    if not (kind in _OF_ONE or kind in _OF_SETS or kind in _OF_CLASSES):
        raise TypeError(f"{loss!r} has no implementation in torch; pass one of shortlist.losses.")
    if kind in _OF_ONE:
        if not batch.numbered:
            raise ValueError(
                f"{name} is a loss of exactly one label; pass its number, or use a multilabel loss."
            )
        if m <= loss.k:
            raise ValueError(
                f"{name} with k = {loss.k} needs at least {loss.k + 1} classes, not {m}."
            )
    if options.weight is not None:
        if kind in _OF_SETS:
            raise ValueError(f"{name} has no weights of classes; weight its values by example.")
        if options.weight.shape != (m,):
            shape = tuple(options.weight.shape)
            raise ValueError(f"weight has shape {shape}; pass one number for each of {m} classes.")
    if not 0.0 <= options.label_smoothing <= 1.0:
        raise ValueError(f"label_smoothing is {options.label_smoothing}; it must be in [0, 1].")
    if options.label_smoothing > 0.0 and kind not in _SMOOTH_LABELS:
        raise ValueError(f"{name} has no label_smoothing; it is for the softmax and ova_logistic.")
