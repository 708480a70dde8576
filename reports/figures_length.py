"""Figures that answer `how long is it`: turns a hand, hands a match, and how soon a match is as good as decided.

For each figure one function says the finding (the title), one draws and returns the Axes, and one gives the numbers in
words. Nothing is estimated here: counts, quantiles and chances come ready from `reports.frames` and `reports.story`.
"""

from typing import Any

import pandas as pd
from matplotlib.artist import Artist
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.ticker import MaxNLocator

from reports.drawing import (
    GRID,
    INK,
    LEFT,
    VERMILION,
    canvas,
    interval_key,
    only_one,
    paper,
    records,
    require,
    said,
    sentences,
    text_width,
    wrap,
)
from reports.lines import Series, draw_level, draw_points, line_key, looks_of
from reports.output import LEVEL, decimals

LINES_HEIGHT = 2.7
"""Inches that a figure of lines is high."""
DASH: dict[str, Any] = {"linestyle": "none", "marker": "_", "markersize": 9, "markeredgewidth": 2.2}

# --- turns a hand --------------------------------------------------------------------------------------------------

QUANTILES: dict[str, tuple[str, str, Any]] = {
    "median": ("median", INK, "-"),
    "p90": ("90 % of hands are no longer", VERMILION, (0, (4, 2))),
}
"""What is marked: in words, colour, line."""
MOST_BARS = 70
SHOWN = 0.995
"""Part of the hands that the axis reaches to; what is longer is told in words."""
HILL, BELOW = 0.62, 0.12
"""Inches: the highest bars of a rule set, the space below."""


def turns_finding(counts: pd.DataFrame, quantiles: pd.DataFrame) -> str:
    """Return how long hands are, or under which rule sets they are shortest and longest."""
    by_rules = _quantiles(counts, quantiles)
    medians = {rules: found["median"] for rules, found in by_rules.items()}
    short, long = (pick(medians, key=lambda rules: medians[rules]["turns"]) for pick in (min, max))
    if len(medians) == 1:
        (found,) = by_rules.values()
        half, most = (f"{found[name]['turns']:g}" for name in ("median", "p90"))
        return f"Half of all hands take at most {half} turns, 90 % at most {most}"
    if medians[long]["low"] <= medians[short]["high"]:
        return f"No sure difference in length: the median hand takes about {medians[short]['turns']:g} turns"
    return (
        f"The median hand is shortest under {short}, {medians[short]['turns']:g} turns, "
        f"longest under {long}, {medians[long]['turns']:g}"
    )


