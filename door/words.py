"""What people type, read: numbers, seeds, players, line-ups, rule sets. A mistake is one line with what is allowed."""

import math
import os
import re
import secrets
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from door.options import DEFAULT_RULES
from door.printing import note

if TYPE_CHECKING:
    from sim.rules import NamedRules

DEFAULT_COUNT = 100_000
UPPER_LIMIT = 100_000_000
"""Hands that a run with a precision plays at most, unless told otherwise."""
LARGEST_COUNT = 10**12
SEEDS = 2**64
SEATS = range(2, 11)
"""How many a table seats."""


class CommandError(ValueError):
    """A mistake in the command that no other room knows of; one line: what was given, what is allowed."""


# --- Numbers -------------------------------------------------------------------------------------------------------


def parse_count(option: str, text: str) -> int:
    """Read a number of hands as people write it: 1000000, 1_000_000, 1,000,000, 1e6, 300k, 2M."""
    match = re.fullmatch(r"([-+]?[\d_,]*\.?\d+)(?:[eE]\+?(\d{1,3}))?([kKmMgG]?)", text.strip())
    value = math.nan
    if match:
        digits, exponent, unit = match.groups()
        try:
            value = float(re.sub("[_,]", "", digits)) * 10.0 ** (
                int(exponent or 0) + {"": 0, "k": 3, "m": 6, "g": 9}[unit.lower()]
            )
        except OverflowError:
            value = math.inf
    if not 1 <= value <= LARGEST_COUNT or value != int(value):
        raise CommandError(f"{option} is {text!r}; allowed: a whole number from 1 to 10^12, as 300000, 300k, 2M or 1e6")
    return int(value)


def parse_whole(option: str, text: str, low: int, high: int) -> int:
    """Read a whole number within bounds."""
    if not re.fullmatch(r"[-+]?\d{1,25}", text.strip()) or not low <= int(text) <= high:
        raise CommandError(f"{option} is {text!r}; allowed: a whole number from {low} to {high}")
    return int(text)


def parse_chance(option: str, text: str) -> float:
    """Read a chance from 0 to 1, also in per cent."""
    value = _fraction(text)
    if not 0 <= value <= 1:
        raise CommandError(f"{option} is {text!r}; allowed: a chance from 0 to 1, as 0.05 or 5%")
    return value


def parse_precision(text: str | None) -> float | None:
    """Read the half-width at which to stop."""
    if text is None:
        return None
    value = _fraction(text)
    if not 0 < value < 1:
        raise CommandError(f"--precision is {text!r}; allowed: a share between 0 and 1, as 0.002 or 0.2%")
    return value


def parse_size(option: str, text: str) -> float:
    """Read the size of an aim: a number above 0, also in per cent."""
    value = _fraction(text)
    if not 0 < value < math.inf:
        raise CommandError(f"{option} is {text!r}; allowed: a number above 0, as 0.002 or 0.2%, or 1.5 turns as 1.5")
    return value


def _fraction(text: str) -> float:
    try:
        return float(text[:-1]) / 100 if text.endswith("%") else float(text)
    except ValueError:
        return math.nan


def parse_seed(text: str, quiet: bool) -> int:
    """Read a seed, or one drawn now and told."""
    if text == "random":
        seed = secrets.randbits(64)
        if not quiet:
            note(f"seed {seed}")
        return seed
    if not re.fullmatch(r"\d{1,20}", text) or int(text) >= SEEDS:
        raise CommandError(f"--seed is {text!r}; allowed: a whole number from 0 to 2^64 - 1, or random")
    return int(text)


def parse_players(text: str) -> list[int]:
    """Numbers of players: 4, or a list or range such as 2,4 or 2-5."""
    numbers: list[int] = []
    for part in text.split(","):
        match = re.fullmatch(r"\s*(-?\d{1,4})\s*(?:-\s*(\d{1,4})\s*)?", part)
        if not match:
            raise CommandError(
                f"--players is {text!r}; allowed: a number from 2 to 10, a list as 2,4 or a range as 2-5"
            )
        first = int(match[1])
        last = int(match[2] or first)
        if last < first or last - first > 10:
            raise CommandError(f"--players is {text!r}; allowed: a range from fewer to more, as 2-5")
        numbers += range(first, last + 1)
    for number in numbers:
        if number not in SEATS:
            raise CommandError(f"--players is {text!r}; a table seats 2 to 10")
        if numbers.count(number) > 1:
            raise CommandError(f"--players is {text!r}: {number} players are asked for more than once")
    return numbers


def parse_threads(text: str | None) -> int:
    """How many threads play."""
    if text is None:
        return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return parse_whole("--threads", text, 1, 1024)


