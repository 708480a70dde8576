"""From counts to estimates: a tally becomes a tidy data frame and the JSON that other programs read.

This is the one place where integers become fractions. Everything is a ratio over blocks (a hand's measures to the
hands, a match's to the matches), with the standard error that the blocks give.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from reports.intervals import Estimate, Ranking, interval_mean, interval_share, rank, ratio_moments
from sim.batch import Run, Scenario
from sim.engine import WHOLE
from sim.table import REASONS
from sim.tally import TABLE_MEASURES, TURNS_BINS, Tally, hand_columns, match_columns

if TYPE_CHECKING:
    import pandas as pd

Ints = NDArray[np.int64]


@dataclass(frozen=True)
class Measure:
    """A figure that is published: its name, its unit, what it says, and whether it is a share of 0 to 1."""

    name: str
    unit: str
    meaning: str
    share: bool = False
    scale: float = 1.0
    """What one of the unit is in the counter."""


HAND_MEASURES = {
    "turns": Measure("turns_per_hand", "turns", "turns that a hand takes"),
    "cards_drawn": Measure("cards_drawn_per_hand", "cards", "cards drawn in a hand, by all, penalties included"),
    "passes": Measure("passes_per_hand", "turns", "turns of a hand that end in a pass"),
    "choices": Measure(
        "choices_per_hand", "turns", "turns of a hand in which the player had more than one thing to do"
    ),
    "stuck": Measure("stuck_per_hand", "turns", "turns of a hand that begin without a playable card"),
    "reshuffles": Measure("reshuffles_per_hand", "times", "times that the discards become the stock in a hand"),
    "reshuffled": Measure("reshuffled", "share of hands", "hands with a reshuffle", share=True),
    "closed_on_wild": Measure("closed_on_wild", "share of hands", "hands that somebody closes with a wild", share=True),
    "void_deals": Measure("void_deals_per_hand", "deals", "deals that were void and dealt again"),
    "out": Measure("out", "share of hands", "hands that end with somebody out of cards", share=True),
    "blocked": Measure("blocked", "share of hands", "hands that end blocked", share=True),
    "stopped": Measure("stopped", "share of hands", "hands that a player stops", share=True),
    "capped": Measure("capped", "share of hands", "hands that end at the turn cap", share=True),
    "win": Measure("win_share", "share of hands", "hands won", share=True),
    "points_left": Measure("points_left", "points", "points left in hand at the end of a hand"),
    "score": Measure("score", "points", "points added to the total for a hand"),
}
"""By the name of the counter in a tally's row."""

MATCHES = {
    "hands": Measure("hands_per_match", "hands", "hands that a match takes"),
    "turns": Measure("turns_per_match", "turns", "turns that a match takes"),
    "first_dealer": Measure("first_dealer_wins", "share of matches", "matches won by who dealt first", True, WHOLE),
    "winner_total": Measure("winner_total", "points", "total of the winner at the end"),
    "extra_hands": Measure("extra_hands_per_match", "hands", "extra hands to break a tie"),
    "shared": Measure("shared_matches", "share of matches", "matches that several share", share=True),
    "capped": Measure("capped_matches", "share of matches", "matches given up because they did not end", share=True),
    "match_win": Measure(
        "match_win_share", "share of matches", "matches won; a shared one counts in parts", True, WHOLE
    ),
}


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


def _estimate(measure: Measure, value: float, se: float, count: int, blocks: int, seats: int = 1) -> Estimate:
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


def hand_estimates(tally: Tally, scenario: int, names: Sequence[str]) -> list[tuple[Measure, str, str, Estimate]]:
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
        found.append((measure, by, which, _estimate(measure, theta[0], se, hands, blocks, seats)))
    return found


def match_estimates(tally: Tally, scenario: int, matches: int) -> list[tuple[Measure, str, str, Estimate]]:
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
        found.append((measure, by, str(number) if by else "", _estimate(measure, theta[0], se, matches, blocks)))
    return found


def results_frame(run: Run, titles: Sequence[str]) -> "pd.DataFrame":
    """Everything measured, tidy: a row a scenario × measure × position or strategy or seat."""
    import pandas as pd

    plan, tally = run.plan, run.tally
    rows = []
    for k, scenario in enumerate(plan.scenarios):
        hands = int(tally.hands[k])
        alike = len(set(scenario.names)) == 1
        found = hand_estimates(tally, k, scenario.names)
        matches = int(tally.blocks) * plan.rotations
        if plan.matches:
            found += match_estimates(tally, k, matches)
        for measure, by, which, estimate in found:
            # where all play alike and somebody always wins, this is 1/n and nothing was measured
            if alike and by == "strategy" and measure.name == "win_share" and _is_exact(estimate, plan.players):
                continue
            rows.append(
                {
                    "scenario": k + 1,
                    "rules": titles[k],
                    "players": plan.players,
                    "lineup": lineup_text(scenario.names),
                    "measure": measure.name,
                    "by": by,
                    "which": which,
                    "unit": measure.unit,
                    **estimate.as_dict(),
                    "hands": hands,
                    "matches": matches if plan.matches else 0,
                    "blocks": int(tally.blocks),
                    "seed": str(plan.seed),
                }
            )
    return pd.DataFrame(rows)


def _is_exact(share: Estimate, players: int) -> bool:
    return math.isclose(share.value * players, 1.0, abs_tol=1e-12)


def lineup_text(names: Sequence[str]) -> str:
    """A line-up in a few words: `4 × random`, or the names by seat."""
    if len(set(names)) == 1:
        return f"{len(names)} × {names[0]}"
    return ", ".join(names)


def rank_scenarios(tally: Tally, players: int) -> Ranking:
    """The scenarios ranked by how evenly the positions win."""
    scenarios = tally.sums.shape[0]
    first = len(TABLE_MEASURES)
    wins = slice(first, first + players)
    theta, covariance = ratio_moments(
        tally.sums[:, wins],
        tally.hands,
        tally.win_products,
        tally.hand_products[:, :, wins].transpose(0, 2, 1).reshape(scenarios * players, scenarios),
        tally.hands_products,
        int(tally.blocks),
    )
    return rank(theta.reshape(scenarios, players), covariance, int(tally.blocks))


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
