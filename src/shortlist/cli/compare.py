"""Train several losses on the same examples, and show them side by side."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated

import typer

from shortlist.cli import words
from shortlist.cli.console import guarded, print_json, print_table


@guarded
def compare(
    data: words.Data,
    output: Annotated[
        Path,
        typer.Option(
            "-o",
            "--output",
            help="A folder for models and results, continued from; or NAME.html for a report, "
            "with the folder NAME.compared beside it.",
        ),
    ],
    losses: Annotated[
        str, typer.Option(help="With commas between them, or all that fit the labels.")
    ] = "all",
    metric: words.Metrics = None,
    test: words.Test = None,
    k: words.K = 5,
    c: Annotated[str, typer.Option("-C", help="One or several, with commas.")] = "1",
    smoothing: words.Smoothing = 1.0,
    tol: words.Tol = 1e-3,
    max_epochs: words.MaxEpochs = 10_000,
    max_time: words.MaxTime = math.inf,
    threads: words.Threads = None,
    seed: words.Seed = 0,
    image: words.Image = None,
    file_format: words.Format = None,
    read: words.ReadOptions = None,
    as_json: words.Json = False,
) -> None:
    """Train several losses, and show their metrics, certificates and times in one table.

    Without --test, a known set is measured on its split "test", and of a file a fifth is held out.
    Killed at any time, the same command continues where it stopped.

    shortlist compare letter --losses all --metrics top1,top5 -o letter.html
    """
    from shortlist.cli.contest import Contest, fitting_losses, result_table, told
    from shortlist.cli.data import is_file, parse_options, read_training, train_and_test
    from shortlist.cli.reporting import image_shape
    from shortlist.cli.training import Settings
    from shortlist.report import measuring
    from shortlist.report.page import check_extra, write

    metrics = words.split(metric)
    measuring.check(metrics)
    page = output if output.suffix.lower() in (".html", ".htm") else None
    if page is not None:
        check_extra()
    examples, about = read_training(data, file_format, parse_options(read))
    train, others = train_and_test(data, file_format, examples, about, test)
    metrics = metrics or measuring.usual(train.m, train.multilabel)
    k = min(k, max(1, train.m - 1))
    chosen = fitting_losses(train, k) if losses == "all" else words.split([losses])
    common = Settings(
        "", k=k, smoothing=smoothing, tol=tol, max_epochs=max_epochs, max_time=max_time,
        n_jobs=threads, random_state=seed,
    )  # fmt: skip
    folder = output if page is None else page.with_suffix(".compared")
    shape = image_shape(image, "" if is_file(data, file_format) else data)
    contest = Contest(train, others, tuple(metrics), folder, about, shape)
    settings = [
        common._replace(loss=loss, C=_as_number(number))
        for loss in chosen
        for number in words.split([c])
    ]
    study = contest.run(settings, train.source)
    if page is not None:
        write(page, study)
    if as_json:
        print_json(
            {
                "train": train.source,
                "test": others.source,
                "folder": str(folder),
                "report": None if page is None else str(page),
                "fits": told(study.fits),
            }
        )
        return
    print_table(result_table(f"{train.source}, measured on {others.source}", study))
    if page is not None:
        print(f"the report is {page}, and the models are in {folder}")


def _as_number(text: str) -> float:
    try:
        return float(text)
    except ValueError:
        raise ValueError(f"C is {text!r}; it must be a number.") from None
