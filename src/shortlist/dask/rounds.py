"""The loop around the rounds: what to ask, when to stop, what to remember."""

from __future__ import annotations

import math
import time
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.dask.ascent import Ascent
from shortlist.dask.fleet import Fleet
from shortlist.dask.lbfgs import Lbfgs
from shortlist.dask.method import Method
from shortlist.dask.partitions import PartitionError
from shortlist.dask.store import Store
from shortlist.solvers.checkpoint import CheckpointError
from shortlist.solvers.choice import in_words
from shortlist.solvers.interruption import Interruption
from shortlist.solvers.result import Certificate, Evaluation, History, Progress, Status

#: The names that a user may ask for.
SOLVERS = ("auto", "accelerated", "cocoa", "lbfgs")
#: Rounds without any gain beyond rounding, after which there is no progress.
_PATIENCE = 200
#: Rounds over which the rate of the accelerated form is measured, and those still to go after
#: which L-BFGS is likely to be faster.
_TRIAL, _TOO_MANY = 40, 150


class Options(NamedTuple):
    """When the rounds stop, how they run, and what they report to."""

    solver: str = "auto"
    tol: float = 1e-3
    max_rounds: int = 1000
    max_time: float = math.inf
    callback: Callable[[Progress], bool | None] | None = None
    store: Store | None = None
    every: int = 10
    resume: bool = True
    kappa: float | None = None  # of the accelerated form; None: by its rule


class Result(NamedTuple):
    """Weights with their certificate, true for what is returned."""

    weights: FloatArray
    certificate: Certificate
    status: Status
    history: History


def train(
    fleet: Fleet, m: int, smooth: bool, traits: dict[str, Any], options: Options
) -> Result:  # fmt: skip
    """Ask the fleet until the relative gap is at most `tol`, or a limit is met.

    `m` is the number of classes; `traits` are what decides the iterates, besides the partitions.
    """
    with Interruption() as interruption:
        return _Rounds(fleet, m, smooth, traits, options, interruption).run()


