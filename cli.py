"""The door: `ochos-sim VERB` reads options, asks one question and prints the answer.

Data goes to stdout; progress, notes and errors to stderr. Exit codes: 0 done, 1 a run that failed, 2 a mistake in the
command, 130 interrupted. Whatever a user can get wrong is one line that begins with `ochos-sim: `; a traceback is a
defect of this program.

Only typer and the standard library are imported up here, so that help comes at once; each verb imports what it needs.
"""

import difflib
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NoReturn

import typer
from typer.core import TyperGroup
from typer.exceptions import TyperException

from door.answering import answer, as_json, in_words, show_answer, write
from door.batches import answer_again, answer_all, folders_in, together, write_together
from door.options import (
    AIM,
    DEFAULT_RULES,
    DEFAULT_SEED,
    OUTPUT,
    PLAY,
    TABLE,
    FirstDealerOption,
    ForgetOption,
    Format,
    FormatOption,
    HandsOption,
    IllegalOption,
    LineupOption,
    MatchesOption,
    MeasureOption,
    NoticeOption,
    OutOption,
    PlayersOption,
    PrecisionOption,
    QuietOption,
    RulesOption,
    SeedOption,
    SetOption,
    SeveralPlayersOption,
    SeveralRulesOption,
    StrategyOption,
    ThreadsOption,
    VaryOption,
)
from door.playing import (
    NAME,
    announce_compiling,
    ask,
    ask_comparison,
    ask_length,
    ask_skill,
    check_payoffs_name,
    check_rows_name,
    finish,
    open_folder,
    open_rows,
    version,
)
from door.printing import (
    note,
    show,
    show_csv,
    show_events,
    show_json,
    show_records,
    show_words,
)
from door.words import (
    CommandError,
    crew_of,
    note_no_call,
    parse_chance,
    parse_count,
    parse_dealer,
    parse_lineup,
    parse_one_number,
    parse_one_rule_set,
    parse_players,
    parse_seed,
    parse_size,
    parse_threads,
    parse_whole,
    read_deck,
    rule_sets,
)

if TYPE_CHECKING:
    from sim.rules import NamedRules

ROOMS = ("cli", "door", "sim", "strategies", "reports")
VERB_OF = {"--vary": "fairness", "--per-game": "simulate"}
"""Options that are looked for at other verbs too."""


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
            note(f"{NAME}: interrupted")
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
    note(f"{NAME}: {message[0].lower()}{message[1:]}; see {where} --help")
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
    note(f"{NAME}: {text}")
    sys.exit(2 if isinstance(error, ValueError) else 1)


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
    seed: SeedOption = DEFAULT_SEED,
    threads: ThreadsOption = None,
    form: FormatOption = Format.TABLE,
    out: OutOption = None,
    measure: MeasureOption = None,
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
        measures=measure or (),
    )  # fmt: skip
    count = parse_threads(threads)
    folder = open_folder(out, question)
    with open_rows(per_game, question) as rows:
        answered = answer(question, folder, count, quiet, rows)
    if out is not None:
        write(answered, out)
    show_answer(answered, form)
    if per_game is not None and not quiet:
        note(f"a row for each {'match' if question.matches else 'hand'}: {per_game}")
    finish(context, question, answered.runs, out, quiet)


