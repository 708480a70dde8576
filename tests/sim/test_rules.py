"""House rules: the presets against the sheets, round trips, and one line for every mistake a user can make."""

import json
import re
import subprocess
import sys
import tomllib
from itertools import combinations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sim import rules as room
from sim.cards import RANKS
from sim.rules import NamedRules, Rules, RulesError, changes_of, describe, diff, load, options, preset_names

PRESETS = [
    "crazy-aces",
    "crazy-eights",
    "crazy-eights-actions",
    "ocho-loco",
    "ocho-loco-especiales",
    "ochos-locos",
    "ochos-locos-actions",
]

# What each named change sets (rules.md 3 and 5), but `actions`, which differs by sheet.
CHANGES = {
    "draw-until-playable": {"draw.limit": "until-playable"},
    "draw-three": {"draw.limit": 3},
    "no-eight-on-eight": {"wild.on_wild": False},
    "silent-eight": {"wild.suit": "own"},
    "two-packs": {"deck.two_packs_from": 5},
    "chain-draw": {"actions.2": {"draw": 2}, "penalty.stack": "same-rank"},
    "draw-three-cards": {"actions.3": {"draw": 3}},
    "pass-when-empty": {"stock.empty": "pass"},
    "stop-at-five": {"stop.points": 5},
    "delayed-suit": {"wild.suit": "delayed"},
    "super-jokers": {"deck.jokers": 2, "jokers.effect": {"wild-draw": 4}},
    "dealer-declares": {"starter.wild": "dealer-declares"},
    "countdown": {"deal.countdown": 1},
    "final-draw-applies": {"actions.final": "applies"},
    "winner-collects": {"score.style": "winner-collects", "match.winner": "highest"},
    "target-100": {"match.target": 100},
    "target-200": {"match.target": 200},
    "target-500": {"match.target": 500},
}
OCHOS_LOCOS_ACTIONS = {"2": {"draw": 2}, "J": "skip", "Q": "reverse"}
OCHO_LOCO_ACTIONS = {"2": {"draw": 2}, "Q": "skip", "A": "reverse"}
CRAZY_EIGHTS_ACTIONS = {"2": {"draw": 2}, "J": "skip", "Q": "reverse", "A": "any-card"}
SHEET_ACTIONS = {
    "ochos-locos": OCHOS_LOCOS_ACTIONS,
    "ochos-locos-actions": OCHOS_LOCOS_ACTIONS,
    "ocho-loco": OCHO_LOCO_ACTIONS,
    "ocho-loco-especiales": OCHO_LOCO_ACTIONS,
    "crazy-eights": CRAZY_EIGHTS_ACTIONS,
    "crazy-eights-actions": CRAZY_EIGHTS_ACTIONS,
    "crazy-aces": {"2": {"draw": 2}, "J": "skip", "Q": "reverse"},
}


def expected(**sections):
    """The defaults of rules.md 2 with some options replaced, as nested tables, written out here by hand."""
    data = {
        "deck": {"packs": "auto", "two_packs_from": 6, "ranks": list(RANKS), "jokers": 0},
        "players": {"min": 2, "max": 5},
        "deal": {"cards": 7, "cards_by_players": {}, "countdown": 0, "misdeal_rate": 0.0},
        "starter": {"wild": "bury", "action": "none"},
        "wild": {"ranks": ["8"], "suit": "declared", "on_wild": True, "may_finish": True},
        "draw": {"limit": 1, "voluntary": False, "play_drawn": "may"},
        "stock": {"empty": "reshuffle"},
        "blocked": {"score": "difference"},
        "actions": {"final": "ignored"},
        "penalty": {"stack": "same-rank", "loses_turn": True},
        "reverse": {"two_players": "none"},
        "jokers": {"effect": "wild"},
        "last_card": {"call": False, "penalty": 2},
        "illegal": {"penalty": 1},
        "stop": {"points": 0},
        "score": {"style": "losers-add", "values": {}},
        "match": {"target": 100, "winner": "lowest", "tie": "extra-hand-tied"},
        "turn_cap": 5000,
    }
    for section, changed in sections.items():
        data[section].update(changed)
    return data


OCHO_LOCO = {
    "deal": {"cards": 5, "cards_by_players": {"2": 7}},
    "draw": {"limit": "until-playable", "voluntary": True},
    "stock": {"empty": "pass"},
    "score": {"style": "winner-collects"},
    "match": {"target": {"per-player": 50}, "winner": "highest"},
}
CRAZY_EIGHTS = {
    "players": {"max": 7},
    "deal": {"cards": 5, "cards_by_players": {"2": 7}},
    "draw": {"limit": "until-playable"},
    "match": {"target": 200, "tie": "extra-hand-all"},
}
SHEETS = {
    "ochos-locos": expected(last_card={"call": True}),
    "ochos-locos-actions": expected(last_card={"call": True}, actions=OCHOS_LOCOS_ACTIONS),
    "ocho-loco": expected(**OCHO_LOCO),
    "ocho-loco-especiales": expected(**OCHO_LOCO, actions=OCHO_LOCO_ACTIONS),
    "crazy-eights": expected(**CRAZY_EIGHTS),
    "crazy-eights-actions": expected(**CRAZY_EIGHTS, actions=CRAZY_EIGHTS_ACTIONS),
    "crazy-aces": expected(**CRAZY_EIGHTS, wild={"ranks": ["A"]}, score={"values": {"A": 1}}),
}


