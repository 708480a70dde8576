"""Cards as bits: the one place that knows how a card is numbered, named and masked.

A card's code is ``suit * 16 + rank``: suits C 0, D 1, H 2, S 3; ranks A 1 … 10 10, J 11, Q 12, K 13. All jokers are
one card, code 14. A set of cards is one 64-bit word in which bit ``code`` stands for the card, so "every heart" or
"every nine" is a constant and a test for a playable card is one ``and``.

A hand that may hold a card twice (two packs) or several jokers is a pair of words: the first holds every different
card, the second those held once more. Jokers fill the four rank-14 bits of the first word from the lowest up, then
those of the second, so bit 14 is set exactly if there is a joker at all, and it alone stands for the joker in masks
of playable cards.
"""

import numpy as np

SUITS = ("C", "D", "H", "S")
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
JOKER = "JKR"

RANK_OF = {name: number for number, name in enumerate(RANKS, start=1)}
JOKER_CODE = 14
NO_SUIT = 4
"""The active suit while a delayed suit is still to be declared."""

SUIT_MASK = np.uint64(0x3FFE)
"""Every card of the first suit; shifted by ``16 * suit`` those of another. Jokers are in none."""
RANK_MASK = np.uint64(0x0001_0001_0001_0001)
"""Bit 0 of each suit; shifted by a rank it is the four cards of this rank."""
JOKERS_MASK = np.uint64(0x4000_4000_4000_4000)
"""All bits that can hold a joker."""
JOKER_MASK = np.uint64(0x4000)
"""The bit that stands for the joker in a set of different cards."""
MOST_CARDS = 112
"""Two packs with four jokers each."""
MOST_PLAYERS = 10


def card_code(name: str) -> int:
    """The code of a card written rank then suit (``10H``, ``QS``) or ``JKR``; upper or lower case.

    Raises ValueError with one line that names what was given and what is allowed.
    """
    text = name.strip().upper()
    if text == JOKER:
        return JOKER_CODE
    rank, suit = text[:-1], text[-1:]
    if rank not in RANK_OF or suit not in SUITS:
        raise ValueError(
            f"no such card: {name!r}; write a rank (A 2 … 10 J Q K), then a suit (C D H S), as in 10H; or JKR"
        )
    return SUITS.index(suit) * 16 + RANK_OF[rank]


def card_name(code: int) -> str:
    """The name of a card from its code: the inverse of `card_code`."""
    suit, rank = divmod(int(code), 16)
    if rank == JOKER_CODE:
        return JOKER
    return RANKS[rank - 1] + SUITS[suit]


def card_names(cards: int, twice: int = 0) -> list[str]:
    """The names of all cards in a pair of words, in the order of their codes, copies side by side."""
    codes = [code for word in (int(cards), int(twice)) for code in range(64) if word >> code & 1]
    return [card_name(code) for code in sorted(JOKER_CODE if code % 16 == JOKER_CODE else code for code in codes)]
