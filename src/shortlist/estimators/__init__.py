"""Estimators for people who know scikit-learn."""

from __future__ import annotations

from shortlist.estimators.multilabel import MultilabelClassifier
from shortlist.estimators.stopping import EarlyStopping
from shortlist.estimators.topk import TopKClassifier

__all__ = ["EarlyStopping", "MultilabelClassifier", "TopKClassifier"]
