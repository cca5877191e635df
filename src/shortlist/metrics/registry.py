"""Metrics by name: what the tuner, the scorers and the reports loop over.

Names with a number stand for a family: ``metric("top5")`` is the top-5 accuracy. `names`
lists families with ``{k}`` in the place of the number.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Literal, NamedTuple

from shortlist._arrays import hint
from shortlist.metrics import counts
from shortlist.metrics.class_ranking import mean_average_precision
from shortlist.metrics.counts import CountMetric
from shortlist.metrics.partition import (
    f1_score,
    hamming_loss,
    multilabel_accuracy,
    subset_accuracy,
)
from shortlist.metrics.ranking import (
    autkc,
    precision_at_k,
    rank_loss,
    recall_at_k,
    topk_accuracy,
    topk_error,
)


class Metric(NamedTuple):
    """What is known of a metric by its name.

    ``function(y_true, scores)``, or ``function(y_true, label_sets)``, takes also
    `sample_weight` and `classes`. Where the metric is a mean of functions of counts, `counts`
    lets it be tuned over thresholds.

    Examples
    --------
    >>> from shortlist import metrics
    >>> f1 = metrics.metric("f1_macro")
    >>> f1.needs, f1.greater_is_better
    ('sets', True)
    """

    name: str
    function: Callable[..., float]
    needs: Literal["scores", "sets"]
    greater_is_better: bool
    counts: CountMetric | None = None

    @property
    def sign(self) -> float:
        """1 or -1: a greater ``sign * value`` is better."""
        return 1.0 if self.greater_is_better else -1.0


_METRICS: dict[str, Metric] = {}


def register(metric: Metric) -> Metric:
    """Make a metric known by its name; one with ``{k}`` in it is a family, given `k`.

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.register(metrics.metric("map"))
    Traceback (most recent call last):
    ValueError: a metric named 'map' is registered already.
    """
    if metric.name in _METRICS:
        raise ValueError(f"a metric named {metric.name!r} is registered already.")
    _METRICS[metric.name] = metric
    return metric


def names() -> list[str]:
    """Return the names of all metrics.

    Examples
    --------
    >>> from shortlist import metrics
    >>> metrics.names()[:3]
    ['top{k}', 'top{k}_error', 'autkc']
    """
    return list(_METRICS)


def metric(name: str) -> Metric:
    """Return what is known of the metric called `name`.

    Examples
    --------
    >>> from shortlist import metrics
    >>> top2 = metrics.metric("top2")
    >>> top2.needs, top2.greater_is_better, top2.function([1], [[0.5, 0.3, 0.2]])
    ('scores', True, 1.0)
    """
    family = re.sub(r"\d+", "{k}", name)
    if name in _METRICS and "{k}" not in name:
        return _METRICS[name]
    if family in _METRICS and family != name:
        k = int(re.findall(r"\d+", name)[0])
        known = _METRICS[family]
        return known._replace(name=name, function=partial(known.function, k=k))
    raise ValueError(f"there is no metric {name!r}; {hint(family, _METRICS)}")


register(Metric("top{k}", topk_accuracy, "scores", True))
register(Metric("top{k}_error", topk_error, "scores", False))
register(Metric("autkc", autkc, "scores", True))
register(Metric("autkc@{k}", autkc, "scores", True))
register(Metric("precision@{k}", precision_at_k, "scores", True))
register(Metric("recall@{k}", recall_at_k, "scores", True))
register(Metric("map", mean_average_precision, "scores", True))
register(Metric("map_voc2010", partial(mean_average_precision, kind="voc2010"), "scores", True))
register(Metric("map_step", partial(mean_average_precision, kind="step"), "scores", True))
register(Metric("rank_loss", rank_loss, "scores", False))
register(Metric("hamming_loss", hamming_loss, "sets", False, counts.HAMMING_LOSS))
register(Metric("accuracy", multilabel_accuracy, "sets", True, counts.ACCURACY))
register(Metric("subset_accuracy", subset_accuracy, "sets", True, counts.SUBSET_ACCURACY))
register(Metric("f1_micro", partial(f1_score, average="micro"), "sets", True, counts.F1_MICRO))
register(Metric("f1_macro", partial(f1_score, average="macro"), "sets", True, counts.F1_MACRO))
register(
    Metric("f1_instance", partial(f1_score, average="instance"), "sets", True, counts.F1_INSTANCE)
)
