"""A plan cut into chunks and played by threads: progress, stop rules, saving and resuming.

A plan is K scenarios that meet the same deals and a number of blocks (`sim.tally`). Which chunks the blocks are cut
into, how many threads play them and in which order they finish changes nothing in the result: every random number has
its own key, and counts are integers.

A run may look at its results and stop early. It looks after fixed numbers of blocks, whatever the chunks, and only
when all blocks before are finished, so that where it stops does not depend on the machine.
"""

import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np

from sim.compiled import cache_directory, kernel
from sim.engine import REPLAYS, WHOLE, begin_match, play_hand, play_match_hand, prepare, seat_players
from sim.engine import _settle as settle
from sim.record import RULE, VOID, rule_records
from sim.rules import Rules
from sim.table import MATCH, TABLE
from sim.tally import (
    LOTS,
    MATCH_MEASURES,
    PLAYER_MEASURES,
    SPAN,
    TABLE_MEASURES,
    TURNS_BINS,
    Tally,
    add_hand,
    add_hand_products,
    add_match,
    add_part_products,
    add_products,
    add_split,
    add_win_products,
    keep_results,
    mirror,
)
from sim.trace import StrategyFault, fault_text

FIRST_LOOK = 1_000
"""Blocks before a run first looks whether it may stop."""
LOOK_GROWTH = 1.25
"""Each further look comes after so many times the blocks."""
CHUNK_HANDS = 32_768
"""Hands a chunk at the most."""
FIRST_CHUNK = 1_024
"""Hands of the first chunks; how long they take says how large the next ones may be."""
CHUNK_SECONDS = 0.25
"""Time that a chunk may take, about: so much is lost at worst when a run is killed."""

HAND_ROW = (
    "scenario",
    "game",
    "rotation",
    "dealer",
    "ended",
    "winner",
    "turns",
    "cards_drawn",
    "reshuffles",
    "closed_on_wild",
)
"""Columns of a row a hand (`--per-game`), before points left and score by seat. Seats count from 1, 0 is nobody."""
MATCH_ROW = ("scenario", "game", "rotation", "first_dealer", "winner", "hands", "turns", "extra_hands", "capped")
"""Columns of a row a match, before the totals by seat; the winner of a shared match is 0."""

SCORING = ("winner_collects", "blocked_score", "target", "highest", "tie")
"""Fields of a rule record that the engine reads only when a hand is over."""

_u = np.uint64


@dataclass(frozen=True)
class Scenario:
    """Rules with a line-up: `crew` is its record (dtype CREW, shape ()), `names` the labels of its players by seat."""

    rules: Rules
    crew: np.ndarray[Any, Any]
    names: tuple[str, ...]
    blind: bool = False
    """Whether none of its players can know how a hand is scored, so that nobody plays otherwise for it."""

    def __post_init__(self) -> None:
        """Check that the groups of the crew are those of the names: counters are made for so many."""
        groups = list(dict.fromkeys(self.names))
        if [groups.index(name) for name in self.names] != self.crew["group"][: len(self.names)].tolist():
            raise ValueError(f"the seats that play alike in the line-up's record are not those of {self.names}")


@dataclass(frozen=True)
class Plan:
    """What is to be played: the same deals, `blocks` of them, under each scenario."""

    scenarios: tuple[Scenario, ...]
    seed: int
    blocks: int
    rotations: int = 1
    """Hands (or matches) a block and scenario; the dealer moves on by one seat each time."""
    matches: bool = False
    first_dealer: int | None = None
    """A seat from 0; None: the last seat for hands, drawn by chance for matches. In matches it leaves no rotations."""
    group_products: bool = False
    """Whether the products that comparing line-ups takes are counted (`Tally.group_products`)."""
    replays: int = 1
    """Times that each hand is played, with the same cards and other luck of the players; only of single hands."""

    def __post_init__(self) -> None:
        if not 1 <= self.replays <= REPLAYS or (self.matches and self.replays > 1):
            raise ValueError(f"{self.replays} replays; allowed: 1 to {REPLAYS} of single hands, 1 of matches")
        if self.matches and self.first_dealer is not None and self.rotations > 1:
            raise ValueError("a first dealer that is fixed cannot move on: one rotation a block")

    @property
    def players(self) -> int:
        """Players at the table, the same in all scenarios."""
        return len(self.scenarios[0].names)


