"""What the death of a worker, or of the client, changes in a model: nothing.

Ten times one of two workers gets SIGKILL at a random moment of a fit, at any stage: while rows are
loaded, in a round, between two. Then the client gets it twice, and another one goes on from its
checkpoint. Every model is compared with that of an undisturbed run, bit for bit.
"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from recording import record
from shortlist.dask import TopKClassifier

#: A cluster closes workers for good that are not back in time, by default 15 s after their death.
SETTINGS = {"distributed.deploy.lost-worker-timeout": "10 minutes"}
WORKERS, CLIENTS = 10, (4, 11)


def problem() -> tuple[Any, Any]:
    rng = np.random.default_rng(0)
    X = rng.normal(size=(2000, 30))
    y = (X @ rng.normal(size=(30, 6)) + rng.normal(size=(2000, 6))).argmax(axis=1)
    return da.from_array(X, chunks=(250, 30)), da.from_array(y, chunks=250)


def model_of(**options: Any) -> TopKClassifier:
    return TopKClassifier("svm", C=1.0, tol=1e-3, random_state=0, **options)


CLIENT = """
import sys
sys.path.insert(0, sys.argv[3])
from distributed import Client
from dask_deaths import model_of, problem
Client(sys.argv[1])
told = lambda progress: print(progress.epoch, flush=True)
model_of(checkpoint=sys.argv[2], checkpoint_every=3, callbacks=[told]).fit(*problem())
"""


def kill_a_worker(client: Client, which: int, delay: float) -> tuple[TopKClassifier, float]:
    """Return the model of a run with a death, and its seconds."""
    pid = list(client.run(os.getpid).values())[which]
    timer = threading.Timer(delay, os.kill, (pid, signal.SIGKILL))
    timer.start()
    started = time.perf_counter()
    model = model_of(checkpoint_every=5).fit(*problem())
    took = time.perf_counter() - started
    timer.join()
    return model, took


def kill_the_client(client: Client, after: int) -> tuple[TopKClassifier, float]:
    """Return the model that goes on from a killed client's checkpoint, and the seconds it took."""
    with tempfile.TemporaryDirectory() as folder:
        here = str(Path(__file__).parent)
        command = [sys.executable, "-c", CLIENT, client.scheduler.address, folder, here]
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as other:
            for line in other.stdout or ():
                if int(line) >= after:
                    break
            other.kill()
        started = time.perf_counter()
        model = model_of(checkpoint=folder).fit(*problem())
    return model, time.perf_counter() - started


def count_deaths(keep: bool) -> None:
    rng, rows = np.random.default_rng(), []
    with (
        dask.config.set(SETTINGS),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        model_of().fit(*problem())  # compiles
        started = time.perf_counter()
        calm = model_of().fit(*problem())
        lasted = time.perf_counter() - started
        print(f"undisturbed: {calm.n_iter_} rounds, {lasted:.1f} s, {calm.certificate_}")

        def note(what: str, when: str, model: TopKClassifier, took: float) -> None:
            same = np.array_equal(model.coef_, calm.coef_)
            same &= np.array_equal(model.intercept_, calm.intercept_)
            same &= model.certificate_ == calm.certificate_
            bits = "the same" if same else "OTHERS"
            rows.append([what, when, model.n_iter_, f"{model.certificate_.gap:.2e}",
                         f"{took:.1f}", bits])  # fmt: skip
            print("{} killed {}: {} rounds, gap {}, {} s, bits: {}".format(*rows[-1]), flush=True)

        for run in range(WORKERS):
            client.wait_for_workers(2, timeout=300)
            delay = float(rng.uniform(0.0, 1.0) * lasted)
            note("worker", f"after {delay:.2f} s", *kill_a_worker(client, run % 2, delay))
        for after in CLIENTS:
            client.wait_for_workers(2, timeout=300)
            note("client", f"after round {after}", *kill_the_client(client, after))
    same = sum(row[-1] == "the same" for row in rows)
    print(f"{same} of {len(rows)} runs ended in the bits of the undisturbed one")
    if keep:
        record(
            "dask_deaths",
            title="Deaths",
            command="python benchmarks/bench_dask.py deaths --record",
            columns=["killed", "when", "rounds", "gap", "seconds", "bits of model, certificate"],
            rows=rows,
            conditions=f"two workers; undisturbed: {calm.n_iter_} rounds in {lasted:.1f} s",
            notes=[f"{same} of {len(rows)} runs ended in the bits of the undisturbed one."],
        )
