"""Chance: Philox against its published answers and another implementation, and the layout of the streams."""

import numpy as np
import pytest
import randomgen
import reference
from hypothesis import given
from hypothesis import strategies as st

from sim.streams import (
    DECK,
    LUCK_EACH,
    LUCK_GROUP,
    PAGE_WORDS,
    SEAT,
    below,
    block,
    fill_luck,
    fill_luck_of_group,
    fill_words,
    philox,
    where,
)

WORD = st.integers(0, 2**32 - 1)
KEY = st.integers(0, 2**64 - 1)


def words_of(counter, key):
    return tuple(int(word) for word in philox(*(np.uint64(value) for value in (*counter, *key))))


@pytest.mark.parametrize(
    ("counter", "key", "answer"),
    [
        ([0, 0, 0, 0], [0, 0], [0x6627E8D5, 0xE169C58D, 0xBC57AC4C, 0x9B00DBD8]),
        ([0xFFFFFFFF] * 4, [0xFFFFFFFF] * 2, [0x408F276D, 0x41C83B0E, 0xA20BC7C6, 0x6D5451FD]),
        (
            [0x243F6A88, 0x85A308D3, 0x13198A2E, 0x03707344],
            [0xA4093822, 0x299F31D0],
            [0xD16CFE09, 0x94FDCCEB, 0x5001E420, 0x24126EA1],
        ),
    ],
)
def test_known_answers(counter, key, answer):
    """The test vectors that the authors of Philox publish with it."""
    assert words_of(counter, key) == tuple(answer)


@given(st.lists(WORD, min_size=4, max_size=4), st.lists(WORD, min_size=2, max_size=2))
def test_against_the_reference(counter, key):
    assert words_of(counter, key) == reference.philox(counter, key)


def test_against_randomgen():
    """An independent implementation from the package index; it counts up before it makes a block."""
    other = randomgen.Philox(key=0x123456789ABCDEF, counter=0, number=4, width=32)
    theirs = [int(word) for word in other.random_raw(16)]
    key = (0x89ABCDEF, 0x1234567)
    ours = [word for draw in range(1, 5) for word in words_of((draw, 0, 0, 0), key)]
    assert theirs == ours


@given(KEY, KEY, st.integers(0, 6), st.integers(0, 9), st.integers(0, 9999), st.integers(0, 1000))
def test_the_counter_of_a_block(seed, game, purpose, seat, hand, draw):
    """(draw, purpose | seat << 8 | hand << 16, game low, game high) under the seed."""
    counter = (draw, purpose | seat << 8 | hand << 16, game & 0xFFFFFFFF, game >> 32)
    ours = block(np.uint64(seed), np.uint64(game), np.uint64(where(purpose, seat, hand)), draw)
    assert tuple(map(int, ours)) == reference.philox(counter, (seed & 0xFFFFFFFF, seed >> 32))


@given(KEY, KEY, st.integers(0, 50))
def test_pages_of_words(seed, game, page):
    words = np.zeros(PAGE_WORDS, np.uint32)
    fill_words(words, np.uint64(seed), np.uint64(game), np.uint64(where(DECK, 0, 3)), page)
    chance = reference.Chance(seed, game, 3)
    assert words.tolist() == [chance.word(reference.DECK, page * PAGE_WORDS + i) for i in range(PAGE_WORDS)]


@given(KEY, KEY)
def test_luck_of_a_group_and_beyond(seed, game):
    """Question d of a seat has block d // 2 of its stream, the first or the second half of it."""
    seats = [5, 0, 9, 2]
    places = np.repeat([where(SEAT, seat, 1) for seat in seats], LUCK_GROUP).astype(np.uint32)
    luck = np.zeros(2 * LUCK_EACH * LUCK_GROUP, np.uint32)
    fill_luck_of_group(luck, places, np.uint64(seed), np.uint64(game), 0)
    more = np.zeros(2 * LUCK_EACH, np.uint32)
    fill_luck(more, 0, np.uint64(seed), np.uint64(game), where(SEAT, 9, 1), 1)
    chance = reference.Chance(seed, game, 1)

    def expected(seat, question):
        words = chance.block(reference.SEAT, question // 2, seat)
        return list(words[question % 2 * 2 :][:2])

    for at, seat in enumerate(seats):
        for question in range(LUCK_EACH):
            assert luck[2 * (at * LUCK_EACH + question) :][:2].tolist() == expected(seat, question)
    assert more.tolist() == [word for q in range(LUCK_EACH) for word in expected(9, LUCK_EACH + q)]


@given(WORD, st.integers(1, 200))
def test_below_covers_its_range_evenly(word, n):
    assert int(below(np.uint64(word), n)) == word * n >> 32