class Rows(Protocol):
    """Where rows a hand go, chunk after chunk in order."""

    def write(self, rows: np.ndarray[Any, Any]) -> None:
        """Take int64 rows of shape (hands, columns) of `row_columns`."""


@dataclass
class Run:
    """A run as it goes and when it has ended: what is finished and why it stopped."""

    plan: Plan
    tally: Tally
    finished: list[tuple[int, int]] = field(default_factory=list)
    """Ranges of blocks counted in the tally, merged and in order."""
    seconds: float = 0.0
    """Wall time of playing, without compiling."""
    stopped: str = "all blocks played"


def rotations_of(lineup: Sequence[Any]) -> int:
    """How many rotations of a line-up differ: 1 if all players are alike, its length if none are."""
    names = list(lineup)
    return next(r for r in range(1, len(names) + 1) if names[r:] + names[:r] == names)


def row_columns(players: int, matches: bool) -> list[str]:
    """All columns of a row a hand, or a match."""
    seats = range(1, players + 1)
    if matches:
        return [*MATCH_ROW, *(f"total_{s}" for s in seats)]
    return [*HAND_ROW, *(f"points_left_{s}" for s in seats), *(f"score_{s}" for s in seats)]


# --- The kernels: one chunk ----------------------------------------------------------------------------------------


@kernel(inline=True)
def _write_hand(row, scenario, rotation, t):
    players = t.sight.players
    row[0] = scenario + 1
    row[1] = np.int64(t.game)
    row[2] = rotation
    row[3] = t.seat[_u(players - 1)] + 1
    row[4] = t.reason
    row[5] = t.seat[_u(t.winner)] + 1 if t.winner >= 0 else 0
    row[6] = t.sight.turn
    row[7] = t.cards_drawn
    row[8] = t.reshuffles
    row[9] = t.closed_on_wild
    for p in range(players):
        seat = t.seat[_u(p)]
        row[_u(10 + seat)] = t.points_left[_u(p)]
        row[_u(10 + players + seat)] = t.scored[_u(p)]


@kernel(inline=True)
def _write_match(row, scenario, game, rotation, m):
    row[0] = scenario + 1
    row[1] = game
    row[2] = rotation
    row[3] = m.first_dealer + 1
    row[4] = 0
    row[5] = m.hands
    row[6] = m.turns
    row[7] = m.extra
    row[8] = m.capped
    for s in range(m.players):
        if m.share[_u(s)] == WHOLE:
            row[4] = s + 1
        row[_u(9 + s)] = m.totals[_u(s)]


@kernel
def _hands_chunk(rules, crews, tables, leads, seed, first, last, rotations, dealer, players,
                 sums, products, win_products, turns, longest, group_products, replays,
                 split_blocks, split_sums, split_cells, split_cells_squared, split_positions_squared,
                 split_hand_products, rows):  # fmt: skip
    """Play blocks [first, last) of single hands; -1, or the scenario and rotation (`k * rotations + r`) at fault.

    Only scenarios that are their own `leads` are played; the others settle the hands of theirs again.
    """
    scenarios, measures = sums.shape
    groups = (measures - len(TABLE_MEASURES)) // 3 - players
    blocks = np.empty((SPAN, scenarios, measures), np.int64)
    split = split_blocks.shape[0] > 0
    results = np.zeros((scenarios * rotations if split else 0, players, replays, len(PLAYER_MEASURES)), np.int64)
    for k in range(scenarios):
        prepare(rules[k], tables[k])
        tables[k].seed = seed
    for start in range(first, last, SPAN):
        count = min(SPAN, last - start)
        blocks[:] = 0
        for b in range(count):
            for k in range(scenarios):
                if leads[_u(k)] != k:
                    continue
                rule, crew, t = rules[_u(k)], crews[_u(k)], tables[_u(k)]
                t.game = _u(start + b)
                for rotation in range(rotations):
                    for replay in range(replays):
                        seat_players(rule, t, players, (dealer + rotation) % players)
                        t.replay = replay
                        if play_hand(rule, t, crew) < 0:
                            return k * rotations + rotation
                        winner = t.winner
                        as_played = True
                        for other in range(scenarios):
                            if leads[_u(other)] != k:
                                continue
                            if other != k or not as_played:
                                # The winner comes first in what breaks a tie, and so wins again.
                                settle(rules[_u(other)], t, t.reason, winner)
                                as_played = False
                            add_hand(blocks[_u(b), _u(other)], t, crews[_u(other)], groups)
                            turns[_u(other), _u(t.sight.turn)] += 1
                            longest[_u(other)] = max(longest[_u(other)], t.longest_chain)
                            if split:
                                keep_results(results[_u(other * rotations + rotation)], replay, t)
                            if rows.shape[0]:
                                at = ((start - first + b) * scenarios + other) * rotations + rotation
                                _write_hand(rows[_u(at)], other, rotation, t)
            if split:
                lot = _u((start + b) % LOTS)
                split_blocks[lot] += 1
                add_split(results, split_sums[lot], split_cells[lot], split_cells_squared[lot],
                          split_positions_squared[lot], split_hand_products)  # fmt: skip
        add_products(blocks, count, sums, products)
        add_win_products(blocks, count, players, win_products)
        if group_products.shape[0]:
            add_part_products(blocks, count, measures - 3 * groups, 3 * groups, group_products)
    mirror(group_products)
    return -1


