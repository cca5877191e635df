r"""Whether a loss is top-k calibrated: all its minimisers top-k Bayes optimal, whatever `p`.

For hinges of few classes the answer is exact (`shortlist.bayes.faces`). For the others it is a
search: at many `p`, the least risk of all is compared with the least risk of a wrong shortlist. The
cheapest one exchanges the k-th and the next class; if it costs nothing, then the minimisers include
scores that lead to it. This looks at the whole set of minimisers, not at the one that a solver
returns.
"""

from __future__ import annotations

import math
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from shortlist._arrays import as_integer, as_k
from shortlist.bayes import faces
from shortlist.bayes.error import topk_regret
from shortlist.bayes.optimum import as_loss, closed_form
from shortlist.bayes.ordered import least_risk
from shortlist.bayes.pieces import is_polyhedral
from shortlist.losses.operations import traits
from shortlist.losses.registry import Loss

Number = Fraction | float

#: More classes have too many corners.
_MOST_CLASSES = 7
#: A shortlist whose price, relative to the risk, is not above this is free.
_FREE = 1e-10
#: The least regret of a wrong shortlist in the search: a price is about its square.
_LEAST_REGRET = 0.01


class Witness(NamedTuple):
    """A counterexample: fractions where it is exact, floats where it was found by search.

    Examples
    --------
    >>> from shortlist import bayes, losses
    >>> witness = bayes.calibration(losses.svm(), k=1, m=3).witness
    >>> sum(witness.p), bool(witness.regret > 0)
    (Fraction(1, 1), True)
    """

    p: tuple[Number, ...]
    #: Scores of least risk at `p`.
    scores: tuple[Number, ...]
    #: What their worst shortlist loses against the best one.
    regret: Number


class Verdict(NamedTuple):
    """Whether a loss leads to the best shortlists of `k` out of `m` classes.

    Examples
    --------
    >>> from shortlist import bayes, losses
    >>> verdict = bayes.calibration(losses.topk_svm_alpha(k=2), k=2, m=3)
    >>> verdict.calibrated, verdict.exact, verdict.witness
    (True, True, None)
    """

    loss: Loss
    k: int
    m: int
    #: Whether there is no counterexample.
    calibrated: bool
    #: Whether this is proved by exact computation for all distributions, or searched.
    exact: bool
    witness: Witness | None
    #: The number of corners (exact) or of distributions (search) that were looked at.
    problems: int
    #: The least price of a wrong shortlist in a search: surrogate risk above the least one.
    price: float = math.nan

    def __str__(self) -> str:
        calibrated = f"top-{self.k} calibrated for {self.m} classes"
        if self.witness is not None:
            p, scores = (", ".join(map(_short, x)) for x in self.witness[:2])
            return (
                f"{self.loss} is not {calibrated}: at p = ({p}) the minimisers include "
                f"g = ({scores}) with regret {_short(self.witness.regret)}."
            )
        if self.exact:
            return f"{self.loss} is {calibrated}: exact, {self.problems} corners."
        return f"{self.loss} may be {calibrated}: no counterexample in {self.problems} problems."


def _short(x: Number) -> str:
    return str(x) if isinstance(x, Fraction) else f"{x:.4g}"


def calibration(
    loss: Loss, k: int, m: int, *, problems: int = 200, random_state: int = 0
) -> Verdict:
    r"""Decide, or search, whether a loss is top-k calibrated for `m` classes.

    It is if, at every distribution `p`, every minimiser of :math:`\sum_y p_y L(y, g)` is top-k
    Bayes optimal.

    Parameters
    ----------
    loss : loss or str
        A loss, or the name of one that needs no parameter. Its own `k` need not be this one.
    k : int
        The length of the shortlist, between 1 and ``m - 1``.
    m : int
        The number of classes.
    problems : int
        How many distributions to search, where the answer is not exact.
    random_state : int
        The seed of the search.

    Returns
    -------
    Verdict
        With a witness if it is not calibrated. Exact for hinges without smoothing of up to 7
        classes.

    Examples
    --------
    >>> from shortlist import bayes, losses
    >>> print(bayes.calibration("svm", k=1, m=3))
    TopKSvmAlpha(k=1, smoothing=0.0) is not top-1 calibrated for 3 classes: at p = (1/15, 13/30,
    1/2) the minimisers include g = (0, 0, 0) with regret 13/30.
    >>> print(bayes.calibration(losses.topk_svm_consistent(k=2), k=2, m=4))
    ConsistentTopKSvm(k=2, smoothing=0.0) is top-2 calibrated for 4 classes: exact, 8 corners.
    """
    m, problems = as_integer(m, "m", 2), as_integer(problems, "problems", 1)
    k, loss = as_k(k, m, "a distribution"), as_loss(loss, m)
    if k == m:
        raise ValueError(f"k is {k}; a shortlist of all {m} classes is always right.")
    if is_polyhedral(loss) and m <= _MOST_CLASSES:
        decision = faces.decide(loss, k, m)
        witness = None if decision.worst is None else Witness(*decision.worst)
        return Verdict(loss, k, m, witness is None, True, witness, decision.corners)
    rng = np.random.default_rng(random_state)
    price = math.inf
    for i in range(problems):
        p = _distribution(rng, k, m)
        scores, cost = _cheapest_wrong_scores(loss, k, p)
        price = min(price, cost)
        if cost <= _FREE:
            witness = Witness(
                tuple(p.tolist()), tuple(scores.tolist()), float(topk_regret(scores, p, k))
            )
            return Verdict(loss, k, m, False, False, witness, i + 1, price)
    return Verdict(loss, k, m, True, False, None, problems, price)


def _distribution(rng: np.random.Generator, k: int, m: int) -> NDArray[np.float64]:
    """Return falling probabilities, from nearly equal to nearly certain, with a clear cut at k.

    In every fourth some classes never occur.
    """
    while True:
        occurring = m if rng.random() < 0.75 else int(rng.integers(2, m + 1))
        p = np.zeros(m)
        p[:occurring] = rng.dirichlet(np.full(occurring, rng.choice((0.3, 1.0, 3.0, 30.0))))
        p = np.sort(p)[::-1]
        if p[k - 1] - p[k] >= _LEAST_REGRET:
            return p


def _cheapest_wrong_scores(
    loss: Loss, k: int, p: NDArray[np.float64]
) -> tuple[NDArray[np.float64], float]:
    """Return the best scores that allow a wrong shortlist, and their price."""
    if not traits(loss).convex:
        optimum = closed_form(loss, p)
        if optimum is None:
            raise ValueError(f"{type(loss).__name__} is not convex: its minimisers are not known.")
        # The formula gives them all: classes at infinity may go there in any order.
        wrong = topk_regret(optimum.scores, p, k) > 0.0
        return optimum.scores, 0.0 if wrong else math.inf
    order = np.arange(p.size)
    order[[k - 1, k]] = k, k - 1
    least, wrong_one = least_risk(loss, p), least_risk(loss, p[order])
    return wrong_one.scores[order], (wrong_one.risk - least.risk) / (1.0 + least.risk)
