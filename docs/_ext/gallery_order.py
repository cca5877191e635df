"""The order in which one would read the examples."""

from __future__ import annotations

from typing import Any

ORDER = [
    "plot_first_shortlist.py",
    "plot_circle.py",
    "plot_losses.py",
    "plot_choosing_k.py",
    "plot_certificate.py",
    "plot_path.py",
    "plot_tuning.py",
    "plot_multilabel_thresholds.py",
    "plot_conformal.py",
    "plot_sparse_text.py",
    "plot_rbf.py",
    "plot_out_of_core.py",
    "plot_many_machines.py",
    "plot_finetune.py",
    "plot_calibration_simplex.py",
    "plot_projections.py",
]


class TeachingOrder:
    """Sorts examples by `ORDER`; one that is not in it is an error."""

    def __init__(self, *_: Any) -> None:
        pass

    def __call__(self, file: str) -> int:
        """Return the place of an example."""
        return ORDER.index(file)

    def __repr__(self) -> str:
        return "TeachingOrder"
