"""Top-k and multilabel classification, trained to a proven optimum."""

from __future__ import annotations

import importlib
from types import ModuleType

__version__ = "0.1.0.dev0"

#: Imported when first used, so that ``import shortlist`` costs nothing by itself.
_SUBMODULES = ("losses", "prox", "special")

__all__ = ["__version__", *_SUBMODULES]


def __getattr__(name: str) -> ModuleType:
    if name in _SUBMODULES:
        return importlib.import_module(f"{__name__}.{name}")
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted({*globals(), *_SUBMODULES})
