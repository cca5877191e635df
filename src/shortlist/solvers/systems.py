r"""The linear systems of Newton's method: :math:`(I + \sum_i c_i\, x_i x_i' \otimes J_i) S = -G`.

:math:`J_i` is the derivative of an example's step. Where it is 0 the example does not matter:
only the others, the *active* ones, are looked at; also where all that is left out together is far
less than the :math:`I` of the regulariser, as for most examples of nearly separable data, whose
probabilities are almost 0 or 1. Few weights make a matrix that is factored
(`solve_directly`). Many are found by conjugate gradients (`solve_by_gradients`), preconditioned
by the blocks of the matrix that belong to one class each, or only by its diagonal where blocks
would cost too much. Where the loss is a sum over classes the blocks are the whole matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist._jit import kernel
from shortlist.losses import batch
from shortlist.losses.operations import traits
from shortlist.prox.maps import workspace
from shortlist.rows import Storage, operations
from shortlist.rows.operations import add_row, dot_row
from shortlist.rows.products import bounds, slices
from shortlist.solvers.problem import Problem, accumulate
from shortlist.solvers.team import Team

#: The most weights whose matrix is factored.
_MOST_DIRECTLY = 2500
#: Numbers of a chunk of examples times all weights.
_CHUNK = 1 << 21
#: The most iterations of conjugate gradients.
_MOST_ITERATIONS = 150
#: Blocks are worth so many iterations without them.
_WORTH_OF_BLOCKS = 40
#: The multiplications to build a matrix above which an earlier one serves in its place.
_DEAR = 2e7
#: Examples with fewer than this share of all classes active are added class by class.
_FEW = 0.35
#: With fewer than this share of classes that matter, products are computed class by class.
_FEW_IN_PRODUCTS = 0.12
#: Curvature, relative to that of the regulariser, that a block may leave out of each example.
_NEGLIGIBLE = 1e-3
#: The same for all that is left out together, and the curvatures up to which that is tried.
_NEGLIGIBLE_TOGETHER, _TRIED = 1.0, (1e-1, 1e-2, 1e-3, 1e-4)

Map = Callable[[FloatArray], FloatArray]


class Active(NamedTuple):
    """The problem of the examples whose steps have derivatives that matter."""

    problem: Problem
    duals: FloatArray
    a: float  # the curvature of the step
    diagonal: FloatArray  # of the derivatives, (n, m)
    matters: NDArray[np.bool_]  # the classes of an example whose curvature is not negligible


def active_examples(problem: Problem, duals: FloatArray, a: float, team: Team) -> Active:
    """Return the examples that have curvature at `duals`, the steps with the curvature `a`."""
    diagonal = np.empty_like(duals)

    def describe(some: slice, *labels: NDArray[np.int64]) -> None:
        problem.run(batch.derivative_diagonal_rows, duals[some], *labels, a, diagonal[some])

    problem.in_chunks(describe, team)
    curvatures = diagonal * (problem.c * problem.norms)[:, None]
    matters = curvatures > _largest_negligible(curvatures)
    some = np.flatnonzero(matters.any(axis=1))
    if some.size > 0.8 * problem.n:  # not worth a copy
        return Active(problem, duals, a, diagonal, matters)
    return Active(problem.take(some), duals[some], a, diagonal[some], matters[some])


def _largest_negligible(curvatures: FloatArray) -> float:
    """Return a curvature up to which all of them together change the system little."""
    for most in _TRIED:
        if curvatures.sum(where=curvatures <= most) <= _NEGLIGIBLE_TOGETHER:
            return most
    return _NEGLIGIBLE_TOGETHER / curvatures.size


def is_direct(problem: Problem) -> bool:
    """Return whether the matrix of a problem is to be factored."""
    return problem.d * problem.m <= _MOST_DIRECTLY and not traits(problem.loss).separable


def is_dear(problem: Problem) -> bool:
    """Return whether a matrix that is to be factored costs more than some products with it."""
    return is_direct(problem) and problem.n * (problem.d * problem.m) ** 2 > _DEAR


def are_exact(problem: Problem) -> bool:
    """Return whether systems are solved exactly, by the whole matrix or by exact blocks of it."""
    if traits(problem.loss).separable:
        return are_worth(cost_of_blocks(np.full(problem.m, problem.n), problem.d), problem)
    return is_direct(problem)


def solve_directly(active: Active, gradient: FloatArray, team: Team) -> FloatArray:
    """Return the direction by a Cholesky factor of the whole matrix, in float64."""
    return inverse(active, team)(-gradient)


def inverse(active: Active, team: Team) -> Map:
    """Return what multiplies with the inverse of the whole matrix."""
    d, m = active.problem.d, active.problem.m
    some = list(slices(0, active.problem.n, max(16, _CHUNK // (d * m))))

    def assemble(part: int) -> FloatArray:
        matrix = np.zeros((m, d, m, d))
        for chunk in some[slice(*bounds(len(some), part, team.size))]:
            _add_curvature(active, chunk, matrix)
        return matrix.reshape(m * d, m * d)

    parts = team.each(assemble, range(team.size))
    matrix = parts[0]
    for other in parts[1:]:
        matrix += other
    matrix[np.diag_indices(m * d)] += 1.0
    factor = _factor(matrix)

    def times(right: FloatArray) -> FloatArray:
        by_class = right.T.astype(np.float64).ravel()
        found = scipy.linalg.cho_solve(factor, by_class, check_finite=False)
        return found.reshape(m, d).T.astype(right.dtype)

    return times


def _add_curvature(active: Active, some: slice, matrix: FloatArray) -> None:
    """Add what a slice of the examples contributes to a matrix of shape (m, d, m, d)."""
    problem, (m, d) = active.problem, matrix.shape[:2]
    h, p, taus = _derivatives(active, some)
    X, c = problem.dense(some).astype(np.float64, copy=False), problem.c[some]
    if _add_few_classes(active.matters[some], h, p, taus, X, c, _FEW * m, matrix):
        return
    for j in range(m):
        weights = c * h[:, j]
        at = np.flatnonzero(weights)
        if at.size:
            matrix[j, :, j] += (X[at] * weights[at, None]).T @ X[at]
    flat = matrix.reshape(m * d, m * d)
    for r, sign in ((r, sign) for r in (0, 1) for sign in (1.0, -1.0)):
        at = np.flatnonzero(sign * taus[:, r] > 0.0)
        if at.size:
            vectors = p[at, r] * np.sqrt(c[at] * np.abs(taus[at, r]))[:, None]
            products = (vectors[:, :, None] * X[at, None, :]).reshape(at.size, m * d)
            if sign > 0.0:
                flat += products.T @ products
            else:
                flat -= products.T @ products


def _derivatives(active: Active, some: slice) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return the derivatives of a slice of the examples, as `operations.derivative` has them."""
    problem, n, m = active.problem, some.stop - some.start, active.problem.m
    h, p, taus = np.empty((n, m)), np.empty((n, 2, m)), np.empty((n, 2))
    labels = problem.labels.offsets[some.start : some.stop + 1], problem.labels.indices
    problem.run(batch.derivative_rows, active.duals[some], *labels, active.a, h, p, taus)
    return h, p, taus


