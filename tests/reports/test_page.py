"""Pages: that they are sound HTML that loads nothing, that text is text in HTML and in Markdown, exact tables."""

import hashlib
import re
import subprocess
import sys
from base64 import b64encode
from dataclasses import replace
from html.parser import HTMLParser
from itertools import pairwise

import html5lib
import pytest
from example_frames import RULES, example
from example_report import FACTS, TIPS, example_report
from markdown_it import MarkdownIt

from reports.answers import compared_rules
from reports.figures import save_figures
from reports.page import (
    DASH,
    Change,
    Number,
    RulesCompared,
    Section,
    Table,
    escape_markdown,
    estimate_cell,
    fact_rows,
    fenced,
    ranking_table,
    write_reports,
)
from sim.rules import diff, load

NASTY = '<script>alert("x")</script> | a_b*c* & [d](http://e.example)'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with figures, drawn once."""
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def report(folder):
    return example_report(folder)


def pages(tmp_path, what):
    html, markdown = write_reports(tmp_path, what)
    assert (html.name, markdown.name) == ("report.html", "report.md")
    return html.read_text(encoding="utf-8"), markdown.read_text(encoding="utf-8")


VOID = {"meta", "link", "br", "wbr", "hr", "img", "input"}


class Sound(HTMLParser):
    """Collect elements with their attributes and their path; fail where tags do not nest."""

    def __init__(self):
        super().__init__()
        self.open, self.elements, self.text = [], [], {}

    def handle_starttag(self, tag, attrs):
        assert len(dict(attrs)) == len(attrs), f"an attribute twice in {tag}"
        self.elements.append((tag, dict(attrs), tuple(self.open)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        assert "svg" in self.open or tag in VOID, f"{tag} cannot close itself in HTML"
        self.elements.append((tag, dict(attrs), tuple(self.open)))

    def handle_endtag(self, tag):
        assert self.open, f"</{tag}> without a start"
        assert self.open.pop() == tag, f"</{tag}> out of place"

    def handle_data(self, data):
        if self.open:
            self.text.setdefault(self.open[-1], []).append(data)

    def of(self, tag):
        return [attrs for name, attrs, _ in self.elements if name == tag]


def parsed(html):
    parser = Sound()
    parser.feed(html)
    parser.close()
    assert parser.open == []
    return parser


def test_html_is_parsed_without_an_error(folder, report):
    html, _ = pages(folder, report)
    html5lib.HTMLParser(strict=True).parse(html)
    with pytest.raises(html5lib.html5parser.ParseError):
        html5lib.HTMLParser(strict=True).parse(html.replace("</aside>", ""))


def test_html_is_sound_and_usable(folder, report):
    html, _ = pages(folder, report)
    page = parsed(html)
    assert html.startswith("<!DOCTYPE html>\n")
    assert page.of("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.of("meta")
    assert len(page.of("h1")) == 1
    assert page.text["h1"] == ["Which house rule is fairer?"]
    assert all(th.get("scope") in ("col", "row") for th in page.of("th"))
    assert len(page.of("caption")) == len(page.of("table")) == 6
    assert len(page.of("svg")) == 6
    # with headings below headings, and none left out
    levels = [int(tag[1]) for tag, _, _ in page.elements if tag in ("h1", "h2", "h3")]
    assert all(below - above <= 1 for above, below in pairwise(levels))
    titles = [path for tag, _, path in page.elements if tag == "title" and path[-1] == "svg"]
    assert len(titles) == 6
    scrolling = [div for div in page.of("div") if "wide" in div.get("class", "")]
    assert scrolling
    assert all(div["tabindex"] == "0" and div["role"] == "region" for div in scrolling)


def test_ids_are_unique_and_every_reference_has_its_target(folder, report):
    page = parsed(pages(folder, report)[0])
    ids = [attrs["id"] for _, attrs, _ in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs, _ in page.elements:
        for key in ("href", "xlink:href"):
            if attrs.get(key, "").startswith("#"):
                assert attrs[key][1:] in ids
        for label in (attrs.get("aria-labelledby") or "").split():
            assert label in ids


def test_nothing_is_loaded_and_nothing_runs_but_the_sorting(folder, report):
    html, _ = pages(folder, report)
    page = parsed(html)
    for tag, attrs, _ in page.elements:
        assert tag not in ("iframe", "object", "embed", "img", "image", "base", "form")
        assert not any(key.startswith("on") for key in attrs)
        for key in ("src", "href", "xlink:href", "data", "srcset", "action"):
            assert attrs.get(key, "#").startswith("#") or attrs[key] == "data:,"
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)
    policy = [meta["content"] for meta in page.of("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    (script,) = re.findall(r"<script>(.*?)</script>", html, re.DOTALL)
    assert page.of("script") == [{}]
    known = b64encode(hashlib.sha256(script.encode()).digest()).decode()
    assert policy == [
        f"default-src 'none'; script-src 'sha256-{known}'; style-src 'unsafe-inline'; img-src data:; "
        "base-uri 'none'; form-action 'none'"
    ]


def test_dark_print_and_phone_are_thought_of(folder, report):
    html, _ = pages(folder, report)
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert ".card { background: #ffffff;" in html
    assert "@media screen and (max-width: 30rem)" in html


def test_text_from_outside_is_text(tmp_path, report):
    results, ranking = (frame.replace(RULES[0], NASTY) for frame in example(2, 2))
    what = replace(
        report,
        question=NASTY,
        verdict=(NASTY,),
        sections=(
            Section(NASTY, (NASTY,), (ranking_table(ranking),), save_figures(results, ranking, tmp_path / "figures")),
            Section(NASTY, (), (Table(NASTY, (NASTY, NASTY), ((NASTY, NASTY), (NASTY, Number(NASTY, 1.0))), NASTY),)),
        ),
        method=(NASTY,),
        rules=(RulesCompared(NASTY, NASTY, (Change(NASTY, NASTY, NASTY),), NASTY),),
        command=f"{NASTY} ```",
        facts=replace(FACTS, lineup=NASTY, stop_reason=NASTY),
        glossary=((NASTY, NASTY),),
    )
    html, markdown = pages(tmp_path, what)
    page = parsed(html)
    # the one that sorts, and no other
    assert page.of("script") == [{}]
    assert page.text["h1"] == [NASTY]
    rendered = parsed(MarkdownIt("commonmark", {"html": True}).enable("table").render(markdown))
    assert not rendered.of("script")
    assert not rendered.of("a")
    assert not rendered.of("em")
    assert rendered.text["h1"] == [NASTY]
    assert rendered.text["code"] == [f"{NASTY} ```\n"]
    # a bar in a cell would make one more column
    rows = [line for line in markdown.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3, 4, 9}


def test_names_are_kept_together_where_a_line_ends(folder, report):
    html, _ = pages(folder, report)
    name = '<span class="name">ochos-locos</span><wbr><span class="name">+actions</span>'
    assert f"<p>Keeping eights helps, whatever {name} says.</p>" in html
    long = "a-rule-set-with-a-name-that-has-no-place-on-a-line"
    html, _ = pages(folder, replace(report, verdict=(f"It is {long}.",)))
    assert f"<p>It is {long}.</p>" in html


def test_what_differs_is_beside_the_verdict(folder, report):
    html, markdown = pages(folder, report)
    header = html[html.index("<header>") : html.index("</header>") + len("</header>")]
    page = parsed(header)
    assert "".join(page.text["h2"]).startswith("What exactly differs from ")
    assert page.text["code"] == ["wild.suit"]
    assert "</code> own instead of declared</dd>" in header
    # where many options differ they are counted, and told in full below
    assert '<dd><a href="#changes-4">7 options</a></dd>' in header
    assert '<caption id="changes-4">' in html
    assert (
        "What exactly differs from ochos-locos:\n\n"
        "- ochos-locos+silent-eight: wild.suit own instead of declared\n"
        "- crazy-eights: 7 options differ from ochos-locos, see Rules compared\n\n## 4 players"
    ) in markdown
    # of several bases each is named
    other = (*report.rules[:3], replace(report.rules[3], base="the defaults", changes=report.rules[3].changes[:1]))
    html, markdown = pages(folder, replace(report, rules=other))
    assert '<dt><span class="name">crazy-eights</span> from the defaults</dt>' in html
    assert "- crazy-eights: scoring.a 2 instead of 1 in the defaults\n\n" in markdown
    html, markdown = pages(folder, replace(report, rules=report.rules[:1]))
    assert "What exactly differs" not in html + markdown
    assert ">The rules</h2>" in html


def test_tables_of_all_kinds_are_set(folder, report):
    html, markdown = pages(folder, report)
    page = parsed(html)
    tables = [attrs.get("class", "") for attrs in page.of("table")]
    assert tables == ["data sortable", "data", "data sortable", "", "", "facts"]
    keys = [attrs["data-key"] for tag, attrs, path in page.elements if "data-key" in attrs]
    assert keys[-3:] == ["2.0", "-10.0", "12.0"]
    assert '<td data-key="2.0">2.0\n(1.0 to 3.0)</td>' in html
    assert "<td>–</td>" in html
    assert '<p class="note">A dash: never tried.</p>' in html
    assert (
        "## Tips\n\nKeeping eights helps, whatever ochos-locos+actions says.\n\nTips, the best first:\n\n"
        "| Tip | On the sheet | Gain, points | Games |\n"
    ) in markdown
    assert "| pass | Sometimes it is better to draw than to play, says the sheet | – | 100 |\n" in markdown
    assert "\n\nA dash: never tried.\n\n## What the columns mean\n\n- **Spread**: best" in markdown
    assert page.text["dt"][-2:] == ["Spread", "Rank"]
    bare = replace(report, glossary=(), sections=(Section("Nothing"),))
    html, markdown = pages(folder, bare)
    assert "columns mean" not in html + markdown
    assert "\n\n## Nothing\n\n## Method\n\n" in markdown


def test_rules_that_start_from_different_presets_are_compared_with_the_first():
    specs = ("ochos-locos+silent-eight", "crazy-eights", "ochos-locos")
    of_one, of_two = (compared_rules([load(spec) for spec in some]) for some in ((specs[0], specs[2]), specs))
    assert [(rules.base, len(rules.changes)) for rules in of_one] == [("ochos-locos", 1), ("ochos-locos", 0)]
    assert [rules.base for rules in of_two] == ["ochos-locos", specs[0], specs[0]]
    differing = [(change.key, change.before, change.after) for change in of_two[2].changes]
    assert differing == [("wild.suit", "own", "declared")]
    assert len(of_two[1].changes) == len(diff(load(specs[0]), load(specs[1]))) > 1


def test_an_estimate_is_sorted_by_its_value():
    assert estimate_cell(0.275, 0.274, 0.276, 100) == Number("27.5 (27.4 to 27.6)", 27.500000000000004)
    assert str(TIPS.rows[0][2]) == "2.0 (1.0 to 3.0)"


def test_markdown_holds_the_tables_the_pictures_and_the_command(folder, report):
    _, markdown = pages(folder, report)
    assert markdown.startswith("# Which house rule is fairer?\n\nSilent eights are fairest.\n\nThe rest")
    assert "\n\nPlayed by 4 x random · 250,000 deals, each under 4 rule sets · seed 7\n\nWhat exactly" in markdown
    first, table, then = (markdown.index(text) for text in ("![", "| Rules |", "![Position 1 wins"))
    assert first < table < then
    assert (
        "| Rules | Rank | May be fairest | Spread, points | Best position | Worst position "
        "| Turns a hand | Blocked hands, % |\n"
        "| --- | --- | --- | --- | --- | --- | --- | --- |\n"
        "| ochos-locos+silent-eight | 1 to 2 | yes | 1.5 (1.3 to 1.7) | 1 | 4 "
        "| 40.00 (39.95 to 40.05) | 0.04 (0.03 to 0.05) |\n"
    ) in markdown
    assert "| wild.suit | declared | own |" in markdown
    assert "```sh\nochos-sim fairness --rules ochos-locos --seed 7\n```" in markdown
    links = re.findall(r"!\[(.+)\]\((.+)\)", markdown)
    assert [link for _, link in links] == [
        f"figures/{name}-{players}-players.png" for players in (4, 2) for name in ("spread", "win-share", "length")
    ]
    assert all((folder / link).exists() for _, link in links)
    assert "\n\n\n" not in markdown


def test_what_was_played_is_said_in_full(folder, report):
    html, markdown = pages(folder, report)
    for text in ("Played at home.", "ochos-locos as it stands.", "No option differs from the defaults."):
        assert text in html
        assert text in markdown
    assert "<details>\n<summary>All rules of ochos-locos</summary>" in html
    assert "<code>turn_cap = 9\n[wild]</code>" in html
    assert markdown.endswith("### All rules of ochos-locos\n\n```toml\nturn_cap = 9\n[wild]\n```\n")
    assert html.count("Sheet:") == markdown.count("Sheet:") == 2
    assert "Played by 4 x random · 250,000 deals, each under 4 rule sets · seed 7" in html


def test_endings_that_never_came_are_left_out_and_said():
    _, ranking = example(2, 4)
    never = ranking.assign(blocked=0.0, blocked_low=0.0, blocked_high=0.00019)
    table = ranking_table(never.assign(capped=0.0, capped_low=0.0, capped_high=0.0001))
    assert table.columns[-1] == "Turns a hand"
    assert table.note.startswith(
        "No hand was blocked or capped (at most 0.019 % of hands). Position 1 sits left of the dealer"
    )
    assert ranking_table(ranking).note.startswith("Position 1 sits left of the dealer")


def test_ranking_table_of_several_and_of_one():
    _, ranking = example(3, 4)
    table = ranking_table(ranking)
    assert table.columns == (
        "Rules", "Rank", "May be fairest", "Spread, points", "Best position", "Worst position",
        "Turns a hand", "Blocked hands, %",
    )  # fmt: skip
    assert table.caption == "Rule sets, the fairest first, with 95 % intervals in brackets"
    printed = [tuple(map(str, row[:6])) for row in table.rows]
    assert printed[0] == ("ochos-locos+silent-eight", "1 to 2", "yes", "1.5 (1.3 to 1.7)", "1", "4")
    assert printed[2] == ("ochos-locos+no-eight-on-eight", "3", "no", "2.1 (1.9 to 2.3)", "1", "4")
    assert table.rows[0][1] == Number("1 to 2", 1)
    assert table.rows[0][3].value == pytest.approx(1.5)
    assert "May be fairest" in table.note
    one = ranking_table(ranking.iloc[:1].assign(spread_low=0.0))
    assert one.columns[:4] == ("Rules", "Spread, points", "Best position", "Worst position")
    assert one.caption == "How fair the positions are, with 95 % intervals in brackets"
    assert (str(one.rows[0][1]), *one.rows[0][2:4]) == ("1.5 (0.0 to 1.7)", DASH, DASH)
    assert "May be fairest" not in one.note


def test_a_measure_without_a_label_is_shown_under_its_name():
    _, ranking = example(2, 4)
    table = ranking_table(ranking.assign(lead_changes=3.0, lead_changes_low=2.5, lead_changes_high=3.5))
    assert table.columns[-1] == "Lead changes"
    assert table.rows[0][-1] == Number("3.0 (2.5 to 3.5)", 3.0)


def test_facts():
    assert fact_rows(FACTS) == [
        ("Seed", "7"),
        ("Hands", "1,000,000: 250,000 deals, each under 4 rule sets"),
        ("Line-up", "4 x random"),
        ("Stopped because", "all hands played"),
        ("Version", "ochos-sim 0.1.0, random numbers version 1"),
    ]


@pytest.mark.parametrize(
    ("text", "escaped"),
    [
        ("2.3 (2.2 to 2.5)", "2.3 (2.2 to 2.5)"),
        ("a|b\nc", r"a\|b c"),
        ("# no heading", r"\# no heading"),
        ("1. no list", r"1\. no list"),
        ("- no list", r"\- no list"),
        ("+ no list", r"\+ no list"),
        ("<b>", r"\<b\>"),
        ("back\\slash", r"back\\slash"),
    ],
)
def test_escape_markdown(text, escaped):
    assert escape_markdown(text) == escaped


def test_a_fence_is_longer_than_any_in_the_text():
    assert fenced("a") == "```sh\na\n```"
    assert fenced("a ```` b") == "`````sh\na ```` b\n`````"


def test_equal_reports_give_equal_bytes(folder, tmp_path, report):
    first = pages(folder, report)
    assert pages(folder, report) == first
    # the page holds its figures, so it is the same wherever it lies; the Markdown's links say where they are
    html, markdown = pages(tmp_path, report)
    assert html == first[0]
    assert "/results0/figures/spread-4-players.png)" in markdown


def test_a_figure_without_a_title_is_refused(tmp_path, report):
    bare = tmp_path / "bare.svg"
    bare.write_text('<svg xmlns="http://www.w3.org/2000/svg"></svg>')
    with pytest.raises(ValueError, match=r"bare\.svg has no title"):
        write_reports(tmp_path, replace(report, sections=(replace(report.sections[0], figures=(bare,)),)))


def test_the_drawing_library_is_not_loaded_for_a_page():
    code = "import sys; sys.path[:0] = ['.']; import reports.page; assert 'matplotlib' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
