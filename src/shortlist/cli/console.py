"""What the command says, to whom, and how it ends.

Results go to the standard output, and what is said of them to the standard error.
"""

from __future__ import annotations

import functools
import json
import math
import sys
import warnings
from collections.abc import Callable
from typing import Any, ParamSpec

import typer
from rich.console import Console
from rich.table import Table

Parameters = ParamSpec("Parameters")

#: How the command ends, apart from 0: all is well; 2 is typer's, for words it does not know.
BAD_INPUT, NOT_CONVERGED, INTERRUPTED = 1, 3, 130


def guarded(command: Callable[Parameters, None]) -> Callable[Parameters, None]:
    """Return a command whose errors and warnings are one sentence each, without a traceback."""

    @functools.wraps(command)
    def run(*args: Parameters.args, **kwargs: Parameters.kwargs) -> None:
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            try:
                command(*args, **kwargs)
            except BrokenPipeError:
                raise  # typer ends quietly
            except (ValueError, TypeError, OSError, ImportError, MemoryError) as error:
                say(f"error: {_sentence(error)}")
                raise typer.Exit(BAD_INPUT) from None
            except KeyboardInterrupt:
                say("interrupted")
                raise typer.Exit(INTERRUPTED) from None

    return run


def _sentence(error: BaseException) -> str:
    if isinstance(error, OSError) and error.filename is not None:
        return f"{error.filename}: {error.strerror}."
    return " ".join(str(error).split()) or type(error).__name__


def _show_warning(message: Warning | str, *context: Any) -> None:
    say(f"warning: {' '.join(str(message).split())}")


def say(text: str) -> None:
    """Tell a person something that is no result."""
    print(text, file=sys.stderr, flush=True)


def watched() -> int:
    """Return the `verbose` of an estimator: a bar where a person can see it."""
    return int(sys.stderr.isatty())


def print_json(values: Any) -> None:
    """Print one line of strict JSON."""
    print(as_json(values))


def as_json(values: Any) -> str:
    """Return one line of strict JSON, in which what is no finite number is null."""
    return json.dumps(_strict(values), allow_nan=False)


def _strict(values: Any) -> Any:
    if isinstance(values, dict):
        return {key: _strict(value) for key, value in values.items()}
    if isinstance(values, list | tuple):
        return [_strict(value) for value in values]
    return None if isinstance(values, float) and not math.isfinite(values) else values


def print_table(table: Table) -> None:
    """Print a table, as wide as it needs where nobody's screen limits it."""
    console = Console()
    if not console.is_terminal:
        console = Console(width=max(240, console.width))
    console.print(table)


def print_facts(facts: dict[str, Any]) -> None:
    """Print names and values, one pair a line."""
    width = max(map(len, facts), default=0)
    for name, value in facts.items():
        print(f"{name:{width}}  {value}")


def gap_text(facts: dict[str, Any]) -> str:
    """Return the gap of a fit for a table, with a mark if it is not the one that was asked for."""
    certificate = facts["certificate"]
    if "gap" not in certificate:
        return "-"
    return f"{certificate['gap']:.1e}" + ("" if facts["converged"] else " !")
