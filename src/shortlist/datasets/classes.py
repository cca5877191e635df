"""Labels as files write them, and the class numbers they become."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from shortlist.datasets.numbers import number_texts

#: Stands for a label that is not among the classes the caller has named.
UNKNOWN = -1


class Classes:
    """The classes of a file, numbered as they appear, or as the caller has named them.

    A file that is read in parts shows its classes one after another: `encode` numbers them as
    they come, and `finish` gives the names in their order and what becomes of the numbers.
    """

    def __init__(self, known: Iterable[Any] | None = None) -> None:
        self.known = known is not None
        self._codes: dict[str, int] = {}
        for name in () if known is None else known:
            self._codes.setdefault(str(name), len(self._codes))

    @property
    def m(self) -> int:
        """The number of classes so far."""
        return len(self._codes)

    def so_far(self) -> tuple[str, ...]:
        """Return the names in the order of their numbers."""
        return tuple(self._codes)

    def encode(self, names: Sequence[str]) -> NDArray[np.int64]:
        """Return the number of each label, or `UNKNOWN`."""
        codes = self._codes
        if self.known:
            found = [codes.get(name, UNKNOWN) for name in names]
        else:
            found = [codes.setdefault(name, len(codes)) for name in names]
        return np.array(found, dtype=np.int64)

    def encode_numbers(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the number of each label that the file writes as a number."""
        different, which = np.unique(values, return_inverse=True)
        return self.encode(number_texts(different.tolist()))[which]

    def finish(self) -> tuple[tuple[str, ...], NDArray[np.int64]]:
        """Return the names of all classes in order, and the final number of each number so far.

        Classes that the caller has named stay in that order; others are sorted, as numbers if
        all of them are.
        """
        names = list(self._codes)
        if self.known:
            return tuple(names), np.arange(len(names))
        order = sorted(range(len(names)), key=sort_keys(names).__getitem__)
        return tuple(names[i] for i in order), np.argsort(order).astype(np.int64)


def sort_keys(names: Sequence[str]) -> list[Any]:
    """Return keys that sort names as numbers if all of them are, else as text."""
    try:
        return [(float(name), name) for name in names]
    except ValueError:
        return list(names)
