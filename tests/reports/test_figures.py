"""Figures: the numbers that are drawn exactly; that all is drawn, named and legible; that files repeat bit by bit."""

import subprocess
import sys
from itertools import combinations, pairwise
from xml.etree import ElementTree

import example_comparisons as made
import numpy as np
import pandas as pd
import pytest
from drawn import cells, marks
from example_frames import RULES, example
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgba
from matplotlib.figure import Figure
from matplotlib.text import Text

from reports import figures
from reports.drawing import BLANK
from reports.figures import (
    hand_lengths,
    length_by_rule,
    length_finding,
    position_shares,
    save_figures,
    share_finding,
    spread_by_rule,
    spread_finding,
    spread_heat_map,
    spread_map_finding,
    spread_map_in_words,
    spread_points,
    win_share_by_position,
)
from reports.output import decimals, with_interval

SIZES = [(1, 4), (1, 2), (2, 2), (2, 10), (5, 4), (12, 4), (12, 10)]


# --- data ----------------------------------------------------------------------------------------------------------


def test_position_shares_in_per_cent_and_in_the_order_of_positions():
    results, _ = example(2, 10)
    shuffled = results.sample(frac=1.0, random_state=1)
    shares = position_shares(shuffled.sort_values("scenario", kind="stable"))
    assert list(shares.columns) == ["rules", "position", "share", "low", "high", "fair"]
    assert list(shares["position"]) == list(range(1, 11)) * 2  # 10 after 9, though `which` is text
    assert list(shares["rules"].unique()) == list(RULES[:2])
    assert shares["fair"].unique().tolist() == [10.0]
    first = shares.iloc[0]
    assert first["share"] == pytest.approx(10.9)
    assert (first["low"], first["high"]) == (pytest.approx(10.8), pytest.approx(11.0))


def test_the_same_rules_under_two_line_ups_are_kept_apart():
    results, _ = example(2, 2)
    results["rules"] = "ochos-locos"
    results.loc[results["scenario"] == 1, "lineup"] = "2 x greedy"
    assert list(position_shares(results)["rules"].unique()) == ["ochos-locos · 2 x random", "ochos-locos · 2 x greedy"]


def test_what_cannot_be_drawn_is_refused_in_a_sentence():
    results, ranking = example(2, 2)
    with pytest.raises(ValueError, match="no win shares by position"):
        position_shares(results[results["measure"] == "score"])
    with pytest.raises(ValueError, match=r"one number of players a figure, not 2, 4: .*players == 2"):
        position_shares(pd.concat([results, example(1, 4)[0]]))
    with pytest.raises(ValueError, match="two win shares for the same rules"):
        position_shares(pd.concat([results, results]))
    with pytest.raises(ValueError, match="the ranking lacks turns_per_hand, turns_per_hand_low"):
        hand_lengths(ranking.drop(columns=["turns_per_hand", "turns_per_hand_low"]))
    with pytest.raises(ValueError, match="the ranking is empty"):
        spread_points(ranking.iloc[:0])


def test_spread_points_and_hand_lengths():
    _, ranking = example(3, 4)
    spreads = spread_points(ranking)
    assert list(spreads["rules"]) == list(RULES[:3])
    assert list(spreads["spread"]) == pytest.approx([1.5, 1.8, 2.1])
    assert list(spreads["low"]) == pytest.approx([1.34, 1.64, 1.94])
    assert list(spreads["high"]) == pytest.approx([1.66, 1.96, 2.26])
    assert list(spreads["null"]) == pytest.approx([0.1, 0.1, 0.1])
    assert list(spreads["in_best_set"]) == [True, True, False]
    lengths = hand_lengths(ranking)
    assert lengths[["turns", "low", "high"]].to_numpy().tolist() == [
        [40, 39.95, 40.05],
        [39, 38.95, 39.05],
        [38, 37.95, 38.05],
    ]


