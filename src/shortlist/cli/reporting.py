"""Studies for a report: from folders that commands have left, and from models."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

from shortlist import models
from shortlist.cli import measuring
from shortlist.cli.contest import STUDY
from shortlist.cli.data import Known, aligned, read_alike
from shortlist.losses.labels import as_labels
from shortlist.report.records import DataFacts, Fit, SearchResults, Study, from_json
from shortlist.report.studies import fit_record

SEARCH = "search.json"
#: Known sets whose examples are images, with their height and width.
_IMAGES = {"digits": (8, 8)}


def image_shape(text: str | None, data: str) -> tuple[int, int] | None:
    """Return height and width of images as a user writes them, or as a known set has them."""
    if text is None:
        return _IMAGES.get(data.split(":")[0])
    found = re.fullmatch(r"(\d+)x(\d+)", text)
    if found is None:
        raise ValueError(f"--image is {text!r}; write HEIGHTxWIDTH, such as 28x28.")
    return int(found[1]), int(found[2])


def study_of(path: Path, test: str | None, image: tuple[int, int] | None) -> Study:
    """Return the study of a folder of `compare` or `tune`, or of a model."""
    if path.is_dir():
        if (path / STUDY).exists():
            return _comparison(path / STUDY)
        if (path / SEARCH).exists():
            return _search(path / SEARCH)
        raise ValueError(
            f"{path} has neither {STUDY} nor {SEARCH}: name a folder that compare or tune has "
            "finished, or a model."
        )
    return _single(path, test, image)


def _read(file: Path) -> Any:
    try:
        return json.loads(file.read_text())
    except ValueError as error:
        raise ValueError(f"{file} cannot be read ({error}).") from None


def _comparison(file: Path) -> Study:
    try:
        return from_json(Study, _read(file))
    except ValueError as error:
        raise ValueError(f"{file} is no comparison that can be shown: {error}") from None


def _search(file: Path) -> Study:
    """Return the study of a search, with the models that have won, one for each setting."""
    told = _read(file)
    try:
        found = from_json(SearchResults, told)
        data = from_json(DataFacts, told["data"])
        test = told.get("test")
        measured: dict[str, dict[str, float]] = {} if test is None else test["metrics"]
        source = None if test is None else str(test["source"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is no search that can be shown: {error}") from None
    fits: list[Fit] = []
    for name, best in found.best.items():
        model = models.load(file.parent / best.model)
        values = measured.get(name, {})
        fits.append(fit_record(model, name=f"best for {name}", values=values, file=best.model))
    facts = None if source is None else DataFacts(source, 0, data.d, data.m, math.nan)
    title = f"{data.source}: {fits[0].loss}" if fits else data.source
    return Study(title, data, facts, found.metrics, tuple(fits), found)


def _single(path: Path, test: str | None, image: tuple[int, int] | None) -> Study:
    """Return the study of a model, measured where there are examples to measure on."""
    model, known = models.load(path), models.describe(path)["trained_on"]
    m = int(model.classes_.size)
    train = None
    if {"source", "n", "d", "m"} <= known.keys():
        train = from_json(DataFacts, known)
    title = f"{path.name}" if train is None else f"{path.name}, trained on {train.source}"
    if test is None:
        record = fit_record(model, file=path.name)
        return Study(title, train, None, (), (record,), image=image)
    others = read_alike(test, None, {}, Known.of(model, known), labels=True)
    names = measuring.usual(m, others.multilabel)
    labels = as_labels(aligned(others, model), m)
    record = fit_record(
        model,
        others.X,
        labels,
        values=measuring.measure(model, others.X, labels, names),
        file=path.name,
        feature_names=others.feature_names,
        image=image,
    )
    facts = DataFacts(others.source, others.n, others.d, others.m, others.cardinality)
    return Study(title, train, facts, tuple(names), (record,), image=image)
