"""Rule sets drawn at random: valid ones, from every corner of the options, small enough for a slow engine."""

from __future__ import annotations

import copy
import random
from typing import Any

Rules = dict[str, Any]

RANKS = ("A", "2", "3", "4", "5", "6", "7", "8", "9", "10", "J", "Q", "K")
SHORT_RANKS = ("A", "7", "8", "9", "10", "J", "Q", "K")

DEFAULT_RULES: Rules = {
    "deck": {"packs": "auto", "two_packs_from": 6, "ranks": list(RANKS), "jokers": 0},
    "players": {"min": 2, "max": 5},
    "deal": {"cards": 7, "cards_by_players": {}, "countdown": 0, "misdeal_rate": 0.0},
    "starter": {"wild": "bury", "action": "none"},
    "wild": {"ranks": ["8"], "suit": "declared", "on_wild": True, "may_finish": True},
    "draw": {"limit": 1, "voluntary": False, "play_drawn": "may"},
    "stock": {"empty": "reshuffle"},
    "blocked": {"score": "difference"},
    "actions": {"final": "ignored"},
    "penalty": {"stack": "same-rank", "loses_turn": True},
    "reverse": {"two_players": "none"},
    "jokers": {"effect": "wild"},
    "last_card": {"call": False, "penalty": 2},
    "illegal": {"penalty": 1},
    "stop": {"points": 0},
    "score": {"style": "losers-add", "values": {}},
    "match": {"target": 100, "winner": "lowest", "tie": "extra-hand-tied"},
    "turn_cap": 5000,
}


def rules_with(changes: dict[str, Any] | None = None) -> Rules:
    """Return the default rules with dotted keys changed: `rules_with({"wild.suit": "own", "actions.J": "skip"})`."""
    rules = copy.deepcopy(DEFAULT_RULES)
    for key, value in (changes or {}).items():
        *tables, name = key.split(".")
        table = rules
        for part in tables:
            table = table[part]
        table[name] = value
    return rules


def draw_effect(rng: random.Random) -> Any:
    effect = rng.choice(["skip", "reverse", "any-card", "again", "draw", "draw"])
    return {"draw": rng.randint(1, 4)} if effect == "draw" else effect


