"""Luck or skill: what is found is that of the hands, rule sets are ranked in pairs, and every form tells the same."""

import dataclasses
import json
import math
import re
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from reports import skill_answers, skill_tables, skilled
from reports.answers import INTERRUPTED
from reports.figures_skill import skill_finding, skill_in_words, split_finding
from reports.intervals import Estimate
from reports.skill import PARTS, SkillError, ahead_after, critical_repetition, hands_needed
from reports.skilled import Series, SkillQuestion, View
from sim.batch import row_columns, run
from sim.rules import load
from strategies.registry import Player, crew_record, find

CONTRACTS = (Path(__file__).parents[2] / "docs" / "contracts.md").read_text("utf-8")
TWO = ("ochos-locos", "ochos-locos+draw-three")


def crew_of(lineup):
    players = [Player(find(e["strategy"]), e.get("forget_last_card", 0.0), e.get("illegal_rate", 0.0)) for e in lineup]
    return crew_record(players), [player.label for player in players]


def ask(labels=("sensible", "random"), players=(2,), count=6_000, specs=TWO[:1], **others):
    given = {
        "rules": tuple(map(load, specs)), "names": specs, "players": players, "notice_rate": 1.0, "seed": 5,
        "count": count, "matches": False, "precision": None, "version": "0", "asked": ("--rules", specs[0]),
        "strategies": tuple({"strategy": label} for label in labels), "labels": labels,
    }  # fmt: skip
    return SkillQuestion(**(given | others))


def played(question):
    return [run(question.plan(step, crew_of)) for step in question.steps()]


def found(question):
    return skilled.findings(question, played(question))


@pytest.fixture(scope="module")
def two():
    """Two rule sets, for 2 and 3 players: (question, findings)."""
    question = ask(players=(2, 3), specs=TWO)
    return question, found(question)


def leads(question, players, rules, measure):
    """The lead in each hand, (deals, rotations), from rows and by definition; above 0 where it is good."""
    step = next(step for step in question.steps() if step.players == players)
    chunks = []

    class Rows:
        def write(self, rows):
            chunks.append(rows.copy())

    run(dataclasses.replace(question.plan(step, crew_of), replays=1), rows=Rows())
    frame = pd.DataFrame(np.concatenate(chunks), columns=row_columns(players, False))
    frame = frame[frame["scenario"] == rules + 1]
    seats = range(1, players + 1)
    if measure == "wins":
        results = [(frame["winner"] == seat).astype(float) for seat in seats]
    else:
        lowest = question.rules[rules].rules.match.winner == "lowest"
        results = [frame[f"score_{seat}"] * (-1.0 if lowest else 1.0) for seat in seats]
    ahead = results[0] - sum(results[1:]) / (players - 1)
    return frame.assign(ahead=ahead).pivot(index="game", columns="rotation", values="ahead").to_numpy()


# --- The question --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("others", "text"),
    [
        ({"labels": ("random",)}, "1 strategy is given; allowed: two"),
        ({"labels": ("random", "sensible", "tips")}, "3 strategies are given; allowed: two"),
        ({"labels": ("random", "random")}, "strategy random is given twice; allowed: two that differ"),
        ({"matches": True}, "matches are asked for; allowed: a number of hands"),
        ({"precision": 0.01}, "a precision is asked for; allowed: a number of hands"),
        ({"players": (2, 4), "count": 255}, "255 hands of 4 players; allowed: 256 or more"),
    ],
)
def test_mistakes_are_one_line(others, text):
    with pytest.raises(SkillError) as caught:
        ask(**others)
    assert text in str(caught.value)
    assert "\n" not in str(caught.value)


def test_what_is_played():
    question = ask(players=(2, 3), specs=TWO, count=150_001)
    names = ["2 players", "2 players, split 1", "2 players, split 2"]
    assert [step.name for step in question.steps()] == [*names, *(name.replace("2 p", "3 p") for name in names)]
    assert [step.name for step in ask(players=(2, 3)).steps()] == ["2 players", "3 players"]
    main, first, second = (question.plan(step, crew_of) for step in question.steps()[3:])
    rules = [[scenario.rules for scenario in plan.scenarios] for plan in (main, first, second)]
    assert rules == [[load(spec).rules for spec in TWO], *([load(spec).rules] for spec in TWO)]
    # of each deal 3 seats of the dealer, twice
    assert (main.blocks, first.blocks, main.rotations, main.replays) == (25_001, 16_667, 3, 2)
    assert main.scenarios[0].names == ("sensible", "random", "random")
    assert main.scenarios[0].crew["group"][:3].tolist() == [0, 1, 1]


