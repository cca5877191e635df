"""Table "summary": for every loss of the registry, what is checked, and whether it is calibrated.

Both checks are the Fenchel-Young equality, which holds only for a pair (scores, dual) that belongs
together: at the gradient it checks the conjugate, and at a dual from the step, with the scores
``q - a v`` that the step implies, it checks the update.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np

from paper.record import Record
from shortlist import bayes, losses
from shortlist.losses.operations import traits

K, CLASSES, EXAMPLES = 2, 4, 200
#: Relative error that counts as equal.
ACCURACY = 1e-9


def variants() -> dict[str, Any]:
    """Return every loss of the registry, hinges also smooth."""
    found = {}
    for name in losses.names():
        takes = losses.entry(name).parameters
        given = {"k": K} if "k" in takes else {}
        found[name] = losses.make(name, **given)
        if "smoothing" in takes:
            found[name] = losses.make(name, **given, smoothing=0.0)
            found[f"{name}_smooth"] = losses.make(name, **given, smoothing=1.0)
    return found


def fenchel_young(loss: Any, scores: np.ndarray, duals: np.ndarray, labels: Any) -> float:
    """Return by how much value and conjugate miss the inner product, relatively."""
    value, conjugate = losses.value(loss, scores, labels), losses.conjugate(loss, duals, labels)
    inner = (scores * duals).sum(axis=1)
    return float(np.max(np.abs(value + conjugate - inner) / (1.0 + np.abs(value))))


def cell(name: str, loss: Any, problems: int = 60) -> dict[str, Any]:
    """Return what was checked of a loss."""
    rng = np.random.default_rng(0)
    scores = 3.0 * rng.normal(size=(EXAMPLES, CLASSES + 2))
    several = traits(loss).multilabel
    labels: Any = rng.integers(CLASSES, size=EXAMPLES)
    if several:
        labels = [rng.choice(CLASSES, size=rng.integers(1, 3), replace=False) for _ in scores]
    values: dict[str, float] = {}
    if traits(loss).convex:
        values["conjugate"] = fenchel_young(
            loss, scores, losses.gradient(loss, scores, labels), labels
        )
        for a in (0.1, 1.0, 10.0):
            duals = losses.step(loss, scores, labels, a)
            error = fenchel_young(loss, scores - a * duals, duals, labels)
            values["update"] = max(values.get("update", 0.0), error)
    found: dict[str, Any] = {"values": values, "search": {"fits": 0, "missed": 0}}
    if not name.startswith("multilabel"):  # calibration is of one label an example
        verdict = bayes.calibration(loss, K, CLASSES, problems=problems)
        found |= {"calibrated": verdict.calibrated, "exact": verdict.exact, "says": str(verdict)}
    return found


def main() -> None:
    """Compute the rows that are missing."""
    argparse.ArgumentParser(description=__doc__).parse_args()
    record = Record("summary")
    for name, loss in variants().items():
        record.cell(name, lambda name=name, loss=loss: cell(name, loss))


if __name__ == "__main__":
    main()
