"""The report of a comparison as a page and as Markdown: `report.html` stands alone in one file, `report.md` links.

What is said comes from others (`reports/fairness.py`, `reports/figures.py`); here it is set. Every piece of text is
escaped on its way into a template: HTML by Jinja's autoescape, Markdown by `finalize`, so that no template can forget
it. The page loads nothing: figures stand in it as SVG, and its content policy forbids all requests and scripts.
"""

import os
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from reports.output import LEVEL, NEVER, with_interval
from sim.saving import write_whole

TEMPLATES = Path(__file__).with_name("templates")


@dataclass(frozen=True)
class Change:
    """An option in which a rule set differs from its base: its key, the base's value and its own."""

    key: str
    before: str
    after: str


@dataclass(frozen=True)
class RulesCompared:
    """A rule set of the comparison: its name, what it starts from, how it differs, and the sheet it comes from.

    about: what it is, in a line; toml: the complete rules. Sheet, about and toml are left out where they are empty.
    """

    name: str
    base: str
    changes: Sequence[Change]
    sheet: str
    about: str = ""
    toml: str = ""


@dataclass(frozen=True)
class Section:
    """The answer for one number of players: heading, ranking (see `ranking_table`), and figures.

    figures: the paths that `save_figures` returned; of each figure the SVG goes into the page and the PNG beside
    it is linked from the Markdown.
    """

    heading: str
    ranking: pd.DataFrame
    figures: Sequence[Path]


@dataclass(frozen=True)
class Facts:
    """What it takes to check a result: how much was played (also in words), with what, and why it stopped."""

    seed: int
    hands: int
    played: str
    version: str
    rng_version: str | int
    lineup: str
    stop_reason: str


@dataclass(frozen=True)
class Report:
    """All that a report says: question (the title), verdict (sentences), sections, and how it was found out.

    method: paragraphs (deals, pairing, intervals, level); command: what to type to get the same numbers again.
    """

    question: str
    verdict: Sequence[str]
    sections: Sequence[Section]
    method: Sequence[str]
    rules: Sequence[RulesCompared]
    command: str
    facts: Facts


