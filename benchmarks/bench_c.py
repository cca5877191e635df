"""Time to a proven optimum against C: every method, the automatic choice, and peers, in one run.

For each set, loss, tolerance and C = 2^-20, 2^-15, ..., 2^15: the seconds of `solver="auto"`, of
each method by name, and of every peer that solves the same problem, to the same objective. What
needs more than `--patience` times as long as auto (and a quarter of a second) is broken off, and
shown as ">"; 0.67 decides all that the end tells (plain SDCA gets 0.84 at least). Smooth losses are
solved to 1e-3 and 1e-6, others to 1e-3. All in float64, on one thread; seconds are those of the
processor, so that other work on the machine matters less.

The end sums up, also after Ctrl-C: in how many cells auto is within 1.5 times of the best method,
where it is slower than plain SDCA by more than a fifth, where a peer is faster, and what it did not
solve in 60 s.

    python benchmarks/bench_c.py                      # everything: hours
    python benchmarks/bench_c.py --jobs 2             # the same, two processes side by side
    python benchmarks/bench_c.py --quick              # six losses, 1e-3, four C: ten minutes
    python benchmarks/bench_c.py --sets digits --tols 1e-3 --peers 3 --figure c.png
"""

from __future__ import annotations

import argparse
import functools
import itertools
import json
import math
import multiprocessing
import shlex
import sys
import time
from collections.abc import Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import peers
import problems
from recording import record
from shortlist import losses, solve
from shortlist.losses.operations import traits
from shortlist.solvers import Status

SETS = ("digits", "letter", "emotions", "yeast", "bibtex", "caltech")
CS = tuple(2.0**e for e in range(-20, 16, 5))
METHODS = ("auto", "sdca", "accelerated", "whitened", "newton")
MULTICLASS = {
    "smooth svm": losses.svm(smoothing=1.0),
    "softmax": losses.softmax(),
    "smooth top-3 svm alpha": losses.topk_svm_alpha(k=3, smoothing=1.0),
    "smooth top-3 svm beta": losses.topk_svm_beta(k=3, smoothing=1.0),
    "top-3 entropy": losses.topk_entropy(k=3),
    "top-3 entropy beta": losses.topk_entropy_beta(k=3),
    "smooth consistent top-3 svm": losses.topk_svm_consistent(k=3, smoothing=1.0),
    "svm": losses.svm(),
    "top-3 svm alpha": losses.topk_svm_alpha(k=3),
    "top-3 svm beta": losses.topk_svm_beta(k=3),
    "consistent top-3 svm": losses.topk_svm_consistent(k=3),
}
MULTILABEL = {
    "smooth ova_svm": losses.ova_svm(smoothing=1.0),
    "ova_logistic": losses.ova_logistic(),
    "smooth multilabel_svm": losses.multilabel_svm(smoothing=1.0),
    "multilabel_softmax": losses.multilabel_softmax(),
    "ova_svm": losses.ova_svm(),
    "multilabel_svm": losses.multilabel_svm(),
}
LOSSES = {**MULTICLASS, **MULTILABEL}
QUICK = ("smooth svm", "softmax", "top-3 svm alpha", "smooth multilabel_svm", "ova_logistic")
#: What the figure shows, so that it fits on a page.
DRAWN = ("smooth svm", "softmax", "top-3 svm alpha", "ova_logistic", "smooth multilabel_svm",
         "multilabel_softmax")  # fmt: skip
PEER_COLORS = ("tab:red", "tab:purple", "tab:brown", "tab:pink", "tab:cyan", "gray", "gold",
               "navy", "lime", "salmon", "teal")  # fmt: skip
LIMIT = 60.0
#: A method is not judged by less than this: differences are noise.
NOISE = 0.02


class Cell(NamedTuple):
    """One problem; seconds of every method and peer, infinite where it was broken off."""

    set: str
    loss: str
    tol: float
    C: float
    gap: float
    seconds: dict[str, float]
    notes: list[str]


