"""A page as blocks, written as Markdown or as HTML: the same numbers in both."""

from __future__ import annotations

import html
import re
from collections.abc import Sequence
from typing import NamedTuple


class Heading(NamedTuple):
    """A heading of level 1, 2 or 3."""

    text: str
    level: int = 2


class Text(NamedTuple):
    """A paragraph."""

    text: str


class Items(NamedTuple):
    """A list."""

    items: Sequence[str]


class Table(NamedTuple):
    """A table; all columns but the first are numbers, aligned right."""

    header: Sequence[str]
    lines: Sequence[Sequence[str]]


class Image(NamedTuple):
    """A picture beside the page."""

    file: str
    caption: str


Block = Heading | Text | Items | Table | Image

_STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 1100px; margin: 2rem auto;
  padding: 0 1rem; color: #222; background: #fff }
table { border-collapse: collapse; margin: 1rem 0; font-size: 13px; display: block;
  overflow-x: auto }
th, td { padding: .2rem .6rem; text-align: right; white-space: nowrap;
  border-bottom: 1px solid #ddd }
th:first-child, td:first-child { text-align: left }
code { background: #f2f2f2; padding: 0 .2em }
img { max-width: 100% }
"""


def markdown(blocks: Sequence[Block]) -> str:
    """Return a page in Markdown."""
    return "\n\n".join(_markdown(block) for block in blocks) + "\n"


def _markdown(block: Block) -> str:
    if isinstance(block, Heading):
        return f"{'#' * block.level} {block.text}"
    if isinstance(block, Text):
        return block.text
    if isinstance(block, Items):
        return "\n".join(f"- {item}" for item in block.items)
    if isinstance(block, Image):
        return f"![{block.caption}]({block.file})\n\n{block.caption}"
    rule = [":--", *["--:" for _ in block.header[1:]]]
    return "\n".join(f"| {' | '.join(line)} |" for line in (block.header, rule, *block.lines))


def page(blocks: Sequence[Block], title: str) -> str:
    """Return a page in HTML that needs no other file but its pictures."""
    body = "\n".join(_html(block) for block in blocks)
    return (
        f'<!doctype html>\n<html lang="en">\n<meta charset="utf-8">\n<title>{html.escape(title)}'
        f"</title>\n<style>{_STYLE}</style>\n{body}\n</html>\n"
    )


def _html(block: Block) -> str:
    if isinstance(block, Heading):
        return f"<h{block.level}>{_inline(block.text)}</h{block.level}>"
    if isinstance(block, Text):
        return f"<p>{_inline(block.text)}</p>"
    if isinstance(block, Items):
        return "<ul>" + "".join(f"<li>{_inline(item)}</li>" for item in block.items) + "</ul>"
    if isinstance(block, Image):
        caption = html.escape(block.caption)
        return f'<img src="{html.escape(block.file)}" alt="{caption}"><p>{caption}</p>'
    head = "".join(f"<th>{_inline(cell)}</th>" for cell in block.header)
    body = "".join(
        "<tr>" + "".join(f"<td>{_inline(cell)}</td>" for cell in line) + "</tr>\n"
        for line in block.lines
    )
    return f"<table>\n<tr>{head}</tr>\n{body}</table>"


def _inline(text: str) -> str:
    escaped = html.escape(text)
    escaped = re.sub(r"`([^`]*)`", r"<code>\1</code>", escaped)
    return re.sub(r"\*\*([^*]*)\*\*", r"<b>\1</b>", escaped)
