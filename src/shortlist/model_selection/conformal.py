r"""Shortlists that hold the true label with a promised probability.

Split conformal prediction measures by :math:`s(x, y)` how strange it is that x has the label
y. With :math:`\hat q` the :math:`\lceil (n + 1)(1 - \alpha) \rceil`-th smallest of the
strangeness of n held-out examples and their labels, the list

.. math::  \{ y : s(x, y) \le \hat q \}

of a new example drawn like them holds its label with probability at least
:math:`1 - \alpha`, whatever the model.
"""

from __future__ import annotations

import math
from typing import Any, Literal

import numpy as np
import scipy.special
from numpy.typing import NDArray
from sklearn.base import BaseEstimator, MetaEstimatorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from shortlist._arrays import FloatArray, as_choice, as_finite, as_integer, as_nonnegative
from shortlist.metrics.inputs import as_scores, read_labels
from shortlist.metrics.responses import class_scores

METHODS = ("rank", "lac", "aps", "raps")


class ConformalTopK(MetaEstimatorMixin, BaseEstimator):
    r"""The smallest shortlist that holds the label with probability :math:`1 - \alpha`.

    With p the probabilities of a model and :math:`r(y)` the number of classes above y, the
    strangeness of y is

    ========  ==========================================================================
    method    strangeness
    ========  ==========================================================================
    ``rank``  :math:`r(y) + 1`: all lists are equally long (but for ties)
    ``lac``   :math:`-p_y`: the shortest lists on average, long where it is hard [SLW19]_
    ``aps``   :math:`\sum_{j : p_j > p_y} p_j + u p_y`: coverage alike on easy and hard
              examples [RSC20]_
    ``raps``  the same :math:`+ \lambda (r(y) + 1 - k_{reg})_+`: no very long lists [ABMJ21]_
    ========  ==========================================================================

    where u is 1, or uniform in [0, 1] if `randomized`, which makes lists shorter.

    Parameters
    ----------
    estimator : classifier
        A fitted multiclass classifier; its probabilities are those of `predict_proba`, else the
        softmax of its `decision_function`. The promise holds for both. (Wrap it in scikit-learn's
        `FrozenEstimator` where this object is cloned, or the copy is not trained.)
    method : {"rank", "lac", "aps", "raps"}
        The strangeness.
    alpha : float
        The probability to miss the label, between 0 and 1.
    at_least_one : bool
        Whether the class with the highest score is on every list. Otherwise a list is empty
        where no class is as little strange as promised.
    randomized : bool
        Whether ``aps`` and ``raps`` draw u.
    penalty, k_reg : float, int
        :math:`\lambda` and :math:`k_{reg}` of ``raps``.
    random_state : int, RandomState or None
        The source of u.

    Attributes
    ----------
    quantile_ : float
        :math:`\hat q`; infinite if the examples are too few for the promise: lists are then full.
    classes_ : ndarray, shape (m,)
        Those of `estimator`.

    References
    ----------
    .. [SLW19] M. Sadinle, J. Lei, L. Wasserman, "Least ambiguous set-valued classifiers with
       bounded error levels", 2019.
    .. [RSC20] Y. Romano, M. Sesia, E. Candes, "Classification with valid and adaptive
       coverage", 2020.
    .. [ABMJ21] A. Angelopoulos, S. Bates, J. Malik, M. Jordan, "Uncertainty sets for image
       classifiers using conformal prediction", 2021.

    Examples
    --------
    >>> from sklearn.datasets import load_digits
    >>> from sklearn.linear_model import LogisticRegression
    >>> from shortlist.model_selection import ConformalTopK
    >>> X, y = load_digits(return_X_y=True)
    >>> model = LogisticRegression(C=1e-4, max_iter=1000).fit(X[:600], y[:600])
    >>> sets = ConformalTopK(model, "lac", alpha=0.05).fit(X[600:1200], y[600:1200])
    >>> lists = sets.predict_set(X[1200:])
    >>> bool(lists[range(597), y[1200:]].mean() > 0.9), bool(lists.sum(axis=1).mean() < 3)
    (True, True)
    """

    def __init__(
        self,
        estimator: Any,
        method: Literal["rank", "lac", "aps", "raps"] = "rank",
        alpha: float = 0.1,
        *,
        at_least_one: bool = True,
        randomized: bool = False,
        penalty: float = 0.01,
        k_reg: int = 5,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.method = method
        self.alpha = alpha
        self.at_least_one = at_least_one
        self.randomized = randomized
        self.penalty = penalty
        self.k_reg = k_reg
        self.random_state = random_state

    def fit(self, X: Any, y: Any) -> ConformalTopK:
        """Calibrate the lists; `estimator` is not trained.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            Examples that `estimator` was not trained on.
        y : array_like, shape (n,)
            Their labels.

        Returns
        -------
        self
        """
        as_choice(self.method, METHODS, "method")
        as_nonnegative(self.penalty, "penalty")
        as_integer(self.k_reg, "k_reg", least=0)
        alpha = as_finite(self.alpha, "alpha")
        if not 0.0 < alpha < 1.0:
            raise ValueError(f"alpha is {alpha}; it must be between 0 and 1.")
        if not hasattr(self.estimator, "classes_"):
            raise ValueError(f"{type(self.estimator).__name__} is not trained; call its fit first.")
        self.classes_ = np.asarray(self.estimator.classes_)
        random = check_random_state(self.random_state)
        self._seed = random.randint(2**31)  # lists are the same at each call
        strangeness = self._strangeness(self._values(X), random)
        n, m = strangeness.shape
        labels = read_labels(y, m, self.classes_)
        if labels.n != n or (np.diff(labels.offsets) != 1).any():
            raise ValueError(f"there are {n} examples; y must have one label for each.")
        beyond = math.floor((n + 1) * alpha + 1e-9)  # how many may be stranger; 0.1 is rounded
        own = np.sort(strangeness[np.arange(n), labels.indices])
        self.quantile_ = float(own[n - beyond]) if beyond > 0 else math.inf
        return self

    def predict_set(self, X: Any) -> NDArray[np.bool_]:
        """Return which classes are on the list of each example.

        Parameters
        ----------
        X : array_like or sparse matrix, shape (n, d)
            One example a row.

        Returns
        -------
        ndarray of bool, shape (n, m)
        """
        check_is_fitted(self, "quantile_")
        values = self._values(X)
        lists = self._strangeness(values, check_random_state(self._seed)) <= self.quantile_
        if self.at_least_one:
            lists |= values == values.max(axis=1, keepdims=True)
        return lists

    def _values(self, X: Any) -> FloatArray:
        """Return what the method sees of every example: probabilities, or scores to rank."""
        if self.method == "rank":
            return class_scores(self.estimator, X)
        if hasattr(self.estimator, "predict_proba"):
            return as_scores(self.estimator.predict_proba(X)).astype(np.float64)
        return scipy.special.softmax(class_scores(self.estimator, X).astype(np.float64), axis=1)

    def _strangeness(self, values: FloatArray, random: np.random.RandomState) -> FloatArray:
        """Return the strangeness of every class for every example."""
        if self.method == "lac":
            return -values
        order, above = _places(values)
        if self.method == "rank":
            return _unsorted(above + 1.0, order)
        p = np.take_along_axis(values, order, axis=1)
        mass_above = np.take_along_axis(np.cumsum(p, axis=1) - p, above, axis=1)
        u = random.random_sample((len(p), 1)) if self.randomized else 1.0
        strangeness = mass_above + u * p
        if self.method == "raps":
            strangeness += self.penalty * np.maximum(above + 1.0 - self.k_reg, 0.0)
        return _unsorted(strangeness, order)


def _places(values: FloatArray) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the order of each row from its largest, and how many are strictly above each place."""
    order = np.argsort(-values, axis=1)
    descending = np.take_along_axis(values, order, axis=1)
    tied = np.zeros(values.shape, dtype=bool)
    tied[:, 1:] = descending[:, 1:] == descending[:, :-1]
    first = np.where(tied, 0, np.arange(values.shape[1]))
    return order, np.maximum.accumulate(first, axis=1)


def _unsorted(values: NDArray[Any], order: NDArray[np.int64]) -> NDArray[Any]:
    """Return values that are in the order of `order` where they came from."""
    out = np.empty_like(values)
    np.put_along_axis(out, order, values, axis=1)
    return out
