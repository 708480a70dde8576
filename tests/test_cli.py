"""The command, as a person and as another program meets it: exit codes, texts, JSON, files, resuming."""

import csv
import io
import itertools
import json
import os
import re
import signal
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import sim.batch
from cli import app
from door import batches, playing
from door.words import parse_count, split_lineup
from sim.batch import row_columns
from sim.rules import load, preset_names
from strategies import registry

ROOT = Path(__file__).parent.parent
FEW = ("--hands", "400", "--quiet")


def ochos(*words, code=0):
    """Run a command line in this process and check its exit code."""
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == code, result.stderr or result.exception
    return result


def answer(*words):
    return json.loads(ochos(*words, "--format", "json").stdout)


def refused(*words, code=2):
    """Run a command that is refused: nothing on stdout, one line on stderr, which is given back."""
    result = ochos(*words, "--quiet", code=code) if "presets" not in words else ochos(*words, code=code)
    assert result.stdout == ""
    assert result.stderr.startswith("ochos-sim: ")
    assert result.stderr.count("\n") == 1
    return result.stderr.removeprefix("ochos-sim: ").strip()


def is_estimate(value):
    return set(value) == {"value", "se", "low", "high"} and value["low"] <= value["value"] <= value["high"]


# --- Help and start-up ---------------------------------------------------------------------------------------------


def test_help_loads_nothing_heavy():
    """Help comes at once because no library of figures, frames, kernels or rules is loaded for it.

    Typer itself loads pydantic for the help of a verb, not for that of the program.
    """
    heavy = ("numba", "pandas", "numpy", "matplotlib", "scipy", "pyarrow", "sim", "strategies", "reports")
    code = (
        "import sys\nfrom cli import app\n"
        "try:\n    app(sys.argv[1:])\n"
        f"except SystemExit:\n    print([name for name in {heavy!r} if name in sys.modules], file=sys.stderr)"
    )
    for words in (["--help"], ["simulate", "--help"], ["--version"]):
        ran = subprocess.run(
            [sys.executable, "-c", code, *words], cwd=ROOT, capture_output=True, text=True, timeout=60, check=True
        )
        assert ran.stderr.strip() == "[]", words
        assert ran.stdout


@pytest.mark.parametrize(
    "verb",
    [[], *([verb] for verb in ("simulate", "fairness", "trace", "batch", "report", "presets", "strategies", "bench"))],
)
def test_every_verb_has_help(verb):
    text = ochos(*verb, "--help").stdout
    assert "Usage: " in text
    assert len(text) > 300


def test_version():
    assert ochos("--version").stdout.startswith("ochos-sim 0.")


def test_no_verb_shows_help():
    result = ochos(code=2)
    assert "simulate" in result.output


# --- simulate ------------------------------------------------------------------------------------------------------


def test_simulate_json_is_the_contract():
    found = answer("simulate", *FEW, "--seed", 7, "--rules", "ochos-locos+actions", "--set", "draw.limit=2")
    fields = {"rules", "preset", "changes", "players", "lineup", "seed", "rng_version", "hands", "blocks", "seconds"}
    fields |= {"positions", "strategies", "turns_per_hand", "cards_drawn_per_hand", "reshuffled", "closed_on_wild"}
    fields |= {"ended", "version", "stopped"}
    assert fields <= set(found)
    assert found["rules"] == load("ochos-locos+actions", ["draw.limit=2"]).rules.as_dict()
    assert (found["preset"], found["changes"], found["sets"]) == ("ochos-locos", ["actions"], ["draw.limit=2"])
    assert (found["players"], found["seed"], found["hands"], found["blocks"]) == (4, 7, 400, 400)
    assert found["lineup"] == [{"strategy": "random"}] * 4
    assert found["stopped"] == "all hands played"
    assert [row["position"] for row in found["positions"]] == [1, 2, 3, 4]
    assert sum(row["win_share"]["value"] for row in found["positions"]) == pytest.approx(1)
    for row in found["positions"] + found["strategies"]:
        assert all(is_estimate(row[key]) for key in ("win_share", "points_left", "score"))
    assert found["strategies"][0]["win_share"]["value"] == pytest.approx(1 / 4)
    assert set(found["ended"]) == {"out", "blocked", "stopped", "capped"}
    assert sum(share["value"] for share in found["ended"].values()) == pytest.approx(1)
    assert {"mean", "p10", "median", "p90", "p99", "max"} <= set(found["turns_per_hand"])
    for key in ("cards_drawn_per_hand", "reshuffled", "closed_on_wild"):
        assert is_estimate(found[key])
    assert "matches" not in found


def test_simulate_matches_json():
    found = answer("simulate", "--matches", 30, "--players", 3, "--quiet")
    matches = found["matches"]
    assert matches["count"] == 30
    assert sum(row["value"] for row in matches["win_share_by_seat"]) == pytest.approx(1)
    assert {"hands_per_match", "turns_per_match", "winner_total"} <= set(matches)
    assert found["hands"] >= 30
    assert found["stopped"] == "all matches played"


def test_lineups_and_errors_by_seat():
    """Seats of one label play alike; the block turns a line-up round the table; hands are rounded up to blocks."""
    words = ["--strategy", "dump-high", "--strategy", "random", "--strategy", "random"]
    found = answer("simulate", "--players", 3, "--hands", 100, *words, "--illegal-rate", "5%", "--quiet")
    assert (found["hands"], found["blocks"]) == (102, 34)
    assert found["lineup"][0] == {"strategy": "dump-high", "illegal_rate": 0.05}
    assert [row["seats"] for row in found["strategies"]] == [[1], [2, 3]]
    rates = ["--forget-last-card", 0, "--forget-last-card", 1, "--notice-rate", 0.5]
    found = answer("simulate", "--players", 2, "--hands", 100, *rates, "--quiet")
    assert found["lineup"] == [{"strategy": "random"}, {"strategy": "random", "forget_last_card": 1}]
    assert found["notice_rate"] == 0.5
    assert found["blocks"] == 50


def test_the_first_dealer_can_be_fixed():
    found = answer("simulate", "--matches", 20, "--first-dealer", 2, "--strategy", "random", "--quiet")
    assert found["blocks"] == 20
    dealt = ochos("trace", "--match", "--first-dealer", 2, "--format", "json").stdout.splitlines()
    assert json.loads(dealt[0])["first_dealer"] == json.loads(dealt[1])["dealer"] == 2


def test_simulate_table_reads_like_an_answer():
    text = ochos("simulate", *FEW).stdout
    for part in (
        "ochos-locos: ",
        "1 left of the dealer",
        "4 the dealer",
        "an even share",
        "turns a hand",
        "somebody goes out",
        "line-up 4 × random",
        "seed 1",
        "400 hands in 400 deals",
        "all hands played",
        "ochos-sim 0.",
        "95 % intervals",
    ):
        assert part in text, part
    assert not any(line.endswith(" ") for line in text.splitlines())


def test_the_table_compares_strategies():
    words = list(itertools.chain(*(["--strategy", name] for name in ("dump-high", "random") * 2)))
    text = ochos("simulate", *FEW, *words).stdout
    assert "dump-high (seat 1, 3)" in text
    assert "% of hands a seat" in text


def test_simulate_csv_and_markdown():
    rows = list(csv.DictReader(io.StringIO(ochos("simulate", *FEW, "--format", "csv").stdout)))
    shares = [float(row["value"]) for row in rows if (row["measure"], row["by"]) == ("win_share", "position")]
    assert sum(shares) == pytest.approx(1)
    assert {row["seed"] for row in rows} == {"1"}
    assert {row["stopped"] for row in rows} == {"all hands played"}
    text = ochos("simulate", *FEW, "--format", "md").stdout
    assert "| measure | by | value (95 % interval) | unit |" in text
    assert "- rules ochos-locos" in text


