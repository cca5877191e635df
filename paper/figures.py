"""The paper's figures, drawn from `results/*.json` into `figures/*.svg`.

    python -m paper.figures    # draws those whose numbers are there

`render` puts them on the page.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from paper import circle
from paper.record import Record
from shortlist.report.palette import class_colour, line_style

FOLDER = Path(__file__).parent / "figures"
#: Text stays text, and the same numbers give the same file.
_STYLE = {
    "svg.fonttype": "none", "svg.hashsalt": "paper", "font.size": 9, "axes.spines.top": False,
    "axes.spines.right": False, "legend.frameon": False,
}  # fmt: skip
CAPTIONS = {
    "lambert": "Figure lambert: V(t) near exp(t) for t below 0 (left), and near t - log t above "
    "(right).",
    "time": "Figure time: (a) projections of one vector; (b, c) relative duality gap and top-1 "
    "accuracy against time on 3000 examples of ALOI; (d) softmax, this library against FISTA, on "
    "1000. The clock ran while others worked on the machine: the order counts, not the seconds. "
    "C is 1, 0.01 and 0.1 in (b, c), chosen by hand, and 0.01 in (d).",
    "toy": "Figure toy: 200 points of three classes inside the circle, and outside the first "
    "(inner ring) and second (outer ring) label that a model predicts in each direction. Left: "
    "smooth svm; right: truncated top-2 entropy, whose lists are better and whose order is not.",
}


def lambert(folder: Path | None = None) -> Any:
    """Draw V(t) and its two approximations."""
    cell = Record("timing", folder).cells.get("lambert")
    if cell is None or "curves" not in cell:
        return None
    figure, axes = _subplots(1, 2, (6.4, 2.6))
    for place, (side, other) in zip(axes, (("low", "exp(t)"), ("high", "t - log t")), strict=True):
        curve = cell["curves"][side]
        place.plot(curve["t"], curve["V"], label="V(t)", **line_style(0))
        place.plot(curve["t"], curve["near"], label=other, **line_style(7))
        place.set_xlabel("t")
        place.legend()
    return figure


def time(folder: Path | None = None) -> Any:
    """Draw projections, convergence, and the comparison with FISTA."""
    cells = Record("timing", folder).cells
    curves = {key.removeprefix("convergence/"): c for key, c in cells.items() if "history" in c}
    if "projections/1000" not in cells or "softmax" not in curves:
        return None
    figure, axes = _subplots(2, 2, (7.2, 5.4))
    _draw_projections(axes[0, 0], cells)
    for at, name in enumerate(("softmax", "svm", "svm_smooth")):
        if name in curves:
            history = curves[name]["history"]
            style = {"label": name.replace("_", ", "), "marker": ".", **line_style(at)}
            axes[0, 1].plot(history["seconds"], history["gap"], **style)
            axes[1, 0].plot(history["seconds"], history["top1"], **style)
    if "fista" in curves:
        both = (("sdca", "this library"), ("history", "FISTA (SPAMS)"))
        for at, (name, label) in enumerate(both):
            line = curves["fista"][name]
            style = {"label": label, "marker": ".", **line_style(at)}
            axes[1, 1].plot(line["seconds"], line["gap"], **style)
    for place in (axes[0, 1], axes[1, 1]):
        place.set_yscale("log")
        place.set_ylabel("relative gap")
    axes[1, 0].set_ylabel("top-1 accuracy, %")
    for place, title in zip(axes.flat, ("a", "b", "c", "d"), strict=True):
        place.set_title(title, loc="left", weight="bold")
        if title != "a":
            place.set_xscale("log")
            place.set_xlabel("seconds")
        if place.lines:
            place.legend(fontsize=8)
    return figure


def _draw_projections(place: Any, cells: dict[str, Any]) -> None:
    sizes = {int(key.split("/")[1]): c for key, c in cells.items() if "projections/" in key}
    for at, name in enumerate(("simplex", "top1", "top5", "top10")):
        own = [(n, c["values"][name]) for n, c in sorted(sizes.items()) if name in c["values"]]
        label = "simplex" if name == "simplex" else f"top-{name[3:]} simplex"
        place.plot(*zip(*own, strict=True), label=label, marker=".", **line_style(at))
    place.set_xscale("log")
    place.set_yscale("log")
    place.set_xlabel("elements")
    place.set_ylabel("CPU seconds")


def toy(folder: Path | None = None) -> Any:
    """Draw the circle: its points, and the lists that two models predict around it."""
    cells = Record("toy", folder).cells
    if not {"svm_smooth", circle.MANY_STARTS} <= set(cells):
        return None
    figure, axes = _subplots(1, 2, (7.2, 4.3))
    titles = {"svm_smooth": "smooth svm", circle.MANY_STARTS: "truncated top-2 entropy"}
    for place, (name, title) in zip(axes, titles.items(), strict=True):
        cell = cells[name]
        train, *_ = circle.draw(cell["seed"])
        _draw_points(place, train)
        _draw_lists(place, np.array(cell["weights"]))
        values = cell["values"]
        place.set_title(f"{title}\ntop-1 {values['top1']:.1f} %, top-2 {values['top2']:.1f} %")
        place.set_aspect("equal")
        place.set_axis_off()
    return figure


def _draw_points(place: Any, train: Any) -> None:
    """Draw the points inside the circle, a class a little nearer to the centre than the one before.

    Classes overlap, so they would hide each other on the circle itself.
    """
    turns = np.linspace(0.0, 2.0 * np.pi, 121)
    place.plot(np.cos(turns), np.sin(turns), color="black", lw=1.0)
    for at in range(3):
        x, y = ((0.92 - 0.1 * at) * train.X[train.y == at]).T
        place.plot(x, y, ".", ms=3.5, color=class_colour(at), label=f"class {at + 1}")
    place.legend(loc="center", fontsize=8)


def _draw_lists(place: Any, weights: np.ndarray) -> None:
    """Draw a ring for the first label of the list, and one further out for the second."""
    turns = np.linspace(0.0, 2.0 * np.pi, 361)
    lists = np.argsort(-np.column_stack([np.cos(turns), np.sin(turns)]) @ weights, axis=1)
    for position, radius in enumerate((1.1, 1.22)):
        for at in range(3):
            some = np.where(lists[:, position] == at, radius, np.nan)
            place.plot(some * np.cos(turns), some * np.sin(turns), lw=6, color=class_colour(at),
                       solid_capstyle="butt")  # fmt: skip


def _subplots(lines: int, columns: int, size: tuple[float, float]) -> tuple[Any, Any]:
    import matplotlib.pyplot as plt

    return plt.subplots(lines, columns, figsize=size, layout="constrained")


FIGURES: dict[str, Callable[..., Any]] = {"lambert": lambert, "time": time, "toy": toy}


def draw(results: Path | None = None, folder: Path = FOLDER) -> list[Path]:
    """Write the figures whose numbers are there, and return their files."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    folder.mkdir(parents=True, exist_ok=True)
    files = []
    for name, function in FIGURES.items():
        with plt.rc_context(_STYLE):
            figure = function(results)
            if figure is None:
                continue
            file = folder / f"{name}.svg"
            figure.savefig(file, metadata={"Date": None, "Creator": None})
            plt.close(figure)
            files.append(file)
    return files


def main() -> None:
    """Draw."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    for file in draw():
        print(file)


if __name__ == "__main__":
    main()
