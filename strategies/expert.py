"""The strong strategy: it plays every answer out in its head, many times, and gives the one that does best.

It starts from what its policy would answer, and leaves that only for an answer that has done better by more than luck
would explain (`SURE`): so it is hardly ever worse than its policy, and better where the hand at table differs from what
the policy was made for. All answers meet the same cards and the same luck, so few roll-outs tell much.
"""

import numpy as np

from sim.bits import lowest_card
from sim.cards import RANK_MASK
from sim.compiled import kernel, numbers
from sim.engine import ASKED_PLAY, ASKED_STOP, ASKED_SUIT
from sim.record import OWN
from sim.rollout import MOST_ANSWERS, TRIAL, add_answer, play_out, set_up
from strategies.params import within
from strategies.registry import strategy
from strategies.toolkit import DRAW, PASS

FIRST_LOOK = 32
"""Roll-outs after which answers that have done no better than the policy's are given up; then after twice as many …"""
SURE = 2.0
"""Standard errors by which an answer must have done better than the policy's."""
HAND = 100.0
"""Points that a hand won is worth, where both count."""
WINS, POINTS = numbers(3)[1:]

_u = np.uint64
_ONE = np.uint64(1)


@kernel
def _add_plays(trials, view):
    """Add every answer that a play may be beside the policy's own; of wilds that are alike, one."""
    policy = trials[0].answer[0]
    cards = view.playable
    alike = _u(0) if trials[0].rule.wild_suit == OWN else view.wilds
    if policy < DRAW:
        cards = _without(cards, policy, alike)
    while cards:
        card = lowest_card(cards)
        cards = _without(cards, card, alike)
        add_answer(trials, card)
    if view.may_draw and policy != DRAW:
        add_answer(trials, DRAW)
    if view.may_pass and policy != PASS:
        add_answer(trials, PASS)


@kernel
def _without(cards, card, alike):
    """Take a card out of a set, with those of its rank if it is one of those that are alike."""
    bit = _ONE << _u(card)
    return cards & ~(RANK_MASK << (_u(card) & _u(15)) if alike & bit else bit)


@kernel
def _worth(trial, answer, score):
    """What the last roll-out of an answer came to."""
    if score == WINS:
        return float(trial.won[answer])
    others = trial.known.sight.players - 1
    ahead = trial.own[answer] - trial.others[answer] / others
    if not trial.rule.highest:
        ahead = -ahead
    return ahead if score == POINTS else trial.won[answer] + ahead / HAND


@kernel
def _look(trial, total):
    """Give up the answers that have done no better than the policy's; returns how many are left."""
    left = trial.answers
    for i in range(1, trial.answers):
        if total[_u(i)] <= 0:
            trial.tried[_u(i)] = 0
        left -= 1 - trial.tried[_u(i)]
    return left


@kernel
def _best(trials, rollouts, score):
    """Play all answers out and give the one that did best, or the policy's (number 0) if none did surely better."""
    trial = trials[0]
    # What each answer was worth more than the policy's, and the squares of that, over all roll-outs.
    total = np.zeros(MOST_ANSWERS)
    squares = np.zeros(MOST_ANSWERS)
    look = FIRST_LOOK
    for number in range(rollouts if trial.answers > 1 else 0):
        if play_out(trials, number) < 0:
            raise ValueError("no roll-out can be played: the policy has failed, or the view contradicts itself")
        policy = _worth(trial, _u(0), score)
        for i in range(1, trial.answers):
            at = _u(i)
            if trial.tried[at]:
                more = _worth(trial, at, score) - policy
                total[at] += more
                squares[at] += more * more
        if number + 1 == look:
            look += look
            if _look(trial, total) == 1:
                break
    best = 0
    for i in range(1, trial.answers):
        at = _u(i)
        if trial.tried[at] and total[at] > total[_u(best)]:
            # se of the mean squared, times the roll-outs squared; of rounding there may be less than nothing left
            spread = max(squares[at] - total[at] * total[at] / rollouts, 0.0)
            if total[at] * total[at] > SURE * SURE * spread:
                best = i
    return trial.answer[_u(best)]


def expert_suit(view, rollouts, policy, score):
    """Declare the suit that does best."""
    trials = np.zeros(1, TRIAL)
    set_up(trials, view, policy, ASKED_SUIT)
    for suit in range(4):
        if suit != trials[0].answer[0]:
            add_answer(trials, suit)
    return _best(trials, rollouts, score)


def expert_stop(view, rollouts, policy, score):
    """Stop the hand or go on, whichever does better."""
    trials = np.zeros(1, TRIAL)
    set_up(trials, view, policy, ASKED_STOP)
    add_answer(trials, 1 - trials[0].answer[0])
    return _best(trials, rollouts, score)


@strategy(
    "expert",
    idea="plays each answer out on cards dealt as they may lie; leaves its policy's for one that does better",
    suit=expert_suit,
    stop=expert_stop,
    params={
        "rollouts": within(400, 1, 1_000_000),
        "policy": "suit-counting",
        "score": ("both", "wins", "points"),  # what an answer is judged by: see HAND
    },
)
def expert(view, rollouts, policy, score):
    """Play what does best: a card, a draw or a pass; at a penalty draw, answer or take."""
    trials = np.zeros(1, TRIAL)
    set_up(trials, view, policy, ASKED_PLAY)
    _add_plays(trials, view)
    return _best(trials, rollouts, score)
