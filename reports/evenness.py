"""How evenly the positions win, all of them taken together: chi-square, Cramér's V and the entropy of the win shares.

The spread (`reports.intervals.rank`) looks at the best and the worst position alone; these look at all. The two say
the same in other units: near even chances 1 - entropy is about V² (n - 1) / (2 ln n).

Sources: Cramér 1946 · Rao & Scott 1984 (blocks) · Steiger 2004 (interval by the noncentral distribution) · Shannon 1948
· Miller 1955 (bias of an entropy).
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reports.intervals import ChiSquare, Estimate, Floats, chi_square, interval_mean


@dataclass(frozen=True)
class Evenness:
    """The test of equal chances, and how far from them the win shares are, with the bias of chance taken out.

    entropy: of the shares of the hands won, over its largest value ln n. `plain`: both as they came out.
    """

    test: ChiSquare
    cramers_v: Estimate
    entropy: Estimate
    plain: tuple[float, float]


def evenness(wins: ArrayLike, hands: int, covariance: ArrayLike, blocks: int, *, level: float = 0.95) -> Evenness:
    """Return how evenly n positions win: wins (n,), covariance (n, n) of wins / hands; as `intervals.chi_square`.

    Interval of V: those V for which the test's statistic would not be too large or too small, each at half the error.
    It follows the noncentral chi-square distribution, the noncentrality being W (n - 1) V² over the design effect. A
    statistic below its mean under equal chances is taken for the mean when the upper bound is found; the interval
    would be empty else. That distribution takes the errors to be alike in all directions, which matters little near
    even chances and more the further away, where V is about normal: the interval is never inside V ± t standard errors
    (delta method).

    Interval of the entropy: that of V, carried over along the line from even shares through those observed.
    With one block, or no hand won, everything is possible.
    """
    from scipy.special import chdtr, chndtrinc, stdtrit

    counts = np.asarray(wins, dtype=np.float64)
    n, won = len(counts), float(counts.sum())
    test = chi_square(wins, hands, covariance, blocks)
    if won == 0.0:
        return Evenness(test, Estimate(0.0, 0.0, 0.0, 1.0), Estimate(1.0, 0.0, 0.0, 1.0), (0.0, 1.0))
    shares = counts / won
    apart = shares - 1.0 / n
    plain = math.sqrt(n / (n - 1.0) * float(apart @ apart))
    # What the test divides by, and the design effect in it, depend on the covariance alone: asked of one sure winner.
    extreme = chi_square([won, *[0.0] * (n - 1)], hands, covariance, blocks)
    divisor = won * (n - 1.0) / extreme.statistic
    effect = won * (1.0 - extreme.cramers_v**2)
    corrected = min(1.0, _entropy(shares) + (n - 1.0) * effect / (2.0 * won * math.log(n)))
    if blocks < 2:
        return Evenness(
            test,
            Estimate(test.cramers_v, 0.0, 0.0, 1.0),
            Estimate(corrected, 0.0, 0.0, 1.0),
            (plain, _entropy(shares)),
        )

    tail = (1.0 - level) / 2.0
    to_v = divisor / (won * (n - 1.0))
    low = 0.0
    if chdtr(test.df, test.statistic) > 1.0 - tail:
        low = math.sqrt(float(chndtrinc(test.statistic, test.df, 1.0 - tail)) * to_v)
    high = math.sqrt(float(chndtrinc(max(test.statistic, test.df), test.df, tail)) * to_v)
    se = _error(apart, plain, np.asarray(covariance, dtype=np.float64), hands, won, blocks)
    smooth = interval_mean(plain, se, blocks, level)
    if low > 0.0:  # V is surely not 0, around which it is far from normal
        low, high = max(0.0, min(low, smooth.low)), max(high, smooth.high)
    high = min(1.0, high)
    value = min(max(test.cramers_v, low), high)

    bounds = sorted(_entropy(_at(shares, v)) for v in (low, high))
    slope = float(stdtrit(blocks - 1, 1.0 - tail))
    return Evenness(
        test,
        Estimate(value, se, low, high),
        Estimate(
            min(max(corrected, bounds[0]), bounds[1]), (bounds[1] - bounds[0]) / (2.0 * slope), bounds[0], bounds[1]
        ),
        (plain, _entropy(shares)),
    )


def _entropy(shares: Floats) -> float:
    some = shares[shares > 0.0]
    return min(1.0, max(0.0, float(-(some * np.log(some)).sum()) / math.log(len(shares))))


def _at(shares: Floats, v: float) -> Floats:
    """Return the shares with this V on the line from even ones through these (or through one winner if these are even).

    The line ends where a share comes to 0.
    """
    n = len(shares)
    apart = shares - 1.0 / n
    if not apart.any():
        apart = np.eye(n)[0] - 1.0 / n
    apart = apart / math.sqrt(n / (n - 1.0) * float(apart @ apart))
    return np.asarray(np.maximum(0.0, 1.0 / n + min(v, -1.0 / (n * float(apart.min()))) * apart))


def _error(apart: Floats, plain: float, covariance: Floats, hands: int, won: float, blocks: int) -> float:
    """Return the standard error of V by the delta method; where the shares are even, that in any one direction."""
    n = len(apart)
    centre = np.eye(n) - 1.0 / n
    each = centre @ (covariance * (hands / won) ** 2 + np.eye(n) / blocks**2) @ centre
    if plain == 0.0:
        return math.sqrt(n / (n - 1.0) * float(np.trace(each)) / (n - 1.0))
    slope = n / (n - 1.0) * apart / plain
    return math.sqrt(max(0.0, float(slope @ each @ slope)))
