"""How long are hands and matches, and which rules make them longer? From a question to what was found.

It is played as a question of fairness is: rule sets by numbers of players and line-ups, on the same deals. What is
ranked is the mean of one length: turns a match, or turns a hand where single hands are played. A mean is pulled up by
the longest, so quantiles and chances to be longer than a bound stand beside it. Minutes are turns at a number of
seconds that the question names; only people have minutes.
"""

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.answers import PRECISE, Question
from reports.frames import Found, length_estimates, length_moments, match_estimates, scenario_estimates
from reports.intervals import Estimate
from reports.measures import LENGTHS
from reports.standings import Standings, rank_values
from reports.story import story_estimates
from sim.batch import Plan, Run, looks
from sim.story import Story
from sim.tally import Tally

UNITS = {"minutes": "minutes", "min": "minutes", "turns": "turns", "hands": "hands"}
"""What bounds are given in, and what lengths in it are called."""
MOST_SECONDS = 3600.0


class LengthError(ValueError):
    """A question about lengths that cannot be asked: one line with what was given and what is allowed."""


@dataclass(frozen=True)
class LengthQuestion(Question):
    """A question about how long hands or matches are. Raises LengthError, QuestionError.

    Its precision is a share of the mean length that is ranked.
    """

    seconds_a_turn: float = 10.0
    bounds: tuple[str, ...] = ()
    """As people write them: `60` or `60min`, `200turns`, `12hands`."""

    def __post_init__(self) -> None:
        """Check what belongs to lengths alone."""
        super().__post_init__()
        if not 0.0 < self.seconds_a_turn <= MOST_SECONDS:
            raise LengthError(f"{self.seconds_a_turn:g} seconds a turn; allowed: above 0, up to {MOST_SECONDS:g}")
        for text in self.bounds:
            self._bound(text)

    @property
    def length(self) -> str:
        """The length that is ranked, a key of `reports.measures.LENGTHS`."""
        return "turns_per_match" if self.matches else "turns_per_hand"

    @property
    def lengths(self) -> list[str]:
        """All lengths that are told."""
        return [name for name in LENGTHS if self.matches or name.endswith("_hand")]

    @property
    def wants_story(self) -> bool:
        """Whether it is told who leads and wins: where matches are played."""
        return self.matches

    def bounds_by_length(self) -> dict[str, list[float]]:
        """Return the bounds by the length that they belong to, in its unit."""
        found: dict[str, list[float]] = {}
        for text in self.bounds:
            length, bound = self._bound(text)
            found.setdefault(length, []).append(bound)
        return found

    def _bound(self, text: str) -> tuple[str, float]:
        words = text.strip()
        unit = next((unit for unit in UNITS if words.endswith(unit)), "")
        what = UNITS[unit or "minutes"]
        try:
            bound = float(words.removesuffix(unit))
        except ValueError:
            bound = math.nan
        length = f"{what}_per_{'match' if self.matches else 'hand'}"
        if not 0.0 <= bound < math.inf or length not in LENGTHS:
            allowed = "60 (minutes), 200turns, 12hands" if self.matches else "5 (minutes), 60turns"
            raise LengthError(f"--longer-than is {text!r}; allowed: a number from 0, as {allowed}")
        return length, bound

    def own_words(self) -> list[str]:
        """Return the options of the verb alone, for a command."""
        words = super().own_words()
        if self.seconds_a_turn != LengthQuestion.seconds_a_turn:
            words += ["--seconds-a-turn", f"{self.seconds_a_turn:g}"]
        return words + [word for text in self.bounds for word in ("--longer-than", text)]

    def experiment(self) -> dict[str, Any]:
        """Return the question in full, as a results folder keeps it."""
        return {**super().experiment(), "seconds_a_turn": self.seconds_a_turn, "longer_than": list(self.bounds)}


@dataclass(frozen=True)
class LengthFinding:
    """What a run says of lengths, for one number of players and one line-up."""

    question: LengthQuestion
    run: Run
    standings: Standings
    """Of the rule sets, by their mean length, times -1: the quickest first."""
    lengths: Sequence[Mapping[str, Mapping[str, Estimate]]]
    """By scenario, length and what is told of it: `mean`, `p10`, `median`, `p90`, and `longer x` by bound."""
    found: Sequence[Sequence[Found]]
    """The same with their measures, by scenario."""
    unfinished: Sequence[Estimate]
    """The share of hands broken off at the turn cap, or of matches given up, by scenario: it shortens the means."""
    leads: Sequence[Sequence[tuple[int, Estimate]]]
    """By scenario: chance that who leads after hand k wins the match; nothing where hands are played."""
    story: Story | None = None

    @classmethod
    def of(cls, question: LengthQuestion, run: Run, story: Story | None = None) -> "LengthFinding":
        """Work it out. Raises MeasureError for a bound beyond what is counted."""
        plan, tally = run.plan, run.tally
        matches = int(tally.blocks) * plan.rotations if plan.matches else 0
        found = [
            length_estimates(
                tally,
                k,
                scenario.names,
                matches,
                seconds_a_turn=question.seconds_a_turn,
                bounds=question.bounds_by_length(),
            )
            for k, scenario in enumerate(plan.scenarios)
        ]
        if plan.matches:
            unfinished = [
                e
                for k in range(len(plan.scenarios))
                for measure, by, _, e in match_estimates(tally, k, matches)
                if measure.name == "capped_matches" and not by
            ]
        else:
            unfinished = scenario_estimates(tally, "capped", plan.scenarios)
        leads = [_leads(story, k) if story is not None else [] for k in range(len(plan.scenarios))]
        return cls(
            question, run, standings(tally, plan), [_by_length(one) for one in found], found, unfinished, leads, story
        )

    @property
    def players(self) -> int:
        """How many play."""
        return self.run.plan.players


def _by_length(found: Sequence[Found]) -> dict[str, dict[str, Estimate]]:
    told: dict[str, dict[str, Estimate]] = {}
    for measure, by, which, value in found:
        length = next(name for name in LENGTHS if measure.name.startswith(name))
        what = measure.name[len(length) + 1 :] or "mean"
        told.setdefault(length, {})[f"{what} {which}" if by else what] = value
    return told


def _leads(story: Story, scenario: int) -> list[tuple[int, Estimate]]:
    return [
        (int(which), value)
        for measure, by, which, value in story_estimates(story, scenario)
        if (measure.name, by) == ("leader_wins", "hand")
    ]


def standings(tally: Tally, plan: Plan) -> Standings:
    """Return the rule sets in order of their mean length, the quickest first: values are times -1."""
    values, covariance = length_moments(tally, plan)
    # Nothing bounds how long a game may be, so nothing is allowed for beyond what was seen.
    return rank_values(-values, covariance, int(tally.blocks), scale=0.0)


def stop_rule(question: LengthQuestion, plan: Plan) -> Callable[[Tally], str] | None:
    """Return what looks at a run and says whether it is precise enough; None if no precision was asked for."""
    wanted = question.precision
    if wanted is None:
        return None
    allowed = frozenset(looks(plan.blocks))

    def enough(tally: Tally) -> str:
        if int(tally.blocks) not in allowed:
            return ""
        widest = max((e.high - e.low) / 2 / abs(e.value) for e in standings(tally, plan).values)
        return f"{PRECISE}: every mean length is known to ± {100 * wanted:g} %" if widest <= wanted else ""

    return enough
