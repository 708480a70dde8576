"""Luck or skill on a screen and in Markdown, made from the answer that other programs get."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from rich.console import RenderableType
from rich.markup import escape
from rich.text import Text

from reports.skill import CHANCES, Needed
from reports.skill_answers import COUNTED, PART_NAMES
from reports.tables import Answer, NumbersTable, estimate, headline, lineup_in_words, markdown, spaced

VIEWS = {"home_game": "at home", "duplicate": "duplicate"}
NOTES = (
    "At home: every hand is dealt afresh. Duplicate: each deal is played with the dealer at every seat.",
    "Skill weighs as much as luck where the lead to be expected equals its standard deviation.",
    "Hands follow from a normal curve; below some tens of hands it is a little too sure, and the series count.",
)
Row = dict[str, str]


def skill_table(answer: Answer) -> RenderableType:
    """Show the answer of `skill`, a section for each number of players."""
    parts: list[RenderableType] = []
    for section in answer["players"]:
        parts += [Text(f"{section['players']} players", style="bold underline"), headline(section["verdict"])]
        for title, rows, names in _tables(answer, section):
            parts.append(Text(title, style="dim"))
            table = NumbersTable(*rows[0], left=names)
            for row in rows:
                table.add_row(*(escape(cell) for cell in row.values()))
            parts.append(table)
        parts.append(Text("\n".join(_facts(answer, section)), style="dim"))
    return spaced(parts)


def skill_markdown(answer: Answer) -> str:
    """Write the answer of `skill` in Markdown: heading, verdict and tables for each number of players."""
    parts = []
    for section in answer["players"]:
        parts += [f"## {section['players']} players", section["verdict"]]
        for title, rows, _ in _tables(answer, section):
            parts += [title, markdown(rows)]
        parts.append("\n".join(f"- {line}" for line in _facts(answer, section)))
    return "\n\n".join(parts)


def _tables(answer: Answer, section: Answer) -> Iterator[tuple[str, list[Row], int]]:
    """Yield each table: its title, its rows, and how many of its columns are text."""
    rows, main = section["ranking"], answer["ranked_by"]
    several = len(rows) > 1
    ranked = [
        {**({"rank": _rank(row)} if several else {}), "rules": row["rules"], **_hands(row[main], "home_game")}
        for row in rows
    ]
    yield f"Hands until the better one is ahead, at home, counting {COUNTED[main]}.", ranked, 3 if several else 2
    other = [
        {"rules": row["rules"], "counting": COUNTED[measure], "played": told, **_hands(row[measure], view)}
        for row in rows
        for measure in COUNTED
        for view, told in VIEWS.items()
        if (measure, view) != (main, "home_game")
    ]
    yield "The same, counted or played in another way.", other, 4
    parts = [
        {
            "rules": row["rules"],
            **{PART_NAMES[part["part"]]: _share(part) for part in row["split"]["parts"]},
            "hands": f"{row['split']['hands']:,}",
        }
        for row in rows
        if row["split"] is not None
    ]
    if parts:
        clipped = any(part["clipped"] for row in rows if row["split"] for part in row["split"]["parts"])
        note = " *: came out below 0." if clipped else ""
        yield f"What decides who wins a hand: shares of the variance, %.{note}", parts, 1
    series = [
        {
            "rules": row["rules"],
            "hands": f"{one['hands']:,}",
            "series": f"{one['series']:,}",
            "ahead, %": estimate(one, 100),
            "by the curve": estimate(one["curve"], 100),
        }
        for row in rows
        for one in row[main]["home_game"]["played_out"]
    ]
    if series:
        yield f"Played out: at home, counting {COUNTED[main]}, the better one was ahead after so many hands.", series, 1


def _rank(row: Mapping[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return f"{low}" if low == high else f"{low} to {high}"


def _hands(counted: Mapping[str, Any], view: str) -> Row:
    found = counted[view]
    needed = {f"{100 * chance:g} %": one for chance, one in zip(CHANCES, found["needed"], strict=True)}
    needed["as much skill as luck"] = found["critical_repetition"]
    return {
        "better": counted["better"] or "not sure",
        **{label: Needed(**one).in_words() for label, one in needed.items()},
    }


def _share(part: Mapping[str, Any]) -> str:
    return estimate(part["share"], 100) + ("*" if part["clipped"] else "")


def _facts(answer: Answer, section: Answer) -> Sequence[str]:
    """Say what was played, by whom and by what, and why it stopped."""
    sets = f" under each of {len(section['ranking'])} rule sets" if len(section["ranking"]) > 1 else ""
    notice = f"errors noticed {answer['notice_rate']:g}" if answer["notice_rate"] != 1 else ""
    rules = answer["rules"]
    common = [text for text in rules[0]["sets"] if all(text in entry["sets"] for entry in rules)] if sets else []
    lines = [
        [f"all rule sets with {', '.join(common)}" if common else ""],
        [f"line-up {lineup_in_words(section['lineup'])}", notice],
        [
            f"{section['hands']:,} hands in {section['blocks']:,} deals{sets}",
            f"seed {answer['seed']}",
            section["stopped"],
        ],
        [f"ochos-sim {answer['version']}", f"random numbers {answer['rng_version']}", f"{section['seconds']:,.2f} s"],
        ["95 % intervals in brackets"],
    ]
    told = [" · ".join(filter(None, line)) for line in lines]
    return [*NOTES, *filter(None, told)]
