"""The one exception for files that cannot be used."""

from __future__ import annotations

from typing import Any


class DataError(ValueError):
    r"""A damaged file, or one that does not fit: names the file and, where it has lines, the line.

    Parameters
    ----------
    path : path or str
        The file.
    what : str
        What is wrong, and what to do.
    line : int, optional
        The line, counted from 1.

    Examples
    --------
    >>> import io
    >>> from shortlist import datasets
    >>> datasets.read(io.BytesIO(b"1 1:0.5\n2 1:x\n"), "libsvm")
    Traceback (most recent call last):
    shortlist.datasets.errors.DataError: <stream>, line 2: the value of '1:x' is not a number.
    """

    def __init__(self, path: Any, what: str, line: int | None = None) -> None:
        super().__init__(str(path), what, line)

    @property
    def path(self) -> str:
        """The file."""
        return str(self.args[0])

    @property
    def line(self) -> int | None:
        """The line, counted from 1, where there are lines."""
        line: int | None = self.args[2]
        return line

    def __str__(self) -> str:
        path, what, line = self.args
        return f"{path}: {what}" if line is None else f"{path}, line {line}: {what}"
