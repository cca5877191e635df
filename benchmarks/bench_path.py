"""What a path of 36 values of C costs, against the dearest of them alone.

    python benchmarks/bench_path.py                    # all sets and losses: two hours
    python benchmarks/bench_path.py --sets digits letter --losses "smooth svm" softmax
    python benchmarks/bench_path.py --record

C = 2^-20, 2^-19, ..., 2^15, each to a gap of 1e-3. All in float64, on one thread; seconds are those
of the processor.
"""

from __future__ import annotations

import argparse
import time
from typing import NamedTuple

import numpy as np

import problems
from bench_c import LIMIT, LOSSES, SETS, losses_for, timed
from recording import record
from shortlist import path
from timing import verdict

CS = [2.0**e for e in range(-20, 16)]
#: The most that a path may cost, relative to its dearest value.
MOST = 3.0
#: A path that takes longer is not run again.
LONG = 5.0


class Cost(NamedTuple):
    """Seconds of a path, and of its dearest value by itself."""

    set: str
    loss: str
    path: float
    dearest: float

    @property
    def ratio(self) -> float:
        """The path's, relative to the dearest value's."""
        return self.path / self.dearest


def measure(set_: str, problem: problems.Problem, name: str) -> Cost:
    """Measure a path, and every value of C by itself."""
    X, y, m = problem

    def seconds() -> float:
        began = time.process_time()
        solutions = path(
            X, y, LOSSES[name], n_classes=m, Cs=CS, n_threads=1, tol=1e-3, max_time=LIMIT,
            keep=lambda solution: solution.converged,
        )  # fmt: skip
        assert all(solutions)
        return time.process_time() - began

    def alone(C: float) -> float:
        return timed(X, y, m, LOSSES[name], C, 1e-3, "auto", LIMIT)[0]

    whole = seconds()  # which compiles
    whole = min(whole, *(seconds() for _ in range(3))) if whole < LONG else min(whole, seconds())
    dearest = sorted(CS, key=alone)[-3:]  # whatever was compiled or disturbed in between
    return Cost(set_, name, whole, max(map(alone, dearest)))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--losses", nargs="*", default=list(LOSSES), choices=list(LOSSES))
    parser.add_argument("--record", action="store_true", help="write docs/recorded/path.json")
    arguments = parser.parse_args()
    costs = []
    for set_ in arguments.sets:
        problem = problems.real(set_, np.float64)
        for name in arguments.losses:
            if name in losses_for(problem):
                cost = measure(set_, problem, name)
                costs.append(cost)
                print(
                    f"{set_}, {name}: path {cost.path:.2f} s, the dearest alone "
                    f"{cost.dearest:.2f} s, ratio {cost.ratio:.1f}  "
                    f"{verdict(cost.ratio, MOST, at_least=False)}",
                    flush=True,
                )
    if arguments.record:
        keep(costs)


def keep(costs: list[Cost]) -> None:
    """Write a table for the documentation: the dearest path of each set, and what is too dear."""
    rows = []
    for set_ in dict.fromkeys(cost.set for cost in costs):
        mine = sorted((cost for cost in costs if cost.set == set_), key=lambda cost: cost.ratio)
        worst = mine[-1]
        rows.append([
            set_,
            f"{sum(cost.ratio < MOST for cost in mine)} of {len(mine)}",
            f"{mine[len(mine) // 2].ratio:.1f}",
            f"{worst.ratio:.1f}: {worst.loss}, {worst.path:.2f} s and {worst.dearest:.2f} s",
        ])  # fmt: skip
    print(record(
        "path",
        title="A path of 36 values of C, against the dearest of them alone",
        command="python benchmarks/bench_path.py --record",
        conditions=f"float64, CPU time of one thread, a gap of 1e-3; target: ratios below {MOST:g}",
        columns=["data", "losses within the target", "median ratio", "largest ratio"],
        rows=rows,
        notes=[
            f"{cost.set}, {cost.loss}: {cost.path:.2f} s, the dearest alone {cost.dearest:.2f} s"
            for cost in costs
            if cost.ratio >= MOST
        ],
    ))  # fmt: skip


if __name__ == "__main__":
    main()
