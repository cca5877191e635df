"""A study as its page shows it: words, cells, formulas and pictures, ready for the template."""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from typing import Any, NamedTuple

from shortlist import metrics
from shortlist.report import formulas, plots, sentences
from shortlist.report.figures import formula, picture
from shortlist.report.pixels import drawing
from shortlist.report.records import Example, Fit, Regions, Study
from shortlist.report.safe import Markup
from shortlist.report.studies import best_fits

#: Curves beyond so many cannot be told apart, and pictures beyond so many are not looked at.
_CURVES, _REGIONS = 18, 18


class Cell(NamedTuple):
    """A cell of a table: what it shows, what it is sorted by, and whether it is the best."""

    text: str
    value: float
    best: bool = False


class Row(NamedTuple):
    """A line of the table of models."""

    name: str
    series: int
    note: str
    cells: list[Cell]


class Column(NamedTuple):
    """A column of the table: its name, a mark, and what it means."""

    name: str
    mark: str
    meaning: str


class Picture(NamedTuple):
    """A picture, its heading, and what there is to see."""

    svg: Markup
    heading: str
    caption: str


class Objective(NamedTuple):
    """What a model minimised, and what is proven of it."""

    name: str
    series: int
    settings: str
    gap: str
    converged: bool
    formulas: list[Markup]
    certificate: str
    effort: str
    notes: tuple[str, ...]
    file: str


class HardExample(NamedTuple):
    """An example, as it looks."""

    example: Example
    image: Markup | None
    listed: list[tuple[str, str, bool]]


class View(NamedTuple):
    """A study, ready to be shown."""

    number: int
    title: str
    lead: list[tuple[str, str]]
    headlines: list[tuple[str, str, str]]
    columns: list[Column]
    rows: list[Row]
    legend: list[tuple[str, int]]
    objective: Markup
    bounds: Markup
    objectives: list[Objective]
    pictures: list[Picture]
    classes: list[tuple[str, int]]
    regions: list[Picture]
    validation: list[Picture]
    hardest_of: str
    hardest: list[HardExample]


def view(study: Study, number: int) -> View:
    """Return what the page shows of a study; `number` is its place on the page."""
    best = best_fits(study)
    series = {fit.name: at for at, fit in enumerate(best)}
    leader = _leader(study, study.metrics[0]) if study.metrics else None
    leader = leader or study.fits[0] if study.fits else None
    draw = _Drawing(f"study {number}")
    return View(
        number=number,
        title=study.title,
        lead=_lead(study),
        headlines=_headlines(study),
        columns=_columns(study),
        rows=_rows(study, series),
        legend=list(series.items()),
        objective=draw.formula(formulas.OBJECTIVE),
        bounds=draw.formula(formulas.BOUNDS),
        objectives=[_objective(fit, series, draw) for fit in best],
        pictures=_curves(best, draw) + _of_label_sets(leader, draw),
        classes=_classes(best),
        regions=_regions(best, draw),
        validation=_validation(study, draw),
        hardest_of=leader.name if leader else "",
        hardest=_hardest(study, leader),
    )


class _Drawing:
    """Pictures of one study; those of others that look the same keep their own names."""

    def __init__(self, key: str) -> None:
        self.key = key

    def formula(self, latex: str, of: str = "") -> Markup:
        return Markup(formula(latex, f"{self.key} {of}"))

    def picture(
        self, heading: str, caption: str, draw: Callable[[Any], Any], **size: float
    ) -> Picture:
        svg = picture(draw, f"{heading}. {caption}", key=f"{self.key} {heading}", **size)
        return Picture(Markup(svg), heading, caption)


def _lead(study: Study) -> list[tuple[str, str]]:
    """Return names and facts: what was trained, and on what."""
    facts = []
    if study.search is not None:
        found = study.search
        tried = len(found.cv_results.get("params", ()))
        words = f"{tried} settings on {found.folds} folds"
        if math.isfinite(found.seconds):
            words += f", in {sentences.duration(found.seconds)} of training"
        facts.append(("Tried", words))
    if study.train is not None:
        facts.append(("Trained on", f"{study.train.source}: {sentences.examples(study.train)}"))
    if study.test is not None:
        count = f"{study.test.n:,} " if study.test.n else ""  # which not everyone tells
        words = f"{study.test.source}: {count}examples that no model has seen"
        facts.append(("Measured on", words))
    return facts


def _headlines(study: Study) -> list[tuple[str, str, str]]:
    """Return the best of each metric, and how many models are certified: value, name, words."""
    lines = []
    for name in study.metrics[:4]:
        leader = _leader(study, name)
        if leader is not None:
            words = _and_others(leader, study, name) if len(study.fits) > 1 else ""
            lines.append((_as_percent(leader.metrics[name]), name, words))
    certified = [fit for fit in study.fits if fit.gap is not None]
    if certified:
        proven = sum(fit.converged for fit in certified)
        worst = max(fit.gap or 0.0 for fit in certified)
        words = f"proven optimal within {sentences.percent(worst)}"
        lines.append((f"{proven} of {len(study.fits)}", "certified", words))
    return lines


def _and_others(leader: Fit, study: Study, name: str) -> str:
    """Return the name of the best model, and how many are as good."""
    same = sum(fit.metrics.get(name) == leader.metrics[name] for fit in study.fits) - 1
    if not same:
        return leader.name
    return f"{leader.name} and {same} {'other' if same == 1 else 'others'}"


