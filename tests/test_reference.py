"""The reference engine against hands worked out on paper from the rules."""

from __future__ import annotations

import random
from collections import Counter
from itertools import pairwise
from typing import Any

import pytest
import reference
from reference import (
    DECK,
    RESHUFFLE,
    SEAT,
    AnyOption,
    Chance,
    DumpFaces,
    DumpHigh,
    FirstLegal,
    Hand,
    HoardEights,
    Luck,
    Match,
    Table,
    View,
    below,
    in_code_order,
    longest_suit,
    new_pack_order,
    philox,
    play_hand,
    play_match,
    points_of,
)
from rule_draws import draw_lineup, draw_players, draw_rules, rules_with

DRAW_TWO = {"actions.2": {"draw": 2}}


# ---------------------------------------------------------------------------------------------------------------------
# Helpers: a deck from hands, a strategy from a script, a story from events
# ---------------------------------------------------------------------------------------------------------------------


def deck_of(hands: list[str], starter: str, stock: str = "") -> list[str]:
    """Return the order that deals these hands from position 1 on, then turns `starter`, then leaves `stock`."""
    dealt = [hand.split() for hand in hands]
    rounds = max(len(hand) for hand in dealt)
    order = [hand[i] for i in range(rounds) for hand in dealt if i < len(hand)]
    return order + starter.split() + stock.split()


class Script:
    """Answers as written, in order, and keeps what it was shown; once the script is out it plays as first-legal."""

    def __init__(self, *answers: Any) -> None:
        self.answers = list(answers)
        self.views: list[View] = []

    def next(self, view: View, otherwise: Any) -> Any:
        self.views.append(view)
        return self.answers.pop(0) if self.answers else otherwise(view)

    def play(self, view: View) -> str:
        return self.next(view, FirstLegal().play)

    def suit(self, view: View) -> str:
        return self.next(view, FirstLegal().suit)

    def stop(self, view: View) -> bool:
        return self.next(view, FirstLegal().stop)


def deal_and_play(
    hands: list[str],
    starter: str,
    stock: str = "",
    changes: dict[str, Any] | None = None,
    strategies: list[Any] | None = None,
    habits: dict[int, dict[str, float]] | None = None,
    **options: Any,
) -> Hand:
    """Play the hand with first-legal seats unless told; `habits` are extra line-up entries by seat."""
    cards = len(hands[0].split())
    rules = rules_with({"deal.cards": cards, "turn_cap": 50, **(changes or {})})
    chosen = strategies or ["first-legal"] * len(hands)
    lineup = [{"strategy": strategy, **(habits or {}).get(seat, {})} for seat, strategy in enumerate(chosen)]
    return play_hand(rules, lineup, seed=1, game=0, deck=deck_of(hands, starter, stock), **options)


def tell(event: dict[str, Any]) -> str:
    """One event in one line: turn.seat, then what happened."""
    kind = event["event"]
    who = f"{event.get('turn')}.{event.get('seat')}"
    if kind == "play":
        pending = f" +{event['pending']}" if event["pending"] else ""
        turned = " <" if event["direction"] == -1 else ""
        return f"{who} plays {event['card']} {event['active_suit'] or '-'}{pending}{turned}"
    if kind == "draw":
        return f"{who} draws {' '.join(event['cards']) or 'nothing'} ({event['why']})"
    if kind == "reshuffle":
        return f"{event['turn']} reshuffle {event['cards']}"
    if kind == "declare":
        return f"{who} declares {event['suit']}"
    if kind == "last-card":
        return f"{who} calls" if event["called"] else f"{who} forgets{', caught' * event['caught']}"
    if kind == "illegal":
        return f"{who} tries {event['card']}{', caught' * event['caught']}"
    if kind == "end":
        return f"{event['reason']}: {event['winner'] or 'nobody'}"
    return f"{who} {'passes' if kind == 'pass' else 'stops'}"


def story(hand: Hand) -> list[str]:
    return [tell(event) for event in hand.events[1:]]


def begins(hand: Hand, *lines: str) -> bool:
    told = story(hand)
    assert told[: len(lines)] == list(lines)
    return True


def set_out(hands: list[str], starter: str, stock: str, changes: dict[str, Any] | None = None) -> Table:
    """Return a table just after the deal."""
    cards = len(hands[0].split())
    seats = list(range(len(hands)))
    table = Table(
        rules=rules_with({"deal.cards": cards, **(changes or {})}),
        lineup=[{"strategy": "first-legal"} for _ in seats],
        seats=seats,
        dealer=seats[-1],
        cards_each=dict.fromkeys(seats, cards),
        chance=Chance(1, 0, 0),
        totals=[0] * len(seats),
        deck=deck_of(hands, starter, stock),
    )
    table.deal()
    return table


# ---------------------------------------------------------------------------------------------------------------------
# Chance
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("counter", "key", "output"),
    [
        ("00000000 00000000 00000000 00000000", "00000000 00000000", "6627e8d5 e169c58d bc57ac4c 9b00dbd8"),
        ("ffffffff ffffffff ffffffff ffffffff", "ffffffff ffffffff", "408f276d 41c83b0e a20bc7c6 6d5451fd"),
        ("243f6a88 85a308d3 13198a2e 03707344", "a4093822 299f31d0", "d16cfe09 94fdcceb 5001e420 24126ea1"),
    ],
)
def test_philox_gives_the_known_answers(counter: str, key: str, output: str) -> None:
    def words(text: str) -> list[int]:
        return [int(word, 16) for word in text.split()]

    assert list(philox(words(counter), words(key))) == words(output)


def test_streams_are_keyed_by_purpose_seat_hand_game_and_seed() -> None:
    chance = Chance(seed=5 | 6 << 32, game=7 | 8 << 32, hand=3)
    assert chance.block(SEAT, 9, seat=2) == philox((9, 2 | 2 << 8 | 3 << 16, 7, 8), (5, 6))
    assert chance.word(DECK, 6) == philox((1, 3 << 16, 7, 8), (5, 6))[2]


def test_below_and_chances_at_their_ends() -> None:
    assert [below(word, 4) for word in (0, 2**30 - 1, 2**30, 2**32 - 1)] == [0, 0, 1, 3]
    assert not reference.happens(0, 0.0)
    assert reference.happens(2**32 - 1, 1.0)


def test_a_shuffle_moves_every_card_and_loses_none() -> None:
    order = new_pack_order(rules_with({"deck.jokers": 2, "deck.packs": 2}), 2)
    assert order[:14] == ["AC", "2C", "3C", "4C", "5C", "6C", "7C", "8C", "9C", "10C", "JC", "QC", "KC", "AD"]
    assert order[51:56] == ["KS", "JKR", "JKR", "AC", "2C"]
    assert len(order) == 108
    shuffled = Chance(1, 2, 0).shuffle(order, DECK, 0)
    assert Counter(shuffled) == Counter(order)
    # The first step by hand: card 0 changes places with card below(word 0, 108).
    assert shuffled[0] == order[below(philox((0, 0, 2, 0), (1, 0))[0], 108)]


def test_luck_draws_within_a_question() -> None:
    luck = Luck(123, 456)
    first, second, *_, sixth = [luck.below(1000) for _ in range(6)]
    assert first == below(123, 1000)
    assert second == below(philox((0, 0, 0, 0), (123, 456))[0], 1000)
    assert sixth == below(philox((1, 0, 0, 0), (123, 456))[0], 1000)