def timed(X: Any, y: Any, m: int, loss: Any, C: float, tol: float, solver: str, limit: float):
    """Return the least seconds of a run, repeated where it is short, and the solution."""
    least, solution = math.inf, None
    for repetition in itertools.count(1):
        start = time.process_time()

        def is_late(line: Any, start: float = start) -> bool:
            return time.process_time() - start > limit

        solution = solve(
            X, y, loss, n_classes=m, C=C, tol=tol, solver=solver, max_epochs=10**8, n_threads=1,
            max_time=3.0 * limit, callback=is_late,
        )  # fmt: skip
        seconds = time.process_time() - start
        if solution.status is Status.INTERRUPTED:
            raise KeyboardInterrupt
        if solution.converged and seconds <= limit:
            least = min(least, seconds)
        is_near = NOISE < seconds < 3.0 * NOISE  # where it matters, and the machine may be busy
        enough = 1 if seconds > 10.0 else 2 if seconds > 1.0 else 10 if is_near else 4
        if repetition >= enough:  # more than one: the first may compile a kernel
            break
    return least, solution


def measure(
    set_: str, problem: Any, name: str, C: float, tol: float, patience: float, peer_limit: float
) -> Cell:
    """Solve one problem by everything."""
    X, y, m = problem
    seconds = {}
    seconds["auto"], solution = timed(X, y, m, LOSSES[name], C, tol, "auto", LIMIT)
    for solver in METHODS[1:]:
        share = max(patience, 0.84) if solver == "sdca" else patience
        limit = max(min(share * seconds["auto"], LIMIT), 0.25)
        seconds[solver], _ = timed(X, y, m, LOSSES[name], C, tol, solver, limit)
    if peer_limit > 0.0 and np.ndim(y) == 1 and solution.converged:
        # A run as fast as ours, those before it, of two thirds of its effort and less, and waiting.
        peer_limit = max(peer_limit, 5.0 * seconds["auto"])
        for peer in peers.PEERS:
            if peer.solves == name and peer.fits(*X.shape, m):
                seconds[peer.name] = peers.seconds_to(
                    peer,
                    X,
                    y,
                    m,
                    C,
                    solution.certificate.primal,
                    peer_limit,
                    time.process_time,
                )
    return Cell(set_, name, tol, C, solution.certificate.gap, seconds, solution.history.notes)


@functools.lru_cache(maxsize=1)
def _problem(set_: str) -> problems.Problem:
    return problems.real(set_, np.float64)


def losses_for(problem: problems.Problem) -> list[str]:
    """Return the names of the losses for labels of this kind."""
    if np.ndim(problem.y) == 1:
        return [name for name in LOSSES if "multilabel" not in name]
    return list(MULTILABEL)


class Task(NamedTuple):
    """A cell that is to be measured."""

    set: str
    loss: str
    tol: float
    C: float
    patience: float
    peer_limit: float


def carry_out(task: Task) -> Cell:
    """Measure a cell, and print it."""
    problem = _problem(task.set)
    _compile(task.set, task.loss)
    limits = task.patience, task.peer_limit
    cell = measure(task.set, problem, task.loss, task.C, task.tol, *limits)
    show(cell)
    return cell


@functools.cache
def _compile(set_: str, loss: str) -> None:
    X, y, m = _problem(set_)
    for solver in METHODS[1:]:
        solve(X, y, LOSSES[loss], n_classes=m, solver=solver, max_epochs=3, n_threads=1)


def tasks_of(arguments: argparse.Namespace, known: list[Cell]) -> Iterator[Task]:
    """Yield what was asked for and is not known yet."""
    chosen = arguments.losses or (QUICK if arguments.quick else tuple(LOSSES))
    Cs = CS[1::2] if arguments.quick else CS
    done = {cell[:4] for cell in known}
    for set_ in arguments.sets:
        suitable = losses_for(_problem(set_))
        for tol in (1e-3,) if arguments.quick else arguments.tols:
            for name in chosen:
                if name not in suitable or (tol < 1e-3 and not traits(LOSSES[name]).smoothing):
                    continue
                for C in Cs:
                    if (set_, name, tol, C) not in done:
                        yield Task(set_, name, tol, C, arguments.patience, arguments.peers)


