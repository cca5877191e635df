"""Label sets from any classifier with scores, by a threshold it was not trained on."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import BaseEstimator, ClassifierMixin, MetaEstimatorMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from shortlist._arrays import FloatArray, as_weights
from shortlist.metrics import subset_accuracy
from shortlist.metrics.inputs import columns_of, read_labels
from shortlist.metrics.responses import label_scores
from shortlist.model_selection import thresholds
from shortlist.model_selection.unseen import trained, unseen_scores


class ThresholdClassifier(ClassifierMixin, MetaEstimatorMixin, BaseEstimator):
    """Predict the labels whose scores reach a threshold, tuned on folds the model did not see.

    Clones of `estimator` are trained on all but one fold each, and score that fold. The
    threshold is chosen on these scores, and `estimator` is trained once more on all examples.

    Parameters
    ----------
    estimator : classifier
        Any multilabel classifier with `decision_function` or `predict_proba`; for one label any
        binary classifier, which is trained on a vector of 0 and 1. A model that is
        trained already is tuned on held-out examples when wrapped in scikit-learn's
        `FrozenEstimator`.
    threshold : float, array_like, str or rule
        What `thresholds.make` takes: a number, one for each label, ``"cardinality"``, the name
        of a metric to tune for, or a rule of `shortlist.model_selection.thresholds`.
    cv : int, splitter or iterable
        The folds; a number stands for as many of `IterativeStratifiedKFold`. Not used by a rule
        that needs no scores.
    n_jobs : int, optional
        How many folds are trained at the same time.

    Attributes
    ----------
    estimator_ : classifier
        Trained on all examples.
    cut_ : Cut
        The fitted rule; ``cut_.thresholds`` where it has them.
    classes_ : ndarray, shape (m,)
        The labels, by number.
    scores_ : ndarray, shape (n, m)
        The scores that the rule was fitted on, where it needs them.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.multiclass import OneVsRestClassifier
    >>> from shortlist.model_selection import ThresholdClassifier
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> model = ThresholdClassifier(OneVsRestClassifier(LogisticRegression()), "f1_micro")
    >>> model.fit(X, Y).predict(X[:2])
    array([[0, 1, 1, 1, 1],
           [0, 1, 1, 0, 0]])
    """

    def __init__(
        self,
        estimator: Any,
        threshold: Any = "f1_micro",
        *,
        cv: Any = 5,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.threshold = threshold
        self.cv = cv
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> ThresholdClassifier:
        """Choose the threshold on folds, and train on all examples.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            One example a row.
        y : array_like, sparse matrix or sequence
            Label sets: an indicator matrix with `m` columns, or lists of numbers.
        sample_weight : array_like, shape (n,), optional
            How much each example counts, in training and in the metric.

        Returns
        -------
        self
        """
        rule = thresholds.make(self.threshold)
        if columns_of(y) is None and not any(isinstance(labels, Iterable) for labels in y):
            raise ValueError(
                "y has one label an example; pass an indicator matrix, of one column if there "
                "are two classes."
            )
        labels = read_labels(y)
        truth = labels.indicators(np.int64).toarray()
        weights = None if sample_weight is None else as_weights(sample_weight, labels.n)
        if rule.needs_scores:
            self.scores_ = unseen_scores(self.estimator, X, truth, weights, self.cv, self.n_jobs)
            self.cut_ = rule.fit(self.scores_, labels, weights)
        else:
            self.cut_ = rule.fit(None, labels, weights)
        self.estimator_ = trained(self.estimator, X, truth, weights)
        self.classes_ = np.arange(labels.m)
        return self

    def decision_function(self, X: Any) -> FloatArray:
        """Return the scores of all labels, one example a row."""
        check_is_fitted(self, "cut_")
        return label_scores(self.estimator_, X, self.classes_.size)

    def predict(self, X: Any) -> NDArray[np.int64]:
        """Return an indicator matrix of the labels, one example a row."""
        return self.cut_.label_sets(self.decision_function(X)).astype(np.int64)

    def score(self, X: Any, y: Any, sample_weight: ArrayLike | None = None) -> float:
        """Return the subset accuracy: the share of label sets that are predicted exactly."""
        return subset_accuracy(y, self.predict(X), sample_weight=sample_weight)

    @available_if(lambda self: hasattr(self.estimator, "predict_proba"))
    def predict_proba(self, X: Any) -> Any:
        """Return the probabilities of `estimator`."""
        check_is_fitted(self, "cut_")
        return self.estimator_.predict_proba(X)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.classifier_tags.multi_label = True
        tags.target_tags.multi_output = True
        tags.target_tags.single_output = False
        tags.input_tags.sparse = True
        return tags
