"""The options that mean the same at every verb, declared once. Only typer is imported, so that help comes at once."""

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer


class Format(StrEnum):
    """How an answer is printed."""

    TABLE = "table"
    JSON = "json"
    CSV = "csv"
    MD = "md"


AIM, RULES, TABLE, PLAY, OUTPUT = "The aim", "Rules", "The table", "How much", "Output"
DEFAULT_RULES = "ochos-locos"
DEFAULT_SEED = "1"

RulesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rules",
        metavar="NAME[+CHANGE…]|FILE.toml",
        rich_help_panel=RULES,
        help=f"House rules: see `presets`. [dim]\\[default: {DEFAULT_RULES}][/dim]",
    ),
]
SeveralRulesOption = Annotated[
    list[str] | None,
    typer.Option(
        "--rules",
        metavar="NAME[+CHANGE…]|FILE.toml",
        rich_help_panel=RULES,
        help=f"House rules, once for each rule set: see `presets`. [dim]\\[default: {DEFAULT_RULES}][/dim]",
    ),
]
SetOption = Annotated[
    list[str] | None,
    typer.Option("--set", metavar="KEY=VALUE", rich_help_panel=RULES, help="Change one option, as draw.limit=3."),
]
PlayersOption = Annotated[
    str, typer.Option("--players", metavar="N", rich_help_panel=TABLE, help="Players at the table, 2 to 10.")
]
VaryOption = Annotated[
    list[str] | None,
    typer.Option(
        "--vary",
        metavar="KEY=A,B…|CHANGE,CHANGE…",
        rich_help_panel=RULES,
        help="Rule sets that each differ from the base in one thing: an option's values, or named changes.",
    ),
]
SeveralPlayersOption = Annotated[
    str,
    typer.Option(
        "--players", metavar="N|N,N|N-N", rich_help_panel=TABLE, help="Players at the table; several, as 2,4 or 2-5."
    ),
]
StrategyOption = Annotated[
    list[str] | None,
    typer.Option(
        "--strategy",
        metavar="NAME|FILE.py[:NAME]",
        rich_help_panel=TABLE,
        help="Once for all seats, or once a seat: see `strategies`. [dim]\\[default: random][/dim]",
    ),
]
ForgetOption = Annotated[
    list[str] | None,
    typer.Option(
        "--forget-last-card",
        metavar="P",
        rich_help_panel=TABLE,
        help="Chance to forget the last-card call; once for all seats, or once a seat.",
    ),
]
IllegalOption = Annotated[
    list[str] | None,
    typer.Option(
        "--illegal-rate",
        metavar="P",
        rich_help_panel=TABLE,
        help="Chance per turn to play a card that may not be played; once for all seats, or once a seat.",
    ),
]
NoticeOption = Annotated[
    str,
    typer.Option("--notice-rate", metavar="P", rich_help_panel=TABLE, help="Chance that such an error is noticed."),
]
HandsOption = Annotated[
    str | None,
    typer.Option(
        "--hands",
        metavar="N",
        rich_help_panel=PLAY,
        help="Hands to play under each rule set: 300000, 300k, 2M, 1e6. [dim]\\[default: 100k][/dim]",
    ),
]
MatchesOption = Annotated[
    str | None,
    typer.Option("--matches", metavar="N", rich_help_panel=PLAY, help="Matches to play, instead of single hands."),
]
PrecisionOption = Annotated[
    str | None,
    typer.Option(
        "--precision",
        metavar="X",
        rich_help_panel=PLAY,
        help="Stop when every win share (fairness: spread; compare: gain) is known to ± X, as 0.002; N is then the "
        "upper limit [dim]\\[default: 100M][/dim].",
    ),
]
FirstDealerOption = Annotated[
    str | None,
    typer.Option(
        "--first-dealer",
        metavar="SEAT",
        rich_help_panel=TABLE,
        help="Who deals first in a match. [dim]\\[default: by chance][/dim]",
    ),
]
LineupOption = Annotated[
    list[str] | None,
    typer.Option(
        "--lineup",
        metavar="NAME|NAME,NAME…",
        rich_help_panel=TABLE,
        help="Who plays, once for each line-up: one for all seats, or one a seat, as sensible,random.",
    ),
]
MeasureOption = Annotated[
    list[str] | None,
    typer.Option(
        "--measure",
        metavar="NAME",
        rich_help_panel=OUTPUT,
        help="What else to tell, as stuck_per_hand or drama; once for each measure. "
        "[dim]\\[default: turns, cards drawn, endings][/dim]",
    ),
]
SeedOption = Annotated[
    str,
    typer.Option(
        "--seed", metavar="N|random", rich_help_panel=PLAY, help="The same seed gives the same hands, everywhere."
    ),
]
ThreadsOption = Annotated[
    str | None,
    typer.Option(
        "--threads",
        metavar="N",
        rich_help_panel=PLAY,
        help="Changes the speed and nothing else. [dim]\\[default: all cores][/dim]",
    ),
]
FormatOption = Annotated[Format, typer.Option("--format", rich_help_panel=OUTPUT, help="How to print the answer.")]
OutOption = Annotated[
    Path | None,
    typer.Option(
        "--out",
        metavar="DIR",
        rich_help_panel=OUTPUT,
        help="Write tables, figures and a report there; an interrupted run goes on from there.",
    ),
]
QuietOption = Annotated[bool, typer.Option("--quiet", rich_help_panel=OUTPUT, help="No progress, no notes.")]
