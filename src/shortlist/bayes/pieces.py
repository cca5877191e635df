r"""Losses without curvature, exactly: finitely many linear pieces with rational coefficients.

Each hinge of one label is a maximum over *shapes* and over sets `A` of classes,

.. math::

    L(y, g) = \max_{shape} \max_{|A| = size}
    \Bigl( weight \sum_{j \in A} g_j - own \cdot g_y + constant \Bigr),

where `A` avoids the label unless the shape says otherwise. For scores in falling order the best
set is the first `size` classes allowed, so that few pieces are left.
"""

from __future__ import annotations

import functools
import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

from shortlist.losses.consistent import ConsistentTopKSvm
from shortlist.losses.hinge import TopKSvmAlpha, TopKSvmBeta
from shortlist.losses.multilabel import MultilabelSvm
from shortlist.losses.operations import traits
from shortlist.losses.ova import OvaSvm
from shortlist.losses.registry import Loss

Vector = tuple[Fraction, ...]


class Piece(NamedTuple):
    r"""The linear function :math:`\langle slope, g \rangle + constant`."""

    slope: Vector
    constant: Fraction

    def at(self, g: Vector) -> Fraction:
        """Return the value at the scores `g`."""
        return sum((s * x for s, x in zip(self.slope, g, strict=True)), self.constant)


class Shape(NamedTuple):
    """One term of the maximum, for all sets of `size` classes."""

    size: int
    weight: Fraction
    own: Fraction
    constant: Fraction
    with_label: bool = False


@functools.singledispatch
def shapes(loss: Loss, m: int) -> list[Shape]:
    """Return the shapes of a loss of `m` classes; none if it is not known to be polyhedral."""
    return []


@shapes.register
def _(loss: TopKSvmAlpha, m: int) -> list[Shape]:
    return [] if loss.smoothing else [_mean_of_margins(n, loss.k) for n in (0, loss.k)]


@shapes.register
def _(loss: TopKSvmBeta, m: int) -> list[Shape]:
    return [] if loss.smoothing else [_mean_of_margins(n, loss.k) for n in range(loss.k + 1)]


@shapes.register
def _(loss: MultilabelSvm, m: int) -> list[Shape]:
    return [] if loss.smoothing else [_mean_of_margins(n, 1) for n in range(2)]


def _mean_of_margins(size: int, k: int) -> Shape:
    """Return the sum of `size` margins 1 + g_j - g_y, divided by `k`."""
    share = Fraction(size, k)
    return Shape(size, Fraction(1, k), own=share, constant=share)


@shapes.register
def _(loss: ConsistentTopKSvm, m: int) -> list[Shape]:
    if loss.smoothing:
        return []
    one, sizes = Fraction(1), (1, *range(loss.k + 1, m + 1))
    return [Shape(n, one / n, one, max(1 - loss.k * one / n, 0 * one), True) for n in sizes]


@shapes.register
def _(loss: OvaSvm, m: int) -> list[Shape]:
    if loss.smoothing:
        return []
    one, terms = Fraction(1), itertools.product(range(m), (0, 1))
    return [Shape(n, one, own * one, (n + own) * one) for n, own in terms]


def is_polyhedral(loss: Loss) -> bool:
    """Return whether the loss is known to be a maximum of linear pieces."""
    return bool(shapes(loss, traits(loss).smallest_m))


def _piece(shape: Shape, chosen: tuple[int, ...], y: int, m: int) -> Piece:
    slope = [shape.weight if j in chosen else Fraction(0) for j in range(m)]
    slope[y] -= shape.own
    return Piece(tuple(slope), shape.constant)


def pieces(loss: Loss, m: int, y: int) -> Iterator[Piece]:
    """Yield all pieces of the loss of the label `y`."""
    for shape in shapes(loss, m):
        allowed = [j for j in range(m) if shape.with_label or j != y]
        for chosen in itertools.combinations(allowed, shape.size):
            yield _piece(shape, chosen, y, m)


def sorted_pieces(loss: Loss, m: int, y: int) -> list[Piece]:
    """Return the pieces of the loss of the label `y` that matter for scores in falling order."""
    found = []
    for shape in shapes(loss, m):
        allowed = [j for j in range(m) if shape.with_label or j != y]
        found.append(_piece(shape, tuple(allowed[: shape.size]), y, m))
    return found