def turns_distribution(
    counts: pd.DataFrame, quantiles: pd.DataFrame, ax: Axes | None = None, *, footer: str = ""
) -> Axes:
    """Draw how many hands take how many turns, a hill for each rule set, with median and 90 % marked.

    counts: rules, turns, hands (how many took so many), a row for each number of turns that was seen. quantiles: rules,
    quantile (`median` or `p90`), turns, low, high, as `reports.frames.quantile` gives them. Hills are as high as their
    highest bar; turns are put together by 2, 5, 10 and so on where there are many.
    """
    by_rules = _quantiles(counts, quantiles)
    end = max(_reaches(counts[counts["rules"] == rules]) for rules in by_rules)
    end = max(end, *(found["p90"]["high"] for found in by_rules.values()))
    step = _step(end)
    with canvas(ax, LEFT, 0.3) as sheet:
        ax = sheet.ax
        top = 0.05
        for rules, found in by_rules.items():
            own = counts[counts["rules"] == rules]
            beyond = float(own.loc[own["turns"] > end, "hands"].sum()) / float(own["hands"].sum())
            note = f"median {_turns(found['median'])} · 90 % ≤ {_turns(found['p90'])}"
            name = wrap(rules, sheet.inches - text_width(note, 8.5) - 0.15, 9, bold=True)
            top += 0.155 * (name.count("\n") + 1)
            words: dict[str, Any] = {"va": "bottom", "color": INK, "parse_math": False, "bbox": paper(), "zorder": 3}
            ax.text(0.0, top, name, ha="left", weight="bold", fontsize=9, linespacing=1.15,
                    transform=ax.get_yaxis_transform(), **words)  # fmt: skip
            ax.text(1.0, top, note, ha="right", fontsize=8.5, transform=ax.get_yaxis_transform(), **words)
            foot = top + 0.06 + HILL
            bins = own.groupby((own["turns"] // step).astype(int))["hands"].sum()
            bins = bins[bins.index * step <= end]
            height = bins / bins.max() * HILL
            ax.bar(bins.index * step - 0.5, -height, width=step, bottom=foot, align="edge", color="#9ecae1",
                   edgecolor="white", linewidth=0.3 if len(bins) < 50 else 0.0, zorder=2)  # fmt: skip
            ax.plot([-0.5, end + step], [foot, foot], color="#666666", linewidth=0.8, zorder=2.5)
            for kind, row in found.items():
                _, colour, line = QUANTILES[kind]
                ys = [top + 0.04, foot]
                ax.fill_betweenx(ys, row["low"], row["high"], color=colour, alpha=0.3, linewidth=0, zorder=3)
                ax.plot([row["turns"]] * 2, ys, color=colour, linestyle=line, linewidth=1.6, zorder=4)
            if beyond > 0.0:
                ax.text(
                    1.0,
                    foot - 0.03,
                    f"longer: {100.0 * beyond:.1g} % of hands →",
                    ha="right",
                    fontsize=7.5,
                    transform=ax.get_yaxis_transform(),
                    **words,
                )
            top = foot + BELOW + 0.05
        ax.set_ylim(top, 0.0)
        ax.set_xlim(-0.5, end + step)
        ax.set_yticks([])
        ax.xaxis.set_major_locator(MaxNLocator(8, steps=[1, 2, 5, 10], integer=True))
        ax.grid(axis="x", color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
        keys: list[Artist] = [
            Line2D([], [], label=f"{words} ({LEVEL} interval shaded)", color=colour, linestyle=line, linewidth=1.6)
            for words, colour, line in QUANTILES.values()
        ]
        sheet.finish(
            title=turns_finding(counts, quantiles),
            across="Length of a hand (turns)" + ("" if step == 1 else f", {step} to a bar"),
            down="Rules; height: how many hands take so many turns",
            keys=keys,
            body=top,
            footer=footer,
        )
    return ax


def turns_in_words(counts: pd.DataFrame, quantiles: pd.DataFrame) -> str:
    """Return the numbers of `turns_distribution` in sentences."""
    intro = f"Turns a hand, with {LEVEL} intervals where they are not one number"
    told = [
        f"{rules}: median {_turns(found['median'])}, 90 % of hands take at most {_turns(found['p90'])}"
        for rules, found in _quantiles(counts, quantiles).items()
    ]
    return sentences([intro, *told])


def _quantiles(counts: pd.DataFrame, quantiles: pd.DataFrame) -> dict[str, dict[str, dict[str, Any]]]:
    """Return the quantiles by rule set and name, in the order of the counts."""
    require(counts, ["rules", "turns", "hands"], "frame of counts")
    require(quantiles, ["rules", "quantile", "turns", "low", "high"], "frame of quantiles")
    rows = {(row["rules"], row["quantile"]): row for row in records(quantiles)}
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for rules in dict.fromkeys(counts["rules"]):
        for name in QUANTILES:
            if (rules, name) not in rows:
                raise ValueError(f"the frame of quantiles lacks {name} of {rules}")
            found.setdefault(rules, {})[name] = rows[rules, name]
    return found


def _turns(row: dict[str, Any]) -> str:
    return _whole(row["turns"], row["low"], row["high"])


def _whole(value: float, low: float, high: float) -> str:
    """Return a quantile with its interval, whole numbers both."""
    return f"{value:g}" if low == high else f"{value:g} ({low:g} to {high:g})"


def _reaches(own: pd.DataFrame) -> float:
    """Return how many turns the SHOWN part of the hands take at most."""
    by_turns = own.sort_values("turns")
    reached = by_turns["hands"].cumsum() >= SHOWN * by_turns["hands"].sum()
    return float(by_turns.loc[reached, "turns"].iloc[0])


def _step(end: float) -> int:
    steps = (scale * part for scale in (10**k for k in range(9)) for part in (1, 2, 5))
    return int(next(step for step in steps if end / step <= MOST_BARS))


# --- hands a match -------------------------------------------------------------------------------------------------


def match_length_finding(lengths: pd.DataFrame) -> str:
    """Return with how many players matches are shortest and longest."""
    rows = _lengths(lengths)
    short, long = (pick(rows, key=lambda row: row["hands_per_match"]) for pick in (min, max))
    sets = len({row["rules"] for row in rows})
    under = [f"{row['players']} players" + (f" under {row['rules']}" if sets > 1 else "") for row in (short, long)]
    hands = [
        f"{row['hands_per_match']:.{decimals(row['hands_per_match_low'], row['hands_per_match_high'])}f}"
        for row in (short, long)
    ]
    if len(rows) == 1:
        return f"A match of {under[0]} takes {hands[0]} hands on average"
    if long["hands_per_match_low"] <= short["hands_per_match_high"]:
        return f"No sure difference in length: about {hands[0]} hands a match"
    return f"Matches are shortest with {under[0]}, {hands[0]} hands, longest with {under[1]}, {hands[1]}"


def match_length_by_players(lengths: pd.DataFrame, ax: Axes | None = None, *, footer: str = "") -> Axes:
    """Draw the mean number of hands a match by number of players, a line for each rule set, and the medians.

    lengths: a row a rule set and number of players, with rules, players, hands_per_match, hands_per_match_low,
    hands_per_match_high; where there are also median, median_low, median_high, medians are drawn as dashes.
    """
    rows = _lengths(lengths)
    names = list(dict.fromkeys(row["rules"] for row in rows))
    looks = looks_of(names, "rule sets")
    players = sorted({row["players"] for row in rows})
    medians = "median" in lengths.columns
    with canvas(ax, LEFT + 0.25, 0.2) as sheet:
        ax = sheet.ax
        keys: list[Artist] = []
        for place, name in enumerate(names):
            own = sorted((row for row in rows if row["rules"] == name), key=lambda row: row["players"])
            # side by side, so that no bar hides another
            aside = 0.1 * (place - (len(names) - 1) / 2)
            at = [row["players"] + aside for row in own]
            parts = [[row[f"hands_per_match{end}"] for row in own] for end in ("", "_low", "_high")]
            draw_points(ax, Series(at, *parts), looks[name], joined=True)
            if medians:
                values = [row["median"] for row in own]
                ends = [
                    [row["median"] - row["median_low"] for row in own],
                    [row["median_high"] - row["median"] for row in own],
                ]
                ax.errorbar(at, values, yerr=ends, color=looks[name]["color"], elinewidth=1.0, zorder=3, **DASH)
            keys.append(line_key(looks[name], name, points=True))
        ax.set_ylim(bottom=0.0)
        ax.set_xlim(players[0] - 0.5, players[-1] + 0.5)
        ax.set_xticks(players)
        ax.yaxis.set_major_locator(MaxNLocator(6, steps=[1, 2, 2.5, 5, 10]))
        ax.grid(axis="y", color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
        keys.append(interval_key(f"{LEVEL} interval of the mean"))
        if medians:
            keys.append(Line2D([], [], color=INK, label="median", **DASH))
        sheet.finish(
            title=match_length_finding(lengths),
            across="Players",
            down="Length of a match (hands, mean)",
            keys=keys,
            body=LINES_HEIGHT,
            handle=3.4,
            footer=footer,
        )
    return ax


def match_length_in_words(lengths: pd.DataFrame) -> str:
    """Return the numbers of `match_length_by_players` in sentences."""
    told: dict[str, list[str]] = {}
    for row in _lengths(lengths):
        mean = said(row["hands_per_match"], row["hands_per_match_low"], row["hands_per_match_high"])
        median = ""
        if "median" in row:
            median = f", median {_whole(row['median'], row['median_low'], row['median_high'])}"
        told.setdefault(row["rules"], []).append(f"{row['players']} players {mean}{median}")
    intro = f"Hands a match on average by number of players, with {LEVEL} intervals"
    return sentences([intro, *(f"{rules}: {'; '.join(parts)}" for rules, parts in told.items())])


def _lengths(lengths: pd.DataFrame) -> list[dict[str, Any]]:
    columns = ["rules", "players", "hands_per_match", "hands_per_match_low", "hands_per_match_high"]
    columns += ["median_low", "median_high"] if "median" in lengths.columns else []
    require(lengths, columns, "frame of match lengths")
    return records(lengths)


# --- who leads, and wins -------------------------------------------------------------------------------------------


def lead_finding(leads: pd.DataFrame) -> str:
    """Return from which hand on the leader surely wins more often than not."""
    rows, _ = _leads(leads)
    names = list(dict.fromkeys(row["rules"] for row in rows))
    sure = {
        name: min((row["hand"] for row in rows if row["rules"] == name and row["low"] > 0.5), default=None)
        for name in names
    }
    if len(names) == 1:
        if sure[names[0]] is None:
            return "Up to the last hand shown, the leader does not surely win more often than not"
        return f"Who leads after hand {sure[names[0]]} surely wins the match more often than not"
    known = {name: hand for name, hand in sure.items() if hand is not None}
    if not known:
        return "Under none of the rules does the leader surely win more often than not"
    early = min(known, key=lambda name: known[name])
    if sum(hand == known[early] for hand in known.values()) > 1:
        return f"The leader surely wins more often than not from hand {known[early]} on, under several rules"
    return (
        f"A lead counts soonest under {early}: from hand {known[early]} on the leader surely wins more often than not"
    )


def lead_history(leads: pd.DataFrame, ax: Axes | None = None, *, footer: str = "") -> Axes:
    """Draw the chance that who leads after hand k wins the match, a line for each rule set.

    leads: a row a rule set and hand, with rules, players (one number), hand, chance, low, high (0 to 1), as the measure
    `leader_wins` has them.
    """
    rows, players = _leads(leads)
    names = list(dict.fromkeys(row["rules"] for row in rows))
    looks = looks_of(names, "rule sets")
    with canvas(ax, LEFT + 0.25, 0.2) as sheet:
        ax = sheet.ax
        keys: list[Artist] = []
        for place, name in enumerate(names):
            own = sorted((row for row in rows if row["rules"] == name), key=lambda row: row["hand"])
            aside = 0.12 * (place - (len(names) - 1) / 2)
            parts = [[100.0 * row[column] for row in own] for column in ("chance", "low", "high")]
            draw_points(ax, Series([row["hand"] + aside for row in own], *parts), looks[name], joined=True)
            keys.append(line_key(looks[name], name, points=True))
        hands = [row["hand"] for row in rows]
        ax.set_xlim(min(hands) - 0.5, max(hands) + 0.5)
        ax.set_ylim(0.0, 103.0)
        draw_level(ax, 100.0 / players, f"anybody: {100.0 / players:.3g} %")
        ax.xaxis.set_major_locator(MaxNLocator(12, integer=True))
        ax.yaxis.set_major_locator(MaxNLocator(5))
        ax.grid(axis="y", color=GRID, linewidth=0.8)
        ax.set_axisbelow(True)
        keys.append(interval_key(f"{LEVEL} interval"))
        sheet.finish(
            title=lead_finding(leads),
            across="After hand k of the match, if it goes on",
            down="Matches won by who leads (%)",
            keys=keys,
            body=LINES_HEIGHT,
            handle=3.4,
            footer=footer,
        )
    return ax


def lead_in_words(leads: pd.DataFrame) -> str:
    """Return the numbers of `lead_history` in sentences."""
    rows, players = _leads(leads)
    told: dict[str, list[str]] = {}
    for row in rows:
        told.setdefault(row["rules"], []).append(
            f"hand {row['hand']} {said(row['chance'], row['low'], row['high'], 100.0)}"
        )
    intro = (
        f"Matches of {players} players won by who leads after hand k, in per cent, with {LEVEL} intervals; "
        f"anybody wins {100.0 / players:.3g}"
    )
    return sentences([intro, *(f"{rules}: {', '.join(parts)}" for rules, parts in told.items())])


def _leads(leads: pd.DataFrame) -> tuple[list[dict[str, Any]], int]:
    require(leads, ["rules", "players", "hand", "chance", "low", "high"], "frame of leads")
    players = only_one(leads, "players", "number of players", "leads")
    return records(leads), int(players)
