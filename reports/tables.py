"""Answers on a screen: rich tables and lines of text for people, made from the answers that other programs get.

Every number comes with its interval, as `27.5 (27.4 to 27.6)`; what is sure and what is not is said in words.
"""

import re
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from rich.console import Console, ConsoleOptions, Group, RenderableType, RenderResult
from rich.markup import escape
from rich.padding import Padding
from rich.table import Table
from rich.text import Text

from reports.output import NEVER, with_interval

Answer = Mapping[str, Any]
FEW_CHANGES = 6
"""So many options in which a rule set differs are told beside an answer; where more differ, how many."""

SUIT_NAMES = {"C": "clubs", "D": "diamonds", "H": "hearts", "S": "spades"}
ENDINGS = {
    "out": "somebody goes out",
    "blocked": "blocked",
    "stopped": "stopped by a player",
    "capped": "broken off at the turn cap",
}
DRAWS = {
    "stuck": "can play nothing and draws {}",
    "voluntary": "draws {} by choice",
    "penalty": "takes the penalty: {}",
    "last-card": "draws {} for the missing call",
    "illegal": "draws {} for the wrong card",
    "final": "draws {} before the count",
}
ALSO = {
    "cards_drawn_per_hand": ("cards drawn a hand", 1),
    "choices_per_hand": ("turns a hand with a choice", 1),
    "stuck_per_hand": ("turns a hand stuck", 1),
    "passes_per_hand": ("turns a hand passed", 1),
    "reshuffled": ("hands with a reshuffle, %", 100),
    "closed_on_wild": ("hands closed with a wild, %", 100),
    "void_deals_per_hand": ("void deals a hand", 1),
}
ALSO_OF_MATCHES = {
    "winner_total": ("winner's total", 1),
    "first_dealer_wins": ("matches won by who dealt first, %", 100),
    "extra_hands_per_match": ("extra hands a match", 1),
    "shared_matches": ("matches shared, %", 100),
    "capped_matches": ("matches given up without an end, %", 100),
}
RANKED = {
    "turns_per_hand": ("turns a hand", 1),
    "median_turns": ("median", 1),
    "cards_drawn_per_hand": ("cards drawn a hand", 1),
    "blocked": ("hands blocked, %", 100),
    "capped": ("capped, %", 100),
    "hands_per_match": ("hands a match", 1),
    "turns_per_match": ("turns a match", 1),
    "first_dealer_wins": ("first dealer's matches, %", 100),
}


def estimate(given: Mapping[str, float], factor: float = 1.0) -> str:
    """Write an estimate with its interval, times a factor, with as many digits as it bears."""
    return with_interval(*(given[key] * factor for key in ("value", "low", "high")))


# --- simulate ------------------------------------------------------------------------------------------------------


def simulate_table(answer: Answer, said: str) -> RenderableType:
    """Show the answer of `simulate`; `said`: the finding in a sentence."""
    players, matches = answer["players"], answer.get("matches")
    before, *others = simulate_in_words(answer, said)
    parts: list[RenderableType] = [headline(before)]
    if matches:
        lengths = _length_table()
        lengths.add_row("hands a match", *_length_cells(matches["hands_per_match"]))
        lengths.add_row("turns a match", *_length_cells(matches["turns_per_match"]))
        of_matches = NumbersTable("also of matches", "")
        for key, (label, factor) in ALSO_OF_MATCHES.items():
            of_matches.add_row(label, estimate(matches[key], factor))
        parts += [_seats_table(matches["win_share_by_seat"]), lengths, of_matches]
    parts += map(headline, others)
    positions = NumbersTable("position", "wins, % of hands", "points left", "score")
    for row in answer["positions"]:
        positions.add_row(place(row["position"], players), *_player_cells(row))
    positions.add_row("an even share", f"{100 / players:.4g}", "", "", style="dim")
    parts.append(positions)
    if len(answer["strategies"]) > 1:
        strategies = NumbersTable("strategy", "wins, % of hands a seat", "points left", "score")
        for row in answer["strategies"]:
            seats = ", ".join(map(str, row["seats"]))
            strategies.add_row(f"{row['strategy']} (seat {seats})", *_player_cells(row))
        parts.append(strategies)
    lengths = _length_table()
    lengths.add_row("turns a hand", *_length_cells(answer["turns_per_hand"]))
    parts.append(lengths)
    also = NumbersTable("also", "")
    for key, (label, factor) in ALSO.items():
        if answer[key]["high"] > answer[key]["low"] or answer[key]["value"]:
            also.add_row(label, estimate(answer[key], factor))
    if answer["longest_penalty_chain"]:
        also.add_row("longest chain of draw cards", str(answer["longest_penalty_chain"]))
    ended = NumbersTable("hands end", "% of hands")
    for key, share in answer["ended"].items():
        if share["value"] > 0:
            ended.add_row(ENDINGS[key], estimate(share, 100))
    return spaced([*parts, also, ended, _footer(answer, _rules_in_words(answer), answer)])


