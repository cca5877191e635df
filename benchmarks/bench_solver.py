"""Training against the bare matrix products it cannot do without, and against peers, in one run.

For each set, C and loss: seconds to a relative gap of 1e-3, evaluations included; the time of
bare products of the same shapes and number (for each block X_b W and X_b' D, for each
evaluation X W, and once X' V), with one thread or two, the
better; their ratio; and the seconds of every peer that solves the same problem, to the same
primal objective.

Sets: (a) n=20000, d=512, m=100 and (b) n=5000, d=2048, m=1000 of a seeded generator; letter,
aloi, news20 and mediamill from SHORTLIST_DATA. `--quick` takes less than three minutes: one
precision, one run of each, and few seconds for a peer.
"""

from __future__ import annotations

import argparse
import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse
from threadpoolctl import threadpool_limits

import peers
import problems
from shortlist import losses, solve
from shortlist.losses.operations import traits
from shortlist.solvers import Solution
from shortlist.solvers.sdca import default_block_size

LOSSES = {
    "smooth svm": losses.svm(smoothing=1.0),
    "svm": losses.svm(),
    "top-5 svm": losses.topk_svm_alpha(k=5),
    "softmax": losses.softmax(),
    "top-5 entropy": losses.topk_entropy(k=5),
    "ova_svm": losses.ova_svm(),
    "ova_logistic": losses.ova_logistic(),
    "multilabel_svm": losses.multilabel_svm(smoothing=1.0),
}
QUICK = ("smooth svm", "top-5 svm", "softmax")
QUICK_REAL = {
    "letter": ("svm", "softmax"),
    "news20": ("svm", "softmax"),
    "mediamill": ("multilabel_svm",),
}
DEFAULT_SETS = ["a", "b", "letter", "aloi", "news20", "mediamill"]
TOLERANCE = 1e-3
#: Ratios to the bare products that are aimed at: hinges, entropies.
TARGETS = {"a": (2.5, 3.0), "b": (1.5, 3.0)}


def best(function: Callable[[], Any], repeat: int) -> tuple[float, Any]:
    """Return the least seconds of several runs, and the last result."""
    least, result = math.inf, None
    for _ in range(repeat):
        start = time.perf_counter()
        result = function()
        least = min(least, time.perf_counter() - start)
    return least, result


def bare_products(X: Any, m: int, solution: Solution) -> None:
    """Multiply as often, and in the same shapes, as the run that led to `solution`."""
    weights, changes = np.zeros((X.shape[1], m), X.dtype), np.zeros((X.shape[0], m), X.dtype)
    block = X.shape[0] if scipy.sparse.issparse(X) else default_block_size(X.shape[1])
    for _ in range(solution.history[-1].epoch):
        for first in range(0, X.shape[0], block):
            some = X[first : first + block]
            some @ weights
            weights += some.T @ changes[first : first + block]
    for _ in solution.history:
        X @ weights
    X.T @ changes  # the weights of the duals, at the end


def limit_of_products(X: Any, m: int, solution: Solution, repeat: int) -> float:
    """Return the seconds of the bare products with the better number of threads."""
    times = []
    for threads in (1, 2):
        with threadpool_limits(threads):
            times.append(best(lambda: bare_products(X, m, solution), repeat)[0])
    return min(times)


def peers_of(name: str, X: Any, y: Any, m: int, C: float, target: float, limit: float) -> str:
    """Return the seconds of all peers that solve the same problem."""
    cells = []
    for peer in peers.PEERS:
        if peer.solves == name and peer.fits(*X.shape, m):
            seconds = peers.seconds_to(peer, X, y, m, C, target, limit)
            cells.append(
                f"{peer.name} {seconds:.2f}" if seconds < math.inf else f"{peer.name} > {limit:g}"
            )
    return ", ".join(cells)


def measure(set_: str, problem: problems.Problem, C: float, name: str, arguments: Any) -> None:
    """Print one line of the table."""
    X, y, m = problem
    loss, repeat = LOSSES[name], 1 if arguments.quick else 3
    solve(X[:600], y[:600], loss, n_classes=m, C=C, max_epochs=1)  # compiles
    seconds, solution = best(
        lambda: solve(X, y, loss, n_classes=m, C=C, tol=TOLERANCE, max_time=60.0), repeat
    )
    bare = limit_of_products(X, m, solution, repeat)
    aim = ""
    if set_ in TARGETS and C <= 1.0:
        target = TARGETS[set_]["entropy" in name or name == "softmax"]
        aim = f"<= {target:g} {'ok' if seconds <= target * bare else 'MISSED'}"
    print(
        f"{set_:>10}{X.dtype.name:>9}{C:7g}  {name:<15}{solution.certificate.gap:9.1e}"
        f"{solution.history[-1].epoch:6}{seconds:9.2f}{bare:8.2f}{seconds / bare:7.2f}  {aim:<14}",
        end="",
        flush=True,
    )
    wanted = arguments.peers > 0 and (C == 1.0 or not arguments.quick)
    if wanted and np.ndim(y) == 1 and solution.converged:
        limit = arguments.peers
        print(peers_of(name, X, y, m, C, solution.certificate.primal, limit), end="")
    print(flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true", help="the main lines in three minutes")
    parser.add_argument("--sets", nargs="*", default=DEFAULT_SETS)
    parser.add_argument("--losses", nargs="*", default=list(LOSSES), choices=list(LOSSES))
    parser.add_argument("--peers", type=float, default=None, help="seconds for each peer; 0: none")
    arguments = parser.parse_args()
    if arguments.peers is None:
        arguments.peers = 2.0 if arguments.quick else 30.0
    for name, reason in peers.missing().items():
        print(f"{name} is left out: {reason}")
    columns = (
        "set",
        "dtype",
        "C",
        "  loss",
        "gap",
        "passes",
        "seconds",
        "bare",
        "ratio",
        "  peers, seconds",
    )
    widths = (10, 9, 7, 17, 9, 6, 9, 8, 7, 0)
    print(
        "".join(
            f"{c:>{w}}" if c[0] != " " else f"{c:<{w}}"
            for c, w in zip(columns, widths, strict=True)
        )
    )
    for set_ in arguments.sets:
        for dtype in (np.float32,) if arguments.quick else (np.float32, np.float64):
            try:
                made = set_ in problems.SHAPES
                problem = problems.synthetic(set_, dtype) if made else problems.real(set_, dtype)
            except FileNotFoundError as error:
                print(f"{set_:>10}: {error}")
                break
            chosen = (
                (QUICK if made else QUICK_REAL.get(set_, ()))
                if arguments.quick
                else arguments.losses
            )
            for C in (0.01, 1.0) if made or not arguments.quick else (1.0,):
                for name in chosen:
                    if np.ndim(problem.y) == 1 or traits(LOSSES[name]).multilabel:
                        measure(set_, problem, C, name, arguments)


if __name__ == "__main__":
    main()
