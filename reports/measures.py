"""What every published figure is: one record, from which the code, the help of columns and the glossary are made.

A measure is defined here and nowhere else: its name, its unit, what it says, its formula, where it comes from. The code
that estimates it (`reports.frames` from the tallies, `reports.story` from the story of the hands) takes it from here,
under the names of the counters that it is made of.

In formulas Σ is the sum over all hands (or matches) of a rule set, n the players, ln the natural logarithm. All that is
a ratio of two sums has the standard error that the deal blocks give it (Cochran 1977, ch. 6).
"""

import difflib
from collections.abc import Iterable
from dataclasses import dataclass, replace

from reports.language import mark, say
from sim.engine import WHOLE
from sim.story import LEADER_HANDS, MOST_HELD, PARTS, TABLE_HANDS

GROUPS = {
    "fair": mark("Is it fair?"),
    "long": mark("How long is it?"),
    "lively": mark("Is there something to do, and is it open to the end?"),
    "luck": mark("What do the wilds decide?"),
    "sound": mark("Does it work?"),
}
"""What measures are asked for, with the question that they answer."""


class MeasureError(ValueError):
    """A measure that there is not, or a question about one that cannot be answered: one line."""


@dataclass(frozen=True)
class Measure:
    """A figure that is published: its name, its unit, what it says, and whether it is a share of 0 to 1."""

    name: str
    unit: str
    meaning: str
    share: bool = False
    scale: float = 1.0
    """What one of the unit is in the counter."""
    group: str = "lively"
    """A key of GROUPS."""
    formula: str = ""
    """In words or symbols."""
    source: str = ""
    """Who defined it or the method behind it; '' for what is plainly counted."""

    @property
    def heading(self) -> str:
        """What it says, as a heading."""
        meaning = say(self.meaning)
        return f"{meaning[0].upper()}{meaning[1:]}"

    @property
    def help(self) -> str:
        """What it says, how it is made and its unit, in a few sentences: the help of a column."""
        formula = say(self.formula, **NUMBERS)
        fields = {"meaning": self.heading, "formula": formula, "unit": say(self.unit), "source": self.source}
        if self.source:
            return say("{meaning}: {formula}; in {unit}. After {source}.", **fields)
        return say("{meaning}: {formula}; in {unit}.", **fields)


def _hand(name: str, unit: str, meaning: str, group: str, formula: str, *, share: bool = False) -> Measure:
    return Measure(name, unit, meaning, share, 1.0, group, formula)


HAND_MEASURES = {
    "turns": _hand("turns_per_hand", mark("turns"), mark("turns that a hand takes"), "long", mark("Σ turns / Σ hands")),
    "cards_drawn": _hand(
        "cards_drawn_per_hand",
        mark("cards"),
        mark("cards drawn in a hand, by all, penalties included"),
        "lively",
        mark("Σ cards drawn / Σ hands"),
    ),
    "passes": _hand(
        "passes_per_hand",
        mark("turns"),
        mark("turns of a hand that end in a pass"),
        "lively",
        mark("Σ passes / Σ hands"),
    ),
    "choices": _hand(
        "choices_per_hand",
        mark("turns"),
        mark("turns of a hand in which the player had more than one thing to do"),
        "lively",
        mark(
            "Σ turns whose own play put a question / Σ hands; whether to answer a penalty draw, to stop, or which suit "
            "to declare does not count"
        ),
    ),
    "stuck": _hand(
        "stuck_per_hand",
        mark("turns"),
        mark("turns of a hand that begin without a playable card"),
        "lively",
        mark("Σ own plays that begin stuck / Σ hands"),
    ),
    "reshuffles": _hand(
        "reshuffles_per_hand",
        mark("times"),
        mark("times that the discards become the stock in a hand"),
        "sound",
        mark("Σ reshuffles / Σ hands"),
    ),
    "reshuffled": _hand(
        "reshuffled",
        mark("share of hands"),
        mark("hands with a reshuffle"),
        "sound",
        mark("hands with one or more / Σ hands"),
        share=True,
    ),
    "closed_on_wild": _hand(
        "closed_on_wild",
        mark("share of hands"),
        mark("hands that somebody closes with a wild"),
        "luck",
        mark("hands whose last card laid, by a player who goes out, is a wild / Σ hands"),
        share=True,
    ),
    "void_deals": _hand(
        "void_deals_per_hand",
        mark("deals"),
        mark("deals that were void and dealt again"),
        "sound",
        mark("Σ void deals, misdeals included / Σ hands"),
    ),
    "out": _hand(
        "out",
        mark("share of hands"),
        mark("hands that end with somebody out of cards"),
        "sound",
        mark("such / Σ hands"),
        share=True,
    ),
    "blocked": _hand(
        "blocked", mark("share of hands"), mark("hands that end blocked"), "sound", mark("such / Σ hands"), share=True
    ),
    "stopped": _hand(
        "stopped",
        mark("share of hands"),
        mark("hands that a player stops"),
        "sound",
        mark("such / Σ hands"),
        share=True,
    ),
    "capped": _hand(
        "capped",
        mark("share of hands"),
        mark("hands that end at the turn cap"),
        "sound",
        mark("such / Σ hands"),
        share=True,
    ),
    "win": _hand(
        "win_share",
        mark("share of hands"),
        mark("hands won"),
        "fair",
        mark("Σ hands won by the position (or strategy, for one of its seats) / Σ hands"),
        share=True,
    ),
    "points_left": _hand(
        "points_left",
        mark("points"),
        mark("points left in hand at the end of a hand"),
        "fair",
        mark("Σ points of the cards that the position (or strategy) is left with / Σ hands"),
    ),
    "score": _hand(
        "score",
        mark("points"),
        mark("points added to the total for a hand"),
        "fair",
        mark("Σ points that the position (or strategy) scores / Σ hands"),
    ),
}
"""By the name of the counter in a tally's row (`sim.tally`)."""

