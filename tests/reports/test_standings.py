"""Standings: hand-worked orders, groups and cycles, and what may not break them. Coverage is in test_calibration."""

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.intervals import Estimate, max_t
from reports.standings import cycles, payoffs, rank_values


def clear(value):
    """A difference that clears 0 on its side, or not at all."""
    return Estimate(value, 0.1, value - 0.5, value + 0.5)


def table(size, edges):
    """Differences in which exactly these pairs (better, worse) are sure."""
    d = [[clear(0.0)] * size for _ in range(size)]
    for i, j in edges:
        d[i][j], d[j][i] = clear(1.0), clear(-1.0)
    return d


# --- rank_values --------------------------------------------------------------------------------------------------


def test_a_clear_order():
    s = rank_values([0.2, 0.3, 0.1], np.eye(3) * 1e-6, 10_000)
    assert s.order == (1, 0, 2)
    assert s.in_best_set == (False, True, False)
    assert s.rank_low == s.rank_high == (2, 1, 3)
    assert s.groups == ((1,), (0,), (2,))
    assert s.differences[1][0].value == pytest.approx(0.1)
    assert s.differences[1][0].low == -s.differences[0][1].high > 0


def test_widths_are_those_of_max_t():
    cov = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, 0.5], [0.0, 0.5, 2.0]]) * 1e-4
    s = rank_values([0.0, 0.1, 0.2], cov, 500, scale=0.0)
    c = max_t(cov, 500)
    assert [e.high - e.value for e in s.values] == pytest.approx(list(c * np.sqrt(np.diag(cov))))
    contrast = np.array([[1, -1, 0], [1, 0, -1], [0, 1, -1.0]])
    c = max_t(contrast @ cov @ contrast.T, 500)
    assert s.differences[0][2].high - s.differences[0][2].value == pytest.approx(c * np.sqrt(6e-4))
    assert s.variance_ratio[0][1] == pytest.approx(5 / 7)


def test_everything_is_possible_where_nothing_is_sure():
    s = rank_values([0.1, 0.2, 0.3], np.eye(3), 100)
    assert s.in_best_set == (True, True, True)
    assert s.rank_low == (1, 1, 1)
    assert s.rank_high == (3, 3, 3)
    assert s.groups == ((2, 1, 0),)


def test_groups_overlap_where_only_the_ends_are_apart():
    s = rank_values([0.0, 0.1, 0.2], np.eye(3) * 0.05**2, 10_000, scale=0.0)
    assert s.groups == ((2, 1), (1, 0))
    assert s.rank_low == (2, 1, 1)
    assert s.rank_high == (3, 3, 2)


def test_precise_neighbours_split_a_group_that_its_ends_do_not():
    # 1 and 2 went the same way on all deals, so that their small difference is sure; 0 is loose
    cov = np.array([[1.0, 0, 0], [0, 1.0, 1.0], [0, 1.0, 1.0]]) * 1e-4 + np.diag([0, 1e-10, 1e-10])
    s = rank_values([0.0, 0.011, 0.01], cov, 10_000, scale=0.0)
    assert s.differences[1][2].low > 0
    assert s.groups == ((1,), (2, 0))
    assert s.rank_high == (3, 2, 3)


def test_identical_strategies_differ_by_exactly_nothing():
    same = rank_values([0.0, 0.0], np.zeros((2, 2)), 1_000, scale=0.0)
    assert same.differences[0][1] == Estimate(0.0, 0.0, 0.0, 0.0)
    assert same.in_best_set == (True, True)
    assert same.rank_high == (2, 2)
    assert same.groups == ((0, 1),)
    # a scale says what 1,000 blocks cannot exclude
    allowed = rank_values([0.0, 0.0], np.zeros((2, 2)), 1_000).differences[0][1]
    assert allowed.value == 0.0
    assert 0.0025 < allowed.high == -allowed.low < 0.0035
    # with one more strategy the pair stays exact, and the rest is as good as ever
    cov = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 1.0]]) * 1e-6
    s = rank_values([0.1, 0.1, 0.0], cov, 1_000, scale=0.0)
    assert s.differences[0][1].high == 0.0
    assert s.order == (0, 1, 2)
    assert s.rank_low == (1, 1, 3)
    assert s.rank_high == (2, 2, 3)


