"""What both searches share: from folds and settings to the best model for every metric."""

from __future__ import annotations

import copy
import os
import sys
import time
import warnings
from collections.abc import Sequence
from numbers import Integral
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin, clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import check_is_fitted

from shortlist._arrays import FloatArray
from shortlist.estimators.base import ShortlistClassifier
from shortlist.estimators.targets import Target
from shortlist.estimators.weighting import own_weights
from shortlist.metrics import metric, scorer
from shortlist.model_selection import IterativeStratifiedKFold, thresholds
from shortlist.model_selection.thresholds import Candidates, Tuned
from shortlist.tuning import curves
from shortlist.tuning.grid import EXTENSIONS, as_groups, ascending, beyond
from shortlist.tuning.paths import Fold, Outcome, Study, Task, follow
from shortlist.tuning.results import Line, Table, judge
from shortlist.tuning.store import Store

#: By default these, where there are more classes than k.
TOPK_METRICS = ("top1", "top3", "top5", "top10")
SET_METRICS = (
    "rank_loss", "hamming_loss", "accuracy", "subset_accuracy", "f1_micro", "f1_macro",
    "f1_instance",
)  # fmt: skip


def _predicts_probabilities(search: Any) -> bool:
    model = getattr(search, "best_estimator_", search.estimator)
    return model is None or hasattr(model, "predict_proba")


