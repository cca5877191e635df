"""What a path of 36 values of C costs, against the dearest of them alone.

    python benchmarks/bench_path.py [--sets digits letter] [--record]

C = 2^-20, 2^-19, ..., 2^15, each to a gap of 1e-3. All in float64, on one thread; seconds are those
of the processor.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

import problems
from bench_c import LIMIT, LOSSES, timed
from recording import record
from shortlist import path
from timing import verdict

SETS = ("digits", "letter", "emotions", "yeast")
CS = [2.0**e for e in range(-20, 16)]


def measure(set_: str, name: str) -> list[str]:
    """Return a line of the table."""
    X, y, m = problems.real(set_, np.float64)
    options = {"n_classes": m, "Cs": CS, "n_threads": 1, "max_time": LIMIT}

    def seconds() -> float:
        began = time.process_time()
        solutions = path(X, y, LOSSES[name], tol=1e-3, **options)
        assert all(solution.converged for solution in solutions)
        return time.process_time() - began

    def dearest_alone() -> float:
        return max(timed(X, y, m, LOSSES[name], C, 1e-3, "auto", LIMIT)[0] for C in CS)

    seconds(), dearest_alone()  # which compiles
    dearest, whole = dearest_alone(), min(seconds() for _ in range(3))
    ratio = whole / dearest
    print(
        f"{set_}, {name}: path {whole:.2f} s, the dearest alone {dearest:.2f} s, ratio "
        f"{ratio:.1f}  {verdict(ratio, 3.0, at_least=False)}",
        flush=True,
    )
    return [f"{set_}, {name}", f"{whole:.2f}", f"{dearest:.2f}", f"{ratio:.1f}"]


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sets", nargs="*", default=list(SETS))
    parser.add_argument("--record", action="store_true", help="write docs/recorded/path.json")
    arguments = parser.parse_args()
    rows = []
    for set_ in arguments.sets:
        is_single = np.ndim(problems.real(set_, np.float64).y) == 1
        several = ("smooth multilabel_svm", "multilabel_softmax")
        for name in ("smooth svm", "softmax") if is_single else several:
            rows.append(measure(set_, name))
    if arguments.record:
        print(record(
            "path",
            title="A path of 36 values of C, against the dearest of them alone",
            command="python benchmarks/bench_path.py --record",
            conditions="float64, CPU time of one thread, a gap of 1e-3; target: a ratio below 3",
            columns=["data and loss", "path, s", "dearest alone, s", "ratio"],
            rows=rows,
        ))  # fmt: skip


if __name__ == "__main__":
    main()
