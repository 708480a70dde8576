"""What every strategy must keep to: all are found by discovery, so that a new one is tested by being there.

Legal answers under any rules, the same for the same seed, the same compiled and as plain Python, and nothing used or
changed but what the view shows.
"""

import random
from collections import Counter

import numpy as np
import pytest
from any_option import ANY_OPTION
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_draws import draw_players, draw_rules
from views import MUTE, NAMES_NO_SUIT, hidden_moved, next_view, record, table_in_play

from sim.compiled import kernel
from sim.rules import Rules, load, preset_names
from sim.table import MOST_PARAMS, VIEW
from sim.trace import StrategyFault, trace_hand
from strategies.params import takes
from strategies.registry import Player, Strategy, StrategyError, built_in, compiled, crew_record, find, strategy
from strategies.registry import shown as shown_path
from strategies.toolkit import longest_suit, stop_always

EVERY = [*built_in().values()]
every_strategy = pytest.mark.parametrize("tested", EVERY, ids=lambda tested: tested.name)
PLAY, SUIT, STOP = range(3)


# --- The register -----------------------------------------------------------------------------------------------------


@every_strategy
def test_describes_itself(tested):
    """A name as it is typed, one line for the idea; the functions say what they do."""
    assert tested.name == tested.name.strip().lower()
    assert tested.idea
    assert "\n" not in tested.idea
    assert len(tested.idea) <= 100
    assert tested.play.__name__ == tested.name.replace("-", "_")
    assert all(function.__doc__ for function in (tested.play, tested.suit, tested.stop))


@every_strategy
def test_sheets_are_those_that_there_are(tested):
    assert {sheet for sheet in tested.sheet.split(", ") if sheet} <= {"Ochos Locos", "Ocho Loco", "Crazy Eights"}


def test_names_are_unique_and_in_order():
    """A second strategy of a name is refused, and leaves the first."""
    names = [tested.name for tested in EVERY]
    assert names == sorted(set(names))
    before = find("random")
    with pytest.raises(StrategyError, match=r"^two strategies are called 'random'$"):
        strategy("random", idea="another")(lambda view: 0)
    assert find("random") is before


@pytest.mark.parametrize(
    ("name", "answer"),
    [
        ("randon", "no strategy is called 'randon'; did you mean random?"),
        ("hoard-eight", "no strategy is called 'hoard-eight'; did you mean hoard-eights?"),
        ("xyz", f"no strategy is called 'xyz'; there are: {', '.join(tested.name for tested in EVERY)}"),
    ],
)
def test_unknown_name(name, answer):
    with pytest.raises(StrategyError) as error:
        find(name)
    assert str(error.value) == answer


# --- Parameters -------------------------------------------------------------------------------------------------------


def drawn_value(rng, param):
    """Any value of a parameter, at the bounds more often than not."""
    if param.kind == "choice":
        return rng.choice(param.choices)
    if param.kind == "strategy":
        return rng.choice(["random", "dump-high", "hoard-eights"])
    low, high = max(param.low, -10), min(param.high, 10)
    return rng.choice([low, high, rng.randint(low, high) if param.kind == "whole" else rng.uniform(low, high)])


def with_drawn_values(rng, tested):
    """A strategy with some of its parameters set."""
    chosen = [param for param in tested.params if rng.random() < 0.5]
    return tested.having(",".join(f"{param.name}={drawn_value(rng, param)}" for param in chosen)) if chosen else tested


# --- Hands under drawn rules ------------------------------------------------------------------------------------------


@every_strategy
@given(st.randoms(use_true_random=False), st.integers(0, 2**64 - 1), st.integers(0, 2**63))
@settings(max_examples=40, deadline=None)
def test_legal_and_repeatable(tested, rng, seed, game):
    """No fault under any rules, beside any others; again the same after another hand was played in between."""
    drawn = draw_rules(rng)
    players = draw_players(rng, drawn)
    rules = Rules.from_dict(drawn)
    others = rng.choices([*EVERY, ANY_OPTION], k=players - 1)
    seated = [with_drawn_values(rng, tested), *others]
    lineup = [Player(one, rng.choice([0.0, 0.3]), rng.choice([0.0, 0.2])) for one in seated]
    rng.shuffle(lineup)
    crew, names = crew_record(lineup, rng.choice([0.5, 1.0])), [player.strategy.name for player in lineup]
    events = trace_hand(rules, crew, names, seed=seed, game=game)
    trace_hand(rules, crew, names, seed=seed, game=game + 1)
    assert trace_hand(rules, crew, names, seed=seed, game=game) == events


