"""The rules as the engine reads them: one flat record of small integers and masks for each number of players.

The engine is compiled once, for all rules; a rule set is only data to it.
"""

from typing import Any

import numpy as np

from sim.cards import JOKER_CODE, JOKER_MASK, MOST_CARDS, MOST_PLAYERS, RANK_MASK, RANK_OF, SUIT_MASK
from sim.compiled import numbers
from sim.rules import Rules

PLAIN, SKIP, REVERSE, ANY_CARD, AGAIN, DRAW = numbers(6)
EFFECTS = {"skip": SKIP, "reverse": REVERSE, "any-card": ANY_CARD, "again": AGAIN}
BURY, DEALER_DECLARES, OWN_SUIT_STARTER = numbers(3)
DECLARED, OWN, DELAYED = numbers(3)
MAY, MUST, NO = numbers(3)
SAME_RANK, ANY_DRAW, OFF = numbers(3)
DIFFERENCE, OWN_HAND, VOID = numbers(3)
EXTRA_TIED, EXTRA_ALL, SHARED = numbers(3)
UNLIMITED = 1_000_000

RULE = np.dtype(
    [
        ("pack", np.uint8, (MOST_CARDS,)),  # the cards in new-pack order
        ("pack_size", np.int64),
        ("packs", np.int64),
        ("jokers", np.int64),
        ("copies", np.int64),  # 1 if a hand may hold equal cards
        ("cards", np.uint64),  # every different card
        ("plain", np.uint64),  # those that are not wild
        ("wilds", np.uint64),
        ("penalties", np.uint64),
        ("follow", np.uint64, (64,)),  # what may follow a card that is not wild, by its code
        ("usual", np.int64),  # 1 if a turn has none of what most rules lack (`_is_usual`)
        ("cards_each", np.int64),
        ("misdeal", np.uint64),  # a chance as a 32-bit threshold
        ("starter_wild", np.int64),
        ("starter_acts", np.int64),
        ("wild_suit", np.int64),
        ("on_wild", np.int64),
        ("may_finish", np.int64),
        ("limit", np.int64),
        ("voluntary", np.int64),
        ("play_drawn", np.int64),
        ("reshuffle", np.int64),
        ("effects", np.int64, (16,)),  # by rank
        ("draw", np.int64, (16,)),  # cards that the next player draws, by rank
        ("stack", np.int64),
        ("loses_turn", np.int64),
        ("reverse_skips", np.int64),  # with two players
        ("final_applies", np.int64),
        ("call", np.int64),
        ("call_penalty", np.int64),
        ("illegal_penalty", np.int64),
        ("stop_points", np.int64),
        ("points", np.int64, (16,)),  # by rank
        ("worth_low", np.int16, (256,)),  # points of a set of cards of one suit: of its ranks 0 to 7
        ("worth_high", np.int16, (256,)),  # and of its ranks 8 to 15, as bits
        ("winner_collects", np.int64),
        ("blocked_score", np.int64),
        ("turn_cap", np.int64),
        ("countdown", np.int64),
        ("wins_out", np.int64),  # hands won after which the countdown leaves no card, 0: no countdown
        ("target", np.int64),
        ("highest", np.int64),
        ("tie", np.int64),
    ],
    align=True,
)


def threshold(chance: float) -> int:
    """A chance from 0 to 1 as the number of 32-bit words, of all 2**32, with which it happens."""
    return round(chance * 2**32)


