"""The public names of ochos-sim, for notebooks and plug-ins: `import ochos_sim`. Nothing is defined here."""

from reports.answers import Finding, Question, fairness_answer, rankings, results, simulate_answer, write_answer
from reports.fairness import ranking_frame, verdict
from reports.frames import rank_scenarios, results_frame, simulation
from reports.intervals import Estimate, Ranking, Spread
from sim.batch import Plan, Run, Scenario, rotations_of, run
from sim.rules import NamedRules, Rules, RulesError, describe, diff, load, options, preset_names
from sim.saving import Folder, FolderError
from sim.tally import Tally
from sim.trace import StrategyFault, TraceError, trace_hand, trace_match
from strategies import toolkit
from strategies.registry import Player, Strategy, StrategyError, all_strategies, crew_record, find, strategy

__all__ = [
    "Estimate",
    "Finding",
    "Folder",
    "FolderError",
    "NamedRules",
    "Plan",
    "Player",
    "Question",
    "Ranking",
    "Rules",
    "RulesError",
    "Run",
    "Scenario",
    "Spread",
    "Strategy",
    "StrategyError",
    "StrategyFault",
    "Tally",
    "TraceError",
    "all_strategies",
    "crew_record",
    "describe",
    "diff",
    "fairness_answer",
    "find",
    "load",
    "options",
    "preset_names",
    "rank_scenarios",
    "ranking_frame",
    "rankings",
    "results",
    "results_frame",
    "rotations_of",
    "run",
    "simulate_answer",
    "simulation",
    "strategy",
    "toolkit",
    "trace_hand",
    "trace_match",
    "verdict",
    "write_answer",
]
