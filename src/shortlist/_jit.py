"""The only place that configures Numba.

Five decorators compile everything in the package:

`kernel`
    a compiled function: no Python objects, no GIL, IEEE division, compiled at
    the first call and kept on disk for the next process;
`summing_kernel`
    the same, where the compiler may also reorder sums, so that reductions
    vectorise. It reorders *all* sums of the function's own body: an expression
    whose order matters goes into an `inlined` function. NaN and infinities keep
    their meaning;
`largest_kernel`
    the same for maxima, which vectorise where there is no NaN;
`inlined`
    a small function that becomes part of its callers' loops;
`part`
    a function that is compiled inside each kernel that calls it.

Views
-----
Numba counts who refers to an array, and so each slice of one, by two atomic instructions:
about 10 nanoseconds, in which a row of ten scores is multiplied with another. In loops over
examples kernels slice arrays that are `uncounted`. Arguments live as long as the call does;
what a kernel has allocated itself is given to `keep_alive` in the end.

The disk cache
--------------
Numba keys a cached function by its own file alone and does not notice that a
function it *calls*, in another file, has changed. So the cache folder carries
the hash of all source that kernels are made of: the files that compile, and all
that these import. Edit a line of them and every kernel is compiled anew; edit
another file and nothing is. The folder lies under
``NUMBA_CACHE_DIR`` where that is set, else under the user's cache folder; where
neither can be written, kernels are compiled once in each process.

Numba numbers the files of a function's types. Two processes that compile the same
function at the same moment would take the same number, and the index of one would
lead to the code of the other. So every file has a name of its own.
"""

from __future__ import annotations

import functools
import hashlib
import os
import re
import shutil
import sys
import time
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import numba
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload, register_jitable

Function = TypeVar("Function", bound=Callable[..., object])

#: Lets a multiplication and an addition become one instruction, and no more.
FASTMATH = {"contract"}
#: What reductions need to vectorise. Not full ``fastmath``: that makes `isnan` lie.
_REORDER = {"contract", "arcp", "nsz", "reassoc"}
#: What maxima need to vectorise.
_NO_NAN = {"nnan", "nsz"}

_IMPORT = re.compile(r"^\s*from (shortlist[\w.]*) import (\([^)]*\)|.*)", re.MULTILINE)
_COMPILES = re.compile(r"^\s*from shortlist\._(jit|generic) import", re.MULTILINE)
_UNUSED_FOLDERS_LIVE_FOR = 30 * 24 * 3600.0  # seconds


def kernel(function: Function) -> Function:
    """Compile `function` at its first call; see the module's docstring."""
    return _compile(function, FASTMATH)


def summing_kernel(function: Function) -> Function:
    """Like `kernel`, for functions whose sums may be reordered to vectorise."""
    return _compile(function, _REORDER)


def largest_kernel(function: Function) -> Function:
    """Like `kernel`, for maxima of vectors without NaN: if there is one, so is the result any."""
    return _compile(function, _NO_NAN)


def inlined(function: Function) -> Function:
    """Like `kernel`, for small functions that become part of every caller's loop.

    Left to itself, LLVM calls a function that several places use, and a loop with
    a call in it does not vectorise.
    """
    return _compile(function, FASTMATH, forceinline=True)


def part(function: Function) -> Function:
    """Compile `function` anew inside each kernel that calls it.

    For functions that call generic functions of values which may be a user's own: a
    kernel of its own would be kept on disk, and outlive an edit of the user's file.
    """
    return register_jitable(error_model="numpy", fastmath=FASTMATH)(function)


def uncounted(arrays: Any) -> Any:
    """Return an array, or a tuple of arrays, whose slices in a kernel are not counted."""
    return arrays


def keep_alive(arrays: Any) -> None:
    """Do nothing, but late: up to here a kernel does not free what it has allocated."""


@intrinsic
def _without_owner(typing: Any, arrays: Any) -> Any:
    def strip(context: Any, builder: Any, kind: Any, value: Any) -> Any:
        if isinstance(kind, types.BaseTuple):
            for i, each in enumerate(kind.types):
                stripped = strip(context, builder, each, builder.extract_value(value, i))
                value = builder.insert_value(value, stripped, i)
        elif isinstance(kind, types.Array):
            array = context.make_array(kind)(context, builder, value)
            array.meminfo = cgutils.get_null_value(array.meminfo.type)
            array.parent = cgutils.get_null_value(array.parent.type)
            value = array._getvalue()
        return value

    def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        return strip(context, builder, signature.args[0], values[0])

    return arrays(arrays), generate


