"""Figures that answer `which house rule is fairer`: data first, then the finding in words, then dots and intervals.

The only module that loads matplotlib. For each figure there are three functions: one turns a result frame into the
numbers that are drawn, one says the finding (the figure's title), and one draws and returns the Axes. Nothing is
estimated here, and pyplot is never touched: a figure needs no display and leaves nothing behind. In a notebook draw
on an axes of your own, `spread_by_rule(ranking, ax)`, or take the figure from the axes that comes back, `ax.figure`.

All three are rows of dots with a bar for the interval, rule sets from top to bottom, each with its name above its
rows. Names stand inside the plot because they are long (`ochos-locos+no-eight-on-eight`): no margin has to be
guessed, and one narrow column can be read on a phone. Best set or not is a matter of shape and filling; colour
(Okabe and Ito's blue and vermilion) only helps.
"""

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import Any, cast
from xml.etree import ElementTree

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.textpath import text_to_path
from matplotlib.ticker import MaxNLocator
from matplotlib.transforms import Affine2DBase, ScaledTranslation

from reports.output import LEVEL, decimals, with_interval
from sim.saving import write_whole

STYLE = Path(__file__).with_name("style.mplstyle")

INK, SOFT = "#222222", "#595959"
BEST, OTHER = "#0072B2", "#D55E00"

# Inches. A figure is as wide as a column of text; its height follows from its rows.
WIDTH, LEFT, RIGHT = 6.3, 0.3, 0.6
ROW, MANY_ROWS, NARROW_ROW = 0.19, 60, 0.155
TITLE_LINE, TITLE_SPACE = 0.21, 0.42
AXIS_SPACE, LEGEND_LINE = 0.36, 0.19
FOOT_LINE, FOOT_SPACE = 0.14, 0.1

MAY_BE, SURELY_NOT = "may be the fairest (best set)", "surely less fair"


# --- the numbers that are drawn ------------------------------------------------------------------------------------


def position_shares(results: pd.DataFrame) -> pd.DataFrame:
    """Return win shares by position in per cent, a row a rule set and position, rule sets as they come in `results`.

    Columns: rules, position (int, 1 = left of the dealer, n = the dealer), share, low, high, fair (100 / n).
    Where two scenarios have the same rules, `rules` also names the line-up. One number of players at a time.
    """
    rows = results[(results["measure"] == "win_share") & (results["by"] == "position")]
    if rows.empty:
        raise ValueError("no win shares by position in these results (measure 'win_share', by 'position')")
    players = sorted(rows["players"].unique())
    if len(players) > 1:
        counts = ", ".join(str(n) for n in players)
        raise ValueError(f"one number of players a figure, not {counts}: pass results[results.players == {players[0]}]")
    names = rows.drop_duplicates("scenario").set_index("scenario")
    twins = names["rules"].duplicated(keep=False)
    titles = names["rules"].where(~twins, names["rules"] + " · " + names["lineup"])
    order = {scenario: place for place, scenario in enumerate(names.index)}
    frame = pd.DataFrame(
        {
            "rules": rows["scenario"].map(titles),
            "position": rows["which"].astype(int),
            "share": rows["value"] * 100.0,
            "low": rows["low"] * 100.0,
            "high": rows["high"] * 100.0,
            "fair": 100.0 / int(players[0]),
            "place": rows["scenario"].map(order),
        }
    )
    if frame.duplicated(["rules", "position"]).any():
        raise ValueError("two win shares for the same rules, line-up and position: results of one experiment are meant")
    return frame.sort_values(["place", "position"]).drop(columns="place").reset_index(drop=True)


def spread_points(ranking: pd.DataFrame) -> pd.DataFrame:
    """Return spreads in percentage points, a row a rule set, in the ranking's order.

    Columns: rules, spread, low, high, null, in_best_set, best_position, worst_position.
    """
    _require(ranking, ["rules", "spread", "spread_low", "spread_high", "spread_null", "in_best_set"])
    return pd.DataFrame(
        {
            "rules": ranking["rules"],
            "spread": ranking["spread"] * 100.0,
            "low": ranking["spread_low"] * 100.0,
            "high": ranking["spread_high"] * 100.0,
            "null": ranking["spread_null"] * 100.0,
            "in_best_set": ranking["in_best_set"].astype(bool),
            "best_position": ranking["best_position"].astype(int),
            "worst_position": ranking["worst_position"].astype(int),
        }
    ).reset_index(drop=True)


