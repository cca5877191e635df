"""Losses by name. A new loss is tested, documented and usable everywhere by being registered."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any, NamedTuple

from shortlist._arrays import as_choice, as_nonnegative
from shortlist.losses.consistent import ConsistentTopKSvm
from shortlist.losses.entropy import TopKEntropy, TopKEntropyBeta
from shortlist.losses.hinge import TopKSvmAlpha, TopKSvmBeta
from shortlist.losses.multilabel import MultilabelSoftmax, MultilabelSvm
from shortlist.losses.ova import OvaLogistic, OvaSvm
from shortlist.losses.truncated import TruncatedTopKEntropy

#: A NamedTuple with implementations of all `operations`.
Loss = Any


class Entry(NamedTuple):
    """What is known of a loss by its name."""

    name: str
    make: Callable[..., Loss]

    @property
    def parameters(self) -> tuple[str, ...]:
        """The names of the parameters that `make` takes."""
        return tuple(inspect.signature(self.make).parameters)


_ENTRIES: dict[str, Entry] = {}


def register(name: str) -> Callable[[Callable[..., Loss]], Callable[..., Loss]]:
    """Return a decorator that makes a constructor of losses known as `name`.

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.register("svm")(losses.svm)
    Traceback (most recent call last):
    ValueError: a loss named 'svm' is registered already.
    """

    def add(make: Callable[..., Loss]) -> Callable[..., Loss]:
        if name in _ENTRIES:
            raise ValueError(f"a loss named {name!r} is registered already.")
        _ENTRIES[name] = Entry(name, make)
        return make

    return add


def names() -> list[str]:
    """Return the names of all losses.

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.names()[:4]
    ['ova_svm', 'ova_logistic', 'svm', 'softmax']
    """
    return list(_ENTRIES)


def entry(name: str) -> Entry:
    """Return what is known of the loss called `name`.

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.entry("topk_svm_alpha").parameters
    ('k', 'smoothing')
    """
    return _ENTRIES[as_choice(name, _ENTRIES, "loss")]


def make(name: str, **parameters: Any) -> Loss:
    """Return the loss called `name` with the given parameters.

    Parameters
    ----------
    name : str
        One of `names`.
    **parameters
        Those of the constructor of the same name.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.make("topk_svm_alpha", k=5, smoothing=1)
    TopKSvmAlpha(k=5, smoothing=1.0)
    """
    known = entry(name)
    for parameter in parameters:
        if parameter not in known.parameters:
            takes = " and ".join(known.parameters) or "no parameter"
            raise ValueError(f"{name} has no parameter {parameter!r}; it takes {takes}.")
    return known.make(**parameters)


def make_from(name: str, **offered: Any) -> Loss:
    """Return the loss called `name` with those of the offered parameters that it takes.

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.make_from("topk_entropy", k=3, smoothing=1.0)
    TopKEntropy(k=3)
    """
    takes = entry(name).parameters
    return make(name, **{key: value for key, value in offered.items() if key in takes})


def _as_k(k: Any) -> int:
    if isinstance(k, bool) or int(k) != k or k < 1:
        raise ValueError(f"k is {k!r}; it must be an integer of at least 1.")
    return int(k)


def _as_smoothing(smoothing: Any) -> float:
    return as_nonnegative(smoothing, "smoothing")


@register("ova_svm")
def ova_svm(smoothing: float = 0.0) -> OvaSvm:
    """One-vs-all hinge; binary relevance for label sets.

    Parameters
    ----------
    smoothing : float
        How much the kinks are rounded, as a quadratic in the conjugate; 0 leaves them.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.ova_svm(), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([6.5])
    """
    return OvaSvm(_as_smoothing(smoothing))


@register("ova_logistic")
def ova_logistic() -> OvaLogistic:
    """One-vs-all logistic loss; binary relevance for label sets.

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.ova_logistic(), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([5.0290732])
    """
    return OvaLogistic()


@register("svm")
def svm(smoothing: float = 0.0) -> TopKSvmAlpha:
    """Multiclass hinge of Crammer and Singer: the top-k hinge with k = 1.

    Parameters
    ----------
    smoothing : float
        How much the kinks are rounded, as a quadratic in the conjugate; 0 leaves them.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.svm(), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([3.])
    """
    return TopKSvmAlpha(1, _as_smoothing(smoothing))


@register("softmax")
def softmax() -> MultilabelSoftmax:
    """Softmax (multinomial logistic) loss: the multilabel softmax of one label.

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.softmax(), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([2.23681554])
    """
    return MultilabelSoftmax(True)


@register("topk_svm_alpha")
def topk_svm_alpha(k: int, smoothing: float = 0.0) -> TopKSvmAlpha:
    """Top-k hinge alpha.

    Parameters
    ----------
    k : int
        The length of the list, at least 1 and less than the number of classes.
    smoothing : float
        How much the kinks are rounded, as a quadratic in the conjugate; 0 leaves them.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.topk_svm_alpha(k=2), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([1.75])
    """
    return TopKSvmAlpha(_as_k(k), _as_smoothing(smoothing))


@register("topk_svm_beta")
def topk_svm_beta(k: int, smoothing: float = 0.0) -> TopKSvmBeta:
    """Top-k hinge beta.

    Parameters
    ----------
    k : int
        The length of the list, at least 1 and less than the number of classes.
    smoothing : float
        How much the kinks are rounded, as a quadratic in the conjugate; 0 leaves them.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.topk_svm_beta(k=2), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([1.75])
    """
    return TopKSvmBeta(_as_k(k), _as_smoothing(smoothing))


@register("topk_entropy")
def topk_entropy(k: int) -> TopKEntropy:
    """Top-k entropy.

    Parameters
    ----------
    k : int
        The length of the list, at least 1 and less than the number of classes.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.topk_entropy(k=2), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([1.85105808])
    """
    return TopKEntropy(_as_k(k))


@register("topk_entropy_beta")
def topk_entropy_beta(k: int) -> TopKEntropyBeta:
    """Top-k entropy on the top-k simplex beta.

    Parameters
    ----------
    k : int
        The length of the list, at least 1 and less than the number of classes.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.topk_entropy_beta(k=2), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([2.03328202])
    """
    return TopKEntropyBeta(_as_k(k))


@register("topk_svm_consistent")
def topk_svm_consistent(k: int, smoothing: float = 0.0) -> ConsistentTopKSvm:
    """Top-k hinge that is top-k calibrated.

    Parameters
    ----------
    k : int
        The length of the list, at least 1 and less than the number of classes.
    smoothing : float
        How much the kinks are rounded, as a quadratic in the conjugate; 0 leaves them.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.topk_svm_consistent(k=2), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([2.])
    """
    return ConsistentTopKSvm(_as_k(k), _as_smoothing(smoothing))


@register("multilabel_svm")
def multilabel_svm(smoothing: float = 0.0) -> MultilabelSvm:
    """Multilabel hinge: the worst label against the best other class.

    Parameters
    ----------
    smoothing : float
        How much the kinks are rounded, as a quadratic in the conjugate; 0 leaves them.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.multilabel_svm(), [[1.0, 3.0, 0.5, 0.0]], [[0, 2]])
    array([3.5])
    """
    return MultilabelSvm(_as_smoothing(smoothing))


@register("multilabel_softmax")
def multilabel_softmax(normalize: bool = True) -> MultilabelSoftmax:
    r"""Multilabel softmax, with the factor :math:`1/|Y|` if `normalize`.

    Parameters
    ----------
    normalize : bool
        Whether every example counts once, or as often as it has labels.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.multilabel_softmax(), [[1.0, 3.0, 0.5, 0.0]], [[0, 2]])
    array([2.48681554])
    """
    return MultilabelSoftmax(bool(normalize))


@register("truncated_topk_entropy")
def truncated_topk_entropy(k: int) -> TruncatedTopKEntropy:
    """Truncated top-k entropy: not convex.

    Parameters
    ----------
    k : int
        The length of the list, at least 1 and less than the number of classes.

    Returns
    -------
    loss : NamedTuple

    Examples
    --------
    >>> from shortlist import losses
    >>> losses.value(losses.truncated_topk_entropy(k=2), [[1.0, 3.0, 0.5, 0.0]], [0])
    array([0.68026967])
    """
    return TruncatedTopKEntropy(_as_k(k))
