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

from reports.language import listed, mark, numeral, say, say_count
from reports.measures import find_measure
from reports.output import NEVER, with_interval

Answer = Mapping[str, Any]
FEW_CHANGES = 6
"""So many options in which a rule set differs are told beside an answer; where more differ, how many."""

SUIT_NAMES = {"C": mark("clubs"), "D": mark("diamonds"), "H": mark("hearts"), "S": mark("spades")}
ENDINGS = {
    "out": mark("somebody goes out"),
    "blocked": mark("blocked"),
    "stopped": mark("stopped by a player"),
    "capped": mark("broken off at the turn cap"),
}
DRAWS = {
    "stuck": mark("can play nothing and draws {cards}"),
    "voluntary": mark("draws {cards} by choice"),
    "penalty": mark("takes the penalty: {cards}"),
    "last-card": mark("draws {cards} for the missing call"),
    "illegal": mark("draws {cards} for the wrong card"),
    "final": mark("draws {cards} before the count"),
}
ALSO = {
    "cards_drawn_per_hand": (mark("cards drawn a hand"), 1),
    "choices_per_hand": (mark("turns a hand with a choice"), 1),
    "stuck_per_hand": (mark("turns a hand stuck"), 1),
    "passes_per_hand": (mark("turns a hand passed"), 1),
    "reshuffled": (mark("hands with a reshuffle, %"), 100),
    "closed_on_wild": (mark("hands closed with a wild, %"), 100),
    "void_deals_per_hand": (mark("void deals a hand"), 1),
}
ALSO_OF_MATCHES = {
    "winner_total": (mark("winner's total"), 1),
    "first_dealer_wins": (mark("matches won by who dealt first, %"), 100),
    "extra_hands_per_match": (mark("extra hands a match"), 1),
    "shared_matches": (mark("matches shared, %"), 100),
    "capped_matches": (mark("matches given up without an end, %"), 100),
}
RANKED = {
    "turns_per_hand": (mark("turns a hand"), 1),
    "median_turns": (mark("median"), 1),
    "cards_drawn_per_hand": (mark("cards drawn a hand"), 1),
    "blocked": (mark("hands blocked, %"), 100),
    "capped": (mark("capped, %"), 100),
    "hands_per_match": (mark("hands a match"), 1),
    "turns_per_match": (mark("turns a match"), 1),
    "first_dealer_wins": (mark("first dealer's matches, %"), 100),
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
        lengths.add_row(say("hands a match"), *_length_cells(matches["hands_per_match"]))
        lengths.add_row(say("turns a match"), *_length_cells(matches["turns_per_match"]))
        of_matches = NumbersTable(say("also of matches"), "")
        for key, (label, factor) in ALSO_OF_MATCHES.items():
            of_matches.add_row(say(label), estimate(matches[key], factor))
        parts += [_seats_table(matches["win_share_by_seat"]), lengths, of_matches]
    parts += map(headline, others)
    positions = NumbersTable(say("position"), say("wins, % of hands"), say("points left"), say("score"))
    for row in answer["positions"]:
        positions.add_row(place(row["position"], players), *_player_cells(row))
    positions.add_row(say("an even share"), numeral(f"{100 / players:.4g}"), "", "", style="dim")
    parts += [positions, _evenness_table(answer["evenness"])]
    if len(answer["strategies"]) > 1:
        strategies = NumbersTable(say("strategy"), say("wins, % of hands a seat"), say("points left"), say("score"))
        for row in answer["strategies"]:
            seats = ", ".join(map(str, row["seats"]))
            name = say("{strategy} (seat {seats})", strategy=row["strategy"], seats=seats)
            strategies.add_row(name, *_player_cells(row))
        parts.append(strategies)
    lengths = _length_table()
    lengths.add_row(say("turns a hand"), *_length_cells(answer["turns_per_hand"]))
    parts.append(lengths)
    also = NumbersTable(say("also"), "")
    for key, (label, factor) in ALSO.items():
        if answer[key]["high"] > answer[key]["low"] or answer[key]["value"]:
            also.add_row(say(label), estimate(answer[key], factor))
    if answer["longest_penalty_chain"]:
        also.add_row(say("longest chain of draw cards"), str(answer["longest_penalty_chain"]))
    for name, found in answer.get("measures", {}).items():
        also.add_row(measure_label(name)[0], estimate(found, measure_label(name)[1]))
    ended = NumbersTable(say("hands end"), say("% of hands"))
    for key, share in answer["ended"].items():
        if share["value"] > 0:
            ended.add_row(say(ENDINGS[key]), estimate(share, 100))
    return spaced([*parts, also, ended, _footer(answer, _rules_in_words(answer), answer)])


def simulate_in_words(answer: Answer, said: str) -> list[str]:
    """Return the answer of `simulate` in paragraphs: of matches if they were played, hands (`said`), strategies."""
    paragraphs = [matches_in_words(answer)] if "matches" in answer else []
    paragraphs.append(say("Single hands of {said}", said=said) if paragraphs else said)
    if len(answer["strategies"]) > 1:
        paragraphs.append(strategies_in_words(answer))
    if answer["stopped"] == say("interrupted"):
        paragraphs[0] = say("Interrupted; of what is finished: {said}", said=paragraphs[0])
    return paragraphs


def _evenness_table(found: Mapping[str, Any]) -> "NumbersTable":
    """Show how evenly the positions win, in the ways that take all of them together."""
    table = NumbersTable(say("are the positions equal?"), "")
    table.add_row(say("spread, points of win share"), estimate(found["spread"], 100))
    table.add_row(
        say("spread as it came out, and what chance alone would show"),
        numeral(f"{100 * found['spread_plain']:.2f}, {100 * found['spread_null']:.2f}"),
    )
    test = found["chi_square"]
    table.add_row(
        say("chi-square test of equal chances"),
        say("{statistic:,.1f} ({df:.0f} degrees of freedom), p {p}", p=_p_value(test["p"]), **_but(test, "p")),
    )
    table.add_row(say("Cramér's V (0 even, 1 one winner)"), estimate(found["cramers_v"]))
    table.add_row(say("entropy of the winner (1 even, 0 one winner)"), estimate(found["win_entropy"]))
    return table


def _but(given: Mapping[str, Any], key: str) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != key}