def simulate_in_words(answer: Answer, said: str) -> list[str]:
    """Return the answer of `simulate` in paragraphs: of matches if they were played, hands (`said`), strategies."""
    paragraphs = [matches_in_words(answer)] if "matches" in answer else []
    paragraphs.append(f"Single hands of {said}" if paragraphs else said)
    if len(answer["strategies"]) > 1:
        paragraphs.append(strategies_in_words(answer))
    if answer["stopped"] == "interrupted":
        paragraphs[0] = f"Interrupted; of what is finished: {paragraphs[0]}"
    return paragraphs


def matches_in_words(answer: Answer) -> str:
    """How long a match takes and what dealing first does, in sentences."""
    matches, rules = answer["matches"], answer["rules"]["match"]
    target = rules["target"]
    if isinstance(target, Mapping):
        target = target["per-player"] * answer["players"]
    first, even = matches["first_dealer_wins"], 1 / answer["players"]
    sure = "surely more" if first["low"] > even else "surely less" if first["high"] < even else "no sure difference"
    if len(answer["strategies"]) > 1 and answer["blocks"] == matches["count"]:
        sure += " (by dealing first or by how that seat plays: the line-up does not turn)"
    share, low, high = with_interval(*(100 * first[key] for key in ("value", "low", "high"))).partition(" (")
    hands, turns = (estimate(matches[key]["mean"]) for key in ("hands_per_match", "turns_per_match"))
    return (
        f"A match (to {target}, {rules['winner']} total wins) takes {hands} hands, {turns} turns; "
        f"dealing first: {share} % of matches{low}{high}, even share {100 * even:.4g}, {sure}."
    )


def strategies_in_words(answer: Answer) -> str:
    """Which strategy wins most, in a sentence."""
    rows = sorted(answer["strategies"], key=lambda row: -float(row["win_share"]["value"]))
    best, last = rows[0], rows[-1]
    sure = best["win_share"]["low"] > max(row["win_share"]["high"] for row in rows[1:])
    even = f"{100 / answer['players']:.4g} % would be an even share"
    return (
        f"{best['strategy']} {'wins most' if sure else 'is ahead, though not surely'}: "
        f"{estimate(best['win_share'], 100)} % of hands a seat; {last['strategy']} has "
        f"{estimate(last['win_share'], 100)} %; {even}."
    )


def place(position: int, players: int) -> str:
    """Write a position with its side of the table."""
    return (
        f"{position} {'left of the dealer' if position == 1 else 'the dealer' if position == players else ''}".strip()
    )


def _player_cells(row: Mapping[str, Any]) -> list[str]:
    return [estimate(row["win_share"], 100), estimate(row["points_left"]), estimate(row["score"])]


def _length_cells(found: Mapping[str, Any]) -> list[str]:
    quantiles = [f"{found[key]['value']:,.0f}" for key in ("p10", "median", "p90", "p99")]
    return [estimate(found["mean"]), *quantiles, f"{found['max']:,}"]


def _length_table() -> "NumbersTable":
    return NumbersTable("length", "mean", "10 %", "median", "90 %", "99 %", "longest")