def test_precision_stops_at_a_look():
    found = answer("simulate", "--precision", "3%", "--quiet")
    assert found["blocks"] == 1000
    assert found["stopped"] == "precise enough: every win share is known to ± 0.03 or better"
    assert all(r["win_share"]["high"] - r["win_share"]["low"] <= 0.06 for r in found["positions"])
    found = answer("simulate", "--precision", 0.001, "--hands", 1200, "--quiet")
    assert (found["blocks"], found["stopped"]) == (1200, "all hands played before ± 0.001 was reached")
    found = answer("fairness", "--precision", 0.2, "--vary", "actions", "--quiet")
    assert found["stopped"] == "precise enough: every spread is known to ± 0.2 or better"
    assert found["players"][0]["blocks"] == 1000


@pytest.mark.parametrize("text", ["2000", "2_000", "2,000", "2e3", "2E3", "2k", "2K", "0.002M", "0.000002g"])
def test_numbers_as_people_write_them(text):
    assert parse_count("--hands", text) == 2000


@pytest.mark.parametrize(
    "text", ["0", "-5", "abc", "1.5", "1e30", "1e400", "", "k", "nan", "inf", "1e-3", "5 0", "2kk"]
)
def test_numbers_that_are_none(text):
    assert refused("simulate", f"--hands={text}") == (
        f"--hands is {text!r}; allowed: a whole number from 1 to 10^12, as 300000, 300k, 2M or 1e6"
    )


def test_a_random_seed_is_told_and_another_each_time():
    results = [ochos("simulate", "--hands", 10, "--seed", "random", "--format", "json") for _ in range(2)]
    seeds = [json.loads(result.stdout)["seed"] for result in results]
    assert seeds[0] != seeds[1]
    assert f"seed {seeds[0]}\n" in results[0].stderr


def test_largest_seed():
    assert answer("simulate", "--hands", 10, "--seed", 2**64 - 1, "--quiet")["seed"] == 2**64 - 1


def test_quiet_says_nothing_beside_the_answer(tmp_path):
    assert ochos("simulate", *FEW).stderr == ""
    assert ochos("fairness", *FEW).stderr == ""
    assert "one rule set" in ochos("fairness", "--hands", 10).stderr


def test_compiling_is_announced(monkeypatch, tmp_path):
    monkeypatch.setattr(sim.batch, "is_compiled", lambda matches: False)
    assert ochos("simulate", "--hands", 10).stderr.startswith("compiling the engine for hands, once on this machine")
    assert ochos("simulate", "--hands", 10, "--quiet").stderr == ""
    ochos("trace")
    assert ochos("trace").stderr == ""
    monkeypatch.setattr("sim.compiled.cache_directory", lambda path: tmp_path)
    assert ochos("trace").stderr.startswith("compiling the engine for traces, once on this machine")


# --- The same bytes ------------------------------------------------------------------------------------------------


def without_time(found):
    """An answer without its wall times."""
    if isinstance(found, dict):
        return {key: without_time(value) for key, value in found.items() if key != "seconds"}
    return [without_time(value) for value in found] if isinstance(found, list) else found


@pytest.mark.parametrize("amount", [("--hands", 2000), ("--matches", 60)])
def test_threads_and_chunks_change_nothing(amount, monkeypatch):
    words = ("simulate", *amount, "--strategy", "dump-high", *["--strategy", "random"] * 3, "--quiet")
    first = without_time(answer(*words, "--threads", 1))
    assert without_time(answer(*words, "--threads", 2)) == first
    for size in (48, 1000):
        monkeypatch.setitem(sim.batch.run.__kwdefaults__, "chunk_hands", size)
        assert without_time(answer(*words, "--threads", 2)) == first


MADE = ("results.csv", "results.parquet", "ranking.csv", "ranking.parquet", "report.html", "report.md")


def contents(folder):
    """The bytes of all that a results folder tells, without the state of playing."""
    files = [path for path in sorted(folder.rglob("*")) if path.is_file()]
    return {str(p.relative_to(folder)): p.read_bytes() for p in files if p.name not in ("chunks.npz", "state.json")}


def interrupt_after(monkeypatch, chunks, size=100):
    """Play in small chunks and interrupt after so many of them."""
    counter = itertools.count(1)
    contexts = itertools.count()

    @contextmanager
    def interruptible():
        playing = next(contexts) > 0  # the first is that of compiling
        yield lambda: playing and next(counter) >= chunks

    monkeypatch.setattr(playing, "interruptible", interruptible)
    monkeypatch.setitem(sim.batch.run.__kwdefaults__, "chunk_hands", size)


def test_an_interruption_while_compiling_ends_the_run(monkeypatch):
    @contextmanager
    def interruptible():
        yield lambda: True

    monkeypatch.setattr(playing, "interruptible", interruptible)
    result = ochos("simulate", "--hands", 1000, "--quiet", code=130)
    assert (result.stdout, result.stderr) == ("", "ochos-sim: interrupted\n")


@pytest.mark.parametrize(
    "words",
    [
        ("simulate", "--hands", 1000),
        ("simulate", "--hands", 1500, "--precision", 0.03),
        ("simulate", "--matches", 40, "--players", 3),
        ("fairness", "--hands", 300, "--vary", "draw.limit=1,3", "--vary", "actions", "--players", "2,4"),
    ],
)
@pytest.mark.parametrize("chunks", [1, 4])
def test_an_interrupted_run_goes_on_to_the_same_bytes(tmp_path, monkeypatch, words, chunks):
    whole, broken = tmp_path / "whole", tmp_path / "broken"
    ochos(*words, "--out", whole, "--quiet")
    assert set(MADE) <= set(contents(whole))
    with monkeypatch.context() as patch:
        interrupt_after(patch, chunks, 6 if "--matches" in words else 100)
        result = ochos(*words, "--out", broken, "--quiet", code=130)
    assert "interrupted" in result.stdout
    assert f"what is finished is kept in {broken}. To go on:\n  ochos-sim {words[0]} " in result.stderr
    assert set(contents(broken)) == {"experiment.toml"}
    resume = result.stderr.splitlines()[-1].split()
    ochos(*resume[1:])
    assert contents(broken) == contents(whole)


