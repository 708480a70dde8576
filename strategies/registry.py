"""Strategies by name: the decorator that makes one, and the finding of all that there are.

A strategy is a plain function of the view, decorated::

    @strategy("timid", idea="any card but a wild, while there is one", suit=longest_suit)
    def timid(view):
        return pick(view, plain_first(view, view.playable))

It answers with the code of a card of ``view.playable``, or `DRAW` or `PASS` where the view says that it may. `suit`
and `stop` are functions of the view too: the suit to declare (0 C, 1 D, 2 H, 3 S), and 1 or 0, whether to stop.

Every module in this folder is searched, so a new strategy is a new file or a function in one: there is no list to edit.
Functions are compiled when they are first played, with an explicit signature, and cached; the engine gets addresses
and is never compiled again.
"""

import difflib
import importlib
import linecache
import pkgutil
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numba import types

import strategies
from sim.cards import MOST_PLAYERS
from sim.record import threshold
from sim.table import CREW, VIEW, view_type
from strategies.params import Function, Param, ParamError, Value, compiled_for_view, declared, takes
from strategies.toolkit import longest_suit, stop_always

SIGNATURE = types.int64(view_type)

_registered: dict[str, "Strategy"] = {}


class StrategyError(ValueError):
    """A strategy that cannot be had: one line with what was asked for and what there is."""


@dataclass(frozen=True)
class Strategy:
    """A strategy: what it is called, what it does in one line, where the idea stands, and its three answers."""

    name: str
    idea: str
    sheet: str
    play: Function = field(repr=False)
    suit: Function = field(repr=False)
    stop: Function = field(repr=False)
    params: tuple[Param, ...] = ()
    values: tuple[Value, ...] = ()
    """Of the parameters, in their order."""

    def addresses(self) -> tuple[int, int, int]:
        """Give the addresses of the compiled answers: play, suit, stop."""
        play, suit, stop = (_address(function, self.params) for function in (self.play, self.suit, self.stop))
        return play, suit, stop

    def encoded(self) -> list[int]:
        """Give the values of the parameters as the compiled answers read them."""
        return [param.encode(value, _crew_address) for param, value in zip(self.params, self.values, strict=True)]

    def having(self, settings: str) -> "Strategy":
        """Return the strategy with some parameters set: `hold=2,suit=longest`. Raises StrategyError."""
        if not self.params:
            raise StrategyError(f"strategy {self.name} has no parameters, but is given {settings!r}")
        values = dict(zip((param.name for param in self.params), self.values, strict=True))
        known = {param.name: param for param in self.params}
        given = set()
        for setting in settings.split(","):
            name, equals, text = (part.strip() for part in setting.partition("="))
            if name not in known:
                hint = _nearest(name, known, "; ") or f"; there are: {', '.join(known)}"
                raise StrategyError(f"strategy {self.name} has no parameter {name!r}{hint}")
            if not equals or name in given:
                what = "given twice" if name in given else "given without a value"
                raise StrategyError(f"strategy {self.name}: {name} is {what}; allowed: {name}={known[name].default}")
            given.add(name)
            try:
                values[name] = known[name].parse(text)
            except ParamError as error:
                hint = _nearest(text, known[name].choices, "; ")
                raise StrategyError(f"strategy {self.name}: {error}{hint}") from None
            if known[name].kind == "strategy":
                _as_policy(self.name, name, text)
        set_apart = [
            f"{param.name}={values[param.name]}" for param in self.params if values[param.name] != param.default
        ]
        base = self.name.removesuffix(f":{_settings(self)}") if _settings(self) else self.name
        name = ":".join([base, *([",".join(set_apart)] if set_apart else [])])
        return replace(self, name=name, values=tuple(values[param.name] for param in self.params))


def _settings(strategy: Strategy) -> str:
    """Tell the parameters of a strategy that are not what they are by default, as in its name."""
    pairs = zip(strategy.params, strategy.values, strict=True)
    return ",".join(f"{param.name}={value}" for param, value in pairs if value != param.default)


def _as_policy(owner: str, param: str, name: str) -> Strategy:
    """Find a strategy that another one plays on with: one without such a parameter of its own."""
    found = find(name)
    if any(inner.kind == "strategy" for inner in found.params):
        raise StrategyError(f"strategy {owner}: {param} is {name!r}, which itself plays on with another strategy")
    return found


def _crew_address(name: str) -> int:
    """Give the address of a line-up that plays a strategy in every seat; it is kept for good."""
    if name not in _crews:
        _crews[name] = crew_record([Player(find(name))] * MOST_PLAYERS)
    return int(_crews[name].ctypes.data)


_crews: dict[str, np.ndarray[Any, Any]] = {}


