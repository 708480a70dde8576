"""The tips of the rule sheets as parts that can be put together, each with a choice without it, so that it is measured.

`tips` is six rules at once: which cards of the playable ones come into question (`wild`, `give`, `finish`, `attack`),
which of these is laid (`card`), when to draw or pass instead (`draw`), which suit is declared (`suit`) and when the
hand is stopped (`stop`). As it is by default it follows no tip and plays as `random` does. `TWINS` says which settings
a claim of the sheets is measured with.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from sim.cards import JOKERS_MASK, MOST_CARDS
from sim.compiled import kernel, numbers
from sim.record import REVERSE, SKIP
from strategies.counting import scarce_suit
from strategies.params import within
from strategies.registry import strategy
from strategies.toolkit import (
    DRAW,
    PASS,
    choice,
    count_cards,
    first_by_rank,
    longest_suit,
    most_points,
    next_count,
    next_position,
    of_rank,
    of_suit,
    pick,
    smallest_rival,
    suit_count,
)

CARDS = ("random", "faces", "points", "low", "long", "run")
"""Which card: any; faces and tens first; the most points first; the lowest rank first; one of the suit that the player
holds most of; or any while a run (three plain cards or more of the longest suit) is kept until its suit is active.
"""
FACES, POINTS, LOW, LONG, RUN = numbers(6)[1:]

WILDS = ("hold-0", "hold-1", "hold-2", "hold-3", "last", "first")
"""How many wilds are held back while anything else goes, the others being cards like any; last: all of them are.

