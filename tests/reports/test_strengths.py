"""Plackett–Luce strengths: counting orders, ties, the fit against choix itself, and what has no strengths."""

import math
import sys

import numpy as np
import pytest

from reports.strengths import NoStrengths, StrengthsMissing, _choices, count_orders, strengths

choix = pytest.importorskip("choix")


def luce(theta, hands, players, rng):
    """Strategies by seat and finish (lower is better) of hands that follow the model: Gumbel noise on strengths."""
    who = rng.integers(0, len(theta), (hands, players))
    return who, -(rng.gumbel(size=who.shape) + np.asarray(theta)[who])


def test_orders_are_counted_by_group():
    who = [[2, 0, 1], [0, 1, 2], [1, 0, 2]]
    finish = [[-1, 5, 9], [5, 9, -1], [3, 3, 0]]
    assert {k: v.tolist() for k, v in count_orders(who, finish, [0, 1, 1]).items()} == {
        ((2,), (0,), (1,)): [1, 1],
        ((2,), (0, 1)): [0, 1],
    }


def test_an_order_is_a_sequence_of_choices():
    assert _choices(((2,), (0,), (1,))) == {(2, (0, 1, 2)): 1.0, (0, (0, 1)): 1.0}
    # a tie for first: in half of the orders each is chosen from all, then the other from who is left
    tie = {(0, (0, 1, 2)): 0.5, (1, (0, 1, 2)): 0.5, (0, (0, 2)): 0.5, (1, (1, 2)): 0.5}
    assert _choices(((0, 1), (2,))) == tie
    # all choices but that of the last: n - 1 in total, however many tie
    for order in [((0, 1, 2, 3),), ((0,), (1, 2, 3)), ((0, 0, 1), (1,)), ((0, 1, 2), (3, 3, 3, 3))]:
        players = sum(map(len, order))
        assert sum(_choices(order).values()) == pytest.approx(players - 1)


def test_a_tie_counts_as_its_orders_in_equal_parts():
    # two hands with a tie for second and third equal one hand each way
    rest = {((0,), (1,), (2,)): [5, 4], ((2,), (1,), (0,)): [3, 2], ((1,), (0,), (2,)): [2, 2]}
    tied = strengths(rest | {((0,), (1, 2)): [2, 4]}, "abc", draws=100)
    split = strengths(rest | {((0,), (1,), (2,)): [6, 6], ((0,), (2,), (1,)): [1, 2]}, "abc", draws=100)
    for a, b in zip(tied.values, split.values, strict=True):
        assert a.value == pytest.approx(b.value, abs=1e-9)


def test_the_fit_is_that_of_choix():
    rng = np.random.default_rng(1)
    who, finish = luce([0.5, 0.1, -0.2, -0.4], 300, 4, rng)
    rankings = [[int(x) for x in w[np.argsort(f)]] for w, f in zip(who, finish, strict=True)]
    # the tied hand that each pair is credited with, as one hand each way among doubled data
    extra = [[i, j] for i in range(4) for j in range(4) if i != j]
    theirs = choix.ilsr_rankings(4, rankings * 2 + extra)
    ours = strengths(count_orders(who, finish, np.arange(300) // 100), "abcd", draws=100)
    assert [e.value for e in ours.values] == pytest.approx(list(theirs - theirs.mean()), abs=1e-6)


def test_chances_follow_from_strengths():
    who, finish = luce([0.6, 0.0, -0.6], 2_000, 3, np.random.default_rng(2))
    s = strengths(count_orders(who, finish, np.arange(2_000) // 100), "abc")
    gap = s.values[0].value - s.values[2].value
    assert s.ahead[0][2].value == pytest.approx(1 / (1 + math.exp(-gap)))
    assert s.ahead[2][0].high == pytest.approx(1 - s.ahead[0][2].low)
    assert s.ahead[1][1].value == 0.5
    assert sum(e.value for e in s.values) == pytest.approx(0.0, abs=1e-12)
    assert s.ahead[0][2].low > 0.5


def test_recovery_of_known_strengths():
    theta = np.array([0.3, 0.1, 0.0, -0.4])
    who, finish = luce(theta, 20_000, 4, np.random.default_rng(3))
    s = strengths(count_orders(who, finish, np.arange(20_000) // 500), "abcd")
    # all four intervals hold together at 95 %; at 99.99 %, the false-alarm rate 1e-4, they are less than twice as wide
    for e, truth in zip(s.values, theta, strict=True):
        assert abs(e.value - truth) < 2 * (e.high - e.value)
        assert e.se < 0.015


def test_who_is_never_behind_has_no_strength():
    orders = {((0,), (1,), (2,)): [5, 5], ((0,), (2,), (1,)): [5, 5]}
    with pytest.raises(NoStrengths, match="no finite strengths: shark never finished behind any other"):
        strengths(orders, ["shark", "b", "c"])


def test_one_group_with_all_of_somebodys_wins_is_survived():
    orders = {((0,), (1,)): [50, 50, 50], ((1,), (0,)): [0, 0, 1]}
    s = strengths(orders, "ab")
    assert s.values[0].value == pytest.approx(math.log(150.5 / 1.5) / 2, abs=1e-6)
    assert s.values[0].high - s.values[0].low > 1.0


def test_without_the_package_one_line_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "choix", None)
    with pytest.raises(StrengthsMissing, match=r"pip install 'ochos-sim\[strengths\]'"):
        strengths({((0,), (1,)): [1, 1], ((1,), (0,)): [1, 1]}, "ab")
