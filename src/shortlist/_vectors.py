"""What compiled loops cannot say: vectors that stay in registers, and memory needed soon.

Products
--------
The compiler vectorises the innermost loop, and that over a row of ten or thirty weights takes
longer to begin than to run. Here the loop over the features is the innermost one, and what it
multiplies are vectors of sixteen columns from the start, whose length does not depend on the
processor: the compiler splits them into registers as long as it has. That is two to four times
as fast.

Memory
------
Examples are visited in random order, so that no processor foresees which memory is next. A loop
over them tells it with `prefetch`, a few visits ahead.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

from shortlist._jit import inlined

#: The columns of a tile: vectors whose length is a multiple of this have no rest. The most columns
#: that are worth tiles.
TILE, _MOST_COLUMNS = 16, 48
#: Sums of a product that are computed side by side: each addition waits for the last of its sum.
_CHAINS = 2
#: A multiplication and an addition may be one instruction.
_TOGETHER = ["contract"]
#: Bytes of a line of the processor's cache, and the most lines that are loaded ahead; the rest of a
#: long vector is foreseen by the processor itself.
LINE, _LINES = 64, 8
#: What LLVM is told of a line: data that are read and kept.
_TO_READ, _TO_KEEP, _DATA = 0, 3, 1


@inlined
def are_few_tiles(m):
    """Return whether products with so many columns are for this file.

    With more, the rows of a tile are far from each other, and may all want the same few lines of
    the cache; and a loop over a row of weights is long enough.
    """
    return m % TILE == 0 and m <= _MOST_COLUMNS


@inlined
def add_product(x, weights, out):
    """Add the product of the vector `x` and the first rows of a few tiles of weights to `out`."""
    for first in range(0, out.size, TILE):
        _add_product_of_tile(x, weights, first, out)


@inlined
def add_outer_product(x, change, weights):
    """Add `x` times `change` to the first rows of a few tiles of weights."""
    for first in range(0, change.size, TILE):
        _add_outer_product_to_tile(x, change, first, weights)


def _add_product_of_tile(x: Any, weights: Any, first: int, out: Any) -> None:
    out[first : first + TILE] += x @ weights[: x.size, first : first + TILE]


def _add_outer_product_to_tile(x: Any, change: Any, first: int, weights: Any) -> None:
    weights[: x.size, first : first + TILE] += x[:, None] * change[first : first + TILE]


class _Emitter(NamedTuple):
    """Writes the instructions of one function; its arrays have the same precision."""

    context: Any
    builder: Any
    vector: Any  # the type of a tile of a row
    bytes: int  # of a number

    def array(self, kind: Any, value: Any) -> tuple[Any, Any]:
        """Return what `item` needs to know of an argument."""
        return kind, self.context.make_array(kind)(self.context, self.builder, value)

    def size(self, array: Any) -> Any:
        """Return the length of a vector."""
        return cgutils.unpack_tuple(self.builder, array[1].shape)[0]

    def item(self, array: Any, *at: Any) -> Any:
        """Return where an element is."""
        return cgutils.get_item_pointer(self.context, self.builder, *array, list(at))

    def tile(self, array: Any, *at: Any) -> Any:
        """Return where the tile is that begins with an element."""
        return self.builder.bitcast(self.item(array, *at), self.vector.as_pointer())

    def load(self, tile: Any) -> Any:
        """Return the numbers of a tile, which need not be aligned."""
        return self.builder.load(tile, align=self.bytes)

    def store(self, numbers: Any, tile: Any) -> None:
        """Write the numbers of a tile."""
        self.builder.store(numbers, tile, align=self.bytes)

    def repeated(self, item: Any) -> Any:
        """Return a vector all of whose elements are the number at `item`."""
        none, index = ir.Constant(self.vector, ir.Undefined), ir.IntType(32)
        one = self.builder.insert_element(none, self.builder.load(item), ir.Constant(index, 0))
        zeros = ir.Constant(ir.VectorType(index, TILE), [0] * TILE)
        return self.builder.shuffle_vector(one, none, zeros)

    def multiply_add(self, one: Any, two: Any, three: Any) -> Any:
        """Return the first times the second plus the third."""
        product = self.builder.fmul(one, two, flags=_TOGETHER)
        return self.builder.fadd(product, three, flags=_TOGETHER)


def _emitter(context: Any, builder: Any, number: Any) -> _Emitter:
    kind = context.get_data_type(number)
    return _Emitter(context, builder, ir.VectorType(kind, TILE), context.get_abi_sizeof(kind))


@intrinsic
def _emit_product(typing: Any, x: Any, weights: Any, first: Any, out: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        emit = _emitter(context, builder, x.dtype)
        row, matrix = emit.array(x, values[0]), emit.array(weights, values[1])
        target = emit.tile(emit.array(out, values[3]), values[2])
        zero = ir.Constant(emit.vector, [0.0] * TILE)
        totals = [cgutils.alloca_once_value(builder, zero) for _ in range(_CHAINS)]

        def add(j: Any, total: Any) -> None:
            numbers = emit.load(emit.tile(matrix, j, values[2]))
            factor = emit.repeated(emit.item(row, j))
            builder.store(emit.multiply_add(factor, numbers, builder.load(total)), total)

        size = emit.size(row)
        number = size.type
        rest = builder.urem(size, number(_CHAINS))
        with cgutils.for_range(builder, rest) as loop:
            add(loop.index, totals[0])
        with cgutils.for_range_slice(builder, rest, size, number(_CHAINS), number) as (j, _):
            for i, total in enumerate(totals):
                add(builder.add(j, number(i)), total)
        for total in totals:
            emit.store(builder.fadd(emit.load(target), builder.load(total)), target)
        return context.get_dummy_value()

    return types.none(x, weights, first, out), generate


@intrinsic
def _emit_outer_product(typing: Any, x: Any, change: Any, first: Any, weights: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        emit = _emitter(context, builder, x.dtype)
        row, matrix = emit.array(x, values[0]), emit.array(weights, values[3])
        factors = emit.load(emit.tile(emit.array(change, values[1]), values[2]))
        with cgutils.for_range(builder, emit.size(row)) as loop:
            target = emit.tile(matrix, loop.index, values[2])
            factor = emit.repeated(emit.item(row, loop.index))
            emit.store(emit.multiply_add(factor, factors, emit.load(target)), target)
        return context.get_dummy_value()

    return types.none(x, change, first, weights), generate


def _are_alike(*arrays: Any) -> bool:
    """Whether arrays have one precision, and neighbours in a row are neighbours in memory."""
    return len({array.dtype for array in arrays}) == 1 and all(a.layout == "C" for a in arrays[1:])


@overload(_add_product_of_tile)
def _(x, weights, first, out):
    def emit(x, weights, first, out):
        return _emit_product(x, weights, first, out)

    return emit if _are_alike(x, weights, out) else None


@overload(_add_outer_product_to_tile)
def _(x, change, first, weights):
    def emit(x, change, first, weights):
        return _emit_outer_product(x, change, first, weights)

    return emit if _are_alike(x, change, weights) else None


def prefetch(vector: Any) -> None:
    """Let the processor begin to load a vector that a kernel needs soon: its first few lines."""


@intrinsic
def _load_ahead(typing: Any, vector: Any) -> Any:
    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        array = context.make_array(vector)(context, builder, values[0])
        size, flag = array.itemsize.type, ir.IntType(32)
        byte = ir.IntType(8).as_pointer()
        load = builder.module.declare_intrinsic(
            "llvm.prefetch", [byte], ir.FunctionType(ir.VoidType(), [byte, flag, flag, flag])
        )
        start = builder.bitcast(array.data, byte)
        length = builder.mul(array.nitems, array.itemsize)
        lines = builder.udiv(builder.add(length, size(LINE - 1)), size(LINE))
        few = builder.select(builder.icmp_signed("<", lines, size(_LINES)), lines, size(_LINES))
        with cgutils.for_range(builder, few) as loop:
            line = builder.gep(start, [builder.mul(loop.index, size(LINE))])
            builder.call(load, [line, flag(_TO_READ), flag(_TO_KEEP), flag(_DATA)])
        return context.get_dummy_value()

    return types.none(vector), generate


@overload(prefetch)
def _(vector):
    return lambda vector: _load_ahead(vector)
