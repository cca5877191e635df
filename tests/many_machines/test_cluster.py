"""The estimators on two processes, killed now and then."""

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import dask
import dask.array as da
import dask.dataframe as dd
import joblib
import numpy as np
import pandas as pd
import pytest
import scipy.sparse
from sklearn.exceptions import ConvergenceWarning

import shortlist
from shortlist import models
from shortlist.dask import MultilabelClassifier, PartitionError, TopKClassifier

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")

TOL = 1e-4


def small(n=90, d=6, m=4, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, d))
    y = (X @ rng.normal(size=(d, m)) + rng.normal(size=(n, m))).argmax(axis=1)
    return X, np.array(["north", "east", "south", "west"])[y]


def lazy(X, y, chunks=(20, 5, 40, 25)):
    return da.from_array(X, chunks=(chunks, X.shape[1:])), da.from_array(y, chunks=(chunks,))


def same(model, local):
    """Both certificates hold for the same problem, and predictions follow the weights."""
    assert model.converged_
    assert model.certificate_.gap <= TOL
    assert model.certificate_.dual <= local.certificate_.primal * (1 + 1e-12)
    assert local.certificate_.dual <= model.certificate_.primal * (1 + 1e-12)


def test_fit_and_lazy_predictions_agree_with_one_machine(client, tmp_path):
    X, y = small()
    weights = np.linspace(0.5, 2.0, len(y))
    options = {"loss": "topk_entropy", "k": 2, "tol": TOL, "class_weight": "balanced"}
    local = shortlist.TopKClassifier(**options).fit(X, y, weights)
    lX, ly = lazy(X, y)
    model = TopKClassifier(**options, random_state=0).fit(lX, ly, da.from_array(weights, chunks=30))
    same(model, local)
    assert model.classes_.tolist() == ["east", "north", "south", "west"]
    back = model.to_local()
    np.testing.assert_allclose(model.coef_, local.coef_, atol=0.1)
    scores = model.decision_function(lX)
    assert isinstance(scores, da.Array)
    np.testing.assert_allclose(scores.compute(), back.decision_function(X))
    np.testing.assert_array_equal(model.predict(lX).compute(), back.predict(X))
    np.testing.assert_allclose(model.predict_proba(lX).compute(), back.predict_proba(X))
    found = dask.compute(*model.predict_topk(lX, 3))
    for one, two in zip(found, back.predict_topk(X, 3), strict=True):
        np.testing.assert_array_equal(one, two)
    for k in (1, 2):
        assert model.score(lX, ly, k=k) == pytest.approx(back.score(X, y, k=k))
    assert model.score(lX, ly, weights) == pytest.approx(back.score(X, y, weights))
    models.save(back, tmp_path / "model.shortlist")
    again = models.load(tmp_path / "model.shortlist")
    np.testing.assert_array_equal(again.predict(X), back.predict(X))
    assert again.certificate_ == model.certificate_


@pytest.mark.parametrize("solver", ["accelerated", "lbfgs"])
def test_sparse_chunks_of_unknown_sizes_some_empty(client, solver):
    X, y = small()
    order = np.argsort(y)  # each chunk has one or two classes
    X, y = X[order], y[order]
    X[np.abs(X) < 0.5] = 0.0
    local = shortlist.TopKClassifier("svm", tol=TOL).fit(X, y)
    lX, ly = lazy(X, y)
    keep = ly != "south"
    lX, ly = lX[keep], ly[keep]  # sizes are unknown, and a chunk may be empty
    local = shortlist.TopKClassifier("svm", tol=TOL).fit(X[y != "south"], y[y != "south"])
    model = TopKClassifier("svm", tol=TOL, solver=solver, random_state=0)
    model.fit(lX.map_blocks(scipy.sparse.csr_array), ly)
    same(model, local)
    assert model.history_[-1].method == solver
    assert model.n_iter_ == len(model.history_) > 1
    assert model.bytes_ > 0


def test_data_frames(client):
    X, y = small()
    frame = pd.DataFrame(X, columns=list("abcdef")).assign(y=y)
    table = dd.from_pandas(frame, npartitions=3)
    model = TopKClassifier("svm", tol=TOL, random_state=0).fit(table[list("abcdef")], table["y"])
    same(model, shortlist.TopKClassifier("svm", tol=TOL).fit(X, y))
    assert model.feature_names_in_.tolist() == list("abcdef")
    predicted = model.predict(table[list("abcdef")]).compute()
    assert np.mean(predicted == y) == pytest.approx(model.score(table[list("abcdef")], table["y"]))


@pytest.mark.parametrize("sparse", [False, True])
def test_label_sets(client, sparse):
    X, _ = small()
    Y = (np.random.default_rng(1).random((90, 5)) < 0.3).astype(int)
    local = shortlist.MultilabelClassifier("multilabel_svm", tol=TOL).fit(X, Y)
    lX = da.from_array(X, chunks=(30, 6))
    lY = da.from_array(Y, chunks=(30, 5))
    given = lY.map_blocks(scipy.sparse.csr_array) if sparse else lY
    model = MultilabelClassifier("multilabel_svm", tol=TOL, random_state=0).fit(lX, given)
    same(model, local)
    back = model.to_local()
    expected = back.predict(X)
    expected = expected.toarray() if sparse else expected
    np.testing.assert_array_equal(model.predict(lX).compute(), expected)
    assert model.score(lX, given) == pytest.approx(back.score(X, Y))


