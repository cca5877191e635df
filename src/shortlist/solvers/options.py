"""When a solver stops, and how it runs."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

from shortlist.solvers.result import Evaluation

#: Called at each evaluation; the run ends when it returns true.
Callback = Callable[[Evaluation], bool | None]


class Options(NamedTuple):
    """What `shortlist.solve` was asked for, checked."""

    tol: float
    max_epochs: int
    max_time: float
    seed: int
    block_size: int | None
    n_threads: int | None
    callback: Callback | None