def side_by_side(tasks: Iterable[Task], jobs: int) -> Iterator[Cell]:
    """Yield each cell when it is done."""
    if jobs == 1:
        yield from map(carry_out, tasks)
        return
    with ProcessPoolExecutor(jobs, multiprocessing.get_context("spawn")) as pool:
        try:
            for future in as_completed([pool.submit(carry_out, task) for task in tasks]):
                yield future.result()
        except BaseException:  # also one of the caller's: nobody waits for what is left
            pool.shutdown(wait=False, cancel_futures=True)
            for process in multiprocessing.active_children():
                process.terminate()
            raise


def show(cell: Cell) -> None:
    """Print one line."""
    times = "  ".join(
        f"{name} {'>' if value == math.inf else format(value, '.2f')}"
        for name, value in cell.seconds.items()
    )
    exponent = round(math.log2(cell.C))
    print(f"{cell.set:>9}  {cell.loss:<28}{cell.tol:6.0e}  2^{exponent:<4}{times}", flush=True)


class Verdict(NamedTuple):
    """How auto did in some cells."""

    cells: int
    near: int  # within 1.5 times of the best of our own methods
    slower_than_plain: list[str]
    beaten: list[str]
    unsolved: list[str]


def judge(cells: list[Cell]) -> Verdict:
    """Return in which cells auto is good enough, and in which it is not."""
    verdict = Verdict(len(cells), sum(map(is_near, cells)), [], [], [])
    for cell in cells:
        auto, plain = cell.seconds["auto"], max(cell.seconds["sdca"], NOISE)
        where = f"{cell.set}, {cell.loss}, {cell.tol:g}, C = 2^{round(math.log2(cell.C))}"
        if auto > 1.2 * plain:
            verdict.slower_than_plain.append(f"{where}: {auto:.2f} s, plain {plain:.2f} s")
        if auto == math.inf:
            verdict.unsolved.append(f"{where}: gap {cell.gap:.1e}")
        for name, value in cell.seconds.items():
            if name not in METHODS and max(value, NOISE) < auto:
                verdict.beaten.append(f"{where}: {auto:.2f} s, {name} {value:.2f} s")
    return verdict


def is_near(cell: Cell) -> bool:
    """Return whether auto is within 1.5 times of the best method."""
    best = min(max(cell.seconds[name], NOISE) for name in METHODS)
    return cell.seconds["auto"] <= 1.5 * best


def sum_up(cells: list[Cell]) -> None:
    """Print how auto did."""
    verdict = judge(cells)
    share = verdict.near / verdict.cells
    print(f"\n{verdict.cells} cells; within 1.5 times of the best: {verdict.near} ({share:.0%})")
    for title, found in (
        ("slower than plain by more than a fifth", verdict.slower_than_plain),
        ("a peer is faster", verdict.beaten),
        (f"not solved in {LIMIT:g} s", verdict.unsolved),
    ):
        print(f"{title}: {len(found)}")
        for line in found:
            print(f"    {line}")


def keep(cells: list[Cell], name: str, jobs: int) -> None:
    """Write a table of the documentation, named after its losses where these are not all."""
    rows = []
    groups = dict.fromkeys((cell.set, cell.tol) for cell in cells)
    for group in groups:
        some = [cell for cell in cells if (cell.set, cell.tol) == group]
        verdict = judge(some)
        rows.append([
            f"{group[0]}, gap {group[1]:g}, {len({cell.loss for cell in some})} losses, "
            f"{len({cell.C for cell in some})} C",
            f"{verdict.near} of {verdict.cells} ({verdict.near / verdict.cells:.0%})",
            *(len(found) for found in verdict[2:]),
        ])  # fmt: skip
    verdict = judge(cells)
    some = ", ".join(dict.fromkeys(cell.loss for cell in cells))
    print(record(
        name,
        title="Time to a proven optimum at any C: the automatic choice"
              + ("" if name == "any_c" else f" for {some}"),
        command=f"python benchmarks/bench_c.py {shlex.join(sys.argv[1:])}",
        conditions=f"float64, CPU time of one thread; less than {NOISE:g} s counts as that; "
                   f"{jobs} runs side by side",
        columns=["data", "within 1.5 times of our best method", "slower than plain by a fifth",
                 "a peer is faster", f"not solved in {LIMIT:g} s"],
        rows=rows,
        notes=["Targets: 90 %, and none of the rest.",
               *verdict.slower_than_plain, *verdict.beaten, *verdict.unsolved],
    ))  # fmt: skip


