"""From counts to estimates: a tally becomes a tidy data frame and the JSON that other programs read.

This is the one place where integers become fractions. Everything is a ratio over blocks (a hand's measures to the
hands, a match's to the matches), with the standard error that the blocks give.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reports.evenness import Evenness, evenness
from reports.intervals import Estimate, Floats, Ranking, interval_mean, interval_share, rank, ratio_moments
from reports.measures import (
    EVENNESS,
    HAND_MEASURES,
    LENGTHS,
    MATCHES,
    QUANTILES,
    Measure,
    MeasureError,
    longer_than,
    quantile_of,
)
from sim.batch import Plan, Run, Scenario
from sim.table import REASONS
from sim.tally import TABLE_MEASURES, TURNS_BINS, Tally, hand_columns, match_columns

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]


Found = tuple[Measure, str, str, Estimate]
"""What was found of a measure: by what (position, strategy, seat, bound, hand, or ''), of which, and the estimate."""

SECONDS_A_TURN = 10.0
"""How long a turn takes at the table, where nobody says otherwise: hands have turns, only people have minutes."""


def _moments(tally: Tally, columns: Sequence[int], scenarios: Sequence[int]) -> tuple[NDArray[Any], NDArray[Any]]:
    """Ratios to the hands, with covariances between scenarios, of one column a scenario."""
    at = list(scenarios)
    v = columns[0]
    return ratio_moments(
        tally.sums[at, v],
        tally.hands[at],
        tally.products[np.ix_(at, at)][:, :, v],
        tally.hand_products[np.ix_(at, at)][:, :, v],
        tally.hands_products[np.ix_(at, at)],
        int(tally.blocks),
    )


def estimate(measure: Measure, value: float, se: float, count: int, blocks: int, seats: int = 1) -> Estimate:
    """A ratio in the unit of its measure, for each of `seats` seats alike, with its interval.

    What was counted the same in all blocks, or never, may yet differ in the next: an event that is not seen in `count`
    hands can be as frequent as 3.7 / count (95 %), so the standard error behind the interval has twice 1 / count added.
    No count and no sum of points is below 0.
    """
    scale = measure.scale * seats
    value, se = value / scale, se / scale
    if measure.share:
        return interval_share(value, se, count, blocks)
    allowed = interval_mean(value, math.hypot(se, 2 / (count * scale)), blocks)
    return Estimate(value, se, max(0.0, allowed.low), allowed.high)


def hand_estimates(tally: Tally, scenario: int, names: Sequence[str]) -> list[Found]:
    """All measures of a hand in one scenario: (measure, by, which, estimate).

    By strategy they are those of a seat that plays it, on average over its seats.
    """
    players = len(names)
    groups = list(dict.fromkeys(names))
    blocks, hands = int(tally.blocks), int(tally.hands[scenario])
    found = []
    columns = tally.sums.shape[1]
    for v, (counter, by, number) in enumerate(hand_columns(players, (columns - len(TABLE_MEASURES)) // 3 - players)):
        measure = HAND_MEASURES[counter]
        which, seats = (str(number) if by else ""), 1
        if by == "group":
            if number > len(groups):
                continue
            by, which = "strategy", groups[number - 1]
            seats = list(names).count(which)
        theta, covariance = _moments(tally, [v], [scenario])
        se = math.sqrt(max(0.0, covariance[0, 0]))
        found.append((measure, by, which, estimate(measure, theta[0], se, hands, blocks, seats)))
    return found


def match_estimates(tally: Tally, scenario: int, matches: int) -> list[Found]:
    """All measures of a match in one scenario: (measure, by, which, estimate); `matches` were played."""
    blocks = int(tally.blocks)
    players = tally.match_sums.shape[1] - len(match_columns(0))
    each = matches // blocks
    found = []
    for w, (counter, by, number) in enumerate(match_columns(players)):
        measure = MATCHES[counter]
        theta, covariance = ratio_moments(
            tally.match_sums[[scenario], w],
            np.array([matches]),
            tally.match_products[scenario, scenario, w].reshape(1, 1),
            (tally.match_sums[[scenario], w] * each).reshape(1, 1),
            np.array([[blocks * each * each]]),
            blocks,
        )
        se = math.sqrt(max(0.0, covariance[0, 0]))
        found.append((measure, by, str(number) if by else "", estimate(measure, theta[0], se, matches, blocks)))
    return found


def results_frame(run: Run, titles: Sequence[str]) -> "pd.DataFrame":
    """Everything that the tally counted, tidy: a row a scenario × measure × position or strategy or seat."""
    plan, tally = run.plan, run.tally
    matches = int(tally.blocks) * plan.rotations
    everything = []
    for k, scenario in enumerate(plan.scenarios):
        alike = len(set(scenario.names)) == 1
        found = hand_estimates(tally, k, scenario.names)
        if plan.matches:
            found += match_estimates(tally, k, matches)
        # where all play alike and somebody always wins, this is 1/n and nothing was measured
        everything.append(
            [
                one
                for one in found
                if not (alike and one[:2] == (HAND_MEASURES["win"], "strategy") and _is_exact(one[3], plan.players))
            ]
        )
    hands = [int(count) for count in tally.hands]
    return tidy(plan, titles, everything, hands=hands, matches=matches, blocks=int(tally.blocks))


def tidy(
    plan: Plan,
    titles: Sequence[str],
    everything: Sequence[Sequence[Found]],
    *,
    hands: Sequence[int],
    matches: int,
    blocks: int,
) -> "pd.DataFrame":
    """Put what was found, and the hands that it rests on, by scenario into the form of the results: a row a figure."""
    import pandas as pd

    rows = [
        {
            "scenario": k + 1,
            "rules": titles[k],
            "players": plan.players,
            "lineup": lineup_text(scenario.names),
            "measure": measure.name,
            "by": by,
            "which": which,
            "unit": measure.unit,
            **value.as_dict(),
            "hands": hands[k],
            "matches": matches if plan.matches else 0,
            "blocks": blocks,
            "seed": str(plan.seed),
        }
        for k, scenario in enumerate(plan.scenarios)
        for measure, by, which, value in everything[k]
    ]
    return pd.DataFrame(rows)


def length_moments(tally: Tally, plan: Plan) -> tuple[Floats, Floats]:
    """Turns a match (or a hand, where hands are played) on average, by scenario (K,), and their covariance (K, K)."""
    scenarios = list(range(len(plan.scenarios)))
    if not plan.matches:
        turns = hand_columns(plan.players, 0).index(("turns", "", 0))
        return _moments(tally, [turns], scenarios)
    turns = match_columns(plan.players).index(("turns", "", 0))
    each, blocks = np.full(len(scenarios), plan.rotations), int(tally.blocks)
    sums = tally.match_sums[:, turns]
    products = tally.match_products[:, :, turns]
    return ratio_moments(sums, each * blocks, products, np.outer(sums, each), np.outer(each, each) * blocks, blocks)


def _is_exact(share: Estimate, players: int) -> bool:
    return math.isclose(share.value * players, 1.0, abs_tol=1e-12)


def lineup_text(names: Sequence[str]) -> str:
    """A line-up in a few words: `4 × random`, or the names by seat."""
    if len(set(names)) == 1:
        return f"{len(names)} × {names[0]}"
    return ", ".join(names)


def _win_shares(tally: Tally, players: int) -> tuple[Floats, Floats]:
    """Win shares by position (K * n,) and their covariance."""
    scenarios = tally.sums.shape[0]
    wins = _wins(players)
    return ratio_moments(
        tally.sums[:, wins],
        tally.hands,
        tally.win_products,
        tally.hand_products[:, :, wins].transpose(0, 2, 1).reshape(scenarios * players, scenarios),
        tally.hands_products,
        int(tally.blocks),
    )


def _wins(players: int) -> slice:
    return slice(len(TABLE_MEASURES), len(TABLE_MEASURES) + players)


def rank_scenarios(tally: Tally, players: int) -> Ranking:
    """The scenarios ranked by how evenly the positions win."""
    theta, covariance = _win_shares(tally, players)
    return rank(theta.reshape(-1, players), covariance, int(tally.blocks))


def even_chances(tally: Tally, players: int) -> list[Evenness]:
    """The test of equal chances of the positions, with Cramér's V and the entropy of the win shares, by scenario."""
    _, covariance = _win_shares(tally, players)
    found = []
    for k, sums in enumerate(tally.sums):
        own = slice(k * players, (k + 1) * players)
        found.append(evenness(sums[_wins(players)], int(tally.hands[k]), covariance[own, own], int(tally.blocks)))
    return found


