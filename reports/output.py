"""What figures and pages share: a number written with its interval, and files that are never half-written."""

import math
import os
from pathlib import Path

LEVEL = "95 %"
"""The level of every interval that is drawn or printed (design: intervals are 95 %)."""


def decimals(low: float, high: float) -> int:
    """Return how many decimals show an interval: one digit of its half-width, from 1 to 4 decimals.

    All numbers in the unit in which they are shown: 27.4 to 27.6 (per cent) needs 1, 27.41 to 27.47 needs 2.
    """
    half = (high - low) / 2.0
    # rounding first: 27.6 - 27.4 is a little less than 0.2 in binary
    return min(4, max(1, -math.floor(math.log10(round(half, 9))))) if half > 1e-9 else 4


def with_interval(value: float, low: float, high: float) -> str:
    """Return `27.5 (27.4 to 27.6)`: no number is shown without its interval, nor finer than the interval is wide."""
    digits = decimals(low, high)
    return f"{value:.{digits}f} ({low:.{digits}f} to {high:.{digits}f})"


def write_whole(path: Path, content: bytes) -> Path:
    """Write a file so that a reader finds the old one or the new one, but never a part; return its path."""
    path.parent.mkdir(parents=True, exist_ok=True)
    # in the same folder, because a rename is only all-or-nothing within one file system
    unfinished = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        unfinished.write_bytes(content)
        unfinished.replace(path)
    finally:
        unfinished.unlink(missing_ok=True)
    return path
