r"""The least risk among scores in a given order: the one problem behind all of this room.

.. math::

    \min_{g_1 \ge g_2 \ge \dots \ge g_m} \ \sum_y q_y L(y, g), \qquad q_y \ge 0, \ \sum_y q_y = 1.

All losses here treat classes alike and fall when the label's score rises. So if `q` falls too,
the order costs nothing and this is the least risk of all (exchanging the scores of two classes
that stand in the wrong order does not raise the risk). If it does not, it is the least risk of
scores whose shortlist is the first classes: the price of a wrong shortlist.

In the differences :math:`d_j = g_j - g_{j+1} \ge 0` this is a linear program for a loss of linear
pieces, and a smooth convex problem with bounds, solved by Newton's method, for a smooth one.
Classes at the end that never occur go to minus infinity.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import linprog

from shortlist import losses
from shortlist.bayes.pieces import is_polyhedral, sorted_pieces
from shortlist.losses.operations import derivative, traits
from shortlist.losses.registry import Loss

Vector = NDArray[np.float64]

#: A score this many times `m` below the others is minus infinity: its exponential is 0.
_FAR = 1e3
_MAX_STEPS = 200


class Ordered(NamedTuple):
    """Scores in falling order, their risk, and by how much it can be above the least one."""

    scores: Vector
    risk: float
    gap: float
    method: str


def least_risk(loss: Loss, q: Vector) -> Ordered:
    """Return scores of least risk among those that fall in the order of `q`."""
    occurring = int(np.flatnonzero(q)[-1]) + 1
    if is_polyhedral(loss):
        return _linear_program(loss, q, occurring)
    if not traits(loss).convex:
        raise ValueError(f"{type(loss).__name__} is not convex: its least risk is not computed.")
    if traits(loss).smoothing == 0.0 or not derivative.serves(type(loss)):
        raise ValueError(
            f"{type(loss).__name__} is not known to be smooth or made of linear pieces: "
            "register its `derivative`, or `shortlist.bayes.pieces.shapes`."
        )
    return _newton(loss, q, occurring)


class _Risk:
    """The conditional risk of a smooth loss in the differences `d` of the scores."""

    def __init__(self, loss: Loss, q: Vector, occurring: int):
        self.loss, self.q, self.n = loss, q, occurring
        self.labels = np.flatnonzero(q)
        self.to_scores = np.triu(np.ones((occurring, occurring)))

    def scores(self, d: Vector) -> Vector:
        g = np.full(self.q.size, -_FAR * self.q.size)
        g[: self.n] = self.to_scores @ d
        return g

    def _rows(self, d: Vector) -> Vector:
        return np.tile(self.scores(d), (self.labels.size, 1))

    def value(self, d: Vector) -> float:
        return float(self.q[self.labels] @ losses.value(self.loss, self._rows(d), self.labels))

    def gradient(self, d: Vector) -> Vector:
        v = self.q[self.labels] @ losses.gradient(self.loss, self._rows(d), self.labels)
        return self.to_scores.T @ v[: self.n]

    def hessian(self, d: Vector) -> Vector:
        m, n, count = self.q.size, self.n, self.labels.size
        along = np.zeros((n, m))
        along[:, :n] = self.to_scores.T
        rows = np.repeat(self._rows(d), n, axis=0)
        curved = losses.hessian_times(
            self.loss, rows, np.repeat(self.labels, n), np.tile(along, (count, 1))
        ).reshape(count, n, m)
        return np.tensordot(self.q[self.labels], curved, axes=1)[:, :n] @ self.to_scores

    def spread(self) -> float:
        r"""Return a bound on :math:`g_1 - g_n` of ordered minimisers, for losses of differences.

        At a dual point `v` of the last label, :math:`L \ge \langle v, g \rangle - L^*(v) \ge
        v_1 (g_1 - g_n) - L^*(v)`, and that label's share of the risk is at most the risk of
        equal scores.
        """
        last, equal, apart = self.n - 1, np.zeros(self.n), np.zeros(self.n)
        equal[last], apart[0] = _FAR, _FAR
        if abs(self.value(equal) - self.value(0.0 * equal)) > 1e-9:
            return np.inf  # not a loss of differences
        if last == 0:
            return 0.0
        v = losses.gradient(self.loss, self.scores(apart)[None], [last])
        if v[0, 0] <= 0.0 or v[0, self.n :].any():
            return np.inf
        conjugate = float(losses.conjugate(self.loss, v, [last])[0])
        return (self.value(equal) / self.q[last] + conjugate) / float(v[0, 0])


def _newton(loss: Loss, q: Vector, occurring: int) -> Ordered:
    """Solve with a smooth loss: Newton's method on the differences that are not stuck at 0."""
    risk = _Risk(loss, q, occurring)
    bounded = np.arange(occurring) < occurring - 1
    d = np.zeros(occurring)
    best, least, least_slope, idle = d, np.inf, np.inf, 0
    for _ in range(_MAX_STEPS):
        value, slope = risk.value(d), risk.gradient(d)
        uphill = float(np.abs(np.where(bounded, d - np.maximum(d - slope, 0.0), slope)).max())
        if value < least - 1e-14 * (1.0 + value) or uphill < least_slope:
            best, least, least_slope, idle = d, value, uphill, 0
        else:
            idle += 1
        if uphill == 0.0 or idle == 3:
            break
        free = ~(bounded & (d == 0.0) & (slope > 0.0))
        hessian = risk.hessian(d)[np.ix_(free, free)]
        shift = max(1e-3 * min(uphill, 1.0), 1e-13 * (1.0 + float(np.trace(hessian))))
        step = np.zeros(occurring)
        step[free] = -np.linalg.solve(hessian + shift * np.eye(int(free.sum())), slope[free])
        length = 1.0
        while length > 1e-12:
            there = d + length * step
            there[bounded] = np.maximum(there[bounded], 0.0)
            if risk.value(there) <= value + 1e-4 * slope @ (there - d) + 4e-16 * (1.0 + value):
                break
            length *= 0.5
        d = there
    spread = risk.spread()
    if spread < np.inf:
        best = np.where(bounded, best, 0.0)  # only differences matter
    value, slope = risk.value(best), risk.gradient(best)
    gap = value
    if spread < np.inf:
        reach = np.where(slope > 0.0, best, best - spread)  # how far down the slope may lead
        gap = min(value, float((slope * reach)[bounded].sum()))
    return Ordered(_with_infinities(risk.to_scores @ best, q.size), value, gap, "newton")