@pytest.mark.parametrize(
    ("value", "low", "high", "text"),
    [
        (27.5, 27.4, 27.6, "27.5 (27.4 to 27.6)"),
        (27.5, 27.46, 27.54, "27.50 (27.46 to 27.54)"),
        (40.0, 10.0, 70.0, "40.0 (10.0 to 70.0)"),
        (0.0, 0.0, 0.0003, "0.0000 (0.0000 to 0.0003)"),
        (5.0, 0.04, 11.0, "5.00 (0.04 to 11.00)"),
        (1234.5, 1230.1, 1238.9, "1,234.5 (1,230.1 to 1,238.9)"),
    ],
)
def test_a_number_is_as_fine_as_its_interval(value, low, high, text):
    assert with_interval(value, low, high) == text
    assert decimals(low, high) == len(text.split()[0].split(".")[1])


def test_an_interval_that_is_one_number_is_shown_as_one():
    assert with_interval(27.0, 27.0, 27.0) == "27"


# --- findings ------------------------------------------------------------------------------------------------------


def test_findings_on_win_shares():
    assert share_finding(position_shares(example(1, 4)[0])) == (
        "Position 1 wins most, 25.8 % of hands; position 4 least, 24.2 %"
    )
    assert share_finding(position_shares(example(1, 4, 0.1)[0])) == "No position surely wins more often than another"
    assert (
        share_finding(position_shares(example(2, 4)[0]))
        == "Position 1 wins more than its fair share under both rule sets"
    )
    assert (
        share_finding(position_shares(example(3, 4)[0]))
        == "Position 1 wins more than its fair share under all 3 rule sets"
    )
    assert share_finding(position_shares(example(3, 4, 0.0085)[0])) == (
        "Position 1 wins more than its fair share under 2 of 3 rule sets"
    )
    assert share_finding(position_shares(example(3, 4, 0.1)[0])) == (
        "No position surely wins more than its fair share under any of 3 rule sets"
    )


def test_findings_on_spreads():
    _, three = example(3, 4)
    alone = three.assign(in_best_set=[True, False, False])
    unsure = three.assign(spread_low=0.0)
    gap = "1.5 points between positions 1 and 4"
    silent = "ochos-locos+silent-eight"
    assert spread_finding(spread_points(alone)) == f"{silent} is fairest: {gap}"
    assert spread_finding(spread_points(three)) == f"2 of 3 rule sets may be the fairest; first comes {silent}: {gap}"
    assert spread_finding(spread_points(three.iloc[:2])) == (
        f"No rule set is surely the fairest; first comes {silent}: {gap}"
    )
    assert spread_finding(spread_points(three.iloc[:1])) == f"{silent}: {gap}"
    assert spread_finding(spread_points(unsure.iloc[:1])) == f"{silent}: no sure difference between positions"


def test_findings_on_lengths():
    lengths = hand_lengths(example(3, 4)[1])
    assert length_finding(lengths) == (
        "Hands are shortest under ochos-locos+no-eight-on-eight, 38.00 turns, "
        "longest under ochos-locos+silent-eight, 40.00"
    )
    assert length_finding(lengths.iloc[:1]) == "A hand takes 40.00 turns on average under ochos-locos+silent-eight"
    wide = lengths.assign(low=lengths["turns"] - 3, high=lengths["turns"] + 3)
    assert length_finding(wide) == "No sure difference in length: about 38.0 turns a hand under every rule set"


# --- drawing -------------------------------------------------------------------------------------------------------


FOOTER = (
    "4 players · all with wild.ranks=A, draw.limit=2 · line-up 4 × random · "
    "1,000,000 deals · seed 18446744073709551615 · ochos-sim 0.1.0"
)


def drawn(sets, players):
    results, ranking = example(sets, players)
    return {
        "spread": spread_by_rule(ranking, footer=FOOTER),
        "share": win_share_by_position(results, best=list(RULES[:2]) if sets > 1 else None, footer=FOOTER),
        "length": length_by_rule(ranking, footer=FOOTER),
    }