def test_resuming_plays_only_what_is_missing(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        interrupt_after(patch, 3)
        ochos("simulate", "--hands", 1000, "--out", tmp_path / "a", code=130)
    played = []
    real = sim.batch._Prepared.play
    monkeypatch.setattr(
        sim.batch._Prepared, "play", lambda self, a, b, rows: played.append((a, b)) or real(self, a, b, rows)
    )
    ochos("simulate", "--hands", 1000, "--out", tmp_path / "a")
    assert [span for span in played if span[0] < span[1]] == [(300, 1000)]
    played.clear()
    ochos("simulate", "--hands", 1000, "--out", tmp_path / "a")
    assert [span for span in played if span[0] < span[1]] == []


def test_a_run_taken_up_past_a_look_does_not_look_in_between(tmp_path, monkeypatch):
    """Saved at 1,100 blocks, which is past the look at 1,000: the next look is at 1,250, as without a stop."""
    words = ("simulate", "--precision", "2.6%", "--out")
    whole = answer(*words, tmp_path / "whole", "--quiet")
    assert whole["blocks"] == 1250
    with monkeypatch.context() as patch:
        interrupt_after(patch, 11)
        ochos(*words, tmp_path / "broken", code=130)
    assert answer(*words, tmp_path / "broken", "--quiet")["blocks"] == 1250


def test_an_interrupted_run_without_a_folder_says_that_nothing_is_kept(monkeypatch):
    interrupt_after(monkeypatch, 2)
    result = ochos("simulate", "--hands", 1000, code=130)
    assert "Interrupted; of what is finished: ochos-locos" in result.stdout
    assert "200 hands in 200 deals" in result.stdout
    assert "nothing is kept, as --out DIR was not given" in result.stderr


def test_a_drawn_seed_is_in_the_command_that_resumes(tmp_path, monkeypatch):
    for words in (("--seed", "random"), ("--seed=random",)):
        interrupt_after(monkeypatch, 2)
        result = ochos("simulate", "--hands", 1000, *words, "--out", tmp_path / str(len(words)), code=130)
        seed = result.stderr.splitlines()[0].removeprefix("seed ")
        assert seed in result.stderr.splitlines()[-1]
        assert "random" not in result.stderr.splitlines()[-1]


def test_ctrl_c_takes_effect_between_two_chunks():
    """The signal only asks; a second one would end at once."""
    with playing.interruptible() as asked_to_stop:
        assert not asked_to_stop()
        os.kill(os.getpid(), signal.SIGINT)
        assert asked_to_stop()
        assert signal.getsignal(signal.SIGINT) is signal.SIG_DFL
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


# --- The results folder --------------------------------------------------------------------------------------------


def test_what_a_results_folder_holds(tmp_path):
    ochos("fairness", "--hands", 300, "--vary", "actions", "--players", "2-3", "--out", tmp_path / "r")
    folder = tmp_path / "r"
    names = {path.name for path in folder.iterdir()}
    assert names == {*MADE, "figures", "experiment.toml", "state.json", "chunks.npz"}
    results = pd.read_parquet(folder / "results.parquet")
    assert set(results["players"]) == {2, 3}
    assert set(results["rules"]) == {"ochos-locos", "ochos-locos+actions"}
    pd.testing.assert_frame_equal(
        results[["measure", "value", "low", "high"]],
        pd.read_csv(folder / "results.csv")[["measure", "value", "low", "high"]],
        check_dtype=False,
    )
    assert len(pd.read_csv(folder / "ranking.csv")) == 4
    assert len(list((folder / "figures").glob("*.svg"))) == 7
    report = (folder / "report.md").read_text()
    assert "ochos-sim fairness --rules ochos-locos --vary actions --players 2,3 --strategy random" in report


def test_a_folder_of_another_experiment_is_refused(tmp_path):
    ochos("simulate", *FEW, "--out", tmp_path / "a")
    before = contents(tmp_path / "a")
    said = refused("simulate", "--hands", 400, "--seed", 2, "--out", tmp_path / "a")
    assert said == f"{tmp_path / 'a'} belongs to another experiment (seed: 1 there, 2 here); choose a new folder"
    assert contents(tmp_path / "a") == before


def test_folders_that_cannot_be(tmp_path):
    (tmp_path / "file").write_text("")
    assert "is a file" in refused("simulate", "--out", tmp_path / "file")
    assert "can not be written to" in refused("simulate", "--out", tmp_path / "file" / "x")


def test_nothing_is_written_for_a_command_that_is_wrong(tmp_path):
    refused("simulate", "--strategy", "randm", "--out", tmp_path / "a")
    refused("fairness", "--rules", "ochos-locos", "--players", "2,9", "--out", tmp_path / "a")
    assert list(tmp_path.iterdir()) == []


def test_a_full_disk_ends_a_run_with_one_line(tmp_path, monkeypatch):
    def full(path, content):
        raise OSError(28, "No space left on device", str(path))

    ochos("simulate", *FEW, "--out", tmp_path / "a")
    monkeypatch.setattr("sim.saving.write_whole", full)
    assert "could not be saved to: No space left on device" in refused(
        "simulate", "--hands", 400, "--out", tmp_path / "a", code=1
    )


# --- A row a hand --------------------------------------------------------------------------------------------------


def test_per_game_rows(tmp_path):
    file = tmp_path / "rows.parquet"
    found = answer("simulate", "--hands", 300, "--players", 3, "--per-game", file, "--quiet")
    rows = pd.read_parquet(file)
    assert list(rows.columns) == row_columns(3, matches=False)
    assert set(map(str, rows.dtypes)) == {"int64"}
    assert len(rows) == 300
    assert rows["turns"].mean() == pytest.approx(found["turns_per_hand"]["mean"]["value"])
    assert (rows["ended"] == 0).mean() == pytest.approx(found["ended"]["out"]["value"])
    assert b"--seed 1" in pq.read_metadata(file).metadata[b"command"]
    assert list(tmp_path.iterdir()) == [file]


def test_per_game_rows_do_not_depend_on_chunks(tmp_path, monkeypatch):
    monkeypatch.setattr("sim.rows.GROUP_ROWS", 128)
    for name, size in (("a", 70), ("b", 1000)):
        monkeypatch.setitem(sim.batch.run.__kwdefaults__, "chunk_hands", size)
        ochos("simulate", "--hands", 300, "--per-game", tmp_path / f"{name}.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert pq.read_metadata(tmp_path / "a.parquet").num_row_groups == 3


def test_per_game_rows_of_matches_and_of_a_resumed_run_are_whole(tmp_path, monkeypatch):
    words = (
        "simulate",
        "--matches",
        40,
        "--players",
        2,
        "--out",
        tmp_path / "out",
        "--per-game",
        tmp_path / "rows.parquet",
    )
    with monkeypatch.context() as patch:
        interrupt_after(patch, 1, 6)
        ochos(*words, code=130)
    assert len(pd.read_parquet(tmp_path / "rows.parquet")) < 40
    ochos(*words)
    rows = pd.read_parquet(tmp_path / "rows.parquet")
    assert list(rows.columns) == row_columns(2, matches=True)
    assert rows["game"].to_list() == list(range(40))


@pytest.mark.usefixtures("cheat")
def test_a_run_that_fails_leaves_no_rows(tmp_path):
    refused("simulate", "--hands", 10, "--strategy", "cheat", "--per-game", tmp_path / "rows.parquet", code=1)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_of_other_things_is_refused(tmp_path):
    (tmp_path / "mine.txt").write_text("")
    assert "not empty and no experiment of ours" in refused("simulate", "--hands", 10, "--out", tmp_path)


def test_what_was_finished_before_is_not_played_now(tmp_path):
    words = ("simulate", "--hands", 400, "--out", tmp_path / "a")
    assert "s of playing" in ochos(*words).stdout
    again = ochos(*words)
    assert f"already finished: taken from {tmp_path / 'a'}" in again.stderr
    assert "s of playing" not in again.stdout


def test_matches_are_answered_first():
    text = " ".join(ochos("simulate", "--matches", 200, "--quiet").stdout.split())
    assert text.startswith("A match (to 100, lowest total wins) takes ")
    assert "even share 25, " in text
    assert text.index("seat strategy") < text.index("Single hands of ochos-locos: ")


def test_eighty_columns(monkeypatch):
    """Names break at a plus and before a setting, numbers before their interval, and nowhere else."""
    monkeypatch.setenv("COLUMNS", "80")
    words = ("--vary", "no-eight-on-eight,draw-three+no-eight-on-eight", "--vary", "draw.limit=until-playable")
    for amount in (("--hands", 400), ("--matches", 40)):
        text = ochos("fairness", *amount, *words).stdout
        assert max(map(len, text.splitlines())) <= 80
        table = text[text.index("rank ") : text.index("No hand was")].splitlines()
        assert not any(line.count("(") != line.count(")") for line in table)
        assert any("+no-eight-on-eight" in line for line in table)


def test_forgetting_where_nothing_is_called_is_noted():
    said = "--forget-last-card changes nothing"
    plain, called = ("--set", "last_card.call=false"), ("--set", "last_card.call=true")
    for verb in (("simulate", "--hands", 10), ("trace",)):
        assert said in ochos(*verb, *plain, "--forget-last-card", 0.5).stderr
        assert said not in ochos(*verb, *called, "--forget-last-card", 0.5).stderr


def test_per_game_files_that_cannot_be(tmp_path):
    assert "is a folder" in refused("simulate", "--hands", 10, "--per-game", tmp_path)
    assert "can not be written: No such file" in refused(
        "simulate", "--hands", 10, "--per-game", tmp_path / "x" / "y.parquet"
    )
    assert "ends in .parquet" in refused("simulate", "--hands", 10, "--per-game", tmp_path / "y.csv")


# --- fairness ------------------------------------------------------------------------------------------------------


def test_fairness_json():
    found = answer("fairness", *FEW, "--vary", "draw.limit=3,until-playable", "--vary", "actions", "--players", "2,4")
    assert found["question"] == (
        "Which is fairer for 2 and 4 players: ochos-locos, ochos-locos draw.limit=3, "
        "ochos-locos draw.limit=until-playable, ochos-locos+actions?"
    )
    assert {"players", "seed", "rng_version", "version", "lineup", "stopped", "seconds"} <= set(found)
    assert [section["players"] for section in found["players"]] == [2, 4]
    for section in found["players"]:
        assert {"ranking", "verdict", "best_set", "blocks", "hands", "differences"} <= set(section)
        assert (section["hands"], section["blocks"]) == (400, 400)
        assert len(section["ranking"]) == 4
        assert section["best_set"] == [row["rules"] for row in section["ranking"] if row["in_best_set"]]
        assert section["best_set"][0] in section["verdict"]
        spreads = [row["spread"]["value"] for row in section["ranking"]]
        assert spreads == sorted(spreads)
        for row in section["ranking"]:
            assert sum(p["win_share"]["value"] for p in row["positions"]) == pytest.approx(1)
            assert all(is_estimate(row[key]) for key in ("spread", "turns_per_hand", "cards_drawn_per_hand", "blocked"))
        assert len(section["differences"]) == 6
        assert all(difference["variance_ratio"] >= 0 for difference in section["differences"])
    rules = {entry["name"]: entry for entry in found["rules"]}
    assert rules["ochos-locos draw.limit=3"]["rules"]["draw"]["limit"] == 3
    assert rules["ochos-locos+actions"]["changes"] == ["actions"]


def test_fairness_plays_the_hands_that_simulate_plays():
    """The base within a comparison has the result that it has alone: the same deals."""
    alone = answer("simulate", *FEW)
    compared = answer("fairness", *FEW, "--vary", "actions")
    base = next(row for row in compared["players"][0]["ranking"] if row["rules"] == "ochos-locos")
    assert [p["win_share"] for p in base["positions"]] == [p["win_share"] for p in alone["positions"]]
    assert base["turns_per_hand"] == alone["turns_per_hand"]["mean"]


def test_fairness_of_matches():
    found = answer(
        "fairness", "--matches", 20, "--rules", "ochos-locos", "--rules", "ochos-locos+target-200", "--quiet"
    )
    section = found["players"][0]
    assert section["matches"] == 20
    assert all(is_estimate(row["hands_per_match"]) for row in section["ranking"])
    longer = {row["rules"]: row["hands_per_match"]["value"] for row in section["ranking"]}
    assert longer["ochos-locos+target-200"] > longer["ochos-locos"]


def test_fairness_table_and_others():
    words = ("fairness", *FEW, "--vary", "actions", "--set", "draw.limit=2")
    text = ochos(*words).stdout
    for part in ("4 players", "may be fairest", "spread, points", "turns a hand", "No hand was blocked", "variance"):
        assert part in text, part
    assert "all rule sets with draw.limit=2" in text
    assert "400 deals × 2 rule sets = 800 hands" in text
    assert ochos(*words, "--format", "md").stdout.startswith("## 4 players\n\n")
    rows = list(csv.DictReader(io.StringIO(ochos(*words, "--format", "csv").stdout)))
    assert {row["rules"] for row in rows} == {"ochos-locos", "ochos-locos+actions"}


def test_vary_of_what_the_base_says_is_the_base():
    result = ochos("fairness", "--hands", 100, "--vary", "draw.limit=1,3", "--format", "json")
    assert [entry["name"] for entry in json.loads(result.stdout)["rules"]] == [
        "ochos-locos",
        "ochos-locos draw.limit=3",
    ]
    assert "draw.limit=1 is what ochos-locos says already" in result.stderr


def test_vary_by_values_with_commas():
    found = answer("fairness", "--hands", 50, "--vary", 'wild.ranks=["A","8"],["2"]', "--vary", "actions.2={draw = 3}")
    assert [entry["rules"]["wild"]["ranks"] for entry in found["rules"]] == [["8"], ["A", "8"], ["2"], ["8"]]


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--rules", "ochos-locos", "--rules", "ochos-locos"], "ochos-locos is given twice"),
        (["--rules", "crazy-eights", "--rules", "crazy-eights+target-200"], "are the same rules"),
        (["--vary", "actions,actions"], "ochos-locos+actions is given twice"),
        (["--rules", "ochos-locos", "--rules", "ocho-loco", "--vary", "actions"], "--vary changes one base"),
        (["--vary", "draw.limit"], "draw.limit is an option: give its values, as draw.limit=A,B"),
        (["--vary", "draw.limit=1,,3"], "allowed: key=value,value or change,change"),
        (["--vary", ""], "allowed: key=value,value or change,change"),
        (["--vary", "wild.ranks=Z"], '--vary wild.ranks=Z: wild.ranks has no rank "Z"'),
        (["--vary", "no-eigth-on-eight"], "did you mean no-eight-on-eight?"),
        (["--rules", "crazy-eights", "--rules", "ochos-locos", "--players", "2-7"], "ochos-locos: 6 players: "),
        (["--players", "2,x"], "--players is '2,x'; allowed: a number from 2 to 10, a list as 2,4 or a range"),
        (["--players", "5-2"], "allowed: a range from fewer to more"),
        (["--players", "2-3,3"], "3 players are asked for more than once"),
        (["--players", "2,3", *["--strategy", "random"] * 3], "--strategy is given 3 times for 2 players"),
    ],
)
def test_comparisons_that_are_refused(words, said):
    assert said in refused("fairness", *words)


