"""Training to a proven optimum: `solve`, and `path` for several C."""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike

from shortlist._arrays import (
    as_choice,
    as_integer,
    as_nonnegative,
    as_number,
    as_positive,
    as_weights,
)
from shortlist.losses import batch, check_labels
from shortlist.losses.labels import Labels
from shortlist.losses.operations import traits
from shortlist.losses.registry import Loss, make, softmax
from shortlist.rows import Storage, as_storage, operations
from shortlist.rows.convert import as_csr, as_matrix
from shortlist.solvers import choice, gradient, training, warm
from shortlist.solvers.checkpoint import CheckpointError
from shortlist.solvers.interruption import Interruption
from shortlist.solvers.memory import Memory
from shortlist.solvers.options import Callback, Options
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import (
    Certificate,
    Evaluation,
    History,
    Progress,
    Solution,
    Stationarity,
    Status,
)
from shortlist.solvers.team import available_cores

__all__ = [
    "Callback",
    "Certificate",
    "CheckpointError",
    "Evaluation",
    "History",
    "Progress",
    "Solution",
    "Stationarity",
    "Status",
    "path",
    "solve",
]

#: The curvature of a step that moves feasible duals by less than rounding.
_SHORT = 1e9
#: Data to evaluate on while training, by name.
EvaluationSets: TypeAlias = Mapping[str, tuple[Any, Any]]


def solve(
    X: Any,
    y: Any,
    loss: Loss = "softmax",
    *,
    n_classes: int | None = None,
    C: float = 1.0,
    sample_weight: ArrayLike | None = None,
    intercept: float = 0.0,
    anchor: ArrayLike | None = None,
    solver: str = "auto",
    tol: float = 1e-3,
    max_epochs: int = 10_000,
    max_time: float = math.inf,
    duals: ArrayLike | None = None,
    random_state: int = 0,
    block_size: int | None = None,
    n_threads: int | None = None,
    evaluate_on: EvaluationSets | None = None,
    callback: Callback | None = None,
    checkpoint: str | os.PathLike[str] | None = None,
    checkpoint_every: float = 60.0,
) -> Solution:
    r"""Train a linear or kernel model and prove how good it is.

    .. math::

        \min_W \ \tfrac12 \|W - W_0\|^2 + C \sum_i w_i L(y_i, W' x_i)

    by stochastic dual coordinate ascent, accelerated or followed by Newton's method where C is
    large. The answer comes with a certificate: the values of this objective and of its dual,
    between which the optimum lies. For a loss that is not convex (`truncated_topk_entropy`)
    L-BFGS descends from the softmax solution instead, and the certificate is the norm of the
    gradient.

    Parameters
    ----------
    X : array_like, sparse matrix or storage, shape (n, d)
        One example a row: float32 or float64 (kept) in any memory order, also a memory map
        larger than memory; sparse; or `shortlist.rows.kernel`.
    y : array_like, sparse matrix or sequence
        Labels: integers from 0, an indicator matrix, or lists of integers.
    loss : loss or str
        A loss of `shortlist.losses`, or the name of one that needs no parameter.
    n_classes : int, optional
        The number of classes `m`; by default what `y` shows.
    C : float
        The weight of the losses against the regulariser.
    sample_weight : array_like, shape (n,), optional
        The weights :math:`w_i \ge 0`; 2 is the example twice, 0 without it.
    intercept : float
        A constant column of this value is added to X, and the weights have one row more;
        for a kernel, its square is added to the kernel. 0 adds none.
    anchor : array_like, shape of the weights, optional
        The weights :math:`W_0` towards which to regularise; zero by default. Not for kernels.
    solver : {"auto", "sdca", "accelerated", "whitened", "newton"}
        The method, see :doc:`/how`. "auto" begins with plain passes of SDCA and changes to what
        is likely to be faster; ``history.notes`` of the solution say when and why.
    tol : float
        The relative duality gap to reach, :math:`(P - D) / \max(|P|, |D|)`; for a loss that
        is not convex, the norm of the gradient relative to that at zero weights.
    max_epochs : int
        The most passes over the data; a step of Newton's method takes several.
    max_time : float
        The most seconds, those of the runs before a checkpoint included.
    duals : array_like, shape (n, m), optional
        Dual variables to start from: those of an earlier solution, for any C.
    random_state : int
        The seed of the order in which examples are visited.
    block_size : int, optional
        How many examples share one matrix product; the iterates do not depend on it.
    n_threads : int, optional
        Threads; by default all cores. With more than one, several blocks may be visited at
        once, see :doc:`/how`; with 1 the iterates are those of one example at a time.
    evaluate_on : mapping, optional
        Sets ``{name: (X, y)}`` whose top-k accuracies, for all k, are part of each evaluation.
    callback : callable, optional
        Called with each `Evaluation`, whose method ``weights()`` returns the weights at that
        moment; the run ends when it returns true.
    checkpoint : path, optional
        A file to continue from where it exists, and to write to: the run ends in the same
        bits as without a break. A checkpoint of other data or options is refused.
    checkpoint_every : float
        Seconds between two checkpoints; one is also written whenever a run ends.

    Returns
    -------
    Solution
        Weights, duals, certificate, status and history. Ctrl-C ends a run early, with a
        true certificate and the status "interrupted".

    Examples
    --------
    >>> from shortlist import losses, solve
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]
    >>> solution = solve(X, y, losses.svm(smoothing=1.0), tol=1e-6)
    >>> solution.converged, solution.certificate.gap <= 1e-6
    (True, True)
    >>> (X @ solution.weights).argmax(axis=1)
    array([0, 1, 2])
    """
    problem = _problem(X, y, loss, n_classes, as_positive(C, "C"), sample_weight, intercept, anchor)
    options = _options(
        problem, solver, tol, max_epochs, max_time, random_state, block_size, n_threads,
        evaluate_on, callback, checkpoint, checkpoint_every,
    )  # fmt: skip
    with Interruption() as interruption:
        first = choice.first(_relaxed(problem), options, is_cold=duals is None)
        start = warm.Start(_start(duals, problem))
        return _run(problem, start, options, interruption, first)


