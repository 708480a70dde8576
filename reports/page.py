"""A report as a page and as Markdown, whatever was asked: `report.html` stands alone in one file, `report.md` links.

What is said comes from others (`reports/fairness.py`, `reports/figures.py`); here it is set. Every piece of text is
escaped on its way into a template: HTML by Jinja's autoescape, Markdown by `finalize`, so that no template can forget
it. The page loads nothing: figures stand in it as SVG, and its content policy forbids all requests and all scripts but
the one that sorts its tables, which it knows by its hash.
"""

import hashlib
import os
import re
from base64 import b64encode
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote
from xml.etree import ElementTree

import pandas as pd
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup, escape

from reports.language import language, mark, numeral, say, say_count
from reports.output import LEVEL, NEVER, with_interval
from reports.tables import none_ended, rank_range
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
class Number:
    """A number as it is printed, `27.5 (27.4 to 27.6)`, and the value by which its column is sorted."""

    text: str
    value: float

    def __str__(self) -> str:
        """Return it as printed."""
        return self.text


@dataclass(frozen=True)
class Table:
    """A table as it is printed: its caption, columns, and rows of cells in their order.

    The first cell is the row's name. In a column that holds numbers a plain text (a dash) is sorted behind them.
    """

    caption: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | Number, ...], ...]
    note: str = ""
    """What is said below it: what the columns mean, which are left out."""


@dataclass(frozen=True)
class Section:
    """A part of the answer, as for one number of players: heading, paragraphs, tables, and figures below them.

    figures: the paths that `save_figures` returned; of each figure the SVG goes into the page and the PNG beside
    it is linked from the Markdown.
    """

    heading: str
    said: Sequence[str] = ()
    tables: Sequence[Table] = ()
    figures: Sequence[Path] = ()


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

    rules: the first is what the others are compared with, unless they name another base. method: paragraphs (deals,
    pairing, intervals, level). command: what to type to get the same numbers again. glossary: what the columns mean,
    as (term, meaning).
    """

    question: str
    verdict: Sequence[str]
    sections: Sequence[Section]
    method: Sequence[str]
    rules: Sequence[RulesCompared]
    command: str
    facts: Facts
    glossary: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True)
class Picture:
    """A figure as it is set: SVG markup, title, text alternative, and the link to its PNG."""

    svg: Markup
    title: str
    words: str
    link: Markup


# label, and what the fraction or count is multiplied by to be shown
MEASURES = {
    "turns_per_hand": (mark("Turns a hand"), 1.0),
    "median_turns": (mark("Median turns"), 1.0),
    "cards_drawn_per_hand": (mark("Cards drawn a hand"), 1.0),
    "blocked": (mark("Blocked hands, %"), 100.0),
    "capped": (mark("Capped hands, %"), 100.0),
    "hands_per_match": (mark("Hands a match"), 1.0),
    "turns_per_match": (mark("Turns a match"), 1.0),
    "first_dealer_wins": (mark("First dealer's matches, %"), 100.0),
}
DASH = "–"
FEW_CHANGES = 6
"""So many options of a rule set are told beside the verdict; where more differ, how many."""


def write_reports(directory: Path | str, report: Report) -> list[Path]:
    """Write `report.html` and `report.md` into a folder and return their paths. Equal reports give equal bytes."""
    folder = Path(directory)
    sections = [
        {
            "heading": section.heading,
            "said": section.said,
            "tables": section.tables,
            "pictures": [_picture(path, folder) for path in section.figures if path.suffix == ".svg"],
        }
        for section in report.sections
    ]
    script = TEMPLATES.joinpath("report.js").read_text(encoding="utf-8")
    # with their numbers, for links to what is told in full
    differing = [(number, rules) for number, rules in enumerate(report.rules, start=1) if rules.changes]
    words = {
        "report": report,
        "sections": sections,
        "facts": fact_rows(report.facts),
        "headings": {
            "words": say("What the columns mean"),
            "rules": say("Rules compared") if len(report.rules) > 1 else say("The rules"),
            "method": say("Method"),
            "again": say("The same numbers again"),
        },
        "differing": differing,
        "bases": sorted({rules.base for _, rules in differing}),
        "few": FEW_CHANGES,
        "language": language(),
        "say": say,
        "say_count": say_count,
        "in_words": _change_in_words,
        # our own file, and nothing else: what is said in a report never comes into it
        "script": Markup(script),
        "script_hash": f"sha256-{b64encode(hashlib.sha256(script.encode()).digest()).decode()}",
    }
    pages = {"report.html": _html(), "report.md": _markdown()}
    return [
        write_whole(folder / name, environment.get_template(f"{name}.j2").render(words).encode())
        for name, environment in pages.items()
    ]


def estimate_cell(value: float, low: float, high: float, factor: float = 1.0) -> Number:
    """Return an estimate with its interval, times a factor, as a cell that is sorted by the value."""
    return Number(with_interval(value * factor, low * factor, high * factor), value * factor)


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
    notes = []
    if never:
        most = max(float(ranking[f"{name}_high"].max()) for name in never)
        notes.append(none_ended(never, most))
    notes.append(
        say(
            "Position 1 sits left of the dealer, the last position is the dealer. Spread: by how many percentage "
            "points of win share the best position beats the worst; 0 is perfectly fair."
        )
    )
    if compared:
        notes.append(say("May be fairest: no other rule set here is surely fairer."))
    notes.append(say("A dash: no position surely wins more often than another."))
    rows = []
    for record in ranking.to_dict("records"):
        row: list[str | Number] = [str(record["rules"])]
        if compared:
            low, high = record["rank_low"], record["rank_high"]
            row += [Number(rank_range(low, high), low), say("yes") if record["in_best_set"] else say("no")]
        row.append(estimate_cell(record["spread"], record["spread_low"], record["spread_high"], 100.0))
        sure = record["spread_low"] > 0.0
        for key in ("best_position", "worst_position"):
            row.append(Number(str(record[key]), record[key]) if sure else DASH)
        for name in measures:
            factor = MEASURES.get(name, ("", 1.0))[1]
            row.append(estimate_cell(record[name], record[f"{name}_low"], record[f"{name}_high"], factor))
        rows.append(tuple(row))
    ranks = [say("Rank"), say("May be fairest")] if compared else []
    labels = [say(MEASURES[name][0]) if name in MEASURES else name.replace("_", " ").capitalize() for name in measures]
    positions = (say("Spread, points"), say("Best position"), say("Worst position"))
    columns = (say("Rules"), *ranks, *positions, *labels)
    order = (
        say("Rule sets, the fairest first, with {level} intervals in brackets", level=LEVEL)
        if compared
        else say("How fair the positions are, with {level} intervals in brackets", level=LEVEL)
    )
    return Table(order, columns, tuple(rows), " ".join(notes))


def _change_in_words(change: Change, base: str = "") -> str:
    """Return `draw.limit 3 instead of 1`, with the base if it is not clear, for a line of text."""
    fields = {"option": change.key, "now": change.after, "before": change.before, "base": base}
    if base:
        return say("{option} {now} instead of {before} in {base}", **fields)
    return say("{option} {now} instead of {before}", **fields)


def fact_rows(facts: Facts) -> list[tuple[str, str]]:
    """Return the facts as label and text, numbers with thousands set apart."""
    return [
        (say("Seed"), str(facts.seed)),
        (say("Hands"), f"{numeral(f'{facts.hands:,}')}: {facts.played}"),
        (say("Line-up"), facts.lineup),
        (say("Stopped because"), facts.stop_reason),
        (
            say("Version"),
            say(
                "ochos-sim {version}, random numbers version {numbers}",
                version=facts.version,
                numbers=str(facts.rng_version),
            ),
        ),
    ]


KEPT = 24
"""Characters of a name that is never broken; a longer one may have no place on a phone's line."""
LONG = 40
"""From so many characters on a text gets a column of some width, where a table is wider than the screen."""


