"""Questions that stand in files: back from the `experiment.toml` of a results folder, and asked by a batch file.

What a results folder says of itself is enough to tell its answer again: the rules in full, who played and how much. A
batch file asks several questions with the words of the command line; here it is read and checked for its form, and each
mistake is told with its line. What the words mean is the door's matter.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import BaseModel, ConfigDict, Field, ValidationError

from reports.answers import Asked, Question, words_of
from reports.comparing import Comparison
from reports.lengths import LengthQuestion
from reports.skilled import SkillQuestion
from reports.tables import player_in_words
from sim.rules import NamedRules, Rules, RulesError, load
from sim.saving import EXPERIMENT
from sim.streams import RNG_VERSION
from sim.table import CREW


class ExperimentError(ValueError):
    """A results folder or batch file that cannot be read: one line with the place and what is allowed."""


# --- Back from a results folder ------------------------------------------------------------------------------------


class _Saved(BaseModel):
    model_config = ConfigDict(extra="forbid")


class _SavedRules(_Saved):
    name: str
    preset: str
    changes: list[str]
    sets: list[str]
    options: dict[str, Any]


class _Seats(_Saved):
    seats: list[dict[str, Any]]


class _Experiment(_Saved):
    """The keys of `experiment.toml`, of all verbs together."""

    verb: Literal["simulate", "fairness", "length", "compare", "skill"]
    version: str
    rng_version: int
    seed: int
    players: list[int] = Field(min_length=1)
    hands: int = 0
    matches: int = 0
    precision: float | None = None
    notice_rate: float
    rules: list[_SavedRules] = Field(min_length=1)
    first_dealer: int | None = None
    lineup: list[dict[str, Any]] = Field(default=[])
    lineups: list[_Seats] = Field(default=[])
    confirm: bool = False
    measures: list[str] = Field(default=[])
    strategies: list[dict[str, Any]] = Field(default=[])
    mode: Literal["round-robin", "field", "together"] = "round-robin"
    field: str | None = None
    sprt: float | None = None
    by: Literal["wins", "points"] = "wins"
    seconds_a_turn: float = 10.0
    longer_than: list[str] = Field(default=[])


def question_in(folder: Path) -> Asked:
    """Return the question that a results folder answers. Raises ExperimentError, and what the question itself raises.

    Its rules are those that were played, whatever became of the preset or file since.
    """
    path = folder / EXPERIMENT
    try:
        saved = _Experiment.model_validate(tomllib.loads(path.read_text("utf-8")))
    except FileNotFoundError:
        raise ExperimentError(f"{folder}: no results folder, as it holds no {EXPERIMENT}") from None
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise ExperimentError(f"{path}: {'.'.join(map(str, first['loc']))}: {first['msg']}") from None
    except (OSError, ValueError) as error:
        raise ExperimentError(f"{path}: can not be read: {' '.join(str(error).split())}") from None
    if saved.rng_version != RNG_VERSION:
        raise ExperimentError(
            f"{folder} was played with random numbers {saved.rng_version}, by version {saved.version}; this version "
            f"has {RNG_VERSION}: play it again in a new folder"
        )
    rules = tuple(_rules(one) for one in saved.rules)
    common: dict[str, Any] = {
        "rules": rules,
        "names": tuple(one.name for one in saved.rules),
        "players": tuple(saved.players),
        "notice_rate": saved.notice_rate,
        "seed": saved.seed,
        "count": saved.matches or saved.hands,
        "matches": saved.matches > 0,
        "precision": saved.precision,
        "version": saved.version,
        "asked": words_of(rules),
    }
    if saved.verb in ("simulate", "fairness", "length"):
        lineups = [one.seats for one in saved.lineups] or [saved.lineup]
        common |= {"verb": saved.verb, "lineups": tuple(map(tuple, lineups)), "first_dealer": saved.first_dealer}
        if saved.verb == "length":
            return LengthQuestion(**common, seconds_a_turn=saved.seconds_a_turn, bounds=tuple(saved.longer_than))
        return Question(**common, confirmed=saved.confirm, measures=tuple(saved.measures))
    labels = tuple(player_in_words(entry) for entry in saved.strategies)
    common |= {"strategies": tuple(saved.strategies), "labels": labels}
    if saved.verb == "skill":
        return SkillQuestion(**common, by=saved.by)
    field = None if saved.field is None else labels.index(saved.field)
    return Comparison(**common, mode=saved.mode, field=field, sprt=saved.sprt)


def _rules(saved: _SavedRules) -> NamedRules:
    rules = Rules.from_dict(saved.options)
    spec = "+".join([saved.preset, *saved.changes])
    try:
        named = load(spec, saved.sets)
    except RulesError:
        named = None
    if named is not None and named.rules == rules:
        return named  # which also knows its sheet and what it is about
    title = " --set ".join([spec, *saved.sets])
    return NamedRules(rules, saved.preset, tuple(saved.changes), tuple(saved.sets), title, "", "")


def nobody(seats: Sequence[Mapping[str, Any]]) -> tuple[np.ndarray[Any, Any], list[str]]:
    """Return a line-up that stands for the people who played, and their labels: to read counts, not to play."""
    labels = [player_in_words(entry) for entry in seats]
    crew = np.zeros((), CREW)
    groups = list(dict.fromkeys(labels))
    crew["group"][: len(labels)] = [groups.index(label) for label in labels]
    return crew, labels


# --- Batch files ---------------------------------------------------------------------------------------------------

Verb = Literal["simulate", "fairness", "length", "compare", "skill"]
Words = str | list[str]
Amount = int | str
Rate = float | str
_WORDS = "a text, or a list of texts"
_AMOUNT = "a number such as 300000, or a text such as '300k'"
_RATE = "a number from 0 to 1, or a text such as '5%'"
_RATES = f"{_RATE}; or a list of them, one a seat"


class Asking(BaseModel):
    """One experiment of a batch file; descriptions say what is allowed. The words mean what they mean as options."""

    model_config = ConfigDict(extra="forbid", strict=True, populate_by_name=True)

    verb: Verb = Field(default="fairness", description="simulate, fairness, length, compare, skill")
    name: str = Field(
        default="", pattern=r"^[\w.-]*$", description="a word of letters, digits, '-', '_' and '.', for its subfolder"
    )
    title: str = Field(default="", description="a text")
    rules: Words = Field(default="ochos-locos", description=_WORDS)
    set_: Words = Field(default=[], alias="set", description=_WORDS)
    vary: Words = Field(default=[], description=_WORDS)
    players: int | str | list[int] = Field(default="", description="a number, a list of numbers, or a text as '2-5'")
    lineups: list[str | list[str]] = Field(
        default=[], description="a list of line-ups, each a text for all seats or a list of texts, one a seat"
    )
    strategies: Words = Field(default=[], description=_WORDS)
    field: str = Field(default="", description="the strategy of all other players")
    together: bool = Field(default=False, description="true or false")
    by: Literal["wins", "points"] = Field(default="wins", description="wins, points")
    forget_last_card: Rate | list[Rate] = Field(default=[], description=_RATES)
    illegal_rate: Rate | list[Rate] = Field(default=[], description=_RATES)
    notice_rate: Rate = Field(default=1.0, description=_RATE)
    first_dealer: int | None = Field(default=None, description="a seat, from 1")
    hands: Amount | None = Field(default=None, description=_AMOUNT)
    matches: Amount | None = Field(default=None, description=_AMOUNT)
    precision: Rate | None = Field(default=None, description="a number between 0 and 1, or a text such as '0.2%'")
    sprt: Rate | None = Field(default=None, description="a number above 0, or a text such as '0.5%'")
    confirm: bool = Field(default=True, description="true or false")
    measures: list[str] = Field(default=[], description="a list of names of measures")
    seconds_a_turn: float = Field(default=10.0, description="a number above 0")
    longer_than: Words = Field(default=[], description=_WORDS)
    seed: int | str = Field(default=1, pattern=r"^\d+$", description="a whole number from 0 to 2^64 - 1")


OWN: dict[str, tuple[str, ...]] = {
    "vary": ("fairness", "length", "skill"),
    "lineups": ("fairness", "length"),
    "field": ("compare",),
    "together": ("compare",),
    "by": ("skill",),
    "first_dealer": ("simulate", "fairness", "length"),
    "matches": ("simulate", "fairness", "length", "compare"),
    "precision": ("simulate", "fairness", "length", "compare"),
    "sprt": ("compare",),
    "confirm": ("fairness",),
    "measures": ("simulate", "fairness"),
    "seconds_a_turn": ("length",),
    "longer_than": ("length",),
}
"""Keys that belong to some verbs only."""
OPTIONS = {"strategy": "strategies", "lineup": "lineups", "measure": "measures", "no-confirm": "confirm"}
"""What the keys of options are called where it is not their own name."""


@dataclass(frozen=True)
class Batch:
    """A batch file: what it is about, where its results go ('' if it does not say), and its experiments."""

    path: Path
    title: str
    out: str
    experiments: tuple[Asking, ...]
    _lines: "_Lines"

    def name(self, number: int) -> str:
        """Return what an experiment's subfolder is called; a single one has none."""
        if len(self.experiments) == 1:
            return ""
        asking = self.experiments[number]
        return asking.name or f"{number + 1}-{asking.verb}"

    def mistake(self, number: int, error: ValueError) -> ExperimentError:
        """Return what a question's own mistake is in the words of the file, with the line that is to blame."""
        text = str(error)
        asking = self.experiments[number]
        given = asking.model_dump(by_alias=True, exclude_unset=True)
        named = [OPTIONS.get(option, option.replace("-", "_")) for option in re.findall(r"--([a-z][a-z-]+)", text)]
        kind = type(error).__name__
        blamed = [
            *named,
            *{"RulesError": ["vary", "set", "rules"], "StrategyError": ["lineups", "strategies"]}.get(kind, []),
        ]
        blamed += ["lineups", "measures", "strategies", "players"]
        key = next((key for key in blamed if key in given), "verb")
        words = [str(word) for word in _flat(given.get(key, [])) if str(word) in text]
        # What is wrong comes first in what is said, and what is right behind it.
        line = self._lines.of(number, key, min(words, key=lambda word: (text.index(word), -len(word)), default=""))
        said = re.sub(r"--([a-z][a-z-]+)", lambda found: OPTIONS.get(found[1], found[1].replace("-", "_")), text)
        return ExperimentError(f"{self.path}: line {line}: {said}")


