"""How long a hand or match is, on the screen and in Markdown."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.text import Text

from reports.language import mark, numeral, say
from reports.tables import (
    Answer,
    NumbersTable,
    estimate,
    footer_lines,
    headline,
    lineup_in_words,
    markdown,
    rank_range,
    settings_in_words,
    spaced,
)

LENGTHS = {
    "hands_per_match": mark("hands a match"),
    "turns_per_match": mark("turns a match"),
    "minutes_per_match": mark("minutes a match"),
    "turns_per_hand": mark("turns a hand"),
    "minutes_per_hand": mark("minutes a hand"),
}
"""The lengths in the order in which they are told."""


def length_table(answer: Answer) -> RenderableType:
    """Show the answer of `length`: for each part the verdict, a table of lengths, and who leads and wins."""
    parts: list[RenderableType] = []
    several = len(answer["players"]) > 1
    for section in answer["players"]:
        if several:
            parts.append(Text(heading(answer, section), style="bold underline"))
        parts += [headline(section["verdict"]), _lengths(section)]
        parts += [table for table in (_longer(section), _leads(section)) if table.rows]
        broken = max(row["unfinished"]["high"] for row in section["ranking"])
        parts.append(Text(_unfinished(section, broken), style="dim"))
        parts.append(Text("\n".join(footer_lines(answer, settings_in_words(answer), section)), style="dim"))
    return spaced(parts)


def heading(answer: Answer, section: Answer) -> str:
    """Return `4 players`, and how they play if that was varied."""
    players = say("{players} players", players=section["players"])
    return f"{players}, {lineup_in_words(section['lineup'])}" if len(answer["lineups"]) > 1 else players


def _lengths(section: Answer) -> NumbersTable:
    table = NumbersTable(say("rank"), say("rules"), say("length"), say("mean"), "10 %", say("median"), "90 %", left=3)
    for *first, mean, low, middle, high in rows_of(section):
        # Their intervals would make the table too wide to read: they stand in every other form.
        quantiles = (cell.partition(" (")[0] for cell in (low, middle, high))
        table.add_row(*(escape(cell) for cell in (*first, mean, *quantiles)))
    return table


def rows_of(section: Answer) -> Iterator[list[str]]:
    """Give the rows of the table of lengths: rank, rules, length, mean, quantiles."""
    for row in section["ranking"]:
        first = [rank_range(row["rank_low"], row["rank_high"]), row["rules"]]
        for length, label in LENGTHS.items():
            if length in row:
                told = row[length]
                yield [*first, say(label), *(estimate(told[what]) for what in ("mean", "p10", "median", "p90"))]
                first = ["", ""]


def bounds_of(row: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, float]]]:
    """Give what is told of bounds in a row of an answer: `minutes a match > 60`, and the share that is longer."""
    for length, label in LENGTHS.items():
        for what, found in row.get(length, {}).items():
            if what.startswith("longer "):
                yield f"{say(label)} > {numeral(what.removeprefix('longer '))}", found


def _longer(section: Answer) -> NumbersTable:
    labels = [label for label, _ in bounds_of(section["ranking"][0])]
    table = NumbersTable(say("rules"), *(f"{label}, %" for label in labels))
    for row in section["ranking"] if labels else []:
        table.add_row(escape(row["rules"]), *(estimate(found, 100) for _, found in bounds_of(row)))
    return table


LEADS_TOLD = (1, 2, 3, 5, 8)
"""Hands after which it is told on a screen how often the leader wins; files and figures have all."""


def _leads(section: Answer) -> NumbersTable:
    hands = [one["hand"] for one in section["ranking"][0]["leader_wins"] if one["hand"] in LEADS_TOLD]
    head = [say("after hand {hand}", hand=hand) for hand in hands]
    table = NumbersTable(say("the leader wins the match, %"), *head)
    for row in section["ranking"] if hands else []:
        known = {one["hand"]: one for one in row["leader_wins"]}
        cells = [estimate(known[hand], 100) if hand in known else "–" for hand in hands]
        table.add_row(escape(row["rules"]), *cells)
    return table


def _unfinished(section: Answer, most: float) -> str:
    share = numeral(f"{100 * most:.2g}")
    if "matches" in section:
        return say("Given up without an end: at most {share} % of matches, under any rule set here.", share=share)
    return say("Broken off at the turn cap: at most {share} % of hands, under any rule set here.", share=share)


def length_markdown(answer: Answer) -> str:
    """Write the answer of `length` in Markdown."""
    parts = []
    for section in answer["players"]:
        columns = [say("rank"), say("rules"), say("length"), say("mean"), "10 %", say("median"), "90 %"]
        tables = [_records(columns, list(rows_of(section)))]
        labels = [label for label, _ in bounds_of(section["ranking"][0])]
        if labels:
            rows = [
                [row["rules"], *(estimate(found, 100) for _, found in bounds_of(row))] for row in section["ranking"]
            ]
            tables.append(_records([say("rules"), *(f"{label}, %" for label in labels)], rows))
        foot = "\n".join(f"- {line}" for line in footer_lines(answer, settings_in_words(answer), section))
        parts.append("\n\n".join([f"## {heading(answer, section)}", section["verdict"], *tables, foot]))
    return "\n\n".join(parts)


def _records(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    return markdown([dict(zip(columns, row, strict=True)) for row in rows])
