"""Estimates and intervals: hand-worked values, scipy as oracle, and calibration by simulation.

A calibration test simulates with a fixed seed and asserts a count of successes. Its bar is the 0.1 % point of the
binomial count that an exactly calibrated method would give: that is the false-alarm rate, should the seed change.
"""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from reports.intervals import (
    Estimate,
    chi_square,
    holm,
    interval_mean,
    interval_share,
    max_t,
    rank,
    ratio_moments,
    simultaneous,
    spread,
    variance_ratio,
)


def fewest(reps: int, level: float = 0.95) -> int:
    """Successes out of reps that a method with this true level falls short of once in 1,000 times."""
    return int(stats.binom.ppf(0.001, reps, level))


def block_sums(x, h):
    """Sums that the engine would hand over: x (B, K, n) wins or values, h (B, K) hands."""
    blocks = len(x)
    flat = x.reshape(blocks, -1).astype(np.int64)
    h = h.astype(np.int64)
    return x.sum(axis=0), h.sum(axis=0), flat.T @ flat, flat.T @ h, h.T @ h, blocks


def one_hand_covariance(shares, blocks, pairing=0.0):
    """Covariance (K·n, K·n) of win shares (K, n) from blocks of one hand; pairing: correlation of scenarios."""
    scenarios, n = shares.shape
    roots = [np.linalg.cholesky(np.diag(p) - np.outer(p, p) + 1e-12 * np.eye(n)) for p in shares]
    covariance = np.zeros((scenarios * n, scenarios * n))
    for k in range(scenarios):
        for j in range(scenarios):
            part = roots[k] @ roots[j].T / blocks * (1.0 if k == j else pairing)
            covariance[k * n : (k + 1) * n, j * n : (j + 1) * n] = part
    return covariance


def profile(n, size):
    """Win shares that fall evenly from the first position to the last, `size` apart."""
    return 1.0 / n + np.linspace(size / 2, -size / 2, n)


# --- estimates ----------------------------------------------------------------------------------------------------


def test_estimate_is_the_json_contract():
    assert Estimate(0.5, 0.1, 0.3, 0.7).as_dict() == {"value": 0.5, "se": 0.1, "low": 0.3, "high": 0.7}


@pytest.mark.parametrize("numbers", [(math.nan, 0, 0, 1), (0, 0, 0, math.inf), (0, 0, 1, 0), (0, -1, 0, 1)])
def test_estimate_refuses_what_is_no_interval(numbers):
    with pytest.raises(ValueError, match="not an estimate"):
        Estimate(*numbers)


# --- ratio_moments ------------------------------------------------------------------------------------------------


def test_ratio_of_two_blocks_by_hand():
    # x = 1, 3 in h = 1, 2 hands: theta = 4/3, residuals -1/3 and 1/3, covariance 2/1 · 2/9 / 9
    theta, covariance = ratio_moments([4], [3], [[10]], [[7]], [[5]], 2)
    assert theta == [4 / 3]
    assert covariance == [[pytest.approx(4 / 81, rel=1e-15)]]


def test_constant_hands_give_the_covariance_of_a_mean_of_blocks():
    rng = np.random.default_rng(1)
    x = rng.integers(0, 9, (50, 3, 2))
    theta, covariance = ratio_moments(*block_sums(x, np.full((50, 3), 4)))
    assert theta == pytest.approx(x.mean(axis=0).ravel() / 4)
    assert covariance == pytest.approx(np.cov(x.reshape(50, 6).T) / 50 / 16)


def test_random_hands_equal_the_plain_formula():
    rng = np.random.default_rng(2)
    h = rng.integers(1, 9, (40, 2))
    x = rng.integers(0, 5, (40, 2, 3)) * h[:, :, None]
    theta, covariance = ratio_moments(*block_sums(x, h))
    u = (x - theta.reshape(2, 3) * h[:, :, None]) / h.sum(axis=0)[:, None]
    assert covariance == pytest.approx(40 / 39 * u.reshape(40, 6).T @ u.reshape(40, 6))


