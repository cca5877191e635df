"""
What the losses look like
=========================

A loss sees the scores of one example. Move the score of the true label and hold the others: the
multiclass hinge wants it above *all* others by 1, the top-k losses are content when it is among the
best k.
"""

# %%
# Four other classes with the scores 2, 1, 0 and -1. Left of 2 the label is not first any more, left
# of 1 not among the first two.

import matplotlib.pyplot as plt
import numpy as np

from shortlist import losses

own = np.linspace(-2, 5, 400)
scores = np.column_stack([own, *(np.full(own.size, other) for other in (2.0, 1.0, 0.0, -1.0))])
labels = np.zeros(own.size, int)
groups = {
    "hinges": {
        "svm (k = 1)": losses.svm(),
        "top-2 svm alpha": losses.topk_svm_alpha(2),
        "top-2 svm beta": losses.topk_svm_beta(2),
        "smooth top-2 svm alpha": losses.topk_svm_alpha(2, smoothing=1.0),
        "consistent top-2 svm": losses.topk_svm_consistent(2),
    },
    "entropies": {
        "softmax (k = 1)": losses.softmax(),
        "top-2 entropy": losses.topk_entropy(2),
        "top-2 entropy beta": losses.topk_entropy_beta(2),
        "truncated top-2 entropy": losses.truncated_topk_entropy(2),
    },
}
figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, layout="constrained")
for axis, (title, some) in zip(axes, groups.items(), strict=True):
    for name, loss in some.items():
        axis.plot(own, losses.value(loss, scores, labels), label=name)
    for other in (2.0, 1.0, 0.0, -1.0):
        axis.axvline(other, color="gray", lw=0.6, ls=":")
    axis.set(title=title, xlabel="score of the label (dotted: scores of the others)", ylim=(0, 5))
    axis.legend(fontsize=8)
axes[0].set_ylabel("loss")
plt.show()

# %%
# Smoothing rounds the kinks, and a smooth loss trains faster and is calibrated. Here is the
# gradient with respect to the label's own score.

figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for smoothing in (0.0, 0.1, 0.5, 1.0, 2.0):
    gradient = losses.gradient(losses.topk_svm_alpha(2, smoothing), scores, labels)
    axis.plot(own, gradient[:, 0], label=f"smoothing = {smoothing:g}")
axis.set(xlabel="score of the label", ylabel="derivative of top-2 svm alpha")
axis.legend(fontsize=8)
plt.show()
