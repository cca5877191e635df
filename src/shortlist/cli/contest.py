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
from shortlist.cli import measuring
from shortlist.cli.console import say
from shortlist.cli.data import aligned
from shortlist.cli.training import Settings, fit
from shortlist.datasets import Dataset
from shortlist.losses.operations import traits
from shortlist.solvers.result import Status

Result = dict[str, Any]
_CHECKPOINT_EVERY = 10.0  # seconds


class Contest(NamedTuple):
    """Examples to train and to measure on, and the folder of the results."""

    train: Dataset
    test: Dataset
    metrics: tuple[str, ...]
    folder: Path
    about: dict[str, Any]

    def run(self, settings: list[Settings]) -> list[Result]:
        """Return the results of all fits; those in the folder are not trained again."""
        self.folder.mkdir(parents=True, exist_ok=True)
        digest = _digest(self.train, self.test)
        results = []
        for at, each in enumerate(settings, 1):
            name = self._name(each, digest)
            found = self._found(name)
            if found is None:
                say(f"{at} of {len(settings)}: {each.loss}, C = {each.C:g}")
                found = self._fit(name, each)
            results.append(found)
        return results

    def _name(self, settings: Settings, digest: str) -> str:
        """Return a name that differs where data, settings or metrics do."""
        text = json.dumps([digest, settings, self.metrics])
        own = hashlib.blake2b(text.encode(), digest_size=6).hexdigest()
        return f"{settings.loss}-C{settings.C:g}-{own}"

    def _found(self, name: str) -> Result | None:
        try:
            found = json.loads((self.folder / f"{name}.json").read_text())
        except (FileNotFoundError, ValueError):  # not there, or not whole
            return None
        return found if isinstance(found, dict) else None

    def _fit(self, name: str, settings: Settings) -> Result:
        checkpoint = self.folder / f"{name}.checkpoint"
        is_convex = traits(loss_of(settings)).convex  # only then a fit can be continued
        fitted = fit(
            self.train,
            settings,
            checkpoint=checkpoint if is_convex else None,
            checkpoint_every=_CHECKPOINT_EVERY,
        )
        model = fitted.model
        if model.status_ == Status.INTERRUPTED.value:
            raise KeyboardInterrupt  # the checkpoint stays
        path = self.folder / f"{name}.shortlist"
        models.save(model, path, trained_on=self.about)
        values = measuring.measure(
            model, self.test.X, aligned(self.test, model), list(self.metrics)
        )
        result = {
            "loss": settings.loss,
            "C": settings.C,
            "model": path.name,
            **fitted.facts,
            "metrics": values,
        }
        with written_whole(self.folder / f"{name}.json") as file:
            file.write(json.dumps(result).encode())
        checkpoint.unlink(missing_ok=True)
        return result


def loss_of(settings: Settings) -> Any:
    """Return the loss of settings, with the parameters that it takes."""
    return losses.make_from(settings.loss, k=settings.k, smoothing=settings.smoothing)


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


def result_table(title: str, results: list[Result], names: list[str]) -> Table:
    """Return a table of losses by metrics; the best of each metric is bold."""
    table = Table(title=title, title_justify="left")
    table.add_column("loss", no_wrap=True)
    for name in ("C", "gap", "epochs", "seconds", *names):
        table.add_column(name, justify="right", no_wrap=True)
    best = {}
    for name in names:
        sign = metrics.metric(name).sign
        best[name] = max(sign * result["metrics"][name] for result in results)
    for result in results:
        cells = [result["loss"], f"{result['C']:g}", _gap(result), str(result["epochs"])]
        cells.append(f"{result['seconds']:.2f}")
        for name in names:
            value = result["metrics"][name]
            text = f"{value:.4f}"
            is_best = metrics.metric(name).sign * value >= best[name]
            cells.append(f"[bold]{text}[/bold]" if is_best else text)
        table.add_row(*cells)
    return table


def _gap(result: Result) -> str:
    certificate = result["certificate"]
    if "gap" not in certificate:
        return "-"
    return f"{certificate['gap']:.1e}" + ("" if result["converged"] else " !")