def test_no_digit_is_lost_at_a_thousand_million_hands():
    # 5,000 turns in every hand but one, which took 4,999: the covariance is exactly 1/B²
    blocks = 10**9
    total, squares = 5_000 * blocks - 1, 5_000**2 * (blocks - 1) + 4_999**2
    theta, covariance = ratio_moments([total], [blocks], [[squares]], [[total]], [[blocks]], blocks)
    assert theta == [float(Fraction(total, blocks))]
    assert covariance == [[pytest.approx(1e-18, rel=1e-15)]]
    # in floats the sign itself is a matter of luck
    assert abs(squares / blocks - (total / blocks) ** 2 - 1e-9) > 1e-10


def test_one_block_and_no_hands_are_zero_not_nan():
    theta, covariance = ratio_moments([3, 0], [4, 0], [[9, 0], [0, 0]], [[12, 0], [0, 0]], [[16, 0], [0, 0]], 1)
    assert theta.tolist() == [0.75, 0.0]
    assert not covariance.any()


def test_sums_are_integers():
    with pytest.raises(TypeError, match="integers"):
        ratio_moments([1.5], [3], [[1]], [[1]], [[1]], 2)
    with pytest.raises(ValueError, match="3 sums do not divide among 2"):
        ratio_moments([1, 2, 3], [1, 1], np.ones((3, 3), int), np.ones((3, 2), int), np.ones((2, 2), int), 2)


def test_ratio_covariance_is_calibrated_for_matches_of_random_length():
    # 400 reps, B = 200 matches of 1 to 9 hands, longer ones richer: false alarm 0.1 %
    rng = np.random.default_rng(3)
    inside = 0
    truth = sum(h * (2 + h / 10) for h in range(1, 10)) / sum(range(1, 10))
    for _ in range(400):
        h = rng.integers(1, 10, (200, 1))
        x = rng.poisson(h * (2 + h / 10))[:, :, None]
        theta, covariance = ratio_moments(*block_sums(x, h))
        e = interval_mean(theta[0], math.sqrt(covariance[0, 0]), 200)
        inside += e.low <= truth <= e.high
    assert inside >= fewest(400)


# --- single intervals ---------------------------------------------------------------------------------------------


def test_mean_uses_t():
    e = interval_mean(10.0, 1.0, 5)
    assert (e.low, e.high) == (pytest.approx(10 - 2.776445), pytest.approx(10 + 2.776445))


def test_one_block_covers_any_normal_mean():
    # |x - mu| <= k |x| for x normal(mu, 1): x outside (mu/(1+k), -mu/(k-1)); exact, no sampling
    k = interval_mean(1.0, 0.0, 1).high - 1.0
    assert k == pytest.approx(9.68, abs=0.005)
    mu = np.linspace(0.01, 10, 2_000)
    missed = stats.norm.cdf(mu / (1 + k) - mu) - stats.norm.cdf(-mu / (k - 1) - mu)
    assert 0.049 < missed.max() < 0.0505


@pytest.mark.parametrize("k", [0, 1, 17, 50, 99, 100])
def test_share_is_wilsons_interval_with_t(k):
    p = k / 100
    e = interval_share(p, math.sqrt(p * (1 - p) / 100), 100, 100)
    as_z = 2 * stats.norm.cdf(stats.t.ppf(0.975, 99)) - 1
    oracle = stats.binomtest(k, 100).proportion_ci(as_z, method="wilson")
    assert (e.low, e.high) == (pytest.approx(oracle.low, abs=1e-12), pytest.approx(oracle.high))


def test_share_takes_the_design_effect_of_blocks():
    # twice the standard error: a quarter of the hands
    whole = interval_share(0.3, 2 * math.sqrt(0.21 / 4_000_000), 4_000_000, 1_000_000)
    quarter = interval_share(0.3, math.sqrt(0.21 / 1_000_000), 1_000_000, 1_000_000)
    assert (whole.low, whole.high) == (pytest.approx(quarter.low), pytest.approx(quarter.high))
    # and below 1: seat rotation
    half = interval_share(0.3, math.sqrt(0.21 / 4_000_000 / 2), 4_000_000, 1_000_000)
    assert half.high - half.low == pytest.approx(2 * 1.96 * math.sqrt(0.21 / 8_000_000), rel=1e-4)


