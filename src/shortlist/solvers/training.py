"""The loop around the passes: when to evaluate, when to stop, what to remember."""

from __future__ import annotations

import math
import time

import numpy as np

from shortlist.solvers import checkpoint, choice
from shortlist.solvers.interruption import Interruption
from shortlist.solvers.options import Options
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate, Evaluation, History, Solution, Status
from shortlist.solvers.team import Team
from shortlist.solvers.warm import Start

#: A gap so many times the tolerance may be below it at the next evaluation.
_NEAR = 50.0
#: Passes without any gain beyond rounding, after which there is no progress, unless a method is
#: more patient.
_PATIENCE = 20


def solve(
    problem: Problem,
    start: Start,
    options: Options,
    interruption: Interruption,
    first: str,
) -> Solution:
    """Run a method until the relative gap is at most `tol`, or a limit is met.

    The duals of the start must be feasible; `first` is the method to begin with.
    """
    if start.certificate is not None and start.certificate.gap <= options.tol:
        return _as_given(problem, start, options, first)
    with Team(options.n_threads) as team:
        return _Training(problem, start, options, team, interruption, first).run()


def _as_given(problem: Problem, start: Start, options: Options, first: str) -> Solution:
    """Return a start that is a solution; `first` is the method that would have begun."""
    weights, certificate = start.weights, start.certificate
    assert weights is not None
    assert certificate is not None
    metrics = options.metrics(problem.rows, weights) if options.evaluation_sets else {}
    line = Evaluation(0, certificate, 0.0, start.seconds, metrics, first)
    options.wants_to_stop(line, lambda: weights)  # which only hears of it: it is the end anyway
    return Solution(weights, start.duals, certificate, Status.CONVERGED, History([line]))


