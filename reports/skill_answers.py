"""What a question about luck and skill answers: sentences, the JSON contract and data frames.

The numbers come ready from `reports.skilled`; nothing is estimated here but the points of curves, which follow from an
edge. "Surely" means beyond intervals that hold together.
"""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from reports.answers import origin, stopped
from reports.intervals import Estimate
from reports.output import with_interval
from reports.skill import Needed, ahead_after
from reports.skilled import PLAYS, Finding, Measure, SkillQuestion, View
from sim.streams import RNG_VERSION

if TYPE_CHECKING:
    import pandas as pd

PART_NAMES = {
    "skill": "who plays",
    "seat": "the seat",
    "deal": "the deal",
    "skill_in_deal": "skill that only some deals ask for",
    "chance": "chance in play",
}
"""The parts of a variance (`reports.skill.PARTS`) in words."""
COUNTED: Mapping[Measure, str] = {"wins": "hands won", "points": "points"}
"""What a lead is counted in, in words."""


# --- In words ------------------------------------------------------------------------------------------------------


def asked_in_words(question: SkillQuestion) -> str:
    """Return the question as a sentence."""
    numbers = [*map(str, question.players)]
    players = " and ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]]))
    common = f" ({question.common_in_words()})" if question.common() else ""
    who = f"for {players} players, one of {question.labels[0]} among {question.labels[1]}"
    if len(question.names) == 1:
        return f"Luck or skill under {question.names[0]}, {who}?"
    return f"Which rules leave most to skill{common}, {who}: {', '.join(question.names)}?"


def verdict(question: SkillQuestion, finding: Finding) -> str:
    """Return the answer for one number of players in sentences."""
    names, order, ranking = question.names, finding.ranking.order, finding.ranking
    leader = order[0]
    said = [f"All with {', '.join(question.common())}."] if question.common() else []
    best = [k for k in order if ranking.in_best_set[k]]
    worse = [names[k] for k in order if not ranking.in_best_set[k]]
    if len(names) > 1 and all(found[question.by].better is None for found in finding.counted):
        said.append("Under none of these rules is it sure who is better.")
    elif len(best) == 1 and worse:
        said.append(f"Most is left to skill under {names[leader]}, surely less under {', '.join(worse)}.")
    elif worse:
        rivals = ", ".join(names[k] for k in order if ranking.in_best_set[k] and k != leader)
        said.append(
            f"Most is left to skill under {names[leader]} so far, not surely less under {rivals}, "
            f"surely less under {', '.join(worse)}."
        )
    elif len(names) > 1:
        together = f"{', '.join(names[k] for k in best[:-1])} and {names[best[-1]]}"
        said.append(f"Which rules leave most to skill is not sure: {together} cannot be told apart.")
    return " ".join([*said, *_skill_in_words(question, finding, leader)])


def _skill_in_words(question: SkillQuestion, finding: Finding, k: int) -> list[str]:
    """Say for one rule set how many hands it takes, in the other measure too, and what a result depends on."""
    found, split = finding.counted[k], finding.splits[k]
    second: Measure = "points" if question.by == "wins" else "wins"
    main, other, counted = found[question.by], found[second], COUNTED[second]
    others = finding.run.plan.players - 1
    home = main.views["home_game"]
    early, wanted, late = (needed.in_words() for needed in home.needed)
    where = f"Under {question.names[k]}, playing at home and counting {COUNTED[question.by]},"
    if main.better is None:
        first, rest = question.labels
        said = [
            f"{where} it is not sure who is better, {first} or {rest}: it takes {wanted} hands until the better one is "
            "ahead with 90 %."
        ]
    else:
        better, worse = question.labels[main.better], question.labels[1 - main.better]
        ahead = (
            f"and ahead of the average of the {others} others"
            if main.better == 0
            else f"and its {others} players are on average ahead of the one of {worse}"
        )
        said = [
            f"{where} {better} is better than {worse} {ahead if others > 1 else 'and ahead'} with 90 % after {wanted} "
            f"hands, with 75 % after {early}, with 95 % after {late}; skill weighs as much as luck after "
            f"{home.critical.in_words()}."
        ]
    needed = other.views["home_game"].needed[1].in_words()
    if other.better is None:
        said.append(f"Counting {counted} it is not sure who is better.")
    elif main.better in (None, other.better):
        said.append(f"Counting {counted} {question.labels[other.better]} is ahead with 90 % after {needed} hands.")
    else:
        said.append(
            f"Counting {counted} it is {question.labels[other.better]} that is better, ahead with "
            f"90 % after {needed} hands."
        )
    if split is not None:
        shares = (f"{PART_NAMES[part.name]} {_percent(part.share)} %" for part in split.parts)
        said.append(f"Who wins a hand is, by its variance: {', '.join(shares)}.")
    return said


def _percent(share: Estimate) -> str:
    return with_interval(100.0 * share.value, 100.0 * share.low, 100.0 * share.high)


