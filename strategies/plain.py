"""Strategies without a thought: the fields that others are measured in."""

from strategies.registry import strategy
from strategies.toolkit import choice, first_by_rank, pick, plain_first


def any_suit(view):
    """Declare a suit by chance, all four alike."""
    return choice(view, 4)


@strategy("random", idea="any playable card, any suit, by chance", suit=any_suit)
def random(view):
    """Play any of the different playable cards, all alike; never draw or pass by choice."""
    return pick(view, view.playable)


@strategy("first-legal", idea="the lowest playable card, wilds last; its longest suit")
def first_legal(view):
    """Play the first of the playable cards in the order A 2 … K and C D H S, wilds after all others."""
    return first_by_rank(plain_first(view, view.playable))
