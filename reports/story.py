"""From the story of hands and matches (`sim.story`) to estimates and to the tidy frame of all measures.

A story rests on fewer hands than the tally beside it, so its rows say on how many. What is judged by tables of chances
has its standard error from groups of blocks, each with tables of its own: their error is the larger part of it.
"""

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reports.frames import (
    SECONDS_A_TURN,
    Found,
    estimate,
    fairness_estimates,
    hand_estimates,
    length_estimates,
    match_estimates,
    results_frame,
    tidy,
)
from reports.intervals import Estimate, Ranking, ratio_moments
from reports.measures import JUDGED, LEADER_WINS, STORY_HANDS, STORY_MATCHES, Measure
from sim.batch import Plan, Run
from sim.story import HAND_COLUMNS, JUDGED_COLUMNS, LEADER_HANDS, MATCH_COLUMNS, Story

if TYPE_CHECKING:
    import pandas as pd


def story_estimates(story: Story, scenario: int) -> list[Found]:
    """All measures of a story in one scenario; those of which nothing was met (no penalty, no match) are left out.

    So are those that are judged by tables of chances where there are hands for fewer than two groups of blocks.
    """
    hands = (HAND_COLUMNS, story.sums[scenario], story.products[scenario])
    matches = (MATCH_COLUMNS, story.match_sums[scenario], story.match_products[scenario])
    blocks = int(story.blocks)
    found = [_ratio(measure, *hands, *of, blocks) for of, measure in STORY_HANDS.items()]
    found += _judged(story.judged[scenario])
    found += [_ratio(measure, *matches, *of, blocks) for of, measure in STORY_MATCHES.items()]
    found += [
        _ratio(LEADER_WINS, *matches, f"leader_won_{k}", f"on_{k}", blocks, by="hand", which=str(k))
        for k in range(1, LEADER_HANDS + 1)
    ]
    return [one for one in found if one is not None]


def _ratio(
    measure: Measure,
    columns: Sequence[str],
    sums: np.ndarray[Any, Any],
    products: np.ndarray[Any, Any],
    above: str,
    below: str,
    blocks: int,
    *,
    by: str = "",
    which: str = "",
) -> Found | None:
    """The ratio of two columns' sums over blocks; None if there is nothing to divide by."""
    x, h = columns.index(above), columns.index(below)
    if not sums[h]:
        return None
    theta, covariance = ratio_moments(
        sums[[x]], sums[[h]], products[[[x]], [[x]]], products[[[x]], [[h]]], products[[[h]], [[h]]], blocks
    )
    se = math.sqrt(max(0.0, covariance[0, 0]))
    # Where hardly any block has what is divided by, as few know anything of it.
    count = int(sums[h])
    return measure, by, which, estimate(measure, theta[0], se, count, min(blocks, count))


def _judged(groups: np.ndarray[Any, Any]) -> list[Found | None]:
    """The means over the hands judged, from the sums of each group (G, 5): ratios over groups, from 0 to 1."""
    columns = JUDGED_COLUMNS
    sums, products = groups.sum(axis=0), groups.T @ groups
    found: list[Found | None] = []
    for name, measure in JUDGED.items():
        one = _ratio(measure, columns, sums, products, name, "won", len(groups)) if len(groups) > 1 else None
        if one is not None:
            value = one[3]
            one = (*one[:3], Estimate(value.value, value.se, value.low, min(1.0, value.high)))
        found.append(one)
    return found


def story_frame(plan: Plan, story: Story, titles: Sequence[str]) -> "pd.DataFrame":
    """The measures of a story, tidy: the columns of `reports.frames.results_frame`."""
    everything = [story_estimates(story, k) for k in range(len(plan.scenarios))]
    blocks = int(story.blocks)
    return tidy(plan, titles, everything, hands=story.hands, matches=blocks * plan.rotations, blocks=blocks)


def everything(run: Run, story: Story | None = None, ranking: Ranking | None = None) -> list[list[Found]]:
    """Every measure there is, by scenario; `ranking`: of the run, where it is known already."""
    plan, tally = run.plan, run.tally
    matches = int(tally.blocks) * plan.rotations if plan.matches else 0
    even = fairness_estimates(tally, plan.players, ranking)
    found = []
    for k, scenario in enumerate(plan.scenarios):
        own = hand_estimates(tally, k, scenario.names)
        own += match_estimates(tally, k, matches) if matches else []
        lengths = length_estimates(tally, k, scenario.names, matches)
        own += [*even[k], *(one for one in lengths if one[0].name not in _MEANS)]
        found.append(own + (story_estimates(story, k) if story is not None else []))
    return found


def measures_frame(
    run: Run,
    titles: Sequence[str],
    story: Story | None = None,
    *,
    seconds_a_turn: float = SECONDS_A_TURN,
    bounds: Mapping[str, Sequence[float]] | None = None,
) -> "pd.DataFrame":
    """Every measure there is, tidy: those of `results_frame`, evenness, lengths, and of the story if it was told.

    `seconds_a_turn` and `bounds` as in `reports.frames.length_estimates`.
    """
    import pandas as pd

    plan, tally = run.plan, run.tally
    matches = int(tally.blocks) * plan.rotations
    even = fairness_estimates(tally, plan.players)
    more = []
    for k, scenario in enumerate(plan.scenarios):
        lengths = length_estimates(
            tally, k, scenario.names, matches if plan.matches else 0, seconds_a_turn=seconds_a_turn, bounds=bounds
        )
        # The means of turns and hands stand in the results already.
        more.append([*even[k], *(one for one in lengths if one[0].name not in _MEANS)])
    hands = [int(count) for count in tally.hands]
    frames = [
        results_frame(run, titles),
        tidy(plan, titles, more, hands=hands, matches=matches, blocks=int(tally.blocks)),
    ]
    if story is not None:
        frames.append(story_frame(plan, story, titles))
    return pd.concat(frames, ignore_index=True).sort_values("scenario", kind="stable", ignore_index=True)


_MEANS = ("turns_per_hand", "hands_per_match", "turns_per_match")
