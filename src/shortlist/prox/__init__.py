r"""Projections and proximal maps behind the losses of [LHS17]_, for vectors and for batches.

Every function takes one vector, or a matrix with one problem a row, in float32 or
float64, and returns the solutions in the same shape and precision. Other real
dtypes are converted to float64, any memory layout is served, and inputs are never
changed unless `out` is the input. The work is done by compiled code that holds no
lock: calls from several threads run at the same time.

=======================  =======================================================
function                 set, or function
=======================  =======================================================
`simplex`                the simplex
`knapsack`               a sum, and bounds on each element
`topk_simplex`           the top-k simplex, with a bias
`bipartite_simplex`      two simplices of equal size
`entropic_simplex`       the simplex, with an entropy
`entropic_topk_simplex`  the top-k simplex, with an entropy
`topk_sum_prox`          the simplex, with the sum of the k largest elements
=======================  =======================================================

References
----------
.. [LHS17] M. Lapin, M. Hein, B. Schiele, "Analysis and Optimization of Loss
   Functions for Multiclass, Top-k, and Multilabel Classification", 2017.
"""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike

from shortlist._arrays import (
    FloatArray,
    as_choice,
    as_finite,
    as_k,
    as_nonnegative,
    as_number,
    as_positive,
)
from shortlist.prox import maps
from shortlist.prox.batch import Batch, Result

__all__ = [
    "bipartite_simplex",
    "entropic_simplex",
    "entropic_topk_simplex",
    "knapsack",
    "simplex",
    "topk_simplex",
    "topk_sum_prox",
]

Variant = Literal["alpha", "beta"]
_VARIANTS = ("alpha", "beta")


def simplex(
    v: ArrayLike, radius: float = 1.0, equality: bool = True, *, out: Any = None
) -> FloatArray:
    r"""Project onto the simplex.

    .. math::

        \operatorname*{argmin}_x \ \tfrac12 \|x - v\|^2
        \quad \text{s.t.} \quad x \ge 0, \ \langle 1, x \rangle = r.

    The solution is :math:`x_j = \max\{0, v_j - t\}`. Cost: expected :math:`O(m)`,
    by variable fixing after a filter that leaves few elements of a long vector.

    Parameters
    ----------
    v : array_like, shape (m,) or (n, m)
        One vector, or one a row.
    radius : float
        The sum `r` > 0.
    equality : bool
        If false, the set is :math:`\langle 1, x \rangle \le r`.
    out : ndarray, optional
        Where to write the result, of the result's shape and dtype; may be `v`.

    Returns
    -------
    ndarray, shape of `v`

    Examples
    --------
    >>> from shortlist import prox
    >>> prox.simplex([0.5, 1.0, -1.0])
    array([0.25, 0.75, 0.  ])
    """
    radius = as_positive(radius, "radius")
    return Batch(v, "v").apply(maps.Knapsack(radius, 0.0, np.inf, bool(equality)), out)


def knapsack(
    v: ArrayLike,
    radius: float,
    lower: float,
    upper: float,
    equality: bool = False,
    *,
    out: Any = None,
) -> FloatArray:
    r"""Project onto a box cut by a sum: the continuous quadratic knapsack problem.

    .. math::

        \operatorname*{argmin}_x \ \tfrac12 \|x - v\|^2
        \quad \text{s.t.} \quad \langle 1, x \rangle \le r, \ lower \le x_j \le upper.

    The solution is :math:`x_j = \min\{\max\{lower, v_j - t\}, upper\}`. Cost: expected
    :math:`O(m)` [Kiw08].

    Parameters
    ----------
    v : array_like, shape (m,) or (n, m)
        One vector, or one a row.
    radius : float
        The bound `r` on the sum.
    lower, upper : float
        The bounds on each element; may be infinite.
    equality : bool
        If true, the sum is equal to `r`.
    out : ndarray, optional
        Where to write the result; may be `v`.

    Returns
    -------
    ndarray, shape of `v`

    Raises
    ------
    ValueError
        If no `x` meets the constraints.

    Examples
    --------
    >>> from shortlist import prox
    >>> prox.knapsack([0.5, 3.0, -1.0], radius=2.0, lower=0.0, upper=1.0)
    array([0.5, 1. , 0. ])
    """
    batch = Batch(v, "v")
    radius = as_finite(radius, "radius")
    lower, upper = as_number(lower, "lower"), as_number(upper, "upper")
    m = batch.m
    if lower > upper or lower == np.inf or upper == -np.inf:
        raise ValueError(f"lower is {lower} and upper {upper}; no number lies between them.")
    if m * lower > radius:
        raise ValueError(f"{m} elements of at least {lower} cannot sum to {radius} or less.")
    if equality and m * upper < radius:
        raise ValueError(f"{m} elements of at most {upper} cannot sum to {radius}.")
    return batch.apply(maps.Knapsack(radius, lower, upper, bool(equality)), out)


