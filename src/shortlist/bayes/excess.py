r"""How surrogate regret bounds top-k regret.

Training sees the surrogate risk; a user sees the shortlist. At a distribution `p`, a shortlist `S`
loses the top-k regret :math:`\sum_{j \le k} p_{[j]} - \sum_{j \in S} p_j`, and scores that lead to
it have at least the excess risk

.. math::  \min_{g \to S} R(g) - \min_g R(g), \qquad R(g) = \sum_y p_y L(y, g).

The least excess over all `p` and `S` of some regret is what a model must be better than to have a
smaller one. It is above 0 for each positive regret if the loss is calibrated.
"""

from __future__ import annotations

import itertools
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._arrays import as_k
from shortlist.bayes.error import as_distributions
from shortlist.bayes.optimum import as_loss
from shortlist.bayes.ordered import least_risk
from shortlist.losses.registry import Loss


class Excess(NamedTuple):
    """Top-k regrets, and the least excess risks that lead to them.

    Examples
    --------
    >>> from shortlist import bayes
    >>> found = bayes.excess_risk("softmax", 1, [0.5, 0.3, 0.2])
    >>> found.regret.round(2), found.risk.round(3)
    (array([0. , 0.2, 0.3]), array([0.   , 0.025, 0.066]))
    """

    regret: NDArray[np.float64]
    risk: NDArray[np.float64]


def excess_risk(loss: Loss, k: int, p: ArrayLike) -> Excess:
    """Return the regret of every shortlist of `k` classes, and the least excess risk of it.

    Parameters
    ----------
    loss : loss or str
        A convex loss, or the name of one that needs no parameter.
    k : int
        The length of the shortlists.
    p : array_like, shape (m,) or (n, m)
        Probabilities of the classes; one distribution, or one a row.

    Returns
    -------
    Excess
        Two arrays with one element for each set of `k` classes, in the order of
        `itertools.combinations` of the classes from the most probable one; with one row for
        each distribution.

    Examples
    --------
    >>> from shortlist import bayes, losses
    >>> excess = bayes.excess_risk(losses.topk_svm_consistent(k=1), 1, [0.5, 0.3, 0.2])
    >>> excess.regret.round(6), excess.risk.round(6)
    (array([0. , 0.2, 0.3]), array([0.  , 0.1 , 0.15]))
    """
    rows = as_distributions(p)
    m = rows.shape[1]
    k, loss = as_k(k, m, "p"), as_loss(loss, m)
    found = [_of_one(loss, k, np.sort(row)[::-1]) for row in rows]
    regret, risk = (
        np.array(part).reshape(*np.shape(p)[:-1], -1) for part in zip(*found, strict=True)
    )
    return Excess(regret, risk)


def _of_one(
    loss: Loss, k: int, p: NDArray[np.float64]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    everything, least = range(p.size), least_risk(loss, p).risk
    regrets, risks = [], []
    for chosen in itertools.combinations(everything, k):
        order = [*chosen, *(j for j in everything if j not in chosen)]
        regrets.append((p[:k] - p[order[:k]]).sum())
        risks.append(max(least_risk(loss, p[order]).risk - least, 0.0))
    return np.array(regrets), np.array(risks)


def excess_risk_curve(loss: Loss, k: int, p: ArrayLike, levels: ArrayLike) -> NDArray[np.float64]:
    """Return the least excess risk at which the top-k regret can reach each level.

    Parameters
    ----------
    loss : loss or str
        A convex loss, or the name of one that needs no parameter.
    k : int
        The length of the shortlists.
    p : array_like, shape (n, m)
        The distributions to take the least over: the denser, the closer from above.
    levels : array_like, shape (l,)
        Regrets.

    Returns
    -------
    ndarray, shape (l,)
        Infinite where no shortlist loses so much.

    Examples
    --------
    >>> from shortlist import bayes
    >>> bayes.excess_risk_curve("svm", 1, [[0.4, 0.35, 0.25], [0.8, 0.1, 0.1]], [0.1, 0.5])
    array([0. , 0.6])
    """
    excess = excess_risk(loss, k, p)
    regret, risk = excess.regret.ravel(), excess.risk.ravel()
    reached = regret[None] >= np.asarray(levels, dtype=float)[:, None]
    return np.where(reached, risk[None], np.inf).min(axis=1)
