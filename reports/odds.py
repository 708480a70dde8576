"""What are the odds that …? Exact where the cards alone decide, and beside it what the engine deals.

The two come by different roads: `sim.odds` counts sets of cards, `sim.deals` counts hands as they are dealt. About one
interval in twenty misses the exact value by chance, as 95 % says.
"""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np

from reports.intervals import Estimate, interval_mean, interval_share
from sim.deals import Deals, deal
from sim.odds import Exact
from sim.rules import Rules
from sim.streams import RNG_VERSION

if TYPE_CHECKING:
    import pandas as pd

DISTRIBUTION = "hand_points"
"""The name of the odds of each number of points: a row for each, too many for a table on a screen."""
MOST_DRAWN = 10
"""Cards drawn in the first turn up to which the odds are told one by one."""


class OddsError(ValueError):
    """A number of hands that no odds can be counted in."""


@dataclass(frozen=True)
class Odds:
    """One answer: how likely something is, or what it is on average."""

    name: str
    which: str
    """The number in the sentence, where there are odds for several numbers; otherwise empty."""
    sentence: str
    """What has to happen, or what is measured; for one player it is any one player, fixed before the deal."""
    unit: str
    """`chance` (0 to 1), `points`, `cards` or `deals`."""
    exact: Fraction | float | None
    """A fraction, but for a root; None: not exact, and `why` says why."""
    why: str
    simulated: Estimate | None
    """From the deals; None where what has to come first was never dealt."""

    @property
    def value(self) -> float | None:
        """The exact value as a floating-point number, or None."""
        return None if self.exact is None else float(self.exact)

    def as_dict(self) -> dict[str, Any]:
        """Return it as JSON holds it: `exact` as a number and `fraction` as text, null where there is none."""
        return {
            "name": self.name,
            "which": self.which,
            "sentence": self.sentence,
            "unit": self.unit,
            "exact": self.value,
            "fraction": str(self.exact) if isinstance(self.exact, Fraction) else None,
            "why_not_exact": self.why,
            "simulated": None if self.simulated is None else self.simulated.as_dict(),
        }


def odds(rules: Rules, players: int, *, seed: int, hands: int) -> list[Odds]:
    """Return all odds of the deal and the first turn under rules, simulated in so many deals at a seed.

    Odds that the rules make pointless (of wilds where there are none) are left out. Those of each number of points
    come last, under the name DISTRIBUTION. Raises RulesError if so many can not play, OddsError for less than one hand.
    """
    if hands < 1:
        raise OddsError(f"hands is {hands}; allowed: a whole number from 1")
    exact = Exact(rules, players)
    dealt = deal(rules, players, seed=seed, deals=hands)
    return [*_starter(exact, dealt), *_first_turn(exact, dealt), *_hand(exact, dealt), *_points(exact, dealt)]


def odds_frame(found: Sequence[Odds], rules: str, players: int, *, seed: int, hands: int) -> "pd.DataFrame":
    """Return the odds as a tidy frame, a row each; `value`, `se`, `low` and `high` are the simulated ones."""
    import pandas as pd

    nothing = dict.fromkeys(("value", "se", "low", "high"))
    rows = []
    for one in found:
        row = one.as_dict()
        simulated = row.pop("simulated") or nothing
        why = row.pop("why_not_exact")
        about = {"rules": rules, "players": players}
        rows.append({**about, **row, **simulated, "why_not_exact": why, "hands": hands, "seed": str(seed)})
    return pd.DataFrame(rows)


def odds_answer(rules: Rules, players: int, found: Sequence[Odds], *, seed: int, hands: int) -> dict[str, Any]:
    """Return the odds with all that decides them, as JSON holds them."""
    return {
        "rules": rules.as_dict(),
        "players": players,
        "cards_each": rules.cards_each(players),
        "pack": rules.pack_size(players),
        "seed": seed,
        "rng_version": RNG_VERSION,
        "hands": hands,
        "odds": [one.as_dict() for one in found],
    }


