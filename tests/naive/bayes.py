"""Calibration from the definitions: all shortlists, all sets, all orders; no use of symmetry."""

from __future__ import annotations

import itertools
from fractions import Fraction

import cvxpy as cp
import numpy as np
from scipy.optimize import linprog

import naive.losses as naive


def shortlists(scores, k):
    """All sets of k classes of which none scores lower than a class outside."""
    m = len(scores)
    for inside in itertools.combinations(range(m), k):
        outside = set(range(m)) - set(inside)
        if not outside or min(scores[j] for j in inside) >= max(scores[j] for j in outside):
            yield inside


def regret(scores, p, k):
    """What the worst shortlist of the scores loses against the best set of k classes."""
    best = max(sum(p[j] for j in some) for some in itertools.combinations(range(len(p)), k))
    return best - min(sum(p[j] for j in inside) for inside in shortlists(scores, k))


def hinge(name, g, y, k):
    """A hinge in whatever arithmetic the scores `g` are."""
    if name == "ova_svm":
        margins = [g[j] if j == y else -g[j] for j in range(len(g))]
        return sum(max(0, 1 - z) for z in margins)
    if name == "topk_svm_consistent":
        s = sorted(g, reverse=True)
        means = [sum(s[:j], Fraction(j - k)) / j for j in range(k + 1, len(g) + 1)]
        return max(s[0], *means) - g[y]
    b = sorted((1 + g[j] - g[y] for j in range(len(g)) if j != y), reverse=True)
    if name == "topk_svm_beta":
        return sum(max(0, x) for x in b[:k]) / Fraction(k)
    return max(0, sum(b[: 1 if name == "svm" else k]) / Fraction(1 if name == "svm" else k))


def risk(name, g, p, k):
    return sum(share * hinge(name, g, y, k) for y, share in enumerate(p))


def least_hinge_risk(name, p, k, shortlist=None):
    """By one large linear program over all scores, or over those with the given shortlist."""
    m = len(p)
    rows, bounds = [], []  # <row, (g, t)> <= bound
    for y in range(m):
        for slope, constant in _linear_pieces(name, m, y, k):
            row = np.zeros(2 * m)
            row[:m], row[m + y] = slope, -1.0
            rows.append(row)
            bounds.append(-constant)
    for i, j in itertools.product(shortlist or (), range(m)):
        if j not in shortlist:
            row = np.zeros(2 * m)
            row[i], row[j] = -1.0, 1.0
            rows.append(row)
            bounds.append(0.0)
    cost = np.append(np.zeros(m), np.array(p, dtype=float))
    found = linprog(cost, A_ub=np.array(rows), b_ub=bounds, bounds=(None, None), method="highs")
    assert found.status == 0
    return found.fun


def _linear_pieces(name, m, y, k):
    """Linear functions whose maximum is the loss, from its definition."""
    others = [j for j in range(m) if j != y]
    unit = np.eye(m)
    if name == "ova_svm":
        terms = [-unit[y], *(unit[j] for j in others)]
        for kept in itertools.product((0, 1), repeat=m):
            yield sum(a * t for a, t in zip(kept, terms, strict=True)), sum(kept)
    elif name == "topk_svm_consistent":
        for size in (1, *range(k + 1, m + 1)):
            for some in itertools.combinations(range(m), size):
                mean = unit[list(some)].mean(axis=0)
                yield mean - unit[y], 1 - k / size if size > 1 else 0.0
    else:
        k = 1 if name == "svm" else k
        for size in range(k + 1) if name == "topk_svm_beta" else (0, k):
            for some in itertools.combinations(others, size):
                yield (unit[list(some)].sum(axis=0) - size * unit[y]) / k, size / k


def dual_least_risk(name, p, **parameters):
    """max - sum p_y L*(v_y) subject to sum p_y v_y = 0, by a convex solver."""
    m = len(p)
    total, terms, constraints = 0, 0, []
    for y in np.flatnonzero(p):
        v = cp.Variable(m)
        conjugate, domain = naive.conjugate(name, v, [y], **parameters)
        total, terms = total + p[y] * v, terms + p[y] * conjugate
        constraints += domain
    problem = cp.Problem(cp.Maximize(-terms), [*constraints, total == 0])
    return problem.solve(solver=cp.CLARABEL)
