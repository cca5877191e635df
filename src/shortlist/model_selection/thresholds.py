r"""From scores to label sets: rules that choose a threshold.

A rule is an immutable value. ``rule.fit(scores, y)`` looks at the scores of examples whose
labels are known, and which the model was not trained on, and returns a `Cut`;
``cut.label_sets(scores)`` gives the labels of any examples.

=============  ======================================================================
rule           label set of an example
=============  ======================================================================
`Constant`     scores that reach a given threshold, one for all labels or one for each
`Tuned`        the same, with thresholds that are best for a metric
`Cardinality`  the same, with as many labels on average as the known examples have
`TopK`         the k highest scores
=============  ======================================================================

With `at_least_one`, an example that would have no label has the one with the highest score;
thresholds are chosen for the sets that come of it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, Protocol, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist import metrics
from shortlist._arrays import FloatArray, as_integer, as_k, as_weights
from shortlist.losses.labels import Labels, as_labels
from shortlist.metrics.by_threshold import as_count_metric
from shortlist.metrics.counts import CountMetric, at_thresholds
from shortlist.metrics.inputs import Ranking, as_ranking, as_scores

__all__ = [
    "Cardinality",
    "Constant",
    "Cut",
    "MatchingCut",
    "Rule",
    "ThresholdCut",
    "TopK",
    "Tuned",
    "make",
]

#: The 71 thresholds of the paper: powers of ten from 10^-5.9 to 10^0.9, their negatives, and 0.
GRID = (
    *(-(10.0 ** (tenth / 10)) for tenth in range(9, -60, -2)),
    0.0,
    *(10.0 ** (tenth / 10) for tenth in range(-59, 10, 2)),
)
#: Where thresholds are looked for: at all scores, in the paper's grid, or among given numbers.
Candidates: TypeAlias = Literal["scores", "grid"] | Sequence[float]
#: Values of a metric that differ by less are equal: they are sums of rounded changes.
_ROUNDING = 1e-12


class Cut(Protocol):
    """A rule that has seen what it needs.

    Examples
    --------
    >>> from shortlist.model_selection import thresholds
    >>> scores = [[2.0, 1.0, -1.0], [0.5, -0.5, -2.0]]
    >>> thresholds.Constant(0.0).fit(None, None).label_sets(scores)
    array([[ True,  True, False],
           [ True, False, False]])
    """

    def label_sets(self, scores: ArrayLike) -> NDArray[np.bool_]:
        """Return which labels hold, one example a row."""


class Rule(Protocol):
    """A way from scores to label sets.

    Examples
    --------
    >>> from shortlist.model_selection import thresholds
    >>> thresholds.TopK(2).needs_scores, thresholds.Tuned("f1_micro").needs_scores
    (False, True)
    """

    @property
    def needs_scores(self) -> bool:
        """Whether `fit` looks at scores, which should be of examples the model did not see."""

    def fit(self, scores: Any, y: Any, sample_weight: ArrayLike | None = None) -> Cut:
        """Return the cut that follows from examples whose labels `y` are known."""


def make(threshold: Any) -> Rule:
    """Return the rule that a user's `threshold` stands for.

    Parameters
    ----------
    threshold : float, array_like, str or rule
        A number, or one for each label; ``"cardinality"``; the name of a metric to tune for;
        or a rule, which is returned as it is.

    Returns
    -------
    Rule

    Examples
    --------
    >>> from shortlist.model_selection import thresholds
    >>> thresholds.make(0.5)
    Constant(threshold=0.5, at_least_one=False)
    >>> thresholds.make("f1_macro")
    Tuned(metric='f1_macro', candidates='scores', per_label=False, at_least_one=False)
    """
    if isinstance(threshold, str):
        return Cardinality() if threshold == "cardinality" else Tuned(threshold)
    if hasattr(threshold, "fit"):
        return threshold
    return Constant(threshold)


def best_for(names: Sequence[str], problem: Ranking, candidates: Candidates) -> NDArray[np.float64]:
    """Return the threshold that `Tuned` finds, for each of several metrics of label sets."""
    best = _best_of_each([_aim(name) for name in names], problem, candidates)
    return np.array([threshold for threshold, _ in best])


@dataclass(frozen=True)
class Constant:
    """Labels whose score reaches a threshold, one for all or one for each label.

    Examples
    --------
    >>> from shortlist.model_selection import thresholds
    >>> scores = [[2.0, 1.0, -1.0], [0.5, -0.5, -2.0]]
    >>> thresholds.Constant([1.0, 1.0, -1.0]).fit(None, None).label_sets(scores)
    array([[ True,  True,  True],
           [False, False, False]])
    """

    threshold: ArrayLike = 0.0
    at_least_one: bool = False
    needs_scores: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse what is no threshold, before any model is trained."""
        _as_numbers(np.atleast_1d(self.threshold), "threshold")

    def fit(self, scores: Any, y: Any, sample_weight: ArrayLike | None = None) -> ThresholdCut:
        """Return the cut; the examples make no difference."""
        values = _as_numbers(np.atleast_1d(self.threshold), "threshold")
        return ThresholdCut(values, self.at_least_one)


