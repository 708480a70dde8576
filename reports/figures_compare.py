"""Figures that answer `which strategy is better`: the standings, and who gains how much against whom.

The frames are those of `reports.compared`. For each figure one function says the finding (the title), one draws and
returns the Axes, and one gives the numbers in words. Nothing is estimated here.
"""

from collections.abc import Sequence
from typing import Any

import pandas as pd
from matplotlib.axes import Axes

from reports.dots import Block, Brackets, Dot, best_look, draw_dots, other_look
from reports.drawing import only_one, records, require, said, sentences
from reports.heat import SIDES, Cell, Scale, draw_heat_map
from reports.output import LEVEL, decimals

MAY_BE, SURELY_NOT = "may be the best (best set)", "surely worse than another"
BEST, OTHER = best_look(MAY_BE), other_look(SURELY_NOT)
GAINS = {
    "win_gain": ("win share", "percentage points of win share", 100.0),
    "match_gain": ("matches won", "percentage points of matches won", 100.0),
    "points_gain": ("points", "points a hand, turned so that more is better", 1.0),
}
"""What may be drawn: in a word, its unit, and what the frame's numbers are multiplied by."""


# --- standings -----------------------------------------------------------------------------------------------------


def standings_finding(standings: pd.DataFrame, measure: str | None = None) -> str:
    """Return who is best and by how much, claiming nothing that the intervals do not."""
    rows, measure = _standings(standings, measure)
    first = max(rows, key=lambda row: row[measure]) if measure != _ranked_by(standings) else rows[0]
    value, low, high = (first[name] * GAINS[measure][2] for name in (measure, f"{measure}_low", f"{measure}_high"))
    gain = f"{value:.{decimals(low, high)}f} {_unit(measure)}"
    if low <= 0.0:
        gain = "no sure gain"
    if measure != _ranked_by(standings):
        return f"In {GAINS[measure][0]} {first['strategy']} comes first: {gain}"
    best, size = sum(bool(row["in_best_set"]) for row in rows), len(rows)
    if best == 1:
        return f"{first['strategy']} is best: {gain}"
    may_be = "No strategy is surely the best" if best == size else f"{best} of {size} strategies may be the best"
    return f"{may_be}; first comes {first['strategy']}: {gain}"


def standings_figure(
    standings: pd.DataFrame, ax: Axes | None = None, *, measure: str | None = None, footer: str = ""
) -> Axes:
    """Draw what each strategy gains with its interval, the best on top, with the ranks and groups it may have.

    standings: as `reports.compared.standings_frame` gives it, one number of players. measure: a key of GAINS, by
    default the one that the standings are ranked by; ranks, best set and groups are of that one, and are not drawn with
    another.
    """
    rows, measure = _standings(standings, measure)
    ranked = measure == _ranked_by(standings)
    factor = GAINS[measure][2]
    blocks = [
        Block(
            heading=str(row["strategy"]),
            note=(f"rank {_rank(row)} · " if ranked else "") + _gain(row, measure),
            look=BEST if row["in_best_set"] or not ranked else OTHER,
            dots=(Dot(row[measure] * factor, row[f"{measure}_low"] * factor, row[f"{measure}_high"] * factor),),
        )
        for row in rows
    ]
    groups = [group for group in _groups(rows) if len(group) > 1] if ranked else []
    return draw_dots(
        ax,
        blocks,
        title=standings_finding(standings, measure),
        across=f"Gain ({GAINS[measure][1]}; 0 = nothing gained by playing it)",
        down=f"Strategy, the best on top; on the right: {'rank, ' if ranked else ''}{_unit(measure)} and interval",
        line=(0.0, "no gain"),
        looks=(BEST, OTHER) if ranked else (),
        interval=f"{LEVEL} interval, all strategies at once",
        brackets=Brackets("cannot be told apart (group)", [(group[0], group[-1]) for group in groups]),
        footer=footer,
    )


def standings_in_words(standings: pd.DataFrame, measure: str | None = None) -> str:
    """Return the numbers of `standings_figure` in sentences."""
    rows, measure = _standings(standings, measure)
    ranked = measure == _ranked_by(standings)
    intro = f"Gain in {GAINS[measure][1]}, with {LEVEL} intervals that hold together, the best first"
    told = [
        f"{row['strategy']}: {_gain(row, measure)}"
        + (f", rank {_rank(row)}, {MAY_BE if row['in_best_set'] else SURELY_NOT}" if ranked else "")
        for row in rows
    ]
    groups = [", ".join(str(rows[k]["strategy"]) for k in group) for group in _groups(rows) if len(group) > 1]
    apart = [f"Cannot be told apart: {'; '.join(groups)}"] if ranked and groups else []
    return sentences([intro, *told, *apart])


def _standings(standings: pd.DataFrame, measure: str | None) -> tuple[list[dict[str, Any]], str]:
    """Return the rows, in the frame's order, and the measure that is meant."""
    measure = measure or _ranked_by(standings)
    if measure not in GAINS:
        raise ValueError(f"no such gain: {measure}; allowed: {', '.join(GAINS)}")
    columns = ["players", "strategy", "rank_low", "rank_high", "groups", "in_best_set"]
    require(standings, [*columns, measure, f"{measure}_low", f"{measure}_high"], "frame of standings")
    only_one(standings, "players", "number of players", "standings")
    return records(standings), measure


