"""The pictures of a study, with what there is to see on them."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from shortlist.report import plots, sentences
from shortlist.report.figures import formula, picture
from shortlist.report.records import Fit, Regions, Study
from shortlist.report.safe import Markup
from shortlist.report.standings import best_for, has_many_c, measured

#: Curves beyond so many cannot be told apart, and pictures beyond so many are not looked at.
_CURVES, _REGIONS = 18, 18


class Picture(NamedTuple):
    """A picture, its heading, and what there is to see."""

    svg: Markup
    heading: str
    caption: str


class Drawing:
    """Pictures of one study; those of others that look the same keep their own names."""

    def __init__(self, key: str) -> None:
        self.key = key

    def formula(self, latex: str, of: str = "") -> Markup:
        """Return a formula; `of` tells equal ones apart."""
        return Markup(formula(latex, f"{self.key} {of}"))

    def picture(
        self, heading: str, caption: str, draw: Callable[[Any], Any], **size: float
    ) -> Picture:
        """Return what a function draws on axes."""
        svg = picture(draw, f"{heading}. {caption}", key=f"{self.key} {heading}", **size)
        return Picture(Markup(svg), heading, caption)


def curves(fits: tuple[Fit, ...], draw: Drawing) -> list[Picture]:
    """Return pictures with a curve for each model."""
    named = {fit.name: fit for fit in fits[:_CURVES]}
    shown = []
    if any(len(fit.topk) > 2 for fit in fits):
        shown.append(
            draw.picture(
                "Top-k accuracy",
                "How often the label is on a list of length k.",
                lambda ax: plots.plot_topk_curves(named, ax=ax, legend=False),
            )
        )
    if any(fit.convergence.gaps for fit in fits):
        tol = fits[0].tol
        shown.append(
            draw.picture(
                "Convergence",
                f"The duality gap during training; dotted, the {sentences.percent(tol)} asked for.",
                lambda ax: plots.plot_convergence(named, tol=tol, ax=ax, legend=False),
            )
        )
    return shown


def of_label_sets(fit: Fit | None, draw: Drawing) -> list[Picture]:
    """Return how the label sets of a model depend on its threshold."""
    if fit is None or fit.label_sets is None:
        return []
    sets = fit.label_sets
    dotted = "" if sets.chosen is None else " Dotted, the model's own."
    return [
        draw.picture(
            "Thresholds",
            f"Metrics of {fit.name} at every threshold on its scores.{dotted}",
            lambda ax: plots.plot_thresholds(sets, ax=ax),
        ),
        draw.picture(
            "Label cardinality",
            f"Labels that {fit.name} gives on average at every threshold; examples have "
            f"{sets.cardinality:.2f}.",
            lambda ax: plots.plot_sizes(sets, ax=ax),
        ),
        draw.picture(
            "Sizes of label sets",
            f"How many labels examples have, and how many {fit.name} gives them.",
            lambda ax: plots.plot_cardinality(sets, ax=ax),
        ),
    ]


def of_regions(fits: tuple[Fit, ...], draw: Drawing) -> list[Picture]:
    """Return a small picture of the plane for each model."""
    shown = []
    for fit in fits[:_REGIONS]:
        if fit.regions is None:
            continue
        values = ", ".join(
            f"{name} {sentences.metric(value)}" for name, value in fit.metrics.items()
        )
        plot = functools.partial(_draw_regions, fit.regions)
        shown.append(draw.picture(fit.name, values, plot, width=2.6, height=2.6))
    return shown


def _draw_regions(found: Regions, ax: Any) -> None:
    plots.plot_regions(found, ax=ax, legend=False)


def classes(fits: tuple[Fit, ...]) -> list[tuple[str, int]]:
    """Return the classes of regions, and the numbers of their colours."""
    found = next((fit.regions for fit in fits if fit.regions is not None), None)
    return [] if found is None else [(name, at) for at, name in enumerate(found.classes)]


def validation(study: Study, draw: Drawing) -> list[Picture]:
    """Return a picture for each metric over C: of a search, or of fits that differ in C."""
    if study.search is not None:
        found = study.search
        results = found.cv_results
        chosen = {name: best.params.get("C") for name, best in found.best.items()}
        names, words = list(found.metrics), f"The mean over {found.folds} folds, and its spread."
    elif has_many_c(study):
        names, words = measured(study), "Measured on the examples that no model has seen."
        chosen = {name: best.C for name in names if (best := best_for(study, name))}
        fits = sorted(study.fits, key=lambda fit: fit.C)
        results = {
            "params": [{"C": fit.C, "loss": fit.name} for fit in fits],
            "param_C": [fit.C for fit in fits],
        }
        for name in names:
            results[f"mean_test_{name}"] = [fit.metrics.get(name, math.nan) for fit in fits]
    else:
        return []
    if len(set(results["param_C"])) < 2:
        return []
    shown = []
    for name in names:
        plot = functools.partial(_draw_validation, results, name, chosen.get(name))
        caption = f"{words} Dotted, the best C."
        shown.append(draw.picture(f"{name} over C", caption, plot))
    return shown


def _draw_validation(results: dict[str, Any], name: str, best: float | None, ax: Any) -> None:
    plots.plot_validation(results, name, best=best, ax=ax)
