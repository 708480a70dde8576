"""A hand played on in the head: what is dealt agrees with what was seen, and the answer that is tried is given."""

import functools
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_draws import draw_players, draw_rules
from views import MUTE, hidden_moved, next_view, table_in_play, view_of

from sim import engine
from sim.cards import card_code, card_names
from sim.record import rule_record
from sim.rollout import NO_ANSWER, TRIAL, add_answer, deal_unseen, play_out, policy_record, set_up
from sim.rules import Rules, load
from sim.table import MOST_PLAYERS
from strategies.registry import Player, crew_record, find


@functools.cache
def policy_of(name):
    """A policy that lasts as long as the tests: a trial holds its address alone."""
    return policy_record(crew_record([Player(find(name))] * MOST_PLAYERS))


def trial_of(view, rule, question, policy):
    """A trial of a view, whose rules are told anew: those of a view that was kept may be gone."""
    view = np.array(view).reshape(1)
    view["rules"] = rule.ctypes.data
    trials = np.zeros(1, TRIAL)
    set_up(trials, view[0], policy.ctypes.data, question)
    return trials


def asked(rng, *, turns=(0, 2, 6, 15)):
    """A moment of a hand under drawn rules: question, view, tables, rule record; None if the hand was over."""
    drawn = draw_rules(rng)
    players = draw_players(rng, drawn)
    in_play = table_in_play(
        Rules.from_dict(drawn), players, seed=rng.getrandbits(64), game=rng.getrandbits(40), turns=rng.choice(turns)
    )
    if in_play is None:
        return None
    tables, rule = in_play
    found = next_view(tables, rule, MUTE)
    return None if found is None else (*found, tables, rule)


def cards_in(t):
    """All cards of a trial's table, by where they lie."""
    sight = t["sight"]
    hands = [
        sorted(card_names(t["hands"][p], t["hands_twice"][p])) for p in range(int(sight["players"]))
    ]  # by position
    stock = sorted(card_code_name(c) for c in t["stock"][int(t["stock_low"]) : int(t["stock_high"])])
    pile = sorted(card_code_name(c) for c in t["discards"][: int(sight["discards"])])
    return hands, stock, pile


def card_code_name(code):
    return card_names(np.uint64(1) << np.uint64(code))[0]


@given(st.randoms(use_true_random=False))
@settings(max_examples=150, deadline=None)
def test_what_is_dealt_agrees_with_what_is_seen(rng):
    """Every card once a pack; own hand, pile, numbers of cards and stock as the view shows; other cards each time."""
    found = asked(rng)
    if found is None:
        return
    question, view, tables, rule = found
    trials = trial_of(view, rule, question, policy_of("first-legal"))
    pack = sorted(card_code_name(c) for c in rule["pack"][: int(rule["pack_size"])])
    real = tables[0]
    for number in range(3):
        trials[0]["number"] = number
        assert deal_unseen(trials[0])
        hands, stock, pile = cards_in(trials[0]["known"])
        position = int(view["position"])
        assert hands[position] == sorted(card_names(view["hand"], view["hand_twice"]))
        assert [len(hand) for hand in hands] == view["counts"][: len(hands)].tolist()
        assert len(stock) == int(view["stock"])
        assert sorted([card for hand in hands for card in hand] + stock + pile) == pack
        assert pile[:0] + sorted(pile) == sorted(card_names(view["pile"], view["pile_twice"]))
    assert int(real["sight"]["players"]) == len(hands)


def test_who_drew_on_a_suit_is_dealt_less_of_it():
    """Three draws on hearts leave another with few hearts; of an even deal it would hold a quarter of its cards."""
    rule = rule_record(load("ochos-locos").rules, 2)
    policy = policy_of("first-legal")
    hearts = {}
    for drew in (0, 3):
        view = view_of(
            ["2C", "3C", "4C"], ["2C"], pile=("5C",), players=2, counts=[3, 7], drew_on=[0, 0, 0, 0, 0, 0, drew, 0]
        )
        trials = trial_of(view, rule, engine.ASKED_PLAY, policy)
        total = 0
        for number in range(300):
            trials[0]["number"] = number
            deal_unseen(trials[0])
            hand = int(trials[0]["known"]["hands"][1])
            total += sum(name.endswith("H") for name in card_names(np.uint64(hand)))
        hearts[drew] = total / 300
    # 13 of 48 unseen cards are hearts: 1.9 of 7 on average, standard error 0.06
    assert hearts[0] == pytest.approx(7 * 13 / 48, abs=0.3)
    assert hearts[3] < 0.5 * hearts[0]


def test_the_answer_that_is_tried_is_given_once():
    """With one card left that fits, playing it wins in every roll-out; drawing instead does not."""
    rule = rule_record(load("ochos-locos", ["draw.voluntary=true"]).rules, 2)
    view = view_of(["2C"], ["2C"], pile=("5C",), players=2, counts=[1, 5], may_draw=1)
    trials = trial_of(view, rule, engine.ASKED_PLAY, policy_of("first-legal"))
    assert trials[0]["answer"][0] == card_code("2C")
    add_answer(trials, 64)
    won = np.zeros(2, int)
    for number in range(50):
        assert play_out(trials, number) == 0
        won += trials[0]["won"][:2]
        assert trials[0]["crew"]["params"][0, 0] == NO_ANSWER
    assert won[0] == 50
    assert 0 < won[1] < 50


def test_equal_numbers_are_equal_roll_outs():
    """The same cards and luck whatever was tried before, other ones for another number."""
    rng = random.Random(5)
    while (found := asked(rng, turns=(4,))) is None or found[0] != engine.ASKED_PLAY:
        pass
    question, view, _, rule = found
    policy = policy_of("random")
    tables = []
    for numbers in ((0, 1), (1,), (2,)):
        trials = trial_of(view, rule, question, policy)
        for number in numbers:
            play_out(trials, number)
        tables.append(trials[0]["table"]["hands"].tobytes())
    assert tables[0] == tables[1] != tables[2]


def test_nothing_hidden_is_looked_at():
    """The cards of the others and the stock changed about: every roll-out comes to the same."""
    rng = random.Random(7)
    compared = 0
    policy = policy_of("suit-counting")
    while compared < 20:
        found = asked(rng)
        if found is None:
            continue
        question, view, tables, rule = found
        other = next_view(hidden_moved(tables, int(view["position"]), rng), rule, MUTE)
        if other is None or other[0] != question or int(other[1]["position"]) != int(view["position"]) or view["drawn"]:
            continue
        if any(not np.array_equal(view[name], other[1][name]) for name in view.dtype.names if name != "params"):
            continue  # somebody else acted in between
        results = []
        for one in (view, other[1]):
            trials = trial_of(one, rule, question, policy)
            play_out(trials, 3)
            results.append((trials[0]["won"].tolist(), trials[0]["own"].tolist(), trials[0]["others"].tolist()))
        assert results[0] == results[1]
        compared += 1
