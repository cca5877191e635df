"""Our numbers on disk: one file an experiment, each cell stored when it is done."""

from __future__ import annotations

import json
import os
import platform
import sys
import time
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import shortlist
from shortlist._files import written_whole

#: Where results are, unless told otherwise.
FOLDER = Path(__file__).parent / "results"


class Record:
    """The cells of one experiment, by key; a cell that is there is not computed again."""

    def __init__(self, name: str, folder: Path | None = None) -> None:
        self.file = (FOLDER if folder is None else folder) / f"{name}.json"
        self.cells: dict[str, dict[str, Any]] = {}
        if self.file.exists():
            self.cells = json.loads(self.file.read_text())

    def cell(self, key: str, compute: Callable[[], dict[str, Any]]) -> dict[str, Any]:
        """Return a cell, computed and stored where it is not there yet."""
        if key not in self.cells:
            wall, cpu = time.perf_counter(), time.process_time()
            found = compute()
            found["seconds"] = round(time.perf_counter() - wall, 2)
            found["cpu_seconds"] = round(time.process_time() - cpu, 2)
            found["machine"] = machine()
            self.cells[key] = found
            self.save()
            values = {name: round(value, 4) for name, value in found.get("values", {}).items()}
            print(f"{self.file.stem} {key}: {values}, {found['seconds']} s", file=sys.stderr)
        return self.cells[key]

    def save(self) -> None:
        """Write all cells, whole or not at all; those that others wrote meanwhile are kept."""
        if self.file.exists():
            self.cells = {**json.loads(self.file.read_text()), **self.cells}
        self.file.parent.mkdir(parents=True, exist_ok=True)
        lines = ",\n".join(
            f"{json.dumps(key)}: {json.dumps(cell)}" for key, cell in sorted(self.cells.items())
        )
        with written_whole(self.file) as stream:
            stream.write(f"{{\n{lines}\n}}\n".encode())


@cache
def machine() -> str:
    """Return the processor and the versions that a number was computed with."""
    model = platform.machine()
    about = Path("/proc/cpuinfo")
    if about.exists():
        names = [line for line in about.read_text().splitlines() if line.startswith("model name")]
        model = names[0].split(":", 1)[1].strip() if names else model
    return (
        f"{model}, {os.cpu_count()} cores; Python {platform.python_version()}, "
        f"shortlist {shortlist.__version__}"
    )