def draw_actions(rng: random.Random, ranks: list[str]) -> dict[str, Any]:
    """Any rank may carry any one effect, a wild one too."""
    number = rng.choice([0, 0, 1, 2, 3, 4, len(ranks) // 2])
    actions: dict[str, Any] = {rank: draw_effect(rng) for rank in rng.sample(ranks, number)}
    actions["final"] = rng.choice(["ignored", "applies"])
    return actions


def draw_ranks(rng: random.Random) -> list[str]:
    kind = rng.random()
    if kind < 0.6:
        return list(RANKS)
    if kind < 0.8:
        return list(SHORT_RANKS)
    chosen = rng.sample(RANKS, rng.randint(4, 12))
    return [rank for rank in RANKS if rank in chosen]


def draw_wild_ranks(rng: random.Random, ranks: list[str]) -> list[str]:
    """Mostly the eight; at least one rank stays plain, so that some card may open."""
    if "8" in ranks and rng.random() < 0.6:
        return ["8"]
    chosen = rng.sample(ranks, rng.randint(0, min(3, len(ranks) - 1)))
    return [rank for rank in RANKS if rank in chosen]


def draw_values(rng: random.Random, ranks: list[str]) -> dict[str, int]:
    if rng.random() < 0.5:
        return {}
    names = rng.sample([*ranks, "JKR"], rng.randint(1, 4))
    return {name: rng.choice([0, 1, 5, 10, 20, 25, 50]) for name in names}


def pack_size(rules: Rules, players: int) -> int:
    deck = rules["deck"]
    packs = deck["packs"]
    if packs == "auto":
        packs = 2 if deck["two_packs_from"] != "never" and players >= deck["two_packs_from"] else 1
    return int(packs) * (4 * len(deck["ranks"]) + int(deck["jokers"]))


def cards_for(rules: Rules, players: int) -> int:
    return int(rules["deal"]["cards_by_players"].get(str(players), rules["deal"]["cards"]))


def fits(rules: Rules, players: int) -> bool:
    """Whether every number of players that may meet in this match can be dealt its cards and a starter."""
    return all(n * cards_for(rules, n) + 1 <= pack_size(rules, n) for n in range(2, players + 1))


def draw_rules(rng: random.Random) -> Rules:
    """A valid rule set for at least two players; every option is drawn."""
    ranks = draw_ranks(rng)
    limit = rng.choice([1, 1, 2, 3, 5, "until-playable", "until-playable"])
    # Under until-playable a drawn card must be played whatever is written here; `no` would contradict it.
    play_drawn = rng.choice(["may", "must"] if limit == "until-playable" else ["may", "must", "no"])
    by_players = {str(rng.randint(2, 4)): rng.randint(2, 8)} if rng.random() < 0.4 else {}
    rules: Rules = {
        "deck": {
            "packs": rng.choice(["auto", "auto", 1, 2]),
            "two_packs_from": rng.choice([2, 3, 5, 6, 10, "never"]),
            "ranks": ranks,
            "jokers": rng.choice([0, 0, 1, 2, 4]),
        },
        "players": {"min": 2, "max": 5},
        "deal": {
            "cards": rng.choice([1, 3, 5, 5, 6, 7, 7, 8]),
            "cards_by_players": by_players,
            "countdown": rng.choice([0, 0, 1, 2]),
            "misdeal_rate": rng.choice([0.0, 0.0, 0.3]),
        },
        "starter": {
            "wild": rng.choice(["bury", "dealer-declares", "own-suit"]),
            "action": rng.choice(["none", "applies"]),
        },
        "wild": {
            "ranks": draw_wild_ranks(rng, ranks),
            "suit": rng.choice(["declared", "own", "delayed"]),
            "on_wild": rng.random() < 0.6,
            "may_finish": rng.random() < 0.6,
        },
        "draw": {"limit": limit, "voluntary": rng.random() < 0.4, "play_drawn": play_drawn},
        "stock": {"empty": rng.choice(["reshuffle", "pass", "pass"])},
        "blocked": {"score": rng.choice(["difference", "own-hand", "void"])},
        "actions": draw_actions(rng, ranks),
        "penalty": {"stack": rng.choice(["same-rank", "any-draw", "off"]), "loses_turn": rng.random() < 0.7},
        "reverse": {"two_players": rng.choice(["none", "skip"])},
        "jokers": {"effect": rng.choice(["wild", {"wild-draw": rng.randint(1, 5)}])},
        "last_card": {"call": rng.random() < 0.5, "penalty": rng.randint(1, 3)},
        "illegal": {"penalty": rng.randint(1, 3)},
        "stop": {"points": rng.choice([0, 0, 0, 5, 12])},
        "score": {"style": rng.choice(["losers-add", "winner-collects"]), "values": draw_values(rng, ranks)},
        "match": {
            "target": rng.choice([50, 100, {"per-player": 30}]),
            "winner": rng.choice(["lowest", "highest"]),
            "tie": rng.choice(["extra-hand-tied", "extra-hand-all", "shared"]),
        },
        "turn_cap": rng.choice([30, 100, 300, 300]),
    }
    while not fits(rules, 2):
        rules["deal"]["cards"] = max(1, rules["deal"]["cards"] - 1)
        rules["deal"]["cards_by_players"] = {}
    return rules


def draw_players(rng: random.Random, rules: Rules) -> int:
    """A number of players that these rules can seat; `players.max` is raised in place where it has to be."""
    players = rng.choice([2, 2, 3, 3, 4, 4, 5, 6, 7])
    while players > 2 and not fits(rules, players):
        players -= 1
    rules["players"]["max"] = max(rules["players"]["max"], players)
    return players


def draw_lineup(rng: random.Random, players: int, *, errors: bool = True) -> list[dict[str, Any]]:
    """Simple strategies for every seat; some seats forget their call or play cards that do not match."""
    names = ["random", "first-legal", "hoard-eights", "dump-faces", "dump-high"]
    lineup = []
    for _ in range(players):
        clumsy = errors and rng.random() < 0.4
        lineup.append(
            {
                "strategy": rng.choice(names),
                "illegal_rate": rng.choice([0.05, 0.3]) if clumsy else 0.0,
                "forget_last_card": rng.choice([0.2, 1.0]) if clumsy else 0.0,
            }
        )
    return lineup
