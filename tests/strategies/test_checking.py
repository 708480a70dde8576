"""Each kind of bad plug-in is found and told in a line; good ones are not blamed.

What only plays is checked in this process, as `check_strategy` does it in another one, which is tried with those that
hang, crash or cannot be had.
"""

import json
import re
import shlex

import numpy as np
import pytest
from typer.testing import CliRunner

from cli import app
from sim.rules import changes_of, load, preset_names
from strategies import checking, loading
from strategies.checking import CheckFailed, check_strategy
from strategies.registry import StrategyError, built_in

BAD = """
import numpy as np
from numpy.random import randint
from ochos_sim import strategy, toolkit

SEEN = np.zeros(1, np.int64)

def illegal(view):
    return toolkit.lowest_card(view.hand)

def raises(view):
    if view.players > 2:
        raise ValueError("lost the thread")
    return toolkit.lowest_card(view.playable)

def by_chance(view):
    return toolkit.nth_card(view.playable, np.random.randint(toolkit.count_cards(view.playable)))

def seldom_by_chance(view):
    return toolkit.lowest_card(view.playable) if view.turn < 100000 else randint(64)

def changes(view):
    view.counts[1] = 1
    return toolkit.lowest_card(view.playable)

def looks_further(view):
    beyond = view.effects[20 + view.turn]
    return toolkit.nth_card(view.playable, (beyond & 0xFF) % toolkit.count_cards(view.playable))

def writes_further(view):
    view.effects[20] = 1
    return toolkit.lowest_card(view.playable)

def first(view):
    return toolkit.lowest_card(view.playable)

@strategy("fifth", idea="errs", suit=lambda view: 4)
def fifth(view):
    wilds = view.playable & view.wilds
    return toolkit.lowest_card(wilds if wilds else view.playable)

@strategy("perhaps", idea="errs", stop=lambda view: 2)
def perhaps(view):
    return toolkit.lowest_card(view.playable)

@strategy("good", idea="plays well", params={"hold": 1, "risk": 0.5, "lead": ("low", "high")})
def good(view, hold, lead):
    cards = view.playable if hold else toolkit.plain_first(view, view.playable)
    return toolkit.lowest_card(cards) if lead else toolkit.pick(view, cards)
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading, "_loaded", {})
    monkeypatch.setattr(loading, "_labels", {})
    (tmp_path / "bad.py").write_text(BAD, "utf-8")
    return tmp_path


@pytest.fixture
def found_in(place, monkeypatch):
    """Check a strategy in this process: what is told, and how many hands and answers it took; no clock decides."""
    cases = checking._cases()

    def found(spec, most=90):
        monkeypatch.setattr(checking, "_cases", lambda: cases[:most])
        np.zeros(checking._DESK_WORDS, np.int64).tofile(place / "desk")
        checking._play_all(spec, str(place), "inf")
        told = [json.loads(line) for line in (place / "found").read_text("utf-8").splitlines()]
        (place / "found").unlink()
        assert "done" in told[-1]
        desk = np.fromfile(place / "desk", np.int64)
        played = int(desk[checking._HANDS]), int(desk[checking._ANSWERS])
        return [(one["text"], one["command"]) for one in told if "text" in one], played

    return found


@pytest.mark.parametrize(
    ("name", "says"),
    [
        ("illegal", r"asked what to play, answered \d+ \(\w+\) \(allowed: .*\)"),
        ("raises", r"asked what to play, raised ValueError \(lost the thread\) in line 13"),
        ("fifth", r"asked which suit to declare, answered 4 \(allowed: 0 to 3\)"),
        ("perhaps", r"asked whether to stop the hand, answered 2 \(allowed: 0 or 1\)"),
        ("by_chance", r"asked what to play, answered .* on the same view, so it draws by chance or remembers; .*"),
        ("changes", r"asked what to play, changed counts in the view"),
        ("looks_further", r"asked what to play, answered .* elsewhere in memory, so it reads what is not in the view"),
        ("writes_further", r"asked what to play, wrote into memory outside the view"),
    ],
)
def test_bad_plugins(found_in, name, says):
    """One line each, with seed, game, hand and turn, and the command that shows the hand."""
    told, _ = found_in(f"bad.py:{name}")
    texts = [text for text, _ in told]
    where = r": seed 1, game \d+, hand 1, turn \d+"
    matching = [number for number, text in enumerate(texts) if re.fullmatch(rf".*\(seat \d\), {says}{where}", text)]
    assert matching, texts
    assert all(text.startswith(f"strategy bad.py:{name} (seat ") and "\n" not in text for text in texts)
    command = told[matching[0]][1]
    assert command.startswith("ochos-sim trace --rules ")
    assert f"--strategy bad.py:{name}" in command
    if name not in ("by_chance",):
        assert len(texts) == 1


def test_chance_that_is_seldom_drawn_is_found_in_the_code(found_in):
    told, _ = found_in("bad.py:seldom_by_chance", 5)
    assert [text.partition(";")[0] for text, _ in told] == ["strategy bad.py:seldom_by_chance uses numpy.random"]


@pytest.mark.parametrize("spec", ["bad.py:good", "bad.py:good:hold=0,lead=high", "bad.py:first", "random", "dump-high"])
def test_good_ones_are_not_blamed(found_in, spec):
    told, played = found_in(spec)
    assert told == []
    assert played[0] > 20
    assert played[1] > 100


def test_the_command_shows_the_fault(found_in):
    """What a finding says to run ends in the very fault."""
    ((text, command),), _ = found_in("bad.py:illegal", 5)
    result = CliRunner().invoke(app, shlex.split(command)[1:])
    assert result.exit_code == 1
    assert text in result.stderr


def test_all_of_a_strategy_is_asked(found_in, monkeypatch):
    """Plays with and without a penalty pending, passes, draws, suits also before the first turn, and stops."""
    views = []
    keep = checking._Table.look

    def look(table, case, t, names, status):
        views.append((int(table.desk[checking._QUESTION]), checking._kept_view(table.desk)[0].copy(), case))
        keep(table, case, t, names, status)

    monkeypatch.setattr(checking._Table, "look", look)
    found_in("bad.py:good", 600)
    plays = [view for question, view, _ in views if question == 0]
    assert {question for question, *_ in views} == {0, 1, 2}
    assert any(view["pending"] for view in plays)
    assert any(view["may_draw"] and not view["pending"] for view in plays)
    assert any(view["may_pass"] for view in plays)
    assert any(view["any_card"] for view in plays)
    assert any(view["taken"] for view in plays)
    assert any(view["packs"] == 2 for view in plays)
    assert any(view["totals"].any() for view in plays)
    assert {int(view["players"]) for view in plays} == set(range(2, 8))
    assert {(int(view["players"]), int(view["position"])) for view in plays} >= {
        (n, p) for n in (2, 7) for p in range(n)
    }


def test_cases_are_valid_and_hold_all_rules():
    """Each rule set loads, and can be played by some number of players; all presets and changes are there."""
    cases = checking._cases()
    rule_sets = {(case.rules, tuple(one for one in case.sets if not one.startswith("players."))) for case in cases}
    for rules, sets in rule_sets:
        load(rules, sets)
    names = {rules for rules, _ in rule_sets}
    assert set(preset_names()) <= names
    changes = {change.name for preset in preset_names() for change in changes_of(preset) if change.own}
    assert changes == {name.partition("+")[2] for name in names} - {""}
    assert {sets for _, sets in rule_sets} == {(), *checking.CORNERS}
    playable = {
        (case.rules, tuple(one for one in case.sets if not one.startswith("players.")))
        for case in cases
        if checking._rule_records(case.rules, case.sets, case.players, case.match) is not None
    }
    assert playable == rule_sets


# --- In a process of its own ------------------------------------------------------------------------------------------

LOOPS = """
from ochos_sim import toolkit

