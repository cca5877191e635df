"""A run on disk: written whole or not at all, and continued to the same bits.

The file is an uncompressed NumPy archive. It carries hashes of the data, the labels and the
weights, and the loss and options that decide the iterates; limits and tolerance may change
between runs. It is written next to its name and then renamed over it, so that
whoever is killed while writing leaves the last whole file.
"""

from __future__ import annotations

import hashlib
import json
import warnings
import zipfile
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from shortlist._arrays import FloatArray
from shortlist._files import written_whole
from shortlist.rows import operations
from shortlist.solvers.method import Method, Numbers
from shortlist.solvers.options import Options
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate, Evaluation, History

_FORMAT = "shortlist checkpoint 2"


class CheckpointError(ValueError):
    """A file that is not a checkpoint of this run.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shortlist import solve
    >>> from shortlist.solvers import CheckpointError
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "run.npz")
    ...     _ = path.write_text("something else")
    ...     try:
    ...         solve([[1.0], [2.0]], [0, 1], checkpoint=path)
    ...     except CheckpointError as error:
    ...         print(str(error).endswith("delete it, or choose another file."))
    True
    """


#: What decides the iterates of a run, in words.
Traits: TypeAlias = dict[str, str]


def traits_of(problem: Problem, duals: FloatArray, options: Options) -> Traits:
    """Return what decides the iterates, before the first of them."""
    anchor = () if problem.anchor is None else (problem.anchor,)
    return {
        "X": _hash(*operations.contents(problem.rows)),
        "the memory order of X": str(operations.consecutive(problem.rows)),
        "y": _hash(problem.labels.offsets, problem.labels.indices, np.array([problem.m])),
        "loss": repr(problem.loss),
        "C or sample_weight": _hash(problem.c),
        "anchor": _hash(*anchor),
        "duals": _hash(duals),
        "solver": options.solver,
        "random_state": str(options.seed),
        "block_size": str(options.block_size),
        "n_threads": str(options.n_threads),
    }


def _hash(*arrays: np.ndarray[Any, Any]) -> str:
    digest = hashlib.blake2b(digest_size=16)
    for array in arrays:
        digest.update(repr((array.shape, array.dtype.str)).encode())
        step = max(1, (1 << 24) // max(1, array[:1].nbytes))
        for first in range(0, len(array), step):
            digest.update(np.ascontiguousarray(array[first : first + step]).data)
    return digest.hexdigest()


def save(
    path: Path,
    traits: Traits,
    method: Method,
    history: History,
    note: str,
    seconds: tuple[float, float],
) -> None:
    """Write the state of a run; where that fails, warn and go on."""
    numbers, arrays = method.state()
    state = {
        "format": _FORMAT,
        "traits": traits,
        "method": method.name,
        "numbers": numbers,
        "seconds": seconds,
        "note": note,
        "history": [
            [
                *(line.epoch, *line.certificate, line.seconds_solving, line.seconds_evaluating),
                *(line.method, line.note),
            ]
            for line in history
        ],
        "metrics": [
            {name: values.tolist() for name, values in line.metrics.items()} for line in history
        ],
    }
    try:
        with written_whole(path) as file:
            np.savez(file, state=np.array(json.dumps(state)), **arrays)  # type: ignore[arg-type]
    except OSError as error:
        warnings.warn(
            f"the checkpoint {path} could not be written ({error}); training goes on.",
            RuntimeWarning,
            stacklevel=2,
        )


class Saved(NamedTuple):
    """What a checkpoint holds."""

    method: str
    numbers: Numbers
    arrays: dict[str, np.ndarray[Any, Any]]
    history: History
    note: str  # for its next line
    seconds: tuple[float, float]


def load(path: Path, traits: Traits) -> Saved:
    """Return what the file holds, if it is a whole checkpoint of a run with these traits."""
    try:
        with path.open("rb") as file, np.load(file, allow_pickle=False) as archive:
            arrays = {name: archive[name] for name in archive.files}
        state = json.loads(str(arrays.pop("state")))
    except (zipfile.BadZipFile, AttributeError, KeyError, TypeError, ValueError, EOFError) as error:
        raise CheckpointError(
            f"{path} is not a whole checkpoint ({error}); delete it, or choose another file."
        ) from None
    if not isinstance(state, dict) or state.get("format") != _FORMAT:
        raise CheckpointError(f"{path} is not a checkpoint of this version; choose another file.")
    others = [name for name, trait in traits.items() if state["traits"].get(name) != trait]
    if others:
        raise CheckpointError(
            f"{path} is the checkpoint of another run: {', '.join(others)} differ; "
            "delete it, or choose another file."
        )
    history = History()
    for line, metrics in zip(state["history"], state["metrics"], strict=True):
        epoch, primal, dual, solving, evaluating, method, note = line
        shares = {name: np.array(values) for name, values in metrics.items()}
        certificate = Certificate(primal, dual)
        history.append(Evaluation(epoch, certificate, solving, evaluating, shares, method, note))
    seconds = state["seconds"][0], state["seconds"][1]
    return Saved(state["method"], state["numbers"], arrays, history, state["note"], seconds)
