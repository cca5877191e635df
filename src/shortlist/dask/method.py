"""What the rounds ask of a method, whichever it is."""

from __future__ import annotations

from typing import Any, Protocol, TypeAlias

from shortlist._arrays import FloatArray
from shortlist.dask.fleet import Question
from shortlist.dask.partitions import Answer
from shortlist.solvers.result import Certificate

#: Values that JSON can hold.
Numbers: TypeAlias = dict[str, Any]


class Method(Protocol):
    """The client's side of a method: all that it holds has the size of the weights."""

    name: str
    #: Whether a certificate counts only when it is computed anew from the duals that are held.
    needs_proof: bool

    def question(self) -> Question:
        """Return what to ask in the next round."""

    def hear(self, answer: Answer) -> None:
        """Learn from a round that all groups took part in."""

    def hear_some(self, change: FloatArray) -> None:
        """Learn only what the duals of some groups have changed."""

    def correct(self, answer: Answer) -> None:
        """Take the model of the duals as it was computed anew, with the losses at `best`."""

    @property
    def certificate(self) -> Certificate:
        """The least primal and the largest dual objective so far, as far as answers tell."""

    @property
    def best(self) -> FloatArray:
        """The weights with the least objective so far."""

    @property
    def is_stuck(self) -> bool:
        """Whether rounding allows no further step."""

    def state(self) -> tuple[Numbers, dict[str, FloatArray]]:
        """Return all that the next rounds depend on: what JSON can hold, and arrays."""

    def restore(self, numbers: Numbers, arrays: dict[str, FloatArray]) -> None:
        """Set what `state` returned."""


def squared(array: FloatArray) -> float:
    """Return the squared norm, in float64."""
    flat = array.ravel().astype(float, copy=False)
    return float(flat @ flat)