def _p_value(p: float) -> str:
    return numeral("< 0.0001" if p < 0.0001 else f"= {p:.2g}")


def measure_label(name: str) -> tuple[str, float]:
    """Return what a measure is called in a table, with its unit, and the factor for that."""
    for known in (RANKED, ALSO, ALSO_OF_MATCHES):
        if name in known:
            return say(known[name][0]), known[name][1]
    measure = find_measure(name)
    if measure.unit.startswith("share"):
        return f"{name.replace('_', ' ')}, %", 100
    return f"{name.replace('_', ' ')}, {say(measure.unit)}", 1


def matches_in_words(answer: Answer) -> str:
    """How long a match takes and what dealing first does, in sentences."""
    matches, rules = answer["matches"], answer["rules"]["match"]
    target = rules["target"]
    if isinstance(target, Mapping):
        target = target["per-player"] * answer["players"]
    first, even = matches["first_dealer_wins"], 1 / answer["players"]
    sure = say("no sure difference")
    if first["low"] > even:
        sure = say("surely more")
    elif first["high"] < even:
        sure = say("surely less")
    if len(answer["strategies"]) > 1 and answer["blocks"] == matches["count"]:
        sure = say("{sure} (by dealing first or by how that seat plays: the line-up does not turn)", sure=sure)
    share, low, high = with_interval(*(100 * first[key] for key in ("value", "low", "high"))).partition(" (")
    hands, turns = (estimate(matches[key]["mean"]) for key in ("hands_per_match", "turns_per_match"))
    fields = {
        "target": target,
        "hands": hands,
        "turns": turns,
        "share": share,
        "interval": f"{low}{high}",
        "even": numeral(f"{100 * even:.4g}"),
        "sure": sure,
    }
    if rules["winner"] == "highest":
        return say(
            "A match (to {target}, highest total wins) takes {hands} hands, {turns} turns; "
            "dealing first: {share} % of matches{interval}, even share {even}, {sure}.",
            **fields,
        )
    return say(
        "A match (to {target}, lowest total wins) takes {hands} hands, {turns} turns; "
        "dealing first: {share} % of matches{interval}, even share {even}, {sure}.",
        **fields,
    )


