"""Results and a ranking as a comparison of house rules gives them, made up but of the right size."""

import pandas as pd

RULES = (
    "ochos-locos+silent-eight",
    "ochos-locos",
    "ochos-locos+no-eight-on-eight",
    "ochos-locos+draw-until-playable",
    "ochos-locos+no-eight-on-eight+draw-until-playable+winner-collects+target-500+two-packs",
    "ochos-locos-actions",
    "ocho-loco",
    "ocho-loco-especiales+final-draw-applies+dealer-declares",
    "crazy-eights",
    "crazy-eights-actions+stop-at-five",
    "crazy-aces+delayed-suit+super-jokers",
    "a-rule-set-that-somebody-gave-a-very-long-name-indeed-so-that-it-has-no-place-on-a-line-and-not-on-two",
)


def example(sets: int, players: int, half: float = 0.001) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return (results, ranking); half: of the intervals of the win shares, 0 to 1."""
    rows, ranks = [], []
    for s in range(sets):
        step = (0.005 + 0.001 * s) * 4 / players
        shares = [1 / players + step * ((players - 1) / 2 - p) for p in range(players)]
        common = {"scenario": s, "rules": RULES[s], "players": players, "lineup": f"{players} x random"}
        size = {"hands": 1_000_000, "blocks": 1_000_000 // players}
        for p, share in enumerate(shares):
            estimate = {"value": share, "se": half / 1.96, "low": share - half, "high": share + half}
            kind = {"measure": "win_share", "by": "position", "which": str(p + 1), "unit": "share"}
            rows.append(common | kind | estimate | size)
        turns = 40.0 - s
        rows.append(
            common
            | {"measure": "turns_per_hand", "by": "", "which": "", "unit": "turns"}
            | {"value": turns, "se": 0.025, "low": turns - 0.05, "high": turns + 0.05}
            | size
        )
        spread = max(shares) - min(shares)
        ranks.append(
            {
                "rank_low": 1 if s < 2 else s + 1,
                "rank_high": min(sets, 2) if s < 2 else s + 1,
                "rules": RULES[s],
                "spread": spread,
                "spread_low": max(0.0, spread - 1.6 * half),
                "spread_high": spread + 1.6 * half,
                "spread_plain": spread,
                "spread_null": half,
                "in_best_set": s < 2,
                "best_position": 1,
                "worst_position": players,
            }
            | {"turns_per_hand": turns, "turns_per_hand_low": turns - 0.05, "turns_per_hand_high": turns + 0.05}
            | {"blocked": 0.0004, "blocked_low": 0.0003, "blocked_high": 0.0005}
        )
    return pd.DataFrame(rows), pd.DataFrame(ranks)