@dataclass(frozen=True)
class Table:
    """A table as it is printed: columns, and rows of cells in their order; the first cell is the row's name."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""
    """What is said below it, of the columns that are left out."""


@dataclass(frozen=True)
class Picture:
    """A figure as it is set: SVG markup, title, text alternative, and the link to its PNG."""

    svg: Markup
    title: str
    words: str
    link: Markup


# label, and what the fraction or count is multiplied by to be shown
MEASURES = {
    "turns_per_hand": ("Turns a hand", 1.0),
    "median_turns": ("Median turns", 1.0),
    "cards_drawn_per_hand": ("Cards drawn a hand", 1.0),
    "blocked": ("Blocked hands, %", 100.0),
    "capped": ("Capped hands, %", 100.0),
    "hands_per_match": ("Hands a match", 1.0),
    "turns_per_match": ("Turns a match", 1.0),
    "first_dealer_wins": ("First dealer's matches, %", 100.0),
}
DASH = "–"


def write_reports(directory: Path | str, report: Report) -> list[Path]:
    """Write `report.html` and `report.md` into a folder and return their paths. Equal reports give equal bytes."""
    folder = Path(directory)
    sections = [
        {
            "heading": section.heading,
            "table": ranking_table(section.ranking),
            "compared": len(section.ranking) > 1,
            "pictures": [_picture(path, folder) for path in section.figures if path.suffix == ".svg"],
        }
        for section in report.sections
    ]
    words = {"report": report, "sections": sections, "facts": fact_rows(report.facts), "level": LEVEL}
    pages = {"report.html": _html(), "report.md": _markdown()}
    return [
        write_whole(folder / name, environment.get_template(f"{name}.j2").render(words).encode())
        for name, environment in pages.items()
    ]


def ranking_table(ranking: pd.DataFrame) -> Table:
    """Return a ranking as printed, a row a rule set, fairest first: spreads in percentage points with intervals.

    A ranking of one rule set has no rank and no best set. Positions are named only where the spread is surely above
    0. Of the measures that come with `_low` and `_high`, those in MEASURES are put in words and the rest kept as named.
    An ending that no hand came to, under any rule set, is left out and said in the note.
    """
    compared = len(ranking) > 1
    measures = [
        name for name in ranking.columns if name != "spread" and {f"{name}_low", f"{name}_high"} <= set(ranking.columns)
    ]
    never = [name for name in NEVER if name in measures and not ranking[name].any()]
    measures = [name for name in measures if name not in never]
    note = ""
    if never:
        most = max(float(ranking[f"{name}_high"].max()) for name in never)
        note = f"No hand was {' or '.join(never)} (at most {100.0 * most:.2g} %)."
    rows = []
    for record in ranking.to_dict("records"):
        row = [str(record["rules"])]
        if compared:
            low, high = record["rank_low"], record["rank_high"]
            row += [f"{low}" if low == high else f"{low} to {high}", "yes" if record["in_best_set"] else "no"]
        row.append(with_interval(*(record[key] * 100.0 for key in ("spread", "spread_low", "spread_high"))))
        sure = record["spread_low"] > 0.0
        row += [str(record[key]) if sure else DASH for key in ("best_position", "worst_position")]
        for name in measures:
            factor = MEASURES.get(name, ("", 1.0))[1]
            row.append(with_interval(*(record[key] * factor for key in (name, f"{name}_low", f"{name}_high"))))
        rows.append(tuple(row))
    ranks = ["Rank", "May be fairest"] if compared else []
    labels = [MEASURES[name][0] if name in MEASURES else name.replace("_", " ").capitalize() for name in measures]
    return Table(("Rules", *ranks, "Spread, points", "Best position", "Worst position", *labels), tuple(rows), note)


def fact_rows(facts: Facts) -> list[tuple[str, str]]:
    """Return the facts as label and text, numbers with thousands set apart."""
    return [
        ("Seed", str(facts.seed)),
        ("Hands", f"{facts.hands:,}: {facts.played}"),
        ("Line-up", facts.lineup),
        ("Stopped because", facts.stop_reason),
        ("Version", f"ochos-sim {facts.version}, random numbers version {facts.rng_version}"),
    ]


# --- setting -------------------------------------------------------------------------------------------------------


def _html() -> Environment:
    # StrictUndefined: a name that a template has and the report has not is a fault, not an empty place
    return Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )


def _markdown() -> Environment:
    """Markdown has other special characters than HTML, so all that is printed passes through `escape_markdown`."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=False,
        finalize=escape_markdown,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters["fenced"] = fenced
    environment.filters["table"] = _markdown_table
    return environment


def escape_markdown(value: object) -> str:
    """Return text that Markdown prints as it is, on one line, also in a table's cell; Markup is left alone."""
    if isinstance(value, Markup):
        return str(value)
    text = re.sub(r"([\\`*_\[\]<>|~#$&])", r"\\\1", " ".join(str(value).split()))
    # at the start of a line these would begin a list, a heading or a rule
    return re.sub(r"^(\d+)(?=[.)](?: |$))|^(?=[-+=])", lambda found: f"{found[0]}\\", text)


def fenced(text: str, language: str = "sh") -> Markup:
    """Return text as a Markdown code block, behind a fence longer than any in the text."""
    fence = "`" * max(3, 1 + max((len(run) for run in re.findall("`+", text)), default=0))
    # no escaping: between the fences everything stands as it is
    return Markup(f"{fence}{language}\n{text}\n{fence}")


def _markdown_table(rows: Iterable[Sequence[str]], columns: Sequence[str]) -> Markup:
    lines = [[escape_markdown(cell) for cell in row] for row in (columns, *rows)]
    lines.insert(1, ["---"] * len(columns))
    # the cells are escaped already
    return Markup("\n".join(f"| {' | '.join(line)} |" for line in lines))


def _picture(path: Path, folder: Path) -> Picture:
    svg = path.read_text(encoding="utf-8")
    root = ElementTree.fromstring(svg)
    title, words = (root.findtext(f"{{http://www.w3.org/2000/svg}}{tag}") or "" for tag in ("title", "desc"))
    if not title:
        raise ValueError(f"{path} has no title: figures for a report are made by save_figures")
    png = os.path.relpath(path.with_suffix(".png"), folder)
    # our own drawing, made from text that was escaped; the page's content policy stops anything else
    drawing = Markup(svg[svg.index("<svg") :].strip())
    return Picture(svg=drawing, title=title, words=words, link=Markup(quote(Path(png).as_posix())))