def strategies_in_words(answer: Answer) -> str:
    """Which strategy wins most, in a sentence."""
    rows = sorted(answer["strategies"], key=lambda row: -float(row["win_share"]["value"]))
    best, last = rows[0], rows[-1]
    sure = best["win_share"]["low"] > max(row["win_share"]["high"] for row in rows[1:])
    fields = {
        "best": best["strategy"],
        "most": estimate(best["win_share"], 100),
        "last": last["strategy"],
        "least": estimate(last["win_share"], 100),
        "even": numeral(f"{100 / answer['players']:.4g}"),
    }
    if sure:
        return say(
            "{best} wins most: {most} % of hands a seat; {last} has {least} %; {even} % would be an even share.",
            **fields,
        )
    return say(
        "{best} is ahead, though not surely: {most} % of hands a seat; {last} has {least} %; "
        "{even} % would be an even share.",
        **fields,
    )


def place(position: int, players: int) -> str:
    """Write a position with its side of the table."""
    if position == players:
        return say("{position} the dealer", position=position)
    return say("1 left of the dealer") if position == 1 else str(position)


def _player_cells(row: Mapping[str, Any]) -> list[str]:
    return [estimate(row["win_share"], 100), estimate(row["points_left"]), estimate(row["score"])]


def _length_cells(found: Mapping[str, Any]) -> list[str]:
    quantiles = [numeral(f"{found[key]['value']:,.0f}") for key in ("p10", "median", "p90", "p99")]
    return [estimate(found["mean"]), *quantiles, numeral(f"{found['max']:,}")]


def _length_table() -> "NumbersTable":
    return NumbersTable(say("length"), say("mean"), "10 %", say("median"), "90 %", "99 %", say("longest"))


def _seats_table(seats: Sequence[Mapping[str, Any]]) -> "NumbersTable":
    table = NumbersTable(say("seat"), say("strategy"), say("wins, % of matches"), left=2)
    for row in seats:
        table.add_row(str(row["seat"]), escape(row["strategy"]), estimate(row, 100))
    return table


def _footer(answer: Answer, rules: str, counts: Answer) -> RenderableType:
    return Text("\n".join(footer_lines(answer, rules, counts)), style="dim")


def footer_lines(answer: Answer, rules: str, counts: Answer) -> list[str]:
    """Say what was played, by what, and why it stopped."""
    matches = counts.get("matches")
    if isinstance(matches, Mapping):
        matches = matches["count"]
    hands, deals, sets = _hands(counts), counts["blocks"], len(counts.get("ranking", "1"))
    fields = {"hands": hands, "deals": deals, "sets": sets, "matches": matches}
    if sets > 1 and matches is not None:
        played = say(
            "{matches:,} matches × {sets} rule sets = {all_matches:,} matches of {hands:,} hands",
            all_matches=matches * sets,
            **fields,
        )
    elif sets > 1:
        turns = counts["hands"] // deals
        played = (
            say(
                "{deals:,} deals × {turns} turns of the line-up × {sets} rule sets = {hands:,} hands",
                turns=turns,
                **fields,
            )
            if turns > 1
            else say("{deals:,} deals × {sets} rule sets = {hands:,} hands", **fields)
        )
    elif matches is not None:
        played = say("{matches:,} matches of {hands:,} hands in {deals:,} deals", **fields)
    else:
        played = say("{hands:,} hands in {deals:,} deals", **fields)
    rate = answer["notice_rate"]
    notice = say("errors noticed {rate}", rate=numeral(f"{rate:g}")) if rate != 1 else ""
    lines = [
        [rules, say("line-up {lineup}", lineup=lineup_in_words(counts["lineup"])), notice],
        [played, say("seed {seed}", seed=str(answer["seed"])), counts["stopped"]],
        [
            f"ochos-sim {answer['version']}",
            say("random numbers {version}", version=str(answer["rng_version"])),
            _speed(counts),
        ],
        [say("95 % intervals in brackets")],
    ]
    return [" · ".join(filter(None, line)) for line in lines]


