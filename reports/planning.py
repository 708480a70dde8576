"""How many hands a question takes, and how many minutes: from text-book formulas and a short run that is measured.

The formulas of the text-books are for hands that do not depend on each other. Hands of one deal block do, and two
scenarios that meet the same deals do, which mostly helps. How much is measured here in a pilot run of the very rules
and line-up, never guessed: the design effect of blocks (Kish 1965) and the variance ratio of the pairing. So is speed.

The pilot is played in PARTS parts, each at a seed of its own. How much what they say differs from part to part gives
the intervals (sectioning: Asmussen and Glynn, Stochastic Simulation, 2007, ch. III.5). Its seeds follow the one that
is given, so that the run planned for meets other deals than the pilot.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reports.frames import lineup_text
from reports.intervals import Estimate, interval_mean, rank, ratio_moments
from reports.measures import HAND_MEASURES, MATCHES, Measure
from sim.batch import Plan, compile_engine, run
from sim.tally import TABLE_MEASURES, Tally, hand_columns, match_columns

Floats = NDArray[np.float64]

PARTS = 16
"""Parts of a pilot run: enough to see how far they differ, so few that each says something."""
LEAST_BLOCKS = 50 * PARTS
"""Blocks of a pilot at the least: variances of fewer than some dozens a part say little."""
SPREAD = "spread"
POWER = 0.8
TIMED = 0.25
"""Seconds that a run takes at the least to be timed: starting one takes some hundredths."""
TIMINGS = 8
"""Runs that are timed where the parts of the pilot are too short for it."""
STEPS = 8
"""Most steps in search of the length at which the interval of a spread is narrow enough; it takes two or three."""
SEEDS = 2**64


class PlanningError(ValueError):
    """An aim that cannot be planned for: one line with what was given and what is allowed."""


@dataclass(frozen=True)
class Aim:
    """What the hands are wanted for, every input stated. Raises PlanningError."""

    goal: Literal["margin", "difference"]
    """A value known to ± `size`, or a difference of `size` told apart from none."""
    size: float
    """In the unit of the measure; a share from 0 to 1."""
    measure: str = "win_share"
    """A measure by its published name, or `spread`: the largest win share by position minus the smallest."""
    by: Literal["position", "strategy"] | None = None
    """For a measure of players: the position that needs most hands (default), or the strategy of seat 1."""
    level: float = 0.95
    power: float | None = None
    """Only for a difference: how often one that is there will be found (default POWER)."""

    def __post_init__(self) -> None:
        """Look at the inputs one by one."""
        if self.goal not in ("margin", "difference"):
            raise PlanningError(f"goal is {self.goal!r}; allowed: margin, difference")
        if not 0.0 < self.size < math.inf:
            raise PlanningError(f"size is {self.size:g}; allowed: above 0")
        if not 0.5 <= self.level < 1.0:
            raise PlanningError(f"level is {self.level:g}; allowed: from 0.5 to below 1")
        if self.goal == "margin" and self.power is not None:
            raise PlanningError("power is for a difference; a margin has none")
        if self.power is not None and not 0.5 <= self.power < 1.0:
            raise PlanningError(f"power is {self.power:g}; allowed: from 0.5 to below 1")

    @property
    def chance_to_find(self) -> float:
        """The power of a difference."""
        return POWER if self.power is None else self.power


# --- Hands that do not depend on each other ----------------------------------------------------------------------


def margin_hands(variance: float, half_width: float, level: float = 0.95) -> int:
    """Return how many independent hands, of this variance each, give a mean to ± half_width: z² · variance / d².

    A share p has variance p (1 - p), 0.25 at the most. z is rounded up to two decimals, 1.96 at 95 %, as in text-books.
    """
    z = math.ceil(_z(0.5 + level / 2) * 100 - 1e-9) / 100
    return _up(z**2 * variance / half_width**2)


def power_hands(known: float, other: float, *, level: float = 0.95, power: float = POWER) -> int:
    """Return how many independent hands tell a share from a known one if it is `other` (two-sided test, one arm).

    (z √(p (1 - p)) + z' √(p' (1 - p')))² / (p' - p)², as in Fleiss, Statistical Methods for Rates and Proportions,
    1981, ch. 1.
    """
    root = _z(0.5 + level / 2) * math.sqrt(known * (1 - known)) + _z(power) * math.sqrt(other * (1 - other))
    return _up((root / (other - known)) ** 2)


def power_hands_of_means(variance: float, difference: float, *, level: float = 0.95, power: float = POWER) -> int:
    """Return how many hands find a difference of means: (z + z')² · variance / δ²; `variance`: of a difference."""
    return _up((_z(0.5 + level / 2) + _z(power)) ** 2 * variance / difference**2)


def _z(probability: float) -> float:
    from scipy.special import ndtri

    return float(ndtri(probability))


def _up(number: float) -> int:
    """Return the next whole number, where what floating point adds to a whole one does not count."""
    return max(1, math.ceil(number * (1 - 1e-12)))


# --- What the pilot says -----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Moments:
    """One or two values with their covariance, and the variance of a single hand if hands were independent."""

    value: Floats
    covariance: Floats
    single: Floats
    hands: int

    @property
    def effect(self) -> float:
        """The design effect: how many times the variance is what it would be for independent hands; 1 if it is 0."""
        single = float(self.single.sum())
        return float(np.trace(self.covariance)) * self.hands / single if single else 1.0

    @property
    def variance(self) -> float:
        """Of the value, or of the difference of two that met the same deals."""
        apart = np.array([1.0, -1.0])[: len(self.value)]
        return float(apart @ self.covariance @ apart)

    @property
    def ratio(self) -> float:
        """Variance of the paired difference against that of independent runs; 1 for a single value."""
        apart = float(np.trace(self.covariance))
        return self.variance / apart if apart else 1.0


@dataclass(frozen=True)
class _Case:
    """One thing that could be aimed at, such as the win share of position 2, and how to read it from tallies."""

    label: str
    read: Callable[[Tally, Tally | None], _Moments]
    """Of a tally, and of one in which each hand is a block of its own (where `single` needs it)."""
    seats: int = 1
    """Seats of the first scenario that it is the mean of."""


@dataclass(frozen=True)
class _Need:
    """What a tally says of a case."""

    hands: float
    independent: int
    effect: float
    ratio: float


def plan(aim: Aim, asked: Plan, *, threads: int = 1) -> dict[str, Any]:
    """Return how many hands (or matches) an aim takes, and how long they take here. JSON can hold it.

    `asked` is what would be played; its blocks are those of the pilot. It has one scenario, or two for a difference;
    a difference of one scenario is that of its win share from an even one. Raises PlanningError, StrategyFault.

    `hands` is the number a scenario that the estimate asks for, in whole blocks. Where so many hands are played the
    half-width comes out between `half_width.low` and `half_width.high`, as sure as the intervals here are.
    """
    _check(aim, asked)
    # What a part lacks of a block is played: a pilot is never shorter than what was asked for.
    pilot = replace(asked, blocks=-(-asked.blocks // PARTS))
    compile_engine(pilot)
    parts, seconds = [], []
    for number in range(PARTS):
        played = _played(replace(pilot, seed=(asked.seed + 1 + number) % SEEDS), threads)
        parts.append(played.tally)
        seconds.append(played.seconds)
    singles = _singles(aim, asked, pilot, threads)
    total, total_singles = _added(parts), None if singles is None else _added(singles)

    cases = _spread_cases(aim, asked, total) if aim.measure == SPREAD else _cases(aim, asked, total)
    read = [case.read(total, total_singles) for case in cases]
    for case, moments in zip(cases, read, strict=True):
        if not moments.single.any() or not moments.variance:
            played_hands = f"{int(total.blocks) * asked.rotations:,} {_unit(asked)}"
            raise PlanningError(f"{case.label} did not vary in a pilot of {played_hands}; allowed: what does, or more")
    needs = [_need(aim, asked, case, moments) for case, moments in zip(cases, read, strict=True)]
    most = max(range(len(cases)), key=lambda at: needs[at].hands)
    case, need = cases[most], needs[most]
    of_parts = [
        _need(aim, asked, case, case.read(part, None if singles is None else singles[at]))
        for at, part in enumerate(parts)
    ]
    if aim.measure == SPREAD and aim.goal == "margin":
        need, of_parts = _by_interval(aim, asked, total, parts, need, of_parts)

    hands = _sectioned(need.hands, [one.hands for one in of_parts])
    blocks = _up(need.hands / asked.rotations)
    scenarios = len(asked.scenarios)
    pace = _pace(asked, pilot, seconds, threads)
    a_hand = _sectioned(sum(pace) / len(pace), pace)
    answer: dict[str, Any] = {
        "aim": {**asdict(aim), "power": aim.chance_to_find if aim.goal == "difference" else None},
        "of": case.label,
        "players": asked.players,
        "lineups": [lineup_text(scenario.names) for scenario in asked.scenarios],
        "unit": _unit(asked),
        "scenarios": scenarios,
        "rotations": asked.rotations,
        "hands": blocks * asked.rotations,
        "blocks": blocks,
        "hands_needed": hands.as_dict(),
        "minutes": _product(hands, a_hand, scenarios / 60).as_dict(),
        "hands_per_second": _sectioned(1 / a_hand.value, [1 / each for each in pace]).as_dict(),
        "threads": threads,
        "independent_hands": need.independent,
        "design_effect": _sectioned(need.effect, [one.effect for one in of_parts]).as_dict(),
        "variance_ratio": _sectioned(need.ratio, [one.ratio for one in of_parts]).as_dict() if scenarios > 1 else None,
        "pilot": {
            "hands": int(total.blocks) * asked.rotations,
            "blocks": int(total.blocks),
            "parts": PARTS,
            "seeds": [str((asked.seed + 1 + number) % SEEDS) for number in range(PARTS)],
            "values": [
                interval_mean(float(value), math.sqrt(variance), int(total.blocks), aim.level).as_dict()
                for value, variance in zip(read[most].value, np.diag(read[most].covariance), strict=True)
            ],
            "seconds": sum(seconds),
        },
    }
    if aim.goal == "margin":
        ends = (math.sqrt(end / need.hands) * aim.size for end in (hands.low, hands.high))
        answer["half_width"] = dict(zip(("low", "high"), ends, strict=True))
    return answer


def _unit(asked: Plan) -> str:
    return "matches" if asked.matches else "hands"


def _check(aim: Aim, asked: Plan) -> None:
    """Refuse what cannot be planned for."""
    scenarios = len(asked.scenarios)
    if asked.blocks < LEAST_BLOCKS:
        raise PlanningError(f"a pilot of {asked.blocks:,} blocks; allowed: {LEAST_BLOCKS:,} or more")
    if scenarios > 2 or (scenarios == 2 and aim.goal == "margin"):
        raise PlanningError(
            f"{scenarios} scenarios for a {aim.goal}; allowed: {'1' if aim.goal == 'margin' else '1, 2'}"
        )
    shares = ("match_win_share",) if asked.matches else ("win_share",)
    if aim.goal == "difference" and scenarios == 1 and aim.measure not in shares:
        raise PlanningError(f"one scenario for a difference in {aim.measure}; allowed: two, or the measure {shares[0]}")
    known = {one.name: one for one in (MATCHES if asked.matches else HAND_MEASURES).values()}
    names = [*known, *(() if asked.matches else (SPREAD,))]
    if aim.measure not in names:
        import difflib

        near = difflib.get_close_matches(aim.measure, names, 1)
        hint = f"; did you mean {near[0]}?" if near else ""
        raise PlanningError(f"measure is {aim.measure!r}; allowed for {_unit(asked)}: {', '.join(names)}{hint}")
    if aim.by is not None and (asked.matches or aim.measure not in ("win_share", "points_left", "score")):
        raise PlanningError(f"by {aim.by} with {aim.measure}; allowed: with win_share, points_left, score of hands")
    if aim.size >= 1 and (aim.measure == SPREAD or known[aim.measure].share):
        raise PlanningError(f"size is {aim.size:g}; allowed for a share: below 1")


def _played(pilot: Plan, threads: int) -> Any:
    played = run(pilot, threads=threads)
    if int(played.tally.blocks) < pilot.blocks:
        raise KeyboardInterrupt
    return played


def _singles(aim: Aim, asked: Plan, pilot: Plan, threads: int) -> list[Tally] | None:
    """Play the pilot's hands with each as a block of its own, where only this tells the variance of a hand."""
    measures = MATCHES if asked.matches else HAND_MEASURES
    if (
        asked.rotations == 1
        or aim.measure == SPREAD
        or next(m for m in measures.values() if m.name == aim.measure).share
    ):
        return None
    found = []
    for number in range(PARTS):
        seed = (asked.seed + 1 + number) % SEEDS
        if asked.matches:  # whose first dealer is drawn by chance
            alone = [replace(pilot, seed=seed, rotations=1, blocks=pilot.blocks * pilot.rotations)]
        else:
            first = asked.players - 1 if asked.first_dealer is None else asked.first_dealer
            alone = [
                replace(pilot, seed=seed, rotations=1, first_dealer=(first + turn) % asked.players)
                for turn in range(asked.rotations)
            ]
        found.append(_added([_played(one, threads).tally for one in alone]))
    return found


def _added(tallies: Sequence[Tally]) -> Tally:
    first = tallies[0]
    total = replace(first, **{name: counts.copy() for name, counts in first.arrays().items()})
    for other in tallies[1:]:
        total.add(other)
    return total


def _need(aim: Aim, asked: Plan, case: _Case, moments: _Moments) -> _Need:
    """Return the hands of the text-book, times what blocks and pairing change."""
    power = aim.chance_to_find
    if aim.goal == "margin":
        independent = margin_hands(float(moments.single[0]), aim.size, aim.level)
    elif len(moments.value) == 1:
        # Of seats together, whose share is then that many times as large; downwards where there is no room above.
        even, apart = case.seats / asked.players, case.seats * aim.size
        other = even + apart if even + apart < 1 else even - apart
        if not 0 < other < 1:
            raise PlanningError(f"size is {aim.size:g}; no share is so far from an even one of {1 / asked.players:.4g}")
        independent = power_hands(even, other, level=aim.level, power=power)
    else:
        independent = power_hands_of_means(float(moments.single.sum()), aim.size, level=aim.level, power=power)
    effect, ratio = moments.effect, moments.ratio
    return _Need(independent * effect * ratio, independent, effect, ratio)


def _sectioned(value: float, parts: Sequence[float]) -> Estimate:
    """Return an estimate of what is not below 0, from the whole pilot and from its parts."""
    se = float(np.std(parts, ddof=1)) / math.sqrt(len(parts))
    found = interval_mean(value, se, len(parts))
    return Estimate(value, se, max(0.0, found.low), found.high)


def _product(first: Estimate, second: Estimate, factor: float) -> Estimate:
    """Return the product of two independent estimates that are not below 0, and of a factor."""
    value = first.value * second.value * factor
    se = value * math.hypot(first.se / first.value, second.se / second.value)
    found = interval_mean(value, se, min(PARTS, TIMINGS))
    return Estimate(value, se, max(0.0, found.low), found.high)


def _pace(asked: Plan, pilot: Plan, seconds: Sequence[float], threads: int) -> list[float]:
    """Return the seconds a hand of one scenario, measured several times."""
    blocks, measured = pilot.blocks, list(seconds)
    if min(seconds) < TIMED:
        measured = []
        while len(measured) < TIMINGS:
            played = _played(replace(asked, seed=(asked.seed + 1) % SEEDS, blocks=blocks), threads).seconds
            if played < TIMED and not measured:
                # Still too short: longer by what is lacking, but not on the word of a very short run.
                blocks = math.ceil(blocks * min(10.0, 1.5 * TIMED / played))
            else:
                measured.append(played)
    return [each / (blocks * asked.rotations * len(asked.scenarios)) for each in measured]


# --- Measures ----------------------------------------------------------------------------------------------------


def _cases(aim: Aim, asked: Plan, total: Tally) -> list[_Case]:
    """Return the columns of the tally that the measure stands in, a case each."""
    found = []
    if asked.matches:
        columns = match_columns(asked.players)
        measures = MATCHES
    else:
        groups = (total.sums.shape[1] - len(TABLE_MEASURES)) // 3 - asked.players
        columns = hand_columns(asked.players, groups)
        measures = HAND_MEASURES
    wanted = {None: ("", "position", "seat"), "position": ("position",), "strategy": ("group",)}[aim.by]
    for column, (counter, by, number) in enumerate(columns):
        measure = measures[counter]
        if measure.name != aim.measure or by not in wanted or (by == "group" and number > 1):
            continue
        strategies = " or ".join(dict.fromkeys(scenario.names[0] for scenario in asked.scenarios))
        which = {"": "", "group": f" of {strategies}"}.get(by, f" of {by} {number}")
        names = asked.scenarios[0].names
        seats = names.count(names[0]) if by == "group" else 1
        found.append(_Case(f"{measure.name}{which}", _reader(asked, measure, column, by), seats))
    return found


def _reader(asked: Plan, measure: Measure, column: int, by: str) -> Callable[[Tally, Tally | None], _Moments]:
    scale = np.array(
        [
            measure.scale * (names.count(names[0]) if by == "group" else 1)
            for names in (s.names for s in asked.scenarios)
        ]
    )

    def read(tally: Tally, singles: Tally | None) -> _Moments:
        value, covariance, hands = _ratios(asked, tally, column, asked.rotations)
        if measure.share:
            parts = scale / measure.scale  # seats together
            share = value / measure.scale
            single = share * (1 - share) / parts**2 * hands / (hands - 1)
        else:
            alone = tally if singles is None else singles
            _, variances, each = _ratios(asked, alone, column, 1 if singles is not None else asked.rotations)
            single = np.diag(variances) * each / scale**2
        return _Moments(value / scale, covariance / np.outer(scale, scale), single, hands)

    return read


def _ratios(asked: Plan, tally: Tally, column: int, rotations: int) -> tuple[Floats, Floats, int]:
    """Return a column's ratio to the hands (matches) of each scenario, the covariance, and their number a scenario."""
    sums, products = (tally.match_sums, tally.match_products) if asked.matches else (tally.sums, tally.products)
    scenarios, blocks = len(sums), int(tally.blocks)
    each = np.full(scenarios, blocks * rotations)
    value, covariance = ratio_moments(
        sums[:, column],
        each,
        products[:, :, column],
        np.repeat(sums[:, column : column + 1] * rotations, scenarios, axis=1),
        np.full((scenarios, scenarios), blocks * rotations**2),
        blocks,
    )
    return value, covariance, blocks * rotations


# --- Spreads -----------------------------------------------------------------------------------------------------


def _spread_cases(aim: Aim, asked: Plan, total: Tally) -> list[_Case]:
    """Return the one case of a spread: between the positions that come out first and last in the whole pilot."""
    shares, _ = _wins(asked, total)
    pairs = [(int(row.argmax()), int(row.argmin())) for row in shares]

    def read(tally: Tally, _: Tally | None) -> _Moments:
        shares, covariance = _wins(asked, tally)
        contrast = np.zeros((len(pairs), shares.size))
        for k, (best, worst) in enumerate(pairs):
            contrast[k, k * asked.players + best], contrast[k, k * asked.players + worst] = 1.0, -1.0
        gap = contrast @ shares.ravel()
        # A hand adds 1, -1 or 0 to the gap.
        single = np.array([row[best] + row[worst] for row, (best, worst) in zip(shares, pairs, strict=True)]) - gap**2
        hands = int(tally.blocks) * asked.rotations
        return _Moments(gap, contrast @ covariance @ contrast.T, single * hands / (hands - 1), hands)

    return [_Case(SPREAD, read)]


def _wins(asked: Plan, tally: Tally) -> tuple[Floats, Floats]:
    """Return the win shares (K, n) and their covariance (K · n, K · n)."""
    scenarios, players, first = len(tally.sums), asked.players, len(TABLE_MEASURES)
    wins = slice(first, first + players)
    shares, covariance = ratio_moments(
        tally.sums[:, wins],
        tally.hands,
        tally.win_products,
        tally.hand_products[:, :, wins].transpose(0, 2, 1).reshape(scenarios * players, scenarios),
        tally.hands_products,
        int(tally.blocks),
    )
    return shares.reshape(scenarios, players), covariance


def _by_interval(
    aim: Aim, asked: Plan, total: Tally, parts: Sequence[Tally], need: _Need, of_parts: Sequence[_Need]
) -> tuple[_Need, list[_Need]]:
    """Return the needs by the interval that a spread is given (`reports.intervals.rank`), which is not value ± z · se.

    The interval is worked out for a run with the pilot's shares, of the length that makes it as narrow as wanted.
    """

    def half_width(tally: Tally, hands: float) -> float:
        shares, covariance = _wins(asked, tally)
        blocks = max(2, round(hands / asked.rotations))
        found = rank(shares, covariance * (int(tally.blocks) / blocks), blocks, level=aim.level).spreads[0]
        return (found.high - found.low) / 2

    hands = need.hands
    for _ in range(STEPS):
        apart = half_width(total, hands) / aim.size
        if abs(apart - 1) < 0.002:
            break
        hands = max(2.0 * asked.rotations, hands * apart**2)
    widths = [half_width(part, hands) for part in parts]
    found = [replace(one, hands=hands * (width / aim.size) ** 2) for one, width in zip(of_parts, widths, strict=True)]
    return replace(need, hands=hands), found
