"""Which models of a study are the best."""

from __future__ import annotations

import math

from shortlist import metrics
from shortlist.report.records import Fit, Study


def best_for(study: Study, name: str) -> Fit | None:
    """Return the fit that is best for a metric, if it was measured."""
    sign = metrics.metric(name).sign
    known = [fit for fit in study.fits if math.isfinite(fit.metrics.get(name, math.nan))]
    return max(known, key=lambda fit: sign * fit.metrics[name], default=None)


def has_many_c(study: Study) -> bool:
    """Return whether models differ in C."""
    return len({fit.C for fit in study.fits}) > 1


def measured(study: Study) -> list[str]:
    """Return the metrics that some model was measured by."""
    return [name for name in study.metrics if any(name in fit.metrics for fit in study.fits)]


def best_fits(study: Study) -> tuple[Fit, ...]:
    """Return, of the fits of each name, the one that is best for the first metric."""
    if not study.metrics:
        return study.fits
    aim = metrics.metric(study.metrics[0])

    def merit(fit: Fit) -> float:
        value = aim.sign * fit.metrics.get(aim.name, math.nan)
        return value if math.isfinite(value) else -math.inf

    best: dict[str, Fit] = {}
    for fit in study.fits:
        if fit.name not in best or merit(fit) > merit(best[fit.name]):
            best[fit.name] = fit
    return tuple(best.values())
