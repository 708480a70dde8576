"""Pages that hold: their commands run, and what they say of options, fields, defaults and imports is what the code has.

Where a list in a page and a list in the code are compared, it is both ways: nothing is missing, nothing is made up.
"""

import ast
import csv
import io
import json
import re
import shlex
from dataclasses import fields
from pathlib import Path

import pandas as pd
import pyarrow.parquet as pq
import pytest
import typer
from typer.testing import CliRunner

from cli import app
from door.words import parse_count
from reports.measures import BY_NAME
from sim.batch import row_columns
from sim.bench import Machine, Row
from sim.cards import RANKS
from sim.rules import changes_of, describe, load, options, preset_names
from strategies.registry import built_in

ROOT = Path(__file__).parent.parent
PAGES = (ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")))
CONTRACTS = (ROOT / "docs" / "contracts.md").read_text("utf-8")
RULES = (ROOT / "docs" / "rules.md").read_text("utf-8")
DESIGN = (ROOT / "docs" / "design.md").read_text("utf-8")
MOST = {"--hands": 2_000, "--matches": 40}
"""How much a command in a page plays at most when it is tried."""
NOT_RUN = {
    "make": "sets up an environment of its own",
    "ochos-sim bench": "takes minutes; tests/sim/test_bench.py has its own",
}
"""What stands in the pages and is not tried, with the reason."""


# --- Reading a page ------------------------------------------------------------------------------------------------


def section(page, title):
    """The text under a heading, up to the next one of its level or above."""
    found = re.search(rf"^(#+) {re.escape(title)}\n(.*?)(?=^#{{1,6}} |\Z)", page, re.MULTILINE | re.DOTALL)
    assert found, title
    level = len(found[1])
    rest = page[found.start() + len(found[1]) + 1 :]
    return re.split(rf"^#{{1,{level}}} ", rest, maxsplit=1, flags=re.MULTILINE)[0]


def tables(text):
    """The tables of a text by the line that stands before each: rows of cells, without the head."""
    found = {}
    for match in re.finditer(r"([^\n]*)\n\n((?:\|.*\n)+)", text):
        rows = [
            [cell.strip() for cell in re.split(r"(?<!\\)\|", line.strip().strip("|"))] for line in match[2].splitlines()
        ]
        found[match[1]] = rows[2:]
    return found


def quoted(cell):
    return re.findall(r"`([^`]+)`", cell)


def named(rows, column=0):
    """All that stands between backticks in a column, in order."""
    return [name for row in rows for name in quoted(row[column])]


def table_after(text, lead):
    """The table behind the line that begins so."""
    (rows,) = (rows for line, rows in tables(text).items() if line.startswith(lead))
    return rows


def commands(text):
    """The lines of a page's shell blocks, of console blocks those with a prompt, and commands within sentences."""
    for kind, block in re.findall(r"^```(sh|console)\n(.*?)^```", text, re.MULTILINE | re.DOTALL):
        for line in block.replace("\\\n", " ").splitlines():
            if kind == "console" and not line.startswith("$ "):
                continue
            if words := shlex.split(line.removeprefix("$ "), comments=True):
                yield words
    outside = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    for line in re.findall(r"`(ochos-sim [^`]*)`", outside):
        if not re.search(r"VERB|…", line):
            yield shlex.split(line)


# --- Running -------------------------------------------------------------------------------------------------------


def run(*words):
    result = CliRunner().invoke(app, list(map(str, words)))
    assert result.exit_code == 0, result.stderr or result.exception
    return result.stdout


def answer(*words):
    return json.loads(run(*words, "--format", "json"))


def smaller(words):
    """The command with no more to play than a test has time for."""
    words = list(words)
    for option, most in MOST.items():
        for at, word in enumerate(words):
            if word == option and parse_count(option, words[at + 1]) > most:
                words[at + 1] = str(most)
            elif word.startswith(f"{option}=") and parse_count(option, word.partition("=")[2]) > most:
                words[at] = f"{option}={most}"
    if words[0] in ("simulate", "fairness") and not any(word.startswith(tuple(MOST)) for word in words):
        words += ["--hands", str(MOST["--hands"])]
    return words


EXAMPLES = [
    pytest.param(words, id=f"{page.name}: {shlex.join(words)}")
    for page in PAGES
    for words in commands(page.read_text("utf-8"))
]


def test_there_are_commands_to_try():
    assert sum(example.values[0][0] == "ochos-sim" for example in EXAMPLES) >= 3


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """One folder for all, so that a command may use the file that one before it has written."""
    return tmp_path_factory.mktemp("pages")


@pytest.mark.parametrize("words", EXAMPLES)
def test_commands_in_pages_run(words, folder, monkeypatch):
    """Without a shell, so nothing but `> FILE` and a pipe, of which the first part is run, is understood."""
    beginnings = {words[0], " ".join(words[:2])}
    if words[0] != "ochos-sim" or beginnings & set(NOT_RUN):
        assert beginnings & set(NOT_RUN), f"{shlex.join(words)}: run it, or say in NOT_RUN why not"
        return
    monkeypatch.chdir(folder)
    words = words[1 : words.index("|") if "|" in words else None]
    target = None
    if ">" in words:
        words, target = words[: words.index(">")], words[words.index(">") + 1]
    out = run(*smaller(words))
    if target is not None:
        Path(target).write_text(out, "utf-8")


# --- Options -------------------------------------------------------------------------------------------------------


def verbs(command=None, name=""):
    """Every command with its options: (name, command), groups and what is in them."""
    command = command or typer.main.get_command(app)
    yield name, command
    for inner, each in getattr(command, "commands", {}).items():
        yield from verbs(each, f"{name} {inner}".strip())


def options_of(command):
    return [option for option in command.params if option.param_type_name == "option"]


VERBS = dict(verbs())


def test_every_option_has_help_and_its_verbs_have_it():
    """The table of options in the contracts names each option, with just those verbs that have it."""
    rows = table_after(section(CONTRACTS, "Option names"), "An option means the same")
    documented = {row[0].strip("`"): row[2] for row in rows}
    having = {}
    for verb, command in VERBS.items():
        for option in options_of(command):
            assert option.help or "--help" in option.opts, (verb, option.opts)
            for name in option.opts:
                having.setdefault(name, set()).add(verb)
    having.setdefault("--help", set(VERBS))
    assert set(documented) == set(having)
    for name, told in documented.items():
        if name == "--version":
            assert having[name] == {""}
        elif name != "--help":
            assert set(quoted(told)) == having[name] or (told == "all" and having[name] == set(VERBS) - {""}), name


def test_every_option_shows_its_help():
    """What --help prints holds each option of the verb."""
    for verb, command in VERBS.items():
        shown = run(*verb.split(), "--help")
        for option in options_of(command):
            assert all(name in shown for name in option.opts), (verb, option.opts)


def test_every_verb_is_named_and_no_other():
    rows = table_after(section(CONTRACTS, "Verbs"), "")
    assert set(named(rows)) == {verb for verb in VERBS if verb and " " not in verb}
    inner = {verb for verb in VERBS if " " in verb}
    assert inner == set(quoted(section(CONTRACTS, "Verbs"))) & inner
    reserved = re.search(r"^Reserved for verbs to come: (.*)$", CONTRACTS, re.MULTILINE)
    assert not set(quoted(reserved[1])) & set(VERBS)


# --- JSON ----------------------------------------------------------------------------------------------------------

ESTIMATE = {"value", "se", "low", "high"}


def fields_of(title):
    """The fields that a section of the contracts names, by the line before each table."""
    return {lead: set(named(rows)) for lead, rows in tables(section(CONTRACTS, title)).items()}


def entries(told, beginning):
    (found,) = (names for lead, names in told.items() if lead.startswith(beginning))
    return found


def test_fields_of_an_estimate():
    assert entries(fields_of("Conventions"), "An **estimate**") == ESTIMATE


def test_fields_of_simulate():
    told = fields_of("`simulate --format json`")
    people = ["--strategy", "random", "--strategy", "first-legal", "--illegal-rate", 0.1, "--forget-last-card", 0.2]
    hands = answer("simulate", "--players", 2, *people, "--hands", 200, "--quiet")
    matches = answer("simulate", "--players", 2, *people, "--matches", 20, "--quiet")
    assert set(hands) == entries(told, "One object.") - {"matches", "measures"}
    assert set(matches) == entries(told, "One object.") - {"measures"}
    assert set(hands["evenness"]) == entries(told, "The object `evenness`:")
    asked = answer("simulate", "--hands", 200, "--measure", "lead_changes_per_hand", "--quiet")
    assert set(asked) == entries(told, "One object.") - {"matches"}
    assert all(set(value) == ESTIMATE for value in asked["measures"].values())
    for found in (hands, matches):
        for entry in found["lineup"]:
            assert set(entry) == entries(told, "An entry of `lineup`:") - {"source"}
        for entry in found["positions"]:
            assert set(entry) == entries(told, "An entry of `positions`:")
            assert all(set(entry[name]) == ESTIMATE for name in set(entry) - {"position"})
        for entry in found["strategies"]:
            assert set(entry) == entries(told, "An entry of `strategies`")
        assert set(found["turns_per_hand"]) == entries(told, "A distribution:")
        ways = next(row[3] for row in table_after(section(CONTRACTS, "`simulate --format json`"), "One object.")
                    if row[0] == "`ended`")  # fmt: skip
        assert set(found["ended"]) == set(quoted(ways))
    assert set(matches["matches"]) == entries(told, "The object `matches`:")
    assert set(matches["matches"]["turns_per_match"]) == entries(told, "A distribution:")
    for entry in matches["matches"]["win_share_by_seat"]:
        assert set(entry) == entries(told, "An entry of `win_share_by_seat`")


def test_kinds_of_fields_of_simulate():
    """An estimate is told to be one, and so on."""
    found = answer("simulate", "--matches", 20, "--quiet")
    for lead, part in (("One object.", found), ("The object `matches`:", found["matches"])):
        for names, kind, *_ in table_after(section(CONTRACTS, "`simulate --format json`"), lead):
            for name in set(quoted(names)) - {"measures"}:
                value = part[name]
                assert {
                    "estimate": lambda value: set(value) == ESTIMATE,
                    "distribution": lambda value: "p99" in value,
                    "object": lambda value: isinstance(value, dict),
                    "object of estimates": lambda value: all(set(each) == ESTIMATE for each in value.values()),
                    "string": lambda value: isinstance(value, str),
                    "integer": lambda value: type(value) is int,
                    "number": lambda value: type(value) in (int, float),
                    "list": lambda value: isinstance(value, list),
                }[kind.split(" of ")[0] if kind.startswith("list") else kind](value), (name, kind)


def test_reasons_why_a_run_stopped():
    """Each of those that the page lists can be met, and no other was."""
    listed = section(CONTRACTS, "`simulate --format json`").partition("`stopped` is one of these:")[2]
    listed = listed.partition("With `--matches`")[0]
    for words, said in (
        (["--hands", 50], "all hands played"),
        (["--matches", 5], "all matches played"),
        (["--hands", 5000, "--precision", 0.2], "precise enough: "),
        (["--hands", 50, "--precision", 0.001], "all hands played before ± "),
    ):
        reason = answer("simulate", *words, "--quiet")["stopped"]
        assert reason.startswith(said)
        assert said in listed
    assert "`interrupted`" in listed


def test_fields_of_length():
    told = fields_of("`length --format json`")
    words = ["length", "--vary", "draw-three", "--players", "2", "--longer-than", "30", "--quiet"]
    matches, hands = answer(*words, "--matches", 30), answer(*words, "--hands", 100)
    of_matches = {"hands_per_match", "turns_per_match", "minutes_per_match"}
    for found, less, fewer in ((matches, set(), set()), (hands, {"matches"}, of_matches)):
        assert set(found) == entries(told, "One object.")
        for part in found["players"]:
            assert set(part) == entries(told, "An answer of `players`:") - less
            for row in part["ranking"]:
                assert set(row) == entries(told, "A row of `ranking`:") - fewer
                for length in set(row) & (of_matches | {"turns_per_hand", "minutes_per_hand"}):
                    asked = {"longer 30"} if length == f"minutes_per_{'hand' if fewer else 'match'}" else set()
                    assert set(row[length]) == {"mean", "p10", "median", "p90"} | asked
                    assert all(set(value) == ESTIMATE for value in row[length].values())
                assert set(row["unfinished"]) == ESTIMATE
                assert all(set(place) == ESTIMATE | {"hand"} for place in row["leader_wins"])
                assert bool(row["leader_wins"]) == (not fewer)
            for pair in part["differences"]:
                assert set(pair) == entries(fields_of("`fairness --format json`"), "An entry of `differences`")


def test_fields_of_fairness():
    told = fields_of("`fairness --format json`")
    words = ["--vary", "draw-three", "--players", "2,3", "--quiet"]
    hands = answer("fairness", *words, "--hands", 200)
    matches = answer("fairness", *words, "--matches", 20)
    ranked = entries(told, "An entry of `ranking`:")
    of_matches = {"hands_per_match", "turns_per_match", "first_dealer_wins"}
    for found, less, fewer in ((hands, {"matches"}, of_matches), (matches, set(), set())):
        assert set(found) == entries(told, "One object.")
        for entry in found["rules"]:
            assert set(entry) == entries(told, "An entry of `rules`:")
        for part in found["players"]:
            assert set(part) == entries(told, "An entry of `players`:") - less
            for entry in part["ranking"]:
                assert set(entry) == ranked - fewer
                assert all(set(place) == {"position", "win_share"} for place in entry["positions"])
                measures = [name for name, value in entry.items() if isinstance(value, dict) and name != "evenness"]
                assert all(set(entry[name]) == ESTIMATE for name in measures)
            for entry in part["differences"]:
                assert set(entry) == entries(told, "An entry of `differences`")
            (pair,) = part["differences"]
            assert [pair["minus"], pair["rules"]] == [entry["rules"] for entry in part["ranking"]]


def test_fields_of_trace():
    """All events, met in matches under rules that have them all."""
    told = {}
    for event, names, *_ in table_after(section(CONTRACTS, "`trace --format json`"), "The lines show the form"):
        kind = quoted(event)[0] if event else kind  # noqa: F821 (the one of the row above)
        told.setdefault(kind, {"event"}).update(quoted(names))
    people = ["--illegal-rate", 0.1, "--forget-last-card", 0.3, "--notice-rate", 0.7, "--players", 3]
    rules = "crazy-eights-actions+delayed-suit+dealer-declares+final-draw-applies"
    sets = [
        *("--set", "last_card.call=true", "--set", "draw.voluntary=true", "--set", "stop.points=3"),
        *("--set", "deck.ranks=A,2,3,7,8,J,Q,K", "--set", "draw.limit=1"),
    ]
    met, why = {}, set()
    for game in range(12):
        lines = run("trace", "--rules", rules, *sets, *people, "--match", "--game", game, "--format", "json")
        for event in map(json.loads, lines.splitlines()):
            met.setdefault(event["event"], set()).add(frozenset(event))
            why |= {event["why"]} if "why" in event else set()
            if event["event"] == "match":
                assert all(set(entry) == {"strategy", "illegal_rate", "forget_last_card"} for entry in event["lineup"])
    assert {kind: {frozenset(names)} for kind, names in told.items()} == met
    reasons = next(
        row[3]
        for row in table_after(section(CONTRACTS, "`trace --format json`"), "The lines show the form")
        if row[1] == "`why`"
    )
    assert why <= set(quoted(reasons))
    assert why >= {"stuck", "penalty", "last-card", "illegal"}
    shown = re.findall(r'^\{"event":"([a-z-]+)"', section(CONTRACTS, "`trace --format json`"), re.MULTILINE)
    assert set(shown) == set(told)


def test_fields_of_lists():
    told = fields_of("Lists")
    for preset in answer("presets"):
        assert set(preset) == entries(told, "`presets --format json`")
        (changes,) = (row[2] for row in table_after(section(CONTRACTS, "Lists"), "`presets --format json`")
                      if row[0] == "`changes`")  # fmt: skip
        assert all(set(change) == set(quoted(changes)) for change in preset["changes"])
    assert answer("presets", "show", "ocho-loco") == load("ocho-loco").rules.as_dict()
    for entry in answer("presets", "diff", "ochos-locos", "ocho-loco"):
        assert set(entry) == entries(told, "`presets diff --format json`")
    for entry in answer("strategies"):
        assert set(entry) == entries(told, "`strategies --format json`")


def test_fields_of_bench():
    """Not measured here: the fields are those of the records that are printed."""
    told = fields_of("`bench --format json`")
    assert entries(told, "The object `machine`:") == {field.name for field in fields(Machine)}
    assert entries(told, "An entry of `rows`:") == {field.name for field in fields(Row)}


# --- Tables and files ----------------------------------------------------------------------------------------------


def columns(lead, title="The results folder"):
    (found,) = (named(rows) for line, rows in tables(section(CONTRACTS, title)).items() if line.startswith(lead))
    return found


def head(*words):
    return next(csv.reader(io.StringIO(run(*words, "--format", "csv", "--quiet"))))


def test_columns_of_results_and_ranking():
    """In the order of the page, in the folder and as CSV."""
    ranking = columns("Columns of `ranking.parquet`")
    of_matches = [name for name in ranking if name.startswith(("hands_per_match", "turns_per_match", "first_dealer"))]
    assert head("simulate", "--hands", 100) == columns("Columns of `results.parquet`")
    assert head("fairness", "--matches", 10) == ranking
    assert head("fairness", "--hands", 100) == [name for name in ranking if name not in of_matches]


def test_files_of_a_results_folder(tmp_path):
    out = tmp_path / "out"
    run("fairness", "--vary", "draw-three", "--matches", 10, "--out", out, "--quiet")
    listed = {name.rstrip("/") for name in columns("`simulate` and `fairness` write it")}
    assert {path.name for path in out.iterdir()} == listed
    for name, lead in (("results", "Columns of `results.parquet`"), ("ranking", "Columns of `ranking.parquet`")):
        assert list(pd.read_csv(out / f"{name}.csv").columns) == columns(lead)
        assert pq.read_schema(out / f"{name}.parquet").names == columns(lead)


MIXED = ["--strategy", "random"] * 3 + ["--strategy", "dump-high"]


def test_measures_of_results():
    """Their names, units and whether they are there by position, strategy or seat."""
    rows = table_after(section(CONTRACTS, "The results folder"), "Measures:")
    found = pd.read_csv(io.StringIO(run("simulate", "--matches", 8, "--format", "csv", "--quiet", *MIXED)))
    seen = {}
    for row in found.itertuples():
        seen.setdefault((row.measure, row.unit), set()).add("" if pd.isna(row.by) else row.by)
    told = {(name, row[1]): set(filter(None, row[2].split(", "))) or {""} for row in rows for name in quoted(row[0])}
    assert told == seen
    units = {name: measure.unit for name, measure in BY_NAME.items() if name in {measure for measure, _ in seen}}
    assert dict(told.keys()) == units


@pytest.mark.parametrize(("lead", "matches"), [("A row a hand:", False), ("A row a match:", True)])
def test_columns_of_rows(lead, matches):
    told = [name.replace("_n", "_3") for name in columns(lead, "Per-game rows")]
    expected = [name for name in row_columns(3, matches) if not name.endswith("_2")]
    assert told == expected


# --- The rules page ------------------------------------------------------------------------------------------------


def option_rows():
    """Rows of the tables of options: (key, default as it is written)."""
    for rows in tables(section(RULES, "Options")).values():
        for row in rows:
            keys = quoted(row[0])
            if keys[0].startswith("actions.") and len(keys) > 1:
                keys = [f"actions.{rank}" for rank in RANKS]
            for key in keys:
                yield key, row[2].strip("`")


def as_written(key, default):
    if key == "deck.ranks":
        return "all 13"
    if default in ({}, [], ()):
        return "empty"
    if isinstance(default, bool):
        return str(default).lower()
    return json.dumps(default) if isinstance(default, list) else f"{default:g}" if default == 0 else str(default)


def test_every_option_of_the_rules_is_on_the_page_with_its_default():
    written = list(option_rows())
    assert dict(written) == {key: as_written(key, option.default) for key, option in options().items()}
    assert len(written) == len(options())


def test_every_bound_of_a_number_is_on_the_page():
    """`1 to 50` there is `from 1 to 50` here."""
    allowed = {}
    for rows in tables(section(RULES, "Options")).values():
        for row in rows:
            allowed |= dict.fromkeys(quoted(row[0]), row[1])
    for key, option in options().items():
        for low, high in re.findall(r"number from ([\d.]+) to ([\d.]+)", " ".join(option.allowed)):
            written = allowed[key]
            each = {f"`{number}`" for number in range(int(low), int(float(high)) + 1)} if float(high) < 3 else set()
            assert f"{low} to {high}" in written or each <= set(re.findall(r"`[^`]*`", written)), key


def test_every_word_that_an_option_allows_is_on_the_page():
    allowed = {}
    for rows in tables(section(RULES, "Options")).values():
        for row in rows:
            allowed |= dict.fromkeys(quoted(row[0]), row[1])
    for key, option in options().items():
        for word in option.allowed:
            if re.fullmatch(r"[a-z-]+", word) and not (key.startswith("actions.") and key not in allowed):
                assert f"`{word}`" in allowed[key], (key, word)


def test_every_preset_is_on_the_page():
    rows = next(iter(tables(section(RULES, "Presets")).values()))
    assert sorted(named(rows)) == sorted(preset_names())
    abbreviations = {"OL": "Ochos Locos", "OcL": "Ocho Loco", "CE": "Crazy Eights"}
    for row in rows:
        assert describe(quoted(row[0])[0]).sheet.startswith(abbreviations[row[1].partition(",")[0]])


def test_every_change_is_on_the_page():
    rows = next(iter(tables(section(RULES, "Named changes")).values()))
    assert sorted(named(rows)) == sorted({change.name for name in preset_names() for change in changes_of(name)})


def test_what_a_change_sets_is_on_the_page():
    """Every change but `actions`, which depends on the preset: what it sets is what the page says."""
    rows = next(iter(tables(section(RULES, "Named changes")).values()))
    changes = {change.name: change for change in changes_of("ochos-locos")}
    for name, told, *_ in rows:
        change = changes[name.strip("`")]
        if change.name != "actions":
            written = dict(setting.split(" = ", 1) for setting in quoted(told))
            assert set(written) == set(change.settings)
            plain = load("ochos-locos", [f"{key}={value}" for key, value in written.items()])
            assert plain.rules == load(f"ochos-locos+{change.name}").rules


def test_every_strategy_is_in_the_design():
    rows = next(iter(tables(section(DESIGN, "Strategies")).values()))
    assert sorted(named(rows)) == sorted(built_in())


# --- The design ----------------------------------------------------------------------------------------------------


def imported_by(path):
    """The modules of the project that a file imports, anywhere in it; those of its own room without the room."""
    room = path.parent.name
    found = set()
    for node in ast.walk(ast.parse(path.read_text("utf-8"))):
        if isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] in (
            "sim",
            "strategies",
            "reports",
        ):
            plain = "." not in node.module
            found |= {f"{node.module}.{alias.name}" for alias in node.names} if plain else {node.module}
    return {name.removeprefix(f"{room}.") for name in found}


