"""What holds for every figure: words that are there and do not overlap, files that repeat, frames that are checked."""

from itertools import combinations
from xml.etree import ElementTree

import example_comparisons as made
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure
from matplotlib.text import Text

from reports.drawing import minus, said, save_figure, wrap
from reports.figures import spread_heat_map, spread_map_finding, spread_map_in_words
from reports.figures_compare import (
    payoff_finding,
    payoff_heat_map,
    payoff_in_words,
    standings_figure,
    standings_finding,
    standings_in_words,
)
from reports.figures_length import (
    lead_finding,
    lead_history,
    lead_in_words,
    match_length_by_players,
    match_length_finding,
    match_length_in_words,
    turns_distribution,
    turns_finding,
    turns_in_words,
)
from reports.figures_skill import (
    skill_curve,
    skill_finding,
    skill_in_words,
    split_finding,
    split_in_words,
    variance_split,
)
from reports.figures_tips import (
    claims_figure,
    claims_finding,
    claims_in_words,
    hand_size_finding,
    hand_size_heat_map,
    hand_size_in_words,
)

FOOTER = "4 players · all with draw.limit=2 · 250,000 deals · seed 18446744073709551615 · ochos-sim 0.1.0"
CHANCE = {"what": "Chance to win the hand", "unit": "%"}

# name: (the figure on an axes or its own, its title, its words, rows or sets)
FIGURES = {
    **{
        f"standings-{n}": (standings_figure, standings_finding, standings_in_words, (made.standings(n),), {})
        for n in (2, 15)
    },
    "points": (
        standings_figure,
        standings_finding,
        standings_in_words,
        (made.standings(5),),
        {"measure": "points_gain"},
    ),
    **{f"payoff-{n}": (payoff_heat_map, payoff_finding, payoff_in_words, (made.pairs(n),), {}) for n in (3, 15)},
    **{f"skill-{n}": (skill_curve, skill_finding, skill_in_words, made.skill(n), {}) for n in (1, 5)},
    **{f"split-{n}": (variance_split, split_finding, split_in_words, (made.variance_parts(n),), {}) for n in (1, 6)},
    **{f"turns-{n}": (turns_distribution, turns_finding, turns_in_words, made.turns(n), {}) for n in (1, 6)},
    **{
        f"match-{n}": (
            match_length_by_players,
            match_length_finding,
            match_length_in_words,
            (made.match_lengths(n),),
            {},
        )
        for n in (1, 5)
    },
    **{f"lead-{n}": (lead_history, lead_finding, lead_in_words, (made.leads(n),), {}) for n in (1, 5)},
    **{
        f"spreads-{n}": (spread_heat_map, spread_map_finding, spread_map_in_words, (made.spreads(n),), {})
        for n in (1, 6)
    },
    "claims": (claims_figure, claims_finding, claims_in_words, (made.claims(),), {}),
    "sizes": (hand_size_heat_map, hand_size_finding, hand_size_in_words, (made.hand_sizes(),), CHANCE),
}


def drawn(name, ax=None, **more):
    figure, _, _, frames, options = FIGURES[name]
    return figure(*frames, ax, **options, **more)


def told(name):
    _, finding, words, frames, options = FIGURES[name]
    return finding(*frames, **options), words(*frames, **options)


def squeezed(text):
    return "".join(text.split())


@pytest.mark.parametrize("name", FIGURES)
def test_words_are_there_do_not_overlap_and_stay_inside(name):
    ax = drawn(name, footer=FOOTER)
    assert ax.figure.get_size_inches()[0] == 6.3
    assert squeezed(ax.get_title(loc="left")) == squeezed(told(name)[0])
    assert ax.get_xlabel()
    assert ax.get_ylabel()
    renderer = FigureCanvasAgg(ax.figure).get_renderer()
    ax.figure.draw(renderer)
    words = [t for t in ax.figure.findobj(Text) if t.get_visible() and t.get_text().strip()]
    for axis, limits in ((ax.xaxis, ax.get_xlim()), (ax.yaxis, ax.get_ylim())):
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        unseen = [t.label1 for t in ticks if not min(limits) - 1e-9 <= t.get_loc() <= max(limits) + 1e-9]
        words = [t for t in words if t not in unseen]
    assert any(squeezed(FOOTER) == squeezed(t.get_text()) for t in words)
    # a box's own margin (descenders that a word may not have) may touch
    boxes = [(t.get_text(), Text.get_window_extent(t, renderer).padded(-1.0)) for t in words]
    for (one, first), (other, second) in combinations(boxes, 2):
        assert not first.overlaps(second), f"{one!r} runs into {other!r}"
    for text, box in boxes:
        assert box.x0 >= 0, text
        assert box.x1 <= ax.figure.bbox.x1, text
        assert box.y0 >= 0, text
        assert box.y1 <= ax.figure.bbox.y1, text
    assert min(t.get_fontsize() for t in words) >= 6