def test_commands_ask_again():
    question = ask(players=(2, 3), specs=TWO, by="points")
    assert question.command() == (
        "ochos-sim skill --rules ochos-locos --players 2,3 --strategy sensible --strategy random --hands 6000 "
        "--by points --seed 5"
    )
    assert question.trace_command(1, 3, 17, 2) == (
        "ochos-sim trace --rules ochos-locos+draw-three --players 3 --strategy sensible --strategy random "
        "--strategy random --seed 5 --game 17 --rotation 2"
    )
    assert question.experiment()["by"] == "points"
    assert "--by" not in ask().command()


# --- What is found -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("players", [2, 3])
@pytest.mark.parametrize("measure", ["wins", "points"])
def test_series_and_variances_are_those_of_the_hands(two, players, measure):
    question, findings = two
    finding = findings[players - 2]
    for k in range(2):
        one = finding.counted[k][measure]
        ahead = leads(question, players, k, measure)
        deals = len(ahead)
        home = np.array([ahead[game, game % players] for game in range(deals)])
        assert one.better == 0
        for view, each_hand, block in (("home_game", home, 1), ("duplicate", ahead.mean(axis=1), players)):
            lengths = {series.hands for series in one.views[view].series}
            assert {-(-10 // players) * players, -(-one.views[view].needed[0].hands // players) * players} <= lengths
            for series in one.views[view].series:
                assert series.hands % players == 0
                size = series.hands // block
                totals = [each_hand[at : at + size].sum() for at in range(0, deals - size + 1, size)]
                # thirds do not add up to exactly 0
                shares = [0.5 if abs(total) < 1e-9 else float(total > 0) for total in totals]
                assert series.count == len(totals)
                assert series.ahead.value == pytest.approx(np.mean(shares))
        # half of the hands behind the lead are these ones, the others have other luck: five standard errors
        assert one.lead.value == pytest.approx(ahead.mean(), abs=5 * one.lead.se)
        duplicate = one.lead.value / math.sqrt(players * ahead.mean(axis=1).var(ddof=1))
        assert one.views["duplicate"].edge.value == pytest.approx(duplicate)
        # the variance within positions, from half of the hands: a variance's relative error here is below 3 %
        within = np.mean([ahead[:, rotation].var() for rotation in range(players)])
        assert one.views["home_game"].edge.value == pytest.approx(one.lead.value / math.sqrt(within), rel=0.12)


def test_hands_follow_from_the_edge_and_the_curve_agrees_with_what_is_played(two):
    _, findings = two
    for finding in findings:
        for found_under in finding.counted:
            for one in found_under.values():
                for view in one.views.values():
                    assert view.needed == tuple(hands_needed(view.edge, chance) for chance in (0.75, 0.9, 0.95))
                    assert view.critical == critical_repetition(view.edge)
                    # from 20 hands on, about 40 comparisons: five standard errors, false alarm below 1e-4
                    for series in (s for s in view.series if s.hands >= 20):
                        (curve,) = ahead_after(view.edge, [series.hands])
                        se = math.hypot(math.sqrt(curve.value * (1 - curve.value) / series.count), curve.se)
                        assert abs(series.ahead.value - curve.value) < 5 * se + 0.5 / series.count


def test_splits_are_those_of_each_rule_set_alone(two):
    question, findings = two
    for finding in findings:
        for k, split in enumerate(finding.splits):
            n = finding.run.plan.players
            assert [part.name for part in split.parts] == list(PARTS)
            # one of n wins
            assert split.variance.value == pytest.approx((n - 1) / n**2, rel=1e-3)
            assert split.hands == split.blocks * n * 2
            alone = ask(players=(n,), specs=TWO[k : k + 1])
            (found_alone,) = found(alone)
            assert found_alone.splits[0].parts == split.parts
            assert found_alone.counted[0] == finding.counted[k]
            assert "split" not in "".join(step.name for step in alone.steps())
    assert question.names == TWO


def test_the_ranking_is_by_the_edge_at_home(two):
    for by in ("wins", "points"):
        question = dataclasses.replace(two[0], by=by)
        for finding in found(question):
            edges = [one[by].views["home_game"].edge for one in finding.counted]
            for e, ranked in zip(edges, finding.ranking.values, strict=True):
                assert ranked.value == pytest.approx(e.value, rel=1e-9)
                # a jackknife over 32 lots knows a standard error to 13 %: five times that
                assert 0.4 < ranked.se / e.se < 1.8
            assert finding.ranking.order == tuple(np.argsort([-e.value for e in edges]))


def test_equal_rules_are_paired_and_cannot_be_told_apart():
    question = ask(specs=("ochos-locos", "crazy-eights", "ochos-locos"), names=("a", "b", "c"), count=1_000)
    (finding,) = found(question)
    same = finding.ranking.differences[0][2]
    assert same.value == 0.0
    # all that is left is what so many deals cannot exclude
    assert same.se < finding.ranking.differences[0][1].se / 3
    assert finding.ranking.rank_low[0] == finding.ranking.rank_low[2]


def test_where_more_points_are_better_the_better_one_has_more():
    question = ask(specs=("ochos-locos", "ochos-locos+winner-collects"), count=4_000)
    assert [named.rules.match.winner for named in question.rules] == ["lowest", "highest"]
    (finding,) = found(question)
    for one in finding.counted:
        assert one["points"].better == 0
        assert one["points"].lead.low > 0


def test_the_others_may_be_the_better_ones():
    question = ask(("random", "sensible"), players=(3,))
    (finding,) = found(question)
    one = finding.counted[0]["wins"]
    assert one.better == 1
    assert one.views["home_game"].edge.high < 0
    assert finding.ranking.values[0].value == pytest.approx(-one.views["home_game"].edge.value)
    said = skill_answers.verdict(question, finding)
    assert "sensible is better than random and its 2 players are on average ahead of the one of random" in said
    row = skill_answers.skill_answer(question, [finding])["players"][0]["ranking"][0]
    assert row["wins"]["better"] == "sensible"
    # the better one's chance, not the first one's
    assert all(point["value"] > 0.5 for point in row["wins"]["home_game"]["curve"])


def test_a_copy_is_not_better():
    """A strategy without chance of its own against its copy has no lead at all: exactly, as all seats are taken."""
    same = ({"strategy": "first-legal"},) * 2
    question = ask(("a copy", "another"), players=(3,), specs=TWO, strategies=same, count=1_000)
    (finding,) = found(question)
    for one in finding.counted:
        for counted in one.values():
            assert counted.better is None
            assert counted.lead.value == pytest.approx(0.0, abs=1e-12)
            for view in counted.views.values():
                assert all(needed.hands is None for needed in view.needed)
    said = skill_answers.verdict(question, finding)
    assert said.startswith("Under none of these rules is it sure who is better.")
    assert "it is not sure who is better, a copy or another: it takes more than" in said
    json.dumps(skill_answers.skill_answer(question, [finding]), allow_nan=False)
    assert skill_answers.needed_frame(question, [finding])["hands"].isna().all()


def test_a_curve_holds_from_where_all_longer_series_agree():
    edge = Estimate(0.1, 0.001, 0.098, 0.102)
    needed = (hands_needed(edge, 0.75),)

    def series(*far):
        ends = zip((10, 100, 1_000), ahead_after(edge, (10, 100, 1_000)), far, strict=True)
        return tuple(Series(n, 50, Estimate(e.value + x, 0.0, e.value + x, e.value + x)) for n, e, x in ends)

    def holds(*far):
        return View(edge, needed, needed[0], series(*far)).holds_from()

    assert [holds(0, 0, 0), holds(0.1, 0, 0), holds(0, -0.1, 0), holds(0, 0, -0.1)] == [10, 100, 1_000, None]
    assert View(edge, needed, needed[0], ()).holds_from() is None


def test_interrupted_runs_leave_what_is_whole():
    question = ask(players=(2, 3), specs=TWO, count=1_000)
    runs = played(question)[:3]
    runs[2].stopped = INTERRUPTED
    (finding,) = skilled.findings(question, runs)
    assert finding.splits[0] is not None
    assert finding.splits[1] is None
    (finding,) = skilled.findings(question, runs[:1])
    assert finding.splits == (None, None)
    answer = skill_answers.skill_answer(question, [finding])
    assert [row["split"] for row in answer["players"][0]["ranking"]] == [None, None]
    assert "vary" not in skill_answers.verdict(question, finding)
    assert len(skill_answers.split_frame(question, [finding])) == 0
    assert "shares of the variance" not in skill_tables.skill_markdown(answer)
    runs[0].tally.blocks[()] = 31  # fewer deals than lots tell nothing
    assert skilled.findings(question, runs[:1]) == []


def test_threads_change_nothing(two):
    question, findings = two
    runs = [run(question.plan(step, crew_of), threads=2, chunk_hands=500) for step in question.steps()[:3]]
    (again,) = skilled.findings(question, runs, threads=2)
    assert again.counted == findings[0].counted
    assert again.splits == findings[0].splits
    assert again.ranking == findings[0].ranking


# --- Answers -------------------------------------------------------------------------------------------------------


def keys(value, inner=("rules", "lineup")):
    """Every key of an answer, but those of parts that are told elsewhere."""
    if isinstance(value, dict):
        for key, entry in value.items():
            yield key
            yield from keys(entry) if key not in inner or (isinstance(entry, list) and key == "rules") else ()
    elif isinstance(value, list):
        for entry in value:
            yield from keys(entry)


def test_the_answer_is_that_of_the_contract(two):
    answer = skill_answers.skill_answer(*two)
    text = json.dumps(answer, allow_nan=False)
    section = CONTRACTS.partition("## `skill --format json`\n")[2].partition("\n## ")[0]
    documented = set(re.findall(r"`(\w+)`", "\n".join(re.findall(r"^\| (`[^|]*) \|", section, re.MULTILINE))))
    elsewhere = {"name", "preset", "changes", "sets", "strategy"}
    assert set(keys(json.loads(text))) - elsewhere - {"value", "se", "low", "high"} == documented - {
        "value", "se", "low", "high"
    }  # fmt: skip
    assert answer["ranked_by"] == "wins"
    for part in answer["players"]:
        assert [row["rank_low"] <= row["rank_high"] for row in part["ranking"]] == [True, True]
        (difference,) = part["differences"]
        assert [difference["rules"], difference["minus"]] == [row["rules"] for row in part["ranking"]]
        for row in part["ranking"]:
            curve = row["wins"]["home_game"]["curve"]
            assert [point["hands"] for point in curve][:7] == [1, 2, 5, 10, 20, 50, 100]
            assert [point["value"] for point in curve] == sorted(point["value"] for point in curve)
            last = row["wins"]["home_game"]["needed"][-1]["hands"]
            assert curve[-1]["hands"] >= 4 * last
            assert row["wins"]["home_game"]["curve_holds_from"] in [
                s["hands"] for s in row["wins"]["home_game"]["played_out"]
            ]
            assert sum(part["share"]["value"] for part in row["split"]["parts"]) == pytest.approx(1.0, abs=0.05)


def test_the_verdict_says_what_a_person_would(two):
    question, findings = two
    for finding in findings:
        said = skill_answers.verdict(question, finding)
        leader = finding.ranking.order[0]
        hands = finding.counted[leader]["wins"].views["home_game"].needed[1].in_words()
        assert f"Under {TWO[leader]}, playing at home and counting hands won, sensible is better than random" in said
        assert f"with 90 % after {hands} hands" in said
        assert "Counting points sensible is ahead with 90 % after" in said
        assert "chance in play" in said
        sure = len([k for k in range(2) if finding.ranking.in_best_set[k]]) == 1
        assert said.startswith("Most is left to skill" if sure else "Which rules leave most to skill is not sure")
    assert "ahead of the average of the 2 others" in skill_answers.verdict(question, findings[1])
    by_points = dataclasses.replace(question, by="points")
    said = skill_answers.verdict(by_points, found(by_points)[0])
    assert "counting points, sensible is better" in said
    assert "Counting hands won sensible is ahead" in said


def test_the_most_skill_is_named_where_it_is_sure(two):
    question, findings = two
    for order in ((0, 1), (1, 0)):
        best = tuple(k == order[0] for k in range(2))
        ranking = dataclasses.replace(findings[0].ranking, order=order, in_best_set=best)
        said = skill_answers.verdict(question, dataclasses.replace(findings[0], ranking=ranking))
        assert said.startswith(f"Most is left to skill under {TWO[order[0]]}, surely less under {TWO[order[1]]}.")
        assert f"Under {TWO[order[0]]}, playing at home" in said


def test_the_question_and_the_method_name_the_strategies(two):
    question, findings = two
    asked = skill_answers.asked_in_words(question)
    assert asked == (
        "Which rules leave most to skill, for 2 and 3 players, one of sensible among random: "
        "ochos-locos, ochos-locos+draw-three?"
    )
    told = " ".join(skill_answers.method(question, findings))
    assert "sensible and random" in told
    assert "in 6,000 hands under each rule set" in told
    assert "series of" in told


def test_frames_are_those_that_the_figures_draw(two):
    question, findings = two
    curve, needed, parts = (
        frame(question, findings)
        for frame in (skill_answers.curve_frame, skill_answers.needed_frame, skill_answers.split_frame)
    )
    for players in (2, 3):
        own = [frame[frame["players"] == players] for frame in (curve, needed, parts)]
        assert "hands" in skill_finding(*own[:2]) or "difference" in skill_finding(*own[:2])
        assert "series played out" in skill_in_words(*own[:2])
        assert split_finding(own[2])
    assert set(curve["kind"]) == {"curve", "played"}
    assert (curve[["low", "chance", "high"]].diff(axis=1).iloc[:, 1:] >= 0).all(axis=None)
    one = curve[(curve["players"] == 2) & (curve["rules"] == TWO[0])]
    view = findings[0].counted[0]["wins"].views["home_game"]
    assert one[one["kind"] == "played"]["hands"].tolist() == [series.hands for series in view.series]
    ten = one[(one["kind"] == "curve") & (one["hands"] == 10)].iloc[0]
    assert ten["chance"] == ahead_after(view.edge, [10])[0].value
    points = skill_answers.curve_frame(question, findings, "points", "duplicate")
    assert not points["chance"].equals(curve["chance"])

    frame = skill_answers.skill_frame(question, findings)
    assert len(frame) == 4
    for players, finding in zip((2, 3), findings, strict=True):
        rows = frame[frame["players"] == players]
        assert rows["rules"].tolist() == [TWO[k] for k in finding.ranking.order]
        k = finding.ranking.order[0]
        first = rows.iloc[0]
        needed_90 = finding.counted[k]["wins"].views["home_game"].needed[1]
        assert (first["hands_90"], first["hands_90_low"]) == (needed_90.hands, needed_90.low)
        assert first["skill_share"] == finding.splits[k].parts[0].share.value
    assert set(skill_answers.results(question, findings)["players"]) == {2, 3}


def test_tables_and_markdown_tell_the_answer(two):
    question, findings = two
    answer = json.loads(json.dumps(skill_answers.skill_answer(question, findings)))
    console = Console(width=200, record=True, file=StringIO())
    console.print(skill_tables.skill_table(answer))
    shown, written = console.export_text(), skill_tables.skill_markdown(answer)
    for text in (shown, written):
        for part in answer["players"]:
            assert f"{part['players']} players" in text
            for row in part["ranking"]:
                assert row["rules"] in text
                view = row["wins"]["home_game"]
                one = view["needed"][1]
                assert f"{one['hands']:,} ({one['low']:,} to {one['high']:,})" in text
                for series in view["played_out"]:
                    assert f"{series['series']:,}" in text
        assert "seed 5" in text
        assert "in 1,500 deals under each of 2 rule sets" in text
        assert "line-up sensible, random, random" in text
