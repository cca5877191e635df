"""The losses from their definitions: plain formulas, or a convex solver where there is none."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def value(name, u, labels, k=1, smoothing=0.0, normalize=True):
    """The loss of one example with scores `u` and the set `labels`."""
    if smoothing > 0.0 or name.startswith("topk_entropy"):
        return _by_duality(name, u, labels, k=k, smoothing=smoothing)
    mine = np.isin(np.arange(u.size), labels)
    signed = np.where(mine, u, -u)
    others = u[~mine]
    if name == "ova_svm":
        return np.maximum(0, 1 - signed).sum()
    if name == "ova_logistic":
        return np.logaddexp(0, -signed).sum()
    if name == "multilabel_svm":
        return max(0.0, 1 + others.max() - u[mine].min()) if 0 < mine.sum() < u.size else 0.0
    if name == "multilabel_softmax":
        terms = [np.logaddexp.reduce(u - u[y]) for y in labels]
        return float(np.sum(terms)) / (max(len(terms), 1) if normalize else 1)
    (y,) = labels
    b = np.sort(others - u[y])[::-1]
    if name in ("svm", "topk_svm_alpha"):
        return max(0.0, np.mean(1 + b[:k]))
    if name == "topk_svm_beta":
        return np.mean(np.maximum(0, 1 + b[:k]))
    if name == "softmax":
        return np.logaddexp.reduce(np.append(b, 0.0))
    if name == "truncated_topk_entropy":
        return np.logaddexp.reduce(np.append(b[k - 1 :], 0.0))
    if name == "topk_svm_consistent":
        s = np.sort(u)[::-1]
        means = [s[:j].mean() + 1 - k / j for j in range(k + 1, u.size + 1)]
        return max(s[0], *means) - u[y]
    raise AssertionError(name)


def _by_duality(name, u, labels, **parameters):
    """max <u, v> - L*(v)."""
    v = cp.Variable(u.size)
    terms, constraints = conjugate(name, v, labels, **parameters)
    return cp.Problem(cp.Maximize(u @ v - terms), constraints).solve(solver=cp.CLARABEL)


def conjugate(name, v, labels, k=1, smoothing=0.0, normalize=True):
    """L*(v) of one example for a CVXPY variable, and the constraints of its domain."""
    mine = np.isin(np.arange(v.size), labels)
    if name == "ova_svm":
        b = cp.multiply(np.where(mine, 1.0, -1.0), v)
        return cp.sum(b) + smoothing / 2 * cp.sum_squares(b), [b >= -1, b <= 0]
    if name == "ova_logistic":
        p = -cp.multiply(np.where(mine, 1.0, -1.0), v)
        return -cp.sum(cp.entr(p)) - cp.sum(cp.entr(1 - p)), []
    if name == "multilabel_svm":
        if mine.all() or not mine.any():
            return cp.Constant(0.0), [v == 0]
        total = cp.sum(v[~mine])
        constraints = [v[mine] <= 0, v[~mine] >= 0, cp.sum(v) == 0, total <= 1]
        return -total + smoothing / 2 * cp.sum_squares(v), constraints
    if name in ("softmax", "multilabel_softmax"):
        if not mine.any():
            return cp.Constant(0.0), [v == 0]
        count = 1 if normalize else mine.sum()
        p = v / count + mine / mine.sum()
        return -count * cp.sum(cp.entr(p)), [cp.sum(p) == 1]
    if name == "topk_svm_consistent":
        p = v + mine.astype(float)
        smooth = smoothing / 2 * cp.sum_squares(v)
        return cp.sum_largest(p, k) - 1 + smooth, [p >= 0, cp.sum(p) == 1]
    x = v[~mine]
    s = cp.sum(x)
    cap = 1 / k if name.endswith("_beta") else s / k
    constraints = [x >= 0, x <= cap, s <= 1, cp.sum(v) == 0]
    if "entropy" in name:
        return -cp.sum(cp.entr(x)) - cp.entr(1 - s), constraints
    return -s + smoothing / 2 * cp.sum_squares(x), constraints
