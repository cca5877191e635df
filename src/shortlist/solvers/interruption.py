"""Ctrl-C as a question that is asked at safe places, not an exception anywhere."""

from __future__ import annotations

import signal
import threading
from types import FrameType
from typing import Any


class Interruption:
    """Notes Ctrl-C while the context lasts; a second one raises KeyboardInterrupt as usual.

    Only where Python's own handler is in place, and in the main thread, the only one that
    Ctrl-C reaches; elsewhere nothing changes.
    """

    def __init__(self) -> None:
        self.happened = False
        self._installed = False

    def __enter__(self) -> Interruption:
        in_main = threading.current_thread() is threading.main_thread()
        if in_main and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
            signal.signal(signal.SIGINT, self._note)
            self._installed = True
        return self

    def __exit__(self, *error: object) -> None:
        if self._installed:
            signal.signal(signal.SIGINT, signal.default_int_handler)

    def _note(self, number: int, frame: FrameType | None) -> Any:
        if self.happened:
            signal.default_int_handler(number, frame)
        self.happened = True