def play(view):
    cards = view.playable
    while cards:
        card = toolkit.lowest_card(cards)
        if view.turn < 6:
            cards = toolkit.without(cards, card)
    return card
"""


def test_an_endless_loop_is_ended_and_its_line_told(place, monkeypatch):
    monkeypatch.setattr(checking, "PATIENCE", 1.0)
    (place / "loops.py").write_text(LOOPS, "utf-8")
    checked = check_strategy("loops.py", seconds=1)
    (finding,) = checked.findings
    assert re.fullmatch(
        r"strategy loops.py:play \(seat \d\), asked what to play, gave no answer within 1 s, it goes round in "
        r"loops.py, line [6-8]: .*: seed 1, game \d+, hand 1, turn \d+: ochos-sim trace .* --strategy loops.py.*",
        finding.line,
    )


def test_a_crash_is_told(place):
    (place / "crash.py").write_text("def play(view):\n    view.counts[1 << 40] = 1\n    return 64\n", "utf-8")
    (finding,) = check_strategy("crash.py", seconds=1).findings
    assert "asked what to play, ended the whole process: seed 1, game " in finding.line


def test_all_of_a_file_is_checked(place):
    two = "from ochos_sim import strategy\n\n"
    for name, answer in (("low", 64), ("high", 1000)):
        two += f"@strategy('{name}', idea='errs')\ndef {name}(view):\n    return {answer}\n\n"
    (place / "two.py").write_text(two, "utf-8")
    checked = check_strategy("two.py", seconds=0.3)
    assert checked.strategies == ("two.py:low", "two.py:high")
    assert {finding.text[:45] for finding in checked.findings} >= {
        "strategy two.py:low (seat 1), asked what to p",
        "strategy two.py:high (seat 1), asked what to ",
    }
    assert checked.hands > 2


def test_what_cannot_be_had_is_an_error(place, monkeypatch):
    with pytest.raises(StrategyError, match=r"^bda.py: No such file or directory; did you mean bad.py\?$"):
        check_strategy("bda.py")
    monkeypatch.setattr(checking, "LOADING", 1.0)
    (place / "waits.py").write_text("while True:\n    pass\n", "utf-8")
    with pytest.raises(StrategyError, match=r"^waits.py: the file takes more than 1 s to run$"):
        check_strategy("waits.py")


def test_a_check_that_fails_itself_is_no_finding(monkeypatch):
    monkeypatch.setattr(
        checking, "_start", lambda work, *words, errors, begin=checking._start: begin(work, errors=errors)
    )
    with pytest.raises(CheckFailed, match="missing 3 required positional arguments"):
        check_strategy("random")


def test_built_in_strategies_keep_to_the_contract(found_in):
    """What a user's file is held to, a short look at each; the whole look is in test_contract."""
    for name in built_in():
        assert found_in(name, 30)[0] == []
