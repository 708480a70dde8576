"""Strategies by name: the decorator that makes one, and the finding of all that there are.

A strategy is a plain function of the view, decorated::

    @strategy("timid", idea="any card but a wild, while there is one", suit=longest_suit)
    def timid(view):
        return pick(view, plain_first(view, view.playable))

It answers with the code of a card of ``view.playable``, or `DRAW` or `PASS` where the view says that it may. `suit`
and `stop` are functions of the view too: the suit to declare (0 C, 1 D, 2 H, 3 S), and 1 or 0, whether to stop.

Every module in this folder is searched, so a new strategy is a new file or a function in one: there is no list to edit.
Those of a user's file or of an installed package are found by `strategies.loading`, and keep to a register of their
own. Functions are compiled when they are first played, with an explicit signature, and cached; the engine gets
addresses and is never compiled again.
"""

import difflib
import hashlib
import importlib
import linecache
import os
import pkgutil
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field, replace
from types import FunctionType
from typing import Any

import numpy as np
from numba import types

import strategies
from sim.cards import MOST_PLAYERS
from sim.record import threshold
from sim.rollout import policy_record
from sim.table import CREW, VIEW, view_type
from strategies.params import Function, Param, ParamError, Value, compiled_for_view, declared, takes
from strategies.toolkit import longest_suit, stop_always

SIGNATURE = types.int64(view_type)

FILE = re.compile(r"(.+?\.py)(?::(.*))?", re.DOTALL)
"""How a strategy in a file is asked for, and what it is called: the file, then perhaps its name and its parameters."""

_built_in: dict[str, "Strategy"] = {}
_register: ContextVar[dict[str, "Strategy"]] = ContextVar("register", default=_built_in)
_made: dict[Function, "Strategy"] = {}


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
    source: str = ""
    """SHA-256, in hex digits, of what a user's file or an installed package holds; '' for what is built in."""
    file: str = ""
    """The file it stands in, as it was asked for; '' if it has a name alone."""

    @property
    def spec(self) -> str:
        """What finds it again from the same directory; the name may leave out where its file is."""
        found = FILE.fullmatch(self.name) if self.file else None
        return self.file + self.name[len(found[1]) :] if found else self.name

    @property
    def options(self) -> str:
        """The parameters with their defaults, as they are typed: `hold=1,suit=longest`."""
        return ",".join(f"{param.name}={param.default}" for param in self.params)

    def addresses(self) -> tuple[int, int, int]:
        """Give the addresses of the compiled answers: play, suit, stop."""
        play, suit, stop = (compiled(function, self.params)[1] for function in (self.play, self.suit, self.stop))
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
        sources = [self.source] if self.source else []
        for setting in settings.split(","):
            name, equals, text = (part.strip() for part in setting.partition("="))
            if name not in known:
                raise StrategyError(f"strategy {self.name} has no parameter {name!r}{hint(name, known)}")
            if not equals or name in given:
                what = "given twice" if name in given else "given without a value"
                raise StrategyError(f"strategy {self.name}: {name} is {what}; allowed: {name}={known[name].default}")
            given.add(name)
            try:
                values[name] = known[name].parse(text)
            except ParamError as error:
                raise StrategyError(f"strategy {self.name}: {error}{nearest(text, known[name].choices)}") from None
            if known[name].kind == "strategy" and (source := _as_policy(self.name, name, text).source):
                sources.append(source)
        set_apart = [
            f"{param.name}={values[param.name]}" for param in self.params if values[param.name] != param.default
        ]
        base = self.name.removesuffix(f":{_settings(self)}") if _settings(self) else self.name
        name = ":".join([base, *([",".join(set_apart)] if set_apart else [])])
        source = hashlib.sha256("".join(sources).encode()).hexdigest() if len(sources) > 1 else "".join(sources)
        return replace(self, name=name, values=tuple(values[param.name] for param in self.params), source=source)


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
    """Give the address of a policy (`sim.rollout.POLICY`) that plays a strategy in every seat; it is kept for good."""
    found = find(name)
    if found not in _crews:
        _crews[found] = policy_record(crew_record([Player(found)] * MOST_PLAYERS))
    return int(_crews[found].ctypes.data)


_crews: dict[Strategy, np.ndarray[Any, Any]] = {}


