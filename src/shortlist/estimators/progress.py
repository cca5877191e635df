"""What a person sees while a model trains: epochs, the gap, the time that is left."""

from __future__ import annotations

import importlib.util
import math
import sys
import time
from typing import Any

from shortlist.solvers.result import Certificate, Progress

#: Seconds between two lines where there is no bar.
_EVERY = 1.0


class ProgressBar:
    """A callback: on the standard error a bar where `rich` is installed, else lines.

    The bar is at the share of the digits of the gap that is reached, which for a linear rate of
    convergence is the share of the time.
    """

    def __init__(self, tol: float, unit: str = "epoch") -> None:
        self.unit = unit
        self.tol, self.started, self.first = tol, time.perf_counter(), math.nan
        self.shown = -math.inf
        self.bar: Any = None
        if importlib.util.find_spec("rich") is not None:
            from rich.console import Console
            from rich.progress import BarColumn, TextColumn
            from rich.progress import Progress as Bar

            columns = TextColumn("{task.description}"), BarColumn(bar_width=30)
            left = TextColumn("{task.fields[left]}")
            # Like the lines: the standard output is for results.
            self.bar = Bar(*columns, left, console=Console(stderr=True), transient=False)
            self.task = self.bar.add_task("starting", total=1.0, left="")

    def __enter__(self) -> ProgressBar:
        if self.bar is not None:
            self.bar.start()
        return self

    def __exit__(self, *error: object) -> None:
        if self.bar is not None:
            self.bar.stop()

    def __call__(self, progress: Progress) -> None:
        """Show an evaluation."""
        reached, what = _measure(progress)
        if math.isnan(self.first):
            self.first = max(reached, self.tol)
        share = self._share(reached)
        elapsed = time.perf_counter() - self.started
        text = f"{self.unit} {progress.epoch:>5}  {what} {reached:.1e}"
        left = _in_words(elapsed, share)
        if self.bar is not None:
            self.bar.update(self.task, completed=share, description=text, left=left)
        elif elapsed - self.shown >= _EVERY or share >= 1.0:
            self.shown = elapsed
            print(f"{text}  {left}", file=sys.stderr, flush=True)

    def _share(self, reached: float) -> float:
        tol = max(self.tol, 1e-16)
        if reached <= tol:
            return 1.0
        whole = math.log(max(self.first / tol, 1.0 + 1e-12))
        return min(max(math.log(self.first / reached) / whole, 0.0), 0.999)


def _measure(progress: Progress) -> tuple[float, str]:
    certificate = progress.certificate
    if isinstance(certificate, Certificate):
        return max(certificate.gap, 1e-16), "gap"
    return max(certificate.gradient_norm, 1e-16), "gradient"


def _in_words(elapsed: float, share: float) -> str:
    if share >= 1.0 or share <= 0.02:  # at the end, and where nothing can be foreseen
        return f"{elapsed:.1f} s"
    return f"{elapsed:.1f} s, about {elapsed * (1.0 - share) / share:.0f} s left"
