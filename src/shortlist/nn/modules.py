"""Losses as modules, to put where `torch.nn.CrossEntropyLoss` was.

All take the options of `value` by name (`weight`, `ignore_index`, `label_smoothing`,
`reduction`) and are called with scores and targets. They have no parameters and no state but
the weights of the classes, a buffer that moves with the module.
"""

from __future__ import annotations

from typing import Any, TypedDict, Unpack

import torch
from torch import Tensor

from shortlist import losses
from shortlist._arrays import as_choice, as_integer, as_nonnegative, as_positive
from shortlist.losses.registry import Loss as LossValue
from shortlist.nn.batch import as_reduction
from shortlist.nn.beyond import CalibratedTopKSvm, LapSum, SmoothTopKSvm
from shortlist.nn.multilabel import Lsep
from shortlist.nn.values import value


class Options(TypedDict, total=False):
    """What every loss takes by name; see `value`."""

    weight: Tensor | None
    ignore_index: int
    label_smoothing: float
    reduction: str


class Loss(torch.nn.Module):
    """Any loss, by its value or by its name and parameters.

    Parameters
    ----------
    loss : loss or str
        One of `shortlist.losses`, or a name of one.
    weight, ignore_index, label_smoothing, reduction
        See `value`.
    **parameters
        Those of the loss, where it is given by its name.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> criterion = nn.Loss("topk_entropy", k=2)
    >>> criterion(torch.tensor([[1.0, 3.0, 0.0, 0.0]]), torch.tensor([0])).round(decimals=3)
    tensor(1.7340)
    """

    weight: Tensor | None

    def __init__(
        self,
        loss: LossValue,
        *,
        weight: Tensor | None = None,
        ignore_index: int = -100,
        label_smoothing: float = 0.0,
        reduction: str = "mean",
        **parameters: Any,
    ) -> None:
        super().__init__()
        self.loss = losses.make(loss, **parameters) if isinstance(loss, str) else loss
        self.ignore_index = ignore_index
        self.label_smoothing = label_smoothing
        self.reduction = as_reduction(reduction)
        self.register_buffer("weight", weight)

    def forward(self, scores: Tensor, target: Tensor) -> Tensor:
        """Return the loss of a batch."""
        return value(
            self._loss_of(scores),
            scores,
            target,
            weight=self.weight,
            ignore_index=self.ignore_index,
            label_smoothing=self.label_smoothing,
            reduction=self.reduction,
        )

    def _loss_of(self, scores: Tensor) -> LossValue:
        """Return the loss with what the module holds for it in buffers."""
        return self.loss

    def extra_repr(self) -> str:
        """Return what a printed network shows."""
        return f"{self.loss}, reduction={self.reduction!r}"


class SVMLoss(Loss):
    """Multiclass hinge of Crammer and Singer; see `shortlist.losses.svm`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.SVMLoss()(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(3.)
    """

    def __init__(self, smoothing: float = 0.0, **options: Unpack[Options]) -> None:
        super().__init__(losses.svm(smoothing), **options)


class TopKSVMLoss(Loss):
    """Top-k hinge; see `shortlist.losses.topk_svm_alpha` and `shortlist.losses.topk_svm_beta`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.TopKSVMLoss(k=2)(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(1.7500)
    """

    def __init__(
        self, k: int, smoothing: float = 0.0, variant: str = "alpha", **options: Unpack[Options]
    ) -> None:
        as_choice(variant, ("alpha", "beta"), "variant")
        make = losses.topk_svm_alpha if variant == "alpha" else losses.topk_svm_beta
        super().__init__(make(k, smoothing), **options)


class ConsistentTopKSVMLoss(Loss):
    """Top-k hinge that is top-k calibrated; see `shortlist.losses.topk_svm_consistent`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.ConsistentTopKSVMLoss(k=2)(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(2.)
    """

    def __init__(self, k: int, smoothing: float = 0.0, **options: Unpack[Options]) -> None:
        super().__init__(losses.topk_svm_consistent(k, smoothing), **options)


