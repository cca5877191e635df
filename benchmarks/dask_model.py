"""The time of a run by the number of groups: rounds and constants that were measured, put together.

Nothing is measured here: the rounds are those of `dask_rounds`, the constants those of
`dask_overhead`, both as recorded. Only the network is assumed.
"""

from __future__ import annotations

import json
import math
from typing import Any

from recording import FOLDER, record

#: A set like "a" that no usual machine holds: 41 GB in single precision.
EXAMPLES, FEATURES, CLASSES = 20_000_000, 512, 100
#: The slowest of many machines, and bytes a second of their network.
STRAGGLER, NETWORK = 1.2, 1.25e9
SET, GAP = "a", "1e-03"


def rows_of(name: str) -> list[list[Any]]:
    rows: list[list[Any]] = json.loads((FOLDER / f"dask_{name}.json").read_text())["rows"]
    return rows


def seconds_of_round(k: int, constants: dict[str, float]) -> tuple[float, float]:
    """Return the seconds of a round that are work, and those that are not."""
    work = 6.0 * EXAMPLES * FEATURES * CLASSES / (k * 1e9 * constants["speed"])
    stages = math.ceil(math.log(k, 8)) if k > 1 else 0
    message = 1e-3 * constants["latency"] + 8.0 * FEATURES * CLASSES / NETWORK
    rest = 2.0 * stages * message + 1e-3 * (constants["a"] + constants["b"] * k)
    return STRAGGLER * work if k > 1 else work, rest


def model(keep: bool) -> None:
    constants = {row[0].split(",")[0].split(" ")[0]: row[1] for row in rows_of("constants")}
    table = []
    for name, k, gap, rounds, *_ in rows_of("rounds"):
        if (name, gap) == (SET, GAP):
            work, rest = seconds_of_round(k, constants)
            whole = int(rounds) * (work + rest)
            table.append([k, rounds, f"{work:.1f}", f"{rest:.2f}", f"{whole / 60:.1f}"])
            print("{:4d} groups: {} rounds of {} + {} s: {} minutes".format(*table[-1]))
    if keep:
        record(
            "dask_model",
            title="The time of a run, computed",
            command="python benchmarks/bench_dask.py model --record",
            columns=["groups", "rounds", "work, s a round", "the rest, s a round", "minutes"],
            rows=table,
            conditions=f"{EXAMPLES:,} x {FEATURES} with {CLASSES} classes, a network of "
            f"{NETWORK / 1e6:.0f} MB/s, the slowest worker {STRAGGLER} times as slow",
        )
