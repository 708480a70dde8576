"""Voids and wilds: what is counted is what a recount from the reference engine's tables and events comes to."""

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from reference import STRATEGIES, Chance, Table, cards_dealt, is_wild, play_hand, play_match, points_of, suit_of
from rule_draws import rules_with

from sim.cards import SUITS
from sim.engine import WHOLE
from sim.rules import Rules, load
from sim.sights import CAUGHT, HAND_COUNTS, OTHERS, ROUNDS, TIMES, VOID_CELLS, count_caught, count_wilds, find_voids
from strategies.registry import Player, crew_record, find


def crew_of(name, players):
    return crew_record([Player(find(name))] * players)


def products_of(row):
    return np.outer(row, row)


class Looking:
    """Plays as a strategy and counts, at each question to lay a card, what is known of the others' suits."""

    def __init__(self, name):
        self.strategy = STRATEGIES[name]
        self.seen, self.since = {}, {}
        self.asked, self.none = Counter(), Counter()

    def suit(self, view):
        return self.strategy.suit(view)

    def stop(self, view):
        return self.strategy.stop(view)

    def play(self, view):
        self.look(view)
        return self.strategy.play(view)

    def look(self, view):
        drew, played = self.said(view.turn)
        players = len(view.cards)
        for other in range(players):
            if other == view.seat:
                continue
            for suit in SUITS:
                times = len(drew.get((other, suit), ()))
                if times != self.seen.get((other, suit), 0):
                    self.seen[other, suit], self.since[other, suit] = times, view.turn
                if not times or (other, suit) in played:
                    continue
                elsewhere = sum(len(turns) for (who, what), turns in drew.items() if who == other and what != suit)
                rounds = (view.turn - self.since[other, suit]) // players
                band = 0 if rounds < 1 else 1 if rounds < 2 else 2 if rounds < 4 else 3
                cell = (min(times, TIMES) - 1, min(elsewhere, OTHERS - 1), band)
                plain = [c for c in self.table.hands[other] if suit_of(c) == suit and not is_wild(view.rules, c)]
                self.asked[cell] += 1
                self.none[cell] += not plain

    def said(self, now):
        """The turns in which others drew or passed, by player and suit, and who has played which suit."""
        drew, played, active = {}, set(), None
        for event in self.table.events:
            seat = event.get("seat", 0) - 1
            if event["event"] in ("draw", "pass") and event["turn"] < now and event.get("why", "stuck") == "stuck":
                drew.setdefault((seat, active), set()).add(event["turn"])
            if event["event"] == "play" and not is_wild(self.table.rules, event["card"]):
                played.add((seat, suit_of(event["card"])))
            active = event.get("active_suit", active)
        return drew, played


@pytest.mark.parametrize("name", ["first-legal", "hoard-eights"])
def test_voids_are_those_of_the_tables(name):
    games, players, seed = 300, 3, 9
    rules = rules_with()
    found = find_voids(Rules.from_dict(rules), players, crew_of(name, players), seed=seed, games=games, threads=2)
    sums, products = np.zeros((VOID_CELLS, 2), np.int64), np.zeros((VOID_CELLS, 3), np.int64)
    for game in range(games):
        looking = Looking(name)
        table = looking.table = Table(
            rules=rules,
            lineup=[{"strategy": looking}] * players,
            seats=list(range(players)),
            dealer=players - 1,
            cards_each=dict.fromkeys(range(players), cards_dealt(rules, players)),
            chance=Chance(seed, game, 0),
            totals=[0] * players,
        )
        table.run()
        for (times, others, rounds), asked in looking.asked.items():
            at, none = (times * OTHERS + others) * ROUNDS + rounds, looking.none[times, others, rounds]
            sums[at] += [asked, none]
            products[at] += [asked * asked, asked * none, none * none]
    assert sums[:, 0].sum() > 500
    assert np.array_equal(found.sums, sums)
    assert np.array_equal(found.products, products)


@pytest.mark.parametrize("sets", [(), ("wild.ranks=A,8", "deck.jokers=2")])
def test_wilds_are_those_of_the_events(sets):
    rules = load("crazy-eights", sets).rules
    players, seed, games = 4, 2, 300
    plain = rules.as_dict()
    rows = []
    for game in range(games):
        hand = play_hand(plain, [{"strategy": "hoard-eights"}] * players, seed=seed, game=game)
        laid = [e for e in hand.events if e["event"] in ("deal", "play")]
        cards = [e.get("card", e.get("starter")) for e in laid]
        wild = [is_wild(plain, card) for card in cards]
        if hand.reason == "capped":
            rows.append(np.array([0, 0, 0, 0, 0, 1]))
            continue
        row = [sum(wild[1:]), sum(a and b for a, b in pairwise(wild)), 0, 0, 0, 0]
        row[2] = sum(a["active_suit"] != b["active_suit"] for a, b in pairwise(laid))
        for seat, held in enumerate(hand.events[-1]["left"]):
            wilds = [card for card in held if is_wild(plain, card)]
            if len(wilds) >= 2 and seat != hand.winner:
                row[3] += 1
                row[4] += sum(points_of(plain, card) for card in wilds)
        rows.append(np.array(row))
    found = count_wilds(rules, players, crew_of("hoard-eights", players), seed=seed, games=games, threads=2)
    assert dict(zip(HAND_COUNTS, found.sums, strict=True)) == dict(zip(HAND_COUNTS, sum(rows), strict=True))
    assert np.array_equal(found.products, sum(map(products_of, rows)))


def test_who_was_caught_with_two():
    """Where no wild goes on a wild, players are left with some."""
    rules = load("ochos-locos", ["wild.ranks=A,7,8,9,10", "wild.on_wild=false"]).rules
    players, seed, matches = 3, 4, 60
    plain = rules.as_dict()
    sums, products = np.zeros(4, np.int64), np.zeros((4, 4), np.int64)
    for game in range(matches):
        match = play_match(plain, [{"strategy": "hoard-eights"}] * players, seed=seed, game=game)
        caught = set()
        for hand in match.hands:
            for seat, held in enumerate(hand.events[-1]["left"]):
                if seat != hand.winner and sum(is_wild(plain, card) for card in held) >= 2:
                    caught.add(seat)
        winners = match.winner if isinstance(match.winner, list) else [match.winner]
        row = np.zeros(4, np.int64)
        for seat in range(players):
            share = WHOLE // len(winners) if seat in winners else 0
            row[[0, 1] if seat in caught else [2, 3]] += [1, share]
        sums += row
        products += products_of(row)
    found = count_caught(rules, players, crew_of("hoard-eights", players), seed=seed, matches=matches, threads=2)
    assert sums[CAUGHT.index("caught")] > 20
    assert np.array_equal(found.sums, sums)
    assert np.array_equal(found.products, products)


def test_a_wild_that_always_goes_is_not_left_beside_another():
    """Who can always play loses no turn: with no penalties and skips it has one card more than the winner at most."""
    for name in ("hoard-eights", "random"):
        counts = count_wilds(load("ochos-locos").rules, 4, crew_of(name, 4), seed=1, games=20_000, threads=2)
        assert counts.sums[HAND_COUNTS.index("wilds")] > 20_000
        assert counts.sums[HAND_COUNTS.index("caught")] == 0