def topk_simplex(
    v: ArrayLike,
    k: int,
    radius: float = 1.0,
    variant: Variant = "alpha",
    bias: float = 0.0,
    *,
    out: Any = None,
) -> FloatArray:
    r"""Project onto the top-k simplex, with a bias.

    .. math::

        \operatorname*{argmin}_x \ \|x - v\|^2 + \rho \langle 1, x \rangle^2
        \quad \text{s.t.} \quad \langle 1, x \rangle \le r, \quad
        0 \le x_j \le \tfrac1k \langle 1, x \rangle \ (\alpha)
        \quad \text{or} \quad 0 \le x_j \le \tfrac{r}{k} \ (\beta).

    The solution is :math:`x_j = \min\{\max\{0, v_j - t\}, hi\}`. Cost: expected
    :math:`O(m)`. With ``k=1`` both variants are the simplex.

    Parameters
    ----------
    v : array_like, shape (m,) or (n, m)
        One vector, or one a row.
    k : int
        Between 1 and `m`.
    radius : float
        The bound `r` > 0 on the sum.
    variant : {"alpha", "beta"}
        Whether the upper bound follows the sum or the radius.
    bias : float
        The weight :math:`\rho \ge 0` of the squared sum.
    out : ndarray, optional
        Where to write the result; may be `v`.

    Returns
    -------
    ndarray, shape of `v`

    Examples
    --------
    >>> from shortlist import prox
    >>> prox.topk_simplex([3.0, 0.5, 0.4, -1.0], k=2)
    array([0.5, 0.3, 0.2, 0. ])
    """
    batch = Batch(v, "v")
    k = as_k(k, batch.m, "v")
    radius, bias = as_positive(radius, "radius"), as_nonnegative(bias, "bias")
    if as_choice(variant, _VARIANTS, "variant") == "alpha":
        return batch.apply(maps.TopKSimplexAlpha(k, radius, bias), out)
    return batch.apply(maps.TopKSimplexBeta(k, radius, bias), out)


def bipartite_simplex(
    a: ArrayLike, b: ArrayLike, radius: float = 1.0, *, out: Any = None
) -> tuple[FloatArray, FloatArray]:
    r"""Project a pair of vectors onto the bipartite simplex.

    .. math::

        \operatorname*{argmin}_{x, y \ge 0} \
        \tfrac12 \|x - a\|^2 + \tfrac12 \|y - b\|^2
        \quad \text{s.t.} \quad \langle 1, x \rangle = \langle 1, y \rangle \le r.

    The solution is :math:`x_j = \max\{0, a_j - t\}`, :math:`y_j = \max\{0, b_j - s\}`.
    Cost: expected :math:`O(m)`, by variable fixing [LHS17].

    Parameters
    ----------
    a, b : array_like, shapes (m,) and (l,), or (n, m) and (n, l)
        The two sides, of any lengths, in one precision.
    radius : float
        The bound `r` > 0 on both sums.
    out : pair of ndarrays, optional
        Where to write `x` and `y`; may be `a` and `b`.

    Returns
    -------
    x, y : ndarrays, shapes of `a` and `b`

    Examples
    --------
    >>> from shortlist import prox
    >>> prox.bipartite_simplex([1.0, 0.0], [0.25, 0.0, -1.0])
    (array([0.75, 0.  ]), array([0.5 , 0.25, 0.  ]))
    """
    left, right = Batch(a, "a"), Batch(b, "b")
    if len(left.shape) != len(right.shape) or left.shape[:-1] != right.shape[:-1]:
        raise ValueError(
            f"a has shape {left.shape} and b {right.shape}; "
            "pass as many vectors in one as in the other."
        )
    if left.rows.dtype != right.rows.dtype:
        raise ValueError(
            f"a has dtype {left.rows.dtype} and b {right.rows.dtype}; pass both in one precision."
        )
    radius = as_positive(radius, "radius")
    out_x, out_y = (None, None) if out is None else out
    x, y = Result(left, out_x, "out[0]"), Result(right, out_y, "out[1]")
    row = maps.bipartite_rows(left.rows, right.rows, radius, x.rows, y.rows)
    if row >= 0:
        (right if np.isfinite(left.rows[row]).all() else left).raise_at(row)
    return x.deliver(), y.deliver()