overload(uncounted)(lambda arrays: lambda arrays: _without_owner(arrays))
overload(keep_alive)(lambda arrays: lambda arrays: None)


def kernel_for(value: Any, compiled: Function) -> Function:
    """Return the kernel `compiled`, or its twin that is not kept on disk if `value` is a user's."""
    return compiled if _is_ours(type(value)) else _uncached_twin(compiled)


@functools.cache
def _uncached_twin(compiled: Any) -> Any:
    function = getattr(compiled, "py_func", compiled)  # without the compiler they are one
    return numba.njit(nogil=True, error_model="numpy", fastmath=FASTMATH)(function)


def _is_ours(owned: Any) -> bool:
    """Whether a class or function is of this package, whose source the cache's name vouches for."""
    return str(owned.__module__).startswith("shortlist.")


def _compile(function: Function, fastmath: set[str], **more: bool) -> Function:
    options = {"nogil": True, "error_model": "numpy", "fastmath": fastmath, **more}
    if CACHE_FOLDER is None or not _is_ours(function):
        return numba.njit(**options)(function)
    # Numba reads this setting when it decorates; other libraries keep theirs.
    before = numba.config.CACHE_DIR
    numba.config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        compiled = numba.njit(cache=True, **options)(function)
    finally:
        numba.config.CACHE_DIR = before
    cache = getattr(compiled, "_cache", None)  # without the compiler there is none
    if cache is not None:
        files = cache._cache_file
        files._data_name = functools.partial(_name_of_its_own, files._data_name)
    return compiled


def _name_of_its_own(numbered: Callable[[int], str], number: int) -> str:
    """Return the name of a file of compiled code that no other process can choose."""
    return f"{numbered(number).removesuffix('.nbc')}.{uuid.uuid4().hex[:16]}.nbc"


def _source_hash(package: Path) -> str:
    """Return the hash of the files that import this module, and of all that these import."""
    source = {file: file.read_text(encoding="utf-8") for file in package.rglob("*.py")}
    reached: set[Path] = set()
    waiting = [file for file, text in source.items() if _COMPILES.search(text)]
    while waiting:
        file = waiting.pop()
        if file not in reached:
            reached.add(file)
            waiting += [found for found in _imported(source[file], package) if found in source]
    digest = hashlib.blake2b(digest_size=8)
    for file in sorted(reached):
        digest.update(f"{file.relative_to(package)}\n{source[file]}\n".encode())
    return digest.hexdigest()


def _imported(text: str, package: Path) -> Iterator[Path]:
    """Yield the files, some of which may not exist, that the imports of a file can mean."""
    for parent, names in _IMPORT.findall(text):
        folder = package.joinpath(*parent.split(".")[1:])
        yield folder.with_suffix(".py")
        yield folder / "__init__.py"
        yield from (folder / f"{name}.py" for name in re.findall(r"\w+", names))


def _cache_root() -> Path:
    if os.environ.get("NUMBA_CACHE_DIR"):
        return Path(os.environ["NUMBA_CACHE_DIR"])
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def _find_cache_folder() -> Path | None:
    """Return the writable cache folder of exactly this source, or None."""
    try:
        kernels = _cache_root() / "shortlist" / "kernels"
        folder = kernels / _source_hash(Path(__file__).parent)
        if folder.is_dir():
            if not os.access(folder, os.W_OK):
                return None
            os.utime(folder)  # in use: see _remove_unused
        else:
            folder.mkdir(parents=True)
            _remove_unused(kernels)
    except (OSError, RuntimeError):  # read-only disk; no home folder
        return None
    return folder


def _remove_unused(kernels: Path) -> None:
    """Remove the folders of sources that nobody has imported for a month."""
    for folder in kernels.iterdir():
        if time.time() - folder.stat().st_mtime > _UNUSED_FOLDERS_LIVE_FOR:
            shutil.rmtree(folder, ignore_errors=True)


CACHE_FOLDER = _find_cache_folder()