def fairness_estimates(tally: Tally, players: int, ranking: Ranking | None = None) -> list[list[Found]]:
    """Spread, Cramér's V and entropy by scenario; the intervals of the spreads hold together.

    ranking: what `rank_scenarios` says of this tally, where it is known already.

    The plain spread stands in the interval of the true one, and its value under fair rules is exact.
    """
    found = []
    spreads = (rank_scenarios(tally, players) if ranking is None else ranking).spreads
    for spread, even in zip(spreads, even_chances(tally, players), strict=True):
        values = {
            "value": spread.estimate,
            "plain": Estimate(spread.plain, spread.se, min(spread.low, spread.plain), max(spread.high, spread.plain)),
            "null": Estimate(spread.null, 0.0, spread.null, spread.null),
            "cramers_v": even.cramers_v,
            "entropy": even.entropy,
        }
        found.append([(EVENNESS[name], "", "", value) for name, value in values.items()])
    return found


def quantile(histogram: Ints, share: float, blocks: int) -> Estimate:
    """A quantile of counts; `histogram[x]` is how often x was seen.

    Its interval are the order statistics between which it lies (Wilson 1927 for their ranks). Where a block gives
    several counts it is taken as one, so the interval is rather too wide.
    """
    seen = np.cumsum(histogram)
    total = int(seen[-1])

    def at(part: float, beyond: int = 0) -> int:
        return int(np.searchsorted(seen, min(total, max(1, math.ceil(part * total) + beyond))))

    ranks = interval_share(share, math.sqrt(share * (1 - share) / blocks), blocks, blocks)
    # One rank further on each side: ranks are whole, and in a tail that matters.
    low, high = at(ranks.low, -1), at(ranks.high, 1)
    return Estimate(at(share), (high - low) / (2 * 1.959964), low, high)


