"""The page as it grows: tables of our numbers beside the paper's, and what was not run."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from paper import compare, figures
from paper.circle import MANY_STARTS
from paper.document import Block, Image, Table, Text
from paper.methods import CIRCLE, MULTICLASS, MULTILABEL, SINGLE_LABEL
from paper.verdict import AGREES, BETTER, WORSE, Comparison, is_loss

HERE = Path(__file__).parent
NAMES = {method.key: method.name for method in [*MULTICLASS, *CIRCLE, *MULTILABEL, *SINGLE_LABEL]}
NAMES |= {f"{method.key}/rbf": f"{method.name}, RBF" for method in MULTILABEL}
NAMES[MANY_STARTS] = "truncated top-2 entropy, several starts"
_MARKS = {AGREES: "", BETTER: " ▲", WORSE: " ▼"}


def number(value: float, metric: str) -> str:
    """Return a value with the paper's number of digits."""
    return f"{value:.3f}" if is_loss(metric) else f"{value:.1f}"


def shown(cell: Comparison) -> str:
    """Return ours, its noise, the paper's, the difference, and a mark where they disagree."""
    ours, noise, paper = (number(x, cell.metric) for x in (cell.ours, cell.noise, cell.paper))
    difference = number(cell.difference, cell.metric)
    sign = "+" if cell.difference >= 0 else ""
    return f"{ours} ±{noise} / {paper} ({sign}{difference}){_MARKS[cell.verdict]}"


class Page:
    """The page as it grows, and all comparisons on it."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.blocks: list[Block] = []
        self.cells: dict[tuple[str, str, str], Comparison] = {}
        self.missing: list[str] = []

    def add(self, *blocks: Block) -> None:
        """Add blocks."""
        self.blocks += blocks

    def picture(self, name: str) -> None:
        """Add a figure, where it was drawn."""
        if self.folder is None and (figures.FOLDER / f"{name}.svg").exists():
            self.add(Image(f"figures/{name}.svg", figures.CAPTIONS[name]))

    def compared(
        self, dataset: str, cells: compare.Comparisons, rows: list[str], command: str
    ) -> None:
        """Add the table of a data set, and its missing cells to the list of what was not run."""
        metrics = list(dict.fromkeys(metric for _, metric in cells))
        lacking = {row: [name for name in metrics if (row, name) not in cells] for row in rows}
        absent = [row for row in rows if lacking[row] == metrics]
        costs: dict[str, list[str]] = {}
        for row in rows:
            some = "" if row in absent else f" ({', '.join(lacking[row])})"
            if row in absent or lacking[row]:
                costs.setdefault(cost(dataset, row), []).append(NAMES[row] + some)
        for why, those in costs.items():
            what = "all rows" if len(absent) == len(rows) else ", ".join(those)
            self.missing.append(f"{dataset}: {what}: `{command}`{why and f': {why}'}")
        if len(absent) == len(rows):
            return
        lines = []
        for row in rows:
            if row in absent:
                continue
            own = [cells.get((row, metric)) for metric in metrics]
            known = [cell for cell in own if cell is not None]
            gap = f"{max(cell.largest_gap for cell in known):.1e}"
            missed = known[0].missed
            lines.append(
                [NAMES[row], *("" if cell is None else shown(cell) for cell in own),
                 gap + (f", {missed} missed" if missed else "")]
            )  # fmt: skip
        self.add(Table(["method", *metrics, "largest gap"], lines))
        for (row, metric), cell in cells.items():
            self.cells[dataset, row, metric] = cell
        reasons: dict[str, list[str]] = {}
        for (row, metric), cell in cells.items():
            if cell.verdict == WORSE:
                why = explanation(dataset, row, metric) or "not explained yet"
                reasons.setdefault(why, []).append(f"{NAMES[row]} {metric}")
        self.add(*(Text(f"▼ {', '.join(where)}: {why}") for why, where in reasons.items()))


def explanation(dataset: str, row: str, metric: str) -> str | None:
    """Return why a cell lies outside, where that is known; the first that fits."""
    for known in json.loads((HERE / "explanations.json").read_text()):
        fits = (
            known["dataset"] in (dataset, "*")
            and (row in known["rows"] or known["rows"] == ["*"])
            and (metric in known["metrics"] or known["metrics"] == ["*"])
        )
        if fits:
            return str(known["why"])
    return None


def cost(dataset: str, row: str) -> str:
    """Return what it takes to compute a row that was not run, where that is known."""
    for known in json.loads((HERE / "costs.json").read_text()):
        if known["dataset"] == dataset and row in known["rows"]:
            return str(known["why"])
    return ""


def means(draws: list[Any], metrics: tuple[str, ...]) -> list[str]:
    """Return the mean of each metric over repeated cells, and its spread."""
    shown_values = []
    for metric in metrics:
        values = [draw["values"][metric] for draw in draws]
        spread = f" ±{number(float(np.std(values, ddof=1)), metric)}" if len(values) > 1 else ""
        shown_values.append(number(float(np.mean(values)), metric) + spread)
    return shown_values
