"""What is counted: int64 counters, added up exactly and turned into fractions once, at the very end (`reports.frames`).

Hands are played in blocks: one deal, once for each rotation of the line-up, under each of K scenarios (rule sets with a
line-up) that are compared. A block gives one row of integers a scenario, the sums over its hands of the `measures`.
Kept are the sums over blocks of these rows and of their products, from which means, standard errors and covariances
between positions and between scenarios follow. Nothing is kept by hand, so memory does not grow with their number.

Two kinds of counters are kept only where a plan asks for them, and are empty otherwise: the products of everything that
belongs to groups of seats, between all scenarios, which is what comparing line-ups takes; and, where deals are played
again with other luck, sums that tell the luck of the cards from that of the play (`Tally.split_sums` and what follows).

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
LOTS = 32
"""Lots that blocks are dealt into, block b into lot b mod LOTS, to be left out in turn for the errors of a split."""
SPLIT_SUMS = ("squares", "replay_products", "deal_products", "totals_squared")
"""What is summed over a lot's blocks in `Tally.split_sums`; y is the result of a position in one hand.

squares: of y; replay_products: y times y of another replay of the same hand; deal_products: a position's sum over
scenarios and rotations in one replay times that in another; totals_squared: square of the sum of all y of a block.
"""

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
    group_products: np.ndarray[Any, Any]
    """(K * 3 g, K * 3 g) of the PLAYER_MEASURES by group, between groups and scenarios; empty unless asked for."""
    match_win_products: np.ndarray[Any, Any]
    """(K * n, K * n) of the parts of matches won by seat, between seats and scenarios; empty unless asked for."""
    split_blocks: np.ndarray[Any, Any]
    """(LOTS,) blocks; this and all that follows is empty unless deals are played again."""
    split_sums: np.ndarray[Any, Any]
    """(LOTS, 3, 4) by lot and PLAYER_MEASURES: the SPLIT_SUMS."""
    split_cells: np.ndarray[Any, Any]
    """(LOTS, 3, K * rotations, n) of y, by position."""
    split_cells_squared: np.ndarray[Any, Any]
    """(LOTS, 3, K * rotations, n) of the square of y summed over the replays of a block."""
    split_positions_squared: np.ndarray[Any, Any]
    """(LOTS, 3, n) of the square of y summed over all of a block but its positions."""
    split_hand_products: np.ndarray[Any, Any]
    """(3, K * rotations, n, n) of y times y of another position in the same hand, or of itself."""

    @classmethod
    def empty(
        cls,
        scenarios: int,
        players: int,
        groups: int,
        turn_cap: int,
        matches: bool,
        group_products: bool = False,
        split_rotations: int = 0,
    ) -> Self:
        """Nothing counted yet; `groups`: the most groups of seats that play alike in any scenario.

        `split_rotations`: rotations a block where deals are played again, else 0.
        """
        k, v, w = scenarios, _TABLE + 3 * (players + groups), _MATCH + players
        g = 3 * groups
        lots, arrangements = (LOTS, k * split_rotations) if split_rotations else (0, 0)

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
            group_products=zeros(k * g, k * g) if group_products else zeros(0, 0),
            match_win_products=zeros(k * players, k * players) if group_products and matches else zeros(0, 0),
            split_blocks=zeros(lots),
            split_sums=zeros(lots, 3, len(SPLIT_SUMS)),
            split_cells=zeros(lots, 3, arrangements, players),
            split_cells_squared=zeros(lots, 3, arrangements, players),
            split_positions_squared=zeros(lots, 3, players),
            split_hand_products=zeros(3, arrangements, players, players),
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


@kernel
def add_part_products(rows, count, first, wide, products):
    """Add the products of a part of the blocks' rows, columns [first, first + wide), between all scenarios.

    `products`: (K * wide, K * wide). Only half of it is multiplied out, as it is symmetric; `mirror` fills the other.
    """
    places = rows.shape[1] * wide
    part = np.empty(places, np.int64)
    for b in range(count):
        for i in range(places):
            part[_u(i)] = rows[_u(b), _u(i // wide), _u(first + i % wide)]
        for i in range(places):
            mine = part[_u(i)]
            if mine:
                for j in range(i, places):
                    products[_u(i), _u(j)] += mine * part[_u(j)]


@kernel
def mirror(products):
    """Fill the half below the diagonal with the half above it."""
    for i in range(products.shape[0]):
        for j in range(i):
            products[_u(i), _u(j)] = products[_u(j), _u(i)]


@kernel(inline=True)
def keep_results(results, replay, t):
    """Keep the results of the hand played on a table, by position: `results` (n, replays, 3) of one arrangement."""
    for p in range(t.sight.players):
        at = _u(p)
        results[at, _u(replay), _u(0)] = t.winner == p
        results[at, _u(replay), _u(1)] = t.points_left[at]
        results[at, _u(replay), _u(2)] = t.scored[at]


@kernel
def add_split(results, sums, cells, cells_squared, positions_squared, hand_products):
    """Add a block's results (K * rotations, n, replays, 3) to the sums of its lot, and to the products within hands."""
    arrangements, players, replays, measures = results.shape
    for v in range(measures):
        total = 0
        for p in range(players):
            position = 0
            for m in range(replays):
                each = 0
                for a in range(arrangements):
                    each += results[a, p, m, v]
                position += each
                sums[v, 2] -= each * each
            for a in range(arrangements):
                cell = 0
                for m in range(replays):
                    y = results[a, p, m, v]
                    cell += y
                    sums[v, 0] += y * y
                    sums[v, 1] -= y * y
                    for q in range(players):
                        hand_products[v, a, p, q] += y * results[a, q, m, v]
                sums[v, 1] += cell * cell
                cells[v, a, p] += cell
                cells_squared[v, a, p] += cell * cell
            sums[v, 2] += position * position
            positions_squared[v, p] += position * position
            total += position
        sums[v, 3] += total * total