def hand_lengths(ranking: pd.DataFrame) -> pd.DataFrame:
    """Return turns a hand, a row a rule set, in the ranking's order: rules, turns, low, high, in_best_set."""
    _require(ranking, ["rules", "turns_per_hand", "turns_per_hand_low", "turns_per_hand_high", "in_best_set"])
    return pd.DataFrame(
        {
            "rules": ranking["rules"],
            "turns": ranking["turns_per_hand"].astype(float),
            "low": ranking["turns_per_hand_low"].astype(float),
            "high": ranking["turns_per_hand_high"].astype(float),
            "in_best_set": ranking["in_best_set"].astype(bool),
        }
    ).reset_index(drop=True)


def _require(ranking: pd.DataFrame, columns: Sequence[str]) -> None:
    missing = [name for name in columns if name not in ranking.columns]
    if missing:
        raise ValueError(f"the ranking lacks {', '.join(missing)}")
    if ranking.empty:
        raise ValueError("the ranking is empty")


def _records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    return cast(list[dict[str, Any]], frame.to_dict("records"))


# --- the finding, which is the title -------------------------------------------------------------------------------


def share_finding(shares: pd.DataFrame) -> str:
    """Return what the win shares (of `position_shares`) show, claiming nothing that the intervals do not."""
    sets = shares["rules"].nunique()
    if sets == 1:
        rows = sorted(_records(shares), key=lambda row: row["share"])
        least, most = rows[0], rows[-1]
        if most["low"] <= least["high"]:
            return "No position surely wins more often than another"
        digits = max(decimals(most["low"], most["high"]), decimals(least["low"], least["high"]))
        return (
            f"Position {most['position']} wins most, {most['share']:.{digits}f} % of hands; "
            f"position {least['position']} least, {least['share']:.{digits}f} %"
        )
    ahead = shares[shares["low"] > shares["fair"]].groupby("position")["rules"].nunique()
    if ahead.empty:
        return f"No position surely wins more than its fair share under any of {sets} rule sets"
    count = int(ahead.max())
    under = f"{count} of {sets}" if count < sets else "both" if sets == 2 else f"all {sets}"
    return f"Position {ahead.idxmax()} wins more than its fair share under {under} rule sets"


def spread_finding(spreads: pd.DataFrame) -> str:
    """Return which rule set (of `spread_points`) is fairest and by how much its positions differ."""
    first, sets, best = _records(spreads)[0], len(spreads), int(spreads["in_best_set"].sum())
    points = f"{first['spread']:.{decimals(first['low'], first['high'])}f} points"
    apart = f"{points} between positions {first['best_position']} and {first['worst_position']}"
    if first["low"] <= 0.0:
        apart = "no sure difference between positions"
    if sets == 1:
        return f"{first['rules']}: {apart}"
    if best == 1:
        return f"{first['rules']} is fairest: {apart}"
    may_be = "No rule set is surely the fairest" if best == sets else f"{best} of {sets} rule sets may be the fairest"
    return f"{may_be}; first comes {first['rules']}: {apart}"


def length_finding(lengths: pd.DataFrame) -> str:
    """Return under which rule sets (of `hand_lengths`) hands are shortest and longest."""
    rows = sorted(_records(lengths), key=lambda row: row["turns"])
    short, long = rows[0], rows[-1]
    turns = {row["rules"]: f"{row['turns']:.{decimals(row['low'], row['high'])}f}" for row in (short, long)}
    if len(lengths) == 1:
        return f"A hand takes {turns[short['rules']]} turns on average under {short['rules']}"
    if long["low"] <= short["high"]:
        return f"No sure difference in length: about {turns[short['rules']]} turns a hand under every rule set"
    return (
        f"Hands are shortest under {short['rules']}, {turns[short['rules']]} turns, "
        f"longest under {long['rules']}, {turns[long['rules']]}"
    )


# --- drawing -------------------------------------------------------------------------------------------------------