def _rules_in_words(answer: Answer) -> str:
    changed = "".join(f"+{change}" for change in answer["changes"])
    return ", ".join([say("rules {rules}", rules=f"{answer['preset']}{changed}"), *answer["sets"]])


def settings_in_words(answer: Answer) -> str:
    """Return the settings that all rule sets of a comparison have, which their names do not tell."""
    common = [text for text in answer["rules"][0]["sets"] if all(text in entry["sets"] for entry in answer["rules"])]
    return say("all rule sets with {settings}", settings=", ".join(common)) if common else ""


def _speed(counts: Answer) -> str:
    seconds = counts["seconds"]
    if not seconds:  # nothing was played now
        return ""
    if seconds < 0.2:
        return say("{seconds:,.2f} s of playing", seconds=seconds)
    rate = round(_hands(counts) / seconds, -3)
    return say("{seconds:,.2f} s of playing, {rate:,.0f} hands a second", seconds=seconds, rate=rate)


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
    return say("all {strategy}", strategy=names[0]) if len(names) == 1 else ", ".join(names)


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
        parts += [*_ranking_tables(section), _footer(answer, settings_in_words(answer), section)]
    if differing := list(_differing(answer)):
        table = NumbersTable(say("what differs"), say("option"), answer["rules"][0]["name"], say("there"), left=4)
        for row in differing:
            table.add_row(*(escape(cell) for cell in row))
        parts.append(table)
    return spaced(parts)


def _heading(answer: Answer, section: Answer) -> str:
    """`4 players`, and how they play if that was varied."""
    players = say("{players} players", players=section["players"])
    return f"{players}, {lineup_in_words(section['lineup'])}" if len(answer["lineups"]) > 1 else players


def _differing(answer: Answer) -> Iterator[tuple[str, str, str, str]]:
    """In what the rule sets differ from the first one: name, option, its value in the first, its own value."""
    for rules in answer["rules"][1:]:
        name, changes = rules["name"], rules["differs"]
        if len(changes) > FEW_CHANGES:
            told = say_count("{count} option", "{count} options", len(changes))
            yield name, told, "", say("see {command}", command="presets diff")
            continue
        for change in changes:
            yield name, change["option"], option_value(change["before"]), option_value(change["now"])
            name = ""