@app.command(
    epilog="Examples: [bold]ochos-sim fairness --rules ochos-locos --rules crazy-eights[/bold] · "
    "[bold]ochos-sim fairness --vary draw.limit=1,3,until-playable --vary no-eight-on-eight --players 2-5[/bold]"
)
def fairness(
    context: typer.Context,
    rules: SeveralRulesOption = None,
    set_: SetOption = None,
    vary: VaryOption = None,
    players: SeveralPlayersOption = "4",
    strategy: StrategyOption = None,
    lineup: LineupOption = None,
    forget_last_card: ForgetOption = None,
    illegal_rate: IllegalOption = None,
    notice_rate: NoticeOption = "1",
    first_dealer: FirstDealerOption = None,
    hands: HandsOption = None,
    matches: MatchesOption = None,
    precision: PrecisionOption = None,
    confirm: Annotated[
        bool,
        typer.Option(
            "--confirm/--no-confirm",
            rich_help_panel=PLAY,
            help="Play the winner and its closest rival again at a fresh seed.",
        ),
    ] = True,
    measure: MeasureOption = None,
    seed: SeedOption = DEFAULT_SEED,
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
        lineups=lineup, confirmed=confirm, measures=measure or (),
    )  # fmt: skip
    if len(names) == 1 and not quiet:
        note("one rule set; to compare it, add --vary CHANGE,CHANGE or another --rules")
    count = parse_threads(threads)
    answered = answer(question, open_folder(out, question), count, quiet)
    if out is not None:
        write(answered, out)
    show_answer(answered, form)
    finish(context, question, answered.runs, out, quiet)


@app.command(
    epilog="Examples: [bold]ochos-sim length --players 2-5[/bold] · "
    "[bold]ochos-sim length --vary match.target=100,200 --longer-than 60 --seconds-a-turn 8[/bold]"
)
def length(
    context: typer.Context,
    rules: SeveralRulesOption = None,
    set_: SetOption = None,
    vary: VaryOption = None,
    players: SeveralPlayersOption = "4",
    strategy: StrategyOption = None,
    lineup: LineupOption = None,
    forget_last_card: ForgetOption = None,
    illegal_rate: IllegalOption = None,
    notice_rate: NoticeOption = "1",
    first_dealer: FirstDealerOption = None,
    seconds_a_turn: Annotated[
        float,
        typer.Option("--seconds-a-turn", metavar="S", rich_help_panel=PLAY, help="How long a turn takes at the table."),
    ] = 10.0,
    longer_than: Annotated[
        list[str] | None,
        typer.Option(
            "--longer-than",
            metavar="X",
            rich_help_panel=OUTPUT,
            help="How often is it longer? 60 (minutes), 200turns or 12hands; once for each bound.",
        ),
    ] = None,
    hands: Annotated[
        str | None,
        typer.Option("--hands", metavar="N", rich_help_panel=PLAY, help="Single hands to play, instead of matches."),
    ] = None,
    matches: Annotated[
        str | None,
        typer.Option(
            "--matches",
            metavar="N",
            rich_help_panel=PLAY,
            help="Matches to play under each rule set. [dim]\\[default: 10k][/dim]",
        ),
    ] = None,
    precision: Annotated[
        str | None,
        typer.Option(
            "--precision",
            metavar="X",
            rich_help_panel=PLAY,
            help="Stop when every mean length is known to ± X of itself, as 1%; N is then the upper limit.",
        ),
    ] = None,
    seed: SeedOption = DEFAULT_SEED,
    threads: ThreadsOption = None,
    form: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
) -> None:
    """Tell how long a match or hand is: hands, turns and minutes, most of them, and who leads and wins."""
    named, names = rule_sets(rules or [DEFAULT_RULES], set_ or [], vary or [], quiet)
    question = ask_length(
        named, names, parse_players(players), (strategy, forget_last_card, illegal_rate), notice_rate, first_dealer,
        seconds_a_turn, longer_than or (), hands, matches, precision, seed, quiet, lineups=lineup,
    )  # fmt: skip
    answered = answer(question, open_folder(out, question), parse_threads(threads), quiet)
    if out is not None:
        write(answered, out)
    show_answer(answered, form)
    finish(context, question, answered.runs, out, quiet)