def win_share_by_position(
    results: pd.DataFrame, ax: Axes | None = None, *, best: str | Collection[str] | None = None, footer: str = ""
) -> Axes:
    """Draw the win share of each position with its interval, a block of rows a rule set, and the fair share 1/n.

    best: the rule set or sets that may be the fairest; they get filled circles, the others hollow squares.
    """
    shares = position_shares(results)
    fair, players = float(shares["fair"].iloc[0]), int(shares["position"].max())
    blocks = [
        _Block(
            heading=str(rules),
            best=_is_best(str(rules), best),
            dots=tuple(
                _Dot(
                    value=row["share"],
                    low=row["low"],
                    high=row["high"],
                    name=str(row["position"]),
                    number=f"{row['share']:.{decimals(row['low'], row['high'])}f} %",
                )
                for row in _records(group)
            ),
        )
        for rules, group in shares.groupby("rules", sort=False)
    ]
    return _draw(
        ax,
        blocks,
        title=share_finding(shares),
        across="Win share (% of hands)",
        down=f"Position: 1 = left of the dealer, {players} = the dealer",
        line=(fair, f"fair share {fair:.4g} %"),
        marked=best is not None,
        interval=f"{LEVEL} interval",
        footer=footer,
    )


def spread_by_rule(ranking: pd.DataFrame, ax: Axes | None = None, *, footer: str = "") -> Axes:
    """Draw the ranking: the spread of each rule set with its interval, the fairest on top.

    The null value is not drawn: it belongs to the plain spread, and the spread that is drawn is corrected for it.
    """
    spreads = spread_points(ranking)
    blocks = [
        _Block(
            heading=row["rules"],
            note=with_interval(row["spread"], row["low"], row["high"]),
            best=row["in_best_set"],
            dots=(_Dot(row["spread"], row["low"], row["high"]),),
        )
        for row in _records(spreads)
    ]
    return _draw(
        ax,
        blocks,
        title=spread_finding(spreads),
        across="Win share, best minus worst position (percentage points; 0 = perfectly fair)",
        down=_down("points", len(spreads)),
        from_zero=True,
        marked=len(spreads) > 1,
        interval=f"{LEVEL} interval" + (", all rules at once" if len(spreads) > 1 else ""),
        footer=footer,
    )


def length_by_rule(ranking: pd.DataFrame, ax: Axes | None = None, *, footer: str = "") -> Axes:
    """Draw the mean number of turns a hand of each rule set with its interval, in the ranking's order."""
    lengths = hand_lengths(ranking)
    blocks = [
        _Block(
            heading=row["rules"],
            note=with_interval(row["turns"], row["low"], row["high"]),
            best=row["in_best_set"],
            dots=(_Dot(row["turns"], row["low"], row["high"]),),
        )
        for row in _records(lengths)
    ]
    return _draw(
        ax,
        blocks,
        title=length_finding(lengths),
        across="Length of a hand (turns, mean)",
        down=_down("turns", len(lengths)),
        marked=len(lengths) > 1,
        interval=f"{LEVEL} interval",
        footer=footer,
    )


@dataclass(frozen=True)
class _Dot:
    """One row: an estimate with its interval; its name on the left, its number on the right."""

    value: float
    low: float
    high: float
    name: str = ""
    number: str = ""


@dataclass(frozen=True)
class _Block:
    """One rule set: its name, a note at the right end of the same line, and its rows."""

    heading: str
    dots: tuple[_Dot, ...]
    best: bool
    note: str = ""


def _down(unit: str, sets: int) -> str:
    return ("Rules, the fairest on top" if sets > 1 else "Rules") + f"; on the right: {unit} and interval"


def _is_best(rules: str, best: str | Collection[str] | None) -> bool:
    # without a best set nothing is set apart, and all look like the best
    return best is None or rules == best or (not isinstance(best, str) and rules in best)


