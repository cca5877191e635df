"""The command ``shortlist``: the main job without code.

Each command is a file: it turns words into one call of the library, and what that returns into
text, a table or JSON. ``shortlist --help`` lists them. A command imports what it works with when
it is called, so that no help waits for a compiler or for scikit-learn.
"""

from __future__ import annotations

import sys

__all__ = ["main"]


def main() -> None:
    """Run the command, or say what it needs."""
    try:
        import typer  # noqa: F401
    except ModuleNotFoundError:
        sys.exit("the command needs typer and rich: pip install 'shortlist[cli]'.")
    from shortlist.cli.app import app

    app(prog_name="shortlist")