def bars(ax):
    """Return the drawn intervals, top to bottom, as (low, high)."""
    segments = [bar for container in ax.containers for bar in container.lines[2][0].get_segments()]
    return [(float(start[0]), float(end[0])) for start, end in sorted(segments, key=lambda s: s[0][1])]


def dots(ax):
    """Return the drawn estimates, top to bottom."""
    points = np.concatenate([container.lines[0].get_xydata() for container in ax.containers])
    return points[np.argsort(points[:, 1]), 0]


@pytest.mark.parametrize(("sets", "players"), SIZES)
def test_every_estimate_and_interval_is_drawn(sets, players):
    results, ranking = example(sets, players)
    shares, spreads, lengths = position_shares(results), spread_points(ranking), hand_lengths(ranking)
    pictures = drawn(sets, players)
    for name, data, value in (("share", shares, "share"), ("spread", spreads, "spread"), ("length", lengths, "turns")):
        ax = pictures[name]
        assert dots(ax) == pytest.approx(data[value].to_numpy())
        assert np.array(bars(ax)) == pytest.approx(data[["low", "high"]].to_numpy())
        left, right = ax.get_xlim()
        assert left <= data["low"].min()
        assert right >= data["high"].max()


@pytest.mark.parametrize(("sets", "players"), SIZES)
def test_words_are_there_do_not_overlap_and_stay_inside(sets, players):
    for ax in drawn(sets, players).values():
        assert ax.get_title(loc="left")
        assert ax.get_xlabel()
        assert ax.get_ylabel()
        names = ["".join(text.get_text().split()) for text in ax.texts]
        assert all(name in names for name in RULES[:sets])
        renderer = FigureCanvasAgg(ax.figure).get_renderer()
        ax.figure.draw(renderer)
        left, right = ax.get_xlim()
        unseen = [
            label
            for tick, label in zip(ax.get_xticks(), ax.get_xticklabels(), strict=True)
            if not left <= tick <= right
        ]
        words = [t for t in ax.figure.findobj(Text) if t.get_visible() and t.get_text().strip() and t not in unseen]
        # a box's own margin (descenders that a word may not have) may touch
        boxes = [(t.get_text(), Text.get_window_extent(t, renderer).padded(-1.0)) for t in words]
        for (one, first), (other, second) in combinations(boxes, 2):
            assert not first.overlaps(second), f"{one!r} runs into {other!r}"
        for text, box in boxes:
            assert box.x0 >= 0, text
            assert box.x1 <= ax.figure.bbox.x1, text
            assert box.y0 >= 0, text
            assert box.y1 <= ax.figure.bbox.y1, text


def test_units_findings_and_references_are_named():
    pictures = drawn(3, 4)
    assert "percentage points" in pictures["spread"].get_xlabel()
    assert pictures["share"].get_xlabel() == "Win share (% of hands)"
    assert pictures["share"].get_ylabel() == "Position: 1 = left of the dealer, 4 = the dealer"
    assert pictures["length"].get_xlabel() == "Length of a hand (turns, mean)"
    assert "fair share 25 %" in [text.get_text() for text in pictures["share"].texts]
    assert [text.get_text() for text in pictures["share"].get_yticklabels()] == ["1", "2", "3", "4"] * 3
    title = pictures["spread"].get_title(loc="left")
    assert "".join(title.split()) == "".join(spread_finding(spread_points(example(3, 4)[1])).split())
    keys = [text.get_text() for text in pictures["spread"].get_legend().get_texts()]
    assert keys == [
        figures.MAY_BE,
        figures.SURELY_NOT,
        "95 % interval, all rules at once",
    ]


def test_zero_is_on_the_spread_axis():
    assert spread_by_rule(example(3, 4)[1]).get_xlim()[0] <= 0.0