def parse_amount(hands: str | None, matches: str | None, precision: float | None) -> tuple[int, bool]:
    """How much is played: hands or matches."""
    if hands is not None and matches is not None:
        raise CommandError("--hands and --matches are given; allowed: one of them")
    if matches is not None:
        return parse_count("--matches", matches), True
    if hands is not None:
        return parse_count("--hands", hands), False
    return UPPER_LIMIT if precision is not None else DEFAULT_COUNT, False


def parse_seat(option: str, text: str | None, players: int) -> int | None:
    """Read a seat, counted from 1."""
    return None if text is None else parse_whole(option, text, 1, players)


def parse_one_number(players: str) -> int:
    """One number of players."""
    if not re.fullmatch(r"[-\d,\s]+", players):
        raise CommandError(f"--players is {players!r}; allowed: a number from 2 to 10")
    numbers = parse_players(players)
    if len(numbers) > 1:
        raise CommandError(f"--players is {players!r}; allowed: one number (fairness takes several)")
    return numbers[0]


# --- Line-ups and cards --------------------------------------------------------------------------------------------


def parse_lineup(
    strategies: list[str] | None, forget: list[str] | None, illegal: list[str] | None, players: int
) -> tuple[Mapping[str, Any], ...]:
    """Read the line-up: an entry that stands for all seats, or one a seat. Raises StrategyError, CommandError."""
    from strategies.registry import find

    found = [find(spec) for spec in strategies or ["random"]]
    forgets = [parse_chance("--forget-last-card", text) for text in forget or ["0"]]
    illegals = [parse_chance("--illegal-rate", text) for text in illegal or ["0"]]
    given = {"--strategy": len(found), "--forget-last-card": len(forgets), "--illegal-rate": len(illegals)}
    for option, times in given.items():
        if times not in (1, players):
            raise CommandError(
                f"{option} is given {times} times for {players} players; allowed: once for all seats, "
                f"or {players} times, once a seat{f'; or --players {times}' if times in SEATS else ''}"
            )
    entries: list[Mapping[str, Any]] = []
    for seat in range(max(given.values())):
        # The last one stands for all where it is given once.
        strategy = found[min(seat, len(found) - 1)]
        forget_rate, illegal_rate = (rates[min(seat, len(rates) - 1)] for rates in (forgets, illegals))
        errors = {"forget_last_card": forget_rate, "illegal_rate": illegal_rate}
        # The content of a user's own file decides the result as much as its name.
        own = {"source": strategy.source} if strategy.source else {}
        own |= {"name": strategy.name} if strategy.name != strategy.spec else {}
        entries.append({"strategy": strategy.spec, **own, **{key: rate for key, rate in errors.items() if rate}})
    return tuple(entries)


def parse_lineups(
    strategies: list[str] | None,
    lineups: list[str] | None,
    forget: list[str] | None,
    illegal: list[str] | None,
    players: Sequence[int],
) -> tuple[tuple[Mapping[str, Any], ...], ...]:
    """Read the line-ups of a comparison: that of `--strategy`, for all numbers of players, or one for each `--lineup`.

    Raises StrategyError, CommandError.
    """
    if strategies and lineups:
        raise CommandError("--strategy and --lineup are given; allowed: one of them")
    if not lineups:
        lineup, *_ = [parse_lineup(strategies, forget, illegal, number) for number in players]  # it is to fit them all
        return (lineup,)
    found = []
    for text in lineups:
        names = split_lineup(text)
        fitting = [number for number in players if len(names) in (1, number)] or [len(names)]
        lineup, *_ = [parse_lineup(names, forget, illegal, number) for number in fitting]
        found.append(lineup)
    return tuple(found)


def split_lineup(text: str) -> list[str]:
    """Part the strategies of a line-up: `sensible,random`; a comma before `key=` is one between parameters."""
    names: list[str] = []
    for part in text.split(","):
        if names and ":" in names[-1] and re.match(r"\s*[a-z_]\w*\s*=", part):
            names[-1] += f",{part}"
        else:
            names.append(part.strip())
    if not all(names):
        raise CommandError(f"--lineup is {text!r}; allowed: one strategy for all seats, or one a seat, as a,b")
    return names


def is_blind_lineup(lineup: Sequence[Mapping[str, Any]]) -> bool:
    """Whether nobody in a line-up can know how hands are scored."""
    from strategies.blindness import is_blind
    from strategies.registry import find

    return all(is_blind(find(entry["strategy"])) for entry in lineup)


def crew_of(lineup: Sequence[Mapping[str, Any]], notice_rate: float) -> tuple[Any, list[str]]:
    """Return the line-up, an entry a seat, as the engine reads it, and the labels of its seats."""
    from strategies.registry import Player, crew_record, find

    seats = [
        Player(find(entry["strategy"]), entry.get("forget_last_card", 0.0), entry.get("illegal_rate", 0.0))
        for entry in lineup
    ]
    return crew_record(seats, notice_rate), [player.label for player in seats]


