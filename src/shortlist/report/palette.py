"""Colours that can be told apart, on white and on black, also by those who see fewer of them.

Matplotlib draws with the light ones; in the page each is a variable of the style sheet, which
has another value in the dark (`figures`).
"""

from __future__ import annotations

from typing import Any, NamedTuple


class Tone(NamedTuple):
    """A colour of the page: the name of its variable, and its values in light and dark."""

    name: str
    light: str
    dark: str


INK = Tone("ink", "#1d2129", "#e8eaed")
MUTED = Tone("muted", "#5d6673", "#9aa4b2")
RULE = Tone("rule", "#d9dde3", "#353c47")
PAPER = Tone("paper", "#fdfdfc", "#15181d")

#: Hues after Okabe and Ito, a little darker on white and lighter on black.
SERIES = (
    Tone("series-1", "#0067a5", "#62b0e8"),
    Tone("series-2", "#c44e00", "#ff9457"),
    Tone("series-3", "#00805c", "#3ecfa4"),
    Tone("series-4", "#a8437f", "#ea9bc8"),
    Tone("series-5", "#8a6d00", "#e5c04b"),
    Tone("series-6", "#5b4bb7", "#b0a4ff"),
)
TONES = (INK, MUTED, RULE, PAPER, *SERIES)
#: The second six have dashes.
_DASHES = ("solid", (0, (4.0, 1.6)), (0, (1.2, 1.4)))


def line_style(at: int) -> dict[str, Any]:
    """Return colour and dashes of the line number `at`; the first eighteen differ."""
    return {
        "color": SERIES[at % len(SERIES)].light,
        "linestyle": _DASHES[at // len(SERIES) % len(_DASHES)],
    }


def class_colour(at: int) -> str:
    """Return the colour of class number `at`."""
    return SERIES[at % len(SERIES)].light
