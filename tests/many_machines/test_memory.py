"""More data than one worker's memory, on two."""

import os

import dask
import dask.array as da
import numpy as np
import pytest
from distributed import Client, LocalCluster

from shortlist.dask import TopKClassifier

pytestmark = pytest.mark.filterwarnings("ignore::ResourceWarning", "ignore::DeprecationWarning")

LIMIT = 1400 << 20  # of each worker; about 300 MB of it are the libraries
ROWS, COLUMNS, BLOCKS = 10_000, 500, 75
#: Nothing goes to disk, and who takes more than its limit is killed.
SETTINGS = {
    "distributed.worker.memory.target": False,
    "distributed.worker.memory.spill": False,
    "distributed.worker.memory.pause": 0.95,
    "distributed.worker.memory.terminate": 0.98,
}


def block_of(number):
    """Return examples that nobody else has, made where they are needed."""
    X = np.random.default_rng(number).random((ROWS, COLUMNS), np.float32) - np.float32(0.5)
    X[:, 0] += np.arange(ROWS) % 2
    return X


def peak():
    """Return the most memory that this process ever held, in bytes."""
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss << 10


@pytest.mark.skipif(
    not os.environ.get("SHORTLIST_SLOW"), reason="SHORTLIST_SLOW is not set: a minute, 3 GB"
)
def test_data_larger_than_a_workers_memory():
    assert ROWS * COLUMNS * 4 * BLOCKS > LIMIT
    make = dask.delayed(block_of)
    X = da.concatenate(
        [da.from_delayed(make(i), (ROWS, COLUMNS), np.float32) for i in range(BLOCKS)]
    )
    y = da.arange(ROWS * BLOCKS, chunks=ROWS) % 2
    with (
        dask.config.set(SETTINGS),
        LocalCluster(
            n_workers=2, threads_per_worker=1, memory_limit=LIMIT, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as client,
    ):
        before = client.run(os.getpid)
        model = TopKClassifier("svm", C=1e-4, tol=1e-2, random_state=0, client=client).fit(X, y)
        assert client.run(os.getpid) == before  # nobody was killed for what it held
        held = client.run(peak)
    assert model.converged_
    assert model.coef_.shape == (2, COLUMNS)
    assert max(held.values()) < LIMIT
    assert sum(held.values()) > ROWS * COLUMNS * 4 * BLOCKS  # all of it, in two places
