r"""The axes of the features: the eigenvectors of :math:`\sum_i c_i x_i x_i'`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist.rows.products import slices
from shortlist.solvers.problem import Problem

#: The most features, and numbers of a dense matrix of the examples, of which two are kept.
_MOST_FEATURES, _MOST_NUMBERS = 4096, 1 << 26
#: Numbers of a chunk of rows that are made dense at once.
_CHUNK = 1 << 20


class Axes(NamedTuple):
    """The axes, and the examples along them."""

    lengths: NDArray[np.float64]  # the eigenvalues, where weights add up to `weight`
    directions: FloatArray  # (d, d), one a column
    examples: FloatArray  # (n, d)
    weight: float

    def lengths_for(self, problem: Problem) -> NDArray[np.float64]:
        """Return the eigenvalues of a problem whose weights are a multiple of those before."""
        if self.weight == 0.0:  # and so are they
            return self.lengths
        return self.lengths * (float(problem.c.sum()) / self.weight)


def are_cheap(problem: Problem) -> bool:
    """Return whether there is memory and time for these matrices."""
    return problem.d <= _MOST_FEATURES and problem.n * problem.d <= _MOST_NUMBERS


def cost(problem: Problem) -> float:
    """Return the multiplications that finding the axes takes, and turning the examples."""
    return 2.0 * problem.n * problem.d**2 + 9.0 * problem.d**3


def find(problem: Problem) -> Axes:
    """Return the axes of a problem with a linear storage."""
    chunks = list(slices(0, problem.n, max(16, _CHUNK // problem.d)))
    moments = np.zeros((problem.d, problem.d))
    for some in chunks:
        X = problem.dense(some).astype(np.float64, copy=False)
        X *= np.sqrt(problem.c[some])[:, None]
        moments += X.T @ X
    lengths, directions = scipy.linalg.eigh(moments, overwrite_a=True, check_finite=False)
    directions = directions.astype(problem.dtype)
    examples = np.empty((problem.n, problem.d), problem.dtype)
    for some in chunks:
        np.matmul(problem.dense(some), directions, out=examples[some])
    return Axes(np.maximum(lengths, 0.0), directions, examples, float(problem.c.sum()))