def path(
    X: Any,
    y: Any,
    loss: Loss = "softmax",
    *,
    Cs: ArrayLike,
    n_classes: int | None = None,
    sample_weight: ArrayLike | None = None,
    intercept: float = 0.0,
    anchor: ArrayLike | None = None,
    solver: str = "auto",
    tol: float = 1e-3,
    max_epochs: int = 10_000,
    max_time: float = math.inf,
    random_state: int = 0,
    block_size: int | None = None,
    n_threads: int | None = None,
    evaluate_on: EvaluationSets | None = None,
    callback: Callback | None = None,
    keep: Callable[[Solution], Any] | None = None,
) -> list[Any]:
    r"""Train one model for each `C`, each starting from those before.

    The domain of the dual variables does not depend on `C`, so the duals of one solution
    are a start for the next; with two solutions known, weights are followed along a line in
    :math:`\log C`. Increasing values are best. A solution that is within `tol` for the next value
    as it is serves that, too: the arrays of both are the same.

    Parameters
    ----------
    X, y, loss
        As for `solve`.
    Cs : array_like
        The weights of the losses, in the order in which they are solved.
    n_classes, sample_weight, intercept, anchor
        As for `solve`.
    solver, tol, random_state, block_size, n_threads, evaluate_on, callback
        As for `solve`; "auto" begins each solution with the method that ended the one
        before, or, where only its last steps are left, with Newton's.
    max_epochs, max_time
        The limits of each solution.
    keep : callable, optional
        What to keep of each solution; by default all of it, weights and duals for each `C`.

    Returns
    -------
    list of Solution, or of what was kept
        Fewer than `Cs` where Ctrl-C or the callback ended it.

    Examples
    --------
    >>> from shortlist import path
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]
    >>> [solution.converged for solution in path(X, y, Cs=[0.1, 1.0, 10.0])]
    [True, True, True]
    """
    values = [as_positive(C, "C") for C in np.atleast_1d(np.asarray(Cs)).tolist()]
    problem = _problem(X, y, loss, n_classes, 1.0, sample_weight, intercept, anchor)
    options = _options(
        problem, solver, tol, max_epochs, max_time, random_state, block_size, n_threads,
        evaluate_on, callback, None, math.inf,
    )  # fmt: skip
    weights, memory = problem.c, Memory()
    start = warm.Start(_start(None, problem), None, memory)
    kept: list[Any] = []
    solved: list[warm.Solved] = []
    with Interruption() as interruption:
        for C in values:
            problem.set_weights(C * weights)
            relaxed = _relaxed(problem)
            if not solved or relaxed is not problem:
                first = choice.first(relaxed, options)
            else:
                first = choice.next_along(problem, solved[-1], memory, options)
            if solved:
                start = warm.start(
                    relaxed, C, solved, memory, first, options.tol, options.n_threads
                )
            solution = _run(problem, start, options, interruption, first)
            if not solved or solution.duals is not solved[-1].solution.duals:
                solved = [
                    *solved[1 - warm.KNOWN :],
                    warm.remember(problem, C, start, solution, tol),
                ]
            kept.append(solution if keep is None else keep(solution))
            if interruption.happened or solution.status is Status.STOPPED:
                break
    return kept


