r"""Metrics for training loops: `update` with each batch, `compute` once, `reset`.

The numbers are those of the functions of the same names in `shortlist.metrics`. Sums are kept
in float64 on the device of the first batch, and `MeanAveragePrecision` keeps all scores on the
CPU. Where `torch.distributed` runs, `compute` is of the examples of all processes. A label is
in the top k unless k others score strictly higher; a pair is in the wrong order when the label
scores no higher.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional

from shortlist._arrays import as_choice, as_finite, as_integer
from shortlist.metrics.class_ranking import Kind, mean_average_precision
from shortlist.nn.batch import as_batch
from shortlist.nn.selection import wide


class Metric(ABC):
    """A number of all examples that `update` has seen.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> metric = nn.SubsetAccuracy()
    >>> metric.update(torch.tensor([[3.0, -2.0, 1.0]]), torch.tensor([[True, True, False]]))
    >>> metric.compute()
    tensor(0., dtype=torch.float64)
    """

    def __init__(self, ignore_index: int = -100) -> None:
        self.ignore_index = ignore_index

    def update(self, scores: Tensor, target: Tensor) -> None:
        """Add a batch of scores (n, m, ...) and labels, in any form that losses take."""
        batch = as_batch(scores.detach(), target, self.ignore_index)
        self._add(batch.scores[batch.counted], batch.indicators[batch.counted])

    @abstractmethod
    def compute(self) -> Tensor:
        """Return the metric of all examples so far, of all processes."""

    @abstractmethod
    def reset(self) -> None:
        """Forget all examples."""

    @abstractmethod
    def _add(self, scores: Tensor, labels: Tensor) -> None:
        """Add rows of scores and of indicators."""

    def _too_early(self) -> RuntimeError:
        return RuntimeError(f"{type(self).__name__} has seen no example; call update first.")


def _is_distributed() -> bool:
    return torch.distributed.is_available() and torch.distributed.is_initialized()


class _Summed(Metric):
    """What follows from sums over examples."""

    _sums: Tensor | None = None

    def compute(self) -> Tensor:
        """Return the metric of all examples so far, of all processes."""
        if self._sums is None:
            raise self._too_early()
        sums = self._sums
        if _is_distributed():
            sums = sums.clone()
            torch.distributed.all_reduce(sums)
        return self._result_of(sums)

    def reset(self) -> None:
        """Forget all examples."""
        self._sums = None

    def _add(self, scores: Tensor, labels: Tensor) -> None:
        sums = self._sums_of(scores, labels)
        self._sums = sums if self._sums is None else self._sums + sums

    @abstractmethod
    def _sums_of(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return the sums of a batch."""

    @abstractmethod
    def _result_of(self, sums: Tensor) -> Tensor:
        """Return the metric that sums stand for."""


