"""What `strategies new` writes plays, passes its own test and keeps to the contract."""

import runpy

import pytest

import ochos_sim
from strategies import loading
from strategies.checking import check_strategy
from strategies.registry import find
from strategies.scaffold import ScaffoldError, write_new
from strategies.views import view_of


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading, "_loaded", {})
    monkeypatch.setattr(loading, "_labels", {})
    return tmp_path


def test_it_passes_its_own_test(place, monkeypatch):
    monkeypatch.setattr(ochos_sim, "check_strategy", lambda spec: check_strategy(spec, seconds=1), raising=False)
    monkeypatch.setattr(ochos_sim, "view_of", view_of, raising=False)
    strategy, test = write_new("my-bot", place)
    assert (strategy.name, test.name) == ("my_bot.py", "test_my_bot.py")
    tests = {name: value for name, value in runpy.run_path(str(test)).items() if name.startswith("test_")}
    assert len(tests) >= 5
    for one in tests.values():
        one()


def test_it_has_a_name_a_parameter_and_every_answer(place):
    strategy, _ = write_new("mine", place)
    found = find(str(strategy))
    assert (found.name, found.options) == ("mine.py:mine", "hold=1")
    assert {found.play.__name__, found.suit.__name__, found.stop.__name__} == {"play", "declare", "stop"}
    assert found.addresses()


def test_its_commands_name_the_file(place):
    text = write_new("my-bot", place)[0].read_text("utf-8")
    assert text.count("my_bot.py") == 4
    assert text.count("--strategy my_bot.py:hold=2 ") == 1
    assert "$" not in text


@pytest.mark.parametrize(
    ("name", "error"),
    [
        ("My Bot", "a strategy cannot be called 'My Bot'; allowed: small letters, digits, - and _, as my-bot"),
        ("../bot", "a strategy cannot be called '../bot'; allowed: small letters, digits, - and _, as my-bot"),
        ("class", "a strategy cannot be called 'class'; allowed: small letters, digits, - and _, as my-bot"),
        ("random", "a strategy cannot be called 'random', as Python has a module random; choose another name"),
        ("ochos-sim", "a strategy cannot be called 'ochos-sim', as Python has a module ochos_sim; choose another name"),
    ],
)
def test_names_that_cannot_be(place, name, error):
    with pytest.raises(ScaffoldError) as raised:
        write_new(name, place)
    assert str(raised.value) == error
    assert not list(place.iterdir())


def test_nothing_is_overwritten(place):
    (place / "test_bot.py").write_text("mine", "utf-8")
    with pytest.raises(
        ScaffoldError, match=r"test_bot.py is there already; choose another name, or another directory$"
    ):
        write_new("bot", place)
    assert [(path.name, path.read_text("utf-8")) for path in place.iterdir()] == [("test_bot.py", "mine")]


def test_a_directory_that_is_not_there(place):
    with pytest.raises(ScaffoldError, match=r"bot.py: No such file or directory$"):
        write_new("bot", place / "nowhere")