MATCHES = {
    "hands": _hand(
        "hands_per_match", mark("hands"), mark("hands that a match takes"), "long", mark("Σ hands / Σ matches")
    ),
    "turns": _hand(
        "turns_per_match", mark("turns"), mark("turns that a match takes"), "long", mark("Σ turns / Σ matches")
    ),
    "first_dealer": Measure(
        "first_dealer_wins",
        mark("share of matches"),
        mark("matches won by who dealt first"),
        True,
        WHOLE,
        "fair",
        mark("Σ parts of matches won by the first dealer / Σ matches; a match that k share gives 1/k to each"),
    ),
    "winner_total": _hand(
        "winner_total",
        mark("points"),
        mark("total of the winner at the end"),
        "long",
        mark("Σ totals of the (first of several) winners / Σ matches"),
    ),
    "extra_hands": _hand(
        "extra_hands_per_match",
        mark("hands"),
        mark("extra hands to break a tie"),
        "sound",
        mark("Σ extra hands / Σ matches"),
    ),
    "shared": _hand(
        "shared_matches",
        mark("share of matches"),
        mark("matches that several share"),
        "sound",
        mark("such / Σ matches"),
        share=True,
    ),
    "capped": _hand(
        "capped_matches",
        mark("share of matches"),
        mark("matches given up because they did not end"),
        "sound",
        mark("such / Σ matches"),
        share=True,
    ),
    "match_win": Measure(
        "match_win_share",
        mark("share of matches"),
        mark("matches won; a shared one counts in parts"),
        True,
        WHOLE,
        "fair",
        mark("Σ parts of matches won by the seat / Σ matches"),
    ),
}
"""By the name of the counter in a tally's row of matches."""

EVENNESS = {
    "value": Measure(
        "spread",
        mark("share of hands"),
        mark("how far the win shares of the best and the worst position are apart, without the bias of a maximum"),
        True,
        group="fair",
        formula=mark(
            "the spread S whose profile of win shares, shrunk towards their mean, would on average show the plain "
            "spread with this covariance"
        ),
        source="Romano, Shaikh & Wolf 2014 (interval)",
    ),
    "plain": Measure(
        "spread_plain",
        mark("share of hands"),
        mark("the same as it came out"),
        True,
        group="fair",
        formula=mark("largest win share by position − smallest; too large on average, most of all under fair rules"),
    ),
    "null": Measure(
        "spread_null",
        mark("share of hands"),
        mark("what the plain spread would be on average if all positions were equally good"),
        True,
        group="fair",
        formula=mark(
            "dₙ √(w / (n N)), dₙ the expected range of n standard normals, w the share of hands with a winner, N "
            "the effective hands"
        ),
        source="Tippett 1925",
    ),
    "cramers_v": Measure(
        "cramers_v",
        mark("0 to 1"),
        mark("how unevenly the positions win, all of them taken together; 0 is even, 1 if one position always wins"),
        True,
        group="fair",
        formula=mark(
            "√(X² / (W (n − 1))), X² = Σ (wins − W/n)² / (W/n) over the positions, W hands won; what chance adds "
            "to its square is taken off"
        ),
        source="Cramér 1946; Rao & Scott 1984 (blocks); Steiger 2004 (interval)",
    ),
    "entropy": Measure(
        "win_entropy",
        mark("0 to 1"),
        mark("how open it is which position wins; 1 is even, 0 if one position always wins"),
        True,
        group="fair",
        formula=mark("−Σ p ln p / ln n over the positions' shares p of the hands won; what chance takes off is added"),
        source="Shannon 1948; Miller 1955 (bias)",
    ),
}
"""By the name of the field in `reports.intervals.Spread` or `reports.evenness.Evenness`."""

