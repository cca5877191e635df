"""
A kernel where lines are not enough
===================================

With ``kernel="rbf"`` the same losses, the same certificate and the same lists come with curved
borders.
"""

# %%
# Five classes in the plane, each of two clouds: no line can part them.

import matplotlib.pyplot as plt
import numpy as np

from shortlist import TopKClassifier

rng = np.random.default_rng(3)
centres = rng.normal(size=(5, 2, 2)) * 1.8


def sample(n):
    """Return points and their classes."""
    y = rng.integers(0, 5, n)
    return centres[y, rng.integers(0, 2, n)] + 0.6 * rng.normal(size=(n, 2)), y


(X, y), (X_test, y_test) = sample(400), sample(4000)
models = {
    "linear": TopKClassifier("topk_svm_alpha", k=2, C=1.0, random_state=0),
    "rbf": TopKClassifier("topk_svm_alpha", k=2, C=1.0, kernel="rbf", gamma=0.5, random_state=0),
}
for name, model in models.items():
    model.fit(X, y)
    top1, top2 = model.score(X_test, y_test), model.score(X_test, y_test, k=2)
    print(f"{name:8} top-1 {top1:.1%}  top-2 {top2:.1%}  gap {model.certificate_.gap:.1e}")
    print(f"{'':8} {len(model.support_)} of {len(y)} examples carry the model")

# %%
# The colour of a point is a mixture of the colours of the two classes on its list.

x0, x1 = np.meshgrid(np.linspace(-5, 5, 220), np.linspace(-5, 5, 220))
grid = np.column_stack([x0.ravel(), x1.ravel()])
palette = np.array(plt.get_cmap("Set2").colors)[:5]
figure, axes = plt.subplots(1, 2, figsize=(9, 4.5), layout="constrained")
for axis, (name, model) in zip(axes, models.items(), strict=True):
    listed = model.predict_topk(grid, 2)[0]
    picture = (0.65 * palette[listed[:, 0]] + 0.35 * palette[listed[:, 1]]).reshape(220, 220, 3)
    axis.imshow(picture, extent=(-5, 5, -5, 5), origin="lower", alpha=0.6)
    axis.scatter(*X.T, c=palette[y], s=12, edgecolors="k", linewidths=0.3)
    axis.set(title=name, xticks=[], yticks=[])
plt.show()
