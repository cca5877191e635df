"""Tables "ml-small-cv": multilabel softmax, svm and smooth svm, linear and RBF, seven metrics.

C, the kernel's gamma and the threshold are chosen for each metric by 10-fold cross-validation.
The paper's grids are the powers of 2 from -20 to 5 for C and from -15 to 3 for gamma. Ours take
each `step`-th of them, counted from the largest; features are as published, unscaled.
"""

from __future__ import annotations

import argparse
import shutil
import warnings
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from paper.methods import MULTILABEL, Method
from paper.protocol import TOL, draws, summary
from paper.record import Record
from shortlist import MultilabelClassifier, MultilabelClassifierCV, datasets
from shortlist.metrics import metric
from shortlist.model_selection import IterativeStratifiedKFold

METRICS = (
    "rank_loss", "hamming_loss", "accuracy", "subset_accuracy", "f1_micro", "f1_macro",
    "f1_instance",
)  # fmt: skip
FOLDS = 10
#: Paths of a search that was ended before its cell was done.
UNFINISHED = Path("build") / "paper"


class Grid(NamedTuple):
    """Which part of the paper's grid is tried: each `step`-th power of 2."""

    kernel: str
    step: int

    @property
    def Cs(self) -> tuple[float, ...]:  # noqa: N802
        """The values of C."""
        return powers(-20, 5, self.step)

    @property
    def gammas(self) -> tuple[float, ...] | None:
        """The values of gamma, where the kernel has one."""
        return powers(-15, 3, self.step) if self.kernel == "rbf" else None

    @property
    def key(self) -> str:
        """The name in our files."""
        return f"{self.kernel}/{self.step}"


def powers(low: int, high: int, step: int) -> tuple[float, ...]:
    """Return each `step`-th power of 2, counted from the largest, ascending."""
    return tuple(2.0**power for power in sorted(range(high, low - 1, -step)))


LINEAR, RBF = Grid("linear", 3), Grid("rbf", 3)
#: What is run for each set; the first of a kernel is the one in the table.
SETS = {
    "emotions": (LINEAR, RBF),
    "scene": (LINEAR, RBF),
    "yeast": (LINEAR, RBF, Grid("linear", 1)),
    "medical": (LINEAR, RBF),
    "enron": (LINEAR, RBF),
    "corel5k": (LINEAR, RBF),
    "bibtex": (LINEAR, RBF),
    "mediamill": (LINEAR, RBF),
    "delicious": (LINEAR, RBF),
    "bookmarks": (LINEAR, RBF),
}
#: Sets whose files are not here.
ABSENT = ("bookmarks",)
HERE = tuple(name for name in SETS if name not in ABSENT)


def cell(
    train: datasets.Dataset,
    test: datasets.Dataset,
    method: Method,
    grid: Grid,
    *,
    seed: int = 0,
    folds: int = FOLDS,
    unfinished: Path | None = None,
) -> dict[str, Any]:
    """Return what a method reaches on a data set."""
    estimator = MultilabelClassifier(
        method.loss, kernel=grid.kernel, fit_intercept=False, tol=TOL, n_jobs=1, random_state=0
    )
    search = MultilabelClassifierCV(
        estimator,
        Cs=grid.Cs,
        gammas=grid.gammas,
        metrics=METRICS,
        cv=IterativeStratifiedKFold(folds, shuffle=True, random_state=seed),
        extend=False,
        refit=False,
        checkpoint=unfinished,
    )
    with warnings.catch_warnings():
        # Which fits missed the tolerance is part of the cell.
        warnings.simplefilter("ignore", ConvergenceWarning)
        search.fit(train.X, train.y)
        found = _tested(search, estimator, train, test)
    if unfinished is not None:
        shutil.rmtree(unfinished)
    return found


def _tested(
    search: Any, estimator: Any, train: datasets.Dataset, test: datasets.Dataset
) -> dict[str, Any]:
    """Train what may be chosen on all examples, and test it."""
    results = search.cv_results_
    merits = {
        name: metric(name).sign * _by_fold(results, name, search.n_splits_) for name in METRICS
    }
    drawn = {name: draws(merits[name]) for name in METRICS}
    wanted = sorted({*search.best_index_.values(), *np.concatenate(list(drawn.values())).tolist()})
    values, gaps = _on_test(results, wanted, estimator, train, test)
    best = search.best_index_
    return {
        "values": {name: values[name][best[name]] for name in METRICS},
        "chosen": search.best_params_,
        "gaps": {name: gaps[best[name]] for name in METRICS},
        "choice_noise": {
            name: float(np.std([values[name][at] for at in drawn[name]])) for name in METRICS
        },
        "search": {
            "Cs": sorted({params["C"] for params in results["params"]}),
            "gammas": sorted({params.get("gamma", 0.0) for params in results["params"]}),
            "folds": search.n_splits_,
            **summary([*results["max_gap"].tolist(), *gaps.values()]),
        },
    }


def _by_fold(results: dict[str, Any], name: str, folds: int) -> np.ndarray:
    return np.column_stack([results[f"split{fold}_test_{name}"] for fold in range(folds)])


def _on_test(
    results: dict[str, Any],
    wanted: Sequence[int],
    estimator: Any,
    train: datasets.Dataset,
    test: datasets.Dataset,
) -> tuple[dict[str, dict[int, float]], dict[int, float]]:
    """Return the test values of some settings by metric, in the paper's units, and their gaps."""
    values: dict[str, dict[int, float]] = {name: {} for name in METRICS}
    gaps = {}
    before = None
    order = sorted(wanted, key=lambda at: (results["params"][at].get("gamma", 0.0), at))
    for at in order:  # along C for each gamma, each model from the one before
        params = results["params"][at]
        estimator = estimator.set_params(**params, warm_start=params.get("gamma") == before)
        before = params.get("gamma")
        estimator.fit(train.X, train.y)
        gaps[at] = float(estimator.certificate_.gap)
        scores = estimator.decision_function(test.X)
        for name in METRICS:
            known = metric(name)
            given = scores
            if known.needs == "sets":
                given = scores >= results[f"threshold_{name}"][at]
            values[name][at] = in_units(name, known.function(test.y, given))
    return values, gaps


def in_units(name: str, value: float) -> float:
    """Return a metric as the paper prints it: losses as they are, the others in percent."""
    return float(value) * (1.0 if name.endswith("loss") else 100.0)


def main() -> None:
    """Compute the cells that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=[*HERE], help=", ".join(SETS))
    parser.add_argument("--kernel", choices=("linear", "rbf"), help="only this one")
    parser.add_argument("--seeds", type=int, default=1, help="how many draws of the folds")
    arguments = parser.parse_args()
    for name in arguments.sets:
        grids = [grid for grid in SETS[name] if arguments.kernel in (None, grid.kernel)]
        run(name, grids, arguments.seeds)


def run(name: str, grids: Sequence[Grid], seeds: int, folder: Path | None = None) -> Record:
    """Compute the cells of a set that are missing."""
    record = Record(name, folder)

    @cache
    def parts() -> list[datasets.Dataset]:
        return [datasets.load(name, part) for part in ("train", "test")]

    for seed in range(seeds):
        for grid in grids:
            for method in MULTILABEL:
                key = f"{method.key}/{grid.key}/{seed}"
                unfinished = UNFINISHED / f"{name}-{key.replace('/', '-')}"
                record.cell(
                    key,
                    lambda m=method, g=grid, s=seed, u=unfinished: cell(
                        *parts(), m, g, seed=s, unfinished=u
                    ),
                )
    return record


if __name__ == "__main__":
    main()