@kernel
def _add_few_classes(matters, h, p, taus, X, c, most, matrix):
    """Do the same for classes that matter, one by one, and return true; or false where there are
    more than `most` of them.

    Only the lower half of the matrix is written.
    """
    n, m = h.shape
    d = X.shape[1]
    lengths = np.zeros(n, np.int64)
    classes = np.empty((n, m), np.int64)
    squares = 0.0
    for i in range(n):
        for j in range(m):
            if matters[i, j]:
                classes[i, lengths[i]] = j
                lengths[i] += 1
        squares += lengths[i] * lengths[i]
    if squares > n * most * most:
        return False
    for i in range(n):
        for one in range(lengths[i]):
            j = classes[i, one]
            for other in range(one + 1):
                k = classes[i, other]
                curvature = h[i, j] if j == k else 0.0
                for r in range(2):
                    if taus[i, r] != 0.0:
                        curvature += taus[i, r] * p[i, r, j] * p[i, r, k]
                if curvature != 0.0:
                    curvature *= c[i]
                    for f in range(d):
                        row, weight = matrix[j, f, k], curvature * X[i, f]
                        for g in range(d):
                            row[g] += weight * X[i, g]
    return True


def _factor(matrix: FloatArray) -> tuple[FloatArray, bool]:
    """Return a Cholesky factor; where rounding has made the matrix indefinite, of one nearby."""
    shift = 0.0
    diagonal = np.diagonal(matrix).copy()
    while True:
        try:
            matrix[np.diag_indices(len(matrix))] = diagonal + shift * diagonal.max()
            factor: tuple[FloatArray, bool] = scipy.linalg.cho_factor(
                matrix, lower=True, check_finite=False
            )
            return factor
        except scipy.linalg.LinAlgError:
            shift = max(1e-14, 100.0 * shift)


