"""Cards, their names, and the operations on words."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim.bits import count_cards, highest_card, lowest_card, nth_card
from sim.cards import JOKER_CODE, RANK_OF, SUITS, card_code, card_name, card_names
from sim.compiled import kernel
from sim.engine import with_card, without_card

ALL = [rank + suit for suit in SUITS for rank in RANK_OF]
WORD = st.integers(1, 2**64 - 1)


def test_names_and_codes():
    assert card_code("10H") == 2 * 16 + 10
    assert card_code("qs") == 3 * 16 + 12
    assert card_code("JKR") == JOKER_CODE
    assert [card_name(card_code(name)) for name in ALL] == ALL
    assert len({card_code(name) for name in ALL}) == 52


@pytest.mark.parametrize("name", ["", "8", "H", "1H", "11H", "8X", "8HH", "JOKER", "0C"])
def test_a_card_that_is_none(name):
    with pytest.raises(ValueError, match="no such card"):
        card_code(name)


@kernel
def compiled(word, k):
    return count_cards(word), lowest_card(word), highest_card(word), nth_card(word, k)


@given(WORD, st.integers(0, 63))
def test_operations_compiled_and_not(word, k):
    codes = [code for code in range(64) if word >> code & 1]
    k %= len(codes)
    expected = (len(codes), codes[0], codes[-1], codes[k])
    assert compiled(np.uint64(word), k) == expected
    word = np.uint64(word)
    assert (count_cards(word), lowest_card(word), highest_card(word), nth_card(word, k)) == expected


@given(st.permutations(ALL * 2 + ["JKR"] * 8), st.integers(0, 112))
def test_two_packs_with_jokers_in_a_pair_of_words(cards, kept):
    """Cards put in and taken out in any order are exactly those that are there."""
    words = np.uint64(0), np.uint64(0)
    for name in cards:
        words = with_card(*words, card_code(name))
    for name in cards[kept:]:
        words = without_card(*words, card_code(name))
    cards_left, twice = words
    assert sorted(card_names(cards_left, twice)) == sorted(cards[:kept])
    assert not int(twice) & ~int(cards_left)
