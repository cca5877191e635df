"""Tables "voc" and "coco": how far single labels go, where examples have several.

Methods for one label an example are trained on one label of each, multilabel methods on all; both
are tested on all labels. C and k are chosen for each metric on one half of the training examples,
which keep all their labels, and the threshold with them; then all are trained on.

On the sets that are here the single label is the rarest one of an example, or a random one (in
the paper's images: the largest object). `paper.regions` runs the same on features of VOC and COCO.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from functools import cache
from typing import Any, NamedTuple

import numpy as np
import scipy.sparse

from paper.methods import MULTILABEL, SINGLE_LABEL, Method
from paper.multilabel import in_units
from paper.protocol import Fit, along, is_past, summary
from paper.record import Record
from shortlist import datasets
from shortlist.metrics import metric
from shortlist.model_selection.thresholds import Tuned

METRICS = (
    "map", "precision@1", "recall@1", "recall@3", "recall@5", "rank_loss", "hamming_loss",
    "accuracy", "subset_accuracy", "f1_micro", "f1_macro", "f1_instance",
)  # fmt: skip
#: The paper's grid, every third power, up to where all metrics are past their best.
CS = tuple(2.0**power for power in range(-20, 16, 3))
KS = (2, 3, 4, 5)
SETS = ("scene", "emotions", "enron", "yeast")
#: The most for one fit.
SECONDS = 30.0
#: Which label of an example is kept.
KEPT = ("rarest", "random")


class Images(NamedTuple):
    """Examples, perhaps several feature vectors of each, their labels, and the single one."""

    X: Any
    owner: np.ndarray | None  # the example of each row of X, ascending; None: row by row
    labels: Any  # csr_array of bool
    single: np.ndarray

    def rows(self, examples: np.ndarray) -> np.ndarray:
        """Return the rows of X that belong to some examples, given in ascending order."""
        return examples if self.owner is None else np.flatnonzero(np.isin(self.owner, examples))

    def take(self, examples: np.ndarray) -> Images:
        """Return some of the examples, given in ascending order."""
        rows, owner = self.rows(examples), None
        if self.owner is not None:
            owner = np.searchsorted(examples, self.owner[rows])
        return Images(self.X[rows], owner, self.labels[examples], self.single[examples])

    def repeated(self, values: Any) -> Any:
        """Return what belongs to each example, for each of its rows."""
        return values if self.owner is None else values[self.owner]

    def pooled(self, scores: np.ndarray) -> np.ndarray:
        """Return each example's largest score for each class."""
        if self.owner is None:
            return scores
        return np.maximum.reduceat(scores, np.flatnonzero(np.diff(self.owner, prepend=-1)))


def with_single_labels(data: datasets.Dataset, kept: str, seed: int = 0) -> Images:
    """Return the examples that have a label, with the rarest of theirs or a random one."""
    some = np.flatnonzero(np.diff(data.y.indptr))
    X, Y = data.X[some], scipy.sparse.csr_array(data.y[some])
    frequency = np.asarray(data.y.sum(axis=0)).ravel()
    rng = np.random.default_rng(seed)
    choose: Callable[[np.ndarray], int] = (
        (lambda labels: int(labels[np.argmin(frequency[labels])]))
        if kept == "rarest"
        else (lambda labels: int(rng.choice(labels)))
    )
    single = [choose(Y.indices[a:b]) for a, b in zip(Y.indptr[:-1], Y.indptr[1:], strict=True)]
    return Images(X, None, Y, np.array(single, np.int64))


class _Judged(NamedTuple):
    """What the examples held out say of a model: how good it is, and the best thresholds."""

    merit: dict[str, float]
    threshold: dict[str, float]


#: k, where the loss has one, and C.
_Setting = tuple[int | None, float]


