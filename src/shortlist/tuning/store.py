"""A search on disk: one file for each finished path, written whole or not at all.

``search.json`` says which search the folder belongs to; paths of another are refused.
"""

from __future__ import annotations

import json
import os
import warnings
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import IO, Any, NamedTuple

import joblib
import numpy as np

from shortlist._files import written_whole
from shortlist.solvers import CheckpointError
from shortlist.tuning.paths import Outcome, Study, Task

_FORMAT = "shortlist search 1"
#: Parameters of an estimator that do not change what is trained, or are those of a path.
_WITHOUT_EFFECT = ("C", "callbacks", "checkpoint_every", "n_jobs", "verbose", "warm_start")


class Store(NamedTuple):
    """The folder of a search."""

    folder: Path

    @classmethod
    def open(cls, folder: str | os.PathLike[str], study: Study) -> Store:
        """Return the folder of this search, made where there is none."""
        store, traits = cls(Path(folder)), _traits(study)
        store.folder.mkdir(parents=True, exist_ok=True)
        file = store.folder / "search.json"
        if not file.exists():
            _write(file, lambda stream: stream.write(json.dumps(traits, indent=1).encode()))
            return store
        try:
            known = json.loads(file.read_text())
        except ValueError as error:
            raise CheckpointError(
                f"{file} cannot be read ({error}); delete it, or choose another folder."
            ) from None
        others = [name for name, trait in traits.items() if known.get(name) != trait]
        if others:
            raise CheckpointError(
                f"{store.folder} is the checkpoint of another search: {', '.join(others)} differ; "
                "delete it, or choose another folder."
            )
        return store

    def file(self, task: Task) -> Path:
        """Return where a path is, or will be."""
        return self.folder / f"fold{task.fold}-{joblib.hash((task.params, task.Cs))[:16]}.npz"

    def load(self, task: Task) -> Outcome | None:
        """Return a finished path, or None."""
        file = self.file(task)
        if not file.exists():
            return None
        try:
            with file.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
                return Outcome(**{name: archive[name] for name in Outcome._fields})
        except (zipfile.BadZipFile, KeyError, ValueError, EOFError) as error:
            raise CheckpointError(
                f"{file} is not a whole path ({error}); delete it, and it is trained again."
            ) from None

    def save(self, task: Task, outcome: Outcome) -> None:
        """Write a finished path."""
        _write(self.file(task), lambda stream: np.savez(stream, **outcome._asdict()))


def _traits(study: Study) -> dict[str, str]:
    """Return what decides the scores of all paths, by the names of a user."""
    parameters = study.estimator.get_params()
    return {
        "format": _FORMAT,
        "X": joblib.hash(study.X),
        "y": joblib.hash((tuple(study.target.labels), study.target.classes.tolist())),
        "sample_weight": joblib.hash(study.weights),
        "folds": joblib.hash([tuple(fold) for fold in study.folds]),
        "metrics": ", ".join(study.metrics),
        "estimator": joblib.hash(
            {name: value for name, value in parameters.items() if name not in _WITHOUT_EFFECT}
        ),
    }


def _write(file: Path, write: Callable[[IO[bytes]], Any]) -> None:
    """Write a file; where that fails, warn and go on."""
    try:
        with written_whole(file) as stream:
            write(stream)
    except OSError as error:
        warnings.warn(
            f"the checkpoint {file} could not be written ({error}); the search goes on.",
            RuntimeWarning,
            stacklevel=2,
        )
