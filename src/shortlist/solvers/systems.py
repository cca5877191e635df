r"""The linear systems of Newton's method: :math:`(I + \sum_i c_i\, x_i x_i' \otimes J_i) S = -G`.

Few weights of a loss with margins make a matrix that is factored (`solve_directly`): few examples
are active. All else is found by conjugate gradients (`solve_by_gradients`), preconditioned by the
blocks of the matrix that belong to one class each, by the matrix that takes features and classes
for independent, or only by its diagonal where both would cost too much. Where the loss is a sum
over classes the blocks are the whole matrix.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import scipy.linalg
from numpy.typing import NDArray

from shortlist._arrays import FloatArray
from shortlist._jit import kernel
from shortlist.losses.operations import traits
from shortlist.rows import Storage, operations
from shortlist.rows.products import bounds, slices
from shortlist.solvers import curvature, factors
from shortlist.solvers.curvature import Active, Map
from shortlist.solvers.factors import Factors
from shortlist.solvers.problem import Problem
from shortlist.solvers.team import Team

#: The most weights whose matrix is factored.
_MOST_DIRECTLY = 2500
#: The most weights for which systems of an entropy are easy to solve.
_MOST_EASILY = 10_000
#: The multiplications of factors that take no time at all.
_TINY = 1e6
#: Numbers of a chunk of examples times all weights.
_CHUNK = 1 << 21
#: The most iterations of conjugate gradients; the square of a residual that is far shorter than
#: another, relative to the other's.
_MOST_ITERATIONS, _FAR_SHORTER = 150, 0.1
#: Blocks are worth so many iterations without them.
_WORTH_OF_BLOCKS = 40
#: A product with a sparse row, for each of its numbers, relative to a dense one.
_SPARSE = 4.0
#: Examples with fewer than this share of all classes active are added class by class.
_FEW = 0.35
#: Curvature, relative to that of the regulariser, that a block may leave out of each example.
_NEGLIGIBLE = 1e-3


@dataclass
class Kept:
    """What one system leaves to the next."""

    weight: float = 1.0  # the sum of the weights of all examples, which C multiplies
    iterations: int = 0  # the most that a system took
    factors: Factors | None = None  # in place of its own
    blocks: list[Map] | None = None  # likewise: the inverses


def active_examples(problem: Problem, duals: FloatArray, a: float, team: Team) -> Active:
    """Return the examples that have curvature at `duals`, the steps with the curvature `a`."""
    kind = np.float64 if is_direct(problem) else problem.dtype
    return curvature.active_examples(problem, duals, a, team, kind, _is_tiny(problem))


def is_direct(problem: Problem) -> bool:
    """Return whether the matrix of a problem is to be factored."""
    known = traits(problem.loss)
    return problem.d * problem.m <= _MOST_DIRECTLY and not (known.separable or known.entropic)


def are_easy(problem: Problem) -> bool:
    """Return whether the systems of an entropy take few conjugate gradients, at any weights.

    With so many weights the matrix is too far from what any preconditioner takes it for.
    """
    known, sizes = traits(problem.loss), np.full(problem.m, problem.n)
    if known.separable and are_worth(cost_of_blocks(sizes, problem.d), problem):
        return True
    is_small = problem.d * problem.m <= _MOST_EASILY
    is_cheap = _is_tiny(problem) or are_worth(factors.cost(problem), problem)
    return known.entropic and is_small and is_cheap


def _is_tiny(problem: Problem) -> bool:
    """Return whether a problem is an entropy's, and its cost does not matter.

    Then its systems treat two equal examples as one of twice the weight, to the last bits: what is
    negligible is left in, and preconditioners that know single examples are not used.
    """
    return traits(problem.loss).entropic and factors.cost(problem) <= _TINY


def solve_directly(active: Active, gradient: FloatArray, team: Team) -> FloatArray:
    """Return the direction by a Cholesky factor of the whole matrix, in float64."""
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
    by_class = -gradient.T.astype(np.float64).ravel()
    found = scipy.linalg.cho_solve(_factor(matrix), by_class, check_finite=False)
    direction: FloatArray = found.reshape(m, d).T.astype(gradient.dtype)
    return direction


def _add_curvature(active: Active, some: slice, matrix: FloatArray) -> None:
    """Add what a slice of the examples contributes to a matrix of shape (m, d, m, d)."""
    m, d = matrix.shape[:2]
    h, p, taus = active.h[some], active.p[some], active.taus[some]
    X = active.problem.dense(some).astype(np.float64, copy=False)
    if _add_few_classes(active.matters[some], h, p, taus, X, _FEW * m, matrix):
        return
    for j in range(m):
        at = np.flatnonzero(h[:, j])
        if at.size:
            matrix[j, :, j] += (X[at] * h[at, j, None]).T @ X[at]
    flat = matrix.reshape(m * d, m * d)
    for r, sign in ((r, sign) for r in (0, 1) for sign in (1.0, -1.0)):
        at = np.flatnonzero(sign * taus[:, r] > 0.0)
        if at.size:
            vectors = p[at, r] * np.sqrt(np.abs(taus[at, r]))[:, None]
            products = (vectors[:, :, None] * X[at, None, :]).reshape(at.size, m * d)
            if sign > 0.0:
                flat += products.T @ products
            else:
                flat -= products.T @ products


@kernel
def _add_few_classes(matters, h, p, taus, X, most, matrix):
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
    kept: Kept | None = None,
    means: bool = False,
) -> tuple[FloatArray, int]:
    """Return a direction, and the iterations that it took.

    Its residual is at most `accuracy` times the first one, or ``should_stop(residual, gained)``
    is true. The latter is the square of the residual as the preconditioner measures it: about
    twice what the exact direction would gain in addition.

    Of an ill-conditioned system the residuals of conjugate gradients rise and fall. Where `means`
    are kept the direction is the mean of all whose residual is shortest, where it is far shorter.
    """
    precondition, times = preconditioner(active, team, kept), curvature.products(active, team)
    direction, residual = np.zeros_like(gradient), -gradient
    mean = _Mean(direction.copy(), residual.copy()) if means else None
    step = precondition(residual)
    length = product = float(np.vdot(residual, step))
    iterations, shortest = 0, residual
    while iterations < _MOST_ITERATIONS and product > accuracy**2 * length:
        image = times(step)
        t = product / float(np.vdot(step, image))
        direction += t * step
        residual -= t * image
        iterations += 1
        shortest = residual
        if mean is not None and mean.improves_on(direction, residual):
            shortest = mean.residual
        preconditioned = precondition(residual)
        product, last = float(np.vdot(residual, preconditioned)), product
        if should_stop(shortest, product):
            break
        step = preconditioned + (product / last) * step
    if kept is not None:
        kept.iterations = max(kept.iterations, iterations)
    if mean is not None and shortest is mean.residual:
        direction = mean.direction
    return direction, iterations


@dataclass
class _Mean:
    """The mean of the directions so far whose residual is shortest."""

    direction: FloatArray
    residual: FloatArray

    def improves_on(self, direction: FloatArray, residual: FloatArray) -> bool:
        """Take in another direction; return whether the mean's residual is far shorter."""
        change = residual - self.residual
        share = -float(np.vdot(self.residual, change)) / max(square(change), 1e-300)
        self.direction += share * (direction - self.direction)
        self.residual += share * change
        return square(self.residual) < _FAR_SHORTER * square(residual)


