"""Train a model and write it to a file."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli import words
from shortlist.cli.console import NOT_CONVERGED, guarded, print_facts, print_json


@guarded
def train(
    data: words.Data,
    output: Annotated[Path, typer.Option("-o", "--output", help="The model's file.")],
    loss: words.Loss = None,
    k: words.K = 5,
    c: words.C = 1.0,
    smoothing: words.Smoothing = 1.0,
    kernel: words.Kernel = "linear",
    gamma: Annotated[str, typer.Option(help="Of the kernel: scale, auto or a number.")] = "scale",
    degree: words.Degree = 3.0,
    coef0: words.Coef0 = 0.0,
    intercept: words.Intercept = True,
    balanced: words.Balanced = False,
    threshold: Annotated[
        str,
        typer.Option(help="Of label sets: a number, cardinality, or a metric to tune it for."),
    ] = "0",
    metric: words.Metrics = None,
    test: words.Test = None,
    tol: words.Tol = 1e-3,
    max_epochs: words.MaxEpochs = 10_000,
    max_time: words.MaxTime = math.inf,
    threads: words.Threads = None,
    seed: words.Seed = 0,
    resume: Annotated[
        bool,
        typer.Option("--resume", help="Keep a checkpoint beside the model, and continue from it."),
    ] = False,
    checkpoint_every: Annotated[float, typer.Option(help="Seconds between two of them.")] = 60.0,
    file_format: words.Format = None,
    read: words.ReadOptions = None,
    as_json: words.Json = False,
) -> None:
    """Train a model to a proven optimum, and write it to a file.

    Without --test, the metrics that are asked for are those on the split "test" of a known set, and
    of a file those on the examples it was trained on.

    shortlist train train.svm --loss topk_entropy -k 5 --metric top5 -o model.shortlist
    """
    from shortlist import models
    from shortlist.cli.compiling import announced
    from shortlist.cli.data import parse_options, read_others, read_training
    from shortlist.cli.training import Settings, fit
    from shortlist.report import measuring

    names = words.split(metric)
    measuring.check(names)
    if not output.parent.is_dir():
        raise ValueError(f"there is no folder {output.parent}; make it, or choose another.")
    examples, about = read_training(data, file_format, parse_options(read))
    others = None
    if test is not None or names:
        others = read_others(data, file_format, examples, about, test)
    settings = Settings(
        loss=loss or ("ova_logistic" if examples.multilabel else "softmax"),
        k=k, smoothing=smoothing, C=c, kernel=kernel, gamma=_number_or_word(gamma), degree=degree,
        coef0=coef0, fit_intercept=intercept, class_weight="balanced" if balanced else None,
        tol=tol, max_epochs=max_epochs, max_time=max_time, n_jobs=threads, random_state=seed,
    )  # fmt: skip
    checkpoint = output.with_name(f"{output.name}.checkpoint") if resume else None
    with announced(examples, settings):
        fitted = fit(
            examples,
            settings,
            threshold=_number_or_word(threshold),
            checkpoint=checkpoint,
            checkpoint_every=checkpoint_every,
        )
    model = fitted.model
    models.save(model, output, trained_on=about)
    if checkpoint is not None and model.converged_:
        checkpoint.unlink(missing_ok=True)
    measured_on, values = _measure(model, examples, others, names)
    facts = {
        "model": str(output),
        "trained_on": {key: about[key] for key in ("source", "n", "d", "m")},
        "loss": settings.loss,
        **fitted.facts,
        "measured_on": measured_on,
        "metrics": values,
    }
    if as_json:
        print_json(facts)
    else:
        print_facts(_for_people(facts))
    if not model.converged_:
        raise typer.Exit(NOT_CONVERGED)


def _number_or_word(text: str) -> Any:
    try:
        return float(text)
    except ValueError:
        return text


def _measure(
    model: Any, examples: Any, others: Any, names: list[str]
) -> tuple[str | None, dict[str, float]]:
    """Return where the metrics were measured, and what they are."""
    from shortlist.cli.data import aligned
    from shortlist.report import measuring

    if others is not None:
        names = names or measuring.usual(model.classes_.size, examples.multilabel)
        return others.source, measuring.measure(model, others.X, aligned(others, model), names)
    if not names:
        return None, {}
    values = measuring.measure(model, examples.X, aligned(examples, model), names)
    return "the examples it was trained on", values


def _for_people(facts: dict[str, Any]) -> dict[str, Any]:
    on, certificate = facts["trained_on"], facts["certificate"]
    lines = {
        "model": facts["model"],
        "trained on": f"{on['source']}: {on['n']} examples, {on['d']} features, {on['m']} classes",
        "loss": facts["loss"],
        "certificate": ", ".join(f"{name} {value:.6g}" for name, value in certificate.items()),
        "ended": f"{facts['status']} after {facts['epochs']} epochs, {facts['seconds']:.2f} s",
    }
    if facts["metrics"]:
        lines["measured on"] = facts["measured_on"]
    return lines | {name: f"{value:.4f}" for name, value in facts["metrics"].items()}
