"""One dispatch table, read by Python and by Numba."""

from typing import NamedTuple

import numpy as np
import pytest

from shortlist._generic import generic
from shortlist._jit import kernel


class Disc(NamedTuple):
    radius: float


class Square(NamedTuple):
    side: float


class Line(NamedTuple):
    length: float


@generic
def area(shape, scale):
    """Return the area of `shape`, times `scale`."""


@area.register(Disc)
def _(shape, scale):
    return 3.0 * shape.radius**2 * scale


@area.register(Square)
def _(shape, scale):
    return shape.side**2 * scale


@area.register(np.float32, np.float64)
def _(shape, scale):
    return scale


@generic
def corners(shape):
    """Return the number of corners."""


@corners.register(Square)
def _(shape):
    return 4


@corners.otherwise
def _(shape):
    return 0


@kernel
def compiled_corners(shape):
    return corners(shape)


@kernel
def compiled_area(shape, scale):
    return area(shape, scale)


@pytest.mark.parametrize("call", [area, compiled_area])
def test_both_readers_choose_by_the_type_of_the_first_argument(call):
    assert call(Disc(2.0), 1.0) == 12.0
    assert call(Square(2.0), 1.5) == 6.0
    assert call(np.float64(7.0), 5.0) == 5.0


def test_it_keeps_name_and_docstring():
    assert area.__name__ == "area"
    assert "area of `shape`" in area.__doc__


def test_a_type_without_implementation_is_named():
    with pytest.raises(TypeError, match=r"^area is not defined for Line; it is for Disc, Square, "):
        area(Line(1.0), 1.0)
    with pytest.raises(Exception, match="No implementation of function"):
        compiled_area(Line(1.0), 1.0)


def test_a_type_is_registered_once():
    with pytest.raises(ValueError, match="area is already defined for Disc"):
        area.register(Disc)(lambda shape, scale: 0.0)


@pytest.mark.parametrize("call", [corners, compiled_corners])
def test_what_is_defined_otherwise_serves_all_other_types(call):
    assert call(Square(1.0)) == 4
    assert call(Disc(1.0)) == 0
    assert corners.serves(Square)
    assert not corners.serves(Disc)


def test_there_is_one_definition_for_all_other_types():
    with pytest.raises(ValueError, match="corners is already defined for all other types"):
        corners.otherwise(lambda shape: 1)
