"""Frames as the reports of strategies, skill, lengths and tips make them, made up but of the right size."""

import math

import pandas as pd
from example_frames import RULES as RULE_SETS

STRATEGIES = (
    "sensible",
    "tips:card=faces,wild=hold-1",
    "greedy",
    "tips:attack=both-3,card=points,draw=before-wild,finish=3,give=1,suit=lacking,wild=last",
    "counting",
    "tips:suit=longest",
    "my_bot.py:a-strategy-with-a-very-long-name-that-nobody-could-break-anywhere",
    "random",
    "tips:card=low",
    "tips:card=run,wild=hold-3",
    "tips:draw=once",
    "tips:give=2,wild=last",
    "tips:attack=effect-2",
    "tips:wild=first",
    "tips:draw=save-wild,suit=scarce",
)


def _estimate(name: str, value: float, half: float) -> dict[str, float]:
    return {name: value, f"{name}_se": half / 1.96, f"{name}_low": value - half, f"{name}_high": value + half}


def standings(size: int, players: int = 4, half: float = 0.004, *, matches: bool = False) -> pd.DataFrame:
    """Strategies a step of 0.005 apart: with 0.004 about each, those who are next to each other share a group."""
    rows = []
    for k in range(size):
        gain = 0.005 * ((size - 1) / 2 - k)
        groups = [g for g in (k, k + 1) if 1 <= g < size] if size > 1 else [1]
        rows.append(
            {
                "players": players,
                "strategy": STRATEGIES[k],
                "rank_low": max(1, k),
                "rank_high": min(size, k + 2),
                "groups": " ".join(map(str, groups)),
                "in_best_set": k < 2,
                **_estimate("win_share", 1 / players + gain, half),
                **_estimate("win_gain", gain, half),
                **_estimate("points_gain", 40 * gain, 40 * half),
                **(_estimate("match_gain", 2 * gain, 2 * half) if matches else {}),
                "rules": "ochos-locos",
            }
        )
    return pd.DataFrame(rows)


def pairs(size: int, players: int = 4, half: float = 0.006) -> pd.DataFrame:
    """Every one against every other; the better the further up, but for a cycle of the first three."""
    rows = []
    for a in range(size):
        for b in range(size):
            if a == b:
                continue
            gain = 0.012 * (b - a) * (-1 if {a, b} == {0, 2} else 1) + 0.001 * b
            rows.append(
                {
                    "strategy": STRATEGIES[a],
                    "against": STRATEGIES[b],
                    "players": players,
                    **_estimate("win_share", 1 / players + gain, half),
                    **_estimate("win_gain", gain, half),
                    **_estimate("points_gain", 40 * gain, 40 * half),
                }
            )
    return pd.DataFrame(rows)


def _chance(x: float) -> float:
    return 0.5 * (1 + math.erf(x / math.sqrt(2)))


