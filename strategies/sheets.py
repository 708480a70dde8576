"""Strategies that follow one tip of a rule sheet each."""

from strategies.params import within
from strategies.registry import strategy
from strategies.tips import ALL, hold_back
from strategies.toolkit import last_by_rank, most_points, pick


@strategy(
    "hoard-eights",
    idea="any card but a wild, while there is one; its longest suit",
    sheet="Ochos Locos, Crazy Eights",
    params={"hold": within(ALL, 0, ALL)},
)
def hoard_eights(view, hold=ALL):
    """Play any playable card that is not wild, all alike; a wild only when nothing else goes, or more are held."""
    return pick(view, hold_back(view, view.playable, hold))


@strategy(
    "dump-faces",
    idea="K Q J 10 first, then the highest pips; wilds last; its longest suit",
    sheet="Ocho Loco, Crazy Eights",
    params={"hold": within(ALL, 0, ALL)},
)
def dump_faces(view, hold=ALL):
    """Play the highest rank in the order K Q J 10 … A and, within it, C D H S; wilds after all others."""
    return last_by_rank(hold_back(view, view.playable, hold))


@strategy(
    "dump-high",
    idea="the most points first, wilds included; its longest suit",
    sheet="Ochos Locos",
    params={"hold": within(0, 0, ALL)},
)
def dump_high(view, hold=0):
    """Play the card that would cost most if left in hand."""
    return most_points(view, hold_back(view, view.playable, hold))
