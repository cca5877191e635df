"""Training to a proven optimum: `solve`, and `path` for several C."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist._arrays import as_nonnegative, as_positive
from shortlist.losses import check_labels
from shortlist.losses.operations import traits
from shortlist.losses.registry import Loss, make, softmax
from shortlist.rows import as_storage
from shortlist.rows.operations import n_rows
from shortlist.solvers import gradient, sdca
from shortlist.solvers.options import Callback, Options
from shortlist.solvers.problem import Problem
from shortlist.solvers.result import Certificate, Evaluation, Solution, Stationarity, Status

__all__ = ["Certificate", "Evaluation", "Solution", "Stationarity", "Status", "path", "solve"]


def solve(
    X: Any,
    y: Any,
    loss: Loss = "softmax",
    *,
    n_classes: int | None = None,
    C: float = 1.0,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-3,
    max_epochs: int = 1000,
    max_time: float = math.inf,
    duals: ArrayLike | None = None,
    random_state: int = 0,
    block_size: int | None = None,
    n_threads: int | None = None,
    callback: Callback | None = None,
) -> Solution:
    r"""Train a linear model and prove how good it is.

    .. math::

        \min_W \ \tfrac12 \|W\|^2 + C \sum_i w_i L(y_i, W' x_i)

    by stochastic dual coordinate ascent. The answer comes with a certificate: the values of
    this objective and of its dual, between which the optimum lies. For a loss that is not
    convex (`truncated_topk_entropy`) L-BFGS descends from the softmax solution instead, and
    the certificate is the norm of the gradient.

    Parameters
    ----------
    X : array_like or sparse matrix, shape (n, d)
        One example a row, float32 or float64 (kept), dense or sparse.
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
    tol : float
        The relative duality gap to reach, :math:`(P - D) / \max(|P|, |D|)`; for a loss that
        is not convex, the norm of the gradient relative to that at zero weights.
    max_epochs : int
        The most passes over the data.
    max_time : float
        The most seconds; checked after each pass.
    duals : array_like, shape (n, m), optional
        Dual variables to start from: those of an earlier solution, for any C.
    random_state : int
        The seed of the order in which examples are visited.
    block_size : int, optional
        How many examples share one matrix product; the iterates do not depend on it.
    n_threads : int, optional
        Threads for the matrix products; by default all cores where that pays.
    callback : callable, optional
        Called with each `Evaluation`; the run ends when it returns true.

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
    problem = _problem(X, y, loss, n_classes, as_positive(C, "C"), sample_weight)
    options = _options(tol, max_epochs, max_time, random_state, block_size, n_threads, callback)
    return _run(problem, _start(duals, problem), options)


def path(
    X: Any,
    y: Any,
    loss: Loss = "softmax",
    *,
    Cs: ArrayLike,
    n_classes: int | None = None,
    sample_weight: ArrayLike | None = None,
    tol: float = 1e-3,
    max_epochs: int = 1000,
    max_time: float = math.inf,
    random_state: int = 0,
    block_size: int | None = None,
    n_threads: int | None = None,
    callback: Callback | None = None,
) -> list[Solution]:
    r"""Train one linear model for each `C`, each starting from the one before.

    The domain of the dual variables does not depend on `C`, so the duals of one solution
    are a start for the next; increasing values are best.

    Parameters
    ----------
    X, y, loss
        As for `solve`.
    Cs : array_like
        The weights of the losses, in the order in which they are solved.
    n_classes, sample_weight, tol, random_state, block_size, n_threads, callback
        As for `solve`.
    max_epochs, max_time
        The limits of each solution.

    Returns
    -------
    list of Solution

    Examples
    --------
    >>> from shortlist import path
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]
    >>> [solution.converged for solution in path(X, y, Cs=[0.1, 1.0, 10.0])]
    [True, True, True]
    """
    values = [as_positive(C, "C") for C in np.atleast_1d(np.asarray(Cs)).tolist()]
    options = _options(tol, max_epochs, max_time, random_state, block_size, n_threads, callback)
    problem = _problem(X, y, loss, n_classes, 1.0, sample_weight)
    weights, duals, solutions = problem.c, None, []
    for C in values:
        problem.c = C * weights
        solutions.append(_run(problem, _start(duals, problem), options))
        duals = solutions[-1].duals
    return solutions


def _problem(
    X: Any,
    y: Any,
    loss: Loss,
    n_classes: int | None,
    C: float,
    sample_weight: ArrayLike | None,
) -> Problem:
    loss = make(loss) if isinstance(loss, str) else loss
    rows = as_storage(X)
    labels = check_labels(loss, y, n_rows(rows), n_classes)
    return Problem(rows, labels, loss, C * _sample_weight(sample_weight, n_rows(rows)))


def _run(problem: Problem, duals: Any, options: Options) -> Solution:
    if traits(problem.loss).convex:
        return sdca.solve(problem, duals, options)
    start = sdca.solve(problem.with_loss(softmax()), duals, options._replace(callback=None))
    return gradient.solve(problem, start.weights, options)


def _options(
    tol: float,
    max_epochs: int,
    max_time: float,
    random_state: int,
    block_size: int | None,
    n_threads: int | None,
    callback: Callback | None,
) -> Options:
    if block_size is not None and block_size < 1:
        raise ValueError(f"block_size is {block_size}; it must be at least 1.")
    if max_epochs < 1:
        raise ValueError(f"max_epochs is {max_epochs}; it must be at least 1.")
    if not max_time > 0.0:
        raise ValueError(f"max_time is {max_time}; it must be positive.")
    tol = as_nonnegative(tol, "tol")
    return Options(tol, max_epochs, max_time, random_state, block_size, n_threads, callback)


def _sample_weight(
    sample_weight: ArrayLike | None, n: int
) -> np.ndarray[Any, np.dtype[np.float64]]:
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(f"sample_weight has shape {weights.shape}; X has {n} rows.")
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0.0)))
    if bad.size:
        at = int(bad[0])
        raise ValueError(
            f"sample_weight[{at}] is {weights[at]}; it must be finite and not negative."
        )
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
    return start
