"""What a question calls its rule sets, how it is put, and what the report says of the rules."""

import dataclasses
import itertools

import pytest

from door.words import rule_sets
from reports.answers import Question, QuestionError, _compared, asked_in_words, check_measures, words_of
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
        "Which house rule of ochos-locos is fairest for 2 and 4 players (all with draw.limit=2)?"
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


# --- Grids: line-ups, and the words that ask again -------------------------------------------------------------------

RANDOM, SENSIBLE = ({"strategy": "random"},), ({"strategy": "sensible"},)
MIXED = ({"strategy": "sensible"}, {"strategy": "random"})


def grid(lineups, players=(2, 4), rules=(("ochos-locos", "ochos-locos", []),)):
    return dataclasses.replace(question(*rules), lineups=lineups, players=players)


def test_a_part_for_each_number_of_players_and_line_up_that_fits():
    asked = grid((RANDOM, MIXED))
    assert asked.sittings() == [(2, RANDOM), (2, MIXED), (4, RANDOM)]
    assert [name for name, _ in asked.parts()] == [
        "2 players, line-up 1",
        "2 players, line-up 2",
        "4 players, line-up 1",
    ]
    assert [len(own.seats()) for _, own in asked.parts()] == [2, 2, 4]
    assert [name for name, _ in grid((RANDOM,)).parts()] == ["2 players", "4 players"]
    assert asked_in_words(asked) == (
        "How fair is ochos-locos for 2 and 4 players (line-ups: all random; sensible, random)?"
    )


@pytest.mark.parametrize(
    ("lineups", "players", "said"),
    [
        ((RANDOM, RANDOM), (2,), "line-up all random is given twice"),
        ((RANDOM, MIXED), (3, 4), "line-up sensible, random has 2 seats; allowed: .* one a seat of 3 or 4"),
        ((MIXED,), (2, 4), "no line-up is for 4 players"),
    ],
)
def test_line_ups_that_cannot_be(lineups, players, said):
    with pytest.raises(QuestionError, match=said):
        grid(lineups, players)


@pytest.mark.parametrize(
    "words",
    [
        ["--rules", "ochos-locos"],
        ["--rules", "ochos-locos+actions", "--set", "draw.limit=2", "--set", "wild.ranks=A,8"],
        ["--rules", "ochos-locos", "--rules", "crazy-eights", "--set", "draw.limit=2"],
        ["--rules", "ochos-locos", "--vary", "draw-three,no-eight-on-eight"],
        ["--rules", "ochos-locos", "--set", "turn_cap=900", "--vary", "draw.limit=2,3", "--vary", "actions"],
        ["--rules", "ochos-locos", "--vary", 'wild.ranks=["A","8"],["2"]', "--vary", "actions.2={draw = 3},skip"],
    ],
)
def test_rules_are_asked_for_again_with_the_same_words(words):
    given = {key: [value for name, value in itertools.pairwise(words) if name == key] for key in words[::2]}
    named, names = rule_sets(given["--rules"], given.get("--set", []), given.get("--vary", []), True)
    assert list(words_of(named)) == words
    assert len(named) == len(names)


def test_the_command_of_a_grid():
    asked = dataclasses.replace(
        grid((RANDOM, MIXED), rules=[("a", "ochos-locos", []), ("b", "ochos-locos+actions", [])]),
        measures=("stuck_per_hand",),
    )
    assert asked.command() == (
        "ochos-sim fairness --players 2,4 --hands 10 --no-confirm --measure stuck_per_hand --lineup random --lineup "
        "sensible,random --seed 1"
    )
    assert "--no-confirm" not in dataclasses.replace(asked, confirmed=True).command()


@pytest.mark.parametrize(
    ("names", "matches", "said"),
    [
        (["stuck_per_hnd"], False, "did you mean stuck_per_hand"),
        (["hands_per_match"], False, "is not told of a rule set as a whole"),
        (["win_share"], True, "is not told of a rule set as a whole"),
        (["capped", "capped"], False, "measure capped is given twice"),
    ],
)
def test_measures_that_are_none(names, matches, said):
    with pytest.raises(QuestionError, match=said):
        check_measures(names, matches)
    assert check_measures(["capped", "hands_per_match"], True) == ("capped", "hands_per_match")
