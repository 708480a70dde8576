"""Which house rule is fairer, in words and as a table: from a ranked result to what a person would say.

The numbers come ready from `reports/intervals.py`; nothing is estimated here. A rule is fair when every position
wins equally often, and its spread is by how much the best position beats the worst. Positions are counted from the
left of the dealer: position 1 sits there, position n is the dealer. "Surely" means beyond the simultaneous
interval, at the ranking's level.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from reports.intervals import Estimate, Ranking, Spread
from reports.language import listed, numeral, say

if TYPE_CHECKING:
    import pandas as pd

POSITIONS = "position 1 is left of the dealer, position n is the dealer"


@dataclass(frozen=True)
class Confirmation:
    """The winner and its closest rival played again at another seed. Both are numbers of scenarios.

    spread: of the winner; difference: the rival's spread minus the winner's; holds: that is surely above 0 again.
    """

    winner: int
    rival: int
    seed: int
    deals: int
    spread: Spread
    difference: Estimate
    variance_ratio: float
    holds: bool


@dataclass(frozen=True)
class Part:
    """A part of an answer over a grid: for how many, who plays (empty if it is the same everywhere), how it ranks."""

    players: int
    lineup: str
    ranking: Ranking
    confirmation: Confirmation | None = None

    @property
    def where(self) -> str:
        """Return what it holds for: `4 players` or `4 players (all random)`."""
        if self.lineup:
            return say("{players} players ({lineup})", players=self.players, lineup=self.lineup)
        return say("{players} players", players=self.players)

    @property
    def winner(self) -> int | None:
        """The rule set that is surely fairest here, unless a fresh seed did not confirm it."""
        best = [k for k in self.ranking.order if self.ranking.in_best_set[k]]
        return best[0] if len(best) == 1 and (self.confirmation is None or self.confirmation.holds) else None


def closest(ranking: Ranking) -> tuple[int, int] | None:
    """Return the sure winner of a ranking and its closest rival, if there is a winner."""
    return (ranking.order[0], ranking.order[1]) if len(ranking.order) > 1 and sum(ranking.in_best_set) == 1 else None


def confirm(pair: tuple[int, int], ranking: Ranking, *, seed: int, deals: int) -> Confirmation:
    """Return what a fresh seed says of a winner and its rival; `ranking`: of these two alone, in this order."""
    winner, rival = pair
    difference, ratio = ranking.differences[1][0], ranking.variance_ratio[1][0]
    holds = ranking.in_best_set == (True, False)
    return Confirmation(winner, rival, seed, deals, ranking.spreads[0], difference, ratio, holds)


def verdict(names: Sequence[str], ranking: Ranking, confirmation: Confirmation | None = None) -> str:
    """Return the answer in plain sentences: what is fairest and by how much, what is surely worse, what may not be.

    names: of the scenarios, in the order in which they were ranked. A winner that was played again at a fresh seed is
    called confirmed or not.
    """
    _check_names(names, ranking)
    # the smallest plain spread is always in the best set, so there is a leader
    best = [k for k in ranking.order if ranking.in_best_set[k]]
    worse = [names[k] for k in ranking.order if not ranking.in_best_set[k]]
    leader, rivals = best[0], [names[k] for k in best[1:]]
    apart = _apart(ranking.spreads[leader], ranking)
    if len(names) == 1:
        return f"{names[0]}: {apart}."
    fields = {"rules": names[leader], "apart": apart, "worse": ", ".join(worse), "rivals": ", ".join(rivals)}
    if not rivals:
        if confirmation is None:
            return say("Fairest: {rules}: {apart}. Surely less fair: {worse}.", **fields)
        head = (
            say("Fairest: {rules}: {apart}. Surely less fair: {worse}.", **fields)
            if confirmation.holds
            else say(
                "Fairest at first, but not confirmed at a fresh seed: {rules}: {apart}. "
                "Surely less fair at first: {worse}.",
                **fields,
            )
        )
        return f"{head} {_again(names, confirmation)}"
    if not worse:
        return say(
            "No sure winner: {together} cannot be told apart. Fairest so far: {rules}: {apart}.",
            together=listed([names[k] for k in best]),
            **fields,
        )
    return say(
        "Fairest so far: {rules}: {apart}. Surely less fair: {worse}. Not surely worse: {rivals}.",
        **fields,
    )


def verdict_over(names: Sequence[str], parts: Sequence[Part]) -> str:
    """Return the answer over a grid in a sentence: what is fairest for whom, and how far apart positions are there."""
    if len(names) == 1:
        return _one_rule_over(names[0], parts)
    groups: dict[int | None, list[Part]] = {}
    for part in parts:
        groups.setdefault(part.winner, []).append(part)
    said = [
        say(
            "{rules} is fairest for {places}, where the best position wins {size} more than the worst",
            rules=names[winner],
            places=_places(held),
            size=_range_of([part.ranking.spreads[winner] for part in held]),
        )
        for winner, held in groups.items()
        if winner is not None
    ]
    if None in groups:
        said.append(say("no rule set is surely the fairest for {places}", places=_places(groups[None])))
    text = "; ".join(said)
    if len(groups.keys() - {None}) > 1:
        return say("It depends on {what}: {text}.", what=_what_it_depends_on(parts), text=text)
    return f"{text[0].upper()}{text[1:]}." if not groups.keys() - {None} else f"{text}."


def _one_rule_over(name: str, parts: Sequence[Part]) -> str:
    """Return where the positions of one rule set are furthest apart and where closest."""
    spreads = [(part.ranking.spreads[0], part.where) for part in parts]
    (most, where), (least, elsewhere) = (pick(spreads, key=lambda one: one[0].value) for pick in (max, min))
    if most.low <= 0.0:
        return say(
            "Under {rules} no position surely wins more often than another, for {places}.",
            rules=name,
            places=_places(parts),
        )
    return say(
        "Under {rules} the positions are furthest apart for {most}, by {size}, and closest for {least}, by {smaller}.",
        rules=name,
        most=where,
        size=_hands(most),
        least=elsewhere,
        smaller=_hands(least),
    )


def _hands(spread: Spread) -> str:
    if spread.low > 0.0:
        return one_hand_in(spread.value)
    return say("at most {size}", size=one_hand_in(spread.high))


def _range_of(spreads: Sequence[Spread]) -> str:
    """Return `about one hand in 40`, or the smallest and the largest of several."""
    ends = [_hands(pick(spreads, key=lambda spread: spread.value)) for pick in (min, max)]
    return ends[0] if ends[0] == ends[1] else say("{small} to {large}", small=ends[0], large=ends[1])


def _what_it_depends_on(parts: Sequence[Part]) -> str:
    """Return what the winner changes with: how people play, or how many."""
    sure = [part for part in parts if part.winner is not None]
    by_people = [{other.winner for other in sure if other.players == part.players} for part in sure]
    by_number = [{other.winner for other in sure if other.lineup == part.lineup} for part in sure]
    told = [say("how people play")] if any(len(winners) > 1 for winners in by_people) else []
    told += [say("how many play")] if any(len(winners) > 1 for winners in by_number) else []
    return listed(told) or say("who plays")


def _places(parts: Sequence[Part]) -> str:
    """Return `2 and 4 players (all random)`, one for each way to play."""
    numbers: dict[str, list[str]] = {}
    for part in parts:
        numbers.setdefault(part.lineup, []).append(str(part.players))
    return listed(
        [
            say("{numbers} players ({lineup})", numbers=listed(found), lineup=lineup)
            if lineup
            else say("{numbers} players", numbers=listed(found))
            for lineup, found in numbers.items()
        ]
    )


def _again(names: Sequence[str], confirmation: Confirmation) -> str:
    """Return what a fresh seed says of the winner in a sentence."""
    winner, rival, difference = names[confirmation.winner], names[confirmation.rival], confirmation.difference
    digits = _digits(difference.low * 100.0, difference.high * 100.0)
    value, low, high = (numeral(f"{x * 100:.{digits}f}") for x in (difference.value, difference.low, difference.high))
    fields = {"seed": str(confirmation.seed), "deals": confirmation.deals, "rival": rival, "low": low, "high": high}
    if confirmation.holds:
        return say(
            "Confirmed at a fresh seed ({seed}, {deals:,} deals): {rival}, its closest rival, has {value} points of "
            "spread more ({low} to {high}), {size}.",
            value=value,
            size=one_hand_in(difference.value),
            **fields,
        )
    return say(
        "Not confirmed at a fresh seed ({seed}, {deals:,} deals): {rival}, its closest rival, has {low} to {high} "
        "points of spread more than {rules}.",
        rules=winner,
        **fields,
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
        return say("position {position} (the dealer)", position=position)
    return say("position 1 (left of the dealer)") if position == 1 else say("position {position}", position=position)


def one_hand_in(share: float) -> str:
    """Return a difference in win share as a count of hands: 0.025 is `about one hand in 40`."""
    if share <= 0.0:
        return say("no hand at all")
    if share >= 2.0 / 3.0:
        return say("nearly every hand")
    if share >= 0.4:
        return say("about every second hand")
    hands = 1.0 / share
    unit = 10 ** max(0, math.floor(math.log10(hands)) - 1)  # two digits are as many as "about" bears
    return say("about one hand in {hands:,}", hands=round(hands / unit) * unit)


def _apart(spread: Spread, ranking: Ranking) -> str:
    """Return one scenario's spread in words, naming the positions only where they surely differ."""
    percent = f"{ranking.level * 100:g} %"
    digits = _digits(spread.low * 100.0, spread.high * 100.0)
    value, low, high = (numeral(f"{x * 100:.{digits}f}") for x in (spread.value, spread.low, spread.high))
    if spread.low <= 0.0 and spread.high >= 0.5:
        return say("too few hands to say how far the positions are apart")
    if spread.low <= 0.0:
        return say(
            "no position surely wins more often than another; they are at most {high} points of win share apart "
            "({percent}), {size}",
            high=high,
            percent=percent,
            size=one_hand_in(spread.high),
        )
    best, worst = (position_name(p, ranking.players) for p in (spread.best_position, spread.worst_position))
    return say(
        "{best} wins more often than {worst}, by {value} points of win share "
        "({percent} interval {low} to {high}), {size}",
        best=best,
        worst=worst,
        value=value,
        percent=percent,
        low=low,
        high=high,
        size=one_hand_in(spread.value),
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