def _draw(
    ax: Axes | None,
    blocks: Sequence[_Block],
    *,
    title: str,
    across: str,
    down: str,
    marked: bool,
    interval: str,
    line: tuple[float, str] | None = None,
    from_zero: bool = False,
    footer: str = "",
) -> Axes:
    """Draw blocks of rows from top to bottom on `ax`, or on a figure made to measure.

    across, down: labels of the axes, the second lying above the rows; marked: whether the legend tells the best
    set from the others; line: a value with its label, drawn from top to bottom; from_zero: the axis starts at 0;
    footer: what was played, at the foot of a figure of its own.
    """
    with mpl.rc_context(fname=STYLE):
        figure = None if ax is not None else Figure(figsize=(WIDTH, WIDTH))
        if figure is not None:
            ax = figure.add_axes((LEFT / WIDTH, 0.1, 1.0 - (LEFT + RIGHT) / WIDTH, 0.8))
        assert ax is not None
        inches = ax.get_window_extent().width / ax.figure.dpi
        _set_limits(ax, blocks, line, from_zero)

        rows = 0.0
        if line is not None:
            rows += 1.0
            _vertical_line(ax, *line)
        names: dict[float, str] = {}
        for block in blocks:
            rows = _heading(ax, block, rows, inches)
            ys = [rows + k + 0.5 for k in range(len(block.dots))]
            names |= {y: dot.name for y, dot in zip(ys, block.dots, strict=True) if dot.name}
            _dots(ax, block, ys)
            rows += len(block.dots) + 0.6
        ax.set_ylim(rows, 0.0)
        ax.set_yticks(list(names), list(names.values()))

        ax.spines[["top", "right", "left"]].set_visible(False)
        ax.tick_params(axis="y", length=0)
        # named here too, because an axes that was given is not of this style
        ax.grid(axis="x", color="#dddddd", linewidth=0.8)
        ax.set_axisbelow(True)
        ax.xaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        label = _wrap(across, inches, 9)
        ax.set_xlabel(label, loc="left")
        ax.set_ylabel(down, rotation=0, ha="left", va="bottom", color=SOFT)
        ax.yaxis.set_label_coords(0.0, 1.0)
        wrapped = _wrap(title, inches + (RIGHT - 0.1 if figure is not None else 0.0), 11.5, bold=True)
        ax.set_title(wrapped, loc="left", pad=20, parse_math=False)
        under = AXIS_SPACE + LEGEND_LINE * (label.count("\n") + 1)
        keys = _legend(ax, blocks, marked, interval, under)
        if figure is not None:
            bottom = under + LEGEND_LINE * ((keys + 1) // 2)
            foot = _wrap(footer, WIDTH - LEFT - 0.1, 7.5)
            bottom += FOOT_SPACE + FOOT_LINE * (foot.count("\n") + 1) if foot else 0.0
            _fit(figure, ax, rows, TITLE_SPACE + TITLE_LINE * (wrapped.count("\n") + 1), bottom)
            if foot:
                figure.text(LEFT / WIDTH, 0.05 / figure.get_figheight(), foot, fontsize=7.5, color=SOFT, va="bottom",
                            parse_math=False)  # fmt: skip
    return ax


def _set_limits(ax: Axes, blocks: Sequence[_Block], line: tuple[float, str] | None, from_zero: bool) -> None:
    dots = [dot for block in blocks for dot in block.dots]
    values = [x for dot in dots for x in (dot.value, dot.low, dot.high)]
    values += [line[0]] if line is not None else []
    low, high = min(0.0 if from_zero else min(values), *values), max(values)
    room = max((high - low) * 0.05, abs(high) * 0.002, 1e-3)
    ax.set_xlim(low - room / (2.5 if from_zero else 1.0), high + room)


def _vertical_line(ax: Axes, value: float, label: str) -> None:
    left, right = ax.get_xlim()
    part = (value - left) / (right - left)
    side = "left" if part < 0.2 else "right" if part > 0.8 else "center"
    ax.vlines(value, 1.0, 1e6, colors=INK, linestyles=(0, (5, 3)), linewidths=1.1, zorder=1.5)
    ax.text(value, 0.5, label, ha=side, va="center", fontsize=8.5, color=INK, bbox=_paper(), zorder=3)


def _inch(ax: Axes) -> Affine2DBase:
    """Return the transform in which a distance of 1 is an inch, also where `ax` is in a part of a figure."""
    return cast(Affine2DBase, cast(Figure, ax.get_figure(root=True)).dpi_scale_trans)


def _heading(ax: Axes, block: _Block, top: float, inches: float) -> float:
    """Write the name of a block, and its note, from row `top` on; return the row below."""
    note = _width(block.note, 9) + 0.15 if block.note else 0.0
    name = _wrap(block.heading, max(inches - note, inches * 0.3), 9, bold=True)
    lines = name.count("\n") + 1
    text: dict[str, Any] = {
        "transform": ax.get_yaxis_transform(),
        "color": INK,
        "fontsize": 9,
        "parse_math": False,
        "bbox": _paper(),
        "zorder": 3,
    }
    bottom = top + 0.95 * lines
    ax.text(0.0, bottom, name, ha="left", va="bottom", weight="bold", linespacing=1.15, **text)
    if block.note:
        ax.text(1.0, bottom, block.note, ha="right", va="bottom", **text)
    return top + float(lines)


def _paper() -> dict[str, Any]:
    """Return a white ground for words, so that no grid line runs through them."""
    return {"facecolor": "white", "edgecolor": "none", "pad": 0.8}


def _look(best: bool) -> dict[str, Any]:
    colour = BEST if best else OTHER
    return {
        "color": colour,
        "marker": "o" if best else "s",
        "markersize": 5.5 if best else 5,
        "markerfacecolor": colour if best else "white",
        "markeredgecolor": colour,
        "markeredgewidth": 1.3,
    }


def _dots(ax: Axes, block: _Block, ys: Sequence[float]) -> None:
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
        **_look(block.best),
    )
    for dot, y in zip(block.dots, ys, strict=True):
        if dot.number:
            beside = ax.get_yaxis_transform() + ScaledTranslation(0.06, 0.0, _inch(ax))
            ax.text(1.0, y, dot.number, transform=beside, ha="left", va="center_baseline", fontsize=8.5, color=INK)


