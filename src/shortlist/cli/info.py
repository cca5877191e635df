"""Say what a model or a data set is."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from shortlist.cli import words
from shortlist.cli.console import guarded, print_facts, print_json

_SHOWN = 10  # classes


@guarded
def info(
    what: Annotated[
        str, typer.Argument(metavar="MODEL|DATA", help="A model, or data as for train.")
    ],
    file_format: words.Format = None,
    read: words.ReadOptions = None,
    as_json: words.Json = False,
) -> None:
    """Say what a model or a data set is."""
    from shortlist import models
    from shortlist.cli import data

    if what != "-" and (models.is_model(what) or Path(what).suffix == ".shortlist"):
        known = models.describe(what)
        facts = known if as_json else _model_facts(known)
    else:
        facts = _data_facts(data.read_any(what, file_format, data.parse_options(read)))
        if not as_json and "classes" in facts:
            facts["classes"] = _some(facts["classes"])
    if as_json:
        print_json(facts)
    else:
        print_facts(facts)


def _some(names: list[Any]) -> str:
    shown = ", ".join(map(str, names[:_SHOWN]))
    return shown if len(names) <= _SHOWN else f"{shown}, ... ({len(names)})"


def _model_facts(known: dict[str, Any]) -> dict[str, Any]:
    parameters, on = known["parameters"], known["trained_on"]
    names = ["loss", "k", "smoothing", "C", "kernel", "tol"]
    if known["estimator"] == "MultilabelClassifier":
        names.append("threshold")
    facts = {
        "model": f"{known['estimator']}, version {known['version']}, by {known['written_by']}",
        "parameters": ", ".join(f"{name}={parameters[name]}" for name in names),
        "features": known["n_features"],
        "classes": _some(known["classes"]),
        "certificate": ", ".join(
            f"{key} {value:.6g}" for key, value in known["certificate"].items()
        ),
        "ended": f"{known['status']} after {known['epochs']} epochs",
    }
    if known["support_vectors"] is not None:
        facts["support vectors"] = known["support_vectors"]
    if on:
        facts["trained on"] = ", ".join(
            f"{key} {on[key]}" for key in ("source", "n", "d", "m") if key in on
        )
    return facts


def _data_facts(examples: Any) -> dict[str, Any]:
    facts = {
        "source": examples.source,
        "examples": examples.n,
        "features": examples.d,
        "numbers": "sparse" if examples.sparse else "dense",
    }
    if examples.sparse:
        facts["density"] = round(examples.X.nnz / max(1, examples.n * examples.d), 6)
    if examples.y is None:
        return facts | {"labels": "none"}
    import numpy as np

    counts = np.bincount(examples.label_sets()[1], minlength=examples.m)
    return facts | {
        "labels": "sets" if examples.multilabel else "one an example",
        "cardinality": examples.cardinality,
        "classes": list(examples.class_names),
        "rarest class": int(counts.min(initial=examples.n)),
        "largest class": int(counts.max(initial=0)),
    }
