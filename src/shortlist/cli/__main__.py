"""``python -m shortlist.cli`` is the command ``shortlist``."""

from __future__ import annotations

from shortlist.cli import main

main()