def test_questions_take_the_two_halves_of_a_block_in_turn() -> None:
    table = set_out(["4C 5C", "9H 9D"], "KC", "2S")
    blocks = [philox((draw, SEAT | 1 << 8, 0, 0), (1, 0)) for draw in (0, 1)]
    lucks = [table.luck_for(1) for _ in range(3)]
    assert [(luck.a, luck.b) for luck in lucks] == [blocks[0][:2], blocks[0][2:], blocks[1][:2]]


# ---------------------------------------------------------------------------------------------------------------------
# The deal
# ---------------------------------------------------------------------------------------------------------------------


def test_a_plain_hand_from_deal_to_count() -> None:
    hand = deal_and_play(["4C 5C", "9H 9D"], "KC", "2S 3S 6S")
    assert hand.events[0] == {
        "event": "deal",
        "hand": 1,
        "dealer": 2,
        "hands": [["4C", "5C"], ["9H", "9D"]],
        "buried": [],
        "starter": "KC",
        "active_suit": "C",
    }
    assert story(hand) == ["1.1 plays 4C C", "2.2 draws 2S (stuck)", "2.2 passes", "3.1 plays 5C C", "out: 1"]
    assert hand.events[-1] == {
        "event": "end",
        "hand": 1,
        "reason": "out",
        "winner": 1,
        "left": [[], ["9D", "9H", "2S"]],
        "points": [0, 20],
        "scored": [0, 20],
        "totals": [0, 20],
    }
    assert (hand.turns, hand.drawn, hand.passes, hand.asked) == (3, 1, 1, 1)  # two cards to choose from, once


def test_the_dealer_given_is_dealt_last_and_acts_last() -> None:
    hand = deal_and_play(["4C", "9H", "9D"], "KC", "2S 3S 6S", dealer=0)
    assert hand.events[0]["dealer"] == 1
    assert hand.events[0]["hands"] == [["9D"], ["4C"], ["9H"]]
    assert story(hand) == ["1.2 plays 4C C", "out: 2"]


@pytest.mark.parametrize(
    ("stock", "expected"),
    [
        ("", "8C 8D"),
        ("2S", "2S 8C 8D"),
        ("2S 3S", "2S 8C 8D 3S"),
        ("2S 3S 4S", "2S 3S 8C 8D 4S"),
        ("2S 3S 4S 5S 6S", "2S 3S 4S 8C 8D 5S 6S"),
    ],
)
def test_buried_wilds_go_in_order_under_the_upper_half_rounded_up(stock: str, expected: str) -> None:
    table = set_out(["9C", "JC"], "8C 8D KD", stock)
    assert table.events[0]["buried"] == ["8C", "8D"]
    assert table.events[0]["starter"] == "KD"
    assert table.stock == expected.split()


def test_a_hand_that_draws_down_to_the_buried_wilds() -> None:
    hand = deal_and_play(["9C", "JC"], "8C 8D KD", "2S 3S 4S 5S 6S", {"draw.limit": "until-playable"})
    assert story(hand) == [
        "1.1 draws 2S 3S 4S 8C (stuck)",
        "1.1 plays 8C S",  # three spades, one club
        "2.2 draws 8D (stuck)",
        "2.2 plays 8D C",
        "3.1 plays 9C C",
        "4.2 plays JC C",
        "out: 2",
    ]
    assert hand.asked == 2  # the two suits: nothing else was a choice


def test_a_deal_without_a_card_to_open_is_void_and_dealt_again() -> None:
    hand = deal_and_play(["2C 3C", "2D 3D"], "8C 8D")
    gathered = ["2C", "3C", "8C", "2D", "3D", "8D"]
    attempt = 1
    while set(Chance(1, 0, 0).shuffle(gathered, DECK, 6 * attempt)[4:]) == {"8C", "8D"}:
        attempt += 1
    order = Chance(1, 0, 0).shuffle(gathered, DECK, 6 * attempt)
    assert hand.void_deals == attempt
    assert hand.events[0]["hands"] == [[order[0], order[2]], [order[1], order[3]]]


def test_a_pack_of_which_no_card_may_open_is_refused() -> None:
    with pytest.raises(ValueError, match="no card of this pack may open"):
        deal_and_play(["8C", "8D"], "8H")


def test_misdeals_are_counted_and_change_nothing_else() -> None:
    plain, clumsy = rules_with(), rules_with({"deal.misdeal_rate": 0.5})
    lineup = [{"strategy": "random"}] * 3
    counted = 0
    for game in range(20):
        ours = play_hand(clumsy, lineup, seed=3, game=game)
        assert ours.events == play_hand(plain, lineup, seed=3, game=game).events
        counted += ours.void_deals
    assert counted > 0


def test_a_given_deck_may_hold_only_cards_of_the_pack() -> None:
    with pytest.raises(ValueError, match="the pack does not"):
        deal_and_play(["4C", "5C"], "4C")


def test_a_strategy_that_is_not_known_is_refused() -> None:
    with pytest.raises(ValueError, match="hoard-eights"):
        deal_and_play(["4C 5C", "9H 9D"], "KC", strategies=["hoard-eigths", "random"])


def test_too_few_cards_and_a_wrong_number_of_players_are_refused() -> None:
    with pytest.raises(ValueError, match="37 cards are needed"):
        play_hand(
            rules_with({"deal.cards": 9, "deck.ranks": ["7", "8", "9"]}), [{"strategy": "random"}] * 4, seed=1, game=0
        )
    with pytest.raises(ValueError, match="2 to 5"):
        play_hand(rules_with(), [{"strategy": "random"}] * 6, seed=1, game=0)


def test_the_pack_and_the_cards_follow_the_number_of_players() -> None:
    rules = rules_with({"deal.cards": 5, "deal.cards_by_players": {"2": 7}, "deck.two_packs_from": 4})
    for players, cards, packs in ((2, 7, 1), (3, 5, 1), (4, 5, 2)):
        hand = play_hand(rules, [{"strategy": "random"}] * players, seed=1, game=0)
        assert [len(dealt) for dealt in hand.events[0]["hands"]] == [cards] * players
        assert len(new_pack_order(rules, players)) == 52 * packs


def test_the_dealer_declares_for_a_wild_starter_before_turn_one() -> None:
    hand = deal_and_play(["4C 9H", "5H 6H"], "8C", "2S 3S", {"starter.wild": "dealer-declares", "wild.suit": "own"})
    assert hand.events[0]["active_suit"] is None
    assert begins(hand, "0.2 declares H", "1.1 plays 9H H")


def test_own_suit_lets_a_wild_starter_open_as_itself_but_buries_a_joker() -> None:
    table = set_out(["4C 9H", "5H 6H"], "JKR 8C", "2S 3S", {"starter.wild": "own-suit", "deck.jokers": 1})
    deal = table.events[0]
    assert (deal["buried"], deal["starter"], deal["active_suit"]) == (["JKR"], "8C", "C")
    assert table.stock == ["2S", "JKR", "3S"]


@pytest.mark.parametrize(
    ("effect", "players", "two", "first", "direction", "pending"),
    [
        ("skip", 3, "none", 1, 1, 0),
        ("skip", 2, "none", 1, 1, 0),  # the dealer
        ("reverse", 3, "none", 1, -1, 0),  # on the dealer's right
        ("reverse", 2, "none", 0, 1, 0),
        ("reverse", 2, "skip", 1, 1, 0),
        ("again", 3, "none", 2, 1, 0),
        ({"draw": 2}, 3, "none", 0, 1, 2),
        ("any-card", 3, "none", 0, 1, 0),
    ],
)
def test_an_action_card_as_the_starter(
    effect: Any, players: int, two: str, first: int, direction: int, pending: int
) -> None:
    hands = ["4D", "5D", "6D"][:players]
    changes = {"actions.K": effect, "reverse.two_players": two}
    table = set_out(hands, "KC", "2S 3S", {**changes, "starter.action": "applies"})
    assert (table.to_act, table.direction, table.pending) == (first, direction, pending)
    assert table.any_card_lies == (effect == "any-card")
    ignoring = set_out(hands, "KC", "2S 3S", changes)
    assert (ignoring.to_act, ignoring.direction, ignoring.pending) == (0, 1, 0)
    assert not ignoring.any_card_lies


