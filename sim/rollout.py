"""Roll-outs: deal the cards that a player cannot see as they may lie, and play the hand on after each possible answer.

A `TRIAL` is one question put to one player, made from the player's view alone: the table as the player knows it and
the answers to be tried. `play_out` fills in the unknown and plays every answer on from there with the engine itself,
all seats by one policy. The same number gives the same cards and the same luck, whatever the answer, so that answers
differ by what they are worth and little else (common random numbers).

What is dealt agrees with all that was seen: how many cards everybody holds, which cards lie in the pile, and which can
only be in a hand because they never went back into the stock. Suits that a player was seen to lack are weighed, not
forbidden: it may have drawn of them since.
"""

from typing import Any

import numba
import numpy as np
from llvmlite import ir
from numba import types
from numba.extending import intrinsic, overload

from sim.bits import count_cards
from sim.cards import JOKER_CODE, JOKERS_MASK, MOST_CARDS, MOST_PLAYERS
from sim.compiled import kernel
from sim.engine import ASKED_PLAY, ASKED_SUIT, _call_strategy, play_from, with_card
from sim.memory import copy_record, load_int, reader_of, store_int
from sim.record import NO, RULE
from sim.streams import DECK, LUCK_GROUP, PAGE_WORDS, SEAT, fill_luck_of_group, fill_words, where
from sim.table import CREW, TABLE, view_type

MOST_ANSWERS = 64
"""Answers that can be tried: more than there are different cards, a draw and a pass."""
HORIZON = 120
"""Turns that a hand is played on at most, then it counts as capped: under some rules it might never end."""
KEPT = 2.5
"""Cards by which a turn of drawing makes a hand longer, about, where more than one may be drawn."""
DOUBT = 0.02
"""That a player keeps a card, however unlikely it seems: what is thought of a hand may be wrong."""
NO_ANSWER = np.int64(-1)
"""In place of an answer: the policy gives it."""

TRIAL = np.dtype(
    [
        # Set by `set_up`, the same for every roll-out
        ("known", TABLE),  # the table as the player knows it; `play_out` puts in what is unseen
        ("rule", RULE),
        ("crew", CREW),  # the policy in every seat, but the player's first answer is the one that is tried
        ("play_out", np.int64),  # the address of the compiled function
        ("question", np.int64),
        ("turn_of", np.int64),  # the position whose turn it is
        ("unseen", np.uint8, (MOST_CARDS,)),  # first those that must be in a hand
        ("hidden", np.int64),  # how many are unseen
        ("in_hands", np.int64),  # how many must be in a hand
        ("free", np.int64, (MOST_PLAYERS,)),  # cards that a position still lacks while they are dealt
        ("likely", np.int64, (MOST_PLAYERS * 5,)),  # [position * 5 + suit], wilds 4: that it keeps a card it is offered
        # What is tried
        ("answers", np.int64),
        ("answer", np.int64, (MOST_ANSWERS,)),
        ("tried", np.int64, (MOST_ANSWERS,)),  # 0: no longer
        ("number", np.int64),  # of the roll-out, from 0: which cards and which luck
        # What came of it, by answer
        ("table", TABLE),
        ("won", np.int64, (MOST_ANSWERS,)),  # 1 if the player has won the hand
        ("own", np.int64, (MOST_ANSWERS,)),  # what the player has scored
        ("others", np.int64, (MOST_ANSWERS,)),  # what all others have scored together
    ],
    align=True,
)
POLICY = np.dtype([("crew", CREW), ("play_out", np.int64)], align=True)
"""A strategy to play on with: a line-up that plays it in every seat, and the address of `play_out`."""

_trial_type = numba.from_dtype(TRIAL)
_policy_at = reader_of(POLICY)
_rule_at = reader_of(RULE)

_u = np.uint64
_ONE = np.uint64(1)
_0 = np.int64(0)
_LOW = np.uint64(0xFFFFFFFF)
_WILD = 4
_TRIES = 16
"""Cards that a player is offered before it keeps one that it most likely lacks."""
_WHOLE = float(1 << 32)