def note_no_call(named: "Sequence[NamedRules]", lineup: Sequence[Mapping[str, Any]], quiet: bool) -> None:
    """Say that nobody can forget the last-card call where there is none."""
    forgets = any("forget_last_card" in entry for entry in lineup)
    if forgets and not quiet and not any(rule_set.rules.last_card.call for rule_set in named):
        note(
            "--forget-last-card changes nothing: these rules have no last-card call; --set last_card.call=true adds it"
        )


def parse_dealer(
    match: bool, dealer: str | None, first_dealer: str | None, rotation: str | None, deck: Path | None, players: int
) -> int | None:
    """Return the seat, from 0, that deals first in a trace, if it is fixed."""
    if match and dealer is not None:
        raise CommandError("--dealer is for one hand; a match has --first-dealer")
    if match and deck is not None:
        raise CommandError("--deck gives the cards of one hand; it does not go with --match")
    if first_dealer is not None and not match:
        raise CommandError("--first-dealer is for a match (--match); a hand has --dealer")
    if rotation is not None and (dealer or first_dealer) is not None:
        raise CommandError("--rotation moves the dealer; it does not go with a dealer that is fixed")
    seat = parse_seat("--dealer", dealer, players) or parse_seat("--first-dealer", first_dealer, players)
    return None if seat is None else seat - 1


def read_deck(path: Path | None) -> list[int]:
    """Read the cards of a deck file as codes. Raises CommandError."""
    if path is None:
        return []
    from sim.cards import card_code

    try:
        codes = [card_code(word) for word in path.read_text("utf-8").split()]
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else str(error)
        raise CommandError(f"--deck {path}: {reason}") from None
    if not codes:
        raise CommandError(f"--deck {path}: holds no cards; allowed: all cards of the pack, as 10H QS")
    return codes


# --- Rule sets -----------------------------------------------------------------------------------------------------


def parse_one_rule_set(verb: str, specs: Sequence[str] | None) -> str:
    """Return the one rule set that a verb plays."""
    if specs and len(specs) > 1:
        raise CommandError(
            f"{verb} plays one rule set, but --rules is given {len(specs)} times; fairness compares several"
        )
    return specs[0] if specs else DEFAULT_RULES


def rule_sets(
    specs: Sequence[str], sets: Sequence[str], vary: Sequence[str], quiet: bool
) -> tuple[list["NamedRules"], list[str]]:
    """Return the rule sets of a comparison and what they are called: those given, or variations of the one given.

    Raises RulesError, CommandError.
    """
    from sim.rules import RulesError, load

    if vary and len(specs) > 1:
        raise CommandError("--vary changes one base, but --rules is given more than once")
    for spec in specs:
        if "," in spec and ".toml" not in spec:
            raise CommandError(
                f"--rules is {spec!r}; allowed: one rule set; to compare several, give --rules once for each"
            )
    base = specs[0]
    asked = [(spec, spec, list(sets)) for spec in specs]
    for one in (one for text in vary for one in _alternatives(text)):
        if "=" in one:
            asked.append((f"{base} {one}", base, [*sets, one]))
        else:
            asked.append((f"{base}+{one}", f"{base}+{one}", list(sets)))
    found: list[NamedRules] = []
    names: list[str] = []
    for name, spec, settings in asked:
        try:
            named = load(spec, settings)
        except RulesError as error:
            raise RulesError(str(error).replace(f"--set {settings[-1]}", f"--vary {settings[-1]}")
                             if settings[len(sets) :] else str(error)) from None  # fmt: skip
        twins = [before for before, other in zip(names, found, strict=True) if other.rules == named.rules]
        if twins and vary and twins[0] == base and name != base:
            if not quiet:
                note(f"{name} is what {base} says already; it is in the comparison as {base}")
        elif twins:
            what = f"{name} is given twice" if twins[0] == name else f"{twins[0]} and {name} are the same rules"
            raise CommandError(f"{what}; allowed: each rule set once")
        else:
            found.append(named)
            names.append(name)
    return found, names


def _alternatives(text: str) -> list[str]:
    """Return what one --vary asks for: `key=a,b` as [key=a, key=b]; commas within brackets or quotes part nothing."""
    from sim.rules import options

    key, equals, values = text.partition("=")
    if "," in key or not equals:
        key, equals, values = "", "", text
    # Each alternative is a run of bracketed or quoted pieces and of anything but commas; it may be empty.
    parts = re.findall(r"""((?:\{[^}]*\}|\[[^\]]*\]|"[^"]*"|[^,])*)(?:,|$)""", values)[:-1]
    named = [part.strip().removeprefix("+") for part in (parts if values and not values.endswith(",") else [""])]
    if not all(named):
        raise CommandError(f"--vary is {text!r}; allowed: key=value,value or change,change")
    if not equals and named[0] in options():
        raise CommandError(f"--vary is {text!r}; {named[0]} is an option: give its values, as {named[0]}=A,B")
    return [f"{key}{equals}{part}" for part in named]
