"""The reference engine: slow, obviously right, in the words of `rules.md`.

It exists to be compared with. The fast engine under `sim/` is checked against it card by card, so nothing here is
shared with it: cards are strings in plain lists, chance is `philox` written out again, and every rule is a small
function named after it. Where the rules leave two readings, a line `reading:` says which one was taken.

Public names: `philox`, `play_hand`, `play_match`, `Hand`, `Match`, `View`, `Luck`, `Strategy`, `AnyOption`.

A strategy of one's own is any object with three methods, each given a `View`:

- `play(view)`: where `view.kind` is `"play"`, one of `view.playable`, or `"draw"` if `view.may_draw`, or `"pass"` if
  `view.may_pass`; where `view.kind` is `"penalty"`, one of `view.playable` (the answers) or `"take"`;
- `suit(view)`: one of `C D H S`;
- `stop(view)`: whether to stop the hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

Rules = dict[str, Any]
Event = dict[str, Any]

SUITS = ("C", "D", "H", "S")
RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
JOKER = "JKR"

# ---------------------------------------------------------------------------------------------------------------------
# Chance
# ---------------------------------------------------------------------------------------------------------------------

MASK32 = 0xFFFFFFFF
DECK, RESHUFFLE, SEAT, ILLEGAL, CALL, MISDEAL, DEALER = range(7)


def philox(counter: Sequence[int], key: Sequence[int]) -> tuple[int, int, int, int]:
    """Philox4x32-10: four random words for four counter words and two key words."""
    c0, c1, c2, c3 = counter
    k0, k1 = key
    for _ in range(10):
        first, second = 0xD2511F53 * c0, 0xCD9E8D57 * c2
        c0, c1, c2, c3 = (
            (second >> 32) ^ c1 ^ k0,
            second & MASK32,
            (first >> 32) ^ c3 ^ k1,
            first & MASK32,
        )
        k0 = (k0 + 0x9E3779B9) & MASK32
        k1 = (k1 + 0xBB67AE85) & MASK32
    return c0, c1, c2, c3


def below(word: int, n: int) -> int:
    """Turn a word into a whole number from 0 to n - 1."""
    return (word * n) >> 32


def happens(word: int, chance: float) -> bool:
    """Whether something of this chance happens, given a word."""
    return word < round(chance * 2**32)


@dataclass(frozen=True)
class Chance:
    """The random words of one hand: every one is found by its key, none depends on what was drawn before."""

    seed: int
    game: int
    hand: int

    def block(self, purpose: int, draw: int, seat: int = 0) -> tuple[int, int, int, int]:
        where = purpose | seat << 8 | self.hand << 16
        counter = (draw, where, self.game & MASK32, self.game >> 32)
        return philox(counter, (self.seed & MASK32, self.seed >> 32))

    def word(self, purpose: int, number: int) -> int:
        """Word `number` of a stream that belongs to no seat."""
        return self.block(purpose, number // 4)[number % 4]

    def shuffle(self, cards: Sequence[str], purpose: int, first_word: int) -> list[str]:
        """Forward Fisher-Yates, one word a card."""
        shuffled = list(cards)
        n = len(shuffled)
        for i in range(n):
            j = i + below(self.word(purpose, first_word + i), n - i)
            shuffled[i], shuffled[j] = shuffled[j], shuffled[i]
        return shuffled


@dataclass
class Luck:
    """The random draws within one question: the first from `a` alone, the others from a block keyed by (a, b)."""

    a: int
    b: int
    used: int = 0

    def below(self, n: int) -> int:
        j = self.used
        self.used += 1
        if j == 0:
            return below(self.a, n)
        return below(philox(((j - 1) // 4, 0, 0, 0), (self.a, self.b))[(j - 1) % 4], n)


# ---------------------------------------------------------------------------------------------------------------------
# Cards, and what the rules make of them
# ---------------------------------------------------------------------------------------------------------------------


def rank_of(card: str) -> str:
    """Return the rank; a joker's rank is `JKR`."""
    return JOKER if card == JOKER else card[:-1]


def suit_of(card: str) -> str | None:
    """Return the suit; a joker has none of its own."""
    return None if card == JOKER else card[-1]


def code_of(card: str) -> int:
    """Return the number by which cards are ordered: suit * 16 + rank, jokers 14."""
    if card == JOKER:
        return 14
    return SUITS.index(card[-1]) * 16 + RANKS.index(card[:-1]) + 1


def in_code_order(cards: Sequence[str]) -> list[str]:
    return sorted(cards, key=code_of)


def distinct(cards: Sequence[str]) -> list[str]:
    """Return the cards in the order of their code, equal ones once."""
    return in_code_order(list(set(cards)))


def is_wild(rules: Rules, card: str) -> bool:
    """`wild.ranks`; jokers are always wild, whatever their effect."""
    return card == JOKER or rank_of(card) in rules["wild"]["ranks"]


def effect_of(rules: Rules, card: str) -> Any:
    """`actions.<rank>`, `jokers.effect`: None, a word, or a dict with the cards to draw."""
    if card == JOKER:
        effect = rules["jokers"]["effect"]
        return None if effect == "wild" else effect
    effect = rules["actions"].get(rank_of(card))
    return None if effect == "none" else effect


def draw_value(rules: Rules, card: str) -> int:
    """How many cards the next player has to draw because of this one (0: it is no draw card)."""
    effect = effect_of(rules, card)
    if isinstance(effect, dict):
        return int(effect["draw"] if "draw" in effect else effect["wild-draw"])
    return 0


