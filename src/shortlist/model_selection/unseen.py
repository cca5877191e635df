"""Scores of examples by models that were trained without them."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import _safe_split as split
from sklearn.utils.parallel import Parallel, delayed

from shortlist._arrays import FloatArray
from shortlist.metrics.responses import label_scores
from shortlist.model_selection.stratification import IterativeStratifiedKFold

Weights = NDArray[np.float64] | None


def unseen_scores(
    estimator: Any,
    X: Any,
    truth: NDArray[np.int64],
    weights: Weights,
    cv: Any,
    n_jobs: int | None,
) -> FloatArray:
    """Return scores of every example, by a clone of `estimator` trained on the other folds.

    `truth` is the indicator matrix of the label sets; a number `cv` stands for as many folds of
    `IterativeStratifiedKFold`.
    """
    folds = list(
        (IterativeStratifiedKFold(int(cv)) if isinstance(cv, Integral) else check_cv(cv)).split(
            X, truth
        )
    )
    seen = np.concatenate([test for _, test in folds])
    if not np.array_equal(np.sort(seen), np.arange(len(truth))):
        raise ValueError("the folds of cv do not hold each example exactly once.")
    parts = Parallel(n_jobs=n_jobs)(
        delayed(_scores_of_fold)(estimator, X, truth, weights, train, test) for train, test in folds
    )
    scores: FloatArray = np.concatenate(parts)[np.argsort(seen)]
    return scores


def trained(estimator: Any, X: Any, truth: NDArray[np.int64], weights: Weights) -> Any:
    """Return a trained clone; of one label it learns a vector, unless it needs a matrix."""
    options = {} if weights is None else {"sample_weight": weights}
    is_vector = truth.shape[1] == 1 and get_tags(estimator).target_tags.single_output
    return clone(estimator).fit(X, truth[:, 0] if is_vector else truth, **options)


def _scores_of_fold(
    estimator: Any,
    X: Any,
    truth: NDArray[np.int64],
    weights: Weights,
    train: NDArray[np.int64],
    test: NDArray[np.int64],
) -> FloatArray:
    known, sets = split(estimator, X, truth, train)  # a kernel's matrix loses columns, too
    model = trained(estimator, known, sets, None if weights is None else weights[train])
    return label_scores(model, split(estimator, X, truth, test, train)[0], truth.shape[1])
