"""How hands and matches went, turn by turn: what the tallies do not hold, counted in a second, smaller run.

The first blocks of a plan are played once more with the log kept. The hands of a game are all known from the deal on,
so its log tells at every turn who holds how many cards, which of them may be played and what penalties were due. From
this come who leads and who comes back, cards playable, penalties cut short, wilds left in hand, and a table of how
often a player wins who stands so.

That table says how open a hand is. Tables are made in a first pass and applied in a second, which plays the same hands
again. How good a table is depends on the hands behind it, and its error is the larger part of what is not known: two
hands judged by one table err together. So the blocks are cut into groups, each with two tables of about TABLE_HANDS
hands: one made of its even blocks and applied to the odd ones, and the other way round. No hand is judged by a table
that has seen how it ended, and the groups, which have nothing in common, show how sure the figures are. Hands beyond
the last whole group are not judged. Within a pass it does not matter who plays which block, as all counters are
integers.

What the measures are that come of the counters stands in `reports.measures`; `reports.story` makes them.
"""

import math
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, fields
from queue import SimpleQueue
from typing import Any, Self

import numpy as np

from sim.batch import Plan
from sim.bits import count_cards
from sim.cards import JOKER_MASK, JOKERS_MASK, MOST_PLAYERS
from sim.compiled import kernel, numbers
from sim.engine import (
    HAND_CAP,
    LOG_COLUMNS,
    LOG_DEALT,
    LOG_DECLARE,
    LOG_DRAW,
    LOG_END,
    LOG_ILLEGAL,
    LOG_LAST_CARD,
    LOG_PASS,
    LOG_PLAY,
    LOG_RESHUFFLE,
    LOG_STARTER,
    WHOLE,
    WHY_PENALTY,
    WHY_STUCK,
    WHY_VOLUNTARY,
    _first_to_play,
    _may_follow,
    begin_match,
    play_hand,
    play_match_hand,
    points_of,
    prepare,
    seat_players,
    with_card,
    without_card,
)
from sim.memory import copy_record
from sim.record import ANY_CARD, rule_records
from sim.table import MATCH, OUT, TABLE
from sim.trace import StrategyFault, fault_text

MOST_HANDS = 100_000
"""Hands a rule set and line-up that are told, where hands are played."""
MOST_MATCHES = 10_000
"""The same of matches."""
CHUNK_HANDS = 2_048
"""Hands (or sixteen times the matches) that a thread plays at a time."""
LOG_ROWS = 4_096
"""Rows of the log to begin with; a hand that needs more gets them, and is played again."""

HAND_COLUMNS = (
    "hands",
    "turns",
    "choices",
    "stuck",
    "own_plays",
    "playable",
    "penalties",
    "penalties_short",
    "chained",
    "tied_lowest",
    "wilds_left",
    "wild_points",
    "losers_points",
    "won",
    "lead_changes",
    "comebacks",
    "halfway_led",
    "halfway_leader_won",
)
"""What is counted of a hand in which everybody takes part, in the order of a row."""
JUDGED_COLUMNS = ("won", "uncertainty", "drama", "decisiveness", "swing")
"""What is counted of a hand that has a winner and is judged by a table of chances; all but the first in PARTS."""
PARTS = 100_000
"""Fractions of a hand are counted in so many parts."""
TABLE_HANDS = 5_000
"""Hands behind each table of chances."""
TABLE_MATCHES = 500
"""Matches behind it, where matches are played."""
LEADER_HANDS = 12
"""The leader of a match is looked at after each of so many hands."""
MATCH_COLUMNS = (
    "matches",
    "first_player",
    "decided",
    "lead_changes",
    "comebacks",
    *(f"on_{k}" for k in range(1, LEADER_HANDS + 1)),
    *(f"leader_won_{k}" for k in range(1, LEADER_HANDS + 1)),
)
"""What is counted of a match: `first_player` and `leader_won_…` in parts of WHOLE."""
MOST_HELD = 15
"""The table of chances takes more cards in a hand for so many."""

