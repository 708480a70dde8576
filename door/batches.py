"""Answers again from what was saved, and many questions from one file: what `report` and `batch` do."""

from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from door.answering import Answered, answer, find, find_rules, results, write
from door.playing import (
    Part,
    Played,
    ask,
    ask_comparison,
    ask_length,
    ask_skill,
    open_folder,
    stop_rule_of,
    tell_story,
    version,
)
from door.printing import note
from door.words import CommandError, crew_of, parse_one_number, parse_one_rule_set, parse_players, rule_sets

if TYPE_CHECKING:
    import pandas as pd

    from reports.answers import Asked, Question
    from reports.experiment import Asking, Batch
    from sim.batch import Plan
    from sim.saving import Folder


BATCH = "experiments.txt"
"""Which folders within a batch's own hold its experiments, a line each, in their order."""


# --- Saved results -------------------------------------------------------------------------------------------------


def folders_in(path: Path) -> list[Path]:
    """Return the results folders at a path: itself, or those of a batch within it. Raises CommandError."""
    from sim.saving import EXPERIMENT

    if not path.is_dir():
        raise CommandError(f"{path}: no such folder; allowed: a results folder, as --out made it")
    if (path / BATCH).exists() and not (path / EXPERIMENT).exists():
        return [path / name for name in (path / BATCH).read_text("utf-8").split()]
    return [path]


def answer_again(path: Path, threads: int) -> Answered:
    """Answer the question of a results folder from its counts. Raises ExperimentError, FolderError and others.

    What compares strategies plays some of the hands again, for what is not in the counts.
    """
    from reports.answers import Question
    from reports.experiment import ExperimentError, nobody, question_in
    from sim.saving import Folder, FolderError
    from strategies.registry import StrategyError

    question = question_in(path)
    try:
        folder = Folder.open(path, question.experiment())
    except FolderError as error:
        if question.version == version():
            raise
        raise ExperimentError(
            f"{path} was saved by version {question.version}, in another form than that of {version()}: play it again "
            "in a new folder"
        ) from error

    def player(parts: Sequence[Part]) -> list[Played]:
        return [_taken(folder, part, question) for part in parts]

    if not isinstance(question, Question):
        _check_people(path, question.everybody)
        return find(question, player, threads)
    try:
        _check_people(path, question.everybody)
    except (ExperimentError, StrategyError) as error:
        note(f"{error}: how the hands went is left out")
        people, teller = nobody, None
    else:
        people = partial(crew_of, notice_rate=question.notice_rate)
        teller = partial(tell_story, threads=threads, quiet=True)

    def planned(own: "Question") -> "Plan":
        return own.plan(*people(own.seats()))

    rule = stop_rule_of(question)
    parts = [Part(name, partial(planned, own), partial(rule, own), own) for name, own in question.parts()]
    return find_rules(question, parts, player, teller)


def _taken(folder: "Folder", part: Part, question: "Asked") -> Played:
    """Return a part as it was played, whole. Raises ExperimentError if it was not."""
    from reports.experiment import ExperimentError

    plan = part.plan()
    rule = part.rule(plan)
    run = folder.load(part.name, plan)
    blocks = 0 if run is None else int(run.tally.blocks)
    why = rule(run.tally) if run is not None and rule is not None and blocks else ""
    if run is None or (blocks < plan.blocks and not why):
        raise ExperimentError(
            f"{folder.path}: {part.name}: {blocks:,} of {plan.blocks:,} deals are played; to go on: "
            f"{question.command()} --out {folder.path}"
        )
    run.stopped = why or run.stopped
    return Played(run, rule, True)


def _check_people(path: Path, people: Sequence[Mapping[str, Any]]) -> None:
    """Refuse strategies that are no longer what they were, as some hands are played again.

    Raises ExperimentError, and StrategyError for those that are no longer there.
    """
    from reports.experiment import ExperimentError
    from strategies.registry import find as find_strategy

    for entry in people:
        if find_strategy(entry["strategy"]).source != entry.get("source", ""):
            raise ExperimentError(f"{path}: {entry['strategy']} is no longer what was played; play it again")


# --- Batch files ---------------------------------------------------------------------------------------------------


