"""Figures that answer `which house rule is fairer`: data first, then the finding in words, then dots and intervals.

For each figure there are four functions: one turns a result frame into the numbers that are drawn, one says the finding
(the figure's title), one draws and returns the Axes, and one gives the numbers in words. Nothing is estimated here. In
a notebook draw on an axes of your own, `spread_by_rule(ranking, ax)`, or take the figure from the axes that comes back,
`ax.figure`.
"""

from collections.abc import Collection
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from reports.dots import Block, Dot, best_look, draw_dots, other_look
from reports.drawing import only_one, records, require, said, save_figure, sentences
from reports.heat import SIZES, Cell, Scale, draw_heat_map
from reports.output import LEVEL, decimals, with_interval

MAY_BE, SURELY_NOT = "may be the fairest (best set)", "surely less fair"
BEST, OTHER = best_look(MAY_BE), other_look(SURELY_NOT)


# --- the numbers that are drawn ------------------------------------------------------------------------------------


def position_shares(results: pd.DataFrame) -> pd.DataFrame:
    """Return win shares by position in per cent, a row a rule set and position, rule sets as they come in `results`.

    Columns: rules, position (int, 1 = left of the dealer, n = the dealer), share, low, high, fair (100 / n).
    Where two scenarios have the same rules, `rules` also names the line-up. One number of players at a time.
    """
    rows = results[(results["measure"] == "win_share") & (results["by"] == "position")]
    if rows.empty:
        raise ValueError("no win shares by position in these results (measure 'win_share', by 'position')")
    players = only_one(rows, "players", "number of players", "results")
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
            "fair": 100.0 / players,
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
    require(ranking, ["rules", "spread", "spread_low", "spread_high", "spread_null", "in_best_set"], "ranking")
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
    require(ranking, ["rules", "turns_per_hand", "turns_per_hand_low", "turns_per_hand_high", "in_best_set"], "ranking")
    return pd.DataFrame(
        {
            "rules": ranking["rules"],
            "turns": ranking["turns_per_hand"].astype(float),
            "low": ranking["turns_per_hand_low"].astype(float),
            "high": ranking["turns_per_hand_high"].astype(float),
            "in_best_set": ranking["in_best_set"].astype(bool),
        }
    ).reset_index(drop=True)


# --- the finding, which is the title -------------------------------------------------------------------------------


def share_finding(shares: pd.DataFrame) -> str:
    """Return what the win shares (of `position_shares`) show, claiming nothing that the intervals do not."""
    sets = shares["rules"].nunique()
    if sets == 1:
        rows = sorted(records(shares), key=lambda row: row["share"])
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
    first, sets, best = records(spreads)[0], len(spreads), int(spreads["in_best_set"].sum())
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
    rows = sorted(records(lengths), key=lambda row: row["turns"])
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
        Block(
            heading=str(rules),
            look=BEST if _is_best(str(rules), best) else OTHER,
            dots=tuple(
                Dot(
                    value=row["share"],
                    low=row["low"],
                    high=row["high"],
                    name=str(row["position"]),
                    number=f"{row['share']:.{decimals(row['low'], row['high'])}f} %",
                )
                for row in records(group)
            ),
        )
        for rules, group in shares.groupby("rules", sort=False)
    ]
    return draw_dots(
        ax,
        blocks,
        title=share_finding(shares),
        across="Win share (% of hands)",
        down=f"Position: 1 = left of the dealer, {players} = the dealer",
        line=(fair, f"fair share {fair:.4g} %"),
        looks=(BEST, OTHER) if best is not None else (),
        interval=f"{LEVEL} interval",
        footer=footer,
    )


def spread_by_rule(ranking: pd.DataFrame, ax: Axes | None = None, *, footer: str = "") -> Axes:
    """Draw the ranking: the spread of each rule set with its interval, the fairest on top.

    The null value is not drawn: it belongs to the plain spread, and the spread that is drawn is corrected for it.
    """
    spreads = spread_points(ranking)
    blocks = [
        Block(
            heading=row["rules"],
            note=with_interval(row["spread"], row["low"], row["high"]),
            look=BEST if row["in_best_set"] else OTHER,
            dots=(Dot(row["spread"], row["low"], row["high"]),),
        )
        for row in records(spreads)
    ]
    return draw_dots(
        ax,
        blocks,
        title=spread_finding(spreads),
        across="Win share, best minus worst position (percentage points; 0 = perfectly fair)",
        down=_down("points", len(spreads)),
        from_zero=True,
        looks=(BEST, OTHER) if len(spreads) > 1 else (),
        interval=f"{LEVEL} interval" + (", all rules at once" if len(spreads) > 1 else ""),
        footer=footer,
    )


def length_by_rule(ranking: pd.DataFrame, ax: Axes | None = None, *, footer: str = "") -> Axes:
    """Draw the mean number of turns a hand of each rule set with its interval, in the ranking's order."""
    lengths = hand_lengths(ranking)
    blocks = [
        Block(
            heading=row["rules"],
            note=with_interval(row["turns"], row["low"], row["high"]),
            look=BEST if row["in_best_set"] else OTHER,
            dots=(Dot(row["turns"], row["low"], row["high"]),),
        )
        for row in records(lengths)
    ]
    return draw_dots(
        ax,
        blocks,
        title=length_finding(lengths),
        across="Length of a hand (turns, mean)",
        down=_down("turns", len(lengths)),
        looks=(BEST, OTHER) if len(lengths) > 1 else (),
        interval=f"{LEVEL} interval",
        footer=footer,
    )


