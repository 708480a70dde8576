"""House rules as validated data: what may be agreed at the table, how it is written down, and the presets.

A `Rules` object is frozen and complete: one section a topic, each option with its default and its meaning (the
`description` of its field, which help and documentation show). It is written as nested tables, in TOML or as plain
dicts; `Rules.from_dict` and `load` are the doors in, `Rules.as_dict`, `Rules.flat` and `Rules.toml` the ways out.

`load` reads a preset (`sim/presets/NAME.toml`) or a file of the user's, applies named changes
(`sim/presets/changes.toml`) and then single settings. Until the last moment a rule set is a flat dict of option key to
raw value, so "which option, and who set it" is known when something turns out to be wrong, and every error that a user
can cause is a `RulesError` of one line.

Not here: what the rules do (the engine), and their form for the engine (`sim/record.py`).
"""

import difflib
import json
import re
import tomllib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import UnionType
from typing import Annotated, Any, Literal, Self, Union, get_args, get_origin

from pydantic import (
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    PlainSerializer,
    ValidationError,
    model_serializer,
    model_validator,
)
from pydantic.fields import FieldInfo

from sim.cards import JOKER, JOKER_CODE, MOST_PLAYERS, RANK_OF, RANKS

PRESETS = Path(__file__).parent / "presets"
CHANGES = "changes"
"""The stem of the file of named changes, which lies among the presets and is none."""
ABOUT = ("base", "sheet", "title", "about")
"""What a rules file may hold beside options: the preset it starts from, and lines of text."""
LARGEST_FILE = 1_000_000
"""Bytes. A rules file is a page of text; whatever is larger was named by mistake."""
WILD_POINTS = 50
POINTS_SIZE = 16
"""Entries of a points table: one for each value of the four rank bits of a card's code."""
TIMES = "\N{MULTIPLICATION SIGN}"


class RulesError(ValueError):
    """A mistake in rules as given by a user; its text is one line: where, what was given, what is allowed."""

    def __init__(self, text: str) -> None:
        super().__init__(_one_line(text))


def _one_line(text: str) -> str:
    """Escape everything unprintable in a text (line ends, control characters, broken bytes)."""
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)


# ---------------------------------------------------------------------------------------------------------------------
# The sections. Bounds are there so that numbers stay within what a table could mean and the engine can hold.


class _Data(BaseModel):
    """What all parts share: frozen, no unknown names, no silent conversion of types."""

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)


@dataclass(frozen=True)
class _Says:
    """How an option whose type does not speak for itself names what it allows."""

    text: str


def _ranks(value: object) -> tuple[str, ...]:
    """Bring a list of ranks, each once, into the order A 2 … K: it is a set, and equal sets must be equal data."""
    if isinstance(value, str) or not isinstance(value, Sequence) or not all(isinstance(rank, str) for rank in value):
        raise ValueError(f'is {_show(value)}; allowed: a list of ranks in quotes, such as ["8", "A"]')
    for rank in value:
        if rank not in RANK_OF:
            raise ValueError(f"has no rank {_show(rank)}; allowed: {' '.join(RANKS)}{_nearest(rank, RANKS)}")
        if value.count(rank) > 1:
            raise ValueError(f"lists the rank {rank} more than once")
    return tuple(sorted(value, key=RANKS.index))


def _by_number(value: object) -> object:
    """Make ordered pairs of a table of players to cards: hashable, and equal whatever order was given."""
    if not isinstance(value, Mapping):
        raise ValueError(f"is {_show(value)}; allowed: a table of players to cards, such as {{2 = 7}}")
    players = [str(number) for number in range(2, MOST_PLAYERS + 1)]
    for key, cards in value.items():
        if key not in players:
            raise ValueError(f"has an entry for {_show(key)} players; allowed: 2 to {MOST_PLAYERS}")
        _check_whole(f"for {key} players", cards, 1, 50)
    return tuple((int(key), value[key]) for key in players if key in value)


def _by_rank(value: object) -> object:
    """Make pairs of a table of ranks to points, in the order A 2 … K JKR."""
    if not isinstance(value, Mapping):
        raise ValueError(f"is {_show(value)}; allowed: a table of ranks to points, such as {{A = 11, {JOKER} = 20}}")
    names = (*RANKS, JOKER)
    for key, points in value.items():
        if key not in names:
            raise ValueError(f"has no rank {_show(key)}; allowed: {' '.join(names)}{_nearest(str(key), names)}")
        _check_whole(f"for {key}", points, 0, 1000)
    return tuple((rank, value[rank]) for rank in names if rank in value)


def _check_whole(what: str, value: object, low: int, high: int) -> None:
    """Check a number within a table as strictly as pydantic checks those outside."""
    if type(value) is not int or not low <= value <= high:
        raise ValueError(f"{what} is {_show(value)}; allowed: a whole number from {low} to {high}")


