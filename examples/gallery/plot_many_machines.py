"""
Data on many machines
=====================

``shortlist.dask`` trains the same models on data that no machine holds alone. Workers keep their
rows; in each round they send only a change of the weights. The certificate is that of the whole
problem, over all partitions.
"""

# %%
# A cluster of two workers, here inside this process; in earnest it would be
# ``Client("scheduler:8786")``. The data are in eight partitions.

import warnings

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client
from sklearn.datasets import load_digits
from sklearn.exceptions import ConvergenceWarning

import shortlist
import shortlist.dask

X, y = load_digits(return_X_y=True)
X = X / 16
rows, labels = da.from_array(X, chunks=(225, -1)), da.from_array(y, chunks=225)

client = Client(processes=False, n_workers=2, threads_per_worker=1, dashboard_address=None)
settings = {"loss": "svm", "C": 0.1, "tol": 1e-4, "random_state": 0}
warnings.simplefilter("ignore", ConvergenceWarning)  # plain rounds are far from it after 100
plain, pulled = (
    shortlist.dask.TopKClassifier(**settings, solver=solver, max_rounds=100).fit(rows, labels)
    for solver in ("cocoa", "accelerated")
)
print(f"rounds: {plain.n_iter_} plain, {pulled.n_iter_} accelerated")
print(f"bytes to and from the client: {pulled.bytes_:,}")

# %%
# It is the same optimum as that of one machine: each certificate brackets both.

local = shortlist.TopKClassifier(**settings).fit(X, y)
print(f"one machine:   {local.certificate_.dual:.4f} to {local.certificate_.primal:.4f}")
print(f"two of them:   {pulled.certificate_.dual:.4f} to {pulled.certificate_.primal:.4f}")

# %%
# Predictions are lazy, as Dask's are; a model for one machine is a call away.

lists, _ = pulled.predict_topk(rows, 3)
print(f"label on the list of three: {np.mean((lists.compute() == y[:, None]).any(axis=1)):.3f}")
print(pulled.to_local().predict_topk(X[:1], 3)[0])
client.close()

fig, ax = plt.subplots(figsize=(7, 4), layout="constrained")
for name, model in (("plain CoCoA+", plain), ("accelerated", pulled)):
    ax.semilogy(model.history_.epochs, model.history_.gaps, marker=".", label=name)
ax.axhline(settings["tol"], color="0.5", linewidth=1)
ax.set(xlabel="rounds", ylabel="relative duality gap")
ax.legend()
plt.show()