def test_a_draw_card_as_the_starter_is_faced_by_position_one() -> None:
    hand = deal_and_play(["4D", "5D"], "2C", "3S 6S 7C", {**DRAW_TWO, "starter.action": "applies"})
    assert begins(hand, "1.1 draws 3S 6S (penalty)", "2.2 draws 7C (stuck)", "2.2 plays 7C C")
    assert hand.longest_chain == 1


# ---------------------------------------------------------------------------------------------------------------------
# Drawing, passing, the stock
# ---------------------------------------------------------------------------------------------------------------------


def test_a_reshuffle_takes_all_discards_but_the_top_and_its_words_run_on() -> None:
    # 4C, 9C; then seat 1 is stuck with 5D: KC and 4C become the stock. Both are clubs, so each goes at once.
    hand = deal_and_play(["4C 5D", "9C 9H"], "KC")
    chance = Chance(1, 0, 0)
    first, second = chance.shuffle(["KC", "4C"], RESHUFFLE, 0)
    assert begins(
        hand,
        "1.1 plays 4C C",
        "2.2 plays 9C C",
        "3 reshuffle 2",
        f"3.1 draws {first} (stuck)",
        f"3.1 plays {first} C",
        f"4.2 draws {second} (stuck)",
        f"4.2 plays {second} C",
        "5 reshuffle 2",
        f"5.1 draws {chance.shuffle(['9C', first], RESHUFFLE, 2)[0]} (stuck)",
    )


def test_where_the_stock_is_not_refilled_a_stuck_player_passes() -> None:
    hand = deal_and_play(["4C 5D", "9C 9H"], "KC", "", {"stock.empty": "pass"})
    assert story(hand) == ["1.1 plays 4C C", "2.2 plays 9C C", "3.1 passes", "4.2 plays 9H H", "out: 2"]


def test_a_draw_across_a_reshuffle_is_two_events() -> None:
    hand = deal_and_play(["2C 4D", "5D 6D"], "KC", "QS", {"actions.2": {"draw": 3}})
    # Three are due: QS, then KC from under 2C; then there is nothing left to give.
    assert begins(
        hand,
        "1.1 plays 2C C +3",
        "2.2 draws QS (penalty)",
        "2 reshuffle 1",
        "2.2 draws KC (penalty)",
        "3.1 passes",
    )


def test_until_playable_draws_on_and_must_play() -> None:
    hand = deal_and_play(["4D 4H", "9H 9S"], "KC", "2S 3S 5C 6C", {"draw.limit": "until-playable"})
    assert begins(hand, "1.1 draws 2S 3S 5C (stuck)", "1.1 plays 5C C")
    assert hand.passes == 0


def test_until_playable_when_the_stock_runs_out_ends_in_a_pass_and_then_blocks() -> None:
    changes = {"draw.limit": "until-playable", "stock.empty": "pass"}
    hand = deal_and_play(["4D", "9H"], "KC", "2S 3S", changes)
    assert story(hand) == ["1.1 draws 2S 3S (stuck)", "1.1 passes", "2.2 passes", "3.1 passes", "blocked: 2"]
    assert hand.points == [9, 9]  # a tie in points: fewest cards wins, and nobody takes anything
    assert hand.scored == [0, 0]


def test_may_a_playable_drawn_card_may_be_kept() -> None:
    script = Script("pass")
    hand = deal_and_play(["4D", "9H"], "KC", "5C 6S", strategies=[script, "first-legal"])
    assert begins(hand, "1.1 draws 5C (stuck)", "1.1 passes")
    assert (script.views[0].playable, script.views[0].may_draw, script.views[0].may_pass) == (("5C",), False, True)


def test_must_a_playable_drawn_card_is_played_unasked() -> None:
    script = Script()
    hand = deal_and_play(["4D", "9H"], "KC", "5C 6S", {"draw.play_drawn": "must"}, strategies=[script, "first-legal"])
    assert begins(hand, "1.1 draws 5C (stuck)", "1.1 plays 5C C")
    assert script.views == []


def test_no_a_drawn_card_waits_for_the_next_turn() -> None:
    hand = deal_and_play(["4D", "9H"], "KC", "5C 6S 7S", {"draw.play_drawn": "no"})
    assert begins(hand, "1.1 draws 5C (stuck)", "1.1 passes", "2.2 draws 6S (stuck)", "2.2 passes", "3.1 plays 5C C")


def test_no_with_three_to_draw_stays_stuck_and_draws_all() -> None:
    hand = deal_and_play(["4D", "9H"], "KC", "5C 6C 7C 9S", {"draw.play_drawn": "no", "draw.limit": 3})
    assert begins(hand, "1.1 draws 5C 6C 7C (stuck)", "1.1 passes")


def test_draw_three_stops_at_a_playable_card() -> None:
    script = Script("pass")
    hand = deal_and_play(["4D", "9H"], "KC", "6S 5C 7C", {"draw.limit": 3}, strategies=[script, "first-legal"])
    assert begins(hand, "1.1 draws 6S 5C (stuck)", "1.1 passes")
    assert not script.views[0].may_draw


def test_who_holds_a_playable_card_must_play_it_unasked() -> None:
    script = Script()
    hand = deal_and_play(["4C 5D", "9H 9S"], "KC", "2S", {"turn_cap": 1}, strategies=[script, "first-legal"])
    assert story(hand) == ["1.1 plays 4C C", "capped: 1"]
    assert script.views == []


def test_voluntary_draws_are_bounded_by_the_limit_and_any_playable_card_may_follow() -> None:
    script = Script("draw", "5C")
    hand = deal_and_play(
        ["5C 5D", "9H 9S"], "KC", "7C 2S", {"draw.voluntary": True}, strategies=[script, "first-legal"]
    )
    assert begins(hand, "1.1 draws 7C (voluntary)", "1.1 plays 5C C")
    before, after = script.views[:2]
    assert (before.playable, before.may_draw, before.may_pass) == (("5C",), True, False)
    assert (after.playable, after.may_draw, after.may_pass) == (("5C", "7C"), False, True)


def test_voluntary_under_no_only_the_cards_held_before_count() -> None:
    script = Script("draw", "pass")
    changes = {"draw.voluntary": True, "draw.play_drawn": "no"}
    hand = deal_and_play(["5C 5D", "9H 9S"], "KC", "7C 2S", changes, strategies=[script, "first-legal"])
    assert begins(hand, "1.1 draws 7C (voluntary)", "1.1 passes")
    assert script.views[1].playable == ("5C",)


def test_voluntary_under_must_ends_in_a_play() -> None:
    script = Script("draw")
    changes = {"draw.voluntary": True, "draw.play_drawn": "must", "turn_cap": 1}
    hand = deal_and_play(["5C 5D", "9H 9S"], "KC", "7S 2S", changes, strategies=[script, "first-legal"])
    assert story(hand) == ["1.1 draws 7S (voluntary)", "1.1 plays 5C C", "capped: 1"]
    assert len(script.views) == 1


