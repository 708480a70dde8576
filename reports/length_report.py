"""The results folder of `length`: tables, figures and pages."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path

from reports.answers import compared_rules, lineups_in_words
from reports.drawing import save_figure
from reports.figures_length import (
    lead_finding,
    lead_history,
    lead_in_words,
    match_length_by_players,
    match_length_finding,
    match_length_in_words,
    turns_distribution,
    turns_finding,
    turns_in_words,
)
from reports.language import say
from reports.length_answers import (
    asked_in_words,
    counts_frame,
    leads_frame,
    method,
    played,
    quantiles_frame,
    ranking_frame,
    results,
    verdict,
    verdicts,
    where,
    why_stopped,
)
from reports.length_tables import LENGTHS
from reports.lengths import LengthFinding, LengthQuestion
from reports.measures import LEADER_WINS, glossary
from reports.page import Facts, Number, Report, Section, Table, estimate_cell, write_reports
from reports.tables import rank_range
from sim.saving import write_whole
from sim.streams import RNG_VERSION

MOST_DRAWN = 6
"""Rule sets that can be told apart in one figure."""


def write_lengths(question: LengthQuestion, findings: Sequence[LengthFinding], folder: Path) -> None:
    """Write tables, figures and pages into a results folder. Equal questions give equal bytes. Raises OSError."""
    everything = results(question, findings)
    for name, frame in (("results", everything), ("ranking", ranking_frame(question, findings))):
        write_whole(folder / f"{name}.csv", frame.to_csv(index=False).encode())
        content = BytesIO()
        frame.to_parquet(content, index=False)
        write_whole(folder / f"{name}.parquet", content.getvalue())
    sections = _over_all(question, findings, folder / "figures")
    for finding in findings:
        own = [verdict(question, finding)] if len(findings) > 1 else []
        tables = (_lengths(question, finding), *_longer(question, finding))
        sections.append(Section(where(question, finding), own, tables, _figures(question, finding, folder / "figures")))
    runs = [finding.run for finding in findings]
    told = {measure.name for finding in findings for one in finding.found for measure, *_ in one}
    told |= {LEADER_WINS.name} if question.matches else set()
    write_reports(
        folder,
        Report(
            question=asked_in_words(question),
            verdict=verdicts(question, findings),
            sections=sections,
            method=method(question, findings),
            rules=compared_rules(question.rules),
            command=question.command(),
            facts=Facts(
                seed=question.seed,
                hands=sum(int(run.tally.hands.sum()) for run in runs),
                played=played(findings),
                version=question.version,
                rng_version=RNG_VERSION,
                lineup=lineups_in_words(runs),
                stop_reason="; ".join(dict.fromkeys(why_stopped(question, finding) for finding in findings)),
            ),
            glossary=[(m.name, m.help) for measures in glossary(told).values() for m in measures],
        ),
    )


def _over_all(question: LengthQuestion, findings: Sequence[LengthFinding], folder: Path) -> list[Section]:
    """Return what a report says first of several numbers of players: match length by players, for each line-up."""
    import pandas as pd

    sections = []
    for at, lineup in enumerate(question.lineups, start=1):
        own = [finding for finding in findings if finding.question.lineups[0] == lineup]
        if len(own) < 2 or not question.matches or len(question.names) > MOST_DRAWN:
            continue
        rows = []
        for finding in own:
            for k, name in enumerate(question.names):
                told = finding.lengths[k]["hands_per_match"]
                row = {"rules": name, "players": finding.players}
                for key, e in (("hands_per_match", told["mean"]), ("median", told["median"])):
                    row |= {key: e.value, f"{key}_low": e.low, f"{key}_high": e.high}
                rows.append(row)
        frame = pd.DataFrame(rows)
        drawn = match_length_by_players(frame, footer=_footer(question, own))
        name = f"match-length-line-up-{at}" if len(question.lineups) > 1 else "match-length"
        paths = save_figure(folder, name, drawn, match_length_finding(frame), match_length_in_words(frame))
        sections.append(Section(say("All numbers of players"), figures=paths))
    return sections


def _figures(question: LengthQuestion, finding: LengthFinding, folder: Path) -> list[Path]:
    if len(question.names) > MOST_DRAWN:
        return []
    footer = _footer(question, [finding])
    ending = f"{finding.players}-players"
    if len(question.lineups) > 1:
        ending += f"-line-up-{question.lineups.index(finding.question.lineups[0]) + 1}"
    counts, quantiles, leads = (make(question, finding) for make in (counts_frame, quantiles_frame, leads_frame))
    drawn = turns_distribution(counts, quantiles, footer=footer)
    said = turns_finding(counts, quantiles), turns_in_words(counts, quantiles)
    paths = save_figure(folder, f"turns-{ending}", drawn, *said)
    if len(leads):
        drawn = lead_history(leads, footer=footer)
        paths += save_figure(folder, f"leads-{ending}", drawn, lead_finding(leads), lead_in_words(leads))
    return paths


def _footer(question: LengthQuestion, findings: Sequence[LengthFinding]) -> str:
    parts = [lineups_in_words([finding.run for finding in findings]), played(findings)]
    parts += [question.common_in_words(), say("seed {seed}", seed=str(question.seed)), f"ochos-sim {question.version}"]
    return " · ".join(filter(None, parts))


def _lengths(question: LengthQuestion, finding: LengthFinding) -> Table:
    standings = finding.standings
    rows: list[tuple[str | Number, ...]] = []
    for k in standings.order:
        low, high = standings.rank_low[k], standings.rank_high[k]
        rank = Number(rank_range(low, high), low)
        for length, label in LENGTHS.items():
            if length in finding.lengths[k]:
                told = finding.lengths[k][length]
                cells = [
                    estimate_cell(e.value, e.low, e.high) for e in (told[w] for w in ("mean", "p10", "median", "p90"))
                ]
                rows.append((question.names[k], rank, say(label), *cells))
    columns = (say("Rules"), say("Rank"), say("Length"), say("Mean"), "10 %", say("Median"), "90 %")
    caption = say("How long, the quickest rules first, with 95 % intervals in brackets")
    note = say("10 %, 90 %: a tenth of all games are at most, or more than, so long.")
    return Table(caption, columns, tuple(rows), note)


def _longer(question: LengthQuestion, finding: LengthFinding) -> list[Table]:
    """Return the chances to be longer than the bounds that were asked for, if there are any."""
    bounds = question.bounds_by_length()
    if not bounds:
        return []
    heads = [f"{say(LENGTHS[length])} > {bound:g}, %" for length, own in bounds.items() for bound in own]
    rows: list[tuple[str | Number, ...]] = []
    for k in finding.standings.order:
        found = [finding.lengths[k][length][f"longer {bound:g}"] for length, own in bounds.items() for bound in own]
        rows.append((question.names[k], *(estimate_cell(e.value, e.low, e.high, 100.0) for e in found)))
    return [Table(say("How often it is longer than that, in per cent"), (say("Rules"), *heads), tuple(rows))]