def test_errors_are_one_sentence_with_the_partition(client):
    X, y = small()
    X[26, 2] = np.nan
    lX, ly = lazy(X, y)
    with pytest.raises(PartitionError, match=r"^partition 2: X\[1, 2\] is NaN; all elements"):
        TopKClassifier().fit(lX, ly)

    def broken(block, block_info=None):
        if block_info and block_info[0]["chunk-location"] == (3, 0):
            raise OSError("the disk is gone")
        return block

    X, y = small()
    lX, ly = lazy(X, y)
    with pytest.raises(
        PartitionError, match=r"^partition 3 could not be loaded: OSError: the disk"
    ):
        TopKClassifier().fit(lX.map_blocks(broken, meta=np.empty((0, 0))), ly)
    with pytest.raises(TypeError, match="X is a ndarray; pass a Dask array"):
        TopKClassifier().fit(X, y)
    with pytest.raises(ValueError, match="X has 90 examples, and y has 89"):
        TopKClassifier().fit(lX, ly[:89])
    with pytest.raises(ValueError, match="one class, 'a'"):
        TopKClassifier().fit(lX, da.full(90, "a", chunks=90))
    with pytest.raises(ValueError, match="not convex"):
        TopKClassifier("truncated_topk_entropy").fit(lX, ly)
    with pytest.raises(ValueError, match="has kinks"):
        TopKClassifier("svm", smoothing=0.0, solver="lbfgs").fit(lX, ly)
    with pytest.raises(ValueError, match="use MultilabelClassifier"):
        TopKClassifier().fit(lX, da.zeros((90, 3), chunks=30))
    with pytest.raises(ValueError, match="needs scores"):
        MultilabelClassifier(threshold="f1_micro").fit(lX, da.zeros((90, 3), chunks=30))
    with pytest.warns(ConvergenceWarning, match=r"after 1 rounds \(max_rounds\)"):
        TopKClassifier(tol=1e-9, max_rounds=1).fit(lX, ly)


# What is killed


def hard():
    """A problem of enough rounds to be killed in."""
    X, y = small(n=400, d=20)
    return lazy(X, y, chunks=(100, 150, 50, 100))


def model_of(**options):
    return TopKClassifier("svm", C=10.0, tol=TOL, random_state=3, **options)


def killer(client, delay):
    """Return a callback that kills a worker some time after the third round."""
    pid = next(iter(client.run(os.getpid).values()))
    timer = threading.Timer(delay, os.kill, (pid, signal.SIGKILL))

    def watch(progress):
        if progress.epoch == 3:
            timer.start()
        time.sleep(0.02)  # so that the run lasts longer than the delay

    return watch, timer


@pytest.mark.parametrize(("solver", "delay"), [("accelerated", 0.05), ("lbfgs", 0.1)])
def test_a_worker_that_is_killed_changes_no_bit(client, solver, delay):
    lX, ly = hard()
    calm = model_of(solver=solver).fit(lX, ly)
    watch, timer = killer(client, delay)
    struck = model_of(solver=solver, callbacks=[watch], checkpoint_every=4).fit(lX, ly)
    timer.join()
    np.testing.assert_array_equal(struck.coef_, calm.coef_)
    assert struck.certificate_ == calm.certificate_
    assert struck.n_iter_ == calm.n_iter_ > 4
    client.wait_for_workers(2, timeout=120)


CLIENT = """
import sys
from distributed import Client
from many_machines.test_cluster import hard, model_of
Client(sys.argv[1])
def told(progress):
    print(progress.epoch, flush=True)
model_of(checkpoint=sys.argv[2], checkpoint_every=2, callbacks=[told]).fit(*hard())
"""


def test_a_client_that_is_killed_goes_on_to_the_same_bits(client, tmp_path):
    path = os.pathsep.join([str(Path(__file__).parents[1]), os.environ.get("PYTHONPATH", "")])
    command = [sys.executable, "-c", CLIENT, client.scheduler.address, str(tmp_path / "run")]
    with subprocess.Popen(
        command, env={**os.environ, "PYTHONPATH": path}, stdout=subprocess.PIPE, text=True
    ) as other:
        for line in other.stdout:
            if int(line) >= 5:
                break
        other.kill()
    assert (tmp_path / "run" / "run.npz").exists()
    calm = model_of().fit(*hard())
    seen = []
    resumed = model_of(
        checkpoint=str(tmp_path / "run"), callbacks=[lambda p: seen.append(p.epoch)]
    ).fit(*hard())
    assert seen[0] >= 5
    np.testing.assert_array_equal(resumed.coef_, calm.coef_)
    assert resumed.certificate_ == calm.certificate_


def test_tuning_on_the_cluster(client):
    X, y = small()
    search = shortlist.TopKClassifierCV(
        shortlist.TopKClassifier(n_jobs=1, random_state=0), Cs=[0.1, 1.0], metrics=["top1"],
        cv=2, n_jobs=2, extend=False,
    )  # fmt: skip
    here = search.fit(X, y).cv_results_["mean_test_top1"]
    with joblib.parallel_config("dask", client=client):
        there = search.fit(X, y).cv_results_["mean_test_top1"]
    np.testing.assert_array_equal(here, there)