def _as_table(pairs: tuple[tuple[str | int, int], ...]) -> dict[str, int]:
    return {str(key): value for key, value in pairs}


Ranks = Annotated[tuple[str, ...], BeforeValidator(_ranks), _Says('a list of ranks, such as ["8", "A"]')]
CardsByPlayers = Annotated[
    tuple[tuple[int, int], ...],
    BeforeValidator(_by_number),
    PlainSerializer(_as_table),
    _Says("a table of players (2 to 10) to cards (1 to 50), such as {2 = 7}"),
]
PointsByRank = Annotated[
    tuple[tuple[str, int], ...],
    BeforeValidator(_by_rank),
    PlainSerializer(_as_table),
    _Says("a table of ranks, or JKR, to points (0 to 1000), such as {10 = 20}"),
]


class Draw(_Data):
    """An effect: the next player has to draw so many cards, written `{draw = k}`."""

    draw: int = Field(ge=1, le=50)


class WildDraw(_Data):
    """The effect of a super-joker, written `{wild-draw = k}`: wild, and the next player has to draw."""

    cards: int = Field(alias="wild-draw", ge=1, le=50)


class PerPlayer(_Data):
    """A target that grows with the table, written `{per-player = points}`."""

    points: int = Field(alias="per-player", ge=1, le=100_000)


Effect = Literal["none", "skip", "reverse", "any-card", "again"] | Draw
PLAIN: tuple[Effect, ...] = tuple("none" for _ in RANKS)


class Deck(_Data):
    """The pack."""

    packs: Literal["auto"] | Annotated[int, Field(ge=1, le=2)] = Field(
        default="auto",
        description="How many packs are shuffled together; auto takes the second one as soon as enough players "
        "take part in the hand (see deck.two_packs_from).",
    )
    two_packs_from: Literal["never"] | Annotated[int, Field(ge=2, le=10)] = Field(
        default=6, description="The number of players from which auto means two packs."
    )
    ranks: Ranks = Field(
        default=RANKS, description="The ranks in use, each in four suits; a subset makes a short pack."
    )
    jokers: int = Field(
        default=0, ge=0, le=4, description="Jokers added to each pack. A joker is a wild without a suit."
    )


class Players(_Data):
    """For how many the game is meant."""

    min: int = Field(default=2, ge=2, le=MOST_PLAYERS, description="The fewest players these rules are offered for.")
    max: int = Field(
        default=5,
        ge=2,
        le=MOST_PLAYERS,
        description="The most players these rules are offered for; raise it to seat more.",
    )

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.min > self.max:
            raise ValueError(f"players.min is {self.min}, players.max is {self.max}; allowed: min no larger than max")
        return self


class Deal(_Data):
    """What each player is dealt."""

    cards: int = Field(default=7, ge=1, le=50, description="Cards dealt to each player.")
    cards_by_players: CardsByPlayers = Field(
        default=(), description="Other numbers of cards for some numbers of players, instead of deal.cards."
    )
    countdown: int = Field(
        default=0,
        ge=0,
        le=50,
        description="Each hand won shortens its winner's later deals by so many cards; one who is due no card at "
        "all has won the match. 0 turns it off.",
    )
    # Not up to 1: a deal that is nearly always void would be repeated for ever.
    misdeal_rate: float = Field(
        default=0.0,
        ge=0,
        le=0.999,
        description="The chance that a deal goes wrong and is made again; it is counted and has no other consequence.",
    )


class Starter(_Data):
    """The card that opens the discard pile."""

    wild: Literal["bury", "dealer-declares", "own-suit"] = Field(
        default="bury",
        description="A wild as starter: bury puts it into the middle of the stock and turns another card, "
        "dealer-declares lets the dealer name the suit, own-suit lets it lie as an ordinary card of its suit.",
    )
    action: Literal["none", "applies"] = Field(
        default="none",
        description="A starter with an effect: none ignores the effect, applies treats it as played by the dealer.",
    )


class Wild(_Data):
    """The cards that go on everything."""

    ranks: Ranks = Field(default=("8",), description="The wild ranks; an empty list plays without wilds.")
    suit: Literal["declared", "own", "delayed"] = Field(
        default="declared",
        description="The active suit after a wild: declared is named at once by its player, own is the wild's own "
        "suit, delayed is named only when the next player's turn begins.",
    )
    on_wild: bool = Field(default=True, description="Whether a wild may be laid on a wild.")
    may_finish: bool = Field(default=True, description="Whether the last card of a hand may be a wild.")


