"""Moments: found and played on again by the reference engine, by another road, and against an exact value."""

import copy
import itertools
import math
import random

import numpy as np
import pytest
from any_option import ANY_OPTION
from reference import STRATEGIES, AnyOption, play_hand
from rule_draws import draw_players, draw_rules, rules_with

from sim.moments import CELLS, MOST_MOMENTS, SIZES, find_moments
from sim.rules import Rules
from strategies.registry import Player, crew_record, find

OURS = {"any-option": ANY_OPTION}
THEIRS = {**STRATEGIES, "any-option": AnyOption()}
TRIOS = [
    ("first-legal", "dump-high", "hoard-eights"),
    ("random", "dump-faces", "first-legal"),
    ("hoard-eights", "random", "dump-high"),
    ("any-option", "first-legal", "dump-faces"),
    ("dump-faces", "any-option", "random"),
]
"""Policy, follower and twin."""


def crew_of(name, players):
    return crew_record([Player(OURS.get(name) or find(name))] * players)


class Watching:
    """Plays as a policy and notes the questions to which follower and twin have different answers."""

    def __init__(self, trio):
        self.policy, self.follower, self.twin = (THEIRS[name] for name in trio)
        self.asked = 0
        self.moments = []

    def answer(self, kind, view):
        first, second = (getattr(one, kind)(copy.deepcopy(view)) for one in (self.follower, self.twin))
        if first != second:
            rival = min(cards for seat, cards in enumerate(view.cards) if seat != view.seat)
            self.moments.append((self.asked, view.seat, len(view.hand), rival, (first, second)))
        self.asked += 1
        return getattr(self.policy, kind)(view)

    def play(self, view):
        return self.answer("play", view)

    def suit(self, view):
        return self.answer("suit", view)

    def stop(self, view):
        return self.answer("stop", view)


class Instead(Watching):
    """Plays as a policy, but gives another answer to one question, which is known by its number."""

    def __init__(self, policy, number, other):
        self.policy, self.number, self.other = THEIRS[policy], number, other
        self.asked = 0

    def answer(self, kind, view):
        self.asked += 1
        return self.other if self.asked == self.number + 1 else getattr(self.policy, kind)(view)


def row_of(rules, players, trio, **deal):
    """What a hand adds to the sums: (CELLS + 1, 3). It is played from its beginning for each answer."""
    watching = Watching(trio)
    play_hand(rules, [{"strategy": watching}] * players, **deal)
    row = np.zeros((CELLS + 1, 3), np.int64)
    for number, seat, own, rival, answers in watching.moments[:MOST_MOMENTS]:
        gain = np.zeros(2, np.int64)
        for answer, sign in zip(answers, (1, -1), strict=True):
            hand = play_hand(rules, [{"strategy": Instead(trio[0], number, answer)}] * players, **deal)
            gain += sign * np.array([hand.winner == seat, hand.scored[seat]])
        if rules["match"]["winner"] == "lowest":
            gain[1] *= -1
        for cell in ((min(own, SIZES) - 1) * SIZES + min(rival, SIZES) - 1, CELLS):
            row[cell] += [1, *gain]
    return row


def products_of(row):
    n, wins, points = row.T
    return np.stack([n * n, n * wins, wins * wins, n * points, points * points], axis=1)


@pytest.mark.parametrize("number", range(40))
def test_agrees_with_the_reference(number):
    """Drawn rules: every situation's sums and products are those of hands played from their beginning."""
    rng = random.Random(number)
    rules = draw_rules(rng)
    rules["turn_cap"] = min(rules["turn_cap"], 200)
    players, trio, seed, games = draw_players(rng, rules), TRIOS[number % len(TRIOS)], rng.getrandbits(64), 3
    crews = [crew_of(name, players) for name in trio]
    found = find_moments(Rules.from_dict(rules), players, *crews, seed=seed, games=games)
    rows = [row_of(rules, players, trio, seed=seed, game=game) for game in range(games)]
    assert np.array_equal(found.sums, sum(rows))
    assert np.array_equal(found.products, sum(map(products_of, rows)))


def test_the_exact_value_on_a_tiny_pack():
    """All 10,080 deals of sevens and eights, two cards each: the estimate is within 4 standard errors (1 in 16,000)."""
    rules = rules_with(
        {
            "deck.ranks": ["7", "8"],
            "deal.cards": 2,
            "starter.wild": "own-suit",
            "stock.empty": "pass",
            "last_card.call": False,
        }
    )
    trio = ("first-legal", "first-legal", "dump-high")
    pack = [rank + suit for suit in "CDHS" for rank in ("7", "8")]
    exact = np.zeros(3, np.int64)
    for first in itertools.combinations(pack, 2):
        rest = [card for card in pack if card not in first]
        for second in itertools.combinations(rest, 2):
            left = [card for card in rest if card not in second]
            for stock in itertools.permutations(left):
                deck = [first[0], second[0], first[1], second[1], *stock]
                exact += row_of(rules, 2, trio, seed=1, game=0, deck=deck)[CELLS]
    crews = [crew_of(name, 2) for name in trio]
    found = find_moments(Rules.from_dict(rules), 2, *crews, seed=3, games=200_000, threads=2)
    n, nn = found.sums[CELLS, 0], found.products[CELLS, 0]
    assert exact[0] > 1_000, "there are moments"
    assert abs(exact[1]) > 100, "and they matter"
    assert n / found.games == pytest.approx(exact[0] / 10_080, rel=0.02)
    for column, cross, square in ((1, 1, 2), (2, 3, 4)):
        value = found.sums[CELLS, column] / n
        squares = found.products[CELLS, square] - 2 * value * found.products[CELLS, cross] + value**2 * nn
        assert abs(value - exact[column] / exact[0]) < 4 * math.sqrt(squares) / n


def test_exchanged_and_in_parts():
    """The twin's answer minus the follower's is the other way round; threads change nothing; a player has no twin."""
    rules = Rules.from_dict(rules_with())
    a, b, policy = crew_of("hoard-eights", 3), crew_of("dump-high", 3), crew_of("random", 3)
    one = find_moments(rules, 3, policy, a, b, seed=5, games=1_500)
    other = find_moments(rules, 3, policy, b, a, seed=5, games=1_500, threads=2)
    assert one.sums[CELLS, 0] > 1_500
    assert np.array_equal(one.sums * [1, -1, -1], other.sums)
    assert np.array_equal(one.products * [1, -1, 1, -1, 1], other.products)
    assert np.array_equal(one.sums[:CELLS].sum(0), one.sums[CELLS])
    first = crew_of("first-legal", 3)
    assert not find_moments(rules, 3, policy, first, first, seed=5, games=200).sums.any()
