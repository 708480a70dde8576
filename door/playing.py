"""Playing what was asked: the question made of the options, a bar on the way, folders and files, interruptions."""

import shlex
import signal
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from door.printing import note
from door.words import (
    CommandError,
    crew_of,
    is_blind_lineup,
    note_no_call,
    parse_amount,
    parse_chance,
    parse_lineup,
    parse_lineups,
    parse_precision,
    parse_seat,
    parse_seed,
    parse_size,
)

if TYPE_CHECKING:
    from reports.answers import Asked, Question
    from reports.comparing import Comparison
    from reports.lengths import LengthQuestion
    from reports.skilled import SkillQuestion
    from sim.batch import Plan, Rows, Run
    from sim.rules import NamedRules
    from sim.saving import Folder
    from sim.story import Story
    from sim.tally import Tally

NAME = "ochos-sim"


def version() -> str:
    """Return the version of the installed package, or of the source tree that this file lies in."""
    from importlib import metadata

    try:
        return metadata.version(NAME)
    except metadata.PackageNotFoundError:
        import tomllib

        project = Path(__file__).parent.with_name("pyproject.toml")
        return str(tomllib.loads(project.read_text("utf-8"))["project"]["version"]) if project.exists() else "unknown"


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
    lineups: list[str] | None = None,
    confirmed: bool = False,
    measures: Sequence[str] = (),
) -> "Question":
    """Make a question of the options of `simulate` and `fairness`. Raises what is wrong with them."""
    wanted = parse_precision(precision)
    count, of_matches = parse_amount(hands, matches, wanted)
    for rule_set, name in zip(named, names, strict=True):
        for number in players:
            _check_players(rule_set, name if len(names) > 1 else "", number, of_matches)
    everybody = parse_lineups(people[0], lineups, *people[1:], players)
    if first_dealer is not None and not of_matches:
        raise CommandError("--first-dealer goes with --matches; in single hands the positions tell who dealt")
    dealer = parse_seat("--first-dealer", first_dealer, min(players))
    notice = parse_chance("--notice-rate", notice_rate)
    number = parse_seed(seed, quiet)
    note_no_call(named, everybody[0], quiet)
    from reports.answers import Question, check_measures, words_of

    return Question(
        verb=verb,
        rules=tuple(named),
        names=tuple(names),
        players=tuple(players),
        lineups=everybody,
        notice_rate=notice,
        seed=number,
        count=count,
        matches=of_matches,
        precision=wanted,
        first_dealer=dealer,
        confirmed=confirmed and len(named) > 1,
        measures=check_measures(measures, of_matches),
        version=version(),
        asked=words_of(named),
    )


DEFAULT_MATCHES = "10k"
"""Matches that `length` plays unless told otherwise."""


def ask_length(
    named: Sequence["NamedRules"],
    names: Sequence[str],
    players: Sequence[int],
    people: tuple[list[str] | None, list[str] | None, list[str] | None],
    notice_rate: str,
    first_dealer: str | None,
    seconds_a_turn: float,
    longer_than: Sequence[str],
    hands: str | None,
    matches: str | None,
    precision: str | None,
    seed: str,
    quiet: bool,
    *,
    lineups: list[str] | None = None,
) -> "LengthQuestion":
    """Make a question of the options of `length`: of matches, unless hands are asked for."""
    if hands is None and matches is None:
        matches = DEFAULT_MATCHES if precision is None else "1M"
    asked = ask(
        "length", named, names, players, people, notice_rate, first_dealer, hands, matches, precision, seed, quiet,
        lineups=lineups,
    )  # fmt: skip
    from dataclasses import fields

    from reports.lengths import LengthQuestion

    common = {field.name: getattr(asked, field.name) for field in fields(asked)}
    return LengthQuestion(**common, seconds_a_turn=seconds_a_turn, bounds=tuple(longer_than))


def _check_players(named: "NamedRules", name: str, players: int, matches: bool) -> None:
    """Raise RulesError if so many cannot play; told with the name where several rule sets are compared."""
    from sim.rules import RulesError

    try:
        named.rules.check_players(players, match=matches)
    except RulesError as error:
        raise RulesError(f"{name}: {error}" if name else str(error)) from None


@dataclass(frozen=True)
class Part:
    """A run of a question: what it is called, and how its plan and its stop rule are made."""

    name: str
    plan: "Callable[[], Plan]"
    rule: "Callable[[Plan], Callable[[Tally], str] | None]" = lambda plan: None
    question: "Asked | None" = None
    """What is asked in this run alone, to show a hand of it; None: the question as a whole shows it."""


@dataclass(frozen=True)
class Played:
    """A part when it has been played: its run, the stop rule that looked at it, and whether the folder held it all."""

    run: "Run"
    rule: "Callable[[Tally], str] | None"
    taken: bool


COMPARED = ("random", "first-legal", "hoard-eights", "dump-faces", "dump-high", "suit-counting", "sensible")
"""Strategies that are compared unless others are named: the built-in ones that think quickly."""


