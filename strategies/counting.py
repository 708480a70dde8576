"""Strategies that count: they keep in mind which cards have been seen, and who could not follow what."""

import numpy as np

from sim.compiled import kernel
from strategies.registry import strategy
from strategies.toolkit import lowest_card, most_points, of_rank, of_suit, smallest_rival, suit_count, unseen

# What a card to play is worth, in cards that the next player can be expected to follow with. Both values are coarse
# on purpose: twice or half of either changes the share of hands won by half a percent at most.
OWN_CARD = 0.25
"""One more card of one's own in the suit that the card makes active."""
POINT = 0.01
"""One point less in hand: decides between cards that are otherwise alike."""

_MANY = 1000.0  # more than any number of answers
_ONE = np.uint64(1)


@kernel
def held_share(view, suit):
    """Expect which part of the unseen cards of a suit the next player holds, and add half as much for each other one.

    The cards not seen yet are spread alike over the other hands and the stock, but whoever drew on the suit holds
    less of it: two thirds of its share after one such turn, a half after two, two fifths after three.
    """
    following = view.position + view.direction
    if following == view.players:
        following = 0
    elif following < 0:
        following = view.players - 1
    hidden = view.stock
    shares = 0.0
    for position in range(view.players):
        if position != view.position:
            held = view.counts[np.uint64(position)]
            drew = np.int64(view.drew_on[np.uint64(4 * position + suit)])
            hidden += held
            shares += (1.0 if position == following else 0.5) * held * 2 / (2 + drew)
    return shares / hidden


def scarce_suit(view):
    """Declare the suit, of those held or else of all, that the others most likely lack; ties C D H S."""
    best = 0
    fewest = 2 * _MANY
    for suit in range(4):
        answers = held_share(view, suit) * unseen(view, of_suit(view.pack, suit) & ~view.wilds)
        if not suit_count(view, suit):
            answers += _MANY
        if answers < fewest:
            best = suit
            fewest = answers
    return best


@strategy(
    "suit-counting",
    idea="leads to suits that it holds and the others seem to lack; wilds late, but not too late",
    sheet="Ochos Locos, Crazy Eights",
    suit=scarce_suit,
)
def suit_counting(view):
    """Play the card after which the others can follow least and the player itself most.

    Wilds wait until nothing else goes, or until somebody is down to the last card while three or more are left here:
    then the points count. With two left the wild is kept, because it goes out next turn whatever lies on top.
    """
    wilds = view.playable & view.wilds
    plain = view.playable & ~view.wilds
    too_late = smallest_rival(view) == 1 and view.counts[np.uint64(view.position)] > 2
    if wilds and (too_late or not plain):
        return most_points(view, wilds)
    best = -1
    most = -_MANY
    for suit in range(4):
        cards = of_suit(plain, suit)
        if not cards:
            continue
        share = held_share(view, suit)
        own = OWN_CARD * (suit_count(view, suit) - 1)
        while cards:
            card = lowest_card(cards)
            cards &= cards - _ONE
            rank = card & 15
            answers = (of_suit(view.pack, suit) | of_rank(view.pack, rank)) & ~view.wilds
            worth = own + POINT * view.points[np.uint64(rank)] - share * unseen(view, answers)
            if worth > most:
                best = card
                most = worth
    return best
