r"""Trained models in files that are safe to load from strangers.

>>> import tempfile
>>> from pathlib import Path
>>> from sklearn.datasets import load_iris
>>> from shortlist import TopKClassifier, models
>>> X, y = load_iris(return_X_y=True)
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder) / "iris.shortlist"
...     models.save(TopKClassifier().fit(X, y), path)
...     models.load(path).predict(X[:3])
array([0, 0, 0])

A file holds no code: three lines of text, the third of them JSON, and the bytes of arrays
(`shortlist.models.container` has the layout). It has a version and a checksum; one that is
damaged, newer, or something else raises `ModelError`.
"""

from __future__ import annotations

from shortlist.models.errors import ModelError
from shortlist.models.files import describe, is_model, load, save

__all__ = ["ModelError", "describe", "is_model", "load", "save"]
