"""The loop around the passes: when to evaluate, when to stop, what to remember."""

from __future__ import annotations

import math
import time

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.solvers import checkpoint
from shortlist.solvers.interruption import Interruption
from shortlist.solvers.options import Options
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate, Evaluation, History, Solution, Status
from shortlist.solvers.sdca import Sdca
from shortlist.solvers.team import Team

#: A gap so many times the tolerance may be below it at the next evaluation.
_NEAR = 50.0
#: Passes in float32 after which the model is computed anew from the duals.
_EPOCHS_OF_DRIFT = 10
#: Passes without any gain beyond rounding, after which there is no progress.
_PATIENCE = 20


def solve(
    problem: Problem,
    duals: FloatArray,
    options: Options,
    interruption: Interruption,
    trusted: bool = True,
) -> Solution:
    """Run SDCA until the relative gap is at most `tol`, or a limit is met.

    `trusted` says whether `duals` are known to be feasible.
    """
    with Team(options.n_threads) as team:
        run = Sdca(problem, duals, options.block_size, options.seed, team)
        return _Training(run, options, interruption, trusted).run()


class _Training:
    """One run with its clock and its history."""

    def __init__(
        self, run: Sdca, options: Options, interruption: Interruption, trusted: bool
    ) -> None:
        self.sdca, self.options, self.interruption = run, options, interruption
        self.trusted, self.exact = trusted, False  # the latter: the last certificate was
        self.history = History()
        self.solving = self.evaluating = 0.0
        self.traits: checkpoint.Traits = {}
        self.saved = time.perf_counter()
        if options.checkpoint is not None:
            self.traits = checkpoint.traits_of(run, options.seed)
            if options.checkpoint.exists():
                self.history, (self.solving, self.evaluating) = checkpoint.load(
                    options.checkpoint, self.traits, run
                )

    def run(self) -> Solution:
        """Alternate passes and evaluations."""
        options = self.options
        status = None
        if self.history and abs(_gap(self.history[-1])) <= options.tol:
            status = Status.CONVERGED  # the checkpoint is that of a solution
        while status is None:
            limit = self._run_epochs(_next_check(self.history, options.tol))
            if limit is not None:
                self._save()  # before the evaluation, which may change bits of the model
                self._drop_duals_never_visited()
            line = self._evaluate(exact=limit is not None or self._should_be_exact())
            wants_to_stop = options.callback is not None and options.callback(line)
            found = self._judge(line)
            if found in (Status.CONVERGED, Status.FAILED) or limit is None:
                status = found
            else:
                status = limit
            if status is None and wants_to_stop:
                status = Status.STOPPED
            if status is not None and limit is None:
                self._save()
        return self._solution(status)

    def _solution(self, status: Status) -> Solution:
        """Return the model with a certificate that is exactly its own."""
        run = self.sdca
        if status is Status.FAILED:
            run.duals[:] = 0.0
        if self.exact and status is not Status.FAILED:
            certificate = self.history[-1].certificate
        else:
            certificate = self._certificate(exact=True)
        return Solution(run.weights(), run.duals, certificate, status, self.history)

    def _drop_duals_never_visited(self) -> None:
        """Make a user's own start feasible where the first pass has not come."""
        run = self.sdca
        if not self.trusted and run.epoch == 0:
            run.duals[run.order[run.position :]] = 0.0

    def _should_be_exact(self) -> bool:
        """Whether to compute the model anew: it may pass now, or rounding has changed it."""
        run, history = self.sdca, self.history
        if history:
            likely = _gap(history[-1]) <= _NEAR * self.options.tol
        else:  # the first pass is enough where examples hardly compete
            likely = float(run.problem.c @ run.problem.norms) <= run.problem.n
        drifts = run.problem.dtype == np.float32 and run.epoch >= run.exact_at + _EPOCHS_OF_DRIFT
        return likely or drifts

    def _run_epochs(self, until: int) -> Status | None:
        """Run passes to the next check; return what ends the run, if anything does."""
        options, start = self.options, time.perf_counter()
        deadline = start + options.max_time - self.solving - self.evaluating

        def should_stop() -> bool:
            return self.interruption.happened or time.perf_counter() > deadline

        status = Status.INTERRUPTED if self.interruption.happened else None
        while status is None and self.sdca.epoch < min(until, options.max_epochs):
            self.sdca.run_epoch(should_stop)
            if time.perf_counter() - self.saved > options.checkpoint_every:
                self._save()
            if self.interruption.happened:
                status = Status.INTERRUPTED
            elif time.perf_counter() > deadline:
                status = Status.MAX_TIME
        if status is None and self.sdca.epoch >= options.max_epochs:
            status = Status.MAX_EPOCHS
        self.solving += time.perf_counter() - start
        return status

    def _evaluate(self, exact: bool) -> Evaluation:
        """Append a line to the history, and return it."""
        start, tol = time.perf_counter(), self.options.tol
        certificate = self._certificate(exact)
        if certificate.gap <= tol and not exact:  # claim it for the model of the duals only
            certificate = self._certificate(exact=True)
        metrics = {}
        if self.options.evaluation_sets:  # a kernel's weights are computed for this
            metrics = self.options.metrics(self.sdca.problem.rows, self.sdca.weights())
        self.evaluating += time.perf_counter() - start
        line = Evaluation(self.sdca.epoch, certificate, self.solving, self.evaluating, metrics)
        self.history.append(line)
        return line

    def _certificate(self, exact: bool) -> Certificate:
        run, self.exact = self.sdca, exact
        if exact:
            run.recompute_model()
        return run.problem.certificate(run.model, run.duals, run.team)

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
        if _is_stuck(self.history, float(np.finfo(self.sdca.problem.dtype).eps)):
            return Status.NO_PROGRESS
        if _hardly_falls(self.history):
            self.sdca.resting.wake()
        return None

    def _save(self) -> None:
        if self.options.checkpoint is not None:
            spent = (self.solving, self.evaluating)
            checkpoint.save(self.options.checkpoint, self.traits, self.sdca, self.history, spent)
            self.saved = time.perf_counter()