def skill(sets: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(curve, needed): the chance to be ahead after N hands and the hands that chances take."""
    rows, needed = [], []
    for s in range(sets):
        edge, half = 0.12 / (s + 1), 0.01
        rules = RULE_SETS[s]
        for k in range(41):
            hands = max(1, round(10 ** (k / 10)))
            at = [_chance(math.sqrt(hands) * e) for e in (edge, edge - half, edge + half)]
            rows.append(
                dict(zip(("chance", "low", "high"), at, strict=True))
                | {"rules": rules, "hands": hands, "kind": "curve"}
            )
        for hands in (10, 100, 1000):
            value = _chance(math.sqrt(hands) * edge)
            rows.append(
                {
                    "chance": value,
                    "low": value - 0.02,
                    "high": min(1.0, value + 0.02),
                    "rules": rules,
                    "hands": hands,
                    "kind": "played",
                }
            )
        for chance, z in ((0.75, 0.674), (0.9, 1.282), (0.95, 1.645)):
            hands, low, high = ((z / e) ** 2 for e in (edge, edge + half, edge - half))
            unknown = s == 2
            needed.append(
                {
                    "rules": rules,
                    "chance": chance,
                    "hands": math.nan if unknown else math.ceil(hands),
                    "low": math.ceil(low),
                    "high": math.nan if unknown else math.ceil(high),
                }
            )
    return pd.DataFrame(rows), pd.DataFrame(needed)


PARTS = {"skill": 0.011, "seat": 0.003, "deal": 0.31, "skill_in_deal": 0.026, "chance": 0.65}


def variance_parts(sets: int) -> pd.DataFrame:
    """The split of a variance, with more skill in each further rule set."""
    rows = []
    for s in range(sets):
        more = 0.05 * s
        for part, share in PARTS.items():
            value = share + more if part == "skill" else share - more if part == "chance" else share
            half = 0.004 if value > 0.01 else 0.0006
            rows.append(
                {
                    "rules": RULE_SETS[s],
                    "part": part,
                    "share": value,
                    "share_low": value - half,
                    "share_high": value + half,
                }
            )
    return pd.DataFrame(rows)


def turns(sets: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """(counts, quantiles) of turns a hand: the more skewed, the further down."""
    rows, quantiles = [], []
    for s in range(sets):
        mean = 14.0 + 9 * s
        counts = {t: round(200_000 * t * math.exp(-2 * t / mean) * 4 / mean**2) for t in range(4, 400)}
        counts = {t: n for t, n in counts.items() if n}
        rows += [{"rules": RULE_SETS[s], "turns": t, "hands": n} for t, n in counts.items()]
        seen, total = 0, sum(counts.values())
        for name, part in (("median", 0.5), ("p90", 0.9)):
            seen, at = 0, 0
            for t, n in counts.items():
                seen += n
                if seen >= part * total:
                    at = t
                    break
            quantiles.append(
                {"rules": RULE_SETS[s], "quantile": name, "turns": at, "low": at, "high": at + (name == "p90")}
            )
    return pd.DataFrame(rows), pd.DataFrame(quantiles)


def match_lengths(sets: int) -> pd.DataFrame:
    """Hands a match by number of players."""
    rows = []
    for s in range(sets):
        for players in range(2, 8 - s % 3):
            value = 5 + 11 / players + 2.4 * s
            rows.append(
                {
                    "rules": RULE_SETS[s],
                    "players": players,
                    "hands_per_match": value,
                    "hands_per_match_low": value - 0.3,
                    "hands_per_match_high": value + 0.3,
                    "median": round(value - 0.6),
                    "median_low": round(value - 0.6),
                    "median_high": round(value - 0.6),
                }
            )
    return pd.DataFrame(rows)


def leads(sets: int, players: int = 4) -> pd.DataFrame:
    """Chance that who leads after hand k wins the match."""
    rows = []
    for s in range(sets):
        for k in range(1, 13):
            value = 1 - (1 - 1 / players) * math.exp(-0.12 * k / (1 + 0.3 * s))
            half = 0.004 * k
            rows.append(
                {
                    "rules": RULE_SETS[s],
                    "players": players,
                    "hand": k,
                    "chance": value,
                    "low": value - half,
                    "high": min(1.0, value + half),
                }
            )
    return pd.DataFrame(rows)


def spreads(sets: int) -> pd.DataFrame:
    """Spread by rule set and number of players; not all rule sets take all numbers."""
    rows = []
    for s in range(sets):
        for players in range(2, 11 - s % 4):
            value = 0.012 + 0.004 * s + 0.006 * players
            rows.append(
                {
                    "rules": RULE_SETS[s],
                    "players": players,
                    "spread": value,
                    "spread_low": value - 0.002,
                    "spread_high": value + 0.002,
                    "in_best_set": s < 1 + players % 2,
                }
            )
    return pd.DataFrame(rows)


CLAIMS = (
    ("hold back one wild for emergencies", 0.021, "holds"),
    ("shed wilds and faces early", 0.014, "holds"),
    (
        "declare the suit that the others seem to lack, as far as what they drew on and passed on tells",
        0.0031,
        "too small",
    ),
    ("change the suit on a short hand", -0.0004, "undecided"),
    ("draw though you could play", -0.034, "the opposite"),
)


def claims(smallest: float = 0.005) -> pd.DataFrame:
    """What tips gain, with a verdict each."""
    return pd.DataFrame(
        [
            {
                "claim": claim,
                "effect": effect,
                "effect_low": effect - (0.008 if verdict == "undecided" else 0.0015),
                "effect_high": effect + (0.008 if verdict == "undecided" else 0.0015),
                "verdict": verdict,
                "smallest": smallest,
            }
            for claim, effect, verdict in CLAIMS
        ]
    )


def hand_sizes(own: int = 8, rival: int = 8) -> pd.DataFrame:
    """A chance by own hand size and smallest rival hand; what was never met has no row."""
    rows = []
    for a in range(1, own + 1):
        for b in range(1, rival + 1):
            if a + b > own + rival - 2:
                continue
            value = 1 / (1 + math.exp(0.45 * (a - b) + 0.8))
            rows.append({"own": a, "rival": b, "value": value, "low": value - 0.008, "high": value + 0.008})
    return pd.DataFrame(rows)
