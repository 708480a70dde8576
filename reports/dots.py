"""Rows of dots with a bar for the interval, in blocks from top to bottom, each with its name above its rows.

Names stand inside the plot because they are long (`ochos-locos+no-eight-on-eight`): no margin has to be guessed, and
one narrow column can be read on a phone. What sets blocks apart is a matter of shape and filling; colour only helps.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import ScaledTranslation, blended_transform_factory

from reports.drawing import (
    BLUE,
    GRID,
    INK,
    RIGHT,
    SOFT,
    VERMILION,
    Canvas,
    canvas,
    interval_key,
    paper,
    text_width,
    wrap,
)

ROW, MANY_ROWS, NARROW_ROW = 0.19, 60, 0.155
"""Inches; rows, from which on they are narrow; inches."""
BAND = "#e3e3e3"


@dataclass(frozen=True)
class Look:
    """How a block's dots look, and what the legend says that this means."""

    label: str
    colour: str
    marker: str
    filled: bool
    size: float = 5.0

    def style(self) -> dict[str, Any]:
        """Return it as matplotlib takes it."""
        return {
            "color": self.colour,
            "marker": self.marker,
            "markersize": self.size,
            "markerfacecolor": self.colour if self.filled else "white",
            "markeredgecolor": self.colour,
            "markeredgewidth": 1.3,
        }


def best_look(label: str) -> Look:
    """Return the look of what may be the best, and of dots that nothing sets apart."""
    return Look(label, BLUE, "o", True, 5.5)


def other_look(label: str) -> Look:
    """Return the look of what is surely not the best."""
    return Look(label, VERMILION, "s", False)


@dataclass(frozen=True)
class Dot:
    """One row: an estimate with its interval; its name on the left, its number on the right."""

    value: float
    low: float
    high: float
    name: str = ""
    number: str = ""


@dataclass(frozen=True)
class Block:
    """Its name, a note at the right end of the same line, its rows, and a band from low to high behind them."""

    heading: str
    dots: tuple[Dot, ...]
    look: Look
    note: str = ""
    band: tuple[float, float] | None = None


@dataclass(frozen=True)
class Brackets:
    """Bars on the right that join the blocks from one number to another; label: what the legend says of them."""

    label: str
    joined: Sequence[tuple[int, int]]