def test_voluntary_until_playable_draws_the_stock_dry_but_never_passes() -> None:
    script = Script("draw", "draw", "draw")
    changes = {"draw.voluntary": True, "draw.limit": "until-playable", "stock.empty": "pass"}
    hand = deal_and_play(["5C 5D", "9H 9S"], "KC", "7C 2S 3S", changes, strategies=[script, "first-legal"])
    assert begins(hand, "1.1 draws 7C 2S 3S (voluntary)", "1.1 plays 5C C")
    assert not any(view.may_pass for view in script.views)


def test_stuck_and_then_voluntary_are_two_draws() -> None:
    script = Script("draw", "5C")
    changes = {"draw.voluntary": True, "draw.limit": 2}
    hand = deal_and_play(["4D", "9H"], "KC", "5C 6S", changes, strategies=[script, "first-legal"])
    assert begins(hand, "1.1 draws 5C (stuck)", "1.1 draws 6S (voluntary)", "1.1 plays 5C C")


def test_equal_cards_of_two_packs_are_one_choice() -> None:
    script = Script()
    hand = deal_and_play(["4C 4C", "9H 9S"], "KC", "2S", {"deck.packs": 2}, strategies=[script, "first-legal"])
    assert story(hand) == ["1.1 plays 4C C", "2.2 draws 2S (stuck)", "2.2 passes", "3.1 plays 4C C", "out: 1"]
    assert script.views == []


def test_an_answer_that_was_not_on_offer_is_refused() -> None:
    with pytest.raises(ValueError, match="'9S' to 'play'"):
        deal_and_play(["4C 5C", "9H 9S"], "KC", "2S", strategies=[Script("9S"), "first-legal"])


# ---------------------------------------------------------------------------------------------------------------------
# Wilds and jokers
# ---------------------------------------------------------------------------------------------------------------------


def test_a_wild_goes_on_anything_and_its_suit_is_declared() -> None:
    hand = deal_and_play(["8D 4H 5H", "9H 9S 2D"], "KC", "3S 3D")
    # Only the eight fits; seat 1 then holds two hearts. Seat 2 follows the suit, seat 1 too.
    assert begins(hand, "1.1 plays 8D H", "2.2 plays 9H H", "3.1 plays 4H H")


def test_a_silent_eight_keeps_its_own_suit_and_a_joker_is_declared() -> None:
    hand = deal_and_play(["8D 4H", "9D 9S"], "KC", "3S 3D", {"wild.suit": "own"})
    assert begins(hand, "1.1 plays 8D D", "2.2 plays 9D D")
    hand = deal_and_play(["JKR 4H", "9D 9S"], "KC", "3S 3D", {"wild.suit": "own", "deck.jokers": 1})
    assert begins(hand, "1.1 plays JKR H")


def test_a_delayed_suit_is_declared_after_the_last_card_penalty_is_settled() -> None:
    changes = {"last_card.call": True}
    habits = {0: {"forget_last_card": 1.0}}
    hands, starter, stock = ["8C 4D", "9S 9C"], "KC", "5H 6H 7S"
    delayed = deal_and_play(hands, starter, stock, {**changes, "wild.suit": "delayed"}, habits=habits)
    assert begins(
        delayed,
        "1.1 plays 8C -",
        "1.1 forgets, caught",
        "1.1 draws 5H 6H (last-card)",
        "2.1 declares H",  # the hand is 4D 5H 6H by now
        "2.2 draws 7S (stuck)",
        "2.2 passes",
    )
    declared = deal_and_play(hands, starter, stock, changes, habits=habits)
    assert begins(declared, "1.1 plays 8C D", "1.1 forgets, caught", "1.1 draws 5H 6H (last-card)")


def test_a_delayed_suit_is_seen_as_nothing_by_a_stop_and_waits_for_a_penalty_too() -> None:
    # The eight draws two here: the suit is declared before seat 2 takes.
    changes = {"wild.suit": "delayed", "actions.8": {"draw": 2}, "stop.points": 5}
    script = Script(False)
    hand = deal_and_play(["8C 9D 9S", "2H AC AS"], "KC", "5H 6H 7S", changes, strategies=["first-legal", script])
    assert begins(hand, "1.1 plays 8C - +2", "2.1 declares D", "2.2 draws 5H 6H (penalty)")
    assert (script.views[0].kind, script.views[0].active_suit, script.views[0].pending) == ("stop", None, 2)


def test_no_eight_on_eight_whatever_suit_is_active() -> None:
    changes = {"wild.on_wild": False}
    hand = deal_and_play(["8C 4H 5H", "8H 9S 2D"], "KC", "3S 3D", changes)
    assert begins(hand, "1.1 plays 8C H", "2.2 draws 3S (stuck)", "2.2 passes")
    free = deal_and_play(["8C 4H 5H", "8H 9S 2D"], "KC", "3S 3D")
    assert begins(free, "1.1 plays 8C H", "2.2 plays 8H D")


def test_no_eight_on_eight_counts_a_wild_starter_and_jokers() -> None:
    changes = {"wild.on_wild": False, "starter.wild": "own-suit", "deck.jokers": 1}
    hand = deal_and_play(["8H JKR", "9C 9D"], "8C", "3S 3D", changes)
    assert begins(hand, "1.1 draws 3S (stuck)", "1.1 passes", "2.2 plays 9C C", "3.1 plays 8H S")


def test_a_lone_wild_that_may_not_finish_is_stuck() -> None:
    hand = deal_and_play(["8H", "9D"], "KC", "3S 3D", {"wild.may_finish": False})
    # With a second card in the hand the eight may go again.
    assert begins(hand, "1.1 draws 3S (stuck)", "1.1 plays 8H S")
    finished = deal_and_play(["8H", "9D"], "KC", "3S 3D")
    assert story(finished) == ["1.1 plays 8H -", "out: 1"]
    assert finished.closed_on_wild
    assert finished.asked == 0  # no suit is asked for
    silent = deal_and_play(["8H", "9D"], "KC", "3S 3D", {"wild.suit": "own"})
    assert story(silent) == ["1.1 plays 8H H", "out: 1"]


def test_a_super_joker_is_wild_and_makes_the_next_player_draw() -> None:
    changes = {"deck.jokers": 2, "jokers.effect": {"wild-draw": 4}}
    hand = deal_and_play(["JKR 4H 5H", "9D 9S 2D"], "KC", "3S 3D 6S 6D", changes)
    assert begins(hand, "1.1 plays JKR H +4", "2.2 draws 3S 3D 6S 6D (penalty)", "3.1 plays 4H H")
    stacked = deal_and_play(["JKR 4H 5H", "JKR 9S 2S"], "KC", "3S 3D 6S 6D 7C 7D 9C 9H", changes)
    assert begins(stacked, "1.1 plays JKR H +4", "2.2 plays JKR S +8")
    limited = deal_and_play(
        ["JKR 4H 5H", "JKR 9S 2S"], "KC", "3S 3D 6S 6D 7C 7D 9C 9H", {**changes, "wild.on_wild": False}
    )
    assert begins(limited, "1.1 plays JKR H +4", "2.2 draws 3S 3D 6S 6D (penalty)")


# ---------------------------------------------------------------------------------------------------------------------
# Actions and penalties
# ---------------------------------------------------------------------------------------------------------------------

CHAIN = (["2C 4H", "2H 9S"], "KC", "3D 5D 6D 7D JS")


def test_same_rank_stacking_adds_up_and_the_taker_loses_the_turn() -> None:
    hand = deal_and_play(*CHAIN, DRAW_TWO)
    assert begins(
        hand,
        "1.1 plays 2C C +2",
        "2.2 plays 2H H +4",
        "3.1 draws 3D 5D 6D 7D (penalty)",
        "4.2 draws JS (stuck)",
        "4.2 passes",
        "5.1 plays 4H H",
    )
    assert (hand.longest_chain, hand.biggest_penalty) == (2, 4)


