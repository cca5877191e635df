"""Compile what fits need, before they need it."""

from __future__ import annotations

import time
from typing import Annotated, Any

import numpy as np
import scipy.sparse
import typer

from shortlist import losses
from shortlist.cli import words
from shortlist.cli.console import guarded, say
from shortlist.estimators import MultilabelClassifier, TopKClassifier


@guarded
def warmup(
    chosen: Annotated[
        str, typer.Option("--losses", help="With commas between them, or all.")
    ] = "all",
    sparse: Annotated[bool, typer.Option(help="For sparse examples, too.")] = True,
    single: Annotated[
        bool, typer.Option("--float32", help="For float32, too: twice the time.")
    ] = False,
) -> None:
    """Compile the losses for this CPU, so that the first fit starts at once.

    What is compiled is kept on disk until the package changes. It takes minutes.
    """
    names = losses.names() if chosen == "all" else words.split([chosen])
    for name in names:
        losses.entry(name)  # refuses a name that is not known
    for name in names:
        started = time.perf_counter()
        for dtype in (np.float64, np.float32) if single else (np.float64,):
            for form in (np.asarray, scipy.sparse.csr_array) if sparse else (np.asarray,):
                _fit(name, form, dtype)
        say(f"{name}: {time.perf_counter() - started:.1f} s")


def _fit(loss: str, form: Any, dtype: Any) -> None:
    """Train a small model by the method that is chosen for it, and by plain SDCA."""
    rng = np.random.default_rng(0)
    y = np.arange(60) % 6
    X = form((rng.normal(size=(60, 8)) + np.eye(6, 8)[y]).astype(dtype))
    is_multilabel = loss.startswith("multilabel")
    kind: Any = MultilabelClassifier if is_multilabel else TopKClassifier
    target = np.eye(6, dtype=int)[y] if is_multilabel else y
    for solver in ("auto", "sdca"):
        kind(loss, k=2, solver=solver, tol=0.1).fit(X, target)
