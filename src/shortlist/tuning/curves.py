"""Validation curves: every metric against C."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def plot(results: dict[str, Any], best: dict[str, dict[str, Any]], axes: Any) -> NDArray[Any]:
    """Draw the mean and the spread over the folds; `best` are the parameters by metric."""
    try:
        import matplotlib.pyplot as plt
    except ImportError:
        raise ImportError("plot needs matplotlib: install shortlist[report].") from None
    if axes is None:
        size = (4.0 * len(best), 3.2)
        _, axes = plt.subplots(1, len(best), figsize=size, squeeze=False, layout="constrained")
    places = np.atleast_1d(axes).ravel()
    if places.size < len(best):
        raise ValueError(f"there are {places.size} axes for {len(best)} metrics.")
    for place, (name, params) in zip(places, best.items(), strict=False):
        draw(place, results, name, params["C"])
        place.set_title(name)
    return places


def draw(
    place: Any,
    results: Mapping[str, Any],
    name: str,
    best: float | None = None,
    legend: bool = True,
) -> None:
    """Draw a metric against C, a curve for each value of the other parameters.

    `results` are those of a search, as arrays or lists; the spread may be absent.
    """
    others: list[dict[str, Any]] = [
        {key: value for key, value in params.items() if key != "C"} for params in results["params"]
    ]
    for group in _different(others):
        some = np.array([other == group for other in others])
        C = np.asarray(results["param_C"], np.float64)[some]
        mean = np.asarray(results[f"mean_test_{name}"], np.float64)[some]
        label = plain(", ".join(f"{key} = {value}" for key, value in group.items()))
        (line,) = place.plot(C, mean, label=label or None, marker="." if C.size < 4 else None)
        if f"std_test_{name}" in results:
            std = np.asarray(results[f"std_test_{name}"], np.float64)[some]
            place.fill_between(C, mean - std, mean + std, color=line.get_color(), alpha=0.15, lw=0)
    if best is not None:
        place.axvline(best, color="0.6", ls=":")
    place.set_xscale("log", base=2)
    place.set_xlabel("C")
    if legend and others[0]:
        place.legend(fontsize="small")


def plain(text: str) -> str:
    """Return text in which matplotlib finds no formula."""
    return text.replace("$", r"\$")


def _different(groups: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    return [group for at, group in enumerate(groups) if group not in groups[:at]]
