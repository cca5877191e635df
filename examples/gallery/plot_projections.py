"""
The maps behind the losses
==========================

One step of training is a projection: onto the simplex for the multiclass hinge, onto the top-k
simplex for the top-k hinge, with an entropy for softmax. All of them are public, take vectors or
whole matrices, and need no sort.
"""

# %%
# Project one vector in several ways. The top-k simplex lets no element have more than 1/k of the
# sum: a single other class cannot carry all the blame.

import matplotlib.pyplot as plt
import numpy as np

from shortlist import prox

v = np.array([1.6, 1.1, 0.7, 0.2, -0.3, -0.8])
maps = {
    "simplex": prox.simplex(v),
    "top-2 simplex": prox.topk_simplex(v, k=2),
    "top-4 simplex": prox.topk_simplex(v, k=4),
    "entropic simplex": prox.entropic_simplex(v, alpha=1.0),
    "entropic top-2 simplex": prox.entropic_topk_simplex(v, k=2, alpha=1.0),
}
figure, axis = plt.subplots(figsize=(8, 3.8), layout="constrained")
places, width = np.arange(v.size), 0.16
for i, (name, x) in enumerate(maps.items()):
    axis.bar(places + (i - 2) * width, x, width, label=f"{name}, sum {x.sum():.2f}")
axis.set_xticks(places, [f"v = {value:g}" for value in v])
axis.legend(fontsize=8)
plt.show()

# %%
# The set itself, for three elements: the simplex of sums up to 1, and what is left of it when no
# element may exceed half of the sum (variant alpha) or one half (beta). Random points, projected.

points = np.random.default_rng(0).normal(size=(6000, 3)) * 0.8 + 0.2
figure = plt.figure(figsize=(10, 3.9), layout="constrained")
for i, (title, x) in enumerate(
    {
        "simplex (sum at most 1)": prox.topk_simplex(points, k=1),
        "top-2 simplex alpha": prox.topk_simplex(points, k=2),
        "top-2 simplex beta": prox.topk_simplex(points, k=2, variant="beta"),
    }.items()
):
    axis = figure.add_subplot(1, 3, i + 1, projection="3d")
    axis.scatter(*x.T, s=2, c=x.sum(axis=1), cmap="viridis")
    axis.set(title=title, xlim=(0, 1), ylim=(0, 1), zlim=(0, 1))
    axis.view_init(25, 35)
    axis.set_xticks([0, 1]), axis.set_yticks([0, 1]), axis.set_zticks([0, 1])
plt.show()

# %%
# Time grows with the length of the vector, not faster.

import time

for m in (1_000, 10_000, 100_000, 1_000_000):
    rows = np.random.default_rng(1).normal(size=(max(1, 200_000 // m), m))
    prox.topk_simplex(rows, k=5)
    start = time.perf_counter()
    prox.topk_simplex(rows, k=5)
    print(f"m = {m:9}: {(time.perf_counter() - start) / rows.size * 1e9:5.1f} ns an element")
