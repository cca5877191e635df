"""When a solver stops, how it runs, and what it reports."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.losses.labels import Labels
from shortlist.metrics.ranking import topk_recall
from shortlist.rows import Storage, operations
from shortlist.solvers.result import Evaluation, Progress

#: Called at each evaluation; the run ends when it returns true.
Callback = Callable[[Progress], bool | None]


class Options(NamedTuple):
    """What `shortlist.solve` was asked for, checked."""

    solver: str
    tol: float
    max_epochs: int
    max_time: float
    seed: int
    block_size: int | None
    n_threads: int
    callback: Callback | None
    evaluation_sets: Mapping[str, tuple[Any, Labels]]
    checkpoint: Path | None
    checkpoint_every: float

    def wants_to_stop(self, line: Evaluation, weights: Callable[[], FloatArray]) -> bool:
        """Show the callback, if there is one, a line of the history."""
        return self.callback is not None and bool(self.callback(Progress.of(line, weights)))

    def metrics(self, rows: Storage, weights: FloatArray) -> dict[str, NDArray[np.float64]]:
        """Return the top-k accuracies of given weights on all evaluation sets."""
        return {
            name: topk_recall(operations.new_scores(rows, X, weights), labels)
            for name, (X, labels) in self.evaluation_sets.items()
        }
