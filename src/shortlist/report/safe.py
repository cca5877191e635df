"""Text that is HTML already, and must not be escaped again."""

from __future__ import annotations


class Markup(str):
    """HTML that this package has made; templates take it as it is."""

    def __html__(self) -> str:
        return str(self)
