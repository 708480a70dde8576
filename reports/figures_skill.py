"""Figures that answer `luck or skill`: how soon the better player is ahead, and what a result depends on.

For each figure one function says the finding (the title), one draws and returns the Axes, and one gives the numbers in
words. Nothing is estimated here: curves, hands and shares come ready from `reports.skill`.
"""

import math
from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.patches import Patch, Rectangle
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

from reports.drawing import (
    GRID,
    INK,
    LEFT,
    SOFT,
    canvas,
    interval_key,
    only_one,
    paper,
    records,
    require,
    said,
    sentences,
    wrap,
)
from reports.lines import Series, draw_band, draw_level, draw_points, line_key, looks_of
from reports.output import LEVEL, decimals

LEVELS = (0.75, 0.90, 0.95)
"""Chances that are marked."""
TOLD = 0.9
"""The chance that the title tells the hands of."""
CURVE_HEIGHT = 2.9
"""Inches."""


# --- hands until the better player is ahead ------------------------------------------------------------------------


def skill_finding(curve: pd.DataFrame, needed: pd.DataFrame) -> str:
    """Return how many hands it takes until the better player is ahead with 90 %."""
    _check(curve, needed)
    rows = [row for row in records(needed) if math.isclose(row["chance"], TOLD)]
    missing = [rules for rules in dict.fromkeys(curve["rules"]) if rules not in {row["rules"] for row in rows}]
    if missing:
        raise ValueError(f"the frame of hands needed lacks a chance of {TOLD:g} under {missing[0]}")
    ahead = f"until the better player is ahead with {100.0 * TOLD:g} %"
    known = sorted((row for row in rows if _known(row)), key=lambda row: row["hands"])
    if len(rows) == 1:
        if known:
            return f"{known[0]['hands']:,.0f} hands {ahead}"
        return f"More than {rows[0]['low'] - 1:,.0f} hands {ahead}"
    if not known:
        return "Under none of the rules is it sure that one player is better"
    fast, slow = known[0], known[-1]
    if len(known) < len(rows):
        unsure = f"{len(rows) - len(known)} of {len(rows)}"
        return f"Under {fast['rules']} {fast['hands']:,.0f} hands {ahead}; under {unsure} rule sets more than is known"
    if fast["high"] >= slow["low"]:
        return f"No sure difference between rules in the hands {ahead}"
    return (
        f"Fewest hands {ahead}: {fast['hands']:,.0f} under {fast['rules']}; "
        f"most: {slow['hands']:,.0f} under {slow['rules']}"
    )


