"""What `ochos-sim bench` measures: speed, the floor, threads, start-up, the first compile, memory.

`bench` gives a list of rows, each one number with its unit, the bar it is held against (if any), and in its note the
size and the repeats; `machine` says where they were measured. Numbers of this machine and this moment: nothing here is
for tests to judge.

How it measures. Engine times are taken inside the process, after compiling, as `batch.run` reports them. Whatever is
compared is run in turn, A B A B …, and the median of the ratios of the pairs is given, since machines are not quiet.
Commands are run as a user runs them, in fresh processes. Each run is checked to have done what was asked.

Strategies are handed in by name, with the function that makes a line-up's record of them, because `sim` knows none.
Needs a POSIX system (`os.wait4`).
"""

import difflib
import json
import math
import os
import platform
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

import numba
import numpy as np

from sim.batch import Plan, Scenario, compile_engine, is_compiled, run
from sim.rules import TIMES, load
from sim.tally import TABLE_MEASURES

CrewOf = Callable[[Sequence[str]], np.ndarray[Any, Any]]
"""Makes the record of a line-up (dtype CREW) from the names of its strategies by seat."""

PARTS = ("floor", "speed", "scripted", "threads", "startup", "compile", "memory")
"""What can be measured, in this order; the last three start processes and take the longest."""
PLAYERS = (2, 3, 4, 5, 6, 7)
RULES = ("ochos-locos", "ochos-locos-actions", "ocho-loco", "crazy-eights", "crazy-eights-actions")
STRATEGIES = ("random", "first-legal", "dump-faces", "hoard-eights", "suit-counting")
"""The first is what the others are compared with."""
SCRIPTED = ("first-legal", "dump-faces", "hoard-eights")
"""Those that follow a script; suit-counting reckons, and no bar is set for that."""
SEED = 1
TABLE_OF = 4
"""Players at the table wherever nothing else is said."""
FLOOR_SECONDS = 120
"""How long a floor program may take before it is thought to hang."""


class BenchError(RuntimeError):
    """Something that cannot be measured; its text is one line."""


class BenchMistakeError(BenchError, ValueError):
    """Something that cannot be asked for."""


@dataclass(frozen=True)
class Row:
    """One measured number."""

    part: str
    """One of PARTS."""
    what: str
    value: float
    unit: str
    bar: str | None
    """What it should be, such as '≤ 2 s'; None where nothing is asked."""
    met: bool | None
    """Whether it is; None where nothing is asked or this machine cannot tell."""
    note: str
    """Sizes, repeats and what else is worth knowing."""

    @property
    def shown(self) -> str:
        """The value and its unit as a table shows them: three digits, or whole numbers with commas."""
        number = f"{self.value:,.0f}" if self.value >= 100 else f"{self.value:.3g}"
        return f"{number} {self.unit}"


@dataclass(frozen=True)
class Machine:
    """Where numbers were measured."""

    cpu: str
    cores: int
    """Cores that this process may use."""
    system: str
    python: str
    numba: str
    numpy: str

    @property
    def line(self) -> str:
        """All of it in a line."""
        cores = f"{self.cores} core{'s' if self.cores != 1 else ''}"
        versions = f"Python {self.python}, numba {self.numba}, numpy {self.numpy}"
        return f"{self.cpu}, {cores}, {self.system}; {versions}"


@dataclass(frozen=True)
class Sizes:
    """How much is played, and how often."""

    hands: int = 300_000
    """Hands a run of one thread."""
    thread_hands: int = 1_000_000
    """Hands a run where threads are compared: enough chunks for every thread until the end."""
    small: int = 100_000
    large: int = 10_000_000
    """Hands between which memory must not grow."""
    repeats: int = 3
    """Runs of each speed."""
    pairs: int = 5
    """Pairs of runs of each ratio."""
    starts: int = 5
    """Starts of each command."""


FULL = Sizes()


