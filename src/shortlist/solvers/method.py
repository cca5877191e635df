"""What the training loop asks of a method, whichever it is."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Protocol, TypeAlias

from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate, History
from shortlist.solvers.team import Team

#: Values that JSON can hold.
Numbers: TypeAlias = dict[str, Any]


class Method(Protocol):
    """A run of one method: its duals, and how many passes over the data it has taken."""

    name: str
    patience: int  # evaluations without a gain that do not mean that there is no more
    problem: Problem
    team: Team
    epoch: int

    @property
    def duals(self) -> FloatArray:
        """Feasible dual variables."""

    def run_epoch(self, should_stop: Callable[[], bool]) -> None:
        """Make one pass, or one step that takes several; less where `should_stop` says so."""

    def certificate(self, exact: bool) -> Certificate:
        """Return both objectives of the present model and duals, from scratch if `exact`."""

    def weights(self) -> FloatArray:
        """Return the weights of the present model, in the form that is given to the user."""

    @property
    def is_exact(self) -> bool:
        """Whether its certificates are, asked for or not: as they are in double precision."""

    @property
    def has_drifted(self) -> bool:
        """Whether only an exact certificate is worth computing, because of rounding."""

    def next_check(self, history: History, tol: float) -> int:
        """Return the epoch at which an evaluation may show that the gap is reached."""

    def wake(self) -> None:
        """Go back to thorough passes: the gap hardly falls."""

    def state(self) -> tuple[Numbers, dict[str, NDArray[Any]]]:
        """Return all that the next passes depend on: what JSON can hold, and arrays."""

    def restore(self, numbers: Numbers, arrays: dict[str, NDArray[Any]]) -> None:
        """Set what `state` returned."""


def next_check(history: History, tol: float) -> int:
    """Return the epoch at which the gap is likely to pass, by its rate so far.

    An evaluation costs half an epoch, so it should not come after each; but the rate may
    change, so the epochs are at most doubled.
    """
    if not history:
        return 1
    last, before = history[-1], history[-2] if len(history) > 1 else None
    if before is None or before.method != last.method:
        return last.epoch + 1
    fall = before.excess / max(last.excess, 1e-300)
    if fall <= 1.0 or tol <= 0.0:
        return last.epoch + max(1, last.epoch // 4)
    per_epoch = math.log(fall) / max(1, last.epoch - before.epoch)
    needed = math.log(max(last.excess / tol, 1.0)) / per_epoch
    return last.epoch + min(max(1, math.ceil(needed)), max(1, last.epoch))
