r"""A header and arrays in one file, with a version and a checksum.

::

    shortlist model 1\n           what it is, and the version
    9d5ed678fe57bcca61014095...\n BLAKE2b of all other bytes, in hexadecimal
    {"arrays": [...], ...}\n      the header, JSON in ASCII
    ...                           the arrays one after another, little-endian

Nothing in it is executed, and nothing is allocated that is larger than the file.
"""

from __future__ import annotations

import hashlib
import json
import math
import os
import re
from pathlib import Path
from typing import Any

import numpy as np

from shortlist._files import written_whole
from shortlist.models.errors import ModelError

#: Raised when files change so that older code would misread them.
VERSION = 1

_MAGIC = b"shortlist model "
_DIGEST_LENGTH = 64  # hexadecimal digits
_DTYPES = ("<f4", "<f8", "<i4", "<i8")

Header = dict[str, Any]
Arrays = dict[str, np.ndarray[Any, Any]]
PathLike = str | os.PathLike[str]


def write(path: PathLike, header: Header, arrays: Arrays) -> None:
    """Write a file; it appears when it is whole."""
    parts, listed = [], []
    for name, array in arrays.items():
        little = array.astype(array.dtype.newbyteorder("<"), copy=False)
        # The memory order decides how products are summed, so it is kept.
        order = "F" if array.flags.f_contiguous and not array.flags.c_contiguous else "C"
        parts.append(little.tobytes(order))  # type: ignore[arg-type]
        listed.append([name, little.dtype.str, list(array.shape), order])
    text = json.dumps({"arrays": listed, **header}, allow_nan=False).encode("ascii")
    first = _MAGIC + str(VERSION).encode()
    body = [text, b"\n", *parts]
    lines = [first, b"\n", _digest(first, *body), b"\n", *body]
    with written_whole(path) as file:
        file.writelines(lines)


def is_model(path: PathLike) -> bool:
    """Return whether a file begins as those of this module do.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from shortlist import TopKClassifier, models
    >>> model = TopKClassifier("svm").fit([[0.0], [1.0], [2.0]], ["a", "b", "c"])
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "model.shortlist")
    ...     models.save(model, path)
    ...     models.is_model(path)
    True
    """
    if not Path(path).is_file():
        return False
    with open(path, "rb") as file:
        return file.read(len(_MAGIC)) == _MAGIC


def read(path: PathLike) -> tuple[Header, Arrays]:
    """Return the header, with the version, and the arrays of a file that is whole.

    One of a version that we do not know is refused.
    """
    data = Path(path).read_bytes()
    first = data[:64].partition(b"\n")[0]
    known = re.fullmatch(_MAGIC + rb"([1-9][0-9]{0,8})", first)
    if known is None:
        raise ModelError(f"{path} is not a model file.")
    if int(known[1]) > VERSION:
        raise ModelError(
            f"{path} is a model of version {int(known[1])}, and this program reads up to "
            f"{VERSION}; install a newer shortlist."
        )
    at = len(first) + 1
    body = memoryview(data)[at + _DIGEST_LENGTH + 1 :]
    if data[at : at + _DIGEST_LENGTH + 1] != _digest(first, body) + b"\n":
        raise ModelError(f"{path} is damaged: its checksum is not that of its contents.")
    end = data.find(b"\n", at + _DIGEST_LENGTH + 1)
    try:
        header = json.loads(data[at + _DIGEST_LENGTH + 1 : end]) | {"version": int(known[1])}
        return header, _arrays(header.pop("arrays"), memoryview(data)[end + 1 :])
    except (AttributeError, KeyError, TypeError, ValueError, RecursionError) as error:
        raise ModelError(f"{path} is not a model that can be read ({error}).") from None


def _digest(*parts: bytes | memoryview) -> bytes:
    digest = hashlib.blake2b(digest_size=_DIGEST_LENGTH // 2)
    for part in parts:
        digest.update(part)
    return digest.hexdigest().encode()


def _arrays(listed: Any, data: memoryview) -> Arrays:
    arrays, at = {}, 0
    for name, dtype, shape, order in listed:
        if dtype not in _DTYPES or order not in ("C", "F"):
            raise ValueError(f"array {name!r} has dtype {dtype!r} and order {order!r}")
        if not all(type(size) is int and size >= 0 for size in shape):
            raise ValueError(f"array {name!r} has shape {shape}")
        served = np.dtype(dtype)
        end = at + math.prod(shape) * served.itemsize
        if end > len(data):
            raise ValueError(f"array {name!r} is longer than the file")
        flat = np.frombuffer(data[at:end], served).astype(served.newbyteorder("="))
        arrays[str(name)] = flat.reshape(shape, order=order)
        at = end
    if at != len(data):
        raise ValueError("bytes are left over")
    return arrays
