"""The shortlists of examples, as lines of text."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import scipy.sparse

from shortlist.datasets import Dataset
from shortlist.model_selection.thresholds import MatchingCut


def lines(
    model: Any, examples: Dataset, k: int | None, scores: bool, as_json: bool
) -> Iterator[str]:
    """Yield the best k labels of each example, or those that the model predicts."""
    for part in _parts(model, examples, k):
        for labels, own in _lists(model, part.X, k):
            yield _line(labels, own, scores, as_json)


def _parts(model: Any, examples: Dataset, k: int | None) -> Iterable[Dataset]:
    """Return a few megabytes at a time, unless the threshold depends on all examples together."""
    together = k is None and isinstance(getattr(model, "cut_", None), MatchingCut)
    return [examples] if together else examples.parts()


def _lists(model: Any, X: Any, k: int | None) -> Iterator[tuple[list[Any], list[float]]]:
    """Yield the labels of each example and their scores, best first."""
    if k is not None or model._target_form == "single":
        labels, scores = model.predict_topk(X, k or 1)
        yield from zip(labels.tolist(), scores.tolist(), strict=True)
        return
    holds = scipy.sparse.csr_array(model.predict(X))
    sets = np.split(holds.indices, holds.indptr[1:-1])
    for names, own, chosen in zip(*model.predict_topk(X, model.classes_.size), sets, strict=True):
        kept = np.isin(names, model.classes_[chosen])
        yield names[kept].tolist(), own[kept].tolist()


def _line(labels: list[Any], own: list[float], scores: bool, as_json: bool) -> str:
    if as_json:
        return json.dumps({"labels": labels, "scores": own}) + "\n"
    if scores:
        labels = [f"{name}:{score:.6g}" for name, score in zip(labels, own, strict=True)]
    return "\t".join(map(str, labels)) + "\n"
