"""Is A better than B by at least d, worse by at least d, or neither? Decided as soon as the blocks played are enough.

What comes in: mean and variance of the block scores (A's win share minus B's, a block the unit) at each look so far.

The design is that of Sobel and Wald (1949): two tests of two hypotheses run side by side on the same blocks,

    up:    difference ≤ 0  against  difference ≥ d,
    down:  difference ≥ 0  against  difference ≤ -d,

each with Wald's bounds and each deciding for itself. `better` is said when `up` accepts its second hypothesis,
`worse` when `down` does, `neither` when both have accepted their first. A single test would treat A and B unlike: it
can not tell "B is better" from "no difference", and takes very long for neither. Testing "0 against ±d" in one by the
larger likelihood has no simple bounds.

The likelihoods are generalised: the scores of a block are no Bernoulli draws (four rotations, shared hands), so their
variance is estimated, and the log-likelihood ratio of the means d0 and d1 is, for small differences,
B (d1 - d0)(2 mean - d0 - d1) / (2 variance), which makes the test that of a drift of Brownian motion.

Error rates. If neither is better, the chance of saying that one is, is at most alpha (alpha/2 on each side). If one is
better by d or more, the chance of not saying so is at most beta. In between both answers are right often enough: that
is the indifference zone. Looking only now and then makes errors rarer than that, and the test a little longer. When
the blocks run out first the answer is `undecided`, and rates refer to tests that may go on.

Sources: Wald 1945 · Sobel & Wald 1949 · Armitage 1950 (several hypotheses) · Li, Liu & Ying 2014 (GSPRT) ·
Van den Bergh 2017–2020, the mathematics of Fishtest (approximation for chess engines, blocks of paired games).
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reports.intervals import DRAWS, SEED, Estimate, Floats, interval_mean

Answer = Literal["better", "worse", "neither", "undecided"]

DRIFTS = np.linspace(0.0, 2.0, 17)
"""True differences, in units of d, over which the interval after a test is made to hold; beyond 2 d it is easy."""


class DesignError(ValueError):
    """A test that can not be: its difference, its error rates or its looks."""


@dataclass(frozen=True)
class Design:
    """A test of differences of win share: d, the block counts at which it looks, and the two error rates."""

    d: float
    looks: tuple[int, ...]
    alpha: float = 0.05
    beta: float = 0.05

    def __post_init__(self) -> None:
        if not 0.0 < self.d <= 1.0:
            raise DesignError(f"d = {self.d:g}: a difference of win share to decide about is above 0 and at most 1")
        for name, rate in (("alpha", self.alpha), ("beta", self.beta)):
            if not 0.0 < rate < 0.5:
                raise DesignError(f"{name} = {rate:g}: an error rate lies between 0 and 0.5")
        if not self.looks or self.looks[0] < 2 or any(a >= b for a, b in zip(self.looks, self.looks[1:], strict=False)):
            raise DesignError(f"looks {self.looks}: block counts rise, from 2 on")

    @property
    def bounds(self) -> tuple[float, float]:
        """Wald's bounds of a log-likelihood ratio: at or below the first a side accepts 0, from the second on d."""
        return math.log(self.beta / (1.0 - self.alpha / 2.0)), math.log((1.0 - self.beta) / (self.alpha / 2.0))


@dataclass(frozen=True)
class Decision:
    """What a test says, and since when.

    blocks: at the look that decided, or at the last look so far; up, down: log-likelihood ratios there;
    not_better, not_worse: what is settled also while the answer is `undecided` (A is not better, or worse, by d).
    """

    answer: Answer
    blocks: int
    up: float
    down: float
    not_better: bool
    not_worse: bool
    mean: float
    variance: float


@dataclass(frozen=True)
class AfterTest:
    """An estimate of a difference where a sequential test ended; the label says so and belongs beside the number."""

    estimate: Estimate
    factor: float
    """Times the width of an ordinary interval."""
    label: str = "after a sequential test"


