r"""Tuning for every metric at once.

One search finds, for each metric by itself, the best C, k and gamma [LHS17, section 6]:

- on each fold, and for each k and gamma, one path over ascending C, every model the start of
  the next;
- the scores of the examples held out serve all metrics;
- for metrics of label sets a threshold is tuned on the scores of all folds together, each
  example scored by a model that was not trained on it;
- a metric's value for a setting is the mean over folds, as in scikit-learn's searches;
- where a metric is best at an end of the values of C, the grid grows beyond it;
- the settings that are best for a metric are trained once more on all examples, those only.
"""

from __future__ import annotations

from shortlist.tuning.multilabel import MultilabelClassifierCV
from shortlist.tuning.topk import TopKClassifierCV

__all__ = ["MultilabelClassifierCV", "TopKClassifierCV"]
