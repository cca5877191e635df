"""How good a model is, by metrics with names."""

from __future__ import annotations

from typing import Any

from shortlist import metrics
from shortlist._arrays import FloatArray
from shortlist.metrics.responses import class_scores
from shortlist.model_selection.thresholds import TopK

_OF_SETS = ("precision@1", "map", "rank_loss", "hamming_loss", "subset_accuracy", "f1_micro")


def check(names: list[str]) -> None:
    """Refuse a name that is not known, before any work."""
    for name in names:
        metrics.metric(name)


def usual(m: int, multilabel: bool) -> list[str]:
    """Return the metrics that are shown if none is asked for."""
    if multilabel:
        return list(_OF_SETS)
    return [f"top{k}" for k in (1, 3, 5, 10) if k < m]


def measure(model: Any, X: Any, y: Any, names: list[str]) -> dict[str, float]:
    """Return the metrics of a model; `y` has numbers or columns of its classes."""
    scores = class_scores(model, X)
    sets: Any = None
    values = {}
    for name in names:
        known = metrics.metric(name)
        if known.needs == "sets" and sets is None:
            sets = _label_sets(model, X, scores)
        values[name] = float(known.function(y, scores if known.needs == "scores" else sets))
    return values


def _label_sets(model: Any, X: Any, scores: FloatArray) -> Any:
    """Return the labels that are predicted; where there is one an example, as sets of one."""
    if model._target_form == "single":
        return TopK(1).label_sets(scores)
    return model.predict(X)