def test_without_stacking_a_two_is_no_answer() -> None:
    hand = deal_and_play(*CHAIN, {**DRAW_TWO, "penalty.stack": "off"})
    assert begins(hand, "1.1 plays 2C C +2", "2.2 draws 3D 5D (penalty)", "3.1 draws 6D (stuck)", "3.1 passes")


def test_any_draw_card_answers_only_under_any_draw() -> None:
    changes = {**DRAW_TWO, "actions.3": {"draw": 3}}
    hands, starter, stock = ["2C 4H", "3H 9S"], "KC", "4D 5D 6D 7D QD"
    any_draw = deal_and_play(hands, starter, stock, {**changes, "penalty.stack": "any-draw"})
    assert begins(any_draw, "1.1 plays 2C C +2", "2.2 plays 3H H +5", "3.1 draws 4D 5D 6D 7D QD (penalty)")
    same_rank = deal_and_play(hands, starter, stock, changes)
    assert begins(same_rank, "1.1 plays 2C C +2", "2.2 draws 4D 5D (penalty)")


def test_an_answer_may_be_declined() -> None:
    script = Script("take")
    hand = deal_and_play(*CHAIN, DRAW_TWO, strategies=["first-legal", script])
    assert begins(hand, "1.1 plays 2C C +2", "2.2 draws 3D 5D (penalty)")
    assert (script.views[0].kind, script.views[0].playable) == ("penalty", ("2H",))


def test_where_the_turn_is_not_lost_the_taker_goes_on() -> None:
    changes = {**DRAW_TWO, "penalty.loses_turn": False, "draw.play_drawn": "no"}
    hand = deal_and_play(["2C 4H", "9H 9S"], "KC", "5C 6D 7D", changes)
    # 5C came as a penalty card: it counts as held before the turn.
    assert begins(hand, "1.1 plays 2C C +2", "2.2 draws 5C 6D (penalty)", "2.2 plays 5C C")


def test_a_penalty_that_can_not_be_paid_is_over_all_the_same() -> None:
    changes = {**DRAW_TWO, "stock.empty": "pass"}
    hand = deal_and_play(["2C 4H 5H", "9H 9S 3D"], "KC", "6S", changes)
    assert begins(hand, "1.1 plays 2C C +2", "2.2 draws 6S (penalty)", "3.1 passes", "4.2 passes", "blocked: 1")


@pytest.mark.parametrize(("loses_turn", "turns"), [(True, 4), (False, 3)])
def test_a_turn_lost_to_a_penalty_is_no_pass(loses_turn: bool, turns: int) -> None:
    changes = {**DRAW_TWO, "stock.empty": "pass", "penalty.loses_turn": loses_turn}
    hand = deal_and_play(["2C 4H 5H", "9H 9S 3D"], "KC", "", changes)
    lost = ["1.1 plays 2C C +2", "2.2 draws nothing (penalty)", "3.1 passes", "4.2 passes", "blocked: 1"]
    kept = ["1.1 plays 2C C +2", "2.2 draws nothing (penalty)", "2.2 passes", "3.1 passes", "blocked: 1"]
    assert story(hand) == (lost if loses_turn else kept)
    assert hand.turns == turns


def test_a_skip_with_three_passes_over_one_and_with_two_comes_back() -> None:
    three = deal_and_play(["4C 9D", "5C 9S", "6C 6D"], "KC", "2S", {"actions.4": "skip"})
    assert begins(three, "1.1 plays 4C C", "2.3 plays 6C C")
    two = deal_and_play(["4C 5C", "6C 6D"], "KC", "2S", {"actions.4": "skip"})
    assert story(two) == ["1.1 plays 4C C", "2.1 plays 5C C", "out: 1"]


def test_a_reverse_turns_at_once_with_three() -> None:
    hand = deal_and_play(["4C 9D", "5C 9S", "6C 6H"], "KC", "2S 3H 7D", {"actions.4": "reverse"})
    assert begins(hand, "1.1 plays 4C C <", "2.3 plays 6C C <", "3.2 plays 5C C <")


@pytest.mark.parametrize(("two_players", "second"), [("none", "2.2 plays 6C C"), ("skip", "2.1 plays 5C C")])
def test_a_reverse_with_two_never_turns_the_direction(two_players: str, second: str) -> None:
    changes = {"actions.4": "reverse", "reverse.two_players": two_players}
    hand = deal_and_play(["4C 5C 9D", "6C 6D 9S"], "KC", "2S", changes)
    assert begins(hand, "1.1 plays 4C C", second)


def test_again_is_a_new_turn_of_the_same_seat() -> None:
    hand = deal_and_play(["4C 5C 9D", "6C 6D 9S", "7C 7D 7S"], "KC", "2S", {"actions.4": "again"})
    assert begins(hand, "1.1 plays 4C C", "2.1 plays 5C C", "3.2 plays 6C C")


def test_after_an_any_card_every_plain_card_goes_once() -> None:
    script = Script("9S")
    changes = {"actions.A": "any-card"}
    hand = deal_and_play(["AC 4D", "9S 6H"], "KC", "2C 3H", changes, strategies=["first-legal", script])
    assert begins(hand, "1.1 plays AC C", "2.2 plays 9S S", "3.1 draws 2C (stuck)", "3.1 passes")
    assert script.views[0].playable == ("6H", "9S")


def test_after_a_wild_any_card_wilds_keep_their_limits() -> None:
    script = Script()
    changes = {"actions.8": "any-card", "wild.on_wild": False}
    deal_and_play(["8C 4D 5D", "9S 6H 8H"], "KC", "2C 3H", changes, strategies=["first-legal", script])
    assert script.views[0].playable == ("6H", "9S")


def test_a_closing_draw_card_applies_or_is_ignored() -> None:
    hands, starter, stock = ["2C", "9S"], "KC", "3D 5D 6D"
    ignored = deal_and_play(hands, starter, stock, DRAW_TWO)
    assert story(ignored) == ["1.1 plays 2C C", "out: 1"]
    applies = deal_and_play(hands, starter, stock, {**DRAW_TWO, "actions.final": "applies"})
    assert story(applies) == ["1.1 plays 2C C +2", "1.2 draws 3D 5D (final)", "out: 1"]
    assert applies.scored == [0, 17]


def test_cards_pending_before_a_closing_answer_are_drawn_with_it_or_forgotten() -> None:
    # The starter 2C makes seat 1 face two cards; it answers with its only card.
    hands, starter, stock = ["2D", "9S"], "2C", "3D 5D 6D 7D 9C"
    changes = {**DRAW_TWO, "starter.action": "applies"}
    applies = deal_and_play(hands, starter, stock, {**changes, "actions.final": "applies"})
    assert story(applies) == ["1.1 plays 2D D +4", "1.2 draws 3D 5D 6D 7D (final)", "out: 1"]
    assert (applies.longest_chain, applies.biggest_penalty) == (2, 4)
    ignored = deal_and_play(hands, starter, stock, changes)
    assert story(ignored) == ["1.1 plays 2D D", "out: 1"]
    assert (ignored.longest_chain, ignored.biggest_penalty) == (1, 2)


def test_a_closing_draw_that_the_stock_can_not_give_is_told() -> None:
    changes = {**DRAW_TWO, "actions.final": "applies", "stock.empty": "pass"}
    hand = deal_and_play(["2C", "9S"], "KC", "", changes)
    assert story(hand) == ["1.1 plays 2C C +2", "1.2 draws nothing (final)", "out: 1"]


