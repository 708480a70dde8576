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
    "unseen_of_suit",
]

_ONE = np.uint64(1)
_RANKS = np.uint64(0xFFFF)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_0 = np.uint64(0)


# --- Chance ---------------------------------------------------------------------------------------------------------


@kernel
def choice(view, n):  # type: ignore[no-untyped-def]
    """A fair random number from 0 to n - 1, of the stream of this seat, game and question (`sim.streams`)."""
    drawn = view.draws
    view.draws = drawn + 1
    if drawn == 0:
        return below(view.luck >> _32, n)
    words = philox(np.uint64((drawn - 1) // 4), _0, _0, _0, view.luck >> _32, view.luck & _LOW)
    return below(words[(drawn - 1) % 4], n)


@kernel
def pick(view, cards):  # type: ignore[no-untyped-def]
    """A card of a set that is not empty, all with the same chance."""
    return nth_card(cards, choice(view, count_cards(cards)))


# --- Sets of cards --------------------------------------------------------------------------------------------------


@kernel
def of_suit(cards, suit):  # type: ignore[no-untyped-def]
    """The cards of a suit (0 C, 1 D, 2 H, 3 S) in a set; jokers are of none."""
    return cards & SUIT_MASK << (np.uint64(16) * np.uint64(suit))


@kernel
def of_rank(cards, rank):  # type: ignore[no-untyped-def]
    """The cards of a rank (1 ace … 13 king, 14 joker) in a set."""
    return cards & RANK_MASK << np.uint64(rank)


@kernel
def plain_first(view, cards):  # type: ignore[no-untyped-def]
    """The cards of a set that are not wild, or, if all are, the set."""
    plain = cards & ~view.wilds
    return plain if plain else cards


@kernel
def _ranks_in(cards):  # type: ignore[no-untyped-def]
    folded = cards | cards >> _32
    return (folded | folded >> np.uint64(16)) & _RANKS


@kernel
def first_by_rank(cards):  # type: ignore[no-untyped-def]
    """The lowest card in the order A 2 … K, joker; within a rank C D H S."""
    return lowest_card(of_rank(cards, lowest_card(_ranks_in(cards))))


@kernel
def last_by_rank(cards):  # type: ignore[no-untyped-def]
    """The card of the highest rank, jokers below all others; within a rank C D H S."""
    known = cards & ~JOKERS_MASK
    if not known:
        return lowest_card(cards)
    return lowest_card(of_rank(known, highest_card(_ranks_in(known))))


@kernel
def most_points(view, cards):  # type: ignore[no-untyped-def]
    """The card that costs most if left in hand; of equals the lowest in the order A 2 … K, joker and C D H S."""
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
def suit_count(view, suit):  # type: ignore[no-untyped-def]
    """How many cards of a suit the player holds, wilds in their own suit."""
    return count_cards(of_suit(view.hand, suit)) + count_cards(of_suit(view.hand_twice, suit))


@kernel
def longest_suit(view):  # type: ignore[no-untyped-def]
    """The suit of which the player holds most cards, wilds counted in their own suit; of equals the first in C D H S."""
    best = 0
    most = suit_count(view, 0)
    for suit in range(1, 4):
        held = suit_count(view, suit)
        if held > most:
            most = held
            best = suit
    return best


@kernel
def unseen_of_suit(view, suit):  # type: ignore[no-untyped-def]
    """How many cards of a suit are neither in the player's hand nor in the discard pile: with others or in the stock."""
    seen = count_cards(of_suit(view.pile, suit)) + count_cards(of_suit(view.pile_twice, suit))
    return view.packs * count_cards(of_suit(view.pack, suit)) - suit_count(view, suit) - seen


# --- The others -----------------------------------------------------------------------------------------------------


@kernel
def smallest_rival(view):  # type: ignore[no-untyped-def]
    """The fewest cards that any other player holds."""
    fewest = np.int64(1 << 30)
    for position in range(view.players):
        if position != view.position:
            fewest = min(fewest, view.counts[np.uint64(position)])
    return fewest


# --- Stopping -------------------------------------------------------------------------------------------------------


@kernel
def stop_always(view):  # type: ignore[no-untyped-def]
    """Stop the hand whenever it is allowed."""
    return 1