def entropic_simplex(z: ArrayLike, alpha: float, *, out: Any = None) -> FloatArray:
    r"""Solve the entropic projection onto the simplex.

    .. math::

        \operatorname*{argmin}_x \ \tfrac{\alpha}{2} \|x\|^2 - \langle z, x \rangle
        + \langle x, \log x \rangle
        \quad \text{s.t.} \quad x \ge 0, \ \langle 1, x \rangle = 1.

    The solution is :math:`x_j = V(z_j - t) / \alpha` with Wright's omega function `V`
    (`shortlist.special.wright_omega`), and the softmax of `z` at :math:`\alpha = 0`.
    Cost: a few evaluations of `V` over the vector.

    Parameters
    ----------
    z : array_like, shape (m,) or (n, m)
        One vector, or one a row.
    alpha : float
        The weight :math:`\alpha \ge 0` of the quadratic term.
    out : ndarray, optional
        Where to write the result; may be `z`.

    Returns
    -------
    ndarray, shape of `z`

    Examples
    --------
    >>> from shortlist import prox
    >>> prox.entropic_simplex([1.0, 0.0, 0.0], alpha=2.0).round(4)
    array([0.4724, 0.2638, 0.2638])
    """
    return Batch(z, "z").apply(maps.EntropicSimplex(as_nonnegative(alpha, "alpha")), out)


def entropic_topk_simplex(
    b: ArrayLike, k: int, alpha: float, variant: Variant = "alpha", *, out: Any = None
) -> FloatArray:
    r"""Solve the entropic projection onto the top-k simplex.

    .. math::

        \operatorname*{argmin}_x \ \tfrac{\alpha}{2} (\|x\|^2 + s^2) - \langle b, x \rangle
        + \langle x, \log x \rangle + (1 - s) \log(1 - s),
        \qquad s = \langle 1, x \rangle,

    over :math:`0 \le x_j \le s/k` (variant `alpha`) or :math:`0 \le x_j \le 1/k` (variant
    `beta`). The solution is :math:`x_j = \min\{V(b_j - t) / \alpha, hi\}` [LHS17]; with
    ``k=1`` it is, with :math:`1 - s` appended, that of `entropic_simplex` for `b` with
    :math:`\alpha` appended. Cost: a few evaluations of `V` over the vector.

    Parameters
    ----------
    b : array_like, shape (m,) or (n, m)
        One vector, or one a row.
    k : int
        Between 1 and `m`.
    alpha : float
        The weight :math:`\alpha \ge 0` of the quadratic term; 0 has a closed form.
    variant : {"alpha", "beta"}
        Whether the upper bound follows the sum or not.
    out : ndarray, optional
        Where to write the result; may be `b`.

    Returns
    -------
    ndarray, shape of `b`

    Examples
    --------
    >>> from shortlist import prox
    >>> prox.entropic_topk_simplex([4.0, 0.0, -1.0], k=2, alpha=1.0).round(4)
    array([0.4211, 0.2936, 0.1275])
    """
    batch = Batch(b, "b")
    k = as_k(k, batch.m, "b")
    fixed_cap = as_choice(variant, _VARIANTS, "variant") == "beta"
    return batch.apply(maps.EntropicTopKSimplex(k, as_nonnegative(alpha, "alpha"), fixed_cap), out)


def topk_sum_prox(z: ArrayLike, k: int, scale: float, *, out: Any = None) -> FloatArray:
    r"""Apply the proximal map of the sum of the k largest elements on the simplex.

    .. math::

        \operatorname*{argmin}_p \ \tfrac12 \|p - z\|^2 + scale \sum_{i \le k} p_{[i]}
        \quad \text{s.t.} \quad p \ge 0, \ \langle 1, p \rangle = 1,

    where :math:`p_{[i]}` is the i-th largest element. Cost: :math:`O(m + s \log s)`, where
    `s` elements lie within ``scale + 1`` of the largest.

    Parameters
    ----------
    z : array_like, shape (m,) or (n, m)
        One vector, or one a row.
    k : int
        Between 1 and `m`.
    scale : float
        The weight >= 0 of the sum.
    out : ndarray, optional
        Where to write the result; may be `z`.

    Returns
    -------
    ndarray, shape of `z`

    Examples
    --------
    >>> from shortlist import prox
    >>> prox.topk_sum_prox([1.0, 0.5, 0.25], k=1, scale=0.5)
    array([0.41666667, 0.41666667, 0.16666667])
    """
    batch = Batch(z, "z")
    k = as_k(k, batch.m, "z")
    return batch.apply(maps.TopKSum(k, as_nonnegative(scale, "scale")), out)