class Drawing(_Data):
    """Drawing from the stock in one's own turn."""

    limit: Annotated[int, Field(ge=1, le=1000)] | Literal["until-playable"] = Field(
        default=1,
        description="How many cards may be drawn in a turn; until-playable goes on until a card can be played.",
    )
    voluntary: bool = Field(default=False, description="Whether one may draw while holding a playable card.")
    play_drawn: Literal["may", "must", "no"] = Field(
        default="may",
        description="After drawing: may leaves playing or keeping open, must forces a play if there is one, no allows "
        "only cards held before the turn. Under draw.limit = until-playable it is always must.",
    )


class Stock(_Data):
    """The cards to draw from."""

    empty: Literal["reshuffle", "pass"] = Field(
        default="reshuffle",
        description="When a card is due and the stock has none: reshuffle turns all discards but the top one into a "
        "new stock, pass leaves it empty.",
    )


class Blocked(_Data):
    """A hand in which nobody can go on."""

    score: Literal["difference", "own-hand", "void"] = Field(
        default="difference",
        description="Scoring a blocked hand, won by the lowest hand: difference counts what each other hand has more "
        "than the winner's, own-hand counts every hand in full, void counts nothing and has no winner.",
    )


class Actions(_Data):
    """Effects of ranks, one option a rank (`actions.J = "skip"`), and what a closing card's effect is worth."""

    final: Literal["ignored", "applies"] = Field(
        default="ignored",
        description="A draw card as somebody's last card: ignored ends the hand at once, applies lets the next player "
        "draw before the count.",
    )
    effects: tuple[Effect, ...] = Field(
        default=PLAIN,
        min_length=len(RANKS),
        max_length=len(RANKS),
        description="What a card of this rank does: skip passes the next player over, reverse turns the direction, "
        "any-card lets every card follow it, again gives its player another turn, {draw = k} makes the next player "
        "draw k cards.",
    )
    """By rank, A to K. In data each rank is an option of its own and stands there only if it has an effect."""

    @model_validator(mode="before")
    @classmethod
    def _gather(cls, data: Any) -> Any:
        if not isinstance(data, Mapping) or "effects" in data:
            return data
        rest: dict[Any, Any] = {key: value for key, value in data.items() if key not in RANK_OF}
        return rest | {"effects": tuple(data.get(rank, "none") for rank in RANKS)}

    @model_serializer
    def _spread(self) -> dict[str, object]:
        spread: dict[str, object] = {"final": self.final}
        for rank, effect in self.by_rank().items():
            spread[rank] = {"draw": effect} if isinstance(effect, int) else effect
        return spread

    def by_rank(self) -> dict[str, str | int]:
        """Return the ranks that have an effect, A to K: its name, or the number of cards of a draw."""
        pairs = zip(RANKS, self.effects, strict=True)
        return {rank: effect.draw if isinstance(effect, Draw) else effect for rank, effect in pairs if effect != "none"}


class Penalty(_Data):
    """A penalty draw: what happens to the one who faces a draw card."""

    stack: Literal["same-rank", "any-draw", "off"] = Field(
        default="same-rank",
        description="What answers a penalty draw and hands it on, the cards adding up: a card of the same rank, any "
        "draw card, or nothing (off).",
    )
    loses_turn: bool = Field(
        default=True, description="Whether the player who draws the penalty has no turn of its own then."
    )


class Reverse(_Data):
    """Changing the direction of play."""

    two_players: Literal["none", "skip"] = Field(
        default="none",
        description="A reverse between two players: none does nothing, skip passes the other player over.",
    )


class Jokers(_Data):
    """What jokers do, where there are any."""

    effect: Literal["wild"] | WildDraw = Field(
        default="wild",
        description="A joker is a wild; {wild-draw = k} makes it a super-joker, after which the next player draws k.",
    )

    @property
    def draw(self) -> int:
        """Cards that the next player draws after a joker; 0 for a plain wild."""
        return self.effect.cards if isinstance(self.effect, WildDraw) else 0


class LastCard(_Data):
    """The call that warns the others."""

    call: bool = Field(default=False, description="Whether one must call out on going down to a single card.")
    penalty: int = Field(default=2, ge=0, le=50, description="Cards drawn by a player who is caught without the call.")


class Illegal(_Data):
    """A card laid that may not be played."""

    penalty: int = Field(
        default=1,
        ge=0,
        le=50,
        description="Cards drawn when it is noticed: the card goes back and the turn is over. Unnoticed, it stands.",
    )


class Stop(_Data):
    """Ending a hand early by word of mouth."""

    points: int = Field(
        default=0,
        ge=0,
        le=1000,
        description="A player whose hand is worth so much or less may end the hand when its turn begins; the lowest "
        "hand wins, on a tie the one who stopped. 0 turns it off.",
    )