# --- What the view shows ----------------------------------------------------------------------------------------------


rules_in_use = []
"""Kept, because a view holds the address of its rules, and some strategies look there."""


def shown_in_play(count):
    """Many moments of many games: (question, view, the same with what is hidden moved about)."""
    rng = random.Random("views")
    shown = []
    while len(shown) < count:
        drawn = draw_rules(rng)
        drawn["stop"]["points"] = rng.choice([0, 0, 0, 100])  # as it is drawn a stop is rarely asked for
        players = draw_players(rng, drawn)
        rules = Rules.from_dict(drawn)
        seed, game, turns = rng.getrandbits(64), rng.getrandbits(40), rng.choice([0, 1, 3, 8, 20])
        in_play = table_in_play(rules, players, seed=seed, game=game, turns=turns)
        if in_play is None:
            continue
        tables, rule = in_play
        rules_in_use.append(rule)
        for asker in (MUTE, NAMES_NO_SUIT):
            asked = next_view(tables, rule, asker)
            if asked is None or asked[1]["turn"] != tables[0]["sight"]["turn"] + 1 or asked[1]["drawn"]:
                continue  # the hand went on first, by cards that the others hold or the stock gave
            moved = next_view(hidden_moved(tables, int(asked[1]["position"]), rng), rule, asker)
            # Whether somebody else is asked before may depend on what that player holds: a stop, say.
            if moved is not None and (moved[0], moved[1]["position"]) == (asked[0], asked[1]["position"]):
                shown.append((asked[0], asked[1], moved[1]))
    return shown


@pytest.fixture(scope="module")
def shown():
    return shown_in_play(500)


def test_all_questions_are_among_the_moments(shown):
    """The tests below look at plays with and without a penalty pending, suits and stops."""
    kinds = Counter((question, bool(view["pending"])) for question, view, _ in shown)
    assert all(kinds[kind] >= 10 for kind in [(PLAY, False), (PLAY, True), (SUIT, False), (STOP, False)]), kinds


def test_view_does_not_depend_on_what_is_hidden(shown):
    """Other hands and the stock exchanged: every field the same, so no strategy can know more.

    But for an address: each moment has a line-up of its own.
    """
    for question, view, moved in shown:
        different = [name for name in VIEW.names if name != "params" and not np.array_equal(view[name], moved[name])]
        assert not different, (question, different)


@every_strategy
def test_answers(tested, shown):
    """Legal, the same from the same view, the same compiled and plain; the view is left as it was but for the draws."""
    rng = random.Random(tested.name)
    for set_apart in [tested, *(with_drawn_values(rng, tested) for _ in range(3 if tested.params else 0))]:
        for question, view, moved in shown:
            check_answer(set_apart, question, view, moved)


def check_answer(tested, question, view, moved):
    function = (tested.play, tested.suit, tested.stop)[question]
    made = compiled(function, tested.params)[0]
    values = np.zeros((2, MOST_PARAMS), np.int64)  # the parameters twice, as they lie somewhere else in each game
    values[:, : len(tested.values)] = tested.encoded()
    first, again, plain, other = (record(given) for given in (view, view, view, moved))
    for one, row in ((first, 0), (again, 1), (plain, 0), (other, 1)):
        one.params = values[row].ctypes.data
    answer = made(first)
    assert answer == made(again) == made(other)
    if question == PLAY:
        allowed = {code for code in range(64) if int(view["playable"]) >> code & 1}
        allowed |= {64} if view["may_draw"] else set()
        allowed |= {65} if view["may_pass"] else set()
    else:
        allowed = {0, 1, 2, 3} if question == SUIT else {0, 1}
    assert answer in allowed
    if not any(param.kind == "strategy" for param in tested.params):  # playing on with another one needs the engine
        given = dict(zip([param.name for param in tested.params], tested.values, strict=True))
        code = {param.name: param.choices.index(given[param.name]) for param in tested.params if param.choices}
        arguments = [code.get(param.name, given[param.name]) for param in takes(function, tested.params)]
        assert getattr(function, "py_func", function)(plain, *arguments) == answer
        assert first.draws == plain.draws
    for one in (first, plain):
        one.draws, one.params = view["draws"], view["params"]
        assert one == record(view)