# --- trace ---------------------------------------------------------------------------------------------------------


def events(*words):
    return [json.loads(line) for line in ochos("trace", *words, "--format", "json").stdout.splitlines()]


def test_trace_json_lines():
    found = events("--seed", 7, "--game", 123, "--illegal-rate", 0.2, "--notice-rate", 0.5)
    assert found[0] == {
        "event": "match",
        "rules": load("ochos-locos").rules.as_dict(),
        "players": 4,
        "seed": 7,
        "game": 123,
        "first_dealer": 4,
        "lineup": [{"strategy": "random", "illegal_rate": 0.2}] * 4,
        "notice_rate": 0.5,
    }
    assert found[1]["event"] == "deal"
    assert found[-1]["event"] == "end"
    assert "match-end" not in {event["event"] for event in found}


def test_trace_of_a_hand_is_the_hand_that_was_simulated(tmp_path):
    ochos("simulate", "--hands", 20, "--seed", 5, "--per-game", tmp_path / "rows.parquet", "--quiet")
    rows = pd.read_parquet(tmp_path / "rows.parquet")
    end = events("--seed", 5, "--game", 13)[-1]
    assert rows.loc[13, "winner"] == end["winner"]
    assert rows.loc[13, [f"points_left_{seat}" for seat in range(1, 5)]].to_list() == end["points"]


def test_rotations_of_a_trace_are_those_of_a_block(tmp_path):
    lineup = ["--strategy", "dump-high", "--strategy", "random"]
    ochos("simulate", "--hands", 20, "--players", 2, *lineup, "--per-game", tmp_path / "rows.parquet", "--quiet")
    rows = pd.read_parquet(tmp_path / "rows.parquet").set_index(["game", "rotation"])
    for rotation in (0, 1):
        found = events("--players", 2, *lineup, "--game", 3, "--rotation", rotation)
        assert found[1]["dealer"] == found[0]["first_dealer"] == rows.loc[(3, rotation), "dealer"]
        assert found[-1]["winner"] == rows.loc[(3, rotation), "winner"]