def _legend(ax: Axes, blocks: Sequence[_Block], marked: bool, interval: str, under: float) -> int:
    """Draw the legend so many inches under the axis, two keys a line; return how many keys it has."""
    keys = []
    for best, label in ((True, MAY_BE), (False, SURELY_NOT)):
        if marked and any(block.best is best for block in blocks):
            keys.append(Line2D([], [], linestyle="none", label=label, **_look(best)))
    if not keys:
        keys.append(Line2D([], [], linestyle="none", label="estimate", **_look(blocks[0].best)))
    bar: dict[str, Any] = {"linestyle": "-", "linewidth": 1.5, "marker": "|", "markersize": 9, "color": SOFT}
    keys.append(Line2D([], [], label=interval, markeredgewidth=1.3, **bar))
    below = ScaledTranslation(0.0, 0.06 - under, _inch(ax))
    ax.legend(
        handles=keys,
        loc="upper left",
        bbox_to_anchor=(0.0, 0.0),
        bbox_transform=ax.transAxes + below,
        ncols=2,
        borderaxespad=0.0,
        borderpad=0.0,
        columnspacing=1.8,
        handlelength=1.8,
    )
    return len(keys)


def _fit(figure: Figure, ax: Axes, rows: float, top: float, bottom: float) -> None:
    """Make the figure as high as its rows need, so that text never has to share a place; top, bottom: inches."""
    body = rows * (ROW if rows <= MANY_ROWS else NARROW_ROW)
    height = top + body + bottom
    figure.set_size_inches(WIDTH, height)
    ax.set_position((LEFT / WIDTH, bottom / height, 1.0 - (LEFT + RIGHT) / WIDTH, body / height))


def _width(text: str, points: float, *, bold: bool = False) -> float:
    """Return how wide a line of text is, in inches, or a little more: drawn to pixels it grows by up to 3 %."""
    font = FontProperties(size=points, weight="bold" if bold else "normal")
    width, _, _ = text_to_path.get_text_width_height_descent(text, font, ismath=False)
    return float(width) / 72.0 * 1.03


def _wrap(text: str, inches: float, points: float, *, bold: bool = False) -> str:
    """Break text into lines that fit: at spaces and before a plus (`preset+change`), else at hyphens, else anywhere."""

    def fits(line: str) -> bool:
        return _width(line.rstrip(), points, bold=bold) <= inches

    def pieces(part: str, breaks: Sequence[str]) -> list[str]:
        if fits(part) or not breaks:
            return [part]
        return [small for piece in re.split(breaks[0], part) for small in pieces(piece, breaks[1:])]

    lines = [""]
    for piece in pieces(text, [r"(?<=\s)|(?=\+)", r"(?<=-)", r"(?<=.)(?=.)"]):
        if lines[-1] and not fits(lines[-1] + piece):
            lines.append("")
        lines[-1] += piece
    return "\n".join(line.rstrip() for line in lines)


