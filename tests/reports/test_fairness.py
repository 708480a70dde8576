"""From a ranking to words and a table: every sentence exactly, on rankings built by hand."""

import dataclasses

import numpy as np
import pytest

from reports.fairness import POSITIONS, one_hand_in, position_name, ranking_frame, verdict
from reports.intervals import Estimate, Ranking, Spread, rank

CLEAR = Spread(0.025, 0.026, 0.004, 0.0016, 0.022, 0.028, 1, 4)
WORSE = Spread(0.05, 0.05, 0.004, 0.0016, 0.047, 0.053, 1, 4)
FLAT = Spread(0.0, 0.003, 0.004, 0.0016, 0.0, 0.006, 3, 2)


def ranking(spreads, best, players=4, ranks=None):
    """Build a ranking of scenarios given from the fairest on; only what words need is filled in."""
    k = len(spreads)
    ranks = ranks or [(1, k)] * k
    nothing = Estimate(0.0, 0.0, 0.0, 0.0)
    return Ranking(
        players=players,
        level=0.95,
        spreads=tuple(spreads),
        differences=((nothing,) * k,) * k,
        in_best_set=tuple(best),
        rank_low=tuple(low for low, _ in ranks),
        rank_high=tuple(high for _, high in ranks),
        order=tuple(range(k)),
        variance_ratio=((1.0,) * k,) * k,
    )


APART = (
    "position 1 (left of the dealer) wins more often than position 4 (the dealer), "
    "by 2.5 points of win share (95 % interval 2.2 to 2.8), about one hand in 40"
)
LEVEL = (
    "no position surely wins more often than another; "
    "they are at most 0.6 points of win share apart (95 %), about one hand in 170"
)


def test_one_rule_set_says_how_far_apart():
    assert verdict(["locos"], ranking([CLEAR], [True])) == f"locos: {APART}."


def test_one_fair_rule_set_names_no_position():
    assert verdict(["locos"], ranking([FLAT], [True])) == f"locos: {LEVEL}."


def test_a_sure_winner():
    text = verdict(["A", "B", "C"], ranking([CLEAR, WORSE, WORSE], [True, False, False]))
    assert text == f"Fairest: A: {APART}. Surely less fair: B, C."


def test_a_leader_with_rivals():
    text = verdict(["A", "B", "C", "D"], ranking([CLEAR, CLEAR, WORSE, CLEAR], [True, True, False, True]))
    assert text == f"Fairest so far: A: {APART}. Surely less fair: C. Not surely worse: B, D."


def test_all_indistinguishable():
    text = verdict(["A", "B", "C"], ranking([FLAT, CLEAR, CLEAR], [True] * 3))
    assert text == f"No sure winner: A, B and C cannot be told apart. Fairest so far: A: {LEVEL}."


def test_names_follow_the_order_of_the_scenarios_not_of_the_ranking():
    backwards = dataclasses.replace(ranking([WORSE, CLEAR], [False, True]), order=(1, 0))
    assert verdict(["A", "B"], backwards) == f"Fairest: B: {APART}. Surely less fair: A."


def test_two_players_and_finer_digits():
    spread = Spread(0.0123, 0.0123, 0.001, 0.0002, 0.0119, 0.0127, 2, 1)
    assert verdict(["two"], ranking([spread], [True], players=2)) == (
        "two: position 2 (the dealer) wins more often than position 1 (left of the dealer), "
        "by 1.23 points of win share (95 % interval 1.19 to 1.27), about one hand in 81."
    )


def test_too_few_hands_says_so():
    one_block = rank([[1.0, 0.0], [0.5, 0.5]], np.zeros((4, 4)), 1)
    assert verdict(["A", "B"], one_block) == (
        "No sure winner: B and A cannot be told apart. "
        "Fairest so far: B: too few hands to say how far the positions are apart."
    )


@pytest.mark.parametrize(
    ("share", "words"),
    [
        (0.025, "about one hand in 40"),
        (0.0077, "about one hand in 130"),
        (0.3, "about one hand in 3"),
        (0.00004, "about one hand in 25,000"),
        (0.5, "about every second hand"),
        (1.0, "nearly every hand"),
        (0.0, "no hand at all"),
    ],
)
def test_one_hand_in(share, words):
    assert one_hand_in(share) == words


def test_positions_speak_of_the_dealer():
    assert [position_name(p, 3) for p in (1, 2, 3)] == [
        "position 1 (left of the dealer)",
        "position 2",
        "position 3 (the dealer)",
    ]


def test_frame_has_the_fairest_first_and_what_else_changes():
    made = dataclasses.replace(ranking([WORSE, CLEAR], [False, True], ranks=[(2, 2), (1, 1)]), order=(1, 0))
    turns = [Estimate(40.0, 0.5, 39.0, 41.0), Estimate(30.0, 0.25, 29.5, 30.5)]
    frame = ranking_frame(["A", "B"], made, {"turns_per_hand": turns})
    assert frame.to_dict("records") == [
        {
            "rank_low": 1,
            "rank_high": 1,
            "rules": "B",
            "spread": 0.025,
            "spread_low": 0.022,
            "spread_high": 0.028,
            "spread_plain": 0.026,
            "spread_null": 0.004,
            "in_best_set": True,
            "best_position": 1,
            "worst_position": 4,
            "turns_per_hand": 30.0,
            "turns_per_hand_low": 29.5,
            "turns_per_hand_high": 30.5,
        },
        {
            "rank_low": 2,
            "rank_high": 2,
            "rules": "A",
            "spread": 0.05,
            "spread_low": 0.047,
            "spread_high": 0.053,
            "spread_plain": 0.05,
            "spread_null": 0.004,
            "in_best_set": False,
            "best_position": 1,
            "worst_position": 4,
            "turns_per_hand": 40.0,
            "turns_per_hand_low": 39.0,
            "turns_per_hand_high": 41.0,
        },
    ]
    assert frame["in_best_set"].dtype == bool
    assert frame.attrs["positions"] == POSITIONS


def test_mismatched_lengths_are_named():
    with pytest.raises(ValueError, match="1 names for 2 scenarios"):
        verdict(["A"], ranking([CLEAR, WORSE], [True, False]))
    with pytest.raises(ValueError, match="turns: 1 estimates for 2 scenarios"):
        ranking_frame(["A", "B"], ranking([CLEAR, WORSE], [True, False]), {"turns": [Estimate(1, 0, 1, 1)]})


def test_a_sure_difference_does_not_print_as_none():
    spread = dataclasses.replace(CLEAR, value=0.05, low=0.0004, high=0.11)
    assert "by 5.00 points of win share (95 % interval 0.04 to 11.00)" in verdict(["locos"], ranking([spread], [True]))
