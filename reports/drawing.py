"""What all figures share: one look, words that fit, the frame around a drawing, and files that repeat bit by bit.

A figure is drawn on a `canvas`: either an axes that somebody gave, or one on a figure that is made to measure, as wide
as a column of text and as high as what is drawn needs. Title, labels, legend and foot have their places around it.
Only this room loads matplotlib, and pyplot never: a figure needs no display and leaves nothing behind.

Frames hold shares from 0 to 1; percent and percentage points are made where they are drawn.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import matplotlib as mpl
import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.transforms import Affine2DBase, ScaledTranslation

from reports.output import with_interval
from sim.saving import write_whole

STYLE = Path(__file__).with_name("style.mplstyle")

INK, SOFT, GRID, BLANK = "#222222", "#595959", "#dddddd", "#eeeeee"
BLUE, VERMILION = "#0072B2", "#D55E00"
"""Okabe and Ito's, which colour-blind people can tell apart; what they say is always said by shape or words too."""

# Inches.
WIDTH, LEFT, RIGHT = 6.3, 0.3, 0.6
EDGE = 0.1
TITLE_LINE, TITLE_SPACE = 0.21, 0.42
AXIS_SPACE, LEGEND_LINE = 0.36, 0.19
FOOT_LINE, FOOT_SPACE = 0.14, 0.1
# Points.
TITLE, LABEL, KEY, FOOT = 11.5, 9, 8.5, 7.5


# --- frames --------------------------------------------------------------------------------------------------------


def require(frame: pd.DataFrame, columns: Sequence[str], what: str) -> None:
    """Refuse a frame that lacks one of the columns, or has no row, with ValueError; what: what it is called there."""
    missing = [name for name in columns if name not in frame.columns]
    if missing:
        raise ValueError(f"the {what} lacks {', '.join(missing)}")
    if frame.empty:
        raise ValueError(f"the {what} is empty")


