"""What both estimators share: from parameters to a solution, from a solution to scores.

Thin: a user's X, y and parameters are turned into one call of `shortlist.solve`, and what it
returns into scikit-learn's attributes.
"""

from __future__ import annotations

import contextlib
import copy
import importlib
import math
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from typing import Any

import joblib
import numpy as np
import scipy.special
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.extmath import safe_sparse_dot
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted, validate_data

from shortlist import losses
from shortlist._arrays import FloatArray, as_choice, as_k, as_positive
from shortlist.estimators.callbacks import CallbackSupport, Fitted, Tasks, with_callbacks
from shortlist.estimators.models import Attributes, FreeInterceptModel, KernelModel, LinearModel
from shortlist.estimators.pooling import as_groups, pool, repeat
from shortlist.estimators.progress import ProgressBar
from shortlist.estimators.stopping import (
    VALIDATION,
    EarlyStopping,
    Watch,
    split,
    warn_unless_converged,
)
from shortlist.estimators.targets import Examples, Target
from shortlist.estimators.weighting import example_weights
from shortlist.losses.labels import Labels
from shortlist.losses.operations import step, traits
from shortlist.rows import kernel, operations
from shortlist.rows.convert import as_csr, as_matrix
from shortlist.solvers import Callback, Solution
from shortlist.solvers.result import Progress

KERNELS = ("linear", "rbf", "poly", "precomputed")
Model = LinearModel | KernelModel

_SERVED = [np.float64, np.float32]


def _has_probabilities(estimator: Any) -> bool:
    """Return whether the loss has probabilities; else say how to get them."""
    loss = estimator._make_loss()
    if not traits(loss).entropic:
        raise AttributeError(
            f"{loss} has no probabilities: choose an entropy or logistic loss, or calibrate the "
            "scores by sklearn.calibration.CalibratedClassifierCV."
        )
    return True


def best_classes(scores: FloatArray, k: int) -> tuple[NDArray[np.int64], FloatArray]:
    """Return the `k` classes with the highest scores of each example, best first, and these."""
    m = scores.shape[1]
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k] if k < m else None
    if best is None:
        best = np.broadcast_to(np.arange(m), scores.shape)
    best = np.sort(best, axis=1)  # equal scores in the order of the classes
    found = np.take_along_axis(scores, best, axis=1)
    order = np.argsort(-found, axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1), np.take_along_axis(found, order, axis=1)