def method(question: SkillQuestion, found: Sequence[Finding]) -> list[str]:
    """How it was found out, in paragraphs."""
    a, b = question.labels
    several = any(finding.run.plan.players > 2 for finding in found)
    seated = (
        f"One of {a} sits among players of {b} and is ahead when it has more than their average. " if several else ""
    )
    hands = [f"{split.hands:,}" for finding in found for split in finding.splits[:1] if split is not None]
    split_hands = " and ".join(dict.fromkeys(hands))
    series = [
        f"{one.count:,} series of {one.hands:,} hands"
        for finding in found
        for one in finding.counted[finding.ranking.order[0]][question.by].views["home_game"].series[-1:]
    ]
    checked = f" It was checked by playing hands out to their end, up to {' and '.join(series)}." if series else ""
    return [
        f"Luck and skill are told for two ways to play, {a} and {b}; two that are further apart would need fewer "
        f"hands. {seated}All rule sets met the same deals, and each deal was played with the dealer at every seat.",
        "In a home game every hand is dealt afresh and the dealer moves on. In duplicate play each deal is played with "
        "the dealer at every seat. From the mean and the variance of the lead after a hand follows the chance of being "
        "ahead after many, by the normal distribution, which is good from some tens of hands on; a lead of nothing "
        f"counts one half.{checked}",
        "Skill weighs as much as luck where the lead to be expected equals its standard deviation (the critical "
        "repetition frequency).",
        f"The variance of a player's result in a hand (won or not) is split by playing each hand {PLAYS} times with "
        "the same cards"
        + (f", in {split_hands} hands under each rule set" if split_hands else "")
        + ". Parts below 0, which no variance is, are set to 0 and marked.",
        "Intervals are 95 % intervals from deals, not hands. The ranks and the differences between rule sets hold "
        "together, and so do those of the series played out.",
    ]


# --- Answers in the form of the contracts --------------------------------------------------------------------------


def skill_answer(question: SkillQuestion, found: Sequence[Finding]) -> dict[str, Any]:
    """Return what `skill --format json` prints; a finding for each number of players that was played."""
    sections = [_section(question, finding) for finding in found]
    return {
        "question": asked_in_words(question),
        "players": sections,
        "rules": [{**origin(named, name), "rules": named.rules.as_dict()} for named, name in question.named()],
        "ranked_by": question.by,
        "strategies": [
            {"name": label, **entry} for label, entry in zip(question.labels, question.strategies, strict=True)
        ],
        "notice_rate": question.notice_rate,
        "seed": question.seed,
        "rng_version": RNG_VERSION,
        "version": question.version,
        "stopped": "; ".join(dict.fromkeys(section["stopped"] for section in sections)),
        "seconds": sum(finding.seconds for finding in found),
    }


def _section(question: SkillQuestion, finding: Finding) -> dict[str, Any]:
    main, ranking, names = finding.run, finding.ranking, question.names
    return {
        "players": main.plan.players,
        "lineup": [dict(entry) for entry in question.people(main.plan.players)],
        "verdict": verdict(question, finding),
        "ranking": [_row(question, finding, k) for k in ranking.order],
        "best_set": [names[k] for k in ranking.order if ranking.in_best_set[k]],
        "differences": [
            {"rules": names[i], "minus": names[j], **ranking.differences[i][j].as_dict()}
            for at, i in enumerate(ranking.order)
            for j in ranking.order[at + 1 :]
        ],
        "blocks": int(main.tally.blocks),
        "hands": int(main.tally.hands.min()),
        "stopped": stopped(question, main),
        "seconds": finding.seconds,
    }


def _row(question: SkillQuestion, finding: Finding, k: int) -> dict[str, Any]:
    ranking, split = finding.ranking, finding.splits[k]
    measures: dict[str, Any] = {
        measure: {
            "better": None if one.better is None else question.labels[one.better],
            "lead": one.lead.as_dict(),
            **{name: _view_answer(view, finding.grid) for name, view in one.views.items()},
        }
        for measure, one in finding.counted[k].items()
    }
    return {
        "rules": question.names[k],
        "rank_low": ranking.rank_low[k],
        "rank_high": ranking.rank_high[k],
        "in_best_set": ranking.in_best_set[k],
        **measures,
        "split": None
        if split is None
        else {
            "variance": split.variance.as_dict(),
            "parts": [
                {
                    "part": part.name,
                    "share": part.share.as_dict(),
                    "variance": part.variance.as_dict(),
                    "clipped": part.clipped,
                }
                for part in split.parts
            ],
            "hands": split.hands,
            "blocks": split.blocks,
        },
    }


def _view_answer(view: View, grid: Sequence[int]) -> dict[str, Any]:
    return {
        "edge": view.edge.as_dict(),
        "critical_repetition": _needed(view.critical),
        "needed": [_needed(one) for one in view.needed],
        "curve": [{"hands": hands, **e.as_dict()} for hands, e in zip(grid, ahead_after(view.edge, grid), strict=True)],
        "played_out": [
            {"hands": one.hands, "series": one.count, **one.ahead.as_dict(), "curve": curve.as_dict()}
            for one, curve in zip(view.series, ahead_after(view.edge, [one.hands for one in view.series]), strict=True)
        ],
        "curve_holds_from": view.holds_from(),
    }