def test_a_reverse_decides_who_draws_at_the_close() -> None:
    changes = {**DRAW_TWO, "actions.4": "reverse", "actions.final": "applies"}
    hand = deal_and_play(["4C 2D", "9H 9D", "2C 9S"], "KC", "3D 5D 6D 7D JD QD", changes)
    # 4C turns the direction; seat 3 lays 2C; seat 2 takes; seat 1 closes on 2D: seat 3 is next.
    assert story(hand) == [
        "1.1 plays 4C C <",
        "2.3 plays 2C C +2 <",
        "3.2 draws 3D 5D (penalty)",
        "4.1 plays 2D D +2 <",
        "4.3 draws 6D 7D (final)",
        "out: 1",
    ]


# ---------------------------------------------------------------------------------------------------------------------
# Table errors
# ---------------------------------------------------------------------------------------------------------------------


def test_the_last_card_call() -> None:
    hands, starter, stock = ["4C 5C", "9H 9D"], "KC", "2S 3S 6S 7S"
    changes = {"last_card.call": True, "last_card.penalty": 3}
    called = deal_and_play(hands, starter, stock, changes)
    assert begins(called, "1.1 plays 4C C", "1.1 calls", "2.2 draws 2S (stuck)")
    habits = {0: {"forget_last_card": 1.0}}
    caught = deal_and_play(hands, starter, stock, changes, habits=habits)
    assert begins(caught, "1.1 plays 4C C", "1.1 forgets, caught", "1.1 draws 2S 3S 6S (last-card)")
    lucky = deal_and_play(hands, starter, stock, changes, habits=habits, notice_rate=0.0)
    assert begins(lucky, "1.1 plays 4C C", "1.1 forgets", "2.2 draws 2S (stuck)")
    without = deal_and_play(hands, starter, stock, habits=habits)
    assert begins(without, "1.1 plays 4C C", "2.2 draws 2S (stuck)")


def test_a_caught_illegal_play_comes_back_costs_a_card_and_the_turn() -> None:
    habits = {0: {"illegal_rate": 1.0}}
    hand = deal_and_play(["4C 9D", "5C 5D"], "KC", "2S 3C 6S", {"illegal.penalty": 2}, habits=habits)
    assert begins(hand, "1.1 tries 9D, caught", "1.1 draws 2S 3C (illegal)", "2.2 plays 5C C")


def test_an_uncaught_illegal_play_stands_with_its_effects() -> None:
    habits = {0: {"illegal_rate": 1.0}}
    hand = deal_and_play(["4C 9D", "5C 5D"], "KC", "2S 3C 6S", {"actions.9": "again"}, habits=habits, notice_rate=0.0)
    # 9D stands, plays again; then 4C does not match 9D and is tried as well.
    assert story(hand) == ["1.1 tries 9D", "1.1 plays 9D D", "2.1 tries 4C", "2.1 plays 4C C", "out: 1"]


def test_no_illegal_try_while_a_penalty_is_pending_or_without_a_wrong_card() -> None:
    habits = {0: {"illegal_rate": 1.0}, 1: {"illegal_rate": 1.0}}
    hand = deal_and_play(["2C 4C", "9H 9S"], "KC", "5C 6D 7D", DRAW_TWO, habits=habits)
    assert story(hand) == ["1.1 plays 2C C +2", "2.2 draws 5C 6D (penalty)", "3.1 plays 4C C", "out: 1"]


def test_an_illegal_try_comes_after_a_penalty_that_does_not_cost_the_turn() -> None:
    changes = {**DRAW_TWO, "penalty.loses_turn": False, "deck.packs": 2}
    hand = deal_and_play(["2C 4C", "9H 9H"], "KC", "5C 7C 7H 6H", changes, habits={1: {"illegal_rate": 1.0}})
    # 5C and 7C fit, so the two nines are the one wrong choice.
    assert begins(
        hand,
        "1.1 plays 2C C +2",
        "2.2 draws 5C 7C (penalty)",
        "2.2 tries 9H, caught",
        "2.2 draws 7H (illegal)",
        "3.1 plays 4C C",
    )


def test_which_wrong_card_is_tried_is_keyed_by_the_turn() -> None:
    hands = ["4D 5D 6D 7D 9D", "5C 5H 6C 6H 7S"]
    hand = deal_and_play(hands, "KC", "2S 3C 6S", habits={0: {"illegal_rate": 1.0}})
    which = philox((1, reference.ILLEGAL, 0, 0), (1, 0))[1]
    assert begins(hand, f"1.1 tries {hands[0].split()[below(which, 5)]}, caught")


def test_a_wild_that_may_not_be_played_can_be_tried() -> None:
    habits = {0: {"illegal_rate": 1.0}}
    hand = deal_and_play(["8H", "9D"], "KC", "3S 3D", {"wild.may_finish": False}, habits=habits, notice_rate=0.0)
    assert story(hand) == ["1.1 tries 8H", "1.1 plays 8H -", "out: 1"]


# ---------------------------------------------------------------------------------------------------------------------
# The end of a hand
# ---------------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("way", "style", "winner", "scored"),
    [
        ("difference", "winner-collects", 1, [1 + 4, 0, 0]),
        ("difference", "losers-add", 1, [0, 1, 4]),
        ("own-hand", "winner-collects", 1, [10 + 13, 0, 0]),
        ("own-hand", "losers-add", 1, [9, 10, 13]),
        ("void", "losers-add", None, [0, 0, 0]),
        ("void", "winner-collects", None, [0, 0, 0]),
    ],
)
def test_a_blocked_hand_is_scored_three_ways(way: str, style: str, winner: int | None, scored: list[int]) -> None:
    changes = {"blocked.score": way, "score.style": style, "stock.empty": "pass"}
    hand = deal_and_play(["4D 5D", "6D 4S", "KH 3H"], "9C", "", changes)
    assert hand.points == [9, 10, 13]
    assert hand.events[-1]["winner"] == winner
    assert hand.scored == scored
    assert hand.turns == 3


@pytest.mark.parametrize(("effect", "winner"), [("reverse", 3), ("none", 2)])
def test_a_tie_in_a_blocked_hand_goes_to_whoever_would_act_first(effect: str, winner: int) -> None:
    changes = {"actions.4": effect, "stock.empty": "pass", "score.values": {"J": 50}}
    hand = deal_and_play(["4C JD KD", "10D 10H 3D", "QH QS 3S"], "KC", "", changes)
    # Seat 1 lays 4C; all three pass, seat 1 last: seat 2 is next, or seat 3 if the direction has turned.
    assert hand.points == [60, 23, 23]
    assert (hand.reason, hand.turns, hand.events[-1]["winner"]) == ("blocked", 4, winner)


def test_stopping_wins_when_lowest_and_on_a_tie() -> None:
    changes = {"stop.points": 5}
    hand = deal_and_play(["2D 3D", "9H KH"], "KC", "6S", changes)
    assert story(hand) == ["1.1 stops", "stopped: 1"]
    assert (hand.turns, hand.scored) == (1, [0, 19])
    tie = deal_and_play(["2D 3D", "AH 4S"], "KC", "6S", changes, dealer=1)
    assert (tie.winner, tie.scored) == (0, [0, 5])
    collects = deal_and_play(["2D 3D", "9H KH"], "KC", "6S", {**changes, "score.style": "winner-collects"})
    assert collects.scored == [19, 0]


def test_a_caller_who_is_not_lowest_loses_to_the_lowest() -> None:
    hand = deal_and_play(["2D 3D", "AH 2S", "AS 2H"], "KC", "6S", {"stop.points": 5})
    # Seats 2 and 3 hold three points each in two cards: seat 2 would act first.
    assert (hand.winner, hand.scored) == (1, [5, 0, 3])