def questions_of(batch: "Batch") -> list["Asked"]:
    """Return the questions of a batch file. Raises ExperimentError with the line of the first mistake."""
    questions = []
    for number, asking in enumerate(batch.experiments):
        try:
            questions.append(_question_of(asking))
        except ValueError as error:
            if type(error).__module__.partition(".")[0] not in ("door", "sim", "strategies", "reports"):
                raise
            raise batch.mistake(number, error) from error
    return questions


def _question_of(asking: "Asking") -> "Asked":
    rules, sets, vary = _words(asking.rules), _words(asking.set_), _words(asking.vary)
    strategies = _words(asking.strategies) or None
    lineups = [text if isinstance(text, str) else ",".join(text) for text in asking.lineups] or None
    forget, illegal = _rates(asking.forget_last_card), _rates(asking.illegal_rate)
    amount = (_text(asking.hands), _text(asking.matches), _text(asking.precision))
    notice, seed = str(asking.notice_rate), str(asking.seed)
    given = asking.players if asking.players != "" else 2 if asking.verb in ("compare", "skill") else 4
    players = ",".join(map(str, given)) if isinstance(given, list) else str(given)
    if asking.verb in ("simulate", "compare"):
        rules = [parse_one_rule_set(asking.verb, rules)]
    named, names = rule_sets(rules, sets, vary, True)
    numbers = [parse_one_number(players)] if asking.verb == "simulate" else parse_players(players)
    if asking.verb == "skill":
        return ask_skill(named, names, numbers, strategies, (forget, illegal), notice, asking.by, amount[0], seed, True)
    if asking.verb == "length":
        return ask_length(
            named, names, numbers, (strategies, forget, illegal), notice, _text(asking.first_dealer),
            asking.seconds_a_turn, _words(asking.longer_than), *amount, seed, True, lineups=lineups,
        )  # fmt: skip
    if asking.verb == "compare":
        return ask_comparison(
            named, names, numbers, strategies, asking.field or None, asking.together, (forget, illegal), notice,
            *amount, _text(asking.sprt), seed, True,
        )  # fmt: skip
    return ask(
        asking.verb, named, names, numbers, (strategies, forget, illegal), notice, _text(asking.first_dealer), *amount,
        seed, True, lineups=lineups, confirmed=asking.confirm and asking.verb == "fairness", measures=asking.measures,
    )  # fmt: skip


def _words(given: "str | list[str]") -> list[str]:
    return [given] if isinstance(given, str) else list(given)


def _rates(given: Any) -> list[str] | None:
    return [str(rate) for rate in (given if isinstance(given, list) else [given])] or None


def _text(given: Any) -> str | None:
    return None if given is None else str(given)


def answer_all(batch: "Batch", out: Path, threads: int, quiet: bool) -> Iterator[tuple[str, Answered]]:
    """Answer the questions of a batch file one after the other, each into its own folder, which it goes on in.

    Gives each answer when it is written, and its name; ends with one that was interrupted. All folders are opened
    before anything is played. Raises ExperimentError, FolderError and what `play` raises.
    """
    from sim.saving import write_whole

    questions = questions_of(batch)
    names = [batch.name(number) for number in range(len(questions))]
    folders = [open_folder(out / name, question) for name, question in zip(names, questions, strict=True)]
    if names != [""]:
        write_whole(out / BATCH, "".join(f"{name}\n" for name in names).encode())
    done: list[tuple[str, Answered]] = []
    for name, question, folder in zip(names, questions, folders, strict=True):
        answered = answer(question, folder, threads, quiet)
        write(answered, out / name)
        done.append((name, answered))
        if answered.whole:
            write_together(done, out)
        yield name, answered
        if not answered.whole:
            return


def write_together(done: Sequence[tuple[str, Answered]], out: Path) -> None:
    """Write the results of several experiments into one table. Raises OSError."""
    from sim.saving import write_whole

    if [name for name, _ in done] == [""]:  # a single one has its table already
        return
    frame = together(done)
    write_whole(out / "results.csv", frame.to_csv(index=False).encode())
    content = BytesIO()
    frame.to_parquet(content, index=False)
    write_whole(out / "results.parquet", content.getvalue())


def together(done: Sequence[tuple[str, Answered]]) -> "pd.DataFrame":
    """Return the results of several experiments in one table, headed by their names."""
    import pandas as pd

    frames = []
    for name, answered in done:
        frame = results(answered)
        frame.insert(0, "experiment", name)
        frames.append(frame)
    return pd.concat(frames, ignore_index=True)
