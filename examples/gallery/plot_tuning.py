"""
Tuning for every metric at once
===============================

The best C for top-1 need not be the best for top-5, and neither need k be. One search tries all
settings on folds, with warm starts along C, and keeps the best model *for each metric*.
"""

# %%
# Digits with noisy labels, so that there is something to tune.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from shortlist import TopKClassifier, TopKClassifierCV, metrics

X, y = load_digits(return_X_y=True)
rng = np.random.default_rng(0)
X_train, X_test, y_train, y_test = train_test_split(X / 16, y, train_size=600, random_state=0)
noisy = np.where(rng.random(y_train.size) < 0.3, rng.integers(0, 10, y_train.size), y_train)

# %%
# ``extend=True``, the default, adds values of C beyond an end at which a metric is best.

search = TopKClassifierCV(
    TopKClassifier("topk_entropy", random_state=0),
    Cs=2.0 ** np.arange(-10, 1, 2),
    ks=[1, 2, 3],
    metrics=["top1", "top2", "top3"],
    cv=3,
).fit(X_train, noisy)
for name, params in search.best_params_.items():
    print(f"{name}: {params}, {search.best_score_[name]:.1%} on the folds")

# %%
# Validation curves, one for each metric; the best C is dotted.

axes = search.plot()
axes.flat[0].figure.set_size_inches(10, 3.4)
plt.show()

# %%
# Ask for the model of the metric you care about. All of them have certificates.

for name in ("top1", "top3"):
    model = search.estimator_for(name)
    scores = model.decision_function(X_test)
    values = [metrics.metric(m).function(y_test, scores) for m in ("top1", "top3")]
    print(
        f"best for {name}: top1 {values[0]:.1%}, top3 {values[1]:.1%}, "
        f"gap {model.certificate_.gap:.0e}"
    )