def test_one_block_and_one_strategy():
    s = rank_values([0.0, 1.0], np.zeros((2, 2)), 1)
    assert s.in_best_set == (True, True)
    assert s.differences[0][1].low < -1 < 1 < s.differences[0][1].high
    alone = rank_values([0.3], [[1e-4]], 50)
    assert alone.order == (0,)
    assert alone.rank_low == alone.rank_high == (1,)
    assert alone.groups == ((0,),)
    assert alone.variance_ratio == ((1.0,),)


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 6), st.integers(0, 2**32 - 1))
def test_what_is_said_never_contradicts_the_differences(size, seed):
    rng = np.random.default_rng(seed)
    root = rng.normal(size=(size, size)) * 0.3
    s = rank_values(rng.normal(size=size), root @ root.T, 300, draws=400)
    sure = [[s.differences[i][j].low > 0 for j in range(size)] for i in range(size)]
    assert s.in_best_set[s.order[0]]
    for i in range(size):
        assert s.in_best_set[i] == (s.rank_low[i] == 1)
        assert s.rank_low[i] <= s.order.index(i) + 1 <= s.rank_high[i]
    for group in s.groups:
        assert not any(sure[i][j] for i in group for j in group)
    assert {i for group in s.groups for i in group} == set(range(size))
    for group, other in permutations(s.groups, 2):
        assert not set(group) <= set(other)


# --- payoffs ------------------------------------------------------------------------------------------------------


def test_payoffs_of_mirrored_entries_cost_nothing_and_the_diagonal_is_exact():
    # one pair: its two entries are one number, so that the interval is that of a single estimate
    cov = np.zeros((4, 4))
    cov[1:3, 1:3] = np.array([[1, -1], [-1, 1]]) * 1e-4
    p = payoffs([[0.0, 0.05], [-0.05, 0.0]], cov, 1_000, scale=0.0)
    assert p[0][0] == Estimate(0.0, 0.0, 0.0, 0.0)
    assert p[0][1].high - 0.05 == pytest.approx(1.9623 * 0.01, rel=0.02)
    assert p[1][0].low == pytest.approx(-p[0][1].high)


def test_payoffs_hold_together():
    p = payoffs(np.zeros((3, 3)), np.eye(9) * 1e-4, 10**6, scale=0.0)
    # six independent entries: Šidák's value 2.631 for 1.960
    assert p[2][1].high == pytest.approx(0.02631, rel=0.01)


# --- cycles -------------------------------------------------------------------------------------------------------


def test_a_cycle_of_three():
    assert cycles(table(3, [(0, 1), (1, 2), (2, 0)])) == ((0, 1, 2),)
    assert cycles(table(3, [(1, 0), (2, 1), (0, 2)])) == ((0, 2, 1),)


def test_an_edge_that_does_not_clear_its_interval_makes_no_cycle():
    d = table(3, [(0, 1), (1, 2)])
    d[2][0], d[0][2] = Estimate(0.4, 0.2, 0.0, 0.8), Estimate(-0.4, 0.2, -0.8, 0.0)
    assert cycles(d) == ()


def test_a_longer_cycle_only_where_no_edge_shortens_it():
    ring = [(0, 1), (1, 2), (2, 3), (3, 0)]
    assert cycles(table(4, ring)) == ((0, 1, 2, 3),)
    assert cycles(table(4, [*ring, (2, 0)])) == ((0, 1, 2),)
    assert cycles(table(4, [*ring, (0, 2)])) == ((0, 2, 3),)


def test_what_is_no_table_of_differences_is_refused():
    with pytest.raises(ValueError, match="not differences: 0 is surely better than 1, and 1 than 0"):
        cycles([[clear(0.0), clear(1.0)], [clear(1.0), clear(0.0)]])


@settings(max_examples=60, deadline=None)
@given(st.integers(3, 6), st.integers(0, 2**32 - 1))
def test_cycles_against_all_permutations(size, seed):
    rng = np.random.default_rng(seed)
    edges = {(i, j) if rng.random() < 0.5 else (j, i) for i in range(size) for j in range(i) if rng.random() < 0.7}
    expected = set()
    for length in range(3, size + 1):
        for p in permutations(range(size), length):
            ring = {(p[k - 1], p[k]) for k in range(length)}
            inside = {(i, j) for i, j in edges if i in p and j in p}
            if p[0] == min(p) and ring == inside:
                expected.add(p)
    assert set(cycles(table(size, edges))) == expected