First: a wild whenever one goes.
"""
LAST, FIRST = numbers(6)[4:]

DRAWS = ("never", "once", "before-wild", "save-wild")
"""When to draw though a card could be laid: never; one card a turn; one card before a wild is laid; or rather than lay
a wild, as long as plain cards are held (and then rather pass, where that is allowed).
"""
NEVER, ONCE = numbers(2)
SAVE_WILD = np.int64(3)

ATTACKS = ("never", *(f"{what}-{few}" for what in ("suit", "effect", "both") for few in (1, 2, 3)))
"""What to do when another player holds so many cards or fewer: change the suit; if it is the next player, make it
draw, skip it or turn play away from it; or the second and, failing that, the first. Wilds that are held back stay so.
"""
_FEWS = 3

SUITS = ("random", "longest", "lacking", "thrice")
"""Which suit to declare: any; the longest; the one that the others seem to lack, by what they drew on and what has been
seen; or one that the next player drew on three times or more and never played, else the longest.
"""
LONGEST, LACKING, THRICE = numbers(4)[1:]

STOPS = ("early", "ahead", "late", "never")
"""When to stop the hand, where it is allowed: at once; if all others hold more cards; if one is down to its last."""
EARLY, AHEAD, LATE = numbers(3)

ALL = MOST_CARDS
"""To hold back so many wilds is to hold back all."""
RUN_LENGTH = 3
"""Plain cards of one suit that make a run worth keeping."""
TIMES = 3
"""Turns in which a player has drawn on a suit when it is thought to have none."""

PARAMS = {
    "card": CARDS,
    "wild": WILDS,
    "give": within(0, 0, 10),  # a wild as soon as another player holds so many cards or fewer
    "suit": SUITS,
    "draw": DRAWS,
    "attack": ATTACKS,
    "finish": within(0, 0, 10),  # with so many cards or fewer left the last wild is kept to go out on
    "stop": STOPS,
}

_scarce_suit = kernel(scarce_suit)


@kernel
def wilds_held(view):
    """Count the wilds that the player holds, both copies and all jokers."""
    wilds = view.wilds | JOKERS_MASK
    return count_cards(view.hand & wilds) + count_cards(view.hand_twice & wilds)


# --- Which cards come into question -----------------------------------------------------------------------------------


@kernel
def not_kept_to_finish(view, finish):
    """Leave the last wild out of the playable cards if the player is to go out on it and something else goes."""
    plain = view.playable & ~view.wilds
    if plain and view.counts[np.uint64(view.position)] <= finish and wilds_held(view) == 1:
        return plain
    return view.playable


@kernel
def hold_back(view, cards, most):
    """Leave the wilds out of a set if the player holds no more than so many, unless there are only wilds."""
    plain = cards & ~view.wilds
    return plain if plain and wilds_held(view) <= most else cards


@kernel
def by_wild_rule(view, cards, wild, give):
    """Leave out of a set the wilds that are held back, or all but the wilds where these come first."""
    wilds = cards & view.wilds
    if wilds and (wild == FIRST or smallest_rival(view) <= give):
        return wilds
    return hold_back(view, cards, ALL if wild == LAST else wild)


@kernel
def hindering(view, cards):
    """Select the cards that make the next player draw, skip it or, with three or more, turn play away from it."""
    found = cards & view.penalties
    for rank in range(1, 14):
        effect = view.effects[np.uint64(rank)]
        if effect == SKIP or (effect == REVERSE and view.players > 2):
            found |= of_rank(cards, rank)
    return found


@kernel
def against_a_short_hand(view, cards, attack):
    """Select what goes against a player of few cards by the attack rule; all cards if nobody is short or nothing does.

    A wild changes the suit, too.
    """
    few = (attack - 1) % _FEWS + 1
    if attack == 0 or smallest_rival(view) > few:
        return cards
    found = cards & ~cards
    if attack > _FEWS and next_count(view) <= few:
        found = hindering(view, cards)
    if not found and (attack <= _FEWS or attack > 2 * _FEWS):
        found = cards & (view.wilds | ~of_suit(cards, view.active_suit))
    return found if found else cards


# --- Which of them is laid --------------------------------------------------------------------------------------------


@kernel
def high_cards(view, cards):
    """Select the jacks, queens, kings and tens that are not wild."""
    return (of_rank(cards, 10) | of_rank(cards, 11) | of_rank(cards, 12) | of_rank(cards, 13)) & ~view.wilds


@kernel
def run_of(view):
    """Select the plain cards of the longest suit, if they are enough to be a run."""
    run = of_suit(view.hand, longest_suit(view)) & ~view.wilds
    return run if count_cards(run) >= RUN_LENGTH else run & ~run


@kernel
def longest_of(view, cards):
    """Select the cards of that suit in a set of which the player holds most, of equals the first in C D H S."""
    best = cards
    most = 0
    for suit in range(4):
        found = of_suit(cards, suit)
        if found:
            held = suit_count(view, suit)
            if held > most:
                most = held
                best = found
    return best


@kernel
def chosen_card(view, cards, card):
    """Choose a card of a set by a card rule."""
    if card == POINTS:
        return most_points(view, cards)
    if card == LOW:
        return first_by_rank(cards)
    if card == LONG:
        return most_points(view, longest_of(view, cards))
    best = cards & ~cards
    if card == FACES:
        best = high_cards(view, cards)
    elif card == RUN:
        run = run_of(view)
        on_it = run and longest_suit(view) == view.active_suit
        best = cards & run if on_it else cards & ~run
    return pick(view, best if best else cards)


# --- The answers ------------------------------------------------------------------------------------------------------


@kernel
def instead(view, give, draw):
    """Say whether to draw or pass rather than lay a card: `DRAW`, `PASS`, or -1 to lay one."""
    if draw == NEVER or view.pending or view.counts[np.uint64(view.position)] == 1:
        return -1
    if draw != ONCE and view.playable & ~view.wilds:
        return -1
    if draw != SAVE_WILD:
        return DRAW if view.may_draw and not view.drawn else -1
    plain_held = view.hand & ~(view.wilds | JOKERS_MASK)
    if not plain_held or smallest_rival(view) <= give:
        return -1
    if view.may_draw:
        return DRAW
    return PASS if view.may_pass else -1


def tips_suit(view, suit):
    """Declare a suit by the suit rule."""
    if suit == LONGEST:
        return longest_suit(view)
    if suit == LACKING:
        return _scarce_suit(view)
    if suit == THRICE:
        first = 4 * next_position(view)
        for other in range(4):
            drew = view.drew_on[np.uint64(first + other)]
            if drew >= TIMES and not view.played[np.uint64(first + other)]:
                return other
        return longest_suit(view)
    return choice(view, 4)


def tips_stop(view, stop):
    """Stop the hand, or go on, by the stop rule."""
    if stop == EARLY:
        return 1
    if stop == AHEAD:
        return 1 if smallest_rival(view) > view.counts[np.uint64(view.position)] else 0
    return 1 if stop == LATE and smallest_rival(view) == 1 else 0


@kernel
def tips_play(view, card, wild, give, draw, attack, finish):
    """Answer by all rules but those for suits and stops; `tips` and `sensible` are this with other settings."""
    answer = instead(view, give, draw)
    if answer >= 0:
        return answer
    cards = by_wild_rule(view, not_kept_to_finish(view, finish), wild, give)
    return chosen_card(view, against_a_short_hand(view, cards, attack), card)


@strategy(
    "tips",
    idea="the tips of the sheets, put together at will; by default none of them, as random",
    sheet="Ochos Locos, Ocho Loco, Crazy Eights",
    suit=tips_suit,
    stop=tips_stop,
    params=PARAMS,
)
def tips(view, card, wild, give, draw, attack, finish):
    """Play by the rules chosen, and answer every penalty draw that can be answered."""
    return tips_play(view, card, wild, give, draw, attack, finish)


# --- The best of them -------------------------------------------------------------------------------------------------

SENSIBLE = {
    "card": "long",
    "wild": "last",
    "give": "1",
    "suit": "lacking",
    "attack": "effect-2",
    "finish": "2",
}
"""The settings that won most in the games of the sheets, of two and of four players, each tried beside the others.

