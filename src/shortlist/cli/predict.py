"""Print the labels of new examples."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator
from typing import Annotated, Any

import numpy as np
import scipy.sparse
import typer

from shortlist import models
from shortlist.cli import words
from shortlist.cli.console import guarded
from shortlist.cli.data import Known, parse_options, read_alike
from shortlist.datasets import Dataset
from shortlist.datasets.files import create
from shortlist.model_selection.thresholds import MatchingCut


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
    fitted = models.load(model)
    known = Known.of(fitted, models.describe(model)["trained_on"])
    examples = read_alike(data, file_format, parse_options(read), known, labels=False)
    target = sys.stdout.buffer if output == "-" else output
    with create(target) as stream:
        for part in _parts(fitted, examples, k):
            for labels, own in _lists(fitted, part.X, k):
                stream.write(_line(labels, own, scores, as_json).encode())
    sys.stdout.flush()


def _parts(model: Any, examples: Dataset, k: int | None) -> Iterable[Dataset]:
    """Return a few megabytes at a time, unless the threshold depends on all examples together."""
    together = k is None and isinstance(getattr(model, "cut_", None), MatchingCut)
    return [examples] if together else examples.parts()


def _lists(model: Any, X: Any, k: int | None) -> Iterator[tuple[list[Any], list[float]]]:
    """Yield the labels of each example and their scores, best first."""
    if k is not None or model._target_form == "single":
        labels, scores = model.predict_topk(X, k or 1)
        yield from zip(labels.tolist(), scores.tolist(), strict=True)
        return
    holds = scipy.sparse.csr_array(model.predict(X))
    sets = np.split(holds.indices, holds.indptr[1:-1])
    for names, own, chosen in zip(*model.predict_topk(X, model.classes_.size), sets, strict=True):
        kept = np.isin(names, model.classes_[chosen])
        yield names[kept].tolist(), own[kept].tolist()


def _line(labels: list[Any], own: list[float], scores: bool, as_json: bool) -> str:
    if as_json:
        return json.dumps({"labels": labels, "scores": own}) + "\n"
    if scores:
        labels = [f"{name}:{score:.6g}" for name, score in zip(labels, own, strict=True)]
    return "\t".join(map(str, labels)) + "\n"
