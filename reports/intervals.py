"""Estimates, intervals and rankings from exact block sums.

What comes in: integers summed over deal blocks (one deck, all seat rotations, every scenario), because hands
of one block depend on each other and blocks do not. What goes out: estimates that carry their interval.
Everything here is a pure function of arrays; words and tables are made in `reports/fairness.py`.

Two habits hold throughout. A standard error comes from blocks, never from hands. And where the data show no
variation at all (0 of B, B of B, one block), the interval is that of what B blocks can exclude, not a width of
zero: nothing here returns NaN or infinity.

Sources: Cochran, Sampling Techniques, 1977, ch. 6 (ratios) · Wilson 1927; Korn & Graubard 1998 (effective
size) · Hothorn, Bretz & Westfall 2008 (max-t) · Romano, Shaikh & Wolf 2014 (two-step bounds) · Mogstad, Romano,
Shaikh & Wilhelm 2024 (ranks) · Tippett 1925 (expected range) · Rao & Scott 1984 (chi-square on clusters) ·
Holm 1979 · Abbott & Rosenblatt 1963 (an interval from one observation) · Shao & Wu 1989 (jackknife over groups).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

Floats = NDArray[np.float64]

SEED = 20_080_808
"""Seed of the Monte Carlo critical values: fixed, so that the same sums give the same interval."""

DRAWS = 20_000
"""Draws behind a critical value. The miss rate of a 95 % statement is then known to about ±0.15 points."""

LEAST_DRAWS = 4_000
"""The fewest draws `rank` falls back to when many tied positions make very many contrasts."""

CONTRAST_DRAWS = 400_000_000
"""Contrasts times draws after which `rank` starts to take fewer draws: about two seconds' work."""

SELECTION_SHARE = 0.1
"""The part of the allowed error that `rank` spends on finding out which positions cannot be first or last."""

FAR = 8.0
"""A contrast this many standard errors below the largest one never decides a critical value: left out."""


@dataclass(frozen=True)
class Estimate:
    """A value, its standard error and its interval: finite numbers with low ≤ high, or a ValueError."""

    value: float
    se: float
    low: float
    high: float

    def __post_init__(self) -> None:
        numbers = (self.value, self.se, self.low, self.high)
        if not all(math.isfinite(x) for x in numbers) or self.low > self.high or self.se < 0:
            raise ValueError(f"not an estimate: value {self.value}, se {self.se}, interval {self.low} to {self.high}")

    def as_dict(self) -> dict[str, float]:
        """Return the JSON contract: `{value, se, low, high}`."""
        return {"value": self.value, "se": self.se, "low": self.low, "high": self.high}


@dataclass(frozen=True)
class Spread:
    """How far apart the win shares of a scenario's best and worst position are, 0 to 1.

    value: corrected for the bias that a largest-minus-smallest has (see `rank`); plain: as it came out;
    null: what `plain` would be on average if all positions were equally good, with this many blocks;
    se: of the difference between the two positions that came out first and last; low, high: interval of the
    true spread, right also when it is 0; best_position, worst_position: from 1 (left of the dealer) to n (dealer).
    """

    value: float
    plain: float
    null: float
    se: float
    low: float
    high: float
    best_position: int
    worst_position: int

    @property
    def estimate(self) -> Estimate:
        """The corrected spread in the form every result has."""
        return Estimate(self.value, self.se, self.low, self.high)


@dataclass(frozen=True)
class Ranking:
    """K scenarios ranked by spread, the fairest first. Scenarios keep the order in which they were given.

    spreads: one a scenario, their K intervals hold together at `level`; differences[i][j]: spread of i minus
    spread of j, paired, all K(K-1)/2 intervals hold together at `level`; in_best_set[i]: no j is surely fairer
    than i; rank_low, rank_high: the ranks (1 = fairest) that i may have; order: scenario numbers by estimate;
    variance_ratio[i][j]: variance of the paired difference against that from independent hands.
    """

    players: int
    level: float
    spreads: tuple[Spread, ...]
    differences: tuple[tuple[Estimate, ...], ...]
    in_best_set: tuple[bool, ...]
    rank_low: tuple[int, ...]
    rank_high: tuple[int, ...]
    order: tuple[int, ...]
    variance_ratio: tuple[tuple[float, ...], ...]


