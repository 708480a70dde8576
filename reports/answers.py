"""What a verb answers: from a question and the runs that played it to the JSON contract, data frames and files.

A `Question` holds all that decides a result, and nothing else (no threads, no format), so equal questions have equal
answers, whatever machine played them and however often it was interrupted. The forms of the answers are described in
docs/contracts.md; how they look on a screen is `reports.tables`' matter.
"""

import shlex
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from difflib import get_close_matches
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reports.fairness import Confirmation, Part, closest, confirm, ranking_frame, verdict, verdict_over
from reports.frames import even_chances, hand_estimates, lineup_text, rank_scenarios, simulation
from reports.intervals import Estimate, Ranking
from reports.language import listed, numeral, say, say_count, speaking
from reports.measures import (
    ALSO_CALLED,
    EVENNESS,
    HAND_MEASURES,
    JUDGED,
    LENGTHS,
    MATCHES,
    QUANTILES,
    STORY_HANDS,
    STORY_MATCHES,
    quantile_of,
)
from reports.story import everything, measures_frame
from reports.tables import lineup_name, option_value
from sim.batch import Plan, Run, Scenario, looks, rotations_of
from sim.rules import NamedRules, Rules, RulesError, changes_of, diff, load, preset_names
from sim.story import Story
from sim.streams import RNG_VERSION
from sim.tally import PLAYER_MEASURES, Tally

if TYPE_CHECKING:
    import pandas as pd

MEDIAN = "median_turns"
WHAT_ELSE = ("turns_per_hand", MEDIAN, "cards_drawn_per_hand", "blocked", "capped")
"""Measures of a hand that are told beside the fairness of a rule set."""
WHAT_ELSE_OF_MATCHES = ("hands_per_match", "turns_per_match", "first_dealer_wins")
STORIED = tuple(measure.name for measure in (*STORY_HANDS.values(), *JUDGED.values()))
STORIED_OF_MATCHES = tuple(measure.name for measure in STORY_MATCHES.values())
"""What the tallies do not hold: it is told by hands that are played again."""


def _lengths(ending: str) -> tuple[str, ...]:
    own = [name for name in LENGTHS if name.endswith(ending)]
    return (*own, *(quantile_of(name, share).name for name in own for share in QUANTILES))


MEASURED = tuple(
    dict.fromkeys(
        [
            MEDIAN,
            *(measure.name for key, measure in HAND_MEASURES.items() if key not in PLAYER_MEASURES),
            *(EVENNESS[key].name for key in ("cramers_v", "entropy")),
            *_lengths("_hand"),
            *STORIED,
        ]
    )
)
"""What can be told of a hand beside the fairness of a rule set."""
MEASURED_OF_MATCHES = tuple(
    dict.fromkeys(
        [
            *(measure.name for key, measure in MATCHES.items() if key != "match_win"),
            *_lengths("_match"),
            *STORIED_OF_MATCHES,
        ]
    )
)
SEEDS = 2**64
PRECISE = "precise enough"
INTERRUPTED = "interrupted"
WIN_BY_POSITION = ("win_share", "position")


class QuestionError(ValueError):
    """A question that cannot be asked: one line with what was given and what is allowed."""


