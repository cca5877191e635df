"""
A path over C, each model from the one before
=============================================

Dual variables do not know C: those of one solution are a good start for the next. ``path`` trains a
whole row of models for little more than the price of the last, and every one of them has its own
certificate.
"""

# %%
# From strong to weak regularisation.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from shortlist import losses, path, solve

X, y = load_digits(return_X_y=True)
X = X / 16
train, test = slice(0, 1000), slice(1000, None)
Cs = 2.0 ** np.arange(-12, 7)
loss = losses.svm(smoothing=1.0)
warm = path(X[train], y[train], loss, Cs=Cs, n_threads=1)
cold = [solve(X[train], y[train], loss, C=C, n_threads=1) for C in Cs]

# %%
# Passes over the data, and what the models do on test data. Where C is large the solver changes to
# other methods by itself; the notes say when.

figure, (left, right) = plt.subplots(1, 2, figsize=(10, 3.8), layout="constrained")
for name, models in (("each from the one before", warm), ("each from zero", cold)):
    left.loglog(Cs, [model.history[-1].epoch for model in models], "o-", ms=4, label=name)
left.set(xlabel="C", ylabel="passes over the data")
left.legend(fontsize=8)
for k in (1, 2, 3):
    ranks = [
        ((X[test] @ m.weights) > (X[test] @ m.weights)[np.arange(797), y[test]][:, None]).sum(1)
        for m in warm
    ]
    right.semilogx(Cs, [100 * (rank < k).mean() for rank in ranks], "o-", ms=4, label=f"top-{k}")
right.set(xlabel="C", ylabel="accuracy on test data, %")
right.legend(fontsize=8)
for axis in (left, right):
    axis.grid(alpha=0.3)
plt.show()

# %%

for C, model in zip(Cs, warm, strict=True):
    for note in model.history.notes:
        print(f"C = {C:g}: {note}")
print(f"largest gap: {max(model.certificate.gap for model in warm):.1e}")
