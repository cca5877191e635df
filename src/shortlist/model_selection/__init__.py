"""Choosing with data that the model did not see: thresholds, folds, lists with a promise.

==========================  ==============================================================
`thresholds`                rules from scores to label sets
`ThresholdClassifier`       label sets from any classifier with scores, tuned on other folds
`IterativeStratifiedKFold`  folds in which every label is as frequent as in all examples
`ConformalTopK`             shortlists that hold the label with a promised probability
==========================  ==============================================================
"""

from shortlist.model_selection import thresholds
from shortlist.model_selection.conformal import ConformalTopK
from shortlist.model_selection.stratification import IterativeStratifiedKFold
from shortlist.model_selection.threshold_classifier import ThresholdClassifier

__all__ = [
    "ConformalTopK",
    "IterativeStratifiedKFold",
    "ThresholdClassifier",
    "thresholds",
]
