"""Batches: nothing but the plan decides the result, and the counts are those of the hands played one by one."""

import dataclasses

import numpy as np
import pytest

from sim.batch import FIRST_LOOK, Plan, Scenario, leads, looks, rotations_of, row_columns, run
from sim.engine import play_hand, prepare, seat_players
from sim.record import rule_records
from sim.rules import load
from sim.table import TABLE
from sim.tally import LOTS, hand_columns, match_columns
from sim.trace import StrategyFault, trace_hand, trace_match
from strategies.registry import Player, crew_record, find


def scenario(spec, names, sets=()):
    players = [Player(find(name)) for name in names]
    labels = tuple(player.label for player in players)
    return Scenario(load(spec, sets).rules, crew_record(players), labels)


def plan(
    blocks, *, matches=False, names=("random", "first-legal", "random"), specs=("ochos-locos", "ocho-loco+countdown")
):
    return Plan(
        tuple(scenario(spec, names) for spec in specs),
        seed=7,
        blocks=blocks,
        rotations=rotations_of(names),
        matches=matches,
    )


class Kept:
    """Rows a hand, kept."""

    def __init__(self):
        self.chunks = []

    def write(self, rows):
        self.chunks.append(rows.copy())

    @property
    def rows(self):
        return np.concatenate(self.chunks)


def assert_same(first, second):
    for name, counts in first.tally.arrays().items():
        assert np.array_equal(counts, second.tally.arrays()[name]), name


@pytest.mark.parametrize("matches", [False, True])
def test_threads_and_chunks_change_nothing(matches):
    """The same counters and the same rows for 1 to 3 threads and chunks of any size."""
    asked = dataclasses.replace(plan(40 if matches else 300, matches=matches), group_products=True)
    kept = Kept()
    one = run(asked, rows=kept)
    for threads, chunk in [(1, 1), (2, 100), (3, 37 * 16), (2, 10**6)]:
        rows = Kept()
        other = run(asked, threads=threads, chunk_hands=chunk, rows=rows)
        assert_same(one, other)
        assert np.array_equal(kept.rows, rows.rows)


def test_an_interrupted_run_goes_on_where_it_was():
    """Interrupted at any chunk and resumed, the counters are those of a run that was not."""
    asked = plan(200)
    whole = run(asked)
    told = []

    def interrupt(hands):
        told.append(hands)
        if len(told) == 3:
            raise KeyboardInterrupt

    part = run(asked, threads=2, chunk_hands=120, progress=interrupt)
    assert part.stopped == "interrupted"
    assert part.finished == [(0, int(part.tally.blocks))]
    assert 0 < part.tally.blocks < 200
    again = run(asked, threads=2, chunk_hands=70, resumed=part)
    assert again.stopped == "all blocks played"
    assert again.finished == [(0, 200)]
    assert_same(whole, again)


