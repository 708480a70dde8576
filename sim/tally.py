"""What is counted: int64 counters, added up exactly and turned into fractions once, at the very end (`reports.frames`).

Hands are played in blocks: one deal, once for each rotation of the line-up, under each of K scenarios (rule sets with a
line-up) that are compared. A block gives one row of integers a scenario, the sums over its hands of the `measures`.
Kept are the sums over blocks of these rows and of their products, from which means, standard errors and covariances
between positions and between scenarios follow. Nothing is kept by hand, so memory does not grow with their number.

Extra hands of a match, in which not everybody may take part, count for the match but not for the measures of a hand.
"""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np

from sim.compiled import kernel
from sim.engine import HAND_CAP

TABLE_MEASURES = (
    "turns",
    "cards_drawn",
    "passes",
    "choices",
    "stuck",
    "reshuffles",
    "reshuffled",
    "closed_on_wild",
    "void_deals",
    "out",
    "blocked",
    "stopped",
    "capped",
)
"""Measures of a hand as a whole, in the order of a row."""
PLAYER_MEASURES = ("win", "points_left", "score")
"""Measures of each player of a hand: in a row first by position, then by group of seats that play alike (sums)."""
MATCH_MEASURES = ("hands", "turns", "first_dealer", "winner_total", "extra_hands", "shared", "capped")
"""Measures of a match as a whole; then follow the parts (of WHOLE) of the match that each seat won."""
TURNS_BINS = 65_536
"""Turns a match are counted one by one below this; the last bin holds it and all above."""

_TABLE = len(TABLE_MEASURES)
_MATCH = len(MATCH_MEASURES)
_u = np.uint64


def hand_columns(players: int, groups: int) -> list[tuple[str, str, int]]:
    """What each entry of a hand's row is: (measure, '' or 'position' or 'group', number from 1 or 0)."""
    return [(name, "", 0) for name in TABLE_MEASURES] + [
        (name, by, number)
        for by, count in (("position", players), ("group", groups))
        for name in PLAYER_MEASURES
        for number in range(1, count + 1)
    ]


def match_columns(players: int) -> list[tuple[str, str, int]]:
    """The same for a match's row."""
    return [(name, "", 0) for name in MATCH_MEASURES] + [("match_win", "seat", s + 1) for s in range(players)]


@dataclass
class Tally:
    """Sums over blocks; K scenarios of n players, V measures of a hand, W of a match, all int64.

    A tally of a part of the blocks can be added to that of another part, in any order, with the same result.
    """

    blocks: np.ndarray[Any, Any]
    """() blocks counted."""
    hands: np.ndarray[Any, Any]
    """(K,) hands with everybody."""
    hands_products: np.ndarray[Any, Any]
    """(K, K) of the blocks' numbers of hands."""
    sums: np.ndarray[Any, Any]
    """(K, V)."""
    products: np.ndarray[Any, Any]
    """(K, K, V) of each measure with itself, between scenarios."""
    hand_products: np.ndarray[Any, Any]
    """(K, K, V) of a measure of the first scenario with the hands of the second."""
    win_products: np.ndarray[Any, Any]
    """(K * n, K * n) of wins by position, between positions and scenarios."""
    turns: np.ndarray[Any, Any]
    """(K, cap + 1) hands by their turns."""
    longest_chain: np.ndarray[Any, Any]
    """(K,) the most draw cards answered in a row; merged by the maximum."""
    match_sums: np.ndarray[Any, Any]
    """(K, W); zero where hands are played, not matches."""
    match_products: np.ndarray[Any, Any]
    """(K, K, W)."""
    match_hands: np.ndarray[Any, Any]
    """(K, HAND_CAP + 1) matches by their hands; no columns where hands are played."""
    match_turns: np.ndarray[Any, Any]
    """(K, TURNS_BINS) matches by their turns; no columns where hands are played."""

    @classmethod
    def empty(cls, scenarios: int, players: int, groups: int, turn_cap: int, matches: bool) -> Self:
        """Nothing counted yet; `groups`: the most groups of seats that play alike in any scenario."""
        k, v, w = scenarios, _TABLE + 3 * (players + groups), _MATCH + players

        def zeros(*shape: int) -> np.ndarray[Any, Any]:
            return np.zeros(shape, np.int64)

        return cls(
            blocks=zeros(),
            hands=zeros(k),
            hands_products=zeros(k, k),
            sums=zeros(k, v),
            products=zeros(k, k, v),
            hand_products=zeros(k, k, v),
            win_products=zeros(k * players, k * players),
            turns=zeros(k, turn_cap + 1),
            longest_chain=zeros(k),
            match_sums=zeros(k, w),
            match_products=zeros(k, k, w),
            match_hands=zeros(k, HAND_CAP + 1 if matches else 0),
            match_turns=zeros(k, TURNS_BINS if matches else 0),
        )

    def add(self, other: "Tally") -> None:
        """Add the tally of other blocks to this one."""
        for field in fields(self):
            mine, theirs = getattr(self, field.name), getattr(other, field.name)
            if field.name == "longest_chain":
                np.maximum(mine, theirs, out=mine)
            else:
                mine += theirs

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """All counters by name."""
        return {field.name: getattr(self, field.name) for field in fields(self)}


