r"""Data whose truth is known: the paper's circle, Gaussian mixtures, and label sets.

A distribution has ``sample(n, random_state)``, the true ``posterior(X)`` and ``bayes_error(k)``,
the least top-k error that any classifier can have:

.. math::

    1 - \mathbb{E} \, \max_{|S| = k} \sum_{y \in S} p(y \mid x).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.sparse
import scipy.special
from numpy.typing import ArrayLike, NDArray

from shortlist._arrays import as_integer, as_k, as_nonnegative
from shortlist.datasets.dataset import Dataset

Seed = int | np.random.Generator | None


class Circle:
    """The synthetic data of the paper's section 6.1: three classes on the unit circle.

    A circle is cut into five segments of lengths 1, 1, 1, 3 and 1. Each is as likely as the
    others, a point is uniform in its segment, and the segment decides how likely the classes
    are. (The paper leaves open how likely the segments are. Were points uniform on the circle, no
    linear classifier could reach more than 64.3% top-1 accuracy, and the paper reports 65.7%.)

    Examples
    --------
    >>> from shortlist.datasets import Circle
    >>> round(Circle().bayes_error(k=2), 12)
    0.02
    """

    #: Where segments begin and end, in turns.
    edges = np.array([0.0, 1.0, 2.0, 3.0, 6.0, 7.0]) / 7.0
    #: The probability of each class (rows) in each segment.
    probabilities = np.array(
        [[0.0, 1.0, 0.4, 0.3, 0.0], [1.0, 0.0, 0.1, 0.7, 0.0], [0.0, 0.0, 0.5, 0.0, 1.0]]
    )

    def sample(self, n: int, random_state: Seed = None) -> Dataset:
        """Return `n` points and their classes.

        Parameters
        ----------
        n : int
            The number of points; the paper has 200 for training.
        random_state : int, Generator or None
            The seed.

        Returns
        -------
        Dataset
        """
        n = as_integer(n, "n", 0)
        rng = np.random.default_rng(random_state)
        segments = rng.integers(5, size=n)
        turns = self.edges[segments] + rng.random(n) * np.diff(self.edges)[segments]
        X = np.column_stack([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)])
        y = _draw(self.probabilities.T[segments], rng)
        return Dataset(X, y, ("1", "2", "3"), ("x", "y"), "circle")

    def posterior(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class at points of the plane, by their direction."""
        X = np.asarray(X, np.float64)
        turns = np.arctan2(X[:, 1], X[:, 0]) / (2 * np.pi) % 1.0
        segments = np.searchsorted(self.edges, turns, side="right") - 1
        return self.probabilities.T[np.clip(segments, 0, 4)]

    def bayes_error(self, k: int = 1) -> float:
        """Return the least top-k error, exactly."""
        k = as_k(k, 3, "the list of classes")
        return 1.0 - float(np.sort(self.probabilities, axis=0)[-k:].sum(axis=0).mean())


def _draw(probabilities: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int64]:
    """Return a class for each row of probabilities."""
    below = np.cumsum(probabilities, axis=1)
    below[:, -1] = 1.0
    return (rng.random(len(below))[:, None] >= below).sum(axis=1)


class Estimate(NamedTuple):
    """A number from a simulation.

    Examples
    --------
    >>> from shortlist.datasets import Estimate
    >>> Estimate(value=0.25, standard_error=0.01).value
    0.25
    """

    value: float
    standard_error: float


class GaussianMixture:
    r"""Classes that are Gaussian, with any means, covariances and probabilities.

    Parameters
    ----------
    means : array_like, shape (m, d)
        The centre of each class.
    covariances : array_like, shape (d, d) or (m, d, d), or float
        Of all classes, or of each; a number stands for that times the identity.
    priors : array_like, shape (m,), optional
        The probability of each class; by default all the same.

    Examples
    --------
    >>> from shortlist.datasets import GaussianMixture
    >>> mixture = GaussianMixture([[-1.0], [1.0]])
    >>> mixture.posterior([[0.0]])
    array([[0.5, 0.5]])
    """

    def __init__(
        self, means: ArrayLike, covariances: ArrayLike = 1.0, priors: ArrayLike | None = None
    ) -> None:
        self.means = np.asarray(means, np.float64)
        if self.means.ndim != 2 or 0 in self.means.shape or not np.isfinite(self.means).all():
            raise ValueError("means must be a finite matrix with the centre of a class a row.")
        m, d = self.means.shape
        covariances = np.asarray(covariances, np.float64)
        if covariances.ndim == 0:
            covariances = covariances * np.eye(d)
        try:
            self.covariances = np.broadcast_to(covariances, (m, d, d))
            self._roots = np.linalg.cholesky(self.covariances)
        except (ValueError, np.linalg.LinAlgError):
            raise ValueError(
                f"covariances must be positive definite, of shape ({d}, {d}) or ({m}, {d}, {d})."
            ) from None
        self.priors = np.full(m, 1.0 / m) if priors is None else np.asarray(priors, np.float64)
        if (
            self.priors.shape != (m,)
            or (self.priors < 0).any()
            or abs(self.priors.sum() - 1) > 1e-9
        ):
            raise ValueError(f"priors must be {m} numbers >= 0 whose sum is 1.")

    def sample(self, n: int, random_state: Seed = None) -> Dataset:
        """Return `n` examples.

        Parameters
        ----------
        n : int
            The number of examples.
        random_state : int, Generator or None
            The seed.

        Returns
        -------
        Dataset
        """
        n = as_integer(n, "n", 0)
        rng = np.random.default_rng(random_state)
        m, d = self.means.shape
        y = rng.choice(m, size=n, p=self.priors)
        noise = rng.normal(size=(n, d))
        X = self.means[y] + np.einsum("nij,nj->ni", self._roots[y], noise)
        return Dataset(X, y, tuple(map(str, range(m))), None, "Gaussian mixture")

    def posterior(self, X: ArrayLike) -> NDArray[np.float64]:
        """Return the probability of each class for each example."""
        X = np.asarray(X, np.float64)
        with np.errstate(divide="ignore"):
            scores = np.tile(np.log(self.priors), (len(X), 1))
        for j, (mean, root) in enumerate(zip(self.means, self._roots, strict=True)):
            whitened = np.linalg.solve(root, (X - mean).T)
            scores[:, j] -= 0.5 * (whitened**2).sum(axis=0) + np.log(np.diag(root)).sum()
        return scipy.special.softmax(scores, axis=1)

    def bayes_error(self, k: int = 1, n: int = 200_000, random_state: Seed = 0) -> Estimate:
        """Return the least top-k error, as the mean over a sample of what no list can catch.

        Parameters
        ----------
        k : int
            The length of the list.
        n : int
            The size of the sample.
        random_state : int, Generator or None
            The seed.

        Returns
        -------
        Estimate
            The error, and its standard error.
        """
        k = as_k(k, len(self.means), "the list of classes")
        P = np.sort(self.posterior(self.sample(as_integer(n, "n", 2), random_state).X), axis=1)
        missed = P[:, : P.shape[1] - k].sum(axis=1)
        return Estimate(float(missed.mean()), float(missed.std(ddof=1) / np.sqrt(n)))


