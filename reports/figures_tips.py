"""Figures that answer `is the tip true`: the claims with their verdicts, and a value by how many cards are held.

For each figure one function says the finding (the title), one draws and returns the Axes, and one gives the numbers in
words. Nothing is estimated here, and no verdict given.
"""

from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from reports.dots import Block, Dot, Look, draw_dots
from reports.drawing import BLUE, INK, SOFT, VERMILION, minus, records, require, said, sentences
from reports.heat import SIDES, SIZES, Cell, Scale, draw_heat_map
from reports.output import LEVEL, decimals

# --- claims --------------------------------------------------------------------------------------------------------

VERDICTS = {
    "holds": Look("the claim holds", BLUE, "o", True, 5.5),
    "too small": Look("true or not, too small to matter", SOFT, "D", False, 4.5),
    "undecided": Look("undecided", INK, "x", False, 6.0),
    "the opposite": Look("the opposite holds", VERMILION, "s", True),
}
"""How the verdicts look. They are told apart by shape and filling; the words stand beside each claim."""


def claims_finding(claims: pd.DataFrame) -> str:
    """Return how many claims hold, and what became of the rest."""
    rows = _claims(claims)
    counts = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in VERDICTS}
    rest = [
        f"{counts[verdict]} {words}"
        for verdict, words in (
            ("the opposite", "the other way round"),
            ("too small", "too small to matter"),
            ("undecided", "undecided"),
        )
        if counts[verdict]
    ]
    number = "None" if not counts["holds"] else str(counts["holds"]) if rest else "All"
    hold = "hold" if counts["holds"] != 1 else "holds"
    return f"{number} of {len(rows)} claims {hold}" + (f"; {', '.join(rest)}" if rest else "")


def claims_figure(claims: pd.DataFrame, ax: Axes | None = None, *, footer: str = "") -> Axes:
    """Draw what following each claim gains, with its interval and its verdict, and the gains too small to matter.

    claims: a row a claim, with claim (in words), effect, effect_low, effect_high, smallest (the smallest effect that
    matters), all as shares of hands won (0 to 1), and verdict (a key of VERDICTS). They are drawn as they come.
    """
    rows = _claims(claims)
    blocks = [
        Block(
            heading=str(row["claim"]),
            note=f"{row['verdict']} · {_effect(row)}",
            look=VERDICTS[row["verdict"]],
            dots=(Dot(100.0 * row["effect"], 100.0 * row["effect_low"], 100.0 * row["effect_high"]),),
            band=(-100.0 * row["smallest"], 100.0 * row["smallest"]),
        )
        for row in rows
    ]
    return draw_dots(
        ax,
        blocks,
        title=claims_finding(claims),
        across="What following the tip gains (percentage points of win share)",
        down="Claim; on the right: verdict, points of win share and interval",
        line=(0.0, "no difference"),
        looks=tuple(VERDICTS.values()),
        interval=f"{LEVEL} interval",
        band=f"too small to matter (within ± {_smallest(rows)} points)",
        footer=footer,
    )


def claims_in_words(claims: pd.DataFrame) -> str:
    """Return the numbers of `claims_figure` in sentences."""
    rows = _claims(claims)
    intro = (
        f"What following each tip gains in percentage points of win share, with {LEVEL} intervals; "
        f"less than {_smallest(rows)} does not matter"
    )
    return sentences([intro, *(f"{row['claim']}: {_effect(row)}, {row['verdict']}" for row in rows)])


def _claims(claims: pd.DataFrame) -> list[dict[str, Any]]:
    columns = ["claim", "effect", "effect_low", "effect_high", "verdict", "smallest"]
    require(claims, columns, "frame of claims")
    unknown = [verdict for verdict in claims["verdict"] if verdict not in VERDICTS]
    if unknown:
        raise ValueError(f"no such verdict: {unknown[0]}; allowed: {', '.join(VERDICTS)}")
    return records(claims)


