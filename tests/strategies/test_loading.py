"""Strategies of users' files and of installed packages: found, told apart, never stale; each mistake is one line."""

import hashlib
import importlib
import os
import sys

import pytest

from sim.compiled import content_hash
from sim.rules import load
from sim.trace import trace_hand
from strategies import loading, registry
from strategies.loading import find_installed, installed, installed_names
from strategies.registry import Player, StrategyError, all_strategies, built_in, compiled, crew_record, find

DECLARED = """
from ochos_sim import strategy, toolkit

@strategy("timid", idea="holds back", params={"hold": 1})
def play(view, hold):
    return toolkit.lowest_card(view.playable)
"""
PLAIN = """
from ochos_sim import toolkit

def play(view):
    "The lowest card."
    return toolkit.lowest_card(view.playable)
"""


@pytest.fixture(autouse=True)
def place(tmp_path, monkeypatch):
    """An empty directory to work in, and nothing known of files of other tests."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading, "_loaded", {})
    monkeypatch.setattr(loading, "_labels", {})
    return tmp_path


def write(text, name="bot.py"):
    os.makedirs(os.path.dirname(name) or ".", exist_ok=True)
    with open(name, "w", encoding="utf-8") as file:
        file.write(text)
    return name


def error_of(spec, *, play=False):
    with pytest.raises(StrategyError) as error:
        find(spec).addresses() if play else find(spec)
    assert "\n" not in str(error.value)
    return str(error.value)


# --- Files: what is found ---------------------------------------------------------------------------------------------


def test_the_only_strategy_of_a_file():
    """By the file alone, by its name, with a parameter; the same one each time."""
    write(DECLARED)
    found = find("bot.py")
    assert (found.name, found.spec, found.idea, found.values) == ("bot.py:timid", "bot.py:timid", "holds back", (1,))
    assert find("bot.py:timid") is found
    assert find("bot.py:hold=2") == find("bot.py:timid:hold=2") == found.having("hold=2")
    assert find("bot.py:hold=2").name == "bot.py:timid:hold=2"
    assert found.source == hashlib.sha256(DECLARED.encode()).hexdigest()
    assert find("random").source == ""


def test_a_plain_function_with_its_other_answers():
    write(PLAIN + "def suit(view):\n    return 2\n")
    found = find("bot.py")
    assert (found.name, found.idea, found.suit(None), found.stop(None)) == ("bot.py:play", "The lowest card.", 2, 1)
    assert find("bot.py:suit").name == "bot.py:suit"


def test_a_file_plays():
    write(DECLARED)
    players = [Player(find("bot.py:hold=2")), Player(find("random"))]
    labels = [player.label for player in players]
    assert trace_hand(load("ochos-locos").rules, crew_record(players), labels, seed=1, game=1)[-1]["event"] == "end"


def test_names_of_files_clash_with_no_others():
    """Not with built-in ones, and two files may each have the same."""
    write(DECLARED.replace("timid", "random"))
    write(DECLARED.replace("timid", "random"), "other.py")
    assert find("bot.py").name == "bot.py:random"
    assert find("other.py").name == "other.py:random"
    assert find("random") is built_in()["random"]


def test_two_files_of_one_name_are_told_apart(place):
    """The second is called as it was asked for; both are found again by what they are called, and by their specs."""
    write(PLAIN, "a/bot.py")
    write(DECLARED, "b/bot.py")
    first, second = find("a/bot.py"), find("b/bot.py")
    assert (first.name, second.name) == ("bot.py:play", "b/bot.py:timid")
    assert find(first.name) is find(first.spec) is find(str(place / "a" / "bot.py")) is first
    assert find(second.having("hold=3").spec) == second.having("hold=3")
    write(PLAIN)
    assert error_of("bot.py") == "bot.py may be a/bot.py or bot.py; write ./bot.py for the latter"
    assert find("./bot.py").name == "./bot.py:play"


def test_an_edited_file_is_another():
    write(PLAIN)
    before = find("bot.py")
    assert find("bot.py") is before
    write(PLAIN.replace("lowest", "highest"))
    after = find("bot.py")
    assert after.source != before.source
    assert (compiled(before.play)[1]) != compiled(after.play)[1]
    assert after.play.__code__.co_names[1] == "highest_card"


def test_a_file_may_import_what_lies_beside_it():
    """Each its own, though both call it alike; an edited neighbour is noticed, nothing is left behind."""
    bot = "import helpers\n\ndef play(view):\n    return helpers.answer(view)\n"
    helper = "from ochos_sim import toolkit\nFIRST = 1\n@toolkit.helper\ndef answer(view):\n    return FIRST\n"
    write(bot, "a/bot.py")
    write(bot, "b/bot.py")
    write(helper, "a/helpers.py")
    write(helper.replace("1", "2"), "b/helpers.py")
    answers = [compiled(find(spec).play)[0](None_view()) for spec in ("a/bot.py", "b/bot.py")]
    assert answers == [1, 2]
    before = find("a/bot.py")
    write(helper.replace("1", "3"), "a/helpers.py")
    assert compiled(find("a/bot.py").play)[0](None_view()) == 3
    assert find("a/bot.py").source != before.source
    assert "helpers" not in sys.modules
    assert sorted(os.listdir("a")) == ["bot.py", "helpers.py"]


def None_view():  # noqa: N802 - a view of nothing
    from views import view_of

    return view_of()


def test_what_a_file_prints_is_no_data(capsys):
    write("print('hello')\n" + PLAIN)
    find("bot.py")
    assert capsys.readouterr() == ("", "hello\n")


# --- Files: mistakes --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("def play(view:\n", "bot.py, line 1: '(' was never closed: def play(view:"),
        ("\nimport nope\n", "bot.py, line 2: ModuleNotFoundError: No module named 'nope': import nope"),
        ("x = 1\ny = x / 0\n", "bot.py, line 2: ZeroDivisionError: division by zero: y = x / 0"),
        ("raise SystemExit(3)\n", "bot.py, line 1: SystemExit: 3: raise SystemExit(3)"),
        ("\0", "bot.py: SyntaxError: source code string cannot contain null bytes"),
        ("x = 1\n", "bot.py holds no strategy; allowed: @strategy(…) above a function, or a function play(view)"),
        ("play = 3\n", "bot.py holds no strategy or function 'play'"),
        ("def play():\n    return 1\n", "bot.py, line 1: play takes nothing; allowed: the view alone"),
        ("def play(view, hold):\n    return 1\n", "bot.py, line 1: play takes 'hold'; allowed: the view alone"),
        ("suit = 3\ndef play(view):\n    return 1\n", "bot.py: suit is 3; allowed: a function of the view"),
        (
            DECLARED.replace("view, hold", "view, hald"),
            "bot.py, line 4: strategy timid: play takes 'hald'; allowed: the view, then hold: "
            '@strategy("timid", idea="holds back", params={"hold": 1})',
        ),
        (
            DECLARED + DECLARED.replace("timid", "bold"),
            "bot.py declares 2 strategies; say which, as bot.py:timid; there are: timid, bold",
        ),
    ],
)
def test_files_that_hold_no_strategy(text, error):
    write(text)
    said = error_of("bot.py")
    assert said == error or (text == "\0" and said.startswith("bot.py") and "null bytes" in said)


@pytest.mark.parametrize(
    ("text", "error"),
    [
        (
            "def play(view):\n    return view.playble\n",
            "bot.py, line 2: play does not compile: the view has no field 'playble': did you mean playable?: "
            "return view.playble",
        ),
        (
            "def low(view):\n    return 1\ndef play(view):\n    return low(view)\n",
            "bot.py, line 4: play does not compile: Untyped global name 'low': Cannot determine Numba type of "
            "<class 'function'> (a function that a strategy calls needs @toolkit.helper above it): return low(view)",
        ),
        (
            "def play(view):\n    return 'x'\n",
            "bot.py, line 2: play does not compile: No conversion from Literal[str](x) to int64 for "
            "'$6return_value.1', defined at None: return 'x'",
        ),
    ],
)
def test_files_that_do_not_compile(text, error):
    write(text)
    assert error_of("bot.py", play=True)[:90] == error[:90]


def test_names_that_are_not_there():
    write(DECLARED)
    assert error_of("bto.py") == "bto.py: No such file or directory; did you mean bot.py?"
    assert error_of("bot") == "no strategy is called 'bot'; did you mean bot.py?"
    assert error_of("bot.py:timd") == "bot.py holds no strategy or function 'timd'; did you mean timid?"
    assert error_of("bot.py:timid:hod=1") == "strategy bot.py:timid has no parameter 'hod'; did you mean hold?"


# --- The cache --------------------------------------------------------------------------------------------------------


def test_a_file_is_compiled_once():
    """Loaded anew, as by another process: all comes from the cache, and after an edit it does not."""
    write(PLAIN.replace("lowest_card(view.playable)", f"lowest_card(view.playable) + {os.getpid()}"))

    def hits_and_misses():
        loading._loaded.clear()
        stats = compiled(find("bot.py").play)[0].stats
        return sum(stats.cache_hits.values()), sum(stats.cache_misses.values())

    assert hits_and_misses() == (0, 1)
    assert hits_and_misses() == (1, 0)
    write(PLAIN.replace("lowest_card(view.playable)", f"lowest_card(view.playable) + {os.getpid() + 1}"))
    assert hits_and_misses() == (0, 1)


USES = """
from numba import njit
from ochos_sim import toolkit
import numpy as np
import numbers_of_mine as mine
LIMIT = 4
TABLE = np.arange(3)

