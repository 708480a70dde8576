"""The toolkit against plain Python: sets and lists of names, and the reference's own Philox."""

from collections import Counter

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import SEAT, Chance, Luck, longest_suit, rank_then_suit
from scipy.stats import chi2
from views import PACK, mask, record, view_of, words

from sim.cards import JOKER, RANK_OF, RANKS, SUITS, card_code, card_name
from strategies import toolkit

TWO_PACKS = (PACK + [JOKER] * 4) * 2
unhurried = settings(deadline=None)  # the first call compiles


def both(function, *args):
    """The answer of a toolkit function, which must be the same compiled and as plain Python, as is what it did."""
    views = [[record(arg) if isinstance(arg, np.record) else arg for arg in args] for _ in range(2)]
    compiled, plain = function(*views[0]), function.py_func(*views[1])
    assert compiled == plain
    assert views[0] == views[1]
    return compiled


def names_of(cards):
    return {card_name(code) for code in range(64) if int(cards) >> code & 1}


def some_cards(low=0, high=40):
    return st.lists(st.sampled_from(range(len(TWO_PACKS))), min_size=low, max_size=high, unique=True).map(
        lambda numbers: [TWO_PACKS[number] for number in numbers]
    )


different_cards = st.sets(st.sampled_from([*PACK, JOKER]), min_size=1)