# --- The answer that is tried -----------------------------------------------------------------------------------------

# The player whose answer is tried has these in the place of parameters, as offsets in bytes.
_ANSWER, _POLICY = np.int64(0), np.int64(8)
_OFFSETS = {name: np.int64(field[1]) for name, field in (CREW.fields or {}).items()}
_PLAYS, _DECLARES, _STOPS = (_OFFSETS[name] for name in ("play", "suit", "stop"))


@kernel(inline=True)
def _answer_once(view, function_at):
    """Give the answer that is tried to the first question, which is the trial's, and the policy's from then on."""
    script = view.params
    answer = load_int(script + _ANSWER)
    if answer >= 0:
        store_int(script + _ANSWER, NO_ANSWER)
        return answer
    policy = load_int(script + _POLICY)
    view.params = policy
    return _call_strategy(load_int(policy + function_at), view)


@kernel
def answer_play(view):
    """Play as a seat whose first two parameters are an answer, given once, and the address of a policy."""
    return _answer_once(view, _PLAYS)


@kernel
def answer_suit(view):
    """Declare a suit, as `answer_play`."""
    return _answer_once(view, _DECLARES)


@kernel
def answer_stop(view):
    """Stop or go on, as `answer_play`."""
    return _answer_once(view, _STOPS)


@intrinsic
def address_of_strategy(typingctx, function):
    """The address of a kernel, compiled for a view, that is a part of the same compiled code."""

    def code(context, builder, signature, args):
        compiled = function.dispatcher.get_compile_result(types.int64(view_type))
        context.add_linking_libs([compiled.library])
        pointer = context.declare_function(builder.module, compiled.fndesc)
        return builder.ptrtoint(pointer, ir.IntType(64))

    return types.int64(function), code


# --- The table as the player knows it ---------------------------------------------------------------------------------


@kernel
def _copies(view, cards, twice, code):
    """How many of a card a pair of words holds."""
    if code == JOKER_CODE:
        return count_cards(cards & JOKERS_MASK) + count_cards(twice & JOKERS_MASK)
    return np.int64(cards >> _u(code) & _ONE) + np.int64(twice >> _u(code) & _ONE)


@kernel
def _sort_cards(trial, view):
    """Sort the pack into what lies in the pile and what is unseen, that first which must be in a hand.

    The stock is made of cards that lay in the pile, once it has been reshuffled: an unseen card that never lay there
    is in a hand.
    """
    t = trial.known
    lies = 0
    sure = 0
    hidden = 0
    for code in range(64):
        if not view.pack >> _u(code) & _ONE:
            continue
        pile = _copies(view, view.pile, view.pile_twice, code)
        for _ in range(pile - (code == view.top)):
            t.discards[_u(lies)] = code
            lies += 1
        copies = view.jokers if code == JOKER_CODE else view.packs
        for _ in range(copies - pile - _copies(view, view.hand, view.hand_twice, code)):
            trial.unseen[_u(hidden)] = code
            if view.earlier and not _copies(view, view.earlier, view.earlier_twice, code):
                trial.unseen[_u(hidden)] = trial.unseen[_u(sure)]
                trial.unseen[_u(sure)] = code
                sure += 1
            hidden += 1
    t.discards[_u(lies)] = view.top
    trial.hidden = hidden
    trial.in_hands = sure