@pytest.fixture
def in_folder(tmp_path, monkeypatch):
    """An empty current folder, so that files are named as a user would name them; returns a writer."""
    monkeypatch.chdir(tmp_path)

    def write(name, content):
        (tmp_path / name).write_bytes(content if isinstance(content, bytes) else content.encode())
        return name

    return write


def error(spec, *sets):
    """The one line that a user sees."""
    with pytest.raises(RulesError) as caught:
        load(spec, sets)
    text = str(caught.value)
    assert text.isprintable()
    return text


def told(numbers):
    """A pattern for numbers as they are told, with a multiplication sign for the x."""
    return re.escape(numbers.replace(" x ", f" {room.TIMES} ")) + "$"


# Presets and changes


def test_the_defaults_are_those_of_the_rules_page():
    assert Rules().as_dict() == expected()


def test_every_preset_is_found():
    assert list(preset_names()) == PRESETS


@pytest.mark.parametrize("preset", PRESETS)
def test_a_preset_has_the_values_of_its_sheet(preset):
    assert load(preset).rules.as_dict() == SHEETS[preset]


@pytest.mark.parametrize(
    ("preset", "sheet"),
    [
        ("ochos-locos-actions", "Ochos Locos (fr, de, it)"),
        ("ocho-loco", "Ocho Loco (es)"),
        ("crazy-aces", "Crazy Eights (fr)"),
    ],
)
def test_a_preset_names_its_sheet(preset, sheet):
    about = describe(preset)
    assert about.sheet == load(preset).sheet == sheet
    assert about.rules == load(preset).rules
    assert about.about == load(preset).about
    assert about.about.endswith(".")


@pytest.mark.parametrize("preset", PRESETS)
@pytest.mark.parametrize("change", CHANGES)
def test_a_change_sets_its_options_and_no_others(preset, change):
    plain, changed = load(preset).rules.flat(), load(f"{preset}+{change}").rules.flat()
    assert changed == plain | CHANGES[change]


@pytest.mark.parametrize("preset", PRESETS)
def test_actions_are_those_of_the_presets_own_sheet(preset):
    rules = load(f"{preset}+actions").rules
    assert rules.as_dict()["actions"] == {"final": "ignored", **SHEET_ACTIONS[preset]}
    assert rules.penalty.stack == "same-rank"
    assert rules.actions.by_rank() == {r: e["draw"] if r == "2" else e for r, e in SHEET_ACTIONS[preset].items()}


def test_every_change_is_listed_for_every_preset_and_marked_where_the_sheet_has_it():
    for preset in PRESETS:
        assert {change.name for change in changes_of(preset)} == {*CHANGES, "actions"}
        assert all(change.about for change in changes_of(preset))
        assert describe(preset).changes == changes_of(preset)
    own = {preset: {change.name for change in changes_of(preset) if change.own} for preset in PRESETS}
    assert own["ochos-locos"] == own["ochos-locos-actions"]
    assert own["ochos-locos"] == {
        "draw-until-playable", "no-eight-on-eight", "silent-eight", "two-packs", "actions", "winner-collects",
        "target-200",
    }  # fmt: skip
    assert own["ocho-loco"] == {"draw-three", "dealer-declares", "countdown", "final-draw-applies", "actions"}
    assert own["crazy-eights"] == own["crazy-aces"]
    assert own["crazy-eights"] == {
        "draw-three", "actions", "chain-draw", "draw-three-cards", "pass-when-empty", "stop-at-five", "delayed-suit",
        "super-jokers", "target-100", "target-500",
    }  # fmt: skip


@pytest.mark.parametrize("change", [*CHANGES, "actions"])
@pytest.mark.parametrize("preset", PRESETS)
def test_changed_presets_survive_toml_and_json(preset, change):
    rules = load(f"{preset}+{change}").rules
    assert Rules.from_dict(tomllib.loads(rules.toml())) == rules
    assert Rules.from_dict(json.loads(json.dumps(rules.as_dict()))) == rules


def test_a_written_rules_file_loads_to_equal_rules(in_folder):
    named = load("crazy-eights+actions+super-jokers", ["score.values={2 = 20}"])
    in_folder("mine.toml", named.rules.toml(named.title))
    again = load("mine.toml")
    assert again.rules == named.rules
    assert hash(again.rules) == hash(named.rules)
    assert again.preset == "mine.toml"
    assert named.rules.toml(named.title).startswith("# crazy-eights+actions+super-jokers --set score.values={2 = 20}\n")


def test_a_title_can_not_break_the_comment_it_stands_in():
    assert Rules.from_dict(tomllib.loads(Rules().toml("two\nlines = 1"))) == Rules()


