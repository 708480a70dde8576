"""Measures: one record that code and pages follow, and estimates that are those worked out from single hands."""

import math
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from reports.evenness import evenness
from reports.frames import (
    even_chances,
    fairness_estimates,
    length_estimates,
    longer,
    quantile,
    rank_scenarios,
    results_frame,
)
from reports.measures import (
    BY_NAME,
    EVENNESS,
    GROUPS,
    HAND_MEASURES,
    JUDGED,
    LEADER_WINS,
    LENGTHS,
    LONGEST_CHAIN,
    MATCHES,
    QUANTILES,
    STORY_HANDS,
    STORY_MATCHES,
    MeasureError,
    find_measure,
    glossary,
    glossary_markdown,
    longer_than,
    quantile_of,
)
from reports.story import measures_frame, story_estimates, story_frame
from sim.batch import Plan, Scenario, row_columns, run
from sim.engine import WHOLE
from sim.rules import load
from sim.story import HAND_COLUMNS, JUDGED_COLUMNS, LEADER_HANDS, MATCH_COLUMNS, PARTS, Story, tell
from sim.tally import MATCH_MEASURES, PLAYER_MEASURES, TABLE_MEASURES, TURNS_BINS
from strategies.registry import Player, crew_record, find

DOCS = Path(__file__).parents[2] / "docs"


# --- The record ------------------------------------------------------------------------------------------------------


def test_names_are_given_once_and_everything_is_told():
    groups = (HAND_MEASURES, MATCHES, EVENNESS, STORY_HANDS, JUDGED, STORY_MATCHES)
    measures = [m for group in groups for m in group.values()] + [LEADER_WINS, LONGEST_CHAIN]
    measures += [quantile_of(length, name) for length in LENGTHS for name in QUANTILES]
    measures += [longer_than(length) for length in LENGTHS]
    names = [measure.name for measure in measures]
    assert len(set(names)) == len(names)
    assert set(names) | set(LENGTHS) == set(BY_NAME)
    for measure in BY_NAME.values():
        assert measure.group in GROUPS
        assert measure.unit
        assert measure.meaning[0].islower() or measure.meaning[0].isdigit()
        assert measure.formula
        assert measure.help.endswith(".")
        assert "|" not in measure.meaning + measure.formula + measure.source, "they stand in a table"


def test_every_counter_has_a_measure():
    """And every measure a counter: nothing is counted in vain or promised and not there."""
    assert set(HAND_MEASURES) == {*TABLE_MEASURES, *PLAYER_MEASURES}
    assert set(MATCHES) == {*MATCH_MEASURES, "match_win"}
    assert {column for of in STORY_HANDS for column in of} == set(HAND_COLUMNS)
    assert set(JUDGED) == set(JUDGED_COLUMNS) - {"won"}
    leaders = {f"{name}_{k}" for name in ("on", "leader_won") for k in range(1, LEADER_HANDS + 1)}
    assert {column for of in STORY_MATCHES for column in of} == set(MATCH_COLUMNS) - leaders


def test_a_wrong_name_gets_the_nearest():
    assert find_measure("comebacks").unit == "share of hands"
    assert find_measure("median_turns").name == "turns_per_hand_median"
    with pytest.raises(MeasureError, match="'comeback'; did you mean comebacks"):
        find_measure("comeback")
    with pytest.raises(MeasureError, match="'xyzzy'; allowed: turns_per_hand, "):
        find_measure("xyzzy")


def test_the_page_is_that_of_the_record():
    """`docs/measures.md` ends with the glossary; write it again with `glossary_markdown`."""
    page = (DOCS / "measures.md").read_text("utf-8")
    assert page.endswith(glossary_markdown())


def test_a_glossary_of_some():
    some = glossary(["comebacks", "win_share", "spread"])
    assert {group: [m.name for m in measures] for group, measures in some.items()} == {
        "fair": ["win_share", "spread"],
        "lively": ["comebacks"],
    }
    assert glossary_markdown(["comebacks"]).count("\n| `") == 1


# --- Evenness --------------------------------------------------------------------------------------------------------


