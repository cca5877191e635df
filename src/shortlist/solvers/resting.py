"""Examples that have stopped moving are visited less often.

An example whose dual variables did not change at all in its last visits is left out of the
next passes: one more for each such visit, up to a limit. None is left out for good, and
the certificate is always that of all examples, so resting costs no truth, only time when
an example should have moved earlier.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

#: The most passes from one visit to the next.
_LONGEST = 8
_NEVER = np.iinfo(np.int32).max


class Resting:
    """When each example is due."""

    def __init__(self, c: NDArray[np.float64]) -> None:
        self.idle = np.zeros(c.size, np.uint8)  # visits in a row without a move
        self.due = np.where(c > 0.0, 0, _NEVER).astype(
            np.int32
        )  # what weighs nothing changes nothing

    def examples(self, epoch: int) -> NDArray[np.int64]:
        """Return the examples to visit in a pass, sorted."""
        return np.flatnonzero(self.due <= epoch)

    def note(self, examples: NDArray[np.int64], moved: NDArray[np.bool_], epoch: int) -> None:
        """Learn which examples moved in a pass."""
        idle = np.where(moved, 0, np.minimum(self.idle[examples] + 1, _LONGEST))
        self.idle[examples] = idle
        self.due[examples] = epoch + np.maximum(idle, 1).astype(np.int32)

    def wake(self) -> None:
        """Make every example due that weighs anything."""
        self.due[self.due != _NEVER] = 0
