"""Examples that are images, as small drawings in the ink of the page."""

from __future__ import annotations

import html
from collections.abc import Sequence

import numpy as np

#: Shades of ink, besides the paper.
_SHADES = 8


def drawing(pixels: Sequence[float], shape: tuple[int, int], what: str) -> str:
    """Return an image as SVG: pixels between the least, paper, and the largest, ink."""
    height, width = shape
    values = np.asarray(pixels, np.float64).reshape(height, width)
    low, high = float(values.min()), float(values.max())
    shades = np.rint(_SHADES * (values - low) / (high - low if high > low else 1.0)).astype(int)
    paths = []
    for shade in range(1, _SHADES + 1):
        steps = [f"M{x} {y}h1v1h-1z" for y, x in np.argwhere(shades == shade).tolist()]
        if steps:
            paths.append(f'<path opacity="{shade / _SHADES:g}" d="{"".join(steps)}"/>')
    return (
        f'<svg class="pixels" viewBox="0 0 {width} {height}" role="img" '
        f'aria-label="{html.escape(what)}" shape-rendering="crispEdges" '
        f'fill="currentColor">{"".join(paths)}</svg>'
    )