def test_a_picture_says_what_was_played(tmp_path):
    results, ranking = example(2, 4)
    results = results.assign(seed="7", version="0.1.0")
    said = "4 players · all with draw.limit=2 · line-up 4 x random · 250,000 deals · seed 7 · ochos-sim 0.1.0"
    assert figures.footer_text(results, "all with draw.limit=2") == said
    assert figures.footer_text(results.assign(matches=9)).startswith("4 players · line-up 4 x random · 9 matches")
    both = pd.concat([results, results.assign(players=5, lineup="5 x random")])
    assert figures.footer_text(both).startswith("4, 5 players · line-up 4 x random; 5 x random · ")
    for path in save_figures(results, ranking, tmp_path, "all with draw.limit=2")[1::2]:
        text = "".join(ElementTree.fromstring(path.read_bytes()).itertext())
        assert "".join(said.split()) in "".join(text.split())


def test_the_best_set_differs_in_shape_and_filling_not_in_colour_alone():
    ax = spread_by_rule(example(3, 4)[1])
    looks = [(c.lines[0].get_marker(), c.lines[0].get_markerfacecolor() == "white") for c in ax.containers]
    assert looks == [("o", False), ("o", False), ("s", True)]


def test_one_name_is_enough_for_best():
    ax = win_share_by_position(example(2, 2)[0], best=RULES[1])
    assert [c.lines[0].get_marker() for c in ax.containers] == ["s", "o"]


def test_draws_on_an_axes_that_is_given():
    figure = Figure(figsize=(9, 5))
    given = figure.subplots(1, 2)[1]
    size = figure.get_size_inches().tolist()
    assert spread_by_rule(example(2, 4)[1], given) is given
    assert figure.get_size_inches().tolist() == size
    assert len(given.containers) == 2


def test_no_variation_at_all_is_still_a_picture():
    results, ranking = example(2, 4, 0.0)
    level = ranking.assign(spread=0.0, spread_low=0.0, spread_high=0.0, spread_null=0.0)
    for path in (spread_by_rule(level), win_share_by_position(results)):
        assert all(np.isfinite(path.get_xlim()))


def test_names_are_text_and_never_mathematics(tmp_path):
    results, ranking = (frame.replace("ochos-locos", "five $ or $x_{") for frame in example(2, 2))
    save_figures(results, ranking, tmp_path)


def test_nothing_is_left_behind_and_pyplot_is_never_loaded():
    code = (
        "import sys, matplotlib as mpl; before = mpl.rcParams.copy()\n"
        "from example_frames import example; from reports.figures import spread_by_rule\n"
        "spread_by_rule(example(2, 2)[1])\n"
        "assert 'matplotlib.pyplot' not in sys.modules; assert mpl.rcParams.copy() == before"
    )
    subprocess.run([sys.executable, "-c", f"import sys; sys.path[:0] = ['.', 'tests']\n{code}"], check=True)


# --- by players ----------------------------------------------------------------------------------------------------


def test_spreads_by_players_mark_the_best_of_each_column():
    frame = made.spreads(3)
    ax = spread_heat_map(frame)
    assert [text.get_text() for text in ax.get_xticklabels()] == [str(n) for n in range(2, 11)]
    best = frame[frame["in_best_set"]]
    assert sorted(marks(ax)) == sorted(
        (RULES.index(r), n - 2) for r, n in zip(best["rules"], best["players"], strict=True)
    )
    assert cells(ax)[1, 0] == ["2.8"]
    assert (1, 8) not in cells(ax)  # ochos-locos was not played by 10
    blank = [p for p in ax.patches if p.get_facecolor() == to_rgba(BLANK)]
    assert len(blank) == 3 * 9 - len(frame)
    assert spread_map_finding(frame) == f"{RULES[0]} may be the fairest with every number of players, 9 in all"
    assert spread_map_finding(frame.assign(in_best_set=frame["players"] < 7)).startswith("No rule set stands out")
    assert "ochos-locos: 2 players 2.8 (2.6 to 3.0); 3 players 3.4 (3.2 to 3.6), may be the fairest" in (
        spread_map_in_words(frame)
    )


