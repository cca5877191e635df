"""The paper's conclusions, each with a rule that decides from our numbers whether it holds."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from paper import compare
from paper.circle import MANY_STARTS
from paper.multiclass import SETS as MULTICLASS_SETS
from paper.multilabel import HERE as MULTILABEL_SETS
from paper.multilabel import METRICS
from paper.record import Record
from paper.single_label import KEPT
from paper.single_label import SETS as SINGLE_SETS
from paper.verdict import is_loss, point

LENGTHS = (1, 3, 5, 10)
#: Differences below are ties, in points.
TIE = 0.1


class Finding(NamedTuple):
    """Whether a conclusion holds, and what says so; None where there are no numbers yet."""

    holds: bool | None
    evidence: str = ""


class Numbers:
    """Our means by data set, row and metric."""

    def __init__(self, folder: Path | None = None) -> None:
        self.folder = folder
        self.sets: dict[str, dict[str, dict[str, float]]] = {}
        for name in ("circle", *MULTICLASS_SETS):
            self._keep(name, Record(name, folder).cells, depth=1)
        for name in SINGLE_SETS:
            self._keep(f"single_{name}", Record(f"single_{name}", folder).cells, depth=1)
        for name in MULTILABEL_SETS:
            for (row, metric), cell in compare.multilabel(name, folder).items():
                self.sets.setdefault(name, {}).setdefault(row, {})[metric] = cell.ours
        self._keep("finetune", Record("finetune", folder).cells, depth=1)
        self.timing = Record("timing", folder).cells

    def _keep(self, name: str, cells: dict[str, Any], depth: int) -> None:
        groups: dict[str, list[Any]] = {}
        for key, cell in cells.items():
            groups.setdefault(key.rsplit("/", depth)[0], []).append(cell["values"])
        self.sets[name] = {
            row: {metric: float(np.mean([each[metric] for each in draws])) for metric in draws[0]}
            for row, draws in groups.items()
        }

    def pairs(
        self, names: Any, first: str, second: str, metrics: Any
    ) -> list[tuple[str, str, float]]:
        """Return by how many points `first` is better than `second`, for all sets and metrics."""
        found = []
        for name in names:
            rows = self.sets.get(name, {})
            if first in rows and second in rows:
                known = rows[first].keys() & rows[second].keys()
                for metric in (metric for metric in metrics if metric in known):
                    gain = (rows[first][metric] - rows[second][metric]) / point(metric)
                    found.append((name, metric, -gain if is_loss(metric) else gain))
        return found


def _counted(pairs: list[tuple[str, str, float]], least: float, what: str) -> Finding:
    """Return whether the gains are mostly positive: at least this share wins or ties."""
    if not pairs:
        return Finding(None)
    gains = np.array([gain for *_, gain in pairs])
    share = float((gains >= -TIE).mean())
    sets = ", ".join(dict.fromkeys(name for name, *_ in pairs))
    text = (
        f"{what} in {int((gains >= -TIE).sum())} of {gains.size} comparisons, "
        f"by {gains.mean():+.1f} points on average ({sets})"
    )
    return Finding(share >= least, text)


def _circle(numbers: Numbers) -> Finding:
    rows = numbers.sets["circle"]
    if MANY_STARTS not in rows:
        return Finding(None)
    truncated = rows[MANY_STARTS]["top2"]
    others = {row: v["top2"] for row, v in rows.items() if "truncated" not in row}
    name, best = max(others.items(), key=lambda item: item[1])
    text = f"{truncated:.1f} % against {min(others.values()):.1f} to {best:.1f} % ({name})"
    return Finding(truncated - best >= 2.0, text)


def _circle_from_softmax(numbers: Numbers) -> Finding:
    rows = numbers.sets["circle"]
    if "top2_truncated" not in rows:
        return Finding(None)
    draws = [
        cell["values"]["top2"]
        for key, cell in Record("circle", numbers.folder).cells.items()
        if key.startswith("top2_truncated/")
    ]
    poor = sum(value < 90.0 for value in draws)
    text = f"from softmax's solution {poor} of {len(draws)} draws end below 90 %"
    return Finding(poor <= 0.1 * len(draws), text)


def _circle_top1(numbers: Numbers) -> Finding:
    rows = numbers.sets["circle"]
    if "svm_smooth" not in rows:
        return Finding(None)
    hinges = [rows[row]["top1"] for row in ("svm", "svm_smooth")]
    others = [rows[row]["top1"] for row in ("ova_svm", "ova_logistic", "softmax")]
    text = (
        f"svm {hinges[0]:.1f}, smooth svm {hinges[1]:.1f}; ova svm {others[0]:.1f}, "
        f"ova logistic {others[1]:.1f}, softmax {others[2]:.1f} %"
    )
    return Finding(min(hinges) > max(others), text)


def _ova(numbers: Numbers) -> Finding:
    pairs = numbers.pairs(("letter", "aloi"), "softmax", "ova_logistic", LENGTHS_NAMES)
    pairs += numbers.pairs(("letter", "aloi"), "svm", "ova_svm", LENGTHS_NAMES)
    return _counted(pairs, 0.9, "multiclass losses are better")


LENGTHS_NAMES = tuple(f"top{k}" for k in LENGTHS)


def _softmax_against_svm(numbers: Numbers) -> Finding:
    pairs = numbers.pairs(MULTICLASS_SETS, "softmax", "svm", LENGTHS_NAMES[1:])
    return _counted(pairs, 0.9, "softmax is better than multiclass svm for k > 1")


def _targeted(numbers: Numbers) -> Finding:
    pairs = []
    for k in LENGTHS[1:]:
        for row in (f"top{k}_svm_smooth", f"top{k}_entropy"):
            pairs += numbers.pairs(MULTICLASS_SETS, row, "softmax", (f"top{k}",))
    return _counted(pairs, 0.75, "the loss for k is at least as good as softmax at k")


def _price(numbers: Numbers) -> Finding:
    pairs = []
    for row in ("top10_svm", "top10_svm_smooth", "top10_entropy"):
        pairs += numbers.pairs(MULTICLASS_SETS, "softmax", row, ("top1",))
    return _counted(pairs, 0.75, "losses for k = 10 cost top-1 accuracy")


def _truncated_elsewhere(numbers: Numbers) -> Finding:
    pairs = []
    for k in LENGTHS[1:]:
        pairs += numbers.pairs(
            MULTICLASS_SETS, f"top{k}_svm_smooth", f"top{k}_truncated", (f"top{k}",)
        )
    if not pairs:
        return Finding(None)
    largest = max(-gain for *_, gain in pairs)
    text = f"truncated entropy is at most {largest:.1f} points above smooth top-k svm at its k"
    return Finding(largest < 2.0, text)


def _smooth(numbers: Numbers) -> Finding:
    pairs = numbers.pairs(
        MULTILABEL_SETS, "multilabel_svm_smooth", "multilabel_svm", METRICS
    ) + numbers.pairs(MULTILABEL_SETS, "multilabel_svm_smooth/rbf", "multilabel_svm/rbf", METRICS)
    return _counted(pairs, 0.6, "smooth multilabel svm is at least as good as the nonsmooth one")


def _kernel(numbers: Numbers) -> Finding:
    row = "multilabel_svm_smooth"
    pairs = numbers.pairs(MULTILABEL_SETS, f"{row}/rbf", row, METRICS)
    return _counted(pairs, 0.6, "the RBF kernel is at least as good as a linear model")


def _lists_from_single(numbers: Numbers) -> Finding:
    metrics = ("map", "recall@3", "rank_loss")
    pairs = []
    for kept in KEPT:
        for many, one in (
            ("topk_entropy", "softmax"),
            ("topk_svm_beta", "svm"),
            ("topk_svm_beta_smooth", "svm_smooth"),
        ):
            names = [f"single_{name}" for name in SINGLE_SETS]
            pairs += numbers.pairs(names, f"{kept}/{many}", f"{kept}/{one}", metrics)
    return _counted(pairs, 0.6, "from single labels, top-k losses are at least as good as top-1")


def _all_labels(numbers: Numbers) -> Finding:
    metrics = ("map", "recall@3", "rank_loss", "f1_micro")
    pairs = []
    for kept in KEPT:
        names = [f"single_{name}" for name in SINGLE_SETS]
        row = f"{kept}/topk_svm_beta_smooth"
        pairs += numbers.pairs(names, "all/multilabel_svm_smooth", row, metrics)
    return _counted(pairs, 0.75, "all labels are better than single ones")


def _fixing(numbers: Numbers) -> Finding:
    factors = {
        key: cell["values"]["factor"]
        for key, cell in numbers.timing.items()
        if key.startswith("bipartite/")
    }
    if not factors:
        return Finding(None)
    text = f"{min(factors.values()):.1f} to {max(factors.values()):.1f} times faster than sorting"
    return Finding(min(factors.values()) > 1.0, text)


def _seconds(cell: Any, level: float, line: str = "history") -> float:
    """Return when a relative gap was reached; infinity where it was not."""
    history = cell[line]
    pairs = zip(history["seconds"], history["gap"], strict=True)
    return min((seconds for seconds, gap in pairs if gap <= level), default=float("inf"))


def _smooth_is_faster(numbers: Numbers) -> Finding:
    cells = [numbers.timing.get(f"convergence/{name}") for name in ("svm_smooth", "svm")]
    if None in cells:
        return Finding(None)
    smooth, nonsmooth = (_seconds(cell, 1e-3) for cell in cells)
    text = f"a gap of 1e-3 after {smooth:.0f} and {nonsmooth:.0f} seconds on a part of ALOI"
    return Finding(smooth < nonsmooth, text)


def _against_fista(numbers: Numbers) -> Finding:
    cell = numbers.timing.get("fista")
    if cell is None:
        return Finding(None)
    times = [(_seconds(cell, level, "sdca"), _seconds(cell, level)) for level in (1e-2, 1e-4)]
    text = "; ".join(
        f"a gap of {level} after {own:.1f} seconds, FISTA {other:.1f}"
        for level, (own, other) in zip(("1e-2", "1e-4"), times, strict=True)
    )
    return Finding(all(own <= other for own, other in times), text)


def _finetuned(numbers: Numbers) -> Finding:
    rows = numbers.sets["finetune"]
    if not rows:
        return Finding(None)
    gains = [
        rows[row]["top5"] - rows["softmax"]["top5"] for row in rows if row.endswith("/finetuned")
    ]
    text = f"top-5 accuracy grows by {min(gains):.1f} to {max(gains):.1f} points"
    return Finding(min(gains) > 0.0, text)


CONCLUSIONS: list[tuple[str, Callable[[Numbers], Finding]]] = [
    ("Truncated top-2 entropy has by far the best top-2 accuracy on the circle.", _circle),
    ("From softmax's solution alone it gets there.", _circle_from_softmax),
    ("Of the top-1 baselines, svm and smooth svm are best in top-1 accuracy on the circle.",
     _circle_top1),
    ("One-vs-all is worse than multiclass on ALOI and Letter.", _ova),
    ("Softmax is better than multiclass svm in top-k accuracy for k > 1.", _softmax_against_svm),
    ("Smooth top-k svm and top-k entropy improve on softmax at their k.", _targeted),
    ("They pay with top-1 accuracy.", _price),
    ("Truncated entropy's success on the circle does not transfer to real data.",
     _truncated_elsewhere),
    ("Smooth multilabel svm is better than the nonsmooth one.", _smooth),
    ("Multilabel methods gain from the RBF kernel.", _kernel),
    ("From single labels, top-k losses are better than multiclass losses.", _lists_from_single),
    ("Training on all labels is better than on single ones.", _all_labels),
    ("The bipartite projection by variable fixing is faster than by sorting.", _fixing),
    ("Smooth multiclass svm converges faster than the nonsmooth one.", _smooth_is_faster),
    ("SDCA for softmax is competitive with FISTA.", _against_fista),
    ("Fine-tuning with top-k losses or softmax improves the network.", _finetuned),
]  # fmt: skip


def judged(folder: Path | None = None) -> tuple[list[str], list[str], list[str]]:
    """Return the conclusions that hold, those that do not, and those without numbers."""
    numbers = Numbers(folder)
    holding, failing, unknown = [], [], []
    for claim, rule in CONCLUSIONS:
        found = rule(numbers)
        line = f"{claim} {found.evidence}." if found.evidence else claim
        chosen = unknown if found.holds is None else holding if found.holds else failing
        chosen.append(line)
    return holding, failing, unknown
