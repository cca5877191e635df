"""Figures that the code draws while the pages are built, into ``docs/drawn``.

One function a figure, with the name of its file. Nothing here is slow: what takes minutes
is recorded, and kept in ``docs/recorded``.
"""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from shortlist import losses, prox, solve

DOCS = Path(__file__).parent.parent
FOLDER = DOCS / "drawn"
#: What a pass costs with each loss: ``python benchmarks/bench_epoch.py --record``.
EPOCH = DOCS / "recorded" / "epoch.json"
#: Scores of the other classes, where the label's own is moved.
OTHERS = (2.0, 1.0, 0.0, -1.0)
FIGURES: dict[str, Callable[[], plt.Figure]] = {}


def figure(function: Callable[[], plt.Figure]) -> Callable[[], plt.Figure]:
    """Make a function known as that which draws the file of its name."""
    FIGURES[function.__name__] = function
    return function


def _scores(n_labels: int = 1) -> tuple[np.ndarray, np.ndarray, list[list[int]]]:
    """Return the label's own score, moved, all scores, and the labels."""
    own = np.linspace(-3.0, 5.0, 321)
    known = [np.full(own.size, 1.5)] * (n_labels - 1)
    scores = np.column_stack([own, *known, *(np.full(own.size, other) for other in OTHERS)])
    return own, scores, [list(range(n_labels))] * own.size


def _variants(name: str) -> dict[str, Any]:
    """Return a loss with some values of its parameters, by what differs."""
    entry = losses.entry(name)
    if "k" in entry.parameters:
        fixed = {"smoothing": 1.0} if "smoothing" in entry.parameters else {}
        return {f"k = {k}": entry.make(k=k, **fixed) for k in (1, 2, 3)}
    if "smoothing" in entry.parameters:
        return {f"smoothing = {g:g}": entry.make(smoothing=g) for g in (0.0, 0.5, 1.0, 2.0)}
    if "normalize" in entry.parameters:
        return {f"normalize = {on}": entry.make(normalize=on) for on in (True, False)}
    return {name: entry.make()}


def _draw_loss(name: str) -> plt.Figure:
    """Draw value and derivative as the score of a label moves."""
    drawn, (left, right) = plt.subplots(1, 2, figsize=(8.0, 3.0), layout="constrained")
    own, scores, labels = _scores(2 if name.startswith("multilabel") else 1)
    for what, loss in _variants(name).items():
        left.plot(own, losses.value(loss, scores, labels), label=what)
        right.plot(own, losses.gradient(loss, scores, labels)[:, 0], label=what)
    for axis, title in ((left, "value"), (right, "derivative by the score of the label")):
        for other in OTHERS:
            axis.axvline(other, color="gray", lw=0.6, ls=":")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("score of a label; dotted: the other classes", fontsize=9)
    left.legend(fontsize=8)
    return drawn


def _register_losses() -> None:
    for name in losses.names():
        FIGURES[f"loss_{name}"] = lambda name=name: _draw_loss(name)  # type: ignore[misc]


_register_losses()


@figure
def choose() -> plt.Figure:
    """Draw what losses of one label ask for, and what a pass costs."""
    drawn, (left, right) = plt.subplots(
        1, 2, figsize=(9.5, 3.9), layout="constrained", width_ratios=[1.2, 1.0]
    )
    own, scores, labels = _scores()
    shown = {
        "softmax": losses.softmax(),
        "svm": losses.svm(),
        "top-2 svm alpha, smoothing 1": losses.topk_svm_alpha(2, 1.0),
        "top-2 svm consistent": losses.topk_svm_consistent(2),
        "top-2 entropy": losses.topk_entropy(2),
        "truncated top-2 entropy": losses.truncated_topk_entropy(2),
    }
    for what, loss in shown.items():
        left.plot(own, losses.value(loss, scores, labels), label=what)
    for place, other in enumerate(OTHERS[:3], start=1):
        left.axvline(other, color="gray", lw=0.6, ls=":")
        left.text(other + 0.05, 5.6, f"place {place}", fontsize=7, color="gray")
    left.set(xlabel="score of the label", ylabel="loss", ylim=(0, 6), xlim=(-2, 4.5))
    left.legend(fontsize=8)
    if not EPOCH.exists():
        right.text(0.5, 0.5, "cost of a pass: not measured yet", ha="center", fontsize=9)
        right.axis("off")
        return drawn
    recorded = json.loads(EPOCH.read_text())
    names = [row[0] for row in recorded["rows"]]
    for offset, column in ((-0.2, 1), (0.2, 2)):
        values = [float(row[column]) for row in recorded["rows"]]
        right.barh(np.arange(len(names)) + offset, values, 0.4, label=recorded["columns"][column])
    right.set_yticks(np.arange(len(names)), names, fontsize=8)
    right.invert_yaxis()
    right.set_xlabel("cost of a pass, softmax = 1", fontsize=9)
    right.legend(fontsize=8)
    return drawn


