"""The engine and the reference engine, which know nothing of each other, agree card by card."""

import random
from collections import Counter

import numpy as np
import pytest
from any_option import ANY_OPTION
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import AnyOption, play_hand, play_match
from rule_draws import draw_lineup, draw_players, draw_rules

from sim import engine
from sim.cards import card_code
from sim.record import rule_record
from sim.rules import Rules, changes_of, load, preset_names
from sim.table import TABLE
from sim.trace import trace_hand, trace_match
from strategies.registry import Player, crew_record, find


def crew_of(lineup, notice_rate, strategy=None):
    """The line-up as both engines know it; `strategy` in every seat if it is one that has no name."""
    players = [
        Player(strategy or find(entry["strategy"]), entry.get("forget_last_card", 0.0), entry.get("illegal_rate", 0.0))
        for entry in lineup
    ]
    return crew_record(players, notice_rate), [entry["strategy"] for entry in lineup]


def assert_same_hand(rules, lineup, *, seed, game, dealer=None, deck=None, notice_rate=1.0):
    crew, names = crew_of(lineup, notice_rate)
    codes = [card_code(name) for name in deck] if deck else ()
    ours = trace_hand(Rules.from_dict(rules), crew, names, seed=seed, game=game, dealer=dealer, deck=codes)
    theirs = play_hand(rules, lineup, seed=seed, game=game, dealer=dealer, deck=deck, notice_rate=notice_rate)
    assert ours == theirs.events
    return theirs


def assert_same_match(rules, lineup, *, seed, game, rotation=0, notice_rate=1.0):
    crew, names = crew_of(lineup, notice_rate)
    ours = list(trace_match(Rules.from_dict(rules), crew, names, seed=seed, game=game, rotation=rotation))
    theirs = play_match(rules, lineup, seed=seed, game=game, rotation=rotation, notice_rate=notice_rate)
    assert ours == theirs.events[1:]


SPECS = sorted(
    set(preset_names()) | {f"{preset}+{change.name}" for preset in preset_names() for change in changes_of(preset)}
)


@pytest.mark.parametrize("spec", SPECS)
def test_presets_and_named_changes(spec):
    """Every preset with every named change, 2 to 7 players: hands and a match, event by event."""
    rules = load(spec, ["players.max=7"]).rules.as_dict()
    rng = random.Random(spec)
    for players in range(2, 8):
        if not 0 < players * Rules.from_dict(rules).cards_each(players) < Rules.from_dict(rules).pack_size(players):
            continue
        for game in range(4):
            lineup = draw_lineup(rng, players, errors=game % 2 == 1)
            assert_same_hand(
                rules, lineup, seed=rng.getrandbits(64), game=rng.getrandbits(40), notice_rate=rng.choice([1.0, 0.6])
            )
    lineup = draw_lineup(rng, 3)
    assert_same_match(rules, lineup, seed=11, game=5, rotation=1)


@given(st.randoms(use_true_random=False), st.integers(0, 2**64 - 1), st.integers(0, 2**63))
@settings(max_examples=400)
def test_drawn_rules(rng, seed, game):
    """Rules, line-ups, errors and dealers drawn by hypothesis: one hand each."""
    rules = draw_rules(rng)
    players = draw_players(rng, rules)
    lineup = draw_lineup(rng, players)
    assert_same_hand(
        rules, lineup, seed=seed, game=game, dealer=rng.randrange(players), notice_rate=rng.choice([0.0, 0.5, 1.0])
    )


@given(st.randoms(use_true_random=False), st.integers(0, 2**64 - 1))
@settings(max_examples=60)
def test_drawn_matches(rng, seed):
    """The same for matches, with a target that ends them soon."""
    rules = draw_rules(rng)
    players = draw_players(rng, rules)
    lineup = draw_lineup(rng, players)
    assert_same_match(rules, lineup, seed=seed, game=rng.getrandbits(33), rotation=rng.randrange(players))


@given(st.randoms(use_true_random=False), st.integers(0, 2**64 - 1), st.integers(0, 2**63))
@settings(max_examples=300)
def test_any_option(rng, seed, game):
    """Players who choose any option at all: voluntary draws, drawn cards kept, penalties taken, stops declined."""
    rules = draw_rules(rng)
    players = draw_players(rng, rules)
    errors = draw_lineup(rng, players)
    crew, names = crew_of(errors, notice_rate=0.5, strategy=ANY_OPTION)
    ours = trace_hand(Rules.from_dict(rules), crew, names, seed=seed, game=game)
    lineup = [{**entry, "strategy": AnyOption()} for entry in errors]
    assert ours == play_hand(rules, lineup, seed=seed, game=game, notice_rate=0.5).events


def test_any_option_reaches_what_no_other_does():
    """In hands like those above: draws by choice, passes with a playable card in hand, penalties taken, stops not."""
    rng = random.Random("corners")
    met = Counter()
    for game in range(150):
        rules = draw_rules(rng)
        lineup = [{"strategy": Watched(met)} for _ in range(draw_players(rng, rules))]
        play_hand(rules, lineup, seed=1, game=game)
    assert all(met[corner] >= 20 for corner in ("voluntary", "kept", "taken", "not stopped")), met


class Watched(AnyOption):
    """Counts, in the reference engine, the answers that the simple strategies never give."""

    def __init__(self, met):
        self.met = met

    def play(self, view):
        answer = super().play(view)
        if view.playable:
            self.met[{"draw": "voluntary", "pass": "kept", "take": "taken"}.get(answer, "card")] += 1
        return answer

    def stop(self, view):
        stops = super().stop(view)
        self.met["stopped" if stops else "not stopped"] += 1
        return stops


PLAIN_SPECS = ["ochos-locos", "ochos-locos+draw-three", "crazy-eights", "crazy-aces", "ochos-locos+pass-when-empty"]


@given(st.randoms(use_true_random=False), st.integers(0, 2**64 - 1), st.integers(0, 2**40))
@settings(max_examples=150, deadline=None)
def test_without_a_log_a_hand_is_the_same(rng, seed, game):
    """What is traced and compared with the reference above is logged; what is counted is not, and is compiled apart."""
    if rng.random() < 0.5:
        rules = load(rng.choice(PLAIN_SPECS), ["players.max=7"]).rules
        players = rng.randrange(2, 6)
    else:
        drawn = draw_rules(rng)
        rules, players = Rules.from_dict(drawn), draw_players(rng, drawn)
    crew, _ = crew_of(draw_lineup(rng, players, errors=rng.random() < 0.5), 0.5, rng.choice([ANY_OPTION, None]))
    rule = rule_record(rules, players)
    log = np.zeros((20_000, engine.LOG_COLUMNS), np.int64)
    kept = []
    for room in (0, len(log)):
        tables = np.zeros(1, TABLE)
        t = tables[0]
        engine.prepare(rule[()], t)
        engine.seat_players(rule[()], t, players, players - 1)
        t["seed"], t["game"], t["log"], t["log_room"] = seed, game, log.ctypes.data, room
        assert engine.play_hand(rule[()], t, crew[()]) >= 0
        t["log"] = t["log_room"] = t["logged"] = 0
        kept.append(t.tobytes())
    assert kept[0] == kept[1]


def test_most_presets_are_usual():
    """The hands that are compiled apart are played under these rules, and not where an action would be missed."""
    usual = {spec: bool(rule_record(load(spec).rules, 4)["usual"]) for spec in [*PLAIN_SPECS, "ochos-locos-actions"]}
    assert usual == {**dict.fromkeys(PLAIN_SPECS, True), "ochos-locos-actions": False}
