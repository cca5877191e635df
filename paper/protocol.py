"""How parameters are chosen for each metric by itself, and how noisy the choice is.

Models are linear without an intercept, as the paper's tables are: with one, Letter's softmax
has 77.6 % where the paper reports 75.3 %, without it 75.4 %.

Which setting is best depends on the examples it is chosen on. `draws` measures by how much:
the examples, or folds, are drawn anew with replacement, the choice is made again, and the test
value of what is chosen spreads.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist import path
from shortlist.solvers import Solution, Stationarity

#: A certificate that is no better marks its cell.
TOL = 1e-3
#: How often a choice is made again.
DRAWS = 200
#: An end of the grid at which a metric is best is moved at most so often, by so many values.
EXTENSIONS, STEPS = 3, 2
#: A thinned path ends when so many fits running are past the best for all metrics.
PATIENCE = 2


class Fit(NamedTuple):
    """What is kept of a model: its certificate, and what it says of examples it did not see."""

    C: float
    gap: float
    val: Any
    test: Any


def certificate(solution: Solution) -> float:
    """Return the duality gap; for a loss that is not convex, the gradient's relative norm."""
    found = solution.certificate
    return float(found.gradient_norm if isinstance(found, Stationarity) else found.gap)


def ranks(scores: NDArray[Any], y: NDArray[np.int64]) -> NDArray[np.int16]:
    """Return how many classes score strictly higher than the true one, for each example."""
    return (scores > scores[np.arange(len(y)), y][:, None]).sum(axis=1).astype(np.int16)


def along(
    X: Any,
    y: Any,
    loss: Any,
    Cs: Sequence[float],
    judge: Callable[[Any], tuple[Any, Any]],
    is_enough: Callable[[list[Fit]], bool] | None = None,
    **options: Any,
) -> list[Fit]:
    """Return the fits of a warm-started path; `judge` takes weights and gives `val` and `test`.

    The path ends early where `is_enough` says so of the fits up to there.
    """
    fits: list[Fit] = []
    ended = False

    def keep(solution: Solution) -> None:
        nonlocal ended
        if ended:  # the fit that the callback stopped at its first evaluation
            return
        fits.append(Fit(Cs[len(fits)], certificate(solution), *judge(solution.weights)))
        ended = is_enough is not None and is_enough(fits)

    path(
        X, y, loss, Cs=Cs, tol=TOL, n_threads=1, keep=keep, callback=lambda _: ended, **options
    )  # fmt: skip
    return fits


def topk_path(
    X: Any,
    y: Any,
    loss: Any,
    Cs: Sequence[float],
    val: tuple[Any, Any],
    test: tuple[Any, Any],
    lengths: Sequence[int],
    extend: bool = True,
    thinned: bool = False,
    **options: Any,
) -> list[Fit]:
    """Return the fits for all C, the grid extended where a length is best at its end.

    A thinned grid has every second C up to where all lengths are past their best, is extended
    once, and then has the values that were left out next to what is best for a length.
    """

    def judge(weights: Any) -> tuple[Any, Any]:
        return ranks(val[0] @ weights, val[1]), ranks(test[0] @ weights, test[1])

    def run(values: Sequence[float], is_enough: Any = None) -> list[Fit]:
        return along(X, y, loss, values, judge, is_enough, **options)

    Cs = sorted(Cs)
    fits = run(Cs[::2], lambda some: is_past(_accuracies(some, lengths))) if thinned else run(Cs)
    for _ in range((1 if thinned else EXTENSIONS) if extend else 0):
        new = _beyond(fits, lengths)
        if not new:
            break
        fits = sorted([*fits, *run(new)], key=lambda fit: fit.C)
    if thinned:
        fits = sorted([*fits, *run(_between(fits, lengths))], key=lambda fit: fit.C)
    return fits


def _accuracies(fits: Sequence[Fit], lengths: Sequence[int]) -> NDArray[np.float64]:
    return np.array([[(fit.val < k).mean() for k in lengths] for fit in fits])


