"""Stories: hands worked out by hand, and every counter against a recount in plain Python from traced events."""

import dataclasses
import math
import random
from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from any_option import ANY_OPTION
from reference import draw_value, effect_of, is_wild, points_of, rank_of, suit_of
from rule_draws import draw_lineup, draw_players, draw_rules, rules_with

from sim import engine
from sim.batch import Plan, Scenario, rotations_of, run
from sim.cards import card_code
from sim.record import rule_record
from sim.rules import Rules, load
from sim.story import (
    HAND_COLUMNS,
    JUDGED_COLUMNS,
    LEADER_HANDS,
    MATCH_COLUMNS,
    MOST_HELD,
    PARTS,
    Story,
    _count,
    _count_match,
    _judge,
    _read,
    tell,
)
from sim.table import MATCH, OUT, TABLE
from sim.tally import hand_columns, match_columns
from sim.trace import StrategyFault, trace_hand, trace_match
from strategies.registry import Player, Strategy, crew_record, find


def scenario(spec, names, sets=()):
    return Scenario(load(spec, sets).rules, crew_record([Player(find(name)) for name in names]), tuple(names))


# --- Hands worked out by hand ----------------------------------------------------------------------------------------


def told(rules, players, dealt, stock):
    """Row and history of a hand of first-legal players with these cards: each one's, then the starter and the stock."""
    rules = Rules.from_dict(rules)
    rule = rule_record(rules, players)
    deck = [card for round_ in zip(*dealt, strict=True) for card in round_] + stock
    codes = [card_code(card) for card in deck]
    pack = [int(code) for code in rule["pack"][: int(rule["pack_size"])]]
    codes += [code for code in pack if code not in codes]
    tables = np.zeros(2, TABLE)
    t = tables[0]
    t["stock"][: len(codes)] = codes
    t["given"] = len(codes)
    log = np.zeros((500, engine.LOG_COLUMNS), np.int64)
    t["log"], t["log_room"] = log.ctypes.data, len(log)
    engine.prepare(rule[()], t)
    engine.seat_players(rule[()], t, players, players - 1)
    crew = crew_record([Player(find("first-legal"))] * players)
    assert engine.play_hand(rule[()], t, crew[()]) >= 0
    history = np.zeros((200, players + 2), np.int64)
    row = np.zeros(len(HAND_COLUMNS), np.int64)
    _read(rule[()], t, tables[1], log, history, row)
    _count(rule[()], t, history, row)
    turns = int(t["sight"]["turn"])
    return dict(zip(HAND_COLUMNS, row.tolist(), strict=True)), history[: turns + 1, :players].tolist()


def assert_row(row, **expected):
    assert {name: row[name] for name in expected} == expected
    rest = {name: value for name, value in row.items() if name not in expected and value}
    assert not rest, "all other counters stay at 0"


def test_a_short_hand():
    """5H on 3H, 9H on 5H, and out on the eight; KS stays, 10 points."""
    row, held = told(rules_with({"deal.cards": 2}), 2, [["5H", "8C"], ["9H", "KS"]], ["3H", "QD"])
    assert held == [[2, 2], [1, 2], [1, 1], [0, 1]]
    assert_row(
        row, hands=1, turns=3, choices=1, own_plays=3, playable=2 + 1 + 1, losers_points=10, won=1,
        halfway_led=1, halfway_leader_won=1,
    )  # fmt: skip


def test_a_lead_that_changes():
    """Player 1 draws QD and 7H while 2 gets rid of 7C; then 2 is stuck for good, and 1 goes by."""
    stock = ["3C", "QD", "7H", "QC", "JS", "JC", "9H", "KC", "9D", "4S"]
    row, held = told(rules_with({"deal.cards": 2}), 2, [["5H", "6H"], ["7C", "KS"]], stock)
    assert [mine for mine, _ in held] == [2, 3, 3, 3, 3, 2, 2, 1, 1, 1, 1, 1, 1, 0]
    assert [theirs for _, theirs in held] == [2, 2, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6, 6]
    left = 10 + 10 + 10 + 10 + 10 + 4  # KS QC JS JC KC 4S
    assert_row(
        row, hands=1, turns=13, choices=4, stuck=9, own_plays=13, playable=1 + 2 + 1 + 1, losers_points=left, won=1,
        lead_changes=1, halfway_led=1, halfway_leader_won=1,
    )  # fmt: skip


