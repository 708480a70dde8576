"""Chance, keyed and not consumed: Philox4x32-10 (Salmon, Moraes, Dror and Shaw, SC 2011).

Every random number is a function of the seed, the game, the hand within its match, the purpose, the seat and a draw
number. No generator is carried along, so game k alone is game k of a million, threads and chunks change nothing, and
two rule sets or line-ups meet the same deals.

Key = the 64-bit seed. Counter = (draw, ``purpose | seat << 8 | hand << 16``, game low, game high). One block gives
four 32-bit words; word w of a stream is word ``w % 4`` of block ``w // 4``. A number below n is ``word * n >> 32``;
its bias, at most n / 2**32, is beyond any number of hands that can be played.

Strategies never meet the seed, from which all cards follow: the engine hands them 64 bits of luck for each question,
and what else they draw comes from a Philox keyed by these (`strategies.toolkit`).
"""

import numpy as np

from sim.compiled import kernel, numbers

RNG_VERSION = 1
"""Written into every result; raised whenever the same seed would give other games."""

DECK, RESHUFFLE, SEAT, ILLEGAL, CALL, MISDEAL, DEALER = numbers(7)
"""Purposes: each is a stream of its own."""

PAGE_BLOCKS = 16
PAGE_WORDS = 4 * PAGE_BLOCKS
"""The engine makes words by the page: this many blocks at once fill the processor's vector registers."""
LUCK_GROUP = 4
"""Players whose luck is made together, and the blocks for each of them: together a page."""
LUCK_EACH = 2 * LUCK_GROUP
"""Questions for which a player then has luck; most need no more in a hand."""

_M0 = np.uint64(0xD2511F53)
_M1 = np.uint64(0xCD9E8D57)
_W0 = np.uint64(0x9E3779B9)
_W1 = np.uint64(0xBB67AE85)
_LOW = np.uint64(0xFFFFFFFF)
_32 = np.uint64(32)


@kernel(inline=True)
def _round(c0, c1, c2, c3, k0, k1):
    p = _M0 * c0
    q = _M1 * c2
    return (q >> _32) ^ c1 ^ k0, q & _LOW, (p >> _32) ^ c3 ^ k1, p & _LOW, (k0 + _W0) & _LOW, (k1 + _W1) & _LOW


@kernel(inline=True)
def philox(c0, c1, c2, c3, k0, k1):
    """One block: counter of four and key of two 32-bit words, each in a uint64; gives four words likewise.

    The rounds are written out because the compiler makes vector code of a loop over blocks only then.
    """
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    c0, c1, c2, c3, k0, k1 = _round(c0, c1, c2, c3, k0, k1)
    return c0, c1, c2, c3


@kernel
def where(purpose, seat, hand):
    """The counter's second word."""
    return np.uint64(purpose) | np.uint64(seat) << np.uint64(8) | np.uint64(hand) << np.uint64(16)


@kernel
def block(seed, game, place, draw):
    """The four words of one block of the stream at `place` (see `where`)."""
    return philox(np.uint64(draw), place, game & _LOW, game >> _32, seed & _LOW, seed >> _32)


@kernel(inline=True)
def _store_block(words, at, block):
    w0, w1, w2, w3 = block
    words[at] = w0
    words[at + np.uint64(1)] = w1
    words[at + np.uint64(2)] = w2
    words[at + np.uint64(3)] = w3


@kernel
def fill_words(words, seed, game, place, page):
    """Words ``PAGE_WORDS * page …`` of a stream, in order, into `words` (uint32, at least PAGE_WORDS long)."""
    first = np.uint64(page) * np.uint64(PAGE_BLOCKS)
    low, high, k0, k1 = game & _LOW, game >> _32, seed & _LOW, seed >> _32
    for b in range(PAGE_BLOCKS):
        lane = np.uint64(b)
        _store_block(words, np.uint64(4) * lane, philox(first + lane, place, low, high, k0, k1))


@kernel
def fill_luck_of_group(luck, places, seed, game, first):
    """Luck for the first LUCK_EACH questions of LUCK_GROUP players from position `first` on.

    `luck` (uint32) has two words a question and LUCK_EACH questions a position; `places` (uint32) has the place of a
    position LUCK_GROUP times, once a block.
    """
    low, high, k0, k1 = game & _LOW, game >> _32, seed & _LOW, seed >> _32
    lanes = np.uint64(first) * np.uint64(LUCK_GROUP)
    for b in range(PAGE_BLOCKS):
        lane = np.uint64(b)
        place = np.uint64(places[lanes + lane])
        draw = lane & np.uint64(LUCK_GROUP - 1)
        _store_block(luck, np.uint64(4) * (lanes + lane), philox(draw, place, low, high, k0, k1))


@kernel
def fill_luck(luck, start, seed, game, place, page):
    """Luck for questions ``LUCK_EACH * page …`` of one player, from ``luck[start]`` on, two words each."""
    low, high, k0, k1 = game & _LOW, game >> _32, seed & _LOW, seed >> _32
    for b in range(LUCK_GROUP):
        draw = np.uint64(page) * np.uint64(LUCK_GROUP) + np.uint64(b)
        at = np.uint64(start) + np.uint64(4) * np.uint64(b)
        _store_block(luck, at, philox(draw, np.uint64(place), low, high, k0, k1))


@kernel
def below(word, n):
    """A number from 0 to n - 1 from one 32-bit word."""
    return np.int64((np.uint64(word) * np.uint64(n)) >> _32)
