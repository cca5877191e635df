"""What is trained: weights of features, with an intercept or without, or of a kernel's examples.

A model trains by `shortlist.solve` and says which attributes of an estimator given weights are.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np

from shortlist._arrays import FloatArray
from shortlist.estimators.free_intercept import solve_with_free_intercept
from shortlist.rows import KernelRows, as_storage, operations
from shortlist.rows.kernel import only_scoring
from shortlist.solvers import Solution, solve

Attributes = dict[str, Any]


class LinearModel(NamedTuple):
    """One weight for each feature; `intercept` is the constant column, 0 for none."""

    X: Any
    intercept: float

    def train(self, labels: Any, loss: Any, **options: Any) -> Solution:
        """Return the solution for these examples."""
        return solve(as_storage(self.X, self.intercept), labels, loss, **options)

    def attributes(self, weights: FloatArray) -> Attributes:
        """Return the coefficients, (m, d), and the intercepts."""
        d = self.X.shape[1]
        intercept = np.zeros(weights.shape[1], weights.dtype)
        if self.intercept:
            intercept = weights.dtype.type(self.intercept) * weights[d]
        return {"coef_": np.ascontiguousarray(weights[:d].T), "intercept_": intercept}


class FreeInterceptModel(LinearModel):
    """The same with an intercept that is not regularised."""

    def train(self, labels: Any, loss: Any, **options: Any) -> Solution:
        """Return the solution; its certificate says for which intercepts it holds."""
        return solve_with_free_intercept(self.X, labels, loss, scale=self.intercept, **options)

    @classmethod
    def of(cls, X: Any, total: float) -> FreeInterceptModel:
        """Choose the scale of the intercept; `total` is the sum of C times the weights.

        As long as an example: it does not make the problem harder. At least so that the losses
        outweigh what holds the intercept, and few rounds are enough.
        """
        norm = math.sqrt(float(operations.squared_norms(as_storage(X)).mean()))
        return cls(X, max(norm, 10.0 / math.sqrt(total)))


class KernelModel(NamedTuple):
    """One weight for each example."""

    rows: KernelRows

    def train(self, labels: Any, loss: Any, **options: Any) -> Solution:
        """Return the solution for these examples."""
        return solve(self.rows, labels, loss, **options)

    def attributes(self, weights: FloatArray) -> Attributes:
        """Return the coefficients of the examples that have any, and what scores new ones."""
        support = np.flatnonzero(weights.any(axis=1))
        intercept = weights.dtype.type(self.rows.intercept**2) * weights.sum(axis=0)
        return {
            "support_": support,
            "dual_coef_": weights[support],
            "intercept_": intercept,
            "_kernel": only_scoring(self.rows, support),
        }
