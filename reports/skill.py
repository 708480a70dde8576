"""Luck or skill: how soon the better of two players is ahead, and what the result of a hand depends on.

Two answers. The first follows from one number, the edge: how far one player is ahead of another after a hand, in
standard deviations. The second splits the variance of a player's result in a hand into who plays, the seat, the cards
and chance in play; it needs the same deals played under several arrangements of the players, each with several
independent draws of their luck ("replays").

Sources: Rock & Fiedler 2008; Fiedler & Rock 2009 (critical repetition frequency) · Hoeffding 1948; Sobol' 1993
(split of a variance) · Searle, Casella & McCulloch 1992 (unbiased components, balanced designs) · Owen 2013
(products of independent replicates) · Cloud & Laber 2021 (variance of games) · Arvesen 1969 (jackknife).
"""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reports.intervals import Estimate, Floats, interval_mean, interval_share, jackknife

CHANCES = (0.75, 0.90, 0.95)
"""Chances of being ahead for which the hands that it takes are told."""

CRITICAL = 0.841344746068543
"""The chance of being ahead at the critical repetition frequency: the normal distribution at one standard deviation."""


class SkillError(ValueError):
    """A question about skill that the blocks played can not answer."""


# --- the better of two --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Needed:
    """Hands until the better of two is ahead with this chance; None: not known, there may be no better one."""

    chance: float
    hands: int | None
    low: int
    high: int | None

    def in_words(self) -> str:
        """Return `84 (61 to 133)`, or `more than 60` where the blocks do not show who is better."""
        if self.hands is None or self.high is None:
            return f"more than {self.low - 1:,}"
        return f"{self.hands:,} ({self.low:,} to {self.high:,})"


def edge(mean: float, se: float, variance: float, blocks: int, *, level: float = 0.95) -> Estimate:
    """Return how far the first player is ahead of the second after a hand, in standard deviations: mean / √variance.

    mean: of the first's result minus the second's, a hand; se: its standard error, from blocks; variance: what each
    further hand adds to the variance of the lead. There are two, and they answer two questions:
    - r times the variance of a block's mean, for players who play each deal in all r rotations, as the blocks do;
    - the variance of a single hand (within each position, since seats come round evenly), for a home game, in which
      every hand is dealt afresh. It is larger, because the luck of the deal stays in.

    The error of the variance is that of B normal blocks, and matters little, since the edge of a hand is small. Where
    nothing varies, the interval is that of B blocks with a variance of 1.
    """
    if blocks < 2:
        raise SkillError(f"blocks: {blocks}; an edge needs at least 2, to see how results vary")
    if variance <= 0.0 and mean == 0.0:
        return interval_mean(0.0, 1.0 / math.sqrt(blocks), blocks, level)
    allowed = max(variance, mean * mean / blocks)
    value = mean / math.sqrt(allowed)
    return interval_mean(value, math.sqrt(se * se / allowed + value * value / (2.0 * blocks)), blocks, level)


def ahead_after(edge: Estimate, hands: Iterable[int]) -> list[Estimate]:
    """Return the chance that the better of the two is ahead after so many hands, Φ(√N · |edge|), for each number.

    Nobody knows for sure who is the better; where the interval of the edge includes 0, that of the chance begins at
    one half. A lead of exactly 0 counts as one half, and the normal distribution is good from some tens of hands on.
    """
    from scipy.special import ndtr

    value, low, high = _size(edge)
    found = []
    for number in hands:
        root = math.sqrt(number)
        se = root * edge.se * math.exp(-number * value * value / 2.0) / math.sqrt(2.0 * math.pi)
        found.append(Estimate(float(ndtr(root * value)), se, float(ndtr(root * low)), float(ndtr(root * high))))
    return found


def hands_needed(edge: Estimate, chance: float) -> Needed:
    """Return how many hands it takes until the better of the two is ahead with this chance: (z / edge)², rounded up.

    Where the interval of the edge includes 0 there is only a lower bound.
    """
    from scipy.special import ndtri

    if not 0.5 < chance < 1.0:
        raise SkillError(f"chance {chance:g}: the chance of being ahead that hands lead to lies between 0.5 and 1")
    z = float(ndtri(chance))
    value, low, high = _size(edge)

    def hands(size: float) -> int:
        # the margin keeps a whole number whole that came out a rounding error above it
        return max(1, math.ceil((z / size) ** 2 * (1.0 - 1e-12)))

    if low == 0.0:
        return Needed(chance, None, hands(high), None)
    return Needed(chance, hands(value), hands(high), hands(low))


def critical_repetition(edge: Estimate) -> Needed:
    """Return the critical repetition frequency: variance / mean², the hands after which skill weighs as much as luck.

    There the expected lead equals its standard deviation, which grows more slowly (Rock & Fiedler 2008). Take the edge
    of the home game (see `edge`).
    """
    return hands_needed(edge, CRITICAL)


