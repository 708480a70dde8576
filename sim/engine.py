"""The compiled engine: deal, one turn, a hand, a match.

Compiled once for all rules, line-ups and numbers of players: the rules come as a record of small integers
(`sim.record`), the hand in play is one flat record (`sim.table.TABLE`), and strategies are called through their
addresses. The words are those of docs/rules.md, and so is the order of what happens in a turn.

Everything here works on positions (0 is left of the dealer); seats come in only where a stream or a strategy belongs
to a player (`table.seat`). Small integers are int64, sets of cards uint64; indices are made unsigned (`_u`), because
numba spends time on the sign of an index.

Most hands are played under rules without actions, copies of cards and the like. The turn is compiled a second time for
them (`usual`, a constant to the compiler, with `rule.usual`), without the questions that never arise there: a tenth of
the time.

A table may keep a log: rows of `LOG_COLUMNS` int64 at an address, into which every event of a hand is written
(`sim.trace` reads it). Addresses, and records in place of arrays throughout, because numba counts references to an
array each time it is handed on, which cost more than the game.
"""

import numpy as np
from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from sim.bits import count_cards, lowest_card, nth_card
from sim.cards import JOKER_CODE, JOKERS_MASK, NO_SUIT, RANK_MASK, SUIT_MASK
from sim.compiled import kernel, numbers
from sim.memory import address_of, store_int
from sim.record import (
    AGAIN,
    ANY_CARD,
    BURY,
    DEALER_DECLARES,
    DELAYED,
    DIFFERENCE,
    DRAW,
    EXTRA_ALL,
    EXTRA_TIED,
    MUST,
    NO,
    OFF,
    OWN,
    OWN_SUIT_STARTER,
    PLAIN,
    REVERSE,
    SAME_RANK,
    SKIP,
    VOID,
)
from sim.streams import (
    CALL,
    DEALER,
    DECK,
    ILLEGAL,
    LUCK_EACH,
    LUCK_GROUP,
    MISDEAL,
    PAGE_WORDS,
    RESHUFFLE,
    SEAT,
    below,
    block,
    fill_luck,
    fill_luck_of_group,
    fill_words,
    where,
)
from sim.table import ACT_DRAW, ACT_PASS, BLOCKED, CAPPED, MOST_PARAMS, OUT, STOPPED

# What can go wrong in a hand; a status below 0 stops the run.
RAISED = -(1 << 62)
"""Returned in place of an action by a strategy that raised an exception."""
FAULT = np.int64(-1)
"""A strategy answered something that it may not do, or raised."""
NO_STARTER = np.int64(-2)
"""A deck that was given holds no card that may open."""

HAND_OVER = np.int64(-3)
"""Returned in place of the next position when a player has gone out."""

# What a step of a turn leads to, if it is not the code of a card to lay:
TURN_GOES_ON = np.int64(-4)
"""The player still has its own play."""
TURN_OVER = np.int64(-5)
"""The player lays nothing, and the next one is to act."""
STOP_CALLED = np.int64(-6)
"""The player has stopped the hand."""

ASKED_PLAY, ASKED_SUIT, ASKED_STOP = numbers(3)

(
    LOG_DEALT,
    LOG_BURIED,
    LOG_STARTER,
    LOG_PLAY,
    LOG_DRAW,
    LOG_PASS,
    LOG_DECLARE,
    LOG_RESHUFFLE,
    LOG_LAST_CARD,
    LOG_ILLEGAL,
    LOG_STOP,
    LOG_END,
) = numbers(12)
LOG_COLUMNS = 7
"""Event, turn, position, and up to four values."""

WHY_STUCK, WHY_VOLUNTARY, WHY_PENALTY, WHY_LAST_CARD, WHY_ILLEGAL, WHY_FINAL = numbers(6)

HAND_CAP = 10_000
"""Hands after which a match is given up, counted as capped: under void or endless rules it might never end."""
REPLAYS = 4
"""Times that the same cards can be played with other luck of the players' own: their streams have room for so many."""
REPLAY_STEP = (1 << 16) // REPLAYS
WHOLE = 2520
"""A match win in parts: divisible by every number of players who may share it."""

AHEAD = 8
"""Cards that are shuffled at once when the next one is drawn."""

_u = np.uint64
_ONE = np.uint64(1)
_0 = np.int64(0)
_1 = np.int64(1)


@intrinsic
def _call_strategy(typingctx, address, sight):
    """Call the compiled function at an address with a view; RAISED if it ends in an exception.

    Follows numba's own convention for compiled functions (status returned, value and exception through pointers), so
    that a strategy is an ordinary cached kernel and an exception in it is noticed, which a C callback could not do.
    """
    if not isinstance(sight, types.Record):
        return None

    def code(context, builder, signature, args):
        target, view = args
        number, status, byte_pointer = ir.IntType(64), ir.IntType(32), ir.IntType(8).as_pointer()
        kind = ir.FunctionType(status, [number.as_pointer(), byte_pointer.as_pointer(), view.type])
        function = builder.inttoptr(target, kind.as_pointer())
        answer = cgutils.alloca_once(builder, number)
        exception = cgutils.alloca_once(builder, byte_pointer)
        # Nothing is written there when it raises; to look at the status would be one more step to wait for.
        builder.store(ir.Constant(number, RAISED), answer)
        builder.call(function, [answer, exception, view])
        return builder.load(answer)

    return types.int64(types.int64, sight), code


