"""Figures of strategies: gains, ranks, groups and pay-offs in their places, and findings that claim no more."""

import example_comparisons as made
import numpy as np
import pytest
from drawn import bars, cells, marks

from reports import heat
from reports.figures_compare import (
    payoff_finding,
    payoff_heat_map,
    payoff_in_words,
    standings_figure,
    standings_finding,
    standings_in_words,
)


def test_standings_show_gains_ranks_best_set_and_groups():
    frame = made.standings(5)
    ax = standings_figure(frame)
    assert bars(ax) == pytest.approx(100 * frame[["win_gain_low", "win_gain_high"]].to_numpy())
    assert [c.lines[0].get_marker() for c in ax.containers] == ["o", "o", "s", "s", "s"]
    words = [text.get_text() for text in ax.texts]
    assert "rank 1 to 2 · 1.0 (0.6 to 1.4)" in words
    assert "rank 4 to 5 · −1.0 (−1.4 to −0.6)" in words
    # four groups of two neighbours: four bars, which cover the dots of their own
    centres = [c.lines[0].get_ydata()[0] for c in ax.containers]
    braces = [line.get_ydata() for line in ax.lines if line.get_linewidth() == 3]
    assert [[k for k, y in enumerate(centres) if low < y < high] for low, high in braces] == [
        [0, 1],
        [1, 2],
        [2, 3],
        [3, 4],
    ]
    assert [text.get_text() for text in ax.get_legend().get_texts()] == [
        "may be the best (best set)",
        "surely worse than another",
        "95 % interval, all strategies at once",
        "cannot be told apart (group)",
    ]


def test_points_have_no_ranks_because_those_are_of_win_shares():
    frame = made.standings(3)
    ax = standings_figure(frame, measure="points_gain")
    assert bars(ax) == pytest.approx(frame[["points_gain_low", "points_gain_high"]].to_numpy())
    assert not any("rank" in text.get_text() for text in ax.texts)
    assert "points a hand" in ax.get_xlabel()
    assert standings_finding(frame, "points_gain") == "In points sensible comes first: 0.20 points a hand"
    with pytest.raises(ValueError, match="no such gain: wins; allowed: win_gain, match_gain, points_gain"):
        standings_figure(frame, measure="wins")


def test_matches_are_drawn_where_they_were_played():
    frame = made.standings(3, matches=True)
    assert bars(standings_figure(frame)) == pytest.approx(100 * frame[["match_gain_low", "match_gain_high"]].to_numpy())
    assert "points of matches won" in standings_finding(frame)


def test_findings_on_standings():
    three = made.standings(3)
    first = "sensible: 0.5 points of win share"
    assert standings_finding(three) == f"2 of 3 strategies may be the best; first comes {first}"
    assert standings_finding(three.assign(in_best_set=True)) == f"No strategy is surely the best; first comes {first}"
    assert standings_finding(three.assign(in_best_set=[True, False, False])) == (
        "sensible is best: 0.5 points of win share"
    )
    assert standings_finding(made.standings(3, half=0.03)).endswith("sensible: no sure gain")
    assert standings_in_words(three) == (
        "Gain in percentage points of win share, with 95 % intervals that hold together, the best first. "
        "sensible: 0.5 (0.1 to 0.9), rank 1 to 2, may be the best (best set). "
        "tips:card=faces,wild=hold-1: 0.0 (−0.4 to 0.4), rank 1 to 3, may be the best (best set). "
        "greedy: −0.5 (−0.9 to −0.1), rank 2 to 3, surely worse than another. "
        "Cannot be told apart: sensible, tips:card=faces,wild=hold-1; tips:card=faces,wild=hold-1, greedy."
    )


def test_payoffs_stand_in_their_cells_with_intervals_where_they_fit():
    frame = made.pairs(3)
    ax = payoff_heat_map(frame)
    found = cells(ax)
    assert sorted(found) == [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    assert found[0, 2] == ["−2.2", "−2.8 to −1.6"]
    assert found[2, 0] == ["+2.4", "+1.8 to +3.0"]
    assert [text.get_text() for text in ax.get_xticklabels()] == ["1", "2", "3"]
    assert ax.get_yticklabels()[1].get_text() == "2  tips:card=faces,\nwild=hold-1"


def test_payoffs_without_room_for_intervals_say_how_wide_they_are():
    frame = made.pairs(15)
    ax = payoff_heat_map(frame)
    assert all(len(texts) == 1 for texts in cells(ax).values())
    assert len(cells(ax)) == 15 * 14
    assert "95 % intervals: ± 0.6 at most" in [text.get_text() for text in ax.get_legend().get_texts()]
    place = {name: k for k, name in enumerate(made.STRATEGIES)}
    sure = (frame["win_gain_low"] > 0) | (frame["win_gain_high"] < 0)
    unsure = {(place[a], place[b]) for a, b in frame.loc[~sure, ["strategy", "against"]].to_numpy()}
    assert unsure
    assert set(marks(ax)) == unsure


def test_payoffs_in_the_order_asked_and_against_a_field():
    frame = made.pairs(3).replace({made.STRATEGIES[1]: "counting"})
    ax = payoff_heat_map(frame, order=["greedy", "counting", "sensible"])
    assert [text.get_text() for text in ax.get_xticklabels()] == ["greedy", "counting", "sensible"]
    assert cells(ax)[0, 2][0] == "+2.4"
    field = payoff_heat_map(frame[frame["against"] == "greedy"])
    assert [text.get_text() for text in field.get_yticklabels()] == ["sensible", "counting"]
    assert payoff_finding(frame[frame["against"] == "greedy"]) == "1 of 2 strategies surely gain against greedy"


def test_findings_on_payoffs():
    frame = made.pairs(6)
    assert payoff_finding(frame) == "No strategy surely gains against all others; sensible does against 4 of 5"
    best = frame.assign(win_gain_low=np.where(frame["strategy"] == "greedy", 0.01, frame["win_gain_low"]))
    assert payoff_finding(best) == "greedy surely gains against each of the 5 others"
    assert payoff_finding(frame.assign(win_gain_low=-1.0)) == "No strategy surely gains against any other"
    words = payoff_in_words(made.pairs(2))
    assert words == (
        "What one player of a strategy gains among players of another, in percentage points of win share, "
        "with 95 % intervals. "
        "sensible: among tips:card=faces,wild=hold-1 1.3 (0.7 to 1.9). "
        "tips:card=faces,wild=hold-1: among sensible −1.2 (−1.8 to −0.6)."
    )


def test_the_sides_of_a_heat_map_are_legible_and_differ_in_more_than_colour():
    for value in np.linspace(-1, 1, 41):
        ground = heat.Scale(heat.SIDES, -1, 1).colour(value)
        assert max(heat._contrast(ink, ground) for ink in ("black", "white")) > 4.5
        size = heat.Scale(heat.SIZES, -1, 1).colour(value)
        assert max(heat._contrast(ink, size) for ink in ("black", "white")) > 4.5
    light = [heat._luminance(heat.SIZES(x)) for x in np.linspace(0, 1, 20)]
    assert light == sorted(light, reverse=True)
    assert all(text[0][0] in "+−0" for text in cells(payoff_heat_map(made.pairs(3))).values())