@app.command(
    epilog="Examples: [bold]ochos-sim compare --strategy hoard-eights --strategy dump-faces --players 2,4[/bold] · "
    "[bold]ochos-sim compare --field random --precision 0.002[/bold]"
)
def compare(
    context: typer.Context,
    rules: RulesOption = None,
    set_: SetOption = None,
    players: SeveralPlayersOption = "2",
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            metavar="NAME|FILE.py[:NAME]",
            rich_help_panel=TABLE,
            help="Once for each strategy: see `strategies`. [dim]\\[default: the quick built-in ones][/dim]",
        ),
    ] = None,
    field: Annotated[
        str | None,
        typer.Option(
            "--field",
            metavar="NAME",
            rich_help_panel=TABLE,
            help="All other players play this one. [dim]\\[default: each strategy in turn][/dim]",
        ),
    ] = None,
    together: Annotated[
        bool, typer.Option("--together", rich_help_panel=TABLE, help="All strategies at one table, in all orders.")
    ] = False,
    forget_last_card: ForgetOption = None,
    illegal_rate: IllegalOption = None,
    notice_rate: NoticeOption = "1",
    hands: HandsOption = None,
    matches: MatchesOption = None,
    precision: PrecisionOption = None,
    sprt: Annotated[
        str | None,
        typer.Option(
            "--sprt",
            metavar="D",
            rich_help_panel=PLAY,
            help="Stop as soon as it is sure whether one is better by D, as 0.005, or not.",
        ),
    ] = None,
    seed: SeedOption = DEFAULT_SEED,
    threads: ThreadsOption = None,
    form: FormatOption = Format.TABLE,
    out: OutOption = None,
    payoffs: Annotated[
        Path | None,
        typer.Option(
            "--payoffs",
            metavar="FILE.csv|.npz",
            rich_help_panel=OUTPUT,
            help="Write the pay-off matrix, which egttools and nashpy read.",
        ),
    ] = None,
    self_test: Annotated[
        bool,
        typer.Option(
            "--self-test",
            rich_help_panel=OUTPUT,
            help="Compare strategies with copies of themselves, which may gain nothing.",
        ),
    ] = False,
    quiet: QuietOption = False,
) -> None:
    """Tell which strategy is better, and by how much: the same deals for all, in all seats."""
    spec = parse_one_rule_set("compare", rules)
    named, names = rule_sets([spec], set_ or [], [], quiet)
    if self_test:
        check_itself(named[0], parse_threads(threads))
        return
    question = ask_comparison(
        named, names, parse_players(players), strategy, field, together, (forget_last_card, illegal_rate), notice_rate,
        hands, matches, precision, sprt, seed, quiet,
    )  # fmt: skip
    from reports import compared

    check_payoffs_name(payoffs, question)
    answered = answer(question, open_folder(out, question), parse_threads(threads), quiet)
    if out is not None:
        write(answered, out)
    if answered.whole and payoffs is not None:
        compared.export_payoffs(question, answered.findings[0], payoffs)
    show_answer(answered, form)
    if answered.whole and payoffs is not None and not quiet:
        note(f"the pay-off matrix: {payoffs}")
    finish(context, question, answered.runs, out, quiet)


class Counted(StrEnum):
    """What a hand counts as, when it is told who is ahead."""

    WINS = "wins"
    POINTS = "points"


@app.command(
    epilog="Examples: [bold]ochos-sim skill --strategy suit-counting --strategy random[/bold] · "
    "[bold]ochos-sim skill --vary draw-until-playable,actions --players 2,4[/bold]"
)
def skill(
    context: typer.Context,
    rules: SeveralRulesOption = None,
    set_: SetOption = None,
    vary: VaryOption = None,
    players: SeveralPlayersOption = "2",
    strategy: Annotated[
        list[str] | None,
        typer.Option(
            "--strategy",
            metavar="NAME|FILE.py[:NAME]",
            rich_help_panel=TABLE,
            help="Two: of one player, and of all others. [dim]\\[default: sensible, random][/dim]",
        ),
    ] = None,
    forget_last_card: ForgetOption = None,
    illegal_rate: IllegalOption = None,
    notice_rate: NoticeOption = "1",
    by: Annotated[
        Counted, typer.Option("--by", rich_help_panel=PLAY, help="What rule sets are ranked by: wins or points.")
    ] = Counted.WINS,
    hands: HandsOption = None,
    seed: SeedOption = DEFAULT_SEED,
    threads: ThreadsOption = None,
    form: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
) -> None:
    """Tell luck from skill: hands until the better player is ahead, and what makes up the result of a hand."""
    named, names = rule_sets(rules or [DEFAULT_RULES], set_ or [], vary or [], quiet)
    question = ask_skill(
        named, names, parse_players(players), strategy, (forget_last_card, illegal_rate), notice_rate, by.value, hands,
        seed, quiet,
    )  # fmt: skip
    answered = answer(question, open_folder(out, question), parse_threads(threads), quiet)
    if out is not None:
        write(answered, out)
    show_answer(answered, form)
    finish(context, question, answered.runs, out, quiet)


