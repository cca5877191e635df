r"""The best possible shortlist, and what another one loses [LHS17, section 4].

For class probabilities `p` the Bayes top-k error is :math:`1 - \sum_{j \le k} p_{[j]}`. Scores
`g` are *top-k Bayes optimal* at `p` if their k best classes have that error, however ties among
the scores are broken.

The lemma of the paper asks only that all classes with :math:`g_y \ge g_{[k]}` have
:math:`p_y \ge p_{[k]}`. Where classes tie at :math:`p_{[k]}` this is necessary but not enough:
with :math:`p = (0.5, 0.2, 0.2, 0.1)` and :math:`k = 2`, scores that put the second and the third
class on top pass, and lose 0.3. So optimality is decided here by the regret of the worst shortlist
that the scores allow.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from shortlist._arrays import as_k, as_rows

#: By how much the sum of probabilities may differ from 1.
_ROUNDING = 1e-6


def as_distributions(p: ArrayLike) -> NDArray[np.float64]:
    """Return one distribution, or a matrix with one a row, as a matrix of float64."""
    rows = as_rows(p, "p").astype(np.float64, copy=False)
    for i, row in enumerate(rows):
        where = f"p[{i}]" if np.ndim(p) == 2 else "p"
        if not (row >= 0.0).all():
            j = int(np.flatnonzero(~(row >= 0.0))[0])
            raise ValueError(f"{where}[{j}] is {row[j]}; probabilities must not be negative.")
        if not abs(row.sum() - 1.0) <= _ROUNDING:
            raise ValueError(f"{where} sums to {row.sum()}; probabilities must sum to 1.")
    return rows


def as_distribution(p: ArrayLike) -> NDArray[np.float64]:
    """Return one distribution as a vector of float64."""
    if np.ndim(p) != 1:
        raise ValueError(f"p has {np.ndim(p)} dimensions; pass one vector of probabilities.")
    return as_distributions(p)[0]


def bayes_topk_error(p: ArrayLike, k: int) -> Any:
    r"""Return the least top-k error, :math:`1 - \sum_{j \le k} p_{[j]}`.

    Parameters
    ----------
    p : array_like, shape (m,) or (n, m)
        Probabilities of the classes; one distribution, or one a row.
    k : int
        The length of the shortlist, between 1 and `m`.

    Returns
    -------
    float, or ndarray of shape (n,)

    Examples
    --------
    >>> from shortlist import bayes
    >>> float(bayes.bayes_topk_error([0.5, 0.25, 0.125, 0.125], k=2))
    0.25
    """
    k = as_k(k, np.shape(p)[-1] if np.ndim(p) else 0, "p")
    return bayes_error_curve(p)[..., k - 1]


def bayes_error_curve(p: ArrayLike) -> NDArray[np.float64]:
    """Return the least top-k error for k = 1, ..., m.

    Parameters
    ----------
    p : array_like, shape (m,) or (n, m)
        Probabilities of the classes; one distribution, or one a row.

    Returns
    -------
    ndarray, shape of `p`

    Examples
    --------
    >>> from shortlist import bayes
    >>> bayes.bayes_error_curve([0.5, 0.25, 0.125, 0.125])
    array([0.5  , 0.25 , 0.125, 0.   ])
    """
    rising = np.sort(as_distributions(p), axis=1)
    left_out = np.cumsum(rising, axis=1)[:, ::-1]
    curve = np.zeros_like(rising)
    curve[:, :-1] = left_out[:, 1:]
    return curve.reshape(np.shape(p))


def topk_regret(scores: ArrayLike, p: ArrayLike, k: int) -> Any:
    r"""Return how much the worst shortlist that `scores` allow loses against the best one.

    .. math::  \sum_{j \le k} p_{[j]} - \min_S \sum_{j \in S} p_j,

    over all sets `S` of `k` classes of which none scores lower than a class outside.

    Parameters
    ----------
    scores : array_like, shape (m,) or (n, m)
        Scores, infinite ones included.
    p : array_like, shape of `scores`
        Probabilities of the classes.
    k : int
        The length of the shortlist, between 1 and `m`.

    Returns
    -------
    float, or ndarray of shape (n,)
        Exactly 0 where no shortlist loses.

    Examples
    --------
    >>> from shortlist import bayes
    >>> float(bayes.topk_regret([1.0, 1.0, 0.0], [0.5, 0.25, 0.25], k=1))
    0.25
    """
    rows, g = as_distributions(p), as_rows(scores, "scores").astype(np.float64, copy=False)
    if np.shape(scores) != np.shape(p):
        raise ValueError(f"scores have shape {np.shape(scores)} and p {np.shape(p)}.")
    if np.isnan(g).any():
        raise ValueError("scores contain nan; pass numbers or infinities.")
    k = as_k(k, rows.shape[1], "p")
    chosen = np.lexsort((rows, -g))[:, :k]  # by falling score, the least probable class first
    best = np.sort(rows, axis=1)[:, -k:]
    # Differences of sorted probabilities, not of sums: no rounding where the lists are as good.
    lost = best - np.sort(np.take_along_axis(rows, chosen, axis=1), axis=1)
    return lost.sum(axis=1).reshape(np.shape(p)[:-1])[()]


def is_topk_bayes_optimal(scores: ArrayLike, p: ArrayLike, k: int) -> Any:
    """Return whether every shortlist that `scores` allow has the Bayes top-k error.

    Parameters
    ----------
    scores : array_like, shape (m,) or (n, m)
        Scores, infinite ones included.
    p : array_like, shape of `scores`
        Probabilities of the classes.
    k : int
        The length of the shortlist, between 1 and `m`.

    Returns
    -------
    bool, or ndarray of shape (n,)

    Examples
    --------
    >>> from shortlist import bayes
    >>> bool(bayes.is_topk_bayes_optimal([0.0, 2.0, 1.0, -1.0], [0.5, 0.2, 0.2, 0.1], k=2))
    False
    """
    return topk_regret(scores, p, k) == 0.0