def _linear_program(loss: Loss, q: Vector, occurring: int) -> Ordered:
    """Solve with a loss of linear pieces; pieces with classes at minus infinity drop out."""
    to_scores = np.triu(np.ones((occurring, occurring)))
    labels = np.flatnonzero(q)
    kept = [
        (y, piece)
        for y in labels
        for piece in sorted_pieces(loss, q.size, int(y))
        if not any(s > 0 for s in piece.slope[occurring:])
    ]
    owners = np.array([y for y, _ in kept])
    constants = np.array([float(piece.constant) for _, piece in kept])
    rows = np.array([piece.slope[:occurring] for _, piece in kept], dtype=float) @ to_scores
    own = np.eye(occurring)[owners]
    differences_only = not np.abs(rows[:, -1]).max()  # then the last score is 0
    last = (0.0, 0.0) if differences_only else (None, None)
    found = linprog(
        np.append(np.zeros(occurring), q[:occurring]),
        A_ub=np.hstack([rows, -own]),
        b_ub=-constants,
        bounds=[(0.0, None)] * (occurring - 1) + [last] + [(None, None)] * occurring,
        method="highs-ds",
        options={"primal_feasibility_tolerance": 1e-10, "dual_feasibility_tolerance": 1e-10},
    )
    if found.status != 0:
        raise RuntimeError(f"the linear program of {loss} failed: {found.message}")
    d = found.x[:occurring]
    values = np.full(q.size, -np.inf)
    np.maximum.at(values, owners, rows @ d + constants)
    risk = float(q[labels] @ values[labels])
    multipliers = -found.ineqlin.marginals
    totals = np.bincount(owners, multipliers, q.size)[owners]
    # Those of a label sum to its probability; one too small for the solver counts as 0.
    multipliers *= np.divide(q[owners], totals, out=np.zeros(owners.size), where=totals > 0.0)
    lower = float(multipliers @ constants)
    short = -float(np.minimum(multipliers @ rows, 0.0)[:-1].sum())  # 0 but for rounding
    if short > 0.0:
        lower -= short * _spread_of_pieces(q[occurring - 1], rows, constants, owners)
    gap = min(max(risk - lower, 0.0), risk)
    return Ordered(_with_infinities(to_scores @ d, q.size), risk, gap, "linear program")


def _spread_of_pieces(share: float, rows: Vector, constants: Vector, owners: Vector) -> float:
    """Return a bound on the sum of the differences at a minimiser, as `_Risk.spread` does.

    `share` is the probability of the last label. With equal scores the risk is at most the
    largest constant.
    """
    mine = owners == owners[-1]
    steepness = rows[mine, :-1].min(axis=1, initial=np.inf)
    rising = (steepness > 0.0) & (steepness < np.inf)
    bounds = (constants.max() / share - constants[mine][rising]) / steepness[rising]
    return float(bounds.min(initial=np.inf))


def _with_infinities(scores: Vector, m: int) -> Vector:
    return np.append(scores, np.full(m - scores.size, -np.inf))
