"""Planning: the figures of the text-books, and runs of the planned length that come out as planned."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

import reports.planning as planning
from reports.frames import hand_estimates, match_estimates, rank_scenarios
from reports.intervals import ratio_moments
from reports.planning import LEAST_BLOCKS, Aim, PlanningError, margin_hands, plan, power_hands, power_hands_of_means
from sim.batch import Plan, Scenario, rotations_of, run
from sim.rules import load
from sim.tally import hand_columns
from strategies.registry import Player, all_strategies, crew_record

BLOCKS = 8_000
CLOSE = 0.08
"""The pilots below know a variance to about 2 % (one standard error), and so a half-width to 1 %; so do the runs. A
false alarm is five standard errors off or more."""


@pytest.fixture(autouse=True)
def _untimed(monkeypatch):
    """Parts of a pilot are timed as they are, so that nothing is played for its time alone."""
    monkeypatch.setattr(planning, "TIMED", 0.0)


def scenario(spec, names, sets=()):
    players = [Player(all_strategies()[name]) for name in names]
    return Scenario(load(spec, sets).rules, crew_record(players), tuple(player.label for player in players))


def pilot(*scenarios, blocks=BLOCKS, matches=False):
    rotations = math.lcm(*(rotations_of(one.names) for one in scenarios))
    return Plan(tuple(scenarios), seed=5, blocks=blocks, rotations=rotations, matches=matches)


RANDOM = ("random",) * 4
MIXED = ("random", "dump-high", "hoard-eights")


# --- Text-books -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("half_width", "hands"), [(0.01, 9_604), (0.001, 960_400), (0.05, 385)])
def test_hands_for_a_margin(half_width, hands):
    """0.9604/d² around one half."""
    assert margin_hands(0.25, half_width) == hands


def test_hands_for_other_levels_and_variances():
    """z is 2.58 at 99 % and 1.65 at 90 %, always rounded up, so that there are never too few hands."""
    assert margin_hands(0.25, 0.01, 0.99) == 16_641
    assert margin_hands(0.25, 0.01, 0.90) == 6_807
    assert margin_hands(900.0, 1.0) == math.ceil(1.96**2 * 900)
    assert margin_hands(0.25, 10.0) == 1


@pytest.mark.parametrize(("difference", "hands"), [(0.01, 19_620), (0.002, 490_553)])
def test_hands_to_tell_a_difference(difference, hands):
    """80 % power to tell 50 % from 50 % + d, one arm."""
    assert power_hands(0.5, 0.5 + difference) == hands


def test_hands_to_tell_means_apart():
    """(1.95996 + 0.84162)² · V / δ²; with a power of one half the second term is 0."""
    assert power_hands_of_means(2.0, 0.5) == math.ceil((1.959964 + 0.841621) ** 2 * 2 / 0.25)
    assert power_hands_of_means(2.0, 0.5, power=0.5) == math.ceil(1.959964**2 * 2 / 0.25)


def test_so_many_hands_find_the_difference_four_times_in_five():
    """200,000 experiments of 19,620 hands at 51 %: the share that excludes 50 % is 0.8 to five standard errors."""
    hands, times = power_hands(0.5, 0.51), 200_000
    wins = np.random.default_rng(1).binomial(hands, 0.51, times)
    found = np.abs(wins / hands - 0.5) > 1.959964 * 0.5 / math.sqrt(hands)
    # Whole wins make the power jump by up to the chance of a single number of wins.
    step = 1 / math.sqrt(2 * math.pi * hands * 0.25)
    assert abs(found.mean() - 0.8) < 5 * math.sqrt(0.16 / times) + step


# --- Runs that come out as planned ----------------------------------------------------------------------------------


def widths(played, by, names, measure="win_share"):
    found = hand_estimates(played.tally, 0, names)
    return [(e.high - e.low) / 2 for m, b, _, e in found if m.name == measure and b == by]


@pytest.mark.parametrize(
    ("aim", "spec", "names", "by"),
    [
        (Aim("margin", 0.01), "ochos-locos", RANDOM, "position"),
        (Aim("margin", 0.01, by="strategy"), "ochos-locos", MIXED, "strategy"),
        (Aim("margin", 0.3, "turns_per_hand"), "ochos-locos", MIXED, ""),
        (Aim("margin", 0.2, "points_left"), "crazy-eights", RANDOM, "position"),
    ],
)
def test_a_planned_run_is_as_precise_as_wanted(aim, spec, names, by):
    """The widest interval of what was asked for has the half-width, to 8 %; with half the hands it has not."""
    asked = pilot(scenario(spec, names))
    answer = plan(aim, asked)
    played = run(replace(asked, blocks=answer["blocks"]))
    found = widths(played, by, names, aim.measure)
    widest = found[0] if by == "strategy" else max(found)
    assert widest == pytest.approx(aim.size, rel=CLOSE)
    assert answer["half_width"]["low"] * (1 - CLOSE) < widest < answer["half_width"]["high"] * (1 + CLOSE)
    assert answer["hands"] == answer["blocks"] * asked.rotations
    fewer = run(replace(asked, blocks=answer["blocks"] // 2))
    assert max(widths(fewer, by, names, aim.measure)) > aim.size * (1 + CLOSE)


def test_what_is_rare_is_planned_for():
    """Parts in which it never happened do not spoil the plan; they make its interval wide."""
    asked = pilot(scenario("ocho-loco", RANDOM), blocks=LEAST_BLOCKS)
    answer = plan(Aim("margin", 0.005, "blocked"), asked)
    needed = answer["hands_needed"]
    assert 0 < needed["value"] < needed["high"]
    assert needed["high"] - needed["low"] > 0.3 * needed["value"]
    assert 0 < answer["pilot"]["values"][0]["value"] * answer["pilot"]["hands"] < 40


def test_the_design_effect_is_measured():
    """1 where a block is a hand; where line-ups turn, the hands needed are those of the text-book times the effect."""
    alone = plan(Aim("margin", 0.01), pilot(scenario("ochos-locos", RANDOM)))
    assert alone["design_effect"]["value"] == pytest.approx(1, abs=1e-9)
    assert alone["variance_ratio"] is None
    share = alone["pilot"]["values"][0]["value"]
    assert alone["independent_hands"] == pytest.approx(1.96**2 * share * (1 - share) / 0.01**2, rel=1e-3)
    turned = plan(Aim("margin", 0.01), pilot(scenario("ochos-locos", MIXED)))
    effect = turned["design_effect"]
    assert not effect["low"] <= 1 <= effect["high"]
    needed = turned["independent_hands"] * effect["value"]
    assert turned["hands_needed"]["value"] == pytest.approx(needed, rel=1e-9)


def test_a_spread_is_as_narrow_as_planned():
    """The half-width of the spread's interval in a run of the planned length; shares of a pilot differ, so to 15 %."""
    asked = pilot(scenario("ochos-locos", RANDOM), blocks=30_000)
    answer = plan(Aim("margin", 0.01, "spread"), asked)
    found = rank_scenarios(run(replace(asked, blocks=answer["blocks"])).tally, 4).spreads[0]
    assert (found.high - found.low) / 2 == pytest.approx(0.01, rel=0.15)


