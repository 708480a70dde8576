"""Exact odds of the deal and of the first turn, under any rules: counted, with no chance and no engine in it.

What the cards alone decide is counted here in whole numbers; `sim.deals` counts the same in hands that the engine
deals. What depends on how people play has no exact odds, and `Exact.why_not` says so.

All of it is about the deal that stands, in a hand in which nobody has cards fewer (no countdown). Two things make that
less than plain counting. The starter is turned after the deal, so that wilds set aside before it are known not to be
in the hands. And where hardly any cards are left, a deal may be void, which is likelier the fewer wilds the hands hold.
"""

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property, reduce

from sim.cards import JOKER_CODE, RANK_OF
from sim.rules import Rules

Ways = dict[tuple[int, int], int]
"""Sets of cards, counted: (cards, of these such as are buried) to how many sets there are. Where points are counted
the number is a polynomial in 2 ** `Exact.width`: the coefficient of its p-th power counts the sets of p points."""


@dataclass(frozen=True)
class Opening:
    """A way in which a hand opens: a starter, after so many cards were set aside, and how likely it is."""

    card: int
    """Its code."""
    buried: int
    chance: Fraction


class Exact:
    """The exact odds under `rules` for a number of players. Raises RulesError if so many can not play."""

    def __init__(self, rules: Rules, players: int) -> None:
        """Lay out the pack."""
        rules.check_players(players)
        self.rules = rules
        self.players = players
        self.hand = rules.cards_each(players)
        packs = rules.packs_for(players)
        self.pack = Counter(
            {16 * suit + RANK_OF[rank]: packs for suit in range(4) for rank in RANK_OF if rank in rules.deck.ranks}
        )
        if rules.deck.jokers:
            self.pack[JOKER_CODE] = rules.deck.jokers * packs
        self.cards = self.pack.total()
        self.undealt = self.cards - players * self.hand
        self.wild_ranks = {RANK_OF[rank] for rank in rules.wild.ranks} | {JOKER_CODE}
        self.effects = {RANK_OF[rank]: effect for rank, effect in rules.actions.by_rank().items()}
        if rules.jokers.draw:
            self.effects[JOKER_CODE] = rules.jokers.draw
        self.wilds = self._number(code for code in self.pack if self.is_wild(code))
        self.buriable = self._number(code for code in self.pack if self._is_buried(code))
        self.width = math.comb(self.cards, self.hand).bit_length()

    # --- The pack -----------------------------------------------------------------------------------------------

    def is_wild(self, code: int) -> bool:
        """Say whether a card is wild."""
        return code % 16 in self.wild_ranks

    def has_effect(self, code: int) -> bool:
        """Say whether a card has an effect on those that follow."""
        return code % 16 in self.effects

    def is_draw_card(self, code: int) -> bool:
        """Say whether a card makes the next player draw."""
        return isinstance(self.effects.get(code % 16), int)

    def _is_buried(self, code: int) -> bool:
        """Say whether a card turned as the starter is set aside."""
        way = self.rules.starter.wild
        return (self.is_wild(code) and way == "bury") or (code == JOKER_CODE and way == "own-suit")

    def _number(self, codes: Iterable[int]) -> int:
        return sum(self.pack[code] for code in codes)

    # --- How a hand opens ---------------------------------------------------------------------------------------

    @cached_property
    def void(self) -> Fraction:
        """The chance that a deal is void because only cards that are buried are left (misdeals not counted)."""
        return Fraction(math.comb(self.buriable, self.undealt), math.comb(self.cards, self.undealt))

    @cached_property
    def openings(self) -> tuple[Opening, ...]:
        """Every way in which a hand opens, given that the deal stands: their chances add up to 1."""
        found = []
        for buried in range(min(self.buriable, self.undealt - 1) + 1):
            before = Fraction(math.perm(self.buriable, buried), math.perm(self.cards, buried)) / (1 - self.void)
            for code, copies in self.pack.items():
                if not self._is_buried(code):
                    found.append(Opening(code, buried, before * Fraction(copies, self.cards - buried)))
        return tuple(found)

    def starter_wild(self) -> Fraction:
        """The first card turned is wild, whether it then stays or is buried."""
        return sum((way.chance for way in self.openings if way.buried or self.is_wild(way.card)), Fraction(0))

    def starter_acts(self) -> Fraction:
        """The starter has an effect on those who play (`starter.action = applies`)."""
        return sum((way.chance for way in self.openings if self._effect(way.card) is not None), Fraction(0))

    def _effect(self, starter: int) -> str | int | None:
        return self.effects.get(starter % 16) if self.rules.starter.action == "applies" else None

    # --- The first turn -----------------------------------------------------------------------------------------

    @cached_property
    def why_not(self) -> str:
        """Why the first turn has no exact odds; empty if it has."""
        if any(self._is_asked(way.card) for way in self.openings):
            return "the dealer declares the suit of a wild starter, which depends on how the dealer plays"
        return ""

    def _is_asked(self, starter: int) -> bool:
        """Say whether what may follow depends on a suit that the dealer declares."""
        asked = self.is_wild(starter) and self.rules.starter.wild == "dealer-declares"
        return asked and self._effect(starter) != "any-card"

    def _fits(self, starter: int, code: int) -> bool:
        """Say whether a card may be laid on a starter by a player who holds others too."""
        if self.is_wild(code):
            return self.rules.wild.on_wild or not self.is_wild(starter)
        # No plain card has the rank of a wild starter, so its rank needs no thought.
        return self._effect(starter) == "any-card" or code % 16 == starter % 16 or code // 16 == starter // 16

    @cached_property
    def _useless(self) -> dict[int, int]:
        """How many cards of the pack can not be laid on each starter."""
        return {
            starter: self._number(code for code in self.pack if not self._fits(starter, code)) for starter in self.pack
        }

    def first_stuck(self, plain_starter: bool = False) -> Fraction | None:
        """Whoever plays first faces no penalty draw and holds no card it may play; None: see `why_not`.

        `plain_starter`: given that the starter is not wild.
        """
        return self._first_turn(0, plain_starter)

    def first_draws(self, cards: int) -> Fraction | None:
        """Whoever plays first is stuck and draws so many cards, at least 1, or more in its first turn.

        It draws until a card is playable, as far as `draw.limit` and the stock go. None: see `why_not`.
        """
        return self._first_turn(cards, False)

    def draws_if_stuck(self) -> Fraction | None:
        """The mean of the cards that whoever plays first draws in its first turn if it is stuck; None: none has to."""
        stuck = self.first_stuck()
        if not stuck:
            return None
        drawn = (self.first_draws(k) for k in range(1, self.most_draws + 1))
        return sum((chance for chance in drawn if chance is not None), Fraction(0)) / stuck

    @property
    def most_draws(self) -> int:
        """The most cards that a player can draw in the first turn: the limit, or the stock; no reshuffle helps yet."""
        limit = self.rules.draw.limit
        return self.undealt - 1 if limit == "until-playable" else min(limit, self.undealt - 1)

    def _first_turn(self, draws: int, plain_starter: bool) -> Fraction | None:
        ways = [way for way in self.openings if not (plain_starter and self.is_wild(way.card))]
        if draws > self.most_draws:
            return Fraction(0)
        if any(self._is_asked(way.card) for way in ways):
            return None
        total = sum((way.chance for way in ways), Fraction(0))
        return sum((way.chance * self._stuck(way, draws) for way in ways), Fraction(0)) / total if total else None

    def _stuck(self, way: Opening, draws: int) -> Fraction:
        """The chance, given the opening, that the first player is stuck and so are `draws` - 1 cards that it draws."""
        if isinstance(self._effect(way.card), int):
            return Fraction(0)  # a penalty draw is due
        rest = self.cards - way.buried - 1
        useless = self._useless[way.card]
        wilds_fit = self._fits(way.card, JOKER_CODE)  # all wilds do, or none
        if not wilds_fit:
            useless -= way.buried
        if not self._fits(way.card, way.card):
            useless -= 1
        if self.hand == 1 and not self.rules.wild.may_finish and wilds_fit and draws < 2:
            # A wild that is the only card is held back, until there is a second one.
            return Fraction(useless + self.wilds - way.buried - self.is_wild(way.card), rest)
        seen = 0  # cards drawn in vain whose place in the pack is open
        if draws > 1 and self.rules.play_drawn != "no":  # under `no` what is drawn does not count
            above = (self.undealt - way.buried) // 2  # half of the stock before the burying, rounded up
            if draws - 1 > above and way.buried and wilds_fit:
                return Fraction(0)  # a buried wild has come
            seen = min(draws - 1, above) + max(0, draws - 1 - above - way.buried)
        return Fraction(math.comb(useless, self.hand + seen), math.comb(rest, self.hand + seen))

    # --- A hand as dealt ----------------------------------------------------------------------------------------

    def hand_wilds(self, wilds: int) -> Fraction:
        """A player is dealt exactly so many wilds."""
        plain = [code for code in self.pack if not self.is_wild(code)]
        return self._chance([self._some(set(self.pack).difference(plain), wilds, wilds), self._some(plain)])

    def hand_lacks(self, codes: Iterable[int]) -> Fraction:
        """A player is dealt none of these cards."""
        return self._chance([self._some(set(self.pack).difference(codes))])

    def hand_suit(self, cards: int) -> Fraction:
        """A player is dealt so many cards, at least 1, or more of one suit; jokers have none."""
        return 1 - self._chance([*(self._some(suit, 0, cards - 1) for suit in self._suits()), self._jokers()])

    def hand_lacks_suit(self) -> Fraction:
        """A player is dealt no card of at least one suit, counted like this too."""
        return 1 - self._chance([*(self._some(suit, 1) for suit in self._suits()), self._jokers()])

    def hand_twins(self) -> Fraction:
        """A player is dealt two equal cards, or more."""
        return 1 - self._chance(self._some([code], 0, 1) for code in self.pack)

    @cached_property
    def hand_points(self) -> dict[int, Fraction]:
        """The points of a hand as dealt, and their chances, from the fewest points up."""
        table = self.rules.points_table()
        alike: dict[int, list[int]] = {}
        for code in self.pack:
            alike.setdefault(table[code % 16], []).append(code)
        ways = reduce(self._times, (self._some(codes, points=points) for points, codes in alike.items()))
        found: dict[int, dict[int, int]] = {}
        for (cards, buriable), coded in ways.items():
            if cards == self.hand:
                for points, number in self._coefficients(coded):
                    found.setdefault(points, {})[buriable] = number
        return {points: self._weighed(found[points]) for points in sorted(found)}

    def points_mean(self) -> Fraction:
        """The mean of the points of a hand as dealt."""
        return sum((points * chance for points, chance in self.hand_points.items()), Fraction(0))

    def points_variance(self) -> Fraction:
        """The variance of the points of a hand as dealt."""
        squares = sum((points**2 * chance for points, chance in self.hand_points.items()), Fraction(0))
        return squares - self.points_mean() ** 2

    # --- All the hands ------------------------------------------------------------------------------------------

    def somebody_wild(self) -> Fraction:
        """At least one player is dealt a wild."""
        dealt = self.players * self.hand
        none = Fraction(math.comb(self.cards - self.wilds, dealt), math.comb(self.cards, dealt))
        if self.buriable == self.undealt:
            # All that is left is then the cards that are buried, if they are all the wilds there are, and it is void.
            none -= self.void if self.buriable == self.wilds else 0
        return 1 - none / (1 - self.void)

    def all_wilds_together(self) -> Fraction:
        """One player is dealt all the wilds there are, of which there must be some."""
        others = self.hand - self.wilds
        ways = math.comb(self.cards - self.wilds, others) if others >= 0 else 0
        # With every wild in a hand no deal is void, so only what it is a part of changes.
        return self.players * Fraction(ways, math.comb(self.cards, self.hand)) / (1 - self.void)

    # --- Counting sets of cards ---------------------------------------------------------------------------------

    def _suits(self) -> Iterator[list[int]]:
        for suit in range(4):
            yield [code for code in self.pack if code // 16 == suit and code != JOKER_CODE]

    def _jokers(self) -> Ways:
        return self._some(code for code in self.pack if code == JOKER_CODE)

    def _some(self, codes: Iterable[int], low: int = 0, high: int | None = None, points: int = 0) -> Ways:
        """The ways to take from `low` to `high` (None: all) of the cards with these codes, so many points each."""
        buriable = others = 0
        for code in codes:
            # If no deal can be void, nothing depends on them.
            if self._is_buried(code) and self.void:
                buriable += self.pack[code]
            else:
                others += self.pack[code]
        most = min(self.hand, buriable + others if high is None else high)
        return {
            (cards, some): math.comb(buriable, some) * math.comb(others, cards - some) << self.width * points * cards
            for cards in range(low, most + 1)
            for some in range(min(cards, buriable) + 1)
        }

    def _times(self, first: Ways, second: Ways) -> Ways:
        """The ways to take cards of two groups, up to a hand of them."""
        found: Ways = {}
        for (cards, buriable), ways in first.items():
            for (more, also), others in second.items():
                if cards + more <= self.hand:
                    key = cards + more, buriable + also
                    found[key] = found.get(key, 0) + ways * others
        return found

    def _chance(self, groups: Iterable[Ways]) -> Fraction:
        """The chance of a hand that takes from each group in one of its ways."""
        ways = reduce(self._times, groups)
        return self._weighed({buriable: number for (cards, buriable), number in ways.items() if cards == self.hand})

    def _weighed(self, hands: dict[int, int]) -> Fraction:
        """The chance of a hand, given that the deal stands, from the ways by cards that are buried."""
        left, each = self.cards - self.hand, math.comb(self.cards, self.hand)
        stands = sum(
            (
                number * (1 - Fraction(math.comb(self.buriable - held, self.undealt), math.comb(left, self.undealt)))
                for held, number in hands.items()
            ),
            Fraction(0),
        )
        if not self.void:
            stands = Fraction(sum(hands.values()))
        return stands / each / (1 - self.void)

    def _coefficients(self, coded: int) -> Iterator[tuple[int, int]]:
        """The powers and the coefficients, other than 0, of a polynomial."""
        size = -(-coded.bit_length() // self.width)
        digits = f"{coded:0{size * self.width}b}"
        for power in range(size):
            end = len(digits) - power * self.width
            if number := int(digits[end - self.width : end], 2):
                yield power, number
