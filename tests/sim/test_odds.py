"""Exact odds: the known figures, every deal of small packs one by one, and the deals of the engine."""

import itertools
import math
from collections import Counter
from fractions import Fraction

import numpy as np
import pytest

from sim.cards import RANK_OF, SUITS
from sim.deals import VOIDS, deal
from sim.odds import Exact
from sim.rules import RulesError, load
from sim.trace import trace_hand
from strategies.registry import Player, crew_record, find


def exact(spec, players, *sets):
    return Exact(load(spec, sets).rules, players)


# --- Known figures --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "players", "cards", "value"),
    [
        ("ochos-locos", 2, 7, 0.037384),
        ("ochos-locos", 5, 7, 0.037384),
        ("crazy-eights", 4, 5, 0.101938),
        ("ocho-loco", 3, 5, 0.101938),
    ],
)
def test_position_one_is_stuck(spec, players, cards, value):
    """48/(48-h) · C(33,h)/C(52,h): the starter is turned after the deal, so the hand is not one of 51 cards."""
    stuck = exact(spec, players).first_stuck()
    assert stuck == Fraction(48, 48 - cards) * Fraction(math.comb(33, cards), math.comb(52, cards))
    assert float(stuck) == pytest.approx(value, abs=5e-7)


def test_the_starter_and_the_points():
    """4/52; 508/52 points a card; from two packs as from one, and with no variance beyond the finite pack's."""
    one, two = exact("crazy-eights", 4), exact("crazy-eights", 4, "deck.packs=2")
    for odds in (one, two):
        assert odds.starter_wild() == Fraction(4, 52)
        assert odds.points_mean() == 5 * Fraction(508, 52)
        assert sum(odds.hand_points.values()) == 1
    squares = 4 * (sum(v**2 for v in (1, 2, 3, 4, 5, 6, 7, 9, 10, 10, 10, 10)) + 50**2)
    a_card = Fraction(squares, 52) - Fraction(508, 52) ** 2
    assert one.points_variance() == 5 * a_card * Fraction(52 - 5, 52 - 1)
    assert two.points_variance() == 5 * a_card * Fraction(104 - 5, 104 - 1)


def test_deals_are_void_where_only_eights_are_left():
    """10 players with 5 cards leave two cards of one pack: both are eights in 6/1326 of deals."""
    odds = exact("crazy-eights", 10, "players.max=10", "deck.packs=1")
    assert odds.void == Fraction(6, 1326)
    assert sum(way.chance for way in odds.openings) == 1
    assert sum(odds.hand_wilds(wilds) for wilds in range(5)) == 1
    assert sum(odds.hand_points.values()) == 1
    assert exact("crazy-eights", 4).void == 0


def test_draws_until_playable():
    """Of the 51 cards that are not the starter 33 do not go; the limit and the stock end it, `no` does not look."""
    free = exact("crazy-eights", 4)
    for cards in range(1, 6):
        assert free.first_draws(cards) == Fraction(48, 48 - 4 - cards) * Fraction(
            math.comb(33, 4 + cards), math.comb(52, 4 + cards)
        )
    three = exact("crazy-eights+draw-three", 4)
    assert [three.first_draws(k) == free.first_draws(k) for k in (1, 2, 3, 4)] == [True, True, True, False]
    assert three.first_draws(4) == 0
    unseen = exact("crazy-eights+draw-three", 4, "draw.play_drawn=no")
    assert unseen.first_draws(3) == free.first_stuck()
    assert unseen.draws_if_stuck() == 3
    assert exact("ochos-locos", 4).draws_if_stuck() == 1