class SoftmaxLoss(Loss):
    """Softmax loss, as `torch.nn.CrossEntropyLoss`; for label sets see `MultilabelSoftmaxLoss`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.SoftmaxLoss()(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(2.2368)
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__(losses.softmax(), **options)


class TopKEntropyLoss(Loss):
    """Top-k entropy; see `shortlist.losses.topk_entropy`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.TopKEntropyLoss(k=2)(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(1.8511)
    """

    def __init__(self, k: int, variant: str = "alpha", **options: Unpack[Options]) -> None:
        as_choice(variant, ("alpha", "beta"), "variant")
        make = losses.topk_entropy if variant == "alpha" else losses.topk_entropy_beta
        super().__init__(make(k), **options)


class TruncatedTopKEntropyLoss(Loss):
    """Truncated top-k entropy, not convex; see `shortlist.losses.truncated_topk_entropy`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.TruncatedTopKEntropyLoss(k=2)(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(0.6803)
    """

    def __init__(self, k: int, **options: Unpack[Options]) -> None:
        super().__init__(losses.truncated_topk_entropy(k), **options)


class OneVsAllSVMLoss(Loss):
    """One-vs-all hinge, also for label sets; see `shortlist.losses.ova_svm`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.OneVsAllSVMLoss()(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([[0, 2]]))
    tensor(5.5000)
    """

    def __init__(self, smoothing: float = 0.0, **options: Unpack[Options]) -> None:
        super().__init__(losses.ova_svm(smoothing), **options)


class OneVsAllLogisticLoss(Loss):
    """One-vs-all logistic loss, also for label sets; see `shortlist.losses.ova_logistic`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.OneVsAllLogisticLoss()(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([[0, 2]]))
    tensor(4.5291)
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__(losses.ova_logistic(), **options)


class MultilabelSVMLoss(Loss):
    """Multilabel hinge; see `shortlist.losses.multilabel_svm`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.MultilabelSVMLoss()(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([[0, 2]]))
    tensor(3.5000)
    """

    def __init__(self, smoothing: float = 0.0, **options: Unpack[Options]) -> None:
        super().__init__(losses.multilabel_svm(smoothing), **options)


class MultilabelSoftmaxLoss(Loss):
    """Multilabel softmax; see `shortlist.losses.multilabel_softmax`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.MultilabelSoftmaxLoss()(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([[0, 2]]))
    tensor(2.4868)
    """

    def __init__(self, normalize: bool = True, **options: Unpack[Options]) -> None:
        super().__init__(losses.multilabel_softmax(normalize), **options)


class LSEPLoss(Loss):
    """Log-sum-exp of all pairs of a label and another class; see `Lsep`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.LSEPLoss()(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([[0, 2]]))
    tensor(3.0702)
    """

    def __init__(self, **options: Unpack[Options]) -> None:
        super().__init__(Lsep(), **options)


class SmoothTopKSVMLoss(Loss):
    """Smooth top-k hinge of Berrada, Zisserman and Kumar; see `SmoothTopKSvm`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.SmoothTopKSVMLoss(k=2)(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(1.3369)
    """

    def __init__(
        self,
        k: int,
        temperature: float = 1.0,
        margin: float = 1.0,
        **options: Unpack[Options],
    ) -> None:
        k, temperature = as_integer(k, "k", 1), as_positive(temperature, "temperature")
        super().__init__(SmoothTopKSvm(k, temperature, as_nonnegative(margin, "margin")), **options)


class CalibratedTopKSVMLoss(Loss):
    """Calibrated top-k hinge of Yang and Koyejo, noised as Garcin et al. do.

    Parameters
    ----------
    k : int
        The length of the short list.
    margin : float or Tensor, shape (m,)
        The margin, or one for each class; see `class_margins`.
    noise : float
        The standard deviation of the noise; 0 is the hinge itself.
    samples : int
        How often noise is drawn for each example.
    **options
        See `value`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.CalibratedTopKSVMLoss(k=2)(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(0.5000)
    """

    margin: Tensor

    def __init__(
        self,
        k: int,
        margin: float | Tensor = 1.0,
        noise: float = 0.0,
        samples: int = 5,
        **options: Unpack[Options],
    ) -> None:
        k, samples = as_integer(k, "k", 1), as_integer(samples, "samples", 1)
        noise = as_nonnegative(noise, "noise")
        super().__init__(CalibratedTopKSvm(k, 1.0, noise, samples), **options)
        self.register_buffer("margin", torch.as_tensor(margin))

    def _loss_of(self, scores: Tensor) -> LossValue:
        margins = self.margin.expand(scores.shape[min(1, scores.ndim - 1)])
        return self.loss._replace(margin=margins)


class LapSumLoss(Loss):
    """Minus the logarithm of the label's share in LapSum's soft top k; see `LapSum`.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> nn.LapSumLoss(k=2)(torch.tensor([[1.0, 3.0, 0.5, 0.0]]), torch.tensor([0]))
    tensor(0.6222)
    """

    def __init__(self, k: int, scale: float = 1.0, **options: Unpack[Options]) -> None:
        super().__init__(LapSum(as_integer(k, "k", 1), as_positive(scale, "scale")), **options)
