"""Results of hands whose variance has known parts, for tests of how it is split."""

import numpy as np

from reports.skill import BlockSums


def model(rng, blocks, replays=2, skill=3, seat=2, deal=2, together=1, luck=4):
    """Additive results (B, 4 arrangements, 4 positions, M) of known parts, and the parts.

    skill and seat are two-valued offsets, deal and luck even draws from -k to k; skill in the deal is an even draw from
    -k to k times a sign that depends on who sits where.
    """
    sign = np.where((np.add.outer(np.arange(4), np.arange(4)) % 4) < 2, 1, -1)  # (arrangement, position), balanced

    def draw(k, *shape):
        return rng.integers(-k, k + 1, shape)

    y = 100 + skill * sign[:, :, None] + seat * np.array([1, 1, -1, -1])[:, None]
    y = y + draw(deal, blocks, 1, 4, 1) + draw(together, blocks, 1, 4, 1) * sign[:, :, None]
    y = y + draw(luck, blocks, 4, 4, replays)
    even = [k * (k + 1) / 3 for k in (deal, together, luck)]
    return y, [skill**2, seat**2, *even]


def groups_of(y, size):
    return BlockSums.joined([BlockSums.of(y[at : at + size]) for at in range(0, len(y), size)])
