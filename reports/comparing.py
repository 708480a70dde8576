"""Which strategy is better, and by how much: from a question to a plan, and from its run to what was found.

Three ways to compare S strategies at a table of n. In a round robin each sits alone among n - 1 players of each other
one, and some tables are full of one strategy; against a `field` only that one is the company; `together` all sit at
one table, in all circular orders. Every scenario meets the same deals, each in all n rotations, so that seats even out
and differences are paired.

M[a][b] is the result of one a among players of b. What a gains by it is M[a][b] minus the result of a player at a
table full of b: what somebody gains who plays a where everybody plays b. Where every hand is won, a player of a full
table wins exactly 1 in n, so that gains of win share need no luck there; points are paired by deal. For two players a
against b is b against a, played once. Over all, a strategy gains the mean over the columns of the others (its own
would only add the 0 that it gains among its like); together, it gains on the mean of the table.

A gain is above 0 where it is good for the player, in points too: there it is points fewer under rules whose lowest
total wins, and points more where the highest does. Everything is a linear map of the shares and means by group of
seats, so all intervals come from one covariance over deal blocks.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import permutations
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from reports.answers import INTERRUPTED, PRECISE, Asked, stopped
from reports.intervals import Estimate, Floats, interval_mean, ratio_moments, simultaneous
from reports.sequential import AfterTest, Decision, Design, decide, estimate_after
from reports.skill import BlockSums
from reports.standings import Standings, cycles, rank_values
from reports.strengths import GROUPS, NoStrengths, Strengths, StrengthsMissing, count_orders, strengths
from sim.batch import Plan, Run, Scenario, looks, row_columns, run
from sim.engine import WHOLE
from sim.rules import NamedRules
from sim.tally import MATCH_MEASURES, PLAYER_MEASURES, SPLIT_SUMS, TABLE_MEASURES, Tally

Mode = Literal["round-robin", "field", "together"]
CrewOf = Callable[[Sequence[Mapping[str, Any]]], tuple[np.ndarray[Any, Any], Sequence[str]]]
"""Makes the engine's record of a line-up, an entry a seat (dtype CREW), and the labels of its seats."""

MOST_TOGETHER = 4
"""Strategies that are seated together in all orders: 5 would have 24 circular orders."""
MOST_LINEUPS = 150
"""Line-ups that a comparison plays: enough for 12 strategies in a round robin."""
ORDER_HANDS = 20_000
"""Hands, about, whose finishing orders the strengths are fitted to."""
DECIDED = "the test has decided"
SELF_LEVEL = 0.9999
"""Level of the intervals of a self-test: strategies that play by chance fail it by luck once in 10,000 times."""
SELF_COPIES = 3


class ComparisonError(ValueError):
    """A comparison that cannot be made: one line with what was given and what is allowed."""