def test_where_a_run_stops_does_not_depend_on_threads_or_chunks():
    """It looks after fixed numbers of blocks only."""
    asked = plan(5_000)
    seen = []

    def enough(tally):
        seen.append(int(tally.blocks))
        return "far enough" if tally.blocks >= 1_500 else ""

    one = run(asked, enough=enough)
    other = run(asked, enough=enough, threads=2, chunk_hands=333)
    assert one.stopped == other.stopped == "far enough"
    assert_same(one, other)
    assert seen[0] == FIRST_LOOK
    assert seen[: len(seen) // 2] == seen[len(seen) // 2 :]
    assert set(seen) <= set(looks(5_000))


def test_looks_end_with_all_blocks():
    assert list(looks(10)) == [10]
    assert next(looks(3_000)) == FIRST_LOOK
    assert list(looks(3_000))[-1] == 3_000
    assert all(a < b for a, b in zip(list(looks(10**6)), list(looks(10**6))[1:], strict=False))


def test_hands_are_counted_as_they_were_played():
    """Every counter of a small run equals the sum over the traces of its hands."""
    names = ("random", "first-legal", "random")
    asked = plan(30, names=names)
    result = run(asked, rows=(kept := Kept()))
    rows = iter(kept.rows.tolist())
    columns = row_columns(3, matches=False)
    expected = np.zeros((2, len(hand_columns(3, 2))), np.int64)
    at = {column: i for i, column in enumerate(hand_columns(3, 2))}
    for game in range(30):
        for k, each in enumerate(asked.scenarios):
            for rotation in range(3):
                dealer = (2 + rotation) % 3
                events = trace_hand(each.rules, each.crew, names, seed=7, game=game, dealer=dealer)
                end = events[-1]
                row = dict(zip(columns, next(rows), strict=True))
                assert (row["scenario"], row["game"], row["rotation"], row["dealer"]) == (
                    k + 1,
                    game,
                    rotation,
                    dealer + 1,
                )
                assert row["winner"] == end["winner"]
                assert [row[f"points_left_{s}"] for s in (1, 2, 3)] == end["points"]
                assert [row[f"score_{s}"] for s in (1, 2, 3)] == end["scored"]
                turns = max(event.get("turn", 0) for event in events)
                drawn = sum(len(event["cards"]) for event in events if event["event"] == "draw")
                assert (row["turns"], row["cards_drawn"]) == (turns, drawn)
                counted = expected[k]
                counted[at["turns", "", 0]] += turns
                counted[at["cards_drawn", "", 0]] += drawn
                counted[at["passes", "", 0]] += sum(event["event"] == "pass" for event in events)
                reshuffles = sum(event["event"] == "reshuffle" for event in events)
                counted[at["reshuffles", "", 0]] += reshuffles
                counted[at["reshuffled", "", 0]] += reshuffles > 0
                counted[at[end["reason"], "", 0]] += 1
                for seat in range(3):
                    position = (seat - dealer - 1) % 3 + 1
                    group = (1, 2, 1)[seat]
                    for by, number in (("position", position), ("group", group)):
                        counted[at["win", by, number]] += end["winner"] == seat + 1
                        counted[at["points_left", by, number]] += end["points"][seat]
                        counted[at["score", by, number]] += end["scored"][seat]
    compared = [i for (name, _, _), i in at.items() if name not in ("choices", "stuck", "closed_on_wild", "void_deals")]
    assert np.array_equal(result.tally.sums[:, compared], expected[:, compared])
    assert result.tally.hands.tolist() == [90, 90]
    assert result.tally.turns.sum(axis=1).tolist() == [90, 90]


def test_matches_are_counted_as_they_were_played():
    """Winners, hands, turns and totals of the matches equal those of their traces."""
    names = ("random", "first-legal", "random")
    asked = plan(6, matches=True, names=names)
    result = run(asked, rows=(kept := Kept()))
    columns = row_columns(3, matches=True)
    rows = [dict(zip(columns, row, strict=True)) for row in kept.rows.tolist()]
    at = {column: i for i, column in enumerate(match_columns(3))}
    for row in rows:
        each = asked.scenarios[row["scenario"] - 1]
        events = list(trace_match(each.rules, each.crew, names, seed=7, game=row["game"], rotation=row["rotation"]))
        end = events[-1]
        assert row["winner"] == end["winner"]
        assert row["hands"] == end["hands"]
        assert [row[f"total_{s}"] for s in (1, 2, 3)] == end["totals"]
        assert row["first_dealer"] == events[0]["dealer"]
    sums = result.tally.match_sums
    for k in range(2):
        mine = [row for row in rows if row["scenario"] == k + 1]
        assert sums[k, at["hands", "", 0]] == sum(row["hands"] for row in mine)
        assert sums[k, at["turns", "", 0]] == sum(row["turns"] for row in mine)
        assert sums[k, at["match_win", "seat", 1]] == 2520 * sum(row["winner"] == 1 for row in mine)


@pytest.mark.parametrize("matches", [False, True])
def test_products_for_comparing_line_ups_are_those_of_the_rows(matches):
    """Sums over blocks of all products by group and by seat, from the rows of single hands or of matches."""
    names = ("first-legal", "random", "random")
    asked = dataclasses.replace(plan(40 if matches else 150, matches=matches, names=names), group_products=True)
    result = run(asked, rows=(kept := Kept()), chunk_hands=100)
    at = {column: i for i, column in enumerate(row_columns(3, matches))}
    blocks = np.zeros((asked.blocks, 2, 3, 3), np.int64)  # of game, scenario, measure, seat
    for row in kept.rows:
        own = blocks[row[at["game"]], row[at["scenario"]] - 1]
        if row[at["winner"]]:
            own[0, row[at["winner"]] - 1] += 1
        if not matches:
            own[1] += row[at["points_left_1"] : at["points_left_1"] + 3]
            own[2] += row[at["score_1"] : at["score_1"] + 3]
    if matches:
        seats = 2520 * blocks[:, :, 0].reshape(asked.blocks, -1)
        assert not (result.tally.match_sums[:, match_columns(3).index(("shared", "", 0))]).any()
        assert np.array_equal(result.tally.match_win_products, seats.T @ seats)
        first = slice(len(hand_columns(3, 2)) - 6, None)
        own = result.tally.products[[0, 1], [0, 1], first].ravel()
        assert np.array_equal(np.diag(result.tally.group_products), own)
    else:
        groups = np.stack([blocks[..., 0], blocks[..., 1:].sum(axis=3)], axis=3).reshape(asked.blocks, -1)
        assert np.array_equal(result.tally.group_products, groups.T @ groups)
        assert result.tally.match_win_products.size == 0


@pytest.mark.parametrize("matches", [False, True])
def test_products_that_are_not_asked_for_are_empty_and_change_nothing(matches):
    asked = plan(30, matches=matches)
    plain, more = run(asked).tally.arrays(), run(dataclasses.replace(asked, group_products=True)).tally.arrays()
    extra = {"group_products", "match_win_products"}
    assert all(plain[name].size == 0 for name in extra)
    assert all(np.array_equal(plain[name], more[name]) for name in plain.keys() - extra)
    assert more["group_products"].any()


def played_again(asked):
    """Results of every hand of a plan with replays (blocks, K * rotations, n, replays, 3), by the engine itself."""
    n = asked.players
    found = np.zeros((asked.blocks, len(asked.scenarios), asked.rotations, n, asked.replays, 3), np.int64)
    for k, each in enumerate(asked.scenarios):
        rule, crew = rule_records(each.rules, n)[n], each.crew.reshape(1)[0]
        table = np.zeros(1, TABLE)
        prepare(rule, table[0])
        table["seed"] = asked.seed
        for game, rotation, replay in np.ndindex(asked.blocks, asked.rotations, asked.replays):
            table["game"], table["replay"] = game, replay
            seat_players(rule, table[0], n, (n - 1 + rotation) % n)
            assert play_hand(rule, table[0], crew) >= 0
            own = found[game, k, rotation, :, replay]
            own[:, 0] = np.arange(n) == table["winner"][0]
            own[:, 1], own[:, 2] = table["points_left"][0, :n], table["scored"][0, :n]
    return found.reshape(asked.blocks, -1, n, asked.replays, 3)


def test_replays_are_counted_as_they_were_played():
    """Sums by lot, cell and position equal those of every hand played singly; threads and chunks change nothing."""
    asked = dataclasses.replace(plan(70), replays=3)
    result = run(asked, threads=2, chunk_hands=100)
    tally = result.tally
    y = played_again(asked)
    assert (y[:, :, :, 0] != y[:, :, :, 1]).any()  # random players do otherwise in another replay
    assert tally.split_blocks.tolist() == [np.arange(lot, 70, LOTS).size for lot in range(LOTS)]
    assert tally.hands.tolist() == [70 * 9] * 2
    assert tally.sums[:, hand_columns(3, 2).index(("win", "position", 1))].sum() == y[:, :, 0, :, 0].sum()
    assert tally.turns.sum() == 70 * 9 * 2
    for lot in range(LOTS):
        own = y[lot::LOTS]
        for v in range(3):
            kept = own[..., v]
            cells, each = kept.sum(axis=3), kept.sum(axis=1)
            positions = cells.sum(axis=1)
            assert np.array_equal(tally.split_cells[lot, v], cells.sum(axis=0))
            assert np.array_equal(tally.split_cells_squared[lot, v], (cells**2).sum(axis=0))
            assert np.array_equal(tally.split_positions_squared[lot, v], (positions**2).sum(axis=0))
            squares = [(part**2).sum() for part in (kept, cells, each, positions)]
            total = (positions.sum(axis=1) ** 2).sum()
            expected = [squares[0], squares[1] - squares[0], squares[3] - squares[2], total]
            assert tally.split_sums[lot, v].tolist() == expected
    products = np.einsum("bapmv,baqmv->vapq", y, y)
    assert np.array_equal(tally.split_hand_products, products)
    assert_same(result, run(asked, chunk_hands=1000))


def test_replays_that_cannot_be():
    asked = plan(5)
    for others, text in (({"replays": 5}, "5 replays"), ({"replays": 2, "matches": True}, "1 of matches")):
        with pytest.raises(ValueError, match=text):
            dataclasses.replace(asked, **others)
    with pytest.raises(ValueError, match="rows of 2 replays"):
        run(dataclasses.replace(asked, replays=2), rows=Kept())


def test_a_first_dealer_that_is_fixed_does_not_move():
    asked = plan(5, matches=True)
    with pytest.raises(ValueError, match="one rotation"):
        dataclasses.replace(asked, first_dealer=1)
    fixed = dataclasses.replace(asked, first_dealer=1, rotations=1)
    run(fixed, rows=(kept := Kept()))
    assert set(kept.rows[:, row_columns(3, True).index("first_dealer")]) == {2}


def test_rotations():
    assert rotations_of(["a", "a", "a"]) == 1
    assert rotations_of(["a", "b", "a", "b"]) == 2
    assert rotations_of(["a", "b", "b"]) == 3


def test_common_deals_whatever_the_rules():
    """Two rule sets that deal alike meet the same hands: a change that never matters changes nothing at all."""
    asked = plan(200, specs=("ochos-locos", "ochos-locos+no-eight-on-eight"), names=("random",) * 2)
    capped = Plan((asked.scenarios[0], asked.scenarios[0]), seed=7, blocks=200)
    tally = run(capped).tally
    assert np.array_equal(tally.sums[0], tally.sums[1])
    first = run(asked).tally
    assert np.array_equal(first.sums[0], tally.sums[0])


def test_a_strategy_at_fault_stops_the_run_in_one_line():
    def wrong(view):
        return 99

    from strategies.registry import Strategy

    cheat = Player(Strategy("cheat", "", "", wrong, find("random").suit, find("random").stop))
    crew = crew_record([cheat, Player(find("random"))])
    asked = Plan((Scenario(load("ochos-locos").rules, crew, ("cheat", "random")),), seed=1, blocks=10, rotations=2)
    with pytest.raises(StrategyFault, match=r"^strategy cheat \(seat 1\), .*answered 99 .*seed 1, game 0.*turn \d+$"):
        run(asked, threads=2)


# --- Scoring-only changes are settled again --------------------------------------------------------------------------

SCORED = ["blocked.score=void", "score.style=winner-collects", "blocked.score=own-hand", "match.target=50"]
"""Settings that say how a hand is scored; the first one keeps no winner of a hand that nobody went out of."""


def scored_plan(blind, *, sets=("turn_cap=20",), names=("random", "first-legal", "dump-high"), **others):
    """Build a plan of rule sets that differ in scoring alone, and of one that is played in another way."""
    settings = [*([each] for each in SCORED), ["draw.limit=3"], ["draw.limit=3", "score.style=winner-collects"]]
    scenarios = tuple(
        dataclasses.replace(scenario("ochos-locos", names, [*sets, *each]), blind=blind) for each in settings
    )
    return Plan(scenarios, seed=7, blocks=150, rotations=rotations_of(names), **others)


@pytest.mark.parametrize(
    "others",
    [
        {"group_products": True},
        {"replays": 2},
        {"names": ("random", "dump-high"), "sets": ("stop.points=20",)},
        {"names": ("random", "random"), "sets": ("stock.empty=pass", "draw.limit=1")},
    ],
)
def test_settling_again_is_the_same_as_playing_again(others):
    """Hands that end out, blocked, stopped and at the cap: the same counters, and the same rows in the same order."""
    played, settled = scored_plan(False, **others), scored_plan(True, **others)
    assert leads(played).tolist() == list(range(6))
    assert leads(settled).tolist() == [1, 1, 1, 1, 4, 4]
    of_played, of_settled = (None, None) if "replays" in others else (Kept(), Kept())
    first, second = run(played, rows=of_played, chunk_hands=700), run(settled, rows=of_settled, threads=2)
    assert_same(first, second)
    if of_played is not None:
        assert np.array_equal(of_played.rows, of_settled.rows)
    at = {column: i for i, column in enumerate(hand_columns(played.players, 1))}
    seen = {end for end in ("out", "blocked", "stopped", "capped") if first.tally.sums[0, at[end, "", 0]]}
    assert seen >= ({"stopped"} if "stop.points=20" in others.get("sets", ()) else {"out"})
    wins = first.tally.sums[:, at["win", "position", 1] : at["win", "position", 1] + played.players].sum(axis=1)
    if seen & {"blocked", "capped"}:
        assert wins[0] < wins[1]  # void hands have no winner, and yet the others keep theirs


def test_hands_are_shared_only_where_nothing_but_scoring_differs():
    def lead_of(*scenarios, matches=False):
        blind = tuple(dataclasses.replace(one, blind=True) for one in scenarios)
        return leads(Plan(blind, seed=1, blocks=1, matches=matches)).tolist()

    base, pair = scenario("ochos-locos", ["random"] * 2), ["random"] * 2
    collects = scenario("ochos-locos", pair, ["score.style=winner-collects"])
    assert lead_of(base, collects) == [0, 0]
    assert lead_of(base, collects, matches=True) == [0, 1]
    assert leads(Plan((base, collects), seed=1, blocks=1)).tolist() == [0, 1]
    for other in (
        scenario("ochos-locos", pair, ["score.values.K=13"]),  # strategies see what cards are worth
        scenario("ochos-locos", pair, ["turn_cap=50"]),
        scenario("ochos-locos", pair, ["stop.points=20"]),
        scenario("ochos-locos", ["random", "dump-high"]),
        scenario("ochos-locos", ["hoard-eights:hold=2"] * 2),
    ):
        assert lead_of(base, other) == [0, 1]
