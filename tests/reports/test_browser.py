"""The page in a browser: that it asks for nothing, fits, is sorted by keyboard, and is lit and printed as it should be.

Needs playwright and a Chromium of the system; without either the tests are skipped and say why. The screenshots are
left in pytest's temporary directory, for somebody to look at.
"""

import shutil
import subprocess
from contextlib import contextmanager

import pytest
from example_report import example_report

from reports.page import write_reports

playwright = pytest.importorskip(
    "playwright.sync_api", reason="no page was opened in a browser: playwright is not installed"
)

BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
PHONE, DESK = (360, 740), (1280, 900)
GAIN = "#section-3 thead th:nth-child(3)"


def works(path):
    """A stand-in that only says how to install the browser may be on the path."""
    try:
        return subprocess.run([path, "--version"], capture_output=True, timeout=60).returncode == 0
    except (OSError, subprocess.TimeoutExpired):
        return False


@pytest.fixture(scope="module")
def browser():
    path = next((path for path in map(shutil.which, BROWSERS) if path and works(path)), None)
    if path is None:
        pytest.skip(f"no page was opened in a browser: none of {', '.join(BROWSERS)} is here (Debian: chromium)")
    with playwright.sync_playwright() as driver:
        browser = driver.chromium.launch(executable_path=path)
        yield browser
        browser.close()


@pytest.fixture(scope="module")
def report(tmp_path_factory):
    folder = tmp_path_factory.mktemp("page")
    return write_reports(folder, example_report(folder))[0]


@contextmanager
def opened(browser, report, size=DESK, **how):
    """Open the page, and hold in the end that it asked for nothing and complained of nothing."""
    width, height = size
    context = browser.new_context(viewport={"width": width, "height": height}, **how)
    page = context.new_page()
    said, asked = [], []
    page.on("console", lambda message: said.append(message.text))
    page.on("pageerror", lambda error: said.append(str(error)))
    page.on("request", lambda request: asked.append(request.url))
    try:
        page.goto(report.as_uri())
        yield page
        assert said == []
        assert asked == [report.as_uri()]
    finally:
        context.close()


def first_column(page):
    return page.locator("#section-3 tbody th").all_inner_texts()


def brightness(page, selector, what):
    colour = page.locator(selector).first.evaluate(f"(element) => getComputedStyle(element).{what}")
    return sum(int(part) for part in colour[colour.index("(") + 1 : -1].split(",")[:3]) / 3


@pytest.mark.parametrize("size", [PHONE, DESK], ids=["phone", "desk"])
def test_the_page_fits_and_can_be_read(browser, report, size):
    with opened(browser, report, size) as page:
        for light in ("light", "dark"):
            page.emulate_media(color_scheme=light)
            assert page.evaluate("document.documentElement.scrollWidth") == size[0]
            paper, ink = brightness(page, "body", "backgroundColor"), brightness(page, "body", "color")
            assert (paper > 200 and ink < 60) if light == "light" else (paper < 60 and ink > 200)
            filters = page.locator("figure svg").evaluate_all("(all) => all.map((svg) => getComputedStyle(svg).filter)")
            assert len(filters) == 6
            assert all((drawn == "none") == (light == "light") for drawn in filters)
            boxes = [box.bounding_box() for box in page.locator("figure svg").all()]
            assert all(box["width"] > 0.9 * min(size[0], 640) for box in boxes)
            page.screenshot(path=report.with_name(f"{size[0]}-{light}.png"), full_page=True)


def test_a_table_is_sorted_by_keyboard(browser, report):
    with opened(browser, report) as page:
        came = ["keep-eights", "dump-high", "pass", "count-suits"]
        assert first_column(page) == came
        for _ in range(60):
            page.keyboard.press("Tab")
            if page.evaluate(f"document.activeElement === document.querySelector('{GAIN} button')"):
                break
        head = page.locator(GAIN)
        assert page.locator(":focus").inner_text() == "Gain, points"
        outline = page.locator(":focus").evaluate("(element) => getComputedStyle(element).outlineStyle")
        assert outline == "solid"
        # by value, not by the text; the dash is last both ways
        page.keyboard.press("Enter")
        assert first_column(page) == ["dump-high", "keep-eights", "count-suits", "pass"]
        assert head.get_attribute("aria-sort") == "ascending"
        page.keyboard.press("Space")
        assert first_column(page) == ["count-suits", "keep-eights", "dump-high", "pass"]
        assert head.get_attribute("aria-sort") == "descending"
        page.keyboard.press("Enter")
        assert first_column(page) == came
        assert head.get_attribute("aria-sort") is None
        # texts with numbers go by the number, and only one column is the sorted one
        head.get_by_role("button").press("Enter")
        page.get_by_role("button", name="Games").press("Enter")
        assert first_column(page) == ["keep-eights", "dump-high", "count-suits", "pass"]
        assert page.locator("#section-3 [aria-sort]").all_inner_texts() == ["Games"]
        # a table of one row has nothing to be sorted
        assert page.locator("#section-2 th button").count() == 0


def test_without_its_script_the_page_lacks_nothing_but_sorting(browser, report):
    with opened(browser, report, java_script_enabled=False) as page:
        assert page.locator("button").count() == 0
        assert page.locator("#section-1 thead th").all_inner_texts()[:2] == ["Rules", "Rank"]
        assert page.get_by_text("press a heading").count() == 0


def test_no_other_script_runs(browser, report, tmp_path):
    planted = tmp_path / "planted.html"
    html = report.read_text(encoding="utf-8")
    planted.write_text(html.replace("</main>", "</main><script>document.title = 'ran'</script>"), encoding="utf-8")
    with pytest.raises(AssertionError, match="Content Security Policy"), opened(browser, planted) as page:
        assert page.title() == "Which house rule is fairer?"


def test_print_leaves_out_what_paper_cannot_do(browser, report):
    with opened(browser, report, color_scheme="dark") as page:
        page.emulate_media(media="print")
        assert brightness(page, "body", "backgroundColor") > 200
        hidden = page.locator("nav, details, .hint")
        assert hidden.count() > 3
        assert not any(part.is_visible() for part in hidden.all())
        assert page.locator(".card svg").first.evaluate("(svg) => getComputedStyle(svg).filter") == "none"
        pdf = page.pdf(path=report.with_name("print.pdf"), format="A4")
        assert pdf.startswith(b"%PDF")
