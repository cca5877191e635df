"""Many fits on the same examples, each finished once, with its results in a folder."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from rich.table import Table

from shortlist import losses, metrics, models
from shortlist._files import written_whole
from shortlist.cli.compiling import compile_ahead
from shortlist.cli.console import gap_text, say
from shortlist.cli.data import aligned
from shortlist.cli.training import Settings, fit_or_continue, loss_of
from shortlist.datasets import Dataset
from shortlist.losses.labels import as_labels
from shortlist.losses.operations import traits
from shortlist.report import measuring
from shortlist.report.records import DataFacts, Fit, Study, from_json, to_json
from shortlist.report.studies import fit_record

#: The file of a comparison in its folder: all that a report shows of it.
STUDY = "study.json"
#: What a machine is told of a fit.
_TOLD = (
    "loss", "C", "model", "certificate", "converged", "status", "epochs", "seconds", "metrics",
)  # fmt: skip
#: Results of another version are not those that are looked for.
_VERSION = 2


class Contest(NamedTuple):
    """Examples to train and to measure on, and the folder of the results.

    `image` is the height and width of examples that are images.
    """

    train: Dataset
    test: Dataset
    metrics: tuple[str, ...]
    folder: Path
    about: dict[str, Any]
    image: tuple[int, int] | None = None

    def run(self, settings: list[Settings], title: str) -> Study:
        """Return the results of all fits; those in the folder are not trained again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        digest = _digest(self.train, self.test)
        names = [self._name(each, digest) for each in settings]
        found = [self._found(name) for name in names]
        compile_ahead(
            self.train, [each for each, fit in zip(settings, found, strict=True) if fit is None]
        )
        fits = []
        for at, (name, each) in enumerate(zip(names, settings, strict=True)):
            known = found[at]
            if known is None:
                say(f"{at + 1} of {len(settings)}: {each.loss}, C = {each.C:g}")
                known = self._fit(name, each)
            fits.append(known)
        study = Study(
            title,
            _facts(self.train),
            _facts(self.test),
            self.metrics,
            tuple(fits),
            image=self.image,
        )
        self._write(STUDY, study)
        return study

    def _write(self, name: str, record: Any) -> None:
        with written_whole(self.folder / name) as file:
            file.write(json.dumps(to_json(record), allow_nan=False).encode())

    def _name(self, settings: Settings, digest: str) -> str:
        """Return a name that differs where data, settings or metrics do."""
        text = json.dumps([_VERSION, digest, settings, self.metrics, self.image])
        own = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        return f"{settings.loss}-C{settings.C:g}-{own}"

    def _found(self, name: str) -> Fit | None:
        try:
            return from_json(Fit, json.loads((self.folder / f"{name}.json").read_text()))
        except (FileNotFoundError, ValueError):  # not there, or not whole
            return None

    def _fit(self, name: str, settings: Settings) -> Fit:
        checkpoint = self.folder / f"{name}.checkpoint"
        fitted = fit_or_continue(self.train, settings, checkpoint)
        model = fitted.model
        path = self.folder / f"{name}.shortlist"
        models.save(model, path, trained_on=self.about)
        labels = as_labels(aligned(self.test, model), model.classes_.size)
        record = fit_record(
            model,
            self.test.X,
            labels,
            values=measuring.measure(model, self.test.X, labels, list(self.metrics)),
            seconds=fitted.seconds,
            file=path.name,
            feature_names=self.test.feature_names,
            image=self.image,
        )
        self._write(f"{name}.json", record)
        checkpoint.unlink(missing_ok=True)
        return record


def _facts(data: Dataset) -> DataFacts:
    return DataFacts(data.source, data.n, data.d, data.m, data.cardinality)


def told(fits: tuple[Fit, ...]) -> list[dict[str, Any]]:
    """Return what a machine is told of fits."""
    return [{name: getattr(fit, name) for name in _TOLD} for fit in fits]


def fitting_losses(data: Dataset, k: int) -> list[str]:
    """Return the names of the losses that fit the labels of a data set."""
    names = []
    for name in losses.names():
        known = traits(loss_of(Settings(name, k=k)))
        fits = known.multilabel if data.multilabel else not name.startswith("multilabel")
        if fits and data.m >= known.smallest_m:
            names.append(name)
    return names


def _digest(*parts: Dataset) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for data in parts:
        X = data.X
        arrays = [X.data, X.indices, X.indptr] if data.sparse else [X]
        for array in (*arrays, *data.label_sets()):
            digest.update(repr((array.shape, array.dtype.str)).encode())
            digest.update(np.ascontiguousarray(array).data)
        digest.update(repr(data.class_names).encode())
    return digest.hexdigest()


def result_table(title: str, study: Study) -> Table:
    """Return a table of losses by metrics; the best of each metric is bold."""
    table = Table(title=title, title_justify="left")
    table.add_column("loss", no_wrap=True)
    for name in ("C", "gap", "epochs", "seconds", *study.metrics):
        table.add_column(name, justify="right", no_wrap=True)
    best = {}
    for name in study.metrics:
        sign = metrics.metric(name).sign
        best[name] = max(sign * each.metrics[name] for each in study.fits)
    for each in study.fits:
        cells = [each.loss, f"{each.C:g}", gap_text(vars(each)), str(each.epochs)]
        cells.append(f"{each.seconds:.2f}")
        for name in study.metrics:
            value = each.metrics[name]
            text = f"{value:.4f}"
            is_best = metrics.metric(name).sign * value >= best[name]
            cells.append(f"[bold]{text}[/bold]" if is_best else text)
        table.add_row(*cells)
    return table
