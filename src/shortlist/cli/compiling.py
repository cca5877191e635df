"""Small fits that compile what large ones need."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse

from shortlist.estimators import MultilabelClassifier, TopKClassifier


def fit_small(loss: str, sparse: bool, dtype: str) -> None:
    """Train a small model by the method that is chosen for it, and by plain SDCA."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 6
    X: Any = (rng.normal(size=(60, 8)) + np.eye(6, 8)[y]).astype(dtype)
    X = scipy.sparse.csr_array(X) if sparse else X
    is_multilabel = loss.startswith("multilabel")
    kind: Any = MultilabelClassifier if is_multilabel else TopKClassifier
    target = np.eye(6, dtype=int)[y] if is_multilabel else y
    for solver in ("auto", "sdca"):
        kind(loss, k=2, solver=solver, tol=0.1).fit(X, target)