def test_share_never_has_width_zero():
    none, every = interval_share(0.0, 0.0, 4_000, 1_000), interval_share(1.0, 0.0, 4_000, 1_000)
    assert none.low == 0.0
    assert none.high == pytest.approx(3.84 / 1_004, rel=0.01)  # four standard units over B: blocks, not hands
    assert (every.low, every.high) == (pytest.approx(1 - none.high), 1.0)
    even = interval_share(0.5, 0.0, 4_000, 1_000)  # every block split its hands evenly
    assert even.high - even.low == pytest.approx(2 * 1.96 / 1_000, rel=0.01)
    assert interval_share(0.0, 0.0, 0, 0) == Estimate(0.0, 0.0, 0.0, 1.0)
    one = interval_share(1.0, 0.0, 1, 1)
    assert (one.low, one.high) == (pytest.approx(1 / (1 + 1.96**2), rel=1e-3), 1.0)


@pytest.mark.parametrize("p", [0.004, 0.05, 0.5])
def test_share_is_calibrated_on_dependent_hands(p):
    # blocks of 4 hands that go together three times in four; 1,000 reps, B = 500: false alarm 0.1 % at 94 %
    # (Wilson's coverage for two expected successes waves between 93.5 and 98 %)
    rng = np.random.default_rng(4)
    alone = rng.random((1_000, 500, 4)) < p
    together = np.where(rng.random((1_000, 500, 1)) < 0.75, rng.random((1_000, 500, 1)) < p, alone).sum(axis=2)
    share, se = together.mean(axis=1) / 4, together.std(axis=1, ddof=1) / math.sqrt(500) / 4
    found = [interval_share(float(v), float(s), 2_000, 500) for v, s in zip(share, se, strict=True)]
    assert sum(e.low <= p <= e.high for e in found) >= fewest(1_000, 0.94)


@given(
    value=st.floats(0, 1),
    se=st.floats(0, 1),
    hands=st.integers(0, 10**9),
    blocks=st.integers(0, 10**9),
    level=st.sampled_from([0.5, 0.95, 0.999]),
)
def test_share_is_always_finite_and_inside_0_to_1(value, se, hands, blocks, level):
    e = interval_share(value, se, hands, blocks, level)
    assert 0.0 <= e.low <= value <= e.high <= 1.0
    assert e.low < e.high


@given(value=st.floats(-1e12, 1e12), se=st.floats(0, 1e12), blocks=st.integers(0, 10**9))
def test_mean_is_always_finite(value, se, blocks):
    e = interval_mean(value, se, blocks)
    assert e.low <= value <= e.high


@pytest.mark.parametrize(
    ("first", "second", "between", "ratio"),
    [(1, 1, 0, 1), (1, 1, 0.75, 0.25), (2, 2, 2, 0), (0, 0, 0, 1), (1, 1, -1, 2)],
)
def test_variance_ratio(first, second, between, ratio):
    assert variance_ratio(first, second, between) == ratio


# --- several at once ----------------------------------------------------------------------------------------------


def test_max_t_of_one_contrast_is_students_t():
    assert max_t([[4.0]], 11) == pytest.approx(2.228139)
    assert max_t(np.full((3, 3), 0.5), 11) == pytest.approx(2.228139, abs=0.04)  # three times the same
    assert max_t(np.diag([4.0, 0.0, 0.0]), 11) == pytest.approx(2.228139)  # nothing to allow for
    assert max_t(np.zeros((2, 2)), 11) == pytest.approx(2.228139)


def test_max_t_of_independent_contrasts_is_sidaks():
    # 20,000 draws: the quantile's own error is 0.013 (one standard error), 4 allowed
    exact = stats.norm.ppf((1 + 0.95 ** (1 / 10)) / 2)
    assert max_t(np.eye(10), 10**6) == pytest.approx(exact, abs=0.052)


