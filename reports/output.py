"""What figures, tables and pages share: how a number is written with its interval."""

import math

LEVEL = "95 %"
"""The level of every interval that is drawn or printed (design: intervals are 95 %)."""
NEVER = ("blocked", "capped")
"""Endings that most rules never come to."""


def decimals(low: float, high: float) -> int:
    """Return how many decimals show an interval: one digit of its half-width, from 1 to 4 decimals.

    All numbers in the unit in which they are shown: 27.4 to 27.6 (per cent) needs 1, 27.41 to 27.47 needs 2.
    A lower bound above 0 needs enough of them not to look like 0: 0.04 to 11 needs 2.
    """
    half = (high - low) / 2.0
    # rounding first: 27.6 - 27.4 is a little less than 0.2 in binary
    digits = min(4, max(1, -math.floor(math.log10(round(half, 9))))) if half > 1e-9 else 4
    while digits < 4 and low > 0.00005 and round(low, digits) == 0.0:
        digits += 1
    return digits


def with_interval(value: float, low: float, high: float) -> str:
    """Return `27.5 (27.4 to 27.6)`: no number is shown without its interval, nor finer than the interval is wide.

    An interval that is one number (a median of whole turns) is shown as that number, with three digits if it is broken
    (the minutes of whole turns).
    """
    if low == high:
        return f"{value:,.0f}" if value == round(value) else f"{value:,.3g}"
    digits = decimals(low, high)
    return f"{value:,.{digits}f} ({low:,.{digits}f} to {high:,.{digits}f})"