def _ranked_by(standings: pd.DataFrame) -> str:
    return "match_gain" if "match_gain" in standings.columns else "win_gain"


def _gain(row: dict[str, Any], measure: str) -> str:
    return said(row[measure], row[f"{measure}_low"], row[f"{measure}_high"], GAINS[measure][2])


def _unit(measure: str) -> str:
    return "points a hand" if measure == "points_gain" else f"points of {GAINS[measure][0]}"


def _rank(row: dict[str, Any]) -> str:
    low, high = row["rank_low"], row["rank_high"]
    return f"{low}" if low == high else f"{low} to {high}"


def _groups(rows: Sequence[dict[str, Any]]) -> list[list[int]]:
    """Return the groups as places in the order, from the numbers of groups that each strategy has."""
    found: dict[str, list[int]] = {}
    for place, row in enumerate(rows):
        for number in str(row["groups"]).split():
            found.setdefault(number, []).append(place)
    return list(found.values())


# --- all pairs -----------------------------------------------------------------------------------------------------


def payoff_finding(pairs: pd.DataFrame, measure: str = "win_gain") -> str:
    """Return who surely gains against all others or, if nobody does, against most."""
    rows = _pairs(pairs, measure)
    met: dict[str, int] = {}
    sure: dict[str, int] = {}
    for row in rows:
        met[row["strategy"]] = met.get(row["strategy"], 0) + 1
        sure[row["strategy"]] = sure.get(row["strategy"], 0) + int(row[f"{measure}_low"] > 0.0)
    most = max(met, key=lambda name: sure[name])
    if not sure[most]:
        return "No strategy surely gains against any other"
    others = met[most]
    if len({row["against"] for row in rows}) == 1:
        winners = sum(sure.values())
        return f"{winners} of {len(rows)} strategies surely gain against {rows[0]['against']}"
    if sure[most] == others:
        return f"{most} surely gains against " + ("the other" if others == 1 else f"each of the {others} others")
    return f"No strategy surely gains against all others; {most} does against {sure[most]} of {others}"


def payoff_heat_map(
    pairs: pd.DataFrame,
    ax: Axes | None = None,
    *,
    order: Sequence[str] = (),
    measure: str = "win_gain",
    footer: str = "",
) -> Axes:
    """Draw what one player of the row gains among players of the column, a cell for each pair that was played.

    pairs: as `reports.compared.pairs_frame` gives it, one number of players. order: strategies from top to bottom and
    left to right, such as the standings' column `strategy`; by default as they come. measure: a key of GAINS.
    """
    rows = _pairs(pairs, measure)
    factor = GAINS[measure][2]
    known = list(dict.fromkeys([*(row["strategy"] for row in rows), *(row["against"] for row in rows)]))
    names = [*(name for name in order if name in known), *(name for name in known if name not in order)]
    down = [name for name in names if any(row["strategy"] == name for row in rows)]
    across = [name for name in names if any(row["against"] == name for row in rows)]
    cells = {
        (down.index(row["strategy"]), across.index(row["against"])): Cell(
            row[measure] * factor,
            row[f"{measure}_low"] * factor,
            row[f"{measure}_high"] * factor,
            marked=row[f"{measure}_low"] <= 0.0 <= row[f"{measure}_high"],
        )
        for row in rows
    }
    most = max(abs(cell.value) for cell in cells.values())
    return draw_heat_map(
        ax,
        down,
        across,
        cells,
        title=payoff_finding(pairs, measure),
        across="Strategy of all other players",
        down=f"One player of the row among players of the column: gain in {_unit(measure)}",
        scale=Scale(SIDES, -most, most, (("the row gains (+)", 0.6 * most), ("the row loses (−)", -0.6 * most))),
        mark="no sure difference (interval includes 0)",
        blank="the same strategy, or not played",
        signed=True,
        footer=footer,
    )


def payoff_in_words(pairs: pd.DataFrame, measure: str = "win_gain") -> str:
    """Return the numbers of `payoff_heat_map` in sentences."""
    intro = (
        f"What one player of a strategy gains among players of another, in {GAINS[measure][1]}, with {LEVEL} intervals"
    )
    told: dict[str, list[str]] = {}
    for row in _pairs(pairs, measure):
        told.setdefault(row["strategy"], []).append(f"among {row['against']} {_gain(row, measure)}")
    return sentences([intro, *(f"{name}: {', '.join(parts)}" for name, parts in told.items())])


def _pairs(pairs: pd.DataFrame, measure: str) -> list[dict[str, Any]]:
    if measure not in GAINS:
        raise ValueError(f"no such gain: {measure}; allowed: {', '.join(GAINS)}")
    require(pairs, ["players", "strategy", "against", measure, f"{measure}_low", f"{measure}_high"], "frame of pairs")
    only_one(pairs, "players", "number of players", "pairs")
    return records(pairs)