# --- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("sets", "players"), [(1, 2), (12, 10)])
def test_files_of_every_size(sets, players, tmp_path):
    paths = save_figures(*example(sets, players), tmp_path)
    stems = [f"{name}-{players}-players" for name in ("spread", "win-share", "length")]
    assert [path.name for path in paths] == [f"{stem}.{kind}" for stem in stems for kind in ("png", "svg")]
    assert sorted(tmp_path.iterdir()) == sorted(paths)  # and no unfinished file


def test_equal_frames_give_equal_bytes(tmp_path):
    first = save_figures(*example(3, 4), tmp_path / "first")
    again = save_figures(*example(3, 4), tmp_path / "again")
    for one, other in zip(first, again, strict=True):
        assert one.read_bytes() == other.read_bytes()


def test_svg_says_what_it_shows_and_can_stand_in_a_page_with_others(tmp_path):
    svg = "{http://www.w3.org/2000/svg}"
    ids = []
    for path in save_figures(*example(3, 4), tmp_path)[1::2]:
        root = ElementTree.fromstring(path.read_bytes())
        assert [child.tag for child in root][:2] == [f"{svg}title", f"{svg}desc"]
        assert root.get("role") == "img"
        own = [element.get("id") for element in root.iter() if element.get("id")]
        assert root.get("aria-labelledby").split() == [root[0].get("id"), root[1].get("id")]
        for element in root.iter():
            assert element.tag not in (f"{svg}style", f"{svg}script", f"{svg}metadata")
            for key, value in element.attrib.items():
                reference = value[1:] if key.endswith("href") else value.partition("url(#")[2].partition(")")[0]
                assert not reference or reference in own
        assert RULES[0] in "".join(root.itertext())  # text stays text
        ids += own
    assert len(ids) == len(set(ids))


def test_the_spread_in_words(tmp_path):
    root = ElementTree.fromstring(save_figures(*example(3, 4), tmp_path)[1].read_bytes())
    assert root[0].text == spread_finding(spread_points(example(3, 4)[1]))
    assert root[1].text == (
        "Win share of the best minus that of the worst position in percentage points, with 95 % intervals, "
        "fairest first. "
        "ochos-locos+silent-eight: 1.5 (1.3 to 1.7), may be the fairest (best set). "
        "ochos-locos: 1.8 (1.6 to 2.0), may be the fairest (best set). "
        "ochos-locos+no-eight-on-eight: 2.1 (1.9 to 2.3), surely less fair."
    )


def test_files_follow_the_order_of_the_ranking(tmp_path):
    results, ranking = example(3, 2)
    words = ElementTree.fromstring(save_figures(results, ranking.iloc[::-1], tmp_path)[3].read_bytes())[1].text
    places = [words.index(f"{rules}: ") for rules in ("no-eight-on-eight", ". ochos-locos", "silent-eight")]
    assert all(one < other for one, other in pairwise(places))


def test_without_lengths_there_is_no_figure_of_them(tmp_path):
    results, ranking = example(2, 4)
    paths = save_figures(results, ranking.drop(columns="turns_per_hand"), tmp_path)
    assert [path.stem for path in paths[::2]] == ["spread-4-players", "win-share-4-players"]


def test_a_failed_write_leaves_the_old_file(tmp_path, monkeypatch):
    old = save_figures(*example(1, 2), tmp_path)[0]
    before = old.read_bytes()

    def full(source, target):
        raise OSError("no space left")

    monkeypatch.setattr("os.replace", full)
    with pytest.raises(OSError, match="no space left"):
        save_figures(*example(1, 4), tmp_path)
    assert old.read_bytes() == before
    assert not list(tmp_path.glob("*.tmp"))
    assert not list(tmp_path.glob(".*"))