@pytest.mark.parametrize(("k", "blocks"), [(3, 21), (5, 10**6)])
def test_max_t_of_all_pairs_is_tukeys(k, blocks):
    # the quantile's own error is below 0.02 (one standard error), 4 allowed; the pairs' covariance is singular
    pairs = np.array([np.eye(k)[i] - np.eye(k)[j] for i in range(k) for j in range(i)])
    exact = stats.studentized_range.ppf(0.95, k, min(blocks - 1, 10_000)) / math.sqrt(2)
    assert max_t(pairs @ pairs.T, blocks) == pytest.approx(exact, abs=0.08)


def test_max_t_needs_two_blocks():
    with pytest.raises(ValueError, match="at least 2 blocks, got 1"):
        max_t(np.eye(2), 1)


def test_simultaneous_intervals_hold_together():
    # 1,000 reps of 6 correlated estimates: false alarm 0.1 %; single intervals would hold together 80 % of the time
    covariance = 0.5 * np.eye(6) + 0.5
    errors = np.random.default_rng(5).multivariate_normal(np.zeros(6), covariance, 1_000)
    high = simultaneous(np.zeros(6), covariance, 10**6)[0].high
    held = int((np.abs(errors) <= high).all(axis=1).sum())
    assert fewest(1_000) <= held <= 1_000 - fewest(1_000, 0.05)


def test_simultaneous_with_one_block_is_finite():
    assert simultaneous([2.0, 0.0], np.zeros((2, 2)), 1)[0].low == pytest.approx(2 - 2 * 9.68 * 2, rel=1e-3)


# --- spread -------------------------------------------------------------------------------------------------------


def test_spread_of_a_clear_case_is_the_gap_and_its_t_interval():
    p = np.array([0.30, 0.26, 0.24, 0.20])
    s = spread(p, one_hand_covariance(p[None], 100_000), 100_000)
    se = math.sqrt((0.30 + 0.20 - 0.10**2) / 100_000)
    assert (s.plain, s.best_position, s.worst_position) == (pytest.approx(0.10), 1, 4)
    assert s.se == pytest.approx(se, rel=1e-3)
    # a tenth of the error goes into telling that positions 1 and 4 are first and last: 2.005 instead of 1.960
    assert s.high - s.plain == pytest.approx(stats.norm.ppf(1 - 0.0225) * se, rel=1e-3)
    assert s.plain - s.low == pytest.approx(stats.norm.ppf(1 - 0.0225) * se, rel=0.02)
    assert s.value == pytest.approx(0.10, abs=0.05 * se)
    assert s.estimate == Estimate(s.value, s.se, s.low, s.high)


@pytest.mark.parametrize(
    ("n", "expected"),
    [(2, 2 / math.sqrt(math.pi) / math.sqrt(20_000)), (4, 2.058751 / math.sqrt(40_000))],  # d_2, d_4: Tippett's table
)
def test_null_spread_by_hand(n, expected):
    fair = np.full(n, 1 / n)
    assert spread(fair, one_hand_covariance(fair[None], 10_000), 10_000).null == pytest.approx(expected, rel=1e-5)


def test_correction_takes_most_of_the_bias_of_a_maximum():
    # 300 reps, four equally good positions; one standard error of either mean is about 0.04 of a gap's se
    fair = np.full(4, 0.25)
    covariance = one_hand_covariance(fair[None], 10_000)
    drawn = np.random.default_rng(6).multivariate_normal(fair, covariance, 300, method="eigh")
    found = [spread(p, covariance, 10_000) for p in drawn]
    plain, value = np.mean([s.plain for s in found]), np.mean([s.value for s in found])
    assert plain == pytest.approx(found[0].null, rel=0.1)
    assert value < plain / 2
    assert all(0.0 <= s.value <= s.plain for s in found)
    # what no better than fairness shows is corrected to nothing
    assert all(s.value == 0.0 for s in found if s.plain < 0.95 * s.null)