@dataclass(frozen=True)
class _Bar:
    sign: str
    limit: float
    unit: str

    def met(self, value: float) -> bool:
        return {"≤": value <= self.limit, "≥": value >= self.limit, "<": value < self.limit}[self.sign]

    def __str__(self) -> str:
        return f"{self.sign} {self.limit:g} {self.unit}"


# The bars of the project's design, section "Speed and size".
FLOOR_BAR = _Bar("≤", 1.5, TIMES)
THREADS_BAR = _Bar("≥", 1.8, TIMES)
SCRIPTED_BAR = _Bar("≤", 1.3, TIMES)
GROWTH_BAR = _Bar("≤", 1.1, TIMES)
MEMORY_BAR = _Bar("<", 400, "MB")
HELP_BAR = _Bar("≤", 0.4, "s")
START_BAR = _Bar("≤", 2, "s")
COMPILE_BAR = _Bar("≤", 30, "s")
CACHED = "engine from the cache"


def machine() -> Machine:
    """Describe this machine."""
    return Machine(
        cpu=_cpu(),
        cores=_cores(),
        system=f"{platform.system()} {platform.machine()}",
        python=platform.python_version(),
        numba=numba.__version__,
        numpy=np.__version__,
    )


def bench(
    crew_of: CrewOf,
    *,
    strategies: Sequence[str] = STRATEGIES,
    parts: Sequence[str] | None = None,
    floor: str | Path | None = None,
    command: Sequence[str] | None = None,
    sizes: Sizes = FULL,
    progress: Callable[[str], None] = lambda doing: None,
) -> list[Row]:
    """Measure.

    `parts` of PARTS, by default all (the floor only if there is one). `floor`: a compiled floor program, which takes
    players, hands and the draw limit and prints a line of JSON with its `ns_per_turn`. `command` starts `ochos-sim`, by
    default the installed one. `progress` is told what is about to be measured.

    Raises BenchMistakeError if a part is unknown, BenchError if a program cannot be run or a run has not done what was
    asked, and whatever `crew_of` raises for a strategy that does not exist.
    """
    asked = _parts(parts, floor)
    program = list(command or ()) or (_installed() if {"startup", "compile", "memory"} & set(asked) else [])
    measurement = _Measurement(crew_of, tuple(strategies), sizes, progress)
    if floor is not None and "floor" in asked:
        _run_floor(floor, 1)  # whatever is wrong with it shows before anything takes long
    if {"floor", "speed", "scripted", "threads"} & set(asked):
        measurement.warm_up()
    rows: list[Row] = []
    for part in asked:
        match part:
            case "floor":
                assert floor is not None
                rows += measurement.floor(floor)
            case "speed":
                rows += measurement.speed()
            case "scripted":
                rows += measurement.scripted()
            case "threads":
                rows += measurement.threads()
            case "startup":
                rows += measurement.startup(program)
            case "compile":
                rows += measurement.compiling(program)
            case "memory":
                rows += measurement.memory(program)
    return rows


def headline(rows: Sequence[Row]) -> str:
    """Say in a sentence how fast the usual game is played; '' if that was not measured."""
    usual = [r for r in rows if r.unit == "hands/s" and r.what.startswith(f"{TABLE_OF} players, {RULES[0]}, ")]
    strategy = usual[0].what.split(", ")[2] if usual else ""
    found = {r.what.split(", ")[3]: r.value for r in usual if r.what.split(", ")[2] == strategy}
    words = {"1 thread": "one thread", "2 threads": "two"}
    said = [f"{float(f'{value:.2g}'):,.0f} on {words.get(key, key)}" for key, value in found.items()]
    if not said:
        return ""
    said[0] = said[0].replace(" on ", " hands a second on ")
    return f"About {', '.join(said)}, for {TABLE_OF} {strategy} players under {RULES[0]}."


def speeds(rows: Sequence[Row]) -> list[dict[str, str]]:
    """Put hands and turns a second of a case beside each other, a record a case."""
    found: dict[str, dict[str, str]] = {}
    for row in rows:
        if row.part == "speed":
            case = found.setdefault(row.what, {"speed of": row.what, "hands/s": "", "turns/s": "", "note": row.note})
            case[row.unit] = f"{row.value:,.0f}"
    return list(found.values())