class Score(_Data):
    """What the cards left in hand are worth, and to whom."""

    style: Literal["losers-add", "winner-collects"] = Field(
        default="losers-add",
        description="losers-add: each loser's total grows by its own hand; winner-collects: the winner's total grows "
        "by the hands of all the others.",
    )
    values: PointsByRank = Field(
        default=(),
        description="Ranks with a value of their own. Without one a wild and a joker count 50, J Q K count 10, an ace "
        "1 and the others their pips.",
    )


class Match(_Data):
    """Several hands until somebody has won."""

    target: Annotated[int, Field(ge=1, le=100_000)] | PerPlayer = Field(
        default=100,
        description="The total that ends the match once somebody reaches it; {per-player = k}: k for each player.",
    )
    winner: Literal["lowest", "highest"] = Field(
        default="lowest", description="Whose total wins when somebody reaches the target."
    )
    tie: Literal["extra-hand-tied", "extra-hand-all", "shared"] = Field(
        default="extra-hand-tied",
        description="A tie for the match: extra-hand-tied plays it off in one more hand among the tied, extra-hand-all "
        "in one among everybody, shared leaves all of them winners.",
    )


class Rules(_Data):
    """A complete set of house rules; without arguments, all options at their defaults."""

    deck: Deck = Deck()
    players: Players = Players()
    deal: Deal = Deal()
    starter: Starter = Starter()
    wild: Wild = Wild()
    draw: Drawing = Drawing()
    stock: Stock = Stock()
    blocked: Blocked = Blocked()
    actions: Actions = Actions()
    penalty: Penalty = Penalty()
    reverse: Reverse = Reverse()
    jokers: Jokers = Jokers()
    last_card: LastCard = LastCard()
    illegal: Illegal = Illegal()
    stop: Stop = Stop()
    score: Score = Score()
    match: Match = Match()
    turn_cap: int = Field(
        default=5000,
        ge=1,
        le=50_000,
        description="Turns after which a hand is broken off; it is then scored like a blocked one and counted apart.",
    )

    @model_validator(mode="after")
    def _fits_the_pack(self) -> Self:
        """Check options of different sections together: the ranks used are in the pack, and a hand can be opened."""
        pack = self.deck.ranks
        if not pack:
            raise ValueError("deck.ranks is empty; allowed: at least one rank")
        used = {
            "wild.ranks": self.wild.ranks,
            "actions": self.actions.by_rank(),
            "score.values": [rank for rank, _ in self.score.values if rank != JOKER],
        }
        for key, ranks in used.items():
            lacking = [rank for rank in ranks if rank not in pack]
            if lacking:
                name = f"actions.{lacking[0]}" if key == "actions" else key
                raise ValueError(
                    f"{name} names the rank {lacking[0]}, which the pack lacks; deck.ranks: {' '.join(pack)}"
                )
        if self.starter.wild == "bury" and set(pack) == set(self.wild.ranks):
            raise ValueError(
                "every rank is wild and starter.wild is bury, so no card could open a hand; "
                "allowed: a plain rank, or another starter.wild"
            )
        return self

    # Writing and reading

    def as_dict(self) -> dict[str, Any]:
        """Every option in nested plain dicts with string keys, as TOML and JSON hold them (the canonical form)."""
        return self.model_dump(mode="json", by_alias=True)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> "Rules":
        """Rules from nested tables; options left out take their defaults. Raises RulesError."""
        return _validated(_flatten(data, "rules"), "rules")

    def flat(self) -> dict[str, Any]:
        """Every option by its dotted key, in a fixed order; of the actions only the ranks that have an effect."""
        return dict(_entries(self.as_dict()))

    def toml(self, title: str = "") -> str:
        """Every option as TOML text that `load` reads back to equal rules, headed by a comment (with the title)."""
        lines = [
            f"# {_one_line(title)}" if title else "# House rules",
            "# for ochos-sim; each option is given, and may be changed or left to its default.",
            f"turn_cap = {self.turn_cap}",
        ]
        for section, options in self.as_dict().items():
            if isinstance(options, dict):
                lines += ["", f"[{section}]"]
                lines += [f"{option} = {_toml_value(value)}" for option, value in options.items()]
        return "\n".join(lines) + "\n"

    # What the options mean for a given number of players

    @property
    def play_drawn(self) -> Literal["may", "must", "no"]:
        """`draw.play_drawn` as it works: drawing until a card is playable always means playing one."""
        return "must" if self.draw.limit == "until-playable" else self.draw.play_drawn

    def packs_for(self, players: int) -> int:
        """Packs in a hand in which `players` take part."""
        if self.deck.packs != "auto":
            return self.deck.packs
        two_from = self.deck.two_packs_from
        return 2 if two_from != "never" and players >= two_from else 1

    def pack_size(self, players: int) -> int:
        """Cards, jokers included, in a hand in which `players` take part."""
        return self.packs_for(players) * (4 * len(self.deck.ranks) + self.deck.jokers)

    def cards_each(self, players: int) -> int:
        """Cards dealt to each in a hand in which `players` take part, before any countdown."""
        return dict(self.deal.cards_by_players).get(players, self.deal.cards)

    def points_table(self) -> tuple[int, ...]:
        """Points of a card left in hand by the rank in its code: 1 A … 13 K, 14 a joker; 0 at the unused ends."""
        own = dict(self.score.values)
        table = [0] * POINTS_SIZE
        for rank, number in RANK_OF.items():
            plain = WILD_POINTS if rank in self.wild.ranks else min(number, 10)
            table[number] = own.get(rank, plain)
        table[JOKER_CODE] = own.get(JOKER, WILD_POINTS)
        return tuple(table)

    def points_of(self, rank: int) -> int:
        """Points of one card of this rank number (1 A … 13 K, 14 a joker)."""
        return self.points_table()[rank]

    def target_for(self, players: int) -> int:
        """Return the points that end a match of `players`."""
        target = self.match.target
        return target.points * players if isinstance(target, PerPlayer) else target

    def check_players(self, players: int, match: bool = False) -> None:
        """Raise RulesError if so many can not play: outside the rules' range, or more cards than the pack holds.

        With `match`, hands among the tied alone are looked at too: with fewer players there may be fewer packs.
        """
        low, high = self.players.min, self.players.max
        if not low <= players <= high:
            option = "players.max" if players > high else "players.min"
            way = f"--set {option}={players} allows it" if 2 <= players <= MOST_PLAYERS else "a table seats 2 to 10"
            raise RulesError(f"{players} players: these rules are for {low} to {high}; {way}")
        tied = range(2, players) if match and self.match.tie == "extra-hand-tied" else range(0)
        for taking_part in (players, *tied):
            each, pack = self.cards_each(taking_part), self.pack_size(taking_part)
            needed = taking_part * each + 1
            if needed > pack:
                hand = f"{players} players" + (f", an extra hand among {taking_part}" if taking_part != players else "")
                holds = "the pack has" if self.packs_for(taking_part) == 1 else "the two packs have"
                raise RulesError(f"{hand}: {taking_part} {TIMES} {each} + 1 = {needed} cards, {holds} {pack}")