@dataclass(frozen=True)
class ChiSquare:
    """Win counts against equal chances: statistic, degrees of freedom, p-value, Cramér's V (0 fair, 1 one winner)."""

    statistic: float
    df: float
    p_value: float
    cramers_v: float


# --- from sums to estimates ---------------------------------------------------------------------------------------


def ratio_moments(
    sums: ArrayLike,
    hands: ArrayLike,
    cross: ArrayLike,
    cross_hands: ArrayLike,
    hands_cross: ArrayLike,
    blocks: int,
) -> tuple[Floats, Floats]:
    """Return the ratios theta (m,) of sums to hands and their covariance (m, m), by the delta method over blocks.

    All arguments hold integers summed over blocks, m = K·g, scenario-major: g = 1 for one measure, g = n for wins
    by position. sums: Σ x, m values of any shape ((K,) or (K, n)); hands: Σ h (K,); cross: Σ x x (m, m);
    cross_hands: Σ x_i h_l (m, K); hands_cross: Σ h_k h_l (K, K).

    theta_i = S_i / H_i, and with the residual u_i = x_i - theta_i h_i of a block,
    cov = B/(B-1) · Σ u_i u_j / (H_i H_j)   (Cochran, ch. 6).
    When h is the same in every block this is exactly the covariance of a mean of blocks; otherwise it is right for
    large B (the ratio's bias is of order 1/B, its standard error of order 1/√B).

    Σ u u is a small difference of large products: with 10⁹ hands and values near 5000 the products reach 10³⁴, and
    float64 would lose every digit of it. So the numerator is formed in Python's own integers, and the only rounding
    is that of the last division. One block gives covariance 0 (unknown): the intervals below ask for `blocks` and
    know. A scenario without hands has ratio 0 and covariance 0.
    """
    x = _exact(sums).ravel()
    each = _exact(hands)
    scenarios, m = each.size, x.size
    if m % scenarios:
        raise ValueError(f"{m} sums do not divide among {scenarios} scenarios")
    group = m // scenarios
    h = np.repeat(each, group)
    xx = _exact(cross)
    xh = np.repeat(_exact(cross_hands).reshape(m, scenarios), group, axis=1)
    hh = np.repeat(np.repeat(_exact(hands_cross).reshape(scenarios, scenarios), group, axis=0), group, axis=1)
    # H_i H_j Σ u_i u_j, all in whole numbers
    numerator = np.outer(h, h) * xx.reshape(m, m) - np.outer(h, x) * xh - (np.outer(h, x) * xh).T + np.outer(x, x) * hh
    theta = np.array([a / b if b else 0.0 for a, b in zip(x, h, strict=True)], dtype=np.float64)
    covariance = np.zeros((m, m))
    if blocks > 1:
        for i in range(m):
            for j in range(m):
                below = (blocks - 1) * h[i] ** 2 * h[j] ** 2
                covariance[i, j] = blocks * numerator[i, j] / below if below else 0.0
    return theta, covariance


def _exact(values: ArrayLike) -> NDArray[Any]:
    """Return the integers as Python integers, which never overflow."""
    array = np.asarray(values)
    if array.dtype.kind not in "iuO":
        raise TypeError(f"block sums are integers, got {array.dtype}")
    return array.astype(object)


