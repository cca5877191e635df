r"""Losses of top-k and multilabel classification, as immutable values.

A loss is made by name, ``losses.make("topk_svm_alpha", k=5, smoothing=1.0)``, or by its
constructor, ``losses.topk_svm_alpha(k=5, smoothing=1.0)``. Functions of a matrix of
scores, one example a row:

===============  ===================================================================
function         what it gives
===============  ===================================================================
`value`          the loss of every example
`gradient`       its gradient with respect to the scores (a subgradient at a kink)
`conjugate`      the convex conjugate at given dual variables
`step`           the proximal step that stochastic dual coordinate ascent is made of
`hessian_times`  the Hessian, or the derivative of `step`, times a direction
===============  ===================================================================

Labels are integers (one an example), indicator matrices (dense or sparse) or lists of
lists. `smoothing` adds a quadratic to the conjugate and rounds the kinks of a hinge.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from shortlist._arrays import FloatArray, as_nonnegative, as_rows, not_finite
from shortlist._jit import kernel_for
from shortlist.losses import batch
from shortlist.losses.labels import Labels, as_labels
from shortlist.losses.operations import traits
from shortlist.losses.registry import (
    Loss,
    entry,
    make,
    make_from,
    multilabel_softmax,
    multilabel_svm,
    names,
    ova_logistic,
    ova_svm,
    register,
    softmax,
    svm,
    topk_entropy,
    topk_entropy_beta,
    topk_svm_alpha,
    topk_svm_beta,
    topk_svm_consistent,
    truncated_topk_entropy,
)

__all__ = [
    "conjugate",
    "entry",
    "gradient",
    "hessian_times",
    "make",
    "make_from",
    "multilabel_softmax",
    "multilabel_svm",
    "names",
    "ova_logistic",
    "ova_svm",
    "register",
    "softmax",
    "step",
    "svm",
    "topk_entropy",
    "topk_entropy_beta",
    "topk_svm_alpha",
    "topk_svm_beta",
    "topk_svm_consistent",
    "truncated_topk_entropy",
    "value",
]


def value(loss: Loss, scores: ArrayLike, labels: Any) -> FloatArray:
    r"""Return the loss of every example.

    Parameters
    ----------
    loss : loss or str
        A loss, or the name of one that needs no parameter.
    scores : array_like, shape (n, m)
        The scores :math:`u`, one example a row.
    labels : array_like, sparse matrix or sequence
        The true labels.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.topk_svm_alpha(k=2), [[1.0, 3.0, 0.0, 0.0]], [0])
    array([1.5])
    """
    loss, u, known = _problem(loss, scores, labels, "scores")
    out = np.empty(known.n)
    kernel_for(loss, batch.value_rows)(loss, u, known.offsets, known.indices, out)
    return out


def gradient(loss: Loss, scores: ArrayLike, labels: Any) -> FloatArray:
    r"""Return the gradient of every example's loss with respect to its scores.

    Where the loss is not smooth it is one subgradient.

    Parameters
    ----------
    loss : loss or str
        A loss, or the name of one that needs no parameter.
    scores : array_like, shape (n, m)
        The scores :math:`u`, one example a row.
    labels : array_like, sparse matrix or sequence
        The true labels.

    Returns
    -------
    ndarray, shape (n, m)

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.gradient(losses.topk_svm_alpha(k=2), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([[-1. ,  0.5,  0.5,  0. ]])
    """
    return step(loss, scores, labels, 0.0)


def conjugate(loss: Loss, duals: ArrayLike, labels: Any) -> FloatArray:
    r"""Return the convex conjugate :math:`L^*(v)` of every example's loss.

    Parameters
    ----------
    loss : loss or str
        A convex loss, or the name of one that needs no parameter.
    duals : array_like, shape (n, m)
        Points :math:`v` of its domain, one example a row; this is not checked.
    labels : array_like, sparse matrix or sequence
        The true labels.

    Returns
    -------
    ndarray of float64, shape (n,)

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.conjugate(losses.svm(smoothing=1.0), [[-0.5, 0.5, 0.0]], [0])
    array([-0.375])
    """
    loss, v, known = _problem(loss, duals, labels, "duals")
    out = np.empty(known.n)
    kernel_for(loss, batch.conjugate_rows)(loss, v, known.offsets, known.indices, out)
    return out


def step(loss: Loss, q: ArrayLike, labels: Any, a: ArrayLike) -> FloatArray:
    r"""Return the proximal step of every example.

    .. math::  \operatorname*{argmin}_v \ L^*(v) + \tfrac{a}{2} \|v\|^2 - \langle q, v \rangle

    Parameters
    ----------
    loss : loss or str
        A loss, or the name of one that needs no parameter.
    q : array_like, shape (n, m)
        One example a row.
    labels : array_like, sparse matrix or sequence
        The true labels.
    a : float or array_like, shape (n,)
        The curvature :math:`a \ge 0`, one for all or one for each example.

    Returns
    -------
    ndarray, shape (n, m)

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.step(losses.svm(), [[0.0, 0.0, 0.0]], [0], a=1.0).round(3)
    array([[-0.667,  0.333,  0.333]])
    """
    loss, rows, known = _problem(loss, q, labels, "q")
    curvature = np.ascontiguousarray(np.broadcast_to(np.asarray(a, dtype=float), (known.n,)))
    if not (np.isfinite(curvature) & (curvature >= 0.0)).all():
        raise ValueError("a must be finite and not negative.")
    if curvature.any() and not traits(loss).convex:
        raise ValueError(f"{type(loss).__name__} is not convex: it has a step at a = 0 only.")
    out = np.empty_like(rows)
    step_rows = kernel_for(loss, batch.step_rows)
    step_rows(loss, rows, known.offsets, known.indices, curvature, out)
    return out


def hessian_times(
    loss: Loss, scores: ArrayLike, labels: Any, directions: ArrayLike, a: float = 0.0
) -> FloatArray:
    r"""Return the Hessian of every example's loss, times a direction.

    More generally the derivative of `step` by `q`, for :math:`a > 0` or a smooth loss; at a
    point where there are several, one of them.

    Parameters
    ----------
    loss : loss or str
        A loss, or the name of one that needs no parameter.
    scores : array_like, shape (n, m)
        The scores :math:`u`, or `q`, one example a row.
    labels : array_like, sparse matrix or sequence
        The true labels.
    directions : array_like, shape (n, m)
        One direction a row.
    a : float
        The curvature :math:`a \ge 0`; positive for a loss with kinks, 0 for one that is not convex.

    Returns
    -------
    ndarray, shape (n, m)

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.hessian_times("softmax", [[0.0, 0.0]], [0], [[1.0, 0.0]])
    array([[ 0.25, -0.25]])
    """
    loss, rows, known = _problem(loss, scores, labels, "scores")
    a = as_nonnegative(a, "a")
    known_traits = traits(loss)
    if not known_traits.convex and a > 0.0:
        raise ValueError(f"{type(loss).__name__} is not convex: pass a = 0, for its Hessian.")
    if known_traits.convex and a == 0.0 and known_traits.smoothing == 0.0:
        raise ValueError(f"{loss} has kinks: pass a > 0, or smooth it.")
    along = as_rows(directions, "directions").astype(rows.dtype, copy=False)
    if along.shape != rows.shape:
        raise ValueError(f"directions have shape {along.shape}; the scores have {rows.shape}.")
    out, v = np.empty_like(rows), step(loss, rows, labels, a)
    where = known.offsets, known.indices, a
    kernel_for(loss, batch.derivative_times_rows)(loss, v, *where, along, out)
    return out


def _problem(
    loss: Loss, rows: ArrayLike, labels: Any, name: str
) -> tuple[Loss, FloatArray, Labels]:
    """Return a loss, its rows and labels that fit each other, or say why they do not."""
    loss = make(loss) if isinstance(loss, str) else loss
    matrix = as_rows(rows, name)
    if np.ndim(rows) != 2:
        raise ValueError(f"{name} is one vector; pass a matrix with one example a row.")
    bad = np.flatnonzero(~np.isfinite(matrix).all(axis=1))
    if bad.size:
        raise not_finite(matrix[bad[0]], name, (int(bad[0]),))
    n, m = matrix.shape
    return loss, matrix, check_labels(loss, labels, n, m)


def check_labels(loss: Loss, labels: Any, n: int, m: int | None) -> Labels:
    """Return the labels of `n` examples that `loss` can use, or say why it cannot.

    Without `m`, the number of classes is what the labels show.
    """
    known = as_labels(labels, m)
    if known.m < traits(loss).smallest_m:
        needed = traits(loss).smallest_m
        raise ValueError(f"{loss} needs at least {needed} classes; there are {known.m}.")
    if known.n != n:
        raise ValueError(f"there are {n} examples, and labels for {known.n}.")
    if not traits(loss).multilabel and (np.diff(known.offsets) != 1).any():
        at = int(np.flatnonzero(np.diff(known.offsets) != 1)[0])
        count = int(np.diff(known.offsets)[at])
        raise ValueError(
            f"example {at} has {count} labels; {type(loss).__name__} is a loss of exactly one: "
            "use a multilabel loss."
        )
    return known