def median_turns(tally: Tally) -> list[Estimate]:
    """The median of the turns a hand, one estimate a scenario."""
    return [quantile(histogram, 0.5, int(tally.blocks)) for histogram in tally.turns]


def distribution(histogram: Ints, mean: Estimate, blocks: int) -> dict[str, Any]:
    """Mean, quantiles and maximum of counts; `histogram[x]` is how often x was seen."""
    shares = {"p10": 0.1, "median": 0.5, "p90": 0.9, "p99": 0.99}
    return {
        "mean": mean.as_dict(),
        **{name: quantile(histogram, share, blocks).as_dict() for name, share in shares.items()},
        "max": int(np.flatnonzero(histogram)[-1]),
    }


def longer(histogram: Ints, bound: float, blocks: int) -> Estimate:
    """The share of counts above a bound; `histogram[x]` is how often x was seen.

    Wilson's interval with a block for one count, as in `quantile`. Raises MeasureError for a bound that the last bin,
    which in a tally's turns a match holds all longer ones, cannot tell.
    """
    if bound >= TURNS_BINS - 1 == len(histogram) - 1:
        raise MeasureError(
            f"longer than {bound:g} turns; allowed: below {TURNS_BINS - 1:,}, up to which they are counted"
        )
    share = int(histogram[max(0, math.floor(bound) + 1) :].sum()) / int(histogram.sum())
    return interval_share(share, math.sqrt(share * (1 - share) / blocks), blocks, blocks)