class _Rounds:
    def __init__(
        self,
        fleet: Fleet,
        m: int,
        smooth: bool,
        traits: dict[str, Any],
        options: Options,
        interruption: Interruption,
    ) -> None:
        self.fleet, self.smooth, self.options = fleet, smooth, options
        self.interruption, self.traits = interruption, traits
        self.shape, self.dtype = (fleet.sizes[0].rows, m), fleet.sizes[0].dtype
        self.round, self.spent, self.started = 0, 0.0, time.perf_counter()
        self.history, self.note = History(), ""
        self.eps = float(np.finfo(self.dtype).eps)
        self.method: Method
        if not self._resume():
            fleet.start()
            self.method = self._first()
        self.due = self._next_due()

    def _first(self) -> Method:
        solver = self.options.solver
        if solver == "lbfgs":
            return Lbfgs(np.zeros(self.shape, self.dtype))
        if solver == "auto":
            kinks = "because the loss has kinks"
            self.note = f"accelerated, {'usually the fewest rounds' if self.smooth else kinks}"
        return self._ascent(solver)

    def _ascent(self, name: str) -> Ascent:
        kappa = 0.0 if name == "cocoa" else self.options.kappa
        return Ascent(self.shape, self.dtype, kappa, kinks=not self.smooth)

    # Rounds

    def run(self) -> Result:
        """Ask and listen."""
        options, status = self.options, None
        if self.history and abs(self.history[-1].gap) <= options.tol and self._is_proven():
            status = Status.CONVERGED  # the checkpoint is that of a solution
        while status is None:
            self._ask()
            # A checkpoint waits for all groups; rather it waits until none is late by itself.
            if options.store is not None and self.round >= self.due and not self.fleet.is_late:
                self._save()
            if not self.history:  # nothing is certified before all groups have answered once
                continue
            line = self.history[-1]
            wants_to_stop = False
            if options.callback is not None and line.epoch == self.round:
                progress = Progress.of(line, lambda: self.method.best)
                wants_to_stop = bool(options.callback(progress))
            status = self._judge(line, wants_to_stop)
            if status is None and options.solver == "auto":
                self._choose()
        return self._result(status)

    def _ask(self) -> None:
        """Ask one question; write a line of the history if all groups have answered."""
        method, fleet = self.method, self.fleet
        answer, complete = fleet.ask(method.question(), self.round)
        self.round += 1
        if not complete:
            method.hear_some(answer.model)
            return
        if method.needs_proof and answer.lost != fleet.lost:
            # Some duals were set to zero: what is held decides, not what was added up.
            method.correct(fleet.rebuild(method.best))
        else:
            method.hear(answer)
        line = Evaluation(
            self.round, method.certificate, self._seconds(), 0.0, {}, method.name, self.note
        )
        self.note = ""
        self.history.append(line)

    def _seconds(self) -> float:
        return self.spent + time.perf_counter() - self.started

    def _judge(self, line: Evaluation, wants_to_stop: bool) -> Status | None:
        """Return what ends the run, if anything does."""
        options, certificate = self.options, line.certificate
        if not (math.isfinite(certificate.primal) and math.isfinite(line.gap)):
            return Status.FAILED
        if line.gap <= options.tol and self._is_proven():
            return Status.CONVERGED
        if self.interruption.happened:
            return Status.INTERRUPTED
        if wants_to_stop:
            return Status.STOPPED
        if self.method.is_stuck or line.gap < 0.0 or self._gains_nothing():
            return Status.NO_PROGRESS
        if self.round >= options.max_rounds:
            return Status.MAX_ROUNDS
        return Status.MAX_TIME if self._seconds() > options.max_time else None

    def _is_proven(self) -> bool:
        """Return whether the gap holds for the duals that are held, computed from scratch."""
        if not self.method.needs_proof:
            return True
        self.method.correct(self.fleet.rebuild(self.method.best))
        return abs(self.method.certificate.gap) <= self.options.tol

    def _gains_nothing(self) -> bool:
        lines = History(line for line in self.history if line.method == self.method.name)
        if len(lines) <= _PATIENCE:
            return False
        primal, dual = lines.primal, lines.dual
        gained = max(dual[-1] - dual[-_PATIENCE], primal[-_PATIENCE] - primal[-1])
        return bool(gained <= 4 * self.eps * abs(primal[-1]))

    def _choose(self) -> None:
        """Change to L-BFGS where the loss is smooth and the rounds to go are too many."""
        history = self.history
        if not self.smooth or self.method.name == "lbfgs" or len(history) <= 2 * _TRIAL:
            return
        fall = math.log(max(history[-_TRIAL].gap, 1e-300) / max(history[-1].gap, 1e-300)) / _TRIAL
        to_go = math.log(max(history[-1].gap / self.options.tol, 1.0)) / max(fall, 1e-300)
        if to_go > _TOO_MANY:
            self.note = (
                f"after {self.round} rounds: lbfgs, because {in_words(to_go)} more were to go"
            )
            self.fleet.drain()
            self.method = Lbfgs(self.method.best)

    def _result(self, status: Status) -> Result:
        """Return the best weights, with a certificate computed from scratch."""
        method, fleet = self.method, self.fleet
        if status is Status.FAILED:
            fleet.start(fleet.layout())
            self.method = method = Ascent(self.shape, self.dtype)
        if method.needs_proof and status is not Status.CONVERGED:
            method.correct(fleet.rebuild(method.best))
        if self.options.store is not None and status is not Status.FAILED:
            self._save()
        weights = np.asarray(method.best, self.dtype)
        return Result(weights, method.certificate, status, self.history)

    # Files

    def _save(self) -> None:
        store, change = self.options.store, self.fleet.drain()
        assert store is not None
        self.due = self._next_due()
        if change is not None:
            self.method.hear_some(change)
        numbers, arrays = self.method.state()
        known = {
            "round": self.round,
            "traits": self._identity(),
            "layout": self.fleet.layout(),
            "partitions": self.fleet.asked_for,
            "lost": self.fleet.lost,
            "method": self.method.name,
            "numbers": numbers,
            "seconds": self._seconds(),
            "note": self.note,
            "history": [
                [line.epoch, *line.certificate, line.seconds_solving, line.method, line.note]
                for line in self.history
            ],
        }
        try:
            if self.method.needs_proof:
                self.fleet.save(store.folder, self.round)
            store.save(self.round, known, arrays)
        except (PartitionError, OSError) as error:
            warnings.warn(
                f"the checkpoint {store.folder} could not be written ({error}); training goes on.",
                RuntimeWarning,
                stacklevel=2,
            )
            return
        if self.method.needs_proof:
            self.fleet.load(store.folder, self.round)

    def _next_due(self) -> int:
        """Return the round of the next checkpoint."""
        return (self.round // self.options.every + 1) * self.options.every

    def _identity(self) -> dict[str, Any]:
        prints = [size.fingerprint for size in self.fleet.sizes]
        solver = {"solver": self.options.solver}
        return {**self.traits, **solver, "X, y, C or weights": prints}

    def _resume(self) -> bool:
        """Continue an earlier run, if there is one."""
        store = self.options.store
        found = store.load() if store is not None and self.options.resume else None
        if found is None or store is None:
            return False
        known, arrays = found
        mine = self._identity()
        others = [name for name, trait in mine.items() if known["traits"].get(name) != trait]
        if others:
            raise CheckpointError(
                f"{store.folder} is the checkpoint of another run: {', '.join(others)} differ; "
                "delete it, pass resume=False, or choose another folder."
            )
        self.round, self.spent, self.note = known["round"], known["seconds"], known["note"]
        for epoch, primal, dual, seconds, method, note in known["history"]:
            certificate = Certificate(primal, dual)
            self.history.append(Evaluation(epoch, certificate, seconds, 0.0, {}, method, note))
        self.fleet.start(known["layout"])
        self.fleet.lost = known["lost"]
        if known["method"] == "lbfgs":
            self.method = Lbfgs(np.zeros(self.shape, self.dtype))
        else:
            self.method = self._ascent(known["method"])
            self.fleet.load(store.folder, self.round)
        self.method.restore(known["numbers"], arrays)
        return True
