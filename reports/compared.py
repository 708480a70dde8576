"""What a comparison of strategies answers: sentences, the JSON contract, data frames and pay-off matrices.

The numbers come ready from `reports.comparing`; nothing is estimated here. A gain is what somebody wins more by playing
a strategy in place of the others'. "Surely" means beyond intervals that hold together.
"""

from collections.abc import Mapping, Sequence
from io import BytesIO
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from reports.answers import origin
from reports.comparing import Comparison, ComparisonError, Finding, Test, label_of_estimates, why_stopped
from reports.fairness import one_hand_in
from reports.intervals import Estimate, Floats
from reports.output import with_interval
from sim.saving import write_whole
from sim.streams import RNG_VERSION

if TYPE_CHECKING:
    import pandas as pd


# --- In words ------------------------------------------------------------------------------------------------------


def asked_in_words(question: Comparison) -> str:
    """Return the question as a sentence."""
    numbers = [*map(str, question.players)]
    players = " and ".join(filter(None, [", ".join(numbers[:-1]), numbers[-1]]))
    where = f"under {question.names[0]}, for {players} players"
    if question.field is not None:
        others = [label for at, label in enumerate(question.labels) if at != question.field]
        return f"Who gains among players of {question.labels[question.field]} {where}: {', '.join(others)}?"
    together = " at one table" if question.mode == "together" else ""
    return f"Which strategy is better{together} {where}: {', '.join(question.labels)}?"


def verdict(question: Comparison, finding: Finding) -> str:
    """Return the answer for one number of players in sentences, with the sizes in plain terms."""
    labels, standings = question.labels, finding.main.standings
    said = [_test_in_words(question, test, finding) for test in finding.tests]
    if question.field is not None:
        said += _against_field(question, finding, question.field)
        return " ".join(said)
    best = [k for k in standings.order if standings.in_best_set[k]]
    worse = [labels[k] for k in standings.order if not standings.in_best_set[k]]
    leader = best[0]
    size = f"{labels[leader]} {_gain_in_words(question, finding, leader)}"
    if len(best) == 1:
        said.append(f"Best: {size}. Surely worse: {', '.join(worse)}.")
    elif worse:
        rivals = ", ".join(labels[k] for k in best[1:])
        said.append(f"Best so far: {size}. Not surely worse: {rivals}. Surely worse: {', '.join(worse)}.")
    else:
        together = f"{', '.join(labels[k] for k in best[:-1])} and {labels[best[-1]]}"
        apart = max(max(abs(d.low), abs(d.high)) for row in standings.differences for d in row)
        said.append(
            f"No sure winner: {together} cannot be told apart. Their gains are at most {100 * apart:.2g} points of "
            f"{_share(finding)} apart, {_one_in(finding, apart)}. Best so far: {size}."
        )
    for cycle in finding.cycles:
        said.append(f"A cycle: {' beats '.join(labels[k] for k in (*cycle, cycle[0]))}.")
    return " ".join([*said, _points_in_words(question, finding, leader)])


def _against_field(question: Comparison, finding: Finding, field: int) -> list[str]:
    standings, labels = finding.main.standings, question.labels
    over = [k for k in standings.order if k != field and standings.differences[k][field].low > 0.0]
    under = [k for k in standings.order if k != field and standings.differences[k][field].high < 0.0]
    rest = [k for k in standings.order if k != field and k not in (*over, *under)]
    leader = next(k for k in standings.order if k != field)
    size = _gain_in_words(question, finding, leader)
    said = [f"{'Best' if leader in over else 'No sure gain; best so far'}: {labels[leader]} {size}."]
    for what, which in (("Surely better", over), ("Surely worse", under), ("Not surely either", rest)):
        if which:
            said.append(f"{what} than {labels[field]}: {', '.join(labels[k] for k in which)}.")
    return [*said, _points_in_words(question, finding, leader)]


def _gain_in_words(question: Comparison, finding: Finding, strategy: int) -> str:
    """Return `wins 4.2 (4.0 to 4.4) points of win share more than …, about one hand in 24`."""
    e = finding.main.standings.values[strategy]
    up = e.value >= 0.0
    numbers = [100.0 * x for x in ((e.value, e.low, e.high) if up else (-e.value, -e.high, -e.low))]
    base = "an even share"
    if question.field is not None:
        base = f"a player of {question.labels[question.field]} in its seat"
    elif question.mode == "round-robin" and len(question.labels) > 2:
        base += " on average against the others"
    more = "more" if up else "less"
    return (
        f"wins {with_interval(*numbers)} points of {_share(finding)} {more} than {base}, "
        f"{_one_in(finding, abs(e.value))}"
    )


