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
IMPORT = re.compile(r"^ *from (sim|strategies)(\.\w+)? import \(?([\w, ]*)", re.MULTILINE)
"""The form in which the project's modules import each other."""


def cache_home() -> Path:
    """The directory under which compiled code is kept: NUMBA_CACHE_DIR, else the user's cache directory."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ochos-sim"


@cache
def _source(module: str) -> tuple[bytes, tuple[str, ...]]:
    """The text of one of the project's modules, and those of them that it imports."""
    path = ROOT.joinpath(*module.split("."))
    path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
    text = path.read_bytes()
    imported = []
    for package, inner, names in IMPORT.findall(text.decode()):
        if inner:
            imported.append(package + inner)
        else:
            listed = (f"{package}.{name.strip()}" for name in names.split(","))
            imported += [name for name in listed if (ROOT / name.replace(".", "/")).with_suffix(".py").exists()]
    return text, tuple(imported)


@cache
def sources_hash(module: str) -> str:
    """A short hash of all sources that compiled code of a module can come from, and of the compiler's versions."""
    reached = [module]
    for name in reached:
        reached += [other for other in _source(name)[1] if other not in reached]
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {np.__version__}".encode())
    for name in sorted(reached):
        digest.update(name.encode() + _source(name)[0])
    return digest.hexdigest()[:16]


def cache_directory(module: str, extra: str = "") -> Path:
    """Where a module's code from the present sources is cached; `extra` tells apart what depends on one more source."""
    return cache_home() / (sources_hash(module) + (f"-{extra}" if extra else ""))


def kernel(
    function: Callable[..., Any] | None = None, *, signature: Any = None, inline: bool = False, extra: str = ""
) -> Any:
    """Compile a function with the options above; usable bare or with arguments.

    `signature`: compile at once for these types (strategies), else at the first call. `inline`: never leave it to the
    compiler whether to call it. `extra`: see `cache_directory`.
    """
    if function is None:
        return lambda given: kernel(given, signature=signature, inline=inline, extra=extra)
    before = config.CACHE_DIR
    # Read by numba while it decorates; put back so that other users of numba in the process keep theirs.
    config.CACHE_DIR = str(cache_directory(function.__module__, extra))
    try:
        return njit(signature, cache=True, nogil=True, error_model="numpy", forceinline=inline)(function)
    finally:
        config.CACHE_DIR = before
