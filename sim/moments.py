"""What one answer is worth against another, at the moments of real hands in which two players would part.

A hand is played by a policy in every seat. At each question two other players are asked as well, with the very same
view and luck: the *follower*, who follows a tip, and its *twin*, who does not. Where their answers differ, the tip has
something to say: a moment. The table is copied there and, when the hand is over, played on from it twice, once with
either answer, by the policy in all seats. Deck and luck are the same both times, so that the two ends differ by what
the answers are worth.

Every moment counts alike, so nothing has to be weighed: the value of a tip is the sum of the differences over the
number of moments, both added up by game, whose sums are what standard errors come from. A hand is broken off after
MOST_TURNS turns here, and of a hand with very many moments the first MOST_MOMENTS count: both happen where hands would
go on for ever, and how often is told.
"""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.compiled import kernel
from sim.engine import ASKED_PLAY, ASKED_STOP, ASKED_SUIT, _call_strategy, play_from, play_hand, prepare, seat_players
from sim.memory import address_of, copy_record, load_int, reader_of
from sim.record import rule_record
from sim.rollout import address_of_strategy, answer_play, answer_stop, answer_suit
from sim.rules import Rules
from sim.table import CREW, MOST_PARAMS, TABLE, VIEW
from sim.trace import StrategyFault, fault_text

MOST_MOMENTS = 64
MOST_TURNS = 1_000
SIZES = 10
"""Hands are told apart by up to so many cards; the last size holds all larger ones."""
CELLS = SIZES * SIZES
SUMS = ("moments", "wins", "points")
"""What is added up: how many moments, and the follower's answer minus its twin's in hands won and in points."""
PRODUCTS = ("moments_moments", "moments_wins", "wins_wins", "moments_points", "points_points")
CHUNK_GAMES = 512

MOMENT = np.dtype(
    [
        ("table", TABLE),
        ("question", np.int64),
        ("turn_of", np.int64),  # the position whose turn it is
        ("asked", np.int64),  # the position that is asked
        ("own", np.int64),  # cards in its hand
        ("rival", np.int64),  # cards in the smallest hand of the others
        ("answers", np.int64, (2,)),  # of the follower and of its twin
    ],
    align=True,
)
WATCH = np.dtype(
    [
        ("policy", CREW),
        ("follower", CREW),
        ("twin", CREW),
        ("sight", VIEW),  # what is shown to each of them in turn
        ("moments", MOMENT, (MOST_MOMENTS,)),
        ("kept", np.int64),
        ("met", np.int64),
    ],
    align=True,
)
"""What watches a hand; its address is the first parameter of every seat."""

_u = np.uint64
_OFFSETS = {name: np.int64(field[1]) for name, field in (CREW.fields or {}).items()}
_OFFSET_PLAY, _OFFSET_SUIT, _OFFSET_STOP = (_OFFSETS[name] for name in ("play", "suit", "stop"))
_watch_at = reader_of(WATCH)
_table_at = reader_of(TABLE)


@kernel
def _ask_one(watch, crew, seat, view, function_at):
    """Ask one of the players of a watch, with a view of its own, as it may draw lots."""
    copy_record(watch.sight, view)
    watch.sight.params = crew + seat * (8 * MOST_PARAMS)
    return _call_strategy(load_int(crew + function_at + 8 * seat), watch.sight)


@kernel
def _watch(view, function_at, question):
    """Answer as the policy does; keep the table where follower and twin part."""
    watch = _watch_at(load_int(view.params))
    # The view is the first field of the table.
    t = _table_at(address_of(view))
    position = view.position
    seat = t.seat[_u(position)]
    first = _ask_one(watch, address_of(watch.follower), seat, view, function_at)
    second = _ask_one(watch, address_of(watch.twin), seat, view, function_at)
    if first != second:
        watch.met += 1
        if watch.kept < MOST_MOMENTS:
            moment = watch.moments[_u(watch.kept)]
            watch.kept += 1
            copy_record(moment.table, t)
            moment.table.questions[_u(position)] -= 1  # it will be put again
            moment.question = question
            moment.asked = position
            moment.turn_of = position
            if question == ASKED_SUIT and view.declarer >= 0:
                moment.turn_of = view.acting
            moment.own = view.counts[_u(position)]
            rival = np.int64(255)
            for other in range(view.players):
                if other != position:
                    rival = min(rival, view.counts[_u(other)])
            moment.rival = rival
            moment.answers[0] = first
            moment.answers[1] = second
    return _ask_one(watch, address_of(watch.policy), seat, view, function_at)


@kernel
def _watch_play(view):
    return _watch(view, _OFFSET_PLAY, ASKED_PLAY)


@kernel
def _watch_suit(view):
    return _watch(view, _OFFSET_SUIT, ASKED_SUIT)


@kernel
def _watch_stop(view):
    return _watch(view, _OFFSET_STOP, ASKED_STOP)


@kernel
def _play_on(rule, moment, watch, crew, work, answer):
    """Play a moment on with one of its answers; -1 if a strategy has failed."""
    copy_record(work, moment.table)
    copy_record(crew, watch.policy)
    seat = _u(work.seat[_u(moment.asked)])
    crew.play[seat] = address_of_strategy(answer_play)
    crew.suit[seat] = address_of_strategy(answer_suit)
    crew.stop[seat] = address_of_strategy(answer_stop)
    crew.params[seat, 0] = moment.answers[_u(answer)]
    crew.params[seat, 1] = address_of(watch.policy)
    work.log_room = 0
    return play_from(rule, work, crew, moment.turn_of, moment.question)