@kernel
def _matches_chunk(rules, crews, tables, matches, seed, first, last, rotations, dealer, players,
                   hands, hands_products, sums, products, hand_products, win_products, turns, longest,
                   match_sums, match_products, match_hands, match_turns,
                   group_products, match_win_products, rows):  # fmt: skip
    """Play blocks [first, last) of matches; -1, or the scenario and rotation (`k * rotations + r`) at fault."""
    scenarios, measures = sums.shape
    groups = (measures - len(TABLE_MEASURES)) // 3 - players
    blocks = np.empty((SPAN, scenarios, measures), np.int64)
    match_blocks = np.empty((SPAN, scenarios, match_sums.shape[1]), np.int64)
    block_hands = np.empty((SPAN, scenarios), np.int64)
    written = 0
    m = matches[0]
    for start in range(first, last, SPAN):
        count = min(SPAN, last - start)
        blocks[:] = 0
        match_blocks[:] = 0
        block_hands[:] = 0
        for b in range(count):
            game = start + b
            for k in range(scenarios):
                crew, t = crews[_u(k)], tables[_u(k)]
                for rotation in range(rotations):
                    begin_match(m, players, seed, _u(game), rotation, dealer)
                    while not m.over:
                        everybody = m.playing == players
                        if play_match_hand(rules[_u(k)], t, crew, m, seed, _u(game)) < 0:
                            return k * rotations + rotation
                        if everybody:
                            block_hands[_u(b), _u(k)] += 1
                            add_hand(blocks[_u(b), _u(k)], t, crew, groups)
                            turns[_u(k), _u(t.sight.turn)] += 1
                            longest[_u(k)] = max(longest[_u(k)], t.longest_chain)
                    add_match(match_blocks[_u(b), _u(k)], m)
                    match_hands[_u(k), _u(m.hands)] += 1
                    match_turns[_u(k), _u(min(m.turns, TURNS_BINS - 1))] += 1
                    if rows.shape[0]:
                        _write_match(rows[_u(written)], k, game, rotation, m)
                        written += 1
                hands[_u(k)] += block_hands[_u(b), _u(k)]
        add_products(blocks, count, sums, products)
        add_hand_products(blocks, block_hands, count, hand_products, hands_products)
        add_win_products(blocks, count, players, win_products)
        add_products(match_blocks, count, match_sums, match_products)
        if group_products.shape[0]:
            add_part_products(blocks, count, measures - 3 * groups, 3 * groups, group_products)
            add_part_products(match_blocks, count, len(MATCH_MEASURES), players, match_win_products)
    mirror(group_products)
    mirror(match_win_products)
    return -1


# --- The runner ----------------------------------------------------------------------------------------------------


def leads(plan: Plan) -> np.ndarray[Any, Any]:
    """Return for each scenario the one whose hands it shares (K,), itself where it is played; of matches all are.

    Hands are shared where rules differ in scoring alone and the same players can not know of it. A match is not: its
    totals are seen, and say when it is over.
    """
    found = np.arange(len(plan.scenarios))
    alike: dict[tuple[bytes, ...], list[int]] = {}
    void = []
    for k, scenario in enumerate(plan.scenarios):
        rule = rule_records(scenario.rules, plan.players)[plan.players]
        void.append(rule["blocked_score"] == VOID)
        if scenario.blind and not plan.matches:
            played = [rule[name].tobytes() for name in RULE.names or () if name not in SCORING]
            crew = [scenario.crew[name].tobytes() for name in scenario.crew.dtype.names or ()]
            alike.setdefault((*played, *crew, *(name.encode() for name in scenario.names)), []).append(k)
    for members in alike.values():
        # A void hand does not keep who would have won it.
        found[members] = min(members, key=lambda k: void[k])
    return found


