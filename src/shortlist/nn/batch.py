"""Scores and targets in every form that torch knows, as rows; values as the result asked for."""

from __future__ import annotations

from typing import Any, NamedTuple

import torch
from torch import Tensor

from shortlist._arrays import as_choice

REDUCTIONS = ("none", "mean", "sum")


class Batch(NamedTuple):
    """One example a row."""

    scores: Tensor  #: (n, m), float32 or float64
    labels: Tensor  #: integers (n,), or indicators (n, m) of type bool
    counted: Tensor  #: (n,), False where the target is `ignore_index`
    shape: torch.Size  #: that of the values, without reduction

    @property
    def numbered(self) -> bool:
        """Whether each example has one label, given by its number."""
        return self.labels.ndim == 1

    @property
    def indicators(self) -> Tensor:
        """The labels as a matrix of bool; examples that do not count have none."""
        if not self.numbered:
            return self.labels
        empty = torch.zeros_like(self.scores, dtype=torch.bool)
        return empty.scatter(1, self.labels[:, None], self.counted[:, None])

    @property
    def masked(self) -> Tensor:
        """Which examples have a label whose score is minus infinity."""
        if self.numbered:
            return self.scores.gather(1, self.labels[:, None]).squeeze(1).isneginf()
        return (self.labels & self.scores.isneginf()).any(1)


def as_batch(scores: Tensor, target: Tensor, ignore_index: int) -> Batch:
    """Return scores (m,), (n, m) or (n, m, d1, ...) and their targets as rows.

    Targets are integers in the scores' shape without m, integers (n, l, d1, ...) filled up
    with negative numbers, or indicators (bool or float) in the scores' shape.
    """
    _check(scores, target)
    if scores.ndim == 1:
        return as_batch(scores[None], target[None], ignore_index)._replace(shape=torch.Size())
    m = scores.shape[1]
    rows = scores.movedim(1, -1).reshape(-1, m)
    if rows.dtype in (torch.float16, torch.bfloat16):
        rows = rows.float()
    counted = torch.ones(rows.shape[0], dtype=torch.bool, device=rows.device)
    if target.ndim == scores.ndim - 1:
        labels = target.reshape(-1).long()
        counted = labels != ignore_index
        labels = labels.where(counted, 0)
        _check_range(labels, m, ignore_index)
    else:
        labels = target.movedim(1, -1).reshape(-1, target.shape[1])
        labels = _from_lists(labels.long(), m) if _is_integer(labels) else labels != 0
    return Batch(rows, labels, counted, torch.Size((scores.shape[0], *scores.shape[2:])))


def _from_lists(lists: Tensor, m: int) -> Tensor:
    """Return lists filled up with negative numbers as indicators."""
    _check_range(lists.clamp(min=0), m, None)
    empty = torch.zeros(lists.shape[0], m + 1, dtype=torch.bool, device=lists.device)
    return empty.scatter(1, lists.where(lists >= 0, m), True)[:, :m]


def reduce(values: Tensor, weights: Tensor, batch: Batch, reduction: str) -> Tensor:
    """Return the values as they are, their sum, or their sum over that of the weights."""
    values = values.where(batch.counted, 0.0)
    if reduction == "none":
        return values.reshape(batch.shape)
    if reduction == "sum":
        return values.sum()
    return values.sum() / weights.where(batch.counted, 0.0).sum()


def _is_integer(target: Tensor) -> bool:
    return not (target.is_floating_point() or target.dtype == torch.bool)


def _check(scores: Any, target: Any) -> None:
    """Refuse scores and targets that do not fit each other."""
    for tensor, name in ((scores, "scores"), (target, "target")):
        if not isinstance(tensor, Tensor):
            raise TypeError(f"{name} is a {type(tensor).__name__}; pass a torch.Tensor.")
    if scores.ndim == 0 or not scores.is_floating_point():
        raise TypeError(
            f"scores have shape {tuple(scores.shape)} and dtype {scores.dtype}; "
            "pass floats of shape (m,), (n, m) or (n, m, d1, ...)."
        )
    at = min(1, scores.ndim - 1)
    without_m = (*scores.shape[:at], *scores.shape[at + 1 :])
    shape = tuple(target.shape)
    integer = _is_integer(target)
    if integer and shape == tuple(scores.shape):
        raise ValueError(
            f"target has the scores' shape {shape} and dtype {target.dtype}: pass target.bool() "
            "for indicators, or lists of labels with fewer columns than there are classes."
        )
    listed = target.ndim == scores.ndim and (*shape[:at], *shape[at + 1 :]) == without_m
    if not (shape == without_m or listed if integer else shape == tuple(scores.shape)):
        raise ValueError(
            f"target has shape {shape} and dtype {target.dtype}, scores have "
            f"{tuple(scores.shape)}: pass integers of shape {without_m}, indicators of the "
            "scores' shape, or lists of labels filled up with -1."
        )


def _check_range(labels: Tensor, m: int, ignore_index: int | None) -> None:
    """Refuse labels that are no classes, where looking at them costs no wait for a device."""
    if labels.device.type != "cpu" or torch.compiler.is_compiling() or labels.numel() == 0:
        return
    low, high = (int(bound) for bound in torch.aminmax(labels))
    if low < 0 or high >= m:
        ignored = "" if ignore_index is None else f", and {ignore_index} is ignored"
        raise ValueError(
            f"target has the label {low if low < 0 else high}; "
            f"labels run from 0 to {m - 1}{ignored}."
        )


def as_reduction(reduction: Any) -> str:
    """Return the name of a reduction."""
    return as_choice(reduction, REDUCTIONS, "reduction")
