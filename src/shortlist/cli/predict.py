"""Print the labels of new examples."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import scipy.sparse
import typer

from shortlist import models
from shortlist.cli import words
from shortlist.cli.console import guarded
from shortlist.cli.data import Known, parse_options, read_alike
from shortlist.datasets.files import create


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
        for part in examples.parts():
            for labels, own in _lists(fitted, part.X, k):
                stream.write(_line(labels, own, scores, as_json).encode())
    sys.stdout.flush()


def _lists(model: Any, X: Any, k: int | None) -> Iterator[tuple[list[Any], list[float]]]:
    """Yield the labels of each example and their scores, best first."""
    single = model._target_form == "single"
    m = model.classes_.size
    chosen = None if single or k is not None else scipy.sparse.csr_array(model.predict(X))
    length = m if chosen is not None else (k or 1)
    labels, scores = model.predict_topk(X, length)
    if chosen is None:
        yield from zip(labels.tolist(), scores.tolist(), strict=True)
        return
    place = {label: j for j, label in enumerate(model.classes_.tolist())}
    for i, (row, own) in enumerate(zip(labels.tolist(), scores.tolist(), strict=True)):
        holds = np.zeros(m, bool)
        holds[chosen.indices[chosen.indptr[i] : chosen.indptr[i + 1]]] = True
        kept = [j for j, label in enumerate(row) if holds[place[label]]]
        yield [row[j] for j in kept], [own[j] for j in kept]


def _line(labels: list[Any], own: list[float], scores: bool, as_json: bool) -> str:
    if as_json:
        return json.dumps({"labels": labels, "scores": own}) + "\n"
    if scores:
        return (
            "\t".join(f"{name}:{score:.6g}" for name, score in zip(labels, own, strict=True)) + "\n"
        )
    return "\t".join(map(str, labels)) + "\n"
