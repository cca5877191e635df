"""One fold: a path of models over C, and the scores of the examples they were not trained on."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone

from shortlist._arrays import FloatArray
from shortlist.estimators.base import Model, ShortlistClassifier
from shortlist.estimators.models import FreeInterceptModel, KernelModel
from shortlist.estimators.targets import Examples, Target
from shortlist.estimators.weighting import example_weights
from shortlist.losses.labels import Labels
from shortlist.metrics import metric
from shortlist.rows import Storage, as_storage, operations
from shortlist.rows.kernel import between
from shortlist.solvers import Solution, Stationarity, Status, path

Fold = tuple[NDArray[np.int64], NDArray[np.int64]]


class Study(NamedTuple):
    """What all paths of a search share."""

    estimator: ShortlistClassifier
    X: Any
    target: Target
    weights: NDArray[np.float64]
    folds: Sequence[Fold]
    metrics: tuple[str, ...]
    seed: int

    @property
    def needs_scores(self) -> bool:
        """Whether a metric depends on a threshold, which is tuned on the scores of all folds."""
        return any(metric(name).needs == "sets" for name in self.metrics)

    def unseen(self, fold: int) -> tuple[Labels, NDArray[np.float64]]:
        """Return the labels and the weights of the examples that a fold holds out."""
        _, test = self.folds[fold]
        return self.target.labels.take(test), self.weights[test]


class Task(NamedTuple):
    """A path to be trained: a fold, the parameters other than C, and ascending values of C."""

    fold: int
    params: dict[str, Any]
    Cs: tuple[float, ...]


class Outcome(NamedTuple):
    """What is kept of a path, one row for each C."""

    values: NDArray[np.float64]  # of the metrics of scores; NaN in the columns of the others
    scores: FloatArray  # (len(Cs), n, m) of the fold's examples, n = 0 where no metric needs them
    epochs: NDArray[np.int64]
    seconds: NDArray[np.float64]
    gaps: NDArray[np.float64]  # for a loss that is not convex, relative norms of the gradient


def follow(study: Study, task: Task) -> Outcome:
    """Train the models of a path, and keep what they say of unseen examples."""
    estimator = clone(study.estimator).set_params(**task.params)
    train, test = study.folds[task.fold]
    examples, X = _split(study, estimator, train, test)
    labels, weights = study.unseen(task.fold)
    known, needs_scores = [metric(name) for name in study.metrics], study.needs_scores

    def keep(scores: FloatArray, solution: Solution) -> tuple[Any, ...]:
        values = [
            each.function(labels, scores, sample_weight=weights)
            if each.needs == "scores"
            else np.nan
            for each in known
        ]
        kept = scores if needs_scores else scores[:0]
        last = solution.history[-1]
        seconds = last.seconds_solving + last.seconds_evaluating
        return values, kept, last.epoch, seconds, _gap(solution)

    lines = _along(estimator, examples, X, task.Cs, study.seed, keep)
    if len(lines) < len(task.Cs):
        raise KeyboardInterrupt
    values, scores, epochs, seconds, gaps = (np.array(each) for each in zip(*lines, strict=True))
    return Outcome(values, scores, epochs, seconds, gaps)


def _split(
    study: Study, estimator: ShortlistClassifier, train: Any, test: Any
) -> tuple[Examples, Any]:
    """Return the examples to train on, and the rows of X that are held out."""
    target = study.target._replace(labels=study.target.labels.take(train))
    weights = example_weights(study.weights[train], estimator.class_weight, target)
    seen, unseen = study.X[train], study.X[test]
    if estimator.kernel == "precomputed":
        seen, unseen = seen[:, train], unseen[:, train]
    return Examples(seen, target, weights), unseen


def _along(
    estimator: ShortlistClassifier,
    examples: Examples,
    X: Any,
    Cs: Sequence[float],
    seed: int,
    keep: Callable[[FloatArray, Solution], Any],
) -> list[Any]:
    """Return what is kept of the scores of X and of the solutions for all C."""
    labels, loss = examples.target.labels, estimator._fitting_loss(examples.target)
    options = {"sample_weight": examples.weights, **estimator._solver_options(seed)}
    model = estimator.set_params(C=Cs[0])._model(examples)
    if not isinstance(model, FreeInterceptModel):
        scores_of = _scorer(model, X)
        rows = model.rows if isinstance(model, KernelModel) else as_storage(*model)
        return path(
            rows, labels, loss, Cs=Cs, keep=lambda each: keep(scores_of(each), each), **options
        )
    lines: list[Any] = []
    duals = None
    for C in Cs:
        model = estimator.set_params(C=C)._model(examples)  # C decides the intercept's scale
        solution = model.train(labels, loss, C=C, duals=duals, **options)
        duals = solution.duals
        lines.append(keep(_scorer(model, X)(solution), solution))
        if solution.status is Status.INTERRUPTED:
            break
    return lines


def _scorer(model: Model, X: Any) -> Callable[[Solution], FloatArray]:
    """Return the function that gives the scores of X for a solution."""
    rows: Storage
    if isinstance(model, KernelModel):
        rows = model.rows
        if rows.computed is not None and rows.function is not None:
            # The kernel of the training examples fits into memory, so this one does: once for all.
            X, rows = between(rows, X, rows.points), rows._replace(function=None)
    else:
        rows = as_storage(*model)
    return lambda solution: operations.new_scores(rows, X, solution.weights)


def _gap(solution: Solution) -> float:
    certificate = solution.certificate
    if isinstance(certificate, Stationarity):
        return certificate.gradient_norm
    return certificate.gap
