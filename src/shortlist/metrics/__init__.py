"""How good a shortlist is: the metrics of [LHS17, section 3.1], and scorers for all of them.

======================================  ==================================================
of scores                               what is measured
======================================  ==================================================
`topk_accuracy`, `topk_error`           whether the label is in the top k
`topk_accuracy_curve`, `autkc`          the same for all k, and the mean over k
`precision_at_k`, `recall_at_k`         the share of the top k, and of the labels, in both
`rank_loss`                             pairs of a label and another class in wrong order
`average_precision`                     how well a class ranks its examples
`mean_average_precision`                the mean over classes
======================================  ==================================================

======================================  ==================================================
of label sets                           what is measured
======================================  ==================================================
`f1_score`                              labels found; micro, macro or instance average
`multilabel_accuracy`                   intersection by union
`subset_accuracy`                       equality
`hamming_loss`                          wrong decisions
`threshold_curve`                       any of these at every threshold on scores
`label_cardinality`                     the mean number of labels
======================================  ==================================================

Labels are numbers (one an example), indicator matrices (dense or sparse) or lists of lists,
numbered from 0 or named by `classes`. Examples may have weights: a weight of 2 is the example
twice, a weight of 0 its absence. The mean of nothing is NaN. `metric` gives every metric by
name, `scorer` a scorer for scikit-learn.
"""

from shortlist.metrics.by_threshold import threshold_curve
from shortlist.metrics.class_ranking import average_precision, mean_average_precision
from shortlist.metrics.partition import (
    f1_score,
    hamming_loss,
    label_cardinality,
    multilabel_accuracy,
    subset_accuracy,
)
from shortlist.metrics.ranking import (
    autkc,
    precision_at_k,
    rank_loss,
    recall_at_k,
    topk_accuracy,
    topk_accuracy_curve,
    topk_error,
)
from shortlist.metrics.registry import Metric, metric, names, register
from shortlist.metrics.scorers import scorer

__all__ = [
    "Metric",
    "autkc",
    "average_precision",
    "f1_score",
    "hamming_loss",
    "label_cardinality",
    "mean_average_precision",
    "metric",
    "multilabel_accuracy",
    "names",
    "precision_at_k",
    "rank_loss",
    "recall_at_k",
    "register",
    "scorer",
    "subset_accuracy",
    "threshold_curve",
    "topk_accuracy",
    "topk_accuracy_curve",
    "topk_error",
]
