"""Heat maps: a number in every cell, with its interval where that fits; the colour only helps the eye.

Row names stand on the left, broken to fit. Columns have their names where these fit, and else numbers, which then stand
before the rows' names too. Nobody has to read a colour: its sign or size stands in the cell.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import matplotlib as mpl
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.lines import Line2D
from matplotlib.patches import Patch, Rectangle

from reports.drawing import BLANK, EDGE, GRID, INK, LEFT, SOFT, WIDTH, canvas, minus, text_width, wrap
from reports.output import LEVEL, decimals

NAMES, NAME_LINE, MOST_NAMES = 8.5, 0.15, 1.75
"""Points of row names, inches of a line of them, most inches that they are wide."""
NUMBERS, INTERVALS = (9, 8.5, 8, 7.5, 7, 6.5, 6), (7.5, 7, 6.5)
"""Points that are tried, the largest first."""
ONE_LINE, TWO_LINES = 0.27, 0.38
"""Inches: heights of cells without and with their interval."""


def _part(name: str, low: float, high: float) -> Colormap:
    """Return a part of one of matplotlib's colour maps: its ends are too dark for numbers."""
    whole = mpl.colormaps[name]
    return LinearSegmentedColormap.from_list(name, [whole(low + (high - low) * k / 16) for k in range(17)])


SIDES = _part("PuOr", 0.12, 0.88)
"""Two sides of a middle: orange below, violet above; safe for colour-blind people."""
SIZES = _part("YlOrBr", 0.0, 0.72)
"""From small, light, to large, dark; light to dark in grey as well."""


@dataclass(frozen=True)
class Cell:
    """A number with its interval, in the unit shown, and whether it is marked."""

    value: float
    low: float
    high: float
    marked: bool


@dataclass(frozen=True)
class Scale:
    """Which colour a number has: those of `colours` from `low` to `high`; keys: labels and numbers for the legend."""

    colours: Colormap
    low: float
    high: float
    keys: Sequence[tuple[str, float]] = ()

    def colour(self, value: float) -> tuple[float, float, float, float]:
        """Return the colour of a number."""
        wide = self.high - self.low
        r, g, b, a = self.colours((value - self.low) / wide if wide > 0.0 else 0.5)
        return r, g, b, a