def interval_mean(value: float, se: float, blocks: int, level: float = 0.95) -> Estimate:
    """Return value ± t(B-1) · se: for means over blocks, whatever the distribution, once B is some dozens.

    One block says nothing about variation. Then the interval is value ± 2φ(1)/(1-level) · |value|, at 95 % ± 9.68
    |value|, which covers the mean of any normal distribution that often, whatever its variance (Abbott & Rosenblatt
    1963); the standard error given is |value|. It is meant to look as useless as one block is.
    """
    if blocks < 2:
        half = 2.0 * math.exp(-0.5) / math.sqrt(2.0 * math.pi) / (1.0 - level) * abs(value)
        return Estimate(value, abs(value), value - half, value + half)
    half = _quantile(0.5 + level / 2.0, blocks) * se
    return Estimate(value, se, value - half, value + half)


def interval_share(value: float, se: float, hands: int, blocks: int, level: float = 0.95) -> Estimate:
    """Return Wilson's interval of a proportion at its effective sample size: within [0, 1], never of width 0.

    n = value (1 - value) / se² hands would have given this standard error had they been independent (Korn &
    Graubard 1998), so that the design effect of blocks, above or below 1, is in it; Wilson's formula with the t
    quantile of B-1 takes n from there. In the middle it equals value ± t·se; near 0 and 1 it stays honest.
    What the data cannot show is allowed for. At 0 and 1 the design effect is unseen, and a block counts as one hand.
    In between, where blocks hold several hands, the variance is raised by 1/B², one block's worth: a handful of events
    says little of how they cluster, and blocks that all agree may do so by luck. With one block, n = 1.
    """
    if hands < 1:
        return Estimate(value, se, 0.0, 1.0)
    variance = value * (1.0 - value)
    if blocks < 2:
        size, q, se = 1.0, _quantile(0.5 + level / 2.0, None), math.sqrt(variance)
    else:
        q = _quantile(0.5 + level / 2.0, blocks)
        # a block of one hand has no design effect below 1
        allowed = max(se**2, variance / blocks) if hands == blocks else se**2 + 1.0 / blocks**2
        size = variance / allowed if variance > 0.0 and allowed > 0.0 else float(blocks)
    # Wilson's formula times size/size: with q²/size written out it would overflow for tiny sizes
    centre = (size * value + q * q / 2.0) / (size + q * q)
    half = q * math.sqrt(size * variance + q * q / 4.0) / (size + q * q)
    # the formula gives exactly 0 and 1 at the edges; rounding must not
    return Estimate(value, se, max(0.0, min(centre - half, value)), min(1.0, max(centre + half, value)))


def jackknife(without: ArrayLike) -> Floats:
    """Return the covariance (m, m) of an estimate, from its values (G, m) with each of G groups of blocks left out.

    The delete-a-group jackknife: (G-1)/G · Σ (θ_g - θ̄)(θ_g - θ̄)ᵀ, for groups of about equal size and any smooth
    function of block sums (Shao & Wu 1989). Intervals and critical values then take G for the number of blocks. With
    fewer than two groups it is 0 (unknown).
    """
    theta = np.asarray(without, dtype=np.float64)
    groups = len(theta)
    if groups < 2:
        return np.zeros((theta.shape[1], theta.shape[1]))
    apart = theta - theta.mean(axis=0)
    return np.asarray((groups - 1) / groups * (apart.T @ apart), dtype=np.float64)


def variance_ratio(first: float, second: float, between: float) -> float:
    """Return Var(paired difference) / Var(difference of independent runs), from two variances and their covariance.

    0.25 means that common deals did the work of four times as many hands. 1 where nothing varies.
    """
    apart = first + second
    return float(max(0.0, (apart - 2.0 * between) / apart)) if apart > 0.0 else 1.0


# --- several at once ----------------------------------------------------------------------------------------------