@dataclass(frozen=True)
class Tuned:
    r"""Labels whose score reaches the threshold that is best for a metric.

    Of thresholds that are equally good, the middle one.

    Parameters
    ----------
    metric : str
        The name of a metric of label sets.
    candidates : {"scores", "grid"} or sequence of float
        ``"scores"`` considers a threshold between any two scores, so that no other is better
        on the given examples; ``"grid"`` the 71 thresholds of the paper.
    per_label : bool
        One threshold for each label, for ``f1_macro``, ``hamming_loss`` and ``f1_micro``, and
        with ``"scores"`` also then no others are better. The first two are best when they are
        best for each label. The micro average :math:`2 T / (P + Y)` is at least F where
        :math:`2 T - F (P + Y) \ge 0`, a sum over labels: it is maximised for each label, and F
        raised to what is reached, until it does not grow [Din67]_.
    at_least_one : bool
        Whether an example without labels has the one with the highest score.

    References
    ----------
    .. [Din67] W. Dinkelbach, "On nonlinear fractional programming", 1967.

    Examples
    --------
    >>> from shortlist.model_selection import thresholds
    >>> scores = [[2.0, 1.0, -1.0], [0.5, -0.5, -2.0]]
    >>> cut = thresholds.Tuned("f1_micro").fit(scores, [[0, 1], [0]])
    >>> cut.thresholds, cut.label_sets(scores).astype(int)
    (array([0.]), array([[1, 1, 0],
           [1, 0, 0]]))
    """

    metric: str = "f1_micro"
    candidates: Candidates = "scores"
    per_label: bool = False
    at_least_one: bool = False
    needs_scores: ClassVar[bool] = True

    def __post_init__(self) -> None:
        """Refuse what cannot be tuned, before any model is trained."""
        as_count_metric(self.metric)
        if isinstance(self.candidates, str):
            if self.candidates not in ("scores", "grid"):
                raise ValueError(
                    f"candidates is {self.candidates!r}; it must be 'scores', 'grid' or numbers."
                )
        else:
            _as_numbers(self.candidates, "candidates")
        if self.per_label and self.metric not in ("f1_micro", "f1_macro", "hamming_loss"):
            raise ValueError(
                f"{self.metric} is not a sum over labels; tune one threshold for all of them, or "
                "per_label for f1_micro, f1_macro or hamming_loss."
            )

    def fit(self, scores: Any, y: Any, sample_weight: ArrayLike | None = None) -> ThresholdCut:
        """Return the cut with the thresholds that are best for these examples."""
        problem = as_ranking(y, scores, sample_weight)
        problem = problem._replace(scores=_keep_best(problem.scores, self.at_least_one))
        if not self.per_label:
            thresholds = [_best(_aim(self.metric), problem, self.candidates)[0]]
        elif self.metric == "f1_micro":
            thresholds = self._best_for_micro(problem)
        else:
            aim = _aim(self.metric)
            thresholds = [_best(aim, column, self.candidates)[0] for column in _columns(problem)]
        return ThresholdCut(np.array(thresholds), self.at_least_one)

    def _best_for_micro(self, problem: Ranking) -> list[float]:
        """Return a threshold for each label that together are best for the micro average."""
        one, F = _best(_aim("f1_micro"), problem, self.candidates)
        thresholds = [one] * problem.labels.m
        counts = [CountMetric("all", lambda c: c.found), CountMetric("all", lambda c: c.predicted)]
        curves = []
        for column in _columns(problem):
            tried = _tried(column.scores, self.candidates)
            curves.append((tried, at_thresholds(counts, column, tried)))
        while True:
            others = [
                _middle_of_best(tried, 2.0 * found - F * predicted)[0]
                for tried, (found, predicted) in curves
            ]
            sets = problem.scores >= np.array(others)
            reached = metrics.f1_score(problem.labels, sets, sample_weight=problem.weights)
            if reached <= F + _ROUNDING:
                return thresholds
            thresholds, F = others, reached