def compiled(function: Function, params: tuple[Param, ...] = ()) -> tuple[Any, int]:
    """Compile a function for a view alone, or read it from the cache: the compiled function and its address.

    Raises StrategyError with the line that does not compile.
    """
    if (function, params) not in _compiled:
        plain = getattr(function, "py_func", function)
        try:
            made = compiled_for_view(plain, params)
        except OSError:  # of the cache (a full disk), which is no fault of the strategy
            raise
        except Exception as error:  # whatever numba ends in: the writer is shown the line
            raise StrategyError(_compile_fault(plain, error)) from error
        result = made.overloads[made.signatures[0]]
        # The compiled function is kept: the code must not be freed while its address is in use.
        pointer = result.library.get_pointer_to_function(result.fndesc.llvm_func_name)
        _compiled[function, params] = made, pointer
    return _compiled[function, params]


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
        reason = f"the view has no field {name!r}{nearest(name, VIEW.names or (), ': ')}"
        number = next((i for i in range(number, len(lines) + 1) if f".{name}" in lines[i - 1]), number)
    elif "Untyped global name" in reason and "class 'function'" in str(error):
        reason += " (a function that a strategy calls needs @toolkit.helper above it)"
    text = lines[number - 1].strip() if 0 < number <= len(lines) else ""
    return f"{shown(code.co_filename)}, line {number}: {function.__name__} does not compile: {reason}: {text}"


def shown(file: str) -> str:
    """Show where a file is, seen from the working directory if it is below that."""
    path = os.path.relpath(file)
    return file if path.startswith(os.pardir) else path


def nearest(name: str, known: Iterable[str], before: str = "; ") -> str:
    """Hint at the known name that is most like this one, or nothing."""
    near = difflib.get_close_matches(name, list(known), 1)
    return f"{before}did you mean {near[0]}?" if near else ""


def hint(name: str, known: Iterable[str]) -> str:
    """Hint at the name that was meant, or at all that there are."""
    known = sorted(known)
    return nearest(name, known) or (f"; there are: {', '.join(known)}" if known else "")


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
        register = _register.get()
        # A cell of a notebook may be run again.
        if name in register and register[name].play.__module__ != "__main__":
            raise StrategyError(f"two strategies are called {name!r}")
        try:
            known = declared(params or {})
            for function in (play, suit, stop):
                takes(getattr(function, "py_func", function), known)
        except ParamError as error:
            raise StrategyError(f"strategy {name}: {error}") from None
        values = tuple(param.default for param in known)
        register[name] = _made[play] = Strategy(name, idea, sheet, play, suit, stop, known, values)
        return play

    return register


@contextmanager
def register_apart() -> Iterator[dict[str, Strategy]]:
    """Put the strategies that are declared meanwhile into a register of their own."""
    found: dict[str, Strategy] = {}
    token = _register.set(found)
    try:
        yield found
    finally:
        _register.reset(token)


def strategy_of(function: Function, around: Mapping[str, Any]) -> Strategy:
    """Return the strategy that a function was declared as, or make one of a plain function, called as this is.

    `around`: the names of its module, of which `suit` and `stop` are the other two answers. Raises StrategyError.
    """
    if function in _made:
        return _made[function]
    answers = [function, around.get("suit", longest_suit), around.get("stop", stop_always)]
    for name, answer in zip((function.__name__, "suit", "stop"), answers, strict=True):
        plain = getattr(answer, "py_func", answer)
        if not isinstance(plain, FunctionType):
            raise StrategyError(f"{name} is {answer!r}; allowed: a function of the view")
        try:
            takes(plain, ())
        except ParamError as error:
            code = plain.__code__
            raise StrategyError(f"{shown(code.co_filename)}, line {code.co_firstlineno}: {error}") from None
    play, suit, stop = answers
    idea = (function.__doc__ or "").strip().partition("\n")[0]
    return Strategy(function.__name__, idea, "", play, suit, stop)


def built_in() -> dict[str, Strategy]:
    """Find every strategy of this folder, by name and in the order of names."""
    for module in pkgutil.iter_modules(strategies.__path__):
        importlib.import_module(f"strategies.{module.name}")
    return dict(sorted(_built_in.items()))


def all_strategies() -> dict[str, Strategy]:
    """Find every strategy that has a name: those of this folder and of installed packages, in the order of names."""
    from strategies.loading import installed

    return dict(sorted({**installed()[0], **built_in()}.items()))


def find(spec: str) -> Strategy:
    """Find a strategy, with parameters where some are set: `hoard-eights:hold=2`, `my_bot.py:timid:hold=2`.

    A name is that of a built-in strategy or of an installed package. Raises StrategyError with the nearest right name.
    """
    # Not at the head: what finds others' strategies needs what is defined here.
    from strategies.loading import find_in_file, find_installed, installed_names

    if FILE.fullmatch(spec):
        return find_in_file(spec)
    name, colon, settings = spec.partition(":")
    known = built_in()
    found = known.get(name) or find_installed(name)
    if found is None:
        if os.path.exists(f"{name}.py"):
            raise StrategyError(f"no strategy is called {name!r}; did you mean {name}.py?")
        raise StrategyError(f"no strategy is called {name!r}{hint(name, {*known, *installed_names()})}")
    return found.having(settings) if colon else found


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
