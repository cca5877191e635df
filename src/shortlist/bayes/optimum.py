r"""Scores of least conditional risk: what infinite data and a model without limits would learn.

.. math::  R(g) = \sum_y p_y L(y, g)

The closed forms are those of [LHS17, section 4], with their infinities, and one more, for the
consistent hinge: 1 on the k most probable classes and 0 elsewhere.
"""

from __future__ import annotations

import functools
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import entr, logit

from shortlist import losses
from shortlist._arrays import as_rows
from shortlist.bayes.error import as_distribution, bayes_topk_error
from shortlist.bayes.ordered import least_risk
from shortlist.losses.consistent import ConsistentTopKSvm
from shortlist.losses.entropy import TopKEntropy, TopKEntropyBeta
from shortlist.losses.hinge import TopKSvmAlpha, TopKSvmBeta
from shortlist.losses.multilabel import MultilabelSoftmax, MultilabelSvm
from shortlist.losses.operations import traits
from shortlist.losses.ova import OvaLogistic, OvaSvm
from shortlist.losses.registry import Loss
from shortlist.losses.truncated import TruncatedTopKEntropy

Vector = NDArray[np.float64]


class Optimum(NamedTuple):
    """Scores of least risk, and how well that is known.

    Examples
    --------
    >>> from shortlist import bayes
    >>> best = bayes.optimal_scores("softmax", [0.5, 0.3, 0.2])
    >>> best.method, round(best.risk, 4)
    ('closed form', 1.0297)
    """

    #: The scores, infinite where the risk only tends to its infimum.
    scores: Vector
    #: The risk at the scores.
    risk: float
    #: The least risk is not below ``risk - gap``; 0 for a closed form.
    gap: float
    #: "closed form", "linear program" or "newton".
    method: str


def as_loss(loss: Loss, m: int) -> Loss:
    """Return a loss for `m` classes, made if it was given by name."""
    loss = losses.make(loss) if isinstance(loss, str) else loss
    needed = max(traits(loss).smallest_m, 2)
    if m < needed:
        raise ValueError(f"{loss} needs at least {needed} classes; there are {m}.")
    return loss


def conditional_risk(loss: Loss, scores: ArrayLike, p: ArrayLike) -> float:
    r"""Return the expected loss :math:`\sum_y p_y L(y, g)` of finite scores.

    Parameters
    ----------
    loss : loss or str
        A loss, or the name of one that needs no parameter.
    scores : array_like, shape (m,)
        The scores :math:`g`.
    p : array_like, shape (m,)
        Probabilities of the classes.

    Returns
    -------
    float

    Examples
    --------
    >>> from shortlist import bayes
    >>> bayes.conditional_risk("svm", [0.0, 0.0, 0.0], [0.5, 0.25, 0.25])
    1.0
    """
    p, g = as_distribution(p), as_rows(scores, "scores")
    if g.shape != (1, p.size):
        raise ValueError(f"scores have shape {np.shape(scores)}; there are {p.size} probabilities.")
    occurring = np.flatnonzero(p)
    values = losses.value(as_loss(loss, p.size), np.tile(g, (occurring.size, 1)), occurring)
    return float(p[occurring] @ values)


def optimal_scores(loss: Loss, p: ArrayLike) -> Optimum:
    r"""Return scores of least conditional risk at the class probabilities `p`.

    By a closed form where there is one, else by a linear program (hinges) or by Newton's
    method. Scores of losses that see only differences are known up to a constant.

    Parameters
    ----------
    loss : loss or str
        A loss, or the name of one that needs no parameter.
    p : array_like, shape (m,)
        Probabilities of the classes.

    Returns
    -------
    Optimum
        Scores, risk, and a bound of how far the risk is above the least one.

    Examples
    --------
    >>> from shortlist import bayes, losses
    >>> bayes.optimal_scores("ova_svm", [0.75, 0.25, 0.0]).scores
    array([ 1., -1., -1.])
    >>> optimum = bayes.optimal_scores(losses.topk_svm_alpha(k=2), [0.5, 0.25, 0.25])
    >>> optimum.risk, optimum.gap < 1e-12, optimum.method
    (0.75, True, 'linear program')
    """
    p = as_distribution(p)
    loss = as_loss(loss, p.size)
    found = closed_form(loss, p)
    if found is None:
        order = np.argsort(-p, kind="stable")
        ordered = least_risk(loss, p[order])
        scores = np.empty(p.size)
        scores[order] = ordered.scores
        found = Optimum(scores, ordered.risk, ordered.gap, ordered.method)
    return found


