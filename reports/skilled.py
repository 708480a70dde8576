"""Luck or skill under house rules: from a question to plans, and from their runs to what was found.

One player of a strategy A sits among players of a strategy B, all rule sets meet the same deals, each deal is played
with the dealer at every seat, and each hand twice, so that the luck of the play can be told from that of the cards.

What is measured is the lead: what A has more after a hand than the average of the others. Two ways to go on from it
are told apart. In a home game every hand is dealt afresh and the dealer moves on, so the luck of the deal stays in. In
duplicate play each deal is played with the dealer at every seat, so that most of it evens out. Rule sets are ranked by
the edge of the better player in a home game: the larger it is, the fewer hands it takes to be ahead with any chance.
"""

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reports.answers import INTERRUPTED, Asked
from reports.comparing import CrewOf, Lead, block_sums, lead
from reports.intervals import Estimate, Floats, interval_mean, jackknife
from reports.skill import (
    CHANCES,
    Needed,
    Part,
    SkillError,
    ahead_after,
    critical_repetition,
    edge,
    hands_needed,
    played_out,
    split,
)
from reports.standings import Standings, rank_values
from sim.batch import Plan, Run, Scenario, row_columns, run
from sim.tally import LOTS

PLAYERS = ("sensible", "random")
"""Who plays, the one and the others, where nobody says otherwise."""
PLAYS = 2
"""Times that each hand is played with the same cards: the least that tells the luck of the play from theirs."""
SPLIT_HANDS = 100_000
"""Hands under each of several rule sets, about, that the split of the variance comes from."""
PLAYED_BLOCKS = 50_000
"""Deals, at most, that are played out again for series of hands."""
LEAST_SERIES = 50
"""Series of a length: with fewer their share would tell nothing."""
PLAYED = (10, 100, 1_000)
"""Lengths of series, beside the hands needed; each is rounded up, so that all seats come round evenly."""
SHORTEST, LONGEST = 100, 100_000
"""Hands to which a curve is followed: at least, at most."""
MEASURES: Mapping["Measure", str] = {"wins": "win", "points": "score"}
"""What a lead is counted in, hands won or points as the match counts them, and its name in the tally."""
Measure = Literal["wins", "points"]


# --- The question and its plans ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Step:
    """A run that a question takes: of all rule sets, or of one alone, whose variance is split."""

    players: int
    rules: int | None
    name: str