# --- setting -------------------------------------------------------------------------------------------------------


def _html() -> Environment:
    # StrictUndefined: a name that a template has and the report has not is a fault, not an empty place
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters |= {"unbroken": _unbroken, "stacked": _stacked, "marks": _marks}
    return environment


def _unbroken(text: object) -> Markup:
    """Keep names and options whole where a line ends: they break before a plus (`preset+change`), not at hyphens."""

    def name(found: str) -> Markup:
        parts = re.split(r"(?<=.)(?=\+)", found)
        kept = Markup('<span class="name">{}</span>')
        return Markup("<wbr>").join(kept.format(part) if len(part) <= KEPT else part for part in parts)

    parts = re.split(r"(\S*[-+]\S*)", str(text))
    return Markup("").join(name(part) if k % 2 else escape(part) for k, part in enumerate(parts))


def _stacked(cell: str | Number) -> str | Markup:
    """Put the interval of a number under its value."""
    return cell.text.replace(" (", "\n(") if isinstance(cell, Number) else _unbroken(cell)


def _marks(cell: str | Number) -> Markup:
    """Return a cell's attributes: by what it is sorted, and whether it is long and wants room."""
    if isinstance(cell, Number):
        return Markup(' data-key="{}"').format(repr(float(cell.value)))
    return Markup(' class="long"' if len(cell) > LONG else "")


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


def _markdown_table(rows: Iterable[Sequence[object]], columns: Sequence[str]) -> Markup:
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