def only_one(frame: pd.DataFrame, column: str, words: str, what: str) -> Any:
    """Return the one value of a column; several are refused with ValueError, which says how to pick one."""
    values = sorted(frame[column].unique().tolist())
    if len(values) > 1:
        given = ", ".join(str(value) for value in values)
        raise ValueError(f"one {words} a figure, not {given}: pass {what}[{what}.{column} == {values[0]!r}]")
    return values[0]


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Return the rows as dictionaries."""
    return cast(list[dict[str, Any]], frame.to_dict("records"))


# --- words ---------------------------------------------------------------------------------------------------------


def said(value: float, low: float, high: float, factor: float = 1.0) -> str:
    """Return a number times a factor with its interval, with a true minus."""
    return minus(with_interval(value * factor, low * factor, high * factor))


def minus(text: str) -> str:
    """Return the text of numbers with a true minus, as on the axes, and with none before what is rounded to 0."""
    return re.sub(r"-(?=0\.?0*(?![\d.]))", "", text).replace("-", "−")


def sentences(parts: Iterable[str]) -> str:
    """Return the parts as sentences: the text alternative of a figure."""
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts)


def text_width(text: str, points: float, *, bold: bool = False) -> float:
    """Return how wide a line of text is, in inches, or a little more: drawn to pixels it grows by up to 3 %."""
    font = FontProperties(size=points, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72.0 * 1.03


def wrap(text: str, inches: float, points: float, *, bold: bool = False) -> str:
    """Break text into lines that fit: at spaces and before a plus (`preset+change`), else behind commas and hyphens.

    What does not fit even so is broken anywhere.
    """

    def fits(line: str) -> bool:
        return text_width(line.rstrip(), points, bold=bold) <= inches

    def pieces(part: str, breaks: Sequence[str]) -> list[str]:
        if fits(part) or not breaks:
            return [part]
        return [small for piece in re.split(breaks[0], part) for small in pieces(piece, breaks[1:])]

    lines = [""]
    for piece in pieces(text, [r"(?<=\s)|(?=\+)", r"(?<=[,:])", r"(?<=-)", r"(?<=.)(?=.)"]):
        if lines[-1] and not fits(lines[-1] + piece):
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


def paper() -> dict[str, Any]:
    """Return a white ground for words, so that no grid line runs through them."""
    return {"facecolor": "white", "edgecolor": "none", "pad": 0.8}


# --- the frame around a drawing ------------------------------------------------------------------------------------


@dataclass
class Canvas:
    """An axes to draw on, how many inches it is wide, and whether its figure is made to measure."""

    ax: Axes
    inches: float
    own: bool
    left: float
    right: float

    @property
    def shift(self) -> float:
        """How far left of the axes words begin, as a part of its width: row names stand there, and words above them."""
        return (self.left - LEFT) / self.inches

    def inch(self) -> Affine2DBase:
        """Return the transform in which a distance of 1 is an inch, also where the axes is in a part of a figure."""
        return cast(Affine2DBase, cast(Figure, self.ax.get_figure(root=True)).dpi_scale_trans)

    def finish(
        self,
        *,
        title: str,
        across: str,
        down: str,
        keys: Sequence[Artist],
        body: float,
        footer: str = "",
        handle: float = 1.8,
    ) -> None:
        """Put the words around the drawing, and make the figure as high as all needs, so that nothing shares a place.

        across, down: labels of the axes, the second lying above the drawing; keys: of the legend, whose labels are
        broken to fit; body: inches that the drawing is high; footer: what was played, for a figure of its own; handle:
        width of what the legend draws, in letters.
        """
        ax, start = self.ax, 0.0 - self.shift
        wide = self.inches * (1.0 + self.shift)
        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        label = wrap(across, wide, LABEL)
        ax.set_xlabel(label, x=start, ha="left")
        ax.set_ylabel(down, rotation=0, ha="left", va="bottom", color=SOFT)
        ax.yaxis.set_label_coords(start, 1.0)
        wrapped = wrap(title, WIDTH - LEFT - EDGE if self.own else wide, TITLE, bold=True)
        ax.set_title(wrapped, loc="left", pad=20, parse_math=False, x=start)
        under = AXIS_SPACE + LEGEND_LINE * (label.count("\n") + 1)
        lines = self._legend(keys, wide, under, handle)
        if not self.own:
            return
        bottom = under + LEGEND_LINE * lines
        foot = wrap(footer, WIDTH - LEFT - EDGE, FOOT)
        bottom += FOOT_SPACE + FOOT_LINE * (foot.count("\n") + 1) if foot else 0.0
        height = TITLE_SPACE + TITLE_LINE * (wrapped.count("\n") + 1) + body + bottom
        figure = cast(Figure, ax.figure)
        figure.set_size_inches(WIDTH, height)
        ax.set_position((self.left / WIDTH, bottom / height, 1.0 - (self.left + self.right) / WIDTH, body / height))
        if foot:
            figure.text(LEFT / WIDTH, 0.05 / height, foot, fontsize=FOOT, color=SOFT, va="bottom", parse_math=False)

    def _legend(self, keys: Sequence[Artist], wide: float, under: float, handle: float) -> int:
        """Draw the legend so many inches under the axes, two keys a line if they fit; return its lines."""
        if not keys:
            return 0
        drawn, gap = (handle + 0.8) * KEY / 72.0, 1.8 * KEY / 72.0
        half = (len(keys) + 1) // 2
        columns = [keys[:half], keys[half:]]
        needs = [max((drawn + text_width(str(k.get_label()), KEY) for k in part), default=0.0) for part in columns]
        two = sum(needs) + gap <= wide
        if not two:
            columns = [keys]
        for key in keys:
            key.set_label(wrap(str(key.get_label()), wide - drawn, KEY))
        below = ScaledTranslation(0.0, 0.06 - under, self.inch())
        legend = self.ax.legend(
            handles=list(keys),
            loc="upper left",
            bbox_to_anchor=(0.0 - self.shift, 0.0),
            bbox_transform=self.ax.transAxes + below,
            ncols=len(columns),
            borderaxespad=0.0,
            borderpad=0.0,
            columnspacing=1.8,
            handlelength=handle,
        )
        for text in legend.get_texts():
            text.set_parse_math(False)
        return max(sum(str(k.get_label()).count("\n") + 1 for k in part) for part in columns)


@contextmanager
def canvas(ax: Axes | None, left: float = LEFT, right: float = RIGHT) -> Iterator[Canvas]:
    """Give a canvas in the house's look: on `ax`, or on a figure of its own with so many inches beside the axes."""
    with mpl.rc_context(fname=STYLE):
        own = ax is None
        if ax is None:
            figure = Figure(figsize=(WIDTH, WIDTH))
            ax = figure.add_axes((left / WIDTH, 0.1, 1.0 - (left + right) / WIDTH, 0.8))
        inches = ax.get_window_extent().width / ax.figure.dpi
        yield Canvas(ax, inches, own, left, right)