def _points_in_words(question: Comparison, finding: Finding, strategy: int) -> str:
    """Return what it is in points, as `It saves 2.8 (2.7 to 3.0) points a hand`, in a sentence."""
    e = finding.points.standings.values[strategy]
    if e.low <= 0.0 <= e.high:
        return f"In points it makes no sure difference: {with_interval(e.value, e.low, e.high)} a hand."
    numbers = with_interval(e.value, e.low, e.high) if e.low > 0.0 else with_interval(-e.value, -e.high, -e.low)
    saves = "collects" if question.rules[0].rules.match.winner == "highest" else "saves"
    more = " more" if saves == "collects" else ""
    return f"It {saves} {numbers} points{more} a hand." if e.low > 0.0 else f"But it costs {numbers} points a hand."


def _test_in_words(question: Comparison, test: Test, finding: Finding) -> str:
    a, b, d = question.labels[test.strategy], question.labels[test.against], test.decision
    size = f"a difference of {100 * test.design.d:g} % of {_share(finding)}"
    said = {
        "better": f"{a} is better than {b}",
        "worse": f"{a} is worse than {b}",
        "neither": f"neither of {a} and {b} is better by so much",
        "undecided": f"undecided about {a} and {b} after all that was played",
    }[d.answer]
    e = test.after.estimate
    apart = with_interval(100 * e.value, 100 * e.low, 100 * e.high)
    return f"Sequential test for {size}: {said}; their difference is {apart} points ({test.after.label})."


def _share(finding: Finding) -> str:
    return "match wins" if finding.match else "win share"


def _one_in(finding: Finding, share: float) -> str:
    text = one_hand_in(share)
    return text.replace("hand", "match") if finding.match else text


def method(question: Comparison, findings: Sequence[Finding]) -> list[str]:
    """How it was found out, in paragraphs."""
    seated = {
        "round-robin": "Each strategy was played by one player among players of each other strategy in turn.",
        "field": "Each strategy was played by one player, and the field by all others.",
        "together": "All strategies sat at one table, in all orders.",
    }[question.mode]
    gains = {
        "together": "What a strategy gains is its result minus the mean of the table.",
        "round-robin": "What a strategy gains is its result minus that of a player at a table full of the others' "
        "strategy, on average over the others.",
        "field": "What a strategy gains is its result minus that of a player at a table full of the field.",
    }[question.mode]
    done = [finding.leaders_ratio for finding in findings]
    return [
        f"{seated} All line-ups met the same deals, and each deal was played with the dealer at every seat, so that "
        f"neither the cards nor the seat favour anybody. {gains}",
        "Intervals are 95 % intervals from deals, not hands; all of one column hold together, and so do the ranks, the "
        "groups and the best set. Strategies share a group where their difference is not sure.",
        "Common deals and rotations made the variance of the difference between the two that lead "
        + "; ".join(f"{ratio['all']:.2f}" for ratio in done)
        + " times that of independent hands.",
    ]


# --- Answers in the form of the contracts --------------------------------------------------------------------------


def compare_answer(question: Comparison, findings: Sequence[Finding]) -> dict[str, Any]:
    """Return what `compare --format json` prints; a finding for each number of players that was played."""
    named = question.rules[0]
    reasons = dict.fromkeys(why_stopped(question, finding.run) for finding in findings)
    return {
        "question": asked_in_words(question),
        **origin(named, question.names[0]),
        "rules": named.rules.as_dict(),
        "mode": question.mode,
        "field": None if question.field is None else question.labels[question.field],
        "strategies": [
            {"name": label, **entry} for label, entry in zip(question.labels, question.strategies, strict=True)
        ],
        "notice_rate": question.notice_rate,
        "players": [_section(question, finding) for finding in findings],
        "seed": question.seed,
        "rng_version": RNG_VERSION,
        "version": question.version,
        "stopped": "; ".join(reasons),
        "seconds": sum(finding.run.seconds for finding in findings),
    }


