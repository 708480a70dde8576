"""Questions in files: what a results folder says is the question that was asked; a batch file's mistakes by line."""

import dataclasses

import pytest
import tomli_w

from door.batches import questions_of
from door.playing import ask, ask_comparison, ask_skill
from door.words import crew_of, rule_sets
from reports.experiment import ExperimentError, nobody, question_in, read_batch
from sim.saving import EXPERIMENT, Folder
from sim.streams import RNG_VERSION

LARGEST = str(2**64 - 1)


def fairness(*vary, lineups=None, sets=(), first_dealer=None, matches=None, **others):
    named, names = rule_sets(["ochos-locos"], sets, vary, True)
    return ask(
        "fairness", named, names, [2, 3], (None, None, None), "0.5", first_dealer, None, matches, None, LARGEST, True,
        lineups=lineups, **others,
    )  # fmt: skip


def simulation():
    named, names = rule_sets(["crazy-eights+actions"], ["draw.limit=2"], [], True)
    people = (["random", "dump-high"], ["0.1"], None)
    return ask("simulate", named, names, [2], people, "1", None, "300", None, "0.01", "7", True)


def comparison():
    named, names = rule_sets(["ochos-locos"], [], [], True)
    return ask_comparison(
        named, names, [2, 3], ["random", "hoard-eights:hold=2"], "random", False, (None, ["0", "0.1"]), "1", None, "20",
        None, "0.01", "1", True,
    )  # fmt: skip


def skill():
    named, names = rule_sets(["ochos-locos"], [], ["draw.limit=2"], True)
    return ask_skill(named, names, [2], None, (None, None), "1", "points", "500", "1", True)


QUESTIONS = {
    "one line-up": lambda: fairness("draw-three", "draw.limit=2", confirmed=True),
    "line-ups": lambda: fairness(
        "actions", lineups=["random", "sensible,random"], measures=["capped", "turns_per_hand"]
    ),
    "matches": lambda: fairness(sets=["match.target=50"], matches="20", first_dealer="2"),
    "simulate": simulation,
    "compare": comparison,
    "skill": skill,
}


@pytest.mark.parametrize("made", QUESTIONS.values(), ids=QUESTIONS)
def test_a_folder_gives_its_question_back(tmp_path, made):
    """All of it: rules, people, amounts, seed; so equal questions follow from equal folders."""
    asked = made()
    Folder.open(tmp_path, asked.experiment())
    found = question_in(tmp_path)
    assert found == asked
    assert found.command() == asked.command()


def test_rules_that_have_changed_since_are_those_that_were_played(tmp_path):
    rules = tmp_path / "mine.toml"
    rules.write_text('base = "ochos-locos"\nabout = "Ours."\ndraw.limit = 7\n')
    named, names = rule_sets([str(rules)], [], [], True)
    asked = ask("simulate", named, names, [4], (None,) * 3, "1", None, "10", None, None, "1", True)
    Folder.open(tmp_path / "out", asked.experiment())
    assert question_in(tmp_path / "out") == asked
    for change in (lambda: rules.write_text("draw.limit = 3\n"), rules.unlink):
        change()
        found = question_in(tmp_path / "out")
        assert found.rules[0].rules == asked.rules[0].rules
        assert (found.names, found.rules[0].preset, found.rules[0].about) == (asked.names, str(rules), "")


def test_who_played_is_known_without_finding_them():
    """Labels and groups are those of the people themselves."""
    seats = [{"strategy": "random"}, {"strategy": "hoard-eights:hold=2", "illegal_rate": 0.25}, {"strategy": "random"}]
    (crew, labels), (real, called) = nobody(seats), crew_of(seats, 1.0)
    assert labels == called
    assert crew["group"].tolist() == real["group"].tolist()
    assert nobody([{"strategy": "there/my_bot.py:timid", "name": "my_bot.py:timid"}])[1] == ["my_bot.py:timid"]


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"rng_version": RNG_VERSION + 1}, f"random numbers {RNG_VERSION + 1}, by version"),
        ({"seed": "seven"}, "seed: Input should be a valid integer"),
        ({"speed": 1}, "speed: Extra inputs are not permitted"),
        ({"players": []}, "players: "),
        ({"rules": []}, "rules: "),
    ],
)
def test_folders_that_say_something_else(tmp_path, change, said):
    Folder.open(tmp_path, fairness().experiment())
    told = {key: value for key, value in fairness().experiment().items() if value is not None}
    (tmp_path / EXPERIMENT).write_text(tomli_w.dumps({**told, "seed": 1, **change}))
    with pytest.raises(ExperimentError, match=said) as caught:
        question_in(tmp_path)
    assert str(tmp_path) in str(caught.value)


def test_folders_that_are_none(tmp_path):
    with pytest.raises(ExperimentError, match=r"holds no experiment\.toml"):
        question_in(tmp_path)
    (tmp_path / EXPERIMENT).write_text("verb = ")
    with pytest.raises(ExperimentError, match="can not be read"):
        question_in(tmp_path)


# --- Batch files ---------------------------------------------------------------------------------------------------


def batch(tmp_path, text):
    file = tmp_path / "batch.toml"
    file.write_text(text)
    return read_batch(file)


WHOLE = """
title = "All"
out = "there"

[[experiment]]
name = "grid"
vary = ["draw.limit=1,3", "actions"]
players = "2-3"
lineups = ["random", ["sensible", "random"]]
hands = "2k"
measures = ["capped"]
confirm = false

[[experiment]]
verb = "simulate"
rules = "crazy-eights"
set = "draw.limit=2"
players = 3
strategies = ["random", "random", "dump-high"]
forget_last_card = [0, 0.5, "10%"]
matches = 1_000
precision = "1%"
seed = "18446744073709551615"

[[experiment]]
verb = "compare"
strategies = ["random", "sensible"]
field = "random"
hands = 100
sprt = 0.01

[[experiment]]
verb = "skill"
by = "points"
"""