def points_of(rules: Rules, card: str) -> int:
    """`score.values` beats wild (50), which beats the pips; J Q K 10, A 1."""
    rank = rank_of(card)
    if rank in rules["score"]["values"]:
        return int(rules["score"]["values"][rank])
    if is_wild(rules, card):
        return 50
    if rank in ("J", "Q", "K"):
        return 10
    return 1 if rank == "A" else int(rank)


def hand_points(rules: Rules, cards: Sequence[str]) -> int:
    return sum(points_of(rules, card) for card in cards)


def packs_for(rules: Rules, players: int) -> int:
    """`deck.packs`, `deck.two_packs_from`."""
    packs = rules["deck"]["packs"]
    if packs != "auto":
        return int(packs)
    threshold = rules["deck"]["two_packs_from"]
    return 2 if threshold != "never" and players >= threshold else 1


def new_pack_order(rules: Rules, players: int) -> list[str]:
    """Pack by pack: suits C D H S, in each the ranks in use from the ace to the king; then that pack's jokers."""
    cards: list[str] = []
    for _ in range(packs_for(rules, players)):
        cards += [rank + suit for suit in SUITS for rank in RANKS if rank in rules["deck"]["ranks"]]
        cards += [JOKER] * rules["deck"]["jokers"]
    return cards


def cards_dealt(rules: Rules, players: int) -> int:
    """`deal.cards`, `deal.cards_by_players`, by the number who take part in the hand."""
    exceptions = {int(number): int(cards) for number, cards in rules["deal"]["cards_by_players"].items()}
    return int(exceptions.get(players, rules["deal"]["cards"]))


def may_open(rules: Rules, card: str) -> bool:
    """`starter.wild`: bury sets every wild aside; own-suit only a joker, which has no suit of its own."""
    if not is_wild(rules, card):
        return True
    way = rules["starter"]["wild"]
    return way == "dealer-declares" or (way == "own-suit" and card != JOKER)


# ---------------------------------------------------------------------------------------------------------------------
# Strategies
# ---------------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class View:
    """What the seat that is asked may see: its own cards and what lies open."""

    kind: str  # 'play', 'penalty', 'suit' or 'stop'
    rules: Rules
    seat: int
    hand: tuple[str, ...]  # in the order of the code
    playable: tuple[str, ...]  # distinct, in the order of the code; the answers where kind is 'penalty'
    may_draw: bool
    may_pass: bool
    top: str
    active_suit: str | None
    pending: int
    direction: int
    cards: tuple[int, ...]  # everybody's number of cards
    totals: tuple[int, ...]
    stock: int
    turn: int
    luck: Luck


class Strategy(Protocol):
    """What a line-up entry may hold instead of a name."""

    def play(self, view: View) -> str: ...

    def suit(self, view: View) -> str: ...

    def stop(self, view: View) -> bool: ...


def longest_suit(hand: Sequence[str]) -> str:
    """The suit held most, wilds counted in their own, jokers in none; ties C D H S."""
    return max(SUITS, key=lambda suit: sum(suit_of(card) == suit for card in hand))


def uniformly(view: View, cards: Sequence[str]) -> str:
    return cards[view.luck.below(len(cards))]


class Simple:
    """What the simple strategies share: longest suit, stop when it may; none of them draws or passes by choice."""

    def suit(self, view: View) -> str:
        return longest_suit(view.hand)

    def stop(self, view: View) -> bool:
        return True


class Random(Simple):
    """Any playable card, any suit."""

    def play(self, view: View) -> str:
        return uniformly(view, view.playable)

    def suit(self, view: View) -> str:
        return SUITS[view.luck.below(4)]


class HoardEights(Simple):
    """Any playable card that is not wild; a wild only if there is nothing else."""

    def play(self, view: View) -> str:
        plain = [card for card in view.playable if not is_wild(view.rules, card)]
        return uniformly(view, plain or view.playable)


def rank_then_suit(card: str) -> tuple[int, int]:
    """Sort key A, 2 .. K, jokers; within a rank C D H S."""
    return (len(RANKS), 0) if card == JOKER else (RANKS.index(rank_of(card)), SUITS.index(card[-1]))


class FirstLegal(Simple):
    """The lowest rank first, wilds last."""

    def play(self, view: View) -> str:
        return min(view.playable, key=lambda card: (is_wild(view.rules, card), rank_then_suit(card)))


class DumpFaces(Simple):
    """The highest rank first, wilds last and jokers after all."""

    def play(self, view: View) -> str:
        def order(card: str) -> tuple[bool, bool, int, int]:
            rank, suit = rank_then_suit(card)
            return is_wild(view.rules, card), card == JOKER, -rank, suit

        return min(view.playable, key=order)


class DumpHigh(Simple):
    """The most points first, wilds included."""

    def play(self, view: View) -> str:
        return min(view.playable, key=lambda card: (-points_of(view.rules, card), rank_then_suit(card)))


class AnyOption:
    """Any option whatever, drawing, passing, taking and not stopping included: no strategy, a way into every corner.

    The options are the playable cards in the order of their code, then draw, then pass (or take); each question is
    one draw of the luck.
    """

    def play(self, view: View) -> str:
        others = ["take"] if view.kind == "penalty" else ["draw"] * view.may_draw + ["pass"] * view.may_pass
        return uniformly(view, [*view.playable, *others])

    def suit(self, view: View) -> str:
        return uniformly(view, SUITS)

    def stop(self, view: View) -> bool:
        return view.luck.below(2) == 1


