"""Whether a strategy can know how a hand is scored: where nobody can, scoring rules share the hands that are played.

A view shows what cards are worth and what the totals are; only the rest of the scoring is hidden, in the record at
`view.rules`. A strategy is blind to it if nothing that it calls names that address or reads memory. The test looks at
names, and is careful: what it does not understand may see.
"""

from collections.abc import Iterator
from types import BuiltinFunctionType, CodeType, FunctionType, ModuleType
from typing import Any

from sim import memory
from strategies.registry import Strategy

ADDRESS = "rules"
"""The field of the view that leads to all the rules."""
SAFE = ("numpy", "math", "builtins", "numba.np", "llvmlite")
"""Modules whose functions compute with what they are given and reach for nothing else."""


def is_blind(strategy: Strategy) -> bool:
    """Whether none of a strategy's answers can depend on how hands are scored, beyond what cards are worth."""
    # One that plays on with another one does so in the engine's way, under all the rules.
    if any(param.kind == "strategy" for param in strategy.params):
        return False
    seen: set[int] = set()
    return not any(_may_see(answer, frozenset(), seen) for answer in (strategy.play, strategy.suit, strategy.stop))


def _may_see(value: Any, used: frozenset[str], seen: set[int]) -> bool:
    """Whether a value that compiled code names may lead it to the rules; `used`: names looked up in a module."""
    function = getattr(value, "py_func", value)
    if isinstance(value, ModuleType):
        if value.__name__.partition(".")[0] in SAFE:
            return False
        return value is memory or any(_may_see(vars(value)[n], used, seen) for n in used & vars(value).keys())
    if id(function) in seen:
        return False
    seen.add(id(function))
    if isinstance(function, FunctionType):
        if function.__module__ == memory.__name__:
            return True
        if _is_safe(function):
            return False
        names = frozenset(_names(function.__code__))
        cells = [cell.cell_contents for cell in function.__closure__ or ()]
        others = [*cells, *(function.__defaults__ or ()), *(function.__globals__.get(name) for name in names)]
        return ADDRESS in names or any(_may_see(other, names, seen) for other in others)
    if isinstance(value, tuple | list):
        return any(_may_see(one, used, seen) for one in value)
    return callable(value) and not isinstance(value, type | BuiltinFunctionType) and not _is_safe(value)


def _is_safe(value: Any) -> bool:
    module = str(getattr(value, "__module__", None) or type(value).__module__)
    return any(module == safe or module.startswith(f"{safe}.") for safe in SAFE)


def _names(code: CodeType) -> Iterator[str]:
    """All names in a code and the codes within it; a text may be one too, as in `getattr`."""
    yield from code.co_names
    for constant in code.co_consts:
        if isinstance(constant, CodeType):
            yield from _names(constant)
        elif isinstance(constant, str):
            yield constant
