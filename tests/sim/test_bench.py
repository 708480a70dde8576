"""`sim.bench`: rows are complete and the arithmetic is right. How fast anything is, is none of a test's business."""

import os
import sys
from pathlib import Path

import numpy as np
import pytest

from sim import bench as module
from sim.bench import PARTS, PLAYERS, RULES, BenchError, Sizes, bench, machine
from sim.rules import TIMES
from sim.table import CREW
from strategies.registry import Player, StrategyError, crew_record, find

TINY = Sizes(hands=40, thread_hands=80, small=50, large=60, repeats=1, pairs=1, starts=1)
STRATEGIES = ("random", "first-legal", "dump-faces")


def crew_of(names):
    return crew_record([Player(find(name)) for name in names])


def no_crew(names):
    raise AssertionError("nothing is played in this process")


def program(path, text):
    path.write_text(f"#!{sys.executable}\n{text}")
    path.chmod(0o755)
    return path


@pytest.fixture
def fake(tmp_path):
    """A stand-in for `ochos-sim` that plays nothing: `{cheat}` is the place for what it does wrong."""

    def make(cheat=""):
        code = f"""
import json, os, pathlib, sys
hands = 0
if "--help" in sys.argv:
    answer = "simulate fairness"
else:
    hands = int(sys.argv[sys.argv.index("--hands") + 1])
    answer = json.dumps({{"hands": hands}})
    engine = pathlib.Path(os.environ.get("NUMBA_CACHE_DIR", "."), "batch._hands_chunk-1.nbc")
    if not engine.exists():
        print("compiling the engine", file=sys.stderr)
        engine.write_text("")
{cheat}
print(answer)
"""
        return [str(program(tmp_path / "ochos-sim", code))]

    return make


@pytest.fixture(autouse=True)
def _own_folder(tmp_path, monkeypatch):
    """Whatever a stand-in writes goes where it does no harm."""
    monkeypatch.chdir(tmp_path)


def by_what(rows):
    return {(row.part, row.what, row.unit): row for row in rows}


def test_engine_rows_are_complete():
    """Players, rules and strategies by hands and turns, each strategy against random, threads: all there, all said."""
    heard = []
    parts = ("speed", "scripted", "threads")
    rows = bench(crew_of, strategies=STRATEGIES, parts=parts, sizes=TINY, progress=heard.append)
    speed = [row for row in rows if row.part == "speed"]
    games = len(PLAYERS) + len(RULES) - 1 + len(STRATEGIES) - 1
    assert len(speed) == games * len({1, machine().cores}) * 2
    for players in PLAYERS:
        assert any(row.what.startswith(f"{players} players, ochos-locos, random, 1 thread") for row in speed)
    for name in (*RULES, *STRATEGIES):
        assert any(f", {name}, " in row.what for row in speed)
    scripted = [row for row in rows if row.part == "scripted"]
    assert [row.what.split(", ")[1] for row in scripted] == ["first-legal : random", "dump-faces : random"]
    assert {row.bar for row in scripted} == {f"≤ 1.3 {TIMES}"}
    threads = next(row for row in rows if row.part == "threads")
    assert (threads.bar, threads.met is None) == (f"≥ 1.8 {TIMES}", machine().cores == 1)
    assert heard
    for row in rows:
        assert np.isfinite(row.value)
        assert row.value > 0
        assert (row.met is None) or (row.bar is not None)
        assert " hands, median of 1" in row.note
    assert len(by_what(rows)) == len(rows)


def test_hands_and_turns_are_of_the_same_run():
    rows = bench(crew_of, strategies=("random",), parts=["speed"], sizes=TINY)
    for hands, turns in zip(rows[::2], rows[1::2], strict=True):
        assert (hands.unit, turns.unit) == ("hands/s", "turns/s")
        said = float(hands.note.split("; ")[1].split()[0])
        assert turns.value / hands.value == pytest.approx(said, abs=0.051)


def test_floor_ratio_is_the_median_of_the_pairs(tmp_path, monkeypatch):
    """Engine 30 ns a turn against 10, 20, 60, 30, 15: ratios 3, 1.5, 0.5, 1, 2, whose median is 1.5."""
    floor = program(
        tmp_path / "floor",
        """
import json, pathlib, sys
asked = pathlib.Path("asked")
with asked.open("a") as file:
    print(*sys.argv[1:], file=file)
ns = [999, 10, 20, 60, 30, 15][len(asked.read_text().splitlines()) - 1]  # the first is the look whether it runs
print(json.dumps({"players": 4, "hands_per_second_one_core": 1, "turns_per_hand": 40.0, "ns_per_turn": ns, "wins": []}))
""",
    )
    played = []

    def play(plan, threads):
        played.append((plan.blocks, threads, plan.scenarios[0].names))
        return module._Played(plan.blocks, plan.blocks * 50, plan.blocks * 50 * 30e-9)

    monkeypatch.setattr(module, "_play", play)
    monkeypatch.setattr(module, "compile_engine", lambda plan: None)
    rows = bench(lambda names: np.zeros((), CREW), parts=["floor"], floor="floor", sizes=Sizes(hands=700))
    assert floor.parent == Path.cwd()
    assert [(row.value, row.unit) for row in rows] == [
        (pytest.approx(1.5), TIMES),
        (pytest.approx(30), "ns/turn"),
        (20, "ns/turn"),
    ]
    assert (rows[0].bar, rows[0].met) == (f"≤ 1.5 {TIMES}", True)
    assert "700 hands, median of 5 runs in turn; 50.0 turns a hand, floor 40.0" in rows[0].note
    assert Path("asked").read_text().splitlines() == ["4 1 1"] + ["4 700 1"] * 5
    assert played[1:] == [(700, 1, ("random",) * 4)] * 5