def test_trace_of_a_match():
    found = events("--match", "--players", 2, "--rules", "crazy-eights", "--set", "match.target=30")
    assert found[-1]["event"] == "match-end"
    assert found[-1]["totals"] == found[-2]["totals"]
    assert found[1]["dealer"] == found[0]["first_dealer"]


def test_trace_of_a_deck(tmp_path):
    cards = [rank + suit for rank in ("A", *map(str, range(2, 11)), "J", "Q", "K") for suit in "CDHS"]
    (tmp_path / "deck").write_text("\n".join(cards).lower())
    deal = events("--deck", tmp_path / "deck", "--players", 2, "--dealer", 1)[1]
    assert deal["dealer"] == 1
    assert deal["hands"] == [cards[1:14:2], cards[0:14:2]]
    assert deal["starter"] == cards[14]


def test_trace_as_it_is_told():
    text = ochos("trace", "--seed", 7, "--game", 123).stdout
    lines = text.splitlines()
    assert lines[0] == "seed 7, game 123, 4 players"
    assert lines[2] == "Hand 1: seat 4 deals."
    assert "     seat 1  random  2C 3D 6D 10D 10S JS QS" in lines
    assert any(line.startswith("   1 seat 1 plays ") for line in lines)
    assert any(" can play nothing and draws " in line for line in lines)
    assert "     End of hand 1: " in text


@pytest.mark.parametrize("spec", [*preset_names(), "crazy-eights+super-jokers+delayed-suit+stop-at-five+actions"])
def test_every_kind_of_event_can_be_told(spec):
    words = ["--illegal-rate", 0.1, "--forget-last-card", 0.5, "--notice-rate", 0.5, "--set", "last_card.call=true"]
    for players in (2, 4):
        told = ochos("trace", "--match", "--rules", spec, "--players", players, *words).stdout
        count = len(events("--match", "--rules", spec, "--players", players, *words))
        assert len(told.splitlines()) > count
        assert "Match over after " in told


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--match", "--dealer", "1"], "--dealer is for one hand; a match has --first-dealer"),
        (["--first-dealer", "1"], "--first-dealer is for a match (--match); a hand has --dealer"),
        (["--dealer", "5"], "--dealer is '5'; allowed: a whole number from 1 to 4"),
        (["--dealer", "1", "--rotation", "1"], "--rotation moves the dealer"),
        (["--rotation", "4"], "--rotation is '4'; allowed: a whole number from 0 to 3"),
        (["--game", "-1"], "--game is '-1'"),
        (["--format", "csv"], "--format is 'csv'; a trace is told (table) or JSON lines (json)"),
        (["--deck", "nowhere"], "--deck nowhere: No such file or directory"),
        (["--deck", "."], "--deck .: Is a directory"),
    ],
)
def test_traces_that_are_refused(words, said):
    assert said in refused("trace", *words)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("7H 1X", "no such card: '1X'"),
        ("7H 8H", "the deck must hold the 52 cards of the pack"),
        ("", "holds no cards"),
    ],
)
def test_decks_that_are_refused(tmp_path, text, said):
    (tmp_path / "deck").write_text(text)
    assert said in refused("trace", "--deck", tmp_path / "deck")


def test_a_deck_does_not_go_with_a_match(tmp_path):
    (tmp_path / "deck").write_text("")
    assert "--deck gives the cards of one hand" in refused("trace", "--match", "--deck", tmp_path / "deck")


# --- presets and strategies ----------------------------------------------------------------------------------------


def test_presets_lists_all():
    text = ochos("presets").stdout
    assert all(name in text for name in preset_names())
    assert "+no-eight-on-eight" in text
    listed = json.loads(ochos("presets", "--format", "json").stdout)
    assert [preset["name"] for preset in listed] == list(preset_names())
    assert {"name", "about", "own"} == set(listed[0]["changes"][0])


@pytest.mark.parametrize("name", [*preset_names(), "ochos-locos+actions+no-eight-on-eight"])
def test_a_preset_that_is_shown_can_be_loaded(tmp_path, name):
    file = tmp_path / "mine.toml"
    file.write_text(ochos("presets", "show", name, "--set", "draw.limit=2").stdout)
    assert load(str(file)).rules == load(name, ["draw.limit=2"]).rules
    shown = json.loads(ochos("presets", "show", name, "--format", "json").stdout)
    assert shown == load(name).rules.as_dict()


def test_presets_diff():
    text = ochos("presets", "diff", "ochos-locos", "ochos-locos+actions").stdout
    assert [line.split() for line in text.splitlines()] == [
        ["option", "ochos-locos", "ochos-locos+actions"],
        ["actions.2", "none", "{draw", "=", "2}"],
        ["actions.J", "none", "skip"],
        ["actions.Q", "none", "reverse"],
    ]
    found = json.loads(ochos("presets", "diff", "ochos-locos", "ochos-locos+draw-three", "--format", "json").stdout)
    assert found == [{"option": "draw.limit", "a": 1, "b": 3}]
    assert "the same rules" in ochos("presets", "diff", "ochos-locos", "ochos-locos").stdout


def test_strategies_lists_all():
    text = ochos("strategies").stdout
    assert all(name in text for name in registry.built_in())
    listed = json.loads(ochos("strategies", "--format", "json").stdout)
    assert {row["name"]: row["idea"] for row in listed}["random"] == "any playable card, any suit, by chance"
    assert ochos("strategies", "--format", "csv").stdout.startswith("name,idea,parameters,sheet\n")
    assert ochos("strategies", "--format", "md").stdout.startswith("| name | idea | parameters | sheet |\n")


# --- What people get wrong -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--set", "actions.Z=skip"], 'no option "actions.Z"'),
        (["--set", "wild.ranks=Z"], 'wild.ranks has no rank "Z"'),
        (["--set", "actions.J=skipp"], "did you mean skip?"),
        (["--set", "draw.limt=3"], "did you mean draw.limit?"),
        (["--set", "wild.ranks=A", "--set", "deck.ranks=7,8"], "names the rank A, which the pack lacks"),
        (["--rules", "ochos-loco"], "did you mean ochos-locos?"),
        (["--rules", "ochos-locos+no-eight-on-eigth"], "did you mean no-eight-on-eight?"),
        (["--rules", "crazy-eights+draw-three+draw-until-playable"], "exclude each other"),
        (["--strategy", "randm"], "did you mean random?"),
        (["--players", "8", "--set", "players.max=8", "--set", "deck.packs=1"], "57 cards, the pack has 52"),
        (["--players", "1"], "a table seats 2 to 10"),
        (["--players", "11"], "a table seats 2 to 10"),
        (["--players", "6"], "these rules are for 2 to 5; --set players.max=6 allows it"),
        (["--players", "abc"], "--players is 'abc'; allowed: a number from 2 to 10"),
        (["--players", "2,4"], "allowed: one number (fairness takes several)"),
        (["--matches", "0"], "--matches is '0'"),
        (["--hands", "5", "--matches", "5"], "--hands and --matches are given; allowed: one of them"),
        (["--seed", "-1"], "--seed is '-1'; allowed: a whole number from 0 to 2^64 - 1, or random"),
        (["--seed", str(2**64)], "allowed: a whole number from 0 to 2^64 - 1"),
        (["--seed", "seven"], "--seed is 'seven'"),
        (["--threads", "0"], "--threads is '0'; allowed: a whole number from 1 to 1024"),
        (["--precision", "0"], "--precision is '0'; allowed: a share between 0 and 1"),
        (["--precision", "nan"], "--precision is 'nan'"),
        (["--illegal-rate", "1.5"], "--illegal-rate is '1.5'; allowed: a chance from 0 to 1"),
        (["--notice-rate", "x"], "--notice-rate is 'x'"),
        (["--strategy", "random", "--strategy", "random"], "--strategy is given 2 times for 4 players"),
        (["--forget-last-card", "0", "--forget-last-card", "0"], "--forget-last-card is given 2 times"),
        (["--first-dealer", "1"], "--first-dealer goes with --matches"),
        (["--first-dealer", "5", "--matches", "5"], "--first-dealer is '5'; allowed: a whole number from 1 to 4"),
        (["--rulez", "x"], "no such option: --rulez; did you mean --rules?; see ochos-sim simulate --help"),
        (["--format", "xml"], "'xml' is not one of 'table', 'json', 'csv', 'md'"),
        (["--rule", "x"], "no such option: --rule; did you mean --rules?; see"),
        (["--vary", "actions"], "--vary belongs to fairness; see"),
        (["crazy-eights+actions"], "did you mean --rules crazy-eights+actions?"),
        (["--rules", "ochos-locos", "--rules", "crazy-eights"], "simulate plays one rule set, but --rules is given 2"),
        (["--rules", "ochos-locos,crazy-eights"], "give --rules once for each"),
        (["--strategy", "random"] * 3, "or 4 times, once a seat; or --players 3"),
        (["extra"], "unexpected extra argument"),
    ],
)
def test_what_people_get_wrong(words, said):
    assert said in refused("simulate", *words)