@pytest.mark.parametrize("name", ["standings-2", "payoff-3", "skill-5", "split-1", "turns-1"])
def test_equal_frames_give_equal_bytes_and_the_svg_says_what_it_shows(name, tmp_path):
    title, words = told(name)
    first, again = (save_figure(tmp_path / folder, name, drawn(name), title, words) for folder in ("a", "b"))
    assert [path.name for path in first] == [f"{name}.png", f"{name}.svg"]
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()
    root = ElementTree.fromstring(first[1].read_bytes())
    assert (root[0].text, root[1].text) == (title, words)
    own = {element.get("id") for element in root.iter() if element.get("id")}
    assert all(name in found for found in own)
    for element in root.iter():
        for key, value in element.attrib.items():
            reference = value[1:] if key.endswith("href") else value.partition("url(#")[2].partition(")")[0]
            assert not reference or reference in own


@pytest.mark.parametrize(
    "name", ["standings-2", "payoff-3", "skill-1", "split-1", "turns-1", "match-1", "lead-1", "spreads-1", "sizes"]
)
def test_draws_on_an_axes_that_is_given(name):
    figure = Figure(figsize=(12, 5))
    given = figure.subplots(1, 2)[1]
    assert drawn(name, given) is given
    assert figure.get_size_inches().tolist() == [12, 5]
    assert not figure.texts


@pytest.mark.parametrize("name", ["standings-15", "payoff-3", "skill-5", "split-6", "turns-6", "match-5", "spreads-6"])
def test_names_are_text_and_never_mathematics(name):
    figure, _, _, frames, options = FIGURES[name]
    odd = [frame.replace({"ochos-locos": "$x_{", "greedy": "$y_{"}) for frame in frames]
    ax = figure(*odd, None, **options)
    FigureCanvasAgg(ax.figure).draw()


@pytest.mark.parametrize("name", FIGURES)
def test_what_a_frame_lacks_is_named(name):
    figure, _, _, frames, options = FIGURES[name]
    column = options.get("measure") or {"standings": "groups", "sizes": "own", "claims": "verdict"}.get(
        name.split("-")[0], frames[0].columns[0]
    )
    with pytest.raises(ValueError, match=f"lacks {column}"):
        figure(frames[0].drop(columns=column), *frames[1:], **options)
    with pytest.raises(ValueError, match="is empty"):
        figure(frames[0].iloc[:0], *frames[1:], **options)


def test_one_number_of_players_a_figure():
    both = pd.concat([made.standings(3, 2), made.standings(3, 4)])
    with pytest.raises(ValueError, match=r"one number of players a figure, not 2, 4: .*standings.players == 2"):
        standings_figure(both)
    with pytest.raises(ValueError, match=r"pairs.players == 2"):
        payoff_heat_map(pd.concat([made.pairs(3, 2), made.pairs(3, 4)]))
    parts = pd.concat([made.variance_parts(1).assign(players=n) for n in (2, 4)])
    with pytest.raises(ValueError, match=r"parts.players == 2"):
        variance_split(parts)
    curve, needed = (pd.concat([frame.assign(players=n) for n in (2, 4)]) for frame in made.skill(1))
    with pytest.raises(ValueError, match=r"curve.players == 2"):
        skill_curve(curve, needed)
    with pytest.raises(ValueError, match=r"needed.players == 2"):
        skill_curve(curve[curve["players"] == 2], needed)
    with pytest.raises(ValueError, match=r"leads.players == 2"):
        lead_history(pd.concat([made.leads(1, 2), made.leads(1, 4)]))


def test_more_rule_sets_than_lines_can_tell_apart_are_refused():
    with pytest.raises(ValueError, match="7 rule sets in one figure of lines; at most 6"):
        lead_history(made.leads(7))


def test_numbers_have_a_true_minus_and_zero_has_none():
    assert minus("-1.0 (-1.4 to -0.0)") == "−1.0 (−1.4 to 0.0)"
    assert minus("-0.04") == "−0.04"
    assert said(-0.0004, -0.0084, 0.0076, 100.0) == "0.0 (−0.8 to 0.8)"
    assert wrap("tips:card=faces,wild=hold-1", 1.4, 8.5) == "tips:card=faces,\nwild=hold-1"