def solve_by_gradients(
    active: Active,
    gradient: FloatArray,
    accuracy: float,
    team: Team,
    should_stop: Callable[[FloatArray, float], bool],
    precondition: Map | None = None,
    most: int = _MOST_ITERATIONS,
) -> tuple[FloatArray, int]:
    """Return a direction, and the iterations that it took, of which there are at most `most`.

    Its residual is at most `accuracy` times the first one, or ``should_stop(residual, square)``
    is true. The square is that of the residual as the preconditioner measures it: about twice
    what the exact direction would gain in addition.
    """
    if precondition is None:
        precondition = preconditioner(active, team)
    few = np.count_nonzero(active.matters) < _FEW_IN_PRODUCTS * active.matters.size
    times = _times_listed(active, team) if few else _times(active, team)
    direction, residual = np.zeros_like(gradient), -gradient
    step = precondition(residual)
    length = product = float(np.vdot(residual, step))
    iterations = 0
    while iterations < most and product > accuracy**2 * length:
        image = times(step)
        t = product / float(np.vdot(step, image))
        direction += t * step
        residual -= t * image
        iterations += 1
        preconditioned = precondition(residual)
        product, before = float(np.vdot(residual, preconditioned)), product
        if should_stop(residual, product):
            break
        step = preconditioned + (product / before) * step
    return direction, iterations


def _times(active: Active, team: Team) -> Map:
    """Return what multiplies with the matrix of the system."""
    problem = active.problem
    curved = np.empty((problem.n, problem.m), active.duals.dtype)
    weights = problem.c.astype(curved.dtype)

    def times(S: FloatArray) -> FloatArray:
        def curve(some: slice, *labels: NDArray[np.int64]) -> None:
            scores = operations.scores(problem.rows, some.start, some.stop, S)
            problem.run(
                batch.derivative_times_rows, active.duals[some], *labels, active.a, scores,
                curved[some],
            )  # fmt: skip
            curved[some] *= weights[some, None]

        problem.in_chunks(curve, team)
        image = np.empty_like(S)
        accumulate(problem.rows, curved.__getitem__, image, team)
        image += S
        return image

    return times


class Listed(NamedTuple):
    """The curvature that matters, an example's classes after another's, times its weight."""

    offsets: NDArray[np.int64]  # where the classes of an example begin
    classes: NDArray[np.int64]
    h: FloatArray
    p: FloatArray  # (classes, 2)
    taus: FloatArray  # (n, 2)


def _times_listed(active: Active, team: Team) -> Map:
    """Return what multiplies with the matrix where few classes of an example matter.

    Scores of the others are not computed, and what describes the matrix is computed once.
    """
    problem, n = active.problem, active.problem.n
    offsets = np.zeros(n + 1, np.int64)
    np.cumsum(active.matters.sum(axis=1), out=offsets[1:])
    size = int(offsets[-1])
    listed = Listed(
        offsets, np.empty(size, np.int64), np.empty(size), np.empty((size, 2)), np.empty((n, 2))
    )
    problem.run(
        _list_classes, active.duals, problem.labels.offsets, problem.labels.indices, active.a,
        active.matters, problem.c, *listed,
    )  # fmt: skip

    def times(S: FloatArray) -> FloatArray:
        by_class = np.ascontiguousarray(S.T)

        def product(part: int) -> FloatArray:
            image = np.zeros_like(by_class)
            _add_products(problem.rows, *bounds(n, part, team.size), *listed, by_class, image)
            return image

        total: FloatArray = S + np.sum(team.each(product, range(team.size)), axis=0).T
        return total

    return times


@kernel
def _list_classes(loss, duals, label_offsets, indices, a, matters, c, offsets, classes, h, p, taus):
    """Write the derivative of every example's step at the classes that matter, times `c`."""
    n, m = duals.shape
    work, row, diagonal, vectors = (
        workspace(m),
        np.empty(m, duals.dtype),
        np.empty(m),
        np.empty((2, m)),
    )
    for i in range(n):
        labels = indices[label_offsets[i] : label_offsets[i + 1]]
        signs = batch.describe(loss, duals[i], labels, a, row, diagonal, vectors, work)
        at = offsets[i]
        for j in range(m):
            if matters[i, j]:
                classes[at], h[at] = j, c[i] * diagonal[j]
                for r in range(2):
                    p[at, r] = vectors[r, j] if signs[r] != 0.0 else 0.0
                at += 1
        taus[i, 0], taus[i, 1] = c[i] * signs[0], c[i] * signs[1]


@kernel
def _add_products(rows, first, last, offsets, classes, h, p, taus, S, image):
    """Add the products of some examples to `image`; both have a row for each class."""
    scores = np.empty(S.shape[0])
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