def test_one_position_always_wins():
    found = evenness([100, 0, 0], 100, np.zeros((3, 3)), 100)
    assert found.plain == (1.0, 0.0)
    assert found.cramers_v.value == pytest.approx(1.0, abs=0.01)
    assert found.cramers_v.high == 1.0
    assert found.entropy.low == 0.0
    assert found.entropy.value < 0.02


def test_all_win_alike():
    """V is 0 and the entropy 1, with intervals of what so many hands can exclude."""
    found = evenness([250] * 4, 1_000, np.zeros((4, 4)), 1_000)
    assert (found.cramers_v.value, found.cramers_v.low) == (0.0, 0.0)
    assert 0.02 < found.cramers_v.high < 0.08
    assert (found.entropy.value, found.entropy.high) == (1.0, 1.0)
    assert 0.995 < found.entropy.low < 1.0


def test_by_hand():
    """30 : 20 : 10 of 60 hands: X² = 10, V² = 10/120 less 1/60 for chance; entropy of 1/2, 1/3, 1/6."""
    found = evenness([30, 20, 10], 60, np.zeros((3, 3)), 60)
    assert found.test.statistic == pytest.approx(10.0)
    assert found.test.p_value == pytest.approx(math.exp(-5.0))
    assert found.plain[0] == pytest.approx(math.sqrt(1 / 12))
    assert found.cramers_v.value == pytest.approx(math.sqrt(1 / 12 - 1 / 60))
    plain = (math.log(2) / 2 + math.log(3) / 3 + math.log(6) / 6) / math.log(3)
    assert found.plain[1] == pytest.approx(plain)
    assert found.entropy.value == pytest.approx(plain + 2 / (2 * 60 * math.log(3)))
    # at the bounds of V the test's statistic is as large, or as small, as happens in 2.5 % of runs
    assert found.cramers_v.high >= math.sqrt(stats.ncx2.ppf(0.9, 2, 10) / 120) > found.cramers_v.low


def test_nothing_won_and_a_single_block():
    """Nothing is known then."""
    for found in (evenness([0, 0], 50, np.zeros((2, 2)), 50), evenness([1, 0], 1, np.zeros((2, 2)), 1)):
        assert (found.cramers_v.low, found.cramers_v.high) == (0.0, 1.0)
        assert (found.entropy.low, found.entropy.high) == (0.0, 1.0)


def truth(shares):
    n = len(shares)
    v = math.sqrt(n / (n - 1) * sum((p - 1 / n) ** 2 for p in shares))
    return v, -sum(p * math.log(p) for p in shares) / math.log(n)


@pytest.mark.parametrize(
    "shares", [(0.25,) * 4, (0.27, 0.25, 0.25, 0.23), (0.4, 0.3, 0.2, 0.1), (0.52, 0.48), (0.5, 0.5)]
)
@pytest.mark.parametrize("together", [1, 4])
def test_intervals_of_evenness_cover(shares, together):
    """At least 95 % less luck: of 600 runs, more than 50 misses where 30 are due happen once in 10,000.

    Blocks of one hand and blocks whose four hands all go to the same position.
    """
    rng = np.random.default_rng(19)
    blocks, missed_v, missed_h = 1_500, 0, 0
    v, h = truth(shares)
    for wins in rng.multinomial(blocks, shares, 600):
        mean = wins / blocks
        covariance = (np.diag(mean) - np.outer(mean, mean)) / (blocks - 1)
        found = evenness(wins * together, blocks * together, covariance, blocks)
        missed_v += not found.cramers_v.low - 1e-12 <= v <= found.cramers_v.high + 1e-12
        missed_h += not found.entropy.low - 1e-12 <= h <= found.entropy.high + 1e-12
    assert missed_v <= 50
    assert missed_h <= 50


# --- From tallies ----------------------------------------------------------------------------------------------------


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
    return Scenario(load(spec, sets).rules, crew_record([Player(find(name)) for name in names]), tuple(names))


NAMES = ("dump-high", "random", "random")
HANDS = Plan((scenario("ochos-locos", NAMES), scenario("ocho-loco-especiales", NAMES)), seed=3, blocks=200, rotations=3)
MATCHES_PLAN = Plan(
    (scenario("ochos-locos", NAMES, ["match.target=60"]),), seed=8, blocks=40, rotations=3, matches=True
)


