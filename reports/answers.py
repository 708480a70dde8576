"""What a verb answers: from a question and the runs that played it to the JSON contract, data frames and files.

A `Question` holds all that decides a result, and nothing else (no threads, no format), so equal questions have equal
answers, whatever machine played them and however often it was interrupted. The forms of the answers are described in
docs/contracts.md; how they look on a screen is `reports.tables`' matter.
"""

import shlex
import tomllib
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from reports.fairness import ranking_frame, verdict
from reports.frames import (
    hand_estimates,
    lineup_text,
    match_estimates,
    median_turns,
    rank_scenarios,
    results_frame,
    scenario_estimates,
    simulation,
)
from reports.intervals import Estimate, Ranking
from reports.tables import option_value
from sim.batch import Plan, Run, Scenario, looks, rotations_of
from sim.rules import NamedRules, Rules, RulesError, changes_of, diff, load, preset_names
from sim.saving import write_whole
from sim.streams import RNG_VERSION
from sim.tally import Tally

if TYPE_CHECKING:
    import pandas as pd

WHAT_ELSE = ("turns_per_hand", "median_turns", "cards_drawn_per_hand", "blocked", "capped")
"""Measures of a hand that are told beside the fairness of a rule set."""
WHAT_ELSE_OF_MATCHES = ("hands_per_match", "turns_per_match", "first_dealer_wins")
PRECISE = "precise enough"
INTERRUPTED = "interrupted"
WIN_BY_POSITION = ("win_share", "position")


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
        return f"all with {', '.join(self.common())}" if self.common() else ""

    def named(self) -> list[tuple[NamedRules, str]]:
        """Return the rule sets with what they are called."""
        return list(zip(self.rules, self.names, strict=True))

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
            words += ["--strategy", entry["strategy"]]
        for option, key in (("--forget-last-card", "forget_last_card"), ("--illegal-rate", "illegal_rate")):
            rates = [entry.get(key, 0) for entry in people]
            for rate in rates if any(rates) else []:
                words += [option, repr(rate)]
        return words + (["--notice-rate", repr(self.notice_rate)] if self.notice_rate != 1 else [])