def read_batch(path: Path) -> Batch:
    """Read a batch file: `[[experiment]]` tables, or a single experiment at the top. Raises ExperimentError."""
    try:
        text = path.read_text("utf-8-sig")
        data = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        what, _, place = str(error).rpartition(" (at ")
        line = place.removeprefix("line ").partition(",")[0].rstrip(")")
        number = line if line.isdigit() else len(text.splitlines())
        raise ExperimentError(f"{path}: line {number}: not TOML: {what}") from None
    except UnicodeDecodeError as error:
        raise ExperimentError(
            f"{path}: byte {error.start + 1} is not UTF-8 text; allowed: a batch file (TOML)"
        ) from None
    except OSError as error:
        raise ExperimentError(f"{path}: {error.strerror}; allowed: a batch file (TOML)") from None
    lines = _Lines(text)
    of_file = {"title": data.pop("title", ""), "out": data.pop("out", "")}
    for key, value in of_file.items():
        if not isinstance(value, str):
            raise ExperimentError(f"{path}: line {lines.at_top(key)}: {key} is {value!r}; allowed: a text")
    tables = data.pop("experiment", None)
    if tables is None:
        tables, lines.single = [data], True
        if not data:
            raise ExperimentError(f"{path}: holds no experiment; allowed: [[experiment]] tables, or keys such as verb")
    elif data:
        key = next(iter(data))
        raise ExperimentError(
            f"{path}: line {lines.at_top(key)}: {key} stands above the experiments; allowed there: title, out"
        )
    if not isinstance(tables, list) or not all(isinstance(table, dict) for table in tables):
        raise ExperimentError(f"{path}: line {lines.at_top('experiment')}: write [[experiment]], in double brackets")
    batch = Batch(
        path, of_file["title"], of_file["out"], tuple(_asking(path, lines, *one) for one in enumerate(tables)), lines
    )
    names = [batch.name(number) for number in range(len(tables))]
    for number, name in enumerate(names):
        if name in names[:number]:
            raise ExperimentError(f"{path}: line {lines.of(number, 'name')}: name {name!r} is given twice")
    return batch