@pytest.fixture(scope="module")
def hands():
    rows = Collected(HANDS)
    return run(HANDS, rows=rows), rows.frame()


@pytest.fixture(scope="module")
def matches():
    rows = Collected(MATCHES_PLAN)
    return run(MATCHES_PLAN, rows=rows), rows.frame()


def test_fairness_estimates(hands):
    result, rows = hands
    for k, found in enumerate(fairness_estimates(result.tally, 3)):
        values = {measure.name: estimate for measure, _, _, estimate in found}
        spread = rank_scenarios(result.tally, 3).spreads[k]
        assert values["spread"] == spread.estimate
        assert values["spread_plain"].value == spread.plain
        assert values["spread_null"].value == spread.null
        mine = rows[rows["scenario"] == k + 1]
        wins = [((mine["winner"] - mine["dealer"] - 1) % 3 == p).sum() for p in range(3)]
        even = even_chances(result.tally, 3)[k]
        assert even.plain == pytest.approx(truth(np.array(wins) / sum(wins)))
        assert values["cramers_v"] == even.cramers_v
        assert values["win_entropy"] == even.entropy


def test_lengths_of_hands(hands):
    result, rows = hands
    turns = rows.loc[rows["scenario"] == 1, "turns"]
    bounds = {"turns_per_hand": [30, 1000], "minutes_per_hand": [5]}
    answer = length_estimates(result.tally, 0, NAMES, 0, seconds_a_turn=20, bounds=bounds)
    found = {(m.name, which): e.value for m, _, which, e in answer}
    assert found == {
        ("turns_per_hand", ""): pytest.approx(turns.mean()),
        ("minutes_per_hand", ""): pytest.approx(turns.mean() / 3),
        **{
            (f"{length}_{name}", ""): np.quantile(turns, share, method="inverted_cdf") * factor
            for length, factor in (("turns_per_hand", 1), ("minutes_per_hand", 20 / 60))
            for name, share in (("p10", 0.1), ("median", 0.5), ("p90", 0.9))
        },
        ("turns_per_hand_longer", "30"): pytest.approx((turns > 30).mean()),
        ("turns_per_hand_longer", "1000"): 0.0,
        ("minutes_per_hand_longer", "5"): pytest.approx((turns > 15).mean()),
    }
    never = next(e for m, _, which, e in answer if which == "1000")
    assert 0.01 < never.high < 0.03, "200 blocks, none of them longer: Wilson says at most 1.9 %"


def test_lengths_of_matches(matches):
    result, rows = matches
    bounds = {"minutes_per_match": [20], "hands_per_match": [4], "turns_per_match": [150]}
    answer = length_estimates(result.tally, 0, NAMES, 120, bounds=bounds)
    found = {(m.name, which): e for m, _, which, e in answer}
    turns = rows["turns"]
    assert found["minutes_per_match", ""].value == pytest.approx(turns.mean() * 10 / 60)
    assert found["minutes_per_match_longer", "20"].value == pytest.approx((turns * 10 > 20 * 60).mean())
    assert found["hands_per_match_longer", "4"].value == pytest.approx((rows["hands"] > 4).mean())
    assert found["turns_per_match_longer", "150"].value == pytest.approx((turns > 150).mean())
    assert found["hands_per_match_p90", ""].value == np.quantile(rows["hands"], 0.9, method="inverted_cdf")
    assert all(estimate.low <= estimate.value <= estimate.high for estimate in found.values())


def test_longer_than_a_bound():
    """7 of 10 above 2; a block counts as one hand."""
    histogram = np.array([0, 1, 2, 3, 4])
    found = longer(histogram, 2, 5)
    assert found.value == 0.7
    assert found.se == pytest.approx(math.sqrt(0.7 * 0.3 / 5))
    assert longer(histogram, 2.5, 5) == found
    assert longer(histogram, -1, 5).value == 1.0
    assert longer(histogram, 4, 5).value == 0.0
    turns = np.ones(TURNS_BINS, np.int64)
    assert longer(turns, TURNS_BINS - 2, 5).value == pytest.approx(1 / TURNS_BINS)
    with pytest.raises(MeasureError, match=r"longer than 65535 turns; allowed: below 65,535"):
        longer(turns, TURNS_BINS - 1, 5)
    assert quantile(histogram, 0.5, 5).value == 3