@dataclass(frozen=True)
class Question(Asked):
    """A question about rule sets under one line-up, which has an entry a seat, or one that stands for all seats."""

    verb: Literal["simulate", "fairness"]
    lineup: tuple[Mapping[str, Any], ...]
    """`{"strategy": name}`, with `forget_last_card` and `illegal_rate` where they are not 0."""
    first_dealer: int | None
    """The seat, from 1, that deals first in a match; None: drawn by chance."""

    def seats(self, players: int) -> list[dict[str, Any]]:
        """Return the line-up for a number of players, an entry a seat."""
        return [dict(entry) for entry in (self.lineup * players if len(self.lineup) == 1 else self.lineup)]

    def plan(self, players: int, crew: np.ndarray[Any, Any], labels: Sequence[str]) -> Plan:
        """Return what is to be played for a number of players; `labels`: what is played alike, by seat."""
        # Where the first dealer is fixed, turning the line-up would play the same matches again.
        rotations = 1 if self.first_dealer is not None else rotations_of(labels)
        scenarios = tuple(Scenario(named.rules, crew, tuple(labels)) for named in self.rules)
        dealer = None if self.first_dealer is None else self.first_dealer - 1
        return Plan(scenarios, self.seed, -(-self.count // rotations), rotations, self.matches, dealer)

    def experiment(self) -> dict[str, Any]:
        """Return the question in full, as a results folder keeps it."""
        lineup = [dict(entry) for entry in self.lineup]
        return {**self.told(self.verb), "first_dealer": self.first_dealer, "lineup": lineup}

    def command(self) -> str:
        """Return the command that asks it again, on any machine."""
        return self.command_words(self.verb, self.lineup, *self._dealer_words())

    def trace_command(self, scenario: int, players: int, game: int, rotation: int) -> str:
        """Return the command that shows one hand (or match) of it."""
        return self.trace_words(scenario, self.lineup, players, game, rotation, *self._dealer_words())

    def _dealer_words(self) -> list[str]:
        return [] if self.first_dealer is None else ["--first-dealer", str(self.first_dealer)]


@dataclass(frozen=True)
class Finding:
    """A run with what is worked out of it once: how its rule sets rank, and what else they change."""

    run: Run
    ranking: Ranking
    what_else: Mapping[str, Sequence[Estimate]]

    @classmethod
    def of(cls, run: Run) -> "Finding":
        """Work it out; takes up to seconds where many rule sets are compared."""
        return cls(run, rank_scenarios(run.tally, run.plan.players), what_else(run))


def _lasting(sets: Sequence[str]) -> tuple[str, ...]:
    """Return the settings, in their order, that no later one replaces."""
    keys = [text.partition("=")[0].strip() for text in sets]
    return tuple(
        text
        for at, text in enumerate(sets)
        if not any(later == keys[at] or keys[at].startswith(f"{later}.") for later in keys[at + 1 :])
    )


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
    if run.stopped == INTERRUPTED or run.stopped.startswith(PRECISE):
        return run.stopped
    what = "all matches played" if question.matches else "all hands played"
    return what if question.precision is None else f"{what} before ± {question.precision:g} was reached"


# --- Answers in the form of the contracts --------------------------------------------------------------------------


def simulate_answer(question: Question, run: Run) -> dict[str, Any]:
    """Return what `simulate --format json` prints."""
    named = question.rules[0]
    return {
        "rules": named.rules.as_dict(),
        **{key: value for key, value in origin(named, question.names[0]).items() if key != "name"},
        "players": run.plan.players,
        "lineup": question.seats(run.plan.players),
        "notice_rate": question.notice_rate,
        "seed": question.seed,
        "rng_version": RNG_VERSION,
        "version": question.version,
        **simulation(run),
        "stopped": stopped(question, run),
    }


def fairness_answer(question: Question, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return what `fairness --format json` prints; a finding for each number of players that was played."""
    sections = [_section(question, finding) for finding in findings]
    reasons = list(dict.fromkeys(section["stopped"] for section in sections))
    return {
        "question": asked_in_words(question),
        "players": sections,
        "rules": [{**origin(named, name), "rules": named.rules.as_dict()} for named, name in question.named()],
        "lineup": [dict(entry) for entry in question.lineup],
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
                "hands": int(tally.hands[k]),
            }
        )
    matches = {"matches": int(tally.blocks) * run.plan.rotations} if run.plan.matches else {}
    return {
        "players": run.plan.players,
        "lineup": question.seats(run.plan.players),
        "ranking": rows,
        "verdict": _verdict(question, ranking),
        "best_set": [names[k] for k in ranking.order if ranking.in_best_set[k]],
        "differences": _differences(names, ranking),
        "blocks": int(tally.blocks),
        "hands": int(tally.hands.min()),
        **matches,
        "stopped": stopped(question, run),
        "seconds": run.seconds,
    }


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


def what_else(run: Run) -> dict[str, list[Estimate]]:
    """Return what changes beside the fairness: estimates by measure, one a scenario."""
    scenarios = run.plan.scenarios
    found = {name: scenario_estimates(run.tally, name, scenarios) for name in WHAT_ELSE if name != "median_turns"}
    # A mean is pulled up by hands that run to the cap: the median and the capped share stand beside it.
    found["median_turns"] = median_turns(run.tally)
    found = {name: found[name] for name in WHAT_ELSE}
    if run.plan.matches:
        count = int(run.tally.blocks) * run.plan.rotations
        for name in WHAT_ELSE_OF_MATCHES:
            found[name] = [
                e
                for k in range(len(scenarios))
                for measure, by, _, e in match_estimates(run.tally, k, count)
                if measure.name == name and not by
            ]
    return found


def asked_in_words(question: Question) -> str:
    """Return the question as a sentence."""
    players = " and ".join(filter(None, [", ".join(map(str, question.players[:-1])), str(question.players[-1])]))
    if len(question.names) == 1:
        return f"How fair is {question.names[0]} for {players} players?"
    common = f" ({question.common_in_words()})" if question.common() else ""
    presets = {named.preset for named in question.rules}
    if len(presets) == 1 and all("+".join([n.preset, *n.changes]) == name for n, name in question.named()):
        return f"Which house rule of {presets.pop()} is fairest{common}, for {players} players?"
    return f"Which is fairer for {players} players{common}: {', '.join(question.names)}?"


def _verdict(question: Question, ranking: Ranking) -> str:
    """Return the answer in sentences, headed by the settings that the names do not tell."""
    return (f"{_settings(question)}. " if question.common() else "") + verdict(question.names, ranking)


def _settings(question: Question) -> str:
    return f"All with {', '.join(question.common())}"


def origin(named: NamedRules, name: str) -> dict[str, Any]:
    """Return what a rule set is called and what it was made of."""
    return {"name": name, "preset": named.preset, "changes": list(named.changes), "sets": list(named.sets)}


# --- Frames and files ----------------------------------------------------------------------------------------------


def results(question: Question, runs: Sequence[Run]) -> "pd.DataFrame":
    """Everything measured, tidy (`reports.frames.results_frame`), all numbers of players."""
    import pandas as pd

    frames = [results_frame(run, question.names).assign(**_provenance(question, run)) for run in runs]
    return pd.concat(frames, ignore_index=True)


def _provenance(question: Question, run: Run) -> dict[str, Any]:
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
        run = finding.run
        frame.insert(0, "players", run.plan.players)
        hands = [int(run.tally.hands[k]) for k in finding.ranking.order]
        told: dict[str, Any] = {"lineup": lineup_text(run.plan.scenarios[0].names), "hands": hands}
        told |= {"blocks": int(run.tally.blocks), "seed": str(question.seed), **_provenance(question, run)}
        frames.append(frame.assign(**told))
    return pd.concat(frames, ignore_index=True)


def write_answer(question: Question, findings: Sequence[Finding], folder: Path) -> None:
    """Write tables, figures and pages into a results folder. Equal questions give equal bytes. Raises OSError."""
    # Here, because matplotlib and jinja take their time and most answers are printed only.
    from reports.figures import save_figures
    from reports.page import Facts, Report, Section, ranking_table, write_reports

    runs = [finding.run for finding in findings]
    everything, ranked = results(question, runs), rankings(question, findings)
    for name, frame in (("results", everything), ("ranking", ranked)):
        write_whole(folder / f"{name}.csv", frame.to_csv(index=False).encode())
        content = BytesIO()
        frame.to_parquet(content, index=False)
        write_whole(folder / f"{name}.parquet", content.getvalue())
    sections = []
    for players in question.players:
        ranking = ranked[ranked["players"] == players].drop(columns="players").reset_index(drop=True)
        measured = everything[everything["players"] == players]
        figures = save_figures(measured, ranking, folder / "figures", question.common_in_words())
        sections.append(Section(f"{players} players", (), (ranking_table(ranking),), figures))
    write_reports(
        folder,
        Report(
            question=asked_in_words(question),
            verdict=verdicts(question, findings),
            sections=sections,
            method=method(question, runs),
            rules=compared_rules(question.rules),
            command=question.command(),
            facts=Facts(
                seed=question.seed,
                hands=sum(int(run.tally.hands.sum()) for run in runs),
                played=played_in_words(runs),
                version=question.version,
                rng_version=RNG_VERSION,
                lineup=lineups_in_words(runs),
                stop_reason="; ".join(dict.fromkeys(stopped(question, run) for run in runs)),
            ),
        ),
    )


def verdicts(question: Question, findings: Sequence[Finding]) -> list[str]:
    """Return the answer in sentences, one for each number of players, behind the settings of all."""
    if len(question.players) == 1:
        return [_verdict(question, finding.ranking) for finding in findings]
    said = [f"{f.run.plan.players} players: {verdict(question.names, f.ranking)}" for f in findings]
    return [f"{_settings(question)}.", *said] if question.common() else said


def method(question: Question, runs: Sequence[Run]) -> list[str]:
    """How it was found out, in paragraphs."""
    turned = max(run.plan.rotations for run in runs)
    deals = (
        "Every hand was played by the computer with the line-up given below, from a deal that follows from the seed."
    )
    if len(question.names) > 1:
        deals += " All rule sets met the same deals, so that luck is the same for all and differences are sharper."
    if turned > 1:
        deals += " Each deal was played once for each turn of the line-up round the table, so that no seat has an edge."
    intervals = (
        "Intervals are 95 % intervals. They come from deals, not from hands, because the hands of one deal depend on "
        "each other. The intervals of the spreads hold for all rule sets of a table together, and so does the best set."
    )
    if question.verb == "fairness":
        intervals += (
            " Under a perfectly fair rule too some position comes out ahead by chance. The spreads shown are corrected "
            "for that; ranking.csv also holds them as they came out (spread_plain) and about how much a perfectly fair "
            "rule would show by chance alone (spread_null)."
        )
    if question.precision is None:
        return [deals, intervals]
    return [
        deals,
        intervals,
        "The number of hands was not fixed: the run looked at its result from 1,000 deals on and stopped when it was "
        f"precise to ± {question.precision:g}, so the interval that ended it is slightly too narrow.",
    ]


def lineups_in_words(runs: Sequence[Run]) -> str:
    """Return the line-ups of all runs, shortly."""
    return "; ".join(dict.fromkeys(lineup_text(run.plan.scenarios[0].names) for run in runs))


def played_in_words(runs: Sequence[Run]) -> str:
    """Return how much was played, shortly: `1,000,000 deals, each under 6 rule sets, for 2 and for 4 players`."""
    said: dict[str, list[int]] = {}
    for run in runs:
        count = int(run.tally.blocks)
        what = "match" if run.plan.matches else "deal"
        text = f"{count:,} {what}{'' if count == 1 else 'es' if run.plan.matches else 's'}"
        ways = [f"under {len(run.plan.scenarios)} rule sets"] if len(run.plan.scenarios) > 1 else []
        ways += [f"with {run.plan.rotations} turns of the line-up"] if run.plan.rotations > 1 else []
        text += f", each {' and '.join(ways)}" if ways else ""
        said.setdefault(text, []).append(run.plan.players)
    if len(runs) == 1:
        return next(iter(said))
    return "; ".join(f"{text}, for {' and for '.join(map(str, players))} players" for text, players in said.items())


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
    return "the defaults", NamedRules(Rules(), "", (), (), "", "", "")