class _Mean(_Summed):
    """A mean over the examples for which a number is defined."""

    def _sums_of(self, scores: Tensor, labels: Tensor) -> Tensor:
        numbers, defined = self._numbers_of(scores, labels)
        numbers = wide(numbers)[defined].reshape(int(defined.sum()), -1)
        count = wide(defined).sum().reshape(1)
        return torch.cat((numbers.sum(0), count))

    def _result_of(self, sums: Tensor) -> Tensor:
        means = sums[:-1] / sums[-1]
        return means if means.numel() > 1 else means[0]

    @abstractmethod
    def _numbers_of(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        """Return the numbers of each example, (n,) or (n, l), and where they are defined."""


class _AtK(_Mean):
    """Of one k, or of several at once."""

    def __init__(self, k: int | Sequence[int], ignore_index: int = -100) -> None:
        super().__init__(ignore_index)
        every = k if isinstance(k, Sequence) else (k,)
        self.k = tuple(as_integer(each, "k", 1) for each in every)

    def _in_top(self, scores: Tensor) -> list[Tensor]:
        """Return which classes are in the top k, for each k; ties may make it longer than k."""
        m = scores.shape[1]
        largest = scores.topk(min(max(self.k), m), 1).values
        return [scores >= largest[:, min(k, m) - 1, None] for k in self.k]

    def _found(self, scores: Tensor, labels: Tensor) -> Tensor:
        """Return how many labels are in the top k (n, one for each k)."""
        return torch.stack([(labels & top).sum(1) for top in self._in_top(scores)], 1)


class TopKAccuracy(_AtK):
    """The share of examples whose label is in the top k; for sets, whose any label is.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> accuracy = nn.TopKAccuracy(k=(1, 2))
    >>> accuracy.update(torch.tensor([[3.0, 2.0, 1.0], [1.0, 2.0, 3.0]]), torch.tensor([1, 2]))
    >>> accuracy.compute()
    tensor([0.5000, 1.0000], dtype=torch.float64)
    """

    def _numbers_of(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        return self._found(scores, labels) > 0, labels.any(1)


class RecallAtK(_AtK):
    """The mean share of an example's labels that are in the top k.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> metric = nn.RecallAtK(k=(1, 2, 3))
    >>> metric.update(torch.tensor([[3.0, -2.0, 1.0]]), torch.tensor([[True, True, False]]))
    >>> metric.compute()
    tensor([0.5000, 0.5000, 1.0000], dtype=torch.float64)
    """

    def _numbers_of(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        count = labels.sum(1, keepdim=True)
        return self._found(scores, labels) / wide(count).clamp(min=1), labels.any(1)


class PrecisionAtK(_AtK):
    """The mean share of the top k that are labels.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> metric = nn.PrecisionAtK(k=2)
    >>> metric.update(torch.tensor([[3.0, -2.0, 1.0]]), torch.tensor([[True, True, False]]))
    >>> metric.compute()
    tensor(0.5000, dtype=torch.float64)
    """

    def _numbers_of(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        sizes = torch.stack([top.sum(1) for top in self._in_top(scores)], 1)
        return self._found(scores, labels) / wide(sizes), torch.ones_like(labels[:, 0])


class RankLoss(_Mean):
    """The mean share of pairs of a label and another class in wrong order; 0 without pairs.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> metric = nn.RankLoss()
    >>> metric.update(torch.tensor([[3.0, -2.0, 1.0]]), torch.tensor([[True, True, False]]))
    >>> metric.compute()
    tensor(0.5000, dtype=torch.float64)
    """

    def _numbers_of(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        ranked, order = scores.sort(1)
        label = labels.gather(1, order)
        others = functional.pad((~label).cumsum(1), (1, 0))
        lower = others.gather(1, torch.searchsorted(ranked, ranked))  # others of lower scores
        wrong = (others[:, -1:] - lower).where(label, 0).sum(1)
        pairs = labels.sum(1) * others[:, -1]
        return wrong / wide(pairs).clamp(min=1), torch.ones_like(pairs, dtype=torch.bool)


class _Partition(_Mean):
    """A mean over examples of predicted sets, the classes that score `threshold` or more."""

    def __init__(self, threshold: float = 0.0, ignore_index: int = -100) -> None:
        super().__init__(ignore_index)
        self.threshold = as_finite(threshold, "threshold")

    def _numbers_of(self, scores: Tensor, labels: Tensor) -> tuple[Tensor, Tensor]:
        return self._of_sets(scores >= self.threshold, labels), torch.ones_like(labels[:, 0])

    @abstractmethod
    def _of_sets(self, predicted: Tensor, labels: Tensor) -> Tensor:
        """Return the numbers of predicted sets, one for each example."""


class HammingLoss(_Partition):
    """The share of decisions, one for each class of an example, that are wrong.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> metric = nn.HammingLoss()
    >>> metric.update(torch.tensor([[3.0, -2.0, 1.0]]), torch.tensor([[True, True, False]]))
    >>> metric.compute()
    tensor(0.6667, dtype=torch.float64)
    """

    def _of_sets(self, predicted: Tensor, labels: Tensor) -> Tensor:
        return wide(predicted != labels).mean(1)


class SubsetAccuracy(_Partition):
    """The share of examples whose predicted set is right.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> metric = nn.SubsetAccuracy(threshold=2.0)
    >>> metric.update(torch.tensor([[3.0, -2.0, 1.0]]), torch.tensor([[True, True, False]]))
    >>> metric.compute()
    tensor(0., dtype=torch.float64)
    """

    def _of_sets(self, predicted: Tensor, labels: Tensor) -> Tensor:
        return (predicted == labels).all(1)


class MultilabelAccuracy(_Partition):
    """The mean of intersection by union of the predicted and the true set; 1 of empty ones.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> metric = nn.MultilabelAccuracy()
    >>> metric.update(torch.tensor([[3.0, -2.0, 1.0]]), torch.tensor([[True, True, False]]))
    >>> metric.compute()
    tensor(0.3333, dtype=torch.float64)
    """

    def _of_sets(self, predicted: Tensor, labels: Tensor) -> Tensor:
        return _ratio((predicted & labels).sum(1), (predicted | labels).sum(1))


class F1Score(_Summed):
    """The F1 score of predicted sets, the classes that score `threshold` or more.

    Parameters
    ----------
    average : {"micro", "macro", "instance"}
        Of all decisions at once, or the mean of the scores of classes or of examples; the
        score is 1 where there is nothing to find and nothing is predicted.
    threshold : float
        From which score on a class is predicted.
    ignore_index : int
        Examples with this label do not count.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> metric = nn.F1Score("micro")
    >>> metric.update(torch.tensor([[3.0, -2.0, 1.0]]), torch.tensor([[True, True, False]]))
    >>> metric.compute()
    tensor(0.5000, dtype=torch.float64)
    """

    def __init__(
        self, average: str = "micro", threshold: float = 0.0, ignore_index: int = -100
    ) -> None:
        super().__init__(ignore_index)
        self.average = as_choice(average, ("micro", "macro", "instance"), "average")
        self.threshold = as_finite(threshold, "threshold")

    def _sums_of(self, scores: Tensor, labels: Tensor) -> Tensor:
        predicted = scores >= self.threshold
        over = 1 if self.average == "instance" else 0
        found = (predicted & labels).sum(over)
        all_of_both = predicted.sum(over) + labels.sum(over)
        if self.average == "instance":
            of_examples = _ratio(2 * found, all_of_both)
            return torch.stack((of_examples.sum(), wide(torch.ones_like(found)).sum()))
        return wide(torch.stack((2 * found, all_of_both)))

    def _result_of(self, sums: Tensor) -> Tensor:
        if self.average == "instance":
            return sums[0] / sums[1]
        if self.average == "micro":
            sums = sums.sum(1)
        return _ratio(sums[0], sums[1]).mean()


class MeanAveragePrecision(Metric):
    """How well the classes rank their examples; see `shortlist.metrics.mean_average_precision`.

    The ranks of an example's scores are known only when all examples are: all are kept.

    Parameters
    ----------
    kind : {"voc2007", "voc2010", "step"}
        The definition; see `shortlist.metrics.average_precision`.
    ignore_index : int
        Examples with this label do not count.

    Examples
    --------
    >>> import torch
    >>> from shortlist import nn
    >>> precision = nn.MeanAveragePrecision("step")
    >>> precision.update(torch.tensor([[3.0, 0.0], [2.0, 1.0]]), torch.tensor([0, 1]))
    >>> precision.update(torch.tensor([[1.0, 2.0]]), torch.tensor([0]))
    >>> precision.compute()
    tensor(0.6667, dtype=torch.float64)
    """

    def __init__(self, kind: Kind = "voc2007", ignore_index: int = -100) -> None:
        super().__init__(ignore_index)
        as_choice(kind, get_args(Kind), "kind")
        self.kind: Kind = kind
        self._batches: list[tuple[NDArray[Any], NDArray[Any]]] = []

    def compute(self) -> Tensor:
        """Return the metric of all examples so far, of all processes."""
        batches = self._batches
        if _is_distributed():
            of_processes: list[Any] = [None] * torch.distributed.get_world_size()
            torch.distributed.all_gather_object(of_processes, batches)
            batches = [batch for of_one in of_processes for batch in of_one]
        if not batches:
            raise self._too_early()
        scores, labels = (np.concatenate(parts) for parts in zip(*batches, strict=True))
        mean = mean_average_precision(labels, scores, self.kind)
        return torch.tensor(mean, dtype=torch.float64)

    def reset(self) -> None:
        """Forget all examples."""
        self._batches = []

    def _add(self, scores: Tensor, labels: Tensor) -> None:
        self._batches.append((scores.cpu().numpy().copy(), labels.cpu().numpy()))


def _ratio(part: Tensor, whole: Tensor) -> Tensor:
    """Return part by whole; nothing of nothing is all."""
    return torch.where(whole > 0, wide(part) / wide(whole).clamp(min=1), 1.0)