def preconditioner(active: Active, team: Team) -> Map:
    """Return what approximates the inverse of the system's matrix."""
    problem, kind = active.problem, active.diagonal.dtype
    d, m = problem.d, problem.m
    diagonal = active.diagonal * problem.c.astype(kind)[:, None]
    matter = diagonal * problem.norms.astype(kind)[:, None] > _NEGLIGIBLE
    sizes = matter.sum(axis=0)
    of_blocks, of_factors = cost_of_blocks(sizes, d), cost_of_factors(problem)
    prefers_factors = of_blocks > of_factors and not traits(problem.loss).separable
    if prefers_factors and are_worth(of_factors, problem):
        return _kronecker(active)
    if not are_worth(of_blocks, problem):
        scale = 1.0 / (1.0 + operations.squares_times(problem.rows, diagonal))
        return lambda residual: scale * residual
    blocks: list[Map] = team.each(
        lambda j: _block(problem.rows, np.flatnonzero(matter[:, j]), diagonal[matter[:, j], j], d),
        range(m),
    )

    def precondition(residual: FloatArray) -> FloatArray:
        out = np.empty_like(residual)

        def one(part: int) -> None:
            for j in range(*bounds(m, part, team.size)):
                out[:, j] = blocks[j](residual[:, j])

        team.each(one, range(team.size))
        return out

    return precondition


def _kronecker(active: Active) -> Map:
    r"""Return the inverse of the matrix that takes features and classes for independent.

    It is :math:`I + A \otimes B / tr(B)`, where `A` adds up the :math:`x_i x_i'` with the traces of
    the :math:`c_i J_i` as weights, and `B` these :math:`c_i J_i`: so much is exact where all
    examples have the same curvature, and features alone make the matrix ill-conditioned.
    """
    problem = active.problem
    d, m, kind = problem.d, problem.m, active.diagonal.dtype
    of_features, of_classes = np.zeros((d, d)), np.zeros((m, m))
    for some in slices(0, problem.n, max(16, _CHUNK // max(d, m))):
        X, c = problem.dense(some).astype(np.float64, copy=False), problem.c[some]
        X *= np.sqrt(c * active.diagonal[some].sum(axis=1))[:, None]
        of_features += X.T @ X
        h, p, taus = _derivatives(active, some)
        of_classes[np.diag_indices(m)] += c @ h
        for r in range(2):
            at = np.flatnonzero(taus[:, r])
            of_classes += (p[at, r] * (c * taus[:, r])[at, None]).T @ p[at, r]
    lengths, Q = scipy.linalg.eigh(of_features, check_finite=False)
    widths, U = scipy.linalg.eigh(of_classes, check_finite=False)
    total = max(float(np.trace(of_classes)), 1e-300)
    scale = 1.0 / (1.0 + np.outer(np.maximum(lengths, 0.0), np.maximum(widths, 0.0) / total))
    Q, U, scale = Q.astype(kind), U.astype(kind), scale.astype(kind)
    return lambda residual: Q @ ((Q.T @ residual @ U) * scale) @ U.T


def are_worth(cost: float, problem: Problem) -> bool:
    """Return whether a preconditioner of such a cost saves more than that."""
    return cost <= _WORTH_OF_BLOCKS * 4.0 * problem.n * problem.d * problem.m


def cost_of_factors(problem: Problem) -> float:
    """Return the multiplications that the factors of `_kronecker` take."""
    return problem.n * problem.d**2 + 9.0 * problem.d**3 + 9.0 * problem.m**3


def cost_of_blocks(sizes: NDArray[np.int64], d: int) -> float:
    """Return the multiplications that factoring the blocks takes, of so many examples each."""
    least = np.minimum(sizes, d).astype(float)
    return float((sizes * d * least + least**3 / 3.0).sum())


def _block(rows: Storage, examples: NDArray[np.int64], weights: FloatArray, d: int) -> Map:
    r"""Return the inverse of :math:`I + \sum_i w_i x_i x_i'`.

    With fewer examples than weights by the matrix of their inner products: the inverse is
    :math:`I - X' (diag(1/w) + X X')^{-1} X`.
    """
    if examples.size == 0:
        return lambda residual: residual
    X = operations.dense(rows, examples)
    if examples.size < d:
        gram = X @ X.T
        gram[np.diag_indices(examples.size)] += 1.0 / weights
        factor = _factor(gram)
        return lambda residual: (
            residual - X.T @ scipy.linalg.cho_solve(factor, X @ residual, check_finite=False)
        )
    moments = (X * weights[:, None]).T @ X
    moments[np.diag_indices(d)] += 1.0
    factor = _factor(moments)
    return lambda residual: scipy.linalg.cho_solve(factor, residual, check_finite=False)
