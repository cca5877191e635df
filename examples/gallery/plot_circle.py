"""
The paper's circle: why aim at the list
=======================================

Three classes on a circle in five segments. In the long segment two classes are mixed, 70 to 30, and
a linear model with two weights a class cannot get everything right. What it gives up depends on
the loss: softmax fits probabilities on average; a loss with :math:`k = 2` only asks that the label
is among the best two, and spends what freedom there is on that.
"""

# %%
# The generator knows the probabilities, so it knows the least error that is possible.

import matplotlib.pyplot as plt
import numpy as np

from shortlist import datasets, metrics, solve
from shortlist import losses as all_losses

circle = datasets.Circle()
train, held_out, test = (circle.sample(n, seed) for n, seed in ((200, 0), (200, 1), (20000, 2)))
print(f"least possible error: top-1 {circle.bayes_error(1):.1%}, top-2 {circle.bayes_error(2):.1%}")

# %%
# Train several losses. As in the paper there is no intercept, and C is chosen on held-out points,
# for each of the two metrics by itself.

losses = {
    "softmax": all_losses.softmax(),
    "svm": all_losses.svm(smoothing=1.0),
    "top-2 svm alpha": all_losses.topk_svm_alpha(k=2, smoothing=1.0),
    "top-2 entropy": all_losses.topk_entropy(k=2),
    "truncated top-2 entropy": all_losses.truncated_topk_entropy(k=2),
}
Cs = 2.0 ** np.arange(-6, 9, 2)
results, chosen = {}, {}
for name, loss in losses.items():
    models = [solve(train.X, train.y, loss, C=C, n_threads=1) for C in Cs]
    for k in (1, 2):
        held = [metrics.topk_accuracy(held_out.y, held_out.X @ m.weights, k) for m in models]
        best = models[int(np.argmax(held))]
        results[name, k] = metrics.topk_accuracy(test.y, test.X @ best.weights, k)
        chosen[name, k] = best
print(f"{'':26}  top-1  top-2")
for name in losses:
    print(f"{name:26} {results[name, 1]:6.1%} {results[name, 2]:6.1%}")

# %%
# Around the circle: which two classes does each model list? The outer ring shows the truth, the
# most probable class first; inside are the lists of models tuned for the top-2 error.

turns = np.linspace(0, 1, 1441)[:-1]
points = np.column_stack([np.cos(2 * np.pi * turns), np.sin(2 * np.pi * turns)])
colors = np.array(["#d1495b", "#3a7ca5", "#6a994e"])
figure, axis = plt.subplots(figsize=(6.4, 6.4), subplot_kw={"projection": "polar"})
rings = {"softmax": 0.45, "svm": 0.65, "top-2 entropy": 0.85}
for name, radius in rings.items():
    order = np.argsort(-points @ chosen[name, 2].weights, axis=1)
    for place in (0, 1):
        axis.scatter(2 * np.pi * turns, np.full(turns.size, radius + 0.07 * place),
                     c=colors[order[:, place]], s=6)  # fmt: skip
    axis.text(np.pi / 2, radius - 0.05, name, ha="center", fontsize=8)
truth = np.argsort(-circle.posterior(points), axis=1)
for place in (0, 1):
    axis.scatter(2 * np.pi * turns, np.full(turns.size, 1.1 + 0.08 * place),
                 c=colors[truth[:, place]], s=9)  # fmt: skip
axis.set_axis_off()
axis.set_title("outer ring: the truth; inner rings: the two best classes of each model")
plt.show()
