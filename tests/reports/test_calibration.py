"""Does what is said to hold 95 % of the time hold 95 % of the time? Every interval and test that is offered, simulated.

Seeds are fixed. A count of successes is compared with the binomial counts of an exact method: it must not fall below
their 0.01 % point, which is the false-alarm rate should a seed change. `fewest` also makes sure that there are enough
repetitions to see through a method at 90 %: it would pass less than once in 50 times. Where a method should be exact,
and not merely safe, it must not hold more often than one at 98 % either.
"""

import numpy as np
import pytest
from scipy import stats
from variance_parts import groups_of, model

from reports.intervals import interval_mean, interval_share, jackknife, simultaneous
from reports.sequential import Decision, Design, decide, estimate_after
from reports.skill import ahead_after, critical_repetition, edge, hands_needed, played_out, split
from reports.standings import cycles, payoffs, rank_values

ALARM = 1e-4
DRAWS = 2_000
"""Draws behind a critical value: enough here, as 20,000 would only add time."""


def fewest(reps, level=0.95, wrong=0.05):
    """Successes that a method at `level` falls short of once in 10,000 times, and one at level - wrong mostly does."""
    bar = int(stats.binom.ppf(ALARM, reps, level))
    assert stats.binom.sf(bar - 1, reps, level - wrong) < 0.02
    return bar


def most(reps, level=0.98):
    return int(stats.binom.ppf(1 - ALARM, reps, level))


def covers(estimate, truth):
    return estimate.low <= truth <= estimate.high


# --- one at a time ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("blocks", [30, 400])
def test_mean(blocks):
    # sums of skewed scores, as points are
    x = np.random.default_rng(1).gamma(4.0, 1.0, (1_500, blocks))
    ses = x.std(axis=1, ddof=1) / np.sqrt(blocks)
    hits = sum(covers(interval_mean(m, se, blocks), 4.0) for m, se in zip(x.mean(axis=1), ses, strict=True))
    assert fewest(1_500) <= hits <= most(1_500)


@pytest.mark.parametrize("p", [0.002, 0.02, 0.3, 0.999])
def test_share_of_independent_hands(p):
    # near the edges Wilson's coverage swings about 95 %; by itself it would be 93 % to 97 % here
    reps, hands = 4_000, 2_000
    share = np.random.default_rng(2).binomial(hands, p, reps) / hands
    ses = np.sqrt(share * (1 - share) / (hands - 1))
    hits = sum(covers(interval_share(v, se, hands, hands), p) for v, se in zip(share, ses, strict=True))
    assert hits >= fewest(reps, 0.93, 0.03)


@pytest.mark.parametrize("p", [0.01, 0.25, 0.98])
def test_share_of_blocks(p):
    # four hands a block that tend to go alike: block chances are spread by a beta distribution
    rng = np.random.default_rng(3)
    reps, blocks = 1_500, 500
    wins = rng.binomial(4, rng.beta(8 * p, 8 * (1 - p), (reps, blocks)))
    ses = wins.std(axis=1, ddof=1) / 4 / np.sqrt(blocks)
    shares = wins.mean(axis=1) / 4
    hits = sum(covers(interval_share(v, se, 4 * blocks, blocks), p) for v, se in zip(shares, ses, strict=True))
    assert hits >= fewest(reps)


def test_jackknife_of_a_ratio():
    rng = np.random.default_rng(4)
    reps, groups = 1_500, 30
    h = rng.integers(5, 50, (reps, groups, 10))
    x = rng.poisson(h * 0.7).sum(axis=2)
    h = h.sum(axis=2)
    without = (x.sum(axis=1, keepdims=True) - x) / (h.sum(axis=1, keepdims=True) - h)
    ses = np.array([np.sqrt(jackknife(w[:, None])[0, 0]) for w in without])
    values = x.sum(axis=1) / h.sum(axis=1)
    hits = sum(covers(interval_mean(v, se, groups), 0.7) for v, se in zip(values, ses, strict=True))
    assert fewest(reps) <= hits <= most(reps)


# --- several at once ----------------------------------------------------------------------------------------------