class Search(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """The base of both searches."""

    #: The estimator that is tuned.
    _tuned: ClassVar[type[ShortlistClassifier]]

    estimator: Any
    Cs: ArrayLike | None
    gammas: Sequence[float | str] | None
    metrics: Sequence[str] | str | None
    cv: Any
    n_jobs: int | None
    refit: bool | str
    extend: bool
    checkpoint: str | os.PathLike[str] | None
    verbose: int

    def _given_ks(self) -> Sequence[int] | None:
        """Return the values of k to try, where a user may give some."""
        return None

    def _candidates(self) -> Candidates:
        """Return where thresholds are looked for."""
        return "grid"

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._tuned() if self.estimator is None else self.estimator)
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags

    # The search

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> Any:
        """Try all settings on folds, and train the best for every metric on all examples.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            The examples; with ``kernel="precomputed"`` the kernel of all pairs.
        y : array_like
            The labels.
        sample_weight : array_like, shape (n,), optional
            How much each example counts, in training and in the metrics.

        Returns
        -------
        self
        """
        study = self._study(X, y, sample_weight)
        groups = as_groups(study.estimator, study.target, self._given_ks(), self.gammas)
        first = ascending(self.Cs)
        store = None if self.checkpoint is None else Store.open(self.checkpoint, study)
        table = Table.of(self._try(study, groups, first, store), study.metrics)
        if self.extend:
            table = self._extended(table, study, groups, first, store)
        _warn_unless_converged(table, study.estimator.tol)
        self.classes_ = study.target.classes
        self.cv_results_ = table.as_dict()
        self.n_splits_ = len(study.folds)
        self._keep_best(table)
        for name in ("n_features_in_", "feature_names_in_"):
            if hasattr(study.estimator, name):
                setattr(self, name, getattr(study.estimator, name))
        if self.refit:
            self._train_winners(X, y, sample_weight)
        return self

    def _template(self) -> ShortlistClassifier:
        """Return a copy of the estimator, or say why it cannot be tuned."""
        if self.estimator is None:
            return self._tuned()
        if not isinstance(self.estimator, self._tuned):
            raise TypeError(
                f"estimator is a {type(self.estimator).__name__}; {type(self).__name__} tunes a "
                f"{self._tuned.__name__}."
            )
        for name, instead in (
            ("early_stopping", "C is tuned instead"),
            ("checkpoint", "pass the folder to the search"),
        ):
            if getattr(self.estimator, name) is not None:
                raise ValueError(f"the estimator has {name}: set it to None, {instead}.")
        template: ShortlistClassifier = clone(self.estimator)
        return template

    def _study(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> Study:
        estimator = self._template()
        seed = estimator._seed()
        X = estimator._check(X, reset=True)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        target = estimator._read_target(y)
        if target.labels.n != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} examples, and y has {target.labels.n}.")
        weights = own_weights(sample_weight, target.labels.n)
        metrics = self._as_metrics(target)
        return Study(estimator, X, target, weights, self._folds(X, target), metrics, seed)

    def _as_metrics(self, target: Target) -> tuple[str, ...]:
        """Return the metrics by name, the one that decides first."""
        m = target.classes.size
        if self.metrics is None:
            some = TOPK_METRICS if target.is_single else SET_METRICS
            chosen = tuple(name for name in some if _length(name) < m)
        else:
            given = (self.metrics,) if isinstance(self.metrics, str) else self.metrics
            chosen = tuple(dict.fromkeys(given))
        if not chosen:
            raise ValueError("metrics is empty; name at least one.")
        for known in map(metric, chosen):
            if known.needs == "sets" and target.is_single:
                raise ValueError(
                    f"{known.name} is a metric of label sets, and y has one label an example; "
                    "choose one of scores, as top1 is."
                )
            if known.needs == "sets":
                Tuned(known.name, self._candidates())  # refuses what is no threshold
            known.function(target.labels.take(np.array([0])), np.zeros((1, m)))  # refuses a k > m
        if isinstance(self.refit, str) and self.refit not in chosen:
            raise ValueError(f"refit is {self.refit!r}; it must be one of {', '.join(chosen)}.")
        return chosen

    def _folds(self, X: Any, target: Target) -> list[Fold]:
        labels = target.labels
        cv = self.cv
        if target.is_single:
            y = labels.indices
            cv = check_cv(5 if cv is None else cv, y, classifier=True)
        else:
            y = labels.indicators(np.int64)
            if cv is None or isinstance(cv, Integral):
                cv = IterativeStratifiedKFold(10 if cv is None else int(cv))
            cv = check_cv(cv)
        return list(cv.split(X, y))

    def _try(
        self,
        study: Study,
        groups: Sequence[dict[str, Any]],
        Cs: Sequence[float],
        store: Store | None,
    ) -> list[Line]:
        """Return the lines of some values of C in all groups."""
        folds = range(len(study.folds))
        tasks = [Task(fold, params, tuple(Cs)) for params in groups for fold in folds]
        outcomes = Parallel(n_jobs=self.n_jobs)(
            delayed(_perform)(study, task, store, f"{at}/{len(tasks)}" if self.verbose else "")
            for at, task in enumerate(tasks, start=1)
        )
        lines: list[Line] = []
        for at, params in enumerate(groups):
            own = outcomes[at * len(folds) : (at + 1) * len(folds)]
            lines += judge(study, params, Cs, own, self._candidates())
        return lines

    def _extended(
        self,
        table: Table,
        study: Study,
        groups: Sequence[dict[str, Any]],
        first: Sequence[float],
        store: Store | None,
    ) -> Table:
        """Return the table with values of C beyond the ends at which a metric is best."""
        Cs = list(first)
        for _ in range(EXTENSIONS):
            new = beyond(Cs, first, *table.ends())
            if not new:
                return table
            Cs = sorted([*Cs, *new])
            if self.verbose:
                _say(f"a metric is best at an end: C is tried from {Cs[0]:g} to {Cs[-1]:g}")
            table = Table.of([*table.lines, *self._try(study, groups, new, store)], table.metrics)
        if any(table.ends()):
            warnings.warn(
                f"C was extended to the range from {Cs[0]:g} to {Cs[-1]:g}, and a metric is best "
                "at an end of it: scale the features, or pass other Cs.",
                UserWarning,
                stacklevel=3,
            )
        return table

    def _keep_best(self, table: Table) -> None:
        self.best_index_ = {name: table.best(name) for name in table.metrics}
        self.best_params_: dict[str, dict[str, Any]] = {}
        self.best_score_: dict[str, float] = {}
        for name, at in self.best_index_.items():
            params = dict(table.lines[at].params)
            if metric(name).needs == "sets":
                params["threshold"] = float(self.cv_results_[f"threshold_{name}"][at])
            self.best_params_[name] = params
            self.best_score_[name] = float(self.cv_results_[f"mean_test_{name}"][at])

    def _train_winners(self, X: Any, y: Any, sample_weight: ArrayLike | None) -> None:
        """Train each setting that is best for a metric once."""
        winners = sorted(set(self.best_index_.values()))
        template = self._template()
        options = {} if sample_weight is None else {"sample_weight": sample_weight}
        params = [self.cv_results_["params"][at] for at in winners]
        models = Parallel(n_jobs=self.n_jobs)(
            delayed(_trained)(clone(template).set_params(**each), X, y, options) for each in params
        )
        by_index = dict(zip(winners, models, strict=True))
        self._models = {
            name: with_threshold(by_index[at], self.best_params_[name].get("threshold"))
            for name, at in self.best_index_.items()
        }
        self.refit_metric_ = self.refit if isinstance(self.refit, str) else next(iter(self._models))
        self.best_estimator_ = self._models[self.refit_metric_]

    # The models

    def estimator_for(self, metric: str) -> Any:
        """Return the model with the best setting for a metric, trained on all examples.

        Parameters
        ----------
        metric : str
            One of `metrics`. Metrics with the same best setting share the coefficients of one
            model.

        Returns
        -------
        estimator
        """
        self._check_models()
        if metric not in self._models:
            raise ValueError(
                f"{metric!r} was not tuned for; choose one of {', '.join(self._models)}."
            )
        return self._models[metric]

    def _check_models(self) -> None:
        check_is_fitted(self, "cv_results_")
        if not hasattr(self, "_models"):
            raise AttributeError("no model was trained on all examples: set refit.")

    def _best(self) -> Any:
        self._check_models()
        return self.best_estimator_

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of the best model, as its own method does."""
        scores: FloatArray = self._best().decision_function(X)
        return scores

    def predict(self, X: Any) -> Any:
        """Return the predictions of the best model."""
        return self._best().predict(X)

    def predict_topk(self, X: Any, k: int | None = None) -> tuple[NDArray[Any], FloatArray]:
        """Return the shortlist of each example: labels and scores, best first.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            The examples.
        k : int, optional
            The length of the list; by default that of `estimator`, not that of the best loss.

        Returns
        -------
        labels, scores : ndarray, shape (n, k)
        """
        best = self._best()
        if k is None:
            k = min(self._template().k, self.classes_.size)
        shortlist: tuple[NDArray[Any], FloatArray] = best.predict_topk(X, k)
        return shortlist

    @available_if(_predicts_probabilities)
    def predict_proba(self, X: Any) -> FloatArray:
        """Return the probabilities of the best model, where its loss has them."""
        probabilities: FloatArray = self._best().predict_proba(X)
        return probabilities

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the metric that decides, of the best model; a loss negated: more is better."""
        best = self._best()
        value: float = scorer(self.refit_metric_)(best, X, y, sample_weight)  # type: ignore[assignment]
        return value

    def plot(self, metrics: Sequence[str] | str | None = None, axes: Any = None) -> NDArray[Any]:
        """Draw validation curves with matplotlib: the metrics against C, the best C dotted.

        Parameters
        ----------
        metrics : str or sequence of str, optional
            Those to draw; by default all.
        axes : array of matplotlib axes, optional
            Where to draw, one for each metric; by default on a new figure.

        Returns
        -------
        ndarray of axes
        """
        check_is_fitted(self, "cv_results_")
        some = [metrics] if isinstance(metrics, str) else list(metrics or self.best_params_)
        for name in some:
            if name not in self.best_params_:
                raise ValueError(
                    f"{name!r} was not tuned for; choose one of {', '.join(self.best_params_)}."
                )
        return curves.plot(self.cv_results_, {name: self.best_params_[name] for name in some}, axes)


