"""Many machines: rounds by the number of groups, what a round costs, and what a death changes.

    python benchmarks/bench_dask.py rounds [--quick] [--sets digits,letter] [--csv rounds.csv]
    python benchmarks/bench_dask.py overhead
    python benchmarks/bench_dask.py deaths

`rounds` are counted exactly, with logical groups in one process: the automatic rule against fixed
pulls, plain CoCoA+ and L-BFGS, to gaps of 1e-3 and 1e-4, with the smooth multiclass hinge (for
label sets the multilabel one) and C = 1 / (0.001 n). The others are given up when they have taken
as many rounds as the rule (plain CoCoA+: ten more), which is shown by a ">". The sets are slices of
`ROWS` rows, so that 128 groups of all are counted in minutes.

`overhead` measures, on two processes, rounds with next to no work, by the number of groups.
`deaths` kills a worker at a random moment, ten times, and the client twice, and compares the models
with that of a run without.
"""

from __future__ import annotations

import argparse
import csv
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
import uuid
from pathlib import Path
from typing import Any

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from problems import real, synthetic
from shortlist import losses
from shortlist.dask import TopKClassifier, partitions, rounds, store
from shortlist.dask.cluster import DaskEngine
from shortlist.dask.engines import InProcess, Value
from shortlist.dask.fleet import Fleet, Question
from shortlist.losses import check_labels
from shortlist.rows import as_storage
from shortlist.solvers.problem import Problem

ROWS = {"digits": 1797, "letter": 3000, "mediamill": 1500, "a": 1500}
GROUPS = (1, 2, 8, 32, 128)
PULLS = (1.0, 3.0, 10.0, 30.0, 100.0, 300.0, 1000.0)
GAPS = (1e-3, 1e-4)
LAMBDA = 1e-3
MOST = 600