@kernel
def _write_row(t, event, position, a, b, c, d):
    if t.logged < t.log_room:
        at = t.log + t.logged * LOG_COLUMNS * 8
        store_int(at, event)
        store_int(at + 8, t.sight.turn)
        store_int(at + 16, position)
        store_int(at + 24, a)
        store_int(at + 32, b)
        store_int(at + 40, c)
        store_int(at + 48, d)
    t.logged += 1


@kernel(inline=True)
def _write(t, event, position, a, b, c, d):
    """Write an event down if the table keeps a log; beyond its end only count, so that a longer one can be brought."""
    if t.log_room:
        _write_row(t, event, position, a, b, c, d)


# --- Cards in words -------------------------------------------------------------------------------------------------


@kernel
def with_card(cards, twice, card):
    """The pair of words with one more card, where equal cards may be held."""
    bit = _ONE << _u(card)
    if card == JOKER_CODE:
        free = JOKERS_MASK & ~cards
        if free != 0:
            return cards | (free & (~free + _ONE)), twice
        free = JOKERS_MASK & ~twice
        return cards, twice | (free & (~free + _ONE))
    if cards & bit:
        return cards, twice | bit
    return cards | bit, twice


@kernel
def without_card(cards, twice, card):
    """The pair of words with one card less; it must be held."""
    bit = _ONE << _u(card)
    if card == JOKER_CODE:
        bit = JOKERS_MASK & ~(JOKERS_MASK >> _u(16))  # the highest joker bit
        if twice & JOKERS_MASK:
            while not twice & bit:
                bit >>= _u(16)
            return cards, twice & ~bit
        while not cards & bit:
            bit >>= _u(16)
        return cards & ~bit, twice
    if twice & bit:
        return cards, twice & ~bit
    return cards & ~bit, twice


@kernel(inline=True)
def points_of(rule, cards):
    """The points of the cards in one word: two looked up for each suit, so that no branch depends on the cards."""
    total = np.int64(0)
    for suit in range(4):
        ranks = cards >> _u(16 * suit)
        total += rule.worth_low[ranks & _u(0xFF)] + rule.worth_high[ranks >> _u(8) & _u(0xFF)]
    return total


@kernel
def _hand_points(rule, t, position):
    total = points_of(rule, t.hands[_u(position)])
    if rule.copies:
        total += points_of(rule, t.hands_twice[_u(position)])
    return total


@kernel(inline=True)
def _match(rule, card, suit):
    """The cards, not wild, of the rank of a card or of a suit."""
    return (RANK_MASK << (_u(card) & _u(15)) | SUIT_MASK << (_u(16) * _u(suit))) & rule.plain


@kernel(inline=True)
def _may_follow(rule, sight):
    """The cards that may be laid on the top card now."""
    if sight.any_card:
        cards = rule.plain
    elif sight.active_suit == NO_SUIT:
        cards = _u(0)
    else:
        cards = _match(rule, sight.top, sight.active_suit)
    if rule.on_wild or not rule.wilds >> _u(sight.top) & _ONE:
        cards |= rule.wilds
    return cards


# --- The stock ------------------------------------------------------------------------------------------------------


@kernel
def _shuffle_to(t, end):
    """Give the stock its final order up to place `end`: forward Fisher-Yates, word by word of the deck's stream."""
    at = t.settled
    while at < end:
        word = t.word + at
        page = word // PAGE_WORDS
        if page != t.page:
            fill_words(t.words, t.seed, t.game, where(t.purpose, _0, t.hand_number), page)
            t.page = page
        stop = min(end, (page + 1) * PAGE_WORDS - t.word)
        first = word - page * PAGE_WORDS - at
        for low in range(at, stop):
            other = low + below(t.words[_u(first + low)], t.stock_high - low)
            card = t.stock[_u(low)]
            t.stock[_u(low)] = t.stock[_u(other)]
            t.stock[_u(other)] = card
        at = stop
    t.settled = end


@kernel(inline=True)
def _next_card(t, low):
    """The card at `low`, which is next in the stock; the stock is shuffled a few cards ahead of what is drawn."""
    if low >= t.settled:
        _shuffle_to(t, min(low + AHEAD, t.stock_high))
    return np.int64(t.stock[_u(low)])


@kernel(inline=True)
def _can_give(rule, t):
    return t.stock_low < t.stock_high or (rule.reshuffle and t.sight.discards > 1)


@kernel
def _turn_over_discards(t):
    """Reshuffle: the discards but the top become the stock."""
    sight = t.sight
    if t.purpose == DECK:
        t.purpose = RESHUFFLE
        t.word = 0
        t.page = -1
    else:
        t.word += t.stock_high
    under = sight.discards - 1
    for i in range(under):
        t.stock[_u(i)] = t.discards[_u(i)]
    t.discards[0] = sight.top
    t.stock_low = 0
    t.stock_high = under
    t.settled = 0
    gone, gone_twice = without_card(sight.pile, sight.pile_twice, sight.top)
    sight.earlier |= gone
    sight.earlier_twice |= gone_twice
    sight.pile, sight.pile_twice = with_card(_u(0), _u(0), sight.top)
    sight.stock = t.stock_high
    sight.discards = 1
    t.reshuffles += 1
    _write(t, LOG_RESHUFFLE, _0, t.stock_high, _0, _0, _0)


