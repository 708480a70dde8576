"""Figures of luck and skill: curves, bands, series and parts of a variance in their places."""

import math

import example_comparisons as made
import numpy as np
import pytest
from drawn import squash, up_bars
from example_frames import RULES
from matplotlib.collections import PolyCollection

from reports.figures_skill import (
    skill_curve,
    skill_finding,
    skill_in_words,
    split_finding,
    split_in_words,
    variance_split,
)


def test_curves_bands_and_played_points_are_where_they_belong():
    curve, needed = made.skill(1)
    ax = skill_curve(curve, needed)
    assert ax.get_xscale() == "log"
    own = curve[curve["kind"] == "curve"]
    line = next(line for line in ax.lines if len(line.get_xdata()) == len(own))
    assert line.get_xdata() == pytest.approx(own["hands"].to_numpy())
    assert line.get_ydata() == pytest.approx(100 * own["chance"].to_numpy())
    band = next(c for c in ax.collections if isinstance(c, PolyCollection)).get_paths()[0].vertices
    at = own.iloc[20]
    heights = band[np.isclose(band[:, 0], at["hands"]), 1]
    assert (heights.min(), heights.max()) == pytest.approx((100 * at["low"], 100 * at["high"]))
    played = curve[curve["kind"] == "played"]
    assert ax.containers[0].lines[0].get_xdata() == pytest.approx(played["hands"].to_numpy())
    assert up_bars(ax.containers[0]) == pytest.approx(100 * played[["low", "high"]].to_numpy())
    reached = next(line for line in ax.lines if line.get_marker() == "o" and line.get_markersize() == 6)
    assert list(reached.get_ydata()) == pytest.approx([75, 90, 95])
    assert list(reached.get_xdata()) == needed["hands"].tolist()
    assert [text.get_text() for text in ax.texts] == ["75 %", "90 %", "95 %"]


def test_findings_on_skill():
    curve, needed = made.skill(1)
    assert skill_finding(curve, needed) == "115 hands until the better player is ahead with 90 %"
    unknown = needed.assign(hands=None, high=None)
    assert skill_finding(curve, unknown) == "More than 97 hands until the better player is ahead with 90 %"
    curves, two = made.skill(2)
    assert skill_finding(curves, two) == (
        f"Fewest hands until the better player is ahead with 90 %: 115 under {RULES[0]}; most: 457 under {RULES[1]}"
    )
    assert skill_finding(curves, two.assign(low=1)).startswith("No sure difference between rules in the hands until")
    assert skill_finding(*made.skill(3)).endswith("under 1 of 3 rule sets more than is known")
    assert skill_finding(curves, two.assign(hands=math.nan)) == (
        "Under none of the rules is it sure that one player is better"
    )
    words = skill_in_words(curve, needed)
    assert "ahead with 75 % after 32 hands (27 to 38), with 90 % after 115 hands (98 to 136)" in words
    assert "series played out: ahead after 10 hands 64.8 (62.8 to 66.8) %" in words
    assert "with 90 % after more than 97 hands" in skill_in_words(curve, unknown)
    with pytest.raises(ValueError, match=r"lacks a chance of 0.9 under ochos-locos\+silent-eight"):
        skill_finding(curve, needed[needed["chance"] < 0.9])
    with pytest.raises(ValueError, match="no such kind: line; allowed: curve, played"):
        skill_curve(curve.replace("curve", "line"), needed)


def test_the_parts_of_a_variance_lie_end_to_end():
    frame = made.variance_parts(2)
    ax = variance_split(frame)
    for rules, own in frame.groupby("rules", sort=False):
        pieces = [p for p in ax.patches if p.get_y() == sorted({q.get_y() for q in ax.patches})[RULES.index(rules)]]
        assert [p.get_width() for p in pieces] == pytest.approx((100 * own["share"]).tolist())
        assert [p.get_x() for p in pieces] == pytest.approx([0, *(100 * own["share"]).cumsum().iloc[:-1]])
    looks = {(p.get_facecolor(), p.get_hatch()) for p in ax.patches}
    assert len(looks) == 5
    assert any("who plays 1.1 (0.7 to 1.5) · the seat 0.30 (0.24 to 0.36)" in squash(t) for t in ax.texts)
    assert "ochos-locos: who plays 6.1 (5.7 to 6.5), the seat 0.30 (0.24 to 0.36)" in split_in_words(frame)
    assert split_finding(made.variance_parts(1)) == (
        "Who plays decides 1.1 % of a hand's result; the largest part is chance in play, 65.0 %"
    )
    assert split_finding(frame) == (
        f"Who plays matters most under {RULES[1]}, 6.1 % of a result, least under {RULES[0]}, 1.1 %"
    )
    wide = frame.assign(share_low=0.0, share_high=1.0)
    assert split_finding(wide) == "No sure difference between rules in how much depends on who plays"
    assert split_finding(wide.iloc[:5]) == "Who plays decides no sure part of a hand's result"
    with pytest.raises(ValueError, match="a split has skill, seat, deal, skill_in_deal, chance, each once"):
        variance_split(frame.iloc[:4])
