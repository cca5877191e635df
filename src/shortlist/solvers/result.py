"""What a solver returns: typed values, nothing printed."""

from __future__ import annotations

import enum
from typing import NamedTuple

from shortlist._arrays import FloatArray


class Certificate(NamedTuple):
    """Bounds of the optimum: ``dual <= optimum <= primal``; `gap` is relative."""

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        r"""Return :math:`(P - D) / \max(|P|, |D|)`."""
        scale = max(abs(self.primal), abs(self.dual))
        return (self.primal - self.dual) / scale if scale > 0.0 else 0.0


class Stationarity(NamedTuple):
    """What can be said without a dual: the objective, and its gradient's norm.

    The norm is relative to that at zero weights.
    """

    primal: float
    gradient_norm: float


class Status(enum.Enum):
    """Why a run ended."""

    CONVERGED = "converged"
    MAX_EPOCHS = "max_epochs"
    MAX_TIME = "max_time"
    INTERRUPTED = "interrupted"
    NO_PROGRESS = "no_progress"
    STOPPED = "stopped by the callback"


class Evaluation(NamedTuple):
    """One line of the history; the times are seconds since the start."""

    epoch: int
    certificate: Certificate | Stationarity
    seconds_solving: float
    seconds_evaluating: float


class Solution(NamedTuple):
    """A trained linear model with its certificate, true for what is returned."""

    weights: FloatArray  # (d, m): scores are X @ weights
    duals: FloatArray  # (n, m)
    certificate: Certificate | Stationarity  # the latter where the loss is not convex
    status: Status
    history: list[Evaluation]

    @property
    def converged(self) -> bool:
        """Whether the gap reached the tolerance."""
        return self.status is Status.CONVERGED