def check_itself(named: "NamedRules", threads: int) -> None:
    """Show the checks of `compare --self-test`; one that fails ends the command with 1."""
    from reports.compare_tables import self_test_table
    from reports.comparing import self_test

    checks = self_test(
        named,
        lambda lineup: crew_of(lineup, 1.0),
        version(),
        fixed={"strategy": "first-legal"},
        by_chance={"strategy": "random"},
        threads=threads,
    )
    show(self_test_table(checks))
    if not all(check.passed for check in checks):
        raise typer.Exit(1)


@app.command(epilog="Example: [bold]ochos-sim trace --seed 7 --game 123[/bold]")
def trace(
    rules: RulesOption = None,
    set_: SetOption = None,
    players: PlayersOption = "4",
    strategy: StrategyOption = None,
    forget_last_card: ForgetOption = None,
    illegal_rate: IllegalOption = None,
    notice_rate: NoticeOption = "1",
    seed: SeedOption = DEFAULT_SEED,
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


@app.command(
    epilog="Examples: [bold]ochos-sim odds --rules crazy-eights --players 3[/bold] · "
    "[bold]ochos-sim odds --format csv > odds.csv[/bold]"
)
def odds(
    rules: RulesOption = None,
    set_: SetOption = None,
    players: PlayersOption = "4",
    hands: Annotated[
        str,
        typer.Option("--hands", metavar="N", rich_help_panel=PLAY, help="Deals to count, as 300000, 300k or 2M."),
    ] = "1M",
    seed: SeedOption = DEFAULT_SEED,
    form: FormatOption = Format.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Tell the odds of the deal and the first turn: exact, and beside that counted in dealt hands."""
    number = parse_one_number(players)
    (named,), _ = rule_sets([parse_one_rule_set("odds", rules)], set_ or [], [], quiet)
    count, seed_number = parse_count("--hands", hands), parse_seed(seed, quiet)
    from reports import odds as exact_odds
    from reports import tables

    named.rules.check_players(number)
    found = exact_odds.odds(named.rules, number, seed=seed_number, hands=count)
    about = {"seed": seed_number, "hands": count}
    if form is Format.JSON:
        show_json({"name": named.title, **exact_odds.odds_answer(named.rules, number, found, **about)})
    elif form is Format.CSV:
        show_csv(exact_odds.odds_frame(found, named.title, number, **about))
    else:
        records = tables.odds_records([one.as_dict() for one in found if one.name != exact_odds.DISTRIBUTION])
        note = tables.odds_note(named.title, number, version=version(), **about)
        show_records(records, form)
        print(f"\n{note}")


@app.command(
    epilog="Examples: [bold]ochos-sim plan --margin 0.001[/bold] · "
    "[bold]ochos-sim plan --difference 0.002 --rules ochos-locos --rules ochos-locos+draw-three[/bold]"
)
def plan(
    margin: Annotated[
        str | None,
        typer.Option("--margin", metavar="X", rich_help_panel=AIM, help="Know the measure to ± X, as 0.001 or 0.1%."),
    ] = None,
    difference: Annotated[
        str | None,
        typer.Option(
            "--difference",
            metavar="X",
            rich_help_panel=AIM,
            help="Find a difference of X between two rule sets; with one, of a win share from an even one.",
        ),
    ] = None,
    measure: Annotated[
        str,
        typer.Option(
            "--measure",
            metavar="NAME",
            rich_help_panel=AIM,
            help="spread, win_share, turns_per_hand or any other measure of the results.",
        ),
    ] = "win_share",
    power: Annotated[
        str, typer.Option("--power", metavar="P", rich_help_panel=AIM, help="Chance to find the difference.")
    ] = "0.8",
    rules: SeveralRulesOption = None,
    set_: SetOption = None,
    players: PlayersOption = "4",
    strategy: StrategyOption = None,
    forget_last_card: ForgetOption = None,
    illegal_rate: IllegalOption = None,
    notice_rate: NoticeOption = "1",
    matches: Annotated[bool, typer.Option("--matches", rich_help_panel=PLAY, help="Matches, not hands.")] = False,
    pilot: Annotated[
        str, typer.Option("--pilot", metavar="N", rich_help_panel=PLAY, help="Hands or matches of the trial run.")
    ] = "20k",
    seed: SeedOption = DEFAULT_SEED,
    threads: ThreadsOption = None,
    form: FormatOption = Format.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Tell how many hands a margin or a difference takes and how long that is on this machine, by a short trial run."""
    if form not in (Format.TABLE, Format.JSON):
        raise CommandError(f"--format is {form.value!r}; a plan is told (table) or JSON (json)")
    if (margin is None) == (difference is None):
        raise CommandError("a plan has one aim; give --margin X or --difference X")
    number = parse_one_number(players)
    specs = rules or [DEFAULT_RULES]
    named, names = rule_sets(specs, set_ or [], [], quiet)
    option, text = ("--margin", margin) if margin is not None else ("--difference", difference)
    size = parse_size(option, text or "")
    chance = parse_chance("--power", power) if difference is not None else None
    count, workers = parse_count("--pilot", pilot), parse_threads(threads)
    trial = {"matches": pilot} if matches else {"hands": pilot}
    question = ask(
        "simulate", named, names, [number], (strategy, forget_last_card, illegal_rate), notice_rate, None,
        trial.get("hands"), trial.get("matches"), None, seed, quiet,
    )  # fmt: skip
    from reports import planning, tables
    from sim.batch import is_compiled

    aim = planning.Aim("margin" if margin is not None else "difference", size, measure, power=chance)
    announce_compiling("matches" if matches else "hands", is_compiled(matches), quiet)
    if not quiet:
        note(f"a trial run of {count:,} {'matches' if matches else 'hands'}…")
    crew, labels = crew_of(question.seats(), question.notice_rate)
    answer = {"rules": names, **planning.plan(aim, question.plan(crew, labels), threads=workers)}
    answer |= {"seed": question.seed, "version": question.version}
    if form is Format.JSON:
        show_json(answer)
    else:
        show(tables.plan_table(answer))


@app.command(
    epilog="Examples: [bold]ochos-sim batch examples/which-rule-is-fairer.toml[/bold] · "
    "[bold]ochos-sim batch my-questions.toml --out results/mine[/bold]"
)
def batch(
    context: typer.Context,
    file: Annotated[Path, typer.Argument(metavar="FILE.toml", show_default=False)],
    threads: ThreadsOption = None,
    form: FormatOption = Format.TABLE,
    out: OutOption = None,
    quiet: QuietOption = False,
) -> None:
    """Answer all questions of a file, one after the other, each into a folder of its own; goes on where it stopped."""
    from reports.experiment import read_batch

    read = read_batch(file)
    folder = out or (Path(read.out) if read.out else None)
    if folder is None:
        raise CommandError(f'{file} names no folder; allowed: out = "results/…" at its top, or --out DIR')
    done = []
    for number, (name, answered) in enumerate(answer_all(read, folder, parse_threads(threads), quiet)):
        if not answered.whole:
            finish(context, answered.question, answered.runs, folder, quiet)
        done.append((name, answered))
        if form in (Format.TABLE, Format.MD):
            title = read.experiments[number].title or name or read.title or file.stem
            show_words(title, *in_words(answered), form)
        if not quiet:
            note(f"written: {folder / name / 'report.html'}, report.md, tables (.csv and .parquet), figures")
    if form is Format.JSON:
        show_json([{"experiment": name, **as_json(answered)} for name, answered in done])
    elif form is Format.CSV:
        show_csv(together(done))


@app.command(epilog="Example: [bold]ochos-sim report results/demo[/bold]")
def report(
    folder: Annotated[Path, typer.Argument(metavar="DIR", show_default=False)],
    threads: ThreadsOption = None,
    form: FormatOption = Format.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Make tables, figures and pages of a results folder again, from what was counted, and show the answer."""
    found, count = folders_in(folder), parse_threads(threads)
    answers = []
    for one in found:
        answered = answer_again(one, count)
        write(answered, one)
        answers.append((one.name, answered))
        if form is not Format.JSON or len(found) == 1:
            show_answer(answered, form)
        if not quiet:
            note(f"written: {one / 'report.html'}, report.md, tables (.csv and .parquet), figures")
    if len(found) > 1:
        write_together(answers, folder)
        if form is Format.JSON:
            show_json([{"experiment": name, **as_json(answered)} for name, answered in answers])


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


strategies = typer.Typer(help="The ways to play: list, begin one of your own, check it.", invoke_without_command=True)
app.add_typer(strategies, name="strategies")


@strategies.callback()
def list_strategies(context: typer.Context, form: FormatOption = Format.TABLE) -> None:
    """List the ways to play that there are, with the idea of each, its parameters and the rule sheet that gives it."""
    if context.invoked_subcommand is not None:
        return
    from strategies.loading import installed
    from strategies.registry import all_strategies

    show_records(
        [
            {"name": s.name, "idea": s.idea, "parameters": s.options.replace(",", ", "), "sheet": s.sheet}
            for s in all_strategies().values()
        ],
        form,
    )
    for line in installed()[1]:
        note(line)


@strategies.command("new", epilog="Example: [bold]ochos-sim strategies new my-bot[/bold]")
def new_strategy(name: Annotated[str, typer.Argument(metavar="NAME", show_default=False)]) -> None:
    """Write a file with a working strategy to change, and its test, into the current directory."""
    from strategies.scaffold import write_new

    file, test = write_new(name, Path())
    print(f"written: {file} and {test}. To try and to check it:")
    print(f"  ochos-sim simulate --players 2 --strategy {file} --strategy random")
    print(f"  ochos-sim strategies check {file}")


@strategies.command("check", epilog="Example: [bold]ochos-sim strategies check my_bot.py[/bold]")
def check_strategy(
    spec: Annotated[str, typer.Argument(metavar="NAME|FILE.py[:NAME]", show_default=False)],
    form: FormatOption = Format.TABLE,
    quiet: QuietOption = False,
) -> None:
    """Play a strategy against every option that asks it something; a line for each thing that it must not do."""
    from strategies import checking

    if not quiet:
        note("playing it under many rules, up to 20 seconds…")
    checked = checking.check_strategy(spec)
    if form is Format.TABLE:
        for finding in checked.findings:
            print(finding.line)
        names = ", ".join(checked.strategies)
        found = f"{len(checked.findings)} found" if checked.findings else "nothing found"
        print(f"{names}: {found} in {checked.hands:,} hands and {checked.answers:,} answers")
    else:
        show_records([asdict(finding) for finding in checked.findings], form)
    if checked.findings:
        raise typer.Exit(1)


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
        note("about 4 minutes for everything; --part measures less")
    rows = benchmark.bench(
        lambda names: crew_of([{"strategy": name} for name in names], 1.0)[0],
        strategies=strategy or benchmark.STRATEGIES,
        parts=part,
        floor=floor,
        progress=(lambda doing: None) if quiet else note,
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
    note(benchmark.machine().line)