class OrthogonalGaussians(GaussianMixture):
    r"""Classes around orthogonal centres, as many as you like, with a Bayes error in closed form.

    The centre of class `y` is ``separation`` along an axis of its own, the noise is standard
    normal, and all classes are equally likely. The best list has the classes whose coordinates
    are largest, so that the least top-k error is the integral

    .. math::

        1 - \int \varphi(t - s) \, P(B_t < k) \, dt,
        \qquad B_t \sim \operatorname{Binomial}(m - 1, 1 - \Phi(t)).

    Parameters
    ----------
    m : int
        The number of classes, and of features at least.
    separation : float
        The distance `s` of the centres from the origin.
    d : int, optional
        The number of features; those beyond `m` are noise.

    Examples
    --------
    >>> from shortlist.datasets import OrthogonalGaussians
    >>> [round(OrthogonalGaussians(10, 3.0).bayes_error(k), 4) for k in (1, 3)]
    [0.0975, 0.0131]
    """

    def __init__(self, m: int, separation: float, d: int | None = None) -> None:
        m = as_integer(m, "m", 2)
        d = m if d is None else as_integer(d, "d", m)
        self.separation = as_nonnegative(separation, "separation")
        super().__init__(self.separation * np.eye(m, d))

    def bayes_error(self, k: int = 1) -> float:  # type: ignore[override]
        """Return the least top-k error, to the accuracy of quadrature.

        Parameters
        ----------
        k : int
            The length of the list.

        Returns
        -------
        float
        """
        from scipy.integrate import quad

        m = len(self.means)
        k = as_k(k, m, "the list of classes")

        def caught(t: float) -> float:
            fewer = scipy.special.bdtr(k - 1, m - 1, scipy.special.ndtr(-t))  # binomial
            return float(fewer * np.exp(-0.5 * (t - self.separation) ** 2) / np.sqrt(2 * np.pi))

        s = self.separation
        inside, _ = quad(caught, s - 10, s + 10, epsabs=1e-12, limit=200)
        return 1.0 - inside


def multilabel(
    n: int,
    d: int,
    m: int,
    cardinality: float,
    noise: float = 0.5,
    random_state: Seed = None,
) -> Dataset:
    r"""Return label sets of a linear model, with a chosen mean number of labels.

    Examples are standard normal, the model's scores are :math:`\langle w_y, x \rangle + b_y +`
    ``noise`` times a standard normal number, with weights of unit length and normal :math:`b_y`,
    and those ``n * cardinality`` labels hold whose scores are largest in the whole set. Sets may be
    empty.

    Parameters
    ----------
    n, d, m : int
        The numbers of examples, features and classes.
    cardinality : float
        The mean number of labels of an example, between 0 and `m`; exact up to rounding to a
        whole number of labels.
    noise : float
        How far labels are from the model's.
    random_state : int, Generator or None
        The seed.

    Returns
    -------
    Dataset

    Examples
    --------
    >>> from shortlist import datasets
    >>> datasets.multilabel(100, 5, 20, cardinality=2.5, random_state=0).cardinality
    2.5
    """
    n, d, m = as_integer(n, "n", 1), as_integer(d, "d", 1), as_integer(m, "m", 1)
    if as_nonnegative(cardinality, "cardinality") > m:
        raise ValueError(f"cardinality is {cardinality}; there are {m} classes.")
    rng = np.random.default_rng(random_state)
    X, W = rng.normal(size=(n, d)), rng.normal(size=(d, m))
    W /= np.linalg.norm(W, axis=0)
    scores = X @ W + rng.normal(size=m)
    scores += as_nonnegative(noise, "noise") * rng.normal(size=(n, m))
    chosen = np.argsort(scores, axis=None)[n * m - round(n * cardinality) :]
    Y = np.zeros(n * m, bool)
    Y[chosen] = True
    names = tuple(map(str, range(m)))
    return Dataset(X, scipy.sparse.csr_array(Y.reshape(n, m)), names, None, "multilabel")
