"""The door: `ochos-sim VERB` reads options, asks one question and prints the answer.

Data goes to stdout; progress, notes and errors to stderr. Exit codes: 0 done, 1 a run that failed, 2 a mistake in the
command, 130 interrupted. Whatever a user can get wrong is one line that begins with `ochos-sim: `; a traceback is a
defect of this program.

Only typer and the standard library are imported up here, so that help comes at once; each verb imports what it needs.
"""

import difflib
import json
import math
import os
import re
import secrets
import shlex
import signal
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext, suppress
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

if TYPE_CHECKING:
    from rich.console import RenderableType

    from reports.answers import Question
    from sim.batch import Plan, Rows, Run
    from sim.rules import NamedRules
    from sim.saving import Folder

NAME = "ochos-sim"
ROOMS = ("cli", "sim", "strategies", "reports")
DEFAULT_COUNT = 100_000
UPPER_LIMIT = 100_000_000
"""Hands that a run with a precision plays at most, unless told otherwise."""
LARGEST_COUNT = 10**12
DEFAULT_SEED = 1
SEEDS = 2**64
VERB_OF = {"--vary": "fairness", "--per-game": "simulate"}
"""Options that are looked for at other verbs too."""
SEATS = range(2, 11)
"""How many a table seats."""
WIDTH = 110
"""Columns of a table where the output is no terminal."""


class CommandError(ValueError):
    """A mistake in the command that no other room knows of; one line: what was given, what is allowed."""


# --- The program: one line for each mistake ------------------------------------------------------------------------


class Door(TyperGroup):
    """The verbs, with every error told in one line."""

    # typer declares four arguments more, all of which only pass through `extra`.
    def main(self, args: Sequence[str] | None = None, **extra: Any) -> Any:  # type: ignore[override]
        """Run a command line and exit."""
        words = list(sys.argv[1:] if args is None else args)
        _ready_streams()
        try:
            # The words are kept for the command that resumes an interrupted run.
            code = super().main(words, **(extra | {"standalone_mode": False, "obj": words}))
            sys.stdout.flush()
        except BrokenPipeError:
            _silence_stdout()
            sys.exit(1)
        except KeyboardInterrupt:
            _note(f"{NAME}: interrupted")
            sys.exit(130)
        except TyperException as error:
            _tell_usage(error)
        except Exception as error:  # `_tell` raises again whatever is not an error of ours or of the system
            _tell(error)
        sys.exit(code if isinstance(code, int) else 0)


def _ready_streams() -> None:
    """Print UTF-8 whatever the locale says, as the contract promises, and nowhere where an output is closed."""
    for name in ("stdout", "stderr"):
        stream = getattr(sys, name)
        if stream is None:
            setattr(sys, name, open(os.devnull, "w", encoding="utf-8"))  # noqa: SIM115
        elif hasattr(stream, "reconfigure"):
            stream.reconfigure(encoding="utf-8", errors="surrogateescape")


def _tell_usage(error: TyperException) -> NoReturn:
    """Tell what typer found wrong with a command."""
    message = " ".join(error.format_message().split()).rstrip(".")
    context = getattr(error, "ctx", None)
    if not message or (context is not None and type(error).__name__ == "NoArgsIsHelpError"):
        sys.exit(2)  # help has been shown
    message = message.replace("Value error, ", "")
    option = getattr(error, "option_name", None) or ""
    if option in VERB_OF and type(error).__name__ == "NoSuchOption":
        message = f"{option} belongs to {VERB_OF[option]}"
    elif possible := getattr(error, "possibilities", None):
        # Whoever stopped short of the whole word means that word, whatever else is like it.
        near = [one for one in possible if one.startswith(option)] if option else []
        near = near or difflib.get_close_matches(option, possible, 1) or list(possible)
        message = f"{message.partition(' (')[0]}; did you mean {' or '.join(near)}?"
    elif extra := re.search(r"unexpected extra arguments?(?:\(s\))? \((\S+)", message):
        message += _as_rules(extra[1].rstrip(")"), context)
    where = context.command_path if context is not None else NAME
    _note(f"{NAME}: {message[0].lower()}{message[1:]}; see {where} --help")
    sys.exit(2)


def _as_rules(word: str, context: Any) -> str:
    """Hint that a word which stands alone would be a rule set, if it is one."""
    from sim.rules import preset_names

    takes_rules = context is not None and any("--rules" in option.opts for option in context.command.params)
    known = word.partition("+")[0] in preset_names() or word.endswith(".toml")
    return f"; did you mean --rules {word}?" if takes_rules and known else ""


