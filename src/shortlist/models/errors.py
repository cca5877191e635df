"""The one exception for models that cannot be saved or loaded."""

from __future__ import annotations


class ModelError(ValueError):
    """A file that is no whole model of this version, or a model that no file can hold.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shortlist import models
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.shortlist")
    ...     _ = path.write_text("a letter to grandmother")
    ...     try:
    ...         models.load(path)
    ...     except models.ModelError as error:
    ...         print(str(error).replace(folder, ""))
    /model.shortlist is not a model file.
    """
