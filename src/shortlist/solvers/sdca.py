"""Stochastic dual coordinate ascent in blocks, with a certificate."""

from __future__ import annotations

import math
import time

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits

from shortlist._arrays import FloatArray
from shortlist.rows import DenseRows
from shortlist.solvers import sweep
from shortlist.solvers.options import Options
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate, Evaluation, Solution, Status

#: With fewer columns than this, one example at a time in compiled code beats matrix products.
_FEW_COLUMNS = 64
#: A product of fewer multiplications is slower on several threads than on one.
_WORTH_THREADS = 4_000_000


class Sdca:
    """The state of a run: duals, weights and what has been spent."""

    def __init__(self, problem: Problem, duals: FloatArray, block_size: int, seed: int) -> None:
        self.problem, self.duals, self.block_size = problem, duals, block_size
        self.weights = problem.weights(duals)
        self.rng = np.random.default_rng(seed)
        self.epoch = 0

    def run_epoch(self) -> None:
        """Visit every example once, in a new random order."""
        order = self.rng.permutation(self.problem.n)
        if self.block_size > 1 and isinstance(self.problem.rows, DenseRows):
            for first in range(0, order.size, self.block_size):
                self._run_block(self.problem.rows.matrix, order[first : first + self.block_size])
        else:
            problem, labels = self.problem, self.problem.labels
            problem.run(
                sweep.sweep_rows, problem.rows, order, problem.c, problem.norms,
                labels.offsets, labels.indices, self.duals, self.weights,
            )  # fmt: skip
        self.epoch += 1

    def _run_block(self, matrix: FloatArray, block: NDArray[np.int64]) -> None:
        problem, labels = self.problem, self.problem.labels
        rows = matrix[block]
        scores, gram = rows @ self.weights, rows @ rows.T
        change = np.empty_like(scores)
        moved = problem.run(
            sweep.sweep_block, scores, gram, block, problem.c,
            labels.offsets, labels.indices, self.duals, change,
        )  # fmt: skip
        if not moved.all():  # what did not move is not multiplied
            rows, change = rows[moved], change[moved]
        if len(rows) > 0:
            self.weights += rows.T @ change

    def certificate(self, exact: bool) -> Certificate:
        """Return the certificate; `exact` computes the weights anew from the duals."""
        if exact:
            self.weights = self.problem.weights(self.duals)
        return self.problem.certificate(self.weights, self.duals)


def default_block_size(problem: Problem) -> int:
    """Return a block size for the shape of a problem; 1 means one example at a time."""
    if not isinstance(problem.rows, DenseRows) or problem.d < _FEW_COLUMNS:
        return 1
    # Correcting scores inside a block costs B/2 m an example, the two products 2 d m.
    return int(min(max(problem.d // 8, 16), 128, problem.n))


def solve(problem: Problem, duals: FloatArray, options: Options) -> Solution:
    """Run until the relative gap is at most `tol`, or a limit is met."""
    size = options.block_size or default_block_size(problem)
    n_threads = options.n_threads
    if size * problem.d * problem.m < _WORTH_THREADS:
        n_threads = 1
    with threadpool_limits(n_threads, user_api="blas"):
        return _solve(Sdca(problem, duals, size, options.seed), options)


def _solve(run: Sdca, options: Options) -> Solution:
    history: list[Evaluation] = []
    solving = evaluating = 0.0
    drifts = run.problem.dtype == np.float32  # W from W(v): always computed anew
    status = None
    while status is None:
        start = time.perf_counter()
        deadline = start + options.max_time - solving - evaluating
        status = _run_epochs(run, _next_check(history, options.tol), options.max_epochs, deadline)
        solving += time.perf_counter() - start

        start = time.perf_counter()
        exact = drifts or status is not None
        try:
            certificate = run.certificate(exact)
            if certificate.gap <= options.tol and not exact:
                certificate = run.certificate(exact=True)
        except KeyboardInterrupt:
            status = Status.INTERRUPTED
            certificate = run.certificate(exact=True)
        if certificate.gap <= options.tol and status is not Status.INTERRUPTED:
            status = Status.CONVERGED
        evaluating += time.perf_counter() - start
        history.append(Evaluation(run.epoch, certificate, solving, evaluating))
        if options.callback is not None and options.callback(history[-1]) and status is None:
            status = Status.STOPPED
    if status is Status.STOPPED:
        certificate = run.certificate(exact=True)
    return Solution(run.weights, run.duals, certificate, status, history)


def _run_epochs(run: Sdca, until: int, most: int, deadline: float) -> Status | None:
    """Run epochs to the next check; return what ends the run, if anything does."""
    try:
        while run.epoch < min(until, most):
            run.run_epoch()
            if time.perf_counter() > deadline:
                return Status.MAX_TIME
    except KeyboardInterrupt:
        return Status.INTERRUPTED
    return Status.MAX_EPOCHS if run.epoch >= most else None


def _next_check(history: list[Evaluation], tol: float) -> int:
    """Return the epoch at which the gap is likely to pass, by its rate so far.

    An evaluation costs half an epoch, so it should not come after each; but the rate may
    change, so the epochs are at most doubled.
    """
    if len(history) < 2 or tol <= 0.0:
        return len(history) + 1
    last = history[-1]
    before = history[-2]
    fall = _gap(before) / max(_gap(last), 1e-300)
    if fall <= 1.0:
        return last.epoch + max(1, last.epoch // 4)
    per_epoch = math.log(fall) / (last.epoch - before.epoch)
    needed = math.log(_gap(last) / tol) / per_epoch
    return last.epoch + min(max(1, math.ceil(needed)), max(1, last.epoch))


def _gap(evaluation: Evaluation) -> float:
    assert isinstance(evaluation.certificate, Certificate)
    return evaluation.certificate.gap
