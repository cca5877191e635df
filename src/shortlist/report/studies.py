"""From fitted estimators to the records of a report."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from shortlist import losses, metrics
from shortlist.losses.labels import Labels
from shortlist.metrics.inputs import read_labels
from shortlist.metrics.responses import class_scores
from shortlist.report.by_threshold import label_sets
from shortlist.report.hardest import hardest_examples
from shortlist.report.measuring import measure, usual
from shortlist.report.plane import regions
from shortlist.report.records import (
    Best,
    Convergence,
    DataFacts,
    Fit,
    SearchResults,
    Study,
)
from shortlist.solvers import result
from shortlist.solvers.result import Certificate, History
from shortlist.tuning.search import Search

#: The columns of a search's results that are drawn; the values of single folds are not.
_DRAWN = ("params", "param_", "mean_test_", "std_test_", "max_gap", "threshold_")


def study(
    models: Any,
    X: Any = None,
    y: Any = None,
    *,
    metrics: Sequence[str] | None = None,
    title: str | None = None,
    source: str = "the examples given",
    train: DataFacts | None = None,
    feature_names: Sequence[str] | None = None,
    image: tuple[int, int] | None = None,
) -> Study:
    """Return what there is to show of one or more fitted estimators.

    Parameters
    ----------
    models : estimator, search or mapping
        A `TopKClassifier` or `MultilabelClassifier`, or several by names; or a
        `TopKClassifierCV` or `MultilabelClassifierCV`, of which the best model for each
        metric is shown, and validation curves.
    X, y : optional
        Examples to measure on, which the models have not seen, and their labels.
    metrics : sequence of str, optional
        Names of `shortlist.metrics`; by default some that fit the labels.
    title : str, optional
        A heading; by default the `source`.
    source : str
        What the examples are called.
    train : DataFacts, optional
        What the models were trained on.
    feature_names : sequence of str, optional
        The names of the columns of `X`.
    image : (int, int), optional
        Height and width, where an example is an image.

    Returns
    -------
    Study
        For `write`.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from shortlist import TopKClassifier, report
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TopKClassifier("topk_entropy", k=2).fit(X[::2], y[::2])
    >>> shown = report.study(model, X[1::2], y[1::2], source="iris")
    >>> shown.fits[0].name, shown.metrics, shown.test.n
    ('topk_entropy', ('top1',), 75)
    """
    if (X is None) != (y is None):
        raise ValueError("pass X and y together.")
    search = models if isinstance(models, Search) else None
    named = _by_name(models)
    first = next(iter(named.values()))
    multilabel = first._target_form != "single"
    if metrics is None:
        metrics = list(search.best_params_ if search else usual(first.classes_.size, multilabel))
    names = list(metrics)
    test, labels = None, None
    if X is not None:
        labels = read_labels(y, first.classes_.size, first.classes_)
        cardinality = labels.indices.size / max(1, labels.n)
        n, d = X.shape
        test = DataFacts(source, int(n), int(d), int(first.classes_.size), cardinality)
    fits = tuple(
        fit_record(
            model,
            X,
            labels,
            name=name,
            values=None if X is None else measure(model, X, labels, names),
            feature_names=feature_names,
            image=image,
        )
        for name, model in named.items()
    )
    found = None if search is None else search_record(search)
    return Study(title or source, train, test, tuple(names), fits, found, image)


def _by_name(models: Any) -> dict[str, Any]:
    """Return fitted estimators by what they are called."""
    if isinstance(models, Search):
        return {f"best for {name}": models.estimator_for(name) for name in models.best_params_}
    if isinstance(models, Mapping):
        if not models:
            raise ValueError("models is empty; pass at least one fitted estimator.")
        return {str(name): model for name, model in models.items()}
    return {_loss_name(models): models}


def _loss_name(model: Any) -> str:
    return model.loss if isinstance(model.loss, str) else str(model.loss)


def fit_record(
    model: Any,
    X: Any = None,
    y: Any = None,
    *,
    name: str | None = None,
    values: Mapping[str, float] | None = None,
    seconds: float | None = None,
    file: str = "",
    feature_names: Sequence[str] | None = None,
    image: tuple[int, int] | None = None,
) -> Fit:
    """Return what there is to show of a fitted estimator.

    Parameters
    ----------
    model : estimator
        A `TopKClassifier` or a `MultilabelClassifier`.
    X, y : optional
        Examples that it has not seen, and their labels.
    name : str, optional
        What it is called; by default its loss.
    values : mapping, optional
        Metrics that were measured.
    seconds : float, optional
        How long the fit took; by default as the solver says.
    file : str
        Where the model is.
    feature_names, image
        As in `study`.

    Returns
    -------
    Fit
    """
    loss = _loss_name(model)
    takes = losses.entry(loss).parameters if loss in losses.names() else ()
    own = 0.0 if not model.history_ else float(model.history_.seconds[-1])
    return Fit(
        name=loss if name is None else name,
        loss=loss,
        C=float(model.C),
        certificate=result.describe(model.certificate_),
        converged=bool(model.converged_),
        status=model.status_,
        epochs=int(model.n_iter_),
        seconds=round(own if seconds is None else seconds, 3),
        metrics=dict(values or {}),
        k=int(model.k) if "k" in takes else None,
        smoothing=float(model.smoothing) if "smoothing" in takes else None,
        kernel=model.kernel if isinstance(model.kernel, str) else "a function",
        tol=float(model.tol),
        model=file,
        convergence=convergence(model.history_),
        **({} if X is None else _seen_on(model, X, y, feature_names, image)),
    )


def convergence(history: History) -> Convergence:
    """Return a history's gaps against time."""
    certified = bool(history) and isinstance(history[-1].certificate, Certificate)
    return Convergence(
        seconds=tuple(history.seconds.tolist()),
        epochs=tuple(history.epochs.tolist()),
        gaps=tuple(history.gaps.tolist()) if certified else (),
        methods=tuple(line.method for line in history),
        notes=tuple(history.notes),
    )


