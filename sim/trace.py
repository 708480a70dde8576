"""One hand or match, event by event: what `ochos-sim trace` shows, as dicts (the contract is in docs/contracts.md).

The engine writes rows of numbers while it plays; here they become events in the terms of the table, with seats
counted from 1.
"""

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from sim import engine
from sim.cards import JOKER_CODE, NO_SUIT, SUITS, card_name, card_names
from sim.record import rule_record, rule_records
from sim.rules import Rules
from sim.table import ACT_DRAW, ACT_PASS, MATCH, REASONS, TABLE

WHY = ("stuck", "voluntary", "penalty", "last-card", "illegal", "final")
Event = dict[str, Any]


class TraceError(ValueError):
    """A hand that cannot be shown: one line with the reason."""


class StrategyFault(RuntimeError):
    """A strategy answered something that it may not do, or raised; one line with seed, game, turn and seat.

    `events`: the hand up to there, where it was traced; `scenario`, `game` and `rotation`: where a batch met it.
    """

    def __init__(
        self, text: str, *, events: Sequence[Event] = (), scenario: int = 0, game: int = 0, rotation: int = 0
    ) -> None:
        super().__init__(text)
        self.events = tuple(events)
        self.scenario = scenario
        self.game = game
        self.rotation = rotation


def fault_text(t: np.ndarray[Any, Any], names: Sequence[str]) -> str:
    """What went wrong on a table whose hand ended in FAULT; `names`: the strategies by seat."""
    seat = int(t["seat"][t["faulty"]])
    answer = int(t["answer"])
    asked = ("what to play", "which suit to declare", "whether to stop the hand")[int(t["question"])]
    if answer == engine.RAISED:
        did = "raised an exception"
    elif int(t["question"]) != engine.ASKED_PLAY:
        did = f"answered {answer} (allowed: {'0 to 3' if int(t['question']) == engine.ASKED_SUIT else '0 or 1'})"
    else:
        sight = t["sight"]
        allowed = (
            card_names(int(sight["playable"])) + ["DRAW"] * int(sight["may_draw"]) + ["PASS"] * int(sight["may_pass"])
        )
        did = f"answered {_answer(answer)} (allowed: {' '.join(allowed)})"
    return (
        f"strategy {names[seat]} (seat {seat + 1}), asked {asked}, {did}: seed {int(t['seed'])}, "
        f"game {int(t['game'])}, hand {int(t['hand_number']) + 1}, turn {int(t['sight']['turn'])}"
    )


def _answer(answer: int) -> str:
    """An answer to the question what to play, as a person can read it."""
    if answer in (ACT_DRAW, ACT_PASS):
        return "DRAW" if answer == ACT_DRAW else "PASS"
    is_card = 0 <= answer < 64 and (1 <= answer % 16 <= 13 or answer == JOKER_CODE)
    return f"{answer} ({card_name(answer)})" if is_card else str(answer)


def trace_hand(
    rules: Rules,
    crew: np.ndarray[Any, Any],
    names: Sequence[str],
    *,
    seed: int,
    game: int,
    dealer: int | None = None,
    deck: Sequence[int] = (),
) -> list[Event]:
    """The events of one hand. `dealer`: a seat from 0 (default the last); `deck`: codes in dealing order, or none.

    Raises TraceError if the deck does not fit the rules, StrategyFault.
    """
    players = len(names)
    rule = rule_record(rules, players)
    tables = np.zeros(1, TABLE)
    t = tables[0]
    dealer = players - 1 if dealer is None else dealer
    if deck:
        _set_deck(rule, t, deck)
    engine.prepare(rule[()], t)
    engine.seat_players(rule[()], t, players, dealer)
    t["seed"], t["game"] = seed, game
    status, log = _play_logged(tables, lambda table: engine.play_hand(rule[()], table, crew[()]))
    if status == engine.NO_STARTER:
        raise TraceError("the deck holds no card that may open after the hands are dealt")
    if status < 0:
        events = list(_hand_events(tables[0], log, hand=1, seats=players))
        raise StrategyFault(fault_text(tables[0], names), events=events)
    nothing = np.zeros(players, np.int64)
    return [*_hand_events(tables[0], log, hand=1, seats=players), _end_event(tables[0], 1, nothing, players)]


def trace_match(
    rules: Rules,
    crew: np.ndarray[Any, Any],
    names: Sequence[str],
    *,
    seed: int,
    game: int,
    first_dealer: int | None = None,
    rotation: int = 0,
) -> Iterator[Event]:
    """The events of a match, hand by hand, `match-end` last. Raises StrategyFault."""
    players = len(names)
    rules_by_number = rule_records(rules, players)
    tables = np.zeros(1, TABLE)
    matches = np.zeros(1, MATCH)
    engine.begin_match(
        matches[0], players, np.uint64(seed), np.uint64(game), rotation, -1 if first_dealer is None else first_dealer
    )
    while not matches[0]["over"]:
        before = matches.copy()

        def play(table: Any, before: np.ndarray[Any, Any] = before) -> Any:
            matches[:] = before
            return engine.play_match_hand(
                rules_by_number, table, crew[()], matches[0], np.uint64(seed), np.uint64(game)
            )

        status, log = _play_logged(tables, play)
        if status < 0:
            events = list(_hand_events(tables[0], log, hand=int(before[0]["hands"]) + 1, seats=players))
            raise StrategyFault(fault_text(tables[0], names), events=events)
        hand = int(matches[0]["hands"])
        yield from _hand_events(tables[0], log, hand=hand, seats=players)
        yield _end_event(tables[0], hand, before[0]["totals"], players)
    m = matches[0]
    winners = [seat + 1 for seat in range(players) if m["share"][seat]]
    winner = None if not winners else winners[0] if len(winners) == 1 else winners
    totals = [int(total) for total in m["totals"][:players]]
    yield {"event": "match-end", "winner": winner, "totals": totals, "hands": int(m["hands"])}


