r"""Whether a hinge is top-k calibrated, decided for all distributions at once, in exact arithmetic.

The scores that minimise the risk at `p` are a face of a polyhedron. There are infinitely many `p`
but finitely many faces, and it is enough to look at the corners:

1. Classes are alike, so let the scores fall: :math:`g_1 \ge \dots \ge g_m`. Then
   :math:`\{1, \dots, k\}` is a shortlist of `g`, and a loss is not calibrated if and only if, for
   some `g` and some `p` at which `g` is a minimiser, :math:`p_a > p_b` with :math:`b \le k < a`.
2. The walls :math:`g_j = g_{j+1}` and the *creases*, where two linear pieces of a loss meet, cut
   the ordered scores into cells. Inside a cell the same pieces are active; at its corners so are
   these and perhaps more. So a corner is a minimiser wherever a point of its cells is one.
3. At a corner `g`, the distributions for which it is a minimiser are those with multipliers
   :math:`\mu_{yi} \ge 0` of the active pieces :math:`v_{yi}` such that
   :math:`\sum_i \mu_{yi} = p_y` and :math:`\sum_{yi} \mu_{yi} v_{yi} = 0`. The largest
   :math:`p_a - p_b` is a linear program.

HiGHS solves these in floating point; every answer is then turned into fractions and proved: a
counterexample by its multipliers, the absence of one by the dual solution. Nothing is decided by a
tolerance. (All classes in a group of equal scores are alike; one exchange for each pair of groups
is enough.)
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from fractions import Fraction
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from shortlist.bayes.pieces import Piece, Vector, pieces, sorted_pieces
from shortlist.losses.registry import Loss

Equation = tuple[Vector, Fraction]  # a, b: <a, g> = b

#: Below this a number in floating point is taken for 0, before it is proved to be.
_SMALL = 1e-9
#: The largest denominators to look for.
_DENOMINATORS = (10**3, 10**5, 10**7)


class Counterexample(NamedTuple):
    """A distribution, ordered scores that minimise the risk there, and what they lose."""

    p: Vector
    scores: Vector
    regret: Fraction


class Decision(NamedTuple):
    """How many corners were looked at, and the worst counterexample found, if there is one."""

    corners: int
    worst: Counterexample | None


def decide(loss: Loss, k: int, m: int) -> Decision:
    """Decide for all distributions over `m` classes whether shortlists of `k` are optimal."""
    found = corners(loss, m)
    worst, exchange = None, (0, 0)
    for g in found:
        program = _Exchange(loss, g)
        for a, b in _exchanges(g, k):
            p = program.worst_distribution(a, b)
            if p is not None and (worst is None or regret(g, p, k) > worst.regret):
                worst, exchange = Counterexample(p, g, regret(g, p, k)), (a, b)
    if worst is not None:
        # Rather one where every class occurs, if there is one.
        p = _Exchange(loss, worst.scores).worst_distribution(*exchange, least=Fraction(1, 5 * m))
        if p is not None:
            worst = Counterexample(p, worst.scores, regret(worst.scores, p, k))
    return Decision(len(found), worst)


def regret(g: Vector, p: Vector, k: int) -> Fraction:
    """Return what the worst shortlist of `k` classes loses against the best one."""
    by_score = sorted(zip(g, p, strict=True), key=lambda pair: (-pair[0], pair[1]))
    return sum(sorted(p)[-k:], Fraction(0)) - sum((x for _, x in by_score[:k]), Fraction(0))


def _exchanges(g: Vector, k: int) -> Iterator[tuple[int, int]]:
    """Yield a class outside of the shortlist and one inside, for each pair of equal scores."""
    first = {score: j for j, score in reversed(list(enumerate(g)))}
    last = {score: j for j, score in enumerate(g)}
    for low, high in itertools.product(last, first):
        if last[low] >= k > first[high]:
            yield last[low], first[high]


class _Exchange:
    """The distributions for which the scores `g` are a minimiser."""

    def __init__(self, loss: Loss, g: Vector):
        self.g = g
        self.active = [(y, v) for y in range(len(g)) for v in _active_slopes(loss, g, y)]
        self.owners = np.array([y for y, _ in self.active])
        self.slopes = np.array([v for _, v in self.active], dtype=float)

    def worst_distribution(self, a: int, b: int, least: Fraction = Fraction(0)) -> Vector | None:
        """Return the one with the largest p_a - p_b > 0 and no class below `least`, if any."""
        m, count = len(self.g), len(self.active)
        gain = (self.owners == a).astype(float) - (self.owners == b)
        shares = (self.owners == np.arange(m)[:, None]).astype(float)
        found = linprog(
            -gain,
            A_eq=self.slopes.T,
            b_eq=np.zeros(m),
            A_ub=np.vstack([np.ones(count), -shares]),
            b_ub=np.append(1.0, np.full(m, -float(least))),
            method="highs-ds",
        )
        if found.status == 2 and least:
            return None
        if found.status != 0:
            raise RuntimeError(f"the linear program at {self.g} failed: {found.message}")
        if -found.fun > _SMALL:
            return self._proved_distribution(found.x)
        if not least:
            self._prove_none(found.eqlin.marginals, a, b)
        return None

    def _proved_distribution(self, multipliers: NDArray[np.float64]) -> Vector:
        """Return the distribution of multipliers in fractions that prove `g` a minimiser."""
        m = len(self.g)
        for most in _DENOMINATORS:
            exact = [Fraction(x).limit_denominator(most) for x in multipliers]
            p, total = [Fraction(0)] * m, [Fraction(0)] * m
            for mu, (y, v) in zip(exact, self.active, strict=True):
                if mu:
                    p[y] += mu
                    total = [t + mu * s for t, s in zip(total, v, strict=True)]
            if min(exact) >= 0 and not any(total) and sum(p) == 1:
                return tuple(p)
        raise RuntimeError(f"the multipliers at {self.g} are not fractions of small numbers.")

    def _prove_none(self, marginals: NDArray[np.float64], a: int, b: int) -> None:
        r"""Prove that :math:`p_a \le p_b`.

        That is by a `d` with :math:`\langle d, v_{yi} \rangle \ge [y = a] - [y = b]` for all
        active pieces.
        """
        for most in _DENOMINATORS:
            d = [Fraction(-x).limit_denominator(most) for x in marginals]
            if all(
                sum(x * s for x, s in zip(d, v, strict=True)) >= (y == a) - (y == b)
                for y, v in self.active
            ):
                return
        raise RuntimeError(f"no proof in small fractions that {self.g} has no counterexample.")


def _active_slopes(loss: Loss, g: Vector, y: int) -> set[Vector]:
    """Return the slopes of the pieces that attain the loss of the label `y` at `g`."""
    values = [(piece.at(g), piece.slope) for piece in pieces(loss, len(g), y)]
    most = max(value for value, _ in values)
    return {slope for value, slope in values if value == most}


def corners(loss: Loss, m: int) -> list[Vector]:
    """Return the corners of the cells of ordered scores, the last score 0 if it is free."""
    walls = {_equation(_unit(j, m, (1, -1))) for j in range(m - 1)}
    equations = sorted(walls | creases(loss, m))
    free = m
    if all(sum(a) == 0 for a, _ in equations):  # only differences matter
        equations.append(_equation(_unit(m - 1, m, (1,))))
        free = m - 1
    a = np.array([row for row, _ in equations], dtype=float)
    b = np.array([float(rhs) for _, rhs in equations])
    chosen = np.array(list(itertools.combinations(range(len(a) - m + free), free)))
    chosen = np.hstack([chosen, np.full((len(chosen), m - free), len(a) - 1)])
    chosen = chosen[np.abs(np.linalg.det(a[chosen])) > _SMALL]
    points = np.linalg.solve(a[chosen], b[chosen][..., None])[..., 0]
    falling = (np.diff(points, axis=1) <= _SMALL).all(axis=1)
    points, chosen = points[falling], chosen[falling]
    _, some = np.unique(points.round(6), axis=0, return_index=True)
    return [_proved_corner(points[i], [equations[j] for j in chosen[i]]) for i in some]


def _proved_corner(point: NDArray[np.float64], equations: list[Equation]) -> Vector:
    """Return the point in fractions, which solve its equations and fall."""
    g = tuple(Fraction(x).limit_denominator(_DENOMINATORS[0]) for x in point)
    solved = all(sum(x * s for x, s in zip(g, a, strict=True)) == b for a, b in equations)
    if not solved or any(low > high for high, low in itertools.pairwise(g)):
        raise RuntimeError(f"the corner {point} is not a vector of small fractions.")
    return g


def creases(loss: Loss, m: int) -> set[Equation]:
    """Return where two pieces of a loss meet, for ordered scores.

    Two pieces need none of their own where two others sum to at least as much: if the former
    attain the maximum, then so do the latter, and their creases with them are enough.
    """
    found = set()
    for y in range(m):
        these = sorted_pieces(loss, m, y)
        for i, j in itertools.combinations(these, 2):
            others = [piece for piece in these if piece not in (i, j)]
            pairs = itertools.combinations_with_replacement(others, 2)
            if not any(_at_least(_sum(c, d), _sum(i, j)) for c, d in pairs):
                slope = tuple(s - t for s, t in zip(i.slope, j.slope, strict=True))
                found.add(_equation(slope, j.constant - i.constant))
    return found


def _sum(i: Piece, j: Piece) -> Piece:
    slope = tuple(s + t for s, t in zip(i.slope, j.slope, strict=True))
    return Piece(slope, i.constant + j.constant)


def _at_least(i: Piece, j: Piece) -> bool:
    """Return whether `i` is nowhere below `j` on scores that fall."""
    partial = list(itertools.accumulate(s - t for s, t in zip(i.slope, j.slope, strict=True)))
    return min(partial) >= 0 and partial[-1] == 0 and i.constant >= j.constant


def _unit(j: int, m: int, values: tuple[int, ...]) -> Vector:
    """Return `m` zeros with `values` from the place `j` on."""
    return tuple(Fraction(x) for x in (*[0] * j, *values, *[0] * (m - j - len(values))))


def _equation(a: Vector, b: Fraction = Fraction(0)) -> Equation:
    """Return <a, g> = b scaled so that equal hyperplanes are equal."""
    scale = next(x for x in a if x)
    return tuple(x / scale for x in a), b / scale