def _ranking_tables(section: Answer) -> Iterator[RenderableType]:
    rows = section["ranking"]
    several = len(rows) > 1
    head = [say("rank"), say("rules"), say("may be fairest")] if several else [say("rules")]
    ranked = NumbersTable(*head, say("spread, points"), say("wins most"), say("wins least"), left=len(head))
    # An ending that no hand came to, under any of the rules, needs no column of zeros.
    never = [key for key in NEVER if key in rows[0] and not any(row[key]["value"] for row in rows)]
    shown = {key: told for key, told in _what_else(rows[0]).items() if key not in never}
    other = NumbersTable(say("rules"), *(label for label, _ in shown.values()))
    for row in rows:
        low, high = row["rank_low"], row["rank_high"]
        name = escape(row["rules"])
        begin = [rank_range(low, high), name, say("yes") if row["in_best_set"] else say("no")]
        sure = row["spread"]["low"] > 0
        places = [_position(row[key], sure) for key in ("best_position", "worst_position")]
        style = "bold" if several and row["in_best_set"] else ""
        ranked.add_row(*(begin if several else [name]), estimate(row["spread"], 100), *places, style=style)
        other.add_row(name, *(estimate(row[key], factor) for key, (_, factor) in shown.items()))
    yield ranked
    if shown:
        yield other
    if never:
        most = max(row[key]["high"] for key in never for row in rows)
        yield Text(none_ended(never, most), style="dim")
    ratios = sorted(entry["variance_ratio"] for entry in section["differences"])
    if ratios and ratios[len(ratios) // 2] > 0:
        middle = ratios[len(ratios) // 2]
        told = say(
            "The same deals for all: between two rule sets, the variance is {percent:.0f} % of what separate deals "
            "would give.",
            percent=100 * middle,
        )
        yield Text(told, style="dim")


def rank_range(low: int, high: int) -> str:
    """Write a rank with its interval: `2`, or `2 to 4`."""
    return f"{low}" if low == high else say("{low} to {high}", low=low, high=high)


def none_ended(endings: Sequence[str], most: float) -> str:
    """Say that no hand came to these endings (keys of NEVER), and what share may at most."""
    fields = {"most": numeral(f"{100 * most:.2g}")}
    if len(endings) > 1:
        return say("No hand was blocked or capped (at most {most} % of hands).", **fields)
    if endings[0] == "blocked":
        return say("No hand was blocked (at most {most} % of hands).", **fields)
    return say("No hand was capped (at most {most} % of hands).", **fields)


def _position(position: int, sure: bool) -> str:
    return say("position {position}", position=position) if sure else say("not sure")


def _what_else(row: Answer) -> dict[str, tuple[str, float]]:
    """What a ranking tells beside the fairness: label and factor of each measure, in order."""
    return {
        key: measure_label(key) for key in row if key not in ("spread", "evenness") and isinstance(row[key], Mapping)
    }


# --- Markdown ------------------------------------------------------------------------------------------------------


def simulate_markdown(answer: Answer, said: str, measured: Sequence[Mapping[str, Any]]) -> str:
    """Write the answer of `simulate` in Markdown: the finding, all that was measured (rows of the results), facts."""
    rows = [
        {
            say("measure"): row["measure"],
            say("by"): f"{row['by']} {row['which']}".strip(),
            say("value (95 % interval)"): estimate(row, 100 if row["unit"].startswith("share") else 1),
            say("unit"): "%" if row["unit"].startswith("share") else say(row["unit"]),
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
                    say("rank"): rank_range(low, high),
                    say("rules"): row["rules"],
                    say("may be fairest"): say("yes") if row["in_best_set"] else say("no"),
                    say("spread, points"): estimate(row["spread"], 100),
                    say("wins most"): _position(row["best_position"], sure),
                    say("wins least"): _position(row["worst_position"], sure),
                    **{label: estimate(row[key], factor) for key, (label, factor) in _what_else(row).items()},
                }
            )
        foot = _footer_markdown(answer, settings_in_words(answer), section)
        parts.append(f"## {_heading(answer, section)}\n\n{section['verdict']}\n\n{markdown(rows)}\n\n{foot}")
    if differing := list(_differing(answer)):
        columns = (say("rules"), say("option"), answer["rules"][0]["name"], say("there"))
        told = markdown([dict(zip(columns, row, strict=True)) for row in differing])
        parts.append(f"## {say('What differs')}\n\n{told}")
    return "\n\n".join(parts)


def _footer_markdown(answer: Answer, rules: str, counts: Answer) -> str:
    return "\n".join(f"- {_cell(line)}" for line in footer_lines(answer, rules, counts))


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
                yield say(
                    "seed {seed}, game {game}, {players} players",
                    seed=str(event["seed"]),
                    game=str(event["game"]),
                    players=event["players"],
                )
            case "deal":
                self.cards = [len(hand) for hand in event["hands"]]
                self.direction = 1
                yield from self._deal(event)
            case "end":
                yield from _end_lines(event)
            case "match-end":
                yield ""
                yield say_count(
                    "Match over after {count} hand: {winner}.",
                    "Match over after {count} hands: {winner}.",
                    event["hands"],
                    winner=_winner(event["winner"]),
                )
                yield f"     {say('totals: {totals}', totals=_by_seat(event['totals']))}"
            case "reshuffle":
                told = say("the {cards} discards are shuffled into a new stock", cards=event["cards"])
                yield f"{event['turn']:>4} {told}"
            case _:
                turn = event["turn"] or ""
                yield f"{turn:>4} {say('seat {seat} {does}', seat=event['seat'], does=self._done(event))}"

    def _deal(self, event: Mapping[str, Any]) -> Iterator[str]:
        yield ""
        yield say("Hand {hand}: seat {seat} deals.", hand=event["hand"], seat=event["dealer"])
        width = max(map(len, self.names))
        for seat, hand in enumerate(event["hands"], start=1):
            held = _sorted(hand) if hand else say("sits out")
            yield f"     {_seat(seat)} {self.names[seat - 1]:<{width}}  {held}"
        if event["buried"]:
            yield f"     {say('turned and buried: {cards}', cards=' '.join(event['buried']))}"
        yield f"     {say('starter: {card}', card=event['starter'])}"

    def _done(self, event: Mapping[str, Any]) -> str:
        seat = event["seat"] - 1
        match event["event"]:
            case "play":
                self.cards[seat] -= 1
                return self._play(event, self.cards[seat])
            case "draw":
                self.cards[seat] += len(event["cards"])
                drawn = " ".join(event["cards"]) or say("nothing, as the stock is empty")
                does = say(DRAWS[event["why"]], cards=drawn)
                return say_count("{does} ({count} card)", "{does} ({count} cards)", self.cards[seat], does=does)
            case "pass":
                return say("passes")
            case "declare":
                return say("asks for {suit}", suit=say(SUIT_NAMES[event["suit"]]))
            case "last-card":
                if event["called"]:
                    return say("calls the last card")
                if event["caught"]:
                    return say("forgets to call the last card and is caught")
                return say("forgets to call the last card, nobody notices")
            case "illegal":
                if event["caught"]:
                    return say("lays {card}, which may not be played now, and has to take it back", card=event["card"])
                return say("lays {card}, which may not be played now, and nobody notices", card=event["card"])
            case _:
                return say("stops the hand")

    def _play(self, event: Mapping[str, Any], left: int) -> str:
        card, suit = event["card"], event["active_suit"]
        said = say("plays {card}", card=card)
        if left and (card == "JKR" or card[:-1] in self.wilds or not card.endswith(suit or "")):
            said = (
                say("plays {card} and asks for {suit}", card=card, suit=say(SUIT_NAMES[suit]))
                if suit
                else say("plays {card}, the suit is named later", card=card)
            )
        notes = [say("{cards} left", cards=left) if left else say("no card left")]
        if event["direction"] != self.direction:
            self.direction = event["direction"]
            notes.append(say("the direction turns"))
        if event["pending"]:
            notes.append(say("{cards} to draw", cards=event["pending"]))
        return f"{said} ({', '.join(notes)})"


_ENDED = {
    "out": (mark("seat {seat} is out of cards"), ""),
    "blocked": (mark("seat {seat} wins, as nobody can go on"), mark("nobody can go on, and nobody wins")),
    "stopped": (mark("seat {seat} wins the stopped hand"), mark("stopped, and nobody wins")),
    "capped": (
        mark("seat {seat} wins the hand, broken off at the turn cap"),
        mark("broken off at the turn cap, and nobody wins"),
    ),
}
"""How a hand ended, with a winner and without."""


def _end_lines(event: Mapping[str, Any]) -> Iterator[str]:
    somebody, nobody = _ENDED[event["reason"]]
    how = say(somebody, seat=event["winner"]) if event["winner"] else say(nobody)
    yield f"     {say('End of hand {hand}: {how}.', hand=event['hand'], how=how)}"
    for seat, left in enumerate(event["left"], start=1):
        if left:
            points = event["points"][seat - 1]
            kept = say_count(
                "keeps {cards}: {count} point", "keeps {cards}: {count} points", points, cards=_sorted(left)
            )
            yield f"     {_seat(seat)} {kept}"
    yield f"     {say('scored: {points}', points=_by_seat(event['scored']))}"
    if event["totals"] != event["scored"]:
        yield f"     {say('totals: {totals}', totals=_by_seat(event['totals']))}"


def _winner(winner: Any) -> str:
    if winner is None:
        return say("nobody wins")
    if isinstance(winner, list):
        return say("seats {seats} share it", seats=listed([str(seat) for seat in winner]))
    return say("seat {seat} wins", seat=winner)


def _by_seat(numbers: Sequence[int]) -> str:
    return ", ".join(say("seat {seat} {number}", seat=s, number=number) for s, number in enumerate(numbers, start=1))


def _seat(seat: int) -> str:
    """Write a seat in as much room as any of ten takes."""
    return say("seat {seat:<2}", seat=seat)


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
