"""Peak memory of training beyond X, against the duals and the weights it must hold.

Each case runs in a process of its own, after a small one has compiled the kernels; the peak
is that of resident memory, as Linux counts it.
"""

from __future__ import annotations

import multiprocessing
from pathlib import Path

import numpy as np

import problems
from shortlist import losses, solve
from timing import verdict

LOSSES = {"smooth svm": losses.svm(smoothing=1.0), "softmax": losses.softmax()}
TARGET = 1.2


def memory(line: str) -> int:
    """Return a line of the process's status, in bytes."""
    status = Path("/proc/self/status").read_text()
    return int(status.split(f"{line}:")[1].split()[0]) * 1024


def measure(shape: str, name: str) -> None:
    X, y, m = problems.synthetic(shape, np.float32)
    solve(X[:100], y[:100], LOSSES[name], n_classes=m, max_epochs=2)
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = memory("VmRSS")
    solution = solve(X, y, LOSSES[name], n_classes=m, tol=1e-3)
    beyond = memory("VmHWM") - before
    needed = solution.duals.nbytes + solution.weights.nbytes
    print(
        f"{shape:>6}  {name:<12}{X.nbytes / 1e6:8.1f}{needed / 1e6:10.1f}{beyond / 1e6:10.1f}"
        f"{beyond / needed:8.2f}  {verdict(beyond / needed, TARGET, at_least=False)}"
    )


def main() -> None:
    print("megabytes:          X   duals+W    beyond X   ratio")
    context = multiprocessing.get_context("spawn")
    for shape in problems.SHAPES:
        for name in LOSSES:
            process = context.Process(target=measure, args=(shape, name))
            process.start()
            process.join()


if __name__ == "__main__":
    main()