def _problem(
    X: Any,
    y: Any,
    loss: Loss,
    n_classes: int | None,
    C: float,
    sample_weight: ArrayLike | None,
    intercept: float,
    anchor: ArrayLike | None,
) -> Problem:
    loss = make(loss) if isinstance(loss, str) else loss
    rows = as_storage(X, intercept)
    n = operations.n_rows(rows)
    labels = check_labels(loss, y, n, n_classes)
    c = C * as_weights(sample_weight, n)
    return Problem(rows, labels, loss, c, _anchor(anchor, rows, labels.m))


def _run(
    problem: Problem,
    start: warm.Start,
    options: Options,
    interruption: Interruption,
    first: str,
) -> Solution:
    if traits(problem.loss).convex:
        return training.solve(problem, start, options, interruption, first)
    if options.checkpoint is not None:
        raise ValueError(
            "checkpoint is for convex losses; this one starts from softmax's solution."
        )
    convex = options._replace(callback=None, evaluation_sets={})
    relaxed = training.solve(_relaxed(problem), start, convex, interruption, first)
    spent = float(relaxed.history.seconds[-1])
    return gradient.solve(problem, relaxed.weights, options, interruption, spent)


def _relaxed(problem: Problem) -> Problem:
    """Return a problem with a convex loss: where there is no such, that of softmax."""
    return problem if traits(problem.loss).convex else problem.with_loss(softmax())


def _options(
    problem: Problem,
    solver: str,
    tol: float,
    max_epochs: int,
    max_time: float,
    random_state: int,
    block_size: int | None,
    n_threads: int | None,
    evaluate_on: EvaluationSets | None,
    callback: Callback | None,
    checkpoint: str | os.PathLike[str] | None,
    checkpoint_every: float,
) -> Options:
    if not as_number(max_time, "max_time") > 0.0:
        raise ValueError(f"max_time is {max_time}; it must be positive.")
    if callback is not None and not callable(callback):
        raise TypeError(f"callback is {callback!r}; it must be a function of an Evaluation.")
    sets = {
        name: _evaluation_set(name, pair, problem) for name, pair in (evaluate_on or {}).items()
    }
    path = None if checkpoint is None else Path(checkpoint)
    if path is not None and not path.parent.is_dir():
        raise ValueError(f"there is no folder {path.parent} for the checkpoint.")
    if path is not None and path.is_dir():
        raise ValueError(f"checkpoint {path} is a folder; name a file.")
    as_choice(solver, choice.SOLVERS, "solver")
    choice.check(solver, problem)
    return Options(
        solver=solver,
        tol=as_nonnegative(tol, "tol"),
        max_epochs=as_integer(max_epochs, "max_epochs", 1),
        max_time=max_time,
        seed=as_integer(random_state, "random_state", 0),
        block_size=None if block_size is None else as_integer(block_size, "block_size", 1),
        n_threads=available_cores() if n_threads is None else as_integer(n_threads, "n_threads", 1),
        callback=callback,
        evaluation_sets=sets,
        checkpoint=path,
        checkpoint_every=as_number(checkpoint_every, "checkpoint_every"),
    )


def _evaluation_set(name: str, pair: Any, problem: Problem) -> tuple[Any, Labels]:
    what = f"evaluate_on[{name!r}]"
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        raise TypeError(f"{what} must be a pair (X, y).")
    X, y = pair
    matrix = as_csr(X, what) if scipy.sparse.issparse(X) else as_matrix(X, what)
    columns = operations.n_features(problem.rows)
    if matrix.shape[1] != columns:
        raise ValueError(f"{what} has {matrix.shape[1]} columns; X has {columns}.")
    return matrix, check_labels(problem.loss, y, matrix.shape[0], problem.m)


def _anchor(anchor: ArrayLike | None, rows: Storage, m: int) -> Any:
    if anchor is None:
        return None
    if not operations.is_linear(rows):
        raise ValueError("anchor is for linear models; a kernel's weights cannot be given.")
    shape = (operations.model_rows(rows), m)
    weights = np.asarray(anchor, dtype=rows.dtype)
    if weights.shape != shape:
        raise ValueError(f"anchor has shape {weights.shape}; the weights have {shape}.")
    if not np.isfinite(weights).all():
        raise ValueError("anchor has elements that are not finite.")
    return weights


def _start(duals: ArrayLike | None, problem: Problem) -> Any:
    shape = (problem.n, problem.m)
    if duals is None:
        return np.zeros(shape, problem.dtype)
    start = np.array(duals, dtype=problem.dtype, order="C")  # a copy: the solver writes to it
    if start.shape != shape:
        raise ValueError(f"duals has shape {start.shape}; examples and classes are {shape}.")
    if not np.isfinite(start).all():
        raise ValueError("duals has elements that are not finite.")
    # A step so short that all it does is to move them to what is feasible.
    known = problem.labels.offsets, problem.labels.indices
    _relaxed(problem).run(
        batch.centred_step_rows, np.zeros_like(start), start, _SHORT, *known, start
    )
    return start
