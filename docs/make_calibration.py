"""Make the tables, pictures and the experiment of the page on calibration, in docs/recorded.

python docs/make_calibration.py                 # everything: half an hour
python docs/make_calibration.py tables simplex  # some of it
"""

from __future__ import annotations

import argparse
import csv
import itertools
import time
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import matplotlib.pyplot as plt
import numpy as np

from shortlist import bayes, losses, path, rows

HERE = Path(__file__).parent / "recorded"
PAPER, EXACT, PROOF = "proved in the paper", "exact", "proved below"

PROBLEMS = 60  # distributions in a search

#: Name, loss for shortlists of k, and where the answer comes from.
TABLE: list[tuple[str, Callable[[int], Any], str]] = [
    ("ova svm", lambda k: losses.ova_svm(), f"{PAPER}; {EXACT}"),
    ("smooth ova svm", lambda k: losses.ova_svm(1.0), f"{PAPER}; search"),
    ("ova logistic", lambda k: losses.ova_logistic(), f"{PAPER}; search"),
    ("svm", lambda k: losses.svm(), f"{PAPER}; {EXACT}"),
    ("smooth svm", lambda k: losses.svm(1.0), f"{PROOF}; search"),
    ("softmax", lambda k: losses.softmax(), f"{PAPER}; search"),
    ("top-k svm alpha", lambda k: losses.topk_svm_alpha(k), f"{PROOF}; {EXACT}"),
    ("top-k svm beta", lambda k: losses.topk_svm_beta(k), f"{PROOF} for k < m - 1; {EXACT}"),
    ("smooth top-k svm alpha", lambda k: losses.topk_svm_alpha(k, 1.0), f"{PROOF}; search"),
    ("smooth top-k svm beta", lambda k: losses.topk_svm_beta(k, 1.0), f"{PROOF}; search"),
    ("top-k entropy", lambda k: losses.topk_entropy(k), f"{PROOF}; search"),
    ("top-k entropy beta", lambda k: losses.topk_entropy_beta(k), f"{PROOF}; search"),
    ("truncated top-k entropy", lambda k: losses.truncated_topk_entropy(k), f"{PAPER}; search"),
    ("consistent top-k svm", lambda k: losses.topk_svm_consistent(k), f"{PROOF}; {EXACT}"),
    (
        "smooth consistent top-k svm",
        lambda k: losses.topk_svm_consistent(k, 1.0),
        f"{PROOF}; search",
    ),
]
OTHER_LENGTHS = [line for line in TABLE if "top-k" in line[0]]


def write(name: str, header: Iterable[str], lines: Iterable[Iterable[Any]]) -> None:
    """Write a table for the page to read."""
    with (HERE / f"{name}.csv").open("w", newline="") as file:
        csv.writer(file, lineterminator="\n").writerows([header, *lines])


def answer(verdict: bayes.Verdict) -> str:
    """Say yes or no; in brackets where it is what a search has found."""
    word = "yes" if verdict.calibrated else "no"
    return word if verdict.exact or not verdict.calibrated else f"({word})"


def tables() -> None:
    """Write the table of verdicts, its witnesses, and that of shorter and longer lists."""
    lines, witnesses, searched, price = [], [], 0, np.inf
    for name, make, source in TABLE:
        cells = []
        for m in range(3, 7):
            verdicts = [bayes.calibration(make(k), k, m, problems=PROBLEMS) for k in range(1, m)]
            cells.append(" ".join(map(answer, verdicts)))
            for verdict in verdicts:
                if verdict.witness is not None and m <= 4:
                    p, g, regret = verdict.witness
                    shown = ", ".join(map(str, p)), ", ".join(map(str, g))
                    witnesses.append([name, m, verdict.k, *shown, regret])
                if not verdict.exact and verdict.calibrated:
                    searched, price = searched + verdict.problems, min(price, verdict.price)
        lines.append([name, *cells, source])
        print(*lines[-1], sep="  ", flush=True)
    write("calibration_table", ["loss", *(f"m = {m}" for m in range(3, 7)), "source"], lines)
    write("calibration_witnesses", ["loss", "m", "k", "p", "minimiser g", "regret"], witnesses)
    print(f"searched {searched} problems; a wrong shortlist costs at least {price:.1e}")
    lines = [
        [name, *(answer(bayes.calibration(make(3), s, 5, problems=PROBLEMS)) for s in range(1, 5))]
        for name, make, _ in OTHER_LENGTHS
    ]
    write("calibration_lengths", ["loss, k = 3, m = 5", *(f"s = {s}" for s in range(1, 5))], lines)