def empty_tally(plan: Plan) -> Tally:
    """Nothing counted yet, in the shape of a plan."""
    groups = max(len(set(scenario.names)) for scenario in plan.scenarios)
    turn_cap = max(scenario.rules.turn_cap for scenario in plan.scenarios)
    split_rotations = plan.rotations if plan.replays > 1 else 0
    return Tally.empty(
        len(plan.scenarios), plan.players, groups, turn_cap, plan.matches, plan.group_products, split_rotations
    )


@dataclass(frozen=True)
class _Prepared:
    """A plan as arrays, shared by all chunks and never written to."""

    plan: Plan
    rules: np.ndarray[Any, Any]  # (K, MOST_PLAYERS + 1)
    crews: np.ndarray[Any, Any]  # (K,)
    leads: np.ndarray[Any, Any]  # (K,) of `leads`

    @classmethod
    def of(cls, plan: Plan) -> "_Prepared":
        rules = np.stack([rule_records(scenario.rules, plan.players) for scenario in plan.scenarios])
        crews = np.stack([scenario.crew for scenario in plan.scenarios])
        return cls(plan, rules, crews, leads(plan))

    def play(self, first: int, last: int, with_rows: bool) -> tuple[Tally, np.ndarray[Any, Any]]:
        """Play blocks [first, last). Raises StrategyFault."""
        plan = self.plan
        players = plan.players
        tally = empty_tally(plan)
        tables = np.zeros(len(plan.scenarios), TABLE)
        count = (last - first) * plan.rotations * len(plan.scenarios) if with_rows else 0
        rows = np.zeros((count, len(row_columns(players, plan.matches))), np.int64)
        span = (np.uint64(plan.seed), first, last, plan.rotations)
        if plan.matches:
            dealer = -1 if plan.first_dealer is None else plan.first_dealer
            fault = _matches_chunk(
                self.rules, self.crews, tables, np.zeros(1, MATCH), *span, dealer, players,
                tally.hands, tally.hands_products, tally.sums, tally.products, tally.hand_products,
                tally.win_products, tally.turns, tally.longest_chain,
                tally.match_sums, tally.match_products, tally.match_hands, tally.match_turns,
                tally.group_products, tally.match_win_products, rows,
            )  # fmt: skip
        else:
            dealer = players - 1 if plan.first_dealer is None else plan.first_dealer
            fault = _hands_chunk(
                np.ascontiguousarray(self.rules[:, players]), self.crews, tables, self.leads, *span, dealer, players,
                tally.sums, tally.products, tally.win_products, tally.turns, tally.longest_chain,
                tally.group_products, plan.replays, tally.split_blocks, tally.split_sums, tally.split_cells,
                tally.split_cells_squared, tally.split_positions_squared, tally.split_hand_products, rows,
            )  # fmt: skip
            # Every block has the same number of hands, so these products need no counting.
            each = plan.rotations * plan.replays
            tally.hands[:] = (last - first) * each
            tally.hands_products[:] = (last - first) * each**2
            tally.hand_products[:] = tally.sums[:, None, :] * each
        if fault >= 0:
            scenario, rotation = divmod(int(fault), plan.rotations)
            t = tables[scenario]
            text = fault_text(t, plan.scenarios[scenario].names)
            raise StrategyFault(text, scenario=scenario, game=int(t["game"]), rotation=rotation)
        tally.blocks[()] = last - first
        return tally, rows


def looks(blocks: int) -> Iterator[int]:
    """The numbers of blocks after which a run that may stop early looks, up to all of them."""
    at = FIRST_LOOK
    while at < blocks:
        yield at
        at = max(at + 1, round(at * LOOK_GROWTH))
    yield blocks


def is_compiled(matches: bool) -> bool:
    """Whether the engine need not be compiled first: it was, on this machine and from these sources."""
    name = "_matches_chunk" if matches else "_hands_chunk"
    return any(cache_directory(__file__).glob(f"**/batch.{name}*.nbi"))


def compile_engine(plan: Plan) -> None:
    """Compile what the plan needs, or load it from the cache, by playing none of it."""
    _Prepared.of(plan).play(0, 0, False)


