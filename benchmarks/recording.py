"""Measurements as files that the documentation shows: docs/recorded/NAME.json."""

from __future__ import annotations

import datetime
import json
import os
import platform
from collections.abc import Sequence
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent.parent / "docs" / "recorded"


def machine() -> str:
    """Return what measures: the processor, its cores, Python and NumPy."""
    import numpy as np

    model = platform.processor() or platform.machine()
    about = Path("/proc/cpuinfo")
    if about.exists():
        lines = [line for line in about.read_text().splitlines() if line.startswith("model name")]
        model = lines[0].split(":", 1)[1].strip() if lines else model
    return (
        f"{model}, {os.cpu_count()} cores, Python {platform.python_version()}, "
        f"NumPy {np.__version__}"
    )


def record(
    name: str,
    *,
    title: str,
    command: str,
    columns: Sequence[str],
    rows: Sequence[Sequence[Any]],
    conditions: str = "",
    notes: Sequence[str] = (),
) -> Path:
    """Write a table for the documentation, with the machine and the day, and return its file."""
    file = FOLDER / f"{name}.json"
    result = {
        "title": title,
        "command": command,
        "machine": machine(),
        "date": datetime.date.today().isoformat(),
        "conditions": conditions,
        "columns": list(columns),
        "rows": [list(row) for row in rows],
        "notes": list(notes),
    }
    file.write_text(json.dumps(result, indent=1) + "\n")
    return file