def square(array: FloatArray) -> float:
    """Return the squared length."""
    return float(np.vdot(array, array))


def preconditioner(active: Active, team: Team, kept: Kept | None = None) -> Map:
    """Return what approximates the inverse of the system's matrix.

    Factors cost the least. Blocks are taken where they cost less than the iterations that a system
    took before, and are all there is.
    """
    kept = Kept() if kept is None else kept
    problem, diagonal = active.problem, active.diagonal
    matter = diagonal * problem.norms.astype(diagonal.dtype)[:, None] > _NEGLIGIBLE
    of_blocks, of_factors = cost_of_blocks(matter.sum(axis=0), problem.d), factors.cost(problem)
    known = traits(problem.loss)
    are_exact = known.separable and are_worth(of_blocks, problem)
    are_better = not known.entropic or of_blocks < kept.iterations * _cost_of_product(problem)
    prefers_factors = of_factors < of_blocks and not (are_exact and are_better)
    if _is_tiny(problem) or (prefers_factors and are_worth(of_factors, problem)):
        if kept.factors is None:
            kept.factors = factors.find(active, kept.weight)
        return kept.factors.inverse(kept.weight)
    if not are_worth(of_blocks, problem):
        scale = 1.0 / (1.0 + operations.squares_times(problem.rows, diagonal))
        return lambda residual: scale * residual
    if kept.blocks is None:
        kept.blocks = _blocks(active, matter, team)
    return _class_by_class(kept.blocks, team)


def _blocks(active: Active, matter: NDArray[np.bool_], team: Team) -> list[Map]:
    """Return the inverses of the blocks that belong to one class each."""
    problem, diagonal = active.problem, active.diagonal

    def of_class(j: int) -> Map:
        some = np.flatnonzero(matter[:, j])
        return _block(problem.rows, some, diagonal[some, j], problem.d)

    return team.each(of_class, range(problem.m))


def _class_by_class(blocks: list[Map], team: Team) -> Map:
    """Return what multiplies each column with a block."""

    def precondition(residual: FloatArray) -> FloatArray:
        out = np.empty_like(residual)

        def one(part: int) -> None:
            for j in range(*bounds(len(blocks), part, team.size)):
                out[:, j] = blocks[j](residual[:, j])

        team.each(one, range(team.size))
        return out

    return precondition


def are_worth(cost: float, problem: Problem) -> bool:
    """Return whether a preconditioner of such a cost saves more than that."""
    return cost <= _WORTH_OF_BLOCKS * _cost_of_product(problem)


def are_factors_dear(problem: Problem) -> bool:
    """Return whether it takes longer to find factors than to multiply with the matrix."""
    return factors.cost(problem) > _cost_of_product(problem)


def _cost_of_product(problem: Problem) -> float:
    """Return what it costs to multiply with the matrix, in multiplications of dense ones."""
    stored = float(operations.n_stored(problem.rows))
    return 4.0 * problem.m * min(_SPARSE * stored, float(problem.n) * problem.d)


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