def test_an_unknown_verb_names_the_nearest():
    assert "did you mean 'simulate'?" in ochos("simulat", code=2).stderr.lower()
    assert "did you mean 'show'?" in ochos("presets", "shwo", code=2).stderr.lower()
    assert "no preset" in ochos("presets", "show", "nothing", code=2).stderr


def test_rules_files_that_are_none(tmp_path):
    """A folder, an empty file, a binary one, one that is not TOML, one that is not there."""
    (tmp_path / "folder.toml").mkdir()
    (tmp_path / "empty.toml").write_text("")
    (tmp_path / "binary.toml").write_bytes(bytes(range(128, 256)))
    (tmp_path / "text.toml").write_text("draw = [limit")
    for name, said in (
        ("folder", "is a directory"),
        ("empty", "holds no rules"),
        ("binary", "is not UTF-8 text"),
        ("text", "not TOML"),
        ("nowhere", "no such file"),
    ):
        assert said in refused("simulate", "--rules", tmp_path / f"{name}.toml")


@pytest.fixture
def cheat():
    """Make a strategy that plays a card which is none."""

    @registry.strategy("cheat", idea="cheats, for a test")
    def cheat(view):
        return 999

    yield
    del registry._built_in["cheat"]


@pytest.mark.usefixtures("cheat")
@pytest.mark.parametrize("amount", [("--hands", 50), ("--matches", 5)])
def test_a_strategy_at_fault_ends_the_run_with_the_command_that_shows_it(amount):
    lineup = ["--strategy", "random", "--strategy", "random", "--strategy", "cheat"]
    words = ["--players", 3, *lineup, "--seed", 9, *amount]
    said = refused("fairness", *words, "--vary", "draw-three", code=1)
    assert said.startswith("strategy cheat (seat 3), asked what to play, answered 999")
    command = said.partition("; ochos-sim ")[2].split()
    assert command[0] == "trace"
    assert "--match" in command or amount[0] == "--hands"
    shown = ochos(*command, "--quiet", code=1)
    assert said.partition(";")[0] in shown.stderr
    assert "seat 3  cheat" in shown.stdout  # the hand up to there


def test_a_closed_pipe_is_no_traceback():
    """`| head` takes what it wants and leaves."""
    code = "import sys; from cli import app; sys.exit(app(sys.argv[1:]))"
    with subprocess.Popen(
        [sys.executable, "-c", code, "presets", "show", "ochos-locos"],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    ) as child:  # fmt: skip
        child.stdout.close()
        assert child.stderr.read() == ""
        assert child.wait(60) == 1


def test_bench_prints_what_it_measures(monkeypatch):
    from sim import bench

    row = bench.Row("speed", "hands a second", 123456.0, "hands/s", "≥ 1 hands/s", True, "3 runs")
    asked = []
    monkeypatch.setattr(bench, "bench", lambda crew_of, **how: asked.append(how) or [row])
    text = ochos("bench", "--part", "speed").stdout
    assert text.split()[:4] == ["speed", "of", "hands/s", "turns/s"]
    assert "123,456" in text
    assert asked[0]["parts"] == ["speed"]
    found = json.loads(ochos("bench", "--format", "json").stdout)
    assert found["rows"][0]["value"] == 123456.0
    assert "did you mean random?" in refused("bench", "--strategy", "randm")


def test_a_part_of_bench_that_there_is_not():
    assert "did you mean memory?" in refused("bench", "--part", "memry")


def test_the_facade_hands_on_what_it_names():
    import ochos_sim

    assert all(hasattr(ochos_sim, name) for name in ochos_sim.__all__)
    assert list(ochos_sim.__all__) == sorted(ochos_sim.__all__)


def test_the_example_of_the_facade_works():
    import doctest

    import ochos_sim

    assert doctest.testmod(ochos_sim) == (0, 5)


# --- odds and plan -------------------------------------------------------------------------------------------------


def test_odds_tell_the_exact_value_beside_the_dealt_one():
    told = answer("odds", "--players", 2, "--hands", "20k")
    stuck = next(one for one in told["odds"] if one["name"] == "first_stuck")
    assert stuck["exact"] == pytest.approx(0.0373841, abs=1e-7)
    assert stuck["simulated"]["low"] < stuck["exact"] < stuck["simulated"]["high"]
    table = ochos("odds", "--players", 2, "--hands", "20k").stdout
    assert "3.73841 %" in table
    assert "20,000 deals, seed 1" in table
    frame = pd.read_csv(io.StringIO(ochos("odds", "--hands", "20k", "--format", "csv").stdout))
    assert set(frame["rules"]) == {"ochos-locos"}


def test_plan_tells_how_many_hands():
    """The margin of a win share near a quarter takes fewer than that of one half, 0.9604/d²."""
    words = ("plan", "--margin", "1%", "--pilot", "4k")
    told = answer(*words)
    assert 6_500 < told["hands"] < 9_604
    assert f"{told['hands']:,} hands" in ochos(*words).stdout


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["plan"], "a plan has one aim; give --margin X or --difference X"),
        (["plan", "--margin", "1%", "--difference", "1%"], "a plan has one aim; give --margin X or --difference X"),
        (
            ["plan", "--margin", "no"],
            "--margin is 'no'; allowed: a number above 0, as 0.002 or 0.2%, or 1.5 turns as 1.5",
        ),
        (
            ["odds", "--hands", "0"],
            "--hands is '0'; allowed: a whole number from 1 to 10^12, as 300000, 300k, 2M or 1e6",
        ),
    ],
)
def test_mistakes_in_odds_and_plan(words, line):
    assert refused(*words) == line


# --- compare, skill, strategies ------------------------------------------------------------------------------------


def test_compare_ranks_strategies(tmp_path):
    """At this seed the gap between the two is six times its interval, so chance does not decide."""
    words = ("compare", "--strategy", "dump-faces", "--strategy", "random", "--hands", "4k")
    (section,) = answer(*words)["players"]
    assert [row["strategy"] for row in section["standings"]] == ["dump-faces", "random"]
    assert section["best_set"] == ["dump-faces"]
    table = ochos(*words).stdout
    assert table.startswith("2 players\n\nBest: dump-faces wins ")
    assert "Surely worse: random" in table
    payoffs = tmp_path / "pay.csv"
    ochos(*words, "--out", tmp_path / "out", "--payoffs", payoffs)
    assert payoffs.read_text().startswith("strategy,dump-faces,random\n")
    assert {path.name for path in (tmp_path / "out").iterdir()} >= {"standings.csv", "pairs.parquet", "report.html"}
    assert "dump-faces is best" in (tmp_path / "out" / "report.html").read_text("utf-8")
    again = ochos(*words, "--out", tmp_path / "out")
    assert "already finished: taken from" in again.stderr


