"""Luck or skill: curves and repetitions worked by hand, and the split of a variance against full enumeration."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats
from variance_parts import groups_of, model

from reports.intervals import Estimate
from reports.skill import (
    CHANCES,
    PARTS,
    BlockSums,
    SkillError,
    _components,
    ahead_after,
    critical_repetition,
    edge,
    hands_needed,
    played_out,
    split,
)

# --- the better of two --------------------------------------------------------------------------------------------


def test_the_edge_is_a_mean_in_standard_deviations():
    e = edge(0.02, 0.001, 0.25, 10_000)
    assert e.value == pytest.approx(0.04)
    assert e.se == pytest.approx(math.hypot(0.002, 0.04 / math.sqrt(20_000)))
    assert edge(-0.02, 0.001, 0.25, 10_000).value == -e.value


def test_an_edge_without_variation():
    same = edge(0.0, 0.0, 0.0, 10_000)
    assert (same.value, same.high) == (0.0, pytest.approx(0.0196, rel=0.01))
    always = edge(0.25, 0.0, 0.0, 10_000)
    assert always.low > 50
    with pytest.raises(SkillError, match="blocks: 1; an edge needs at least 2"):
        edge(0.1, 0.1, 1.0, 1)


def test_the_curve_by_hand():
    curve = ahead_after(Estimate(0.1, 0.01, 0.08, 0.12), [1, 100])
    assert curve[0].value == pytest.approx(stats.norm.cdf(0.1))
    assert (curve[1].low, curve[1].value, curve[1].high) == pytest.approx(tuple(stats.norm.cdf([0.8, 1.0, 1.2])))
    assert curve[1].se == pytest.approx(10 * 0.01 * stats.norm.pdf(1.0))


def test_who_is_better_need_not_be_known():
    first, second = Estimate(0.1, 0.01, 0.08, 0.12), Estimate(-0.1, 0.01, -0.12, -0.08)
    assert ahead_after(first, [50]) == ahead_after(second, [50])
    unsure = ahead_after(Estimate(-0.01, 0.01, -0.03, 0.01), [400])[0]
    assert (unsure.low, unsure.high) == (0.5, pytest.approx(stats.norm.cdf(20 * 0.03)))


def test_hands_needed_are_whole_and_rounded_up():
    needed = hands_needed(Estimate(0.1, 0.01, 0.08, 0.12), 0.95)
    assert needed.hands == math.ceil((1.6448536 / 0.1) ** 2) == 271
    assert (needed.low, needed.high) == (188, 423)
    assert needed.in_words() == "271 (188 to 423)"
    # the curve reaches the chance there and not a hand before
    before, there = (e.value for e in ahead_after(Estimate(0.1, 0.01, 0.08, 0.12), [270, 271]))
    assert before < 0.95 <= there
    more = [hands_needed(Estimate(0.1, 0.01, 0.08, 0.12), c).hands for c in CHANCES]
    assert more == sorted(more)


def test_hands_needed_are_capped_where_nobody_is_surely_better():
    needed = hands_needed(Estimate(0.01, 0.01, -0.01, 0.03), 0.95)
    assert needed.hands is needed.high is None
    assert needed.in_words() == "more than 3,006"
    with pytest.raises(SkillError, match=r"chance 0\.5: "):
        hands_needed(Estimate(0.1, 0.01, 0.08, 0.12), 0.5)


def test_critical_repetition_is_variance_by_mean_squared():
    # a hand is worth 2 points on average, with a standard deviation of 30
    crf = critical_repetition(edge(2.0, 0.1, 900.0, 100_000))
    assert crf.hands == 225
    assert crf.low < 225 < crf.high


def test_series_are_played_out_end_to_end():
    scores = [1, -2, 3, 1, -1, 1, 0, 9]
    one, two, all_but_none = played_out(scores, 4, [4, 8, 32])
    assert one.value == pytest.approx((5 + 0.5) / 8)  # five ahead, one level
    assert two.value == pytest.approx((2 + 0.5) / 4)  # -1, 4, 0, 9
    assert all_but_none.value == 1.0
    assert all_but_none.low < 0.3
    # whoever it is that leads
    assert played_out([-x for x in scores], 4, [4])[0] == one


def test_series_that_no_blocks_make_are_refused():
    for number in (0, 6, 40):
        with pytest.raises(SkillError, match=f"series of {number} hands: allowed are multiples of 4 from 4 to 32"):
            played_out([1] * 8, 4, [number])


# --- what a result depends on -------------------------------------------------------------------------------------


def moments(table):
    """The PARTS and the whole of results (deals, arrangements, positions, luck), all evenly likely, by definition."""
    mean = table.mean

    def square(*known):
        return (mean(axis=tuple(set(range(4)) - set(known))) ** 2).mean()

    nothing, position, who, deal = square(), square(2), square(1, 2), square(0, 2)
    both, everything = square(0, 1, 2), square(0, 1, 2, 3)
    parts = [who - position, position - nothing, deal - position, both - deal - who + position, everything - both]
    return np.array([*parts, everything - nothing])


@pytest.mark.parametrize("shared", [True, False])
def test_the_split_is_unbiased_by_full_enumeration(shared):
    # 2 deals, 2 arrangements, 2 positions, 2 lucks; 2 blocks of 2 replays; luck per replay, or per hand
    table = np.random.default_rng(4).integers(0, 10, (2, 2, 2, 2))
    lucks = 2 if shared else 4
    found = []
    for deals in product(range(2), repeat=2):
        for luck in product(range(lucks), repeat=4):
            y = np.empty((2, 2, 2, 2), dtype=np.int64)  # block, arrangement, position, replay
            for b, a, m in product(range(2), repeat=3):
                drawn = luck[2 * b + m]
                y[b, a, :, m] = table[deals[b], a, :, drawn if shared else (drawn >> a) & 1]
            found.append(_components(BlockSums.of(y), np.array([-1]))[0])
    assert np.mean(found, axis=0) == pytest.approx(moments(table), abs=1e-9)


def test_known_parts_are_recovered_and_add_up():
    y, truth = model(np.random.default_rng(5), 4_000)
    total, parts = split(groups_of(y, 40))
    assert [p.name for p in parts] == list(PARTS)
    # five parts within twice a 95 % interval: false alarm below 1e-3
    for part, value in zip(parts, truth, strict=True):
        assert abs(part.variance.value - value) < 2 * (part.variance.high - part.variance.value)
        assert not part.clipped
    assert sum(p.variance.value for p in parts) == pytest.approx(total.value)
    assert sum(p.share.value for p in parts) == pytest.approx(1.0)
    assert parts[0].share.value == pytest.approx(truth[0] / sum(truth), rel=0.1)


def test_the_whole_is_the_plain_variance():
    y, _ = model(np.random.default_rng(6), 5_000)
    total, _ = split(groups_of(y, 100))
    assert total.value == pytest.approx(y.var(), rel=1e-3)


def test_the_same_player_everywhere_has_no_skill_and_is_told_where_clipped():
    clipped = 0
    for seed in range(20):
        y, _ = model(np.random.default_rng(seed), 200, skill=0, seat=0, together=0)
        _, parts = split(groups_of(y, 10))
        for part in parts[:2]:
            assert part.variance.value >= 0.0
            assert part.variance.high > 0.0
            assert not part.clipped or part.variance.value == 0.0
            clipped += part.clipped
    # each of 40 falls below 0 with a chance near one half (0.6: skewed): 5 to 38, false alarm below 1e-4
    assert 5 <= clipped <= 38


def test_pure_luck_and_nothing_at_all():
    rng = np.random.default_rng(7)
    wins = (np.arange(4)[:, None] == rng.integers(0, 4, (400, 3, 1, 2))).astype(int)
    total, parts = split(groups_of(wins, 20))
    assert total.value == pytest.approx(3 / 16, rel=1e-2)
    assert parts[4].share.low > 0.9
    _, parts = split(groups_of(np.ones((40, 3, 4, 2), dtype=int), 10))
    assert all((p.share.low, p.share.high) == (0.0, 1.0) for p in parts)


def test_a_split_needs_replays_and_groups():
    y, _ = model(np.random.default_rng(8), 20)
    with pytest.raises(SkillError, match="replays: 1; telling chance in play from the cards needs at least 2"):
        split(groups_of(y[..., :1], 5))
    with pytest.raises(SkillError, match="20 blocks in 1 groups"):
        split(groups_of(y, 20))
    with pytest.raises(TypeError, match="results are integers"):
        BlockSums.of(y / 2)