def test_a_name_says_all_that_was_asked_for():
    named = load("ochos-locos+silent-eight+two-packs", ["draw.limit=3", "actions.J=skip"])
    assert named.preset == "ochos-locos"
    assert named.changes == ("silent-eight", "two-packs")
    assert named.sets == ("draw.limit=3", "actions.J=skip")
    assert named.title == "ochos-locos+silent-eight+two-packs --set draw.limit=3 --set actions.J=skip"


def test_changes_that_agree_go_together():
    assert load("crazy-eights+actions+chain-draw").rules == load("crazy-eights+actions").rules
    assert load("crazy-eights-actions+actions").rules == load("crazy-eights-actions").rules


def test_every_two_changes_either_agree_or_are_refused():
    for first, second in combinations(CHANGES, 2):
        clash = [key for key in CHANGES[first] if CHANGES[second].get(key, CHANGES[first][key]) != CHANGES[first][key]]
        if clash:
            text = error(f"ochos-locos+{first}+{second}")
            assert f"{first} and {second} exclude each other; both set {clash[0]}" in text
        else:
            both = load("ochos-locos").rules.flat() | CHANGES[first] | CHANGES[second]
            assert load(f"ochos-locos+{first}+{second}").rules.flat() == both


def test_a_difference_lists_options_in_order_and_missing_actions_as_none():
    assert diff(load("ochos-locos-actions"), load("ochos-locos", ["draw.limit=3", "actions.2={draw=3}"])) == [
        ("draw.limit", 1, 3),
        ("actions.2", {"draw": 2}, {"draw": 3}),
        ("actions.J", "skip", "none"),
        ("actions.Q", "reverse", "none"),
    ]
    assert diff(load("ocho-loco"), load("ocho-loco")) == []


def test_every_option_has_a_meaning_a_default_and_what_is_allowed():
    plain = Rules().flat()
    for key, option in options().items():
        assert option.meaning.endswith("."), key
        assert option.allowed, key
        assert option.default == plain.get(key, "none"), key
    assert list(plain) == [key for key in options() if key in plain]


# Settings


@pytest.mark.parametrize(
    ("text", "key", "value"),
    [
        ("wild.suit=own", "wild.suit", "own"),
        ('wild.suit = "own"', "wild.suit", "own"),
        ("draw.limit=until-playable", "draw.limit", "until-playable"),
        ("draw.limit=4", "draw.limit", 4),
        ("draw.voluntary=true", "draw.voluntary", True),
        ("deck.packs=2", "deck.packs", 2),
        ("deck.two_packs_from=never", "deck.two_packs_from", "never"),
        ("actions.J=skip", "actions.J", "skip"),
        ("actions.2={draw=3}", "actions.2", {"draw": 3}),
        ("actions.2.draw=3", "actions.2", {"draw": 3}),
        ('wild.ranks=["A"]', "wild.ranks", ["A"]),
        ("wild.ranks=8, A", "wild.ranks", ["A", "8"]),
        ("wild.ranks=7", "wild.ranks", ["7"]),
        ("wild.ranks=[]", "wild.ranks", []),
        ("deck.ranks=A,10,9,8,7,K,Q,J", "deck.ranks", ["A", "7", "8", "9", "10", "J", "Q", "K"]),
        ("deal.misdeal_rate=0", "deal.misdeal_rate", 0.0),
        ("deal.misdeal_rate=0.25", "deal.misdeal_rate", 0.25),
        ("deal.cards_by_players={3 = 6, 2 = 9}", "deal.cards_by_players", {"2": 9, "3": 6}),
        ("deal.cards_by_players.4=6", "deal.cards_by_players", {"2": 7, "4": 6}),
        ("score.values.JKR=20", "score.values", {"JKR": 20}),
        ("match.target={per-player = 25}", "match.target", {"per-player": 25}),
        ("match.target.per-player=25", "match.target", {"per-player": 25}),
        ("jokers.effect={wild-draw=5}", "jokers.effect", {"wild-draw": 5}),
        ("turn_cap=50000", "turn_cap", 50_000),
    ],
)
def test_a_setting_is_toml_or_a_bare_word(text, key, value):
    flat = load("crazy-eights", [text]).rules.flat()
    assert flat[key] == value
    assert type(flat[key]) is type(value)


def test_settings_come_after_changes_and_the_last_one_counts():
    assert load("ochos-locos+draw-three", ["draw.limit=4", "draw.limit=5"]).rules.draw.limit == 5