@pytest.mark.parametrize(
    ("how", "says"),
    [
        ({"seconds_a_turn": 0}, "0 seconds a turn; allowed: above 0"),
        ({"seconds_a_turn": math.inf}, "inf seconds a turn"),
        ({"bounds": {"hands_per_match": [3]}}, "'hands_per_match'; allowed here: turns_per_hand, minutes_per_hand"),
    ],
)
def test_wrong_questions_about_lengths(hands, how, says):
    with pytest.raises(MeasureError, match=says):
        length_estimates(hands[0].tally, 0, NAMES, 0, **how)


# --- From stories ----------------------------------------------------------------------------------------------------


def story_of(table, columns, blocks):
    """A story of one scenario whose blocks have these rows, of hands or matches."""
    story = Story.empty(1, 3, 0)
    story.blocks[()] = blocks
    sums, products = (
        (story.sums, story.products) if columns is HAND_COLUMNS else (story.match_sums, story.match_products)
    )
    sums[0] = table.sum(axis=0)
    products[0] = table.T @ table
    return story


def brute(table, columns, above, below):
    """Ratio and its standard error by the delta method, from the blocks one by one."""
    x, h = (table[:, columns.index(name)].astype(float) for name in (above, below))
    ratio = x.sum() / h.sum()
    blocks = len(table)
    return ratio, math.sqrt(blocks / (blocks - 1) * ((x - ratio * h) ** 2).sum()) / h.sum()


def test_ratios_of_hands():
    rng = np.random.default_rng(4)
    table = rng.integers(0, 9, (50, len(HAND_COLUMNS)))
    for above, below in STORY_HANDS:  # shares are no more than 1
        x, h = HAND_COLUMNS.index(above), HAND_COLUMNS.index(below)
        table[:, h] = np.maximum(table[:, h], table[:, x])
    found = {m.name: e for m, _, _, e in story_estimates(story_of(table, HAND_COLUMNS, 50), 0)}
    assert set(found) == {measure.name for measure in STORY_HANDS.values()}
    for (above, below), measure in STORY_HANDS.items():
        value, se = brute(table, HAND_COLUMNS, above, below)
        assert (found[measure.name].value, found[measure.name].se) == pytest.approx(
            (value / measure.scale, se / measure.scale), abs=1e-12
        ), measure.name
        assert found[measure.name].low <= found[measure.name].value <= found[measure.name].high


def test_what_is_judged_by_tables():
    """Ratios over groups, with t of one degree of freedom less than groups; nothing for a single group."""
    groups = np.array([[10, 9, 1, 5, 2], [30, 28, 4, 17, 6], [20, 17, 2, 10, 5]])
    groups[:, 1:] *= PARTS
    story = Story.empty(1, 3, 3)
    story.judged[0] = groups
    found = {m.name: e for m, _, _, e in story_estimates(story, 0)}
    assert set(found) == {measure.name for measure in JUDGED.values()}
    for name, estimate in found.items():
        value, se = brute(groups, JUDGED_COLUMNS, name, "won")
        assert (estimate.value, estimate.se) == pytest.approx((value / PARTS, se / PARTS), rel=1e-3)
        assert estimate.high == pytest.approx(min(1, estimate.value + stats.t.ppf(0.975, 2) * estimate.se))
    assert found["uncertainty"].value == 0.9
    assert found["uncertainty"].high == 1.0
    story = Story.empty(1, 3, 1)
    story.judged[0] = groups[:1]
    assert story_estimates(story, 0) == []


def test_intervals_of_what_is_judged_cover():
    """Forty stories of 8 groups: more than 8 intervals that miss the mean of all happen once in 5,000.

    The same hands judged block by block would make them several times too narrow.
    """
    plan = Plan((scenario("crazy-eights", ("random",) * 3),), seed=0, blocks=800)
    found = {name: [] for name in ("uncertainty", "drama")}
    for seed in range(40):
        story = tell(replace(plan, seed=seed), behind_table=50)
        for measure, _, _, estimate in story_estimates(story, 0):
            if measure.name in found:
                found[measure.name].append(estimate)
    for estimates in found.values():
        mean = np.mean([e.value for e in estimates])
        assert sum(not e.low <= mean <= e.high for e in estimates) <= 8


