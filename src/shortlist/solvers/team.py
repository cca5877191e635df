"""Threads that share the work of one run.

Kernels and matrix products release the interpreter's lock, so threads of Python are
enough. BLAS is told to use one thread in each: its own threads wait for each other in a
loop, which on a busy machine makes small products many times slower than on one thread.
"""

from __future__ import annotations

import itertools
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

Item = TypeVar("Item")
Result = TypeVar("Result")


def available_cores() -> int:
    """Return how many cores this process may use.

    `OMP_NUM_THREADS` limits them, as joblib sets it where several processes share a machine.
    """
    limit = os.environ.get("OMP_NUM_THREADS", "")
    if limit.isdigit() and int(limit) > 0:
        return min(int(limit), _all_cores())
    return _all_cores()


def _all_cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


class _OneThread:
    """BLAS on one thread as long as anybody holds it: its setting is that of the whole process."""

    def __init__(self) -> None:
        self._lock, self._holders = threading.Lock(), 0
        self._blas: ThreadpoolController | None = None
        self._limits: Any = None

    def hold(self) -> None:
        with self._lock:
            if self._blas is None:  # to look for libraries takes longer than a small problem
                self._blas = ThreadpoolController()
            if self._holders == 0:
                self._limits = self._blas.limit(limits=1, user_api="blas")
            self._holders += 1

    def release(self) -> None:
        with self._lock:
            self._holders -= 1
            if self._holders == 0:
                self._limits.restore_original_limits()


_BLAS = _OneThread()


class Team:
    """A fixed number of threads, the calling one among them."""

    def __init__(self, size: int) -> None:
        self.size = size
        self._pool = ThreadPoolExecutor(size - 1) if size > 1 else None
        _BLAS.hold()

    def __enter__(self) -> Team:
        return self

    def __exit__(self, *error: object) -> None:
        try:
            if self._pool is not None:
                self._pool.shutdown()
        finally:
            _BLAS.release()

    def start(self, function: Callable[..., Result], *args: Any) -> Future[Result] | None:
        """Let another thread call a function; None where there is no other."""
        return None if self._pool is None else self._pool.submit(function, *args)

    def each(self, function: Callable[[Item], Result], items: Sequence[Item]) -> list[Result]:
        """Return the results of `function` for all items; who is free takes the next one."""
        if self._pool is None or len(items) < 2:
            return [function(item) for item in items]
        results: list[Result | None] = [None] * len(items)
        turn = itertools.count()

        def work() -> None:
            while (i := next(turn)) < len(items):
                results[i] = function(items[i])

        helpers = [self._pool.submit(work) for _ in range(min(self.size, len(items)) - 1)]
        try:
            work()
        finally:  # also where this thread's own work fails: the others still write to arrays
            for helper in helpers:
                helper.result()
        return results  # type: ignore[return-value]