def first_dealer(seed: int, game: int, players: int, rotation: int = 0) -> int:
    """The seat, from 0, that chance makes the first dealer of a match."""
    match = np.zeros(1, MATCH)
    engine.begin_match(match[0], players, np.uint64(seed), np.uint64(game), rotation, -1)
    return int(match[0]["first_dealer"])


def _set_deck(rule: np.ndarray[Any, Any], t: Any, deck: Sequence[int]) -> None:
    pack = sorted(int(code) for code in rule["pack"][: int(rule["pack_size"])])
    if sorted(deck) != pack:
        extra = [card_name(code) for code in set(deck) if deck.count(code) > pack.count(code)]
        lacking = [card_name(code) for code in set(pack) if pack.count(code) > deck.count(code)]
        wrong = "; ".join(
            f"{what}: {' '.join(sorted(cards))}"
            for what, cards in (("too often", extra), ("missing", lacking))
            if cards
        )
        raise TraceError(f"the deck must hold the {len(pack)} cards of the pack, each once a pack; {wrong}")
    t["stock"][: len(deck)] = deck
    t["given"] = len(deck)


def _play_logged(tables: np.ndarray[Any, Any], play: Any) -> tuple[int, np.ndarray[Any, Any]]:
    """Play with a log that is long enough: play again with a longer one if not, which is the same hand."""
    start = tables.copy()
    rows = 4096
    while True:
        log = np.zeros((rows, engine.LOG_COLUMNS), np.int64)
        tables[:] = start
        tables[0]["log"] = log.ctypes.data
        tables[0]["log_room"] = rows
        tables[0]["logged"] = 0
        status = int(play(tables[0]))
        tables[0]["log_room"] = 0
        if tables[0]["logged"] <= rows:
            return status, log[: tables[0]["logged"]]
        rows = int(tables[0]["logged"])


def _suit(number: int) -> str | None:
    return None if number == NO_SUIT else SUITS[number]


def _hand_events(t: Any, log: np.ndarray[Any, Any], *, hand: int, seats: int) -> Iterator[Event]:
    """The events of the hand that has just been played on a table, from its log, without its end."""
    seat = [int(s) + 1 for s in t["seat"]]
    players = int(t["sight"]["players"])
    dealt: list[list[str]] = [[] for _ in range(seats)]
    buried: list[str] = []
    draw: Event | None = None
    for event, turn, position, *values in log.tolist():
        a, b, c, d = values
        if event == engine.LOG_DRAW:
            more = draw is not None and (draw["turn"], draw["seat"], draw["why"]) == (turn, seat[position], WHY[b])
            if draw is None or not more:
                if draw is not None:
                    yield draw
                draw = {"event": "draw", "turn": turn, "seat": seat[position], "cards": [], "why": WHY[b]}
            if a >= 0:
                draw["cards"].append(card_name(a))
            continue
        if draw is not None:
            yield draw
            draw = None
        if event == engine.LOG_DEALT:
            dealt[seat[position] - 1].append(card_name(a))
        elif event == engine.LOG_BURIED:
            buried.append(card_name(a))
        elif event == engine.LOG_STARTER:
            yield {
                "event": "deal",
                "hand": hand,
                "dealer": seat[players - 1],
                "hands": dealt,
                "buried": buried,
                "starter": card_name(a),
                "active_suit": _suit(b),
            }
        elif event == engine.LOG_RESHUFFLE:
            yield {"event": "reshuffle", "turn": turn, "cards": a}
        elif event != engine.LOG_END:
            yield {**_turn_event(event, a, b, c, d), "turn": turn, "seat": seat[position]}
    if draw is not None:
        yield draw


def _turn_event(event: int, a: int, b: int, c: int, d: int) -> Event:
    """The part of an event that its kind decides."""
    head = {"turn": 0, "seat": 0}  # their place in the line; the values follow
    match event:
        case engine.LOG_PLAY:
            return {
                "event": "play",
                **head,
                "card": card_name(a),
                "active_suit": _suit(b),
                "pending": c,
                "direction": d,
            }
        case engine.LOG_PASS:
            return {"event": "pass", **head}
        case engine.LOG_DECLARE:
            return {"event": "declare", **head, "suit": SUITS[a]}
        case engine.LOG_LAST_CARD:
            return {"event": "last-card", **head, "called": bool(a), "caught": bool(b)}
        case engine.LOG_ILLEGAL:
            return {"event": "illegal", **head, "card": card_name(a), "caught": bool(b)}
        case engine.LOG_STOP:
            return {"event": "stop", **head}
    raise AssertionError(f"unknown event {event}")


def _end_event(t: Any, hand: int, totals: Any, seats: int) -> Event:
    left: list[list[str]] = [[] for _ in range(seats)]
    points = [0] * seats
    scored = [0] * seats
    for position in range(int(t["sight"]["players"])):
        seat = int(t["seat"][position])
        left[seat] = card_names(t["hands"][position], t["hands_twice"][position])
        points[seat] = int(t["points_left"][position])
        scored[seat] = int(t["scored"][position])
    winner = None if t["winner"] < 0 else int(t["seat"][t["winner"]]) + 1
    return {
        "event": "end",
        "hand": hand,
        "reason": REASONS[int(t["reason"])],
        "winner": winner,
        "left": left,
        "points": points,
        "scored": scored,
        "totals": [int(totals[seat]) + scored[seat] for seat in range(seats)],
    }
