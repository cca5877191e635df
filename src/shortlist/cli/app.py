"""All commands under one name."""

from __future__ import annotations

from typing import Annotated

import typer

import shortlist
from shortlist.cli.compare import compare
from shortlist.cli.convert import convert
from shortlist.cli.demo import demo
from shortlist.cli.evaluate import evaluate
from shortlist.cli.info import info
from shortlist.cli.predict import predict
from shortlist.cli.report import report
from shortlist.cli.train import train
from shortlist.cli.tune import tune
from shortlist.cli.warmup import warmup

app = typer.Typer(
    name="shortlist",
    help="Top-k and multilabel classification, trained to a proven optimum.",
    epilog="Ends with 0: all is well; 1: bad input; 2: unknown words; 3: the gap was not reached.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
for command in (train, predict, evaluate, tune, compare, report, info, convert, demo, warmup):
    app.command()(command)


def _print_version(wanted: bool) -> None:
    if wanted:
        print(f"shortlist {shortlist.__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Print it.")
    ] = False,
) -> None:
    pass
