r"""Losses, metrics and features for networks in torch.

Every loss of `shortlist.losses` is here with the same values and gradients, on any device, to
fine-tune a network for its top k or for label sets; and a few more that later work proposes.
They go where `torch.nn.CrossEntropyLoss` was:

================================================  ==========================================
module                                            loss
================================================  ==========================================
`SVMLoss`, `TopKSVMLoss`                          hinges, smooth or not; alpha and beta
`ConsistentTopKSVMLoss`                           a convex hinge that is top-k calibrated
`SoftmaxLoss`, `TopKEntropyLoss`                  entropies, alpha and beta
`TruncatedTopKEntropyLoss`                        smooth top-k error, not convex
`OneVsAllSVMLoss`, `OneVsAllLogisticLoss`         each class against the rest
`MultilabelSVMLoss`, `MultilabelSoftmaxLoss`      losses of label sets
`LSEPLoss`                                        all pairs of a label and another class
`SmoothTopKSVMLoss`                               smooth hinge by symmetric polynomials
`CalibratedTopKSVMLoss`                           calibrated hinge, noised, for long tails
`LapSumLoss`                                      soft top k by Laplace distributions
`Loss`                                            any of them, by its value or its name
================================================  ==========================================

`value` is the same as a function. `TopKAccuracy` and its like are metrics with `update` and
`compute`. `extract_features` keeps a frozen network's features on disk, to train a linear model
with a certificate on; `linear_head` makes that model the network's last layer.
"""

from __future__ import annotations

try:
    import torch as _torch  # noqa: F401
except ImportError:
    raise ImportError(
        "shortlist.nn needs torch; install it with pip install 'shortlist[torch]'."
    ) from None

from shortlist.nn.beyond import CalibratedTopKSvm, LapSum, SmoothTopKSvm, class_margins
from shortlist.nn.features import FeatureStore, extract_features
from shortlist.nn.head import linear_head
from shortlist.nn.metrics import (
    F1Score,
    HammingLoss,
    MeanAveragePrecision,
    Metric,
    MultilabelAccuracy,
    PrecisionAtK,
    RankLoss,
    RecallAtK,
    SubsetAccuracy,
    TopKAccuracy,
)
from shortlist.nn.modules import (
    CalibratedTopKSVMLoss,
    ConsistentTopKSVMLoss,
    LapSumLoss,
    Loss,
    LSEPLoss,
    MultilabelSoftmaxLoss,
    MultilabelSVMLoss,
    OneVsAllLogisticLoss,
    OneVsAllSVMLoss,
    SmoothTopKSVMLoss,
    SoftmaxLoss,
    SVMLoss,
    TopKEntropyLoss,
    TopKSVMLoss,
    TruncatedTopKEntropyLoss,
)
from shortlist.nn.multilabel import Lsep
from shortlist.nn.values import value

__all__ = [
    "CalibratedTopKSVMLoss",
    "CalibratedTopKSvm",
    "ConsistentTopKSVMLoss",
    "F1Score",
    "FeatureStore",
    "HammingLoss",
    "LSEPLoss",
    "LapSum",
    "LapSumLoss",
    "Loss",
    "Lsep",
    "MeanAveragePrecision",
    "Metric",
    "MultilabelAccuracy",
    "MultilabelSVMLoss",
    "MultilabelSoftmaxLoss",
    "OneVsAllLogisticLoss",
    "OneVsAllSVMLoss",
    "PrecisionAtK",
    "RankLoss",
    "RecallAtK",
    "SVMLoss",
    "SmoothTopKSVMLoss",
    "SmoothTopKSvm",
    "SoftmaxLoss",
    "SubsetAccuracy",
    "TopKAccuracy",
    "TopKEntropyLoss",
    "TopKSVMLoss",
    "TruncatedTopKEntropyLoss",
    "class_margins",
    "extract_features",
    "linear_head",
    "value",
]