@every_strategy
@pytest.mark.parametrize("preset", preset_names())
def test_needs_no_exotic_rules(tested, preset):
    """A hand of every preset alone at the table with itself, so that nobody has to guess which game it is for."""
    crew = crew_record([Player(tested)] * 3)
    events = trace_hand(load(preset).rules, crew, [tested.name] * 3, seed=3, game=1)
    assert events[-1]["event"] == "end"


# --- Faults -----------------------------------------------------------------------------------------------------------


def raises(view):
    if view.turn > 4:
        raise ValueError("lost the thread")
    return find_card(view)


@kernel
def find_card(view):
    for code in range(64):
        if view.playable >> np.uint64(code) & np.uint64(1):
            return code
    return 64


def king_of_hearts(view):
    return 2 * 16 + 13


def pass_always(view):
    return 65


def nonsense(view):
    return 1000


def fifth_suit(view):
    return 4


def perhaps(view):
    return 2


def play_first_card(view):
    return find_card(view)


def fault_of(play, *, suit=longest_suit, stop=stop_always, changes=(), seat=1):
    """The line that a strategy's fault gives, in one of three seats, at seed 5 and game 9."""
    lineup = [find("random")] * 3
    lineup[seat] = Strategy("wrong", "errs", "", play, suit, stop)
    crew = crew_record([Player(one) for one in lineup])
    with pytest.raises(StrategyFault) as error:
        trace_hand(load("ochos-locos", changes).rules, crew, [one.name for one in lineup], seed=5, game=9)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_raising_stops_the_hand():
    """From turn 5 on it raises when asked; in turn 5 it has no choice, so nobody asks it before turn 8."""
    assert fault_of(raises) == (
        "strategy wrong (seat 2), asked what to play, raised an exception: seed 5, game 9, hand 1, turn 8"
    )


def test_illegal_cards_stop_the_hand():
    """A card that is not held, a pass that is not allowed, a number that is no answer: all named, with what is."""
    for play, named in ((king_of_hearts, "45 (KH)"), (pass_always, "PASS"), (nonsense, "1000")):
        text = fault_of(play)
        assert text.startswith(f"strategy wrong (seat 2), asked what to play, answered {named} (allowed: ")
        assert ": seed 5, game 9, hand 1, turn " in text


def test_illegal_suits_and_stops_stop_the_hand():
    wild = ["wild.ranks=['8', '9', '10', 'J', 'Q', 'K', 'A']"]
    assert fault_of(play_first_card, suit=fifth_suit, changes=wild).startswith(
        "strategy wrong (seat 2), asked which suit to declare, answered 4 (allowed: 0 to 3): "
        "seed 5, game 9, hand 1, turn "
    )
    stop = ["stop.points=200"]
    assert fault_of(play_first_card, stop=perhaps, changes=stop, seat=0) == (
        "strategy wrong (seat 1), asked whether to stop the hand, answered 2 (allowed: 0 or 1): "
        "seed 5, game 9, hand 1, turn 1"
    )


# --- Functions that do not compile ------------------------------------------------------------------------------------


def misspelt(view):
    return view.playble


def forgets_to_return(view):  # noqa: RET503 - that is what is tested
    if view.playable:
        return 64


@pytest.mark.parametrize(
    ("play", "reason"),
    [
        (misspelt, "misspelt does not compile: the view has no field 'playble': did you mean playable?: return view."),
        (forgets_to_return, "forgets_to_return does not compile: No conversion from none to int64 "),
    ],
)
def test_compile_errors_show_the_line(play, reason):
    """The file, the line and why, in one line."""
    with pytest.raises(StrategyError) as error:
        crew_record([Player(Strategy("broken", "", "", play, play, play))])
    text = str(error.value)
    assert text.startswith(f"{shown_path(__file__)}, line ")
    assert reason in text
    assert "\n" not in text