# --- The odds, group by group ------------------------------------------------------------------------------------


def _starter(exact: Exact, dealt: Deals) -> Iterator[Odds]:
    rules = exact.rules
    misdeal = Fraction(str(rules.deal.misdeal_rate))
    if exact.void or misdeal:
        # Tries until one succeeds: first without a misdeal, then with a card that may open.
        mean = misdeal / (1 - misdeal) + exact.void / (1 - exact.void)
        yield Odds("void_deals", "", "deals that are void before one stands", "deals", mean, "", _mean(dealt.voids))
    if exact.wilds:
        yield _event(exact.starter_wild(), dealt, "starter_wild", "the first card turned is wild")
    if rules.starter.action == "applies" and exact.effects:
        yield _event(exact.starter_acts(), dealt, "starter_acts", "the starter has an effect")


def _first_turn(exact: Exact, dealt: Deals) -> Iterator[Odds]:
    applies = exact.rules.starter.action == "applies"
    first = "whoever plays first" if applies else "position 1"
    spared = ", with no penalty draw due," if applies and any(exact.is_draw_card(code) for code in exact.pack) else ""
    stuck = f"{first}{spared} is stuck at its first turn"
    why = exact.why_not and f"{exact.why_not}; in the deals simulated it declares its longest suit"
    yield _event(exact.first_stuck(), dealt, "first_stuck", stuck, why)
    plain = exact.first_stuck(plain_starter=True)
    if why and plain is not None:
        seen = _share(dealt.events["first_stuck_plain_starter"], dealt.events["starter_plain"])
        sentence = f"{stuck}, given that the starter is not wild"
        yield Odds("first_stuck_plain_starter", "", sentence, "chance", plain, "", seen)
    for cards in range(1, min(MOST_DRAWN, exact.most_draws) + 1):
        sentence = f"{stuck} and draws {cards} or more in that turn"
        seen = _share(int(dealt.draws[cards:].sum()), dealt.deals)
        yield Odds("first_draws", str(cards), sentence, "chance", exact.first_draws(cards), why, seen)
    if exact.first_stuck() != 0:
        sentence = f"cards that {first} draws in its first turn if it is stuck, on average"
        yield Odds("draws_if_stuck", "", sentence, "cards", exact.draws_if_stuck(), why, _mean(dealt.draws))


def _hand(exact: Exact, dealt: Deals) -> Iterator[Odds]:
    def of_hand(name: str, which: int, sentence: str, chance: Fraction, count: int) -> Odds:
        return Odds(name, str(which), sentence, "chance", chance, "", _share(count, dealt.deals))

    hand = f"a hand of {exact.hand}"
    if exact.wilds:
        for wilds in range(min(exact.wilds, exact.hand) + 1):
            some = "no wild" if wilds == 0 else f"exactly {wilds} wild{'s' * (wilds > 1)}"
            chance, count = exact.hand_wilds(wilds), int(dealt.wilds[wilds])
            yield of_hand("hand_wilds", wilds, f"{hand} has {some}", chance, count)
        chance, count = 1 - exact.hand_wilds(0), int(dealt.wilds[1:].sum())
        yield Odds("hand_wild", "", f"{hand} has at least one wild", "chance", chance, "", _share(count, dealt.deals))
        yield _event(exact.somebody_wild(), dealt, "somebody_wild", "at least one player is dealt a wild")
        yield _event(exact.all_wilds_together(), dealt, "all_wilds_together", "one player is dealt all the wilds")
    for cards in range(2, exact.hand + 1):
        chance = exact.hand_suit(cards)
        if 0 < chance < 1:
            count = int(dealt.longest_suit[cards:].sum())
            yield of_hand("hand_suit", cards, f"{hand} has {cards} or more cards of one suit", chance, count)
    lacking = f"{hand} has no card of at least one suit"
    yield _event(exact.hand_lacks_suit(), dealt, "hand_lacks_suit", lacking)
    if max(exact.pack.values()) > 1:
        yield _event(exact.hand_twins(), dealt, "hand_twins", f"{hand} has two equal cards")
    draws = [code for code in exact.pack if exact.is_draw_card(code)]
    acting = [code for code in exact.pack if exact.has_effect(code)]
    if draws:
        yield _event(1 - exact.hand_lacks(draws), dealt, "hand_draw_card", f"{hand} has at least one draw card")
    if len(acting) > len(draws):
        sentence = f"{hand} has at least one card with an effect"
        yield _event(1 - exact.hand_lacks(acting), dealt, "hand_action_card", sentence)