STRATEGIES: dict[str, Strategy] = {
    "random": Random(),
    "first-legal": FirstLegal(),
    "hoard-eights": HoardEights(),
    "dump-faces": DumpFaces(),
    "dump-high": DumpHigh(),
}


def strategy_of(entry: dict[str, Any]) -> Strategy:
    strategy: str | Strategy = entry["strategy"]
    if not isinstance(strategy, str):
        return strategy
    if strategy not in STRATEGIES:
        raise ValueError(f"the reference does not know the strategy {strategy!r}: {', '.join(STRATEGIES)}")
    return STRATEGIES[strategy]


# ---------------------------------------------------------------------------------------------------------------------
# One hand
# ---------------------------------------------------------------------------------------------------------------------


@dataclass
class Hand:
    """One hand as it was played. Seats are 0-based here and 1-based in `events`."""

    events: list[Event]
    reason: str  # 'out', 'blocked', 'stopped' or 'capped'
    winner: int | None
    points: list[int]  # left in each seat's hand
    scored: list[int]  # what each adds to its total
    totals: list[int]  # after this hand
    turns: int  # a stopped turn counts
    drawn: int  # all cards drawn, penalties included
    reshuffles: int
    passes: int
    asked: int  # questions put to strategies
    void_deals: int  # misdeals included
    longest_chain: int  # draw cards laid one on another before somebody had to draw
    biggest_penalty: int  # most cards that were ever pending
    closed_on_wild: bool
    dealer: int