CELLS = 48  # along a side of the simplex
PANELS = [
    (1, "ova svm", losses.ova_svm()),
    (1, "svm", losses.svm()),
    (1, "smooth svm", losses.svm(1.0)),
    (1, "softmax", losses.softmax()),
    (1, "consistent top-1 svm", losses.topk_svm_consistent(1)),
    (2, "svm", losses.svm()),
    (2, "top-2 svm alpha", losses.topk_svm_alpha(2)),
    (2, "top-2 svm beta", losses.topk_svm_beta(2)),
    (2, "smooth top-2 svm beta", losses.topk_svm_beta(2, 1.0)),
    (2, "consistent top-2 svm", losses.topk_svm_consistent(2)),
]
COLORS = np.array([[0.85, 0.37, 0.31], [0.27, 0.53, 0.79], [0.44, 0.68, 0.36], [0.62, 0.62, 0.62]])


def knows_shortlist(loss: Any, k: int, p: np.ndarray) -> bool:
    """Return whether every minimiser of the risk at `p` leads to the best shortlist."""
    excess = bayes.excess_risk(loss, k, p)
    return bool(excess.risk[excess.regret > 1e-9].min(initial=np.inf) > 1e-9)


def simplex() -> None:
    """Draw the distributions of three classes, coloured by the shortlist that a loss learns."""
    width, height = 288, 250
    x, y = np.meshgrid((np.arange(width) + 0.5) / width, (np.arange(height) + 0.5) / height)
    p = np.stack([1.0 - x - 0.5 * y, x - 0.5 * y, y], axis=-1)  # y upwards is the third class
    inside = (p > 0.0).all(axis=-1)
    corner = np.floor(p * CELLS)
    left = (CELLS - corner.sum(axis=-1, keepdims=True)) / 3.0  # a cell is one of two triangles
    centres = (corner + left) / CELLS
    figure, axes = plt.subplots(2, 5, figsize=(11, 4.7))
    for axis, (k, name, loss) in zip(axes.flat, PANELS, strict=True):
        picture, known = np.ones((height, width, 3)), {}
        for i, j in zip(*np.nonzero(inside), strict=True):
            centre = centres[i, j]
            key = tuple(np.round(np.sort(centre) * CELLS * 3).astype(int))
            if key not in known:
                off_ties = np.sort(centre) + np.array([-0.1, 0.0, 0.1]) / CELLS
                known[key] = knows_shortlist(loss, k, off_ties)
            shown = centre.argmax() if k == 1 else centre.argmin()
            picture[i, j] = COLORS[shown if known[key] else 3]
        axis.imshow(picture, origin="lower", extent=(0, 1, 0, 0.87))
        axis.set_title(f"{name}, k = {k}", fontsize=9)
        axis.axis("off")
        print(name, k, f"{np.mean(list(known.values())):.2f} known", flush=True)
    figure.suptitle(
        "Top: the best class. Bottom: the class that is left out of the best two. "
        "Grey: some minimisers are wrong.", fontsize=10,
    )  # fmt: skip
    figure.tight_layout()
    figure.savefig(HERE / "calibration_simplex.png", dpi=100)


CURVES = [
    ("svm", lambda k: losses.svm(), "C3", "-"),
    ("top-k svm alpha", lambda k: losses.topk_svm_alpha(k), "C1", "-"),
    ("top-k svm beta", lambda k: losses.topk_svm_beta(k), "C4", "-"),
    ("consistent top-k svm", lambda k: losses.topk_svm_consistent(k), "C2", "-"),
    ("smooth svm", lambda k: losses.svm(1.0), "C3", "--"),
    ("smooth top-k svm alpha", lambda k: losses.topk_svm_alpha(k, 1.0), "C1", "--"),
    ("smooth top-k svm beta", lambda k: losses.topk_svm_beta(k, 1.0), "C4", "--"),
    ("softmax", lambda k: losses.softmax(), "C0", "-"),
    ("top-k entropy", lambda k: losses.topk_entropy(k), "C0", "--"),
]


