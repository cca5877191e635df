"""How good a model is, by metrics with names."""

from __future__ import annotations

from shortlist import metrics
from shortlist.report.measuring import measure, usual

__all__ = ["check", "measure", "usual"]


def check(names: list[str]) -> None:
    """Refuse a name that is not known, before any work."""
    for name in names:
        metrics.metric(name)
