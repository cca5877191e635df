"""Studies for a report: from folders that commands have left, and from models."""

from __future__ import annotations

import json
import math
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from shortlist import models
from shortlist.cli.contest import STUDY
from shortlist.cli.data import Known, aligned, read_alike
from shortlist.losses.labels import as_labels
from shortlist.report import measuring
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
            return _search(path / SEARCH, test, image)
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


def _search(file: Path, test: str | None, image: tuple[int, int] | None) -> Study:
    """Return the study of a search, with the models that have won."""
    told = _read(file)
    try:
        found = from_json(SearchResults, told)
        data = from_json(DataFacts, told["data"])
        others = None if told.get("test") is None else from_json(_Measured, told["test"])
    except (KeyError, TypeError, ValueError) as error:
        raise ValueError(f"{file} is no search that can be shown: {error}") from None
    facts = None if others is None else DataFacts(others.source, 0, data.d, data.m, math.nan)
    fits: list[Fit] = []
    for name, best in found.best.items():
        shown = _Model.of(file.parent / best.model)
        title = f"best for {name}"
        if test is None:
            values = {} if others is None else others.metrics.get(name, {})
            fits.append(shown.record(title, values))
        else:
            fit, facts = shown.measured(title, test, list(found.metrics), image)
            fits.append(fit)
    title = f"{data.source}: {fits[0].loss}" if fits else data.source
    return Study(title, data, facts, found.metrics, tuple(fits), found, image)


def _single(path: Path, test: str | None, image: tuple[int, int] | None) -> Study:
    """Return the study of a model, measured where there are examples to measure on."""
    shown = _Model.of(path)
    train = None
    if {"source", "n", "d", "m"} <= shown.trained_on.keys():
        train = from_json(DataFacts, shown.trained_on)
    title = path.name if train is None else f"{path.name}, trained on {train.source}"
    if test is None:
        return Study(title, train, None, (), (shown.record(None, {}),), image=image)
    fit, facts = shown.measured(None, test, None, image)
    return Study(title, train, facts, tuple(fit.metrics), (fit,), image=image)


@dataclass(frozen=True)
class _Measured:
    """What `tune` tells of the examples that it has measured on."""

    source: str
    metrics: dict[str, dict[str, float]]


class _Model(NamedTuple):
    """A model in a file, and what it remembers of its data."""

    estimator: Any
    trained_on: dict[str, Any]
    file: str

    @classmethod
    def of(cls, path: Path) -> _Model:
        return cls(models.load(path), models.describe(path)["trained_on"], path.name)

    def record(self, name: str | None, values: dict[str, float]) -> Fit:
        return fit_record(self.estimator, name=name, values=values, file=self.file)

    def measured(
        self,
        name: str | None,
        test: str,
        names: list[str] | None,
        image: tuple[int, int] | None,
    ) -> tuple[Fit, DataFacts]:
        """Return what examples show of the model, and what they are."""
        model = self.estimator
        others = read_alike(test, None, {}, Known.of(model, self.trained_on), labels=True)
        labels = as_labels(aligned(others, model), model.classes_.size)
        names = names or measuring.usual(model.classes_.size, others.multilabel)
        fit = fit_record(
            model,
            others.X,
            labels,
            name=name,
            values=measuring.measure(model, others.X, labels, names),
            file=self.file,
            feature_names=others.feature_names,
            image=image,
        )
        return fit, DataFacts(others.source, others.n, others.d, others.m, others.cardinality)
