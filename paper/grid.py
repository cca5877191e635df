"""The part of the paper's grid of C and gamma that is tried, and what was left out.

The paper tries all powers of 2, from -20 to 5 for C and from -15 to 3 for the RBF kernel's gamma,
on ten folds. A `Grid` says what is tried in place of that.
"""

from __future__ import annotations

import math
from typing import NamedTuple

#: How many folds the examples are dealt to.
FOLDS = 10


def powers(low: int, high: int, step: int) -> tuple[float, ...]:
    """Return each `step`-th power of 2, counted from the largest, ascending."""
    return tuple(2.0**power for power in sorted(range(high, low - 1, -step)))


class Grid(NamedTuple):
    """Which settings are tried, and on what."""

    kernel: str
    step: int  # each `step`-th power of 2
    folds: int = FOLDS  # of the ten, how many are held out in turn
    scouted: bool = False  # only settings near those that `scout` finds best for a metric
    seconds: float = math.inf  # the most for one fit

    @property
    def Cs(self) -> tuple[float, ...]:  # noqa: N802
        """The values of C."""
        return powers(-20, 5, self.step)

    @property
    def gammas(self) -> tuple[float, ...] | None:
        """The values of gamma, where the kernel has one."""
        return powers(-15, 3, self.step) if self.kernel == "rbf" else None

    @property
    def whole(self) -> Grid:
        """The paper's grid for this kernel."""
        return Grid(self.kernel, 1)

    @property
    def key(self) -> str:
        """The name in our files."""
        less = (f"-{self.folds}" if self.folds < FOLDS else "") + "-scouted" * self.scouted
        return f"{self.kernel}/{self.step}{less}"

    @property
    def label(self) -> str:
        """A few words for a table."""
        parts = [{1: "all powers", 3: "every third"}.get(self.step, f"each {self.step}-th")]
        parts += ["scouted"] * self.scouted + [f"{self.folds} folds"] * (self.folds < FOLDS)
        return ", ".join(parts)

    def is_thinner_than(self, other: Grid) -> bool:
        """Return whether the other tries at least as much in every respect, and more in one."""
        return (
            self != other
            and self.kernel == other.kernel
            and self.step % other.step == 0
            and self.folds <= other.folds
            and self.scouted >= other.scouted
        )

    def __str__(self) -> str:
        names = "C" if self.gammas is None else "C and gamma"
        each = {1: "every power", 2: "every second power", 3: "every third power"}
        text = f"{each.get(self.step, f'each {self.step}-th power')} of {names}"
        if self.folds < FOLDS:
            text += f", {self.folds} of the {FOLDS} folds"
        if self.scouted:
            text += ", and all powers near the best of a scout"
        return text
