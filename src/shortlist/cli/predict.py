"""Print the labels of new examples."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from shortlist.cli import words
from shortlist.cli.console import guarded


@guarded
def predict(
    model: words.Model,
    data: words.Data,
    k: Annotated[
        int | None,
        typer.Option(
            "-k",
            min=1,
            help="The length of the list; by default the best label, or those that the "
            "threshold lets pass.",
            show_default=False,
        ),
    ] = None,
    scores: Annotated[bool, typer.Option("--scores", help="Print label:score.")] = False,
    output: Annotated[str, typer.Option("-o", "--output", help="A file, or - .")] = "-",
    file_format: words.Format = None,
    read: words.ReadOptions = None,
    as_json: words.Json = False,
) -> None:
    """Print the shortlist of each example, one line each, with tabs between labels.

    shortlist predict model.shortlist test.svm -k 5
    """
    from shortlist import models
    from shortlist.cli.data import Known, parse_options, read_alike
    from shortlist.cli.listing import lines
    from shortlist.datasets.files import create

    fitted = models.load(model)
    known = Known.of(fitted, models.describe(model)["trained_on"])
    examples = read_alike(data, file_format, parse_options(read), known, labels=False)
    target = sys.stdout.buffer if output == "-" else output
    with create(target) as stream:
        for line in lines(fitted, examples, k, scores, as_json):
            stream.write(line.encode())
    sys.stdout.flush()