def rule_record(rules: Rules, players: int, in_match: int | None = None) -> np.ndarray[Any, Any]:
    """The record (dtype `RULE`, shape ()) of `rules` for a hand of `players`.

    In a match of `in_match` players (default: the same) the target follows these. Raises RulesError if the number of
    players is impossible.
    """
    record = np.zeros((), RULE)
    packs = rules.packs_for(players)
    jokers = rules.deck.jokers * packs
    pack: list[int] = []
    for _ in range(packs):
        pack += [suit * 16 + RANK_OF[rank] for suit in range(4) for rank in RANK_OF if rank in rules.deck.ranks]
        pack += [JOKER_CODE] * rules.deck.jokers
    record["pack"][: len(pack)] = pack
    record["pack_size"] = len(pack)
    record["packs"] = packs
    record["jokers"] = jokers
    record["copies"] = packs > 1 or jokers > 1
    record["cards"] = sum(1 << code for code in set(pack))

    wilds = sum(int(RANK_MASK) << RANK_OF[rank] for rank in rules.wild.ranks)
    penalties = 0
    for rank, effect in rules.actions.by_rank().items():
        number = RANK_OF[rank]
        if isinstance(effect, str):
            record["effects"][number] = EFFECTS[effect]
        else:
            record["effects"][number] = DRAW
            record["draw"][number] = effect
            penalties |= int(RANK_MASK) << number
    if jokers:
        wilds |= int(JOKER_MASK)
        if rules.jokers.draw:
            record["effects"][JOKER_CODE] = DRAW
            record["draw"][JOKER_CODE] = rules.jokers.draw
            penalties |= int(JOKER_MASK)
    record["wilds"] = wilds
    record["plain"] = int(record["cards"]) & ~wilds
    record["penalties"] = penalties
    for code in set(pack):
        if not wilds >> code & 1:
            alike = int(RANK_MASK) << code % 16 | int(SUIT_MASK) << 16 * (code // 16)
            record["follow"][code] = alike & int(record["plain"]) | wilds

    record["cards_each"] = rules.cards_each(players)
    record["misdeal"] = threshold(rules.deal.misdeal_rate)
    record["starter_wild"] = ("bury", "dealer-declares", "own-suit").index(rules.starter.wild)
    record["starter_acts"] = rules.starter.action == "applies"
    record["wild_suit"] = ("declared", "own", "delayed").index(rules.wild.suit)
    record["on_wild"] = rules.wild.on_wild
    record["may_finish"] = rules.wild.may_finish
    record["limit"] = UNLIMITED if rules.draw.limit == "until-playable" else rules.draw.limit
    record["voluntary"] = rules.draw.voluntary
    record["play_drawn"] = ("may", "must", "no").index(rules.play_drawn)
    record["reshuffle"] = rules.stock.empty == "reshuffle"
    record["stack"] = ("same-rank", "any-draw", "off").index(rules.penalty.stack)
    record["loses_turn"] = rules.penalty.loses_turn
    record["reverse_skips"] = rules.reverse.two_players == "skip"
    record["final_applies"] = rules.actions.final == "applies"
    record["call"] = rules.last_card.call
    record["call_penalty"] = rules.last_card.penalty
    record["illegal_penalty"] = rules.illegal.penalty
    record["usual"] = _is_usual(rules) and not record["copies"]
    record["stop_points"] = rules.stop.points
    record["points"] = rules.points_table()
    for name, first in (("worth_low", 0), ("worth_high", 8)):
        points = np.array(rules.points_table()[first : first + 8])
        record[name] = [points[[bits >> i & 1 == 1 for i in range(8)]].sum() for bits in range(256)]
    record["winner_collects"] = rules.score.style == "winner-collects"
    record["blocked_score"] = ("difference", "own-hand", "void").index(rules.blocked.score)
    record["turn_cap"] = rules.turn_cap
    record["countdown"] = rules.deal.countdown
    if rules.deal.countdown:
        record["wins_out"] = -(-rules.cards_each(in_match or players) // rules.deal.countdown)
    record["target"] = rules.target_for(in_match or players)
    record["highest"] = rules.match.winner == "highest"
    record["tie"] = ("extra-hand-tied", "extra-hand-all", "shared").index(rules.match.tie)
    return record


def _is_usual(rules: Rules) -> bool:
    """Whether a card does nothing but match, wilds are ordinary, and a turn is a card or else a draw."""
    wild, effects = rules.wild, rules.actions.by_rank()
    ordinary = wild.suit == "declared" and wild.on_wild and wild.may_finish
    return ordinary and not effects and not rules.jokers.draw and not rules.draw.voluntary and not rules.stop.points


def rule_records(rules: Rules, players: int) -> np.ndarray[Any, Any]:
    """The records for every number who may take part in a hand of a match of `players`: shape (11,), by that number.

    Entries 0 and 1 stay empty: a hand takes two.
    """
    records = np.zeros(MOST_PLAYERS + 1, RULE)
    for taking_part in range(2, players + 1):
        records[taking_part] = rule_record(rules, taking_part, players)
    return records
