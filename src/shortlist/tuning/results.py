"""What a search has found: the values of every metric, for every setting on every fold."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.stats import rankdata

from shortlist.metrics import metric
from shortlist.metrics.by_threshold import as_count_metric
from shortlist.metrics.counts import at_thresholds
from shortlist.metrics.inputs import Ranking, as_ranking
from shortlist.model_selection.thresholds import Candidates, best_for
from shortlist.tuning.paths import Outcome, Study

#: Means that differ by less are equal: they are sums of rounded numbers.
_ROUNDING = 1e-12


class Line(NamedTuple):
    """One setting."""

    params: dict[str, Any]
    values: NDArray[np.float64]  # (metrics, folds)
    thresholds: NDArray[np.float64]  # (metrics,), NaN for metrics of scores
    epochs: NDArray[np.int64]  # (folds,)
    seconds: NDArray[np.float64]
    gaps: NDArray[np.float64]


def judge(
    study: Study,
    params: dict[str, Any],
    Cs: Sequence[float],
    outcomes: Sequence[Outcome],
    candidates: Candidates,
) -> list[Line]:
    """Return the lines of the paths of all folds, thresholds tuned on their scores together."""
    of_sets = np.array([metric(name).needs == "sets" for name in study.metrics])
    names = [name for name in study.metrics if metric(name).needs == "sets"]
    folds = [study.unseen(fold) for fold in range(len(study.folds))]
    labels = study.target.labels.take(np.concatenate([test for _, test in study.folds]))
    weights = np.concatenate([weights for _, weights in folds])
    lines = []
    for at, C in enumerate(Cs):
        values = np.column_stack([outcome.values[at] for outcome in outcomes])
        thresholds = np.full(len(study.metrics), np.nan)
        if names:
            scores = [outcome.scores[at] for outcome in outcomes]
            together = as_ranking(labels, np.concatenate(scores), weights)
            best = best_for(names, together, candidates)
            thresholds[of_sets] = best
            values[of_sets] = np.column_stack(
                [
                    _at_own(names, Ranking(some, *known), best)
                    for some, known in zip(scores, folds, strict=True)
                ]
            )
        epochs, seconds, gaps = (
            np.array([getattr(outcome, name)[at] for outcome in outcomes])
            for name in ("epochs", "seconds", "gaps")
        )
        lines.append(Line({"C": C, **params}, values, thresholds, epochs, seconds, gaps))
    return lines


def _at_own(
    names: Sequence[str], problem: Ranking, thresholds: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return metrics of label sets, each at its own threshold."""
    ascending, place = np.unique(thresholds, return_inverse=True)
    counts = [as_count_metric(name) for name in names]
    return at_thresholds(counts, problem, ascending)[np.arange(len(names)), place]


class Table(NamedTuple):
    """All settings, in ascending order of C."""

    lines: list[Line]
    metrics: tuple[str, ...]

    @classmethod
    def of(cls, lines: Sequence[Line], metrics: tuple[str, ...]) -> Table:
        """Return the table of these lines; those of one C stay in their order."""
        return cls(sorted(lines, key=lambda line: line.params["C"]), metrics)

    def means(self, name: str) -> NDArray[np.float64]:
        """Return the mean of a metric over the folds, for all settings."""
        j = self.metrics.index(name)
        return np.array([line.values[j].mean() for line in self.lines])

    def merits(self, name: str) -> NDArray[np.float64]:
        """Return the same so that more is better; minus infinity where it is not defined."""
        merits = metric(name).sign * self.means(name)
        return np.where(np.isnan(merits), -np.inf, merits)

    def best(self, name: str) -> int:
        """Return the best setting for a metric; of equal ones the first, whose C is least."""
        merits = self.merits(name)
        return int(np.flatnonzero(merits >= merits.max() - _ROUNDING)[0])

    def ends(self) -> tuple[bool, bool]:
        """Return whether the least and the largest C may be surpassed by values beyond them.

        So it is where a metric is best there, and better than at the next C.
        """
        Cs = sorted({line.params["C"] for line in self.lines})
        if len(Cs) < 2:
            return False, False
        found = []
        for end, inner in ((Cs[0], Cs[1]), (Cs[-1], Cs[-2])):
            found.append(any(self._is_at(name, end, inner) for name in self.metrics))
        return found[0], found[1]

    def _is_at(self, name: str, end: float, inner: float) -> bool:
        merits, best = self.merits(name), self.best(name)
        params = self.lines[best].params
        if params["C"] != end:
            return False
        at = [line.params for line in self.lines].index({**params, "C": inner})
        return bool(merits[best] > merits[at] + _ROUNDING)

    def as_dict(self) -> dict[str, Any]:
        """Return the table as scikit-learn's searches do."""
        params = [line.params for line in self.lines]
        seconds = np.array([line.seconds for line in self.lines])
        results: dict[str, Any] = {
            "mean_fit_time": seconds.mean(axis=1),
            "std_fit_time": seconds.std(axis=1),
            "mean_epochs": np.array([line.epochs.mean() for line in self.lines]),
            "max_gap": np.array([line.gaps.max() for line in self.lines]),
            "params": params,
        }
        for name in params[0]:
            results[f"param_{name}"] = np.ma.array([each[name] for each in params])
        for j, name in enumerate(self.metrics):
            values = np.array([line.values[j] for line in self.lines])
            for fold, column in enumerate(values.T):
                results[f"split{fold}_test_{name}"] = column
            results[f"mean_test_{name}"] = self.means(name)
            results[f"std_test_{name}"] = values.std(axis=1)
            merits = np.round(self.merits(name), 12)
            results[f"rank_test_{name}"] = rankdata(-merits, method="min").astype(np.int32)
            if metric(name).needs == "sets":
                results[f"threshold_{name}"] = np.array([line.thresholds[j] for line in self.lines])
        return results