def ask_comparison(
    named: Sequence["NamedRules"],
    names: Sequence[str],
    players: Sequence[int],
    strategies: list[str] | None,
    field: str | None,
    together: bool,
    errors: tuple[list[str] | None, list[str] | None],
    notice_rate: str,
    hands: str | None,
    matches: str | None,
    precision: str | None,
    sprt: str | None,
    seed: str,
    quiet: bool,
) -> "Comparison":
    """Make a question of the options of `compare`. Raises what is wrong with them."""
    wanted = parse_precision(precision)
    difference = None if sprt is None else parse_size("--sprt", sprt)
    count, of_matches = parse_amount(hands, matches, wanted or difference)
    for number in players:
        _check_players(named[0], "", number, of_matches)
    from strategies.registry import find

    asked_for = [find(name).spec for name in strategies or COMPARED]
    of_all = None if field is None else find(field).spec
    if of_all is not None and of_all not in asked_for:
        asked_for.append(of_all)
    # Errors belong to a strategy here: once for all of them, or once for each.
    people = parse_lineup(asked_for, *errors, len(asked_for))
    people = people * len(asked_for) if len(people) == 1 else people
    if together and of_all is not None:
        raise CommandError("--together and --field are given; allowed: one of them")
    from reports.answers import words_of
    from reports.comparing import Comparison
    from strategies.registry import Player

    labels = [
        Player(find(e["strategy"]), e.get("forget_last_card", 0.0), e.get("illegal_rate", 0.0)).label for e in people
    ]
    return Comparison(
        rules=tuple(named),
        names=tuple(names),
        players=tuple(players),
        notice_rate=parse_chance("--notice-rate", notice_rate),
        seed=parse_seed(seed, quiet),
        count=count,
        matches=of_matches,
        precision=wanted,
        version=version(),
        asked=words_of(named),
        strategies=people,
        labels=tuple(labels),
        mode="together" if together else "round-robin" if of_all is None else "field",
        field=None if of_all is None else asked_for.index(of_all),
        sprt=difference,
    )


def ask_skill(
    named: Sequence["NamedRules"],
    names: Sequence[str],
    players: Sequence[int],
    strategies: list[str] | None,
    errors: tuple[list[str] | None, list[str] | None],
    notice_rate: str,
    by: Any,
    hands: str | None,
    seed: str,
    quiet: bool,
) -> "SkillQuestion":
    """Make a question of the options of `skill`. Raises what is wrong with them."""
    count, _ = parse_amount(hands, None, None)
    for rule_set, name in zip(named, names, strict=True):
        for number in players:
            _check_players(rule_set, name if len(names) > 1 else "", number, matches=False)
    from reports.answers import words_of
    from reports.skilled import PLAYERS, SkillQuestion

    people = parse_lineup(list(strategies or PLAYERS), *errors, 2)
    people = people * 2 if len(people) == 1 else people
    return SkillQuestion(
        rules=tuple(named),
        names=tuple(names),
        players=tuple(players),
        notice_rate=parse_chance("--notice-rate", notice_rate),
        seed=parse_seed(seed, quiet),
        count=count,
        matches=False,
        precision=None,
        version=version(),
        asked=words_of(named),
        strategies=people,
        labels=tuple(crew_of(people, 1.0)[1]),
        by=by,
    )


def parts_of_skill(question: "SkillQuestion") -> list[Part]:
    """Return the parts of a question about skill: its steps."""
    return [
        Part(step.name, partial(question.plan, step, lambda lineup: crew_of(lineup, question.notice_rate)))
        for step in question.steps()
    ]


def parts_of_comparison(question: "Comparison") -> list[Part]:
    """Return the parts of a comparison of strategies: one for each number of players."""
    from reports.comparing import stop_rule

    def planned(players: int) -> "Plan":
        return question.plan(players, lambda lineup: crew_of(lineup, question.notice_rate))

    return [
        Part(f"{players} players", partial(planned, players), partial(stop_rule, question))
        for players in question.players
    ]


def check_payoffs_name(path: Path | None, question: "Comparison") -> None:
    """Refuse a pay-off file of a form that is not written, and what makes more than one matrix or none."""
    if path is None:
        return
    if path.suffix not in (".csv", ".npz"):
        raise CommandError(f"--payoffs is {str(path)!r}; allowed: a file whose name ends in .csv or .npz")
    if question.mode != "round-robin" or len(question.players) > 1:
        raise CommandError("--payoffs is of a round robin for one number of players; leave out --field and --together")


