r"""The curvature of all examples, :math:`I + \sum_i c_i\, x_i x_i' \otimes J_i`, and its products.

:math:`J_i = diag(h_i) + t_{i0}\, p_{i0} p_{i0}' + t_{i1}\, p_{i1} p_{i1}'` is the derivative of an
example's step. Where it is 0 the example does not matter: only the others, the *active* ones, are
looked at; also where all that is left out together is far less than the :math:`I` of the
regulariser, as for most examples of nearly separable data, whose probabilities are almost 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import DTypeLike, NDArray

from shortlist._arrays import FloatArray
from shortlist._jit import kernel, summing_kernel, uncounted
from shortlist.losses import batch
from shortlist.rows import operations
from shortlist.rows.operations import add_row, dot_row
from shortlist.rows.products import bounds
from shortlist.solvers.problem import Problem, accumulate
from shortlist.solvers.team import Team

#: With fewer than this share of classes that matter, products are computed class by class.
_FEW = 0.12
#: Curvature, relative to that of the regulariser, that may be left out in all, and the curvatures
#: of a class of an example up to which that is tried.
_NEGLIGIBLE, _TRIED = 1.0, np.array([1e-1, 1e-2, 1e-3, 1e-4])

Map = Callable[[FloatArray], FloatArray]


class Active(NamedTuple):
    """The problem of the examples whose steps have derivatives that matter, and these.

    `h`, `taus` and `diagonal` are multiplied with the weights of the examples.
    """

    problem: Problem
    h: FloatArray  # (n, m)
    p: FloatArray  # (n, 2, m)
    taus: NDArray[np.float64]  # (n, 2)
    diagonal: FloatArray  # of the derivatives, (n, m)
    matters: NDArray[np.bool_]  # the classes of an example whose curvature is not negligible

    def take(self, examples: NDArray[np.int64]) -> Active:
        """Return some of the examples."""
        problem, *arrays = self
        return Active(problem.take(examples), *(array[examples] for array in arrays))


def active_examples(
    problem: Problem,
    duals: FloatArray,
    a: float,
    team: Team,
    kind: DTypeLike,
    keep_all: bool = False,
) -> Active:
    """Return the examples that have curvature at `duals`, the steps with the curvature `a`.

    It is kept in the precision `kind`, with `keep_all` also where it is negligible.
    """
    n, m = duals.shape
    h, p, diagonal = np.empty((n, m), kind), np.empty((n, 2, m), kind), np.empty((n, m), kind)
    taus = np.empty((n, 2))

    def describe(some: slice, *labels: NDArray[np.int64]) -> NDArray[np.float64]:
        problem.run(
            batch.derivative_rows, duals[some], *labels, a, problem.c[some], h[some], p[some],
            taus[some], diagonal[some],
        )  # fmt: skip
        return np.array(
            [_sum_up_to(level, diagonal[some], problem.norms[some]) for level in _TRIED]
        )

    sums = np.sum(problem.in_chunks(describe, team), axis=0)
    if keep_all:
        return Active(problem, h, p, taus, diagonal, np.ones((n, m), bool))
    kept = np.append(_TRIED, _NEGLIGIBLE / diagonal.size)  # the last is always little enough
    most = kept[np.argmax(np.append(sums <= _NEGLIGIBLE, True))]
    matters = diagonal * problem.norms.astype(kind)[:, None] > most
    whole = Active(problem, h, p, taus, diagonal, matters)
    some = np.flatnonzero(matters.any(axis=1))
    return whole if some.size > 0.8 * n else whole.take(some)  # or not worth a copy


@summing_kernel
def _sum_up_to(level, diagonal, norms):
    """Return the sum of the curvatures up to a level."""
    total = 0.0
    for i in range(diagonal.shape[0]):
        for j in range(diagonal.shape[1]):
            curvature = np.float64(diagonal[i, j]) * norms[i]
            total += curvature if curvature <= level else 0.0
    return total


def products(active: Active, team: Team) -> Map:
    """Return what multiplies with the matrix."""
    few = np.count_nonzero(active.matters) < _FEW * active.matters.size
    return _class_by_class(active, team) if few else _of_all_classes(active, team)


def _of_all_classes(active: Active, team: Team) -> Map:
    problem = active.problem
    curved = np.empty((problem.n, problem.m), problem.dtype)

    def times(S: FloatArray) -> FloatArray:
        def curve(some: slice, *_: NDArray[np.int64]) -> None:
            scores = operations.scores(problem.rows, some.start, some.stop, S)
            _curve(active.h[some], active.p[some], active.taus[some], scores, curved[some])

        problem.in_chunks(curve, team)
        image = np.empty_like(S)
        accumulate(problem.rows, curved.__getitem__, image, team)
        image += S
        return image

    return times


@summing_kernel
def _curve(h, p, taus, scores, out):
    """Write the derivative of every example's step, times its scores, to `out`."""
    (n, m), kind = h.shape, out.dtype.type
    for i in range(n):
        along, other = 0.0, 0.0
        for j in range(m):
            along += p[i, 0, j] * scores[i, j]
        if taus[i, 1] != 0.0:
            for j in range(m):
                other += p[i, 1, j] * scores[i, j]
        first, second = kind(along * taus[i, 0]), kind(other * taus[i, 1])
        for j in range(m):
            out[i, j] = h[i, j] * scores[i, j] + first * p[i, 0, j]
        if second != 0.0:
            for j in range(m):
                out[i, j] += second * p[i, 1, j]


class Listed(NamedTuple):
    """The curvature that matters, an example's classes after another's."""

    offsets: NDArray[np.int64]  # where the classes of an example begin
    classes: NDArray[np.int64]
    h: FloatArray
    p: FloatArray  # (classes, 2)
    taus: NDArray[np.float64]  # (n, 2)


def listed(active: Active) -> Listed:
    """Return a list of the classes that matter."""
    examples, classes = np.nonzero(active.matters)
    offsets = np.zeros(active.problem.n + 1, np.int64)
    np.cumsum(active.matters.sum(axis=1), out=offsets[1:])
    h, p = active.h[examples, classes], active.p[examples, :, classes]
    return Listed(offsets, classes, h, p, active.taus)


def _class_by_class(active: Active, team: Team) -> Map:
    """Return what multiplies with the matrix where few classes of an example matter.

    Scores of the others are not computed.
    """
    problem, n, which = active.problem, active.problem.n, listed(active)

    def times(S: FloatArray) -> FloatArray:
        by_class = np.ascontiguousarray(S.T)

        def product(part: int) -> FloatArray:
            image = np.zeros_like(by_class)
            _add_products(problem.rows, *bounds(n, part, team.size), *which, by_class, image)
            return image

        total: FloatArray = S + np.sum(team.each(product, range(team.size)), axis=0).T
        return total

    return times


@kernel
def _add_products(rows, first, last, offsets, classes, h, p, taus, S, image):
    """Add the products of some examples to `image`; both have a row for each class."""
    scores = np.empty(S.shape[0])
    rows, S, image = uncounted((rows, S, image))
    for i in range(first, last):
        begin, end = offsets[i], offsets[i + 1]
        along, other = 0.0, 0.0
        for at in range(begin, end):
            score = dot_row(rows, i, S[classes[at]])
            scores[at - begin] = score
            along += p[at, 0] * score
            other += p[at, 1] * score
        along, other = along * taus[i, 0], other * taus[i, 1]
        for at in range(begin, end):
            curved = h[at] * scores[at - begin] + along * p[at, 0] + other * p[at, 1]
            add_row(rows, i, curved, image[classes[at]])