@dataclass(frozen=True)
class Asked(ABC):
    """What decides a result whatever is asked: the rules, how many play, how much is played, and the seed."""

    rules: tuple[NamedRules, ...]
    names: tuple[str, ...]
    """What the rule sets are called, all different; settings are added where the names given lack them (`common`)."""
    players: tuple[int, ...]
    """The numbers of players for which it is asked, one after the other."""
    notice_rate: float
    seed: int
    count: int
    """Hands (or matches) under each rule set; with a precision, at most."""
    matches: bool
    precision: float | None
    version: str
    asked: tuple[str, ...]
    """The options of the command that name the rules: `--rules …`, `--set …`, `--vary …`."""

    def __post_init__(self) -> None:
        """Make the names tell all settings but those that hold for the whole comparison."""
        common = self.common()
        names = (
            " ".join([name, *(text for text in _lasting(named.sets) if text not in (*common, *name.split(" ")))])
            for named, name in self.named()
        )
        object.__setattr__(self, "names", tuple(names))

    def common(self) -> tuple[str, ...]:
        """Return the settings that all of several rule sets have, which are told once and not in each name."""
        if len(self.rules) == 1:
            return ()
        lasting = [_lasting(named.sets) for named in self.rules]
        return tuple(text for text in lasting[0] if all(text in other for other in lasting))

    def common_in_words(self) -> str:
        """Return `all with draw.limit=2`, or nothing."""
        return say("all with {settings}", settings=", ".join(self.common())) if self.common() else ""

    def named(self) -> list[tuple[NamedRules, str]]:
        """Return the rule sets with what they are called."""
        return list(zip(self.rules, self.names, strict=True))

    @property
    @abstractmethod
    def everybody(self) -> Sequence[Mapping[str, Any]]:
        """Everybody who plays in it: `{"strategy": name}`, with slips where there are any."""

    @abstractmethod
    def experiment(self) -> dict[str, Any]:
        """Return the question in full, as a results folder keeps it."""

    @abstractmethod
    def command(self) -> str:
        """Return the command that asks it again, on any machine."""

    @abstractmethod
    def trace_command(self, scenario: int, players: int, game: int, rotation: int) -> str:
        """Return the command that shows one hand (or match) of it."""

    def told(self, verb: str) -> dict[str, Any]:
        """Return what a results folder keeps of any question, before what is its own."""
        return {
            "verb": verb,
            "version": self.version,
            "rng_version": RNG_VERSION,
            "seed": self.seed,
            "players": list(self.players),
            "matches" if self.matches else "hands": self.count,
            "precision": self.precision,
            "notice_rate": self.notice_rate,
            "rules": [{**origin(named, name), "options": named.rules.as_dict()} for named, name in self.named()],
        }

    def command_words(self, verb: str, people: Sequence[Mapping[str, Any]], *own: str) -> str:
        """Return the command that asks it again; `people`: who plays, `own`: the options of the verb alone."""
        words = ["ochos-sim", verb, *self.asked, "--players", ",".join(map(str, self.players))]
        words += [*self.people_words(people), "--matches" if self.matches else "--hands", str(self.count)]
        if self.precision is not None:
            words += ["--precision", repr(self.precision)]
        return shlex.join([*words, *own, "--seed", str(self.seed)])

    def trace_words(
        self, scenario: int, people: Sequence[Mapping[str, Any]], players: int, game: int, rotation: int, *own: str
    ) -> str:
        """Return the command that shows one hand (or match) under a rule set, by people as in a line-up."""
        named = self.rules[scenario]
        words = ["ochos-sim", "trace", "--rules", "+".join([named.preset, *named.changes])]
        for text in named.sets:
            words += ["--set", text]
        words += ["--players", str(players), *self.people_words(people), "--seed", str(self.seed), "--game", str(game)]
        words += ["--match"] if self.matches else []
        return shlex.join([*words, *own, *(["--rotation", str(rotation)] if rotation else [])])

    def people_words(self, people: Sequence[Mapping[str, Any]]) -> list[str]:
        """Return the options that say who plays, and how often slips are noticed."""
        words: list[str] = []
        for entry in people:
            words += ["--strategy", entry["strategy"]] if "strategy" in entry else []
        for option, key in (("--forget-last-card", "forget_last_card"), ("--illegal-rate", "illegal_rate")):
            rates = [entry.get(key, 0) for entry in people]
            for rate in rates if any(rates) else []:
                words += [option, repr(rate)]
        return words + (["--notice-rate", repr(self.notice_rate)] if self.notice_rate != 1 else [])


Lineup = tuple[Mapping[str, Any], ...]
"""An entry a seat, or one that stands for all seats: `{"strategy": name}`, with `forget_last_card` and `illegal_rate`
where they are not 0, and, of a user's own strategy, `source` and `name` (what it is called, where that is shorter)."""


