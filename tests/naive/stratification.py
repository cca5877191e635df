"""Iterative stratification from the pseudocode of Sechidis, Tsoumakas and Vlahavas (2011)."""

from __future__ import annotations

from fractions import Fraction


def folds(label_sets, k, preference):
    """The fold of every example; the last ties go to the fold with the largest preference."""
    D = list(range(len(label_sets)))
    labels = sorted(set().union(*label_sets))
    desired = [Fraction(len(D), k)] * k
    desired_of = {
        label: [Fraction(sum(label in label_sets[i] for i in D), k)] * k for label in labels
    }
    S = [[] for _ in range(k)]
    while D:
        left = {label: [i for i in D if label in label_sets[i]] for label in labels}
        left = {label: examples for label, examples in left.items() if examples}
        rarest = min(left, key=lambda label: (len(left[label]), label)) if left else None
        for i in left.get(rarest, D[:]):
            wish = desired_of[rarest] if rarest is not None else desired
            j = max(range(k), key=lambda j: (wish[j], desired[j], preference[i][j], -j))
            S[j].append(i)
            D.remove(i)
            for label in label_sets[i]:
                desired_of[label] = [c - (f == j) for f, c in enumerate(desired_of[label])]
            desired = [c - (f == j) for f, c in enumerate(desired)]
    return [next(j for j in range(k) if i in S[j]) for i in range(len(label_sets))]
