"""Odds as they are reported: what is simulated agrees with what is exact, under any rules."""

import json
import math
import random

import pytest
from rule_draws import draw_players, draw_rules
from scipy.stats import binom

from reports.odds import DISTRIBUTION, OddsError, odds, odds_answer, odds_frame
from sim.rules import Rules, load

DEALS = 100_000
MISS = 1e-8
"""How often an event may be that rare or rarer, on either side, before a test fails."""
ERRORS = 5.5
"""Standard errors by which a mean may be off."""


def assert_agree(found, hands=DEALS):
    """Counts lie within the binomial distribution of the exact chance, means within their standard errors."""
    compared = 0
    for one in found:
        if one.exact is None or one.simulated is None:
            continue
        if one.unit == "chance" and one.name != "first_stuck_plain_starter":
            count = round(one.simulated.value * hands)
            assert binom.cdf(count, hands, one.value) > MISS, one
            assert binom.sf(count - 1, hands, one.value) > MISS, one
        elif one.unit != "chance":
            # What varies too rarely to be seen in the deals is allowed for as in the interval.
            assert abs(one.simulated.value - one.value) <= ERRORS * math.hypot(one.simulated.se, 1 / hands), one
        compared += 1
    return compared


@pytest.mark.parametrize("seed", range(12))
def test_random_rules(seed):
    """Twelve random rule sets: about 200 odds each, so a false alarm in all of them is rarer than 1 in 10,000."""
    rng = random.Random(seed)
    drawn = draw_rules(rng)
    players = draw_players(rng, drawn)
    found = odds(Rules.from_dict(drawn), players, seed=seed, hands=DEALS)
    assert_agree(found)
    assert len({(one.name, one.which) for one in found}) == len(found)


@pytest.mark.parametrize(
    ("spec", "players", "sets"),
    [
        ("crazy-eights", 4, []),
        ("ocho-loco", 2, []),
        ("crazy-eights-actions+super-jokers+stop-at-five", 7, ["starter.action=applies", "deal.misdeal_rate=0.1"]),
        ("crazy-eights", 10, ["players.max=10", "deck.packs=1"]),
    ],
)
def test_well_known_rules(spec, players, sets):
    """As above; all that is asked of these rules has an exact value."""
    found = odds(load(spec, sets).rules, players, seed=2, hands=DEALS)
    assert assert_agree(found) == len(found) > 40
    assert not any(one.why for one in found)


def test_a_wrong_value_would_be_seen():
    """At two million deals the near miss C(33,5)/C(51,5) for a stuck player is told apart, by some four errors."""
    rules = load("crazy-eights").rules
    hands = 2_000_000
    (stuck,) = (one for one in odds(rules, 4, seed=3, hands=hands) if one.name == "first_stuck")
    count = round(stuck.simulated.value * hands)
    assert binom.cdf(count, hands, stuck.value) > MISS
    near = math.comb(33, 5) / math.comb(51, 5)
    assert binom.sf(count - 1, hands, near) < 1e-3


def test_odds_that_depend_on_the_dealer():
    """No exact value, the reason in words, and what came out if the dealer declares its longest suit."""
    found = {
        (one.name, one.which): one for one in odds(load("crazy-eights+dealer-declares").rules, 4, seed=1, hands=1000)
    }
    stuck = found["first_stuck", ""]
    assert stuck.exact is stuck.value is None
    assert "depends on how the dealer plays" in stuck.why
    assert "longest suit" in stuck.why
    assert 0 < stuck.simulated.low < stuck.simulated.high < 1
    assert found["first_stuck_plain_starter", ""].exact is not None
    assert found["hand_wild", ""].exact is not None


def test_what_the_rules_lack_is_left_out():
    """No wilds, no draw cards, one pack, no stopping: no odds of them."""
    names = {one.name for one in odds(load("ochos-locos", ["wild.ranks=[]"]).rules, 3, seed=1, hands=10)}
    assert not names & {"starter_wild", "hand_wilds", "hand_wild", "somebody_wild", "all_wilds_together"}
    assert not names & {"hand_draw_card", "hand_action_card", "hand_twins", "hand_may_stop", "void_deals"}
    assert {"first_stuck", "points_mean", "points_deviation", DISTRIBUTION} <= names


def test_frame_and_json():
    """A row for each; fractions as text, the exact value beside the simulated one with its interval."""
    rules = load("crazy-eights+dealer-declares").rules
    found = odds(rules, 4, seed=1, hands=500)
    frame = odds_frame(found, "crazy-eights+dealer-declares", 4, seed=1, hands=500)
    assert len(frame) == len(found)
    row = frame.query("name == 'starter_wild'").iloc[0]
    assert row["fraction"] == "1/13"
    assert row["exact"] == pytest.approx(4 / 52)
    assert row["low"] <= row["value"] <= row["high"]
    assert frame.query("name == 'first_stuck'")["exact"].isna().all()
    points = frame.query("name == @DISTRIBUTION")
    assert points["exact"].sum() == pytest.approx(1)
    assert points["value"].sum() == pytest.approx(1)
    answer = json.loads(json.dumps(odds_answer(rules, 4, found, seed=1, hands=500), allow_nan=False))
    assert answer["odds"][0]["name"] == "starter_wild"
    assert answer["odds"][0]["fraction"] == "1/13"
    assert answer["cards_each"] == 5
    assert answer["pack"] == 52


def test_one_deal_is_enough_and_none_is_not():
    """Intervals stay finite; a count below 1 is the user's mistake."""
    found = odds(load("crazy-eights").rules, 4, seed=1, hands=1)
    assert all(one.simulated is None or one.simulated.low <= one.simulated.high for one in found)
    with pytest.raises(OddsError, match="hands is 0; allowed: a whole number from 1"):
        odds(load("crazy-eights").rules, 4, seed=1, hands=0)
