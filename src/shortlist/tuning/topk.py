"""The best top-k classifier for every metric."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from numpy.typing import ArrayLike

from shortlist.estimators import TopKClassifier
from shortlist.tuning.search import Search


class TopKClassifierCV(Search):
    """`TopKClassifier` with C, k and gamma tuned for every metric, in one search.

    See `shortlist.tuning` for how.

    Parameters
    ----------
    estimator : TopKClassifier, optional
        The loss, kernel, `tol` and all else that is not tuned; by default softmax. Its
        `callbacks`, `warm_start` and `verbose` are for the models trained on all examples.
    Cs : array_like, optional
        The values of C; by default the powers of 2 from -20 to 15.
    ks : sequence of int, optional
        The values of k, where the loss has one; by default those of 1, 2, 3, 5 and 10 that the
        number of classes allows.
    gammas : sequence, optional
        Values of gamma for the kernels "rbf" and "poly" (the paper's are the powers of 2 from
        -15 to 3); by default that of `estimator`.
    metrics : str or sequence of str, optional
        Names of `shortlist.metrics` that need scores; by default top1, top3, top5 and top10 as
        the number of classes allows.
    cv : int, splitter or iterable, optional
        The folds; a number stands for as many stratified ones, by default 5.
    n_jobs : int, optional
        How many paths are trained at the same time, by joblib. Threads of one model are the
        `n_jobs` of `estimator`.
    refit : bool or str
        The metric whose model predicts; true is the first one. The best settings for all
        metrics are trained, unless this is false.
    extend : bool
        Whether to add values of C beyond an end at which a metric is best.
    checkpoint : path, optional
        A folder with a file for each finished path: a search that was killed goes on from them.
        That of another search is refused.
    verbose : int
        1 prints a line on the standard error for every path.

    Attributes
    ----------
    best_params_ : dict
        By metric: the best parameters; of equally good ones those with the least C.
    best_score_ : dict
        By metric: the mean over the folds; of losses, less is better.
    best_index_ : dict
        By metric: the row of `cv_results_`.
    cv_results_ : dict
        One row for each setting, in ascending order of C: ``params``, ``param_C``,
        ``split0_test_top1``, ``mean_test_top1``, ``std_test_top1``, ``rank_test_top1``, ..., as in
        `GridSearchCV`; also ``mean_epochs`` and ``max_gap``, the largest duality gap.
    best_estimator_, refit_metric_
        The model that predicts, and the metric it is the best for.
    classes_, n_splits_, n_features_in_, feature_names_in_
        The labels, the number of folds, and what is known of the examples.

    See Also
    --------
    MultilabelClassifierCV : for label sets.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from shortlist import TopKClassifierCV
    >>> X, y = load_iris(return_X_y=True)
    >>> search = TopKClassifierCV(Cs=[0.01, 0.1, 1.0], metrics=["top1", "top2"], extend=False)
    >>> search.fit(X, y).best_params_
    {'top1': {'C': 1.0}, 'top2': {'C': 0.01}}
    >>> search.predict(X[:2])
    array([0, 0])
    """

    _tuned = TopKClassifier

    def __init__(
        self,
        estimator: TopKClassifier | None = None,
        *,
        Cs: ArrayLike | None = None,
        ks: Sequence[int] | None = None,
        gammas: Sequence[float | str] | None = None,
        metrics: Sequence[str] | str | None = None,
        cv: Any = None,
        n_jobs: int | None = None,
        refit: bool | str = True,
        extend: bool = True,
        checkpoint: str | os.PathLike[str] | None = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.Cs = Cs
        self.ks = ks
        self.gammas = gammas
        self.metrics = metrics
        self.cv = cv
        self.n_jobs = n_jobs
        self.refit = refit
        self.extend = extend
        self.checkpoint = checkpoint
        self.verbose = verbose

    def _given_ks(self) -> Sequence[int] | None:
        return self.ks