QUANTILES = {"p10": 0.1, "median": 0.5, "p90": 0.9}
"""Quantiles of a length that are published beside its mean."""

LENGTHS = {
    "turns_per_hand": HAND_MEASURES["turns"],
    "minutes_per_hand": Measure(
        "minutes_per_hand",
        mark("minutes"),
        mark("time that a hand takes"),
        False,
        1.0,
        "long",
        mark("turns × seconds a turn / 60"),
    ),
    "hands_per_match": MATCHES["hands"],
    "turns_per_match": MATCHES["turns"],
    "minutes_per_match": Measure(
        "minutes_per_match",
        mark("minutes"),
        mark("time that a match takes"),
        False,
        1.0,
        "long",
        mark("turns × seconds a turn / 60"),
    ),
}
"""Lengths that have quantiles and chances to be longer than a bound."""


def quantile_of(length: str, name: str) -> Measure:
    """The measure of a quantile (a key of QUANTILES) of a length (of LENGTHS)."""
    meaning, formula = _QUANTILES[name]
    return replace(
        LENGTHS[length],
        name=f"{length}_{name}",
        meaning=meaning[length],
        formula=formula,
        source="Wilson 1927 (ranks of the interval)",
    )


def longer_than(length: str) -> Measure:
    """The measure of the chance that a length is above a bound, which stands beside it."""
    of_hands = length.endswith("hand")
    return Measure(
        f"{length}_longer",
        mark("share of hands") if of_hands else mark("share of matches"),
        _LONGER[length],
        True,
        1.0,
        "long",
        mark("such / Σ hands") if of_hands else mark("such / Σ matches"),
        "Wilson 1927 (a block counts as one)",
    )


_QUANTILES = {
    "p10": (
        {
            "turns_per_hand": mark("the 10 % quantile of the turns a hand takes"),
            "minutes_per_hand": mark("the 10 % quantile of the time a hand takes"),
            "hands_per_match": mark("the 10 % quantile of the hands a match takes"),
            "turns_per_match": mark("the 10 % quantile of the turns a match takes"),
            "minutes_per_match": mark("the 10 % quantile of the time a match takes"),
        },
        mark("smallest x with at least 10 % of them at x or below"),
    ),
    "median": (
        {
            "turns_per_hand": mark("the median of the turns a hand takes"),
            "minutes_per_hand": mark("the median of the time a hand takes"),
            "hands_per_match": mark("the median of the hands a match takes"),
            "turns_per_match": mark("the median of the turns a match takes"),
            "minutes_per_match": mark("the median of the time a match takes"),
        },
        mark("smallest x with at least 50 % of them at x or below"),
    ),
    "p90": (
        {
            "turns_per_hand": mark("the 90 % quantile of the turns a hand takes"),
            "minutes_per_hand": mark("the 90 % quantile of the time a hand takes"),
            "hands_per_match": mark("the 90 % quantile of the hands a match takes"),
            "turns_per_match": mark("the 90 % quantile of the turns a match takes"),
            "minutes_per_match": mark("the 90 % quantile of the time a match takes"),
        },
        mark("smallest x with at least 90 % of them at x or below"),
    ),
}
"""By the keys of QUANTILES: the meaning for each length, and the formula."""
_LONGER = {
    "turns_per_hand": mark("hands of more turns than the bound"),
    "minutes_per_hand": mark("hands of more minutes than the bound"),
    "hands_per_match": mark("matches of more hands than the bound"),
    "turns_per_match": mark("matches of more turns than the bound"),
    "minutes_per_match": mark("matches of more minutes than the bound"),
}


_BROWNE = "Browne 2008"
NUMBERS = {"most_held": MOST_HELD, "table_hands": TABLE_HANDS, "leader_hands": LEADER_HANDS}
"""What stands in formulas as a field."""