def _parts(parts: Sequence[str] | None, floor: str | Path | None) -> list[str]:
    """Check the parts and put them in order."""
    if parts is None:
        return [part for part in PARTS if part != "floor" or floor is not None]
    for part in parts:
        if part not in PARTS:
            near = difflib.get_close_matches(part, PARTS, 1)
            hint = f"did you mean {near[0]}?" if near else f"there are: {', '.join(PARTS)}"
            raise BenchMistakeError(f"bench has no part {part!r}; {hint}")
    if "floor" in parts and floor is None:
        raise BenchMistakeError("the part 'floor' needs the path of a compiled floor program")
    wanted = set(parts) | ({"floor"} if floor is not None else set())
    return [part for part in PARTS if part in wanted]


@dataclass(frozen=True)
class _Played:
    """One run of the engine."""

    hands: int
    turns: int
    seconds: float

    @property
    def ns_per_turn(self) -> float:
        return self.seconds / self.turns * 1e9


def _play(plan: Plan, threads: int) -> _Played:
    """Play a plan of one scenario, every player alike. Raises BenchError if not all of it was played."""
    result = run(plan, threads=threads)
    if result.stopped == "interrupted":
        raise KeyboardInterrupt
    hands = int(result.tally.hands[0])
    turns = int(result.tally.sums[0, TABLE_MEASURES.index("turns")])
    if hands != plan.blocks or turns < hands:
        raise BenchError(f"{plan.blocks:,} hands were asked for, {hands:,} were counted, with {turns:,} turns")
    return _Played(hands, turns, result.seconds)


