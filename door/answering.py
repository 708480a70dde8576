"""A question played and answered, as any verb does it that plays: its runs, what was found, files, what is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from door.options import Format
from door.playing import Part, Played, parts_of, parts_of_comparison, play
from door.printing import show, show_csv, show_json

if TYPE_CHECKING:
    from reports.answers import Question
    from reports.comparing import Comparison
    from sim.batch import Plan, Rows, Run
    from sim.saving import Folder

Player = Callable[[Sequence[Part]], Sequence[Played]]
"""Plays parts of a question, or takes them from where they were saved; ends early when interrupted."""


@dataclass(frozen=True)
class Answered:
    """A question with what was found, a finding for each part of which something was played."""

    question: "Question | Comparison"
    findings: Sequence[Any]
    runs: "Sequence[Run]"
    """All that were played, those that confirm something behind the others."""
    taken: Sequence[bool]
    """Of each finding, whether nothing of it was played now."""

    @property
    def whole(self) -> bool:
        """Whether nothing was interrupted."""
        return self.runs[-1].stopped != "interrupted"


def answer_rules(
    question: "Question", folder: "Folder | None", threads: int, quiet: bool, rows: "Rows | None" = None
) -> Answered:
    """Play a question about rules. Raises what `play` raises."""
    return find_rules(question, lambda parts: play(question, parts, folder, threads, quiet, rows))


def find_rules(question: "Question", player: Player) -> Answered:
    """Answer a question about rules by runs; those that confirm its winners follow when the winners are known."""
    from reports.answers import Finding

    parts = parts_of(question)
    played = player(parts)
    findings, taken = [], []
    for (_, own), one in zip(question.parts(), played, strict=False):  # fewer, if interrupted
        if int(one.run.tally.blocks):
            findings.append(Finding.of(own, one.run))
            taken.append(one.taken)
    answered = Answered(question, findings, [one.run for one in played], taken)
    if not answered.whole:
        return answered
    again: list[Part] = []
    to_confirm: list[int] = []
    for at, (part, finding) in enumerate(zip(parts, findings, strict=True)):
        if (more := question.again(finding)) is not None:
            asked, plan = more
            again.append(Part(f"{part.name}, confirmed", partial(_same, plan), question=asked))
            to_confirm.append(at)
    if not again:
        return answered
    confirmed = player(again)
    for at, one in zip(to_confirm, confirmed, strict=False):
        if one.run.stopped != "interrupted":
            findings[at] = findings[at].confirmed_by(one.run)
    return Answered(question, findings, [*answered.runs, *(one.run for one in confirmed)], taken)


def _same(plan: "Plan") -> "Plan":
    return plan


def answer_comparison(question: "Comparison", folder: "Folder | None", threads: int, quiet: bool) -> Answered:
    """Play a question about strategies. Raises what `play` raises."""
    return find_comparison(question, lambda parts: play(question, parts, folder, threads, quiet))


def find_comparison(question: "Comparison", player: Player) -> Answered:
    """Answer a question about strategies by runs."""
    from reports.comparing import Finding

    played = player(parts_of_comparison(question))
    some = [one for one in played if int(one.run.tally.blocks)]
    findings = [Finding.of(question, one.run, one.rule) for one in some]
    return Answered(question, findings, [one.run for one in played], [one.taken for one in some])


def write(answered: Answered, out: Path) -> None:
    """Write tables, figures and pages of an answer into its folder, if all of it was played. Raises OSError."""
    if not answered.whole:
        return
    from reports.answers import Question, write_answer

    if isinstance(answered.question, Question):
        write_answer(answered.question, answered.findings, out)
        return
    from reports.compare_report import write_comparison

    write_comparison(answered.question, answered.findings, out)


def show_answer(answered: Answered, form: Format) -> None:
    """Print an answer in the form asked for; nothing of what was interrupted before anything was finished."""
    from reports.answers import Question

    if not answered.findings:
        return
    if not isinstance(answered.question, Question):
        _show_comparison(answered.question, answered.findings, form)
    elif answered.question.verb == "simulate":
        _show_simulation(answered.question, answered, form)
    else:
        _show_fairness(answered.question, answered, form)


def _show_simulation(question: "Question", answered: Answered, form: Format) -> None:
    from reports import answers, tables

    run = answered.runs[0]
    answer = answers.simulate_answer(question, run)
    if form is Format.JSON:
        show_json(answer)
    elif form is Format.CSV:
        show_csv(answers.results(question, [run]))
    else:
        said = answers.verdicts(question, answered.findings)[0]
        answer |= {"seconds": 0.0} if answered.taken[0] else {}  # an old time is not that of this command
        if form is Format.TABLE:
            show(tables.simulate_table(answer, said))
        else:
            print(tables.simulate_markdown(answer, said, answers.records(answers.results(question, [run]))))


def _show_fairness(question: "Question", answered: Answered, form: Format) -> None:
    from reports import answers, tables

    if form is Format.CSV:
        show_csv(answers.rankings(question, answered.findings))
        return
    answer = answers.fairness_answer(question, answered.findings)
    if form is Format.JSON:
        show_json(answer)
        return
    for section, taken in zip(answer["players"], answered.taken, strict=True):
        if taken:
            section["seconds"] = 0.0  # an old time is not that of this command
    if form is Format.TABLE:
        show(tables.fairness_table(answer))
    else:
        print(tables.fairness_markdown(answer))


def _show_comparison(question: "Comparison", findings: Sequence[Any], form: Format) -> None:
    from reports import compare_tables, compared

    if form is Format.CSV:
        show_csv(compared.standings_frame(question, findings))
        return
    answer = compared.compare_answer(question, findings)
    if form is Format.JSON:
        show_json(answer)
    elif form is Format.TABLE:
        show(compare_tables.compare_table(answer))
    else:
        print(compare_tables.compare_markdown(answer))