def draw_dots(
    ax: Axes | None,
    blocks: Sequence[Block],
    *,
    title: str,
    across: str,
    down: str,
    looks: Sequence[Look],
    interval: str,
    line: tuple[float, str] | None = None,
    from_zero: bool = False,
    band: str = "",
    brackets: Brackets | None = None,
    footer: str = "",
) -> Axes:
    """Draw blocks of rows from top to bottom on `ax`, or on a figure made to measure.

    looks: what the legend tells apart, none for a plain `estimate`; interval: what it says of the bars; line: a value
    with its label, drawn from top to bottom; from_zero: the axis starts at 0; band: what the legend says of the blocks'
    bands; for the rest see `Canvas.finish`.
    """
    with canvas(ax) as sheet:
        ax = sheet.ax
        _set_limits(ax, blocks, line, from_zero)
        rows = 0.0
        if line is not None:
            rows += 1.0
            _vertical_line(ax, *line)
        names: dict[float, str] = {}
        tops, middles = [], []
        for block in blocks:
            tops.append(rows)
            rows = _heading(ax, block, rows, sheet.inches)
            ys = [rows + k + 0.5 for k in range(len(block.dots))]
            names |= {y: dot.name for y, dot in zip(ys, block.dots, strict=True) if dot.name}
            _dots(sheet, block, ys)
            middles.append(ys[len(ys) // 2])
            rows += len(block.dots) + 0.6
        for block, top, end in zip(blocks, tops, [*tops[1:], rows], strict=True):
            if block.band is not None:
                ax.fill_betweenx([top, end], *block.band, color=BAND, linewidth=0, zorder=0.4)
        if brackets is not None:
            _brackets(sheet, brackets, middles)
        ax.set_ylim(rows, 0.0)
        ax.set_yticks(list(names), list(names.values()))
        # named here too, because an axes that was given is not of this style
        ax.grid(axis="x", color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
        ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        keys = _keys(blocks, looks, interval)
        if brackets is not None and brackets.joined:
            keys.append(Line2D([], [], label=brackets.label, color=SOFT, linewidth=3, solid_capstyle="butt"))
        if band:
            keys.append(Patch(label=band, facecolor=BAND, edgecolor="none"))
        sheet.finish(
            title=title,
            across=across,
            down=down,
            keys=keys,
            body=rows * (ROW if rows <= MANY_ROWS else NARROW_ROW),
            footer=footer,
        )
    return ax


def _set_limits(ax: Axes, blocks: Sequence[Block], line: tuple[float, str] | None, from_zero: bool) -> None:
    dots = [dot for block in blocks for dot in block.dots]
    values = [x for dot in dots for x in (dot.value, dot.low, dot.high)]
    values += [x for block in blocks for x in block.band or ()]
    values += [line[0]] if line is not None else []
    low, high = min(0.0 if from_zero else min(values), *values), max(values)
    room = max((high - low) * 0.05, abs(high) * 0.002, 1e-3)
    ax.set_xlim(low - room / (2.5 if from_zero else 1.0), high + room)


def _vertical_line(ax: Axes, value: float, label: str) -> None:
    left, right = ax.get_xlim()
    part = (value - left) / (right - left)
    side = "left" if part < 0.2 else "right" if part > 0.8 else "center"
    ax.vlines(value, 1.0, 1e6, colors=INK, linestyles=(0, (5, 3)), linewidths=1.1, zorder=1.5)
    ax.text(value, 0.5, label, ha=side, va="center", fontsize=8.5, color=INK, bbox=paper(), zorder=3)


def _heading(ax: Axes, block: Block, top: float, inches: float) -> float:
    """Write the name of a block, and its note, from row `top` on; return the row below."""
    note = text_width(block.note, 9) + 0.15 if block.note else 0.0
    name = wrap(block.heading, max(inches - note, inches * 0.3), 9, bold=True)
    lines = name.count("\n") + 1
    text: dict[str, Any] = {
        "transform": ax.get_yaxis_transform(),
        "color": INK,
        "fontsize": 9,
        "parse_math": False,
        "bbox": paper(),
        "zorder": 3,
    }
    bottom = top + 0.95 * lines
    ax.text(0.0, bottom, name, ha="left", va="bottom", weight="bold", linespacing=1.15, **text)
    if block.note:
        ax.text(1.0, bottom, block.note, ha="right", va="bottom", **text)
    return top + float(lines)


def _dots(sheet: Canvas, block: Block, ys: Sequence[float]) -> None:
    ax = sheet.ax
    values = [dot.value for dot in block.dots]
    if len(values) > 1:
        ax.plot(values, ys, color="#bbbbbb", linewidth=0.9, zorder=2)
    # caps stand out above and below the dot, so an interval narrower than the dot is still seen
    ax.errorbar(
        values,
        ys,
        xerr=[
            [max(0.0, dot.value - dot.low) for dot in block.dots],
            [max(0.0, dot.high - dot.value) for dot in block.dots],
        ],
        linestyle="none",
        elinewidth=1.5,
        capsize=4.5,
        capthick=1.3,
        zorder=4,
        **block.look.style(),
    )
    for dot, y in zip(block.dots, ys, strict=True):
        if dot.number:
            beside = ax.get_yaxis_transform() + ScaledTranslation(0.06, 0.0, sheet.inch())
            ax.text(1.0, y, dot.number, transform=beside, ha="left", va="center_baseline", fontsize=8.5, color=INK)


def _brackets(sheet: Canvas, brackets: Brackets, middles: Sequence[float]) -> None:
    """Draw the bars beside the axes, as few abreast as they need."""
    ends: list[int] = []
    lanes = []
    for first, last in brackets.joined:
        free = next((lane for lane, end in enumerate(ends) if end < first), len(ends))
        ends[free:] = [last, *ends[free + 1 :]]
        lanes.append(free)
    step = min(0.13, (RIGHT - 0.25) / max(1, len(ends)))
    across = sheet.ax.transAxes + ScaledTranslation(0.12, 0.0, sheet.inch())
    for (first, last), lane in zip(brackets.joined, lanes, strict=True):
        place = blended_transform_factory(
            across + ScaledTranslation(lane * step, 0.0, sheet.inch()), sheet.ax.transData
        )
        ys = [middles[first] - 0.55, middles[last] + 0.55]
        sheet.ax.plot(
            [1.0, 1.0], ys, transform=place, color=SOFT, linewidth=3, solid_capstyle="butt", clip_on=False, zorder=3
        )


def _keys(blocks: Sequence[Block], looks: Sequence[Look], interval: str) -> list[Artist]:
    seen = [look for look in looks if any(block.look == look for block in blocks)]
    if not seen:
        first = blocks[0].look
        seen = [Look("estimate", first.colour, first.marker, first.filled, first.size)]
    keys: list[Artist] = [Line2D([], [], linestyle="none", label=look.label, **look.style()) for look in seen]
    return [*keys, interval_key(interval)]