def test_a_penalty_cut_short():
    """Three twos in a row make six cards due, of which the stock has one; an answer is no own play; 8H stays."""
    rules = rules_with(
        {"deal.cards": 5, "deck.ranks": ["2", "4", "8"], "actions.2": {"draw": 2}, "stock.empty": "pass"}
    )
    dealt = [["2H", "8S", "8C", "8D", "2C"], ["4H", "2S", "4C", "8H", "4S"]]
    row, held = told(rules, 2, dealt, ["4D", "2D"])
    assert held == [[5, 5], [4, 5], [4, 4], [3, 4], [3, 3], [2, 3], [2, 4], [1, 4], [1, 3], [0, 3]]
    assert_row(
        row, hands=1, turns=9, choices=5, own_plays=6, playable=3 + 2 + 3 + 2 + 2 + 1, penalties=1, penalties_short=1,
        chained=1, wilds_left=1, wild_points=50, losers_points=4 + 50 + 2, won=1,
    )  # fmt: skip


def test_cards_drawn_later_do_not_pay_a_penalty():
    """Six cards of seven due in turn 2; the one that player 1, stuck, draws in turn 7 is none of them."""
    rules = rules_with(
        {"deal.cards": 3, "deck.ranks": ["4", "6", "8"], "wild.ranks": [], "actions.8": {"draw": 7}, "turn_cap": 7}
    )
    dealt = [["8H", "4S", "6S"], ["6D", "6H", "4C"]]
    row, held = told(rules, 2, dealt, ["8D", "4H", "4D", "8C", "8S", "6C"])
    assert held[:7] == [[3, 3], [2, 3], [2, 9], [2, 9], [2, 8], [1, 8], [1, 7]]
    assert (row["own_plays"], row["playable"], row["stuck"]) == (6, 1 + 0 + 5 + 1 + 3 + 0, 2)
    assert (row["turns"], row["penalties"], row["penalties_short"]) == (7, 1, 1)


def by_hand(held, *, winner, actors=None, directions=None):
    """A table whose hand went so, and its history."""
    held = np.array(held, np.int64)
    turns, players = len(held) - 1, held.shape[1]
    tables = np.zeros(1, TABLE)
    t = tables[0]
    t["sight"]["players"], t["sight"]["turn"] = players, turns
    t["winner"], t["reason"] = winner, OUT
    actors = [turn % players for turn in range(turns)] if actors is None else actors
    history = np.zeros((turns + 1, players + 2), np.int64)
    history[:, :players] = held
    history[:, players] = [*actors, -1]
    history[:, players + 1] = 1 if directions is None else [*directions, 1]
    return t, history


@pytest.mark.parametrize(
    ("held", "winner", "comeback", "halfway", "changes"),
    [
        # after 2 of 4 turns: the winner has most; all alike; one of two with most; one in between
        ([[3, 3, 3], [2, 3, 3], [2, 2, 3], [2, 2, 1], [2, 2, 0]], 2, 1, (0, 0), 1),
        ([[1, 1, 1], [1, 2, 1], [2, 2, 2], [2, 2, 1], [2, 2, 0]], 2, 0, (0, 0), 0),
        ([[3, 3, 3], [1, 3, 3], [1, 3, 3], [1, 2, 3], [1, 0, 3]], 1, 1, (1, 0), 1),
        ([[3, 3, 3], [1, 3, 3], [1, 2, 3], [1, 2, 3], [1, 0, 3]], 1, 0, (1, 0), 1),
    ],
)
def test_comebacks_and_runaways(held, winner, comeback, halfway, changes):
    t, history = by_hand(held, winner=winner)
    row = np.zeros(len(HAND_COLUMNS), np.int64)
    _count(rule_record(load("ochos-locos").rules, 3)[()], t, history, row)
    found = dict(zip(HAND_COLUMNS, row.tolist(), strict=True))
    assert (found["comebacks"], found["lead_changes"]) == (comeback, changes)
    assert (found["halfway_led"], found["halfway_leader_won"]) == halfway


def test_ties_for_the_lowest_hand_count_only_where_nobody_went_out():
    rule = rule_record(load("ochos-locos").rules, 3)[()]
    for points, reason, tied in (((7, 7, 9), 1, 1), ((7, 9, 9), 1, 0), ((0, 0, 9), OUT, 0), ((5, 5, 5), 3, 1)):
        t, history = by_hand([[3, 3, 3], [2, 3, 3]], winner=0)
        t["points_left"][:3] = points
        t["reason"] = reason
        row = np.zeros(len(HAND_COLUMNS), np.int64)
        _count(rule, t, history, row)
        assert row[HAND_COLUMNS.index("tied_lowest")] == tied