@kernel
def _weigh(trial, view):
    """How likely each player is to keep a card it is offered, by suit.

    Whoever drew on a suit had none of it, and no wild. What it holds of the suit now came with cards drawn since: in
    turns in which it drew on other suits, as far as they came later, or in that very turn where what is drawn has to
    wait. Elsewhere a wild that was drawn is on the pile.
    """
    rule = trial.rule
    kept = 1.0 if rule.limit == 1 else KEPT
    waits = kept if rule.play_drawn == NO else 0.0
    for position in range(view.players):
        at = 5 * position
        held = max(view.counts[_u(position)], 1)
        drew = _0
        for suit in range(4):
            drew += np.int64(view.drew_on[_u(4 * position + suit)])
        for suit in range(4):
            times = np.int64(view.drew_on[_u(4 * position + suit)])
            since = kept * (drew - times) / (times + 1) + waits
            trial.likely[_u(at + suit)] = _threshold(since / held) if times else _threshold(1.0)
        trial.likely[_u(at + _WILD)] = _threshold(waits * drew / held) if drew else _threshold(1.0)


@kernel
def _threshold(chance):
    return np.int64(_WHOLE * min(max(chance, DOUBT), 1.0))


@kernel
def add_answer(trials, answer):
    """Add an answer that is to be tried."""
    trial = trials[0]
    at = _u(trial.answers)
    trial.answer[at] = answer
    trial.tried[at] = 1
    trial.answers += 1


@kernel
def set_up(trials, view, policy, question):
    """Make a trial of a question (`sim.engine.ASKED_PLAY` …) and the view it came with.

    The policy's own answer is the first that is tried. `trials`: ``np.zeros(1, TRIAL)``; `policy`: the address of a
    POLICY record.
    """
    trial = trials[0]
    given = _policy_at(policy)
    own = _u(view.position)
    copy_record(trial.rule, _rule_at(view.rules))
    trial.rule.turn_cap = min(trial.rule.turn_cap, view.turn + HORIZON)
    copy_record(trial.crew, given.crew)
    trial.play_out = given.play_out
    trial.crew.params[own, 1] = policy
    trial.question = question
    delayed = question == ASKED_SUIT and view.declarer >= 0
    trial.turn_of = view.acting if delayed else view.position
    t = trial.known
    copy_record(t.sight, view)
    t.hands[own] = view.hand
    t.hands_twice[own] = view.hand_twice
    t.seed = view.luck
    t.purpose = DECK
    t.page = -1
    for position in range(view.players):
        t.seat[_u(position)] = position
        for i in range(LUCK_GROUP):
            t.places[_u(LUCK_GROUP * position + i)] = where(SEAT, position, _0)
    _sort_cards(trial, view)
    _weigh(trial, view)
    if question == ASKED_PLAY:
        function = given.crew.play[own]
    elif question == ASKED_SUIT:
        function = given.crew.suit[own]
    else:
        function = given.crew.stop[own]
    # The policy may draw at random: it is shown a view of its own.
    copy_record(trial.table.sight, view)
    trial.table.sight.params = policy
    add_answer(trials, _call_strategy(function, trial.table.sight))


# --- A roll-out -------------------------------------------------------------------------------------------------------


