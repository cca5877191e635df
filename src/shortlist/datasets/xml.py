"""XML as a small tree that knows its lines; entities are refused."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple
from xml.parsers import expat

from shortlist.datasets.files import Source


class Element(NamedTuple):
    """An element, without its namespace's prefix."""

    tag: str
    attributes: dict[str, str]
    children: list[Element]
    texts: list[str]
    line: int

    @property
    def text(self) -> str:
        """The text directly inside."""
        return "".join(self.texts).strip()

    def child(self, tag: str) -> Element | None:
        """Return the first child with this tag."""
        return next((child for child in self.children if child.tag == tag), None)

    def walk(self) -> Iterator[Element]:
        """Yield this element and all below it, in the order of the file."""
        waiting = [self]
        while waiting:
            element = waiting.pop()
            yield element
            waiting.extend(reversed(element.children))


def parse(source: Source) -> Element:
    """Return the root of an XML file.

    A declared entity is refused: a few of them can stand for gigabytes, and no annotation
    needs one.
    """
    parser = expat.ParserCreate()
    parser.buffer_text = True
    root = Element("", {}, [], [], 1)
    path = [root]

    def start(tag: str, attributes: dict[str, str]) -> None:
        name = tag.rpartition(":")[2]
        element = Element(name, attributes, [], [], parser.CurrentLineNumber)
        path[-1].children.append(element)
        path.append(element)

    def refuse(*_: object) -> None:
        raise source.error(
            "it declares an entity, which is refused; write the text itself.",
            parser.CurrentLineNumber,
        )

    parser.StartElementHandler = start
    parser.EndElementHandler = lambda _: path.pop()
    parser.CharacterDataHandler = lambda text: path[-1].texts.append(text)
    parser.EntityDeclHandler = refuse
    try:
        parser.Parse(source.read(), True)
    except expat.ExpatError as error:
        what = expat.ErrorString(error.code)
        raise source.error(f"it is not well-formed XML ({what}).", error.lineno) from None
    return root.children[0]