def _tell(error: Exception) -> NoReturn:
    """Tell a known error; anything else is a defect of ours and goes on as it is.

    An exception class of our own stands for one line of text: a ValueError is the user's mistake, others a failed run.
    """
    own = type(error).__module__.partition(".")[0] in ROOMS
    if not own and not isinstance(error, OSError):
        raise error
    text = str(error)
    if isinstance(error, OSError) and not own:
        text = f"{error.filename}: {error.strerror}" if error.filename else error.strerror or text
    _note(f"{NAME}: {text}")
    sys.exit(2 if isinstance(error, ValueError) else 1)


def _note(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _silence_stdout() -> None:
    """Let nothing more be written to a reader that has gone, not even at exit."""
    with suppress(OSError):
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


app = typer.Typer(
    name=NAME,
    cls=Door,
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode="rich",
    no_args_is_help=True,
    help="Which house rule is fairer? Crazy Eights and its family, played millions of times, with error bars.",
    epilog="Begin with: [bold]ochos-sim simulate[/bold] · "
    "[bold]ochos-sim fairness --vary no-eight-on-eight,draw-three[/bold]",
)


def version() -> str:
    """Return the version of the installed package, or of the source tree that this file lies in."""
    from importlib import metadata

    try:
        return metadata.version(NAME)
    except metadata.PackageNotFoundError:
        import tomllib

        project = Path(__file__).with_name("pyproject.toml")
        return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"]) if project.exists() else "unknown"


def _show_version(wanted: bool) -> None:
    if wanted:
        print(f"{NAME} {version()}")
        raise typer.Exit


@app.callback()
def _main(
    _version: Annotated[
        bool, typer.Option("--version", is_eager=True, callback=_show_version, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


# --- Options, the same everywhere ----------------------------------------------------------------------------------


class Format(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MD = "md"


RULES, TABLE, PLAY, OUTPUT = "Rules", "The table", "How much", "Output"
DEFAULT_RULES = "ochos-locos"

RulesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rules",
        metavar="NAME[+CHANGE…]|FILE.toml",
        rich_help_panel=RULES,
        help=f"House rules: see `presets`. [dim]\\[default: {DEFAULT_RULES}][/dim]",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", rich_help_panel=RULES, help="Change one option, as draw.limit=3."),
]
PlayersOption = Annotated[
    str, typer.Option("--players", metavar="N", rich_help_panel=TABLE, help="Players at the table, 2 to 10.")
]
StrategyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="NAME",
        rich_help_panel=TABLE,
        help="Once for all seats, or once a seat: see `strategies`. [dim]\\[default: random][/dim]",
    ),
]
ForgetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--forget-last-card",
        metavar="P",
        rich_help_panel=TABLE,
        help="Chance to forget the last-card call; once for all seats, or once a seat.",
    ),
]
IllegalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--illegal-rate",
        metavar="P",
        rich_help_panel=TABLE,
        help="Chance per turn to play a card that may not be played; once for all seats, or once a seat.",
    ),
]
NoticeOption = Annotated[
    str,
    typer.Option("--notice-rate", metavar="P", rich_help_panel=TABLE, help="Chance that such an error is noticed."),
]
HandsOption = Annotated[
    str | None,
    typer.Option(
        "--hands",
        metavar="N",
        rich_help_panel=PLAY,
        help="Hands to play under each rule set: 300000, 300k, 2M, 1e6. [dim]\\[default: 100k][/dim]",
    ),
]
MatchesOption = Annotated[
    str | None,
    typer.Option("--matches", metavar="N", rich_help_panel=PLAY, help="Matches to play, instead of single hands."),
]
PrecisionOption = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="X",
        rich_help_panel=PLAY,
        help="Stop when every win share (fairness: every spread) is known to ± X, as 0.002; N is then the upper limit "
        "[dim]\\[default: 100M][/dim].",
    ),
]
FirstDealerOption = Annotated[
    str | None,
    typer.Option(
        "--first-dealer",
        metavar="SEAT",
        rich_help_panel=TABLE,
        help="Who deals first in a match. [dim]\\[default: by chance][/dim]",
    ),
]
SeedOption = Annotated[
    str,
    typer.Option(
        "--seed", metavar="N|random", rich_help_panel=PLAY, help="The same seed gives the same hands, everywhere."
    ),
]
ThreadsOption = Annotated[
    str | None,
    typer.Option(
        "--threads",
        metavar="N",
        rich_help_panel=PLAY,
        help="Changes the speed and nothing else. [dim]\\[default: all cores][/dim]",
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", rich_help_panel=OUTPUT, help="How to print the answer.")]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        rich_help_panel=OUTPUT,
        help="Write tables, figures and a report there; an interrupted run goes on from there.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", rich_help_panel=OUTPUT, help="No progress, no notes.")]


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
            _note(f"seed {seed}")
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