def played_out(scores: ArrayLike, hands_each: int, hands: Sequence[int], *, level: float = 0.95) -> list[Estimate]:
    """Return the share of series of so many hands at whose end the better player is ahead: the curve, played out.

    scores: (B,) lead of the first player over the second in each block of `hands_each` hands, in the order of play.
    The series lie end to end and share no block; what does not fill one is left out. A lead of 0 counts as one half.
    The better player is who leads over all blocks, which flatters the share a little where the two are about equal.

    Raises SkillError for a number of hands that no series of blocks has.
    """
    lead = np.asarray(scores, dtype=np.float64)
    lead = lead * (np.sign(lead.sum()) or 1.0)
    found = []
    for number in hands:
        blocks = number // hands_each
        if number < 1 or number % hands_each or blocks > len(lead):
            most = len(lead) * hands_each
            raise SkillError(
                f"series of {number} hands: allowed are multiples of {hands_each} from {hands_each} to {most}"
            )
        series = len(lead) // blocks
        total = lead[: series * blocks].reshape(series, blocks).sum(axis=1)
        ahead = (np.sign(total) + 1.0) / 2.0
        se = float(ahead.std(ddof=1)) / math.sqrt(series) if series > 1 else 0.0
        found.append(interval_share(float(ahead.mean()), se, series, series, level))
    return found


def _size(edge: Estimate) -> tuple[float, float, float]:
    """Return the size of the edge and its interval: whoever is ahead."""
    if edge.low <= 0.0 <= edge.high:
        return abs(edge.value), 0.0, max(-edge.low, edge.high)
    low, high = sorted((abs(edge.low), abs(edge.high)))
    return abs(edge.value), low, high


# --- what a result depends on -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class BlockSums:
    """What `split` needs to know of the blocks: whole numbers, summed within each of G groups of blocks.

    In each block one deal is played under A arrangements (which player sits at which position: all rotations of all
    line-ups), each M times with fresh luck for the players. With y the result of position p of n in one hand, X sums
    of it over a block's replays, for one arrangement and position, one position, or all:
    """

    replays: int
    """M."""
    blocks: NDArray[np.int64]
    """(G,)."""
    squares: NDArray[np.int64]
    """(G,) of y²."""
    replay_products: NDArray[np.int64]
    """(G,) of y times y of another replay of the same arrangement and position."""
    deal_products: NDArray[np.int64]
    """(G,) of a position's sum over arrangements in one replay times that in another."""
    cells: NDArray[np.int64]
    """(G, A, n) of X for each arrangement and position."""
    cells_squared: NDArray[np.int64]
    """(G, A, n) of its square."""
    positions_squared: NDArray[np.int64]
    """(G, n) of the square of X for each position."""
    totals_squared: NDArray[np.int64]
    """(G,) of the square of X over all."""

    @classmethod
    def of(cls, results: ArrayLike) -> Self:
        """Sum up one group of blocks: results (B, A, n, M), integers (1 for a win, or points)."""
        y = np.asarray(results)
        if y.dtype.kind not in "iu" or y.ndim != 4:
            raise TypeError(f"results are integers (blocks, arrangements, positions, replays), got {y.dtype} {y.shape}")
        y = y.astype(np.int64)
        each = y.sum(axis=1)  # (B, n, M)
        cells = y.sum(axis=3)
        positions = cells.sum(axis=1)

        def one(number: Any) -> NDArray[np.int64]:
            return np.array([number], dtype=np.int64)

        return cls(
            replays=y.shape[3],
            blocks=one(len(y)),
            squares=one((y**2).sum()),
            replay_products=one((cells**2).sum() - (y**2).sum()),
            deal_products=one((positions**2).sum() - (each**2).sum()),
            cells=cells.sum(axis=0)[np.newaxis],
            cells_squared=(cells**2).sum(axis=0)[np.newaxis],
            positions_squared=(positions**2).sum(axis=0)[np.newaxis],
            totals_squared=one((positions.sum(axis=1) ** 2).sum()),
        )

    @classmethod
    def joined(cls, groups: Sequence["BlockSums"]) -> Self:
        """Put groups of blocks of one design side by side."""
        names = [field.name for field in fields(cls) if field.name != "replays"]
        return cls(groups[0].replays, *(np.concatenate([getattr(part, name) for part in groups]) for name in names))


@dataclass(frozen=True)
class Part:
    """A part of the variance of a result: in the result's unit squared, and as a share of the whole.

    clipped: the estimate came out below 0, which no variance is, and 0 stands in its place.
    """

    name: str
    variance: Estimate
    share: Estimate
    clipped: bool


