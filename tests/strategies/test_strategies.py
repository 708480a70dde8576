"""Each strategy does what it says, in small positions built by hand."""

from collections import Counter

import pytest
from views import view_of

from sim.cards import SUITS, card_name
from strategies.registry import find


def play(name, hand, playable, **fields):
    return card_name(find(name).play(view_of(hand, playable, **fields)))


def suit(name, hand, **fields):
    return SUITS[find(name).suit(view_of(hand, **fields))]


def plays(name, hand, playable, times=200):
    """How often each card is played over many questions of the same kind, with other luck each time."""
    return Counter(play(name, hand, playable, luck=n * 0x9E3779B97F4A7C15 % 2**64) for n in range(times))


HAND = ["AC", "5C", "KC", "8D", "QH", "8S", "2S"]


def test_random_plays_any_card_and_names_any_suit():
    assert set(plays("random", HAND, HAND)) == set(HAND)
    named = {suit("random", HAND, luck=n * 0x9E3779B97F4A7C15 % 2**64) for n in range(100)}
    assert named == set(SUITS)


def test_first_legal_plays_the_lowest_rank():
    assert play("first-legal", HAND, ["KC", "5C", "QH"]) == "5C"
    assert play("first-legal", HAND, ["2S", "AC"]) == "AC"
    assert play("first-legal", ["5D", "5C", "5S"], ["5D", "5C", "5S"]) == "5C"


def test_first_legal_keeps_wilds_to_the_last():
    assert play("first-legal", HAND, ["8D", "KC", "8S"]) == "KC"
    assert play("first-legal", HAND, ["8D", "8S"]) == "8D"
    assert play("first-legal", ["8D", "JKR"], ["8D", "JKR"], jokers=1) == "8D"


def test_hoard_eights_plays_any_card_but_a_wild():
    assert set(plays("hoard-eights", HAND, ["AC", "8D", "QH", "8S"])) == {"AC", "QH"}
    assert set(plays("hoard-eights", HAND, ["8D", "8S"])) == {"8D", "8S"}


def test_dump_faces_plays_the_highest_rank():
    assert play("dump-faces", HAND, ["QH", "KC", "2S"]) == "KC"
    assert play("dump-faces", ["10D", "JS", "JH"], ["10D", "JS", "JH"]) == "JH"
    assert play("dump-faces", HAND, ["8D", "2S"]) == "2S"
    assert play("dump-faces", ["8D", "8S", "JKR"], ["8D", "8S", "JKR"], jokers=1) == "8D"


def test_dump_high_plays_the_most_points():
    """By the rules' own values; of equals the lowest rank."""
    assert play("dump-high", HAND, ["KC", "8D", "8S", "2S"]) == "8D"
    assert play("dump-high", HAND, ["KC", "QH", "2S"]) == "QH"
    assert play("dump-high", ["AC", "5C"], ["AC", "5C"], points=[0, 20]) == "AC"


@pytest.mark.parametrize("name", ["first-legal", "hoard-eights", "dump-faces", "dump-high"])
def test_the_longest_suit_is_declared(name):
    """Wilds count in their own suit, both copies count; of equals the first in C D H S."""
    assert suit(name, ["KC", "5D", "2D", "8S"]) == "D"
    assert suit(name, ["KC", "5C", "2S", "8S", "3S"]) == "S"
    assert suit(name, ["5H", "5H", "KS"], packs=2) == "H"
    assert suit(name, ["5H", "KS"]) == "H"


@pytest.mark.parametrize("name", ["random", "first-legal", "hoard-eights", "dump-faces", "dump-high", "suit-counting"])
def test_a_hand_is_stopped_when_it_may_be(name):
    assert find(name).stop(view_of(["2C"])) == 1


# --- suit-counting ----------------------------------------------------------------------------------------------------

DREW_ON_CLUBS = [0] * 4 + [3, 0, 0, 0]  # by the other of two players
ALL_CLUBS_BUT = ["2C", "3C", "4C", "6C", "7C", "9C", "10C", "JC", "QC"]


def test_suit_counting_declares_what_a_rival_drew_on():
    assert suit("suit-counting", ["KC", "KD", "KH"], drew_on=DREW_ON_CLUBS) == "C"
    assert suit("suit-counting", ["KD", "KC", "KS"], drew_on=[0] * 6 + [1, 0]) == "C"  # on hearts, of which it has none
    assert suit("suit-counting", ["KD", "KS"], drew_on=[0] * 7 + [1]) == "S"


def test_suit_counting_declares_what_has_been_seen():
    """Nine clubs lie in the pile, so that few are left for others."""
    assert suit("suit-counting", ["KC", "KD", "5D", "4D"], pile=[*ALL_CLUBS_BUT, "9S"]) == "C"


def test_suit_counting_minds_the_next_player_most():
    """One of three drew on spades, another on hearts: the one who is next decides, in the direction of play."""
    of_second, of_third = [0, 0, 0, 2], [0, 0, 2, 0]
    table = {"players": 3, "counts": [2, 5, 5], "drew_on": [0] * 4 + of_second + of_third}
    assert suit("suit-counting", ["KH", "KS"], **table) == "S"
    assert suit("suit-counting", ["KH", "KS"], **table, direction=-1) == "H"


def test_suit_counting_declares_no_suit_that_it_lacks():
    """Unless it holds none at all."""
    assert suit("suit-counting", ["KD"], drew_on=DREW_ON_CLUBS) == "D"
    assert suit("suit-counting", ["JKR"], drew_on=DREW_ON_CLUBS, jokers=1) == "C"


def test_suit_counting_leads_to_its_long_suit():
    """The king of diamonds opens four more diamonds, the queen of clubs nothing; the rank gives no cause."""
    hand = ["QC", "QD", "2D", "4D", "6D", "9D"]
    assert play("suit-counting", hand, ["QC", "QD"]) == "QD"
    assert play("suit-counting", hand, ["QC", "QD"], drew_on=[0] * 4 + [9, 0, 0, 0]) == "QC"


def test_suit_counting_plays_the_dearer_of_cards_that_are_alike():
    assert play("suit-counting", ["3C", "QC"], ["3C", "QC"]) == "QC"


def test_suit_counting_prefers_a_rank_that_cannot_be_followed():
    """Both sevens of other suits lie in the pile, none of the jacks does."""
    pile = ["7D", "7H", "7S", "2C"]
    assert play("suit-counting", ["7C", "9C"], ["7C", "9C"], pile=pile) == "7C"


def test_suit_counting_keeps_wilds_until_it_is_late():
    """Nothing else goes, or a rival is down to the last card and three or more are left; with two the wild is sure."""
    hand = ["8S", "3C", "5D"]
    assert play("suit-counting", hand, ["8S", "3C"]) == "3C"
    assert play("suit-counting", hand, ["8S"]) == "8S"
    assert play("suit-counting", hand, ["8S", "3C"], counts=[3, 2]) == "3C"
    assert play("suit-counting", hand, ["8S", "3C"], counts=[3, 1]) == "8S"
    assert play("suit-counting", hand[:2], ["8S", "3C"], counts=[2, 1]) == "3C"


def test_suit_counting_answers_a_penalty():
    assert play("suit-counting", ["2D", "KS"], ["2D"], pending=2, may_draw=1) == "2D"