STORY_HANDS = {
    ("choices", "turns"): Measure(
        "choice_share",
        mark("share of turns"),
        mark("turns in which the player has more than one thing to do"),
        True,
        group="lively",
        formula=mark("Σ turns whose own play put a question / Σ turns"),
    ),
    ("stuck", "turns"): Measure(
        "stuck_share",
        mark("share of turns"),
        mark("turns that begin without a playable card"),
        True,
        group="lively",
        formula=mark("Σ own plays that begin stuck / Σ turns"),
    ),
    ("playable", "own_plays"): Measure(
        "playable_cards",
        mark("cards"),
        mark("different cards of the hand that may be played when an own play begins"),
        group="lively",
        formula=mark("Σ playable cards / Σ own plays"),
    ),
    ("lead_changes", "hands"): Measure(
        "lead_changes_per_hand",
        mark("times"),
        mark("how often the lead passes to somebody else in a hand"),
        group="lively",
        formula=mark(
            "Σ turns after which another player than before is the only one with fewest cards / Σ hands; the end counts"
        ),
        source=_BROWNE,
    ),
    ("comebacks", "won"): Measure(
        "comebacks",
        mark("share of hands"),
        mark("hands won by a player who held most cards half-way"),
        True,
        group="lively",
        formula=mark(
            "hands whose winner held most cards (perhaps with others, but not all alike) after ⌊T/2⌋ of their T "
            "turns / hands with a winner"
        ),
    ),
    ("halfway_leader_won", "halfway_led"): Measure(
        "halfway_leader_wins",
        mark("share of hands"),
        mark("hands that the half-way leader wins: how much of a runaway a hand is"),
        True,
        group="lively",
        formula=mark(
            "hands won by who alone held fewest cards after ⌊T/2⌋ of their T turns / hands with such a leader and "
            "a winner; 1/n if it were nothing"
        ),
    ),
    ("wilds_left", "hands"): Measure(
        "wilds_left_per_hand",
        mark("cards"),
        mark("wilds that are left in hand at the end, of all but the winner"),
        group="luck",
        formula=mark("Σ wilds left / Σ hands"),
    ),
    ("wild_points", "hands"): Measure(
        "wild_points_per_hand",
        mark("points"),
        mark("points of these wilds: what they cost"),
        group="luck",
        formula=mark("Σ points of wilds left / Σ hands"),
    ),
    ("wild_points", "losers_points"): Measure(
        "wild_points_share",
        mark("share of points"),
        mark("part of all points left in hand that is due to wilds"),
        True,
        group="luck",
        formula=mark("Σ points of wilds left / Σ points left, both of all but the winner"),
    ),
    ("tied_lowest", "hands"): Measure(
        "tied_lowest",
        mark("share of hands"),
        mark("hands that nobody went out of and in which several had fewest points"),
        True,
        group="sound",
        formula=mark("such / Σ hands; the winner is then found by cards or turns"),
    ),
    ("penalties", "hands"): Measure(
        "penalties_per_hand",
        mark("times"),
        mark("penalties paid in a hand: penalty draws, calls forgotten and noticed, illegal plays noticed"),
        group="sound",
        formula=mark("Σ penalties of one or more cards / Σ hands"),
    ),
    ("penalties_short", "penalties"): Measure(
        "penalties_cut_short",
        mark("share of penalties"),
        mark("penalties that the stock could not pay in full"),
        True,
        group="sound",
        formula=mark("penalties with fewer cards drawn than due / Σ penalties"),
    ),
    ("chained", "hands"): Measure(
        "chained",
        mark("share of hands"),
        mark("hands in which a draw card is answered by another"),
        True,
        group="sound",
        formula=mark("hands with a chain of two or more draw cards / Σ hands"),
    ),
}
"""By the two columns of a story (`sim.story.HAND_COLUMNS`) whose ratio they are."""

JUDGED = {
    "uncertainty": Measure(
        "uncertainty",
        mark("0 to 1"),
        mark("how open a hand is, on average over its turns; 1 if all have the same chance"),
        False,
        PARTS,
        "lively",
        mark(
            "mean over the turns of a hand of −Σᵢ pᵢ ln pᵢ / ln n, where pᵢ is player i's chance to win, by a table of "
            "how often players win who hold so many cards (up to {most_held}), whose rival with fewest holds so many, "
            "and who have so many turns to wait, made of about {table_hands:,} other hands; made to add up to 1"
        ),
        "Cincotti & Iida 2006",
    ),
    "drama": Measure(
        "drama",
        mark("0 to 1"),
        mark("how far the winner of a hand was behind while it was behind"),
        False,
        PARTS,
        "lively",
        mark(
            "mean of √(max pᵢ − p of the later winner) over the turns of a hand at whose beginning it is above 0, and "
            "0 without such a turn; p as for uncertainty"
        ),
        f"{_BROWNE}; Xexéo, Mangeli & Oliveira 2016 (several players)",
    ),
    "decisiveness": Measure(
        "decisiveness",
        mark("share of a hand"),
        mark("how late a hand is decided: the part of it before its winner is ahead for good"),
        False,
        PARTS,
        "lively",
        mark(
            "number of the last turn at whose beginning somebody else than the later winner had the best chance / "
            "turns of the hand; p as for uncertainty"
        ),
        _BROWNE,
    ),
    "swing": Measure(
        "swing",
        mark("0 to 1"),
        mark("the strongest turn of a hand before the last: what it gains its player"),
        False,
        PARTS,
        "lively",
        mark(
            "largest p of the player of a turn after it minus before it, over the turns of a hand but the last, or 0; "
            "p as for uncertainty"
        ),
        f"{_BROWNE} (killer moves)",
    ),
}
"""By the column of a story (`sim.story.JUDGED_COLUMNS`) whose mean over the hands judged they are."""