PARTS = {
    "skill": "who plays: the player's strategy and those of the others, on average over deals",
    "seat": "the position, on average over players and deals",
    "deal": "the cards: what a position's cards are worth beyond the average, whoever plays",
    "skill_in_deal": "skill that matters with some cards and not with others",
    "chance": "chance in play: what differs when the same players play the same cards again",
}
"""The parts in which `split` divides the variance of a result; they add up to all of it."""


def split(sums: BlockSums, *, level: float = 0.95) -> tuple[Estimate, tuple[Part, ...]]:
    """Return the variance of one player's result in a hand, and its PARTS.

    The player sits at a position drawn evenly, under an arrangement drawn evenly from those played, in a random deal.
    Let E(·) be the mean square of what is expected when so much is known. Position, arrangement and deal are crossed,
    and arrangements are independent of the rest, so (Hoeffding 1948; Sobol' 1993)

        seat = E(position) - E(nothing)                 skill = E(position, arrangement) - E(position)
        deal = E(position, deal) - E(position)          chance = E(everything) - E(position, arrangement, deal)
        skill_in_deal = E(position, arrangement, deal) - E(position, deal) - E(position, arrangement) + E(position)

    are variances, and their sum is the variance. Each E is estimated without bias by products of results that have only
    the known in common: of different replays of a block where the deal is known, of different blocks where it is not.
    Replays of different arrangements may share their luck, so a replay is only ever multiplied by another one.

    Unbiased estimates of a variance of 0 fall below it half the time; they are then set to 0 and marked, and the parts
    add up to a little more than the whole. Standard errors and intervals: jackknife over the groups of blocks.

    Raises SkillError with fewer than two replays, groups, or blocks outside any one group.
    """
    groups = len(sums.blocks)
    if sums.replays < 2:
        raise SkillError(f"replays: {sums.replays}; telling chance in play from the cards needs at least 2")
    if groups < 2 or int(sums.blocks.sum() - sums.blocks.max()) < 2:
        raise SkillError(
            f"{int(sums.blocks.sum())} blocks in {groups} groups: a split needs at least 2 groups of some blocks"
        )
    raw = _components(sums, np.zeros(1, dtype=np.int64) - 1)[0]
    without = _components(sums, np.arange(groups))
    ses = np.sqrt(np.diag(jackknife(without)))
    none = raw[-1] <= 0.0 or (without[:, -1] <= 0.0).any()  # nothing varies: no shares
    shares = np.zeros_like(raw) if none else raw / raw[-1]
    share_ses = np.zeros_like(raw) if none else np.sqrt(np.diag(jackknife(without / without[:, -1:])))
    return _kept(raw[-1], ses[-1], groups, level, math.inf), tuple(
        Part(
            name,
            variance=_kept(raw[k], ses[k], groups, level, math.inf),
            share=Estimate(0.0, 0.0, 0.0, 1.0) if none else _kept(shares[k], share_ses[k], groups, level, 1.0),
            clipped=bool(raw[k] < 0.0),
        )
        for k, name in enumerate(PARTS)
    )


def _kept(value: float, se: float, groups: int, level: float, most: float) -> Estimate:
    """Return the interval of what lies from 0 to `most`; a value outside is moved to the edge, with its interval."""
    e = interval_mean(min(most, max(0.0, float(value))), float(se), groups, level)
    return Estimate(e.value, e.se, max(0.0, e.low), min(most, e.high))


def _components(sums: BlockSums, left: NDArray[np.int64]) -> Floats:
    """Return the PARTS and the whole without each of these groups (-1: without none), (len(left), parts + 1)."""

    def rest(counts: NDArray[np.int64]) -> Floats:
        gone = np.where(left.reshape(-1, *[1] * (counts.ndim - 1)) < 0, 0, counts[left])
        return np.asarray(counts.sum(axis=0) - gone, dtype=np.float64)

    _, arrangements, players = sums.cells.shape
    m, blocks = sums.replays, rest(sums.blocks)

    def across(total: Floats, squares: Floats) -> Floats:
        """Mean product of two different blocks, averaged over all but the first axis."""
        axes = tuple(range(1, total.ndim))
        return np.asarray((total**2 - squares).mean(axis=axes) / (blocks * (blocks - 1.0)), dtype=np.float64)

    cells = rest(sums.cells)
    nothing = across(cells.sum(axis=(1, 2)), rest(sums.totals_squared)) / (players * arrangements * m) ** 2
    position = across(cells.sum(axis=1), rest(sums.positions_squared)) / (arrangements * m) ** 2
    who = across(cells, rest(sums.cells_squared)) / m**2
    deal = rest(sums.deal_products) / (blocks * players * arrangements**2 * m * (m - 1))
    both = rest(sums.replay_products) / (blocks * players * arrangements * m * (m - 1))
    everything = rest(sums.squares) / (blocks * players * arrangements * m)
    return np.stack(
        [
            who - position,
            position - nothing,
            deal - position,
            both - deal - who + position,
            everything - both,
            everything - nothing,
        ],
        axis=1,
    )