def skill_curve(curve: pd.DataFrame, needed: pd.DataFrame, ax: Axes | None = None, *, footer: str = "") -> Axes:
    """Draw the chance that the better player is ahead after N hands, a line with its band for each rule set.

    curve: rules, hands, chance, low, high (0 to 1), kind: `curve` (a line, `reports.skill.ahead_after`) or `played`
    (points, `reports.skill.played_out`). needed: rules, chance, hands, low, high, as `reports.skill.hands_needed`
    tells them, a row for each chance; what is not known is missing (NaN). The hands go into the legend.
    """
    _check(curve, needed)
    names = list(dict.fromkeys(curve["rules"]))
    looks = looks_of(names, "rule sets")
    with canvas(ax, LEFT + 0.25, 0.35) as sheet:
        ax = sheet.ax
        ax.set_xscale("log")
        hands = curve["hands"].astype(float)
        ax.set_xlim(hands.min() / 1.1, hands.max() * 1.1)
        ax.set_ylim(min(47.0, 100.0 * curve["low"].min() - 2.0), 101.5)
        for level in LEVELS:
            draw_level(ax, level * 100.0, f"{level:.0%}".replace("%", " %"))
        keys: list[Artist] = []
        played = False
        for place, name in enumerate(names):
            own = curve[curve["rules"] == name].sort_values("hands")
            draw_band(ax, _series(own[own["kind"] == "curve"], 1.0), looks[name])
            points = own[own["kind"] == "played"]
            if not points.empty:
                # side by side, so that no bar hides another
                draw_points(ax, _series(points, 1.05 ** (place - (len(names) - 1) / 2)), looks[name])
                played = True
            known = [row for row in records(needed[needed["rules"] == name]) if _known(row)]
            ax.plot(
                [row["hands"] for row in known],
                [row["chance"] * 100.0 for row in known],
                color=looks[name]["color"],
                linestyle="none",
                marker=looks[name]["marker"],
                markersize=6,
                zorder=5,
            )
            keys.append(line_key(looks[name], f"{name}{_hands_in_words(needed, name)}", points=not points.empty))
        ax.xaxis.set_major_locator(FixedLocator([10.0**k for k in range(10)]))
        ax.xaxis.set_minor_locator(NullLocator())
        ax.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
        ax.yaxis.set_major_locator(FixedLocator(list(range(0, 101, 10))))
        ax.grid(color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
        keys.append(Patch(label=f"{LEVEL} interval of a line", facecolor=GRID))
        if played:
            keys.append(interval_key(f"series played out, and their {LEVEL} interval"))
        sheet.finish(
            title=skill_finding(curve, needed),
            across="Hands played (each step to the right is ten times as many)",
            down="Chance that the better player is ahead (%)",
            keys=keys,
            body=CURVE_HEIGHT,
            handle=3.4,
            footer=footer,
        )
    return ax


def skill_in_words(curve: pd.DataFrame, needed: pd.DataFrame) -> str:
    """Return the hands of `skill_curve` in sentences, and the series played out."""
    _check(curve, needed)
    intro = f"Hands until the better of two players is ahead with a given chance, with {LEVEL} intervals"
    told = []
    for name in dict.fromkeys(curve["rules"]):
        told.append(f"{name}{_hands_in_words(needed, name)}")
        own = curve[curve["rules"] == name].sort_values("hands")
        # the curve's end says how far it was followed
        for kind, words in (("curve", "chance to be ahead after"), ("played", "series played out: ahead after")):
            rows = records(own[own["kind"] == kind])
            picked = rows[-1:] if kind == "curve" else rows
            parts = [f"{row['hands']:,} hands {_per_cent(row)}" for row in picked]
            told += [f"{name}, {words} {', '.join(parts)}"] if parts else []
    return sentences([intro, *told])


def _per_cent(row: dict[str, Any]) -> str:
    return f"{said(row['chance'], row['low'], row['high'], 100.0)} %"


def _hands_in_words(needed: pd.DataFrame, rules: str) -> str:
    """Return `: ahead with 75 % after 32 hands (27 to 38), …` for one rule set, or nothing."""
    parts = []
    for row in records(needed[needed["rules"] == rules]):
        hands = f"more than {row['low'] - 1:,.0f} hands"
        if _known(row):
            hands = f"{row['hands']:,.0f} hands ({row['low']:,.0f} to {row['high']:,.0f})"
        parts.append(f"with {100.0 * row['chance']:g} % after {hands}")
    return f": ahead {', '.join(parts)}" if parts else ""


def _known(row: dict[str, Any]) -> bool:
    return not (pd.isna(row["hands"]) or pd.isna(row["high"]))


def _series(rows: pd.DataFrame, shift: float) -> Series:
    parts = [(rows[name] * 100.0).tolist() for name in ("chance", "low", "high")]
    return Series((rows["hands"] * shift).tolist(), *parts)


def _one_table(frame: pd.DataFrame, what: str) -> None:
    """Refuse several numbers of players, where the frame tells them: they would lie upon one another."""
    if "players" in frame.columns:
        only_one(frame, "players", "number of players", what)


def _check(curve: pd.DataFrame, needed: pd.DataFrame) -> None:
    require(curve, ["rules", "hands", "chance", "low", "high", "kind"], "curve")
    require(needed, ["rules", "chance", "hands", "low", "high"], "frame of hands needed")
    _one_table(curve, "curve")
    _one_table(needed, "needed")
    kinds = [kind for kind in curve["kind"] if kind not in ("curve", "played")]
    if kinds:
        raise ValueError(f"no such kind: {kinds[0]}; allowed: curve, played")


# --- what the result of a hand depends on --------------------------------------------------------------------------

PARTS: dict[str, tuple[str, str, str]] = {
    "skill": ("who plays", "#0072B2", ""),
    "seat": ("the seat", "#222222", ""),
    "deal": ("the cards", "#F0C275", ""),
    "skill_in_deal": ("skill that depends on the cards", "#56B4E9", "////"),
    "chance": ("chance in play", "#eeeeee", "...."),
}
"""Parts of `reports.skill.PARTS`: in words, colour, hatching. Neighbours differ in light and dark."""
BAR, NUMBER_LINE, BLOCK = 0.24, 0.15, 0.14
"""Inches: a bar, a line of numbers under it, the space between rule sets."""


def split_finding(parts: pd.DataFrame) -> str:
    """Return how much of a result is skill, and what the largest part is."""
    by_rules = _split(parts)
    if len(by_rules) == 1:
        (rows,) = by_rules.values()
        who = next(row for row in rows if row["part"] == "skill")
        first, second = sorted(rows, key=lambda row: -row["share"])[:2]
        size = f"{_percent(who)} %" if who["share_low"] > 0.0 else "no sure part"
        most = f"; the largest part is {PARTS[first['part']][0]}, {_percent(first)} %"
        sure = first["share_low"] > second["share_high"]
        return f"Who plays decides {size} of a hand's result{most if sure else ''}"
    skills = [{**row, "rules": rules} for rules, rows in by_rules.items() for row in rows if row["part"] == "skill"]
    most_of, least_of = (pick(skills, key=lambda row: row["share"]) for pick in (max, min))
    if most_of["share_low"] <= least_of["share_high"]:
        return "No sure difference between rules in how much depends on who plays"
    return (
        f"Who plays matters most under {most_of['rules']}, {_percent(most_of)} % of a result, "
        f"least under {least_of['rules']}, {_percent(least_of)} %"
    )


def variance_split(parts: pd.DataFrame, ax: Axes | None = None, *, footer: str = "") -> Axes:
    """Draw what the variance of a player's result consists of, a bar for each rule set with its numbers below.

    parts: a row a rule set and part, with rules, part (a key of `reports.skill.PARTS`), share, share_low, share_high
    (0 to 1). Bars of clipped estimates may be a little longer than the whole.
    """
    by_rules = _split(parts)
    with canvas(ax, LEFT, 0.3) as sheet:
        ax = sheet.ax
        top = 0.05
        ends = []
        for rules, rows in by_rules.items():
            name = wrap(rules, sheet.inches, 9, bold=True)
            lines = name.count("\n") + 1
            ax.text(0.0, top, name, ha="left", va="top", weight="bold", fontsize=9, color=INK, parse_math=False,
                    linespacing=1.15, bbox=paper(), zorder=3)  # fmt: skip
            top += 0.03 + 0.155 * lines
            start = 0.0
            for row in rows:
                wide = row["share"] * 100.0
                _, colour, hatch = PARTS[row["part"]]
                ax.add_patch(
                    Rectangle(
                        (start, top), wide, BAR, facecolor=colour, hatch=hatch, edgecolor=SOFT if hatch else "white",
                        linewidth=0.6, zorder=2,
                    )
                )  # fmt: skip
                start += wide
            ends.append(start)
            top += BAR + 0.04
            numbers = wrap(" · ".join(f"{PARTS[row['part']][0]} {_share(row)}" for row in rows), sheet.inches, 8)
            ax.text(0.0, top, numbers, ha="left", va="top", fontsize=8, color=INK, parse_math=False, linespacing=1.2,
                    bbox=paper(), zorder=3)  # fmt: skip
            top += NUMBER_LINE * (numbers.count("\n") + 1) + BLOCK
        ax.set_ylim(top, 0.0)
        ax.set_xlim(0.0, max(100.0, *ends))
        ax.set_yticks([])
        ax.grid(axis="x", color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
        keys: list[Artist] = [
            Patch(label=words, facecolor=colour, hatch=hatch, edgecolor=SOFT, linewidth=0.6)
            for words, colour, hatch in PARTS.values()
        ]
        sheet.finish(
            title=split_finding(parts),
            across="Share of the variance of a player's result in a hand (%)",
            down=f"Rules; below each bar the shares in per cent with {LEVEL} intervals",
            keys=keys,
            body=top,
            footer=footer,
        )
    return ax


def split_in_words(parts: pd.DataFrame) -> str:
    """Return the numbers of `variance_split` in sentences."""
    intro = f"Shares of the variance of a player's result in a hand in per cent, with {LEVEL} intervals"
    told = [
        f"{rules}: " + ", ".join(f"{PARTS[row['part']][0]} {_share(row)}" for row in rows)
        for rules, rows in _split(parts).items()
    ]
    return sentences([intro, *told])


def _split(parts: pd.DataFrame) -> dict[str, list[dict[str, Any]]]:
    """Return the parts by rule set, in the order of PARTS."""
    require(parts, ["rules", "part", "share", "share_low", "share_high"], "frame of parts")
    _one_table(parts, "parts")
    for rules, own in parts.groupby("rules", sort=False)["part"]:
        if sorted(own) != sorted(PARTS):
            raise ValueError(f"the parts of {rules} are {', '.join(own)}; a split has {', '.join(PARTS)}, each once")
    found: dict[str, list[dict[str, Any]]] = {}
    for row in sorted(records(parts), key=lambda row: list(PARTS).index(row["part"])):
        found.setdefault(row["rules"], []).append(row)
    return {rules: found[rules] for rules in dict.fromkeys(parts["rules"])}


def _share(row: dict[str, Any]) -> str:
    return said(row["share"], row["share_low"], row["share_high"], 100.0)


def _percent(row: dict[str, Any]) -> str:
    return f"{100.0 * row['share']:.{decimals(100.0 * row['share_low'], 100.0 * row['share_high'])}f}"