def test_a_stop_can_be_declined_and_comes_before_a_penalty() -> None:
    script = Script(False)
    changes = {**DRAW_TWO, "stop.points": 5}
    hand = deal_and_play(["2C KD", "AH 4S"], "KC", "6S 7S 9S", changes, strategies=["first-legal", script])
    assert begins(hand, "1.1 plays 2C C +2", "2.2 draws 6S 7S (penalty)")
    hand = deal_and_play(["2C KD", "AH 4S"], "KC", "6S 7S 9S", changes)
    assert story(hand) == ["1.1 plays 2C C +2", "2.2 stops", "stopped: 2"]


def test_the_cap_ends_a_hand_and_scores_it_as_blocked() -> None:
    hand = deal_and_play(["4C 5D 6D", "9C 9H 9S"], "KC", "2S 3S", {"turn_cap": 2})
    assert story(hand) == ["1.1 plays 4C C", "2.2 plays 9C C", "capped: 1"]
    assert (hand.points, hand.scored) == ([11, 18], [0, 7])
    void = deal_and_play(["4C 5D 6D", "9C 9H 9S"], "KC", "2S 3S", {"turn_cap": 2, "blocked.score": "void"})
    assert (void.reason, void.winner, void.scored) == ("capped", None, [0, 0])


def test_blocked_is_looked_at_before_the_cap_and_going_out_before_both() -> None:
    blocked = deal_and_play(["4D", "9H"], "KC", "", {"turn_cap": 2})
    assert (blocked.reason, blocked.turns) == ("blocked", 2)
    out = deal_and_play(["4C", "9H"], "KC", "", {"turn_cap": 1})
    assert out.reason == "out"


def test_card_values() -> None:
    rules = rules_with({"wild.ranks": ["8", "A"], "score.values": {"A": 1, "10": 25}})
    worth = {card: points_of(rules, card) for card in ("8C", "AC", "10D", "9D", "JS", "QS", "KS", "2H", "JKR")}
    assert worth == {"8C": 50, "AC": 1, "10D": 25, "9D": 9, "JS": 10, "QS": 10, "KS": 10, "2H": 2, "JKR": 50}
    assert sum(points_of(rules_with(), card) for card in new_pack_order(rules_with(), 2)) == 508


# ---------------------------------------------------------------------------------------------------------------------
# The simple strategies
# ---------------------------------------------------------------------------------------------------------------------


def view_of(playable: str, changes: dict[str, Any] | None = None, luck: Luck | None = None) -> View:
    cards = tuple(in_code_order(playable.split()))
    return View(
        kind="play",
        rules=rules_with(changes),
        seat=0,
        hand=cards,
        playable=cards,
        may_draw=False,
        may_pass=False,
        top="KC",
        active_suit="C",
        pending=0,
        direction=1,
        cards=(len(cards), 7),
        totals=(0, 0),
        stock=30,
        turn=1,
        luck=luck or Luck(0, 0),
    )


@pytest.mark.parametrize(
    ("strategy", "playable", "chosen"),
    [
        (FirstLegal(), "8C 8D KH 3S 3D JKR", "3D"),
        (FirstLegal(), "8S JKR 8D", "8D"),
        (DumpFaces(), "8C KS KD 3S", "KD"),
        (DumpFaces(), "8C AS 2D JKR", "2D"),
        (DumpFaces(), "JKR 8S 8D", "8D"),
        (DumpHigh(), "10C JD KS 3D", "10C"),
        (DumpHigh(), "JD KS 8S JKR", "8S"),
        (DumpHigh(), "QC JS JD", "JD"),
        (HoardEights(), "8C 9C", "9C"),
    ],
)
def test_what_the_simple_strategies_play(strategy: Any, playable: str, chosen: str) -> None:
    assert strategy.play(view_of(playable)) == chosen


def test_uniform_choices_go_in_the_order_of_the_code() -> None:
    # Codes: 5C 5, JKR 14, 2D 18, 8S 56. The highest word chooses the last one.
    top = 2**32 - 1
    assert reference.Random().play(view_of("2D JKR 5C 8S", luck=Luck(top, 0))) == "8S"
    assert HoardEights().play(view_of("2D JKR 5C 8S", luck=Luck(top, 0))) == "2D"
    assert HoardEights().play(view_of("JKR 8S 8D", luck=Luck(0, 0))) == "JKR"
    assert reference.Random().suit(view_of("2D", luck=Luck(2**31, 0))) == "H"


def test_longest_suit_counts_wilds_in_their_own_suit_and_jokers_in_none() -> None:
    assert longest_suit(["4D", "8D", "5H", "JKR", "JKR", "JKR"]) == "D"
    assert longest_suit(["4S", "5H"]) == "H"
    assert longest_suit(["JKR"]) == "C"
    assert longest_suit(["4S", "4S", "5H"]) == "S"


# ---------------------------------------------------------------------------------------------------------------------
# Matches: the hands are told in advance, as (winner, what each adds)
# ---------------------------------------------------------------------------------------------------------------------


class Told:
    """Stands in for a table: hands over the next hand of a list and notes who played and dealt."""

    hands: list[tuple[int | None, list[int]]]
    played: list[tuple[list[int], int, dict[int, int]]]

    def __init__(self, **table: Any) -> None:
        self.table = table

    def run(self) -> Hand:
        Told.played.append((self.table["seats"], self.table["dealer"], self.table["cards_each"]))
        winner, scored = Told.hands.pop(0)
        totals = [total + score for total, score in zip(self.table["totals"], scored, strict=True)]
        return Hand([], "out", winner, scored, scored, totals, *[0] * 8, False, self.table["dealer"])


@pytest.fixture
def told(monkeypatch: pytest.MonkeyPatch) -> Any:
    def play(hands: list[tuple[int | None, list[int]]], changes: dict[str, Any], **options: Any) -> Match:
        monkeypatch.setattr(reference, "Table", Told)
        Told.hands = list(hands)
        Told.played = []
        lineup = [{"strategy": "random"}] * len(hands[0][1])
        match = play_match(rules_with(changes), lineup, seed=1, game=0, first_dealer=0, **options)
        assert not Told.hands, "the match ended too early"
        return match

    return play


def test_the_lowest_total_wins_when_somebody_reaches_the_target(told: Any) -> None:
    match = told([(0, [0, 60, 30]), (1, [20, 0, 5]), (2, [30, 40, 0])], {})
    assert (match.winner, match.totals, match.reason) == (2, [50, 100, 35], "target")
    assert [dealer for _, dealer, _ in Told.played] == [0, 1, 2]
    assert match.events[0] == {"event": "match", "players": 3, "seed": 1, "game": 0, "first_dealer": 1}
    assert match.events[-1] == {"event": "match-end", "winner": 3, "totals": [50, 100, 35], "hands": 3}


def test_the_highest_total_wins_with_a_target_per_player(told: Any) -> None:
    changes = {"match.winner": "highest", "match.target": {"per-player": 50}}
    match = told([(0, [90, 0]), (1, [0, 99]), (0, [10, 0])], changes)
    assert (match.winner, match.totals) == (0, [100, 99])


def test_a_tie_is_played_off_among_the_tied_alone(told: Any) -> None:
    match = told([(0, [40, 40, 100]), (1, [7, 0, 0])], {})
    assert (match.winner, match.totals) == (1, [47, 40, 100])
    assert Told.played[1][0] == [0, 1]
    assert Told.played[1][1] == 1  # the next of the tied after seat 0


def test_a_second_tie_goes_to_that_hands_winner(told: Any) -> None:
    match = told([(0, [40, 40, 100]), (1, [0, 0, 0])], {})
    assert match.winner == 1
    assert match.totals == [40, 40, 100]


