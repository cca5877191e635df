"""Check the built pages: every internal link and anchor resolves, nothing is loaded from a network.

python docs/check_links.py docs/_build/html
"""

from __future__ import annotations

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

#: Attributes by which a page loads a file when it is opened.
_LOADED = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src")}
#: Relations of a link element that load nothing.
_NOT_LOADED = {"canonical", "next", "prev", "index", "search", "author", "copyright"}


class Page(HTMLParser):
    """The anchors of a page, its links, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.anchors: set[str] = set()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Take note of one element."""
        known = {name: value or "" for name, value in attrs}
        self.anchors.update(known[name] for name in ("id", "name") if name in known)
        for name, value in known.items():
            if (tag, name) in _LOADED:
                self.loaded.append(value)
        if tag == "link" and known.get("rel") not in _NOT_LOADED:
            self.loaded.append(known.get("href", ""))
        if tag == "a" and known.get("href"):
            self.links.append(known["href"])


def _has(page: Page | None, anchor: str) -> bool:
    return page is None or anchor in page.anchors


def problems(folder: Path) -> list[str]:
    """Return what is wrong with the pages of a folder, one sentence each."""
    files = [file for file in folder.rglob("*.html") if "_static" not in file.parts]
    pages = {file: Page(file.read_text()) for file in files}
    found = []
    for file, page in pages.items():
        where = file.relative_to(folder)
        for address in page.loaded:
            if urlsplit(address).scheme in ("http", "https") or address.startswith("//"):
                found.append(f"{where} loads {address} from the network.")
        for address in [*page.links, *page.loaded]:
            parts = urlsplit(address)
            if parts.scheme or address.startswith("//"):
                continue
            target = (file.parent / unquote(parts.path)).resolve() if parts.path else file
            if target.is_dir():
                target = target / "index.html"
            if not target.exists():
                found.append(f"{where} links to {address}, which is not there.")
            elif parts.fragment and not _has(pages.get(target), unquote(parts.fragment)):
                found.append(f"{where} links to {address}; the page has no such anchor.")
    if not pages:
        found.append(f"{folder} has no pages.")
    return found


def main() -> None:
    """Print what is wrong, and fail if anything is."""
    found = problems(Path(sys.argv[1]).resolve())
    print("\n".join(found) or "every link resolves, and nothing is loaded from a network.")
    sys.exit(bool(found))


if __name__ == "__main__":
    main()