def _section(question: Comparison, finding: Finding) -> dict[str, Any]:
    run, labels, standings = finding.run, question.labels, finding.main.standings
    matches = {"matches": int(run.tally.blocks) * run.plan.rotations} if finding.match else {}
    return {
        "players": run.plan.players,
        "verdict": verdict(question, finding),
        "ranked_by": "match_gain" if finding.match else "win_gain",
        "standings": [_standing(question, finding, k) for k in standings.order],
        "best_set": [labels[k] for k in standings.order if standings.in_best_set[k]],
        "groups": [[labels[k] for k in group] for group in standings.groups],
        "differences": [
            {
                "strategy": labels[i],
                "minus": labels[j],
                **standings.differences[i][j].as_dict(),
                "variance_ratio": float(finding.variance_ratios[i][j]),
            }
            for at, i in enumerate(standings.order)
            for j in standings.order[at + 1 :]
        ],
        "pairs": [_pair(question, finding, at) for at in range(len(finding.pairs))],
        "cycles": [[labels[k] for k in cycle] for cycle in finding.cycles],
        "strengths": _strengths_section(question, finding),
        "strengths_missing": finding.strengths_missing or None,
        "tests": [
            {
                "strategy": labels[test.strategy],
                "against": labels[test.against],
                "d": test.design.d,
                "alpha": test.design.alpha,
                "beta": test.design.beta,
                "answer": test.decision.answer,
                "blocks": test.decision.blocks,
                **test.after.estimate.as_dict(),
            }
            for test in finding.tests
        ],
        "variance_ratio": finding.leaders_ratio,
        "blocks": int(run.tally.blocks),
        "lineups": len(run.plan.scenarios),
        "hands": int(run.tally.hands.min()),
        **matches,
        "stopped": why_stopped(question, run),
        "estimates": label_of_estimates(question, run) or None,
        "seconds": run.seconds,
    }


def _standing(question: Comparison, finding: Finding, k: int) -> dict[str, Any]:
    standings = finding.main.standings
    return {
        "strategy": question.labels[k],
        "rank_low": standings.rank_low[k],
        "rank_high": standings.rank_high[k],
        "groups": [number for number, group in enumerate(standings.groups, start=1) if k in group],
        "in_best_set": standings.in_best_set[k],
        **{name: e.as_dict() for name, e in _by_strategy(finding, k).items()},
    }


def _by_strategy(finding: Finding, k: int) -> dict[str, Estimate]:
    found = {
        "win_share": finding.win.shares[k],
        "win_gain": finding.win.standings.values[k],
        "points_gain": finding.points.standings.values[k],
    }
    if finding.match:
        found |= {"match_win": finding.match.shares[k], "match_gain": finding.match.standings.values[k]}
    return found


def _pair(question: Comparison, finding: Finding, at: int) -> dict[str, Any]:
    a, b = finding.pairs[at]
    return {
        "strategy": question.labels[a],
        "against": question.labels[b],
        "players": finding.run.plan.players,
        **{name: e.as_dict() for name, e in _by_pair(finding, at).items()},
    }


def _by_pair(finding: Finding, at: int) -> dict[str, Estimate]:
    found = {
        "win_share": finding.win.cells[at],
        "win_gain": finding.win.cell_gains[at],
        "points_gain": finding.points.cell_gains[at],
    }
    if finding.match:
        found |= {"match_win": finding.match.cells[at], "match_gain": finding.match.cell_gains[at]}
    return found


def _strengths_section(question: Comparison, finding: Finding) -> dict[str, Any] | None:
    found, labels = finding.strengths, question.labels
    if found is None:
        return None
    order = sorted(range(len(labels)), key=lambda k: -found.values[k].value)
    return {
        "values": [{"strategy": labels[k], **found.values[k].as_dict()} for k in order],
        "ahead": [
            {"strategy": labels[i], "against": labels[j], **found.ahead[i][j].as_dict()}
            for at, i in enumerate(order)
            for j in order[at + 1 :]
        ],
        "hands": finding.order_hands,
    }


# --- Frames and files ----------------------------------------------------------------------------------------------


def results(question: Comparison, findings: Sequence[Finding]) -> "pd.DataFrame":
    """Everything measured, tidy (`reports.frames.results_frame`): a scenario is a line-up."""
    import pandas as pd

    from reports.frames import results_frame

    frames = []
    for finding in findings:
        frame = results_frame(finding.run, question.names * len(finding.run.plan.scenarios))
        frames.append(frame.assign(**_provenance(question, finding)))
    return pd.concat(frames, ignore_index=True)


