"""Frames against brute force: the same figures worked out from rows a hand, or from traces, with numpy alone."""

import math
from collections import Counter

import numpy as np
import pandas as pd
import pytest

from reports.frames import (
    distribution,
    hand_estimates,
    lineup_text,
    match_estimates,
    rank_scenarios,
    results_frame,
    scenario_estimates,
    simulation,
)
from reports.intervals import Estimate
from sim.batch import Plan, Scenario, row_columns, run
from sim.rules import load
from sim.trace import trace_match
from strategies.registry import Player, crew_record, find


class Collected:
    """Rows as a data frame."""

    def __init__(self, plan):
        self.columns = row_columns(plan.players, plan.matches)
        self.parts = []

    def write(self, rows):
        self.parts.append(rows.copy())

    def frame(self):
        return pd.DataFrame(np.concatenate(self.parts), columns=self.columns)


def scenario(spec, names, sets=()):
    players = [Player(find(name)) for name in names]
    return Scenario(load(spec, sets).rules, crew_record(players), tuple(names))


def played(plan, **how):
    rows = Collected(plan)
    return run(plan, rows=rows, chunk_hands=100, threads=2, **how), rows.frame()


HANDS = Plan(
    (
        scenario("ochos-locos", ("dump-high", "random", "random"), ["turn_cap=60"]),
        scenario("ocho-loco-especiales", ("dump-high", "random", "random"), ["turn_cap=60"]),
    ),
    seed=3,
    blocks=150,
    rotations=3,
)


@pytest.fixture(scope="module")
def hands():
    return played(HANDS)


def brute(frame, values, blocks):
    """Mean and standard error of values a hand, from the means of blocks."""
    means = values.groupby(frame["game"]).mean()
    assert len(means) == blocks
    return means.mean(), means.std(ddof=1) / math.sqrt(blocks)


def by_position(frame, name, players):
    """A column by seat as columns by position; `win` is 1 for the winner."""
    found = {}
    for position in range(1, players + 1):
        seat = (frame["dealer"] + position - 1) % players + 1
        if name == "win":
            found[position] = (frame["winner"] == seat).astype(float)
        else:
            columns = frame[[f"{name}_{s}" for s in range(1, players + 1)]].to_numpy()
            found[position] = pd.Series(columns[np.arange(len(frame)), seat - 1].astype(float), index=frame.index)
    return found


@pytest.mark.parametrize("k", [0, 1])
def test_measures_of_a_hand(hands, k):
    """Every measure that a row a hand has, with its standard error."""
    result, rows = hands
    mine = rows[rows["scenario"] == k + 1]
    found = {(m.name, by, which): e for m, by, which, e in hand_estimates(result.tally, k, HANDS.scenarios[k].names)}
    of_hand = {
        "turns_per_hand": mine["turns"],
        "cards_drawn_per_hand": mine["cards_drawn"],
        "reshuffles_per_hand": mine["reshuffles"],
        "reshuffled": mine["reshuffles"] > 0,
        "closed_on_wild": mine["closed_on_wild"],
        **{reason: mine["ended"] == number for number, reason in enumerate(("out", "blocked", "stopped", "capped"))},
    }
    for name, values in of_hand.items():
        value, se = brute(mine, values.astype(float), 150)
        assert found[name, "", ""].value == pytest.approx(value, abs=1e-12), name
        assert found[name, "", ""].se == pytest.approx(se, abs=1e-12), name
    for name, column in (("win_share", "win"), ("points_left", "points_left"), ("score", "score")):
        for position, values in by_position(mine, column, 3).items():
            value, se = brute(mine, values, 150)
            estimate = found[name, "position", str(position)]
            assert (estimate.value, estimate.se) == pytest.approx((value, se), abs=1e-12)
            assert estimate.low <= value <= estimate.high


def test_capped_hands_are_among_them(hands):
    """The cap of this plan bites, so the shares of endings are no row of ones and zeros."""
    assert 0 < (hands[1]["ended"] == 3).mean() < 1


def test_measures_of_a_strategy_are_those_of_one_of_its_seats(hands):
    result, rows = hands
    mine = rows[rows["scenario"] == 1]
    found = {(m.name, by, which): e for m, by, which, e in hand_estimates(result.tally, 0, HANDS.scenarios[0].names)}
    for name, seats in (("dump-high", [1]), ("random", [2, 3])):
        wins = mine["winner"].isin(seats).astype(float) / len(seats)
        points = mine[[f"points_left_{seat}" for seat in seats]].mean(axis=1)
        for measure, values in (("win_share", wins), ("points_left", points)):
            estimate = found[measure, "strategy", name]
            assert (estimate.value, estimate.se) == pytest.approx(brute(mine, values, 150), abs=1e-12)