def _gap(evaluation: Evaluation) -> float:
    assert isinstance(evaluation.certificate, Certificate)
    return evaluation.certificate.gap


def _next_check(history: History, tol: float) -> int:
    """Return the epoch at which the gap is likely to pass, by its rate so far.

    An evaluation costs half an epoch, so it should not come after each; but the rate may
    change, so the epochs are at most doubled.
    """
    if len(history) < 2:
        return len(history) + 1
    before, last = history[-2:]
    fall = _gap(before) / max(_gap(last), 1e-300)
    if fall <= 1.0 or tol <= 0.0:
        return last.epoch + max(1, last.epoch // 4)
    per_epoch = math.log(fall) / max(1, last.epoch - before.epoch)
    needed = math.log(_gap(last) / tol) / per_epoch
    return last.epoch + min(max(1, math.ceil(needed)), max(1, last.epoch))


def _hardly_falls(history: History) -> bool:
    """Whether the gap has hardly fallen since the last evaluation."""
    return len(history) >= 2 and _gap(history[-1]) > 0.7 * _gap(history[-2])


def _is_stuck(history: History, eps: float) -> bool:
    """Whether neither the gap nor the dual objective has gained more than rounding, for long."""
    epochs, gaps, dual = history.epochs, history.gaps, history.dual
    earlier = epochs <= epochs[-1] - _PATIENCE
    if not earlier.any():
        return False
    gained = dual[~earlier].max() - dual[earlier].max()
    return bool(
        gained <= 4 * eps * abs(history[-1].certificate.primal)
        and gaps[~earlier].min() >= 0.9 * gaps[earlier].min()
    )
