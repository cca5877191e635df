"""Code on the pages: Python to doctest, and commands with what they print."""

import re
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).parent.parent.parent
#: Pages written by hand; others are made by the build.
PAGES = sorted(
    page
    for page in (ROOT / "docs").rglob("*.rst")
    if not {"_build", "generated", "gallery"} & set(page.relative_to(ROOT / "docs").parts)
)


class Command(NamedTuple):
    """A line after a dollar sign, and what it must print."""

    words: str
    printed: str


def commands_of(text: str) -> list[Command]:
    """Return the commands of a page, in order."""
    found = []
    blocks = re.findall(r"\.\. code-block:: console\n\n((?:   .*\n|\n)+)", text + "\n")
    blocks += re.findall(r"```console\n(.*?)```", text, flags=re.S)
    for block in blocks:
        lines = [line.removeprefix("   ") for line in block.splitlines()]
        for part in re.split(r"^\$ ", "\n".join(lines), flags=re.M)[1:]:
            words, _, printed = part.partition("\n")
            found.append(Command(words.strip(), printed.strip()))
    return found