# --- files ---------------------------------------------------------------------------------------------------------


def save_figures(results: pd.DataFrame, ranking: pd.DataFrame, directory: Path | str, settings: str = "") -> list[Path]:
    """Draw the figures of one number of players into a folder, each as PNG and SVG; return the paths in that order.

    The names carry the number of players (`spread-4-players.svg`), so that several can share a folder. Equal frames
    give equal bytes. Each SVG brings its title and the numbers in words, which `reports/page.py` hands on. Rule sets
    stand in the ranking's order in all of them; without turns in the ranking there is no figure of lengths. At the
    foot stands what was played, and `settings` (what holds for all rule sets and is not in their names).
    """
    footer = footer_text(results, settings)
    order = {rules: place for place, rules in enumerate(ranking["rules"])}
    ranked = results.sort_values("rules", key=lambda names: names.map(order), kind="stable")
    shares, spreads = position_shares(ranked), spread_points(ranking)
    best = list(spreads.loc[spreads["in_best_set"], "rules"])
    compared = len(ranking) > 1
    figures = [
        ("spread", spread_by_rule(ranking, footer=footer), spread_finding(spreads), _spreads_in_words(spreads)),
        (
            "win-share",
            win_share_by_position(ranked, best=best if compared else None, footer=footer),
            share_finding(shares),
            _shares_in_words(shares),
        ),
    ]
    if "turns_per_hand" in ranking.columns:
        lengths = hand_lengths(ranking)
        drawn = length_by_rule(ranking, footer=footer)
        figures.append(("length", drawn, length_finding(lengths), _lengths_in_words(lengths)))
    players = int(results["players"].iloc[0])
    paths = []
    for name, ax, title, words in figures:
        stem = f"{name}-{players}-players"
        figure = cast(Figure, ax.figure)
        paths.append(write_whole(Path(directory) / f"{stem}.png", _bytes(figure, "png")))
        svg = _describe(_bytes(figure, "svg"), stem, title, words)
        paths.append(write_whole(Path(directory) / f"{stem}.svg", svg))
    return paths


def footer_text(results: pd.DataFrame, settings: str = "") -> str:
    """Return what was played, in a line: players, settings, line-up, deals, and, where given, seed and version."""
    first = results.iloc[0]
    matches = int(first.get("matches", 0))
    lineups = "; ".join(dict.fromkeys(results["lineup"]))
    parts = [f"{first['players']} players", settings, f"line-up {lineups}"]
    parts.append(f"{matches:,} matches" if matches else f"{first['blocks']:,} deals")
    parts += [f"seed {first['seed']}"] if "seed" in results.columns else []
    parts += [f"ochos-sim {first['version']}"] if "version" in results.columns else []
    return " · ".join(filter(None, parts))


def _shares_in_words(shares: pd.DataFrame) -> str:
    sets = [
        f"{rules}: "
        + ", ".join(
            f"position {r['position']} {with_interval(r['share'], r['low'], r['high'])}" for r in _records(group)
        )
        for rules, group in shares.groupby("rules", sort=False)
    ]
    fair = f"Win share by position in per cent, with {LEVEL} intervals; the fair share is {shares['fair'].iloc[0]:.4g}."
    return _sentences([fair, *sets])


def _spreads_in_words(spreads: pd.DataFrame) -> str:
    intro = f"Win share of the best minus that of the worst position in percentage points, with {LEVEL} intervals"
    sets = [
        f"{r['rules']}: {with_interval(r['spread'], r['low'], r['high'])}"
        + ("" if len(spreads) == 1 else f", {MAY_BE if r['in_best_set'] else SURELY_NOT}")
        for r in _records(spreads)
    ]
    return _sentences([intro + (", fairest first." if len(spreads) > 1 else "."), *sets])


def _lengths_in_words(lengths: pd.DataFrame) -> str:
    sets = [f"{r['rules']}: {with_interval(r['turns'], r['low'], r['high'])}" for r in _records(lengths)]
    return _sentences([f"Turns a hand on average, with {LEVEL} intervals.", *sets])


def _sentences(parts: Iterable[str]) -> str:
    return " ".join(part if part.endswith(".") else f"{part}." for part in parts)


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
