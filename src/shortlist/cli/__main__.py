"""``python -m shortlist.cli`` is the command ``shortlist``."""

from __future__ import annotations

from shortlist.cli import main

if __name__ == "__main__":  # a process that compiles imports this file, too
    main()
