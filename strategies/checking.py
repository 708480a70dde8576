"""Does a strategy keep to the contract? It is played in many small corners of the rules, and watched at each question.

Every question is put to it twice, on two copies of the view with other surroundings in memory and other addresses in
them. So it is seen at once if an answer is not allowed, raises, differs, or leaves more changed than the count of
draws. All this happens in a process of its own, as compiled code can be neither interrupted nor kept from crashing:
this one only looks on, and ends the other when an answer takes too long. Both share a file, the desk, which tells where
it was.
"""

import importlib
import inspect
import json
import linecache
import os
import shlex
import subprocess
import sys
import time
import traceback
from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from types import FrameType
from typing import Any

import numpy as np

from sim import engine
from sim.compiled import content_parts, kernel, numbers
from sim.engine import _call_strategy as call_strategy
from sim.memory import copy_record, load_int, reader_of, store_int
from sim.record import RULE, rule_record, rule_records
from sim.rules import RulesError, changes_of, load, preset_names
from sim.table import MATCH, MOST_PARAMS, TABLE, VIEW
from sim.trace import _answer as answer_text
from sim.trace import fault_text
from strategies.loading import specs_in_file
from strategies.params import declared
from strategies.registry import FILE, Player, Strategy, StrategyError, compiled, crew_record, find, shown

SECONDS = 9.0
"""Time that is spent on playing, at most."""
PATIENCE = 4.0
"""Seconds that a single answer may take: some thousand million steps."""
LOADING = 30.0
"""Seconds that the file itself may take to run."""
EXPLAINING = 15.0
"""Seconds that looking for the line where it goes round may take, start and all."""
STEPS = 30_000
"""Lines of plain Python that an answer may take when it is looked for where one does not end."""
SEED = 1
PLAYERS = range(2, 8)
FEWEST_MOST = 5
"""Players that every preset allows."""
OTHERS = "random"
SLIPS = ("--illegal-rate", "0.2", "--forget-last-card", "0.5", "--notice-rate", "0.5")
SLIP_RATES = 0.2, 0.5, 0.5

ACTIONS = (
    "actions.A=any-card",
    "actions.2={draw=2}",
    "actions.3={draw=3}",
    "actions.J=skip",
    "actions.Q=reverse",
    "actions.K=again",
    "actions.final=applies",
)
CORNERS = (
    ("draw.voluntary=true", "draw.limit=3", "draw.play_drawn=may", "wild.may_finish=false"),
    ("draw.voluntary=true", "draw.limit=3", "draw.play_drawn=must", *ACTIONS),
    ("draw.voluntary=true", "draw.limit=3", "draw.play_drawn=no", "penalty.loses_turn=false", *ACTIONS),
    ("draw.voluntary=true", "draw.limit=until-playable", "wild.on_wild=false"),
    ("draw.voluntary=true", "stock.empty=pass", "deck.ranks=['A','2','3','8','9','K']", "deal.cards=3"),
    ("penalty.stack=any-draw", "penalty.loses_turn=false", "deck.jokers=2", "jokers.effect={wild-draw=4}", *ACTIONS),
    ("penalty.stack=any-draw", "wild.ranks=['2','8']", "stop.points=40", *ACTIONS),
    ("penalty.stack=off", "starter.action=applies", "reverse.two_players=skip", *ACTIONS),
    ("stop.points=300",),
    ("wild.suit=delayed", "stop.points=15", "wild.ranks=['8','J','K']", "starter.wild=dealer-declares"),
    ("wild.suit=own", "wild.ranks=['8','J','K']", "starter.wild=own-suit", "deck.jokers=1"),
    ("deck.packs=2", "deck.jokers=4", "starter.wild=dealer-declares", "starter.action=applies", *ACTIONS),
    ("wild.may_finish=false", "wild.on_wild=false", "deal.cards=1", "wild.ranks=['8','9','10','J']"),
    ("wild.ranks=[]", "deck.packs=2", "draw.limit=2"),
    ("deal.cards=12", "score.values={A=0, K=100}", "turn_cap=40"),
    ("last_card.call=true", "last_card.penalty=3", "illegal.penalty=2", *ACTIONS),
)
"""Changes of the first preset that ask for what presets and named changes do not, or more often."""


