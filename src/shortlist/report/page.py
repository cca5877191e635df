"""One HTML file with all that there is to see; nothing in it comes from elsewhere."""

from __future__ import annotations

import base64
import hashlib
import importlib.resources
import os
from collections.abc import Iterable
from typing import Any

import shortlist
from shortlist._files import written_whole
from shortlist.report import palette
from shortlist.report.records import Study
from shortlist.report.views import view


def write(
    path: str | os.PathLike[str], studies: Study | Iterable[Study], *, title: str = ""
) -> None:
    """Write a report: one HTML file that needs no network, and appears when it is whole.

    Parameters
    ----------
    path : path
        The file.
    studies : Study or iterable of Study
        What to show, one after the other.
    title : str
        The heading; by default the titles of the studies.

    See Also
    --------
    study : makes a study of fitted estimators.
    """
    text = render(studies, title=title)
    with written_whole(path) as file:
        file.write(text.encode())


def render(studies: Study | Iterable[Study], *, title: str = "") -> str:
    """Return the HTML of a report, as `write` writes it.

    Parameters
    ----------
    studies, title
        As in `write`.

    Returns
    -------
    str
    """
    shown = (studies,) if isinstance(studies, Study) else tuple(studies)
    if not shown:
        raise ValueError("there is nothing to report; pass at least one study.")
    script = _part("report.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return str(
        _template().render(
            title=title or ", ".join(study.title for study in shown),
            studies=[view(study, number) for number, study in enumerate(shown, 1)],
            style=_style_sheet(),
            script=script,
            script_digest=digest,
            version=shortlist.__version__,
        )
    )


def _part(name: str) -> str:
    return importlib.resources.files(__package__).joinpath(name).read_text(encoding="utf-8")


def _template() -> Any:
    try:
        import jinja2
    except ImportError:
        raise ImportError("a report needs jinja2: install shortlist[report].") from None
    # Names of classes and data come from files of strangers: everything is escaped.
    environment = jinja2.Environment(
        autoescape=True, undefined=jinja2.StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    return environment.from_string(_part("report.html.jinja"))


def _style_sheet() -> str:
    """Return the style sheet, with the colours of the palette in light and dark."""
    light = "".join(f"--{tone.name}:{tone.light};" for tone in palette.TONES)
    dark = "".join(f"--{tone.name}:{tone.dark};" for tone in palette.TONES)
    return (
        f":root{{color-scheme:light;{light}}}\n"
        f"@media (prefers-color-scheme:dark){{:root:not([data-theme=light])"
        f"{{color-scheme:dark;{dark}}}}}\n"
        f":root[data-theme=dark]{{color-scheme:dark;{dark}}}\n"
        f"@media print{{:root,:root[data-theme=dark],:root:not([data-theme=light])"
        f"{{color-scheme:light;{light}}}}}\n" + _part("report.css")
    )