# --- The question and its plan -------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Comparison(Asked):
    """A question about strategies under one rule set. Raises ComparisonError."""

    strategies: tuple[Mapping[str, Any], ...]
    """`{"strategy": name}`, with `forget_last_card` and `illegal_rate` where they are not 0."""
    labels: tuple[str, ...]
    """What the strategies are called in the answers, all different."""
    mode: Mode = "round-robin"
    field: int | None = None
    """Which of the strategies, from 0, is the field; only in mode `field`."""
    sprt: float | None = None
    """The difference, of win share or of matches won, that a sequential test is to decide about."""

    def __post_init__(self) -> None:
        """Check what belongs together."""
        super().__post_init__()
        size = len(self.labels)
        twice = [label for at, label in enumerate(self.labels) if label in self.labels[:at]]
        if len(self.rules) != 1:
            raise ComparisonError(f"{len(self.rules)} rule sets are given; allowed: compare strategies under one")
        if size < 2:
            raise ComparisonError(f"{size} strategy is given; allowed: two or more to compare")
        if twice:
            raise ComparisonError(f"strategy {twice[0]} is given twice; allowed: each once")
        if (self.mode == "field") != (self.field is not None and 0 <= self.field < size):
            raise ComparisonError("a field is one of the strategies compared, and there is one in mode field alone")
        if self.sprt is not None and self.precision is not None:
            raise ComparisonError("a precision and a sequential test are given; allowed: one rule to stop")
        if self.sprt is not None and size > 2 and self.mode != "field":
            raise ComparisonError(
                f"a sequential test of {size} strategies; allowed: two, or any number against a field"
            )
        for players in self.players:
            if self.mode == "together" and (size != players or size > MOST_TOGETHER):
                raise ComparisonError(
                    f"{size} strategies together at a table of {players}; allowed: as many as players, "
                    f"{MOST_TOGETHER} at most"
                )
            if len(self.lineups(players)) > MOST_LINEUPS:
                raise ComparisonError(
                    f"{size} strategies in a round robin make {len(self.lineups(players))} line-ups; allowed: "
                    f"{MOST_LINEUPS}; a field needs one for each strategy"
                )

    def lineups(self, players: int) -> list[tuple[int, ...]]:
        """Return the line-ups that are played, a scenario each: numbers of strategies by seat."""
        size = len(self.labels)
        if self.mode == "together":
            return [(0, *others) for others in permutations(range(1, size))]
        columns = range(size) if self.field is None else [self.field]
        alone = [(a, b) for a in range(size) for b in columns if a != b and (a < b or players > 2 or self.field == b)]
        return [*((a, *[b] * (players - 1)) for a, b in alone), *((b,) * players for b in columns)]

    def plan(self, players: int, crew_of: CrewOf) -> Plan:
        """Return what is to be played for a number of players. `crew_of` may raise what the registry raises."""
        scenarios = []
        for lineup in self.lineups(players):
            crew = crew_of([self.strategies[s] for s in lineup])[0].copy()
            names = tuple(self.labels[s] for s in lineup)
            # By what they are called here, as in a self-test copies of one strategy are told apart.
            groups = list(dict.fromkeys(names))
            crew["group"][:players] = [groups.index(name) for name in names]
            scenarios.append(Scenario(self.rules[0].rules, crew, names))
        blocks = -(-self.count // players)
        return Plan(tuple(scenarios), self.seed, blocks, players, self.matches, group_products=True)

    @property
    def everybody(self) -> Sequence[Mapping[str, Any]]:
        """The strategies."""
        return self.strategies

    def experiment(self) -> dict[str, Any]:
        """Return the question in full, as a results folder keeps it."""
        return {
            **self.told("compare"),
            "mode": self.mode,
            "field": None if self.field is None else self.labels[self.field],
            "sprt": self.sprt,
            "strategies": [dict(entry) for entry in self.strategies],
        }

    def command(self) -> str:
        """Return the command that asks it again, on any machine."""
        own = [] if self.field is None else ["--field", self.strategies[self.field]["strategy"]]
        own += ["--together"] if self.mode == "together" else []
        own += [] if self.sprt is None else ["--sprt", repr(self.sprt)]
        return self.command_words("compare", self.strategies, *own)

    def trace_command(self, scenario: int, players: int, game: int, rotation: int) -> str:
        """Return the command that shows one hand (or match) of it."""
        people = [self.strategies[s] for s in self.lineups(players)[scenario]]
        return self.trace_words(0, people, players, game, rotation)


# --- From counts to results by strategy ----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Moments:
    """A measure's means by scenario and group of seats, summed over the seats of a group, and their covariance."""

    values: Floats
    covariance: Floats

    def mapped(self, rows: Floats) -> tuple[Floats, Floats]:
        """Return the values and the covariance of linear combinations, a row each."""
        return rows @ self.values, rows @ self.covariance @ rows.T


def _groups_of(plan: Plan) -> list[list[str]]:
    return [list(dict.fromkeys(scenario.names)) for scenario in plan.scenarios]


def _hand_moments(tally: Tally, plan: Plan, measure: str) -> _Moments:
    """Per hand; (K * g): of group j in scenario k at k * g + j."""
    scenarios, n = len(plan.scenarios), plan.players
    g = max(map(len, _groups_of(plan)))
    at = PLAYER_MEASURES.index(measure) * g
    columns = slice(len(TABLE_MEASURES) + 3 * n + at, len(TABLE_MEASURES) + 3 * n + at + g)
    places = (np.arange(scenarios)[:, None] * 3 * g + at + np.arange(g)).ravel()
    theta, covariance = ratio_moments(
        tally.sums[:, columns],
        tally.hands,
        tally.group_products[np.ix_(places, places)],
        tally.hand_products[:, :, columns].transpose(0, 2, 1).reshape(scenarios * g, scenarios),
        tally.hands_products,
        int(tally.blocks),
    )
    return _Moments(theta, covariance)


def _match_moments(tally: Tally, plan: Plan) -> _Moments:
    """Parts of matches won, as `_hand_moments`."""
    scenarios, n = len(plan.scenarios), plan.players
    groups = _groups_of(plan)
    g = max(map(len, groups))
    blocks = int(tally.blocks)
    sums = tally.match_sums[:, len(MATCH_MEASURES) :]
    each = np.full(scenarios, plan.rotations * WHOLE)
    theta, covariance = ratio_moments(
        sums,
        each * blocks,
        tally.match_win_products,
        np.outer(sums.ravel(), each),
        np.outer(each, each) * blocks,
        blocks,
    )
    by_group = np.zeros((scenarios * g, scenarios * n))
    for k, scenario in enumerate(plan.scenarios):
        for seat, name in enumerate(scenario.names):
            by_group[k * g + groups[k].index(name), k * n + seat] = 1.0
    return _Moments(*_Moments(theta, covariance).mapped(by_group))


@dataclass(frozen=True)
class Lead:
    """By how much a player of one strategy is ahead of one of another after a hand: what `reports.skill.edge` takes."""

    mean: float
    se: float
    common_variance: float
    """What each hand adds to the variance of the lead where every deal is played in all rotations."""
    fresh_variance: float
    """The same where each hand is dealt afresh, within each position."""
    blocks: int


def lead(run: Run, scenario: int, first: str, second: str, measure: str = "win") -> Lead:
    """Return the lead of one strategy over another, by their labels, in a scenario of a run with replays.

    A lead in points (`score`) is above 0 where the first one's score is the larger, whatever that is good for.
    """
    plan, tally = run.plan, run.tally
    names, n, blocks = plan.scenarios[scenario].names, plan.players, int(tally.blocks)
    groups = _groups_of(plan)
    moments = _hand_moments(tally, plan, measure)
    g = len(moments.values) // len(groups)
    row = np.zeros((1, len(moments.values)))
    row[0, scenario * g + groups[scenario].index(first)] = 1 / names.count(first)
    row[0, scenario * g + groups[scenario].index(second)] = -1 / names.count(second)
    mean, variance = (float(found.ravel()[0]) for found in moments.mapped(row))
    by_seat = np.array(
        [(name == first) / names.count(first) - (name == second) / names.count(second) for name in names]
    )
    at = PLAYER_MEASURES.index(measure)
    hands = blocks * plan.replays
    fresh = []
    for rotation in range(plan.rotations):
        arrangement = scenario * plan.rotations + rotation
        dealer = (n - 1 if plan.first_dealer is None else plan.first_dealer) + rotation
        by_position = np.roll(by_seat, -(dealer + 1))
        square = by_position @ tally.split_hand_products[at, arrangement] @ by_position / hands
        fresh.append(square - (by_position @ tally.split_cells[:, at, arrangement].sum(axis=0) / hands) ** 2)
    each = plan.rotations * plan.replays
    return Lead(mean, variance**0.5, each * blocks * variance, float(np.mean(fresh)), blocks)


def block_sums(run: Run, measure: str = "win") -> BlockSums:
    """Return what `reports.skill.split` takes, from a run with replays; an arrangement is a scenario and a rotation."""
    tally, at = run.tally, PLAYER_MEASURES.index(measure)
    some = tally.split_blocks > 0  # a short run leaves lots empty
    return BlockSums(
        replays=run.plan.replays,
        blocks=tally.split_blocks[some],
        **{name: tally.split_sums[some, at, place] for place, name in enumerate(SPLIT_SUMS)},
        cells=tally.split_cells[some, at],
        cells_squared=tally.split_cells_squared[some, at],
        positions_squared=tally.split_positions_squared[some, at],
    )


@dataclass(frozen=True)
class _Maps:
    """Where results stand in the moments of a measure: linear maps, columns as in `_Moments`."""

    pairs: tuple[tuple[int, int], ...]
    """(a, b) of all cells of M that were played, without the diagonal."""
    cells: Floats
    """(P, K * g) M[a][b]."""
    fields: Floats
    """(P, K * g) what a player has at the table full of b."""
    shares: Floats
    """(S, K * g) result of each strategy over all."""
    gains: Floats
    """(S, K * g) what it gains."""


def _maps(question: Comparison, plan: Plan) -> _Maps:
    size, n = len(question.labels), plan.players
    groups = _groups_of(plan)
    g = max(map(len, groups))
    wide = len(groups) * g
    where = {lineup: k for k, lineup in enumerate(question.lineups(n))}

    def seat(lineup: tuple[int, ...], strategy: int) -> Floats:
        """Result of one seat of a strategy in a line-up."""
        row = np.zeros(wide)
        row[where[lineup] * g + groups[where[lineup]].index(question.labels[strategy])] = 1 / lineup.count(strategy)
        return row

    if question.mode == "together":
        shares = np.array([np.mean([seat(lineup, s) for lineup in where], axis=0) for s in range(size)])
        none = np.zeros((0, wide))
        return _Maps((), none, none, shares, shares - shares.mean(axis=0))
    columns = range(size) if question.field is None else [question.field]
    pairs = tuple((a, b) for a in range(size) for b in columns if a != b)
    cells = np.array([seat((a, *[b] * (n - 1)) if (a, *[b] * (n - 1)) in where else (b, a), a) for a, b in pairs])
    fields = np.array([seat((b,) * n, b) for _, b in pairs])
    shares, gains = np.zeros((2, size, wide))
    for s in range(size):
        own = [row for row, (a, _) in enumerate(pairs) if a == s]
        if own:
            shares[s] = cells[own].mean(axis=0)
            gains[s] = (cells[own] - fields[own]).mean(axis=0)
        else:  # the field, among its like
            shares[s] = seat((s,) * n, s)
    return _Maps(pairs, cells, fields, shares, gains)


def _together(values: Floats, covariance: Floats, blocks: int, scale: float) -> list[Estimate]:
    """Return intervals that hold together, with one block's worth of variance allowed for, as in `rank_values`."""
    if blocks > 1:
        return simultaneous(values, covariance + np.eye(len(values)) * (scale / blocks) ** 2, blocks)
    wide = simultaneous(np.maximum(np.abs(values), scale), covariance, blocks)
    return [
        Estimate(float(v), e.se, float(v) - (e.high - e.value), float(v) + (e.high - e.value))
        for v, e in zip(values, wide, strict=True)
    ]


# --- What was found ------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Results:
    """A measure by strategy; of `pairs` only where pairs were played. Each list's intervals hold together."""

    shares: tuple[Estimate, ...]
    """(S,) what a player of it has over all."""
    standings: Standings
    """Of what the strategies gain; a field's own gain is exactly 0."""
    cells: tuple[Estimate, ...]
    """(P,) M[a][b], in the order of `Finding.pairs`."""
    cell_gains: tuple[Estimate, ...]
    """(P,) what a gains among players of b."""
    duels: tuple[tuple[Estimate, ...], ...]
    """[a][b]: half of what a gains among players of b minus what b gains among players of a; round robin only."""
    full: tuple[Estimate, ...]
    """(P,) what a player has at the table full of b."""


@dataclass(frozen=True)
class Test:
    """A sequential test of one strategy against another, with the estimate where it ended."""

    strategy: int
    against: int
    design: Design
    decision: Decision
    after: AfterTest


@dataclass(frozen=True)
class Finding:
    """A run with all that is worked out of it once; takes up to seconds."""

    run: Run
    pairs: tuple[tuple[int, int], ...]
    """(a, b) of the cells of M, without the diagonal."""
    win: Results
    points: Results
    """Of scores, turned so that more is better in the gains; `shares`, `cells` and `full` are scores as they are."""
    match: Results | None
    """Of matches won; None if hands were played."""
    cycles: tuple[tuple[int, ...], ...]
    variance_ratios: Floats
    """(S, S) variance of the difference of two gains of win share against that from independent hands."""
    leaders_ratio: dict[str, float]
    """The same of the two that lead, and how much of it rotations and common deals did."""
    strengths: Strengths | None
    strengths_missing: str
    """Why there are no strengths, or nothing."""
    order_hands: int
    """Hands that the strengths come from."""
    tests: tuple[Test, ...]

    @classmethod
    def of(cls, question: Comparison, run: Run, rule: Callable[[Tally], str] | None = None) -> "Finding":
        """Work it out; `rule`: the run's own stop rule, which saves a sequential test a second look at all blocks."""
        plan, tally = run.plan, run.tally
        maps = _maps(question, plan)
        hands = _hand_moments(tally, plan, "win")
        scores = _hand_moments(tally, plan, "score")
        # The most that a block of one hand moves the mean, about: all that is scored in a hand.
        scored = max(1.0, float(scores.values.sum()) / len(plan.scenarios))
        win = _results(question, maps, hands, int(tally.blocks), 1.0, 1.0)
        better = 1.0 if question.rules[0].rules.match.winner == "highest" else -1.0
        points = _results(question, maps, scores, int(tally.blocks), better, scored)
        match = (
            _results(question, maps, _match_moments(tally, plan), int(tally.blocks), 1.0, 1.0) if plan.matches else None
        )
        main = match or win
        ratios, leaders = _variance_ratios(maps, plan, tally, hands, main.standings.order[:2])
        strong, missing, order_hands = _strengths(question, run)
        return cls(
            run=run,
            pairs=maps.pairs,
            win=win,
            points=points,
            match=match,
            cycles=cycles(main.duels),
            variance_ratios=ratios,
            leaders_ratio=leaders,
            strengths=strong,
            strengths_missing=missing,
            order_hands=order_hands,
            tests=_tests(question, run, rule),
        )

    @property
    def main(self) -> Results:
        """What the strategies are ranked by: matches won where matches were played, else hands won."""
        return self.match or self.win


def _results(question: Comparison, maps: _Maps, moments: _Moments, blocks: int, better: float, scale: float) -> Results:
    size = len(question.labels)
    values, covariance = moments.mapped(better * maps.gains)
    standings = rank_values(values, covariance, blocks, scale=scale)
    if question.field is not None:  # among its like it gains nothing, whatever is played
        exact = [*standings.values]
        exact[question.field] = Estimate(0.0, 0.0, 0.0, 0.0)
        standings = replace(standings, values=tuple(exact))
    gains = better * (maps.cells - maps.fields)
    duels: tuple[tuple[Estimate, ...], ...] = ()
    if maps.pairs and question.field is None:
        row = {pair: gains[at] for at, pair in enumerate(maps.pairs)}
        first, second = np.triu_indices(size, 1)
        rows = np.array([(row[a, b] - row[b, a]) / 2.0 for a, b in zip(first.tolist(), second.tolist(), strict=True)])
        table = [[Estimate(0.0, 0.0, 0.0, 0.0)] * size for _ in range(size)]
        found = _together(*moments.mapped(rows), blocks, scale)
        for a, b, e in zip(first.tolist(), second.tolist(), found, strict=True):
            table[a][b], table[b][a] = e, Estimate(-e.value, e.se, -e.high, -e.low)
        duels = tuple(map(tuple, table))

    def together(rows: Floats) -> tuple[Estimate, ...]:
        return tuple(_together(*moments.mapped(rows), blocks, scale)) if len(rows) else ()

    return Results(
        together(maps.shares), standings, together(maps.cells), together(gains), duels, together(maps.fields)
    )


def _variance_ratios(
    maps: _Maps, plan: Plan, tally: Tally, wins: _Moments, leaders: Sequence[int]
) -> tuple[Floats, dict[str, float]]:
    """Return variances of differences of gains against independent hands: of all pairs, and in parts of the leaders.

    Independent scenarios would leave the covariance within each as it is; independent hands would leave within each
    that of one hand, in which the groups exclude each other (multinomial), over the number of hands.
    """
    scenarios = len(plan.scenarios)
    g = len(wins.values) // scenarios
    apart, single = np.zeros((2, *wins.covariance.shape))
    for k in range(scenarios):
        own = slice(k * g, (k + 1) * g)
        p = wins.values[own]
        apart[own, own] = wins.covariance[own, own]
        single[own, own] = (np.diag(p) - np.outer(p, p)) / max(1, int(tally.hands[k]))
    size = len(maps.gains)

    def variances(covariance: Floats) -> Floats:
        among = maps.gains @ covariance @ maps.gains.T
        own = np.diag(among)
        return own[:, None] + own[None, :] - 2.0 * among

    def ratio(over: Floats, under: Floats) -> Floats:
        return np.where(under > 1e-15, np.maximum(over, 0.0) / np.maximum(under, 1e-15), 1.0)

    paired, unpaired, alone = variances(wins.covariance), variances(apart), variances(single)
    i, j = leaders
    parts = {"all": (paired, alone), "rotations": (unpaired, alone), "deals": (paired, unpaired)}
    told = {name: float(ratio(over, under)[i, j]) for name, (over, under) in parts.items()}
    return np.asarray(ratio(paired, alone)).reshape(size, size), told


class _Kept:
    """Rows a hand, kept."""

    def __init__(self) -> None:
        self.rows: list[NDArray[np.int64]] = []

    def write(self, rows: np.ndarray[Any, Any]) -> None:
        self.rows.append(rows)


def _strengths(question: Comparison, run_: Run) -> tuple[Strengths | None, str, int]:
    """Return strengths from the finishing orders of the first hands, or why there are none, and the hands behind them.

    The winner is first, the others follow by the points left in hand. The hands are played again for their rows: those
    of the run itself, or, where matches were played, single hands from the same seed.
    """
    plan, size = run_.plan, len(question.labels)
    mixed = tuple(scenario for scenario in plan.scenarios if len(set(scenario.names)) > 1)
    blocks = min(int(run_.tally.blocks), max(2, ORDER_HANDS // (plan.rotations * len(mixed))))
    hands = blocks * plan.rotations * len(mixed)
    if blocks < 2:
        return None, "a single deal was played", hands
    kept = _Kept()
    run(replace(plan, scenarios=mixed, blocks=blocks, matches=False, group_products=False), rows=kept)
    rows = np.concatenate(kept.rows)
    at = {column: place for place, column in enumerate(row_columns(plan.players, False))}
    who = np.array([[question.labels.index(name) for name in scenario.names] for scenario in mixed])
    left = rows[:, at["points_left_1"] : at["points_left_1"] + plan.players]
    won = rows[:, [at["winner"]]] == np.arange(1, plan.players + 1)
    groups = rows[:, at["game"]] * min(GROUPS, blocks) // blocks
    orders = count_orders(who[rows[:, at["scenario"]] - 1], np.where(won, -1, left), groups)
    try:
        found = strengths(orders, question.labels)
    except (NoStrengths, StrengthsMissing) as error:
        return None, str(error), hands
    assert len(found.values) == size
    return found, "", hands


# --- When to stop --------------------------------------------------------------------------------------------------


def stop_rule(question: Comparison, plan: Plan) -> Callable[[Tally], str] | None:
    """Return what looks at a run and says whether it is enough; None if all is to be played."""
    if question.sprt is not None:
        return SequentialTest(question, plan)
    wanted = question.precision
    if wanted is None:
        return None
    maps = _maps(question, plan)

    def enough(tally: Tally) -> str:
        moments = _match_moments(tally, plan) if plan.matches else _hand_moments(tally, plan, "win")
        gains = _together(*moments.mapped(maps.gains), int(tally.blocks), 1.0)
        widest = max((e.high - e.low) / 2 for e in gains)
        what = "match" if plan.matches else "win"
        return f"{PRECISE}: every gain of {what} share is known to ± {wanted:g} or better" if widest <= wanted else ""

    return enough


class SequentialTest:
    """A stop rule that tests differences of gains: of two strategies, or of each and the field.

    It goes on until it has decided about all of them; their error rates are shared out, so that together they hold.
    What it saw at each look is part of what it says. Where a run was taken up again and the looks before are not known,
    their blocks are played again.
    """

    def __init__(self, question: Comparison, plan: Plan) -> None:
        assert question.sprt is not None
        self.question, self.plan = question, plan
        field = question.field
        others = [s for s in range(len(question.labels)) if s != field]
        self.tested = [(0, 1)] if field is None else [(s, field) for s in others]
        # A run of one deal has nothing to test; two are the fewest that vary.
        alpha = 0.05 / len(self.tested)
        self.design = Design(question.sprt, tuple(at for at in looks(plan.blocks) if at > 1) or (2,), alpha, alpha)
        gains = _maps(question, plan).gains
        self._rows = np.array([gains[a] - gains[b] for a, b in self.tested])
        self._seen: dict[int, tuple[Floats, Floats]] = {}

    def __call__(self, tally: Tally) -> str:
        """Say that the test has decided, or nothing."""
        decisions = self.decisions(tally)
        if not decisions or any(decision.answer == "undecided" for decision in decisions):
            return ""
        labels = self.question.labels
        said = [
            f"{labels[a]} is {'neither better nor worse' if d.answer == 'neither' else d.answer} than {labels[b]}"
            for (a, b), d in zip(self.tested, decisions, strict=True)
        ]
        return f"{DECIDED}: {'; '.join(said)}"

    def decisions(self, tally: Tally) -> list[Decision]:
        """Return what the test says of each pair after the looks that these blocks are enough for; none: no look."""
        blocks = int(tally.blocks)
        due = [at for at in self.design.looks if at <= blocks]
        if not due:
            return []
        if due[-1] == blocks:
            self._see(tally)
        missing = [at for at in due if at not in self._seen]
        if missing:
            run(replace(self.plan, blocks=missing[-1]), enough=self._see)
        means, variances = (np.array([self._seen[at][part] for at in due]) for part in (0, 1))
        return [decide(self.design, means[:, k].tolist(), variances[:, k].tolist()) for k in range(len(self.tested))]

    def _see(self, tally: Tally) -> str:
        blocks = int(tally.blocks)
        moments = _match_moments(tally, self.plan) if self.plan.matches else _hand_moments(tally, self.plan, "win")
        mean, covariance = moments.mapped(self._rows)
        self._seen[blocks] = mean, np.maximum(np.diag(covariance), 0.0) * blocks
        return ""


def _tests(question: Comparison, run_: Run, rule: Callable[[Tally], str] | None) -> tuple[Test, ...]:
    if question.sprt is None:
        return ()
    test = rule if isinstance(rule, SequentialTest) else SequentialTest(question, run_.plan)
    return tuple(
        Test(a, b, test.design, decision, estimate_after(test.design, decision, level=1.0 - 0.05 / len(test.tested)))
        for (a, b), decision in zip(test.tested, test.decisions(run_.tally), strict=False)
    )


def why_stopped(question: Comparison, run: Run) -> str:
    """Why a run stopped, in words."""
    if run.stopped.startswith(DECIDED):
        return run.stopped
    text = stopped(question, run)
    return f"{text} before the test decided" if question.sprt is not None and text != INTERRUPTED else text


def label_of_estimates(question: Comparison, run: Run) -> str:
    """Return what has to stand beside the intervals of a run that stopped by its own results, or nothing."""
    if question.sprt is not None:
        return (
            "after a sequential test: it chose when to stop, so the ordinary intervals are somewhat too narrow; "
            "those of the tests allow for it"
        )
    if run.stopped.startswith(PRECISE):
        return "after stopping when precise enough: the interval that ended the run is slightly too narrow"
    return ""


# --- Checking itself -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Check:
    """A check of the program by itself: what was checked, whether it holds, and what came out."""

    what: str
    passed: bool
    said: str

    def line(self) -> str:
        """Return it as a line of text."""
        return f"{'pass' if self.passed else 'FAIL'}  {self.what}: {self.said}"


def self_test(
    named: NamedRules,
    crew_of: CrewOf,
    version: str,
    *,
    fixed: Mapping[str, Any],
    by_chance: Mapping[str, Any],
    players: Sequence[int] = (2, 4),
    hands: int = 20_000,
    threads: int = 1,
    seed: int = 1,
) -> list[Check]:
    """Compare strategies with copies of themselves, which may gain nothing.

    fixed: a strategy that never draws lots: with all seats taken by turns, its copies must gain exactly 0, in win share
    and in points. by_chance: one that does: 0 must lie in the intervals of all gains, which hold together at
    SELF_LEVEL, so that a sound program fails one check in 10,000 by luck; at a fixed seed it always does or never.
    """
    checks = []
    for number in players:
        for entry, exact in ((fixed, True), (by_chance, False)):
            labels = tuple(f"{entry['strategy']} (copy {copy})" for copy in range(1, SELF_COPIES + 1))
            question = Comparison(
                rules=(named,), names=(named.title,), players=(number,), notice_rate=1.0, seed=seed, count=hands,
                matches=False, precision=None, version=version, asked=(), strategies=(entry,) * SELF_COPIES,
                labels=labels,
            )  # fmt: skip
            plan = question.plan(number, crew_of)
            tally = run(plan, threads=threads).tally
            maps = _maps(question, plan)
            for measure, unit in (("win", "win share"), ("score", "points")):
                gains, covariance = _hand_moments(tally, plan, measure).mapped(maps.cells - maps.fields)
                what = f"{number} players, {SELF_COPIES} copies of {entry['strategy']}, {unit}"
                checks.append(_exactly_none(what, gains) if exact else _none_by_chance(what, gains, covariance, tally))
    return checks


def _exactly_none(what: str, gains: Floats) -> Check:
    most = float(np.abs(gains).max())
    return Check(what, most < 1e-9, f"largest gain {most:.3g}, allowed 0")


def _none_by_chance(what: str, gains: Floats, covariance: Floats, tally: Tally) -> Check:
    blocks = int(tally.blocks)
    each = 1.0 - (1.0 - SELF_LEVEL) / len(gains)
    ses = np.sqrt(np.maximum(np.diag(covariance), 0.0))
    half = interval_mean(0.0, 1.0, blocks, each).high  # in standard errors
    most = float(np.max(np.abs(gains) / np.maximum(ses, 1e-12)))
    said = f"largest gain {most:.2f} standard errors, allowed {half:.2f} (false alarm 1 in {1 / (1 - SELF_LEVEL):,.0f})"
    return Check(what, most <= half, said)