def test_none_takes_an_effect_away(in_folder):
    assert load("ochos-locos-actions", ["actions.J=none"]).rules.actions.by_rank() == {"2": 2, "Q": "reverse"}
    in_folder("calm.toml", 'base = "ochos-locos-actions"\nactions.Q = "none"\n')
    assert load("calm.toml").rules.actions.by_rank() == {"2": 2, "J": "skip"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("draw.limit", "--set draw.limit: not a setting; allowed: KEY=VALUE, as in draw.limit=3"),
        ("draw.limit=", "--set draw.limit=: not a setting; allowed: KEY=VALUE, as in draw.limit=3"),
        (
            "draw.limit=0",
            "--set draw.limit=0: draw.limit is 0; allowed: a whole number from 1 to 1000, until-playable",
        ),
        ('draw.limit="7"', 'draw.limit is "7"; allowed: a whole number from 1 to 1000, until-playable'),
        ("draw.limit=3.0", "draw.limit is 3.0; allowed: a whole number"),
        ("draw.limit=true", "draw.limit is true; allowed: a whole number"),
        ("deck.packs=true", "deck.packs is true; allowed: auto, a whole number from 1 to 2"),
        ("deck.jokers=5", "deck.jokers is 5; allowed: a whole number from 0 to 4"),
        (
            "draw.limit=until_playable",
            'is "until_playable"; allowed: a whole number from 1 to 1000, until-playable; did',
        ),
        ("last_card.call=1", "last_card.call is 1; allowed: true, false"),
        ("last_card.call=yes", 'last_card.call is "yes"; allowed: true, false'),
        ("deck.two_packs_from=11", "deck.two_packs_from is 11; allowed: never, a whole number from 2 to 10"),
        ("deal.misdeal_rate=1", "deal.misdeal_rate is 1; allowed: a number from 0 to 0.999"),
        ("deal.misdeal_rate=nan", "deal.misdeal_rate is nan; allowed: a number from 0 to 0.999"),
        ("turn_cap=50001", "turn_cap is 50001; allowed: a whole number from 1 to 50000"),
        (
            "match.target=0",
            "match.target is 0; allowed: a whole number from 1 to 100000, {per-player = k} with k from 1",
        ),
        ("match.target={per_player=5}", "match.target is {per_player = 5}; allowed: a whole number"),
        ("wild.suit=ownn", 'wild.suit is "ownn"; allowed: declared, own, delayed; did you mean own?'),
        (
            "draw.limt=3",
            '--set draw.limt=3: no option "draw.limt"; did you mean draw.limit?; options: draw.limit, draw.',
        ),
        ("drw.limit=3", 'no option "drw.limit"; did you mean draw.limit?; sections: deck, players,'),
        ("limit=3", 'no option "limit"; did you mean draw.limit?'),
        ("draw.packs=2", 'no option "draw.packs"; did you mean deck.packs?'),
        ("draw=3", "draw is a section; options: draw.limit, draw.voluntary, draw.play_drawn"),
        ("turn_cap.x=3", 'no option "turn_cap.x"'),
        ("draw.limit.x=3", "draw.limit is {x = 3}; allowed: a whole number"),
        ("actions.JKR=skip", 'no option "actions.JKR"; options: actions.final, actions.A,'),
        ("actions.effects=3", 'no option "actions.effects"'),
        (
            "actions.J=skp",
            'actions.J is "skp"; allowed: none, skip, reverse, any-card, again, {draw = k} with k from 1',
        ),
        ("actions.2={draw=0}", "actions.2 is {draw = 0}; allowed: none, skip,"),
        ("actions.2={drw=2}", "actions.2 is {drw = 2}; allowed: none, skip,"),
        ("wild.ranks=1", 'wild.ranks has no rank "1"; allowed: A 2 3 4 5 6 7 8 9 10 J Q K; did you mean 10?'),
        ("wild.ranks=[8]", "wild.ranks is [8]; allowed: a list of ranks in quotes"),
        ("wild.ranks=8,8", "wild.ranks lists the rank 8 more than once"),
        ("deck.ranks=A,2,a", 'deck.ranks has no rank "a"; allowed: A 2 3 4 5 6 7 8 9 10 J Q K; did you mean A?'),
        ("deck.ranks=[]", "ochos-locos --set deck.ranks=[]: deck.ranks is empty; allowed: at least one rank"),
        ("deck.ranks=7,9", "wild.ranks names the rank 8, which the pack lacks; deck.ranks: 7 9"),
        ("deck.ranks=8", "every rank is wild and starter.wild is bury, so no card could open a hand; allowed:"),
        ("players.min=6", "--set players.min=6: players.min is 6, players.max is 5; allowed: min no larger than max"),
        ("players.max=11", "players.max is 11; allowed: a whole number from 2 to 10"),
        ("deal.cards_by_players=7", "deal.cards_by_players is 7; allowed: a table of players to cards"),
        ("deal.cards_by_players={1=7}", 'deal.cards_by_players has an entry for "1" players; allowed: 2 to 10'),
        (
            "deal.cards_by_players={2=true}",
            "deal.cards_by_players for 2 players is true; allowed: a whole number from 1",
        ),
        ("score.values=7", "score.values is 7; allowed: a table of ranks to points"),
        ("score.values={X=1}", 'score.values has no rank "X"; allowed: A 2 3 4 5 6 7 8 9 10 J Q K JKR'),
        ("score.values={8=-1}", "score.values for 8 is -1; allowed: a whole number from 0 to 1000"),
        ("turn_cap=1\nx = 2", 'turn_cap is "1\\nx = 2"; allowed: a whole number'),
        ("turn_cap=0x" + "f" * 9000, "turn_cap is a value too long to show; allowed: a whole number"),
        (f"turn_cap={'[' * 5000}", "[[[…; allowed: a whole number"),
    ],
)
def test_a_wrong_setting_is_one_line_with_what_is_allowed(text, said):
    assert said in error("ochos-locos", text)


