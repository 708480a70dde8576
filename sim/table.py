"""One hand in play as one flat record, and the part of it that a strategy may see.

`TABLE` is the whole state of a hand: copying it copies the hand, so a hand can be played on from any point. Its first
field, `sight`, is the record that strategies are given (`VIEW`): what a player at the table could see or remember, and
nothing else. The engine keeps the public state only there, so that nothing is copied to show it; before each question
it writes the few fields that belong to the seat that is asked.

Players are numbered by position within the hand: 0 is left of the dealer, ``players - 1`` is the dealer.
"""

from typing import Any

import numba
import numpy as np

from sim.cards import MOST_CARDS, MOST_PLAYERS
from sim.compiled import numbers
from sim.streams import LUCK_EACH, LUCK_GROUP, PAGE_WORDS

SEATED = -(-MOST_PLAYERS // LUCK_GROUP) * LUCK_GROUP

VIEW_FIELDS: list[tuple[str, Any, str]] = [
    # Of the seat that is asked
    ("hand", np.uint64, "own cards: every different card, one bit each; up to four jokers, at ranks 14 of all suits"),
    ("hand_twice", np.uint64, "own cards held a second time (two packs, jokers)"),
    ("playable", np.uint64, "own cards that may be played now, or that answer a penalty draw when one is pending"),
    ("luck", np.uint64, "64 random bits of this question; draw from them with toolkit.choice"),
    ("draws", np.int64, "random draws made so far in this question"),
    ("may_draw", np.int64, "1 if the seat may draw now (with a penalty pending: take it)"),
    ("may_pass", np.int64, "1 if the seat may pass now"),
    ("drawn", np.int64, "cards drawn so far in this turn, penalty cards not counted"),
    ("position", np.int64, "own position: 0 is left of the dealer, players - 1 the dealer"),
    ("taken", np.int64, "penalty cards taken in this turn, where it goes on after them"),
    ("params", np.int64, "where the values of the strategy's parameters lie; it gets them as arguments"),
    # Of the table
    ("players", np.int64, "players in this hand"),
    ("turn", np.int64, "turns begun in this hand, the present one included"),
    ("direction", np.int64, "1 clockwise, -1 after a reverse"),
    ("top", np.int64, "code of the top card of the discard pile"),
    ("active_suit", np.int64, "0 C, 1 D, 2 H, 3 S; 4 while a delayed suit is not yet declared"),
    ("any_card", np.int64, "1 if any card may follow the top card"),
    ("pending", np.int64, "cards of the penalty draw that waits for the seat to act"),
    ("declarer", np.int64, "position that has laid a wild and still has to declare its suit (delayed), -1 nobody"),
    ("acting", np.int64, "where a delayed suit is asked for: the position whose turn begins"),
    ("idle", np.int64, "turns in a row that ended in a pass without a card drawn; when all have, the hand is blocked"),
    ("stock", np.int64, "cards in the stock"),
    ("discards", np.int64, "cards in the discard pile, the top included"),
    ("pile", np.uint64, "cards in the discard pile, the top included"),
    ("pile_twice", np.uint64, "cards that lie there twice"),
    ("earlier", np.uint64, "cards seen in the discard pile before it was last reshuffled"),
    ("earlier_twice", np.uint64, "cards seen there twice before it was last reshuffled"),
    ("counts", (np.int64, (MOST_PLAYERS,)), "cards in hand, by position"),
    ("totals", (np.int64, (MOST_PLAYERS,)), "points in the match before this hand, by position"),
    ("called", (np.int64, (MOST_PLAYERS,)), "last-card calls made in this hand, by position"),
    ("drew_on", (np.uint16, (MOST_PLAYERS * 4,)), "turns in which it drew or passed on a suit: [position * 4 + suit]"),
    ("played", (np.uint16, (MOST_PLAYERS * 4,)), "cards of a suit that it played, wilds not: [position * 4 + suit]"),
    # Of the rules
    ("rules", np.int64, "where the record of all the rules is, for a strategy that plays the hand on in its head"),
    ("wilds", np.uint64, "cards that are wild"),
    ("penalties", np.uint64, "cards that make the next player draw"),
    ("pack", np.uint64, "every different card of the pack"),
    ("packs", np.int64, "packs in use, 1 or 2"),
    ("jokers", np.int64, "jokers in use, all packs together"),
    ("points", (np.int64, (16,)), "points of a card left in hand, by rank (14: joker)"),
    ("effects", (np.int64, (16,)), "effect by rank: 0 none, 1 skip, 2 reverse, 3 any-card, 4 again, 5 draw"),
]
"""Name, type and meaning of every field of the view, in order; the documentation is made from this."""


def _dtype(fields: list[tuple[Any, ...]]) -> np.dtype[Any]:
    return np.dtype([(name, *(kind if isinstance(kind, tuple) else (kind,))) for name, kind, *_ in fields], align=True)


VIEW = _dtype(VIEW_FIELDS)

TABLE = _dtype(
    [
        ("sight", VIEW),
        # Cards
        ("hands", (np.uint64, (MOST_PLAYERS,))),
        ("hands_twice", (np.uint64, (MOST_PLAYERS,))),
        ("stock", (np.uint8, (MOST_CARDS,))),  # cards at [stock_low, stock_high) are still to be drawn, next first
        ("discards", (np.uint8, (MOST_CARDS,))),  # in the order laid, the top last
        ("stock_low", np.int64),
        ("stock_high", np.int64),
        ("given", np.int64),  # cards of a stock that was set by hand, 0: shuffle one
        ("settled", np.int64),  # stock[:settled] has its final order; the rest is shuffled as it is drawn
        # Who sits where
        ("seat", (np.int64, (MOST_PLAYERS,))),  # by position
        ("deal", (np.int64, (MOST_PLAYERS,))),  # cards to deal, by position
        # Chance
        ("seed", np.uint64),
        ("game", np.uint64),
        ("hand_number", np.int64),  # within the match, from 0
        ("replay", np.int64),  # plays of the same cards that differ in the players' own luck, below REPLAYS
        ("luck_number", np.int64),  # the hand's number in the streams that belong to a seat
        ("words", (np.uint32, (PAGE_WORDS,))),  # one page of the deck's or the reshuffles' stream
        ("purpose", np.int64),  # which of the two
        ("word", np.int64),  # words used of that stream
        ("page", np.int64),  # page held in `words`, -1 none
        # Of each position: its place among the streams, once a block, and its luck, two words a question
        ("places", (np.uint32, (SEATED * LUCK_GROUP,))),
        ("luck", (np.uint32, (SEATED * LUCK_EACH * 2,))),
        ("questions", (np.int64, (MOST_PLAYERS,))),  # put to each position in this hand
        # What goes on
        ("prepared", np.int64),  # players whose rule record the view's facts come from, 0 none yet
        ("chain", np.int64),  # draw cards answered in a row
        # The hand's record
        ("reason", np.int64),
        ("winner", np.int64),  # position, -1 nobody
        ("points_left", (np.int64, (MOST_PLAYERS,))),
        ("scored", (np.int64, (MOST_PLAYERS,))),
        ("cards_drawn", np.int64),
        ("passes", np.int64),
        ("choices", np.int64),  # turns in which the player had a real choice of play
        ("stuck", np.int64),  # turns that began without a playable card
        ("reshuffles", np.int64),
        ("void_deals", np.int64),
        ("longest_chain", np.int64),
        ("closed_on_wild", np.int64),
        # If it went wrong: the last question, its answer, and who was to act
        ("question", np.int64),
        ("answer", np.int64),
        ("faulty", np.int64),
        # The log: where, how many rows there is room for (0: none is kept)
        ("log", np.int64),
        ("log_room", np.int64),
        ("logged", np.int64),  # rows written, or that would have been, to the log
    ]
)

ACT_DRAW = np.int64(64)
ACT_PASS = np.int64(65)
"""What a strategy may answer besides the code of a card. With a penalty pending, drawing is taking it."""

OUT, BLOCKED, STOPPED, CAPPED = numbers(4)
"""How a hand ended (`reason`)."""
REASONS = ("out", "blocked", "stopped", "capped")

MOST_PARAMS = 8
"""Parameters that a strategy may have."""

CREW = _dtype(
    [
        # First, so that the address of the crew is that of seat 0's parameters.
        ("params", (np.int64, (MOST_PLAYERS, MOST_PARAMS))),  # a float by its bits
        ("play", (np.int64, (MOST_PLAYERS,))),  # addresses of compiled functions, by seat
        ("suit", (np.int64, (MOST_PLAYERS,))),
        ("stop", (np.int64, (MOST_PLAYERS,))),
        ("forget", (np.uint64, (MOST_PLAYERS,))),  # chances as 32-bit thresholds, by seat
        ("illegal", (np.uint64, (MOST_PLAYERS,))),
        ("group", (np.int64, (MOST_PLAYERS,))),  # seats that play alike have the same number, from 0 in order
        ("notice", np.uint64),
        ("errs", np.int64),  # 1 if any seat ever plays illegally
    ]
)
"""A line-up as the engine reads it."""

MATCH = _dtype(
    [
        ("players", np.int64),
        ("first_dealer", np.int64),  # a seat
        ("dealer", np.int64),  # of the next hand
        ("hands", np.int64),  # played so far
        ("turns", np.int64),
        ("extra", np.int64),  # extra hands begun
        ("over", np.int64),
        ("capped", np.int64),  # 1 if given up after too many hands
        ("playing", np.int64),  # how many take part in the next hand
        ("totals", (np.int64, (MOST_PLAYERS,))),  # these by seat
        ("hands_won", (np.int64, (MOST_PLAYERS,))),
        ("plays", (np.int64, (MOST_PLAYERS,))),  # 1 if it takes part in the next hand
        ("contends", (np.int64, (MOST_PLAYERS,))),  # 1 if it can still win
        ("share", (np.int64, (MOST_PLAYERS,))),  # of the match, in parts of WHOLE
    ]
)
"""A match as it goes on."""

view_type = numba.from_dtype(VIEW)
