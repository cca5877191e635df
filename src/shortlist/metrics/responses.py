"""What a fitted classifier says: scores of all classes, or label sets, in one form."""

from __future__ import annotations

from typing import Any

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.metrics.inputs import as_scores


def class_scores(estimator: Any, X: Any) -> FloatArray:
    """Return one score for each example and class.

    They are those of `decision_function`, else of `predict_proba`. Where scikit-learn has one
    column for two classes, or a list with one array for each label, this is a matrix as well.
    """
    if hasattr(estimator, "decision_function"):
        scores = estimator.decision_function(X)
        if np.ndim(scores) == 1:
            return as_scores(np.column_stack([-scores, scores]))
    elif hasattr(estimator, "predict_proba"):
        scores = estimator.predict_proba(X)
    else:
        raise TypeError(
            f"{type(estimator).__name__} has neither decision_function nor predict_proba; "
            "choose a classifier with scores."
        )
    if isinstance(scores, list):
        scores = _of_label_list(scores, estimator.classes_)
    return as_scores(scores)


def label_scores(estimator: Any, X: Any, m: int) -> FloatArray:
    """Return one score for each example and label of m.

    For one label, which a classifier learns as two classes, it is the score of the second.
    """
    scores = class_scores(estimator, X)
    if m > 1 or scores.shape[1] == 1:
        return scores
    return np.ascontiguousarray(scores[:, 1:])


def class_names(estimator: Any) -> Any:
    """Return the classes of the columns of scores, or None where they are not told."""
    names = getattr(estimator, "classes_", None)
    of_each_label = isinstance(names, list) and np.ndim(names[0]) == 1  # several outputs
    return None if of_each_label else names


def _of_label_list(outputs: list[Any], classes: list[Any]) -> FloatArray:
    """Return the scores that each label holds: a column an array, whose last class is 1."""
    columns = []
    for scores, known in zip(outputs, classes, strict=True):
        if np.ndim(scores) == 1:
            columns.append(scores)
        elif len(known) == 2:
            columns.append(scores[:, 1])
        else:  # every example of the training data had the label, or none
            columns.append(np.full(len(scores), float(known[0])))
    return np.column_stack(columns)