# ---------------------------------------------------------------------------------------------------------------------
# Options by their dotted keys


@dataclass(frozen=True)
class Option:
    """One option as help and documentation show it; `allowed` has an entry for each alternative."""

    key: str
    default: Any
    allowed: tuple[str, ...]
    meaning: str


@cache
def options() -> Mapping[str, Option]:
    """Every option by its dotted key, in the order of the sections; of the actions one for each rank."""
    defaults = Rules().flat()
    listed: list[Option] = []
    for section, outer in Rules.model_fields.items():
        if section in defaults:
            listed.append(_as_option(section, outer.default, outer.annotation, outer))
            continue
        fields: Mapping[str, FieldInfo] = getattr(outer.annotation, "model_fields", {})
        for name, field in fields.items():
            if (section, name) == ("actions", "effects"):
                listed += [_as_option(f"actions.{rank}", "none", Effect, field) for rank in RANKS]
            else:
                key = f"{section}.{name}"
                listed.append(_as_option(key, defaults[key], field.annotation, field))
    return {option.key: option for option in listed}


def _as_option(key: str, default: Any, annotation: Any, field: FieldInfo) -> Option:
    return Option(key, default, tuple(_allowed(annotation, field.metadata)), field.description or "")


def _allowed(annotation: Any, metadata: Iterable[Any]) -> list[str]:
    """Say in words what a type allows, an entry for each alternative."""
    marks = list(metadata)
    kind = get_origin(annotation)
    if said := [mark.text for mark in marks if isinstance(mark, _Says)]:
        return said
    if kind is Annotated:
        inner, field = get_args(annotation)
        return _allowed(inner, field.metadata)
    if kind in (Union, UnionType):
        return [words for alternative in get_args(annotation) for words in _allowed(alternative, marks)]
    if kind is Literal:
        return list(get_args(annotation))
    if annotation is bool:
        return ["true", "false"]
    if issubclass(annotation, _Data):
        ((name, field),) = annotation.model_fields.items()
        return [f"{{{field.alias or name} = k}} with k {_bounds(field.metadata)}"]
    return [f"a {'whole ' if annotation is int else ''}number {_bounds(marks)}"]


def _bounds(marks: Iterable[Any]) -> str:
    """Say the range of a number; every number among the options has both ends."""
    low = next(mark.ge for mark in marks if hasattr(mark, "ge"))
    high = next(mark.le for mark in marks if hasattr(mark, "le"))
    return f"from {low} to {high}"