def parts_of(name: str, k: int) -> tuple[list[partitions.Partition], int]:
    X, y, m = synthetic("a", np.float64) if name == "a" else real(name, np.float64)
    n = ROWS[name]
    X, y = X[:n], y[:n]
    smooth = losses.multilabel_svm if name == "mediamill" else losses.svm
    loss = smooth(smoothing=1.0)
    labels, c = check_labels(loss, y, n, m), np.full(n, 1.0 / (LAMBDA * n))
    cuts = [i * n // k for i in range(k + 1)]
    parts = []
    for i in range(k):
        some = np.arange(cuts[i], cuts[i + 1])
        rows = as_storage(X[cuts[i] : cuts[i + 1]], 1.0)
        parts.append(partitions.Partition(i, Problem(rows, labels.take(some), loss, c[some])))
    return parts, m


def count(parts: list[partitions.Partition], m: int, most: int, **options: Any) -> list[int]:
    """Return the rounds to each of the gaps; `most` + 1 where they are not enough."""
    with InProcess(len(parts)) as engine:
        sizes = [partitions.size_of(part) for part in parts]
        fleet = Fleet(engine, [Value(part) for part in parts], sizes, n_groups=len(parts))
        wanted = rounds.Options(tol=GAPS[-1], max_rounds=most, **options)
        gaps = rounds.train(fleet, m, True, {}, wanted).history.gaps
    return [int(np.argmax(gaps <= gap)) + 1 if (gaps <= gap).any() else most + 1 for gap in GAPS]


def shown(number: int, most: int) -> str:
    return f"{number}" if number <= most else f">{most}"


def count_rounds(sets: list[str], groups: list[int], path: str | None) -> None:
    lines = []
    print("set        groups  gap    rule  best fixed (pull)    plain   L-BFGS")
    for name in sets:
        of_lbfgs = None
        for k in groups:
            parts, m = parts_of(name, k)
            ours = count(parts, m, MOST, solver="accelerated")
            fixed = {
                pull: count(parts, m, ours[1], solver="accelerated", kappa=pull) for pull in PULLS
            }
            plain = count(parts, m, ours[1] + 10, solver="cocoa")
            if of_lbfgs is None:  # the sums are the same for any number of groups
                of_lbfgs = count(parts, m, MOST, solver="lbfgs")
            for i, gap in enumerate(GAPS):
                pull = min(fixed, key=lambda pull: fixed[pull][i])
                best = shown(fixed[pull][i], ours[1])
                line = [name, k, gap, shown(ours[i], MOST), best, pull,
                        shown(plain[i], ours[1] + 10), shown(of_lbfgs[i], MOST)]  # fmt: skip
                lines.append((line, ours[i] / fixed[pull][i], ours[i] - plain[i]))
                print("{:10s} {:6d}  {:.0e}  {:>5s}  {:>9s} ({:5g}) {:>8s} {:>8s}".format(*line),
                      flush=True)  # fmt: skip
            if path is not None:
                with open(path, "w", newline="") as file:
                    table = csv.writer(file)
                    table.writerow(
                        ["set", "groups", "gap", "rule", "best fixed", "pull", "plain", "L-BFGS"]
                    )
                    table.writerows(line for line, _, _ in lines)
    near = np.mean([ratio <= 1.5 for _, ratio, _ in lines])
    worst = max(ratio for _, ratio, _ in lines)
    slower = max(more for _, _, more in lines)
    print(f"within 1.5 times of the best fixed pull: {near:.0%} (worst {worst:.2f}); "
          f"rounds more than plain, at most: {slower}")  # fmt: skip


def measure_overhead() -> None:
    rng = np.random.default_rng(0)
    d, m, n = 100, 20, 256
    X, y = rng.normal(size=(n, d)), np.arange(n) % m
    loss, found = losses.svm(smoothing=1.0), []
    labels = check_labels(loss, y, n, m)
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        DaskEngine(client) as engine,
    ):
        for k in (1, 2, 4, 8, 16, 32):
            parts = []
            for i in range(k):
                some = np.arange(i * n // k, (i + 1) * n // k)
                problem = Problem(as_storage(X[some]), labels.take(some), loss, np.ones(some.size))
                parts.append(partitions.Partition(i, problem))
            handles = [
                engine.submit(_part, part, key=f"part-{uuid.uuid4().hex}") for part in parts
            ]  # fmt: skip
            sizes = [partitions.size_of(part) for part in parts]
            fleet = Fleet(engine, handles, sizes, n_groups=k, name=f"empty-{uuid.uuid4().hex[:6]}")
            fleet.start()
            question = Question(np.zeros((d, m)), 1.0)
            fleet.ask(question, 0)
            started, sent = time.perf_counter(), fleet.bytes
            for i in range(1, 21):
                fleet.ask(question, i)
            seconds = (time.perf_counter() - started) / 20
            found.append((k, seconds))
            print(f"{k:3d} groups: {1e3 * seconds:6.1f} ms a round, "
                  f"{(fleet.bytes - sent) / 20:.0f} bytes to and from the client "
                  f"({2 * 8 * d * m} are two weight matrices), about "
                  f"{8 * d * m * (2 * k):.0f} among workers", flush=True)  # fmt: skip
        b, a = np.polyfit(*zip(*found, strict=True), 1)
        print(f"a round costs about {1e3 * a:.0f} ms + {1e3 * b:.1f} ms for each group")

    measure_work()


def measure_work() -> None:
    """Print the constants of the scaling model that are not those of messages."""
    parts, m = parts_of("a", 1)
    duals, point = partitions.zero_duals(parts), np.zeros((parts[0].problem.d, m))
    n, d = ROWS["a"], parts[0].problem.d
    with InProcess(1), tempfile.TemporaryDirectory() as folder:
        outcome = partitions.ascend(parts, duals, point, 1.0, 1, (0, 0))
        took = []
        for i in range(3):
            started = time.process_time()
            outcome = partitions.ascend(parts, outcome.duals, point, 1.0, 1, (0, i))
            took.append(time.process_time() - started)
        flops = 6.0 * n * d * m / min(took)  # scores twice, and what is applied
        print(
            f"a pass over {n} x {d} with {m} classes: {min(took):.2f} s, {flops / 1e9:.1f} GFlop/s"
        )
        started = time.perf_counter()
        store.save_duals(folder, 0, [0], outcome.duals)
        store.load_duals(folder, 0, parts)
        took_file = time.perf_counter() - started
        print(f"a checkpoint of its {outcome.duals.arrays[0].nbytes / 1e6:.1f} MB of duals: "
              f"{1e3 * took_file:.0f} ms to write and read")  # fmt: skip


def _part(part: partitions.Partition) -> partitions.Partition:
    return part


def problem_for_deaths() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 30))
    y = (X @ rng.normal(size=(30, 6)) + rng.normal(size=(2000, 6))).argmax(axis=1)
    return da.from_array(X, chunks=(250, 30)), da.from_array(y, chunks=250)


