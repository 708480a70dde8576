"""How everything compiled is compiled: the only place that knows numba's options.

`kernel` is the decorator for the engine's functions and for strategies. Options, and why:

- ``cache``: compiling costs seconds, once a machine, not once a run.
- ``nogil``: chunks are played by threads.
- ``error_model="numpy"``: no test for a division by zero, of which the kernels have none.

Numba's cache looks only at the file of the function that it cached, so a helper edited in another file would go on
being used in its old form, silently. The code of a module is therefore cached in a directory named after a hash of this
module and all of the project's modules that it imports, directly or not: another source, another cache; and a new
strategy, which the engine does not import, leaves the engine's alone.

What stands outside the project (`content_hash`), such as a user's strategy, may import in any way and take constants
from anywhere. Its directory is named after a hash of all that its compiled form can be made of.
"""

import hashlib
import os
import re
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import config, njit

ROOT = Path(__file__).resolve().parent.parent
LIBRARIES = ("numpy", "numba", "llvmlite")
"""Known by their versions, so that their insides need no hash."""
IMPORT = re.compile(r"^ *from (sim|strategies)(\.\w+)? import (?:\(([^)]*)\)|(.*))", re.MULTILINE)
"""The form in which the project's modules import each other."""


def cache_home() -> Path:
    """The directory under which compiled code is kept: NUMBA_CACHE_DIR, else the user's cache directory."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ochos-sim"


@cache
def _source(path: Path) -> tuple[bytes, tuple[Path, ...]]:
    """The text of a module, and the files of the project's modules that it imports."""
    text = path.read_bytes()
    imported = []
    for package, inner, bracketed, plain in IMPORT.findall(text.decode()):
        modules = [inner[1:]] if inner else re.findall(r"\w+", bracketed or plain)
        files = [ROOT / package / f"{module}.py" for module in modules]
        imported += [file for file in files if inner or file.exists()]
    return text, tuple(imported)


_VERSIONS = f"{numba.__version__} {llvmlite.__version__} {np.__version__}"


@cache
def sources_hash(path: Path) -> str:
    """A short hash of all sources that compiled code of a module can come from, and of the compiler's versions."""
    reached = [path]
    for file in reached:
        reached += [other for other in _source(file)[1] if other not in reached]
    digest = hashlib.sha256(_VERSIONS.encode())
    for file in sorted(reached):
        digest.update(file.name.encode() + _source(file)[0])
    return digest.hexdigest()[:16]


def cache_directory(path: str) -> Path:
    """Where compiled code of the module in a file is cached, as its sources are now."""
    return cache_home() / sources_hash(Path(path).resolve())


def content_hash(function: Callable[..., Any]) -> str:
    """A short hash of all that a function outside the project is compiled from, as it is now.

    That is its code, all functions and constants that it names and so on, what of the project it uses, and the
    compiler's versions.
    """
    digest = hashlib.sha256(_VERSIONS.encode())
    for part in content_parts(function):
        digest.update(part.encode(errors="surrogateescape") + b"\0")
    return digest.hexdigest()[:16]


def content_parts(function: Callable[..., Any]) -> Iterator[str]:
    """All that `content_hash` is made of; of a module that is used `module` and its name."""
    return _content(function, frozenset(), set())


def _content(value: Any, used: frozenset[str], seen: set[Any]) -> Iterator[str]:
    """What compiled code can take from a value; `used`: the names by which the code may look into a module."""
    function = getattr(value, "py_func", value)
    known = id(function), used if isinstance(value, ModuleType) else None
    if known in seen:
        return
    seen.add(known)
    if isinstance(function, FunctionType):
        file = Path(function.__code__.co_filename).resolve()
        yield f"{function.__module__}.{function.__qualname__}"
        if is_ours(file):
            yield sources_hash(file)
        elif not _of_library(function):
            yield from _function_content(function, seen)
    elif isinstance(value, ModuleType):
        yield f"module {value.__name__}"
        for name in sorted(used & vars(value).keys()):
            yield name
            yield from _content(vars(value)[name], used, seen)
    elif isinstance(value, np.ndarray):
        yield f"{value.dtype} {value.shape} {hashlib.sha256(value.tobytes()).hexdigest()}"
    elif isinstance(value, tuple):
        for item in value:
            yield from _content(item, used, seen)
    elif callable(value):
        yield f"{getattr(value, '__module__', '')}.{getattr(value, '__qualname__', repr(value))}"
        place = getattr(sys.modules.get(getattr(value, "__module__", None) or ""), "__file__", None)
        if not _of_library(value) and place and os.path.exists(place):
            yield hashlib.sha256(Path(place).read_bytes()).hexdigest()
    else:
        yield repr(value)


def _of_library(value: Any) -> bool:
    return (getattr(value, "__module__", None) or "").partition(".")[0] in LIBRARIES


def _function_content(function: FunctionType, seen: set[Any]) -> Iterator[str]:
    """What a function is compiled from: its code, its defaults, and what the names in it stand for."""
    names: set[str] = set()
    codes = [function.__code__]
    for code in codes:
        constants = [constant for constant in code.co_consts if not isinstance(constant, CodeType)]
        codes += [constant for constant in code.co_consts if isinstance(constant, CodeType)]
        yield f"{code.co_code.hex()} {constants} {code.co_names} {code.co_varnames} {code.co_freevars}"
        names |= set(code.co_names)
    cells = [cell.cell_contents for cell in function.__closure__ or ()]
    for value in (*cells, *(function.__defaults__ or ())):
        yield from _content(value, frozenset(names), seen)
    for name in sorted(names & function.__globals__.keys()):
        yield name
        yield from _content(function.__globals__[name], frozenset(names), seen)


def is_ours(file: Path) -> bool:
    """Whether a file (resolved) is a module of the project whose code is compiled."""
    return file.parent in (ROOT / "sim", ROOT / "strategies")


def _directory(function: Callable[..., Any]) -> Path:
    file = function.__code__.co_filename
    return cache_directory(file) if is_ours(Path(file).resolve()) else cache_home() / content_hash(function)


@cache
def _can_write(directory: Path) -> bool:
    try:
        directory.mkdir(parents=True, exist_ok=True)
    except OSError:
        return False
    return os.access(directory, os.W_OK)


def numbers(count: int) -> tuple[np.int64, ...]:
    """The numbers 0, 1, … as int64, to name constants with.

    To numba each Python number in the text is a type of its own, for which it compiles what is called with it again.
    """
    return tuple(np.int64(number) for number in range(count))


def kernel(
    function: Callable[..., Any] | None = None, *, signature: Any = None, inline: bool = False, cached: bool = True
) -> Any:
    """Compile a function with the options above; usable bare or with arguments.

    `signature`: compile at once for these types (strategies), else at the first call. `inline`: never leave it to the
    compiler whether to call it. `cached`: False where it is always compiled into something else that is cached.

    A function that was typed in and stands in no file is compiled but not cached, and so is everything where the cache
    cannot be written: numba would go and keep it beside the sources, by date only.
    """
    if function is None:
        return lambda given: kernel(given, signature=signature, inline=inline, cached=cached)
    directory = _directory(function) if cached and os.path.exists(function.__code__.co_filename) else None
    cached = directory is not None and _can_write(directory)
    before = config.CACHE_DIR
    try:
        if cached:
            # Read by numba while it decorates; put back so that other users of numba in the process keep theirs.
            config.CACHE_DIR = str(directory)
        return njit(signature, cache=cached, nogil=True, error_model="numpy", forceinline=inline)(function)
    finally:
        config.CACHE_DIR = before
