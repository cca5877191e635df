"""The projections against sorting, the entropic steps against bare evaluations of V, in one run.

"Easy" is N(0, 1), the paper's set-up: for these few elements stay above the
threshold and the sum constraint is active. "Hard" is the branch that N(0, 1)
does not reach: half of the elements stay (simplex), the sum constraint is not
active (top-k), the two sides pull against each other (bipartite).
"""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np

import sorting
from shortlist import prox, special
from timing import best_seconds, verdict

BIAS = 1.0
RADIUS = {"simplex": 1.0, "top-k": 1.0, "bipartite": 10.0}


class Case(NamedTuple):
    """One line of the table; the three functions do the same work."""

    name: str
    target: float | None
    ours: Callable[[], Any]
    numba_sort: Callable[[], Any]
    numpy_sort: Callable[[], Any]


def cases(v: np.ndarray) -> Iterator[Case]:
    m = v.shape[1]
    target = 5.0 if m >= 10_000 else None
    out, other = np.empty_like(v), np.empty_like(v)

    for branch, radius in (("easy", 1.0), ("hard", 0.4 * m)):  # E max(v, 0) = 0.4
        yield Case(
            f"simplex, {branch}",
            target,
            lambda r=radius: prox.simplex(v, r, out=out),
            lambda r=radius: sorting.simplex_rows(v, r, other),
            lambda r=radius: [sorting.simplex(row, r) for row in v],
        )
    for k in (1, 5, 10):
        yield Case(
            f"top-{k}, easy",
            None,
            lambda k=k: prox.topk_simplex(v, k, out=out),
            lambda k=k: sorting.topk_simplex_rows(v, k, 1.0, other),
            lambda k=k: [sorting.topk_simplex(row, k, 1.0) for row in v],
        )
    small = v * v.dtype.type(0.3 / np.sqrt(2 * np.log(m)))  # the largest element is about 0.3
    for k in (1, 5, 10):
        yield Case(
            f"top-{k}, hard",
            None,
            lambda k=k: prox.topk_simplex(small, k, bias=BIAS, out=out),
            lambda k=k: sorting.topk_cone_rows(small, k, BIAS, other),
            lambda k=k: [sorting.topk_cone(row, k, BIAS) for row in small],
        )
    half = m // 2
    a, b = np.ascontiguousarray(v[:, :half]), np.ascontiguousarray(v[:, half:])
    pair, other_pair = (np.empty_like(a), np.empty_like(b)), (np.empty_like(a), np.empty_like(b))
    # With an infinite radius the sums are free, and opposite means make them small.
    for branch, left, radius in (("easy", a, 10.0), ("hard", a - a.dtype.type(1), 1e9)):
        yield Case(
            f"bipartite, {branch}",
            target,
            lambda left=left, r=radius: prox.bipartite_simplex(left, b, r, out=pair),
            lambda left=left, r=radius: sorting.bipartite_simplex_rows(left, b, r, *other_pair),
            lambda left=left, r=radius: [
                sorting.bipartite_simplex(x, y, r) for x, y in zip(left, b, strict=True)
            ],
        )


def projections(sizes: list[int], dtype: type) -> None:
    print(f"Projections of N(0, 1) vectors, {dtype.__name__}: microseconds a vector")
    columns = ("m", "shortlist", "ns/element", "Numba sort", "ratio", "NumPy sort", "ratio")
    print(" " * 18 + "".join(f"{column:>11}" for column in columns))
    growth: dict[str, list[float]] = {}
    for m in sizes:
        rows = min(1000, 20_000_000 // m)
        v = np.random.default_rng(0).normal(size=(rows, m)).astype(dtype)
        for case in cases(v):
            few = 3 if m >= 10_000 else 5
            ours, by_numba = best_seconds(case.ours, case.numba_sort, repeat=few)
            (by_numpy,) = best_seconds(case.numpy_sort, repeat=1)
            by_numpy *= rows / min(rows, 5) if "hard" in case.name and "top-" in case.name else 1
            us = [seconds / rows * 1e6 for seconds in (ours, by_numba, by_numpy)]
            ratio = by_numba / ours
            growth.setdefault(case.name, []).append(us[0] * 1e3 / m)
            cells = (m, us[0], us[0] * 1e3 / m, us[1], ratio, us[2], by_numpy / ours)
            print(
                f"{case.name:18}{m:11}" + "".join(f"{cell:11.2f}" for cell in cells[1:]),
                verdict(ratio, case.target),
            )
    print("time grows linearly in m when the nanoseconds an element do not grow:")
    for name, per_element in growth.items():
        print(f"{name:18} " + " -> ".join(f"{ns:.2f}" for ns in per_element))


#: name: (most evaluations of V it may cost, k or None, variant)
STEPS = {
    "softmax": (12.0, None, ""),
    "top-5 alpha": (20.0, 5, "alpha"),
    "top-5 beta": (20.0, 5, "beta"),
    "top-10 alpha": (20.0, 10, "alpha"),
}


def cost_in_omegas(z: np.ndarray, k: int | None, variant: str, alpha: float) -> float:
    """Return the time of an entropic step, in units of one evaluation of V over its vector."""
    out = np.empty_like(z)

    def step() -> None:
        if k is None:
            prox.entropic_simplex(z, alpha, out=out)
        else:
            prox.entropic_topk_simplex(z, k, alpha, variant, out=out)

    bare, ours = best_seconds(lambda: special.wright_omega(z, out=out), step, repeat=4)
    return ours / bare


def entropic(dtype: type, m: int = 1000, rows: int = 1000) -> None:
    print(f"Entropic steps, m = {m}, {dtype.__name__}: cost in evaluations of V over the vector")
    print(" " * 26 + "".join(f"{f'a={alpha:g}':>8}" for alpha in ALPHAS))
    rng = np.random.default_rng(0)
    for spread in (1, 3, 10):
        z = (rng.normal(size=(rows, m)) * spread).astype(dtype)
        for name, (target, k, variant) in STEPS.items():
            ratios = [cost_in_omegas(z, k, variant, alpha) for alpha in ALPHAS]
            cells = "".join(f"{ratio:8.1f}" for ratio in ratios)
            print(f"{name:14} N(0, {spread:2}^2){cells}  {verdict(max(ratios), target, False)}")


ALPHAS = (0.01, 0.1, 1.0, 10.0, 100.0)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="m = 1e3 and 1e4 only")
    sizes = [1_000, 10_000] if parser.parse_args().quick else [1_000, 10_000, 100_000]
    for dtype in (np.float64, np.float32):
        projections(sizes, dtype)
        entropic(dtype)


if __name__ == "__main__":
    main()
