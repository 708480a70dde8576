"""What players could have noticed, counted over many hands and set against the truth, which only the table knows.

Two kinds of things that no tally holds, because they cost time: *voids*, how often a player who drew on a suit has none
of it; and wilds: laid one upon another, and held when a hand or a match is lost. Where a wild goes on every card, who
holds one never draws: without penalties and skips nobody is left with two.
"""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.bits import count_cards
from sim.cards import JOKERS_MASK, MOST_PLAYERS, SUIT_MASK
from sim.compiled import kernel
from sim.engine import (
    LOG_COLUMNS,
    LOG_PLAY,
    LOG_STARTER,
    begin_match,
    play_hand,
    play_match_hand,
    prepare,
    seat_players,
)
from sim.engine import _call_strategy as call_strategy
from sim.memory import address_of, copy_record, load_int, reader_of
from sim.record import rule_record, rule_records
from sim.rollout import address_of_strategy
from sim.rules import Rules
from sim.table import CREW, MATCH, MOST_PARAMS, TABLE, VIEW
from sim.trace import StrategyFault, fault_text

TIMES = 4
"""Turns in which a player drew on a suit: 1, 2, 3, and 4 or more."""
OTHERS = 4
"""Turns in which it drew on other suits: 0, 1, 2, and 3 or more."""
ROUNDS = 4
"""Rounds since it last drew on the suit: less than one, one, two or three, more."""
VOID_CELLS = TIMES * OTHERS * ROUNDS
CHUNK_GAMES = 512
LOG_ROWS = 4_096

SIGHTS = np.dtype(
    [
        ("policy", CREW),
        ("sight", VIEW),
        ("seen", np.int64, (4 * MOST_PLAYERS,)),  # how often it drew on a suit when last looked at
        ("since", np.int64, (4 * MOST_PLAYERS,)),  # the turn in which that last grew
        ("asked", np.int64, (VOID_CELLS,)),  # in this game
        ("none", np.int64, (VOID_CELLS,)),
    ],
    align=True,
)
_u = np.uint64
_OFFSETS = {name: np.int64(field[1]) for name, field in (CREW.fields or {}).items()}
_OFFSET_PLAY = _OFFSETS["play"]
_sights_at = reader_of(SIGHTS)
_table_at = reader_of(TABLE)


@kernel
def _look(sights, t, view):
    """Count, for all others and suits, what is known of them to the player who is asked, and what is true."""
    for other in range(view.players):
        if other == view.position:
            continue
        drew = np.int64(0)
        for suit in range(4):
            drew += np.int64(view.drew_on[_u(4 * other + suit)])
        for suit in range(4):
            at = _u(4 * other + suit)
            times = np.int64(view.drew_on[at])
            if times != sights.seen[at]:
                sights.seen[at] = times
                sights.since[at] = view.turn
            if times == 0 or view.played[at]:
                continue
            rounds = (view.turn - sights.since[at]) // view.players
            band = rounds if rounds < 2 else 2 + np.int64(rounds > 3)
            often = times if times < TIMES else np.int64(TIMES)
            elsewhere = drew - times if drew - times < OTHERS else np.int64(OTHERS - 1)
            cell = ((often - 1) * OTHERS + elsewhere) * ROUNDS + band
            of_suit = (SUIT_MASK << _u(16 * suit)) & ~view.wilds & ~JOKERS_MASK
            sights.asked[_u(cell)] += 1
            sights.none[_u(cell)] += np.int64((t.hands[_u(other)] & of_suit) == 0)


@kernel
def look_and_play(view):
    """Count what is seen at a question, and answer it as the policy does."""
    sights = _sights_at(load_int(view.params))
    # The view is the first field of the table.
    t = _table_at(address_of(view))
    _look(sights, t, view)
    seat = t.seat[_u(view.position)]
    crew = address_of(sights.policy)
    copy_record(sights.sight, view)
    sights.sight.params = crew + seat * (8 * MOST_PARAMS)
    return call_strategy(load_int(crew + _OFFSET_PLAY + 8 * seat), sights.sight)


