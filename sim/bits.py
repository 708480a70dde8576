"""Operations on words that numba has no name for: count the bits, find the lowest, the highest, the k-th.

Each is a plain Python function and, in compiled code, one or two machine instructions.
"""

import numpy as np
from llvmlite import binding, ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic, overload

HAS_PDEP = bool(binding.get_host_cpu_features().get("bmi2"))


def count_cards(cards: np.uint64) -> int:
    """The number of cards in a word."""
    return int(cards).bit_count()


def lowest_card(cards: np.uint64) -> int:
    """The lowest code in a word that is not empty."""
    return (int(cards) & -int(cards)).bit_length() - 1


def highest_card(cards: np.uint64) -> int:
    """The highest code in a word that is not empty."""
    return int(cards).bit_length() - 1


def nth_card(cards: np.uint64, k: int) -> int:
    """The code of the k-th card of a word in the order of codes, from 0; there must be more than k."""
    word = int(cards)
    for _ in range(int(k)):
        word &= word - 1
    return (word & -word).bit_length() - 1


@intrinsic
def _popcount(typingctx, word):
    def code(context, builder, signature, args):
        return builder.ctpop(args[0])

    return types.int64(types.uint64), code


@intrinsic
def _trailing_zeros(typingctx, word):
    def code(context, builder, signature, args):
        return builder.cttz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), code


@intrinsic
def _leading_zeros(typingctx, word):
    def code(context, builder, signature, args):
        return builder.ctlz(args[0], ir.Constant(ir.IntType(1), 0))

    return types.int64(types.uint64), code


@intrinsic
def _deposit(typingctx, bits, mask):
    """Spread the low bits of a word over the set bits of a mask (the processor's pdep)."""

    def code(context, builder, signature, args):
        word = ir.IntType(64)
        pdep = cgutils.get_or_insert_function(
            builder.module, ir.FunctionType(word, [word, word]), "llvm.x86.bmi.pdep.64"
        )
        return builder.call(pdep, args)

    return types.uint64(types.uint64, types.uint64), code


@overload(count_cards)
def _count_cards(cards):
    return lambda cards: _popcount(np.uint64(cards))


@overload(lowest_card)
def _lowest_card(cards):
    return lambda cards: _trailing_zeros(np.uint64(cards))


@overload(highest_card)
def _highest_card(cards):
    return lambda cards: 63 - _leading_zeros(np.uint64(cards))


@overload(nth_card)
def _nth_card(cards, k):
    if HAS_PDEP:
        return lambda cards, k: _trailing_zeros(_deposit(np.uint64(1) << np.uint64(k), np.uint64(cards)))

    def by_clearing(cards, k):
        word = np.uint64(cards)
        for _ in range(k):
            word &= word - np.uint64(1)
        return _trailing_zeros(word)

    return by_clearing
