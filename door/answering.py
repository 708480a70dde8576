"""A question played and answered, as any verb does it that plays: its runs, what was found, files, what is shown."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from door.options import Format
from door.playing import Part, Played, parts_of, parts_of_comparison, parts_of_skill, play, tell_story
from door.printing import show, show_csv, show_json

if TYPE_CHECKING:
    import pandas as pd

    from reports.answers import Asked, Question
    from reports.comparing import Comparison
    from reports.lengths import LengthQuestion
    from reports.skilled import SkillQuestion
    from sim.batch import Plan, Rows, Run
    from sim.saving import Folder
    from sim.story import Story

Player = Callable[[Sequence[Part]], Sequence[Played]]
"""Plays parts of a question, or takes them from where they were saved; ends early when interrupted."""


@dataclass(frozen=True)
class Answered:
    """A question with what was found, a finding for each part of which something was played."""

    question: "Asked"
    findings: Sequence[Any]
    runs: "Sequence[Run]"
    """All that were played, those that confirm something behind the others."""
    taken: Sequence[bool]
    """Of each finding, whether nothing of it was played now."""

    @property
    def whole(self) -> bool:
        """Whether nothing was interrupted."""
        return self.runs[-1].stopped != "interrupted"


def answer(
    question: "Asked", folder: "Folder | None", threads: int, quiet: bool, rows: "Rows | None" = None
) -> Answered:
    """Play a question and find what its runs say; `rows`: of `simulate` alone. Raises what `play` raises."""
    from reports.answers import Question

    def player(parts: Sequence[Part]) -> Sequence[Played]:
        return play(question, parts, folder, threads, quiet, rows)

    if isinstance(question, Question):
        # A report tells all that there is to tell.
        wanted = question.wants_story or folder is not None
        teller = partial(tell_story, threads=threads, quiet=quiet) if wanted else None
        return find_rules(question, parts_of(question), player, teller)
    return find(question, player, threads)


def find_rules(
    question: "Question", parts: Sequence[Part], player: Player, teller: "Callable[[Run], Story] | None" = None
) -> Answered:
    """Answer a question about rules by runs; those that confirm its winners follow when the winners are known.

    teller: tells how the hands of a run went, if that is wanted.
    """
    from reports.answers import Finding
    from reports.lengths import LengthFinding, LengthQuestion

    kind: Any = LengthFinding if isinstance(question, LengthQuestion) else Finding
    played = player(parts)
    whole = played[-1].run.stopped != "interrupted"
    findings, taken = [], []
    for (_, own), one in zip(question.parts(), played, strict=False):  # fewer, if interrupted
        if int(one.run.tally.blocks):
            story = teller(one.run) if teller is not None and whole else None
            findings.append(kind.of(own, one.run, story))
            taken.append(one.taken)
    answered = Answered(question, findings, [one.run for one in played], taken)
    if not answered.whole or isinstance(question, LengthQuestion):
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


def find(question: "Asked", player: Player, threads: int) -> Answered:
    """Answer a question about strategies, or about luck and skill, by runs."""
    from reports import comparing, skilled

    if isinstance(question, skilled.SkillQuestion):
        played = player(parts_of_skill(question))
        findings: Sequence[Any] = skilled.findings(question, [one.run for one in played], threads=threads)
    else:
        assert isinstance(question, comparing.Comparison)
        played = player(parts_of_comparison(question))
        findings = [comparing.Finding.of(question, one.run, one.rule) for one in played if int(one.run.tally.blocks)]
    return Answered(question, findings, [one.run for one in played], [one.taken for one in played])


def results(answered: Answered) -> "pd.DataFrame":
    """Return everything that was measured, tidy, whatever was asked."""
    from reports import answers, compared, comparing, length_answers, lengths, skill_answers, skilled

    question = answered.question
    if isinstance(question, lengths.LengthQuestion):
        return length_answers.results(question, answered.findings)
    if isinstance(question, skilled.SkillQuestion):
        return skill_answers.results(question, answered.findings)
    if isinstance(question, comparing.Comparison):
        return compared.results(question, answered.findings)
    assert isinstance(question, answers.Question)
    return answers.results(question, answered.findings)


def as_json(answered: Answered) -> dict[str, Any]:
    """Return an answer in the form of the contracts."""
    from reports import answers, compared, comparing, length_answers, lengths, skill_answers, skilled

    question, findings = answered.question, answered.findings
    if isinstance(question, lengths.LengthQuestion):
        return length_answers.length_answer(question, findings)
    if isinstance(question, skilled.SkillQuestion):
        return skill_answers.skill_answer(question, findings)
    if isinstance(question, comparing.Comparison):
        return compared.compare_answer(question, findings)
    assert isinstance(question, answers.Question)
    if question.verb == "simulate":
        return answers.simulate_answer(question, answered.findings[0])
    return answers.fairness_answer(question, findings)


def in_words(answered: Answered) -> tuple[str, list[str]]:
    """Return the question and its answer in sentences."""
    from reports import answers, length_answers, lengths

    if isinstance(answered.question, lengths.LengthQuestion):
        question = answered.question
        return length_answers.asked_in_words(question), length_answers.verdicts(question, answered.findings)
    if isinstance(answered.question, answers.Question):
        return answers.asked_in_words(answered.question), answers.verdicts(answered.question, answered.findings)
    told = as_json(answered)
    several = len(told["players"]) > 1
    return told["question"], [
        f"{section['players']} players: {section['verdict']}" if several else section["verdict"]
        for section in told["players"]
    ]


def write(answered: Answered, out: Path) -> None:
    """Write tables, figures and pages of an answer into its folder, if all of it was played. Raises OSError."""
    if not answered.whole:
        return
    from reports import answers, comparing, lengths, skilled

    question = answered.question
    if isinstance(question, lengths.LengthQuestion):
        from reports.length_report import write_lengths

        write_lengths(question, answered.findings, out)
    elif isinstance(question, answers.Question):
        from reports.rules_report import write_answer

        write_answer(question, answered.findings, out)
    elif isinstance(question, skilled.SkillQuestion):
        from reports.skill_report import write_skill

        write_skill(question, answered.findings, out)
    else:
        from reports.compare_report import write_comparison

        assert isinstance(question, comparing.Comparison)
        write_comparison(question, answered.findings, out)


def show_answer(answered: Answered, form: Format) -> None:
    """Print an answer in the form asked for; nothing of what was interrupted before anything was finished."""
    from reports import answers, comparing, lengths, skilled

    question = answered.question
    if not answered.findings:
        return
    if form is Format.JSON:
        show_json(as_json(answered))
    elif isinstance(question, lengths.LengthQuestion):
        _show_lengths(question, answered, form)
    elif isinstance(question, skilled.SkillQuestion):
        _show_skill(question, answered, form)
    elif isinstance(question, comparing.Comparison):
        _show_comparison(question, answered, form)
    else:
        assert isinstance(question, answers.Question)
        (_show_simulation if question.verb == "simulate" else _show_fairness)(question, answered, form)


def _show_simulation(question: "Question", answered: Answered, form: Format) -> None:
    from reports import answers, tables

    if form is Format.CSV:
        show_csv(results(answered))
        return
    told, said = as_json(answered), answers.verdicts(question, answered.findings)[0]
    told |= {"seconds": 0.0} if answered.taken[0] else {}  # an old time is not that of this command
    if form is Format.TABLE:
        show(tables.simulate_table(told, said))
    else:
        print(tables.simulate_markdown(told, said, answers.records(results(answered))))


def _show_fairness(question: "Question", answered: Answered, form: Format) -> None:
    from reports import answers, tables

    if form is Format.CSV:
        show_csv(answers.rankings(question, answered.findings))
        return
    told = as_json(answered)
    for section, taken in zip(told["players"], answered.taken, strict=True):
        if taken:
            section["seconds"] = 0.0  # an old time is not that of this command
    if form is Format.TABLE:
        show(tables.fairness_table(told))
    else:
        print(tables.fairness_markdown(told))


def _show_lengths(question: "LengthQuestion", answered: Answered, form: Format) -> None:
    from reports import length_answers, length_tables

    if form is Format.CSV:
        show_csv(length_answers.ranking_frame(question, answered.findings))
        return
    told = as_json(answered)
    for section, taken in zip(told["players"], answered.taken, strict=True):
        if taken:
            section["seconds"] = 0.0  # an old time is not that of this command
    if form is Format.TABLE:
        show(length_tables.length_table(told))
    else:
        print(length_tables.length_markdown(told))


def _show_comparison(question: "Comparison", answered: Answered, form: Format) -> None:
    from reports import compare_tables, compared

    if form is Format.CSV:
        show_csv(compared.standings_frame(question, answered.findings))
    elif form is Format.TABLE:
        show(compare_tables.compare_table(as_json(answered)))
    else:
        print(compare_tables.compare_markdown(as_json(answered)))


def _show_skill(question: "SkillQuestion", answered: Answered, form: Format) -> None:
    from reports import skill_answers, skill_tables

    if form is Format.CSV:
        show_csv(skill_answers.skill_frame(question, answered.findings))
    elif form is Format.TABLE:
        show(skill_tables.skill_table(as_json(answered)))
    else:
        print(skill_tables.skill_markdown(as_json(answered)))
