"""The metrics from the text of the paper's section 3.1: loops over examples, sets and pairs.

Examples are given as a list of score lists `F`, a list of label sets `Y` and weights `w`.
"""

from __future__ import annotations

import math
from fractions import Fraction


def average(values, weights):
    """The weighted mean of the values that are not None."""
    kept = [
        (value, weight) for value, weight in zip(values, weights, strict=True) if value is not None
    ]
    total = sum(weight for _, weight in kept)
    return sum(value * weight for value, weight in kept) / total if total > 0 else math.nan


def top(f, k):
    """The labels below at most k - 1 others."""
    return {y for y in range(len(f)) if sum(other > f[y] for other in f) < k}


def topk_error(F, Y, w, k):
    """[f_pi_k > f_y]: the k-th largest score is above that of the label."""
    return average([sorted(f)[-k] > f[min(y)] for f, y in zip(F, Y, strict=True)], w)


def topk_accuracy(F, Y, w, k):
    return 1 - topk_error(F, Y, w, k)


def precision_at_k(F, Y, w, k):
    return average([len(top(f, k) & y) / len(top(f, k)) for f, y in zip(F, Y, strict=True)], w)


def recall_at_k(F, Y, w, k):
    return average(
        [len(top(f, k) & y) / len(y) if y else None for f, y in zip(F, Y, strict=True)], w
    )


def rank_loss(F, Y, w):
    losses = []
    for f, relevant in zip(F, Y, strict=True):
        others = set(range(len(f))) - relevant
        wrong = [(y, z) for y in relevant for z in others if f[y] <= f[z]]
        losses.append(len(wrong) / (len(relevant) * len(others)) if relevant and others else 0)
    return average(losses, w)


def average_precision(F, Y, w, kind):
    """One value a class, None without positives; from the list of all (recall, precision)."""
    values = []
    for j in range(len(F[0])):
        column = [f[j] for f in F]
        mine = [j in y for y in Y]
        total = sum(weight for weight, positive in zip(w, mine, strict=True) if positive)
        if total == 0:
            values.append(None)
            continue
        curve = []
        for threshold in sorted(set(column), reverse=True):
            passed = [i for i in range(len(F)) if column[i] >= threshold]
            found = sum(w[i] for i in passed if mine[i])
            if sum(w[i] for i in passed) > 0:
                curve.append((found / total, found / sum(w[i] for i in passed)))
        if kind == "voc2007":
            values.append(sum(_best(curve, Fraction(tenth, 10)) for tenth in range(11)) / 11)
        else:
            area, before = 0.0, 0.0
            for recall, precision in curve:
                height = _best(curve, recall) if kind == "voc2010" else precision
                area += (recall - before) * height
                before = recall
            values.append(area)
    return values


def _best(curve, least_recall):
    return max(precision for recall, precision in curve if recall >= least_recall - 1e-9)


def mean_average_precision(F, Y, w, kind):
    values = average_precision(F, Y, w, kind)
    return average(values, [1] * len(values))


def _f1(tp, fp, fn, of_nothing):
    return 2 * tp / (2 * tp + fp + fn) if tp + fp + fn > 0 else of_nothing


def f1_score(H, Y, w, m, kind, of_nothing=1.0):
    """From the primitives tp, fp, fn of every example and label."""
    n = range(len(Y))
    tp = [[w[i] * (j in H[i] and j in Y[i]) for j in range(m)] for i in n]
    fp = [[w[i] * (j in H[i] and j not in Y[i]) for j in range(m)] for i in n]
    fn = [[w[i] * (j not in H[i] and j in Y[i]) for j in range(m)] for i in n]
    if kind == "micro":
        return _f1(*(sum(map(sum, each)) for each in (tp, fp, fn)), of_nothing)
    if kind == "macro":
        columns = (zip(*each, strict=True) for each in (tp, fp, fn))
        scores = [_f1(*map(sum, of), of_nothing) for of in zip(*columns, strict=True)]
        return sum(scores) / m
    return average([_f1(*map(sum, of), of_nothing) for of in zip(tp, fp, fn, strict=True)], w)


def multilabel_accuracy(H, Y, w, of_nothing=1.0):
    return average(
        [len(h & y) / len(h | y) if h | y else of_nothing for h, y in zip(H, Y, strict=True)], w
    )


def subset_accuracy(H, Y, w):
    return average([h == y for h, y in zip(H, Y, strict=True)], w)


def hamming_loss(H, Y, w, m):
    return average([len(h ^ y) / m for h, y in zip(H, Y, strict=True)], w)