@dataclass(frozen=True)
class Question(Asked):
    """A question about rule sets under one line-up or several. Raises QuestionError."""

    verb: Literal["simulate", "fairness", "length"]
    lineups: tuple[Lineup, ...]
    """One of an entry a seat is for that number of players alone."""
    first_dealer: int | None
    """The seat, from 1, that deals first in a match; None: drawn by chance."""
    confirmed: bool = False
    """Whether a winner is played again at a fresh seed before it is called one."""
    measures: tuple[str, ...] = ()
    """What is told of each rule set beside its fairness, in place of WHAT_ELSE; none: that."""

    def __post_init__(self) -> None:
        """Check that everybody who is to play has somebody to play with."""
        super().__post_init__()
        told = [lineup_name(lineup) for lineup in self.lineups]
        for at, lineup in enumerate(self.lineups):
            if lineup in self.lineups[:at]:
                raise QuestionError(f"line-up {told[at]} is given twice; allowed: each once")
            if len(lineup) > 1 and len(lineup) not in self.players:
                raise QuestionError(
                    f"line-up {told[at]} has {len(lineup)} seats; allowed: one strategy for all seats, or one a seat "
                    f"of {' or '.join(map(str, self.players))}"
                )
        alone = set(self.players) - {players for players, _ in self.sittings()}
        if alone:
            raise QuestionError(f"no line-up is for {min(alone)} players; allowed: one strategy for all seats")

    @property
    def everybody(self) -> Sequence[Mapping[str, Any]]:
        """The entries of all line-ups."""
        return [entry for lineup in self.lineups for entry in lineup]

    @property
    def wants_story(self) -> bool:
        """Whether a measure is asked for that hands which are played again have to tell."""
        return any(name in (*STORIED, *STORIED_OF_MATCHES) for name in self.measures)

    def sittings(self) -> list[tuple[int, Lineup]]:
        """Return the parts of the question: each number of players with each line-up that it may have."""
        return [(n, lineup) for n in self.players for lineup in self.lineups if len(lineup) in (1, n)]

    def parts(self) -> list[tuple[str, "Question"]]:
        """Return the parts as questions of one number of players and one line-up, and what a folder calls them."""
        several = len(self.lineups) > 1
        return [
            (
                f"{n} players, line-up {self.lineups.index(lineup) + 1}" if several else f"{n} players",
                replace(self, players=(n,), lineups=(lineup,)),
            )
            for n, lineup in self.sittings()
        ]

    def seats(self) -> list[dict[str, Any]]:
        """Return the line-up of a part, an entry a seat."""
        ((players, lineup),) = self.sittings()
        return [dict(entry) for entry in (lineup * players if len(lineup) == 1 else lineup)]

    def plan(self, crew: np.ndarray[Any, Any], labels: Sequence[str], blind: bool = False) -> Plan:
        """Return what is to be played in a part; `labels`: what is played alike, by seat; `blind`: see `Scenario`."""
        # Where the first dealer is fixed, turning the line-up would play the same matches again.
        rotations = 1 if self.first_dealer is not None else rotations_of(labels)
        scenarios = tuple(Scenario(named.rules, crew, tuple(labels), blind) for named in self.rules)
        dealer = None if self.first_dealer is None else self.first_dealer - 1
        return Plan(scenarios, self.seed, -(-self.count // rotations), rotations, self.matches, dealer)

    def again(self, finding: "Finding") -> "tuple[Question, Plan] | None":
        """Return what confirms the winner of a finding, if it has one that is to be confirmed.

        The winner and its closest rival meet as many deals again, at the next seed. Also where a precision ended the
        run: the number of deals is then fixed beforehand, which it was not.
        """
        pair = closest(finding.ranking) if self.confirmed else None
        if pair is None:
            return None
        plan, seed = finding.run.plan, (self.seed + 1) % SEEDS
        own, rules, names = finding.question, tuple(self.rules[k] for k in pair), tuple(self.names[k] for k in pair)
        asked = replace(own, rules=rules, names=names, seed=seed, precision=None, confirmed=False)
        scenarios = tuple(plan.scenarios[k] for k in pair)
        return asked, replace(plan, scenarios=scenarios, seed=seed, blocks=int(finding.run.tally.blocks))

    def experiment(self) -> dict[str, Any]:
        """Return the question in full, as a results folder keeps it."""
        told = {**self.told(self.verb), "first_dealer": self.first_dealer}
        told["measures"] = list(self.measures) or None
        if self.verb == "fairness":
            told["confirm"] = self.confirmed
        if len(self.lineups) == 1:
            return {**told, "lineup": [dict(entry) for entry in self.lineups[0]]}
        return {**told, "lineups": [{"seats": [dict(entry) for entry in lineup]} for lineup in self.lineups]}

    def command(self) -> str:
        """Return the command that asks it again, on any machine."""
        own = self.own_words()
        if len(self.lineups) == 1:
            return self.command_words(self.verb, self.lineups[0], *own)
        for lineup in self.lineups:
            own += ["--lineup", ",".join(entry["strategy"] for entry in lineup)]
        errors = [{key: rate for key, rate in entry.items() if key != "strategy"} for entry in self.lineups[0]]
        return self.command_words(self.verb, errors, *own)

    def own_words(self) -> list[str]:
        """Return the options of the verb alone, for a command."""
        own = self._dealer_words()
        if self.verb == "fairness" and len(self.rules) > 1 and not self.confirmed:
            own += ["--no-confirm"]
        for name in self.measures:
            own += ["--measure", name]
        return own

    def trace_command(self, scenario: int, players: int, game: int, rotation: int) -> str:
        """Return the command that shows one hand (or match) of a part."""
        return self.trace_words(scenario, self.lineups[0], players, game, rotation, *self._dealer_words())

    def _dealer_words(self) -> list[str]:
        return [] if self.first_dealer is None else ["--first-dealer", str(self.first_dealer)]


@dataclass(frozen=True)
class Finding:
    """A run with what is worked out of it once: how its rule sets rank, and what else they change."""

    question: Question
    """The part that it answers, of one number of players and one line-up."""
    run: Run
    ranking: Ranking
    what_else: Mapping[str, Sequence[Estimate]]
    confirmation: Confirmation | None = None
    """What a fresh seed says of the winner; None: there is none, or it was not asked."""
    story: Story | None = None
    """How the first of its hands went; None: nobody needed it."""

    @classmethod
    def of(cls, question: Question, run: Run, story: Story | None = None) -> "Finding":
        """Work it out; takes up to seconds where many rule sets are compared."""
        ranking = rank_scenarios(run.tally, run.plan.players)
        return cls(question, run, ranking, what_else(run, question.measures, story, ranking), story=story)

    def confirmed_by(self, run: Run) -> "Finding":
        """Return it with what a run of `Question.again` says of its winner."""
        pair = closest(self.ranking)
        assert pair is not None
        ranking = rank_scenarios(run.tally, run.plan.players)
        said = confirm(pair, ranking, seed=run.plan.seed, deals=int(run.tally.blocks))
        return replace(self, confirmation=said)


def _lasting(sets: Sequence[str]) -> tuple[str, ...]:
    """Return the settings, in their order, that no later one replaces."""
    keys = [text.partition("=")[0].strip() for text in sets]
    return tuple(
        text
        for at, text in enumerate(sets)
        if not any(later == keys[at] or keys[at].startswith(f"{later}.") for later in keys[at + 1 :])
    )


def words_of(rules: Sequence[NamedRules]) -> tuple[str, ...]:
    """Return the options of a command that name these rule sets: `--rules …`, `--set …`, `--vary …`.

    Either all differ from the first one in one thing, or all have the same settings.
    """
    first = rules[0]
    specs = ["+".join([named.preset, *named.changes]) for named in rules]
    words = ["--rules", specs[0]]
    for text in first.sets:
        words += ["--set", text]
    if not all(f"{spec}+".startswith(f"{specs[0]}+") for spec in specs):
        return (*(word for spec in specs for word in ("--rules", spec)), *words[2:])
    varied: list[str] = []
    for named, spec in zip(rules[1:], specs[1:], strict=True):
        own = named.sets[len(first.sets) :]
        key, equals, value = own[0].partition("=") if own else ("", "", spec[len(specs[0]) + 1 :])
        if varied and varied[-1].startswith(f"{key}{equals}") and ("=" in varied[-1]) == bool(equals):
            varied[-1] += f",{value}"
        else:
            varied.append(f"{key}{equals}{value}")
    return (*words, *(word for text in varied for word in ("--vary", text)))


def check_measures(names: Sequence[str], matches: bool) -> tuple[str, ...]:
    """Return the measures that are to be told of each rule set. Raises QuestionError for one that cannot be."""
    allowed = [*MEASURED, *(MEASURED_OF_MATCHES if matches else ())]
    for at, name in enumerate(names):
        if name not in allowed:
            near = get_close_matches(name, allowed, 1)
            hint = f"did you mean {near[0]}?" if near else f"allowed: {', '.join(allowed)}"
            raise QuestionError(f"measure {name!r} is not told of a rule set as a whole; {hint}")
        if name in names[:at]:
            raise QuestionError(f"measure {name} is given twice; allowed: each once")
    return tuple(names)


# --- When to stop, and why it stopped ------------------------------------------------------------------------------


def stop_rule(question: Question, plan: Plan) -> Callable[[Tally], str] | None:
    """Return what looks at a run and says whether it is precise enough; None if no precision was asked for."""
    wanted = question.precision
    if wanted is None:
        return None
    # A run that is taken up again may hold more blocks than the look that it comes past: that look has been taken.
    allowed = frozenset(looks(plan.blocks))

    def enough(tally: Tally) -> str:
        if int(tally.blocks) not in allowed:
            return ""
        widest = max((e.high - e.low) / 2 for e in _watched(question.verb, tally, plan))
        what = "spread" if question.verb == "fairness" else "win share"
        return f"{PRECISE}: every {what} is known to ± {wanted:g} or better" if widest <= wanted else ""

    return enough


def _watched(verb: str, tally: Tally, plan: Plan) -> list[Estimate]:
    if verb == "fairness":
        return [Estimate(s.value, s.se, s.low, s.high) for s in rank_scenarios(tally, plan.players).spreads]
    found = hand_estimates(tally, 0, plan.scenarios[0].names)
    return [e for measure, by, _, e in found if (measure.name, by) == WIN_BY_POSITION]


def stopped(question: Asked, run: Run) -> str:
    """Why a run stopped, in words."""
    wanted = "" if question.precision is None else numeral(f"{question.precision:g}")
    if run.stopped == INTERRUPTED:
        return say("interrupted")
    if run.stopped.startswith(PRECISE):
        if "spread" in run.stopped:
            return say("precise enough: every spread is known to ± {wanted} or better", wanted=wanted)
        return say("precise enough: every win share is known to ± {wanted} or better", wanted=wanted)
    if question.matches:
        if wanted:
            return say("all matches played before ± {wanted} was reached", wanted=wanted)
        return say("all matches played")
    if wanted:
        return say("all hands played before ± {wanted} was reached", wanted=wanted)
    return say("all hands played")


# --- Answers in the form of the contracts --------------------------------------------------------------------------


def simulate_answer(question: Question, finding: Finding) -> dict[str, Any]:
    """Return what `simulate --format json` prints."""
    named, run = question.rules[0], finding.run
    measured = {name: each[0].as_dict() for name, each in finding.what_else.items()}
    return {
        "rules": named.rules.as_dict(),
        **{key: value for key, value in origin(named, question.names[0]).items() if key != "name"},
        "players": run.plan.players,
        "lineup": question.seats(),
        "notice_rate": question.notice_rate,
        "seed": question.seed,
        "rng_version": RNG_VERSION,
        "version": question.version,
        **simulation(run),
        "evenness": _evenness(finding, 0),
        **({"measures": measured} if question.measures else {}),
        "stopped": stopped(question, run),
    }


def _evenness(finding: Finding, scenario: int) -> dict[str, Any]:
    """Return how evenly the positions win under a rule set, in the three ways there are."""
    tally, players = finding.run.tally, finding.run.plan.players
    spread, even = finding.ranking.spreads[scenario], even_chances(tally, players)[scenario]
    return {
        "spread": spread.estimate.as_dict(),
        "spread_plain": spread.plain,
        "spread_null": spread.null,
        "cramers_v": even.cramers_v.as_dict(),
        "win_entropy": even.entropy.as_dict(),
        "chi_square": {"statistic": even.test.statistic, "df": even.test.df, "p": even.test.p_value},
    }


def fairness_answer(question: Question, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return what `fairness --format json` prints; a finding for each part of the question that was played."""
    sections = [_section(question, finding) for finding in findings]
    reasons = list(dict.fromkeys(section["stopped"] for section in sections))
    return {
        "question": asked_in_words(question),
        "verdict": verdicts(question, findings)[0],
        "players": sections,
        "rules": [
            {**origin(named, name), "differs": differs(question.rules[0], named), "rules": named.rules.as_dict()}
            for named, name in question.named()
        ],
        "lineup": [dict(entry) for entry in question.lineups[0]] if len(question.lineups) == 1 else [],
        "lineups": [[dict(entry) for entry in lineup] for lineup in question.lineups],
        "notice_rate": question.notice_rate,
        "seed": question.seed,
        "rng_version": RNG_VERSION,
        "version": question.version,
        "stopped": "; ".join(reasons),
        "seconds": sum(finding.run.seconds for finding in findings),
    }


def _section(question: Question, finding: Finding) -> dict[str, Any]:
    run, ranking, names = finding.run, finding.ranking, question.names
    tally = run.tally
    shares = [
        [e for measure, by, _, e in hand_estimates(tally, k, scenario.names) if (measure.name, by) == WIN_BY_POSITION]
        for k, scenario in enumerate(run.plan.scenarios)
    ]
    rows = []
    for k in ranking.order:
        spread = ranking.spreads[k]
        rows.append(
            {
                "rules": names[k],
                "rank_low": ranking.rank_low[k],
                "rank_high": ranking.rank_high[k],
                "in_best_set": ranking.in_best_set[k],
                "spread": {"value": spread.value, "se": spread.se, "low": spread.low, "high": spread.high},
                "spread_plain": spread.plain,
                "spread_null": spread.null,
                "best_position": spread.best_position,
                "worst_position": spread.worst_position,
                "positions": [
                    {"position": p, "win_share": estimate.as_dict()} for p, estimate in enumerate(shares[k], start=1)
                ],
                **{name: estimates[k].as_dict() for name, estimates in finding.what_else.items()},
                "evenness": _evenness(finding, k),
                "hands": int(tally.hands[k]),
            }
        )
    matches = {"matches": int(tally.blocks) * run.plan.rotations} if run.plan.matches else {}
    return {
        "players": run.plan.players,
        "lineup": finding.question.seats(),
        "ranking": rows,
        "verdict": _verdict(question, finding),
        "confirmed": None if finding.confirmation is None else finding.confirmation.holds,
        "confirmation": _confirmation(names, finding.confirmation),
        "best_set": [names[k] for k in ranking.order if ranking.in_best_set[k]],
        "differences": _differences(names, ranking),
        "blocks": int(tally.blocks),
        "hands": int(tally.hands.min()),
        **matches,
        "stopped": stopped(question, run),
        "seconds": run.seconds,
    }


def _confirmation(names: Sequence[str], said: Confirmation | None) -> dict[str, Any] | None:
    if said is None:
        return None
    return {
        "rules": names[said.winner],
        "rival": names[said.rival],
        "seed": said.seed,
        "blocks": said.deals,
        "spread": said.spread.estimate.as_dict(),
        "difference": said.difference.as_dict(),
        "variance_ratio": said.variance_ratio,
    }


def differs(base: NamedRules, named: NamedRules) -> list[dict[str, Any]]:
    """Return in which options a rule set differs from another one: `option`, `before` (in the other) and `now`."""
    return [{"option": key, "before": before, "now": now} for key, before, now in diff(base, named)]


def _differences(names: Sequence[str], ranking: Ranking) -> list[dict[str, Any]]:
    """Return the spread of each rule set minus that of each fairer one."""
    order = ranking.order
    return [
        {
            "rules": names[i],
            "minus": names[j],
            **ranking.differences[i][j].as_dict(),
            "variance_ratio": ranking.variance_ratio[i][j],
        }
        for at, j in enumerate(order)
        for i in order[at + 1 :]
    ]


def what_else(
    run: Run, measures: Sequence[str] = (), story: Story | None = None, ranking: Ranking | None = None
) -> dict[str, list[Estimate]]:
    """Return what changes beside the fairness, or the measures named: estimates by measure, one a scenario.

    Of what never came up, such as how often penalties are cut short where there are none, anything is possible.
    """
    # A mean is pulled up by hands that run to the cap: the median and the capped share stand beside it.
    names = measures or (*WHAT_ELSE, *(WHAT_ELSE_OF_MATCHES if run.plan.matches else ()))
    told = [
        {measure.name: value for measure, by, _, value in found if not by} for found in everything(run, story, ranking)
    ]
    anything = Estimate(0.0, 0.0, 0.0, 1.0)
    return {name: [found.get(ALSO_CALLED.get(name, name), anything) for found in told] for name in names}


def asked_in_words(question: Question) -> str:
    """Return the question as a sentence."""
    players = say("{numbers} players", numbers=listed([str(n) for n in question.players]))
    if len(question.lineups) > 1:
        lineups = "; ".join(lineup_name(lineup) for lineup in question.lineups)
        players = say("{players} (line-ups: {lineups})", players=players, lineups=lineups)
    if len(question.names) == 1:
        return say("How fair is {rules} for {players}?", rules=question.names[0], players=players)
    if question.common():
        players = say("{players} ({settings})", players=players, settings=question.common_in_words())
    presets = {named.preset for named in question.rules}
    if len(presets) == 1 and all("+".join([n.preset, *n.changes]) == name for n, name in question.named()):
        return say("Which house rule of {preset} is fairest for {players}?", preset=presets.pop(), players=players)
    return say("Which is fairer for {players}: {rules}?", players=players, rules=", ".join(question.names))


def _verdict(question: Question, finding: Finding) -> str:
    """Return the answer in sentences, headed by the settings that the names do not tell."""
    said = verdict(question.names, finding.ranking, finding.confirmation)
    return (f"{_settings(question)}. " if question.common() else "") + said


def where(question: Question, finding: Finding) -> str:
    """Return what a finding holds for: `4 players`, and how they play if that was varied."""
    return _part(question, finding).where


def _part(question: Question, finding: Finding) -> Part:
    lineup = lineup_name(finding.question.lineups[0]) if len(question.lineups) > 1 else ""
    return Part(finding.run.plan.players, lineup, finding.ranking, finding.confirmation)


def _settings(question: Question) -> str:
    return say("All with {settings}", settings=", ".join(question.common()))


def origin(named: NamedRules, name: str) -> dict[str, Any]:
    """Return what a rule set is called and what it was made of."""
    return {"name": name, "preset": named.preset, "changes": list(named.changes), "sets": list(named.sets)}


# --- Frames and files ----------------------------------------------------------------------------------------------


def results(question: Question, findings: Sequence[Finding]) -> "pd.DataFrame":
    """Everything measured, tidy (`reports.story.measures_frame`), all numbers of players."""
    import pandas as pd

    frames = [
        measures_frame(finding.run, question.names, finding.story).assign(**_provenance(question, finding.run))
        for finding in findings
    ]
    return pd.concat(frames, ignore_index=True)


def _provenance(question: Question, run: Run) -> dict[str, Any]:
    with speaking("en"):  # data is the same in every language
        return {"version": question.version, "rng_version": RNG_VERSION, "stopped": stopped(question, run)}


def records(frame: "pd.DataFrame") -> list[dict[str, Any]]:
    """Return the rows of a frame as plain dicts."""
    return [{str(key): value for key, value in row.items()} for row in frame.to_dict("records")]


def rankings(question: Question, findings: Sequence[Finding]) -> "pd.DataFrame":
    """Return the rankings (`reports.fairness.ranking_frame`), headed by the number of players."""
    import pandas as pd

    frames = []
    for finding in findings:
        frame = ranking_frame(question.names, finding.ranking, finding.what_else)
        run, again = finding.run, finding.confirmation
        frame.insert(0, "players", run.plan.players)
        hands = [int(run.tally.hands[k]) for k in finding.ranking.order]
        told: dict[str, Any] = {"lineup": lineup_text(run.plan.scenarios[0].names), "hands": hands}
        told |= {"blocks": int(run.tally.blocks), "seed": str(question.seed), **_provenance(question, run)}
        told["confirmed"] = "" if again is None else "yes" if again.holds else "no"
        frames.append(frame.assign(**told))
    return pd.concat(frames, ignore_index=True)


def verdicts(question: Question, findings: Sequence[Finding]) -> list[str]:
    """Return the answer in sentences: the whole in one, then, if it has several parts, each of these."""
    if len(question.sittings()) == 1:
        return [_verdict(question, findings[0])]
    parts = [_part(question, finding) for finding in findings]
    settings = f"{_settings(question)}: " if question.common() else ""
    said = [f"{p.where}: {verdict(question.names, p.ranking, p.confirmation)}" for p in parts]
    return [settings + verdict_over(question.names, parts), *said]


def method(question: Question, runs: Sequence[Run]) -> list[str]:
    """How it was found out, in paragraphs."""
    deals = [
        say(
            "Every hand was played by the computer with the line-up given below, from a deal that follows from the "
            "seed."
        )
    ]
    if len(question.names) > 1:
        deals.append(
            say("All rule sets met the same deals, so that luck is the same for all and differences are sharper.")
        )
    if max(run.plan.rotations for run in runs) > 1:
        deals.append(
            say("Each deal was played once for each turn of the line-up round the table, so that no seat has an edge.")
        )
    intervals = [
        say(
            "Intervals are 95 % intervals. They come from deals, not from hands, because the hands of one deal depend "
            "on each other. The intervals of the spreads hold for all rule sets of a table together, and so does the "
            "best set."
        )
    ]
    if question.verb == "fairness":
        intervals.append(
            say(
                "Under a perfectly fair rule too some position comes out ahead by chance. The spreads shown are "
                "corrected for that; ranking.csv also holds them as they came out (spread_plain) and about how much a "
                "perfectly fair rule would show by chance alone (spread_null)."
            )
        )
    if question.confirmed and len(question.names) > 1:
        intervals.append(
            say(
                "A winner and its closest rival met as many deals again, at another seed: the best of several looks "
                "better than it is, and only what comes out ahead twice is called the fairest."
            )
        )
    paragraphs = [" ".join(deals), " ".join(intervals)]
    if question.precision is not None:
        paragraphs.append(
            say(
                "The number of hands was not fixed: the run looked at its result from 1,000 deals on and stopped when "
                "it was precise to ± {precision}, so the interval that ended it is slightly too narrow.",
                precision=numeral(f"{question.precision:g}"),
            )
        )
    return paragraphs


def lineups_in_words(runs: Sequence[Run]) -> str:
    """Return the line-ups of all runs, shortly."""
    return "; ".join(dict.fromkeys(lineup_text(run.plan.scenarios[0].names) for run in runs))


def played_in_words(runs: Sequence[Run]) -> str:
    """Return how much was played, shortly: `1,000,000 deals, each under 6 rule sets, for 2 and for 4 players`."""
    said: dict[str, list[int]] = {}
    for run in runs:
        said.setdefault(_played(run), []).append(run.plan.players)
    if len(runs) == 1:
        return next(iter(said))
    return "; ".join(
        say(
            "{played}, for {numbers} players",
            played=text,
            numbers=listed([str(number) for number in dict.fromkeys(players)]),
        )
        for text, players in said.items()
    )


def _played(run: Run) -> str:
    count, sets, turns = int(run.tally.blocks), len(run.plan.scenarios), run.plan.rotations
    played = (
        say_count("{count:,} match", "{count:,} matches", count)
        if run.plan.matches
        else say_count("{count:,} deal", "{count:,} deals", count)
    )
    fields = {"played": played, "sets": sets, "turns": turns}
    if sets > 1 and turns > 1:
        return say("{played}, each under {sets} rule sets and with {turns} turns of the line-up", **fields)
    if sets > 1:
        return say("{played}, each under {sets} rule sets", **fields)
    if turns > 1:
        return say("{played}, each with {turns} turns of the line-up", **fields)
    return played


def compared_rules(rules: Sequence[NamedRules]) -> list[Any]:
    """Return what a report says of the rule sets; those that start from different ones are compared with the first."""
    first = rules[0] if len({named.preset for named in rules}) > 1 else None
    return [_compared(named, None if named is first else first) for named in rules]


def _compared(named: NamedRules, against: NamedRules | None = None) -> Any:
    from reports.page import Change, RulesCompared

    preset = named.preset in preset_names()
    base, start = (named.preset, load(named.preset)) if preset else _base_of_file(named.preset)
    if against is not None:
        base, start = _called(against), against
    changes = [Change(key, option_value(before), option_value(now)) for key, before, now in diff(start, named)]
    told = {change.name: change.about for change in changes_of(named.preset)} if preset else {}
    about = " ".join(filter(None, [named.about, *(f"+{c}: {told[c]}" for c in named.changes if c in told)]))
    name = _called(named)
    return RulesCompared(name, base, changes, named.sheet, about, named.rules.toml(name).strip())


def _called(named: NamedRules) -> str:
    return " ".join(["+".join([named.preset, *named.changes]), *_lasting(named.sets)])


def _base_of_file(path: str) -> tuple[str, NamedRules]:
    """Return what a rules file starts from and what that is called: a preset with changes, else the defaults."""
    try:
        base = tomllib.loads(Path(path).read_text("utf-8-sig")).get("base", "")
        if base:
            return base, load(base)
    except (OSError, ValueError, RulesError):
        pass  # the file has gone or was changed since it was read: the defaults serve as well
    return say("the defaults"), NamedRules(Rules(), "", (), (), "", "", "")