def test_floor_that_runs_is_measured_with_the_real_engine(tmp_path):
    line = '{"players": 4, "turns_per_hand": 30.5, "ns_per_turn": 25.0}'
    floor = program(tmp_path / "floor", f"print('{line}')")
    rows = bench(crew_of, parts=["floor"], floor=floor, sizes=TINY)
    ratio, engine, base = rows
    assert base.value == 25
    assert ratio.value == pytest.approx(engine.value / 25)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("print('hello')", "printed 'hello', not a line of JSON with players (4), ns_per_turn and turns_per_hand"),
        ("print('[1, 2]')", "not a line of JSON"),
        ("print('{\"players\": 4}')", "not a line of JSON"),
        ('print(\'{"players": 2, "ns_per_turn": 25, "turns_per_hand": 30}\')', "not a line of JSON"),
        ('print(\'{"players": 4, "ns_per_turn": 0, "turns_per_hand": 30}\')', "not a line of JSON"),
        ('print(\'{"players": 4, "ns_per_turn": NaN, "turns_per_hand": 30}\')', "not a line of JSON"),
        ("", "printed ''"),
        ("print('x' * 10_000)", "x…', not a line"),
        ("import sys; print('usage: me', file=sys.stderr); sys.exit(3)", "ended with 3; usage: me"),
        ("import sys; sys.exit(1)", "ended with 1; it says nothing"),
    ],
)
def test_floor_that_talks_nonsense(tmp_path, text, says):
    floor = program(tmp_path / "floor", text)
    assert_error(says, no_crew, parts=["floor"], floor=floor)


def test_floor_that_cannot_run(tmp_path):
    assert_error("floor none: there is no such file", no_crew, parts=["floor"], floor="none")
    assert_error("ermission denied; it has to be a compiled program: cc -O3", no_crew, parts=["floor"], floor=tmp_path)
    source = tmp_path / "floor.c"
    source.write_text("int main(void) {}")
    assert_error("ermission denied; it has to be a compiled program: cc -O3", no_crew, parts=["floor"], floor=source)
    source.chmod(0o755)
    assert_error("xec format error; it has to be a compiled program", no_crew, parts=["floor"], floor=source)


def test_floor_that_hangs(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "FLOOR_SECONDS", 0.2)
    floor = program(tmp_path / "floor", "import time; time.sleep(60)")
    assert_error("floor: not done after 0.2 s", no_crew, parts=["floor"], floor=floor)


def test_command_rows(fake):
    parts = ("memory", "startup", "compile")
    rows = by_what(bench(no_crew, strategies=STRATEGIES, parts=parts, command=fake(), sizes=TINY))
    assert [(part, what, row.bar) for (part, what, _), row in rows.items()] == [
        ("startup", "ochos-sim --help", "≤ 0.4 s"),
        ("startup", "ochos-sim simulate --hands 1000, compiled before", "≤ 2 s"),
        ("compile", "ochos-sim simulate --hands 1000, the first run ever", "≤ 30 s"),
        ("compile", "a later run with other rules", "engine from the cache"),
        ("compile", "a later run with another strategy", "engine from the cache"),
        ("memory", "50 hands", None),
        ("memory", "60 hands", "< 400 MB"),
        ("memory", "60 hands : 50", f"≤ 1.1 {TIMES}"),
    ]
    assert all(row.value > 0 for row in rows.values())
    first = rows["compile", "ochos-sim simulate --hands 1000, the first run ever", "s"]
    assert first.note == "one run; it says: compiling the engine"
    assert rows["compile", "a later run with another strategy", "s"].met
    assert (
        "--rules crazy-eights-actions; engine from the cache"
        in rows["compile", "a later run with other rules", "s"].note
    )


def test_memory_is_the_commands_own(fake):
    """This process, with numba in it, is large; a small command started from it must not look as large."""
    held = bytearray(os.urandom(1)) * 150_000_000
    more = 'more = b"x" * (60_000_000 if hands == 60 else 0)'
    small, large, ratio = bench(no_crew, parts=["memory"], command=fake(more), sizes=TINY)
    assert len(held) > 100e6 > small.value * 1e6
    assert large.value - small.value == pytest.approx(60, abs=15)
    assert ratio.value == pytest.approx(large.value / small.value)
    assert ratio.met is False
    assert large.met is True


