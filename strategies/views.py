"""Views made by hand, to test a strategy's choice in a small position without playing a hand up to it."""

from collections.abc import Iterable
from typing import Any

import numpy as np

from sim.cards import card_code
from sim.engine import _may_follow as may_follow
from sim.engine import prepare, with_card
from sim.record import rule_record
from sim.rules import load
from sim.table import TABLE, VIEW, VIEW_FIELDS
from strategies.registry import StrategyError, hint

FIELDS = [name for name, *_ in VIEW_FIELDS]

_rules: dict[tuple[str, int], np.ndarray[Any, Any]] = {}
"""Rule records, kept for good: a view holds the address of its own."""


def view_of(
    hand: str | Iterable[str],
    top: str,
    *,
    playable: str | Iterable[str] | None = None,
    rules: str = "ochos-locos",
    players: int = 2,
    **fields: Any,
) -> Any:
    """Make the view of the first player in the first turn of a hand: a record whose fields are attributes.

    `hand`, `playable`: cards, as "5C 8D 10H" or a list; `playable` is by default what may be laid on the `top` card.
    `rules`: as after `--rules`. `fields`: any other field of the view; of a list the first entries. Raises
    StrategyError for a field that there is not, ValueError for a card, RulesError for the rules.
    """
    key = rules, players
    if key not in _rules:
        _rules[key] = rule_record(load(rules).rules, players)
    rule = _rules[key]
    tables = np.zeros(1, TABLE)
    prepare(rule[()], tables[0])
    held, twice = _words(hand)
    codes = _codes(hand)
    others = int(rule["cards_each"])
    view = np.array(tables[0]["sight"], VIEW).reshape(1).view(np.recarray)[0]
    view.hand, view.hand_twice = held, twice
    view.top = card_code(top)
    view.active_suit = view.top >> 4
    view.pile, view.pile_twice = _words([top])
    view.discards = view.turn = view.direction = 1
    view.declarer = -1
    view.players = players
    view.counts[:players] = others
    view.counts[0] = len(codes)
    view.stock = int(rule["pack_size"]) - len(codes) - others * (players - 1) - 1
    for name, value in fields.items():
        if name not in FIELDS:
            raise StrategyError(f"the view has no field {name!r}{hint(name, FIELDS)}")
        if VIEW[name].shape:
            getattr(view, name)[: len(value)] = value
        else:
            setattr(view, name, value)
    cards = held & may_follow(rule[()], view) if playable is None else sum(1 << code for code in set(_codes(playable)))
    view.playable = np.uint64(cards)
    return view


def _codes(cards: str | Iterable[str]) -> list[int]:
    return [card_code(name) for name in (cards.split() if isinstance(cards, str) else cards)]


def _words(cards: str | Iterable[str]) -> tuple[Any, Any]:
    """The pair of words of cards that may be held twice."""
    words = np.uint64(0), np.uint64(0)
    for code in _codes(cards):
        words = with_card(*words, code)
    return np.uint64(words[0]), np.uint64(words[1])