@dataclass(frozen=True)
class SkillQuestion(Asked):
    """A question about luck and skill: of one player of the first strategy among players of the second.

    Raises SkillError.
    """

    strategies: tuple[Mapping[str, Any], ...]
    """Two of `{"strategy": name}`, with `forget_last_card` and `illegal_rate` where they are not 0."""
    labels: tuple[str, ...]
    """What the strategies are called in the answers."""
    by: Measure = "wins"
    """What the rule sets are ranked by, and what the verdict is about."""

    def __post_init__(self) -> None:
        """Check what belongs together."""
        super().__post_init__()
        given = f"{len(self.labels)} strateg{'y is' if len(self.labels) == 1 else 'ies are'} given"
        if len(self.labels) != 2 or len(self.strategies) != 2:
            raise SkillError(f"{given}; allowed: two, of which one may be better")
        if self.labels[0] == self.labels[1]:
            raise SkillError(f"strategy {self.labels[0]} is given twice; allowed: two that differ")
        if self.matches or self.precision is not None:
            what = "matches are" if self.matches else "a precision is"
            raise SkillError(f"{what} asked for; allowed: a number of hands, as skill is told from single hands")
        for players in self.players:
            least = LOTS * players * PLAYS
            if self.count < least:
                raise SkillError(
                    f"{self.count} hands of {players} players; allowed: {least} or more, to see how they vary"
                )

    def steps(self) -> list[Step]:
        """Return the runs that it takes, in their order."""
        steps = []
        for players in self.players:
            steps.append(Step(players, None, f"{players} players"))
            if len(self.rules) > 1:
                steps += [Step(players, k, f"{players} players, split {k + 1}") for k in range(len(self.rules))]
        return steps

    def plan(self, step: Step, crew_of: CrewOf) -> Plan:
        """Return what is to be played in a step. `crew_of` may raise what the registry raises."""
        names = (self.labels[0], *[self.labels[1]] * (step.players - 1))
        crew = crew_of(self.people(step.players))[0].copy()
        # By what they are called here, so that a strategy and its copy are told apart.
        crew["group"][: step.players] = [names.index(name) for name in names]
        chosen = self.rules if step.rules is None else self.rules[step.rules : step.rules + 1]
        scenarios = tuple(Scenario(named.rules, crew, names) for named in chosen)
        hands = self.count if step.rules is None else min(self.count, SPLIT_HANDS)
        blocks = -(-hands // (step.players * PLAYS))
        return Plan(scenarios, self.seed, blocks, step.players, group_products=True, replays=PLAYS)

    def people(self, players: int) -> list[Mapping[str, Any]]:
        """Return the line-up, an entry a seat."""
        return [self.strategies[0], *[self.strategies[1]] * (players - 1)]

    @property
    def everybody(self) -> Sequence[Mapping[str, Any]]:
        """The strategies."""
        return self.strategies

    def experiment(self) -> dict[str, Any]:
        """Return the question in full, as a results folder keeps it."""
        return {**self.told("skill"), "by": self.by, "strategies": [dict(entry) for entry in self.strategies]}

    def command(self) -> str:
        """Return the command that asks it again, on any machine."""
        return self.command_words("skill", self.strategies, *(["--by", self.by] if self.by != "wins" else []))

    def trace_command(self, scenario: int, players: int, game: int, rotation: int) -> str:
        """Return the command that shows one hand of it."""
        return self.trace_words(scenario, self.people(players), players, game, rotation)


# --- What was found ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Series:
    """Series of so many hands that were played out: how many, and the share that the better player led at the end."""

    hands: int
    count: int
    ahead: Estimate


@dataclass(frozen=True)
class View:
    """One way to go on: the edge after a hand and what follows from it; the series' intervals hold together."""

    edge: Estimate
    needed: tuple[Needed, ...]
    critical: Needed
    series: tuple[Series, ...]

    def holds_from(self) -> int | None:
        """Return the shortest series from which on all agree with the curve; None: not even the longest, or none."""
        found = None
        for one in reversed(self.series):
            (curve,) = ahead_after(self.edge, [one.hands])
            if one.ahead.low > curve.high or one.ahead.high < curve.low:
                break
            found = one.hands
        return found


@dataclass(frozen=True)
class Counted:
    """What was found under a rule set in one measure; a lead above 0 is good for the first strategy."""

    lead: Estimate
    better: int | None
    """The strategy that is better, 0 or 1; None: it is not sure that either is."""
    views: Mapping[str, View]


@dataclass(frozen=True)
class Split:
    """The variance of a player's result in a hand (1: won, 0: not), its parts, and what they come from."""

    variance: Estimate
    parts: tuple[Part, ...]
    hands: int
    blocks: int


@dataclass(frozen=True)
class Finding:
    """What was found for one number of players."""

    run: Run
    counted: tuple[Mapping[Measure, Counted], ...]
    """By rule set, then by measure."""
    splits: tuple[Split | None, ...]
    """By rule set; None where an interruption left no run for it."""
    ranking: Standings
    """Rule sets by the edge of the better player in a home game: the most left to skill first."""
    seconds: float

    @property
    def grid(self) -> list[int]:
        """Hands at which a curve is told: 1, 2, 5, 10, … as far as it takes to be nearly sure who is better."""
        last = [one.views["home_game"].needed[-1] for found in self.counted for one in found.values()]
        far = min(LONGEST, max(SHORTEST, *(4 * (needed.hands or needed.low) for needed in last)))
        steps = [step * 10**power for power in range(len(str(LONGEST))) for step in (1, 2, 5)]
        return steps[: next(at for at, hands in enumerate(steps, start=1) if hands >= far)]


def findings(question: SkillQuestion, runs: Sequence[Run], *, threads: int = 1) -> list[Finding]:
    """Work out what the runs of the first steps show, a finding for each number of players that was played.

    The first deals are played once more, by so many threads, for series of hands. An interrupted run of too few deals
    counts as none. Raises KeyboardInterrupt when interrupted.
    """
    found = []
    done = list(zip(question.steps(), runs, strict=False))
    for at, (step, main) in enumerate(done):
        if step.rules is None and int(main.tally.blocks) >= LOTS:
            others = [other for other_step, other in done[at + 1 :] if other_step.players == step.players]
            found.append(_finding(question, main, others, threads))
    return found


def _finding(question: SkillQuestion, main: Run, others: Sequence[Run], threads: int) -> Finding:
    leads = _leads_by_hand(main, threads)
    counted = tuple(
        {
            measure: _counted(_lead(question, main, k, measure), leads[measure][:, k] * _good(question, k, measure))
            for measure in MEASURES
        }
        for k in range(len(question.rules))
    )
    whole = [other for other in others if other.stopped != INTERRUPTED]  # the last one at most was
    splits = [_split(one) for one in ([main] if len(question.rules) == 1 else whole)]
    return Finding(
        run=main,
        counted=counted,
        splits=(*splits, *[None] * (len(question.rules) - len(splits))),
        ranking=_ranked(question, main),
        seconds=main.seconds + sum(other.seconds for other in others),
    )


def _good(question: SkillQuestion, rules: int, measure: Measure) -> int:
    """Return 1 where more of a measure is good for a player, -1 where it is bad."""
    return -1 if measure == "points" and question.rules[rules].rules.match.winner == "lowest" else 1


def _lead(question: SkillQuestion, main: Run, rules: int, measure: Measure) -> Lead:
    """Return the first strategy's lead, above 0 where it is good for it.

    Two that play alike have no lead in any deal. What so many deals cannot exclude is one of another kind, which would
    move the mean by about a hand's standard deviation over their number.
    """
    one, others = question.labels
    found = lead(main, rules, one, others, MEASURES[measure])
    se = math.hypot(found.se, math.sqrt(found.fresh_variance) / found.blocks)
    return replace(found, mean=_good(question, rules, measure) * found.mean, se=se)


class _Rows:
    """Takes rows a hand and keeps each hand's lead alone, times the number of the others, which makes it whole."""

    def __init__(self, plan: Plan) -> None:
        self.plan = plan
        self.kept: dict[Measure, list[NDArray[np.int64]]] = {measure: [] for measure in MEASURES}
        at = {column: place for place, column in enumerate(row_columns(plan.players, False))}
        self._winner, self._score = at["winner"], at["score_1"]

    def write(self, rows: np.ndarray[Any, Any]) -> None:
        others = self.plan.players - 1
        winner = rows[:, self._winner]
        scores = rows[:, self._score : self._score + self.plan.players]
        shape = (-1, len(self.plan.scenarios), self.plan.rotations)
        self.kept["wins"].append(np.where(winner == 1, others, -(winner > 1).astype(np.int64)).reshape(shape))
        self.kept["points"].append((others * scores[:, 0] - scores[:, 1:].sum(axis=1)).reshape(shape))


def _leads_by_hand(main: Run, threads: int) -> dict[Measure, NDArray[np.int64]]:
    """Return, by measure, the lead in each hand of the first deals, (deals, rule sets, rotations); see `_Rows`."""
    plan = replace(main.plan, blocks=min(PLAYED_BLOCKS, int(main.tally.blocks)), replays=1, group_products=False)
    rows = _Rows(plan)
    if run(plan, threads=threads, rows=rows).stopped == INTERRUPTED:
        raise KeyboardInterrupt
    return {measure: np.concatenate(leads) for measure, leads in rows.kept.items()}


def _counted(found: Lead, leads: NDArray[np.int64]) -> Counted:
    """Work out one measure; leads: (deals, rotations) of the hands that are played out."""
    deals, rotations = leads.shape
    # What a hand adds where every deal is played once at every seat: the run's own deals were played twice.
    common = float(leads.mean(axis=1).var(ddof=1)) * rotations / (rotations - 1) ** 2
    home = edge(found.mean, found.se, found.fresh_variance, found.blocks)
    duplicate = edge(found.mean, found.se, common, found.blocks)
    number = np.arange(deals)
    return Counted(
        lead=interval_mean(found.mean, found.se, found.blocks),
        better=None if home.low <= 0.0 <= home.high else int(found.mean < 0.0),
        views={
            # the dealer moves on with every hand, each from the next deal
            "home_game": _view(home, leads[number, number % rotations], 1, rotations),
            "duplicate": _view(duplicate, leads.sum(axis=1), rotations, rotations),
        },
    )


def _view(found: Estimate, scores: NDArray[np.int64], hands_each: int, players: int) -> View:
    needed = tuple(hands_needed(found, chance) for chance in CHANCES)
    wanted = {-(-hands // players) * players for hands in (*PLAYED, *(one.hands for one in needed)) if hands}
    lengths = sorted(hands for hands in wanted if hands * LEAST_SERIES <= len(scores) * hands_each)
    level = 1.0 - 0.05 / max(1, len(lengths))
    series = tuple(
        Series(hands, len(scores) * hands_each // hands, ahead)
        for hands, ahead in zip(lengths, played_out(scores, hands_each, lengths, level=level), strict=True)
    )
    return View(found, needed, critical_repetition(found), series)


def _split(one: Run) -> Split:
    variance, parts = split(block_sums(one))
    return Split(variance, parts, int(one.tally.hands[0]), int(one.tally.blocks))


def _ranked(question: SkillQuestion, main: Run) -> Standings:
    """Rank the rule sets by the edge of the better player in a home game.

    That the deals are common is in the covariance, from leaving out lots of blocks in turn. What a lot has of the
    variance of a hand hardly matters, so that is taken as known. Who is better is taken from the values: where that is
    not sure, the edge is near 0 whoever it is.
    """
    plan, n = main.plan, main.plan.players
    sums = block_sums(main, MEASURES[question.by])
    lots, blocks = len(sums.blocks), int(sums.blocks.sum())
    each = plan.rotations * plan.replays
    cells = sums.cells.reshape(lots, len(plan.scenarios), plan.rotations, n)
    # in rotation r the dealer is r seats further on, so that seat 1 sits so many positions before the first
    rotation = np.arange(plan.rotations)
    alone, everybody = cells[:, :, rotation, -rotation % n].sum(axis=2), cells.sum(axis=(2, 3))
    more = (n * alone - everybody) / ((n - 1) * each)  # (lots, rule sets), sums of the blocks' mean leads

    found = [_lead(question, main, k, question.by) for k in range(len(plan.scenarios))]
    variances = np.array([max(one.fresh_variance, one.mean**2 / blocks) or 1.0 for one in found])
    units = np.where(more.sum(axis=0) < 0.0, -1.0, 1.0) / np.sqrt(variances)
    edges: Floats = more.sum(axis=0) / blocks * units
    without = (more.sum(axis=0) - more) / (blocks - sums.blocks)[:, None] * units
    # The most that one block can move a value, about: all that is scored in a hand.
    scored = everybody.sum(axis=0) / (blocks * each)
    scale = float(lots / blocks * np.max(np.abs(scored * units)))
    return rank_values(edges, jackknife(without), lots, scale=scale)