@dataclass(frozen=True)
class Cardinality:
    """As many labels on average as the known examples have [RPH09]_.

    Parameters
    ----------
    transductive : bool
        Whether the threshold is chosen anew for the examples asked for, all of them together,
        as in the paper, and not once for the known ones.
    at_least_one : bool
        Whether an example without labels has the one with the highest score.

    References
    ----------
    .. [RPH09] J. Read, B. Pfahringer, G. Holmes, E. Frank, "Classifier Chains for Multi-label
       Classification", 2009.

    Examples
    --------
    >>> from shortlist.model_selection import thresholds
    >>> scores = [[2.0, 1.0, -1.0], [0.5, -0.5, -2.0]]
    >>> cut = thresholds.Cardinality().fit(scores, [[0, 1], [0]])
    >>> int(cut.label_sets(scores).sum())
    3
    """

    transductive: bool = False
    at_least_one: bool = False

    @property
    def needs_scores(self) -> bool:
        """Whether `fit` looks at scores."""
        return not self.transductive

    def fit(self, scores: Any, y: Any, sample_weight: ArrayLike | None = None) -> Cut:
        """Return the cut for the number of labels of these examples."""
        cut = MatchingCut(
            metrics.label_cardinality(y, sample_weight=sample_weight), self.at_least_one
        )
        return cut if self.transductive else cut.at(scores, sample_weight)


@dataclass(frozen=True)
class TopK:
    """The k labels with the highest scores; of equal scores, the first.

    Examples
    --------
    >>> from shortlist.model_selection import thresholds
    >>> scores = [[2.0, 1.0, -1.0], [0.5, -0.5, -2.0]]
    >>> thresholds.TopK(1).label_sets(scores)
    array([[ True, False, False],
           [ True, False, False]])
    """

    k: int = 1
    needs_scores: ClassVar[bool] = False

    def __post_init__(self) -> None:
        """Refuse what is no number of labels, before any model is trained."""
        as_integer(self.k, "k", least=1)

    def fit(self, scores: Any, y: Any, sample_weight: ArrayLike | None = None) -> TopK:
        """Return the rule itself; the examples make no difference."""
        return self

    def label_sets(self, scores: ArrayLike) -> NDArray[np.bool_]:
        """Return which labels hold, one example a row."""
        rows = as_scores(scores)
        k = as_k(self.k, rows.shape[1], "a row of scores")
        out = np.zeros(rows.shape, dtype=bool)
        np.put_along_axis(out, np.argsort(-rows, axis=1, kind="stable")[:, :k], True, axis=1)
        return out


@dataclass(frozen=True, eq=False)
class ThresholdCut:
    """Labels whose score reaches their threshold: one for all of them, or one for each.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.model_selection.thresholds import ThresholdCut
    >>> ThresholdCut(np.array([0.5]), at_least_one=True).label_sets([[0.0, 1.0], [-1.0, 0.0]])
    array([[False,  True],
           [False,  True]])
    """

    thresholds: NDArray[np.float64]
    at_least_one: bool = False

    def label_sets(self, scores: ArrayLike) -> NDArray[np.bool_]:
        """Return which labels hold, one example a row."""
        rows = as_scores(scores)
        if self.thresholds.size not in (1, rows.shape[1]):
            raise ValueError(
                f"there are {self.thresholds.size} thresholds and {rows.shape[1]} labels."
            )
        return _keep_best(rows, self.at_least_one) >= self.thresholds