def excess() -> None:
    """Draw how surrogate regret bounds top-k regret, over a grid of distributions."""
    ticks = (0.05, 0.1, 0.2, 0.4)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    for axis, (m, k, cells) in zip(axes, ((3, 1, 32), (4, 2, 16)), strict=True):
        grid = [
            q for q in itertools.product(range(cells + 1), repeat=m)
            if sum(q) == cells and list(q) == sorted(q, reverse=True)
        ]  # fmt: skip
        levels = np.arange(1, cells // 2 + 1) / cells
        for name, make, color, style in CURVES:
            curve = bayes.excess_risk_curve(make(k), k, np.array(grid) / cells, levels - 1e-9)
            axis.loglog(levels, np.maximum(curve, 1e-6), style, color=color, label=name)
            print(m, k, name, *(f"{c:.2g}" for c in curve[[0, 1, 3, 7]]), flush=True)
        axis.set_title(f"{m} classes, shortlists of {k}", fontsize=10)
        axis.set_xlabel("top-k regret")
        axis.set_xticks(ticks, [str(tick) for tick in ticks])
        axis.set_xticks([], minor=True)
    axes[0].set_ylabel("least excess risk (at the bottom: 0)")
    axes[0].legend(fontsize=7, loc="center right", bbox_to_anchor=(1.0, 0.35))
    figure.tight_layout()
    figure.savefig(HERE / "calibration_excess.png", dpi=100)


K, CLASSES, SIZES = 2, 6, (50, 150, 400, 1200)
CS = 4.0 ** np.arange(-3, 2)
MODELS = [
    ("svm", losses.svm(), "C3", "-"),
    ("smooth svm", losses.svm(1.0), "C3", "--"),
    ("top-2 svm alpha", losses.topk_svm_alpha(K), "C1", "-"),
    ("smooth top-2 svm alpha", losses.topk_svm_alpha(K, 1.0), "C1", "--"),
    ("consistent top-2 svm", losses.topk_svm_consistent(K), "C2", "-"),
    ("smooth consistent top-2 svm", losses.topk_svm_consistent(K, 1.0), "C2", "--"),
    ("softmax", losses.softmax(), "C0", "-"),
    ("top-2 entropy", losses.topk_entropy(K), "C0", "--"),
]


class Mixture:
    """Classes that are mixtures of two Gaussians in the plane: their probabilities are known."""

    def __init__(self, seed: int):
        rng = np.random.default_rng(seed)
        self.centres = rng.normal(size=(CLASSES, 2, 2)) * 1.3
        self.shares = rng.dirichlet(np.full(CLASSES, 8.0))

    def sample(self, n: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
        """Return examples and their classes."""
        rng = np.random.default_rng(seed)
        y = rng.choice(CLASSES, size=n, p=self.shares)
        return self.centres[y, rng.integers(0, 2, n)] + rng.normal(size=(n, 2)), y

    def probabilities(self, X: np.ndarray) -> np.ndarray:
        """Return the probabilities of the classes at each example."""
        square = ((X[:, None, None] - self.centres) ** 2).sum(axis=-1)
        joint = np.exp(-0.5 * square).sum(axis=-1) * self.shares
        return joint / joint.sum(axis=1, keepdims=True)


def rbf(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Return the Gaussian kernel of the width of the mixture's components."""
    square = (A**2).sum(axis=1)[:, None] + (B**2).sum(axis=1) - 2.0 * A @ B.T
    return np.exp(-0.5 * np.maximum(square, 0.0))


def topk_error(scores: np.ndarray, p: np.ndarray) -> float:
    """Return the expected error of the shortlists, by the true probabilities."""
    chosen = np.argsort(-scores, axis=1)[:, :K]
    return 1.0 - float(np.take_along_axis(p, chosen, axis=1).sum(axis=1).mean())


def experiment() -> None:
    """Train on samples of growing size; choose C on as many other examples."""
    seeds = range(3)
    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True)
    lines = []
    for axis, kind in zip(axes, ("kernel", "linear"), strict=True):
        for name, loss, color, style in MODELS:
            start = time.perf_counter()
            regrets = np.array([[_regret(kind, loss, n, s) for n in SIZES] for s in seeds])
            means = 100 * regrets.mean(axis=0)
            axis.loglog(SIZES, means, style, color=color, marker=".", label=name)
            lines.append([kind, name, *(f"{x:.2f}" for x in means)])
            print(*lines[-1], f"{time.perf_counter() - start:.0f} s", flush=True)
        axis.set_title(f"{'RBF kernel' if kind == 'kernel' else 'linear model'}", fontsize=10)
        axis.set_xlabel("examples")
    axes[0].set_ylabel("top-2 error above the Bayes error, percent")
    axes[1].legend(fontsize=7)
    figure.tight_layout()
    figure.savefig(HERE / "calibration_experiment.png", dpi=100)
    write("calibration_experiment", ["model", "loss", *(f"n = {n}" for n in SIZES)], lines)


def _regret(kind: str, loss: Any, n: int, seed: int) -> float:
    mixture = Mixture(seed)
    (X, y), (held, held_y) = mixture.sample(n, 100 + seed), mixture.sample(n, 200 + seed)
    test, _ = mixture.sample(10_000, 300 + seed)
    p = mixture.probabilities(test)
    if kind == "kernel":
        storage, features = rows.kernel(X, rbf), lambda A: rbf(A, X) + 1.0
    else:
        storage, features = X, lambda A: np.column_stack([A, np.ones(len(A))])
    options = {"n_classes": CLASSES, "intercept": 1.0, "tol": 1e-3, "n_threads": 1}
    models = path(storage, y, loss, Cs=CS, **options)
    one_hot = np.eye(CLASSES)[held_y]
    errors = [topk_error(features(held) @ model.weights, one_hot) for model in models]
    scores = features(test) @ models[int(np.argmin(errors))].weights
    return topk_error(scores, p) - float(bayes.bayes_topk_error(p, K).mean())


PARTS = {"tables": tables, "simplex": simplex, "excess": excess, "experiment": experiment}


def main() -> None:
    """Make what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(PARTS)}; all by default")
    parts = parser.parse_args().parts or list(PARTS)
    if not set(parts) <= set(PARTS):
        parser.error(f"the parts are {', '.join(PARTS)}.")
    for part in parts:
        start = time.perf_counter()
        PARTS[part]()
        print(f"{part}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main()
