"""A report with all that one may hold, made up but of the right size."""

from pathlib import Path

from example_frames import RULES, example

from reports.figures import save_figures
from reports.page import (
    DASH,
    Change,
    Facts,
    Number,
    Report,
    RulesCompared,
    Section,
    Table,
    estimate_cell,
    ranking_table,
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
TIPS = Table(
    caption="Tips, the best first",
    columns=("Tip", "On the sheet", "Gain, points", "Games"),
    rows=(
        (
            "keep-eights",
            "Keep the eights for the end, when nothing else goes",
            estimate_cell(0.02, 0.01, 0.03, 100),
            "9",
        ),
        ("dump-high", "Get rid of high cards early", estimate_cell(-0.1, -0.11, -0.09, 100), "10"),
        ("pass", "Sometimes it is better to draw than to play, says the sheet", DASH, "100"),
        ("count-suits", "Count the suits", Number("12.0 (11.0 to 13.0)", 12.0), "10"),
    ),
    note="A dash: never tried.",
)


def example_report(folder: Path) -> Report:
    """Return a report of two rankings and a table of another kind, with figures drawn into a folder."""
    sections = []
    for sets, players in ((3, 4), (1, 2)):
        results, ranking = example(sets, players)
        figures = save_figures(results, ranking, folder / "figures")
        sections.append(Section(f"{players} players", (), (ranking_table(ranking),), figures))
    sections.append(Section("Tips", ("Keeping eights helps, whatever ochos-locos+actions says.",), (TIPS,)))
    many = tuple(Change(f"scoring.{letter}", "1", "2") for letter in "abcdefg")
    return Report(
        question="Which house rule is fairer?",
        verdict=("Silent eights are fairest.", "The rest is surely less fair."),
        sections=sections,
        method=("Every rule set met the same deals.", "Intervals hold together at 95 %."),
        rules=(
            RulesCompared("ochos-locos", "ochos-locos", (), "Ochos Locos", "Played at home.", "turn_cap = 9\n[wild]"),
            RulesCompared("my.toml", "the defaults", (), ""),
            RulesCompared(RULES[0], "ochos-locos", (Change("wild.suit", "declared", "own"),), "Ochos Locos, variant"),
            RulesCompared("crazy-eights", "ochos-locos", many, ""),
        ),
        command="ochos-sim fairness --rules ochos-locos --seed 7",
        facts=FACTS,
        glossary=(("Spread", "best position minus worst"), ("Rank", "1 is the fairest")),
    )
