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
import time
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
#: Seconds between two looks at whether there is any worker, while a value is waited for.
_LOOK_EVERY = 5.0
#: Points are part of the graph, so that they cannot be lost; that is no reason for a warning.
_SETTINGS = {"distributed.admin.large-graph-warning-threshold": "1TB"}
#: By default a cluster closes a worker for good that has not restarted within 15 s of its death,
#: which is too soon for a busy machine.
_SETTINGS_OF_OWN_CLUSTER = {"distributed.deploy.lost-worker-timeout": "10 minutes"}


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


class NoWorkerError(RuntimeError):
    """There was no worker for longer than a fit waits for one."""


class DaskEngine:
    """An engine on the workers of a client.

    Parameters
    ----------
    client : distributed.Client
        Whose workers they are.
    worker_timeout : float
        Seconds without any worker after which a run is given up.
    """

    def __init__(self, client: Client, worker_timeout: float = math.inf) -> None:
        self.client, self.worker_timeout = client, worker_timeout
        self.plugin = OneThread()
        self._stack = contextlib.ExitStack()

    def __enter__(self) -> DaskEngine:
        stack, client = self._stack, self.client
        self._threads()
        stack.enter_context(dask.config.set(_SETTINGS))
        before = client.run_on_scheduler(_raise_allowed_failures, _ALLOWED_FAILURES)
        stack.callback(client.run_on_scheduler, _set_allowed_failures, before)
        stack.callback(self._unregister)
        self._register()
        return self

    def __exit__(self, *error: object) -> None:
        self._stack.close()

    def _register(self) -> None:
        """Tell all workers to hold one thread; those that join later are told by the scheduler."""
        for last in (False, False, True):
            try:
                self.client.register_plugin(self.plugin)
                return
            except OSError:  # a worker died while it was told
                if last:
                    raise

    def _unregister(self) -> None:
        with contextlib.suppress(OSError, ValueError):  # the dead hold nothing
            self.client.unregister_worker_plugin(self.plugin.name)

    def slots(self) -> list[str]:
        """Return the address of each worker, as often as it has threads."""
        threads = self._threads()
        return [address for address, n in sorted(threads.items()) for _ in range(n)]

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
        self._wait(handle, timeout)
        try:
            return handle.result()
        except distributed.KilledWorker as error:
            raise RuntimeError(
                f"{error.task} was given up after the death of {_ALLOWED_FAILURES} workers; give "
                "them more memory, or X smaller chunks."
            ) from None

    def _wait(self, handle: Future, timeout: float) -> None:
        """Wait for a value or its error as long as there are workers that may make it."""
        end = time.monotonic() + timeout
        while True:
            left = max(end - time.monotonic(), 0.0)
            try:
                distributed.wait([handle], timeout=min(left, _LOOK_EVERY))
                return
            except TimeoutError:
                if left <= _LOOK_EVERY:
                    raise
            self._threads()

    def _threads(self) -> dict[str, int]:
        """Return the threads of each worker, as soon as there is one; or say that there is none."""
        end = time.monotonic() + self.worker_timeout
        while not (threads := self.client.nthreads()):
            if time.monotonic() > end:
                raise NoWorkerError(
                    f"there was no worker at {self.client.scheduler.address} for "
                    f"{self.worker_timeout:g} s; start workers, and call fit again: with a "
                    "checkpoint it goes on from there."
                )
            time.sleep(min(1.0, max(end - time.monotonic(), 0.0)))
        found: dict[str, int] = threads
        return found


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
    with (
        dask.config.set(_SETTINGS_OF_OWN_CLUSTER),
        LocalCluster(
            n_workers=available_cores(), threads_per_worker=1, dashboard_address=":0"
        ) as cluster,
        Client(cluster) as own,
    ):
        yield own


def all_see(client: Client, folder: str) -> bool:
    """Return whether all workers see a folder of the client's; one that dies meanwhile does not."""
    answers = client.run(os.path.isdir, folder, on_error="return").values()
    return all(answer is True for answer in answers)


def first_error(number: int, error: BaseException) -> PartitionError:
    """Return what to say when a partition could not be loaded: an error of the user's graph."""
    if isinstance(error, PartitionError):
        return error
    text = str(error).strip().splitlines()
    what = f"{type(error).__name__}: {text[0]}" if text else type(error).__name__
    return PartitionError(f"partition {number} could not be loaded: {what}")