@kernel(inline=True)
def _draw_card(rule, t, position, why, usual):
    """Give a player the next card of the stock, which must be able to give one."""
    if t.stock_low == t.stock_high:
        _turn_over_discards(t)
    low = t.stock_low
    card = _next_card(t, low)
    t.stock_low = low + 1
    sight = t.sight
    sight.stock = t.stock_high - low - 1
    at = _u(position)
    if not usual and rule.copies:
        t.hands[at], t.hands_twice[at] = with_card(t.hands[at], t.hands_twice[at], card)
    else:
        t.hands[at] |= _ONE << _u(card)
    sight.counts[at] += 1
    t.cards_drawn += 1
    if not usual:
        _write(t, LOG_DRAW, position, card, why, _0, _0)


@kernel
def _penalise(rule, t, position, number, why):
    """Give a player up to `number` cards, as many as the stock can; returns how many."""
    given = 0
    while given < number and _can_give(rule, t):
        _draw_card(rule, t, position, why, False)
        given += 1
    if given == 0 and number > 0:
        _write(t, LOG_DRAW, position, -_1, why, _0, _0)
    return given


# --- Asking ---------------------------------------------------------------------------------------------------------


@kernel(inline=True)
def _ask(t, crew, address, position, playable, may_draw, may_pass):
    """Put a question to a strategy of the crew, at a position, and give back its answer."""
    sight = t.sight
    at = _u(position)
    asked = t.questions[at]
    t.questions[at] = asked + 1
    slot = _u(asked) & _u(LUCK_EACH - 1)
    start = at * _u(2 * LUCK_EACH)
    if slot == 0 and asked:
        fill_luck(t.luck, start, t.seed, t.game, t.places[at * _u(LUCK_GROUP)], asked // LUCK_EACH)
    word = start + slot + slot
    sight.luck = _u(t.luck[word]) << _u(32) | _u(t.luck[word + _ONE])
    sight.draws = 0
    sight.hand = t.hands[at]
    sight.hand_twice = t.hands_twice[at]
    sight.playable = playable
    sight.may_draw = may_draw
    sight.may_pass = may_pass
    sight.position = position
    sight.params = address_of(crew) + t.seat[at] * (8 * MOST_PARAMS)
    return _call_strategy(address, sight)


@kernel
def _fault(t, position, question, answer):
    """Note what went wrong."""
    t.faulty = position
    t.question = question
    t.answer = answer
    return FAULT


@kernel
def _ask_suit(t, crew, position):
    """The suit that a player declares, or FAULT."""
    suit = _ask(t, crew, crew.suit[_u(t.seat[_u(position)])], position, _u(0), _0, _0)
    return suit if 0 <= suit < 4 else _fault(t, position, ASKED_SUIT, suit)


# --- Playing a card -------------------------------------------------------------------------------------------------


@kernel(inline=True)
def _after(sight, position):
    """The next position in the direction of play."""
    following = position + sight.direction
    if following == sight.players:
        return np.int64(0)
    if following < 0:
        return sight.players - 1
    return following


@kernel
def _take_effect(rule, t, position, effect, card):
    """Carry out an effect (not PLAIN) of a card laid by `position`; returns who is next."""
    sight = t.sight
    if effect == REVERSE:
        if sight.players == 2:
            return position if rule.reverse_skips else _after(sight, position)
        sight.direction = -sight.direction
        return _after(sight, position)
    if effect == AGAIN:
        return position
    following = _after(sight, position)
    if effect == SKIP:
        return _after(sight, following)
    if effect == ANY_CARD:
        sight.any_card = 1
    elif effect == DRAW:
        sight.pending += rule.draw[_u(card) & _u(15)]
        t.chain += 1
        t.longest_chain = max(t.longest_chain, t.chain)
    return following


@kernel
def _perhaps_forget(rule, t, crew, position):
    """The call of a forgetful player who has gone down to one card, and the penalty if it is forgotten and noticed."""
    sight = t.sight
    seat = t.seat[_u(position)]
    w0, w1, _, _ = block(t.seed, t.game, where(CALL, seat, t.luck_number), sight.turn)
    called = w0 >= crew.forget[_u(seat)]
    caught = not called and w1 < crew.notice
    if called:
        sight.called[_u(position)] += 1
    _write(t, LOG_LAST_CARD, position, np.int64(called), np.int64(caught), _0, _0)
    if caught:
        _penalise(rule, t, position, rule.call_penalty, WHY_LAST_CARD)


@kernel(inline=True)
def _lay(rule, t, crew, position, card, usual):
    """Lay a card: suit, effect, last-card call. Returns the next position, HAND_OVER or FAULT."""
    sight = t.sight
    at = _u(position)
    sight.idle = 0
    if not usual and rule.copies:
        t.hands[at], t.hands_twice[at] = without_card(t.hands[at], t.hands_twice[at], card)
        sight.pile, sight.pile_twice = with_card(sight.pile, sight.pile_twice, card)
    else:
        bit = _ONE << _u(card)
        t.hands[at] &= ~bit
        sight.pile |= bit
    lies = sight.discards
    t.discards[_u(lies)] = card
    sight.discards = lies + 1
    sight.top = card
    sight.any_card = 0
    left = sight.counts[at] - 1
    sight.counts[at] = left

    if rule.wilds >> _u(card) & _ONE:
        if not usual and rule.wild_suit == OWN and card != JOKER_CODE:
            sight.active_suit = card >> 4
        elif left == 0:
            sight.active_suit = NO_SUIT
        elif not usual and rule.wild_suit == DELAYED:
            sight.active_suit = NO_SUIT
            sight.declarer = position
        else:
            suit = _ask_suit(t, crew, position)
            if suit == FAULT:
                return suit
            sight.active_suit = suit
        t.closed_on_wild = np.int64(left == 0)
    else:
        suit = card >> 4
        sight.active_suit = suit
        sight.played[at * _u(4) + _u(suit)] += 1
    return _complete(rule, t, crew, position, card, left, usual)


@kernel(inline=True)
def _complete(rule, t, crew, position, card, left, usual):
    """What follows a card once its suit is settled: effect, last-card call. As `_lay`; `left`: cards still in hand."""
    sight = t.sight
    at = _u(position)
    effect = PLAIN if usual else rule.effects[_u(card) & _u(15)]
    if left == 0 and usual:
        return HAND_OVER
    if left == 0:
        due = 0
        if rule.final_applies and effect == DRAW:
            _take_effect(rule, t, position, effect, card)
            due = sight.pending
        sight.pending = due
        _write(t, LOG_PLAY, position, card, sight.active_suit, due, sight.direction)
        if due:
            _penalise(rule, t, _after(sight, position), due, WHY_FINAL)
        return HAND_OVER
    following = _after(sight, position) if effect == PLAIN else _take_effect(rule, t, position, effect, card)
    if not usual:
        _write(t, LOG_PLAY, position, card, sight.active_suit, sight.pending, sight.direction)
    if left == 1 and rule.call:
        if crew.forget[_u(t.seat[at])]:
            _perhaps_forget(rule, t, crew, position)
        else:
            sight.called[at] += 1
            _write(t, LOG_LAST_CARD, position, _1, _0, _0, _0)
    return following


# --- The deal -------------------------------------------------------------------------------------------------------


@kernel
def prepare(rule, t):
    """Write into a table what its view says of the rules; once, before hands under this rule are played on it."""
    sight = t.sight
    sight.rules = address_of(rule)
    sight.wilds = rule.wilds
    sight.penalties = rule.penalties
    sight.pack = rule.cards
    sight.packs = rule.packs
    sight.jokers = rule.jokers
    for rank in range(16):
        sight.points[_u(rank)] = rule.points[_u(rank)]
        sight.effects[_u(rank)] = rule.effects[_u(rank)]


@kernel
def _clear(t):
    """Clear the table for a hand; who sits where, the deal and the keys of chance stay."""
    sight = t.sight
    players = sight.players
    sight.turn = 0
    sight.direction = 1
    sight.any_card = 0
    sight.pending = 0
    sight.drawn = 0
    sight.earlier = 0
    sight.earlier_twice = 0
    t.luck_number = t.hand_number + t.replay * REPLAY_STEP
    for i in range(players):
        sight.called[_u(i)] = 0
        t.questions[_u(i)] = 0
        place = where(SEAT, t.seat[_u(i)], t.luck_number)
        for j in range(LUCK_GROUP):
            t.places[_u(LUCK_GROUP * i + j)] = place
    for i in range(0, players, LUCK_GROUP):
        fill_luck_of_group(t.luck, t.places, t.seed, t.game, i)
    for i in range(4 * players):
        sight.drew_on[_u(i)] = 0
        sight.played[_u(i)] = 0
    sight.declarer = -1
    sight.idle = 0
    sight.taken = 0
    t.chain = 0
    t.cards_drawn = 0
    t.passes = 0
    t.choices = 0
    t.stuck = 0
    t.reshuffles = 0
    t.void_deals = 0
    t.longest_chain = 0
    t.closed_on_wild = 0


@kernel
def _shuffle_and_deal(rule, t):
    """Deal the hands from a new pack, or from the stock if it is given; returns how many cards went."""
    sight = t.sight
    players = sight.players
    t.stock_high = rule.pack_size
    t.settled = t.given
    if not t.given:
        for i in range(rule.pack_size):
            t.stock[_u(i)] = rule.pack[_u(i)]
    most = 0
    cards = 0
    most = 0
    for p in range(players):
        t.hands[_u(p)] = 0
        t.hands_twice[_u(p)] = 0
        sight.counts[_u(p)] = t.deal[_u(p)]
        cards += t.deal[_u(p)]
        most = max(most, t.deal[_u(p)])
    _shuffle_to(t, max(t.settled, cards + 1))  # the starter too
    if most * players == cards and not rule.copies and not t.log_room:
        # The usual case, hand by hand: two thirds of the work of dealing round the table.
        for p in range(players):
            hand = _u(0)
            for i in range(most):
                hand |= _ONE << _u(t.stock[_u(i * players + p)])
            t.hands[_u(p)] = hand
        return cards
    low = 0
    for i in range(most):
        for p in range(players):
            at = _u(p)
            if i < t.deal[at]:
                card = np.int64(t.stock[_u(low)])
                low += 1
                if rule.copies:
                    t.hands[at], t.hands_twice[at] = with_card(t.hands[at], t.hands_twice[at], card)
                else:
                    t.hands[at] |= _ONE << _u(card)
                _write(t, LOG_DEALT, p, card, _0, _0, _0)
    return low


@kernel
def _bury(t, buried, low):
    """Put the `buried` wilds, which lie in `discards`, under the upper half of the stock that begins at `low`.

    The places where they and the starter lay are free: the upper half moves up into them. The stock gets its final
    order first; the words used are those that drawing would use.
    """
    _shuffle_to(t, t.stock_high)
    half = (t.stock_high - low + 1) // 2
    for i in range(half):
        t.stock[_u(low - buried + i)] = t.stock[_u(low + i)]
    for i in range(buried):
        t.stock[_u(low - buried + half + i)] = t.discards[_u(i)]
    return low - buried


@kernel
def _deal(rule, t):
    """Deal a hand until a deal stands, and turn the starter. Returns it, or NO_STARTER for a given deck without one."""
    sight = t.sight
    attempt = 0
    if rule.misdeal:
        place = where(MISDEAL, _0, t.hand_number)
        while block(t.seed, t.game, place, attempt)[0] < rule.misdeal:
            attempt += 1
    t.void_deals = attempt
    t.purpose = DECK
    t.word = 0
    t.page = -1
    begin = t.logged
    while True:
        low = _shuffle_and_deal(rule, t)
        buried = 0
        while low < t.stock_high:
            card = _next_card(t, low)
            low += 1
            wild = rule.wilds >> _u(card) & _ONE
            if not (
                wild and (rule.starter_wild == BURY or (rule.starter_wild == OWN_SUIT_STARTER and card == JOKER_CODE))
            ):
                if buried:
                    low = _bury(t, buried, low)
                t.stock_low = low
                sight.stock = t.stock_high - low
                sight.discards = 1
                t.discards[0] = card
                sight.top = card
                if rule.copies:
                    sight.pile, sight.pile_twice = with_card(_u(0), _u(0), card)
                else:
                    sight.pile = _ONE << _u(card)
                    sight.pile_twice = 0
                return card
            t.discards[_u(buried)] = card
            buried += 1
            _write(t, LOG_BURIED, _0, card, _0, _0, _0)
        if t.given:
            return NO_STARTER
        t.void_deals += 1
        t.word += rule.pack_size
        t.logged = begin


@kernel
def _open(rule, t, crew, card):
    """The starter's suit and effect; returns the first to play, or FAULT."""
    sight = t.sight
    dealer = sight.players - 1
    asks = rule.wilds >> _u(card) & _ONE and rule.starter_wild == DEALER_DECLARES
    sight.active_suit = NO_SUIT if asks else card >> 4
    _write(t, LOG_STARTER, _0, card, sight.active_suit, _0, _0)
    if asks:
        suit = _ask_suit(t, crew, dealer)
        if suit == FAULT:
            return suit
        sight.active_suit = suit
        _write(t, LOG_DECLARE, dealer, suit, _0, _0, _0)
    return _first_to_play(rule, t, card)


@kernel
def _first_to_play(rule, t, starter):
    """Who begins, after the effect of the starter where it has one."""
    effect = rule.effects[_u(starter) & _u(15)]
    if rule.starter_acts and effect != PLAIN:
        return _take_effect(rule, t, t.sight.players - 1, effect, starter)
    return np.int64(0)


# --- A turn ---------------------------------------------------------------------------------------------------------


@kernel
def _declare_delayed(t, crew, position):
    """The player who laid a wild names its suit now that the turn of `position` begins."""
    sight = t.sight
    declarer = sight.declarer
    sight.acting = position
    suit = _ask_suit(t, crew, declarer)
    if suit == FAULT:
        return FAULT
    sight.active_suit = suit
    _write(t, LOG_DECLARE, declarer, suit, _0, _0, _0)
    sight.declarer = -1
    return TURN_GOES_ON


@kernel
def _face_penalty(rule, t, crew, position):
    """Answer a penalty draw or take it. Returns the card that answers, TURN_OVER, TURN_GOES_ON or FAULT."""
    sight = t.sight
    at = _u(position)
    answers = t.hands[at] & rule.penalties
    if rule.stack == SAME_RANK:
        answers &= RANK_MASK << (_u(sight.top) & _u(15))
    elif rule.stack == OFF:
        answers = _u(0)
    if not rule.on_wild and rule.wilds >> _u(sight.top) & _ONE:
        answers &= ~rule.wilds
    if not rule.may_finish and sight.counts[at] == 1:
        answers &= ~rule.wilds
    if answers:
        answer = _ask(t, crew, crew.play[_u(t.seat[at])], position, answers, _1, _0)
        if 0 <= answer < 64 and answers >> _u(answer) & _ONE:
            return answer
        if answer != ACT_DRAW:
            return _fault(t, position, ASKED_PLAY, answer)
    due = sight.pending
    sight.pending = 0
    t.chain = 0
    given = _penalise(rule, t, position, due, WHY_PENALTY)
    if rule.loses_turn:
        sight.idle = 0
        return TURN_OVER
    sight.taken = given
    return TURN_GOES_ON


@kernel
def _try_illegal(rule, t, crew, position, playable):
    """Perhaps the player tries a card that does not match. As `_face_penalty`; TURN_GOES_ON if it does not."""
    seat = t.seat[_u(position)]
    wrong = t.hands[_u(position)] & rule.cards & ~playable
    if not wrong:
        return TURN_GOES_ON
    sight = t.sight
    w0, w1, w2, _ = block(t.seed, t.game, where(ILLEGAL, seat, t.luck_number), sight.turn)
    if w0 >= crew.illegal[_u(seat)]:
        return TURN_GOES_ON
    card = nth_card(wrong, below(w1, count_cards(wrong)))
    caught = w2 < crew.notice
    _write(t, LOG_ILLEGAL, position, card, np.int64(caught), _0, _0)
    if not caught:
        return np.int64(card)
    sight.idle = 0
    _penalise(rule, t, position, rule.illegal_penalty, WHY_ILLEGAL)
    return TURN_OVER


@kernel
def _after_stop(rule, t, crew, position):
    """What may come between the stop and a turn's own play: delayed suit, penalty draw. As `_face_penalty`."""
    sight = t.sight
    if sight.declarer >= 0 and _declare_delayed(t, crew, position) == FAULT:
        return FAULT
    if sight.pending > 0:
        return _face_penalty(rule, t, crew, position)
    return TURN_GOES_ON


@kernel
def _begin_turn(rule, t, crew, position):
    """What may come before a turn's own play: stop, delayed suit, penalty draw. As `_face_penalty`, or STOP_CALLED."""
    if rule.stop_points > 0 and _hand_points(rule, t, position) <= rule.stop_points:
        answer = _ask(t, crew, crew.stop[_u(t.seat[_u(position)])], position, _u(0), _0, _0)
        if answer == 1:
            _write(t, LOG_STOP, position, _0, _0, _0, _0)
            return STOP_CALLED
        if answer != 0:
            return _fault(t, position, ASKED_STOP, answer)
    return _after_stop(rule, t, crew, position)


@kernel(inline=True)
def _own_play(rule, t, crew, position, follow, usual):
    """A turn's own play: draw where the rules let it or force it, then a card or a pass. As `_face_penalty`."""
    sight = t.sight
    at = _u(position)
    seat = _u(t.seat[at])
    if not usual and not rule.may_finish and sight.counts[at] == 1:
        follow &= ~rule.wilds
    held = t.hands[at]
    playable = held & follow
    if not usual and crew.errs and crew.illegal[seat]:
        tried = _try_illegal(rule, t, crew, position, playable)
        if tried != TURN_GOES_ON:
            return tried
    if playable == 0:
        t.stuck += 1
    return _choose(rule, t, crew, position, follow, held, playable, _0, usual)


@kernel(inline=True)
def _choose(rule, t, crew, position, follow, held, playable, drawn, usual):
    """The choices of a turn's own play after `drawn` cards; `held`: what it held before. As `_face_penalty`."""
    sight = t.sight
    at = _u(position)
    seat = _u(t.seat[at])
    asked = False
    card = TURN_OVER
    while True:
        more = drawn < rule.limit and (playable == 0 or (not usual and rule.voluntary)) and _can_give(rule, t)
        if playable:
            may_pass = drawn > 0 and not more and rule.play_drawn != MUST
            if not (more or may_pass or playable & (playable - _ONE)):
                card = np.int64(lowest_card(playable))
                break
            if not asked:
                asked = True
                t.choices += 1
            answer = _ask(t, crew, crew.play[seat], position, playable, np.int64(more), np.int64(may_pass))
            if 0 <= answer < 64 and playable >> _u(answer) & _ONE:
                card = answer
                break
            if answer == ACT_PASS and may_pass:
                break
            if answer != ACT_DRAW or not more:
                return _fault(t, position, ASKED_PLAY, answer)
        elif not more:
            break
        _draw_card(rule, t, position, WHY_VOLUNTARY if playable else WHY_STUCK, usual)
        drawn += 1
        sight.drawn = drawn
        if not usual and drawn == 1 and not rule.may_finish:
            follow = _may_follow(rule, sight)  # a lone wild is no longer the last card
        playable = follow & (held if rule.play_drawn == NO else t.hands[at])
    if drawn or card < 0:
        sight.drew_on[at * _u(4) + _u(sight.active_suit)] += 1
    if card < 0:
        t.passes += 1
        sight.idle = 0 if drawn + sight.taken > 0 else sight.idle + 1
        if not usual:
            _write(t, LOG_PASS, position, _0, _0, _0, _0)
    return card


# --- A hand ---------------------------------------------------------------------------------------------------------


@kernel
def _lowest_hand(t, start):
    """Who wins a hand that nobody went out of: fewest points, then fewest cards, then first from `start` on."""
    sight = t.sight
    best = start
    position = start
    for _ in range(sight.players - 1):
        position = _after(sight, position)
        at, other = _u(position), _u(best)
        if t.points_left[at] < t.points_left[other] or (
            t.points_left[at] == t.points_left[other] and sight.counts[at] < sight.counts[other]
        ):
            best = position
    return best


@kernel
def _settle(rule, t, reason, position):
    """Winner and scores of a hand that has ended; `position`: who went out or stopped it, else who would act next."""
    sight = t.sight
    players = sight.players
    total = 0
    for p in range(players):
        at = _u(p)
        t.points_left[at] = _hand_points(rule, t, p) if sight.counts[at] else 0
        t.scored[at] = 0
        total += t.points_left[at]
    t.reason = reason
    nobody_out = reason in (BLOCKED, CAPPED)
    if nobody_out and rule.blocked_score == VOID:
        t.winner = -1
        return
    winner = position
    if reason != OUT:
        winner = _lowest_hand(t, position)
        if reason == STOPPED and t.points_left[_u(position)] == t.points_left[_u(winner)]:
            winner = position
    t.winner = winner
    own = t.points_left[_u(winner)]
    less = own if nobody_out and rule.blocked_score == DIFFERENCE else 0
    if rule.winner_collects:
        t.scored[_u(winner)] = total - own - less * (players - 1)
        return
    for p in range(players):
        if p != winner or (nobody_out and rule.blocked_score != DIFFERENCE):
            t.scored[_u(p)] = t.points_left[_u(p)] - less


@kernel(inline=True)
def _carry_out(rule, t, crew, position, card, usual):
    """Carry out what a turn came to (see `_face_penalty`).

    Returns who is next, HAND_OVER if the hand has ended and is settled, or FAULT.
    """
    sight = t.sight
    if card >= 0:
        following = _lay(rule, t, crew, position, card, usual)
        if following < 0:
            if following == HAND_OVER:
                _settle(rule, t, OUT, position)
            return following
    elif card == TURN_OVER:
        following = _after(sight, position)
        if sight.idle == sight.players:
            _settle(rule, t, BLOCKED, following)
            return HAND_OVER
    elif card == STOP_CALLED:
        _settle(rule, t, STOPPED, position)
        return HAND_OVER
    else:
        return FAULT
    if sight.turn >= rule.turn_cap:
        _settle(rule, t, CAPPED, following)
        return HAND_OVER
    return following


@kernel(inline=True)
def _play_turns(rule, t, crew, position, usual):
    """The turns of `play_turns`; with `usual` only where the rules and the line-up are."""
    sight = t.sight
    special = not usual and (rule.stop_points > 0 or rule.wild_suit == DELAYED or rule.penalties != 0)
    follow = _may_follow(rule, sight)
    while True:
        sight.turn += 1
        sight.drawn = 0
        card = TURN_GOES_ON
        if special:
            sight.taken = 0
            card = _begin_turn(rule, t, crew, position)
            follow = _may_follow(rule, sight)
        if card == TURN_GOES_ON:
            card = _own_play(rule, t, crew, position, follow, usual)
        following = _carry_out(rule, t, crew, position, card, usual)
        if following < 0:
            return t.reason if following == HAND_OVER else FAULT
        position = following
        if card >= 0:
            # A card that is not wild says itself what may follow, without the way through memory.
            if usual and rule.wilds >> _u(card) & _ONE:
                follow = _match(rule, card, sight.active_suit) | rule.wilds
            elif not usual and (rule.wilds >> _u(card) & _ONE or sight.any_card):
                follow = _may_follow(rule, sight)
            else:
                follow = rule.follow[_u(card)]


@kernel
def play_turns(rule, t, crew, position):
    """Play a hand on from `position`, whose turn it is, to its end. Returns how it ended (OUT …) or FAULT.

    The hand may be one just dealt or any copy of one in play.
    """
    if rule.usual and not crew.errs and not t.log_room:
        return _play_turns(rule, t, crew, position, True)
    return _play_turns(rule, t, crew, position, False)


@kernel
def play_from(rule, t, crew, position, question):
    """Put a question again (ASKED_PLAY …) on a table that stands where it was put, and play the hand on from there.

    `position`: whose turn it is. The strategies of `crew` need not be those that played so far. Returns as
    `play_turns`.
    """
    sight = t.sight
    if question == ASKED_SUIT and sight.declarer < 0:
        asked = position if sight.turn else sight.players - 1
        suit = _ask_suit(t, crew, asked)
        if suit == FAULT:
            return FAULT
        sight.active_suit = suit
        if sight.turn:
            following = _complete(rule, t, crew, asked, sight.top, sight.counts[_u(asked)], False)
        else:
            following = _first_to_play(rule, t, sight.top)
        if sight.turn >= rule.turn_cap:
            _settle(rule, t, CAPPED, following)
            return CAPPED
        return play_turns(rule, t, crew, following)
    if question == ASKED_STOP:
        card = _begin_turn(rule, t, crew, position)
    elif question == ASKED_SUIT or sight.pending > 0:
        card = _after_stop(rule, t, crew, position)
    else:
        card = _choose_again(rule, t, crew, position)
    if card == TURN_GOES_ON:
        card = _own_play(rule, t, crew, position, _may_follow(rule, sight), False)
    following = _carry_out(rule, t, crew, position, card, False)
    if following < 0:
        return t.reason if following == HAND_OVER else FAULT
    return play_turns(rule, t, crew, following)


@kernel
def _choose_again(rule, t, crew, position):
    """Put the question of a turn's own play again, with what the view says is playable. As `_face_penalty`."""
    sight = t.sight
    follow = _may_follow(rule, sight)
    if not rule.may_finish and sight.counts[_u(position)] == 1:
        follow &= ~rule.wilds
    # Where only cards held before the turn may be played, what is playable stays as it is, whatever is drawn.
    return _choose(rule, t, crew, position, follow, sight.playable, sight.playable, sight.drawn, False)


@kernel
def play_hand(rule, t, crew):
    """Deal and play one hand on a table whose players, seats, deal and keys are set.

    Returns as `play_turns`; NO_STARTER if the table's stock is given and holds no card that may open.
    """
    _clear(t)
    starter = _deal(rule, t)
    if starter == NO_STARTER:
        return NO_STARTER
    first = _open(rule, t, crew, starter)
    if first == FAULT:
        return FAULT
    reason = play_turns(rule, t, crew, first)
    if reason >= 0:
        _write(t, LOG_END, t.winner, reason, _0, _0, _0)
    return reason


@kernel
def seat_players(rule, t, players, dealer):
    """Seat all players of a single hand, with `dealer` (a seat) last, and give each the cards of the rule."""
    t.sight.players = players
    seat = dealer
    for p in range(players):
        seat += 1
        if seat == players:
            seat = 0
        t.seat[_u(p)] = seat
        t.deal[_u(p)] = rule.cards_each


# --- A match --------------------------------------------------------------------------------------------------------


@kernel
def _best_total(rule, m, seat):
    """Whether no seat has a better total in the match than this one."""
    for other in range(m.players):
        ahead = m.totals[_u(other)] - m.totals[_u(seat)]
        if (ahead > 0 if rule.highest else ahead < 0) and m.contends[_u(other)]:
            return False
    return True


@kernel
def begin_match(m, players, seed, game, rotation, first_dealer):
    """Set a match to its start. `first_dealer`: a seat, or -1: drawn by chance, then moved on by `rotation`."""
    if first_dealer < 0:
        word = block(seed, game, where(DEALER, _0, _0), _0)[0]
        first_dealer = (below(word, players) + rotation) % players
    m.players = players
    m.first_dealer = first_dealer
    m.dealer = first_dealer
    m.hands = 0
    m.turns = 0
    m.extra = 0
    m.over = 0
    m.capped = 0
    m.playing = players
    for s in range(players):
        at = _u(s)
        m.totals[at] = 0
        m.hands_won[at] = 0
        m.plays[at] = 1
        m.contends[at] = 1
        m.share[at] = 0


@kernel
def seat_match_hand(rule, t, m, seed, game):
    """Seat who takes part in the match's next hand; `rule` is the one for their number."""
    sight = t.sight
    sight.players = m.playing
    p = 0
    for i in range(1, m.players + 1):
        seat = (m.dealer + i) % m.players
        if m.plays[_u(seat)]:
            at = _u(p)
            t.seat[at] = seat
            t.deal[at] = rule.cards_each - rule.countdown * m.hands_won[_u(seat)]
            sight.totals[at] = m.totals[_u(seat)]
            p += 1
    t.seed = seed
    t.game = game
    t.hand_number = m.hands


@kernel
def _win_match(m, winners):
    """The match is over; `winners` seats that still contend share it."""
    m.over = 1
    for s in range(m.players):
        if m.contends[_u(s)]:
            m.share[_u(s)] = WHOLE // winners


@kernel
def _decide(rule, m, last_winner):
    """Whether the match is decided now that a target is reached; if not, who plays the extra hand."""
    best = 0
    last_winner_is_best = False
    for s in range(m.players):
        if m.contends[_u(s)] and _best_total(rule, m, s):
            m.plays[_u(s)] = 2  # marks the best while the others are still compared
            best += 1
            last_winner_is_best = last_winner_is_best or s == last_winner
    settled = best == 1 or (rule.tie == EXTRA_TIED and m.extra > 0 and last_winner_is_best)
    if settled or rule.tie not in (EXTRA_ALL, EXTRA_TIED):
        by_last_hand = settled and best > 1
        for s in range(m.players):
            m.contends[_u(s)] = np.int64(s == last_winner if by_last_hand else m.plays[_u(s)] == 2)
        _win_match(m, 1 if settled else best)
        return
    m.extra += 1
    if rule.tie == EXTRA_ALL:
        for s in range(m.players):
            m.plays[_u(s)] = 1
        return
    m.playing = best
    for s in range(m.players):
        tied = np.int64(m.plays[_u(s)] == 2)
        m.plays[_u(s)] = tied
        m.contends[_u(s)] = tied


@kernel
def _win_alone(m, seat):
    for s in range(m.players):
        m.contends[_u(s)] = np.int64(s == seat)
    _win_match(m, 1)


@kernel
def _next_to_play(m, seat):
    """The next seat that takes part in the match's next hand."""
    while True:
        seat = (seat + 1) % m.players
        if m.plays[_u(seat)]:
            return seat


@kernel
def _give_to_who_has_none(rule, m):
    """In an extra hand of fewer cards the countdown may leave somebody none: the first of those has won."""
    seat = m.dealer
    for _ in range(m.playing):
        seat = _next_to_play(m, seat)
        if rule.cards_each <= rule.countdown * m.hands_won[_u(seat)]:
            _win_alone(m, seat)
            return


@kernel
def score_match_hand(rules, rule, t, m):
    """Add the hand just played to its match; sets `over`, the next dealer and who plays on."""
    winner = -1
    reached = m.extra > 0
    for p in range(t.sight.players):
        seat = t.seat[_u(p)]
        m.totals[_u(seat)] += t.scored[_u(p)]
        reached = reached or m.totals[_u(seat)] >= rule.target
    m.hands += 1
    m.turns += t.sight.turn
    if t.winner >= 0:
        winner = t.seat[_u(t.winner)]
        m.hands_won[_u(winner)] += 1
        if rule.wins_out and m.hands_won[_u(winner)] >= rule.wins_out:
            _win_alone(m, winner)
            return
    if reached:
        _decide(rule, m, winner)
    if not m.over and m.hands >= HAND_CAP:
        m.over = 1
        m.capped = 1
    if m.over:
        return
    m.dealer = _next_to_play(m, m.dealer)
    if rule.countdown and m.playing < m.players:
        _give_to_who_has_none(rules[_u(m.playing)], m)


@kernel
def play_match_hand(rules, t, crew, m, seed, game):
    """Play the next hand of a match that `begin_match` has set and that is not over. Returns as `play_turns`.

    `rules`: the records for every number who may take part (`sim.record.rule_records`).
    """
    rule = rules[_u(m.playing)]
    if t.prepared != m.playing:
        prepare(rule, t)
        t.prepared = m.playing
    seat_match_hand(rule, t, m, seed, game)
    reason = play_hand(rule, t, crew)
    if reason >= 0:
        score_match_hand(rules, rule, t, m)
    return reason
