"""Top-k and multilabel classification, trained to a proven optimum."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0.dev0"

#: Imported when first used, so that ``import shortlist`` costs nothing by itself.
_SUBMODULES = (
    "bayes",
    "dask",
    "datasets",
    "estimators",
    "losses",
    "metrics",
    "model_selection",
    "models",
    "nn",
    "prox",
    "report",
    "rows",
    "solvers",
    "special",
    "tuning",
)
_NAMES = {
    "EarlyStopping": "estimators",
    "MultilabelClassifier": "estimators",
    "MultilabelClassifierCV": "tuning",
    "TopKClassifier": "estimators",
    "TopKClassifierCV": "tuning",
    "path": "solvers",
    "solve": "solvers",
}

__all__ = [
    "EarlyStopping",
    "MultilabelClassifier",
    "MultilabelClassifierCV",
    "TopKClassifier",
    "TopKClassifierCV",
    "__version__",
    "bayes",
    "dask",
    "datasets",
    "estimators",
    "losses",
    "metrics",
    "model_selection",
    "models",
    "nn",
    "path",
    "prox",
    "report",
    "rows",
    "solve",
    "solvers",
    "special",
    "tuning",
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *_NAMES})