@kernel
def _voids_chunk(rules, all_sights, crews, tables, seed, first, last, players, sums, products):
    """Play games [first, last); sums (VOID_CELLS, 2), products (VOID_CELLS, 3) int64. The game at fault, or -1."""
    rule, sights, crew, t = rules[0], all_sights[0], crews[0], tables[0]
    for seat in range(players):
        for param in range(MOST_PARAMS):
            crew.params[_u(seat), _u(param)] = 0
        crew.params[_u(seat), 0] = address_of(sights)
        crew.play[_u(seat)] = address_of_strategy(look_and_play)
    prepare(rule, t)
    t.seed = seed
    for game in range(first, last):
        t.game = _u(game)
        seat_players(rule, t, players, players - 1)
        for i in range(4 * players):
            sights.seen[_u(i)] = 0
        for cell in range(VOID_CELLS):
            sights.asked[_u(cell)] = 0
            sights.none[_u(cell)] = 0
        if play_hand(rule, t, crew) < 0:
            return game
        for cell in range(VOID_CELLS):
            asked, none = sights.asked[_u(cell)], sights.none[_u(cell)]
            sums[_u(cell), 0] += asked
            sums[_u(cell), 1] += none
            products[_u(cell), 0] += asked * asked
            products[_u(cell), 1] += asked * none
            products[_u(cell), 2] += none * none
    return -1


HAND_COUNTS = ("wilds", "wild_on_wild", "changes", "caught", "caught_points", "left_out")
"""Of a hand: wilds laid, those laid on a wild, changes of the active suit, players left with two wilds or more (the
winner not), and the points of all wilds that such players are left with. A hand whose log is longer than LOG_ROWS is
left out: it counts as that and nothing else."""


@kernel
def _count_wilds(rule, t, log, row):
    """Add what the log of a hand and its end say of wilds to a row (by HAND_COUNTS)."""
    if t.logged > t.log_room:
        row[5] = 1
        return
    top_wild = False
    suit = np.int64(-1)
    for i in range(t.logged):
        event = log[_u(i), 0]
        if event != LOG_STARTER and event != LOG_PLAY:
            continue
        wild = (rule.wilds >> _u(log[_u(i), 3])) & _u(1) != 0
        if event == LOG_PLAY:
            row[0] += np.int64(wild)
            row[1] += np.int64(wild and top_wild)
            row[2] += np.int64(log[_u(i), 4] != suit)
        suit = log[_u(i), 4]
        top_wild = wild
    for p in range(t.sight.players):
        held = _wilds_held(rule, t, p)
        if held >= 2 and p != t.winner:
            row[3] += 1
            row[4] += held * _wild_points(rule)


@kernel
def _wilds_held(rule, t, position):
    wilds = rule.wilds | JOKERS_MASK
    return count_cards(t.hands[_u(position)] & wilds) + count_cards(t.hands_twice[_u(position)] & wilds)


@kernel
def _wild_points(rule):
    """Points of a wild left in hand: of the lowest wild rank."""
    for rank in range(1, 14):
        if rule.wilds >> _u(rank) & _u(1):
            return rule.points[_u(rank)]
    return rule.points[14]


@kernel
def _wilds_chunk(rules, crews, tables, seed, first, last, players, log, sums, products):
    """Play games [first, last); sums (6,), products (6, 6) int64, both by HAND_COUNTS. The game at fault, or -1."""
    rule, crew, t = rules[0], crews[0], tables[0]
    row = np.zeros(6, np.int64)
    prepare(rule, t)
    t.seed = seed
    for game in range(first, last):
        t.game = _u(game)
        seat_players(rule, t, players, players - 1)
        t.log = log.ctypes.data
        t.log_room = log.shape[0]
        t.logged = 0
        if play_hand(rule, t, crew) < 0:
            return game
        row[:] = 0
        _count_wilds(rule, t, log, row)
        for i in range(6):
            sums[_u(i)] += row[_u(i)]
            for j in range(6):
                products[_u(i), _u(j)] += row[_u(i)] * row[_u(j)]
    return -1


@kernel
def _caught_chunk(rules, crews, tables, matches, seed, first, last, players, sums, products):
    """Play matches [first, last); sums (4,), products (4, 4) int64, by CAUGHT. The game at fault, or -1."""
    crew, t, m = crews[0], tables[0], matches[0]
    caught = np.zeros(players, np.int64)
    row = np.zeros(4, np.int64)
    for game in range(first, last):
        caught[:] = 0
        begin_match(m, players, seed, _u(game), 0, -1)
        while not m.over:
            rule = rules[_u(m.playing)]
            if play_match_hand(rules, t, crew, m, seed, _u(game)) < 0:
                return game
            for p in range(t.sight.players):
                if p != t.winner and _wilds_held(rule, t, p) >= 2:
                    caught[_u(t.seat[_u(p)])] = 1
        row[:] = 0
        for seat in range(players):
            at = 2 * (1 - caught[_u(seat)])
            row[_u(at)] += 1
            row[_u(at + 1)] += m.share[_u(seat)]
        for i in range(4):
            sums[_u(i)] += row[_u(i)]
            for j in range(4):
                products[_u(i), _u(j)] += row[_u(i)] * row[_u(j)]
    return -1


