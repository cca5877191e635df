"""
Label sets: where to cut the scores
===================================

Two digits in one picture. A model gives every digit a score; which of them are *in* the set is
decided by a threshold, and which threshold is best depends on the metric.
"""

# %%
# Lay digits over each other: one, two or three in a picture.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from shortlist import MultilabelClassifier, metrics

images, digits = load_digits(return_X_y=True)
rng = np.random.default_rng(0)


def overlays(n, some):
    """Return pictures and their label sets."""
    X, Y = np.zeros((n, 64)), np.zeros((n, 10), dtype=int)
    for i in range(n):
        for j in rng.choice(some, size=rng.choice([1, 2, 3], p=[0.3, 0.5, 0.2])):
            X[i] = np.maximum(X[i], images[j] / 16)
            Y[i, digits[j]] = 1
    return X, Y


(X, Y), (X_test, Y_test) = overlays(2000, np.arange(1200)), overlays(2000, np.arange(1200, 1797))

# %%
# One model, and a metric of its label sets at any number of thresholds in one pass.

model = MultilabelClassifier("multilabel_svm", C=0.1, random_state=0).fit(X, Y)
scores = model.decision_function(X_test)
tried = np.linspace(scores.min(), scores.max(), 400)
figure, (left, right) = plt.subplots(
    1, 2, figsize=(10, 4), layout="constrained", width_ratios=[2, 1]
)
for name in ("f1_micro", "f1_macro", "accuracy", "subset_accuracy"):
    values = metrics.threshold_curve(Y_test, scores, tried, name)
    (line,) = left.plot(tried, 100 * values, label=name)
    best = tried[values.argmax()]
    left.plot(best, 100 * values.max(), "o", color=line.get_color())
left.axvline(0.0, color="gray", ls="--", lw=0.8)
left.set(xlabel="threshold", ylabel="metric, %")
left.legend()
example = int(np.flatnonzero(Y_test.sum(axis=1) == 2)[1])
right.imshow(X_test[example].reshape(8, 8), cmap="gray_r")
right.set_title(f"digits {', '.join(map(str, np.flatnonzero(Y_test[example])))}")
right.axis("off")
plt.show()

# %%
# Zero is not a good threshold for this loss: it ranks labels and does not place zero anywhere. Name
# the metric instead, and the threshold is tuned on folds that the model did not see.

print(f"{'threshold':18}  f1_micro  subset_accuracy")
for threshold in (0.0, "cardinality", "f1_micro", "subset_accuracy"):
    model.set_params(threshold=threshold).fit(X, Y)
    found = model.predict(X_test)
    f1, subset = metrics.f1_score(Y_test, found), metrics.subset_accuracy(Y_test, found)
    print(f"{threshold!s:18} {f1:9.1%} {subset:16.1%}")