@functools.singledispatch
def closed_form(loss: Loss, p: Vector) -> Optimum | None:
    """Return the optimum by a formula, where there is one."""
    return None


def _closed(scores: Any, risk: float) -> Optimum:
    return Optimum(np.asarray(scores, dtype=float), float(risk), 0.0, "closed form")


@closed_form.register
def _(loss: OvaSvm, p: Vector) -> Optimum:
    scores = np.where(p > 0.5, 1.0, -1.0) if loss.smoothing == 0.0 else _smooth(loss.smoothing, p)
    return _closed(scores, conditional_risk(loss, scores, p))


def _smooth(g: float, p: Vector) -> Vector:
    """Return the optimal margins of the smooth hinge: three ranges of p, or two if g <= 1."""
    with np.errstate(divide="ignore"):
        high, low = 1.0 - g * (1.0 - p) / p, -1.0 + g * p / (1.0 - p)
    upper = max(g, 1.0) / 2.0
    return np.select([p >= upper, p < 1.0 - upper], [high, low], 2.0 * p - 1.0)


@closed_form.register
def _(loss: OvaLogistic, p: Vector) -> Optimum:
    return _closed(logit(p), entr(p).sum() + entr(1.0 - p).sum())


@closed_form.register
def _(loss: MultilabelSoftmax, p: Vector) -> Optimum:
    return _softmax(p)


@closed_form.register(TopKEntropy)
@closed_form.register(TopKEntropyBeta)
def _(loss: TopKEntropy | TopKEntropyBeta, p: Vector) -> Optimum | None:
    return _softmax(p) if loss.k == 1 else None


def _softmax(p: Vector) -> Optimum:
    with np.errstate(divide="ignore"):
        return _closed(np.log(p), entr(p).sum())


@closed_form.register(TopKSvmAlpha)
@closed_form.register(TopKSvmBeta)
def _(loss: TopKSvmAlpha | TopKSvmBeta, p: Vector) -> Optimum | None:
    return _svm(p) if (loss.k, loss.smoothing) == (1, 0.0) else None


@closed_form.register
def _(loss: MultilabelSvm, p: Vector) -> Optimum | None:
    return _svm(p) if loss.smoothing == 0.0 else None


def _svm(p: Vector) -> Optimum:
    scores = np.zeros(p.size)
    if p.max() >= 0.5:
        scores[p.argmax()] = 1.0
    return _closed(scores, min(1.0, 2.0 * (1.0 - p.max())))


@closed_form.register
def _(loss: ConsistentTopKSvm, p: Vector) -> Optimum | None:
    if loss.smoothing > 0.0:
        return None
    scores = np.zeros(p.size)
    scores[np.argsort(-p, kind="stable")[: loss.k]] = 1.0
    return _closed(scores, bayes_topk_error(p, loss.k))


@closed_form.register
def _(loss: TruncatedTopKEntropy, p: Vector) -> Optimum:
    """The k - 1 most probable classes are certain; the others are a softmax."""
    order = np.argsort(-p, kind="stable")
    rest = order[loss.k - 1 :]
    with np.errstate(divide="ignore"):
        scores = np.log(p)
    scores[order[: loss.k - 1]] = np.inf
    return _closed(scores, entr(p[rest]).sum() - entr(p[rest].sum()))