def _address(function: Function, params: tuple[Param, ...] = ()) -> int:
    """Give the address of a function compiled for a view; it is compiled or read from the cache at the first call."""
    if (function, params) not in _compiled:
        plain = getattr(function, "py_func", function)
        try:
            compiled = compiled_for_view(plain, params)
        except OSError:  # of the cache (a full disk), which is no fault of the strategy
            raise
        except Exception as error:  # whatever numba ends in: the writer is shown the line
            raise StrategyError(_compile_fault(plain, error)) from error
        result = compiled.overloads[compiled.signatures[0]]
        # The dispatcher is kept: the code must not be freed while its address is in use.
        pointer = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        _compiled[function, params] = compiled, pointer
    return _compiled[function, params][1]


_compiled: dict[tuple[Function, tuple[Param, ...]], tuple[Any, int]] = {}


def _compile_fault(function: Function, error: Exception) -> str:
    """Say in one line why a function does not compile, and show the line of its source."""
    code = function.__code__
    lines = linecache.getlines(code.co_filename)
    reasons = [line for line in str(error).splitlines() if line.strip() and not line.startswith("Failed in nopython")]
    reason = reasons[0].strip() if reasons else type(error).__name__
    number = getattr(getattr(error, "loc", None), "line", code.co_firstlineno)
    if isinstance(error, KeyError) and error.args:
        # All that numba says of a field that a record lacks is its name.
        name = str(error.args[0])
        reason = f"the view has no field {name!r}{_nearest(name, VIEW.names or (), ': ')}"
        number = next((i for i in range(number, len(lines) + 1) if f".{name}" in lines[i - 1]), number)
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return f"{code.co_filename}, line {number}: {function.__name__} does not compile: {reason}: {text}"


def _nearest(name: str, known: Iterable[str], before: str) -> str:
    """Hint at the known name that is most like this one, or nothing."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f"{before}did you mean {near[0]}?" if near else ""


def strategy(
    name: str,
    *,
    idea: str,
    sheet: str = "",
    suit: Function = longest_suit,
    stop: Function = stop_always,
    params: Mapping[str, Any] | None = None,
) -> Callable[[Function], Function]:
    """Make a strategy of the function below: `idea` in one line, `sheet`: the rule sheet that gives the tip.

    `params`: its parameters with their defaults (`strategies.params`); each function takes those that it names.
    """

    def register(play: Function) -> Function:
        if name in _registered:
            raise StrategyError(f"two strategies are called {name!r}")
        try:
            known = declared(params or {})
            for function in (play, suit, stop):
                takes(getattr(function, "py_func", function), known)
        except ParamError as error:
            raise StrategyError(f"strategy {name}: {error}") from None
        values = tuple(param.default for param in known)
        _registered[name] = Strategy(name, idea, sheet, play, suit, stop, known, values)
        return play

    return register


def all_strategies() -> dict[str, Strategy]:
    """Find every strategy of this folder, by name and in the order of names."""
    for module in pkgutil.iter_modules(strategies.__path__):
        importlib.import_module(f"strategies.{module.name}")
    return dict(sorted(_registered.items()))


def find(spec: str) -> Strategy:
    """Find a strategy by name, with parameters where some are set: `hoard-eights:hold=2`.

    Raises StrategyError with the nearest right name.
    """
    name, colon, settings = spec.partition(":")
    known = all_strategies()
    if name in known:
        return known[name].having(settings) if colon else known[name]
    hint = _nearest(name, known, "; ") or f"; there are: {', '.join(known)}"
    raise StrategyError(f"no strategy is called {name!r}{hint}")


@dataclass(frozen=True)
class Player:
    """A seat of the line-up: its strategy, and how often the person forgets the call or plays a card that is wrong."""

    strategy: Strategy
    forget_last_card: float = 0.0
    illegal_rate: float = 0.0

    @property
    def label(self) -> str:
        """The strategy's name, with the errors that the person makes; seats of one label play alike."""
        errors = {"forget_last_card": self.forget_last_card, "illegal_rate": self.illegal_rate}
        made = ", ".join(f"{name} {chance:g}" for name, chance in errors.items() if chance)
        return f"{self.strategy.name} ({made})" if made else self.strategy.name


def crew_record(lineup: Sequence[Player], notice_rate: float = 1.0) -> np.ndarray[Any, Any]:
    """Write the line-up as the engine reads it (dtype CREW, shape ()), one player a seat; compiles what is not yet."""
    crew = np.zeros((), CREW)
    groups = list(dict.fromkeys(player.label for player in lineup))
    for seat, player in enumerate(lineup):
        crew["group"][seat] = groups.index(player.label)
        crew["play"][seat], crew["suit"][seat], crew["stop"][seat] = player.strategy.addresses()
        values = player.strategy.encoded()
        crew["params"][seat, : len(values)] = values
        crew["forget"][seat] = threshold(player.forget_last_card)
        crew["illegal"][seat] = threshold(player.illegal_rate)
    crew["notice"] = threshold(notice_rate)
    crew["errs"] = any(player.illegal_rate > 0 for player in lineup)
    return crew
