"""How everything compiled is compiled: the only place that knows numba's options.

`kernel` is the decorator for the engine's functions and for strategies. Options, and why:

- ``cache``: compiling costs seconds, once a machine, not once a run.
- ``nogil``: chunks are played by threads.
- ``error_model="numpy"``: no test for a division by zero, of which the kernels have none.

Numba's cache looks only at the file of the function that it cached, so a helper edited in another file would go on
being used in its old form, silently. The cache therefore lives in a directory named after a hash of every source file
that compiled code can come from: another source, another cache.
"""

import hashlib
import os
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import llvmlite
import numba
import numpy as np
from numba import config, njit

ROOT = Path(__file__).resolve().parent.parent


def cache_home() -> Path:
    """The directory under which compiled code is kept: NUMBA_CACHE_DIR, else the user's cache directory."""
    if given := os.environ.get("NUMBA_CACHE_DIR"):
        return Path(given)
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "ochos-sim"


@cache
def sources_hash() -> str:
    """A short hash of all sources that compiled code can come from, and of the compiler's versions."""
    digest = hashlib.sha256(f"{numba.__version__} {llvmlite.__version__} {np.__version__}".encode())
    for folder in ("sim", "strategies"):
        for path in sorted((ROOT / folder).glob("**/*.py")):
            digest.update(path.name.encode() + path.read_bytes())
    return digest.hexdigest()[:16]


def cache_directory(extra: str = "") -> Path:
    """Where code from the present sources is cached; `extra` tells apart what depends on a further source."""
    return cache_home() / (sources_hash() + (f"-{extra}" if extra else ""))


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
    config.CACHE_DIR = str(cache_directory(extra))
    try:
        return njit(signature, cache=True, nogil=True, error_model="numpy", forceinline=inline)(function)
    finally:
        config.CACHE_DIR = before
