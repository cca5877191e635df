"""A set of labels an example."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import scipy.sparse
from numpy.typing import ArrayLike, NDArray
from sklearn.base import clone
from sklearn.metrics import accuracy_score

from shortlist.estimators.base import ShortlistClassifier
from shortlist.estimators.stopping import EarlyStopping
from shortlist.estimators.targets import Target, is_label_sets, read_sets, read_single
from shortlist.estimators.weighting import own_weights
from shortlist.model_selection import thresholds
from shortlist.model_selection.unseen import unseen_scores
from shortlist.solvers import Callback

#: Folds on which a threshold is tuned.
_FOLDS = 5


class MultilabelClassifier(ShortlistClassifier):
    r"""Linear and kernel classifiers for examples with a set of labels each.

    .. math::

        \min_W \ \tfrac12 \|W\|^2 + C \sum_i w_i L(Y_i, W' x_i)

    is solved to a duality gap of `tol`. Where y has one label an example, it is a multiclass
    classifier with a multilabel loss.

    Parameters
    ----------
    loss : str or loss
        "ova_logistic" and "ova_svm" (binary relevance), "multilabel_svm" and
        "multilabel_softmax" (labels against other classes), or a loss.
    threshold : float, array_like, str or rule
        Which labels are predicted: those whose scores reach a number, or one number for each
        label; "cardinality" for as many labels as in training; the name of a metric to tune
        for, "f1_micro" or another; or a rule of `shortlist.model_selection.thresholds`. A rule
        that needs scores gets them of five folds, each by a model trained without it.
    k : int
        The length of the list of `predict_topk`.
    class_weight : dict or "balanced", optional
        Weights of the labels: an example counts the mean weight of its labels.
    smoothing, C, solver, kernel, gamma, degree, coef0, fit_intercept, intercept_scaling
        As in `TopKClassifier`.
    regularize_intercept, tol, max_epochs, max_time, block_size, n_jobs, warm_start
        As in `TopKClassifier`.
    early_stopping, random_state, verbose, callbacks, checkpoint, checkpoint_every
        As in `TopKClassifier`.

    Attributes
    ----------
    classes_ : ndarray, shape (m,)
        The labels: the numbers of the columns of Y, or the labels of the lists.
    cut_ : Cut
        The fitted rule; ``cut_.thresholds`` where it has them.
    coef_, intercept_, support_, dual_coef_, support_vectors_
        As in `TopKClassifier`.
    certificate_, history_, converged_, status_, n_iter_, n_features_in_, feature_names_in_
        As in `TopKClassifier`.

    See Also
    --------
    TopKClassifier : for one label an example.

    Examples
    --------
    >>> from shortlist import MultilabelClassifier
    >>> X = [[1.0, 0.0], [0.0, 1.0], [1.0, 1.0], [-1.0, -1.0]]
    >>> model = MultilabelClassifier(C=10.0).fit(X, [["sea"], ["sun"], ["sea", "sun"], []])
    >>> model.classes_
    array(['sea', 'sun'], dtype='<U3')
    >>> model.predict([[2.0, 2.0], [2.0, -2.0]])
    array([[1, 1],
           [1, 0]])
    """

    def __init__(
        self,
        loss: Any = "ova_logistic",
        *,
        threshold: Any = 0.0,
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
        super().__init__(
            loss, k=k, smoothing=smoothing, C=C, solver=solver, kernel=kernel, gamma=gamma,
            degree=degree, coef0=coef0, fit_intercept=fit_intercept,
            intercept_scaling=intercept_scaling, regularize_intercept=regularize_intercept,
            class_weight=class_weight, tol=tol, max_epochs=max_epochs, max_time=max_time,
            block_size=block_size, n_jobs=n_jobs, warm_start=warm_start,
            early_stopping=early_stopping, random_state=random_state, verbose=verbose,
            callbacks=callbacks, checkpoint=checkpoint, checkpoint_every=checkpoint_every,
        )  # fmt: skip
        self.threshold = threshold

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_label = True
        return tags

    def _fitting_loss(self, target: Target) -> Any:
        thresholds.make(self.threshold)  # what is no rule is refused before any work
        return super()._fitting_loss(target)

    def _finish(self, X: Any, target: Target, weights: NDArray[np.float64]) -> None:
        """Fit the threshold, to scores of models that have not seen the examples."""
        if target.is_single:
            return
        rule, scores = thresholds.make(self.threshold), None
        if rule.needs_scores:
            model = clone(self).set_params(threshold=0.0, verbose=0, checkpoint=None, callbacks=())
            truth = target.labels.indicators(np.int64).toarray()
            scores = unseen_scores(model, X, truth, weights, cv=_FOLDS, n_jobs=None)
        self.cut_ = rule.fit(scores, target.labels, weights)
        self.cut_.label_sets(np.zeros((1, target.classes.size)))  # as many thresholds as labels

    def _read_target(self, y: Any, classes: NDArray[Any] | None = None) -> Target:
        return read_sets(y, classes) if is_label_sets(y) else read_single(y, classes)

    def predict(self, X: Any, *, groups: ArrayLike | None = None, pooling: str = "max") -> Any:
        """Return the labels that the threshold lets pass.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            The examples.
        groups, pooling
            As for `predict_topk`.

        Returns
        -------
        ndarray or sparse matrix, shape (n, m)
            1 where a label holds, else 0; sparse if Y was. Where y had one label an example:
            the label with the highest score, shape (n,).
        """
        scores = self._scores(X, groups, pooling)
        if self._target_form == "single":
            return self.classes_[scores.argmax(axis=1)]
        found = self.cut_.label_sets(scores).astype(np.int64)
        return scipy.sparse.csr_array(found) if self._target_form == "sparse" else found

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the share of examples whose labels are all right, and no other.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            The examples.
        y : array_like, sparse matrix or lists
            The labels, as for `fit`.
        sample_weight : array_like, shape (n,), optional
            Weights of the examples.

        Returns
        -------
        float
        """
        predicted = self.predict(X)
        if self._target_form == "single":
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        truth = read_sets(y, self.classes_).labels.indicators(np.int64)
        wrong = abs(scipy.sparse.csr_array(predicted) - truth).sum(axis=1)
        return float(np.average(wrong == 0, weights=own_weights(sample_weight, wrong.size)))
