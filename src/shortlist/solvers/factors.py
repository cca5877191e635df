r"""The matrix of a system as if features and classes were independent.

It is :math:`I + A \otimes B / tr(B)`, where `A` adds up the :math:`x_i x_i'` with the traces of the
:math:`c_i J_i` as weights, and `B` these :math:`c_i J_i`: so much is exact where all examples have
the same curvature, as at zero weights, and features alone make the matrix ill-conditioned. Along
their axes both are diagonal. Where C alone changes `A` does in proportion, and `B / tr(B)` not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.rows.products import slices
from shortlist.solvers.curvature import Active, Map
from shortlist.solvers.problem import Problem

#: Numbers of a chunk of rows that are made dense at once.
_CHUNK = 1 << 21


class Factors(NamedTuple):
    """The axes of both factors, and the curvature along them."""

    of_features: FloatArray  # (d, d), an axis a column
    of_classes: FloatArray  # (m, m)
    curvatures: NDArray[np.float64]  # (d, m), where weights add up to `weight`
    weight: float

    def inverse(self, weight: float) -> Map:
        """Return what multiplies with the inverse where weights add up to another sum."""
        Q, U = self.of_features, self.of_classes
        grown = weight / max(self.weight, 1e-300)
        scale = (1.0 / (1.0 + grown * self.curvatures)).astype(Q.dtype)
        return lambda right: Q @ ((Q.T @ right @ U) * scale) @ U.T

    def root(self) -> Root:
        """Return a root of the inverse: new variables in which the matrix is the identity."""
        Q, U = self.of_features, self.of_classes
        scale = (1.0 / np.sqrt(1.0 + self.curvatures)).astype(Q.dtype)
        return Root(
            lambda variables: Q @ (variables.astype(Q.dtype, copy=False) * scale) @ U.T,
            lambda right: (Q.T @ right @ U) * scale,
            lambda right: (Q.T @ right @ U) / scale,
        )


class Root(NamedTuple):
    """A matrix `R`: what multiplies with it, with its transpose and with its inverse."""

    times: Map
    transposed: Map
    solve: Map


def _same(right: FloatArray) -> FloatArray:
    return right


#: The root that changes nothing.
IDENTITY = Root(_same, _same, _same)


def cost(problem: Problem) -> float:
    """Return the multiplications that finding the factors takes."""
    return problem.n * problem.d**2 + 9.0 * problem.d**3 + 9.0 * problem.m**3


def find(active: Active, weight: float) -> Factors:
    """Return the factors of a system of a problem whose weights add up to `weight`."""
    problem, kind = active.problem, active.problem.dtype
    of_features = np.zeros((problem.d, problem.d))
    traces = active.diagonal.sum(axis=1, dtype=np.float64)
    for some in slices(0, problem.n, max(16, _CHUNK // problem.d)):
        X = problem.dense(some).astype(np.float64, copy=False)
        X *= np.sqrt(traces[some])[:, None]
        of_features += X.T @ X
    of_classes = np.diag(active.h.sum(axis=0, dtype=np.float64))
    for r in range(2):
        if not active.taus[:, r].any():
            continue
        vectors = active.p[:, r]
        of_classes += (vectors * active.taus[:, r, None]).T @ vectors
    lengths, Q = scipy.linalg.eigh(of_features, overwrite_a=True, check_finite=False)
    widths, U = scipy.linalg.eigh(of_classes, overwrite_a=True, check_finite=False)
    widths = np.maximum(widths, 0.0) / max(float(traces.sum()), 1e-300)
    curvatures = np.outer(np.maximum(lengths, 0.0), widths)
    return Factors(Q.astype(kind), U.astype(kind), curvatures, weight)