def max_t(covariance: ArrayLike, blocks: int, *, level: float = 0.95, draws: int = DRAWS, seed: int = SEED) -> float:
    """Return c such that all m estimates lie within c standard errors of the truth at once, with probability level.

    covariance: (m, m), of the estimates (usually contrasts). c is the `level` quantile of max |T| for T multivariate
    t with this correlation and B-1 degrees of freedom, found by sampling with a fixed seed (Hothorn, Bretz &
    Westfall 2008). The covariance may be singular: rows that repeat each other cost nothing, rows without
    variance are left out (what is known exactly needs no allowance). Never below the quantile of a single t.
    Right for B large against m; needs at least two blocks.
    """
    if blocks < 2:
        raise ValueError(f"a critical value needs at least 2 blocks, got {blocks}")
    c = np.asarray(covariance, dtype=np.float64)
    single = _quantile(0.5 + level / 2.0, blocks)
    scale = np.sqrt(np.maximum(np.diag(c), 0.0))
    some = scale > 0.0
    if some.sum() < 2:
        return single
    root = _root(c[np.ix_(some, some)] / np.outer(scale[some], scale[some]))
    root = root[:, root.any(axis=0)]
    rng = np.random.default_rng(seed)
    shrink = _studentize(rng, draws, blocks)
    largest = np.empty(draws)
    for at in range(0, draws, 2_000):  # in slices: memory stays small for many contrasts
        part = root @ rng.standard_normal((root.shape[1], min(2_000, draws - at)))
        largest[at : at + 2_000] = np.abs(part).max(axis=0)
    return max(single, float(np.quantile(largest / shrink, level, method="higher")))


def simultaneous(
    theta: ArrayLike,
    covariance: ArrayLike,
    blocks: int,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
) -> list[Estimate]:
    """Return an interval for each of theta (m,) such that all m hold at once with probability `level` (max-t).

    With one block there is no covariance: each interval is that of `interval_mean`, at level 1 - (1 - level)/m.
    """
    values = np.asarray(theta, dtype=np.float64)
    if blocks < 2:
        each = 1.0 - (1.0 - level) / max(1, values.size)
        return [interval_mean(float(v), 0.0, blocks, each) for v in values]
    c = max_t(covariance, blocks, level=level, draws=draws, seed=seed)
    ses = np.sqrt(np.maximum(np.diag(np.asarray(covariance, dtype=np.float64)), 0.0))
    return [
        Estimate(float(v), float(se), float(v - c * se), float(v + c * se)) for v, se in zip(values, ses, strict=True)
    ]


def spread(theta: ArrayLike, covariance: ArrayLike, blocks: int, *, level: float = 0.95, seed: int = SEED) -> Spread:
    """Return the spread of one scenario's win shares: theta (n,), covariance (n, n). See `rank` for the method."""
    shares = np.asarray(theta, dtype=np.float64)
    return rank(shares[np.newaxis, :], covariance, blocks, level=level, seed=seed).spreads[0]