def _seats_table(seats: Sequence[Mapping[str, Any]]) -> "NumbersTable":
    table = NumbersTable("seat", "strategy", "wins, % of matches", left=2)
    for row in seats:
        table.add_row(str(row["seat"]), escape(row["strategy"]), estimate(row, 100))
    return table


def _footer(answer: Answer, rules: str, counts: Answer) -> RenderableType:
    return Text("\n".join(_footer_lines(answer, rules, counts)), style="dim")


def _footer_lines(answer: Answer, rules: str, counts: Answer) -> list[str]:
    """Say what was played, by what, and why it stopped."""
    matches = counts.get("matches")
    if isinstance(matches, Mapping):
        matches = matches["count"]
    hands, deals, sets = _hands(counts), counts["blocks"], len(counts.get("ranking", "1"))
    if sets > 1:
        each = deals if matches is None else matches
        rounds = counts["hands"] // deals if matches is None else 1
        what, turned = (
            "deals" if matches is None else "matches",
            f" × {rounds} turns of the line-up" if rounds > 1 else "",
        )
        total = f"{hands:,} hands" if matches is None else f"{each * sets:,} matches of {hands:,} hands"
        played = f"{each:,} {what}{turned} × {sets} rule sets = {total}"
    else:
        total = f"{hands:,} hands" if matches is None else f"{matches:,} matches of {hands:,} hands"
        played = f"{total} in {deals:,} deals"
    notice = f"errors noticed {answer['notice_rate']:g}" if answer["notice_rate"] != 1 else ""
    lines = [
        [rules, f"line-up {lineup_in_words(counts['lineup'])}", notice],
        [played, f"seed {answer['seed']}", counts["stopped"]],
        [f"ochos-sim {answer['version']}", f"random numbers {answer['rng_version']}", _speed(counts)],
        ["95 % intervals in brackets"],
    ]
    return [" · ".join(filter(None, line)) for line in lines]


def _rules_in_words(answer: Answer) -> str:
    changed = "".join(f"+{change}" for change in answer["changes"])
    return f"rules {answer['preset']}{changed}" + "".join(f", {text}" for text in answer["sets"])


def _common_sets(answer: Answer) -> str:
    """Return the settings that all rule sets of a comparison have, which their names do not tell."""
    common = [text for text in answer["rules"][0]["sets"] if all(text in entry["sets"] for entry in answer["rules"])]
    return f"all rule sets with {', '.join(common)}" if common else ""


def _speed(counts: Answer) -> str:
    seconds = counts["seconds"]
    if not seconds:  # nothing was played now
        return ""
    rate = f", {round(_hands(counts) / seconds, -3):,.0f} hands a second" if seconds >= 0.2 else ""
    return f"{seconds:,.2f} s of playing{rate}"


def _hands(counts: Answer) -> int:
    """Return the hands of all rule sets together."""
    return sum(row["hands"] for row in counts["ranking"]) if "ranking" in counts else int(counts["hands"])


def lineup_in_words(lineup: Sequence[Mapping[str, Any]]) -> str:
    """`4 × random`, or the strategies by seat, with the errors that they make."""
    names = [player_in_words(entry) for entry in lineup]
    if len(set(names)) == 1:
        return f"{len(names)} × {names[0]}"
    return ", ".join(names)


def lineup_name(lineup: Sequence[Mapping[str, Any]]) -> str:
    """`all random` for an entry that stands for all seats, else the strategies by seat."""
    names = [player_in_words(entry) for entry in lineup]
    return f"all {names[0]}" if len(names) == 1 else ", ".join(names)


def player_in_words(entry: Mapping[str, Any]) -> str:
    """Write a seat's strategy with the errors of who plays it, as the results label it."""
    called = entry.get("name", entry["strategy"])
    about = ("strategy", "source", "name")
    made = ", ".join(f"{key} {rate:g}" for key, rate in entry.items() if key not in about and rate)
    return f"{called} ({made})" if made else str(called)


# --- fairness ------------------------------------------------------------------------------------------------------