def test_standings_with_ties():
    # Four strategies, two of them best alike; scores of a block depend on each other, as on common deals.
    rng = np.random.default_rng(5)
    reps, blocks, truth = 1_200, 80, np.array([0.3, 0.3, 0.2, 0.0])
    root = rng.normal(size=(4, 4)) + np.eye(4)
    hits = dict.fromkeys(["values", "differences", "ranks", "best set", "groups"], 0)
    missed_worst = 0
    for _ in range(reps):
        x = truth + rng.standard_normal((blocks, 4)) @ root.T * 0.4
        s = rank_values(x.mean(axis=0), np.cov(x.T) / blocks, blocks, scale=0.0, draws=DRAWS)
        hits["values"] += all(map(covers, s.values, truth))
        pairs = [(i, j) for i in range(4) for j in range(4)]
        hits["differences"] += all(covers(s.differences[i][j], truth[i] - truth[j]) for i, j in pairs)
        # the two best share the ranks 1 and 2, so each interval has to hold both
        ranks = [(1, 2), (1, 2), (3, 3), (4, 4)]
        held = zip(s.rank_low, s.rank_high, ranks, strict=True)
        hits["ranks"] += all(low <= first and last <= high for low, high, (first, last) in held)
        hits["best set"] += s.in_best_set[0] and s.in_best_set[1]
        hits["groups"] += any({0, 1} <= set(group) for group in s.groups) or s.differences[0][1].low <= 0 <= (
            s.differences[0][1].high
        )
        missed_worst += s.in_best_set[3]
    assert fewest(reps) <= hits["values"] <= most(reps)
    assert fewest(reps) <= hits["differences"] <= most(reps)
    for name in ("ranks", "best set", "groups"):
        assert hits[name] >= fewest(reps), name
    assert missed_worst < reps / 2  # a set of all would be right always and say nothing


def test_payoffs_and_cycles():
    # Equal strategies: any cycle that is found is a false one; the six differences are entries and their mirror images.
    rng = np.random.default_rng(6)
    reps, blocks = 1_200, 100
    first, second = np.triu_indices(4, 1)
    mirrored = np.zeros((6, 16))
    mirrored[np.arange(6), first * 4 + second], mirrored[np.arange(6), second * 4 + first] = 1.0, -1.0
    hits = clean = 0
    for _ in range(reps):
        x = rng.standard_normal((blocks, 6)) @ mirrored
        entries = payoffs(x.mean(axis=0).reshape(4, 4), np.cov(x.T) / blocks, blocks, scale=0.0, draws=DRAWS)
        hits += all(covers(e, 0.0) for row in entries for e in row)
        clean += not cycles(entries)
    assert fewest(reps) <= hits <= most(reps)
    assert clean >= fewest(reps)


def test_a_true_cycle_is_found():
    # each beats the next by four standard errors: found with power well above a half
    rng = np.random.default_rng(7)
    truth = np.array([[0, 1, -1], [-1, 0, 1], [1, -1, 0]])
    found = 0
    for _ in range(200):
        d = truth * 0.04 + (noise := np.triu(rng.normal(0, 0.01, (3, 3)), 1)) - noise.T
        cov = np.zeros((9, 9))
        for i, j in [(0, 1), (0, 2), (1, 2)]:
            a, b = 3 * i + j, 3 * j + i
            cov[np.ix_([a, b], [a, b])] = np.array([[1, -1], [-1, 1]]) * 1e-4
        found += cycles(payoffs(d, cov, 10_000, scale=0.0, draws=DRAWS)) == ((0, 1, 2),)
    # P(all three of N(4, 1) above 2.39) = 0.85; false alarm below 1e-4 at 140
    assert found >= 140


def test_simultaneous_of_repeated_and_exact_values():
    # two equal rows and one without variance: exactly as good as the single row
    rng = np.random.default_rng(8)
    cov = np.array([[1, 1, 0], [1, 1, 0], [0, 0, 0.0]])
    hits = 0
    for v in rng.standard_normal(1_500):
        hits += all(covers(e, 0.0) for e in simultaneous([v, v, 0.0], cov, 10_000, draws=DRAWS))
    assert fewest(1_500) <= hits <= most(1_500)


# --- the sequential test ------------------------------------------------------------------------------------------

D, SCORES = 0.05, np.array([-0.5, -0.25, 0.0, 0.25, 0.5])
"""The difference asked about, and the scores that a block of four rotations may have."""
LOOKS = tuple(int(100 * 1.1**k) for k in range(60))


def block_chances(difference):
    """Chances of the scores with this mean, a variance of about 0.0625."""
    base = np.array([0.05, 0.25, 0.4, 0.25, 0.05])
    tilt = base * SCORES
    return base + difference * tilt / (tilt @ SCORES)


