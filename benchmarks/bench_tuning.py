"""What it costs to tune C for all metrics, against single fits and against GridSearchCV.

    python benchmarks/bench_tuning.py [--quick]

20 values of C in the default range (up to 2^15) and, for yeast, also in the paper's (up to 2^5), 5
folds. The search is measured against one cold fit a fold at the largest C, and against
scikit-learn's GridSearchCV of the same estimator, which fits all models from zero and evaluates the
same metrics (label sets at the threshold 0; the search tunes 71 thresholds). None trains a last
model on all examples. Times are those of one thread.
"""

from __future__ import annotations

import argparse
import time
import warnings
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV, StratifiedKFold

from problems import real
from shortlist import (
    MultilabelClassifier,
    MultilabelClassifierCV,
    TopKClassifier,
    TopKClassifierCV,
    metrics,
)
from shortlist.model_selection import IterativeStratifiedKFold
from timing import best_seconds, verdict

TOPK = ("top1", "top2", "top3", "top5", "rank_loss", "map")
SETS = ("rank_loss", "hamming_loss", "accuracy", "subset_accuracy", "f1_micro", "f1_macro",
        "f1_instance")  # fmt: skip


class Case(NamedTuple):
    """A data set, the power of 2 up to which C is tuned, of what, by what, for which metrics."""

    data: str
    largest: int
    estimator: Any
    search: Any
    names: tuple[str, ...]
    splitter: Any


CASES = [
    Case("digits", 15, TopKClassifier(), TopKClassifierCV, TOPK, StratifiedKFold(5)),
    *(
        Case("yeast", largest, MultilabelClassifier(loss), MultilabelClassifierCV, SETS,
             IterativeStratifiedKFold(5))
        for largest in (15, 5)
        for loss in ("multilabel_svm", "ova_logistic")
    ),
]  # fmt: skip


def measure(case: Case, repeat: int) -> None:
    Cs = 2.0 ** np.linspace(-20, case.largest, 20)
    X, y, _ = real(case.data, np.float64)
    y = y if y.ndim == 1 else y.toarray().astype(int)
    folds = list(case.splitter.split(X, y))
    estimator = clone(case.estimator).set_params(n_jobs=1, random_state=0, C=float(Cs[-1]))
    search = case.search(estimator, Cs=Cs, metrics=case.names, cv=folds, extend=False, refit=False)
    grid = GridSearchCV(
        estimator, {"C": Cs}, cv=folds, scoring=metrics.scorer(*case.names), refit=False
    )
    epochs: list[int] = []

    def cold() -> None:
        epochs[:] = [clone(estimator).fit(X[train], y[train]).n_iter_ for train, _ in folds]

    ours, single = best_seconds(
        lambda: search.fit(X, y), cold, repeat=repeat, clock=time.process_time
    )
    started = time.process_time()  # everything is compiled
    grid.fit(X, y)
    theirs = time.process_time() - started
    training = search.cv_results_["mean_fit_time"].sum() * len(folds)
    passes = search.cv_results_["mean_epochs"].sum() * len(folds)
    chosen = [
        name
        for name in case.names
        if metrics.metric(name).needs == "scores"
        and grid.cv_results_["params"][int(np.argmax(grid.cv_results_[f"mean_test_{name}"]))]
        != search.best_params_[name]
    ]
    print(
        f"{case.data}, {estimator.loss}: {len(Cs)} C up to 2^{case.largest}, {len(folds)} folds, "
        f"{len(case.names)} metrics"
    )
    print(
        f"  search {ours:.2f} s (training {training:.2f} s), one cold fit a fold {single:.2f} s, "
    )
    print(f"  GridSearchCV {theirs:.2f} s")
    print(
        f"  by the cold fits, time      {ours / single:6.2f}   {verdict(ours / single, 2.5, False)}"
    )
    print(f"  the same, training only     {training / single:6.2f}", end="   ")
    print(verdict(training / single, 2.5, at_least=False))
    print(f"  the same, passes            {passes / sum(epochs):6.2f}")
    print(f"  GridSearchCV, times         {theirs / ours:6.2f} x {verdict(theirs / ours, 5)}")
    print(f"  metrics with another best C {', '.join(chosen) or 'none'}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="one run of each, not three")
    quick = parser.parse_args().quick
    warnings.simplefilter("ignore")  # the last models may not converge, in either way
    for case in CASES:
        measure(case, repeat=1 if quick else 3)


if __name__ == "__main__":
    main()