def fairness_table(answer: Answer) -> RenderableType:
    """Show the answer of `fairness`: the whole in a sentence, and a section for each part of the question."""
    sections = answer["players"]
    parts: list[RenderableType] = [headline(answer["verdict"])] if len(sections) > 1 else []
    for section in sections:
        parts += [Text(_heading(answer, section), style="bold underline"), headline(section["verdict"])]
        parts += [*_ranking_tables(section), _footer(answer, _common_sets(answer), section)]
    if differing := list(_differing(answer)):
        table = NumbersTable("what differs", "option", answer["rules"][0]["name"], "there", left=4)
        for row in differing:
            table.add_row(*(escape(cell) for cell in row))
        parts.append(table)
    return spaced(parts)


def _heading(answer: Answer, section: Answer) -> str:
    """`4 players`, and how they play if that was varied."""
    lineup = f", {lineup_in_words(section['lineup'])}" if len(answer["lineups"]) > 1 else ""
    return f"{section['players']} players{lineup}"


def _differing(answer: Answer) -> Iterator[tuple[str, str, str, str]]:
    """In what the rule sets differ from the first one: name, option, its value in the first, its own value."""
    for rules in answer["rules"][1:]:
        name, changes = rules["name"], rules["differs"]
        if len(changes) > FEW_CHANGES:
            yield name, f"{len(changes)} options", "", "see presets diff"
            continue
        for change in changes:
            yield name, change["option"], option_value(change["before"]), option_value(change["now"])
            name = ""