class _Training:
    """One run with its clock and its history."""

    def __init__(
        self,
        problem: Problem,
        start: Start,
        options: Options,
        team: Team,
        interruption: Interruption,
        first: str,
    ) -> None:
        self.problem, self.options, self.team = problem, options, team
        self.interruption, self.memory = interruption, start.memory
        self.exact = False  # whether the last certificate was
        self.cold, self.first_check = not start.duals.any(), start.check
        self.history = History()
        self.begun = None  # what the start is worth, where that is known
        if start.certificate is not None:
            self.begun = Evaluation(0, start.certificate, 0.0, start.seconds, {}, first)
        self.note = ""  # why the method was changed, for the next line of the history
        self.solving, self.evaluating = 0.0, start.seconds
        self.traits: checkpoint.Traits = {}
        self.saved = started = time.perf_counter()
        name, state = first, None
        if options.checkpoint is not None:
            self.traits = checkpoint.traits_of(problem, start.duals, options)
            if options.checkpoint.exists():
                state = checkpoint.load(options.checkpoint, self.traits)
                name, self.history, self.note = state.method, state.history, state.note
                self.solving, self.evaluating = state.seconds
        self.method = choice.start(name, problem, start, options, team)
        if state is not None:
            self.method.restore(state.numbers, state.arrays)
        self.solving += time.perf_counter() - started

    def run(self) -> Solution:
        """Alternate passes and evaluations."""
        options = self.options
        status = None
        if self.history and abs(self.history[-1].gap) <= options.tol:
            status = Status.CONVERGED  # the checkpoint is that of a solution
        while status is None:
            check = self.method.next_check(self.history, options.tol)
            limit = self._run_epochs(check if self.history else max(check, self.first_check))
            if limit is not None:
                self._save()  # before the evaluation, which may change bits of the model
            line = self._evaluate(exact=limit is not None or self._should_be_exact())
            wants_to_stop = options.wants_to_stop(line, self.method.weights)
            found = self._judge(line)
            if found is Status.NO_PROGRESS and limit is None and self._fall_back():
                found = None
            if found in (Status.CONVERGED, Status.FAILED) or limit is None:
                status = found
            else:
                status = limit
            if status is None and wants_to_stop:
                status = Status.STOPPED
            if status is None and options.solver == "auto":
                self._choose()
            if status is not None and limit is None:
                self._save()
        return self._solution(status)

    def _choose(self) -> None:
        """Go on by another method where that is likely to be faster."""
        found = choice.better(self.method, self.history, self.options.tol, self.begun)
        if found is not None:
            self._change(*found)

    def _fall_back(self) -> bool:
        """Return to plain passes, if the choice is ours; they still gain in single precision."""
        if self.options.solver != "auto" or self.method.name == "sdca":
            return False
        self._change("sdca", f"{self.method.name} gains no more than rounding")
        return True

    def _change(self, name: str, why: str) -> None:
        """Go on by another method, from where the present one is, and say why."""
        began, epoch = time.perf_counter(), self.method.epoch
        self.note = f"after {epoch} passes: {name}, because {why}"
        if name == "newton" and self.cold and epoch <= 2:  # zero is the better start for it
            start = Start(np.zeros_like(self.method.duals), None, self.memory)
        else:
            start = self._present()
        self.method = choice.start(name, self.problem, start, self.options, self.team)
        self.method.epoch, self.exact = epoch, False
        self.solving += time.perf_counter() - began

    def _present(self) -> Start:
        """Return where the present method is, with a certificate that rounding has not changed."""
        last = self.history[-1].certificate
        known = last if self.exact else self._certificate(exact=True)
        assert isinstance(known, Certificate)
        return Start(self.method.duals, self.method.weights(), self.memory, certificate=known)

    def _solution(self, status: Status) -> Solution:
        """Return the model with a certificate that is exactly its own."""
        if status is Status.FAILED:
            zero = Start(np.zeros_like(self.method.duals))
            self.method = choice.start("sdca", self.problem, zero, self.options, self.team)
        if self.exact and status is not Status.FAILED:
            certificate = self.history[-1].certificate
        else:
            certificate = self._certificate(exact=True)
        method = self.method
        return Solution(method.weights(), method.duals, certificate, status, self.history)

    def _should_be_exact(self) -> bool:
        """Whether to compute the model anew: it may pass now, or rounding has changed it."""
        if self.method.is_exact:
            return False
        if self.history:
            likely = self.history[-1].gap <= _NEAR * self.options.tol
        else:  # the first pass is enough where examples hardly compete
            likely = float(self.problem.c @ self.problem.norms) <= self.problem.n
        return (likely and self.method.name == "sdca") or self.method.has_drifted

    def _run_epochs(self, until: int) -> Status | None:
        """Run passes to the next check; return what ends the run, if anything does."""
        options, start = self.options, time.perf_counter()
        deadline = start + options.max_time - self.solving - self.evaluating

        def should_stop() -> bool:
            return self.interruption.happened or time.perf_counter() > deadline

        status = Status.INTERRUPTED if self.interruption.happened else None
        while status is None and self.method.epoch < min(until, options.max_epochs):
            self.method.run_epoch(should_stop)
            if time.perf_counter() - self.saved > options.checkpoint_every:
                self._save()
            if self.interruption.happened:
                status = Status.INTERRUPTED
            elif time.perf_counter() > deadline:
                status = Status.MAX_TIME
        if status is None and self.method.epoch >= options.max_epochs:
            status = Status.MAX_EPOCHS
        self.solving += time.perf_counter() - start
        return status

    def _evaluate(self, exact: bool) -> Evaluation:
        """Append a line to the history, and return it."""
        start, tol = time.perf_counter(), self.options.tol
        certificate = self._certificate(exact)
        if certificate.gap <= tol and not self.exact:  # claim it for the model of the duals only
            certificate = self._certificate(exact=True)
        metrics = {}
        if self.options.evaluation_sets:  # a kernel's weights are computed for this
            metrics = self.options.metrics(self.problem.rows, self.method.weights())
        self.evaluating += time.perf_counter() - start
        line = Evaluation(
            self.method.epoch, certificate, self.solving, self.evaluating, metrics,
            self.method.name, self.note,
        )  # fmt: skip
        self.note = ""
        self.history.append(line)
        return line

    def _certificate(self, exact: bool) -> Certificate:
        self.exact = exact or self.method.is_exact
        return self.method.certificate(exact)

    def _judge(self, line: Evaluation) -> Status | None:
        """Return what the last evaluation decides, if it does."""
        certificate = line.certificate
        assert isinstance(certificate, Certificate)
        if not (math.isfinite(certificate.primal) and math.isfinite(certificate.dual)):
            return Status.FAILED
        if abs(certificate.gap) <= self.options.tol:
            return Status.CONVERGED
        if certificate.gap < 0.0:  # the objectives differ by less than their rounding errors
            return Status.NO_PROGRESS
        if _is_stuck(self.history, self.method.patience, float(np.finfo(self.problem.dtype).eps)):
            return Status.NO_PROGRESS
        if _hardly_falls(self.history):
            self.method.wake()
        return None

    def _save(self) -> None:
        if self.options.checkpoint is not None:
            spent = (self.solving, self.evaluating)
            checkpoint.save(
                self.options.checkpoint, self.traits, self.method, self.history, self.note, spent
            )
            self.saved = time.perf_counter()


def _hardly_falls(history: History) -> bool:
    """Whether the gap has hardly fallen since the last evaluation."""
    return len(history) >= 2 and history[-1].gap > 0.7 * history[-2].gap


def _is_stuck(history: History, patience: int, eps: float) -> bool:
    """Whether neither objective has gained more than rounding, for long."""
    lines = History(line for line in history if line.method == history[-1].method)
    earlier = lines.epochs <= lines[-1].epoch - _PATIENCE
    earlier[max(len(lines) - patience, 0) :] = False
    if not earlier.any():
        return False
    primal, dual = lines.primal, lines.dual
    gained = max(
        dual[~earlier].max() - dual[earlier].max(), primal[earlier].min() - primal[~earlier].min()
    )
    return bool(gained <= 4 * eps * abs(history[-1].certificate.primal))
