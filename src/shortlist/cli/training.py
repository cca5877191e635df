"""One fit, as `train`, `tune`, `compare` and `demo` need it."""

from __future__ import annotations

import math
import time
from pathlib import Path
from typing import Any, NamedTuple

from shortlist import losses
from shortlist.cli.console import watched
from shortlist.cli.data import labels_of
from shortlist.datasets import Dataset
from shortlist.estimators import MultilabelClassifier, TopKClassifier
from shortlist.losses.operations import traits
from shortlist.solvers import result
from shortlist.solvers.result import Status

_CHECKPOINT_EVERY = 10.0  # seconds


class Settings(NamedTuple):
    """The parameters of an estimator that the command offers."""

    loss: str
    k: int = 5
    smoothing: float = 1.0
    C: float = 1.0
    kernel: str = "linear"
    gamma: float | str = "scale"
    degree: float = 3.0
    coef0: float = 0.0
    fit_intercept: bool = True
    class_weight: str | None = None
    tol: float = 1e-3
    max_epochs: int = 10_000
    max_time: float = math.inf
    n_jobs: int | None = None
    random_state: int = 0


def loss_of(settings: Settings) -> Any:
    """Return the loss of settings, with the parameters that it takes."""
    return losses.make_from(settings.loss, k=settings.k, smoothing=settings.smoothing)


class Fit(NamedTuple):
    """A trained model, and how long it took."""

    model: Any
    seconds: float

    @property
    def facts(self) -> dict[str, Any]:
        """What a machine wants to know of the fit."""
        model = self.model
        return {
            "certificate": result.describe(model.certificate_),
            "converged": model.converged_,
            "status": model.status_,
            "epochs": model.n_iter_,
            "seconds": round(self.seconds, 3),
        }


def estimator(settings: Settings, multilabel: bool, **options: Any) -> Any:
    """Return the estimator of these settings, not trained yet."""
    kind: Any = MultilabelClassifier if multilabel else TopKClassifier
    return kind(**settings._asdict(), **options)


def fit(
    data: Dataset,
    settings: Settings,
    *,
    threshold: Any = 0.0,
    checkpoint: Path | None = None,
    checkpoint_every: float = 60.0,
) -> Fit:
    """Train a model whose classes are the labels as the file writes them."""
    options: dict[str, Any] = {
        "checkpoint": checkpoint,
        "checkpoint_every": checkpoint_every,
        "verbose": watched(),
    }
    if data.multilabel:
        options["threshold"] = threshold
    y, classes = labels_of(data)
    model = estimator(settings, data.multilabel, **options)
    started = time.perf_counter()
    model.fit(data.X, y)
    if data.multilabel:
        model.classes_ = classes  # a matrix has columns, and no names for them
    return Fit(model, time.perf_counter() - started)


def fit_or_continue(data: Dataset, settings: Settings, checkpoint: Path) -> Fit:
    """Train a model, from a checkpoint if there is one; Ctrl-C leaves it there and is raised."""
    is_convex = traits(loss_of(settings)).convex  # only then a fit can be continued
    fitted = fit(
        data,
        settings,
        checkpoint=checkpoint if is_convex else None,
        checkpoint_every=_CHECKPOINT_EVERY,
    )
    if fitted.model.status_ == Status.INTERRUPTED.value:
        raise KeyboardInterrupt
    return fitted