def test_ratios_of_matches():
    """Those of the leaders stand beside the number of the hand, as far as matches went."""
    rng = np.random.default_rng(5)
    table = rng.integers(0, 2, (30, len(MATCH_COLUMNS)))
    table[:, MATCH_COLUMNS.index("matches")] = 1
    table[:, MATCH_COLUMNS.index("decided")] = 1
    for k in range(1, LEADER_HANDS + 1):
        table[:, MATCH_COLUMNS.index(f"on_{k}")] = 1 if k < 6 else 0
        table[:, MATCH_COLUMNS.index(f"leader_won_{k}")] *= WHOLE if k < 6 else 0
    table[:, MATCH_COLUMNS.index("first_player")] *= WHOLE
    found = {(m.name, by, which): e for m, by, which, e in story_estimates(story_of(table, MATCH_COLUMNS, 30), 0)}
    expected = {
        ("first_player_wins", "", ""): ("first_player", "matches", WHOLE),
        ("lead_changes_per_match", "", ""): ("lead_changes", "matches", 1),
        ("match_comebacks", "", ""): ("comebacks", "decided", 1),
        **{("leader_wins", "hand", str(k)): (f"leader_won_{k}", f"on_{k}", WHOLE) for k in range(1, 6)},
    }
    assert set(found) == set(expected)
    for key, (above, below, scale) in expected.items():
        value, se = brute(table, MATCH_COLUMNS, above, below)
        assert (found[key].value, found[key].se) == pytest.approx((value / scale, se / scale), abs=1e-12)


def test_what_hardly_ever_happened_is_hardly_known():
    """Three penalties in 1,000 hands, none of them cut short: Wilson's interval of none of three, with t."""
    table = np.zeros((1_000, len(HAND_COLUMNS)), np.int64)
    table[:, HAND_COLUMNS.index("hands")] = 1
    table[:3, HAND_COLUMNS.index("penalties")] = 1
    found = {m.name: e for m, _, _, e in story_estimates(story_of(table, HAND_COLUMNS, 1_000), 0)}
    q = stats.t.ppf(0.975, 2)
    assert (found["penalties_cut_short"].low, found["penalties_cut_short"].value) == (0.0, 0.0)
    assert found["penalties_cut_short"].high == pytest.approx(q**2 / (3 + q**2))
    assert found["penalties_per_hand"].value == 0.003


def test_the_frame_of_all_measures(hands, matches):
    """The columns are those of the results, every name is in the record, and a story says on how much it rests."""
    for (result, _), titles in ((hands, ["A", "B"]), (matches, ["A"])):
        plan = result.plan
        story = tell(plan, most_hands=90, most_matches=30, behind_table=6)
        frame = measures_frame(result, titles, story, bounds={"turns_per_hand": [20, 40]})
        base = results_frame(result, titles)
        assert list(frame.columns) == list(base.columns) == list(story_frame(plan, story, titles).columns)
        assert not frame.duplicated(["scenario", "measure", "by", "which"]).any()
        assert frame["scenario"].is_monotonic_increasing
        for row in frame.itertuples():
            assert find_measure(row.measure).unit == row.unit
            assert row.low <= row.value <= row.high
            assert not BY_NAME[row.measure].share or 0 <= row.low <= row.high <= 1
        told = frame[frame["measure"].isin([m.name for m in (*STORY_HANDS.values(), *JUDGED.values())])]
        assert set(told["blocks"]) == {30 if not plan.matches else 10}
        assert set(told["hands"]) == set(story.hands)
        published = {m for m in BY_NAME if plan.matches or "match" not in m}
        published -= {"longest_penalty_chain", "leader_wins", "first_player_wins", "first_dealer_wins", "winner_total"}
        published -= {m for m in BY_NAME if m.endswith("_longer") and m != "turns_per_hand_longer"}
        # there is no penalty in these matches, whose players forget nothing
        published -= {"penalties_cut_short"} if plan.matches else {"extra_hands_per_match"}
        assert published <= set(frame["measure"])