def _effect(row: dict[str, Any]) -> str:
    return said(row["effect"], row["effect_low"], row["effect_high"], 100.0)


def _smallest(rows: list[dict[str, Any]]) -> str:
    sizes = sorted({100.0 * row["smallest"] for row in rows})
    return f"{sizes[0]:.3g}" if len(sizes) == 1 else f"{sizes[0]:.3g} to {sizes[-1]:.3g}"


# --- by cards held -------------------------------------------------------------------------------------------------


def hand_size_finding(sizes: pd.DataFrame, *, what: str, unit: str, factor: float = 100.0) -> str:
    """Return where the value is largest and smallest."""
    rows = _sizes(sizes)
    least, most = (pick(rows, key=lambda row: row["value"]) for pick in (min, max))
    if most["low"] <= least["high"]:
        return f"{what}: no sure difference by cards held"
    ends = [
        minus(f"{factor * row['value']:.{decimals(factor * row['low'], factor * row['high'])}f} {unit}")
        + f" with {row['own']} {'card' if row['own'] == 1 else 'cards'} against {row['rival']}"
        for row in (most, least)
    ]
    return f"{what}: {'; '.join(ends)}"


def hand_size_heat_map(
    sizes: pd.DataFrame,
    ax: Axes | None = None,
    *,
    what: str,
    unit: str,
    factor: float = 100.0,
    even: float | None = None,
    footer: str = "",
) -> Axes:
    """Draw a value by how many cards the player holds (rows) and by the smallest hand of the others (columns).

    sizes: own, rival (cards), value, low, high, a row for each pair that was met. what, unit: of the value, such as
    `Chance to win the hand` and `%`; factor: what the frame's numbers are multiplied by for that unit. even: a value,
    in the frame's unit, that divides good from bad (0 for a gain); cells whose interval includes it are marked.
    """
    rows = _sizes(sizes)
    own, rival = sorted({row["own"] for row in rows}), sorted({row["rival"] for row in rows})
    cells = {
        (own.index(row["own"]), rival.index(row["rival"])): Cell(
            factor * row["value"],
            factor * row["low"],
            factor * row["high"],
            marked=even is not None and row["low"] <= even <= row["high"],
        )
        for row in rows
    }
    values = [cell.value for cell in cells.values()]
    if even is None:
        scale = Scale(SIZES, min(values), max(values), (("least", min(values)), ("most", max(values))))
    else:
        middle = factor * even
        most = max(abs(value - middle) for value in values)
        scale = Scale(
            SIDES,
            middle - most,
            middle + most,
            ((f"above {middle:g}", middle + 0.6 * most), (f"below {middle:g}", middle - 0.6 * most)),
        )
    return draw_heat_map(
        ax,
        [str(number) for number in own],
        [str(number) for number in rival],
        cells,
        title=hand_size_finding(sizes, what=what, unit=unit, factor=factor),
        across="Cards in the smallest hand of the others",
        down=f"Cards in the player's own hand; in the cells: {what[0].lower()}{what[1:]} ({unit})",
        scale=scale,
        mark="" if even is None else f"not surely off {factor * even:g} (interval includes it)",
        blank="not met",
        signed=even == 0.0,
        footer=footer,
    )


def hand_size_in_words(sizes: pd.DataFrame, *, what: str, unit: str, factor: float = 100.0) -> str:
    """Return the numbers of `hand_size_heat_map` in sentences."""
    told: dict[int, list[str]] = {}
    for row in _sizes(sizes):
        told.setdefault(row["own"], []).append(f"{row['rival']}: {said(row['value'], row['low'], row['high'], factor)}")
    intro = f"{what} ({unit}) by cards in one's own hand and in the smallest of the others, with {LEVEL} intervals"
    return sentences([intro, *(f"Own {own}, smallest other {', '.join(parts)}" for own, parts in told.items())])


def _sizes(sizes: pd.DataFrame) -> list[dict[str, Any]]:
    require(sizes, ["own", "rival", "value", "low", "high"], "frame of hand sizes")
    return records(sizes)
