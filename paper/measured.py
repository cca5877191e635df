"""What is measured and not compared cell by cell: Table summary, times, fine-tuning."""

from __future__ import annotations

import json
from typing import Any

import numpy as np

from paper import published
from paper.document import Heading, Table, Text
from paper.page import NAMES, Page, means
from paper.record import Record


def summary(body: Page) -> None:
    """Add what was checked of every loss."""
    cells = Record("summary", body.folder).cells
    body.add(
        Heading("Methods (Table summary)"),
        Text(
            "Every loss of the registry, for lists of 2 of 4 classes. Conjugate and update: the "
            "largest relative error of the Fenchel-Young equality. Calibrated: by "
            "`shortlist.bayes`; (yes) is a search without a counterexample."
        ),
    )
    if not cells:
        body.missing.append("Table summary: `python -m paper.summary`")
        return
    paper = json.loads((published.FOLDER / "summary.json").read_text())["rows"]
    lines = []
    for name, cell in cells.items():
        values = cell["values"]
        checked = [
            f"{values[what]:.0e}" if what in values else "-" for what in ("conjugate", "update")
        ]
        verdict = "-"
        if "calibrated" in cell:
            word = "yes" if cell["calibrated"] else "no"
            verdict = word if cell["exact"] or not cell["calibrated"] else f"({word})"
        lines.append([f"`{name}`", *checked, verdict, paper.get(name, ["", "", "not in it"])[2]])
    header = ["loss", "conjugate", "update", "calibrated", "the paper says"]
    body.add(Table(header, lines))


def timing(body: Page) -> None:
    """Add how long things take."""
    cells = Record("timing", body.folder).cells
    body.add(Heading("Time (Figures lambert and time, Table time-ml)"))
    if "lambert" in cells:
        values = cells["lambert"]["values"]
        body.add(Text("V(t): " + ", ".join(f"{name} {x:.3g}" for name, x in values.items()) + "."))
    body.picture("lambert")
    body.picture("time")
    groups = {
        "projections": ("Projections (Figure time a): microseconds of CPU for one vector", 1e6),
        "bipartite": ("Bipartite projection (Table time-ml): seconds for 1000 problems", 1.0),
    }
    for part, (title, scale) in groups.items():
        own = {int(k.split("/")[1]): c for k, c in cells.items() if k.startswith(f"{part}/")}
        if not own:
            body.missing.append(f"{title}: `python -m paper.timing {part}`")
            continue
        names = list(dict.fromkeys(name for cell in own.values() for name in cell["values"]))
        lines = []
        for size, cell in sorted(own.items()):
            shown_values = [
                "" if name not in cell["values"]
                else f"{cell['values'][name] * (1.0 if name == 'factor' else scale):.3g}"
                for name in names
            ]  # fmt: skip
            if part == "bipartite":
                of = published.of("time_ml", f"1e{round(np.log10(size))}")
                shown_values += [f"{of['factor', 'ratio'].value:.2f}"]
            lines.append([f"{size}", *shown_values])
        header = ["elements", *names, *(["the paper's factor"] if part == "bipartite" else [])]
        body.add(Heading(title, 3), Table(header, lines))
    curves = {k: c for k, c in cells.items() if "history" in c}
    if curves:
        lines = [
            [key, f"{cell['n']}", *_milestones(cell["history"])] for key, cell in curves.items()
        ]
        body.add(
            Heading("Convergence on ALOI (Figure time b to d)", 3),
            Text("CPU seconds until the relative gap is below a number."),
            Table(["solver", "examples", "0.1", "0.01", "0.001", "last gap", "top-1"], lines),
        )
    if not any(key.startswith("convergence/") for key in curves):
        body.missing.append("Figure time b, c: `python -m paper.timing convergence`")
    if "fista" not in curves:
        body.missing.append("Figure time d: `python -m paper.timing fista`")


def _milestones(history: dict[str, list[float]]) -> list[str]:
    seconds, gaps = np.array(history["seconds"]), np.array(history["gap"])
    times = [seconds[gaps <= level] for level in (0.1, 0.01, 0.001)]
    top1 = f"{history['top1'][-1]:.1f}" if "top1" in history else ""
    return [*(f"{some[0]:.1f}" if some.size else "-" for some in times), f"{gaps[-1]:.1e}", top1]


def finetune(body: Page) -> None:
    """Add networks that were trained on."""
    cells = Record("finetune", body.folder).cells
    body.add(
        Heading("Fine-tuning (Table finetune)"),
        Text(
            "A network of 64 hidden units on Letter, trained on for 3 epochs with each loss; the "
            "paper has VGG-16 on ImageNet and Places, which are not here."
        ),
    )
    if not cells:
        body.missing.append("Table finetune: `python -m paper.finetune`")
        return
    metrics = ("top1", "top3", "top5", "top10")
    groups: dict[str, list[Any]] = {}
    for key, cell in cells.items():
        groups.setdefault(key.rpartition("/")[0], []).append(cell)
    lines = []
    for name, draws in groups.items():
        row = name.removesuffix("/finetuned")
        suffix = ", fine-tuned" if name != row else ", before"
        lines.append([NAMES[row] + suffix, *means(draws, metrics)])
    body.add(Table(["loss", *metrics], lines))
