"""The public names of ochos-sim, for notebooks and plug-ins: `import ochos_sim`. Nothing is defined here.

How often each position wins, four random players at the table:

>>> import ochos_sim as ochos
>>> named, players = ochos.load("ochos-locos+draw-three"), [ochos.Player(ochos.find("random"))] * 4
>>> scenario = ochos.Scenario(named.rules, ochos.crew_record(players), tuple(player.label for player in players))
>>> frame = ochos.results_frame(ochos.run(ochos.Plan((scenario,), seed=1, blocks=1000)), [named.title])
>>> frame.query("measure == 'win_share' and by == 'position'")["value"].sum().round(6).item()
1.0
"""

from reports.answers import Finding, Question, fairness_answer, rankings, results, simulate_answer
from reports.compared import compare_answer, export_payoffs, pairs_frame, standings_frame
from reports.comparing import Comparison
from reports.fairness import ranking_frame, verdict
from reports.frames import rank_scenarios, results_frame, simulation
from reports.intervals import Estimate, Ranking, Spread
from reports.measures import find_measure, glossary
from reports.odds import odds, odds_frame
from reports.planning import Aim, plan
from reports.rules_report import write_answer
from sim.batch import Plan, Run, Scenario, rotations_of, run
from sim.rules import NamedRules, Rules, RulesError, describe, diff, load, options, preset_names
from sim.saving import Folder, FolderError
from sim.tally import Tally
from sim.trace import StrategyFault, TraceError, trace_hand, trace_match
from strategies import toolkit
from strategies.checking import check_strategy
from strategies.params import within
from strategies.registry import Player, Strategy, StrategyError, all_strategies, crew_record, find, strategy
from strategies.views import view_of

__all__ = [
    "Aim",
    "Comparison",
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
    "check_strategy",
    "compare_answer",
    "crew_record",
    "describe",
    "diff",
    "export_payoffs",
    "fairness_answer",
    "find",
    "find_measure",
    "glossary",
    "load",
    "odds",
    "odds_frame",
    "options",
    "pairs_frame",
    "plan",
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
    "standings_frame",
    "strategy",
    "toolkit",
    "trace_hand",
    "trace_match",
    "verdict",
    "view_of",
    "within",
    "write_answer",
]
