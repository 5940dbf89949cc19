"""Correlations of metrics with people's ratings, with their intervals."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from rankgauge.errors import RankgaugeError
from rankgauge.figures.drawing import BLUE, INK, plotting, wrapped
from rankgauge.figures.intervals import Ends

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_LONGEST = 40
_ACROSS = 4
"""How many panels stand side by side."""


def correlation_intervals(
    metrics: Sequence[str],
    dimensions: Sequence[str],
    estimates: Ends,
    *,
    label: str = "",
    about: str = "",
) -> Figure:
    """The correlation of each metric and its interval, the first metric on top: a panel for each
    dimension.

    A correlation or an end that is NaN is not drawn.

    Parameters
    ----------
    metrics, dimensions: their names.
    estimates: metric × dimension, the correlations and the ends of their intervals.
    label: the text of the axes.
    about: the title.

    >>> figure = correlation_intervals(["rouge1"], ["coherence"], ([[0.4]], [[0.1]], [[0.6]]))
    >>> [axes.get_title() for axes in figure.axes]
    ['coherence']
    """
    value, low, high = (np.asarray(each, dtype=np.float64) for each in estimates)
    if not value.size:
        raise RankgaugeError("no correlations, expected at least one to draw")
    with plotting():
        from matplotlib.figure import Figure

        across = min(len(dimensions), _ACROSS)
        down = -(-len(dimensions) // across)
        height = down * (1.2 + min(0.25 * len(metrics), 12.0))
        figure = Figure(figsize=(2.0 + 2.4 * across, 0.6 + height), layout="constrained")
        rows = np.arange(len(metrics), dtype=np.float64)
        names = [name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1]}…" for name in metrics]
        axes = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True).ravel()
        for each in axes[len(dimensions) :]:
            each.set_visible(False)
        for d, dimension in enumerate(dimensions):
            each = axes[d]
            drawn = ~np.isnan(low[:, d] + high[:, d])
            each.axvline(0, color=INK, linewidth=0.8)
            each.hlines(rows[drawn], low[drawn, d], high[drawn, d], color=BLUE, linewidth=1.5)
            each.plot(value[:, d], rows, linestyle="", color=BLUE, marker="o", markersize=4.0)
            each.set_title(wrapped(dimension, 30), parse_math=False)
            each.grid(axis="x", color=INK, alpha=0.15)
        axes[0].set_ylim(len(metrics) - 0.5, -0.5)
        axes[0].set_yticks(rows, [wrapped(name, 2 * _LONGEST) for name in names], parse_math=False)
        figure.supxlabel(wrapped(label, 80), parse_math=False)
        figure.suptitle(wrapped(about, 100), parse_math=False)
        return figure
