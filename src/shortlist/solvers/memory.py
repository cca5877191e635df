"""What methods keep from one C of a path to the next."""

from __future__ import annotations

from dataclasses import dataclass, field

from shortlist._arrays import FloatArray
from shortlist.rows import Storage
from shortlist.solvers.axes import Axes
from shortlist.solvers.curvature import Map
from shortlist.solvers.systems import Kept


@dataclass
class Memory:
    """Of problems that differ in C only."""

    linear: tuple[Storage, Map] | None = None  # rows of the linear form, and the way back
    axes: Axes | None = None  # of the features
    pull: float = 1.0  # along them, relative to the duals
    kept: Kept = field(default_factory=Kept)  # of the last system of Newton's method
    foresees: bool = True  # whether gradients at weights that go on were the best duals
    falls: dict[str, float] = field(default_factory=dict)  # of the excess, by a pass of a method
    of_duals: tuple[FloatArray, FloatArray] | None = None  # duals of Newton's, and their weights

    def weights_of(self, duals: FloatArray) -> FloatArray | None:
        """Return the weights of some duals, if these are the ones that are known."""
        known = self.of_duals
        return known[1] if known is not None and known[0] is duals else None