def test_spread_is_wide_where_data_show_no_variation():
    # position 1 won all 100 blocks; the chance of that is 5 % when it wins 97 %, a spread of 0.94
    s = spread([1.0, 0.0], np.zeros((2, 2)), 100)
    assert s.high == 1.0
    assert 0.94 < s.low < 0.98
    one = spread([1.0, 0.0], np.zeros((2, 2)), 1)
    assert (one.low, one.high) == (0.0, 1.0)


# --- rank ---------------------------------------------------------------------------------------------------------


def test_rank_of_clearly_different_rules():
    shares = np.array([profile(4, size) for size in (0.10, 0.02, 0.06)])
    r = rank(shares, one_hand_covariance(shares, 10**6, 0.5), 10**6)
    assert r.order == (1, 2, 0)
    assert r.in_best_set == (False, True, False)
    assert r.rank_low == r.rank_high == (3, 1, 2)
    assert r.differences[0][1].value == pytest.approx(0.08, abs=1e-4)
    assert r.differences[1][0].low == -r.differences[0][1].high
    assert r.differences[2][2] == Estimate(0.0, 0.0, 0.0, 0.0)
    assert r.variance_ratio[0][1] == pytest.approx(0.5, abs=0.01)
    # the differences are Tukey's for three, but for the tenth spent on selection and Bonferroni's rounding up
    d = r.differences[0][1]
    tukey = stats.studentized_range.ppf(0.95, 3, 10_000) / math.sqrt(2)
    assert 1.0 < (d.high - d.low) / 2 / d.se / tukey < 1.04


def test_rules_that_never_differed_are_tied_to_within_a_few_blocks():
    shares = np.array([profile(4, 0.05)] * 2)
    r = rank(shares, one_hand_covariance(shares, 10_000, 1.0), 10_000)
    assert r.in_best_set == (True, True)
    assert (r.rank_low, r.rank_high) == ((1, 1), (2, 2))
    assert 3 / 10_000 < r.differences[0][1].high < 6 / 10_000  # 3/B: what B blocks without an event exclude
    assert r.spreads[0].high - r.spreads[0].low > 0.02  # though each spread is known much less well
    assert r.variance_ratio[0][1] < 0.001


def test_rank_is_the_same_every_time():
    shares = np.array([profile(3, 0.01), profile(3, 0.02)])
    covariance = one_hand_covariance(shares, 5_000, 0.5)
    assert rank(shares, covariance, 5_000) == rank(shares, covariance, 5_000)


def test_rank_with_one_block_knows_nothing():
    r = rank([[1.0, 0.0], [0.5, 0.5]], np.zeros((4, 4)), 1)
    assert (r.in_best_set, r.rank_low, r.rank_high) == ((True, True), (1, 1), (2, 2))
    assert (r.differences[0][1].low, r.differences[0][1].high) == (-1.0, 1.0)


def test_rank_needs_two_positions():
    with pytest.raises(ValueError, match="at least two positions"):
        rank([[1.0]], [[0.0]], 10)


CASES = {
    "fair": (4, [0.0], 0.0),
    "two players, both fair": (2, [0.0, 0.0], 0.5),
    "two players, nearly fair": (2, [0.005, 0.015], 0.5),
    "two players, six rules": (2, [0.0, 0.0, 0.0, 0.01, 0.03, 0.03], 0.5),
    "all fair": (4, [0.0] * 4, 0.5),
    "fair against unfair": (4, [0.0, 0.05], 0.0),
    "two fair, others not": (4, [0.0, 0.0, 0.02, 0.05, 0.06], 0.5),
    "equally unfair": (4, [0.05] * 5, 0.5),
    "close ties between positions": (4, [0.02, 0.02, 0.025], 0.9),
    "twelve alike": (3, [0.06] * 12, 0.5),
    "twelve steps": (3, [0.01 * k for k in range(12)], 0.5),
}


