"""A comparison of strategies on a screen and in Markdown, made from the answer that other programs get."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import Group, RenderableType
from rich.markup import escape
from rich.text import Text

from reports.tables import Answer, NumbersTable, estimate, headline, markdown, spaced

GAINS = {
    "win_share": ("wins, % of hands", 100),
    "win_gain": ("gain, points of win share", 100),
    "match_win": ("wins, % of matches", 100),
    "match_gain": ("gain, points of matches", 100),
    "points_gain": ("gain, points a hand", 1),
}
"""What is told of a strategy, in this order: heading, and what the value is multiplied by."""


def compare_table(answer: Answer) -> RenderableType:
    """Show the answer of `compare`, a section for each number of players."""
    parts: list[RenderableType] = []
    for section in answer["players"]:
        parts += [Text(f"{section['players']} players", style="bold underline"), headline(section["verdict"])]
        parts += _tables(section)
        parts.append(Text("\n".join(_facts(answer, section)), style="dim"))
    return spaced(parts)


def compare_markdown(answer: Answer) -> str:
    """Write the answer of `compare` in Markdown: heading, verdict, standings and pairs for each number of players."""
    parts = []
    for section in answer["players"]:
        parts += [f"## {section['players']} players", section["verdict"], markdown(_standing_rows(section))]
        if len(section["pairs"]) > len(section["standings"]):
            parts.append(markdown(_pair_rows(section)))
        parts.append("\n".join(f"- {line}" for line in _facts(answer, section)))
    return "\n\n".join(parts)


def seated_in_words(mode: str, players: int, field: str | None) -> str:
    """Return who sits with whom."""
    return {
        "round-robin": f"one of each among {players - 1} of each other",
        "field": f"one of each among {players - 1} × {field}",
        "together": "all at one table, in all orders",
    }[mode]


def _facts(answer: Answer, section: Answer) -> list[str]:
    """Say what was played, by what, and why it stopped."""
    seated = seated_in_words(answer["mode"], section["players"], answer["field"])
    deals, lineups = section["blocks"], section["lineups"]
    played = f"{deals:,} {'deals' if 'matches' not in section else 'first deals of matches'}"
    played += f" × {section['players']} rotations × {lineups} line-ups"
    notice = f"errors noticed {answer['notice_rate']:g}" if answer["notice_rate"] != 1 else ""
    lines = [
        [f"rules {answer['name']}", seated, notice],
        [played, f"seed {answer['seed']}", section["stopped"]],
        [f"ochos-sim {answer['version']}", f"random numbers {answer['rng_version']}", f"{section['seconds']:,.2f} s"],
        ["95 % intervals in brackets, those of a column hold together; strategies of one group cannot be told apart"],
    ]
    return [" · ".join(filter(None, line)) for line in lines]


def _tables(section: Answer) -> Iterator[RenderableType]:
    rows = _standing_rows(section)
    table = NumbersTable(*rows[0], left=3)
    for row, standing in zip(rows, section["standings"], strict=True):
        cells = [escape(cell) if key == "strategy" else cell for key, cell in row.items()]
        table.add_row(*cells, style="bold" if standing["in_best_set"] else "")
    yield table
    if len(section["pairs"]) > len(section["standings"]):
        yield Text(_pairs_title(section), style="dim")
        yield _matrix(section)
    if section["strengths"]:
        strengths = NumbersTable("strategy", "strength (Plackett–Luce)")
        for row in section["strengths"]["values"]:
            strengths.add_row(escape(row["strategy"]), estimate(row))
        yield strengths
    ratio = section["variance_ratio"]
    yield Text(
        f"Between the two that lead, common deals and rotations made the variance {ratio['all']:.2f} times that of "
        f"independent hands (rotations {ratio['rotations']:.2f}, common deals {ratio['deals']:.2f}).",
        style="dim",
    )
    for missing in filter(None, (section["strengths_missing"], section["estimates"])):
        yield Text(missing, style="dim")


def _standing_rows(section: Answer) -> list[dict[str, str]]:
    rows = []
    for row in section["standings"]:
        low, high = row["rank_low"], row["rank_high"]
        cells = {
            "rank": f"{low}" if low == high else f"{low} to {high}",
            "strategy": str(row["strategy"]),
            "group": " ".join(chr(ord("a") + number - 1) for number in row["groups"]),
        }
        cells |= {label: estimate(row[key], factor) for key, (label, factor) in GAINS.items() if key in row}
        rows.append(cells)
    return rows


def _pairs_title(section: Answer) -> str:
    gain = GAINS[section["ranked_by"]][0].removeprefix("gain, ")
    return f"One player of the row among {section['players'] - 1} of the column: gain in {gain}."


def _matrix(section: Answer) -> RenderableType:
    """Show the pairs as a matrix of gains; where it cannot be told from 0, the value stands in brackets."""
    names = [row["strategy"] for row in section["standings"]]
    found = {(pair["strategy"], pair["against"]): pair[section["ranked_by"]] for pair in section["pairs"]}
    table = NumbersTable("", *(escape(name) for name in names))
    for a in names:
        table.add_row(escape(a), *(_cell(found.get((a, b))) for b in names))
    return table


def _cell(gain: Mapping[str, float] | None) -> str:
    if gain is None:
        return "·"
    text = f"{100 * gain['value']:+.1f}"
    return text if gain["low"] > 0 or gain["high"] < 0 else f"[{text}]"


def _pair_rows(section: Answer) -> list[dict[str, str]]:
    return [
        {
            "strategy": str(pair["strategy"]),
            "against": str(pair["against"]),
            **{label: estimate(pair[key], factor) for key, (label, factor) in GAINS.items() if key in pair},
        }
        for pair in section["pairs"]
    ]


def self_test_table(checks: Sequence[Any]) -> RenderableType:
    """Show the checks of `compare --self-test`."""
    return Group(*(Text(check.line(), style="" if check.passed else "bold red") for check in checks))