def _needed(one: Needed) -> dict[str, Any]:
    return {"chance": one.chance, "hands": one.hands, "low": one.low, "high": one.high}


# --- Frames --------------------------------------------------------------------------------------------------------


def results(question: SkillQuestion, found: Sequence[Finding]) -> "pd.DataFrame":
    """Everything measured, tidy (`reports.frames.results_frame`), all numbers of players."""
    import pandas as pd

    from reports.frames import results_frame

    frames = [results_frame(finding.run, question.names).assign(**_provenance(question, finding)) for finding in found]
    return pd.concat(frames, ignore_index=True)


def skill_frame(question: SkillQuestion, found: Sequence[Finding]) -> "pd.DataFrame":
    """Return the ranking, a row for each number of players and rule set, the most left to skill first.

    Hands are those of a home game, counting what it is ranked by: `hands_75`, `hands_90`, `hands_95` and
    `critical_repetition`, each with `_low` and `_high`; what is not known is missing. Then the shares of the variance,
    as far as it was split.
    """
    import pandas as pd

    rows = []
    for finding in found:
        tally = finding.run.tally
        for k in finding.ranking.order:
            one, split = finding.counted[k][question.by], finding.splits[k]
            view = one.views["home_game"]
            row: dict[str, Any] = {
                "players": finding.run.plan.players,
                "rules": question.names[k],
                "rank_low": finding.ranking.rank_low[k],
                "rank_high": finding.ranking.rank_high[k],
                "in_best_set": finding.ranking.in_best_set[k],
                "better": "" if one.better is None else question.labels[one.better],
                **_columns("edge", view.edge),
            }
            needed = {f"hands_{100 * each.chance:.0f}": each for each in view.needed}
            for name, each in {**needed, "critical_repetition": view.critical}.items():
                row |= {name: each.hands, f"{name}_low": each.low, f"{name}_high": each.high}
            for part in split.parts if split is not None else ():
                row |= _columns(f"{part.name}_share", part.share)
            row |= {"first": question.labels[0], "others": question.labels[1], "hands": int(tally.hands[k])}
            row |= {"blocks": int(tally.blocks), "seed": str(question.seed), **_provenance(question, finding)}
            rows.append(row)
    return pd.DataFrame(rows)


def curve_frame(
    question: SkillQuestion, found: Sequence[Finding], measure: Measure = "wins", view: str = "home_game"
) -> "pd.DataFrame":
    """Return the chance of being ahead, of one measure and view, as `reports.figures_skill.skill_curve` draws it.

    Columns: players, rules, hands, chance, low, high, kind (`curve`, ten points a decade, or `played`, with its number
    of `series`).
    """
    import pandas as pd

    rows = []
    for finding in found:
        far = finding.grid[-1]
        dense = np.unique(np.rint(np.geomspace(1, far, 1 + round(10 * np.log10(far)))).astype(int)).tolist()
        for k in finding.ranking.order:
            one = finding.counted[k][measure].views[view]
            told = [(hands, e, "curve", None) for hands, e in zip(dense, ahead_after(one.edge, dense), strict=True)]
            for hands, e, kind, count in [*told, *((s.hands, s.ahead, "played", s.count) for s in one.series)]:
                row = {"players": finding.run.plan.players, "rules": question.names[k], "hands": hands}
                rows.append({**row, "chance": e.value, "low": e.low, "high": e.high, "kind": kind, "series": count})
    return pd.DataFrame(rows)


def needed_frame(
    question: SkillQuestion, found: Sequence[Finding], measure: Measure = "wins", view: str = "home_game"
) -> "pd.DataFrame":
    """Return the hands needed: players, rules, chance, hands, low, high; what is not known is missing."""
    import pandas as pd

    rows = [
        {"players": finding.run.plan.players, "rules": question.names[k], **_needed(one)}
        for finding in found
        for k in finding.ranking.order
        for one in finding.counted[k][measure].views[view].needed
    ]
    return pd.DataFrame(rows).astype({"hands": float, "high": float})


def split_frame(question: SkillQuestion, found: Sequence[Finding]) -> "pd.DataFrame":
    """Return the parts of the variance: players, rules, part, share, share_low, share_high, clipped, hands."""
    import pandas as pd

    rows = [
        {
            "players": finding.run.plan.players,
            "rules": question.names[k],
            "part": part.name,
            **_columns("share", part.share),
            "clipped": part.clipped,
            "hands": split.hands,
        }
        for finding in found
        for k in finding.ranking.order
        if (split := finding.splits[k]) is not None
        for part in split.parts
    ]
    return pd.DataFrame(rows)


def _columns(name: str, e: Estimate) -> dict[str, float]:
    return {name: e.value, f"{name}_low": e.low, f"{name}_high": e.high}


def _provenance(question: SkillQuestion, finding: Finding) -> dict[str, Any]:
    return {
        "version": question.version,
        "rng_version": RNG_VERSION,
        "stopped": stopped(question, finding.run),
    }
