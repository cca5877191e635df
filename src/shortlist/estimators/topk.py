"""One label an example, and a list of likely ones for each."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.metrics import accuracy_score

from shortlist._arrays import as_k
from shortlist.estimators.base import ShortlistClassifier
from shortlist.estimators.targets import Target, is_label_sets, read_single
from shortlist.estimators.weighting import own_weights


class TopKClassifier(ShortlistClassifier):
    r"""Linear and kernel classifiers whose answer is a short list of labels.

    .. math::

        \min_W \ \tfrac12 \|W\|^2 + C \sum_i w_i L(y_i, W' x_i)

    is solved to a duality gap of `tol`: ``certificate_`` holds two values between which the
    optimum lies. The objective is that of `LogisticRegression` and `LinearSVC`, with the same `C`.

    Parameters
    ----------
    loss : str or loss
        One of `shortlist.losses.names`, or a loss. "softmax" is logistic regression,
        "ova_svm" with ``smoothing=0`` what `LinearSVC(loss="hinge")` solves; "topk_svm_alpha",
        "topk_entropy" and others aim at the k best labels.
    k : int
        The length of the list: of the losses that have one, and of `predict_topk`.
    smoothing : float
        How much the kinks of a hinge are rounded; 0 leaves them. Smooth losses train faster.
        Not used by losses without this parameter, or where `loss` is not a name.
    C : float
        The weight of the losses against the regulariser.
    solver : {"auto", "sdca", "accelerated", "whitened", "newton"}
        The method; see :doc:`/how`.
    kernel : {"linear", "rbf", "poly", "precomputed"} or callable
        As in `sklearn.svm.SVC`; a callable takes two matrices.
    gamma, degree, coef0
        Parameters of the kernels, as in `sklearn.svm.SVC`.
    fit_intercept : bool
        Whether to add an intercept for each class.
    intercept_scaling : float
        The constant whose weight the intercept is; it is regularised as all weights are, the
        less the larger the constant, as in LIBLINEAR.
    regularize_intercept : bool
        If false the intercepts are not regularised, as in `LogisticRegression`; linear models
        only. The certificate then says for which intercepts it holds.
    class_weight : dict or "balanced", optional
        Weights of the classes; "balanced" gives all the same total, sample weights counted.
    tol : float
        The relative duality gap to reach.
    max_epochs : int
        The most passes over the data.
    max_time : float
        The most seconds.
    block_size : int, optional
        Examples that share one matrix product; the iterates do not depend on it.
    n_jobs : int, optional
        Threads; -1 and None are all cores.
    warm_start : bool
        Whether `fit` begins where the one before ended, for any `C`; the examples must be the
        same.
    early_stopping : EarlyStopping, optional
        Stop when a metric on examples held out no longer improves.
    random_state : int, RandomState or None
        Determines the order in which examples are visited.
    verbose : int
        1 shows a progress bar, with the gap and the time that is left.
    callbacks : sequence of callables
        Each is called with every evaluation (see `shortlist.solvers.Progress`); the fit ends
        when one returns true. scikit-learn's own callbacks are set by ``set_callbacks``.
    checkpoint : path, optional
        A file to continue from where it exists, and to write to.
    checkpoint_every : float
        Seconds between two checkpoints.

    Attributes
    ----------
    classes_ : ndarray, shape (m,)
        The labels.
    coef_ : ndarray, shape (m, d)
        The weights, one row for each class also where there are two; linear models only.
    intercept_ : ndarray, shape (m,)
        The intercepts.
    support_ : ndarray
        The examples that the weights are made of.
    dual_coef_ : ndarray, shape (n_support, m)
        Their coefficients.
    support_vectors_ : ndarray or sparse matrix
        These examples; kernels only.
    certificate_ : Certificate
        ``primal``, ``dual`` and ``gap``.
    history_ : History
        One line for each evaluation; ``history_.notes`` says where the method was changed.
    converged_, status_ : bool, str
        Whether the gap was reached, and what ended the fit.
    n_iter_ : int
        Passes over the data.
    n_features_in_, feature_names_in_
        Of the examples.

    See Also
    --------
    MultilabelClassifier : for label sets.
    shortlist.solve : the function behind it.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from shortlist import TopKClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> model = TopKClassifier("topk_entropy", k=2, tol=1e-4).fit(X, y)
    >>> labels, scores = model.predict_topk(X[:1])
    >>> labels
    array([[0, 1]])
    >>> model.certificate_.gap <= 1e-4
    True
    """

    def _read_target(self, y: Any, classes: NDArray[Any] | None = None) -> Target:
        if is_label_sets(y):
            raise ValueError(
                "y has a set of labels for each example: use MultilabelClassifier, or pass one "
                "label an example."
            )
        return read_single(y, classes)

    def predict(
        self, X: Any, *, groups: ArrayLike | None = None, pooling: str = "max"
    ) -> NDArray[Any]:
        """Return the class with the highest score.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            The examples.
        groups, pooling
            As for `predict_topk`.

        Returns
        -------
        ndarray, shape (n,)
        """
        best = self._scores(X, groups, pooling).argmax(axis=1)
        labels: NDArray[Any] = self.classes_[best]
        return labels

    def score(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None = None,
        *,
        k: int = 1,
        groups: ArrayLike | None = None,
        pooling: str = "max",
    ) -> float:
        """Return the accuracy: how often the label is among the k best.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            The examples.
        y : array_like, shape (n,)
            The labels.
        sample_weight : array_like, shape (n,), optional
            Weights of the examples.
        k : int
            A label is among the k best unless k others score strictly higher; k = 1 is the
            accuracy of `predict`.
        groups, pooling
            As for `predict_topk`; `y` has one element for each group then.

        Returns
        -------
        float
        """
        if k == 1:
            predicted = self.predict(X, groups=groups, pooling=pooling)
            return float(accuracy_score(y, predicted, sample_weight=sample_weight))
        scores = self._scores(X, groups, pooling)
        own = read_single(y, self.classes_).labels.indices
        k = as_k(k, scores.shape[1], "the list of classes")
        higher = (scores > np.take_along_axis(scores, own[:, None], axis=1)).sum(axis=1)
        return float(np.average(higher < k, weights=own_weights(sample_weight, own.size)))