def test_a_rank_with_an_effect_or_a_value_must_be_in_the_pack():
    short = "deck.ranks=7,8,9,10"
    assert "actions.2 names the rank 2, which the pack lacks; deck.ranks: 7 8 9 10" in error(
        "ochos-locos-actions", short
    )
    assert "score.values names the rank A, which the pack lacks" in error("ochos-locos", short, "score.values.A=2")
    assert load("ochos-locos", [short, "score.values.JKR=2"]).rules.points_of(14) == 2
    assert load("ochos-locos", [short, "jokers.effect={wild-draw=2}"]).rules.jokers.draw == 2


def test_a_pack_of_wilds_only_can_be_opened_by_the_dealer():
    assert load("ochos-locos", ["deck.ranks=8", "starter.wild=own-suit", "deal.cards=1"]).rules.pack_size(2) == 4


# Names and files


@pytest.mark.parametrize(
    ("spec", "said"),
    [
        ("ocho-locoo", 'no preset "ocho-locoo"; did you mean ocho-loco?; presets: crazy-aces, crazy-eights,'),
        ("OCHOS-LOCOS", "did you mean ochos-locos?"),
        ("changes", 'no preset "changes"; presets:'),
        ("", 'no preset ""; presets:'),
        ("+actions", 'no preset ""; presets:'),
        ("x" * 5000, "can not be read"),
        ("a\0b", "a\\x00b: can not be read"),
        ("ochos-locos+", "ochos-locos+: nothing after a plus sign; changes: draw-until-playable, draw-three,"),
        ("ochos-locos+silent", 'ochos-locos+silent: no change "silent"; did you mean silent-eight?; changes: draw-'),
        (
            "ochos-locos+draw-until-playable+draw-three",
            "draw-until-playable and draw-three exclude each other; both set draw.limit: " + '"until-playable", 3',
        ),
        (
            "ochos-locos+target-100+target-200",
            "target-100 and target-200 exclude each other; both set match.target: 100, 2",
        ),
    ],
)
def test_a_wrong_name_is_one_line_with_the_nearest_right_one(in_folder, spec, said):
    assert said in error(spec)


@pytest.mark.parametrize("asked", [describe, changes_of])
def test_what_is_asked_about_must_be_a_preset(asked):
    with pytest.raises(RulesError, match=r'^no preset "crazy-ace"; did you mean crazy-aces\?'):
        asked("crazy-ace")


def test_a_file_starts_from_the_defaults_and_may_carry_a_sheet_and_a_line_about_it(in_folder):
    in_folder("mine.toml", 'sheet = "Grandmother"\nabout = "As we play it."\n[deal]\ncards = 6\n')
    named = load("mine.toml")
    assert named.rules.as_dict() == expected(deal={"cards": 6})
    assert (named.preset, named.sheet, named.about, named.title) == (
        "mine.toml",
        "Grandmother",
        "As we play it.",
        "mine.toml",
    )
    in_folder("titled.toml", 'title = "Grandmother\'s"\nturn_cap = 100\n')
    assert load("titled.toml").about == "Grandmother's"


def test_a_file_may_start_from_a_changed_preset(in_folder):
    in_folder("mine.toml", 'base = "ochos-locos+silent-eight"\n[actions]\nJ = "again"\n[wild]\non_wild = false\n')
    named = load("mine.toml+draw-three", ["turn_cap=70"])
    assert named.sheet == "Ochos Locos (fr, de, it)"
    assert named.changes == ("draw-three",)
    want = load("ochos-locos+silent-eight+draw-three+no-eight-on-eight", ["actions.J=again", "turn_cap=70"])
    assert named.rules == want.rules
    # The base's sheet is the file's sheet, so that a change which depends on it is known.
    assert load("mine.toml+actions").rules.actions.by_rank() == {"2": 2, "J": "skip", "Q": "reverse"}


def test_a_table_in_a_file_replaces_that_of_the_base(in_folder):
    in_folder("mine.toml", 'base = "crazy-aces"\nscore.values = {K = 20}\n')
    assert load("mine.toml").rules.score.values == (("K", 20),)


def test_a_files_name_may_hold_a_plus_and_its_text_a_byte_order_mark(in_folder):
    in_folder("five+one.toml", b"\xef\xbb\xbfdeal.cards = 6\r\n")
    assert load("five+one.toml+silent-eight").rules == Rules.from_dict({"deal": {"cards": 6}, "wild": {"suit": "own"}})