def test_compiling_again_or_in_silence_does_not_meet_the_bar(fake):
    again = 'import time; time.sleep(0.01); hands and engine.write_text("")'
    rows = bench(no_crew, strategies=STRATEGIES, parts=["compile"], command=fake(again), sizes=TINY)
    assert [row.met for row in rows[1:]] == [False, False]
    assert rows[1].note.endswith("engine compiled again")
    silent = fake('engine.with_name("batch.other").write_text("")')
    Path(silent[0]).write_text(Path(silent[0]).read_text().replace("compiling the engine", "hm"))
    first = bench(no_crew, strategies=STRATEGIES, parts=["compile"], command=silent, sizes=TINY)[0]
    assert (first.met, first.note) == (False, "one run; it does not say that it compiles")


@pytest.mark.parametrize(
    ("part", "cheat", "says"),
    [
        ("startup", "answer = ''", "--help` does not show the verbs"),
        ("startup", "sys.exit('broken' if hands else 0)", "--help` does not show the verbs"),
        ("startup", "hands and sys.exit('broken')", "--format json` ended with 1; broken"),
        ("memory", "answer = 'not JSON'", "did not print its result as JSON"),
        ("memory", "answer = '[]'", "did not print its result as JSON"),
        ("memory", "answer = json.dumps({'hands': 7})", "was asked for 1,000 hands and says it played 7"),
        ("compile", "engine.unlink()", "left no compiled engine in its cache"),
    ],
)
def test_work_that_was_not_done(fake, part, cheat, says):
    assert_error(says, no_crew, parts=[part], command=fake(cheat), sizes=TINY)


def test_command_that_is_not_there(monkeypatch):
    assert_error("could not be run: FileNotFoundError", no_crew, parts=["startup"], command=["./none"], sizes=TINY)
    monkeypatch.setattr(sys, "executable", "/nowhere/python")
    monkeypatch.setenv("PATH", "")
    assert_error("the command ochos-sim is not installed", no_crew, parts=["startup"], sizes=TINY)


def test_hands_that_are_missing(monkeypatch):
    plan = module._Measurement(crew_of, STRATEGIES, TINY, print)._usual(40)
    short = module.run(module._Measurement(crew_of, STRATEGIES, TINY, print)._usual(39))
    monkeypatch.setattr(module, "run", lambda plan, threads: short)
    with pytest.raises(BenchError, match="40 hands were asked for, 39 were counted"):
        module._play(plan, 1)
    short.stopped = "interrupted"
    with pytest.raises(KeyboardInterrupt):
        module._play(plan, 1)


def test_parts():
    assert_error("bench has no part 'memry'; did you mean memory?", no_crew, parts=["memry"])
    assert_error("there are: floor, speed,", no_crew, parts=["zzz"])
    assert_error("needs the path of a compiled floor program", no_crew, parts=["floor"])
    assert module._parts(None, None) == [part for part in PARTS if part != "floor"]
    assert module._parts(None, "x") == list(PARTS)
    assert module._parts(["memory", "speed"], "x") == ["floor", "speed", "memory"]


def test_a_case_of_speed_is_one_record_and_the_usual_one_a_sentence():
    rows = bench(crew_of, strategies=("random",), parts=["speed"], sizes=TINY)
    records = module.speeds(rows)
    assert len(records) * 2 == len(rows)
    assert all(record["hands/s"] and record["turns/s"] for record in records)
    said = module.headline(rows)
    assert said.startswith("About ")
    assert " hands a second on one thread" in said
    assert said.endswith("for 4 random players under ochos-locos.")
    assert module.headline([]) == ""


def test_only_scripts_have_a_bar():
    rows = bench(crew_of, strategies=("random", "hoard-eights", "suit-counting"), parts=["scripted"], sizes=TINY)
    assert [row.bar is None for row in rows] == [False, True]


def test_unknown_strategy():
    with pytest.raises(StrategyError, match="did you mean random"):
        bench(crew_of, strategies=["randm"], parts=["speed"], sizes=TINY)


def test_shown():
    def shown(value, unit):
        return module._row("speed", "", value, unit, "").shown

    assert shown(654321.4, "hands/s") == "654,321 hands/s"
    assert shown(1.0749, TIMES) == f"1.07 {TIMES}"
    assert shown(0.3149, "s") == "0.315 s"
    assert shown(213.2, "MB") == "213 MB"
    assert shown(99.99, "s") == "100 s"


def test_machine():
    here = machine()
    assert here.cores >= 1
    assert all(part in here.line for part in (here.cpu, here.python, here.numba, here.numpy))


def assert_error(says, *args, **options):
    with pytest.raises(BenchError) as caught:
        bench(*args, **options)
    assert says in str(caught.value)
    assert "\n" not in str(caught.value)