@dataclass(frozen=True)
class _Measurement:
    """What all parts need."""

    crew_of: CrewOf
    strategies: tuple[str, ...]
    sizes: Sizes
    progress: Callable[[str], None]

    def _plan(self, rules: str, players: int, strategy: str, hands: int) -> Plan:
        lineup = (strategy,) * players
        named = load(rules, [f"players.max={max(players, TABLE_OF)}"])
        return Plan((Scenario(named.rules, self.crew_of(lineup), lineup),), SEED, hands)

    def _usual(self, hands: int) -> Plan:
        return self._plan(RULES[0], TABLE_OF, self.strategies[0], hands)

    def warm_up(self) -> None:
        """Compile, and let the processor find its speed."""
        self.progress(
            "the engine" if is_compiled(matches=False) else "compiling the engine for hands, once on this machine"
        )
        compile_engine(self._usual(0))
        _play(self._usual(self.sizes.hands), 1)

    # --- In this process ---------------------------------------------------------------------------------------------

    def floor(self, path: str | Path) -> Iterator[Row]:
        """Time a turn against the floor's."""
        self.progress(f"{self.sizes.pairs} pairs with the floor")
        plan = self._usual(self.sizes.hands)
        pairs = [(_run_floor(path, plan.blocks), _play(plan, 1)) for _ in range(self.sizes.pairs)]
        game = f"{TABLE_OF} players, {RULES[0]}, {self.strategies[0]}"
        size = f"{plan.blocks:,} hands, median of {len(pairs)} runs in turn"
        engine = pairs[0][1]
        yield _row(
            "floor",
            f"time a turn, engine : floor ({game}, one thread)",
            median(ours.ns_per_turn / floor.ns_per_turn for floor, ours in pairs),
            TIMES,
            f"{size}; {engine.turns / engine.hands:.1f} turns a hand, floor {pairs[0][0].turns_per_hand:.1f}",
            FLOOR_BAR,
        )
        yield _row("floor", "engine", median(ours.ns_per_turn for _, ours in pairs), "ns/turn", size)
        yield _row("floor", "floor", median(floor.ns_per_turn for floor, _ in pairs), "ns/turn", size)

    def speed(self) -> Iterator[Row]:
        """Hands and turns a second by players, by rules and by strategy; one thread and all."""
        plain, table = self.strategies[0], TABLE_OF
        games = [(RULES[0], players, plain) for players in PLAYERS]
        games += [(rules, table, plain) for rules in RULES]
        games += [(RULES[0], table, strategy) for strategy in self.strategies]
        for rules, players, strategy in dict.fromkeys(games):
            plan = self._plan(rules, players, strategy, self.sizes.hands)
            for threads in sorted({1, _cores()}):
                what = f"{players} players, {rules}, {strategy}, {threads} thread{'s' if threads > 1 else ''}"
                self.progress(what)
                runs = [_play(plan, threads) for _ in range(self.sizes.repeats)]
                seconds = median(played.seconds for played in runs)
                hands, turns = runs[0].hands, runs[0].turns
                note = f"{hands:,} hands, median of {len(runs)}; {turns / hands:.1f} turns a hand"
                yield _row("speed", what, hands / seconds, "hands/s", note)
                yield _row("speed", what, turns / seconds, "turns/s", note)

    def scripted(self) -> Iterator[Row]:
        """Time a turn of the other strategies against that of the first."""
        plain = self._usual(self.sizes.hands)
        for strategy in self.strategies[1:]:
            self.progress(f"{strategy} and {self.strategies[0]} in turn")
            plan = self._plan(RULES[0], TABLE_OF, strategy, self.sizes.hands)
            pairs = [(_play(plain, 1), _play(plan, 1)) for _ in range(self.sizes.pairs)]
            yield _row(
                "scripted",
                f"time a turn, {strategy} : {self.strategies[0]}",
                median(scripted.ns_per_turn / random.ns_per_turn for random, scripted in pairs),
                TIMES,
                f"{TABLE_OF} players, {RULES[0]}, {plan.blocks:,} hands, median of {len(pairs)} pairs",
                SCRIPTED_BAR if strategy in SCRIPTED else None,
            )

    def threads(self) -> Iterator[Row]:
        """How much faster two threads are than one, and all."""
        cores = _cores()
        plan = self._usual(self.sizes.thread_hands)
        for threads in sorted({2, max(2, cores)}):
            self.progress(f"one thread and {threads} in turn")
            pairs = [(_play(plan, 1), _play(plan, threads)) for _ in range(self.sizes.pairs)]
            size = f"{plan.blocks:,} hands, median of {len(pairs)} pairs"
            yield _row(
                "threads",
                f"speed, {threads} threads : one",
                median(one.seconds / many.seconds for one, many in pairs),
                TIMES,
                size if cores > 1 else f"{size}; one core: cannot tell",
                THREADS_BAR if threads == 2 else None,
                can_tell=cores > 1,
            )

    # --- In processes of their own -----------------------------------------------------------------------------------

    def startup(self, command: Sequence[str]) -> Iterator[Row]:
        """How long the command takes to show its help and to play a little, all compiled."""
        times = f"median of {self.sizes.starts}, each a new process, after one that is not counted"
        self.progress("ochos-sim --help")
        helps = [_watched([*command, "--help"]) for _ in range(self.sizes.starts + 1)][1:]
        if not all("simulate" in child.out for child in helps):
            raise BenchError(f"`{shlex.join(command)} --help` does not show the verbs")
        yield _row("startup", "ochos-sim --help", median(child.seconds for child in helps), "s", times, HELP_BAR)
        self.progress("ochos-sim simulate --hands 1000")
        runs = [self._simulate(command, 1_000) for _ in range(self.sizes.starts + 1)][1:]
        yield _row(
            "startup",
            "ochos-sim simulate --hands 1000, compiled before",
            median(child.seconds for child in runs),
            "s",
            times,
            START_BAR,
        )

    def compiling(self, command: Sequence[str]) -> Iterator[Row]:
        """How long the first run ever takes, and what later ones still have to compile."""
        self.progress("the first run with an empty cache")
        with tempfile.TemporaryDirectory() as cache:
            env = os.environ | {"NUMBA_CACHE_DIR": cache}
            first = self._simulate(command, 1_000, env=env)
            compiled = _engine_files(cache)
            if not compiled:
                raise BenchError("the first run left no compiled engine in its cache")
            says = next((line.strip() for line in first.err.splitlines() if "compil" in line.lower()), "")
            yield _row(
                "compile",
                "ochos-sim simulate --hands 1000, the first run ever",
                first.seconds,
                "s",
                f"one run; it says: {says}" if says else "one run; it does not say that it compiles",
                COMPILE_BAR,
                also=bool(says),
            )
            others = [("other rules", ["--rules", RULES[-1]])]
            if len(self.strategies) > 1:
                others.append(("another strategy", ["--strategy", self.strategies[1]]))
            for what, options in others:
                self.progress(f"a later run with {what}")
                later = self._simulate(command, 1_000, options, env=env)
                kept = _engine_files(cache) == compiled
                says = f"one run; {' '.join(options)}; {CACHED if kept else 'engine compiled again'}"
                yield Row("compile", f"a later run with {what}", later.seconds, "s", CACHED, kept, says)

    def memory(self, command: Sequence[str]) -> Iterator[Row]:
        """Compare the most memory that a small run and a large one take."""
        peaks = {}
        threads = ["--threads", str(_cores())]
        self._simulate(command, 1_000, threads)  # so that neither compiles
        for hands in (self.sizes.small, self.sizes.large):
            self.progress(f"memory of {hands:,} hands")
            peaks[hands] = self._simulate(command, hands, threads).peak / 1e6
        small, large = peaks.values()
        note = f"peak resident size of a process of its own, one run, {_cores()} threads"
        yield _row("memory", f"{self.sizes.small:,} hands", small, "MB", note)
        yield _row("memory", f"{self.sizes.large:,} hands", large, "MB", note, MEMORY_BAR)
        what = f"{self.sizes.large:,} hands : {self.sizes.small:,}"
        yield _row("memory", what, large / small, TIMES, note, GROWTH_BAR)

    def _simulate(
        self, command: Sequence[str], hands: int, options: Sequence[str] = (), env: Mapping[str, str] | None = None
    ) -> "_Child":
        """Run `simulate`; `options` come last and count. Raises BenchError if other hands were played."""
        usual = {"--rules": RULES[0], "--strategy": self.strategies[0]}
        usual |= {"--players": str(TABLE_OF), "--hands": str(hands), "--seed": str(SEED), "--format": "json"}
        usual |= dict(zip(options[::2], options[1::2], strict=True))
        child = _watched([*command, "simulate", *(word for pair in usual.items() for word in pair)], env)
        try:
            played = json.loads(child.out)["hands"]
        except (ValueError, LookupError, TypeError):
            raise BenchError("`ochos-sim simulate --format json` did not print its result as JSON") from None
        if played != hands:
            raise BenchError(f"`ochos-sim simulate` was asked for {hands:,} hands and says it played {played}")
        return child


