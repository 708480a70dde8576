"""The page for writers of strategies is what the code has: every field of the view within its range, every function."""

import inspect
import re
from pathlib import Path

import numpy as np
import pytest
from test_contract import shown_in_play

import ochos_sim
from sim.cards import JOKERS_MASK
from sim.table import VIEW, VIEW_FIELDS
from strategies import loading, toolkit
from strategies.checking import check_strategy
from strategies.params import within
from strategies.registry import find
from strategies.views import view_of

PAGE = (Path(__file__).parents[2] / "docs" / "strategies.md").read_text("utf-8")


def rows(title):
    """The cells of the first table under a heading, without its head."""
    text = PAGE.partition(f"\n## {title}\n")[2].partition("\n## ")[0]
    lines = [line for line in text.splitlines() if line.startswith("|")]
    return [[cell.strip() for cell in line.strip("|").split("|")] for line in lines[2:]]


FIELDS = {row[0].strip("`"): row[1:] for row in rows("The view")}


def test_every_field_of_the_view_is_on_the_page():
    """In order, with its meaning word for word, how many there are of it, and what it holds."""
    assert list(FIELDS) == [name for name, *_ in VIEW_FIELDS]
    for name, kind, meaning in VIEW_FIELDS:
        held, told = FIELDS[name]
        assert told == meaning
        size = VIEW[name].shape
        assert (f"{size[0]} × " if size else "") == (re.match(r"\d+ × ", held) or [""])[0]
        assert (held == "a set of cards") == (kind is np.uint64 and name != "luck")


def within_range(held, value):
    """Whether a value is what a cell of the page says."""
    held = re.sub(r"^\d+ × ", "", held)
    if held == "an address":
        return value > 0
    if held == "a set of cards":
        # Bits of ranks A to K, and of jokers.
        return int(value) & ~(0x3FFE * 0x0001_0001_0001_0001 | int(JOKERS_MASK)) == 0
    low, word, high = re.fullmatch(r"(-?\d+) (or|to) (-?\d+|more)", held).groups()
    if high == "more":
        return value >= int(low)
    return value in (int(low), int(high)) if word == "or" else int(low) <= value <= int(high)


def test_what_a_field_holds_is_what_the_page_says():
    """In hundreds of moments under all kinds of rules."""
    for _, view, _ in shown_in_play(300):
        for name, (held, _) in FIELDS.items():
            for value in np.ravel(view[name]):
                assert within_range(held, value), (name, held, value)


def test_every_function_of_the_toolkit_is_on_the_page():
    """With its arguments, and none that there is not."""
    told = {}
    for row in rows("The toolkit"):
        for text in re.findall(r"`([^`]+)`", row[0]):
            name, _, arguments = text.partition("(")
            told[name] = re.findall(r"\w+", arguments)
    assert set(told) == set(toolkit.__all__)
    for name in set(told) - {"DRAW", "PASS", "helper", "card_code", "card_name"}:
        function = getattr(toolkit, name)
        parameters = inspect.signature(getattr(function, "py_func", function)).parameters
        assert told[name] == [*parameters], name


@pytest.fixture
def place(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(loading, "_loaded", {})
    monkeypatch.setattr(loading, "_labels", {})
    for name, value in (("view_of", view_of), ("check_strategy", check_strategy), ("within", within)):
        monkeypatch.setattr(ochos_sim, name, value, raising=False)
    return tmp_path


def test_examples_of_the_page_work(place):
    """The two files play, the parameters can be declared so, and the test of a choice holds."""
    first, second, example = re.findall(r"^```python\n(.*?)^```", PAGE, re.MULTILINE | re.DOTALL)
    for text, name in ((first, "smallest.py:play"), (second, "larger.py:timid:hold=2")):
        (place / name.partition(":")[0]).write_text(text, "utf-8")
        found = find(name.partition(":")[0] + (":hold=2" if "hold" in name else ""))
        assert found.name == name
        assert found.addresses()
    exec(example, {})
    declared = ", ".join(row[0].strip("`") for row in rows("Parameters") if row[0] != '`"hold": 1`')
    head = f"from ochos_sim import strategy, within\n@strategy('all', idea='x', params={{{declared}}})\n"
    (place / "all.py").write_text(f"{head}def play(view, hold, risk, lead):\n    return 64\n", "utf-8")
    settings = [row[2].strip("`") for row in rows("Parameters") if row[2] != "`hold=2`"]
    assert find(f"all.py:{','.join(settings)}").addresses()