def _leader(study: Study, name: str) -> Fit | None:
    """Return the fit that is best for a metric, if it was measured."""
    sign = metrics.metric(name).sign
    measured = [fit for fit in study.fits if math.isfinite(fit.metrics.get(name, math.nan))]
    return max(measured, key=lambda fit: sign * fit.metrics[name], default=None)


def _as_percent(value: float) -> str:
    return f"{100.0 * value:.2f}" if math.isfinite(value) else "-"


def _has_many_c(study: Study) -> bool:
    return len({fit.C for fit in study.fits}) > 1


def _measured(study: Study) -> list[str]:
    """Return the metrics that some model was measured by."""
    return [name for name in study.metrics if any(name in fit.metrics for fit in study.fits)]


def _columns(study: Study) -> list[Column]:
    columns = [Column("C", "", "the weight of the losses")] if _has_many_c(study) else []
    for name in _measured(study):
        better = "greater" if metrics.metric(name).greater_is_better else "less"
        columns.append(
            Column(name, "" if better == "greater" else "↓", f"in %, {better} is better")
        )
    return [
        *columns,
        Column("gap", "", "how far from the optimum a model can be, relative and proven"),
        Column("passes", "", "over the data"),
        Column("seconds", "", "of training"),
    ]


def _rows(study: Study, series: dict[str, int]) -> list[Row]:
    names = _measured(study)
    best = {name: _leader(study, name) for name in names}
    rows = []
    for fit in study.fits:
        cells = [Cell(f"{fit.C:g}", fit.C)] if _has_many_c(study) else []
        for name in names:
            value, leader = fit.metrics.get(name, math.nan), best[name]
            is_best = leader is not None and value == leader.metrics[name]
            cells.append(Cell(_as_percent(value), value, is_best))
        gap = "-" if fit.gap is None else f"{fit.gap:.1e}"
        mark = "" if fit.converged or fit.gap is None else " !"
        cells.append(Cell(gap + mark, math.nan if fit.gap is None else fit.gap))
        cells.append(Cell(f"{fit.epochs:,}", fit.epochs))
        cells.append(Cell(f"{fit.seconds:.2f}", fit.seconds))
        rows.append(Row(fit.name, series[fit.name], _note(fit), cells))
    return rows


def _note(fit: Fit) -> str:
    return f"k = {fit.k}" if fit.k is not None else ""


def _objective(fit: Fit, series: dict[str, int], draw: _Drawing) -> Objective:
    return Objective(
        name=fit.name,
        series=series[fit.name],
        settings=sentences.settings(fit),
        gap="no gap" if fit.gap is None else f"gap {sentences.percent(fit.gap)}",
        converged=fit.converged,
        formulas=[draw.formula(line, fit.name) for line in formulas.formulas_of(fit.loss)],
        certificate=sentences.certificate(fit),
        effort=sentences.effort(fit),
        notes=fit.convergence.notes,
        file=fit.model,
    )


def _curves(fits: tuple[Fit, ...], draw: _Drawing) -> list[Picture]:
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


def _of_label_sets(fit: Fit | None, draw: _Drawing) -> list[Picture]:
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


def _regions(fits: tuple[Fit, ...], draw: _Drawing) -> list[Picture]:
    shown = []
    for fit in fits[:_REGIONS]:
        if fit.regions is None:
            continue
        values = ", ".join(f"{name} {_as_percent(value)}" for name, value in fit.metrics.items())
        plot = functools.partial(_draw_regions, fit.regions)
        shown.append(draw.picture(fit.name, values, plot, width=2.6, height=2.6))
    return shown


def _draw_regions(found: Regions, ax: Any) -> None:
    plots.plot_regions(found, ax=ax, legend=False)


def _classes(fits: tuple[Fit, ...]) -> list[tuple[str, int]]:
    """Return the classes of regions, and the numbers of their colours."""
    found = next((fit.regions for fit in fits if fit.regions is not None), None)
    return [] if found is None else [(name, at) for at, name in enumerate(found.classes)]


def _validation(study: Study, draw: _Drawing) -> list[Picture]:
    """Return a picture for each metric over C: of a search, or of fits that differ in C."""
    if study.search is not None:
        found = study.search
        results = found.cv_results
        chosen = {name: best.params.get("C") for name, best in found.best.items()}
        names, words = list(found.metrics), f"The mean over {found.folds} folds, and its spread."
    elif _has_many_c(study):
        names, words = _measured(study), "Measured on the examples that no model has seen."
        chosen = {name: leader.C for name in names if (leader := _leader(study, name))}
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


def _hardest(study: Study, leader: Fit | None) -> list[HardExample]:
    if leader is None or leader.regions is not None:  # of the plane all examples are drawn
        return []
    shown = []
    for example in leader.hardest:
        image = None
        if example.pixels and study.image is not None:
            what = f"example {example.number}: {', '.join(example.labels)}"
            image = Markup(drawing(example.pixels, study.image, what))
        listed = [
            (each.name, sentences.score(each.value), each.name in example.labels)
            for each in example.shortlist
        ]
        shown.append(HardExample(example, image, listed))
    return shown