def test_the_frame_is_tidy_and_complete(hands):
    """A row a scenario and measure, with the same figures, the rules' names and what was played."""
    frame = results_frame(hands[0], ["A", "B"])
    assert not frame.duplicated(["scenario", "measure", "by", "which"]).any()
    assert set(frame["rules"]) == {"A", "B"}
    assert set(frame["hands"]) == {450}
    assert set(frame["blocks"]) == {150}
    assert (frame["low"] <= frame["value"]).all()
    assert (frame["value"] <= frame["high"]).all()
    shares = frame[(frame["measure"] == "win_share") & (frame["by"] == "position")].groupby("scenario")["value"].sum()
    # a capped hand of ochos-locos has a winner, the lowest hand
    assert shares.to_list() == pytest.approx([1.0, 1.0])


def test_ranking_by_spread(hands):
    """Plain spread and standard errors from blocks, also of the paired difference."""
    result, rows = hands
    ranking = rank_scenarios(result.tally, 3)
    gaps = []
    for k in (0, 1):
        mine = rows[rows["scenario"] == k + 1]
        shares = pd.DataFrame(by_position(mine, "win", 3)).groupby(mine["game"]).mean()
        best, worst = shares.mean().idxmax(), shares.mean().idxmin()
        spread = ranking.spreads[k]
        assert (spread.best_position, spread.worst_position) == (best, worst)
        gaps.append((shares[best] - shares[worst]).reset_index(drop=True))
        assert spread.plain == pytest.approx(gaps[k].mean(), abs=1e-12)
        # one block's worth of variance is added to each of two positions (see `rank`)
        assert spread.se == pytest.approx(math.sqrt(gaps[k].var(ddof=1) / 150 + 2 / 150**2), abs=1e-12)
    paired = math.sqrt((gaps[0] - gaps[1]).var(ddof=1) / 150 + 4 / 150**2)
    assert ranking.differences[0][1].se == pytest.approx(paired, abs=1e-12)


def test_lengths(hands):
    """Quantiles are order statistics of the turns a hand."""
    result, rows = hands
    turns = rows.loc[rows["scenario"] == 1, "turns"].to_numpy()
    answer = simulation(result)["turns_per_hand"]
    for key, share in (("p10", 0.1), ("median", 0.5), ("p90", 0.9), ("p99", 0.99)):
        assert answer[key]["value"] == np.quantile(turns, share, method="inverted_cdf")
        assert answer[key]["low"] <= answer[key]["value"] <= answer[key]["high"]
    assert answer["max"] == turns.max()
    assert answer["mean"]["value"] == pytest.approx(turns.mean())


def test_distribution_of_a_single_value():
    found = distribution(np.array([0, 0, 7]), Estimate(2.0, 0.0, 2.0, 2.0), 7)
    assert {key: found[key]["value"] for key in ("p10", "median", "p90", "p99")} == dict.fromkeys(
        ("p10", "median", "p90", "p99"), 2
    )
    assert found["max"] == 2


def test_simulation_of_hands(hands):
    answer = simulation(hands[0], 1)
    assert answer["hands"] == 450
    assert answer["blocks"] == 150
    assert [row["position"] for row in answer["positions"]] == [1, 2, 3]
    assert [row["seats"] for row in answer["strategies"]] == [[1], [2, 3]]
    assert sum(share["value"] for share in answer["ended"].values()) == pytest.approx(1.0)
    assert "matches" not in answer


def test_scenario_estimates(hands):
    turns = scenario_estimates(hands[0].tally, "turns_per_hand", HANDS.scenarios)
    means = hands[1].groupby("scenario")["turns"].mean()
    assert [e.value for e in turns] == pytest.approx(means.to_list())


def test_lineup_text():
    assert lineup_text(["random"] * 3) == "3 \N{MULTIPLICATION SIGN} random"
    assert lineup_text(["a", "b", "a"]) == "a, b, a"


MATCHES = Plan(
    (scenario("ochos-locos", ("dump-high", "random", "random"), ["match.target=40"]),),
    seed=8,
    blocks=40,
    rotations=3,
    matches=True,
)


@pytest.fixture(scope="module")
def matches():
    return played(MATCHES)


