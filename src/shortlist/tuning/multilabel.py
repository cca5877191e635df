"""The best multilabel classifier for every metric."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from shortlist.estimators import MultilabelClassifier
from shortlist.model_selection.thresholds import Candidates
from shortlist.tuning.search import Search


class MultilabelClassifierCV(Search):
    """`MultilabelClassifier` with C, gamma and the threshold tuned for every metric, in one search.

    See `shortlist.tuning` for how.

    Parameters
    ----------
    estimator : MultilabelClassifier, optional
        The loss, kernel, `tol` and all else that is not tuned; by default one-vs-all logistic.
    metrics : str or sequence of str, optional
        Names of `shortlist.metrics`; by default the paper's seven: rank_loss, hamming_loss,
        accuracy, subset_accuracy, f1_micro, f1_macro and f1_instance.
    thresholds : {"grid", "scores"} or sequence of float
        Where the threshold for a metric of label sets is looked for: among the 71 values of the
        paper, between any two scores, or among these.
    cv : int, splitter or iterable, optional
        The folds; a number stands for as many of `IterativeStratifiedKFold`, by default 10.
        Where y has one label an example, as in `TopKClassifierCV`.
    Cs, gammas, n_jobs, refit, extend, checkpoint, verbose
        As in `TopKClassifierCV`.

    Attributes
    ----------
    best_params_ : dict
        By metric: the best parameters, with ``"threshold"`` for metrics of label sets.
    cv_results_ : dict
        As in `TopKClassifierCV`; also ``threshold_f1_micro``, ..., the thresholds of all settings.
    best_score_, best_index_, best_estimator_, refit_metric_
        As in `TopKClassifierCV`.
    classes_, n_splits_, n_features_in_, feature_names_in_
        As in `TopKClassifierCV`.

    See Also
    --------
    TopKClassifierCV : for one label an example.

    Examples
    --------
    >>> from sklearn.datasets import make_multilabel_classification
    >>> from shortlist import MultilabelClassifierCV
    >>> X, Y = make_multilabel_classification(random_state=0)
    >>> search = MultilabelClassifierCV(Cs=[0.001, 0.01, 0.1], metrics=["f1_micro"], cv=3)
    >>> best = search.fit(X, Y).estimator_for("f1_micro")
    >>> best.C == search.best_params_["f1_micro"]["C"]
    True
    """

    _tuned = MultilabelClassifier

    def __init__(
        self,
        estimator: MultilabelClassifier | None = None,
        *,
        Cs: ArrayLike | None = None,
        gammas: Sequence[float | str] | None = None,
        metrics: Sequence[str] | str | None = None,
        thresholds: Candidates = "grid",
        cv: Any = None,
        n_jobs: int | None = None,
        refit: bool | str = True,
        extend: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.gammas = gammas
        self.metrics = metrics
        self.thresholds = thresholds
        self.cv = cv
        self.n_jobs = n_jobs
        self.refit = refit
        self.extend = extend
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _candidates(self) -> Candidates:
        return self.thresholds
