"""The main job in one command, on data that need no file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, NamedTuple

import typer

from shortlist.cli import words
from shortlist.cli.console import guarded, print_json, print_table, say


class _Shown(NamedTuple):
    """A data set, and how losses are trained and measured on it."""

    name: str
    title: str
    k: int
    C: float
    metrics: tuple[str, ...]


_SHOWN = (
    _Shown("digits", "Handwritten digits", 3, 0.1, ("top1", "top3", "top5")),
    _Shown("circle", "The circle of the paper", 2, 1.0, ("top1", "top2")),
)


@guarded
def demo(
    losses: Annotated[
        str, typer.Option(help="With commas between them, or all of one label an example.")
    ] = "all",
    output: Annotated[
        Path, typer.Option("-o", "--output", help="A folder for the report and the models.")
    ] = Path("shortlist-demo"),
    as_json: words.Json = False,
) -> None:
    """Train losses on handwritten digits and on the paper's circle, and write a report.

    No file is needed. What is in the folder already is not trained again.
    """
    from shortlist import datasets
    from shortlist.cli.contest import Contest, fitting_losses, result_table, told
    from shortlist.cli.reporting import image_shape
    from shortlist.cli.training import Settings
    from shortlist.report.page import check_extra, write

    check_extra()
    studies = []
    for each in _SHOWN:
        train, test = datasets.load(each.name), datasets.load(each.name, "test")
        chosen = fitting_losses(train, each.k) if losses == "all" else words.split([losses])
        about = {"source": train.source, "n": train.n, "d": train.d, "m": train.m}
        contest = Contest(
            train, test, each.metrics, output / each.name, about, image_shape(None, each.name)
        )
        settings = [Settings(loss, k=each.k, C=each.C) for loss in chosen]
        studies.append(contest.run(settings, each.title))
        if not as_json:
            table = f"{each.title}: {train.n} examples to train, {test.n} to measure, k = {each.k}"
            print_table(result_table(table, studies[-1]))
    page = output / "report.html"
    say("drawing the report")
    write(page, studies, title="Every loss, to a proven optimum")
    if as_json:
        shown = {each.name: told(study.fits) for each, study in zip(_SHOWN, studies, strict=True)}
        print_json({**shown, "report": str(page)})
    else:
        print("gap: how far a model can be from the best one with this loss, relative and proven")
        print(f"the report is {page}")
