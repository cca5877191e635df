"""What a report says in words."""

from __future__ import annotations

import math

from shortlist.report.records import DataFacts, Fit, Study

_ENDS = {
    "max_epochs": "its limit of passes was reached",
    "max_time": "its time was over",
    "interrupted": "it was interrupted",
    "stopped": "a callback ended it",
    "no_progress": "the precision of the numbers allowed no more",
    "failed": "numbers overflowed",
}


def percent(share: float) -> str:
    """Return a share of one in percent, with two digits that say something."""
    if not math.isfinite(share):
        return "-"
    hundredths = 100.0 * share
    if hundredths == 0.0:
        return "0%"
    digits = max(0, 1 - math.floor(math.log10(abs(hundredths))))
    return f"{hundredths:.{min(digits, 12)}f}%"


def score(value: float) -> str:
    """Return a score, with as many digits as tell it from others."""
    if not math.isfinite(value):
        return "-"
    return f"{value:.3g}" if abs(value) >= 100.0 else f"{round(value, 2) + 0.0:.2f}"


def duration(seconds: float) -> str:
    """Return a time as a person would say it."""
    if not math.isfinite(seconds):
        return "-"
    if seconds < 1.0:
        return f"{1000.0 * seconds:.0f} ms"
    if seconds < 120.0:
        return f"{seconds:.1f} s"
    minutes = seconds / 60.0
    return f"{minutes:.0f} min" if minutes < 120.0 else f"{minutes / 60.0:.1f} h"


def examples(facts: DataFacts) -> str:
    """Return what a data set is."""
    words = f"{facts.n:,} examples, {facts.d:,} features, {facts.m:,} classes"
    if facts.cardinality != 1.0 and math.isfinite(facts.cardinality):
        words += f", {facts.cardinality:.2f} labels an example"
    return words


def models(study: Study) -> str:
    """Return how many models there are, and of how many losses."""
    fits, losses = len(study.fits), len({fit.loss for fit in study.fits})
    if fits == 1:
        return "One model"
    return f"{fits} losses" if fits == losses else f"{fits} models"


def certificate(fit: Fit) -> str:
    """Return what is proven of a model."""
    known = fit.certificate
    if fit.gap is None:
        size = known.get("gradient_norm", math.nan)
        return (
            "The loss is not convex: there is no dual, and no proof that no better model exists. "
            f"The gradient is {size:.0e} of that at zero weights."
        )
    words = (
        f"The optimum lies between {known['dual']:.7g} and {known['primal']:.7g}, "
        f"the objective of this model: no other can be better by more than {percent(fit.gap)}."
    )
    if not fit.converged:
        end = _ENDS.get(fit.status, fit.status)
        words += f" The fit ended before the gap of {percent(fit.tol)} that was asked for: {end}."
    return words


def settings(fit: Fit) -> str:
    """Return the parameters of a model."""
    words = [f"C = {fit.C:g}"]
    if fit.k is not None:
        words.append(f"k = {fit.k}")
    if fit.smoothing is not None:
        words.append(f"smoothing = {fit.smoothing:g}")
    if fit.kernel != "linear":
        words.append(f"kernel {fit.kernel}")
    return ", ".join(words)


def effort(fit: Fit) -> str:
    """Return what the fit took, and by which methods."""
    methods = [name for name in dict.fromkeys(fit.convergence.methods) if name]
    by = f" by {', then '.join(methods)}" if methods else ""
    passes = "1 pass" if fit.epochs == 1 else f"{fit.epochs} passes"
    return f"{passes} over the data{by}, {duration(fit.seconds)}"
