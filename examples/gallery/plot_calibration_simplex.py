"""
Which losses know the best shortlist?
=====================================

Give a loss infinite data at one point x, where the classes have probabilities p. Do the scores of
least expected loss lead to the best shortlist? Each point of a triangle is such a p for three
classes; a grey one is where some minimiser is wrong. :doc:`/calibration` has proofs for any number
of classes.
"""

# %%
# `bayes.excess_risk` gives, for every shortlist, what it loses against the best one (regret), and
# the least excess of the surrogate risk that leads to it. A shortlist with regret that costs
# nothing is one that the loss does not know to be wrong.

import matplotlib.pyplot as plt
import numpy as np

from shortlist import bayes, losses

CELLS = 24
panels = [
    ("svm, k = 1", losses.svm(), 1),
    ("softmax, k = 1", losses.softmax(), 1),
    ("svm, k = 2", losses.svm(), 2),
    ("top-2 svm beta, k = 2", losses.topk_svm_beta(2), 2),
    ("smooth top-2 svm beta, k = 2", losses.topk_svm_beta(2, 1.0), 2),
    ("consistent top-2 svm, k = 2", losses.topk_svm_consistent(2), 2),
]


def knows(loss, k, p):
    """Return whether every minimiser at p leads to the best shortlist."""
    excess = bayes.excess_risk(loss, k, p)
    return excess.risk[excess.regret > 1e-9].min(initial=np.inf) > 1e-9


# %%
# The losses treat all classes alike, so each sorted p is solved once.

triangles = []
for a in range(CELLS):
    for b in range(CELLS - a):
        for up in (0, 1):
            corner = np.array([a, b, CELLS - a - b - 1 - up]) + (1 + up) / 3
            if corner.min() > 0 and corner[2] >= 0:
                triangles.append(corner / CELLS)
points = np.array(triangles)
colors = np.array([[0.82, 0.29, 0.36], [0.23, 0.49, 0.65], [0.42, 0.60, 0.31]])
figure, axes = plt.subplots(2, 3, figsize=(9, 5.8), layout="constrained")
for axis, (title, loss, k) in zip(axes.flat, panels, strict=True):
    known, shown = {}, []
    for p in points:
        key = tuple(np.sort(p).round(6))
        if key not in known:
            known[key] = knows(loss, k, np.sort(p) + np.array([-1, 0, 1]) * 1e-3)
        chosen = p.argmax() if k == 1 else p.argmin()
        shown.append(colors[chosen] if known[key] else (0.65, 0.65, 0.65))
    axis.scatter(points[:, 1] + 0.5 * points[:, 2], points[:, 2], c=shown, s=16, marker="h")
    axis.set_title(title, fontsize=10)
    axis.set_aspect(1.15)
    axis.axis("off")
figure.suptitle("colour: the best class (k = 1), or the one left out (k = 2); grey: not known")
plt.show()

# %%
# The verdict for all p at once, in fractions:

print(bayes.calibration(losses.topk_svm_beta(2), k=2, m=3))
print(bayes.calibration(losses.topk_svm_consistent(2), k=2, m=3))