def test_a_void_extra_hand_is_played_again_and_the_next_of_the_tied_deals(told: Any) -> None:
    match = told([(0, [100, 40, 40]), (None, [0, 0, 0]), (None, [0, 0, 0]), (2, [0, 3, 0])], {})
    assert match.winner == 2
    assert [dealer for _, dealer, _ in Told.played] == [0, 1, 2, 1]


def test_when_the_extra_hands_winner_is_no_longer_tied_the_others_play_on(told: Any) -> None:
    # The highest wins, but losers add: seat 0 wins the extra hand and so falls behind the other two.
    changes = {"match.winner": "highest"}
    match = told([(0, [100, 100, 100]), (0, [0, 10, 10]), (1, [0, 0, 5])], changes)
    assert (match.winner, match.totals) == (2, [100, 110, 115])
    assert [seats for seats, _, _ in Told.played] == [[0, 1, 2], [0, 1, 2], [1, 2]]


def test_who_was_not_tied_can_not_win_the_play_off(told: Any) -> None:
    match = told([(0, [40, 40, 45, 100]), (0, [10, 12, 0, 0])], {})
    assert (match.winner, match.totals) == (0, [50, 52, 45, 100])


def test_an_extra_hand_for_all_may_be_won_by_anybody_and_is_repeated(told: Any) -> None:
    changes = {"match.tie": "extra-hand-all"}
    match = told([(0, [40, 40, 45, 100]), (0, [5, 5, 0, 3]), (2, [4, 4, 0, 0])], changes)
    assert (match.winner, match.totals) == (2, [49, 49, 45, 103])
    assert [seats for seats, _, _ in Told.played] == [[0, 1, 2, 3]] * 3


def test_a_shared_match_has_several_winners(told: Any) -> None:
    match = told([(0, [40, 40, 100])], {"match.tie": "shared"})
    assert match.winner == [0, 1]
    assert match.events[-1]["winner"] == [1, 2]


def test_the_countdown_deals_fewer_and_wins_before_the_target(told: Any) -> None:
    changes = {"deal.cards": 3, "deal.countdown": 2}
    match = told([(1, [10, 0]), (None, [0, 0]), (1, [100, 0])], changes)
    assert (match.winner, match.reason) == (1, "countdown")
    assert [cards for _, _, cards in Told.played] == [{0: 3, 1: 3}, {0: 3, 1: 1}, {0: 3, 1: 1}]


def test_a_tied_seat_that_would_be_dealt_none_in_the_extra_hand_has_won(told: Any) -> None:
    # Three cards each, two for two players: after one win seat 1 is due one of three, but none of two.
    changes = {"deal.cards": 3, "deal.cards_by_players": {"2": 2}, "deal.countdown": 2}
    match = told([(1, [40, 40, 100])], changes)
    assert (match.winner, match.reason) == (1, "countdown")


def test_a_play_off_can_be_cut_off_too(told: Any) -> None:
    match = told([(0, [40, 40, 100]), (None, [0, 0, 0])], {}, hand_cap=2)
    assert (match.winner, match.reason) == (None, "capped")


def test_a_match_that_does_not_end_is_cut_off(told: Any) -> None:
    match = told([(0, [0, 0])] * 4, {}, hand_cap=4)
    assert (match.winner, match.reason) == (None, "capped")
    assert match.events[-1] == {"event": "match-end", "winner": None, "totals": [0, 0], "hands": 4}


def test_the_first_dealer_is_drawn_rotated_or_given() -> None:
    drawn = [reference.draw_first_dealer(1, game, 3, 0) for game in range(30)]
    assert set(drawn) == {0, 1, 2}
    assert [reference.draw_first_dealer(1, game, 3, 1) for game in range(30)] == [(seat + 1) % 3 for seat in drawn]
    lineup = [{"strategy": "random"}] * 3
    match = play_match(rules_with(), lineup, seed=1, game=4, first_dealer=2, rotation=1)
    assert match.events[0]["first_dealer"] == 3


def test_with_a_countdown_the_deal_skips_who_has_all_its_cards() -> None:
    match = play_match(
        rules_with({"deal.countdown": 3, "deal.cards": 7}), [{"strategy": "random"}] * 3, seed=2, game=0, first_dealer=0
    )
    winner = match.hands[0].winner
    sizes = [len(cards) for cards in match.hands[1].events[0]["hands"]]
    assert sizes == [4 if seat == winner else 7 for seat in range(3)]


# ---------------------------------------------------------------------------------------------------------------------
# Any rules at all
# ---------------------------------------------------------------------------------------------------------------------


def audit(hand: Hand, pack: list[str]) -> None:
    """Play the events again with nothing but hands, a discard pile and what is left: they must add up."""
    deal, end = hand.events[0], hand.events[-1]
    hands = [list(cards) for cards in deal["hands"]]
    discards = [deal["starter"]]
    unseen = Counter(pack) - Counter(discards)
    for cards in hands:
        unseen -= Counter(cards)
    drawn = 0
    for event in hand.events[1:-1]:
        seat = event.get("seat", 0) - 1
        if event["event"] == "play":
            hands[seat].remove(event["card"])
            discards.append(event["card"])
        elif event["event"] == "draw":
            for card in event["cards"]:
                assert unseen[card] > 0, "only a card of the stock can be drawn"
                unseen[card] -= 1
                hands[seat].append(card)
            drawn += len(event["cards"])
        elif event["event"] == "reshuffle":
            assert not +unseen, "a reshuffle comes only when the stock is empty"
            assert event["cards"] == len(discards) - 1
            unseen = Counter(discards[:-1])
            discards = discards[-1:]
        elif event["event"] == "illegal":
            assert event["card"] in hands[seat]
    assert [in_code_order(cards) for cards in hands] == end["left"]
    assert drawn == hand.drawn
    turns = [event["turn"] for event in hand.events[1:-1]]
    assert all(after - before in (0, 1) for before, after in pairwise(turns)), "no turn leaves no event"
    assert hand.turns == turns[-1]


@pytest.mark.parametrize("batch", range(8))
def test_any_rules_play_to_an_end(batch: int) -> None:
    """Every drawn rule set is played by simple seats, by a seat that takes any option, and as a match."""
    for number in range(batch * 50, batch * 50 + 50):
        rng = random.Random(number)
        rules = draw_rules(rng)
        players = draw_players(rng, rules)
        lineup = draw_lineup(rng, players)
        pack = new_pack_order(rules, players)
        hand = play_hand(rules, lineup, seed=number, game=number, notice_rate=0.7)
        audit(hand, pack)
        anything = [{**entry, "strategy": AnyOption()} for entry in lineup]
        audit(play_hand(rules, anything, seed=number, game=1, dealer=number % players, notice_rate=0.7), pack)
        if number % 5 == 0:
            match = play_match(rules, lineup, seed=number, game=2, hand_cap=10)
            assert len(match.hands) <= 10
            assert match.total("turns") == sum(hand.turns for hand in match.hands)
            assert match.totals == [sum(hand.scored[seat] for hand in match.hands) for seat in range(players)]


def test_the_same_seed_and_game_give_the_same_hand_and_others_do_not() -> None:
    lineup = [{"strategy": "random"}] * 4
    one = play_hand(rules_with(), lineup, seed=7, game=123)
    assert one.events == play_hand(rules_with(), lineup, seed=7, game=123).events
    assert one.events != play_hand(rules_with(), lineup, seed=7, game=124).events
    assert one.events != play_hand(rules_with(), lineup, seed=7 + 2**32, game=123).events