class ShortlistClassifier(CallbackSupport, ClassifierMixin, BaseEstimator):
    """The base of both estimators."""

    def __init__(
        self,
        loss: Any = "softmax",
        *,
        k: int = 5,
        smoothing: float = 1.0,
        C: float = 1.0,
        solver: str = "auto",
        kernel: Any = "linear",
        gamma: float | str = "scale",
        degree: float = 3,
        coef0: float = 0.0,
        fit_intercept: bool = True,
        intercept_scaling: float = 1.0,
        regularize_intercept: bool = True,
        class_weight: Any = None,
        tol: float = 1e-3,
        max_epochs: int = 10_000,
        max_time: float = math.inf,
        block_size: int | None = None,
        n_jobs: int | None = None,
        warm_start: bool = False,
        early_stopping: EarlyStopping | None = None,
        random_state: Any = None,
        verbose: int = 0,
        callbacks: Sequence[Callback] = (),
        checkpoint: Any = None,
        checkpoint_every: float = 60.0,
    ) -> None:
        self.loss = loss
        self.k = k
        self.smoothing = smoothing
        self.C = C
        self.solver = solver
        self.kernel = kernel
        self.gamma = gamma
        self.degree = degree
        self.coef0 = coef0
        self.fit_intercept = fit_intercept
        self.intercept_scaling = intercept_scaling
        self.regularize_intercept = regularize_intercept
        self.class_weight = class_weight
        self.tol = tol
        self.max_epochs = max_epochs
        self.max_time = max_time
        self.block_size = block_size
        self.n_jobs = n_jobs
        self.warm_start = warm_start
        self.early_stopping = early_stopping
        self.random_state = random_state
        self.verbose = verbose
        self.callbacks = callbacks
        self.checkpoint = checkpoint
        self.checkpoint_every = checkpoint_every

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self.kernel == "precomputed"
        return tags

    @abstractmethod
    def _read_target(self, y: Any, classes: NDArray[Any] | None = None) -> Target:
        """Return the labels that a user gave, of given classes or of those that occur."""

    # From X and y to a solution

    @with_callbacks
    def fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        groups: ArrayLike | None = None,
        X_val: Any = None,
        y_val: Any = None,
    ) -> Any:
        """Train a model to a proven optimum.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            The examples; float32 and float64 are kept, nothing is copied that can be served as
            it is. With ``kernel="precomputed"`` the kernel of all pairs, shape (n, n).
        y : array_like
            The labels.
        sample_weight : array_like, shape (n,), optional
            Weights of the examples: 2 is the example twice, 0 without it.
        groups : array_like, shape (n,), optional
            The object that each example belongs to. `y` may then have one element for each
            object, in the sorted order of their names, and is repeated.
        X_val, y_val : optional
            Examples on which to watch the metric of `early_stopping`; by default a part of X.

        Returns
        -------
        self
        """
        X = self._check(X, reset=True)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        if groups is not None:
            y = repeat(y, as_groups(groups, X.shape[0]))
        target = self._read_target(y)
        if target.labels.n != X.shape[0]:
            raise ValueError(f"X has {X.shape[0]} examples, and y has {target.labels.n}.")
        loss, seed = self._fitting_loss(target), self._seed()
        weights = example_weights(sample_weight, self.class_weight, target)
        examples, held_out = self._hold_out(Examples(X, target, weights), X_val, y_val, seed)
        model = self._model(examples)
        labels = examples.target.labels

        def fitted(weights: FloatArray) -> Attributes:
            known = {"classes_": target.classes, "_target_form": target.form}
            return {**known, **model.attributes(weights)}

        watch = None
        if self.early_stopping is not None:
            others, known = held_out[VALIDATION]
            watch = self.early_stopping.watch(
                known, lambda weights: self._with(fitted(weights))._scores_of(others)
            )
        with self._watching(X, y, fitted, watch) as callback:
            solution = model.train(
                labels, loss, C=self.C, sample_weight=examples.weights, evaluate_on=held_out,
                duals=self._first_duals(labels), callback=callback, checkpoint=self.checkpoint,
                checkpoint_every=self.checkpoint_every, **self._solver_options(seed),
            )  # fmt: skip
        if watch is not None:
            solution = watch.best_of(solution)
        self._forget()
        self._keep(solution, examples)
        self.__dict__.update(fitted(solution.weights))
        warn_unless_converged(solution, self.tol)
        self._finish(X, target, weights)
        return self

    def _solver_options(self, seed: int) -> dict[str, Any]:
        """Return how to solve, whatever is solved."""
        return {
            "solver": self.solver,
            "tol": as_positive(self.tol, "tol"),
            "max_epochs": self.max_epochs,
            "max_time": self.max_time,
            "random_state": seed,
            "block_size": self.block_size,
            "n_threads": None if self.n_jobs is None else joblib.effective_n_jobs(self.n_jobs),
        }

    def _with(self, attributes: Attributes) -> Any:
        """Return a copy with other attributes."""
        other = copy.copy(self)
        other.__dict__.update(attributes)
        return other

    def _finish(self, X: Any, target: Target, weights: NDArray[np.float64]) -> None:
        """Do what is to be done once the model is trained."""

    def _check(self, X: Any, reset: bool) -> Any:
        """Return X as scikit-learn checks it, and finite as we do: the error says where."""
        X = validate_data(
            self, X, reset=reset, accept_sparse="csr", dtype=_SERVED, ensure_all_finite=False
        )
        return as_matrix(X, "X") if isinstance(X, np.ndarray) else as_csr(X, "X")

    def _make_loss(self) -> Any:
        if isinstance(self.loss, str):
            return losses.make_from(self.loss, k=self.k, smoothing=self.smoothing)
        if not step.serves(type(self.loss)):
            raise TypeError(f"loss is {self.loss!r}; pass a name, or a loss of shortlist.losses.")
        return self.loss

    def _fitting_loss(self, target: Target) -> Any:
        """Return the loss, or say why it does not fit the labels."""
        loss, m = self._make_loss(), target.classes.size
        known = traits(loss)
        if m < known.smallest_m:
            k = known.smallest_m - 1
            raise ValueError(f"k is {k}, and there are {m} classes; k must be less than that.")
        if not target.is_single and not known.multilabel:
            raise ValueError(
                f"{loss} is a loss of one label an example; for label sets choose one whose name "
                "begins with multilabel or ova."
            )
        return loss

    def _seed(self) -> int:
        if isinstance(self.random_state, int | np.integer):
            return int(self.random_state)
        return int(check_random_state(self.random_state).randint(2**31 - 1))

    def _hold_out(
        self, examples: Examples, X_val: Any, y_val: Any, seed: int
    ) -> tuple[Examples, dict[str, Any]]:
        """Return the examples to train on, and those to evaluate on, if there are any."""
        target, stopping = examples.target, self.early_stopping
        if (X_val is None) != (y_val is None):
            raise ValueError("pass X_val and y_val together.")
        if stopping is not None:
            stopping.check(target.classes.size)
        if X_val is not None:
            labels = self._read_target(y_val, target.classes).labels
            return examples, {VALIDATION: (self._check(X_val, reset=False), labels)}
        if stopping is None:
            return examples, {}
        if self.kernel == "precomputed":
            raise ValueError("a precomputed kernel cannot be split: pass X_val and y_val.")
        train, held_out = split(target, stopping.fraction, seed)
        others = examples.take(held_out)
        return examples.take(train), {VALIDATION: (others.X, others.target.labels)}

    def _model(self, examples: Examples) -> Model:
        """Return what is trained."""
        C = as_positive(self.C, "C")
        intercept = as_positive(self.intercept_scaling, "intercept_scaling")
        if not self.fit_intercept:
            intercept = 0.0
        is_free = self.fit_intercept and not self.regularize_intercept
        function = self.kernel
        if not callable(function):
            as_choice(function, KERNELS, "kernel")
        if is_free and self.early_stopping is not None:
            raise ValueError("early stopping needs a regularised intercept.")
        if function == "linear" and is_free:
            return FreeInterceptModel.of(examples.X, C * float(examples.weights.sum()))
        if function == "linear":
            return LinearModel(examples.X, intercept)
        if is_free:
            raise ValueError("a kernel's intercept is regularised: set regularize_intercept.")
        rows = kernel(examples.X, function, gamma=self.gamma, degree=self.degree, coef0=self.coef0)
        return KernelModel(rows._replace(intercept=intercept))

    def _first_duals(self, labels: Labels) -> FloatArray | None:
        duals: FloatArray | None = getattr(self, "_duals", None) if self.warm_start else None
        return duals if duals is not None and duals.shape == (labels.n, labels.m) else None

    def _forget(self) -> None:
        """Remove what only another kind of model has."""
        for name in ("coef_", "_kernel"):
            self.__dict__.pop(name, None)

    def _keep(self, solution: Solution, examples: Examples) -> None:
        """Keep what is known of the fit, and the coefficients of the examples that matter."""
        self.certificate_ = solution.certificate
        self.history_ = solution.history
        self.status_ = solution.status.value
        self.converged_ = solution.converged
        self.n_iter_ = max(int(solution.history[-1].epoch), 1)
        self.support_ = np.flatnonzero(solution.duals.any(axis=1))
        c = (-self.C * examples.weights[self.support_]).astype(solution.duals.dtype)
        self.dual_coef_ = c[:, None] * solution.duals[self.support_]
        self._duals = solution.duals if self.warm_start else None

    @contextlib.contextmanager
    def _watching(
        self, X: Any, y: Any, fitted: Fitted, stopping: Watch | None
    ) -> Iterator[Callback | None]:
        """Yield the callback of the solver: a bar, early stopping, the user's, scikit-learn's."""
        watchers: list[Callback] = list(self.callbacks)
        if stopping is not None:
            watchers.append(stopping)
        with contextlib.ExitStack() as stack:
            if self.verbose:
                watchers.append(stack.enter_context(ProgressBar(self.tol)))
            if Tasks.has_followers(self):
                watchers.append(stack.enter_context(Tasks(self, X, y, fitted)))

            def watch(progress: Progress) -> bool:
                answers = [watcher(progress) for watcher in watchers]  # all of them see it
                return any(answers)

            yield watch if watchers else None

    # From X to scores

    def _scores(self, X: Any, groups: ArrayLike | None, pooling: str) -> FloatArray:
        """Return the scores of all classes, (n, m), of examples or of groups of them."""
        check_is_fitted(self)
        X = self._check(X, reset=False)
        scores = self._scores_of(X)
        if groups is None:
            return scores
        return pool(scores, as_groups(groups, X.shape[0]), pooling)

    def _scores_of(self, X: Any) -> FloatArray:
        """Return the scores of all classes of examples that are checked."""
        scores: FloatArray
        if not hasattr(self, "_kernel"):
            scores = safe_sparse_dot(X, self.coef_.T, dense_output=True)
            return scores + self.intercept_
        values = X[:, self.support_] if self._kernel.function is None else X
        scores = operations.new_scores(self._kernel, values, self.dual_coef_)
        return scores

    @property
    def support_vectors_(self) -> Any:
        """The training examples on which a kernel's scores rest."""
        if not hasattr(self, "_kernel") or self._kernel.function is None:
            raise AttributeError("only a model with a kernel of features has support vectors.")
        return self._kernel.points

    def decision_function(
        self, X: Any, *, groups: ArrayLike | None = None, pooling: str = "max"
    ) -> FloatArray:
        """Return the scores of all classes.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            The examples.
        groups, pooling
            As for `predict_topk`.

        Returns
        -------
        ndarray, shape (n, m)
            As everywhere in scikit-learn, where y had one of two labels an example: one number
            for each example, positive for the second class, shape (n,).
        """
        scores = self._scores(X, groups, pooling)
        if self._target_form == "single" and scores.shape[1] == 2:
            return scores[:, 1] - scores[:, 0]
        return scores

    def predict_topk(
        self,
        X: Any,
        k: int | None = None,
        *,
        groups: ArrayLike | None = None,
        pooling: str = "max",
    ) -> tuple[NDArray[Any], FloatArray]:
        """Return the shortlist of each example.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            The examples.
        k : int, optional
            The length of the list; by default the parameter `k`, or all classes if these are
            fewer.
        groups : array_like, shape (n,), optional
            The object that each example belongs to: there is one list for each object, in the
            sorted order of their names.
        pooling : {"max", "mean"}
            How the scores of an object's examples become one.

        Returns
        -------
        labels : ndarray, shape (n, k)
            The classes with the highest scores, best first.
        scores : ndarray, shape (n, k)
            Their scores.
        """
        scores = self._scores(X, groups, pooling)
        m = scores.shape[1]
        k = min(self.k, m) if k is None else as_k(k, m, "the list of classes")
        best, found = best_classes(scores, k)
        return self.classes_[best], found

    def to_torch(self) -> Any:
        """Return a linear model as a layer of torch: the certified head of a network.

        Returns
        -------
        torch.nn.Linear
        """
        check_is_fitted(self)
        if not hasattr(self, "coef_"):
            raise AttributeError("a model with a kernel is no linear layer.")
        return importlib.import_module("shortlist.nn").linear_head(self.coef_, self.intercept_)

    def _probabilities(self, scores: FloatArray, single: bool) -> FloatArray:
        loss = self._make_loss()
        if not traits(loss).separable:
            return scipy.special.softmax(scores, axis=1)
        each: FloatArray = scipy.special.expit(scores)
        return each / np.maximum(each.sum(axis=1, keepdims=True), 1e-300) if single else each

    @available_if(_has_probabilities)
    def predict_proba(
        self, X: Any, *, groups: ArrayLike | None = None, pooling: str = "max"
    ) -> FloatArray:
        r"""Return probabilities of all classes, shape (n, m).

        For the entropies the softmax of the scores; for `ova_logistic` the logistic function of
        each, normalised where y had one label an example. For other losses there is no such
        method: calibrate the scores by `sklearn.calibration.CalibratedClassifierCV`.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            The examples.
        groups, pooling
            As for `predict_topk`.

        Returns
        -------
        ndarray, shape (n, m)
        """
        scores = self._scores(X, groups, pooling)
        return self._probabilities(scores, self._target_form == "single")
