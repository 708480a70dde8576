"""What a question calls its rule sets, how it is put, and what the report says of the rules."""

import pytest

from reports.answers import Question, _compared, asked_in_words
from sim.rules import load


def question(*rules):
    """Build a question of (name, spec, settings)."""
    return Question(
        verb="fairness", rules=tuple(load(spec, sets) for _, spec, sets in rules), names=tuple(n for n, _, _ in rules),
        players=(2, 4), lineups=(({"strategy": "random"},),), notice_rate=1.0, seed=1, count=10, matches=False,
        precision=None, first_dealer=None, version="0", asked=(),
    )  # fmt: skip


def test_one_rule_set_is_called_with_its_settings():
    asked = question(("crazy-eights", "crazy-eights", ["wild.ranks=A", "draw.limit=3", "draw.limit=2"]))
    assert asked.names == ("crazy-eights wild.ranks=A draw.limit=2",)
    assert asked.common_in_words() == ""
    assert asked_in_words(asked) == "How fair is crazy-eights wild.ranks=A draw.limit=2 for 2 and 4 players?"


def test_settings_of_all_are_said_once():
    one, other = "ochos-locos", "ochos-locos+actions"
    asked = question((one, one, ["draw.limit=2"]), (other, other, ["draw.limit=2"]))
    assert asked.names == (one, other)
    assert asked_in_words(asked) == (
        "Which house rule of ochos-locos is fairest (all with draw.limit=2), for 2 and 4 players?"
    )


def test_a_setting_that_is_varied_is_not_one_of_all():
    one = "ochos-locos"
    asked = question((one, one, ["draw.limit=2"]), (f"{one} draw.limit=3", one, ["draw.limit=2", "draw.limit=3"]))
    assert asked.names == (f"{one} draw.limit=2", f"{one} draw.limit=3")
    assert asked.common() == ()
    assert asked_in_words(asked).startswith("Which is fairer for 2 and 4 players: ochos-locos draw.limit=2, ")


@pytest.mark.parametrize("sets", [[], ["draw.limit=2"]])
def test_rules_are_told_in_full(sets):
    named = load("ochos-locos+draw-three", sets)
    told = _compared(named)
    assert told.name == " ".join(["ochos-locos+draw-three", *sets])
    assert told.base == "ochos-locos"
    assert [(c.key, c.after) for c in told.changes] == [("draw.limit", "2" if sets else "3")]
    assert "last card is called" in told.about
    assert "+draw-three: " in told.about


@pytest.mark.parametrize(
    ("first", "base"), [("", "the defaults"), ('base = "crazy-eights+actions"\n', "crazy-eights+actions")]
)
def test_a_file_is_told_by_what_it_starts_from(tmp_path, first, base):
    file = tmp_path / "my.toml"
    file.write_text(f'{first}about = "Ours."\ndraw.limit = 7\n')
    told = _compared(load(str(file)))
    assert (told.name, told.base, told.about) == (str(file), base, "Ours.")
    assert [(change.key, change.after) for change in told.changes] == [("draw.limit", "7")]
    again = tmp_path / "again.toml"
    again.write_text(told.toml)
    assert load(str(again)).rules == load(str(file)).rules