def _entries(data: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Nested tables as dotted keys with their values."""
    for section, content in data.items():
        if isinstance(content, Mapping):
            yield from ((f"{section}.{name}", value) for name, value in content.items())
        else:
            yield section, content


def _flatten(data: Mapping[str, Any], where: str, beside: Sequence[str] = ()) -> dict[str, Any]:
    """Nested tables from outside as dotted keys with raw values, every key checked. Raises RulesError.

    `beside` are names that were allowed next to the sections and have been taken out.
    """
    for name, content in data.items():
        section = str(name)
        if section in options():
            continue
        if section not in Rules.model_fields:
            hint = _nearest(section, beside, 0.7) or _nearest_key(section)
            names = ", ".join([*Rules.model_fields, *beside])
            raise RulesError(f"{where}: no section or option {_show(section)}{hint}; allowed: {names}")
        if not isinstance(content, Mapping):
            raise RulesError(f"{where}: {section} is {_show(content)}; allowed: a table of options, as in [{section}]")
    flat = dict(_entries(data))
    for key in flat:
        _check_key(key, where)
    return flat


def _check_key(key: str, where: str) -> None:
    if key in options():
        return
    section = key.partition(".")[0]
    siblings = [option for option in options() if option.startswith(f"{section}.")]
    known = f"options: {', '.join(siblings)}" if siblings else f"sections: {', '.join(Rules.model_fields)}"
    what = f"{key} is a section" if key in Rules.model_fields else f"no option {_show(key)}{_nearest_key(key)}"
    raise RulesError(f"{where}: {what}; {known}")


def _validated(flat: Mapping[str, Any], where: str, origin: Mapping[str, str] | None = None) -> Rules:
    """Make rules of raw values by dotted key; `origin` tells who set a key, else it was `where`. Raises RulesError."""
    nested: dict[str, Any] = {}
    for key, value in flat.items():
        section, dot, name = key.partition(".")
        if dot:
            nested.setdefault(section, {})[name] = value
        else:
            nested[section] = value
    try:
        return Rules.model_validate(nested)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
    place = first["loc"]
    key = f"actions.{RANKS[int(place[2])]}" if place[:2] == ("actions", "effects") else ".".join(map(str, place[:2]))
    said = str(first["ctx"]["error"]) if first["type"] == "value_error" else ""
    if key not in options():
        # A check across options: its text names them.
        raise RulesError(f"{where}: {said}")
    if not said:
        value, allowed = flat[key], options()[key].allowed
        hint = _nearest(value, allowed) if isinstance(value, str) else ""
        said = f"is {_show(value)}; allowed: {', '.join(allowed)}{hint}"
    raise RulesError(f"{(origin or {}).get(key, where)}: {key} {said}")


def _toml_value(value: object) -> str:
    """Write a value as TOML does, tables inline."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {_toml_value(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(map(_toml_value, value)) + "]"
    return str(value)


def _show(value: object) -> str:
    """Write a value for an error message, cut short if it is long."""
    try:
        text = _toml_value(value)
    except (ValueError, RecursionError):
        # Python does not print numbers of thousands of digits, nor tables nested without end.
        text = "a value too long to show"
    return text if len(text) <= 60 else f"{text[:59]}\N{HORIZONTAL ELLIPSIS}"


def _nearest(given: str, names: Iterable[str], likeness: float = 0.6) -> str:
    """Hint at the name most like the given one; empty if none is like it."""
    return _nearest_of(given, {name: name for name in names}, likeness)


def _nearest_of(given: str, meant: Mapping[str, str], likeness: float = 0.6) -> str:
    """Hint at what the name most like the given one stands for; empty if none is like it."""
    plain = {name.casefold(): target for name, target in meant.items()}
    found = difflib.get_close_matches(given.casefold(), plain, n=1, cutoff=likeness)
    return f"; did you mean {plain[found[0]]}?" if found else ""


def _nearest_key(given: str) -> str:
    """Hint at the section or option meant, also if it was put into the wrong section or into none."""
    section, _, name = given.rpartition(".")
    by_name = {key.rpartition(".")[2]: key for key in options()}
    if section in Rules.model_fields:
        own = {key.rpartition(".")[2]: key for key in options() if key.startswith(f"{section}.")}
        return _nearest_of(name, own) or _nearest_of(name, by_name, 0.8)
    return _nearest(given, options() if section else Rules.model_fields, 0.7) or _nearest_of(name, by_name, 0.8)


# ---------------------------------------------------------------------------------------------------------------------
# Presets, files, changes, settings


@dataclass(frozen=True)
class Change:
    """A named change: a variant that a sheet describes. `own`: the sheet is that of the preset asked about."""

    name: str
    about: str
    settings: Mapping[str, Any]
    own: bool