@pytest.mark.parametrize(
    ("content", "said"),
    [
        ("", "bad.toml: holds no rules; allowed: a base, or options"),
        ("# only a comment\n", "bad.toml: holds no rules"),
        ('sheet = "Grandmother"', "bad.toml: holds no rules"),
        (b"\x80\x81", "bad.toml: byte 1 is not UTF-8 text; allowed: a rules file (TOML)"),
        (b"PK\x03\x04\x14\x00", "bad.toml: line 1, column 3: not TOML"),
        ("[draw]\nlimit = = 3\n", "bad.toml: line 2, column 9: not TOML: "),
        ("[draw]\nlimit = 3\nlimit = 4\n", "bad.toml: line 3, column 10: not TOML: "),
        ('[draw]\nlimit = "3', "bad.toml: line 2, at the end: not TOML: "),
        ("turn_cap = " + "9" * 5000, "bad.toml: holds a number of thousands of digits"),
        ("turn_cap = " + "[" * 5000, "bad.toml: not TOML: nested too deeply"),
        ("[drw]\nlimit = 3\n", 'bad.toml: no section or option "drw"; did you mean draw?; allowed: deck, players,'),
        ("limit = 3\n", 'bad.toml: no section or option "limit"; did you mean draw.limit?; allowed: deck,'),
        ("[draw]\nlimt = 3\n", 'bad.toml: no option "draw.limt"; did you mean draw.limit?; options: draw.limit,'),
        ("draw = 3\n", "bad.toml: draw is 3; allowed: a table of options, as in [draw]"),
        ("[[draw]]\nlimit = 3\n", "bad.toml: draw is [{limit = 3}]; allowed: a table of options"),
        (
            '[draw]\nlimit = "7"\n',
            'bad.toml: draw.limit is "7"; allowed: a whole number from 1 to 1000, until-playable',
        ),
        ("[draw]\nlimit = 2020-01-01\n", "bad.toml: draw.limit is 2020-01-01; allowed: a whole number"),
        ('[actions]\n2 = "drawtwo"\n', 'bad.toml: actions.2 is "drawtwo"; allowed: none, skip,'),
        ('[actions]\nJack = "skip"\n', 'bad.toml: no option "actions.Jack"; options: actions.final, actions.A,'),
        ('[wild]\nranks = ["9", "11"]\n', 'bad.toml: wild.ranks has no rank "11"; allowed: A 2 3'),
        ('[wild]\nranks = "8"\n', 'bad.toml: wild.ranks is "8"; allowed: a list of ranks in quotes'),
        (
            "[players]\nmin = 4\nmax = 3\n",
            "bad.toml: players.min is 4, players.max is 3; allowed: min no larger than max",
        ),
        (
            'shet = "Grandmother"\nturn_cap = 9\n',
            'bad.toml: no section or option "shet"; did you mean sheet?; allowed: deck',
        ),
        ('base = "ochos-loco"\n', 'bad.toml: base: no preset "ochos-loco"; did you mean ochos-locos?; presets: crazy-'),
        ('base = "bad.toml"\n', 'bad.toml: base: no preset "bad.toml"; presets: '),
        ('base = "ochos-locos+silnt-eight"\n', 'no change "silnt-eight"; did you mean silent-eight?; changes: '),
        ("base = 3\n", "bad.toml: base is 3; allowed: a line of text in quotes"),
        ('about = "a\\nb"\nturn_cap = 9\n', 'bad.toml: about is "a\\nb"; allowed: a line of text in quotes'),
    ],
)
def test_a_wrong_file_is_one_line_with_its_name(in_folder, content, said):
    in_folder("bad.toml", content)
    assert said in error("bad.toml")


def test_a_missing_file_a_folder_and_an_endless_file_are_one_line(in_folder, tmp_path):
    (tmp_path / "dir.toml").mkdir()
    assert error("none.toml") == "none.toml: no such file"
    assert error("ochos-locos.toml") == "ochos-locos.toml: no such file; did you mean ochos-locos?"
    assert error("dir.toml") == "dir.toml: is a directory; allowed: a preset's name or a rules file (TOML)"
    assert error(".").startswith(".: is a directory")
    in_folder("long.toml", "#" * 1_000_001)
    assert error("long.toml").startswith("long.toml: larger than 1,000,000 bytes")


def test_the_actions_of_no_sheet_are_nobodys(in_folder):
    in_folder("mine.toml", "turn_cap = 100\n")
    assert "the change actions takes its options from a preset's sheet, and these rules have none" in error(
        "mine.toml+actions"
    )


def test_a_wrong_dict_is_one_line():
    with pytest.raises(RulesError, match=r'^rules: draw\.limit is "7"; allowed: a whole number'):
        Rules.from_dict({"draw": {"limit": "7"}})
    with pytest.raises(RulesError, match=r'^rules: no section or option "preset"; allowed: deck'):
        Rules.from_dict({"preset": "ochos-locos"})


def test_keys_that_are_numbers_are_no_names():
    for section, key in (("score", "values"), ("deal", "cards_by_players")):
        with pytest.raises(RulesError, match=f"^rules: {section}.{key} has "):
            Rules.from_dict({section: {key: {8: 20}}})
    with pytest.raises(RulesError, match=r"^rules: no section or option "):
        Rules.from_dict({8: {}})


def test_a_line_stays_a_line_whatever_was_typed(in_folder):
    assert "a\\nb\\x1b[31m\\udc80" in error("ochos-locos", "draw.limit=a\nb\x1b[31m\udc80")


def test_rules_are_frozen():
    with pytest.raises(ValueError, match="frozen"):
        Rules().draw.limit = 2


# What the options mean for a number of players