def _seen_on(
    model: Any,
    X: Any,
    y: Any,
    feature_names: Sequence[str] | None,
    image: tuple[int, int] | None,
) -> dict[str, Any]:
    """Return what examples show of a model, as far as they can."""
    scores = class_scores(model, X)
    labels = y if isinstance(y, Labels) else read_labels(y, scores.shape[1], model.classes_)
    seen: dict[str, Any] = {
        "hardest": hardest_examples(
            X, labels, scores, model.classes_.tolist(), feature_names=feature_names, image=image
        )
    }
    if model._target_form != "single":
        seen["label_sets"] = label_sets(model, X, labels)
        return seen
    seen["topk"] = tuple(metrics.topk_accuracy_curve(labels, scores).tolist())
    if X.shape[1] == 2:
        seen["regions"] = regions(model, X, labels, k=min(2, scores.shape[1]))
    return seen


def search_record(search: Search) -> SearchResults:
    """Return what a fitted search has tried, as plain values."""
    columns = {
        name: np.asarray(values).tolist() if name != "params" else [dict(row) for row in values]
        for name, values in search.cv_results_.items()
        if name.startswith(_DRAWN)
    }
    model = next(iter(search._models.values())) if hasattr(search, "_models") else None
    return SearchResults(
        estimator="" if model is None else _loss_name(model),
        metrics=tuple(search.best_params_),
        folds=int(search.n_splits_),
        cv_results=columns,
        best={
            name: Best(dict(params), search.best_score_[name])
            for name, params in search.best_params_.items()
        },
        seconds=float(np.sum(search.cv_results_["mean_fit_time"]) * search.n_splits_),
    )


def best_fits(study: Study) -> tuple[Fit, ...]:
    """Return, of the fits of each name, the one that is best for the first metric."""
    if not study.metrics:
        return study.fits
    aim = metrics.metric(study.metrics[0])

    def merit(fit: Fit) -> float:
        value = aim.sign * fit.metrics.get(aim.name, math.nan)
        return value if math.isfinite(value) else -math.inf

    best: dict[str, Fit] = {}
    for fit in study.fits:
        if fit.name not in best or merit(fit) > merit(best[fit.name]):
            best[fit.name] = fit
    return tuple(best.values())