(
    _HANDS,
    _TURNS,
    _CHOICES,
    _STUCK,
    _OWN_PLAYS,
    _PLAYABLE,
    _PENALTIES,
    _PENALTIES_SHORT,
    _CHAINED,
    _TIED_LOWEST,
    _WILDS_LEFT,
    _WILD_POINTS,
    _LOSERS_POINTS,
    _WON,
    _LEAD_CHANGES,
    _COMEBACKS,
    _HALFWAY_LED,
    _HALFWAY_LEADER_WON,
) = numbers(len(HAND_COLUMNS))
_JUDGED, _UNCERTAINTY, _DRAMA, _DECISIVENESS, _SWING = numbers(len(JUDGED_COLUMNS))
_MATCHES, _FIRST_PLAYER, _DECIDED, _MATCH_LEAD_CHANGES, _MATCH_COMEBACKS, _ON = numbers(6)
_LEADER_WON = np.int64(_ON + LEADER_HANDS)

_u = np.uint64
_0 = np.int64(0)


@dataclass
class Story:
    """Sums over deal blocks of K scenarios of n players, V columns of a hand and W of a match, all int64.

    A story of some blocks can be added to that of others, in any order, with the same result.
    """

    blocks: np.ndarray[Any, Any]
    """() blocks told."""
    sums: np.ndarray[Any, Any]
    """(K, V) of HAND_COLUMNS."""
    products: np.ndarray[Any, Any]
    """(K, V, V) of the blocks' sums with each other."""
    match_sums: np.ndarray[Any, Any]
    """(K, W) of MATCH_COLUMNS; zero where hands are played."""
    match_products: np.ndarray[Any, Any]
    """(K, W, W)."""
    judged: np.ndarray[Any, Any]
    """(K, G, 5) of JUDGED_COLUMNS, by group of blocks."""
    times: np.ndarray[Any, Any]
    """(K, 2 G, MOST_HELD + 1, MOST_HELD + 1, n) how often a turn began with somebody standing so: by its own cards,
    those of the rival with fewest, and the turns until its own, 0 if it is to act; each group's even blocks, then its
    odd ones."""
    wins: np.ndarray[Any, Any]
    """How often it won the hand, of the same shape."""

    @classmethod
    def empty(cls, scenarios: int, players: int, groups: int) -> Self:
        """Nothing told yet."""
        k, v, w = scenarios, len(HAND_COLUMNS), len(MATCH_COLUMNS)
        tables = (k, 2 * groups, MOST_HELD + 1, MOST_HELD + 1, players)
        shapes = ((), (k, v), (k, v, v), (k, w), (k, w, w), (k, groups, len(JUDGED_COLUMNS)), tables, tables)
        return cls(*(np.zeros(shape, np.int64) for shape in shapes))

    def add(self, other: "Story") -> None:
        """Add the story of other blocks to this one."""
        for field in fields(self):
            mine = getattr(self, field.name)
            mine += getattr(other, field.name)

    @property
    def hands(self) -> list[int]:
        """Hands told, with everybody taking part, by scenario."""
        return [int(count) for count in self.sums[:, _HANDS]]

    def chances(self) -> np.ndarray[Any, Any]:
        """The chance to win that a standing gives, in the shape of `times`.

        (wins + 1/n) / (times + 1), so that a standing that was never met gives 1/n.
        """
        return np.asarray((self.wins + 1.0 / self.wins.shape[-1]) / (self.times + 1.0))


# --- The kernels: one hand -----------------------------------------------------------------------------------------