def test_how_open_a_hand_is():
    """Three turns between two, with chances made up; all four figures from the definitions.

    A player with 1 card wins with 0.9 (0.6 if it has to wait) however many the other has, one with 2 with 0.3.
    """
    chances = np.full((MOST_HELD + 1, MOST_HELD + 1, 2), 0.3)
    chances[1] = [0.9, 0.6]
    t, history = by_hand([[2, 2], [1, 2], [1, 1], [1, 0]], winner=1)
    row = np.zeros(len(JUDGED_COLUMNS), np.int64)
    _judge(t, history, np.zeros((2, 3), np.int64), chances, row)
    # before turn 1: 0.3 0.3; before turn 2, which is player 2's: 0.6 0.3; before turn 3, player 1's: 0.9 0.6
    first = [(0.5, 0.5), (2 / 3, 1 / 3), (0.6, 0.4)]
    entropy = sum(-p * math.log(p) for pair in first for p in pair) / 3 / math.log(2)
    drama = (math.sqrt(1 / 3) + math.sqrt(0.2)) / 2  # the winner is behind before turns 2 and 3
    swing = 2 / 3 - 1 / 2  # player 1's in turn 1; player 2's in turn 2 is 0.4 - 1/3
    expected = (entropy, drama, 3 / 3, swing)
    assert row.tolist() == [1, *(int(value * PARTS + 0.5) for value in expected)]


def test_whose_turn_is_how_far_follows_the_direction():
    """Four players, player 2 to act: clockwise 3 is next, the other way round 1 is."""
    chances = np.full((MOST_HELD + 1, MOST_HELD + 1, 4), 0.1)
    chances[:, :, 1] = 0.7  # whoever is next
    for direction, following in ((1, 2), (-1, 0)):
        t, history = by_hand([[5] * 4] * 2, winner=following, actors=[1], directions=[direction])
        row = np.zeros(len(JUDGED_COLUMNS), np.int64)
        drama = JUDGED_COLUMNS.index("drama")
        _judge(t, history, np.zeros((4, 3), np.int64), chances, row)
        assert row[drama] == 0
        t["winner"] = 3
        _judge(t, history, np.zeros((4, 3), np.int64), chances, row)
        assert row[drama] == int(math.sqrt(0.6) * PARTS + 0.5)


# --- The recount -----------------------------------------------------------------------------------------------------


def follows(rules, hand, card, top, suit, any_card):
    if is_wild(rules, card):
        kept = (is_wild(rules, top) and not rules["wild"]["on_wild"]) or (
            len(hand) == 1 and not rules["wild"]["may_finish"]
        )
        return not kept
    return any_card or rank_of(card) == rank_of(top) or suit_of(card) == suit


