"""What the rounds ask of whatever runs them, and an engine without any machine but this one."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any, Protocol, TypeAlias

from shortlist.solvers.team import Team

#: A value that is there already, or will be: what an engine's `submit` returns.
Handle: TypeAlias = Any


class Engine(Protocol):
    """Runs functions on values that stay where they are.

    Values are named by handles, also inside of lists. A function that is submitted has no effects
    but its value (or a file), and may be run again when that was lost.
    """

    def __enter__(self) -> Engine: ...

    def __exit__(self, *error: object) -> None: ...

    def slots(self) -> list[str]:
        """Return the places where functions run at the same time; a place may occur often.

        There is always one: an engine that has none waits, or raises an error.
        """

    def places(self, handles: Sequence[Handle]) -> list[str | None]:
        """Return where values are held."""

    def submit(
        self, function: Callable[..., Any], *args: Any, key: str, at: str | None = None
    ) -> Handle:
        """Run a function, at a certain place if that is possible, and elsewhere if not."""

    def is_done(self, handle: Handle) -> bool:
        """Return whether a value is there."""

    def value(self, handle: Handle, timeout: float = math.inf) -> Any:
        """Return a value; raise its error, or TimeoutError after so many seconds."""


class Value:
    """A value that is there already."""

    def __init__(self, value: Any) -> None:
        self.value = value


class InProcess:
    """Runs everything at once, here, as if there were `size` machines.

    How many rounds a problem takes with many machines can so be counted exactly.
    """

    def __init__(self, size: int) -> None:
        self.size = size
        self.team: Team | None = None

    def __enter__(self) -> InProcess:
        self.team = Team(1)  # held once, not in each of many short calls
        return self

    def __exit__(self, *error: object) -> None:
        assert self.team is not None
        self.team.__exit__(*error)

    def slots(self) -> list[str]:
        """Return as many names as there are to be machines."""
        return [f"machine {number}" for number in range(self.size)]

    def places(self, handles: Sequence[Handle]) -> list[str | None]:
        """Return that values are nowhere in particular."""
        return [None] * len(handles)

    def submit(
        self, function: Callable[..., Any], *args: Any, key: str, at: str | None = None
    ) -> Handle:
        """Run a function now."""
        return Value(function(*map(_resolved, args)))

    def is_done(self, handle: Handle) -> bool:
        """Return that a value is there."""
        return True

    def value(self, handle: Handle, timeout: float = math.inf) -> Any:
        """Return a value."""
        return handle.value


def _resolved(argument: Any) -> Any:
    if isinstance(argument, Value):
        return argument.value
    return [_resolved(item) for item in argument] if isinstance(argument, list) else argument