@dataclass
class Table:
    """The state of a hand in play, and the rules that change it. `run` plays it to its end."""

    rules: Rules
    lineup: list[dict[str, Any]]
    seats: list[int]  # who take part, clockwise in the order of their number
    dealer: int
    cards_each: dict[int, int]
    chance: Chance
    totals: list[int]
    notice_rate: float = 1.0
    deck: list[str] | None = None

    events: list[Event] = field(default_factory=list)
    hands: list[list[str]] = field(default_factory=list)
    stock: list[str] = field(default_factory=list)  # next card first
    discards: list[str] = field(default_factory=list)  # starter first, top last
    active_suit: str | None = None
    any_card_lies: bool = False
    pending: int = 0
    chain: int = 0
    direction: int = 1
    to_act: int = 0
    turn: int = 0
    owes_suit: int | None = None  # who has yet to declare a delayed suit
    passes_in_a_row: int = 0
    drawn_in_turn: int = 0
    reason: str | None = None
    winner: int | None = None
    stopped_by: int | None = None
    questions: Counter[int] = field(default_factory=Counter)
    reshuffle_words: int = 0
    drawn: int = 0
    reshuffles: int = 0
    passes: int = 0
    void_deals: int = 0
    longest_chain: int = 0
    biggest_penalty: int = 0
    pack: Counter[str] = field(default_factory=Counter)

    # -- the course of a hand ------------------------------------------------------------------------------------------

    def run(self) -> Hand:
        """Deal, play turn by turn, count."""
        self.deal()
        self.check()
        while self.reason is None:
            self.play_turn()
            self.end_if_blocked_or_capped()
            self.check()
        return self.count()

    def emit(self, event: str, **fields: Any) -> None:
        self.events.append({"event": event, **fields})

    def neighbour(self, seat: int, steps: int = 1) -> int:
        """Return the seat so many places on, in the direction of play, among those who take part."""
        place = self.seats.index(seat)
        return self.seats[(place + steps * self.direction) % len(self.seats)]

    # -- the deal ------------------------------------------------------------------------------------------------------

    def deal(self) -> None:
        """Misdeals, then deals until a card may open; then the starter does what the rules let it do."""
        self.misdeals()
        buried = self.deal_until_a_card_opens()
        self.open(buried)

    def misdeals(self) -> None:
        """`deal.misdeal_rate`: counted, changes nothing else."""
        attempt = 0
        while happens(self.chance.block(MISDEAL, attempt)[0], self.rules["deal"]["misdeal_rate"]):
            self.void_deals += 1
            attempt += 1

    def gathered(self) -> list[str]:
        """Return the cards in use in new-pack order."""
        order = new_pack_order(self.rules, len(self.seats))
        if self.deck is None:
            return order
        # A given deck may hold fewer cards than the pack, never others.
        left = Counter(self.deck)
        cards = []
        for card in order:
            if left[card]:
                left[card] -= 1
                cards.append(card)
        if len(cards) != len(self.deck):
            raise ValueError(f"the given deck holds cards that the pack does not: {sorted(left.elements())}")
        return cards

    def deal_until_a_card_opens(self) -> list[str]:
        """Void deals are dealt again with the next words of the same stream; returns the buried wilds."""
        gathered = self.gathered()
        self.pack = Counter(gathered)
        n = len(gathered)
        needed = sum(self.cards_each.values()) + 1
        if n < needed:
            raise ValueError(f"{needed} cards are needed for the deal and a starter, the pack has {n}")
        if not any(may_open(self.rules, card) for card in gathered):
            raise ValueError("no card of this pack may open a hand")
        attempt = 0
        while True:
            # reading: a given deck is attempt 0; after it come the words that a second attempt would have used.
            if attempt == 0 and self.deck is not None:
                order = self.deck
            else:
                order = self.chance.shuffle(gathered, DECK, attempt * n)
            buried = self.deal_once(order)
            if buried is not None:
                return buried
            self.void_deals += 1
            attempt += 1

    def deal_once(self, order: list[str]) -> list[str] | None:
        """Deal one at a time from position 1, skipping whoever has all its cards, and turn the starter.

        Wilds turned before it go, in order, directly under the upper half (rounded up) of the remaining stock. None:
        no card may open, the deal is void.
        """
        rest = list(order)
        self.hands = [[] for _ in self.lineup]
        while any(len(self.hands[seat]) < self.cards_each[seat] for seat in self.seats):
            for position in range(1, len(self.seats) + 1):
                seat = self.neighbour(self.dealer, position)
                if len(self.hands[seat]) < self.cards_each[seat]:
                    self.hands[seat].append(rest.pop(0))
        buried: list[str] = []
        while rest:
            card = rest.pop(0)
            if may_open(self.rules, card):
                upper_half = (len(rest) + 1) // 2
                self.stock = rest[:upper_half] + buried + rest[upper_half:]
                self.discards = [card]
                return buried
            buried.append(card)
        return None

    def open(self, buried: list[str]) -> None:
        """`starter.wild`, `starter.action`: what the starter does before turn 1."""
        starter = self.discards[0]
        dealer_declares = is_wild(self.rules, starter) and self.rules["starter"]["wild"] == "dealer-declares"
        self.active_suit = None if dealer_declares else suit_of(starter)
        self.emit(
            "deal",
            hand=self.chance.hand + 1,
            dealer=self.dealer + 1,
            hands=[list(cards) for cards in self.hands],
            buried=buried,
            starter=starter,
            active_suit=self.active_suit,
        )
        if dealer_declares:
            self.declare(self.dealer)
        self.to_act = self.neighbour(self.dealer)
        if self.rules["starter"]["action"] == "applies":
            self.apply_effect(self.dealer, starter)

    # -- a turn --------------------------------------------------------------------------------------------------------

    def play_turn(self) -> None:
        """A turn in the order of rules.md 4: stop, delayed suit, penalty, illegal try, own play."""
        self.turn += 1
        self.drawn_in_turn = 0
        seat = self.to_act
        self.to_act = self.neighbour(seat)  # unless a played card has an effect
        passes_before, self.passes_in_a_row = self.passes_in_a_row, 0
        if self.stops(seat):
            return
        self.declare_delayed_suit()
        if self.pending and self.face_penalty(seat):
            return
        if self.plays_illegally(seat):
            return
        self.own_play(seat, passes_before)

    def stops(self, seat: int) -> bool:
        """`stop.points`: a seat whose hand is low enough is asked at the start of its turn."""
        limit = self.rules["stop"]["points"]
        if not limit or hand_points(self.rules, self.hands[seat]) > limit:
            return False
        if not self.ask(seat, "stop"):
            return False
        self.emit("stop", turn=self.turn, seat=seat + 1)
        self.reason = "stopped"
        self.stopped_by = seat
        # "Who would act first": the caller itself, which matters only where it is not lowest.
        self.to_act = seat
        return True

    def declare_delayed_suit(self) -> None:
        """`wild.suit = delayed`: the one who laid the wild names the suit now, seeing the table as it is."""
        if self.owes_suit is not None:
            seat, self.owes_suit = self.owes_suit, None
            self.declare(seat)

    def declare(self, seat: int) -> None:
        """A suit declared apart from a play: delayed, or the dealer's for a wild starter (turn 0)."""
        self.active_suit = self.ask(seat, "suit")
        self.emit("declare", turn=self.turn, seat=seat + 1, suit=self.active_suit)

    def face_penalty(self, seat: int) -> bool:
        """Stack or take; returns whether that was the turn."""
        answers = self.answers(seat)
        choice = self.ask(seat, "penalty", playable=answers) if answers else "take"
        if choice != "take":
            self.play_card(seat, choice)
            return True
        self.draw_penalty(seat, self.pending, "penalty")
        self.pending = self.chain = 0
        return bool(self.rules["penalty"]["loses_turn"])

    def plays_illegally(self, seat: int) -> bool:
        """`illegal_rate`: a card that may not be played is tried before the turn's own play; returns whether it was."""
        may_not = [card for card in distinct(self.hands[seat]) if not self.may_play(seat, card)]
        tries, which, noticed = self.chance.block(ILLEGAL, self.turn, seat)[:3]
        if not may_not or not happens(tries, self.lineup[seat].get("illegal_rate", 0.0)):
            return False
        card = may_not[below(which, len(may_not))]
        caught = happens(noticed, self.notice_rate)
        self.emit("illegal", turn=self.turn, seat=seat + 1, card=card, caught=caught)
        if caught:
            self.draw_penalty(seat, self.rules["illegal"]["penalty"], "illegal")
        else:
            self.play_card(seat, card)
        return True

    def own_play(self, seat: int, passes_before: int) -> None:
        """Play, or draw and be asked again, or pass."""
        held = list(self.hands[seat])  # before the turn; penalty cards taken this turn count as held
        drawn = 0
        while True:
            playable = self.playable(seat, held)
            may_draw = self.may_draw(playable, drawn)
            may_pass = self.may_pass(playable, may_draw, drawn)
            choice = self.choose(seat, playable, may_draw, may_pass)
            if choice == "draw":
                self.draw_card(seat, "voluntary" if playable else "stuck")
                drawn += 1
            elif choice == "pass":
                self.emit("pass", turn=self.turn, seat=seat + 1)
                self.passes += 1
                if not self.drawn_in_turn:
                    self.passes_in_a_row = passes_before + 1
                return
            else:
                self.play_card(seat, choice)
                return

    def choose(self, seat: int, playable: list[str], may_draw: bool, may_pass: bool) -> str:
        """The strategy is asked only where there is a choice."""
        options = playable + ["draw"] * may_draw + ["pass"] * may_pass
        assert options, "a player always has something to do"
        if len(options) == 1:
            return options[0]
        return str(self.ask(seat, "play", playable=playable, may_draw=may_draw, may_pass=may_pass))

    # -- what may be done ----------------------------------------------------------------------------------------------

    def wild_may_go(self, seat: int) -> bool:
        """The limits every wild keeps: `wild.on_wild`, `wild.may_finish`."""
        if is_wild(self.rules, self.discards[-1]) and not self.rules["wild"]["on_wild"]:
            return False
        return len(self.hands[seat]) > 1 or self.rules["wild"]["may_finish"]

    def may_play(self, seat: int, card: str) -> bool:
        """Same rank, same suit as the active suit, any wild within its limits; after an any-card, every card."""
        if is_wild(self.rules, card):
            return self.wild_may_go(seat)
        if self.any_card_lies:
            return True
        return rank_of(card) == rank_of(self.discards[-1]) or suit_of(card) == self.active_suit

    def playable(self, seat: int, held: list[str]) -> list[str]:
        """The distinct cards that may be played now; under `play_drawn = no` only those held before the turn."""
        from_cards = held if self.play_drawn() == "no" else self.hands[seat]
        return [card for card in distinct(from_cards) if self.may_play(seat, card)]

    def answers(self, seat: int) -> list[str]:
        """`penalty.stack`: what may answer a penalty draw; it need not follow suit, wilds keep their limits."""
        way = self.rules["penalty"]["stack"]
        top_rank = rank_of(self.discards[-1])
        answers = []
        for card in distinct(self.hands[seat]):
            fits = draw_value(self.rules, card) > 0 and (
                way == "any-draw" or (way == "same-rank" and rank_of(card) == top_rank)
            )
            if fits and (not is_wild(self.rules, card) or self.wild_may_go(seat)):
                answers.append(card)
        return answers

    def play_drawn(self) -> str:
        """`draw.play_drawn`; until-playable is always `must`."""
        draw = self.rules["draw"]
        return "must" if draw["limit"] == "until-playable" else str(draw["play_drawn"])

    def may_draw(self, playable: list[str], drawn: int) -> bool:
        """A stuck player, or one who may draw voluntarily, within `draw.limit`, while there is a card to draw."""
        # reading: after a draw that makes a card playable one is no longer stuck, so it may draw on only if voluntary.
        limit = self.rules["draw"]["limit"]
        within_limit = limit == "until-playable" or drawn < limit
        return within_limit and self.a_card_is_left() and (not playable or self.rules["draw"]["voluntary"])

    def may_pass(self, playable: list[str], may_draw: bool, drawn: int) -> bool:
        """Never while one may draw; holding a playable card only after drawing, under `may` and `no`."""
        if may_draw:
            return False
        return not playable or (drawn > 0 and self.play_drawn() != "must")

    # -- drawing -------------------------------------------------------------------------------------------------------

    def a_card_is_left(self) -> bool:
        """Whether the stock can give a card, with a reshuffle where `stock.empty` allows it."""
        return bool(self.stock) or (self.rules["stock"]["empty"] == "reshuffle" and len(self.discards) > 1)

    def reshuffle(self) -> None:
        """All discards but the top become the stock, shuffled in the order in which they were laid."""
        under, top = self.discards[:-1], self.discards[-1]
        self.stock = self.chance.shuffle(under, RESHUFFLE, self.reshuffle_words)
        self.reshuffle_words += len(under)
        self.discards = [top]
        self.reshuffles += 1
        self.emit("reshuffle", turn=self.turn, cards=len(under))

    def draw_card(self, seat: int, why: str) -> bool:
        """Draw one card, reshuffling first if one is due and the stock is empty; False: nothing to draw."""
        if not self.a_card_is_left():
            return False
        if not self.stock:
            self.reshuffle()
        card = self.stock.pop(0)
        self.hands[seat].append(card)
        self.drawn += 1
        self.drawn_in_turn += 1
        self.record_draw(seat, why, card)
        return True

    def record_draw(self, seat: int, why: str, card: str) -> None:
        """Consecutive draws of one turn, seat and reason are one event, unless a reshuffle falls between."""
        last = self.events[-1]
        same = last["event"] == "draw" and (last["turn"], last["seat"], last["why"]) == (self.turn, seat + 1, why)
        if same:
            last["cards"].append(card)
        else:
            self.emit("draw", turn=self.turn, seat=seat + 1, cards=[card], why=why)

    def draw_penalty(self, seat: int, cards: int, why: str) -> None:
        """Draw as many as the stock can give; the rest is forgotten. A penalty of no cards is none."""
        got = 0
        while got < cards and self.draw_card(seat, why):
            got += 1
        if cards and got == 0:
            self.emit("draw", turn=self.turn, seat=seat + 1, cards=[], why=why)

    # -- playing a card ------------------------------------------------------------------------------------------------

    def play_card(self, seat: int, card: str) -> None:
        """Lay the card: its suit, its effect, the last-card call. An empty hand ends the hand at once."""
        self.hands[seat].remove(card)
        self.discards.append(card)
        if not self.hands[seat]:
            self.go_out(seat, card)
            return
        self.active_suit = self.suit_after(seat, card)
        # The call comes before the effect, but neither touches the other, and the play event shows the effect done.
        self.apply_effect(seat, card)
        self.emit_play(seat, card)
        self.last_card_call(seat)

    def emit_play(self, seat: int, card: str) -> None:
        self.emit(
            "play",
            turn=self.turn,
            seat=seat + 1,
            card=card,
            active_suit=self.active_suit,
            pending=self.pending,
            direction=self.direction,
        )

    def suit_after(self, seat: int, card: str) -> str | None:
        """`wild.suit`: declared now, its own (a joker has none: declared), or nothing yet under delayed."""
        if not is_wild(self.rules, card):
            return suit_of(card)
        way = self.rules["wild"]["suit"]
        if way == "own" and card != JOKER:
            return suit_of(card)
        if way == "delayed":
            self.owes_suit = seat
            return None
        return str(self.ask(seat, "suit"))

    def apply_effect(self, seat: int, card: str) -> None:
        """Who is next, in which direction, and what that seat faces, after `seat` laid this card."""
        effect = effect_of(self.rules, card)
        two_players = len(self.seats) == 2
        self.any_card_lies = effect == "any-card"  # until another card is laid
        if effect == "reverse" and not two_players:
            self.direction = -self.direction
        if effect == "skip" or (effect == "reverse" and two_players and self.rules["reverse"]["two_players"] == "skip"):
            self.to_act = self.neighbour(seat, 2)
        elif effect == "again":
            self.to_act = seat
        else:
            self.to_act = self.neighbour(seat)
        self.add_penalty(draw_value(self.rules, card))

    def add_penalty(self, cards: int) -> None:
        """Pending cards add up."""
        if cards:
            self.pending += cards
            self.chain += 1
            self.longest_chain = max(self.longest_chain, self.chain)
            self.biggest_penalty = max(self.biggest_penalty, self.pending)

    def last_card_call(self, seat: int) -> None:
        """`last_card.call`: who goes down to one card announces it, or is caught and draws, at once."""
        if len(self.hands[seat]) != 1 or not self.rules["last_card"]["call"]:
            return
        forgets, noticed = self.chance.block(CALL, self.turn, seat)[:2]
        called = not happens(forgets, self.lineup[seat].get("forget_last_card", 0.0))
        caught = not called and happens(noticed, self.notice_rate)
        self.emit("last-card", turn=self.turn, seat=seat + 1, called=called, caught=caught)
        if caught:
            self.draw_penalty(seat, self.rules["last_card"]["penalty"], "last-card")

    def go_out(self, seat: int, card: str) -> None:
        """An empty hand: no suit is asked for, no effect but a closing draw card's under `actions.final`."""
        self.reason = "out"
        self.winner = seat
        own_suit = not is_wild(self.rules, card) or self.rules["wild"]["suit"] == "own"
        self.active_suit = suit_of(card) if own_suit else None
        cards = draw_value(self.rules, card)
        # Pending cards that a closing draw card answered are drawn with it, or forgotten with it.
        if cards and self.rules["actions"]["final"] == "applies":
            self.add_penalty(cards)
            self.emit_play(seat, card)
            self.draw_penalty(self.neighbour(seat), self.pending, "final")
        else:
            self.pending = 0
            self.emit_play(seat, card)
        self.pending = self.chain = 0

    # -- asking a strategy ---------------------------------------------------------------------------------------------

    def luck_for(self, seat: int) -> Luck:
        """Question d of this seat: words 0 and 1, or 2 and 3, of block d // 2 of its stream."""
        d = self.questions[seat]
        self.questions[seat] += 1
        words = self.chance.block(SEAT, d // 2, seat)
        return Luck(*words[2:]) if d % 2 else Luck(*words[:2])

    def ask(
        self,
        seat: int,
        kind: str,
        playable: Sequence[str] = (),
        may_draw: bool = False,
        may_pass: bool = False,
    ) -> Any:
        """Put a question to the seat's strategy and refuse an answer that was not on offer."""
        view = View(
            kind=kind,
            rules=self.rules,
            seat=seat,
            hand=tuple(in_code_order(self.hands[seat])),
            playable=tuple(playable),
            may_draw=may_draw,
            may_pass=may_pass,
            top=self.discards[-1],
            active_suit=self.active_suit,
            pending=self.pending,
            direction=self.direction,
            cards=tuple(len(cards) for cards in self.hands),
            totals=tuple(self.totals),
            stock=len(self.stock),
            turn=self.turn,
            luck=self.luck_for(seat),
        )
        strategy = strategy_of(self.lineup[seat])
        if kind == "stop":
            return bool(strategy.stop(view))
        if kind == "suit":
            answer, allowed = strategy.suit(view), list(SUITS)
        else:
            allowed = [*playable, *["take"] * (kind == "penalty"), *["draw"] * may_draw, *["pass"] * may_pass]
            answer = strategy.play(view)
        if answer not in allowed:
            raise ValueError(f"{self.lineup[seat]['strategy']!r} answered {answer!r} to {kind!r}: {allowed}")
        return answer

    # -- the end -------------------------------------------------------------------------------------------------------

    def end_if_blocked_or_capped(self) -> None:
        """Blocked: as many bare passes in a row as there are players. The cap falls after turn `turn_cap`."""
        if self.reason is None and self.passes_in_a_row >= len(self.seats):
            self.reason = "blocked"
        if self.reason is None and self.turn >= self.rules["turn_cap"]:
            self.reason = "capped"

    def lowest(self, points: list[int]) -> int:
        """Lowest points; then fewest cards; then whoever would act first, in the direction of play."""
        order = [self.neighbour(self.to_act, steps) for steps in range(len(self.seats))]
        return min(order, key=lambda seat: (points[seat], len(self.hands[seat]), order.index(seat)))

    def decide_winner(self, points: list[int]) -> int | None:
        if self.reason == "out":
            return self.winner
        if self.reason == "stopped":
            assert self.stopped_by is not None
            caller_is_lowest = points[self.stopped_by] == min(points[seat] for seat in self.seats)
            return self.stopped_by if caller_is_lowest else self.lowest(points)
        return None if self.rules["blocked"]["score"] == "void" else self.lowest(points)

    def scores(self, points: list[int], winner: int | None) -> list[int]:
        """`score.style`; blocked and capped hands by `blocked.score`."""
        scored = [0] * len(points)
        if winner is None:
            return scored
        way = self.rules["blocked"]["score"] if self.reason in ("blocked", "capped") else "out"
        off = points[winner] if way == "difference" else 0
        collects = self.rules["score"]["style"] == "winner-collects"
        for seat in self.seats:
            if seat == winner:
                continue
            if collects:
                scored[winner] += points[seat] - off
            else:
                scored[seat] = points[seat] - off
        if way == "own-hand" and not collects:
            scored[winner] = points[winner]
        return scored

    def count(self) -> Hand:
        points = [hand_points(self.rules, cards) for cards in self.hands]
        winner = self.decide_winner(points)
        scored = self.scores(points, winner)
        totals = [total + score for total, score in zip(self.totals, scored, strict=True)]
        assert self.reason is not None
        self.emit(
            "end",
            hand=self.chance.hand + 1,
            reason=self.reason,
            winner=None if winner is None else winner + 1,
            left=[in_code_order(cards) for cards in self.hands],
            points=points,
            scored=scored,
            totals=totals,
        )
        return Hand(
            events=self.events,
            reason=self.reason,
            winner=winner,
            points=points,
            scored=scored,
            totals=totals,
            turns=self.turn,
            drawn=self.drawn,
            reshuffles=self.reshuffles,
            passes=self.passes,
            asked=sum(self.questions.values()),
            void_deals=self.void_deals,
            longest_chain=self.longest_chain,
            biggest_penalty=self.biggest_penalty,
            closed_on_wild=self.reason == "out" and is_wild(self.rules, self.discards[-1]),
            dealer=self.dealer,
        )

    # -- invariants ----------------------------------------------------------------------------------------------------

    def check(self) -> None:
        """What must be true after the deal and after every turn."""
        everywhere = Counter(self.stock) + Counter(self.discards)
        for cards in self.hands:
            everywhere += Counter(cards)
        assert everywhere == self.pack, "every card is in exactly one place"
        assert self.discards, "the discard pile has a top card"
        assert all(not cards for seat, cards in enumerate(self.hands) if seat not in self.seats)
        assert self.direction in (1, -1)
        assert self.direction == 1 or len(self.seats) > 2, "with two players the direction never turns"
        assert self.pending >= 0
        assert self.pending == 0 or draw_value(self.rules, self.discards[-1]) > 0, "pending cards lie under a draw card"
        assert (self.chain > 0) == (self.pending > 0)
        assert self.turn <= self.rules["turn_cap"]
        assert self.passes_in_a_row <= len(self.seats)
        empty = [seat for seat in self.seats if not self.hands[seat]]
        if self.reason == "out":
            assert self.winner in empty
            assert len(empty) == 1
        else:
            assert not empty, "an empty hand ends the hand at once"
            assert (self.active_suit is None) == (self.owes_suit is not None), "no suit only while one is owed"
        assert self.active_suit in (*SUITS, None)


def check_players(rules: Rules, players: int) -> None:
    low, high = rules["players"]["min"], rules["players"]["max"]
    if not low <= players <= high:
        raise ValueError(f"{players} players: these rules are for {low} to {high}")


def play_hand(
    rules: Rules,
    lineup: list[dict[str, Any]],
    *,
    seed: int,
    game: int,
    dealer: int | None = None,
    deck: list[str] | None = None,
    notice_rate: float = 1.0,
) -> Hand:
    """Play one hand. The dealer is the last seat unless given, so that a seat is its position."""
    players = len(lineup)
    check_players(rules, players)
    return Table(
        rules=rules,
        lineup=lineup,
        seats=list(range(players)),
        dealer=players - 1 if dealer is None else dealer,
        cards_each=dict.fromkeys(range(players), cards_dealt(rules, players)),
        chance=Chance(seed, game, 0),
        totals=[0] * players,
        notice_rate=notice_rate,
        deck=deck,
    ).run()


# ---------------------------------------------------------------------------------------------------------------------
# A match
# ---------------------------------------------------------------------------------------------------------------------


@dataclass
class Match:
    """A match as it was played. Seats are 0-based here and 1-based in `events`."""

    events: list[Event]
    hands: list[Hand]
    winner: int | list[int] | None  # a list where it is shared, None where it was cut off
    reason: str  # 'target', 'countdown', 'shared' or 'capped'
    totals: list[int]
    first_dealer: int

    def total(self, counter: str) -> int:
        """Sum a counter of the hands, as in `match.total("turns")`."""
        return sum(getattr(hand, counter) for hand in self.hands)


@dataclass
class MatchInPlay:
    """The state of a match: hands until the target, then its tie rule."""

    rules: Rules
    lineup: list[dict[str, Any]]
    seed: int
    game: int
    dealer: int
    notice_rate: float
    hand_cap: int
    totals: list[int] = field(default_factory=list)
    wins: list[int] = field(default_factory=list)
    hands: list[Hand] = field(default_factory=list)
    winner: int | list[int] | None = None
    reason: str | None = None

    def run(self) -> None:
        players = len(self.lineup)
        self.totals = [0] * players
        self.wins = [0] * players
        everybody = list(range(players))
        while self.reason is None:
            # Until the target is reached, and again where everybody plays the extra hand.
            self.play_one(everybody)
            if self.reason is None and max(self.totals) >= self.target():
                self.settle(everybody)

    def target(self) -> int:
        """`match.target`; per-player follows the match's players."""
        target = self.rules["match"]["target"]
        return int(target["per-player"]) * len(self.lineup) if isinstance(target, dict) else int(target)

    def next_dealer(self, seats: list[int]) -> int:
        """The deal passes to the next seat; in an extra hand for the tied, to the next of them."""
        if not self.hands:
            return self.dealer
        seat = (self.dealer + 1) % len(self.lineup)
        while seat not in seats:
            seat = (seat + 1) % len(self.lineup)
        return seat

    def cards_due(self, seat: int, players: int) -> int:
        """`deal.countdown`: so many fewer for every hand won."""
        return cards_dealt(self.rules, players) - int(self.rules["deal"]["countdown"]) * self.wins[seat]

    def play_one(self, seats: list[int]) -> Hand | None:
        """Play one hand among `seats`. None: the match ended before it could be dealt."""
        if len(self.hands) >= self.hand_cap:
            self.reason = "capped"
            return None
        self.dealer = self.next_dealer(seats)
        hand = Table(
            rules=self.rules,
            lineup=self.lineup,
            seats=seats,
            dealer=self.dealer,
            cards_each={seat: self.cards_due(seat, len(seats)) for seat in seats},
            chance=Chance(self.seed, self.game, len(self.hands)),
            totals=self.totals,
            notice_rate=self.notice_rate,
        ).run()
        self.hands.append(hand)
        self.totals = hand.totals
        if hand.winner is not None:
            self.wins[hand.winner] += 1
        self.end_by_countdown(hand.winner)
        return hand

    def end_by_countdown(self, winner: int | None) -> None:
        """One who would be dealt none has won the match, before any target."""
        # reading: "would be dealt" in a hand of all the match's players.
        if winner is not None and self.cards_due(winner, len(self.lineup)) <= 0:
            self.winner = winner
            self.reason = "countdown"

    def best(self, seats: list[int]) -> list[int]:
        """Those of `seats` with the total that `match.winner` asks for."""
        pick = max if self.rules["match"]["winner"] == "highest" else min
        wanted = pick(self.totals[seat] for seat in seats)
        return [seat for seat in seats if self.totals[seat] == wanted]

    def settle(self, everybody: list[int]) -> None:
        """The target is reached: a winner, or `match.tie`."""
        tied = self.best(everybody)
        if len(tied) == 1:
            self.winner = tied[0]
            self.reason = "target"
        elif self.rules["match"]["tie"] == "shared":
            self.winner = tied
            self.reason = "shared"
        elif self.rules["match"]["tie"] == "extra-hand-tied":
            self.play_off(tied)
        # extra-hand-all: everybody plays one more hand, which `run` does.

    def play_off(self, tied: list[int]) -> None:
        """`extra-hand-tied`: among themselves; a second tie goes to that hand's winner."""
        # reading: who was not tied can not win any more, whatever the totals become.
        while self.reason is None:
            # reading: a tied seat that would be dealt none in the extra hand has won; the first in dealing order.
            dealer = self.next_dealer(tied)
            place = tied.index(dealer)
            for seat in tied[place + 1 :] + tied[: place + 1]:
                if self.cards_due(seat, len(tied)) <= 0:
                    self.winner = seat
                    self.reason = "countdown"
                    return
            hand = self.play_one(tied)
            if hand is None or self.reason is not None:
                return
            if hand.winner is None:
                continue
            tied = self.best(tied)
            if len(tied) == 1 or hand.winner in tied:
                self.winner = tied[0] if len(tied) == 1 else hand.winner
                self.reason = "target"


def draw_first_dealer(seed: int, game: int, players: int, rotation: int) -> int:
    return (below(Chance(seed, game, 0).block(DEALER, 0)[0], players) + rotation) % players


def play_match(
    rules: Rules,
    lineup: list[dict[str, Any]],
    *,
    seed: int,
    game: int,
    first_dealer: int | None = None,
    rotation: int = 0,
    notice_rate: float = 1.0,
    hand_cap: int = 10000,
) -> Match:
    """Play hands until the target; the first dealer is drawn unless given (a given one is not rotated)."""
    players = len(lineup)
    check_players(rules, players)
    dealer = draw_first_dealer(seed, game, players, rotation) if first_dealer is None else first_dealer
    match = MatchInPlay(rules, lineup, seed, game, dealer, notice_rate, hand_cap)
    match.run()
    assert match.reason is not None
    events: list[Event] = [
        {"event": "match", "players": players, "seed": seed, "game": game, "first_dealer": dealer + 1}
    ]
    for hand in match.hands:
        events += hand.events
    winner = match.winner
    if isinstance(winner, list):
        shown: Any = [seat + 1 for seat in winner]
    else:
        shown = None if winner is None else winner + 1
    events.append({"event": "match-end", "winner": shown, "totals": match.totals, "hands": len(match.hands)})
    return Match(events, match.hands, winner, match.reason, match.totals, dealer)