@dataclass(frozen=True)
class MatchingCut:
    """As many labels on average as `cardinality`, of all examples asked for together.

    Examples
    --------
    >>> from shortlist.model_selection.thresholds import MatchingCut
    >>> MatchingCut(cardinality=0.5).label_sets([[0.0, 1.0], [-1.0, 0.0]])
    array([[False,  True],
           [False, False]])
    """

    cardinality: float
    at_least_one: bool = False

    def label_sets(self, scores: ArrayLike) -> NDArray[np.bool_]:
        """Return which labels hold, one example a row."""
        return self.at(scores).label_sets(scores)

    def at(self, scores: ArrayLike, sample_weight: ArrayLike | None = None) -> ThresholdCut:
        """Return the cut whose number of labels on these examples is nearest."""
        rows = _keep_best(as_scores(scores), self.at_least_one)
        n, m = rows.shape
        nothing_known = Labels(np.zeros(n + 1, np.int64), np.empty(0, np.int64), m)
        problem = Ranking(rows, nothing_known, as_weights(sample_weight, n))
        closeness = CountMetric(
            "all", lambda c: -np.abs(c.predicted * m / c.decisions - self.cardinality)
        )
        best, _ = _best(closeness, problem, "scores")
        return ThresholdCut(np.array([best]), self.at_least_one)


def _keep_best(scores: FloatArray, at_least_one: bool) -> FloatArray:
    """Return scores of which, with `at_least_one`, the highest of each row is beyond all."""
    if at_least_one:
        scores = scores.copy()
        scores[np.arange(len(scores)), scores.argmax(axis=1)] = np.inf
    return scores


def _between(scores: FloatArray) -> NDArray[np.float64]:
    """Return ascending thresholds that make all different cuts.

    They are halfway between scores, so that rounding does not decide; the first lets all scores
    pass, the last none but infinities.
    """
    values = np.unique(scores).astype(np.float64)
    with np.errstate(invalid="ignore"):  # between minus and plus infinity there is no number
        middle = values[:-1] / 2 + values[1:] / 2
    middle = np.where(middle > values[:-1], middle, values[1:])
    return np.concatenate([[-np.inf], middle, [np.inf]])


def _aim(name: str) -> CountMetric:
    """Return the metric called `name` as one of which more is better."""
    counts, sign = as_count_metric(name), metrics.metric(name).sign
    return counts._replace(of_counts=lambda c: sign * counts.of_counts(c))


def _best(aim: CountMetric, problem: Ranking, candidates: Candidates) -> tuple[float, float]:
    """Return the best threshold for all scores of a problem, and its value."""
    (best,) = _best_of_each([aim], problem, candidates)
    return best


def _best_of_each(
    aims: Sequence[CountMetric], problem: Ranking, candidates: Candidates
) -> list[tuple[float, float]]:
    """Return the same for several metrics, each by itself."""
    tried = _tried(problem.scores, candidates)
    values = at_thresholds(aims, problem, tried)
    if np.isnan(values).any():
        raise ValueError("a threshold needs examples: there are none, or all of weight 0.")
    return [_middle_of_best(tried, curve) for curve in values]


def _tried(scores: FloatArray, candidates: Candidates) -> NDArray[np.float64]:
    """Return the thresholds to choose from, ascending."""
    if isinstance(candidates, str):
        return _between(scores) if candidates == "scores" else np.sort(GRID)
    return np.sort(_as_numbers(candidates, "candidates"))


def _middle_of_best(tried: NDArray[np.float64], values: NDArray[np.float64]) -> tuple[float, float]:
    """Return the threshold with the largest value, of several the middle one; and the value."""
    best = np.flatnonzero(values >= values.max() - _ROUNDING)
    middle = best[(best.size - 1) // 2]
    return float(tried[middle]), float(values[middle])


def _columns(problem: Ranking) -> list[Ranking]:
    """Return the problem of each label by itself."""
    truth = problem.labels.indicators().toarray()
    return [
        Ranking(problem.scores[:, [j]], as_labels(truth[:, [j]]), problem.weights)
        for j in range(problem.labels.m)
    ]


def _as_numbers(values: ArrayLike, name: str) -> NDArray[np.float64]:
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or numbers.size == 0 or np.isnan(numbers).any():
        raise ValueError(f"{name} is {values!r}; it must be one vector of numbers.")
    return numbers