@dataclass(frozen=True)
class Finding:
    """Something that a strategy does and must not do, and the command that shows the hand, or ''."""

    text: str
    command: str

    @property
    def line(self) -> str:
        """All in one line."""
        return f"{self.text}: {self.command}" if self.command else self.text


@dataclass(frozen=True)
class Checked:
    """What a check has found, and how much was played for it."""

    strategies: tuple[str, ...]
    findings: tuple[Finding, ...]
    hands: int
    answers: int


# --- What is played -------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Case:
    """A hand or match: rules, players, the seats of the strategy that is checked (from 0), and the game."""

    rules: str
    sets: tuple[str, ...]
    players: int
    seats: tuple[int, ...]
    slips: bool
    match: bool
    game: int

    def command(self, spec: str) -> str:
        seated = [spec if seat in self.seats else OTHERS for seat in range(self.players)]
        words = ["ochos-sim", "trace", "--rules", self.rules, *_each("--set", self.sets)]
        words += ["--players", str(self.players), "--seed", str(SEED), "--game", str(self.game)]
        words += ["--match"] * self.match + [*SLIPS] * self.slips
        return shlex.join(words + _each("--strategy", seated if len(set(seated)) > 1 else seated[:1]))


def _each(option: str, values: Any) -> list[str]:
    return [word for value in values for word in (option, value)]


def _cases() -> list[_Case]:
    """All that is played, the most different first: every rule set at every seat of every table."""
    first, *_ = presets = ["ochos-locos", *(name for name in preset_names() if name != "ochos-locos")]
    rule_sets: list[tuple[str, tuple[str, ...]]] = [(name, ()) for name in presets]
    changes = {change.name: name for name in reversed(presets) for change in changes_of(name) if change.own}
    rule_sets += [(f"{preset}+{change}", ()) for change, preset in changes.items()]
    rule_sets += [(first, sets) for sets in CORNERS]
    tables = [(n, (seat,)) for n in PLAYERS for seat in range(n)] + [(n, tuple(range(n))) for n in PLAYERS]
    cases: list[_Case] = []
    for turned in range(len(tables)):
        for i, (rules, sets) in enumerate(rule_sets):
            players, seats = tables[(5 * i + turned) % len(tables)]
            slips = "last_card.call=true" in sets or turned % 8 == 7
            more = (f"players.max={players}",) if players > FEWEST_MOST else ()
            cases.append(_Case(rules, (*sets, *more), players, seats, slips, False, len(cases)))
        if turned == 1:
            cases += [
                _Case(name, (), n, (i % n,), False, True, len(cases) + i)
                for i, name in enumerate(presets)
                for n in (2 + i % 3,)
            ]
    return cases


# --- Watching -------------------------------------------------------------------------------------------------------

(
    _STAGE,
    _CASE,
    _HAND,
    _HANDS,
    _ANSWERS,
    _ANSWERING,
    _QUESTION,
    _TRAIL,  # of all answers of a hand, one number
    _SHIFT,  # from the rule record to its copy
    _WRONG,
    _WRONG_QUESTION,
    _WRONG_TURN,
    _WRONG_POSITION,
    _WRONG_FIELD,
    _FIRST,
    _SECOND,
    _PLAY,  # addresses of the strategy that is checked
    _SUIT,
    _STOP,
    _PARAMS,
    _OTHER_PARAMS,
    _WORDS,
) = numbers(22)
STARTING, RUNS_FILE, COMPILING, PLAYING = range(4)
_NOTHING, _CHANCE, _PLACE, _CHANGED, _OUTSIDE = numbers(5)