def spread_heat_map(spreads: pd.DataFrame, ax: Axes | None = None, *, footer: str = "") -> Axes:
    """Draw the spread by rule set and number of players; marked is what may be the fairest of its column.

    spreads: a row a rule set and number of players, with rules, players, spread, spread_low, spread_high, in_best_set,
    as rankings of several numbers of players have them, one below the other.
    """
    rows = _spreads(spreads)
    rules, players = list(dict.fromkeys(row["rules"] for row in rows)), sorted({row["players"] for row in rows})
    cells = {
        (rules.index(row["rules"]), players.index(row["players"])): Cell(
            row["spread"] * 100.0,
            row["spread_low"] * 100.0,
            row["spread_high"] * 100.0,
            marked=bool(row["in_best_set"]),
        )
        for row in rows
    }
    most = max(cell.value for cell in cells.values())
    return draw_heat_map(
        ax,
        rules,
        [str(number) for number in players],
        cells,
        title=spread_map_finding(spreads),
        across="Players",
        down="Rules; in the cells: win share, best minus worst position, in percentage points",
        scale=Scale(SIZES, 0.0, most, (("fair (0)", 0.0), ("unfair", most))),
        mark="may be the fairest with so many players (best set)",
        blank="not played",
        footer=footer,
    )


def spread_map_finding(spreads: pd.DataFrame) -> str:
    """Return which rule set (of `spread_heat_map`) may be the fairest with the most numbers of players."""
    rows = _spreads(spreads)
    numbers = len({row["players"] for row in rows})
    best: dict[str, int] = {row["rules"]: 0 for row in rows}
    for row in rows:
        best[row["rules"]] += bool(row["in_best_set"])
    first = max(best, key=lambda rules: best[rules])
    if sum(best[rules] == best[first] for rules in best) > 1:
        return f"No rule set stands out as the fairest over {numbers} numbers of players"
    every = f"every number of players, {numbers} in all" if best[first] == numbers else f"{best[first]} of {numbers}"
    return f"{first} may be the fairest with {every}" + ("" if best[first] == numbers else " numbers of players")


def spread_map_in_words(spreads: pd.DataFrame) -> str:
    """Return the numbers of `spread_heat_map` in sentences."""
    intro = f"Win share of the best minus that of the worst position in percentage points, with {LEVEL} intervals"
    told: dict[str, list[str]] = {}
    for row in _spreads(spreads):
        number = said(row["spread"], row["spread_low"], row["spread_high"], 100.0)
        best = f", {MAY_BE}" if row["in_best_set"] else ""
        told.setdefault(row["rules"], []).append(f"{row['players']} players {number}{best}")
    return sentences([intro, *(f"{rules}: {'; '.join(parts)}" for rules, parts in told.items())])


def _spreads(spreads: pd.DataFrame) -> list[dict[str, Any]]:
    columns = ["rules", "players", "spread", "spread_low", "spread_high", "in_best_set"]
    require(spreads, columns, "frame of spreads")
    return records(spreads)


def _down(unit: str, sets: int) -> str:
    return ("Rules, the fairest on top" if sets > 1 else "Rules") + f"; on the right: {unit} and interval"


def _is_best(rules: str, best: str | Collection[str] | None) -> bool:
    # without a best set nothing is set apart, and all look like the best
    return best is None or rules == best or (not isinstance(best, str) and rules in best)


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
    return [
        path
        for name, ax, title, words in figures
        for path in save_figure(directory, f"{name}-{players}-players", ax, title, words)
    ]


def footer_text(results: pd.DataFrame, settings: str = "") -> str:
    """Return what was played, in a line: players, settings, line-up, deals, and, where given, seed and version."""
    first = results.iloc[0]
    what = "matches" if int(first.get("matches", 0)) else "blocks"
    players = ", ".join(map(str, dict.fromkeys(results["players"])))
    lineups = "; ".join(dict.fromkeys(results["lineup"]))
    counts = "; ".join(f"{count:,}" for count in dict.fromkeys(results[what]))
    parts = [f"{players} players", settings, f"line-up {lineups}"]
    parts.append(f"{counts} {'matches' if what == 'matches' else 'deals'}")
    parts += [f"seed {first['seed']}"] if "seed" in results.columns else []
    parts += [f"ochos-sim {first['version']}"] if "version" in results.columns else []
    return " · ".join(filter(None, parts))


def _shares_in_words(shares: pd.DataFrame) -> str:
    sets = [
        f"{rules}: "
        + ", ".join(
            f"position {r['position']} {with_interval(r['share'], r['low'], r['high'])}" for r in records(group)
        )
        for rules, group in shares.groupby("rules", sort=False)
    ]
    fair = f"Win share by position in per cent, with {LEVEL} intervals; the fair share is {shares['fair'].iloc[0]:.4g}."
    return sentences([fair, *sets])


def _spreads_in_words(spreads: pd.DataFrame) -> str:
    intro = f"Win share of the best minus that of the worst position in percentage points, with {LEVEL} intervals"
    sets = [
        f"{r['rules']}: {with_interval(r['spread'], r['low'], r['high'])}"
        + ("" if len(spreads) == 1 else f", {MAY_BE if r['in_best_set'] else SURELY_NOT}")
        for r in records(spreads)
    ]
    return sentences([intro + (", fairest first." if len(spreads) > 1 else "."), *sets])


def _lengths_in_words(lengths: pd.DataFrame) -> str:
    sets = [f"{r['rules']}: {with_interval(r['turns'], r['low'], r['high'])}" for r in records(lengths)]
    return sentences([f"Turns a hand on average, with {LEVEL} intervals.", *sets])
