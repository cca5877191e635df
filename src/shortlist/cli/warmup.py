"""Compile what fits need, before they need it."""

from __future__ import annotations

import time
from typing import Annotated

import typer

from shortlist.cli import words
from shortlist.cli.console import guarded, say


@guarded
def warmup(
    chosen: Annotated[
        str, typer.Option("--losses", help="With commas between them, or all.")
    ] = "all",
    sparse: Annotated[bool, typer.Option(help="For sparse examples, too.")] = True,
    single: Annotated[
        bool, typer.Option("--float32", help="For float32, too: twice the time.")
    ] = False,
) -> None:
    """Compile the losses for this CPU, so that the first fit starts at once.

    What is compiled is kept on disk until the package changes. It takes minutes.
    """
    from shortlist import losses
    from shortlist.cli.compiling import fit_small

    names = losses.names() if chosen == "all" else words.split([chosen])
    for name in names:
        losses.entry(name)  # refuses a name that is not known
    for name in names:
        started = time.perf_counter()
        for dtype in ("float64", "float32") if single else ("float64",):
            for is_sparse in (False, True) if sparse else (False,):
                fit_small(name, is_sparse, dtype)
        say(f"{name}: {time.perf_counter() - started:.1f} s")