CAUGHT = ("caught", "caught_won", "free", "free_won")
"""Of a match: seats that were left with two wilds or more in one of its hands, what they won of it (in parts of
`sim.engine.WHOLE`), and the same of all other seats."""


@dataclass
class Counts:
    """Sums over games (V,) or (C, 2), and their products, all int64."""

    games: int
    sums: np.ndarray[Any, Any]
    products: np.ndarray[Any, Any]


def _in_chunks(
    games: int,
    threads: int,
    play: Callable[[int, int], tuple[int, np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]],
    players: int,
) -> Counts:
    """Play all games by threads and add the counts up. Raises StrategyFault."""
    spans = [(first, min(first + CHUNK_GAMES, games)) for first in range(0, games, CHUNK_GAMES)]
    total: list[Any] = []
    pool = ThreadPoolExecutor(threads)
    try:
        for fault, table, *counts in pool.map(lambda span: play(*span), spans):
            if fault >= 0:
                text = fault_text(table[0], ["a strategy"] * players)
                raise StrategyFault(text, scenario=0, game=int(fault), rotation=0)
            total = [whole + part for whole, part in zip(total, counts, strict=True)] if total else counts
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return Counts(games, total[0], total[1])


def find_voids(
    rules: Rules, players: int, policy: np.ndarray[Any, Any], *, seed: int, games: int, threads: int = 1
) -> Counts:
    """Count how often others who drew on a suit, and never played it, have none of it.

    It is counted at every question to lay a card, of every other player and suit. sums: (VOID_CELLS, 2), how often it
    came up and how often there was none; cells are TIMES × OTHERS × ROUNDS, row-major. Raises StrategyFault.
    """
    rule = rule_record(rules, players).reshape(1)

    def play(first: int, last: int) -> Any:
        sights, tables, crews = np.zeros(1, SIGHTS), np.zeros(1, TABLE), np.zeros(1, CREW)
        sights["policy"] = policy
        crews[0] = policy
        sums, products = np.zeros((VOID_CELLS, 2), np.int64), np.zeros((VOID_CELLS, 3), np.int64)
        fault = _voids_chunk(rule, sights, crews, tables, np.uint64(seed), first, last, players, sums, products)
        return fault, tables, sums, products

    return _in_chunks(games, threads, play, players)


def count_wilds(
    rules: Rules, players: int, policy: np.ndarray[Any, Any], *, seed: int, games: int, threads: int = 1
) -> Counts:
    """Count what happens with wilds in single hands, by HAND_COUNTS. Raises StrategyFault."""
    rule = rule_record(rules, players).reshape(1)
    crews = np.zeros(1, CREW)
    crews[0] = policy

    def play(first: int, last: int) -> Any:
        tables, log = np.zeros(1, TABLE), np.empty((LOG_ROWS, LOG_COLUMNS), np.int64)
        sums, products = np.zeros(6, np.int64), np.zeros((6, 6), np.int64)
        fault = _wilds_chunk(rule, crews, tables, np.uint64(seed), first, last, players, log, sums, products)
        return fault, tables, sums, products

    return _in_chunks(games, threads, play, players)


def count_caught(
    rules: Rules, players: int, policy: np.ndarray[Any, Any], *, seed: int, matches: int, threads: int = 1
) -> Counts:
    """Count what players win of matches in which they were left with two wilds, by CAUGHT. Raises StrategyFault."""
    records = rule_records(rules, players)
    crews = np.zeros(1, CREW)
    crews[0] = policy

    def play(first: int, last: int) -> Any:
        tables, games = np.zeros(1, TABLE), np.zeros(1, MATCH)
        sums, products = np.zeros(4, np.int64), np.zeros((4, 4), np.int64)
        fault = _caught_chunk(records, crews, tables, games, np.uint64(seed), first, last, players, sums, products)
        return fault, tables, sums, products

    return _in_chunks(matches, threads, play, players)
