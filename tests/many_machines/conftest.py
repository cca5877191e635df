"""One cluster of two processes for all files of this folder."""

import dask
import pytest
from distributed import Client, LocalCluster

SETTINGS = {
    "distributed.worker.memory.terminate": False,
    "distributed.comm.timeouts.connect": "60s",
    # on a busy machine a worker that was killed may take longer than 15 s to come back
    "distributed.deploy.lost-worker-timeout": "10 minutes",
}


@pytest.fixture(scope="package")
def client():
    with (
        dask.config.set(SETTINGS),
        LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=":0") as cluster,
        Client(cluster) as client,
    ):
        yield client
