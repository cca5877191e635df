"""Pictures as SVG that is part of a page: its colours are those of the page, in light and dark."""

from __future__ import annotations

import functools
import hashlib
import html
import io
import re
from collections.abc import Callable
from typing import Any

from shortlist.report import palette

#: Of matplotlib, so that what it draws looks like the page.
_STYLE = {
    "axes.edgecolor": palette.RULE.light,
    "axes.labelcolor": palette.MUTED.light,
    "axes.prop_cycle": [tone.light for tone in palette.SERIES],
    "axes.spines.right": False,
    "axes.spines.top": False,
    "font.family": "sans-serif",
    "font.size": 10.0,
    "legend.frameon": False,
    "legend.labelcolor": palette.INK.light,
    "lines.linewidth": 1.7,
    "lines.markersize": 5.0,
    "mathtext.fontset": "cm",
    "svg.fonttype": "none",
    "svg.hashsalt": "shortlist",  # the same picture, the same text
    "text.color": palette.INK.light,
    "xtick.color": palette.MUTED.light,
    "xtick.minor.visible": False,
    "ytick.color": palette.MUTED.light,
}
_COLOURS = {tone.light: f"var(--{tone.name})" for tone in palette.TONES}
#: What matplotlib draws in black or grey by itself.
_COLOURS |= {"#000000": "var(--ink)", "#999999": "var(--muted)", "#cccccc": "var(--rule)"}
_FORMULA_SIZE = 15.0  # points
_EM = 14.0  # points to which the size of a formula is relative


def picture(
    draw: Callable[[Any], Any],
    title: str,
    *,
    width: float = 5.2,
    height: float = 3.4,
    key: str = "",
) -> str:
    """Return what a function draws on axes, as SVG; `title` is what is read aloud.

    Sizes are inches of a page on which letters have ten points. Equal pictures on one page need
    different keys.
    """
    matplotlib, figure_of = _matplotlib()
    with matplotlib.rc_context(_style()):
        figure = figure_of(figsize=(width, height), layout="constrained")
        draw(figure.add_subplot())
        return _with_own_names(_as_part_of_page(figure, title), key)


def formula(latex: str, key: str = "") -> str:
    """Return a formula as SVG that is as high as the letters around it ask for."""
    return _with_own_names(_formula(latex), key)


@functools.lru_cache(maxsize=256)
def _formula(latex: str) -> str:
    matplotlib, figure_of = _matplotlib()
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    text = f"${latex}$"
    with matplotlib.rc_context(_style() | {"svg.fonttype": "path"}):
        letters = FontProperties(size=_FORMULA_SIZE)
        width, height, depth = text_to_path.get_text_width_height_descent(text, letters, True)
        width, height, depth = width + 2, height + 2, depth + 1  # what is thin is cut off else
        figure = figure_of(figsize=(width / 72, height / 72))
        figure.text(
            1 / width, depth / height, text, fontproperties=letters, va="baseline",
            color=palette.INK.light,
        )  # fmt: skip
        svg = _as_part_of_page(figure, latex)
    size = f"width:{width / _EM:.3f}em;vertical-align:{-depth / _EM:.3f}em"
    return svg.replace("<svg ", f'<svg class="formula" style="{size}" ', 1)


def _matplotlib() -> tuple[Any, Any]:
    try:
        import matplotlib
        from matplotlib.figure import Figure
    except ImportError:
        raise ImportError("a report needs matplotlib: install shortlist[report].") from None
    return matplotlib, Figure


def _style() -> dict[str, Any]:
    from cycler import cycler

    return _STYLE | {"axes.prop_cycle": cycler(color=_STYLE["axes.prop_cycle"])}


def _as_part_of_page(figure: Any, title: str) -> str:
    """Return a figure's SVG without its prologue, sizes and fonts, in the page's colours."""
    stream = io.StringIO()
    figure.savefig(stream, format="svg", transparent=True, metadata={"Date": None})
    text = stream.getvalue()
    text = text[text.index("<svg") :]
    text = re.sub(r"<metadata>.*?</metadata>", "", text, flags=re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"<style type=\"text/css\">.*?</style>", "", text, count=1, flags=re.DOTALL)
    head, body = text.split(">", 1)
    (box,) = re.findall(r'viewBox="([^"]*)"', head)
    body = re.sub(r'id="series-(\d+)"', r'class="series" data-series="\1"', body)
    body = re.sub(r"font: ([\d.]+)px [^;\"]*", r"font-size: \1px", body)
    body = re.sub(r" ?font-family: [^;\"]*;", "", body)  # that of the page
    body = re.sub(r"#[0-9a-f]{6}\b", lambda found: _COLOURS.get(found.group(), found.group()), body)
    body = re.sub(r"\s*\n\s*", "\n", body)
    label = html.escape(title)
    return f'<svg viewBox="{box}" role="img" aria-label="{label}">{body.rstrip()}'


def _with_own_names(svg: str, key: str) -> str:
    """Return a picture whose names are no other's."""
    own = "p" + hashlib.blake2b(f"{key} {svg}".encode(), digest_size=5).hexdigest()
    svg = re.sub(r'\bid="([^"]+)"', rf'id="{own}-\1"', svg)
    return re.sub(r'(href="#|clip-path="url\(#)', rf"\g<1>{own}-", svg)