@pytest.fixture
def draw_many():
    """The first `draws` choices below n of one question in each of many games: a row a game."""

    def rows(n, draws, games, question=0, seat=0):
        found = np.zeros((games, draws), np.int64)
        view = view_of()
        for game in range(games):
            block = Chance(2024, game, 0).block(SEAT, question // 2, seat)
            high, low = block[2:] if question % 2 else block[:2]
            view.luck, view.draws = high << 32 | low, 0
            found[game] = [toolkit.choice(view, n) for _ in range(draws)]
        return found

    return rows


# --- Sets of cards ----------------------------------------------------------------------------------------------------


@unhurried
@given(different_cards, st.integers(0, 3), st.sampled_from(list(RANK_OF)))
def test_suit_and_rank_of_a_set(names, suit, rank):
    assert names_of(both(toolkit.of_suit, mask(names), suit)) == {name for name in names if name[-1] == SUITS[suit]}
    assert names_of(both(toolkit.of_rank, mask(names), RANK_OF[rank])) == {name for name in names if name[:-1] == rank}
    assert names_of(both(toolkit.of_rank, mask(names), 14)) == {name for name in names if name == JOKER}


@unhurried
@given(different_cards, st.sets(st.sampled_from(RANKS), max_size=3))
def test_plain_first(names, wild_ranks):
    view = view_of(wild_ranks=wild_ranks, jokers=1)
    plain = {name for name in names if name[:-1] not in wild_ranks and name != JOKER}
    assert names_of(both(toolkit.plain_first, view, mask(names))) == (plain or names)


@unhurried
@given(different_cards)
def test_first_and_last_by_rank(names):
    assert card_name(both(toolkit.first_by_rank, mask(names))) == min(names, key=rank_then_suit)

    def downwards(name):
        rank, suit = rank_then_suit(name)
        return name == JOKER, -rank, suit

    assert card_name(both(toolkit.last_by_rank, mask(names))) == min(names, key=downwards)


@unhurried
@given(different_cards, st.lists(st.sampled_from([0, 1, 5, 10, 50]), min_size=16, max_size=16))
def test_most_points(names, points):
    view = view_of(points=points)

    def order(name):
        return -points[card_code(name) % 16], rank_then_suit(name)

    assert card_name(both(toolkit.most_points, view, mask(names))) == min(names, key=order)


@unhurried
@given(different_cards, st.integers(0, 2**64 - 1))
def test_pick_is_one_draw_in_the_order_of_codes(names, luck):
    view = view_of(luck=luck)
    in_order = sorted(names, key=card_code)
    expected = in_order[Luck(luck >> 32, luck & 0xFFFFFFFF).below(len(names))]
    assert card_name(both(toolkit.pick, view, mask(names))) == expected


@unhurried
@given(different_cards, st.sampled_from([*PACK, JOKER]), st.sets(st.sampled_from(RANKS), max_size=3))
def test_single_cards(names, name, wild_ranks):
    """Suit, rank, points and whether wild of a card; whether it is in a set, and the set without it."""
    view, card = view_of(wild_ranks=wild_ranks, jokers=1, points=list(range(100, 116))), card_code(name)
    assert both(toolkit.has, mask(names), card) == (name in names)
    assert names_of(both(toolkit.without, mask(names), card)) == names - {name}
    rank = 14 if name == JOKER else RANK_OF[name[:-1]]
    assert both(toolkit.rank_of, card) == rank
    assert both(toolkit.points_of, view, card) == 100 + rank
    assert both(toolkit.is_wild, view, card) == (name == JOKER or name[:-1] in wild_ranks)
    if name != JOKER:
        assert SUITS[both(toolkit.suit_of, card)] == name[-1]


@toolkit.helper
def last_digit(view, card):
    return (view.turn * card) % 10 / 2


@unhurried
@given(different_cards, st.integers(1, 9))
def test_lowest_and_highest_by_a_key(names, turn):
    """By a fraction that several cards share; of equals the first in the order of codes."""
    in_order = sorted(names, key=card_code)
    view = view_of(turn=turn)
    assert card_name(toolkit.lowest_by(view, mask(names), last_digit)) == min(
        in_order, key=lambda name: turn * card_code(name) % 10
    )
    assert card_name(toolkit.highest_by(view, mask(names), last_digit)) == max(
        in_order, key=lambda name: turn * card_code(name) % 10
    )


# --- Suits and the others ---------------------------------------------------------------------------------------------


@unhurried
@given(some_cards())
def test_suits_of_a_hand(hand):
    """Both copies count, wilds in their own suit, jokers in none."""
    view = view_of(hand, packs=2, jokers=8)
    for number, suit in enumerate(SUITS):
        assert both(toolkit.suit_count, view, number) == sum(name[-1] == suit for name in hand)
    assert SUITS[both(toolkit.longest_suit, view)] == longest_suit(hand)


@unhurried
@given(some_cards(1), st.integers(0, 40), st.sets(st.sampled_from(PACK)))
def test_unseen(dealt, own, asked):
    """Every card of two packs that is neither in the hand nor in the pile, jokers left out."""
    hand, pile = dealt[:own], dealt[own:]
    view = view_of(hand, packs=2, jokers=8)
    view.pile, view.pile_twice = words(pile)
    elsewhere = Counter(TWO_PACKS) - Counter(dealt)
    assert both(toolkit.unseen, view, mask({*asked, JOKER})) == sum(elsewhere[name] for name in asked)
    for number, suit in enumerate(SUITS):
        expected = sum(count for name, count in elsewhere.items() if name[-1] == suit)
        assert both(toolkit.unseen_of_suit, view, number) == expected


@unhurried
@given(st.lists(st.integers(1, 30), min_size=2, max_size=10), st.integers(0, 9))
def test_smallest_rival(counts, position):
    position %= len(counts)
    view = view_of(players=len(counts), position=position, counts=counts)
    assert both(toolkit.smallest_rival, view) == min(counts[:position] + counts[position + 1 :])


@unhurried
@given(st.integers(2, 10), st.integers(0, 9), st.sampled_from([-1, 1]))
def test_the_next_player(players, position, direction):
    position %= players
    counts = list(range(20, 20 + players))
    view = view_of(players=players, position=position, direction=direction, counts=counts)
    seats = list(range(players))[::direction]
    following = seats[(seats.index(position) + 1) % players]
    assert both(toolkit.next_position, view) == following
    assert both(toolkit.next_count, view) == counts[following]


def test_what_a_player_drew_on():
    view = view_of(players=3, drew_on=[0, 0, 0, 0, 0, 2, 0, 0, 1, 0, 0, 5])
    assert [both(toolkit.showed_lack, view, 1, suit) for suit in range(4)] == [0, 2, 0, 0]
    assert both(toolkit.showed_lack, view, 2, 3) == 5


def test_stop_always():
    assert both(toolkit.stop_always, view_of()) == 1


# --- Chance -----------------------------------------------------------------------------------------------------------


@unhurried
@given(st.integers(0, 2**64 - 1), st.lists(st.integers(1, 112), min_size=1, max_size=12))
def test_choices_are_the_references(luck, numbers):
    """The first from the luck's upper word, later ones from a Philox that the luck is the key of."""
    compiled, plain, reference = view_of(luck=luck), view_of(luck=luck), Luck(luck >> 32, luck & 0xFFFFFFFF)
    for number in numbers:
        expected = reference.below(number)
        assert toolkit.choice(compiled, number) == toolkit.choice.py_func(plain, number) == expected
    assert compiled.draws == plain.draws == len(numbers)


FALSE_ALARM = 1e-4
"""Chance that a sound generator fails one of the chi-square tests below; the seed is fixed, so it did not."""


def chi_square_is_small(observed, expected, freedom):
    statistic = ((observed - expected) ** 2 / expected).sum()
    return statistic < chi2.isf(FALSE_ALARM, freedom)


@pytest.mark.parametrize("n", [2, 3, 7, 13])
def test_choice_is_uniform(draw_many, n):
    """Each draw of a question falls on each number alike often (false alarm: 1e-4 each)."""
    rows = draw_many(n, 4, 6000)
    for draw in range(4):
        observed = np.bincount(rows[:, draw], minlength=n)
        assert chi_square_is_small(observed, len(rows) / n, n - 1)


def test_draws_and_questions_are_independent(draw_many):
    """Pairs of draws: within a question, of two questions, of two seats: all pairs alike often (1e-4 each)."""
    n, games = 5, 6000
    rows = draw_many(n, 6, games)
    pairs = [(rows[:, i], rows[:, j]) for i in range(6) for j in range(i)]
    pairs += [(rows[:, 0], draw_many(n, 1, games, question=question)[:, 0]) for question in (1, 2, 3)]
    pairs += [(rows[:, 0], draw_many(n, 1, games, seat=seat)[:, 0]) for seat in (1, 2)]
    for first, second in pairs:
        observed = np.bincount(first * n + second, minlength=n * n)
        assert chi_square_is_small(observed, games / n**2, n * n - 1)