def _row(
    part: str,
    what: str,
    value: float,
    unit: str,
    note: str,
    bar: _Bar | None = None,
    *,
    also: bool = True,
    can_tell: bool = True,
) -> Row:
    """Make a row; `also`: what the bar asks besides the number; `can_tell`: whether this machine can show it."""
    met = None if bar is None or not can_tell else bar.met(value) and also
    return Row(part, what, value, unit, None if bar is None else str(bar), met, note)


def _engine_files(cache: str) -> dict[str, int]:
    """List the files of the compiled engine in a cache, and when they were written."""
    return {str(path): path.stat().st_mtime_ns for path in Path(cache).glob("**/batch.*")}


# --- Programs --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Floor:
    """What a floor program printed."""

    ns_per_turn: float
    turns_per_hand: float


def _run_floor(path: str | Path, hands: int) -> _Floor:
    """Run a floor program for so many hands. Raises BenchError."""
    # Absolute, so that a bare name is a file here and not a command somewhere.
    program = [str(Path(path).absolute()), str(TABLE_OF), str(hands), "1"]
    build = "it has to be a compiled program: cc -O3 -march=native -o floor floor.c"
    try:
        done = subprocess.run(
            program, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace", timeout=FLOOR_SECONDS
        )
    except FileNotFoundError:
        raise BenchError(f"floor {path}: there is no such file") from None
    except subprocess.TimeoutExpired:
        raise BenchError(f"floor {path}: not done after {FLOOR_SECONDS} s") from None
    except OSError as error:
        raise BenchError(f"floor {path}: {error.strerror}; {build}") from None
    if done.returncode:
        raise BenchError(f"floor {path}: ended with {done.returncode}; {_last_line(done.stderr) or 'it says nothing'}")
    try:
        line = json.loads(done.stdout)
        floor = _Floor(float(line["ns_per_turn"]), float(line["turns_per_hand"]))
        right = (
            line["players"] == TABLE_OF and 0 < floor.ns_per_turn < math.inf and 1 <= floor.turns_per_hand < math.inf
        )
    except (ValueError, LookupError, TypeError):
        right = False
    if not right:
        raise BenchError(
            f"floor {path}: printed {_short(done.stdout)!r}, not a line of JSON with players ({TABLE_OF}), "
            "ns_per_turn and turns_per_hand"
        )
    return floor


