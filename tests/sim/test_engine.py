"""What the engine can do beyond playing a hand once: take it up again at any question, and play its cards again."""

import numpy as np
from any_option import any_play, any_suit, perhaps_stop
from hypothesis import given, settings
from hypothesis import strategies as st
from rule_draws import draw_players, draw_rules
from views import WATCH

from sim import engine
from sim.compiled import kernel
from sim.record import rule_record
from sim.rules import Rules, load
from sim.table import TABLE
from strategies.registry import Player, Strategy, crew_record, find


@kernel
def silent(view):
    """Count a question; whether it is one too many."""
    view.totals[np.uint64(WATCH)] -= 1
    return view.totals[np.uint64(WATCH)] < 0


def play(view):
    return -7 if silent(view) else any_play(view)


def suit(view):
    return -7 if silent(view) else any_suit(view)


def stop(view):
    return -7 if silent(view) else perhaps_stop(view)


COUNTING = Strategy("counting-questions", "any option, so many times", "", play, suit, stop)
ENOUGH = 1 << 40


def seated(rules, players, *, seed, game, questions):
    rule = rule_record(rules, players)
    tables = np.zeros(1, TABLE)
    t = tables[0]
    engine.prepare(rule[()], t)
    engine.seat_players(rule[()], t, players, players - 1)
    t["seed"], t["game"] = seed, game
    t["sight"]["totals"][WATCH] = questions
    return rule, tables


def left_behind(t):
    """What a hand leaves that the way to its end decides, without the counts of questions and choices."""
    names = ["hands", "hands_twice", "reason", "winner", "scored", "cards_drawn", "passes", "stuck", "stock_low"]
    names += ["reshuffles", "longest_chain", "closed_on_wild"]
    sight = t["sight"]
    seen = ["turn", "direction", "top", "active_suit", "pending", "idle", "stock", "counts", "called", "drew_on"]
    return [t[name].tolist() for name in names] + [sight[name].tolist() for name in [*seen, "played", "pile"]]


@given(st.randoms(use_true_random=False), st.integers(0, 2**64 - 1), st.integers(0, 2**40))
@settings(max_examples=120, deadline=None)
def test_goes_on_from_any_question(rng, seed, game):
    rules = Rules.from_dict(draw_rules(rng))
    players = draw_players(rng, rules.as_dict())
    crew = crew_record([Player(COUNTING)] * players)
    rule, tables = seated(rules, players, seed=seed, game=game, questions=ENOUGH)
    assert engine.play_hand(rule[()], tables[0], crew[()]) >= 0
    whole = left_behind(tables[0])
    asked = ENOUGH - int(tables[0]["sight"]["totals"][WATCH])
    for before in {rng.randrange(asked) for _ in range(4)} if asked else ():
        rule, tables = seated(rules, players, seed=seed, game=game, questions=before)
        t = tables[0]
        assert engine.play_hand(rule[()], t, crew[()]) == engine.FAULT
        t["sight"]["totals"][WATCH] = ENOUGH
        t["questions"][t["faulty"]] -= 1
        question = int(t["question"])
        late = question == engine.ASKED_SUIT and t["sight"]["declarer"] >= 0
        position = int(t["sight"]["acting"] if late else t["faulty"])
        assert engine.play_from(rule[()], t, crew[()], position, question) >= 0
        assert left_behind(t) == whole


def test_the_same_cards_with_other_luck():
    """Dealt alike in every replay, played unlike; where nobody decides by chance, played alike too."""
    rules = load("ochos-locos").rules
    for name, ways in (("random", 4), ("dump-faces", 1)):
        crew = crew_record([Player(find(name))] * 3)
        dealt, played = set(), set()
        for replay in range(engine.REPLAYS):
            rule, tables = seated(rules, 3, seed=6, game=2, questions=ENOUGH)
            t = tables[0]
            t["replay"] = replay
            engine._clear(t)
            engine._deal(rule[()], t)
            dealt.add((t["hands"].tobytes(), t["stock"].tobytes()))
            assert engine.play_hand(rule[()], t, crew[()]) == 0
            played.add(str(left_behind(t)))
        assert len(dealt) == 1
        assert len(played) == ways
    assert engine.HAND_CAP <= engine.REPLAY_STEP