SPAN = 64
"""Blocks whose rows are kept until they are added up together, which is quicker than one by one."""

# Compiled. What is called for every hand is inlined, because numba counts the references to an array that it hands on.


@kernel(inline=True)
def add_hand(row, t, crew, groups):
    """Add the hand that was played on a table to a block's row, which has columns for so many groups."""
    players = t.sight.players
    row[_u(0)] += t.sight.turn
    row[_u(1)] += t.cards_drawn
    row[_u(2)] += t.passes
    row[_u(3)] += t.choices
    row[_u(4)] += t.stuck
    row[_u(5)] += t.reshuffles
    row[_u(6)] += t.reshuffles > 0
    row[_u(7)] += t.closed_on_wild
    row[_u(8)] += t.void_deals
    row[_u(9 + t.reason)] += 1
    by_position = _u(_TABLE)
    by_group = _u(_TABLE + 3 * players)
    if t.winner >= 0:
        row[by_position + _u(t.winner)] += 1
        row[by_group + _u(crew.group[_u(t.seat[_u(t.winner)])])] += 1
    n = _u(players)
    g = _u(groups)
    for p in range(players):
        at = _u(p)
        group = by_group + _u(crew.group[_u(t.seat[at])])
        row[by_position + n + at] += t.points_left[at]
        row[by_position + n + n + at] += t.scored[at]
        row[group + g] += t.points_left[at]
        row[group + g + g] += t.scored[at]


@kernel(inline=True)
def add_match(row, m):
    """Add a match that is over to a block's row of matches."""
    row[_u(0)] += m.hands
    row[_u(1)] += m.turns
    row[_u(2)] += m.share[_u(m.first_dealer)]
    row[_u(4)] += m.extra
    winners = 0
    for s in range(m.players):
        at = _u(s)
        row[_u(_MATCH) + at] += m.share[at]
        if m.share[at]:
            winners += 1
            if winners == 1:
                row[_u(3)] += m.totals[at]
    row[_u(5)] += winners > 1
    row[_u(6)] += m.capped


@kernel
def add_products(rows, count, sums, products):
    """Add the rows (SPAN, K, V) of the first `count` blocks to the sums (K, V) and to the products (K, K, V)."""
    _, scenarios, measures = rows.shape
    for b in range(count):
        for k in range(scenarios):
            for v in range(measures):
                sums[_u(k), _u(v)] += rows[_u(b), _u(k), _u(v)]
            for other in range(scenarios):
                for v in range(measures):
                    products[_u(k), _u(other), _u(v)] += rows[_u(b), _u(k), _u(v)] * rows[_u(b), _u(other), _u(v)]


@kernel
def add_hand_products(rows, hands, count, hand_products, hands_products):
    """Add the products of the rows with the blocks' numbers of hands (SPAN, K), which vary in matches."""
    _, scenarios, measures = rows.shape
    for b in range(count):
        for k in range(scenarios):
            for other in range(scenarios):
                hands_products[_u(k), _u(other)] += hands[_u(b), _u(k)] * hands[_u(b), _u(other)]
                for v in range(measures):
                    hand_products[_u(k), _u(other), _u(v)] += rows[_u(b), _u(k), _u(v)] * hands[_u(b), _u(other)]


@kernel
def add_win_products(rows, count, players, win_products):
    """Add the products of the blocks' wins by position, between all positions of all scenarios (K * n, K * n)."""
    scenarios = rows.shape[1]
    places = scenarios * players
    wins = np.empty(places, np.int64)
    for b in range(count):
        for k in range(scenarios):
            for p in range(players):
                wins[_u(k * players + p)] = rows[_u(b), _u(k), _u(_TABLE + p)]
        for i in range(places):
            if wins[_u(i)]:
                for j in range(places):
                    win_products[_u(i), _u(j)] += wins[_u(i)] * wins[_u(j)]
