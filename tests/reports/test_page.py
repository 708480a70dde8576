"""Pages: that they are sound HTML that loads nothing, that text is text in HTML and in Markdown, exact tables."""

import re
import subprocess
import sys
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from example_frames import RULES, example
from markdown_it import MarkdownIt

from reports.figures import save_figures
from reports.page import (
    Change,
    Facts,
    Report,
    RulesCompared,
    Section,
    escape_markdown,
    fact_rows,
    fenced,
    ranking_table,
    write_reports,
)

FACTS = Facts(
    seed=7,
    hands=1_000_000,
    played="250,000 deals, each under 4 rule sets",
    version="0.1.0",
    rng_version=1,
    lineup="4 x random",
    stop_reason="all hands played",
)
NASTY = '<script>alert("x")</script> | a_b*c* & [d](http://e.example)'


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A folder with figures, drawn once."""
    return tmp_path_factory.mktemp("results")


@pytest.fixture(scope="module")
def report(folder):
    sections = []
    for sets, players in ((3, 4), (1, 2)):
        results, ranking = example(sets, players)
        sections.append(Section(f"{players} players", ranking, save_figures(results, ranking, folder / "figures")))
    return Report(
        question="Which house rule is fairer?",
        verdict=("Silent eights are fairest.", "The rest is surely less fair."),
        sections=sections,
        method=("Every rule set met the same deals.", "Intervals hold together at 95 %."),
        rules=(
            RulesCompared("ochos-locos", "ochos-locos", (), "Ochos Locos", "Played at home.", "turn_cap = 9\n[wild]"),
            RulesCompared("my.toml", "the defaults", (), ""),
            RulesCompared(RULES[0], "ochos-locos", (Change("wild.suit", "declared", "own"),), "Ochos Locos, variant"),
        ),
        command="ochos-sim fairness --rules ochos-locos --seed 7",
        facts=FACTS,
    )


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


def test_html_is_sound_and_usable(folder, report):
    html, _ = pages(folder, report)
    page = parsed(html)
    assert html.startswith("<!DOCTYPE html>\n")
    assert page.of("html") == [{"lang": "en"}]
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in page.of("meta")
    assert len(page.of("h1")) == 1
    assert page.text["h1"] == ["Which house rule is fairer?"]
    assert all(th.get("scope") in ("col", "row") for th in page.of("th"))
    assert len(page.of("caption")) == len(page.of("table")) == 4
    assert len(page.of("svg")) == 6
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


def test_nothing_is_loaded_and_nothing_runs(folder, report):
    html, _ = pages(folder, report)
    page = parsed(html)
    for tag, attrs, _ in page.elements:
        assert tag not in ("script", "iframe", "object", "embed", "img", "image", "base", "form")
        assert not any(key.startswith("on") for key in attrs)
        for key in ("src", "href", "xlink:href", "data", "srcset", "action"):
            assert attrs.get(key, "#").startswith("#") or attrs[key] == "data:,"
    assert "@import" not in html
    assert not re.search(r"url\((?!#)", html)
    policy = [meta["content"] for meta in page.of("meta") if meta.get("http-equiv") == "Content-Security-Policy"]
    assert policy == ["default-src 'none'; style-src 'unsafe-inline'; img-src data:"]


def test_dark_print_and_phone_are_thought_of(folder, report):
    html, _ = pages(folder, report)
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
    assert ".card { background: #ffffff;" in html


def test_text_from_outside_is_text(tmp_path, report):
    results, ranking = (frame.replace(RULES[0], NASTY) for frame in example(2, 2))
    what = replace(
        report,
        question=NASTY,
        verdict=(NASTY,),
        sections=(Section(NASTY, ranking, save_figures(results, ranking, tmp_path / "figures")),),
        method=(NASTY,),
        rules=(RulesCompared(NASTY, NASTY, (Change(NASTY, NASTY, NASTY),), NASTY),),
        command=f"{NASTY} ```",
        facts=replace(FACTS, lineup=NASTY, stop_reason=NASTY),
    )
    html, markdown = pages(tmp_path, what)
    page = parsed(html)
    assert not page.of("script")
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


def test_markdown_holds_the_tables_the_pictures_and_the_command(folder, report):
    _, markdown = pages(folder, report)
    assert markdown.startswith("# Which house rule is fairer?\n\nSilent eights are fairest.\n\nThe rest")
    assert "\n\nPlayed by 4 x random · 250,000 deals, each under 4 rule sets · seed 7\n\n## 4 players" in markdown
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
    assert table.note == "No hand was blocked or capped (at most 0.019 %)."
    assert ranking_table(ranking).note == ""


def test_ranking_table_of_several_and_of_one():
    _, ranking = example(3, 4)
    table = ranking_table(ranking)
    assert table.columns == (
        "Rules", "Rank", "May be fairest", "Spread, points", "Best position", "Worst position",
        "Turns a hand", "Blocked hands, %",
    )  # fmt: skip
    assert table.rows[0][:6] == ("ochos-locos+silent-eight", "1 to 2", "yes", "1.5 (1.3 to 1.7)", "1", "4")
    assert table.rows[2][:6] == ("ochos-locos+no-eight-on-eight", "3", "no", "2.1 (1.9 to 2.3)", "1", "4")
    one = ranking_table(ranking.iloc[:1].assign(spread_low=0.0))
    assert one.columns[:4] == ("Rules", "Spread, points", "Best position", "Worst position")
    assert one.rows[0][:4] == ("ochos-locos+silent-eight", "1.5 (0.0 to 1.7)", "–", "–")


def test_a_measure_without_a_label_is_shown_under_its_name():
    _, ranking = example(2, 4)
    table = ranking_table(ranking.assign(lead_changes=3.0, lead_changes_low=2.5, lead_changes_high=3.5))
    assert table.columns[-1] == "Lead changes"
    assert table.rows[0][-1] == "3.0 (2.5 to 3.5)"


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