@dataclass(frozen=True)
class NamedRules:
    """Rules with where they come from: a preset or a file, the changes and settings made to it, and its sheet."""

    rules: Rules
    preset: str
    changes: tuple[str, ...]
    sets: tuple[str, ...]
    title: str
    sheet: str
    about: str


@dataclass(frozen=True)
class Preset:
    """What there is to tell about a preset; `changes` are all that can be applied to it."""

    name: str
    about: str
    sheet: str
    rules: Rules
    changes: tuple[Change, ...]


@dataclass(frozen=True)
class _Source:
    """A preset or file before validation. `lineage`: the presets it is or is based on, nearest first."""

    flat: Mapping[str, Any]
    lineage: tuple[str, ...]
    sheet: str
    about: str


def load(spec: str, sets: Sequence[str] = ()) -> NamedRules:
    """Read the rules of `NAME[+change...]` or `FILE.toml[+change...]`, then apply `key=value` settings in order.

    A setting's value is TOML, or a bare word taken as text (`wild.suit=own`); ranks may be listed by commas
    (`wild.ranks=A,8`); a key that goes on below an option (`score.values.K=20`) sets one entry of it. Any mistake in it
    all raises RulesError.
    """
    name, changes = _split(spec)
    source = _preset(name) if name in preset_names() else _file(name)
    flat = dict(source.flat) | _merged(changes, source.lineage, spec)
    origin: dict[str, str] = {}
    for text in sets:
        key, value = _setting(text, flat)
        flat[key] = value
        origin[key] = f"--set {text}"
    title = "".join([spec, *(f" --set {text}" for text in sets)])
    # What neither a setting nor a cross-check is to blame for was written in the file.
    rules = _validated(flat, title, dict.fromkeys(source.flat, name) | origin)
    return NamedRules(rules, name, changes, tuple(sets), title, source.sheet, source.about)


@cache
def preset_names() -> tuple[str, ...]:
    """List the presets there are: a file each, found by looking."""
    return tuple(sorted(path.stem for path in PRESETS.glob("*.toml") if path.stem != CHANGES))


def describe(preset: str) -> Preset:
    """All about one preset. Raises RulesError if there is none of that name."""
    if preset not in preset_names():
        raise RulesError(_no_preset(preset))
    source = _preset(preset)
    return Preset(preset, source.about, source.sheet, _validated(source.flat, preset), changes_of(preset))


def changes_of(preset: str) -> tuple[Change, ...]:
    """List the changes that can be applied to a preset. Raises RulesError if there is none of that name."""
    if preset not in preset_names():
        raise RulesError(_no_preset(preset))
    lineage = _preset(preset).lineage
    return tuple(change for name in _change_tables() if (change := _change(name, lineage)))


def diff(a: NamedRules, b: NamedRules) -> list[tuple[str, Any, Any]]:
    """List where two rule sets differ, in the order of `options`: the key, its value in `a`, its value in `b`."""
    flat_a, flat_b = a.rules.flat(), b.rules.flat()
    pairs = ((key, flat_a.get(key, "none"), flat_b.get(key, "none")) for key in options())
    return [(key, in_a, in_b) for key, in_a, in_b in pairs if in_a != in_b]


def _split(spec: str) -> tuple[str, tuple[str, ...]]:
    """Part the name or file from the changes after it. A file's own name may hold a plus."""
    file = re.match(r".*\.toml(?=\+|$)", spec, re.DOTALL | re.IGNORECASE)
    name = file[0] if file else spec.partition("+")[0]
    changes = spec[len(name) :].split("+")[1:]
    return name.strip(), tuple(change.strip() for change in changes)


@cache
def _preset(name: str) -> _Source:
    path = PRESETS / f"{name}.toml"
    return _source(path.read_text("utf-8"), name, (name,))


def _file(name: str) -> _Source:
    """Read a file of the user's. Raises RulesError."""
    try:
        with open(name, "rb") as file:
            data = file.read(LARGEST_FILE + 1)
        text = data.decode("utf-8-sig")
    except FileNotFoundError:
        if name == Path(name).name and not name.lower().endswith(".toml"):
            raise RulesError(f"{_no_preset(name)}; or the path of a rules file") from None
        raise RulesError(f"{name}: no such file{_nearest(Path(name).stem, preset_names())}") from None
    except IsADirectoryError:
        raise RulesError(f"{name}: is a directory; allowed: a preset's name or a rules file (TOML)") from None
    except UnicodeDecodeError as error:
        raise RulesError(f"{name}: byte {error.start + 1} is not UTF-8 text; allowed: a rules file (TOML)") from None
    except (OSError, ValueError) as error:
        raise RulesError(f"{name}: can not be read: {error}") from None
    if len(data) > LARGEST_FILE:
        raise RulesError(f"{name}: larger than {LARGEST_FILE:,} bytes; allowed: a rules file (TOML)")
    return _source(text, name, ())


