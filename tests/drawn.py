"""What can be read off a figure that was drawn."""

import numpy as np
from matplotlib.patches import Rectangle


def bars(ax):
    """Return the drawn intervals that lie, top to bottom, as (low, high)."""
    segments = [bar for container in ax.containers for bar in container.lines[2][0].get_segments()]
    return np.array([(start[0], end[0]) for start, end in sorted(segments, key=lambda s: s[0][1])])


def up_bars(container):
    """Return the intervals of a container that stand, left to right, as (low, high)."""
    return np.array([(start[1], end[1]) for start, end in container.lines[2][0].get_segments()])


def cells(ax):
    """Return the texts in the cells of a heat map, by column and row from 0."""
    boxes = [patch for patch in ax.patches if isinstance(patch, Rectangle)]
    rows = sorted({box.get_y() for box in boxes})
    found = {}
    for text in ax.texts:
        x, y = text.get_position()
        row = max(k for k, top in enumerate(rows) if top <= y)
        found.setdefault((row, int(x)), []).append(text.get_text())
    return found


def marks(ax):
    """Return the marked cells of a heat map, as (row, column) from 0."""
    boxes = sorted({patch.get_y() for patch in ax.patches})
    return [
        (max(k for k, top in enumerate(boxes) if top <= line.get_ydata()[0]), int(line.get_xdata()[0]))
        for line in ax.lines
        if line.get_marker() == "o"
    ]


def squash(text):
    """Return a text on one line."""
    return text.get_text().replace("\n", " ")
