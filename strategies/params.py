"""Parameters of a strategy: declared with their defaults, set by name, handed to its functions as arguments.

``params={"hold": 1, "risk": 0.5, "suit": ("longest", "random"), "policy": "hoard-eights"}`` declares a whole number, a
number, a choice of names (the first is the default) and another strategy. `within` gives a number its bounds. Compiled
code gets an int64, a float64, the index of the choice, or the address of a line-up that plays the strategy in every
seat. The values lie in the line-up's record and not in the code, so no setting needs compiling.
"""

import inspect
import math
import struct
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from numba import types

from sim.compiled import kernel
from sim.memory import load_float, load_int
from sim.table import MOST_PARAMS, view_type

Function = Callable[..., Any]
Value = int | float | str
WIDEST = 2**53
"""Whole numbers lie between minus and plus this, unless `within` says less."""


class ParamError(ValueError):
    """A parameter that cannot be had: one line with what was given and what is allowed."""


@dataclass(frozen=True)
class Param:
    """A parameter: its name, what kind of value it takes, its default, and what is allowed."""

    name: str
    kind: str
    """whole, number, choice or strategy."""
    default: Value
    low: float = -WIDEST
    high: float = WIDEST
    choices: tuple[str, ...] = ()

    @property
    def allowed(self) -> str:
        """What it may be, in words."""
        if self.kind == "choice":
            return ", ".join(self.choices)
        if self.kind == "strategy":
            return "the name of a strategy"
        what = "a whole number" if self.kind == "whole" else "a number"
        low = f" from {self.low:g}" if self.low > -WIDEST else ""
        return f"{what}{low}{f' to {self.high:g}' if self.high < WIDEST else ''}"

    def parse(self, text: str) -> Value:
        """Read a value as it is typed. Raises ParamError."""
        text = text.strip()
        if self.kind in ("choice", "strategy"):
            if text and (self.kind == "strategy" or text in self.choices):
                return text
            raise ParamError(f"{self.name} is {text!r}; allowed: {self.allowed}")
        try:
            value = int(text) if self.kind == "whole" else float(text)
        except ValueError:
            value = math.nan
        if not self.low <= value <= self.high:
            raise ParamError(f"{self.name} is {text!r}; allowed: {self.allowed}")
        return value

    def encode(self, value: Value, crew_address: Callable[[str], int]) -> int:
        """Return a value as the int64 that the compiled code reads; `crew_address` is asked for a strategy's."""
        if self.kind == "choice":
            return self.choices.index(str(value))
        if self.kind == "strategy":
            return crew_address(str(value))
        if self.kind == "whole":
            return int(value)
        return int(struct.unpack("<q", struct.pack("<d", float(value)))[0])


@dataclass(frozen=True)
class Within:
    """A default with its bounds."""

    default: int | float
    low: int | float
    high: int | float


def within(default: float, low: float, high: float) -> Within:
    """Declare a number with bounds, a whole one if all three are.

    For instance `params={"hold": within(1, 0, 4)}`.
    """
    return Within(default, low, high)


def declared(given: Mapping[str, Any]) -> tuple[Param, ...]:
    """Read what a strategy declares. Raises ParamError."""
    if len(given) > MOST_PARAMS:
        raise ParamError(f"{len(given)} parameters are declared; allowed: {MOST_PARAMS}")
    return tuple(_declared(name, value) for name, value in given.items())


def _declared(name: str, given: Any) -> Param:
    if not name.isidentifier() or name == "view":
        raise ParamError(f"a parameter is called {name!r}; allowed: a name as of a Python argument, not view")
    if isinstance(given, Within):
        whole = all(isinstance(bound, int) for bound in (given.default, given.low, given.high))
        param = Param(name, "whole" if whole else "number", given.default, given.low, given.high)
        param.parse(str(given.default))
        return param
    if isinstance(given, str) and given:
        return Param(name, "strategy", given)
    if isinstance(given, tuple) and given and all(isinstance(choice, str) for choice in given):
        return Param(name, "choice", given[0], choices=given)
    if isinstance(given, int | float) and not isinstance(given, bool) and math.isfinite(given):
        return Param(name, "whole" if isinstance(given, int) else "number", given)
    raise ParamError(f"{name} is declared as {given!r}; allowed: a number, within(…), names to choose from, a strategy")


def takes(function: Function, params: tuple[Param, ...]) -> tuple[Param, ...]:
    """Which parameters a strategy's function takes, by the names of its arguments after the view. Raises ParamError."""
    first, *others = [*inspect.signature(function).parameters] or [""]
    known = {param.name: param for param in params}
    wrong = [name for name in others if name not in known]
    if not first or wrong:
        what = f"takes {wrong[0]!r}" if wrong else "takes nothing"
        allowed = f"the view, then {', '.join(known)}" if known else "the view alone"
        raise ParamError(f"{function.__name__} {what}; allowed: {allowed}")
    return tuple(known[name] for name in others)


def signature_of(function: Function, params: tuple[Param, ...]) -> Any:
    """Return the types with which a strategy's function is compiled."""
    kinds = [types.float64 if param.kind == "number" else types.int64 for param in takes(function, params)]
    return types.int64(view_type, *kinds)


def of_view_alone(function: Function, compiled: Any, params: tuple[Param, ...]) -> Function:
    """Return a function that reads the parameters which a compiled one takes, and calls it; itself if there are none.

    It is written out as source text so that it is compiled and cached like any other: a closure over a compiled
    function would be compiled anew in each process.
    """
    wanted = takes(function, params)
    if not wanted:
        return function
    places = [(8 * params.index(param), "load_float" if param.kind == "number" else "load_int") for param in wanted]
    reads = [f"{load}(view.params + {offset})" for offset, load in places]
    # The cache tells functions apart by name and line: those that read other parameters, or of another function of the
    # same name, must not be taken for one another.
    name = "_".join([function.__name__.strip("<>"), "with", *(f"{load[5]}{offset}" for offset, load in places)])
    before = "\n" * (function.__code__.co_firstlineno - 1)
    text = f"{before}def {name}(view):\n    return function(view, {', '.join(reads)})\n"
    names: dict[str, Any] = {"function": compiled, "load_int": load_int, "load_float": load_float}
    names["__name__"] = function.__module__
    # In the name of the file that the function stands in: there its compiled form is cached.
    exec(compile(text, function.__code__.co_filename, "exec"), names)
    made: Function = names[name]
    return made


def compiled_for_view(function: Function, params: tuple[Param, ...]) -> Any:
    """Compile a strategy's function as the engine calls it, with the view alone. Raises whatever numba ends in."""
    inner = kernel(function, signature=signature_of(function, params))
    alone = of_view_alone(function, inner, params)
    return inner if alone is function else kernel(alone, signature=types.int64(view_type))