@pytest.mark.parametrize("name", CASES)
def test_rank_is_calibrated(name):
    # 200 reps of B = 10,000 (one standard error of a gap is 0.7 points for n = 4). Four counts of 200, each with a
    # false alarm of 0.1 % or less: all spreads covered, all differences covered, all truly fairest in the
    # best set, all true ranks in their intervals
    n, sizes, pairing = CASES[name]
    shares = np.array([profile(n, size) for size in sizes])
    if name == "close ties between positions":
        shares = 0.25 + np.outer(sizes, [0.5, 0.5, -0.5, -0.5])
    covariance = one_hand_covariance(shares, 10_000, pairing)
    rng = np.random.default_rng(7)
    noise = rng.multivariate_normal(np.zeros(shares.size), covariance, 200, method="eigh")
    truth = np.ptp(shares, axis=1)
    between, fairest = truth[:, None] - truth, truth <= truth.min() + 1e-12
    spreads = differences = best = ranks = 0
    for error in noise:
        r = rank(shares + error.reshape(shares.shape), covariance, 10_000, draws=2_000)
        spreads += all(s.low - 1e-12 <= t <= s.high + 1e-12 for s, t in zip(r.spreads, truth, strict=True))
        low = np.array([[d.low for d in row] for row in r.differences])
        differences += bool((low <= between + 1e-12).all())  # upper bounds are lower bounds the other way round
        best += bool(np.array(r.in_best_set)[fairest].all())
        fairer, less_fair = (between > 1e-12).sum(axis=1), (between < -1e-12).sum(axis=1)
        ranks += bool((r.rank_low <= 1 + fairer).all() and (r.rank_high >= len(sizes) - less_fair).all())
    assert min(spreads, differences, best, ranks) >= fewest(200)


@pytest.mark.parametrize(("blocks", "hands"), [(40, 1), (400, 3)])
def test_rank_is_calibrated_from_hands_to_answer(blocks, hands):
    # 200 reps from simulated wins, two rules on common deals, few blocks: false alarm 0.1 % a count
    shares = np.array([[0.5, 0.3, 0.2], [1 / 3, 1 / 3, 1 / 3]])
    rng = np.random.default_rng(8)
    spreads = differences = 0
    for _ in range(200):
        luck = rng.random((blocks, hands))[:, :, None] + np.array([0.0, 0.1])  # the same deal, a little shifted
        winner = (luck % 1.0)[..., None] > np.cumsum(shares, axis=1)[:, :2]
        x = (winner.sum(axis=3)[..., None] == np.arange(3)).sum(axis=1)
        theta, covariance = ratio_moments(*block_sums(x, np.full((blocks, 2), hands)))
        r = rank(theta.reshape(2, 3), covariance, blocks, draws=2_000)
        spreads += r.spreads[0].low <= 0.3 <= r.spreads[0].high and r.spreads[1].low == 0.0
        differences += r.differences[0][1].low <= 0.3 <= r.differences[0][1].high
    assert min(spreads, differences) >= fewest(200)