def parse_lineup(
    strategies: list[str] | None, forget: list[str] | None, illegal: list[str] | None, players: int
) -> tuple[Mapping[str, Any], ...]:
    """Read the line-up: an entry that stands for all seats, or one a seat. Raises StrategyError, CommandError."""
    from strategies.registry import find

    names = [find(name).name for name in strategies or ["random"]]
    forgets = [parse_chance("--forget-last-card", text) for text in forget or ["0"]]
    illegals = [parse_chance("--illegal-rate", text) for text in illegal or ["0"]]
    given = {"--strategy": len(names), "--forget-last-card": len(forgets), "--illegal-rate": len(illegals)}
    for option, times in given.items():
        if times not in (1, players):
            raise CommandError(
                f"{option} is given {times} times for {players} players; allowed: once for all seats, "
                f"or {players} times, once a seat{f'; or --players {times}' if times in SEATS else ''}"
            )
    entries: list[Mapping[str, Any]] = []
    for seat in range(max(given.values())):
        # The last one stands for all where it is given once.
        name, *rates = (values[min(seat, len(values) - 1)] for values in (names, forgets, illegals))
        errors = zip(("forget_last_card", "illegal_rate"), rates, strict=True)
        entries.append({"strategy": name, **{key: rate for key, rate in errors if rate}})
    return tuple(entries)


def crew_of(lineup: Sequence[Mapping[str, Any]], notice_rate: float) -> tuple[Any, list[str]]:
    """Return the line-up, an entry a seat, as the engine reads it, and the labels of its seats."""
    from strategies.registry import Player, crew_record, find

    seats = [
        Player(find(entry["strategy"]), entry.get("forget_last_card", 0.0), entry.get("illegal_rate", 0.0))
        for entry in lineup
    ]
    return crew_record(seats, notice_rate), [player.label for player in seats]


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
                _note(f"{name} is what {base} says already; it is in the comparison as {base}")
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


# --- Playing -------------------------------------------------------------------------------------------------------


def play(
    question: "Question", folder: "Folder | None", threads: int, quiet: bool, rows: "Rows | None"
) -> "tuple[list[Run], set[int]]":
    """Play all that a question asks, a run for each number of players; ends early when interrupted.

    Returned with the numbers of players of which nothing was left to play, as the folder held it all.

    Raises StrategyFault (its text ends with the command that shows the fault), SavingError.
    """
    from reports.answers import stop_rule
    from sim.batch import compile_engine, is_compiled, run
    from sim.trace import StrategyFault

    announce_compiling("matches" if question.matches else "hands", is_compiled(question.matches), quiet)
    plans = []
    # The compiler would swallow an interruption or leave it half done, so it is heard afterwards.
    with interruptible() as asked_to_stop:
        for players in question.players:
            crew, labels = crew_of(question.seats(players), question.notice_rate)
            plans.append(question.plan(players, crew, labels))
        compile_engine(plans[0])
        if asked_to_stop():
            _note(f"{NAME}: interrupted")
            raise typer.Exit(130)
    finished = []
    taken = set()
    with interruptible() as asked_to_stop, progress_bar(quiet) as bar:
        for plan in plans:
            part = f"{plan.players} players"
            # Rows are of whole runs only, so whoever wants them has all games played again.
            before = folder.load(part, plan) if folder is not None and rows is None else None
            held = 0 if before is None else int(before.tally.blocks)  # the run counts on in it
            told = bar(f"{part}: " if len(plans) > 1 else "", plan, before)

            def progress(count: int, told: Callable[[int], None] = told) -> None:
                told(count)
                if asked_to_stop():
                    raise KeyboardInterrupt

            def save(state: "Run", part: str = part) -> None:
                if folder is not None:
                    folder.save(part, state)

            try:
                done = run(
                    plan,
                    threads=threads,
                    enough=stop_rule(question, plan),
                    progress=progress,
                    rows=rows,
                    resumed=before,
                    save=save,
                )
            except StrategyFault as fault:
                shown_by = question.trace_command(fault.scenario, plan.players, fault.game, fault.rotation)
                raise StrategyFault(f"{fault}; {shown_by}") from None
            if folder is not None:
                folder.save(part, done, now=True)
            finished.append(done)
            if done.stopped == "interrupted":
                break
            if folder is not None and held and held == int(done.tally.blocks):
                taken.add(plan.players)
                if not quiet:
                    _note(f"{f'{part}: ' if len(plans) > 1 else ''}already finished: taken from {folder.path}")
    return finished, taken


