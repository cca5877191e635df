"""Formulas without a network: MathJax is copied from the package that bundles it."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path
from typing import Any

from sphinx.util.fileutil import copy_asset_file

#: One file with all of TeX that draws by itself, and so needs no fonts.
SCRIPT = "tex-svg-full.js"


def copy_script(app: Any, error: Exception | None) -> None:
    """Copy the script beside the theme's own."""
    if error is not None or app.builder.format != "html":
        return
    files = importlib.metadata.files("sphinx-mathjax-offline") or []
    source = next(file.locate() for file in files if file.name == SCRIPT)
    target = Path(app.outdir, "_static", "mathjax")
    target.mkdir(parents=True, exist_ok=True)
    copy_asset_file(str(source), str(target))


def setup(app: Any) -> dict[str, bool]:
    """Tell Sphinx."""
    app.config.mathjax_path = f"mathjax/{SCRIPT}"
    app.connect("build-finished", copy_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
