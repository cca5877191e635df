"""Write a report of what other commands have left."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import words
from shortlist.cli.console import guarded, print_json


@guarded
def report(
    what: Annotated[
        list[Path],
        typer.Argument(
            metavar="FOLDER|MODEL...",
            help="Folders of compare and tune, and models.",
            show_default=False,
        ),
    ],
    output: Annotated[Path, typer.Option("-o", "--output", help="The HTML file.")],
    title: Annotated[str, typer.Option(help="The heading.", show_default=False)] = "",
    test: words.Test = None,
    image: words.Image = None,
    as_json: words.Json = False,
) -> None:
    """Write one HTML file with tables, curves and certificates; it needs no network.

    shortlist report letter.compared letter.tuned -o letter.html
    """
    from shortlist.cli.reporting import image_shape, study_of
    from shortlist.report import write

    shape = image_shape(image, "" if test is None else test)
    studies = [study_of(path, test, shape) for path in what]
    write(output, studies, title=title)
    if as_json:
        print_json({"report": str(output), "studies": [study.title for study in studies]})
    else:
        print(f"the report is {output}")
