"""A study as its page shows it: words, cells, formulas and pictures, ready for the template."""

from __future__ import annotations

import math
from typing import NamedTuple

from shortlist import metrics
from shortlist.report import formulas, pictures, sentences
from shortlist.report.pictures import Drawing, Picture
from shortlist.report.pixels import drawing
from shortlist.report.records import Example, Fit, Study
from shortlist.report.safe import Markup
from shortlist.report.standings import best_fits, best_for, has_many_c, measured


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
    leader = best_for(study, study.metrics[0]) if study.metrics else None
    leader = leader or study.fits[0] if study.fits else None
    draw = Drawing(f"study {number}")
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
        pictures=pictures.curves(best, draw) + pictures.of_label_sets(leader, draw),
        classes=pictures.classes(best),
        regions=pictures.of_regions(best, draw),
        validation=pictures.validation(study, draw),
        hardest_of=leader.name if leader else "",
        hardest=_hardest(study, leader),
    )


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
        leader = best_for(study, name)
        if leader is not None:
            words = _and_others(leader, study, name) if len(study.fits) > 1 else ""
            lines.append((sentences.metric(leader.metrics[name]), name, words))
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


def _columns(study: Study) -> list[Column]:
    columns = [Column("C", "", "the weight of the losses")] if has_many_c(study) else []
    for name in measured(study):
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
    names = measured(study)
    best = {name: best_for(study, name) for name in names}
    rows = []
    for fit in study.fits:
        cells = [Cell(f"{fit.C:g}", fit.C)] if has_many_c(study) else []
        for name in names:
            value, leader = fit.metrics.get(name, math.nan), best[name]
            is_best = leader is not None and value == leader.metrics[name]
            cells.append(Cell(sentences.metric(value), value, is_best))
        gap = "-" if fit.gap is None else f"{fit.gap:.1e}"
        mark = "" if fit.converged or fit.gap is None else " !"
        cells.append(Cell(gap + mark, math.nan if fit.gap is None else fit.gap))
        cells.append(Cell(f"{fit.epochs:,}", fit.epochs))
        cells.append(Cell(f"{fit.seconds:.2f}", fit.seconds))
        rows.append(Row(fit.name, series[fit.name], _note(fit), cells))
    return rows


def _note(fit: Fit) -> str:
    return f"k = {fit.k}" if fit.k is not None else ""


def _objective(fit: Fit, series: dict[str, int], draw: Drawing) -> Objective:
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