@figure
def step() -> plt.Figure:
    """Draw the step of two losses as one score moves, for several curvatures."""
    drawn, axes = plt.subplots(1, 2, figsize=(8.5, 3.2), sharey=True, layout="constrained")
    moved = np.linspace(-3.0, 4.0, 281)
    q = np.column_stack([np.zeros(moved.size), moved, np.full(moved.size, -0.5)])
    for axis, (title, loss) in zip(
        axes, {"svm": losses.svm(), "softmax": losses.softmax()}.items(), strict=True
    ):
        for a in (0.0, 0.5, 2.0, 8.0):
            v = losses.step(loss, q, np.zeros(moved.size, int), a)
            axis.plot(moved, v[:, 1], label=f"a = {a:g}")
        axis.set_title(title, fontsize=10)
        axis.set_xlabel("score of a class that is not the label")
    axes[0].set_ylabel("its dual variable after the step")
    axes[0].legend(fontsize=8)
    return drawn


@figure
def clip() -> plt.Figure:
    """Draw how a threshold and two bounds make a projection."""
    drawn, axis = plt.subplots(figsize=(7.0, 3.0), layout="constrained")
    v = np.sort(np.random.default_rng(4).normal(size=14) * 0.6 + 0.3)[::-1]
    x = prox.topk_simplex(v, k=3)
    inside = (x > 0) & (x < x.max())
    t = float((v - x)[inside].mean())
    axis.bar(np.arange(v.size), v, 0.85, color="#c9d6df", label="the vector v")
    axis.bar(np.arange(v.size), x, 0.45, color="#3a7ca5", label="its projection x")
    axis.axhline(t, color="#d1495b", lw=1.2, label=f"threshold t = {t:.2f}")
    axis.axhline(x.max(), color="#6a994e", lw=1.2, ls="--", label="upper bound hi = 1/3")
    axis.set_xticks([])
    axis.legend(fontsize=8)
    return drawn


@figure
def blocks() -> plt.Figure:
    """Draw how far the iterates of blocks are from those of one example at a time."""
    drawn, axis = plt.subplots(figsize=(7.0, 3.0), layout="constrained")
    X, y = load_digits(return_X_y=True)
    X, y = X[:400] / 16, y[:400]
    X = np.hstack([X, X**2])  # wide enough for matrix products

    def after(passes: int, size: int) -> np.ndarray:
        loss, options = losses.topk_svm_alpha(3, 1.0), {"solver": "sdca", "n_threads": 1}
        run = solve(X, y, loss, C=0.1, tol=1e-14, max_epochs=passes, block_size=size, **options)
        return run.weights

    passes = (1, 2, 4, 8, 16)
    one = {n: after(n, 1) for n in passes}
    for size in (4, 16, 64, 256):
        apart = [np.abs(after(n, size) - one[n]).max() / np.abs(one[n]).max() for n in passes]
        axis.semilogy(passes, np.maximum(apart, 1e-17), "o-", ms=4, label=f"B = {size}")
    axis.axhline(np.finfo(float).eps, color="gray", ls="--", lw=0.8)
    axis.text(
        passes[-1], 1.3 * np.finfo(float).eps, "rounding of one number", ha="right", fontsize=8
    )
    axis.set(xlabel="passes over the data", ylim=(1e-17, 1e-9))
    axis.set_ylabel("largest difference of weights,\nrelative", fontsize=9)
    axis.legend(fontsize=8, ncols=4)
    return drawn


@figure
def waist() -> plt.Figure:
    """Draw the waist between storages and losses."""
    drawn, axis = plt.subplots(figsize=(8.5, 3.1), layout="constrained")
    axis.set(xlim=(0, 10), ylim=(0, 5))
    axis.axis("off")

    def box(x: float, y: float, text: str, color: str) -> None:
        style = {"boxstyle": "round,pad=0.45", "fc": color, "ec": "#555555", "lw": 0.8}
        axis.text(x, y, text, ha="center", va="center", fontsize=9, bbox=style)

    for y, text in zip(
        (4.4, 3.3, 2.2, 1.1), ("dense", "memory map", "sparse", "kernel"), strict=True
    ):
        box(0.9, y, text, "#dbe7f0")
        axis.annotate("", (3.2, 2.75), (1.7, y), arrowprops={"arrowstyle": "-", "color": "#999999"})
    for y, text in zip(
        (4.4, 3.3, 2.2, 1.1), ("hinges", "entropies", "label sets", "your own"), strict=True
    ):
        box(9.1, y, text, "#e5f0db")
        axis.annotate("", (6.8, 2.75), (8.3, y), arrowprops={"arrowstyle": "-", "color": "#999999"})
    box(5.0, 2.75, "a block of B examples\nscores S (B, m)   inner products G (B, B)\n"
        "labels, duals v (B, m)\nchanges delta (B, m)", "#f6efd9")  # fmt: skip
    axis.text(0.9, 0.2, "storages: know X, no loss", ha="center", fontsize=9, style="italic")
    axis.text(9.1, 0.2, "losses: know step, no X", ha="center", fontsize=9, style="italic")
    axis.text(5.0, 0.2, "the waist", ha="center", fontsize=9, style="italic")
    return drawn


def draw_all(app: Any) -> None:
    """Draw every figure that is not there, or older than this file and what was recorded."""
    FOLDER.mkdir(exist_ok=True)
    sources = [source for source in (Path(__file__), EPOCH) if source.exists()]
    newest = max(source.stat().st_mtime for source in sources)
    for name, function in FIGURES.items():
        file = FOLDER / f"{name}.svg"
        if file.exists() and file.stat().st_mtime > newest:
            continue
        with plt.rc_context({"svg.hashsalt": name, "svg.fonttype": "path"}):
            drawn = function()
            drawn.savefig(file, metadata={"Date": None})
        plt.close(drawn)


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.connect("builder-inited", draw_all)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
