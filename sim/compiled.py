"""How everything compiled is compiled: the only place that knows numba's options.

`kernel` is the decorator for the engine's functions and for strategies. Options, and why:

- ``cache``: compiling costs seconds, once a machine, not once a run.
- ``nogil``: chunks are played by threads.
- ``error_model="numpy"``: no test for a division by zero, of which the kernels have none.

Numba's cache looks only at the file of the function that it cached, so a helper edited in another file would go on
being used in its old form, silently. The code of a module is therefore cached in a directory named after a hash of this
module and all of the project's modules that it imports, directly or not: another source, another cache; and a new
strategy, which the engine does not import, leaves the engine's alone.
"""

import hashlib
import os
import re
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import config, njit

ROOT = Path(__file__).resolve().parent.parent
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


@cache
def sources_hash(path: Path) -> str:
    """A short hash of all sources that compiled code of a module can come from, and of the compiler's versions."""
    reached = [path]
    for file in reached:
        reached += [other for other in _source(file)[1] if other not in reached]
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {np.__version__}".encode())
    for file in sorted(reached):
        digest.update(file.name.encode() + _source(file)[0])
    return digest.hexdigest()[:16]


def cache_directory(path: str) -> Path:
    """Where compiled code of the module in a file is cached, as its sources are now."""
    return cache_home() / sources_hash(Path(path).resolve())


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


def kernel(function: Callable[..., Any] | None = None, *, signature: Any = None, inline: bool = False) -> Any:
    """Compile a function with the options above; usable bare or with arguments.

    `signature`: compile at once for these types (strategies), else at the first call. `inline`: never leave it to the
    compiler whether to call it. A function that was typed in and stands in no file is compiled but not cached, and so
    is everything where the cache cannot be written: numba would go and keep it beside the sources, by date only.
    """
    if function is None:
        return lambda given: kernel(given, signature=signature, inline=inline)
    file = function.__code__.co_filename
    cached = os.path.exists(file) and _can_write(cache_directory(file))
    before = config.CACHE_DIR
    try:
        if cached:
            # Read by numba while it decorates; put back so that other users of numba in the process keep theirs.
            config.CACHE_DIR = str(cache_directory(file))
        return njit(signature, cache=cached, nogil=True, error_model="numpy", forceinline=inline)(function)
    finally:
        config.CACHE_DIR = before