def test_a_paired_difference_is_as_sharp_as_planned():
    """The standard error of the paired difference is δ / (z + z'); independent runs would have needed more hands."""
    size, column = (
        0.02,
        [c for c, (name, by, which) in enumerate(hand_columns(4, 1)) if (name, by) == ("win", "position")],
    )
    asked = pilot(scenario("ochos-locos", RANDOM), scenario("ochos-locos+draw-three", RANDOM))
    answer = plan(Aim("difference", size), asked)
    tally = run(replace(asked, blocks=answer["blocks"])).tally
    errors = []
    for v in column:
        _, covariance = ratio_moments(
            tally.sums[:, v],
            tally.hands,
            tally.products[:, :, v],
            tally.hand_products[:, :, v],
            tally.hands_products,
            int(tally.blocks),
        )
        errors.append(math.sqrt(covariance[0, 0] + covariance[1, 1] - 2 * covariance[0, 1]))
    assert max(errors) == pytest.approx(size / (1.959964 + 0.841621), rel=CLOSE)
    assert 0 < answer["variance_ratio"]["high"] < 1
    shares = [value["value"] for value in answer["pilot"]["values"]]
    independent = (1.959964 + 0.841621) ** 2 * sum(share * (1 - share) for share in shares) / size**2
    assert answer["independent_hands"] == pytest.approx(independent, rel=1e-3)
    assert answer["hands_needed"]["value"] < 0.95 * independent


def test_equal_rules_need_no_hands_to_speak_of():
    """The same rules on the same deals never differ: nothing varies, and that is said."""
    with pytest.raises(PlanningError, match="win_share of position 1 did not vary in a pilot of"):
        plan(Aim("difference", 0.01), pilot(scenario("ochos-locos", RANDOM), scenario("ochos-locos", RANDOM)))


def test_one_scenario_against_an_even_share():
    """Text-book hands of one arm, times the design effect; a strategy on two seats has twice the even share."""
    two = plan(Aim("difference", 0.01, by="strategy"), pilot(scenario("ochos-locos", ("dump-high", "random"))))
    assert two["independent_hands"] == 19_620
    assert two["of"] == "win_share of dump-high"
    four = plan(Aim("difference", 0.005, by="strategy"), pilot(scenario("ochos-locos", ("dump-high", "random") * 2)))
    assert four["independent_hands"] == 19_620


