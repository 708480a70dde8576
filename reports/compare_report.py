"""The results folder of a comparison of strategies: tables, pay-off matrices, figures and pages."""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

from reports.answers import compared_rules, records
from reports.compare_tables import GAINS, seated_in_words
from reports.compared import (
    asked_in_words,
    export_payoffs,
    method,
    pairs_frame,
    results,
    standings_frame,
    verdict,
)
from reports.comparing import Comparison, Finding, why_stopped
from reports.drawing import save_figure
from reports.figures_compare import (
    payoff_finding,
    payoff_heat_map,
    payoff_in_words,
    standings_figure,
    standings_finding,
    standings_in_words,
)
from reports.page import Facts, Number, Report, Section, Table, estimate_cell, write_reports
from sim.saving import write_whole
from sim.streams import RNG_VERSION

if TYPE_CHECKING:
    import pandas as pd


def write_comparison(question: Comparison, findings: Sequence[Finding], folder: Path) -> None:
    """Write tables, figures and pages into a results folder. Equal questions give equal bytes. Raises OSError."""
    standings, pairs = standings_frame(question, findings), pairs_frame(question, findings)
    for name, frame in (("results", results(question, findings)), ("standings", standings), ("pairs", pairs)):
        write_whole(folder / f"{name}.csv", frame.to_csv(index=False).encode())
        content = BytesIO()
        frame.to_parquet(content, index=False)
        write_whole(folder / f"{name}.parquet", content.getvalue())
    sections = []
    for finding in findings:
        players = finding.run.plan.players
        own = standings[standings["players"] == players].reset_index(drop=True)
        against = pairs[pairs["players"] == players].reset_index(drop=True) if len(pairs) else pairs
        if question.mode == "round-robin":
            for kind in ("csv", "npz"):
                export_payoffs(question, finding, folder / f"payoffs-{players}-players.{kind}")
        tables = [_standings_table(own), *([_pairs_table(against)] if len(against) else [])]
        sections.append(
            Section(
                f"{players} players",
                [verdict(question, finding)],
                tables,
                _figures(question, finding, own, against, folder / "figures"),
            )
        )
    runs = [finding.run for finding in findings]
    write_reports(
        folder,
        Report(
            question=asked_in_words(question),
            verdict=[f"{f.run.plan.players} players: {verdict(question, f)}" for f in findings]
            if len(findings) > 1
            else [verdict(question, findings[0])],
            sections=sections,
            method=method(question, findings),
            rules=compared_rules(question.rules),
            command=question.command(),
            facts=Facts(
                seed=question.seed,
                hands=sum(int(run.tally.hands.sum()) for run in runs),
                played="; ".join(_played(finding) for finding in findings),
                version=question.version,
                rng_version=RNG_VERSION,
                lineup="; ".join(seated_in_words(question.mode, run.plan.players, _field(question)) for run in runs),
                stop_reason="; ".join(dict.fromkeys(why_stopped(question, run) for run in runs)),
            ),
        ),
    )


def _field(question: Comparison) -> str | None:
    return None if question.field is None else question.labels[question.field]


def _ranked_by(finding: Finding) -> str:
    return "match_gain" if finding.match else "win_gain"


def _played(finding: Finding) -> str:
    """Return how much was played: `10,000 deals, each in 2 rotations of 28 line-ups`."""
    plan, blocks = finding.run.plan, int(finding.run.tally.blocks)
    what = "matches" if plan.matches else "deals"
    return f"{blocks:,} {what}, each in {plan.rotations} rotations of {len(plan.scenarios)} line-ups"


def _figures(
    question: Comparison, finding: Finding, standings: "pd.DataFrame", pairs: "pd.DataFrame", folder: Path
) -> list[Path]:
    """Draw what each strategy gains, in wins and in points, and the heat map of a round robin."""
    players = finding.run.plan.players
    footer = f"{question.names[0]} · {players} players · {_played(finding)} · seed {question.seed}"
    footer += f" · ochos-sim {question.version}"
    paths: list[Path] = []
    for measure, stem in ((_ranked_by(finding), "standings"), ("points_gain", "points")):
        drawn = standings_figure(standings, measure=measure, footer=footer)
        said = standings_finding(standings, measure), standings_in_words(standings, measure)
        paths += save_figure(folder, f"{stem}-{players}-players", drawn, *said)
    if question.mode == "round-robin" and len(question.labels) > 2:
        measure = _ranked_by(finding)
        order = list(standings["strategy"])
        drawn = payoff_heat_map(pairs, order=order, measure=measure, footer=footer)
        said = payoff_finding(pairs, measure), payoff_in_words(pairs, measure)
        paths += save_figure(folder, f"payoffs-{players}-players", drawn, *said)
    return paths


def _cells(row: Mapping[str, Any], names: Sequence[str]) -> list[str | Number]:
    return [estimate_cell(row[name], row[f"{name}_low"], row[f"{name}_high"], GAINS[name][1]) for name in names]


def _standings_table(standings: "pd.DataFrame") -> Table:
    names = [name for name in GAINS if name in standings.columns]
    rows = []
    for row in records(standings):
        low, high = int(row["rank_low"]), int(row["rank_high"])
        rank = Number(f"{low}" if low == high else f"{low} to {high}", low)
        groups = " ".join(chr(ord("a") + int(number) - 1) for number in str(row["groups"]).split())
        rows.append((str(row["strategy"]), rank, groups, *_cells(row, names)))
    return Table(
        "Strategies, the best first; the intervals of a column hold together",
        ("Strategy", "Rank", "Group", *(_heading(name) for name in names)),
        tuple(rows),
        "Gain: what a player wins more by playing this strategy in place of the others'. Strategies that share a "
        "letter are not surely apart. In points a gain above 0 is good for the player.",
    )


def _pairs_table(pairs: "pd.DataFrame") -> Table:
    names = [name for name in GAINS if name in pairs.columns]
    rows = [(str(row["strategy"]), str(row["against"]), *_cells(row, names)) for row in records(pairs)]
    return Table(
        "One player of a strategy among players of another",
        ("Strategy", "Among", *(_heading(name) for name in names)),
        tuple(rows),
    )


def _heading(name: str) -> str:
    text = GAINS[name][0]
    return text[0].upper() + text[1:]
