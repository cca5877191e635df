"""When a fit stops early, and what it says when it stopped too early."""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import train_test_split

from shortlist._arrays import FloatArray, as_integer, as_positive
from shortlist.estimators.targets import Target
from shortlist.losses.labels import Labels
from shortlist.metrics import metric
from shortlist.solvers.result import Progress, Solution, Stationarity, Status

#: The name of the examples held out, in the history.
VALIDATION = "validation"

Numbers = NDArray[np.int64]


class EarlyStopping(NamedTuple):
    """Stop when a metric on examples held out has not improved for a while; keep the best model.

    Parameters
    ----------
    metric : str
        The name of a metric of scores (`shortlist.metrics.names`): "top1", "top5", "map",
        "rank_loss", ...
    patience : int
        Evaluations without a better value after which the fit ends.
    fraction : float
        The share of the examples that is held out, unless `fit` is given ``X_val, y_val``.

    Examples
    --------
    >>> from shortlist import EarlyStopping, TopKClassifier
    >>> TopKClassifier("svm", early_stopping=EarlyStopping("top5", patience=3)).early_stopping
    EarlyStopping(metric='top5', patience=3, fraction=0.1)
    """

    metric: str = "top1"
    patience: int = 5
    fraction: float = 0.1

    def check(self, m: int) -> None:
        """Refuse what cannot be watched with `m` classes."""
        if metric(self.metric).needs != "scores":
            raise ValueError(f"{self.metric} is a metric of label sets: watch one of scores.")
        metric(self.metric).function(np.zeros(1, np.int64), np.zeros((1, m)))  # has k <= m
        as_integer(self.patience, "patience", 1)
        if as_positive(self.fraction, "fraction") >= 1.0:
            raise ValueError(f"fraction is {self.fraction}; it must be less than 1.")

    def watch(self, labels: Labels, scores: Callable[[FloatArray], FloatArray]) -> Watch:
        """Return the callback of one fit; `scores` are those of given weights, held out."""
        known = metric(self.metric)
        return Watch(lambda w: known.sign * known.function(labels, scores(w)), self.patience)


class Watch:
    """The best model so far, and how long ago it was."""

    def __init__(self, quality: Callable[[FloatArray], float], patience: int) -> None:
        self.quality, self.patience = quality, patience
        self.value, self.since, self.wants_to_stop = -math.inf, 0, False
        self.best: dict[str, Any] = {}

    def __call__(self, progress: Progress) -> bool:
        """Return whether it is time to stop."""
        weights = progress.weights()
        value = self.quality(weights)
        if value > self.value:
            self.value, self.since = value, 0
            self.best = {"weights": weights.copy(), "certificate": progress.certificate}
        else:
            self.since += 1
        self.wants_to_stop = self.since >= self.patience
        return self.wants_to_stop

    def best_of(self, solution: Solution) -> Solution:
        """Return the best model, with its certificate, if it is for this that the run ended."""
        if solution.status is not Status.STOPPED or not self.wants_to_stop:
            return solution
        return solution._replace(**self.best)


_ADVICE = {
    Status.MAX_EPOCHS: "raise max_epochs, lower C, or scale the features",
    Status.MAX_ROUNDS: "raise max_rounds, lower C, or scale the features",
    Status.MAX_TIME: "raise max_time, lower C, or scale the features",
    Status.INTERRUPTED: "let it run, or pass a checkpoint to continue from",
    Status.NO_PROGRESS: "this is all that the precision allows: pass float64, or a larger tol",
    Status.FAILED: "numbers overflowed: scale the features, lower C, or pass float64",
}


def warn_unless_converged(solution: Any, tol: float, unit: str = "epochs") -> None:
    """Say which gap was reached, which was asked for, and what to change."""
    if solution.status not in _ADVICE:
        return
    certificate, epochs = solution.certificate, int(solution.history[-1].epoch)
    if isinstance(certificate, Stationarity):
        reached = f"the gradient is {certificate.gradient_norm:.1e} of its first norm"
    else:
        reached = f"the duality gap is {certificate.gap:.1e}"
    message = (
        f"{reached} after {epochs} {unit} ({solution.status.value}); "
        f"{tol:.1e} was asked for: {_ADVICE[solution.status]}."
    )
    warnings.warn(message, ConvergenceWarning, stacklevel=3)


def split(target: Target, fraction: float, seed: int) -> tuple[Numbers, Numbers]:
    """Return the examples to train on and those to hold out, with classes in equal shares."""
    strata = target.labels.indices if target.is_single else None
    if strata is not None and np.bincount(strata).min() < 2:
        strata = None  # a class with one example cannot be on both sides
    train, held_out = train_test_split(
        np.arange(target.labels.n), test_size=fraction, random_state=seed, stratify=strata
    )
    return np.sort(train), np.sort(held_out)