def play(
    question: "Asked",
    parts: Sequence[Part],
    folder: "Folder | None",
    threads: int,
    quiet: bool,
    rows: "Rows | None" = None,
) -> list[Played]:
    """Play the parts of a question one after the other; ends early when interrupted.

    Raises StrategyFault (its text ends with the command that shows the fault), SavingError.
    """
    from sim.batch import compile_engine, is_compiled, run
    from sim.trace import StrategyFault

    announce_compiling("matches" if question.matches else "hands", is_compiled(question.matches), quiet)
    # The compiler would swallow an interruption or leave it half done, so it is heard afterwards.
    with interruptible() as asked_to_stop:
        plans = [part.plan() for part in parts]
        compile_engine(plans[0])
        if asked_to_stop():
            note(f"{NAME}: interrupted")
            raise typer.Exit(130)
    finished: list[Played] = []
    with interruptible() as asked_to_stop, progress_bar(quiet) as bar:
        for part, plan in zip(parts, plans, strict=True):
            # Rows are of whole runs only, so whoever wants them has all games played again.
            before = folder.load(part.name, plan) if folder is not None and rows is None else None
            held = 0 if before is None else int(before.tally.blocks)  # the run counts on in it
            told = bar(f"{part.name}: " if len(plans) > 1 else "", plan, before)

            def progress(count: int, told: Callable[[int], None] = told) -> None:
                told(count)
                if asked_to_stop():
                    raise KeyboardInterrupt

            def save(state: "Run", name: str = part.name) -> None:
                if folder is not None:
                    folder.save(name, state)

            rule = part.rule(plan)
            try:
                done = run(plan, threads=threads, enough=rule, progress=progress, rows=rows, resumed=before, save=save)
            except StrategyFault as fault:
                shown_by = (part.question or question).trace_command(
                    fault.scenario, plan.players, fault.game, fault.rotation
                )
                raise StrategyFault(f"{fault}; {shown_by}") from None
            if folder is not None:
                folder.save(part.name, done, now=True)
            taken = folder is not None and held > 0 and held == int(done.tally.blocks)
            finished.append(Played(done, rule, taken))
            if done.stopped == "interrupted":
                break
            if taken and folder is not None and not quiet:
                heading = f"{part.name}: " if len(plans) > 1 else ""
                note(f"{heading}already finished: taken from {folder.path}")
    return finished


def parts_of(question: "Question") -> list[Part]:
    """Return the parts of a question about rules: one for each number of players and line-up."""

    def planned(own: "Question") -> "Plan":
        seats = own.seats()
        return own.plan(*crew_of(seats, own.notice_rate), blind=is_blind_lineup(seats))

    rule = stop_rule_of(question)
    return [Part(name, partial(planned, own), partial(rule, own), own) for name, own in question.parts()]


def stop_rule_of(question: "Question") -> "Callable[[Any, Plan], Callable[[Tally], str] | None]":
    """Return what makes the stop rule of a part of a question about rules."""
    from reports import answers, lengths

    return lengths.stop_rule if isinstance(question, lengths.LengthQuestion) else answers.stop_rule


def announce_compiling(what: str, compiled: bool, quiet: bool) -> None:
    """Say why nothing happens for a while, if that is going to be so; `what`: what is to be played."""
    if not compiled and not quiet:
        note(f"compiling the engine for {what}, once on this machine, about 20 seconds…")


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
            each = plan.rotations * plan.replays * len(plan.scenarios)
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


def tell_story(run: "Run", *, threads: int, quiet: bool) -> "Story":
    """Play the first hands of a run again and follow how they went. Raises StrategyFault."""
    from sim.story import MOST_HANDS, MOST_MATCHES, tell

    plan = replace(run.plan, blocks=int(run.tally.blocks))
    if not quiet and sys.stderr.isatty():
        what = f"{MOST_MATCHES:,} matches" if plan.matches else f"{MOST_HANDS:,} hands"
        note(f"following how the first {what} went, turn by turn ...")
    return tell(plan, threads=threads)


def resume_command(words: Sequence[str], seed: int) -> str:
    """Return the same command; a seed that was drawn is put in place of `random`."""
    again = [str(seed) if before == "--seed" else word for before, word in zip(["", *words], words, strict=False)]
    return shlex.join([NAME, *(f"--seed={seed}" if word == "--seed=random" else word for word in again)])


def finish(context: typer.Context, question: "Asked", runs: "Sequence[Run]", out: Path | None, quiet: bool) -> None:
    """Say where the results are, or, with an exit code of 130, what an interrupted run leaves behind."""
    sys.stdout.flush()
    if runs[-1].stopped == "interrupted":
        nothing = "" if any(int(run.tally.blocks) for run in runs) else " before anything was finished"
        if out is None:
            note(f"{NAME}: interrupted{nothing}; nothing is kept, as --out DIR was not given")
        else:
            note(f"{NAME}: interrupted{nothing}; what is finished is kept in {out}. To go on:")
            note(f"  {resume_command(context.obj, question.seed)}")
        raise typer.Exit(130)
    if out is not None and not quiet:
        note(f"written: {out / 'report.html'}, report.md, tables (.csv and .parquet), figures")


def open_folder(out: Path | None, question: "Asked") -> "Folder | None":
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


def open_rows(path: Path | None, question: "Question") -> Any:
    """Open the file of rows, if one is asked for. Raises RowsError."""
    if path is None:
        return nullcontext()
    from sim.batch import row_columns
    from sim.rows import ParquetRows

    about = {"command": question.command(), "version": question.version}
    return ParquetRows(path, row_columns(question.players[0], question.matches), about)
