"""Plackett–Luce strengths: one number a strategy, from the order in which the players of a hand finish.

The model: the winner is drawn with chances in proportion to the players' weights, then the second among the others,
and so on. A strength is the logarithm of a weight. Two strategies' strengths say how often one finishes ahead of the
other, at any table; that is what makes tables with different line-ups comparable. The model leaves out positions, which
the rotations of the line-up balance. It need not be true: standard errors come from deal blocks, by a jackknife that
leaves out a group of them at a time, and hold for the best fit of the model as for its truth.

Sources: Plackett 1975; Luce 1959 · Maystre & Grossglauser 2015 (spectral ranking; the `choix` package) · Hunter 2004
(the likelihood as a sequence of choices) · Efron & Stein 1981; Shao & Wu 1989 (delete-a-group jackknife).
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from types import ModuleType

import numpy as np
from numpy.typing import ArrayLike, NDArray

from reports.intervals import DRAWS, SEED, Estimate, Floats, jackknife, simultaneous

GROUPS = 100
"""Groups of blocks that are left out one at a time."""

Order = tuple[tuple[int, ...], ...]
"""Strategies from first to last; those of one inner tuple tied. ((0,), (1, 2), (1,)) has a tie for second place."""


class StrengthsMissing(RuntimeError):
    """The package that fits strengths is not installed."""


class NoStrengths(ValueError):
    """Results to which no finite strengths belong."""


@dataclass(frozen=True)
class Strengths:
    """Strengths of S strategies, their sum 0; `level` holds for all strengths together, and for all chances together.

    ahead[i][j]: the chance that a player of i finishes ahead of one of j, 1 / (1 + exp(strength j - strength i)), a
    tie counted as one half.
    """

    level: float
    values: tuple[Estimate, ...]
    ahead: tuple[tuple[Estimate, ...], ...]


def count_orders(strategies: ArrayLike, finish: ArrayLike, groups: ArrayLike) -> dict[Order, NDArray[np.int64]]:
    """Return how often each finishing order occurred in each group of blocks: (G,) counts by order.

    strategies: (H, n) the strategy of each player of each hand; finish: (H, n) the lower the better, equal is a tie
    (such as the points left, the winner's set below all); groups: (H,) the group of each hand, from 0. All hands of a
    block belong to one group.
    """
    who, score = np.asarray(strategies, dtype=np.int64), np.asarray(finish, dtype=np.float64)
    group = np.asarray(groups, dtype=np.int64)
    # by finish, then by number, so that equal orders become equal rows
    sequence = np.lexsort((who, score), axis=1)
    who, score = np.take_along_axis(who, sequence, 1), np.take_along_axis(score, sequence, 1)
    tied = np.diff(score, axis=1) == 0.0
    rows, index = np.unique(np.hstack([who, tied]), axis=0, return_inverse=True)
    counts = np.zeros((len(rows), int(group.max()) + 1), dtype=np.int64)
    np.add.at(counts, (index.ravel(), group), 1)
    players = who.shape[1]
    return {_order(row[:players], row[players:]): n for row, n in zip(rows.tolist(), counts, strict=True)}


def strengths(
    orders: Mapping[Order, ArrayLike],
    names: Sequence[str],
    *,
    level: float = 0.95,
    draws: int = DRAWS,
    seed: int = SEED,
) -> Strengths:
    """Return the strengths of S strategies from counts (G,) of finishing orders by group of blocks.

    Groups hold about equally many blocks; G ≥ 2, better some dozens (GROUPS), and well above S. A strategy may have
    several seats at a table.

    A tie counts as all orders in which the tied may have finished, in equal parts: two that tie got half a place each.
    To keep the fits finite when a group is left out, each pair is credited with one tied hand that nobody played.

    Raises NoStrengths if some strategies never finished ahead of any other or never behind, so that their strength
    would be infinite, and StrengthsMissing without the package `choix`.
    """
    size = len(names)
    counts = np.array([np.asarray(n, dtype=np.float64) for n in orders.values()])
    choices = [_choices(order) for order in orders]
    sets = sorted({key for found in choices for key in found})
    # how often each choice (winner, from whom) is made when an order occurs once: choices and orders are both few
    times = np.array([[found.get(key, 0.0) for found in choices] for key in sets]) @ counts
    winner = np.zeros((len(sets), size))
    winner[np.arange(len(sets)), [key[0] for key in sets]] = 1.0
    members = np.zeros((len(sets), size))
    for row, (_, among) in enumerate(sets):
        np.add.at(members[row], list(among), 1.0)

    every = times.sum(axis=1)
    _connected((winner * every[:, np.newaxis]).T @ members > 0.0, names)
    whole = _fit(winner, members, every)
    without = np.array([_fit(winner, members, every - left, whole) for left in times.T])
    groups = counts.shape[1]
    covariance = jackknife(without)
    first, second = np.triu_indices(size, 1)
    pairs = covariance[first[:, None], first] + covariance[second[:, None], second]
    pairs -= covariance[first[:, None], second] + covariance[second[:, None], first]
    ahead = [[Estimate(0.5, 0.0, 0.5, 0.5)] * size for _ in range(size)]
    differences = simultaneous(whole[first] - whole[second], pairs, groups, level=level, draws=draws, seed=seed)
    for i, j, e in zip(first, second, differences, strict=True):
        p, low, high = (1.0 / (1.0 + math.exp(-x)) for x in (e.value, e.low, e.high))
        se = p * (1.0 - p) * e.se
        ahead[i][j], ahead[j][i] = Estimate(p, se, low, high), Estimate(1.0 - p, se, 1.0 - high, 1.0 - low)
    values = simultaneous(whole, covariance, groups, level=level, draws=draws, seed=seed)
    return Strengths(level, tuple(values), tuple(map(tuple, ahead)))


def _order(who: list[int], tied: list[int]) -> Order:
    """Return an order from strategies by finish and whether each but the first ties with the one before."""
    places = [[who[0]]]
    for strategy, same in zip(who[1:], tied, strict=True):
        if same:
            places[-1].append(strategy)
        else:
            places.append([strategy])
    return tuple(map(tuple, places))


@cache
def _choices(order: Order) -> dict[tuple[int, tuple[int, ...]], float]:
    """Return an order as choices: how often (winner, all it was chosen from), each but the last place once.

    Of t tied players, each set of u is equally often the one still to be placed, and each of these equally often next.
    """
    found: dict[tuple[int, tuple[int, ...]], float] = {}
    behind: tuple[int, ...] = ()
    for place in reversed(order):
        t = len(place)
        for u in range(1, t + 1):
            for still in combinations(place, u):
                among = tuple(sorted(still + behind))
                if len(among) > 1:
                    for winner in still:
                        key = (winner, among)
                        found[key] = found.get(key, 0.0) + 1.0 / (math.comb(t, u) * u)
        behind = tuple(sorted(place + behind))
    return found


def _fit(winner: Floats, members: Floats, times: Floats, start: Floats | None = None) -> Floats:
    """Return the most likely strengths, their sum 0, of choices: how often, of whom and from whom, a row a choice.

    `choix` takes every ranking singly; here they are counted. Its iteration for pairs is used, fed with the pairs that
    stand for the choices at the present weights (rank breaking: each choice of w from a set weighs as wins of w over
    the others, each (weight w + weight l) / weight of the set). Where it stands still the likelihood of all choices is
    largest (Maystre & Grossglauser 2015, algorithm 2).
    """
    choix = _choix()
    size = members.shape[1]
    present = np.zeros(size) if start is None else start
    for _ in range(1_000):
        weight = np.exp(present - present.max())
        wins = (winner * (times / (members @ weight))[:, np.newaxis]).T @ members
        wins *= weight[:, np.newaxis] + weight
        wins += 0.5  # a tied hand of each pair
        np.fill_diagonal(wins, 0.0)
        after = np.asarray(choix.lsr_pairwise_dense(wins, initial_params=present), dtype=np.float64)
        after -= after.mean()
        if np.abs(after - present).max() < 1e-8:
            return after
        present = after
    raise NoStrengths("the strengths do not settle: play more hands, or leave out a strategy that hardly ever wins")


def _choix() -> ModuleType:
    """Import the package that fits strengths; it is optional."""
    try:
        import choix
    except ImportError:
        raise StrengthsMissing(
            "strengths need the package choix, which is not installed: pip install 'ochos-sim[strengths]'"
        ) from None
    return choix


def _connected(ahead: NDArray[np.bool_], names: Sequence[str]) -> None:
    """Refuse results in which some strategies were always ahead of all others (they have no finite strength)."""
    from scipy.sparse.csgraph import connected_components

    parts, part = connected_components(ahead, directed=True, connection="strong")
    if parts > 1:
        one = next(k for k in range(parts) if not ahead[part != k][:, part == k].any())
        first = ", ".join(name for name, k in zip(names, part, strict=True) if k == one)
        raise NoStrengths(
            f"no finite strengths: {first} never finished behind any other; play more hands, or leave it out"
        )