def _length(name: str) -> int:
    """Return the k of a top-k accuracy, else 0."""
    digits = name.removeprefix("top")
    return int(digits) if digits.isdigit() else 0


def _perform(study: Study, task: Task, store: Store | None, position: str) -> Outcome:
    """Return a path, from the disk where it is there."""
    started = time.perf_counter()
    outcome = None if store is None else store.load(task)
    verb = "found"
    if outcome is None:
        outcome, verb = follow(study, task), "trained"
        if store is not None:
            store.save(task, outcome)
    if position:
        where = ", ".join([f"fold {task.fold}", *(f"{k} = {v}" for k, v in task.params.items())])
        seconds = time.perf_counter() - started
        values = "1 value" if len(task.Cs) == 1 else f"{len(task.Cs)} values"
        _say(f"[{position}] {where}: {values} of C {verb} in {seconds:.1f} s")
    return outcome


def _say(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


def _trained(estimator: Any, X: Any, y: Any, options: dict[str, Any]) -> Any:
    return estimator.fit(X, y, **options)


def with_threshold(model: Any, threshold: float | None) -> Any:
    """Return the model, or one that shares its coefficients and has a threshold."""
    if threshold is None:
        return model
    other = copy.copy(model).set_params(threshold=float(threshold))
    other.cut_ = thresholds.make(other.threshold).fit(None, None)
    return other


def _warn_unless_converged(table: Table, tol: float) -> None:
    gaps = np.array([line.gaps for line in table.lines])
    missed = int((gaps > tol).sum())
    if missed:
        warnings.warn(
            f"{missed} of {gaps.size} models of the search did not reach tol={tol:g}, the "
            f"largest gap is {gaps.max():.1e} (see cv_results_['max_gap']): raise max_epochs or "
            "max_time of the estimator, pass fewer large Cs, or scale the features.",
            ConvergenceWarning,
            stacklevel=3,
        )