def _ranking_tables(section: Answer) -> Iterator[RenderableType]:
    rows = section["ranking"]
    several = len(rows) > 1
    head = ["rank", "rules", "may be fairest"] if several else ["rules"]
    ranked = NumbersTable(*head, "spread, points", "wins most", "wins least", left=len(head))
    # An ending that no hand came to, under any of the rules, needs no column of zeros.
    never = [key for key in NEVER if key in rows[0] and not any(row[key]["value"] for row in rows)]
    shown = {key: told for key, told in _what_else(rows[0]).items() if key not in never}
    other = NumbersTable("rules", *(label for label, _ in shown.values()))
    for row in rows:
        low, high = row["rank_low"], row["rank_high"]
        name = escape(row["rules"])
        begin = [f"{low}" if low == high else f"{low} to {high}", name, "yes" if row["in_best_set"] else "no"]
        sure = row["spread"]["low"] > 0
        places = [f"position {row[key]}" if sure else "not sure" for key in ("best_position", "worst_position")]
        style = "bold" if several and row["in_best_set"] else ""
        ranked.add_row(*(begin if several else [name]), estimate(row["spread"], 100), *places, style=style)
        other.add_row(name, *(estimate(row[key], factor) for key, (_, factor) in shown.items()))
    yield ranked
    if shown:
        yield other
    if never:
        most = max(row[key]["high"] for key in never for row in rows)
        yield Text(f"No hand was {' or '.join(never)} (at most {100 * most:.2g} % of hands).", style="dim")
    ratios = sorted(entry["variance_ratio"] for entry in section["differences"])
    if ratios and ratios[len(ratios) // 2] > 0:
        middle = ratios[len(ratios) // 2]
        yield Text(
            f"The same deals for all: between two rule sets, the variance is {100 * middle:.0f} % of what "
            "separate deals would give.",
            style="dim",
        )


def _what_else(row: Answer) -> dict[str, tuple[str, float]]:
    """What a ranking tells beside the fairness: label and factor of each measure, in order."""
    return {
        key: RANKED.get(key) or ALSO.get(key) or ALSO_OF_MATCHES.get(key) or (key.replace("_", " "), 1)
        for key in row
        if key != "spread" and isinstance(row[key], Mapping)
    }


# --- Markdown ------------------------------------------------------------------------------------------------------


def simulate_markdown(answer: Answer, said: str, measured: Sequence[Mapping[str, Any]]) -> str:
    """Write the answer of `simulate` in Markdown: the finding, all that was measured (rows of the results), facts."""
    rows = [
        {
            "measure": row["measure"],
            "by": f"{row['by']} {row['which']}".strip(),
            "value (95 % interval)": estimate(row, 100 if row["unit"].startswith("share") else 1),
            "unit": row["unit"].replace("share", "%"),
        }
        for row in measured
    ]
    paragraphs = "\n\n".join(simulate_in_words(answer, said))
    return f"{paragraphs}\n\n{markdown(rows)}\n\n{_footer_markdown(answer, _rules_in_words(answer), answer)}"


def fairness_markdown(answer: Answer) -> str:
    """Write the answer of `fairness` in Markdown: a heading, the verdict and the ranking for each part of it."""
    parts = [answer["verdict"]] if len(answer["players"]) > 1 else []
    for section in answer["players"]:
        rows = []
        for row in section["ranking"]:
            low, high = row["rank_low"], row["rank_high"]
            sure = row["spread"]["low"] > 0
            rows.append(
                {
                    "rank": f"{low}" if low == high else f"{low} to {high}",
                    "rules": row["rules"],
                    "may be fairest": "yes" if row["in_best_set"] else "no",
                    "spread, points": estimate(row["spread"], 100),
                    "wins most": f"position {row['best_position']}" if sure else "not sure",
                    "wins least": f"position {row['worst_position']}" if sure else "not sure",
                    **{label: estimate(row[key], factor) for key, (label, factor) in _what_else(row).items()},
                }
            )
        foot = _footer_markdown(answer, _common_sets(answer), section)
        parts.append(f"## {_heading(answer, section)}\n\n{section['verdict']}\n\n{markdown(rows)}\n\n{foot}")
    if differing := list(_differing(answer)):
        columns = ("rules", "option", answer["rules"][0]["name"], "there")
        told = markdown([dict(zip(columns, row, strict=True)) for row in differing])
        parts.append(f"## What differs\n\n{told}")
    return "\n\n".join(parts)


def _footer_markdown(answer: Answer, rules: str, counts: Answer) -> str:
    return "\n".join(f"- {_cell(line)}" for line in _footer_lines(answer, rules, counts))


# --- odds and plan -------------------------------------------------------------------------------------------------


def odds_records(odds: Sequence[Answer]) -> list[dict[str, str]]:
    """Write odds as rows of text: the sentence, the exact value, and the simulated one with its interval."""
    rows = []
    for one in odds:
        chance = one["unit"] == "chance"
        exact, simulated = one["exact"], one["simulated"]
        percent = 100 if chance else 1
        rows.append(
            {
                "what": one["sentence"],
                "exact": _exact(exact, chance) if exact is not None else f"not exact: {one['why_not_exact']}",
                "one in": _one_in(exact) if chance and exact else "",
                "dealt": f"{estimate(simulated, percent)}{' %' if chance else ''}" if simulated else "never came up",
                "unit": "" if chance else one["unit"],
            }
        )
    return rows


def _one_in(chance: float) -> str:
    return f"{1 / chance:.3g}" if chance > 0.01 else f"{1 / chance:,.0f}"


def _exact(value: float, chance: bool) -> str:
    return f"{100 * value:.6g} %" if chance else f"{value:.6g}"


def odds_note(rules: str, players: int, *, seed: int, hands: int, version: str) -> str:
    """Tell what the odds hold for and how they were counted."""
    return (
        f"{rules}, {players} players, first hand. Exact: from the numbers of cards. Dealt: {hands:,} deals, "
        f"seed {seed}, 95 % intervals, of which one in twenty misses the exact value by chance. ochos-sim {version}"
    )


PLANNED = {
    "independent_hands": "if no hand depended on another",
    "design_effect": "times that, because the hands of a deal depend on each other",
    "variance_ratio": "variance of the difference on common deals, against deals apart",
}


def plan_table(answer: Answer) -> RenderableType:
    """Show how many hands an aim takes and how long they take here."""
    aim, unit = answer["aim"], answer["unit"]
    share = aim["measure"].endswith("share") or aim["measure"] == "spread"
    size = f"{100 * aim['size']:g} points" if share else f"{aim['size']:g}"
    what = f"{answer['of']}{' of ' if len(answer['rules']) == 1 else ' between '}{' and '.join(answer['rules'])}"
    wanted = f"know {what} to ± {size}" if aim["goal"] == "margin" else f"find a difference of {size} in {what}"
    chance = f", {100 * aim['power']:g} % of the time" if aim["goal"] == "difference" else ""
    each = " under each rule set" if answer["scenarios"] > 1 else ""
    minutes = answer["minutes"]
    said = f"To {wanted}{chance}: {answer['hands']:,} {unit}{each}, about {_duration(60 * minutes['value'])} here."
    table = NumbersTable("", "")
    table.add_row(f"{unit} needed{each}", _whole(answer["hands_needed"]))
    table.add_row("seconds here", estimate(minutes, 60))
    table.add_row(f"{unit} a second, {answer['threads']} threads", _whole(answer["hands_per_second"]))
    table.add_row(f"{unit} needed {PLANNED['independent_hands']}", f"{answer['independent_hands']:,}")
    for key in ("design_effect", "variance_ratio"):
        if answer[key]:
            table.add_row(PLANNED[key], estimate(answer[key]))
    pilot = answer["pilot"]
    seconds = f"{pilot['seconds']:.1f} s"
    facts = Text(
        f"from a trial run of {pilot['hands']:,} {unit} in {seconds} at other seeds than {answer['seed']}; "
        f"{answer['players']} players, line-up {'; '.join(dict.fromkeys(answer['lineups']))}; "
        f"level {100 * aim['level']:g} %; ochos-sim {answer['version']}",
        style="dim",
    )
    return spaced([headline(said), table, facts])


def _whole(given: Mapping[str, float]) -> str:
    return (
        f"{given['value']:,.3g} ({given['low']:,.3g} to {given['high']:,.3g})"
        if given["value"] < 1000
        else (f"{round(given['value']):,} ({round(given['low']):,} to {round(given['high']):,})")
    )


def _duration(seconds: float) -> str:
    if seconds < 90:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    if seconds < 5400:
        return f"{seconds / 60:.0f} minutes"
    return f"{seconds / 3600:.1f} hours" if seconds < 172_800 else f"{seconds / 86_400:.0f} days"


# --- trace ---------------------------------------------------------------------------------------------------------


def trace_lines(events: Iterable[Mapping[str, Any]]) -> Iterator[str]:
    """Tell a hand or match as it would be told at the table, one line an event; the first event is the `match`."""
    teller = _Teller()
    for event in events:
        yield from teller.tell(event)


class _Teller:
    """Tells a trace; remembers what an event does not repeat: who plays what, hands, direction."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.wilds: list[str] = []
        self.cards: list[int] = []
        self.direction = 1

    def tell(self, event: Mapping[str, Any]) -> Iterator[str]:
        match event["event"]:
            case "match":
                self.names = [player_in_words(entry) for entry in event["lineup"]]
                self.wilds = event["rules"]["wild"]["ranks"]
                yield f"seed {event['seed']}, game {event['game']}, {event['players']} players"
            case "deal":
                self.cards = [len(hand) for hand in event["hands"]]
                self.direction = 1
                yield from self._deal(event)
            case "end":
                yield from _end_lines(event)
            case "match-end":
                yield ""
                hands = f"{event['hands']} hand{'s' if event['hands'] > 1 else ''}"
                yield f"Match over after {hands}: {_winner(event['winner'])}."
                yield f"     totals: {_by_seat(event['totals'])}"
            case "reshuffle":
                yield f"{event['turn']:>4} the {event['cards']} discards are shuffled into a new stock"
            case _:
                turn = event["turn"] or ""
                yield f"{turn:>4} seat {event['seat']} {self._done(event)}"

    def _deal(self, event: Mapping[str, Any]) -> Iterator[str]:
        yield ""
        yield f"Hand {event['hand']}: seat {event['dealer']} deals."
        width = max(map(len, self.names))
        for seat, hand in enumerate(event["hands"], start=1):
            yield f"     seat {seat:<2} {self.names[seat - 1]:<{width}}  {_sorted(hand) if hand else 'sits out'}"
        if event["buried"]:
            yield f"     turned and buried: {' '.join(event['buried'])}"
        yield f"     starter: {event['starter']}"

    def _done(self, event: Mapping[str, Any]) -> str:
        seat = event["seat"] - 1
        match event["event"]:
            case "play":
                self.cards[seat] -= 1
                return f"plays {self._play(event, self.cards[seat])}"
            case "draw":
                self.cards[seat] += len(event["cards"])
                drawn = " ".join(event["cards"]) or "nothing, as the stock is empty"
                return f"{DRAWS[event['why']].format(drawn)} ({self.cards[seat]} cards)"
            case "pass":
                return "passes"
            case "declare":
                return f"asks for {SUIT_NAMES[event['suit']]}"
            case "last-card":
                what = "calls the last card" if event["called"] else "forgets to call the last card"
                return what + ("" if event["called"] else " and is caught" if event["caught"] else ", nobody notices")
            case "illegal":
                what = "and has to take it back" if event["caught"] else "and nobody notices"
                return f"lays {event['card']}, which may not be played now, {what}"
            case _:
                return "stops the hand"

    def _play(self, event: Mapping[str, Any], left: int) -> str:
        card, suit = event["card"], event["active_suit"]
        said = card
        if left and (card == "JKR" or card[:-1] in self.wilds or not card.endswith(suit or "")):
            said += f" and asks for {SUIT_NAMES[suit]}" if suit else ", the suit is named later"
        notes = [f"{left} left" if left else "no card left"]
        if event["direction"] != self.direction:
            self.direction = event["direction"]
            notes.append("the direction turns")
        if event["pending"]:
            notes.append(f"{event['pending']} to draw")
        return f"{said} ({', '.join(notes)})"


def _end_lines(event: Mapping[str, Any]) -> Iterator[str]:
    ended = {
        "out": ("is out of cards", ""),
        "blocked": ("wins, as nobody can go on", "nobody can go on, and nobody wins"),
        "stopped": ("wins the stopped hand", "stopped, and nobody wins"),
        "capped": ("wins the hand, broken off at the turn cap", "broken off at the turn cap, and nobody wins"),
    }
    somebody, nobody = ended[event["reason"]]
    how = f"seat {event['winner']} {somebody}" if event["winner"] else nobody
    yield f"     End of hand {event['hand']}: {how}."
    for seat, left in enumerate(event["left"], start=1):
        if left:
            yield f"     seat {seat:<2} keeps {_sorted(left)}: {event['points'][seat - 1]} points"
    yield f"     scored: {_by_seat(event['scored'])}"
    if event["totals"] != event["scored"]:
        yield f"     totals: {_by_seat(event['totals'])}"


def _winner(winner: Any) -> str:
    if winner is None:
        return "nobody wins"
    if isinstance(winner, list):
        return f"seats {' and '.join(map(str, winner))} share it"
    return f"seat {winner} wins"


def _by_seat(numbers: Sequence[int]) -> str:
    return ", ".join(f"seat {seat} {number}" for seat, number in enumerate(numbers, start=1))


_RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")


def _sorted(cards: Sequence[str]) -> str:
    """Cards as a player sorts them: by suit, then rank; jokers last."""
    return " ".join(sorted(cards, key=lambda c: (9, 0) if c == "JKR" else ("CDHS".index(c[-1]), _RANKS.index(c[:-1]))))


# --- lists ---------------------------------------------------------------------------------------------------------


def records_table(records: Sequence[Mapping[str, Any]], *headings: str) -> RenderableType:
    """Show records as a table of text, a column a key (or the headings given)."""
    keys = list(records[0]) if records else []
    table = _table(*(headings or keys), left=len(keys))
    for record in records:
        table.add_row(*(escape(str(record[key])) for key in keys))
    return table


def presets_table(presets: Sequence[Any]) -> RenderableType:
    """Show the presets (`sim.rules.Preset`), then the named changes."""
    table = _table("preset", "sheet", "what it is", left=3)
    changes: dict[str, str] = {}
    for preset in presets:
        table.add_row(preset.name, escape(preset.sheet), escape(preset.about))
        for change in preset.changes:
            changes.setdefault(change.name, change.about)
    other = _table("change, added with a plus", "what it does", left=2)
    for name, about in changes.items():
        other.add_row(f"+{name}", escape(about))
    return spaced(
        [table, other, Text("ochos-sim presets show NAME+CHANGE prints all options of a rule set", style="dim")]
    )


def option_value(value: Any) -> str:
    """Write a rule option's value as people write it."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{key} = {option_value(entry)}" for key, entry in value.items()) + "}"
    if isinstance(value, list | tuple):
        return " ".join(map(option_value, value)) or "none"
    return str(value)


def markdown(records: Sequence[Mapping[str, Any]]) -> str:
    """Write records as a Markdown table."""
    keys = list(records[0]) if records else []
    lines = [keys, ["---"] * len(keys), *([_cell(record[key]) for key in keys] for record in records)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _cell(value: Any) -> str:
    return re.sub(r"([\\`*<>|])", r"\\\1", str(value))


def _table(*headings: str, left: int = 1) -> Table:
    """Make an empty table whose first columns are text and the others numbers."""
    table = Table(box=None, header_style="bold", pad_edge=False, padding=(0, 2, 0, 0), show_edge=False)
    for number, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", justify="left" if number < left else "right")
    return table


class NumbersTable:
    """A table of names and numbers that breaks where a reader would: before an interval, and before the + of a name.

    What does not fit even so goes into a further table below, with the names again.
    """

    def __init__(self, *headings: str, left: int = 1) -> None:
        self.headings = headings
        self.left = left
        self.rows: list[tuple[Sequence[str], str]] = []

    def add_row(self, *cells: str, style: str = "") -> None:
        """Add a row of cells, which may be rich markup."""
        self.rows.append((cells, style))

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Show it in as few lines as the width allows."""
        columns = list(range(len(self.headings)))
        for broken in range(3):
            table = self._made(columns, broken)
            if _width(table, console, options) <= options.max_width:
                yield table
                return
        first = columns
        while len(first) > self.left + 1 and _width(self._made(first, 2), console, options) > options.max_width:
            first = first[:-1]
        yield self._made(first, 2)
        if len(first) < len(columns):
            rest = [*columns[: self.left], *columns[len(first) :]]
            other = NumbersTable(*(self.headings[column] for column in rest), left=self.left)
            for cells, style in self.rows:
                other.add_row(*(cells[column] for column in rest), style=style)
            yield Text("")
            yield other

    def _made(self, columns: Sequence[int], broken: int) -> Table:
        def cell(text: str, column: int) -> str:
            text = text.replace(" (", "\n(") if broken else text
            return re.sub(r"(?=\+)| (?=[\w.-]+=)", "\n", text) if broken > 1 and column < self.left else text

        headings = [self.headings[column] for column in columns]
        table = _table(*(textwrap.fill(text, 12) if broken else text for text in headings), left=self.left)
        for column in table.columns:
            column.no_wrap = True
        for cells, style in self.rows:
            table.add_row(*(cell(cells[column], column) for column in columns), style=style)
        return table


def _width(table: Table, console: Console, options: ConsoleOptions) -> int:
    """Return how wide a table is if nothing limits it."""
    return console.measure(table, options=options.update(width=10_000)).maximum


class _Prose:
    """Sentences whose lines end neither within a name nor within an interval."""

    def __init__(self, text: str) -> None:
        # To textwrap a no-break space is no place to break, to rich it is one.
        self.text = re.sub(r"\([^()]* to [^()]*\)", lambda found: found[0].replace(" ", "\N{NO-BREAK SPACE}"), text)

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Show it, filled to the width."""
        lines = (textwrap.wrap(line, options.max_width, break_on_hyphens=False) for line in self.text.splitlines())
        text = "\n".join(line for filled in lines for line in filled)
        yield Text(text.replace("\N{NO-BREAK SPACE}", " "), style="bold")


def headline(text: str) -> RenderableType:
    """Show sentences in bold, broken where a reader would."""
    return _Prose(text)


def spaced(parts: Sequence[RenderableType]) -> RenderableType:
    """Put the parts with an empty line between them."""
    return Group(*(Padding(part, (0, 0, 1, 0)) for part in parts[:-1]), parts[-1])
