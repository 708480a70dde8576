"""A strategy that can reach the rules is never taken for one that can not."""

import pytest

import sim.memory
from sim.memory import load_int
from strategies.blindness import is_blind
from strategies.params import declared
from strategies.registry import Strategy, built_in, find
from strategies.toolkit import helper, longest_suit, pick, stop_always


def made(play, suit=longest_suit, stop=stop_always, **params):
    known = declared(params)
    return Strategy("mine", "", "", play, suit, stop, known, tuple(param.default for param in known))


def plainly(view):
    return pick(view, view.playable)


def by_its_field(view):
    return pick(view, view.playable) + view.rules


def by_a_text(view):
    return pick(view, view.playable) + getattr(view, "rules")  # noqa: B009


def by_memory(view):
    return load_int(view.params)


def by_the_module_of_memory(view):
    return sim.memory.load_int(view.params)


@helper
def _looks(view):
    return view.rules


def by_a_helper(view):
    return _looks(view)


def within(view):
    def inner(view):
        return view.rules

    return inner(view)


class Unknown:
    """Something that code may call, whatever it does."""

    def __call__(self, view):
        return 0


unknown = Unknown()


def by_what_is_not_known(view):
    return unknown(view)


def test_one_that_looks_at_the_view_alone_is_blind():
    assert is_blind(made(plainly))
    assert is_blind(find("random"))


@pytest.mark.parametrize(
    "play",
    [by_its_field, by_a_text, by_memory, by_the_module_of_memory, by_a_helper, within, by_what_is_not_known],
)
def test_one_that_may_reach_the_rules_is_not(play):
    assert not is_blind(made(play))
    assert not is_blind(made(plainly, suit=play))
    assert not is_blind(made(plainly, stop=play))


def test_one_that_plays_on_with_another_is_not():
    assert not is_blind(made(plainly, policy="random"))


def test_built_in_strategies_that_look_at_the_view_alone_are_blind():
    simple = ("random", "first-legal", "hoard-eights", "dump-faces", "dump-high", "suit-counting", "sensible", "tips")
    assert all(is_blind(built_in()[name]) for name in simple)
    assert not is_blind(built_in()["expert"])  # it plays hands on in its head, under all the rules
