"""Reports that a person would rather look at than read a log.

`study` makes a `Study` of fitted estimators, or of a search, and of examples that they have not
seen; `write` makes one HTML file of studies, which needs no network:

>>> import tempfile
>>> from pathlib import Path
>>> from sklearn.datasets import load_iris
>>> from shortlist import TopKClassifier, report
>>> X, y = load_iris(return_X_y=True)
>>> models = {loss: TopKClassifier(loss, k=2).fit(X[::2], y[::2]) for loss in ("svm", "softmax")}
>>> shown = report.study(models, X[1::2], y[1::2], source="iris", metrics=["top1", "top2"])
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder) / "report.html"
...     report.write(path, shown)
...     path.stat().st_size < 3_000_000
True

The same pictures are matplotlib functions for notebooks: `plot_topk_curves`, `plot_convergence`,
`plot_validation`, `plot_thresholds`, `plot_sizes`, `plot_cardinality`, `plot_regions`. The
extra ``report`` installs what it needs: matplotlib and jinja2.
"""

from __future__ import annotations

import importlib
from typing import Any

#: Imported when first used: the commands measure without drawing.
_NAMES = {
    "Best": "records",
    "Convergence": "records",
    "DataFacts": "records",
    "Example": "records",
    "Fit": "records",
    "LabelSets": "records",
    "Regions": "records",
    "Scored": "records",
    "SearchResults": "records",
    "Study": "records",
    "fit_record": "studies",
    "from_json": "records",
    "label_sets": "by_threshold",
    "plot_cardinality": "plots",
    "plot_convergence": "plots",
    "plot_regions": "plots",
    "plot_sizes": "plots",
    "plot_thresholds": "plots",
    "plot_topk_curves": "plots",
    "plot_validation": "plots",
    "regions": "plane",
    "render": "page",
    "study": "studies",
    "to_json": "records",
    "write": "page",
}

__all__ = list(_NAMES)


def __getattr__(name: str) -> Any:
    if name in _NAMES:
        return getattr(importlib.import_module(f"{__name__}.{_NAMES[name]}"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
