"""The rounds on Dask distributed.

Values are futures of pure functions, never scattered: what a dead worker held is computed again
from the user's own graph, and from the chain of rounds before. Functions are pinned softly: not
pinned, all would move to the worker with the largest input; pinned hard, they would wait for a
dead one.
"""

from __future__ import annotations

import contextlib
import math
import os
import uuid
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import dask
import distributed
from distributed import Client, Future, LocalCluster, WorkerPlugin

from shortlist.dask.engines import Handle
from shortlist.dask.partitions import PartitionError
from shortlist.solvers.team import Team, available_cores

#: Deaths of workers that one function survives; Dask's own default is 3.
_ALLOWED_FAILURES = 20
#: Points are part of the graph, so that they cannot be lost; that is no reason for a warning.
_SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1TB"}


class OneThread(WorkerPlugin):
    """BLAS on one thread in each slot of a worker, as long as a fit lasts."""

    def __init__(self) -> None:
        self.name = f"shortlist-{uuid.uuid4().hex}"

    def setup(self, worker: Any) -> None:
        """Hold one thread."""
        self.team = Team(1)

    def teardown(self, worker: Any) -> None:
        """Give it back."""
        self.team.__exit__()


class DaskEngine:
    """An engine on the workers of a client."""

    def __init__(self, client: Client) -> None:
        self.client = client
        self.plugin = OneThread()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> DaskEngine:
        stack, client = self._stack, self.client
        stack.enter_context(dask.config.set(_SETTINGS))
        before = client.run_on_scheduler(_raise_allowed_failures, _ALLOWED_FAILURES)
        stack.callback(client.run_on_scheduler, _set_allowed_failures, before)
        client.register_plugin(self.plugin)
        stack.callback(client.unregister_worker_plugin, self.plugin.name)
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def slots(self) -> list[str]:
        """Return the address of each worker, as often as it has threads."""
        return [
            address for address, n in sorted(self.client.nthreads().items()) for _ in range(n)
        ]  # fmt: skip

    def places(self, handles: Sequence[Handle]) -> list[str | None]:
        """Return the workers that hold values."""
        held = self.client.who_has(list(handles))
        return [min(held.get(handle.key) or (None,), key=str) for handle in handles]

    def submit(
        self, function: Callable[..., Any], *args: Any, key: str, at: str | None = None
    ) -> Future:
        """Run a function, at a certain worker if it is there."""
        return self.client.submit(
            function, *args, key=key, pure=False, allow_other_workers=at is not None,
            workers=None if at is None else [at],
        )  # fmt: skip

    def is_done(self, handle: Future) -> bool:
        """Return whether a value, or its error, is there."""
        return bool(handle.done())

    def value(self, handle: Future, timeout: float = math.inf) -> Any:
        """Return a value, or raise its error in one sentence."""
        try:
            return handle.result(None if math.isinf(timeout) else timeout)
        except distributed.KilledWorker as error:
            raise RuntimeError(
                f"{error.task} was given up after the death of {_ALLOWED_FAILURES} workers; give "
                "them more memory, or X smaller chunks."
            ) from None


def _raise_allowed_failures(least: int, dask_scheduler: Any) -> int:
    before: int = dask_scheduler.allowed_failures
    dask_scheduler.allowed_failures = max(before, least)
    return before


def _set_allowed_failures(number: int, dask_scheduler: Any) -> None:
    dask_scheduler.allowed_failures = number


@contextlib.contextmanager
def connected(client: Client | None) -> Iterator[Client]:
    """Yield the given client, the current one, or one of a cluster on this machine."""
    if client is not None:
        yield client
        return
    try:
        current = distributed.default_client()
    except ValueError:
        current = None
    if current is not None:
        yield current
        return
    cluster = LocalCluster(
        n_workers=available_cores(), threads_per_worker=1, dashboard_address=":0"
    )
    with cluster, Client(cluster) as own:
        yield own


def all_see(client: Client, folder: str) -> bool:
    """Return whether all workers see a folder of the client's."""
    return all(client.run(os.path.isdir, folder).values())


def first_error(number: int, error: BaseException) -> PartitionError:
    """Return what to say when a partition could not be loaded: an error of the user's graph."""
    if isinstance(error, PartitionError):
        return error
    text = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
    return PartitionError(f"partition {number} could not be loaded: {what}")
