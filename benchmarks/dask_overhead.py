"""What a round costs besides its work: seconds and bytes, by the number of groups.

Two processes run rounds over next to no rows. Bytes are those of weights to and from the client,
those that workers have taken from each other, and all that went over the machine's loopback
interface: messages of the scheduler, too. The other constants of the model of a run's time follow:
how fast weights go from one worker to another, the speed of a pass, and a checkpoint.
"""

from __future__ import annotations

import os
import tempfile
import time
import uuid
from pathlib import Path
from typing import Any

import numpy as np
from distributed import Client, LocalCluster, wait

from dask_rounds import ROWS, parts_of
from recording import record
from shortlist import losses
from shortlist.dask import partitions, store
from shortlist.dask.cluster import DaskEngine
from shortlist.dask.engines import InProcess
from shortlist.dask.fleet import Fleet, Question
from shortlist.losses import check_labels
from shortlist.rows import as_storage
from shortlist.solvers.problem import Problem

GROUPS = (1, 2, 4, 8, 16, 32)
SHAPE = (100, 20)
ROUNDS = 20
LARGE = 8_000_000  # bytes: weights of 10,000 features and 100 classes


def itself(part: partitions.Partition) -> partitions.Partition:
    return part


def empty_fleet(engine: DaskEngine, k: int) -> Fleet:
    """Return k groups with 256 rows among them."""
    (d, m), n, rng = SHAPE, 256, np.random.default_rng(0)
    X, loss = rng.normal(size=(n, d)), losses.svm(smoothing=1.0)
    labels, parts = check_labels(loss, np.arange(n) % m, n, m), []
    for i in range(k):
        some = np.arange(i * n // k, (i + 1) * n // k)
        problem = Problem(as_storage(X[some]), labels.take(some), loss, np.ones(some.size))
        parts.append(partitions.Partition(i, problem))
    sizes = [partitions.size_of(part) for part in parts]
    handles = [engine.submit(itself, part, key=f"part-{uuid.uuid4().hex}") for part in parts]
    return Fleet(engine, handles, sizes, n_groups=k, name=f"empty-{uuid.uuid4().hex[:6]}")


def _sent(dask_worker: Any) -> int:
    return int(dask_worker.transfer_outgoing_bytes_total)


def bytes_so_far(client: Client, fleet: Fleet) -> np.ndarray:
    """Return bytes to and from the client, among workers, and over the loopback interface."""
    lines = Path("/proc/net/dev").read_text().splitlines()
    loopback = next(line for line in lines if line.strip().startswith("lo:"))
    among = sum(client.run(_sent).values())
    return np.array([fleet.bytes, among, int(loopback.split(":")[1].split()[0])])


def measure_rounds(client: Client, engine: DaskEngine) -> list[list[Any]]:
    """Return the seconds and bytes of a round, by the number of groups."""
    found, question = [], Question(np.zeros(SHAPE), 1.0)
    for k in GROUPS:
        fleet = empty_fleet(engine, k)
        fleet.start()
        for i in range(3):  # compiles, and brings rows where they stay
            fleet.ask(question, i)
        before, took = bytes_so_far(client, fleet), []
        for i in range(3, 3 + ROUNDS):
            started = time.perf_counter()
            fleet.ask(question, i)
            took.append(time.perf_counter() - started)
        moved = (bytes_so_far(client, fleet) - before) / ROUNDS
        found.append([k, float(np.median(took)), *moved])
        print("{:3d} groups: {:.4f} s a round; bytes: client {:.0f}, among workers {:.0f}, all "
              "messages {:.0f}".format(*found[-1]), flush=True)  # fmt: skip
    return found


def measure_transfer(client: Client) -> tuple[float, float]:
    """Return the seconds of a call with nothing to do, and bytes a second between workers."""
    one, other = list(client.scheduler_info()["workers"])
    calls, moves = [], []
    for _ in range(ROUNDS):
        started = time.perf_counter()
        client.submit(abs, 1, pure=False, workers=[other]).result()
        calls.append(time.perf_counter() - started)
        there = client.submit(np.zeros, LARGE // 8, pure=False, workers=[one])
        wait(there)
        started = time.perf_counter()
        client.submit(len, there, pure=False, workers=[other]).result()
        moves.append(time.perf_counter() - started)
    latency = float(np.median(calls))
    return latency, LARGE / max(float(np.median(moves)) - latency, 1e-9)


def measure_work() -> tuple[float, float]:
    """Return floating-point operations a second of a pass, and bytes a second of a checkpoint."""
    parts, m = parts_of("a", 1)
    n, d = ROWS["a"], parts[0].problem.d
    duals, point, took = partitions.zero_duals(parts), np.zeros((d, m)), []
    with InProcess(1), tempfile.TemporaryDirectory() as folder:
        for i in range(4):
            started = time.process_time()
            outcome = partitions.ascend(parts, duals, point, 1.0, 1, (0, i))
            duals = outcome.duals
            took.append(time.process_time() - started)
        started = time.perf_counter()
        store.save_duals(folder, 0, [0], duals)
        store.load_duals(folder, 0, parts)
        took_file = time.perf_counter() - started
    # scores for the objectives, scores for the steps, and what is applied
    return 6.0 * n * d * m / min(took[1:]), duals.arrays[0].nbytes / took_file


def measure(keep: bool) -> None:
    load = os.getloadavg()[0]
    with (
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
        DaskEngine(client) as engine,
    ):
        found = measure_rounds(client, engine)
        latency, bandwidth = measure_transfer(client)
    b, a = np.polyfit([row[0] for row in found], [row[1] for row in found], 1)
    speed, of_files = measure_work()
    constants = [
        ["a, each round", 1e3 * a, "ms"],
        ["b, each group", 1e3 * b, "ms"],
        ["latency, a call with nothing to do", 1e3 * latency, "ms"],
        ["bandwidth, from worker to worker", bandwidth / 1e6, "MB/s"],
        ["speed of a pass, one thread", speed / 1e9, "GFlop/s"],
        ["duals to a file and back", of_files / 1e6, "MB/s"],
    ]
    for what, number, unit in constants:
        print(f"{what}: {number:.3g} {unit}")
    if keep:
        about = {
            "command": "python benchmarks/bench_dask.py overhead --record",
            "conditions": f"two worker processes, load of the machine before: {load:.1f}",
        }
        record(
            "dask_overhead",
            title="Cost of an empty round",
            columns=["groups", "ms a round", "bytes: client", "among workers", "all messages"],
            rows=[[k, f"{1e3 * s:.1f}", *(f"{x:.0f}" for x in moved)] for k, s, *moved in found],
            notes=[f"Two weight matrices have {2 * 8 * SHAPE[0] * SHAPE[1]} bytes here."],
            **about,
        )
        record(
            "dask_constants",
            title="Constants of the time of a run",
            columns=["constant", "measured", "unit"],
            rows=[[what, float(f"{number:.3g}"), unit] for what, number, unit in constants],
            **about,
        )
