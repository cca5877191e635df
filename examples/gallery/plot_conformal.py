"""
Lists with a promise
====================

``predict_topk`` gives every example a list of the same length. `ConformalTopK` chooses the length:
as short as it can be such that the label is on the list with a promised probability, say 95
percent, whatever the model.
"""

# %%
# Three parts: to train, to calibrate, to test.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split

from shortlist import TopKClassifier
from shortlist.model_selection import ConformalTopK

X, y = load_digits(return_X_y=True)
X = X / 16 + 0.5 * np.random.default_rng(0).normal(size=X.shape)  # make it hard
X_train, X_rest, y_train, y_rest = train_test_split(X, y, train_size=500, random_state=0)
X_cal, X_test, y_cal, y_test = train_test_split(X_rest, y_rest, train_size=500, random_state=0)
model = TopKClassifier(C=0.01, random_state=0).fit(X_train, y_train)

# %%
# Promises from 70 to 99 percent, by four ways to say how strange a label is.

promises = np.linspace(0.7, 0.99, 12)
figure, (left, right) = plt.subplots(1, 2, figsize=(10, 4), layout="constrained")
for method in ("rank", "lac", "aps", "raps"):
    coverage, length = [], []
    for promise in promises:
        lists = ConformalTopK(model, method, alpha=1 - promise).fit(X_cal, y_cal)
        sets = lists.predict_set(X_test)
        coverage.append(sets[np.arange(y_test.size), y_test].mean())
        length.append(sets.sum(axis=1).mean())
    left.plot(100 * promises, 100 * np.array(coverage), "o-", ms=3, label=method)
    right.plot(100 * promises, length, "o-", ms=3, label=method)
left.plot([70, 99], [70, 99], color="gray", ls="--", lw=0.8)
left.set(xlabel="promised, %", ylabel="held on test data, %")
right.set(xlabel="promised, %", ylabel="mean length of the list")
right.legend()
for axis in (left, right):
    axis.grid(alpha=0.3)
plt.show()

# %%
# The promise is kept, up to the luck of the draw of 500 examples. ``lac`` has the shortest lists on
# average; ``aps`` spreads the care more evenly over easy and hard examples.

lists = ConformalTopK(model, "lac", alpha=0.05).fit(X_cal, y_cal)
sets = lists.predict_set(X_test)
print("length of list:     ", *range(1, sets.sum(axis=1).max() + 1))
print("number of examples: ", *np.bincount(sets.sum(axis=1))[1:])
