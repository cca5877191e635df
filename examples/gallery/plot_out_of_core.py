"""
Data larger than memory
=======================

A memory map is served as it is: chunks of the file are visited in random order, and the rows inside
each too. Only the duals (n times m numbers) and the weights must fit into memory. Here the file is
small, so that the page is built quickly; nothing else would be different with 500 GB.
"""

# %%
# Write the data in parts, as a program would that never holds all of it.

import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from shortlist import losses, solve

N, D, M = 40_000, 128, 10
folder = tempfile.TemporaryDirectory()
path = Path(folder.name) / "X.npy"
rng = np.random.default_rng(0)
directions = rng.normal(size=(D, M)).astype(np.float32)
on_disk = np.lib.format.open_memmap(path, "w+", np.float32, (N, D))
y = np.empty(N, np.int64)
for first in range(0, N, 5000):
    part = rng.normal(size=(5000, D)).astype(np.float32)
    noise = 6 * rng.gumbel(size=(5000, M))
    on_disk[first : first + 5000] = part
    y[first : first + 5000] = (part @ directions + noise).argmax(axis=1)
on_disk.flush()
del on_disk
print(f"{path.stat().st_size / 1e6:.0f} MB on disk")

# %%
# Train on the map, and on the same numbers in memory. Float32 stays float32; nothing is copied.

mapped, in_memory = np.load(path, mmap_mode="r"), np.load(path)
loss = losses.topk_svm_alpha(k=3, smoothing=1.0)
runs = {
    "memory map": solve(mapped, y, loss, C=1e-3, n_threads=1),
    "in memory": solve(in_memory, y, loss, C=1e-3, n_threads=1),
}
for name, run in runs.items():
    print(f"{name:12} primal {run.certificate.primal:.4f}  gap {run.certificate.gap:.1e}")
difference = np.abs(runs["memory map"].weights - runs["in memory"].weights).max()
print(f"largest difference of weights: {difference:.1e}")

# %%
# The order of visits differs, so the paths to the optimum do; both end within the tolerance.

figure, axis = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
for name, run in runs.items():
    axis.semilogy(run.history.epochs, run.history.gaps, "o-", label=name)
axis.axhline(1e-3, color="gray", ls="--", lw=0.8)
axis.set(xlabel="passes over the data", ylabel="relative duality gap")
axis.legend()
axis.grid(alpha=0.3)
plt.show()
del mapped
folder.cleanup()

# %%
# Text files become such a store by ``shortlist convert huge.svm.gz huge.store``; see
# :doc:`/guide/larger_than_memory`.
