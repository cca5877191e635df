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


class Status(enum.Enum):
    """Why a run ended."""

    CONVERGED = "converged"
    MAX_EPOCHS = "max_epochs"
    MAX_TIME = "max_time"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped by the callback"


class Evaluation(NamedTuple):
    """One line of the history; the times are seconds since the start."""

    epoch: int
    certificate: Certificate
    seconds_solving: float
    seconds_evaluating: float


class Solution(NamedTuple):
    """A trained linear model with its certificate, true for what is returned."""

    weights: FloatArray  # (d, m): scores are X @ weights
    duals: FloatArray  # (n, m)
    certificate: Certificate
    status: Status
    history: list[Evaluation]

    @property
    def converged(self) -> bool:
        """Whether the gap reached the tolerance."""
        return self.status is Status.CONVERGED