@kernel(inline=True)
def _word(t, used):
    """Word number `used` of the stream that deals the unseen cards."""
    if used % PAGE_WORDS == 0:
        fill_words(t.words, t.seed, t.game, where(DECK, np.int64(1), _0), used // PAGE_WORDS)
    return _u(t.words[_u(used % PAGE_WORDS)])


@kernel(inline=True)
def _keeps(trial, position, card, word):
    """Whether a player keeps a card it is offered; the fraction of a draw decides that chose the card."""
    kind = _WILD if trial.rule.wilds >> _u(card) & _ONE else card >> 4
    return np.int64(word & _LOW) < trial.likely[_u(5 * position + kind)]


@kernel(inline=True)
def _give(t, position, place, to):
    """Give a player the card at `place` of the stock; it changes places with that at `to`, where the dealt ones end."""
    at = _u(position)
    card = t.stock[_u(place)]
    t.stock[_u(place)] = t.stock[_u(to)]
    t.stock[_u(to)] = card
    t.hands[at], t.hands_twice[at] = with_card(t.hands[at], t.hands_twice[at], np.int64(card))


@kernel
def deal_unseen(trial):
    """Deal the unseen cards to the other players, weighed, and leave the rest as a stock that is not yet shuffled.

    Returns whether there are enough of them, as there are in any view but one made by hand.
    """
    t = trial.known
    sight = t.sight
    players = sight.players
    own = sight.position
    t.game = _u(trial.number)
    used = 0
    slots = 0
    for position in range(players):
        if position != own:
            t.hands[_u(position)] = 0
            t.hands_twice[_u(position)] = 0
            trial.free[_u(position)] = sight.counts[_u(position)]
            slots += sight.counts[_u(position)]
    if not trial.in_hands <= slots <= trial.hidden:
        return False
    for i in range(trial.hidden):
        t.stock[_u(i)] = trial.unseen[_u(i)]
    dealt = _0
    while dealt < trial.in_hands:
        # Each free place of a hand is as likely, but for what its player seems to lack.
        for _ in range(_TRIES):
            word = _word(t, used) * _u(slots)
            used += 1
            place = np.int64(word >> _u(32))
            position = 0
            while position == own or place >= trial.free[_u(position)]:
                if position != own:
                    place -= trial.free[_u(position)]
                position += 1
            if _keeps(trial, position, t.stock[_u(dealt)], word):
                break
        _give(t, position, dealt, dealt)
        trial.free[_u(position)] -= 1
        slots -= 1
        dealt += 1
    for position in range(players):
        if position == own:
            continue
        for _ in range(trial.free[_u(position)]):
            place = dealt
            for _ in range(_TRIES):
                word = _word(t, used) * _u(trial.hidden - dealt)
                used += 1
                place = dealt + np.int64(word >> _u(32))
                if _keeps(trial, position, t.stock[_u(place)], word):
                    break
            _give(t, position, place, dealt)
            dealt += 1
    t.stock_low = dealt
    t.stock_high = trial.hidden
    t.settled = dealt
    t.page = -1
    return True


@kernel
def _play_out(trial):
    known = trial.known
    table = trial.table
    crew = trial.crew
    own = _u(known.sight.position)
    if not deal_unseen(trial):
        return np.int64(-1)
    for first in range(0, known.sight.players, LUCK_GROUP):
        fill_luck_of_group(known.luck, known.places, known.seed, known.game, first)
    crew.play[own] = address_of_strategy(answer_play)
    crew.suit[own] = address_of_strategy(answer_suit)
    crew.stop[own] = address_of_strategy(answer_stop)
    for i in range(trial.answers):
        at = _u(i)
        if not trial.tried[at]:
            continue
        copy_record(table, known)
        crew.params[own, 0] = trial.answer[at]
        if play_from(trial.rule, table, crew, trial.turn_of, trial.question) < 0:
            return np.int64(-1)
        trial.won[at] = table.winner == known.sight.position
        trial.own[at] = table.scored[own]
        total = np.int64(0)
        for position in range(known.sight.players):
            total += table.scored[_u(position)]
        trial.others[at] = total - table.scored[own]
    return _0


# --- The way in -------------------------------------------------------------------------------------------------------


def play_out(trials: Any, number: int) -> int:
    """Play every answer out that is still tried, in roll-out `number`; what comes of it is then in the trial.

    Returns 0, or -1 if the policy has failed or the view contradicts itself. Compiled code does not contain the engine
    but calls it through an address, so that a strategy that rolls out compiles as fast as any other.
    """
    trials[0]["number"] = number
    return int(_play_out(trials[0]))


@overload(play_out)
def _play_out_at(trials, number):
    def call(trials, number):
        trial = trials[0]
        trial.number = number
        return _call_strategy(trial.play_out, trial)

    return call


def policy_record(crew: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A POLICY record, shape (), of a line-up (dtype CREW) that plays alike in every seat; compiles `play_out`."""
    compiled = _play_out.get_compile_result(types.int64(_trial_type))
    policy = np.zeros((), POLICY)
    policy["crew"] = crew
    policy["play_out"] = compiled.library.get_pointer_to_function(compiled.fndesc.llvm_func_name)
    return policy