def announce_compiling(what: str, compiled: bool, quiet: bool) -> None:
    """Say why nothing happens for a while, if that is going to be so; `what`: what is to be played."""
    if not compiled and not quiet:
        _note(f"compiling the engine for {what}, once on this machine, about 20 seconds…")


@contextmanager
def interruptible() -> Iterator[Callable[[], bool]]:
    """Let Ctrl-C (or a kill) ask for an end between two chunks, where counts are whole; a second one ends at once."""
    asked = False

    def ask(number: int, frame: Any) -> None:
        nonlocal asked
        asked = True
        signal.signal(number, signal.SIG_DFL)

    before = {number: signal.signal(number, ask) for number in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield lambda: asked
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


@contextmanager
def progress_bar(quiet: bool) -> "Iterator[Callable[[str, Plan, Run | None], Callable[[int], None]]]":
    """Give what begins the bar of a plan and gives what moves it; shown on a terminal only."""
    if quiet or not sys.stderr.isatty():
        yield lambda name, plan, before: lambda count: None
        return
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TaskProgressColumn(),
        TextColumn("{task.fields[rate]}"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:

        def begin(name: str, plan: "Plan", before: "Run | None") -> Callable[[int], None]:
            each = plan.rotations * len(plan.scenarios)
            done = 0 if before is None else int(before.tally.blocks) * each
            what = "matches" if plan.matches else "hands"
            task = bar.add_task(
                f"{name}{plan.blocks * each:,} {what}", total=plan.blocks * each, completed=done, rate=""
            )

            def advance(count: int) -> None:
                bar.advance(task, count)
                speed = bar.tasks[task].speed
                if speed:
                    bar.update(task, rate=f"{speed:,.0f} {what} a second")

            return advance

        yield begin


def resume_command(words: Sequence[str], seed: int) -> str:
    """Return the same command; a seed that was drawn is put in place of `random`."""
    again = [str(seed) if before == "--seed" else word for before, word in zip(["", *words], words, strict=False)]
    return shlex.join([NAME, *(f"--seed={seed}" if word == "--seed=random" else word for word in again)])


def finish(context: typer.Context, question: "Question", runs: "Sequence[Run]", out: Path | None, quiet: bool) -> None:
    """Say where the results are, or, with an exit code of 130, what an interrupted run leaves behind."""
    sys.stdout.flush()
    if runs[-1].stopped == "interrupted":
        nothing = "" if any(int(run.tally.blocks) for run in runs) else " before anything was finished"
        if out is None:
            _note(f"{NAME}: interrupted{nothing}; nothing is kept, as --out DIR was not given")
        else:
            _note(f"{NAME}: interrupted{nothing}; what is finished is kept in {out}. To go on:")
            _note(f"  {resume_command(context.obj, question.seed)}")
        raise typer.Exit(130)
    if out is not None and not quiet:
        _note(f"written: {out / 'report.html'}, report.md, results.csv, ranking.csv (also .parquet), figures")


# --- Printing ------------------------------------------------------------------------------------------------------


def show(renderable: "RenderableType") -> None:
    """Print a rich table or text to stdout; into a file or pipe without colours and without blanks at the line ends."""
    from rich.console import Console

    if sys.stdout.isatty():
        Console(highlight=False).print(renderable)
        return
    console = Console(width=None if os.environ.get("COLUMNS", "").isdigit() else WIDTH, highlight=False)
    with console.capture() as captured:
        console.print(renderable)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def show_json(answer: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False))


def show_csv(frame: Any) -> None:
    """Print a data frame as CSV."""
    print(frame.to_csv(index=False), end="")


def show_records(records: Sequence[Mapping[str, Any]], form: Format, table: "RenderableType | None" = None) -> None:
    """Print a list of records in the form asked for; `table` is how people see it, if not simply as it is."""
    from reports.tables import markdown, records_table

    if form is Format.JSON:
        show_json(records)
    elif form is Format.MD:
        print(markdown(records))
    elif form is Format.CSV:
        import csv

        writer = csv.DictWriter(sys.stdout, list(records[0]) if records else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    else:
        show(records_table(records) if table is None else table)


# --- Verbs ---------------------------------------------------------------------------------------------------------


@app.command(epilog="Example: [bold]ochos-sim simulate --rules crazy-eights --players 3 --hands 1M[/bold]")
def simulate(
    context: typer.Context,
    rules: RulesOption = None,
    set_: SetOption = None,
    players: PlayersOption = "4",
    strategy: StrategyOption = None,
    forget_last_card: ForgetOption = None,
    illegal_rate: IllegalOption = None,
    notice_rate: NoticeOption = "1",
    first_dealer: FirstDealerOption = None,
    hands: HandsOption = None,
    matches: MatchesOption = None,
    precision: PrecisionOption = None,
    seed: SeedOption = str(DEFAULT_SEED),
    threads: ThreadsOption = None,
    form: FormatOption = Format.TABLE,
    out: OutOption = None,
    per_game: Annotated[
        Path | None,
        typer.Option("--per-game", metavar="FILE.parquet", rich_help_panel=OUTPUT, help="Write a row a hand or match."),
    ] = None,
    quiet: QuietOption = False,
) -> None:
    """Show what happens under one rule set with one line-up: who wins, how long it takes, how it ends."""
    numbers = [parse_one_number(players)]
    check_rows_name(per_game)
    spec = parse_one_rule_set("simulate", rules)
    named, names = rule_sets([spec], set_ or [], [], quiet)
    people = (strategy, forget_last_card, illegal_rate)
    question = ask(
        "simulate", named, names, numbers, people, notice_rate, first_dealer, hands, matches, precision, seed, quiet,
        asked=["--rules", spec, *_each("--set", set_)],
    )  # fmt: skip
    from reports import answers, tables

    count = parse_threads(threads)
    folder = open_folder(out, question)
    with open_rows(per_game, question) as rows:
        (run,), taken = play(question, folder, count, quiet, rows)
    whole = run.stopped != "interrupted"
    if int(run.tally.blocks):
        finding = answers.Finding.of(run)
        if whole and out is not None:
            answers.write_answer(question, [finding], out)
        answer = answers.simulate_answer(question, run)
        if form is Format.JSON:
            show_json(answer)
        elif form is Format.CSV:
            show_csv(answers.results(question, [run]))
        else:
            said = answers.verdicts(question, [finding])[0]
            answer |= {"seconds": 0.0} if taken else {}  # an old time is not that of this command
            if form is Format.TABLE:
                show(tables.simulate_table(answer, said))
            else:
                print(tables.simulate_markdown(answer, said, answers.records(answers.results(question, [run]))))
    if per_game is not None and not quiet:
        _note(f"a row for each {'match' if question.matches else 'hand'}: {per_game}")
    finish(context, question, [run], out, quiet)


@app.command(
    epilog="Examples: [bold]ochos-sim fairness --rules ochos-locos --rules crazy-eights[/bold] · "
    "[bold]ochos-sim fairness --vary draw.limit=1,3,until-playable --vary no-eight-on-eight --players 2-5[/bold]"
)
def fairness(
    context: typer.Context,
    rules: Annotated[
        list[str] | None,
        typer.Option(
            "--rules",
            metavar="NAME[+CHANGE…]|FILE.toml",
            rich_help_panel=RULES,
            help="House rules, once for each rule set: see `presets`. [dim]\\[default: ochos-locos][/dim]",
        ),
    ] = None,
    set_: SetOption = None,
    vary: Annotated[
        list[str] | None,
        typer.Option(
            "--vary",
            metavar="KEY=A,B…|CHANGE,CHANGE…",
            rich_help_panel=RULES,
            help="Rule sets that each differ from the base in one thing: an option's values, or named changes.",
        ),
    ] = None,
    players: Annotated[
        str,
        typer.Option(
            "--players",
            metavar="N|N,N|N-N",
            rich_help_panel=TABLE,
            help="Players at the table; several, as 2,4 or 2-5.",
        ),
    ] = "4",
    strategy: StrategyOption = None,
    forget_last_card: ForgetOption = None,
    illegal_rate: IllegalOption = None,
    notice_rate: NoticeOption = "1",
    first_dealer: FirstDealerOption = None,
    hands: HandsOption = None,
    matches: MatchesOption = None,
    precision: PrecisionOption = None,
    seed: SeedOption = str(DEFAULT_SEED),
    threads: ThreadsOption = None,
    form: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
) -> None:
    """Tell which house rule is fairer: the same deals under each, ranked by how evenly the positions win."""
    numbers = parse_players(players)
    specs = rules or [DEFAULT_RULES]
    named, names = rule_sets(specs, set_ or [], vary or [], quiet)
    people = (strategy, forget_last_card, illegal_rate)
    question = ask(
        "fairness", named, names, numbers, people, notice_rate, first_dealer, hands, matches, precision, seed, quiet,
        asked=[*_each("--rules", specs), *_each("--set", set_), *_each("--vary", vary)],
    )  # fmt: skip
    if len(names) == 1 and not quiet:
        _note("one rule set; to compare it, add --vary CHANGE,CHANGE or another --rules")
    from reports import answers, tables

    count = parse_threads(threads)
    runs, taken = play(question, open_folder(out, question), count, quiet, None)
    findings = [answers.Finding.of(run) for run in runs if int(run.tally.blocks)]
    if out is not None and runs[-1].stopped != "interrupted":
        answers.write_answer(question, findings, out)
    if findings and form is Format.CSV:
        show_csv(answers.rankings(question, findings))
    elif findings:
        answer = answers.fairness_answer(question, findings)
        if form is Format.JSON:
            show_json(answer)
        else:
            for section in answer["players"]:
                if section["players"] in taken:
                    section["seconds"] = 0.0  # an old time is not that of this command
            if form is Format.TABLE:
                show(tables.fairness_table(answer))
            else:
                print(tables.fairness_markdown(answer))
    finish(context, question, runs, out, quiet)


@app.command(epilog="Example: [bold]ochos-sim trace --seed 7 --game 123[/bold]")
def trace(
    rules: RulesOption = None,
    set_: SetOption = None,
    players: PlayersOption = "4",
    strategy: StrategyOption = None,
    forget_last_card: ForgetOption = None,
    illegal_rate: IllegalOption = None,
    notice_rate: NoticeOption = "1",
    seed: SeedOption = str(DEFAULT_SEED),
    game: Annotated[
        str, typer.Option("--game", metavar="K", rich_help_panel=PLAY, help="Which game of that seed, from 0.")
    ] = "0",
    match: Annotated[
        bool, typer.Option("--match", rich_help_panel=PLAY, help="A whole match instead of one hand.")
    ] = False,
    deck: Annotated[
        Path | None,
        typer.Option(
            "--deck",
            metavar="FILE",
            rich_help_panel=TABLE,
            help="Cards in this order instead of shuffled: the hands as they are dealt, the starter, the stock.",
        ),
    ] = None,
    dealer: Annotated[
        str | None,
        typer.Option(
            "--dealer",
            metavar="SEAT",
            rich_help_panel=TABLE,
            help="Who deals the hand. [dim]\\[default: the last seat][/dim]",
        ),
    ] = None,
    first_dealer: FirstDealerOption = None,
    rotation: Annotated[
        str | None,
        typer.Option(
            "--rotation", metavar="R", rich_help_panel=TABLE, help="Move the dealer on by R seats, as in a block."
        ),
    ] = None,
    form: FormatOption = Format.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Show one hand or match, card by card; with --format json as JSON lines."""
    if form not in (Format.TABLE, Format.JSON):
        raise CommandError(f"--format is {form.value!r}; a trace is told (table) or JSON lines (json)")
    number = parse_one_number(players)
    (named,), _ = rule_sets([parse_one_rule_set("trace", rules)], set_ or [], [], quiet)
    named.rules.check_players(number, match=match)
    lineup = parse_lineup(strategy, forget_last_card, illegal_rate, number)
    seats = [dict(entry) for entry in (lineup * number if len(lineup) == 1 else lineup)]
    note_no_call([named], lineup, quiet)
    notice = parse_chance("--notice-rate", notice_rate)
    seed_number, game_number = parse_seed(seed, quiet), parse_whole("--game", game, 0, 2**63 - 1)
    turned = parse_whole("--rotation", rotation or "0", 0, number - 1)
    deals = parse_dealer(match, dealer, first_dealer, rotation, deck, number)
    codes = read_deck(deck)
    from sim import engine
    from sim import trace as tracing
    from sim.compiled import cache_directory

    played_by = "engine.play_match_hand" if match else "engine.play_hand"
    announce_compiling("traces", any(cache_directory(engine.__file__).glob(f"**/{played_by}-*.nbi")), quiet)
    crew, labels = crew_of(seats, notice)
    if deals is None:
        deals = (
            tracing.first_dealer(seed_number, game_number, number, turned) if match else (number - 1 + turned) % number
        )
    opening = {
        "event": "match",
        "rules": named.rules.as_dict(),
        "players": number,
        "seed": seed_number,
        "game": game_number,
        "first_dealer": deals + 1,
        "lineup": seats,
        "notice_rate": notice,
    }
    given = (named.rules, crew, labels)
    events = [opening]
    try:
        if match:
            events += tracing.trace_match(*given, seed=seed_number, game=game_number, first_dealer=deals)
        else:
            events += tracing.trace_hand(*given, seed=seed_number, game=game_number, dealer=deals, deck=codes)
    except tracing.StrategyFault as fault:
        show_events([*events, *fault.events], form)
        raise
    show_events(events, form)


presets = typer.Typer(help="The rule sets there are: list, show one, compare two.", invoke_without_command=True)
app.add_typer(presets, name="presets")


@presets.callback()
def list_presets(context: typer.Context, form: FormatOption = Format.TABLE) -> None:
    """List the presets and the named changes that can be added to them with a plus."""
    if context.invoked_subcommand is not None:
        return
    from reports.tables import presets_table
    from sim.rules import describe, preset_names

    found = [describe(name) for name in preset_names()]
    if form is Format.JSON:
        show_json(
            [
                {
                    "name": preset.name,
                    "sheet": preset.sheet,
                    "about": preset.about,
                    "changes": [{"name": c.name, "about": c.about, "own": c.own} for c in preset.changes],
                }
                for preset in found
            ]
        )
        return
    records = [
        {
            "name": preset.name,
            "sheet": preset.sheet,
            "about": preset.about,
            "changes of its sheet": " ".join(c.name for c in preset.changes if c.own),
        }
        for preset in found
    ]
    show_records(records, form, presets_table(found))


@presets.command("show", epilog="Example: [bold]ochos-sim presets show ochos-locos+actions > mine.toml[/bold]")
def show_preset(
    name: Annotated[str, typer.Argument(metavar="NAME[+CHANGE…]|FILE.toml", show_default=False)],
    set_: SetOption = None,
    form: Annotated[Format, typer.Option("--format", help="The rules file (table), or json.")] = Format.TABLE,
) -> None:
    """Print every option of a rule set, as a rules file that can be changed and loaded."""
    if form not in (Format.TABLE, Format.JSON):
        raise CommandError(f"--format is {form.value!r}; rules are shown as a rules file (table) or as json")
    from sim.rules import load

    named = load(name, set_ or [])
    if form is Format.JSON:
        show_json(named.rules.as_dict())
    else:
        print(named.rules.toml(named.title), end="")


@presets.command("diff", epilog="Example: [bold]ochos-sim presets diff ochos-locos crazy-eights[/bold]")
def diff_presets(
    a: Annotated[str, typer.Argument(metavar="A", show_default=False)],
    b: Annotated[str, typer.Argument(metavar="B", show_default=False)],
    form: FormatOption = Format.TABLE,
) -> None:
    """Show the options in which two rule sets differ."""
    from reports.tables import option_value
    from sim.rules import diff, load

    found = diff(load(a), load(b))
    if form is Format.JSON:
        show_json([{"option": key, "a": before, "b": now} for key, before, now in found])
    elif not found and form is Format.TABLE:
        print(f"{a} and {b} are the same rules")
    else:
        show_records(
            [{"option": key, a: option_value(before), b: option_value(now)} for key, before, now in found], form
        )


@app.command()
def strategies(form: FormatOption = Format.TABLE) -> None:
    """List the ways to play that there are, with the idea of each and the rule sheet that gives it."""
    from strategies.registry import all_strategies

    show_records([{"name": s.name, "idea": s.idea, "sheet": s.sheet} for s in all_strategies().values()], form)


@app.command(epilog="Example: [bold]ochos-sim bench --part speed --part threads[/bold]")
def bench(
    part: Annotated[
        list[str] | None,
        typer.Option(
            "--part",
            metavar="PART",
            help="floor, speed, scripted, threads, startup, compile or memory; may be repeated. "
            "[dim]\\[default: all][/dim]",
        ),
    ] = None,
    floor: Annotated[
        Path | None,
        typer.Option("--floor", metavar="PATH", help="A compiled floor program to run in turn with the engine."),
    ] = None,
    strategy: Annotated[
        list[str] | None, typer.Option("--strategy", metavar="NAME", help="Strategies to time; may be repeated.")
    ] = None,
    form: FormatOption = Format.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Measure this machine: hands and turns a second, start-up, compiling, memory, beside the bars set for them.

    Everything takes about 4 minutes.
    """
    from sim import bench as benchmark
    from strategies.registry import find

    for name in strategy or ():
        find(name)
    if not part and not quiet:
        _note("about 4 minutes for everything; --part measures less")
    rows = benchmark.bench(
        lambda names: crew_of([{"strategy": name} for name in names], 1.0)[0],
        strategies=strategy or benchmark.STRATEGIES,
        parts=part,
        floor=floor,
        progress=(lambda doing: None) if quiet else _note,
    )
    if form is Format.JSON:
        show_json({"machine": asdict(benchmark.machine()), "rows": [asdict(row) for row in rows]})
        return
    met = {True: "met", False: "missed", None: ""}
    speeds = [] if form is Format.CSV else benchmark.speeds(rows)
    records = [
        {"part": r.part, "what": r.what, "measured": r.shown, "bar": r.bar or "", "": met[r.met], "note": r.note}
        for r in rows
        if not speeds or r.part != "speed"
    ]
    if form is not Format.CSV and (said := benchmark.headline(rows)):
        print(f"{said}\n")
    if speeds:
        show_records(speeds, form)
    if speeds and records:
        print()
    if records:
        show_records(records, form)
    _note(benchmark.machine().line)


# --- What verbs share ----------------------------------------------------------------------------------------------


def ask(
    verb: Any,
    named: Sequence["NamedRules"],
    names: Sequence[str],
    players: Sequence[int],
    people: tuple[list[str] | None, list[str] | None, list[str] | None],
    notice_rate: str,
    first_dealer: str | None,
    hands: str | None,
    matches: str | None,
    precision: str | None,
    seed: str,
    quiet: bool,
    *,
    asked: Sequence[str],
) -> "Question":
    """Make a question of the options that `simulate` and `fairness` have in common. Raises what is wrong with them."""
    wanted = parse_precision(precision)
    count, of_matches = parse_amount(hands, matches, wanted)
    for rule_set, name in zip(named, names, strict=True):
        for number in players:
            _check_players(rule_set, name if len(names) > 1 else "", number, of_matches)
    lineups = [parse_lineup(*people, number) for number in players]  # which is to fit them all
    if first_dealer is not None and not of_matches:
        raise CommandError("--first-dealer goes with --matches; in single hands the positions tell who dealt")
    dealer = parse_seat("--first-dealer", first_dealer, min(players))
    notice = parse_chance("--notice-rate", notice_rate)
    number = parse_seed(seed, quiet)
    note_no_call(named, lineups[0], quiet)
    from reports.answers import Question

    return Question(
        verb=verb,
        rules=tuple(named),
        names=tuple(names),
        players=tuple(players),
        lineup=lineups[0],
        notice_rate=notice,
        seed=number,
        count=count,
        matches=of_matches,
        precision=wanted,
        first_dealer=dealer,
        version=version(),
        asked=tuple(asked),
    )


def _check_players(named: "NamedRules", name: str, players: int, matches: bool) -> None:
    """Raise RulesError if so many cannot play; told with the name where several rule sets are compared."""
    from sim.rules import RulesError

    try:
        named.rules.check_players(players, match=matches)
    except RulesError as error:
        raise RulesError(f"{name}: {error}" if name else str(error)) from None


def _each(option: str, values: Iterable[str] | None) -> list[str]:
    return [word for value in values or () for word in (option, value)]


def open_folder(out: Path | None, question: "Question") -> "Folder | None":
    """Open the results folder, if one is asked for. Raises FolderError."""
    if out is None:
        return None
    from sim.saving import CHUNKS, EXPERIMENT, OTHERS, STATE, Folder

    # Hidden files may be left from a save that was killed, or be the system's; a folder that lost a file of ours is
    # refused by name when it is opened.
    there = {path.name for path in out.iterdir() if not path.name.startswith(".")} if out.is_dir() else set()
    if there and not there & {EXPERIMENT, CHUNKS, STATE, *OTHERS}:
        raise CommandError(f"--out {out}: not empty and no experiment of ours; choose a new folder")
    return Folder.open(out, question.experiment())


def check_rows_name(path: Path | None) -> None:
    """Refuse a file of rows whose name says that it is something else."""
    if path is not None and path.suffix != ".parquet" and (not path.name or not path.is_dir()):
        raise CommandError(f"--per-game is {str(path)!r}; allowed: a file whose name ends in .parquet")


def note_no_call(named: "Sequence[NamedRules]", lineup: Sequence[Mapping[str, Any]], quiet: bool) -> None:
    """Say that nobody can forget the last-card call where there is none."""
    forgets = any("forget_last_card" in entry for entry in lineup)
    if forgets and not quiet and not any(rule_set.rules.last_card.call for rule_set in named):
        _note(
            "--forget-last-card changes nothing: these rules have no last-card call; --set last_card.call=true adds it"
        )


def open_rows(path: Path | None, question: "Question") -> Any:
    """Open the file of rows, if one is asked for. Raises RowsError."""
    if path is None:
        return nullcontext()
    from sim.batch import row_columns
    from sim.rows import ParquetRows

    about = {"command": question.command(), "version": question.version}
    return ParquetRows(path, row_columns(question.players[0], question.matches), about)


def parse_one_number(players: str) -> int:
    """One number of players."""
    if not re.fullmatch(r"[-\d,\s]+", players):
        raise CommandError(f"--players is {players!r}; allowed: a number from 2 to 10")
    numbers = parse_players(players)
    if len(numbers) > 1:
        raise CommandError(f"--players is {players!r}; allowed: one number (fairness takes several)")
    return numbers[0]


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


def show_events(events: Iterable[Mapping[str, Any]], form: Format) -> None:
    """Print a trace: JSON lines, or as it would be told."""
    from reports.tables import trace_lines

    lines = (json.dumps(event, ensure_ascii=False) for event in events) if form is Format.JSON else trace_lines(events)
    for line in lines:
        print(line)
