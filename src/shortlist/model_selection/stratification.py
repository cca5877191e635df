"""Folds in which every label is as frequent as in all examples."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import BaseCrossValidator
from sklearn.utils import check_random_state

from shortlist._arrays import as_integer
from shortlist._jit import kernel
from shortlist.losses.labels import Labels
from shortlist.metrics.inputs import read_labels


class IterativeStratifiedKFold(BaseCrossValidator):
    r"""Folds for label sets by iterative stratification [STV11]_.

    The label with the fewest examples left is dealt out first: each of its examples goes to the
    fold that most lacks this label; of several, to the one that lacks most examples. Examples
    without labels fill the folds up at the end. Cost: :math:`O(m)` for each round of a label,
    and that of reading labels.

    Parameters
    ----------
    n_splits : int
        The number of folds, at least 2.
    shuffle : bool
        Whether the order of examples and the choice among equal folds are random.
    random_state : int, RandomState or None
        The source of randomness, if `shuffle`.

    References
    ----------
    .. [STV11] K. Sechidis, G. Tsoumakas, I. Vlahavas, "On the Stratification of Multi-label
       Data", 2011.

    Examples
    --------
    >>> import numpy as np
    >>> from shortlist.model_selection import IterativeStratifiedKFold
    >>> Y = np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 0], [0, 0]])
    >>> for _, test in IterativeStratifiedKFold(2).split(Y, Y):
    ...     print(test, Y[test].sum(axis=0))
    [0 2 4] [2 1]
    [1 3 5] [2 1]
    """

    def __init__(
        self, n_splits: int = 5, *, shuffle: bool = False, random_state: Any = None
    ) -> None:
        self.n_splits = as_integer(n_splits, "n_splits", least=2)
        self.shuffle = shuffle
        self.random_state = random_state

    def get_n_splits(self, X: Any = None, y: Any = None, groups: Any = None) -> int:
        """Return the number of folds."""
        return self.n_splits

    def _iter_test_masks(
        self, X: Any = None, y: Any = None, groups: Any = None
    ) -> Iterator[NDArray[np.bool_]]:
        fold = self._folds(read_labels(y))
        for number in range(self.n_splits):
            yield fold == number

    def _folds(self, labels: Labels) -> NDArray[np.int64]:
        """Return the fold of every example."""
        if labels.n < self.n_splits:
            raise ValueError(f"there are {labels.n} examples for {self.n_splits} folds.")
        order = np.arange(labels.n)
        preference = np.zeros((labels.n, self.n_splits))
        if self.shuffle:
            source = check_random_state(self.random_state)
            order = source.permutation(labels.n)
            preference = source.random_sample(preference.shape)
        dealt = labels.take(order)
        by_label = np.argsort(dealt.indices, kind="stable")
        examples = dealt.owners[by_label]
        starts = np.searchsorted(dealt.indices[by_label], np.arange(labels.m + 1))
        folds = np.empty(labels.n, dtype=np.int64)
        deal(dealt.offsets, dealt.indices, starts, examples, preference, folds)
        out = np.empty_like(folds)
        out[order] = folds
        return out


@kernel
def deal(offsets, indices, starts, examples, preference, folds):
    """Write the fold of each example. Those of label j are at ``starts[j]:starts[j + 1]``."""
    n, n_folds = preference.shape
    m = starts.size - 1
    left = np.diff(starts)
    lacks = np.empty((m, n_folds))  # how many examples of a label each fold still should have
    for j in range(m):
        lacks[j] = left[j] / n_folds
    room = np.full(n_folds, n / n_folds)
    folds[:] = -1
    while True:
        rarest = -1
        for j in range(m):
            if left[j] > 0 and (rarest < 0 or left[j] < left[rarest]):
                rarest = j
        if rarest < 0:
            break
        for example in examples[starts[rarest] : starts[rarest + 1]]:
            if folds[example] >= 0:
                continue
            fold = _neediest(lacks[rarest], room, preference[example])
            folds[example] = fold
            room[fold] -= 1.0
            for label in indices[offsets[example] : offsets[example + 1]]:
                lacks[label, fold] -= 1.0
                left[label] -= 1
    for example in range(n):
        if folds[example] < 0:
            fold = _neediest(room, room, preference[example])
            folds[example] = fold
            room[fold] -= 1.0


@kernel
def _neediest(lacks, room, preference):
    """Return the fold that lacks most; of equals that with most room, then the preferred."""
    best = 0
    for fold in range(1, lacks.size):
        if lacks[fold] != lacks[best]:
            better = lacks[fold] > lacks[best]
        elif room[fold] != room[best]:
            better = room[fold] > room[best]
        else:
            better = preference[fold] > preference[best]
        best = fold if better else best
    return best