def _no_preset(name: str) -> str:
    names = preset_names()
    return f"no preset {_show(name)}{_nearest(name, names)}; presets: {', '.join(names)}"


def _source(text: str, where: str, lineage: tuple[str, ...]) -> _Source:
    """Read a rules text with all that it is based on. Raises RulesError."""
    data = _parse(text, where)
    about = {key: data.pop(key, "") for key in ABOUT}
    for key, value in about.items():
        if not isinstance(value, str) or not value.isprintable():
            raise RulesError(f"{where}: {key} is {_show(value)}; allowed: a line of text in quotes")
    if not data and not about["base"]:
        raise RulesError(f"{where}: holds no rules; allowed: a base, or options such as draw.limit = 3")
    flat = _flatten(data, where, ABOUT)
    sheet = about["sheet"]
    if about["base"]:
        name, changes = _split(about["base"])
        if name not in preset_names():
            raise RulesError(f"{where}: base: {_no_preset(name)}")
        parent = _preset(name)
        lineage += parent.lineage
        flat = dict(parent.flat) | _merged(changes, lineage, f"{where}: base {about['base']}") | flat
        sheet = sheet or parent.sheet
    return _Source(flat, lineage, sheet, about["about"] or about["title"])


def _parse(text: str, where: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text)
    except RecursionError:
        raise RulesError(f"{where}: not TOML: nested too deeply") from None
    except tomllib.TOMLDecodeError as error:
        # The parser's text ends with the place: its line and column, or the end of the document.
        what, _, place = str(error).rpartition(" (at ")
        if not place.startswith("line"):
            place = f"line {len(text.splitlines())}, at the end"
        raise RulesError(f"{where}: {place.rstrip(')')}: not TOML: {what}") from None
    except ValueError:
        raise RulesError(f"{where}: holds a number of thousands of digits") from None


@cache
def _change_tables() -> Mapping[str, Mapping[str, Any]]:
    return tomllib.loads((PRESETS / f"{CHANGES}.toml").read_text("utf-8"))


def _change(name: str, lineage: Sequence[str]) -> Change | None:
    """Look up a change as it is for this lineage; None if it depends on the sheet and there is none that has it."""
    table = _change_tables()[name]
    data = table.get("set")
    if data is None:
        data = next((table["by-preset"][preset] for preset in lineage if preset in table["by-preset"]), None)
    if data is None:
        return None
    own = any(preset in table["of"] for preset in lineage)
    return Change(name, table["about"], _flatten(data, f"{CHANGES}: {name}"), own)


def _merged(names: Sequence[str], lineage: Sequence[str], where: str) -> dict[str, Any]:
    """Put together what several changes set. Raises RulesError for an unknown one, or if two exclude each other."""
    tables = _change_tables()
    merged: dict[str, Any] = {}
    setter: dict[str, str] = {}
    for name in names:
        if name not in tables:
            what = f"no change {_show(name)}{_nearest(name, tables)}" if name else "nothing after a plus sign"
            raise RulesError(f"{where}: {what}; changes: {', '.join(tables)}")
        change = _change(name, lineage)
        if change is None:
            raise RulesError(
                f"{where}: the change {name} takes its options from a preset's sheet, and these rules have none; "
                f"allowed: a base in the file, or single options such as --set {name}.J=skip"
            )
        for key, value in change.settings.items():
            if merged.setdefault(key, value) != value:
                raise RulesError(
                    f"{where}: {setter[key]} and {name} exclude each other; "
                    f"both set {key}: {_show(merged[key])}, {_show(value)}"
                )
            setter.setdefault(key, name)
    return merged


def _setting(text: str, flat: Mapping[str, Any]) -> tuple[str, Any]:
    """Read the option and raw value of one `key=value`; `flat` holds the values before, for setting a single entry."""
    key, equals, written = (part.strip() for part in text.partition("="))
    where = f"--set {text}"
    if not key or not equals or not written:
        raise RulesError(f"{where}: not a setting; allowed: KEY=VALUE, as in draw.limit=3")
    option, entry = key, ""
    if key.count(".") > 1:
        section, name, entry = key.split(".", 2)
        option = f"{section}.{name}"
    _check_key(option, where)
    if option in ("deck.ranks", "wild.ranks") and not written.startswith("["):
        return option, [rank.strip() for rank in written.split(",")]
    try:
        parsed = tomllib.loads(f"value = {written}")
    except (ValueError, RecursionError):
        parsed = {}
    value = parsed["value"] if len(parsed) == 1 else written
    if not entry:
        return option, value
    old = flat.get(option, options()[option].default)
    if option in ("deal.cards_by_players", "score.values") and isinstance(old, Mapping):
        return option, dict(old) | {entry: value}
    return option, {entry: value}
