"""The losses from their definitions: plain formulas, or a convex solver where there is none."""

from __future__ import annotations

import cvxpy as cp
import numpy as np


def value(name, u, labels, k=1, smoothing=0.0, normalize=True):
    """The loss of one example with scores `u` and the set `labels`."""
    if smoothing > 0.0:
        return _smooth_value(name, u, labels, k, smoothing)
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
    if name in ("topk_entropy", "topk_entropy_beta"):
        return _entropy_value(name, b, k)
    raise AssertionError(name)


def _entropy_value(name, b, k):
    """max <b, x> - <x, log x> - (1 - s) log(1 - s) over the top-k simplex."""
    x = cp.Variable(b.size)
    s = cp.sum(x)
    cap = s / k if name == "topk_entropy" else 1 / k
    objective = b @ x + cp.sum(cp.entr(x)) + cp.entr(1 - s)
    return cp.Problem(cp.Maximize(objective), [x <= cap]).solve(solver=cp.CLARABEL)


def _smooth_value(name, u, labels, k, smoothing):
    """max <u, v> - L*(v) - smoothing / 2 |v|^2, the smoothing as each loss defines it."""
    mine = np.isin(np.arange(u.size), labels)
    v = cp.Variable(u.size)
    if name == "ova_svm":
        b = cp.multiply(np.where(mine, 1.0, -1.0), v)
        conjugate, constraints = cp.sum(b) + smoothing / 2 * cp.sum_squares(b), [b >= -1, b <= 0]
    elif name == "multilabel_svm":
        total = cp.sum(v[~mine])
        conjugate = -total + smoothing / 2 * cp.sum_squares(v)
        constraints = [v[mine] <= 0, v[~mine] >= 0, cp.sum(v) == 0, total <= 1]
    elif name == "topk_svm_consistent":
        p = v + mine.astype(float)
        conjugate = cp.sum_largest(p, k) - 1 + smoothing / 2 * cp.sum_squares(v)
        constraints = [p >= 0, cp.sum(p) == 1]
    else:
        x = v[~mine]
        s = cp.sum(x)
        cap = 1 / k if name == "topk_svm_beta" else s / k
        conjugate = -s + smoothing / 2 * cp.sum_squares(x)
        constraints = [x >= 0, x <= cap, s <= 1, cp.sum(v) == 0]
    return cp.Problem(cp.Maximize(u @ v - conjugate), constraints).solve(solver=cp.CLARABEL)