def play_tests(difference, reps, seed):
    """Decisions of `reps` tests in which this is the true difference."""
    rng = np.random.default_rng(seed)
    steps = np.diff(LOOKS, prepend=0)
    counts = np.cumsum(rng.multinomial(steps, block_chances(difference), (reps, len(LOOKS))), axis=1)
    blocks = np.array(LOOKS)
    means = counts @ SCORES / blocks
    variances = (counts @ SCORES**2 / blocks - means**2) * blocks / (blocks - 1)
    design = Design(D, LOOKS)
    return [decide(design, m, v) for m, v in zip(means, variances, strict=True)]


def answers(decisions: list[Decision]):
    return {a: sum(d.answer == a for d in decisions) for a in ("better", "worse", "neither", "undecided")}


def test_gsprt_error_rates_and_sample_size():
    reps = 2_000
    allowed = int(stats.binom.ppf(1 - ALARM, reps, 0.05))
    variance = float(block_chances(0.0) @ SCORES**2)
    none, better, worse = (play_tests(x, reps, seed) for seed, x in enumerate((0.0, D, -D)))
    # alpha: no more false claims than 5 %, and not so few that the test is wasteful (2.4 % a side before overshoot)
    false = answers(none)["better"] + answers(none)["worse"]
    assert reps * 0.01 < false <= allowed
    assert answers(none)["undecided"] == 0
    # beta, on both sides alike
    for decisions, right in ((better, "better"), (worse, "worse")):
        assert reps * 0.01 < reps - answers(decisions)[right] <= allowed
    # on average fewer blocks than the test of fixed size with these errors, and no fewer than Wald's approximation
    fixed = (stats.norm.ppf(0.975) + stats.norm.ppf(0.95)) ** 2 * variance / D**2
    low, high = Design(D, LOOKS).bounds
    wald = 2 * (0.95 * high + 0.05 * low) * variance / D**2
    for decisions in (better, worse):
        average = np.mean([d.blocks for d in decisions])
        assert 0.95 * wald < average < 0.75 * fixed
    assert np.mean([d.blocks for d in none]) < fixed


def test_the_indifference_zone_and_beyond():
    # at d/2 either answer is right, about half of the time each; well beyond d there is hardly an error
    half = answers(play_tests(D / 2, 1_000, 10))
    assert 300 < half["better"] < 700
    assert half["worse"] <= 2
    assert answers(play_tests(2 * D, 1_000, 11))["better"] >= 995


def test_blocks_that_run_out_leave_it_undecided():
    design = Design(D / 10, LOOKS[:5])
    assert decide(design, [0.001] * 5, [0.0625] * 5).answer == "undecided"


@pytest.mark.parametrize("part", [0.0, 0.25, 0.75, 1.0, 2.0])
def test_an_estimate_after_a_test_holds(part):
    reps = 1_500
    decisions = play_tests(part * D, reps, 20 + int(4 * part))
    factor = estimate_after(Design(D, LOOKS), decisions[0], draws=DRAWS).factor
    hits = plain = 0
    for d in decisions:
        e = interval_mean(d.mean, np.sqrt(d.variance / d.blocks), d.blocks)
        plain += covers(e, part * D)
        hits += abs(e.value - part * D) <= factor * (e.high - e.value)
    assert hits >= fewest(reps)
    if part in (0.25, 0.75):  # what the widening is for: ordinary intervals hold less often than one at 93 %
        assert plain < reps * 0.93


# --- strengths ----------------------------------------------------------------------------------------------------