STORY_MATCHES = {
    ("first_player", "matches"): Measure(
        "first_player_wins",
        mark("share of matches"),
        mark("matches won by the left neighbour of who dealt first, who plays first"),
        True,
        WHOLE,
        "fair",
        mark("Σ parts of matches won by it / Σ matches; a match that k share gives 1/k to each"),
    ),
    ("lead_changes", "matches"): Measure(
        "lead_changes_per_match",
        mark("times"),
        mark("how often the lead passes to somebody else in a match"),
        group="lively",
        formula=mark(
            "Σ hands after which another seat than before alone has the best total / Σ matches; the end counts"
        ),
        source=_BROWNE,
    ),
    ("comebacks", "decided"): Measure(
        "match_comebacks",
        mark("share of matches"),
        mark("matches won by a seat that was last half-way"),
        True,
        group="lively",
        formula=mark(
            "matches whose winner had the worst total (perhaps with others, but not all alike) after ⌊H/2⌋ of "
            "their H hands / matches with one winner"
        ),
    ),
}
"""By the two columns of a story (`sim.story.MATCH_COLUMNS`) whose ratio they are."""

LEADER_WINS = Measure(
    "leader_wins",
    mark("share of matches"),
    mark("matches won by who leads after so many hands: how much of a runaway a match is"),
    True,
    WHOLE,
    "lively",
    mark(
        "Σ parts of matches won by the seats with the best total after hand k, on average over them / matches of more "
        "than k hands; k up to {leader_hands}"
    ),
)
LONGEST_CHAIN = Measure(
    "longest_penalty_chain",
    mark("cards"),
    mark("most draw cards laid one upon another before somebody had to draw: the largest seen, without an interval"),
    group="sound",
    formula=mark("maximum over all hands"),
)

BY_NAME = {
    measure.name: measure
    for measure in (
        *HAND_MEASURES.values(),
        *MATCHES.values(),
        *EVENNESS.values(),
        *LENGTHS.values(),
        *(quantile_of(length, name) for length in LENGTHS for name in QUANTILES),
        *(longer_than(length) for length in LENGTHS),
        *STORY_HANDS.values(),
        *JUDGED.values(),
        *STORY_MATCHES.values(),
        LEADER_WINS,
        LONGEST_CHAIN,
    )
}
"""Every measure by its published name."""

ALSO_CALLED = {"median_turns": "turns_per_hand_median"}
"""Columns of a ranking that have a shorter name there."""


def find_measure(name: str) -> Measure:
    """The measure of a published name or a column of a ranking. Raises MeasureError, which names the nearest one."""
    name = ALSO_CALLED.get(name, name)
    if name not in BY_NAME:
        near = difflib.get_close_matches(name, BY_NAME, 1)
        hint = f"; did you mean {near[0]}?" if near else f"; allowed: {', '.join(BY_NAME)}"
        raise MeasureError(f"no such measure: {name!r}{hint}")
    return BY_NAME[name]


def glossary(names: Iterable[str] = BY_NAME) -> dict[str, list[Measure]]:
    """The measures of these names by GROUPS, in the order of the record: what a page's glossary lists."""
    wanted = {find_measure(name).name for name in names}
    found = {group: [m for m in BY_NAME.values() if m.group == group and m.name in wanted] for group in GROUPS}
    return {group: measures for group, measures in found.items() if measures}


def glossary_markdown(names: Iterable[str] = BY_NAME) -> str:
    """The same as Markdown: a heading and a table for each group."""
    parts = []
    for group, measures in glossary(names).items():
        rows = [f"| `{m.name}` | {m.unit} | {m.meaning} | {say(m.formula, **NUMBERS)} | {m.source} |" for m in measures]
        head = "| measure | unit | meaning | formula | source |\n|---|---|---|---|---|"
        parts.append("\n".join([f"## {GROUPS[group]}", "", head, *rows, ""]))
    return "\n".join(parts)
