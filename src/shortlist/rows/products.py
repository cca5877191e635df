"""Matrix products that write to a part of their result, a few rows at a time.

Parts are for threads, few rows at a time for the cache: the product of a slice is added
while it is still there, and no second array of the size of the result is needed.
"""

from __future__ import annotations

from collections.abc import Iterator

from shortlist._arrays import FloatArray

_SLICE = 256
#: The most numbers of a chunk of examples, all classes together; so many are always worth one.
_CHUNK, _WORTH_A_CHUNK = 1 << 18, 1 << 15


def bounds(size: int, part: int, parts: int) -> tuple[int, int]:
    """Return where the part numbered `part` of `size` things begins and ends."""
    return part * size // parts, (part + 1) * size // parts


def slices(first: int, last: int, length: int = _SLICE) -> Iterator[slice]:
    """Yield slices of at most `length` from `first` to `last`."""
    for start in range(first, last, length):
        yield slice(start, min(start + length, last))


def chunks(n: int, m: int) -> Iterator[slice]:
    """Yield slices of `n` examples with `m` numbers each that are worked on together.

    They are few enough to add little to the memory that all of them take.
    """
    return slices(0, n, max(64, min(_CHUNK, max(_WORTH_A_CHUNK, n * m // 32)) // m))


def add_transposed(out: FloatArray, A: FloatArray, B: FloatArray, first: int, last: int) -> None:
    """Add the rows from `first` to `last` of `A' B` to those of `out`."""
    for some in slices(first, last):
        out[some] += A[:, some].T @ B
