"""What `length` answers: sentences, the JSON contract and data frames.

The numbers come ready from `reports.lengths`; nothing is estimated here. "Surely" means beyond intervals that hold for
all rule sets together.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from reports.answers import differs, origin, played_in_words, stopped
from reports.intervals import Estimate
from reports.language import listed, numeral, say, speaking
from reports.lengths import LengthFinding, LengthQuestion
from reports.output import with_interval
from reports.story import measures_frame
from reports.tables import lineup_in_words, lineup_name
from sim.streams import RNG_VERSION

if TYPE_CHECKING:
    import pandas as pd


# --- In words ------------------------------------------------------------------------------------------------------


def asked_in_words(question: LengthQuestion) -> str:
    """Return the question as a sentence."""
    players = say("{numbers} players", numbers=listed([str(n) for n in question.players]))
    if question.common():
        players = say("{players} ({settings})", players=players, settings=question.common_in_words())
    fields = {"rules": listed(question.names), "players": players}
    if len(question.names) == 1:
        if question.matches:
            return say("How long is a match of {rules} for {players}?", **fields)
        return say("How long is a hand of {rules} for {players}?", **fields)
    if question.matches:
        return say("Under which rules is a match quickest for {players}: {rules}?", **fields)
    return say("Under which rules is a hand quickest for {players}: {rules}?", **fields)


def verdict(question: LengthQuestion, finding: LengthFinding) -> str:
    """Return the answer for one number of players in sentences: who is quickest, how long that is, what is longer."""
    standings, names = finding.standings, question.names
    first = standings.order[0]
    said = [_how_long(question, finding, first)]
    if len(names) == 1:
        return said[0]
    best = [k for k in standings.order if standings.in_best_set[k]]
    worse = [k for k in standings.order if not standings.in_best_set[k]]
    rivals = ", ".join(names[k] for k in best[1:])
    if len(best) == 1:
        said.insert(0, say("Quickest: {rules}.", rules=names[first]))
    elif worse:
        said.insert(0, say("Quickest so far: {rules}; not surely longer: {rivals}.", rules=names[first], rivals=rivals))
    else:
        together = listed([names[k] for k in best])
        said.insert(0, say("No sure difference in length between {together}.", together=together))
    if worse:
        longer = ", ".join(f"{names[k]} ({_longer_by(finding, k, first)})" for k in worse)
        said.append(say("Surely longer: {rules}.", rules=longer))
    return " ".join(said)


def _how_long(question: LengthQuestion, finding: LengthFinding, scenario: int) -> str:
    told = finding.lengths[scenario]
    minutes = told["minutes_per_match" if question.matches else "minutes_per_hand"]
    turns = told[question.length]
    fields = {
        "rules": question.names[scenario],
        "turns": _mean(turns["mean"]),
        "seconds": numeral(f"{question.seconds_a_turn:g}"),
        "minutes": _mean(minutes["mean"]),
        "median": _short(minutes["median"].value),
        "most": _short(minutes["p90"].value),
        "players": finding.players,
    }
    if not question.matches:
        return say(
            "A hand of {rules} for {players} takes {turns} turns on average, at {seconds} s a turn {minutes} minutes; "
            "half of them take at most {median}, one in ten more than {most} minutes.",
            **fields,
        )
    return say(
        "A match of {rules} for {players} takes {hands} hands and {turns} turns on average, at {seconds} s a turn "
        "{minutes} minutes; half of them take at most {median}, one in ten more than {most} minutes.",
        hands=_mean(told["hands_per_match"]["mean"]),
        **fields,
    )


def _short(length: float) -> str:
    """Write a length as people say it: whole from 10 on, with a digit below."""
    return numeral(f"{length:,.0f}" if length >= 10 else f"{length:.1f}")


def _mean(e: Estimate) -> str:
    return with_interval(e.value, e.low, e.high)


def _longer_by(finding: LengthFinding, k: int, quickest: int) -> str:
    e, base = finding.standings.differences[quickest][k], -finding.standings.values[quickest].value
    percent = with_interval(*(100 * x / base for x in (e.value, e.low, e.high)))
    return say("by {percent} %", percent=percent)


def verdicts(question: LengthQuestion, findings: Sequence[LengthFinding]) -> list[str]:
    """Return the answers of all parts, headed by what they hold for where there are several."""
    if len(question.sittings()) == 1:
        return [verdict(question, findings[0])]
    return [f"{where(question, finding)}: {verdict(question, finding)}" for finding in findings]


def where(question: LengthQuestion, finding: LengthFinding) -> str:
    """Return what a finding holds for: `4 players`, and how they play if that was varied."""
    if len(question.lineups) == 1:
        return say("{players} players", players=finding.players)
    lineup = lineup_name(finding.question.lineups[0])
    return say("{players} players ({lineup})", players=finding.players, lineup=lineup)


def method(question: LengthQuestion, findings: Sequence[LengthFinding]) -> list[str]:
    """How it was found out, in paragraphs."""
    said = [
        say(
            "Every game was played by the computer with the line-up given below, from deals that follow from the seed. "
            "All rule sets met the same deals. Turns were counted; minutes are turns at {seconds} s a turn, which only "
            "people at a table can tell.",
            seconds=numeral(f"{question.seconds_a_turn:g}"),
        ),
        say(
            "Intervals are 95 % intervals from deals. Those of the means, by which the rule sets are ranked, hold for "
            "all of them together. Quantiles have the interval of their ranks."
        ),
    ]
    if any(e.value > 0 for finding in findings for e in finding.unfinished):
        said.append(
            say(
                "Under some rules a game can go on for ever. What was broken off counts with the length it had then, "
                "so that the true mean is longer; its share stands beside the lengths."
            )
        )
    if question.precision is not None:
        said.append(
            say(
                "How much is played was not fixed: the run stopped when the means were known to ± {percent} %, so the "
                "interval that ended it is slightly too narrow.",
                percent=numeral(f"{100 * question.precision:g}"),
            )
        )
    return said


def why_stopped(question: LengthQuestion, finding: LengthFinding) -> str:
    """Why a run stopped, in words."""
    if finding.run.stopped.startswith("precise") and question.precision is not None:
        percent = numeral(f"{100 * question.precision:g}")
        return say("precise enough: every mean length is known to ± {percent} %", percent=percent)
    return stopped(question, finding.run)


# --- For programs --------------------------------------------------------------------------------------------------


def length_answer(question: LengthQuestion, findings: Sequence[LengthFinding]) -> dict[str, Any]:
    """Return what `length --format json` prints; a finding for each part of the question that was played."""
    return {
        "question": asked_in_words(question),
        "verdict": " ".join(verdicts(question, findings)),
        "ranked_by": question.length,
        "seconds_a_turn": question.seconds_a_turn,
        "players": [_section(question, finding) for finding in findings],
        "rules": [
            {**origin(named, name), "differs": differs(question.rules[0], named), "rules": named.rules.as_dict()}
            for named, name in question.named()
        ],
        "lineups": [[dict(entry) for entry in lineup] for lineup in question.lineups],
        "notice_rate": question.notice_rate,
        "seed": question.seed,
        "rng_version": RNG_VERSION,
        "version": question.version,
        "seconds": sum(finding.run.seconds for finding in findings),
    }


def _section(question: LengthQuestion, finding: LengthFinding) -> dict[str, Any]:
    standings, run = finding.standings, finding.run
    matches = {"matches": int(run.tally.blocks) * run.plan.rotations} if run.plan.matches else {}
    return {
        "players": finding.players,
        "lineup": finding.question.seats(),
        "verdict": verdict(question, finding),
        "ranking": [
            {
                "rules": question.names[k],
                "rank_low": standings.rank_low[k],
                "rank_high": standings.rank_high[k],
                "in_best_set": standings.in_best_set[k],
                **{
                    length: {what: e.as_dict() for what, e in told.items()}
                    for length, told in finding.lengths[k].items()
                },
                "unfinished": finding.unfinished[k].as_dict(),
                "leader_wins": [{"hand": hand, **e.as_dict()} for hand, e in finding.leads[k]],
                "hands": int(run.tally.hands[k]),
            }
            for k in standings.order
        ],
        "differences": [
            {
                "rules": question.names[i],
                "minus": question.names[j],
                **standings.differences[j][i].as_dict(),
                "variance_ratio": standings.variance_ratio[i][j],
            }
            for at, j in enumerate(standings.order)
            for i in standings.order[at + 1 :]
        ],
        "blocks": int(run.tally.blocks),
        **matches,
        "hands": int(run.tally.hands.min()),
        "stopped": why_stopped(question, finding),
        "seconds": run.seconds,
    }


def ranking_frame(question: LengthQuestion, findings: Sequence[LengthFinding]) -> "pd.DataFrame":
    """Return the rule sets, the quickest first: a row a rule set and part; each length has `_low` and `_high`."""
    import pandas as pd

    rows = []
    for finding in findings:
        standings = finding.standings
        for k in standings.order:
            row: dict[str, Any] = {
                "players": finding.players,
                "lineup": lineup_in_words(finding.question.seats()),
                "rank_low": standings.rank_low[k],
                "rank_high": standings.rank_high[k],
                "rules": question.names[k],
            }
            told = {**finding.lengths[k], "": {"unfinished": finding.unfinished[k]}}
            for length, values in told.items():
                for what, e in values.items():
                    name = f"{length}_{what}".strip("_").removesuffix("_mean").replace(" ", "_")
                    row |= {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high}
            row |= {"in_best_set": standings.in_best_set[k], "seconds_a_turn": question.seconds_a_turn}
            row |= {"hands": int(finding.run.tally.hands[k]), "seed": str(question.seed)}
            rows.append({**row, **_provenance(question, finding)})
    return pd.DataFrame(rows)


def results(question: LengthQuestion, findings: Sequence[LengthFinding]) -> "pd.DataFrame":
    """Everything measured, tidy (`reports.frames.results_frame`), with the lengths and bounds that were asked for."""
    import pandas as pd

    frames = [
        measures_frame(
            finding.run,
            question.names,
            finding.story,
            seconds_a_turn=question.seconds_a_turn,
            bounds=question.bounds_by_length(),
        ).assign(**_provenance(question, finding))
        for finding in findings
    ]
    return pd.concat(frames, ignore_index=True)


def _provenance(question: LengthQuestion, finding: LengthFinding) -> dict[str, Any]:
    with speaking("en"):  # data is the same in every language
        stopped_because = why_stopped(question, finding)
    return {"version": question.version, "rng_version": RNG_VERSION, "stopped": stopped_because}


def counts_frame(question: LengthQuestion, finding: LengthFinding) -> "pd.DataFrame":
    """Return how many hands took how many turns: rules, turns, hands (`reports.figures_length.turns_distribution`)."""
    import pandas as pd

    rows = [
        {"rules": question.names[k], "turns": turns, "hands": int(count)}
        for k in finding.standings.order
        for turns, count in enumerate(finding.run.tally.turns[k])
        if count
    ]
    return pd.DataFrame(rows)


def quantiles_frame(question: LengthQuestion, finding: LengthFinding) -> "pd.DataFrame":
    """Return median and 90 % quantile of the turns a hand: rules, quantile, turns, low, high."""
    import pandas as pd

    rows = []
    for k in finding.standings.order:
        for name in ("median", "p90"):
            e = finding.lengths[k]["turns_per_hand"][name]
            rows.append({"rules": question.names[k], "quantile": name, "turns": e.value, "low": e.low, "high": e.high})
    return pd.DataFrame(rows)


def leads_frame(question: LengthQuestion, finding: LengthFinding) -> "pd.DataFrame":
    """Return how often who leads after hand k wins the match: rules, players, hand, chance, low, high."""
    import pandas as pd

    rows = [
        {
            "rules": question.names[k],
            "players": finding.players,
            "hand": hand,
            "chance": e.value,
            "low": e.low,
            "high": e.high,
        }
        for k in finding.standings.order
        for hand, e in finding.leads[k]
    ]
    return pd.DataFrame(rows)


def played(findings: Sequence[LengthFinding]) -> str:
    """Return how much was played, shortly."""
    return played_in_words([finding.run for finding in findings])