def test_a_batch_file_asks_what_the_options_would(tmp_path):
    read = batch(tmp_path, WHOLE)
    assert (read.title, read.out) == ("All", "there")
    assert [read.name(number) for number in range(4)] == ["grid", "2-simulate", "3-compare", "4-skill"]
    grid, simulated, compared, skilled = questions_of(read)
    assert grid.command() == (
        "ochos-sim fairness --rules ochos-locos --vary draw.limit=3 --vary actions --players 2,3 --hands 2000 "
        "--no-confirm --measure capped --lineup random --lineup sensible,random --seed 1"
    )
    assert simulated.command() == (
        "ochos-sim simulate --rules crazy-eights --set draw.limit=2 --players 3 --strategy random --strategy random "
        "--strategy dump-high --forget-last-card 0 --forget-last-card 0.5 --forget-last-card 0.1 --matches 1000 "
        f"--precision 0.01 --seed {LARGEST}"
    )
    assert compared.command() == (
        "ochos-sim compare --rules ochos-locos --players 2 --strategy random --strategy sensible --hands 100 --field "
        "random --sprt 0.01 --seed 1"
    )
    assert (skilled.by, skilled.players, skilled.count) == ("points", (2,), 100_000)


def test_a_single_experiment_needs_no_table(tmp_path):
    read = batch(tmp_path, 'out = "x"\nverb = "fairness"\nvary = "actions"\nplayers = 2\n')
    (asked,) = questions_of(read)
    assert read.name(0) == ""
    assert asked.confirmed
    assert dataclasses.replace(asked, confirmed=False).names == ("ochos-locos", "ochos-locos+actions")


TOP = 'out = "x"\n\n[[experiment]]\nverb = "simulate"\n\n[[experiment]]\n'


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (TOP + 'verb = "fairnes"\n', 7, "verb is 'fairnes'; allowed: simulate, .*; did you mean fairness?"),
        (TOP + "\n# or\nlineup = []\n", 9, "no key 'lineup'; did you mean lineups?"),
        (TOP + 'plyers = "2"\n', 7, "no key 'plyers'; did you mean players?"),
        (TOP + "hands = 2.5\n", 7, "hands is 2.5; allowed: a number such as 300000, or"),
        (TOP + 'hands = "many"\n', 7, "hands is 'many'; allowed: a whole number"),
        (TOP + 'seed = "random"\n', 7, "seed is 'random'; allowed: a whole number"),
        (TOP + 'field = "random"\n', 7, "field belongs to compare, not to fairness"),
        (TOP + 'vary = [\n  "actions",\n  "draw-thre",\n]\n', 9, "no change .draw-thre.; did you mean draw-three?"),
        (TOP + 'vary = ["draw.limit=0"]\n', 7, "vary draw.limit=0: draw.limit is 0; allowed"),
        (TOP + 'set = ["draw.limt=1"]\n', 7, "set draw.limt=1: .*draw.limit"),
        (TOP + 'rules = ["ochos-locs"]\n', 7, "no preset .ochos-locs.; did you mean ochos-locos?"),
        (TOP + 'lineups = [\n "random",\n "randm"]\n', 9, "no strategy is called 'randm'; did you mean random?"),
        (TOP + 'players = 4\nlineups = [["random", "random"]]\n', 8, "has 2 seats"),
        (TOP + 'players = "2-11"\n', 7, "players is '2-11'; a table seats 2 to 10"),
        (TOP + 'measures = ["capd"]\n', 7, "did you mean capped?"),
        (TOP + "hands = 10\nmatches = 10\n", 7, "hands and matches are given; allowed: one of them"),
        (TOP + 'verb = "skill"\nstrategies = ["random"]\n', 8, "1 strategy is given|given twice"),
        (TOP + 'name = "a/b"\n', 7, "name is 'a/b'; allowed: a word of letters"),
        (TOP + 'name = "1-simulate"\n', 7, "name '1-simulate' is given twice"),
        (TOP + "hands = \n", 7, "not TOML: "),
        ('out = "x"\nhands = 10\n\n[[experiment]]\n', 2, "hands stands above the experiments"),
        ("out = 7\n", 1, "out is 7; allowed: a text"),
        ("\n[experiment]\nhands = 10\n", 2, "write \\[\\[experiment\\]\\]"),
        ('verb = "compare"\nvary = "actions"\n', 2, "vary belongs to fairness and length and skill, not to compare"),
        ('\nverb = "compare"\nrules = ["ochos-locos", "crazy-eights"]\n', 3, "compare plays one rule set"),
    ],
)
def test_the_line_of_the_mistake(tmp_path, text, line, said):
    with pytest.raises(ExperimentError, match=said) as caught:
        questions_of(batch(tmp_path, text))
    assert str(caught.value).startswith(f"{tmp_path / 'batch.toml'}: line {line}: ")
    assert "\n" not in str(caught.value)


def test_batch_files_that_are_none(tmp_path):
    with pytest.raises(ExperimentError, match="No such file"):
        read_batch(tmp_path / "none.toml")
    with pytest.raises(ExperimentError, match="holds no experiment"):
        batch(tmp_path, 'out = "x"\n')
    (tmp_path / "latin.toml").write_bytes(b'out = "\xe9"\n')
    with pytest.raises(ExperimentError, match="byte 8 is not UTF-8"):
        read_batch(tmp_path / "latin.toml")
