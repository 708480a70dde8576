"""Deals counted: what the engine deals and what the first player can do with it, with no hand played out.

The other road to what `sim.odds` counts without dealing: the same questions, put to the cards that games get.
Deal k is that of game k at the same seed.

Where the dealer declares the suit of a wild starter, it declares its longest suit here.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np

from sim.bits import count_cards
from sim.cards import JOKER_MASK, JOKERS_MASK, MOST_CARDS, RANK_MASK, SUIT_MASK
from sim.compiled import kernel, numbers
from sim.engine import (
    WHY_STUCK,
    _clear,
    _deal,
    _first_to_play,
    _may_follow,
    _penalise,
    points_of,
    prepare,
    seat_players,
)
from sim.record import DEALER_DECLARES, NO, PLAIN, rule_record
from sim.rules import Rules
from sim.table import TABLE

EVENTS = (
    "starter_wild",
    "starter_acts",
    "starter_plain",
    "first_stuck",
    "first_stuck_plain_starter",
    "hand_draw_card",
    "hand_action_card",
    "hand_lacks_suit",
    "hand_twins",
    "somebody_wild",
    "all_wilds_together",
)
"""What is counted as having happened in a deal or not; `sim.odds.Exact` says what each is. A hand is position 1's."""
(
    _STARTER_WILD,
    _STARTER_ACTS,
    _STARTER_PLAIN,
    _STUCK,
    _STUCK_PLAIN_STARTER,
    _DRAW_CARD,
    _ACTION_CARD,
    _LACKS_SUIT,
    _TWINS,
    _SOMEBODY_WILD,
    _ALL_WILDS,
) = numbers(len(EVENTS))
VOIDS = 1_000
"""Void deals before a hand are counted one by one below this; the last bin holds it and all above."""

_u = np.uint64
_0 = np.int64(0)
_1 = np.int64(1)


@dataclass(frozen=True)
class Deals:
    """What was counted in `deals` deals: how often each of `EVENTS`, and histograms (entry x: how often x)."""

    deals: int
    events: dict[str, int]
    wilds: np.ndarray[Any, Any]
    """Wilds in the hand of position 1, as are the next two: (MOST_CARDS + 1,)."""
    longest_suit: np.ndarray[Any, Any]
    points: np.ndarray[Any, Any]
    draws: np.ndarray[Any, Any]
    """Cards drawn in the first turn by a first player who was stuck: (MOST_CARDS + 1,)."""
    voids: np.ndarray[Any, Any]
    """Void deals, misdeals included, before the one that stood: (VOIDS,)."""


@kernel(inline=True)
def _of_suit(t, position, suit):
    """Cards of a suit that a player holds."""
    mask = SUIT_MASK << _u(16 * suit)
    at = _u(position)
    return count_cards(t.hands[at] & mask) + count_cards(t.hands_twice[at] & mask)


@kernel(inline=True)
def _held(t, position, mask):
    """Cards of a set that a player holds, each copy and each joker counted."""
    if mask & JOKER_MASK:
        mask |= JOKERS_MASK
    at = _u(position)
    return count_cards(t.hands[at] & mask) + count_cards(t.hands_twice[at] & mask)


@kernel
def _longest_suit(t, position):
    longest = _0
    for suit in range(1, 4):
        if _of_suit(t, position, suit) > _of_suit(t, position, longest):
            longest = np.int64(suit)
    return longest


@kernel
def _first_turn(rule, t, first, events, draws, plain_starter):
    """Count what the first player, with no penalty draw before it, can do: play, or draw until it can."""
    sight = t.sight
    at = _u(first)
    follow = _may_follow(rule, sight)
    held = t.hands[at]
    playable = held & follow
    if not rule.may_finish and sight.counts[at] == 1:
        playable &= ~rule.wilds
    if playable:
        return
    events[_u(_STUCK)] += 1
    if plain_starter:
        events[_u(_STUCK_PLAIN_STARTER)] += 1
    drawn = 0
    while playable == 0 and drawn < rule.limit and _penalise(rule, t, first, _1, WHY_STUCK):
        drawn += 1
        playable = follow & (held if rule.play_drawn == NO else t.hands[at])
    draws[_u(drawn)] += 1