@dataclass(frozen=True)
class _Child:
    """A command that has ended well."""

    seconds: float
    peak: int
    """Bytes."""
    out: str
    err: str


# A process's peak size counts from the one that started it until it becomes another program, so a small process has to
# stand between this one and the command. It also takes the time, and prints both after the command's own output.
_WATCH = """
import json, os, subprocess, sys, time
began = time.perf_counter()
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL)
_, status, used = os.wait4(child.pid, 0)
seconds = time.perf_counter() - began
print("\\n" + json.dumps([os.waitstatus_to_exitcode(status), seconds, used.ru_maxrss]))
"""


def _watched(command: Sequence[str], env: Mapping[str, str] | None = None) -> _Child:
    """Run a command and watch its time and memory. Raises BenchError if it fails."""
    watch = [sys.executable, "-S", "-c", _WATCH, *command]
    done = subprocess.run(watch, capture_output=True, text=True, errors="replace", env=env)
    shown = shlex.join([Path(command[0]).name, *command[1:]])
    out, _, report = done.stdout.rstrip("\n").rpartition("\n")
    if done.returncode:
        raise BenchError(f"`{shown}` could not be run: {_last_line(done.stderr)}")
    code, seconds, peak = json.loads(report)
    if code:
        raise BenchError(f"`{shown}` ended with {code}; {_last_line(done.stderr) or 'it says nothing'}")
    return _Child(seconds, peak * (1 if sys.platform == "darwin" else 1024), out, done.stderr)


def _installed() -> list[str]:
    """Find the installed command: the one beside this Python, else the first on the path."""
    beside = Path(sys.executable).with_name("ochos-sim")
    found = str(beside) if beside.is_file() else shutil.which("ochos-sim")
    if found is None:
        raise BenchError("the command ochos-sim is not installed; start-up, compiling and memory are measured with it")
    return [found]


def _last_line(text: str) -> str:
    return _short(next((line for line in reversed(text.splitlines()) if line.strip()), ""))


def _short(text: str) -> str:
    text = "".join(c if c.isprintable() else " " for c in text.strip())
    return text if len(text) <= 80 else f"{text[:80]}…"


# --- The machine -----------------------------------------------------------------------------------------------------


def _cores() -> int:
    """Cores that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def _cpu() -> str:
    """Name the processor."""
    try:
        lines = Path("/proc/cpuinfo").read_text("utf-8", "replace").splitlines()
    except OSError:
        lines = []
    named = next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), "")
    return named or platform.processor() or platform.machine() or "unknown processor"
