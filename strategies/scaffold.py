"""The start of a strategy of one's own: a file that plays, with comments, and its test."""

import importlib.util
import keyword
import re
from pathlib import Path
from string import Template

STRATEGY = Template('''"""$name: a way to play, for ochos-sim.

Try it:    ochos-sim simulate --players 2 --strategy $file --strategy random
Set it:    ochos-sim simulate --players 2 --strategy $file:hold=2 --strategy random
Check it:  ochos-sim strategies check $file
Test it:   python -m pytest test_$file

The page docs/strategies.md of ochos-sim says what a view holds and what the toolkit can do.
"""

from ochos_sim import strategy, toolkit


# A function that a strategy calls is compiled, too. It may take and give any numbers.
@toolkit.helper
def worth(view, card):
    """Say what it is worth to lay a card now: the points got rid of, and how many cards could follow it later."""
    follow = toolkit.suit_count(view, toolkit.suit_of(card)) - 1
    return toolkit.points_of(view, card) + 3 * follow


# Asked when a wild was laid: 0 clubs, 1 diamonds, 2 hearts, 3 spades. Without it the longest suit is declared.
def declare(view):
    """Declare the longest suit, or one of two cards or more on which the next player has drawn more often."""
    best = toolkit.longest_suit(view)
    rival = toolkit.next_position(view)
    for suit in range(4):
        lacks_more = toolkit.showed_lack(view, rival, suit) > toolkit.showed_lack(view, rival, best)
        if lacks_more and toolkit.suit_count(view, suit) > 1:
            best = suit
    return best


# Asked when the rules let a player stop the hand: 1 to stop, 0 to go on. Without it the hand is always stopped.
def stop(view):
    """Stop if nobody else is down to fewer cards."""
    return toolkit.smallest_rival(view) >= view.counts[view.position]


# Parameters are arguments behind the view; what stands here are their defaults. hold=2 behind the file's name sets one.
@strategy("$name", idea="points and its long suit first", suit=declare, stop=stop, params={"hold": 1})
def play(view, hold):
    """Keep the last wilds, as many as `hold` says, while anything else goes; of the others lay the worthiest card."""
    cards = view.playable  # never empty when this is asked

    # With a penalty draw pending, the playable cards are those that answer it; toolkit.DRAW takes it instead.
    if view.pending:
        return toolkit.lowest_card(cards)

    # Whoever follows has one card left: get rid of what costs most.
    if toolkit.next_count(view) == 1:
        return toolkit.most_points(view, cards)

    # The answer may also be toolkit.DRAW where view.may_draw, and toolkit.PASS where view.may_pass.
    plain = cards & ~view.wilds
    wilds = toolkit.count_cards(view.hand & view.wilds)
    if plain and wilds <= hold:
        cards = plain

    # Chance: toolkit.pick(view, cards) for a card, toolkit.choice(view, n) for a number below n, and nothing else.
    return toolkit.highest_by(view, cards, worth)
''')

TEST = Template('''"""Tests of $name; run them with: python -m pytest test_$file"""

from pathlib import Path

from ochos_sim import check_strategy, find, toolkit, view_of

FILE = str(Path(__file__).with_name("$file"))
BOT = find(FILE)


def played(hand, top, hold=1, **fields):
    """The card that is played from a hand on a top card; `fields` set what else the view holds."""
    return toolkit.card_name(BOT.play(view_of(hand, top, **fields), hold))


def test_keeps_its_last_wild():
    assert played("8D 5C 2H", "3C") == "5C"
    assert played("8D 2H 2S", "3C") == "8D"


def test_holds_back_as_many_wilds_as_it_is_told():
    assert played("8D 8S 2C", "3C") == "8D"
    assert played("8D 8S 2C", "3C", hold=2) == "2C"


def test_gets_rid_of_points_when_it_ends():
    assert played("8D 5C KC 2H", "3C", counts=[4, 1]) == "8D"


def test_declares_what_the_next_player_drew_on():
    hand, top = "5C 6C 2H 3H", "8S"
    assert BOT.suit(view_of(hand, top)) == 0
    assert BOT.suit(view_of(hand, top, drew_on=[0, 0, 0, 0, 0, 0, 1, 0])) == 2


def test_keeps_to_the_contract():
    assert [finding.line for finding in check_strategy(FILE).findings] == []
''')


class ScaffoldError(ValueError):
    """A new strategy that cannot be begun; one line."""


def write_new(name: str, folder: Path) -> tuple[Path, Path]:
    """Write a file with a strategy of this name and a file with its test, and return them. Raises ScaffoldError."""
    module = name.replace("-", "_")
    if not re.fullmatch(r"[a-z][a-z0-9_-]*", name) or keyword.iskeyword(module):
        raise ScaffoldError(f"a strategy cannot be called {name!r}; allowed: small letters, digits, - and _, as my-bot")
    words = {"name": name, "file": f"{module}.py"}
    texts = {folder / f"{module}.py": STRATEGY, folder / f"test_{module}.py": TEST}
    for path in texts:
        if path.exists():
            raise ScaffoldError(f"{path} is there already; choose another name, or another directory")
    if importlib.util.find_spec(module):
        raise ScaffoldError(
            f"a strategy cannot be called {name!r}, as Python has a module {module}; choose another name"
        )
    for path, text in texts.items():
        try:
            path.write_text(text.substitute(words), "utf-8")
        except OSError as error:
            raise ScaffoldError(f"{path}: {error.strerror}") from None
    strategy, test = texts
    return strategy, test
