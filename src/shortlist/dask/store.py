"""A run in a folder of any file system: duals by partition, and what the client knows.

Machines write the duals that they hold, one file for each partition; the client then writes
`run.npz`, which names the round that the files belong to. A file appears when it is whole, and
older rounds are removed when a newer one is complete, so that whoever is killed, and whenever,
leaves a run that can be continued. Duals that cannot be read are set to zero, which is feasible.
"""

from __future__ import annotations

import io
import json
import uuid
import zipfile
from collections.abc import Sequence
from typing import Any

import fsspec  # type: ignore[import-untyped]
import numpy as np

from shortlist._arrays import FloatArray
from shortlist.dask.partitions import Duals, Partition, naming, zero_duals
from shortlist.solvers.checkpoint import CheckpointError

_FORMAT = "shortlist distributed checkpoint 2"
_DAMAGE = (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile)

Arrays = dict[str, FloatArray]


def _write(folder: str, name: str, arrays: Arrays) -> None:
    """Write a file that appears under its name when it is whole."""
    fs, path = fsspec.core.url_to_fs(folder)
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)  # type: ignore[arg-type]
    fs.makedirs(path, exist_ok=True)
    beside = f"{path}/{name}.{uuid.uuid4().hex}.tmp"
    fs.pipe_file(beside, buffer.getvalue())
    fs.mv(beside, f"{path}/{name}")


def _read(folder: str, name: str) -> Arrays:
    fs, path = fsspec.core.url_to_fs(folder)
    fs.invalidate_cache()
    with np.load(io.BytesIO(fs.cat_file(f"{path}/{name}")), allow_pickle=False) as archive:
        return {key: archive[key] for key in archive.files}


def _name(number: int, round_: int) -> str:
    return f"duals-{number}-{round_}.npz"


def save_duals(folder: str, round_: int, numbers: Sequence[int], duals: Duals) -> int:
    """Write the duals of a group's partitions; return how many bytes they have."""
    for number, array in zip(numbers, duals.arrays, strict=True):
        with naming(number):
            losses = np.array(duals.losses if number == numbers[0] else 0)
            _write(folder, _name(number, round_), {"duals": array, "losses": losses})
    return sum(array.nbytes for array in duals.arrays)


def load_duals(folder: str, round_: int, partitions: Sequence[Partition]) -> Duals:
    """Return the duals of a group's partitions; those that cannot be read are zero."""
    arrays, losses = [], 0
    for partition in partitions:
        zero = zero_duals([partition]).arrays[0]
        try:
            found = _read(folder, _name(partition.number, round_))
            whole = found["duals"].shape == zero.shape and found["duals"].dtype == zero.dtype
        except _DAMAGE:
            found, whole = {}, False
        arrays.append(found["duals"] if whole else zero)
        losses += int(found["losses"]) if whole else 1
    return Duals(tuple(arrays), losses)


class Store:
    """The client's side of the folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder.rstrip("/")

    def load(self) -> tuple[dict[str, Any], Arrays] | None:
        """Return what the client knew at the last complete round; None where there is no run."""
        fs, path = fsspec.core.url_to_fs(self.folder)
        if not fs.exists(f"{path}/run.npz"):
            return None
        try:
            arrays = _read(self.folder, "run.npz")
            known = json.loads(str(arrays.pop("run")))
        except _DAMAGE as error:
            raise CheckpointError(
                f"{self.folder}/run.npz is not a whole checkpoint ({error}); delete it, or choose "
                "another folder."
            ) from None
        if not isinstance(known, dict) or known.get("format") != _FORMAT:
            raise CheckpointError(
                f"{self.folder} is not a checkpoint of this version; choose another folder."
            )
        return known, arrays

    def save(self, round_: int, known: dict[str, Any], arrays: Arrays) -> None:
        """Write what the client knows, once all duals of this round are written."""
        text = np.array(json.dumps({"format": _FORMAT, **known}))
        _write(self.folder, "run.npz", {"run": text, **arrays})
        self._remove(lambda name: not name.endswith(f"-{round_}.npz"))

    def remove(self) -> None:
        """Remove the folder."""
        fs, path = fsspec.core.url_to_fs(self.folder)
        if fs.exists(path):
            fs.rm(path, recursive=True)

    def _remove(self, is_old: Any) -> None:
        fs, path = fsspec.core.url_to_fs(self.folder)
        names = [str(found).rsplit("/", 1)[-1] for found in fs.ls(path, detail=False)]
        for name in names:
            if name.startswith("duals-") and is_old(name):
                fs.rm_file(f"{path}/{name}")
