"""Files and streams as bytes: compressed or not, in blocks of whole lines, written whole or not."""

from __future__ import annotations

import bz2
import codecs
import gzip
import io
import itertools
import lzma
import os
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

from shortlist._files import written_whole
from shortlist.datasets.errors import DataError

#: How files of a suffix are opened.
_COMPRESSED: dict[str, Callable[..., Any]] = {
    ".xz": lzma.open,
    ".gz": gzip.open,
    ".bz2": bz2.open,
}
_DECOMPRESSION_ERRORS = (EOFError, OSError, lzma.LZMAError, zlib.error)
_BLOCK = 1 << 20  # bytes: long enough for compiled code, short enough for the cache

#: A path, or a stream of bytes such as ``sys.stdin.buffer``.
PathOrStream = str | os.PathLike[str] | BinaryIO


def plain_name(path: Any) -> str:
    """Return a file's name without the suffix of its compression."""
    path = Path(path)
    return path.stem if path.suffix in _COMPRESSED else path.name


class Block(NamedTuple):
    """Consecutive whole lines of a file, the last one ended, too."""

    data: bytes
    first_line: int

    def line_at(self, position: int) -> int:
        """Return the number of the line that holds a byte."""
        return self.first_line + self.data.count(b"\n", 0, position)


class Source:
    """A file to read, or a stream; its bytes come uncompressed."""

    def __init__(self, path: PathOrStream) -> None:
        self._stream: Any = None
        self.path: Path | None = None
        if isinstance(path, (str, os.PathLike)):
            self.path, self.name = Path(path), str(path)
        else:
            self._stream, self.name = path, str(getattr(path, "name", "<stream>"))

    def error(self, what: str, line: int | None = None) -> DataError:
        """Return the error that names this file."""
        return DataError(self.name, what, line)

    def beside(self, name: str) -> Source | None:
        """Return the file of that name in the same folder, compressed or not, if there is one."""
        if self.path is None:
            return None
        for suffix in ("", *_COMPRESSED):
            path = self.path.with_name(name + suffix)
            if path.exists():
                return Source(path)
        return None

    @property
    def plain_path(self) -> Path | None:
        """The path, if the file can be mapped into memory."""
        compressed = self.path is not None and self.path.suffix in _COMPRESSED
        return None if compressed else self.path

    @contextmanager
    def open(self) -> Iterator[BinaryIO]:
        """Open for reading; what the decompressor finds wrong becomes a `DataError`."""
        if self._stream is not None:
            yield self._stream
            return
        assert self.path is not None
        opener = _COMPRESSED.get(self.path.suffix)
        if opener is None:
            with self.path.open("rb") as stream:
                yield stream
            return
        with self.path.open("rb") as packed:  # a missing file is no damaged one
            try:
                with opener(packed) as stream:
                    yield stream
            except _DECOMPRESSION_ERRORS as error:
                raise self._cut_off(error) from None

    def _cut_off(self, error: Exception, line: int | None = None) -> DataError:
        kind = Path(self.name).suffix.removeprefix(".")
        return self.error(f"the {kind} data are damaged or cut off ({error}).", line)

    def read(self) -> bytes:
        """Return all bytes."""
        with self.open() as stream:
            return stream.read()

    def seekable(self) -> BinaryIO:
        """Return the bytes as a file in memory."""
        return io.BytesIO(self.read())

    def blocks(self) -> Iterator[Block]:
        """Yield all lines, many at a time; a last line without an end gets one."""
        line = 1
        with self.open() as stream:
            while data := self._more(stream, line):
                if line == 1:
                    data = data.removeprefix(codecs.BOM_UTF8)
                block = Block(data if data.endswith(b"\n") else data + b"\n", line)
                yield block
                line = block.line_at(len(block.data))

    def _more(self, stream: BinaryIO, line: int) -> bytes:
        """Return the next bytes, to the end of a line."""
        try:
            data = stream.read(_BLOCK)
            return data if data.endswith(b"\n") else data + stream.readline()
        except _DECOMPRESSION_ERRORS as error:
            raise self._cut_off(error, line) from None

    def lines(self, blocks: Iterable[Block]) -> Iterator[tuple[int, str]]:
        """Yield the number and the text of each line of blocks."""
        for data, first in blocks:
            for number, line in enumerate(data.split(b"\n")[:-1], first):
                yield number, self.text(line, number)

    def head(self, last: Callable[[str], bool]) -> tuple[list[tuple[int, str]], Iterator[Block]]:
        """Return the lines up to the first that is the `last`, and the blocks after them."""
        blocks, head = self.blocks(), []
        for block in blocks:
            at = 0
            for number, line in self.lines([block]):
                at = block.data.index(b"\n", at) + 1
                head.append((number, line))
                if last(line):
                    rest = Block(block.data[at:], number + 1)
                    return head, itertools.chain([rest] if rest.data else [], blocks)
        return head, iter(())

    def text(self, data: bytes, line: int | None = None) -> str:
        """Return bytes as text in UTF-8."""
        try:
            return data.decode().removesuffix("\r")
        except UnicodeDecodeError as error:
            if line is not None:
                line += data.count(b"\n", 0, error.start)
            raise self.error(
                f"byte {data[error.start]:#04x} is not UTF-8 text; convert the file to UTF-8.", line
            ) from None


@contextmanager
def create(path: PathOrStream, seekable: bool = False) -> Iterator[BinaryIO]:
    """Open a file for writing, compressed by its suffix; it appears when it is whole.

    A `seekable` file is one in memory where streams and compressors cannot go back.
    """
    plain = isinstance(path, (str, os.PathLike)) and Path(path).suffix not in _COMPRESSED
    if seekable and not plain:
        memory = io.BytesIO()
        yield memory
        with create(path) as stream:
            stream.write(memory.getbuffer())
    elif not isinstance(path, (str, os.PathLike)):
        yield path
    else:
        with written_whole(path, _COMPRESSED.get(Path(path).suffix, open)) as stream:
            yield stream
