"""The main job in one command, on data that need no file."""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli import words
from shortlist.cli.console import guarded, print_json, print_table, say

#: Data set, the k of the losses, C, and the metrics to show.
_SHOWN: list[tuple[str, int, float, list[str]]] = [
    ("digits", 3, 0.1, ["top1", "top3", "top5"]),
    ("circle", 2, 1.0, ["top1", "top2"]),
]


@guarded
def demo(
    losses: Annotated[
        str, typer.Option(help="With commas between them, or all of one label an example.")
    ] = "all",
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help="A folder that keeps the models.", show_default=False),
    ] = None,
    as_json: words.Json = False,
) -> None:
    """Train losses on handwritten digits and on the paper's circle; no file is needed."""
    from shortlist import datasets
    from shortlist.cli.contest import Contest, fitting_losses, result_table
    from shortlist.cli.training import Settings

    say("the first run compiles for this CPU; later runs take seconds")
    shown: dict[str, Any] = {}
    with _folder(output) as folder:
        for name, k, C, metrics in _SHOWN:
            train, test = datasets.load(name), datasets.load(name, "test")
            chosen = fitting_losses(train, k) if losses == "all" else words.split([losses])
            about = {"source": train.source, "n": train.n, "d": train.d, "m": train.m}
            contest = Contest(train, test, tuple(metrics), folder, about)
            results = contest.run([Settings(loss, k=k, C=C) for loss in chosen])
            shown[name] = results
            if not as_json:
                print_table(result_table(f"{name}: k = {k}", results, metrics))
    if as_json:
        print_json(shown)
    else:
        print("gap: how far a model can be from the best one with this loss, relative and proven")


@contextlib.contextmanager
def _folder(output: Path | None) -> Iterator[Path]:
    if output is not None:
        yield output
    else:
        with tempfile.TemporaryDirectory() as folder:
            yield Path(folder)