A few other ones win as often under some of these rules, none under all of them.
"""
_CARD = CARDS.index(SENSIBLE["card"])
_WILD = WILDS.index(SENSIBLE["wild"])
_GIVE = int(SENSIBLE["give"])
_ATTACK = ATTACKS.index(SENSIBLE["attack"])
_FINISH = int(SENSIBLE["finish"])


@strategy(
    "sensible",
    idea="the tips that pay: wilds last, long suits first, the suit the others lack, actions on short hands",
    sheet="Ochos Locos, Ocho Loco, Crazy Eights",
    suit=scarce_suit,
)
def sensible(view):
    """Play as `tips` with the settings `SENSIBLE`."""
    return tips_play(view, _CARD, _WILD, _GIVE, NEVER, _ATTACK, _FINISH)


# --- Which claims they are --------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Twins:
    """A claim of the sheets as two players who differ in one setting of `tips`: one follows the tip, its twin does not.

    A claim that can be read in more than one way has as many pairs.
    """

    number: int
    """Of the claim."""
    claim: str
    setting: tuple[str, str, str]
    """The parameter, its value with the tip, and that without."""
    rules: str
    """Rules of a sheet that makes the claim, under which the tip can be followed."""
    needs: Mapping[str, str] = field(default_factory=dict)
    """What both are set to, so that it makes a difference."""

    def names(self, beside: Mapping[str, str] | None = None) -> tuple[str, str]:
        """Return the names of the player with the tip and of its twin.

        `beside`: the other tips that both follow, none or for instance `SENSIBLE`.
        """
        param, *values = self.setting
        both = {**(beside or {}), **self.needs}
        first, second = ({**both, param: value} for value in values)
        return settings_name(first), settings_name(second)


def settings_name(settings: Mapping[str, str]) -> str:
    """Return the name of `tips` with some settings."""
    return f"tips:{','.join(f'{name}={settings[name]}' for name in PARAMS if name in settings)}"


TWINS = (
    Twins(1, "hold back one wild for emergencies", ("wild", "hold-1", "hold-0"), "ochos-locos"),
    Twins(2, "but not for long", ("give", "1", "0"), "ocho-loco-especiales", {"wild": "last"}),
    Twins(3, "shed wilds and faces early", ("card", "points", "random"), "ochos-locos", {"wild": "hold-0"}),
    Twins(3, "shed the last wild early, too", ("wild", "hold-0", "hold-1"), "ochos-locos", {"card": "points"}),
    Twins(4, "shed faces and tens first", ("card", "faces", "random"), "crazy-eights"),
    Twins(5, "declare the longest suit", ("suit", "longest", "random"), "ochos-locos"),
    Twins(6, "declare the suit that the others seem to lack", ("suit", "lacking", "longest"), "crazy-eights"),
    Twins(7, "who drew on a suit three times has none of it", ("suit", "thrice", "longest"), "ochos-locos"),
    Twins(8, "keep a run in one suit for later", ("card", "run", "random"), "crazy-eights"),
    Twins(8, "hold the others in the longest suit", ("card", "long", "random"), "crazy-eights"),
    Twins(9, "change the suit on a short hand", ("attack", "suit-2", "never"), "ocho-loco"),
    Twins(9, "lay action cards on a short hand", ("attack", "effect-2", "never"), "ocho-loco-especiales"),
    Twins(10, "draw though you could play", ("draw", "once", "never"), "ocho-loco"),
    Twins(10, "draw once before laying a wild", ("draw", "before-wild", "never"), "ocho-loco"),
    Twins(11, "keep a wild to go out on", ("finish", "3", "0"), "crazy-eights", {"wild": "hold-0", "give": "0"}),
    # How much a well chosen suit is worth where it is declared late; number 6 says what it is worth at once.
    Twins(18, "declare the suit late", ("suit", "lacking", "longest"), "crazy-eights+delayed-suit"),
    Twins(22, "stop at five points or fewer", ("stop", "early", "never"), "crazy-eights+stop-at-five"),
)
"""The claims about play; the others are about rules."""