def decide(design: Design, means: Sequence[float], variances: Sequence[float]) -> Decision:
    """Return what the test says at the looks so far: mean and variance (of a single block) at each of them.

    Looks after the one that decided are ignored. The variance is raised by 1/B, one block's worth, so that blocks that
    all went alike can not decide at once.
    """
    if not 0 < len(means) == len(variances) <= len(design.looks):
        raise ValueError(f"{len(means)} means and {len(variances)} variances for {len(design.looks)} looks")
    mean, variance = np.asarray(means, dtype=np.float64), np.asarray(variances, dtype=np.float64)
    blocks = np.asarray(design.looks[: len(mean)], dtype=np.float64)
    answers, at, up, down, settled = _walk(design, mean[np.newaxis], variance[np.newaxis], blocks)
    k = int(at[0])
    return Decision(
        answer=_ANSWERS[int(answers[0])],
        blocks=design.looks[k],
        up=float(up[0, k]),
        down=float(down[0, k]),
        not_better=bool(settled[0, 0]),
        not_worse=bool(settled[0, 1]),
        mean=float(mean[k]),
        variance=float(variance[k]),
    )


def estimate_after(
    design: Design, decision: Decision, *, level: float = 0.95, draws: int = DRAWS, seed: int = SEED
) -> AfterTest:
    """Return the difference with an interval that allows for the test having chosen when to stop.

    An ordinary 95 % interval holds in about 90 % of tests where the truth is near d/4 or 3d/4. Here it is widened by
    the factor that this design needs where it is worst: the largest of the `level` quantiles of |error| / se over
    true differences from 0 to 2 d, found by playing the test with Brownian motion at the same looks and the observed
    variance, with a fixed seed. The value is the plain mean; it lies somewhat too far out when a test ends early.
    """
    se = math.sqrt((decision.variance + 1.0 / decision.blocks) / decision.blocks)
    blocks = np.asarray(design.looks, dtype=np.float64)
    steps = np.diff(blocks, prepend=0.0)
    spread = math.sqrt(decision.variance + 1.0 / decision.blocks)
    rng = np.random.default_rng(seed)
    walk = np.cumsum(rng.standard_normal((draws, len(blocks))) * np.sqrt(steps), axis=1) / blocks * spread
    even = np.full_like(walk, spread**2)
    factor = 1.0
    plain = interval_mean(decision.mean, se, decision.blocks, level)
    single = (plain.high - plain.value) / se
    for drift in DRIFTS * design.d:
        at = _walk(design, walk + drift, even, blocks)[1]
        error = np.abs(walk[np.arange(draws), at]) * np.sqrt(blocks[at]) / spread
        factor = max(factor, float(np.quantile(error, level, method="higher")) / single)
    half = factor * (plain.high - plain.value)
    return AfterTest(Estimate(decision.mean, se, decision.mean - half, decision.mean + half), factor)


_ANSWERS: tuple[Answer, ...] = ("undecided", "better", "worse", "neither")


def _walk(
    design: Design, mean: Floats, variance: Floats, blocks: Floats
) -> tuple[NDArray[Any], NDArray[Any], Floats, Floats, NDArray[np.bool_]]:
    """Follow many tests at once, means and variances (tests, looks).

    Returns the answer and the look of each test, the log-likelihood ratios of both sides at all looks, and whether each
    side had accepted 0 by then (tests, 2).
    """
    low, high = design.bounds
    d = design.d
    weight = blocks * d / (2.0 * (variance + 1.0 / blocks))
    up, down = weight * (2.0 * mean - d), weight * (-2.0 * mean - d)
    # a side that has accepted 0 has decided, and does not change its mind
    no_up = np.logical_or.accumulate(up <= low, axis=1)
    no_down = np.logical_or.accumulate(down <= low, axis=1)
    yes_up, yes_down, none = (up >= high) & ~no_up, (down >= high) & ~no_down, no_up & no_down
    over = yes_up | yes_down | none
    at = np.where(over.any(axis=1), over.argmax(axis=1), over.shape[1] - 1)
    rows = np.arange(len(mean))
    answer = np.select([yes_up[rows, at], yes_down[rows, at], none[rows, at]], [1, 2, 3], 0)
    return answer, at, up, down, np.stack([no_up[rows, at], no_down[rows, at]], axis=1)