def _points(exact: Exact, dealt: Deals) -> Iterator[Odds]:
    hand = f"a hand of {exact.hand} as dealt"
    mean = _mean(dealt.points)
    yield Odds("points_mean", "", f"points of {hand}, on average", "points", exact.points_mean(), "", mean)
    deviation = math.sqrt(exact.points_variance())
    sentence = f"standard deviation of the points of {hand}"
    yield Odds("points_deviation", "", sentence, "points", deviation, "", _deviation(dealt.points))
    if stop := exact.rules.stop.points:
        chance = sum((chance for points, chance in exact.hand_points.items() if points <= stop), Fraction(0))
        sentence = f"a player may stop the hand with the cards as dealt, {stop} points or fewer"
        seen = _share(int(dealt.points[: stop + 1].sum()), dealt.deals)
        yield Odds("hand_may_stop", "", sentence, "chance", chance, "", seen)
    for points, chance in exact.hand_points.items():
        seen = _share(int(dealt.points[points]), dealt.deals)
        yield Odds(DISTRIBUTION, str(points), f"{hand} is worth {points} points", "chance", chance, "", seen)


# --- What was dealt, as estimates --------------------------------------------------------------------------------


def _event(exact: Fraction | None, dealt: Deals, name: str, sentence: str, why: str = "") -> Odds:
    return Odds(name, "", sentence, "chance", exact, why, _share(dealt.events[name], dealt.deals))


def _share(count: int, deals: int) -> Estimate | None:
    if not deals:
        return None
    share = count / deals
    return interval_share(share, math.sqrt(share * (1 - share) / max(1, deals - 1)), deals, deals)


def _mean(histogram: np.ndarray[Any, Any]) -> Estimate | None:
    """Return the mean of what a histogram has counted; entry x says how often x was seen."""
    number, mean, variance, _ = _moments(histogram)
    return _not_below_0(mean, math.sqrt(variance / number), number) if number else None


def _deviation(histogram: np.ndarray[Any, Any]) -> Estimate:
    """Return the standard deviation of what a histogram has counted (standard error by the delta method)."""
    number, _, variance, fourth = _moments(histogram)
    deviation = math.sqrt(variance)
    error = math.sqrt(max(0.0, fourth - variance**2) / number)
    return _not_below_0(deviation, error / (2 * deviation) if deviation else 0.0, number)


def _moments(histogram: np.ndarray[Any, Any]) -> tuple[int, float, float, float]:
    """Return how many were counted, their mean, their variance and their fourth moment about the mean."""
    number = int(histogram.sum())
    at = np.flatnonzero(histogram)
    if not number:
        return 0, 0.0, 0.0, 0.0
    counts = histogram[at]
    mean = float((counts * at).sum()) / number
    variance = float((counts * (at - mean) ** 2).sum()) / max(1, number - 1)
    return number, mean, variance, float((counts * (at - mean) ** 4).sum()) / number


def _not_below_0(value: float, se: float, number: int) -> Estimate:
    """Return an estimate of a count; what never varied in `number` deals may yet (as in `reports.frames`)."""
    allowed = interval_mean(value, math.hypot(se, 2 / number), number)
    return Estimate(value, se, max(0.0, allowed.low), allowed.high)
