"""Strategies that follow one tip of a rule sheet each."""

from strategies.registry import strategy
from strategies.toolkit import last_by_rank, most_points, pick, plain_first


@strategy(
    "hoard-eights", idea="any card but a wild, while there is one; its longest suit", sheet="Ochos Locos, Crazy Eights"
)
def hoard_eights(view):
    """Play any playable card that is not wild, all alike; a wild only when nothing else goes."""
    return pick(view, plain_first(view, view.playable))


@strategy(
    "dump-faces",
    idea="K Q J 10 first, then the highest pips; wilds last; its longest suit",
    sheet="Ocho Loco, Crazy Eights",
)
def dump_faces(view):
    """Play the highest rank in the order K Q J 10 … A and, within it, C D H S; wilds after all others."""
    return last_by_rank(plain_first(view, view.playable))


@strategy("dump-high", idea="the most points first, wilds included; its longest suit", sheet="Ochos Locos")
def dump_high(view):
    """Play the card that would cost most if left in hand."""
    return most_points(view, view.playable)