def rank(
    theta: ArrayLike,
    covariance: ArrayLike,
    blocks: int,
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Ranking:
    """Rank K scenarios by spread (largest minus smallest win share): theta (K, n), covariance (K·n, K·n).

    The trouble with a spread is that it is a maximum: s_k = max over ordered pairs a = (i, j) of the gap
    g_ka = theta_ki - theta_kj. It is biased upwards and, near ties, far from normal, so its delta-method interval is
    wrong exactly for the fairest rules. Only gaps are normal. So every statement is put together from gaps:

        s_k - s_l = min over b of max over a of (g_ka - g_lb),

    and the minimum is reached at b0, a true largest pair of l. Hence max over a of (ĝ_ka - ĝ_lb0 - c se) is a lower
    bound of s_k - s_l if c covers the gaps of k against that ONE pair, and as b0 is unknown the smallest bound over
    all pairs b that may be b0 is taken. Two things keep c small (Romano, Shaikh & Wolf 2014):
    1. a max-t band on all differences between positions, at error SELECTION_SHARE·(1 - level), tells how far each pair
       surely lies below its scenario's largest one: its slack. Pairs with slack are not b0;
    2. a gap with slack can only break the bound by overcoming it, so c is the quantile of
       max over k ≠ l and a of (T_ka,lb - slack_ka / se), T the multivariate t of the paired differences.
    If the band of step 1 holds, each slack is no larger than the true one, so c is no smaller than the quantile
    at the true slacks; the error is at most that of step 1 plus that of step 2, for any true win shares: ties,
    spreads of 0 and n = 2 included. The rest of the error, shared equally among the K scenarios l, is Bonferroni's.
    With a clear first and last position c is about Tukey's; it is largest when all positions are tied. The
    studentizing is contrast by contrast, so that scenarios that went the same way on nearly all deals get the narrow
    interval that pairing has earned.

    Spread intervals are the same with 0 in place of the other scenario: half the error for all lower bounds together,
    half for the K upper bounds, each of which needs a single pair.

    Best set: i stays unless for some j the lower bound of s_i - s_j is above 0. Ranks: 1 + (number surely fairer) to
    K - (number surely less fair). Both follow from the differences and hold whenever those do (Mogstad et al. 2024).

    Value of a spread: the observed profile of win shares is shrunk towards their mean until the expected
    plain spread, with this covariance, equals the observed one; 0 if equal shares would be expected to show as much.
    Then it is kept within the interval. The null value is Tippett's: d_n √(w / (n N)), d_n the expected range of n
    standard normals, w the share of hands that have a winner, N = Σ theta(1 - theta) / Σ var the effective hands.

    Each position's variance is raised by 1/B², one block's worth: B blocks that all went alike (one position
    always won; a rule that never mattered) do not exclude that the next one will not. With one block every
    interval is everything possible. Right for B well above K·n.
    """
    shares = np.asarray(theta, dtype=np.float64)
    scenarios, players = shares.shape
    if players < 2:
        raise ValueError("a spread needs at least two positions")
    floored = np.asarray(covariance, dtype=np.float64) + np.eye(shares.size) / max(1, blocks) ** 2
    first, second = np.nonzero(~np.eye(players, dtype=bool))  # the ordered pairs of positions
    pairs = len(first)
    gap = shares[:, first] - shares[:, second]
    top = gap.argmax(axis=1)

    # rows of `contrast` are the gaps of scenario 0, then those of scenario 1, …
    one = np.zeros((pairs, players))
    one[np.arange(pairs), first], one[np.arange(pairs), second] = 1.0, -1.0
    contrast = np.kron(np.eye(scenarios), one)
    gaps = _Gaps(gap.ravel(), np.repeat(np.arange(scenarios), pairs), contrast @ floored @ contrast.T)
    lead = np.arange(scenarios) * pairs + top

    error = 1.0 - level
    noise, shrink = _noise(floored, blocks, draws, seed)
    low, high = np.zeros(scenarios), np.ones(scenarios)
    low_difference = np.full((scenarios, scenarios), -1.0)
    np.fill_diagonal(low_difference, 0.0)
    if blocks >= 2:
        once = np.flatnonzero(np.tile(first < second, scenarios))  # (i, j) and (j, i) are one contrast
        band = max_t(
            gaps.covariance[np.ix_(once, once)], blocks, level=1.0 - SELECTION_SHARE * error, draws=draws, seed=seed
        )
        gaps.slack = _slack(gap, gaps, band, first, second).ravel()
        possible = [np.flatnonzero((gaps.owner == k) & (gaps.slack == 0.0)) for k in range(scenarios)]
        rest = (1.0 - SELECTION_SHARE) * error

        use = min(draws, max(LEAST_DRAWS, CONTRAST_DRAWS // (sum(map(len, possible)) * len(gaps.value))))
        student = (noise[:use] / shrink[:use, np.newaxis]).reshape(use, scenarios, players)
        gaps.draws = np.empty((len(gaps.value), use), dtype=np.float32)
        for k in range(scenarios):
            gaps.draws[k * pairs : (k + 1) * pairs] = (student[:, k, first] - student[:, k, second]).T
        low = np.clip(gaps.lower_bounds(None, scenarios, rest / 2.0), 0.0, 1.0)
        c = _quantile(1.0 - rest / (2.0 * scenarios), blocks)
        high = np.array([min(1.0, (gaps.value[b] + c * gaps.se(None)[b]).max()) for b in possible])
        if scenarios > 1:
            for other in range(scenarios):
                bounds = [gaps.lower_bounds(int(b), scenarios, rest / scenarios) for b in possible[other]]
                low_difference[:, other] = np.clip(np.min(bounds, axis=0), -1.0, 1.0)
            np.fill_diagonal(low_difference, 0.0)

    few = np.ascontiguousarray(noise[:LEAST_DRAWS].T).reshape(scenarios, players, -1)
    spreads = tuple(
        Spread(
            value=float(np.clip(_corrected(shares[k], few[k]), low[k], high[k])),
            plain=float(gap[k, top[k]]),
            null=_null_spread(shares[k], np.asarray(covariance)[_block(k, players)], blocks),
            se=float(gaps.se(None)[lead[k]]),
            low=float(low[k]),
            high=float(high[k]),
            best_position=int(first[top[k]]) + 1,
            worst_position=int(second[top[k]]) + 1,
        )
        for k in range(scenarios)
    )
    surely_less_fair = low_difference > 0.0  # [i, j]: i is surely less fair than j
    variance = gaps.covariance[np.ix_(lead, lead)]
    return Ranking(
        players=players,
        level=level,
        spreads=spreads,
        differences=_differences(spreads, variance, low_difference),
        in_best_set=tuple(not surely_less_fair[i].any() for i in range(scenarios)),
        rank_low=tuple(1 + int(x) for x in surely_less_fair.sum(axis=1)),
        rank_high=tuple(scenarios - int(x) for x in surely_less_fair.sum(axis=0)),
        order=tuple(sorted(range(scenarios), key=lambda k: (spreads[k].value, spreads[k].plain))),
        variance_ratio=tuple(
            tuple(
                1.0 if i == j else variance_ratio(variance[i, i], variance[j, j], variance[i, j])
                for j in range(scenarios)
            )
            for i in range(scenarios)
        ),
    )


class _Gaps:
    """All gaps between two positions of one scenario, in rows: what `rank` puts its bounds together from."""

    def __init__(self, value: Floats, owner: NDArray[np.intp], covariance: Floats) -> None:
        self.value = value
        self.owner = owner  # the scenario of each row
        self.covariance = covariance
        self.slack = np.zeros_like(value)  # how far a row surely lies below its scenario's largest gap
        self.draws: NDArray[np.float32] = np.empty((len(value), 0), dtype=np.float32)  # errors, studentized

    def se(self, reference: int | None) -> Floats:
        """Return the standard error of each row minus the reference row (None: minus nothing)."""
        variance = np.diag(self.covariance).copy()
        if reference is not None:
            variance += variance[reference] - 2.0 * self.covariance[:, reference]
        return np.sqrt(np.maximum(variance, 0.0))

    def lower_bounds(self, reference: int | None, scenarios: int, error: float) -> Floats:
        """Return lower bounds of every scenario's largest gap minus the reference gap, together at 1 - error."""
        se = self.se(reference)
        rows = np.arange(len(self.value))
        if reference is not None:
            rows = rows[self.owner != self.owner[reference]]
        rows = rows[self.slack[rows] < FAR * se[rows]]
        excess = self.draws[rows]  # a copy, worked on in place: this loop is where the time goes
        if reference is not None:
            excess -= self.draws[reference]
        excess -= self.slack[rows, np.newaxis].astype(np.float32)
        excess /= se[rows, np.newaxis].astype(np.float32)
        c = max(0.0, float(np.quantile(excess.max(axis=0), 1.0 - error, method="higher")))
        base = 0.0 if reference is None else self.value[reference]
        bounds = np.full(scenarios, -1.0)
        np.maximum.at(bounds, self.owner[rows], self.value[rows] - base - c * se[rows])
        return bounds


def _slack(gap: Floats, gaps: _Gaps, band: float, first: NDArray[np.intp], second: NDArray[np.intp]) -> Floats:
    """Return how far each pair (i, j) surely lies below its scenario's largest gap, (K, pairs).

    It is what i surely lacks to some other position, plus what j surely has more than some other position.
    """
    surely = np.maximum(0.0, gap - band * gaps.se(None).reshape(gap.shape))  # i is above j by at least this much
    players = int(first.max()) + 1
    below_best, above_worst = np.zeros((2, len(gap), players))
    for position in range(players):
        below_best[:, position] = surely[:, second == position].max(axis=1)
        above_worst[:, position] = surely[:, first == position].max(axis=1)
    return below_best[:, first] + above_worst[:, second]


def _differences(
    spreads: Sequence[Spread], variance: Floats, low_difference: Floats
) -> tuple[tuple[Estimate, ...], ...]:
    """Return the differences of spreads as estimates, each value kept inside its interval."""
    table = []
    for i, mine in enumerate(spreads):
        row = []
        for j, other in enumerate(spreads):
            low, high = float(low_difference[i, j]), float(-low_difference[j, i])
            se = math.sqrt(max(0.0, variance[i, i] + variance[j, j] - 2.0 * variance[i, j])) if i != j else 0.0
            row.append(Estimate(min(max(mine.value - other.value, low), high), se, low, high))
        table.append(tuple(row))
    return tuple(table)


def _corrected(shares: Floats, noise: Floats) -> float:
    """Shrink the profile of shares (n,) until its expected plain spread is the observed one; noise: (n, draws).

    The expected spread is convex and even in the factor, hence increasing: bisection finds it.
    """
    profile = shares - shares.mean()
    observed = float(np.ptp(profile))

    def expected(factor: float) -> float:
        return float(np.ptp(factor * profile[:, np.newaxis] + noise, axis=0).mean())

    low, high = 0.0, 1.0
    if expected(low) >= observed:
        return 0.0
    for _ in range(14):
        middle = (low + high) / 2.0
        low, high = (middle, high) if expected(middle) < observed else (low, middle)
    return (low + high) / 2.0 * observed


def _null_spread(shares: Floats, covariance: Floats, blocks: int) -> float:
    """Return the expected plain spread if all positions won equally often: d_n √(w / (n N)) (Tippett 1925)."""
    from scipy.special import ndtr

    n = len(shares)
    variance, trace = float((shares * (1.0 - shares)).sum()), float(np.trace(covariance))
    effective = variance / trace if variance > 0.0 and trace > 0.0 else float(max(1, blocks))
    x = np.linspace(-9.0, 9.0, 2_001)
    expected_range = float(np.trapezoid(1.0 - ndtr(x) ** n - ndtr(-x) ** n, x))
    return min(1.0, expected_range * math.sqrt(max(0.0, float(shares.sum())) / (n * effective)))


# --- tests --------------------------------------------------------------------------------------------------------


def holm(pvalues: ArrayLike) -> Floats:
    """Return Holm's adjusted p-values, in the given order.

    Reject those ≤ alpha: the chance that any of them is rejected falsely is at most alpha, however the tests depend
    on each other (Holm 1979).
    """
    p = np.asarray(pvalues, dtype=np.float64)
    if not ((p >= 0.0) & (p <= 1.0)).all():
        raise ValueError("p-values lie between 0 and 1")
    order = np.argsort(p, kind="stable")
    adjusted = np.empty_like(p)
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1)))
    return adjusted


