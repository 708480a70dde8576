"""Figures of lengths: counts, quantiles, means and chances in their places."""

import example_comparisons as made
import numpy as np
import pandas as pd
import pytest
from drawn import up_bars
from example_frames import RULES

from reports.figures_length import (
    lead_finding,
    lead_history,
    lead_in_words,
    match_length_by_players,
    match_length_finding,
    match_length_in_words,
    turns_distribution,
    turns_finding,
    turns_in_words,
)


def test_bars_of_turns_are_as_high_as_the_counts_and_the_quantiles_are_marked():
    counts = pd.DataFrame({"rules": "a", "turns": [3, 4, 5, 9], "hands": [10, 40, 20, 5]})
    quantiles = pd.DataFrame(
        {"rules": "a", "quantile": ["median", "p90"], "turns": [4, 5], "low": [4, 5], "high": [4, 9]}
    )
    ax = turns_distribution(counts, quantiles)
    boxes = ax.containers[0].patches
    assert [box.get_x() + box.get_width() / 2 for box in boxes] == [3, 4, 5, 9]
    highest = max(abs(box.get_height()) for box in boxes)
    assert [abs(box.get_height()) / highest for box in boxes] == pytest.approx([0.25, 1.0, 0.5, 0.125])
    upright = [line.get_xdata()[0] for line in ax.lines if len(set(line.get_xdata())) == 1]
    assert upright == [4, 5]
    shade = ax.collections[-1].get_paths()[0].vertices[:, 0]
    assert (shade.min(), shade.max()) == (5, 9)
    assert "median 4 · 90 % ≤ 5 (5 to 9)" in [text.get_text() for text in ax.texts]
    assert turns_finding(counts, quantiles) == "Half of all hands take at most 4 turns, 90 % at most 5"
    assert turns_in_words(counts, quantiles) == (
        "Turns a hand, with 95 % intervals where they are not one number. "
        "a: median 4, 90 % of hands take at most 5 (5 to 9)."
    )
    with pytest.raises(ValueError, match="the frame of quantiles lacks p90 of a"):
        turns_distribution(counts, quantiles.iloc[:1])


def test_no_hand_is_lost_when_bars_are_put_together_and_a_tail_is_told():
    counts, quantiles = made.turns(3)
    ax = turns_distribution(counts, quantiles)
    step = ax.containers[0].patches[0].get_width()
    assert step == 2
    assert "2 to a bar" in ax.get_xlabel()
    for bars_of, rules in zip(ax.containers, RULES[:3], strict=True):
        own = counts[counts["rules"] == rules]
        end = max(box.get_x() + step for box in bars_of.patches)
        heights = np.array([abs(box.get_height()) for box in bars_of.patches])
        shown = own[own["turns"] < end]["hands"]
        tallest = own.groupby(own["turns"] // 2)["hands"].sum().max()
        assert heights.sum() / heights.max() == pytest.approx(shown.sum() / tallest)
    assert any(text.get_text().startswith("longer: 0.5 % of hands") for text in ax.texts)
    assert turns_finding(counts, quantiles) == (
        f"The median hand is shortest under {RULES[0]}, 13 turns, longest under {RULES[2]}, 27"
    )
    assert turns_finding(counts, quantiles.assign(low=1, high=99)) == (
        "No sure difference in length: the median hand takes about 13 turns"
    )


def test_match_lengths_with_means_intervals_and_medians():
    frame = made.match_lengths(1)
    ax = match_length_by_players(frame)
    mean, median = ax.containers
    assert mean.lines[0].get_xdata() == pytest.approx(frame["players"].to_numpy())
    assert up_bars(mean) == pytest.approx(frame[["hands_per_match_low", "hands_per_match_high"]].to_numpy())
    assert list(median.lines[0].get_ydata()) == frame["median"].tolist()
    assert ax.get_ylim()[0] == 0.0
    assert match_length_finding(frame) == "Matches are shortest with 7 players, 6.6 hands, longest with 2 players, 10.5"
    assert match_length_finding(frame.iloc[:1]) == "A match of 2 players takes 10.5 hands on average"
    wide = frame.assign(hands_per_match_low=0.0, hands_per_match_high=99.0)
    assert match_length_finding(wide).startswith("No sure difference in length")
    assert "2 players 10.5 (10.2 to 10.8), median 10; 3 players" in match_length_in_words(frame)
    without = frame.drop(columns=["median", "median_low", "median_high"])
    assert len(match_length_by_players(without).containers) == 1
    assert "median" not in match_length_in_words(without)


def test_leads_with_intervals_and_what_anybody_wins():
    frame = made.leads(1)
    ax = lead_history(frame)
    assert up_bars(ax.containers[0]) == pytest.approx(100 * frame[["low", "high"]].to_numpy())
    assert list(ax.containers[0].lines[0].get_xdata()) == list(range(1, 13))
    assert "anybody: 25 %" in [text.get_text() for text in ax.texts]
    assert lead_finding(frame) == "Who leads after hand 4 surely wins the match more often than not"
    assert lead_finding(frame.assign(low=0.4)).startswith("Up to the last hand shown")
    assert lead_finding(made.leads(3)).startswith(f"A lead counts soonest under {RULES[0]}: from hand 4 on")
    assert "hand 1 33.5 (33.1 to 33.9), hand 2" in lead_in_words(frame)
