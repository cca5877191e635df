"""Values to try, as a user writes them: numbers, powers and ranges of powers."""

from __future__ import annotations

import re

_NUMBER = r"[0-9.]+(?:e[-+]?[0-9]+)?"
_POWER = re.compile(rf"({_NUMBER})\^([-+]?[0-9]+)")


def values(text: str | None, name: str, also: tuple[str, ...] = ()) -> list[float | str] | None:
    """Return the numbers of a text such as ``0.1,1,2^5`` or ``2^-20:2^15``; of None, None.

    A range has all powers of its base, and in three parts every so many: ``2^-20:2^15:5``. The
    words `also` stand for themselves.
    """
    if text is None:
        return None
    found: list[float | str] = []
    for part in filter(None, (part.strip() for part in text.split(","))):
        if part in also:
            found.append(part)
        elif ":" in part:
            found += _range(part, name)
        else:
            found.append(_number(part, name))
    return found


def whole_values(text: str | None, name: str) -> list[int] | None:
    """Return the integers of a text such as ``1,3,5``; of None, None."""
    if text is None:
        return None
    try:
        return [int(part) for part in text.split(",") if part.strip()]
    except ValueError:
        raise ValueError(f"{name} is {text!r}; write integers with commas between them.") from None


def _range(text: str, name: str) -> list[float]:
    first, last, *more = text.split(":")
    low, high = _POWER.fullmatch(first), _POWER.fullmatch(last)
    step = more[0] if more else "1"
    if not (low and high and low[1] == high[1] and len(more) < 2 and re.fullmatch("[0-9]+", step)):
        raise ValueError(f"{name} has {text!r}; write a range of powers, as 2^-20:2^15 is.")
    powers = range(int(low[2]), int(high[2]) + 1, int(step))
    return [_number(f"{low[1]}^{power}", name) for power in powers]


def _number(text: str, name: str) -> float:
    power = _POWER.fullmatch(text)
    try:
        return float(power[1]) ** int(power[2]) if power else float(text)
    except (ValueError, ArithmeticError):
        raise ValueError(
            f"{name} has {text!r}; write numbers, powers such as 2^-5, or a range of them, as "
            "2^-20:2^15 is, with commas between them."
        ) from None