@kernel
def _add_moments(rule, watch, crew, work, row):
    """Play all moments of a hand on and add them to a row (CELLS + 1, 3), the last entry over all situations.

    Returns -1 if a strategy has failed.
    """
    for i in range(watch.kept):
        moment = watch.moments[_u(i)]
        won = np.int64(0)
        points = np.int64(0)
        for answer in range(2):
            if _play_on(rule, moment, watch, crew, work, answer) < 0:
                return np.int64(-1)
            sign = 1 - 2 * answer
            won += sign * np.int64(work.winner == moment.asked)
            points += sign * work.scored[_u(moment.asked)]
        if not rule.highest:
            points = -points
        cell = (min(moment.own, SIZES) - 1) * SIZES + min(moment.rival, SIZES) - 1
        for at in (cell, CELLS):
            row[_u(at), 0] += 1
            row[_u(at), 1] += won
            row[_u(at), 2] += points
    return np.int64(0)


@kernel
def _chunk(rules, watches, crews, tables, seed, first, last, players, sums, products, counts):
    """Play games [first, last) and add what their moments come to; the game at fault, or -1.

    rules (1,) RULE; watches (1,) WATCH; crews (2,) CREW: the watching one, and one to work on; tables (2,) TABLE; sums
    (CELLS + 1, 3) and products (CELLS + 1, 5) int64; counts (2,): moments left out, hands broken off.
    """
    rule, watch, t, work = rules[0], watches[0], tables[0], tables[1]
    watching, crew = crews[0], crews[1]
    for seat in range(players):
        watching.params[_u(seat), 0] = address_of(watch)
        watching.play[_u(seat)] = address_of_strategy(_watch_play)
        watching.suit[_u(seat)] = address_of_strategy(_watch_suit)
        watching.stop[_u(seat)] = address_of_strategy(_watch_stop)
    prepare(rule, t)
    t.seed = seed
    row = np.zeros((CELLS + 1, 3), np.int64)
    for game in range(first, last):
        t.game = _u(game)
        seat_players(rule, t, players, players - 1)
        watch.kept = 0
        watch.met = 0
        reason = play_hand(rule, t, watching)
        if reason < 0:
            return game
        counts[0] += watch.met - watch.kept
        counts[1] += np.int64(reason == 3)
        if watch.kept == 0:
            continue
        row[:] = 0
        if _add_moments(rule, watch, crew, work, row) < 0:
            copy_record(t, work)
            return game
        for cell in range(CELLS + 1):
            n, won, points = row[_u(cell), 0], row[_u(cell), 1], row[_u(cell), 2]
            if n:
                sums[_u(cell), 0] += n
                sums[_u(cell), 1] += won
                sums[_u(cell), 2] += points
                products[_u(cell), 0] += n * n
                products[_u(cell), 1] += n * won
                products[_u(cell), 2] += won * won
                products[_u(cell), 3] += n * points
                products[_u(cell), 4] += points * points
    return -1


@dataclass
class Moments:
    """What was met: sums over games and sums of products of a game's sums, all int64.

    sums: (CELLS + 1, 3), by SUMS; products: (CELLS + 1, 5), by PRODUCTS. A situation is own cards × cards of the
    smallest other hand, each from 1 to SIZES, in row-major order; the last entry holds all situations together.
    """

    games: int
    sums: np.ndarray[Any, Any]
    products: np.ndarray[Any, Any]
    left_out: int
    """Moments of hands that had more than MOST_MOMENTS."""
    broken_off: int
    """Hands that were not over after MOST_TURNS turns (or at the turn cap of the rules)."""


def find_moments(
    rules: Rules,
    players: int,
    policy: np.ndarray[Any, Any],
    follower: np.ndarray[Any, Any],
    twin: np.ndarray[Any, Any],
    *,
    seed: int,
    games: int,
    threads: int = 1,
    names: Sequence[str] = (),
    progress: Callable[[int], None] = lambda games: None,
) -> Moments:
    """Play hands by a policy and try follower's and twin's answers wherever they differ.

    policy, follower, twin: line-ups (dtype CREW, shape ()) that play alike in every seat. The games are those of a
    batch with the same seed. names: of the seats, for the text of a fault. Neither threads nor chunks change the
    result. Raises StrategyFault.
    """
    spans = [(first, min(first + CHUNK_GAMES, games)) for first in range(0, games, CHUNK_GAMES)]
    rule = rule_record(rules, players)
    rule["turn_cap"] = min(int(rule["turn_cap"]), MOST_TURNS)

    def play(span: tuple[int, int]) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
        watch, tables = np.zeros(1, WATCH), np.zeros(2, TABLE)
        for name, crew in (("policy", policy), ("follower", follower), ("twin", twin)):
            watch[name] = crew
        crews = np.zeros(2, CREW)
        crews[0] = policy
        sums, products = np.zeros((CELLS + 1, 3), np.int64), np.zeros((CELLS + 1, 5), np.int64)
        counts = np.zeros(2, np.int64)
        where = (np.uint64(seed), *span, players)
        fault = _chunk(rule.reshape(1), watch, crews, tables, *where, sums, products, counts)
        if fault >= 0:
            text = fault_text(tables[0], list(names) or ["a strategy"] * players)
            raise StrategyFault(text, scenario=0, game=int(fault), rotation=0)
        return sums, products, counts

    total: Any = [np.zeros((CELLS + 1, 3), np.int64), np.zeros((CELLS + 1, 5), np.int64), np.zeros(2, np.int64)]
    pool = ThreadPoolExecutor(threads)
    try:
        for (first, last), found in zip(spans, pool.map(play, spans), strict=True):
            for whole, part in zip(total, found, strict=True):
                whole += part
            progress(last - first)
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
    return Moments(games, total[0], total[1], int(total[2][0]), int(total[2][1]))
