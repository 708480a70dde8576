"""What a writer of strategies needs: small compiled functions on the view (`sim.table.VIEW_FIELDS` says what it holds).

A card is its code, ``suit * 16 + rank`` (`sim.cards`); a set of cards is one word with a bit for each different card.
Everything here can be called from a strategy, which is compiled, and from plain Python on a view record, in a test for
instance. Only `card_code` and `card_name` are for plain Python alone.
"""

import numpy as np

from sim.bits import count_cards, highest_card, lowest_card, nth_card
from sim.cards import JOKERS_MASK, RANK_MASK, SUIT_MASK, card_code, card_name
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
    "card_code",
    "card_name",
    "choice",
    "count_cards",
    "first_by_rank",
    "has",
    "helper",
    "highest_by",
    "highest_card",
    "is_wild",
    "last_by_rank",
    "longest_suit",
    "lowest_by",
    "lowest_card",
    "most_points",
    "next_count",
    "next_position",
    "nth_card",
    "of_rank",
    "of_suit",
    "pick",
    "plain_first",
    "points_of",
    "rank_of",
    "showed_lack",
    "smallest_rival",
    "stop_always",
    "suit_count",
    "suit_of",
    "unseen",
    "unseen_of_suit",
    "without",
]

_ONE = np.uint64(1)
_RANKS = np.uint64(0xFFFF)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)
_0 = np.uint64(0)


def helper(function):
    """Compile a function that strategies call: `@toolkit.helper` above it; it may take and give any numbers."""
    return kernel(function, cached=False)


# --- Single cards ---------------------------------------------------------------------------------------------------


@kernel
def suit_of(card):
    """The suit of a card, 0 C, 1 D, 2 H, 3 S; of a joker 0, though it is of none."""
    return card >> 4


@kernel
def rank_of(card):
    """The rank of a card, 1 ace … 13 king, 14 joker."""
    return card & 15


@kernel
def points_of(view, card):
    """The points that a card costs if it is left in hand."""
    return view.points[np.uint64(card & 15)]


@kernel
def is_wild(view, card):
    """Whether a card is wild."""
    return has(view.wilds, card)


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
def has(cards, card):
    """Whether a card is in a set."""
    return cards >> np.uint64(card) & _ONE != _0


@kernel
def without(cards, card):
    """Take a card out of a set."""
    return cards & ~(_ONE << np.uint64(card))


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


@helper
def lowest_by(view, cards, key):
    """Find the card of a set for which `key(view, card)`, a helper, is lowest; of equals the first in C D H S, A … K.

    The set is not empty.
    """
    best = lowest_card(cards)
    least = key(view, best)
    cards = without(cards, best)
    while cards:
        card = lowest_card(cards)
        cards = without(cards, card)
        value = key(view, card)
        if value < least:
            least = value
            best = card
    return best


@helper
def highest_by(view, cards, key):
    """Find the card of a set for which `key(view, card)`, a helper, is highest; of equals the first in C D H S, A … K.

    The set is not empty.
    """
    best = lowest_card(cards)
    most = key(view, best)
    cards = without(cards, best)
    while cards:
        card = lowest_card(cards)
        cards = without(cards, card)
        value = key(view, card)
        if value > most:
            most = value
            best = card
    return best


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
def next_position(view):
    """The position of the next player in the direction of play, whom a skip would skip."""
    return (view.position + view.direction + view.players) % view.players


@kernel
def next_count(view):
    """How many cards the next player holds."""
    return view.counts[np.uint64(next_position(view))]


@kernel
def showed_lack(view, position, suit):
    """Count the turns in which a player drew or passed on a suit, 0: never; most likely it had none of it then.

    Under `draw.voluntary` a player may have chosen to.
    """
    return np.int64(view.drew_on[np.uint64(4 * position + suit)])


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
