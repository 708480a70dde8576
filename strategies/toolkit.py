"""What a writer of strategies needs: small compiled functions on the view (`sim.table.VIEW_FIELDS` says what it holds).

A set of cards is one word with a bit for each different card (`sim.cards`). Everything here can be called from a
strategy, which is compiled, and from plain Python on a view record, in a test for instance.
"""

import numpy as np

from sim.bits import count_cards, highest_card, lowest_card, nth_card
from sim.cards import JOKERS_MASK, RANK_MASK, SUIT_MASK
from sim.compiled import kernel
from sim.streams import below, philox
from sim.table import ACT_DRAW, ACT_PASS

DRAW = ACT_DRAW
"""Draw a card; with a penalty draw pending: take it."""
PASS = ACT_PASS
"""Pass, where `view.may_pass`."""

__all__ = [
    "DRAW",
    "PASS",
    "choice",
    "count_cards",
    "first_by_rank",
    "highest_card",
    "last_by_rank",
    "longest_suit",
    "lowest_card",
    "most_points",
    "nth_card",
    "of_rank",
    "of_suit",
    "pick",
    "plain_first",
    "smallest_rival",
    "stop_always",
    "suit_count",
    "unseen",
    "unseen_of_suit",
]

_ONE = np.uint64(1)
_RANKS = np.uint64(0xFFFF)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_0 = np.uint64(0)


# --- Chance ---------------------------------------------------------------------------------------------------------


@kernel
def _later_word(view, drawn):
    """The random word of a draw after the first; apart from `choice`, which most often needs one draw only."""
    words = philox(np.uint64((drawn - 1) // 4), _0, _0, _0, view.luck >> _32, view.luck & _LOW)
    return words[(drawn - 1) % 4]


@kernel
def choice(view, n):
    """Draw a fair random number from 0 to n - 1, of the stream of this seat, game and question (`sim.streams`)."""
    drawn = view.draws
    view.draws = drawn + 1
    word = view.luck >> _32 if drawn == 0 else _later_word(view, drawn)
    return below(word, n)


@kernel
def pick(view, cards):
    """Pick a card of a set that is not empty, all with the same chance."""
    return nth_card(cards, choice(view, count_cards(cards)))


# --- Sets of cards --------------------------------------------------------------------------------------------------


@kernel
def of_suit(cards, suit):
    """Select the cards of a suit (0 C, 1 D, 2 H, 3 S) in a set; jokers are of none."""
    return cards & SUIT_MASK << (np.uint64(16) * np.uint64(suit))


@kernel
def of_rank(cards, rank):
    """Select the cards of a rank (1 ace … 13 king, 14 joker) in a set."""
    return cards & RANK_MASK << np.uint64(rank)


@kernel
def plain_first(view, cards):
    """Leave out the wilds of a set, unless there are only wilds."""
    plain = cards & ~view.wilds
    return plain if plain else cards


@kernel
def _ranks_in(cards):
    folded = cards | cards >> _32
    return (folded | folded >> np.uint64(16)) & _RANKS


@kernel
def first_by_rank(cards):
    """Find the lowest card in the order A 2 … K, joker; within a rank C D H S."""
    return lowest_card(of_rank(cards, lowest_card(_ranks_in(cards))))


@kernel
def last_by_rank(cards):
    """Find the card of the highest rank, jokers below all others; within a rank C D H S."""
    known = cards & ~JOKERS_MASK
    if not known:
        return lowest_card(cards)
    return lowest_card(of_rank(known, highest_card(_ranks_in(known))))


@kernel
def most_points(view, cards):
    """Find the card that costs most if left in hand; of equals the lowest in the order A 2 … K, joker and C D H S."""
    best = -1
    found = 0
    ranks = _ranks_in(cards)
    while ranks:
        rank = lowest_card(ranks)
        ranks &= ranks - _ONE
        if view.points[np.uint64(rank)] > best:
            best = view.points[np.uint64(rank)]
            found = rank
    return lowest_card(of_rank(cards, found))


# --- Suits ----------------------------------------------------------------------------------------------------------


@kernel
def suit_count(view, suit):
    """Count the cards of a suit that the player holds, wilds in their own suit."""
    return count_cards(of_suit(view.hand, suit)) + count_cards(of_suit(view.hand_twice, suit))


@kernel
def longest_suit(view):
    """Find the suit that the player holds most of, wilds counted in their own suit; of equals the first in C D H S."""
    best = 0
    most = suit_count(view, 0)
    for suit in range(1, 4):
        held = suit_count(view, suit)
        if held > most:
            most = held
            best = suit
    return best


@kernel
def unseen(view, cards):
    """Count the cards of a set that are with others or in the stock, both copies counted; jokers are left out.

    That is, how many are neither in the player's hand nor in the discard pile.
    """
    cards &= view.pack & ~JOKERS_MASK
    held = count_cards(view.hand & cards) + count_cards(view.hand_twice & cards)
    seen = count_cards(view.pile & cards) + count_cards(view.pile_twice & cards)
    return view.packs * count_cards(cards) - held - seen


@kernel
def unseen_of_suit(view, suit):
    """Count the cards of a suit that are with others or in the stock."""
    return unseen(view, of_suit(view.pack, suit))


# --- The others -----------------------------------------------------------------------------------------------------


@kernel
def smallest_rival(view):
    """Find the fewest cards that any other player holds."""
    fewest = np.int64(1 << 30)
    for position in range(view.players):
        if position != view.position:
            fewest = min(fewest, view.counts[np.uint64(position)])
    return fewest


# --- Stopping -------------------------------------------------------------------------------------------------------


@kernel
def stop_always(view):
    """Stop the hand whenever it is allowed."""
    return 1
