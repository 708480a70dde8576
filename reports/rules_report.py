"""The results folder of `simulate` and `fairness`: tables, figures and pages.

What is told of a rule set beside its fairness stands in tables headed by the questions that it answers.
"""

from collections.abc import Iterable, Sequence
from io import BytesIO
from pathlib import Path

from reports.answers import (
    Finding,
    Question,
    asked_in_words,
    compared_rules,
    lineups_in_words,
    method,
    played_in_words,
    rankings,
    results,
    stopped,
    verdicts,
    where,
)
from reports.drawing import save_figure
from reports.fairness import verdict
from reports.figures import footer_text, save_figures, spread_heat_map, spread_map_finding, spread_map_in_words
from reports.language import say
from reports.measures import GROUPS, Measure, glossary
from reports.page import (
    DASH,
    Facts,
    Number,
    Report,
    Section,
    Table,
    estimate_cell,
    ranking_table,
    write_reports,
)
from reports.story import everything
from reports.tables import lineup_name
from sim.saving import write_whole
from sim.streams import RNG_VERSION


def write_answer(question: Question, findings: Sequence[Finding], folder: Path) -> None:
    """Write tables, figures and pages into a results folder. Equal questions give equal bytes. Raises OSError."""
    runs = [finding.run for finding in findings]
    ranked = rankings(question, findings)
    for name, frame in (("results", results(question, findings)), ("ranking", ranked)):
        write_whole(folder / f"{name}.csv", frame.to_csv(index=False).encode())
        content = BytesIO()
        frame.to_parquet(content, index=False)
        write_whole(folder / f"{name}.parquet", content.getvalue())
    said = verdicts(question, findings)
    sections = _over_all(question, findings, folder / "figures")
    for finding in findings:
        ranking = rankings(question, [finding]).drop(columns="players")
        at = folder / "figures"
        if len(question.lineups) > 1:  # figures are named by the number of players alone
            at /= f"line-up-{question.lineups.index(finding.question.lineups[0]) + 1}"
        figures = save_figures(results(question, [finding]), ranking, at, question.common_in_words())
        own = [verdict(question.names, finding.ranking, finding.confirmation)] if len(said) > 1 else []
        tables = (ranking_table(ranking), *_measured_tables(question, finding))
        sections.append(Section(where(question, finding), own, tables, figures))
    write_reports(
        folder,
        Report(
            question=asked_in_words(question),
            verdict=said[:1],
            sections=sections,
            method=method(question, runs),
            rules=compared_rules(question.rules),
            command=question.command(),
            facts=Facts(
                seed=question.seed,
                hands=sum(int(run.tally.hands.sum()) for run in runs),
                played=played_in_words(runs),
                version=question.version,
                rng_version=RNG_VERSION,
                lineup=lineups_in_words(runs),
                stop_reason="; ".join(dict.fromkeys(stopped(question, run) for run in runs)),
            ),
            glossary=words_of_measures(measure.name for finding in findings for measure in _measured(finding)),
        ),
    )


def _over_all(question: Question, findings: Sequence[Finding], folder: Path) -> list[Section]:
    """Return what a report says first of several numbers of players: a map, for each line-up."""
    sections = []
    for at, lineup in enumerate(question.lineups, start=1):
        own = [finding for finding in findings if finding.question.lineups[0] == lineup]
        if len(own) < 2:
            continue
        spreads = rankings(question, own)
        footer = footer_text(results(question, own), question.common_in_words())
        drawn = spread_heat_map(spreads, footer=footer)
        name = f"spread-map-line-up-{at}" if len(question.lineups) > 1 else "spread-map"
        paths = save_figure(folder, name, drawn, spread_map_finding(spreads), spread_map_in_words(spreads))
        heading = say("All numbers of players")
        if len(question.lineups) > 1:
            heading = say("All numbers of players ({lineup})", lineup=lineup_name(lineup))
        sections.append(Section(heading, figures=paths))
    return sections


def _measured(finding: Finding) -> list[Measure]:
    """Return the measures of a hand or match as a whole that a finding has, once each."""
    found = everything(finding.run, finding.story, finding.ranking)
    return list({measure.name: measure for one in found for measure, by, _, _ in one if not by}.values())


def _measured_tables(question: Question, finding: Finding) -> list[Table]:
    """Return all that was measured of the hands and matches as a whole: a table for each question of GROUPS."""
    found = everything(finding.run, finding.story, finding.ranking)
    values = [{measure.name: value for measure, by, _, value in one if not by} for one in found]
    tables = []
    for group, measures in glossary(measure.name for measure in _measured(finding)).items():
        rows = []
        for measure in measures:
            factor = 100.0 if measure.unit.startswith("share") else 1.0
            unit = say("%") if factor == 100.0 else say(measure.unit)
            cells: list[str | Number] = [f"{measure.heading}, {unit}"]
            for own in values:
                e = own.get(measure.name)
                cells.append(DASH if e is None else estimate_cell(e.value, e.low, e.high, factor))
            rows.append(tuple(cells))
        note = ""
        if group == "lively" and finding.story is not None:
            note = say(
                "From {hands:,} hands of each rule set that were played again and followed turn by turn.",
                hands=int(min(finding.story.hands)),
            )
        tables.append(Table(say(GROUPS[group]), (say("Measure"), *question.names), tuple(rows), note))
    return tables


def words_of_measures(names: Iterable[str]) -> list[tuple[str, str]]:
    """Return a glossary of measures: what each is called in the tables of data, and what it is."""
    return [(measure.name, measure.help) for measures in glossary(names).values() for measure in measures]