@pytest.mark.parametrize(("cards", "most"), [(5, 10), (7, 7), (8, 6)])
def test_one_pack_seats_as_many_as_it_holds_cards_for(cards, most):
    """facts.md: 10, 7 and 6 players at 5, 7 and 8 cards."""
    rules = load("ochos-locos", ["players.max=10", "deck.packs=1", f"deal.cards={cards}"]).rules
    for players in range(2, most + 1):
        rules.check_players(players)
    for players in range(most + 1, 11):
        with pytest.raises(RulesError, match=r"the pack has 52$"):
            rules.check_players(players)


@pytest.mark.parametrize("cards", [5, 7, 8])
def test_two_packs_seat_the_largest_table(cards):
    """facts.md has 20, 14 and 12 players; a table has 10."""
    rules = load("ochos-locos", ["players.max=10", "deck.packs=2", f"deal.cards={cards}"]).rules
    rules.check_players(10)
    assert (rules.pack_size(10) - 1) // cards == {5: 20, 7: 14, 8: 12}[cards]


def test_too_few_cards_is_told_in_numbers():
    rules = load("ochos-locos", ["players.max=10", "deck.packs=1"]).rules
    with pytest.raises(RulesError, match=told("8 x 7 + 1 = 57 cards, the pack has 52")):
        rules.check_players(8)
    short = load("ochos-locos", ["deck.ranks=7,8,9,10,J,Q,K,A", "deck.jokers=2"]).rules
    assert short.pack_size(5) == 34
    with pytest.raises(RulesError, match=told("5 x 7 + 1 = 36 cards, the pack has 34")):
        short.check_players(5)
    two = load("ochos-locos", ["players.max=10", "deal.cards=11"]).rules
    with pytest.raises(RulesError, match=told("10 x 11 + 1 = 111 cards, the two packs have 104")):
        two.check_players(10)


def test_an_extra_hand_among_fewer_may_want_for_cards():
    """Four players have two packs here, three of them tied only one."""
    rules = load("ochos-locos", ["deck.two_packs_from=4", "deal.cards=18"]).rules
    rules.check_players(4)
    with pytest.raises(
        RulesError, match=told("4 players, an extra hand among 3: 3 x 18 + 1 = 55 cards, the pack has 52")
    ):
        rules.check_players(4, match=True)
    load("ochos-locos", ["deck.two_packs_from=4", "deal.cards=18", "match.tie=shared"]).rules.check_players(
        4, match=True
    )


@pytest.mark.parametrize(
    ("players", "said"),
    [
        (6, "6 players: these rules are for 2 to 5; --set players.max=6 allows it"),
        (11, "11 players: these rules are for 2 to 5; a table seats 2 to 10"),
        (1, "1 players: these rules are for 2 to 5; a table seats 2 to 10"),
    ],
)
def test_players_outside_the_sheets_range_are_told_the_way(players, said):
    with pytest.raises(RulesError) as caught:
        load("ochos-locos").rules.check_players(players)
    assert str(caught.value) == said
    with pytest.raises(RulesError, match=r"--set players\.min=3 allows it$"):
        load("ochos-locos", ["players.min=4"]).rules.check_players(3)


def test_packs_and_cards_follow_the_players():
    crazy = load("crazy-eights").rules
    assert [crazy.packs_for(n) for n in range(2, 8)] == [1, 1, 1, 1, 2, 2]
    assert [crazy.cards_each(n) for n in range(2, 8)] == [7, 5, 5, 5, 5, 5]
    assert [load("ochos-locos+two-packs").rules.packs_for(n) for n in (4, 5)] == [1, 2]
    assert load("ochos-locos", ["deck.two_packs_from=never"]).rules.packs_for(10) == 1
    assert load("ochos-locos+super-jokers", ["deck.packs=2"]).rules.pack_size(2) == 108
    assert [load("ocho-loco").rules.target_for(n) for n in (2, 3, 4)] == [100, 150, 200]
    assert load("crazy-eights").rules.target_for(7) == 200


def test_points_are_those_of_the_sheets():
    """An eight 50, J Q K 10, an ace 1, the others their pips: 508 a pack, 1016 two (facts.md)."""
    table = load("ochos-locos").rules.points_table()
    assert table == (0, 1, 2, 3, 4, 5, 6, 7, 50, 9, 10, 10, 10, 10, 50, 0)
    assert 4 * sum(table[1:14]) == 508
    assert load("ochos-locos", ["deck.packs=2"]).rules.packs_for(2) * 4 * sum(table[1:14]) == 1016


def test_a_value_of_its_own_beats_the_wilds_and_the_wilds_beat_the_pips():
    aces = load("crazy-aces").rules
    assert (aces.points_of(1), aces.points_of(8), aces.points_of(14)) == (1, 8, 50)
    assert load("ochos-locos", ["wild.ranks=A,8"]).rules.points_of(1) == 50
    own = load("ochos-locos", ["score.values={8=25, JKR=30, K=13}"]).rules
    assert (own.points_of(8), own.points_of(14), own.points_of(13)) == (25, 30, 13)


