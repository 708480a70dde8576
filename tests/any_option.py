"""The reference's `AnyOption` as a compiled strategy: no way to play, but a way into every corner of the rules."""

from sim.compiled import kernel
from strategies.registry import Strategy
from strategies.toolkit import DRAW, PASS, choice, count_cards, nth_card


@kernel
def any_play(view):
    """Take one of the playable cards in the order of their codes, then draw (or take), then pass, all alike."""
    cards = count_cards(view.playable)
    k = choice(view, cards + view.may_draw + view.may_pass)
    if k < cards:
        return nth_card(view.playable, k)
    return DRAW if k == cards and view.may_draw else PASS


@kernel
def any_suit(view):
    return choice(view, 4)


@kernel
def perhaps_stop(view):
    return choice(view, 2)


# Not registered: `all_strategies` finds what people play, and this is for tests.
ANY_OPTION = Strategy("any-option", "any option at all", "", any_play, any_suit, perhaps_stop)
