"""Which house rule is fairer, in words and as a table: from a ranked result to what a person would say.

The numbers come ready from `reports/intervals.py`; nothing is estimated here. A rule is fair when every position
wins equally often, and its spread is by how much the best position beats the worst. Positions are counted from the
left of the dealer: position 1 sits there, position n is the dealer. "Surely" means beyond the simultaneous
interval, at the ranking's level.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from reports.intervals import Estimate, Ranking, Spread

if TYPE_CHECKING:
    import pandas as pd

POSITIONS = "position 1 is left of the dealer, position n is the dealer"


def verdict(names: Sequence[str], ranking: Ranking) -> str:
    """Return the answer in plain sentences: what is fairest and by how much, what is surely worse, what may not be.

    names: of the scenarios, in the order in which they were ranked.
    """
    _check_names(names, ranking)
    # the smallest plain spread is always in the best set, so there is a leader
    best = [k for k in ranking.order if ranking.in_best_set[k]]
    worse = [names[k] for k in ranking.order if not ranking.in_best_set[k]]
    leader, rivals = best[0], [names[k] for k in best[1:]]
    apart = _apart(ranking.spreads[leader], ranking)
    if len(names) == 1:
        return f"{names[0]}: {apart}."
    if not rivals:
        return f"Fairest: {names[leader]}: {apart}. Surely less fair: {', '.join(worse)}."
    if not worse:
        together = f"{', '.join(names[k] for k in best[:-1])} and {names[best[-1]]}"
        return f"No sure winner: {together} cannot be told apart. Fairest so far: {names[leader]}: {apart}."
    return (
        f"Fairest so far: {names[leader]}: {apart}. "
        f"Surely less fair: {', '.join(worse)}. Not surely worse: {', '.join(rivals)}."
    )


def ranking_frame(
    names: Sequence[str], ranking: Ranking, what_else: Mapping[str, Sequence[Estimate]] | None = None
) -> "pd.DataFrame":
    """Return the ranking as a table, a row a scenario, the fairest first.

    Columns: rank_low, rank_high (1 = fairest), rules, spread (corrected for bias) with spread_low, spread_high,
    spread_plain (as it came out) beside spread_null (what spread_plain would average under a perfectly fair rule),
    in_best_set, best_position, worst_position (see POSITIONS, also in `attrs`). Then, for each entry of what_else (what
    changes besides, one estimate a scenario in the given order), its value and its `_low` and `_high`.
    Shares and spreads are fractions, not per cent.
    """
    import pandas as pd

    _check_names(names, ranking)
    spreads = ranking.spreads
    columns: dict[str, Sequence[object]] = {
        "rank_low": ranking.rank_low,
        "rank_high": ranking.rank_high,
        "rules": names,
        "spread": [s.value for s in spreads],
        "spread_low": [s.low for s in spreads],
        "spread_high": [s.high for s in spreads],
        "spread_plain": [s.plain for s in spreads],
        "spread_null": [s.null for s in spreads],
        "in_best_set": ranking.in_best_set,
        "best_position": [s.best_position for s in spreads],
        "worst_position": [s.worst_position for s in spreads],
    }
    for name, estimates in (what_else or {}).items():
        if len(estimates) != len(names):
            raise ValueError(f"{name}: {len(estimates)} estimates for {len(names)} scenarios")
        columns[name] = [e.value for e in estimates]
        columns[f"{name}_low"] = [e.low for e in estimates]
        columns[f"{name}_high"] = [e.high for e in estimates]
    frame = pd.DataFrame(columns).iloc[list(ranking.order)].reset_index(drop=True)
    frame.attrs["positions"] = POSITIONS
    return frame


def position_name(position: int, players: int) -> str:
    """Return the position with its side of the table: `position 1 (left of the dealer)`."""
    if position == players:
        return f"position {position} (the dealer)"
    return "position 1 (left of the dealer)" if position == 1 else f"position {position}"


def one_hand_in(share: float) -> str:
    """Return a difference in win share as a count of hands: 0.025 is `about one hand in 40`."""
    if share <= 0.0:
        return "no hand at all"
    if share >= 2.0 / 3.0:
        return "nearly every hand"
    if share >= 0.4:
        return "about every second hand"
    hands = 1.0 / share
    unit = 10 ** max(0, math.floor(math.log10(hands)) - 1)  # two digits are as many as "about" bears
    return f"about one hand in {round(hands / unit) * unit:,}"


def _apart(spread: Spread, ranking: Ranking) -> str:
    """Return one scenario's spread in words, naming the positions only where they surely differ."""
    percent = f"{ranking.level * 100:g} %"
    digits = _digits(spread.low * 100.0, spread.high * 100.0)
    value, low, high = (f"{x * 100:.{digits}f}" for x in (spread.value, spread.low, spread.high))
    if spread.low <= 0.0 and spread.high >= 0.5:
        return "too few hands to say how far the positions are apart"
    if spread.low <= 0.0:
        return (
            "no position surely wins more often than another; they are at most "
            f"{high} points of win share apart ({percent}), {one_hand_in(spread.high)}"
        )
    best, worst = (position_name(p, ranking.players) for p in (spread.best_position, spread.worst_position))
    return (
        f"{best} wins more often than {worst}, by {value} points of win share "
        f"({percent} interval {low} to {high}), {one_hand_in(spread.value)}"
    )


def _digits(low: float, high: float) -> int:
    """Return the decimals that show an interval: 1 for ±0.3, 2 for ±0.03, more where a sure bound would print as 0."""
    half = (high - low) / 2.0
    digits = min(4, max(1, -math.floor(math.log10(half)))) if half > 0.0 else 4
    while digits < 4 and low > 0.00005 and round(low, digits) == 0.0:
        digits += 1
    return digits


def _check_names(names: Sequence[str], ranking: Ranking) -> None:
    if len(names) != len(ranking.spreads):
        raise ValueError(f"{len(names)} names for {len(ranking.spreads)} scenarios")
