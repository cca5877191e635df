"""
Convergence, and what the certificate is worth
==============================================

A fit keeps two numbers: the objective of the model it has, and a lower bound that no model can
beat. The optimum lies between them. When they meet, you know that you are done, and nobody needs to
guess a number of iterations.
"""

# %%
# Record every evaluation. ``tol=1e-9`` asks for far more than one needs, to see the whole curve.

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_digits

from shortlist import losses, solve

X, y = load_digits(return_X_y=True)
X = X / 16
train, test = slice(0, 1200), slice(1200, None)
runs = {}
for name, loss in (("smooth top-3 svm", losses.topk_svm_alpha(k=3, smoothing=1.0)),
                   ("top-3 svm, with kinks", losses.topk_svm_alpha(k=3)),
                   ("top-3 entropy", losses.topk_entropy(k=3))):  # fmt: skip
    runs[name] = solve(
        X[train], y[train], loss, C=0.1, tol=1e-9, max_epochs=150, solver="sdca", n_threads=1,
        evaluate_on={"test": (X[test], y[test])},
    )  # fmt: skip

# %%
# On the left, primal and dual of one run: they enclose the optimum. In the middle, the relative
# gap. On the right, the accuracy on test data: it stands still long before the gap is tiny, which
# is why the default of ``tol`` is 1e-3.

figure, (left, middle, right) = plt.subplots(1, 3, figsize=(11, 3.6), layout="constrained")
history = runs["smooth top-3 svm"].history
left.plot(history.epochs, history.primal, ".-", label="primal: what the model costs")
left.plot(history.epochs, history.dual, ".-", label="dual: no model costs less")
left.set(xlim=(0, 12), xlabel="passes over the data", ylabel="objective")
left.legend(fontsize=8)
for name, run in runs.items():
    middle.semilogy(run.history.epochs, np.maximum(run.history.gaps, 1e-12), label=name)
    top3 = [100 * line.metrics["test"][2] for line in run.history]
    right.plot(run.history.epochs, top3, label=name)
middle.axhline(1e-3, color="gray", lw=0.8, ls="--")
middle.set(xlabel="passes over the data", ylabel="relative duality gap")
right.set(xlabel="passes over the data", ylabel="top-3 accuracy on test data, %", xlim=(0, 40))
right.legend(fontsize=8)
for axis in (left, middle, right):
    axis.grid(alpha=0.3)
plt.show()

# %%
# The certificate is true for what is returned, whatever ended the run:

for name, run in runs.items():
    print(f"{name:24} {run.status.value:12} gap {run.certificate.gap:.1e}")
