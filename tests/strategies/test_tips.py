"""The tips: what each part does in small positions, any mix of them under any rules, and a pair for each claim."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_draws import draw_players, draw_rules
from views import record, view_of

from sim.batch import Plan, Scenario, run
from sim.cards import SUITS, card_name
from sim.rules import Rules, load
from sim.trace import trace_hand
from strategies.params import compiled_for_view, takes
from strategies.registry import Player, crew_record, find
from strategies.tips import PARAMS, SENSIBLE, TWINS, settings_name
from strategies.toolkit import DRAW, PASS

LUCKS = [n * 0x9E3779B97F4A7C15 % 2**64 for n in range(60)]
_compiled = {}


def answer(spec, question, view):
    """The answer of a strategy, which must be the same compiled and as plain Python."""
    found = find(spec)
    function = getattr(found, question)
    if (function, found.params) not in _compiled:
        _compiled[function, found.params] = compiled_for_view(getattr(function, "py_func", function), found.params)
    values = dict(zip((param.name for param in found.params), found.encoded(), strict=True))
    shown, encoded = record(view), np.array([*values.values(), 0], np.int64)
    shown.params = encoded.ctypes.data
    plain = function(record(view), *(values[param.name] for param in takes(function, found.params)))
    assert _compiled[function, found.params](shown) == plain
    return plain


def play(spec, hand, playable, **fields):
    given = answer(spec, "play", view_of(hand, playable, **fields))
    return {DRAW: "draw", PASS: "pass"}.get(given) or card_name(given)


def plays(spec, hand, playable, **fields):
    """All cards that are played with one luck or another."""
    return {play(spec, hand, playable, luck=luck, **fields) for luck in LUCKS}


def suit(spec, hand, **fields):
    return SUITS[answer(spec, "suit", view_of(hand, **fields))]


def stops(spec, counts):
    return bool(answer(spec, "stop", view_of(counts=counts, players=len(counts))))


HAND = ["3C", "5C", "KD", "10H", "8S"]

# --- Wilds ------------------------------------------------------------------------------------------------------------


def test_no_wild_is_held_back_by_default():
    assert plays("tips", HAND, ["3C", "8S"]) == {"3C", "8S"}


@pytest.mark.parametrize(("held", "wilds"), [(1, ["8S"]), (2, ["8S", "8D"]), (3, ["8S", "8D", "8H"])])
def test_so_many_wilds_are_held_back(held, wilds):
    """With one more they all go like any card; and if nothing else goes, a wild does."""
    more = [*wilds, "8C"]
    assert plays(f"tips:wild=hold-{held}", ["3C", *wilds], ["3C", *wilds]) == {"3C"}
    assert plays(f"tips:wild=hold-{held}", ["3C", *more], ["3C", *more]) == {"3C", *more}
    assert plays(f"tips:wild=hold-{held}", ["3C", *wilds], wilds) == set(wilds)


def test_copies_and_jokers_are_wilds_that_are_held():
    assert plays("tips:wild=hold-1", ["3C", "8S", "8S"], ["3C", "8S"], packs=2) == {"3C", "8S"}
    assert plays("tips:wild=hold-1", ["3C", "JKR", "JKR"], ["3C", "JKR"], jokers=2) == {"3C", "JKR"}
    assert plays("tips:wild=hold-1", ["3C", "JKR"], ["3C", "JKR"], jokers=2) == {"3C"}
    assert plays("tips:wild=hold-1", ["3C", "8S"], ["3C", "8S"], wild_ranks=["A"]) == {"3C", "8S"}


def test_all_wilds_last_or_first():
    wilds = ["8C", "8D", "8H", "8S"]
    assert plays("tips:wild=last", ["3C", *wilds], ["3C", *wilds]) == {"3C"}
    assert plays("tips:wild=last", ["3C", "8S"], ["8S"]) == {"8S"}
    assert plays("tips:wild=first", ["3C", "8S"], ["3C", "8S"]) == {"8S"}
    assert plays("tips:wild=first", HAND, ["3C", "5C"]) == {"3C", "5C"}


def test_wilds_are_given_up_when_somebody_is_short():
    """Whoever it is; not at one card more, and not if none can be laid."""
    spec = "tips:wild=last,give=2"
    assert plays(spec, HAND, ["3C", "8S"], counts=[5, 3]) == {"3C"}
    assert plays(spec, HAND, ["3C", "8S"], counts=[5, 2]) == {"8S"}
    assert plays(spec, HAND, ["3C", "8S"], players=4, counts=[5, 7, 1, 7]) == {"8S"}
    assert plays(spec, HAND, ["3C", "5C"], counts=[5, 1]) == {"3C", "5C"}
    assert plays("tips:wild=last", HAND, ["3C", "8S"], counts=[5, 1]) == {"3C"}


def test_the_last_wild_is_kept_to_go_out_on():
    """Also from giving up; with a second wild, or more cards left than said, it is not kept."""
    assert plays("tips:finish=2", ["3C", "8S"], ["3C", "8S"]) == {"3C"}
    assert plays("tips:finish=2,give=3", ["3C", "8S"], ["3C", "8S"], counts=[2, 1]) == {"3C"}
    assert plays("tips:finish=2", ["3C", "5C", "8S"], ["3C", "8S"]) == {"3C", "8S"}
    assert plays("tips:finish=3", ["3C", "8D", "8S"], ["3C", "8D", "8S"]) == {"3C", "8D", "8S"}
    assert plays("tips:finish=2", ["3C", "8S"], ["8S"]) == {"8S"}


# --- Cards ------------------------------------------------------------------------------------------------------------


def test_faces_and_tens_first():
    """Each alike, and no wild is one of them; without any, any card."""
    hand = ["3C", "10C", "JC", "QC", "KC", "8S"]
    assert plays("tips:card=faces", hand, hand) == {"10C", "JC", "QC", "KC"}
    assert plays("tips:card=faces", HAND, ["3C", "5C", "8S"]) == {"3C", "5C", "8S"}
    assert plays("tips:card=faces", ["3C", "QC"], ["3C", "QC"], wild_ranks=["Q"]) == {"3C", "QC"}


def test_most_points_or_lowest_rank_first():
    assert play("tips:card=points", HAND, ["3C", "5C", "8S"]) == "8S"
    assert play("tips:card=points,wild=last", HAND, ["3C", "5C", "8S"]) == "5C"
    assert play("tips:card=low", HAND, ["5C", "3C", "KD"]) == "3C"


def test_the_suit_it_holds_most_of_first():
    """Wilds count in their own suit; within the suit the most points."""
    hand = ["KC", "3D", "5D", "9D", "QS"]
    assert play("tips:card=long", hand, ["KC", "3D", "9D", "QS"]) == "9D"
    assert play("tips:card=long", hand, ["KC", "QS"]) == "KC"
    assert play("tips:card=long", ["KC", "QS", "8S"], ["KC", "QS"]) == "QS"
    assert play("tips:card=long", ["3D", "JKR"], ["3D", "JKR"], jokers=1) == "3D"
    assert play("tips:card=long", ["3D", "JKR"], ["JKR"], jokers=1) == "JKR"


def test_a_run_is_kept_until_its_suit_is_active():
    """Three plain cards of the longest suit; on it they go, and if nothing else does; two are no run."""
    hand = ["3D", "5D", "9D", "9C", "QC", "8S"]
    assert plays("tips:card=run", hand, ["9D", "9C", "QC"], pile=["9H", "2C"]) == {"9C", "QC"}
    assert plays("tips:card=run", hand, ["3D", "5D", "9D", "9C"], pile=["9D"]) == {"3D", "5D", "9D"}
    assert plays("tips:card=run", hand, ["9D"], pile=["9H"]) == {"9D"}
    assert plays("tips:card=run", ["3D", "9D", "9C"], ["9D", "9C"], pile=["9H"]) == {"9D", "9C"}
    assert plays("tips:card=run", ["3D", "9D", "8D", "9C"], ["9D", "9C"], pile=["9H"]) == {"9D", "9C"}


# --- Short hands ------------------------------------------------------------------------------------------------------

ACTIONS = {
    "effects": [0, 2, 5] + [0] * 9 + [1],  # A reverse, 2 draw, Q skip
    "penalties": sum(1 << 16 * number + 2 for number in range(4)),
}


def test_the_suit_is_changed_on_a_short_hand():
    """By a card of its rank or a wild, whoever is short; if that cannot be done, any card."""
    playable = ["2C", "9C", "2D", "8C"]
    table = {"pile": ["2C"], "players": 3}
    assert plays("tips:attack=suit-2", playable, playable, counts=[4, 5, 2], **table) == {"2D", "8C"}
    assert plays("tips:attack=suit-2,wild=last", playable, playable, counts=[4, 5, 2], **table) == {"2D"}
    assert plays("tips:attack=suit-2", playable, playable, counts=[4, 3, 3], **table) == set(playable)
    assert plays("tips:attack=suit-2", playable, ["2C", "9C"], counts=[4, 1, 3], **table) == {"2C", "9C"}


def test_action_cards_are_laid_on_a_short_hand():
    """All that hit the next player; a reverse only among three or more; nothing for a later player."""
    playable = ["AC", "2C", "9C", "QC", "9D"]
    assert plays("tips:attack=effect-1", playable, playable, counts=[5, 1], **ACTIONS) == {"2C", "QC"}
    three = {"players": 3, **ACTIONS}
    assert plays("tips:attack=effect-1", playable, playable, counts=[5, 1, 4], **three) == {"AC", "2C", "QC"}
    assert plays("tips:attack=effect-1", playable, playable, counts=[5, 4, 1], **three) == set(playable)
    assert plays("tips:attack=effect-1", playable, playable, counts=[5, 4, 1], direction=-1, **three) == {
        "AC",
        "2C",
        "QC",
    }
    assert plays("tips:attack=effect-1", playable, playable, counts=[5, 2], **ACTIONS) == set(playable)
    assert plays("tips:attack=effect-1", playable, ["9C", "9D"], counts=[5, 1], **ACTIONS) == {"9C", "9D"}


def test_actions_then_the_suit():
    playable = ["2C", "9C", "9D"]
    assert plays("tips:attack=both-3", playable, playable, counts=[5, 3], **ACTIONS) == {"2C"}
    assert plays("tips:attack=both-3", playable, ["9C", "9D"], counts=[5, 3], **ACTIONS) == {"9D"}
    assert plays("tips:attack=both-3", playable, playable, players=3, counts=[5, 4, 3], **ACTIONS) == {"9D"}
    assert plays("tips:attack=both-3", playable, playable, counts=[5, 4], **ACTIONS) == set(playable)


# --- Drawing ----------------------------------------------------------------------------------------------------------


def test_draws_though_it_could_play():
    assert play("tips:draw=once", HAND, ["3C"], may_draw=1) == "draw"
    assert play("tips:draw=once", HAND, ["3C"], may_draw=1, drawn=1) == "3C"
    assert play("tips:draw=once", HAND, ["3C"]) == "3C"
    assert play("tips:draw=once", ["3C"], ["3C"], may_draw=1) == "3C"
    assert play("tips", HAND, ["3C"], may_draw=1) == "3C"


def test_draws_once_before_a_wild():
    assert play("tips:draw=before-wild", HAND, ["8S"], may_draw=1) == "draw"
    assert play("tips:draw=before-wild", HAND, ["8S"], may_draw=1, drawn=1) == "8S"
    assert play("tips:draw=before-wild,wild=last", HAND, ["3C", "8S"], may_draw=1) == "3C"
    assert play("tips:draw=before-wild", ["8S"], ["8S"], may_draw=1) == "8S"


def test_a_wild_is_saved_by_drawing_and_passing():
    """Not once it is to be given up, and not if only wilds are left."""
    spec = "tips:draw=save-wild,give=1"
    assert play(spec, HAND, ["8S"], may_draw=1, drawn=1) == "draw"
    assert play(spec, HAND, ["8S"], may_pass=1, drawn=2) == "pass"
    assert play(spec, HAND, ["8S"], drawn=2) == "8S"
    assert play(spec, HAND, ["8S"], may_draw=1, counts=[5, 1]) == "8S"
    assert play(spec, ["8S", "8D"], ["8S"], may_draw=1) == "8S"
    assert play(spec, HAND, ["3C"], may_draw=1) == "3C"


@pytest.mark.parametrize("draw", ["once", "before-wild", "save-wild"])
def test_a_penalty_draw_is_answered(draw):
    assert play(f"tips:draw={draw}", ["8S", "3C"], ["8S"], pending=2, may_draw=1) == "8S"


# --- Suits and stops --------------------------------------------------------------------------------------------------


def test_suits():
    """Three clubs, one diamond, spades lacked by the other of two: longest, seen to be lacked, and any."""
    hand = ["3C", "4C", "5C", "KD", "9S"]
    drew = {"drew_on": [0] * 7 + [2]}
    assert suit("tips:suit=longest", hand, **drew) == "C"
    assert suit("tips:suit=lacking", hand, **drew) == "S"
    assert suit("sensible", hand, **drew) == "S"
    assert suit("tips:suit=thrice", hand, **drew) == "C"
    assert {suit("tips", hand, luck=luck) for luck in LUCKS} == set(SUITS)


def test_a_suit_drawn_on_three_times():
    """By the next player, who never played it; it need not be held."""
    hand = ["3C", "4C", "5C"]
    drew = {"drew_on": [0] * 6 + [3, 0] + [0, 3, 0, 0], "players": 3}
    assert suit("tips:suit=thrice", hand, **drew) == "H"
    assert suit("tips:suit=thrice", hand, direction=-1, **drew) == "D"
    assert suit("tips:suit=thrice", hand, played=[0] * 6 + [1, 0], **drew) == "C"


def test_stops():
    """Early: at once. Ahead: all others hold more. Late: somebody is down to the last card."""
    tables = [[2, 3, 5], [2, 2, 5], [2, 5, 1]]
    assert [stops("tips", counts) for counts in tables] == [True, True, True]
    assert [stops("tips:stop=ahead", counts) for counts in tables] == [True, False, False]
    assert [stops("tips:stop=late", counts) for counts in tables] == [False, False, True]
    assert [stops("tips:stop=never", counts) for counts in tables] == [False, False, False]


# --- Mixes ------------------------------------------------------------------------------------------------------------


def every_value(name):
    return PARAMS[name] if isinstance(PARAMS[name], tuple) else tuple(str(number) for number in (0, 1, 2, 3, 10))


EVERY_VALUE = [(name, value) for name in PARAMS for value in every_value(name)]


def trace(names, rules, seed, game):
    return trace_hand(
        rules, crew_record([Player(find(name)) for name in names]), ["?"] * len(names), seed=seed, game=game
    )


@pytest.mark.parametrize(("name", "value"), EVERY_VALUE)
def test_any_mix_is_legal(name, value):
    """Every value of every part, with the other parts and the rules drawn anew each time: no fault."""
    rng = random.Random(f"{name}={value}")
    for _ in range(15):
        drawn = draw_rules(rng)
        drawn["stop"]["points"] = rng.choice([0, 0, 30])
        players = draw_players(rng, drawn)
        mixes = [{other: rng.choice(every_value(other)) for other in PARAMS} | {name: value} for _ in range(players)]
        names = [settings_name(mix) for mix in mixes]
        assert trace(names, Rules.from_dict(drawn), rng.getrandbits(64), rng.getrandbits(40))[-1]["event"] == "end"


@given(st.randoms(use_true_random=False), st.integers(0, 2**64 - 1))
@settings(max_examples=30, deadline=None)
def test_two_mixes_that_have_a_name(rng, seed):
    """Without a tip it plays as random, card by card; `sensible` as the settings that it stands for."""
    drawn = draw_rules(rng)
    players = draw_players(rng, drawn)
    rules = Rules.from_dict(drawn)
    for named, mix in (("random", "tips"), ("sensible", settings_name(SENSIBLE))):
        assert trace([named] * players, rules, seed, 0) == trace([mix] * players, rules, seed, 0)


def test_sensible():
    """A wild last; not kept when somebody is about to go out, unless it goes out next; an action on a short hand."""
    assert play("sensible", ["3C", "5C", "8S"], ["3C", "5C", "8S"]) == "5C"
    assert play("sensible", ["3C", "5C", "8S"], ["3C", "5C", "8S"], counts=[3, 1]) == "8S"
    assert play("sensible", ["3C", "8S"], ["3C", "8S"], counts=[2, 1]) == "3C"
    assert play("sensible", ["2C", "9C", "3D"], ["2C", "9C"], counts=[3, 2], **ACTIONS) == "2C"
    assert play("sensible", ["2C", "9C", "3D"], ["2C", "9C"], counts=[3, 3], **ACTIONS) == "9C"


def test_names_as_they_are_typed():
    assert find("tips:card=faces,wild=hold-1,suit=lacking").name == "tips:card=faces,wild=hold-1,suit=lacking"
    assert find("tips:wild=hold-0").name == "tips"


# --- Claims -----------------------------------------------------------------------------------------------------------


def test_all_claims_about_play_have_twins():
    assert {pair.number for pair in TWINS} == {*range(1, 12), 18, 22}


@pytest.mark.parametrize("beside", [None, SENSIBLE], ids=["alone", "sensible"])
@pytest.mark.parametrize("pair", TWINS, ids=lambda pair: f"{pair.number}-{pair.setting[1]}")
def test_twins_differ_in_one_setting(pair, beside):
    names = pair.names(beside)
    tip, twin = (find(name) for name in names)
    differ = [param.name for param, a, b in zip(tip.params, tip.values, twin.values, strict=True) if a != b]
    assert differ == [pair.setting[0]]


@pytest.mark.parametrize("pair", TWINS, ids=lambda pair: f"{pair.number}-{pair.setting[1]}")
def test_twins_play_differently(pair):
    """Under the rules that the tip is for, the same deals go otherwise."""
    rules = load(pair.rules).rules
    names = pair.names()
    plan = Plan(tuple(Scenario(rules, crew_record([Player(find(name))] * 2), (name,) * 2) for name in names), 5, 2000)
    sums = run(plan).tally.sums
    assert (sums[0] != sums[1]).any()


# --- Settings of the older strategies ---------------------------------------------------------------------------------


def test_older_strategies_hold_back_so_many_wilds():
    two = ["3C", "8D", "8S"]
    assert plays("hoard-eights", two, two) == {"3C"}
    assert plays("hoard-eights:hold=2", two, two) == {"3C"}
    assert plays("hoard-eights:hold=1", two, two) == set(two)
    assert play("dump-faces", two, two) == "3C"
    assert play("dump-faces:hold=1", two, two) == "8D"
    assert play("dump-high", two, two) == "8D"
    assert play("dump-high:hold=2", two, two) == "3C"