def model_for_deaths(**options: Any) -> TopKClassifier:
    return TopKClassifier("svm", C=1.0, tol=1e-3, random_state=0, **options)


CLIENT = """
import sys
sys.path.insert(0, sys.argv[3])
from distributed import Client
from bench_dask import model_for_deaths, problem_for_deaths
Client(sys.argv[1])
told = lambda progress: print(progress.epoch, flush=True)
model_for_deaths(checkpoint=sys.argv[2], checkpoint_every=3, callbacks=[told]).fit(
    *problem_for_deaths())
"""


def count_deaths() -> None:
    rng, X, y = np.random.default_rng(1), *problem_for_deaths()
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        model_for_deaths().fit(X, y)  # compiles
        started = time.perf_counter()
        calm = model_for_deaths().fit(X, y)
        lasted = time.perf_counter() - started
        print(f"undisturbed: {calm.n_iter_} rounds, {lasted:.1f} s, {calm.certificate_}")
        same = 0
        for run in range(10):
            client.wait_for_workers(2, timeout=120)
            delay = float(rng.uniform(0.1, 0.9) * lasted)
            pid = list(client.run(os.getpid).values())[run % 2]
            timer = threading.Timer(delay, os.kill, (pid, signal.SIGKILL))
            timer.start()
            started = time.perf_counter()
            model = model_for_deaths(checkpoint_every=5).fit(X, y)
            took = time.perf_counter() - started
            timer.join()
            equal = np.array_equal(model.coef_, calm.coef_)
            equal &= model.certificate_ == calm.certificate_
            same += equal
            print(f"worker killed after {delay:.2f} s: {took:.1f} s, {model.n_iter_} rounds, "
                  f"{'the same bits' if equal else 'ANOTHER MODEL'}", flush=True)  # fmt: skip
        for after in (4, 11):
            client.wait_for_workers(2, timeout=120)
            with tempfile.TemporaryDirectory() as folder:
                here = str(Path(__file__).parent)
                command = [sys.executable, "-c", CLIENT, client.scheduler.address, folder, here]
                with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
                    for line in other.stdout or ():
                        if int(line) >= after:
                            break
                    other.kill()
                model = model_for_deaths(checkpoint=folder).fit(X, y)
            equal = np.array_equal(model.coef_, calm.coef_)
            same += equal
            print(f"client killed after round {after} and continued: "
                  f"{'the same bits' if equal else 'ANOTHER MODEL'}", flush=True)  # fmt: skip
        print(f"{same} of 12 runs ended in the bits of the undisturbed one")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("rounds", "overhead", "deaths"))
    parser.add_argument("--quick", action="store_true", help="digits and few groups")
    parser.add_argument("--sets", default=",".join(ROWS))
    parser.add_argument("--groups", default=",".join(map(str, GROUPS)))
    parser.add_argument("--csv")
    arguments = parser.parse_args()
    if arguments.what == "rounds":
        sets = ["digits"] if arguments.quick else arguments.sets.split(",")
        groups = [1, 8] if arguments.quick else [int(k) for k in arguments.groups.split(",")]
        count_rounds(sets, groups, arguments.csv)
    elif arguments.what == "overhead":
        measure_overhead()
    else:
        count_deaths()
