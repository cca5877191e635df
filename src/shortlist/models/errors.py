"""The one exception for models that cannot be saved or loaded."""

from __future__ import annotations


class ModelError(ValueError):
    """A file that is no whole model of this version, or a model that no file can hold."""
