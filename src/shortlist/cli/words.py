"""The arguments and options that several commands share."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

Data: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A file in any format of shortlist.datasets; NAME or NAME:SPLIT of a known set "
        "(digits, letter:test); or - for the standard input.",
        show_default=False,
    ),
]
Model: TypeAlias = Annotated[
    Path, typer.Argument(metavar="MODEL", help="A file that train has written.")
]
Format: TypeAlias = Annotated[
    str | None,
    typer.Option("--format", help="The format of DATA, where its suffix does not tell."),
]
ReadOptions: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--read",
        metavar="NAME=VALUE",
        help="An option of the format's reader, such as labels=class or zero_based=true.",
        show_default=False,
    ),
]
Json: TypeAlias = Annotated[bool, typer.Option("--json", help="Print JSON, for machines.")]
Metrics: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--metric",
        "--metrics",
        help="Metrics with commas between them: top1,top5,map,f1_micro,...",
        show_default=False,
    ),
]
Loss: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="A loss by name; softmax, or ova_logistic for label sets, by default.",
        show_default=False,
    ),
]
C: TypeAlias = Annotated[float, typer.Option("-C", help="The weight of the losses.")]
K: TypeAlias = Annotated[int, typer.Option("-k", min=1, help="The length of the list.")]
Smoothing: TypeAlias = Annotated[
    float, typer.Option(min=0.0, help="How much the kinks of a hinge are rounded.")
]
Kernel: TypeAlias = Annotated[str, typer.Option(help="linear, rbf or poly.")]
Degree: TypeAlias = Annotated[float, typer.Option(help="Of the kernel poly.")]
Coef0: TypeAlias = Annotated[float, typer.Option(help="Of the kernel poly.")]
Intercept: TypeAlias = Annotated[bool, typer.Option(help="One for each class.")]
Balanced: TypeAlias = Annotated[bool, typer.Option(help="Give all classes the same weight.")]
Tol: TypeAlias = Annotated[float, typer.Option(help="The relative duality gap to reach.")]
MaxEpochs: TypeAlias = Annotated[int, typer.Option(min=1, help="The most passes over the data.")]
MaxTime: TypeAlias = Annotated[float, typer.Option(help="The most seconds of one fit.")]
Threads: TypeAlias = Annotated[
    int | None, typer.Option(help="Threads; all cores by default.", show_default=False)
]
Seed: TypeAlias = Annotated[int, typer.Option(min=0, help="Decides the order of the examples.")]
Test: TypeAlias = Annotated[
    str | None,
    typer.Option(metavar="DATA", help="Other examples, to measure on.", show_default=False),
]
Image: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="HEIGHTxWIDTH",
        help="Draw examples as images of this size; those of digits are known.",
        show_default=False,
    ),
]


def split(words: list[str] | None) -> list[str]:
    """Return what stands between the commas of options that may be repeated."""
    parts = [part.strip() for word in words or [] for part in word.split(",")]
    return [part for part in parts if part]