def run(
    plan: Plan,
    *,
    threads: int = 1,
    chunk_hands: int = CHUNK_HANDS,
    enough: Callable[[Tally], str] | None = None,
    progress: Callable[[int], None] = lambda hands: None,
    rows: Rows | None = None,
    resumed: Run | None = None,
    save: Callable[[Run], None] = lambda run: None,
) -> Run:
    """Play a plan.

    `enough` looks at the tally of the first blocks and says why to stop, or '' to go on. `progress` is told the hands
    (or matches) finished since it was last told. `rows` gets a row a hand in the order of games. `resumed` is what an
    earlier run of the same plan had finished; `save` is called now and then, and at the end, with what is finished.

    On KeyboardInterrupt the run is returned with what was finished, and says so in `stopped`. Raises StrategyFault.
    """
    prepared = _Prepared.of(plan)
    result = resumed if resumed is not None else Run(plan, empty_tally(plan))
    result.stopped = "all blocks played"
    began = time.perf_counter() - result.seconds
    pace = _Pace(plan, chunk_hands)
    per_block = plan.rotations * plan.replays * len(plan.scenarios)
    if rows is not None and plan.replays > 1:
        raise ValueError(f"rows of {plan.replays} replays; allowed: of one, as a row does not say which it is")
    pool = ThreadPoolExecutor(threads)
    try:
        for last in looks(plan.blocks) if enough is not None else [plan.blocks]:
            for first, end, tally, chunk_rows in _play_all(
                prepared, pool, threads, result, last, pace, rows is not None
            ):
                result.tally.add(tally)
                result.finished = _merged([*result.finished, (first, end)])
                result.seconds = time.perf_counter() - began
                if rows is not None:
                    rows.write(chunk_rows)
                progress((end - first) * per_block)
                save(result)
            # A resumed run may be beyond this look, at which it was not far enough.
            if enough is not None and int(result.tally.blocks) == last and (why := enough(result.tally)):
                result.stopped = why
                break
    except KeyboardInterrupt:
        result.stopped = "interrupted"
    finally:
        pool.shutdown(wait=True, cancel_futures=True)
        result.seconds = time.perf_counter() - began
    return result


Chunk = tuple[int, int, Tally, np.ndarray[Any, Any]]


def _play_all(
    prepared: _Prepared, pool: ThreadPoolExecutor, threads: int, result: Run, last: int, pace: "_Pace", with_rows: bool
) -> Iterator[Chunk]:
    """The chunks of all blocks before `last` that are not finished, in order; a few are played ahead."""
    waiting: list[tuple[int, int, Future[tuple[Tally, np.ndarray[Any, Any]]]]] = []
    todo = _chunks(result.finished, last, pace)

    def play(first: int, end: int) -> tuple[Tally, np.ndarray[Any, Any]]:
        began = time.perf_counter()
        played = prepared.play(first, end, with_rows)
        pace.took(end - first, time.perf_counter() - began)
        return played

    while True:
        while len(waiting) < 2 * threads and (span := next(todo, None)) is not None:
            waiting.append((*span, pool.submit(play, *span)))
        if not waiting:
            return
        first, end, future = waiting.pop(0)
        yield first, end, *future.result()


class _Pace:
    """How many blocks the next chunk has: as many as take CHUNK_SECONDS, by the chunks before."""

    def __init__(self, plan: Plan, most_hands: int) -> None:
        each = plan.rotations * plan.replays * len(plan.scenarios)
        self.most = max(1, most_hands // each)
        self.size = max(1, min(most_hands, FIRST_CHUNK // (16 if plan.matches else 1)) // each)

    def took(self, blocks: int, seconds: float) -> None:
        fitting = int(blocks * CHUNK_SECONDS / max(seconds, 1e-9))
        self.size = max(1, min(self.most, fitting, 4 * self.size))


def _chunks(finished: Sequence[tuple[int, int]], last: int, pace: _Pace) -> Iterator[tuple[int, int]]:
    """The blocks before `last` outside the finished ranges, in ranges of the size of the moment."""
    at = 0
    for begin, end in [*finished, (last, last)]:
        while at < min(begin, last):
            stop = min(at + pace.size, begin, last)
            yield at, stop
            at = stop
        at = max(at, end)


def _merged(ranges: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """Ranges in order, those that touch made one."""
    merged: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if merged and merged[-1][1] == first:
            merged[-1] = (merged[-1][0], last)
        else:
            merged.append((first, last))
    return merged