_VIEW_WORDS = np.int64(VIEW.itemsize // 8)
_GUARD = np.int64(1024)
"""Words before and behind a view that the strategy is given, each of the same value."""
_GUARD_VALUES = (0x0101010101010101, 0x5555AAAA77773333)
_ROOM = _GUARD + _VIEW_WORDS + _GUARD
_KEPT = 8 * _WORDS
"""Where on the desk the view lies as it was asked, and then the two rooms."""
_ROOMS = _KEPT + 8 * _VIEW_WORDS
_DESK_WORDS = int(_WORDS + _VIEW_WORDS + 2 * _ROOM)
_OFFSETS = {name: VIEW.fields[name][1] // 8 for name in VIEW.names or ()} if VIEW.fields else {}
_DRAWS, _VIEW_PARAMS, _VIEW_RULES = (np.int64(_OFFSETS[name]) for name in ("draws", "params", "rules"))
_ASKED = ("what to play", "which suit to declare", "whether to stop the hand")

_view_at = reader_of(VIEW)


@kernel
def _note(desk, wrong, question, view, field):
    """Note what is wrong, if nothing is yet."""
    if load_int(desk + 8 * _WRONG) == _NOTHING:
        store_int(desk + 8 * _WRONG, wrong)
        store_int(desk + 8 * _WRONG_QUESTION, question)
        store_int(desk + 8 * _WRONG_TURN, view.turn)
        store_int(desk + 8 * _WRONG_POSITION, view.position)
        store_int(desk + 8 * _WRONG_FIELD, field)


@kernel
def _ask_in_room(view, desk, question, room):
    """Put a question on a copy of the view in one of the rooms, and look what became of the copy and around it."""
    guard = _GUARD_VALUES[room]
    begin = desk + _ROOMS + 8 * _ROOM * room
    at = begin + 8 * _GUARD
    for i in range(_GUARD):
        store_int(begin + 8 * i, guard)
        store_int(at + 8 * (_VIEW_WORDS + i), guard)
    own = _view_at(at)
    copy_record(own, view)
    own.params = load_int(desk + 8 * (_PARAMS + room))
    own.rules = view.rules + room * load_int(desk + 8 * _SHIFT)
    answer = call_strategy(load_int(desk + 8 * (_PLAY + question)), own)
    for i in range(_VIEW_WORDS):
        if i in (_DRAWS, _VIEW_PARAMS, _VIEW_RULES):
            continue
        if load_int(at + 8 * i) != load_int(desk + _KEPT + 8 * i):
            _note(desk, _CHANGED, question, view, i)
    for i in range(_GUARD):
        if load_int(begin + 8 * i) != guard or load_int(at + 8 * (_VIEW_WORDS + i)) != guard:
            _note(desk, _OUTSIDE, question, view, i)
            break
    return answer


@kernel
def _watch(view, desk, question):
    """Put a question to the strategy that is checked, twice, and give back its first answer."""
    store_int(desk + 8 * _ANSWERS, load_int(desk + 8 * _ANSWERS) + 1)
    store_int(desk + 8 * _QUESTION, question)
    copy_record(_view_at(desk + _KEPT), view)
    store_int(desk + 8 * _ANSWERING, 1)
    first = _ask_in_room(view, desk, question, np.int64(0))
    second = _ask_in_room(view, desk, question, np.int64(1))
    if first != second:
        again = _ask_in_room(view, desk, question, np.int64(0))
        if load_int(desk + 8 * _WRONG) == _NOTHING:
            store_int(desk + 8 * _FIRST, first)
            store_int(desk + 8 * _SECOND, second if again == first else again)
        _note(desk, _PLACE if again == first else _CHANCE, question, view, np.int64(0))
    store_int(desk + 8 * _ANSWERING, 0)
    store_int(desk + 8 * _TRAIL, load_int(desk + 8 * _TRAIL) * 31 + first)
    return first


def watched_play(view, desk):
    """Put the question what to play."""
    return _watch(view, desk, np.int64(0))


def watched_suit(view, desk):
    """Put the question which suit to declare."""
    return _watch(view, desk, np.int64(1))


def watched_stop(view, desk):
    """Put the question whether to stop."""
    return _watch(view, desk, np.int64(2))


# --- Playing, in a process of its own -------------------------------------------------------------------------------


class _Table:
    """The desk, the strategy behind it, and what is to be remembered while the cases are played."""

    def __init__(self, tested: Strategy, folder: Path, desk: Any) -> None:
        self.tested = tested
        self.folder = folder
        self.desk = desk
        self.crews: dict[tuple[int, tuple[int, ...], bool], Any] = {}
        self.found: set[str] = set()
        desk[_STAGE] = COMPILING
        desk[_PLAY : _STOP + 1] = tested.addresses()
        self.values = np.zeros((2, MOST_PARAMS), np.int64)
        self.values[:, : len(tested.values)] = tested.encoded()
        desk[_PARAMS], desk[_OTHER_PARAMS] = (row.ctypes.data for row in self.values)
        answers = watched_play, watched_suit, watched_stop
        self.watched = Strategy(tested.name, "", "", *answers, declared({"desk": 0}), (int(desk.ctypes.data),))

    def find(self, key: str, text: str, case: _Case | None = None) -> None:
        """Tell a finding, the first of its kind."""
        if key not in self.found:
            self.found.add(key)
            command = case.command(self.tested.spec) if case else ""
            _say(self.folder, name=self.tested.name, kind=key, text=text, command=command)

    def crew(self, case: _Case) -> Any:
        key = case.players, case.seats, case.slips
        if key not in self.crews:
            illegal, forget, notice = SLIP_RATES if case.slips else (0.0, 0.0, 1.0)
            seated = [self.watched if seat in case.seats else find(OTHERS) for seat in range(case.players)]
            self.crews[key] = crew_record([Player(one, forget, illegal) for one in seated], notice)
        return self.crews[key]

    def play_all(self, seconds: float) -> None:
        """Play what there is to play, as long as there is time."""
        end = np.inf
        before: tuple[_Case, int] | None = None
        for number, case in enumerate(_cases()):
            self.desk[_CASE] = number
            self.desk[_STAGE] = PLAYING
            trail = self.play(case)
            if before and before[1] and number % 4 == 0 and not self.found and self.play(before[0]) != before[1]:
                text = "plays the same hand otherwise when it plays it again, so it remembers, or draws by chance"
                self.find("trail", f"strategy {self.tested.name} {text}", before[0])
            before = case, trail
            # The first hand, in which the engine is compiled or read from the cache, takes no part of the time.
            end = min(end, time.monotonic() + seconds)
            if time.monotonic() > end:
                break
        if not any(key.startswith((f"wrong {_CHANCE}", "trail")) for key in self.found):
            for used in _other_chance(self.tested):
                text = f"uses {used}; chance comes only from toolkit.choice and toolkit.pick, as a seed decides all"
                self.find(used, f"strategy {self.tested.name} {text}")

    def play(self, case: _Case) -> int:
        """Play a case and tell what is wrong; the trail of its answers, 0 if these rules are not for so many."""
        rules = _rule_records(case.rules, case.sets, case.players, case.match)
        if rules is None:
            return 0
        copy = rules.copy()
        self.desk[_SHIFT] = copy.ctypes.data - rules.ctypes.data
        self.desk[_TRAIL] = 0
        self.desk[_HAND] = 0
        crew = self.crew(case)
        names = [self.tested.name if seat in case.seats else OTHERS for seat in range(case.players)]
        tables, matches = np.zeros(1, TABLE), np.zeros(1, MATCH)
        t, m = tables[0], matches[0]
        engine.begin_match(m, case.players, np.uint64(SEED), np.uint64(case.game), 0, -1)
        while not m["over"]:
            if case.match:
                status = engine.play_match_hand(rules, t, crew[()], m, np.uint64(SEED), np.uint64(case.game))
            else:
                rule = rules[case.players]
                engine.prepare(rule, t)
                engine.seat_players(rule, t, case.players, case.players - 1)
                t["seed"], t["game"] = SEED, case.game
                status = engine.play_hand(rule, t, crew[()])
                m["over"] = 1
            self.desk[_HANDS] += 1
            self.desk[_HAND] += 1
            self.look(case, t, names, int(status))
            if status < 0:
                break
        return int(self.desk[_TRAIL])

    def look(self, case: _Case, t: Any, names: list[str], status: int) -> None:
        """Tell what the hand that was just played has shown."""
        if status < 0:
            text, question = fault_text(t, names), int(t["question"])
            if int(t["answer"]) == engine.RAISED:
                raised = self.exception(question)
                text = text.replace("raised an exception", f"raised {raised}")
                self.find(f"raised {question} {raised}", text, case)
            else:
                self.find(f"answer {question}", text, case)
        desk = self.desk
        if wrong := int(desk[_WRONG]):
            question, seat = int(desk[_WRONG_QUESTION]), int(t["seat"][desk[_WRONG_POSITION]]) + 1
            first, second = (_answered(int(answer), question) for answer in (desk[_FIRST], desk[_SECOND]))
            did = {
                int(_CHANCE): f"{first} and then {second} on the same view, so it draws by chance or remembers; "
                "chance comes from toolkit.choice and toolkit.pick",
                int(_PLACE): f"{first}, but {second} where the same view lay elsewhere in memory, so it reads "
                "what is not in the view",
                int(_CHANGED): f"changed {_field(int(desk[_WRONG_FIELD]))} in the view",
                int(_OUTSIDE): "wrote into memory outside the view",
            }[wrong]
            where = f"seed {SEED}, game {case.game}, hand {int(t['hand_number']) + 1}, turn {int(desk[_WRONG_TURN])}"
            text = f"strategy {self.tested.name} (seat {seat}), asked {_ASKED[question]}, {did}: {where}"
            self.find(f"wrong {wrong} {question}", text, case)
            desk[_WRONG] = 0

    def exception(self, question: int) -> str:
        """Put the last question again, to the compiled function itself, and give the exception with its line."""
        function = (self.tested.play, self.tested.suit, self.tested.stop)[question]
        view = _kept_view(self.desk)
        view["params"] = self.values.ctypes.data
        try:
            compiled(function, self.tested.params)[0](view.view(np.recarray)[0])
        except Exception as error:  # whatever the strategy raises: it is what is to be told
            frames = [frame for frame in traceback.extract_tb(error.__traceback__) if frame.filename != __file__]
            where = f" in line {frames[-1].lineno}" if frames else ""
            return f"{type(error).__name__}{f' ({error})' if str(error) else ''}{where}"
        return "an exception"


@cache
def _rule_records(name: str, sets: tuple[str, ...], players: int, match: bool) -> np.ndarray[Any, Any] | None:
    """The records by the number who take part; for a hand only one is filled. None if the pack is for fewer."""
    rules = load(name, sets).rules
    try:
        rules.check_players(players, match=match)
    except RulesError:
        return None
    if match:
        return rule_records(rules, players)
    records = np.zeros(players + 1, RULE)
    records[players] = rule_record(rules, players)
    return records


def _kept_view(desk: Any) -> np.ndarray[Any, Any]:
    """The view of the last question, as it was asked: shape (1,)."""
    begin = int(_KEPT) // 8
    return np.array(desk[begin : begin + int(_VIEW_WORDS)]).view(VIEW)


def _play_all(spec: str, folder: str, seconds: str) -> None:
    """All that is done in the process that is looked at."""
    importlib.import_module("ochos_sim")  # now, so that it does not count as the file's own time
    desk = np.memmap(Path(folder) / "desk", np.int64, "r+", shape=(_DESK_WORDS,))
    desk[_STAGE] = RUNS_FILE
    try:
        specs = specs_in_file(spec) if FILE.fullmatch(spec) else [spec]
        for one in specs:
            tested = find(one)
            _say(Path(folder), begun=tested.name, spec=one)
            _Table(tested, Path(folder), desk).play_all(float(seconds) / len(specs))
    except StrategyError as error:
        _say(Path(folder), error=str(error))
        return
    _say(Path(folder), done=True)


def _say(folder: Path, **what: Any) -> None:
    """Write a line for the process that looks on."""
    with open(folder / "found", "a", encoding="utf-8") as file:
        file.write(json.dumps(what) + "\n")


def _other_chance(tested: Strategy) -> list[str]:
    """What a strategy's functions use that draws by chance outside its stream, or goes by the clock."""
    parts = [part for answer in (tested.play, tested.suit, tested.stop) for part in content_parts(answer)]
    found = {
        "numpy.random": ("module numpy.random", "numpy.random.", "None.RandomState.", ".RandomState."),
        "random": ("module random", "random."),
        "the clock": ("module time", "time."),
    }
    return [name for name, begins in found.items() if any(part.startswith(begins) for part in parts)]


def _answered(answer: int, question: int) -> str:
    if answer == engine.RAISED:
        return "raised an exception"
    return f"answered {answer_text(answer) if question == engine.ASKED_PLAY else answer}"


def _field(word: int) -> str:
    """The name of the view's field in which a word lies."""
    return max((offset, name) for name, offset in _OFFSETS.items() if offset <= word)[1]


def _answer_plainly(spec: str, folder: str, question: str) -> None:
    """Put the last question to the strategy as plain Python and write down in which line it goes round and round.

    In a process where nothing at all is compiled, so that every line can be counted.
    """
    tested = find(spec)
    function = (tested.play, tested.suit, tested.stop)[int(question)]
    desk = np.memmap(Path(folder) / "desk", np.int64, "r", shape=(_DESK_WORDS,))
    view = _kept_view(desk).view(np.recarray)[0]
    known = {
        param.name: value if param.kind in ("whole", "number") else param.encode(value, lambda name: 0)
        for param, value in zip(tested.params, tested.values, strict=True)
    }
    home = Path(function.__code__.co_filename).parent
    lines: Counter[tuple[str, int]] = Counter()

    def watch(frame: FrameType, event: str, _: Any) -> Any:
        if event == "line":
            own: FrameType | None = frame
            while own and Path(own.f_code.co_filename).parent != home:
                own = own.f_back
            if own:
                lines[own.f_code.co_filename, own.f_lineno] += 1
            if lines.total() > STEPS:
                raise TimeoutError
        return watch

    wanted = list(inspect.signature(function).parameters)[1:]
    sys.settrace(watch)
    try:
        function(view, *(known[name] for name in wanted))
    except TimeoutError:
        sys.settrace(None)
        (file, line), _ = lines.most_common(1)[0]
        (Path(folder) / "line").write_text(f"{shown(file)}, line {line}: {linecache.getline(file, line).strip()}")


# --- Looking on -----------------------------------------------------------------------------------------------------


def check_strategy(spec: str, *, seconds: float = SECONDS) -> Checked:
    """Play a strategy, or all of a file, against every option that asks it something, and say what is wrong with it.

    `spec` is as after `--strategy`; `seconds` is the time for playing, of which a common strategy needs a part. Raises
    StrategyError if it cannot be had at all or does not compile.
    """
    with TemporaryDirectory(prefix="ochos-sim-") as folder:
        return _check(spec, Path(folder), seconds)


def _check(spec: str, folder: Path, seconds: float) -> Checked:
    np.zeros(_DESK_WORDS, np.int64).tofile(folder / "desk")
    (folder / "found").touch()
    desk = np.memmap(folder / "desk", np.int64, "r", shape=(_DESK_WORDS,))
    with open(folder / "errors", "w", encoding="utf-8") as errors:
        player = _start("_play_all", spec, str(folder), str(seconds), errors=errors)
        try:
            late = _look_on(player, desk)
        finally:
            player.kill()
            player.wait()
    said = [json.loads(line) for line in (folder / "found").read_text("utf-8").splitlines()]
    begun = {one["begun"]: one["spec"] for one in said if "begun" in one}
    by_chance = {one["name"] for one in said if one.get("kind", "").startswith(f"wrong {_CHANCE}")}
    findings = [
        Finding(one["text"], one["command"])
        for one in said
        # Whoever draws by chance may differ by that alone where the view was moved.
        if "text" in one and not (one["name"] in by_chance and one["kind"].startswith(f"wrong {_PLACE}"))
    ]
    last = said[-1] if said else {}
    if "error" in last:
        raise StrategyError(last["error"])
    if "done" not in last:
        if desk[_STAGE] == RUNS_FILE and late:
            raise StrategyError(f"{spec}: the file takes more than {LOADING:g} s to run")
        if not desk[_ANSWERING]:
            raise CheckFailed((folder / "errors").read_text("utf-8").strip().rpartition("\n")[2])
        name, spec = list(begun.items())[-1]
        findings.append(_last_question(spec, name, folder, desk, late))
    return Checked(tuple(begun), tuple(findings), int(desk[_HANDS]), int(desk[_ANSWERS]))


class CheckFailed(RuntimeError):
    """The check itself came to grief; one line."""


def _start(work: str, *words: str, errors: Any, compiles: bool = True) -> "subprocess.Popen[bytes]":
    """Start a process with one function of this module, which finds all modules where this process does."""
    environment = os.environ | ({} if compiles else {"NUMBA_DISABLE_JIT": "1"})
    program = "import json, sys; sys.path[:] = json.loads(sys.argv[1]); from strategies import checking; "
    program += f"checking.{work}(*sys.argv[2:])"
    command = [sys.executable, "-c", program, json.dumps(sys.path), *words]
    return subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=errors, stderr=errors, env=environment)


def _look_on(player: "subprocess.Popen[bytes]", desk: Any) -> bool:
    """Wait until the other process has ended; True if it did not, since one answer takes too long."""
    last, since = None, time.monotonic()
    while player.poll() is None:
        time.sleep(0.02)
        now = int(desk[_STAGE]), int(desk[_ANSWERS]), int(desk[_ANSWERING])
        if now != last:
            last, since = now, time.monotonic()
        waits = {RUNS_FILE: LOADING, PLAYING: PATIENCE if now[2] else np.inf}.get(now[0], np.inf)
        if time.monotonic() - since > waits:
            return True
    return False


def _last_question(spec: str, name: str, folder: Path, desk: Any, late: bool) -> Finding:
    """Tell at which question the other process did not go on, or ended."""
    case, question, view = _cases()[desk[_CASE]], int(desk[_QUESTION]), _kept_view(desk)[0]
    seat = (case.seats[0] if len(case.seats) == 1 else int(view["position"])) + 1
    did = f"gave no answer within {PATIENCE:g} s" if late else "ended the whole process"
    if late:
        with open(folder / "errors", "w", encoding="utf-8") as errors:
            plain = _start("_answer_plainly", spec, str(folder), str(question), errors=errors, compiles=False)
            with suppress(subprocess.TimeoutExpired):
                plain.wait(EXPLAINING)
            plain.kill()
            plain.wait()
        if (folder / "line").exists():
            did += f", it goes round in {(folder / 'line').read_text('utf-8')}"
    where = f"seed {SEED}, game {case.game}, hand {int(desk[_HAND]) + 1}, turn {int(view['turn'])}"
    text = f"strategy {name} (seat {seat}), asked {_ASKED[question]}, {did}: {where}"
    return Finding(text, case.command(spec))