@kernel
def _read(rule, t, s, log, history, row):
    """Go through the log of the hand just played on `t`: what it says goes to a block's row and to its history.

    `history`: row i holds the cards in hand by position after i turns, then who acted next and in which direction play
    went. `s` is a table to work on.
    """
    sight = s.sight
    players = t.sight.players
    sight.players = players
    sight.direction = 1
    sight.any_card = 0
    sight.pending = 0
    for p in range(players):
        s.hands[_u(p)] = 0
        s.hands_twice[_u(p)] = 0
        sight.counts[_u(p)] = 0
    turn = _0
    begun = False  # the own play of this turn; also if it has none
    due = _0  # of the penalty that is being paid
    given = _0
    for i in range(t.logged):
        event = log[_u(i), _u(0)]
        position = log[_u(i), _u(2)]
        card = log[_u(i), _u(3)]
        at = _u(position)
        if log[_u(i), _u(1)] > turn:
            _begin(sight, history, turn)
            turn += 1
            begun = False
        if turn > 0 and event != LOG_DECLARE and event != LOG_RESHUFFLE and history[_u(turn - 1), _u(players)] < 0:
            history[_u(turn - 1), _u(players)] = position

        why = log[_u(i), _u(4)]  # of a draw
        penalty = event == LOG_DRAW and why == WHY_PENALTY
        if not begun and event in (LOG_PLAY, LOG_PASS, LOG_ILLEGAL, LOG_DRAW):
            if penalty and sight.pending > 0:
                due = _owe(row, due, given, sight.pending)
                given = _0
                sight.pending = 0
            elif not penalty:
                begun = True
                # An answer to a penalty draw and an illegal play are no own play.
                if sight.pending == 0 and event != LOG_ILLEGAL:
                    follow = _may_follow(rule, sight)
                    if not rule.may_finish and sight.counts[at] == 1:
                        follow &= ~rule.wilds
                    row[_u(_OWN_PLAYS)] += 1
                    row[_u(_PLAYABLE)] += count_cards(s.hands[at] & follow)

        if event == LOG_DEALT or (event == LOG_DRAW and card >= 0):
            s.hands[at], s.hands_twice[at] = with_card(s.hands[at], s.hands_twice[at], card)
            sight.counts[at] += 1
            given += event == LOG_DRAW and why != WHY_STUCK and why != WHY_VOLUNTARY
        elif event == LOG_STARTER:
            sight.top = card
            sight.active_suit = log[_u(i), _u(4)]
            _first_to_play(rule, s, card)
        elif event == LOG_DECLARE:
            sight.active_suit = card
        elif event == LOG_PLAY:
            s.hands[at], s.hands_twice[at] = without_card(s.hands[at], s.hands_twice[at], card)
            sight.counts[at] -= 1
            sight.top = card
            sight.active_suit = log[_u(i), _u(4)]
            sight.pending = log[_u(i), _u(5)]
            sight.direction = log[_u(i), _u(6)]
            sight.any_card = np.int64(rule.effects[_u(card) & _u(15)] == ANY_CARD)
            if sight.counts[at] == 0 and sight.pending > 0:
                due = _owe(row, due, given, sight.pending)
                given = _0
        elif event in (LOG_LAST_CARD, LOG_ILLEGAL) and log[_u(i), _u(4)]:
            due = _owe(row, due, given, rule.call_penalty if event == LOG_LAST_CARD else rule.illegal_penalty)
            given = _0
        elif event == LOG_END:
            _owe(row, due, given, _0)
            _begin(sight, history, turn)


@kernel(inline=True)
def _begin(sight, history, turn):
    """Write down how things stand after so many turns; who acts next is not yet known."""
    players = sight.players
    for p in range(players):
        history[_u(turn), _u(p)] = sight.counts[_u(p)]
    history[_u(turn), _u(players)] = -1
    history[_u(turn), _u(players + 1)] = sight.direction


@kernel(inline=True)
def _owe(row, due, given, more):
    """Count the penalty before, if there was one, of which so much was given; returns what is due now."""
    if due > 0:
        row[_u(_PENALTIES)] += 1
        row[_u(_PENALTIES_SHORT)] += given < due
    return more


@kernel
def _count(rule, t, history, row):
    """Add to a block's row what a hand's end and its history say."""
    players = t.sight.players
    turns = t.sight.turn
    winner = t.winner
    row[_u(_HANDS)] += 1
    row[_u(_TURNS)] += turns
    row[_u(_CHOICES)] += t.choices
    row[_u(_STUCK)] += t.stuck
    row[_u(_CHAINED)] += t.longest_chain > 1

    lowest = t.points_left[0]
    for p in range(1, players):
        lowest = min(lowest, t.points_left[_u(p)])
    low = _0
    wilds = rule.wilds
    if wilds & JOKER_MASK:
        wilds |= JOKERS_MASK
    for p in range(players):
        at = _u(p)
        low += t.points_left[at] == lowest
        if p != winner:
            held, twice = t.hands[at] & wilds, t.hands_twice[at] & wilds
            row[_u(_WILDS_LEFT)] += count_cards(held) + count_cards(twice)
            row[_u(_WILD_POINTS)] += points_of(rule, held) + points_of(rule, twice)
            row[_u(_LOSERS_POINTS)] += t.points_left[at]
    row[_u(_TIED_LOWEST)] += t.reason != OUT and low > 1

    leader = np.int64(-1)
    for i in range(turns + 1):
        ahead = _alone_ahead(history, i, players)
        if ahead >= 0:
            row[_u(_LEAD_CHANGES)] += leader >= 0 and ahead != leader
            leader = ahead
    if winner < 0:
        return
    row[_u(_WON)] += 1
    halfway = turns // 2
    ahead = _alone_ahead(history, halfway, players)
    row[_u(_HALFWAY_LED)] += ahead >= 0
    row[_u(_HALFWAY_LEADER_WON)] += ahead == winner
    mine = history[_u(halfway), _u(winner)]
    most, fewest = mine, mine
    for p in range(players):
        most = max(most, history[_u(halfway), _u(p)])
        fewest = min(fewest, history[_u(halfway), _u(p)])
    row[_u(_COMEBACKS)] += mine == most and fewest < most


