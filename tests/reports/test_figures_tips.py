"""Figures of tips: effects, verdicts and values by cards held in their places."""

import example_comparisons as made
import pytest
from drawn import bars, cells, marks
from matplotlib.collections import PolyCollection

from reports.figures_tips import (
    VERDICTS,
    claims_figure,
    claims_finding,
    claims_in_words,
    hand_size_finding,
    hand_size_heat_map,
    hand_size_in_words,
)

CHANCE = {"what": "Chance to win the hand", "unit": "%"}


def test_claims_with_verdicts_by_shape_and_the_band_of_what_does_not_matter():
    frame = made.claims()
    ax = claims_figure(frame)
    assert bars(ax) == pytest.approx(100 * frame[["effect_low", "effect_high"]].to_numpy())
    assert [c.lines[0].get_marker() for c in ax.containers] == ["o", "o", "D", "x", "s"]
    shapes = {(look.marker, look.filled) for look in VERDICTS.values()}
    assert len(shapes) == len(VERDICTS)
    bands = [c.get_paths()[0].vertices[:, 0] for c in ax.collections if isinstance(c, PolyCollection)]
    assert len(bands) == len(frame)
    assert all((band.min(), band.max()) == (-0.5, 0.5) for band in bands)
    assert "undecided · 0.0 (−0.8 to 0.8)" in [text.get_text() for text in ax.texts]
    assert claims_finding(frame) == "2 of 5 claims hold; 1 the other way round, 1 too small to matter, 1 undecided"
    assert claims_finding(frame.iloc[:2]) == "All of 2 claims hold"
    assert claims_finding(frame.iloc[2:3]) == "None of 1 claims hold; 1 too small to matter"
    assert "draw though you could play: −3.4 (−3.6 to −3.2), the opposite." in claims_in_words(frame)
    with pytest.raises(ValueError, match="no such verdict: maybe; allowed: holds, too small, undecided, the opposite"):
        claims_figure(frame.assign(verdict="maybe"))


def test_a_value_by_cards_held():
    frame = made.hand_sizes()
    ax = hand_size_heat_map(frame, **CHANCE)
    assert cells(ax)[0, 7] == ["91.3"]
    assert (7, 7) not in cells(ax)
    assert not marks(ax)
    assert hand_size_finding(frame, **CHANCE) == (
        "Chance to win the hand: 91.3 % with 1 card against 8; 1.9 % with 8 cards against 1"
    )
    assert "Own 1, smallest other 1: 31.0 (30.2 to 31.8), 2: 41.3" in hand_size_in_words(frame, **CHANCE)
    even = hand_size_heat_map(frame, **CHANCE, even=0.31)
    assert sorted(marks(even)) == [(k, k) for k in range(7)]