def test_drawing_until_playable_means_playing():
    assert load("ocho-loco").rules.play_drawn == "must"
    assert load("ocho-loco").rules.draw.play_drawn == "may"
    assert load("ochos-locos").rules.play_drawn == "may"
    assert load("ochos-locos", ["draw.play_drawn=no"]).rules.play_drawn == "no"
    assert load("crazy-eights", ["draw.play_drawn=no"]).rules.play_drawn == "must"


# Any rules at all


@st.composite
def any_rules(draw):
    """Nested tables of any valid rules."""

    def one_of(*values):
        return draw(st.sampled_from(values))

    def whole(low, high):
        return draw(st.integers(low, high))

    ranks = draw(st.lists(st.sampled_from(RANKS), min_size=2, unique=True))
    least = whole(2, 10)
    effects = st.sampled_from(["none", "skip", "reverse", "any-card", "again", {"draw": 1}, {"draw": 50}])
    return {
        "deck": {
            "packs": one_of("auto", 1, 2),
            "two_packs_from": one_of("never", 2, 10),
            "ranks": ranks,
            "jokers": whole(0, 4),
        },
        "players": {"min": least, "max": whole(least, 10)},
        "deal": {
            "cards": whole(1, 50),
            "cards_by_players": draw(st.dictionaries(st.integers(2, 10).map(str), st.integers(1, 50))),
            "countdown": whole(0, 50),
            "misdeal_rate": draw(st.floats(0, 0.999)),
        },
        "starter": {"wild": one_of("bury", "dealer-declares", "own-suit"), "action": one_of("none", "applies")},
        "wild": {
            "ranks": draw(st.lists(st.sampled_from(ranks), max_size=len(ranks) - 1, unique=True)),
            "suit": one_of("declared", "own", "delayed"),
            "on_wild": one_of(True, False),
            "may_finish": one_of(True, False),
        },
        "draw": {
            "limit": one_of(1, 3, 1000, "until-playable"),
            "voluntary": one_of(True, False),
            "play_drawn": one_of("may", "must", "no"),
        },
        "stock": {"empty": one_of("reshuffle", "pass")},
        "blocked": {"score": one_of("difference", "own-hand", "void")},
        "actions": {
            "final": one_of("ignored", "applies"),
            **draw(st.dictionaries(st.sampled_from(ranks), effects)),
        },
        "penalty": {"stack": one_of("same-rank", "any-draw", "off"), "loses_turn": one_of(True, False)},
        "reverse": {"two_players": one_of("none", "skip")},
        "jokers": {"effect": one_of("wild", {"wild-draw": 4})},
        "last_card": {"call": one_of(True, False), "penalty": whole(0, 50)},
        "illegal": {"penalty": whole(0, 50)},
        "stop": {"points": whole(0, 1000)},
        "score": {
            "style": one_of("losers-add", "winner-collects"),
            "values": draw(st.dictionaries(st.sampled_from([*ranks, "JKR"]), st.integers(0, 1000))),
        },
        "match": {
            "target": one_of(1, 500, {"per-player": 50}),
            "winner": one_of("lowest", "highest"),
            "tie": one_of("extra-hand-tied", "extra-hand-all", "shared"),
        },
        "turn_cap": whole(1, 50_000),
    }


@given(any_rules())
def test_any_rules_survive_every_way_of_writing_them(data):
    rules = Rules.from_dict(data)
    assert Rules.from_dict(rules.as_dict()) == rules
    assert Rules.from_dict(json.loads(json.dumps(rules.as_dict()))) == rules
    assert Rules.from_dict(tomllib.loads(rules.toml())) == rules
    assert Rules.from_dict(tomllib.loads(rules.toml())).toml() == rules.toml()
    assert hash(Rules.from_dict(rules.as_dict())) == hash(rules)


@given(any_rules())
def test_what_is_written_is_what_was_given(data):
    """The canonical form differs from the given one in the order of ranks and in effects of `none` alone."""
    data["deck"]["ranks"].sort(key=RANKS.index)
    data["wild"]["ranks"].sort(key=RANKS.index)
    data["actions"] = {rank: effect for rank, effect in data["actions"].items() if effect != "none"}
    assert Rules.from_dict(data).as_dict() == data


@given(any_rules(), st.data())
def test_a_wrong_type_anywhere_is_refused_by_the_name_of_its_option(data, more):
    """No option takes a list of a number, so whichever gets one must be named."""
    flat = [(s, o) for s, options_ in data.items() if s != "turn_cap" for o in options_]
    section, option = more.draw(st.sampled_from(flat))
    data[section][option] = [0.5]
    with pytest.raises(RulesError) as caught:
        Rules.from_dict(data)
    assert str(caught.value).startswith(f"rules: {section}.{option} is [0.5]; allowed: ")


def test_reading_rules_needs_no_compiler_and_no_data_frames():
    code = (
        "import sys, sim.rules; sim.rules.load('ochos-locos'); print({'numba', 'pandas', 'scipy'} & set(sys.modules))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=room.PRESETS.parents[1]
    )
    assert done.stdout == "set()\n"


def test_named_rules_are_plain_data():
    named = load("ochos-locos")
    assert isinstance(named, NamedRules)
    assert len({named, load("ochos-locos")}) == 1
