"""Workers that are slow, that join, and that are gone for good, as processes of their own."""

import os
import signal
import time

import dask.array as da
import pytest
from distributed import Client, LocalCluster

import shortlist
from shortlist.dask import NoWorkerError, TopKClassifier
from shortlist.dask.fleet import Fleet
from solvers.cases import data

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")

C, TOL = 0.5, 1e-3


def problem():
    X, y = data("svm", n=240, d=12)
    return X, y, da.from_array(X, chunks=(40, 12)), da.from_array(y, chunks=40)


def model_of(client, **options):
    return TopKClassifier("svm", C=C, tol=TOL, random_state=0, client=client, **options)


def check(model):
    """The model is as good as that of one machine."""
    X, y, *_ = problem()
    local = shortlist.TopKClassifier("svm", C=C, tol=TOL).fit(X, y).certificate_
    assert model.converged_
    assert model.certificate_.gap <= TOL
    assert model.certificate_.dual <= local.primal * (1 + 1e-12)
    assert local.dual <= model.certificate_.primal * (1 + 1e-12)


class Sleeper:
    """A callback that stops a worker's process after some round, until others were without it."""

    def __init__(self, pid, rounds):
        self.pid, self.rounds, self.stopped_at = pid, rounds, None
        self.asleep = False

    def __call__(self, progress):
        if self.stopped_at is None and progress.epoch >= 3:
            os.kill(self.pid, signal.SIGSTOP)
            self.stopped_at, self.asleep = progress.epoch, True

    def look(self, fleet):
        if self.asleep and fleet.incomplete >= self.rounds:
            self.wake()

    def wake(self):
        os.kill(self.pid, signal.SIGCONT)
        self.asleep = False


def test_a_worker_that_stands_still_is_skipped_and_caught_up(client, monkeypatch):
    client.wait_for_workers(2, timeout=120)
    *_, lX, ly = problem()
    sleeper = Sleeper(next(iter(client.run(os.getpid).values())), rounds=2)
    ask = Fleet.ask

    def ask_and_look(fleet, *args):
        answer = ask(fleet, *args)
        sleeper.look(fleet)
        return answer

    monkeypatch.setattr(Fleet, "ask", ask_and_look)
    try:
        model = model_of(client, patience=2.0, callbacks=[sleeper]).fit(lX, ly)
    finally:
        sleeper.wake()
    check(model)
    certified = model.history_.epochs  # only rounds in which all took part are
    after = certified[certified > sleeper.stopped_at]
    assert after[0] > sleeper.stopped_at + 2


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