def length_estimates(
    tally: Tally,
    scenario: int,
    names: Sequence[str],
    matches: int,
    *,
    seconds_a_turn: float = SECONDS_A_TURN,
    bounds: Mapping[str, Sequence[float]] | None = None,
) -> list[Found]:
    """How long hands and matches are: means, quantiles, and chances to be longer than bounds.

    `matches`: how many were played, 0 if hands were. `bounds`: by the names in `reports.measures.LENGTHS`, in their
    units, such as `{"minutes_per_match": [60]}`. Raises MeasureError.
    """
    if not (math.isfinite(seconds_a_turn) and seconds_a_turn > 0):
        raise MeasureError(f"{seconds_a_turn:g} seconds a turn; allowed: above 0")
    found = hand_estimates(tally, scenario, names) + (match_estimates(tally, scenario, matches) if matches else [])
    means = {measure.name: value for measure, by, _, value in found if not by}
    histograms = {"turns_per_hand": tally.turns[scenario]}
    if matches:
        histograms |= {"hands_per_match": tally.match_hands[scenario], "turns_per_match": tally.match_turns[scenario]}
    lengths = {name: (name, 1.0) for name in histograms}
    lengths |= {
        name.replace("turns", "minutes"): (name, seconds_a_turn / 60) for name in histograms if name.startswith("turns")
    }
    if unknown := [name for name in bounds or {} if name not in lengths]:
        raise MeasureError(f"no such length: {unknown[0]!r}; allowed here: {', '.join(lengths)}")
    blocks = int(tally.blocks)
    answer: list[Found] = []
    for length in (name for name in LENGTHS if name in lengths):
        counted, unit = lengths[length]
        answer.append((LENGTHS[length], "", "", _times(means[counted], unit)))
        for name, share in QUANTILES.items():
            value = quantile(histograms[counted], share, blocks)
            answer.append((quantile_of(length, name), "", "", _times(value, unit)))
        for bound in (bounds or {}).get(length, ()):
            value = longer(histograms[counted], bound / unit, blocks)
            answer.append((longer_than(length), "bound", f"{bound:g}", value))
    return answer


def _times(value: Estimate, factor: float) -> Estimate:
    return Estimate(value.value * factor, value.se * factor, value.low * factor, value.high * factor)


def simulation(run: Run, scenario: int = 0) -> dict[str, Any]:
    """What was measured of one scenario, in the form of `simulate --format json` (docs/contracts.md)."""
    plan, tally = run.plan, run.tally
    names = plan.scenarios[scenario].names
    blocks = int(tally.blocks)
    found = hand_estimates(tally, scenario, names)
    of = {(m.name, by, which): estimate.as_dict() for m, by, which, estimate in found}
    mean_turns = next(e for m, by, _, e in found if m.name == "turns_per_hand")
    each = ("win_share", "points_left", "score")
    answer: dict[str, Any] = {
        "hands": int(tally.hands[scenario]),
        "blocks": blocks,
        "seconds": run.seconds,
        "stopped": run.stopped,
        "positions": [
            {"position": p, **{name: of[name, "position", str(p)] for name in each}} for p in range(1, plan.players + 1)
        ],
        "strategies": [
            {
                "strategy": strategy,
                "seats": [seat for seat, name in enumerate(names, start=1) if name == strategy],
                **{name: of[name, "strategy", strategy] for name in each},
            }
            for strategy in dict.fromkeys(names)
        ],
        "turns_per_hand": distribution(tally.turns[scenario], mean_turns, blocks),
        **{
            name: of[name, "", ""]
            for name in (
                "cards_drawn_per_hand",
                "passes_per_hand",
                "choices_per_hand",
                "stuck_per_hand",
                "reshuffles_per_hand",
                "reshuffled",
                "closed_on_wild",
                "void_deals_per_hand",
            )
        },
        "longest_penalty_chain": int(tally.longest_chain[scenario]),
        "ended": {reason: of[reason, "", ""] for reason in REASONS},
    }
    if plan.matches:
        count = blocks * plan.rotations
        played = match_estimates(tally, scenario, count)
        by_name = {(m.name, which): e for m, _, which, e in played}
        answer["matches"] = {
            "count": count,
            "hands_per_match": distribution(tally.match_hands[scenario], by_name["hands_per_match", ""], blocks),
            "turns_per_match": distribution(tally.match_turns[scenario], by_name["turns_per_match", ""], blocks),
            "turns_counted_to": TURNS_BINS - 1,
            "win_share_by_seat": [
                {"seat": s, "strategy": names[s - 1], **by_name["match_win_share", str(s)].as_dict()}
                for s in range(1, plan.players + 1)
            ],
            **{
                name: by_name[name, ""].as_dict()
                for name in (
                    "winner_total",
                    "first_dealer_wins",
                    "extra_hands_per_match",
                    "shared_matches",
                    "capped_matches",
                )
            },
        }
    return answer


def scenario_estimates(tally: Tally, name: str, scenarios: Sequence[Scenario]) -> list[Estimate]:
    """A measure of the hand as a whole, one estimate a scenario."""
    found = []
    for k, scenario in enumerate(scenarios):
        found += [e for m, by, _, e in hand_estimates(tally, k, scenario.names) if m.name == name and not by]
    return found
