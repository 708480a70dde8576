"""From a ranking to words and a table: every sentence exactly, on rankings built by hand."""

import dataclasses

import numpy as np
import pytest

from reports.fairness import (
    POSITIONS,
    Confirmation,
    Part,
    closest,
    confirm,
    one_hand_in,
    position_name,
    ranking_frame,
    verdict,
    verdict_over,
)
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


# --- The winner again at a fresh seed, and answers over a grid -------------------------------------------------------

RIVAL = Estimate(0.0123, 0.002, 0.008, 0.016)
UNSURE = Estimate(0.001, 0.002, -0.003, 0.005)
SURE = ranking([CLEAR, WORSE, WORSE], [True, False, False])
OTHER = dataclasses.replace(SURE, order=(1, 0, 2), in_best_set=(False, True, False))


def again(difference, holds):
    return Confirmation(0, 1, 2, 50_000, CLEAR, difference, 0.8, holds)


def test_a_winner_that_is_confirmed():
    assert verdict(["A", "B", "C"], SURE, again(RIVAL, True)) == (
        f"Fairest: A: {APART}. Surely less fair: B, C. Confirmed at a fresh seed (2, 50,000 deals): B, its closest "
        "rival, has 1.2 points of spread more (0.8 to 1.6), about one hand in 81."
    )


def test_a_winner_that_is_not_confirmed_is_not_called_one():
    assert verdict(["A", "B", "C"], SURE, again(UNSURE, False)) == (
        f"Fairest at first, but not confirmed at a fresh seed: A: {APART}. Surely less fair at first: B, C. Not "
        "confirmed at a fresh seed (2, 50,000 deals): B, its closest rival, has -0.3 to 0.5 points of spread more "
        "than A."
    )
    assert Part(4, "", SURE, again(UNSURE, False)).winner is None
    assert Part(4, "", SURE, again(RIVAL, True)).winner == 0


def test_only_a_sure_winner_has_a_closest_rival():
    assert closest(SURE) == (0, 1)
    assert closest(dataclasses.replace(SURE, order=(2, 0, 1), in_best_set=(False, False, True))) == (2, 0)
    assert closest(ranking([CLEAR, WORSE], [True, True])) is None
    assert closest(ranking([CLEAR], [True])) is None


def test_a_fresh_seed_confirms_what_is_surely_fairer_again():
    """The pair stands in the order winner, rival, whatever came out; a rival that wins now confirms nothing."""
    rows = ((Estimate(0, 0, 0, 0), UNSURE), (RIVAL, Estimate(0, 0, 0, 0)))
    for best, holds in (((True, False), True), ((True, True), False), ((False, True), False)):
        fresh = dataclasses.replace(ranking([CLEAR, WORSE], best), differences=rows)
        said = confirm((3, 1), fresh, seed=8, deals=10)
        assert (said.winner, said.rival, said.seed, said.deals) == (3, 1, 8, 10)
        assert (said.difference, said.spread, said.holds) == (RIVAL, CLEAR, holds)


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        (
            [Part(2, "", SURE), Part(4, "", dataclasses.replace(SURE, spreads=(WORSE, CLEAR, CLEAR)))],
            "A is fairest for 2 and 4 players, where the best position wins about one hand in 40 to about one hand in "
            "20 more than the worst.",
        ),
        (
            [
                Part(4, "all x", SURE),
                Part(4, "all y", dataclasses.replace(SURE, order=(1, 0, 2), in_best_set=(0, 1, 0))),
            ],
            "It depends on how people play: A is fairest for 4 players (all x), where the best position wins about "
            "one hand in 40 more than the worst; B is fairest for 4 players (all y), where the best position wins "
            "about one hand in 20 more than the worst.",
        ),
        (
            [Part(2, "", SURE), Part(3, "", ranking([FLAT, CLEAR], [True, True]))],
            "A is fairest for 2 players, where the best position wins about one hand in 40 more than the worst; no "
            "rule set is surely the fairest for 3 players.",
        ),
        (
            [Part(2, "", ranking([FLAT, CLEAR], [True, True])), Part(3, "", ranking([FLAT, CLEAR], [True, True]))],
            "No rule set is surely the fairest for 2 and 3 players.",
        ),
    ],
)
def test_the_answer_over_a_grid(parts, said):
    assert verdict_over(["A", "B", "C"], parts) == said


def test_the_winner_may_depend_on_how_many_play():
    said = verdict_over(["A", "B", "C"], [Part(2, "all x", SURE), Part(4, "all x", OTHER)])
    assert said.startswith("It depends on how many play: A is fairest for 2 players (all x), ")


def test_one_rule_set_over_a_grid():
    parts = [Part(2, "", ranking([CLEAR], [True])), Part(4, "", ranking([FLAT], [True]))]
    assert verdict_over(["A"], parts) == (
        "Under A the positions are furthest apart for 2 players, by about one hand in 40, and closest for 4 players, "
        "by at most about one hand in 170."
    )
    assert verdict_over(["A"], parts[1:]) == ("Under A no position surely wins more often than another, for 4 players.")
