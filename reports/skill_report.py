"""The results folder of `skill`: tables, figures and pages."""

from collections.abc import Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING

from reports.answers import compared_rules, records, stopped
from reports.drawing import save_figure
from reports.figures_skill import (
    skill_curve,
    skill_finding,
    skill_in_words,
    split_finding,
    split_in_words,
    variance_split,
)
from reports.output import with_interval
from reports.page import DASH, Facts, Number, Report, Section, Table, estimate_cell, write_reports
from reports.skill_answers import (
    PART_NAMES,
    asked_in_words,
    curve_frame,
    method,
    needed_frame,
    results,
    skill_frame,
    split_frame,
    verdict,
)
from reports.skilled import Finding, SkillQuestion
from sim.saving import write_whole
from sim.streams import RNG_VERSION

if TYPE_CHECKING:
    import pandas as pd

MOST_DRAWN = 6
"""Rule sets whose curves can be told apart in one figure."""


def write_skill(question: SkillQuestion, findings: Sequence[Finding], folder: Path) -> None:
    """Write tables, figures and pages into a results folder. Equal questions give equal bytes. Raises OSError."""
    ranked, curve = skill_frame(question, findings), curve_frame(question, findings, question.by)
    needed, split = needed_frame(question, findings, question.by), split_frame(question, findings)
    tables = {"results": results(question, findings), "skill": ranked, "curve": curve, "needed": needed, "split": split}
    for name, frame in tables.items():
        write_whole(folder / f"{name}.csv", frame.to_csv(index=False).encode())
        content = BytesIO()
        frame.to_parquet(content, index=False)
        write_whole(folder / f"{name}.parquet", content.getvalue())
    sections = []
    for finding in findings:
        players = finding.run.plan.players
        own = [_of(frame, players) for frame in (ranked, curve, needed, split)]
        paths = _figures(question, finding, own[1], own[2], own[3], folder / "figures")
        sections.append(Section(f"{players} players", [verdict(question, finding)], [_table(own[0])], paths))
    runs = [finding.run for finding in findings]
    several = len(findings) > 1
    said = [
        f"{f.run.plan.players} players: {verdict(question, f)}" if several else verdict(question, f) for f in findings
    ]
    write_reports(
        folder,
        Report(
            question=asked_in_words(question),
            verdict=said,
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
                lineup=f"one {question.labels[0]}, all others {question.labels[1]}",
                stop_reason="; ".join(dict.fromkeys(stopped(question, run) for run in runs)),
            ),
        ),
    )


def _of(frame: "pd.DataFrame", players: int) -> "pd.DataFrame":
    return frame[frame["players"] == players].reset_index(drop=True)


def _played(finding: Finding) -> str:
    plan, blocks = finding.run.plan, int(finding.run.tally.blocks)
    return f"{blocks:,} deals, each in {plan.rotations} rotations and {plan.replays} plays"


def _figures(
    question: SkillQuestion,
    finding: Finding,
    curve: "pd.DataFrame",
    needed: "pd.DataFrame",
    split: "pd.DataFrame",
    folder: Path,
) -> list[Path]:
    players = finding.run.plan.players
    footer = f"{players} players · one {question.labels[0]}, all others {question.labels[1]} · {_played(finding)}"
    footer += f" · seed {question.seed} · ochos-sim {question.version}"
    paths: list[Path] = []
    if len(question.names) <= MOST_DRAWN:
        drawn = skill_curve(curve, needed, footer=footer)
        said = skill_finding(curve, needed), skill_in_words(curve, needed)
        paths += save_figure(folder, f"skill-{players}-players", drawn, *said)
    if len(split):
        drawn = variance_split(split, footer=footer)
        paths += save_figure(folder, f"split-{players}-players", drawn, split_finding(split), split_in_words(split))
    return paths


def _table(ranked: "pd.DataFrame") -> Table:
    """Return the ranking as printed, a row a rule set, the most left to skill first."""
    parts = [name for name in PART_NAMES if f"{name}_share" in ranked.columns]
    chances = ("hands_75", "hands_90", "hands_95", "critical_repetition")
    rows = []
    for row in records(ranked):
        low, high = row["rank_low"], row["rank_high"]
        cells: list[str | Number] = [str(row["rules"]), Number(f"{low}" if low == high else f"{low} to {high}", low)]
        cells.append(str(row["better"]) or "nobody surely")
        for name in chances:
            value, least, most = (row[key] for key in (name, f"{name}_low", f"{name}_high"))
            known = value == value and most == most  # not missing
            cells.append(Number(with_interval(value, least, most), value) if known else f"more than {least - 1:,.0f}")
        for name in parts:
            value, least, most = (row[f"{name}_share{end}"] for end in ("", "_low", "_high"))
            cells.append(estimate_cell(value, least, most, 100.0) if value == value else DASH)
        rows.append(tuple(cells))
    columns = ("Rules", "Rank", "Better", "Hands to 75 %", "90 %", "95 %", "Critical repetitions")
    return Table(
        "Hands until the better player is ahead with so many per cent, and what makes up a hand's result",
        (*columns, *(f"{PART_NAMES[name][:1].upper()}{PART_NAMES[name][1:]}, %" for name in parts)),
        tuple(rows),
        "Critical repetitions: hands after which skill and luck weigh alike. Shares: of the variance of a single hand.",
    )