@kernel
def _count(rule, tables, seed, deals, players, events, wilds, longest_suit, points, draws, voids):
    """Deal games 0 to `deals` - 1 and count; the arrays are those of `Deals`, `events` in the order of EVENTS."""
    t = tables[0]
    sight = t.sight
    prepare(rule, t)
    seat_players(rule, t, players, players - 1)
    t.seed = seed
    all_wilds = _0
    for i in range(rule.pack_size):
        all_wilds += np.int64(rule.wilds >> _u(rule.pack[_u(i)]) & _u(1))
    actions = _u(0)
    for rank in range(16):
        if rule.effects[_u(rank)] != PLAIN:
            actions |= RANK_MASK << _u(rank)
    actions &= rule.cards
    for game in range(deals):
        t.game = _u(game)
        _clear(t)
        starter = _deal(rule, t)
        voids[_u(min(t.void_deals, VOIDS - 1))] += 1

        # Wilds set aside leave the place behind the deal to the first of them.
        turned = np.int64(t.stock[_u(players * rule.cards_each)])
        wild_starter = rule.wilds >> _u(starter) & _u(1)
        events[_u(_STARTER_WILD)] += np.int64(rule.wilds >> _u(turned) & _u(1))
        events[_u(_STARTER_PLAIN)] += wild_starter == 0

        held = _held(t, 0, rule.wilds)
        wilds[_u(held)] += 1
        some = held > 0
        together = held == all_wilds
        for p in range(1, players):
            others = _held(t, p, rule.wilds)
            some = some or others > 0
            together = together or others == all_wilds
        events[_u(_SOMEBODY_WILD)] += some
        events[_u(_ALL_WILDS)] += together
        events[_u(_DRAW_CARD)] += _held(t, 0, rule.penalties) > 0
        events[_u(_ACTION_CARD)] += _held(t, 0, actions) > 0
        jokers = count_cards(t.hands[0] & JOKERS_MASK)
        events[_u(_TWINS)] += t.hands_twice[0] != 0 or jokers > 1
        longest_suit[_u(_of_suit(t, 0, _longest_suit(t, 0)))] += 1
        shortest = MOST_CARDS
        for suit in range(4):
            shortest = min(shortest, _of_suit(t, 0, suit))
        events[_u(_LACKS_SUIT)] += shortest == 0
        points[_u(points_of(rule, t.hands[0]) + points_of(rule, t.hands_twice[0]))] += 1

        sight.active_suit = starter >> 4
        if wild_starter and rule.starter_wild == DEALER_DECLARES:
            sight.active_suit = _longest_suit(t, players - 1)
        first = _first_to_play(rule, t, starter)
        events[_u(_STARTER_ACTS)] += rule.starter_acts and rule.effects[_u(starter) & _u(15)] != PLAIN
        if sight.pending == 0:
            _first_turn(rule, t, first, events, draws, wild_starter == 0)


def deal(rules: Rules, players: int, *, seed: int, deals: int) -> Deals:
    """Count in games 0 to `deals` - 1 at a seed. Raises RulesError if so many players can not play."""
    rules.check_players(players)
    most = max(rules.points_table()) * rules.cards_each(players)
    events = np.zeros(len(EVENTS), np.int64)
    found = [np.zeros(size, np.int64) for size in (MOST_CARDS + 1, MOST_CARDS + 1, most + 1, MOST_CARDS + 1, VOIDS)]
    _count(rule_record(rules, players)[()], np.zeros(1, TABLE), np.uint64(seed), deals, players, events, *found)
    return Deals(deals, dict(zip(EVENTS, events.tolist(), strict=True)), *found)
