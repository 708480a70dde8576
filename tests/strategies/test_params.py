"""Parameters: what may be declared, how a value is read, and what compiled code gets of it."""

from types import FunctionType

import numpy as np
import pytest
from views import view_of

from sim.compiled import ROOT
from sim.table import CREW, MOST_PARAMS
from strategies.params import ParamError, declared, within
from strategies.registry import Player, Strategy, StrategyError, built_in, compiled, crew_record, find
from strategies.toolkit import longest_suit, stop_always

KINDS = {
    "hold": 1,
    "risk": 0.5,
    "most": within(2, 0, 4),
    "part": within(0.25, 0, 1),
    "lead": ("low", "high", "any"),
    "policy": "dump-high",
}


def whole_sum(view, hold, most, lead):
    return 100 * hold + 10 * most + lead


def parts(view, risk, part):
    return np.int64(1000 * risk + 10 * part)


def made(play, params=KINDS):
    known = declared(params)
    return Strategy("made", "", "", play, longest_suit, stop_always, known, tuple(param.default for param in known))


def answer(strategy):
    """What the compiled function answers, with the parameters where the engine would put them."""
    values = np.zeros(MOST_PARAMS, np.int64)
    values[: len(strategy.values)] = strategy.encoded()
    return compiled(strategy.play, strategy.params)[0](view_of(params=values.ctypes.data))


def test_kinds_and_bounds():
    assert [param.kind for param in declared(KINDS)] == ["whole", "number", "whole", "number", "choice", "strategy"]
    assert made(whole_sum).options == "hold=1,risk=0.5,most=2,part=0.25,lead=low,policy=dump-high"
    assert find("random").options == ""


@pytest.mark.parametrize(
    ("settings", "whole"),
    [("hold=3", 320), ("hold=-1, most=4", -60), ("lead=any", 122), ("risk=1e-3,lead=high,hold=0", 21)],
)
def test_compiled_code_gets_what_is_set(settings, whole):
    """Whole numbers and choices of any place; those that a function does not name are not handed to it."""
    assert answer(made(whole_sum)) == 120
    assert answer(made(whole_sum).having(settings)) == whole


def test_numbers_keep_their_fraction():
    assert answer(made(parts)) == 502
    assert answer(made(parts).having("risk=-2.5,part=1")) == -2490


def test_a_strategy_as_a_parameter_is_a_lineup_of_it():
    strategy = made(whole_sum).having("policy=first-legal")
    crew = np.ctypeslib.as_array((np.ctypeslib.ctypes.c_byte * CREW.itemsize).from_address(strategy.encoded()[5]))
    assert np.array_equal(crew.view(CREW)[0]["play"], [find("first-legal").addresses()[0]] * 10)
    assert made(whole_sum).encoded()[5] != strategy.encoded()[5]


def test_each_seat_has_its_own_values():
    strategy = made(whole_sum)
    crew = crew_record([Player(strategy), Player(find("random")), Player(strategy.having("hold=7"))])
    assert crew["params"][:3, 0].tolist() == [1, 0, 7]
    assert crew["group"][:3].tolist() == [0, 1, 2]


def test_one_function_serves_strategies_that_declare_other_parameters(tmp_path, monkeypatch):
    """The cache of the project's files would take one for the other: same name, same code but for the places."""
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path))
    file = str(ROOT / "strategies" / "plain.py")
    shared = FunctionType(whole_sum.__code__.replace(co_filename=file), {"__name__": "strategies.plain"}, "shared")
    first = made(shared, {"hold": 1, "most": 2, "lead": 3})
    second = made(shared, {"lead": 3, "most": 2, "hold": 1})
    assert answer(first) == answer(second) == 123
    assert answer(first.having("hold=5")) == answer(second.having("hold=5")) == 523
    assert list(tmp_path.rglob("plain.*.nbi"))


def test_names_say_what_was_set_apart():
    strategy = made(whole_sum).having("hold=2,lead=low")
    assert strategy.name == "made:hold=2"
    assert strategy.having("lead=high").name == "made:hold=2,lead=high"
    assert strategy.having("hold=1").name == "made"
    assert Player(strategy, illegal_rate=0.5).label == "made:hold=2 (illegal_rate 0.5)"


@pytest.mark.parametrize(
    ("settings", "error"),
    [
        ("hod=2", "strategy made has no parameter 'hod'; did you mean hold?"),
        ("xyz=2", "strategy made has no parameter 'xyz'; there are: hold, lead, most, part, policy, risk"),
        ("hold", "strategy made: hold is given without a value; allowed: hold=1"),
        ("hold=1,hold=2", "strategy made: hold is given twice; allowed: hold=1"),
        ("hold=1.5", "strategy made: hold is '1.5'; allowed: a whole number"),
        ("most=5", "strategy made: most is '5'; allowed: a whole number from 0 to 4"),
        ("part=nan", "strategy made: part is 'nan'; allowed: a number from 0 to 1"),
        ("lead=hihg", "strategy made: lead is 'hihg'; allowed: low, high, any; did you mean high?"),
        ("policy=randon", "no strategy is called 'randon'; did you mean random?"),
        ("", "strategy made has no parameter ''; there are: hold, lead, most, part, policy, risk"),
    ],
)
def test_settings_that_are_wrong(settings, error):
    with pytest.raises(StrategyError) as raised:
        made(whole_sum).having(settings)
    assert str(raised.value) == error


def test_a_strategy_without_parameters_takes_none():
    with pytest.raises(StrategyError, match=r"^strategy random has no parameters, but is given 'hold=2'$"):
        find("random:hold=2")


@pytest.mark.parametrize(
    ("params", "error"),
    [
        ({"view": 1}, "a parameter is called 'view'; allowed: a name as of a Python argument, not view"),
        ({"a b": 1}, "a parameter is called 'a b'; allowed: a name as of a Python argument, not view"),
        ({"hold": True}, "hold is declared as True; allowed: a number, within(…), names to choose from, a strategy"),
        ({"hold": within(5, 0, 4)}, "hold is '5'; allowed: a whole number from 0 to 4"),
        ({f"p{n}": 1 for n in range(9)}, "9 parameters are declared; allowed: 8"),
    ],
)
def test_declarations_that_are_wrong(params, error):
    with pytest.raises(ParamError) as raised:
        declared(params)
    assert str(raised.value) == error


def test_built_in_defaults_are_allowed_as_they_are_typed():
    for strategy in built_in().values():
        if strategy.params:
            assert strategy.having(strategy.options) == strategy