def test_compare_against_a_field_until_a_test_decides():
    told = answer("compare", "--field", "random", "--strategy", "sensible", "--sprt", "1%", "--players", 3)
    assert (told["mode"], told["field"]) == ("field", "random")
    (test,) = told["players"][0]["tests"]
    assert (test["strategy"], test["answer"]) == ("sensible", "better")


def test_compare_checks_itself():
    lines = ochos("compare", "--self-test").stdout.splitlines()
    assert len(lines) >= 8
    assert all(line.startswith("pass  ") for line in lines if line[:1].strip() and "copies" in line)


@pytest.mark.parametrize(
    ("words", "line"),
    [
        (["--strategy", "random"], "1 strategy is given; allowed: two or more to compare"),
        (["--field", "random", "--together"], "--together and --field are given; allowed: one of them"),
        (["--payoffs", "pay.txt"], "--payoffs is 'pay.txt'; allowed: a file whose name ends in .csv or .npz"),
        (
            ["--sprt", "1%", "--precision", "1%"],
            "a precision and a sequential test are given; allowed: one rule to stop",
        ),
    ],
)  # fmt: skip
def test_mistakes_in_compare(words, line):
    assert refused("compare", *words, "--hands", "100") == line


def test_skill_tells_hands_until_the_better_is_ahead(tmp_path):
    words = ("skill", "--hands", "8k", "--vary", "actions")
    told = answer(*words)["players"][0]
    assert {row["rules"] for row in told["ranking"]} == {"ochos-locos", "ochos-locos+actions"}
    assert "sensible is better than random" in ochos(*words).stdout
    ochos(*words, "--out", tmp_path)
    assert (tmp_path / "figures" / "split-2-players.svg").exists()
    assert refused("skill", "--strategy", "random", "--strategy", "random") == (
        "strategy random is given twice; allowed: two that differ"
    )


def test_a_strategy_of_ones_own_from_new_to_played(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "ochos-sim strategies check cli_bot.py" in ochos("strategies", "new", "cli-bot").stdout
    assert "nothing found" in ochos("strategies", "check", "cli_bot.py").stdout
    told = answer("simulate", "--players", 2, "--strategy", "cli_bot.py:hold=2", "--strategy", "random", *FEW)
    assert told["strategies"][0]["strategy"] == "cli_bot.py:cli-bot:hold=2"
    assert len(told["lineup"][0]["source"]) == 64
    (tmp_path / "bad.py").write_text("def play(view):\n    return 999\n")
    checked = ochos("strategies", "check", "bad.py", code=1)
    assert "answered 999" in checked.stdout
    assert "ochos-sim trace" in checked.stdout


# --- Grids: line-ups, confirmation, saved results, batch files -------------------------------------------------------

SURE = ("fairness", "--vary", "draw-until-playable", "--players", 3, "--hands", "40k", "--quiet")
"""A comparison with a sure winner, which a fresh seed confirms."""


def test_a_part_for_each_line_up():
    words = ("--vary", "actions", "--players", "2-3", "--lineup", "random", "--lineup", "sensible,random", *FEW)
    told = answer("fairness", *words)
    assert [(len(part["lineup"]), part["lineup"][0]["strategy"]) for part in told["players"]] == [
        (2, "random"),
        (2, "sensible"),
        (3, "random"),
    ]
    assert told["lineup"] == []
    assert told["lineups"] == [[{"strategy": "random"}], [{"strategy": "sensible"}, {"strategy": "random"}]]
    seats = ("--players", 2, "--strategy", "sensible", "--strategy", "random")
    alone = answer("fairness", "--vary", "actions", *seats, *FEW)
    assert told["players"][1]["ranking"] == alone["players"][0]["ranking"]
    text = ochos("fairness", *words).stdout
    assert text.startswith("No rule set is surely the fairest for 2 and 3 players (all random) and 2 players (")
    assert "2 players, sensible, random\n" in text
    assert "what differs" in text
    assert "## 3 players, 3 × random\n" in ochos("fairness", *words, "--format", "md").stdout


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--lineup", "random", "--strategy", "random"], "--strategy and --lineup are given; allowed: one of them"),
        (["--lineup", "random,"], "--lineup is 'random,'; allowed: one strategy for all seats, or one a seat"),
        (["--lineup", "random,sensible"], "line-up random, sensible has 2 seats; allowed: one strategy for all seats"),
        (["--lineup", "random", "--lineup", "randm"], "no strategy is called 'randm'; did you mean random?"),
        (["--measure", "stuck"], "measure 'stuck' is not told of a rule set as a whole"),
    ],
)
def test_line_ups_that_are_refused(words, said):
    assert said in refused("fairness", *words)


def test_commas_between_parameters_part_no_line_up():
    assert split_lineup("tips:hold=1,give=2, random,hoard-eights:hold=2") == [
        "tips:hold=1,give=2",
        "random",
        "hoard-eights:hold=2",
    ]


def test_measures_that_are_asked_for():
    told = answer("fairness", "--measure", "stuck_per_hand", "--measure", "median_turns", *FEW)
    row = told["players"][0]["ranking"][0]
    assert is_estimate(row["stuck_per_hand"])
    assert is_estimate(row["median_turns"])
    assert "turns_per_hand" not in row
    assert "turns a hand stuck" in ochos("fairness", "--measure", "stuck_per_hand", *FEW).stdout


def test_a_winner_meets_its_closest_rival_at_a_fresh_seed():
    (section,) = answer(*SURE)["players"]
    again = section["confirmation"]
    assert section["confirmed"] is True
    assert (again["rules"], again["rival"]) == ("ochos-locos+draw-until-playable", "ochos-locos")
    assert (again["seed"], again["blocks"]) == (2, 40_000)
    assert "Confirmed at a fresh seed (2, 40,000 deals): ochos-locos, its closest rival, has" in section["verdict"]
    # it is what the next seed says, and the first answer is as it was
    (fresh,) = answer(*SURE, "--seed", 2)["players"]
    (spread,) = [row["spread"] for row in fresh["ranking"] if row["rules"] == again["rules"]]
    difference = fresh["differences"][0]
    for found, told in ((spread, again["spread"]), (difference, again["difference"])):
        # but for the order of the two in the sampling behind the intervals
        assert {key: found[key] for key in told} == pytest.approx(told, abs=5e-4)
    (without,) = answer(*SURE, "--no-confirm")["players"]
    assert (without["confirmed"], without["confirmation"]) == (None, None)
    assert without["ranking"] == section["ranking"]
    rows = csv.DictReader(io.StringIO(ochos(*SURE, "--format", "csv").stdout))
    assert {row["confirmed"] for row in rows} == {"yes"}


def test_the_seed_after_the_largest_is_the_first():
    (section,) = answer(*SURE, "--seed", 2**64 - 1)["players"]
    assert section["confirmation"]["seed"] == 0


def test_without_a_winner_there_is_nothing_to_confirm():
    told = answer("fairness", "--vary", "no-eight-on-eight", *FEW)
    assert [(part["confirmed"], part["confirmation"]) for part in told["players"]] == [(None, None)]


def test_a_confirmation_that_was_interrupted_goes_on(tmp_path, monkeypatch):
    ochos(*SURE, "--out", tmp_path / "whole")
    contexts, chunks = itertools.count(), itertools.count()

    @contextmanager
    def interruptible():
        confirming = next(contexts) == 3  # after compiling and playing, twice
        yield lambda: confirming and next(chunks) >= 2

    with monkeypatch.context() as patch:
        patch.setattr(playing, "interruptible", interruptible)
        result = ochos(*SURE, "--out", tmp_path / "broken", code=130)
    assert "To go on:" in result.stderr
    assert set(contents(tmp_path / "broken")) == {"experiment.toml"}
    ochos(*SURE, "--out", tmp_path / "broken")
    assert contents(tmp_path / "broken") == contents(tmp_path / "whole")