@njit
def inner(x):
    return x + LIMIT

def play(view):
    return inner(view.turn) + mine.BASE + TABLE[0] + (lambda: 7)()
"""


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("LIMIT = 4", "LIMIT = 5"),
        ("arange(3)", "arange(4)"),
        ("x + LIMIT", "x - LIMIT"),
        ("7", "8"),
        ("mine.BASE", "mine.OTHER"),
    ],
)
def test_the_cache_goes_by_all_that_is_used(old, new):
    write("BASE = 1\nOTHER = 2\n", "numbers_of_mine.py")

    def key(text):
        write(text)
        return content_hash(find("bot.py").play)

    before = key(USES)
    assert key(USES.replace(old, new)) != before


def test_the_cache_goes_by_neighbours_too():
    write("BASE = 1\n", "numbers_of_mine.py")
    write(USES)
    before = content_hash(find("bot.py").play)
    write("BASE = 2\n", "numbers_of_mine.py")
    assert content_hash(find("bot.py").play) != before


def test_the_cache_follows_the_toolkit(monkeypatch):
    """Another source of the toolkit is another place in the cache."""
    write(PLAIN)
    play = find("bot.py").play
    before = content_hash(play)
    assert content_hash(play) == before
    monkeypatch.setattr("sim.compiled.sources_hash", lambda file: f"another {file}")
    assert content_hash(play) != before


# --- Packages ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def packages(place, monkeypatch):
    """Announce strategies as an installed package does: name to object reference."""

    def announce(modules, **entries):
        for name, text in modules.items():
            write(text, f"site/{name}.py")
        lines = "\n".join(f"{name} = {value}" for name, value in entries.items())
        write(f"[{loading.GROUP}]\n{lines}\n", "site/mine-1.0.dist-info/entry_points.txt")
        write("Metadata-Version: 2.1\nName: mine\nVersion: 1.0\n", "site/mine-1.0.dist-info/METADATA")
        monkeypatch.syspath_prepend(str(place / "site"))
        importlib.invalidate_caches()

    yield announce
    for name in ("mine_bots", "mine_broken"):
        sys.modules.pop(name, None)


def test_installed_packages(packages):
    """A decorated function with its parameters, a plain one, a Strategy; called as they are announced."""
    more = "\nfrom ochos_sim import find\nWHOLE = find('dump-high')\ndef plain(view):\n    return 64\n"
    packages({"mine_bots": DECLARED + more}, shy="mine_bots:play", raw="mine_bots:plain", high="mine_bots:WHOLE")
    assert (find("shy").name, find("shy:hold=3").values, find("shy").idea) == ("shy", (3,), "holds back")
    assert find("raw").play.__name__ == "plain"
    assert find("high").play is find("dump-high").play
    assert find("shy").source
    assert {"shy", "raw", "high"} < set(all_strategies())
    assert not {"shy", "raw", "high", "timid"} & set(built_in())


def test_broken_packages_are_an_error_only_when_asked_for(packages):
    packages(
        {"mine_bots": DECLARED, "mine_broken": "1 / 0\n"},
        shy="mine_bots:play", bad="mine_broken:play", gone="mine_bots:nothing", odd="mine_bots:toolkit",
        random="mine_bots:play",
    )  # fmt: skip
    found, broken = installed()
    assert list(found) == ["shy"]
    assert len(broken) == 4
    assert "strategy bad of package mine: ZeroDivisionError: division by zero" in broken
    assert "strategy random of an installed package: a built-in one has the name" in broken
    assert error_of("bad") == "strategy bad of package mine: ZeroDivisionError: division by zero"
    assert "nothing" in error_of("gone")
    assert "allowed: a function of the view, or a Strategy" in error_of("odd")
    assert find("random").source == ""
    assert error_of("sly").startswith("no strategy is called 'sly'; did you mean shy?")


def test_no_packages_no_names():
    assert not {"shy", "raw", "high"} & set(installed_names())
    assert find_installed("shy") is None


# --- The register -----------------------------------------------------------------------------------------------------


def test_a_cell_of_a_notebook_may_be_run_again(monkeypatch):
    """What was typed in replaces itself; what stands in a module does not."""
    with registry.register_apart() as found:
        for idea in ("first", "second"):

            def typed(view):
                return 64

            typed.__module__ = "__main__"
            registry.strategy("typed", idea=idea)(typed)
        assert found["typed"].idea == "second"
        typed.__module__ = "elsewhere"
        with pytest.raises(StrategyError, match=r"^two strategies are called 'typed'$"):
            registry.strategy("typed", idea="third")(typed)