@kernel(inline=True)
def _alone_ahead(history, turn, players):
    """Who alone holds fewest cards after so many turns; -1 if several do."""
    found = np.int64(-1)
    fewest = np.int64(1 << 30)
    for p in range(players):
        held = history[_u(turn), _u(p)]
        if held < fewest:
            fewest = held
            found = np.int64(p)
        elif held == fewest:
            found = np.int64(-1)
    return found


@kernel(inline=True)
def _standing(history, turn, players, standing):
    """Write into `standing`, a row a position, where in the table of chances each player stands after so many turns."""
    fewest, second = np.int64(MOST_HELD), np.int64(MOST_HELD)
    for p in range(players):
        held = history[_u(turn), _u(p)]
        if held < fewest:
            fewest, second = held, fewest
        else:
            second = min(second, held)
    alone = _alone_ahead(history, turn, players)
    actor = history[_u(turn), _u(players)]
    direction = history[_u(turn), _u(players + 1)]
    for p in range(players):
        at = _u(p)
        standing[at, _u(0)] = min(history[_u(turn), at], MOST_HELD)
        standing[at, _u(1)] = second if p == alone else fewest
        standing[at, _u(2)] = ((p - actor) * direction + players) % players


@kernel
def _fit(t, history, standing, times, wins):
    """Add the hand's standings, and whether they won, to a table."""
    players = t.sight.players
    if t.winner < 0:
        return
    for i in range(t.sight.turn):
        _standing(history, i, players, standing)
        for p in range(players):
            at = _u(p)
            own, rival, wait = _u(standing[at, _u(0)]), _u(standing[at, _u(1)]), _u(standing[at, _u(2)])
            times[own, rival, wait] += 1
            wins[own, rival, wait] += p == t.winner


@kernel
def _judge(t, history, standing, chances, row):
    """Add to a row of JUDGED_COLUMNS how open the hand was, turn by turn, by a table of chances."""
    players = t.sight.players
    turns = t.sight.turn
    winner = t.winner
    if winner < 0:
        return
    now = np.empty(MOST_PLAYERS, np.float64)
    before = np.empty(MOST_PLAYERS, np.float64)
    entropy = 0.0
    behind = _0
    distance = 0.0
    decided = _0
    swing = 0.0
    for i in range(turns):
        _standing(history, i, players, standing)
        whole = 0.0
        for p in range(players):
            at = _u(p)
            now[at] = chances[_u(standing[at, _u(0)]), _u(standing[at, _u(1)]), _u(standing[at, _u(2)])]
            whole += now[at]
        best = 0.0
        for p in range(players):
            at = _u(p)
            now[at] /= whole
            best = max(best, now[at])
            entropy -= now[at] * math.log(now[at])
        if now[_u(winner)] < best:
            behind += 1
            distance += math.sqrt(best - now[_u(winner)])
            decided = np.int64(i + 1)
        if i > 0:
            mover = _u(history[_u(i - 1), _u(players)])
            swing = max(swing, now[mover] - before[mover])
        for p in range(players):
            before[_u(p)] = now[_u(p)]
    row[_u(_JUDGED)] += 1
    row[_u(_UNCERTAINTY)] += _parts(entropy / (turns * math.log(players)))
    if behind:
        row[_u(_DRAMA)] += _parts(distance / behind)
    row[_u(_DECISIVENESS)] += _parts(decided / turns)
    row[_u(_SWING)] += _parts(swing)


