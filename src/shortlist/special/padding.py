"""Vectors filled up to whole vector registers.

The compiler turns most of a loop into vector instructions, and runs the rest, up to fifteen
elements, one by one. Where a function of an element takes long (V, or an exponential), that rest of
a short vector would take longer than all others together.
"""

from __future__ import annotations

from shortlist._jit import inlined
from shortlist._vectors import TILE

#: What fills up a vector: exponentials of it are 0, also in single precision.
_LOWEST = -1e30


@inlined
def padded(m):
    """Return the least length with no rest that is not below `m`."""
    return -(-m // TILE) * TILE


@inlined
def padded_part(memory, a):
    """Return as much of some float64 memory as `a` takes when it is filled up, in its precision."""
    return memory.view(a.dtype)[: padded(a.size)]


@inlined
def fill_up(a, m):
    """Fill up a vector of which `m` elements are known."""
    for j in range(m, a.size):
        a[j] = _LOWEST
