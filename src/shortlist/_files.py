"""Files that are there whole, or not at all."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, BinaryIO


@contextlib.contextmanager
def written_whole(
    path: str | os.PathLike[str], opener: Callable[..., Any] = open
) -> Iterator[BinaryIO]:
    """Yield a stream to a file that appears under its name, on the disk, when all is written.

    Where an error ends the block, or the disk is full, what was there before stays.
    """
    target = Path(path)
    beside = target.with_name(f"{target.name}.{os.getpid()}.tmp")
    try:
        with opener(beside, "wb") as stream:
            yield stream
        with beside.open("r+b") as written:  # the stream may have compressed
            os.fsync(written.fileno())
        os.replace(beside, target)
    finally:
        beside.unlink(missing_ok=True)