def cell(
    train: Images, test: Images, method: Method, Cs: Sequence[float] = CS, seed: int = 0
) -> dict[str, Any]:
    """Return what a method reaches: one for single labels, or one for all of them."""
    n = train.labels.shape[0]
    half = np.sort(np.random.default_rng(seed).permutation(n)[: n // 2])
    fit, val = train.take(half), train.take(np.setdiff1d(np.arange(n), half))
    settings = [(k, C) for k, _ in _losses(method) for C in Cs]
    judged = _trained(fit, method, settings, lambda W: _judge(val, W), _past)
    best = {name: max(judged, key=lambda at: judged[at][0].merit[name]) for name in METRICS}
    final = _trained(train, method, best.values(), lambda W: test.pooled(test.X @ W))
    thresholds = {name: judged[best[name]][0].threshold.get(name) for name in METRICS}
    return {
        "values": {
            name: in_units(name, _value(name, test.labels, final[best[name]][0], thresholds[name]))
            for name in METRICS
        },
        "chosen": {
            name: {"k": best[name][0], "C": best[name][1], "threshold": thresholds[name]}
            for name in METRICS
        },
        "gaps": {name: final[best[name]][1] for name in METRICS},
        "search": {
            "Cs": sorted({C for _, C in judged}),
            **summary([gap for found in (judged, final) for _, gap in found.values()]),
        },
    }


def _trained(
    images: Images,
    method: Method,
    settings: Iterable[_Setting],
    judge: Callable[[Any], Any],
    is_enough: Callable[[list[Fit]], bool] | None = None,
) -> dict[_Setting, tuple[Any, float]]:
    """Return what `judge` says of the model of each setting, and its gap; a path for each k."""
    wanted, found = set(settings), {}
    for k, loss in _losses(method):
        Cs = sorted(C for other, C in wanted if other == k)
        if Cs:
            fits = along(
                *_examples(images, method), loss, Cs, lambda W: (judge(W), None), is_enough,
                n_classes=images.labels.shape[1], max_time=SECONDS,
            )  # fmt: skip
            found |= {(k, fit.C): (fit.val, fit.gap) for fit in fits}
    return found


def _past(fits: list[Fit]) -> bool:
    """Return whether all metrics are past their best."""
    return is_past(np.array([list(fit.val.merit.values()) for fit in fits]))


def _losses(method: Method) -> list[tuple[int | None, Any]]:
    """Return the losses to try by their k; those without one have one."""
    if callable(method.loss):
        return [(k, method.loss(k)) for k in KS]
    return [(None, method.loss)]


def _examples(images: Images, method: Method) -> tuple[Any, Any]:
    """Return the rows to train on, each with the labels that the method may see."""
    sees_all = method.key.startswith("multilabel")
    return images.X, images.repeated(images.labels if sees_all else images.single)


def _judge(val: Images, weights: Any) -> _Judged:
    scores = val.pooled(val.X @ weights)
    merit, threshold = {}, {}
    for name in METRICS:
        cut = None
        if metric(name).needs == "sets":
            # The quantiles of the scores: as fine as the paper's grid, for scores of any scale.
            candidates = np.unique(np.quantile(scores, np.linspace(0.0, 1.0, 100)))
            cut = float(Tuned(name, candidates).fit(scores, val.labels).thresholds[0])
            threshold[name] = cut
        merit[name] = metric(name).sign * _value(name, val.labels, scores, cut)
    return _Judged(merit, threshold)


def _value(name: str, labels: Any, scores: np.ndarray, threshold: float | None) -> float:
    given = scores if threshold is None else scores >= threshold
    return float(metric(name).function(labels, given))


def main() -> None:
    """Compute the cells that are missing."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sets", nargs="*", default=list(SETS), help=", ".join(SETS))
    parser.add_argument("--seeds", type=int, default=3, help="how many halves")
    arguments = parser.parse_args()
    for seed in range(arguments.seeds):
        for name in arguments.sets:
            run(name, seed)


def run(name: str, seed: int) -> None:
    """Compute the cells of a set that are missing."""
    record = Record(f"single_{name}")

    @cache
    def parts(kept: str) -> list[Images]:
        return [
            with_single_labels(datasets.load(name, part), kept, seed) for part in ("train", "test")
        ]

    for labels, methods in [*((kept, SINGLE_LABEL) for kept in KEPT), ("all", MULTILABEL)]:
        kept = labels if labels in KEPT else KEPT[0]
        for method in methods:
            record.cell(
                f"{labels}/{method.key}/{seed}",
                lambda m=method, k=kept: cell(*parts(k), m, seed=seed),
            )


if __name__ == "__main__":
    main()
