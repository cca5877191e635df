"""A search for the best settings, with all that it finds in a folder.

==================  ==============================================================================
``paths/``          the finished paths of the search, and checkpoints: a killed one goes on there
``top1.shortlist``  the best model for the metric top1, trained on all examples; and so on
``search.json``     what was tried, what is best, and how good it is; written last
==================  ==============================================================================
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

from rich.table import Table

from shortlist import models
from shortlist._files import written_whole
from shortlist.cli.console import as_json, gap_text, say
from shortlist.cli.data import aligned, labels_of
from shortlist.cli.training import Fit, Settings, estimator, fit_or_continue
from shortlist.datasets import Dataset
from shortlist.models import ModelError
from shortlist.report import measuring
from shortlist.tuning import MultilabelClassifierCV, TopKClassifierCV
from shortlist.tuning.search import with_threshold

Params = dict[str, Any]


class Hunt(NamedTuple):
    """Examples, the settings that all models share, and the folder of what is found."""

    data: Dataset
    about: dict[str, Any]
    settings: Settings
    folder: Path

    def run(self, others: Dataset | None, **options: Any) -> dict[str, Any]:
        """Return what `search.json` holds; `options` are those of the library's searches.

        Where there are other examples, the winners are measured on them.
        """
        self.folder.mkdir(parents=True, exist_ok=True)
        search = self._search(options)
        winners = self._winners(search.best_params_)
        results = _plain(search.cv_results_)
        told = {
            "kind": "search",
            "estimator": search._tuned.__name__,
            "loss": self.settings.loss,
            "data": {key: self.about[key] for key in ("source", "n", "d", "m")},
            "metrics": list(winners),
            "folds": search.n_splits_,
            "cv_results": results,
            "best": {
                name: {
                    "params": search.best_params_[name],
                    "score": search.best_score_[name],
                    "spread": results[f"std_test_{name}"][search.best_index_[name]],
                    "model": self._file(name).name,
                    **_facts(model),
                }
                for name, model in winners.items()
            },
            "seconds": round(search.n_splits_ * sum(results["mean_fit_time"]), 3),
        }
        if others is not None:
            told["test"] = {
                "source": others.source,
                "metrics": {
                    name: measuring.measure(model, others.X, aligned(others, model), list(winners))
                    for name, model in winners.items()
                },
            }
        with written_whole(self.folder / "search.json") as file:
            file.write(as_json(told).encode())
        return told

    def _search(self, options: dict[str, Any]) -> Any:
        """Return the search, all paths finished; those in the folder are not trained again."""
        kind: Any = MultilabelClassifierCV if self.data.multilabel else TopKClassifierCV
        search = kind(
            estimator(self.settings, self.data.multilabel),
            checkpoint=self.folder / "paths",
            refit=False,
            verbose=1,
            **options,
        )
        return search.fit(self.data.X, labels_of(self.data)[0])

    def _winners(self, best: dict[str, Params]) -> dict[str, Any]:
        """Return the best model for each metric, from the folder where it is there.

        Settings that differ in nothing but the threshold are trained once.
        """
        winners: dict[str, Any] = {}
        trained: dict[str, Any] = {}
        for name, params in best.items():
            about = {**self.about, "tuned_for": name, "params": params}
            setting = {key: value for key, value in params.items() if key != "threshold"}
            title = ", ".join(f"{key} = {value}" for key, value in setting.items())
            model = self._found(name, about)
            if model is None:
                if title not in trained:
                    say(f"the best for {name}: {title}")
                    trained[title] = self._fit(setting)
                model = with_threshold(trained[title], params.get("threshold"))
                models.save(model, self._file(name), trained_on=about)
            trained.setdefault(title, model)
            winners[name] = model
        for checkpoint in (self.folder / "paths").glob("*.checkpoint"):
            checkpoint.unlink()
        return winners

    def _file(self, name: str) -> Path:
        return self.folder / f"{name}.shortlist"

    def _found(self, name: str, about: dict[str, Any]) -> Any:
        """Return the best model for a metric if its file is there, else None.

        The paths in the folder are those of this search, or they were refused; so what is left
        to compare are the parameters that have won, and the names in the data.
        """
        file = self._file(name)
        try:
            model, known = models.load(file), models.describe(file)["trained_on"]
        except (FileNotFoundError, ModelError):  # not there, or not whole
            return None
        same = known == about and model.classes_.tolist() == labels_of(self.data)[1].tolist()
        return model if same else None

    def _fit(self, setting: Params) -> Any:
        settings = self.settings._replace(**setting)
        name = "-".join(f"{key}{value}" for key, value in setting.items())
        checkpoint = self.folder / "paths" / f"{name}.checkpoint"
        return fit_or_continue(self.data, settings, checkpoint).model


def _facts(model: Any) -> dict[str, Any]:
    """Return how a model was trained, in all runs of the command together."""
    return Fit(model, float(model.history_.seconds[-1]) if model.history_ else 0.0).facts


def _plain(results: dict[str, Any]) -> dict[str, list[Any]]:
    """Return the columns of a search's results as lists."""
    return {
        name: column if isinstance(column, list) else column.tolist()
        for name, column in results.items()
    }


def winner_table(told: dict[str, Any], folder: Path) -> Table:
    """Return a table with the best parameters for each metric, and how good they are."""
    best, test = told["best"], told.get("test")
    title = f"{told['data']['source']}: {told['loss']}, models in {folder}"
    table = Table(title=title, title_justify="left")
    tuned = list(dict.fromkeys(name for winner in best.values() for name in winner["params"]))
    table.add_column("metric", no_wrap=True)
    for name in (*tuned, f"{told['folds']} folds", *(["test"] if test else []), "gap"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("model", no_wrap=True)
    for name, winner in best.items():
        cells = [_cell(winner["params"].get(each)) for each in tuned]
        cells.append(f"{winner['score']:.4f} ± {winner['spread']:.4f}")
        if test:
            cells.append(f"{test['metrics'][name][name]:.4f}")
        table.add_row(name, *cells, gap_text(winner), winner["model"])
    return table


def _cell(value: Any) -> str:
    if value is None:
        return "-"
    return f"{value:g}" if isinstance(value, float) else str(value)