def standings_frame(question: Comparison, findings: Sequence[Finding]) -> "pd.DataFrame":
    """Return the standings, a row for each number of players and strategy, the best first; columns as in the JSON."""
    import pandas as pd

    rows = []
    for finding in findings:
        for k in finding.main.standings.order:
            row = _standing(question, finding, k)
            row |= {"groups": " ".join(map(str, row["groups"]))}
            rows.append({"players": finding.run.plan.players, **_flat(row), **_counted(question, finding)})
    return pd.DataFrame(rows)


def pairs_frame(question: Comparison, findings: Sequence[Finding]) -> "pd.DataFrame":
    """Return the all-pairs table, a row for each number of players and pair played; columns as in the JSON."""
    import pandas as pd

    rows = [
        {**_flat(_pair(question, finding, at)), **_counted(question, finding)}
        for finding in findings
        for at in range(len(finding.pairs))
    ]
    return pd.DataFrame(rows)


def payoff_frame(question: Comparison, finding: Finding, measure: str = "win") -> "pd.DataFrame":
    """Return a pay-off matrix (S, S) of a round robin: what one of the row gets among players of the column.

    measure: `win` (share of hands), `points` (a hand, turned so that more is better) or `match` (share of matches).
    Raises ComparisonError.
    """
    import pandas as pd

    return pd.DataFrame(_payoffs(question, finding, measure)[0], question.labels, question.labels)


def export_payoffs(question: Comparison, finding: Finding, path: Path) -> None:
    """Write the pay-off matrix of a round robin, for egttools, nashpy and the like. Raises ComparisonError, OSError.

    `.csv`: the shares of hands won (of matches, where matches were played), with the names as header and first column.
    `.npz`: `names` (S,), and (S, S) each `win`, `points` and their `win_se`, `points_se`; with matches also `match` and
    `match_se`; and `players`. Row against column, more is better.
    """
    if path.suffix == ".csv":
        main = "match" if finding.match else "win"
        content = payoff_frame(question, finding, main).to_csv(index_label="strategy").encode()
    elif path.suffix == ".npz":
        arrays: dict[str, Any] = {"names": np.array(question.labels), "players": np.array(finding.run.plan.players)}
        for measure in ("win", "points", *(("match",) if finding.match else ())):
            arrays[measure], arrays[f"{measure}_se"] = _payoffs(question, finding, measure)
        buffer = BytesIO()
        np.savez(buffer, allow_pickle=False, **arrays)
        content = buffer.getvalue()
    else:
        raise ComparisonError(f"{path}: a pay-off matrix is written as .csv or .npz")
    write_whole(path, content)


def _payoffs(question: Comparison, finding: Finding, measure: str) -> tuple[Floats, Floats]:
    """Return the matrix and its standard errors."""
    found = {"win": finding.win, "points": finding.points, "match": finding.match}.get(measure)
    if question.mode != "round-robin":
        raise ComparisonError(f"mode {question.mode} has no pay-off matrix; allowed: a round robin")
    if found is None:
        raise ComparisonError(f"{measure} was not measured; allowed: win, points, and match where matches are played")
    lowest = measure == "points" and question.rules[0].rules.match.winner == "lowest"
    size = len(question.labels)
    matrix, errors = np.zeros((2, size, size))
    for (a, b), cell, full in zip(finding.pairs, found.cells, found.full, strict=True):
        matrix[a, b], errors[a, b] = -cell.value if lowest else cell.value, cell.se
        matrix[b, b], errors[b, b] = -full.value if lowest else full.value, full.se
    return matrix, errors


def _flat(row: Mapping[str, Any]) -> dict[str, Any]:
    """Return a row with each estimate as a column of its name and one of each bound."""
    flat: dict[str, Any] = {}
    for name, value in row.items():
        if isinstance(value, dict):
            flat |= {name: value["value"], f"{name}_low": value["low"], f"{name}_high": value["high"]}
        else:
            flat[name] = value
    return flat


def _counted(question: Comparison, finding: Finding) -> dict[str, Any]:
    tally = finding.run.tally
    counts = {"hands": int(tally.hands.min()), "blocks": int(tally.blocks), "seed": str(question.seed)}
    return {"rules": question.names[0], **counts, **_provenance(question, finding)}


def _provenance(question: Comparison, finding: Finding) -> dict[str, Any]:
    return {
        "version": question.version,
        "rng_version": RNG_VERSION,
        "stopped": why_stopped(question, finding.run),
    }