def is_past(merits: NDArray[np.float64]) -> bool:
    """Return whether the last `PATIENCE` rows are worse than an earlier one in all columns."""
    before, last = merits[:-PATIENCE], merits[-PATIENCE:]
    return bool(len(before) and (last.max(axis=0) < before.max(axis=0)).all())


def _between(fits: Sequence[Fit], lengths: Sequence[int]) -> list[float]:
    """Return the middles between the values of C that are best for a length and those beside."""
    Cs = [fit.C for fit in fits]
    best = {int(at) for at in _accuracies(fits, lengths).argmax(axis=0)}
    pairs = {(at, at + 1) for each in best for at in (each - 1, each)}
    return [float(np.sqrt(Cs[a] * Cs[b])) for a, b in sorted(pairs) if a >= 0 and b < len(Cs)]


def _beyond(fits: list[Fit], lengths: Sequence[int]) -> list[float]:
    """Return values of C beyond the ends at which a length is best, and better than next to it."""
    Cs = [fit.C for fit in fits]
    values = _accuracies(fits, lengths)
    new: list[float] = []
    if (values[0] > values[1:].max(axis=0)).any():
        new += [Cs[0] * (Cs[0] / Cs[1]) ** i for i in range(STEPS, 0, -1)]
    if (values[-1] > values[:-1].max(axis=0)).any():
        new += [Cs[-1] * (Cs[-1] / Cs[-2]) ** i for i in range(1, STEPS + 1)]
    return new


def choose(fits: Sequence[Fit], k: int) -> Fit:
    """Return the fit whose top-k accuracy on the validation examples is best, least C first."""
    return fits[int(np.argmax([(fit.val < k).mean() for fit in fits]))]


def draws(val: NDArray[Any], seed: int = 0) -> NDArray[np.int64]:
    """Return the best setting for each redrawn set of the examples, or folds, that choose it.

    Parameters
    ----------
    val : array, shape (settings, examples or folds)
        What is averaged to choose a setting; more is better.
    seed : int
        Of the draws.

    Returns
    -------
    array of int, shape (DRAWS,)
    """
    rng = np.random.default_rng(seed)
    val = np.asarray(val, np.float64)
    n = val.shape[1]
    counts = np.array([np.bincount(rng.integers(n, size=n), minlength=n) for _ in range(DRAWS)])
    return np.argmax(val @ counts.T, axis=0)


def plausible(fits: Sequence[Fit], lengths: Sequence[int]) -> list[float]:
    """Return the values of C that are chosen for a length, or would be on a redrawn set."""
    chosen = {choose(fits, k).C for k in lengths}
    for k in lengths:
        chosen |= {fits[at].C for at in draws(np.array([fit.val < k for fit in fits]))}
    return sorted(chosen)


def topk_cell(
    fits: Sequence[Fit], lengths: Sequence[int], final: Sequence[Fit] | None = None
) -> dict[str, Any]:
    """Return the cell of a method: `fits` choose C for each length, and are tested.

    Where models are trained again on all examples, those of the plausible C are `final`.
    """
    by_C = {fit.C: fit for fit in (fits if final is None else final)}
    values, chosen, gaps, noise = {}, {}, {}, {}
    some = [fit for fit in fits if fit.C in by_C]
    for k in lengths:
        name, best = f"top{k}", choose(some, k).C
        test = np.array([100.0 * (by_C[fit.C].test < k).mean() for fit in some])
        values[name] = 100.0 * float((by_C[best].test < k).mean())
        chosen[name] = {"C": best}
        gaps[name] = by_C[best].gap
        noise[name] = float(test[draws(np.array([fit.val < k for fit in some]))].std())
    searched = {
        "Cs": [fit.C for fit in fits],
        **summary([fit.gap for fit in [*fits, *(final or [])]]),
    }
    return {
        "values": values,
        "chosen": chosen,
        "gaps": gaps,
        "choice_noise": noise,
        "search": searched,
    }


def summary(gaps: Sequence[float]) -> dict[str, Any]:
    """Return what is kept of the certificates of all fits behind a cell."""
    missed = sum(not gap <= TOL for gap in gaps)
    return {"fits": len(gaps), "largest_gap": float(max(gaps)), "missed": missed}