@kernel(inline=True)
def _parts(fraction):
    return np.int64(fraction * PARTS + 0.5)


# --- The kernels: one match, one chunk -----------------------------------------------------------------------------


@kernel(inline=True)
def _best_of(rule, m, sign):
    """The seats, as bits, that have the best total, or for `sign` -1 the worst."""
    found = _0
    best = _0
    for s in range(m.players):
        total = sign * (m.totals[_u(s)] if rule.highest else -m.totals[_u(s)])
        if found == 0 or total > best:
            best = total
            found = np.int64(1) << s
        elif total == best:
            found |= np.int64(1) << s
    return found


@kernel(inline=True)
def _is_one(seats):
    return seats != 0 and seats & (seats - 1) == 0


@kernel
def _count_match(m, leaders, last, row):
    """Add a match that is over to a block's row; `leaders`, `last`: the best and worst seats after each hand, as bits.

    They hold the hands before the last one; entry k those after k hands.
    """
    players = m.players
    row[_u(_MATCHES)] += 1
    row[_u(_FIRST_PLAYER)] += m.share[_u((m.first_dealer + 1) % players)]
    winner = _0
    for s in range(players):
        if m.share[_u(s)] == WHOLE:
            winner = np.int64(1) << s
    leader = _0
    for k in range(1, m.hands + 1):
        ahead = winner if k == m.hands else leaders[_u(k)]
        if _is_one(ahead):
            row[_u(_MATCH_LEAD_CHANGES)] += leader != 0 and ahead != leader
            leader = ahead
    halfway = m.hands // 2
    if winner:
        row[_u(_DECIDED)] += 1
        if halfway:
            row[_u(_MATCH_COMEBACKS)] += last[_u(halfway)] & winner != 0 and last[_u(halfway)] != leaders[_u(halfway)]
    for k in range(1, min(LEADER_HANDS + 1, m.hands)):
        won = _0
        count = _0
        for s in range(players):
            if leaders[_u(k)] >> s & 1:
                count += 1
                won += m.share[_u(s)]
        row[_u(_ON + k - 1)] += 1
        row[_u(_LEADER_WON + k - 1)] += won // count


@kernel(inline=True)
def _add_block(row, sums, products):
    """Add a block's row to the sums and its products to theirs, above the diagonal; `_mirror` fills the rest."""
    for i in range(row.shape[0]):
        value = row[_u(i)]
        if value:
            sums[_u(i)] += value
            for j in range(i, row.shape[0]):
                products[_u(i), _u(j)] += value * row[_u(j)]


@kernel(inline=True)
def _tell_hand(rule, t, scratch, log, history, standing, table, chances, times, wins, row, judged, fitting):
    """Take the hand just played into its block's table of chances, or else into the block's row and its group's.

    `table`: the number of the block's table; there may be none of that number.
    """
    _read(rule, t, scratch, log, history, row)
    if not fitting:
        _count(rule, t, history, row)
    if table < times.shape[0]:
        if fitting:
            _fit(t, history, standing, times[_u(table)], wins[_u(table)])
        else:
            _judge(t, history, standing, chances[_u(table ^ 1)], judged[_u(table >> 1)])