def test_strengths():
    pytest.importorskip("choix")
    from reports.strengths import count_orders, strengths

    rng = np.random.default_rng(30)
    theta, reps, blocks = np.array([0.3, 0.0, -0.3]), 400, 120
    hits = chances = 0
    for _ in range(reps):
        # each block is one deal in three rotations whose luck is partly the same, which the jackknife has to notice
        luck = rng.gumbel(size=(blocks, 3))
        who = np.tile([[0, 1, 2], [1, 2, 0], [2, 0, 1]], (blocks, 1))
        again = rng.random((blocks, 3)) < 0.5
        finish = -(
            theta[who.reshape(blocks, 3, 3)]
            + np.where(again[..., None], luck[:, None], rng.gumbel(size=(blocks, 3, 3)))
        )
        orders = count_orders(who, finish.reshape(-1, 3), np.arange(3 * blocks) // 36)
        s = strengths(orders, "abc", draws=1_000)
        hits += all(map(covers, s.values, theta))
        chances += all(covers(s.ahead[i][j], 1 / (1 + np.exp(theta[j] - theta[i]))) for i in range(3) for j in range(3))
    # fits take time: so few repetitions see through a method at 86 %
    assert hits >= fewest(reps, wrong=0.09)
    assert chances >= fewest(reps, wrong=0.09)


# --- skill --------------------------------------------------------------------------------------------------------


def test_the_curve_against_brute_force():
    # The exact chance of being ahead after N hands of 1 block each, by convolution; a lead of 0 counts half.
    chances = block_chances(0.04)
    mean, variance = chances @ SCORES, chances @ SCORES**2 - (chances @ SCORES) ** 2
    exact_edge = edge(mean, np.sqrt(variance / 1e12), variance, 10**12)
    series, exact = np.array([1.0]), {}
    for blocks in range(1, 201):
        series = np.convolve(series, chances)
        middle = 2 * blocks
        exact[blocks] = series[middle + 1 :].sum() + series[middle] / 2
    numbers = [20, 60, 200]
    for e, number in zip(ahead_after(exact_edge, numbers), numbers, strict=True):
        assert e.value == pytest.approx(exact[number], abs=0.003)
    needed = hands_needed(exact_edge, 0.90)
    assert exact[needed.hands - 4] < 0.90 < exact[needed.hands + 4]


def test_curve_hands_needed_and_critical_repetition():
    # blocks of 4 hands with skewed scores, edge 0.1 a hand: mean 0.05 a hand, variance 1 a block
    rng = np.random.default_rng(31)
    reps, blocks, r = 1_500, 600, 4
    x = rng.gamma(4.0, 0.5, (reps, blocks)) - 2.0 + 0.2
    true = ahead_after(edge(0.05, 1e-9, 0.25, 10**12), [50])[0].value
    hits = dict.fromkeys(["curve", "hands", "critical"], 0)
    for scores in x:
        mean, variance = scores.mean(), scores.var(ddof=1)
        e = edge(mean / r, np.sqrt(variance / blocks) / r, variance / r, blocks)
        hits["curve"] += covers(ahead_after(e, [50])[0], true)
        for name, needed, hands in (
            ("hands", hands_needed(e, 0.95), (stats.norm.ppf(0.95) / 0.1) ** 2),
            ("critical", critical_repetition(e), 100.0),
        ):
            hits[name] += needed.low <= np.ceil(hands - 1e-6) <= (needed.high or np.inf)
    for name, count in hits.items():
        assert fewest(reps) <= count <= most(reps), name


def test_the_better_of_two_that_are_alike():
    # nobody is better: the chance is one half, and `more than` is right
    rng = np.random.default_rng(32)
    reps, blocks = 1_500, 400
    hits = open_ended = 0
    for scores in rng.standard_normal((reps, blocks)):
        e = edge(scores.mean(), scores.std(ddof=1) / np.sqrt(blocks), scores.var(ddof=1), blocks)
        hits += covers(ahead_after(e, [1_000])[0], 0.5)
        open_ended += hands_needed(e, 0.9).hands is None
    assert fewest(reps) <= hits <= most(reps)
    assert open_ended == hits


def test_series_played_out():
    # series of 10 blocks: the chance by convolution
    rng = np.random.default_rng(33)
    chances = block_chances(0.08)
    series = np.array([1.0])
    for _ in range(10):
        series = np.convolve(series, chances)
    true = series[21:].sum() + series[20] / 2
    reps = 1_500
    scores = rng.choice(SCORES, (reps, 2_000), p=chances)
    hits = sum(covers(played_out(x, 4, [40])[0], true) for x in scores)
    assert hits >= fewest(reps)


@pytest.mark.parametrize("fixed", [1, 0])
def test_the_split_of_a_variance(fixed):
    # With skill and seat, and without: then their estimates fall below 0 half of the time.
    rng = np.random.default_rng(34)
    reps, blocks = 1_000, 90
    hits = np.zeros(5, dtype=int)
    shares = 0
    for _ in range(reps):
        y, truth = model(rng, blocks, skill=fixed, seat=fixed, deal=2, together=2, luck=2)
        _, parts = split(groups_of(y, 6))
        hits += [covers(p.variance, v) for p, v in zip(parts, truth, strict=True)]
        shares += covers(parts[2].share, truth[2] / sum(truth))
    assert (hits >= fewest(reps)).all()
    assert fewest(reps) <= shares <= most(reps)
