"""What a solver returns: typed values, nothing printed."""

from __future__ import annotations

import enum
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import FloatArray


class Certificate(NamedTuple):
    """Bounds of the optimum: ``dual <= optimum <= primal``; `gap` is relative.

    Examples
    --------
    >>> from shortlist.solvers import Certificate
    >>> Certificate(primal=2.0, dual=1.5).gap
    0.25
    """

    primal: float
    dual: float

    @property
    def gap(self) -> float:
        r"""Return :math:`(P - D) / \max(|P|, |D|)`."""
        scale = max(abs(self.primal), abs(self.dual))
        return (self.primal - self.dual) / scale if scale > 0.0 else 0.0

    @property
    def excess(self) -> float:
        """The gap relative to the smaller objective, which falls from the very start.

        At a large C the primal objective begins far above the dual, and their gap relative to
        it, at 1 for long, tells nothing.
        """
        primal, dual = self
        return (primal - dual) / max(min(abs(primal), dual), 1e-6 * abs(primal), 1e-300)


class Stationarity(NamedTuple):
    """What can be said without a dual: the objective, and its gradient's norm.

    The norm is relative to that at zero weights.

    Examples
    --------
    >>> from shortlist import losses, solve
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]
    >>> solution = solve(X, y, losses.truncated_topk_entropy(k=1))
    >>> solution.certificate.gradient_norm <= 1e-3
    True
    """

    primal: float
    gradient_norm: float


def describe(certificate: Certificate | Stationarity) -> dict[str, float]:
    """Return a certificate by names, with its gap where it has one."""
    named = certificate._asdict()
    return {**named, "gap": certificate.gap} if isinstance(certificate, Certificate) else named


class Status(enum.Enum):
    """Why a run ended.

    Examples
    --------
    >>> from shortlist.solvers import Status
    >>> Status("converged")
    <Status.CONVERGED: 'converged'>
    """

    CONVERGED = "converged"
    MAX_EPOCHS = "max_epochs"
    MAX_ROUNDS = "max_rounds"  # of many machines
    MAX_TIME = "max_time"
    INTERRUPTED = "interrupted"
    STOPPED = "stopped"  # by the callback
    NO_PROGRESS = "no_progress"  # the precision of the numbers allows no more
    FAILED = "failed"  # numbers overflowed; what is returned is the model of zero duals


class Evaluation(NamedTuple):
    """One line of the history; the times are seconds since the start.

    `metrics` has, for each evaluation set by its name, the share of true labels among the
    k highest scores, for k = 1, ..., m: the top-k accuracies, where examples have one label.
    `method` is the one that led here, and `note`, at its first line, why it was changed to.

    Examples
    --------
    >>> from shortlist import solve
    >>> solution = solve([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2])
    >>> last = solution.history[-1]
    >>> last.method, last.gap <= 1e-3
    ('newton', True)
    """

    epoch: int
    certificate: Certificate | Stationarity
    seconds_solving: float
    seconds_evaluating: float
    metrics: Mapping[str, NDArray[np.float64]] = MappingProxyType({})
    method: str = ""
    note: str = ""

    @property
    def gap(self) -> float:
        """The relative duality gap."""
        return _certified(self).gap

    @property
    def excess(self) -> float:
        """The gap relative to the smaller objective."""
        return _certified(self).excess


class Progress(Evaluation):
    """What a callback is called with: an evaluation, and the weights at that moment.

    Examples
    --------
    >>> from shortlist import solve
    >>> def show(progress):
    ...     print(progress.weights().shape)
    ...     return True  # enough
    >>> X, y = [[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2]
    >>> solve(X, y, tol=1e-9, callback=show).status.value
    (2, 3)
    'stopped'
    """

    weights: Callable[[], FloatArray]

    @classmethod
    def of(cls, line: Evaluation, weights: Callable[[], FloatArray]) -> Progress:
        """Return a line of the history, with the function that returns the weights."""
        progress = cls(*line)
        progress.weights = weights
        return progress


class History(list[Evaluation]):
    """All evaluations of a run, and their columns as arrays.

    Examples
    --------
    >>> from shortlist import solve
    >>> solution = solve([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2])
    >>> history = solution.history
    >>> bool((history.primal >= history.dual).all()), len(history.epochs) == len(history.gaps)
    (True, True)
    """

    @property
    def epochs(self) -> NDArray[np.int64]:
        """Passes over the data."""
        return np.array([evaluation.epoch for evaluation in self], np.int64)

    @property
    def primal(self) -> NDArray[np.float64]:
        """Objectives of the weights."""
        return np.array([evaluation.certificate.primal for evaluation in self])

    @property
    def dual(self) -> NDArray[np.float64]:
        """Lower bounds of the optimum."""
        return np.array([_certified(evaluation).dual for evaluation in self])

    @property
    def gaps(self) -> NDArray[np.float64]:
        """Relative duality gaps."""
        return np.array([evaluation.gap for evaluation in self])

    @property
    def notes(self) -> list[str]:
        """Where and why the method was changed."""
        return [line.note for line in self if line.note]

    @property
    def seconds(self) -> NDArray[np.float64]:
        """Seconds since the start, solving and evaluating together."""
        return np.array([line.seconds_solving + line.seconds_evaluating for line in self])


def _certified(evaluation: Evaluation) -> Certificate:
    if not isinstance(evaluation.certificate, Certificate):
        raise ValueError("the loss is not convex: there is no dual, and no gap.")
    return evaluation.certificate


class Solution(NamedTuple):
    """A trained model with its certificate, true for what is returned.

    Examples
    --------
    >>> from shortlist import solve
    >>> solution = solve([[1.0, 0.0], [0.0, 1.0], [-1.0, -1.0]], [0, 1, 2])
    >>> solution.weights.shape, solution.duals.shape, solution.status.value
    ((2, 3), (3, 3), 'converged')
    """

    #: (d, m): scores are X @ weights; with an intercept there is one row more, for the constant
    #: column. For a kernel (n, m): scores are (K(X, examples) + intercept^2) @ weights.
    weights: FloatArray
    duals: FloatArray  # (n, m)
    certificate: Certificate | Stationarity  # the latter where the loss is not convex
    status: Status
    history: History

    @property
    def converged(self) -> bool:
        """Whether the gap reached the tolerance."""
        return self.status is Status.CONVERGED
