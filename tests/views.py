"""Views built by hand, and the views that the engine builds, as records whose fields are attributes."""

import numpy as np
from any_option import any_play, any_suit

from sim import engine
from sim.cards import JOKER, RANK_OF, RANKS, SUITS, card_code, card_names
from sim.record import rule_record
from sim.table import TABLE, VIEW
from strategies.registry import Player, Strategy, crew_record
from strategies.toolkit import lowest_card

PACK = [rank + suit for suit in SUITS for rank in RANKS]


def words(names):
    """The pair of words of cards that may be held twice, by the engine's own hand."""
    cards, twice = np.uint64(0), np.uint64(0)
    for name in names:
        cards, twice = (np.uint64(word) for word in engine.with_card(cards, twice, card_code(name)))
    return cards, twice


def mask(names):
    """The set of the different cards; a joker is the one bit that stands for all."""
    return np.uint64(sum(1 << card_code(name) for name in set(names)))


def record(view):
    """A copy of a view, of which fields are attributes as in compiled code."""
    return np.array(view, VIEW).reshape(1).view(np.recarray)[0]


def view_of(hand=(), playable=(), *, pile=("2C",), wild_ranks=("8",), packs=1, jokers=0, luck=0, **fields):
    """A view for two players, seat 0 to act, with cards given by name; `fields` sets any other field."""
    view = record(np.zeros((), VIEW))
    view.hand, view.hand_twice = words(hand)
    view.playable = mask(playable)
    view.pile, view.pile_twice = words(pile)
    view.top = card_code(pile[-1])
    view.active_suit = view.top >> 4
    view.discards = len(pile)
    view.players = 2
    view.turn = 1
    view.direction = 1
    view.declarer = -1
    view.pack = mask(PACK + [JOKER] * (jokers > 0))
    view.packs = packs
    view.jokers = jokers
    view.wilds = mask([rank + suit for suit in SUITS for rank in wild_ranks] + [JOKER] * (jokers > 0))
    for rank, number in RANK_OF.items():
        view.points[number] = 50 if rank in wild_ranks else min(number, 10)
    view.points[14] = 50
    view.counts[:2] = len(hand), 7
    view.stock = 52 * packs + jokers - len(hand) - 7 - len(pile)
    view.luck = luck
    for name, value in fields.items():
        if isinstance(value, (list, tuple)):
            getattr(view, name)[: len(value)] = value
        else:
            setattr(view, name, value)
    return view


# --- Views as the engine builds them ----------------------------------------------------------------------------------

WATCH = 9
"""A position where nobody sits here: its total tells `play_then_stop` after which turn to fall silent."""


def no_answer(view):
    return -7


def play_then_stop(view):
    return any_play(view) if view.turn <= view.totals[WATCH] else -7


def never_stop(view):
    return 0


def wild_or_no_answer(view):
    cards = view.playable & view.wilds
    return lowest_card(cards) if cards else -7


# A hand ends at the first answer that is not allowed, and its table then holds the view as it was shown.
FALLS_SILENT = Strategy("falls-silent", "any option, then no answer", "", play_then_stop, any_suit, never_stop)
MUTE = Strategy("mute", "never an answer", "", no_answer, no_answer, no_answer)
NAMES_NO_SUIT = Strategy("names-no-suit", "wilds without a suit", "", wild_or_no_answer, no_answer, never_stop)


def table_in_play(rules, players, *, seed, game, turns):
    """A table, a copy of which can be played on from a turn's start, and its rule record; None if it ended before.

    The turn is that of `t["faulty"]`.
    """
    rule = rule_record(rules, players)
    tables = np.zeros(1, TABLE)
    t = tables[0]
    engine.prepare(rule[()], t)
    engine.seat_players(rule[()], t, players, players - 1)
    t["seed"], t["game"] = seed, game
    t["sight"]["totals"][WATCH] = turns
    if engine.play_hand(rule[()], t, crew_record([Player(FALLS_SILENT)] * players)[()]) != engine.FAULT:
        return None
    t["sight"]["turn"] -= 1
    t["settled"] = t["stock_high"]
    return tables, rule


def next_view(tables, rule, strategy):
    """Play a copy of the table on until `strategy`, in every seat, gives no answer: (question, view), or None."""
    tables = tables.copy()
    t = tables[0]
    crew = crew_record([Player(strategy)] * int(t["sight"]["players"]))
    if engine.play_turns(rule[()], t, crew[()], int(t["faulty"])) != engine.FAULT:
        return None
    return int(t["question"]), t["sight"].copy()


def hidden_moved(tables, seat, rng):
    """A copy of a table in which the cards that a position cannot see, other hands and stock, have changed places."""
    tables = tables.copy()
    t = tables[0]
    others = [p for p in range(int(t["sight"]["players"])) if p != seat]
    low, high = int(t["stock_low"]), int(t["stock_high"])
    hidden = [card_code(name) for p in others for name in card_names(t["hands"][p], t["hands_twice"][p])]
    hidden += [int(code) for code in t["stock"][low:high]]
    rng.shuffle(hidden)
    for p in others:
        cards, twice = np.uint64(0), np.uint64(0)
        for _ in range(int(t["sight"]["counts"][p])):
            cards, twice = (np.uint64(word) for word in engine.with_card(cards, twice, hidden.pop()))
        t["hands"][p], t["hands_twice"][p] = cards, twice
    t["stock"][low:high] = hidden
    return tables