def figure(cells: list[Cell], file: str) -> None:
    """Draw time against C for all methods and peers, one panel for each set and loss."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    shown = {(cell.set, cell.loss) for cell in cells if cell.tol == 1e-3 and cell.loss in DRAWN}
    panels = sorted(shown, key=lambda panel: (SETS.index(panel[0]), DRAWN.index(panel[1])))
    columns = min(len(panels), 3)
    n_rows = -(-len(panels) // columns)
    fig, axes = plt.subplots(
        n_rows, columns, figsize=(4.2 * columns, 3.0 * n_rows + 0.8), squeeze=False
    )
    lines = {}  # one of each method, for the legend
    styles = {"auto": ("black", 2.6), "sdca": ("tab:blue", 1.4), "accelerated": ("tab:orange", 1.4),
              "whitened": ("tab:olive", 1.4), "newton": ("tab:green", 1.4)}  # fmt: skip
    for axis, (set_, loss) in zip(axes.flat, panels, strict=False):
        mine = sorted(
            (c for c in cells if (c.set, c.loss, c.tol) == (set_, loss, 1e-3)), key=lambda c: c.C
        )
        for name in dict.fromkeys(name for cell in mine for name in cell.seconds):
            points = [(c.C, c.seconds.get(name, math.inf)) for c in mine]
            points = [(C, s) for C, s in points if s < math.inf]
            if points:
                color, width = styles.get(name, (None, 1.0))
                style = "-" if name in METHODS else "--"
                color = color or PEER_COLORS[len(lines) % len(PEER_COLORS)]
                color = lines[name].get_color() if name in lines else color
                (lines[name],) = axis.loglog(
                    *zip(*points, strict=True), style, color=color, lw=width, marker="o", ms=3
                )
        axis.set_title(f"{set_}, {loss}", fontsize=10)
        axis.set_xscale("log", base=2)
        axis.grid(alpha=0.3)
    for axis in axes.flat[len(panels) :]:
        axis.set_visible(False)
    fig.legend(lines.values(), lines, loc="upper center", ncols=5, frameon=False)
    for axis in axes[:, 0]:
        axis.set_ylabel("seconds to a gap of 1e-3")
    for axis in axes[-1]:
        axis.set_xlabel("C")
    fig.tight_layout(rect=(0.0, 0.0, 1.0, 1.0 - 0.7 / fig.get_figheight()))
    fig.savefig(file, dpi=110)
    print(file)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--sets", nargs="*", default=list(SETS), choices=SETS)
    parser.add_argument("--losses", nargs="*", default=None, choices=list(LOSSES))
    parser.add_argument("--tols", nargs="*", type=float, default=[1e-3, 1e-6])
    parser.add_argument("--patience", type=float, default=2.0, help="with others, relative to auto")
    parser.add_argument("--peers", type=float, default=0.0, help="seconds for each; 0: none")
    parser.add_argument("--save", help="a file of results as JSON, added to where it exists")
    parser.add_argument("--figure", help="a file for a figure of all results")
    parser.add_argument(
        "--record", nargs="?", const="any_c", metavar="NAME", help="write docs/recorded/NAME.json"
    )
    parser.add_argument("--jobs", type=int, default=1, help="processes side by side")
    arguments = parser.parse_args()
    cells = []
    if arguments.save and Path(arguments.save).exists():
        cells = [Cell(*line) for line in json.loads(Path(arguments.save).read_text())]
    try:
        for cell in side_by_side(tasks_of(arguments, cells), arguments.jobs):
            cells.append(cell)
            if arguments.save:
                Path(arguments.save).write_text(json.dumps(cells))
    except KeyboardInterrupt:
        print("interrupted; what was measured:")
    if not cells:
        parser.exit(1, "no cell was measured to its end\n")
    names = list(LOSSES)
    cells.sort(key=lambda cell: (SETS.index(cell.set), -cell.tol, names.index(cell.loss), cell.C))
    sum_up(cells)
    if arguments.record:
        keep(cells, arguments.record, arguments.jobs)
    if arguments.figure:
        figure(cells, arguments.figure)


if __name__ == "__main__":
    main()