@kernel
def _hands_chunk(rules, crews, tables, seed, first, last, rotations, dealer, players, rows,
                 group_blocks, chances, times, wins, judged, sums, products, fitting):  # fmt: skip
    """Play and tell blocks [first, last) of single hands; -1, or the scenario and rotation at fault, as in a batch."""
    scenarios = sums.shape[0]
    scratch = tables[_u(scenarios)]
    log = np.empty((rows, LOG_COLUMNS), np.int64)
    cap = _0
    for k in range(scenarios):
        prepare(rules[_u(k)], tables[_u(k)])
        tables[_u(k)].seed = seed
        cap = max(cap, rules[_u(k)].turn_cap)
    history = np.empty((cap + 1, players + 2), np.int64)
    standing = np.empty((players, 3), np.int64)
    row = np.empty(sums.shape[1], np.int64)
    for b in range(first, last):
        table = 2 * (b // group_blocks) + (b & 1)
        for k in range(scenarios):
            rule, crew, t = rules[_u(k)], crews[_u(k)], tables[_u(k)]
            t.game = _u(b)
            row[:] = 0
            for rotation in range(rotations):
                seat_players(rule, t, players, (dealer + rotation) % players)
                while True:
                    t.log = log.ctypes.data
                    t.log_room = log.shape[0]
                    t.logged = 0
                    if play_hand(rule, t, crew) < 0:
                        return k * rotations + rotation
                    if t.logged <= t.log_room:
                        break
                    log = np.empty((t.logged, LOG_COLUMNS), np.int64)
                _tell_hand(rule, t, scratch, log, history, standing, table,
                           chances[_u(k)], times[_u(k)], wins[_u(k)], row, judged[_u(k)], fitting)  # fmt: skip
            if not fitting:
                _add_block(row, sums[_u(k)], products[_u(k)])
    return -1


@kernel
def _matches_chunk(rules, crews, tables, matches, seed, first, last, rotations, dealer, players, rows,
                   group_blocks, chances, times, wins, judged, sums, products, match_sums, match_products,
                   fitting):  # fmt: skip
    """Play and tell blocks [first, last) of matches; -1, or the scenario and rotation at fault, as in a batch."""
    scenarios = sums.shape[0]
    scratch = tables[_u(scenarios)]
    log = np.empty((rows, LOG_COLUMNS), np.int64)
    cap = _0
    for k in range(scenarios):
        cap = max(cap, rules[_u(k), _u(players)].turn_cap)
    history = np.empty((cap + 1, players + 2), np.int64)
    standing = np.empty((players, 3), np.int64)
    row = np.empty(sums.shape[1], np.int64)
    match_row = np.empty(match_sums.shape[1], np.int64)
    leaders = np.empty(HAND_CAP + 1, np.int64)
    behind = np.empty(HAND_CAP + 1, np.int64)
    m, before = matches[0], matches[1]
    for b in range(first, last):
        table = 2 * (b // group_blocks) + (b & 1)
        for k in range(scenarios):
            crew, t = crews[_u(k)], tables[_u(k)]
            row[:] = 0
            match_row[:] = 0
            for rotation in range(rotations):
                begin_match(m, players, seed, _u(b), rotation, dealer)
                while not m.over:
                    everybody = m.playing == players
                    rule = rules[_u(k), _u(m.playing)]
                    copy_record(before, m)
                    while True:
                        t.log = log.ctypes.data
                        t.log_room = log.shape[0]
                        t.logged = 0
                        if play_match_hand(rules[_u(k)], t, crew, m, seed, _u(b)) < 0:
                            return k * rotations + rotation
                        if t.logged <= t.log_room:
                            break
                        log = np.empty((t.logged, LOG_COLUMNS), np.int64)
                        copy_record(m, before)
                    if everybody:
                        _tell_hand(rule, t, scratch, log, history, standing, table,
                                   chances[_u(k)], times[_u(k)], wins[_u(k)], row, judged[_u(k)], fitting)  # fmt: skip
                    leaders[_u(m.hands)] = _best_of(rule, m, 1)
                    behind[_u(m.hands)] = _best_of(rule, m, -1)
                if not fitting:
                    _count_match(m, leaders, behind, match_row)
            if not fitting:
                _add_block(row, sums[_u(k)], products[_u(k)])
                _add_block(match_row, match_sums[_u(k)], match_products[_u(k)])
    return -1


# --- The runner ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Prepared:
    """A plan as arrays, shared by all threads and never written to."""

    plan: Plan
    rules: np.ndarray[Any, Any]  # (K, MOST_PLAYERS + 1)
    crews: np.ndarray[Any, Any]  # (K,)
    groups: int
    group_blocks: int
    log_rows: int

    def tell(self, first: int, last: int, story: Story, chances: np.ndarray[Any, Any] | None) -> None:
        """Add blocks [first, last) to a story: to its tables if there are no chances yet, else to all the rest.

        Raises StrategyFault.
        """
        plan = self.plan
        scenarios = len(plan.scenarios)
        tables = np.zeros(scenarios + 1, TABLE)  # one more to work on
        fitting = chances is None
        judge = (
            self.group_blocks, np.zeros((scenarios, 0, 1, 1, 1)) if chances is None else chances,
            story.times, story.wins, story.judged,
        )  # fmt: skip
        where = (np.uint64(plan.seed), first, last, plan.rotations)
        if plan.matches:
            dealer = -1 if plan.first_dealer is None else plan.first_dealer
            fault = _matches_chunk(
                self.rules, self.crews, tables, np.zeros(2, MATCH), *where, dealer, plan.players, self.log_rows,
                *judge, story.sums, story.products, story.match_sums, story.match_products, fitting,
            )  # fmt: skip
        else:
            dealer = plan.players - 1 if plan.first_dealer is None else plan.first_dealer
            fault = _hands_chunk(
                np.ascontiguousarray(self.rules[:, plan.players]), self.crews, tables, *where, dealer, plan.players,
                self.log_rows, *judge, story.sums, story.products, fitting,
            )  # fmt: skip
        if fault >= 0:
            scenario, rotation = divmod(int(fault), plan.rotations)
            t = tables[scenario]
            text = fault_text(t, plan.scenarios[scenario].names)
            raise StrategyFault(text, scenario=scenario, game=int(t["game"]), rotation=rotation)


def tell(
    plan: Plan,
    *,
    most_hands: int = MOST_HANDS,
    most_matches: int = MOST_MATCHES,
    behind_table: int | None = None,
    threads: int = 1,
    chunk_hands: int = CHUNK_HANDS,
    log_rows: int = LOG_ROWS,
    progress: Callable[[int], None] = lambda hands: None,
) -> Story:
    """Tell the first blocks of a plan: all of them, or as many as hold so many hands (or matches) a scenario.

    The blocks are those of a batch, deal by deal; where one stopped early, give the plan its number of blocks.
    `behind_table`: the hands (or matches) of which each table is made, by default TABLE_HANDS (or TABLE_MATCHES). There
    are two passes, but one where there are too few hands for tables, and `progress` is told the hands (or matches) of
    all scenarios that are finished since it was last told, in both. Neither threads nor chunks change the result.
    Raises StrategyFault.
    """
    most, behind = (most_matches, TABLE_MATCHES) if plan.matches else (most_hands, TABLE_HANDS)
    blocks = min(plan.blocks, max(1, most // plan.rotations))
    group_blocks = 2 * max(1, (behind_table or behind) // plan.rotations)
    prepared = _Prepared(
        plan,
        np.stack([rule_records(scenario.rules, plan.players) for scenario in plan.scenarios]),
        np.stack([scenario.crew for scenario in plan.scenarios]),
        blocks // group_blocks,
        group_blocks,
        log_rows,
    )
    each = plan.rotations * len(plan.scenarios)
    step = max(1, chunk_hands // (each * (16 if plan.matches else 1)))
    spans = [(first, min(first + step, blocks)) for first in range(0, blocks, step)]

    def finished(told: int) -> None:
        progress(told * each)

    tables = Story.empty(len(plan.scenarios), plan.players, prepared.groups)
    if prepared.groups:
        tables = _pass(prepared, spans, threads, None, finished)
    story = _pass(prepared, spans, threads, tables.chances(), finished)
    story.times, story.wins = tables.times, tables.wins
    story.blocks[()] = blocks
    for products in (story.products, story.match_products):
        products += np.triu(products, 1).transpose(0, 2, 1)
    return story


def _pass(
    prepared: _Prepared,
    spans: list[tuple[int, int]],
    threads: int,
    chances: np.ndarray[Any, Any] | None,
    progress: Callable[[int], None],
) -> Story:
    """All spans of blocks told once, by threads; each adds to a story of its own."""
    plan = prepared.plan
    stories = [Story.empty(len(plan.scenarios), plan.players, prepared.groups) for _ in range(threads)]
    idle: SimpleQueue[Story] = SimpleQueue()
    for story in stories:
        idle.put(story)

    def play(span: tuple[int, int]) -> int:
        story = idle.get()
        try:
            prepared.tell(*span, story, chances)
        finally:
            idle.put(story)
        return span[1] - span[0]

    pool = ThreadPoolExecutor(threads)
    try:
        for told in pool.map(play, spans):
            progress(told)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    for other in stories[1:]:
        stories[0].add(other)
    return stories[0]
