"""
Choosing k
==========

How long will the list be that people see? That is the k to *judge* by. The k of the *loss* is a
tuning parameter: here is how losses of different k do at every length of list.
"""

# %%
# Classes that overlap a lot: 20 Gaussians in 6 dimensions, with ten percent of wrong labels.

import matplotlib.pyplot as plt
import numpy as np

from shortlist import TopKClassifier, datasets, metrics

rng = np.random.default_rng(0)
mixture = datasets.GaussianMixture(rng.normal(size=(20, 6)) * 1.5)
train, test = mixture.sample(1500, 1), mixture.sample(20000, 2)
y_train = np.where(rng.random(train.n) < 0.1, rng.integers(0, 20, train.n), train.y)

# %%
# One model a k; k = 1 is softmax. ``topk_accuracy_curve`` has the accuracies for all lengths.

curves = {}
for k in (1, 2, 3, 5, 10):
    model = TopKClassifier("topk_entropy", k=k, C=0.1, random_state=0).fit(train.X, y_train)
    curves[k] = metrics.topk_accuracy_curve(test.y, model.decision_function(test.X))

print("length of list " + "".join(f"{s:>8}" for s in (1, 2, 3, 5, 10)))
for k, curve in curves.items():
    print(f"loss with k={k:<4}" + "".join(f"{curve[s - 1]:8.1%}" for s in (1, 2, 3, 5, 10)))

# %%
# Differences to softmax, in points. A larger k gives up the first place to gain further down. The
# gains are small and the losses may be large: tune k like C (:ref:`here is how
# <sphx_glr_gallery_plot_tuning.py>`), and start with a k no longer than the list.

figure, axis = plt.subplots(figsize=(7, 4), layout="constrained")
lengths = np.arange(1, 13)
for k, curve in curves.items():
    axis.plot(lengths, 100 * (curve - curves[1])[:12], "o-", label=f"k = {k}", ms=4)
axis.set(xlabel="length of the list", ylabel="accuracy, points above k = 1", xticks=lengths)
axis.legend(title="loss: top-k entropy")
axis.grid(alpha=0.3)
plt.show()
