"""Lengths: every figure again from the rows of the same games; what is asked wrongly; the order of rule sets."""

import json
import math

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from cli import app

MATCHES = 400
RULES = ("ochos-locos", "ochos-locos+draw-three")


def ochos(*words, code=0):
    result = CliRunner().invoke(app, [str(word) for word in (*words, "--quiet")])
    assert result.exit_code == code, result.stderr or result.exception
    return result


@pytest.fixture(scope="module")
def games(tmp_path_factory):
    """A row for each of the matches and for each of their hands alone, by rule set."""
    folder = tmp_path_factory.mktemp("rows")
    found = {}
    for rules in RULES:
        for what in ("matches", "hands"):
            path = folder / f"{rules}-{what}.parquet"
            ochos("simulate", "--rules", rules, "--players", 3, f"--{what}", MATCHES, "--seed", 8, "--per-game", path)
            found[rules, what] = pd.read_parquet(path)
    return found


def length(what, *words):
    asked = [word for rules in RULES for word in ("--rules", rules)]
    words = ("--players", 3, f"--{what}", MATCHES, "--seed", 8, *words)
    return json.loads(ochos("length", *asked, *words, "--format", "json").stdout)


def quantile(values, share):
    """The smallest value that at least this share of all do not exceed."""
    return np.sort(values)[math.ceil(share * len(values)) - 1]


def assert_is(told, values, bound):
    """Mean with the standard error of independent games, quantiles, and the share above a bound."""
    assert told["mean"]["value"] == pytest.approx(values.mean())
    assert told["mean"]["se"] == pytest.approx(values.std(ddof=1) / math.sqrt(len(values)), rel=0.01)
    for name, share in (("p10", 0.1), ("median", 0.5), ("p90", 0.9)):
        assert told[name]["value"] == pytest.approx(quantile(values, share))
        assert told[name]["low"] <= told[name]["value"] <= told[name]["high"]
    assert told[f"longer {bound}"]["value"] == pytest.approx((values > bound).mean())


def test_lengths_of_matches_are_those_of_the_rows(games):
    words = ("--seconds-a-turn", 8, "--longer-than", 30, "--longer-than", "200turns", "--longer-than", "7 hands")
    (part,) = length("matches", *words)["players"]
    for row in part["ranking"]:
        of_rules = games[row["rules"], "matches"]
        assert len(of_rules) == MATCHES
        assert_is(row["turns_per_match"], of_rules["turns"], 200)
        assert_is(row["minutes_per_match"], of_rules["turns"] * 8 / 60, 30)
        assert_is(row["hands_per_match"], of_rules["hands"], 7)
        assert row["unfinished"]["value"] == 0
    first, second = (row["turns_per_match"]["mean"]["value"] for row in part["ranking"])
    assert first < second, "the quickest first"
    (pair,) = part["differences"]
    gap = games[pair["rules"], "matches"]["turns"] - games[pair["minus"], "matches"]["turns"]
    assert pair["value"] == pytest.approx(gap.mean())
    assert pair["se"] == pytest.approx(gap.std(ddof=1) / math.sqrt(MATCHES), rel=0.01)


def test_lengths_of_hands_are_those_of_the_rows(games):
    (part,) = length("hands", "--longer-than", 5, "--longer-than", "20 turns")["players"]
    for row in part["ranking"]:
        turns = games[row["rules"], "hands"]["turns"]
        assert_is(row["turns_per_hand"], turns, 20)
        assert_is(row["minutes_per_hand"], turns * 10 / 60, 5)


def test_the_verdict_says_how_long_and_who_is_quickest(games):
    means = {rules: games[rules, "matches"]["turns"].mean() for rules in RULES}
    quick = min(means, key=means.get)
    said = length("matches")["verdict"]
    assert said.startswith(f"Quickest: {quick}. A match of {quick} for 3 takes ")
    assert f" {means[quick]:.1f} (" in said
    assert f"Surely longer: {max(means, key=means.get)} (by " in said


@pytest.mark.parametrize("bound", ["6 0", "x", "", "-1", "nan", "inf", "60 years", "turns", "1\n2"])
def test_bounds_that_are_none(bound):
    result = ochos("length", "--matches", 10, "--longer-than", bound, code=2)
    assert result.stderr == (
        f"ochos-sim: --longer-than is {bound!r}; allowed: a number from 0, as 60 (minutes), 200turns, 12hands\n"
    )


def test_what_is_asked_wrongly():
    hands = ochos("length", "--hands", 10, "--longer-than", "3hands", code=2).stderr
    assert hands == "ochos-sim: --longer-than is '3hands'; allowed: a number from 0, as 5 (minutes), 60turns\n"
    for seconds in ("0", "-3", "1e9"):
        assert (
            "seconds a turn; allowed: above 0, up to 3600"
            in ochos("length", "--matches", 10, "--seconds-a-turn", seconds, code=2).stderr
        )


def test_a_run_stops_when_it_is_precise_enough():
    words = ("--rules", "ochos-locos", "--players", 2, "--matches", "20k", "--precision", "2%", "--format", "json")
    (part,) = json.loads(ochos("length", *words).stdout)["players"]
    assert part["stopped"].startswith("precise enough: every mean length is known to ± 2 %")
    assert part["matches"] < 20_000
    mean = part["ranking"][0]["turns_per_match"]["mean"]
    assert (mean["high"] - mean["low"]) / 2 <= 0.02 * mean["value"]


def test_the_folder_of_lengths_is_made_again(tmp_path):
    shown = ochos(
        "length", "--vary", "draw-three", "--players", "2,3", "--matches", 100, "--longer-than", "30",
        "--out", tmp_path, "--format", "csv",
    ).stdout  # fmt: skip
    made = {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()}
    names = {path.name for path in made}
    assert {"report.html", "report.md", "ranking.csv", "results.csv", "results.parquet"} <= names
    for path in made:
        if path.name not in ("experiment.toml", "chunks.npz", "state.json"):
            path.unlink()
    assert ochos("report", tmp_path, "--format", "csv").stdout == shown
    assert {path: path.read_bytes() for path in tmp_path.rglob("*") if path.is_file()} == made