def test_measures_of_a_match(matches):
    result, rows = matches
    found = {(m.name, which): e for m, _, which, e in match_estimates(result.tally, 0, 120)}
    totals = rows[[f"total_{seat}" for seat in (1, 2, 3)]].to_numpy()
    assert (rows["winner"] > 0).all(), "no match of this plan is shared"
    expected = {
        ("hands_per_match", ""): rows["hands"],
        ("turns_per_match", ""): rows["turns"],
        ("extra_hands_per_match", ""): rows["extra_hands"],
        ("first_dealer_wins", ""): rows["winner"] == rows["first_dealer"],
        ("winner_total", ""): pd.Series(totals[np.arange(len(rows)), rows["winner"] - 1]),
        ("shared_matches", ""): rows["winner"] == 0,
        ("capped_matches", ""): rows["capped"],
        **{("match_win_share", str(seat)): rows["winner"] == seat for seat in (1, 2, 3)},
    }
    assert set(expected) == set(found)
    for key, values in expected.items():
        assert (found[key].value, found[key].se) == pytest.approx(brute(rows, values.astype(float), 40), abs=1e-12), key


def test_measures_of_a_hand_within_matches(matches):
    """Ratios to a number of hands that varies by block; hands come from traces, those of a tie among some left out."""
    result, rows = matches
    tables = []
    the = MATCHES.scenarios[0]
    for game in range(40):
        for rotation in range(3):
            events = trace_match(the.rules, the.crew, the.names, seed=8, game=game, rotation=rotation)
            for event in events:
                if event["event"] == "deal":
                    deal, drawn, turn = event, 0, 0
                elif event["event"] == "end":
                    everybody = all(deal["hands"])
                    positions = [(deal["dealer"] + p) % 3 + 1 for p in range(3)]
                    record = {"game": game, "hands": 1, "turns": turn, "cards_drawn": drawn}
                    for position, seat in enumerate(positions, start=1):
                        record[f"win_{position}"] = event["winner"] == seat
                        record[f"score_{position}"] = event["scored"][seat - 1]
                    if everybody:
                        tables.append(record)
                else:
                    turn = event.get("turn", turn)
                    drawn += len(event["cards"]) if event["event"] == "draw" else 0
    blocks = pd.DataFrame(tables).groupby("game").sum().astype(float)
    extra = rows["extra_hands"].sum()
    assert int(result.tally.hands[0]) == blocks["hands"].sum() == rows["hands"].sum() - extra
    found = {(m.name, by, which): e for m, by, which, e in hand_estimates(result.tally, 0, the.names)}
    expected = {("turns_per_hand", "", ""): "turns", ("cards_drawn_per_hand", "", ""): "cards_drawn"}
    expected |= {("win_share", "position", str(p)): f"win_{p}" for p in (1, 2, 3)}
    expected |= {("score", "position", str(p)): f"score_{p}" for p in (1, 2, 3)}
    for key, column in expected.items():
        ratio = blocks[column].sum() / blocks["hands"].sum()
        residual = blocks[column] - ratio * blocks["hands"]
        se = math.sqrt(40 / 39 * (residual**2).sum()) / blocks["hands"].sum()
        assert (found[key].value, found[key].se) == pytest.approx((ratio, se), abs=1e-12), key


def test_simulation_of_matches(matches):
    result, rows = matches
    answer = simulation(result)["matches"]
    assert answer["count"] == 120
    assert answer["hands_per_match"]["median"]["value"] == np.quantile(rows["hands"], 0.5, method="inverted_cdf")
    assert answer["turns_per_match"]["max"] == rows["turns"].max()
    wins = Counter(rows["winner"])
    assert [row["value"] for row in answer["win_share_by_seat"]] == pytest.approx([wins[s] / 120 for s in (1, 2, 3)])


def test_a_shared_match_counts_in_parts():
    """With `shared`, a tie gives each winner its part, and the parts of all seats add up to one."""
    names = ("random", "random")
    plan = Plan(
        (scenario("ochos-locos", names, ["match.tie=shared", "match.target=1", "score.style=winner-collects"]),),
        seed=1,
        blocks=100,
        matches=True,
    )
    result, rows = played(plan)
    found = [e.value for m, _, _, e in match_estimates(result.tally, 0, 100) if m.name == "match_win_share"]
    shared = (rows["winner"] == 0).mean()
    assert sum(found) == pytest.approx(1.0)
    assert found == pytest.approx([(rows["winner"] == seat).mean() + shared / 2 for seat in (1, 2)])


def test_a_share_that_is_exact_is_no_measurement():
    """Where all play alike, the win share of the strategy is 1/n by necessity and is left out."""
    result, _ = played(Plan((scenario("ochos-locos", ("random",) * 3),), seed=3, blocks=50, rotations=1))
    frame = results_frame(result, ["A"])
    assert not ((frame["measure"] == "win_share") & (frame["by"] == "strategy")).any()
    assert ((frame["measure"] == "points_left") & (frame["by"] == "strategy")).sum() == 1
