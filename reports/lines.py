"""Lines over a number (hands, players) with their intervals, several rule sets in one picture.

Rule sets differ in the kind of line and in the shape of their points as well as in colour.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from reports.drawing import BLUE, INK, VERMILION

LOOKS: Sequence[dict[str, Any]] = (
    {"color": BLUE, "linestyle": "-", "marker": "o"},
    {"color": VERMILION, "linestyle": (0, (5, 2)), "marker": "s"},
    {"color": "#009E73", "linestyle": (0, (1.2, 1.5)), "marker": "^"},
    {"color": INK, "linestyle": (0, (6, 2, 1.2, 2)), "marker": "D"},
    {"color": "#CC79A7", "linestyle": (0, (9, 3)), "marker": "v"},
    {"color": "#E69F00", "linestyle": (0, (4, 1.5, 1.2, 1.5, 1.2, 1.5)), "marker": "P"},
)
"""Okabe and Ito's colours."""


@dataclass(frozen=True)
class Series:
    """Estimates with their intervals, by a number."""

    at: Sequence[float]
    values: Sequence[float]
    lows: Sequence[float]
    highs: Sequence[float]


def looks_of(names: Sequence[str], what: str) -> dict[str, dict[str, Any]]:
    """Return a look for each name. Raises ValueError where there are more names than looks."""
    if len(names) > len(LOOKS):
        raise ValueError(f"{len(names)} {what} in one figure of lines; at most {len(LOOKS)} can be told apart")
    return dict(zip(names, LOOKS, strict=False))


def draw_band(ax: Axes, series: Series, look: dict[str, Any]) -> None:
    """Draw a line with a band for its interval."""
    ax.fill_between(series.at, series.lows, series.highs, color=look["color"], alpha=0.16, linewidth=0, zorder=2)
    ax.plot(series.at, series.values, color=look["color"], linestyle=look["linestyle"], linewidth=1.8, zorder=3)


def draw_points(ax: Axes, series: Series, look: dict[str, Any], *, joined: bool = False) -> None:
    """Draw points with a bar for their interval, joined by a line or not."""
    ax.errorbar(
        series.at,
        series.values,
        yerr=[
            [max(0.0, v - low) for v, low in zip(series.values, series.lows, strict=True)],
            [max(0.0, high - v) for v, high in zip(series.values, series.highs, strict=True)],
        ],
        color=look["color"],
        linestyle=look["linestyle"] if joined else "none",
        linewidth=1.2,
        marker=look["marker"],
        markersize=5,
        markerfacecolor="white",
        markeredgewidth=1.3,
        elinewidth=1.4,
        capsize=3.5,
        capthick=1.2,
        zorder=4,
    )


def line_key(look: dict[str, Any], label: str, *, points: bool) -> Line2D:
    """Return a rule set's key of the legend."""
    marker = {"marker": look["marker"], "markersize": 5, "markerfacecolor": "white"} if points else {}
    return Line2D([], [], color=look["color"], linestyle=look["linestyle"], linewidth=1.8, label=label, **marker)


def draw_level(ax: Axes, value: float, label: str) -> None:
    """Draw a level from left to right, with its label at the right end, above the line."""
    ax.axhline(value, color=INK, linestyle=(0, (5, 3)), linewidth=0.9, zorder=1.5)
    ax.text(
        1.0, value, label, transform=ax.get_yaxis_transform(), ha="right", va="bottom", fontsize=8, color=INK,
        zorder=1.6,
    )  # fmt: skip
