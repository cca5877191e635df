"""From a user's array to rows, through a map, and back to the user's shape."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist._arrays import FloatArray, as_rows, check_out, not_finite
from shortlist.prox.maps import apply_rows


class Batch:
    """One vector, or the rows of a matrix, under the user's own name for it."""

    def __init__(self, values: ArrayLike, name: str) -> None:
        self.rows = as_rows(values, name)
        self.shape = self.rows.shape if np.ndim(values) == 2 else self.rows.shape[1:]
        self.name = name

    @property
    def m(self) -> int:
        """The length of each vector."""
        return self.rows.shape[1]

    def apply(self, prox_map: tuple[Any, ...], out: Any = None) -> FloatArray:
        """Return the images of all rows under `prox_map`."""
        result = Result(self, out, "out")
        self.raise_at(apply_rows(prox_map, self.rows, result.rows))
        return result.deliver()

    def raise_at(self, row: int) -> None:
        """Raise for the row that a kernel found not to be finite; -1 stands for none."""
        if row >= 0:
            raise not_finite(self.rows[row], self.name, (row,) if len(self.shape) == 2 else ())


class Result:
    """Where the images of a batch are written, before the user sees them."""

    def __init__(self, batch: Batch, out: Any, name: str) -> None:
        self.out = out
        dtype = batch.rows.dtype
        if out is None:
            self.out = self._buffer = np.empty(batch.shape, dtype)
        else:
            check_out(out, batch.shape, dtype, name)
            # Not straight into an `out` that is the input: after an error it would be half changed.
            direct = out.flags.c_contiguous and not np.may_share_memory(out, batch.rows)
            self._buffer = out if direct else np.empty(batch.shape, dtype)

    @property
    def rows(self) -> FloatArray:
        """The memory to write to, one row a vector."""
        return np.atleast_2d(self._buffer)

    def deliver(self) -> FloatArray:
        """Return the array that the user gets, complete."""
        if self._buffer is not self.out:
            self.out[...] = self._buffer
        return np.asarray(self.out)