def test_imports_are_those_of_the_design():
    """Each file of `sim` and `reports` imports what its row names, no less and no more; `strategies` together."""
    rows = next(iter(tables(section(DESIGN, "The rooms")).values()))
    told = {name: row[2] for row in rows for name in quoted(row[0])}
    files = [path for room in ("sim", "reports") for path in (ROOT / room).glob("*.py") if path.name != "__init__.py"]
    assert {name for name in told if re.fullmatch(r"(sim|reports)/\w+\.py", name)} == {
        str(path.relative_to(ROOT)) for path in files
    }
    for path in files:
        may = told[str(path.relative_to(ROOT))]
        does = imported_by(path)
        if "the rest of `reports`" in may:
            does = {name for name in does if "." in name}
            may = may.replace("`reports`", "")
        assert does == set(quoted(may)), path
    strategies = set()
    for path in (ROOT / "strategies").glob("*.py"):
        strategies |= {name for name in imported_by(path) if name.startswith(("sim.", "reports."))}
    assert strategies == set(quoted(told["strategies/"]))


def test_links_between_pages_lead_somewhere():
    for page in PAGES:
        text = re.sub(r"^```.*?^```", "", page.read_text("utf-8"), flags=re.MULTILINE | re.DOTALL)
        for target in re.findall(r"\]\(([^)\s]+)\)", text):
            if re.match(r"[a-z]+:", target):
                continue
            file, _, anchor = target.partition("#")
            other = (page.parent / file).resolve() if file else page
            assert other.exists(), (page.name, target)
            if anchor and other.suffix == ".md":
                heads = re.findall(r"^#+ (.*)$", other.read_text("utf-8"), re.MULTILINE)
                anchors = {re.sub(r"[^\w\- ]", "", head.lower()).replace(" ", "-") for head in heads}
                assert anchor in anchors, (page.name, target)
