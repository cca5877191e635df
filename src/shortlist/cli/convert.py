"""Write the data of one file to another, in another format."""

from __future__ import annotations

import sys
from typing import Annotated, Any

import typer

from shortlist.cli import words
from shortlist.cli.console import guarded


@guarded
def convert(
    source: words.Data,
    target: Annotated[str, typer.Argument(help="A file, or - for the standard output.")],
    source_format: Annotated[
        str | None, typer.Option("--from", help="The format of DATA.", show_default=False)
    ] = None,
    target_format: Annotated[
        str | None, typer.Option("--to", help="The format of TARGET.", show_default=False)
    ] = None,
    read: words.ReadOptions = None,
    write: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="An option of the writer.", show_default=False),
    ] = None,
) -> None:
    """Write the data of one file to another, in another format.

    shortlist convert train.svm.xz train.parquet
    """
    from shortlist import datasets
    from shortlist.cli.data import is_file, parse_options, read_any

    read_options, write_options = parse_options(read), parse_options(write)
    aim: Any = sys.stdout.buffer if target == "-" else target
    if not is_file(source, source_format):
        examples = read_any(source, source_format, read_options)
        datasets.write(examples, aim, target_format, **write_options)
        return
    origin: Any = sys.stdin.buffer if source == "-" else source
    datasets.convert(origin, aim, source_format, target_format, read_options, write_options)
