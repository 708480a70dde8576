"""How answers come out: data to stdout in the form asked for, notes to stderr."""

import json
import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from door.options import Format

if TYPE_CHECKING:
    from rich.console import RenderableType

WIDTH = 110
"""Columns of a table where the output is no terminal."""


def note(text: str) -> None:
    """Print a line to stderr."""
    print(text, file=sys.stderr, flush=True)


def show(renderable: "RenderableType") -> None:
    """Print a rich table or text to stdout; into a file or pipe without colours and without blanks at the line ends."""
    from rich.console import Console

    if sys.stdout.isatty():
        Console(highlight=False).print(renderable)
        return
    console = Console(width=None if os.environ.get("COLUMNS", "").isdigit() else WIDTH, highlight=False)
    with console.capture() as captured:
        console.print(renderable)
    print("\n".join(line.rstrip() for line in captured.get().splitlines()))


def show_json(answer: Any) -> None:
    """Print one JSON document."""
    print(json.dumps(answer, indent=2, ensure_ascii=False, allow_nan=False))


def show_words(title: str, question: str, said: Sequence[str], form: Format) -> None:
    """Print a question with its answer in sentences, below a title."""
    from reports.tables import headline

    if form is Format.MD:
        print("\n\n".join([f"## {title}", question, *said]), end="\n\n")
        return
    print(title)
    print()
    for text in (question, *said):
        show(headline(text))
        print()


def show_csv(frame: Any) -> None:
    """Print a data frame as CSV."""
    print(frame.to_csv(index=False), end="")


def show_records(records: Sequence[Mapping[str, Any]], form: Format, table: "RenderableType | None" = None) -> None:
    """Print a list of records in the form asked for; `table` is how people see it, if not simply as it is."""
    from reports.tables import markdown, records_table

    if form is Format.JSON:
        show_json(records)
    elif form is Format.MD:
        print(markdown(records))
    elif form is Format.CSV:
        import csv

        writer = csv.DictWriter(sys.stdout, list(records[0]) if records else [], lineterminator="\n")
        writer.writeheader()
        writer.writerows(records)
    else:
        show(records_table(records) if table is None else table)


def show_events(events: Iterable[Mapping[str, Any]], form: Format) -> None:
    """Print a trace: JSON lines, or as it would be told."""
    from reports.tables import trace_lines

    lines = (json.dumps(event, ensure_ascii=False) for event in events) if form is Format.JSON else trace_lines(events)
    for line in lines:
        print(line)
