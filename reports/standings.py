"""Which is better and by how much: values put in order, with all that may surely be said about the order.

What comes in: one value a strategy (win share gained, points; the larger the better) with the covariance that deal
blocks give, or a table of who does how well against whom. "Surely" means one thing throughout: the interval of the
paired difference, from a family that holds together, lies on one side of 0. Best set, ranks, groups and cycles all
follow from that one family, so they are right together whenever it is, and never contradict the table beside them.

Why not the narrower step-down bounds of `intervals.rank`: values here are normal, unlike spreads, so that the plain
max-t family is already exact at any values, ties included.

Sources: Hothorn, Bretz & Westfall 2008 (max-t) · Mogstad, Romano, Shaikh & Wilhelm 2024 (ranks from differences) ·
Hsu 1996 (best set) · Piepho 2004 (groups by letters).
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from reports.intervals import DRAWS, SEED, Estimate, Floats, interval_mean, simultaneous, variance_ratio


@dataclass(frozen=True)
class Standings:
    """S strategies compared, the best first in `order`; everything else keeps the order in which they were given.

    values: their S intervals hold together at `level`; differences[i][j]: i minus j, paired, all S(S-1)/2 intervals
    hold together at `level`; in_best_set[i]: no j is surely better than i; rank_low, rank_high: the ranks (1 = best)
    that i may have; groups: see `rank_values`; variance_ratio[i][j]: variance of the paired difference against that
    from independent hands.
    """

    level: float
    values: tuple[Estimate, ...]
    differences: tuple[tuple[Estimate, ...], ...]
    order: tuple[int, ...]
    in_best_set: tuple[bool, ...]
    rank_low: tuple[int, ...]
    rank_high: tuple[int, ...]
    groups: tuple[tuple[int, ...], ...]
    variance_ratio: tuple[tuple[float, ...], ...]


def rank_values(
    values: ArrayLike,
    covariance: ArrayLike,
    blocks: int,
    *,
    scale: float = 1.0,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Standings:
    """Put values (S,) with covariance (S, S) in order, the largest first.

    Ranks run from 1 + (number surely better) to S - (number surely worse). With probability `level` all differences
    are within their intervals, and then all true ranks lie within theirs and all truly best are in the best set,
    whatever the true values are (Mogstad et al. 2024; equal values share all the ranks they take up).

    groups: the maximal runs of neighbours in `order` in which no two are surely apart, best first; a strategy may be
    in several. Whoever share a group cannot be told apart. Two without a common group are surely apart, or somebody
    between them is surely apart from one of them: pairing makes some differences more precise than others.

    scale: the most that one block can move a value, in its unit; 1 for a share. What B blocks cannot exclude is
    allowed for by adding (scale / B)² to each variance, as `intervals.rank` does; 0 takes the covariance as it is, and
    what was alike in all blocks then has an interval of width 0. Right for B well above S.
    """
    v = np.asarray(values, dtype=np.float64)
    strategies = len(v)
    cov = _allowed(covariance, strategies, blocks, scale)
    first, second = np.triu_indices(strategies, 1)
    contrast = np.zeros((len(first), strategies))
    contrast[np.arange(len(first)), first], contrast[np.arange(len(first)), second] = 1.0, -1.0
    pairs = _together(contrast @ v, contrast @ cov @ contrast.T, blocks, scale, level, draws, seed)

    table = [[Estimate(0.0, 0.0, 0.0, 0.0)] * strategies for _ in range(strategies)]
    better = np.zeros((strategies, strategies), dtype=bool)  # [i, j]: i is surely better than j
    for i, j, e in zip(first, second, pairs, strict=True):
        table[i][j], table[j][i] = e, Estimate(-e.value, e.se, -e.high, -e.low)
        better[i, j], better[j, i] = e.low > 0.0, e.high < 0.0
    order = tuple(sorted(range(strategies), key=lambda k: -v[k]))
    plain = np.asarray(covariance, dtype=np.float64)
    return Standings(
        level=level,
        values=tuple(_together(v, cov, blocks, scale, level, draws, seed)),
        differences=tuple(map(tuple, table)),
        order=order,
        in_best_set=tuple(not better[:, i].any() for i in range(strategies)),
        rank_low=tuple(1 + int(x) for x in better.sum(axis=0)),
        rank_high=tuple(strategies - int(x) for x in better.sum(axis=1)),
        groups=_groups(order, better | better.T),
        variance_ratio=tuple(
            tuple(1.0 if i == j else variance_ratio(plain[i, i], plain[j, j], plain[i, j]) for j in range(strategies))
            for i in range(strategies)
        ),
    )


def payoffs(
    matrix: ArrayLike,
    covariance: ArrayLike,
    blocks: int,
    *,
    scale: float = 1.0,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
) -> tuple[tuple[Estimate, ...], ...]:
    """Return the entries of a pay-off matrix (S, S), row against column, with intervals that hold together at `level`.

    covariance: (S·S, S·S), row by row. The diagonal is not estimated: between equals nobody has an edge, so its
    entries are taken as exact. Entries that mirror each other cost nothing. For `scale` see `rank_values`.
    """
    m = np.asarray(matrix, dtype=np.float64)
    size = len(m)
    played = np.flatnonzero(~np.eye(size, dtype=bool).ravel())
    cov = _allowed(np.asarray(covariance, dtype=np.float64)[np.ix_(played, played)], len(played), blocks, scale)
    entries = iter(_together(m.ravel()[played], cov, blocks, scale, level, draws, seed))
    return tuple(
        tuple(Estimate(m[i, i], 0.0, m[i, i], m[i, i]) if i == j else next(entries) for j in range(size))
        for i in range(size)
    )


def cycles(differences: Sequence[Sequence[Estimate]]) -> tuple[tuple[int, ...], ...]:
    """Return all sure cycles in which each beats the next and the last beats the first, the shortest first.

    differences[i][j]: i against j, above 0 where i is better; [j][i] must be its mirror image. An edge counts if its
    interval lies above 0; if the intervals hold together at 95 %, so does the whole list. A cycle is listed once,
    from its smallest number on, and only if it is minimal: no edge between two of its members leaves a shorter one, so
    that all pairs that are not neighbours are undecided. Cycles of three always are.
    """
    size = len(differences)
    beats = np.array([[i != j and differences[i][j].low > 0.0 for j in range(size)] for i in range(size)], dtype=bool)
    if (beats & beats.T).any():
        i, j = np.argwhere(beats & beats.T)[0]
        raise ValueError(f"not differences: {i} is surely better than {j}, and {j} than {i}")
    apart = beats | beats.T
    found: list[tuple[int, ...]] = []

    def follow(path: tuple[int, ...]) -> None:
        start, last = path[0], path[-1]
        for after in range(start + 1, size):
            # nobody on the way but the last may be decided against the next, the start only if that closes the cycle
            if beats[last, after] and after not in path and not any(apart[x, after] for x in path[1:-1]):
                if len(path) > 1 and beats[after, start]:
                    found.append((*path, after))
                elif len(path) == 1 or not apart[start, after]:
                    follow((*path, after))

    for start in range(size):
        follow((start,))
    return tuple(sorted(found, key=lambda cycle: (len(cycle), cycle)))


def _allowed(covariance: ArrayLike, size: int, blocks: int, scale: float) -> Floats:
    """Return the covariance with one block's worth of variance added to each value."""
    return np.asarray(covariance, dtype=np.float64) + np.eye(size) * (scale / max(1, blocks)) ** 2


def _together(
    values: Floats, covariance: Floats, blocks: int, scale: float, level: float, draws: int, seed: int
) -> list[Estimate]:
    """Return intervals that hold together; with one block, those of one observation no smaller than `scale`."""
    if blocks > 1:
        return simultaneous(values, covariance, blocks, level=level, draws=draws, seed=seed)
    each = 1.0 - (1.0 - level) / max(1, len(values))
    wide = [interval_mean(max(abs(v), scale), 0.0, blocks, each) for v in values]
    return [
        Estimate(v, w.se, v - (w.high - w.value), v + (w.high - w.value)) for v, w in zip(values, wide, strict=True)
    ]


def _groups(
    order: Sequence[int], apart: np.ndarray[tuple[int, int], np.dtype[np.bool_]]
) -> tuple[tuple[int, ...], ...]:
    """Return the maximal runs of neighbours in the order of which no two are apart."""
    runs: list[tuple[int, ...]] = []
    end = 0
    for start in range(len(order)):
        grown = max(end, start)
        while grown < len(order) and not any(apart[order[k], order[grown]] for k in range(start, grown)):
            grown += 1
        if grown > end:  # else it is a part of the run before
            runs.append(tuple(order[start:grown]))
            end = grown
    return tuple(runs)
