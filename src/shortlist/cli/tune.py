"""Find the best settings for every metric, by cross-validation."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli import grid, words
from shortlist.cli.console import NOT_CONVERGED, guarded, print_json, print_table


@guarded
def tune(
    data: words.Data,
    output: Annotated[
        Path,
        typer.Option("-o", "--output", help="A folder for models and results; continued from."),
    ],
    loss: words.Loss = None,
    metric: words.Metrics = None,
    cs: Annotated[
        str | None,
        typer.Option(
            "-C",
            "--cs",
            help="Values of C: 0.1,1,10 or a range of powers. 2^-20:2^15 by default.",
            show_default=False,
        ),
    ] = None,
    ks: Annotated[
        str | None,
        typer.Option(
            "-k",
            "--ks",
            help="Values of k, if the loss has one; those of 1,2,3,5,10 that fit by default.",
            show_default=False,
        ),
    ] = None,
    gammas: Annotated[
        str | None,
        typer.Option(
            help="Values of gamma for rbf and poly: scale, auto, numbers or 2^-15:2^3.",
            show_default=False,
        ),
    ] = None,
    folds: Annotated[
        int | None,
        typer.Option(min=2, help="5, or 10 for label sets, by default.", show_default=False),
    ] = None,
    extend: Annotated[
        bool, typer.Option(help="Go on beyond an end of the values of C where that is best.")
    ] = True,
    test: words.Test = None,
    smoothing: words.Smoothing = 1.0,
    kernel: words.Kernel = "linear",
    degree: words.Degree = 3.0,
    coef0: words.Coef0 = 0.0,
    intercept: words.Intercept = True,
    balanced: words.Balanced = False,
    tol: words.Tol = 1e-3,
    max_epochs: words.MaxEpochs = 10_000,
    max_time: words.MaxTime = math.inf,
    jobs: Annotated[
        int | None,
        typer.Option(help="Paths that are trained at the same time.", show_default=False),
    ] = None,
    threads: words.Threads = None,
    seed: words.Seed = 0,
    file_format: words.Format = None,
    read: words.ReadOptions = None,
    as_json: words.Json = False,
) -> None:
    """Find the best C, k, gamma and threshold for each metric, and train the models that won.

    They are tried on folds of DATA, and measured on --test, or on the split "test" of a known set.
    Killed at any time, the same command continues where it stopped.

    shortlist tune letter --loss topk_entropy -k 1,3,5 --metrics top1,top5 -o letter.tuned
    """
    from shortlist.cli.compiling import announced
    from shortlist.cli.data import parse_options, read_others, read_training
    from shortlist.cli.searching import Hunt, winner_table
    from shortlist.cli.training import Settings
    from shortlist.report import measuring

    metrics = words.split(metric)
    measuring.check(metrics)
    options: dict[str, Any] = {
        "Cs": grid.values(cs, "--cs"),
        "ks": grid.whole_values(ks, "--ks"),
        "gammas": grid.values(gammas, "--gammas", also=("scale", "auto")),
        "metrics": metrics or None,
        "cv": folds,
        "extend": extend,
        "n_jobs": jobs,
    }
    examples, about = read_training(data, file_format, parse_options(read))
    if examples.multilabel and options.pop("ks") is not None:
        raise ValueError(f"--ks is for one label an example, and {data} has label sets: leave it.")
    others = read_others(data, file_format, examples, about, test)
    settings = Settings(
        loss=loss or ("ova_logistic" if examples.multilabel else "softmax"),
        smoothing=smoothing, kernel=kernel, degree=degree, coef0=coef0, fit_intercept=intercept,
        class_weight="balanced" if balanced else None, tol=tol, max_epochs=max_epochs,
        max_time=max_time, n_jobs=threads, random_state=seed,
    )  # fmt: skip
    with announced(examples, settings):
        told = Hunt(examples, about, settings, output).run(others, **options)
    if as_json:
        del told["cv_results"]
        print_json({"folder": str(output), **told})
    else:
        print_table(winner_table(told, output))
    if not all(winner["converged"] for winner in told["best"].values()):
        raise typer.Exit(NOT_CONVERGED)