def test_where_the_dealer_plays_a_part_there_is_no_exact_value():
    """A declared suit is the dealer's choice; with a plain starter, or without wilds, the odds are there again."""
    odds = exact("crazy-eights+dealer-declares", 4)
    assert odds.first_stuck() is None
    assert odds.first_draws(2) is None
    assert odds.draws_if_stuck() is None
    assert "dealer declares" in odds.why_not
    assert odds.first_stuck(plain_starter=True) == Fraction(math.comb(33, 5), math.comb(51, 5))
    tame = exact("crazy-eights+dealer-declares", 4, "wild.ranks=[]")
    assert tame.first_stuck() == Fraction(math.comb(36, 5), math.comb(51, 5))
    assert not tame.why_not


def test_too_many_players_are_refused():
    with pytest.raises(RulesError, match="these rules are for 2 to 5"):
        exact("ochos-locos", 8)


# --- Every deal of a small pack -------------------------------------------------------------------------------------


class Table:
    """The rules as the cards below know them: looked up once, since every deal asks for them."""

    def __init__(self, rules, players):
        self.players = players
        self.each = rules.cards_each(players)
        self.wild = {*rules.wild.ranks, "JKR"}
        self.effects = dict(rules.actions.by_rank(), **({"JKR": rules.jokers.draw} if rules.jokers.draw else {}))
        self.acts = self.effects if rules.starter.action == "applies" else {}
        points = rules.points_table()
        self.points = {rank: points[RANK_OF.get(rank, 14)] for rank in (*RANK_OF, "JKR")}
        self.buried = {"bury": self.wild, "own-suit": {"JKR"}, "dealer-declares": set()}[rules.starter.wild]
        self.on_wild, self.may_finish = rules.wild.on_wild, rules.wild.may_finish
        self.limit = 99 if rules.draw.limit == "until-playable" else rules.draw.limit
        self.all_wilds = rules.packs_for(players) * (4 * len(rules.wild.ranks) + rules.deck.jokers)
        self.unseen = rules.play_drawn == "no"

    def playable(self, hand, starter):
        found = []
        for card in hand:
            if card[0] in self.wild:
                kept = (not self.on_wild and starter[0] in self.wild) or (not self.may_finish and len(hand) == 1)
                found += [] if kept else [card]
            elif self.acts.get(starter[0]) == "any-card" or card[0] == starter[0] or card[1] == starter[1]:
                found.append(card)
        return found

    def draws(self, hand, starter, stock):
        """How many cards the player draws in its first turn; -1 if it is not stuck."""
        if self.playable(hand, starter):
            return -1
        drawn = 0
        while drawn < min(self.limit, len(stock)):
            drawn += 1
            now = self.playable((*hand, *stock[:drawn]), starter)
            if set(now) & set(hand) if self.unseen else now:
                break
        return drawn

    def play_out(self, hands, stock):
        """What happens in one deal; None if it is void. Cards: (rank, suit)."""
        players = self.players
        aside, stock = [], list(stock)
        turned = stock[0]
        while stock and stock[0][0] in self.buried:
            aside.append(stock.pop(0))
        if not stock:
            return None
        starter = stock.pop(0)
        half = -(-len(stock) // 2)
        stock[half:half] = aside
        effect = self.acts.get(starter[0])
        first = {"skip": 1 % players, "again": players - 1}.get(effect, 0)
        drawn = -1 if isinstance(effect, int) else self.draws(hands[first], starter, stock)
        mine = hands[0]
        wilds = [sum(card[0] in self.wild for card in hand) for hand in hands]
        suits = Counter(suit for _, suit in mine if suit)
        return {
            "starter_wild": turned[0] in self.wild,
            "starter_acts": effect is not None,
            "stuck": drawn >= 0,
            "drawn": max(0, drawn),
            "plain": starter[0] not in self.wild,
            "wilds": wilds[0],
            "suit": max(suits.values(), default=0),
            "lacks": len(suits) < 4,
            "twins": len(set(mine)) < len(mine),
            "draw_card": any(isinstance(self.effects.get(rank), int) for rank, _ in mine),
            "points": sum(self.points[rank] for rank, _ in mine),
            "somebody": any(wilds),
            "together": max(wilds) == self.all_wilds,
        }


def hands_of(cards, each):
    """All ways to share cards out among players; a hand has no order."""
    if not cards:
        yield ()
    for hand in itertools.combinations(cards, each):
        for others in hands_of([card for card in cards if card not in hand], each):
            yield hand, *others


def deals_of(cards, players, each):
    """All deals, alike in chance: (hands, stock). Copies of a card are told apart."""
    numbers = range(len(cards))
    for stock in itertools.permutations(numbers, len(cards) - players * each):
        for hands in hands_of([number for number in numbers if number not in stock], each):
            yield [tuple(cards[number] for number in hand) for hand in hands], [cards[number] for number in stock]


SMALL = {
    "bury, void deals": (2, ["deck.ranks=8,9", "deal.cards=2"]),
    "bury, held back": (2, ["deck.ranks=8,9", "deal.cards=1", "wild.may_finish=false", "draw.limit=until-playable"]),
    "bury, a joker comes up": (
        3,
        ["deck.ranks=2,K", "deck.jokers=1", "wild.ranks=[]", "deal.cards=2", "draw.limit=until-playable"],
    ),
    "bury, no look": (
        2,
        ["deck.ranks=8,9", "deal.cards=1", "wild.may_finish=false", "draw.limit=3", "draw.play_drawn=no"],
    ),
    "own suit, no wild on wild": (
        2,
        [
            *("deck.ranks=9", "deck.jokers=4", "wild.ranks=[]", "deal.cards=2", "starter.wild=own-suit"),
            *("wild.on_wild=false", "draw.limit=until-playable"),
        ],
    ),
    "own suit, eights and jokers": (
        2,
        [
            *("deck.ranks=8", "deck.jokers=4", "deal.cards=2", "starter.wild=own-suit"),
            *("wild.on_wild=false", "draw.limit=until-playable", "jokers.effect={wild-draw=4}"),
        ],
    ),
    "the starter applies": (
        3,
        [
            *("deck.ranks=2,K", "deal.cards=2", "starter.wild=own-suit", "starter.action=applies"),
            *("wild.ranks=[]", "actions.2={draw=2}", "actions.K=skip", "draw.limit=until-playable"),
        ],
    ),
    "any card follows": (
        2,
        [
            *("deck.ranks=2,K", "deal.cards=1", "starter.action=applies", "wild.ranks=K", "starter.wild=own-suit"),
            *("actions.2=any-card", "actions.K=again", "wild.on_wild=false", "draw.limit=until-playable"),
        ],
    ),
    "two packs": (2, ["deck.ranks=8", "deck.packs=2", "wild.ranks=[]", "deal.cards=2", "draw.limit=2"]),
}


@pytest.mark.parametrize("name", SMALL)
def test_every_deal_of_a_small_pack(name):
    """All deals of eight or nine cards, void ones left out: the odds are equal as fractions."""
    players, sets = SMALL[name]
    rules = load("ochos-locos", [*sets, "deck.two_packs_from=never"]).rules
    packs = rules.packs_for(players)
    cards = [(rank, suit) for rank in rules.deck.ranks for suit in SUITS] * packs + [("JKR", "")] * rules.deck.jokers
    table, found = Table(rules, players), Counter()
    for hands, stock in deals_of(cards, players, rules.cards_each(players)):
        events = table.play_out(hands, stock)
        if events is None:
            found["void"] += 1
            continue
        found["deals"] += 1
        found.update(events.items())
        found["plain and stuck"] += events["plain"] and events["stuck"]

    def share(event, low=1, high=99):
        count = sum(n for key, n in found.items() if key[0] == event and low <= key[1] <= high)
        return Fraction(count, found["deals"])

    odds = Exact(rules, players)
    assert odds.void == Fraction(found["void"], found["void"] + found["deals"])
    assert odds.starter_wild() == share("starter_wild")
    assert odds.starter_acts() == share("starter_acts")
    assert odds.first_stuck() == share("stuck")
    if found["plain", True]:
        assert odds.first_stuck(plain_starter=True) == Fraction(found["plain and stuck"], found["plain", True])
    for k in range(1, 9):
        assert odds.first_draws(k) == share("drawn", k)
    if share("stuck"):
        assert odds.draws_if_stuck() == sum(share("drawn", k) for k in range(1, 9)) / share("stuck")
    for k in range(odds.hand + 1):
        assert odds.hand_wilds(k) == share("wilds", k, k)
    for k in range(1, odds.hand + 1):
        assert odds.hand_suit(k) == share("suit", k)
    assert odds.hand_lacks_suit() == share("lacks")
    assert odds.hand_twins() == share("twins")
    assert 1 - odds.hand_lacks(c for c in odds.pack if odds.is_draw_card(c)) == share("draw_card")
    points = {key[1]: Fraction(n, found["deals"]) for key, n in found.items() if key[0] == "points"}
    assert odds.hand_points == dict(sorted(points.items()))
    assert odds.somebody_wild() == share("somebody")
    if odds.wilds:
        assert odds.all_wilds_together() == share("together")


# --- What the engine deals ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "players", "sets"),
    [
        ("crazy-eights", 4, []),
        ("crazy-eights+dealer-declares", 3, ["wild.on_wild=false"]),
        ("ochos-locos+draw-three", 2, ["draw.play_drawn=no", "deal.cards=1", "wild.may_finish=false"]),
        ("crazy-eights-actions", 7, ["starter.action=applies", "deck.jokers=2", "deal.misdeal_rate=0.3"]),
    ],
)
def test_deals_are_counted_as_they_are_played(spec, players, sets):
    """Starter, hands and first turn of 200 games stand in their traces as they were counted."""
    games = 200
    rules = load(spec, sets).rules
    counted = deal(rules, players, seed=11, deals=games)
    # A strategy that declares the longest suit, as the deals do.
    crew = crew_record([Player(find("first-legal"))] * players)
    odds = Exact(rules, players)
    table = rules.points_table()
    starters, points, draws = Counter(), Counter(), Counter()
    for game in range(games):
        events = trace_hand(rules, crew, ["first-legal"] * players, seed=11, game=game)
        start = next(event for event in events if event["event"] == "deal")
        wild = start["starter"] == "JKR" or start["starter"][:-1] in rules.wild.ranks
        starters["wild"] += bool(start["buried"]) or wild
        points[sum(table[RANK_OF.get(name[:-1], 14)] for name in start["hands"][0])] += 1
        stuck = [event for event in events if event.get("turn") == 1 and event.get("why") == "stuck"]
        draws[sum(len(event["cards"]) for event in stuck)] += 1
    assert counted.events["starter_wild"] == starters["wild"]
    assert counted.events["starter_plain"] >= games - starters["wild"]
    assert {int(p): int(counted.points[p]) for p in np.flatnonzero(counted.points)} == points
    # With the whole stock to draw from nobody is stuck without a draw.
    assert odds.most_draws > 0
    assert counted.events["first_stuck"] == games - draws[0] > 0
    del draws[0]
    assert {int(k): int(counted.draws[k]) for k in np.flatnonzero(counted.draws)} == draws


def test_the_counts_of_deals_add_up():
    """Every histogram of a hand has each deal once; the same seed gives the same counts."""
    rules = load("crazy-eights", ["players.max=10", "deck.packs=1", "deal.misdeal_rate=0.2"]).rules
    first, second = (deal(rules, 10, seed=4, deals=5_000) for _ in range(2))
    for counts in (first.wilds, first.longest_suit, first.points, first.voids):
        assert counts.sum() == 5_000
    assert len(first.voids) == VOIDS
    assert first.events["first_stuck"] == first.draws.sum()
    assert first.events == second.events
    assert first.events != deal(rules, 10, seed=5, deals=5_000).events
