"""Scorers: metrics of a fitted estimator, for scikit-learn's model selection."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from shortlist.metrics.registry import Metric, metric
from shortlist.metrics.responses import class_names, class_scores


@dataclass(frozen=True)
class Scorer:
    """A metric of an estimator by its name; the greater, the better."""

    name: str

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> float:
        """Return the metric of `estimator` on `X` and `y`, negated if it is a loss."""
        return _evaluate(metric(self.name), _Responses(estimator, X), y, sample_weight)


@dataclass(frozen=True)
class Scorers:
    """Several metrics of an estimator, whose scores and label sets are computed once."""

    names: tuple[str, ...]

    def __call__(
        self, estimator: Any, X: Any, y: Any, sample_weight: ArrayLike | None = None
    ) -> Mapping[str, float]:
        """Return the metrics of `estimator` on `X` and `y` by name, losses negated."""
        responses = _Responses(estimator, X)
        return {name: _evaluate(metric(name), responses, y, sample_weight) for name in self.names}


def scorer(name: str, *more: str) -> Scorer | Scorers:
    """Return a scorer for scikit-learn's ``scoring=``.

    Parameters
    ----------
    name : str
        A metric's name: ``"top5"``, ``"precision@3"``, ``"map"``, ``"f1_micro"``, ... (all
        are in `shortlist.metrics.names`).
    *more : str
        More metrics, for one scorer that returns them all by name and asks the estimator once.

    Returns
    -------
    callable
        ``scorer(estimator, X, y, sample_weight=None)``. Losses are negated, so that greater is
        better for every scorer. Labels are read by the estimator's ``classes_``.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.linear_model import LogisticRegression
    >>> from sklearn.model_selection import cross_validate
    >>> from shortlist.metrics import scorer
    >>> X, y = load_iris(return_X_y=True)
    >>> model = LogisticRegression(max_iter=1000)
    >>> folds = cross_validate(model, X, y, scoring=scorer("top1", "top2", "rank_loss"))
    >>> folds["test_top2"].mean().round(2)
    np.float64(1.0)
    """
    for each in (name, *more):
        metric(each)  # refuses a name that is not known
    return Scorers((name, *more)) if more else Scorer(name)


class _Responses:
    """What an estimator says of `X`, asked once."""

    def __init__(self, estimator: Any, X: Any) -> None:
        self._estimator, self._X = estimator, X
        self._known: dict[str, Any] = {}
        self.classes = class_names(estimator)

    def get(self, needs: str) -> Any:
        if needs not in self._known:
            if needs == "scores":
                self._known[needs] = class_scores(self._estimator, self._X)
            else:
                self._known[needs] = self._estimator.predict(self._X)
        return self._known[needs]


def _evaluate(
    known: Metric, responses: _Responses, y: Any, sample_weight: ArrayLike | None
) -> float:
    response = responses.get(known.needs)
    value = known.function(y, response, sample_weight=sample_weight, classes=responses.classes)
    return known.sign * value
