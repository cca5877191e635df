"""One dispatch table, two readers: Python looks it up, and so does Numba.

A generic function has one implementation for each *type* of its first
argument::

    @generic
    def project(region, vector, out, work):
        '''Write the projection of `vector` onto `region` into `out`.'''

    @project.register(Simplex)
    def _(region, vector, out, work):
        ...

Called from Python it picks the implementation by ``type(region)``; called from
a kernel, Numba picks it at compile time. What is registered by ``@project.otherwise`` serves all
other types. The types are NamedTuples (a loss, a
region) or ``np.float32`` and ``np.float64`` (a number's precision). Because the
choice goes by the type of data and not by a function passed as an argument,
kernels that call generic functions are cached on disk like any other.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any, Protocol, cast

import numpy as np
from numba import types
from numba.extending import overload

from shortlist._jit import FASTMATH

Implementation = Callable[..., Any]

_PRECISIONS: dict[Any, type] = {types.float32: np.float32, types.float64: np.float64}


class Generic(Protocol):
    """A function with one implementation per type of its first argument."""

    __name__: str

    def __call__(self, *args: Any) -> Any: ...

    def register(self, *classes: type) -> Callable[[Implementation], Implementation]:
        """Return a decorator that makes a function the implementation for `classes`."""

    def otherwise(self, implementation: Implementation) -> Implementation:
        """Make a function the implementation for all classes that have none of their own."""

    def serves(self, cls: type) -> bool:
        """Return whether there is an implementation of its own for `cls`."""


def generic(stub: Implementation) -> Generic:
    """Make a generic function of `stub`, which gives its name, arguments and docstring."""
    return _make(stub, inline=False)


def inlined_generic(stub: Implementation) -> Generic:
    """Like `generic`, for small functions that become part of every caller's loop."""
    return _make(stub, inline=True)


def _make(stub: Implementation, inline: bool) -> Generic:
    table: dict[type, Implementation] = {}
    fallback: list[Implementation] = []  # at most one
    signature = inspect.signature(stub)

    @functools.wraps(stub)
    def call(*args: Any) -> Any:
        implementation = find(type(args[0]))
        if implementation is None:
            raise TypeError(_no_implementation(stub.__name__, type(args[0]).__name__, table))
        return implementation(*args)

    def find(cls: type) -> Implementation | None:
        return table.get(cls, *fallback)

    def resolve(*args: Any) -> Implementation | None:
        cls = _class_of(args[0])
        return None if cls is None else find(cls)

    def register(*classes: type) -> Callable[[Implementation], Implementation]:
        def add(implementation: Implementation) -> Implementation:
            for cls in classes:
                if cls in table:
                    raise ValueError(f"{stub.__name__} is already defined for {cls.__name__}.")
                table[cls] = implementation
            return implementation

        return add

    def otherwise(implementation: Implementation) -> Implementation:
        if fallback:
            raise ValueError(f"{stub.__name__} is already defined for all other types.")
        fallback.append(implementation)
        return implementation

    vars(resolve)["__signature__"] = signature
    options = {"error_model": "numpy", "fastmath": FASTMATH, "forceinline": inline}
    overload(call, jit_options=options)(resolve)
    vars(call)["register"] = register
    vars(call)["otherwise"] = otherwise
    vars(call)["serves"] = table.__contains__
    return cast(Generic, call)


def _class_of(numba_type: Any) -> type | None:
    """Return the Python class whose table entry serves a value of `numba_type`."""
    if isinstance(numba_type, types.BaseNamedTuple):
        return cast(type, numba_type.instance_class)
    return _PRECISIONS.get(numba_type)


def _no_implementation(name: str, given: str, table: dict[type, Implementation]) -> str:
    known = ", ".join(sorted(cls.__name__ for cls in table))
    return f"{name} is not defined for {given}; it is for {known}."