class Recount:
    """A hand from its events: `counts` of HAND_COLUMNS but choices; cards held, actor and direction by turn."""

    def __init__(self, rules, events):
        deal, end = events[0], events[-1]
        self.seats = [seat for seat, hand in enumerate(deal["hands"], 1) if hand]
        first = next(
            i for i, seat in enumerate(self.seats + self.seats) if seat > deal["dealer"] or i >= len(self.seats)
        )
        self.seats = (self.seats + self.seats)[first : first + len(self.seats)]
        self.hands = {seat: list(deal["hands"][seat - 1]) for seat in self.seats}
        self.counts = Counter(hands=1, turns=max(event.get("turn", 0) for event in events))
        self.winner = None if end["winner"] is None else self.seats.index(end["winner"])
        self.held, self.actors, self.directions = [], [], []
        self.follow(rules, events[1:-1], deal)
        self.look(1)
        del self.actors[-1], self.directions[-1]
        self.sum_up(rules, end)

    def look(self, direction):
        self.held.append([len(self.hands[seat]) for seat in self.seats])
        self.actors.append(None)
        self.directions.append(direction)

    def follow(self, rules, events, deal):
        top, suit, pending, direction, any_card, turn, chain = deal["starter"], deal["active_suit"], 0, 1, False, 0, 0
        if rules["starter"]["action"] == "applies":
            pending = draw_value(rules, top)
            any_card = effect_of(rules, top) == "any-card"
            direction = -1 if effect_of(rules, top) == "reverse" and len(self.seats) > 2 else 1
            chain = int(pending > 0)
        own, due = False, None
        longest = chain
        for event in events:
            kind = event["event"]
            if event["turn"] > turn:
                assert event["turn"] == turn + 1
                turn, own = turn + 1, False
                self.look(direction)
            if turn and kind not in ("declare", "reshuffle") and self.actors[-1] is None:
                self.actors[-1] = self.seats.index(event["seat"])
            hand = self.hands.get(event.get("seat"))
            if kind in ("play", "pass", "illegal") or (kind == "draw" and event["why"] in ("stuck", "voluntary")):
                if not own and not pending and kind != "illegal":
                    playable = {card for card in hand if follows(rules, hand, card, top, suit, any_card)}
                    self.counts["own_plays"] += 1
                    self.counts["playable"] += len(playable)
                    self.counts["stuck"] += not playable
                own = True
            if kind == "draw":
                if event["why"] == "penalty" and pending:
                    due, pending, chain = pending, 0, 0
                    self.counts["penalties"] += 1
                    self.counts["penalties_short"] += 1  # until it is paid in full
                hand += event["cards"]
                if event["why"] not in ("stuck", "voluntary"):
                    due -= len(event["cards"])
                    if due == 0:
                        self.counts["penalties_short"] -= 1
                        due = None
            elif kind == "declare":
                suit = event["suit"]
            elif kind == "play":
                hand.remove(event["card"])
                top, suit, pending, direction = (
                    event["card"], event["active_suit"], event["pending"], event["direction"],
                )  # fmt: skip
                any_card = effect_of(rules, top) == "any-card"
                if draw_value(rules, top) and (hand or pending):
                    chain += 1
                    longest = max(longest, chain)
                if not hand and pending:
                    due = pending
                    self.counts["penalties"] += 1
                    self.counts["penalties_short"] += 1
            elif event.get("caught"):
                due = rules["last_card" if kind == "last-card" else "illegal"]["penalty"]
                self.counts["penalties"] += due > 0
                self.counts["penalties_short"] += due > 0
        self.counts["chained"] = int(longest > 1)

    def sum_up(self, rules, end):
        points = [end["points"][seat - 1] for seat in self.seats]
        self.counts["tied_lowest"] = int(end["reason"] != "out" and points.count(min(points)) > 1)
        for seat in self.seats:
            assert sorted(self.hands[seat]) == sorted(end["left"][seat - 1])
            if seat != end["winner"]:
                wilds = [card for card in self.hands[seat] if is_wild(rules, card)]
                self.counts["wilds_left"] += len(wilds)
                self.counts["wild_points"] += sum(points_of(rules, card) for card in wilds)
                self.counts["losers_points"] += end["points"][seat - 1]
        leaders = [held.index(min(held)) for held in self.held if held.count(min(held)) == 1]
        self.counts["lead_changes"] = sum(a != b for a, b in pairwise(leaders))
        if self.winner is None:
            return
        half = self.held[self.counts["turns"] // 2]
        alone = half.count(min(half)) == 1
        self.counts["won"] = 1
        self.counts["halfway_led"] = int(alone)
        self.counts["halfway_leader_won"] = int(alone and half[self.winner] == min(half))
        self.counts["comebacks"] = int(half[self.winner] == max(half) > min(half))

    def standings(self):
        """Of each turn, of each player: own cards, the smallest rival's, turns to wait."""
        n = len(self.seats)
        for held, actor, direction in zip(self.held, self.actors, self.directions, strict=False):
            yield [
                (
                    min(held[p], MOST_HELD),
                    min(MOST_HELD, *(held[q] for q in range(n) if q != p)),
                    (p - actor) * direction % n,
                )
                for p in range(n)
            ]

    def judged(self, chances):
        """JUDGED_COLUMNS by a table of chances: the definitions of `reports.measures`, once more."""
        n, turns = len(self.seats), self.counts["turns"]
        paths = []
        for standing in self.standings():
            raw = [float(chances[at]) for at in standing]
            paths.append([chance / sum(raw) for chance in raw])
        entropies = [-sum(p * math.log(p) for p in now) / math.log(n) for now in paths]
        gaps = [max(now) - now[self.winner] for now in paths]
        behind = [math.sqrt(gap) for gap in gaps if gap > 0]
        swings = [after[a] - now[a] for now, after, a in zip(paths, paths[1:], self.actors, strict=False)]
        values = (
            sum(entropies) / turns,
            sum(behind) / len(behind) if behind else 0.0,
            max((i for i, gap in enumerate(gaps, 1) if gap > 0), default=0) / turns,
            max(0.0, *swings, 0.0),
        )
        return [1, *(int(value * PARTS + 0.5) for value in values)]


def assert_told(story, hands, players, *, blocks, group_blocks):
    """The story's counters are those of the hands, pairs of a block and a Recount.

    Fractions may be rounded the other way once or twice.
    """
    groups = blocks // group_blocks
    times = np.zeros((2 * groups, MOST_HELD + 1, MOST_HELD + 1, players), np.int64)
    wins = np.zeros_like(times)
    judged = [(block, hand) for block, hand in hands if hand.winner is not None and block < groups * group_blocks]
    for block, hand in judged:
        for standing in hand.standings():
            for p, at in enumerate(standing):
                times[(block // group_blocks * 2 + block % 2, *at)] += 1
                wins[(block // group_blocks * 2 + block % 2, *at)] += p == hand.winner
    assert np.array_equal(story.times[0], times)
    assert np.array_equal(story.wins[0], wins)
    chances = (wins + 1 / players) / (times + 1)
    found = np.zeros((groups, len(JUDGED_COLUMNS)), np.int64)
    for block, hand in judged:
        found[block // group_blocks] += hand.judged(chances[block // group_blocks * 2 + 1 - block % 2])
    assert np.array_equal(story.judged[0][:, 0], found[:, 0])
    assert not groups or np.abs(story.judged[0] - found).max() <= 2

    rows = [Counter() for _ in range(blocks)]
    for block, hand in hands:
        rows[block].update(hand.counts)
    table = np.array([[row[name] for name in HAND_COLUMNS] for row in rows], np.int64)
    same = [name != "choices" for name in HAND_COLUMNS]  # events do not show them all
    assert story.sums[0][same].tolist() == table.sum(axis=0)[same].tolist()
    assert np.array_equal(story.products[0][np.ix_(same, same)], (table.T @ table)[np.ix_(same, same)])


def assert_same_as_batch(story, asked):
    """What both count is the same."""
    tally = run(asked).tally
    at = hand_columns(asked.players, len(set(asked.scenarios[0].names))).index
    for name in ("turns", "choices", "stuck"):
        assert story.sums[0, HAND_COLUMNS.index(name)] == tally.sums[0, at((name, "", 0))]
    assert story.hands == tally.hands.tolist()


def test_every_counter_of_drawn_rules():
    """Rules from every corner, players who do anything, slips and all: hands told and recounted."""
    rng = random.Random("story")
    met = Counter()
    for number in range(40):
        rules = draw_rules(rng)
        players = draw_players(rng, rules)
        slips = draw_lineup(rng, players)
        lineup = [Player(ANY_OPTION, slip["forget_last_card"], slip["illegal_rate"]) for slip in slips]
        the = Scenario(Rules.from_dict(rules), crew_record(lineup, 0.7), tuple(player.label for player in lineup))
        asked = Plan((the,), seed=number, blocks=5, rotations=2)
        hands = []
        for game in range(5):
            for rotation in range(2):
                dealer = (players - 1 + rotation) % players
                events = trace_hand(the.rules, the.crew, the.names, seed=number, game=game, dealer=dealer)
                hands.append((game, Recount(rules, events)))
        story = tell(asked, behind_table=2, log_rows=16)
        assert_told(story, hands, players, blocks=5, group_blocks=2)
        assert_same_as_batch(story, asked)
        assert story.blocks == 5
        assert story.hands == [10]
        met.update({name: int(count > 0) for name, count in zip(HAND_COLUMNS, story.sums[0], strict=True)})
        met.update(
            {name: int(count > 0) for name, count in zip(JUDGED_COLUMNS[1:], story.judged[0, 0, 1:], strict=True)}
        )
    assert all(met[name] >= 3 for name in (*HAND_COLUMNS, *JUDGED_COLUMNS)), met


def leading(totals, highest, best):
    """The seats with the best (or worst) total."""
    wanted = (max if highest == best else min)(totals)
    return {seat for seat, total in enumerate(totals, 1) if total == wanted}


def match_counts(rules, events, players):
    """MATCH_COLUMNS of a match from its events."""
    deals = [event for event in events if event["event"] == "deal"]
    ends = [event for event in events if event["event"] == "end"]
    final = events[-1]
    winners = final["winner"] if isinstance(final["winner"], list) else [final["winner"]]
    parts = {seat: engine.WHOLE // len(winners) for seat in winners if seat is not None}
    only = winners[0] if len(winners) == 1 else None
    counts = Counter(matches=1, first_player=parts.get(deals[0]["dealer"] % players + 1, 0), decided=only is not None)
    highest = rules["match"]["winner"] == "highest"
    best, worst = [], []
    for end in ends[:-1]:
        best.append(leading(end["totals"], highest, True))
        worst.append(leading(end["totals"], highest, False))
    alone = [min(seats) for seats in (*best, {only} if only else set()) if len(seats) == 1]
    counts["lead_changes"] = sum(a != b for a, b in pairwise(alone))
    half = len(ends) // 2
    if only and half:
        counts["comebacks"] = int(only in worst[half - 1] and worst[half - 1] != best[half - 1])
    for k, seats in enumerate(best[:LEADER_HANDS], 1):
        counts[f"on_{k}"] = 1
        counts[f"leader_won_{k}"] = sum(parts.get(seat, 0) for seat in seats) // len(seats)
    return counts


@pytest.mark.parametrize(
    ("spec", "sets"),
    [
        ("ochos-locos", ["match.target=60"]),
        ("ocho-loco", ["match.target=100"]),
        ("crazy-eights", ["match.target=40", "score.values.8=0", "match.tie=shared"]),
        ("ochos-locos", ["match.target=5", "deal.cards=2", "match.tie=extra-hand-tied"]),
        ("ochos-locos+countdown", ["match.target=150"]),
    ],
)
def test_matches_are_told_as_they_were_played(spec, sets):
    names = ("random", "dump-high", "random")
    asked = Plan((scenario(spec, names, sets),), seed=11, blocks=8, rotations=3, matches=True)
    the = asked.scenarios[0]
    rules = the.rules.as_dict()
    hands, rows = [], []
    for game in range(8):
        row = Counter()
        for rotation in range(3):
            events = list(trace_match(the.rules, the.crew, names, seed=11, game=game, rotation=rotation))
            row.update(match_counts(rules, events, 3))
            starts = [i for i, event in enumerate(events) if event["event"] == "deal"]
            for first, last in zip(starts, [*starts[1:], len(events) - 1], strict=True):
                if all(events[first]["hands"]):
                    hands.append((game, Recount(rules, events[first:last])))
        rows.append([row[name] for name in MATCH_COLUMNS])
    story = tell(asked, behind_table=6, log_rows=16)
    table = np.array(rows, np.int64)
    assert story.match_sums[0].tolist() == table.sum(axis=0).tolist()
    assert np.array_equal(story.match_products[0], table.T @ table)
    assert_told(story, hands, 3, blocks=8, group_blocks=4)
    assert_same_as_batch(story, asked)
    assert story.match_sums[0, MATCH_COLUMNS.index("matches")] == 24


def test_a_match_worked_out_by_hand():
    """Five hands of three: seat 1 leads, then 1 and 2, then 2, then 2; seat 3, last after two hands, wins."""
    matches = np.zeros(1, MATCH)
    m = matches[0]
    m["players"], m["first_dealer"], m["hands"] = 3, 1, 5
    m["share"][:3] = [0, 0, engine.WHOLE]
    leaders = np.array([0, 0b001, 0b011, 0b010, 0b010, 0, 0])
    last = np.array([0, 0b100, 0b100, 0b100, 0b001, 0, 0])
    row = np.zeros(len(MATCH_COLUMNS), np.int64)
    _count_match(m, leaders, last, row)
    found = {name: value for name, value in zip(MATCH_COLUMNS, row.tolist(), strict=True) if value}
    assert found == {
        "matches": 1, "first_player": engine.WHOLE, "decided": 1, "lead_changes": 2, "comebacks": 1,
        "on_1": 1, "on_2": 1, "on_3": 1, "on_4": 1,
    }  # fmt: skip
    leaders[2] = last[2] = 0b111  # where all are level nobody is last
    _count_match(m, leaders, last, row)
    assert row[MATCH_COLUMNS.index("comebacks")] == 1, "the one from before"
    leaders[2], last[2] = 0b011, 0b100
    m["share"][:3] = [engine.WHOLE // 2, engine.WHOLE // 2, 0]  # shared by seats 1 and 2
    row[:] = 0
    _count_match(m, leaders, last, row)
    found = {name: value for name, value in zip(MATCH_COLUMNS, row.tolist(), strict=True) if value}
    half = engine.WHOLE // 2
    assert found == {
        "matches": 1, "lead_changes": 1, "on_1": 1, "on_2": 1, "on_3": 1, "on_4": 1,
        "leader_won_1": half, "leader_won_2": half, "leader_won_3": half, "leader_won_4": half,
    }  # fmt: skip


def test_matches_given_up_have_no_winner():
    asked = Plan(
        (scenario("ochos-locos", ("random",) * 2, ["blocked.score=void", "turn_cap=1", "match.target=1"]),),
        seed=1,
        blocks=2,
        matches=True,
    )
    story = tell(asked)
    found = dict(zip(MATCH_COLUMNS, story.match_sums[0].tolist(), strict=True))
    assert (found["matches"], found["decided"], found["on_1"], found["leader_won_1"]) == (2, 0, 2, 0)
    assert run(asked).tally.match_sums[0, match_columns(2).index(("capped", "", 0))] == 2


# --- The runner ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("matches", [False, True])
def test_threads_and_chunks_change_nothing(matches):
    names = ("random", "dump-high", "random")
    asked = Plan(
        (scenario("ochos-locos", names), scenario("ocho-loco-especiales", names)),
        seed=7,
        blocks=20 if matches else 150,
        rotations=rotations_of(names),
        matches=matches,
    )
    one = tell(asked, behind_table=20)
    assert one.judged.shape[1] == (1 if matches else 12)
    seen = []
    for threads, chunk in ((2, 48), (3, 1), (2, 10**6)):
        other = tell(asked, behind_table=20, threads=threads, chunk_hands=chunk, log_rows=32, progress=seen.append)
        for field in dataclasses.fields(Story):
            assert np.array_equal(getattr(one, field.name), getattr(other, field.name)), field.name
    assert sum(seen) == 3 * 2 * asked.blocks * 3 * 2  # three runs of two passes, three rotations, two scenarios


def test_no_more_is_told_than_asked():
    asked = Plan((scenario("ochos-locos", ("random", "dump-high")),), seed=7, blocks=50, rotations=2)
    assert tell(asked).hands == [100]
    assert tell(asked, most_hands=31).hands == [30]
    assert tell(asked, most_hands=1).hands == [2]
    some = tell(dataclasses.replace(asked, matches=True), most_matches=6)
    assert some.match_sums[0, MATCH_COLUMNS.index("matches")] == 6


def test_a_table_holds_what_is_asked():
    """Each of 3 blocks of 2 hands; 13 blocks make 2 groups of 6, and the last block is told but not judged."""
    asked = Plan((scenario("ochos-locos", ("random", "dump-high")),), seed=2, blocks=13, rotations=2)
    story = tell(asked, behind_table=7)
    assert story.judged[0, :, 0].tolist() == [12, 12]
    assert story.hands == [26]
    assert story.times.shape[1] == 4
    turns = []
    for game in range(12):
        turns.append(0)
        for dealer in (1, 0):
            the = asked.scenarios[0]
            events = trace_hand(the.rules, the.crew, the.names, seed=2, game=game, dealer=dealer)
            turns[-1] += events[-2]["turn"]
    behind = [sum(turns[first:last:2]) for first, last in ((0, 6), (1, 6), (6, 12), (7, 12))]
    assert story.times[0].sum(axis=(1, 2, 3)).tolist() == [2 * count for count in behind]  # of both players
    assert story.wins[0].sum(axis=(1, 2, 3)).tolist() == behind  # one of them wins


def test_without_hands_enough_nothing_is_judged():
    seen = []
    asked = Plan((scenario("ochos-locos", ("random",) * 3),), seed=2, blocks=30)
    story = tell(asked, progress=seen.append)
    assert story.judged.shape == (1, 0, 5)
    assert sum(seen) == 30, "one pass is enough"


def test_a_fault_says_where():
    wrong = Strategy("wrong", "answers what it may not", "", lambda view: -7, find("random").suit, find("random").stop)
    rules = load("ochos-locos").rules
    asked = Plan((Scenario(rules, crew_record([Player(wrong)] * 2), ("wrong",) * 2),), seed=1, blocks=3)
    with pytest.raises(StrategyFault, match="strategy wrong"):
        tell(asked, threads=2)