def test_a_sure_difference_is_found():
    # not only valid but of use: 4.0 and 7.0 points, paired, told apart from 10,000 hands in most of 100 reps
    # (4.1 standard errors apart; power 95 % for Tukey's bound, at least 90 % asked, false alarm 1 %)
    shares = np.array([profile(4, 0.04), profile(4, 0.07)])
    covariance = one_hand_covariance(shares, 10_000, 0.5)
    noise = np.random.default_rng(9).multivariate_normal(np.zeros(8), covariance, 100, method="eigh")
    found = [rank(shares + e.reshape(2, 4), covariance, 10_000, draws=2_000) for e in noise]
    assert sum(r.in_best_set == (True, False) for r in found) >= 83


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_ranking_of_any_blocks_is_finite_and_consistent(data):
    scenarios, n = data.draw(st.integers(1, 3)), data.draw(st.integers(2, 4))
    blocks, hands = data.draw(st.integers(1, 12)), data.draw(st.integers(1, 3))
    size = blocks * scenarios * hands
    # n stands for a hand without a winner
    winners = data.draw(st.lists(st.integers(0, n), min_size=size, max_size=size))
    x = (np.reshape(winners, (blocks, scenarios, hands, 1)) == np.arange(n)).sum(axis=2)
    sums = block_sums(x, np.full((blocks, scenarios), hands))
    theta, covariance = ratio_moments(*sums)
    r = rank(theta.reshape(scenarios, n), covariance, blocks, draws=100)
    for s in r.spreads:
        assert 0.0 <= s.low <= s.plain + 1e-12
        assert s.plain <= s.high + 1e-12
        assert s.low <= s.value <= s.high <= 1.0
        assert 0.0 <= s.null <= 1.0
    for row in r.differences:
        assert all(-1.0 <= d.low <= d.value <= d.high <= 1.0 for d in row)  # finite, or Estimate had refused
    assert any(r.in_best_set)
    assert all(
        1 <= low <= high <= scenarios and (low == 1) == kept
        for low, high, kept in zip(r.rank_low, r.rank_high, r.in_best_set, strict=True)
    )
    for k in range(scenarios):
        own = covariance[k * n : (k + 1) * n, k * n : (k + 1) * n]
        test = chi_square(sums[0][k], blocks * hands, own, blocks)
        assert 0.0 <= test.p_value <= 1.0
        assert 0.0 <= test.cramers_v <= 1.0


# --- tests --------------------------------------------------------------------------------------------------------


def test_holm_by_hand():
    assert holm([0.01, 0.04, 0.03, 0.005]).tolist() == pytest.approx([0.03, 0.06, 0.06, 0.02])
    assert holm([0.9, 0.8]).tolist() == [1.0, 1.0]
    assert holm([]).tolist() == []
    with pytest.raises(ValueError, match="between 0 and 1"):
        holm([0.5, math.nan])


def test_chi_square_of_single_hands_is_pearsons():
    wins = np.array([290, 260, 240, 210])
    test, oracle = chi_square(wins, 1_000, np.zeros((4, 4)), 1_000), stats.chisquare(wins)
    assert (test.statistic, test.df, test.p_value) == (
        pytest.approx(oracle.statistic),
        3.0,
        pytest.approx(oracle.pvalue),
    )


def test_cramers_v_by_hand():
    # 30 against 10: X² = 10, V² = 10/40 less 1/40 that chance adds
    assert chi_square([30, 10], 40, np.zeros((2, 2)), 40).cramers_v == pytest.approx(math.sqrt(0.225))
    assert chi_square([40, 0], 40, np.zeros((2, 2)), 40).cramers_v == pytest.approx(math.sqrt(1 - 1 / 40))
    assert chi_square([20, 20], 40, np.zeros((2, 2)), 40).cramers_v == 0.0
    assert chi_square([0, 0], 40, np.zeros((2, 2)), 40).p_value == 1.0


def test_chi_square_counts_a_single_block_as_one_hand():
    assert chi_square([8, 0], 8, np.zeros((2, 2)), 1).p_value == pytest.approx(stats.chi2.sf(1, 1))


@pytest.mark.parametrize("together", [0.0, 0.5, 1.0])
def test_chi_square_is_calibrated_on_dependent_hands(together):
    # 1,500 reps, fair, B = 200 blocks of 4 hands; with chance `together` one of positions 1 and 2 wins all four, else
    # each position wins one (a design effect below 1 and uneven); rejections at 5 % between the 0.1 % points.
    # Pearson's own test rejects 0 % or 70 %
    rng = np.random.default_rng(10)
    rejected = 0
    for _ in range(1_500):
        block = rng.random(200) < together
        free = rng.multinomial(4, np.full(4, 0.25), 200) if together < 1.0 else np.zeros((200, 4), int)
        x = np.where(block[:, None], 4 * np.eye(4, dtype=int)[rng.integers(0, 4, 200)], free)
        mean, covariance = x.mean(axis=0) / 4, np.cov(x.T) / 200 / 16
        rejected += chi_square(np.rint(mean * 800), 800, covariance, 200).p_value <= 0.05
    assert 1_500 - fewest(1_500) >= rejected >= fewest(1_500, 0.05)