@pytest.mark.parametrize("strategy", ["random", "suit-counting"])
def test_scoring_alone_is_not_played_again(strategy, monkeypatch):
    words = ("fairness", "--vary", "score.style=winner-collects", "--vary", "blocked.score=void,own-hand", "--strategy")
    found = []
    real = sim.batch.leads
    monkeypatch.setattr(sim.batch, "leads", lambda plan: found.append(real(plan).tolist()) or real(plan))
    settled = answer(*words, strategy, *FEW)
    assert found[-1] == [0, 0, 0, 0]
    monkeypatch.setattr(playing, "is_blind_lineup", lambda lineup: False)
    played = answer(*words, strategy, *FEW)
    assert found[-1] == [0, 1, 2, 3]
    assert without_time(settled) == without_time(played)


REPORTED = {
    "a grid": (*SURE, "--lineup", "random", "--lineup", "random,sensible,random"),
    "precise": ("fairness", "--vary", "actions", "--precision", "5%", "--players", "2,4", "--measure", "capped"),
    "matches": ("simulate", "--matches", 40, "--players", 3, "--forget-last-card", "0.1"),
    "strategies": ("compare", "--hands", 400, "--strategy", "random", "--strategy", "sensible"),
    "skill": ("skill", "--hands", 1000),
}


@pytest.mark.parametrize("words", REPORTED.values(), ids=REPORTED)
def test_a_report_is_made_again_from_what_was_counted(tmp_path, monkeypatch, words):
    shown = ochos(*words, "--out", tmp_path, "--format", "csv").stdout
    before = contents(tmp_path)
    for path in tmp_path.rglob("*"):
        if path.is_file() and path.name not in ("experiment.toml", "chunks.npz", "state.json"):
            path.unlink()
    if words[0] in ("fairness", "simulate"):  # others play some hands again; of these only the story is told again
        monkeypatch.setattr(sim.batch._Prepared, "play", None)
    assert ochos("report", tmp_path, "--format", "csv").stdout == shown
    assert contents(tmp_path) == before


def test_reports_that_cannot_be_made(tmp_path, monkeypatch):
    assert refused("report", tmp_path / "none") == (
        f"{tmp_path / 'none'}: no such folder; allowed: a results folder, as --out made it"
    )
    assert refused("report", tmp_path) == f"{tmp_path}: no results folder, as it holds no experiment.toml"
    part = tmp_path / "part"
    with monkeypatch.context() as patch:
        interrupt_after(patch, 3)
        ochos("simulate", "--hands", 1000, "--out", part, code=130)
    assert refused("report", part) == (
        f"{part}: 4 players: 300 of 1,000 deals are played; to go on: ochos-sim simulate --rules ochos-locos "
        f"--players 4 --strategy random --hands 1000 --seed 1 --out {part}"
    )
    ochos("simulate", "--hands", 1000, "--out", part, "--quiet")
    file = part / "experiment.toml"
    other = file.read_text().replace('version = "', 'version = "9.')
    file.write_text(other)
    ochos("report", part, "--quiet")
    assert "ochos-sim 9." in (part / "report.md").read_text()
    file.write_text(other.replace("notice_rate = 1.0", "notice_rate = 1.0\nmatches = 0"))
    assert "in another form than that of" in refused("report", part)


def test_a_report_of_strategies_that_have_changed_is_refused(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    bot = tmp_path / "bot.py"
    bot.write_text("import ochos_sim\n\n\ndef play(view):\n    return ochos_sim.toolkit.pick(view, view.playable)\n")
    words = ("--strategy", "bot.py", "--strategy", "first-legal", "--hands", 200, "--players", 2, "--quiet", "--out")
    ochos("compare", *words, tmp_path / "compared")
    ochos("simulate", *words, tmp_path / "played")
    bot.write_text(bot.read_text() + "# other\n")
    assert "bot.py:play is no longer what was played" in refused("report", tmp_path / "compared")
    bot.unlink()
    assert "bot.py" in ochos("report", tmp_path / "played", "--quiet").stdout


BATCH = """
title = "Two"

[[experiment]]
name = "grid"
title = "Which is fairer?"
vary = "actions"
players = [2]
hands = 300

[[experiment]]
verb = "compare"
strategies = ["random", "first-legal"]
hands = 200
"""


def test_a_batch_answers_one_after_the_other(tmp_path, monkeypatch):
    file = tmp_path / "two.toml"
    file.write_text(BATCH)
    assert refused("batch", file) == (f'{file} names no folder; allowed: out = "results/…" at its top, or --out DIR')
    text = ochos("batch", file, "--out", tmp_path / "whole", "--quiet").stdout
    assert text.startswith("Which is fairer?\n\nWhich house rule of ochos-locos is fairest for 2 players?\n")
    assert "2-compare\n\nWhich strategy is better" in text
    whole = contents(tmp_path / "whole")
    assert {name.partition("/")[0] for name in whole} == {
        "grid", "2-compare", "experiments.txt", "results.csv", "results.parquet",
    }  # fmt: skip
    rows = pd.read_csv(tmp_path / "whole" / "results.csv")
    assert list(rows.columns[:2]) == ["experiment", "scenario"]
    assert list(dict.fromkeys(rows["experiment"])) == ["grid", "2-compare"]
    alone = ochos("fairness", "--vary", "actions", "--players", 2, "--hands", 300, "--out", tmp_path / "alone")
    assert alone.stdout
    own = {name.removeprefix("grid/"): content for name, content in whole.items() if name.startswith("grid/")}
    assert own == contents(tmp_path / "alone")
    with monkeypatch.context() as patch:
        interrupt_after(patch, 8, 100)
        broken = ochos("batch", file, "--out", tmp_path / "broken", "--quiet", code=130)
    assert f"ochos-sim batch {file} --out {tmp_path / 'broken'} --quiet" in broken.stderr
    found = json.loads(ochos("batch", file, "--out", tmp_path / "broken", "--format", "json", "--quiet").stdout)
    assert [one["experiment"] for one in found] == ["grid", "2-compare"]
    assert contents(tmp_path / "broken") == whole
    for path in (tmp_path / "broken").glob("*/report.html"):
        path.unlink()
    assert json.loads(ochos("report", tmp_path / "broken", "--format", "json").stdout)[1]["experiment"] == "2-compare"
    assert contents(tmp_path / "broken") == whole
    file.write_text(BATCH.replace("hands = 300", "hands = 301"))
    assert "belongs to another experiment (hands: 300 there, 301 here)" in refused(
        "batch", file, "--out", tmp_path / "whole"
    )


def test_a_batch_with_a_mistake_plays_nothing(tmp_path):
    file = tmp_path / "two.toml"
    file.write_text(BATCH.replace('"first-legal"', '"first-leagl"'))
    assert refused("batch", file, "--out", tmp_path / "out") == (
        f"{file}: line 13: no strategy is called 'first-leagl'; did you mean first-legal?"
    )
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("file", sorted((ROOT / "examples").glob("*.toml")), ids=lambda path: path.stem)
def test_the_examples_work(tmp_path, monkeypatch, file):
    """As they are, but for fewer hands; tables, figures and pages are tried elsewhere."""
    text = re.sub(r"^(hands|matches) = .*$", r"\1 = 1000", file.read_text("utf-8"), flags=re.MULTILINE)
    assert 'out = "results/' in text
    (tmp_path / file.name).write_text(text)
    monkeypatch.setattr(batches, "write", lambda answered, out: None)
    told = json.loads(
        ochos("batch", tmp_path / file.name, "--out", tmp_path / "out", "--format", "json", "--quiet").stdout
    )
    assert all(one["version"] for one in told)
