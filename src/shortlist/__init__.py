"""Top-k and multilabel classification, trained to a proven optimum."""

from __future__ import annotations

import importlib
from typing import Any

__version__ = "0.1.0.dev0"

#: Imported when first used, so that ``import shortlist`` costs nothing by itself.
_SUBMODULES = ("losses", "metrics", "nn", "prox", "rows", "solvers", "special")
_FUNCTIONS = {"path": "solvers", "solve": "solvers"}

__all__ = [
    "__version__",
    "losses",
    "metrics",
    "nn",
    "path",
    "prox",
    "rows",
    "solve",
    "solvers",
    "special",
]


def __getattr__(name: str) -> Any:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    if name in _FUNCTIONS:
        return getattr(importlib.import_module(f"{__name__}.{_FUNCTIONS[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES, *_FUNCTIONS})