def chi_square(wins: ArrayLike, hands: int, covariance: ArrayLike, blocks: int) -> ChiSquare:
    """Test the wins by position (n,) against equal chances; covariance (n, n) is that of wins / hands.

    X² = Σ (wins - W/n)² / (W/n), W the hands with a winner. Where a block is one hand this is Pearson's, n-1 degrees
    of freedom. Otherwise hands of a block depend on each other and X² is Σ δ_i χ²_1 with design effects δ: it is
    divided by their mean and the degrees of freedom matched to their variance (Rao & Scott 1984, second order), with
    an F reference for B blocks. With one block the block counts as one hand.

    Cramér's V is √(X² / (W (n-1))), 0 when all win alike and 1 when one position always wins; what chance alone adds
    on average, δ/W, is taken off its square, not below 0.
    """
    from scipy.stats import chi2, f

    counts = np.asarray(wins, dtype=np.float64)
    n, total = len(counts), float(counts.sum())
    df = float(n - 1)
    if total == 0.0:
        return ChiSquare(0.0, df, 1.0, 0.0)
    plain = float(((counts - total / n) ** 2).sum() / (total / n))
    effect, uneven = 1.0, 1.0
    if blocks < 2:
        effect = float(hands)
    elif hands != blocks:
        # one block's worth of variance added, as in `rank`; centred, since only differences between positions count
        centre = np.eye(n) - 1.0 / n
        v = centre @ (np.asarray(covariance, dtype=np.float64) + np.eye(n) / blocks**2) @ centre
        effect = hands**2 * n / total * float(np.trace(v)) / df
        uneven = df * float((v * v).sum()) / float(np.trace(v)) ** 2
    df /= uneven
    statistic = plain / (effect * uneven)
    if hands == blocks or blocks < 2:
        p_value = float(chi2.sf(statistic, df))
    else:
        p_value = float(f.sf(statistic / df, df, df * (blocks - 1)))
    return ChiSquare(statistic, df, p_value, math.sqrt(max(0.0, plain / (n - 1) - effect) / total))