def draw_heat_map(
    ax: Axes | None,
    rows: Sequence[str],
    columns: Sequence[str],
    cells: Mapping[tuple[int, int], Cell],
    *,
    title: str,
    across: str,
    down: str,
    scale: Scale,
    mark: str,
    blank: str,
    signed: bool = False,
    footer: str = "",
) -> Axes:
    """Draw cells by (row, column) from 0 on, on `ax` or on a figure made to measure; pairs without a cell stay blank.

    mark, blank: what the legend says of marked cells and of blank ones; signed: numbers above 0 get a plus; for the
    rest see `Canvas.finish`. All numbers have the decimals that the widest interval allows.
    """
    digits = min(decimals(cell.low, cell.high) for cell in cells.values())
    sign = "+" if signed else ""
    numbers = {at: _number(cell.value, digits, sign) for at, cell in cells.items()}
    intervals = {
        at: f"{_number(cell.low, digits, sign)} to {_number(cell.high, digits, sign)}" for at, cell in cells.items()
    }
    wide = max(text_width(name, NAMES) for name in rows)
    left = max(LEFT + 0.2, min(wide, MOST_NAMES) + EDGE + 0.1)
    column = (WIDTH - left - EDGE) / len(columns)
    named = all(text_width(name, NAMES) <= column - 0.08 for name in columns)
    if not named:
        left = max(left, min(max(text_width(f"{len(rows)}  {name}", NAMES) for name in rows), MOST_NAMES) + EDGE + 0.1)
    with canvas(ax, left, EDGE) as sheet:
        ax = sheet.ax
        column = sheet.inches / len(columns)
        points = _fitting(numbers.values(), column, NUMBERS)
        small = _fitting(intervals.values(), column, INTERVALS)
        two = text_width(max(intervals.values(), key=len), small) <= column - 0.06
        before = [text_width("" if named else f"{k}  ", NAMES) for k in range(1, len(rows) + 1)]
        labels = [
            ("" if named else f"{k}  ") + wrap(name, left - EDGE - 0.08 - room, NAMES)
            for k, (name, room) in enumerate(zip(rows, before, strict=True), 1)
        ]
        heights = [max(TWO_LINES if two else ONE_LINE, NAME_LINE * (text.count("\n") + 1) + 0.04) for text in labels]
        tops = [sum(heights[:k]) for k in range(len(rows) + 1)]
        ax.set_xlim(0.0, len(columns))
        ax.set_ylim(tops[-1], 0.0)
        for i, top in enumerate(tops[:-1]):
            middle = top + heights[i] / 2
            for j in range(len(columns)):
                cell = cells.get((i, j))
                colour = scale.colour(cell.value) if cell else mpl.colors.to_rgba(BLANK)
                ax.add_patch(Rectangle((j, top), 1, heights[i], facecolor=colour, edgecolor="white", linewidth=1.2))
                if cell is None:
                    continue
                ink = max(("black", "white"), key=partial(_contrast, ground=colour))
                lift = 0.07 if two else 0.0
                ax.text(
                    j + 0.5, middle - lift, numbers[i, j], ha="center", va="center", fontsize=points, color=ink,
                    weight="bold" if two else "normal",
                )  # fmt: skip
                if two:
                    ax.text(
                        j + 0.5, middle + 0.09, intervals[i, j], ha="center", va="center", fontsize=small, color=ink
                    )
                if cell.marked:
                    ax.plot([j + 0.05 / column], [top + 0.05], color=ink, **_MARK)
        ax.set_yticks([top + height / 2 for top, height in zip(tops, heights, strict=False)], labels)
        ax.set_xticks(
            [j + 0.5 for j in range(len(columns))],
            columns if named else [str(j) for j in range(1, len(columns) + 1)],
        )
        for label in (*ax.get_yticklabels(), *ax.get_xticklabels()):
            label.set(fontsize=NAMES, color=INK, parse_math=False)
        ax.tick_params(axis="both", length=0)
        ax.grid(visible=False)
        keys: list[Artist] = [
            Patch(label=text, facecolor=scale.colour(at), edgecolor=GRID, linewidth=0.6) for text, at in scale.keys
        ]
        if any(cell.marked for cell in cells.values()):
            keys.append(Line2D([], [], color=INK, label=mark, **_MARK))
        if len(cells) < len(rows) * len(columns):
            keys.append(Patch(label=blank, facecolor=BLANK))
        if not two:
            most = max((cell.high - cell.low) / 2 for cell in cells.values())
            keys.append(Line2D([], [], linestyle="none", label=f"{LEVEL} intervals: ± {most:.2g} at most", color=SOFT))
        sheet.finish(title=title, across=across, down=down, keys=keys, body=tops[-1], footer=footer)
        ax.spines["bottom"].set_visible(False)
    return ax


_MARK: dict[str, Any] = {
    "linestyle": "none",
    "marker": "o",
    "markersize": 3.2,
    "markerfacecolor": "none",
    "markeredgewidth": 0.9,
}


def _number(value: float, digits: int, sign: str) -> str:
    text = f"{value:{sign}.{digits}f}"
    # what rounds to 0 has no sign
    return minus(text.lstrip("+-") if float(text) == 0.0 else text)


def _fitting(texts: Iterable[str], column: float, sizes: Sequence[float]) -> float:
    longest = max(texts, key=len)
    return next((points for points in sizes if text_width(longest, points) <= column - 0.05), sizes[-1])


def _contrast(ink: str, ground: Sequence[float]) -> float:
    """Return the contrast of a colour on another, 1 to 21 (WCAG 2.2)."""
    light, dark = sorted((_luminance(mpl.colors.to_rgba(ink)), _luminance(ground)), reverse=True)
    return (light + 0.05) / (dark + 0.05)


def _luminance(colour: Sequence[float]) -> float:
    r, g, b = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in colour[:3])
    return 0.2126 * r + 0.7152 * g + 0.0722 * b