def interval_key(label: str) -> Line2D:
    """Return the key of the legend for an interval."""
    return Line2D([], [], label=label, markeredgewidth=1.3, linestyle="-", linewidth=1.5, marker="|", markersize=9,
                  color=SOFT)  # fmt: skip


# --- files ---------------------------------------------------------------------------------------------------------


def save_figure(directory: Path | str, stem: str, ax: Axes, title: str, words: str) -> list[Path]:
    """Write a figure as `stem.png` and `stem.svg` into a folder; return both paths. Equal figures give equal bytes.

    The SVG brings its title and the numbers in words, which `reports/page.py` hands on. Raises OSError.
    """
    figure = cast(Figure, ax.figure)
    svg = _describe(_bytes(figure, "svg"), stem, title, words)
    return [
        write_whole(Path(directory) / f"{stem}.png", _bytes(figure, "png")),
        write_whole(Path(directory) / f"{stem}.svg", svg),
    ]


def _bytes(figure: Figure, kind: str) -> bytes:
    # matplotlib would write its version and the date: both are left out, for equal bytes
    nothing = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
    buffer = BytesIO()
    with mpl.rc_context(fname=STYLE):
        figure.savefig(buffer, format=kind, metadata=nothing)
    return buffer.getvalue()


SVG, XLINK = "http://www.w3.org/2000/svg", "http://www.w3.org/1999/xlink"


def _describe(svg: bytes, stem: str, title: str, words: str) -> bytes:
    """Give an SVG its title and text alternative, and make it fit to stand in a page beside others.

    In one page all ids must differ, and a style element would reach the page's own elements: ids get the figure's
    name in front, and the style (which is about strokes only) moves to the root element.
    """
    ElementTree.register_namespace("", SVG)
    ElementTree.register_namespace("xlink", XLINK)
    root = ElementTree.fromstring(svg)
    for parent in list(root.iter()):
        for child in list(parent):
            if child.tag in (f"{{{SVG}}}metadata", f"{{{SVG}}}style"):
                parent.remove(child)
    for element in root.iter():
        for key, value in element.attrib.items():
            if key == "id":
                element.set(key, f"{stem}-{value}")
            elif key == f"{{{XLINK}}}href" and value.startswith("#"):
                element.set(key, f"#{stem}-{value[1:]}")
            else:
                element.set(key, value.replace("url(#", f"url(#{stem}-"))
    root.set("style", "stroke-linejoin: round; stroke-linecap: butt")
    root.set("role", "img")
    root.set("aria-labelledby", f"{stem}-title {stem}-desc")
    for place, (tag, text) in enumerate((("title", title), ("desc", words))):
        element = ElementTree.Element(f"{{{SVG}}}{tag}", {"id": f"{stem}-{tag}"})
        element.text = text
        root.insert(place, element)
    return bytes(ElementTree.tostring(root, encoding="utf-8")) + b"\n"