# --- helpers ------------------------------------------------------------------------------------------------------


def _quantile(probability: float, blocks: int | None) -> float:
    """Return a quantile of Student's t with B-1 degrees of freedom, or of the normal."""
    from scipy.special import ndtri, stdtrit

    return float(ndtri(probability)) if blocks is None else float(stdtrit(blocks - 1, probability))


def _root(covariance: Floats) -> Floats:
    """Lower triangular L with L Lᵀ = covariance, also when that is singular.

    Written out rather than taken from an eigensolver: equal eigenvalues leave the vectors, and with them the
    draws and the last digits of an interval, to the machine's linear algebra library.
    """
    m = len(covariance)
    root = np.zeros((m, m))
    for j in range(m):
        rest = covariance[j:, j] - root[j:, :j] @ root[j, :j]
        if rest[0] > 1e-10 * covariance[j, j]:  # else row j repeats earlier ones up to rounding
            root[j:, j] = rest / math.sqrt(rest[0])
    return root


def _studentize(rng: np.random.Generator, draws: int, blocks: int) -> Floats:
    """Return draws of √(χ²/df): dividing normal draws by them gives Student's t with B-1 degrees of freedom."""
    df = max(1, blocks - 1)
    return np.sqrt(rng.chisquare(df, draws) / df)


def _noise(covariance: Floats, blocks: int, draws: int, seed: int) -> tuple[Floats, Floats]:
    """Return normal draws (draws, m) with this covariance, and the divisors (draws,) that make t of them."""
    rng = np.random.default_rng(seed)
    shrink = _studentize(rng, draws, blocks)
    return rng.standard_normal((draws, len(covariance))) @ _root(covariance).T, shrink


def _block(k: int, size: int) -> tuple[slice, slice]:
    """Return the index of scenario k's own part of a scenario-major covariance."""
    part = slice(k * size, (k + 1) * size)
    return part, part