def _asking(path: Path, lines: "_Lines", number: int, table: Mapping[str, Any]) -> Asking:
    """Check one experiment. Raises ExperimentError with the line of its first mistake."""
    try:
        asking = Asking.model_validate(table)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        key = str(first["loc"][0])
        where = f"{path}: line {lines.of(number, key)}"
        known = {info.alias or name: info for name, info in Asking.model_fields.items()}
        if key not in known:
            near = get_close_matches(key.replace("-", "_"), [*known, *OPTIONS], 1)
            hint = f"did you mean {OPTIONS.get(near[0], near[0])}?" if near else f"allowed: {', '.join(known)}"
            raise ExperimentError(f"{where}: no key {key!r}; {hint}") from None
        value = table[key]
        near = (
            get_close_matches(str(value), str(known[key].description).split(", "), 1) if key in ("verb", "by") else []
        )
        hint = f"; did you mean {near[0]}?" if near else ""
        raise ExperimentError(f"{where}: {key} is {value!r}; allowed: {known[key].description}{hint}") from None
    for key, verbs in OWN.items():
        if key in table and asking.verb not in verbs:
            raise ExperimentError(
                f"{path}: line {lines.of(number, key)}: {key} belongs to {' and '.join(verbs)}, not to {asking.verb}"
            )
    return asking


def _flat(value: Any) -> list[Any]:
    return [word for one in value for word in _flat(one)] if isinstance(value, list) else [value]


class _Lines:
    """Where the keys of a batch file stand; TOML's own reader does not tell."""

    def __init__(self, text: str) -> None:
        self.lines = text.splitlines()
        self.single = False
        self.starts = [at for at, line in enumerate(self.lines) if re.match(r"\s*\[\[\s*experiment\s*\]\]", line)]

    def at_top(self, key: str) -> int:
        """Return the line, from 1, of a key above all experiments."""
        return self._find(key, 0, self.starts[0] if self.starts else len(self.lines)) or 1

    def of(self, number: int, key: str, word: str = "") -> int:
        """Return the line, from 1, of an experiment's key, or of a word in its value; else that of its head."""
        if self.single or number >= len(self.starts):
            first, last = 0, len(self.lines)
        else:
            first, last = [*self.starts, len(self.lines)][number : number + 2]
        line = self._find(key, first, last)
        if line and word:
            return next((at + 1 for at in range(line - 1, last) if word in self.lines[at]), line)
        return line or first + 1

    def _find(self, key: str, first: int, last: int) -> int:
        pattern = re.compile(rf"""\s*\[?["']?{re.escape(key)}["']?\s*[=.\]]""")
        return next((at + 1 for at in range(first, last) if pattern.match(self.lines[at])), 0)
