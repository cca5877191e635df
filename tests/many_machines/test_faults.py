"""Workers that are slow, that join, and that are gone for good, as processes of their own."""

import os
import signal
import time

import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

import shortlist
from shortlist.dask import NoWorkerError, TopKClassifier
from solvers.cases import data

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")

TOL = 1e-4


def problem():
    X, y = data("svm", n=240, d=12)
    return X, y, da.from_array(X, chunks=(40, 12)), da.from_array(y, chunks=40)


def model_of(client, **options):
    return TopKClassifier("svm", C=3.0, tol=TOL, random_state=0, client=client, **options)


def check(model):
    """The model is as good as that of one machine."""
    X, y, *_ = problem()
    local = shortlist.TopKClassifier("svm", C=3.0, tol=TOL).fit(X, y).certificate_
    assert model.converged_
    assert model.certificate_.gap <= TOL
    assert model.certificate_.dual <= local.primal * (1 + 1e-12)
    assert local.dual <= model.certificate_.primal * (1 + 1e-12)


class Sleeper:
    """A callback that stops a worker's process after the third round, and wakes it later."""

    def __init__(self, pid, rounds):
        self.pid, self.rounds, self.stopped = pid, rounds, False

    def __call__(self, progress):
        if progress.epoch == 3:
            os.kill(self.pid, signal.SIGSTOP)
            self.stopped = True

    def wake(self, fleet):
        if self.stopped and fleet.incomplete >= self.rounds:
            os.kill(self.pid, signal.SIGCONT)
            self.stopped = False


def test_a_worker_that_stands_still_is_skipped_and_caught_up(client, monkeypatch):
    from shortlist.dask.fleet import Fleet

    client.wait_for_workers(2, timeout=120)
    *_, lX, ly = problem()
    sleeper = Sleeper(next(iter(client.run(os.getpid).values())), rounds=3)
    ask = Fleet.ask

    def ask_and_wake(fleet, *args):
        answer = ask(fleet, *args)
        sleeper.wake(fleet)
        return answer

    monkeypatch.setattr(Fleet, "ask", ask_and_wake)
    try:
        model = model_of(client, patience=1.0, callbacks=[sleeper]).fit(lX, ly)
    finally:
        os.kill(sleeper.pid, signal.SIGCONT)
    check(model)
    certified = model.history_.epochs  # only rounds in which all took part are
    assert np.diff(certified).max() >= 3


def test_a_worker_that_joins_is_used_from_the_next_round(client):
    client.wait_for_workers(2, timeout=120)
    *_, lX, ly = problem()
    at_work = {}

    def grow(progress):
        if progress.epoch == 3:
            client.cluster.scale(3)
            client.wait_for_workers(3, timeout=120)
        held = client.has_what()
        at_work[progress.epoch] = sum(any("ascend" in k for k in own) for own in held.values())

    try:
        model = model_of(client, callbacks=[grow]).fit(lX, ly)
    finally:
        client.cluster.scale(2)
    check(model)
    assert max(at_work[epoch] for epoch in (1, 2)) == 2
    assert at_work[4] == 3


def test_without_any_worker_a_fit_ends_with_one_sentence():
    *_, lX, ly = problem()
    with (
        LocalCluster(n_workers=0, processes=False, dashboard_address=":0") as cluster,
        Client(cluster, set_as_default=False) as alone,
    ):
        model = model_of(alone, worker_timeout=1.0)
        with pytest.raises(NoWorkerError, match=r"^there was no worker at \S+ for 1 s; start"):
            model.fit(lX, ly)
        cluster.scale(1)
        alone.wait_for_workers(1, timeout=60)

        def leave(progress):
            if progress.epoch == 3:
                cluster.scale(0)
                while alone.nthreads():
                    time.sleep(0.05)

        with pytest.raises(NoWorkerError, match="call fit again"):
            model.set_params(callbacks=[leave]).fit(lX, ly)
