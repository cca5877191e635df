"""Losses whose gradient is a projection, as one function that autograd knows.

A loss gives `Projected`: its values and its gradient. What is computed forward is what is
returned backward; a second derivative is the loss's own `hessian_times`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import torch
from torch import Tensor
from torch.autograd.function import once_differentiable

from shortlist.losses.registry import Loss


class Projected(NamedTuple):
    """What a loss does with scores (n, m) in float32 or float64, and labels."""

    #: (loss, scores, labels) to the values (n,) and the gradient (n, m)
    solve: Callable[[Any, Tensor, Tensor], tuple[Tensor, Tensor]]
    #: (loss, gradient, labels, directions) to the Hessian times the directions
    hessian_times: Callable[[Any, Tensor, Tensor, Tensor], Tensor]

    def values(self, loss: Loss, scores: Tensor, labels: Tensor) -> Tensor:
        """Return the loss of every row of scores, differentiable twice."""
        values: Tensor = _Value.apply(scores, labels, loss, self)[0]
        return values


def tolerance(gradient: Tensor) -> float:
    """Return by how much a number that is to equal a bound may differ."""
    return 1e-12 if gradient.dtype == torch.float64 else 1e-5


def mean_over(values: Tensor, where: Tensor) -> Tensor:
    """Return the mean (n, 1) of the elements of each row that are meant, 0 of none."""
    inside = values.where(where, 0.0).sum(1, keepdim=True)
    return inside / where.sum(1, keepdim=True).clamp(min=1)


class _Value(torch.autograd.Function):
    @staticmethod
    def forward(
        scores: Tensor, labels: Tensor, loss: Loss, projected: Projected
    ) -> tuple[Tensor, Tensor]:
        return projected.solve(loss, scores, labels)

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: tuple[Tensor, Tensor]) -> None:
        scores, labels, ctx.loss, ctx.projected = inputs
        ctx.mark_non_differentiable(output[1])
        ctx.save_for_backward(scores, labels, output[1])

    @staticmethod
    def backward(ctx: Any, of_values: Tensor, _: Tensor) -> tuple[Tensor | None, ...]:
        scores, labels, gradient = ctx.saved_tensors
        if torch.is_grad_enabled():  # the caller wants a second derivative
            gradient = _Gradient.apply(scores, labels, gradient, ctx.loss, ctx.projected)
        return of_values[:, None] * gradient, None, None, None


class _Gradient(torch.autograd.Function):
    """The gradient, known already, as a function of the scores."""

    @staticmethod
    def forward(
        scores: Tensor, labels: Tensor, gradient: Tensor, loss: Loss, projected: Projected
    ) -> Tensor:
        return gradient.clone()

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Tensor) -> None:
        _, labels, gradient, ctx.loss, ctx.projected = inputs
        ctx.save_for_backward(labels, gradient)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, directions: Tensor) -> tuple[Tensor | None, ...]:
        labels, gradient = ctx.saved_tensors
        product = ctx.projected.hessian_times(ctx.loss, gradient, labels, directions)
        return product, None, None, None, None