def test_a_strategy_on_several_seats():
    """What is known to ± d is the share of one seat, so of two seats together ± 2 d."""
    asked = pilot(scenario("ochos-locos", ("dump-high", "random") * 2))
    answer = plan(Aim("margin", 0.01, by="strategy"), asked)
    share = 2 * answer["pilot"]["values"][0]["value"]
    assert answer["independent_hands"] == pytest.approx(1.96**2 * share * (1 - share) / 0.02**2, rel=1e-3)


def test_matches_are_planned_for():
    """Win shares of matches: the run of the planned length has the half-width, to 8 %."""
    names = ("dump-high", "random")
    asked = pilot(scenario("ochos-locos", names), blocks=1_600, matches=True)
    answer = plan(Aim("margin", 0.03, "match_win_share"), asked)
    assert answer["unit"] == "matches"
    played = run(replace(asked, blocks=answer["blocks"]))
    found = match_estimates(played.tally, 0, answer["blocks"] * asked.rotations)
    wide = [(e.high - e.low) / 2 for m, by, _, e in found if m.name == "match_win_share"]
    assert max(wide) == pytest.approx(0.03, rel=CLOSE)


# --- The answer -----------------------------------------------------------------------------------------------------


def test_the_answer_states_its_inputs(monkeypatch):
    """JSON holds it; the time is measured, of two scenarios as of one, and has an interval."""
    monkeypatch.setattr(planning, "TIMED", 0.02)
    asked = pilot(scenario("ochos-locos", RANDOM), scenario("ochos-locos+draw-three", RANDOM), blocks=LEAST_BLOCKS)
    answer = json.loads(json.dumps(plan(Aim("difference", 0.02, power=0.9), asked), allow_nan=False))
    assert answer["aim"] == {
        "goal": "difference",
        "size": 0.02,
        "measure": "win_share",
        "by": None,
        "level": 0.95,
        "power": 0.9,
    }
    minutes = answer["minutes"]
    assert 0 <= minutes["low"] < minutes["value"] < minutes["high"]
    expected = answer["hands_needed"]["value"] * 2 / answer["hands_per_second"]["value"] / 60
    assert minutes["value"] == pytest.approx(expected, rel=1e-9)
    assert len(set(answer["pilot"]["seeds"])) == answer["pilot"]["parts"]
    assert "5" not in answer["pilot"]["seeds"]  # the seed of the run itself
    less = plan(Aim("difference", 0.02), asked)
    assert less["hands"] < answer["hands"]
    assert less["aim"]["power"] == 0.8


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"goal": "gap", "size": 0.1}, "goal is 'gap'; allowed: margin, difference"),
        ({"goal": "margin", "size": 0.0}, "size is 0; allowed: above 0"),
        ({"goal": "margin", "size": 0.1, "level": 1.0}, "level is 1; allowed: from 0.5 to below 1"),
        ({"goal": "margin", "size": 0.1, "power": 0.8}, "power is for a difference"),
        ({"goal": "difference", "size": 0.1, "power": 1.0}, "power is 1; allowed"),
    ],
)
def test_mistakes_in_an_aim(given, said):
    with pytest.raises(PlanningError, match=said):
        Aim(**given)


@pytest.mark.parametrize(
    ("aim", "scenarios", "blocks", "said"),
    [
        (Aim("margin", 0.1), 1, 10, "a pilot of 10 blocks; allowed: 800 or more"),
        (Aim("margin", 0.1), 2, BLOCKS, "2 scenarios for a margin; allowed: 1"),
        (Aim("difference", 0.1, "turns_per_hand"), 1, BLOCKS, "one scenario for a difference in turns_per_hand"),
        (Aim("margin", 0.1, "turns_a_hand"), 1, BLOCKS, "did you mean turns_per_hand?"),
        (Aim("margin", 0.1, "turns_per_hand", by="position"), 1, BLOCKS, "by position with turns_per_hand"),
        (Aim("margin", 1.5), 1, BLOCKS, "size is 1.5; allowed for a share: below 1"),
        (Aim("difference", 0.9), 1, BLOCKS, "no share is so far from an even one of 0.25"),
        (Aim("margin", 0.1, "blocked"), 1, LEAST_BLOCKS, "blocked did not vary in a pilot of 800 hands"),
    ],
)
def test_mistakes_in_what_is_asked(aim, scenarios, blocks, said):
    with pytest.raises(PlanningError) as error:
        plan(aim, pilot(*[scenario("ochos-locos", RANDOM)] * scenarios, blocks=blocks))
    assert said in str(error.value)
    assert "\n" not in str(error.value)
